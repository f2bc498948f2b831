/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders have a say in preemption: spec 08 section 10. */
#include "framework/extender.h"
#include "plugins/common_plugin.h"
#include "plugins/preemption_evaluator.h"

struct candidates {
	struct bt_preemption_candidate *items;
	uint32_t count;
};

static void note_ignored(
	const struct bt_preemption_extender *extender, const char *line, struct bt_str text)
{
	if (extender->ignored != NULL) {
		extender->ignored(extender->context, line, 2, text);
	}
}

/** --- question and answer --- */

static struct bt_preemption_opinions question(
	const struct bt_state *state, const struct candidates *candidates, struct bt_arena *arena)
{
	struct bt_preemption_opinion *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_opinion, candidates->count);

	for (uint32_t i = 0; i < candidates->count; i++) {
		const struct bt_preemption_candidate *candidate = &candidates->items[i];
		struct bt_str *uids =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, candidate->victim_count);

		for (uint32_t v = 0; v < candidate->victim_count; v++) {
			uids[v] = bt_symbol_text(&state->symbols,
				bt_state_pod_at(state, candidate->victims[v])->uid);
		}
		items[i] = (struct bt_preemption_opinion){
			.node_name = bt_node_table_name(&state->nodes, candidate->slot),
			.victim_uids = uids,
			.victim_count = candidate->victim_count,
			.pdb_violations = candidate->pdb_violations,
		};
	}
	return (struct bt_preemption_opinions){items, candidates->count};
}

/** The pods that an opinion names; the node must be known and have them. */
static int read_opinion(const struct bt_state *state, const struct bt_preemption_extender *extender,
	const struct bt_preemption_opinion *opinion, struct bt_arena *arena,
	struct bt_preemption_candidate *out, struct berth_error *err)
{
	uint32_t slot = bt_state_snapshot_find(state, opinion->node_name);
	uint32_t *victims = BT_ARENA_NEW_ARRAY(arena, uint32_t, opinion->victim_count);

	if (slot == BT_SLOT_NONE) {
		struct bt_strbuf name = {0};

		bt_strbuf_append_quoted(&name, opinion->node_name);
		(void)bt_error_set(err, BERTH_ERR_NOT_FOUND, "nodeinfo not found for node name %s",
			bt_strbuf_c(&name));
		bt_strbuf_finish(&name);
		return BERTH_ERR_NOT_FOUND;
	}
	for (uint32_t i = 0; i < opinion->victim_count; i++) {
		victims[i] = bt_state_find_pod(state, opinion->victim_uids[i]);
		if (victims[i] == BT_POD_NONE || bt_state_pod_at(state, victims[i])->node != slot) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"extender: %.*s claims to preempt pod (UID: &{%.*s}) on node: "
				"%.*s, but the pod is not found on that node",
				BT_STR_ARG(extender->config->url_prefix),
				BT_STR_ARG(opinion->victim_uids[i]),
				BT_STR_ARG(opinion->node_name));
		}
	}
	*out = (struct bt_preemption_candidate){
		slot, opinion->victim_count, victims, opinion->pdb_violations};
	return 0;
}

static int ask(const struct bt_state *state, const struct bt_preemption_extender *extender,
	const struct bt_pod_info *pod, const struct candidates *candidates, struct bt_arena *arena,
	struct candidates *out_answer, struct berth_error *err)
{
	struct bt_preemption_opinions asked = question(state, candidates, arena);
	struct bt_preemption_opinions answer = {0};
	int result = extender->process(extender->context, pod, &asked, arena, &answer, err);

	if (result < 0) {
		return result;
	}
	out_answer->count = 0;
	out_answer->items = BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_candidate, answer.count);
	for (uint32_t i = 0; i < answer.count; i++) {
		result = read_opinion(state, extender, &answer.items[i], arena,
			&out_answer->items[out_answer->count++], err);
		if (result < 0) {
			return result;
		}
	}
	return 0;
}

/** Nodes without victims are dropped when the extender may be ignored, else they are an error. */
static struct bt_status check_victims(const struct bt_state *state,
	const struct bt_preemption_extender *extender, struct candidates *answer,
	struct bt_arena *arena)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < answer->count; i++) {
		struct bt_strbuf text = {0};
		struct bt_status status;

		if (answer->items[i].victim_count != 0) {
			answer->items[kept++] = answer->items[i];
			continue;
		}
		if (extender->config->ignorable) {
			note_ignored(extender,
				"Ignored node for which the extender didn't report victims",
				bt_node_table_name(&state->nodes, answer->items[i].slot));
			continue;
		}
		bt_strbuf_append_c(&text, "expected at least one victim pod on node ");
		bt_strbuf_append_quoted(
			&text, bt_node_table_name(&state->nodes, answer->items[i].slot));
		status = bt_status_error_text(arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		return status;
	}
	answer->count = kept;
	return BT_STATUS_OK;
}

struct bt_status bt_evaluator_ask_extenders(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_preemption_candidate **candidates, uint32_t *count)
{
	const struct bt_handle *handle = evaluator->handle;
	struct candidates current = {*candidates, *count};

	for (uint32_t i = 0; i < handle->preemption_extender_count && current.count != 0; i++) {
		const struct bt_preemption_extender *extender = &handle->preemption_extenders[i];
		struct berth_error err = BERTH_ERROR_INIT;
		struct candidates answer = {0};
		struct bt_status status;

		if (!(extender->config->preempt_verb.length != 0 &&
			    bt_extender_is_interested(extender->config, pod))) {
			continue;
		}
		if (ask(handle->state, extender, pod, &current, arena, &answer, &err) < 0) {
			if (!extender->config->ignorable) {
				return bt_status_from_error(arena, &err);
			}
			note_ignored(extender,
				"Skipped extender as it returned error and has ignorable flag set",
				bt_str_from(berth_error_message(&err)));
			berth_error_finish(&err);
			continue;
		}
		status = check_victims(handle->state, extender, &answer, arena);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		current = answer;
	}
	*candidates = current.items;
	*count = current.count;
	return BT_STATUS_OK;
}

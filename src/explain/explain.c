/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"

#include "explain/explain_private.h"

/** What the engine keeps from one decision to the next, and what the looking around here may not
 * change. */
struct engine_memory {
	struct bt_prng prng;
	uint32_t next_start_node_index;
	const struct bt_claim_writer **claim_writers;
};

static void add_entry_remedies(
	struct bt_explanation *out, const struct bt_remedy *remedies, uint32_t count)
{
	uint32_t known = out->entry_remedies.count;
	struct bt_remedy *items =
		BT_ARENA_NEW_ARRAY(&out->arena, struct bt_remedy, (size_t)known + count);

	for (uint32_t i = 0; i < known; i++) {
		items[i] = out->entry_remedies.items[i];
	}
	for (uint32_t i = 0; i < count; i++) {
		items[known + i] = remedies[i];
	}
	out->entry_remedies.items = items;
	out->entry_remedies.count = known + count;
	out->entry_remedies.present = true;
}

/** The profile that handles the pod, or the first one in its place. */
static void find_profile(struct bt_explain_run *run)
{
	struct bt_explanation *out = run->out;
	struct bt_strbuf text = {0};

	run->framework = bt_engine_profile(run->engine, run->pod->spec.scheduler_name);
	if (run->framework == NULL) {
		run->framework = run->engine->profiles.frameworks.items[0];
		out->fate = BT_EXPLAINED_NOT_HANDLED;
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, run->pod->spec.scheduler_name);
		out->message = bt_arena_str(&out->arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		add_entry_remedies(out,
			&(struct bt_remedy){.kind = BT_REMEDY_SET_SCHEDULER_NAME,
				.value = bt_arena_str(&out->arena, run->framework->scheduler_name)},
			1);
	}
	out->profile = bt_arena_str(&out->arena, run->framework->scheduler_name);
}

/** PreEnqueue: the gating plugin's words, and what opens it. */
static void ask_gates(struct bt_explain_run *run, const struct bt_pod_info *pod)
{
	struct bt_explanation *out = run->out;
	struct bt_cycle_state cycle;
	struct bt_needs needs = {.run = run, .cycle = &cycle, .pod = pod};
	struct bt_arena arena = {0};
	struct bt_plugin *gate = NULL;
	struct bt_status status = bt_run_pre_enqueue(run->framework, pod, &arena, &gate);

	if (!bt_status_is_success(&status)) {
		bt_cycle_state_init(&cycle, &arena, run->framework->instances.count);
		bt_needs_add(&needs, gate, &status);
		run->entry_is_final = needs.is_final;
		add_entry_remedies(out, needs.remedies.items, needs.remedies.count);
		if (out->fate != BT_EXPLAINED_NOT_HANDLED) {
			out->fate = BT_EXPLAINED_GATED;
			out->message =
				bt_arena_str(&out->arena, bt_status_message_str(&status, &arena));
		}
		bt_cycle_state_finish(&cycle);
	}
	bt_needs_finish(&needs);
	bt_arena_finish(&arena);
}

/** The decision itself, as the scheduler makes it. */
static int ask_scheduler(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err)
{
	struct bt_explanation *out = run->out;
	struct bt_schedule_result result;

	bt_engine_schedule(run->engine, run->framework, pod, &result);
	switch (result.outcome) {
	case BT_OUTCOME_SCHEDULED:
		out->fate = BT_EXPLAINED_FITS;
		return 0;
	case BT_OUTCOME_FIT_ERROR:
		out->fate = BT_EXPLAINED_UNSCHEDULABLE;
		break;
	case BT_OUTCOME_ERROR:
		out->fate = BT_EXPLAINED_ERROR;
		break;
	case BT_OUTCOME_NO_NODES:
		out->fate = BT_EXPLAINED_NO_NODES;
		break;
	}
	out->message = bt_arena_str(
		&out->arena, bt_status_message_str(&result.status, result.cycle->arena));
	if (out->fate == BT_EXPLAINED_UNSCHEDULABLE && run->options->preemption) {
		return bt_explain_preemption(run, pod, &result, err);
	}
	return 0;
}

static bool wants_proposals(const struct bt_explain_run *run)
{
	const struct bt_explanation *out = run->out;

	return run->options->proposals_max != 0 && out->node_count != 0 && !run->entry_is_final &&
		out->fate != BT_EXPLAINED_FITS && out->fate != BT_EXPLAINED_ERROR;
}

static int explain(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err)
{
	struct bt_explanation *out = run->out;
	int result = bt_state_refresh_snapshot(run->engine->state, err);

	if (result < 0) {
		return result;
	}
	out->node_count = run->engine->state->snapshot.count;
	ask_gates(run, pod);
	if (out->fate == BT_EXPLAINED_FITS) {
		result = ask_scheduler(run, pod, err);
	}
	if (result == 0 && out->node_count != 0) {
		result = bt_explain_nodes(run, pod, err);
	}
	if (result == 0 && wants_proposals(run)) {
		result = bt_explain_propose(run, err);
	}
	return result;
}

int bt_explain(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_explain_options *options, struct bt_explanation *out,
	struct berth_error *err)
{
	struct bt_explain_run run = {.engine = engine, .pod = pod, .options = options, .out = out};
	struct engine_memory memory;
	struct bt_pod_info info;
	int result;

	*out = (struct bt_explanation){0};
	memory.prng = engine->prng;
	memory.next_start_node_index = engine->next_start_node_index;
	memory.claim_writers = bt_explain_silence_writes(engine);
	find_profile(&run);
	bt_pod_info_init_pending(engine->state, pod, &info);
	result = explain(&run, &info, err);
	bt_pod_info_finish_pending(engine->state, &info);
	engine->prng = memory.prng;
	engine->next_start_node_index = memory.next_start_node_index;
	bt_explain_restore_writes(engine, memory.claim_writers);
	return result;
}

void bt_explanation_finish(struct bt_explanation *explanation)
{
	if (explanation != NULL) {
		bt_arena_finish(&explanation->arena);
		*explanation = (struct bt_explanation){0};
	}
}

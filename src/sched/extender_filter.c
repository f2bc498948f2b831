/* SPDX-License-Identifier: Apache-2.0 */
/** What filter extenders leave of the feasible nodes. Spec 11b section 9.4, 03 section 3.6. */
#include "sched/extender_private.h"

/** What the calls of one filter step share. */
struct filtering {
	const struct bt_extenders *extenders;
	const struct bt_extender *extender; /* the one that was asked */
	const struct bt_pod_info *pod;
	struct bt_arena *arena;
	const struct bt_extender_sink *sink;
	uint32_t *position_by_slot; /* of the nodes sent: position + 1 */
};

static bool answers_with_names(
	const struct filtering *filtering, const struct bt_extender_filter_result *answer)
{
	return filtering->extender->config->node_cache_capable && answer->node_names.present;
}

static int claims_unknown(
	const struct filtering *filtering, struct bt_str node_name, struct berth_error *err)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_c(&text, "extender ");
	bt_strbuf_append_quoted(&text, filtering->extender->config->url_prefix);
	bt_strbuf_append_c(&text, " claims a filtered node ");
	bt_strbuf_append_quoted(&text, node_name);
	bt_strbuf_append_c(&text, " which is not found in the input node list");
	(void)bt_error_set(err, BERTH_ERR_NOT_FOUND, "%s", bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return BERTH_ERR_NOT_FOUND;
}

static void index_candidates(
	struct filtering *filtering, const struct bt_extender_candidates *candidates)
{
	uint32_t slot_count = filtering->extenders->state->nodes.slot_count;

	if (filtering->position_by_slot == NULL) {
		filtering->position_by_slot =
			BT_ARENA_NEW_ARRAY(filtering->arena, uint32_t, slot_count);
	}
	memset(filtering->position_by_slot, 0, slot_count * sizeof(uint32_t));
	for (uint32_t i = 0; i < candidates->count; i++) {
		filtering->position_by_slot[candidates->slots[i]] = i + 1;
	}
}

static void mark_without_pods(
	const struct filtering *filtering, struct bt_extender_candidates *candidates, uint32_t slot)
{
	if (candidates->without_pods == NULL) {
		candidates->without_pods = BT_ARENA_NEW_ARRAY(
			filtering->arena, uint8_t, filtering->extenders->state->nodes.slot_count);
	}
	candidates->without_pods[slot] = 1;
}

/**
 * The answer's nodes in the answer's order. Upstream would take objects of nodes that it never
 * sent; here they are the same error as names it never sent, and so is a list longer than what was
 * sent.
 */
static int read_nodes(struct filtering *filtering, struct bt_extender_candidates *candidates,
	const struct bt_extender_filter_result *answer, struct berth_error *err)
{
	bool by_name = answers_with_names(filtering, answer);
	uint32_t count = by_name ? answer->node_names.count : answer->nodes.count;
	struct bt_extender_candidates left = {.without_pods = candidates->without_pods};

	if (count > candidates->count) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"extender \"%.*s\" returned %u nodes of %u",
			BT_STR_ARG(filtering->extender->config->url_prefix), count,
			candidates->count);
	}
	left.nodes = BT_ARENA_NEW_ARRAY(filtering->arena, struct bt_extender_node, count);
	left.slots = BT_ARENA_NEW_ARRAY(filtering->arena, uint32_t, count);
	index_candidates(filtering, candidates);
	for (uint32_t i = 0; i < count; i++) {
		struct bt_str name =
			by_name ? answer->node_names.items[i] : answer->nodes.items[i].name;
		uint32_t slot = bt_state_snapshot_find(filtering->extenders->state, name);
		uint32_t position = slot == BT_SLOT_NONE ? 0 : filtering->position_by_slot[slot];
		if (position == 0) {
			return claims_unknown(filtering, name, err);
		}
		left.nodes[left.count] = candidates->nodes[position - 1];
		left.slots[left.count++] = slot;
		if (!by_name) {
			left.nodes[left.count - 1].json = answer->nodes.items[i].json;
			mark_without_pods(filtering, &left, slot);
		}
	}
	*candidates = left;
	return 0;
}

static void report(const struct filtering *filtering, const struct bt_str_map *failed,
	enum bt_status_code code, const struct bt_str_map *but)
{
	for (uint32_t i = 0; i < failed->count; i++) {
		const struct bt_str_pair *entry = &failed->items[i];
		if (but != NULL && bt_str_map_find(but, entry->key) != NULL) {
			continue;
		}
		filtering->sink->reject(filtering->sink->context,
			bt_state_snapshot_find(filtering->extenders->state, entry->key), entry->key,
			code, entry->value);
	}
}

/** One extender; on failure the candidates are as before. */
static int ask(struct filtering *filtering, struct bt_extender_candidates *candidates,
	struct berth_error *err)
{
	const struct bt_extender *extender = filtering->extender;
	struct bt_extender_args args = {
		filtering->extenders->state, filtering->pod, candidates->nodes, candidates->count};
	struct bt_extender_filter_result answer = {0};

	bt_extender_asking(filtering->extenders, extender, BT_EXTENDER_FILTER);
	int result =
		extender->ops->filter(extender->context, &args, filtering->arena, &answer, err);
	if (result == 0 && answer.error.length != 0) {
		result = bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s", BT_STR_ARG(answer.error));
	}
	if (result == 0) {
		result = read_nodes(filtering, candidates, &answer, err);
	}
	bt_extender_answered(filtering->extenders, extender, BT_EXTENDER_FILTER,
		bt_str_from(berth_error_message(err)));
	if (result == 0) {
		const struct bt_str_map *unresolvable = &answer.failed_and_unresolvable_nodes;
		report(filtering, unresolvable, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, NULL);
		report(filtering, &answer.failed_nodes, BT_STATUS_UNSCHEDULABLE, unresolvable);
	}
	return result;
}

struct bt_status bt_extenders_filter(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_extender_candidates *candidates, const struct bt_extender_sink *sink)
{
	struct filtering filtering = {
		.extenders = extenders, .pod = pod, .arena = arena, .sink = sink};

	for (uint32_t i = 0; i < extenders->count && candidates->count != 0; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		filtering.extender = &extenders->items[i];
		const struct bt_config_extender *config = filtering.extender->config;
		if (config->filter_verb.length == 0 || !bt_extender_is_interested(config, pod)) {
			continue;
		}
		if (ask(&filtering, candidates, &err) == 0) {
			continue;
		}
		if (!config->ignorable) {
			return bt_status_from_error(arena, &err);
		}
		bt_extender_ignored(extenders, filtering.extender,
			"Skipping extender as it returned error and has ignorable flag set", 0,
			bt_str_from(berth_error_message(&err)));
		berth_error_finish(&err);
	}
	return BT_STATUS_OK;
}

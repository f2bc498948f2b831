/* SPDX-License-Identifier: Apache-2.0 */
/** Access to the extenders of an engine, and calls of a single extender. */
#include "berth/extender.h"

#include <stddef.h>

#include "lib/convert.h"
#include "lib/engine.h"

uint32_t berth_engine_extender_count(const struct berth_engine *engine)
{
	return engine->extenders.count;
}

const struct berth_extender *berth_engine_extender_at(
	const struct berth_engine *engine, uint32_t index)
{
	BT_ASSERT(index < engine->extenders.count);
	return &engine->extenders.items[index];
}

static const struct bt_extender *inside_of(const struct berth_extender *extender)
{
	return &extender->all->items[extender->index];
}

struct berth_str berth_extender_name(const struct berth_extender *extender)
{
	return inside_of(extender)->config->url_prefix;
}

bool berth_extender_is_interested(
	const struct berth_extender *extender, const struct berth_pod_info *pod)
{
	return bt_extender_is_interested(inside_of(extender)->config, bt_const_pod_info_of(pod));
}

bool berth_extender_is_ignorable(const struct berth_extender *extender)
{
	return inside_of(extender)->config->ignorable;
}

/** The nodes that the extender rejected, by the names in its answer. */
struct failures {
	BT_VEC(struct berth_extender_failed_node) nodes;
	struct bt_arena *arena;
};

static void add_failure(void *context, uint32_t slot BT_UNUSED, struct bt_str node_name,
	enum bt_status_code code, struct bt_str reason)
{
	struct failures *failures = context;
	struct berth_extender_failed_node node = {
		.name = bt_arena_str(failures->arena, node_name),
		.message = bt_arena_str(failures->arena, reason),
		.unresolvable = code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
	};

	bt_arena_push(failures->arena, &failures->nodes, node);
}

int berth_extender_filter(const struct berth_extender *extender, const struct berth_pod_info *pod,
	const struct berth_str *node_names, uint32_t node_count, struct berth_arena *outside,
	struct berth_extender_filter_result *out_result, struct berth_error *err)
{
	struct bt_arena *arena = bt_arena_of(outside);
	struct bt_extender_candidates candidates = {
		.nodes = BT_ARENA_NEW_ARRAY(arena, struct bt_extender_node, node_count),
		.slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, node_count),
		.count = node_count,
	};
	/*
	 * Call this extender alone, and as if it were not ignorable, so that its error is returned.
	 */
	struct bt_config_extender config = *inside_of(extender)->config;
	struct bt_extender one = *inside_of(extender);
	struct bt_extenders alone = {.items = &one,
		.count = 1,
		.state = extender->all->state,
		.observer = extender->all->observer};
	struct failures failures = {.arena = arena};
	struct bt_extender_sink sink = {add_failure, &failures};
	int result = BERTH_OK;

	for (uint32_t i = 0; i < node_count; i++) {
		candidates.nodes[i].name = node_names[i];
		candidates.slots[i] = bt_state_snapshot_find(alone.state, node_names[i]);
		if (candidates.slots[i] == BT_SLOT_NONE) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"nodeinfo not found for node name \"%.*s\"",
				BT_STR_ARG(node_names[i]));
		}
	}
	config.ignorable = false;
	one.config = &config;
	struct bt_status status =
		bt_extenders_filter(&alone, bt_const_pod_info_of(pod), arena, &candidates, &sink);

	if (bt_status_is_success(&status)) {
		struct berth_str *names =
			BT_ARENA_NEW_ARRAY(arena, struct berth_str, candidates.count);

		for (uint32_t i = 0; i < candidates.count; i++) {
			names[i] = bt_arena_str(arena, candidates.nodes[i].name);
		}
		*out_result = (struct berth_extender_filter_result){
			names, candidates.count, failures.nodes.items, failures.nodes.count};
	} else {
		result = bt_error_set(err, BERTH_ERR_INTERNAL, "%.*s",
			BT_STR_ARG(bt_status_message_str(&status, arena)));
	}
	return result;
}

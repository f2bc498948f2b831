/* SPDX-License-Identifier: Apache-2.0 */
/** Runners of the scheduling cycle, up to the choice of a node. */
#include <stddef.h>

#include "compat/framework.h"
#include "lib/node_to_status.h"

struct bt_status bt_lib_check_node(const struct bt_framework *framework,
	const struct bt_node_info *node, struct bt_arena *arena)
{
	if (node->state == framework->handle.state) {
		return BT_STATUS_OK;
	}
	return bt_status_error_text(
		arena, BT_STR("the node is not one of the framework's cluster"));
}

uint32_t *bt_lib_slots_of(const struct bt_framework *framework,
	const struct berth_node_info *const *nodes, uint32_t count, struct bt_arena *arena,
	struct bt_status *out_status)
{
	uint32_t *slots = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);

	*out_status = BT_STATUS_OK;
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_node_info *node = bt_const_node_info_of(nodes[i]);

		*out_status = bt_lib_check_node(framework, node, arena);
		if (!bt_status_is_success(out_status)) {
			return NULL;
		}
		slots[i] = node->slot;
	}
	return slots;
}

struct berth_status berth_framework_run_pre_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	struct berth_pre_filter_result *out_result, const struct berth_str **out_plugins,
	uint32_t *out_plugin_count)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_pre_filter_outcome outcome =
		bt_run_pre_filter(inside, cycle, bt_const_pod_info_of(pod));

	*out_result = (struct berth_pre_filter_result){
		outcome.result.restricted, outcome.result.count, outcome.result.names};
	if (out_plugins != NULL) {
		struct berth_str *names =
			BT_ARENA_NEW_ARRAY(cycle->arena, struct berth_str, inside->instances.count);
		uint32_t count = 0;

		for (uint32_t i = 0; i < inside->instances.count; i++) {
			if (bt_plugin_set_has(&outcome.plugins_with_nodes, i)) {
				names[count++] = bt_framework_plugin_name(inside, i);
			}
		}
		*out_plugins = names;
		*out_plugin_count = count;
	}
	return outcome.status;
}

struct berth_status berth_framework_run_pre_filter_extension_add_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_add,
	const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);

	return bt_run_pre_filter_add_pod(inside, bt_lib_adopt_cycle(inside, state),
		bt_const_pod_info_of(pod_to_schedule), bt_const_pod_info_of(pod_to_add),
		bt_const_node_info_of(node));
}

struct berth_status berth_framework_run_pre_filter_extension_remove_pod(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod_to_schedule, const struct berth_pod_info *pod_to_remove,
	const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);

	return bt_run_pre_filter_remove_pod(inside, bt_lib_adopt_cycle(inside, state),
		bt_const_pod_info_of(pod_to_schedule), bt_const_pod_info_of(pod_to_remove),
		bt_const_node_info_of(node));
}

/** Collects what filters say of one node. */
struct collection {
	struct berth_plugin_to_status map;
	struct berth_arena *arena;
	bool all;
};

static bool collect(void *context, const struct bt_plugin *plugin, const struct bt_status *status)
{
	struct collection *collection = context;

	berth_plugin_to_status_set(
		&collection->map, collection->arena, bt_str_from(plugin->ops->name), *status);
	return collection->all;
}

struct berth_plugin_to_status berth_framework_run_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct collection collection = {
		.arena = berth_arena_of(cycle->arena), .all = inside->run_all_filters};
	struct bt_status foreign =
		bt_lib_check_node(inside, bt_const_node_info_of(node), cycle->arena);

	if (!bt_status_is_success(&foreign)) {
		berth_plugin_to_status_set(&collection.map, collection.arena, BT_STR(""), foreign);
		return collection.map;
	}
	bt_run_filter_each(inside, cycle, bt_const_pod_info_of(pod), bt_const_node_info_of(node),
		collect, &collection);
	return collection.map;
}

struct berth_status berth_framework_run_filter_plugins_with_nominated_pods(
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_status foreign =
		bt_lib_check_node(inside, bt_const_node_info_of(node), cycle->arena);

	return bt_status_is_success(&foreign)
		? bt_run_filter_with_nominated_pods(
			  inside, cycle, bt_const_pod_info_of(pod), bt_const_node_info_of(node))
		: foreign;
}

const struct bt_node_statuses *bt_lib_node_statuses(const struct berth_node_to_status *outside,
	const struct bt_state *state, struct bt_node_statuses *memory)
{
	if (outside->statuses != NULL) {
		return outside->statuses;
	}
	*memory = (struct bt_node_statuses){.absent = outside->absent};
	for (uint32_t i = 0; i < outside->entries.count; i++) {
		struct bt_node_status_entry entry = {
			bt_state_snapshot_find(state, outside->entries.items[i].node_name),
			outside->entries.items[i].status};

		if (entry.slot != BT_SLOT_NONE) {
			bt_vec_push(&memory->entries, entry);
		}
	}
	return memory;
}

struct berth_status berth_framework_run_post_filter_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_node_statuses memory = {0};
	struct bt_post_filter_result result = {0};
	struct bt_status status = bt_run_post_filter(inside, cycle, bt_const_pod_info_of(pod),
		bt_lib_node_statuses(statuses, inside->handle.state, &memory), &result);

	bt_vec_finish(&memory.entries);
	*out_result = (struct berth_post_filter_result){
		.present = result.present,
		.mode = result.mode == BT_NOMINATING_OVERRIDE ? BERTH_NOMINATING_OVERRIDE
							      : BERTH_NOMINATING_NOOP,
		.nominated_node_name = result.nominated_node_name,
	};
	return status;
}

struct berth_status berth_framework_run_pre_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_status status;
	const uint32_t *slots = bt_lib_slots_of(inside, nodes, node_count, cycle->arena, &status);

	return slots != NULL
		? bt_run_pre_score(inside, cycle, bt_const_pod_info_of(pod), slots, node_count)
		: status;
}

static struct berth_node_score_list make_list(
	const struct bt_score_table *table, const struct bt_state *state, struct bt_arena *arena)
{
	struct berth_node_score *items =
		BT_ARENA_NEW_ARRAY(arena, struct berth_node_score, table->slot_count);

	for (uint32_t i = 0; i < table->slot_count; i++) {
		items[i].name = bt_node_table_name(&state->nodes, table->slots[i]);
	}
	return (struct berth_node_score_list){items, table->slot_count};
}

struct berth_status berth_framework_run_score_plugins(struct berth_framework *framework,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *nodes, uint32_t node_count,
	struct berth_plugin_to_node_scores *out_scores)
{
	struct bt_framework *inside = bt_framework_of(framework);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(inside, state);
	struct bt_arena *arena = cycle->arena;
	struct bt_score_table table = {0};
	struct bt_status status;
	const uint32_t *slots = bt_lib_slots_of(inside, nodes, node_count, arena, &status);

	if (slots == NULL) {
		return status;
	}
	status = bt_run_score(inside, cycle, bt_const_pod_info_of(pod), slots, node_count, &table);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct berth_plugin_scores *items =
		BT_ARENA_NEW_ARRAY(arena, struct berth_plugin_scores, table.plugin_count);

	*out_scores = (struct berth_plugin_to_node_scores){
		items, table.plugin_count, make_list(&table, inside->handle.state, arena)};
	for (uint32_t k = 0; k < node_count; k++) {
		out_scores->totals.items[k].score = table.totals[k];
	}
	for (uint32_t i = 0; i < table.plugin_count; i++) {
		items[i] = (struct berth_plugin_scores){
			bt_str_from(table.plugins[i].plugin->ops->name), table.plugins[i].weight,
			make_list(&table, inside->handle.state, arena)};
		for (uint32_t k = 0; k < node_count; k++) {
			items[i].scores.items[k].score = table.plugins[i].scores[k].score;
		}
	}
	return status;
}

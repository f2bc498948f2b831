/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/cycle_state.h"

#include <stddef.h>
#include <string.h>

#include "api/object.h"
#include "base/assert.h"
#include "framework/plugin.h"

/**
 * Returns the index of the key, or count if the key is absent. Cycle states have few keys, so a
 * scan is faster than a hash.
 */
static uint32_t find_datum(const struct bt_cycle_state *cycle, struct bt_str key)
{
	return BT_STR_INDEX(cycle->data.items, cycle->data.count, key, key);
}

void bt_cycle_state_init(
	struct bt_cycle_state *cycle, struct bt_arena *arena, uint32_t plugin_count)
{
	BT_ASSERT(plugin_count <= BT_PLUGINS_MAX);
	*cycle = (struct bt_cycle_state){
		.arena = arena,
		.pre_filter_data = BT_ARENA_NEW_ARRAY(arena, void *, plugin_count),
		.pre_score_data = BT_ARENA_NEW_ARRAY(arena, void *, plugin_count),
		.plugin_count = plugin_count,
	};
}

void bt_cycle_state_finish(struct bt_cycle_state *cycle)
{
	bt_vec_finish(&cycle->data);
	bt_vec_finish(&cycle->pods_to_activate);
	bt_vec_finish_each(&cycle->kept, bt_object_release(*each));
	*cycle = (struct bt_cycle_state){0};
}

void bt_cycle_state_clone(const struct bt_cycle_state *cycle, struct bt_cycle_state *out_clone)
{
	bt_cycle_state_init(out_clone, cycle->arena, cycle->plugin_count);
	if (cycle->plugin_count > 0) {
		size_t bytes = cycle->plugin_count * sizeof(void *);

		memcpy(out_clone->pre_filter_data, cycle->pre_filter_data, bytes);
		memcpy(out_clone->pre_score_data, cycle->pre_score_data, bytes);
	}
	bt_vec_reserve(&out_clone->data, cycle->data.count);
	for (uint32_t i = 0; i < cycle->data.count; i++) {
		struct bt_cycle_datum datum = cycle->data.items[i];

		if (datum.clone != NULL) {
			datum.data = datum.clone(datum.data, cycle->arena);
		}
		bt_vec_push(&out_clone->data, datum);
	}
	out_clone->skip_filter = cycle->skip_filter;
	out_clone->skip_score = cycle->skip_score;
	out_clone->skip_pre_bind = cycle->skip_pre_bind;
	out_clone->parallel_pre_bind = cycle->parallel_pre_bind;
	out_clone->pre_bind_flights_done = cycle->pre_bind_flights_done;
	out_clone->skip_all_post_filter = cycle->skip_all_post_filter;
	out_clone->record_plugin_metrics = cycle->record_plugin_metrics;
	out_clone->plain = cycle->plain;
	out_clone->group = cycle->group;
}

int bt_cycle_state_read(const struct bt_cycle_state *cycle, struct bt_str key, void **out_data,
	struct berth_error *err)
{
	uint32_t index = find_datum(cycle, key);

	if (index == cycle->data.count) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "not found");
	}
	*out_data = cycle->data.items[index].data;
	return BERTH_OK;
}

void bt_cycle_state_write(struct bt_cycle_state *cycle, struct bt_str key, void *data,
	void *(*clone)(const void *data, struct bt_arena *arena))
{
	uint32_t index = find_datum(cycle, key);

	if (index == cycle->data.count) {
		struct bt_cycle_datum datum = {
			.key = bt_arena_str(cycle->arena, key), .data = data, .clone = clone};

		bt_vec_push(&cycle->data, datum);
		return;
	}
	cycle->data.items[index].data = data;
	cycle->data.items[index].clone = clone;
}

void bt_cycle_state_delete(struct bt_cycle_state *cycle, struct bt_str key)
{
	uint32_t index = find_datum(cycle, key);

	if (index < cycle->data.count) {
		bt_vec_remove_ordered(&cycle->data, index);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "state/state.h"

#include "base/alloc.h"
#include "base/assert.h"
#include "state/affinity_index.h"
#include "state/change_log.h"
#include "state/domain_counter.h"
#include "state/pod_groups.h"
#include "state/pod_index.h"
#include "state/state_private.h"

void bt_change_log_init(struct bt_change_log *log, uint32_t capacity)
{
	BT_ASSERT(capacity != 0 && (capacity & (capacity - 1)) == 0);
	*log = (struct bt_change_log){
		.ring = BT_NEW_ARRAY(struct bt_change, capacity),
		.capacity = capacity,
	};
}

void bt_change_log_finish(struct bt_change_log *log)
{
	bt_free(log->ring);
	*log = (struct bt_change_log){0};
}

void bt_change_log_append(struct bt_change_log *log, uint32_t slot, uint32_t kinds)
{
	log->ring[log->sequence & (log->capacity - 1)] = (struct bt_change){slot, kinds};
	log->sequence++;
	for (uint32_t left = kinds; left != 0; left &= left - 1) {
		log->end_of_kind[BT_CTZ64(left)] = log->sequence;
	}
}

/**
 * Number of changes in the log. With a few thousand nodes, computing a cache anew is cheaper than
 * applying more than LOG_CAPACITY changes.
 */
#define LOG_CAPACITY (UINT32_C(1) << 15)

struct bt_state *bt_state_create(const struct bt_state_options *options)
{
	struct bt_state *state = BT_NEW(struct bt_state);

	state->gates = options->resource_gates;
	state->gate_declared_features = options->declared_features;
	bt_symbol_table_init(&state->symbols);
	bt_node_table_init(&state->nodes, &state->symbols);
	state->shapes = (struct bt_shape_table){.gates = state->gates, .nodes = &state->nodes};
	state->label_sets.symbols = &state->symbols;
	bt_object_store_init(&state->objects);
	state->order.symbols = &state->symbols;
	bt_change_log_init(&state->log, LOG_CAPACITY);
	state->snapshot.places.in_list_order = true;
	state->snapshot.lists = BT_NEW(struct bt_snapshot_lists);
	if (options->pod_groups) {
		state->pod_groups = BT_NEW(struct bt_pod_groups);
	}
	return state;
}

void bt_state_destroy(struct bt_state *state)
{
	if (state == NULL) {
		return;
	}
	if (state->dra != NULL) {
		state->destroy_dra(state->dra);
	}
	bt_domain_counters_destroy(state);
	bt_affinity_index_destroy(state);
	bt_pod_index_destroy(state);
	bt_pod_groups_destroy(state);
	struct bt_snapshot *snapshot = &state->snapshot;
	bt_places_finish(&snapshot->places);
	bt_free(snapshot->lists->slots);
	bt_free(snapshot->lists->positions);
	bt_vec_finish(&snapshot->lists->affinity);
	bt_vec_finish(&snapshot->lists->anti_affinity);
	bt_free(snapshot->lists);
	bt_bitset_finish(&snapshot->listed);
	bt_bitset_finish(&snapshot->affinity_slots);
	bt_bitset_finish(&snapshot->names);
	bt_vec_finish(&snapshot->nameless);
	bt_vec_finish(&snapshot->changed_slots);
	bt_vec_finish(&snapshot->assumed_pods);
	bt_vec_finish(&snapshot->placement_slots);
	bt_used_claims_finish(state);
	bt_node_order_finish(&state->order);
	bt_image_table_finish(&state->images, &state->symbols);
	bt_object_store_finish(&state->objects);
	bt_vec_finish_each(&state->pods.records, bt_free(each->identity));
	bt_vec_finish(&state->pods.free_ids);
	bt_map_finish(&state->pods.by_uid);
	bt_label_set_table_finish(&state->label_sets);
	bt_shape_table_finish(&state->shapes);
	bt_node_table_finish(&state->nodes);
	bt_symbol_table_finish(&state->symbols);
	bt_change_log_finish(&state->log);
	bt_arena_finish(&state->scratch);
	bt_strbuf_finish(&state->text);
	bt_free(state);
}

void bt_state_warn(struct bt_state *state, const char *format, ...)
{
	struct bt_strbuf line = {0};
	va_list arguments;

	if (state->warn == NULL) {
		return;
	}
	va_start(arguments, format);
	bt_strbuf_vprintf(&line, format, arguments);
	va_end(arguments);
	state->warn(state->warn_context, bt_strbuf_str(&line));
	bt_strbuf_finish(&line);
}

void bt_state_release_if_unknown(struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];

	if (!row->in_use || row->in_cache || row->in_snapshot ||
		bt_snapshot_has_name(&state->snapshot, slot) || row->in_order ||
		row->pods.count != 0) {
		return;
	}
	/* The change is not logged, because no cache reads the images of an unused slot. */
	(void)bt_state_set_images(state, slot, NULL);
	bt_node_table_release(&state->nodes, slot);
}

void bt_state_drop_empty_entry(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	if (row->in_cache && !row->has_node && row->pods.count == 0) {
		row->in_cache = false;
		state->node_entry_count--;
	}
	bt_state_release_if_unknown(state, slot);
}

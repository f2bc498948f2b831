/* SPDX-License-Identifier: Apache-2.0 */
/* Heap memory of a state, by a walk: capacities, not counts. What malloc itself needs is not
 * included. */
#include "state/affinity_index.h"
#include "state/domain_counter.h"
#include "state/pod_index.h"
#include "state/state_private.h"

#define vec_bytes(vec) ((size_t)(vec)->capacity * sizeof(*(vec)->items))

static size_t map_bytes(const struct bt_map *map)
{
	return (size_t)map->capacity * sizeof(*map->slots);
}

static size_t row_bytes(const struct bt_node_row *row)
{
	return row->labels.count * (sizeof(*row->labels.items) + sizeof(*row->label_symbols)) +
		vec_bytes(&row->images) + vec_bytes(&row->ports) + vec_bytes(&row->pods) +
		vec_bytes(&row->pods_with_affinity) +
		vec_bytes(&row->pods_with_required_anti_affinity) + vec_bytes(&row->claims);
}

static size_t scalar_bytes(const struct bt_node_table *nodes)
{
	size_t bytes = vec_bytes(&nodes->scalars) + map_bytes(&nodes->scalar_index);

	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		const struct bt_scalar_column *column = &nodes->scalars.items[i];
		size_t columns = (size_t)(column->allocatable != nodes->zero_amounts) +
			(size_t)(column->requested != nodes->zero_amounts);
		bytes += columns * nodes->slot_capacity * sizeof(int64_t);
	}
	return bytes;
}

static size_t label_column_bytes(const struct bt_node_table *nodes)
{
	size_t bytes = vec_bytes(&nodes->label_columns) + map_bytes(&nodes->label_column_index) +
		vec_bytes(&nodes->label_keys) + map_bytes(&nodes->label_key_index);

	for (uint32_t i = 0; i < nodes->label_columns.count; i++) {
		const struct bt_label_column *column = nodes->label_columns.items[i];
		bytes += sizeof(*column) + vec_bytes(&column->dictionary) +
			vec_bytes(&column->value_counts) + map_bytes(&column->index);
		if (column->values != nodes->zero_values) {
			bytes += nodes->slot_capacity * sizeof(*column->values);
		}
	}
	return bytes;
}

static size_t node_bytes(const struct bt_node_table *nodes)
{
	/* Thirteen columns of 8 bytes (the shared zeros are one), two of uint32_t, two of bytes. */
	size_t slot = 13 * sizeof(int64_t) + 2 * sizeof(uint32_t) + 2 + sizeof(struct bt_node_row);
	size_t bytes = nodes->slot_capacity * slot + map_bytes(&nodes->names) +
		vec_bytes(&nodes->free_slots) + scalar_bytes(nodes) + label_column_bytes(nodes) +
		vec_bytes(&nodes->taint_sets) + vec_bytes(&nodes->free_taint_sets) +
		map_bytes(&nodes->taint_set_index);

	for (uint32_t i = 0; i < nodes->taint_sets.count; i++) {
		bytes += nodes->taint_sets.items[i].arena.total_bytes;
	}
	for (uint32_t slot_index = 0; slot_index < nodes->slot_count; slot_index++) {
		bytes += row_bytes(&nodes->rows[slot_index]);
	}
	return bytes;
}

static size_t shape_bytes(const struct bt_shape_table *shapes)
{
	size_t bytes =
		map_bytes(&shapes->map) + vec_bytes(&shapes->shapes) + vec_bytes(&shapes->free_ids);

	for (uint32_t i = 0; i < shapes->shapes.count; i++) {
		if (shapes->shapes.items[i] != NULL) {
			bytes += sizeof(struct bt_shape) +
				shapes->shapes.items[i]->arena.total_bytes;
		}
	}
	return bytes;
}

static size_t label_set_bytes(const struct bt_label_set_table *label_sets)
{
	size_t bytes = map_bytes(&label_sets->map) + vec_bytes(&label_sets->sets) +
		vec_bytes(&label_sets->free_ids);

	for (uint32_t i = 0; i < label_sets->sets.count; i++) {
		bytes += label_sets->sets.items[i].labels.count *
			(sizeof(struct bt_str_pair) + sizeof(struct bt_label_pair));
	}
	return bytes;
}

static size_t order_bytes(const struct bt_node_order *order)
{
	size_t bytes = vec_bytes(&order->zones);

	for (uint32_t i = 0; i < order->zones.count; i++) {
		bytes += vec_bytes(&order->zones.items[i].slots);
	}
	return bytes;
}

static size_t snapshot_bytes(const struct bt_state *state)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	size_t words = (size_t)snapshot->listed.word_count + snapshot->names.word_count +
		snapshot->nameless.word_count + state->affinity_slots.word_count;

	return 3 * (size_t)snapshot->capacity * sizeof(uint32_t) + words * sizeof(uint64_t) +
		vec_bytes(&snapshot->affinity_list) + vec_bytes(&snapshot->anti_affinity_list) +
		vec_bytes(&snapshot->changed_slots) + vec_bytes(&snapshot->assumed_pods) +
		vec_bytes(&snapshot->placement_slots);
}

size_t bt_state_memory_bytes(const struct bt_state *state)
{
	return sizeof(*state) + bt_domain_counters_memory_bytes(state) +
		bt_affinity_index_memory_bytes(state) + bt_pod_index_memory_bytes(state) +
		(map_bytes(&state->symbols.map) + vec_bytes(&state->symbols.entries) +
			vec_bytes(&state->symbols.free_ids) + state->symbols.text_bytes) +
		node_bytes(&state->nodes) + shape_bytes(&state->shapes) +
		label_set_bytes(&state->label_sets) + vec_bytes(&state->pods.records) +
		vec_bytes(&state->pods.free_ids) + vec_bytes(&state->pods.by_uid) +
		map_bytes(&state->images.map) + vec_bytes(&state->images.images) +
		vec_bytes(&state->images.free_ids) + order_bytes(&state->order) +
		snapshot_bytes(state) +
		(state->dra != NULL ? state->dra_memory_bytes(state->dra) : 0) +
		state->log.capacity * sizeof(struct bt_change) + map_bytes(&state->used_claims) +
		vec_bytes(&state->used_claim_counts) + state->scratch.total_bytes +
		state->text.capacity;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "state/affinity_index.h"
#include "state/domain_counter.h"
#include "state/pod_groups.h"
#include "state/pod_index.h"
#include "state/state_private.h"

/* Allocated memory of a state, computed from capacities. malloc's overhead is not included. */

#define vec_bytes(vec) ((size_t)(vec)->capacity * sizeof(*(vec)->items))

#define map_bytes(map) ((size_t)(map)->capacity * sizeof(*(map)->slots))

size_t bt_state_memory_bytes(const struct bt_state *state)
{
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_snapshot *snapshot = &state->snapshot;
	/* 13 columns of 8 bytes, 2 of uint32_t (both with the shared zeros) and 2 of bytes. */
	size_t per_slot =
		13 * sizeof(int64_t) + 2 * sizeof(uint32_t) + 2 + sizeof(struct bt_node_row);
	size_t words = (size_t)snapshot->listed.word_count + snapshot->names.word_count +
		snapshot->affinity_slots.word_count;
	size_t bytes = sizeof(*state) + bt_domain_counters_memory_bytes(state) +
		bt_affinity_index_memory_bytes(state) + bt_pod_index_memory_bytes(state) +
		(state->pod_groups != NULL ? bt_pod_groups_memory_bytes(state->pod_groups) : 0) +
		(state->dra != NULL ? state->dra_memory_bytes(state->dra) : 0);

	bytes += map_bytes(&state->symbols.map) + vec_bytes(&state->symbols.entries) +
		vec_bytes(&state->symbols.free_ids) + state->symbols.text_bytes;
	bytes += nodes->slot_capacity * per_slot + map_bytes(&nodes->names) +
		vec_bytes(&nodes->free_slots) + vec_bytes(&nodes->taint_sets) +
		vec_bytes(&nodes->free_taint_sets) + map_bytes(&nodes->taint_set_index) +
		vec_bytes(&nodes->scalars) + map_bytes(&nodes->scalar_index) +
		vec_bytes(&nodes->label_columns) + map_bytes(&nodes->label_column_index) +
		vec_bytes(&nodes->label_keys) + map_bytes(&nodes->label_key_index);
	for (uint32_t i = 0; i < nodes->scalars.count; i++) {
		const struct bt_scalar_column *column = &nodes->scalars.items[i];
		size_t columns = (size_t)(column->allocatable != nodes->zero_amounts) +
			(size_t)(column->requested != nodes->zero_amounts);
		bytes += columns * nodes->slot_capacity * sizeof(int64_t);
	}
	for (uint32_t i = 0; i < nodes->label_columns.count; i++) {
		const struct bt_label_column *column = nodes->label_columns.items[i];
		bytes += sizeof(*column) + vec_bytes(&column->dictionary) +
			vec_bytes(&column->value_counts) + map_bytes(&column->index);
		if (column->values != nodes->zero_values) {
			bytes += nodes->slot_capacity * sizeof(*column->values);
		}
	}
	for (uint32_t i = 0; i < nodes->taint_sets.count; i++) {
		bytes += nodes->taint_sets.items[i].arena.total_bytes;
	}
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		const struct bt_node_row *row = &nodes->rows[slot];
		bytes += row->labels.count *
				(sizeof(*row->labels.items) + sizeof(*row->label_symbols)) +
			vec_bytes(&row->images) + vec_bytes(&row->ports) + vec_bytes(&row->pods) +
			vec_bytes(&row->pods_with_affinity) +
			vec_bytes(&row->pods_with_required_anti_affinity) + vec_bytes(&row->claims);
	}
	bytes += map_bytes(&state->shapes.map) + vec_bytes(&state->shapes.shapes) +
		vec_bytes(&state->shapes.free_ids);
	for (uint32_t i = 0; i < state->shapes.shapes.count; i++) {
		const struct bt_shape *shape = state->shapes.shapes.items[i];
		bytes += shape != NULL ? sizeof(*shape) + shape->arena.total_bytes : 0;
	}
	bytes += map_bytes(&state->label_sets.map) + vec_bytes(&state->label_sets.sets) +
		vec_bytes(&state->label_sets.free_ids);
	for (uint32_t i = 0; i < state->label_sets.sets.count; i++) {
		bytes += state->label_sets.sets.items[i].labels.count *
			(sizeof(struct bt_str_pair) + sizeof(struct bt_label_pair));
	}
	for (uint32_t i = 0; i < state->pods.records.count; i++) {
		const struct bt_pod_identity *identity = state->pods.records.items[i].identity;
		bytes += identity != NULL
			? sizeof(*identity) + identity->uid_length + identity->name_length
			: 0;
	}
	bytes += vec_bytes(&state->order.zones);
	for (uint32_t i = 0; i < state->order.zones.count; i++) {
		bytes += vec_bytes(&state->order.zones.items[i].slots);
	}
	bytes += bt_places_memory_bytes(&snapshot->places) +
		2 * (size_t)snapshot->lists->capacity * sizeof(uint32_t) +
		vec_bytes(&snapshot->lists->affinity) + vec_bytes(&snapshot->lists->anti_affinity) +
		words * sizeof(uint64_t) + vec_bytes(&state->order.changes) +
		vec_bytes(&snapshot->nameless) + sizeof(*snapshot->lists) +
		vec_bytes(&snapshot->changed_slots) + vec_bytes(&snapshot->assumed_pods) +
		vec_bytes(&snapshot->placement_slots);
	return bytes + vec_bytes(&state->pods.records) + vec_bytes(&state->pods.free_ids) +
		map_bytes(&state->pods.by_uid) + map_bytes(&state->images.map) +
		vec_bytes(&state->images.images) + vec_bytes(&state->images.free_ids) +
		state->log.capacity * sizeof(struct bt_change) + map_bytes(&state->used_claims) +
		vec_bytes(&state->used_claim_counts) + state->scratch.total_bytes +
		state->text.capacity;
}

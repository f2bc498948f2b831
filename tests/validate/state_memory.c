/* SPDX-License-Identifier: Apache-2.0 */
/* Allocated memory of a state, computed from capacities. malloc's overhead is not included. */
#include "dra/allocator_private.h"
#include "state/affinity_index_private.h"
#include "state/domain_counter_private.h"
#include "state/pod_groups.h"
#include "state/pod_index.h"
#include "validate/validate.h"

#define vec_bytes(vec) ((size_t)(vec)->capacity * sizeof(*(vec)->items))
#define map_bytes(map) ((size_t)(map)->capacity * sizeof(*(map)->slots))

static size_t domain_counters_memory_bytes(const struct bt_state *state)
{
	const struct bt_domain_counters *counters = state->domain_counters;

	return counters != NULL ? counters->bytes + counters->eligibilities.bytes : 0;
}

static size_t affinity_index_terms_bytes(const struct bt_affinity_index *index)
{
	size_t bytes = index->terms.capacity * sizeof(void *) +
		index->lists.capacity * sizeof(struct posting_list) +
		index->keys.capacity * sizeof(struct topology_key) +
		(index->terms.map.capacity + index->lists.map.capacity + index->keys.map.capacity) *
			sizeof(struct bt_map_slot);

	for (uint32_t i = 0; i < index->terms.count; i++) {
		const struct indexed_term *indexed = index->terms.items[i];
		if (indexed != NULL) {
			bytes += sizeof(*indexed) + indexed->arena.total_bytes +
				bt_sparse_counts_bytes(&indexed->pods);
		}
	}
	for (uint32_t i = 0; i < index->lists.count; i++) {
		const struct posting_list *list = &index->lists.items[i];
		bytes += list->key.length + list->value.length +
			list->postings.capacity * sizeof(struct posting);
	}
	for (uint32_t i = 0; i < index->keys.count; i++) {
		const struct topology_key *key = &index->keys.items[i];
		bytes += key->text.length +
			(key->domains != NULL ? key->slot_capacity * sizeof(uint32_t) : 0);
	}
	return bytes;
}

size_t bt_affinity_index_memory_bytes(const struct bt_state *state)
{
	const struct bt_affinity_index *index = state->affinity_index;

	if (index == NULL) {
		return 0;
	}
	size_t bytes = sizeof(*index) + affinity_index_terms_bytes(index) +
		vec_bytes(&index->slots) + vec_bytes(&index->groups) +
		map_bytes(&index->groups.map);
	for (uint32_t i = 0; i < index->groups.count; i++) {
		bytes += vec_bytes(&index->groups.items[i].terms);
	}
	for (uint32_t i = 0; i < index->slots.count; i++) {
		bytes += vec_bytes(&index->slots.items[i].groups);
	}
	return bytes;
}

static size_t pod_index_memory_bytes(const struct bt_state *state)
{
	const struct bt_pod_index *index = state->pod_index;

	if (index == NULL) {
		return 0;
	}
	size_t bytes = sizeof(*index) + index->sets.capacity * sizeof(*index->sets.items) +
		(index->positions.capacity + (size_t)index->pairs.free_ids.capacity) *
			sizeof(uint32_t) +
		index->pairs.capacity * sizeof(*index->pairs.items) +
		index->pairs.map.capacity * sizeof(*index->pairs.map.slots);
	for (uint32_t i = 0; i < index->sets.count; i++) {
		const struct indexed_set *set = &index->sets.items[i];
		bytes += vec_bytes(&set->pods) + set->label_count * sizeof(*set->labels);
	}
	for (uint32_t i = 0; i < index->pairs.count; i++) {
		bytes += (size_t)2 * index->pairs.items[i].sets.capacity * sizeof(uint32_t);
	}
	return bytes;
}

static size_t pod_groups_memory_bytes(const struct bt_pod_groups *groups)
{
	size_t bytes = sizeof(*groups) + groups->groups.capacity * sizeof(groups->groups.items[0]) +
		groups->groups.free_ids.capacity * sizeof(uint32_t) +
		groups->wanted.capacity * sizeof(uint32_t) +
		groups->groups.map.capacity * sizeof(struct bt_map_slot);

	for (uint32_t i = 0; i < groups->groups.count; i++) {
		const struct bt_group_members *members = &groups->groups.items[i];
		bytes += members->items.capacity * sizeof(members->items.items[0]) +
			members->by_uid.capacity * sizeof(struct bt_map_slot);
	}
	return bytes;
}

static size_t places_memory_bytes(const struct bt_places *places)
{
	size_t bytes = places->capacity * (sizeof(uint32_t) + 1) +
		((size_t)places->slot_capacity + places->left.capacity) * sizeof(uint32_t);

	for (uint32_t i = 0; i < BT_PLACE_ZONES_MAX; i++) {
		bytes += places->zones[i].nodes.capacity * sizeof(uint32_t);
	}
	return bytes;
}

static size_t search_memory_bytes(const struct bt_search_memory *memory)
{
	if (memory == NULL) {
		return 0;
	}
	return sizeof(*memory) + memory->frames.capacity * sizeof(memory->frames.items[0]) +
		memory->taken.capacity * sizeof(memory->taken.items[0]) +
		memory->taken_counts.capacity * sizeof(memory->taken_counts.items[0]) +
		memory->claim_counts.capacity * sizeof(memory->claim_counts.items[0]) +
		memory->all_devices.capacity * sizeof(memory->all_devices.items[0]) +
		memory->own.capacity * sizeof(memory->own.items[0]) +
		memory->own_amounts.capacity * sizeof(memory->own_amounts.items[0]);
}

static size_t device_pools_memory_bytes(const struct bt_device_pools *pools)
{
	size_t bytes = sizeof(*pools) + map_bytes(&pools->slices.map) +
		map_bytes(&pools->named.map) + map_bytes(&pools->scopes.map) +
		map_bytes(&pools->programs.map) + vec_bytes(&pools->slices) +
		vec_bytes(&pools->rows) + vec_bytes(&pools->row_of_id) +
		vec_bytes(&pools->pool_of_id) + vec_bytes(&pools->id_marks) +
		vec_bytes(&pools->free_rows) + vec_bytes(&pools->pools) + vec_bytes(&pools->named) +
		vec_bytes(&pools->scopes) + vec_bytes(&pools->nodes) + pools->program_bytes +
		pools->arena.total_bytes + search_memory_bytes(pools->search);

	for (uint32_t i = 0; i < pools->slices.count; i++) {
		bytes += vec_bytes(&pools->slices.items[i].rows);
	}
	for (uint32_t i = 0; i < pools->named.count; i++) {
		bytes += vec_bytes(&pools->named.items[i].pools);
	}
	for (uint32_t i = 0; i < pools->nodes.count; i++) {
		bytes += vec_bytes(&pools->nodes.items[i].items);
	}
	for (uint32_t i = 0; i < pools->scopes.count; i++) {
		bytes += pools->scopes.items[i].arena.total_bytes;
	}
	for (uint32_t i = 0; i < pools->pools.count; i++) {
		const struct bt_pool *pool = &pools->pools.items[i];
		bytes += vec_bytes(&pool->slices) + vec_bytes(&pool->views) +
			vec_bytes(&pool->counters);
		for (uint32_t k = 0; k < pool->views.count; k++) {
			const struct bt_pool_view *view = pool->views.items[k];
			bytes += sizeof(*view) + vec_bytes(&view->slices) +
				vec_bytes(&view->devices);
		}
		for (uint32_t k = 0; k < pool->counters.count; k++) {
			const struct bt_pool_counters *counters = pool->counters.items[k];
			bytes += sizeof(*counters) + vec_bytes(&counters->slices) +
				vec_bytes(&counters->set_names) + vec_bytes(&counters->counters) +
				vec_bytes(&counters->consumers) + vec_bytes(&counters->uses);
		}
	}
	return bytes;
}

static size_t allocation_columns_bytes(const struct bt_allocation_columns *columns)
{
	size_t bytes = columns != NULL ? sizeof(*columns) + vec_bytes(&columns->items) : 0;

	for (uint32_t i = 0; columns != NULL && i < columns->items.count; i++) {
		const struct column *column = columns->items.items[i];
		bytes += sizeof(*column) + column->arena.total_bytes + vec_bytes(&column->classes) +
			vec_bytes(&column->answers) +
			column->slot_count * (sizeof(*column->values) + sizeof(*column->groups));
	}
	return bytes;
}

size_t bt_state_cache_bytes(const struct bt_state *state)
{
	return domain_counters_memory_bytes(state) +
		(state->dra != NULL ? allocation_columns_bytes(state->dra->pools->columns) : 0);
}

static size_t device_totals_bytes(const struct bt_device_totals_cache *cache)
{
	size_t bytes = cache != NULL
		? sizeof(*cache) + vec_bytes(&cache->classes) + vec_bytes(&cache->programs)
		: 0;

	for (uint32_t i = 0; cache != NULL && i < cache->classes.count; i++) {
		const struct class_totals *totals = &cache->classes.items[i];
		bytes += vec_bytes(&totals->everywhere.ids) + vec_bytes(&totals->nodes);
		for (uint32_t k = 0; k < totals->nodes.count; k++) {
			bytes += vec_bytes(&totals->nodes.items[k].ids);
		}
	}
	return bytes;
}

static size_t dra_memory_bytes(const struct bt_dra *dra)
{
	const struct bt_claim_cache *claims = &dra->claims;
	const struct bt_allocated_devices *allocated = &dra->allocated;
	size_t words = (size_t)allocated->dedicated.word_count + allocated->held.word_count +
		allocated->api.word_count + allocated->history.word_count;
	size_t bytes = sizeof(*dra) + device_pools_memory_bytes(dra->pools) +
		allocation_columns_bytes(dra->pools->columns) + device_totals_bytes(dra->totals);

	bytes += map_bytes(&dra->ids.items.map) + vec_bytes(&dra->ids.items);
	bytes += map_bytes(&claims->claims.map) + map_bytes(&claims->special_map) +
		map_bytes(&claims->in_flight.map) + vec_bytes(&claims->claims) +
		vec_bytes(&claims->in_flight);
	for (uint32_t i = 0; i < claims->claims.count; i++) {
		const struct bt_cached_claim *claim = &claims->claims.items[i];
		bytes += claim->latest != claim->api ? bt_object_bytes(claim->latest) : 0;
	}
	for (uint32_t i = 0; i < claims->in_flight.count; i++) {
		const struct bt_in_flight_claim *claim = &claims->in_flight.items[i];
		if (claim->claim != NULL) {
			bytes += bt_object_bytes(claim->claim) + claim->uid_length;
		}
	}
	bytes += words * sizeof(uint64_t) + vec_bytes(&allocated->in_flight) +
		vec_bytes(&allocated->api_results) + map_bytes(&allocated->shared.map) +
		vec_bytes(&allocated->shared) + map_bytes(&allocated->shares.map) +
		vec_bytes(&allocated->shares) + vec_bytes(&allocated->pool_versions);
	for (uint32_t i = 0; i < allocated->shared.count; i++) {
		bytes += vec_bytes(&allocated->shared.items[i].consumed);
	}
	bytes += map_bytes(&dra->classes.mappings.map) + vec_bytes(&dra->classes.mappings);
	for (uint32_t i = 0; i < dra->classes.mappings.count; i++) {
		bytes += dra->classes.mappings.items[i].resource_length;
	}
	for (uint32_t i = 0; i < dra->pools->slices.count; i++) {
		const struct bt_object *slice = dra->pools->slices.items[i].object;
		if (slice != NULL &&
			slice !=
				bt_object_store_find_object(&dra->state->objects,
					BT_KIND_RESOURCE_SLICE, BT_STR(""), slice->meta->name)) {
			bytes += bt_object_bytes(slice); /* has the taints of rules */
		}
	}
	return bytes;
}

size_t bt_state_memory_bytes(const struct bt_state *state)
{
	const struct bt_node_table *nodes = &state->nodes;
	const struct bt_snapshot *snapshot = &state->snapshot;
	/* 13 columns of 8 bytes, 2 of uint32_t (both with the shared zeros) and 2 of bytes. */
	size_t per_slot =
		13 * sizeof(int64_t) + 2 * sizeof(uint32_t) + 2 + sizeof(struct bt_node_row);
	size_t words = (size_t)snapshot->listed.word_count + snapshot->names.word_count +
		snapshot->affinity_slots.word_count;
	size_t bytes = sizeof(*state) + domain_counters_memory_bytes(state) +
		bt_affinity_index_memory_bytes(state) + pod_index_memory_bytes(state) +
		(state->pod_groups != NULL ? pod_groups_memory_bytes(state->pod_groups) : 0) +
		(state->dra != NULL ? dra_memory_bytes(state->dra) : 0);

	bytes += map_bytes(&state->symbols.map) + vec_bytes(&state->symbols.entries) +
		vec_bytes(&state->symbols.free_ids) + state->symbols.text_bytes;
	bytes += nodes->slot_capacity * per_slot + map_bytes(&nodes->names) +
		vec_bytes(&nodes->free_slots) + vec_bytes(&nodes->taint_sets) +
		vec_bytes(&nodes->taint_sets.free_ids) + map_bytes(&nodes->taint_sets.map) +
		vec_bytes(&nodes->scalars) + map_bytes(&nodes->scalar_index) +
		vec_bytes(&nodes->label_columns) + map_bytes(&nodes->label_column_index) +
		vec_bytes(&nodes->label_keys) + map_bytes(&nodes->label_keys.map);
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
			row->uid_length +
			vec_bytes(&row->images) + vec_bytes(&row->ports) + vec_bytes(&row->pods) +
			vec_bytes(&row->pods_with_affinity) +
			vec_bytes(&row->pods_with_required_anti_affinity) +
			vec_bytes(&row->claims) + vec_bytes(&row->zero_scalars);
	}
	bytes += map_bytes(&state->shapes.shapes.map) + vec_bytes(&state->shapes.shapes) +
		vec_bytes(&state->shapes.shapes.free_ids);
	for (uint32_t i = 0; i < state->shapes.shapes.count; i++) {
		const struct bt_shape *shape = state->shapes.shapes.items[i];
		bytes += shape != NULL ? sizeof(*shape) + shape->arena.total_bytes : 0;
	}
	bytes += map_bytes(&state->label_sets.sets.map) + vec_bytes(&state->label_sets.sets) +
		vec_bytes(&state->label_sets.sets.free_ids);
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
	bytes += places_memory_bytes(&snapshot->places) +
		2 * (size_t)snapshot->lists->capacity * sizeof(uint32_t) +
		vec_bytes(&snapshot->lists->affinity) + vec_bytes(&snapshot->lists->anti_affinity) +
		words * sizeof(uint64_t) + vec_bytes(&state->order.changes) +
		vec_bytes(&snapshot->nameless) + sizeof(*snapshot->lists) +
		vec_bytes(&snapshot->changed_slots) + vec_bytes(&snapshot->assumed_pods) +
		vec_bytes(&snapshot->placement_slots);
	return bytes + vec_bytes(&state->pods.records) + vec_bytes(&state->pods.free_ids) +
		map_bytes(&state->pods.by_uid) + map_bytes(&state->images.images.map) +
		vec_bytes(&state->images.images) + vec_bytes(&state->images.images.free_ids) +
		state->log.capacity * sizeof(struct bt_change) +
		map_bytes(&state->used_claims.map) + vec_bytes(&state->used_claims) +
		vec_bytes(&state->used_claims.free_ids) + state->scratch.total_bytes +
		state->text.capacity;
}

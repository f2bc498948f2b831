/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pod_index.h"

#include "base/alloc.h"
#include "state/node_table_edit.h"

static uint64_t hash_of_pair(bt_sym key, bt_sym value)
{
	return bt_hash_u64(bt_sym_hash(key), value.id);
}

static uint32_t find_pair(const struct bt_pod_index *index, bt_sym key, bt_sym value)
{
	uint64_t hash = hash_of_pair(key, value);

	BT_MAP_EACH (&index->pairs.map, hash, id) {
		const struct bt_label_pair *pair = &index->pairs.items[id].pair;

		if (bt_sym_equal(pair->key, key) && bt_sym_equal(pair->value, value)) {
			return id;
		}
	}
	return UINT32_MAX;
}

void bt_pod_index_add(struct bt_state *state, uint32_t pod_id)
{
	struct bt_pod_index *index = state->pod_index;
	uint32_t set_id = bt_state_pod_at(state, pod_id)->label_set;

	while (index->sets.count <= set_id) {
		struct indexed_set fresh = {0};

		bt_vec_push(&index->sets, fresh);
	}
	struct indexed_set *set = &index->sets.items[set_id];
	if (set->pods.count == 0) {
		/* The set got its first pod: list the set under each of its pairs. */
		const struct bt_label_set *source = &state->label_sets.sets.items[set_id];
		set->label_count = source->labels.count;
		set->labels = BT_NEW_ARRAY(struct set_label, set->label_count);
		for (uint32_t i = 0; i < set->label_count; i++) {
			const struct bt_label_pair *pair = &source->symbols[i];
			uint32_t id = find_pair(index, pair->key, pair->value);

			if (id == UINT32_MAX) {
				struct indexed_pair fresh = {.pair = *pair};
				bt_hash_table_add(&index->pairs,
					hash_of_pair(pair->key, pair->value), fresh, id);
			}
			set->labels[i] = (struct set_label){id, index->pairs.items[id].sets.count};
			bt_vec_push(&index->pairs.items[id].sets, set_id);
			bt_vec_push(&index->pairs.items[id].labels, i);
		}
	}
	if (pod_id >= index->positions.count) {
		bt_vec_reserve(&index->positions, (uint64_t)pod_id + 1);
		index->positions.count = pod_id + 1;
	}
	index->positions.items[pod_id] = set->pods.count;
	bt_vec_push(&set->pods, pod_id);
}

void bt_pod_index_remove(struct bt_state *state, uint32_t pod_id, uint32_t label_set)
{
	struct bt_pod_index *index = state->pod_index;
	struct indexed_set *set = &index->sets.items[label_set];
	uint32_t at = index->positions.items[pod_id];

	BT_ASSERT(at < set->pods.count && set->pods.items[at] == pod_id);
	bt_vec_remove_swap(&set->pods, at);
	set->removal_count++;
	if (at < set->pods.count) {
		index->positions.items[set->pods.items[at]] = at;
	}
	if (set->pods.count == 0) {
		/* The set lost its last pod: remove the set from the lists of its pairs. */
		for (uint32_t i = 0; i < set->label_count; i++) {
			struct indexed_pair *pair = &index->pairs.items[set->labels[i].pair];
			uint32_t place = set->labels[i].position;

			bt_vec_remove_swap(&pair->sets, place);
			bt_vec_remove_swap(&pair->labels, place);
			if (place < pair->sets.count) {
				index->sets.items[pair->sets.items[place]]
					.labels[pair->labels.items[place]]
					.position = place;
			}
			if (pair->sets.count == 0) {
				uint32_t id = set->labels[i].pair;
				bt_hash_table_remove(&index->pairs,
					hash_of_pair(pair->pair.key, pair->pair.value), id);
				bt_vec_finish(&pair->sets);
				bt_vec_finish(&pair->labels);
			}
		}
		bt_free(set->labels);
		set->labels = NULL;
		set->label_count = 0;
		bt_vec_finish(&set->pods);
	}
}

struct bt_pod_index *bt_pod_index_get(struct bt_state *state)
{
	if (state->pod_index == NULL) {
		state->pod_index = BT_NEW(struct bt_pod_index);
		for (uint32_t i = 0; i < state->pods.records.count; i++) {
			if (state->pods.records.items[i].in_use) {
				bt_pod_index_add(state, i);
			}
		}
	}
	return state->pod_index;
}

void bt_pod_index_destroy(struct bt_state *state)
{
	struct bt_pod_index *index = state->pod_index;

	if (index == NULL) {
		return;
	}
	for (uint32_t i = 0; i < index->sets.count; i++) {
		bt_free(index->sets.items[i].labels);
		bt_vec_finish(&index->sets.items[i].pods);
	}
	for (uint32_t i = 0; i < index->pairs.count; i++) {
		bt_vec_finish(&index->pairs.items[i].sets);
		bt_vec_finish(&index->pairs.items[i].labels);
	}
	bt_vec_finish(&index->sets);
	bt_vec_finish(&index->positions);
	bt_hash_table_finish(&index->pairs);
	bt_free(index);
	state->pod_index = NULL;
}

struct bt_id_list bt_pod_index_sets_with(const struct bt_pod_index *index, bt_sym key, bt_sym value)
{
	uint32_t id = find_pair(index, key, value);

	if (id == UINT32_MAX) {
		return (struct bt_id_list){0};
	}
	return (struct bt_id_list){
		index->pairs.items[id].sets.items, index->pairs.items[id].sets.count};
}

struct bt_id_list bt_pod_index_pods_of(const struct bt_pod_index *index, uint32_t label_set)
{
	if (label_set >= index->sets.count) {
		return (struct bt_id_list){0};
	}
	return (struct bt_id_list){
		index->sets.items[label_set].pods.items, index->sets.items[label_set].pods.count};
}

uint64_t bt_pod_index_removals_of(const struct bt_pod_index *index, uint32_t label_set)
{
	return label_set < index->sets.count ? index->sets.items[label_set].removal_count : 0;
}

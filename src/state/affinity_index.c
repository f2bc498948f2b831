/* SPDX-License-Identifier: Apache-2.0 */
#include "state/affinity_index.h"

#include "base/alloc.h"
#include "state/affinity_index_private.h"

/**
 * If the index missed more changes than this many times the number of slots, every slot is counted
 * again.
 */
#define REPAIR_FACTOR 4

#define CHANGES_OF_LABELS (BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE)
#define CHANGES_OF_PODS (BT_CHANGE_AFFINITY_PODS | BT_CHANGE_EXISTENCE)

static uint32_t group_of_pod(struct bt_affinity_index *index, const struct bt_pod_record *record)
{
	struct bt_state *state = index->state;
	const struct bt_shape *shape = bt_shape_at(&state->shapes, record->shape);
	uint64_t hash = bt_hash_u64(bt_hash_u64(0, shape->serial), record->namespace_.id);
	uint32_t id;
	struct owner_group fresh = {.shape_serial = shape->serial,
		.namespace_ = record->namespace_,
		.hash = hash,
		.in_use = true};

	BT_MAP_EACH (&index->groups.map, hash, known) {
		const struct owner_group *group = &index->groups.items[known];
		if (group->shape_serial == shape->serial &&
			bt_sym_equal(group->namespace_, record->namespace_)) {
			return known;
		}
	}
	(void)bt_symbol_ref(&state->symbols, fresh.namespace_); /* returns the same symbol */
	index->term_mark++;
	for (uint32_t g = 0; g < BT_AFFINITY_GROUP__COUNT; g++) {
		const struct bt_affinity_term_list *list = &shape->affinity_terms->groups[g];
		for (uint32_t i = 0; i < list->count; i++) {
			if (list->items[i].selector.nothing) {
				continue; /* never matches a pod */
			}
			uint32_t term_id = bt_affinity_index_term(index, &list->items[i],
				(enum bt_affinity_group)g,
				bt_symbol_text(&state->symbols, record->namespace_));
			struct indexed_term *indexed = index->terms.items[term_id];
			if (indexed->mark == index->term_mark) {
				fresh.terms.items[indexed->at].times++;
				continue;
			}
			struct group_term term = {term_id, indexed->key, 1};
			indexed->mark = index->term_mark;
			indexed->at = fresh.terms.count;
			indexed->group_count++;
			bt_vec_push(&fresh.terms, term);
		}
	}
	bt_hash_table_add(&index->groups, hash, fresh, id);
	return id;
}

static void drop_group(struct bt_affinity_index *index, uint32_t id)
{
	struct owner_group *group = &index->groups.items[id];
	bt_hash_table_remove(&index->groups, group->hash, id);
	for (uint32_t i = 0; i < group->terms.count; i++) {
		uint32_t term = group->terms.items[i].term;
		if (--index->terms.items[term]->group_count == 0) {
			bt_affinity_index_drop_term(index, term);
		}
	}
	bt_symbol_unref(&index->state->symbols, group->namespace_);
	bt_vec_finish(&group->terms);
	*group = (struct owner_group){0};
}

static void add_to_term(struct bt_affinity_index *index, const struct group_term *term,
	uint32_t domain, int64_t pods)
{
	const struct bt_label_column *column = index->keys.items[term->key].column;

	if (domain != 0) {
		(void)bt_sparse_counts_add(&index->terms.items[term->term]->pods, domain,
			pods * term->times, column->dictionary.count);
	}
}

/** For each key, move the slot's pods from the slot's old domain to the new domain. */
static void repair_domains(struct bt_affinity_index *index, uint32_t slot)
{
	const struct slot_list *list = &index->slots.items[slot];

	for (uint32_t k = 0; k < index->active_keys.count; k++) {
		uint32_t id = index->active_keys.items[k];
		struct topology_key *key = &index->keys.items[id];
		uint32_t before = key_domain(key, slot);
		uint32_t domain = key->column->values[slot];

		if (domain == before) {
			continue;
		}
		for (uint32_t i = 0; i < list->groups.count; i++) {
			const struct owner_group *group =
				&index->groups.items[list->groups.items[i].group];
			int64_t count = list->groups.items[i].count;

			for (uint32_t t = 0; t < group->terms.count; t++) {
				if (group->terms.items[t].key == id) {
					add_to_term(index, &group->terms.items[t], before, -count);
					add_to_term(index, &group->terms.items[t], domain, count);
				}
			}
		}
		bt_affinity_index_set_domain(index, key, slot, domain);
	}
}

/** Compute the sums of the stale keys anew from the groups of the slots. */
static void sum_stale_keys(struct bt_affinity_index *index)
{
	for (uint32_t i = 0; i < index->terms.count; i++) {
		struct indexed_term *indexed = index->terms.items[i];
		if (indexed != NULL && index->keys.items[indexed->key].stale) {
			bt_sparse_counts_finish(&indexed->pods);
		}
	}
	for (uint32_t i = 0; i < index->keys.count; i++) {
		if (index->keys.items[i].stale) {
			bt_affinity_index_take_domains(index, &index->keys.items[i]);
		}
	}
	for (uint32_t slot = 0; slot < index->slots.count; slot++) {
		const struct slot_list *list = &index->slots.items[slot];

		for (uint32_t i = 0; i < list->groups.count; i++) {
			struct slot_group of = list->groups.items[i];
			const struct owner_group *group = &index->groups.items[of.group];

			for (uint32_t t = 0; t < group->terms.count; t++) {
				const struct group_term *term = &group->terms.items[t];
				const struct topology_key *key = &index->keys.items[term->key];
				if (key->stale) {
					add_to_term(index, term, key_domain(key, slot), of.count);
				}
			}
		}
	}
	for (uint32_t i = 0; i < index->keys.count; i++) {
		index->keys.items[i].stale = false;
	}
}

static struct touched_group *touch_group(struct bt_affinity_index *index, uint32_t id)
{
	struct owner_group *group = &index->groups.items[id];

	if (group->mark != index->mark) {
		struct touched_group fresh = {id, 0, 0};

		group->mark = index->mark;
		group->touched_at = index->touched.count;
		bt_vec_push(&index->touched, fresh);
	}
	return &index->touched.items[group->touched_at];
}

static void repair_pods(struct bt_affinity_index *index, uint32_t slot)
{
	const struct bt_node_row *row = &index->state->nodes.rows[slot];
	struct slot_list *list = &index->slots.items[slot];
	bool has_pods = row->in_snapshot && row->pods_with_affinity.count != 0;

	if (has_pods || list->groups.count != 0) {
		/* Count the slot's pods by group, before and after the change. */
		const struct bt_state *state = index->state;
		uint32_t pod_count = row->in_snapshot ? row->pods_with_affinity.count : 0;

		index->touched.count = 0;
		index->mark++;
		for (uint32_t i = 0; i < list->groups.count; i++) {
			touch_group(index, list->groups.items[i].group)->before =
				list->groups.items[i].count;
		}
		for (uint32_t i = 0; i < pod_count; i++) {
			uint32_t group = group_of_pod(
				index, bt_state_pod_at(state, row->pods_with_affinity.items[i]));
			touch_group(index, group)->after++;
		}
		list->groups.count = 0;
		for (uint32_t i = 0; i < index->touched.count; i++) {
			struct touched_group touched = index->touched.items[i];
			if (touched.after != 0) {
				struct slot_group of_slot = {touched.group, touched.after};
				bt_vec_push(&list->groups, of_slot);
			}
			/*
			 * Update the sums of one group, and drop the group if it has no pods left.
			 */
			struct owner_group *group = &index->groups.items[touched.group];
			int64_t delta = (int64_t)touched.after - touched.before;

			for (uint32_t t = 0; t < group->terms.count && delta != 0; t++) {
				const struct group_term *term = &group->terms.items[t];
				add_to_term(index, term,
					key_domain(&index->keys.items[term->key], slot), delta);
			}
			group->pod_count += (uint64_t)delta;
			if (group->pod_count == 0) {
				drop_group(index, touched.group);
			}
		}
	}
	bool unlisted = has_pods &&
		(!row->in_affinity_list ||
			(row->pods_with_required_anti_affinity.count != 0 &&
				!row->in_anti_affinity_list));
	index->unlisted_count += unlisted;
	index->unlisted_count -= list->unlisted;
	list->unlisted = unlisted;
}

const struct bt_affinity_index *bt_affinity_index_get(struct bt_state *state)
{
	if (state->affinity_index == NULL) {
		state->affinity_index = BT_NEW(struct bt_affinity_index);
		state->affinity_index->state = state;
	}
	struct bt_affinity_index *index = state->affinity_index;
	const struct bt_change_log *log = &state->log;
	uint64_t behind = log->sequence - index->log_sequence;
	bool everything = !index->filled || !bt_change_log_covers(log, index->log_sequence) ||
		behind > 16 + (uint64_t)state->nodes.slot_count * REPAIR_FACTOR;

	/* No pod has affinity, and the index has no group: nothing to update. */
	if (state->affinity_pod_count == 0 && index->groups.map.count == 0 &&
		index->unlisted_count == 0) {
		index->filled = true;
		index->log_sequence = log->sequence;
		return index;
	}
	bt_vec_reserve(&index->slots, state->nodes.slot_count);
	for (; index->slots.count < state->nodes.slot_count; index->slots.count++) {
		index->slots.items[index->slots.count] = (struct slot_list){0};
	}
	if ((everything ||
		    bt_change_log_end(log, index->log_sequence, CHANGES_OF_LABELS) !=
			    index->log_sequence ||
		    index->key_epoch != state->nodes.label_key_epoch) &&
		bt_affinity_index_update_keys(index)) {
		sum_stale_keys(index);
	}
	/* Most labels are no topology keys: read the log only for values that changed. */
	bool moved = false;
	for (uint32_t i = 0; i < index->active_keys.count; i++) {
		struct topology_key *key = &index->keys.items[index->active_keys.items[i]];
		moved = moved || key->change_count != key->column->change_count;
		key->change_count = key->column->change_count;
	}
	if (everything) {
		for (uint32_t slot = 0; slot < index->slots.count; slot++) {
			repair_domains(index, slot);
			repair_pods(index, slot);
		}
	}
	uint64_t end = bt_change_log_end(
		log, index->log_sequence, CHANGES_OF_PODS | (moved ? CHANGES_OF_LABELS : 0));
	for (uint64_t i = index->log_sequence; !everything && i < end; i++) {
		struct bt_change change = bt_change_log_at(log, i);

		if (moved && (change.kinds & CHANGES_OF_LABELS) != 0) {
			repair_domains(index, change.slot);
		}
		if ((change.kinds & CHANGES_OF_PODS) != 0) {
			repair_pods(index, change.slot);
		}
	}
	index->filled = true;
	index->log_sequence = log->sequence;
	return index;
}

bool bt_affinity_index_has_unlisted(const struct bt_affinity_index *index)
{
	return index->unlisted_count != 0;
}

void bt_affinity_index_destroy(struct bt_state *state)
{
	struct bt_affinity_index *index = state->affinity_index;

	if (index == NULL) {
		return;
	}
	bt_affinity_index_finish_terms(index);
	for (uint32_t i = 0; i < index->groups.count; i++) {
		struct owner_group *group = &index->groups.items[i];
		if (group->in_use) {
			bt_symbol_unref(&state->symbols, group->namespace_);
		}
		bt_vec_finish(&group->terms);
	}
	for (uint32_t i = 0; i < index->slots.count; i++) {
		bt_vec_finish(&index->slots.items[i].groups);
	}
	bt_hash_table_finish(&index->groups);
	bt_vec_finish(&index->slots);
	bt_vec_finish(&index->touched);
	bt_free(index);
	state->affinity_index = NULL;
}

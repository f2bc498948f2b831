/* SPDX-License-Identifier: Apache-2.0 */
#include "state/affinity_index.h"

#include "base/alloc.h"
#include "state/node_table_edit.h"
#include "state/topology_key.h"

/** Behind by more than this share of the slots, each slot is looked at once. */
#define REPAIR_SHARE 4

/** A term in a group, and where the term lists the group. */
struct group_term {
	uint32_t term;
	uint32_t position;
};

/** Pods of one shape and namespace. */
struct owner_group {
	uint64_t shape_serial;
	bt_sym namespace_; /* reference held */
	uint64_t hash;
	BT_VEC(struct group_term) terms;
	BT_VEC(struct bt_affinity_place) places;
	BT_VEC(uint32_t) place_links; /* by place: its index in the slot's list */
	bool in_use;
};

/** A group that has a term, and where it lists the term. */
struct term_group {
	uint32_t group;
	uint32_t position;
};

/** A distinct term. */
struct indexed_term {
	struct bt_arena arena;
	struct bt_str identity;
	uint64_t hash;
	enum bt_affinity_group group;
	struct bt_affinity_term term;     /* namespaces are complete: no own namespace any more */
	const struct bt_requirement *key; /* a label value it requires; NULL: it is in `others` */
	uint64_t key_hash;
	uint32_t other_position;
	BT_VEC(struct term_group) groups;
};

/** Pods of a group on a slot: where the group lists the slot. */
struct slot_group {
	uint32_t group;
	uint32_t position;
};

struct slot_list {
	BT_VEC(struct slot_group) groups;
	bool unlisted;
};

struct bt_affinity_index {
	struct bt_state *state;
	BT_VEC(struct indexed_term *) terms; /* NULL: free */
	BT_VEC(uint32_t) free_terms;
	struct bt_map term_map;  /* by identity */
	struct bt_map label_map; /* terms with a key, by it */
	BT_VEC(uint32_t) others;
	BT_VEC(struct owner_group) groups;
	BT_VEC(uint32_t) free_groups;
	struct bt_map group_map;
	BT_VEC(struct slot_list) slots;
	BT_VEC(struct slot_group) previous; /* of the slot under repair */
	struct bt_strbuf key;
	uint32_t unlisted_count;
	bool filled;
	uint64_t log_sequence;
};

/* --- terms --- */

static uint64_t label_hash(struct bt_str key, struct bt_str value)
{
	return bt_hash_u64(bt_str_hash(key), bt_str_hash(value));
}

static uint64_t term_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_affinity_index *)owner)->terms.items[id]->hash;
}

static uint64_t term_label_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_affinity_index *)owner)->terms.items[id]->key_hash;
}

static void append_identity(struct bt_strbuf *key, const struct bt_affinity_term *term,
	enum bt_affinity_group group, struct bt_str owner_namespace)
{
	bt_strbuf_reset(key);
	bt_key_append_u32(key, group);
	bt_key_append_u32(key, (uint32_t)term->weight);
	bt_key_append_str(key, term->topology_key);
	bt_key_append_selector(key, &term->selector);
	bt_key_append_selector(key, &term->namespace_selector);
	if (term->in_own_namespace) {
		bt_key_append_str(key, owner_namespace);
		return;
	}
	for (uint32_t i = 0; i < term->namespace_count; i++) {
		bt_key_append_str(key, term->namespaces[i]);
	}
}

static const struct bt_requirement *required_label(const struct bt_selector *selector)
{
	for (uint32_t i = 0; i < selector->requirement_count; i++) {
		const struct bt_requirement *requirement = &selector->requirements[i];
		if (requirement->operator_ == BT_SELECTOR_IN && requirement->value_count == 1) {
			return requirement;
		}
	}
	return NULL;
}

static struct indexed_term *create_term(const struct bt_affinity_term *source,
	enum bt_affinity_group group, struct bt_str owner_namespace, struct bt_str identity)
{
	struct indexed_term *indexed = BT_NEW(struct indexed_term);
	struct bt_affinity_term *term = &indexed->term;

	bt_arena_init(&indexed->arena, 512);
	indexed->identity = bt_arena_str(&indexed->arena, identity);
	indexed->hash = bt_str_hash(identity);
	indexed->group = group;
	*term = *source;
	term->selector = bt_selector_copy(&source->selector, &indexed->arena);
	term->namespace_selector = bt_selector_copy(&source->namespace_selector, &indexed->arena);
	term->topology_key = bt_arena_str(&indexed->arena, source->topology_key);
	if (source->in_own_namespace) {
		term->in_own_namespace = false;
		term->namespace_count = 1;
		term->namespaces = bt_str_array_copy(&owner_namespace, 1, &indexed->arena);
	} else {
		term->namespaces = bt_str_array_copy(
			source->namespaces, source->namespace_count, &indexed->arena);
	}
	indexed->key = required_label(&term->selector);
	if (indexed->key != NULL) {
		indexed->key_hash = label_hash(indexed->key->key, indexed->key->values[0]);
	}
	return indexed;
}

static uint32_t add_term(struct bt_affinity_index *index, struct indexed_term *indexed)
{
	uint32_t id;

	if (index->free_terms.count != 0) {
		id = index->free_terms.items[--index->free_terms.count];
		index->terms.items[id] = indexed;
	} else {
		id = index->terms.count;
		bt_vec_push(&index->terms, indexed);
	}
	bt_map_insert(&index->term_map, indexed->hash, id);
	if (indexed->key != NULL) {
		bt_map_insert(&index->label_map, indexed->key_hash, id);
	} else {
		indexed->other_position = index->others.count;
		bt_vec_push(&index->others, id);
	}
	return id;
}

static void destroy_term(struct indexed_term *indexed)
{
	bt_vec_finish(&indexed->groups);
	bt_arena_finish(&indexed->arena);
	bt_free(indexed);
}

static void drop_term(struct bt_affinity_index *index, uint32_t id)
{
	struct indexed_term *indexed = index->terms.items[id];
	bool removed = bt_map_remove(&index->term_map, indexed->hash, id);

	BT_ASSERT(removed);
	if (indexed->key != NULL) {
		removed = bt_map_remove(&index->label_map, indexed->key_hash, id);
		BT_ASSERT(removed);
	} else {
		uint32_t at = indexed->other_position;
		bt_vec_remove_swap(&index->others, at);
		if (at < index->others.count) {
			index->terms.items[index->others.items[at]]->other_position = at;
		}
	}
	index->terms.items[id] = NULL;
	bt_vec_push(&index->free_terms, id);
	destroy_term(indexed);
}

static uint32_t term_id(struct bt_affinity_index *index, const struct bt_affinity_term *term,
	enum bt_affinity_group group, struct bt_str owner_namespace)
{
	struct bt_str identity;
	uint64_t hash;
	uint32_t at;

	append_identity(&index->key, term, group, owner_namespace);
	identity = bt_strbuf_str(&index->key);
	hash = bt_str_hash(identity);
	at = bt_map_first(&index->term_map, hash);
	for (; at != BT_MAP_NONE; at = bt_map_next(&index->term_map, hash, at)) {
		const struct indexed_term *indexed =
			index->terms.items[bt_map_value(&index->term_map, at)];
		if (bt_str_equal(indexed->identity, identity)) {
			return bt_map_value(&index->term_map, at);
		}
	}
	return add_term(index, create_term(term, group, owner_namespace, identity));
}

/* --- groups --- */

static uint64_t group_hash(const void *owner, uint32_t id)
{
	return ((const struct bt_affinity_index *)owner)->groups.items[id].hash;
}

static void add_terms(struct bt_affinity_index *index, uint32_t group_id,
	const struct bt_affinity_terms *terms, struct bt_str owner_namespace)
{
	for (uint32_t g = 0; g < BT_AFFINITY_GROUP__COUNT; g++) {
		for (uint32_t i = 0; i < terms->groups[g].count; i++) {
			const struct bt_affinity_term *term = &terms->groups[g].items[i];
			struct owner_group *group = &index->groups.items[group_id];
			struct indexed_term *indexed;
			uint32_t id;

			if (term->selector.nothing) {
				continue; /* selects no pod, ever */
			}
			id = term_id(index, term, (enum bt_affinity_group)g, owner_namespace);
			indexed = index->terms.items[id];
			struct group_term of_group = {id, indexed->groups.count};
			struct term_group of_term = {group_id, group->terms.count};
			bt_vec_push(&group->terms, of_group);
			bt_vec_push(&indexed->groups, of_term);
		}
	}
}

static uint32_t group_of_pod(struct bt_affinity_index *index, const struct bt_pod_record *record)
{
	const struct bt_shape *shape = bt_shape_at(&index->state->shapes, record->shape);
	uint64_t hash = bt_hash_u64(bt_hash_u64(0, shape->serial), record->namespace_.id);
	uint32_t at = bt_map_first(&index->group_map, hash);
	struct owner_group fresh = {.shape_serial = shape->serial,
		.namespace_ = record->namespace_,
		.hash = hash,
		.in_use = true};
	uint32_t id;

	for (; at != BT_MAP_NONE; at = bt_map_next(&index->group_map, hash, at)) {
		const struct owner_group *group =
			&index->groups.items[bt_map_value(&index->group_map, at)];
		if (group->shape_serial == shape->serial &&
			bt_sym_equal(group->namespace_, record->namespace_)) {
			return bt_map_value(&index->group_map, at);
		}
	}
	(void)bt_symbol_ref(&index->state->symbols, fresh.namespace_); /* the same symbol */
	if (index->free_groups.count != 0) {
		id = index->free_groups.items[--index->free_groups.count];
		index->groups.items[id] = fresh;
	} else {
		id = index->groups.count;
		bt_vec_push(&index->groups, fresh);
	}
	bt_map_insert(&index->group_map, hash, id);
	add_terms(index, id, shape->affinity_terms,
		bt_symbol_text(&index->state->symbols, record->namespace_));
	return id;
}

static void drop_group(struct bt_affinity_index *index, uint32_t id)
{
	struct owner_group *group = &index->groups.items[id];
	bool removed = bt_map_remove(&index->group_map, group->hash, id);

	BT_ASSERT(removed);
	for (uint32_t i = 0; i < group->terms.count; i++) {
		struct group_term link = group->terms.items[i];
		struct indexed_term *indexed = index->terms.items[link.term];

		bt_vec_remove_swap(&indexed->groups, link.position);
		if (link.position < indexed->groups.count) {
			struct term_group moved = indexed->groups.items[link.position];
			index->groups.items[moved.group].terms.items[moved.position].position =
				link.position;
		}
		if (indexed->groups.count == 0) {
			drop_term(index, link.term);
		}
	}
	bt_symbol_unref(&index->state->symbols, group->namespace_);
	bt_vec_finish(&group->terms);
	bt_vec_finish(&group->places);
	bt_vec_finish(&group->place_links);
	*group = (struct owner_group){0};
	bt_vec_push(&index->free_groups, id);
}

/* --- slots --- */

/** One more pod of the group on the slot, whose list is being made. */
static void add_place(struct bt_affinity_index *index, uint32_t group_id, uint32_t slot)
{
	struct owner_group *group = &index->groups.items[group_id];
	struct slot_list *list = &index->slots.items[slot];
	struct slot_group link = {group_id, group->places.count};
	struct bt_affinity_place place = {slot, 1};

	/* A slot's pods are added in one go, so that its place is the newest of the group; the
	 * place from before the repair, if there is one, is linked from elsewhere. */
	if (group->places.count != 0) {
		uint32_t last = group->places.count - 1;
		uint32_t at = group->place_links.items[last];

		if (group->places.items[last].slot == slot && at < list->groups.count &&
			list->groups.items[at].group == group_id &&
			list->groups.items[at].position == last) {
			group->places.items[last].count++;
			return;
		}
	}
	bt_vec_push(&group->places, place);
	bt_vec_push(&group->place_links, list->groups.count);
	bt_vec_push(&list->groups, link);
}

/** index->previous held the slot's list; a moved place may belong to it as well. */
static void remove_place(struct bt_affinity_index *index, struct slot_group link)
{
	struct owner_group *group = &index->groups.items[link.group];

	bt_vec_remove_swap(&group->places, link.position);
	bt_vec_remove_swap(&group->place_links, link.position);
	if (link.position < group->places.count) {
		struct bt_affinity_place moved = group->places.items[link.position];
		struct slot_list *list = &index->slots.items[moved.slot];
		list->groups.items[group->place_links.items[link.position]].position =
			link.position;
	}
	if (group->places.count == 0) {
		drop_group(index, link.group);
	}
}

static void set_unlisted(struct bt_affinity_index *index, struct slot_list *list, bool unlisted)
{
	index->unlisted_count += unlisted;
	index->unlisted_count -= list->unlisted;
	list->unlisted = unlisted;
}

static void repair_slot(struct bt_affinity_index *index, uint32_t slot)
{
	const struct bt_state *state = index->state;
	const struct bt_node_row *row = &state->nodes.rows[slot];
	struct slot_list *list = &index->slots.items[slot];
	uint32_t count = row->in_snapshot ? row->pods_with_affinity.count : 0;

	if (count == 0 && list->groups.count == 0) {
		set_unlisted(index, list, false);
		return;
	}
	index->previous.count = 0;
	for (uint32_t i = 0; i < list->groups.count; i++) {
		bt_vec_push(&index->previous, list->groups.items[i]);
	}
	list->groups.count = 0;
	/* The new list first: groups that stay are not dropped in between. */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t group = group_of_pod(
			index, bt_state_pod_at(state, row->pods_with_affinity.items[i]));
		add_place(index, group, slot);
	}
	for (uint32_t i = 0; i < index->previous.count; i++) {
		remove_place(index, index->previous.items[i]);
	}
	set_unlisted(index, list,
		count != 0 &&
			(!row->in_affinity_list ||
				(row->pods_with_required_anti_affinity.count != 0 &&
					!row->in_anti_affinity_list)));
}

/* --- keeping up --- */

static struct bt_affinity_index *index_of(struct bt_state *state)
{
	struct bt_affinity_index *index = state->affinity_index;

	if (index == NULL) {
		index = BT_NEW(struct bt_affinity_index);
		index->state = state;
		bt_map_init(&index->term_map, term_hash, index);
		bt_map_init(&index->label_map, term_label_hash, index);
		bt_map_init(&index->group_map, group_hash, index);
		state->affinity_index = index;
	}
	return index;
}

const struct bt_affinity_index *bt_affinity_index_get(struct bt_state *state)
{
	struct bt_affinity_index *index = index_of(state);
	uint64_t behind = state->log.sequence - index->log_sequence;

	bt_vec_reserve(&index->slots, state->nodes.slot_count);
	for (; index->slots.count < state->nodes.slot_count; index->slots.count++) {
		index->slots.items[index->slots.count] = (struct slot_list){0};
	}
	if (!index->filled || !bt_change_log_covers(&state->log, index->log_sequence) ||
		behind > 16 + state->nodes.slot_count / REPAIR_SHARE) {
		for (uint32_t slot = 0; slot < index->slots.count; slot++) {
			repair_slot(index, slot);
		}
	} else {
		for (uint64_t i = index->log_sequence; i < state->log.sequence; i++) {
			struct bt_change change = bt_change_log_at(&state->log, i);
			if ((change.kinds & (BT_CHANGE_AFFINITY_PODS | BT_CHANGE_EXISTENCE)) != 0) {
				repair_slot(index, change.slot);
			}
		}
	}
	index->filled = true;
	index->log_sequence = state->log.sequence;
	return index;
}

bool bt_affinity_index_has_unlisted(const struct bt_affinity_index *index)
{
	return index->unlisted_count != 0;
}

/* --- questions --- */

/** What a search hands from term to term. */
struct search {
	const struct bt_affinity_index *index;
	uint32_t groups;
	struct bt_str namespace_;
	const struct bt_str_map *labels;
	const struct bt_str_map *namespace_labels;
	bt_affinity_hit_function function;
	void *context;
};

static void try_term(const struct search *search, uint32_t id)
{
	const struct indexed_term *indexed = search->index->terms.items[id];

	if ((search->groups >> indexed->group & 1) == 0 ||
		!bt_affinity_term_matches(&indexed->term, BT_STR(""), search->namespace_,
			search->labels, search->namespace_labels)) {
		return;
	}
	for (uint32_t i = 0; i < indexed->groups.count; i++) {
		const struct owner_group *group =
			&search->index->groups.items[indexed->groups.items[i].group];
		struct bt_affinity_hit hit = {
			.group = indexed->group,
			.weight = indexed->term.weight,
			.topology_key = indexed->term.topology_key,
			.places = group->places.items,
			.place_count = group->places.count,
		};
		search->function(search->context, &hit);
	}
}

void bt_affinity_index_find(const struct bt_affinity_index *index, uint32_t groups,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels, bt_affinity_hit_function function, void *context)
{
	struct search search = {
		index, groups, namespace_, labels, namespace_labels, function, context};

	for (uint32_t i = 0; i < labels->count && index->label_map.count != 0; i++) {
		const struct bt_str_pair *label = &labels->items[i];
		uint64_t hash = label_hash(label->key, label->value);
		uint32_t at = bt_map_first(&index->label_map, hash);

		for (; at != BT_MAP_NONE; at = bt_map_next(&index->label_map, hash, at)) {
			uint32_t id = bt_map_value(&index->label_map, at);
			const struct indexed_term *indexed = index->terms.items[id];

			/* Another label with the same hash leads here too. */
			if (bt_str_equal(indexed->key->key, label->key) &&
				bt_str_equal(indexed->key->values[0], label->value)) {
				try_term(&search, id);
			}
		}
	}
	for (uint32_t i = 0; i < index->others.count; i++) {
		try_term(&search, index->others.items[i]);
	}
}

/* --- memory --- */

void bt_affinity_index_destroy(struct bt_state *state)
{
	struct bt_affinity_index *index = state->affinity_index;

	if (index == NULL) {
		return;
	}
	for (uint32_t i = 0; i < index->terms.count; i++) {
		if (index->terms.items[i] != NULL) {
			destroy_term(index->terms.items[i]);
		}
	}
	for (uint32_t i = 0; i < index->groups.count; i++) {
		struct owner_group *group = &index->groups.items[i];
		if (group->in_use) {
			bt_symbol_unref(&state->symbols, group->namespace_);
		}
		bt_vec_finish(&group->terms);
		bt_vec_finish(&group->places);
		bt_vec_finish(&group->place_links);
	}
	for (uint32_t i = 0; i < index->slots.count; i++) {
		bt_vec_finish(&index->slots.items[i].groups);
	}
	bt_vec_finish(&index->terms);
	bt_vec_finish(&index->free_terms);
	bt_map_finish(&index->term_map);
	bt_map_finish(&index->label_map);
	bt_vec_finish(&index->others);
	bt_vec_finish(&index->groups);
	bt_vec_finish(&index->free_groups);
	bt_map_finish(&index->group_map);
	bt_vec_finish(&index->slots);
	bt_vec_finish(&index->previous);
	bt_strbuf_finish(&index->key);
	bt_free(index);
	state->affinity_index = NULL;
}

size_t bt_affinity_index_memory_bytes(const struct bt_state *state)
{
	const struct bt_affinity_index *index = state->affinity_index;
	size_t bytes;

	if (index == NULL) {
		return 0;
	}
	bytes = sizeof(*index) + index->slots.capacity * sizeof(struct slot_list);
	for (uint32_t i = 0; i < index->terms.count; i++) {
		const struct indexed_term *indexed = index->terms.items[i];
		if (indexed != NULL) {
			bytes += sizeof(*indexed) + indexed->arena.total_bytes +
				indexed->groups.capacity * sizeof(struct term_group);
		}
	}
	for (uint32_t i = 0; i < index->groups.count; i++) {
		const struct owner_group *group = &index->groups.items[i];
		bytes += sizeof(*group) + group->terms.capacity * sizeof(struct group_term) +
			group->places.capacity *
				(sizeof(struct bt_affinity_place) + sizeof(uint32_t));
	}
	for (uint32_t i = 0; i < index->slots.count; i++) {
		bytes += index->slots.items[i].groups.capacity * sizeof(struct slot_group);
	}
	return bytes;
}

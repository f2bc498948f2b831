/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of the affinity index, and the search for the terms that match a pod. A posting list has
 * the terms with a common requirement: a label with a value, or a namespace. The search reads only
 * the lists whose requirement the pod meets. Terms without such a requirement are tried with every
 * pod.
 */
#include "base/alloc.h"
#include "state/affinity_index_private.h"
#include "state/domain_counter.h"
#include "state/node_table_edit.h"
#include "state/topology_key.h"

/** Maximum number of posting lists of a term: one for each value or namespace. */
#define LISTS_MAX 8

static struct bt_str owned_text(struct bt_str text)
{
	char *copy = BT_NEW_ARRAY(char, text.length + 1);

	if (text.length != 0) {
		memcpy(copy, text.data, text.length);
	}
	return (struct bt_str){copy, text.length};
}

static void free_text(struct bt_str *text)
{
	bt_free((void *)(uintptr_t)text->data);
	*text = (struct bt_str){0};
}

void bt_affinity_index_take_domains(struct bt_affinity_index *index, struct topology_key *key)
{
	const struct bt_node_table *table = &index->state->nodes;

	if (key->column == NULL || key->column->present_count == 0) {
		bt_free(key->domains);
		key->domains = NULL;
	} else {
		if (key->domains == NULL || key->slot_capacity < table->slot_capacity) {
			bt_free(key->domains);
			key->domains = BT_NEW_ARRAY(uint32_t, table->slot_capacity);
		}
		memcpy(key->domains, key->column->values,
			table->slot_capacity * sizeof(*key->domains));
	}
	key->slot_capacity = table->slot_capacity;
	key->rebuild_count = key->column != NULL ? key->column->rebuild_count : 0;
	key->change_count = key->column != NULL ? key->column->change_count : 0;
}

void bt_affinity_index_set_domain(
	struct bt_affinity_index *index, struct topology_key *key, uint32_t slot, uint32_t domain)
{
	if (key->domains == NULL) {
		key->slot_capacity = index->state->nodes.slot_capacity;
		key->domains = BT_NEW_ARRAY(uint32_t, key->slot_capacity);
	}
	key->domains[slot] = domain;
}

bool bt_affinity_index_update_keys(struct bt_affinity_index *index)
{
	const struct bt_node_table *table = &index->state->nodes;
	bool stale = false;

	/*
	 * Pods may name any number of keys that no node has, so look such keys up only after nodes
	 * got a new key.
	 */
	for (uint32_t i = 0; index->key_epoch != table->label_key_epoch && i < index->keys.count;
		i++) {
		struct topology_key *key = &index->keys.items[i];

		if (key->term_count == 0 || key->column != NULL) {
			continue;
		}
		key->column = bt_state_label_column(index->state, key->text);
		if (key->column != NULL) {
			bt_vec_push(&index->active_keys, i);
			key->stale = true;
			stale = true;
		}
	}
	index->key_epoch = table->label_key_epoch;
	for (uint32_t i = 0; i < index->active_keys.count; i++) {
		struct topology_key *key = &index->keys.items[index->active_keys.items[i]];

		key->stale = key->stale || key->column->rebuild_count != key->rebuild_count;
		stale = stale || key->stale;
		uint32_t slot_capacity = table->slot_capacity;
		if (key->domains != NULL && key->slot_capacity < slot_capacity) {
			key->domains = bt_realloc_array(
				key->domains, slot_capacity, sizeof(*key->domains));
			memset(key->domains + key->slot_capacity, 0,
				(slot_capacity - key->slot_capacity) * sizeof(*key->domains));
		}
		key->slot_capacity = slot_capacity;
	}
	return stale;
}

static uint32_t ref_key(struct bt_affinity_index *index, struct bt_str text)
{
	uint64_t hash = bt_str_hash(text);
	uint32_t id = UINT32_MAX;

	BT_MAP_EACH (&index->keys.map, hash, candidate) {
		if (bt_str_equal(index->keys.items[candidate].text, text)) {
			id = candidate;
			break;
		}
	}
	if (id == UINT32_MAX) {
		struct topology_key fresh = {.text = owned_text(text), .hash = hash};
		fresh.column = bt_state_label_column(index->state, text);
		bt_affinity_index_take_domains(index, &fresh);
		bt_hash_table_add(&index->keys, hash, fresh, id);
		if (fresh.column != NULL) {
			bt_vec_push(&index->active_keys, id);
		}
	}
	index->keys.items[id].term_count++;
	return id;
}

static uint64_t hash_of_list(enum posting_kind kind, enum bt_affinity_group group,
	struct bt_str key, struct bt_str value)
{
	return bt_hash_u64(bt_hash_u64(bt_str_hash(key), bt_str_hash(value)),
		(uint64_t)kind * BT_AFFINITY_GROUP__COUNT + group);
}

static uint32_t find_list(const struct bt_affinity_index *index, enum posting_kind kind,
	enum bt_affinity_group group, struct bt_str key, struct bt_str value, uint64_t hash)
{
	BT_MAP_EACH (&index->lists.map, hash, id) {
		const struct posting_list *list = &index->lists.items[id];
		if (list->kind == kind && list->group == group && bt_str_equal(list->key, key) &&
			bt_str_equal(list->value, value)) {
			return id;
		}
	}
	return UINT32_MAX;
}

static void free_list(struct posting_list *list)
{
	bt_vec_finish(&list->postings);
	free_text(&list->key);
	free_text(&list->value);
}

/** Add the term to the posting list of each of these values; repeated values count once. */
static void post_under(struct bt_affinity_index *index, uint32_t id, enum posting_kind kind,
	struct bt_str key, const struct bt_str *values, uint32_t count)
{
	struct indexed_term *indexed = index->terms.items[id];

	indexed->links = BT_ARENA_NEW_ARRAY(&indexed->arena, struct posting_link, count);
	for (uint32_t i = 0; i < count; i++) {
		struct posting posting = {id, indexed->link_count};

		if (bt_str_is_among(values[i], values, i)) {
			continue;
		}
		uint64_t hash = hash_of_list(kind, indexed->group, key, values[i]);
		uint32_t list = find_list(index, kind, indexed->group, key, values[i], hash);
		if (list == UINT32_MAX) {
			struct posting_list fresh = {
				.kind = kind,
				.group = indexed->group,
				.hash = hash,
				.key = owned_text(key),
				.value = owned_text(values[i]),
			};
			bt_hash_table_add(&index->lists, hash, fresh, list);
			index->list_counts[kind][indexed->group]++;
		}
		indexed->links[indexed->link_count++] =
			(struct posting_link){list, index->lists.items[list].postings.count};
		bt_vec_push(&index->lists.items[list].postings, posting);
	}
}

/**
 * Number of posting lists of a requirement, one for each value of the label; a smaller number is
 * better. UINT32_MAX: the requirement is not usable.
 */
static uint32_t list_count_of(const struct bt_requirement *requirement)
{
	return requirement->operator_ == BT_SELECTOR_IN && requirement->value_count <= LISTS_MAX
		? requirement->value_count
		: UINT32_MAX;
}

static void destroy_term(struct indexed_term *indexed)
{
	bt_sparse_counts_finish(&indexed->pods);
	bt_arena_finish(&indexed->arena);
	bt_free(indexed);
}

void bt_affinity_index_drop_term(struct bt_affinity_index *index, uint32_t id)
{
	struct indexed_term *indexed = index->terms.items[id];
	bt_hash_table_remove(&index->terms, indexed->hash, id);
	for (uint32_t i = 0; i < indexed->link_count; i++) {
		struct posting_link link = indexed->links[i];
		struct posting_list *list = &index->lists.items[link.list];

		bt_vec_remove_swap(&list->postings, link.position);
		if (link.position < list->postings.count) {
			struct posting moved = list->postings.items[link.position];
			index->terms.items[moved.term]->links[moved.link].position = link.position;
		}
		if (list->postings.count == 0) {
			bt_hash_table_remove(&index->lists, list->hash, link.list);
			index->list_counts[list->kind][list->group]--;
			free_list(list);
		}
	}
	struct topology_key *key = &index->keys.items[indexed->key];

	if (--key->term_count == 0) {
		bt_hash_table_remove(&index->keys, key->hash, indexed->key);
		for (uint32_t i = 0; i < index->active_keys.count; i++) {
			if (index->active_keys.items[i] == indexed->key) {
				bt_vec_remove_swap(&index->active_keys, i);
				break;
			}
		}
		free_text(&key->text);
		bt_free(key->domains);
		*key = (struct topology_key){0};
	}
	index->terms.items[id] = NULL;
	destroy_term(indexed);
}

uint32_t bt_affinity_index_find_term(
	const struct bt_affinity_index *index, struct bt_str identity, uint64_t hash)
{
	BT_MAP_EACH (&index->terms.map, hash, id) {
		if (bt_str_equal(index->terms.items[id]->identity, identity)) {
			return id;
		}
	}
	return UINT32_MAX;
}

uint32_t bt_affinity_index_term(struct bt_affinity_index *index,
	const struct bt_affinity_term *term, enum bt_affinity_group group,
	struct bt_str owner_namespace)
{
	struct bt_strbuf *text = &index->text;
	bt_strbuf_reset(text);
	bt_key_append_u32(text, group);
	bt_key_append_u32(text, (uint32_t)term->weight);
	bt_key_append_str(text, term->topology_key);
	bt_key_append_selector(text, &term->selector);
	bt_key_append_selector(text, &term->namespace_selector);
	if (term->in_own_namespace) {
		bt_key_append_str(text, owner_namespace);
	} else {
		for (uint32_t i = 0; i < term->namespace_count; i++) {
			bt_key_append_str(text, term->namespaces[i]);
		}
	}
	struct bt_str identity = bt_strbuf_str(&index->text);
	uint32_t id = bt_affinity_index_find_term(index, identity, bt_str_hash(identity));
	if (id != UINT32_MAX) {
		return id;
	}
	struct indexed_term *indexed = BT_NEW(struct indexed_term);
	struct bt_affinity_term *copy = &indexed->term;

	bt_arena_init(&indexed->arena, 512);
	indexed->identity = bt_arena_str(&indexed->arena, identity);
	indexed->hash = bt_str_hash(identity);
	indexed->group = group;
	*copy = *term;
	copy->selector = bt_selector_copy(&term->selector, &indexed->arena);
	copy->namespace_selector = bt_selector_copy(&term->namespace_selector, &indexed->arena);
	copy->topology_key = bt_arena_str(&indexed->arena, term->topology_key);
	if (term->in_own_namespace) {
		copy->in_own_namespace = false;
		copy->namespace_count = 1;
		copy->namespaces = bt_str_array_copy(&owner_namespace, 1, &indexed->arena);
	} else {
		copy->namespaces =
			bt_str_array_copy(term->namespaces, term->namespace_count, &indexed->arena);
	}
	indexed->serial = ++index->next_serial;
	indexed->key = ref_key(index, copy->topology_key);
	bt_hash_table_add(&index->terms, indexed->hash, indexed, id);
	/* The requirement that probably the fewest pods meet; NULL: no requirement is usable. */
	const struct bt_requirement *label = NULL;
	for (uint32_t i = 0; i < copy->selector.requirement_count; i++) {
		const struct bt_requirement *requirement = &copy->selector.requirements[i];
		uint32_t count = list_count_of(requirement);
		if (count != UINT32_MAX && (label == NULL || count < list_count_of(label))) {
			label = requirement;
		}
	}
	struct bt_str none = BT_STR("");
	if (label != NULL) {
		post_under(index, id, POSTING_VALUE, label->key, label->values, label->value_count);
	} else if (copy->namespace_selector.nothing && copy->namespace_count <= LISTS_MAX) {
		post_under(index, id, POSTING_NAMESPACE, none, copy->namespaces,
			copy->namespace_count);
	} else {
		post_under(index, id, POSTING_ANY, none, &none, 1);
	}
	return id;
}

/** Arguments of a search. */
struct search {
	const struct bt_affinity_index *index;
	struct bt_str namespace_;
	const struct bt_str_map *labels;
	const struct bt_str_map *namespace_labels;
	bt_affinity_hit_function function;
	void *context;
};

static void try_list(const struct search *search, enum posting_kind kind,
	enum bt_affinity_group group, struct bt_str key, struct bt_str value)
{
	const struct bt_affinity_index *index = search->index;
	uint32_t id =
		find_list(index, kind, group, key, value, hash_of_list(kind, group, key, value));

	for (uint32_t i = 0; id != UINT32_MAX && i < index->lists.items[id].postings.count; i++) {
		const struct indexed_term *indexed =
			index->terms.items[index->lists.items[id].postings.items[i].term];

		if (!bt_affinity_term_matches(&indexed->term, BT_STR(""), search->namespace_,
			    search->labels, search->namespace_labels)) {
			continue;
		}
		struct bt_affinity_hit hit = (struct bt_affinity_hit){
			.group = indexed->group,
			.weight = indexed->term.weight,
			.serial = indexed->serial,
			.column = search->index->keys.items[indexed->key].column,
			.pods = &indexed->pods,
		};
		search->function(search->context, &hit);
	}
}

void bt_affinity_index_find(const struct bt_affinity_index *index, uint32_t groups,
	struct bt_str namespace_, const struct bt_str_map *labels,
	const struct bt_str_map *namespace_labels, bt_affinity_hit_function function, void *context)
{
	struct search search = {index, namespace_, labels, namespace_labels, function, context};
	struct bt_str none = BT_STR("");

	for (uint32_t g = 0; g < BT_AFFINITY_GROUP__COUNT; g++) {
		enum bt_affinity_group group = (enum bt_affinity_group)g;

		if ((groups >> g & 1) == 0) {
			continue;
		}
		for (uint32_t i = 0;
			i < labels->count && index->list_counts[POSTING_VALUE][group] != 0; i++) {
			try_list(&search, POSTING_VALUE, group, labels->items[i].key,
				labels->items[i].value);
		}
		if (index->list_counts[POSTING_NAMESPACE][g] != 0) {
			try_list(&search, POSTING_NAMESPACE, group, none, namespace_);
		}
		if (index->list_counts[POSTING_ANY][g] != 0) {
			try_list(&search, POSTING_ANY, group, none, none);
		}
	}
}

void bt_affinity_index_finish_terms(struct bt_affinity_index *index)
{
	for (uint32_t i = 0; i < index->terms.count; i++) {
		if (index->terms.items[i] != NULL) {
			destroy_term(index->terms.items[i]);
		}
	}
	for (uint32_t i = 0; i < index->lists.count; i++) {
		free_list(&index->lists.items[i]);
	}
	for (uint32_t i = 0; i < index->keys.count; i++) {
		free_text(&index->keys.items[i].text);
		bt_free(index->keys.items[i].domains);
	}
	bt_hash_table_finish(&index->terms);
	bt_hash_table_finish(&index->lists);
	bt_hash_table_finish(&index->keys);
	bt_vec_finish(&index->active_keys);
	bt_strbuf_finish(&index->text);
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The public cache: the tables of src/state, and what the tables do not have: whole objects, expiry
 * of assumed pods, and the states of removed pods.
 */
#include "berth/cache.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/map.h"
#include "base/text_set.h"
#include "berth/snapshot.h"
#include "lib/aggregate.h"
#include "lib/convert.h"
#include "state/state.h"

/** What the cache stores about a pod in addition to the tables. */
struct cache_pod {
	struct bt_aggregate_pod *pod; /* NULL: the pod id is free */
	bool binding_finished;
	int64_t deadline_ns; /* expiry; valid if binding_finished */
};

/** What the cache stores about a node in addition to the tables. */
struct cache_node {
	struct bt_object *node; /* newest object; stays while a removed node has pods */
	struct bt_pressures pressures;
	int64_t row_generation; /* generation of the table's row when `generation` was set */
	int64_t generation;     /* generation of aggregates copied from this node */
};

/** The state of a pod that was removed from the cache. */
struct departed {
	struct bt_str uid; /* owned; data NULL: the place in the ring is free */
	enum berth_cache_pod_state state;
};

struct departed_table {
	BT_VEC(struct departed) ring; /* at most BERTH_CACHE_DEPARTED_MAX */
	uint32_t next;                /* index of the oldest pod once the ring is full */
	struct bt_map index;          /* hash of uid -> index in ring */
};

/** Iterates over the nodes in the order of the snapshot, round after round. */
struct berth_node_tree {
	const struct bt_state *state;
	BT_VEC(uint32_t) round; /* slots of the nodes in this round */
	uint32_t next;
};

struct berth_cache {
	struct bt_state *state;
	BT_VEC(struct cache_pod) pods;   /* by pod id */
	BT_VEC(struct cache_node) nodes; /* by slot */
	struct departed_table departed;
	int64_t assume_ttl_ns; /* 0: no expiry */
	struct berth_node_tree tree;
};

/* Removed pods with longer uids are not remembered. API servers make uids of 36 bytes. */
#define UID_BYTES_MAX 256U

/** Returns the index of the removed pod in the ring; BT_MAP_NONE: the uid is unknown. */
static uint32_t find_departed(const struct departed_table *table, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	BT_MAP_EACH (&table->index, hash, place) {
		if (bt_str_equal(table->ring.items[place].uid, uid)) {
			return place;
		}
	}
	return BT_MAP_NONE;
}

static void free_place(struct departed_table *table, uint32_t place)
{
	struct departed *departed = &table->ring.items[place];

	if (departed->uid.data != NULL) {
		(void)bt_map_remove(&table->index, bt_str_hash(departed->uid), place);
		bt_lib_free_text(departed->uid);
		*departed = (struct departed){0};
	}
}

static void departed_drop(struct departed_table *table, struct bt_str uid)
{
	uint32_t place = find_departed(table, uid);

	if (place != BT_MAP_NONE) {
		free_place(table, place);
	}
}

BT_COMPARE(compare_pods, struct bt_pod *const,
	BT_ORDER_BY(bt_str_compare((*a)->metadata.namespace_, (*b)->metadata.namespace_),
		bt_str_compare((*a)->metadata.name, (*b)->metadata.name),
		bt_str_compare((*a)->metadata.uid, (*b)->metadata.uid)))

const struct berth_pod *const *berth_cache_list(const struct berth_cache *cache,
	const struct berth_label_selector *selector, struct berth_arena *arena, uint32_t *out_count)
{
	return berth_cache_filtered_list(cache, NULL, NULL, selector, arena, out_count);
}

const struct berth_pod *const *berth_cache_filtered_list(const struct berth_cache *cache,
	berth_pod_filter_fn filter, const void *context,
	const struct berth_label_selector *selector, struct berth_arena *arena, uint32_t *out_count)
{
	uint32_t total = berth_cache_pod_count(cache);
	const struct berth_pod **list = NULL;
	uint32_t count = 0;

	if (total != 0 && selector != NULL) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod *, total);
	}
	for (uint32_t i = 0; i < cache->pods.count && list != NULL; i++) {
		const struct bt_aggregate_pod *pod = cache->pods.items[i].pod;

		if (pod == NULL ||
			!berth_label_selector_matches_object(
				selector, berth_const_object_of(pod->object)) ||
			(filter != NULL && !filter(context, berth_const_pod_of(pod->pod)))) {
			continue;
		}
		list[count++] = berth_const_pod_of(pod->pod);
	}
	if (count != 0) {
		qsort(list, count, sizeof(*list), compare_pods);
	}
	*out_count = count;
	return count != 0 ? list : NULL;
}

/** Returns the entry of a slot. Entries up to the slot are added if they are missing. */
static struct cache_node *node_at(struct berth_cache *cache, uint32_t slot)
{
	bt_vec_pad(&cache->nodes, slot + 1, (struct cache_node){0});
	return &cache->nodes.items[slot];
}

/** Returns a number that changes whenever the node in this slot or its pods change. */
static int64_t cache_generation(struct berth_cache *cache, uint32_t slot)
{
	int64_t row_generation = cache->state->nodes.rows[slot].generation;
	struct cache_node *node = node_at(cache, slot);

	if (node->generation == 0 || node->row_generation != row_generation) {
		node->row_generation = row_generation;
		node->generation = bt_aggregate_next_generation();
	}
	return node->generation;
}

static void copy_images(
	struct bt_aggregate *copy, const struct bt_state *state, const struct bt_node_row *row)
{
	if (row->images.count == 0) {
		return;
	}
	struct bt_aggregate_image *images =
		BT_NEW_ARRAY(struct bt_aggregate_image, row->images.count);
	for (uint32_t i = 0; i < row->images.count; i++) {
		const struct bt_image *image =
			&state->images.images.items[row->images.items[i].image];

		images[i].name = bt_symbol_text(&state->symbols, image->name);
		images[i].state.size_bytes = image->size_bytes;
		images[i].state.node_count = image->node_count;
	}
	qsort(images, row->images.count, sizeof(*images), bt_str_compare_qsort);
	for (uint32_t i = 0; i < row->images.count; i++) {
		bt_aggregate_push_image(copy, images[i].name, &images[i].state);
	}
	bt_free(images);
}

/** Returns the node in this slot as an aggregate, which the caller owns. */
static struct bt_aggregate *copy_node(struct berth_cache *cache, uint32_t slot)
{
	const struct bt_node_row *row = &cache->state->nodes.rows[slot];
	int64_t generation = cache_generation(cache, slot);
	const struct cache_node *node = &cache->nodes.items[slot];
	struct bt_aggregate *copy = bt_aggregate_create();

	for (uint32_t i = 0; i < row->pods.count; i++) {
		bt_aggregate_add(copy, cache->pods.items[row->pods.items[i]].pod);
	}
	/*
	 * As in upstream, removals change the order of pods_with_affinity, so take the order from
	 * the row.
	 */
	BT_ASSERT(copy->pods_with_affinity.count == row->pods_with_affinity.count);
	for (uint32_t i = 0; i < row->pods_with_affinity.count; i++) {
		uint32_t pod_id = row->pods_with_affinity.items[i];
		struct bt_aggregate_pod *pod =
			bt_aggregate_pod_share(cache->pods.items[pod_id].pod);

		bt_aggregate_pod_release(copy->pods_with_affinity.items[i]);
		copy->pods_with_affinity.items[i] = pod;
	}
	/*
	 * Removing one of two pods with the same port removes the port, so take the ports from the
	 * row, not from the pods.
	 */
	berth_host_port_info_finish(&copy->ports);
	for (uint32_t i = 0; i < row->ports.count; i++) {
		berth_host_port_info_add(&copy->ports,
			bt_symbol_text(&cache->state->symbols, row->ports.items[i].ip),
			bt_symbol_text(&cache->state->symbols, row->ports.items[i].protocol),
			row->ports.items[i].port);
	}
	if (row->has_node) {
		bt_aggregate_set_node(copy, node->node);
		copy_images(copy, cache->state, row);
	} else if (node->node != NULL) {
		/*
		 * If the node was removed but has pods, its allocatable resources stay: spec 01b
		 * section 9.4.
		 */
		berth_resource_add(&copy->allocatable,
			berth_node_allocatable(
				berth_const_node_of(bt_object_value(node->node, BT_KIND_NODE))));
	}
	copy->pressures = node->pressures;
	copy->generation = generation;
	return copy;
}

int berth_cache_get_node_info(struct berth_cache *cache, struct berth_str node_name,
	struct berth_node_info **out_node, struct berth_error *err)
{
	uint32_t slot = bt_node_table_find(&cache->state->nodes, node_name);

	if (slot == BT_SLOT_NONE || !cache->state->nodes.rows[slot].in_cache) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"node %.*s does not exist in scheduler cache", BT_STR_ARG(node_name));
	}
	*out_node = berth_node_info_of_aggregate(copy_node(cache, slot));
	return BERTH_OK;
}

struct berth_cache *berth_cache_create(const struct berth_cache_options *options)
{
	struct berth_cache_options wanted = BERTH_CACHE_OPTIONS_INIT;
	struct bt_state_options state_options = {
		.resource_gates = bt_aggregate_default_gates, .declared_features = true};
	struct berth_cache *cache = BT_NEW(struct berth_cache);

	bt_lib_read_options(&wanted, sizeof(wanted), options);
	cache->state = bt_state_create(&state_options);
	berth_cache_set_assume_ttl_ns(cache, wanted.assume_expiry_ns);
	cache->state->warn = wanted.warn;
	cache->state->warn_context = wanted.warn_context;
	return cache;
}

void berth_cache_destroy(struct berth_cache *cache)
{
	if (cache == NULL) {
		return;
	}
	bt_state_destroy(cache->state);
	for (uint32_t i = 0; i < cache->pods.count; i++) {
		bt_aggregate_pod_release(cache->pods.items[i].pod);
	}
	for (uint32_t i = 0; i < cache->nodes.count; i++) {
		bt_object_release(cache->nodes.items[i].node);
	}
	bt_vec_finish(&cache->pods);
	bt_vec_finish(&cache->nodes);
	bt_vec_finish_each(&cache->departed.ring, bt_lib_free_text(each->uid));
	bt_map_finish(&cache->departed.index);
	bt_vec_finish(&cache->tree.round);
	bt_free(cache);
}

/** Where a pod is in the tables. Look it up before an operation that may remove the pod. */
struct place {
	uint32_t pod_id; /* BT_POD_NONE: the pod is not in the cache */
	uint32_t slot;
};

static struct place find_place(const struct berth_cache *cache, struct bt_str uid)
{
	struct place place = {bt_state_find_pod(cache->state, uid), BT_SLOT_NONE};

	if (place.pod_id != BT_POD_NONE) {
		place.slot = bt_state_pod_at(cache->state, place.pod_id)->node;
	}
	return place;
}

/** Forgets the node in this slot if the tables have forgotten the node. */
static void sync_slot(struct berth_cache *cache, uint32_t slot)
{
	if (slot < cache->nodes.count && !cache->state->nodes.rows[slot].in_cache) {
		bt_object_release(cache->nodes.items[slot].node);
		cache->nodes.items[slot] = (struct cache_node){0};
	}
}

/**
 * Forgets a pod that the tables have removed, and remembers its uid with this state; INITIAL: the
 * uid is not remembered.
 */
static void drop_pod(
	struct berth_cache *cache, struct place place, enum berth_cache_pod_state departed_as)
{
	if (place.pod_id == BT_POD_NONE) {
		return;
	}
	struct cache_pod *pod = &cache->pods.items[place.pod_id];
	struct departed_table *table = &cache->departed;
	struct bt_str uid = pod->pod->info.uid;
	if (departed_as != BERTH_CACHE_POD_INITIAL) {
		departed_drop(table, uid);
	}
	if (departed_as != BERTH_CACHE_POD_INITIAL && uid.length != 0 &&
		uid.length <= UID_BYTES_MAX) {
		struct departed departed = {.uid = bt_lib_own_text(uid), .state = departed_as};
		uint32_t at = table->ring.count;

		if (at < BERTH_CACHE_DEPARTED_MAX) {
			bt_vec_push(&table->ring, departed);
		} else {
			at = table->next;
			table->next = (at + 1) % BERTH_CACHE_DEPARTED_MAX;
			free_place(table, at);
			table->ring.items[at] = departed;
		}
		bt_map_insert(&table->index, bt_str_hash(departed.uid), at);
	}
	bt_aggregate_pod_release(pod->pod);
	*pod = (struct cache_pod){0};
	sync_slot(cache, place.slot);
}

/** Stores the object of a pod that the tables have added. */
static void keep_pod(struct berth_cache *cache, struct bt_object *object)
{
	struct bt_aggregate_pod *pod = bt_aggregate_pod_create(object, &cache->state->gates);
	uint32_t pod_id = bt_state_find_pod(cache->state, pod->info.uid);

	BT_ASSERT(pod_id != BT_POD_NONE);
	bt_vec_pad(&cache->pods, pod_id + 1, (struct cache_pod){0});
	BT_ASSERT(cache->pods.items[pod_id].pod == NULL);
	cache->pods.items[pod_id] = (struct cache_pod){.pod = pod};
	departed_drop(&cache->departed, pod->info.uid);
}

/** Checks that the object is a pod or a node. */
static int check_kind(const struct berth_object *object, enum bt_kind kind, struct berth_error *err)
{
	return object != NULL && bt_const_object_of(object)->kind == kind
		? BERTH_OK
		: bt_error_set(
			  err, BERTH_ERR_INVALID, kind == BT_KIND_POD ? "not a pod" : "not a node");
}

int berth_cache_assume_pod(
	struct berth_cache *cache, struct berth_object *pod, struct berth_error *err)
{
	int result = check_kind(pod, BT_KIND_POD, err);

	if (result == BERTH_OK) {
		result = bt_state_assume_pod(
			cache->state, bt_const_pod_of(berth_object_pod(pod)), err);
	}
	if (result == BERTH_OK) {
		keep_pod(cache, bt_object_of(pod));
	}
	return result;
}

int berth_cache_finish_binding(struct berth_cache *cache, const struct berth_pod *pod,
	int64_t now_ns, struct berth_error *err)
{
	bool assumed = false;
	int result = bt_state_is_assumed_pod(cache->state, bt_const_pod_of(pod), &assumed, err);

	if (result == BERTH_OK && assumed && cache->assume_ttl_ns != 0) {
		uint32_t pod_id = bt_state_find_pod(cache->state, berth_pod_uid(pod));
		struct cache_pod *cached = &cache->pods.items[pod_id];

		cached->binding_finished = true;
		if (BT_ADD_OVERFLOW(now_ns, cache->assume_ttl_ns, &cached->deadline_ns)) {
			cached->deadline_ns = INT64_MAX;
		}
	}
	return result;
}

int berth_cache_forget_pod(
	struct berth_cache *cache, const struct berth_pod *pod, struct berth_error *err)
{
	struct place place = find_place(cache, berth_pod_uid(pod));
	int result = bt_state_forget_pod(cache->state, bt_const_pod_of(pod), err);

	if (result == BERTH_OK) {
		drop_pod(cache, place, BERTH_CACHE_POD_INITIAL);
	}
	return result;
}

int berth_cache_add_pod(
	struct berth_cache *cache, struct berth_object *pod, struct berth_error *err)
{
	int result = check_kind(pod, BT_KIND_POD, err);

	if (result != BERTH_OK) {
		return result;
	}
	struct place place = find_place(cache, berth_object_uid(pod));
	result = bt_state_add_pod(cache->state, bt_const_pod_of(berth_object_pod(pod)), err);
	if (result == BERTH_OK) {
		drop_pod(cache, place, BERTH_CACHE_POD_INITIAL);
		keep_pod(cache, bt_object_of(pod));
	}
	return result;
}

int berth_cache_update_pod(struct berth_cache *cache, const struct berth_pod *old_pod,
	struct berth_object *new_pod, struct berth_error *err)
{
	int result = check_kind(new_pod, BT_KIND_POD, err);
	struct place place;

	if (result != BERTH_OK) {
		return result;
	}
	place = find_place(cache, berth_pod_uid(old_pod));
	struct place other = find_place(cache, berth_object_uid(new_pod));
	result = bt_state_update_pod(cache->state, bt_const_pod_of(old_pod),
		bt_const_pod_of(berth_object_pod(new_pod)), err);
	if (result == BERTH_OK) {
		drop_pod(cache, place, BERTH_CACHE_POD_DELETED);
		if (other.pod_id != place.pod_id) {
			drop_pod(cache, other, BERTH_CACHE_POD_DELETED);
		}
		keep_pod(cache, bt_object_of(new_pod));
	}
	return result;
}

int berth_cache_remove_pod(
	struct berth_cache *cache, const struct berth_pod *pod, struct berth_error *err)
{
	struct place place = find_place(cache, berth_pod_uid(pod));
	int result = bt_state_remove_pod(cache->state, bt_const_pod_of(pod), err);

	if (result == BERTH_OK) {
		drop_pod(cache, place, BERTH_CACHE_POD_DELETED);
	}
	return result;
}

enum berth_cache_pod_state berth_cache_pod_state(const struct berth_cache *cache, berth_uid uid)
{
	uint32_t pod_id = bt_state_find_pod(cache->state, uid);

	if (pod_id == BT_POD_NONE) {
		/* The pod is not in the cache: it was removed, or it was never added. */
		uint32_t place = find_departed(&cache->departed, uid);

		return place != BT_MAP_NONE ? cache->departed.ring.items[place].state
					    : BERTH_CACHE_POD_INITIAL;
	}
	return bt_state_pod_at(cache->state, pod_id)->assumed ? BERTH_CACHE_POD_ASSUMED
							      : BERTH_CACHE_POD_ADDED;
}

const struct berth_pod *berth_cache_get_pod(const struct berth_cache *cache, berth_uid uid)
{
	uint32_t pod_id = bt_state_find_pod(cache->state, uid);

	return pod_id != BT_POD_NONE ? berth_const_pod_of(cache->pods.items[pod_id].pod->pod)
				     : NULL;
}

void berth_cache_set_assume_ttl_ns(struct berth_cache *cache, int64_t ttl_ns)
{
	cache->assume_ttl_ns = ttl_ns > 0 ? ttl_ns : 0;
}

uint32_t berth_cache_expire_assumed(struct berth_cache *cache, int64_t now_ns)
{
	uint32_t expired = 0;

	for (uint32_t i = 0; i < cache->pods.count; i++) {
		const struct cache_pod *pod = &cache->pods.items[i];

		if (pod->pod == NULL || !pod->binding_finished || pod->deadline_ns >= now_ns) {
			continue;
		}
		/*
		 * Confirming an assumed pod replaces its entry, so a pod with binding_finished is
		 * still assumed.
		 */
		struct place place = find_place(cache, pod->pod->info.uid);
		int result = bt_state_remove_pod(cache->state, pod->pod->pod, NULL);
		BT_ASSERT(result == BERTH_OK);
		drop_pod(cache, place, BERTH_CACHE_POD_EXPIRED);
		expired++;
	}
	return expired;
}

uint32_t berth_cache_node_count(const struct berth_cache *cache)
{
	return cache->state->node_entry_count;
}

uint32_t berth_cache_pod_count(const struct berth_cache *cache)
{
	return cache->state->pods.count;
}

uint32_t berth_cache_assumed_pod_count(const struct berth_cache *cache)
{
	return cache->state->pods.assumed_count;
}

/** Stores the object of a node that the tables have added or updated. */
static void keep_node(struct berth_cache *cache, struct bt_object *object)
{
	uint32_t slot = bt_node_table_find(&cache->state->nodes, object->meta->name);

	BT_ASSERT(slot != BT_SLOT_NONE);
	struct cache_node *node = node_at(cache, slot);
	object = bt_object_share(object);
	bt_object_release(node->node);
	node->node = object;
	bt_pressures_take(&node->pressures, bt_object_value(object, BT_KIND_NODE));
}

int berth_cache_add_node(
	struct berth_cache *cache, struct berth_object *node, struct berth_error *err)
{
	int result = check_kind(node, BT_KIND_NODE, err);

	if (result == BERTH_OK) {
		bt_state_add_node(cache->state, bt_const_node_of(berth_object_node(node)));
		keep_node(cache, bt_object_of(node));
	}
	return result;
}

int berth_cache_update_node(struct berth_cache *cache, const struct berth_node *old_node,
	struct berth_object *new_node, struct berth_error *err)
{
	int result = check_kind(new_node, BT_KIND_NODE, err);

	if (result == BERTH_OK) {
		bt_state_update_node(cache->state, bt_const_node_of(old_node),
			bt_const_node_of(berth_object_node(new_node)));
		keep_node(cache, bt_object_of(new_node));
	}
	return result;
}

int berth_cache_remove_node(
	struct berth_cache *cache, const struct berth_node *node, struct berth_error *err)
{
	uint32_t slot = bt_node_table_find(&cache->state->nodes, berth_node_name(node));
	int result = bt_state_remove_node(cache->state, bt_const_node_of(node), err);

	if (slot != BT_SLOT_NONE && slot < cache->nodes.count) {
		cache->nodes.items[slot].pressures = bt_pressures_unknown;
		sync_slot(cache, slot);
	}
	return result;
}

struct berth_snapshot {
	struct bt_state *state; /* of the cache */
	struct bt_snapshot_view view;
};

struct berth_snapshot *berth_snapshot_create(struct berth_cache *cache)
{
	struct berth_snapshot *snapshot = BT_NEW(struct berth_snapshot);

	snapshot->state = cache->state;
	snapshot->view = (struct bt_snapshot_view){.state = cache->state};
	return snapshot;
}

void berth_snapshot_destroy(struct berth_snapshot *snapshot)
{
	bt_free(snapshot);
}

int berth_snapshot_refresh(struct berth_snapshot *snapshot, struct berth_error *err)
{
	return bt_state_refresh_snapshot(snapshot->state, err);
}

const struct berth_shared_lister *berth_snapshot_shared_lister(
	const struct berth_snapshot *snapshot)
{
	return berth_const_shared_lister_of(&snapshot->view);
}

struct berth_node_tree *berth_cache_node_tree(struct berth_cache *cache)
{
	cache->tree.state = cache->state;
	return &cache->tree;
}

uint32_t berth_node_tree_num_nodes(const struct berth_node_tree *tree)
{
	return tree->state->order.count;
}

struct berth_str berth_node_tree_next(struct berth_node_tree *tree)
{
	const struct bt_node_table *nodes = &tree->state->nodes;

	/*
	 * All nodes that remain in this round may have been removed; then the next round has the
	 * next node.
	 */
	for (int round = 0; round < 2; round++) {
		if (tree->next >= tree->round.count) {
			tree->next = 0;
			bt_vec_reserve(&tree->round, (uint64_t)tree->state->order.count + 1);
			tree->round.count = tree->state->order.count;
			bt_node_order_list(&tree->state->order, tree->round.items);
		}
		while (tree->next < tree->round.count) {
			uint32_t slot = tree->round.items[tree->next++];

			if (nodes->rows[slot].has_node) {
				return bt_node_table_name(nodes, slot);
			}
		}
	}
	return BT_STR("");
}

struct entry {
	struct bt_str name;             /* owned */
	struct bt_aggregate *aggregate; /* owned */
};

struct berth_node_name_to_info_map {
	BT_VEC(struct entry) entries; /* ascending by name */
};

static void free_entry(struct entry *entry)
{
	bt_aggregate_destroy(entry->aggregate);
	bt_lib_free_text(entry->name);
}

/**
 * Appends an entry; the aggregate is consumed. Entries must be appended in ascending order of their
 * names.
 */
static void push(
	struct berth_node_name_to_info_map *map, struct bt_str name, struct bt_aggregate *aggregate)
{
	struct entry entry = {bt_lib_own_text(name), aggregate};

	bt_vec_push(&map->entries, entry);
}

static struct entry *find_entry(const struct berth_node_name_to_info_map *map, struct bt_str name)
{
	return map->entries.count == 0 ? NULL
				       : bsearch(&name, map->entries.items, map->entries.count,
						 sizeof(struct entry), bt_str_compare_qsort);
}

static int check_kinds(struct berth_object *const *objects, uint32_t count, enum bt_kind kind,
	struct berth_error *err)
{
	for (uint32_t i = 0; i < count; i++) {
		if (objects[i] == NULL || bt_object_of(objects[i])->kind != kind) {
			return bt_error_set(err, BERTH_ERR_INVALID, "object %lu is no %s",
				(unsigned long)i, bt_kind_info(kind)->name);
		}
	}
	return BERTH_OK;
}

static struct bt_str node_name_of(const struct berth_object *pod)
{
	struct bt_str name = berth_pod_node_name(berth_object_pod(pod));

	return name.data != NULL ? name : BT_STR("");
}

/** An image of a node, with the size that the node reports. */
struct image {
	struct bt_str name;
	int64_t size_bytes;
};

/**
 * Sets the images of each node; node_count counts all nodes of the map with the image. If a node
 * reports a name more than once, the last one counts.
 */
static void set_images(struct berth_node_name_to_info_map *map)
{
	struct bt_text_set names = {0};
	BT_VEC(uint32_t) node_counts = {0}; /* by position in names */
	BT_VEC(struct image) images = {0};

	for (uint32_t i = 0; i < map->entries.count; i++) {
		struct bt_aggregate *aggregate = map->entries.items[i].aggregate;
		const struct bt_node *node = bt_aggregate_node(aggregate);

		images.count = 0;
		for (uint32_t k = 0; node != NULL && k < node->status.images.count; k++) {
			const struct bt_container_image *image = &node->status.images.items[k];

			for (uint32_t n = 0; n < image->names.count; n++) {
				struct image report = {image->names.items[n], image->size_bytes};

				bt_vec_push(&images, report);
			}
		}
		struct bt_any_list sorted = {.items = images.items, .count = images.count};

		bt_sort_entries(&sorted, sizeof(struct image));
		for (uint32_t k = 0; k < sorted.count; k++) {
			struct berth_image_state state = {.size_bytes = images.items[k].size_bytes};

			bt_aggregate_push_image(aggregate, images.items[k].name, &state);
			(void)bt_text_set_add(&names, images.items[k].name);
			bt_vec_pad(&node_counts, names.items.count, 0);
			node_counts.items[bt_text_set_find(&names, images.items[k].name)]++;
		}
	}
	for (uint32_t i = 0; i < map->entries.count; i++) {
		struct bt_aggregate *aggregate = map->entries.items[i].aggregate;

		for (uint32_t k = 0; k < aggregate->images.count; k++) {
			struct bt_aggregate_image *image = &aggregate->images.items[k];

			image->state.node_count =
				node_counts.items[bt_text_set_find(&names, image->name)];
		}
	}
	bt_vec_finish(&images);
	bt_vec_finish(&node_counts);
	bt_text_set_finish(&names);
}

int berth_node_name_to_info_map_create(struct berth_object *const *pods, uint32_t pod_count,
	struct berth_object *const *nodes, uint32_t node_count,
	struct berth_node_name_to_info_map **out_map, struct berth_error *err)
{
	int result = check_kinds(pods, pod_count, BT_KIND_POD, err);

	if (result == BERTH_OK) {
		result = check_kinds(nodes, node_count, BT_KIND_NODE, err);
	}
	if (result != BERTH_OK) {
		return result;
	}
	struct berth_node_name_to_info_map *map = BT_NEW(struct berth_node_name_to_info_map);

	/* Add an empty aggregate for the name of each node, and for the node name of each pod. */
	size_t count = (size_t)pod_count + node_count;
	struct bt_str *names = BT_NEW_ARRAY(struct bt_str, count + 1);

	for (uint32_t i = 0; i < pod_count; i++) {
		names[i] = node_name_of(pods[i]);
	}
	for (uint32_t i = 0; i < node_count; i++) {
		names[pod_count + i] = berth_object_name(nodes[i]);
	}
	qsort(names, count, sizeof(*names), bt_str_compare_qsort);
	for (size_t i = 0; i < count; i++) {
		if (i == 0 || !bt_str_equal(names[i], names[i - 1])) {
			push(map, names[i], bt_aggregate_create());
		}
	}
	bt_free(names);
	for (uint32_t i = 0; i < pod_count; i++) {
		bt_aggregate_add_object(
			find_entry(map, node_name_of(pods[i]))->aggregate, bt_object_of(pods[i]));
	}
	for (uint32_t i = 0; i < node_count; i++) {
		bt_aggregate_set_node(find_entry(map, berth_object_name(nodes[i]))->aggregate,
			bt_object_of(nodes[i]));
	}
	set_images(map);
	*out_map = map;
	return BERTH_OK;
}

void berth_node_name_to_info_map_destroy(struct berth_node_name_to_info_map *map)
{
	if (map == NULL) {
		return;
	}
	bt_vec_finish_each(&map->entries, free_entry(each));
	bt_free(map);
}

struct berth_node_info *berth_node_name_to_info_map_find(
	const struct berth_node_name_to_info_map *map, struct berth_str node_name)
{
	struct entry *entry = find_entry(map, node_name);

	return entry != NULL ? berth_node_info_of_aggregate(entry->aggregate) : NULL;
}

uint32_t berth_node_name_to_info_map_count(const struct berth_node_name_to_info_map *map)
{
	return map->entries.count;
}

struct berth_node_info *berth_node_name_to_info_map_at(
	const struct berth_node_name_to_info_map *map, uint32_t index, struct berth_str *out_name)
{
	BT_ASSERT(index < map->entries.count);
	if (out_name != NULL) {
		*out_name = map->entries.items[index].name;
	}
	return berth_node_info_of_aggregate(map->entries.items[index].aggregate);
}

void berth_cache_update_node_name_to_info_map(
	struct berth_cache *cache, struct berth_node_name_to_info_map *map)
{
	struct berth_node_name_to_info_map fresh = {0};
	struct bt_str *names =
		BT_NEW_ARRAY(struct bt_str, (size_t)cache->state->nodes.slot_count + 1);
	const struct bt_node_table *nodes = &cache->state->nodes;
	uint32_t count = 0;

	/* The names of the nodes that a snapshot would contain, ascending. */
	for (uint32_t slot = 0; slot < nodes->slot_count; slot++) {
		if (nodes->rows[slot].in_cache && nodes->rows[slot].has_node) {
			names[count++] = bt_node_table_name(nodes, slot);
		}
	}
	qsort(names, count, sizeof(*names), bt_str_compare_qsort);

	bt_vec_reserve(&fresh.entries, count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = bt_node_table_find(&cache->state->nodes, names[i]);
		struct entry *known = find_entry(map, names[i]);
		struct bt_aggregate *aggregate;

		if (known != NULL &&
			known->aggregate->generation == cache_generation(cache, slot)) {
			aggregate = known->aggregate;
			known->aggregate = NULL;
		} else {
			aggregate = copy_node(cache, slot);
		}
		push(&fresh, names[i], aggregate);
	}
	bt_free(names);
	bt_vec_finish_each(&map->entries, free_entry(each));
	*map = fresh;
}

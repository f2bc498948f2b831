/* SPDX-License-Identifier: Apache-2.0 */
/* The public cache: the tables of src/state with whole objects, and expiry, beside them. */
#include "compat/cache.h"

#include "base/alloc.h"
#include "lib/convert.h"

struct berth_cache *berth_cache_create(const struct berth_cache_options *options)
{
	struct berth_cache_options wanted = BERTH_CACHE_OPTIONS_INIT;
	struct bt_state_options state_options = {
		.resource_gates = bt_aggregate_default_gates, .declared_features = true};
	struct berth_cache *cache = BT_NEW(struct berth_cache);

	if (options != NULL) {
		/* What the caller's version of the structure has; the rest keeps its defaults. */
		size_t size = options->size;

		if (size > sizeof(wanted)) {
			size = sizeof(wanted);
		}
		memcpy(&wanted, options, size);
	}
	cache->state = bt_state_create(&state_options);
	berth_cache_set_assume_ttl_ns(cache, wanted.assume_expiry_ns);
	bt_state_set_warn(cache->state, wanted.warn, wanted.warn_context);
	bt_departed_init(&cache->departed);
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
	bt_departed_finish(&cache->departed);
	bt_node_tree_finish(&cache->tree);
	bt_free(cache);
}

/* --- pods --- */

/** Where a pod of the cache was before an operation. */
struct place {
	uint32_t pod_id; /* BT_POD_NONE: unknown */
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

/** The node's object goes when the tables have let go of its entry. */
static void sync_slot(struct berth_cache *cache, uint32_t slot)
{
	if (slot < cache->nodes.count && !cache->state->nodes.rows[slot].in_cache) {
		bt_object_release(cache->nodes.items[slot].node);
		cache->nodes.items[slot] = (struct bt_cache_node){0};
	}
}

/** After the tables have dropped the pod that was there. */
static void drop_pod(
	struct berth_cache *cache, struct place place, enum berth_cache_pod_state departed_as)
{
	struct bt_cache_pod *pod;

	if (place.pod_id == BT_POD_NONE) {
		return;
	}
	pod = &cache->pods.items[place.pod_id];
	if (departed_as != BERTH_CACHE_POD_INITIAL) {
		bt_departed_put(&cache->departed, pod->pod->info.uid, departed_as);
	}
	bt_aggregate_pod_release(pod->pod);
	*pod = (struct bt_cache_pod){0};
	sync_slot(cache, place.slot);
}

/** After the tables have taken the pod. */
static void keep_pod(struct berth_cache *cache, struct bt_object *object)
{
	struct bt_aggregate_pod *pod = bt_aggregate_pod_create(object, &cache->state->gates);
	uint32_t pod_id = bt_state_find_pod(cache->state, pod->info.uid);
	struct bt_cache_pod none = {0};

	BT_ASSERT(pod_id != BT_POD_NONE);
	while (cache->pods.count <= pod_id) {
		bt_vec_push(&cache->pods, none);
	}
	BT_ASSERT(cache->pods.items[pod_id].pod == NULL);
	cache->pods.items[pod_id] = (struct bt_cache_pod){.pod = pod};
	bt_departed_drop(&cache->departed, pod->info.uid);
}

static int check_pod(const struct berth_object *object, struct berth_error *err)
{
	return berth_object_pod(object) != NULL ? BERTH_OK
						: bt_error_set(err, BERTH_ERR_INVALID, "not a pod");
}

int berth_cache_assume_pod(
	struct berth_cache *cache, struct berth_object *pod, struct berth_error *err)
{
	int result = check_pod(pod, err);

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
		struct bt_cache_pod *cached = &cache->pods.items[pod_id];

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
	int result = check_pod(pod, err);
	struct place place;

	if (result != BERTH_OK) {
		return result;
	}
	place = find_place(cache, berth_object_uid(pod));
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
	int result = check_pod(new_pod, err);
	struct place place;
	struct place other;

	if (result != BERTH_OK) {
		return result;
	}
	place = find_place(cache, berth_pod_uid(old_pod));
	other = find_place(cache, berth_object_uid(new_pod));
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
		return bt_departed_find(&cache->departed, uid);
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
		const struct bt_cache_pod *pod = &cache->pods.items[i];
		struct place place;
		int result;

		if (pod->pod == NULL || !pod->binding_finished || pod->deadline_ns >= now_ns) {
			continue;
		}
		/* A pod that was confirmed has a fresh entry: this one is assumed. */
		place = find_place(cache, pod->pod->info.uid);
		result = bt_state_remove_pod(cache->state, pod->pod->pod, NULL);
		BT_ASSERT(result == BERTH_OK);
		drop_pod(cache, place, BERTH_CACHE_POD_EXPIRED);
		expired++;
	}
	return expired;
}

uint32_t berth_cache_node_count(const struct berth_cache *cache)
{
	return bt_state_node_count(cache->state);
}

uint32_t berth_cache_pod_count(const struct berth_cache *cache)
{
	return bt_state_pod_count(cache->state);
}

uint32_t berth_cache_assumed_pod_count(const struct berth_cache *cache)
{
	return cache->state->pods.assumed_count;
}

/* --- nodes --- */

static int check_node(const struct berth_object *object, struct berth_error *err)
{
	return berth_object_node(object) != NULL
		? BERTH_OK
		: bt_error_set(err, BERTH_ERR_INVALID, "not a node");
}

/** After the tables have taken the node. */
static void keep_node(struct berth_cache *cache, struct bt_object *object)
{
	uint32_t slot = bt_node_table_find(&cache->state->nodes, object->meta->name);
	struct bt_cache_node none = {0};
	struct bt_cache_node *node;

	BT_ASSERT(slot != BT_SLOT_NONE);
	while (cache->nodes.count <= slot) {
		bt_vec_push(&cache->nodes, none);
	}
	node = &cache->nodes.items[slot];
	object = bt_object_share(object);
	bt_object_release(node->node);
	node->node = object;
	bt_pressures_take(&node->pressures, bt_object_value(object, BT_KIND_NODE));
}

int berth_cache_add_node(
	struct berth_cache *cache, struct berth_object *node, struct berth_error *err)
{
	int result = check_node(node, err);

	if (result == BERTH_OK) {
		bt_state_add_node(cache->state, bt_const_node_of(berth_object_node(node)));
		keep_node(cache, bt_object_of(node));
	}
	return result;
}

int berth_cache_update_node(struct berth_cache *cache, const struct berth_node *old_node,
	struct berth_object *new_node, struct berth_error *err)
{
	int result = check_node(new_node, err);

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

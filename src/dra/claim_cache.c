/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/alloc.h"
#include "dra/dra.h"

void bt_claim_cache_finish(struct bt_claim_cache *cache)
{
	for (uint32_t id = 0; id < cache->claims.count; id++) {
		bt_object_release(cache->claims.items[id].api);
		bt_object_release(cache->claims.items[id].latest);
	}
	for (uint32_t id = 0; id < cache->in_flight.count; id++) {
		bt_object_release(cache->in_flight.items[id].claim);
		bt_free(cache->in_flight.items[id].uid);
	}
	bt_map_finish(&cache->special_map);
	bt_hash_table_finish(&cache->claims);
	bt_hash_table_finish(&cache->in_flight);
}

static const struct bt_resource_claim *claim_of(const struct bt_object *object)
{
	return object != NULL ? bt_object_value(object, BT_KIND_RESOURCE_CLAIM) : NULL;
}

static uint32_t find_id(
	const struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = bt_hash_name(namespace_, name);

	BT_MAP_EACH (&cache->claims.map, hash, id) {
		const struct bt_object_meta *meta = cache->claims.items[id].latest->meta;
		if (bt_str_equal(meta->name, name) && bt_str_equal(meta->namespace_, namespace_)) {
			return id;
		}
	}
	return UINT32_MAX;
}

static void notify_listener(
	struct bt_claim_cache *cache, struct bt_object *old_claim, struct bt_object *new_claim)
{
	cache->version++;
	bt_allocated_devices_observe(
		&cache->dra->allocated, claim_of(old_claim), claim_of(new_claim));
	if (cache->listener.changed != NULL) {
		cache->listener.changed(cache->listener.context, old_claim, new_claim);
	}
}

/** Returns the pod that controls a special claim; NULL: no owner, or the claim is not special. */
static const struct bt_owner_reference *special_owner(const struct bt_object_meta *meta)
{
	const struct bt_str annotation = BT_SPECIAL_CLAIM_ANNOTATION;
	const struct bt_str *value = bt_str_map_find(&meta->annotations, annotation);

	return value != NULL && bt_str_equal_c(*value, "true") ? bt_object_controller(meta) : NULL;
}

/** Update the index of special claims after the latest object of the claim `id` has changed. */
static void index_special(struct bt_claim_cache *cache, uint32_t id)
{
	struct bt_cached_claim *claim = &cache->claims.items[id];
	const struct bt_owner_reference *owner =
		claim->latest != NULL ? special_owner(claim->latest->meta) : NULL;
	/* The hash is made odd, because owner_hash 0 means that the claim is not special. */
	uint64_t hash = owner != NULL ? bt_str_hash(owner->uid) | 1 : 0;

	if (hash == claim->owner_hash) {
		return;
	}
	if (claim->owner_hash != 0) {
		(void)bt_map_remove(
			&cache->special_map, claim->owner_hash, id); /* id is in the map */
	}
	claim->owner_hash = hash;
	if (hash != 0) {
		bt_map_insert(&cache->special_map, hash, id);
	}
}

struct bt_object *bt_dra_claim_of(const struct bt_state *state, const struct bt_pod *pod,
	const struct bt_pod_resource_claim *entry)
{
	struct bt_str name = bt_pod_claim_name(pod, entry);
	return state->dra != NULL && name.length != 0
		? bt_claim_cache_find(&state->dra->claims, pod->metadata.namespace_, name)
		: NULL;
}

struct bt_object *bt_claim_cache_find_special(
	const struct bt_claim_cache *cache, struct bt_str pod_name, struct bt_str pod_uid)
{
	uint64_t hash = bt_str_hash(pod_uid) | 1;
	struct bt_object *found = NULL;

	BT_MAP_EACH (&cache->special_map, hash, id) {
		struct bt_object *claim = cache->claims.items[id].latest;
		const struct bt_owner_reference *owner = special_owner(claim->meta);
		int order = found == NULL
			? -1
			: bt_str_compare(claim->meta->namespace_, found->meta->namespace_);

		if (order == 0) {
			order = bt_str_compare(claim->meta->name, found->meta->name);
		}
		if (owner != NULL && bt_str_equal(owner->name, pod_name) &&
			bt_str_equal(owner->uid, pod_uid) && order < 0) {
			found = claim;
		}
	}
	return found;
}

static void replace_latest(struct bt_claim_cache *cache, uint32_t id, struct bt_object *object)
{
	struct bt_object *old = cache->claims.items[id].latest;

	cache->claims.items[id].latest = bt_object_share(object);
	index_special(cache, id);
	notify_listener(cache, old, object);
	bt_object_release(old);
}

/** Get the resourceVersion. Returns false if the object has none (it comes from a file). */
static bool version_of(const struct bt_object *object, int64_t *out_version)
{
	*out_version = 0;
	return bt_str_parse_int64(object->meta->resource_version, out_version);
}

void bt_claim_cache_observe(void *dra, struct bt_object *old_claim, struct bt_object *new_claim)
{
	struct bt_claim_cache *cache = &((struct bt_dra *)dra)->claims;
	const struct bt_object_meta *meta = (new_claim != NULL ? new_claim : old_claim)->meta;
	uint32_t id = find_id(cache, meta->namespace_, meta->name);
	int64_t version;
	int64_t latest_version;

	if (id == UINT32_MAX) {
		if (new_claim == NULL) {
			return;
		}
		struct bt_cached_claim claim = {
			.api = bt_object_share(new_claim),
			.latest = bt_object_share(new_claim),
			.hash = bt_hash_name(meta->namespace_, meta->name),
		};
		bt_hash_table_add(&cache->claims, claim.hash, claim, id);
		index_special(cache, id);
		notify_listener(cache, NULL, new_claim);
	} else if (new_claim == NULL) {
		struct bt_cached_claim claim = cache->claims.items[id];

		bt_hash_table_remove(&cache->claims, claim.hash, id);
		cache->claims.items[id].latest = NULL;
		index_special(cache, id);
		cache->claims.items[id] = (struct bt_cached_claim){0};
		notify_listener(cache, claim.latest, NULL);
		bt_object_release(claim.api);
		bt_object_release(claim.latest);
	} else if (!version_of(new_claim, &version) ||
		!version_of(cache->claims.items[id].latest, &latest_version) ||
		version > latest_version) {
		bt_object_release(cache->claims.items[id].api);
		cache->claims.items[id].api = bt_object_share(new_claim);
		replace_latest(cache, id, new_claim);
	} else {
		/*
		 * The watch confirms an assumed write of this scheduler. The claim does not change,
		 * so no listener is called, but the cache keeps the watch's object instead of a
		 * second copy.
		 */
		struct bt_cached_claim *claim = &cache->claims.items[id];
		struct bt_object *api = claim->api;
		struct bt_object *latest = claim->latest;

		if (new_claim == latest ||
			(bt_str_equal(new_claim->meta->resource_version,
				 latest->meta->resource_version) &&
				bt_message_equal(&bt_resource_claim_message, claim_of(new_claim),
					claim_of(latest)))) {
			claim->api = bt_object_share(new_claim);
			claim->latest = bt_object_share(new_claim);
			bt_object_release(api);
			bt_object_release(latest);
		}
	}
}

struct bt_object *bt_claim_cache_find(
	const struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	uint32_t id = find_id(cache, namespace_, name);

	return id != UINT32_MAX ? cache->claims.items[id].latest : NULL;
}

struct bt_object *bt_claim_cache_next(const struct bt_claim_cache *cache, uint32_t *cursor)
{
	while (*cursor < cache->claims.count) {
		struct bt_object *latest = cache->claims.items[(*cursor)++].latest;
		if (latest != NULL) {
			return latest;
		}
	}
	return NULL;
}

int bt_claim_cache_assume(
	struct bt_claim_cache *cache, struct bt_object *claim, struct berth_error *err)
{
	const struct bt_object_meta *meta = claim->meta;
	uint32_t id = find_id(cache, meta->namespace_, meta->name);
	int64_t stored;
	int64_t assumed;

	if (id == UINT32_MAX) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find ResourceClaim \"%.*s/%.*s\"", BT_STR_ARG(meta->namespace_),
			BT_STR_ARG(meta->name));
	}
	(void)version_of(cache->claims.items[id].latest, &stored); /* 0 if absent */
	(void)version_of(claim, &assumed);                         /* 0 if absent */
	if (assumed < stored) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"ResourceClaim \"%.*s/%.*s\" is out of sync (stored: %" PRId64
			", assume: %" PRId64 ")",
			BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name), stored, assumed);
	}
	replace_latest(cache, id, claim);
	return 0;
}

void bt_claim_cache_restore(
	struct bt_claim_cache *cache, struct bt_str namespace_, struct bt_str name)
{
	uint32_t id = find_id(cache, namespace_, name);

	if (id != UINT32_MAX) {
		replace_latest(cache, id, cache->claims.items[id].api);
	}
}

static uint32_t find_in_flight(const struct bt_claim_cache *cache, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	BT_MAP_EACH (&cache->in_flight.map, hash, id) {
		const struct bt_in_flight_claim *claim = &cache->in_flight.items[id];
		if (bt_str_equal((struct bt_str){claim->uid, claim->uid_length}, uid)) {
			return id;
		}
	}
	return UINT32_MAX;
}

void bt_claim_cache_signal(struct bt_claim_cache *cache, struct bt_str uid, struct bt_object *claim)
{
	uint32_t id = find_in_flight(cache, uid);

	if (id != UINT32_MAX) {
		cache->in_flight.items[id].sharers++;
		return;
	}
	struct bt_in_flight_claim entry = {
		.uid = bt_strndup(uid.data, uid.length),
		.uid_length = uid.length,
		.claim = bt_object_share(claim),
		.sharers = 1,
		.hash = bt_str_hash(uid),
	};
	bt_hash_table_add(&cache->in_flight, entry.hash, entry, id);
	cache->version++;
	bt_allocated_devices_signal(&cache->dra->allocated, claim_of(claim)->status.allocation);
}

const struct bt_allocation_result *bt_claim_cache_pending(
	const struct bt_claim_cache *cache, struct bt_str uid)
{
	uint32_t id = find_in_flight(cache, uid);

	return id != UINT32_MAX ? claim_of(cache->in_flight.items[id].claim)->status.allocation
				: NULL;
}

bool bt_claim_cache_maybe_remove(struct bt_claim_cache *cache, struct bt_str uid, bool force)
{
	uint32_t id = find_in_flight(cache, uid);

	if (id == UINT32_MAX) {
		return false;
	}
	struct bt_in_flight_claim entry = cache->in_flight.items[id];
	if (!force && entry.sharers != 1) {
		cache->in_flight.items[id].sharers--;
		return false;
	}
	bt_hash_table_remove(&cache->in_flight, entry.hash, id);
	cache->in_flight.items[id] = (struct bt_in_flight_claim){0};
	cache->version++;
	bt_allocated_devices_land(&cache->dra->allocated, claim_of(entry.claim)->status.allocation);
	bt_object_release(entry.claim);
	bt_free(entry.uid);
	return true;
}

bool bt_claim_cache_validate(const struct bt_claim_cache *cache, struct bt_strbuf *out_reason)
{
	struct bt_object_store *store = &cache->dra->state->objects;
	const struct bt_resource_claim *claim;
	uint32_t cursor = 0;
	bool valid =
		cache->claims.map.count == bt_object_store_count(store, BT_KIND_RESOURCE_CLAIM);

	while (valid &&
		(claim = bt_object_store_next(store, BT_KIND_RESOURCE_CLAIM,
			 (struct bt_str){NULL, 0}, &cursor)) != NULL) {
		valid = find_id(cache, claim->metadata.namespace_, claim->metadata.name) !=
			UINT32_MAX;
	}
	if (!valid) {
		bt_strbuf_append_c(out_reason, "cache of claims is stale");
	}
	return valid;
}

void bt_dra_trial_begin(struct bt_dra_trial *trial, struct bt_dra *dra)
{
	*trial = (struct bt_dra_trial){.dra = dra};
	if (dra != NULL) {
		trial->listener = dra->claims.listener;
		dra->claims.listener = (struct bt_claim_listener){NULL, NULL};
	}
}

bool bt_claim_without_pod(const struct bt_resource_claim *claim, struct bt_str pod_uid,
	struct bt_arena *arena, struct bt_resource_claim *out_claim)
{
	*out_claim = *claim;
	if (!bt_resource_claim_remove_user(out_claim, pod_uid, arena)) {
		return false;
	}
	if (out_claim->status.reserved_for.count == 0) {
		out_claim->status = (struct bt_resource_claim_status){0};
		bt_resource_claim_remove_finalizer(out_claim, arena);
	}
	return true;
}

/**
 * Make the claim the latest object. Cannot fail: the claim is in the cache with the same
 * resourceVersion.
 */
static void assume_claim(struct bt_dra_trial *trial, struct bt_object *claim)
{
	int result = bt_claim_cache_assume(&trial->dra->claims, claim, NULL);

	BT_ASSERT(result == 0);
	(void)result; /* used only by the assertion */
}

bool bt_dra_trial_release(
	struct bt_dra_trial *trial, struct bt_object *claim, struct bt_str pod_uid)
{
	const struct bt_resource_claim *was = bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
	struct bt_arena arena = {0};
	struct bt_resource_claim now;

	if (bt_claim_without_pod(was, pod_uid, &arena, &now)) {
		if (bt_allocated_has_history(&trial->dra->allocated)) {
			bt_arena_finish(&arena);
			return false;
		}
		struct bt_object *object = bt_object_create(BT_KIND_RESOURCE_CLAIM, &now);

		bt_vec_push(&trial->claims, bt_object_share(claim));
		assume_claim(trial, object);
		bt_object_release(object);
	}
	bt_arena_finish(&arena);
	return true;
}

bool bt_dra_trial_take_pod(struct bt_dra_trial *trial, struct bt_str pod_uid)
{
	bool possible = true;
	uint32_t cursor = 0;
	struct bt_object *claim;

	/* Assuming a claim does not move claims in the cache, so the cursor stays valid. */
	while (trial->dra != NULL && possible &&
		(claim = bt_claim_cache_next(&trial->dra->claims, &cursor)) != NULL) {
		possible = !bt_resource_claim_is_reserved_by(
				   bt_object_value(claim, BT_KIND_RESOURCE_CLAIM), pod_uid) ||
			bt_dra_trial_release(trial, claim, pod_uid);
	}
	return possible;
}

void bt_dra_trial_end(struct bt_dra_trial *trial)
{
	/* Undo in reverse order: a claim may have lost several pods. */
	for (uint32_t i = trial->claims.count; i-- > 0;) {
		assume_claim(trial, trial->claims.items[i]);
		bt_object_release(trial->claims.items[i]);
	}
	/*
	 * There was no history before the trial, and all claims are restored, so clear the history.
	 */
	if (trial->claims.count != 0 && bt_allocated_has_history(&trial->dra->allocated)) {
		bt_bitset_clear(&trial->dra->allocated.history);
		trial->dra->allocated.history_count = 0;
	}
	bt_vec_finish(&trial->claims);
	if (trial->dra != NULL) {
		trial->dra->claims.listener = trial->listener;
	}
}

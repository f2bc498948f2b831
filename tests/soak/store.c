/* SPDX-License-Identifier: Apache-2.0 */
#include "soak/store.h"

#include "base/assert.h"

void bt_sim_store_init(struct bt_sim_store *store)
{
	*store = (struct bt_sim_store){0};
	bt_object_store_init(&store->objects);
}

void bt_sim_store_finish(struct bt_sim_store *store)
{
	bt_object_store_finish(&store->objects);
	bt_vec_finish(&store->identities);
	bt_arena_finish(&store->names);
	bt_arena_finish(&store->scratch);
}

struct bt_object *bt_sim_store_find(const struct bt_sim_store *store, enum bt_kind kind,
	struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_find_object(&store->objects, kind, namespace_, name);
}

/** A copy of value with these; every kind's structure starts with its metadata. */
static struct bt_object *stamp(
	struct bt_sim_store *store, enum bt_kind kind, const void *value, struct bt_str uid)
{
	bt_arena_reset(&store->scratch);
	uint32_t size = bt_kind_info(kind)->size;
	struct bt_object_meta *copy = bt_arena_alloc(&store->scratch, size);
	memcpy(copy, value, size);
	copy->uid = uid;
	copy->resource_version =
		bt_arena_printf(&store->scratch, "%llu", (unsigned long long)++store->version);
	return bt_object_create(kind, copy);
}

static void put(
	struct bt_sim_store *store, struct bt_object *old_object, struct bt_object *new_object)
{
	struct bt_object *before = old_object != NULL ? bt_object_share(old_object) : NULL;
	bt_object_store_put(&store->objects, new_object);
	if (store->changed != NULL) {
		store->changed(store->context, before, new_object);
	}
	bt_object_release(before);
}

static struct bt_object *decode(struct bt_str json)
{
	struct bt_object *decoded;
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_object_decode(json, &decoded, &err) < 0) {
		bt_panic("simulator: %s: %.*s", berth_error_message(&err), BT_STR_ARG(json));
	}
	return decoded;
}

struct bt_object *bt_sim_store_add(struct bt_sim_store *store, enum bt_kind kind, const void *value)
{
	const struct bt_object_meta *meta = value;
	BT_ASSERT(bt_sim_store_find(store, kind, meta->namespace_, meta->name) == NULL);
	struct bt_sim_identity identity = {kind, bt_arena_str(&store->names, meta->namespace_),
		bt_arena_str(&store->names, meta->name)};
	struct bt_str uid = bt_arena_printf(&store->names, "%u", store->identities.count);
	bt_vec_push(&store->identities, identity);
	struct bt_object *object = stamp(store, kind, value, uid);
	put(store, NULL, object);
	return object;
}

struct bt_object *bt_sim_store_create(struct bt_sim_store *store, struct bt_str json)
{
	struct bt_object *decoded = decode(json);
	struct bt_object *object = bt_sim_store_add(store, decoded->kind, decoded->value);
	bt_object_release(decoded);
	return object;
}

void bt_sim_store_apply(struct bt_sim_store *store, struct bt_str json)
{
	struct bt_object *decoded = decode(json);
	const struct bt_object_meta *meta = decoded->meta;
	bool exists = bt_sim_store_find(store, decoded->kind, meta->namespace_, meta->name) != NULL;
	(void)(exists ? bt_sim_store_replace(store, decoded->kind, decoded->value)
		      : bt_sim_store_add(store, decoded->kind, decoded->value));
	bt_object_release(decoded);
}

struct bt_object *bt_sim_store_replace(
	struct bt_sim_store *store, enum bt_kind kind, const void *value)
{
	const struct bt_object_meta *meta = value;
	struct bt_object *old_object = bt_sim_store_find(store, kind, meta->namespace_, meta->name);
	BT_ASSERT(old_object != NULL);
	struct bt_object *object = stamp(store, kind, value, old_object->meta->uid);
	put(store, old_object, object);
	return object;
}

bool bt_sim_store_delete(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_str namespace_, struct bt_str name)
{
	struct bt_object *object = bt_sim_store_find(store, kind, namespace_, name);
	if (object == NULL) {
		return false;
	}
	struct bt_object *held = bt_object_share(object);
	(void)bt_object_store_delete(&store->objects, kind, object->meta->namespace_,
		object->meta->name); /* it was found */
	store->version++;
	if (store->changed != NULL) {
		store->changed(store->context, held, NULL);
	}
	bt_object_release(held);
	return true;
}

uint64_t bt_sim_uid_of(const struct bt_object *object)
{
	int64_t number = -1;
	(void)bt_str_parse_int64(object->meta->uid, &number); /* -1 is nobody's */
	return (uint64_t)number;
}

struct bt_object *bt_sim_store_by_uid(const struct bt_sim_store *store, uint64_t uid)
{
	if (uid >= store->identities.count) {
		return NULL;
	}
	const struct bt_sim_identity *identity = &store->identities.items[uid];
	struct bt_object *object =
		bt_sim_store_find(store, identity->kind, identity->namespace_, identity->name);
	return object != NULL && bt_sim_uid_of(object) == uid ? object : NULL;
}

struct bt_object *bt_sim_store_pick(
	struct bt_sim_store *store, enum bt_kind kind, struct bt_prng *prng)
{
	uint32_t count = bt_object_store_count(&store->objects, kind);
	const struct bt_object_meta *meta = NULL;
	uint32_t cursor = 0;
	if (count == 0) {
		return NULL;
	}
	uint64_t chosen = bt_prng_below(prng, count);
	for (uint64_t i = 0; i <= chosen; i++) {
		meta = bt_object_store_next(
			&store->objects, kind, (struct bt_str){NULL, 0}, &cursor);
	}
	return meta == NULL ? NULL : bt_sim_store_find(store, kind, meta->namespace_, meta->name);
}

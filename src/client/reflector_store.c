/* SPDX-License-Identifier: Apache-2.0 */
#include "client/reflector_store.h"

/** Items of one list that need not rest: a few megabytes. */
#define AWAKE_MAX 8192

static uint64_t hash_key(struct bt_str namespace_, struct bt_str name)
{
	return bt_hash_bytes(name.data, name.length, bt_str_hash(namespace_));
}

void bt_reflector_store_key(const struct bt_reflector_store *store, const void *item,
	struct bt_str *out_namespace, struct bt_str *out_name)
{
	if (store->codec->resting != NULL) {
		store->codec->resting->key(item, out_namespace, out_name);
	} else {
		const struct bt_object_meta *meta = store->codec->meta(item);
		*out_namespace = meta->namespace_;
		*out_name = meta->name;
	}
}

static uint64_t hash_of(const void *owner, uint32_t index)
{
	const struct bt_reflector_store *store = owner;
	struct bt_str namespace_;
	struct bt_str name;

	bt_reflector_store_key(store, store->items.items[index], &namespace_, &name);
	return hash_key(namespace_, name);
}

static void rest(const struct bt_reflector_store *store, void *item)
{
	if (store->codec->resting != NULL) {
		store->codec->resting->rest(item);
	}
}

static void *wake(const struct bt_reflector_store *store, void *item)
{
	if (store->codec->resting != NULL) {
		store->codec->resting->wake(item);
	}
	return item;
}

void bt_reflector_store_init(
	struct bt_reflector_store *store, const struct bt_reflector_codec *codec)
{
	*store = (struct bt_reflector_store){.codec = codec};
	bt_map_init(&store->map, hash_of, store);
}

void bt_reflector_store_finish(struct bt_reflector_store *store)
{
	const struct bt_reflector_codec *codec = store->codec;

	for (uint32_t i = 0; i < store->items.count; i++) {
		codec->release(wake(store, store->items.items[i]));
	}
	for (uint32_t i = 0; i < store->awake.count; i++) {
		codec->release(store->awake.items[i]);
	}
	bt_vec_finish(&store->items);
	bt_vec_finish(&store->awake);
	bt_map_finish(&store->map);
	bt_reflector_store_init(store, codec);
}

void bt_reflector_store_keep_awake(struct bt_reflector_store *store, void *item)
{
	if (store->awake.count < AWAKE_MAX) {
		bt_vec_push(&store->awake, store->codec->share(item));
	}
}

/** Index, or UINT32_MAX. */
static uint32_t index_of(const struct bt_reflector_store *store, struct bt_str namespace_,
	struct bt_str name, uint64_t hash)
{
	for (uint32_t at = bt_map_first(&store->map, hash); at != BT_MAP_NONE;
		at = bt_map_next(&store->map, hash, at)) {
		uint32_t index = bt_map_value(&store->map, at);
		struct bt_str known_namespace;
		struct bt_str known_name;

		bt_reflector_store_key(
			store, store->items.items[index], &known_namespace, &known_name);
		if (bt_str_equal(known_name, name) && bt_str_equal(known_namespace, namespace_)) {
			return index;
		}
	}
	return UINT32_MAX;
}

void *bt_reflector_store_find(
	const struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name)
{
	uint32_t index = index_of(store, namespace_, name, hash_key(namespace_, name));

	return index != UINT32_MAX ? store->items.items[index] : NULL;
}

void *bt_reflector_store_set(struct bt_reflector_store *store, void *item)
{
	const struct bt_object_meta *meta = store->codec->meta(item);
	uint64_t hash = hash_key(meta->namespace_, meta->name);
	uint32_t index = index_of(store, meta->namespace_, meta->name, hash);
	void *old;

	if (index == UINT32_MAX) {
		index = store->items.count;
		bt_vec_push(&store->items, item);
		bt_map_insert(&store->map, hash, index);
		rest(store, item);
		return NULL;
	}
	old = wake(store, store->items.items[index]);
	store->items.items[index] = item;
	rest(store, item);
	return old;
}

void *bt_reflector_store_take(
	struct bt_reflector_store *store, struct bt_str namespace_, struct bt_str name)
{
	uint64_t hash = hash_key(namespace_, name);
	uint32_t index = index_of(store, namespace_, name, hash);
	uint32_t last = store->items.count - 1;
	void *item;

	if (index == UINT32_MAX) {
		return NULL;
	}
	item = store->items.items[index];
	(void)bt_map_remove(&store->map, hash, index); /* it was found there */
	if (index != last) {
		uint64_t last_hash = hash_of(store, last);

		(void)bt_map_remove(&store->map, last_hash, last); /* as every item is */
		store->items.items[index] = store->items.items[last];
		bt_map_insert(&store->map, last_hash, index);
	}
	store->items.count = last;
	return wake(store, item);
}

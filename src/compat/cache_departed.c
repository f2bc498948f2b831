/* SPDX-License-Identifier: Apache-2.0 */
/* Pods that have left a cache: enough of them to tell Expired and Deleted from Initial. */
#include "base/alloc.h"
#include "compat/cache.h"

#define HASH_SEED UINT64_C(0x4450)
/* A server's uids have 36 bytes; longer ones are not worth memory. */
#define UID_BYTES_MAX 256U

static struct bt_str uid_of(const struct bt_departed *departed)
{
	return (struct bt_str){departed->uid, departed->uid_length};
}

static uint64_t hash_uid(struct bt_str uid)
{
	return bt_hash_bytes(uid.data, uid.length, HASH_SEED);
}

static uint64_t hash_of(const void *owner, uint32_t index)
{
	const struct bt_departed_table *table = owner;

	return hash_uid(uid_of(&table->ring.items[index]));
}

void bt_departed_init(struct bt_departed_table *table)
{
	*table = (struct bt_departed_table){0};
	bt_map_init(&table->index, hash_of, table);
}

void bt_departed_finish(struct bt_departed_table *table)
{
	for (uint32_t i = 0; i < table->ring.count; i++) {
		bt_free(table->ring.items[i].uid);
	}
	bt_vec_finish(&table->ring);
	bt_map_finish(&table->index);
}

/** Place in the ring, or BT_MAP_NONE. */
static uint32_t find(const struct bt_departed_table *table, struct bt_str uid)
{
	uint64_t hash = hash_uid(uid);
	uint32_t at = bt_map_first(&table->index, hash);

	for (; at != BT_MAP_NONE; at = bt_map_next(&table->index, hash, at)) {
		uint32_t place = bt_map_value(&table->index, at);
		if (bt_str_equal(uid_of(&table->ring.items[place]), uid)) {
			return place;
		}
	}
	return BT_MAP_NONE;
}

static void free_place(struct bt_departed_table *table, uint32_t place)
{
	struct bt_departed *departed = &table->ring.items[place];

	if (departed->uid != NULL) {
		(void)bt_map_remove(&table->index, hash_of(table, place), place);
		bt_free(departed->uid);
		*departed = (struct bt_departed){0};
	}
}

void bt_departed_put(
	struct bt_departed_table *table, struct bt_str uid, enum berth_cache_pod_state state)
{
	struct bt_departed departed = {NULL, uid.length, state};
	uint32_t place;

	bt_departed_drop(table, uid);
	if (uid.length == 0 || uid.length > UID_BYTES_MAX) {
		return;
	}
	departed.uid = bt_strndup(uid.data, uid.length);
	if (table->ring.count < BERTH_CACHE_DEPARTED_MAX) {
		place = table->ring.count;
		bt_vec_push(&table->ring, departed);
	} else {
		place = table->next;
		table->next = (place + 1) % BERTH_CACHE_DEPARTED_MAX;
		free_place(table, place);
		table->ring.items[place] = departed;
	}
	bt_map_insert(&table->index, hash_of(table, place), place);
}

void bt_departed_drop(struct bt_departed_table *table, struct bt_str uid)
{
	uint32_t place = find(table, uid);

	if (place != BT_MAP_NONE) {
		free_place(table, place);
	}
}

enum berth_cache_pod_state bt_departed_find(
	const struct bt_departed_table *table, struct bt_str uid)
{
	uint32_t place = find(table, uid);

	return place != BT_MAP_NONE ? table->ring.items[place].state : BERTH_CACHE_POD_INITIAL;
}

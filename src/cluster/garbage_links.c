/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "cluster/garbage_collector.h"

static uint64_t object_hash(uint32_t collection, struct bt_str key)
{
	return bt_hash_bytes(key.data, key.length, collection);
}

static uint64_t hash_by_owner(const void *owner, uint32_t value)
{
	const struct bt_garbage_links *links = owner;
	return links->links.items[value].owner_hash;
}

static uint64_t hash_by_object(const void *owner, uint32_t value)
{
	const struct bt_garbage_links *links = owner;
	const struct bt_garbage_link *link = &links->links.items[value];
	return object_hash(link->collection, bt_str_from(link->key));
}

void bt_garbage_links_init(struct bt_garbage_links *links)
{
	*links = (struct bt_garbage_links){.first_free = BT_LINK_NONE};
	bt_map_init(&links->by_owner, hash_by_owner, links);
	bt_map_init(&links->by_object, hash_by_object, links);
}

void bt_garbage_links_finish(struct bt_garbage_links *links)
{
	for (uint32_t i = 0; i < links->links.count; i++) {
		bt_free(links->links.items[i].key);
	}
	bt_vec_finish(&links->links);
	bt_map_finish(&links->by_owner);
	bt_map_finish(&links->by_object);
}

static uint32_t first_of(const struct bt_garbage_links *links, uint64_t owner_hash)
{
	for (uint32_t at = bt_map_first(&links->by_owner, owner_hash); at != BT_MAP_NONE;
		at = bt_map_next(&links->by_owner, owner_hash, at)) {
		uint32_t link = bt_map_value(&links->by_owner, at);
		if (links->links.items[link].owner_hash == owner_hash) {
			return link;
		}
	}
	return BT_LINK_NONE;
}

uint32_t bt_garbage_links_of(const struct bt_garbage_links *links, struct bt_str owner_uid)
{
	return first_of(links, bt_str_hash(owner_uid));
}

void bt_garbage_links_add(struct bt_garbage_links *links, uint32_t collection, struct bt_str key,
	struct bt_str owner_uid)
{
	struct bt_garbage_link link = {
		.key = bt_strndup(key.data, key.length),
		.owner_hash = bt_str_hash(owner_uid),
		.collection = collection,
		.previous = BT_LINK_NONE,
		.next = BT_LINK_NONE,
	};
	uint32_t first = first_of(links, link.owner_hash);
	uint32_t index = links->first_free;

	if (index != BT_LINK_NONE) {
		links->first_free = links->links.items[index].next;
		links->links.items[index] = link;
	} else {
		index = links->links.count;
		bt_vec_push(&links->links, link);
	}
	if (first == BT_LINK_NONE) {
		bt_map_insert(&links->by_owner, link.owner_hash, index);
	} else {
		/* Behind the first one, so that the map's value stays. */
		struct bt_garbage_link *items = links->links.items;
		items[index].previous = first;
		items[index].next = items[first].next;
		if (items[first].next != BT_LINK_NONE) {
			items[items[first].next].previous = index;
		}
		items[first].next = index;
	}
	bt_map_insert(&links->by_object, object_hash(collection, key), index);
}

static void remove_link(struct bt_garbage_links *links, uint32_t index, uint64_t hash)
{
	struct bt_garbage_link *items = links->links.items;
	struct bt_garbage_link link = items[index];

	if (link.next != BT_LINK_NONE) {
		items[link.next].previous = link.previous;
	}
	if (link.previous != BT_LINK_NONE) {
		items[link.previous].next = link.next;
	} else {
		(void)bt_map_remove(&links->by_owner, link.owner_hash, index);
		if (link.next != BT_LINK_NONE) {
			bt_map_insert(&links->by_owner, link.owner_hash, link.next);
		}
	}
	(void)bt_map_remove(&links->by_object, hash, index);
	bt_free(link.key);
	items[index] = (struct bt_garbage_link){.next = links->first_free};
	links->first_free = index;
}

void bt_garbage_links_remove(struct bt_garbage_links *links, uint32_t collection, struct bt_str key)
{
	uint64_t hash = object_hash(collection, key);
	bool found = true;

	while (found) {
		found = false;
		for (uint32_t at = bt_map_first(&links->by_object, hash);
			at != BT_MAP_NONE && !found;
			at = bt_map_next(&links->by_object, hash, at)) {
			uint32_t index = bt_map_value(&links->by_object, at);
			const struct bt_garbage_link *link = &links->links.items[index];

			if (link->collection == collection && bt_str_equal_c(key, link->key)) {
				found = true;
				remove_link(links, index, hash);
				break;
			}
		}
	}
}

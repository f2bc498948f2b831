/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/groups.h"

#include <inttypes.h>
#include <stdio.h>

struct bt_str bt_groups_key(const struct bt_groups *groups, uint32_t entry)
{
	const struct bt_group_entry *found = &groups->entries.items[entry];
	return (struct bt_str){found->key, found->key_length};
}

static struct bt_str group_of(const struct bt_groups *groups, uint32_t entry)
{
	const struct bt_group_entry *found = &groups->entries.items[entry];
	return (struct bt_str){found->key + found->key_length, found->group_length};
}

void bt_groups_finish(struct bt_groups *groups)
{
	bt_vec_finish_each(&groups->entries, bt_free(each->key));
	bt_vec_finish(&groups->free_slots);
	bt_map_finish(&groups->by_key);
	bt_map_finish(&groups->by_group);
}

static uint32_t find(const struct bt_groups *groups, const struct bt_map *map, struct bt_str text,
	struct bt_str (*text_of)(const struct bt_groups *groups, uint32_t entry))
{
	uint64_t hash = bt_str_hash(text);

	BT_MAP_EACH (map, hash, slot) {
		if (bt_str_equal(text_of(groups, slot), text)) {
			return slot;
		}
	}
	return BT_GROUPS_NONE;
}

uint32_t bt_groups_first(const struct bt_groups *groups, struct bt_str group)
{
	return find(groups, &groups->by_group, group, group_of);
}

uint32_t bt_groups_find(const struct bt_groups *groups, struct bt_str key)
{
	return find(groups, &groups->by_key, key, bt_groups_key);
}

struct bt_str bt_groups_of(const struct bt_groups *groups, struct bt_str key)
{
	uint32_t entry = bt_groups_find(groups, key);
	return entry != BT_GROUPS_NONE ? group_of(groups, entry) : BT_STR("");
}

bool bt_groups_remove(struct bt_groups *groups, struct bt_str key)
{
	uint32_t entry = bt_groups_find(groups, key);

	if (entry == BT_GROUPS_NONE) {
		return false;
	}
	struct bt_group_entry *items = groups->entries.items;
	struct bt_group_entry *item = &items[entry];
	uint64_t hash = bt_str_hash(group_of(groups, entry));
	if (item->next != BT_GROUPS_NONE) {
		items[item->next].previous = item->previous;
	}
	if (item->previous != BT_GROUPS_NONE) {
		items[item->previous].next = item->next;
	} else {
		(void)bt_map_remove(&groups->by_group, hash, entry);
		if (item->next != BT_GROUPS_NONE) {
			bt_map_insert(&groups->by_group, hash, item->next);
		}
	}
	(void)bt_map_remove(&groups->by_key, bt_str_hash(key), entry);
	bt_free(item->key);
	*item = (struct bt_group_entry){.key = NULL};
	bt_vec_push(&groups->free_slots, entry);
	return true;
}

uint32_t bt_groups_set(struct bt_groups *groups, struct bt_str key, struct bt_str group)
{
	uint32_t entry = bt_groups_find(groups, key);
	struct bt_group_entry item = {.key_length = key.length, .group_length = group.length};

	if (entry != BT_GROUPS_NONE && bt_str_equal(group_of(groups, entry), group)) {
		return entry;
	}
	(void)bt_groups_remove(groups, key);
	item.previous = bt_groups_first(groups, group);
	item.next = BT_GROUPS_NONE;
	item.key = bt_malloc((size_t)key.length + group.length + 1);
	if (key.length != 0) {
		memcpy(item.key, key.data, key.length);
	}
	if (group.length != 0) {
		memcpy(item.key + key.length, group.data, group.length);
	}
	bt_vec_store(&groups->entries, &groups->free_slots, item, entry);
	bt_map_insert(&groups->by_key, bt_str_hash(key), entry);
	if (item.previous == BT_GROUPS_NONE) {
		bt_map_insert(&groups->by_group, bt_str_hash(group), entry);
		return entry;
	}
	/* Insert after the group's first entry, so that the value in by_group stays valid. */
	struct bt_group_entry *items = groups->entries.items;
	items[entry].next = items[item.previous].next;
	if (items[entry].next != BT_GROUPS_NONE) {
		items[items[entry].next].previous = entry;
	}
	items[item.previous].next = entry;
	return entry;
}

void bt_groups_set_number(struct bt_groups *groups, struct bt_str key, int64_t number)
{
	char text[24];

	(void)snprintf(text, sizeof(text), "%" PRId64, number);
	bt_groups_set(groups, key, bt_str_from(text));
}

bool bt_groups_number(const struct bt_groups *groups, struct bt_str key, int64_t *out_number)
{
	return bt_str_parse_int64(bt_groups_of(groups, key), out_number);
}

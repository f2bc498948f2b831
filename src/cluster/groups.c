/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/groups.h"

static struct bt_str key_of(const struct bt_groups *groups, uint32_t entry)
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
	for (uint32_t i = 0; i < groups->entries.count; i++) {
		bt_free(groups->entries.items[i].key);
	}
	bt_vec_finish(&groups->entries);
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

uint32_t bt_groups_next(const struct bt_groups *groups, uint32_t entry)
{
	return groups->entries.items[entry].next;
}

struct bt_str bt_groups_key(const struct bt_groups *groups, uint32_t entry)
{
	return key_of(groups, entry);
}

struct bt_str bt_groups_of(const struct bt_groups *groups, struct bt_str key)
{
	uint32_t entry = find(groups, &groups->by_key, key, key_of);
	return entry != BT_GROUPS_NONE ? group_of(groups, entry) : BT_STR("");
}

/** Inserts the entry after the group's first entry, so that the value in by_group stays valid. */
static void link_entry(struct bt_groups *groups, uint32_t entry)
{
	struct bt_group_entry *items = groups->entries.items;
	struct bt_str group = group_of(groups, entry);
	uint32_t first = bt_groups_first(groups, group);

	items[entry].previous = first;
	if (first == BT_GROUPS_NONE) {
		items[entry].next = BT_GROUPS_NONE;
		bt_map_insert(&groups->by_group, bt_str_hash(group), entry);
		return;
	}
	items[entry].next = items[first].next;
	if (items[first].next != BT_GROUPS_NONE) {
		items[items[first].next].previous = entry;
	}
	items[first].next = entry;
}

static void unlink_entry(struct bt_groups *groups, uint32_t entry)
{
	struct bt_group_entry *items = groups->entries.items;
	uint32_t next = items[entry].next;
	uint32_t previous = items[entry].previous;
	uint64_t hash = bt_str_hash(group_of(groups, entry));

	if (next != BT_GROUPS_NONE) {
		items[next].previous = previous;
	}
	if (previous != BT_GROUPS_NONE) {
		items[previous].next = next;
		return;
	}
	(void)bt_map_remove(&groups->by_group, hash, entry);
	if (next != BT_GROUPS_NONE) {
		bt_map_insert(&groups->by_group, hash, next);
	}
}

void bt_groups_remove(struct bt_groups *groups, struct bt_str key)
{
	uint32_t entry = find(groups, &groups->by_key, key, key_of);

	if (entry == BT_GROUPS_NONE) {
		return;
	}
	unlink_entry(groups, entry);
	(void)bt_map_remove(&groups->by_key, bt_str_hash(key), entry);
	struct bt_group_entry *item = &groups->entries.items[entry];
	bt_free(item->key);
	*item = (struct bt_group_entry){.next = groups->first_free};
	groups->first_free = entry + 1;
}

void bt_groups_set(struct bt_groups *groups, struct bt_str key, struct bt_str group)
{
	uint32_t entry = find(groups, &groups->by_key, key, key_of);
	struct bt_group_entry item = {.key_length = key.length, .group_length = group.length};

	if (entry != BT_GROUPS_NONE && bt_str_equal(group_of(groups, entry), group)) {
		return;
	}
	bt_groups_remove(groups, key);
	item.key = bt_malloc((size_t)key.length + group.length + 1);
	if (key.length != 0) {
		memcpy(item.key, key.data, key.length);
	}
	if (group.length != 0) {
		memcpy(item.key + key.length, group.data, group.length);
	}
	if (groups->first_free != 0) {
		entry = groups->first_free - 1;
		groups->first_free = groups->entries.items[entry].next;
		groups->entries.items[entry] = item;
	} else {
		entry = groups->entries.count;
		bt_vec_push(&groups->entries, item);
	}
	bt_map_insert(&groups->by_key, bt_str_hash(key), entry);
	link_entry(groups, entry);
}

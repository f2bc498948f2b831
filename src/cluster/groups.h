/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_GROUPS_H
#define BT_CLUSTER_GROUPS_H
/**
 * Sets of keys, called groups: for example the keys of objects by owner uid, or of pods by target
 * node. A key is in one group only. All-zero memory is an empty set of groups; the struct must not
 * move once it has keys. Order within a group: the first key stays first, the others follow with
 * the latest first.
 */
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#define BT_GROUPS_NONE UINT32_MAX

struct bt_group_entry {
	char *key; /* owned; the text of the group follows the key; NULL: a free entry */
	uint32_t key_length;
	uint32_t group_length;
	uint32_t next; /* index of the group's next entry, or BT_GROUPS_NONE */
	uint32_t previous;
};

struct bt_groups {
	BT_VEC(struct bt_group_entry) entries;
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	struct bt_map by_group; /* group -> its first entry */
};

void bt_groups_finish(struct bt_groups *groups);
/** Moves the key to this group, or adds the key. Texts are copied. Returns the key's entry. */
uint32_t bt_groups_set(struct bt_groups *groups, struct bt_str key, struct bt_str group);
/** Returns whether the groups had the key. */
bool bt_groups_remove(struct bt_groups *groups, struct bt_str key);
/**
 * Returns the key's entry, a small index that stays the same while the groups have the key, so that
 * owners can keep data of keys in arrays; BT_GROUPS_NONE: the groups do not have the key.
 */
uint32_t bt_groups_find(const struct bt_groups *groups, struct bt_str key);
/** Returns the key's group, or "". Borrowed until the key changes its group. */
struct bt_str bt_groups_of(const struct bt_groups *groups, struct bt_str key);
/** Makes a number, for example a time, the group of the key. */
void bt_groups_set_number(struct bt_groups *groups, struct bt_str key, int64_t number);
/** Returns false, and leaves *out_number unchanged, if the groups do not have the key. */
bool bt_groups_number(const struct bt_groups *groups, struct bt_str key, int64_t *out_number);
/** Returns the first entry of a group; BT_GROUPS_NONE: the group is empty. */
uint32_t bt_groups_first(const struct bt_groups *groups, struct bt_str group);
struct bt_str bt_groups_key(const struct bt_groups *groups, uint32_t entry);
/**
 * Loops over the entries of a group; declares the variable `entry`. The groups must not change
 * during the loop.
 */
#define BT_GROUPS_EACH(groups, group, entry) \
	for (uint32_t entry = bt_groups_first((groups), (group)); (entry) != BT_GROUPS_NONE; \
		(entry) = (groups)->entries.items[(entry)].next)
#endif

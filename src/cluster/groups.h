/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_GROUPS_H
#define BT_CLUSTER_GROUPS_H
/**
 * Keys by the group they are in: objects by their owner's uid, pods by the node they are meant
 * for. A key is in one group. All-zero memory has no keys; the struct must not move once it has
 * some. Order within a group: the first one stays first, the others latest first.
 */
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"

#define BT_GROUPS_NONE UINT32_MAX

struct bt_group_entry {
	char *key; /* owned, the group behind it; NULL: free */
	uint32_t key_length;
	uint32_t group_length;
	uint32_t next; /* in the group; of a free entry: as first_free */
	uint32_t previous;
};

struct bt_groups {
	BT_VEC(struct bt_group_entry) entries;
	uint32_t first_free; /* its index + 1; 0: none is free */
	struct bt_map by_key;
	struct bt_map by_group; /* the group's first entry */
};

void bt_groups_finish(struct bt_groups *groups);
/** Put the key into this group and no other. Texts are copied. */
void bt_groups_put(struct bt_groups *groups, struct bt_str key, struct bt_str group);
void bt_groups_remove(struct bt_groups *groups, struct bt_str key);
/** "" when it is in none. Borrowed until it changes. */
struct bt_str bt_groups_of(const struct bt_groups *groups, struct bt_str key);
/** Entries of a group; BT_GROUPS_NONE ends. Not to be changed meanwhile. */
uint32_t bt_groups_first(const struct bt_groups *groups, struct bt_str group);
uint32_t bt_groups_next(const struct bt_groups *groups, uint32_t entry);
struct bt_str bt_groups_key(const struct bt_groups *groups, uint32_t entry);
/** Each entry of a group, declared as entry; the groups must not change meanwhile. */
#define BT_GROUPS_EACH(groups, group, entry) \
	for (uint32_t entry = bt_groups_first((groups), (group)); (entry) != BT_GROUPS_NONE; \
		(entry) = bt_groups_next((groups), (entry)))
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_GARBAGE_COLLECTOR_H
#define BT_CLUSTER_GARBAGE_COLLECTOR_H
/**
 * Who depends on whom, by the uids in metadata.ownerReferences, for objects of every resource.
 * garbage_links.c keeps it; garbage_collector.c acts on it. Spec: 14b section 8.
 */
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controller.h"

#define BT_LINK_NONE UINT32_MAX

/** One owner of one object. The owner's uid is only known by its hash: who acts on a link looks
 * at the object again. */
struct bt_garbage_link {
	char *key; /* of the dependent, owned; NULL: a free link */
	uint64_t owner_hash;
	uint32_t collection;
	uint32_t next; /* of the same owner, or of the free links */
	uint32_t previous;
};

struct bt_garbage_links {
	BT_VEC(struct bt_garbage_link) links;
	uint32_t first_free;
	struct bt_map by_owner; /* first link of the owner */
	struct bt_map by_object;
};

void bt_garbage_links_init(struct bt_garbage_links *links);
void bt_garbage_links_finish(struct bt_garbage_links *links);
void bt_garbage_links_add(struct bt_garbage_links *links, uint32_t collection, struct bt_str key,
	struct bt_str owner_uid);
/** All links of an object. */
void bt_garbage_links_remove(
	struct bt_garbage_links *links, uint32_t collection, struct bt_str key);
/** First of the links to an owner; go on with next. */
uint32_t bt_garbage_links_of(const struct bt_garbage_links *links, struct bt_str owner_uid);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DRA_DEVICE_CLASS_MAP_H
#define BT_DRA_DEVICE_CLASS_MAP_H
/** Which DeviceClass stands behind an extended resource. Spec: 12 section 4.4 (and D8 of 21). */
#include "api/types.h"
#include "base/map.h"
#include "base/strbuf.h"
#include "base/vec.h"
#include "state/object_store.h"

/** Prefix of the resource name that every class has without asking. */
#define BT_DEVICE_CLASS_RESOURCE_PREFIX "deviceclass.resource.kubernetes.io/"

struct bt_dra;

struct bt_device_class_mapping {
	char *resource; /* owned; NULL: free */
	uint32_t resource_length;
	struct bt_object *device_class; /* reference held */
	uint64_t hash;
};

struct bt_device_class_map {
	struct bt_dra *dra;
	struct bt_map map;
	BT_VEC(struct bt_device_class_mapping) mappings;
	BT_VEC(uint32_t) free_ids;
	uint64_t version; /* grows with every change */
	/** Two classes have wanted one resource: what is mapped depends on what came first. */
	bool has_history;
};

void bt_device_class_map_init(struct bt_device_class_map *map, struct bt_dra *dra);
void bt_device_class_map_finish(struct bt_device_class_map *map);
/** The store's class was added, updated or deleted. */
void bt_device_class_map_follow(
	struct bt_device_class_map *map, struct bt_object *old_class, struct bt_object *new_class);
/** GetClass: the class behind a resource name, borrowed; NULL: none, or gate DRAExtendedResource is
 * off. */
const struct bt_device_class *bt_device_class_for_resource(
	const struct bt_device_class_map *map, struct bt_str resource);
/** Against the same made anew from the store; true also where that cannot be told. */
bool bt_device_class_map_validate(
	const struct bt_device_class_map *map, struct bt_strbuf *out_reason);
size_t bt_device_class_map_memory_bytes(const struct bt_device_class_map *map);
#endif

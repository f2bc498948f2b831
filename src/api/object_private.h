/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_OBJECT_PRIVATE_H
#define BT_API_OBJECT_PRIVATE_H
/** Shared by object.c and object_packing.c. */
#include "api/object.h"

/** Call after the reference counts changed: packs the object if all references are packable. */
void bt_object_pack_if_allowed(struct bt_object *object);
size_t bt_packed_object_bytes(const struct bt_packed_object *packed);
void bt_packed_object_destroy(struct bt_packed_object *packed);
#endif

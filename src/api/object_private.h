/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_OBJECT_PRIVATE_H
#define BT_API_OBJECT_PRIVATE_H
/** Between the files that make up objects. */
#include "api/object.h"

/** A reference changed: packed as soon as all of them rest. */
void bt_object_settle(struct bt_object *object);
/** NULL accepted. */
void bt_packed_pod_destroy(struct bt_packed_pod *packed);
#endif

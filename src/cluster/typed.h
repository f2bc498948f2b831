/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_TYPED_H
#define BT_CLUSTER_TYPED_H
/** Converts between JSON, which the API server stores, and structs, which the scheduler reads. */
#include "api/object.h"
#include "server/api.h"

const struct bt_api_resource *bt_typed_resource(struct bt_api *api, enum bt_kind kind);
/** Returns NULL with err (may be NULL) if the text is not valid for this kind. */
struct bt_object *bt_typed_decode(
	enum bt_kind kind, const struct bt_stored *stored, struct berth_error *err);
/** Returns a tree in arena. value: the kind's struct. */
struct bt_json_value *bt_typed_tree(enum bt_kind kind, const void *value, struct bt_arena *arena);
#endif

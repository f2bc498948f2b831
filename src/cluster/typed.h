/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_TYPED_H
#define BT_CLUSTER_TYPED_H
/** The API server keeps JSON, the scheduler reads structs: from one to the other. */
#include "api/object.h"
#include "server/api.h"

const struct bt_api_resource *bt_typed_resource(struct bt_api *api, enum bt_kind kind);
/** NULL with err (may be NULL): the text is not readable as this kind. */
struct bt_object *bt_typed_decode(
	enum bt_kind kind, const struct bt_stored *stored, struct berth_error *err);
/** value: the kind's struct. The tree is in arena. */
struct bt_json_value *bt_typed_tree(enum bt_kind kind, const void *value, struct bt_arena *arena);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_TYPED_H
#define BT_CLUSTER_TYPED_H
/** Converts between JSON, which the API server stores, and structs, which the scheduler reads. */
#include "api/object.h"
#include "server/api.h"

const struct bt_api_resource *bt_typed_resource(struct bt_api *api, enum bt_kind kind);
/**
 * Returns a new object, which the caller releases. If the text is not valid for this kind, returns
 * NULL and sets err (may be NULL).
 */
struct bt_object *bt_typed_decode(
	enum bt_kind kind, const struct bt_stored *stored, struct berth_error *err);
/** Converts value, a struct of the kind, to a tree in the arena. */
struct bt_json_value *bt_typed_tree(enum bt_kind kind, const void *value, struct bt_arena *arena);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_TABLE_H
#define BT_SERVER_TABLE_H
/** Columns and cells of tables, as kubectl get shows them. Spec: 14 section 18. */
#include "base/arena.h"
#include "codec/json.h"
#include "server/resource.h"

/** Writes the columnDefinitions of a resource: a JSON array. */
void bt_table_write_columns(const struct bt_api_resource *resource, struct bt_json_writer *writer);
/**
 * Writes the cells of one object (a tree of the resource's version): a JSON array with one value
 * per column. arena: for temporary texts.
 */
void bt_table_write_cells(const struct bt_api_resource *resource,
	const struct bt_json_value *object, int64_t now_ns, struct bt_arena *arena,
	struct bt_json_writer *writer);
#endif

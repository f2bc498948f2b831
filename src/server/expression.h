/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_EXPRESSION_H
#define BT_SERVER_EXPRESSION_H
/**
 * JSON documents in CEL: the static types of structural schemas, and values. Names of fields that
 * CEL cannot write are escaped as upstream escapes them (`__dash__`); words that CEL reserves can
 * be written both ways (`namespace`, `__namespace__`).
 */
#include "cel/cel.h"
#include "codec/json.h"

/**
 * Type of the values of a schema; is_resource: of a whole object, of which apiVersion, kind,
 * metadata.name and metadata.generateName are visible. Lives in the arena. dyn without a schema.
 */
const struct bt_cel_type *bt_expression_type(
	const struct bt_json_value *schema, bool is_resource, struct bt_arena *arena);
/** Values of a kind that fit into a request, however deep they are nested. */
#define BT_EXPRESSION_COUNT_MAX UINT64_C(1048576)
/** How many elements or members an array or map may have, at most BT_EXPRESSION_COUNT_MAX: for
 * costs. */
uint64_t bt_expression_max_count(const struct bt_json_value *schema);
/** schema NULL: numbers without fraction are int, others double, all else as in JSON. Borrows from
 * the document. */
struct bt_cel_value bt_expression_value(const struct bt_json_value *schema,
	const struct bt_json_value *value, struct bt_arena *arena);
/** A map with these names; values has as many. */
struct bt_cel_value bt_expression_object(const char *const *names,
	const struct bt_cel_value *values, uint32_t count, struct bt_arena *arena);
/**
 * What an expression made, as a document; texts are borrowed from the value. NULL: it is none, it
 * is too large, or the name of an object's type does not follow the field that it stands in.
 */
struct bt_json_value *bt_expression_json(
	const struct bt_cel_value *value, struct bt_arena *arena, struct berth_error *err);
#endif

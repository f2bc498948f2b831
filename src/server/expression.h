/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_EXPRESSION_H
#define BT_SERVER_EXPRESSION_H
/**
 * JSON documents in CEL: the static types of structural schemas, and values. Field names that CEL
 * cannot write are escaped as upstream does (`__dash__`); words that CEL reserves can be written
 * both ways (`namespace`, `__namespace__`).
 */
#include "cel/cel.h"
#include "codec/json.h"

/**
 * Returns the CEL type of the values of a schema. is_resource: the schema describes a whole object,
 * so that expressions also see apiVersion, kind, metadata.name and metadata.generateName. The
 * result is in the arena; it is dyn if there is no schema.
 */
const struct bt_cel_type *bt_expression_type(
	const struct bt_json_value *schema, bool is_resource, struct bt_arena *arena);
/** Largest number of values of one type that fit into a request, at any depth. */
#define BT_EXPRESSION_COUNT_MAX UINT64_C(1048576)
/**
 * Returns the largest number of elements of an array, or members of a map, that the schema allows;
 * at most BT_EXPRESSION_COUNT_MAX. For cost estimates.
 */
uint64_t bt_expression_max_count(const struct bt_json_value *schema);
/**
 * Returns a document as a CEL value, which borrows from the document. schema NULL: numbers without
 * a fraction become int, other numbers double, and other types stay as in JSON.
 */
struct bt_cel_value bt_expression_value(const struct bt_json_value *schema,
	const struct bt_json_value *value, struct bt_arena *arena);
/** Makes a map from `count` names and their values. */
struct bt_cel_value bt_expression_object(const char *const *names,
	const struct bt_cel_value *values, uint32_t count, struct bt_arena *arena);
/**
 * Converts the result of an expression to a JSON tree, whose texts are borrowed from the value.
 * NULL with err: the value has no JSON form, is too large, or an object's type name does not match
 * the field that holds the object.
 */
struct bt_json_value *bt_expression_json(
	const struct bt_cel_value *value, struct bt_arena *arena, struct berth_error *err);
#endif

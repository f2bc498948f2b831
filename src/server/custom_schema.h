/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_SCHEMA_H
#define BT_SERVER_CUSTOM_SCHEMA_H
/**
 * Checks custom objects against the schema of their definition's version. Without a schema, every
 * object is allowed.
 */
#include "codec/json_edit.h"
#include "codec/path.h"
#include "server/custom_rules.h"
#include "server/failure.h"
#include "server/resource.h"

/**
 * Drops members that the schema does not name and, with set_defaults, sets the schema's defaults.
 * For each dropped member, appends a text such as `unknown field "spec.a"` to the array `problems`.
 * schema NULL: does nothing. *lookups: the number of comparisons that may be made, which is
 * reduced.
 */
void bt_custom_complete(const struct bt_json_value *schema, const struct bt_path *place,
	struct bt_json_value *value, bool set_defaults, struct bt_arena *arena,
	struct bt_json_value *problems, uint64_t *lookups);
/** Validates the object against the version's schema and its rules. old NULL: the object is new. */
void bt_custom_validate(const struct bt_api_resource *resource, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);
/**
 * Validates the default of a schema, completed with the defaults inside it. place: the path of the
 * default. rules: of the root of the schema. *lookups: the number of comparisons that may be
 * made, which is reduced; at 0, nothing is checked any more.
 */
void bt_custom_validate_default(const struct bt_custom_rules *rules, const struct bt_path *place,
	const struct bt_json_value *schema, struct bt_field_errors *errors, uint64_t *lookups);
/**
 * Largest number of comparisons of names or list items for one object, or for all defaults of a
 * definition; further ones are skipped.
 */
#define BT_CUSTOM_LOOKUPS_MAX (UINT64_C(1) << 24)
/**
 * Describes, for server-side apply, which lists and maps of the schema are sets, keyed or atomic.
 * The result is in the arena. NULL: the schema names no members.
 */
const struct bt_schema_message *bt_custom_describe_parts(
	const struct bt_json_value *schema, struct bt_arena *arena);
/** Returns the schema of a custom resource; NULL: it has none. */
const struct bt_json_value *bt_custom_root(const struct bt_api_resource *resource);
/**
 * Returns the schema of a member; NULL: the member has no schema. *out_known: whether the member is
 * allowed.
 */
const struct bt_json_value *bt_custom_member(
	const struct bt_json_value *schema, struct bt_str name, bool *out_known);
/** Takes an amount from a budget. If less is left, takes the rest and returns false. */
bool bt_custom_take(uint64_t *budget, uint64_t amount);
/** Returns whether any part of the schema has a default. */
bool bt_custom_has_defaults(const struct bt_json_value *schema);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_CUSTOM_SCHEMA_H
#define BT_SERVER_CUSTOM_SCHEMA_H
/** Custom objects against the schema of their definition's version. Without one, all is allowed. */
#include "codec/json_edit.h"
#include "server/failure.h"
#include "server/resource.h"

/** Drop members that the schema does not name (texts as bt_schema_normalise's go to problems), set
 * its defaults if asked to. */
void bt_custom_complete(const struct bt_api_resource *resource, struct bt_json_value *object,
	bool set_defaults, struct bt_arena *arena, struct bt_json_value *problems);
/** What the schema of the version and its rules say. old NULL: the object is new. */
void bt_custom_validate(const struct bt_api_resource *resource, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors);
/** Which lists and maps of a schema are sets, keyed or atomic. NULL: it names no members. */
const struct bt_schema_message *bt_custom_describe_parts(
	const struct bt_json_value *schema, struct bt_arena *arena);
/** Somewhere in the schema a default is given. */
bool bt_custom_has_defaults(const struct bt_json_value *schema);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_SPOT_H
#define BT_SCHEMA_SPOT_H
/** A place in an object with its schema, for walks over trees. */
#include "schema/schema.h"

/** A place. If all members are zero, the place has no schema (custom resources, raw JSON). */
struct bt_spot {
	/** Type of the object at this place; NULL: no message is here. */
	const struct bt_schema_message *message;
	/** The field whose map is at this place; NULL: no map is here. */
	const struct bt_schema_field *map;
	/** The field whose list is at this place; NULL: no list is here. */
	const struct bt_schema_field *list;
	/** The field of this value; NULL: the value is the root, a list element or a map value. */
	const struct bt_schema_field *field;
	bool custom_root; /* root of a custom resource */
};

/**
 * Returns the place of an object's root. message: type of the object; NULL: a custom resource.
 * parts: for a custom resource, describes its lists and maps; NULL: there is no description.
 */
struct bt_spot bt_spot_root(
	const struct bt_schema_message *message, const struct bt_schema_message *parts);
struct bt_spot bt_spot_member(const struct bt_spot *spot, struct bt_str name);
struct bt_spot bt_spot_element(const struct bt_spot *spot);

static inline bool bt_spot_has(const struct bt_spot *spot, enum bt_schema_flag flag)
{
	return spot->field != NULL && (spot->field->flags & flag) != 0;
}

/** Whether the place is a list whose elements are owned separately: by key, or as a set. */
static inline bool bt_spot_is_keyed(const struct bt_spot *spot)
{
	return spot->list != NULL && !bt_spot_has(spot, BT_SCHEMA_ATOMIC) &&
		(spot->list->list_keys != NULL || bt_spot_has(spot, BT_SCHEMA_LIST_SET));
}

/** Text that identifies a scalar in a list; absent for null, arrays and objects. */
struct bt_str bt_spot_scalar_text(const struct bt_json_value *value);
#endif

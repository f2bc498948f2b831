/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_SPOT_H
#define BT_SCHEMA_SPOT_H
/** A place in an object and what the schema says about it, for walks over trees. */
#include "schema/schema.h"

/** All zero: the schema says nothing (custom resources, raw JSON). */
struct bt_spot {
	const struct bt_schema_message *message; /* of the object here */
	const struct bt_schema_field *map;       /* the object here is this map */
	const struct bt_schema_field *list;      /* the array here is this list */
	const struct bt_schema_field *field;     /* whose value this is; NULL: root, element */
	bool custom_root;                        /* metadata is that of every kind */
};

/** message NULL: a custom resource; parts is what its definition says about its lists and maps, or
 * NULL. */
struct bt_spot bt_spot_root(
	const struct bt_schema_message *message, const struct bt_schema_message *parts);
struct bt_spot bt_spot_member(const struct bt_spot *spot, struct bt_str name);
struct bt_spot bt_spot_element(const struct bt_spot *spot);

static inline bool bt_spot_has(const struct bt_spot *spot, enum bt_schema_flag flag)
{
	return spot->field != NULL && (spot->field->flags & flag) != 0;
}

/** Text by which a scalar is told apart in a list; absent for null, arrays and objects. */
struct bt_str bt_spot_scalar_text(const struct bt_json_value *value);
#endif

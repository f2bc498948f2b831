/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_SCHEMA_PRIVATE_H
#define BT_SCHEMA_SCHEMA_PRIVATE_H
/** What the parts of the schema layer share. */
#include "schema/schema.h"

/** Most members a message can have, those of inline messages included; tools/gen_types.py. */
#define BT_SCHEMA_PLACES_MAX 250

/** Where a member of a message is described. */
struct bt_schema_place {
	const struct bt_schema_field *field;
	const struct bt_schema_field *inline_field; /* or NULL */
	/** Fields count from 0; those of inline messages follow, in the order of the latter, each
	 * with those of the inline messages in it. */
	uint32_t index;
};

/** Places of a message, those of its inline messages included. */
uint32_t bt_schema_place_count(const struct bt_schema_message *message);

/** hint: index that is looked at first. False: no such member. */
bool bt_schema_locate(const struct bt_schema_message *message, struct bt_str name, uint32_t hint,
	struct bt_schema_place *out_place);
/** Whether the message is the root of a kind, so that kind and apiVersion are members too. */
bool bt_schema_is_root(const struct bt_schema_message *message);

static inline struct bt_str bt_schema_field_name(const struct bt_schema_field *field)
{
	return (struct bt_str){field->name, field->name_length};
}
#endif

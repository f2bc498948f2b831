/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_SCHEMA_PRIVATE_H
#define BT_SCHEMA_SCHEMA_PRIVATE_H
/** Shared by the files of the schema layer. */
#include "schema/schema.h"

/**
 * Maximum number of members of a message, including those of inline messages; see
 * tools/gen_types.py.
 */
#define BT_SCHEMA_PLACES_MAX 250

/** Where the schema describes a member of a message. */
struct bt_schema_place {
	const struct bt_schema_field *field;
	const struct bt_schema_field *inline_field; /* or NULL */
	/**
	 * Index in the flattened message: the message's own fields come first, then the fields of
	 * its inline messages in order, each followed by those of its own inline messages.
	 */
	uint32_t index;
};

/** Number of places of a message, including its inline messages. */
uint32_t bt_schema_place_count(const struct bt_schema_message *message);

/** Finds a member by its name. hint: index to try first. false: the message has no such member. */
bool bt_schema_locate(const struct bt_schema_message *message, struct bt_str name, uint32_t hint,
	struct bt_schema_place *out_place);

static inline struct bt_str bt_schema_field_name(const struct bt_schema_field *field)
{
	return (struct bt_str){field->name, field->name_length};
}
#endif

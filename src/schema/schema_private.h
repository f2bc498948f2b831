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

static inline struct bt_str bt_schema_field_name(const struct bt_schema_field *field)
{
	return (struct bt_str){field->name, field->name_length};
}

/** Returns the index of the field that probably has this name, which must not be empty. */
static inline uint32_t bt_schema_guess(const struct bt_schema_message *message, struct bt_str name)
{
	const unsigned char *bytes = (const unsigned char *)name.data;
	/* the hash of guess_fields in tools/gen_types.py */
	uint32_t hash = 27 * name.length + UINT32_C(56) * bytes[0] + bytes[name.length / 2] +
		UINT32_C(30) * bytes[name.length - 1];

	return bt_schema_guesses[message->guesses_at + (hash & message->guess_mask)];
}

/** Like bt_schema_locate, without a guess. */
bool bt_schema_search(const struct bt_schema_message *message, struct bt_str name,
	struct bt_schema_place *out_place);

/** Finds a member by its name. false: the message has no such member. */
static inline bool bt_schema_locate(const struct bt_schema_message *message, struct bt_str name,
	struct bt_schema_place *out_place)
{
	if (name.length == 0) {
		return false;
	}
	uint32_t at = bt_schema_guess(message, name);
	if (at < message->field_count) {
		const struct bt_schema_field *field = &message->fields[at];
		if (bt_str_equal(bt_schema_field_name(field), name) &&
			(field->flags & BT_SCHEMA_INLINE) == 0) {
			*out_place = (struct bt_schema_place){field, NULL, at};
			return true;
		}
	}
	return bt_schema_search(message, name, out_place);
}
#endif

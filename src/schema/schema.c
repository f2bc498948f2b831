/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/schema.h"

#include <string.h>

#include "schema/schema_private.h"

static bool is_version(const struct bt_schema_kind *kind, struct bt_str api_version)
{
	size_t group = strlen(kind->group);
	size_t version = strlen(kind->version);

	if (group == 0) {
		return bt_str_equal_c(api_version, kind->version);
	}
	return api_version.length == group + 1 + version &&
		memcmp(api_version.data, kind->group, group) == 0 &&
		api_version.data[group] == '/' &&
		memcmp(api_version.data + group + 1, kind->version, version) == 0;
}

const struct bt_schema_message *bt_schema_find(struct bt_str api_version, struct bt_str kind)
{
	const struct bt_schema_message *shared = NULL;

	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		const struct bt_schema_kind *row = &bt_schema_kinds[i];
		if (!bt_str_equal_c(kind, row->kind)) {
			continue;
		}
		if (is_version(row, api_version)) {
			return row->message;
		}
		if (strcmp(row->message->package, "meta/v1") == 0) {
			shared = row->message;
		}
	}
	return shared;
}

bool bt_schema_is_root(const struct bt_schema_message *message)
{
	for (uint32_t i = 0; i < bt_schema_kind_count; i++) {
		if (bt_schema_kinds[i].message == message) {
			return true;
		}
	}
	return false;
}

/*
 * Finds a member in the inline messages of message. base: index of the place of message's first
 * field. Inline messages may contain inline messages, so the function calls itself.
 */
static bool locate_inline(const struct bt_schema_message *message, struct bt_str name,
	uint32_t base, struct bt_schema_place *out_place)
{
	base += message->field_count;
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *outer = &message->fields[i];
		if ((outer->flags & BT_SCHEMA_INLINE) == 0) {
			continue;
		}
		for (uint32_t j = 0; j < outer->message->field_count; j++) {
			const struct bt_schema_field *field = &outer->message->fields[j];
			if (bt_str_equal(bt_schema_field_name(field), name) &&
				(field->flags & BT_SCHEMA_INLINE) == 0) {
				*out_place = (struct bt_schema_place){field, outer, base + j};
				return true;
			}
		}
		if (locate_inline(outer->message, name, base, out_place)) {
			return true;
		}
		base += outer->message->place_count;
	}
	return false;
}

bool bt_schema_search(const struct bt_schema_message *message, struct bt_str name,
	struct bt_schema_place *out_place)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if (bt_str_equal(bt_schema_field_name(field), name) &&
			(field->flags & BT_SCHEMA_INLINE) == 0) {
			*out_place = (struct bt_schema_place){field, NULL, i};
			return true;
		}
	}
	return locate_inline(message, name, 0, out_place);
}

const struct bt_schema_field *bt_schema_field_find(const struct bt_schema_message *message,
	struct bt_str name, const struct bt_schema_field **out_inline)
{
	struct bt_schema_place place = {NULL, NULL, 0};
	bool found = bt_schema_locate(message, name, &place);

	if (out_inline != NULL) {
		*out_inline = found ? place.inline_field : NULL;
	}
	return found ? place.field : NULL;
}

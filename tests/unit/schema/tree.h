/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_SCHEMA_TREE_H
#define BT_TESTS_UNIT_SCHEMA_TREE_H
/** Converts JSON text to a tree and back, for tests. */
#include <check.h>

#include "codec/json_edit.h"
#include "schema/schema.h"

static inline struct bt_json_value *tree_of(struct bt_arena *arena, const char *json)
{
	struct bt_json_value *value = NULL;

	ck_assert_int_eq(bt_json_parse(arena, bt_str_from(json), true, &value, NULL), 0);
	return value;
}

static inline const char *text_of(struct bt_arena *arena, const struct bt_json_value *value)
{
	struct bt_strbuf out = {NULL, 0, 0};
	struct bt_json_writer writer;
	struct bt_str text;

	bt_json_writer_init(&writer, &out, 0);
	bt_json_write_value(&writer, value);
	text = bt_arena_str(arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	return text.data;
}

static inline const struct bt_schema_message *message_of(const char *version, const char *kind)
{
	const struct bt_schema_message *message =
		bt_schema_find(bt_str_from(version), bt_str_from(kind));

	ck_assert_msg(message != NULL, "%s %s", version, kind);
	return message;
}
#endif

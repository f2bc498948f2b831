/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON. The tree parser, the skip function and the token reader must accept the same inputs. An
 * accepted tree that is written and read again must be the same.
 */
#include <stdint.h>

#include "base/assert.h"
#include "codec/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/**
 * Walks the document with the token reader, which unescapes names and strings and checks numbers.
 */
static int walk(struct bt_json_reader *reader, struct bt_arena *arena, uint32_t depth)
{
	enum bt_json_type type;
	struct bt_str text;
	bool flag;
	bool first = true;
	bool more = true;
	int result = bt_json_peek(reader, &type, NULL);
	if (result != 0 || depth > 200) {
		return result != 0 ? result : bt_json_skip(reader, &text, NULL);
	}
	switch (type) {
	case BT_JSON_NULL:
		return bt_json_read_null(reader, NULL);
	case BT_JSON_BOOL:
		return bt_json_read_bool(reader, &flag, NULL);
	case BT_JSON_NUMBER:
		return bt_json_read_number(reader, &text, NULL);
	case BT_JSON_STRING:
		return bt_json_read_string(reader, arena, &text, NULL, NULL);
	case BT_JSON_ARRAY:
		result = bt_json_enter_array(reader, NULL);
		while (result == 0 && more) {
			result = bt_json_next_element(reader, &first, &more, NULL);
			if (result == 0 && more) {
				result = walk(reader, arena, depth + 1);
			}
		}
		return result;
	case BT_JSON_OBJECT:
		result = bt_json_enter_object(reader, NULL);
		while (result == 0 && more) {
			result = bt_json_next_member(reader, &first, arena, &more, &text, NULL);
			if (result == 0 && more) {
				result = walk(reader, arena, depth + 1);
			}
		}
		return result;
	case BT_JSON__COUNT:
		break;
	}
	return BERTH_ERR_INTERNAL;
}

static void check_round_trip(
	struct bt_arena *arena, const struct bt_json_value *value, uint32_t indent)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_value *back;
	bt_json_writer_init(&writer, &text, indent);
	bt_json_write_value(&writer, value);
	BT_ASSERT(bt_json_parse(arena, bt_strbuf_str(&text), true, &back, NULL) == 0);
	BT_ASSERT(bt_json_equal(value, back));
	bt_strbuf_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bt_str text = {(const char *)data, (uint32_t)size};
	struct bt_arena arena = {0};
	struct bt_json_value *value = NULL;
	int parsed = bt_json_parse(&arena, text, false, &value, NULL);

	struct bt_json_reader reader;
	struct bt_str source;
	bt_json_reader_init(&reader, text);
	int skipped = bt_json_skip(&reader, &source, NULL);
	if (skipped == 0) {
		skipped = bt_json_expect_end(&reader, NULL);
	}
	BT_ASSERT(parsed == skipped);

	bt_json_reader_init(&reader, text);
	int walked = walk(&reader, &arena, 0);
	if (walked == 0) {
		walked = bt_json_expect_end(&reader, NULL);
	}
	BT_ASSERT(parsed == walked);
	if (parsed == 0) {
		check_round_trip(&arena, value, 0);
		/* deep documents and wide indentation make long text */
		if (size < 4096) {
			check_round_trip(&arena, value, 2);
		}
	}
	bt_arena_finish(&arena);
	return 0;
}

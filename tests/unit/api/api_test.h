/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_API_API_TEST_H
#define BT_TESTS_UNIT_API_API_TEST_H
/**
 * Build objects and quantities from short texts. JSON is written with ' for ", so that it reads
 * well in C.
 */
#include <check.h>
#include <string.h>

#include "api/node.h"
#include "api/pod.h"
#include "api/quantity.h"
#include "base/arena.h"
#include "base/strbuf.h"

/** Copies text into the arena with every ' replaced by ". */
BT_UNUSED static struct bt_str api_json(struct bt_arena *arena, const char *text)
{
	struct bt_str source = bt_str_from(text);
	char *copy = bt_arena_alloc_bytes(arena, source.length);

	for (uint32_t i = 0; i < source.length; i++) {
		copy[i] = text[i] == '\'' ? '"' : text[i];
	}
	return (struct bt_str){copy, source.length};
}

/** Decodes a message from JSON; fails the test if decoding fails. */
BT_UNUSED static const void *api_decode(
	struct bt_arena *arena, const struct bt_message *message, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	void *value = bt_arena_calloc(arena, 1, message->size);
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, api_json(arena, text));
	if (bt_message_decode_json(message, &reader, arena, value, &err) != 0) {
		ck_abort_msg("%s: %s", text, berth_error_message(&err));
	}
	return value;
}

BT_UNUSED static const struct bt_pod *api_pod(struct bt_arena *arena, const char *text)
{
	return api_decode(arena, &bt_pod_message, text);
}

BT_UNUSED static const struct bt_node *api_node(struct bt_arena *arena, const char *text)
{
	return api_decode(arena, &bt_node_message, text);
}

BT_UNUSED static struct bt_quantity api_quantity(struct bt_arena *arena, const char *text)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_quantity quantity;

	if (bt_quantity_parse(bt_str_from(text), arena, &quantity, &err) != 0) {
		ck_abort_msg("%s: %s", text, berth_error_message(&err));
	}
	return quantity;
}

/** Formats the quantity in canonical form; the text is in the arena. */
BT_UNUSED static const char *api_text(struct bt_arena *arena, const struct bt_quantity *quantity)
{
	struct bt_strbuf buffer = {0};
	const char *text;

	bt_quantity_format(quantity, &buffer);
	text = bt_arena_str(arena, bt_strbuf_str(&buffer)).data;
	bt_strbuf_finish(&buffer);
	return text;
}

BT_UNUSED static void api_check_str(const char *row, struct bt_str actual, const char *expected)
{
	if (!bt_str_equal_c(actual, expected)) {
		ck_abort_msg(
			"%s:\n  got      %.*s\n  expected %s", row, BT_STR_ARG(actual), expected);
	}
}
#endif

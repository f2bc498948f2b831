/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/base64.h"
#include "codec/json.h"
#include "server/list_options.h"

/* Continue tokens: URL-safe base64 without padding. */

/** Large enough for a key whose bytes are all escaped. */
#define TOKEN_BYTES_MAX (10 * BT_STORE_KEY_BYTES_MAX)

struct bt_str bt_list_token_write(const struct bt_list_token *token, struct bt_arena *arena)
{
	struct bt_strbuf start = {0};
	struct bt_strbuf json = {0};
	struct bt_json_writer writer;
	struct bt_str result;

	/* A zero byte makes the first possible key after the last one. */
	bt_strbuf_append_str(&start, token->start);
	bt_strbuf_append_char(&start, '\0');
	bt_json_writer_init(&writer, &json, 0);
	bt_json_begin_object(&writer);
	bt_json_write_name_c(&writer, "v");
	bt_json_write_c(&writer, "meta.k8s.io/v1");
	bt_json_write_name_c(&writer, "rv");
	bt_json_write_int64(&writer, token->rv);
	bt_json_write_name_c(&writer, "start");
	bt_json_write_str(&writer, bt_strbuf_str(&start));
	bt_json_end_object(&writer);
	struct bt_strbuf text = {0};
	bt_base64_url_encode(bt_strbuf_str(&json), &text);
	result = bt_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&start);
	bt_strbuf_finish(&json);
	return result;
}

static const char *read_token(
	struct bt_str text, struct bt_list_token *out_token, struct bt_arena *arena)
{
	struct bt_str json;
	struct bt_json_value *value;
	const struct bt_json_value *rv;
	struct bt_str start;

	if (text.length > TOKEN_BYTES_MAX || !bt_base64_url_decode(text, arena, &json)) {
		return "illegal base64 data";
	}
	if (bt_json_parse(arena, json, false, &value, NULL) != 0) {
		return "no JSON";
	}
	if (!bt_str_equal(bt_json_find_str(value, "v"), BT_STR("meta.k8s.io/v1"))) {
		return "unrecognized version";
	}
	rv = bt_json_find(value, "rv");
	if (rv == NULL || rv->type != BT_JSON_NUMBER ||
		!bt_json_number_int64(rv->text, &out_token->rv) || out_token->rv == 0 ||
		out_token->rv < -1) {
		return "incorrect resource version";
	}
	start = bt_json_find_str(value, "start");
	if (start.length < 2 || start.data[start.length - 1] != '\0' ||
		start.length > BT_STORE_KEY_BYTES_MAX) {
		return "incorrect start";
	}
	out_token->start = bt_str_sub(start, 0, start.length - 1);
	return NULL;
}

uint16_t bt_list_token_read(struct bt_str text, struct bt_list_token *out_token,
	struct bt_arena *arena, struct bt_failure *out_failure)
{
	const char *problem = read_token(text, out_token, arena);

	return problem == NULL
		? 0
		: bt_fail_bad_request(out_failure, arena, "invalid continue token: %s", problem);
}

uint16_t bt_fail_token_expired(
	struct bt_failure *out, struct bt_arena *arena, const struct bt_list_token *token)
{
	struct bt_list_token fresh = {.rv = -1, .start = token->start};
	uint16_t code = bt_fail(out, arena, 410, "Expired",
		"The provided continue parameter is too old to display a consistent list result. "
		"You can start a new list without the continue parameter, or use the continue "
		"token in this response to retrieve the remainder of the results. Continuing with "
		"the provided token results in an inconsistent list - objects that were created, "
		"modified, or deleted between the time the first chunk was returned and now may "
		"show up in the list.");

	out->continue_token = bt_list_token_write(&fresh, arena);
	return code;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/extender_answer.h"

#include <string.h>

#include "sched/extender_wire.h"

/** The bytes of the first value. What comes after it is not looked at. */
static int first_value(struct bt_str json, struct bt_str *out_value, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct berth_error fault = BERTH_ERROR_INIT;
	uint32_t blank = 0;

	while (blank < json.length &&
		(json.data[blank] == ' ' || json.data[blank] == '\t' || json.data[blank] == '\n' ||
			json.data[blank] == '\r')) {
		blank++;
	}
	if (blank == json.length) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "EOF");
	}
	bt_json_reader_init(&reader, json);
	int result = bt_json_skip(&reader, out_value, &fault);
	if (result < 0 &&
		strcmp(berth_error_message(&fault), "unexpected end of JSON input") == 0) {
		result = bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
		berth_error_finish(&fault);
	} else if (result < 0) {
		result = bt_error_move(err, &fault);
	}
	return result;
}

int bt_answer_begin(struct bt_answer *answer, struct bt_str json, struct bt_arena *arena,
	struct berth_error *err)
{
	struct bt_str value = BT_STR("null");
	*answer = (struct bt_answer){.arena = arena, .err = err};
	if (json.length > BT_EXTENDER_ANSWER_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE,
			"answer of %u bytes is longer than %u", json.length,
			BT_EXTENDER_ANSWER_BYTES_MAX);
	}
	int result = first_value(json, &value, err);
	if (result == 0) {
		bt_json_reader_init(&answer->reader, value);
	}
	return result;
}

static int mismatch(struct bt_answer *answer, const char *what, struct bt_answer_place place)
{
	if (place.field == NULL) {
		return bt_error_set(answer->err, BERTH_ERR_INVALID,
			"json: cannot unmarshal %s into Go value of type %s", what, place.type);
	}
	return bt_error_set(answer->err, BERTH_ERR_INVALID,
		"json: cannot unmarshal %s into Go struct field %s of type %s", what, place.field,
		place.type);
}

/** *out_present false: null, which is consumed. A value of another type is the error. */
static int expect(struct bt_answer *answer, enum bt_json_type type, struct bt_answer_place place,
	bool *out_present)
{
	enum bt_json_type got = BT_JSON_NULL;
	int result = bt_json_peek(&answer->reader, &got, answer->err);
	if (result < 0) {
		return result;
	}
	*out_present = got != BT_JSON_NULL;
	if (got == BT_JSON_NULL) {
		return bt_json_read_null(&answer->reader, answer->err);
	}
	return got == type ? 0 : mismatch(answer, bt_json_type_name(got), place);
}

int bt_answer_count(struct bt_answer *answer)
{
	if (answer->entries == BT_ANSWER_ENTRIES_MAX) {
		return bt_error_set(answer->err, BERTH_ERR_TOO_LARGE,
			"answer has more than %u entries", BT_ANSWER_ENTRIES_MAX);
	}
	answer->entries++;
	return 0;
}

int bt_answer_text(struct bt_answer *answer, struct bt_answer_place place, struct bt_str *out_text)
{
	bool present;
	int result = expect(answer, BT_JSON_STRING, place, &present);
	if (result < 0 || !present) {
		return result;
	}
	return bt_json_read_string(&answer->reader, answer->arena, out_text, NULL, answer->err);
}

int bt_answer_number(struct bt_answer *answer, struct bt_answer_place place, int64_t *out_value)
{
	bool present;
	struct bt_str text;
	int result = expect(answer, BT_JSON_NUMBER, place, &present);
	if (result < 0 || !present) {
		return result;
	}
	result = bt_json_read_number(&answer->reader, &text, answer->err);
	if (result == 0 && !bt_json_number_int64(text, out_value)) {
		struct bt_strbuf what = {0};
		bt_strbuf_append_c(&what, "number ");
		bt_strbuf_append_str(&what, text);
		result = mismatch(answer, bt_strbuf_c(&what), place);
		bt_strbuf_finish(&what);
	}
	return result;
}

/** Bytes of the name's first character when it is the letter, whatever its case; else 0. Beyond
 * ASCII, two letters fold to k and s. */
static uint32_t folded_length(struct bt_str name, char letter)
{
	unsigned char first = (unsigned char)name.data[0];
	unsigned char lower = (unsigned char)(first >= 'A' && first <= 'Z' ? first + 32 : first);
	if (lower == (unsigned char)letter) {
		return 1;
	}
	if (letter == 's' && name.length >= 2 && memcmp(name.data, "\xc5\xbf", 2) == 0) {
		return 2;
	}
	if (letter == 'k' && name.length >= 3 && memcmp(name.data, "\xe2\x84\xaa", 3) == 0) {
		return 3;
	}
	return 0;
}

/** wanted: in lower case. */
bool bt_answer_is_named(struct bt_str name, const char *wanted)
{
	for (; *wanted != '\0'; wanted++) {
		uint32_t length = name.length == 0 ? 0 : folded_length(name, *wanted);
		if (length == 0) {
			return false;
		}
		name.data += length;
		name.length -= length;
	}
	return name.length == 0;
}

/** Reads the members of an object; the function gets each name with the reader at its value. */
int bt_answer_object(struct bt_answer *answer, struct bt_answer_place place,
	int (*read_member)(struct bt_answer *answer, struct bt_str name, void *out), void *out,
	bool *out_present)
{
	bool first = true;
	bool present = false;
	int result = expect(answer, BT_JSON_OBJECT, place, &present);
	if (out_present != NULL) {
		*out_present = present;
	}
	if (result < 0 || !present) {
		return result;
	}
	result = bt_json_enter_object(&answer->reader, answer->err);
	while (result == 0) {
		bool more = false;
		struct bt_str name = {0};
		result = bt_json_next_member(
			&answer->reader, &first, answer->arena, &more, &name, answer->err);
		if (result < 0 || !more) {
			break;
		}
		result = read_member(answer, name, out);
	}
	return result;
}

int bt_answer_array(struct bt_answer *answer, struct bt_answer_place place,
	int (*read_element)(struct bt_answer *answer, void *out), void *out, bool *out_present)
{
	bool first = true;
	*out_present = false;
	int result = expect(answer, BT_JSON_ARRAY, place, out_present);
	if (result < 0 || !*out_present) {
		return result;
	}
	result = bt_json_enter_array(&answer->reader, answer->err);
	while (result == 0) {
		bool more = false;
		result = bt_json_next_element(&answer->reader, &first, &more, answer->err);
		if (result < 0 || !more) {
			break;
		}
		result = bt_answer_count(answer);
		if (result == 0) {
			result = read_element(answer, out);
		}
	}
	return result;
}

int bt_answer_skip(struct bt_answer *answer)
{
	return bt_json_skip(&answer->reader, NULL, answer->err);
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares our JSON reader with jansson on random and on damaged documents. In a few places jansson
 * is stricter than Go (lone surrogates, invalid UTF-8, numbers out of range): there our reader may
 * accept more documents than jansson, never fewer.
 */
#include <jansson.h>
#include <stdlib.h>

#include "base/prng.h"
#include "codec/json.h"
#include "test_main.h"

static void append_random_string(struct bt_strbuf *out, struct bt_prng *prng)
{
	static const char *const pieces[] = {"a", "key", "\\n", "\\\"", "\\\\", "\\/", "\\u00e9",
		"\\u20ac", "\\ud83d\\ude00", "\xc3\xa9", "\xf0\x9f\x98\x80", " ",
		"0123456789abcdefgh", "\\b", "\\t", "\x7f"};
	bt_strbuf_append_char(out, '"');
	for (uint64_t left = bt_prng_below(prng, 6); left > 0; left--) {
		bt_strbuf_append_c(out, pieces[bt_prng_below(prng, BT_ARRAY_LENGTH(pieces))]);
	}
	bt_strbuf_append_char(out, '"');
}

static void append_space(struct bt_strbuf *out, struct bt_prng *prng)
{
	static const char *const spaces[] = {"", "", "", " ", "\n", "\t\r\n          "};
	bt_strbuf_append_c(out, spaces[bt_prng_below(prng, BT_ARRAY_LENGTH(spaces))]);
}

static void append_random_value(struct bt_strbuf *out, struct bt_prng *prng, int depth)
{
	static const char *const scalars[] = {"null", "true", "false", "0", "-0", "1", "-17",
		"9223372036854775807", "-9223372036854775808", "0.5", "-1.25e3", "1E-7", "2e+10"};
	uint64_t kind = bt_prng_below(prng, depth > 6 ? 2 : 4);
	append_space(out, prng);
	if (kind == 0) {
		bt_strbuf_append_c(out, scalars[bt_prng_below(prng, BT_ARRAY_LENGTH(scalars))]);
	} else if (kind == 1) {
		append_random_string(out, prng);
	} else {
		bool object = kind == 2;
		uint64_t count = bt_prng_below(prng, 5);
		bt_strbuf_append_char(out, object ? '{' : '[');
		append_space(out, prng);
		for (uint64_t i = 0; i < count; i++) {
			if (i != 0) {
				bt_strbuf_append_char(out, ',');
				append_space(out, prng);
			}
			if (object) {
				append_random_string(out, prng);
				append_space(out, prng);
				bt_strbuf_append_char(out, ':');
			}
			append_random_value(out, prng, depth + 1);
		}
		bt_strbuf_append_char(out, object ? '}' : ']');
	}
	append_space(out, prng);
}

static bool same_value(const struct bt_json_value *ours, const json_t *theirs);

static bool same_number(const struct bt_json_value *ours, const json_t *theirs)
{
	int64_t integer;
	char text[64];
	if (json_is_integer(theirs)) {
		return bt_json_number_int64(ours->text, &integer) &&
			integer == json_integer_value(theirs);
	}
	if (ours->text.length >= sizeof(text)) {
		return true;
	}
	memcpy(text, ours->text.data, ours->text.length);
	text[ours->text.length] = '\0';
	return strtod(text, NULL) == json_real_value(theirs);
}

static bool same_object(const struct bt_json_value *ours, const json_t *theirs)
{
	size_t found = 0;
	for (uint32_t i = 0; i < ours->count; i++) {
		struct bt_str name = ours->members[i].name;
		bool last = true;
		for (uint32_t k = i + 1; k < ours->count; k++) {
			last = last && !bt_str_equal(name, ours->members[k].name);
		}
		if (!last) {
			continue;
		}
		const json_t *member = json_object_getn(theirs, name.data, name.length);
		if (member == NULL || !same_value(ours->members[i].value, member)) {
			return false;
		}
		found++;
	}
	return found == json_object_size(theirs);
}

static bool same_value(const struct bt_json_value *ours, const json_t *theirs)
{
	switch (ours->type) {
	case BT_JSON_NULL:
		return json_is_null(theirs);
	case BT_JSON_BOOL:
		return json_is_boolean(theirs) && json_is_true(theirs) == ours->boolean;
	case BT_JSON_NUMBER:
		return json_is_number(theirs) && same_number(ours, theirs);
	case BT_JSON_STRING:
		return json_is_string(theirs) && json_string_length(theirs) == ours->text.length &&
			memcmp(json_string_value(theirs), ours->text.data, ours->text.length) == 0;
	case BT_JSON_ARRAY:
		if (!json_is_array(theirs) || json_array_size(theirs) != ours->count) {
			return false;
		}
		for (uint32_t i = 0; i < ours->count; i++) {
			if (!same_value(ours->elements[i], json_array_get(theirs, i))) {
				return false;
			}
		}
		return true;
	case BT_JSON_OBJECT:
		return json_is_object(theirs) && same_object(ours, theirs);
	case BT_JSON__COUNT:
		break;
	}
	return false;
}

/** Returns whether jansson refuses the document for a reason for which Go accepts it. */
static bool is_stricter(const json_error_t *error)
{
	enum json_error_code code = json_error_code(error);
	return code == json_error_numeric_overflow || code == json_error_invalid_utf8 ||
		strstr(error->text, "Unicode") != NULL || strstr(error->text, "\\u") != NULL ||
		strstr(error->text, "real number overflow") != NULL;
}

static void compare(const struct bt_strbuf *text, bool damaged)
{
	struct bt_arena arena = {0};
	struct bt_json_value *ours = NULL;
	json_error_t error;
	int result = bt_json_parse(&arena, bt_strbuf_str(text), false, &ours, NULL);
	json_t *theirs = json_loadb(
		bt_strbuf_c(text), text->length, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	ck_assert_msg(damaged || result == 0, "refused: %s", bt_strbuf_c(text));
	if (theirs == NULL) {
		ck_assert_msg(result != 0 || is_stricter(&error), "only we accept: %s (%s)",
			bt_strbuf_c(text), error.text);
	} else {
		ck_assert_msg(result == 0, "only jansson accepts: %s", bt_strbuf_c(text));
		ck_assert_msg(same_value(ours, theirs), "differs: %s", bt_strbuf_c(text));
	}
	json_decref(theirs);
	bt_arena_finish(&arena);
}

START_TEST(test_json_jansson__random_documents)
{
	struct bt_prng prng;
	struct bt_strbuf text = {0};
	bt_prng_init(&prng, 11);
	for (int round = 0; round < 5000; round++) {
		bt_strbuf_reset(&text);
		append_random_value(&text, &prng, 0);
		compare(&text, false);
	}
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_json_jansson__damaged_documents)
{
	static const char bytes[] = "{}[]:,\"\\ud80ntf-+.eE019 \n\x01\x80\xff/*";
	struct bt_prng prng;
	struct bt_strbuf text = {0};
	bt_prng_init(&prng, 12);
	for (int round = 0; round < 20000; round++) {
		bt_strbuf_reset(&text);
		append_random_value(&text, &prng, 3);
		for (uint64_t left = 1 + bt_prng_below(&prng, 3); left > 0 && text.length > 0;
			left--) {
			uint64_t at = bt_prng_below(&prng, text.length);
			text.data[at] = bytes[bt_prng_below(&prng, sizeof(bytes) - 1)];
		}
		compare(&text, true);
	}
	bt_strbuf_finish(&text);
}
END_TEST

BT_TEST_MAIN(
	"json_jansson", test_json_jansson__random_documents, test_json_jansson__damaged_documents)

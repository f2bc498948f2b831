/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/selector.h"

/* Field selectors, spec 01 section 5.7. */

/** Length of the first term of text: up to the next unescaped comma. */
static uint32_t term_length(struct bt_str text)
{
	uint32_t i = 0;

	while (i < text.length && text.data[i] != ',') {
		i += text.data[i] == '\\' && i + 1 < text.length ? 2 : 1;
	}
	return i;
}

/** Unescapes a value; false: an invalid escape, or an unescaped operator. */
static bool unescape(struct bt_str text, struct bt_arena *arena, struct bt_str *out)
{
	char *value;
	uint32_t length = 0;

	if (text.length == 0) {
		*out = BT_STR("");
		return true;
	}
	value = bt_arena_alloc_bytes(arena, text.length);
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];

		if (c == '=') {
			return false;
		}
		if (c == '\\') {
			if (++i == text.length || memchr("\\,=", text.data[i], 3) == NULL) {
				return false;
			}
			c = text.data[i];
		}
		value[length++] = c;
	}
	*out = (struct bt_str){value, length};
	return true;
}

static bool parse_term(struct bt_str text, struct bt_arena *arena, struct bt_field_term *out)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char c = text.data[i];
		char next = i + 1 < text.length ? text.data[i + 1] : '\0';
		uint32_t operator_length = 1;

		if (c == '\\') {
			i++;
			continue;
		}
		if (c == '!' && next == '=') {
			out->negated = true;
			operator_length = 2;
		} else if (c != '=') {
			continue;
		} else if (next == '=') {
			operator_length = 2;
		}
		out->field = bt_str_sub(text, 0, i);
		return unescape(
			bt_str_sub(text, i + operator_length, text.length), arena, &out->value);
	}
	return false;
}

/** Limit of input text in messages. */
#define SHOWN_MAX 256

int bt_field_selector_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_field_selector *out_selector, struct berth_error *err)
{
	struct bt_field_selector selector = {.count = 0};
	struct bt_field_term *terms;
	struct bt_str rest = text;
	size_t term_max = 1;

	for (uint32_t i = 0; i < text.length; i++) {
		term_max += text.data[i] == ',';
	}
	terms = BT_ARENA_NEW_ARRAY(arena, struct bt_field_term, term_max);
	while (rest.length != 0) {
		uint32_t length = term_length(rest);
		struct bt_str term = bt_str_sub(rest, 0, length);

		rest = bt_str_sub(rest, length + 1, rest.length);
		if (term.length == 0) {
			continue;
		}
		if (!parse_term(term, arena, &terms[selector.count])) {
			struct bt_str whole = bt_str_sub(text, 0, SHOWN_MAX);
			struct bt_str shown = bt_str_sub(term, 0, SHOWN_MAX);

			return bt_error_set(err, BERTH_ERR_SYNTAX,
				"invalid selector: '%.*s'; can't understand '%.*s'",
				BT_STR_ARG(whole), BT_STR_ARG(shown));
		}
		selector.count++;
	}
	selector.terms = terms;
	*out_selector = selector;
	return 0;
}

bool bt_field_term_matches(const struct bt_field_term *term, struct bt_str value)
{
	return bt_str_equal(term->value, value) != term->negated;
}

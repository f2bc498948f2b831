/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_same.h"

#include <stdlib.h>

#include "codec/json_edit.h"

static bool number_of(struct bt_str text, double *out_number)
{
	char copy[64];
	if (text.length >= sizeof(copy)) {
		return false;
	}
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	*out_number = strtod(copy, NULL);
	return true;
}

/** Returns true if a and b have the same names, and for each name the last values are equal. */
static bool has_same_members(const struct bt_json_value *a, const struct bt_json_value *b)
{
	struct bt_text_set of_a = {0};
	struct bt_text_set of_b = {0};
	bool same = true;
	bt_json_append_names(a, &of_a);
	bt_json_append_names(b, &of_b);
	for (uint32_t i = 0; i < b->count && same; i++) {
		if (bt_text_set_find(&of_b, b->members[i].name) != i) {
			continue; /* a later member with this name counts */
		}
		uint32_t position = bt_text_set_find(&of_a, b->members[i].name);
		same = position != BT_MAP_NONE &&
			bt_json_same(a->members[position].value, b->members[i].value);
	}
	for (uint32_t i = 0; i < a->count && same; i++) {
		same = bt_text_set_find(&of_b, a->members[i].name) != BT_MAP_NONE;
	}
	bt_text_set_finish(&of_a);
	bt_text_set_finish(&of_b);
	return same;
}

bool bt_json_same(const struct bt_json_value *a, const struct bt_json_value *b)
{
	if (a == b) {
		return true;
	}
	if (a->type != b->type) {
		return false;
	}
	switch (a->type) {
	case BT_JSON_NULL:
		return true;
	case BT_JSON_BOOL:
		return a->boolean == b->boolean;
	case BT_JSON_NUMBER: {
		int64_t integer_a;
		int64_t integer_b;
		double number_a;
		double number_b;
		if (bt_str_equal(a->text, b->text)) {
			return true;
		}
		if (bt_json_number_int64(a->text, &integer_a) &&
			bt_json_number_int64(b->text, &integer_b)) {
			return integer_a == integer_b;
		}
		if (!number_of(a->text, &number_a) || !number_of(b->text, &number_b)) {
			return false;
		}
		return !(number_a < number_b) && !(number_a > number_b);
	}
	case BT_JSON_STRING:
		return bt_str_equal(a->text, b->text);
	case BT_JSON_ARRAY:
		if (a->count != b->count) {
			return false;
		}
		for (uint32_t i = 0; i < a->count; i++) {
			if (!bt_json_same(a->elements[i], b->elements[i])) {
				return false;
			}
		}
		return true;
	case BT_JSON_OBJECT:
		/*
		 * Compare values once only: comparing them twice on each level would take
		 * exponential time.
		 */
		if (a->count != b->count) {
			return has_same_members(a, b);
		}
		for (uint32_t i = 0; i < a->count; i++) {
			if (!bt_str_equal(a->members[i].name, b->members[i].name)) {
				return has_same_members(a, b);
			}
		}
		for (uint32_t i = 0; i < a->count; i++) {
			if (!bt_json_same(a->members[i].value, b->members[i].value)) {
				return false;
			}
		}
		return true;
	case BT_JSON__COUNT:
		break;
	}
	return false;
}

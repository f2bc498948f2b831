/* SPDX-License-Identifier: Apache-2.0 */
/* Templates of JSON: bt_json_put makes values of them, bt_json_write writes them. */
#include <stdarg.h>
#include <string.h>

#include "base/assert.h"
#include "codec/json_edit.h"

#define NUMBER_BYTES 21

struct template_reader {
	struct bt_arena *arena; /* for the texts of numbers; NULL: only the last number is kept */
	const char *at;
	va_list arguments;
	char number[NUMBER_BYTES];
};

/** Skips blanks and commas. If the character follows, skips the character and returns true. */
static inline bool skip(struct template_reader *reader, char character)
{
	while (*reader->at == ' ' || *reader->at == ',') {
		reader->at++;
	}
	if (*reader->at != character) {
		return false;
	}
	reader->at++;
	return true;
}

/** Skips the ":" or "?:" behind a name. Returns true for "?:". */
static bool skip_colon(struct template_reader *reader)
{
	bool omits_zero = skip(reader, '?');

	(void)skip(reader, ':');
	return omits_zero;
}

static void set_number(struct template_reader *reader, int64_t number, struct bt_json_value *out)
{
	char *text = reader->arena != NULL ? bt_arena_alloc_bytes(reader->arena, NUMBER_BYTES)
					   : reader->number;
	uint32_t sign = number < 0 ? 1 : 0;

	text[0] = '-';
	out->type = BT_JSON_NUMBER;
	out->text.length = sign +
		bt_str_format_uint64(
			number < 0 ? -(uint64_t)number : (uint64_t)number, text + sign);
	out->text.data = text;
	text[out->text.length] = '\0';
}

/**
 * Reads a name, or a value that is neither an object nor an array. *out borrows from the template
 * and the arguments. Returns false if the argument is NULL.
 */
static bool read_scalar(struct template_reader *reader, struct bt_json_value *out)
{
	*out = (struct bt_json_value){.type = BT_JSON_STRING};
	if (!skip(reader, '%')) {
		bool is_quoted = skip(reader, '\'');
		const char *start = reader->at;

		while (bt_is_letter(*reader->at)) {
			reader->at++;
		}
		if (is_quoted || *reader->at != ':') {
			reader->at += strcspn(reader->at, is_quoted ? "'" : ": ,?]}");
		}
		out->text = (struct bt_str){start, (uint32_t)(reader->at - start)};
		reader->at += is_quoted;
		if (is_quoted || *reader->at == ':' || *reader->at == '?') {
			return true;
		}
		out->type = out->text.data[0] == 'n' ? BT_JSON_NULL : BT_JSON_BOOL;
		out->boolean = out->text.data[0] == 't';
		BT_ASSERT(bt_str_has_word(BT_STR("null true false"), out->text));
		return true;
	}
	switch (*reader->at++) {
	case 's':
		out->text = va_arg(reader->arguments, struct bt_str);
		break;
	case 'c': {
		const char *text = va_arg(reader->arguments, const char *);
		if (text == NULL) {
			return false;
		}
		out->text = bt_str_from(text);
		break;
	}
	case 'd':
		set_number(reader, va_arg(reader->arguments, int64_t), out);
		break;
	case 'u':
		set_number(reader, va_arg(reader->arguments, uint32_t), out);
		break;
	case 'i':
		set_number(reader, va_arg(reader->arguments, int32_t), out);
		break;
	case 'b':
		out->type = BT_JSON_BOOL;
		out->boolean = va_arg(reader->arguments, int) != 0;
		break;
	default: {
		BT_ASSERT(reader->at[-1] == 't');
		const struct bt_json_value *value =
			va_arg(reader->arguments, const struct bt_json_value *);
		if (value == NULL) {
			return false;
		}
		*out = *value;
		break;
	}
	}
	if (out->text.data == NULL) {
		out->text = BT_STR("");
	}
	return true;
}

/**
 * Reads a value of the template and returns it; NULL if the argument is NULL, so that no member or
 * element is added. old is the value that the member has so far, or NULL if there is none. If the
 * template and old are both objects or both arrays, old is changed and returned. Recursive, as deep
 * as the template.
 */
static struct bt_json_value *put_value(struct template_reader *reader, struct bt_json_value *old)
{
	struct bt_arena *arena = reader->arena;

	if (skip(reader, '{')) {
		if (old == NULL || old->type != BT_JSON_OBJECT) {
			old = bt_json_new(arena, BT_JSON_OBJECT);
		}
		while (!skip(reader, '}')) {
			struct bt_json_value scalar;
			(void)read_scalar(reader, &scalar);
			struct bt_str name = scalar.text;
			bool omits_zero = skip_colon(reader);
			struct bt_json_value *replaced = bt_json_get(old, name);
			struct bt_json_value *value = put_value(reader, replaced);
			if (value == NULL || (omits_zero && bt_json_is_zero(value))) {
				continue;
			}
			if (replaced != NULL) {
				bt_json_set(arena, old, name, value);
			} else {
				bt_json_append_member(arena, old, name, value);
			}
		}
		return old;
	}
	if (skip(reader, '[')) {
		if (old == NULL || old->type != BT_JSON_ARRAY) {
			old = bt_json_new(arena, BT_JSON_ARRAY);
		}
		while (!skip(reader, ']')) {
			struct bt_json_value *value = put_value(reader, NULL);
			if (value != NULL) {
				bt_json_append(arena, old, value);
			}
		}
		return old;
	}
	if (reader->at[0] == '%' && reader->at[1] == 'v') {
		reader->at += 2;
		return va_arg(reader->arguments, struct bt_json_value *);
	}
	struct bt_json_value *value = bt_arena_alloc(arena, sizeof(*value));
	if (!read_scalar(reader, value)) {
		return NULL;
	}
	/* only %t gives an array or object */
	return value->type < BT_JSON_ARRAY ? value : bt_json_clone(arena, value, false);
}

struct bt_json_value *bt_json_put(
	struct bt_arena *arena, struct bt_json_value *object, const char *template_, ...)
{
	struct template_reader reader = {.arena = arena, .at = template_};

	va_start(reader.arguments, template_);
	object = put_value(&reader, object);
	va_end(reader.arguments);
	return object;
}

void bt_json_write(struct bt_json_writer *writer, const char *template_, ...)
{
	struct template_reader reader = {.at = template_};
	struct bt_str name = {NULL, 0}; /* of the next value, not written yet; data NULL: none */
	bool omits_zero = false;

	va_start(reader.arguments, template_);
	while (!skip(&reader, '\0')) {
		char token = *reader.at;
		bool is_scalar = token != '{' && token != '}' && token != '[' && token != ']';
		struct bt_json_value scalar;
		bool is_given = true;

		if (token == '%' && (reader.at[1] == 'f' || reader.at[1] == 'r')) {
			if (name.data != NULL) {
				bt_json_write_name(writer, name);
				name.data = NULL;
			}
			if (reader.at[1] == 'f') {
				bt_json_write_double(writer, va_arg(reader.arguments, double));
			} else {
				bt_json_write_raw(writer, va_arg(reader.arguments, struct bt_str));
			}
			reader.at += 2;
			continue;
		}
		reader.at += !is_scalar;
		if (is_scalar) {
			is_given = read_scalar(&reader, &scalar);
			if (*reader.at == ':' || *reader.at == '?') {
				name = scalar.text;
				omits_zero = skip_colon(&reader);
				continue;
			}
			is_given = is_given && !(omits_zero && bt_json_is_zero(&scalar));
		}
		if (is_given && name.data != NULL) {
			bt_json_write_name(writer, name);
		}
		switch (token) {
		case '{':
			bt_json_begin_object(writer);
			break;
		case '}':
			bt_json_end_object(writer);
			break;
		case '[':
			bt_json_begin_array(writer);
			break;
		case ']':
			bt_json_end_array(writer);
			break;
		default:
			if (is_given) {
				bt_json_write_value(writer, &scalar);
			}
			break;
		}
		name.data = NULL;
		omits_zero = false;
	}
	if (name.data != NULL) {
		bt_json_write_name(writer, name);
	}
	va_end(reader.arguments);
}

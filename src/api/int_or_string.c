/* SPDX-License-Identifier: Apache-2.0 */
#include "api/int_or_string.h"

#include <math.h>

#include "codec/wire.h"

int bt_int_or_string_scaled(const struct bt_int_or_string *value, int32_t total, bool round_up,
	int32_t *out_value, struct berth_error *err)
{
	struct bt_str digits = value->text;
	int64_t percent;

	if (!value->is_string) {
		*out_value = value->number;
		return 0;
	}
	if (!bt_str_has_suffix(digits, BT_STR("%"))) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"invalid value for IntOrString: string is not a percentage");
	}
	digits.length--;
	if (digits.length == 0 || digits.data[0] == '+' || digits.data[0] == '-' ||
		!bt_str_parse_int64(digits, &percent) || percent > INT32_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"invalid value for IntOrString: not a whole percentage");
	}
	double scaled = (double)percent * (double)total / 100;
	scaled = round_up ? ceil(scaled) : floor(scaled);
	if (scaled > INT32_MAX || scaled < INT32_MIN) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"invalid value for IntOrString: the result is out of range");
	}
	*out_value = (int32_t)scaled;
	return 0;
}

static int decode_json(const struct bt_scalar_type *scalar BT_UNUSED, struct bt_json_reader *reader,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_int_or_string value = {.number = 0};
	enum bt_json_type type;
	struct bt_str text;
	int64_t number;
	int code = bt_json_peek(reader, &type, err);

	if (code != 0) {
		return code;
	}
	if (type == BT_JSON_STRING) {
		bool borrowed;

		code = bt_json_read_string(reader, arena, &text, &borrowed, err);
		if (code != 0) {
			return code;
		}
		value.is_string = true;
		value.text = borrowed ? bt_arena_str(arena, text) : text;
		*(struct bt_int_or_string *)out = value;
		return 0;
	}
	if (type != BT_JSON_NUMBER) {
		return bt_error_set(err, BERTH_ERR_INVALID, "expected a number or a string, got %s",
			bt_json_type_name(type));
	}
	code = bt_json_read_number(reader, &text, err);
	if (code != 0) {
		return code;
	}
	if (!bt_json_number_int64(text, &number) || number < INT32_MIN || number > INT32_MAX) {
		return bt_error_set(err, BERTH_ERR_INVALID, "expected int32");
	}
	value.number = (int32_t)number;
	*(struct bt_int_or_string *)out = value;
	return 0;
}

/**
 * Decodes the message IntOrString, whose fields are 1 type, 2 intVal and 3 strVal. If type has the
 * value 1, the result is the text strVal; with all other values it is the number intVal.
 */
static int decode_protobuf(const struct bt_scalar_type *scalar BT_UNUSED, struct bt_str bytes,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_int_or_string value = {.number = 0};
	struct bt_wire_fields fields;
	int code = bt_wire_read_fields(bytes, &fields, err);

	if (code != 0) {
		return code;
	}
	value.is_string = fields.numbers[1] == 1;
	if (!value.is_string) {
		value.number = (int32_t)(uint32_t)fields.numbers[2];
	} else if (fields.texts[3].length > BT_JSON_STRING_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_TOO_LARGE, "value is longer than %u",
			BT_JSON_STRING_BYTES_MAX);
	} else {
		value.text = bt_arena_str(
			arena, fields.texts[3].data != NULL ? fields.texts[3] : BT_STR(""));
	}
	*(struct bt_int_or_string *)out = value;
	return 0;
}

static void encode_json(const struct bt_scalar_type *scalar BT_UNUSED,
	struct bt_json_writer *writer, const void *member)
{
	const struct bt_int_or_string *value = member;

	if (value->is_string) {
		bt_json_write_str(writer, value->text);
	} else {
		bt_json_write_int64(writer, value->number);
	}
}

static bool is_zero(const void *member)
{
	const struct bt_int_or_string *value = member;

	return !value->is_string && value->number == 0;
}

static bool equal(const void *a, const void *b)
{
	const struct bt_int_or_string *left = a;
	const struct bt_int_or_string *right = b;

	return left->is_string == right->is_string && left->number == right->number &&
		bt_str_equal(left->text, right->text);
}

static uint64_t hash(uint64_t seed, const void *member)
{
	const struct bt_int_or_string *value = member;

	if (value->is_string) {
		return bt_hash_bytes(value->text.data, value->text.length, seed);
	}
	return bt_hash_u64(seed, (uint64_t)value->number);
}

static void copy(void *out, const void *member, struct bt_arena *arena)
{
	struct bt_int_or_string *value = out;

	*value = *(const struct bt_int_or_string *)member;
	if (value->is_string) {
		value->text = bt_arena_str(arena, value->text);
	}
}

const struct bt_scalar_type bt_int_or_string_scalar = {
	.name = "int or string",
	.size = (uint32_t)sizeof(struct bt_int_or_string),
	.decode_json = decode_json,
	.encode_json = encode_json,
	.decode_protobuf = decode_protobuf,
	.is_zero = is_zero,
	.equal = equal,
	.hash = hash,
	.copy = copy,
};

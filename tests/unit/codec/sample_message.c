/* SPDX-License-Identifier: Apache-2.0 */
#include "sample_message.h"

static int decode_degrees(const struct bt_scalar_type *type BT_UNUSED,
	struct bt_json_reader *reader, struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct sample_degrees degrees = {.value = 0};
	bool borrowed;
	int result = bt_json_read_string(reader, arena, &degrees.text, &borrowed, err);
	if (result != 0) {
		return result;
	}
	int64_t value;
	struct bt_str digits = bt_str_sub(degrees.text, 0, degrees.text.length - 1);
	if (!bt_str_has_suffix(degrees.text, BT_STR("C")) || !bt_str_parse_int64(digits, &value)) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "no degrees: %.*s", BT_STR_ARG(degrees.text));
	}
	degrees.value = (int32_t)value;
	if (borrowed) {
		degrees.text = bt_arena_str(arena, degrees.text);
	}
	*(struct sample_degrees *)out = degrees;
	return 0;
}

/** Decodes a bytes field that holds only the text, without a message around it. */
static int decode_degrees_protobuf(const struct bt_scalar_type *type BT_UNUSED, struct bt_str bytes,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct sample_degrees degrees = {.text = bt_arena_str(arena, bytes)};
	int64_t value;
	if (!bt_str_has_suffix(bytes, BT_STR("C")) ||
		!bt_str_parse_int64(bt_str_sub(bytes, 0, bytes.length - 1), &value)) {
		return bt_error_set(err, BERTH_ERR_INVALID, "no degrees: %.*s", BT_STR_ARG(bytes));
	}
	degrees.value = (int32_t)value;
	*(struct sample_degrees *)out = degrees;
	return 0;
}

static void encode_degrees(const struct bt_scalar_type *type BT_UNUSED,
	struct bt_json_writer *writer, const void *value)
{
	const struct sample_degrees *degrees = value;
	bt_json_write_str(writer, degrees->text.data != NULL ? degrees->text : BT_STR("0C"));
}

static bool degrees_is_zero(const void *value)
{
	return ((const struct sample_degrees *)value)->value == 0;
}

static bool degrees_equal(const void *a, const void *b)
{
	return ((const struct sample_degrees *)a)->value ==
		((const struct sample_degrees *)b)->value;
}

static uint64_t degrees_hash(uint64_t seed, const void *value)
{
	return bt_hash_u64(seed, (uint64_t)((const struct sample_degrees *)value)->value);
}

static void degrees_copy(void *out, const void *value, struct bt_arena *arena)
{
	struct sample_degrees copy = *(const struct sample_degrees *)value;
	copy.text = bt_arena_str(arena, copy.text);
	*(struct sample_degrees *)out = copy;
}

static const struct bt_scalar_type degrees_scalar = {
	.name = "degrees",
	.size = sizeof(struct sample_degrees),
	.decode_json = decode_degrees,
	.encode_json = encode_degrees,
	.decode_protobuf = decode_degrees_protobuf,
	.is_zero = degrees_is_zero,
	.equal = degrees_equal,
	.hash = degrees_hash,
	.copy = degrees_copy,
};

#define ROW(S, M, json, type, shape, flags, item, value_at, msg, scal) \
	BT_FIELD_ROW(S, M, json, 0, type, shape, flags, item, value_at, msg, scal)
#define PLAIN(S, M, json, type, shape, T) ROW(S, M, json, type, shape, 0, sizeof(T), 0, NULL, NULL)
#define MAP(M, json, type, E, msg, scal) \
	ROW(sample, M, json, type, BT_SHAPE_MAP, 0, sizeof(struct E), offsetof(struct E, value), \
		msg, scal)

static const struct bt_field inner_fields[] = {
	PLAIN(sample_inner, name, "name", BT_FIELD_STR, BT_SHAPE_SINGLE, struct bt_str),
	PLAIN(sample_inner, number, "number", BT_FIELD_I32, BT_SHAPE_SINGLE, int32_t),
	PLAIN(sample_inner, tags, "tags", BT_FIELD_STR, BT_SHAPE_LIST, struct bt_str),
};

const struct bt_message sample_inner_message = {
	.name = "Inner",
	.size = sizeof(struct sample_inner),
	.field_count = BT_ARRAY_LENGTH(inner_fields),
	.fields = inner_fields,
};

static const struct bt_field inlined_fields[] = {
	PLAIN(sample_inlined, in_text, "inText", BT_FIELD_STR, BT_SHAPE_SINGLE, struct bt_str),
	PLAIN(sample_inlined, in_number, "inNumber", BT_FIELD_I32, BT_SHAPE_NULLABLE,
		struct bt_opt_i32),
};

static const struct bt_message inlined_message = {
	.name = "Inlined",
	.size = sizeof(struct sample_inlined),
	.field_count = BT_ARRAY_LENGTH(inlined_fields),
	.fields = inlined_fields,
};

static const struct bt_field other_inlined_fields[] = {
	PLAIN(sample_inlined, in_text, "otherText", BT_FIELD_STR, BT_SHAPE_SINGLE, struct bt_str),
	PLAIN(sample_inlined, in_number, "otherNumber", BT_FIELD_I32, BT_SHAPE_NULLABLE,
		struct bt_opt_i32),
};

static const struct bt_message other_inlined_message = {
	.name = "OtherInlined",
	.size = sizeof(struct sample_inlined),
	.field_count = BT_ARRAY_LENGTH(other_inlined_fields),
	.fields = other_inlined_fields,
};

static const struct bt_field sample_fields[] = {
	PLAIN(sample, str, "str", BT_FIELD_STR, BT_SHAPE_SINGLE, struct bt_str),
	PLAIN(sample, flag, "flag", BT_FIELD_BOOL, BT_SHAPE_SINGLE, bool),
	PLAIN(sample, i32, "i32", BT_FIELD_I32, BT_SHAPE_SINGLE, int32_t),
	PLAIN(sample, i64, "i64", BT_FIELD_I64, BT_SHAPE_SINGLE, int64_t),
	ROW(sample, message, "message", BT_FIELD_MESSAGE, BT_SHAPE_SINGLE, 0,
		sizeof(struct sample_inner), 0, &sample_inner_message, NULL),
	ROW(sample, scalar, "scalar", BT_FIELD_SCALAR, BT_SHAPE_SINGLE, 0,
		sizeof(struct sample_degrees), 0, NULL, &degrees_scalar),
	PLAIN(sample, raw, "raw", BT_FIELD_RAW_JSON, BT_SHAPE_SINGLE, struct bt_str),

	PLAIN(sample, null_str, "nullStr", BT_FIELD_STR, BT_SHAPE_NULLABLE, struct bt_str),
	PLAIN(sample, null_flag, "nullFlag", BT_FIELD_BOOL, BT_SHAPE_NULLABLE, struct bt_opt_bool),
	PLAIN(sample, null_i32, "nullI32", BT_FIELD_I32, BT_SHAPE_NULLABLE, struct bt_opt_i32),
	PLAIN(sample, null_i64, "nullI64", BT_FIELD_I64, BT_SHAPE_NULLABLE, struct bt_opt_i64),
	ROW(sample, null_message, "nullMessage", BT_FIELD_MESSAGE, BT_SHAPE_NULLABLE, 0,
		sizeof(struct sample_inner), 0, &sample_inner_message, NULL),
	ROW(sample, null_scalar, "nullScalar", BT_FIELD_SCALAR, BT_SHAPE_NULLABLE, 0,
		sizeof(struct sample_degrees), 0, NULL, &degrees_scalar),
	PLAIN(sample, null_raw, "nullRaw", BT_FIELD_RAW_JSON, BT_SHAPE_NULLABLE, struct bt_str),

	PLAIN(sample, str_list, "strList", BT_FIELD_STR, BT_SHAPE_LIST, struct bt_str),
	PLAIN(sample, flag_list, "flagList", BT_FIELD_BOOL, BT_SHAPE_LIST, bool),
	PLAIN(sample, i32_list, "i32List", BT_FIELD_I32, BT_SHAPE_LIST, int32_t),
	PLAIN(sample, i64_list, "i64List", BT_FIELD_I64, BT_SHAPE_LIST, int64_t),
	ROW(sample, message_list, "messageList", BT_FIELD_MESSAGE, BT_SHAPE_LIST, 0,
		sizeof(struct sample_inner), 0, &sample_inner_message, NULL),
	ROW(sample, scalar_list, "scalarList", BT_FIELD_SCALAR, BT_SHAPE_LIST, 0,
		sizeof(struct sample_degrees), 0, NULL, &degrees_scalar),
	PLAIN(sample, raw_list, "rawList", BT_FIELD_RAW_JSON, BT_SHAPE_LIST, struct bt_str),

	MAP(str_map, "strMap", BT_FIELD_STR, bt_str_pair, NULL, NULL),
	MAP(flag_map, "flagMap", BT_FIELD_BOOL, sample_bool_entry, NULL, NULL),
	MAP(i32_map, "i32Map", BT_FIELD_I32, sample_i32_entry, NULL, NULL),
	MAP(i64_map, "i64Map", BT_FIELD_I64, sample_i64_entry, NULL, NULL),
	MAP(message_map, "messageMap", BT_FIELD_MESSAGE, sample_inner_entry, &sample_inner_message,
		NULL),
	MAP(scalar_map, "scalarMap", BT_FIELD_SCALAR, sample_degrees_entry, NULL, &degrees_scalar),
	MAP(raw_map, "rawMap", BT_FIELD_RAW_JSON, bt_str_pair, NULL, NULL),

	ROW(sample, inlined, "", BT_FIELD_MESSAGE, BT_SHAPE_SINGLE, BT_FIELD_INLINE,
		sizeof(struct sample_inlined), 0, &inlined_message, NULL),
	ROW(sample, null_inlined, "", BT_FIELD_MESSAGE, BT_SHAPE_NULLABLE, BT_FIELD_INLINE,
		sizeof(struct sample_inlined), 0, &other_inlined_message, NULL),
	ROW(sample, always_str, "alwaysStr", BT_FIELD_STR, BT_SHAPE_SINGLE, BT_FIELD_ALWAYS,
		sizeof(struct bt_str), 0, NULL, NULL),
	ROW(sample, always_list, "alwaysList", BT_FIELD_STR, BT_SHAPE_LIST, BT_FIELD_ALWAYS,
		sizeof(struct bt_str), 0, NULL, NULL),
	ROW(sample, always_null, "alwaysNull", BT_FIELD_I32, BT_SHAPE_NULLABLE, BT_FIELD_ALWAYS,
		sizeof(struct bt_opt_i32), 0, NULL, NULL),
};

const struct bt_message sample_message = {
	.name = "Sample",
	.size = sizeof(struct sample),
	.field_count = BT_ARRAY_LENGTH(sample_fields),
	.fields = sample_fields,
};

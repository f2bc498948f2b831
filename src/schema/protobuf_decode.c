/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/time.h"
#include "base/duration.h"
#include "codec/base64.h"
#include "codec/json_edit.h"
#include "schema/schema_private.h"
#include "codec/wire.h"

/* Slot of a field that has no member yet. A message has fewer than NO_SLOT members. */
#define NO_SLOT UINT16_MAX

struct decoder {
	struct bt_arena *arena;
	struct bt_strbuf scratch;
	struct berth_error *err;
};

static int decode_message(struct decoder *decoder, const struct bt_schema_message *message,
	struct bt_str bytes, struct bt_json_value *object);

static int wrong_type(
	struct decoder *decoder, const struct bt_schema_field *field, uint32_t wire_type)
{
	return bt_error_set(decoder->err, BERTH_ERR_SYNTAX,
		"proto: wrong wireType = %u for field %s", (unsigned)wire_type, field->name);
}

static int decode_time(
	struct decoder *decoder, bool micro, struct bt_str bytes, struct bt_json_value *value)
{
	const struct bt_scalar_type *type = micro ? &bt_micro_time_scalar : &bt_time_scalar;
	struct bt_time time = {.set = false};
	int code = type->decode_protobuf(type, bytes, decoder->arena, &time, decoder->err);

	if (code != 0 || !time.set) {
		return code; /* the zero time is null */
	}
	bt_strbuf_reset(&decoder->scratch);
	if (micro) {
		bt_micro_time_format(&time, &decoder->scratch);
	} else {
		bt_time_format(&time, &decoder->scratch);
	}
	value->type = BT_JSON_STRING;
	value->text = bt_arena_str(decoder->arena, bt_strbuf_str(&decoder->scratch));
	return 0;
}

static void set_number(struct decoder *decoder, int64_t number, struct bt_json_value *value)
{
	value->type = BT_JSON_NUMBER;
	value->text = number == 0 ? BT_STR("0")
				  : bt_arena_printf(decoder->arena, "%lld", (long long)number);
}

static int decode_int_or_string(
	struct decoder *decoder, struct bt_str bytes, struct bt_json_value *value)
{
	struct bt_wire_fields fields;
	int code = bt_wire_read_fields(bytes, &fields, decoder->err);

	if (code != 0) {
		return code;
	}
	if (fields.numbers[1] == 1) {
		value->type = BT_JSON_STRING;
		value->text = fields.texts[3].data != NULL ? fields.texts[3] : BT_STR("");
	} else {
		set_number(decoder, (int32_t)(uint32_t)fields.numbers[2], value);
	}
	return 0;
}

static int decode_raw(struct decoder *decoder, struct bt_str bytes, struct bt_json_value *value)
{
	struct bt_wire_fields fields;
	struct bt_json_value *parsed;
	int code = bt_wire_read_fields(bytes, &fields, decoder->err);

	if (code != 0 || fields.texts[1].length == 0) {
		return code;
	}
	if (bt_json_nests_deeper(fields.texts[1], BT_SCHEMA_DEPTH_MAX)) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE, "exceeded max depth");
	}
	code = bt_json_parse(decoder->arena, fields.texts[1], false, &parsed, decoder->err);
	if (code == 0) {
		*value = *parsed;
	}
	return code;
}

static int decode_string_list(
	struct decoder *decoder, struct bt_str bytes, struct bt_json_value *value)
{
	struct bt_wire wire = bt_wire_from(bytes);

	value->type = BT_JSON_ARRAY;
	while (wire.at < wire.end) {
		struct bt_str text;
		uint32_t number;
		uint32_t type;
		int code = bt_wire_read_tag(&wire, &number, &type, decoder->err);

		if (code == 0 && (number != 1 || type != BT_WIRE_BYTES)) {
			code = bt_wire_skip(&wire, number, type, decoder->err);
		} else if (code == 0) {
			code = bt_wire_read_bytes(&wire, &text, decoder->err);
			if (code == 0) {
				bt_json_append(decoder->arena, value,
					bt_json_new_str(decoder->arena, text));
			}
		}
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

static bool is_varint(const struct bt_schema_field *field)
{
	return field->type == BT_SCHEMA_BOOL || field->type == BT_SCHEMA_INT32 ||
		field->type == BT_SCHEMA_INT64;
}

/* Decodes a length-delimited field into value. The caller has set value to null. */
static int decode_bytes(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_str bytes, struct bt_json_value *value)
{
	struct bt_wire_fields fields;
	int code;

	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		value->type = BT_JSON_STRING;
		value->text = bytes;
		break;
	case BT_SCHEMA_BYTES:
		bt_strbuf_reset(&decoder->scratch);
		bt_base64_encode(bytes, &decoder->scratch);
		value->type = BT_JSON_STRING;
		value->text = bt_arena_str(decoder->arena, bt_strbuf_str(&decoder->scratch));
		break;
	case BT_SCHEMA_QUANTITY:
		code = bt_wire_read_fields(bytes, &fields, decoder->err);
		value->type = BT_JSON_STRING;
		value->text = fields.texts[1].data != NULL ? fields.texts[1] : BT_STR("0");
		return code;
	case BT_SCHEMA_INT_OR_STRING:
		return decode_int_or_string(decoder, bytes, value);
	case BT_SCHEMA_TIME:
	case BT_SCHEMA_MICRO_TIME:
		return decode_time(decoder, field->type == BT_SCHEMA_MICRO_TIME, bytes, value);
	case BT_SCHEMA_DURATION:
		code = bt_wire_read_fields(bytes, &fields, decoder->err);
		if (code == 0) {
			bt_strbuf_reset(&decoder->scratch);
			bt_duration_format((int64_t)fields.numbers[1], &decoder->scratch);
			value->type = BT_JSON_STRING;
			value->text =
				bt_arena_str(decoder->arena, bt_strbuf_str(&decoder->scratch));
		}
		return code;
	case BT_SCHEMA_STRING_LIST:
		return decode_string_list(decoder, bytes, value);
	case BT_SCHEMA_RAW_JSON:
		return decode_raw(decoder, bytes, value);
	case BT_SCHEMA_MESSAGE:
		value->type = BT_JSON_OBJECT;
		return decode_message(decoder, field->message, bytes, value);
	case BT_SCHEMA_BOOL:
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		break;
	}
	return 0;
}

/* Decodes the bytes after a tag into value. The caller has set value to null. */
static int decode_one(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_wire *wire, uint32_t wire_type, struct bt_json_value *value)
{
	struct bt_str bytes;
	uint64_t number;
	int code;

	if (wire_type != (is_varint(field) ? BT_WIRE_VARINT : BT_WIRE_BYTES)) {
		return wrong_type(decoder, field, wire_type);
	}
	if (is_varint(field)) {
		code = bt_wire_read_varint(wire, &number, decoder->err);
		if (code == 0) {
			if (field->type == BT_SCHEMA_BOOL) {
				value->type = BT_JSON_BOOL;
				value->boolean = number != 0;
			} else if (field->type == BT_SCHEMA_INT32) {
				set_number(decoder, (int32_t)(uint32_t)number, value);
			} else {
				set_number(decoder, (int64_t)number, value);
			}
		}
		return code;
	}
	code = bt_wire_read_bytes(wire, &bytes, decoder->err);
	return code != 0 ? code : decode_bytes(decoder, field, bytes, value);
}

static int decode_element(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_wire *wire, uint32_t wire_type, struct bt_json_value *array)
{
	struct bt_json_value *value;
	int code = 0;

	if (is_varint(field) && wire_type == BT_WIRE_BYTES) {
		struct bt_str bytes;
		code = bt_wire_read_bytes(wire, &bytes, decoder->err);
		struct bt_wire packed = bt_wire_from(code == 0 ? bytes : BT_STR(""));
		while (code == 0 && packed.at < packed.end) {
			value = bt_json_new(decoder->arena, BT_JSON_NULL);
			code = decode_one(decoder, field, &packed, BT_WIRE_VARINT, value);
			bt_json_append(decoder->arena, array, value);
		}
		return code;
	}
	value = bt_json_new(decoder->arena, BT_JSON_NULL);
	code = decode_one(decoder, field, wire, wire_type, value);
	bt_json_append(decoder->arena, array, value);
	return code;
}

static int decode_entry(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_wire *wire, uint32_t wire_type, struct bt_json_value *map)
{
	struct bt_json_value *value = bt_json_new(decoder->arena, BT_JSON_NULL);
	struct bt_str key = BT_STR("");
	struct bt_str bytes;

	if (wire_type != BT_WIRE_BYTES) {
		return wrong_type(decoder, field, wire_type);
	}
	int code = bt_wire_read_bytes(wire, &bytes, decoder->err);
	struct bt_wire entry = bt_wire_from(code == 0 ? bytes : BT_STR(""));
	while (code == 0 && entry.at < entry.end) {
		uint32_t number;
		uint32_t type;

		code = bt_wire_read_tag(&entry, &number, &type, decoder->err);
		if (code != 0) {
			break;
		}
		if (number == 1 && type == BT_WIRE_BYTES) {
			code = bt_wire_read_bytes(&entry, &key, decoder->err);
		} else if (number == 2) {
			*value = (struct bt_json_value){.type = BT_JSON_NULL};
			code = decode_one(decoder, field, &entry, type, value);
		} else {
			code = bt_wire_skip(&entry, number, type, decoder->err);
		}
	}
	bt_json_append_member(decoder->arena, map, key, value);
	return code;
}

/*
 * Returns the field with this protobuf number. NULL: the message has no such field. *hint is the
 * index of the last field found; the search starts at this index, because the numbers in encoded
 * messages mostly ascend.
 */
static const struct bt_schema_field *find_number(
	const struct bt_schema_message *message, uint32_t number, uint32_t *hint)
{
	uint32_t at = *hint;

	if (at >= message->field_count || message->fields[at].number > number) {
		at = 0;
	}
	while (at < message->field_count && message->fields[at].number < number) {
		at++;
	}
	if (at == message->field_count || message->fields[at].number != number) {
		return NULL;
	}
	*hint = at;
	return &message->fields[at];
}

/*
 * Returns the value of the field's member; adds the member if it is missing. An existing single
 * value is reset to null, because the last occurrence of a field counts. *slot: the member's index
 * in object, or NO_SLOT.
 */
static struct bt_json_value *member_of(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_json_value *object, uint16_t *slot)
{
	struct bt_json_value *value;

	if (*slot != NO_SLOT) {
		value = object->members[*slot].value;
		if (field->shape == BT_SCHEMA_SINGLE) {
			*value = (struct bt_json_value){.type = BT_JSON_NULL};
		}
		return value;
	}
	value = bt_json_new(decoder->arena,
		field->shape == BT_SCHEMA_LIST          ? BT_JSON_ARRAY
			: field->shape == BT_SCHEMA_MAP ? BT_JSON_OBJECT
							: BT_JSON_NULL);
	*slot = (uint16_t)object->count;
	bt_json_append_member(decoder->arena, object, bt_schema_field_name(field), value);
	return value;
}

static int decode_field(struct decoder *decoder, const struct bt_schema_field *field,
	struct bt_wire *wire, uint32_t wire_type, struct bt_json_value *object, uint16_t *slot)
{
	if ((field->flags & BT_SCHEMA_INLINE) != 0) {
		struct bt_str bytes;

		if (wire_type != BT_WIRE_BYTES) {
			return wrong_type(decoder, field, wire_type);
		}
		int code = bt_wire_read_bytes(wire, &bytes, decoder->err);
		if (code != 0 || bytes.length == 0) {
			return code;
		}
		if (*slot != NO_SLOT) {
			return bt_error_set(
				decoder->err, BERTH_ERR_SYNTAX, "proto: repeated embedded message");
		}
		*slot = 0;
		return decode_message(decoder, field->message, bytes, object);
	}
	struct bt_json_value *value = member_of(decoder, field, object, slot);
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		break;
	case BT_SCHEMA_LIST:
		return decode_element(decoder, field, wire, wire_type, value);
	case BT_SCHEMA_MAP:
		return decode_entry(decoder, field, wire, wire_type, value);
	}
	return decode_one(decoder, field, wire, wire_type, value);
}

/* Recursion is bounded by the nesting of messages. */
static int decode_message(struct decoder *decoder, const struct bt_schema_message *message,
	struct bt_str bytes, struct bt_json_value *object)
{
	struct bt_wire wire = bt_wire_from(bytes);
	uint16_t slots[BT_SCHEMA_PLACES_MAX];
	uint32_t hint = 0;

	memset(slots, 0xff, message->field_count * sizeof(slots[0]));
	while (wire.at < wire.end) {
		uint32_t number;
		uint32_t type;
		int code = bt_wire_read_tag(&wire, &number, &type, decoder->err);

		if (code != 0) {
			return code;
		}
		const struct bt_schema_field *field = find_number(message, number, &hint);
		if (field == NULL) {
			code = bt_wire_skip(&wire, number, type, decoder->err);
		} else {
			code = decode_field(decoder, field, &wire, type, object, &slots[hint]);
		}
		if (code != 0) {
			return bt_error_wrap(decoder->err, code, "%s",
				field != NULL ? field->name : message->name);
		}
	}
	return 0;
}

int bt_schema_decode_protobuf(const struct bt_schema_message *message, struct bt_str bytes,
	struct bt_arena *arena, struct bt_json_value **out_object, struct berth_error *err)
{
	struct decoder decoder = {.arena = arena, .err = err};
	struct bt_json_value *object = bt_json_new(arena, BT_JSON_OBJECT);
	int code = decode_message(&decoder, message, bytes, object);

	if (code == 0) {
		code = bt_schema_normalise(message, object, false, NULL, arena, NULL, err);
	}
	if (code == 0) {
		*out_object = object;
	}
	bt_strbuf_finish(&decoder.scratch);
	return code;
}

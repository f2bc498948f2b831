/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/time.h"
#include "base/duration.h"
#include "codec/base64.h"
#include "codec/wire.h"
#include "schema/schema.h"
#include "schema/schema_private.h"

enum {
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
	TIME_SECONDS = 1,
	TIME_NANOSECONDS = 2,
	INT_OR_STRING_TYPE = 1,
	INT_OR_STRING_NUMBER = 2,
	INT_OR_STRING_TEXT = 3,
};

static void encode_message(const struct bt_schema_message *message,
	const struct bt_json_value *object, struct bt_strbuf *out);

static uint64_t number_of(const struct bt_json_value *value)
{
	int64_t number;

	if (value->type != BT_JSON_NUMBER || !bt_json_number_int64(value->text, &number)) {
		return 0;
	}
	return (uint64_t)number;
}

/* Writes a message that has only the length-delimited field 1, for example a Quantity. */
static void write_boxed(struct bt_strbuf *out, uint32_t number, struct bt_str bytes)
{
	size_t box = bt_wire_open(out, number);

	bt_wire_write_bytes(out, 1, bytes);
	bt_wire_close(out, box);
}

static void write_time(
	struct bt_strbuf *out, uint32_t number, bool micro, const struct bt_json_value *value)
{
	size_t box = bt_wire_open(out, number);
	struct bt_time time = {.set = false};

	if (value->type == BT_JSON_STRING && bt_time_parse(value->text, &time, NULL) == 0 &&
		time.set) {
		bt_wire_write_number(out, TIME_SECONDS, (uint64_t)time.seconds);
		bt_wire_write_number(out, TIME_NANOSECONDS,
			micro ? (uint64_t)(time.nanoseconds / 1000 * 1000) : 0);
	}
	bt_wire_close(out, box);
}

static void write_int_or_string(
	struct bt_strbuf *out, uint32_t number, const struct bt_json_value *value)
{
	size_t box = bt_wire_open(out, number);
	bool text = value->type == BT_JSON_STRING;

	bt_wire_write_number(out, INT_OR_STRING_TYPE, text ? 1 : 0);
	bt_wire_write_number(out, INT_OR_STRING_NUMBER, number_of(value));
	bt_wire_write_bytes(out, INT_OR_STRING_TEXT, text ? value->text : BT_STR(""));
	bt_wire_close(out, box);
}

/* Writes a single value (of a field, element or map value) under the given field number. */
static void encode_one(const struct bt_schema_field *field, uint32_t number,
	const struct bt_json_value *value, struct bt_strbuf *out)
{
	size_t box;

	switch ((enum bt_schema_type)field->type) {
	case BT_SCHEMA_STRING:
		if (value->type == BT_JSON_STRING) {
			bt_wire_write_bytes(out, number, value->text);
		}
		break;
	case BT_SCHEMA_BOOL:
		bt_wire_write_number(out, number, value->boolean ? 1 : 0);
		break;
	case BT_SCHEMA_INT32:
	case BT_SCHEMA_INT64:
		bt_wire_write_number(out, number, number_of(value));
		break;
	case BT_SCHEMA_BYTES: {
		struct bt_arena arena = {NULL, NULL, NULL, 0, 0};
		struct bt_str bytes = BT_STR("");

		if (bt_base64_decode(value->text, &arena, &bytes, NULL) != 0) {
			bytes = BT_STR("");
		}
		bt_wire_write_bytes(out, number, bytes);
		bt_arena_finish(&arena);
		break;
	}
	case BT_SCHEMA_QUANTITY:
		write_boxed(out, number, value->type == BT_JSON_STRING ? value->text : BT_STR("0"));
		break;
	case BT_SCHEMA_INT_OR_STRING:
		write_int_or_string(out, number, value);
		break;
	case BT_SCHEMA_TIME:
	case BT_SCHEMA_MICRO_TIME:
		write_time(out, number, field->type == BT_SCHEMA_MICRO_TIME, value);
		break;
	case BT_SCHEMA_DURATION: {
		int64_t duration_ns = 0;
		if (value->type == BT_JSON_STRING &&
			bt_duration_parse(value->text, &duration_ns, NULL) != 0) {
			duration_ns = 0;
		}
		box = bt_wire_open(out, number);
		bt_wire_write_number(out, 1, (uint64_t)duration_ns);
		bt_wire_close(out, box);
		break;
	}
	case BT_SCHEMA_STRING_LIST:
		if (value->type == BT_JSON_ARRAY) {
			box = bt_wire_open(out, number);
			for (uint32_t i = 0; i < value->count; i++) {
				if (value->elements[i]->type == BT_JSON_STRING) {
					bt_wire_write_bytes(out, 1, value->elements[i]->text);
				}
			}
			bt_wire_close(out, box);
		}
		break;
	case BT_SCHEMA_RAW_JSON: {
		box = bt_wire_open(out, number);
		size_t raw = bt_wire_open(out, 1);
		bt_json_format(value, out);
		bt_wire_close(out, raw);
		bt_wire_close(out, box);
		break;
	}
	case BT_SCHEMA_MESSAGE:
		if (value->type == BT_JSON_OBJECT) {
			box = bt_wire_open(out, number);
			encode_message(field->message, value, out);
			bt_wire_close(out, box);
		}
		break;
	}
}

static void encode_field(const struct bt_schema_field *field, const struct bt_json_value *value,
	struct bt_strbuf *out)
{
	switch ((enum bt_schema_shape)field->shape) {
	case BT_SCHEMA_SINGLE:
		if (value->type != BT_JSON_NULL || field->type == BT_SCHEMA_RAW_JSON) {
			encode_one(field, field->number, value, out);
		}
		break;
	case BT_SCHEMA_LIST:
		if (value->type == BT_JSON_ARRAY) {
			for (uint32_t i = 0; i < value->count; i++) {
				encode_one(field, field->number, value->elements[i], out);
			}
		}
		break;
	case BT_SCHEMA_MAP:
		if (value->type == BT_JSON_OBJECT) {
			for (uint32_t i = 0; i < value->count; i++) {
				size_t entry = bt_wire_open(out, field->number);

				bt_wire_write_bytes(out, ENTRY_KEY, value->members[i].name);
				encode_one(field, ENTRY_VALUE, value->members[i].value, out);
				bt_wire_close(out, entry);
			}
		}
		break;
	}
}

/*
 * Writes the message's fields. slots has an entry for each place of the message: the index of the
 * member in object plus 1, or 0 if there is no member. object also has the members of inline
 * messages.
 */
static void encode_places(const struct bt_schema_message *message,
	const struct bt_json_value *object, const uint32_t *slots, struct bt_strbuf *out)
{
	uint32_t base = message->field_count;

	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			uint32_t count = field->message->place_count;
			bool is_empty = true;
			for (uint32_t j = 0; j < count; j++) {
				is_empty = is_empty && slots[base + j] == 0;
			}
			if (!is_empty) {
				size_t box = bt_wire_open(out, field->number);
				encode_places(field->message, object, &slots[base], out);
				bt_wire_close(out, box);
			}
			base += count;
		} else if (slots[i] != 0) {
			encode_field(field, object->members[slots[i] - 1].value, out);
		}
	}
}

static void encode_message(const struct bt_schema_message *message,
	const struct bt_json_value *object, struct bt_strbuf *out)
{
	uint32_t slots[BT_SCHEMA_PLACES_MAX];

	memset(slots, 0, message->place_count * sizeof(slots[0]));
	for (uint32_t i = 0; i < object->count; i++) {
		struct bt_schema_place place;
		if (bt_schema_locate(message, object->members[i].name, &place)) {
			slots[place.index] = i + 1;
		}
	}
	encode_places(message, object, slots, out);
}

void bt_schema_encode_protobuf(const struct bt_schema_message *message,
	const struct bt_json_value *object, struct bt_strbuf *out)
{
	if (object->type == BT_JSON_OBJECT) {
		encode_message(message, object, out);
	}
}

/* Field numbers of the envelope message Unknown and of its TypeMeta. */
enum {
	UNKNOWN_TYPE_META = 1,
	UNKNOWN_RAW = 2,
	UNKNOWN_CONTENT_ENCODING = 3,
	UNKNOWN_CONTENT_TYPE = 4,
	TYPE_META_API_VERSION = 1,
	TYPE_META_KIND = 2,
};

static const char magic[] = {'k', '8', 's', 0};

static struct bt_str or_empty(struct bt_str text)
{
	return text.data != NULL ? text : BT_STR("");
}

int bt_envelope_decode(
	struct bt_str bytes, struct bt_envelope *out_envelope, struct berth_error *err)
{
	struct bt_wire_fields unknown;
	struct bt_wire_fields type_meta;

	if (bytes.length < sizeof(magic) || memcmp(bytes.data, magic, sizeof(magic)) != 0) {
		return bt_error_set(err, BERTH_ERR_SYNTAX,
			"provided data does not appear to be a protobuf message, expected prefix "
			"[107 56 115 0]");
	}
	int code =
		bt_wire_read_fields(bt_str_sub(bytes, sizeof(magic), bytes.length), &unknown, err);
	if (code == 0) {
		code = bt_wire_read_fields(unknown.texts[UNKNOWN_TYPE_META], &type_meta, err);
	}
	if (code != 0) {
		return code;
	}
	out_envelope->api_version = or_empty(type_meta.texts[TYPE_META_API_VERSION]);
	out_envelope->kind = or_empty(type_meta.texts[TYPE_META_KIND]);
	out_envelope->raw = or_empty(unknown.texts[UNKNOWN_RAW]);
	return 0;
}

void bt_envelope_encode(const struct bt_envelope *envelope, struct bt_strbuf *out)
{
	bt_strbuf_append(out, magic, sizeof(magic));
	size_t type_meta = bt_wire_open(out, UNKNOWN_TYPE_META);
	bt_wire_write_bytes(out, TYPE_META_API_VERSION, envelope->api_version);
	bt_wire_write_bytes(out, TYPE_META_KIND, envelope->kind);
	bt_wire_close(out, type_meta);
	bt_wire_write_bytes(out, UNKNOWN_RAW, envelope->raw);
	bt_wire_write_bytes(out, UNKNOWN_CONTENT_ENCODING, BT_STR(""));
	bt_wire_write_bytes(out, UNKNOWN_CONTENT_TYPE, BT_STR(""));
}

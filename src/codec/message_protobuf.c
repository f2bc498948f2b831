/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/message.h"

#include "codec/message_layout.h"
#include "codec/path.h"
#include "codec/wire.h"

/** Nesting limit of messages; only tables that contain themselves can exceed it. */
#define DEPTH_MAX 100

/** Field numbers of a map entry. */
enum {
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
};

struct decoder {
	struct bt_arena *arena;
	size_t item_bytes_left; /* remaining part of BT_MESSAGE_ITEM_BYTES_MAX */
	uint32_t depth;
	struct berth_error *err; /* the function in which the error occurs adds the path */
};

BT_COLD static int wrong_type(struct decoder *decoder, uint32_t wire_type)
{
	return bt_error_set(
		decoder->err, BERTH_ERR_SYNTAX, "proto: wrong wireType = %u", (unsigned)wire_type);
}

static int decode_members(struct decoder *decoder, const struct bt_message *message,
	struct bt_str bytes, void *out, const struct bt_path *path);

static inline int read_varint(struct decoder *decoder, struct bt_wire *wire, uint64_t *out_value)
{
	if (BT_LIKELY(wire->at < wire->end && *wire->at < 0x80)) {
		*out_value = *wire->at++;
		return 0;
	}
	return bt_wire_read_varint(wire, out_value, decoder->err);
}

static inline int read_tag(
	struct decoder *decoder, struct bt_wire *wire, uint32_t *out_number, uint32_t *out_type)
{
	if (BT_LIKELY(wire->at < wire->end && *wire->at < 0x80 && *wire->at >= 8)) {
		*out_number = *wire->at >> 3;
		*out_type = *wire->at & 7;
		wire->at++;
		return 0;
	}
	return bt_wire_read_tag(wire, out_number, out_type, decoder->err);
}

static inline int read_bytes(struct decoder *decoder, struct bt_wire *wire, struct bt_str *out)
{
	if (BT_LIKELY(
		    wire->at < wire->end && *wire->at < 0x80 && *wire->at < wire->end - wire->at)) {
		uint32_t length = *wire->at++;
		*out = (struct bt_str){(const char *)wire->at, length};
		wire->at += length;
		return 0;
	}
	return bt_wire_read_bytes(wire, out, decoder->err);
}

static inline int skip(
	struct decoder *decoder, struct bt_wire *wire, uint32_t number, uint32_t type)
{
	struct bt_str bytes;
	if (type == BT_WIRE_BYTES) {
		return read_bytes(decoder, wire, &bytes);
	}
	return bt_wire_skip(wire, number, type, decoder->err);
}

static bool is_varint(const struct bt_field *field)
{
	return field->type == BT_FIELD_BOOL || field->type == BT_FIELD_I32 ||
		field->type == BT_FIELD_I64;
}

/** Returns whether the field is a list of varints, which may be encoded packed. */
static bool is_varint_list(const struct bt_field *field)
{
	return field->shape == BT_SHAPE_LIST && is_varint(field);
}

static int keep_text(struct decoder *decoder, struct bt_str bytes, struct bt_str *out)
{
	if (bytes.length > BT_JSON_STRING_BYTES_MAX) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
			"value of %u bytes is longer than %u", bytes.length,
			BT_JSON_STRING_BYTES_MAX);
	}
	*out = bytes.length == 0 ? BT_STR("") : bt_arena_str(decoder->arena, bytes);
	return 0;
}

static int decode_str(struct decoder *decoder, struct bt_str bytes, void *out)
{
	struct bt_str text;
	int code = keep_text(decoder, bytes, &text);
	if (code == 0) {
		bt_store_str(out, text);
	}
	return code;
}

/**
 * Decodes a message of type RawExtension or JSON. Its only field has the number 1 and must be the
 * text of a JSON value; if the field is absent or empty, out is unchanged.
 */
static int decode_raw(struct decoder *decoder, struct bt_str bytes, void *out)
{
	struct bt_wire_fields fields;
	int code = bt_wire_read_fields(bytes, &fields, decoder->err);
	if (code != 0 || fields.texts[1].length == 0) {
		return code;
	}
	struct bt_json_reader reader;
	struct bt_str json;
	enum bt_json_type type;
	bt_json_reader_init(&reader, fields.texts[1]);
	code = bt_json_peek(&reader, &type, decoder->err);
	if (code == 0) {
		code = bt_json_skip(&reader, &json, decoder->err);
	}
	if (code == 0) {
		code = bt_json_expect_end(&reader, decoder->err);
	}
	if (code != 0 || type == BT_JSON_NULL) {
		return code;
	}
	return decode_str(decoder, json, out);
}

/** Decodes a length-delimited value. out is zeroed or has the value of an earlier duplicate. */
static int decode_bytes(struct decoder *decoder, const struct bt_field *field, struct bt_str bytes,
	void *out, const struct bt_path *path)
{
	int code = 0;
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
		code = decode_str(decoder, bytes, out);
		break;
	case BT_FIELD_MESSAGE:
		/* decode_members adds the paths to its errors */
		return decode_members(decoder, field->message, bytes, out, path);
	case BT_FIELD_SCALAR:
		code = field->scalar->decode_protobuf(
			field->scalar, bytes, decoder->arena, out, decoder->err);
		break;
	case BT_FIELD_RAW_JSON:
		code = decode_raw(decoder, bytes, out);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		break;
	}
	return code == 0 ? 0 : bt_path_fail(path, code, decoder->err);
}

/** Decodes the value after a tag. */
static int decode_value(struct decoder *decoder, const struct bt_field *field, struct bt_wire *wire,
	uint32_t type, void *out, const struct bt_path *path)
{
	bool varint = is_varint(field);
	uint64_t number;
	struct bt_str bytes;
	int code;
	if (type != (varint ? BT_WIRE_VARINT : BT_WIRE_BYTES)) {
		code = wrong_type(decoder, type);
	} else if (varint) {
		code = read_varint(decoder, wire, &number);
		if (code == 0) {
			bt_store_number(field, out, (int64_t)number);
		}
	} else {
		code = read_bytes(decoder, wire, &bytes);
		if (code == 0) {
			return decode_bytes(decoder, field, bytes, out, path);
		}
	}
	return code == 0 ? 0 : bt_path_fail(path, code, decoder->err);
}

static int decode_nullable(struct decoder *decoder, const struct bt_field *field,
	struct bt_wire *wire, uint32_t type, void *out, const struct bt_path *path)
{
	struct bt_str bytes;
	if (is_varint(field)) {
		return decode_value(decoder, field, wire, type,
			bt_nullable_place(field, out, decoder->arena), path);
	}
	int code = type == BT_WIRE_BYTES ? read_bytes(decoder, wire, &bytes)
					 : wrong_type(decoder, type);
	if (code != 0) {
		return bt_path_fail(path, code, decoder->err);
	}
	if ((field->flags & BT_FIELD_INLINE) != 0 && bytes.length == 0) {
		return 0; /* absent, as in JSON, which has no member for an empty inline message */
	}
	void *value = bt_nullable_place(field, out, decoder->arena);
	code = decode_bytes(decoder, field, bytes, value, path);
	if (code == 0 && field->type == BT_FIELD_SCALAR && field->scalar->zero_is_null &&
		field->scalar->is_zero(value)) {
		bt_store_pointer(out, NULL);
	}
	return code;
}

struct run {
	uint32_t elements; /* consecutive values with one tag */
	uint32_t items;    /* list items in these values: a packed value has several */
};

/**
 * Counts the consecutive values with the same tag; wire is behind the first tag. A malformed value
 * ends the run before that value.
 */
static struct run count_run(
	const struct bt_field *field, struct bt_wire wire, uint32_t number, uint32_t type)
{
	struct run run = {0, 0};
	for (;;) {
		uint32_t next_number;
		uint32_t next_type;
		struct bt_str bytes;
		uint64_t value;
		uint32_t items = 1;
		if (type == BT_WIRE_BYTES) {
			if (bt_wire_read_bytes(&wire, &bytes, NULL) != 0) {
				return run;
			}
			if (is_varint_list(field)) { /* count the varints of a packed value */
				items = 0;
				for (uint32_t i = 0; i < bytes.length; i++) {
					items += (unsigned char)bytes.data[i] < 0x80;
				}
			}
		} else if (bt_wire_read_varint(&wire, &value, NULL) != 0) {
			return run;
		}
		run.elements++;
		run.items += items;
		if (wire.at == wire.end ||
			bt_wire_read_tag(&wire, &next_number, &next_type, NULL) != 0 ||
			next_number != number || next_type != type) {
			return run;
		}
	}
}

/**
 * Moves the list to new memory with zeroed room for `more` items. The whole new list counts against
 * the memory limit, because the old list stays allocated in the arena.
 */
static int make_room(struct decoder *decoder, const struct bt_field *field,
	struct bt_any_list *list, uint32_t more)
{
	uint64_t bytes = ((uint64_t)list->count + more) * field->item_size;
	if (bytes > decoder->item_bytes_left) {
		return bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE,
			"list elements and map entries need more than %u bytes",
			BT_MESSAGE_ITEM_BYTES_MAX);
	}
	decoder->item_bytes_left -= bytes;
	if (bytes == 0) {
		return 0;
	}
	char *items = bt_arena_calloc(decoder->arena, 1, bytes);
	if (list->count != 0) {
		memcpy(items, list->items, (size_t)list->count * field->item_size);
	}
	list->items = items;
	return 0;
}

static void *item_at(const struct bt_field *field, const struct bt_any_list *list, uint32_t i)
{
	return (char *)list->items + (size_t)i * field->item_size;
}

/**
 * Decodes a map entry, whose fields are ENTRY_KEY and ENTRY_VALUE. An absent key is "", an absent
 * value is zero.
 */
static int decode_entry(struct decoder *decoder, const struct bt_field *field, struct bt_wire *wire,
	void *entry, const struct bt_path *path)
{
	struct bt_str key = BT_STR("");
	struct bt_str bytes;
	struct bt_path item_path = {.parent = path, .step = BT_STEP_KEY};
	int code = read_bytes(decoder, wire, &bytes);
	struct bt_wire inner = bt_wire_from(code == 0 ? bytes : BT_STR(""));
	while (code == 0 && inner.at < inner.end) {
		uint32_t number;
		uint32_t type;
		code = read_tag(decoder, &inner, &number, &type);
		if (code != 0) {
			break;
		}
		if (number == ENTRY_KEY && type == BT_WIRE_BYTES) {
			code = read_bytes(decoder, &inner, &key);
		} else if (number == ENTRY_VALUE) {
			item_path.name = key;
			code = decode_value(decoder, field, &inner, type,
				bt_field_at(entry, field->value_offset), &item_path);
			if (code != 0) {
				return code;
			}
		} else {
			code = skip(decoder, &inner, number, type);
		}
	}
	if (code == 0) {
		code = keep_text(decoder, key, &key);
	}
	if (code != 0) {
		return bt_path_fail(path, code, decoder->err);
	}
	bt_store_str(entry, key);
	return 0;
}

static int decode_element(struct decoder *decoder, const struct bt_field *field,
	struct bt_wire *wire, uint32_t type, struct bt_any_list *list, const struct bt_path *path)
{
	struct bt_path item_path = {.parent = path, .step = BT_STEP_INDEX, .index = list->count};
	if (type == BT_WIRE_BYTES && is_varint_list(field)) {
		struct bt_str bytes;
		int code = read_bytes(decoder, wire, &bytes);
		struct bt_wire packed = bt_wire_from(code == 0 ? bytes : BT_STR(""));
		while (code == 0 && packed.at < packed.end) {
			uint64_t number;
			code = read_varint(decoder, &packed, &number);
			if (code == 0) {
				bt_store_number(field, item_at(field, list, list->count++),
					(int64_t)number);
			}
		}
		return code == 0 ? 0 : bt_path_fail(path, code, decoder->err);
	}
	void *item = item_at(field, list, list->count);
	list->count++;
	return field->shape == BT_SHAPE_MAP
		? decode_entry(decoder, field, wire, item, path)
		: decode_value(decoder, field, wire, type, item, &item_path);
}

/** Decodes the run of elements or entries that begins here; wire is behind the first tag. */
static int decode_run(struct decoder *decoder, const struct bt_field *field, struct bt_wire *wire,
	uint32_t type, void *out, const struct bt_path *path)
{
	struct bt_any_list list = bt_load_list(out);
	uint32_t number = field->number;
	if (type != BT_WIRE_BYTES && !(type == BT_WIRE_VARINT && is_varint_list(field))) {
		return bt_path_fail(path, wrong_type(decoder, type), decoder->err);
	}
	struct run run = count_run(field, *wire, number, type);
	int code = run.elements == 0 ? skip(decoder, wire, number, type)
				     : make_room(decoder, field, &list, run.items);
	for (uint32_t i = 0; code == 0 && i < run.elements; i++) {
		if (i != 0) {
			code = read_tag(decoder, wire, &number, &type);
		}
		if (code == 0) {
			code = decode_element(decoder, field, wire, type, &list, path);
			if (code != 0) {
				return code;
			}
		}
	}
	if (code != 0) {
		return bt_path_fail(path, code, decoder->err);
	}
	list.present = list.present || list.count != 0;
	if (field->shape == BT_SHAPE_MAP) {
		bt_sort_entries(&list, field->item_size);
	}
	bt_store_list(out, list);
	return 0;
}

/**
 * Returns the row for a field number, or NULL if there is none. wrapped is as in decode_rows. The
 * search begins at index *hint, which is then set to the index found, because field numbers mostly
 * ascend in the input and in tables.
 */
static const struct bt_field *find_row(
	const struct bt_message *message, uint32_t number, uint32_t wrapped, uint32_t *hint)
{
	const struct bt_field *fields = message->fields;
	uint32_t i = *hint;
	for (uint32_t left = message->field_count; left > 0; left--, i++) {
		if (i == message->field_count) {
			i = 0;
		}
		if (fields[i].number == number && (fields[i].flags & BT_FIELD_WRAPPED) == wrapped) {
			*hint = i;
			return &fields[i];
		}
	}
	return NULL;
}

/**
 * Decodes the fields of a message. wrapped is BT_FIELD_WRAPPED if bytes are the content of the
 * wrapper, and 0 if bytes are the message itself.
 */
static int decode_rows(struct decoder *decoder, const struct bt_message *message,
	struct bt_str bytes, uint32_t wrapped, void *out, const struct bt_path *path)
{
	struct bt_wire wire = bt_wire_from(bytes);
	uint32_t hint = 0;
	while (wire.at < wire.end) {
		uint32_t number;
		uint32_t type;
		int code = read_tag(decoder, &wire, &number, &type);
		if (code != 0) {
			return bt_path_fail(path, code, decoder->err);
		}
		const struct bt_field *field = find_row(message, number, wrapped, &hint);
		if (field == NULL && wrapped == 0 && number == message->wrapper) {
			struct bt_str inner;
			code = type == BT_WIRE_BYTES ? read_bytes(decoder, &wire, &inner)
						     : wrong_type(decoder, type);
			if (code != 0) {
				return bt_path_fail(path, code, decoder->err);
			}
			code = decode_rows(decoder, message, inner, BT_FIELD_WRAPPED, out, path);
		} else if (field == NULL) {
			code = skip(decoder, &wire, number, type);
			if (code != 0) {
				return bt_path_fail(path, code, decoder->err);
			}
		} else {
			struct bt_path field_path = {
				.parent = path,
				.step = BT_STEP_MEMBER,
				.name = {field->name, field->name_length},
			};
			const struct bt_path *here =
				(field->flags & BT_FIELD_INLINE) != 0 ? path : &field_path;
			void *member = bt_field_at(out, field->offset);
			if (field->shape == BT_SHAPE_SINGLE) {
				code = decode_value(decoder, field, &wire, type, member, here);
			} else if (field->shape == BT_SHAPE_NULLABLE) {
				code = decode_nullable(decoder, field, &wire, type, member, here);
			} else {
				code = decode_run(decoder, field, &wire, type, member, here);
			}
		}
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

static int decode_members(struct decoder *decoder, const struct bt_message *message,
	struct bt_str bytes, void *out, const struct bt_path *path)
{
	if (decoder->depth == DEPTH_MAX) {
		return bt_path_fail(path,
			bt_error_set(decoder->err, BERTH_ERR_TOO_LARGE, "exceeded max depth"),
			decoder->err);
	}
	decoder->depth++;
	int code = decode_rows(decoder, message, bytes, 0, out, path);
	decoder->depth--;
	return code;
}

int bt_message_decode_protobuf(const struct bt_message *message, struct bt_str bytes,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct decoder decoder = {
		.arena = arena,
		.item_bytes_left = BT_MESSAGE_ITEM_BYTES_MAX,
		.err = err,
	};
	return decode_members(&decoder, message, bytes, out, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed form of a message: for each non-zero field the index in the table plus one, then the
 * value; at the end a 0. Numbers are varints; texts are length plus one (0: absent) and bytes.
 */
#include "codec/message_pack.h"

#include "base/assert.h"
#include "codec/message_layout.h"
#include "codec/wire.h"

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

static void pack_str(struct bt_str text, struct bt_strbuf *out)
{
	bt_wire_write_varint(out, text.data != NULL ? (uint64_t)text.length + 1 : 0);
	bt_strbuf_append_str(out, text);
}

/**
 * Packs a value of a plain type as 64-bit words. For other types, packs 0 and the numbers if
 * to_numbers succeeds, else the length of the JSON text plus one and the text.
 */
static void pack_scalar(
	const struct bt_scalar_type *scalar, const void *value, struct bt_strbuf *out)
{
	int64_t numbers[BT_SCALAR_NUMBERS];
	struct bt_json_writer writer;
	struct bt_strbuf text = {0};

	if (scalar->plain) {
		for (uint32_t at = 0; at < scalar->size; at += (uint32_t)sizeof(uint64_t)) {
			uint64_t word;
			memcpy(&word, (const char *)value + at, sizeof(word));
			bt_wire_write_varint(out, word);
		}
		return;
	}
	if (scalar->to_numbers != NULL && scalar->to_numbers(value, numbers)) {
		bt_wire_write_varint(out, 0);
		for (uint32_t i = 0; i < BT_SCALAR_NUMBERS; i++) {
			bt_wire_write_varint(out, zigzag(numbers[i]));
		}
		return;
	}
	bt_json_writer_init(&writer, &text, 0);
	scalar->encode_json(scalar, &writer, value);
	pack_str(bt_strbuf_str(&text), out);
	bt_strbuf_finish(&text);
}

static void pack_value(const struct bt_field *field, const void *value, struct bt_strbuf *out)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		pack_str(bt_load_str(value), out);
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		bt_wire_write_varint(out, zigzag(bt_load_number(field, value)));
		break;
	case BT_FIELD_MESSAGE:
		bt_message_pack(field->message, value, out);
		break;
	case BT_FIELD_SCALAR:
		pack_scalar(field->scalar, value, out);
		break;
	}
}

/**
 * Returns whether the value of a single field is omitted. Messages are never omitted, because an
 * empty message takes few bytes.
 */
static bool is_zero(const struct bt_field *field, const void *value)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		return bt_load_str(value).data == NULL;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		return bt_load_number(field, value) == 0;
	case BT_FIELD_MESSAGE:
		return false;
	case BT_FIELD_SCALAR:
		return field->scalar->is_zero(value) && field->scalar->plain;
	}
	return false;
}

static void pack_field(
	const struct bt_field *field, uint32_t index, const void *member, struct bt_strbuf *out)
{
	const void *value = member;

	switch ((enum bt_field_shape)field->shape) {
	case BT_SHAPE_SINGLE:
		value = is_zero(field, member) ? NULL : member;
		break;
	case BT_SHAPE_NULLABLE:
		value = bt_nullable_value(field, member);
		break;
	case BT_SHAPE_LIST:
	case BT_SHAPE_MAP:
		if (bt_load_list(member).count != 0 || bt_load_list(member).present) {
			struct bt_any_list list = bt_load_list(member);

			bt_wire_write_varint(out, (uint64_t)index + 1);
			bt_wire_write_varint(
				out, (uint64_t)list.count << 1 | (list.present ? 1 : 0));
			for (uint32_t i = 0; i < list.count; i++) {
				const void *item = bt_list_item(field, &list, i);
				if (field->shape == BT_SHAPE_MAP) {
					pack_str(bt_load_str(item), out);
				}
				pack_value(field, bt_const_field_at(item, bt_value_offset(field)),
					out);
			}
		}
		return;
	}
	if (value != NULL) {
		bt_wire_write_varint(out, (uint64_t)index + 1);
		pack_value(field, value, out);
	}
}

void bt_message_pack(const struct bt_message *message, const void *value, struct bt_strbuf *out)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_field *field = &message->fields[i];
		pack_field(field, i, bt_const_field_at(value, field->offset), out);
	}
	bt_wire_write_varint(out, 0);
}

static void unpack_message(
	const struct bt_message *message, struct bt_wire *wire, struct bt_arena *arena, void *out);

static uint64_t unpack_number(struct bt_wire *wire)
{
	uint64_t value = 0;
	int code = bt_wire_read_varint(wire, &value, NULL);

	BT_ASSERT(code == 0);
	return value;
}

/** Returns a text borrowed from the packed bytes. */
static struct bt_str peek_str(struct bt_wire *wire)
{
	uint64_t length = unpack_number(wire);
	struct bt_str text = {NULL, 0};

	if (length != 0) {
		text = (struct bt_str){(const char *)wire->at, (uint32_t)(length - 1)};
		BT_ASSERT(length - 1 <= (uint64_t)(wire->end - wire->at));
		wire->at += length - 1;
	}
	return text;
}

static void unpack_scalar(const struct bt_scalar_type *scalar, struct bt_wire *wire,
	struct bt_arena *arena, void *out)
{
	struct bt_json_reader reader;
	struct bt_str json;

	if (scalar->plain) {
		for (uint32_t at = 0; at < scalar->size; at += (uint32_t)sizeof(uint64_t)) {
			uint64_t word = unpack_number(wire);
			memcpy((char *)out + at, &word, sizeof(word));
		}
		return;
	}
	json = peek_str(wire);
	if (json.data == NULL) {
		int64_t numbers[BT_SCALAR_NUMBERS];

		for (uint32_t i = 0; i < BT_SCALAR_NUMBERS; i++) {
			numbers[i] = unzigzag(unpack_number(wire));
		}
		scalar->from_numbers(numbers, out);
		return;
	}
	bt_json_reader_init(&reader, bt_arena_str(arena, json));
	int code = scalar->decode_json(scalar, &reader, arena, out, NULL);
	BT_ASSERT(code == 0);
}

/** Unpacks a value into out, which must be zeroed and have the field's type. */
static void unpack_value(
	const struct bt_field *field, struct bt_wire *wire, struct bt_arena *arena, void *out)
{
	switch ((enum bt_field_type)field->type) {
	case BT_FIELD_STR:
	case BT_FIELD_RAW_JSON:
		bt_store_str(out, bt_arena_str(arena, peek_str(wire)));
		break;
	case BT_FIELD_BOOL:
	case BT_FIELD_I32:
	case BT_FIELD_I64:
		bt_store_number(field, out, unzigzag(unpack_number(wire)));
		break;
	case BT_FIELD_MESSAGE:
		unpack_message(field->message, wire, arena, out);
		break;
	case BT_FIELD_SCALAR:
		unpack_scalar(field->scalar, wire, arena, out);
		break;
	}
}

static void unpack_message(
	const struct bt_message *message, struct bt_wire *wire, struct bt_arena *arena, void *out)
{
	for (uint64_t tag = unpack_number(wire); tag != 0; tag = unpack_number(wire)) {
		BT_ASSERT(tag <= message->field_count);
		const struct bt_field *field = &message->fields[tag - 1];
		void *member = bt_field_at(out, field->offset);
		struct bt_any_list list;
		uint64_t head;
		switch ((enum bt_field_shape)field->shape) {
		case BT_SHAPE_SINGLE:
			unpack_value(field, wire, arena, member);
			break;
		case BT_SHAPE_NULLABLE:
			member = bt_nullable_place(field, member, arena);
			unpack_value(field, wire, arena, member);
			break;
		case BT_SHAPE_LIST:
		case BT_SHAPE_MAP:
			head = unpack_number(wire);
			list = (struct bt_any_list){
				.count = (uint32_t)(head >> 1), .present = (head & 1) != 0};
			if (list.count != 0) {
				list.items = bt_arena_calloc(arena, list.count, field->item_size);
			}
			for (uint32_t i = 0; i < list.count; i++) {
				char *item = (char *)list.items + (size_t)i * field->item_size;
				if (field->shape == BT_SHAPE_MAP) {
					bt_store_str(item, bt_arena_str(arena, peek_str(wire)));
				}
				unpack_value(field, wire, arena, item + bt_value_offset(field));
			}
			bt_store_list(member, list);
			break;
		}
	}
}

void bt_message_unpack(
	const struct bt_message *message, struct bt_str bytes, struct bt_arena *arena, void *out)
{
	struct bt_wire wire = bt_wire_from(bytes);

	memset(out, 0, message->size);
	unpack_message(message, &wire, arena, out);
	BT_ASSERT(wire.at == wire.end);
}

/*
 * A delta is a sequence of literal bytes and copies of parts of the base. Literal bytes are stored
 * as their length and the bytes. A copy is stored as its position in the base, relative to the
 * expected position, and its length. The delta may end before a copy. The expected position is the
 * end of the last copy plus the length of the literal bytes after that copy, because the literal
 * bytes often replace a value of equal length in the base.
 */

/** Minimum bytes of a copy; a shorter copy takes as much memory as its literal bytes. */
#define COPY_MIN 8

/** The index of base positions has 1 << INDEX_BITS entries. */
#define INDEX_BITS 10

static uint32_t index_of(const char *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return (uint32_t)(word * UINT64_C(0x9e3779b97f4a7c15) >> (64 - INDEX_BITS));
}

/**
 * Only every INDEX_STEP-th position of the base is in the index. A copy that begins between two of
 * these positions is found at the second position, if it is long enough, and extended to the front.
 */
#define INDEX_STEP 4

/** Returns how many bytes of base, beginning at `from`, equal the bytes beginning at `at`. */
static uint32_t count_equal(struct bt_str base, uint32_t from, struct bt_str bytes, uint32_t at)
{
	uint32_t left = base.length < from ? 0 : base.length - from;
	uint32_t max = left < bytes.length - at ? left : bytes.length - at;
	uint32_t count = 0;

	/* whole words first */
	while (count + sizeof(uint64_t) <= max &&
		memcmp(base.data + from + count, bytes.data + at + count, sizeof(uint64_t)) == 0) {
		count += (uint32_t)sizeof(uint64_t);
	}
	while (count < max && base.data[from + count] == bytes.data[at + count]) {
		count++;
	}
	return count;
}

static void pack_literal(struct bt_str bytes, uint32_t from, uint32_t to, struct bt_strbuf *out)
{
	bt_wire_write_varint(out, to - from);
	bt_strbuf_append(out, bytes.data + from, to - from);
}

void bt_delta_encode(struct bt_str base, struct bt_str bytes, struct bt_strbuf *out)
{
	/*
	 * The entry at the hash of COPY_MIN bytes is one plus the last indexed position whose bytes
	 * have that hash; 0 if there is none.
	 */
	uint16_t index[1 << INDEX_BITS];
	bool has_index = false;
	uint32_t literal = 0;  /* begin of the literal bytes before `at` */
	uint32_t expected = 0; /* position in base where a copy at `literal` probably begins */
	uint32_t at = 0;

	base.length = BT_MIN(base.length, BT_DELTA_BASE_BYTES_MAX);
	while (at + COPY_MIN <= bytes.length) {
		uint32_t from = expected + (at - literal);
		uint32_t length = count_equal(base, from, bytes, at);

		if (length < COPY_MIN) {
			if (!has_index) {
				memset(index, 0, sizeof(index));
				for (uint32_t i = 0; i + COPY_MIN <= base.length; i += INDEX_STEP) {
					index[index_of(base.data + i)] = (uint16_t)(i + 1);
				}
				has_index = true;
			}
			uint32_t found = index[index_of(bytes.data + at)];
			from = found != 0 ? found - 1 : 0;
			length = found != 0 ? count_equal(base, from, bytes, at) : 0;
			/* the index may have missed the copy's first bytes */
			while (length >= COPY_MIN && from > 0 && at > literal &&
				base.data[from - 1] == bytes.data[at - 1]) {
				from--;
				at--;
				length++;
			}
		}
		if (length < COPY_MIN) {
			at++;
			continue;
		}
		pack_literal(bytes, literal, at, out);
		bt_wire_write_varint(out, zigzag((int64_t)from - (expected + (at - literal))));
		bt_wire_write_varint(out, length);
		at += length;
		literal = at;
		expected = from + length;
	}
	if (literal < bytes.length) {
		pack_literal(bytes, literal, bytes.length, out);
	}
}

void bt_delta_decode(struct bt_str base, struct bt_str delta, struct bt_strbuf *out)
{
	struct bt_wire wire = bt_wire_from(delta);
	int64_t expected = 0;

	while (wire.at != wire.end) {
		struct bt_str literal = {NULL, 0};
		int code = bt_wire_read_bytes(&wire, &literal, NULL);

		BT_ASSERT(code == 0);
		bt_strbuf_append_str(out, literal);
		expected += literal.length;
		if (wire.at != wire.end) {
			expected += unzigzag(unpack_number(&wire));
			uint32_t length = (uint32_t)unpack_number(&wire);
			BT_ASSERT(expected >= 0 && (uint64_t)expected + length <= base.length);
			bt_strbuf_append(out, base.data + expected, length);
			expected += length;
		}
	}
}

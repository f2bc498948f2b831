/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity.h"
#include "api/quantity_decimal.h"
#include "codec/wire.h"

/* Quantity as a field type: JSON, equality, hash, copy. */

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/** Parses the source text of a JSON string or number; escapes are not decoded. */
static int decode_json(
	struct bt_json_reader *reader, struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_quantity *quantity = out;
	struct bt_str text;
	int code = bt_json_skip(reader, &text, err);

	if (code != 0) {
		return code;
	}
	if (text.length >= 2 && text.data[0] == '"') {
		text = bt_str_sub(text, 1, text.length - 2);
	}
	while (text.length != 0 && is_space(text.data[0])) {
		text = bt_str_sub(text, 1, text.length - 1);
	}
	while (text.length != 0 && is_space(text.data[text.length - 1])) {
		text.length--;
	}
	code = bt_quantity_parse(text, arena, quantity, err);
	if (code == 0 && quantity->text.data != NULL) {
		quantity->text = bt_arena_str(arena, quantity->text);
	}
	return code;
}

/** Decodes Quantity {string 1}; without the field the quantity is 0. */
static int decode_protobuf(
	struct bt_str bytes, struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_wire wire = bt_wire_from(bytes);
	struct bt_quantity quantity = {.mantissa = 0};
	struct bt_str text = {0};

	while (wire.at < wire.end) {
		uint32_t number;
		uint32_t type;
		int code = bt_wire_read_tag(&wire, &number, &type, err);

		if (code == 0) {
			code = number == 1 && type == BT_WIRE_BYTES
				? bt_wire_read_bytes(&wire, &text, err)
				: bt_wire_skip(&wire, number, type, err);
		}
		if (code != 0) {
			return code;
		}
	}
	if (text.length != 0) {
		int code = bt_quantity_parse(text, arena, &quantity, err);

		if (code != 0) {
			return code;
		}
	}
	if (quantity.text.data != NULL) {
		quantity.text = bt_arena_str(arena, quantity.text);
	}
	*(struct bt_quantity *)out = quantity;
	return 0;
}

static void encode_json(struct bt_json_writer *writer, const void *value)
{
	struct bt_strbuf text = {NULL, 0, 0};

	bt_quantity_format(value, &text);
	bt_json_write_str(writer, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
}

static bool is_zero(const void *value)
{
	return bt_quantity_is_zero(value);
}

static bool equal(const void *a, const void *b)
{
	return bt_quantity_compare(a, b) == 0;
}

/** Hashes by value: "1" and "1000m" have equal hashes. */
static uint64_t hash(uint64_t seed, const void *value)
{
	const struct bt_quantity *quantity = value;
	struct bt_decimal decimal;

	if (quantity->big == NULL) {
		int64_t mantissa = quantity->mantissa;
		int64_t scale = -(int64_t)quantity->exponent;
		uint64_t bits;

		if (mantissa == 0) {
			return bt_hash_u64(seed, 0);
		}
		while (mantissa % 10 == 0) {
			mantissa /= 10;
			scale--;
		}
		bits = (uint64_t)mantissa;
		seed = bt_hash_u64(bt_hash_u64(seed, mantissa < 0), (uint64_t)scale);
		bits = mantissa < 0 ? 0 - bits : bits;
		seed = bt_hash_u64(seed, (uint32_t)bits);
		return bits >> 32 != 0 ? bt_hash_u64(seed, bits >> 32) : seed;
	}
	bt_decimal_load(&decimal, quantity);
	bt_decimal_normalise(&decimal);
	if (bt_wide_is_zero(&decimal.magnitude)) {
		return bt_hash_u64(seed, 0);
	}
	seed = bt_hash_u64(bt_hash_u64(seed, decimal.negative), (uint64_t)decimal.scale);
	for (uint32_t i = 0; i < decimal.magnitude.count; i++) {
		seed = bt_hash_u64(seed, decimal.magnitude.limbs[i]);
	}
	return seed;
}

static void copy(void *out, const void *value, struct bt_arena *arena)
{
	struct bt_quantity *quantity = out;

	*quantity = *(const struct bt_quantity *)value;
	if (quantity->text.data != NULL) {
		quantity->text = bt_arena_str(arena, quantity->text);
	}
	if (quantity->big != NULL) {
		struct bt_decimal decimal;

		bt_decimal_load(&decimal, quantity);
		quantity->big = bt_decimal_store(&decimal, arena);
	}
}

const struct bt_scalar_type bt_quantity_scalar = {
	.name = "quantity",
	.size = (uint32_t)sizeof(struct bt_quantity),
	.decode_json = decode_json,
	.encode_json = encode_json,
	.decode_protobuf = decode_protobuf,
	.is_zero = is_zero,
	.equal = equal,
	.hash = hash,
	.copy = copy,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity.h"

#include "api/quantity_decimal.h"
#include "base/vec.h"
#include "codec/wire.h"

/* Powers of ten within int64. */
static const int64_t powers10[] = {
	INT64_C(1),
	INT64_C(10),
	INT64_C(100),
	INT64_C(1000),
	INT64_C(10000),
	INT64_C(100000),
	INT64_C(1000000),
	INT64_C(10000000),
	INT64_C(100000000),
	INT64_C(1000000000),
	INT64_C(10000000000),
	INT64_C(100000000000),
	INT64_C(1000000000000),
	INT64_C(10000000000000),
	INT64_C(100000000000000),
	INT64_C(1000000000000000),
	INT64_C(10000000000000000),
	INT64_C(100000000000000000),
	INT64_C(1000000000000000000),
};

struct bt_quantity bt_quantity_make(int64_t value, int32_t exponent, enum bt_quantity_format format)
{
	struct bt_quantity quantity = {
		.mantissa = value, .exponent = exponent, .format = (uint8_t)format};

	return quantity;
}

bool bt_quantity_is_zero(const struct bt_quantity *quantity)
{
	return quantity->big == NULL ? quantity->mantissa == 0 : quantity->big->limb_count == 0;
}

static int64_t to_int64(const struct bt_quantity *quantity, int32_t target)
{
	if (BT_UNLIKELY(quantity->big != NULL)) {
		return bt_big_decimal_to_int64(quantity->big, target);
	}
	int64_t mantissa = quantity->mantissa;
	int64_t difference = (int64_t)quantity->exponent - target;
	int64_t product;

	if (difference == 0 || mantissa == 0) {
		return mantissa;
	}
	if (difference < 0) {
		if (difference < -18) {
			return mantissa > 0 ? 1 : -1;
		}
		int64_t power = powers10[-difference];
		int64_t quotient = mantissa / power;
		if (mantissa % power != 0) {
			quotient += mantissa > 0 ? 1 : -1;
		}
		return quotient;
	}
	switch (difference) {
	case 1:
	case 2:
	case 3:
	case 6:
	case 9:
		/*
		 * Upstream quirk, spec 01 section 5.1: on overflow, these differences of exponents
		 * give a result modulo 2^64; all other differences give 0.
		 */
		return mantissa == INT64_MIN
			? 0
			: (int64_t)((uint64_t)mantissa * (uint64_t)powers10[difference]);
	default:
		if (difference > 18 || BT_MUL_OVERFLOW(mantissa, powers10[difference], &product)) {
			return 0;
		}
		return product;
	}
}

int64_t bt_quantity_value(const struct bt_quantity *quantity)
{
	return to_int64(quantity, 0);
}

int64_t bt_quantity_milli(const struct bt_quantity *quantity)
{
	return to_int64(quantity, -3);
}

int bt_quantity_compare(const struct bt_quantity *a, const struct bt_quantity *b)
{
	struct bt_decimal left;
	struct bt_decimal right;

	if (a->big == NULL && b->big == NULL &&
		(a->exponent == b->exponent || a->mantissa == 0 || b->mantissa == 0 ||
			(a->mantissa < 0) != (b->mantissa < 0))) {
		return BT_ORDER(a->mantissa, b->mantissa);
	}
	bt_decimal_load(&left, a);
	bt_decimal_load(&right, b);
	return bt_decimal_compare(&left, &right);
}

static void set_big(
	struct bt_quantity *quantity, const struct bt_decimal *decimal, struct bt_arena *arena)
{
	quantity->big = bt_decimal_store(decimal, arena);
	quantity->mantissa = 0;
	quantity->exponent = 0;
}

/** Adds mantissa x 10^exponent to *sum in the small form (int64). Returns false on overflow. */
static bool small_add(struct bt_quantity *sum, int64_t mantissa, int32_t exponent)
{
	int64_t *higher = sum->exponent > exponent ? &sum->mantissa : &mantissa;
	int64_t difference = (int64_t)sum->exponent - exponent;
	int64_t own = sum->mantissa;
	int64_t result;

	if (difference != 0) {
		int64_t scaled;

		difference = difference < 0 ? -difference : difference;
		if (difference > 18 || BT_MUL_OVERFLOW(*higher, powers10[difference], &scaled)) {
			return false;
		}
		if (higher == &mantissa) {
			mantissa = scaled;
		} else {
			own = scaled;
		}
	}
	if (BT_ADD_OVERFLOW(own, mantissa, &result)) {
		return false;
	}
	sum->mantissa = result;
	sum->exponent = sum->exponent < exponent ? sum->exponent : exponent;
	return true;
}

static void add_signed(struct bt_quantity *sum, const struct bt_quantity *addend, bool negate,
	struct bt_arena *arena)
{
	struct bt_decimal left;
	struct bt_decimal right;

	sum->text = (struct bt_str){NULL, 0};
	if (bt_quantity_is_zero(addend)) {
		return;
	}
	if (bt_quantity_is_zero(sum)) {
		*sum = *addend;
		sum->text = (struct bt_str){NULL, 0};
		if (negate) {
			bt_quantity_negate(sum, arena);
		}
		return;
	}
	if (sum->big == NULL && addend->big == NULL && (!negate || addend->mantissa != INT64_MIN) &&
		small_add(sum, negate ? -addend->mantissa : addend->mantissa, addend->exponent)) {
		return;
	}
	bt_decimal_load(&left, sum);
	bt_decimal_load(&right, addend);
	right.negative ^= negate;
	bt_decimal_add(&left, &right);
	set_big(sum, &left, arena);
}

void bt_quantity_add(
	struct bt_quantity *sum, const struct bt_quantity *addend, struct bt_arena *arena)
{
	add_signed(sum, addend, false, arena);
}

void bt_quantity_sub(struct bt_quantity *difference, const struct bt_quantity *subtrahend,
	struct bt_arena *arena)
{
	add_signed(difference, subtrahend, true, arena);
}

void bt_quantity_multiply(
	struct bt_quantity *product, const struct bt_quantity *factor, struct bt_arena *arena)
{
	struct bt_decimal left;
	struct bt_decimal right;

	product->text = (struct bt_str){NULL, 0};
	int64_t mantissa;
	int32_t exponent;
	if (product->big == NULL && factor->big == NULL &&
		!BT_MUL_OVERFLOW(product->mantissa, factor->mantissa, &mantissa) &&
		!BT_ADD_OVERFLOW(product->exponent, factor->exponent, &exponent)) {
		product->mantissa = mantissa;
		product->exponent = mantissa != 0 ? exponent : 0;
		return;
	}
	bt_decimal_load(&left, product);
	bt_decimal_load(&right, factor);
	bt_decimal_multiply(&left, &right);
	set_big(product, &left, arena);
}

void bt_quantity_make_big(struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_decimal decimal;

	if (quantity->big == NULL) {
		bt_decimal_load(&decimal, quantity);
		set_big(quantity, &decimal, arena);
	}
}

void bt_quantity_negate(struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_decimal decimal;

	quantity->text = (struct bt_str){NULL, 0};
	if (quantity->big == NULL && quantity->mantissa != INT64_MIN) {
		quantity->mantissa = -quantity->mantissa;
		return;
	}
	bt_decimal_load(&decimal, quantity);
	decimal.negative = !decimal.negative;
	set_big(quantity, &decimal, arena);
}

const struct bt_quantity *bt_resource_list_find(
	const struct bt_resource_list *list, struct bt_str name)
{
	uint32_t at;

	BT_LOWER_BOUND(at, list->count, middle, bt_str_compare(list->items[middle].name, name) < 0);
	return at < list->count && bt_str_equal(list->items[at].name, name)
		? &list->items[at].quantity
		: NULL;
}

void bt_resource_list_add(struct bt_resource_list *list, uint32_t room, struct bt_str name,
	const struct bt_quantity *amount, struct bt_arena *arena)
{
	uint32_t at;

	BT_LOWER_BOUND(at, list->count, middle, bt_str_compare(list->items[middle].name, name) < 0);
	if (at < list->count && bt_str_equal(list->items[at].name, name)) {
		bt_quantity_add(&list->items[at].quantity, amount, arena);
		return;
	}
	BT_ASSERT(list->count < room);
	for (uint32_t i = list->count; i > at; i--) {
		list->items[i] = list->items[i - 1];
	}
	list->items[at] = (struct bt_resource_entry){.name = name, .quantity = *amount};
	list->count++;
	list->present = true;
}

/* Quantity as a field type: JSON, equality, hash, copy. */

/** Parses the source text of a JSON string or number; escapes are not decoded. */
static int decode_json(const struct bt_scalar_type *type BT_UNUSED, struct bt_json_reader *reader,
	struct bt_arena *arena, void *out, struct berth_error *err)
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
	code = bt_quantity_parse(bt_str_trim(text, BT_STR_SPACE), arena, quantity, err);
	if (code == 0) {
		quantity->text = bt_arena_str(arena, quantity->text);
	}
	return code;
}

/**
 * Decodes the message Quantity, whose field 1 is the text of the quantity. If the field is missing,
 * the quantity is 0.
 */
static int decode_protobuf(const struct bt_scalar_type *type BT_UNUSED, struct bt_str bytes,
	struct bt_arena *arena, void *out, struct berth_error *err)
{
	struct bt_wire_fields fields;
	struct bt_quantity quantity = {.mantissa = 0};
	int code = bt_wire_read_fields(bytes, &fields, err);

	if (code == 0 && fields.texts[1].length != 0) {
		code = bt_quantity_parse(fields.texts[1], arena, &quantity, err);
	}
	if (code != 0) {
		return code;
	}
	quantity.text = bt_arena_str(arena, quantity.text);
	*(struct bt_quantity *)out = quantity;
	return 0;
}

static void encode_json(const struct bt_scalar_type *type BT_UNUSED, struct bt_json_writer *writer,
	const void *value)
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

		if (mantissa == 0) {
			return bt_hash_u64(seed, 0);
		}
		while (mantissa % 10 == 0) {
			mantissa /= 10;
			scale--;
		}
		uint64_t bits = (uint64_t)mantissa;
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
	quantity->text = bt_arena_str(arena, quantity->text);
	if (quantity->big != NULL) {
		struct bt_decimal decimal;

		bt_decimal_load(&decimal, quantity);
		quantity->big = bt_decimal_store(&decimal, arena);
	}
}

static bool to_numbers(const void *value, int64_t out_numbers[BT_SCALAR_NUMBERS])
{
	const struct bt_quantity *quantity = value;

	out_numbers[0] = quantity->mantissa;
	out_numbers[1] = quantity->exponent;
	out_numbers[2] = quantity->format;
	return quantity->text.data == NULL && quantity->big == NULL;
}

static void from_numbers(const int64_t numbers[BT_SCALAR_NUMBERS], void *out)
{
	*(struct bt_quantity *)out = (struct bt_quantity){
		.mantissa = numbers[0],
		.exponent = (int32_t)numbers[1],
		.format = (uint8_t)numbers[2],
	};
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
	.to_numbers = to_numbers,
	.from_numbers = from_numbers,
};

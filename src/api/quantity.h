/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_QUANTITY_H
#define BT_API_QUANTITY_H
/**
 * Exact decimal numbers with a display format ("500m", "1Gi", "1e3"). Spec: 01 section 5.1.
 * Arithmetic never rounds; conversion to an integer happens once, on the final sum.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "codec/message.h"

enum bt_quantity_format {
	BT_QUANTITY_DECIMAL_SI, /* also the format of all-zero memory */
	BT_QUANTITY_BINARY_SI,
	BT_QUANTITY_DECIMAL_EXPONENT,
};

#define BT_QUANTITY_DIGITS_MAX 400

/**
 * Value = mantissa x 10^exponent in the small form. The big form (spec 01 section 5.1: more digits
 * than int64 holds) has its digits in `big`. All-zero memory is the quantity 0. May be copied by
 * assignment while the arena of its text and digits lives.
 *
 * Limits protect against hostile input: text has at most BT_QUANTITY_DIGITS_MAX digits, and a sum
 * whose exact digits exceed 2400 bits (1e1000 + 1n) becomes the operand of larger magnitude.
 */
struct bt_quantity {
	struct bt_str text; /* source text if rule 4 of the text form keeps it, else absent */
	int64_t mantissa;
	const struct bt_big_decimal *big; /* NULL in the small form */
	int32_t exponent;
	uint8_t format; /* enum bt_quantity_format */
};

/**
 * Parses text (unquoted, no white space). The result borrows text; big digits are in the arena.
 * arena NULL: a big value is BERTH_ERR_TOO_LARGE. Error messages: E1 and E3 of the spec.
 */
BT_MUST_USE int bt_quantity_parse(struct bt_str text, struct bt_arena *arena,
	struct bt_quantity *out_quantity, struct berth_error *err);
/** Creates a quantity that is equal to `value` x 10^exponent. */
struct bt_quantity bt_quantity_make(
	int64_t value, int32_t exponent, enum bt_quantity_format format);

/**
 * Upstream's Value() and MilliValue(). Positive values are rounded up. Spec 01 section 5.1
 * describes the rounding of negative values and the behaviour on overflow.
 */
int64_t bt_quantity_value(const struct bt_quantity *quantity);
int64_t bt_quantity_milli(const struct bt_quantity *quantity);
bool bt_quantity_is_zero(const struct bt_quantity *quantity);
int bt_quantity_compare(const struct bt_quantity *a, const struct bt_quantity *b);
/** *sum += addend (format rules of spec 01 section 5.1). Big results are allocated in the arena. */
void bt_quantity_add(
	struct bt_quantity *sum, const struct bt_quantity *addend, struct bt_arena *arena);
void bt_quantity_sub(struct bt_quantity *difference, const struct bt_quantity *subtrahend,
	struct bt_arena *arena);
/**
 * *product *= factor. If the digits do not fit (see struct bt_quantity), the result is the operand
 * of larger magnitude.
 */
void bt_quantity_multiply(
	struct bt_quantity *product, const struct bt_quantity *factor, struct bt_arena *arena);
void bt_quantity_negate(struct bt_quantity *quantity, struct bt_arena *arena);
/**
 * Converts to the big form without changing the value. If a conversion to int64 overflows, its
 * result depends on the form.
 */
void bt_quantity_make_big(struct bt_quantity *quantity, struct bt_arena *arena);
/**
 * Appends the text that upstream's String() gives: the kept source text, else the canonical text.
 */
void bt_quantity_format(const struct bt_quantity *quantity, struct bt_strbuf *out);

/** The scalar type of quantities, for descriptions of messages. */
extern const struct bt_scalar_type bt_quantity_scalar;

/** An entry of a resource list: the name of a resource and its quantity. */
struct bt_resource_entry {
	struct bt_str name;
	struct bt_quantity quantity;
};

struct bt_resource_list {
	struct bt_resource_entry *items; /* sorted by name */
	uint32_t count;
	bool present;
};

/** Returns the quantity of the entry with this name, or NULL. */
const struct bt_quantity *bt_resource_list_find(
	const struct bt_resource_list *list, struct bt_str name);
/** Adds amount to the entry with this name, or inserts an entry. room: length of list->items. */
void bt_resource_list_add(struct bt_resource_list *list, uint32_t room, struct bt_str name,
	const struct bt_quantity *amount, struct bt_arena *arena);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Two quantities, one per line: parsing, text, arithmetic and comparison must be consistent. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/quantity.h"
#include "base/assert.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(const char *data, size_t size, struct bt_arena *arena, struct bt_quantity *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_quantity_parse((struct bt_str){data, (uint32_t)size}, arena, out, &err);

	BT_ASSERT((code == 0) == (err.code == 0));
	berth_error_finish(&err);
	return code == 0;
}

/** If the quantity's scale has a suffix, checks that its text parses to the same number. */
static void check_text(const struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};
	struct bt_quantity back;

	bt_quantity_format(quantity, &text);
	if (quantity->big == NULL && quantity->exponent <= 0) {
		BT_ASSERT(parse(text.data, text.length, arena, &back));
		BT_ASSERT(bt_quantity_compare(quantity, &back) == 0);
		/* Negative numbers round differently in the big form. */
		BT_ASSERT(back.big != NULL ||
			bt_quantity_value(quantity) == bt_quantity_value(&back));
	}
	bt_strbuf_finish(&text);
}

static void check_one(const struct bt_quantity *quantity, struct bt_arena *arena)
{
	struct bt_quantity copy;
	int64_t value = bt_quantity_value(quantity);

	check_text(quantity, arena);
	bt_quantity_scalar.copy(&copy, quantity, arena);
	BT_ASSERT(bt_quantity_scalar.equal(&copy, quantity));
	BT_ASSERT(bt_quantity_scalar.hash(1, &copy) == bt_quantity_scalar.hash(1, quantity));
	BT_ASSERT(bt_quantity_value(&copy) == value &&
		bt_quantity_milli(&copy) == bt_quantity_milli(quantity));
	bt_quantity_negate(&copy, arena);
	bt_quantity_add(&copy, quantity, arena);
	BT_ASSERT(bt_quantity_is_zero(&copy));
}

static void check_two(
	const struct bt_quantity *a, const struct bt_quantity *b, struct bt_arena *arena)
{
	struct bt_quantity sum = *a;
	struct bt_quantity other = *b;
	int order = bt_quantity_compare(a, b);

	BT_ASSERT(bt_quantity_compare(b, a) == -order);
	BT_ASSERT(order != 0 || bt_quantity_scalar.hash(1, a) == bt_quantity_scalar.hash(1, b));
	bt_quantity_add(&sum, b, arena);
	bt_quantity_add(&other, a, arena);
	BT_ASSERT(bt_quantity_compare(&sum, &other) == 0);
	(void)bt_quantity_value(&sum);
	(void)bt_quantity_milli(&sum);
	check_text(&sum, arena);
	sum = *a;
	bt_quantity_sub(&sum, b, arena);
	other = bt_quantity_make(0, 0, BT_QUANTITY_DECIMAL_SI);
	BT_ASSERT(bt_quantity_compare(&sum, &other) == order);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *line = size == 0 ? NULL : memchr(text, '\n', size);
	size_t first = line == NULL ? size : (size_t)(line - text);
	struct bt_arena arena = {0};
	struct bt_quantity a;
	struct bt_quantity b;
	bool has_a = parse(text, first, &arena, &a);

	if (has_a) {
		check_one(&a, &arena);
	}
	if (line != NULL && parse(line + 1, size - first - 1, &arena, &b) && has_a) {
		check_two(&a, &b, &arena);
	}
	bt_arena_finish(&arena);
	return 0;
}

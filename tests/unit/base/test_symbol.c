/* SPDX-License-Identifier: Apache-2.0 */
#include "base/symbol.h"

#include "base/prng.h"
#include "test_main.h"

START_TEST(test_symbol__same_text_same_symbol)
{
	struct bt_symbol_table table;
	bt_sym zone;
	bt_sym again;

	bt_symbol_table_init(&table);
	zone = bt_symbol_ref_str(&table, BT_STR("zone-a"));
	again = bt_symbol_ref_str(&table, bt_str_from("zone-a"));
	ck_assert(bt_sym_equal(zone, again));
	ck_assert(bt_sym_equal(zone, bt_symbol_find(&table, BT_STR("zone-a"))));
	ck_assert(!bt_sym_equal(zone, bt_symbol_ref_str(&table, BT_STR("zone-a\0"))));
	ck_assert_str_eq(bt_symbol_text(&table, zone).data, "zone-a");
	ck_assert_uint_eq(bt_symbol_text(&table, zone).length, 6);
	bt_symbol_table_finish(&table);
}
END_TEST

START_TEST(test_symbol__empty_and_none)
{
	struct bt_symbol_table table;

	bt_symbol_table_init(&table);
	ck_assert(bt_sym_equal(bt_symbol_ref_str(&table, BT_STR("")), BT_SYM_EMPTY));
	ck_assert(bt_sym_equal(bt_symbol_ref_str(&table, bt_str_from(NULL)), BT_SYM_EMPTY));
	ck_assert(bt_sym_equal(bt_symbol_find(&table, BT_STR("")), BT_SYM_EMPTY));
	ck_assert(bt_sym_is_none(bt_symbol_find(&table, BT_STR("never"))));
	bt_symbol_unref(&table, BT_SYM_EMPTY);
	bt_symbol_unref(&table, BT_SYM_EMPTY);
	bt_symbol_unref(&table, BT_SYM_NONE);
	ck_assert(bt_sym_is_none(bt_symbol_ref(&table, BT_SYM_NONE)));
	ck_assert(bt_sym_equal(bt_symbol_ref(&table, BT_SYM_EMPTY), BT_SYM_EMPTY));
	ck_assert_str_eq(bt_symbol_text(&table, BT_SYM_EMPTY).data, "");
	ck_assert_ptr_null(bt_symbol_text(&table, BT_SYM_NONE).data);
	bt_symbol_table_finish(&table);
}
END_TEST

START_TEST(test_symbol__last_unref_releases_and_the_number_is_reused)
{
	struct bt_symbol_table table;
	bt_sym first;
	bt_sym second;

	bt_symbol_table_init(&table);
	first = bt_symbol_ref_str(&table, BT_STR("job-1"));
	(void)bt_symbol_ref(&table, first);
	bt_symbol_unref(&table, first);
	ck_assert(!bt_sym_is_none(bt_symbol_find(&table, BT_STR("job-1"))));
	bt_symbol_unref(&table, first);
	ck_assert(bt_sym_is_none(bt_symbol_find(&table, BT_STR("job-1"))));
	ck_assert_uint_eq(table.text_bytes, 0);
	second = bt_symbol_ref_str(&table, BT_STR("job-2"));
	ck_assert(bt_sym_equal(first, second));
	ck_assert_str_eq(bt_symbol_text(&table, second).data, "job-2");
	bt_symbol_table_finish(&table);
}
END_TEST

START_TEST(test_symbol__text_does_not_move)
{
	struct bt_symbol_table table;
	const char *text;
	bt_sym symbol;
	char name[32];

	bt_symbol_table_init(&table);
	symbol = bt_symbol_ref_str(&table, BT_STR("stays"));
	text = bt_symbol_text(&table, symbol).data;
	for (int i = 0; i < 5000; i++) {
		(void)snprintf(name, sizeof(name), "other-%d", i);
		(void)bt_symbol_ref_str(&table, bt_str_from(name));
	}
	ck_assert_ptr_eq(bt_symbol_text(&table, symbol).data, text);
	bt_symbol_table_finish(&table);
}
END_TEST

enum { HELD_MAX = 300 };

/* The references that the test holds, and for each the number in its text. */
struct holder {
	bt_sym symbols[HELD_MAX];
	unsigned int numbers[HELD_MAX];
	uint32_t count;
};

static struct bt_str name_of(unsigned int number, char *buffer, size_t size)
{
	(void)snprintf(buffer, size, "pod-template-hash-%u", number);
	return bt_str_from(buffer);
}

static void check_held(
	const struct bt_symbol_table *table, const struct holder *holder, uint64_t seed)
{
	char name[40];

	for (uint32_t i = 0; i < holder->count; i++) {
		struct bt_str expected = name_of(holder->numbers[i], name, sizeof(name));
		ck_assert_msg(bt_str_equal(bt_symbol_text(table, holder->symbols[i]), expected) &&
				bt_sym_equal(bt_symbol_find(table, expected), holder->symbols[i]),
			"seed %llu: reference %u", (unsigned long long)seed, i);
	}
}

/* Clusters create new label values for ever; only values with references may use memory. */
START_TEST(test_symbol__endless_new_texts_need_flat_memory)
{
	const uint64_t seed = 31;
	struct bt_symbol_table table;
	struct holder holder = {.count = 0};
	struct bt_prng prng;
	char name[40];

	(void)printf("seed %llu\n", (unsigned long long)seed);
	bt_prng_init(&prng, seed);
	bt_symbol_table_init(&table);
	for (unsigned int step = 0; step < 200000; step++) {
		if (holder.count == HELD_MAX ||
			(holder.count != 0 && bt_prng_below(&prng, 2) == 0)) {
			uint32_t victim = (uint32_t)bt_prng_below(&prng, holder.count);
			bt_symbol_unref(&table, holder.symbols[victim]);
			holder.count--;
			holder.symbols[victim] = holder.symbols[holder.count];
			holder.numbers[victim] = holder.numbers[holder.count];
		} else {
			/* Most texts are new; for some the test holds a reference already. */
			unsigned int number =
				step - (unsigned int)bt_prng_below(&prng, 50) % (step + 1);
			struct bt_str text = name_of(number, name, sizeof(name));
			holder.symbols[holder.count] = bt_symbol_ref_str(&table, text);
			holder.numbers[holder.count++] = number;
		}
		if (step % 5000 == 0) {
			check_held(&table, &holder, seed);
		}
	}
	check_held(&table, &holder, seed);
	ck_assert_uint_le(table.entries.count, HELD_MAX + 1);
	ck_assert_uint_le(table.free_ids.capacity, 2 * HELD_MAX);
	ck_assert_uint_le(table.map.capacity, 1024);
	ck_assert_uint_le(table.text_bytes, HELD_MAX * sizeof(name));
	while (holder.count > 0) {
		bt_symbol_unref(&table, holder.symbols[--holder.count]);
	}
	ck_assert_uint_eq(table.text_bytes, 0);
	ck_assert_uint_eq(table.map.count, 0);
	bt_symbol_table_finish(&table);
}
END_TEST

BT_TEST_MAIN("symbol", test_symbol__same_text_same_symbol, test_symbol__empty_and_none,
	test_symbol__last_unref_releases_and_the_number_is_reused, test_symbol__text_does_not_move,
	test_symbol__endless_new_texts_need_flat_memory)

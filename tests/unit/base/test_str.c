/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <stdlib.h>

#include "test_main.h"

static const struct bt_str absent;

START_TEST(test_str__absent_equals_empty)
{
	ck_assert(bt_str_equal(absent, BT_STR("")));
	ck_assert(bt_str_equal_c(absent, ""));
	ck_assert(bt_str_equal(bt_str_from(NULL), absent));
	ck_assert_int_eq(bt_str_compare(absent, BT_STR("")), 0);
	ck_assert_int_lt(bt_str_compare(absent, BT_STR("a")), 0);
	ck_assert(bt_str_has_prefix(absent, BT_STR("")));
	ck_assert(bt_str_has_suffix(absent, absent));
	ck_assert_int_eq(bt_str_find(absent, absent), 0);
	ck_assert_int_eq(bt_str_find(absent, BT_STR("a")), -1);
	ck_assert_int_eq(bt_str_find_char(absent, 'a'), -1);
	ck_assert_int_eq(bt_str_find_last_char(absent, 'a'), -1);
	ck_assert_ptr_null(bt_str_sub(absent, 3, 3).data);
	ck_assert_uint_eq(bt_str_hash(absent), bt_str_hash(BT_STR("")));
}
END_TEST

START_TEST(test_str__compare_is_by_unsigned_byte_and_prefix_first)
{
	struct bt_str sorted[] = {BT_STR_INIT(""), BT_STR_INIT("\0"), BT_STR_INIT("a"),
		BT_STR_INIT("a\0"), BT_STR_INIT("aa"), BT_STR_INIT("b"), BT_STR_INIT("\x80"),
		BT_STR_INIT("\xff")};
	int count = (int)BT_ARRAY_LENGTH(sorted);

	for (int i = 0; i < count; i++) {
		for (int j = 0; j < count; j++) {
			int order = bt_str_compare(sorted[i], sorted[j]);
			ck_assert_msg((order > 0) - (order < 0) == BT_ORDER(i, j), "%d, %d", i, j);
		}
	}
	qsort(sorted, BT_ARRAY_LENGTH(sorted), sizeof(sorted[0]), bt_str_compare_qsort);
	ck_assert(bt_str_equal(sorted[4], BT_STR("aa")));
}
END_TEST

START_TEST(test_str__search)
{
	static const struct {
		const char *text;
		const char *needle;
		int64_t at;
	} rows[] = {
		{"kubernetes.io/hostname", "/", 13},
		{"aaab", "aab", 1},
		{"aaa", "aaaa", -1},
		{"abc", "c", 2},
		{"abc", "abc", 0},
		{"abcabd", "abd", 3},
		{"abc", "d", -1},
		{"abc", "", 0},
		{"", "a", -1},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t at = bt_str_find(bt_str_from(rows[i].text), bt_str_from(rows[i].needle));
		ck_assert_msg(at == rows[i].at, "%s in %s: %lld", rows[i].needle, rows[i].text,
			(long long)at);
	}
	ck_assert_int_eq(bt_str_find_char(BT_STR("a/b/c"), '/'), 1);
	ck_assert_int_eq(bt_str_find_last_char(BT_STR("a/b/c"), '/'), 3);
	ck_assert_int_eq(bt_str_find_last_char(BT_STR("/bc"), '/'), 0);
	ck_assert_int_eq(bt_str_find_char(BT_STR("a\xff"), '\xff'), 1);
	ck_assert(bt_str_has_prefix(BT_STR("requests.cpu"), BT_STR("requests.")));
	ck_assert(!bt_str_has_prefix(BT_STR("req"), BT_STR("requests.")));
	ck_assert(bt_str_has_suffix(BT_STR("x.k8s.io"), BT_STR(".k8s.io")));
	ck_assert(!bt_str_has_suffix(BT_STR("k8s.io"), BT_STR(".k8s.io")));
}
END_TEST

START_TEST(test_str__sub_is_clamped)
{
	struct bt_str text = BT_STR("hello");

	ck_assert(bt_str_equal_c(bt_str_sub(text, 1, 3), "ell"));
	ck_assert(bt_str_equal_c(bt_str_sub(text, 3, 99), "lo"));
	ck_assert(bt_str_equal_c(bt_str_sub(text, 1, UINT32_MAX), "ello"));
	ck_assert(bt_str_equal_c(bt_str_sub(text, 9, 1), ""));
	ck_assert_ptr_nonnull(bt_str_sub(text, 9, 1).data);
}
END_TEST

START_TEST(test_str__parse_int64_as_go)
{
	static const struct {
		struct bt_str text;
		bool ok;
		int64_t value;
	} rows[] = {
		{BT_STR_INIT("0"), true, 0},
		{BT_STR_INIT("-0"), true, 0},
		{BT_STR_INIT("+7"), true, 7},
		{BT_STR_INIT("0012"), true, 12},
		{BT_STR_INIT("9223372036854775807"), true, INT64_MAX},
		{BT_STR_INIT("-9223372036854775808"), true, INT64_MIN},
		{BT_STR_INIT("-9223372036854775807"), true, -INT64_MAX},
		{BT_STR_INIT("000000000000000000000000000009223372036854775807"), true, INT64_MAX},
		{BT_STR_INIT("9223372036854775808"), false, 0},
		{BT_STR_INIT("-9223372036854775809"), false, 0},
		{BT_STR_INIT("99999999999999999999"), false, 0},
		{BT_STR_INIT("18446744073709551616"), false, 0},
		{BT_STR_INIT(""), false, 0},
		{BT_STR_INIT("+"), false, 0},
		{BT_STR_INIT("-"), false, 0},
		{BT_STR_INIT("--1"), false, 0},
		{BT_STR_INIT("+-1"), false, 0},
		{BT_STR_INIT(" 1"), false, 0},
		{BT_STR_INIT("1 "), false, 0},
		{BT_STR_INIT("1_000"), false, 0},
		{BT_STR_INIT("0x10"), false, 0},
		{BT_STR_INIT("1.0"), false, 0},
		{BT_STR_INIT("1e3"), false, 0},
		{BT_STR_INIT("1\0"), false, 0},
		{BT_STR_INIT("\xd9\xa1"), false, 0},
	};
	int64_t value;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		bool ok;
		value = 42;
		ok = bt_str_parse_int64(rows[i].text, &value);
		ck_assert_msg(ok == rows[i].ok && value == (ok ? rows[i].value : 42), "%s: %d %lld",
			rows[i].text.data, ok, (long long)value);
	}
	ck_assert(!bt_str_parse_int64(absent, &value));
}
END_TEST

/*
 * Hashes of numbered names (the hardest common input) must not collide, and must spread evenly in
 * their low and high bits.
 */
START_TEST(test_str__hash_spreads_numbered_names)
{
	enum { COUNT = 20000, BUCKETS = 256 };
	static uint64_t hashes[COUNT];
	static int low[BUCKETS];
	static int high[BUCKETS];
	char name[40];

	memset(low, 0, sizeof(low));
	memset(high, 0, sizeof(high));
	for (int i = 0; i < COUNT; i++) {
		const char *prefix = i % 2 != 0 ? "a-rather-long-prefix-" : "";
		(void)snprintf(name, sizeof(name), "%snode-%d", prefix, i);
		hashes[i] = bt_str_hash(bt_str_from(name));
		low[hashes[i] % BUCKETS]++;
		high[hashes[i] >> 56]++;
	}
	for (int i = 0; i < BUCKETS; i++) {
		/*
		 * The expected count is 78, the standard deviation 8.8; seven deviations are
		 * allowed.
		 */
		ck_assert_int_gt(low[i], 78 - 62);
		ck_assert_int_lt(low[i], 78 + 62);
		ck_assert_int_gt(high[i], 78 - 62);
		ck_assert_int_lt(high[i], 78 + 62);
	}
	for (int i = 0; i < COUNT; i++) {
		for (int j = i + 1; j < COUNT && j < i + 200; j++) {
			if (hashes[i] == hashes[j]) {
				ck_abort_msg("names %d and %d", i, j);
			}
		}
	}
}
END_TEST

START_TEST(test_str__hash_depends_on_every_byte_length_seed_and_secret)
{
	char bytes[70];

	for (size_t length = 1; length < sizeof(bytes); length++) {
		uint64_t hash;
		memset(bytes, 0, sizeof(bytes));
		hash = bt_hash_bytes(bytes, length, 0);
		ck_assert_uint_ne(hash, bt_hash_bytes(bytes, length - 1, 0));
		ck_assert_uint_ne(hash, bt_hash_bytes(bytes, length, 1));
		for (size_t at = 0; at < length; at++) {
			bytes[at] = 1;
			ck_assert_msg(hash != bt_hash_bytes(bytes, length, 0),
				"length %zu byte %zu", length, at);
			bytes[at] = 0;
		}
	}
	ck_assert_uint_ne(bt_hash_u64(1, 2), bt_hash_u64(2, 1));
	ck_assert_uint_ne(bt_hash_u64(0, 0), bt_hash_u64(0, 1));
}
END_TEST

START_TEST(test_str__hash_secret_changes_hashes)
{
	uint64_t before = bt_str_hash(BT_STR("pod"));

	bt_hash_set_secret(1);
	ck_assert_uint_ne(bt_str_hash(BT_STR("pod")), before);
	ck_assert_uint_eq(bt_str_hash(BT_STR("pod")), bt_str_hash(bt_str_from("pod")));
}
END_TEST

START_TEST(test_str__trim_takes_only_bytes_of_the_set_at_both_ends)
{
	struct bt_str text = bt_str_trim(BT_STR(" \t\v a b\0 \n\f\r"), BT_STR_SPACE);

	ck_assert(bt_str_equal(text, BT_STR("a b\0")));
	ck_assert(bt_str_equal(bt_str_trim(BT_STR("\n a "), " "), BT_STR("\n a")));
	ck_assert_uint_eq(bt_str_trim(BT_STR(" \n "), BT_STR_SPACE).length, 0);
	ck_assert_uint_eq(bt_str_trim((struct bt_str){0}, BT_STR_SPACE).length, 0);
}
END_TEST

START_TEST(test_str__cut_hands_out_every_part_once)
{
	struct bt_str rest = BT_STR("a==b=");

	ck_assert(bt_str_equal(bt_str_cut(&rest, '='), BT_STR("a")));
	ck_assert(bt_str_equal(bt_str_cut(&rest, '='), BT_STR("")));
	ck_assert(bt_str_equal(bt_str_cut(&rest, '='), BT_STR("b")));
	ck_assert_ptr_nonnull(rest.data); /* the rest is an empty part, not the end */
	ck_assert(bt_str_equal(bt_str_cut(&rest, '='), BT_STR("")));
	ck_assert_ptr_null(rest.data);
}
END_TEST

START_TEST(test_str__is_digits)
{
	ck_assert(bt_str_is_digits(BT_STR("0")) && bt_str_is_digits(BT_STR("0123456789")));
	ck_assert(!bt_str_is_digits(BT_STR("")) && !bt_str_is_digits(BT_STR("-1")));
	ck_assert(!bt_str_is_digits(BT_STR("1/")) && !bt_str_is_digits(BT_STR("1:")));
}
END_TEST

BT_TEST_MAIN("str", test_str__absent_equals_empty,
	test_str__compare_is_by_unsigned_byte_and_prefix_first, test_str__search,
	test_str__sub_is_clamped, test_str__parse_int64_as_go,
	test_str__hash_spreads_numbered_names,
	test_str__hash_depends_on_every_byte_length_seed_and_secret,
	test_str__hash_secret_changes_hashes,
	test_str__trim_takes_only_bytes_of_the_set_at_both_ends,
	test_str__cut_hands_out_every_part_once, test_str__is_digits)

/* SPDX-License-Identifier: Apache-2.0 */
/** Formatting of amounts for humans. */
#include "api/amount.h"

#include "test_main.h"

struct row {
	int64_t amount;
	const char *text;
};

static void expect_rows(
	void (*append)(struct bt_strbuf *out, int64_t amount), const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct bt_strbuf out = {0};

		append(&out, rows[i].amount);
		ck_assert_msg(bt_str_equal_c(bt_strbuf_str(&out), rows[i].text), "%lld: %s, not %s",
			(long long)rows[i].amount, bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_finish(&out);
	}
}

START_TEST(test_amount__counts_have_commas)
{
	static const struct row rows[] = {{0, "0"}, {999, "999"}, {1000, "1,000"},
		{-4812, "-4,812"}, {1000001, "1,000,001"}, {INT64_MAX, "9,223,372,036,854,775,807"},
		{INT64_MIN, "-9,223,372,036,854,775,808"}};

	expect_rows(bt_amount_append_count, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static void append_cpu(struct bt_strbuf *out, int64_t milli)
{
	bt_amount_append_of(out, BT_STR("cpu"), milli, BT_AMOUNT_NEAREST);
}

START_TEST(test_amount__cpu)
{
	static const struct row rows[] = {{0, "0"}, {1, "1m"}, {250, "250m"}, {999, "999m"},
		{1000, "1"}, {1500, "1.5"}, {1005, "1.005"}, {2250, "2.25"}, {-250, "-250m"},
		{-1500, "-1.5"}, {38563500, "38,563.5"}, {INT64_MIN, "-9,223,372,036,854,775.808"}};

	expect_rows(append_cpu, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

static void append_bytes(struct bt_strbuf *out, int64_t bytes)
{
	bt_amount_append_of(out, BT_STR("memory"), bytes, BT_AMOUNT_NEAREST);
}

static void append_bytes_up(struct bt_strbuf *out, int64_t bytes)
{
	bt_amount_append_of(out, BT_STR("memory"), bytes, BT_AMOUNT_UP);
}

static void append_bytes_down(struct bt_strbuf *out, int64_t bytes)
{
	bt_amount_append_of(out, BT_STR("memory"), bytes, BT_AMOUNT_DOWN);
}

START_TEST(test_amount__bytes)
{
	static const int64_t gib = INT64_C(1) << 30;
	const struct row nearest[] = {{0, "0"}, {1023, "1023"}, {1024, "1Ki"}, {1536, "1.5Ki"},
		{gib - 1, "1Gi"}, {gib, "1Gi"}, {gib + gib / 20 - 1, "1Gi"},
		{gib + gib / 20 + 2, "1.1Gi"}, {-gib, "-1Gi"}, {INT64_MAX, "8Ei"},
		{INT64_MIN, "-8Ei"}};
	const struct row up[] = {
		{gib, "1Gi"}, {gib + 1, "1.1Gi"}, {gib - 1, "1Gi"}, {1, "1"}, {-gib - 1, "-1Gi"}};
	const struct row down[] = {
		{gib, "1Gi"}, {2 * gib - 1, "1.9Gi"}, {gib - 1, "1023.9Mi"}, {-gib - 1, "-1.1Gi"}};

	expect_rows(append_bytes, nearest, BT_ARRAY_LENGTH(nearest));
	expect_rows(append_bytes_up, up, BT_ARRAY_LENGTH(up));
	expect_rows(append_bytes_down, down, BT_ARRAY_LENGTH(down));
}
END_TEST

START_TEST(test_amount__of_a_resource)
{
	static const int64_t gib = INT64_C(1) << 30;
	const struct {
		const char *resource;
		int64_t amount;
		enum bt_amount_rounding rounding;
		const char *text;
	} rows[] = {
		{"cpu", 250, BT_AMOUNT_UP, "250m"},
		{"cpu", 3000, BT_AMOUNT_DOWN, "3"},
		{"memory", gib + 1, BT_AMOUNT_NEAREST, "1Gi"},
		{"memory", gib + 1, BT_AMOUNT_UP, "1.1Gi"},
		{"ephemeral-storage", 2 * gib - 1, BT_AMOUNT_DOWN, "1.9Gi"},
		{"hugepages-2Mi", 4 << 20, BT_AMOUNT_UP, "4Mi"},
		{"example.com/gpu", 7000, BT_AMOUNT_UP, "7,000"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};

		bt_amount_append_of(
			&out, bt_str_from(rows[i].resource), rows[i].amount, rows[i].rounding);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_finish(&out);
	}
}
END_TEST

BT_TEST_MAIN("amount", test_amount__of_a_resource, test_amount__counts_have_commas,
	test_amount__cpu, test_amount__bytes)

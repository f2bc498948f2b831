/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shortest.h"

#include <float.h>
#include <math.h>

#include "test_main.h"

START_TEST(test_shortest__general_as_go)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{0.0, "0"},
		{-0.0, "-0"},
		{1.0, "1"},
		{-1.5, "-1.5"},
		{123456.0, "123456"},
		{1000000.0, "1e+06"},
		{1234567.0, "1.234567e+06"},
		{0.0001, "0.0001"},
		{0.00001, "1e-05"},
		{0.1, "0.1"},
		{1e100, "1e+100"},
		{DBL_TRUE_MIN, "5e-324"},
		{DBL_MAX, "1.7976931348623157e+308"},
		{0x1p-44, "5.684341886080802e-14"},
		{(double)NAN, "NaN"},
		{(double)INFINITY, "+Inf"},
		{-(double)INFINITY, "-Inf"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_strbuf out = {NULL, 0, 0};

		bt_shortest_append_general(&out, rows[i].value);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_finish(&out);
	}
}
END_TEST

START_TEST(test_shortest__fixed_has_no_exponent)
{
	static const struct {
		double value;
		const char *text;
	} rows[] = {
		{1e21, "1000000000000000000000"},
		{1e-7, "0.0000001"},
		{1234.5, "1234.5"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_strbuf out = {NULL, 0, 0};
		struct bt_shortest shortest;

		bt_shortest_digits(rows[i].value, &shortest);
		bt_shortest_append_fixed(&out, &shortest);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].text);
		bt_strbuf_finish(&out);
	}
}
END_TEST

BT_TEST_MAIN("shortest", test_shortest__general_as_go, test_shortest__fixed_has_no_exponent)

/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/import.h"

#include "test_main.h"

START_TEST(test_arrivals__rates)
{
	static const struct {
		const char *text;
		double per_second; /* 0: refused */
	} rows[] = {
		{"poisson:5/s", 5},
		{"poisson:0.5/s", 0.5},
		{"poisson:30/m", 0.5},
		{"poisson:1800/h", 0.5},
		{"poisson:1e6/s", 1e6},
		{"poisson:1000001/s", 0},
		{"poisson:1e999/s", 0},
		{"poisson:0/s", 0},
		{"poisson:-1/s", 0},
		{"poisson:nan/s", 0},
		{"poisson: 5/s", 0},
		{"poisson:5", 0},
		{"poisson:5/d", 0},
		{"poisson:5/s ", 0},
		{"poisson:", 0},
		{"uniform:5/s", 0},
		{"", 0},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		double per_second;
		int result = bt_arrivals_parse(rows[i].text, &per_second, NULL);
		ck_assert_msg((result == 0) == (rows[i].per_second > 0), "%s", rows[i].text);
		ck_assert_msg(per_second >= rows[i].per_second &&
				per_second <= rows[i].per_second,
			"%s", rows[i].text);
	}
}
END_TEST

BT_TEST_MAIN("arrivals", test_arrivals__rates)

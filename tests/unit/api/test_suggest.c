/* SPDX-License-Identifier: Apache-2.0 */
#include "api/suggest.h"
#include "base/compiler.h"
#include "test_main.h"

START_TEST(test_suggest__closest_word)
{
	static const char *const words[] = {"bench", "conformance", "simulate", "version", "help"};
	static const struct {
		const char *given;
		const char *expected;
	} rows[] = {
		{"benhc", "bench"},
		{"simulat", "simulate"},
		{"sim", NULL},
		{"conformence", "conformance"},
		{"hlep", "help"},
		{"", NULL},
		{"serve", NULL},
		{"a-word-that-is-much-too-long-to-be-a-slip-of-the-finger", NULL},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const char *got = bt_suggest(rows[i].given, words, BT_ARRAY_LENGTH(words));
		if (rows[i].expected == NULL) {
			ck_assert_msg(got == NULL, "%s: %s", rows[i].given, got);
		} else {
			ck_assert_msg(got != NULL, "%s", rows[i].given);
			ck_assert_str_eq(got, rows[i].expected);
		}
	}
}
END_TEST

BT_TEST_MAIN("suggest", test_suggest__closest_word)

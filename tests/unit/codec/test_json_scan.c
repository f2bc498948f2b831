/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_scan.h"

#include "base/prng.h"
#include "test_main.h"

/** A plain scan as reference: the scans under test must give the same result. */
static size_t scan_naive(const char *text, size_t length, enum bt_json_attention attention)
{
	size_t i = 0;
	while (i < length && !bt_json_is_special(text[i], attention)) {
		i++;
	}
	return i;
}

static void check_scans(const char *text, size_t length)
{
	for (int i = BT_JSON_ATTENTION_SYNTAX; i <= BT_JSON_ATTENTION_HTML; i++) {
		enum bt_json_attention attention = (enum bt_json_attention)i;
		size_t expected = scan_naive(text, length, attention);
		const char *end = text + length;
		ck_assert_uint_eq(
			(size_t)(bt_json_scan_plain(text, end, attention) - text), expected);
#if BT_JSON_SCAN_HAS_SSE2
		ck_assert_uint_eq(
			(size_t)(bt_json_scan_sse2(text, end, attention) - text), expected);
#endif
	}
}

START_TEST(test_json_scan__each_byte_at_each_place)
{
	char text[40];
	for (unsigned int byte = 0; byte < 256; byte++) {
		for (size_t at = 0; at < sizeof(text); at++) {
			memset(text, 'x', sizeof(text));
			text[at] = (char)byte;
			check_scans(text, sizeof(text));
			check_scans(text, at + 1);
		}
	}
}
END_TEST

START_TEST(test_json_scan__random)
{
	struct bt_prng prng;
	char text[100];
	bt_prng_init(&prng, 1);
	for (int round = 0; round < 20000; round++) {
		size_t length = (size_t)bt_prng_below(&prng, sizeof(text));
		for (size_t i = 0; i < length; i++) {
			/* mostly plain bytes, and some that are next to the special bytes */
			uint64_t roll = bt_prng_below(&prng, 40);
			text[i] = roll == 0 ? (char)bt_prng_below(&prng, 256)
				: roll == 1 ? '!'
				: roll == 2 ? '#'
					    : ' ';
		}
		check_scans(text, length);
	}
}
END_TEST

START_TEST(test_json_scan__space)
{
	static const struct {
		const char *text;
		size_t offset;
	} rows[] = {
		{"", 0},
		{"x", 0},
		{" x", 1},
		{"\t\r\n x", 4},
		{"        x", 8},
		{"\n                 \n    x", 23},
		{"\v", 0},
		{"\f", 0},
		{"         ", 9},
		{" \xc2\xa0", 1},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const char *text = rows[i].text;
		const char *end = text + strlen(text);
		ck_assert_msg((size_t)(bt_json_skip_space(text, end) - text) == rows[i].offset,
			"row %zu", i);
	}
}
END_TEST

BT_TEST_MAIN("json_scan", test_json_scan__each_byte_at_each_place, test_json_scan__random,
	test_json_scan__space)

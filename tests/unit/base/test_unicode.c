/* SPDX-License-Identifier: Apache-2.0 */
#include "base/unicode.h"

#include <string.h>

#include "test_main.h"

/*
 * A plain encoder: the reference for encoding and decoding every code point. Each byte after the
 * first holds six bits.
 */
static size_t encode(uint32_t rune, char *out)
{
	static const uint8_t leads[] = {0, 0, 0xc0, 0xe0, 0xf0};
	size_t size = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;

	for (size_t i = size - 1; i > 0; i--, rune >>= 6) {
		out[i] = (char)(0x80 | (rune & 0x3f));
	}
	out[0] = (char)(leads[size] | rune);
	return size;
}

START_TEST(test_unicode__every_code_point_both_ways)
{
	for (uint32_t rune = 0; rune < 0x120000; rune++) {
		char bytes[4];
		size_t size = encode(rune, bytes);
		bool valid = rune <= 0x10ffff && (rune < 0xd800 || rune > 0xdfff);
		uint32_t decoded = 7;
		uint32_t got = bt_utf8_decode(bytes, size, &decoded);
		char encoded[4];

		if (valid &&
			(bt_utf8_encode(rune, encoded) != size ||
				memcmp(encoded, bytes, size) != 0)) {
			ck_abort_msg("U+%04X: encoded otherwise", rune);
		}
		if (got != (valid ? size : 0) || decoded != (valid ? rune : 7)) {
			ck_abort_msg("U+%04X: size %u, decoded U+%04X", rune, got, decoded);
		}
		if (bt_utf8_decode(bytes, size - 1, &decoded) != 0) {
			ck_abort_msg("U+%04X: truncated bytes were accepted", rune);
		}
	}
}
END_TEST

START_TEST(test_unicode__malformed_sequences)
{
	static const char *const rows[] = {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2",
		"\xc2\x20", "\xe0\x80\x80", "\xe0\x9f\xbf", "\xe1\x80", "\xe1\x80\xc0",
		"\xf0\x80\x80\x80", "\xf0\x8f\xbf\xbf", "\xf1\x80\x80\x20", "\xf5\x80\x80\x80",
		"\xfe", "\xff"};
	uint32_t rune;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ck_assert_msg(bt_utf8_decode(rows[i], strlen(rows[i]), &rune) == 0, "row %zu", i);
		ck_assert_msg(!bt_utf8_is_valid(rows[i], strlen(rows[i])), "row %zu", i);
	}
	ck_assert_uint_eq(bt_utf8_decode("", 0, &rune), 0);
	ck_assert(bt_utf8_is_valid("", 0));
	ck_assert(bt_utf8_is_valid("a\xc3\xa9\xf0\x9f\x98\x80", 7));
	ck_assert(!bt_utf8_is_valid("a\xc3\xa9\xf0\x9f\x98\x80", 6));
}
END_TEST

START_TEST(test_unicode__cut)
{
	static const char text[] = "a\xc3\xa9\xf0\x9f\x98\x80z";
	static const uint32_t expected[] = {0, 1, 1, 3, 3, 3, 3, 7};

	for (uint32_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		ck_assert_uint_eq(bt_utf8_cut(text, i), expected[i]);
	}
	ck_assert_uint_eq(bt_utf8_cut("\x80\x80\x80\x80\x80\x80", 5), 2); /* not UTF-8 */
}
END_TEST

START_TEST(test_unicode__printable)
{
	static const uint32_t yes[] = {' ', 'a', '~', 0xa1, 0xe9, 0x301, 0x4e16, 0xfffd, 0x1f600};
	static const uint32_t no[] = {0, 0x1f, 0x7f, 0x80, 0xa0, 0xad, 0x378, 0x61c, 0x1680, 0x180e,
		0x2000, 0x200b, 0x200f, 0x2028, 0x202f, 0x205f, 0x2060, 0x206f, 0x3000, 0xd800,
		0xe000, 0xf8ff, 0xfdd0, 0xfeff, 0xfffe, 0xffff, 0x1fffe, 0xe0001, 0xf0000, 0x10ffff,
		0x110000, UINT32_MAX};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		ck_assert_msg(bt_unicode_is_print(yes[i]), "U+%04X", yes[i]);
	}
	for (size_t i = 0; i < sizeof(no) / sizeof(no[0]); i++) {
		ck_assert_msg(!bt_unicode_is_print(no[i]), "U+%04X", no[i]);
	}
}
END_TEST

BT_TEST_MAIN("unicode", test_unicode__every_code_point_both_ways, test_unicode__malformed_sequences,
	test_unicode__cut, test_unicode__printable)

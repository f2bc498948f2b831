/* SPDX-License-Identifier: Apache-2.0 */
/** Notes of events: truncation, and percent signs in the text. */
#include "api/event.h"
#include "test_main.h"

static void expect_note(const char *message, const char *expected)
{
	struct bt_strbuf note = {0};

	bt_event_note(bt_str_from(message), &note);
	ck_assert_msg(
		strcmp(bt_strbuf_c(&note), expected) == 0, "%s: %s", message, bt_strbuf_c(&note));
	bt_strbuf_finish(&note);
}

START_TEST(test_event_note__edge_11b_28_percent_signs)
{
	static const struct {
		const char *message;
		const char *note;
	} rows[] = {
		{"", ""},
		{"plain", "plain"},
		{"%s", "%!s(MISSING)"},
		{"a%%b", "a%b"},
		{"50%", "50%!(NOVERB)"},
		{"100% full", "100%!f(MISSING)ull"},
		{"%d%d", "%!d(MISSING)%!d(MISSING)"},
		{"%-08.3fx", "%!f(MISSING)x"},
		{"%+5%", "%"},
		{"%!", "%!!(MISSING)"},
		{"%*d", "%!(BADWIDTH)%!d(MISSING)"},
		{"%.*d", "%!(BADPREC)%!d(MISSING)"},
		{"%[1]d", "%!d(BADINDEX)"},
		{"%[3]*.[2]*[1]f", "%!(BADWIDTH)%!(BADPREC)%!f(BADINDEX)"},
		{"%[x", "%!x(BADINDEX)"},
		{"%9999999d and the rest", "%!(NOVERB)"},
		{"%1000000d", "%!d(MISSING)"},
		{"%\xc3\xa9!", "%!\xc3\xa9(MISSING)!"},
		{"%\xff", "%!\xef\xbf\xbd(MISSING)"},
		{"% ", "%!(NOVERB)"},
		{"%.", "%!(NOVERB)"},
	};

	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		expect_note(rows[i].message, rows[i].note);
	}
}
END_TEST

START_TEST(test_event_note__edge_11b_27_cut_before_it_is_formatted)
{
	char message[1100];
	char expected[2048];

	memset(message, 'x', sizeof(message));
	message[1024] = '\0';
	expect_note(message, message);
	message[1024] = 'x';
	message[1099] = '\0';
	memset(expected, 'x', 1020);
	(void)memcpy(expected + 1020, " ...", 5);
	expect_note(message, expected);
	/*
	 * The cut leaves "% ..." at the end. Go's formatter reads "% .." there as a verb without an
	 * argument.
	 */
	message[1019] = '%';
	(void)memcpy(expected + 1019, "%!.(MISSING).", 14);
	expect_note(message, expected);
}
END_TEST

START_TEST(test_event_note__no_character_is_cut)
{
	static const char *const characters[] = {
		"\xc3\xa9", "\xe4\xb8\xad", "\xf0\x9f\x98\x80", "\x80"};
	/* where characters of 2, 3, 4 bytes, and bytes that are no characters, end before 1020 */
	static const uint32_t ends[][4] = {
		{1020, 1020, 1020, 1017}, {1019, 1018, 1017, 1017}, {1020, 1019, 1018, 1017}};
	char message[1100];
	char expected[1100];

	for (uint32_t start = 0; start < BT_ARRAY_LENGTH(ends); start++) {
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(characters); i++) {
			size_t length = strlen(characters[i]);
			memset(message, 'x', start);
			for (size_t at = start; at < sizeof(message); at++) {
				message[at] = characters[i][(at - start) % length];
			}
			message[sizeof(message) - 1] = '\0';
			(void)memcpy(expected, message, ends[start][i]);
			(void)memcpy(expected + ends[start][i], " ...", 5);
			expect_note(message, expected);
		}
	}
}
END_TEST

BT_TEST_MAIN("event_note", test_event_note__edge_11b_28_percent_signs,
	test_event_note__edge_11b_27_cut_before_it_is_formatted,
	test_event_note__no_character_is_cut)

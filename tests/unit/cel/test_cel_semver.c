/* SPDX-License-Identifier: Apache-2.0 */
/* Semantic versions. Spec: 12b section 9.8. */
#include "cel/function.h"
#include "test_main.h"

static int parse(const char *text, bool is_normalised, struct bt_arena *arena,
	struct bt_cel_semver *out, struct berth_error *err)
{
	return bt_cel_semver_parse(bt_str_from(text), is_normalised, arena, out, err);
}

START_TEST(test_cel_semver__problems)
{
	static const struct {
		const char *text;
		bool is_normalised;
		const char *message; /* NULL: the text is a version */
	} rows[] = {
		{"0.0.0", false, NULL},
		{"1.2.3", false, NULL},
		{"18446744073709551615.0.0", false, NULL},
		{"1.2.3-alpha.1.0a.-", false, NULL},
		{"1.2.3+001.b-c", false, NULL},
		{"1.2.3-rc-1+b+c", false, "Invalid character(s) found in build meta data \"b+c\""},
		{"1.2.3+a-b", false, NULL},
		{"", false, "Version string empty"},
		{"1", false, "No Major.Minor.Patch elements found"},
		{"1.2", false, "No Major.Minor.Patch elements found"},
		{"v1.2.3", false, "Invalid character(s) found in major number \"v1\""},
		{" 1.2.3", false, "Invalid character(s) found in major number \" 1\""},
		{"1.x.3", false, "Invalid character(s) found in minor number \"x\""},
		{"1.2.3 ", false, "Invalid character(s) found in patch number \"3 \""},
		{"1.2.3.4", false, "Invalid character(s) found in patch number \"3.4\""},
		{"01.2.3", false, "Major number must not contain leading zeroes \"01\""},
		{"1.02.3", false, "Minor number must not contain leading zeroes \"02\""},
		{"1.2.03", false, "Patch number must not contain leading zeroes \"03\""},
		{"1.2.3-", false, "Prerelease is empty"},
		{"1.2.3-a..b", false, "Prerelease is empty"},
		{"1.2.3-01", false,
			"Numeric PreRelease version must not contain leading zeroes \"01\""},
		{"1.2.3-a_b", false, "Invalid character(s) found in prerelease \"a_b\""},
		{"1.2.3+", false, "Build meta data is empty"},
		{"1.2.3-+a", false, "Prerelease is empty"},
		{"1.2.3+a_b", false, "Invalid character(s) found in build meta data \"a_b\""},
		{"18446744073709551616.0.0", false,
			"strconv.ParseUint: parsing \"18446744073709551616\": value out of range"},
		{".1.2", false, "strconv.ParseUint: parsing \"\": invalid syntax"},
		{"1.2.3-99999999999999999999", false,
			"strconv.ParseUint: parsing \"99999999999999999999\": value out of range"},
		{"v1", true, NULL},
		{"01.02", true, NULL},
		{"1.2.003-rc.1+b", true, NULL},
		{"00", true, NULL},
		{"vv1", true, "Invalid character(s) found in major number \"0v1\""},
		{"1-rc", true, "short version cannot contain PreRelease/Build meta data"},
		{"1.2+b", true, "short version cannot contain PreRelease/Build meta data"},
		{"", true, "strconv.ParseUint: parsing \"\": invalid syntax"},
		{" 1", true, "Invalid character(s) found in major number \"0 1\""},
		{"1.2.3-01", true,
			"Numeric PreRelease version must not contain leading zeroes \"01\""},
	};
	struct bt_arena arena = {0};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_cel_semver version;
		int code = parse(rows[i].text, rows[i].is_normalised, &arena, &version, &err);
		const char *message = code != 0 ? berth_error_message(&err) : "";

		ck_assert_msg(strcmp(message, rows[i].message != NULL ? rows[i].message : "") == 0,
			"'%s': %s", rows[i].text, message);
		berth_error_finish(&err);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_cel_semver__parts)
{
	struct bt_arena arena = {0};
	struct bt_cel_semver version;

	ck_assert_int_eq(parse("1.20.3-rc.1+b.2", false, &arena, &version, NULL), 0);
	ck_assert_uint_eq(version.major, 1);
	ck_assert_uint_eq(version.minor, 20);
	ck_assert_uint_eq(version.patch, 3);
	ck_assert(bt_str_equal_c(version.prerelease, "rc.1"));
	ck_assert(bt_str_equal_c(version.build, "b.2"));
	ck_assert_int_eq(parse("v01.00.0x", true, &arena, &version, NULL), BERTH_ERR_INVALID);
	ck_assert_int_eq(parse("v01.020", true, &arena, &version, NULL), 0);
	ck_assert(bt_str_equal_c(version.text, "1.20.0"));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_cel_semver__order)
{
	/* Each version is lower than the next. */
	static const char *const ascending[] = {
		"0.0.0-0",
		"0.0.0",
		"0.9.10",
		"1.0.0-1",
		"1.0.0-2",
		"1.0.0-10",
		"1.0.0--",
		"1.0.0-A",
		"1.0.0-alpha",
		"1.0.0-alpha.1",
		"1.0.0-alpha.beta",
		"1.0.0-beta",
		"1.0.0",
		"1.0.1",
		"1.1.0",
		"10.0.0",
	};
	struct bt_arena arena = {0};
	struct bt_cel_semver a;
	struct bt_cel_semver b;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(ascending); i++) {
		for (size_t j = 0; j < BT_ARRAY_LENGTH(ascending); j++) {
			ck_assert_int_eq(parse(ascending[i], false, &arena, &a, NULL), 0);
			ck_assert_int_eq(parse(ascending[j], false, &arena, &b, NULL), 0);
			if (bt_cel_semver_compare(&a, &b) != BT_ORDER(i, j)) {
				ck_abort_msg("%s and %s", ascending[i], ascending[j]);
			}
		}
	}
	ck_assert_int_eq(parse("1.0.0+a", false, &arena, &a, NULL), 0);
	ck_assert_int_eq(parse("1.0.0+b", false, &arena, &b, NULL), 0);
	ck_assert_int_eq(bt_cel_semver_compare(&a, &b), 0);
	bt_arena_finish(&arena);
}
END_TEST

BT_TEST_MAIN(
	"cel_semver", test_cel_semver__problems, test_cel_semver__parts, test_cel_semver__order)

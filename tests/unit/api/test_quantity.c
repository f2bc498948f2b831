/* SPDX-License-Identifier: Apache-2.0 */
#include "api/quantity.h"

#include "api_test.h"
#include "test_main.h"

#define ERROR_FORM \
	"quantities must match the regular expression " \
	"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
#define ERROR_SUFFIX "unable to parse quantity's suffix"

static struct bt_arena arena;

static int64_t value_of(const char *text)
{
	struct bt_quantity quantity = api_quantity(&arena, text);

	return bt_quantity_value(&quantity);
}

static int64_t milli_of(const char *text)
{
	struct bt_quantity quantity = api_quantity(&arena, text);

	return bt_quantity_milli(&quantity);
}

static const char *printed(const char *text)
{
	struct bt_quantity quantity = api_quantity(&arena, text);

	return api_text(&arena, &quantity);
}

static void check_parse_error(const char *text, const char *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_quantity quantity;

	if (bt_quantity_parse(bt_str_from(text), &arena, &quantity, &err) == 0) {
		ck_abort_msg("'%s' was accepted", text);
	}
	ck_assert_msg(strcmp(berth_error_message(&err), message) == 0, "'%s': %s", text,
		berth_error_message(&err));
	berth_error_finish(&err);
}

static void check_made(
	int64_t mantissa, int32_t exponent, enum bt_quantity_format format, const char *text)
{
	struct bt_quantity quantity = bt_quantity_make(mantissa, exponent, format);

	ck_assert_str_eq(api_text(&arena, &quantity), text);
}

/** Decodes a quantity from a JSON value. */
static int decode_json(const char *json, struct bt_quantity *out, struct berth_error *err)
{
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, api_json(&arena, json));
	return bt_quantity_scalar.decode_json(&bt_quantity_scalar, &reader, &arena, out, err);
}

START_TEST(test_quantity__edge_01_01_milli_rounds_up_to_value)
{
	ck_assert_int_eq(value_of("1500m"), 2);
	ck_assert_int_eq(milli_of("1500m"), 1500);
}
END_TEST

START_TEST(test_quantity__edge_01_02_tenth_of_a_milli)
{
	ck_assert_int_eq(milli_of("0.1m"), 1);
}
END_TEST

START_TEST(test_quantity__edge_01_03_sum_before_conversion)
{
	struct bt_quantity sum = api_quantity(&arena, "500u");

	bt_quantity_add(&sum, &sum, &arena);
	ck_assert_int_eq(bt_quantity_milli(&sum), 1);
}
END_TEST

START_TEST(test_quantity__edge_01_04_finer_than_nano)
{
	ck_assert_str_eq(printed("3.001n"), "4n");
}
END_TEST

START_TEST(test_quantity__edge_01_05_many_fraction_digits)
{
	ck_assert_str_eq(printed("0.00000012345"), "124n");
}
END_TEST

START_TEST(test_quantity__edge_01_06_binary_is_capped)
{
	struct bt_quantity quantity = api_quantity(&arena, "9Ei");

	ck_assert_int_eq(bt_quantity_value(&quantity), INT64_MAX);
	ck_assert_int_eq(quantity.format, BT_QUANTITY_BINARY_SI);
	ck_assert_int_eq(value_of("-9Ei"), -INT64_MAX);
}
END_TEST

START_TEST(test_quantity__edge_01_07_shift_overflow)
{
	struct bt_quantity quantity = api_quantity(&arena, "12E");
	struct bt_quantity less = api_quantity(&arena, "11999P");

	ck_assert_int_eq(bt_quantity_value(&quantity), 0);
	ck_assert_int_gt(bt_quantity_compare(&quantity, &less), 0);
	ck_assert_str_eq(api_text(&arena, &quantity), "12E");
}
END_TEST

START_TEST(test_quantity__edge_01_08_tiny_binary_becomes_decimal)
{
	struct bt_quantity quantity = api_quantity(&arena, "0.000000000001Ki");

	ck_assert_str_eq(api_text(&arena, &quantity), "2n");
	ck_assert_int_eq(quantity.format, BT_QUANTITY_DECIMAL_SI);
}
END_TEST

START_TEST(test_quantity__edge_01_09_malformed)
{
	static const char *const form[] = {"1.1.M", "1+1.0M", "0.1am", "aoeu", " 1", "1 "};
	static const char *const suffix[] = {"0.1mi", ".5i", "1i", "-3.01e-", "1e"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(form); i++) {
		check_parse_error(form[i], ERROR_FORM);
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(suffix); i++) {
		check_parse_error(suffix[i], ERROR_SUFFIX);
	}
}
END_TEST

START_TEST(test_quantity__edge_01_10_json_forms)
{
	static const struct {
		const char *json;
		int64_t value;
	} rows[] = {{"' 1'", 1}, {"1", 1}, {"10", 10}, {"-1", -1}, {"'1 '", 1}, {"1e3", 1000},
		{"2.5E1", 25}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_quantity quantity;

		ck_assert_msg(decode_json(rows[i].json, &quantity, NULL) == 0, "%s", rows[i].json);
		ck_assert_msg(bt_quantity_value(&quantity) == rows[i].value, "%s", rows[i].json);
	}
}
END_TEST

START_TEST(test_quantity__edge_01_11_empty_json_string)
{
	static const char *const rows[] = {"''", "' '", "true", "{}", "[1]", "'1\\u0030'"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_quantity quantity;

		ck_assert_msg(
			decode_json(rows[i], &quantity, &err) == BERTH_ERR_INVALID, "%s", rows[i]);
		ck_assert_str_eq(berth_error_message(&err), ERROR_FORM);
		berth_error_finish(&err);
	}
}
END_TEST

START_TEST(test_quantity__edge_01_12_binary_fractions)
{
	ck_assert_int_eq(value_of("0.5Mi"), 524288);
	ck_assert_str_eq(printed(".001Ki"), "1024m");
}
END_TEST

START_TEST(test_quantity__edge_01_13_canonical_text)
{
	ck_assert_str_eq(printed("1024Mi"), "1Gi");
	ck_assert_str_eq(printed("1000M"), "1G");
	check_made(1025, 0, BT_QUANTITY_BINARY_SI, "1025");
	check_made(500, -3, BT_QUANTITY_BINARY_SI, "500m");
	check_made(1234567, -3, BT_QUANTITY_BINARY_SI, "1234567m");
	check_made(0, 5, BT_QUANTITY_BINARY_SI, "0");
	check_made(0, -3, BT_QUANTITY_DECIMAL_EXPONENT, "0");
}
END_TEST

START_TEST(test_quantity__edge_01_14_exponents_are_multiples_of_three)
{
	check_made(10800, -10, BT_QUANTITY_DECIMAL_SI, "1080n");
	check_made(1, 9, BT_QUANTITY_DECIMAL_EXPONENT, "1e9");
	check_made(80, -3, BT_QUANTITY_DECIMAL_EXPONENT, "80e-3");
}
END_TEST

START_TEST(test_quantity__edge_01_15_zero_takes_the_format)
{
	struct bt_quantity sum = bt_quantity_make(0, 0, BT_QUANTITY_DECIMAL_SI);
	struct bt_quantity gibi = api_quantity(&arena, "1Gi");
	struct bt_quantity one = api_quantity(&arena, "1000m");

	bt_quantity_add(&sum, &gibi, &arena);
	ck_assert_int_eq(sum.format, BT_QUANTITY_BINARY_SI);
	ck_assert_str_eq(api_text(&arena, &sum), "1Gi");
	bt_quantity_sub(&one, &one, &arena);
	ck_assert_str_eq(api_text(&arena, &one), "0");
}
END_TEST

START_TEST(test_quantity__edge_01_16_milli_wraps)
{
	ck_assert_int_eq(milli_of("9223372036854776"), INT64_C(-9223372036854775616));
}
END_TEST

START_TEST(test_quantity__accepts_more_than_the_expression_says)
{
	static const struct {
		const char *text;
		int64_t value;
	} rows[] = {{"M", 0}, {".", 0}, {"1.G", 1000000000}, {".5Mi", 524288}, {"+", 0}, {"-", 0},
		{"00", 0}, {"0", 0}, {"+5", 5}, {"-5k", -5000}, {"007", 7}, {"E", 0},
		{"1E", INT64_C(1000000000000000000)}, {"1e3", 1000}, {"1E3", 1000}, {"1e+3", 1000},
		{"1000e-3", 1}, {"1e4294967296", 1}, {"0e1", 0}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(value_of(rows[i].text) == rows[i].value, "%s: %lld", rows[i].text,
			(long long)value_of(rows[i].text));
	}
}
END_TEST

START_TEST(test_quantity__malformed_suffixes)
{
	static const char *const rows[] = {
		"1k5", "1Mii", "1ee5", "1e9223372036854775808", "1mn", "0i", "1e+"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		check_parse_error(rows[i], ERROR_SUFFIX);
	}
	check_parse_error("", ERROR_FORM);
	check_parse_error("1\xff", ERROR_FORM);
	check_parse_error("--1", ERROR_SUFFIX);
}
END_TEST

START_TEST(test_quantity__keeps_source_text)
{
	static const struct {
		const char *text;
		const char *printed;
	} rows[] = {{"1.500", "1.500"}, {"+1", "+1"}, {"1.5", "1500m"}, {"0.5", "500m"},
		{"100m", "100m"}, {"1000", "1k"}, {"007", "007"}, {"1025Ki", "1025Ki"},
		{"8Ki", "8Ki"}, {"+1Gi", "+1Gi"}, {"1e03", "1e03"}, {"12E3", "12E3"},
		{"1e2", "100"}, {"1000E", "1"}, {"-1536Mi", "-1536Mi"}, {"512Ki", "512Ki"},
		{"0Ki", "0"}, {"123456789012345678901234567890", "123456789012345678901234567890"}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		const char *text = printed(rows[i].text);

		ck_assert_msg(
			strcmp(text, rows[i].printed) == 0, "%s printed %s", rows[i].text, text);
	}
}
END_TEST

START_TEST(test_quantity__change_drops_source_text)
{
	struct bt_quantity sum = api_quantity(&arena, "1.500");
	struct bt_quantity zero = bt_quantity_make(0, 0, BT_QUANTITY_DECIMAL_SI);

	bt_quantity_add(&sum, &zero, &arena);
	ck_assert_str_eq(api_text(&arena, &sum), "1500m");
	bt_quantity_negate(&sum, &arena);
	ck_assert_str_eq(api_text(&arena, &sum), "-1500m");
}
END_TEST

START_TEST(test_quantity__compare_across_forms)
{
	/* In ascending order; a quantity equal to the previous row is marked. */
	static const struct {
		const char *text;
		bool equal_to_previous;
	} rows[] = {{"-1e400", false}, {"-1e30", false}, {"-12E", false}, {"-1", false},
		{"-1n", false}, {"0", false}, {"0Ki", true}, {"1n", false}, {"0.1m", false},
		{"100u", true}, {"1", false}, {"1000m", true}, {"1Ki", false}, {"1024", true},
		{"12E", false}, {"1e2147483647", false}};

	for (size_t i = 1; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_quantity a = api_quantity(&arena, rows[i - 1].text);
		struct bt_quantity b = api_quantity(&arena, rows[i].text);
		int order = bt_quantity_compare(&a, &b);

		ck_assert_msg(
			rows[i].equal_to_previous ? order == 0 : order < 0, "%s", rows[i].text);
		ck_assert_int_eq(bt_quantity_compare(&b, &a), -order);
		ck_assert(bt_quantity_scalar.equal(&a, &b) == rows[i].equal_to_previous);
		if (rows[i].equal_to_previous) {
			ck_assert_uint_eq(
				bt_quantity_scalar.hash(7, &a), bt_quantity_scalar.hash(7, &b));
		}
	}
}
END_TEST

START_TEST(test_quantity__big_sum_converts_like_upstream)
{
	struct bt_quantity sum = bt_quantity_make(INT64_MAX, 0, BT_QUANTITY_DECIMAL_SI);
	struct bt_quantity one = bt_quantity_make(1, 0, BT_QUANTITY_DECIMAL_SI);

	bt_quantity_add(&sum, &one, &arena);
	ck_assert_ptr_nonnull(sum.big);
	ck_assert_int_eq(bt_quantity_value(&sum), INT64_MIN);
	ck_assert_str_eq(api_text(&arena, &sum), "9223372036854775808");
	bt_quantity_sub(&sum, &one, &arena);
	ck_assert_int_eq(bt_quantity_value(&sum), INT64_MAX);
	/* Negative numbers of the big form are truncated toward zero, then 1 is added. */
	ck_assert_int_eq(value_of("-1.5000000000000000000000"), 0);
	ck_assert_int_eq(value_of("-1.5"), -2);
	ck_assert_int_eq(value_of("1.5000000000000000000000"), 2);
}
END_TEST

START_TEST(test_quantity__hostile_numbers_stay_cheap)
{
	char digits[BT_QUANTITY_DIGITS_MAX + 2];
	struct bt_quantity huge = api_quantity(&arena, "1e2147483647");
	struct bt_quantity tiny = api_quantity(&arena, "1e-2147483648");
	struct bt_quantity sum = huge;
	struct bt_quantity other;

	ck_assert_str_eq(api_text(&arena, &tiny), "1e-9");
	ck_assert_int_eq(bt_quantity_value(&huge), 0);
	bt_quantity_add(&sum, &tiny, &arena);
	ck_assert_int_eq(bt_quantity_compare(&sum, &huge), 0);
	sum = tiny;
	bt_quantity_add(&sum, &huge, &arena);
	ck_assert_int_eq(bt_quantity_compare(&sum, &huge), 0);
	bt_quantity_sub(&sum, &huge, &arena);
	ck_assert(bt_quantity_is_zero(&sum));
	ck_assert_int_gt(bt_quantity_compare(&huge, &tiny), 0);
	memset(digits, '9', sizeof(digits));
	digits[BT_QUANTITY_DIGITS_MAX] = '\0';
	other = api_quantity(&arena, digits);
	for (int i = 0; i < 10000; i++) {
		bt_quantity_add(&other, &other, &arena);
	}
	ck_assert_int_gt(bt_quantity_compare(&other, &tiny), 0);
	digits[BT_QUANTITY_DIGITS_MAX] = '9';
	digits[BT_QUANTITY_DIGITS_MAX + 1] = '\0';
	ck_assert_int_eq(
		bt_quantity_parse(bt_str_from(digits), &arena, &other, NULL), BERTH_ERR_TOO_LARGE);
	ck_assert_int_eq(bt_quantity_parse(BT_STR("1234567890123456789"), NULL, &other, NULL),
		BERTH_ERR_TOO_LARGE);
}
END_TEST

START_TEST(test_quantity__resource_list_find)
{
	const struct bt_node *node = api_node(&arena,
		"{'status':{'allocatable':{'pods':'110','cpu':4,'memory':'1Gi','a.b/c':'2'}}}");
	const struct bt_resource_list *list = &node->status.allocatable;

	ck_assert_uint_eq(list->count, 4);
	ck_assert_int_eq(bt_quantity_value(bt_resource_list_find(list, BT_STR("pods"))), 110);
	ck_assert_int_eq(bt_quantity_milli(bt_resource_list_find(list, BT_STR("cpu"))), 4000);
	ck_assert_int_eq(bt_quantity_value(bt_resource_list_find(list, BT_STR("a.b/c"))), 2);
	ck_assert_ptr_null(bt_resource_list_find(list, BT_STR("gpu")));
}
END_TEST

BT_TEST_MAIN("quantity", test_quantity__edge_01_01_milli_rounds_up_to_value,
	test_quantity__edge_01_02_tenth_of_a_milli, test_quantity__edge_01_03_sum_before_conversion,
	test_quantity__edge_01_04_finer_than_nano, test_quantity__edge_01_05_many_fraction_digits,
	test_quantity__edge_01_06_binary_is_capped, test_quantity__edge_01_07_shift_overflow,
	test_quantity__edge_01_08_tiny_binary_becomes_decimal, test_quantity__edge_01_09_malformed,
	test_quantity__edge_01_10_json_forms, test_quantity__edge_01_11_empty_json_string,
	test_quantity__edge_01_12_binary_fractions, test_quantity__edge_01_13_canonical_text,
	test_quantity__edge_01_14_exponents_are_multiples_of_three,
	test_quantity__edge_01_15_zero_takes_the_format, test_quantity__edge_01_16_milli_wraps,
	test_quantity__accepts_more_than_the_expression_says, test_quantity__malformed_suffixes,
	test_quantity__keeps_source_text, test_quantity__change_drops_source_text,
	test_quantity__compare_across_forms, test_quantity__big_sum_converts_like_upstream,
	test_quantity__hostile_numbers_stay_cheap, test_quantity__resource_list_find)

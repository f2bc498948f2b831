/* SPDX-License-Identifier: Apache-2.0 */
/* Published devices as values. Spec: 12b section 4. */
#include "evaluate_fixture.h"

#define DRIVER "gpu.example.com"

/**
 * Evaluates the expression on the device in device_text; the result is "true", "false" or the
 * error.
 */
static void check(
	const char *device_text, bool list_attributes, const char *expression, const char *expected)
{
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_program *program = NULL;
	struct bt_arena arena = {0};
	struct bt_device device = {0};
	struct bt_json_reader reader;
	struct bt_cel_value value;
	bool matches = false;
	int code;

	bt_json_reader_init(&reader, bt_str_from(device_text));
	ck_assert_int_eq(
		bt_message_decode_json(&bt_device_message, &reader, &arena, &device, NULL), 0);
	ck_assert_int_eq(bt_cel_compile(bt_str_from(expression),
				 bt_cel_device_environment(list_attributes), &program, NULL),
		0);
	code = bt_cel_device_make(BT_STR(DRIVER), &device, list_attributes, &arena, &value, &err);
	if (code == 0) {
		code = bt_cel_device_matches(program, &value, &limits, &arena, &matches, &err);
	}
	ck_assert_str_eq(code != 0 ? berth_error_message(&err)
			: matches  ? "true"
				   : "false",
		expected);
	berth_error_finish(&err);
	bt_cel_program_destroy(program);
	bt_arena_finish(&arena);
}

START_TEST(test_cel_device__names_are_split_at_the_first_slash)
{
	static const char device[] =
		"{\"name\":\"d\",\"attributes\":{\"a\":{\"int\":1},\"x.org/a\":{\"int\":2},"
		"\"x.org/b/c\":{\"int\":3},\"" DRIVER "/d\":{\"int\":4},\"/e\":{\"int\":5},"
		"\"z.org/\":{\"int\":6}},\"capacity\":{\"m\":{\"value\":\"1\"},\"x.org/m\":{"
		"\"value\":\"2\"}}}";

	check(device, false, "device.attributes[\"" DRIVER "\"].a == 1", "true");
	check(device, false, "device.attributes[\"x.org\"].a == 2", "true");
	check(device, false, "device.attributes[\"x.org\"][\"b/c\"] == 3", "true");
	check(device, false, "device.attributes[\"" DRIVER "\"].d == 4", "true");
	check(device, false, "device.attributes[\"\"].e == 5", "true");
	check(device, false, "device.attributes[\"z.org\"][\"\"] == 6", "true");
	check(device, false, "device.attributes.size() == 4", "true");
	check(device, false, "device.attributes[\"" DRIVER "\"].size() == 2", "true");
	check(device, false, "device.capacity[\"" DRIVER "\"].m == quantity(\"1\")", "true");
	check(device, false, "device.capacity[\"x.org\"].m == quantity(\"2\")", "true");
	check(device, false, "device.driver == \"" DRIVER "\"", "true");
	check(device, false, "device.allowMultipleAllocations", "false");
}
END_TEST

START_TEST(test_cel_device__nothing_published)
{
	check("{\"name\":\"d\"}", false, "device.attributes == {} && device.capacity == {}",
		"true");
	check("{\"name\":\"d\"}", false, "has(device.attributes.a) && !has(device.attributes.a.b)",
		"true");
	check("{\"name\":\"d\",\"allowMultipleAllocations\":true}", false,
		"device.allowMultipleAllocations", "true");
	check("{\"name\":\"d\",\"allowMultipleAllocations\":false}", false,
		"device.allowMultipleAllocations", "false");
}
END_TEST

/* Spec sections 16.5, 16.6 */
START_TEST(test_cel_device__one_bad_attribute_is_enough)
{
	static const char bad[] =
		"{\"name\":\"d\",\"attributes\":{\"ok\":{\"bool\":true},\"x.org/v\":{\"version\":"
		"\"1.2\"}}}";
	static const char empty[] =
		"{\"name\":\"d\",\"attributes\":{\"ok\":{\"bool\":true},\"x.org/v\":{}}}";

	check(bad, false, "true",
		"attribute x.org/v: parse semantic version: No Major.Minor.Patch elements found");
	check(empty, false, "true", "attribute x.org/v: unsupported attribute value");
	check(empty, true, "true", "attribute x.org/v: unsupported attribute value");
}
END_TEST

START_TEST(test_cel_device__lists_need_their_gate)
{
	static const char device[] =
		"{\"name\":\"d\",\"attributes\":{\"l\":{\"ints\":[1,2],\"string\":\"s\"}}}";
	static const char versions[] =
		"{\"name\":\"d\",\"attributes\":{\"l\":{\"versions\":[\"1.0.0\",\"x\"]}}}";
	static const char none[] = "{\"name\":\"d\",\"attributes\":{\"l\":{\"bools\":[]}}}";

	check(device, true, "device.attributes[\"" DRIVER "\"].l == [1, 2]", "true");
	check(device, false, "device.attributes[\"" DRIVER "\"].l == \"s\"", "true");
	check(versions, true, "true",
		"attribute l: parse semantic version: No Major.Minor.Patch elements found");
	check(versions, false, "true", "attribute l: unsupported attribute value");
	check(none, true, "device.attributes[\"" DRIVER "\"].l.size() == 0", "true");
}
END_TEST

START_TEST(test_cel_device__empty_texts_are_values)
{
	check("{\"name\":\"d\",\"attributes\":{\"s\":{\"string\":\"\"}}}", false,
		"device.attributes[\"" DRIVER "\"].s == \"\"", "true");
	check("{\"name\":\"d\",\"attributes\":{\"v\":{\"version\":\"\"}}}", false, "true",
		"attribute v: parse semantic version: Version string empty");
	check("{\"name\":\"d\",\"attributes\":{\"i\":{\"int\":-9223372036854775808}}}", false,
		"device.attributes[\"" DRIVER "\"].i == -9223372036854775808", "true");
}
END_TEST

BT_TEST_MAIN("cel_device", test_cel_device__names_are_split_at_the_first_slash,
	test_cel_device__nothing_published, test_cel_device__one_bad_attribute_is_enough,
	test_cel_device__lists_need_their_gate, test_cel_device__empty_texts_are_values)

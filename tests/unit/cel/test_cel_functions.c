/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the language. Each expression must be true or end with an error. Spec: 12b section
 * 9.
 */
#include "cel/cel.h"
#include "test_main.h"

struct row {
	const char *expression;
	const char *error; /* NULL: the result is true; ends with "...": a prefix of the error */
};

/** Returns "true", "false" or the error of the evaluation; the text is in the arena. */
static struct bt_str evaluate(
	const char *expression, const struct bt_cel_limits *limits, struct bt_arena *arena)
{
	static const struct bt_cel_environment environment = {.must_be_bool = true};
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_cel_value value;
	struct bt_str text;

	if (bt_cel_compile(bt_str_from(expression), &environment, &program, &err) != 0) {
		text = bt_arena_printf(arena, "refused: %s", berth_error_message(&err));
		berth_error_finish(&err);
		return text;
	}
	value = bt_cel_evaluate(program, NULL, limits, arena);
	text = value.kind == BT_CEL_ERROR   ? bt_arena_str(arena, value.text)
		: value.kind != BT_CEL_BOOL ? BT_STR("not a bool")
		: value.boolean             ? BT_STR("true")
					    : BT_STR("false");
	bt_cel_program_destroy(program);
	return text;
}

static bool is_expected(struct bt_str got, const char *error)
{
	struct bt_str want = bt_str_from(error != NULL ? error : "true");

	if (bt_str_has_suffix(want, BT_STR("..."))) {
		return bt_str_has_prefix(got, bt_str_sub(want, 0, want.length - 3));
	}
	return bt_str_equal(got, want);
}

static void check_rows(const struct row *rows, size_t count)
{
	const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct bt_arena arena = {0};

	for (size_t i = 0; i < count; i++) {
		struct bt_str got = evaluate(rows[i].expression, &limits, &arena);

		ck_assert_msg(is_expected(got, rows[i].error), "%s\n got %.*s\nwant %s",
			rows[i].expression, BT_STR_ARG(got),
			rows[i].error != NULL ? rows[i].error : "true");
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}

#define CHECK_ROWS(rows) check_rows((rows), sizeof(rows) / sizeof((rows)[0]))

START_TEST(test_cel_functions__size_type_dyn)
{
	static const struct row rows[] = {
		{"size('a\\u00e9\\U0001F600') == 3 && 'abc'.size() == 3", NULL},
		{"size(b'\\u00e9') == 2 || size(b'\\xc3\\xa9') == 2", "refused: compilation..."},
		{"size(b'\\xc3\\xa9') == 2 && b'ab'.size() == 2", NULL},
		{"size([1, 2]) == 2 && [1].size() == 1 && size({1: 2}) == 1", NULL},
		{"size(dyn(1)) == 1", "no such overload: size"},
		{"type(dyn(1)) == int && type(1u) == uint && type(1.0) == double", NULL},
		{"type('') == string && type(b'') == bytes && type(true) == bool", NULL},
		{"type(null) == null_type && type([1]) == list && type({1: 2}) == map", NULL},
		{"type(type(1)) == type && type(optional.none()) == optional_type", NULL},
		{"type(duration('1s')) == google.protobuf.Duration", NULL},
		{"type(timestamp(0)) == google.protobuf.Timestamp", NULL},
		{"type(ip('::1')) == net.IP && type(cidr('::/0')) == net.CIDR", NULL},
		{"type(1) != string && type(dyn([1])) != map", NULL},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__to_bool_int_uint)
{
	static const struct row rows[] = {
		{"['1', 't', 'T', 'TRUE', 'true', 'True'].all(x, bool(x))", NULL},
		{"['0', 'f', 'F', 'FALSE', 'false', 'False'].all(x, !bool(x))", NULL},
		{"bool(true) && bool('t' + 'rue')", NULL},
		{"bool('tr' + 'UE')", "type conversion error from 'string' to 'bool'"},
		{"bool('' + '')", "type conversion error from 'string' to 'bool'"},
		{"bool(dyn(1))",
			"refused: program instantiation failed: type conversion error "
			"from 'int' to 'bool'..."},
		{"bool(dyn([1].map(x, x)))", "type conversion error from 'list' to 'bool'"},
		{"int('9223372036854775807') == 9223372036854775807 && int('-1') == -1", NULL},
		{"int('+7') == 7 && int(7) == 7 && int(7u) == 7 && int(2.9) == 2", NULL},
		{"int('0x' + '1') == 1", "type conversion error from 'string' to 'int'"},
		{"int('922337203685477580' + '8') == 1",
			"type conversion error from 'string' to 'int'"},
		{"int(18446744073709551615u - 0u) == 1", "integer overflow"},
		{"int(9223372036854775807.0 + 0.0) == 1", "integer overflow"},
		{"int(-9223372036854775808.0 + 0.0) == 1", "integer overflow"},
		{"int(0.0 / 0.0) == 1", "integer overflow"},
		{"int(1.0 / 0.0) == 1", "integer overflow"},
		{"int(timestamp('1970-01-01T00:01:00.9Z')) == 60", NULL},
		{"int(duration('1.5s')) == 1500000000", NULL},
		{"int([dyn(null)][0]) == 1", "type conversion error from 'null_type' to 'int'"},
		{"uint('18446744073709551615') == 18446744073709551615u && uint(2.9) == 2u", NULL},
		{"uint(7) == 7u && uint(7u) == 7u", NULL},
		{"uint(0 - 1) == 1u", "unsigned integer overflow"},
		{"uint(0.0 - 0.5) == 1u", "unsigned integer overflow"},
		{"uint(18446744073709551616.0 + 0.0) == 1u", "unsigned integer overflow"},
		{"uint('+' + '1') == 1u", "type conversion error from 'string' to 'uint'"},
		{"uint('1844674407370955161' + '6') == 1u",
			"type conversion error from 'string' to 'uint'"},
		{"uint('' + '') == 1u", "type conversion error from 'string' to 'uint'"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__to_double_string_bytes)
{
	static const struct row rows[] = {
		{"double('1.5') == 1.5 && double('-.5e1') == -5.0 && double('2.') == 2.0", NULL},
		{"double('inf') == 1.0 / 0.0 && double('-Infinity') == -1.0 / 0.0", NULL},
		{"double('nan') != double('nan') && double(1) == 1.0 && double(1u) == 1.0", NULL},
		{"double('1e40' + '0') == 1.0", "type conversion error from 'string' to 'double'"},
		{"double(' 1' + '') == 1.0", "type conversion error from 'string' to 'double'"},
		{"double('1e' + '') == 1.0", "type conversion error from 'string' to 'double'"},
		{"double('.' + '') == 1.0", "type conversion error from 'string' to 'double'"},
		{"double('' + '') == 1.0", "type conversion error from 'string' to 'double'"},
		{"string(true) == 'true' && string(-1) == '-1' && string(1u) == '1'", NULL},
		{"string(1.0) == '1' && string(0.1) == '0.1' && string(1e6) == '1e+06'", NULL},
		{"string(1.0 / 0.0) == '+Inf' && string(0.0 / 0.0) == 'NaN'", NULL},
		{"string(b'ab') == 'ab' && string('a') == 'a'", NULL},
		{"string(b'\\xff') == ''",
			"refused: program instantiation failed: "
			"invalid UTF-8 in bytes, cannot convert to string..."},
		{"string(b'\\xff' + b'') == ''",
			"invalid UTF-8 in bytes, cannot convert to string"},
		{"string(duration('1h30m')) == '5400s' && string(duration('500ms')) == '0.5s'",
			NULL},
		{"string(duration('-1.5s')) == '-1.5s' && string(duration('0')) == '0s'", NULL},
		{"string(timestamp('2024-01-02T03:04:05+01:00')) == '2024-01-02T02:04:05Z'", NULL},
		{"string(timestamp('2024-01-02T03:04:05.120Z')) == '2024-01-02T03:04:05.12Z'",
			NULL},
		{"string(timestamp('0001-01-01T00:00:00Z')) == '0001-01-01T00:00:00Z'", NULL},
		{"string(ip('2001:DB8::1')) == '2001:db8::1'", NULL},
		{"string(cidr('10.0.0.1/8')) == '10.0.0.1/8'", NULL},
		{"string(dyn(semver('1.2.3'))) == ''",
			"type conversion error from 'kubernetes.Semver' to 'string'"},
		{"bytes('\u00e9') == b'\\xc3\\xa9' && bytes(b'a') == b'a'", NULL},
		{"bytes(dyn([1].map(x, x))) == b''",
			"type conversion error from 'list' to 'bytes'"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__to_duration_timestamp)
{
	static const struct row rows[] = {
		{"duration('1h1m1s1ms1us1ns') == duration('3661001001001ns')", NULL},
		{"duration(duration('-1s')) == duration('-1s')", NULL},
		{"duration('1' + '') == duration('1s')",
			"type conversion error from 'string' to 'google.protobuf.Duration'"},
		{"duration('1d' + '') == duration('1s')",
			"type conversion error from 'string' to 'google.protobuf.Duration'"},
		{"duration(1 + 1) == duration('1s')",
			"type conversion error from 'int' to 'google.protobuf.Duration'"},
		{"timestamp(60) == timestamp('1970-01-01T00:01:00Z')", NULL},
		{"timestamp(timestamp(60)) == timestamp(60)", NULL},
		{"timestamp(253402300799) == timestamp('9999-12-31T23:59:59Z')", NULL},
		{"timestamp(253402300799 + 1) == timestamp(0)", "timestamp overflow"},
		{"timestamp(-62135596800 - 1) == timestamp(0)", "timestamp overflow"},
		{"timestamp('2024-13-01T00:00:00' + 'Z') == timestamp(0)",
			"type conversion error from 'string' to 'google.protobuf.Timestamp'"},
		{"timestamp('0001-01-01T00:00:00+0' + '1:00') == timestamp(0)",
			"timestamp overflow"},
	};

	CHECK_ROWS(rows);
}
END_TEST

#define T "timestamp('2024-02-29T23:59:58.123456Z')"

START_TEST(test_cel_functions__parts_of_times)
{
	static const struct row rows[] = {
		{T ".getFullYear() == 2024 && " T ".getMonth() == 1", NULL},
		{T ".getDate() == 29 && " T ".getDayOfMonth() == 28", NULL},
		{T ".getDayOfWeek() == 4 && " T ".getDayOfYear() == 59", NULL},
		{T ".getHours() == 23 && " T ".getMinutes() == 59", NULL},
		{T ".getSeconds() == 58 && " T ".getMilliseconds() == 123", NULL},
		{T ".getDate('+05:30') == 1 && " T ".getHours('+05:30') == 5", NULL},
		{T ".getMinutes('05:30') == 29 && " T ".getMonth('+00:01') == 2", NULL},
		{T ".getHours('-08:00') == 15 && " T ".getHours('UTC') == 23", NULL},
		{T ".getHours('') == 23 && " T ".getHours('-1:30') == 22", NULL},
		{T ".getHours('Europe/Berlin') == 1", "unknown time zone Europe/Berlin"},
		{T ".getHours('+05:3x') == 1", "unknown time zone +05:3x"},
		{T ".getHours('+:30') == 1", "unknown time zone +:30"},
		{"timestamp(-1).getFullYear() == 1969 && timestamp(-1).getSeconds() == 59", NULL},
		{"timestamp('1900-01-01T00:00:00Z').getDayOfWeek() == 1", NULL},
		{"duration('90m').getHours() == 1 && duration('90m').getMinutes() == 90", NULL},
		{"duration('1m1.5s').getSeconds() == 61", NULL},
		{"duration('1m1.5s').getMilliseconds() == 500", NULL},
		{"dyn('x').getHours() == 1", "no such overload: getHours(string)"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__places_in_strings)
{
	static const struct row rows[] = {
		{"'h\u00e9llo'.charAt(1) == '\u00e9' && 'ab'.charAt(2) == ''", NULL},
		{"'ab'.charAt(3) == ''", "index out of range: 3"},
		{"'ab'.charAt(-1) == ''", "index out of range: -1"},
		{"'h\u00e9h\u00e9'.indexOf('\u00e9') == 1 && 'abc'.indexOf('x') == -1", NULL},
		{"'h\u00e9h\u00e9'.indexOf('\u00e9', 2) == 3 && 'abc'.indexOf('a', 1) == -1", NULL},
		{"'abc'.indexOf('') == 0 && 'abc'.indexOf('', 2) == 2", NULL},
		{"'abc'.indexOf('a', 3) == -1 && 'abc'.indexOf('a', 9) == -1", NULL},
		{"'abc'.indexOf('a', -1) == 1", "index out of range: -1"},
		{"'h\u00e9h\u00e9'.lastIndexOf('\u00e9') == 3", NULL},
		{"'h\u00e9h\u00e9'.lastIndexOf('\u00e9', 2) == 1", NULL},
		{"'abc'.lastIndexOf('') == 3 && 'abc'.lastIndexOf('', 1) == 1", NULL},
		{"'abc'.lastIndexOf('x') == -1 && 'abc'.lastIndexOf('a', 3) == -1", NULL},
		{"'abc'.lastIndexOf('b', 0) == -1 && 'ab'.lastIndexOf('abc') == -1", NULL},
		{"'abc'.lastIndexOf('a', -2) == 1", "index out of range: -2"},
		{"'h\u00e9llo'.substring(1, 3) == '\u00e9l' && 'abc'.substring(3) == ''", NULL},
		{"'abc'.substring(0, 3) == 'abc' && 'abc'.substring(2, 2) == ''", NULL},
		{"'abc'.substring(4) == ''", "index out of range: 4"},
		{"'abc'.substring(-1, 1) == ''", "index out of range: -1"},
		{"'abc'.substring(1, 4) == ''", "index out of range: 4"},
		{"'abc'.substring(2, 1) == ''", "invalid substring range. start: 2, end: 1"},
		{"'abc'.startsWith('') && 'abc'.endsWith('c') && 'abc'.contains('bc')", NULL},
		{"dyn(1).startsWith('a')", "no such overload"},
		{"'a'.endsWith(dyn(1))", "no such overload"},
		{"dyn(1).contains('a')", "no such overload"},
		{"dyn(1).charAt(0) == ''", "no such overload: charAt(int, int)"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__changed_strings)
{
	static const struct row rows[] = {
		{"'A\u00c9z'.lowerAscii() == 'a\u00c9z' && 'a\u00e9Z'.upperAscii() == 'A\u00e9Z'",
			NULL},
		{"'a-b-c'.replace('-', '+') == 'a+b+c' && 'aaa'.replace('aa', 'b') == 'ba'", NULL},
		{"'a-b-c'.replace('-', '', 1) == 'ab-c' && 'a-b'.replace('-', '+', 0) == 'a-b'",
			NULL},
		{"'a\u00e9'.replace('', '.') == '.a.\u00e9.' && ''.replace('', 'x') == 'x'", NULL},
		{"'ab'.replace('', '.', 2) == '.a.b' && 'ab'.replace('x', 'y', -1) == 'ab'", NULL},
		{"'a,b,'.split(',') == ['a', 'b', ''] && ''.split(',') == ['']", NULL},
		{"'a,b,c'.split(',', 2) == ['a', 'b,c'] && 'a,b'.split(',', 0) == []", NULL},
		{"'a,b,c'.split(',', -1).size() == 3 && 'a,b'.split(',', 9) == ['a', 'b']", NULL},
		{"'a\u00e9b'.split('') == ['a', '\u00e9', 'b'] && ''.split('') == []", NULL},
		{"'a\u00e9b'.split('', 2) == ['a', '\u00e9b']", NULL},
		{"' \\t\\u00a0\\u3000a b\\u2028\\n'.trim() == 'a b' && ' '.trim() == ''", NULL},
		{"strings.quote('a\"\\\\\\n\\t\\a\\b\\f\\r\\v\u00e9') == "
		 "'\"a\\\\\"\\\\\\\\\\\\n\\\\t\\\\a\\\\b\\\\f\\\\r\\\\v\u00e9\"'",
			NULL},
		{"['a', 'b'].join() == 'ab' && ['a', 'b'].join(', ') == 'a, b'", NULL},
		{"[].join(',') == '' && ['', ''].join('-') == '-'", NULL},
		{"dyn(['a', 1]).join(',') == ''", "refused: compilation..."},
		{"[dyn('a'), dyn(1)].join(',') == ''", "join: invalid input: 1"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__format)
{
	static const struct row rows[] = {
		{"'%s|%s|%s|%%'.format(['a', 1, 2u]) == 'a|1|2|%'", NULL},
		{"'%s %s %s'.format([true, 1.5, null]) == 'true 1.5 null'", NULL},
		{"'%s'.format([1e21]) == '1000000000000000000000'", NULL},
		{"'%s %s'.format([b'ab', type(1)]) == 'ab int'", NULL},
		{"'%s'.format([duration('1h45m47s')]) == '6347s'", NULL},
		{"'%s'.format([timestamp('2023-02-03T23:31:20+00:00')]) == "
		 "'2023-02-03T23:31:20Z'",
			NULL},
		{"'%s'.format([[1, 2, 3]]) == '[1, 2, 3]'", NULL},
		{"'%s'.format([{'b': 'y', 'a': 'x'}]) == '{\"a\":\"x\", \"b\":\"y\"}'", NULL},
		{"'%d %d'.format([-3, 3u]) == '-3 3'", NULL},
		{"'%b %b %b'.format([5, true, -2]) == '101 1 -10'", NULL},
		{"'%o %x %X'.format([30, 26, 26]) == '36 1a 1A'", NULL},
		{"'%x %X'.format(['hi', b'\\xff']) == '6869 FF'", NULL},
		{"'%x'.format([-9223372036854775808]) == '-8000000000000000'", NULL},
		{"'%f %.2f %.0f'.format([1234.5, 1.005, 2.5]) == '1,234.500000 1.00 2'", NULL},
		{"'%f'.format([-1234567.0]) == '-1,234,567.000000'", NULL},
		{"'%f %f'.format([1.0 / 0.0, 0.0 / 0.0]) == '\u221e NaN'", NULL},
		{"'%e'.format([2.71828]) == '2.718280\u202f\u00d7\u202f10\u2070\u2070'", NULL},
		{"'%.1e'.format([0.00012]) == '1.2\u202f\u00d7\u202f10\u207b\u2070\u2074'", NULL},
		{"'\u00e9%s'.format(['x']) == '\u00e9x'", NULL},
		{"('%d' + '').format([dyn('x')]) == ''",
			"error during formatting: decimal clause can only be used on integers, "
			"was given string"},
		{"('%b' + '').format([dyn('x')]) == ''",
			"error during formatting: only integers and bools can be formatted as "
			"binary, was given string"},
		{"('%o' + '').format([dyn(1.0)]) == ''",
			"error during formatting: octal clause can only be used on integers, was "
			"given double"},
		{"('%x' + '').format([dyn(1.0)]) == ''",
			"error during formatting: only integers, byte buffers, and strings can be "
			"formatted as hex, was given double"},
		{"('%f' + '').format([dyn(1)]) == ''",
			"error during formatting: fixed-point clause can only be used on doubles, "
			"was given int"},
		{"('%e' + '').format([dyn(1)]) == ''",
			"error during formatting: scientific clause can only be used on doubles, "
			"was given int"},
		{"('%s' + '').format([dyn(ip('::1'))]) == ''",
			"error during formatting: string clause can only be used on strings, "
			"bools, bytes, ints, doubles, maps, lists, types, durations, and "
			"timestamps, was given net.IP"},
		{"('%s%s' + '').format(['a']) == ''", "index 1 out of range"},
		{"('%y' + '').format(['a']) == ''",
			"could not parse formatting clause: unrecognized formatting clause \"y\""},
		{"('a%' + '').format(['a']) == ''",
			"could not parse formatting clause: unexpected end of string"},
		{"('%.f' + '').format([1.0]) == ''",
			"could not parse formatting clause: error while parsing precision"},
		{"('%.999999999f' + '').format([1.0]) == ''",
			"operation cancelled: actual cost limit exceeded"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__lists)
{
	static const struct row rows[] = {
		{"[1, 2, 3].slice(1, 3) == [2, 3] && [1].slice(1, 1) == [] && [].slice(0, 0) == []",
			NULL},
		{"[1].slice(-1, 1) == []", "cannot slice(-1, 1), negative indexes not supported"},
		{"[1].slice(1, 0) == []",
			"cannot slice(1, 0), start index must be less than or equal to end index"},
		{"[1].slice(0, 2) == []", "cannot slice(0, 2), list is length 1"},
		{"[[1], [2, 3], []].flatten() == [1, 2, 3]", NULL},
		{"[dyn(1), dyn([dyn(2), dyn([3])])].flatten(1) == [dyn(1), dyn(2), dyn([3])]",
			NULL},
		{"[dyn(1), dyn([dyn(2), dyn([dyn(3), dyn([4])])])].flatten(9) == [1, 2, 3, 4]",
			NULL},
		{"[dyn([1])].flatten(0) == [[1]]", NULL},
		{"[dyn([1])].flatten(-1) == []", "level must be non-negative"},
		{"[3, 1, 2].sort() == [1, 2, 3] && ['b', 'a'].sort() == ['a', 'b']", NULL},
		{"[2.0, -1.0].sort() == [-1.0, 2.0] && [true, false].sort() == [false, true]",
			NULL},
		{"[2u, 1u].sort() == [1u, 2u] && [b'b', b'a'].sort() == [b'a', b'b']", NULL},
		{"[duration('2s'), duration('1s')].sort()[0] == duration('1s')", NULL},
		{"[timestamp(2), timestamp(1)].sort()[0] == timestamp(1)", NULL},
		{"[dyn(1), dyn('a')].sort() == []", "list elements must have the same type"},
		{"[dyn([1]), dyn([2])].sort() == []", "list elements must be comparable"},
		{"['aa', 'b'].sortBy(x, x.size()) == ['b', 'aa']", NULL},
		{"lists.range(3) == [0, 1, 2] && lists.range(0) == [] && lists.range(-1) == []",
			NULL},
		{"[1, 2].reverse() == [2, 1] && [].reverse() == []", NULL},
		{"dyn('ab').reverse() == []", "no such overload: reverse(string)"},
		{"[1, 2, 1, 3, 2].distinct() == [1, 2, 3]", NULL},
		{"[dyn(1), dyn(1.0), dyn(1u), dyn('1')].distinct().size() == 2", NULL},
		{"[1, 1, 2].isSorted() && ![2, 1].isSorted() && ['a', 'b'].isSorted()", NULL},
		{"[0.0, 0.0 / 0.0].isSorted()", "NaN values cannot be ordered"},
		{"[dyn(1), dyn('a')].isSorted()", "no such overload"},
		{"[1, 2].sum() == 3 && [1u, 2u].sum() == 3u && [0.5, 1.0].sum() == 1.5", NULL},
		{"[duration('1s'), duration('2s')].sum() == duration('3s')", NULL},
		{"[9223372036854775807, 1].sum() == 0", "integer overflow"},
		{"[18446744073709551615u, 1u].sum() == 0u", "unsigned integer overflow"},
		{"[duration('9223372036s'), duration('9223372036s')].sum() == duration('1s')",
			"duration overflow"},
		{"[1, 3, 2].max() == 3 && [2, 1].min() == 1 && ['a', 'b'].max() == 'b'", NULL},
		{"[1].slice(0, 0).min() == 1", "min called on empty list"},
		{"[1].slice(0, 0).max() == 1", "max called on empty list"},
		{"[1].slice(0, 0).sum() == 0", NULL},
		{"[duration('1s')].slice(0, 0).sum() == duration('0s') && type([0.5].slice(0, "
		 "0).sum()) == double",
			NULL},
		{"[1, 2, 1].indexOf(1) == 0 && [1, 2, 1].lastIndexOf(1) == 2", NULL},
		{"[1].indexOf(2) == -1 && [1].lastIndexOf(2) == -1", NULL},
		{"[1, 2].first().value() == 1 && [1, 2].last().value() == 2", NULL},
		{"[].first() == optional.none() && [].last() == optional.none()", NULL},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__sets_optionals_includes)
{
	static const struct row rows[] = {
		{"sets.contains([1, 2], [2]) && sets.contains([1], []) && !sets.contains([], [1])",
			NULL},
		{"sets.contains([dyn(1)], [dyn(1.0), dyn(1u)])", NULL},
		{"sets.equivalent([1, 1, 2], [2, 1]) && !sets.equivalent([1], [1, 2])", NULL},
		{"sets.equivalent([], []) && !sets.equivalent([1, 2], [1])", NULL},
		{"sets.intersects([1, 2], [2, 3]) && !sets.intersects([1], [2])", NULL},
		{"!sets.intersects([1], []) && !sets.intersects([], [])", NULL},
		{"optional.of(1).hasValue() && optional.of(1).value() == 1", NULL},
		{"optional.none().value() == 1", "optional.none() dereference"},
		{"!optional.none().hasValue() && optional.of(null).hasValue()", NULL},
		{"['', b'', false, 0, 0u, 0.0, [], {}, null, duration('0')].all(x, "
		 "!optional.ofNonZeroValue(x).hasValue())",
			"refused: compilation..."},
		{"[dyn(''), dyn(b''), dyn(false), dyn(0), dyn(0u), dyn(0.0), dyn([]), dyn({}), "
		 "dyn(null), dyn(duration('0'))].all(x, !optional.ofNonZeroValue(x).hasValue())",
			NULL},
		{"[dyn('a'), dyn(true), dyn(-1), dyn(1u), dyn(0.1), dyn([0]), dyn({0: 0}), "
		 "dyn(ip('0.0.0.0'))].all(x, optional.ofNonZeroValue(x).hasValue())",
			NULL},
		{"optional.none().or(optional.of(2)).value() == 2", NULL},
		{"optional.none().orValue(3) == 3 && optional.of(1).orValue(3) == 1", NULL},
		{"optional.unwrap([optional.of(1), optional.none()]) == [1]", NULL},
		{"[optional.of(1), optional.none()].unwrapOpt() == [1]", NULL},
		{"optional.unwrap([dyn(1)]) == []", "value 1 is not an optional type"},
		{"dyn([1, 2]).includes(2) && dyn(2).includes(2) && !dyn(2).includes('2')", NULL},
		{"lists.range(48).includes(47) && lists.range(49).includes(0)", NULL},
		{"!lists.range(48).includes(48)", NULL},
		{"lists.range(49).includes(48)",
			"'includes' function cannot be applied to lists longer than 48 values"},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__regular_expressions)
{
	static const struct row rows[] = {
		{"'abc'.matches('^a.c$') && matches('abc', 'b') && !'abc'.matches('^b')", NULL},
		{"'abc'.matches('[' + '')", "error parsing regexp: missing closing ]: `[`"},
		{"dyn(1).matches('a')", "no such overload"},
		{"dyn(1).matches('a' + '')", "no such overload: matches"},
		{"'abc'.find('[b-z]+') == 'bc' && 'abc'.find('x') == ''", NULL},
		{"'abc'.find('[' + '') == ''",
			"Illegal regex: error parsing regexp: missing closing ]: `[`"},
		{"'a1b22'.findAll('[0-9]+') == ['1', '22'] && 'a'.findAll('x') == []", NULL},
		{"'a1b22c3'.findAll('[0-9]+', 2) == ['1', '22'] && 'a'.findAll('a', 0) == []",
			NULL},
		{"'a1b2'.findAll('[0-9]', -1) == ['1', '2']", NULL},
		{"'ab'.findAll('') == ['', '', ''] && 'baab'.findAll('a*') == ['', 'aa', '']",
			NULL},
		{"'\u00e9\u00e9'.findAll('') == ['', '', '']", NULL},
		{"'aa'.findAll('^a') == ['a'] && 'ab ab'.findAll('\\\\bab') == ['ab', 'ab']", NULL},
		{"'abc'.findAll('[' + '') == []",
			"Illegal regex: error parsing regexp: missing closing ]: `[`"},
	};

	CHECK_ROWS(rows);
}
END_TEST

#define URL_ERROR "URL parse error during conversion from string: parse "
#define U "url('HTTPS://u:p@Example.com:80/a%20b/c?x=1&y=2&x=3%2B+')"

START_TEST(test_cel_functions__urls)
{
	static const struct row rows[] = {
		{U ".getScheme() == 'https' && " U ".getHost() == 'Example.com:80'", NULL},
		{U ".getHostname() == 'Example.com' && " U ".getPort() == '80'", NULL},
		{U ".getEscapedPath() == '/a%20b/c'", NULL},
		{U ".getQuery() == {'x': ['1', '3+ '], 'y': ['2']}", NULL},
		{"url('/a b').getEscapedPath() == '/a%20b' && url('/').getHost() == ''", NULL},
		{"url('http://[::1]:8080/').getHostname() == '::1'", NULL},
		{"url('http://[fe80::1%25en0]/').getHost() == '[fe80::1%en0]'", NULL},
		{"url('mailto:a@b').getScheme() == 'mailto'", NULL},
		{"url('/p?a=%zz&b;c&&d').getQuery() == {'d': ['']}", NULL},
		{"isURL('https://a/b') && isURL('/a') && !isURL('a/b') && !isURL('')", NULL},
		{"url('http://a') == url('HTTP://a') && url('/a') != url('/b')", NULL},
		{"url('a') == url('b')", URL_ERROR "\"a\": invalid URI for request"},
		{"url('') == url('b')", URL_ERROR "\"\": empty url"},
		{"url(':a') == url('b')", URL_ERROR "\":a\": missing protocol scheme"},
		{"url('/\\n') == url('b')",
			URL_ERROR "\"/\\n\": net/url: invalid control character in URL"},
		{"url('/%zz') == url('b')", URL_ERROR "\"/%zz\": invalid URL escape \"%zz\""},
		{"url('http://a b/') == url('b')",
			URL_ERROR "\"http://a b/\": invalid character \" \" in host name"},
		{"url('http://a:b/') == url('b')",
			URL_ERROR "\"http://a:b/\": invalid port \":b\" after host"},
		{"url('http://[a/') == url('b')", URL_ERROR "\"http://[a/\": missing ']' in host"},
		{"url('http://a{@b/') == url('b')",
			URL_ERROR "\"http://a{@b/\": net/url: invalid userinfo"},
		{"url('/a') == dyn(1)", "no such overload"},
	};

	CHECK_ROWS(rows);
}
END_TEST

#define BOTH "9999999999999999999999999999999999999G"

START_TEST(test_cel_functions__quantities)
{
	static const struct row rows[] = {
		{"quantity('1Gi') == quantity('1024Mi') && quantity('1k') != quantity('1Ki')",
			NULL},
		{"quantity('10Mo').sign() == 1", "refused: compilation..."},
		{"sign(quantity('1Mo')) == 1",
			"quantities must match the regular expression "
			"'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"},
		{"sign(quantity('1Mm')) == 1", "unable to parse quantity's suffix"},
		{"isQuantity('1') && isQuantity('-1.5e3') && !isQuantity('') && !isQuantity('x')",
			NULL},
		{"sign(quantity('0')) == 0 && sign(quantity('1n')) == 1", NULL},
		{"quantity('1').compareTo(quantity('2')) == -1", NULL},
		{"quantity('3').add(quantity('4Ki')).sub(1) == quantity('4098')", NULL},
		{"quantity('" BOTH "').add(quantity('1')).isGreaterThan(quantity('" BOTH "'))",
			NULL},
		{"['50.703k', '1.5k', '1Gi', '20', '0', '0.0k', '0Gi', '00', '1e3'].all(x, "
		 "quantity(x).isInteger())",
			NULL},
		{"['1000m', '1.0', '1.5Gi', '0.0', '-0.0Gi', '0Ei', '0e-1', '" BOTH
		 "', '10E'].all(x, "
		 "!quantity(x).isInteger())",
			NULL},
		{"quantity('50.703k').asInteger() == 50703 && quantity('-5').asInteger() == -5",
			NULL},
		{"quantity('1.0').asInteger() == 1", "cannot convert value to integer"},
		{"quantity('1.5').asApproximateFloat() == 1.5", NULL},
		{"quantity('1Gi').asApproximateFloat() == 1073741824.0", NULL},
		{"quantity('-1e30').asApproximateFloat() == -1e30", NULL},
		{"quantity('" BOTH "').asApproximateFloat() > 1e45", NULL},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__named_formats)
{
	static const struct row rows[] = {
		{"format.named('dns1123Label').value() == format.dns1123Label()", NULL},
		{"!format.named('nope').hasValue() && format.uri() != format.uuid()", NULL},
		{"!format.dns1123Label().validate('a-1').hasValue()", NULL},
		{"format.dns1123Label().validate('A').value()[0].startsWith('a lowercase RFC 1123 "
		 "label must consist of')",
			NULL},
		{"format.dns1123Label().validate('a.b').value().size() == 1", NULL},
		{"format.dns1123Label().validate('" BOTH BOTH "').value()[0] == "
		 "'must be no more than 63 bytes'",
			NULL},
		{"!format.dns1123Subdomain().validate('a.b-c').hasValue()", NULL},
		{"format.dns1123Subdomain().validate('a..b').hasValue()", NULL},
		{"!format.dns1035Label().validate('a1').hasValue()", NULL},
		{"format.dns1035Label().validate('1a').hasValue()", NULL},
		{"!format.dns1123LabelPrefix().validate('a-').hasValue()", NULL},
		{"format.dns1123LabelPrefix().validate('-').hasValue()", NULL},
		{"!format.dns1123SubdomainPrefix().validate('a.b-').hasValue()", NULL},
		{"!format.dns1035LabelPrefix().validate('a1-').hasValue()", NULL},
		{"!format.qualifiedName().validate('example.com/Name').hasValue()", NULL},
		{"format.qualifiedName().validate('/Name').value()[0] == "
		 "'prefix part must be non-empty'",
			NULL},
		{"!format.labelValue().validate('').hasValue()", NULL},
		{"format.labelValue().validate('a b').hasValue()", NULL},
		{"!format.uri().validate('/a').hasValue()", NULL},
		{"format.uri().validate('a').value() == ['parse \"a\": invalid URI for request']",
			NULL},
		{"!format.uuid().validate('123e4567-E89B-12d3-a456-426614174000').hasValue()",
			NULL},
		{"!format.uuid().validate('123e4567e89b12d3a456426614174000').hasValue()", NULL},
		{"format.uuid().validate('123e4567').value() == ['does not match the UUID "
		 "format']",
			NULL},
		{"!format.byte().validate('aGk=').hasValue()", NULL},
		{"format.byte().validate('aGk').value() == ['invalid base64']", NULL},
		{"format.byte().validate('').hasValue()", NULL},
		{"!format.date().validate('2024-02-29').hasValue()", NULL},
		{"format.date().validate('2023-02-29').value() == ['invalid date']", NULL},
		{"!format.datetime().validate('2024-02-29T23:59:59.5z').hasValue()", NULL},
		{"!format.datetime().validate('2024-02-29t00:00:00+01:00').hasValue()", NULL},
		{"format.datetime().validate('2024-02-29').value() == ['invalid datetime']", NULL},
		{"format.datetime().validate('2024-02-29T24:00:00Z').hasValue()", NULL},
	};

	CHECK_ROWS(rows);
}
END_TEST

START_TEST(test_cel_functions__cost)
{
	/* The costs of the whole expression in units; spec 12b section 10. */
	static const struct {
		const char *expression;
		uint64_t units;
	} rows[] = {
		{"'0123456789a'.startsWith('0')", 2},
		{"'0123456789a'.contains('0123456789a')", 4},
		{"'0123456789'.matches('01234')", 4},
		{"isQuantity('0123456789a')", 2},
		{"['a', 'b'].isSorted()", 0},
		{"[1, 2, 3].isSorted()", 3},
		{"sets.contains([1, 2], [1])", 3},
		{"sets.equivalent([1, 2], [1, 2])", 9},
		{"quantity('1').isInteger()", 2},
	};
	struct bt_arena arena = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct bt_cel_limits limits = {.cost_max = rows[i].units};
		struct bt_str got = evaluate(rows[i].expression, &limits, &arena);

		ck_assert_msg(bt_str_equal_c(got, "true") || bt_str_equal_c(got, "false"),
			"%s: %.*s", rows[i].expression, BT_STR_ARG(got));
		if (rows[i].units != 0) {
			limits.cost_max--;
			got = evaluate(rows[i].expression, &limits, &arena);
			ck_assert_msg(bt_str_equal_c(got,
					      "operation cancelled: actual cost limit exceeded"),
				"%s: %.*s", rows[i].expression, BT_STR_ARG(got));
		}
	}
	bt_arena_finish(&arena);
}
END_TEST

/** A text of 2^17 letters. */
#define DOUBLED(inner) "cel.bind(s, " inner ", s + s)"
#define LONG_TEXT \
	DOUBLED(DOUBLED(DOUBLED(DOUBLED(DOUBLED(DOUBLED(DOUBLED( \
		DOUBLED(DOUBLED(DOUBLED(DOUBLED(DOUBLED(DOUBLED("'aaaaaaaaaaaaaaaa'")))))))))))))

START_TEST(test_cel_functions__hostile_ones_stop)
{
	static const struct row rows[] = {
		{"cel.bind(t, " LONG_TEXT ", t.size() == 131072)", NULL},
		{"cel.bind(t, " LONG_TEXT ", t.replace('a', t).size() == 0)",
			"operation cancelled: actual cost limit exceeded"},
		{"cel.bind(t, " LONG_TEXT ", t.split('').map(x, t.upperAscii()).size() == 0)",
			"operation cancelled: actual cost limit exceeded"},
		{"cel.bind(t, " LONG_TEXT ", lists.range(99999).all(i, t.charAt(i) == 'a'))",
			"operation cancelled: actual cost limit exceeded"},
		{"cel.bind(t, " LONG_TEXT ", t.indexOf(t.substring(1, 65536) + 'b') == 0)",
			"operation cancelled: actual cost limit exceeded"},
		{"lists.range(9223372036854775807).size() == 0",
			"operation cancelled: actual cost limit exceeded"},
		{"cel.bind(l, lists.range(1000), cel.bind(m, l.map(x, l), m.map(x, m)"
		 ".flatten().flatten().size() == 0))",
			"operation cancelled: actual cost limit exceeded"},
		{"cel.bind(l, lists.range(100000), l.sort() == l)",
			"operation cancelled: actual cost limit exceeded"},
		{"'%s%s%s%s%s%s%s%s%s%s'.format([" LONG_TEXT "]) == ''", "refused: compilation..."},
		{"cel.bind(t, " LONG_TEXT ", lists.range(9).all(i, t.findAll('a').size() == 0))",
			"operation cancelled: actual cost limit exceeded"},
	};

	CHECK_ROWS(rows);
}
END_TEST

BT_TEST_MAIN("cel_functions", test_cel_functions__size_type_dyn,
	test_cel_functions__to_bool_int_uint, test_cel_functions__to_double_string_bytes,
	test_cel_functions__to_duration_timestamp, test_cel_functions__parts_of_times,
	test_cel_functions__places_in_strings, test_cel_functions__changed_strings,
	test_cel_functions__format, test_cel_functions__lists,
	test_cel_functions__sets_optionals_includes, test_cel_functions__regular_expressions,
	test_cel_functions__urls, test_cel_functions__quantities, test_cel_functions__named_formats,
	test_cel_functions__cost, test_cel_functions__hostile_ones_stop)

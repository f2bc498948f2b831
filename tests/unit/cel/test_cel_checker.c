/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Valid and invalid expressions, by section of spec 12b. The numbered cases are in
 * test_cel_cases.c.
 */
#include "test_main.h"

#include "base/compiler.h"
#include "cel/ast.h"
#include "cel/device.h"

#define A "device.attributes[\"dra.example.com\"]"
#define C "device.capacity[\"dra.example.com\"]"

struct row {
	const char *name;
	const char *expression;
	const char *expected; /* part of the error; NULL: the expression compiles */
};

/** Returns false, with a message on stderr, if the row gives another result than expected. */
static bool check_row(const struct row *row, const struct bt_cel_environment *environment)
{
	struct bt_cel_program *program = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	int code = bt_cel_compile(bt_str_from(row->expression), environment, &program, &err);
	bool is_right = row->expected == NULL ? code == 0
					      : code == BERTH_ERR_INVALID && program == NULL &&
			strstr(berth_error_message(&err), row->expected) != NULL;

	if (!is_right) {
		(void)fprintf(stderr, "%s: %s: expected: %s\n%s\n", row->name, row->expression,
			row->expected != NULL ? row->expected : "compiles",
			code != 0 ? berth_error_message(&err) : "compiles");
	}
	bt_cel_program_destroy(program);
	berth_error_finish(&err);
	return is_right;
}

static void check_rows(const struct row *rows, size_t count, bool list_attributes)
{
	uint32_t wrong = 0;

	for (size_t i = 0; i < count; i++) {
		wrong += !check_row(&rows[i], bt_cel_device_environment(list_attributes));
	}
	ck_assert_msg(wrong == 0, "%u rows", wrong);
}

static const struct row list_rows[] = {
	{"7.6", A ".s.foo + 1", "not int"},
	{"3", A, "not map(string, dyn)"},
};

START_TEST(test_cel_checker__list_attributes)
{
	check_rows(list_rows, BT_ARRAY_LENGTH(list_rows), true);
}
END_TEST

static const struct row rule_rows[] = {
	/* Assignability */
	{"7.1", "1 + 1u == 2", "applied to '(int, uint)'"},
	{"7.1", "1u < 2 && 2.5 >= 1u && -1 <= 1.0", NULL},
	{"7.1", "\"a\" < 1", "found no matching overload for '_<_' applied to '(string, int)'"},
	{"7.1", "quantity(\"1\") == null && duration(\"1s\") != null", NULL},
	{"7.1", "1 == null", "applied to '(int, null)'"},
	{"7.1", "[] == [1] && [[]] != [[\"a\"]] && {} == {1: 2}", NULL},
	{"7.1", "[1] == [\"a\"]", "applied to '(list(int), list(string))'"},
	{"7.1", "{\"a\": 1} == {\"a\": \"b\"}",
		"applied to '(map(string, int), map(string, string))'"},
	{"7.1", "type(1) == string && type(1) != type(\"a\")", NULL},
	{"7.1", "optional.of(1) == optional.of(\"a\")",
		"applied to '(optional_type(int), optional_type(string))'"},
	{"7.1", "optional.none() == optional.of(1)", NULL},
	{"7.1", "optional.none().value() == 1 && optional.none().orValue(2) == 2", NULL},
	{"7.1", "dyn(1) == \"a\" && [1] == [dyn(\"a\")]", NULL},
	/* Selection */
	{"7.2", "1.foo == 2", "type 'int' does not support field selection"},
	{"7.2", "\"a\".foo == 2", "type 'string' does not support field selection"},
	{"7.2", "has(\"a\".foo)", "type 'string' does not support field selection"},
	{"7.2", "quantity(\"1\").value == 2",
		"type 'kubernetes.Quantity' does not support field selection"},
	{"7.2", "{\"a\": 1}.a == 1 && {\"a\": {\"b\": 1}}.a.b == 1", NULL},
	{"7.2", "{\"a\": 1}.a == \"b\"", "applied to '(int, string)'"},
	{"7.2", "device.driver.foo == 1", "type 'string' does not support field selection"},
	{"7.2", "device.?driver.orValue(\"a\") == \"b\"", NULL},
	{"7.2", A ".?s.foo.bar.hasValue()", NULL},
	{"7.2", "optional.of({\"a\": 1}).a == 1", "applied to '(optional_type(int), int)'"},
	{"7.2", "optional.of(1).a == 1", "type 'int' does not support field selection"},
	{"7.2", "foo.bar.baz == 1", "undeclared reference to 'foo' (in container '')"},
	/* Calls */
	{"7.3", "!1", "found no matching overload for '!_' applied to '(int)'"},
	{"7.3", "-\"a\" == 1", "found no matching overload for '-_' applied to '(string)'"},
	{"7.3", "-1u == 1", "found no matching overload for '-_' applied to '(uint)'"},
	{"7.3", "1 in 2", "found no matching overload for '@in' applied to '(int, int)'"},
	{"7.3", "1 in [\"a\"]",
		"found no matching overload for '@in' applied to '(int, list(string))'"},
	{"7.3", "\"a\" in {\"a\": 1} && 1 in [1, 2]", NULL},
	{"7.3", "1 ? true : false",
		"found no matching overload for '_?_:_' applied to '(int, bool, bool)'"},
	{"7.3", "true ? 1 : \"a\"",
		"found no matching overload for '_?_:_' applied to '(bool, int, string)'"},
	{"7.3", "1.5 % 2.0 == 1.0",
		"found no matching overload for '_%_' applied to '(double, double)'"},
	{"7.3", "[1][\"a\"] == 1",
		"found no matching overload for '_[_]' applied to '(list(int), string)'"},
	{"7.3", "[1][?\"a\"].hasValue()",
		"found no matching overload for '_[?_]' applied to '(list(int), string)'"},
	{"7.3", "\"a\"[0] == \"a\"",
		"found no matching overload for '_[_]' applied to '(string, int)'"},
	{"7.3", "optional.of([1])[0].value() == 1 && optional.of({1: 2})[?1].value() == 2", NULL},
	{"7.3", "[1, 2].size(1) == 2",
		"found no matching overload for 'size' applied to 'list(int).(int)'"},
	{"7.3", "size() == 2", "found no matching overload for 'size' applied to '()'"},
	{"7.3", "\"a\".fun(1)", "undeclared reference to 'fun' (in container '')"},
	{"7.3", "startsWith(\"a\", \"b\")",
		"found no matching overload for 'startsWith' applied to '(string, string)'"},
	{"7.3", "true || \"a\"", "expected type 'bool' but found 'string'"},
	{"7.3", "true && " A ".i", NULL},
	{"7.3", A ".i + 1 == \"a\"", "applied to '(int, string)'"},
	{"7.3", A ".s + " A ".s == \"a\" && " A ".s + " A ".s == 1", NULL},
	{"7.3",
		"timestamp(\"2024-01-01T00:00:00Z\") - timestamp(\"2024-01-01T00:00:00Z\") < "
		"duration(\"1s\")",
		NULL},
	/* Dotted names */
	{"5", "ip.isCanonical(\"1.2.3.4\") && .ip.isCanonical(\"1.2.3.4\")", NULL},
	{"5", "cel.bind(ip, 1, ip.isCanonical(\"1.2.3.4\") && ip == 1)", NULL},
	{"5", "ip.isCanonical() == 1",
		"found no matching overload for 'ip.isCanonical' applied to '()'"},
	{"5", "ip.nope(1)", "undeclared reference to 'nope' (in container '')"},
	{"5", "type(duration(\"1s\")) == google.protobuf.Duration", NULL},
	{"5", "type(ip(\"1.2.3.4\")) == net.IP && type([]) == list && type({}) == map", NULL},
	{"5", "google.protobuf.Foo == 1", "undeclared reference to 'google' (in container '')"},
	{"5", ".device.driver == .device.driver", NULL},
	{"5", "cel.bind(x, 1, [\"a\"].exists(x, x == \"a\") && x == 1)", NULL},
	{"5", "[1].exists(x, true) && x == 1", "undeclared reference to 'x' (in container '')"},
	/* Ranges and literals */
	{"7.4", "1.all(x, true)", "expression of type 'int' cannot be range of a comprehension"},
	{"7.4", "\"abc\".all(x, true)",
		"expression of type 'string' cannot be range of a comprehension"},
	{"7.4", "device.exists(x, true)",
		"expression of type 'kubernetes.DRADevice' cannot be range"},
	{"7.4", A ".s.x.exists(x, x == 1)", NULL},
	{"7.4", "dyn(1).exists(x, x == 1)", NULL},
	{"7.4", "[].exists(x, x == 1) && optional.none().value().exists(x, x == \"a\")", NULL},
	{"7.4", "{\"a\": 1}.exists(x, x == 1)", "applied to '(string, int)'"},
	{"7.4", "{\"a\": 1}.exists(k, v, k == \"a\" && v == 1)", NULL},
	{"7.4", "[\"a\"].exists(i, v, i == \"a\")", "applied to '(int, string)'"},
	{"7.4", "[1, 2u] == []", "expected type 'int' but found 'uint'"},
	{"7.4", "[1, dyn(2u), \"a\"].size() == 3", "expected type 'int' but found 'dyn'"},
	{"7.4", "[dyn(1), dyn(2u), dyn(\"a\")].size() == 3", NULL},
	{"7.4", "[0, " A ".i].size() == 2", "1:41: expected type 'int' but found 'any'"},
	{"7.4", "[" A ".i, 0].size() == 2", "expected type 'any' but found 'int'"},
	{"7.4", "[" A ".i, " A ".s].size() == 2", NULL},
	{"7.4", "[" A ".i, " A ".i.x].size() == 2", "expected type 'any' but found 'dyn'"},
	{"7.4", "[1, -(" A ".i)].size() == 2", "expected type 'int' but found 'dyn'"},
	{"7.4", "[(true ? 1 : " A ".i), 1].size() == 2", "expected type 'any' but found 'int'"},
	{"7.4", "[int, string].size() == 2", "expected type 'type(int)' but found 'type(string)'"},
	{"7.4", "[[], [" A ".i]].size() == 2 && [{}, {1: 2}].size() == 2", NULL},
	{"7.4", "[[1], [" A ".i]].size() == 2", "expected type 'list(int)' but found 'list(any)'"},
	{"7.4", "{" A ".s: 1, \"b\": 2}.size() == 2", "expected type 'any' but found 'string'"},
	{"7.4", "{1: \"a\", \"b\": \"c\"}.size() == 2", "expected type 'int' but found 'string'"},
	{"7.4", "{1: \"a\", 2: 3}.size() == 2", "expected type 'string' but found 'int'"},
	{"7.4", "[[1], [\"a\"]].size() == 2", "expected type 'list(int)' but found 'list(string)'"},
	{"7.4", "[[], [\"a\"], [\"b\"]].size() == 3", NULL},
	{"7.4", "[null, duration(\"1s\")].size() == 2",
		"expected type 'null' but found 'duration'"},
	{"7.4", "[?1].size() == 1", "expected type 'optional_type(int)' but found 'int'"},
	{"7.4",
		"[?optional.of(1), 2].size() == 2 && {?\"a\": optional.of(1), \"b\": 2}.size() == "
		"2",
		NULL},
	{"7.4", "[?optional.of(\"a\"), 2].size() == 2", "expected type 'string' but found 'int'"},
	{"7.4", "\"%s %d %s\".format([\"a\", 1, [\"b\", 2]]) == \"\"", NULL},
	{"7.4", "[\"%s\".format([1, \"a\"]), 1].size() == 2",
		"expected type 'string' but found 'int'"},
	/* Errors in a macro name the functions that the macro expands to */
	{"6", "[1].all(x, 1)", "expected type 'bool' but found 'int'"},
	{"6", "[1].exists(x, x)", "expected type 'bool' but found 'int'"},
	{"6", "[1].exists_one(x, x)",
		"found no matching overload for '_?_:_' applied to '(int, int, int)'"},
	{"6", "[1].filter(x, x) == []",
		"found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"},
	{"6", "[1].map(x, x, \"a\") == []",
		"found no matching overload for '_?_:_' applied to '(int, list(string), "
		"list(string))'"},
	{"6", "[1].map(x, \"a\") == [1]", "applied to '(list(string), list(int))'"},
	{"6", "{\"a\": 1}.map(k, k) == [\"a\"] && {\"a\": 1}.filter(k, true) == [\"a\"]", NULL},
	{"6", "[1].transformList(i, v, string(v)) == [\"a\"]", NULL},
	{"6", "[1].transformList(i, v, i, v) == []",
		"found no matching overload for '_?_:_' applied to '(int, list(int), list(int))'"},
	{"6", "[1].transformMap(i, v, string(v)) == {0: \"a\"}", NULL},
	{"6", "{\"a\": 1}.transformMap(k, v, v > 0, string(v)) == {\"a\": \"a\"}", NULL},
	{"6", "{\"a\": 1}.transformMap(k, v, v, string(v)) == {}",
		"found no matching overload for '_?_:_' applied to '(int, map(string, string), "
		"map(string, string))'"},
	{"6", "{\"a\": 1}.transformMapEntry(k, v, {v: k}) == {1: \"a\"}", NULL},
	{"6", "{\"a\": 1}.transformMapEntry(k, v, v) == {}",
		"found no matching overload for 'cel.@mapInsert' applied to '(map(dyn, dyn), "
		"int)'"},
	{"6", "optional.of(1).optMap(x, x + 1) == optional.of(2)", NULL},
	{"6", "optional.of(1).optMap(x, x + \"a\").hasValue()", "applied to '(int, string)'"},
	{"6", "1.optMap(x, x) == 1", "found no matching overload for 'value' applied to 'int.()'"},
	{"6", "[1].optMap(x, x).hasValue()",
		"found no matching overload for 'hasValue' applied to 'list(int).()'"},
	{"6", "optional.of(1).optFlatMap(x, optional.of(string(x))) == optional.of(\"a\")", NULL},
	{"6", "optional.of(1).optFlatMap(x, x).hasValue()",
		"found no matching overload for '_?_:_' applied to '(bool, int, "
		"optional_type(dyn))'"},
	{"6", "[{\"a\": 1}].sortBy(x, x.a) == [{\"a\": 2}]", NULL},
	{"6", "[1].sortBy(x, [x]) == [1]",
		"found no matching overload for '@sortByAssociatedKeys' applied to "
		"'list(int).(list(list(int)))'"},
	{"6", "[[[1]]].all(a, a.all(b, b.all(c, a == [[c]] && b == [c])))", NULL},
	/* Literals */
	{"7.5", "duration(\"1h\") == duration(device.driver)", NULL},
	{"7.5", "timestamp(\"x\") == timestamp(\"2024-01-01T00:00:00Z\")",
		"invalid timestamp argument"},
	{"7.5", "matches(\"[\", device.driver)", "invalid matches argument"},
	{"7.5", "device.driver.matches(\"^a+$\") && matches(device.driver, \"a\")", NULL},
	{"7.5", "\"%s %d\".format([dyn(" A ".s), 1]) == \"%% %.3f\".format([1.5])", NULL},
	{"7.5", "\"%s\".format([" A ".s]) == \"\"",
		"1:50: error during formatting: string clause can only be used on strings, bools, "
		"bytes, ints, doubles, maps, lists, types, durations, and timestamps, was given "
		"google.protobuf.Any"},
	{"7.5", "\"%s\".format([[1, " A ".s]]) == \"\"", "was given google.protobuf.Any"},
	{"7.5", "\"%s\".format([{\"a\": [" A ".s]}]) == \"\"", "was given google.protobuf.Any"},
	{"7.5", "\"%d\".format([" A ".i]) == \"\"",
		"decimal clause can only be used on integers, was given google.protobuf.Any"},
	{"7.5", "\"%b\".format([" A ".i]) == \"\"",
		"only integers and bools can be formatted as binary, was given "
		"google.protobuf.Any"},
	{"7.5", "\"%x\".format([" A ".i]) == \"\"",
		"only integers, byte buffers, and strings can be formatted as hex, was given "
		"google.protobuf.Any"},
	{"7.5", "\"%s\".format([device]) == \"\"", "was given kubernetes.DRADevice"},
	{"7.5", "\"%d %x\".format([[][" A ".i], -(" A ".i)]) == \"\"", NULL},
	{"7.5", "\"%s %% \".format([1, 2]) == \"\"",
		"too many arguments supplied to string.format (expected 1, got 2)"},
	{"7.5", "\"a\".format([" A ".s]) == \"\"",
		"too many arguments supplied to string.format (expected 0, got 1)"},
	{"7.5", "\"%s%s\".format([1]) == \"\"", "index 1 out of range"},
	{"7.5", "\"%d\".format([\"a\"]) == \"\"",
		"decimal clause can only be used on integers, was given string"},
	{"7.5", "\"%.2f\".format([1]) == \"\"",
		"fixed-point clause can only be used on doubles, was given int"},
	{"7.5", "\"%s\".format([quantity(\"1\")]) == \"\"", "was given kubernetes.Quantity"},
	{"7.5", "\"%q\".format([1]) == \"\"", "unrecognized formatting clause \"q\""},
	{"7.5", "\"%\".format([1]) == \"\"", "unexpected end of string"},
	{"7.5", "device.driver.format([1]) == \"\" && \"%d\".format([\"a\"] + []) == \"\"", NULL},
	/*
	 * A free type parameter gets the type of the first overload that fits: bool for ">", bytes
	 * for "+", double for the unary "-".
	 */
	{"7.3", "sets.contains([].filter(e, e > " A ".i), lists.range(3))",
		"applied to '(list(bool), list(int))'"},
	{"7.3", "[].map(e, e > 1, e + 1) == [].filter(e, e > 1.5)", NULL},
	{"7.3", "[].map(e, e + e) == [1]", "applied to '(list(bytes), list(int))'"},
	{"7.3", "[].map(e, -e) == [1]", "applied to '(list(double), list(int))'"},
	{"7.3", "[].filter(e, e.size() > 1) == [1]", "applied to '(list(bytes), list(int))'"},
	{"7.3", "([] || 1) == 2", "expected type 'bool' but found 'list(_var0)'"},
	{"7.3", "(sets.contains([], [1]) || {})",
		"expected type 'bool' but found 'map(_var2, _var3)'"},
	/*
	 * The checker numbers type variables in the order of their creation. A call first creates
	 * the variables of all overloads of its function: "in" creates 3 (1 + 2), the index
	 * operator 6 (1 + 2 + 1 + 2), and "indexOf" and "==" create 1 each.
	 */
	{"7.3", "1 in [1] && []", "expected type 'bool' but found 'list(_var3)'"},
	{"7.3", "[[1].indexOf([1][0]) == 0 && [], true].size() == 0",
		"expected type 'bool' but found 'list(_var8)'"},
	{"7.3", "cel.bind(x, [], [] && true)", "expected type 'bool' but found 'list(_var2)'"},
	{"7.3", "[1].map(x, x) == [2] && []", "expected type 'bool' but found 'list(_var3)'"},
	{"7.3", "[1].exists_one(x, x == 1) && []", "expected type 'bool' but found 'list(_var4)'"},
	{"7.6", "type", "not type(type)"},
	{"7.6", "list", "not type(list(dyn))"},
	{"7.2", "[].x == 1", "type 'list(_var0)' does not support field selection"},
	{"7.4", "optional.none().map(x, x) == [1]",
		"expression of type 'optional_type(_var0)' cannot be range"},
	/* Result */
	{"7.6", "dyn(true)", "not dyn"},
	{"7.6", "type(1)", "not type(int)"},
	{"7.6", "optional.of(1)", "not optional_type(int)"},
	{"7.6", "{\"a\": 1u}", "not map(string, uint)"},
	{"7.6", "[]", "not list(dyn)"},
	{"7.6", A "[\"b\"]", NULL},
	{"7.6", A ".?b.orValue(false)", NULL},
	/* Functions */
	{"9.1", "int(1u) == int(\"1\") && string(ip(\"1.2.3.4\")) == bytes(\"a\")",
		"applied to '(string, bytes)'"},
	{"9.3", "[[1]].flatten() == [1] && [1].sort() == lists.range(1)", NULL},
	{"9.3", "[1, 2].reverse()", "not list(int)"},
	{"9.3", "[1, 2].slice(0, 1).distinct().sort().reverse()", "not list(int)"},
	{"9.3", "[[1], [2]].flatten().filter(x, x > 1)", "not list(int)"},
	{"9.3", "[[1]].sort() == [[1]]",
		"found no matching overload for 'sort' applied to 'list(list(int)).()'"},
	{"9.3", "[\"a\"].sum() == \"a\"",
		"found no matching overload for 'sum' applied to 'list(string).()'"},
	{"9.3", "[1].indexOf(1) == 0 && \"a\".indexOf(\"a\") == 0", NULL},
	{"9.3", "[1].indexOf(\"a\") == 0",
		"found no matching overload for 'indexOf' applied to 'list(int).(string)'"},
	{"9.4", "sets.contains([1], [\"a\"])",
		"found no matching overload for 'sets.contains' applied to '(list(int), "
		"list(string))'"},
	{"9.6", "url(\"/a\").getQuery()[\"a\"][0] == \"b\"", NULL},
	{"9.7", "quantity(\"1\").add(1u) == quantity(\"1\")",
		"applied to 'kubernetes.Quantity.(uint)'"},
	{"9.9", "format.dns1123Label().validate(\"a\") == optional.of([\"b\"])", NULL},
	{"9.9", "format.named(\"uri\").value().validate(\"a\").hasValue()", NULL},
	{"9.9", "cidr(\"::/0\").ip() == ip(\"::\") && cidr(\"::/0\").containsCIDR(cidr(\"::/1\"))",
		NULL},
	{"9.10", "1.includes(1)", NULL},
	{"9.10", "[1].includes(\"a\") && \"a\".includes(1) && " A ".includes(1)", NULL},
	{"9.11", "\"a\".allowed()",
		"found no matching overload for 'allowed' applied to 'string.()'"},
	{"9.11", A ".s.check(\"get\").allowed()", NULL},
	{"9.11", A ".s.group(\"a\").resource(\"b\").namespace(\"c\").check(\"get\").errored()",
		NULL},
	{"9.11", A ".s.group(\"a\")", "not kubernetes.authorization.GroupCheck"},
	{"9.11", A ".s.group(\"a\").path(\"b\")",
		"found no matching overload for 'path' applied to "
		"'kubernetes.authorization.GroupCheck.(string)'"},
};

START_TEST(test_cel_checker__rules)
{
	check_rows(rule_rows, BT_ARRAY_LENGTH(rule_rows), false);
}
END_TEST

static const struct row whole_rows[] = {
	{"7.7", "1 ==\n\t1.0 || foo",
		"compilation failed: ERROR: <input>:1:3: found no matching overload for '_==_' "
		"applied to '(int, double)'\n | 1 ==\n | ..^\n"
		"ERROR: <input>:2:9: undeclared reference to 'foo' (in container '')\n"
		" |  1.0 || foo\n | ........^"},
	{"7.7", "device.driver.fun(1) && device.nope",
		"compilation failed: ERROR: <input>:1:18: undeclared reference to 'fun' (in "
		"container '')\n | device.driver.fun(1) && device.nope\n | .................^\n"
		"ERROR: <input>:1:31: undefined field 'nope'\n"
		" | device.driver.fun(1) && device.nope\n | ..............................^"},
	{"7.7", "\"\u00fc\" == \"\u00fc\" + \u4e16",
		"compilation failed: ERROR: <input>:1:14: Syntax error: token recognition error "
		"at: '\u4e16'\n | \"\u00fc\" == \"\u00fc\" + \u4e16\n"
		" | .\uff0e......\uff0e....\uff3e\n"
		"ERROR: <input>:1:15: Syntax error: mismatched input '<EOF>' expecting {'[', '{', "
		"'(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
                "STRING, "
		"BYTES, IDENTIFIER}\n | \"\u00fc\" == \"\u00fc\" + \u4e16\n"
		" | .\uff0e......\uff0e....\uff0e^"},
	{"7.3", "(sets.contains(false, [7]) || {})",
		"compilation failed: ERROR: <input>:1:15: found no matching overload for "
		"'sets.contains' applied to '(bool, list(int))'\n"
		" | (sets.contains(false, [7]) || {})\n | ..............^\n"
		"ERROR: <input>:1:31: expected type 'bool' but found 'map(_var1, _var2)'\n"
		" | (sets.contains(false, [7]) || {})\n | ..............................^"},
	{"7.4", "{1: 2, \"a\": 3u} == {}",
		"compilation failed: ERROR: <input>:1:8: expected type 'int' but found 'string'\n"
		" | {1: 2, \"a\": 3u} == {}\n | .......^\n"
		"ERROR: <input>:1:13: expected type 'int' but found 'uint'\n"
		" | {1: 2, \"a\": 3u} == {}\n | ............^"},
	{"12", "1 + 1", "must evaluate to bool or the unknown type, not int"},
};

START_TEST(test_cel_checker__whole_texts)
{
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(whole_rows); i++) {
		struct bt_cel_program *program = NULL;
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_eq(bt_cel_compile(bt_str_from(whole_rows[i].expression),
					 bt_cel_device_environment(false), &program, &err),
			BERTH_ERR_INVALID);
		ck_assert_str_eq(berth_error_message(&err), whole_rows[i].expected);
		berth_error_finish(&err);
	}
}
END_TEST

/**
 * Checks an expression of count nested cel.bind calls. Each call binds x to value; an x in value is
 * the x of the enclosing call.
 */
static void check_bindings(const char *value, uint32_t count, const char *expected)
{
	struct bt_strbuf text = {0};
	struct row row = {"7.1", NULL, expected};

	bt_strbuf_append_c(&text, "cel.bind(x, 1, ");
	for (uint32_t i = 1; i < count; i++) {
		bt_strbuf_printf(&text, "cel.bind(x, %s, ", value);
	}
	bt_strbuf_append_c(&text, "[x].size() == 1");
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_char(&text, ')');
	}
	row.expression = bt_strbuf_c(&text);
	ck_assert(check_row(&row, bt_cel_device_environment(false)));
	bt_strbuf_finish(&text);
}

/** The check fails at once for types whose texts would exhaust the memory. */
START_TEST(test_cel_checker__types_are_bounded)
{
	check_bindings("[x]", 200, NULL);
	check_bindings("{x: x}", 8, NULL);
	check_bindings("{x: x}", 100, "types of the expression are too large");
	check_bindings("[[[[[[[[[[x]]]]]]]]]]", 60, "types of the expression are too large");
	check_bindings("{1: [x]}.transformMapEntry(k, v, {v: v})", 60,
		"types of the expression are too large");
}
END_TEST

static const struct row object_rows[] = {
	{"elsewhere", "Foo{a: 1}", "1:4: undeclared reference to 'Foo' (in container '')"},
	{"elsewhere", "a.B {}", "1:5: undeclared reference to 'a.B' (in container '')"},
	{"elsewhere", ".a.B{c: 1, ?d: 2,}", "1:5: undeclared reference to '.a.B' (in container"},
	{"elsewhere", "1 + A{}.b", "1:6: undeclared reference to 'A' (in container '')"},
	{"elsewhere", "Object{}.x", "1:7: undeclared reference to 'Object' (in container '')"},
	{"elsewhere", "jsonpatch.escapeKey('a') == 'a'", "undeclared reference to 'jsonpatch'"},
};

static const struct row apply_rows[] = {
	{"empty", "Object{}", NULL},
	{"any field", "Object{spec: Object.spec{replicas: 1, ?x: optional.none()}}", NULL},
	{"lists", "Object{spec: Object.spec{a: [Object.spec.a{b: 1}, Object.spec.a{c: 'd'}]}}",
		NULL},
	{"either", "true ? Object{a: 1} : Object{}", NULL},
	{"select", "Object{a: Object.b{c: 1}.c}", NULL},
	{"another", "Object.spec{}", "must evaluate to Object"},
	{"a map", "{'spec': 1}", "must evaluate to Object"},
	{"unknown", "Thing{}", "undeclared reference to 'Thing'"},
	{"no optional", "Object{?a: 1}", "expected type 'optional_type(int)' but found 'int'"},
	{"syntax", "Object{a 1}", "Syntax error: "},
	{"inner", "Object{a: nope}", "undeclared reference to 'nope'"},
};

static const struct row patch_rows[] = {
	{"one", "[JSONPatch{op: 'add', path: '/a', value: Object.a{b: 1}}]", NULL},
	{"none or one", "true ? [] : [JSONPatch{op: 'remove', path: '/a'}]", NULL},
	{"sum", "[JSONPatch{op: 'test'}] + [JSONPatch{}]", NULL},
	{"key", "[JSONPatch{op: 'remove', path: '/a/' + jsonpatch.escapeKey('b/c')}]", NULL},
	{"map", "[1, 2].map(i, JSONPatch{op: 'remove', path: '/' + string(i)})", NULL},
	{"single", "JSONPatch{}", "must evaluate to list(JSONPatch)"},
	{"field", "[JSONPatch{operation: 'add'}]", "1:12: undefined field 'operation'"},
	{"type", "[JSONPatch{op: 1}]",
		"expected type of field 'op' is 'string' but provided type is 'int'"},
};

START_TEST(test_cel_checker__objects)
{
	static const struct {
		enum bt_cel_mutation mutation;
		const struct row *rows;
		size_t count;
	} tables[] = {
		{BT_CEL_MUTATION_NONE, object_rows, BT_ARRAY_LENGTH(object_rows)},
		{BT_CEL_MUTATION_APPLY, apply_rows, BT_ARRAY_LENGTH(apply_rows)},
		{BT_CEL_MUTATION_PATCHES, patch_rows, BT_ARRAY_LENGTH(patch_rows)},
	};
	uint32_t wrong = 0;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(tables); i++) {
		const struct bt_cel_environment environment = {.mutation = tables[i].mutation};

		for (size_t k = 0; k < tables[i].count; k++) {
			wrong += !check_row(&tables[i].rows[k], &environment);
		}
	}
	ck_assert_msg(wrong == 0, "%u rows", wrong);
}
END_TEST

BT_TEST_MAIN("cel_checker", test_cel_checker__objects, test_cel_checker__types_are_bounded,
	test_cel_checker__list_attributes, test_cel_checker__rules, test_cel_checker__whole_texts)

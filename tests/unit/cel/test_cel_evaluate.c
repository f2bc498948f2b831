/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluation beyond the numbered cases (test_cel_cases.c), by section of spec 12b. */
#include "evaluate_fixture.h"

#define A "device.attributes[\"dra.example.com\"]"
#define C "device.capacity[\"dra.example.com\"]"
#define CHECK(...) \
	do { \
		static const struct cel_row rows[] = {__VA_ARGS__}; \
		cel_check_rows(rows, BT_ARRAY_LENGTH(rows)); \
	} while (0)

/* Spec sections 16.1, 16.2: which errors the logical operators absorb */
START_TEST(test_cel_evaluate__logic_swallows_only_what_another_operand_decides)
{
	CHECK({A ".a1 || " A ".a2 || true", "true"}, {A ".a1 || " A ".a2", "E: no such key: a1"},
		{A ".a1 || false || " A ".a2", "E: no such key: a1"}, {"true || " A ".a1", "true"},
		{A ".i || " A ".a1", "E: no such overload"},
		{A ".a1 || " A ".i", "E: no such key: a1"}, {A ".i || true", "true"},
		{A ".i && " A ".a1 && false", "false"}, {A ".i && " A ".a1", "E: no such overload"},
		{"true && " A ".b && true", "true"}, {A ".f || " A ".f", "false"},
		{"!(" A ".a1)", "E: no such key: a1"}, {A ".a1 ? 1 : 2", "E: no such key: a1"},
		{A ".b ? 1 : 1 / 0", "1"}, {A ".f ? 1 / 0 : 2", "2"});
}
END_TEST

/* Spec section 8.2 */
START_TEST(test_cel_evaluate__strict_calls_return_the_first_error)
{
	CHECK({A ".a1 == " A ".a2", "E: no such key: a1"},
		{A ".a1 != " A ".a2", "E: no such key: a1"},
		{"1 / 0 + 1 % 0", "E: division by zero"}, {"1 % 0 + 1 / 0", "E: modulus by zero"},
		{A ".s.substring(1 / 0, 1 % 0)", "E: division by zero"},
		{A ".a1.substring(1 / 0)", "E: no such key: a1"},
		{"[1, 1 / 0, 1 % 0]", "E: division by zero"},
		{"{\"a\": 1 / 0, \"b\": 1 % 0}", "E: division by zero"},
		{"{string(1 / 0): 1 % 0}", "E: division by zero"});
}
END_TEST

/* Spec section 8.3 */
START_TEST(test_cel_evaluate__panics_end_the_evaluation)
{
	static const char distinct[] = "E: internal error: interface conversion: *types.Err is not "
				       "traits.Lister: missing method Add";
	static const char unhashable[] =
		"E: internal error: runtime error: hash of unhashable type types.Bytes";

	CHECK({"[1].slice(0, 2).distinct() == []", distinct},
		{"true || [1].slice(0, 2).distinct() == []", "true"},
		{"[1].slice(0, 2).distinct() == [] || true", distinct},
		{"[1].slice(0, 2).sort() == [1]", distinct},
		{"[[1].slice(0, 2).sort() == []].exists(x, true)", distinct},
		{"dyn([1][1]).sort() == [1]", "E: index out of bounds: 1"},
		{"[1].slice(0, 2).reverse() == []", "E: cannot slice(0, 2), list is length 1"},
		{"dyn(b\"a\") in [\"a\"] || true", unhashable});
}
END_TEST

START_TEST(test_cel_evaluate__indexes)
{
	CHECK({"[1, 2][0]", "1"}, {"[1, 2][dyn(1u)]", "2"}, {"[1, 2][dyn(1.0)]", "2"},
		{"[1, 2][dyn(1.5)]", "E: unsupported index value 1.5 in list"},
		{"[1, 2][-1]", "E: index out of bounds: -1"},
		{"[1, 2][2]", "E: index out of bounds: 2"},
		{"[1, 2][dyn(18446744073709551615u)]",
			"E: index out of bounds: 18446744073709551615"},
		{"[1, 2][dyn(\"a\")]", "E: unsupported index type 'string' in list"},
		{"[1, 2][dyn(null)]", "E: unsupported index type 'null_type' in list"},
		{"dyn([1, 2]).a", "E: unsupported index type 'string' in list"},
		{"has(dyn([1, 2]).a)", "E: unsupported index type 'string' in list"},
		{"{1: \"a\"}[1]", "\"a\""}, {"{1: \"a\"}[dyn(1u)]", "\"a\""},
		{"{1: \"a\"}[dyn(1.0)]", "\"a\""}, {"{1: \"a\"}[dyn(1.5)]", "E: no such key: 1.5"},
		{"{1: \"a\"}[2]", "E: no such key: 2"},
		{"{true: \"a\"}[false]", "E: no such key: false"},
		{"dyn(1)[\"a\"]", "E: no such key: a"}, {"dyn(null).a", "E: no such key: a"},
		{"has(dyn(null).a)", "false"}, {"has({\"a\": 1}.a)", "true"},
		{"has({\"a\": 1}.b)", "false"}, {"dyn(device).driver", "\"dra.example.com\""},
		{"dyn(device).nope", "E: no such key: nope"}, {"has(device.driver)", "true"},
		{"has(dyn(device).nope)", "false"}, {"has(dyn(" A ").b)", "true"});
}
END_TEST

/* Spec sections 4 and 16.4 */
START_TEST(test_cel_evaluate__unknown_domains_are_empty_one_level_deep)
{
	CHECK({"device.attributes.zzz", "{}"}, {"device.attributes[\"zzz\"].size()", "0"},
		{"device.capacity.zzz.mem", "E: no such key: mem"},
		{"has(device.capacity.zzz)", "true"}, {"has(device.attributes.zzz.a)", "false"},
		{"\"zzz\" in device.attributes", "false"},
		{"device.attributes.?zzz.hasValue()", "true"},
		{"device.attributes.?zzz.?a.hasValue()", "false"},
		{"device.attributes[?\"zzz\"][?\"a\"].orValue(7) == dyn(7)", "true"},
		{"device.attributes.all(d, d in device.attributes)", "true"},
		{"device.attributes == device.attributes", "true"},
		{"device.attributes.size() == device.capacity.size()", "false"},
		{"device.attributes.map(d, d)", "[\"dra.example.com\", \"other.example.com\"]"});
}
END_TEST

START_TEST(test_cel_evaluate__optionals)
{
	CHECK({A ".?s.orValue(\"x\")", "\"fish\""}, {A ".?nope.orValue(\"x\")", "\"x\""},
		{A ".?s.value()", "\"fish\""},
		{A ".?nope.value()", "E: optional.none() dereference"},
		{A ".?s.x", "optional_type"}, {A ".?s[\"x\"].hasValue()", "false"},
		{"has(" A ".?s.x)", "false"}, {"[1].?x.hasValue()", "X: does not support"},
		{"dyn([1])[?0].value()", "1"}, {"dyn([1])[?1].hasValue()", "false"},
		{"dyn([1])[?\"a\"].hasValue()", "false"}, {"dyn(1).?a.hasValue()", "false"},
		{"(1 / 0 == 1 ? dyn({}) : dyn({})).?a", "E: division by zero"},
		{"optional.of(1).or(optional.of(1 / 0)).value()", "1"},
		{"optional.none().or(optional.of(2)).value()", "2"},
		{"optional.of(1).orValue(1 / 0)", "1"},
		{"optional.none().orValue(1 / 0)", "E: division by zero"},
		{"dyn(1).orValue(2)", "E: no such overload: orValue(int, int)"},
		{"optional.of(1) == optional.of(1)", "true"},
		{"optional.of(1) == optional.none()", "false"},
		{"optional.of(2).optMap(x, x * 2).value()", "4"},
		{"optional.none().optMap(x, 1 / 0).hasValue()", "false"},
		{"optional.of(2).optMap(x, x / 0)", "E: division by zero"},
		{"optional.of(2).optFlatMap(x, optional.none()).hasValue()", "false"},
		{"[?optional.none(), ?optional.of(1), 2]", "[1, 2]"},
		{"{?\"a\": optional.none(), ?\"b\": optional.of(1)}", "{\"b\":1}"});
}
END_TEST

/* Spec sections 8.4 and 16.3 */
START_TEST(test_cel_evaluate__equality)
{
	CHECK({"dyn(null) == dyn(0)", "false"}, {"dyn(semver(\"1.0.0\")) == dyn(null)", "false"},
		{"dyn(1) == dyn(1u)", "true"},
		{"dyn(9007199254740993) == dyn(9007199254740992.0)", "false"},
		{"dyn(9223372036854775807) == dyn(9223372036854775808.0)", "false"},
		{"dyn(18446744073709551615u) == dyn(18446744073709551616.0)", "false"},
		{"dyn(-1) == dyn(18446744073709551615u)", "false"},
		{"0.0 / 0.0 == 0.0 / 0.0", "false"}, {"0.0 / 0.0 != 0.0 / 0.0", "true"},
		{"dyn(b\"a\") == dyn(\"a\")", "false"}, {"b\"a\" == b\"a\"", "true"},
		{"duration(\"60s\") == duration(\"1m\")", "true"},
		{"dyn(duration(\"60s\")) == dyn(60)", "false"}, {"[1, 2] == [1, 2, 3]", "false"},
		{"[dyn(1), dyn(2.0)] == [dyn(1u), dyn(2)]", "true"},
		{"{\"a\": 1, \"b\": 2} == {\"b\": 2, \"a\": 1}", "true"},
		{"{\"a\": 1} == {\"b\": 1}", "false"}, {"{\"a\": 1} == {\"a\": 2}", "false"},
		{"type([1]) == list", "true"}, {"type(1) == type(1u)", "false"},
		{C ".mem == dyn(1)", "E: no such overload"}, {C ".mem != dyn(1)", "true"},
		{"dyn(1) == " C ".mem", "false"}, {"dyn(1) != " C ".mem", "true"},
		/* values that cannot be compared count as equal within lists and maps */
		{"[dyn(" C ".mem)] == [dyn(1)]", "true"}, {"[dyn(1)] == [dyn(" C ".mem)]", "false"},
		{"{\"a\": dyn(" C ".mem)} == {\"a\": dyn(1)}", "true"},
		{"optional.of(dyn(" C ".mem)) == optional.of(dyn(1))", "E: no such overload"});
}
END_TEST

START_TEST(test_cel_evaluate__computed_quantities_on_the_right)
{
	CHECK({"quantity(\"1\").add(1) == quantity(\"2\")", "true"},
		{"quantity(\"2\") == quantity(\"1\").add(1)", "E: no such overload"},
		{"quantity(\"2\") != quantity(\"1\").add(1)", "true"},
		{"quantity(\"1\").add(1) == quantity(\"1\").add(1)", "E: no such overload"},
		{"quantity(\"2\") in [quantity(\"1\").add(1)]", "false"},
		{"quantity(\"1\").add(1) in [quantity(\"2\")]", "true"},
		{"[quantity(\"3\")] == [quantity(\"1\").add(1)]", "true"},
		{"quantity(\"1\").add(1).compareTo(quantity(\"1\").add(1))", "0"});
}
END_TEST

/* Spec section 8.5 */
START_TEST(test_cel_evaluate__in)
{
	CHECK({"1 / 0 in []", "false"}, {"1 / 0 in [1]", "E: division by zero"},
		{"1 in [1 / 0]", "E: division by zero"},
		{"dyn(1) in [dyn(1.0), dyn(\"a\")]", "true"},
		{"dyn(b\"a\") in [\"a\"]",
			"E: internal error: runtime error: hash of unhashable type types.Bytes"},
		{"dyn(b\"a\") in dyn([\"a\"])", "false"},
		{"dyn(b\"a\") in [dyn(\"a\"), dyn(" A ".s)]", "false"},
		{"dyn(null) in [dyn(1)]", "false"}, {"null in [null]", "true"},
		{"[1] in [[1], [2]]", "true"}, {"1 in {1: 2}", "true"},
		{"dyn(1u) in {1: 2}", "true"}, {"dyn(1.5) in {1: 2}", "false"},
		{"dyn([1]) in {1: 2}", "false"}, {"\"a\" in dyn(1)", "E: no such overload"},
		{C ".mem in [dyn(1)]", "false"}, {A ".v in [dyn(1), dyn(" A ".s)]", "false"});
}
END_TEST

/* Spec section 8.6 */
START_TEST(test_cel_evaluate__orderings)
{
	CHECK({"1 < 1.5 && 1u <= 1 && 2.5 > 2u && 3 >= 3.0", "true"},
		{"9007199254740993 > 9007199254740992.0", "true"}, {"-1 < 0u", "true"},
		{"18446744073709551615u < 18446744073709551616.0", "true"},
		{"1 < 0.0 / 0.0", "E: NaN values cannot be ordered"},
		{"dyn(0.0 / 0.0) < dyn(\"a\")", "E: NaN values cannot be ordered"},
		{"dyn(\"a\") < dyn(0.0 / 0.0)", "E: no such overload"},
		{"\"a\" < \"ab\" && \"Z\" < \"a\"", "true"}, {"b\"a\" < b\"b\"", "true"},
		{"duration(\"1s\") < duration(\"2s\")", "true"},
		{"timestamp(\"2024-01-01T00:00:00Z\") < timestamp(\"2024-01-01T00:00:00.1Z\")",
			"true"},
		{"dyn(null) < dyn(1)", "E: no such overload: _<_"},
		{"dyn([1]) >= dyn(1)", "E: no such overload: _>=_"},
		{"dyn({}) <= dyn(1)", "E: no such overload: _<=_"},
		{"dyn(" C ".mem) > dyn(1)", "E: no such overload: _>_"},
		{"dyn(type(1)) > dyn(1)", "E: no such overload: _>_"},
		{"dyn(1) < dyn(null)", "E: no such overload"},
		{"dyn(true) < dyn(1)", "E: no such overload"});
}
END_TEST

/* Spec section 8.7 */
START_TEST(test_cel_evaluate__arithmetic)
{
	CHECK({"9223372036854775807 * 2", "E: integer overflow"},
		{"-9223372036854775807 - 2", "E: integer overflow"},
		{"-9223372036854775808 / -1", "E: integer overflow"},
		{"-9223372036854775808 % -1", "E: integer overflow"},
		{"-(-9223372036854775808)", "E: integer overflow"},
		{"18446744073709551615u + 1u", "E: unsigned integer overflow"},
		{"18446744073709551615u * 2u", "E: unsigned integer overflow"},
		{"1u / 0u", "E: division by zero"}, {"1u % 0u", "E: modulus by zero"},
		{"-7 / 2", "-3"}, {"-7 % 2", "-1"}, {"7 % -2", "1"}, {"7u / 2u", "3"},
		{"1.0 / 0.0 > 9223372036854775807", "true"}, {"-1.0 / 0.0 < 0.0", "true"},
		{"\"a\" + \"b\"", "\"ab\""}, {"b\"a\" + b\"b\" == b\"ab\"", "true"},
		{"[1] + [2, 3] + []", "[1, 2, 3]"}, {"-1.5 + 0.5 == -1.0", "true"},
		{"dyn(true) + dyn(1)", "E: no such overload: _+_"},
		{"dyn(null) - dyn(1)", "E: no such overload: _-_"},
		{"dyn([1]) - dyn(1)", "E: no such overload: _-_"},
		{"dyn({}) * dyn(1)", "E: no such overload: _*_"},
		{"dyn(" C ".mem) / dyn(1)", "E: no such overload: _/_"},
		{"dyn(" A ".v) % dyn(1)", "E: no such overload: _%_"},
		{"dyn(\"a\") - dyn(\"b\")", "E: no such overload"},
		{"dyn(\"a\") + dyn(1)", "E: no such overload"},
		{"dyn([1]) + dyn(1)", "E: no such overload"},
		{"dyn(1) + dyn(1u)", "E: no such overload"}, {"-dyn(true)", "E: no such overload"},
		{"-dyn(\"a\")", "E: no such overload"}, {"-dyn([1])", "E: no such overload: -_"},
		{"-dyn({})", "E: no such overload: -_"},
		{"-dyn(" A ".v)", "E: no such overload: -_"},
		{"-dyn(" C ".mem)", "E: no such overload: -_"},
		{"-dyn(1u)", "E: no such overload: -_"}, {"-dyn(null)", "E: no such overload: -_"},
		{"-dyn(2)", "-2"}, {"dyn(1.5) % dyn(1.0)", "E: no such overload: _%_"},
		{"dyn(b\"a\") - dyn(b\"a\")", "E: no such overload: _-_"});
}
END_TEST

START_TEST(test_cel_evaluate__times)
{
	CHECK({"duration(\"1h\") + duration(\"1m\") == duration(\"3660s\")", "true"},
		{"duration(\"1h\") - duration(\"1m\") == duration(\"3540s\")", "true"},
		{"timestamp(\"2024-01-01T00:00:00Z\") + duration(\"-0.5s\") == "
		 "timestamp(\"2023-12-31T23:59:59.5Z\")",
			"true"},
		{"duration(\"1.5s\") + timestamp(\"2024-01-01T00:00:00.5Z\") == "
		 "timestamp(\"2024-01-01T00:00:02Z\")",
			"true"},
		{"timestamp(\"2024-01-01T00:00:00Z\") - duration(\"1s\") == "
		 "timestamp(\"2023-12-31T23:59:59Z\")",
			"true"},
		{"timestamp(\"2024-01-01T00:00:00.25Z\") - timestamp(\"2024-01-01T00:00:01Z\") == "
		 "duration(\"-0.75s\")",
			"true"},
		{"timestamp(\"9999-12-31T23:59:59Z\") + duration(\"1s\")", "E: timestamp overflow"},
		{"timestamp(\"0001-01-01T00:00:00Z\") - duration(\"1ns\")",
			"E: timestamp overflow"},
		{"timestamp(\"9999-12-31T23:59:59Z\") - timestamp(\"0001-01-01T00:00:00Z\")",
			"E: duration overflow"},
		{"duration(\"2562047h\") + duration(\"2562047h\")", "E: duration overflow"},
		{"dyn(duration(\"1s\")) - dyn(timestamp(\"2024-01-01T00:00:00Z\"))",
			"E: no such overload"},
		{"dyn(duration(\"1s\")) * dyn(2)", "E: no such overload"});
}
END_TEST

/* Spec sections 6 and 8.8 */
START_TEST(test_cel_evaluate__quantifiers_go_on_past_errors)
{
	CHECK({"[0, 1, 2].all(x, 2 / x == 2)", "false"},
		{"[0, 1].all(x, 1 / x == 1)", "E: division by zero"},
		{"[0, 1].exists(x, 1 / x == 1)", "true"},
		{"[0, 1].exists(x, 1 / x == 2)", "E: division by zero"},
		{"[1, 0].exists(x, 1 / x == 2 && 1 % x == 0)", "E: division by zero"},
		{"[dyn(1), dyn(false)].all(x, x)", "false"},
		{"[dyn(1), dyn(true)].all(x, x)", "E: no such overload"},
		{"[dyn(1), dyn(true)].exists(x, x)", "true"},
		{"[1, 1, 0].exists_one(x, 1 / x == 1)", "E: division by zero"},
		{"[1, 1].exists_one(x, x == 1)", "false"}, {"[].exists_one(x, true)", "false"},
		{"[1, 0, 2].map(x, 1 / x)", "E: division by zero"},
		{"[1, 0, 2].filter(x, 1 / x == 1)", "E: division by zero"},
		{"[1, 0, 2].map(x, x != 0, 2 / x)", "[2, 1]"},
		{"[1 / 0].all(x, true)", "E: division by zero"},
		{"[1, 2].all(x, [3, 4].all(y, x < y))", "true"});
}
END_TEST

START_TEST(test_cel_evaluate__macros)
{
	CHECK({"{\"a\": 1, \"b\": 2}.map(k, k)", "[\"a\", \"b\"]"},
		{"{\"a\": 1, \"b\": 2}.all(k, v, v > 0 && k != \"\")", "true"},
		{"{\"a\": 1}.exists(k, v, k == \"a\" && v == 1)", "true"},
		{"[5, 6].existsOne(i, v, i + v == 7)", "true"},
		{"[5, 6].transformList(i, v, i + v)", "[5, 7]"},
		{"[5, 6].transformList(i, v, i > 0, v)", "[6]"},
		{"[5, 6].transformMap(i, v, v * 2)", "{0:10, 1:12}"},
		{"{\"a\": 1, \"b\": 2}.transformMap(k, v, v > 1, k + k)", "{\"b\":\"bb\"}"},
		{"[5, 6].transformMapEntry(i, v, {v: i})", "{5:0, 6:1}"},
		{"[5, 5].transformMapEntry(i, v, {v: i})",
			"E: insert failed: key 5 already exists"},
		{"[5, 6].transformMapEntry(i, v, i > 0, {v: i})", "{6:1}"},
		{"dyn(1).all(i, v, true)", "E: unsupported comprehension range type: types.Int"},
		{"dyn(\"a\").map(x, x)", "E: got 'types.String', expected iterable type"},
		{"dyn(1.5).map(x, x)", "E: got 'types.Double', expected iterable type"},
		{"dyn(true).filter(x, x)", "E: got 'types.Bool', expected iterable type"},
		{"dyn(1u).exists(x, x)", "E: got 'types.Uint', expected iterable type"},
		{"dyn(" C ".mem).exists(x, x)", "E: got 'cel.Quantity', expected iterable type"},
		{"[3, 1, 2].sortBy(x, -x)", "[3, 2, 1]"},
		{"[\"bb\", \"a\"].sortBy(x, x.size())", "[\"a\", \"bb\"]"},
		{"[3, 1].sortBy(x, 1 / (x - 1))", "E: division by zero"},
		{"[1, 2].map(x, x * 2).map(x, x + 1)", "[3, 5]"});
}
END_TEST

/* The deferred evaluation of a binding must not disturb the evaluation that uses the binding. */
START_TEST(test_cel_evaluate__bindings_are_lazy)
{
	CHECK({"cel.bind(x, 1 / 0, true || x == 1)", "true"},
		{"cel.bind(x, 1 / 0, x == 1 || true)", "true"},
		{"cel.bind(x, 1 / 0, x == 1)", "E: division by zero"},
		{"cel.bind(x, [1, 2].map(y, y * 2), [2, 4].all(z, z in x))", "true"},
		{"cel.bind(x, [1, 2].map(y, y * 2), [7].map(z, [x, [z]]))", "[[[2, 4], [7]]]"},
		{"cel.bind(x, cel.bind(y, 1, [3].map(z, z + y)), cel.bind(w, 5, [w, x[0], w]))",
			"[5, 4, 5]"},
		{"[1, 2].map(i, cel.bind(x, i * 10, x + i))", "[11, 22]"},
		{"cel.bind(x, 1, cel.bind(x, x + 1, x + 1))", "3"},
		{"cel.bind(a, [1].map(b, b), cel.bind(c, a, [2].map(d, c[0] + d)))", "[3]"});
}
END_TEST

/* Spec section 8.9 */
START_TEST(test_cel_evaluate__dispatch_by_kind)
{
	CHECK({"dyn(1).isGreaterThan(quantity(\"1\"))",
		      "E: no such overload: isGreaterThan(int, kubernetes.Quantity)"},
		{"dyn(" C ".mem).isGreaterThan(dyn(" A ".v))",
			"E: no such overload: isGreaterThan(kubernetes.Quantity, "
			"kubernetes.Semver)"},
		{"dyn(" C ".mem).isGreaterThan(dyn(quantity(\"1\")))", "true"},
		{"dyn(" A ".v).compareTo(dyn(semver(\"1.2.3\")))", "0"},
		{"dyn([1]).lowerAscii()", "E: no such overload: lowerAscii(list)"},
		{"dyn(duration(\"1s\")).substring(dyn(timestamp(0)))",
			"E: no such overload: substring(google.protobuf.Duration, "
			"google.protobuf.Timestamp)"},
		{"dyn(device).lowerAscii()", "E: no such overload: lowerAscii(map)"},
		{"dyn(1).allowed()", "E: no such overload: allowed(int)"});
}
END_TEST

/* Spec section 8.10, except for the numbered cases */
START_TEST(test_cel_evaluate__results_that_are_not_bool)
{
	static const struct cel_row rows[] = {
		{"dyn(1u)",
			"uint could not be converted to bool: unsupported type conversion from "
			"'uint' to bool"},
		{"dyn(\"a\")",
			"string could not be converted to bool: unsupported native conversion from "
			"string to 'bool'"},
		{"dyn(1.5)",
			"double could not be converted to bool: type conversion error from Double "
			"to 'bool'"},
		{"dyn(b\"a\")",
			"bytes could not be converted to bool: type conversion error from Bytes to "
			"'bool'"},
		{"dyn([1])",
			"list could not be converted to bool: type conversion error from list to "
			"'bool'"},
		{"dyn({})",
			"map could not be converted to bool: type conversion error from map to "
			"'bool'"},
		{"dyn(" C ".mem)",
			"kubernetes.Quantity could not be converted to bool: type conversion error "
			"from 'Quantity' to 'bool'"},
	};
	static const struct bt_cel_limits limits = {.cost_max = BT_CEL_COST_MAX};
	struct cel_fixture fixture;

	cel_fixture_init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_cel_program *program = cel_compile(rows[i].expression, NULL);
		struct bt_arena arena = {0};
		bool matches;

		ck_assert_ptr_nonnull(program);
		ck_assert_int_eq(bt_cel_device_matches(
					 program, &fixture.device, &limits, &arena, &matches, &err),
			BERTH_ERR_INVALID);
		ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "CEL result of type "));
		ck_assert_str_eq(berth_error_message(&err) + strlen("CEL result of type "),
			rows[i].expected);
		berth_error_finish(&err);
		bt_arena_finish(&arena);
		bt_cel_program_destroy(program);
	}
	cel_fixture_finish(&fixture);
}
END_TEST

/* Spec section 11 */
START_TEST(test_cel_evaluate__constants_are_folded)
{
	CHECK({"true || int(\"abc\") == 1",
		      "X: program instantiation failed: type conversion error from 'string' to "
		      "'int'"},
		{"[1].all(x, uint(-1) == 1u)", "X: program instantiation failed: "},
		{"string(b\"\\xff\") == \"\"",
			"X: program instantiation failed: invalid UTF-8 in bytes, cannot convert "
			"to "
			"string"},
		{"quantity(\"x\") == quantity(\"y\") || true", "true"},
		{"\"a\".find(string(\"[\")) == \"\"",
			"X: program instantiation failed: error parsing regexp: missing closing ]: "
			"`[`"},
		{"\"a\".findAll(\"(\").size() == 0",
			"X: program instantiation failed: error parsing regexp: missing closing ): "
			"`(`"},
		{"matches(\"a\", \"*\") || true",
			"X: program instantiation failed: error parsing regexp: missing argument "
			"to "
			"repetition operator: `*`"},
		{"1 / 0 == 1 || true", "true"}, {"type(int(\"7\")) == int", "true"},
		{"int(\"7\") in [7]", "true"}, {"\"7\" in [string(7)]", "true"});
}
END_TEST

BT_TEST_MAIN("cel_evaluate", test_cel_evaluate__logic_swallows_only_what_another_operand_decides,
	test_cel_evaluate__strict_calls_return_the_first_error,
	test_cel_evaluate__panics_end_the_evaluation, test_cel_evaluate__indexes,
	test_cel_evaluate__unknown_domains_are_empty_one_level_deep, test_cel_evaluate__optionals,
	test_cel_evaluate__equality, test_cel_evaluate__computed_quantities_on_the_right,
	test_cel_evaluate__in, test_cel_evaluate__orderings, test_cel_evaluate__arithmetic,
	test_cel_evaluate__times, test_cel_evaluate__quantifiers_go_on_past_errors,
	test_cel_evaluate__macros, test_cel_evaluate__bindings_are_lazy,
	test_cel_evaluate__dispatch_by_kind, test_cel_evaluate__results_that_are_not_bool,
	test_cel_evaluate__constants_are_folded)

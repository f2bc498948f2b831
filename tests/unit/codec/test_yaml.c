/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/yaml.h"

#include <time.h>

#include "base/alloc.h"
#include "codec/json.h"
#include "test_main.h"

/** Reads the first document as JSON text; "<none>" if there is no document. */
static int first_document(struct bt_str text, const struct bt_yaml_limits *limits,
	struct bt_strbuf *out, struct berth_error *err)
{
	int result = bt_yaml_first_document(text, limits, out, err);
	if (result == 0 && out->length == 0) {
		bt_strbuf_append_c(out, "<none>");
	}
	return result;
}

static void check_json(const char *yaml, const char *json)
{
	struct bt_strbuf out = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	int result = first_document(bt_str_from(yaml), NULL, &out, &err);
	ck_assert_msg(result == 0, "%s: %s", yaml, berth_error_message(&err));
	ck_assert_msg(strcmp(bt_strbuf_c(&out), json) == 0, "%s: %s", yaml, bt_strbuf_c(&out));
	bt_strbuf_finish(&out);
}

static void check_error(const char *yaml, int code, const char *message)
{
	struct bt_strbuf out = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bt_strbuf_append_c(&out, "kept");
	int result = first_document(bt_str_from(yaml), NULL, &out, &err);
	ck_assert_msg(result == code, "%s: code %d, %s", yaml, result, bt_strbuf_c(&out));
	ck_assert_msg(strcmp(berth_error_message(&err), message) == 0, "%s: %s", yaml,
		berth_error_message(&err));
	ck_assert_str_eq(bt_strbuf_c(&out), "kept");
	ck_assert_int_eq(first_document(bt_str_from(yaml), NULL, &out, NULL), code);
	berth_error_finish(&err);
	bt_strbuf_finish(&out);
}

START_TEST(test_yaml__scalars)
{
	static const struct {
		const char *yaml;
		const char *json;
	} rows[] = {
		{"", "null"},
		{"~", "null"},
		{"null", "null"},
		{"Null", "null"},
		{"NULL", "null"},
		{"nULL", "\"nULL\""},
		{"true", "true"},
		{"True", "true"},
		{"TRUE", "true"},
		{"y", "true"},
		{"Y", "true"},
		{"yes", "true"},
		{"Yes", "true"},
		{"YES", "true"},
		{"on", "true"},
		{"On", "true"},
		{"ON", "true"},
		{"false", "false"},
		{"False", "false"},
		{"FALSE", "false"},
		{"n", "false"},
		{"N", "false"},
		{"no", "false"},
		{"No", "false"},
		{"NO", "false"},
		{"off", "false"},
		{"Off", "false"},
		{"OFF", "false"},
		{"tRUE", "\"tRUE\""},
		{"yEs", "\"yEs\""},
		{"\"yes\"", "\"yes\""},
		{"'no'", "\"no\""},
		{"!!str yes", "\"yes\""},
		{"0", "0"},
		{"-0", "0"},
		{"+0", "0"},
		{"12", "12"},
		{"+12", "12"},
		{"-12", "-12"},
		{"1_000", "1000"},
		{"1__0_", "10"},
		{"_1", "\"_1\""},
		{"0x10", "16"},
		{"0XfF", "255"},
		{"-0x10", "-16"},
		{"0x", "\"0x\""},
		{"0b101", "5"},
		{"-0b11", "-3"},
		{"0b12", "\"0b12\""},
		{"010", "8"},
		{"0o17", "15"},
		{"00", "0"},
		{"08", "8"},
		{"0o8", "\"0o8\""},
		{"9223372036854775807", "9223372036854775807"},
		{"-9223372036854775808", "-9223372036854775808"},
		{"18446744073709551615", "18446744073709551615"},
		{"18446744073709551616", "18446744073709551616"},
		{"-9223372036854775809", "-9223372036854775809"},
		{"+18446744073709551615", "18446744073709551615"},
		{"123456789012345678901234567890", "123456789012345678901234567890"},
		{"9007199254740993", "9007199254740993"},
		{"0xFFFFFFFFFFFFFFFF", "18446744073709551615"},
		{"0x1FFFFFFFFFFFFFFFF", "\"0x1FFFFFFFFFFFFFFFF\""},
		{"1.5", "1.5"},
		{"16.0", "16"},
		{"-1.5", "-1.5"},
		{".5", "0.5"},
		{"+.5", "0.5"},
		{"5.", "5"},
		{"1e3", "1000"},
		{"1E+3", "1000"},
		{"1e-7", "1e-7"},
		{"1.5e300", "1.5e+300"},
		{"1e400", "\"1e400\""},
		{"1e-400", "0"},
		{"1_0.5", "10.5"},
		{".5_0", "\".5_0\""},
		{".", "\".\""},
		{"+", "\"+\""},
		{"-x", "\"-x\""},
		{"1e", "\"1e\""},
		{"1.2.3", "\"1.2.3\""},
		{"15s", "\"15s\""},
		{"100m", "\"100m\""},
		{"1Gi", "\"1Gi\""},
		{"1:30", "\"1:30\""},
		{"190:20:30", "\"190:20:30\""},
		{"2001-01-01", "\"2001-01-01\""},
		{"2001-12-14T21:59:43Z", "\"2001-12-14T21:59:43Z\""},
		{"inf", "\"inf\""},
		{"nan", "\"nan\""},
		{"0x1p-2", "\"0x1p-2\""},
		{"!!float 3", "3"},
		{"!!int \"3\"", "3"},
		{"!!float \"1.5\"", "1.5"},
		{"!!bool \"yes\"", "true"},
		{"!!null ''", "null"},
		{"!custom 3", "\"3\""},
		{"! 3", "\"3\""},
		{"!!binary aGVsbG8=", "\"hello\""},
		{"!!binary \"aGVs\\nbG8h\"", "\"hello!\""},
		{"<<", "\"<<\""},
		{"a b  c", "\"a b  c\""},
		{"\"\\u00e9\\n<\"", "\"\xc3\xa9\\n<\""},
		{"'it''s'", "\"it's\""},
		{"|\n  a\n  b\n", "\"a\\nb\\n\""},
		{">-\n  a\n  b\n", "\"a b\""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf yaml = {0};
		bt_strbuf_printf(&yaml, "--- %s\n", rows[i].yaml);
		check_json(bt_strbuf_c(&yaml), rows[i].json);
		bt_strbuf_finish(&yaml);
	}
}
END_TEST

START_TEST(test_yaml__structures)
{
	check_json("", "<none>");
	check_json("# only a comment\n", "<none>");
	check_json("---\n", "null");
	check_json("a: 1\nb:\n  c: [x, 'y', {z: ~}]\n  d:\n  - 1\n  -\n    e: f\n",
		"{\"a\":1,\"b\":{\"c\":[\"x\",\"y\",{\"z\":null}],"
		"\"d\":[1,{\"e\":\"f\"}]}}");
	check_json("a:\nb: {}\nc: []\n", "{\"a\":null,\"b\":{},\"c\":[]}");
	check_json("{\"a\": [1, 2.50, \"x\\ty\"], \"b\": null}",
		"{\"a\":[1,2.5,\"x\\ty\"],\"b\":null}");
	check_json("- a # comment\n- |\n  text: not a key\n", "[\"a\",\"text: not a key\\n\"]");
	check_json("? a\n: b\n", "{\"a\":\"b\"}");
	check_json("%YAML 1.1\n---\na: b\n...\n", "{\"a\":\"b\"}");
	check_json("\xef\xbb\xbf"
		   "a: b\n",
		"{\"a\":\"b\"}");
}
END_TEST

START_TEST(test_yaml__keys_become_strings)
{
	check_json("1: a\n0x10: b\ntrue: c\nno: d\n1.5: e\n-3: f\n'x': g\n",
		"{\"1\":\"a\",\"16\":\"b\",\"true\":\"c\","
		"\"false\":\"d\",\"1.5\":\"e\",\"-3\":\"f\",\"x\":\"g\"}");
	check_json("- &k key\n- *k : 1\n", "[\"key\",{\"key\":1}]");
	check_json("- &n 7\n- *n : 1\n", "[7,{\"7\":1}]");
}
END_TEST

START_TEST(test_yaml__documents)
{
	static const char *const rows[] = {"{\"a\":1}", "null", "[\"b\"]", "\"c\""};
	struct bt_yaml_reader *reader = bt_yaml_reader_create(
		BT_STR("# head\na: 1\n# next\n---\n---\n- b\n...\n--- c\n"), NULL);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};
		bool more = false;
		ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
		ck_assert(more);
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i]);
		bt_strbuf_finish(&out);
	}
	for (int i = 0; i < 2; i++) {
		struct bt_strbuf out = {0};
		bool more = true;
		ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
		ck_assert(!more && out.length == 0);
	}
	bt_yaml_reader_destroy(reader);
	bt_yaml_reader_destroy(NULL);
}
END_TEST

START_TEST(test_yaml__anchors_do_not_cross_documents)
{
	struct bt_yaml_reader *reader =
		bt_yaml_reader_create(BT_STR("a: &x 1\nb: *x\n---\nc: *x\n"), NULL);
	struct bt_strbuf out = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	bool more;
	ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"a\":1,\"b\":1}");
	ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, &err), BERTH_ERR_SYNTAX);
	ck_assert_str_eq(berth_error_message(&err), "yaml: unknown anchor 'x' referenced");
	/* after an error, the reader returns no further document */
	ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
	ck_assert(!more);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"a\":1,\"b\":1}");
	berth_error_finish(&err);
	bt_strbuf_finish(&out);
	bt_yaml_reader_destroy(reader);
}
END_TEST

START_TEST(test_yaml__aliases)
{
	check_json("a: &x [1, {b: c}]\nd: *x\ne: [*x, *x]\n",
		"{\"a\":[1,{\"b\":\"c\"}],\"d\":[1,{\"b\":\"c\"}],\"e\":[[1,{\"b\":\"c\"}],[1,{"
		"\"b\":\"c\"}]]}");
	check_json("a: &x 1\nb: &x 2\nc: *x\n", "{\"a\":1,\"b\":2,\"c\":2}");
	check_json("a: &x {b: &x 1, c: *x}\nd: *x\n", "{\"a\":{\"b\":1,\"c\":1},\"d\":1}");
	check_json("&k key: 1\nother: *k\n", "{\"key\":1,\"other\":\"key\"}");
	check_error("a: &x [*x]\n", BERTH_ERR_SYNTAX, "yaml: anchor 'x' value contains itself");
	check_error(
		"a: &x {b: {c: *x}}\n", BERTH_ERR_SYNTAX, "yaml: anchor 'x' value contains itself");
	check_error("a: *x\n", BERTH_ERR_SYNTAX, "yaml: unknown anchor 'x' referenced");
}
END_TEST

START_TEST(test_yaml__merge_keys)
{
	check_json("a: &a {x: 1, q: 2}\nb:\n  <<: *a\n  q: 3\n",
		"{\"a\":{\"x\":1,\"q\":2},\"b\":{\"q\":3,\"x\":1}}");
	check_json("a: &a {x: 1, q: 2}\nb:\n  q: 3\n  <<: *a\n",
		"{\"a\":{\"x\":1,\"q\":2},\"b\":{\"q\":3,\"x\":1}}");
	check_json("- &a {x: 1}\n- &b {x: 2, z: 4}\n- {<<: [*a, *b], q: 3}\n",
		"[{\"x\":1},{\"x\":2,\"z\":4},{\"q\":3,\"x\":1,\"z\":4}]");
	check_json("<<: {a: 1}\n", "{\"a\":1}");
	check_json("<<: {}\nb: 1\n", "{\"b\":1}");
	check_json("<<: []\n", "{}");
	check_json("<<: {a: 1}\n<<: {a: 2, b: 3}\n", "{\"a\":1,\"b\":3}");
	check_json("<<: &x {a: {b: 1}}\nc: *x\n", "{\"c\":{\"a\":{\"b\":1}},\"a\":{\"b\":1}}");
	check_json("'<<': 1\n", "{\"<<\":1}");
	check_error("<<: 1\n", BERTH_ERR_INVALID,
		"yaml: line 1: map merge requires map or sequence of maps as the value");
	check_error("a: 1\n<<: [{}, 1]\n", BERTH_ERR_INVALID,
		"yaml: line 2: map merge requires map or sequence of maps as the value");
}
END_TEST

START_TEST(test_yaml__duplicate_keys)
{
	check_error("a: 1\nb: 2\na: 3\n", BERTH_ERR_INVALID,
		"yaml: line 3: mapping key \"a\" already defined at line 1");
	check_error("x:\n  y: {k: 1, 'k': 2}\n", BERTH_ERR_INVALID,
		"yaml: line 2: mapping key \"k\" already defined at line 2");
	check_error("1: a\n0x1: b\n", BERTH_ERR_INVALID,
		"yaml: line 2: mapping key \"1\" already defined at line 1");
	check_json("a: {k: 1}\nb: {k: 1}\nk: 1\n", "{\"a\":{\"k\":1},\"b\":{\"k\":1},\"k\":1}");
	struct bt_strbuf notes = {0};
	struct bt_strbuf out = {0};
	struct bt_yaml_limits limits = {.duplicates = &notes};
	/* spec 10 section 13, edge case 8: the note names the line of the repeated key's value */
	ck_assert_int_eq(
		first_document(BT_STR("kind: x\nfoo: bar\nleaderElection:\n  leaderElect: true\n"
				      "  leaderElect: false\nfoo:\n  - 1\n"),
			&limits, &out, NULL),
		0);
	ck_assert_str_eq(bt_strbuf_c(&out),
		"{\"kind\":\"x\",\"foo\":[1],\"leaderElection\":{\"leaderElect\":false}}");
	ck_assert_str_eq(bt_strbuf_c(&notes),
		"\n  line 5: key \"leaderElect\" already set in map\n  line 7: key \"foo\" already "
		"set in map");
	bt_strbuf_finish(&notes);
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_yaml__duplicate_keys_in_large_mappings)
{
	/* repeat each key in turn at the end, after mappings with the same keys */
	for (int count = 1; count < 40; count++) {
		for (int repeated = 0; repeated < count; repeated++) {
			struct bt_strbuf text = {0};
			char message[100];
			bt_strbuf_append_c(&text, "m: {k0: 1, k17: 1}\n");
			for (int i = 0; i < count; i++) {
				bt_strbuf_printf(&text, "k%d: {k%d: 1, k%d: 2}\n", i, i, i + 1);
			}
			struct bt_strbuf out = {0};
			ck_assert_int_eq(first_document(bt_strbuf_str(&text), NULL, &out, NULL), 0);
			bt_strbuf_finish(&out);
			bt_strbuf_printf(&text, "k%d: 3\n", repeated);
			(void)snprintf(message, sizeof(message),
				"yaml: line %d: mapping key \"k%d\" already defined at line %d",
				count + 2, repeated, repeated + 2);
			check_error(bt_strbuf_c(&text), BERTH_ERR_INVALID, message);
			bt_strbuf_finish(&text);
		}
	}
}
END_TEST

START_TEST(test_yaml__errors)
{
	static const struct {
		const char *yaml;
		int code;
		const char *message;
	} rows[] = {
		{"a: .inf", BERTH_ERR_INVALID, "json: unsupported value: +Inf"},
		{"a: -.INF", BERTH_ERR_INVALID, "json: unsupported value: -Inf"},
		{"a: .nan", BERTH_ERR_INVALID, "json: unsupported value: NaN"},
		{"[a]: b", BERTH_ERR_INVALID, "yaml: line 1: invalid map key"},
		{"{a: b}: c", BERTH_ERR_INVALID, "yaml: line 1: invalid map key"},
		{"a: 1\n~: b", BERTH_ERR_INVALID, "yaml: line 2: unsupported map key: null"},
		{"!!int x", BERTH_ERR_INVALID, "yaml: cannot decode !!str `x` as a !!int"},
		{"!!bool 3", BERTH_ERR_INVALID, "yaml: cannot decode !!int `3` as a !!bool"},
		{"!!binary '*'", BERTH_ERR_INVALID,
			"yaml: !!binary value contains invalid base64 data"},
		{"!!binary 'YQ='", BERTH_ERR_INVALID,
			"yaml: !!binary value contains invalid base64 data"},
		{"!!binary 'YQ==YQ=='", BERTH_ERR_INVALID,
			"yaml: !!binary value contains invalid base64 data"},
		{"a: b: c", BERTH_ERR_SYNTAX,
			"yaml: mapping values are not allowed in this context"},
		{"x: 1\na: b: c", BERTH_ERR_SYNTAX,
			"yaml: line 2: mapping values are not allowed in this context"},
		{"a: [1\nb: 2", BERTH_ERR_SYNTAX, "yaml: line 1: did not find expected ',' or ']'"},
		{"a:\n\t- b", BERTH_ERR_SYNTAX,
			"yaml: line 2: found character that cannot start any token"},
		{"a: 'x", BERTH_ERR_SYNTAX, "yaml: found unexpected end of stream"},
		{"a: \xff", BERTH_ERR_SYNTAX, "yaml: invalid leading UTF-8 octet"},
		{"a: \x01", BERTH_ERR_SYNTAX, "yaml: control characters are not allowed"},
		{"%YAML 3.0\n--- a", BERTH_ERR_SYNTAX, "yaml: found incompatible YAML document"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		check_error(rows[i].yaml, rows[i].code, rows[i].message);
	}
}
END_TEST

/** Reading the text must fail with this code in less than two seconds of processor time. */
static void check_refused_soon(struct bt_strbuf *text, int code, const char *what)
{
	struct bt_strbuf out = {0};
	clock_t start = clock();
	int result = first_document(bt_strbuf_str(text), NULL, &out, NULL);
	double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
	ck_assert_msg(result == code, "%s: code %d", what, result);
	ck_assert_msg(seconds < 2.0, "%s took %.1f s", what, seconds);
	bt_strbuf_finish(&out);
	bt_strbuf_finish(text);
}

static struct bt_strbuf repeat(const char *piece, size_t count)
{
	struct bt_strbuf text = {0};
	for (size_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, piece);
	}
	return text;
}

START_TEST(test_yaml__depth_limit)
{
	struct bt_strbuf text = repeat("[", BT_YAML_DEPTH_MAX);
	struct bt_strbuf close = repeat("]", BT_YAML_DEPTH_MAX);
	bt_strbuf_append_str(&text, bt_strbuf_str(&close));
	check_json(bt_strbuf_c(&text), bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	bt_strbuf_finish(&close);
	text = repeat("[", BT_YAML_DEPTH_MAX + 1);
	check_error(
		bt_strbuf_c(&text), BERTH_ERR_TOO_LARGE, "yaml: line 1: exceeded max depth of 100");
	bt_strbuf_finish(&text);
	text = repeat("[", 200000);
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "200 KB of [");
	text = repeat("{a: ", 50000);
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "200 KB of {a:");
	text = repeat("- ", 100000);
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "200 KB of -");
	text = repeat("? ", 100000);
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "200 KB of ?");
	text = repeat("&a [", 50000);
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "200 KB of &a [");
	/* nesting by aliases: the text itself has only one level */
	text = (struct bt_strbuf){0};
	bt_strbuf_append_c(&text, "- &a0 [x]\n");
	for (int i = 1; i < 200; i++) {
		bt_strbuf_printf(&text, "- &a%d [*a%d]\n", i, i - 1);
	}
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "chain of aliases");
}
END_TEST

START_TEST(test_yaml__expansion_budget)
{
	struct bt_strbuf text = {0};
	bt_strbuf_append_c(&text, "a0: &a0 [lol,lol,lol,lol,lol,lol,lol,lol,lol]\n");
	for (int i = 1; i < 20; i++) {
		bt_strbuf_printf(&text, "a%d: &a%d [", i, i);
		for (int k = 0; k < 9; k++) {
			bt_strbuf_printf(&text, "%s*a%d", k == 0 ? "" : ",", i - 1);
		}
		bt_strbuf_append_c(&text, "]\n");
	}
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "billion laughs");
	/* merges that copy many keys and add none */
	bt_strbuf_append_c(&text, "- &a {");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_printf(&text, "k%d: 1, ", i);
	}
	bt_strbuf_append_c(&text, "}\n- {");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_append_c(&text, "<<: *a, ");
	}
	bt_strbuf_append_c(&text, "}\n");
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "merge bomb");
	struct bt_strbuf out = {0};
	struct bt_yaml_limits limits = {.output_bytes_max = 20};
	ck_assert_int_eq(first_document(BT_STR("a: &x 1234567\nb: *x\n"), &limits, &out, NULL),
		BERTH_ERR_TOO_LARGE);
	ck_assert_int_eq(first_document(BT_STR("a: 1234567\nb: 2\n"), &limits, &out, NULL), 0);
	ck_assert_str_eq(bt_strbuf_c(&out), "{\"a\":1234567,\"b\":2}");
	bt_strbuf_finish(&out);
}
END_TEST

START_TEST(test_yaml__other_ways_to_be_slow)
{
	struct bt_strbuf text = {0};
	for (int i = 0; i < 30000; i++) {
		bt_strbuf_printf(&text, "%%TAG !h%d! tag:example.com,2000:\n", i);
	}
	check_refused_soon(&text, BERTH_ERR_TOO_LARGE, "tag directives");
	/* many keys and anchors are allowed; the only error is the repeated key "k5" */
	for (int i = 0; i < 60000; i++) {
		bt_strbuf_printf(&text, "k%d: &a%d v\n", i, i);
	}
	bt_strbuf_append_c(&text, "k5: x\n");
	check_refused_soon(&text, BERTH_ERR_INVALID, "many keys");
	for (int i = 0; i < 100000; i++) {
		bt_strbuf_append_c(&text, "---\n");
	}
	struct bt_yaml_reader *reader = bt_yaml_reader_create(bt_strbuf_str(&text), NULL);
	struct bt_strbuf out = {0};
	bool more = true;
	clock_t start = clock();
	while (more) {
		bt_strbuf_reset(&out);
		ck_assert_int_eq(bt_yaml_next_document(reader, &out, &more, NULL), 0);
	}
	ck_assert_msg((double)(clock() - start) / CLOCKS_PER_SEC < 2.0, "many documents");
	bt_yaml_reader_destroy(reader);
	bt_strbuf_finish(&out);
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_yaml__truncated_anywhere)
{
	static const char sample[] =
		"# c\n%YAML 1.1\n---\na: &x [1, 'q', \"\\u00e9\"]\nb: {c: *x, <<: {d: !!str 1}}\n"
		"e: |\n  text\n  more\nf: >-\n  folded\n? g\n: h\n...\n--- z\n";
	for (size_t length = 0; length < sizeof(sample); length++) {
		char *copy = bt_malloc(length);
		memcpy(copy, sample, length);
		struct bt_yaml_reader *reader =
			bt_yaml_reader_create((struct bt_str){copy, (uint32_t)length}, NULL);
		bool more = true;
		while (more) {
			struct bt_strbuf out = {0};
			struct berth_error err = BERTH_ERROR_INIT;
			int result = bt_yaml_next_document(reader, &out, &more, &err);
			if (result != 0) {
				ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "yaml: "));
				more = false;
			}
			berth_error_finish(&err);
			bt_strbuf_finish(&out);
		}
		bt_yaml_reader_destroy(reader);
		bt_free(copy);
	}
}
END_TEST

START_TEST(test_yaml__from_json)
{
	static const struct {
		const char *json;
		const char *yaml;
	} rows[] = {
		{"null", "null\n"},
		{"{}", "{}\n"},
		{"[]", "[]\n"},
		{"{\"b\":1,\"a\":[1.50,true,null,\"x\"],\"c\":{\"d\":{},\"e\":[]}}",
			"b: 1\na:\n- 1.50\n- true\n- null\n- x\nc:\n  d: {}\n  e: []\n"},
		/* spec 10 section 10: lists are not indented below their key */
		{"{\"profiles\":[{\"pluginConfig\":[{\"args\":{\"kind\":\"K\"},\"name\":\"M\"}]}]}",
			"profiles:\n- pluginConfig:\n  - args:\n      kind: K\n    name: M\n"},
		{"{\"acceptContentTypes\":\"\",\"d\":\"15s\"}",
			"acceptContentTypes: \"\"\nd: 15s\n"},
		{"[\"true\",\"yes\",\"~\",\"12\",\"1e3\",\"0x1f\",\"1:30\",\"2026-03-14T09:26:"
		 "53Z\",\"<<\",\".inf\"]",
			"- \"true\"\n- \"yes\"\n- \"~\"\n- \"12\"\n- \"1e3\"\n- \"0x1f\"\n- "
			"\"1:30\"\n"
			"- \"2026-03-14T09:26:53Z\"\n- \"<<\"\n- \".inf\"\n"},
		{"[\"a: b\",\"# c\",\"- d\",\"it's\",\" lead\",\"*\",\"{\",\"a,b\",\"%x\"]",
			"- 'a: b'\n- '# c'\n- '- d'\n- it's\n- ' lead'\n- '*'\n- '{'\n- a,b\n- "
			"'%x'\n"},
		{"{\"t\":\"one\\ntwo\\n\"}", "t: |\n  one\n  two\n"},
		{"{\"1\":2,\"true\":3}", "\"1\": 2\n\"true\": 3\n"},
		{"\"tab\\there\\u0001\"", "\"tab\\there\\x01\"\n"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		int result = bt_yaml_from_json(bt_str_from(rows[i].json), &out, &err);
		ck_assert_msg(result == 0, "%s: %s", rows[i].json, berth_error_message(&err));
		ck_assert_str_eq(bt_strbuf_c(&out), rows[i].yaml);
		bt_strbuf_finish(&out);
	}
	struct bt_strbuf out = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_yaml_from_json(BT_STR("{\"a\":[1,}"), &out, &err), BERTH_ERR_SYNTAX);
	ck_assert_uint_eq(out.length, 0);
	berth_error_finish(&err);
	struct bt_strbuf deep = repeat("[", 5000);
	ck_assert_int_eq(bt_yaml_from_json(bt_strbuf_str(&deep), &out, NULL), BERTH_ERR_TOO_LARGE);
	bt_strbuf_finish(&deep);
}
END_TEST

START_TEST(test_yaml__from_json_reads_back)
{
	static const char *const strings[] = {
		"",
		" ",
		"a",
		"no",
		"NULL",
		"0",
		"-1",
		"+.5",
		"1_0",
		"0b1",
		"1.",
		".5",
		".",
		"..",
		"-",
		"--",
		"---",
		"...",
		"? a",
		"a?",
		"key: v",
		"key:",
		":",
		"::",
		"a #b",
		"#",
		"&a",
		"*a",
		"!a",
		"|",
		">",
		"'",
		"\\\"",
		"%",
		"@",
		"`",
		"[a",
		"]",
		"{}",
		",",
		"a\\nb",
		"\\n",
		"a\\n",
		"a\\n\\n",
		"\\na",
		" a\\nb",
		"a \\nb",
		"\\ta",
		"a\\t",
		"a\\r\\nb",
		"\\u0085",
		"\\u2028x",
		"\\ufeff",
		"\xc3\xa9",
		"\\ud83d\\ude00",
		"\\u0000",
		"\\u007f",
		"2001-01-01",
		"1:20",
		"=",
		"<<",
		"~a",
		"y",
		"off",
		("a very long line that goes on and on beyond the eighty columns where some "
		 "writers "
		 "would break it in two"),
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(strings); i++) {
		struct bt_strbuf json = {0};
		struct bt_strbuf yaml = {0};
		struct bt_strbuf back = {0};
		struct bt_arena arena = {0};
		struct bt_json_value *a = NULL;
		struct bt_json_value *b = NULL;
		bt_strbuf_printf(&json, "{\"k\":\"%s\",\"%s\":[\"%s\",{\"x\":\"%s\"}]}", strings[i],
			strings[i], strings[i], strings[i]);
		ck_assert_int_eq(bt_yaml_from_json(bt_strbuf_str(&json), &yaml, NULL), 0);
		struct berth_error err = BERTH_ERROR_INIT;
		int result = first_document(bt_strbuf_str(&yaml), NULL, &back, &err);
		ck_assert_msg(result == 0, "row %zu: %s: %s", i, bt_strbuf_c(&yaml),
			berth_error_message(&err));
		ck_assert_int_eq(bt_json_parse(&arena, bt_strbuf_str(&json), false, &a, NULL), 0);
		ck_assert_int_eq(bt_json_parse(&arena, bt_strbuf_str(&back), false, &b, NULL), 0);
		ck_assert_msg(bt_json_equal(a, b), "row %zu: %s became %s by %s", i,
			bt_strbuf_c(&json), bt_strbuf_c(&back), bt_strbuf_c(&yaml));
		bt_strbuf_finish(&json);
		bt_strbuf_finish(&yaml);
		bt_strbuf_finish(&back);
		bt_arena_finish(&arena);
	}
}
END_TEST

BT_TEST_MAIN("yaml", test_yaml__scalars, test_yaml__structures, test_yaml__keys_become_strings,
	test_yaml__documents, test_yaml__anchors_do_not_cross_documents, test_yaml__aliases,
	test_yaml__merge_keys, test_yaml__duplicate_keys,
	test_yaml__duplicate_keys_in_large_mappings, test_yaml__errors, test_yaml__depth_limit,
	test_yaml__expansion_budget, test_yaml__other_ways_to_be_slow,
	test_yaml__truncated_anywhere, test_yaml__from_json, test_yaml__from_json_reads_back)

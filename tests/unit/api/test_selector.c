/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector.h"

#include "api_test.h"
#include "test_main.h"

#define NAME_PATTERN "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define NAME_RULE \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with " \
	"an " \
	"alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for " \
	"validation " \
	"is '" NAME_PATTERN "')"
#define VALUE_RULE \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' " \
	"or '.', and " \
	"must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " \
	"'12345', " \
	"regex used for validation is '(" NAME_PATTERN ")?')"

static struct bt_arena arena;

static const struct bt_str_map *labels_of(const char *json)
{
	struct bt_strbuf text = {0};
	const struct bt_object_meta *meta;

	bt_strbuf_printf(&text, "{'labels':%s}", json);
	meta = api_decode(&arena, &bt_object_meta_message, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return &meta->labels;
}

static const struct bt_label_selector *selector_of(const char *json)
{
	return api_decode(&arena, &bt_label_selector_message, json);
}

static bool matches(const char *selector_json, const char *labels_json)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_selector selector;

	if (bt_selector_from_label_selector(selector_of(selector_json), &arena, &selector, &err) !=
		0) {
		ck_abort_msg("%s: %s", selector_json, berth_error_message(&err));
	}
	return bt_selector_matches(&selector, labels_of(labels_json));
}

static void check_error(const char *selector_json, const char *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_selector selector;

	if (bt_selector_from_label_selector(selector_of(selector_json), &arena, &selector, &err) ==
		0) {
		ck_abort_msg("%s was accepted", selector_json);
	}
	ck_assert_int_eq(err.code, BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
}

START_TEST(test_selector__edge_01_17_absent_and_empty)
{
	struct bt_selector selector;

	ck_assert_int_eq(bt_selector_from_label_selector(NULL, &arena, &selector, NULL), 0);
	ck_assert(!bt_selector_matches(&selector, labels_of("{'a':'b'}")));
	ck_assert(!bt_selector_matches(&selector, labels_of("{}")));
	ck_assert(!bt_selector_is_empty(&selector));
	ck_assert(matches("{}", "{}"));
	ck_assert(matches("{}", "{'a':'b'}"));
	ck_assert(matches("{'matchLabels':{},'matchExpressions':[]}", "null"));
}
END_TEST

START_TEST(test_selector__edge_01_18_not_in_on_missing_key)
{
	ck_assert(matches(
		"{'matchExpressions':[{'key':'x','operator':'NotIn','values':['']}]}", "{'y':''}"));
	ck_assert(!matches(
		"{'matchExpressions':[{'key':'x','operator':'NotIn','values':['']}]}", "{'x':''}"));
}
END_TEST

START_TEST(test_selector__edge_01_19_in_on_missing_key)
{
	ck_assert(!matches(
		"{'matchExpressions':[{'key':'x','operator':'In','values':['a']}]}", "{}"));
	ck_assert(matches(
		"{'matchExpressions':[{'key':'x','operator':'In','values':['a']}]}", "{'x':'a'}"));
}
END_TEST

START_TEST(test_selector__edge_01_20_greater_and_less)
{
	static const struct {
		const char *operator_;
		const char *operand;
		const char *value;
		bool matches;
	} rows[] = {{"Gt", "1", "v2", false}, {"Gt", "1", "2", true}, {"Gt", "0204", "0206", true},
		{"Lt", "0204", "0203", true}, {"Gt", "1", "1", false}, {"Lt", "1", "1", false},
		{"Gt", "1", "9223372036854775807", true}, {"Gt", "1", "9223372036854775808", false},
		{"Lt", "0", "-1", true}, {"Gt", "1", "+2", true}, {"Gt", "1", "", false},
		{"Gt", "1", " 2", false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf json = {0};
		const struct bt_node_selector *source;
		struct bt_parsed_node_selector selector;
		struct bt_str_pair pair = {BT_STR("z"), bt_str_from(rows[i].value)};
		struct bt_str_map labels = {&pair, 1, true};

		bt_strbuf_printf(&json,
			"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'z','operator':'%s','"
			"values':['%s']}]}]}",
			rows[i].operator_, rows[i].operand);
		source = api_decode(&arena, &bt_node_selector_message, bt_strbuf_c(&json));
		selector = bt_node_selector_parse(source, BT_STR(""), &arena);
		ck_assert_msg(bt_node_selector_matches(&selector, BT_STR("n"), &labels, &arena,
				      NULL) == rows[i].matches,
			"%s %s on %s", rows[i].operator_, rows[i].operand, rows[i].value);
		bt_strbuf_finish(&json);
	}
}
END_TEST

START_TEST(test_selector__edge_01_21_exists_with_values)
{
	check_error("{'matchExpressions':[{'key':'x','operator':'Exists','values':['a','<b>']}]}",
		"[values: Invalid value: [\"a\",\"\\u003cb\\u003e\"]: values set must be empty for "
		"exists and does "
		"not exist, values[1][x]: Invalid value: \"<b>\": " VALUE_RULE "]");
	check_error("{'matchExpressions':[{'key':'x','operator':'DoesNotExist','values':['a']}]}",
		"values: Invalid value: [\"a\"]: values set must be empty for exists and does not "
		"exist");
}
END_TEST

START_TEST(test_selector__edge_01_22_invalid_value)
{
	check_error(
		"{'matchLabels':{'k':'a b'}}", "values[0][k]: Invalid value: \"a b\": " VALUE_RULE);
	check_error("{'matchExpressions':[{'key':'k','operator':'In','values':['ok','a b']}]}",
		"values[1][k]: Invalid value: \"a b\": " VALUE_RULE);
}
END_TEST

START_TEST(test_selector__edge_01_23_long_key)
{
	char letters[255];
	struct bt_strbuf json = {0};
	struct bt_strbuf message = {0};

	memset(letters, 'a', 254);
	letters[254] = '\0';
	bt_strbuf_printf(&json, "{'matchExpressions':[{'key':'%s','operator':'Exists'}]}", letters);
	bt_strbuf_printf(&message,
		"key: Invalid value: \"%s\": name part must be no more than 63 bytes", letters);
	check_error(bt_strbuf_c(&json), bt_strbuf_c(&message));
	bt_strbuf_finish(&json);
	bt_strbuf_finish(&message);
}
END_TEST

START_TEST(test_selector__requirement_errors)
{
	check_error("{'matchExpressions':[{'key':'x','operator':'In'}]}",
		"values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
		"empty");
	/* In a label selector, an empty list is printed as null, too. */
	check_error("{'matchExpressions':[{'key':'x','operator':'NotIn','values':[]}]}",
		"values: Invalid value: null: for 'in', 'notin' operators, values set can't be "
		"empty");
	check_error("{'matchExpressions':[{'key':'x','operator':'Gt','values':['1']}]}",
		"\"Gt\" is not a valid label selector operator");
	check_error("{'matchExpressions':[{'key':'x','operator':''}]}",
		"\"\" is not a valid label selector operator");
	/* The first invalid requirement determines the error. */
	check_error("{'matchExpressions':[{'key':'','operator':'Exists'},{'key':'x','operator':'"
		    "Foo'}]}",
		"key: Invalid value: \"\": name part must be non-empty; name part " NAME_RULE);
}
END_TEST

START_TEST(test_selector__label_keys)
{
	static const struct {
		const char *key;
		bool valid;
	} rows[] = {{"a", true}, {"A.b_c-9", true}, {"example.com/A", true}, {"a-b.c/x", true},
		{"", false}, {"-a", false}, {"a-", false}, {"a b", false}, {"/a", false},
		{"a/", false}, {"a/b/c", false}, {"Example.com/a", false}, {"a..b/c", false},
		{".a/c", false}, {"a./c", false}, {"a-/c", false}, {"-a/c", false},
		{"a.-b/c", false}, {"a_b/c", false}, {"a\xc3\xa9", false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_error_list errors = {0};

		ck_assert_msg(bt_label_key_is_valid(bt_str_from(rows[i].key)) == rows[i].valid,
			"%s", rows[i].key);
		bt_label_key_errors(bt_str_from(rows[i].key), &arena, &errors);
		ck_assert_msg((errors.count == 0) == rows[i].valid, "%s", rows[i].key);
	}
}
END_TEST

START_TEST(test_selector__label_key_messages)
{
	struct bt_error_list errors = {0};

	bt_label_key_errors(BT_STR("/"), &arena, &errors);
	ck_assert_uint_eq(errors.count, 3);
	api_check_str("prefix", errors.items[0], "prefix part must be non-empty");
	api_check_str("name", errors.items[1], "name part must be non-empty");
	api_check_str("pattern", errors.items[2], "name part " NAME_RULE);
	errors = (struct bt_error_list){0};
	bt_label_key_errors(BT_STR("A/b"), &arena, &errors);
	ck_assert_uint_eq(errors.count, 1);
	api_check_str("upper case", errors.items[0],
		"prefix part a lowercase RFC 1123 subdomain must consist of lower case "
		"alphanumeric characters, '-' "
		"or '.', and must start and end with an alphanumeric character (e.g. "
		"'example.com', regex used for "
		"validation is "
		"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
	errors = (struct bt_error_list){0};
	bt_label_key_errors(BT_STR("a/b/c"), &arena, &errors);
	ck_assert_uint_eq(errors.count, 1);
	api_check_str("slashes", errors.items[0],
		"a valid label key " NAME_RULE
		" with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
}
END_TEST

START_TEST(test_selector__plain_map_is_not_validated)
{
	struct bt_selector selector =
		bt_selector_from_map(labels_of("{'not valid!':'a b'}"), &arena);

	ck_assert(bt_selector_matches(&selector, labels_of("{'not valid!':'a b','x':'y'}")));
	ck_assert(!bt_selector_matches(&selector, labels_of("{'not valid!':'c'}")));
	selector = bt_selector_from_map(labels_of("{}"), &arena);
	ck_assert(bt_selector_is_empty(&selector));
	ck_assert(bt_selector_matches(&selector, labels_of("{}")));
}
END_TEST

START_TEST(test_selector__many_values)
{
	struct bt_strbuf json = {0};

	bt_strbuf_append_c(&json, "{'matchExpressions':[{'key':'x','operator':'In','values':[");
	for (int i = 100; i > 0; i--) {
		bt_strbuf_printf(&json, "'v%d',", i * 7 % 101);
	}
	bt_strbuf_append_c(&json, "'last']}]}");
	ck_assert(matches(bt_strbuf_c(&json), "{'x':'v1'}"));
	ck_assert(matches(bt_strbuf_c(&json), "{'x':'v100'}"));
	ck_assert(matches(bt_strbuf_c(&json), "{'x':'last'}"));
	ck_assert(!matches(bt_strbuf_c(&json), "{'x':'v101'}"));
	bt_strbuf_finish(&json);
}
END_TEST

START_TEST(test_selector__error_list_text)
{
	struct bt_error_list errors = {0};

	api_check_str("none", bt_error_list_text(&errors, &arena), "");
	bt_error_list_add(&errors, &arena, BT_STR("a"));
	bt_error_list_add(&errors, &arena, BT_STR("a"));
	api_check_str("one", bt_error_list_text(&errors, &arena), "a");
	bt_error_list_add(&errors, &arena, BT_STR("b"));
	bt_error_list_add(&errors, &arena, BT_STR("a"));
	api_check_str("two", bt_error_list_text(&errors, &arena), "[a, b]");
}
END_TEST

START_TEST(test_selector__hostile_error_text_is_bounded)
{
	struct bt_strbuf json = {0};
	struct bt_error_list errors = {0};
	const struct bt_node_selector *source;
	struct bt_parsed_node_selector selector;
	size_t bytes = 0;

	/* A long key with many values: each error quotes the key. */
	bt_strbuf_append_c(
		&json, "{'nodeSelectorTerms':[{'matchExpressions':[{'operator':'In','key':'");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_append_char(&json, 'k');
	}
	bt_strbuf_append_c(&json, "','values':[");
	for (int i = 0; i < 20000; i++) {
		bt_strbuf_append_c(&json, i == 0 ? "'_'" : ",'_'");
	}
	bt_strbuf_append_c(&json, "]}]},{'matchExpressions':[{'key':'!','operator':'Exists'}]}]}");
	source = api_decode(&arena, &bt_node_selector_message, bt_strbuf_c(&json));
	selector = bt_node_selector_parse(source, BT_STR(""), &arena);
	ck_assert_uint_eq(selector.term_count, 2);
	ck_assert_uint_gt(selector.terms[1].errors.count, 0);
	bt_node_selector_errors(&selector, &arena, &errors);
	for (uint32_t i = 0; i < errors.count; i++) {
		bytes += errors.items[i].length;
	}
	ck_assert_uint_lt(bytes, 2 * 1024 * 1024);
	bt_strbuf_finish(&json);
}
END_TEST

START_TEST(test_selector__field_selector)
{
	static const struct {
		const char *text;
		const char *field;
		const char *value;
		bool negated;
	} rows[] = {{"status.phase!=Failed", "status.phase", "Failed", true},
		{"a=b", "a", "b", false}, {"a==b", "a", "b", false}, {"a=", "a", "", false},
		{"a=x\\,y\\=z\\\\", "a", "x,y=z\\", false}};
	struct bt_field_selector selector;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_int_eq(
			bt_field_selector_parse(bt_str_from(rows[i].text), &arena, &selector, NULL),
			0);
		ck_assert_uint_eq(selector.count, 1);
		api_check_str(rows[i].text, selector.terms[0].field, rows[i].field);
		api_check_str(rows[i].text, selector.terms[0].value, rows[i].value);
		ck_assert(selector.terms[0].negated == rows[i].negated);
	}
	ck_assert_int_eq(
		bt_field_selector_parse(BT_STR("status.phase!=Succeeded,status.phase!=Failed"),
			&arena, &selector, NULL),
		0);
	ck_assert_uint_eq(selector.count, 2);
	ck_assert(bt_field_term_matches(&selector.terms[0], BT_STR("Running")));
	ck_assert(!bt_field_term_matches(&selector.terms[1], BT_STR("Failed")));
	ck_assert(bt_field_term_matches(&selector.terms[1], BT_STR("")));
	ck_assert_int_eq(bt_field_selector_parse(BT_STR(""), &arena, &selector, NULL), 0);
	ck_assert_uint_eq(selector.count, 0);
}
END_TEST

START_TEST(test_selector__field_selector_errors)
{
	static const char *const rows[] = {"zzz", "a=b,zzz", "a=b=c", "a=b\\", "a=b\\c"};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_field_selector selector;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_msg(bt_field_selector_parse(bt_str_from(rows[i]), &arena, &selector,
				      NULL) == BERTH_ERR_SYNTAX,
			"%s", rows[i]);
	}
	ck_assert_int_ne(bt_field_selector_parse(BT_STR("zzz"), &arena, &selector, &err), 0);
	ck_assert_str_eq(
		berth_error_message(&err), "invalid selector: 'zzz'; can't understand 'zzz'");
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("selector", test_selector__edge_01_17_absent_and_empty,
	test_selector__edge_01_18_not_in_on_missing_key,
	test_selector__edge_01_19_in_on_missing_key, test_selector__edge_01_20_greater_and_less,
	test_selector__edge_01_21_exists_with_values, test_selector__edge_01_22_invalid_value,
	test_selector__edge_01_23_long_key, test_selector__requirement_errors,
	test_selector__label_keys, test_selector__label_key_messages,
	test_selector__plain_map_is_not_validated, test_selector__many_values,
	test_selector__error_list_text, test_selector__hostile_error_text_is_bounded,
	test_selector__field_selector, test_selector__field_selector_errors)

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/selector.h"

#include "api_test.h"
#include "test_main.h"

#define VALUE_RULE \
	"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' " \
	"or '.', and " \
	"must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or " \
	"'12345', " \
	"regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

static struct bt_arena arena;

/** Matches a node selector; sets *out_errors (may be NULL) to all errors as one text. */
static bool matches_with(const char *selector_json, const char *node_name, const char *labels_json,
	struct bt_str *out_errors)
{
	const struct bt_node_selector *source =
		api_decode(&arena, &bt_node_selector_message, selector_json);
	struct bt_parsed_node_selector selector =
		bt_node_selector_parse(source, BT_STR(""), &arena);
	struct bt_error_list errors = {0};
	struct bt_strbuf text = {0};
	const struct bt_object_meta *meta;
	bool result;

	bt_strbuf_printf(&text, "{'labels':%s}", labels_json);
	meta = api_decode(&arena, &bt_object_meta_message, bt_strbuf_c(&text));
	result = bt_node_selector_matches(
		&selector, bt_str_from(node_name), &meta->labels, &arena, &errors);
	if (out_errors != NULL) {
		*out_errors = bt_error_list_text(&errors, &arena);
	}
	bt_strbuf_finish(&text);
	return result;
}

static bool matches(const char *selector_json, const char *node_name, const char *labels_json)
{
	struct bt_str errors;
	bool result = matches_with(selector_json, node_name, labels_json, &errors);

	ck_assert_msg(errors.length == 0, "%s: %.*s", selector_json, BT_STR_ARG(errors));
	return result;
}

/** Matches the required node affinity of a pod spec against a node. */
static bool pod_matches(const char *spec_json, const char *node_name, const char *labels_json)
{
	const struct bt_pod_spec *spec = api_decode(&arena, &bt_pod_spec_message, spec_json);
	struct bt_required_node_affinity affinity = bt_required_node_affinity_parse(spec, &arena);
	struct bt_strbuf text = {0};
	const struct bt_object_meta *meta;

	bt_strbuf_printf(&text, "{'labels':%s}", labels_json);
	meta = api_decode(&arena, &bt_object_meta_message, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	return bt_required_node_affinity_matches(
		&affinity, bt_str_from(node_name), &meta->labels, &arena, NULL);
}

START_TEST(test_node_selector__edge_01_24_no_terms)
{
	ck_assert(!matches("{}", "n", "{'a':'b'}"));
	ck_assert(!matches("{'nodeSelectorTerms':[]}", "n", "{'a':'b'}"));
	ck_assert(!matches("{'nodeSelectorTerms':[{},{'matchExpressions':[]}]}", "n", "{'a':'b'}"));
	ck_assert(!pod_matches("{'affinity':{'nodeAffinity':{'"
			       "requiredDuringSchedulingIgnoredDuringExecution':{}}}}",
		"n", "{}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_25_required_absent)
{
	ck_assert(pod_matches("{'affinity':{'nodeAffinity':{}}}", "n", "{}"));
	ck_assert(pod_matches("{'affinity':{}}", "n", "{}"));
	ck_assert(pod_matches("{}", "n", "{}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_26_second_term)
{
	static const char selector[] =
		"{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','"
		"values':['n1']}]},"
		"{'matchExpressions':[{'key':'a','operator':'In','values':['b']}]}]}";

	ck_assert(matches(selector, "n1", "{}"));
	ck_assert(!matches(selector, "n2", "{}"));
	ck_assert(matches(selector, "n2", "{'a':'b'}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_27_field_with_two_values)
{
	static const char selector[] = "{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata."
				       "name','operator':'In','values':['n1','n2']}]},"
				       "{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}";
	struct bt_str errors;

	ck_assert(!matches_with(selector, "n1", "{}", &errors));
	api_check_str("no match", errors,
		"nodeSelectorTerms[0].matchFields[0].values: Invalid value: [\"n1\",\"n2\"]: must "
		"have one element");
	ck_assert(matches_with(selector, "n1", "{'a':''}", &errors));
	api_check_str("another term matches", errors, "");
}
END_TEST

START_TEST(test_node_selector__edge_01_28_label_called_metadata_name)
{
	ck_assert(!matches(
		"{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
		"'values':['host_1']}]}]}",
		"n", "{'metadata.name':'host_1'}"));
	ck_assert(matches(
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'metadata.name','operator':'In',"
		"'values':['host_1']}]}]}",
		"n", "{'metadata.name':'host_1'}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_29_nameless_node_skips_fields)
{
	ck_assert(matches(
		"{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In',"
		"'values':['n1']}]}]}",
		"", "{}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_30_invalid_value)
{
	struct bt_str errors;

	ck_assert(!matches_with(
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'foo','operator':'NotIn',"
		"'values':['invalid value: ___@#$%^']}]}]}",
		"n", "{}", &errors));
	api_check_str("text", errors,
		"nodeSelectorTerms[0].matchExpressions[0].values[0][foo]: Invalid value: \"invalid "
		"value: ___@#$%^\": " VALUE_RULE);
}
END_TEST

/** Returns the score of the preferred terms; sets *out_errors to all errors as one text. */
static int64_t preferred_score(
	const char *preferred_json, const char *labels_json, struct bt_str *out_errors)
{
	struct bt_strbuf text = {0};
	const struct bt_node_affinity *affinity;
	const struct bt_object_meta *meta;
	struct bt_error_list errors = {0};
	struct bt_preferred_terms terms;

	bt_strbuf_printf(
		&text, "{'preferredDuringSchedulingIgnoredDuringExecution':%s}", preferred_json);
	affinity = api_decode(&arena, &bt_node_affinity_message, bt_strbuf_c(&text));
	bt_strbuf_reset(&text);
	bt_strbuf_printf(&text, "{'labels':%s}", labels_json);
	meta = api_decode(&arena, &bt_object_meta_message, bt_strbuf_c(&text));
	bt_strbuf_finish(&text);
	terms = bt_preferred_terms_parse(&affinity->preferred, BT_STR(""), &arena, &errors);
	*out_errors = bt_error_list_text(&errors, &arena);
	return bt_preferred_terms_score(&terms, BT_STR("n"), &meta->labels);
}

START_TEST(test_node_selector__edge_01_31_preferred_terms)
{
	struct bt_str errors;

	ck_assert_int_eq(preferred_score("[{'weight':0,'preference':{'matchExpressions':[{'key':'!'"
					 ",'operator':'Foo'}]}},{'weight':7,'preference':{}},"
					 "{'weight':3,'preference':{'matchExpressions':[{'key':'a',"
					 "'operator':'Exists'}]}},"
					 "{'weight':-1,'preference':{'matchExpressions':[{'key':'a'"
					 ",'operator':'In','values':['b']}]}},"
					 "{'weight':50,'preference':{'matchExpressions':[{'key':'c'"
					 ",'operator':'Exists'}]}}]",
				 "{'a':'b'}", &errors),
		2);
	ck_assert_uint_eq(errors.length, 0);
	ck_assert_int_eq(
		preferred_score("[{'weight':5,'preference':{'matchExpressions':[{'key':'a','"
				"operator':'Exists'}]}},"
				"{'weight':0,'preference':{'matchExpressions':[{'key':'!','"
				"operator':'Foo'}]}},"
				"{'weight':1,'preference':{'matchExpressions':[{'key':'a','"
				"operator':'Foo'}],"
				"'matchFields':[{'key':'metadata.name','operator':'Exists'}]}},"
				"{'weight':1,'preference':{'matchExpressions':[{'key':'a','"
				"operator':'Lt'}]}}]",
			"{'a':'b'}", &errors),
		0);
	api_check_str("errors", errors,
		"[[2].matchExpressions[0].operator: Unsupported value: \"Foo\": supported values: "
		"\"In\", \"NotIn\", "
		"\"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\", [2].matchFields[0].operator: "
		"Unsupported value: \"Exists\": "
		"supported values: \"In\", \"NotIn\", [3].matchExpressions[0].values: Invalid "
		"value: null: for 'Gt', 'Lt' "
		"operators, exactly one value is required]");
}
END_TEST

START_TEST(test_node_selector__edge_01_32_selector_and_affinity)
{
	static const char spec[] =
		"{'nodeSelector':{'foo':'bar'},'affinity':{'nodeAffinity':{'"
		"requiredDuringSchedulingIgnoredDuringExecution':"
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'Exists'}]}]}}}}";

	ck_assert(pod_matches(spec, "n", "{'foo':'bar','a':''}"));
	ck_assert(!pod_matches(spec, "n", "{'foo':'bar'}"));
	ck_assert(!pod_matches(spec, "n", "{'a':''}"));
	ck_assert(!pod_matches(spec, "n", "{'foo':'baz','a':''}"));
}
END_TEST

START_TEST(test_node_selector__edge_01_33_unknown_field)
{
	ck_assert(matches("{'nodeSelectorTerms':[{'matchFields':[{'key':'spec.x','operator':'NotIn'"
			  ",'values':['a']}]}]}",
		"n", "{}"));
	ck_assert(!matches("{'nodeSelectorTerms':[{'matchFields':[{'key':'spec.x','operator':'In','"
			   "values':['a']}]}]}",
		"n", "{}"));
	ck_assert(matches("{'nodeSelectorTerms':[{'matchFields':[{'key':'spec.x','operator':'In','"
			  "values':['']}]}]}",
		"n", "{}"));
}
END_TEST

START_TEST(test_node_selector__all_requirement_errors)
{
	static const struct {
		const char *requirement;
		const char *error;
	} rows[] = {
		{"{'key':'a','operator':'In'}",
			".values: Invalid value: null: for 'in', 'notin' "
			"operators, values set can't be empty"},
		{"{'key':'a','operator':'NotIn','values':[]}",
			".values: Invalid value: []: for 'in', 'notin' operators, values set can't "
			"be empty"},
		{"{'key':'a','operator':'Exists','values':['1','2']}",
			".values: Invalid value: [\"1\",\"2\"]: values set must be empty for "
			"exists and does not exist"},
		{"{'key':'a','operator':'Gt','values':['x']}",
			".values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value "
			"must be an integer"},
		{"{'key':'a','operator':'in','values':['!']}",
			".operator: Unsupported value: \"in\": supported values: \"In\", "
			"\"NotIn\", \"Exists\", "
			"\"DoesNotExist\", \"Gt\", \"Lt\""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf json = {0};
		struct bt_strbuf expected = {0};
		struct bt_str errors;

		bt_strbuf_printf(&json, "{'nodeSelectorTerms':[{},{'matchExpressions':[%s]}]}",
			rows[i].requirement);
		bt_strbuf_printf(
			&expected, "nodeSelectorTerms[1].matchExpressions[0]%s", rows[i].error);
		ck_assert(!matches_with(bt_strbuf_c(&json), "n", "{}", &errors));
		api_check_str(rows[i].requirement, errors, bt_strbuf_c(&expected));
		bt_strbuf_finish(&json);
		bt_strbuf_finish(&expected);
	}
}
END_TEST

START_TEST(test_node_selector__negative_bound_is_no_label_value)
{
	struct bt_str errors;

	ck_assert(!matches_with("{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'"
				"Gt','values':['-1']}]}]}",
		"n", "{'a':'5'}", &errors));
	api_check_str("sign", errors,
		"nodeSelectorTerms[0].matchExpressions[0].values[0][a]: Invalid value: "
		"\"-1\": " VALUE_RULE);
}
END_TEST

START_TEST(test_node_selector__path_prefix)
{
	const struct bt_node_selector *source = api_decode(&arena, &bt_node_selector_message,
		"{'nodeSelectorTerms':[{'matchExpressions':[{'key':'a','operator':'x'}]}]}");
	struct bt_parsed_node_selector selector =
		bt_node_selector_parse(source, BT_STR("a.required"), &arena);
	struct bt_error_list errors = {0};

	bt_node_selector_errors(&selector, &arena, &errors);
	ck_assert_uint_eq(errors.count, 1);
	ck_assert(bt_str_has_prefix(errors.items[0],
		BT_STR("a.required.nodeSelectorTerms[0].matchExpressions[0]."
		       "operator: Unsupported value: \"x\"")));
}
END_TEST

BT_TEST_MAIN("node_selector", test_node_selector__edge_01_24_no_terms,
	test_node_selector__edge_01_25_required_absent, test_node_selector__edge_01_26_second_term,
	test_node_selector__edge_01_27_field_with_two_values,
	test_node_selector__edge_01_28_label_called_metadata_name,
	test_node_selector__edge_01_29_nameless_node_skips_fields,
	test_node_selector__edge_01_30_invalid_value,
	test_node_selector__edge_01_31_preferred_terms,
	test_node_selector__edge_01_32_selector_and_affinity,
	test_node_selector__edge_01_33_unknown_field, test_node_selector__all_requirement_errors,
	test_node_selector__negative_bound_is_no_label_value, test_node_selector__path_prefix)

/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define REJECTED "UnschedulableAndUnresolvable: node(s) didn't match Pod's node affinity/selector"
#define ENFORCED \
	"UnschedulableAndUnresolvable: node(s) didn't match scheduler-enforced node affinity"
#define REQUIRED(terms) \
	"{'spec':{'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'" \
	"nodeSelectorTerms':[" terms "]}}}}}"
#define PREFERRED(terms) \
	"{'spec':{'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':" \
	"[" terms "]}}}}"
#define LABELS(requirements) "{'matchExpressions':[" requirements "]}"
#define FIELDS(requirements) "{'matchFields':[" requirements "]}"
#define IN(key, values) "{'key':'" key "','operator':'In','values':[" values "]}"
#define NAME(operator, values) \
	"{'key':'metadata.name','operator':'" operator"','values':[" values "]}"
#define NODE(name, labels) "{'metadata':{'name':'" name "','labels':{" labels "}}}"

static void init(struct fixture *fixture, const char *args)
{
	fixture_init_with(fixture, &bt_node_affinity_plugin, NULL, args);
	fixture_add_node(fixture, NODE("n1", "'foo':'bar','zone':'z1'"));
	fixture_add_node(fixture, NODE("n2", "'zone':'z2'"));
}

/**
 * Runs PreFilter of a pod; compares the status and the node names of the result, separated by
 * spaces; "*": no restriction.
 */
static void check_restriction(
	const char *row, const char *pod, const char *status, const char *names)
{
	struct bt_pre_filter_result result;
	struct bt_strbuf text = {0};
	struct fixture fixture;

	init(&fixture, NULL);
	fixture_expect(row, fixture_pre_filter(&fixture, pod, &result), status);
	if (!result.restricted) {
		bt_strbuf_append_char(&text, '*');
	}
	for (uint32_t i = 0; i < result.count; i++) {
		bt_strbuf_printf(&text, "%s<%.*s>", i > 0 ? " " : "", BT_STR_ARG(result.names[i]));
	}
	fixture_expect(row, bt_strbuf_c(&text), names);
	bt_strbuf_finish(&text);
	fixture_finish(&fixture);
}

static void check_filter(const char *row, const char *pod, const char *node, const char *expected)
{
	struct fixture fixture;

	init(&fixture, NULL);
	fixture_add_node(&fixture, node);
	fixture_expect(row, fixture_filter(&fixture, pod, "n"), expected);
	fixture_expect(row, fixture_filter_alone(&fixture, pod, "n"), expected);
	fixture_finish(&fixture);
}

START_TEST(test_node_affinity__edge_05_11_skip)
{
	check_restriction("nothing", "{}", "Skip", "*");
	check_restriction("null selector", "{'spec':{'nodeSelector':null}}", "Skip", "*");
	check_restriction("empty selector", "{'spec':{'nodeSelector':{}}}", "Success", "*");
	check_filter("empty selector", "{'spec':{'nodeSelector':{}}}", NODE("n", ""), "Success");
}
END_TEST

START_TEST(test_node_affinity__edge_05_12_required_matches_nothing)
{
	check_restriction("no terms", REQUIRED(""), "Success", "*");
	check_filter("no terms", REQUIRED(""), NODE("n", ""), REJECTED);
	check_restriction("empty term", REQUIRED("{}"), "Success", "*");
	check_filter("empty term", REQUIRED("{}"), NODE("n", ""), REJECTED);
}
END_TEST

START_TEST(test_node_affinity__edge_05_13_union_of_names)
{
	check_restriction("one term without names",
		REQUIRED(FIELDS(NAME("In", "'n1'")) "," LABELS(IN("foo", "'bar'"))), "Success",
		"*");
	check_restriction("both",
		REQUIRED(FIELDS(NAME("In", "'n2'")) "," FIELDS(NAME("In", "'n1'"))), "Success",
		"<n1> <n2>");
	check_restriction("same name twice",
		REQUIRED(FIELDS(NAME("In", "'n1'")) "," FIELDS(NAME("In", "'n1'"))), "Success",
		"<n1>");
}
END_TEST

START_TEST(test_node_affinity__edge_05_14_conflicting_names)
{
#define BOTH FIELDS(NAME("In", "'n1'") "," NAME("In", "'n2'"))
	check_restriction("conflict", REQUIRED(BOTH),
		"UnschedulableAndUnresolvable: pod affinity terms conflict", "*");
	check_restriction(
		"another term", REQUIRED(BOTH "," FIELDS(NAME("In", "'n3'"))), "Success", "<n3>");
}
END_TEST

START_TEST(test_node_affinity__edge_05_15_two_values_in_one_field)
{
	check_restriction(
		"restriction", REQUIRED(FIELDS(NAME("In", "'n1','n2'"))), "Success", "<n1> <n2>");
	check_filter(
		"parse error", REQUIRED(FIELDS(NAME("In", "'n','n2'"))), NODE("n", ""), REJECTED);
}
END_TEST

START_TEST(test_node_affinity__edge_05_16_not_in_and_empty_name)
{
	check_restriction("not in", REQUIRED(FIELDS(NAME("NotIn", "'n1'"))), "Success", "*");
	check_filter(
		"not in, same", REQUIRED(FIELDS(NAME("NotIn", "'n'"))), NODE("n", ""), REJECTED);
	check_filter(
		"not in, other", REQUIRED(FIELDS(NAME("NotIn", "'n1'"))), NODE("n", ""), "Success");
	check_restriction("empty name", REQUIRED(FIELDS(NAME("In", "''"))), "Success", "<>");
}
END_TEST

START_TEST(test_node_affinity__edge_05_17_operators)
{
#define KERNEL REQUIRED(LABELS("{'key':'kernel-version','operator':'Gt','values':['0204']}"))
	check_filter("in", REQUIRED(LABELS(IN("foo", "'bar','v2'"))), NODE("n", "'foo':'bar'"),
		"Success");
	check_filter("gt", KERNEL, NODE("n", "'kernel-version':'0206'"), "Success");
	check_filter("gt, no number", KERNEL, NODE("n", "'kernel-version':'v206'"), REJECTED);
	check_filter("gt, missing", KERNEL, NODE("n", ""), REJECTED);
	check_filter("not in, missing",
		REQUIRED(LABELS("{'key':'mem','operator':'NotIn','values':['x']}")), NODE("n", ""),
		"Success");
	check_filter("exists, missing", REQUIRED(LABELS("{'key':'GPU','operator':'Exists'}")),
		NODE("n", ""), REJECTED);
}
END_TEST

START_TEST(test_node_affinity__edge_05_18_broken_terms)
{
	check_filter("broken term is ignored",
		REQUIRED(LABELS("{'key':'foo','operator':'Near','values':['bar']}") "," LABELS(
			IN("foo", "'bar'"))),
		NODE("n", "'foo':'bar'"), "Success");
	check_filter("fields do not match",
		REQUIRED("{'matchExpressions':[" IN("foo", "'bar'") "],'matchFields':[" NAME(
			"In", "'n1'") "]}"),
		NODE("n", "'foo':'bar'"), REJECTED);
}
END_TEST

START_TEST(test_node_affinity__edge_05_19_node_selector)
{
	check_filter("both needed",
		"{'spec':{'nodeSelector':{'foo':'bar'},'affinity':{'nodeAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" LABELS(
			IN("zone", "'z1'")) "]}}}}}",
		NODE("n", "'zone':'z1'"), REJECTED);
	check_filter("compared literally", "{'spec':{'nodeSelector':{'foo':'not a label value!'}}}",
		NODE("n", "'foo':'not a label value!'"), "Success");
}
END_TEST

START_TEST(test_node_affinity__edge_05_20_added_affinity)
{
	struct fixture fixture;

	init(&fixture,
		"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
		"nodeSelectorTerms':[" LABELS(IN("zone", "'z1'")) "]}}}");
	fixture_expect("pod without affinity", fixture_filter(&fixture, "{}", "n2"), ENFORCED);
	fixture_expect("pod differs too",
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'foo':'x'}}}", "n2"), ENFORCED);
	fixture_expect("added matches", fixture_filter(&fixture, "{}", "n1"), "Success");
	fixture_expect("pod differs",
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'foo':'x'}}}", "n1"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

static void check_scores(
	struct fixture *fixture, const char *pod, const int64_t *raw, const int64_t *normalized)
{
	static const char *const names[] = {"a", "b", "c"};
	int64_t scores[3];

	for (uint32_t i = 0; i < 3; i++) {
		scores[i] = fixture_score(fixture, pod, names[i]);
		ck_assert_msg(scores[i] == raw[i], "%s: raw %lld", names[i], (long long)scores[i]);
	}
	ck_assert_int_eq(bt_node_affinity_plugin.normalize, BT_NORMALIZE_DEFAULT);
	bt_default_normalize(scores, 3, false);
	for (uint32_t i = 0; i < 3; i++) {
		ck_assert_msg(
			scores[i] == normalized[i], "%s: %lld", names[i], (long long)scores[i]);
	}
}

START_TEST(test_node_affinity__edge_05_21_scores)
{
#define TERM(weight, key, value) \
	"{'weight':" weight ",'preference':" LABELS(IN(key, "'" value "'")) "}"
	struct fixture fixture;

	init(&fixture, NULL);
	fixture_add_node(&fixture, NODE("a", "'foo':'bar'"));
	fixture_add_node(&fixture, NODE("b", "'foo':'bar','key':'value','az':'az1'"));
	fixture_add_node(&fixture, NODE("c", "'key':'value'"));
	check_scores(&fixture,
		PREFERRED(TERM("2", "foo", "bar") "," TERM("4", "key", "value") "," TERM(
			"5", "az", "az1")),
		(const int64_t[]){2, 11, 4}, (const int64_t[]){18, 100, 36});
	fixture_finish(&fixture);

	init(&fixture,
		"{'addedAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" TERM(
			"3", "key", "value") "]}}");
	fixture_add_node(&fixture, NODE("a", "'foo':'bar'"));
	fixture_add_node(&fixture, NODE("b", "'key':'value'"));
	fixture_add_node(&fixture, NODE("c", "'foo':'bar','key':'value'"));
	check_scores(&fixture, PREFERRED(TERM("2", "foo", "bar")), (const int64_t[]){2, 3, 5},
		(const int64_t[]){40, 60, 100});
	ck_assert_msg(fixture_score(&fixture, "{}", "b") == 3,
		"added terms count for a pod without affinity");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_affinity__edge_05_22_broken_preferred_terms)
{
#define BROKEN(weight) "{'weight':" weight ",'preference':" LABELS(IN("invalid key", "'v'")) "}"
	struct fixture fixture;
	int64_t score;

	init(&fixture, NULL);
	fixture_expect("weight 0", fixture_pre_score(&fixture, PREFERRED(BROKEN("0"))), "Success");
	fixture_expect("weight 1", fixture_pre_score(&fixture, PREFERRED(BROKEN("1"))),
		"Error: [0].matchExpressions[0].key: Invalid value: \"invalid key\": name part "
		"must consist of alphanumeric "
		"characters, '-', '_' or '.', and must start and end with an alphanumeric "
		"character (e.g. 'MyName',  or "
		"'my.name',  or '123-abc', regex used for validation is "
		"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')");
	ck_assert_int_eq(
		strncmp(fixture_score_alone(&fixture, PREFERRED(BROKEN("1")), "n1", &score),
			"Error: ", 7),
		0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_affinity__edge_05_23_empty_preferred_list)
{
	struct fixture fixture;

	init(&fixture, NULL);
	fixture_expect("empty list", fixture_pre_score(&fixture, PREFERRED("")), "Success");
	ck_assert_int_eq(fixture_score(&fixture, PREFERRED(""), "n1"), 0);
	fixture_expect("no list",
		fixture_pre_score(&fixture, "{'spec':{'affinity':{'nodeAffinity':{}}}}"), "Skip");
	fixture_expect("no affinity", fixture_pre_score(&fixture, "{}"), "Skip");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_affinity__edge_05_64_hints)
{
	static const char *const matching = NODE("n", "'foo':'bar'");
	static const char *const other = NODE("n", "'foo':'x'");
	struct fixture fixture;
	const struct bt_pod_info *pod;
	const struct bt_pod_info *broken;
	const char *error;

	init(&fixture, NULL);
	pod = fixture_pending(&fixture, "{'spec':{'nodeSelector':{'foo':'bar'}}}");
	broken = fixture_pending(
		&fixture, REQUIRED(LABELS("{'key':'foo','operator':'Near','values':['bar']}")));
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_LABEL, pod, other,
				 matching, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_LABEL, pod, matching,
				 matching, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, matching, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, other, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, broken, NULL, matching, &error),
		FIXTURE_QUEUE);
	ck_assert_ptr_nonnull(strstr(error, "Unsupported value: \"Near\""));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_affinity__hint_ignores_added_affinity_of_the_old_node)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	init(&fixture,
		"{'addedAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"
		"nodeSelectorTerms':[" LABELS(IN("zone", "'z1'")) "]}}}");
	pod = fixture_pending(&fixture, "{'spec':{'nodeSelector':{'foo':'bar'}}}");
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_LABEL, pod,
			NODE("n", "'foo':'bar'"), NODE("n", "'foo':'bar','zone':'z1'"), NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL,
				 NODE("n", "'foo':'bar'"), NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_affinity__sign_ignores_order)
{
	struct fixture fixture;

	init(&fixture, NULL);
	ck_assert_str_eq(fixture_sign(&fixture,
				 REQUIRED(LABELS(IN("a", "'1','2'")) "," LABELS(IN("b", "'3'")))),
		fixture_sign(
			&fixture, REQUIRED(LABELS(IN("b", "'3'")) "," LABELS(IN("a", "'2','1'")))));
	ck_assert_str_ne(fixture_sign(&fixture, "{}"),
		fixture_sign(&fixture, "{'spec':{'nodeSelector':{}}}"));
	ck_assert_str_ne(fixture_sign(&fixture, "{'spec':{'nodeSelector':{'a':'b'}}}"),
		fixture_sign(&fixture, "{'spec':{'nodeSelector':{'a':'c'}}}"));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_affinity", test_node_affinity__edge_05_11_skip,
	test_node_affinity__edge_05_12_required_matches_nothing,
	test_node_affinity__edge_05_13_union_of_names,
	test_node_affinity__edge_05_14_conflicting_names,
	test_node_affinity__edge_05_15_two_values_in_one_field,
	test_node_affinity__edge_05_16_not_in_and_empty_name,
	test_node_affinity__edge_05_17_operators, test_node_affinity__edge_05_18_broken_terms,
	test_node_affinity__edge_05_19_node_selector, test_node_affinity__edge_05_20_added_affinity,
	test_node_affinity__edge_05_21_scores,
	test_node_affinity__edge_05_22_broken_preferred_terms,
	test_node_affinity__edge_05_23_empty_preferred_list, test_node_affinity__edge_05_64_hints,
	test_node_affinity__hint_ignores_added_affinity_of_the_old_node,
	test_node_affinity__sign_ignores_order)

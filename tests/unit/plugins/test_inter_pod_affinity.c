/* SPDX-License-Identifier: Apache-2.0 */
/* Filtering of InterPodAffinity: spec 06 section 3.15, cases 1 to 25 and 39 to 42. */
#include "framework/cluster_event.h"
#include "test_main.h"
#include "topology_fixture.h"

#define IN(key, value) \
	"'labelSelector':{'matchExpressions':[{'key':'" key "','operator':'In','values':['" value \
	"']}]}"
#define NOT_IN(key, value) \
	"'labelSelector':{'matchExpressions':[{'key':'" key \
	"','operator':'NotIn','values':['" value "']}]}"
#define HAS(key) "'labelSelector':{'matchExpressions':[{'key':'" key "','operator':'Exists'}]}"
#define TERM(topology, more) "{'topologyKey':'" topology "'," more "}"
#define REQUIRED(terms) "{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define PREFERRED(terms) "{'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]}"
#define NEAR(terms) "'affinity':{'podAffinity':" REQUIRED(terms) "}"
#define APART(terms) "'affinity':{'podAntiAffinity':" REQUIRED(terms) "}"
#define BOTH(near, apart) \
	"'affinity':{'podAffinity':" REQUIRED(near) ",'podAntiAffinity':" REQUIRED(apart) "}"
#define POD(labels, spec) "{'metadata':{'labels':{" labels "}},'spec':{" spec "}}"
#define POD_IN(ns, labels, spec) \
	"{'metadata':{'namespace':'" ns "','labels':{" labels "}},'spec':{" spec "}}"
#define BOUND(node, labels, spec) \
	"{'metadata':{'labels':{" labels "}},'spec':{'nodeName':'" node "'," spec "}}"
#define BOUND_IN(ns, node, labels) \
	"{'metadata':{'namespace':'" ns "','labels':{" labels "}},'spec':{'nodeName':'" node "'}}"
#define RZ(region, zone) "'region':'" region "','zone':'" zone "'"
#define R(region) "'region':'" region "'"
#define NAMESPACE(name, labels) "{'metadata':{'name':'" name "','labels':{" labels "}}}"

/* Adds nodes a (region r1, zone z1), b (r1, z2), c (r2, z3) and d (no labels). */
static void begin(struct fixture *f)
{
	fixture_init(f, &bt_inter_pod_affinity_plugin);
	fixture_add_node(f, NODE("a", RZ("r1", "z1")));
	fixture_add_node(f, NODE("b", RZ("r1", "z2")));
	fixture_add_node(f, NODE("c", RZ("r2", "z3")));
	fixture_add_node(f, NODE("d", ""));
}

/** Builds the four nodes and up to two bound pods (NULL: none), and checks one pod. */
static void check(const char *first, const char *second, const char *pod, const char *expected)
{
	struct fixture f;

	begin(&f);
	if (first != NULL) {
		fixture_add_pod(&f, first);
	}
	if (second != NULL) {
		fixture_add_pod(&f, second);
	}
	topology_expect_verdicts(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_inter_pod_affinity__edge_06_01_no_terms)
{
	struct fixture f;

	begin(&f);
	fixture_add_pod(&f, ON("a", "'x':'y'"));
	topology_expect_verdicts(&f, "{}", "Skip");
	topology_expect_scores(&f, "{}", "Skip");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_02_affinity)
{
	check(ON("a", "'service':'securityscan'"), NULL,
		POD("", NEAR(TERM("region", IN("service", "securityscan")))), "a:P b:P c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_03_not_in)
{
	check(ON("a", "'other':'y'"), NULL, POD("", NEAR(TERM("region", NOT_IN("service", "x")))),
		"a:P b:P c:A d:A");
}
END_TEST

#define FOO_BAR_TERMS TERM("region", HAS("foo")) "," TERM("zone", HAS("bar"))

START_TEST(test_inter_pod_affinity__edge_06_04_one_pod_must_match_all)
{
	check(ON("a", "'foo':''"), ON("a", "'bar':''"), POD("", NEAR(FOO_BAR_TERMS)),
		"a:A b:A c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_05_first_of_its_kind)
{
	check(ON("a", "'foo':''"), ON("a", "'bar':''"),
		POD("'foo':'','bar':''", NEAR(FOO_BAR_TERMS)), "a:P b:P c:P d:A");
	check(NULL, NULL,
		POD("'foo':''", NEAR(TERM("region", "'namespaces':['other']," HAS("foo")))),
		"a:A b:A c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_06_match_on_a_node_without_the_key)
{
	check(ON("d", "'foo':''"), NULL, POD("'foo':''", NEAR(TERM("region", HAS("foo")))),
		"a:P b:P c:P d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_07_not_the_first)
{
	check(ON("a", "'foo':''"), NULL, POD("'foo':''", NEAR(TERM("zone", HAS("foo")))),
		"a:P b:A c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_08_two_keys)
{
	struct fixture f;

	begin(&f);
	fixture_add_node(&f, NODE("e", RZ("r1", "z1")));
	fixture_add_pod(&f, ON("a", "'foo':'','bar':''"));
	topology_expect_verdicts(&f, POD("", NEAR(FOO_BAR_TERMS)), "a:P b:A c:A e:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_09_same_key_twice)
{
	static const char *const matching = "{'metadata':{'labels':{'foo':'','bar':''}}}";
	static const struct topology_step one[] = {{-1, "a", matching}};
	static const char *const pod =
		POD("", NEAR(TERM("zone", HAS("foo")) "," TERM("zone", HAS("bar"))));
	struct fixture f;

	begin(&f);
	fixture_add_pod(&f, ON("a", "'foo':'','bar':''"));
	topology_expect_verdicts(&f, pod, "a:P b:A c:A d:A");
	/* The removed pod counted for both terms, so its removal lowers both counts. */
	topology_expect_after(&f, pod, "a", one, 1, "A");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_10_other_namespace)
{
	check(ON("a", "'foo':''"), NULL,
		POD("", NEAR(TERM("region", "'namespaces':['other']," HAS("foo")))),
		"a:A b:A c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_11_namespaces)
{
	static const char *const here = ON("a", "'foo':''");
	static const char *const there = BOUND_IN("n1", "b", "'foo':''");

	check(here, there, POD("", APART(TERM("zone", HAS("foo")))), "a:B b:P c:P d:P");
	check(here, there, POD("", APART(TERM("zone", "'namespaceSelector':{}," HAS("foo")))),
		"a:B b:B c:P d:P");
	check(here, there, POD("", APART(TERM("zone", "'namespaces':['n1','n2']," HAS("foo")))),
		"a:P b:B c:P d:P");
}
END_TEST

#define TEAM(operator, values) \
	"'namespaceSelector':{'matchExpressions':[{'key':'team','operator':'" operator"'" values \
										      "}]},"
#define VALUES(value) ",'values':['" value "']"

START_TEST(test_inter_pod_affinity__edge_06_12_selector_and_names)
{
	struct fixture f;

	begin(&f);
	topology_add_object(&f, BT_KIND_NAMESPACE, NAMESPACE("n1", "'team':'team1'"));
	topology_add_object(&f, BT_KIND_NAMESPACE, NAMESPACE("n3", "'team':'team3'"));
	fixture_add_pod(&f, BOUND_IN("n1", "a", "'foo':''"));
	fixture_add_pod(&f, BOUND_IN("n2", "b", "'foo':''"));
	fixture_add_pod(&f, BOUND_IN("n3", "c", "'foo':''"));
	topology_expect_verdicts(&f,
		POD("",
			APART(TERM("zone",
				"'namespaces':['n2']," TEAM("In", VALUES("team1")) HAS("foo")))),
		"a:B b:B c:P d:P");
	/* The namespace's labels change, so the same pod matches pods in other namespaces. */
	topology_add_object(&f, BT_KIND_NAMESPACE, NAMESPACE("n3", "'team':'team1'"));
	topology_expect_verdicts(&f,
		POD("",
			APART(TERM("zone",
				"'namespaces':['n2']," TEAM("In", VALUES("team1")) HAS("foo")))),
		"a:B b:B c:B d:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_13_negative_namespace_selector)
{
	struct fixture f;

	begin(&f);
	topology_add_object(&f, BT_KIND_NAMESPACE, NAMESPACE("nx", "'team':'x'"));
	fixture_add_pod(&f, BOUND_IN("nx", "a", "'foo':''"));
	topology_expect_verdicts(&f,
		POD("", APART(TERM("zone", TEAM("NotIn", VALUES("x")) HAS("foo")))),
		"a:B b:P c:P d:P");
	fixture_add_pod(
		&f, BOUND("b", "", APART(TERM("zone", TEAM("NotIn", VALUES("x")) HAS("foo")))));
	topology_expect_verdicts(&f, POD_IN("nx", "'foo':''", "'priority':0"), "Skip");
	topology_expect_verdicts(
		&f, POD_IN("default", "'foo':''", "'priority':0"), "a:P b:X c:P d:P");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_14_unknown_namespace)
{
	check(BOUND("a", "", APART(TERM("zone", TEAM("Exists", "") HAS("foo")))), NULL,
		POD("'foo':''", "'priority':0"), "Skip");
	check(BOUND("a", "", APART(TERM("zone", TEAM("DoesNotExist", "") HAS("foo")))), NULL,
		POD("'foo':''", "'priority':0"), "a:X b:P c:P d:P");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_15_null_and_empty_selector)
{
	check(ON("a", "'foo':''"), NULL, POD("", APART("{'topologyKey':'zone'}")),
		"a:P b:P c:P d:P");
	check(ON("a", "'foo':''"), NULL, POD("", APART(TERM("zone", "'labelSelector':{}"))),
		"a:B b:P c:P d:P");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_16_missing_key_of_anti_affinity)
{
	check(ON("d", "'foo':''"), NULL, POD("", APART(TERM("zone", HAS("foo")))),
		"a:P b:P c:P d:P");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_17_existing_term_without_key)
{
	check(BOUND("d", "", APART(TERM("zone", HAS("foo")))), NULL,
		POD("'foo':''", "'priority':0"), "Skip");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_18_existing_terms)
{
	check(BOUND("a", "", APART(FOO_BAR_TERMS)), NULL, POD("'foo':'','bar':''", "'priority':0"),
		"a:X b:X c:P d:P");
	check(BOUND("a", "", APART(FOO_BAR_TERMS)), NULL, POD("'bar':''", "'priority':0"),
		"a:X b:P c:P d:P");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_19_unknown_key)
{
	check(ON("a", "'foo':'','bar':''"), NULL,
		POD("", APART(TERM("invalid", HAS("foo")) "," TERM("zone", HAS("bar")))),
		"a:B b:P c:P d:P");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_20_first_reason)
{
	static const char *const existing = BOUND("a", "'foo':''", APART(TERM("zone", HAS("foo"))));

	check(existing, NULL, POD("'foo':''", APART(TERM("zone", HAS("foo")))), "a:B b:P c:P d:P");
	check(existing, NULL,
		POD("'foo':''", BOTH(TERM("zone", HAS("bar")), TERM("zone", HAS("foo")))),
		"a:A b:A c:A d:A");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_21_terminating_pods_count)
{
	static const char *const leaving =
		"{'metadata':{'labels':{'foo':''},'deletionTimestamp':'2026-01-01T00:00:00Z'},"
		"'spec':{'nodeName':'a'}}";

	check(leaving, NULL, POD("", APART(TERM("zone", HAS("foo")))), "a:B b:P c:P d:P");
	check(leaving, NULL, POD("", NEAR(TERM("zone", HAS("foo")))), "a:P b:A c:A d:A");
}
END_TEST

#define BAD_TERM TERM("zone", IN("service", "{{.bad-value.}}"))
#define BAD_TEXT \
	"values[0][service]: Invalid value: \"{{.bad-value.}}\": a valid label must be an empty " \
	"string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " \
	"with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used " \
	"for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"

START_TEST(test_inter_pod_affinity__edge_06_22_invalid_terms)
{
	static const char *const preferring = POD("",
		"'affinity':{'podAffinity':" PREFERRED(
			"{'weight':1,'podAffinityTerm':" BAD_TERM "}") "}");
	struct fixture f;

	begin(&f);
	topology_expect_verdicts(&f, POD("", NEAR(BAD_TERM)),
		"UnschedulableAndUnresolvable: parsing pod: requiredAffinityTerms: " BAD_TEXT);
	topology_expect_verdicts(&f, preferring,
		"UnschedulableAndUnresolvable: parsing pod: preferredAffinityTerms: " BAD_TEXT);
	topology_expect_scores(
		&f, preferring, "Error: failed to parse pod: preferredAffinityTerms: " BAD_TEXT);
	topology_expect_verdicts(&f, POD("", BOTH(BAD_TERM, BAD_TERM)),
		"UnschedulableAndUnresolvable: parsing pod: [requiredAffinityTerms: " BAD_TEXT
		", requiredAntiAffinityTerms: " BAD_TEXT "]");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_23_removing_the_only_match)
{
	static const struct topology_step steps[] = {
		{-1, "a", "{'metadata':{'labels':{'foo':''}}}"}};
	struct fixture f;

	begin(&f);
	fixture_add_pod(&f, ON("a", "'foo':''"));
	topology_expect_after(
		&f, POD("'foo':''", NEAR(TERM("zone", HAS("foo")))), "a", steps, 1, "P");
	topology_expect_after(&f, POD("", NEAR(TERM("zone", HAS("foo")))), "a", steps, 1, "A");
	fixture_finish(&f);
}
END_TEST

static const struct topology_step nominated_anti[] = {
	{1, "a", POD("", APART(TERM("zone", HAS("foo"))))}};

START_TEST(test_inter_pod_affinity__edge_06_24_nominated_pod_with_anti_affinity)
{
	struct fixture f;

	begin(&f);
	topology_expect_after(
		&f, POD("'foo':''", APART(TERM("zone", HAS("bar")))), "a", nominated_anti, 1, "X");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_25_skip_hides_nominated_pods)
{
	struct fixture f;

	begin(&f);
	topology_expect_verdicts(&f, POD("'foo':''", "'priority':0"), "Skip");
	fixture_add_pod(&f, BOUND("c", "", APART(TERM("zone", HAS("foo")))));
	topology_expect_after(&f, POD("'foo':''", "'priority':0"), "a", nominated_anti, 1, "X");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_39_empty_affinity)
{
	static const char *const empty = POD("'foo':''", "'affinity':{'podAffinity':{}}");
	struct fixture f;

	begin(&f);
	fixture_expect("signature", fixture_sign(&f, empty),
		"Unschedulable: pods with InterPodAffinity are not signable");
	topology_expect_verdicts(&f, empty, "Skip");
	topology_expect_scores(&f, empty, "Skip");
	fixture_add_pod(&f, BOUND("a", "", "'affinity':{'podAffinity':{}}"));
	topology_expect_verdicts(&f, POD("'foo':''", "'priority':0"), "Skip");
	topology_expect_scores(&f, POD("'foo':''", "'priority':0"), "Skip");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__signature)
{
	struct fixture f;

	fixture_init(&f, &bt_inter_pod_affinity_plugin);
	ck_assert_ptr_nonnull(
		strstr(fixture_sign(&f, "{'metadata':{'labels':{'a':'b'}}}"), "v1.Pod.Labels="));
	fixture_finish(&f);
	fixture_init_with(&f, &bt_inter_pod_affinity_plugin, NULL,
		"{'ignorePreferredTermsOfExistingPods':true}");
	fixture_expect("ignoring", fixture_sign(&f, "{'metadata':{'labels':{'a':'b'}}}"), "");
	fixture_finish(&f);
}
END_TEST

START_TEST(test_inter_pod_affinity__filter_without_pre_filter)
{
	struct fixture f;

	begin(&f);
	fixture_expect("missing", fixture_filter_alone(&f, "{}", "a"),
		"Error: error reading \"PreFilterInterPodAffinity\" from cycleState: not found");
	fixture_finish(&f);
}
END_TEST

/* --- hints --- */

struct hint_row {
	const char *name;
	uint32_t action;
	const char *before;
	const char *after;
	enum fixture_hint expected;
};

static void check_hints(
	const char *resource, const char *pod, const struct hint_row *rows, size_t count)
{
	struct fixture f;
	const struct bt_pod_info *waiting;

	fixture_init(&f, &bt_inter_pod_affinity_plugin);
	waiting = fixture_pending(&f, pod);
	for (size_t i = 0; i < count; i++) {
		enum fixture_hint hint = fixture_hint(
			&f, resource, rows[i].action, waiting, rows[i].before, rows[i].after, NULL);
		ck_assert_msg(hint == rows[i].expected, "%s", rows[i].name);
	}
	fixture_finish(&f);
}

#define FOO_AND_BAR TERM("zone", HAS("foo")) "," TERM("zone", HAS("bar"))

START_TEST(test_inter_pod_affinity__edge_06_40_pod_hints)
{
	static const char *const all = ON("a", "'foo':'','bar':''");
	static const char *const one = ON("a", "'foo':''");
	static const struct hint_row near[] = {
		{"add all", BT_ACTION_ADD, NULL, all, FIXTURE_QUEUE},
		{"add one", BT_ACTION_ADD, NULL, one, FIXTURE_SKIP},
		{"starts", BT_ACTION_UPDATE_POD_LABEL, one, all, FIXTURE_QUEUE},
		{"stays", BT_ACTION_UPDATE_POD_LABEL, all, all, FIXTURE_SKIP},
		{"stops", BT_ACTION_UPDATE_POD_LABEL, all, one, FIXTURE_SKIP},
	};
	static const struct hint_row apart[] = {
		{"stops", BT_ACTION_UPDATE_POD_LABEL, all, one, FIXTURE_QUEUE},
		{"starts", BT_ACTION_UPDATE_POD_LABEL, one, all, FIXTURE_SKIP},
		{"add", BT_ACTION_ADD, NULL, all, FIXTURE_SKIP},
		{"itself", BT_ACTION_UPDATE_POD_LABEL, "{'metadata':{'uid':'me'}}",
			"{'metadata':{'uid':'me'}}", FIXTURE_QUEUE},
	};

	check_hints("Pod", POD("", NEAR(FOO_AND_BAR)), near, BT_ARRAY_LENGTH(near));
	check_hints("Pod", "{'metadata':{'uid':'me'},'spec':{" APART(FOO_AND_BAR) "}}", apart,
		BT_ARRAY_LENGTH(apart));
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_41_delete_hints)
{
	static const struct hint_row rows[] = {
		{"its term matches", BT_ACTION_DELETE,
			BOUND("a", "", APART(TERM("zone", HAS("me")))), NULL, FIXTURE_QUEUE},
		{"one of two", BT_ACTION_DELETE, ON("a", "'foo':''"), NULL, FIXTURE_SKIP},
		{"both", BT_ACTION_DELETE, ON("a", "'foo':'','bar':''"), NULL, FIXTURE_QUEUE},
		{"unplaced", BT_ACTION_DELETE, POD("'foo':'','bar':''", "'priority':0"), NULL,
			FIXTURE_SKIP},
		{"nominated", BT_ACTION_DELETE,
			"{'metadata':{'labels':{'foo':'','bar':''}},'status':{'nominatedNodeName':"
			"'n'}}",
			NULL, FIXTURE_QUEUE},
	};

	check_hints("Pod", POD("'me':''", APART(FOO_AND_BAR)), rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_42_node_hints)
{
	static const struct hint_row near[] = {
		{"add without", BT_ACTION_ADD, NULL, NODE("n", ""), FIXTURE_SKIP},
		{"add", BT_ACTION_ADD, NULL, NODE("n", "'zone':'z'"), FIXTURE_QUEUE},
		{"gains", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", ""), NODE("n", "'zone':'z'"),
			FIXTURE_QUEUE},
		{"loses", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", "'zone':'z'"), NODE("n", ""),
			FIXTURE_SKIP},
	};
	static const struct hint_row apart[] = {
		{"add", BT_ACTION_ADD, NULL, NODE("n", ""), FIXTURE_QUEUE},
		{"gains", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", ""), NODE("n", "'zone':'z'"),
			FIXTURE_SKIP},
		{"loses", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", "'zone':'z'"), NODE("n", ""),
			FIXTURE_QUEUE},
		{"value", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", "'zone':'z'"),
			NODE("n", "'zone':'y'"), FIXTURE_QUEUE},
		{"unrelated", BT_ACTION_UPDATE_NODE_LABEL, NODE("n", "'zone':'z'"),
			NODE("n", "'zone':'z','a':''"), FIXTURE_SKIP},
	};
	static const struct hint_row none[] = {
		{"add", BT_ACTION_ADD, NULL, NODE("n", "'zone':'z'"), FIXTURE_SKIP},
	};

	check_hints("Node", POD("", NEAR(TERM("zone", HAS("foo")))), near, BT_ARRAY_LENGTH(near));
	check_hints(
		"Node", POD("", APART(TERM("zone", HAS("foo")))), apart, BT_ARRAY_LENGTH(apart));
	check_hints("Node", "{}", none, BT_ARRAY_LENGTH(none));
}
END_TEST

BT_TEST_MAIN("inter_pod_affinity", test_inter_pod_affinity__edge_06_01_no_terms,
	test_inter_pod_affinity__edge_06_02_affinity, test_inter_pod_affinity__edge_06_03_not_in,
	test_inter_pod_affinity__edge_06_04_one_pod_must_match_all,
	test_inter_pod_affinity__edge_06_05_first_of_its_kind,
	test_inter_pod_affinity__edge_06_06_match_on_a_node_without_the_key,
	test_inter_pod_affinity__edge_06_07_not_the_first,
	test_inter_pod_affinity__edge_06_08_two_keys,
	test_inter_pod_affinity__edge_06_09_same_key_twice,
	test_inter_pod_affinity__edge_06_10_other_namespace,
	test_inter_pod_affinity__edge_06_11_namespaces,
	test_inter_pod_affinity__edge_06_12_selector_and_names,
	test_inter_pod_affinity__edge_06_13_negative_namespace_selector,
	test_inter_pod_affinity__edge_06_14_unknown_namespace,
	test_inter_pod_affinity__edge_06_15_null_and_empty_selector,
	test_inter_pod_affinity__edge_06_16_missing_key_of_anti_affinity,
	test_inter_pod_affinity__edge_06_17_existing_term_without_key,
	test_inter_pod_affinity__edge_06_18_existing_terms,
	test_inter_pod_affinity__edge_06_19_unknown_key,
	test_inter_pod_affinity__edge_06_20_first_reason,
	test_inter_pod_affinity__edge_06_21_terminating_pods_count,
	test_inter_pod_affinity__edge_06_22_invalid_terms,
	test_inter_pod_affinity__edge_06_23_removing_the_only_match,
	test_inter_pod_affinity__edge_06_24_nominated_pod_with_anti_affinity,
	test_inter_pod_affinity__edge_06_25_skip_hides_nominated_pods,
	test_inter_pod_affinity__edge_06_39_empty_affinity, test_inter_pod_affinity__signature,
	test_inter_pod_affinity__filter_without_pre_filter,
	test_inter_pod_affinity__edge_06_40_pod_hints,
	test_inter_pod_affinity__edge_06_41_delete_hints,
	test_inter_pod_affinity__edge_06_42_node_hints)

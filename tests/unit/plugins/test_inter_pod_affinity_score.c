/* SPDX-License-Identifier: Apache-2.0 */
/* Scoring of InterPodAffinity: spec 06 section 3.15, cases 26 to 38. */
#include "test_main.h"
#include "topology_fixture.h"

#define HAS(key) "'labelSelector':{'matchExpressions':[{'key':'" key "','operator':'Exists'}]}"
#define TERM(topology, more) "{'topologyKey':'" topology "'," more "}"
#define WEIGHTED(weight, term) "{'weight':" weight ",'podAffinityTerm':" term "}"
#define REQUIRED(terms) "'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]"
#define PREFERRED(terms) "'preferredDuringSchedulingIgnoredDuringExecution':[" terms "]"
#define NEAR(lists) "'affinity':{'podAffinity':{" lists "}}"
#define APART(lists) "'affinity':{'podAntiAffinity':{" lists "}}"
#define POD(labels, spec) "{'metadata':{'labels':{" labels "}},'spec':{" spec "}}"
#define PLAIN(labels) POD(labels, "'priority':0")
#define BOUND(node, labels, spec) \
	"{'metadata':{'labels':{" labels "}},'spec':{'nodeName':'" node "'," spec "}}"
#define R(region) "'region':'" region "'"

/* Adds nodes a and b in China, c in India, and d without labels. */
static void begin_with(struct fixture *f, const char *args)
{
	fixture_init_with(f, &bt_inter_pod_affinity_plugin, NULL, args);
	fixture_add_node(f, NODE("a", R("China") ",'az':'1'"));
	fixture_add_node(f, NODE("b", R("China") ",'az':'2'"));
	fixture_add_node(f, NODE("c", R("India") ",'az':'3'"));
	fixture_add_node(f, NODE("d", ""));
}

static void check(const char *args, const char *first, const char *second, const char *pod,
	const char *expected)
{
	struct fixture f;

	begin_with(&f, args);
	if (first != NULL) {
		fixture_add_pod(&f, first);
	}
	if (second != NULL) {
		fixture_add_pod(&f, second);
	}
	topology_expect_scores(&f, pod, expected);
	fixture_finish(&f);
}

START_TEST(test_inter_pod_affinity__edge_06_26_preferred_affinity)
{
	check(NULL, ON("a", "'foo':''"), NULL,
		POD("", NEAR(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo")))))),
		"a:5/100 b:5/100 c:0/0 d:0/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_27_two_terms)
{
	check(NULL, ON("a", "'one':''"), ON("c", "'one':'','two':''"),
		POD("",
			NEAR(PREFERRED(WEIGHTED("8", TERM("region", HAS("two"))) "," WEIGHTED(
				"2", TERM("region", HAS("one")))))),
		"a:2/20 c:10/100 d:0/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_28_preferred_anti_affinity)
{
	check(NULL, ON("a", "'foo':''"), NULL,
		POD("", APART(PREFERRED(WEIGHTED("5", TERM("az", HAS("foo")))))), "a:-5/0 b:0/100");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_29_symmetry)
{
	check(NULL, BOUND("c", "", NEAR(PREFERRED(WEIGHTED("6", TERM("region", HAS("foo")))))),
		NULL, PLAIN("'foo':''"), "a:0/0 c:6/100");
	check(NULL, BOUND("c", "", APART(PREFERRED(WEIGHTED("6", TERM("region", HAS("foo")))))),
		NULL, PLAIN("'foo':''"), "a:0/100 c:-6/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_30_hard_weight)
{
	static const char *const existing = BOUND(
		"c", "", NEAR(REQUIRED(TERM("region", HAS("foo")) "," TERM("region", HAS("foo")))));

	check(NULL, existing, NULL, PLAIN("'foo':''"), "a:0/0 c:2/100");
	check("{'hardPodAffinityWeight':0}", existing, NULL, PLAIN("'foo':''"), "Skip");
	check("{'hardPodAffinityWeight':50}", existing, NULL, PLAIN("'foo':''"), "a:0/0 c:100/100");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_31_required_anti_affinity_is_not_scored)
{
	check(NULL, BOUND("c", "", APART(REQUIRED(TERM("region", HAS("foo"))))), NULL,
		PLAIN("'foo':''"), "Skip");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_32_ignoring_existing_preferences)
{
	static const char *const ignoring = "{'ignorePreferredTermsOfExistingPods':true}";
	static const char *const existing =
		BOUND("c", "", NEAR(PREFERRED(WEIGHTED("6", TERM("region", HAS("foo"))))));

	check(ignoring, existing, NULL, PLAIN("'foo':''"), "Skip");
	check(ignoring, existing, NULL, POD("'foo':''", NEAR(REQUIRED(TERM("region", HAS("foo"))))),
		"Skip");
	check(ignoring, existing, ON("a", "'bar':''"),
		POD("'foo':''", NEAR(PREFERRED(WEIGHTED("2", TERM("region", HAS("bar")))))),
		"a:2/33 c:6/100 d:0/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_33_sum_of_zero)
{
	check(NULL, BOUND("c", "", NEAR(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo")))))),
		BOUND("c", "", APART(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo")))))),
		PLAIN("'foo':''"), "a:0/0 c:0/0 d:0/0");
}
END_TEST

static void check_normalized(const int64_t *raw, const int64_t *expected, uint32_t count)
{
	int64_t scores[3];
	struct bt_status status;

	memcpy(scores, raw, count * sizeof(*raw));
	status =
		bt_inter_pod_affinity_plugin.normalize_score(NULL, NULL, NULL, NULL, scores, count);
	ck_assert(bt_status_is_success(&status));
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_int_eq(scores[i], expected[i]);
	}
}

START_TEST(test_inter_pod_affinity__edge_06_34_normalised)
{
	check_normalized((const int64_t[]){3, 3, 3}, (const int64_t[]){0, 0, 0}, 3);
	check_normalized((const int64_t[]){-10, -4}, (const int64_t[]){0, 100}, 2);
	check_normalized((const int64_t[]){-5, 0, 8}, (const int64_t[]){0, 38, 100}, 3);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_35_division_first)
{
	check_normalized((const int64_t[]){0, 29, 100}, (const int64_t[]){0, 28, 100}, 3);
	check_normalized((const int64_t[]){0, 29, 50}, (const int64_t[]){0, 57, 100}, 3);
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_36_infeasible_nodes)
{
	static const char *const pod =
		POD("", NEAR(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo"))))));

	/*
	 * Node c is not feasible: the score of c does not change the scale, but the pods on c
	 * count.
	 */
	check(NULL, ON("c", "'foo':''"), NULL, pod, "a:0/0 b:0/0");
	check(NULL, ON("b", "'foo':''"), NULL, pod, "a:5/100 c:0/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_37_node_without_labels)
{
	check(NULL, ON("d", "'foo':''"), NULL,
		POD("", NEAR(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo")))))), "Skip");
}
END_TEST

START_TEST(test_inter_pod_affinity__edge_06_38_whole_domain)
{
	check(NULL, BOUND("a", "", NEAR(PREFERRED(WEIGHTED("5", TERM("region", HAS("foo")))))),
		NULL, PLAIN("'foo':''"), "a:5/100 b:5/100 c:0/0");
}
END_TEST

START_TEST(test_inter_pod_affinity__score_without_pre_score)
{
	struct fixture f;
	int64_t score;

	begin_with(&f, NULL);
	fixture_expect("missing", fixture_score_alone(&f, "{}", "a", &score),
		"Error: failed to read \"PreScoreInterPodAffinity\" from cycleState: not found");
	fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("inter_pod_affinity_score", test_inter_pod_affinity__edge_06_26_preferred_affinity,
	test_inter_pod_affinity__edge_06_27_two_terms,
	test_inter_pod_affinity__edge_06_28_preferred_anti_affinity,
	test_inter_pod_affinity__edge_06_29_symmetry,
	test_inter_pod_affinity__edge_06_30_hard_weight,
	test_inter_pod_affinity__edge_06_31_required_anti_affinity_is_not_scored,
	test_inter_pod_affinity__edge_06_32_ignoring_existing_preferences,
	test_inter_pod_affinity__edge_06_33_sum_of_zero,
	test_inter_pod_affinity__edge_06_34_normalised,
	test_inter_pod_affinity__edge_06_35_division_first,
	test_inter_pod_affinity__edge_06_36_infeasible_nodes,
	test_inter_pod_affinity__edge_06_37_node_without_labels,
	test_inter_pod_affinity__edge_06_38_whole_domain,
	test_inter_pod_affinity__score_without_pre_score)

/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define REJECTED "UnschedulableAndUnresolvable: node(s) had untolerated taint(s)"
#define TAINT(key, value, effect) "{'key':'" key "','value':'" value "','effect':'" effect "'}"
#define NODE(name, taints) "{'metadata':{'name':'" name "'},'spec':{'taints':[" taints "]}}"
#define POD(tolerations) "{'spec':{'tolerations':[" tolerations "]}}"

/** A pod with tolerations is filtered on a node with taints. */
struct filter_row {
	const char *name;
	const char *node; /* named n */
	const char *pod;
	const char *expected;
};

static void check_filter(const char *gates, const struct filter_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fixture fixture;

		fixture_init_with(&fixture, &bt_taint_toleration_plugin, gates, NULL);
		fixture_add_node(&fixture, rows[i].node);
		fixture_expect(
			rows[i].name, fixture_filter(&fixture, rows[i].pod, "n"), rows[i].expected);
		fixture_finish(&fixture);
	}
}

START_TEST(test_taint_toleration__edge_05_04_hard_taints)
{
	static const struct filter_row rows[] = {
		{"none", NODE("n", TAINT("dedicated", "user1", "NoSchedule")), "{}", REJECTED},
		{"equal", NODE("n", TAINT("dedicated", "user1", "NoSchedule")),
			POD("{'key':'dedicated','value':'user1','effect':'NoSchedule'}"),
			"Success"},
		{"value", NODE("n", TAINT("dedicated", "user1", "NoSchedule")),
			POD("{'key':'dedicated','value':'user2','operator':'Equal','effect':'"
			    "NoSchedule'}"),
			REJECTED},
		{"exists", NODE("n", TAINT("foo", "bar", "NoSchedule")),
			POD("{'key':'foo','operator':'Exists','effect':'NoSchedule'}"), "Success"},
		{"no execute", NODE("n", TAINT("foo", "bar", "NoExecute")), "{}", REJECTED},
	};

	check_filter(NULL, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_taint_toleration__edge_05_05_soft_taints_never_filter)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	fixture_add_node(&fixture, NODE("n", TAINT("foo", "bar", "PreferNoSchedule")));
	fixture_expect("filter",
		fixture_filter(
			&fixture, POD("{'key':'foo','value':'bar','effect':'NoSchedule'}"), "n"),
		"Success");
	ck_assert_int_eq(fixture_score(&fixture,
				 POD("{'key':'foo','value':'bar','effect':'NoSchedule'}"), "n"),
		1);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_taint_toleration__edge_05_06_toleration_without_effect)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	fixture_add_node(&fixture, NODE("hard", TAINT("foo", "bar", "NoSchedule")));
	fixture_add_node(&fixture, NODE("soft", TAINT("foo", "bar", "PreferNoSchedule")));
	fixture_expect("hard", fixture_filter(&fixture, POD("{'key':'foo','value':'bar'}"), "hard"),
		"Success");
	ck_assert_int_eq(
		fixture_score(&fixture, POD("{'key':'foo','value':'bar','effect':''}"), "soft"), 0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_taint_toleration__edge_05_07_every_taint_must_be_tolerated)
{
	static const struct filter_row rows[] = {
		{"one of two",
			NODE("n", TAINT("a", "1", "NoSchedule") "," TAINT("b", "1", "NoSchedule")),
			POD("{'key':'a','value':'1','effect':'NoSchedule'}"), REJECTED},
	};

	check_filter(NULL, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_taint_toleration__edge_05_08_empty_key_compares_values)
{
	static const struct filter_row rows[] = {
		{"same", NODE("n", TAINT("k", "v", "NoSchedule")),
			POD("{'operator':'Equal','value':'v'}"), "Success"},
		{"other", NODE("n", TAINT("k", "w", "NoSchedule")),
			POD("{'operator':'Equal','value':'v'}"), REJECTED},
	};

	check_filter(NULL, rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_taint_toleration__edge_05_09_comparison_operators)
{
	static const struct filter_row on[] = {
		{"gt", NODE("n", TAINT("sla", "950", "NoSchedule")),
			POD("{'key':'sla','operator':'Gt','value':'900'}"), "Success"},
		{"lt", NODE("n", TAINT("sla", "950", "NoSchedule")),
			POD("{'key':'sla','operator':'Lt','value':'900'}"), REJECTED},
		{"leading zero", NODE("n", TAINT("sla", "950", "NoSchedule")),
			POD("{'key':'sla','operator':'Gt','value':'0900'}"), REJECTED},
	};
	static const struct filter_row off[] = {
		{"gate off", NODE("n", TAINT("sla", "950", "NoSchedule")),
			POD("{'key':'sla','operator':'Gt','value':'900'}"), REJECTED},
	};

	check_filter("TaintTolerationComparisonOperators=true", on, BT_ARRAY_LENGTH(on));
	check_filter(NULL, off, BT_ARRAY_LENGTH(off));
}
END_TEST

static void check_normalized(const int64_t *raw, const int64_t *expected, uint32_t count)
{
	int64_t scores[8];

	memcpy(scores, raw, count * sizeof(*raw));
	ck_assert_int_eq(bt_taint_toleration_plugin.normalize, BT_NORMALIZE_DEFAULT_REVERSE);
	bt_default_normalize(scores, count, true);
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_int_eq(scores[i], expected[i]);
	}
}

START_TEST(test_taint_toleration__edge_05_10_scores)
{
	static const char *const pod =
		POD("{'key':'cpu-type','value':'arm64','effect':'PreferNoSchedule'}");
	struct fixture fixture;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	fixture_add_node(&fixture, NODE("a", TAINT("cpu-type", "arm64", "PreferNoSchedule")));
	fixture_add_node(&fixture, NODE("b", TAINT("disk-type", "ssd", "PreferNoSchedule")));
	fixture_add_node(&fixture, NODE("c", TAINT("disk-type", "ssd", "NoSchedule")));
	fixture_add_node(&fixture,
		NODE("d",
			TAINT("x", "1", "PreferNoSchedule") "," TAINT(
				"x", "1", "PreferNoSchedule")));
	ck_assert_int_eq(fixture_score(&fixture, pod, "a"), 0);
	ck_assert_int_eq(fixture_score(&fixture, pod, "b"), 1);
	ck_assert_msg(fixture_score(&fixture, pod, "c") == 0, "NoSchedule is not counted");
	ck_assert_msg(fixture_score(&fixture, pod, "d") == 2, "duplicates count separately");
	check_normalized((const int64_t[]){0, 1}, (const int64_t[]){100, 0}, 2);
	check_normalized((const int64_t[]){0, 0}, (const int64_t[]){100, 100}, 2);
	check_normalized((const int64_t[]){0, 1, 2}, (const int64_t[]){100, 50, 0}, 3);
	check_normalized((const int64_t[]){3, 3}, (const int64_t[]){0, 0}, 2);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_taint_toleration__score_without_pre_score)
{
	struct fixture fixture;
	int64_t score;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	fixture_add_node(&fixture, "{'metadata':{'name':'n'}}");
	fixture_expect("missing", fixture_score_alone(&fixture, "{}", "n", &score),
		"Error: failed to read \"PreScoreTaintToleration\" from cycleState: not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_taint_toleration__edge_05_64_hints)
{
	static const char *const two =
		NODE("n", TAINT("a", "1", "NoSchedule") "," TAINT("b", "1", "NoSchedule"));
	static const char *const one = NODE("n", TAINT("b", "1", "NoSchedule"));
	static const char *const clean = NODE("n", TAINT("b", "1", "PreferNoSchedule"));
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	pod = fixture_pending(&fixture, "{'metadata':{'uid':'a'}}");
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, two, one, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, one, clean, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_TAINT, pod, clean,
				 clean, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, clean, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, one, NULL), FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod, "{}",
				 "{'metadata':{'uid':'a'}}", NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_TOLERATION, pod, "{}",
				 "{'metadata':{'uid':'b'}}", NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_taint_toleration__signature_has_seconds)
{
#define FOR(seconds) "{'key':'k','operator':'Exists','tolerationSeconds':" seconds "}"
	struct fixture fixture;

	fixture_init(&fixture, &bt_taint_toleration_plugin);
	ck_assert_str_ne(
		fixture_sign(&fixture, POD(FOR("5"))), fixture_sign(&fixture, POD(FOR("7"))));
	ck_assert_str_ne(fixture_sign(&fixture, POD(FOR("5") "," FOR("7"))),
		fixture_sign(&fixture, POD(FOR("5") "," FOR("5"))));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("taint_toleration", test_taint_toleration__edge_05_04_hard_taints,
	test_taint_toleration__edge_05_05_soft_taints_never_filter,
	test_taint_toleration__edge_05_06_toleration_without_effect,
	test_taint_toleration__edge_05_07_every_taint_must_be_tolerated,
	test_taint_toleration__edge_05_08_empty_key_compares_values,
	test_taint_toleration__edge_05_09_comparison_operators,
	test_taint_toleration__edge_05_10_scores, test_taint_toleration__score_without_pre_score,
	test_taint_toleration__edge_05_64_hints, test_taint_toleration__signature_has_seconds)

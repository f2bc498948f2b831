/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "fixture.h"
#include "test_main.h"

#define REJECTED "Unschedulable: node(s) didn't match service affinity"
#define WEB "{'metadata':{'labels':{'app':'web'}}}"

#define SERVICE(name, spec) \
	"{'apiVersion':'v1','kind':'Service','metadata':{'name':'" name "'},'spec':{" spec "}}"

/**
 * Puts three services, in the order of their names: a without a selector, b for app=web, c for
 * tier=front.
 */
static void put_services(struct fixture *fixture)
{
	fixture_put(fixture, SERVICE("a", ""));
	fixture_put(fixture, SERVICE("b", "'selector':{'app':'web'}"));
	fixture_put(fixture, SERVICE("c", "'selector':{'tier':'front'}"));
}

static void init(struct fixture *fixture, const char *args)
{
	fixture_init_with(fixture, &bt_legacy_service_affinity_plugin, NULL, args);
	fixture_add_node(fixture, "{'metadata':{'name':'n1','labels':{'region':'r1'}}}");
	fixture_add_node(
		fixture, "{'metadata':{'name':'n2','labels':{'region':'r2','zone':'z2'}}}");
	fixture_add_node(
		fixture, "{'metadata':{'name':'n3','labels':{'region':'r1','zone':'z3'}}}");
	fixture_add_node(fixture, "{'metadata':{'name':'bare'}}");
}

static void init_with_services(struct fixture *fixture, const char *args)
{
	init(fixture, args);
	put_services(fixture);
}

START_TEST(test_service_affinity__edge_05b_11_node_selector)
{
	struct fixture fixture;

	init(&fixture, "{'affinityLabels':['region']}");
	ck_assert_str_eq(
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'region':'r1'}}}", "n2"),
		REJECTED);
	ck_assert_str_eq(
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'region':'r1'}}}", "n1"),
		"Success");
	/* The plugin ignores other keys of the selector. */
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeSelector':{'disk':'ssd'}}}", "n1"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__edge_05b_12_follows_first_pod)
{
	struct fixture fixture;

	init_with_services(&fixture, "{'affinityLabels':['region']}");
	fixture_add_pod(
		&fixture, "{'metadata':{'labels':{'app':'web','x':'y'}},'spec':{'nodeName':'n1'}}");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n1"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n3"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n2"), REJECTED);
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "bare"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__edge_05b_13_nothing_to_follow)
{
	struct fixture fixture;
	static const char *const nodes[] = {"n1", "n2", "n3", "bare"};

	init_with_services(&fixture, "{'affinityLabels':['region']}");
	/* Pods in another namespace or with other labels do not count. */
	fixture_add_pod(&fixture,
		"{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'n1'}"
		"}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'db'}},'spec':{'nodeName':'n1'}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		fixture_expect("no pod", fixture_filter(&fixture, WEB, nodes[i]), "Success");
	}
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	/* Only the service without selector is left. */
	fixture_delete(&fixture, BT_KIND_SERVICE, "default", "b");
	fixture_delete(&fixture, BT_KIND_SERVICE, "default", "c");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		fixture_expect("no service", fixture_filter(&fixture, WEB, nodes[i]), "Success");
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__edge_05b_14_missing_key)
{
	struct fixture fixture;

	init_with_services(&fixture, "{'affinityLabels':['region','zone']}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n3"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n2"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__skip)
{
	struct fixture fixture;

	init_with_services(&fixture, "{'antiAffinityLabelsPreference':['zone']}");
	ck_assert_str_eq(fixture_pre_filter(&fixture, WEB, NULL), "Skip");
	fixture_finish(&fixture);
}
END_TEST

/* A pod removed from a node in a what-if no longer counts for its service. */
START_TEST(test_service_affinity__removed_pod_is_hidden)
{
	struct fixture fixture;
	struct bt_cycle_state cycle;
	struct bt_pre_filter_result result = {0};
	const struct bt_plugin_ops *ops = &bt_legacy_service_affinity_plugin;
	const struct bt_pod_info *pod;
	struct bt_pod_info victim;
	struct bt_node_info n1;
	struct bt_status status;

	init_with_services(&fixture, "{'affinityLabels':['region']}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n2'}}");
	pod = fixture_pending(&fixture, WEB);
	bt_cycle_state_init(&cycle, &fixture.arena, 1);
	(void)ops->pre_filter(fixture.plugin, &cycle, pod, &result);
	bt_node_info_init(&n1, fixture.state, fixture_slot(&fixture, "n1"));
	bt_node_info_pod_at(&n1, 0, &victim);
	status = ops->filter(fixture.plugin, &cycle, pod, &n1);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	ck_assert_int_eq(bt_node_info_remove_pod(&n1, &fixture.arena, &victim, NULL), 0);
	status = ops->filter(fixture.plugin, &cycle, pod, &n1);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);
	bt_cycle_state_finish(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/** Changes PreFilter data by hypothetical pods. */
START_TEST(test_service_affinity__what_if)
{
	struct fixture fixture;
	struct bt_cycle_state cycle;
	struct bt_pre_filter_result result = {0};
	const struct bt_plugin_ops *ops = &bt_legacy_service_affinity_plugin;
	const struct bt_pod_info *pod;
	const struct bt_pod_info *added;
	struct bt_pod_info victim;
	struct bt_node_info n1;
	struct bt_node_info n2;
	struct bt_status status;
	void *before;

	init_with_services(&fixture, "{'affinityLabels':['region']}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	pod = fixture_pending(&fixture, WEB);
	bt_cycle_state_init(&cycle, &fixture.arena, 1);
	status = ops->pre_filter(fixture.plugin, &cycle, pod, &result);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	bt_node_info_init(&n1, fixture.state, fixture_slot(&fixture, "n1"));
	bt_node_info_init(&n2, fixture.state, fixture_slot(&fixture, "n2"));
	bt_node_info_pod_at(&n1, 0, &victim);
	before = cycle.pre_filter_data[0];
	cycle.pre_filter_data[0] = ops->clone_pre_filter_data(before, &fixture.arena);

	/*
	 * The pod is removed from its node info only: n1 ignores the pod, other nodes still count
	 * it.
	 */
	ck_assert_int_eq(bt_node_info_remove_pod(&n1, &fixture.arena, &victim, NULL), 0);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);

	/* The pod is removed from the data as well, and a new pod is added on n2. */
	(void)ops->pre_filter_change_pod(fixture.plugin, &cycle, pod, &victim, &n1, -1);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	added = fixture_pending(&fixture, WEB);
	(void)ops->pre_filter_change_pod(fixture.plugin, &cycle, pod, added, &n2, 1);
	(void)ops->pre_filter_change_pod(
		fixture.plugin, &cycle, pod, fixture_pending(&fixture, "{}"), &n1, 1);
	bt_node_info_add_pod(&n2, &fixture.arena, added);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	status = ops->filter(fixture.plugin, &cycle, pod, &n1);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);

	/* The original data are unchanged. */
	cycle.pre_filter_data[0] = before;
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);
	bt_cycle_state_finish(&cycle);
	fixture_finish(&fixture);
}
END_TEST

static void expect_normalized(struct fixture *fixture, const int64_t *raw, const char *const *nodes,
	uint32_t count, const int64_t *expected)
{
	uint32_t slots[8];
	int64_t scores[8];
	struct bt_cycle_state cycle;
	struct bt_status status;

	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	for (uint32_t i = 0; i < count; i++) {
		slots[i] = fixture_slot(fixture, nodes[i]);
		scores[i] = raw[i];
	}
	status = fixture->plugin->ops->normalize_score(
		fixture->plugin, &cycle, fixture_pending(fixture, "{}"), slots, scores, count);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_msg(scores[i] == expected[i], "%s: got %d", nodes[i], (int)scores[i]);
	}
	bt_cycle_state_finish(&cycle);
}

START_TEST(test_service_affinity__edge_05b_15_normalize)
{
	static const char *const nodes[] = {"a1", "b1", "a2", "bare"};
	static const int64_t raw[] = {2, 1, 1, 5};
	static const int64_t expected[] = {66, 88, 66, 0};
	static const int64_t zeros[] = {0, 0, 0, 0};
	static const int64_t equal[] = {100, 100, 100, 0};
	struct fixture fixture;

	fixture_init_with(&fixture, &bt_legacy_service_affinity_plugin, NULL,
		"{'antiAffinityLabelsPreference':['zone']}");
	fixture_add_node(&fixture, "{'metadata':{'name':'a1','labels':{'zone':'z1'}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'b1','labels':{'zone':'z2'}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'a2','labels':{'zone':'z1'}}}");
	fixture_add_node(&fixture, "{'metadata':{'name':'bare'}}");
	/* Total 9: z1 has 3, z2 has 1, the unlabelled node 5. */
	expect_normalized(&fixture, raw, nodes, 4, expected);
	expect_normalized(&fixture, zeros, nodes, 4, equal);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__normalize_two_labels)
{
	static const char *const nodes[] = {"n1", "n2", "n3", "bare"};
	static const int64_t raw[] = {1, 2, 1, 0};
	/* region: r1 2 of 4, r2 2 of 4; zone: z2 2 of 4, z3 1 of 4; each label gives half. */
	static const int64_t expected[] = {25, 50, 62, 0};
	struct fixture fixture;

	init(&fixture, "{'antiAffinityLabelsPreference':['region','zone']}");
	expect_normalized(&fixture, raw, nodes, 4, expected);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__raw_score)
{
	struct fixture fixture;

	init_with_services(&fixture, "{'antiAffinityLabelsPreference':['zone']}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	fixture_add_pod(&fixture,
		"{'metadata':{'labels':{'app':'web','tier':'back'}},'spec':{'nodeName':'n1'}}");
	fixture_add_pod(&fixture,
		"{'metadata':{'labels':{'app':'web'},'deletionTimestamp':'2024-01-01T00:00:00Z'},"
		"'spec':{'nodeName':'n1'}}");
	fixture_add_pod(&fixture,
		"{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'n1'}"
		"}");
	fixture_add_pod(
		&fixture, "{'metadata':{'labels':{'tier':'front'}},'spec':{'nodeName':'n1'}}");
	/* The first matching service decides, even if a later service matches as well. */
	ck_assert_int_eq(fixture_score(&fixture,
				 "{'metadata':{'labels':{'app':'web','tier':'front'}}}", "n1"),
		2);
	ck_assert_int_eq(
		fixture_score(&fixture, "{'metadata':{'labels':{'tier':'front'}}}", "n1"), 1);
	ck_assert_int_eq(fixture_score(&fixture, WEB, "n2"), 0);
	ck_assert_int_eq(fixture_score(&fixture, "{}", "n1"), 0);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("legacy_service_affinity", test_service_affinity__edge_05b_11_node_selector,
	test_service_affinity__edge_05b_12_follows_first_pod,
	test_service_affinity__edge_05b_13_nothing_to_follow,
	test_service_affinity__edge_05b_14_missing_key, test_service_affinity__skip,
	test_service_affinity__removed_pod_is_hidden, test_service_affinity__what_if,
	test_service_affinity__edge_05b_15_normalize, test_service_affinity__normalize_two_labels,
	test_service_affinity__raw_score)

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"
#include "fixture.h"
#include "framework/object_lister.h"
#include "plugins/legacy.h"
#include "test_main.h"

#define REJECTED "Unschedulable: node(s) didn't match service affinity"
#define WEB "{'metadata':{'labels':{'app':'web'}}}"

struct service {
	struct bt_str name;
	struct bt_str_map selector;
};

struct services {
	struct service items[4];
	uint32_t count;
	bool broken;
};

static int visit_services(void *context, struct bt_str namespace_, bt_service_visitor visit,
	void *visit_context, struct berth_error *err)
{
	const struct services *services = context;

	if (services->broken) {
		return bt_error_set(err, BERTH_ERR_STATE, "services are not known yet");
	}
	for (uint32_t i = 0; bt_str_equal_c(namespace_, "default") && i < services->count; i++) {
		if (!visit(visit_context, services->items[i].name, &services->items[i].selector)) {
			break;
		}
	}
	return 0;
}

static struct bt_str_pair app_web[] = {{BT_STR_INIT("app"), BT_STR_INIT("web")}};
static struct bt_str_pair tier_front[] = {{BT_STR_INIT("tier"), BT_STR_INIT("front")}};

/** Services in name order: one without selector, one for app=web, one for tier=front. */
static struct services known_services(void)
{
	return (struct services){
		.items = {{BT_STR("a"), {0}}, {BT_STR("b"), {app_web, 1, true}},
			{BT_STR("c"), {tier_front, 1, true}}},
		.count = 3,
	};
}

static void init(struct fixture *fixture, const char *args, struct services *services,
	struct bt_object_lister *lister)
{
	*lister = (struct bt_object_lister){.context = services, .visit_services = visit_services};
	fixture_init_with(fixture, &bt_legacy_service_affinity_plugin, NULL, args);
	fixture->handle.objects = services != NULL ? lister : NULL;
	fixture_add_node(fixture, "{'metadata':{'name':'n1','labels':{'region':'r1'}}}");
	fixture_add_node(
		fixture, "{'metadata':{'name':'n2','labels':{'region':'r2','zone':'z2'}}}");
	fixture_add_node(
		fixture, "{'metadata':{'name':'n3','labels':{'region':'r1','zone':'z3'}}}");
	fixture_add_node(fixture, "{'metadata':{'name':'bare'}}");
}

START_TEST(test_service_affinity__edge_05b_11_node_selector)
{
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'affinityLabels':['region']}", NULL, &lister);
	ck_assert_str_eq(
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'region':'r1'}}}", "n2"),
		REJECTED);
	ck_assert_str_eq(
		fixture_filter(&fixture, "{'spec':{'nodeSelector':{'region':'r1'}}}", "n1"),
		"Success");
	/* Other keys of the selector are not this plugin's business. */
	ck_assert_str_eq(fixture_filter(&fixture, "{'spec':{'nodeSelector':{'disk':'ssd'}}}", "n1"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__edge_05b_12_follows_first_pod)
{
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'affinityLabels':['region']}", &services, &lister);
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
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;
	static const char *const nodes[] = {"n1", "n2", "n3", "bare"};

	init(&fixture, "{'affinityLabels':['region']}", &services, &lister);
	/* Other namespace, other labels. */
	fixture_add_pod(&fixture,
		"{'metadata':{'namespace':'other','labels':{'app':'web'}},'spec':{'nodeName':'n1'}"
		"}");
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'db'}},'spec':{'nodeName':'n1'}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		fixture_expect("no pod", fixture_filter(&fixture, WEB, nodes[i]), "Success");
	}
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	services.count = 1; /* only the one without selector */
	for (size_t i = 0; i < BT_ARRAY_LENGTH(nodes); i++) {
		fixture_expect("no service", fixture_filter(&fixture, WEB, nodes[i]), "Success");
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__edge_05b_14_missing_key)
{
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'affinityLabels':['region','zone']}", &services, &lister);
	fixture_add_pod(&fixture, "{'metadata':{'labels':{'app':'web'}},'spec':{'nodeName':'n1'}}");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n3"), "Success");
	ck_assert_str_eq(fixture_filter(&fixture, WEB, "n2"), REJECTED);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__skip_and_errors)
{
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'antiAffinityLabelsPreference':['zone']}", &services, &lister);
	ck_assert_str_eq(fixture_pre_filter(&fixture, WEB, NULL), "Skip");
	services.broken = true;
	ck_assert_str_eq(fixture_pre_score(&fixture, WEB), "Error: services are not known yet");
	fixture_finish(&fixture);

	init(&fixture, "{'affinityLabels':['region']}", &services, &lister);
	ck_assert_str_eq(
		fixture_pre_filter(&fixture, WEB, NULL), "Error: services are not known yet");
	fixture_finish(&fixture);
}
END_TEST

/* A pod that is hypothetically gone from a node does not speak for it any more. */
START_TEST(test_service_affinity__removed_pod_is_hidden)
{
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;
	struct bt_cycle_state cycle;
	struct bt_pre_filter_result result = {0};
	const struct bt_plugin_ops *ops = &bt_legacy_service_affinity_plugin;
	const struct bt_pod_info *pod;
	struct bt_pod_info victim;
	struct bt_node_info n1;
	struct bt_status status;

	init(&fixture, "{'affinityLabels':['region']}", &services, &lister);
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

/** PreFilter data under hypothetical changes. */
START_TEST(test_service_affinity__what_if)
{
	struct services services = known_services();
	struct bt_object_lister lister;
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

	init(&fixture, "{'affinityLabels':['region']}", &services, &lister);
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

	/* Gone from its node only: n1 no longer sees it, the others do. */
	ck_assert_int_eq(bt_node_info_remove_pod(&n1, &fixture.arena, &victim, NULL), 0);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);

	/* Gone from the data as well, and a new one on n2. */
	(void)ops->pre_filter_remove_pod(fixture.plugin, &cycle, pod, &victim, &n1);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	added = fixture_pending(&fixture, WEB);
	(void)ops->pre_filter_add_pod(fixture.plugin, &cycle, pod, added, &n2);
	(void)ops->pre_filter_add_pod(
		fixture.plugin, &cycle, pod, fixture_pending(&fixture, "{}"), &n1);
	bt_node_info_add_pod(&n2, &fixture.arena, added);
	status = ops->filter(fixture.plugin, &cycle, pod, &n2);
	ck_assert_str_eq(fixture_status_text(&fixture, status), "Success");
	status = ops->filter(fixture.plugin, &cycle, pod, &n1);
	ck_assert_str_eq(fixture_status_text(&fixture, status), REJECTED);

	/* The original is untouched. */
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
	struct bt_node_score scores[8];
	struct bt_cycle_state cycle;
	struct bt_status status;

	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = (struct bt_node_score){fixture_slot(fixture, nodes[i]), raw[i]};
	}
	status = fixture->plugin->ops->normalize_score(
		fixture->plugin, &cycle, fixture_pending(fixture, "{}"), scores, count);
	ck_assert_str_eq(fixture_status_text(fixture, status), "Success");
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_msg(scores[i].score == expected[i], "%s: got %d", nodes[i],
			(int)scores[i].score);
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
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'antiAffinityLabelsPreference':['region','zone']}", NULL, &lister);
	expect_normalized(&fixture, raw, nodes, 4, expected);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_service_affinity__raw_score)
{
	struct services services = known_services();
	struct bt_object_lister lister;
	struct fixture fixture;

	init(&fixture, "{'antiAffinityLabelsPreference':['zone']}", &services, &lister);
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
	/* The first matching service decides, even if a later one matches as well. */
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
	test_service_affinity__edge_05b_14_missing_key, test_service_affinity__skip_and_errors,
	test_service_affinity__removed_pod_is_hidden, test_service_affinity__what_if,
	test_service_affinity__edge_05b_15_normalize, test_service_affinity__normalize_two_labels,
	test_service_affinity__raw_score)

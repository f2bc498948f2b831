/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources up to Reserve. Spec: 12 sections 6 to 11; numbered cases of section 20. */
#include "devices_fixture.h"
#include "test_main.h"

#define TEMPLATE_POD(statuses) \
	"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':'x'," \
	"'resourceClaimTemplateName':'t'}]},'status':{'resourceClaimStatuses':[" statuses "]}}"
#define OWNER(uid) \
	",'metadata':{'ownerReferences':[{'apiVersion':'v1','kind':'Pod','name':'o','uid':'" uid \
	"','controller':true}]}"

/** Returns the status of PreFilter of a fresh pod with these claims. */
static const char *pre_filter(struct fixture *fixture, const char *claims)
{
	return fixture_pre_filter(fixture, devices_pod(fixture, "p", claims), NULL);
}

static const char *pre_enqueue(struct fixture *fixture, const char *pod)
{
	return fixture_status_text(fixture,
		fixture->plugin->ops->pre_enqueue(
			fixture->plugin, fixture_pending(fixture, pod), &fixture->arena));
}

static const char *filter(struct fixture *fixture, const char *claims, const char *node)
{
	return fixture_filter(fixture, devices_pod(fixture, "p", claims), node);
}

START_TEST(test_dynamic_resources__edge_12_01_no_claims)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_expect("PreFilter", pre_filter(&fixture, ""), "Skip");
	fixture_expect("PreEnqueue", pre_enqueue(&fixture, "{}"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_02_claim_not_created)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_expect("no status entry", pre_enqueue(&fixture, TEMPLATE_POD("")),
		REFUSED "pod \"default/p\": ResourceClaim not created yet");
	fixture_expect("neither field",
		pre_enqueue(&fixture,
			"{'metadata':{'name':'p'},'spec':{'resourceClaims':[{'name':'x'}]}}"),
		REFUSED "pod \"default/p\", spec.resourceClaim \"x\": none of the supported fields "
			"are set");
	fixture_expect("no such claim", pre_filter(&fixture, "none"),
		REFUSED "could not find ResourceClaim \"default/none\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_03_nothing_generated)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_expect(
		"PreEnqueue", pre_enqueue(&fixture, TEMPLATE_POD("{'name':'x'}")), "Success");
	fixture_expect("PreFilter",
		fixture_pre_filter(&fixture, TEMPLATE_POD("{'name':'x'}"), NULL), "Skip");
	/* An empty generated name differs from a missing name. */
	fixture_expect("an empty name",
		pre_enqueue(&fixture, TEMPLATE_POD("{'name':'x','resourceClaimName':''}")),
		REFUSED "could not find ResourceClaim \"default/\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_04_made_for_another_pod)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST, OWNER("uid-other"));
	fixture_expect("another's",
		pre_enqueue(&fixture, TEMPLATE_POD("{'name':'x','resourceClaimName':'c'}")),
		REFUSED "ResourceClaim default/c was not created for Pod default/p (Pod is not "
			"owner)");
	put_device_claim(&fixture, "own", ONE_REQUEST, OWNER("uid-p"));
	fixture_expect("its own",
		pre_enqueue(&fixture, TEMPLATE_POD("{'name':'x','resourceClaimName':'own'}")),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_05_named_directly)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, OWNER("uid-other"));
	fixture_expect("no owner check", filter(&fixture, "c", "n1"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_06_claim_is_being_deleted)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST,
		",'metadata':{'deletionTimestamp':'2026-01-01T00:00:00Z'}");
	fixture_expect("PreEnqueue", pre_enqueue(&fixture, devices_pod(&fixture, "p", "c")),
		REFUSED "resourceclaim \"c\" is being deleted");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_07_allocation_in_flight)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	put_device_claim(&fixture, "e", ONE_REQUEST, "");
	devices_cycle_place(&cycle, &fixture, devices_pod(&fixture, "q", "c"), "n1");
	fixture_expect("shared claim", pre_filter(&fixture, "c"),
		REFUSED "resource claim default/c is in the process of being allocated");
	fixture_expect(
		"its device", filter(&fixture, "e", "n1"), REFUSED "cannot allocate all claims");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "n1"), "Success");
	fixture_expect("written", filter(&fixture, "c", "n1"), "Success");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_08_same_claim_in_a_pod_group)
{
	struct bt_group_state group = {0};
	struct devices_cycle first;
	struct devices_cycle second;
	struct claim_recorder api;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	group.arena = &fixture.arena;
	group.data = BT_ARENA_NEW_ARRAY(&fixture.arena, void *, 1);
	put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	claim_recorder_init(&api, &fixture, "");
	api.writer.retries_at_once = true;
	devices_cycle_begin_in_group(&first, &fixture, devices_pod(&fixture, "p", "c"), &group);
	fixture_expect("Filter", devices_cycle_filter(&first, "n1"), "Success");
	fixture_expect("Reserve", devices_cycle_reserve(&first, "n1"), "Success");
	devices_cycle_begin_in_group(&second, &fixture, devices_pod(&fixture, "q", "c"), &group);
	fixture_expect("second PreFilter", second.pre_filter, "Success");
	/* A pending allocation is not checked against the node. */
	fixture_expect("second Filter of n2", devices_cycle_filter(&second, "n2"), "Success");
	fixture_expect("second Filter", devices_cycle_filter(&second, "n1"), "Success");
	fixture_expect("second Reserve", devices_cycle_reserve(&second, "n1"), "Success");
	fixture_expect("PreBind", devices_cycle_pre_bind(&first, "n1"), "Success");
	/* The second cycle still has the claim as it was when the cycle began. */
	fixture_expect("second PreBind", devices_cycle_pre_bind(&second, "n1"),
		"Error: claim default/c got allocated elsewhere in the meantime");
	fixture_expect("writes", bt_strbuf_c(&api.log), "PUT c;PUT c/status a {p};PUT c;GET c;");
	fixture_expect("allocated to n1", filter(&fixture, "c", "n2"),
		REFUSED "resourceclaim not available on the node");
	devices_cycle_end(&second);
	devices_cycle_end(&first);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

/**
 * The claim's device is on n1: checks Filter of both nodes, PostFilter, and the resulting claim.
 */
static void check_elsewhere(
	const char *row, const char *reserved_for, const char *post_filter, const char *latest)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_allocated_claim(&fixture, "c", "n1",
		"{'request':'r','driver':'d','pool':'n1','device':'a'}", reserved_for);
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c"));
	fixture_expect(row, devices_cycle_filter(&cycle, "n1"), "Success");
	fixture_expect(row, devices_cycle_filter(&cycle, "n2"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect(row, devices_cycle_post_filter(&cycle), post_filter);
	fixture_expect(row, latest_claim(&fixture, "c"), latest);
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}

START_TEST(test_dynamic_resources__edge_12_09_allocated_on_another_node)
{
	check_elsewhere("in use by others", "{'resource':'pods','name':'q','uid':'uid-q'}",
		"Unschedulable: still not schedulable", "[0] a {q}");
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_10_deallocation)
{
	check_elsewhere("for nobody", "", "Unschedulable: deallocation of ResourceClaim completed",
		"[0] - {}");
	check_elsewhere("for another pod, too",
		"{'resource':'pods','name':'q','uid':'uid-q'},"
		"{'resource':'pods','name':'p','uid':'uid-p'}",
		"Unschedulable: still not schedulable", "[0] a {q,p}");
	check_elsewhere("and the other way round",
		"{'resource':'pods','name':'p','uid':'uid-p'},"
		"{'resource':'pods','name':'q','uid':'uid-q'}",
		"Unschedulable: still not schedulable", "[0] a {p,q}");
}
END_TEST

START_TEST(test_dynamic_resources__claims_that_block_no_pod_stay_allocated)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_allocated_claim(&fixture, "anywhere", NULL,
		"{'request':'r','driver':'d','pool':'all','device':'b'}", "");
	put_allocated_claim(&fixture, "c", "n1",
		"{'request':'r','driver':'d','pool':'n1','device':'a'}",
		"{'resource':'pods','name':'q','uid':'uid-q'}");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "anywhere c"));
	fixture_expect("n2", devices_cycle_filter(&cycle, "n2"),
		REFUSED "resourceclaim not available on the node");
	fixture_expect("PostFilter", devices_cycle_post_filter(&cycle),
		"Unschedulable: still not schedulable");
	fixture_expect("anywhere", latest_claim(&fixture, "anywhere"), "[0] b {}");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

/** A claim whose allocation Unreserve has undone is no longer in the group's state. */
START_TEST(test_dynamic_resources__a_group_loses_what_is_taken_back)
{
	struct bt_group_state group = {0};
	struct devices_cycle first;
	struct devices_cycle second;
	struct devices_cycle outside;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	group.arena = &fixture.arena;
	group.data = BT_ARENA_NEW_ARRAY(&fixture.arena, void *, 1);
	put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	devices_cycle_begin_in_group(&first, &fixture, devices_pod(&fixture, "p", "c"), &group);
	fixture_expect("Filter", devices_cycle_filter(&first, "n1"), "Success");
	fixture_expect("Reserve", devices_cycle_reserve(&first, "n1"), "Success");
	devices_cycle_unreserve(&first, "n1");
	devices_cycle_place(&outside, &fixture, devices_pod(&fixture, "o", "c"), "n1");
	devices_cycle_begin_in_group(&second, &fixture, devices_pod(&fixture, "q", "c"), &group);
	fixture_expect("of another pod", second.pre_filter,
		REFUSED "resource claim default/c is in the process of being allocated");
	devices_cycle_end(&second);
	devices_cycle_unreserve(&outside, "n1");
	devices_cycle_end(&outside);
	devices_cycle_end(&first);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_11_reserved_for_this_pod_alone)
{
	check_elsewhere("for this pod", "{'resource':'pods','name':'p','uid':'uid-p'}",
		"Unschedulable: deallocation of ResourceClaim completed", "[0] - {}");
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_16_class_is_missing)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_device_claim(&fixture, "c0", ONE_REQUEST, "");
	put_device_claim(&fixture, "none",
		"{'name':'r','exactly':{'deviceClassName':'c2','allocationMode':'ExactCount',"
		"'count':1}}",
		"");
	put_device_claim(&fixture, "empty", "{'name':'r','exactly':{}}", "");
	put_device_claim(&fixture, "neither", "{'name':'r'}", "");
	fixture_expect("missing at PreFilter", pre_filter(&fixture, "none"),
		REFUSED "request r: device class c2 does not exist");
	fixture_expect("no class", pre_filter(&fixture, "empty"),
		"Error: request r: unsupported request type");
	fixture_expect("neither kind", pre_filter(&fixture, "neither"),
		REFUSED "resource claim default/neither, request r: unknown request type");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c0"));
	fixture_delete(&fixture, BT_KIND_DEVICE_CLASS, "", "c");
	fixture_expect("gone before Filter", devices_cycle_filter(&cycle, "n1"),
		"Error: claim default/c0, request r: could not retrieve device class c: "
		"deviceclass.resource.k8s.io \"c\" not found");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_17_class_of_an_alternative_is_missing)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c",
		"{'name':'r','firstAvailable':[{'name':'s1'," DEVICES_OF_C(
			1) "},{'name':'s2',"
			   "'deviceClassName':'c2','allocationMode':'ExactCount','count':1}]}",
		"");
	fixture_expect("of the second", pre_filter(&fixture, "c"),
		REFUSED "request r/s2: device class c2 does not exist");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__alternatives_without_their_gate)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, "DRAPrioritizedList=false", NULL);
	put_device_claim(&fixture, "c",
		"{'name':'r','firstAvailable':[{'name':'s1'," DEVICES_OF_C(1) "}]}", "");
	fixture_expect("gate off", pre_filter(&fixture, "c"),
		REFUSED "resource claim default/c, request r: has subrequests, but the "
			"DRAPrioritizedList feature is disabled");
	fixture_finish(&fixture);
}
END_TEST

/** Returns a time that is eleven seconds later on each call. */
static int64_t slow_clock(void *context)
{
	int64_t *now_ns = context;

	*now_ns += INT64_C(11) * 1000 * 1000 * 1000;
	return *now_ns;
}

static void check_filter_by_clock(
	const char *row, const char *gates, const char *args, const char *expected)
{
	struct bt_framework framework = {0};
	struct bt_profile_metrics profile = {0};
	struct bt_metrics *metrics = bt_metrics_create();
	struct devices_cycle cycle;
	struct fixture fixture;
	int64_t now_ns = 0;

	devices_fixture_init(&fixture, gates, args);
	profile.all = bt_scheduler_metrics_create(metrics, &fixture.gates, slow_clock, &now_ns);
	framework.metrics = &profile;
	fixture.handle.framework = &framework;
	put_vain_claim(&fixture);
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c"));
	fixture_expect(row, devices_cycle_filter(&cycle, "n1"), expected);
	devices_cycle_end(&cycle);
	fixture.handle.framework = NULL;
	fixture_finish(&fixture);
	bt_scheduler_metrics_destroy(profile.all);
	bt_metrics_destroy(metrics);
}

START_TEST(test_dynamic_resources__edge_12_18_filter_ends)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c"));
	cycle.state.cancel_cause = BT_STR("test canceling Filter");
	fixture_expect("canceled", devices_cycle_filter(&cycle, "n1"),
		REFUSED "asked by caller to stop allocating devices: test canceling Filter");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
	check_filter_by_clock(
		"deadline", NULL, NULL, "Error: node n1: timed out trying to allocate devices");
	check_filter_by_clock(
		"no timeout", NULL, "{'filterTimeout':'0s'}", REFUSED "cannot allocate all claims");
	check_filter_by_clock("gate off", "DRASchedulerFilterTimeout=false", NULL,
		REFUSED "cannot allocate all claims");
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_19_selector_fails_on_one_node)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	fixture_put(&fixture,
		"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{'name':'c'},"
		"'spec':{'selectors':[{'cel':{'expression':'device.attributes[\\'d\\'].x == "
		"1'}}]}}");
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_slice(&fixture, "n2", "{'name':'a','attributes':{'x':{'int':1}}}");
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	fixture_expect("n1", filter(&fixture, "c", "n1"),
		"Error: class c: selector #0: CEL runtime error: no such key: x");
	fixture_expect("n2", filter(&fixture, "c", "n2"), "Success");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_20_taints)
{
	static const struct {
		const char *row;
		const char *gates;
		const char *tolerations;
		const char *expected;
	} rows[] = {
		{"not tolerated", NULL, "", REFUSED "cannot allocate all claims"},
		{"tolerated", NULL, ",'tolerations':[{'operator':'Exists'}]", "Success"},
		{"gate off", "DRADeviceTaints=false", "", "Success"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		devices_fixture_init(&fixture, rows[i].gates, NULL);
		put_slice(&fixture, "n1",
			"{'name':'a','taints':[{'key':'k','effect':'NoSchedule'}]}");
		put_device_claim(&fixture, "c",
			bt_arena_printf(&fixture.arena,
				"{'name':'r','exactly':{" DEVICES_OF_C(1) "%s}}",
				rows[i].tolerations)
				.data,
			"");
		fixture_expect(rows[i].row, filter(&fixture, "c", "n1"), rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_21_admin_access)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'}");
	put_allocated_claim(&fixture, "held", "n1",
		"{'request':'r','driver':'d','pool':'n1','device':'a'}", "");
	put_device_claim(&fixture, "c",
		"{'name':'r','exactly':{" DEVICES_OF_C(1) ",'adminAccess':true}}", "");
	put_device_claim(&fixture, "e", ONE_REQUEST, "");
	claim_recorder_init(&api, &fixture, "");
	devices_cycle_place(&cycle, &fixture, devices_pod(&fixture, "p", "c"), "n1");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "n1"), "Success");
	fixture_expect("writes", bt_strbuf_c(&api.log), "PUT c;PUT c/status a {p};");
	devices_cycle_end(&cycle);
	fixture_expect(
		"still held", filter(&fixture, "e", "n1"), REFUSED "cannot allocate all claims");
	fixture_delete(&fixture, BT_KIND_RESOURCE_CLAIM, "default", "held");
	fixture_expect("by the other alone", filter(&fixture, "e", "n1"), "Success");
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

#define TWO_WAYS \
	"{'name':'r','firstAvailable':[{'name':'big','selectors':[{'cel':{'expression':" \
	"'device.attributes[\\'d\\'].size == 2'}}]," DEVICES_OF_C( \
		1) "},{'name':'small'," DEVICES_OF_C(1) "}]}"

START_TEST(test_dynamic_resources__edge_12_22_score)
{
	int64_t scores[2];
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1",
		"{'name':'a','attributes':{'size':{'int':2}}},"
		"{'name':'b','attributes':{'size':{'int':2}}}");
	put_slice(&fixture, "n2",
		"{'name':'a','attributes':{'size':{'int':1}}},"
		"{'name':'b','attributes':{'size':{'int':2}}}");
	put_device_claim(&fixture, "c", TWO_WAYS, "");
	put_device_claim(&fixture, "e", TWO_WAYS, "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c e"));
	fixture_expect("n1", devices_cycle_filter(&cycle, "n1"), "Success");
	fixture_expect("n2", devices_cycle_filter(&cycle, "n2"), "Success");
	scores[0] = devices_cycle_score(&cycle, "n1");
	scores[1] = devices_cycle_score(&cycle, "n2");
	ck_assert_int_eq(scores[0], 16);
	ck_assert_int_eq(scores[1], 15);
	bt_default_normalize(scores, 2, false);
	ck_assert_int_eq(scores[0], 100);
	ck_assert_int_eq(scores[1], 93);
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_23_score_of_allocated_claims)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_slice(&fixture, "n1", "{'name':'a'},{'name':'b'}");
	put_device_claim(&fixture, "old", TWO_WAYS,
		",'status':{'allocation':{'devices':{'results':[{'request':'r/small','driver':'d',"
		"'pool':'n1','device':'a'}]}}}");
	put_device_claim(&fixture, "new", ONE_REQUEST, "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "old new"));
	fixture_expect("both", devices_cycle_filter(&cycle, "n1"), "Success");
	ck_assert_int_eq(devices_cycle_score(&cycle, "n1"), 7);
	devices_cycle_end(&cycle);
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "old"));
	fixture_expect("allocated alone", devices_cycle_filter(&cycle, "n1"), "Success");
	ck_assert_int_eq(devices_cycle_score(&cycle, "n1"), 0);
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__edge_12_24_reserve_without_filter)
{
	struct devices_cycle cycle;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST, "");
	devices_cycle_begin(&cycle, &fixture, devices_pod(&fixture, "p", "c"));
	fixture_expect("Reserve", devices_cycle_reserve(&cycle, "n1"),
		"Error: claim allocation not found for node");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__arguments_of_another_plugin)
{
	struct bt_plugin_args args = {.kind = BT_ARGS_VOLUME_BINDING};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_plugin *plugin = NULL;
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	ck_assert_int_lt(bt_plugin_create(&bt_dynamic_resources_plugin, &args, &fixture.handle,
				 &plugin, &err),
		0);
	ck_assert_str_eq(berth_error_message(&err),
		"got args of type *config.VolumeBindingArgs, want *DynamicResourcesArgs");
	berth_error_finish(&err);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__a_broken_node_selector_of_an_allocation)
{
	struct fixture fixture;

	devices_fixture_init(&fixture, NULL, NULL);
	put_device_claim(&fixture, "c", ONE_REQUEST,
		",'status':{'allocation':{'devices':{},'nodeSelector':{'nodeSelectorTerms':[{"
		"'matchExpressions':[{'key':'k','operator':'Near'}]}]}}}");
	fixture_expect("PreFilter", pre_filter(&fixture, "c"),
		"Error: nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "
		"\"Near\": supported values: \"In\", \"NotIn\", \"Exists\", "
		"\"DoesNotExist\", \"Gt\", \"Lt\"");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_dynamic_resources__points_without_pre_filter)
{
	struct devices_cycle cycle;
	struct fixture fixture;
	int64_t score;

	devices_fixture_init(&fixture, NULL, NULL);
	cycle = (struct devices_cycle){.fixture = &fixture};
	cycle.pod = fixture_pending(&fixture, "{}");
	bt_cycle_state_init(&cycle.state, &fixture.arena, 1);
	fixture_expect("Filter", devices_cycle_filter(&cycle, "n1"), "Error: not found");
	fixture_expect(
		"Score", fixture_score_alone(&fixture, "{}", "n1", &score), "Error: not found");
	fixture_expect("PostFilter", devices_cycle_post_filter(&cycle), "Error: not found");
	fixture_expect("Reserve", devices_cycle_reserve(&cycle, "n1"), "Error: not found");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "n1"), "Error: not found");
	devices_cycle_unreserve(&cycle, "n1");
	devices_cycle_end(&cycle);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("dynamic_resources", test_dynamic_resources__edge_12_01_no_claims,
	test_dynamic_resources__edge_12_02_claim_not_created,
	test_dynamic_resources__edge_12_03_nothing_generated,
	test_dynamic_resources__edge_12_04_made_for_another_pod,
	test_dynamic_resources__edge_12_05_named_directly,
	test_dynamic_resources__edge_12_06_claim_is_being_deleted,
	test_dynamic_resources__edge_12_07_allocation_in_flight,
	test_dynamic_resources__edge_12_08_same_claim_in_a_pod_group,
	test_dynamic_resources__edge_12_09_allocated_on_another_node,
	test_dynamic_resources__edge_12_10_deallocation,
	test_dynamic_resources__claims_that_block_no_pod_stay_allocated,
	test_dynamic_resources__a_group_loses_what_is_taken_back,
	test_dynamic_resources__edge_12_11_reserved_for_this_pod_alone,
	test_dynamic_resources__edge_12_16_class_is_missing,
	test_dynamic_resources__edge_12_17_class_of_an_alternative_is_missing,
	test_dynamic_resources__alternatives_without_their_gate,
	test_dynamic_resources__edge_12_18_filter_ends,
	test_dynamic_resources__edge_12_19_selector_fails_on_one_node,
	test_dynamic_resources__edge_12_20_taints, test_dynamic_resources__edge_12_21_admin_access,
	test_dynamic_resources__edge_12_22_score,
	test_dynamic_resources__edge_12_23_score_of_allocated_claims,
	test_dynamic_resources__edge_12_24_reserve_without_filter,
	test_dynamic_resources__arguments_of_another_plugin,
	test_dynamic_resources__a_broken_node_selector_of_an_allocation,
	test_dynamic_resources__points_without_pre_filter)

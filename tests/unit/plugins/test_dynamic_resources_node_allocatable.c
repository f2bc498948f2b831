/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: devices that use node allocatable resources. Spec: 12 section 15. */
#include "devices_fixture.h"
#include "test_main.h"

#define GATE "DRANodeAllocatableResources=true"
#define NODE(name, allocatable) \
	"{'metadata':{'name':'" name "'},'status':{'allocatable':{" allocatable "}}}"
#define CLAIMS "'resourceClaims':[{'name':'e','resourceClaimName':'c'}]"
#define USES ",'claims':[{'name':'e'}]"
#define CONTAINER(requests, claims) \
	"{'name':'main','resources':{'requests':{" requests "}" claims "}}"
#define POD_WITH(metadata, containers, more) \
	"{'metadata':{" metadata "},'spec':{" CLAIMS ",'containers':[" containers "]" more "}}"
#define POD(requests) POD_WITH("'name':'p','uid':'uid-p'", CONTAINER(requests, USES), "")
#define MAPPED_B \
	"{'name':'b','nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'1'}}}"
#define DEVICE(mappings) "{'name':'a','nodeAllocatableResourceMappings':{" mappings "}}"

/** Adds node big with these devices, and a claim. */
static void init_with(
	struct fixture *fixture, const char *gates, const char *devices, const char *request)
{
	devices_fixture_init(fixture, gates, NULL);
	fixture_add_node(fixture,
		NODE("big",
			"'cpu':'4','memory':'100','ephemeral-storage':'10','hugepages-2Mi':'4'"));
	put_slice(fixture, "big", devices);
	put_device_claim(fixture, "c", request, "");
}

static void init(struct fixture *fixture, const char *devices)
{
	init_with(fixture, GATE, devices, ONE_REQUEST);
}

START_TEST(test_dynamic_resources_node_allocatable__demand)
{
	static const struct {
		const char *row;
		const char *device;
		const char *pod;
		const char *expected;
	} cases[] = {
		{"nothing mapped", "{'name':'a'}", POD("'cpu':'4'"), "Success"},
		{"fits", DEVICE("'cpu':{'allocationMultiplier':'2'}"), POD("'cpu':'2'"), "Success"},
		{"together too much", DEVICE("'cpu':{'allocationMultiplier':'2'}"),
			POD("'cpu':'2001m'"), REFUSED "Insufficient cpu"},
		{"0 without multiplier", DEVICE("'cpu':{}"), POD("'cpu':'4'"), "Success"},
		{"more than the node has of two",
			DEVICE("'cpu':{'allocationMultiplier':'5'},'memory':{'allocationMultiplier'"
			       ":"
			       "'101'},'hugepages-2Mi':{'allocationMultiplier':'5'}"),
			POD(""),
			REFUSED
			"Insufficient cpu, Insufficient memory, Insufficient hugepages-2Mi"},
		{"more storage than the node has",
			DEVICE("'ephemeral-storage':{'allocationMultiplier':'11'}"), POD(""),
			REFUSED "Insufficient ephemeral-storage"},
		{"other resources are not looked at",
			DEVICE("'e.io/x':{'allocationMultiplier':'5'}"), POD(""), "Success"},
		{"no capacity consumed",
			DEVICE("'cpu':{'capacityKey':'k','allocationMultiplier':'2'}"), POD(""),
			"Error: claim default/c, device a: ConsumedCapacity is nil, but Capacity "
			"key "
			"'k' is set in NodeAllocatableResourceMappings for resource cpu"},
		{"times what is consumed",
			"{'name':'a','allowMultipleAllocations':true,'capacity':{'k':{'value':'2'}}"
			","
			"'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'k',"
			"'allocationMultiplier':'1500m'}}}",
			POD("'cpu':'1'"), "Success"},
		{"times what is consumed is too much",
			"{'name':'a','allowMultipleAllocations':true,'capacity':{'k':{'value':'2'}}"
			","
			"'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'k',"
			"'allocationMultiplier':'1500m'}}}",
			POD("'cpu':'1001m'"), REFUSED "Insufficient cpu"},
		{"another capacity was consumed",
			"{'name':'a','allowMultipleAllocations':true,'capacity':{'j':{'value':'2'}}"
			","
			"'nodeAllocatableResourceMappings':{'cpu':{'capacityKey':'k',"
			"'allocationMultiplier':'9'}}}",
			POD("'cpu':'4'"), "Success"},
		{"no container uses the claim", DEVICE("'cpu':{'allocationMultiplier':'1'}"),
			POD_WITH("'name':'p','uid':'uid-p'", CONTAINER("", ""), ""),
			REFUSED "claim c: node-allocatable resource claim not referenced by any "
				"container within the pod"},
		{"pod level covers it", DEVICE("'cpu':{'allocationMultiplier':'1'}"),
			POD_WITH("'name':'p','uid':'uid-p'", CONTAINER("'cpu':'1'", USES),
				",'resources':{'requests':{'cpu':'2'}}"),
			"Success"},
		{"pod level does not cover it", DEVICE("'cpu':{'allocationMultiplier':'1'}"),
			POD_WITH("'name':'p','uid':'uid-p'", CONTAINER("'cpu':'1'", USES),
				",'resources':{'requests':{'cpu':'1'}}"),
			REFUSED "pod level request for cpu is insufficient to cover the aggregated "
				"container and node-allocatable DRA requests"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture fixture;

		init(&fixture, cases[i].device);
		fixture_expect(cases[i].row, fixture_filter(&fixture, cases[i].pod, "big"),
			cases[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_dynamic_resources_node_allocatable__pods_on_the_node_count)
{
	struct fixture fixture;

	init(&fixture, DEVICE("'cpu':{'allocationMultiplier':'2'}"));
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'big','containers':[" CONTAINER("'cpu':'1'", "") "]}}");
	fixture_expect("fits", fixture_filter(&fixture, POD("'cpu':'1'"), "big"), "Success");
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'big','containers':[" CONTAINER("'cpu':'1'", "") "]}}");
	fixture_expect("no more", fixture_filter(&fixture, POD("'cpu':'1'"), "big"),
		"Unschedulable: Insufficient cpu");
	fixture_finish(&fixture);
}
END_TEST

/**
 * Compares code and reasons for all missing resources; pods on the node use 1 cpu and 1 of memory.
 */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_2_resolvable_or_not)
{
	static const struct {
		const char *row;
		const char *device;
		const char *expected;
	} rows[] = {
		{"as much as the node has", DEVICE("'cpu':{'allocationMultiplier':'4'}"),
			"Unschedulable: Insufficient cpu"},
		{"more than the node has", DEVICE("'cpu':{'allocationMultiplier':'4001m'}"),
			REFUSED "Insufficient cpu"},
		{"the first of two is more than it has",
			DEVICE("'cpu':{'allocationMultiplier':'5'},'memory':{"
			       "'allocationMultiplier':'100'}"),
			REFUSED "Insufficient cpu, Insufficient memory"},
		{"what is left", DEVICE("'cpu':{'allocationMultiplier':'3'}"), "Success"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		init(&fixture, rows[i].device);
		fixture_add_pod(&fixture,
			"{'spec':{'nodeName':'big','containers':[" CONTAINER(
				"'cpu':'1','memory':'1'", "") "]}}");
		fixture_expect(
			rows[i].row, fixture_filter(&fixture, POD(""), "big"), rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_2_without_pod_level)
{
	struct fixture fixture;

	init_with(&fixture,
		GATE ",PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false",
		DEVICE("'cpu':{'allocationMultiplier':'1'}"), ONE_REQUEST);
	fixture_expect("not looked at",
		fixture_filter(&fixture,
			POD_WITH("'name':'p','uid':'uid-p'", CONTAINER("'cpu':'1'", USES),
				",'resources':{'requests':{'cpu':'1'}}"),
			"big"),
		"Success");
	fixture_finish(&fixture);
}
END_TEST

/** One claim has two devices: either the second device or both devices use node resources. */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_2_sums)
{
	static const struct {
		const char *row;
		const char *devices;
		const char *expected;
	} rows[] = {
		{"only the second",
			"{'name':'a'},{'name':'b','nodeAllocatableResourceMappings':{'cpu':{"
			"'allocationMultiplier':'5'}}}",
			REFUSED "Insufficient cpu"},
		{"both",
			"{'name':'a','nodeAllocatableResourceMappings':{'cpu':{"
			"'allocationMultiplier':'3'}}},{'name':'b',"
			"'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'3'}}}",
			REFUSED "Insufficient cpu"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		init_with(&fixture, GATE, rows[i].devices,
			"{'name':'r','exactly':{" DEVICES_OF_C(2) "}}");
		fixture_expect(
			rows[i].row, fixture_filter(&fixture, POD(""), "big"), rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

/**
 * Spec 12 section 8: Filter checks the resources of the new devices before it rejects the node
 * because another claim is allocated on a different node.
 */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_08_demand_comes_first)
{
	struct fixture fixture;

	init(&fixture, DEVICE("'cpu':{'allocationMultiplier':'5'}"));
	put_allocated_claim(
		&fixture, "old", "n1", "{'request':'r','driver':'d','pool':'n1','device':'a'}", "");
	fixture_expect("both",
		fixture_filter(&fixture,
			"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':"
			"'o','resourceClaimName':'old'},{'name':'e','resourceClaimName':'c'}],"
			"'containers':[" CONTAINER("", USES) "]}}",
			"big"),
		REFUSED "Insufficient cpu");
	fixture_finish(&fixture);
}
END_TEST

/**
 * The claim is allocated for another pod of the group; since then the driver has withdrawn a
 * device.
 */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_2_device_is_gone)
{
	struct bt_group_state group = {0};
	struct devices_cycle first;
	struct devices_cycle second;
	struct fixture fixture;

	init_with(&fixture, GATE, "{'name':'a'}," MAPPED_B,
		"{'name':'r','exactly':{" DEVICES_OF_C(2) "}}");
	group.arena = &fixture.arena;
	group.data = BT_ARENA_NEW_ARRAY(&fixture.arena, void *, 1);
	devices_cycle_begin_in_group(&first, &fixture, POD(""), &group);
	fixture_expect("Filter", devices_cycle_filter(&first, "big"), "Success");
	fixture_expect("Reserve", devices_cycle_reserve(&first, "big"), "Success");
	put_slice(&fixture, "big", MAPPED_B);
	devices_cycle_begin_in_group(&second, &fixture,
		POD_WITH("'name':'q','uid':'uid-q'", CONTAINER("", USES), ""), &group);
	fixture_expect("second Filter", devices_cycle_filter(&second, "big"),
		"Error: claim default/c, device a: device a not found in pool big");
	devices_cycle_end(&second);
	devices_cycle_unreserve(&first, "big");
	devices_cycle_end(&first);
	fixture_finish(&fixture);
}
END_TEST

/** Adds a pod on this node whose status reports that the claim uses node resources. */
static void add_consumer(
	struct fixture *fixture, const char *name, const char *node, const char *claim)
{
	fixture_add_pod(fixture,
		bt_arena_printf(&fixture->arena,
			"{'metadata':{'name':'%s','uid':'uid-%s'},'spec':{'nodeName':'%s'},"
			"'status':{'nodeAllocatableResourceClaimStatuses':[{'resourceClaimName':"
			"'%s','containers':['x'],'resources':{'cpu':'1'}}]}}",
			name, name, node, claim)
			.data);
}

START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_1_the_pod_itself)
{
	static const struct {
		const char *row;
		const char *own_node;
		const char *own_claim;
		const char *other; /* other user of claim c; NULL: none */
		const char *expected;
	} rows[] = {
		{"alone", "big", "c", NULL, "Success"},
		{"beside another", "big", "c", "q",
			REFUSED "node allocatable resource claim c shared by multiple pods"},
		{"on another node", "n1", "c", "q",
			REFUSED "node allocatable resource claim c is already used by another pod"},
		{"of another claim", "big", "e", "q",
			REFUSED "node allocatable resource claim c is already used by another pod"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fixture fixture;

		init(&fixture, DEVICE("'cpu':{'allocationMultiplier':'1'}"));
		fixture_delete(&fixture, BT_KIND_RESOURCE_CLAIM, "default", "c");
		put_allocated_claim(&fixture, "c", "big",
			"{'request':'r','driver':'d','pool':'big','device':'a'}", "");
		add_consumer(&fixture, "p", rows[i].own_node, rows[i].own_claim);
		if (rows[i].other != NULL) {
			add_consumer(&fixture, rows[i].other, "big", "c");
		}
		fixture_expect(
			rows[i].row, fixture_filter(&fixture, POD(""), "big"), rows[i].expected);
		fixture_finish(&fixture);
	}
}
END_TEST

START_TEST(test_dynamic_resources_node_allocatable__sharing)
{
	static const char *const consumers[] = {"q", "r"};
	struct fixture fixture;

	init(&fixture, DEVICE("'cpu':{'allocationMultiplier':'1'}"));
	fixture_delete(&fixture, BT_KIND_RESOURCE_CLAIM, "default", "c");
	put_allocated_claim(
		&fixture, "c", "big", "{'request':'r','driver':'d','pool':'big','device':'a'}", "");
	fixture_expect("nobody", fixture_filter(&fixture, POD(""), "big"), "Success");
	for (size_t i = 0; i < 2; i++) {
		add_consumer(&fixture, consumers[i], "big", "c");
		fixture_expect("others", fixture_filter(&fixture, POD(""), "big"),
			i == 0 ? REFUSED "node allocatable resource claim c is already used by "
					 "another pod"
			       : REFUSED
				"node allocatable resource claim c shared by multiple pods");
	}
	fixture_finish(&fixture);
}
END_TEST

static int patch_pod(void *context, BT_UNUSED const struct bt_pod_info *pod,
	const struct bt_pod_status *old_status, const struct bt_pod_status *new_status,
	bool must_end, BT_UNUSED struct berth_error *err)
{
	struct claim_recorder *recorder = context;
	uint32_t count = new_status->node_allocatable_resource_claim_statuses.count;

	bt_strbuf_printf(&recorder->log, "%u>%u",
		old_status->node_allocatable_resource_claim_statuses.count, count);
	for (uint32_t i = 0; i < count; i++) {
		const struct bt_node_allocatable_claim_status *entry =
			&new_status->node_allocatable_resource_claim_statuses.items[i];

		bt_strbuf_printf(&recorder->log, " %.*s", BT_STR_ARG(entry->resource_claim_name));
		for (uint32_t k = 0; k < entry->containers.count; k++) {
			bt_strbuf_printf(
				&recorder->log, " %.*s", BT_STR_ARG(entry->containers.items[k]));
		}
		for (uint32_t k = 0; k < entry->resources.count; k++) {
			bt_strbuf_printf(&recorder->log,
				" %.*s=", BT_STR_ARG(entry->resources.items[k].name));
			bt_quantity_format(&entry->resources.items[k].quantity, &recorder->log);
		}
	}
	bt_strbuf_append_c(&recorder->log, must_end ? " now;" : ";");
	return 0;
}

START_TEST(test_dynamic_resources_node_allocatable__statuses)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;
	struct bt_pod_status assumed = {0};

	init(&fixture, DEVICE("'cpu':{'allocationMultiplier':'2'}"));
	claim_recorder_init(&api, &fixture, "");
	api.writer.patch_pod_status = patch_pod;
	devices_cycle_place(&cycle, &fixture, POD("'cpu':'2'"), "big");
	fixture.plugin->ops->assume_status(
		fixture.plugin, &cycle.state, cycle.pod, fixture_slot(&fixture, "big"), &assumed);
	ck_assert_uint_eq(assumed.node_allocatable_resource_claim_statuses.count, 1);
	fixture.plugin->ops->assume_status(
		fixture.plugin, &cycle.state, cycle.pod, fixture_slot(&fixture, "n1"), &assumed);
	ck_assert_uint_eq(assumed.node_allocatable_resource_claim_statuses.count, 1);
	fixture_expect("PreBind", devices_cycle_pre_bind_to_end(&cycle, "big"), "Success");
	devices_cycle_unreserve(&cycle, "big");
	fixture_expect("writes", bt_strbuf_c(&api.log),
		"PUT c;PUT c/status a {p};0>1 c main cpu=2;-uid-p c;1>0 now;");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

/**
 * The statuses are sorted by claim name; in a status, init containers come first; an amount of 0 is
 * included.
 */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_15_2_statuses_of_two_claims)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture, DEVICE("'cpu':{}") "," MAPPED_B);
	put_device_claim(&fixture, "b", ONE_REQUEST, "");
	claim_recorder_init(&api, &fixture, "");
	api.writer.patch_pod_status = patch_pod;
	devices_cycle_place(&cycle, &fixture,
		"{'metadata':{'name':'p','uid':'uid-p'},'spec':{'resourceClaims':[{'name':'e',"
		"'resourceClaimName':'c'},{'name':'f','resourceClaimName':'b'}],'containers':"
		"[" CONTAINER(
			"", ",'claims':[{'name':'f'},{'name':'e'}]") "],'initContainers':[{'name':"
								     "'first','resources':{'claims'"
								     ":[{'name':'e'}]}}]}}",
		"big");
	fixture_expect("PreBind", devices_cycle_pre_bind_to_end(&cycle, "big"), "Success");
	fixture_expect("writes", bt_strbuf_c(&api.log),
		"PUT c;PUT c/status a {p};PUT b;PUT b/status b {p};"
		"0>2 b main cpu=1 c first main cpu=0;");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

/** While PreBind waits for devices, the pod's status is not written again. */
START_TEST(test_dynamic_resources_node_allocatable__spec_12_13_written_once)
{
	struct devices_cycle cycle;
	struct claim_recorder api;
	struct fixture fixture;

	init(&fixture,
		"{'name':'a','bindingConditions':['ready'],'bindingFailureConditions':['broken'],"
		"'nodeAllocatableResourceMappings':{'cpu':{'allocationMultiplier':'1'}}}");
	claim_recorder_init(&api, &fixture, "");
	api.writer.patch_pod_status = patch_pod;
	devices_cycle_place(&cycle, &fixture, POD(""), "big");
	fixture_expect("PreBind", devices_cycle_pre_bind(&cycle, "big"), "Wait");
	fixture_expect("again", devices_cycle_pre_bind(&cycle, "big"), "Wait");
	fixture_expect(
		"writes", bt_strbuf_c(&api.log), "PUT c;PUT c/status a {p};0>1 c main cpu=1;");
	devices_cycle_end(&cycle);
	claim_recorder_finish(&api);
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("dynamic_resources_node_allocatable", test_dynamic_resources_node_allocatable__demand,
	test_dynamic_resources_node_allocatable__pods_on_the_node_count,
	test_dynamic_resources_node_allocatable__spec_12_15_2_resolvable_or_not,
	test_dynamic_resources_node_allocatable__spec_12_15_2_without_pod_level,
	test_dynamic_resources_node_allocatable__spec_12_15_2_sums,
	test_dynamic_resources_node_allocatable__spec_12_08_demand_comes_first,
	test_dynamic_resources_node_allocatable__spec_12_15_2_device_is_gone,
	test_dynamic_resources_node_allocatable__spec_12_15_1_the_pod_itself,
	test_dynamic_resources_node_allocatable__sharing,
	test_dynamic_resources_node_allocatable__statuses,
	test_dynamic_resources_node_allocatable__spec_12_15_2_statuses_of_two_claims,
	test_dynamic_resources_node_allocatable__spec_12_13_written_once)

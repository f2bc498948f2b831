/* SPDX-License-Identifier: Apache-2.0 */
/* DynamicResources: devices that take resources of their node. Spec: 12 section 15. */
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
#define DEVICE(mappings) "{'name':'a','nodeAllocatableResourceMappings':{" mappings "}}"

static void init(struct fixture *fixture, const char *devices)
{
	devices_fixture_init(fixture, GATE, NULL);
	fixture_add_node(fixture, NODE("big", "'cpu':'4','memory':'100','hugepages-2Mi':'4'"));
	put_slice(fixture, "big", devices);
	put_device_claim(fixture, "c", ONE_REQUEST, "");
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
		fixture_add_pod(&fixture,
			bt_arena_printf(&fixture.arena,
				"{'metadata':{'name':'%s','uid':'uid-%s'},'spec':{'nodeName':'big'}"
				","
				"'status':{'nodeAllocatableResourceClaimStatuses':[{"
				"'resourceClaimName':'c','containers':['x'],'resources':{'cpu':'1'}"
				"}]}}",
				consumers[i], consumers[i])
				.data);
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
	const struct bt_node_allocatable_claim_status *entry =
		new_status->node_allocatable_resource_claim_statuses.items;

	bt_strbuf_printf(&recorder->log, "%u>%u",
		old_status->node_allocatable_resource_claim_statuses.count,
		new_status->node_allocatable_resource_claim_statuses.count);
	if (new_status->node_allocatable_resource_claim_statuses.count != 0) {
		bt_strbuf_printf(&recorder->log,
			" %.*s %.*s %.*s=", BT_STR_ARG(entry->resource_claim_name),
			BT_STR_ARG(entry->containers.items[0]),
			BT_STR_ARG(entry->resources.items[0].name));
		bt_quantity_format(&entry->resources.items[0].quantity, &recorder->log);
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

BT_TEST_MAIN("dynamic_resources_node_allocatable", test_dynamic_resources_node_allocatable__demand,
	test_dynamic_resources_node_allocatable__pods_on_the_node_count,
	test_dynamic_resources_node_allocatable__sharing,
	test_dynamic_resources_node_allocatable__statuses)

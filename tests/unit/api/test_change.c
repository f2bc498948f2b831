/* SPDX-License-Identifier: Apache-2.0 */
#include "api/change.h"

#include "api_test.h"
#include "test_main.h"

static struct bt_arena arena;

static const struct bt_change_gates gates = {.dynamic_resource_allocation = true,
	.in_place_pod_level_resources = true,
	.node_declared_features = true};

static void check_events(
	const char *row, const struct bt_change_events *events, const uint32_t *expected)
{
	uint32_t count = 0;

	while (expected[count] != 0) {
		if (count >= events->count || events->actions[count] != expected[count]) {
			ck_abort_msg("%s: event %u", row, count);
		}
		count++;
	}
	ck_assert_msg(events->count == count, "%s: %u events", row, events->count);
}

static void check_node(const char *before, const char *after, const uint32_t *expected)
{
	struct bt_change_events events = bt_node_change_events(
		api_node(&arena, before), api_node(&arena, after), &gates, &arena);

	check_events(after, &events, expected);
}

static void check_pod(const char *before, const char *after, const uint32_t *expected)
{
	struct bt_change_events events = bt_pod_change_events(
		api_pod(&arena, before), api_pod(&arena, after), &gates, &arena);

	check_events(after, &events, expected);
}

#define EVENTS(...) ((const uint32_t[]){__VA_ARGS__, 0})
#define NO_EVENTS ((const uint32_t[]){0})

START_TEST(test_change__edge_01_46_heartbeat)
{
	check_node("{'status':{'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'"
		   "2026-01-01T00:00:00Z'}]}}",
		"{'status':{'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'"
		"2026-01-01T00:01:00Z'}]}}",
		NO_EVENTS);
}
END_TEST

START_TEST(test_change__edge_01_47_cordon)
{
	check_node("{}", "{'spec':{'unschedulable':true}}", NO_EVENTS);
	check_node("{}",
		"{'spec':{'unschedulable':true,'taints':[{'key':'node.kubernetes.io/"
		"unschedulable','effect':"
		"'NoSchedule'}]}}",
		EVENTS(BT_ACTION_UPDATE_NODE_TAINT));
	check_node("{'spec':{'unschedulable':true,'taints':[{'key':'k','effect':'NoSchedule'}]}}",
		"{}", EVENTS(BT_ACTION_UPDATE_NODE_TAINT, BT_ACTION_UPDATE_NODE_TAINT));
}
END_TEST

START_TEST(test_change__edge_01_48_permuted_taints)
{
	check_node("{'spec':{'taints':[{'key':'a','effect':'NoSchedule'},{'key':'b','effect':'"
		   "NoSchedule'}]}}",
		"{'spec':{'taints':[{'key':'b','effect':'NoSchedule'},{'key':'a','effect':'"
		"NoSchedule'}]}}",
		EVENTS(BT_ACTION_UPDATE_NODE_TAINT));
	check_node("{'spec':{'taints':[{'key':'a','effect':'NoExecute','timeAdded':'2026-01-01T00:"
		   "00:00Z'}]}}",
		"{'spec':{'taints':[{'key':'a','effect':'NoExecute','timeAdded':'2026-01-01T01:00:"
		"00+01:00'}]}}",
		NO_EVENTS);
	check_node("{'spec':{'taints':[{'key':'a','effect':'NoExecute'}]}}",
		"{'spec':{'taints':[{'key':'a','effect':'NoExecute','timeAdded':'2026-01-01T01:00:"
		"00+01:00'}]}}",
		EVENTS(BT_ACTION_UPDATE_NODE_TAINT));
}
END_TEST

START_TEST(test_change__edge_01_49_equal_quantities)
{
	check_node("{'status':{'allocatable':{'cpu':'1'}}}",
		"{'status':{'allocatable':{'cpu':'1000m'}}}", NO_EVENTS);
	check_node("{'status':{'allocatable':{'cpu':'1'}}}",
		"{'status':{'allocatable':{'cpu':'1001m'}}}",
		EVENTS(BT_ACTION_UPDATE_NODE_ALLOCATABLE));
	check_node("{'status':{'allocatable':{}}}", "{'status':{}}", NO_EVENTS);
}
END_TEST

START_TEST(test_change__edge_01_50_pod_annotation)
{
	check_pod("{'metadata':{'annotations':{'a':'b'}}}",
		"{'metadata':{'annotations':{'a':'c'}}}", EVENTS(BT_ACTION_UPDATE));
}
END_TEST

START_TEST(test_change__node_events_in_order)
{
	check_node("{'metadata':{'labels':{'a':'b'},'annotations':{'x':'1'}},'spec':{'"
		   "unschedulable':true},'status':{'allocatable':"
		   "{'cpu':'1'},'conditions':[{'type':'Ready','status':'False'}],'declaredFeatures'"
		   ":['A','B']}}",
		"{'metadata':{'labels':{},'annotations':{'x':'2'}},'spec':{'taints':[{'key':'k','"
		"effect':'NoSchedule'}]},'status':"
		"{'allocatable':{'cpu':'1','memory':'1'},'conditions':[{'type':'Ready','status':'"
		"True'}],'declaredFeatures':"
		"['B','A']}}",
		EVENTS(BT_ACTION_UPDATE_NODE_TAINT, BT_ACTION_UPDATE_NODE_ALLOCATABLE,
			BT_ACTION_UPDATE_NODE_LABEL, BT_ACTION_UPDATE_NODE_TAINT,
			BT_ACTION_UPDATE_NODE_CONDITION, BT_ACTION_UPDATE_NODE_ANNOTATION,
			BT_ACTION_UPDATE_NODE_DECLARED_FEATURE));
}
END_TEST

START_TEST(test_change__conditions_are_a_map)
{
	check_node(
		"{'status':{'conditions':[{'type':'A','status':'1'},{'type':'B','status':'2'}]}}",
		"{'status':{'conditions':[{'type':'B','status':'2'},{'type':'A','status':'0'},{'"
		"type':'A','status':'1'}]}}",
		NO_EVENTS);
	check_node("{'status':{'conditions':[{'type':'A','status':'1'}]}}", "{'status':{}}",
		EVENTS(BT_ACTION_UPDATE_NODE_CONDITION));
}
END_TEST

START_TEST(test_change__pod_events_in_order)
{
	check_pod("{'metadata':{'labels':{'a':'b'}},'spec':{'schedulingGates':[{'name':'g'}],'"
		  "containers':[{'name':'c',"
		  "'resources':{'requests':{'cpu':'2'}}}]}}",
		"{'metadata':{'labels':{'a':'c'}},'spec':{'tolerations':[{'key':'k'}],'containers':"
		"[{'name':'c',"
		"'resources':{'requests':{'cpu':'1'}}}]},'status':{'resourceClaimStatuses':[{'name'"
		":'r'}]}}",
		EVENTS(BT_ACTION_UPDATE_POD_LABEL, BT_ACTION_UPDATE_POD_SCALE_DOWN,
			BT_ACTION_UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
			BT_ACTION_UPDATE_POD_TOLERATION,
			BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM));
}
END_TEST

START_TEST(test_change__scale_down)
{
	static const char two[] =
		"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]}}";

	check_pod(two,
		"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'2000m'}}}]}}",
		EVENTS(BT_ACTION_UPDATE));
	check_pod(two, "{'spec':{'containers':[{'name':'c'}]}}",
		EVENTS(BT_ACTION_UPDATE_POD_SCALE_DOWN));
	/*
	 * The status still has the resources that the resize releases, so the event is no
	 * scale-down yet.
	 */
	check_pod("{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]},'"
		  "status':{'containerStatuses':"
		  "[{'name':'c','resources':{'requests':{'cpu':'2'}}}]}}",
		"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'1'}}}]},'"
		"status':{'containerStatuses':"
		"[{'name':'c','resources':{'requests':{'cpu':'2'}}}]}}",
		EVENTS(BT_ACTION_UPDATE));
}
END_TEST

START_TEST(test_change__claim_name_absent_is_not_empty)
{
	check_pod("{'status':{'resourceClaimStatuses':[{'name':'r'}]}}",
		"{'status':{'resourceClaimStatuses':[{'name':'r','resourceClaimName':''}]}}",
		EVENTS(BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM));
	check_pod("{'status':{'extendedResourceClaimStatus':{'resourceClaimName':'x'}}}",
		"{'status':{}}", EVENTS(BT_ACTION_UPDATE_POD_GENERATED_RESOURCE_CLAIM));
}
END_TEST

BT_TEST_MAIN("change", test_change__edge_01_46_heartbeat, test_change__edge_01_47_cordon,
	test_change__edge_01_48_permuted_taints, test_change__edge_01_49_equal_quantities,
	test_change__edge_01_50_pod_annotation, test_change__node_events_in_order,
	test_change__conditions_are_a_map, test_change__pod_events_in_order,
	test_change__scale_down, test_change__claim_name_absent_is_not_empty)

/* SPDX-License-Identifier: Apache-2.0 */
/** PreFilter, Filter and hints; test_node_resources_fit_score.c tests scores. */
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define U "Unschedulable: "
#define UAU "UnschedulableAndUnresolvable: "
#define ALLOCATABLE \
	"'cpu':'10m','memory':'20','pods':'32','example.com/" \
	"aaa':'5','ephemeral-storage':'20','hugepages-2Mi':'5'"
#define NODE(allocatable) "{'metadata':{'name':'n'},'status':{'allocatable':{" allocatable "}}}"
#define C(requests) "{'name':'c','resources':{'requests':{" requests "}}}"
#define CM(cpu, memory) C("'cpu':'" cpu "','memory':'" memory "'")
#define POD(containers) "{'spec':{'containers':[" containers "]}}"
#define WITH_INIT(containers, inits) \
	"{'spec':{'containers':[" containers "],'initContainers':[" inits "]}}"
#define BOUND(containers) "{'spec':{'nodeName':'n','containers':[" containers "]}}"

struct filter_row {
	const char *name;
	const char *used; /* pod on the node, or NULL */
	const char *pod;
	const char *expected;
};

static void check_rows(
	const char *node, const char *args, const struct filter_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct fixture fixture;

		fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL, args);
		fixture_add_node(&fixture, node);
		if (rows[i].used != NULL) {
			fixture_add_pod(&fixture, rows[i].used);
		}
		fixture_expect(
			rows[i].name, fixture_filter(&fixture, rows[i].pod, "n"), rows[i].expected);
		fixture_finish(&fixture);
	}
}

#define CHECK(node, args, ...) \
	do { \
		static const struct filter_row rows[] = {__VA_ARGS__}; \
		check_rows((node), (args), rows, BT_ARRAY_LENGTH(rows)); \
	} while (0)

START_TEST(test_node_resources_fit__edge_05_27_full_node)
{
	CHECK(NODE(ALLOCATABLE), NULL, {"no requests", BOUND(CM("10m", "20")), "{}", "Success"},
		{"both", BOUND(CM("10m", "20")), POD(CM("1m", "1")),
			U "Insufficient cpu, Insufficient memory"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_28_init_containers)
{
	CHECK(NODE(ALLOCATABLE), NULL,
		{"init is larger", BOUND(CM("8m", "19")), WITH_INIT(CM("1m", "1"), CM("3m", "1")),
			U "Insufficient cpu"},
		{"inits run one by one", BOUND(CM("9m", "19")),
			WITH_INIT(CM("1m", "1"), CM("1m", "1") "," CM("1m", "1") "," CM("1m", "1")),
			"Success"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_29_equality_fits)
{
	CHECK(NODE(ALLOCATABLE), NULL,
		{"equal", BOUND(CM("5m", "19")), POD(CM("5m", "1")), "Success"},
		{"only cpu", BOUND(CM("9m", "5")), POD(CM("2m", "2")), U "Insufficient cpu"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_30_extended_resources)
{
#define AAA(n) C("'example.com/aaa':'" n "'")
	CHECK(NODE(ALLOCATABLE), NULL,
		{"too large", NULL, POD(AAA("10")), UAU "Insufficient example.com/aaa"},
		{"in use", BOUND(AAA("5")), POD(AAA("1")), U "Insufficient example.com/aaa"},
		{"sum of containers", BOUND(AAA("2")), POD(AAA("3") "," AAA("3")),
			UAU "Insufficient example.com/aaa"},
		{"inits", BOUND(AAA("2")), WITH_INIT("", AAA("3") "," AAA("3")), "Success"},
		{"large init", BOUND(AAA("2")), WITH_INIT("", AAA("6") "," AAA("3")),
			UAU "Insufficient example.com/aaa"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_31_unknown_resources)
{
	CHECK(NODE(ALLOCATABLE), NULL,
		{"not on the node", NULL, POD(C("'example.com/bbb':'1'")),
			UAU "Insufficient example.com/bbb"},
		{"request of 0", NULL, POD(C("'example.com/bbb':'0'")), "Success"},
		{"native with prefix", NULL, POD(C("'pod.alpha.kubernetes.io/x':'10'")),
			UAU "Insufficient pod.alpha.kubernetes.io/x"},
		{"untracked", NULL, POD(C("'storage':'10','foo':'1','pods':'90'")), "Success"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_32_ignored_resources)
{
	CHECK(NODE(ALLOCATABLE), "{'ignoredResources':['example.com/bbb']}",
		{"ignored", NULL, POD(C("'cpu':'1m','memory':'1','example.com/bbb':'1'")),
			"Success"},
		{"not ignored", NULL, POD(C("'example.com/bb':'1'")),
			UAU "Insufficient example.com/bb"});
	CHECK(NODE(ALLOCATABLE), "{'ignoredResourceGroups':['example.com']}",
		{"group", NULL, POD(C("'example.com/bbb':'1','kubernetes.io/something':'1'")),
			UAU "Insufficient kubernetes.io/something"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_33_overhead)
{
#define OVER(cpu, memory) \
	"{'spec':{'overhead':{'cpu':'" cpu "','memory':'" memory \
	"'},'containers':[" CM("1m", "1") "]}}"
	CHECK(NODE(ALLOCATABLE), NULL, {"fits", BOUND(CM("5m", "5")), OVER("3m", "13"), "Success"},
		{"does not", BOUND(CM("5m", "5")), OVER("1m", "15"), U "Insufficient memory"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_34_pod_level_requests)
{
#define LEVEL(requests, containers) \
	"{'spec':{'resources':{" requests "},'containers':[" containers "]}}"
	CHECK(NODE(ALLOCATABLE), NULL,
		{"replaces the sum", BOUND(CM("9m", "18")),
			LEVEL("'requests':{'cpu':'1m','memory':'2'}",
				CM("1m", "1") "," CM("1m", "1")),
			"Success"},
		{"and counts", BOUND(CM("9m", "19")),
			LEVEL("'requests':{'cpu':'1m','memory':'2'}",
				CM("1m", "1") "," CM("1m", "1")),
			U "Insufficient memory"},
		{"memory", BOUND(CM("1m", "10")),
			LEVEL("'requests':{'memory':'11'}", CM("1m", "1")),
			U "Insufficient memory"},
		{"huge pages", NULL, LEVEL("'requests':{'hugepages-2Mi':'10'}", CM("1m", "1")),
			UAU "Insufficient hugepages-2Mi"},
		{"empty requests", BOUND(CM("9m", "18")),
			LEVEL("'requests':{}", CM("1m", "1") "," CM("1m", "1")),
			U "Insufficient cpu"},
		{"limits only", BOUND(CM("9m", "18")),
			LEVEL("'limits':{'cpu':'1m'}", CM("1m", "1") "," CM("1m", "1")),
			U "Insufficient cpu"});
}
END_TEST

/*
 * The state has no device classes, so a class cannot provide the resource, unlike in the numbered
 * case.
 */
START_TEST(test_node_resources_fit__edge_05_35_device_plugin_resources)
{
	CHECK(NODE(ALLOCATABLE ",'example.dra/x':'5'"), NULL,
		{"in use", BOUND(C("'example.dra/x':'5'")), POD(C("'example.dra/x':'1'")),
			U "Insufficient example.dra/x"});
	CHECK(NODE(ALLOCATABLE), NULL,
		{"no class", NULL, POD(C("'example.dra/x':'1'")),
			UAU "Insufficient example.dra/x"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_36_too_many_pods)
{
	CHECK(NODE("'cpu':'10m','memory':'20','pods':'1'"), NULL,
		{"pods", BOUND(""), "{}", U "Too many pods"},
		{"cpu as well", BOUND(""), POD(CM("11m", "1")),
			UAU "Too many pods, Insufficient cpu"});
	CHECK(NODE("'cpu':'10m'"), NULL, {"no pods allowed", NULL, "{}", U "Too many pods"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_37_ephemeral_storage)
{
	CHECK(NODE(ALLOCATABLE), NULL,
		{"too large", NULL, POD(C("'ephemeral-storage':'25'")),
			UAU "Insufficient ephemeral-storage"},
		{"fits", BOUND(C("'ephemeral-storage':'10'")), POD(C("'ephemeral-storage':'10'")),
			"Success"});
}
END_TEST

#define SIDECAR(cpu) \
	"{'name':'s','restartPolicy':'Always','resources':{'requests':{'cpu':'" cpu "'}}}"
#define CPU(cpu) C("'cpu':'" cpu "'")

START_TEST(test_node_resources_fit__edge_05_38_sidecar_before_init)
{
	CHECK(NODE("'cpu':'3','pods':'1'"), NULL,
		{"3 cpu", NULL, WITH_INIT(CPU("1"), SIDECAR("1") "," CPU("2")), "Success"});
	CHECK(NODE("'cpu':'2999m','pods':'1'"), NULL,
		{"less", NULL, WITH_INIT(CPU("1"), SIDECAR("1") "," CPU("2")),
			UAU "Insufficient cpu"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_39_sidecar_after_init)
{
	CHECK(NODE("'cpu':'5','pods':'1'"), NULL,
		{"5 cpu", NULL, WITH_INIT(CPU("1"), CPU("5") "," SIDECAR("1")), "Success"});
	CHECK(NODE("'cpu':'4999m','pods':'1'"), NULL,
		{"less", NULL, WITH_INIT(CPU("1"), CPU("5") "," SIDECAR("1")),
			UAU "Insufficient cpu"});
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_40_resized_pod)
{
#define RESIZED(spec, conditions) \
	"{'spec':{'nodeName':'n','containers':[" CPU( \
		spec) "]},'status':{'conditions':[" conditions \
		      "],'containerStatuses':[{'name':'c','allocatedResources':{'cpu':'1'},'" \
		      "resources':{'requests':{'cpu':'2'}}}]}}"
#define INFEASIBLE "{'type':'PodResizePending','status':'True','reason':'Infeasible'}"
	CHECK(NODE("'cpu':'4','pods':'9'"), NULL,
		{"counts 2", RESIZED("1", ""), POD(CPU("2")), "Success"},
		{"counts no less", RESIZED("1", ""), POD(CPU("2001m")), U "Insufficient cpu"},
		{"infeasible", RESIZED("4", INFEASIBLE), POD(CPU("2")), "Success"},
		{"infeasible, no less", RESIZED("4", INFEASIBLE), POD(CPU("2001m")),
			U "Insufficient cpu"},
		{"feasible", RESIZED("4", ""), POD(CPU("1m")), U "Insufficient cpu"});
}
END_TEST

START_TEST(test_node_resources_fit__overcommitted_node_takes_pods_without_requests)
{
	CHECK(NODE("'cpu':'1','memory':'5','pods':'9'"), NULL,
		{"over", BOUND(CM("2", "1")), POD(C("'memory':'1'")), "Success"},
		{"cpu", BOUND(CM("2", "1")), POD(CPU("1m")), U "Insufficient cpu"});
}
END_TEST

START_TEST(test_node_resources_fit__scalars_in_byte_order)
{
	CHECK(NODE(ALLOCATABLE), NULL,
		{"order", NULL,
			POD(C("'z.com/a':'1','a.com/z':'1','hugepages-1Gi':'1','memory':'21'")),
			UAU "Insufficient memory, Insufficient a.com/z, Insufficient "
			    "hugepages-1Gi, Insufficient z.com/a"});
}
END_TEST

START_TEST(test_node_resources_fit__filter_without_pre_filter)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_resources_fit_plugin);
	fixture_add_node(&fixture, NODE(ALLOCATABLE));
	fixture_expect("missing", fixture_filter_alone(&fixture, "{}", "n"),
		"Error: error reading \"PreFilterNodeResourcesFit\" from cycleState: not found");
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_62_hints_of_pods)
{
#define OTHER(cpu, node) \
	"{'metadata':{'uid':'other'},'spec':{'nodeName':'" node "','containers':[" CPU(cpu) "]}}"
	struct fixture fixture;
	const struct bt_pod_info *wants_cpu;
	const struct bt_pod_info *wants_memory;

	fixture_init(&fixture, &bt_node_resources_fit_plugin);
	wants_cpu = fixture_pending(&fixture, POD(CPU("1")));
	wants_memory = fixture_pending(&fixture, POD(C("'memory':'1'")));
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_cpu, POD(CPU("1")),
				 NULL, NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_cpu, BOUND(CPU("1")),
				 NULL, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_DELETE, wants_cpu,
				 "{'status':{'nominatedNodeName':'n'}}", NULL, NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCALE_DOWN, wants_cpu,
				 OTHER("2", "n"), OTHER("1", "n"), NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCALE_DOWN,
				 wants_memory, OTHER("2", "n"), OTHER("1", "n"), NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCALE_DOWN, wants_cpu,
				 OTHER("2", ""), OTHER("1", ""), NULL),
		FIXTURE_SKIP);
	ck_assert_int_eq(fixture_hint(&fixture, "Pod", BT_ACTION_UPDATE_POD_SCALE_DOWN,
				 fixture_pending(&fixture, OTHER("2", "")), OTHER("2", ""),
				 OTHER("1", ""), NULL),
		FIXTURE_QUEUE);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__edge_05_63_hints_of_nodes)
{
	static const struct {
		const char *name;
		const char *pod;
		const char *old_node;
		const char *new_node;
		enum fixture_hint expected;
	} rows[] = {
		{"grew enough", POD(CPU("3")), NODE("'cpu':'2','pods':'1'"),
			NODE("'cpu':'4','pods':'1'"), FIXTURE_QUEUE},
		{"still too small", POD(CPU("3")), NODE("'cpu':'1','pods':'1'"),
			NODE("'cpu':'2','pods':'1'"), FIXTURE_SKIP},
		{"other resource", POD(CPU("1")), NODE("'cpu':'2','memory':'1','pods':'1'"),
			NODE("'cpu':'2','memory':'2','pods':'1'"), FIXTURE_SKIP},
		{"more pods", POD(CPU("1")), NODE("'cpu':'2','pods':'1'"),
			NODE("'cpu':'2','pods':'2'"), FIXTURE_QUEUE},
		{"scalar grew", POD(C("'example.com/a':'1'")),
			NODE("'example.com/a':'1','pods':'1'"),
			NODE("'example.com/a':'2','pods':'1'"), FIXTURE_QUEUE},
		{"added, fits", POD(CPU("1")), NULL, NODE("'cpu':'2','pods':'1'"), FIXTURE_QUEUE},
		{"added, no pods", POD(CPU("1")), NULL, NODE("'cpu':'2'"), FIXTURE_SKIP},
		{"the amount of another resource overflows", POD(C("'memory':'1'")), NULL,
			NODE("'cpu':'9223372036854776','memory':'1','pods':'1'"), FIXTURE_QUEUE},
	};
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_resources_fit_plugin);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		uint32_t action = rows[i].old_node == NULL ? BT_ACTION_ADD
							   : BT_ACTION_UPDATE_NODE_ALLOCATABLE;

		ck_assert_msg(fixture_hint(&fixture, "Node", action,
				      fixture_pending(&fixture, rows[i].pod), rows[i].old_node,
				      rows[i].new_node, NULL) == rows[i].expected,
			"%s", rows[i].name);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__node_hint_does_not_ignore_resources)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	fixture_init_with(&fixture, &bt_node_resources_fit_plugin, NULL,
		"{'ignoredResources':['example.com/bbb']}");
	pod = fixture_pending(&fixture, POD(C("'cpu':'1','example.com/bbb':'1'")));
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL,
				 NODE("'cpu':'2','pods':'1'"), NULL),
		FIXTURE_SKIP);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__device_classes_are_registered_with_their_gate)
{
	struct fixture on;
	struct fixture off;

	fixture_init(&on, &bt_node_resources_fit_plugin);
	ck_assert_int_eq(fixture_hint(&on, "DeviceClass", BT_ACTION_ADD, fixture_pending(&on, "{}"),
				 NULL, "{'metadata':{'name':'c'}}", NULL),
		FIXTURE_SKIP);
	fixture_finish(&on);
	fixture_init_with(&off, &bt_node_resources_fit_plugin, "DRAExtendedResource=false", NULL);
	ck_assert_int_eq(
		fixture_hint(&off, "DeviceClass", BT_ACTION_ADD, fixture_pending(&off, "{}"), NULL,
			"{'metadata':{'name':'c'}}", NULL),
		FIXTURE_NOT_REGISTERED);
	fixture_finish(&off);
}
END_TEST

START_TEST(test_node_resources_fit__sign_is_the_request)
{
	struct fixture fixture;

	fixture_init(&fixture, &bt_node_resources_fit_plugin);
	ck_assert_str_eq(fixture_sign(&fixture, POD(CM("1", "1") "," CM("1", "1"))),
		fixture_sign(&fixture, POD(CM("2", "2"))));
	ck_assert_str_ne(fixture_sign(&fixture, POD(CM("1", "1"))),
		fixture_sign(&fixture, POD(CM("1", "2"))));
	ck_assert_str_ne(fixture_sign(&fixture, POD(C("'example.com/a':'0'"))),
		fixture_sign(&fixture, "{}"));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_resources_fit", test_node_resources_fit__edge_05_27_full_node,
	test_node_resources_fit__edge_05_28_init_containers,
	test_node_resources_fit__edge_05_29_equality_fits,
	test_node_resources_fit__edge_05_30_extended_resources,
	test_node_resources_fit__edge_05_31_unknown_resources,
	test_node_resources_fit__edge_05_32_ignored_resources,
	test_node_resources_fit__edge_05_33_overhead,
	test_node_resources_fit__edge_05_34_pod_level_requests,
	test_node_resources_fit__edge_05_35_device_plugin_resources,
	test_node_resources_fit__edge_05_36_too_many_pods,
	test_node_resources_fit__edge_05_37_ephemeral_storage,
	test_node_resources_fit__edge_05_38_sidecar_before_init,
	test_node_resources_fit__edge_05_39_sidecar_after_init,
	test_node_resources_fit__edge_05_40_resized_pod,
	test_node_resources_fit__overcommitted_node_takes_pods_without_requests,
	test_node_resources_fit__scalars_in_byte_order,
	test_node_resources_fit__filter_without_pre_filter,
	test_node_resources_fit__edge_05_62_hints_of_pods,
	test_node_resources_fit__edge_05_63_hints_of_nodes,
	test_node_resources_fit__node_hint_does_not_ignore_resources,
	test_node_resources_fit__device_classes_are_registered_with_their_gate,
	test_node_resources_fit__sign_is_the_request)

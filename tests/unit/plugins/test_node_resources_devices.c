/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Extended resources that devices provide, in NodeResourcesFit and NodeResourcesBalancedAllocation.
 * Spec: 05 sections 3.10, 11.3, 11.7, 11.9, 11.10 and 12.
 */
#include "dra/dra.h"
#include "fixture.h"
#include "framework/cluster_event.h"
#include "test_main.h"

#define UAU "UnschedulableAndUnresolvable: "
#define X "example.dra/x"
#define NODE(name, allocatable) \
	"{'metadata':{'name':'" name \
	"'},'status':{'allocatable':{'pods':'9','cpu':'4'" allocatable "}}}"
#define POD(requests) \
	"{'spec':{'containers':[{'name':'c','resources':{'requests':{" requests "}}}]}}"
#define WITH_X \
	"{'scoringStrategy':{'type':'MostAllocated','resources':[{'name':'" X "','weight':1}]}}"

static void put_class(struct fixture *fixture, const char *selectors)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'DeviceClass','metadata':{"
			"'name':'k'},'spec':{'extendedResourceName':'" X "','selectors':[%s]}}",
			selectors)
			.data);
}

static void put_slice(struct fixture *fixture, const char *name, const char *scope)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceSlice','metadata':{"
			"'name':'%s'},'spec':{'driver':'d','pool':{'name':'%s','generation':1,"
			"'resourceSliceCount':1},%s,'devices':[{'name':'a'},{'name':'b'},{'name':"
			"'c'},{'name':'d'}]}}",
			name, name, scope)
			.data);
}

static void put_claim(struct fixture *fixture, const char *pool, const char *device)
{
	fixture_put(fixture,
		bt_arena_printf(&fixture->arena,
			"{'apiVersion':'resource.k8s.io/v1','kind':'ResourceClaim','metadata':{"
			"'name':'%s-%s'},'status':{'allocation':{'devices':{'results':[{'driver':"
			"'d','pool':'%s','device':'%s'}]}}}}",
			pool, device, pool, device)
			.data);
}

static void init(struct fixture *fixture, const struct bt_plugin_ops *ops, const char *gates,
	const char *args)
{
	fixture_init_with(fixture, ops, gates, args);
	fixture->handle.verify = true;
	fixture_add_node(fixture, NODE("n1", ""));
	fixture_add_node(fixture, NODE("n2", ""));
	fixture_add_node(fixture, NODE("five", ",'" X "':'5'"));
	fixture_add_node(fixture, NODE("zero", ",'" X "':'0'"));
}

START_TEST(test_node_resources_fit__edge_05_35_resource_of_a_class)
{
	struct fixture fixture;

	init(&fixture, &bt_node_resources_fit_plugin, NULL, NULL);
	fixture_add_pod(&fixture,
		"{'spec':{'nodeName':'five','containers':[{'name':'c','resources':{'requests':{'" X
		"':'5'}}}]}}");
	fixture_expect("no class", fixture_filter(&fixture, POD("'" X "':'1'"), "n1"),
		UAU "Insufficient " X);
	put_class(&fixture, "");
	fixture_expect("absent", fixture_filter(&fixture, POD("'" X "':'1'"), "n1"), "Success");
	fixture_expect("0", fixture_filter(&fixture, POD("'" X "':'1'"), "zero"), "Success");
	fixture_expect("in use", fixture_filter(&fixture, POD("'" X "':'1'"), "five"),
		"Unschedulable: Insufficient " X);
	fixture_expect("implicit name",
		fixture_filter(&fixture, POD("'deviceclass.resource.kubernetes.io/k':'1'"), "five"),
		"Success");
	fixture_delete(&fixture, BT_KIND_DEVICE_CLASS, "", "k");
	fixture_expect("class gone", fixture_filter(&fixture, POD("'" X "':'1'"), "n1"),
		UAU "Insufficient " X);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__without_the_gate_classes_do_not_matter)
{
	struct fixture fixture;

	init(&fixture, &bt_node_resources_fit_plugin, "DRAExtendedResource=false", WITH_X);
	put_class(&fixture, "");
	put_slice(&fixture, "p", "'nodeName':'n1'");
	fixture_expect("filter", fixture_filter(&fixture, POD("'" X "':'1'"), "n1"),
		UAU "Insufficient " X);
	ck_assert_int_eq(fixture_score(&fixture, POD("'" X "':'1'"), "n1"), 0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__devices_are_scored)
{
	struct fixture fixture;
	const char *pod = POD("'" X "':'1'");

	init(&fixture, &bt_node_resources_fit_plugin, NULL, WITH_X);
	put_slice(&fixture, "p1", "'nodeName':'n1'");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 0);
	put_class(&fixture, "");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 25); /* 1 of 4 devices */
	ck_assert_int_eq(fixture_score(&fixture, pod, "n2"), 0);
	ck_assert_int_eq(fixture_score(&fixture, pod, "five"), 20); /* by device plugin: 1 of 5 */
	put_claim(&fixture, "p1", "b");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 50);
	put_slice(&fixture, "all", "'allNodes':true");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 25); /* 2 of 8 devices */
	ck_assert_int_eq(fixture_score(&fixture, pod, "zero"), 25);
	put_claim(&fixture, "all", "a");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n2"), 50);
	put_class(&fixture, "{'cel':{'expression':'device.driver == \\\"other\\\"'}}");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 0);
	put_class(&fixture, "{'cel':{'expression':'device.nothing'}}");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 0);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_balanced_allocation__devices_are_scored)
{
	struct fixture fixture;
	const char *pod = POD("'cpu':'1','" X "':'1'");

	init(&fixture, &bt_node_resources_balanced_allocation_plugin, NULL,
		"{'resources':[{'name':'cpu'},{'name':'" X "'}]}");
	put_class(&fixture, "");
	put_slice(&fixture, "p1", "'nodeName':'n1'");
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 75); /* 1/4 and 1/4 */
	put_claim(&fixture, "p1", "a");
	/* The node's balance is 87 before (0 and 1/4) and 87 after (1/4 and 2/4). */
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 75);
	put_claim(&fixture, "p1", "b");
	put_claim(&fixture, "p1", "c");
	put_claim(&fixture, "p1", "d");
	/* The node's balance is 50 before (0 and 1) and 62 after (1/4 and 1). */
	ck_assert_int_eq(fixture_score(&fixture, pod, "n1"), 81);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_node_resources_fit__hints_and_signature_of_classes)
{
	struct fixture fixture;
	const struct bt_pod_info *pod;

	init(&fixture, &bt_node_resources_fit_plugin, NULL, NULL);
	put_class(&fixture, "");
	pod = fixture_pending(&fixture, POD("'" X "':'1'"));
	ck_assert_int_eq(
		fixture_hint(&fixture, "Node", BT_ACTION_ADD, pod, NULL, NODE("n", ""), NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_UPDATE_NODE_ALLOCATABLE, pod,
				 NODE("n", ""), NODE("n", ",'memory':'1'"), NULL),
		FIXTURE_QUEUE);
	ck_assert_int_eq(fixture_hint(&fixture, "Node", BT_ACTION_ADD,
				 fixture_pending(&fixture, POD("'example.dra/y':'1'")), NULL,
				 NODE("n", ""), NULL),
		FIXTURE_SKIP);
	fixture_expect("signature", fixture_sign(&fixture, POD("'" X "':'1'")),
		"Unschedulable: signature disabled when dra extended resources are used in the "
		"cluster");
	ck_assert_ptr_nonnull(strstr(fixture_sign(&fixture, POD("'" X "':'0'")), "="));
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("node_resources_devices", test_node_resources_fit__edge_05_35_resource_of_a_class,
	test_node_resources_fit__without_the_gate_classes_do_not_matter,
	test_node_resources_fit__devices_are_scored,
	test_node_resources_balanced_allocation__devices_are_scored,
	test_node_resources_fit__hints_and_signature_of_classes)

/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster.h"
#include "test_main.h"

#define NODES "nodes"
#define TAINTS "spec.taints"

START_TEST(test_node_lifecycle__edge_14b_15_ready_node_loses_its_taint)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-lifecycle-controller,node-agent");
	cluster_create(&cluster, NODES, "",
		"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status':"
		"'True'}]}}");
	ck_assert_str_eq(cluster_json(&cluster, NODES, "n", TAINTS),
		"[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_json(&cluster, NODES, "n", TAINTS), "");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__edge_14b_17_unschedulable)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-lifecycle-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_run(&cluster, 0);
	cluster_patch(&cluster, NODES, "n",
		"{'spec':{'unschedulable':true,'taints':[{'key':'own','effect':'NoSchedule'}]}}");
	cluster_run(&cluster, 0);
	ck_assert_ptr_nonnull(strstr(cluster_json(&cluster, NODES, "n", TAINTS),
		"'key':'node.kubernetes.io/unschedulable'"));
	ck_assert_uint_eq(cluster_events(&cluster, "NodeNotSchedulable"), 1);
	cluster_patch(&cluster, NODES, "n", "{'spec':{'unschedulable':null}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_json(&cluster, NODES, "n", TAINTS),
		"[{'key':'own','effect':'NoSchedule'}]");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__conditions_become_taints)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-lifecycle-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_run(&cluster, 0);
	cluster_patch(&cluster, "nodes/status", "n",
		"{'status':{'conditions':[{'type':'Ready','status':'False'},"
		"{'type':'DiskPressure','status':'True'},"
		"{'type':'NetworkUnavailable','status':'True'}]}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_json(&cluster, NODES, "n", TAINTS),
		"[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule','timeAdded':"
		"'2026-11-21T12:00:00Z'},{'key':'node.kubernetes.io/not-ready','effect':"
		"'NoExecute','timeAdded':'2026-11-21T12:00:00Z'},{'key':"
		"'node.kubernetes.io/disk-pressure','effect':'NoSchedule','timeAdded':"
		"'2026-11-21T12:00:00Z'},{'key':'node.kubernetes.io/network-unavailable',"
		"'effect':'NoSchedule','timeAdded':'2026-11-21T12:00:00Z'}]");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__silent_node_is_unknown)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-lifecycle-controller,node-agent");
	cluster_create(&cluster, NODES, "",
		"{'metadata':{'name':'real','annotations':{'berth.dev/simulated':'false'}},"
		"'status':{'conditions':[{'type':'Ready','status':'True'}]}}");
	cluster_create(&cluster, NODES, "",
		"{'metadata':{'name':'mute','annotations':{'berth.dev/simulated':'false'}}}");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "leases.coordination.k8s.io", "kube-node-lease/",
		"{'metadata':{'name':'real'},'spec':{'holderIdentity':'real'}}");
	cluster_run(&cluster, 40000);
	ck_assert_str_eq(cluster_json(&cluster, NODES, "mute", TAINTS), "");
	cluster_patch(&cluster, "leases.coordination.k8s.io", "kube-node-lease/real",
		"{'spec':{'renewTime':'2026-11-21T12:00:40.000000Z'}}");
	cluster_run(&cluster, 21000);
	ck_assert_str_eq(cluster_condition(&cluster, NODES, "real", "Ready"), "True/");
	ck_assert_str_eq(cluster_condition(&cluster, NODES, "mute", "Ready"),
		"Unknown/NodeStatusNeverUpdated");
	cluster_run(&cluster, 30000);
	ck_assert_str_eq(
		cluster_condition(&cluster, NODES, "real", "Ready"), "Unknown/NodeStatusUnknown");
	ck_assert_ptr_nonnull(strstr(cluster_json(&cluster, NODES, "real", TAINTS),
		"'key':'node.kubernetes.io/unreachable','effect':'NoExecute'"));
	/* A node whose agent runs in this process counts as alive even if its lease expired. */
	ck_assert_str_eq(cluster_condition(&cluster, NODES, "n", "Ready"), "True/KubeletReady");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__no_execute_evicts)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-lifecycle-controller,taint-eviction-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'now'},'spec':{'nodeName':'n','containers':[{'name':'c',"
		"'image':'i'}]}}");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'later'},'spec':{'nodeName':'n','containers':[{'name':'c',"
		"'image':'i'}],'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute',"
		"'tolerationSeconds':60}]}}");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'never'},'spec':{'nodeName':'n','containers':[{'name':'c',"
		"'image':'i'}],'tolerations':[{'key':'k','operator':'Exists'}]}}");
	cluster_run(&cluster, 5000);
	cluster_patch(
		&cluster, NODES, "n", "{'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}}");
	cluster_run(&cluster, 100);
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/now", "DisruptionTarget"),
		"True/DeletionByTaintManager");
	cluster_run(&cluster, 2000);
	ck_assert(!cluster_has(&cluster, "pods", "default/now"));
	/* A taint of another effect does not restart the tolerated seconds. */
	cluster_run(&cluster, 30000);
	cluster_patch(&cluster, NODES, "n",
		"{'spec':{'taints':[{'key':'k','effect':'NoExecute'},{'key':'x',"
		"'effect':'NoSchedule'}]}}");
	cluster_run(&cluster, 27000);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/later", "metadata.deletionTimestamp"), "");
	cluster_run(&cluster, 3000);
	ck_assert(!cluster_has(&cluster, "pods", "default/later"));
	ck_assert(cluster_has(&cluster, "pods", "default/never"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__evicted_pods_live_a_second)
{
	struct cluster cluster;
	cluster_init(&cluster, "replicaset-controller,taint-eviction-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_patch(
		&cluster, NODES, "n", "{'spec':{'taints':[{'key':'k','effect':'NoExecute'}]}}");
	cluster_create(&cluster, "replicasets.apps", "default/",
		"{'metadata':{'name':'r'},'spec':{'replicas':2,'selector':{'matchLabels':{'a':'b'}}"
		",'template':{'metadata':{'labels':{'a':'b'}},'spec':{'nodeName':'n','containers':"
		"[{'name':'c','image':'i'}]}}}}");
	cluster_run(&cluster, 0);
	uint64_t before = bt_store_rv(cluster.api.store);
	for (uint32_t i = 0; i < 1000; i++) {
		cluster_run(&cluster, 1);
	}
	/* The node refuses up to 300 pods at once; each is replaced, and evicted later. */
	ck_assert_uint_lt(bt_store_rv(cluster.api.store) - before, 4000);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_lifecycle__pods_of_deleted_nodes_go)
{
	struct cluster cluster;
	cluster_init(&cluster, "pod-garbage-collector-controller,node-agent");
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'nodeName':'n','containers':[{'name':'c','image':"
		"'i'}]}}");
	cluster_create(&cluster, "pods", "default/",
		"{'metadata':{'name':'q'},'spec':{'nodeName':'ghost','containers':[{'name':'c',"
		"'image':'i'}]}}");
	cluster_run(&cluster, 2000);
	cluster_delete(&cluster, NODES, "n");
	cluster_run(&cluster, 40000);
	ck_assert(!cluster_has(&cluster, "pods", "default/p"));
	ck_assert(!cluster_has(&cluster, "pods", "default/q"));
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("node_lifecycle", test_node_lifecycle__edge_14b_15_ready_node_loses_its_taint,
	test_node_lifecycle__edge_14b_17_unschedulable,
	test_node_lifecycle__conditions_become_taints, test_node_lifecycle__silent_node_is_unknown,
	test_node_lifecycle__no_execute_evicts, test_node_lifecycle__evicted_pods_live_a_second,
	test_node_lifecycle__pods_of_deleted_nodes_go)

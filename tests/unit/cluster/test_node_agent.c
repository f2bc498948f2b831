/* SPDX-License-Identifier: Apache-2.0 */
#include "codec/json_edit.h"
#include "test_main.h"
#include "cluster.h"

#define ONLY "node-agent,node-lifecycle-controller"

static void make_pod(
	struct cluster *cluster, const char *name, const char *metadata, const char *spec)
{
	struct bt_str body = bt_arena_printf(&cluster->api.arena,
		"{'metadata':{'name':'%s'%s},'spec':{'containers':[{'name':'c','image':'i:1'"
		"%s}}",
		name, metadata, spec);
	cluster_create(cluster, "pods", "default/", body.data);
}

START_TEST(test_node_agent__phases)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 999);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	cluster_run(&cluster, 1);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	ck_assert_str_eq(api_text(&cluster.api, "status.podIP"), "10.0.0.1");
	ck_assert_str_eq(api_json(&cluster.api, "status.podIPs"), "[{'ip':'10.0.0.1'}]");
	ck_assert_str_eq(api_text(&cluster.api, "status.hostIP"), "172.31.255.254");
	ck_assert_str_eq(api_text(&cluster.api, "status.startTime"), "2026-11-21T12:00:00Z");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "Ready"), "True/");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "PodScheduled"), "True/");
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/p", "status.qosClass"), "BestEffort");
	/* A pod without a run time keeps running. */
	cluster_run(&cluster, 100000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	/* After the deletion, the pod is removed when the stop delay has passed. */
	ck_assert_uint_eq(api_delete(&cluster.api, "pods", "default/p"), 200);
	cluster_run(&cluster, 999);
	ck_assert_str_ne(
		cluster_text(&cluster, "pods", "default/p", "metadata.deletionTimestamp"), "");
	cluster_run(&cluster, 1);
	ck_assert(!cluster_has(&cluster, "pods", "default/p"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__one_write_per_started_pod)
{
	struct cluster cluster;
	uint64_t before;
	cluster_init(&cluster, "node-agent");
	cluster_add_node(&cluster, "n");
	cluster_run(&cluster, 0);
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	before = bt_store_rv(cluster.api.store);
	cluster_run(&cluster, 1000);
	/* Four writes: the status and three events. */
	ck_assert_uint_eq(bt_store_rv(cluster.api.store) - before, 4);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__edge_14b_38_out_of_cpu)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "a", "", ",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n'");
	cluster_run(&cluster, 100);
	make_pod(&cluster, "b", "", ",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/a", "status.phase"), "Running");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/b", "status.phase"), "Failed");
	ck_assert_str_eq(api_text(&cluster.api, "status.reason"), "OutOfcpu");
	ck_assert_str_eq(api_text(&cluster.api, "status.message"),
		"Pod was rejected: Node didn't have enough resource: cpu, requested: 3000, used: "
		"3000, capacity: 4000");
	/* The resources of the first pod are free again when the pod is gone. */
	ck_assert_uint_eq(api_delete(&cluster.api, "pods", "default/a"), 200);
	cluster_run(&cluster, 2000);
	make_pod(&cluster, "c", "", ",'resources':{'requests':{'cpu':'4'}}}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/c", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__node_affinity)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "a", "", "}],'nodeName':'n','nodeSelector':{'disk':'ssd'}");
	make_pod(&cluster, "b", "",
		"}],'nodeName':'n','nodeSelector':{'kubernetes.io/hostname':'n'}");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/a", "status.reason"), "NodeAffinity");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/b", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__taints_that_keep_pods_away)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "before", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 1000);
	cluster_patch(&cluster, "nodes", "n",
		"{'spec':{'taints':[{'key':'a','effect':'NoSchedule'},"
		"{'key':'k','value':'v','effect':'NoExecute'}]}}");
	make_pod(&cluster, "a", "", "}],'nodeName':'n'");
	make_pod(&cluster, "b", "",
		"}],'nodeName':'n','tolerations':[{'key':'k','operator':'Exists'}]");
	make_pod(&cluster, "c", "",
		"}],'nodeName':'n','tolerations':[{'key':'k','value':'w','effect':'NoExecute'}]");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/a", "status.phase"), "Failed");
	ck_assert_str_eq(api_text(&cluster.api, "status.reason"), "TaintToleration");
	ck_assert_str_eq(api_text(&cluster.api, "status.message"),
		"Pod was rejected: Predicate TaintToleration failed: node(s) had taints that the "
		"pod didn't tolerate");
	/* The agent ignores NoSchedule taints for a pod that was assigned by hand. */
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/b", "status.phase"), "Running");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/c", "status.phase"), "Failed");
	/* The agent does not end pods that run already. */
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/before", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__edge_14b_39_deleted_before_it_started)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 500);
	ck_assert_uint_eq(api_delete(&cluster.api, "pods", "default/p"), 200);
	ck_assert(cluster_has(&cluster, "pods", "default/p"));
	cluster_run(&cluster, 0);
	ck_assert(!cluster_has(&cluster, "pods", "default/p"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__edge_14b_44_completes)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "never", ",'annotations':{'berth.dev/run-time':'2s'}",
		",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n','restartPolicy':'Never'");
	make_pod(&cluster, "bare", "", "}],'nodeName':'n','restartPolicy':'Never'");
	make_pod(&cluster, "bad",
		",'annotations':{'berth.dev/run-time':'2s','berth.dev/exit-code':'1'}",
		"}],'nodeName':'n','restartPolicy':'Never'");
	make_pod(&cluster, "again",
		",'annotations':{'berth.dev/run-time':'2s','berth.dev/exit-code':'1'}",
		"}],'nodeName':'n','restartPolicy':'OnFailure'");
	make_pod(&cluster, "job",
		",'ownerReferences':[{'apiVersion':'batch/v1','kind':'Job','name':'j','uid':'u',"
		"'controller':true}]",
		"}],'nodeName':'n','restartPolicy':'Never'");
	cluster_run(&cluster, 2999);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/never", "status.phase"), "Running");
	cluster_run(&cluster, 1);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/never", "status.phase"), "Succeeded");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/never", "Ready"),
		"False/PodCompleted");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/bad", "status.phase"), "Failed");
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/again", "status.phase"), "Running");
	ck_assert(strstr(api_json(&cluster.api, "status.containerStatuses"), "'restartCount':1") !=
		NULL);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/bare", "status.phase"), "Running");
	cluster_run(&cluster, 3000);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/job", "status.phase"), "Succeeded");
	/* The resources of the finished pod are free. */
	make_pod(&cluster, "next", "", ",'resources':{'requests':{'cpu':'4'}}}],'nodeName':'n'");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/next", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__reports_annotations_with_wrong_values)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "right",
		",'annotations':{'berth.dev/run-time':'2s','berth.dev/exit-code':'0',"
		"'berth.dev/cpu-usage':'50%','berth.dev/memory-usage':'1Gi..2Gi/1h'}",
		"}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_uint_eq(cluster_events(&cluster, "IgnoredAnnotation"), 0);
	make_pod(&cluster, "wrong",
		",'annotations':{'berth.dev/run-time':'2','berth.dev/exit-code':'256',"
		"'berth.dev/cpu-usage':'half','berth.dev/memory-usage':'x'}",
		"}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_uint_eq(cluster_events(&cluster, "IgnoredAnnotation"), 4);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__waits_for_claims)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	cluster_create(&cluster, "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],"
		"'resources':{'requests':{'storage':'1Gi'}}}}");
	make_pod(&cluster, "p", "",
		"}],'nodeName':'n','volumes':[{'name':'v','persistentVolumeClaim':{'claimName':"
		"'c'}}]");
	cluster_run(&cluster, 5000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	ck_assert_uint_eq(api_patch(&cluster.api, BT_PATCH_MERGE, "persistentvolumeclaims/status",
				  "default/c", "{'status':{'phase':'Bound'}}"),
		200);
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__readiness_gates)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", "}],'nodeName':'n','readinessGates':[{'conditionType':'x/y'}]");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "Ready"),
		"False/ReadinessGatesNotReady");
	ck_assert_str_eq(
		cluster_condition(&cluster, "pods", "default/p", "ContainersReady"), "True/");
	ck_assert_uint_eq(api_patch(&cluster.api, BT_PATCH_STRATEGIC, "pods/status", "default/p",
				  "{'status':{'conditions':[{'type':'x/y','status':'True'}]}}"),
		200);
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "Ready"), "True/");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__finalizers_see_how_it_ended)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", ",'finalizers':['a/b']", "}],'nodeName':'n'");
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(api_delete(&cluster.api, "pods", "default/p"), 200);
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Failed");
	ck_assert_int_eq(api_int(&cluster.api, "metadata.deletionGracePeriodSeconds"), 0);
	ck_assert_uint_eq(api_patch(&cluster.api, BT_PATCH_MERGE, "pods", "default/p",
				  "{'metadata':{'finalizers':null}}"),
		200);
	ck_assert(!cluster_has(&cluster, "pods", "default/p"));
	cluster_finish(&cluster);
}
END_TEST

/**
 * A deleted pod with finalizers that has never run becomes Failed; otherwise controllers that count
 * finished pods would wait for ever.
 */
START_TEST(test_node_agent__finalizers_of_what_never_ran)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", ",'finalizers':['a/b']", "}],'nodeName':'n'");
	cluster_run(&cluster, 500);
	ck_assert_uint_eq(api_delete(&cluster.api, "pods", "default/p"), 200);
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Failed");
	ck_assert_int_eq(api_int(&cluster.api, "metadata.deletionGracePeriodSeconds"), 0);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__not_simulated)
{
	struct cluster cluster;
	cluster_init(&cluster, "node-agent");
	cluster_create(&cluster, "nodes", "",
		"{'metadata':{'name':'n','annotations':{'berth.dev/simulated':'false'}},"
		"'status':{'capacity':{'cpu':'4','pods':'10'}}}");
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 5000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	ck_assert_str_eq(cluster_condition(&cluster, "nodes", "n", "Ready"), "");
	ck_assert(!cluster_has(&cluster, "leases.coordination.k8s.io", "kube-node-lease/n"));
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__adds_nodes)
{
	static const struct bt_node_template template_ = {3, 2, "8", "32Gi", "110", "node-"};
	struct cluster cluster;
	struct berth_error err = {0};
	cluster_init(&cluster, ONLY);
	cluster_run(&cluster, 0);
	ck_assert_int_eq(bt_controllers_add_nodes(cluster.controllers, &template_, &err), 0);
	ck_assert_int_eq(bt_controllers_add_nodes(cluster.controllers, &template_, &err), 0);
	cluster_run(&cluster, 0);
	ck_assert_str_eq(
		cluster_condition(&cluster, "nodes", "node-2", "Ready"), "True/KubeletReady");
	ck_assert_str_eq(cluster_json(&cluster, "nodes", "node-2", "metadata.labels"),
		"{'kubernetes.io/arch':'amd64','kubernetes.io/hostname':'node-2',"
		"'kubernetes.io/os':'linux','beta.kubernetes.io/arch':'amd64',"
		"'beta.kubernetes.io/os':'linux','topology.kubernetes.io/region':'region-1',"
		"'topology.kubernetes.io/zone':'zone-a'}");
	ck_assert_str_eq(
		cluster_text(&cluster, "nodes", "node-1", "status.nodeInfo.kubeletVersion"),
		"v1.36.2");
	ck_assert_str_eq(cluster_text(&cluster, "nodes", "node-1", "spec.podCIDR"), "10.0.1.0/24");
	ck_assert_str_eq(cluster_json(&cluster, "nodes", "node-1", "spec.taints"), "");
	ck_assert_str_eq(cluster_text(&cluster, "leases.coordination.k8s.io",
				 "kube-node-lease/node-1", "spec.holderIdentity"),
		"node-1");
	make_pod(&cluster, "p", "", "}],'nodeName':'node-1'");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.podIP"), "10.0.1.1");
	ck_assert_str_eq(api_text(&cluster.api, "status.hostIP"), "172.16.0.2");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__renews_leases)
{
	static const struct bt_node_template template_ = {300, 0, "8", "32Gi", "110", "node-"};
	struct cluster cluster;
	uint64_t before;
	cluster_init(&cluster, "node-agent");
	cluster_run(&cluster, 0);
	ck_assert_int_eq(bt_controllers_add_nodes(cluster.controllers, &template_, NULL), 0);
	cluster_run(&cluster, 100);
	before = bt_store_rv(cluster.api.store);
	cluster_run(&cluster, 30000);
	/*
	 * The agent renews ten leases per second: each of the 300 leases was renewed once in 30 s.
	 */
	ck_assert_uint_eq(bt_store_rv(cluster.api.store) - before, 300);
	ck_assert_str_ge(cluster_text(&cluster, "leases.coordination.k8s.io",
				 "kube-node-lease/node-299", "spec.renewTime"),
		"2026-11-21T12:00:00.100000Z");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__restart_takes_over)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", ",'annotations':{'berth.dev/run-time':'10s'}",
		",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n','restartPolicy':'Never'");
	cluster_patch(&cluster, "pods/status", "default/p",
		"{'status':{'phase':'Running','podIP':'10.0.0.1',"
		"'startTime':'2026-11-21T12:00:00Z'}}");
	cluster_run(&cluster, 100);
	make_pod(&cluster, "q", "", ",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/q", "status.reason"), "OutOfcpu");
	make_pod(&cluster, "r", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 2000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/r", "status.podIP"), "10.0.0.2");
	cluster_run(&cluster, 8000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Succeeded");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__nodes_come_and_go)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	for (uint32_t i = 0; i < 20; i++) {
		cluster_add_node(&cluster, "n");
		make_pod(&cluster, "p", "", "}],'nodeName':'n'");
		make_pod(&cluster, "q", "", "}],'nodeName':'ghost'");
		cluster_run(&cluster, 1000);
		ck_assert_str_eq(
			cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
		ck_assert_str_eq(
			cluster_text(&cluster, "pods", "default/q", "status.phase"), "Pending");
		cluster_delete(&cluster, "nodes", "n");
		cluster_run(&cluster, 100);
		cluster.api.request.grace_period_seconds = 0;
		cluster_delete(&cluster, "pods", "default/p");
		cluster.api.request.grace_period_seconds = 0;
		cluster_delete(&cluster, "pods", "default/q");
		cluster_run(&cluster, 100);
	}
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__node_comes_after_its_pod)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	cluster_run(&cluster, 5000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	cluster_add_node(&cluster, "n");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__every_node_has_its_subnet)
{
	static const struct bt_node_template template_ = {3, 0, "8", "32Gi", "110", "node-"};
	static const struct {
		const char *name;
		const char *spec;
		const char *expected;
	} rows[] = {
		{"given", "{'podCIDR':'10.0.1.0/24'}", "10.0.1.0/24"},
		{"given-again", "{'podCIDR':'10.0.1.0/24'}", "10.0.1.0/24"},
		{"wide", "{'podCIDR':'10.0.2.0/23'}", "10.0.2.0/23"},
		{"small", "{'podCIDR':'10.0.5.128/26'}", "10.0.5.128/26"},
		{"elsewhere", "{'podCIDR':'192.168.4.0/24'}", "192.168.4.0/24"},
		{"six", "{'podCIDR':'fd00::/64'}", "fd00::/64"},
	};
	static const char *const expected[] = {"10.0.0.0/24", "10.0.4.0/24", "10.0.6.0/24"};
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str body = bt_arena_printf(&cluster.api.arena,
			"{'metadata':{'name':'%s'},'spec':%s,'status':{'capacity':{'pods':'9'}}}",
			rows[i].name, rows[i].spec);
		cluster_create(&cluster, "nodes", "", body.data);
	}
	cluster_run(&cluster, 0);
	ck_assert_int_eq(bt_controllers_add_nodes(cluster.controllers, &template_, NULL), 0);
	cluster_run(&cluster, 0);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_str_eq(cluster_text(&cluster, "nodes", rows[i].name, "spec.podCIDR"),
			rows[i].expected);
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(expected); i++) {
		struct bt_str name = bt_arena_printf(&cluster.api.arena, "node-%u", i);
		ck_assert_str_eq(
			cluster_text(&cluster, "nodes", name.data, "spec.podCIDR"), expected[i]);
	}
	ck_assert_str_eq(api_json(&cluster.api, "spec.podCIDRs"), "['10.0.6.0/24']");
	make_pod(&cluster, "p", "", "}],'nodeName':'wide'");
	make_pod(&cluster, "q", "", "}],'nodeName':'six'");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.podIP"), "10.0.2.1");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/q", "status.podIP"), "10.0.7.1");
	/*
	 * Two nodes have the same address range, which stays in use when one of the nodes is
	 * deleted.
	 */
	cluster_delete(&cluster, "nodes", "given");
	cluster_run(&cluster, 0);
	cluster_add_node(&cluster, "late");
	cluster_run(&cluster, 0);
	/* 10.0.7.0/24 is in use by the pod of node "six". */
	ck_assert_str_eq(cluster_text(&cluster, "nodes", "late", "spec.podCIDR"), "10.0.8.0/24");
	cluster_delete(&cluster, "nodes", "given-again");
	cluster_delete(&cluster, "nodes", "node-0");
	cluster_add_node(&cluster, "later");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(cluster_text(&cluster, "nodes", "later", "spec.podCIDR"), "10.0.9.0/24");
	cluster_finish(&cluster);
}
END_TEST

/** The input has only a ready node and a running pod; the agent adds the missing fields. */
START_TEST(test_node_agent__completes_what_files_say)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_create(&cluster, "nodes", "",
		"{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'4','pods':'10'},"
		"'conditions':[{'type':'Ready','status':'True'},{'type':'Odd','status':'True'}],"
		"'nodeInfo':{'kubeletVersion':'v1.30.0'}}}");
	make_pod(&cluster, "p", "", "}],'nodeName':'n'");
	make_pod(&cluster, "q", "", "}],'nodeName':'n'");
	cluster_patch(&cluster, "pods/status", "default/p", "{'status':{'phase':'Running'}}");
	cluster_patch(&cluster, "pods/status", "default/q",
		"{'status':{'phase':'Running','podIP':'10.0.0.1','conditions':[{'type':"
		"'Ready','status':'False','reason':'Sick'}],'startTime':'2026-11-21T11:00:00Z'}}");
	cluster_run(&cluster, 0);
	ck_assert_str_eq(
		cluster_text(&cluster, "nodes", "n", "status.nodeInfo.kubeletVersion"), "v1.30.0");
	ck_assert_str_eq(api_text(&cluster.api, "status.nodeInfo.operatingSystem"), "linux");
	ck_assert(strstr(api_json(&cluster.api, "status.addresses"), "InternalIP") != NULL);
	ck_assert_str_eq(cluster_condition(&cluster, "nodes", "n", "Ready"), "True/");
	ck_assert_str_eq(cluster_condition(&cluster, "nodes", "n", "Odd"), "True/");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/p", "Ready"), "True/");
	/* The other pod has the first address. */
	ck_assert_str_eq(api_text(&cluster.api, "status.podIP"), "10.0.0.2");
	ck_assert_str_eq(api_text(&cluster.api, "status.startTime"), "2026-11-21T12:00:00Z");
	ck_assert(
		strstr(api_json(&cluster.api, "status.containerStatuses"), "'ready':true") != NULL);
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/q", "Ready"), "False/Sick");
	ck_assert_str_eq(cluster_condition(&cluster, "pods", "default/q", "Initialized"), "True/");
	ck_assert_str_eq(api_text(&cluster.api, "status.podIP"), "10.0.0.1");
	ck_assert_str_eq(api_text(&cluster.api, "status.startTime"), "2026-11-21T11:00:00Z");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__active_deadline)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", "}],'nodeName':'n','activeDeadlineSeconds':5");
	make_pod(&cluster, "quick", ",'annotations':{'berth.dev/run-time':'2s'}",
		"}],'nodeName':'n','restartPolicy':'Never','activeDeadlineSeconds':5");
	make_pod(&cluster, "later", "", "}],'nodeName':'n'");
	make_pod(&cluster, "again",
		",'annotations':{'berth.dev/run-time':'2s','berth.dev/exit-code':'1'}",
		"}],'nodeName':'n','restartPolicy':'OnFailure','activeDeadlineSeconds':5");
	cluster_run(&cluster, 4999);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/quick", "status.phase"), "Succeeded");
	cluster_run(&cluster, 1);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Failed");
	ck_assert_str_eq(api_text(&cluster.api, "status.reason"), "DeadlineExceeded");
	ck_assert_str_eq(api_text(&cluster.api, "status.message"),
		"Pod was active on the node longer than the specified deadline");
	ck_assert_str_eq(
		cluster_condition(&cluster, "pods", "default/p", "Ready"), "False/PodFailed");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/again", "status.reason"),
		"DeadlineExceeded");
	ck_assert_uint_eq(cluster_events(&cluster, "DeadlineExceeded"), 2);
	/* A deadline that is set later counts from the start time of the pod, too. */
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/later", "status.phase"), "Running");
	cluster_patch(&cluster, "pods", "default/later", "{'spec':{'activeDeadlineSeconds':6}}");
	cluster_run(&cluster, 999);
	ck_assert_str_eq(
		cluster_text(&cluster, "pods", "default/later", "status.phase"), "Running");
	cluster_run(&cluster, 1);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/later", "status.reason"),
		"DeadlineExceeded");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__deadline_before_the_start)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "",
		"}],'nodeName':'n','activeDeadlineSeconds':5,'volumes':[{'name':'v',"
		"'persistentVolumeClaim':{'claimName':'missing'}}]");
	make_pod(&cluster, "later", "",
		"}],'nodeName':'n','volumes':[{'name':'v',"
		"'persistentVolumeClaim':{'claimName':'missing'}}]");
	cluster_run(&cluster, 4999);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Pending");
	cluster_run(&cluster, 1);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Failed");
	ck_assert_str_eq(api_text(&cluster.api, "status.reason"), "DeadlineExceeded");
	ck_assert_str_eq(api_text(&cluster.api, "status.startTime"), "2026-11-21T12:00:00Z");
	ck_assert_str_eq(api_json(&cluster.api, "status.containerStatuses"), "");
	cluster_patch(&cluster, "pods", "default/later", "{'spec':{'activeDeadlineSeconds':6}}");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/later", "status.reason"),
		"DeadlineExceeded");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__host_ports_of_pods_that_start)
{
	static const char spec[] = ",'ports':[{'containerPort':80,'hostPort':80}]}],'nodeName':'n'";
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", spec);
	make_pod(&cluster, "q", "", spec);
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/q", "status.phase"), "Failed");
	ck_assert_str_eq(api_text(&cluster.api, "status.reason"), "NodePorts");
	/* The port is free again once the pod is gone. */
	cluster_delete(&cluster, "pods", "default/p");
	cluster_run(&cluster, 1000);
	make_pod(&cluster, "r", "", spec);
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/r", "status.phase"), "Running");
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__init_containers_end_before_the_others_start)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p",
		",'annotations':{'berth.dev/run-time':'4s','berth.dev/exit-code':'1'}",
		"}],'nodeName':'n','restartPolicy':'Never','initContainers':[{'name':'i',"
		"'image':'i'},{'name':'s','image':'i','restartPolicy':'Always'}]");
	make_pod(&cluster, "again",
		",'annotations':{'berth.dev/run-time':'4s','berth.dev/exit-code':'1'}",
		"}],'nodeName':'n','restartPolicy':'OnFailure','initContainers':[{'name':'i',"
		"'image':'i'},{'name':'s','image':'i','restartPolicy':'Always'}]");
	cluster_run(&cluster, 1000);
	cluster_run(&cluster, 4000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Failed");
	const char *text = api_json(&cluster.api, "status.initContainerStatuses");
	ck_assert_msg(strstr(text,
			      "'startedAt':'2026-11-21T12:00:01Z',"
			      "'finishedAt':'2026-11-21T12:00:01Z'") != NULL,
		"%s", text);
	ck_assert_msg(strstr(text,
			      "'startedAt':'2026-11-21T12:00:01Z',"
			      "'finishedAt':'2026-11-21T12:00:05Z'") != NULL,
		"%s", text);
	/* A restart of the containers does not restart the sidecar. */
	text = cluster_json(&cluster, "pods", "default/again", "status.containerStatuses");
	ck_assert_msg(strstr(text, "'restartCount':1") != NULL, "%s", text);
	text = api_json(&cluster.api, "status.initContainerStatuses");
	ck_assert_msg(
		strstr(text, "'running':{'startedAt':'2026-11-21T12:00:01Z'}") != NULL, "%s", text);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__waiting_containers_have_not_run)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "",
		"}],'nodeName':'n','initContainers':[{'name':'s','image':'i',"
		"'restartPolicy':'Always'}]");
	cluster_patch(&cluster, "pods/status", "default/p",
		"{'status':{'containerStatuses':[{'name':'c','image':'i:1','state':{'waiting':{"
		"'reason':'PodInitializing'}}}],'initContainerStatuses':[{'name':'s','image':'i',"
		"'state':{'waiting':{'reason':'PodInitializing'}}}]}}");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Running");
	const char *text = api_json(&cluster.api, "status");
	ck_assert_msg(strstr(text, "'restartCount':1") == NULL, "%s", text);
	ck_assert_msg(strstr(text, "'waiting'") == NULL, "%s", text);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__ephemeral_containers_start)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", ",'annotations':{'berth.dev/run-time':'9s'}",
		"}],'nodeName':'n','restartPolicy':'Never'");
	cluster_run(&cluster, 1000);
	cluster_patch(&cluster, "pods/ephemeralcontainers", "default/p",
		"{'spec':{'ephemeralContainers':[{'name':'e','image':'i'}]}}");
	cluster_run(&cluster, 1000);
	const char *text =
		cluster_json(&cluster, "pods", "default/p", "status.ephemeralContainerStatuses");
	ck_assert_msg(
		strstr(text, "'running':{'startedAt':'2026-11-21T12:00:01Z'}") != NULL, "%s", text);
	ck_assert_int_eq(api_int(&cluster.api, "status.observedGeneration"), 2);
	/* The container is not started again. */
	uint64_t before = bt_store_rv(cluster.api.store);
	cluster_patch(&cluster, "pods", "default/p", "{'spec':{'activeDeadlineSeconds':100}}");
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(bt_store_rv(cluster.api.store), before + 2);
	ck_assert_str_eq(
		cluster_json(&cluster, "pods", "default/p", "status.ephemeralContainerStatuses"),
		text);
	cluster_run(&cluster, 7000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/p", "status.phase"), "Succeeded");
	text = api_json(&cluster.api, "status.ephemeralContainerStatuses");
	ck_assert_msg(strstr(text, "'terminated':{'exitCode':0") != NULL, "%s", text);
	cluster_finish(&cluster);
}
END_TEST

START_TEST(test_node_agent__resized_pod_gives_room)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	make_pod(&cluster, "p", "", ",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n'");
	cluster_run(&cluster, 1000);
	cluster_patch(&cluster, "pods/resize", "default/p",
		"{'spec':{'containers':[{'name':'c','image':'i:1','resources':{'requests':{'cpu':"
		"'1'}}}]}}");
	cluster_run(&cluster, 0);
	make_pod(&cluster, "q", "", ",'resources':{'requests':{'cpu':'3'}}}],'nodeName':'n'");
	make_pod(&cluster, "r", "", ",'resources':{'requests':{'cpu':'1'}}}],'nodeName':'n'");
	cluster_run(&cluster, 1000);
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/q", "status.phase"), "Running");
	ck_assert_str_eq(cluster_text(&cluster, "pods", "default/r", "status.reason"), "OutOfcpu");
	cluster_finish(&cluster);
}
END_TEST

static uint32_t count_refused(struct cluster *cluster, uint32_t pods)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < pods; i++) {
		struct bt_str key = bt_arena_printf(&cluster->api.arena, "default/p%u", i);
		count += strcmp(cluster_text(cluster, "pods", key.data, "status.reason"),
				 "OutOfcpu") == 0;
	}
	return count;
}

START_TEST(test_node_agent__refuses_so_many_pods_per_second)
{
	struct cluster cluster;
	cluster_init(&cluster, ONLY);
	cluster_add_node(&cluster, "n");
	for (uint32_t i = 0; i < 340; i++) {
		struct bt_str name = bt_arena_printf(&cluster.api.arena, "p%u", i);
		make_pod(&cluster, name.data, "",
			",'resources':{'requests':{'cpu':'5'}}}],'nodeName':'n'");
	}
	cluster_run(&cluster, 0);
	ck_assert_uint_eq(count_refused(&cluster, 340), 300);
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(count_refused(&cluster, 340), 330);
	cluster_run(&cluster, 1000);
	ck_assert_uint_eq(count_refused(&cluster, 340), 340);
	cluster_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("node_agent", test_node_agent__active_deadline,
	test_node_agent__refuses_so_many_pods_per_second,
	test_node_agent__ephemeral_containers_start, test_node_agent__resized_pod_gives_room,
	test_node_agent__waiting_containers_have_not_run,
	test_node_agent__deadline_before_the_start, test_node_agent__host_ports_of_pods_that_start,
	test_node_agent__init_containers_end_before_the_others_start, test_node_agent__phases,
	test_node_agent__one_write_per_started_pod, test_node_agent__edge_14b_38_out_of_cpu,
	test_node_agent__node_affinity, test_node_agent__taints_that_keep_pods_away,
	test_node_agent__edge_14b_39_deleted_before_it_started,
	test_node_agent__edge_14b_44_completes,
	test_node_agent__reports_annotations_with_wrong_values, test_node_agent__waits_for_claims,
	test_node_agent__readiness_gates, test_node_agent__finalizers_see_how_it_ended,
	test_node_agent__finalizers_of_what_never_ran, test_node_agent__not_simulated,
	test_node_agent__adds_nodes, test_node_agent__renews_leases,
	test_node_agent__restart_takes_over, test_node_agent__nodes_come_and_go,
	test_node_agent__node_comes_after_its_pod, test_node_agent__completes_what_files_say,
	test_node_agent__every_node_has_its_subnet)

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain/explain_report.h"
#include "cli_test.h"

START_TEST(test_pod_reference__forms)
{
	static const struct {
		const char *argument;
		const char *flag;
		enum bt_kind kind;
		const char *namespace_;
		const char *name;
		const char *other;
	} rows[] = {
		{"web", NULL, BT_KIND_POD, "", "web", ""},
		{"web", "shop", BT_KIND_POD, "shop", "web", ""},
		{"shop/web", NULL, BT_KIND_POD, "shop", "web", ""},
		{"shop/web", "shop", BT_KIND_POD, "shop", "web", ""},
		{"deploy/web", NULL, BT_KIND_DEPLOYMENT, "", "web", "deploy"},
		{"deploy/web", "shop", BT_KIND_DEPLOYMENT, "shop", "web", ""},
		{"Deployment/shop/web", NULL, BT_KIND_DEPLOYMENT, "shop", "web", ""},
		{"sts/shop/web", "shop", BT_KIND_STATEFUL_SET, "shop", "web", ""},
		{"daemonsets.apps/web", NULL, BT_KIND_DAEMON_SET, "", "web", "daemonsets.apps"},
		{"rs/web", NULL, BT_KIND_REPLICA_SET, "", "web", "rs"},
		{"RC/web", NULL, BT_KIND_REPLICATION_CONTROLLER, "", "web", "RC"},
		{"job.batch/web", NULL, BT_KIND_JOB, "", "web", "job.batch"},
		{"cj/web", NULL, BT_KIND_CRON_JOB, "", "web", "cj"},
		{"po/web", NULL, BT_KIND_POD, "", "web", "po"},
		{"pod/po/web", NULL, BT_KIND_POD, "po", "web", ""},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_pod_reference got;
		int result = bt_pod_reference_parse(rows[i].argument, rows[i].flag, &got, &err);
		ck_assert_msg(result == 0, "%s: %s", rows[i].argument, berth_error_message(&err));
		ck_assert_msg(got.kind == rows[i].kind, "%s", rows[i].argument);
		ck_assert_msg(
			bt_str_equal_c(got.namespace_, rows[i].namespace_), "%s", rows[i].argument);
		ck_assert_msg(bt_str_equal_c(got.name, rows[i].name), "%s", rows[i].argument);
		ck_assert_msg(
			bt_str_equal_c(got.other_namespace, rows[i].other), "%s", rows[i].argument);
	}
}
END_TEST

START_TEST(test_pod_reference__what_is_wrong)
{
	static const char forms[] = "write NAME, NAMESPACE/NAME, KIND/NAME or KIND/NAMESPACE/NAME";
	static const struct {
		const char *argument;
		const char *flag;
		const char *part;
	} rows[] = {
		{"", NULL, forms},
		{"/", NULL, forms},
		{"shop/", NULL, forms},
		{"/web", NULL, forms},
		{"deploy//web", NULL, forms},
		{"deploy/shop/web/0", NULL, forms},
		{"a\x1b/b/c/d", NULL, "a\\x1b/b/c/d: write"},
		{"shop/web", "other", "shop/web: names another namespace than --namespace does"},
		{"sts/shop/web", "other", "another namespace"},
		{"depoly/shop/web", NULL, "depoly is no kind that has pods; did you mean deploy?"},
		{"secret/shop/web", NULL, "secret is no kind that has pods: use pod, deployment"},
		{"\n/shop/web", NULL, "\\n is no kind that has pods"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_pod_reference got;
		int result = bt_pod_reference_parse(rows[i].argument, rows[i].flag, &got, &err);
		ck_assert_msg(result == BERTH_ERR_INVALID, "%s", rows[i].argument);
		ck_assert_msg(strstr(berth_error_message(&err), rows[i].part) != NULL, "%s: %s",
			rows[i].argument, berth_error_message(&err));
		berth_error_finish(&err);
	}
}
END_TEST

/** --- choice of the pod to explain --- */

static const char cluster_text[] =
	"---\n"
	"{kind: Node, apiVersion: v1, metadata: {name: n1}, status: {capacity: {pods: 9}}}\n"
	"---\n"
	"{kind: Pod, apiVersion: v1, metadata: {name: late, namespace: a, ownerReferences: "
	"[{kind: ReplicaSet, name: web-1, controller: true}]}}\n"
	"---\n"
	"{kind: Pod, apiVersion: v1, metadata: {name: early, namespace: a, creationTimestamp: "
	"\"2026-01-01T00:00:00Z\", ownerReferences: [{kind: ReplicaSet, name: web-1, controller: "
	"true}]}}\n"
	"---\n"
	"{kind: Pod, apiVersion: v1, metadata: {name: runs, namespace: a, ownerReferences: "
	"[{kind: ReplicaSet, name: web-1, controller: true}]}, spec: {nodeName: n1}}\n"
	"---\n"
	"{kind: ReplicaSet, apiVersion: apps/v1, metadata: {name: web-1, namespace: a, "
	"ownerReferences: [{kind: Deployment, name: web, controller: true}]}, spec: {replicas: "
	"3, template: {spec: {containers: [{name: c}]}}}}\n"
	"---\n"
	"{kind: Pod, apiVersion: v1, metadata: {name: runs, namespace: b}, spec: {nodeName: n1}}\n"
	"---\n"
	"{kind: Pod, apiVersion: v1, metadata: {name: over, namespace: b}, spec: {nodeName: n1}, "
	"status: {phase: Failed}}\n";

struct loaded {
	struct bt_manifests cluster;
	struct bt_simulation simulation;
};

static void load(struct loaded *loaded)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_setup setup = BT_SETUP_INIT;
	bt_manifests_init(&loaded->cluster);
	read_text(&loaded->cluster, cluster_text);
	ck_assert_int_eq(bt_simulation_init(&loaded->simulation, &loaded->cluster,
				 bt_setup_scheduler, &setup, &err),
		0);
	loaded->simulation.keep_bound = true;
	int result = bt_simulation_load(&loaded->simulation, &err);
	ck_assert_msg(result == 0, "%s", berth_error_message(&err));
}

static void unload(struct loaded *loaded)
{
	bt_simulation_finish(&loaded->simulation);
	bt_manifests_finish(&loaded->cluster);
}

/** Returns the pod that is chosen, such as "a/early", or the error message. */
static const char *choose(struct loaded *loaded, const char *argument, struct bt_strbuf *out)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_pod_reference reference;
	struct bt_pod_choice choice;
	bt_strbuf_reset(out);
	if (argument != NULL) {
		ck_assert_int_eq(bt_pod_reference_parse(argument, NULL, &reference, &err), 0);
	}
	if (bt_pod_choose(&loaded->simulation, argument != NULL ? &reference : NULL, NULL, &choice,
		    &err) < 0) {
		bt_strbuf_append_c(out, berth_error_message(&err));
		berth_error_finish(&err);
	} else if (choice.pending != UINT32_MAX) {
		bt_object_ref(&loaded->simulation.pods.items[choice.pending].pod->metadata, out);
	} else {
		const struct bt_manifests_object *object =
			&loaded->cluster.objects.items[choice.object];
		bt_strbuf_printf(
			out, "%.*s/%.*s", BT_STR_ARG(object->namespace_), BT_STR_ARG(object->name));
	}
	return bt_strbuf_c(out);
}

START_TEST(test_pod_choose__rows)
{
	static const struct {
		const char *argument;
		const char *chosen;
	} rows[] = {
		{"late", "a/late"},
		{"a/runs", "a/runs"},
		{"b/runs", "b/runs"},
		{"deploy/web", "a/early"},
		{"rs/a/web-1", "a/early"},
		{"runs", "pods named runs are in several namespaces, say which with -n: a, b"},
		{"over", "Pod b/over has failed: a finished pod is not scheduled again"},
		{"b/early",
			"there is no pod b/early among the objects read (2 pods, 0 of them "
			"pending, in namespace b); did you mean a/early?"},
		{"sts/web",
			"there is no StatefulSet web among the objects read (5 pods, 2 of them "
			"pending)"},
		{NULL, "2 pods wait for a node, name one of them: a/early, a/late"},
	};
	struct loaded loaded;
	struct bt_strbuf text = {0};
	load(&loaded);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_str_eq(choose(&loaded, rows[i].argument, &text), rows[i].chosen);
	}
	bt_strbuf_finish(&text);
	unload(&loaded);
}
END_TEST

START_TEST(test_pod_choose__workload_without_pending_pods)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_pod_reference reference;
	struct bt_pod_choice choice;
	struct loaded loaded;
	load(&loaded);
	ck_assert_int_eq(bt_pod_reference_parse("deployment/a/web", NULL, &reference, &err), 0);
	ck_assert_int_eq(bt_pod_choose(&loaded.simulation, &reference, NULL, &choice, &err), 0);
	ck_assert(choice.of_workload);
	ck_assert_uint_eq(choice.workload_pods, 3);
	ck_assert_uint_eq(choice.workload_pending, 2);
	/* Simulate that both pending pods are scheduled. */
	loaded.simulation.pods.count = 0;
	ck_assert_int_eq(bt_pod_choose(&loaded.simulation, &reference, NULL, &choice, &err), 0);
	ck_assert_uint_eq(choice.pending, UINT32_MAX);
	ck_assert(bt_str_equal_c(loaded.cluster.objects.items[choice.object].name, "runs"));
	unload(&loaded);
}
END_TEST

BT_TEST_MAIN("explain_pod", test_pod_reference__forms, test_pod_reference__what_is_wrong,
	test_pod_choose__rows, test_pod_choose__workload_without_pending_pods)

/* SPDX-License-Identifier: Apache-2.0 */
#include "cli_test.h"

#define TEMPLATE \
	"  template:\n    metadata: {labels: {app: a}, annotations: {note: x}}\n" \
	"    spec:\n      containers: [{name: c, image: i}]\n"

#define NODES \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: n1, labels: {disk: ssd}}\n" \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: n2}\n" \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: n3, labels: {disk: ssd}}\n" \
	"spec: {taints: [{key: dedicated, value: x, effect: NoSchedule}]}\n" \
	"---\napiVersion: v1\nkind: Node\nmetadata: {name: n4, labels: {disk: ssd}}\n" \
	"spec: {unschedulable: true, taints: [{key: node.kubernetes.io/unschedulable, " \
	"effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]}\n"

/** A pod whose controller is the object of the given kind and name. */
#define OWNED_POD(name, owner_kind, owner, more) \
	"---\napiVersion: v1\nkind: Pod\nmetadata:\n  name: " name "\n  ownerReferences:\n" \
	"  - {apiVersion: x, kind: " owner_kind ", name: " owner \
	", uid: u1, controller: true}\n" more

struct row {
	const char *name;
	const char *text;
	const char *expected; /* names, random endings as "*" */
};

static const struct row replica_rows[] = {
	{"replicas default to 1",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\nspec:\n" TEMPLATE,
		"a-* "},
	{"none",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a}\nspec:\n  replicas: "
		"0\n" TEMPLATE,
		""},
	{"deployment",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  replicas: "
		"2\n" TEMPLATE,
		"a-g7qrnpkszz-* a-g7qrnpkszz-* "},
	{"deployment whose selector does not match its template",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  selector: "
		"{matchLabels: {app: b}}\n" TEMPLATE,
		"a-g7qrnpkszz-* "},
	{"deployment whose labels no selector can name",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  template:\n"
		"    metadata: {labels: {app: 'x y'}}\n    spec: {containers: [{name: c}]}\n",
		"a-hb6f8p2bj6-* "},
	{"paused deployment",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a}\nspec:\n  paused: "
		"true\n" TEMPLATE,
		""},
	{"replication controller",
		"apiVersion: v1\nkind: ReplicationController\nmetadata: {name: a}\nspec:\n  "
		"replicas: 2\n" TEMPLATE,
		"a-* a-* "},
	{"being deleted",
		"apiVersion: apps/v1\nkind: ReplicaSet\n"
		"metadata: {name: a, deletionTimestamp: "
		"\"2026-01-01T00:00:00Z\"}\nspec:\n" TEMPLATE,
		""},
	{"existing pods count",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a, uid: u1}\nspec:\n  "
		"replicas: 3\n" TEMPLATE OWNED_POD("p1", "ReplicaSet", "a", "")
			OWNED_POD("p2", "ReplicaSet", "a", ""),
		"a-* "},
	{"finished and leaving pods do not count",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a, uid: u1}\nspec:\n  "
		"replicas: 2\n" TEMPLATE OWNED_POD(
			"p1", "ReplicaSet", "a", "status: {phase: Failed}\n") OWNED_POD("p2",
			"ReplicaSet", "a", "  deletionTimestamp: \"2026-01-01T00:00:00Z\"\n"),
		"a-* a-* "},
	{"pods of a namesake do not count",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: a, uid: "
		"u2}\nspec:\n" TEMPLATE OWNED_POD("p1", "ReplicaSet", "a", ""),
		"a-* "},
	{"deployment with its replica set and pods",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, uid: u0}\nspec:\n  "
		"replicas: 3\n" TEMPLATE
		"---\napiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: a-77\n  uid: u1\n"
		"  labels: {pod-template-hash: '77'}\n"
		"  ownerReferences: [{kind: Deployment, name: a, uid: u0, controller: true}]\n"
		"spec:\n  replicas: 3\n" TEMPLATE OWNED_POD("p1", "ReplicaSet", "a-77", ""),
		"a-77-* a-77-* "},
	{"deployment with pods but without their replica set",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, uid: u0}\nspec:\n  "
		"replicas: 2\n" TEMPLATE OWNED_POD(
			"p1", "ReplicaSet", "a-77", "  labels: {pod-template-hash: '77'}\n"),
		"a-77-* "},
	{"replica set without its deployment",
		"apiVersion: apps/v1\nkind: ReplicaSet\nmetadata:\n  name: a-77\n"
		"  ownerReferences: [{kind: Deployment, name: a, controller: "
		"true}]\nspec:\n" TEMPLATE,
		"a-77-* "},
	{"stateful set",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  replicas: "
		"3\n"
		"  ordinals: {start: 5}\n" TEMPLATE
		"---\napiVersion: v1\nkind: Pod\nmetadata: {name: a-6}\n",
		"a-5 a-7 "},
	{"stateful set with ordinals above 2^31",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n  replicas: "
		"2\n"
		"  ordinals: {start: 2147483647}\n" TEMPLATE,
		"a-2147483647 a-2147483648 "},
	{"stateful set that would start below 0",
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n"
		"  ordinals: {start: -1}\n" TEMPLATE,
		"a-0 "},
};

static const struct row job_rows[] = {
	{"parallelism defaults to 1",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n" TEMPLATE, "a-* "},
	{"completions bound parallelism",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  parallelism: 5\n  "
		"completions: 2\n" TEMPLATE,
		"a-* a-* "},
	{"negative parallelism",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, uid: u1}\nspec:\n  "
		"parallelism: -5\n" TEMPLATE OWNED_POD("p1", "Job", "a", ""),
		""},
	{"work queue",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  parallelism: "
		"3\n" TEMPLATE,
		"a-* a-* a-* "},
	{"work queue after a success",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  parallelism: "
		"3\n" TEMPLATE "status: {succeeded: 1}\n",
		""},
	{"suspended",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  suspend: "
		"true\n" TEMPLATE,
		""},
	{"complete",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n" TEMPLATE
		"status: {conditions: [{type: Complete, status: 'True'}]}\n",
		""},
	{"some succeeded",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  parallelism: 3\n  "
		"completions: 5\n" TEMPLATE
		"status: {succeeded: 3}\n" OWNED_POD("p1", "Job", "a", ""),
		"a-* "},
	{"indexed",
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\nspec:\n  parallelism: 3\n  "
		"completions: 9\n"
		"  completionMode: Indexed\n" TEMPLATE
		"status: {succeeded: 4, completedIndexes: '0,2-3,5'}\n" OWNED_POD("a-1-b2c4d",
			"Job", "a",
			"  annotations: {batch.kubernetes.io/job-completion-index: '1'}\n"),
		"a-4-* a-6-* "},
	{"cron job",
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  schedule: x\n  "
		"jobTemplate:\n"
		"    spec:\n      parallelism: 2\n      template: {spec: {containers: [{name: "
		"c}]}}\n",
		"a-00000000-* a-00000000-* "},
	{"suspended cron job",
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  suspend: "
		"true\n  jobTemplate:\n"
		"    spec:\n      template: {spec: {containers: [{name: c}]}}\n",
		""},
	{"cron job that runs",
		"apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: a}\nspec:\n  jobTemplate:\n"
		"    spec:\n      template: {spec: {containers: [{name: c}]}}\n"
		"---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: a-123\n"
		"  ownerReferences: [{kind: CronJob, name: a, controller: true}]\nspec:\n" TEMPLATE,
		"a-123-* "},
};

static const struct row daemon_rows[] = {
	{"nodes without hard taints",
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec:\n" TEMPLATE NODES,
		"a-* a-* a-* "},
	{"node selector",
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec:\n  template:\n   "
		" spec:\n"
		"      containers: [{name: c}]\n      nodeSelector: {disk: ssd}\n" NODES,
		"a-* a-* "},
	{"tolerates everything",
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec:\n  template:\n   "
		" spec:\n"
		"      containers: [{name: c}]\n      tolerations: [{operator: Exists}]\n" NODES,
		"a-* a-* a-* a-* "},
	{"existing pods cover their nodes",
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a, uid: "
		"u1}\nspec:\n" TEMPLATE NODES OWNED_POD("p1", "DaemonSet", "a",
			"spec: {nodeName: n1}\n") OWNED_POD("p2", "DaemonSet", "a",
			"spec: {affinity: {nodeAffinity: "
			"{requiredDuringSchedulingIgnoredDuringExecution: "
			"{nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, "
			"values: "
			"[n4]}]}]}}}}\n"),
		"a-* "},
};

static void check_rows(const struct row *rows, size_t count)
{
	struct bt_strbuf names = {0};
	for (size_t i = 0; i < count; i++) {
		struct bt_manifests cluster;
		struct bt_expansion expansion;
		expand_text(&cluster, &expansion, rows[i].text);
		const char *got = expanded_names(&expansion, &names);
		ck_assert_msg(strcmp(got, rows[i].expected) == 0, "%s: \"%s\", not \"%s\"",
			rows[i].name, got, rows[i].expected);
		bt_expansion_finish(&expansion);
		bt_manifests_finish(&cluster);
	}
	bt_strbuf_finish(&names);
}

START_TEST(test_workload__replicas)
{
	check_rows(replica_rows, BT_ARRAY_LENGTH(replica_rows));
}
END_TEST

START_TEST(test_workload__jobs)
{
	check_rows(job_rows, BT_ARRAY_LENGTH(job_rows));
}
END_TEST

START_TEST(test_workload__daemon_sets)
{
	check_rows(daemon_rows, BT_ARRAY_LENGTH(daemon_rows));
}
END_TEST

START_TEST(test_workload__deployment_pod)
{
	struct bt_manifests cluster;
	struct bt_expansion expansion;
	expand_text(&cluster, &expansion,
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: "
		"x}\nspec:\n" TEMPLATE);
	const struct bt_pod *pod = expansion.pods.items[0].pod;
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	ck_assert(bt_str_equal_c(pod->metadata.namespace_, "x"));
	assert_label(pod, "app", "a");
	assert_label(pod, "pod-template-hash", "g7qrnpkszz");
	ck_assert(bt_str_equal_c(owner->kind, "ReplicaSet"));
	ck_assert(bt_str_equal_c(owner->name, "a-g7qrnpkszz"));
	ck_assert(bt_str_equal_c(owner->api_version, "apps/v1"));
	ck_assert_uint_eq(pod->metadata.annotations.count, 1);
	ck_assert_uint_eq(pod->spec.containers.count, 1);
	bt_expansion_finish(&expansion);
	bt_manifests_finish(&cluster);
}
END_TEST

START_TEST(test_workload__stateful_set_pod)
{
	struct bt_manifests cluster;
	struct bt_expansion expansion;
	expand_text(&cluster, &expansion,
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: a}\nspec:\n"
		"  volumeClaimTemplates: [{metadata: {name: data}}]\n"
		"  template:\n    spec:\n      containers: [{name: c}]\n"
		"      volumes: [{name: data, emptyDir: {}}, {name: tmp, "
		"emptyDir: {}}]\n");
	const struct bt_pod *pod = expansion.pods.items[0].pod;
	assert_label(pod, "apps.kubernetes.io/pod-index", "0");
	assert_label(pod, "statefulset.kubernetes.io/pod-name", "a-0");
	ck_assert_uint_eq(pod->spec.volumes.count, 2);
	ck_assert(bt_str_equal_c(
		pod->spec.volumes.items[1].persistent_volume_claim->claim_name, "data-a-0"));
	ck_assert(bt_str_equal_c(pod->spec.volumes.items[0].name, "tmp"));
	bt_expansion_finish(&expansion);
	bt_manifests_finish(&cluster);
}
END_TEST

START_TEST(test_workload__daemon_pod)
{
	struct bt_manifests cluster;
	struct bt_expansion expansion;
	expand_text(&cluster, &expansion,
		"apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: a}\nspec:\n  template:\n   "
		" spec:\n"
		"      containers: [{name: c}]\n      affinity:\n        nodeAffinity:\n"
		"          requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: "
		"[{matchExpressions: [{key: disk, operator: Exists}]}]}\n"
		"          preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, "
		"preference: {}}]\n" NODES);
	const struct bt_pod *pod = expansion.pods.items[0].pod;
	const struct bt_node_affinity *affinity = pod->spec.affinity->node_affinity;
	ck_assert_uint_eq(affinity->required->terms.count, 1);
	ck_assert_uint_eq(affinity->required->terms.items[0].match_expressions.count, 0);
	ck_assert(bt_str_equal_c(
		affinity->required->terms.items[0].match_fields.items[0].values.items[0], "n1"));
	ck_assert_uint_eq(affinity->preferred.count, 1);
	ck_assert_uint_eq(pod->spec.tolerations.count, 6);
	bt_expansion_finish(&expansion);
	bt_manifests_finish(&cluster);
}
END_TEST

START_TEST(test_workload__indexed_job_pod)
{
	struct bt_manifests cluster;
	struct bt_expansion expansion;
	expand_text(&cluster, &expansion,
		"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a, uid: u7}\nspec:\n  "
		"completions: 1\n"
		"  completionMode: Indexed\n" TEMPLATE);
	const struct bt_pod *pod = expansion.pods.items[0].pod;
	assert_label(pod, "batch.kubernetes.io/job-name", "a");
	assert_label(pod, "job-name", "a");
	assert_label(pod, "batch.kubernetes.io/controller-uid", "u7");
	assert_label(pod, "batch.kubernetes.io/job-completion-index", "0");
	ck_assert_uint_eq(pod->metadata.annotations.count, 2);
	bt_expansion_finish(&expansion);
	bt_manifests_finish(&cluster);
}
END_TEST

BT_TEST_MAIN("workload", test_workload__replicas, test_workload__jobs, test_workload__daemon_sets,
	test_workload__deployment_pod, test_workload__stateful_set_pod, test_workload__daemon_pod,
	test_workload__indexed_job_pod)

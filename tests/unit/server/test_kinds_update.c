/* SPDX-License-Identifier: Apache-2.0 */
/* Which fields updates may change. Spec: 14b section 2.3. */
#include <stdio.h>

#include "kinds_rows.h"
#include "codec/json_edit.h"
#include "server/strategy.h"
#include "test_main.h"

#define TWO "'containers':[{'name':'c','image':'i:1','env':[{'name':'a'}]}]"
#define ONE_MORE(text) "{'spec':{" text "}}"
#define GATED \
	POD(CONTAINER ",'schedulingGates':[{'name':'g'},{'name':'h'}],'nodeSelector':{'a':'b'}")
#define AFFINITY(expressions) \
	"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{" \
	"'nodeSelectorTerms':[{'matchExpressions':[" expressions "]}]}}}"
#define EXPRESSION(key) "{'key':'" key "','operator':'Exists'}"
#define PERMITTED \
	"Pod \"p\" is invalid: spec: Forbidden: pod updates may not change fields other than " \
	"`spec.containers[*].image`,"

static const struct update_row pod_rows[] = {
	{"image", "pods", "default/", POD(CONTAINER), "default/p",
		"{'spec':{'containers':[{'name':'c','image':'j','imagePullPolicy':'IfNotPresent',"
		"'terminationMessagePath':'/dev/termination-log','terminationMessagePolicy':'File'"
		",'resources':{}}]}}",
		NULL},
	{"labels", "pods", "default/", POD(CONTAINER), "default/p",
		"{'metadata':{'labels':{'a':'b'}}}", NULL},
	{"deadline", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'activeDeadlineSeconds':5"), NULL},
	{"deadline up", "pods", "default/", POD(CONTAINER ",'activeDeadlineSeconds':5"),
		"default/p", ONE_MORE("'activeDeadlineSeconds':6"),
		"must be less than or equal to previous value"},
	{"environment", "pods", "default/", POD(CONTAINER), "default/p", ONE_MORE(TWO), PERMITTED},
	{"node selector", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'nodeSelector':{'a':'b'}"), PERMITTED},
	{"node name", "pods", "default/", POD(CONTAINER), "default/p", ONE_MORE("'nodeName':'n'"),
		PERMITTED},
	{"difference", "pods", "default/", POD(CONTAINER), "default/p", ONE_MORE("'nodeName':'n'"),
		"\n@@ -"},
	{"difference of a line", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'nodeName':'n'"),
		"  \"AutomountServiceAccountToken\": null,\n- \"NodeName\": \"\",\n"
		"+ \"NodeName\": \"n\",\n  \"SecurityContext\": {\n"},
	{"container count", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'containers':[{'name':'c','image':'i:1'},{'name':'d','image':'i:1'}]"),
		"spec.containers: Forbidden: pod updates may not add or remove containers"},
	{"more tolerations", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'tolerations':[{'key':'k','operator':'Exists'}]"), NULL},
	{"fewer tolerations", "pods", "default/",
		POD(CONTAINER ",'tolerations':[{'key':'k','operator':'Exists'}]"), "default/p",
		ONE_MORE("'tolerations':[]"),
		"spec.tolerations: Forbidden: existing toleration can not be modified except its "
		"tolerationSeconds"},
	{"other seconds of a toleration", "pods", "default/",
		POD(CONTAINER ",'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute',"
			      "'tolerationSeconds':5}]"),
		"default/p",
		ONE_MORE("'tolerations':[{'key':'k','operator':'Exists','effect':'NoExecute',"
			 "'tolerationSeconds':7}]"),
		NULL},
	{"new gate", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE("'schedulingGates':[{'name':'g'}]"),
		"spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new "
		"scheduling gate 'g'"},
	{"gate off", "pods", "default/", GATED, "default/p",
		ONE_MORE("'schedulingGates':[{'name':'h'}]"), NULL},
	{"gated selector more", "pods", "default/", GATED, "default/p",
		ONE_MORE("'nodeSelector':{'a':'b','c':'d'}"), NULL},
	{"gated selector other", "pods", "default/", GATED, "default/p",
		ONE_MORE("'nodeSelector':{'a':'c'}"), "spec.nodeSelector: Invalid value"},
	{"gated affinity set", "pods", "default/", GATED, "default/p",
		ONE_MORE(AFFINITY(EXPRESSION("x"))), NULL},
	{"gated affinity narrowed", "pods", "default/",
		POD(CONTAINER ",'schedulingGates':[{'name':'g'}]," AFFINITY(EXPRESSION("x"))),
		"default/p", ONE_MORE(AFFINITY(EXPRESSION("x") "," EXPRESSION("y"))), NULL},
	{"gated affinity widened", "pods", "default/",
		POD(CONTAINER ",'schedulingGates':[{'name':'g'}]," AFFINITY(
			EXPRESSION("x") "," EXPRESSION("y"))),
		"default/p", ONE_MORE(AFFINITY(EXPRESSION("x"))),
		"only additions are allowed (no mutations or deletions)"},
	{"affinity without gates", "pods", "default/", POD(CONTAINER), "default/p",
		ONE_MORE(AFFINITY(EXPRESSION("x"))), PERMITTED},
};

START_TEST(test_kinds__ephemeral_containers_are_only_added)
{
	static const struct {
		const char *list;
		const char *message; /* NULL: accepted */
	} rows[] = {
		{"[{'name':'d','image':'i'}]", NULL},
		{"[{'name':'d','image':'j'}]",
			"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" "
			"may "
			"not be changed\n"},
		{"[{'name':'e','image':'i'}]",
			"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" "
			"may "
			"not be removed\n"},
		{"null",
			"spec.ephemeralContainers: Forbidden: existing ephemeral containers \"d\" "
			"may "
			"not be removed\n"},
		{"[{'name':'d','image':'i'},{'name':'c','image':'i'}]",
			"spec.ephemeralContainers[1].name: Duplicate value: \"c\""},
		{"[{'name':'d','image':'i'},{'name':'e'}]",
			"spec.ephemeralContainers[1].image: Required value"},
		{"[{'name':'d','image':'i'},{'name':'e','image':'i','targetContainerName':'x'}]",
			"spec.ephemeralContainers[1].targetContainerName: Not found: \"x\""},
		{"[{'name':'d','image':'i'},{'name':'e','image':'i','ports':[{'containerPort':80}]}"
		 "]",
			"spec.ephemeralContainers[1].ports: Forbidden: cannot be set for an "
			"Ephemeral Container"},
		{"[{'name':'d','image':'i'},{'name':'e','image':'i','livenessProbe':{'tcpSocket':"
		 "{'port':80}}}]",
			"spec.ephemeralContainers[1].livenessProbe: Forbidden: cannot be set for "
			"an Ephemeral Container"},
		{"[{'name':'d','image':'i'},{'name':'e','image':'i','resources':{'limits':{'cpu':"
		 "'1'}}}]",
			"spec.ephemeralContainers[1].resources: Forbidden: cannot be set for an "
			"Ephemeral Container"},
		{"[{'name':'d','image':'i'},{'name':'e','image':'i','volumeMounts':[{'name':'v',"
		 "'mountPath':'/v'}]}]",
			"spec.ephemeralContainers[1].volumeMounts[0].name: Not found: \"v\""},
		{"[{'name':'e','image':'i','targetContainerName':'c'},{'name':'d','image':'i'}]",
			NULL},
	};
	struct api_fixture f;
	rows_init(&f);
	ck_assert_uint_eq(api_create(&f, "pods", "default/",
				  "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c',"
				  "'image':'i'}],'ephemeralContainers':[{'name':'d'}]}}"),
		422);
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}]}}");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_str patch = bt_arena_printf(
			&f.arena, "{'spec':{'ephemeralContainers':%s}}", rows[i].list);
		ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/ephemeralcontainers",
					  "default/p", patch.data),
			rows[i].message == NULL ? 200 : 422);
		if (rows[i].message != NULL) {
			struct bt_str expected = bt_arena_printf(
				&f.arena, "Pod \"p\" is invalid: %s", rows[i].message);
			ck_assert_str_eq(api_message(&f), expected.data);
		}
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__pod_updates)
{
	rows_check_updates(pod_rows, ROW_COUNT(pod_rows));
}
END_TEST

#define WORKLOAD \
	"{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{" \
	"'metadata':{'labels':{'a':'b','c':'d'}},'spec':{" CONTAINER "}}}}"
#define CLAIM \
	"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{" \
	"'requests':{'storage':'1Gi'}}}}"
#define VOLUME \
	"{'metadata':{'name':'v'},'spec':{'accessModes':['ReadWriteOnce'],'capacity':{'storage':" \
	"'1Gi'},'hostPath':{'path':'/x'}}}"

static const struct update_row other_rows[] = {
	{"provider once", "nodes", "", "{'metadata':{'name':'n'},'spec':{'providerID':'a'}}", "n",
		"{'spec':{'providerID':'b'}}", "spec.providerID: Forbidden"},
	{"provider first", "nodes", "", "{'metadata':{'name':'n'}}", "n",
		"{'spec':{'providerID':'b'}}", NULL},
	{"cidrs once", "nodes", "", "{'metadata':{'name':'n'},'spec':{'podCIDR':'10.0.0.0/24'}}",
		"n", "{'spec':{'podCIDR':'10.0.1.0/24','podCIDRs':['10.0.1.0/24']}}",
		"spec.podCIDRs: Forbidden"},
	{"taints", "nodes", "", "{'metadata':{'name':'n'}}", "n", "{'spec':{'unschedulable':true}}",
		NULL},
	{"volume source", "persistentvolumes", "", VOLUME, "v",
		"{'spec':{'hostPath':{'path':'/y'}}}",
		"spec.persistentvolumesource: Forbidden: spec.persistentvolumesource is immutable "
		"after creation"},
	{"volume capacity", "persistentvolumes", "", VOLUME, "v",
		"{'spec':{'capacity':{'storage':'2Gi'}}}", NULL},
	{"volume claim", "persistentvolumes", "", VOLUME, "v",
		"{'spec':{'claimRef':{'name':'c','namespace':'default'}}}", NULL},
	{"claim volume", "persistentvolumeclaims", "default/", CLAIM, "default/c",
		"{'spec':{'volumeName':'v'}}", NULL},
	{"claim modes", "persistentvolumeclaims", "default/", CLAIM, "default/c",
		"{'spec':{'accessModes':['ReadWriteMany']}}",
		"for bound claims\n@@ -1,6 +1,6 @@\n {\n  \"AccessModes\": [\n-  "
		"\"ReadWriteOnce\"\n"
		"+  \"ReadWriteMany\"\n  ],\n  \"Selector\": null,\n  \"Resources\": {\n"},
	{"claim larger, not bound", "persistentvolumeclaims", "default/", CLAIM, "default/c",
		"{'spec':{'resources':{'requests':{'storage':'9Gi'}}}}",
		"+   \"storage\": \"9Gi\""},
	{"claim smaller", "persistentvolumeclaims", "default/", CLAIM, "default/c",
		"{'spec':{'resources':{'requests':{'storage':'1Mi'}}}}", "Forbidden"},
	{"class", "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'p'}", "s", "{'provisioner':'q'}",
		"provisioner: Invalid value: \"q\": field is immutable"},
	{"class labels", "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'p'}", "s",
		"{'allowVolumeExpansion':true,'metadata':{'labels':{'a':'b'}}}", NULL},
	{"priority value", "priorityclasses.scheduling.k8s.io", "",
		"{'metadata':{'name':'s'},'value':1}", "s", "{'value':2}",
		"value: Forbidden: may not be changed in an update."},
	{"priority policy", "priorityclasses.scheduling.k8s.io", "",
		"{'metadata':{'name':'s'},'value':1}", "s", "{'preemptionPolicy':'Never'}",
		"preemptionPolicy: Invalid value: \"Never\": field is immutable"},
	{"deployment selector", "deployments.apps", "default/", WORKLOAD, "default/w",
		"{'spec':{'selector':{'matchLabels':{'c':'d'}}}}",
		"spec.selector: Invalid value: "},
	{"deployment replicas", "deployments.apps", "default/", WORKLOAD, "default/w",
		"{'spec':{'replicas':3}}", NULL},
	{"operation of a field manager", "deployments.apps", "default/", WORKLOAD, "default/w",
		"{'metadata':{'managedFields':[{'manager':'m','operation':'Get','apiVersion':"
		"'apps/v1','fieldsType':'FieldsV1','fieldsV1':{'f:spec':{}}}]}}",
		"metadata.managedFields[0].operation: Invalid value: \"Get\": must be `Apply` or "
		"`Update`"},
	{"negative replicas", "deployments.apps", "default/", WORKLOAD, "default/w",
		"{'spec':{'replicas':-1}}",
		"spec.replicas: Invalid value: -1: must be greater than or equal to 0"},
	{"stateful templates", "statefulsets.apps", "default/", WORKLOAD, "default/w",
		"{'spec':{'serviceName':'s'}}",
		"updates to statefulset spec for fields other than"},
	{"job template", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never'"
		"," CONTAINER "}}}}",
		"default/j", "{'spec':{'template':{'spec':{'restartPolicy':'OnFailure'}}}}",
		"spec.template: Invalid value: "},
	{"job parallelism", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never'"
		"," CONTAINER "}}}}",
		"default/j", "{'spec':{'parallelism':2}}", NULL},
	{"resource claim", "resourceclaims.resource.k8s.io", "default/",
		"{'metadata':{'name':'r'},'spec':{'devices':{'requests':[{'name':'x','exactly':{"
		"'deviceClassName':'d'}}]}}}",
		"default/r", "{'spec':{'devices':{'requests':null}}}", "spec: Invalid value: "},
	{"group", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}",
		"default/g", "{'spec':{'schedulingPolicy':{'gang':{'minCount':3}}}}",
		"spec.schedulingPolicy: Invalid value: "},
	{"group disruption", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}",
		"default/g", "{'spec':{'disruptionMode':'PodGroup'}}",
		"spec.disruptionMode: Invalid value: \"PodGroup\": field is immutable"},
	{"scheduling group", "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{" CONTAINER
		",'schedulingGroup':{'podGroupName':'g'}}}",
		"default/p", "{'spec':{'schedulingGroup':{'podGroupName':'h'}}}",
		"spec: Forbidden: pod updates may not change fields other than"},
	{"gang's parallelism", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'completionMode':'Indexed','completions':2,"
		"'parallelism':2,'template':{'spec':{'restartPolicy':'Never'," CONTAINER "}}}}",
		"default/j", "{'spec':{'parallelism':3,'completions':3}}",
		"spec.parallelism: Invalid value: 3: field is immutable"},
	{"frozen secret", "secrets", "default/",
		"{'metadata':{'name':'s'},'immutable':true,'data':{'a':'eA=='}}", "default/s",
		"{'data':{'a':'eQ=='}}", "data: Forbidden: field is immutable"},
};

START_TEST(test_kinds__other_updates)
{
	rows_check_updates(other_rows, ROW_COUNT(other_rows));
}
END_TEST

START_TEST(test_kinds__namespace_finalizers_stay)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "namespaces", "", "{'metadata':{'name':'n'}}");
	ck_assert_uint_eq(api_update(&f, "namespaces", "n", "{'metadata':{'name':'n'}}"), 200);
	rows_expect(&f, "finalizers", "spec.finalizers", "['kubernetes']");
	rows_expect(&f, "label", "metadata.labels", "{'kubernetes.io/metadata.name':'n'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__autoscalers_of_both_versions)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':3,'scaleTargetRef':{'kind':"
		"'Deployment','name':'d','apiVersion':'apps/v1'},'behavior':{'scaleDown':"
		"{'selectPolicy':'Disabled'}},'metrics':[{'type':'Resource','resource':{'name':"
		"'memory','target':{'type':'Utilization','averageUtilization':60}}},{'type':"
		"'Resource','resource':{'name':'cpu','target':{'type':'Utilization',"
		"'averageUtilization':80}}}]}}");
	rows_expect(&f, "least", "spec.minReplicas", "1");
	const struct bt_strategy *v1 =
		bt_strategy_find("autoscaling", "v1", "horizontalpodautoscalers");
	const struct bt_write write = {.api = f.api,
		.arena = &f.arena,
		.resource = bt_resources_builtin(
			bt_api_resources(f.api), "autoscaling", "horizontalpodautoscalers"),
		.namespace_ = BT_STR("default"),
		.name = BT_STR("h")};
	struct bt_json_value *object = bt_json_clone(&f.arena, f.result, true);
	v1->from_stored(&write, object);
	f.result = object;
	rows_expect(&f, "percent", "spec.targetCPUUtilizationPercentage", "80");
	rows_expect(&f, "no metrics", "spec.metrics", "");
	v1->to_stored(&write, object);
	rows_expect(&f, "back", "spec.metrics.0.resource.target.averageUtilization", "80");
	rows_expect(&f, "other metric", "spec.metrics.1.resource.name", "'memory'");
	rows_expect(&f, "behavior", "spec.behavior.scaleDown.selectPolicy", "'Disabled'");
	rows_expect(&f, "no percent", "spec.targetCPUUtilizationPercentage", "");
	api_fixture_finish(&f);
}
END_TEST

#define AT_LEAST_0 ": Invalid value: -1: must be greater than or equal to 0"

START_TEST(test_kinds__statuses_are_checked)
{
	static const struct {
		const char *resource;
		const char *body;
		const char *status;
		const char *message; /* NULL: the write is accepted */
	} rows[] = {
		{"deployments.apps", WORKLOAD, "'replicas':1,'readyReplicas':1", NULL},
		{"deployments.apps", WORKLOAD, "'replicas':-1", "status.replicas" AT_LEAST_0},
		{"deployments.apps", WORKLOAD, "'collisionCount':-1",
			"status.collisionCount" AT_LEAST_0},
		{"deployments.apps", WORKLOAD, "'replicas':1,'updatedReplicas':2",
			"status.updatedReplicas: Invalid value: 2: cannot be greater than "
			"status.replicas"},
		{"replicasets.apps", WORKLOAD, "'replicas':2,'availableReplicas':1",
			"status.availableReplicas: Invalid value: 1: cannot be greater than "
			"readyReplicas"},
		{"statefulsets.apps", WORKLOAD, "'currentReplicas':-1",
			"status.currentReplicas" AT_LEAST_0},
		{"daemonsets.apps", WORKLOAD, "'numberReady':-1", "status.numberReady" AT_LEAST_0},
		{"jobs.batch",
			"{'metadata':{'name':'w'},'spec':{'template':{'spec':{" CONTAINER
			",'restartPolicy':'Never'}}}}",
			"'failed':-1", "status.failed" AT_LEAST_0},
		{"horizontalpodautoscalers.autoscaling",
			"{'metadata':{'name':'w'},'spec':{'maxReplicas':3,'scaleTargetRef':{'kind':"
			"'Deployment','name':'d','apiVersion':'apps/v1'}}}",
			"'currentReplicas':-1", "status.currentReplicas" AT_LEAST_0},
		{"poddisruptionbudgets.policy", "{'metadata':{'name':'w'},'spec':{}}",
			"'expectedPods':-1", "status.expectedPods" AT_LEAST_0},
	};
	for (uint32_t i = 0; i < ROW_COUNT(rows); i++) {
		struct api_fixture f;
		char resource[100];
		char patch[200];
		rows_init(&f);
		rows_create(&f, rows[i].resource, "default/", rows[i].body);
		(void)snprintf(resource, sizeof(resource), "%s/status", rows[i].resource);
		(void)snprintf(patch, sizeof(patch), "{'status':{%s}}", rows[i].status);
		uint16_t code = api_patch(&f, BT_PATCH_MERGE, resource, "default/w", patch);
		if (code != (rows[i].message == NULL ? 200 : 422) ||
			(rows[i].message != NULL &&
				strstr(api_message(&f), rows[i].message) == NULL)) {
			ck_abort_msg("%s %s: %u %s", resource, patch, code, api_message(&f));
		}
		api_fixture_finish(&f);
	}
}
END_TEST

BT_TEST_MAIN("kinds_update", test_kinds__pod_updates,
	test_kinds__ephemeral_containers_are_only_added, test_kinds__other_updates,
	test_kinds__statuses_are_checked, test_kinds__namespace_finalizers_stay,
	test_kinds__autoscalers_of_both_versions)

/* SPDX-License-Identifier: Apache-2.0 */
/* Defaults, and fields that creates set. Spec: 14b sections 2.2, 3 and 12. */
#include <stdlib.h>

#include "base/text_set.h"
#include "kinds_rows.h"
#include "test_main.h"

#define TEMPLATE \
	"'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels':{'a':'b'}}," \
	"'spec':{" CONTAINER "}}"
#define WORKLOAD "{'metadata':{'name':'w'},'spec':{" TEMPLATE "}}"
#define FIRST "spec.containers.0."

static const struct value_row pod_rows[] = {
	{"scheduler", "pods", "default/", POD(CONTAINER), "spec.schedulerName",
		"'default-scheduler'"},
	{"restart policy", "pods", "default/", POD(CONTAINER), "spec.restartPolicy", "'Always'"},
	{"dns", "pods", "default/", POD(CONTAINER), "spec.dnsPolicy", "'ClusterFirst'"},
	{"grace", "pods", "default/", POD(CONTAINER), "spec.terminationGracePeriodSeconds", "30"},
	{"security context", "pods", "default/", POD(CONTAINER), "spec.securityContext", "{}"},
	{"links", "pods", "default/", POD(CONTAINER), "spec.enableServiceLinks", "true"},
	{"message path", "pods", "default/", POD(CONTAINER), FIRST "terminationMessagePath",
		"'/dev/termination-log'"},
	{"message policy", "pods", "default/", POD(CONTAINER), FIRST "terminationMessagePolicy",
		"'File'"},
	{"resources", "pods", "default/", POD(CONTAINER), FIRST "resources", "{}"},
	{"protocol", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','ports':[{'containerPort':80}]}]"),
		FIRST "ports", "[{'containerPort':80,'protocol':'TCP'}]"},
	{"probe", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','livenessProbe':{'httpGet':{'port':1}}}"
		    "]"),
		FIRST "livenessProbe",
		"{'httpGet':{'port':1,'path':'/','scheme':'HTTP'},'timeoutSeconds':1,"
		"'periodSeconds':10,'successThreshold':1,'failureThreshold':3}"},
	{"empty volume", "pods", "default/", POD(CONTAINER ",'volumes':[{'name':'v'}]"),
		"spec.volumes", "[{'name':'v','emptyDir':{}}]"},
	{"secret volume", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','secret':{'secretName':'s'}}]"),
		"spec.volumes.0.secret.defaultMode", "420"},
	{"config map volume", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','configMap':{'name':'s'}}]"),
		"spec.volumes.0.configMap.defaultMode", "420"},
	{"downward volume", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','downwardAPI':{}}]"),
		"spec.volumes.0.downwardAPI.defaultMode", "420"},
	{"projected volume", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','projected':{'sources':[{'configMap':"
			      "{'name':'x'}}]}}]"),
		"spec.volumes.0.projected.defaultMode", "420"},
	{"host path", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','hostPath':{'path':'/x'}}]"),
		"spec.volumes.0.hostPath", "{'path':'/x','type':''}"},
	{"ephemeral", "pods", "default/",
		POD(CONTAINER ",'volumes':[{'name':'v','ephemeral':{'volumeClaimTemplate':{'spec':"
			      "{'accessModes':['ReadWriteOnce'],'resources':{'requests':"
			      "{'storage':'1Gi'}}}}}}]"),
		"spec.volumes.0.ephemeral.volumeClaimTemplate.spec.volumeMode", "'Filesystem'"},
	{"account", "pods", "default/", POD(CONTAINER), "spec.serviceAccountName", "'default'"},
	{"account mirrored", "pods", "default/", POD(CONTAINER ",'serviceAccount':'x'"),
		"spec.serviceAccountName", "'x'"},
	{"no spread defaults", "pods", "default/",
		POD(CONTAINER ",'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z',"
			      "'whenUnsatisfiable':'DoNotSchedule'}]"),
		"spec.topologySpreadConstraints",
		"[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule'}]"},
	{"status", "pods", "default/", POD(CONTAINER), "status",
		"{'phase':'Pending','qosClass':'BestEffort'}"},
	{"guaranteed", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','resources':{'limits':{'cpu':'1',"
		    "'memory':'1Gi'}}}]"),
		"status.qosClass", "'Guaranteed'"},
	{"zero counts as absent", "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':'0'}}}]"),
		"status.qosClass", "'BestEffort'"},
};

START_TEST(test_kinds__pod_defaults)
{
	rows_check_values(pod_rows, ROW_COUNT(pod_rows));
}
END_TEST

START_TEST(test_kinds__edge_14b_01_plain_pod)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "pods", "default/", POD(CONTAINER));
	rows_expect(&f, "scheduler", "spec.schedulerName", "'default-scheduler'");
	rows_expect(&f, "priority", "spec.priority", "0");
	rows_expect(&f, "policy", "spec.preemptionPolicy", "'PreemptLowerPriority'");
	rows_expect(&f, "tolerations", "spec.tolerations",
		"[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute',"
		"'tolerationSeconds':300},{'key':'node.kubernetes.io/unreachable','operator':"
		"'Exists','effect':'NoExecute','tolerationSeconds':300}]");
	rows_expect(&f, "qos", "status.qosClass", "'BestEffort'");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__edge_14b_02_requests_from_limits)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "pods", "default/",
		POD("'containers':[{'name':'c','image':'i','resources':{'limits':{'cpu':'1',"
		    "'memory':'1Gi','nvidia.com/gpu':'1'},'requests':{'cpu':'100m'}}}]"));
	rows_expect(&f, "requests", FIRST "resources.requests",
		"{'cpu':'100m','memory':'1Gi','nvidia.com/gpu':'1'}");
	rows_expect(&f, "qos", "status.qosClass", "'Burstable'");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__edge_14b_04_host_network)
{
	static const struct value_row rows[] = {
		{"pod", "pods", "default/",
			POD("'hostNetwork':true,'containers':[{'name':'c','image':'i','ports':[{"
			    "'containerPort':80}]}]"),
			FIRST "ports.0.hostPort", "80"},
		{"template", "deployments.apps", "default/",
			"{'metadata':{'name':'w'},'spec':{'selector':{'matchLabels':{'a':'b'}},"
			"'template':{'metadata':{'labels':{'a':'b'}},'spec':{'hostNetwork':true,"
			"'containers':[{'name':'c','image':'i','ports':[{'containerPort':80}]}]}}}"
			"}",
			"spec.template.spec.containers.0.ports.0.hostPort", ""},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

START_TEST(test_kinds__edge_14b_05_pull_policy)
{
	static const struct {
		const char *image;
		const char *policy;
	} rows[] = {
		{"i", "'Always'"},
		{"i:1", "'IfNotPresent'"},
		{"r.io:5000/i@sha256:0000000000000000000000000000000000000000000000000000000000000"
		 "000",
			"'IfNotPresent'"},
		{"i:latest", "'Always'"},
		{"r.io:5000/i", "'Always'"},
		{"r.io:5000/i:v1", "'IfNotPresent'"},
	};
	for (uint32_t i = 0; i < ROW_COUNT(rows); i++) {
		struct api_fixture f;
		rows_init(&f);
		struct bt_str body = bt_arena_printf(
			&f.arena, POD("'containers':[{'name':'c','image':'%s'}]"), rows[i].image);
		rows_create(&f, "pods", "default/", body.data);
		rows_expect(&f, rows[i].image, FIRST "imagePullPolicy", rows[i].policy);
		api_fixture_finish(&f);
	}
}
END_TEST

START_TEST(test_kinds__edge_14b_09_gates)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "pods", "default/", POD(CONTAINER ",'schedulingGates':[{'name':'g'}]"));
	rows_expect(&f, "type", "status.conditions.0.type", "'PodScheduled'");
	rows_expect(&f, "status", "status.conditions.0.status", "'False'");
	rows_expect(&f, "reason", "status.conditions.0.reason", "'SchedulingGated'");
	rows_expect(&f, "message", "status.conditions.0.message",
		"'Scheduling is blocked due to non-empty scheduling gates'");
	rows_expect(&f, "time", "status.conditions.0.lastTransitionTime", "'2026-11-21T12:00:00Z'");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/p",
				  "{'spec':{'schedulingGates':null}}"),
		200);
	rows_expect(&f, "gates", "spec.schedulingGates", "");
	rows_expect(&f, "stays", "status.conditions.0.reason", "'SchedulingGated'");
	api_fixture_finish(&f);
}
END_TEST

#define KEYED(labels, part) \
	"{'metadata':{'name':'p','labels':{" labels "}},'spec':{" CONTAINER "," part "}}"
#define SPREAD(keys) \
	"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':" \
	"'DoNotSchedule','labelSelector':{'matchLabels':{'a':'b'}},'matchLabelKeys':[" keys "]}]"
#define AFFINITY(member, keys) \
	"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{" \
	"'topologyKey':'z','labelSelector':{'matchLabels':{'a':'b'}},'" member "':[" keys "]}]}}"
#define TERM "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution.0."

START_TEST(test_kinds__edge_14b_11_12_label_keys)
{
	static const struct value_row rows[] = {
		{"spread", "pods", "default/", KEYED("'pth':'h1'", SPREAD("'pth'")),
			"spec.topologySpreadConstraints.0.labelSelector",
			"{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'pth','operator':'In',"
			"'values':['h1']}]}"},
		{"keys stay", "pods", "default/", KEYED("'pth':'h1'", SPREAD("'pth'")),
			"spec.topologySpreadConstraints.0.matchLabelKeys", "['pth']"},
		{"11 absent", "pods", "default/", KEYED("'x':'h1'", SPREAD("'pth'")),
			"spec.topologySpreadConstraints.0.labelSelector",
			"{'matchLabels':{'a':'b'}}"},
		{"affinity", "pods", "default/",
			KEYED("'q':'v'", AFFINITY("matchLabelKeys", "'q'")),
			TERM "labelSelector.matchExpressions",
			"[{'key':'q','operator':'In','values':['v']}]"},
		{"12 mismatch", "pods", "default/",
			KEYED("'q':'v'", AFFINITY("mismatchLabelKeys", "'q'")),
			TERM "labelSelector.matchExpressions",
			"[{'key':'q','operator':'NotIn','values':['v']}]"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

START_TEST(test_kinds__edge_14b_16_node)
{
	static const struct value_row rows[] = {
		{"allocatable", "nodes", "",
			"{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'4','memory':'1Gi'}}"
			"}",
			"status.allocatable", "{'cpu':'4','memory':'1Gi'}"},
		{"own allocatable", "nodes", "",
			"{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'4'},'allocatable':{"
			"'cpu':'3'}}}",
			"status.allocatable", "{'cpu':'3'}"},
		{"cidr", "nodes", "", "{'metadata':{'name':'n'},'spec':{'podCIDR':'10.0.0.0/24'}}",
			"spec.podCIDRs", "['10.0.0.0/24']"},
		{"rounded", "nodes", "",
			"{'metadata':{'name':'n'},'status':{'capacity':{'cpu':'0.0001'}}}",
			"status.capacity.cpu", "'1m'"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

START_TEST(test_kinds__edge_14b_32_pod_level)
{
	static const struct value_row rows[] = {
		{"32", "pods", "default/",
			POD("'resources':{'limits':{'cpu':'2','memory':'1Gi'}},'containers':[{"
			    "'name':'c','image':'i','resources':{'requests':{'cpu':'1'}}}]"),
			"spec.resources.requests", "{'cpu':'1','memory':'1Gi'}"},
		{"sum", "pods", "default/",
			POD("'resources':{'limits':{'cpu':'4'}},'containers':[{'name':'c','image':"
			    "'i','resources':{'requests':{'cpu':'1'}}},{'name':'d','image':'i',"
			    "'resources':{'requests':{'cpu':'500m'}}}]"),
			"spec.resources.requests", "{'cpu':'1500m'}"},
		{"no limits", "pods", "default/",
			POD("'resources':{'requests':{'cpu':'2'}},'containers':[{'name':'c',"
			    "'image':'i','resources':{'requests':{'memory':'1Gi'}}}]"),
			"spec.resources", "{'requests':{'cpu':'2'}}"},
		{"qos of the pod", "pods", "default/",
			POD("'resources':{'limits':{'cpu':'2','memory':'1Gi'}}," CONTAINER),
			"status.qosClass", "'Guaranteed'"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

START_TEST(test_kinds__edge_14b_33_rounding)
{
	static const struct value_row rows[] = {
		{"33", "pods", "default/",
			POD("'containers':[{'name':'c','image':'i','resources':{'requests':{'cpu':"
			    "'0.5m'}}}]"),
			FIRST "resources.requests.cpu", "'1m'"},
		{"memory", "pods", "default/",
			POD("'containers':[{'name':'c','image':'i','resources':{'limits':{'memory':"
			    "'1.0001'}}}]"),
			FIRST "resources.limits.memory", "'1001m'"},
		{"whole", "pods", "default/",
			POD("'containers':[{'name':'c','image':'i','resources':{'limits':{'memory':"
			    "'1e3'}}}]"),
			FIRST "resources.limits.memory", "'1e3'"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

static const struct value_row workload_rows[] = {
	{"behavior up", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':2,'scaleTargetRef':{'kind':'"
		"Deployment','name':'d','apiVersion':'apps/v1'},'behavior':{}}}",
		"spec.behavior.scaleUp",
		"{'selectPolicy':'Max','stabilizationWindowSeconds':0,'policies':[{'type':'Pods',"
		"'value':4,'periodSeconds':15},{'type':'Percent','value':100,'periodSeconds':15}]"
		"}"},
	{"behavior down", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':2,'scaleTargetRef':{'kind':'"
		"Deployment','name':'d','apiVersion':'apps/v1'},'behavior':{'scaleDown':{"
		"'selectPolicy':'Min'}}}}",
		"spec.behavior.scaleDown",
		"{'selectPolicy':'Min','policies':[{'type':'Percent','value':100,'periodSeconds':"
		"15}"
		"]}"},
	{"metric", "horizontalpodautoscalers.autoscaling", "default/",
		"{'metadata':{'name':'h'},'spec':{'maxReplicas':3,'scaleTargetRef':{'kind':'D',"
		"'name':'d','apiVersion':'apps/v1'}}}",
		"spec.metrics.0.resource.target.averageUtilization", "80"},
	{"replicas", "deployments.apps", "default/", WORKLOAD, "spec.replicas", "1"},
	{"strategy", "deployments.apps", "default/", WORKLOAD, "spec.strategy",
		"{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':'25%','maxSurge':'25%'}"
		"}"},
	{"history", "deployments.apps", "default/", WORKLOAD, "spec.revisionHistoryLimit", "10"},
	{"progress", "deployments.apps", "default/", WORKLOAD, "spec.progressDeadlineSeconds",
		"600"},
	{"status", "deployments.apps", "default/", WORKLOAD, "status", "{}"},
	{"template", "deployments.apps", "default/", WORKLOAD, "spec.template.spec.dnsPolicy",
		"'ClusterFirst'"},
	{"no links", "deployments.apps", "default/", WORKLOAD,
		"spec.template.spec.enableServiceLinks", ""},
	{"replica set", "replicasets.apps", "default/", WORKLOAD, "spec.replicas", "1"},
	{"replica set status", "replicasets.apps", "default/", WORKLOAD, "status",
		"{'replicas':0}"},
	{"controller", "replicationcontrollers", "default/",
		"{'metadata':{'name':'w'},'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
		"'spec':{" CONTAINER "}}}}",
		"spec.selector", "{'a':'b'}"},
	{"controller labels", "replicationcontrollers", "default/",
		"{'metadata':{'name':'w'},'spec':{'template':{'metadata':{'labels':{'a':'b'}},"
		"'spec':{" CONTAINER "}}}}",
		"metadata.labels", "{'a':'b'}"},
	{"stateful policy", "statefulsets.apps", "default/", WORKLOAD, "spec.podManagementPolicy",
		"'OrderedReady'"},
	{"stateful update", "statefulsets.apps", "default/", WORKLOAD, "spec.updateStrategy",
		"{'type':'RollingUpdate','rollingUpdate':{'partition':0}}"},
	{"stateful retention", "statefulsets.apps", "default/", WORKLOAD,
		"spec.persistentVolumeClaimRetentionPolicy",
		"{'whenDeleted':'Retain','whenScaled':'Retain'}"},
	{"stateful status", "statefulsets.apps", "default/", WORKLOAD, "status",
		"{'replicas':0,'availableReplicas':0}"},
	{"claim template", "statefulsets.apps", "default/",
		"{'metadata':{'name':'w'},'spec':{'volumeClaimTemplates':[{'metadata':{'name':'v'}"
		",'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"
		"'1Gi'}}}}]," TEMPLATE "}}",
		"spec.volumeClaimTemplates.0.status.phase", "'Pending'"},
	{"claim template mode", "statefulsets.apps", "default/",
		"{'metadata':{'name':'w'},'spec':{'volumeClaimTemplates':[{'metadata':{'name':'v'}"
		",'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':"
		"'1Gi'}}}}]," TEMPLATE "}}",
		"spec.volumeClaimTemplates.0.spec.volumeMode", "'Filesystem'"},
	{"daemon update", "daemonsets.apps", "default/", WORKLOAD, "spec.updateStrategy",
		"{'type':'RollingUpdate','rollingUpdate':{'maxUnavailable':1,'maxSurge':0}}"},
	{"daemon annotation", "daemonsets.apps", "default/", WORKLOAD, "metadata.annotations",
		"{'deprecated.daemonset.template.generation':'1'}"},
	{"daemon status", "daemonsets.apps", "default/", WORKLOAD, "status",
		"{'currentNumberScheduled':0,'numberMisscheduled':0,'desiredNumberScheduled':0,"
		"'numberReady':0}"},
};

START_TEST(test_kinds__workload_defaults)
{
	rows_check_values(workload_rows, ROW_COUNT(workload_rows));
}
END_TEST

#define JOB \
	"{'metadata':{'name':'j'},'spec':{'template':{'spec':{'restartPolicy':'Never'," CONTAINER \
	"}}}}"

START_TEST(test_kinds__job_defaults)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "jobs.batch", "default/", JOB);
	static const char *const values[][2] = {{"spec.parallelism", "1"},
		{"spec.completions", "1"}, {"spec.backoffLimit", "6"},
		{"spec.completionMode", "'NonIndexed'"}, {"spec.suspend", "false"},
		{"spec.podReplacementPolicy", "'TerminatingOrFailed'"},
		{"spec.manualSelector", "false"}, {"status", "{}"},
		{"spec.template.metadata.labels.job-name", "'j'"},
		{"metadata.labels.|batch.kubernetes.io/job-name", "'j'"}};
	for (uint32_t i = 0; i < ROW_COUNT(values); i++) {
		rows_expect(&f, values[i][0], values[i][0], values[i][1]);
	}
	struct bt_str uid = bt_arena_printf(&f.arena, "'%s'", api_text(&f, "metadata.uid"));
	rows_expect(&f, "selector", "spec.selector.matchLabels.|batch.kubernetes.io/controller-uid",
		uid.data);
	rows_expect(&f, "label", "spec.template.metadata.labels.controller-uid", uid.data);
	rows_create(&f, "cronjobs.batch", "default/",
		"{'metadata':{'name':'k'},'spec':{'schedule':'* * * * *','jobTemplate':{'spec':{"
		"'template':{'spec':{'restartPolicy':'Never'," CONTAINER "}}}}}}");
	rows_expect(&f, "concurrency", "spec.concurrencyPolicy", "'Allow'");
	rows_expect(&f, "suspend", "spec.suspend", "false");
	rows_expect(&f, "successes", "spec.successfulJobsHistoryLimit", "3");
	rows_expect(&f, "failures", "spec.failedJobsHistoryLimit", "1");
	rows_create(&f, "jobs.batch", "default/",
		"{'metadata':{'name':'l'},'spec':{'parallelism':3,'template':{'spec':{"
		"'restartPolicy':'Never'," CONTAINER "}}}}");
	rows_expect(&f, "completions stay away", "spec.completions", "");
	api_fixture_finish(&f);
}
END_TEST

#define VOLUME_SPEC \
	"'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'hostPath':{'path':'/x'}"
#define CLAIM_SPEC "'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}"

static const struct value_row other_rows[] = {
	{"volume policy", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{" VOLUME_SPEC "}}",
		"spec.persistentVolumeReclaimPolicy", "'Retain'"},
	{"volume mode", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{" VOLUME_SPEC "}}", "spec.volumeMode",
		"'Filesystem'"},
	{"volume status", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{" VOLUME_SPEC "}}", "status",
		"{'phase':'Pending','lastPhaseTransitionTime':'2026-11-21T12:00:00Z'}"},
	{"volume finalizer", "persistentvolumes", "",
		"{'metadata':{'name':'v'},'spec':{" VOLUME_SPEC "}}", "metadata.finalizers",
		"['kubernetes.io/pv-protection']"},
	{"claim status", "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'v'},'spec':{" CLAIM_SPEC "}}", "status",
		"{'phase':'Pending'}"},
	{"claim mode", "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'v'},'spec':{" CLAIM_SPEC "}}", "spec.volumeMode",
		"'Filesystem'"},
	{"claim finalizer", "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'v'},'spec':{" CLAIM_SPEC "}}", "metadata.finalizers",
		"['kubernetes.io/pvc-protection']"},
	{"class", "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'p'}", "reclaimPolicy", "'Delete'"},
	{"class binding", "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'p'}", "volumeBindingMode", "'Immediate'"},
	{"driver", "csidrivers.storage.k8s.io", "", "{'metadata':{'name':'d'},'spec':{}}", "spec",
		"{'attachRequired':true,'podInfoOnMount':false,'storageCapacity':false,"
		"'requiresRepublish':false,'seLinuxMount':false,'volumeLifecycleModes':["
		"'Persistent'],'fsGroupPolicy':'ReadWriteOnceWithFSType'}"},
	{"attachment", "volumeattachments.storage.k8s.io", "",
		"{'metadata':{'name':'a'},'spec':{'attacher':'d','nodeName':'n','source':{"
		"'persistentVolumeName':'v'}}}",
		"status", "{'attached':false}"},
	{"priority class", "priorityclasses.scheduling.k8s.io", "",
		"{'metadata':{'name':'p'},'value':7}", "preemptionPolicy",
		"'PreemptLowerPriority'"},
	{"budget", "poddisruptionbudgets.policy", "default/",
		"{'metadata':{'name':'b'},'spec':{'minAvailable':1}}", "status",
		"{'disruptionsAllowed':0,'currentHealthy':0,'desiredHealthy':0,'expectedPods':0}"},
	{"group", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}",
		"spec.disruptionMode", "'Pod'"},
	{"40 group priority", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'gang':{'minCount':2}}}}",
		"spec.priority", "0"},
	{"group finalizer", "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}}}}",
		"metadata.finalizers", "['scheduling.k8s.io/podgroup-protection']"},
	{"namespace label", "namespaces", "", "{'metadata':{'name':'n'}}", "metadata.labels",
		"{'kubernetes.io/metadata.name':'n'}"},
	{"namespace", "namespaces", "", "{'metadata':{'name':'n'}}", "spec",
		"{'finalizers':['kubernetes']}"},
	{"namespace status", "namespaces", "", "{'metadata':{'name':'n'}}", "status",
		"{'phase':'Active'}"},
	{"limit range", "limitranges", "default/",
		"{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container','max':{'cpu':'2'},"
		"'min':{'memory':'1Mi'}}]}}",
		"spec.limits.0.defaultRequest", "{'cpu':'2','memory':'1Mi'}"},
	{"limit range default", "limitranges", "default/",
		"{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container','max':{'cpu':'2'}}"
		"]}}",
		"spec.limits.0.default", "{'cpu':'2'}"},
	{"claim request", "resourceclaims.resource.k8s.io", "default/",
		"{'metadata':{'name':'r'},'spec':{'devices':{'requests':[{'name':'x','exactly':{"
		"'deviceClassName':'d'}}]}}}",
		"spec.devices.requests.0.exactly",
		"{'deviceClassName':'d','allocationMode':'ExactCount','count':1}"},
	{"claim alternatives", "resourceclaims.resource.k8s.io", "default/",
		"{'metadata':{'name':'r'},'spec':{'devices':{'requests':[{'name':'x',"
		"'firstAvailable':[{'name':'y','deviceClassName':'d'}]}]}}}",
		"spec.devices.requests.0.firstAvailable.0.count", "1"},
	{"secret", "secrets", "default/", "{'metadata':{'name':'s'}}", "type", "'Opaque'"},
	{"secret texts", "secrets", "default/",
		"{'metadata':{'name':'s'},'data':{'a':'eA=='},'stringData':{'a':'y','b':'abcd'}}",
		"data", "{'a':'eQ==','b':'YWJjZA=='}"},
	{"service type", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}", "spec.type",
		"'ClusterIP'"},
	{"service port", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}", "spec.ports",
		"[{'port':80,'protocol':'TCP','targetPort':80}]"},
	{"service affinity", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}],'sessionAffinity':"
		"'ClientIP'}}",
		"spec.sessionAffinityConfig", "{'clientIP':{'timeoutSeconds':10800}}"},
	{"service no affinity", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}],'sessionAffinityConfig':{"
		"'clientIP':{'timeoutSeconds':5}}}}",
		"spec.sessionAffinityConfig", ""},
	{"endpoints port", "endpoints", "default/",
		"{'metadata':{'name':'e'},'subsets':[{'ports':[{'port':80}]}]}",
		"subsets.0.ports.0.protocol", "'TCP'"},
	{"class parameters", "ingressclasses.networking.k8s.io", "",
		"{'metadata':{'name':'c'},'spec':{'controller':'a/b','parameters':{'kind':'K',"
		"'name':'n'}}}",
		"spec.parameters.scope", "'Cluster'"},
	{"failure policy", "jobs.batch", "default/",
		"{'metadata':{'name':'j'},'spec':{'podFailurePolicy':{'rules':[{'action':'Ignore',"
		"'onPodConditions':[{'type':'DisruptionTarget'}]}]},'template':{'spec':{"
		"'restartPolicy':'Never'," CONTAINER "}}}}",
		"spec.podFailurePolicy.rules.0.onPodConditions.0.status", "'True'"},
	{"service headless", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'clusterIP':'None'}}", "spec.clusterIPs",
		"['None']"},
	{"service headless families", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'clusterIP':'None','ipFamilies':['IPv6']}}",
		"spec.ipFamilies", "['IPv6','IPv4']"},
	{"service headless with selector", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'clusterIP':'None','selector':{'a':'b'},'ports':["
		"{"
		"'port':80}]}}",
		"spec.ipFamilyPolicy", "'SingleStack'"},
	{"service families", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}", "spec.ipFamilies",
		"['IPv4']"},
	{"service policy", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}",
		"spec.internalTrafficPolicy", "'Cluster'"},
	{"service status", "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}", "status",
		"{'loadBalancer':{}}"},
};

START_TEST(test_kinds__other_defaults)
{
	rows_check_values(other_rows, ROW_COUNT(other_rows));
}
END_TEST

START_TEST(test_kinds__service_address)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'ports':[{'port':80}]}}");
	struct bt_str address = bt_str_from(api_text(&f, "spec.clusterIP"));
	ck_assert_msg(bt_str_has_prefix(address, BT_STR("10.")), "%s", address.data);
	ck_assert_uint_eq(api_update(&f, "services", "default/s",
				  "{'metadata':{'name':'s'},'spec':{'ports':[{'port':81}],'type':'"
				  "NodePort'}}"),
		200);
	ck_assert_str_eq(api_text(&f, "spec.clusterIP"), address.data);
	rows_expect(&f, "external", "spec.externalTrafficPolicy", "'Cluster'");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/s",
				  "{'spec':{'clusterIP':'10.96.0.9'}}"),
		422);
	api_fixture_finish(&f);
}
END_TEST

/** Without a comparison about eight of 4,000 random addresses would repeat. */
START_TEST(test_kinds__service_addresses_differ)
{
	struct api_fixture f;
	struct bt_text_set used = {0};
	rows_init(&f);
	for (uint32_t i = 0; i < 4000; i++) {
		char body[80];
		(void)snprintf(body, sizeof(body),
			"{'metadata':{'name':'s%u'},'spec':{'ports':[{'port':80}]}}", i);
		ck_assert_uint_eq(api_create(&f, "services", "default/", body), 201);
		const char *address = api_text(&f, "spec.clusterIP");
		ck_assert_msg(bt_text_set_add(&used, bt_str_from(address)), "%u: %s", i, address);
	}
	bt_text_set_finish(&used);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__health_check_node_port)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "services", "default/",
		"{'metadata':{'name':'s'},'spec':{'type':'LoadBalancer','externalTrafficPolicy':'"
		"Local','ports':[{'port':1}]}}");
	uint32_t port = (uint32_t)strtoul(api_json(&f, "spec.healthCheckNodePort"), NULL, 10);
	ck_assert_uint_ge(port, 30000);
	ck_assert_uint_le(port, 32767);
	ck_assert_uint_ne(port, (uint32_t)strtoul(api_json(&f, "spec.ports.0.nodePort"), NULL, 10));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/s",
				  "{'spec':{'healthCheckNodePort':null,'sessionAffinity':'None'}}"),
		200);
	ck_assert_uint_eq(
		port, (uint32_t)strtoul(api_json(&f, "spec.healthCheckNodePort"), NULL, 10));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "services", "default/s",
				  "{'spec':{'externalTrafficPolicy':'Cluster'}}"),
		200);
	ck_assert_str_eq(api_json(&f, "spec.healthCheckNodePort"), "");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__node_ports_of_one_service_differ)
{
	struct api_fixture f;
	struct bt_strbuf text = {0};
	rows_init(&f);
	bt_strbuf_append_c(&text,
		"{'metadata':{'name':'s'},'spec':{'type':'NodePort','ports':["
		"{'name':'chosen','port':1}");
	for (uint32_t i = 30000; i < 32767; i++) {
		bt_strbuf_printf(&text, ",{'name':'p%u','port':%u,'nodePort':%u}", i, i, i);
	}
	bt_strbuf_append_c(&text, "]}}");
	rows_create(&f, "services", "default/", bt_strbuf_c(&text));
	ck_assert_ptr_nonnull(strstr(api_json(&f, "spec.ports"), "'nodePort':32767"));
	/* An update keeps the other ports. */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "services", "default/s",
				  "{'spec':{'ports':[{'port':30123,'$patch':'delete'},"
				  "{'name':'new','port':2}]}}"),
		200);
	ck_assert_ptr_nonnull(strstr(api_json(&f, "spec.ports"), "'nodePort':30123"));
	bt_strbuf_finish(&text);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_kinds__restored_objects_keep_what_they_have)
{
	struct api_fixture f;
	rows_init(&f);
	f.request.restore = true;
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'p','labels':{'pth':'h1'}},'spec':{'nodeName':'n','priority':"
		"5,'priorityClassName':'gone'," CONTAINER ",'topologySpreadConstraints':[{"
		"'maxSkew':1,'topologyKey':'z','whenUnsatisfiable':'DoNotSchedule',"
		"'labelSelector':{'matchExpressions':[{'key':'pth','operator':'In','values':['h1']"
		"}]},'matchLabelKeys':['pth']}]},'status':{'phase':'Running'}}");
	rows_expect(&f, "status", "status", "{'phase':'Running','qosClass':'BestEffort'}");
	rows_expect(&f, "priority", "spec.priority", "5");
	rows_expect(&f, "node", "spec.nodeName", "'n'");
	rows_expect(&f, "keys", "spec.topologySpreadConstraints.0.labelSelector.matchExpressions",
		"[{'key':'pth','operator':'In','values':['h1']}]");
	f.request.restore = true;
	rows_create(&f, "nodes", "", "{'metadata':{'name':'n'}}");
	rows_expect(&f, "no taint", "spec.taints", "");
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("kinds_defaults", test_kinds__pod_defaults, test_kinds__edge_14b_01_plain_pod,
	test_kinds__edge_14b_02_requests_from_limits, test_kinds__edge_14b_04_host_network,
	test_kinds__edge_14b_05_pull_policy, test_kinds__edge_14b_09_gates,
	test_kinds__edge_14b_11_12_label_keys, test_kinds__edge_14b_16_node,
	test_kinds__edge_14b_32_pod_level, test_kinds__edge_14b_33_rounding,
	test_kinds__workload_defaults, test_kinds__job_defaults, test_kinds__other_defaults,
	test_kinds__service_address, test_kinds__service_addresses_differ,
	test_kinds__health_check_node_port, test_kinds__node_ports_of_one_service_differ,
	test_kinds__restored_objects_keep_what_they_have)

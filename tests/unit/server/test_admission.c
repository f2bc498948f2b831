/* SPDX-License-Identifier: Apache-2.0 */
/* Admission. Spec: 14b sections 4 and 12. */
#include "kinds_rows.h"

#include "codec/json_edit.h"
#include "server/strategy.h"
#include "test_main.h"

#define CLASSES "priorityclasses.scheduling.k8s.io"
#define TOLERATIONS(text) POD(CONTAINER ",'tolerations':[" text "]")
#define NOT_READY \
	"{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':'NoExecute'," \
	"'tolerationSeconds':300}"
#define UNREACHABLE \
	"{'key':'node.kubernetes.io/unreachable','operator':'Exists','effect':'NoExecute'," \
	"'tolerationSeconds':300}"

static void expect_refusal(struct api_fixture *f, const char *resource, const char *key,
	const char *body, uint16_t code, const char *message)
{
	uint16_t got = api_create(f, resource, key, body);
	if (got != code || strcmp(api_message(f), message) != 0) {
		ck_abort_msg("%s: %u %s", body, got, api_message(f));
	}
}

START_TEST(test_admission__edge_14_32_33_namespaces)
{
	struct api_fixture f;
	rows_init(&f);
	expect_refusal(&f, "pods", "nope/", POD(CONTAINER), 404, "namespaces \"nope\" not found");
	rows_expect(&f, "details", "details", "{'name':'nope','kind':'namespaces'}");
	rows_create(&f, "namespaces", "", "{'metadata':{'name':'m1'}}");
	ck_assert_uint_eq(api_delete(&f, "namespaces", "m1"), 200);
	expect_refusal(&f, "pods", "m1/", POD(CONTAINER), 403,
		"pods \"p\" is forbidden: unable to create new content in namespace m1 because it "
		"is being terminated");
	rows_expect(&f, "cause", "details.causes",
		"[{'reason':'NamespaceTerminating','message':'namespace m1 is being terminated',"
		"'field':'metadata.namespace'}]");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_06_priority)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "pods", "default/", POD(CONTAINER ",'priority':0"));
	rows_expect(&f, "equal", "spec.priority", "0");
	expect_refusal(&f, "pods", "default/", POD(CONTAINER ",'priority':5"), 403,
		"pods \"p\" is forbidden: the integer value of priority (5) must not be provided "
		"in pod spec; priority admission controller computed 0 from the given "
		"PriorityClass name");
	expect_refusal(&f, "pods", "default/", POD(CONTAINER ",'preemptionPolicy':'Never'"), 403,
		"pods \"p\" is forbidden: the string value of PreemptionPolicy (Never) must not be "
		"provided in pod spec; priority admission controller computed "
		"PreemptLowerPriority from the given PriorityClass name");
	expect_refusal(&f, "pods", "default/", POD(CONTAINER ",'priorityClassName':'nope'"), 403,
		"pods \"p\" is forbidden: no PriorityClass with name nope was found");
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'s'},'spec':{" CONTAINER
		",'priorityClassName':'system-node-critical'}}");
	rows_expect(&f, "system", "spec.priority", "2000001000");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_41_global_default)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, CLASSES, "",
		"{'metadata':{'name':'high'},'value':100,'globalDefault':true,'preemptionPolicy':"
		"'Never'}");
	rows_expect(&f, "generation", "metadata.generation", "1");
	expect_refusal(&f, CLASSES, "",
		"{'metadata':{'name':'other'},'value':1,'globalDefault':true}", 403,
		"priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass high is "
		"already marked as default. Only one default can exist");
	rows_create(&f, CLASSES, "", "{'metadata':{'name':'plain'},'value':7}");
	rows_create(&f, "pods", "default/", POD(CONTAINER));
	rows_expect(&f, "name", "spec.priorityClassName", "'high'");
	rows_expect(&f, "priority", "spec.priority", "100");
	rows_expect(&f, "policy", "spec.preemptionPolicy", "'Never'");
	rows_create(&f, "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'priorityClassName':'plain','schedulingPolicy':{"
		"'basic':{}}}}");
	rows_expect(&f, "group", "spec.priority", "7");
	/* updating the class that is the global default is no conflict with itself */
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, CLASSES, "high", "{'metadata':{'labels':{'a':'b'}}}"),
		200);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__priority_stays_on_update)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "pods", "default/", POD(CONTAINER));
	ck_assert_uint_eq(api_update(&f, "pods", "default/p",
				  POD(CONTAINER ",'serviceAccountName':'default'")),
		200);
	rows_expect(&f, "priority", "spec.priority", "0");
	rows_expect(&f, "policy", "spec.preemptionPolicy", "'PreemptLowerPriority'");
	rows_expect(&f, "tolerations", "spec.tolerations", "[" NOT_READY "," UNREACHABLE "]");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_07_08_tolerations)
{
	static const struct value_row rows[] = {
		{"07 everything", "pods", "default/", TOLERATIONS("{'operator':'Exists'}"),
			"spec.tolerations", "[{'operator':'Exists'}]"},
		{"07 other key", "pods", "default/", TOLERATIONS("{'key':'a','operator':'Exists'}"),
			"spec.tolerations",
			"[{'key':'a','operator':'Exists'}," NOT_READY "," UNREACHABLE "]"},
		{"08 own", "pods", "default/",
			TOLERATIONS("{'key':'node.kubernetes.io/not-ready','operator':'Exists',"
				    "'effect':'NoExecute','tolerationSeconds':5}"),
			"spec.tolerations",
			"[{'key':'node.kubernetes.io/not-ready','operator':'Exists','effect':"
			"'NoExecute','tolerationSeconds':5}," UNREACHABLE "]"},
		{"other effect", "pods", "default/",
			TOLERATIONS("{'key':'node.kubernetes.io/unreachable','operator':'Exists',"
				    "'effect':'NoSchedule'}"),
			"spec.tolerations",
			"[{'key':'node.kubernetes.io/unreachable','operator':'Exists','effect':"
			"'NoSchedule'}," NOT_READY "," UNREACHABLE "]"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
}
END_TEST

START_TEST(test_admission__edge_14b_13_node_name_given)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "nodes", "",
		"{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'z','x':'y'}}}");
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'p','labels':{'topology.kubernetes.io/zone':'q'}},'spec':{"
		"'nodeName':'n'," CONTAINER "}}");
	rows_expect(&f, "labels", "metadata.labels", "{'topology.kubernetes.io/zone':'z'}");
	rows_expect(&f, "conditions", "status.conditions", "");
	rows_expect(&f, "node", "spec.nodeName", "'n'");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_14_topology_labels)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "nodes", "",
		"{'metadata':{'name':'n','labels':{'topology.kubernetes.io/zone':'z',"
		"'topology.kubernetes.io/region':'r','x':'y'}}}");
	struct bt_json_value *pod = bt_json_new(&f.arena, BT_JSON_OBJECT);
	const struct bt_write write = {.api = f.api, .arena = &f.arena};
	bt_admit_topology_labels(&write, BT_STR("missing"), pod);
	ck_assert_uint_eq(pod->count, 0);
	bt_admit_topology_labels(&write, BT_STR("n"), pod);
	f.result = pod;
	rows_expect(&f, "labels", "metadata.labels",
		"{'topology.kubernetes.io/zone':'z','topology.kubernetes.io/region':'r'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_15_node_taint)
{
	static const struct value_row rows[] = {
		{"15", "nodes", "",
			"{'metadata':{'name':'n'},'status':{'conditions':[{'type':'Ready','status'"
			":'True'}]}}",
			"spec.taints",
			"[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]"},
		{"there already", "nodes", "",
			"{'metadata':{'name':'n'},'spec':{'taints':[{'key':"
			"'node.kubernetes.io/not-ready','effect':'NoSchedule'}]}}",
			"spec.taints",
			"[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]"},
	};
	rows_check_values(rows, ROW_COUNT(rows));
	struct api_fixture f;
	api_fixture_init(&f); /* optional admission plugins are off */
	rows_create(&f, "nodes", "", "{'metadata':{'name':'n'}}");
	rows_expect(&f, "off", "spec.taints", "");
	rows_create(&f, "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'1'}}}}");
	rows_expect(&f, "no finalizer", "metadata.finalizers", "");
	rows_create(&f, "pods", "default/", POD(CONTAINER));
	rows_expect(&f, "no account", "spec.serviceAccountName", "");
	api_fixture_finish(&f);
}
END_TEST

#define STORAGE_CLASS(name) \
	"{'metadata':{'name':'" name "','annotations':{" \
	"'storageclass.kubernetes.io/is-default-class':'true'}},'provisioner':'p'}"
#define CLAIM(name, text) \
	"{'metadata':{'name':'" name "'},'spec':{" text "'accessModes':['ReadWriteOnce']," \
	"'resources':{'requests':{'storage':'1Gi'}}}}"

START_TEST(test_admission__edge_14b_18_19_default_class)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "persistentvolumeclaims", "default/", CLAIM("a", ""));
	rows_expect(&f, "none", "spec.storageClassName", "");
	rows_create(&f, "storageclasses.storage.k8s.io", "", STORAGE_CLASS("z"));
	rows_create(&f, "storageclasses.storage.k8s.io", "", STORAGE_CLASS("y"));
	rows_create(&f, "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'a'},'provisioner':'p'}");
	rows_create(&f, "persistentvolumeclaims", "default/", CLAIM("b", ""));
	rows_expect(&f, "first by name", "spec.storageClassName", "'y'");
	rows_create(&f, "persistentvolumeclaims", "default/", CLAIM("c", "'storageClassName':'',"));
	rows_expect(&f, "18 empty", "spec.storageClassName", "''");
	f.now_ns += INT64_C(5000000000);
	rows_create(&f, "storageclasses.storage.k8s.io", "", STORAGE_CLASS("zz"));
	rows_create(&f, "persistentvolumeclaims", "default/", CLAIM("d", ""));
	rows_expect(&f, "19 newer", "spec.storageClassName", "'zz'");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__claim_growth)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "storageclasses.storage.k8s.io", "",
		"{'metadata':{'name':'s'},'provisioner':'p'}");
	rows_create(
		&f, "persistentvolumeclaims", "default/", CLAIM("c", "'storageClassName':'s',"));
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "persistentvolumeclaims/status",
				  "default/c", "{'status':{'phase':'Bound'}}"),
		200);
	static const char more[] = "{'spec':{'resources':{'requests':{'storage':'2Gi'}}}}";
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "persistentvolumeclaims", "default/c", more), 403);
	ck_assert_str_eq(api_message(&f),
		"persistentvolumeclaims \"c\" is forbidden: only dynamically provisioned pvc can "
		"be resized and the storageclass that provisions the pvc must support resize");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "storageclasses.storage.k8s.io", "s",
				  "{'allowVolumeExpansion':true}"),
		200);
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "persistentvolumeclaims", "default/c", more), 200);
	api_fixture_finish(&f);
}
END_TEST

#define LIMITS(text) "{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container'," text "}]}}"
#define LIMITED(text) POD("'containers':[{'name':'c','image':'i','resources':{" text "}}]")

START_TEST(test_admission__edge_14b_30_31_limit_range)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "limitranges", "default/",
		LIMITS("'default':{'cpu':'500m'},'defaultRequest':{'cpu':'100m'},'max':{'cpu':'2'}"
		       ",'maxLimitRequestRatio':{'cpu':'10'}"));
	rows_create(&f, "pods", "default/", LIMITED("'limits':{'cpu':'1'}"));
	rows_expect(&f, "30 own limit", "spec.containers.0.resources.requests", "{'cpu':'1'}");
	rows_expect(&f, "no annotation", "metadata.annotations", "");
	expect_refusal(&f, "pods", "default/", LIMITED("'limits':{'cpu':'3'}"), 403,
		"pods \"p\" is forbidden: maximum cpu usage per Container is 2, but limit is 3");
	expect_refusal(&f, "pods", "default/",
		LIMITED("'limits':{'cpu':'2'},'requests':{'cpu':'100m'}"), 403,
		"pods \"p\" is forbidden: cpu max limit to request ratio per Container is 10, but "
		"provided ratio is 20.000000");
	rows_create(&f, "pods", "default/", "{'metadata':{'name':'q'},'spec':{" CONTAINER "}}");
	rows_expect(&f, "defaults", "spec.containers.0.resources",
		"{'limits':{'cpu':'500m'},'requests':{'cpu':'100m'}}");
	rows_expect(&f, "annotation", "metadata.annotations.|kubernetes.io/limit-ranger",
		"'LimitRanger plugin set: cpu request for container c; cpu limit for container c'"
		"");
	rows_expect(&f, "class", "status.qosClass", "'Burstable'");
	/* Another namespace has no such limits. */
	rows_create(&f, "pods", "kube-system/", LIMITED("'limits':{'cpu':'3'}"));
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__limit_range_of_pods_and_claims)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "limitranges", "default/",
		"{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Pod','max':{'cpu':'2'},"
		"'min':{'memory':'1Gi'}},{'type':'PersistentVolumeClaim','min':{'storage':'1Gi'},"
		"'max':{'storage':'2Gi'}}]}}");
	expect_refusal(&f, "pods", "default/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i',"
		"'resources':{'limits':{'cpu':'1','memory':'1Gi'}}},{'name':'d','image':'i',"
		"'resources':{'limits':{'cpu':'1500m'}}}]}}",
		403, "pods \"p\" is forbidden: maximum cpu usage per Pod is 2, but limit is 2500m");
	expect_refusal(&f, "pods", "default/", LIMITED("'limits':{'cpu':'1'}"), 403,
		"pods \"p\" is forbidden: minimum memory usage per Pod is 1Gi.  No request is "
		"specified");
	rows_create(&f, "pods", "default/", LIMITED("'limits':{'cpu':'2','memory':'1Gi'}"));
	expect_refusal(&f, "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'3Gi'}}}}",
		403,
		"persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
		"PersistentVolumeClaim is 2Gi, but request is 3Gi");
	rows_create(&f, "persistentvolumeclaims", "default/",
		"{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{"
		"'requests':{'storage':'2Gi'}}}}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__limit_range_minimum)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "limitranges", "default/",
		"{'metadata':{'name':'l'},'spec':{'limits':[{'type':'Container','min':{'cpu':"
		"'100m','memory':'1Mi'},'defaultRequest':{'cpu':'200m','memory':'2Mi'}},{'type':"
		"'PersistentVolumeClaim','min':{'storage':'1Gi'}}]}}");
	expect_refusal(&f, "pods", "default/", LIMITED("'requests':{'cpu':'50m','memory':'512Ki'}"),
		403,
		"pods \"p\" is forbidden: [minimum cpu usage per Container is 100m, but request "
		"is 50m, minimum memory usage per Container is 1Mi, but request is 512Ki]");
	rows_create(&f, "pods", "default/",
		POD("'initContainers':[{'name':'i','image':'i'}]," CONTAINER));
	rows_expect(&f, "annotation", "metadata.annotations.|kubernetes.io/limit-ranger",
		"'LimitRanger plugin set: cpu, memory request for container c; cpu, memory "
		"request for init container i'");
	api_fixture_finish(&f);
}
END_TEST

#define RUNTIME POD(CONTAINER ",'runtimeClassName':'rc','nodeSelector':{'k':'v'}")

START_TEST(test_admission__edge_14b_42_runtime_class)
{
	struct api_fixture f;
	rows_init(&f);
	expect_refusal(&f, "pods", "default/", RUNTIME, 403,
		"pods \"p\" is forbidden: pod rejected: RuntimeClass \"rc\" not found");
	expect_refusal(&f, "pods", "default/", POD(CONTAINER ",'overhead':{'cpu':'1'}"), 403,
		"pods \"p\" is forbidden: pod rejected: Pod Overhead set without corresponding "
		"RuntimeClass defined Overhead");
	rows_create(&f, "runtimeclasses.node.k8s.io", "",
		"{'metadata':{'name':'rc'},'handler':'h','overhead':{'podFixed':{'cpu':'250m'}},"
		"'scheduling':{'nodeSelector':{'a':'b'},'tolerations':[{'key':'t','operator':"
		"'Exists'}]}}");
	rows_create(&f, "pods", "default/", RUNTIME);
	rows_expect(&f, "overhead", "spec.overhead", "{'cpu':'250m'}");
	rows_expect(&f, "selector", "spec.nodeSelector", "{'k':'v','a':'b'}");
	rows_expect(&f, "tolerations", "spec.tolerations.2", "{'key':'t','operator':'Exists'}");
	api_fixture_finish(&f);
}
END_TEST

/** The fixture's API has all feature gates off, as upstream by default. */
START_TEST(test_admission__pod_groups_without_their_gates)
{
	static const char pod[] =
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'schedulingGroup':{'podGroupName':'g'}}}";
	static const char group[] =
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}},"
		"'schedulingConstraints':{'topology':[{'key':'rack'}]},'disruptionMode':'Pod',"
		"'priorityClassName':'no-such-class','resourceClaims':[{'name':'c',"
		"'resourceClaimName':'c'}]}}";
	struct api_fixture f;
	struct bt_api_options options;
	api_fixture_init(&f);
	ck_assert_ptr_null(bt_resources_find_kind(
		bt_api_resources(f.api), BT_STR("scheduling.k8s.io/v1alpha2"), BT_STR("PodGroup")));
	ck_assert_ptr_null(bt_resources_find_kind(
		bt_api_resources(f.api), BT_STR("scheduling.k8s.io/v1alpha2"), BT_STR("Workload")));
	rows_create(&f, "pods", "default/", pod);
	ck_assert_str_eq(api_json(&f, "spec.schedulingGroup"), "");
	rows_create(&f, "cronjobs.batch", "default/",
		"{'metadata':{'name':'c'},'spec':{'schedule':'* * * * *','jobTemplate':{'spec':{"
		"'template':{'spec':{'restartPolicy':'Never','containers':[{'name':'c',"
		"'image':'i'}],'schedulingGroup':{'podGroupName':'g'}}}}}}}");
	ck_assert_str_eq(api_json(&f, "spec.jobTemplate.spec.template.spec.schedulingGroup"), "");
	/*
	 * With GenericWorkload alone the pod keeps its group, but loses the fields of the other
	 * gates.
	 */
	options = *bt_api_options(f.api);
	options.generic_workload = true;
	bt_api_destroy(f.api);
	f.api = bt_api_create(&options);
	rows_create(&f, "podgroups.scheduling.k8s.io", "default/", group);
	ck_assert_str_eq(api_json(&f, "spec"), "{'schedulingPolicy':{'basic':{}}}");
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'q'},'spec':{'containers':[{'name':'c','image':'i'}],"
		"'schedulingGroup':{'podGroupName':'g'}}}");
	ck_assert_str_eq(api_json(&f, "spec.schedulingGroup"), "{'podGroupName':'g'}");
	/* A stored field stays after its gate is switched off. */
	options.generic_workload = false;
	bt_api_destroy(f.api);
	f.api = bt_api_create(&options);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods", "default/q",
				  "{'metadata':{'labels':{'a':'b'}}}"),
		200);
	ck_assert_str_eq(api_json(&f, "spec.schedulingGroup"), "{'podGroupName':'g'}");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__group_of_a_workload)
{
	static const char group[] =
		"{'metadata':{'name':'g'},'spec':{'podGroupTemplateRef':{'workload':{"
		"'workloadName':'w','podGroupTemplateName':'t'}},'schedulingPolicy':{'basic':{}}}}"
		"";
	struct api_fixture f;
	rows_init(&f);
	expect_refusal(&f, "podgroups.scheduling.k8s.io", "default/", group, 403,
		"podgroups.scheduling.k8s.io \"g\" is forbidden: workload \"w\" not found");
	rows_create(&f, "workloads.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'w'},'spec':{'podGroupTemplates':[{'name':'t',"
		"'schedulingPolicy':{'basic':{}}}]}}");
	rows_create(&f, "podgroups.scheduling.k8s.io", "default/", group);
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__quota)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "resourcequotas", "kube-system/",
		"{'metadata':{'name':'q'},'spec':{'hard':{'pods':'0'}}}");
	rows_create(&f, "resourcequotas", "default/",
		"{'metadata':{'name':'r'},'spec':{'hard':{'requests.cpu':'1','count/configmaps':"
		"'1'}}}");
	expect_refusal(&f, "pods", "kube-system/", POD(CONTAINER), 403,
		"pods \"p\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, "
		"limited: pods=0");
	expect_refusal(&f, "pods", "default/", POD(CONTAINER), 403,
		"pods \"p\" is forbidden: failed quota: r: must specify requests.cpu");
	rows_create(&f, "pods", "default/", LIMITED("'requests':{'cpu':'600m'}"));
	expect_refusal(&f, "pods", "default/",
		"{'metadata':{'name':'b'},'spec':{'containers':[{'name':'c','image':'i',"
		"'resources':{'requests':{'cpu':'500m'}}}]}}",
		403,
		"pods \"b\" is forbidden: exceeded quota: r, requested: requests.cpu=500m, used: "
		"requests.cpu=600m, limited: requests.cpu=1");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/p",
				  "{'status':{'phase':'Succeeded'}}"),
		200);
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'b'},'spec':{'containers':[{'name':'c','image':'i',"
		"'resources':{'requests':{'cpu':'500m'}}}]}}");
	rows_create(&f, "configmaps", "default/", "{'metadata':{'name':'m'}}");
	expect_refusal(&f, "configmaps", "default/", "{'metadata':{'name':'n'}}", 403,
		"configmaps \"n\" is forbidden: exceeded quota: r, requested: count/configmaps=1, "
		"used: count/configmaps=1, limited: count/configmaps=1");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__quota_of_pod_resources)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "runtimeclasses.node.k8s.io", "",
		"{'metadata':{'name':'rc'},'handler':'h','overhead':{'podFixed':{'cpu':'250m',"
		"'memory':'1Mi'}}}");
	rows_create(&f, "resourcequotas", "default/",
		"{'metadata':{'name':'r'},'spec':{'hard':{'requests.cpu':'2','limits.memory':'3Mi'"
		"}}}");
	expect_refusal(&f, "pods", "default/",
		"{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'cpu':'1900m'},"
		"'limits':{'memory':'2Mi'}},'runtimeClassName':'rc'," CONTAINER "}}",
		403,
		"pods \"a\" is forbidden: exceeded quota: r, requested: requests.cpu=2150m, used: "
		"requests.cpu=0, limited: requests.cpu=2");
	rows_create(&f, "pods", "default/",
		"{'metadata':{'name':'a'},'spec':{'resources':{'requests':{'cpu':'1'},"
		"'limits':{'memory':'2Mi'}},'runtimeClassName':'rc'," CONTAINER "}}");
	expect_refusal(&f, "pods", "default/",
		"{'metadata':{'name':'b'},'spec':{'resources':{'requests':{'cpu':'1'},"
		"'limits':{'memory':'1Mi'}}," CONTAINER "}}",
		403,
		"pods \"b\" is forbidden: exceeded quota: r, requested: "
		"requests.cpu=1,limits.memory=1Mi, used: requests.cpu=1250m,limits.memory=3Mi, "
		"limited: requests.cpu=2,limits.memory=3Mi");
	api_fixture_finish(&f);
}
END_TEST

/* The quota's sums follow creates, deletions, pods that have ended, and a new spec of the quota. */
START_TEST(test_admission__quota_sums)
{
	static const char refused[] =
		"{'metadata':{'name':'z'},'spec':{'containers':[{'name':'c','image':'i',"
		"'resources':{'requests':{'cpu':'9'}}}]}}";
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "namespaces", "", "{'metadata':{'name':'other'}}");
	rows_create(&f, "resourcequotas", "default/",
		"{'metadata':{'name':'r'},'spec':{'hard':{'requests.cpu':'4'}}}");
	for (int i = 0; i < 5; i++) {
		char pod[200];
		(void)snprintf(pod, sizeof(pod),
			"{'metadata':{'name':'p%d'},'spec':{'containers':[{'name':'c','image':'i',"
			"'resources':{'requests':{'cpu':'%d00m'}}}]}}",
			i, i + 1);
		rows_create(&f, "pods", "default/", pod);
		rows_create(&f, "pods", "other/", pod);
	}
	expect_refusal(&f, "pods", "default/", refused, 403,
		"pods \"z\" is forbidden: exceeded quota: r, requested: requests.cpu=9, used: "
		"requests.cpu=1500m, limited: requests.cpu=4");
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p4"), 200);
	ck_assert_uint_eq(api_delete(&f, "pods", "other/p3"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/status", "default/p1",
				  "{'status':{'phase':'Failed'}}"),
		200);
	expect_refusal(&f, "pods", "default/", refused, 403,
		"pods \"z\" is forbidden: exceeded quota: r, requested: requests.cpu=9, used: "
		"requests.cpu=800m, limited: requests.cpu=4");
	ck_assert_uint_eq(api_delete(&f, "pods", "default/p1"), 200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "resourcequotas", "default/r",
				  "{'spec':{'hard':{'requests.cpu':'5','pods':'9'}}}"),
		200);
	expect_refusal(&f, "pods", "default/", refused, 403,
		"pods \"z\" is forbidden: exceeded quota: r, requested: requests.cpu=9, used: "
		"requests.cpu=800m, limited: requests.cpu=5");
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__edge_14b_40_group_without_class)
{
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'g'},'spec':{'schedulingPolicy':{'basic':{}}}}");
	rows_expect(&f, "no default class", "spec.priority", "0");
	rows_create(
		&f, CLASSES, "", "{'metadata':{'name':'high'},'value':100,'globalDefault':true}");
	rows_create(&f, "podgroups.scheduling.k8s.io", "default/",
		"{'metadata':{'name':'h'},'spec':{'schedulingPolicy':{'basic':{}}}}");
	rows_expect(&f, "default class", "spec.priority", "100");
	api_fixture_finish(&f);
}
END_TEST

#define LEVEL "pod-security.kubernetes.io/"
#define SAFE_POD \
	"'securityContext':{'runAsNonRoot':true,'seccompProfile':{'type':'RuntimeDefault'}}"
#define SAFE_CONTAINER "'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']}"
#define UNSAFE_MESSAGE \
	"allowPrivilegeEscalation != false (container \"a\" must set " \
	"securityContext.allowPrivilegeEscalation=false), unrestricted capabilities (container " \
	"\"a\" must set securityContext.capabilities.drop=[\"ALL\"]), runAsNonRoot != true (pod " \
	"or container \"a\" must set securityContext.runAsNonRoot=true), seccompProfile (pod or " \
	"container \"a\" must set securityContext.seccompProfile.type to \"RuntimeDefault\" or " \
	"\"Localhost\")"

/** Pods by namespace "baseline" or "restricted": members of the spec and of the container. */
static const struct security_row {
	const char *level;
	const char *spec;
	const char *container;
	const char *message; /* NULL: accepted */
} security_rows[] = {
	{"baseline", "'hostUsers':true", "'image':'i'", NULL},
	{"baseline", "'hostNetwork':true,'hostIPC':true", "'image':'i'",
		"host namespaces (hostNetwork=true, hostIPC=true)"},
	{"baseline", "'volumes':[{'name':'v','hostPath':{'path':'/'}},{'name':'w','emptyDir':{}}]",
		"'image':'i'", "hostPath volumes (volume \"v\")"},
	{"baseline",
		"'initContainers':[{'name':'b','image':'i','securityContext':{'privileged':"
		"true}}]",
		"'securityContext':{'privileged':true}",
		"privileged (containers \"b\", \"a\" must not set "
                "securityContext.privileged=true)"},
	{"baseline", "'hostPID':false",
		"'ports':[{'containerPort':80,'hostPort':80},{'containerPort':443,'hostPort':443}]",
		"hostPort (container \"a\" uses hostPorts 443, 80)"},
	{"baseline", "'hostPID':false",
		"'securityContext':{'capabilities':{'add':['NET_RAW','CHOWN','BPF']}}",
		"non-default capabilities (container \"a\" must not include \"BPF\", \"NET_RAW\" "
                "in "
		"securityContext.capabilities.add)"},
	{"baseline", "'hostPID':false", "'livenessProbe':{'tcpSocket':{'host':'h','port':1}}",
		"probe or lifecycle host (container \"a\" uses probe or lifecycle host \"h\")"},
	{"baseline", "'hostPID':false", "'securityContext':{'procMount':'Unmasked'}",
		"procMount (container \"a\" must not set securityContext.procMount to "
                "\"Unmasked\")"},
	{"baseline", "'securityContext':{'seLinuxOptions':{'type':'x','role':'r'}}",
		"'securityContext':{'seLinuxOptions':{'type':'container_t','user':'u'}}",
		"seLinuxOptions (pod and container \"a\" set forbidden "
		"securityContext.seLinuxOptions: type \"x\"; user may not be set; role may not be "
		"set)"},
	{"baseline",
		"'securityContext':{'seccompProfile':{'type':'Unconfined'},"
		"'appArmorProfile':{'type':'Unconfined'},'sysctls':[{'name':'a.b','value':'1'}"
		",{'name':'kernel.shm_rmid_forced','value':'1'}]}",
		"'image':'i'",
		"forbidden AppArmor profile (pod must not set securityContext.appArmorProfile.type "
		"to \"Unconfined\"), seccompProfile (pod must not set "
		"securityContext.seccompProfile.type to \"Unconfined\"), forbidden sysctls (a.b)"},
	{"restricted", "'hostPID':false", "'image':'i'", UNSAFE_MESSAGE},
	{"restricted", SAFE_POD,
		"'securityContext':{'allowPrivilegeEscalation':false,'capabilities':{'drop':['ALL']"
                ","
		"'add':['NET_BIND_SERVICE']}}",
		NULL},
	{"restricted", "'os':{'name':'windows'},'securityContext':{'runAsNonRoot':true}",
		"'image':'i'", NULL},
	{"restricted",
		SAFE_POD ",'volumes':[{'name':'v','hostPath':{'path':'/'}},{'name':'w',"
			 "'nfs':{'server':'s','path':'/p'}}]",
		"'securityContext':{" SAFE_CONTAINER "}",
		"restricted volume types (volumes \"v\", \"w\" use restricted volume types "
		"\"hostPath\", \"nfs\")"},
	{"restricted", SAFE_POD,
		"'securityContext':{'allowPrivilegeEscalation':false,'runAsNonRoot':false,"
		"'runAsUser':0,'seccompProfile':{'type':'Unconfined'},'capabilities':{'add':"
		"['CHOWN']}}",
		"unrestricted capabilities (container \"a\" must set "
		"securityContext.capabilities.drop=[\"ALL\"]; container \"a\" must not include "
		"\"CHOWN\" in securityContext.capabilities.add), runAsNonRoot != true (container "
		"\"a\" must not set securityContext.runAsNonRoot=false), runAsUser=0 (container "
		"\"a\" must not set runAsUser=0), seccompProfile (container \"a\" must not set "
		"securityContext.seccompProfile.type to \"Unconfined\")"},
};

START_TEST(test_admission__pod_security_levels)
{
	struct api_fixture f;
	rows_init(&f);
	for (size_t i = 0; i < 2; i++) {
		rows_create(&f, "namespaces", "",
			i == 0 ? "{'metadata':{'name':'baseline','labels':{'" LEVEL
				 "enforce':'baseline'}}}"
			       : "{'metadata':{'name':'restricted','labels':{'" LEVEL
				 "enforce':'restricted','" LEVEL "enforce-version':'v1.36'}}}");
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(security_rows); i++) {
		const struct security_row *row = &security_rows[i];
		struct bt_str body = bt_arena_printf(&f.arena,
			"{'metadata':{'name':'p%zu'},'spec':{%s,'containers':[{'name':'a',%s%s}]}}",
			i, row->spec, row->container,
			strstr(row->container, "image") ? "" : ",'image':'i'");
		struct bt_str key = bt_arena_printf(&f.arena, "%s/", row->level);
		if (row->message == NULL) {
			rows_create(&f, "pods", key.data, body.data);
			continue;
		}
		struct bt_str message = bt_arena_printf(&f.arena,
			"pods \"p%zu\" is forbidden: violates PodSecurity \"%s:%s\": %s", i,
			row->level, strcmp(row->level, "baseline") == 0 ? "latest" : "v1.36",
			row->message);
		expect_refusal(&f, "pods", key.data, body.data, 403, message.data);
	}
	api_fixture_finish(&f);
}
END_TEST

START_TEST(test_admission__pod_security_labels)
{
	static const char deployment[] =
		"{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{"
		"'metadata':{'labels':{'a':'b'}},'spec':{'containers':[{'name':'a','image':'i'}]}}}"
	        "}";
	struct api_fixture f;
	rows_init(&f);
	rows_create(&f, "namespaces", "", "{'metadata':{'name':'n'}}");
	rows_create(&f, "pods", "n/",
		"{'metadata':{'name':'p'},'spec':{'containers':[{'name':'a','image':'i'}]}}");
	rows_create(&f, "pods", "n/",
		"{'metadata':{'name':'q'},'spec':{'containers':[{'name':'a','image':'i'}]}}");
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "namespaces", "n",
				  "{'metadata':{'labels':{'" LEVEL "enforce':'high','" LEVEL
				  "warn-version':'1.36'}}}"),
		422);
	ck_assert_str_eq(api_message(&f),
		"Namespace \"n\" is invalid: [metadata.labels[" LEVEL
		"enforce]: Invalid value: \"high\": must be one of privileged, baseline, "
		"restricted, metadata.labels[" LEVEL
		"warn-version]: Invalid value: \"1.36\": must be \"latest\" or \"v1.x\"]");
	/* Existing pods stay, but are named. */
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "namespaces", "n",
				  "{'metadata':{'labels':{'" LEVEL "enforce':'restricted','" LEVEL
				  "warn':'restricted'}}}"),
		200);
	ck_assert_uint_eq(f.answer.warning_count, 2);
	ck_assert_str_eq(f.answer.warnings[0].data,
		"existing pods in namespace \"n\" violate the new PodSecurity enforce level "
		"\"restricted:latest\"");
	ck_assert_str_eq(f.answer.warnings[1].data,
		"p (and 1 other pod): allowPrivilegeEscalation != false, unrestricted "
	        "capabilities, "
		"runAsNonRoot != true, seccompProfile");
	/* Workloads are only warned about. */
	rows_create(&f, "deployments.apps", "n/", deployment);
	ck_assert_uint_eq(f.answer.warning_count, 1);
	ck_assert_str_eq(f.answer.warnings[0].data,
		"would violate PodSecurity \"restricted:latest\": " UNSAFE_MESSAGE);
	/* Updates are checked if they change containers. */
	ck_assert_uint_eq(
		api_patch(&f, BT_PATCH_MERGE, "pods", "n/p", "{'metadata':{'labels':{'a':'b'}}}"),
		200);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_STRATEGIC, "pods", "n/p",
				  "{'spec':{'containers':[{'name':'a','image':'j'}]}}"),
		403);
	ck_assert_uint_eq(api_patch(&f, BT_PATCH_MERGE, "pods/ephemeralcontainers", "n/p",
				  "{'spec':{'ephemeralContainers':[{'name':'e','image':'i'}]}}"),
		403);
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("admission", test_admission__edge_14_32_33_namespaces,
	test_admission__edge_14b_06_priority, test_admission__edge_14b_41_global_default,
	test_admission__priority_stays_on_update, test_admission__edge_14b_07_08_tolerations,
	test_admission__edge_14b_13_node_name_given, test_admission__edge_14b_14_topology_labels,
	test_admission__edge_14b_15_node_taint, test_admission__edge_14b_18_19_default_class,
	test_admission__claim_growth, test_admission__edge_14b_30_31_limit_range,
	test_admission__limit_range_minimum, test_admission__limit_range_of_pods_and_claims,
	test_admission__edge_14b_42_runtime_class, test_admission__group_of_a_workload,
	test_admission__pod_groups_without_their_gates,
	test_admission__edge_14b_40_group_without_class, test_admission__quota,
	test_admission__quota_of_pod_resources, test_admission__quota_sums,
	test_admission__pod_security_levels, test_admission__pod_security_labels)

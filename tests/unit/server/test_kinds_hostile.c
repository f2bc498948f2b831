/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects in which anything may be missing or empty: the API accepts or refuses them, and never
 * crashes.
 */
#include "kinds_rows.h"

#include "codec/json_edit.h"
#include "server/strategy.h"
#include "test_main.h"

#define META \
	"'metadata':{'name':'x','generateName':'g','labels':{'a':'b'},'annotations':{'a':'b'}," \
	"'finalizers':['a/" \
	"b'],'ownerReferences':[{'apiVersion':'v1','kind':'K','name':'n','uid':'u'}]}"
#define SELECTOR \
	"{'matchLabels':{'a':'b'},'matchExpressions':[{'key':'a','operator':'In','values':['b']}]" \
	"}"
#define NODE_TERM \
	"{'matchExpressions':[{'key':'k','operator':'In','values':['v']}],'matchFields':[{'key':" \
	"'metadata.name','operator':'In','values':['n']}]}"
#define POD_TERM \
	"{'topologyKey':'z','labelSelector':" SELECTOR ",'namespaceSelector':" SELECTOR "," \
	"'namespaces':['n'],'matchLabelKeys':['a'],'mismatchLabelKeys':['c']}"
#define RESOURCES \
	"{'limits':{'cpu':'1','memory':'1Gi','a.b/c':'1'},'requests':{'cpu':'0.0001','memory':" \
	"'1Gi'},'claims':[{'name':'r'}]}"
#define PROBE "{'httpGet':{'port':1},'timeoutSeconds':1}"
#define ONE_CONTAINER \
	"{'name':'c','image':'r/" \
	"i:1','ports':[{'containerPort':1,'hostPort':2,'name':'p'}],'env':[" \
	"{'name':'e','value':'v'},{'name':'f','valueFrom':{'fieldRef':{'fieldPath':'x'}}}]," \
	"'resources':" RESOURCES \
	",'volumeMounts':[{'name':'v','mountPath':'/v'}],'volumeDevices':" \
	"[{'name':'w','devicePath':'/d'}],'livenessProbe':" PROBE ",'lifecycle':{'preStop':{" \
	"'httpGet':{'port':1}}}}"
#define CLAIM_SPEC \
	"{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}},'selector'" \
	":" SELECTOR ",'storageClassName':'s','volumeMode':'Block'}"
#define POD_SPEC \
	"{'containers':[" ONE_CONTAINER \
	"],'initContainers':[{'name':'i','image':'i','resources':" RESOURCES \
	",'restartPolicy':'Always'}],'ephemeralContainers':[{'name':'e','image':'i'}]," \
	"'volumes':[{'name':'v'},{'name':'w','persistentVolumeClaim':{'claimName':'c'}},{'name':'" \
	"s'," \
	"'secret':{'secretName':'s'}},{'name':'p','projected':{'sources':[{'serviceAccountToken':" \
	"{" \
	"'path':'p'}}]}},{'name':'y','ephemeral':{'volumeClaimTemplate':{'spec':" CLAIM_SPEC \
	"}}},{'name':'h','hostPath':{'path':'/" \
	"'}}],'resources':{'limits':{'cpu':'2','hugepages-2Mi':" \
	"'4Mi'},'requests':{'memory':'4Gi'}},'nodeSelector':{'a':'b'},'affinity':{'nodeAffinity':" \
	"{" \
	"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[" NODE_TERM "]}," \
	"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'preference':" NODE_TERM \
	"}]},'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" POD_TERM "]," \
	"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':1,'podAffinityTerm'" \
	":" POD_TERM \
	"}]}},'tolerations':[{'key':'k','operator':'Equal','value':'v','effect':'NoExecute'," \
	"'tolerationSeconds':1}],'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'z'," \
	"'whenUnsatisfiable':'DoNotSchedule','minDomains':1,'labelSelector':" SELECTOR "," \
	"'matchLabelKeys':['a']}],'schedulingGates':[{'name':'g'}],'resourceClaims':[{'name':'r'," \
	"'resourceClaimName':'q'}],'hostNetwork':true,'serviceAccount':'s','" \
	"activeDeadlineSeconds':1}"
#define TEMPLATE "{'metadata':{'labels':{'a':'b'}},'spec':" POD_SPEC "}"
#define WORKLOAD \
	"{" META ",'spec':{'replicas':1,'selector':" SELECTOR ",'template':" TEMPLATE \
	",'strategy':{'type':'RollingUpdate','rollingUpdate':{'maxSurge':'1%'}},'updateStrategy':" \
	"{" \
	"'rollingUpdate':{'partition':1}},'volumeClaimTemplates':[{'spec':" CLAIM_SPEC "}]}}"
#define JOB "{'template':" TEMPLATE ",'completionMode':'Indexed','completions':1}"
#define DEVICES \
	"{'devices':{'requests':[{'name':'a','exactly':{'deviceClassName':'d','tolerations':[{" \
	"'key':'k'}]}},{'name':'b','firstAvailable':[{'name':'c','deviceClassName':'d'}]}]}}"
#define GROUP \
	"'schedulingPolicy':{'gang':{'minCount':1}},'priorityClassName':'system-node-critical'"

static const struct {
	const char *resource;
	const char *key;
	const char *body;
} bodies[] = {
	{"pods", "default/", "{" META ",'spec':" POD_SPEC "}"},
	{"podtemplates", "default/", "{" META ",'template':" TEMPLATE "}"},
	{"deployments.apps", "default/", WORKLOAD},
	{"replicasets.apps", "default/", WORKLOAD},
	{"statefulsets.apps", "default/", WORKLOAD},
	{"daemonsets.apps", "default/", WORKLOAD},
	{"replicationcontrollers", "default/",
		"{" META ",'spec':{'selector':{'a':'b'},'template':" TEMPLATE "}}"},
	{"jobs.batch", "default/", "{" META ",'spec':" JOB "}"},
	{"cronjobs.batch", "default/",
		"{" META ",'spec':{'schedule':'* * * * *','jobTemplate':{'spec':" JOB "}}}"},
	{"nodes", "",
		"{" META ",'spec':{'taints':[{'key':'k','effect':'NoExecute'}],'podCIDR':'1'},"
		"'status':{'capacity':{'cpu':'1'},'allocatable':{'cpu':'1'}}}"},
	{"namespaces", "", "{" META ",'spec':{'finalizers':['kubernetes']}}"},
	{"persistentvolumes", "",
		"{" META ",'spec':{'capacity':{'storage':'1'},'accessModes':['ReadWriteOnce'],"
		"'local':{'path':'/'},'csi':{'driver':'d','volumeHandle':'h'},'hostPath':{'path':"
		"'/'},'nodeAffinity':{'required':{'nodeSelectorTerms':[" NODE_TERM "]}}}}"},
	{"persistentvolumeclaims", "default/", "{" META ",'spec':" CLAIM_SPEC "}"},
	{"storageclasses.storage.k8s.io", "",
		"{" META ",'provisioner':'p','parameters':{'a':'b'}}"},
	{"csidrivers.storage.k8s.io", "",
		"{" META ",'spec':{'volumeLifecycleModes':['Ephemeral']}}"},
	{"volumeattachments.storage.k8s.io", "",
		"{" META ",'spec':{'attacher':'a','nodeName':'n','source':{"
		"'persistentVolumeName':'v'}}}"},
	{"priorityclasses.scheduling.k8s.io", "", "{" META ",'value':1,'globalDefault':true}"},
	{"podgroups.scheduling.k8s.io", "default/",
		"{" META ",'spec':{" GROUP ",'podGroupTemplateRef':{'workload':{'workloadName':"
		"'w','podGroupTemplateName':'t'}}}}"},
	{"workloads.scheduling.k8s.io", "default/",
		"{" META ",'spec':{'podGroupTemplates':[{'name':'t'," GROUP "}]}}"},
	{"poddisruptionbudgets.policy", "default/",
		"{" META ",'spec':{'minAvailable':'1%','selector':" SELECTOR "}}"},
	{"limitranges", "default/",
		"{" META ",'spec':{'limits':[{'type':'Container','max':{'cpu':'2'},'min':{'cpu':"
		"'1'},'maxLimitRequestRatio':{'cpu':'2'}}]}}"},
	{"resourcequotas", "default/", "{" META ",'spec':{'hard':{'pods':'1'}}}"},
	{"resourceclaims.resource.k8s.io", "default/", "{" META ",'spec':" DEVICES "}"},
	{"resourceclaimtemplates.resource.k8s.io", "default/",
		"{" META ",'spec':{'spec':" DEVICES "}}"},
	{"deviceclasses.resource.k8s.io", "",
		"{" META ",'spec':{'selectors':[{'cel':{'expression':'true'}}],'config':[{'opaque':"
		"{'driver':'d','parameters':{'a':1}}}],'extendedResourceName':'a.b/c'}}"},
	{"resourceslices.resource.k8s.io", "",
		"{" META ",'spec':{'driver':'d','pool':{'name':'p','resourceSliceCount':1},"
		"'nodeName':'n','devices':[{'name':'a','attributes':{'b':{'int':1}},'capacity':{"
		"'c':{'value':'1'}},'taints':[{'key':'k','effect':'None'}],'consumesCounters':[{"
		"'counterSet':'s','counters':{'m':{'value':'1'}}}]}]}}"},
	{"devicetaintrules.resource.k8s.io", "",
		"{" META ",'spec':{'deviceSelector':{'driver':'d'},'taint':{'key':'k','effect':"
		"'None'}}}"},
	{"services", "default/",
		"{" META ",'spec':{'ports':[{'port':1,'name':'a'},{'port':2,'name':'b'}],"
		"'selector':{'a':'b'},'type':'NodePort','clusterIPs':['None']}}"},
	{"events", "default/", "{" META ",'involvedObject':{'kind':'Pod'},'message':'m'}"},
	{"events.events.k8s.io", "default/",
		"{" META ",'regarding':{'kind':'Pod'},'note':'m','series':{'count':2,"
		"'lastObservedTime':'2026-11-21T12:00:00.000000Z'}}"},
	{"horizontalpodautoscalers.autoscaling", "default/",
		"{" META ",'spec':{'maxReplicas':1,'scaleTargetRef':{'kind':'K','name':'n'},"
		"'metrics':[{'type':'Resource','resource':{'name':'cpu'}}]}}"},
	{"secrets", "default/", "{" META ",'data':{'a':'eA=='},'stringData':{'b':'c'}}"},
	{"configmaps", "default/", "{" META ",'data':{'a':'b'},'immutable':true}"},
	{"leases.coordination.k8s.io", "default/", "{" META ",'spec':{'leaseDurationSeconds':1}}"},
	{"runtimeclasses.node.k8s.io", "", "{" META ",'handler':'h','overhead':{'podFixed':{}}}"},
};

enum change { TO_NULL, TO_OBJECT, TO_ARRAY, TO_EMPTY_TEXT, TO_ZERO, GONE, CHANGE_COUNT };

static void change_value(struct bt_json_value *value, enum change change)
{
	static const enum bt_json_type types[] = {BT_JSON_NULL, BT_JSON_OBJECT, BT_JSON_ARRAY,
		BT_JSON_STRING, BT_JSON_NUMBER, BT_JSON_NULL};
	*value = (struct bt_json_value){.type = types[change]};
	value->text = change == TO_ZERO ? BT_STR("0") : BT_STR("");
}

/** Changes the value number *index (counted in document order); false: there are fewer values. */
static bool change_at(struct bt_json_value *value, uint32_t *index, enum change change)
{
	if ((*index)-- == 0) {
		change_value(value, change);
		return true;
	}
	for (uint32_t i = 0; i < value->count; i++) {
		struct bt_json_value *inner =
			value->type == BT_JSON_ARRAY ? value->elements[i] : value->members[i].value;
		if (change == GONE && *index == 0) {
			if (value->type == BT_JSON_ARRAY) {
				bt_json_remove_at(value, i);
			} else {
				(void)bt_json_remove(value, value->members[i].name);
			}
			return true;
		}
		if (change_at(inner, index, change)) {
			return true;
		}
	}
	return false;
}

static struct bt_json_value *parsed(struct bt_arena *arena, const char *body)
{
	struct bt_str text = bt_arena_str(arena, bt_str_from(body));
	char *bytes = bt_arena_alloc_bytes(arena, text.length);
	struct bt_json_value *value;
	for (uint32_t i = 0; i < text.length; i++) {
		bytes[i] = text.data[i] == '\'' ? '"' : text.data[i];
	}
	ck_assert_int_eq(
		bt_json_parse(arena, (struct bt_str){bytes, text.length}, true, &value, NULL), 0);
	return value;
}

static const struct bt_api_resource *find(struct api_fixture *f, const char *name)
{
	const struct bt_resources *resources = bt_api_resources(f->api);
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (bt_str_equal_c(bt_resource_qualified(resource, &f->arena), name)) {
			return resource;
		}
	}
	ck_abort_msg("no %s", name);
	return NULL;
}

/** Creates the object, or updates it if name is not empty. */
static void perform(struct api_fixture *f, const struct bt_api_resource *resource,
	struct bt_str namespace_, const char *name, struct bt_json_value *body)
{
	struct bt_arena arena = {0};
	struct bt_api_answer answer;
	struct bt_api_request request = BT_API_REQUEST_INIT;
	request.verb = name[0] == '\0' ? BT_VERB_CREATE : BT_VERB_UPDATE;
	request.resource = resource;
	request.namespace_ = namespace_;
	request.name = bt_str_from(name);
	request.dry_run = true;
	request.body = bt_json_clone(&arena, body, true);
	bt_api_perform(f->api, &request, &arena, &answer);
	ck_assert_msg(answer.code == 200 || answer.code == 201 ||
			(answer.code >= 400 && answer.code < 500 && answer.failure.code != 0),
		"%s: %u", resource->name, answer.code);
	bt_api_answer_finish(&answer);
	bt_arena_finish(&arena);
}

START_TEST(test_kinds__every_value_changed)
{
	for (uint32_t n = 0; n < ROW_COUNT(bodies); n++) {
		struct api_fixture f;
		struct bt_arena arena = {0};
		rows_init(&f);
		const struct bt_api_resource *resource = find(&f, bodies[n].resource);
		struct bt_str namespace_ = resource->namespaced ? BT_STR("default") : BT_STR("");
		(void)api_create(&f, bodies[n].resource, bodies[n].key, bodies[n].body);
		for (uint32_t change = 0; change < CHANGE_COUNT; change++) {
			bool more = true;
			for (uint32_t at = 1; more; at++) {
				uint32_t index = at;
				bt_arena_reset(&arena);
				struct bt_json_value *body = parsed(&arena, bodies[n].body);
				more = change_at(body, &index, (enum change)change);
				perform(&f, resource, namespace_, "", body);
				perform(&f, resource, namespace_, "x", body);
			}
		}
		bt_arena_finish(&arena);
		api_fixture_finish(&f);
	}
}
END_TEST

/**
 * The code of each kind may rely on the types of members, but not on the presence of any member.
 */
START_TEST(test_kinds__empty_objects)
{
	static const char *const texts[] = {"{}", "{'metadata':{},'spec':{},'status':{}}"};
	struct api_fixture f;
	rows_init(&f);
	const struct bt_resources *resources = bt_api_resources(f.api);
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		const struct bt_strategy *strategy = resource->strategy;
		for (uint32_t n = 0; n < ROW_COUNT(texts); n++) {
			struct bt_json_value *object = parsed(&f.arena, texts[n]);
			const struct bt_json_value *old = parsed(&f.arena, texts[n]);
			struct bt_field_errors errors = {.arena = &f.arena};
			const struct bt_write write = {.api = f.api,
				.arena = &f.arena,
				.user = &bt_user_admin,
				.resource = resource,
				.namespace_ = BT_STR("default")};
			bt_kinds_validate(&write, old, object, &errors);
			if (strategy->prepare_update != NULL) {
				strategy->prepare_update(&write, old, object);
			}
			bt_kinds_reset_status(&write, object);
			if (strategy->prepare_create != NULL) {
				strategy->prepare_create(&write, object);
			}
			if (strategy->from_stored != NULL) {
				strategy->from_stored(&write, object);
			}
			if (strategy->to_stored != NULL) {
				strategy->to_stored(&write, object);
			}
			if (strategy->set_defaults != NULL) {
				strategy->set_defaults(&write, object);
			}
			ck_assert_int_eq(object->type, BT_JSON_OBJECT);
		}
	}
	api_fixture_finish(&f);
}
END_TEST

BT_TEST_MAIN("kinds_hostile", test_kinds__every_value_changed, test_kinds__empty_objects)

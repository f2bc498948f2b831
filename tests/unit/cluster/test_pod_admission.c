/* SPDX-License-Identifier: Apache-2.0 */
#include "test_main.h"

#include "api/identity.h"
#include "api/object.h"
#include "base/strbuf.h"
#include "cluster/cluster.h"
#include "cluster/pod_admission.h"
#include "codec/json_edit.h"

#define CLASSES \
	"{'kind':'PriorityClass','apiVersion':'scheduling.k8s.io/v1','metadata':{'name':'high'}," \
	"'value':7,'preemptionPolicy':'Never'}\n" \
	"{'kind':'PriorityClass','apiVersion':'scheduling.k8s.io/v1','metadata':{'name':'usual'}," \
	"'value':5,'globalDefault':true}\n" \
	"{'kind':'PriorityClass','apiVersion':'scheduling.k8s.io/v1','metadata':{'name':'lower'}," \
	"'value':3,'globalDefault':true}\n"
#define LIMITS \
	"{'kind':'LimitRange','apiVersion':'v1','metadata':{'name':'l','namespace':'n'}," \
	"'spec':{'limits':[{'type':'Container','defaultRequest':{'cpu':'300m'}," \
	"'default':{'cpu':'2'},'max':{'cpu':'4'}}]}}\n"
#define RUNTIME \
	"{'kind':'RuntimeClass','apiVersion':'node.k8s.io/v1','metadata':{'name':'gvisor'}," \
	"'handler':'h','overhead':{'podFixed':{'cpu':'250m'}}," \
	"'scheduling':{'nodeSelector':{'runtime':'gvisor'}}}\n"
#define QUOTA \
	"{'kind':'ResourceQuota','apiVersion':'v1','metadata':{'name':'q','namespace':'n'}," \
	"'spec':{'hard':{'requests.cpu':'1'}}}\n"
#define CONTAINER "'containers':[{'name':'c'}]"
#define CPU(amount) "'containers':[{'name':'c','resources':{'requests':{'cpu':'" amount "'}}}]"

struct world {
	struct bt_cluster *cluster;
	struct bt_pod_admission admission;
	struct bt_arena arena;
	uint32_t warning_count;
};

/** Copies the text with every ' replaced by ". */
static struct bt_str quote(struct world *world, const char *text)
{
	struct bt_str copy = bt_arena_str(&world->arena, bt_str_from(text));
	char *bytes = (char *)(uintptr_t)copy.data;
	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = bytes[i] == '\'' ? '"' : bytes[i];
	}
	return copy;
}

static void note_warning(void *context, const char *line)
{
	struct world *world = context;
	ck_assert_str_eq(line,
		"RuntimeClass kata is not in the input: pods that name it get no overhead and no "
		"node selector from it");
	world->warning_count++;
}

/** Starts a world with these objects: JSON with ' for ", one object on each line. */
static void init(struct world *world, const char *objects)
{
	const struct bt_cluster_options options = {
		.start_ns = INT64_C(1700000000000000000), .skip_validation = true};
	*world = (struct world){0};
	ck_assert_int_eq(bt_cluster_create(&options, &world->cluster, NULL), 0);
	struct bt_api *api = world->cluster->api;
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, quote(world, objects));
	while (reader.position < reader.end) {
		struct bt_str text;
		struct bt_json_value *tree;
		struct bt_api_answer answer;
		ck_assert_int_eq(bt_json_skip(&reader, &text, NULL), 0);
		reader.position += reader.position < reader.end; /* end of line */
		ck_assert_int_eq(bt_json_parse(&world->arena, text, true, &tree, NULL), 0);
		const struct bt_api_resource *resource =
			bt_resources_find_kind(bt_api_resources(api),
				bt_json_text_at(tree, "apiVersion"), bt_json_text_at(tree, "kind"));
		ck_assert_int_eq(
			bt_cluster_restore(api, resource, tree, &world->arena, &answer, NULL), 0);
		bt_api_answer_finish(&answer);
	}
	bt_pod_admission_init(&world->admission, api, note_warning, world);
}

static void finish(struct world *world)
{
	bt_pod_admission_finish(&world->admission);
	bt_cluster_destroy(world->cluster);
	bt_arena_finish(&world->arena);
}

/**
 * Admits a pod; spec: members of the pod's spec. Returns 0 and sets *out_spec, or returns an error
 * code. err may be NULL.
 */
static int admit(struct world *world, const char *spec, bool is_from_cluster,
	const struct bt_pod_spec **out_spec, struct berth_error *err)
{
	struct bt_json_reader reader;
	struct bt_pod pod = {0};
	struct bt_str text = quote(world, spec);
	bt_json_reader_init(&reader,
		bt_arena_printf(&world->arena,
			"{\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"},\"spec\":{%.*s}}",
			BT_STR_ARG(text)));
	ck_assert_int_eq(
		bt_message_decode_json(&bt_pod_message, &reader, &world->arena, &pod, NULL), 0);
	return bt_pod_admission_admit(&world->admission, &pod, is_from_cluster, out_spec, err);
}

static void expect_refusal(struct world *world, const char *spec, int expected, const char *message)
{
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_pod_spec *admitted;
	ck_assert_int_eq(admit(world, spec, false, &admitted, &err), expected);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
}

/*
 * Spec 01 section 4.14: the priority is the value of the named class, or of the globalDefault
 * class, or 0.
 */
START_TEST(test_pod_admission__priority)
{
	static const struct {
		const char *name;
		const char *classes;
		const char *spec;
		bool is_from_cluster;
		int32_t priority;
		const char *policy;
	} rows[] = {
		{"none", "", CONTAINER, false, 0, "PreemptLowerPriority"},
		{"named", CLASSES, "'priorityClassName':'high'," CONTAINER, false, 7, "Never"},
		{"lowest of the global defaults", CLASSES, CONTAINER, false, 3,
			"PreemptLowerPriority"},
		{"of a cluster", CLASSES,
			"'priority':11,'preemptionPolicy':'Never','priorityClassName':'gone'"
			"," CONTAINER,
			true, 11, "Never"},
		{"only an admission sets a priority", CLASSES, "'priority':11," CONTAINER, false,
			11, "PreemptLowerPriority"},
		{"built in", "", "'priorityClassName':'system-node-critical'," CONTAINER, false,
			2000001000, "PreemptLowerPriority"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;
		const struct bt_pod_spec *spec;
		struct berth_error err = BERTH_ERROR_INIT;
		init(&world, rows[i].classes);
		int result = admit(&world, rows[i].spec, rows[i].is_from_cluster, &spec, &err);
		ck_assert_msg(result == 0, "%s: %s", rows[i].name, berth_error_message(&err));
		ck_assert_msg(spec->priority.value == rows[i].priority, "%s: %d", rows[i].name,
			spec->priority.value);
		ck_assert_msg(bt_str_equal_c(spec->preemption_policy, rows[i].policy), "%s",
			rows[i].name);
		ck_assert(bt_str_equal_c(spec->scheduler_name, "default-scheduler"));
		ck_assert_uint_eq(spec->tolerations.count, 2);
		finish(&world);
	}
}
END_TEST

START_TEST(test_pod_admission__refusals)
{
	struct world world;
	init(&world, LIMITS RUNTIME);
	expect_refusal(&world, "'priorityClassName':'none\\u001b'," CONTAINER, BERTH_ERR_INVALID,
		"pods \"p\" is forbidden: no PriorityClass with name none\\x1b was found");
	expect_refusal(&world, "'containers':[{'name':'c','resources':{'limits':{'cpu':'5'}}}]",
		BERTH_ERR_INVALID,
		"pods \"p\" is forbidden: maximum cpu usage per Container is 4, but limit is 5");
	finish(&world);
}
END_TEST

START_TEST(test_pod_admission__limit_range_and_runtime_class)
{
	struct world world;
	const struct bt_pod_spec *spec;
	const struct bt_pod_spec *again;
	const struct bt_pod_spec *from_cluster;
	init(&world, LIMITS RUNTIME);
	ck_assert_int_eq(
		admit(&world, "'runtimeClassName':'gvisor'," CONTAINER, false, &spec, NULL), 0);
	const struct bt_resource_requirements *resources = &spec->containers.items[0].resources;
	ck_assert_uint_eq(resources->requests.count, 1);
	ck_assert_int_eq(bt_quantity_milli(&resources->requests.items[0].quantity), 300);
	ck_assert_int_eq(bt_quantity_milli(&resources->limits.items[0].quantity), 2000);
	ck_assert_uint_eq(spec->overhead.count, 1);
	ck_assert_int_eq(bt_quantity_milli(&spec->overhead.items[0].quantity), 250);
	ck_assert_uint_eq(spec->node_selector.count, 1);
	ck_assert_int_eq(
		admit(&world, "'runtimeClassName':'gvisor'," CONTAINER, false, &again, NULL), 0);
	ck_assert_ptr_eq(spec, again);
	ck_assert_int_eq(
		admit(&world, "'runtimeClassName':'gvisor'," CONTAINER, true, &from_cluster, NULL),
		0);
	ck_assert_uint_eq(from_cluster->containers.items[0].resources.requests.count, 0);
	ck_assert_uint_eq(from_cluster->overhead.count, 0);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(
			admit(&world, "'runtimeClassName':'kata'," CONTAINER, i == 0, &spec, NULL),
			0);
		ck_assert_uint_eq(spec->overhead.count, 0);
	}
	ck_assert_uint_eq(world.warning_count, 1);
	finish(&world);
}
END_TEST

/* A quota counts all pods, but refuses only new pods. */
START_TEST(test_pod_admission__quota)
{
	struct world world;
	const struct bt_pod_spec *spec;
	init(&world, QUOTA);
	ck_assert(world.admission.has_quotas);
	ck_assert_int_eq(admit(&world, CPU("400m"), true, &spec, NULL), 0);
	ck_assert_int_eq(admit(&world, CPU("300m"), false, &spec, NULL), 0);
	expect_refusal(&world, CPU("400m"), BERTH_ERR_STATE,
		"pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=400m, used: "
		"requests.cpu=700m, limited: requests.cpu=1");
	ck_assert_int_eq(admit(&world, CPU("300m"), false, &spec, NULL), 0);
	expect_refusal(&world, CPU("300m"), BERTH_ERR_STATE,
		"pods \"p\" is forbidden: exceeded quota: q, requested: requests.cpu=300m, used: "
		"requests.cpu=1, limited: requests.cpu=1");
	ck_assert_int_eq(admit(&world, CPU("9"), true, &spec, NULL), 0);
	expect_refusal(&world, CONTAINER, BERTH_ERR_STATE,
		"pods \"p\" is forbidden: failed quota: q: must specify requests.cpu");
	finish(&world);
}
END_TEST

/** A policy may change pods with equal specs in different ways. */
START_TEST(test_pod_admission__mutating_policy)
{
	static const char *const teams[] = {"red", "blue", "red"};
	struct world world;
	init(&world,
		"{'kind':'MutatingAdmissionPolicy','apiVersion':'admissionregistration.k8s.io/v1',"
		"'metadata':{'name':'m'},'spec':{'failurePolicy':'Fail','reinvocationPolicy':"
		"'Never','matchConstraints':{'resourceRules':[{'apiGroups':[''],'apiVersions':"
		"['v1'],'operations':['CREATE'],'resources':['pods']}]},'mutations':[{'patchType':"
		"'ApplyConfiguration','applyConfiguration':{'expression':'Object{spec: Object.spec{"
		"schedulerName: object.metadata.labels.team}}'}}]}}\n"
		"{'kind':'MutatingAdmissionPolicyBinding','apiVersion':"
		"'admissionregistration.k8s.io/v1','metadata':{'name':'m'},'spec':{'policyName':"
		"'m'}}\n");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(teams); i++) {
		struct bt_json_reader reader;
		struct bt_pod pod = {0};
		const struct bt_pod_spec *spec;
		bt_json_reader_init(&reader,
			bt_arena_printf(&world.arena,
				"{\"metadata\":{\"name\":\"p%zu\",\"namespace\":\"n\",\"labels\":"
				"{\"team\":\"%s\"}},\"spec\":{\"containers\":[{\"name\":\"c\"}]}}",
				i, teams[i]));
		ck_assert_int_eq(
			bt_message_decode_json(&bt_pod_message, &reader, &world.arena, &pod, NULL),
			0);
		ck_assert_int_eq(
			bt_pod_admission_admit(&world.admission, &pod, false, &spec, NULL), 0);
		ck_assert(bt_str_equal_c(spec->scheduler_name, teams[i]));
	}
	finish(&world);
}
END_TEST

BT_TEST_MAIN("pod_admission", test_pod_admission__priority, test_pod_admission__refusals,
	test_pod_admission__limit_range_and_runtime_class, test_pod_admission__quota,
	test_pod_admission__mutating_policy)

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/condition.h"
#include "workload_world.h"

#include <check.h>

#include "cluster/tree.h"

static void init(struct world *world, const char *gates_text)
{
	static const char *const names[] = {"replicaset-controller",
		"replicationcontroller-controller", "deployment-controller",
		"statefulset-controller", "daemonset-controller", "job-controller",
		"cronjob-controller", "ttl-after-finished-controller"};
	struct bt_cluster_options options = {.start_ns = INT64_C(1800000000) * BT_NS_PER_SECOND,
		.controllers = bt_controllers_default_options,
		.seed = 7};

	struct bt_gates gates = bt_gates_default();

	ck_assert_int_eq(bt_gates_set(&gates, bt_str_from(gates_text), NULL), 0);
	*world = (struct world){.now_ns = options.start_ns};
	options.gates = &gates;
	options.controllers.names = names;
	options.controllers.name_count = BT_ARRAY_LENGTH(names);
	ck_assert_int_eq(bt_cluster_create(&options, &world->cluster, NULL), 0);
	ck_assert_int_eq(bt_cluster_start(world->cluster, NULL), 0);
	world->store = world->cluster->store;
	world->api = world->cluster->api;
	world->controllers = world->cluster->controllers;
}

void world_init(struct world *world)
{
	init(world, "");
}

void world_init_gangs(struct world *world)
{
	init(world, "GenericWorkload=true,WorkloadWithJob=true");
}

void world_finish(struct world *world)
{
	bt_cluster_destroy(world->cluster);
	bt_arena_finish(&world->arena);
}

const struct bt_api_resource *world_resource(
	struct world *world, const char *group, const char *name)
{
	return bt_resources_builtin(bt_api_resources(world->api), group, name);
}

static struct bt_json_value *parse(struct world *world, const char *text)
{
	struct bt_str copy = bt_arena_str(&world->arena, bt_str_from(text));
	char *bytes = bt_arena_alloc_bytes(&world->arena, copy.length);
	struct bt_json_value *value = NULL;

	for (uint32_t i = 0; i < copy.length; i++) {
		bytes[i] = copy.data[i] == '\'' ? '"' : copy.data[i];
	}
	copy.data = bytes;
	ck_assert_msg(
		bt_json_parse(&world->arena, copy, true, &value, NULL) == 0, "not JSON: %s", text);
	return value;
}

static void perform(struct world *world, struct bt_api_request *request, uint16_t expected)
{
	struct bt_api_answer answer = {0};

	bt_api_perform(world->api, request, &world->arena, &answer);
	ck_assert_msg(answer.code == expected, "code %d: %.*s", answer.code,
		BT_STR_ARG(answer.failure.message));
	bt_api_answer_finish(&answer);
}

void world_create(struct world *world, const char *group, const char *resource, const char *text,
	uint16_t expected_code)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_CREATE;
	request.resource = world_resource(world, group, resource);
	request.namespace_ = request.resource->namespaced ? BT_STR("default") : BT_STR("");
	request.body = parse(world, text);
	perform(world, &request, expected_code);
}

void world_patch(struct world *world, const char *group, const char *resource, const char *key,
	enum bt_subresource subresource, const char *text)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_PATCH;
	request.patch_type = BT_PATCH_MERGE;
	request.resource = world_resource(world, group, resource);
	request.subresource = subresource;
	request.namespace_ = bt_key_namespace(bt_str_from(key));
	request.name = bt_key_name(bt_str_from(key));
	request.body = parse(world, text);
	perform(world, &request, 200);
}

void world_delete(struct world *world, const char *group, const char *resource, const char *key)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_DELETE;
	request.resource = world_resource(world, group, resource);
	request.namespace_ = bt_key_namespace(bt_str_from(key));
	request.name = bt_key_name(bt_str_from(key));
	request.propagation = BT_PROPAGATION_BACKGROUND;
	perform(world, &request, 200);
}

void world_run(struct world *world)
{
	for (int i = 0; i < 10000; i++) {
		if (bt_controllers_run(world->controllers, world->now_ns) > world->now_ns) {
			return;
		}
		if (world->check != NULL) {
			world->check(world);
		}
	}
	ck_abort_msg("the controllers never become idle");
}

void world_set_pod(struct world *world, const char *key, const char *phase, bool ready)
{
	struct bt_str text = bt_arena_printf(&world->arena,
		"{'status':{'phase':'%s','conditions':[{'type':'Ready','status':'%s',"
		"'lastTransitionTime':'%.*s'}]}}",
		phase, ready ? "True" : "False",
		BT_STR_ARG(bt_time_text(&world->arena, world->now_ns)));

	world_patch(world, "", "pods", key, BT_SUBRESOURCE_STATUS, text.data);
}

/** Returns the node that the pod's affinity names, else "n1". */
static struct bt_str node_for(const struct bt_json_value *pod)
{
	const struct bt_json_value *terms = bt_json_array_at(pod,
		"spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
		"nodeSelectorTerms");
	const struct bt_json_value *fields =
		bt_json_array_at(terms->count != 0 ? terms->elements[0] : NULL, "matchFields");
	const struct bt_json_value *values =
		bt_json_array_at(fields->count != 0 ? fields->elements[0] : NULL, "values");

	return values->count != 0 ? values->elements[0]->text : BT_STR("n1");
}

static void assign(struct world *world, struct bt_str key, struct bt_str node)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_CREATE;
	request.resource = world_resource(world, "", "pods");
	request.subresource = BT_SUBRESOURCE_BINDING;
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.body = parse(world,
		bt_arena_printf(&world->arena,
			"{'metadata':{'name':'%.*s'},'target':{'kind':'Node','name':'%.*s'}}",
			BT_STR_ARG(request.name), BT_STR_ARG(node))
			.data);
	perform(world, &request, 201);
}

static void remove_now(struct world *world, struct bt_str key)
{
	struct bt_api_request request = BT_API_REQUEST_INIT;

	request.verb = BT_VERB_DELETE;
	request.resource = world_resource(world, "", "pods");
	request.namespace_ = bt_key_namespace(key);
	request.name = bt_key_name(key);
	request.grace_period_seconds = 0;
	perform(world, &request, 200);
}

static bool tend(struct world *world, struct bt_str key)
{
	const struct bt_json_value *pod =
		bt_api_read(world->api, world_resource(world, "", "pods"), key, &world->arena);
	struct bt_str phase = bt_json_text_at(pod, "status.phase");

	if (pod == NULL) {
		return false;
	}
	if (bt_tree_is_deleting(pod)) {
		if (bt_json_array_at(pod, "metadata.finalizers")->count == 0) {
			remove_now(world, key);
			return true;
		}
		if (bt_str_equal_c(phase, "Running") || bt_str_equal_c(phase, "Pending")) {
			world_set_pod(world, key.data, "Failed", false);
			return true;
		}
		return false;
	}
	if (world->hold_new_pods || !bt_str_equal_c(phase, "Pending")) {
		return false;
	}
	if (bt_json_text_at(pod, "spec.nodeName").length == 0) {
		assign(world, key, node_for(pod));
	}
	world_set_pod(world, key.data, "Running", true);
	return true;
}

bool world_agent(struct world *world)
{
	struct bt_str keys[2048];
	uint32_t count = world_list(world, "", "pods", NULL, NULL, keys, 2048);
	bool worked = false;

	for (uint32_t i = 0; i < count; i++) {
		worked = tend(world, keys[i]) || worked;
	}
	return worked;
}

void world_settle(struct world *world)
{
	for (int i = 0; i < 1000; i++) {
		uint64_t before = bt_store_rv(world->store);
		world_run(world);
		if (world->check != NULL) {
			world->check(world);
		}
		if (!world_agent(world) && bt_store_rv(world->store) == before) {
			return;
		}
		if (world->check != NULL) {
			world->check(world);
		}
	}
	ck_abort_msg("the world never becomes idle");
}

void world_advance(struct world *world, int64_t seconds)
{
	world->now_ns += seconds * BT_NS_PER_SECOND;
	bt_cluster_clock_advance(&world->cluster->clock, world->now_ns);
}

struct bt_json_value *world_get(
	struct world *world, const char *group, const char *resource, const char *key)
{
	return bt_api_read(world->api, world_resource(world, group, resource), bt_str_from(key),
		&world->arena);
}

int64_t world_int(struct world *world, const char *group, const char *resource, const char *key,
	const char *path)
{
	return bt_json_int64_at(world_get(world, group, resource, key), path, 0);
}

uint32_t world_list(struct world *world, const char *group, const char *resource,
	const char *label_name, const char *label_value, struct bt_str *out_keys, uint32_t room)
{
	const struct bt_api_resource *found = world_resource(world, group, resource);
	struct bt_store_walk walk;
	struct bt_stored *stored;
	uint32_t count = 0;

	walk = bt_store_walk_current(world->store, found->collection, BT_STR(""));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_json_value *object = bt_api_parse_stored(stored, &world->arena);
		if (label_name != NULL &&
			!bt_str_equal_c(bt_tree_label(object, label_name), label_value)) {
			continue;
		}
		if (out_keys != NULL) {
			ck_assert_uint_lt(count, room);
			out_keys[count] = bt_arena_str(&world->arena, bt_stored_key(stored));
		}
		count++;
	}
	bt_store_walk_end(&walk);
	return count;
}

static uint32_t count_pods(struct world *world, bool ready_only)
{
	struct bt_str keys[2048];
	uint32_t count = world_list(world, "", "pods", NULL, NULL, keys, 2048);
	uint32_t found = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct bt_json_value *pod = world_get(world, "", "pods", keys[i].data);
		struct bt_str phase = bt_json_text_at(pod, "status.phase");
		if (bt_tree_is_deleting(pod) || bt_str_equal_c(phase, "Succeeded") ||
			bt_str_equal_c(phase, "Failed")) {
			continue;
		}
		found += !ready_only ||
			bt_condition_is(
				bt_json_array_at(pod, "status.conditions"), "Ready", "True");
	}
	return found;
}

uint32_t world_active_pods(struct world *world)
{
	return count_pods(world, false);
}

uint32_t world_ready_pods(struct world *world)
{
	return count_pods(world, true);
}

struct bt_str world_condition(struct world *world, const char *group, const char *resource,
	const char *key, const char *type, const char *member)
{
	return bt_json_text_at(
		bt_condition_find(bt_json_array_at(world_get(world, group, resource, key),
					  "status.conditions"),
			type),
		member);
}

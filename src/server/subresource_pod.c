/* SPDX-License-Identifier: Apache-2.0 */
/** Binding, resize and ephemeralcontainers of pods. Spec: 14 section 17, 13 section 14.1. */
#include "api/time.h"
#include "server/condition.h"
#include "server/kinds/common.h"
#include "server/query.h"
#include "server/write.h"

/** Largest number of labels, and of annotations, in a binding. */
#define BINDING_ITEMS_MAX 1000

/** --- conditions --- */

/**
 * Sets a pod's condition to True as of now, replacing the old entry. `reason` NULL: the condition
 * gets neither a reason nor a message.
 */
static void set_condition(struct bt_call *call, struct bt_json_value *pod, const char *type,
	const char *reason, const char *message)
{
	struct bt_arena *arena = call->arena;
	struct bt_json_value *condition = bt_json_put(arena, NULL,
		"{type: %c, status: 'True', lastTransitionTime: %s, reason: %c, message: %c}", type,
		bt_time_text(arena, call->write.now_ns), reason, reason != NULL ? message : NULL);
	const struct bt_schema_field *status =
		bt_schema_field_find(call->api->pods->message, BT_STR("status"), NULL);
	int result = bt_schema_normalise(
		bt_schema_field_find(status->message, BT_STR("conditions"), NULL)->message,
		condition, false, NULL, arena, NULL, NULL);
	(void)result; /* the condition is valid */
	struct bt_json_value *conditions = bt_json_ensure_array(
		arena, bt_json_ensure_object(arena, pod, "status"), "conditions");
	struct bt_json_value *old = bt_condition_find(conditions, type);
	if (old != NULL) {
		*old = *condition;
	} else {
		bt_json_append(arena, conditions, condition);
	}
}

/** --- binding --- */

static bool check_binding(struct bt_call *call, const struct bt_json_value *binding)
{
	struct bt_str name = bt_json_text_at(binding, "metadata.name");
	struct bt_str namespace_ = bt_json_text_at(binding, "metadata.namespace");
	struct bt_str kind = bt_json_text_at(binding, "target.kind");
	bool of_pod = call->write.subresource == BT_SUBRESOURCE_BINDING;
	if (name.length == 0 || (of_pod && !bt_str_equal(name, call->write.name))) {
		return bt_call_refuse(call, 400, "BadRequest",
			"name in URL does not match name in Binding object");
	}
	if (namespace_.length != 0 && !bt_str_equal(namespace_, call->write.namespace_)) {
		return bt_call_refuse(call, 400, "BadRequest",
			"the namespace of the provided object does not match the namespace sent "
			"on the request");
	}
	if (bt_json_text_at(binding, "target.name").length == 0) {
		return bt_call_refuse(call, 500, NULL, "target.name: Required value");
	}
	if (bt_json_object_at(binding, "metadata.labels")->count > BINDING_ITEMS_MAX ||
		bt_json_object_at(binding, "metadata.annotations")->count > BINDING_ITEMS_MAX) {
		return bt_call_refuse(
			call, 500, NULL, "metadata: Too many: labels and annotations");
	}
	if (kind.length != 0 && !bt_str_equal_c(kind, "Node")) {
		return bt_call_refuse(call, 500, NULL,
			"target.kind: Unsupported value: supported values: \"Node\", \"<empty>\"");
	}
	return true;
}

static void refuse_assignment(struct bt_call *call, struct bt_str text)
{
	struct bt_failure *failure = &call->answer->failure;
	(void)bt_fail(failure, call->arena, 409, "Conflict",
		"Operation cannot be fulfilled on pods/binding \"%.*s\": pod %.*s %.*s",
		BT_STR_ARG(call->write.name), BT_STR_ARG(call->write.name), BT_STR_ARG(text));
	failure->name = call->write.name;
	failure->kind = BT_STR("pods/binding");
}

static void merge_map(struct bt_call *call, struct bt_json_value *metadata,
	const struct bt_json_value *binding, const char *name)
{
	const struct bt_json_value *given =
		bt_json_object_at(bt_json_find(binding, "metadata"), name);
	if (given->count == 0) {
		return;
	}
	struct bt_json_value *map = bt_json_ensure_object(call->arena, metadata, name);
	for (uint32_t i = 0; i < given->count; i++) {
		bt_json_set(call->arena, map, given->members[i].name, given->members[i].value);
	}
}

void bt_call_binding(struct bt_call *call)
{
	struct bt_json_value *binding = call->request->body;
	if (binding == NULL) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"the object provided is unrecognized (must be of type Binding): couldn't "
			"get version/kind; json parse error: unexpected end of JSON input "
			"(<empty>)");
		return;
	}
	call->write.resource = call->api->pods;
	if (!bt_call_decode_as(call, binding, BT_STR("v1"), BT_STR("Binding")) ||
		!check_binding(call, binding)) {
		return;
	}
	call->write.subresource = BT_SUBRESOURCE_BINDING;
	call->write.name = bt_json_text_at(binding, "metadata.name");
	call->key = bt_api_key(call->arena, call->write.namespace_, call->write.name);
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
		return;
	}
	call->old = bt_call_parse(call, stored);
	if (!bt_policies_validate(call, "CREATE", NULL, binding)) {
		return;
	}
	/* Whether the binding can be applied, in the order of spec 14 section 17. */
	struct bt_str uid = bt_json_text_at(binding, "metadata.uid");
	struct bt_str rv = bt_json_text_at(binding, "metadata.resourceVersion");
	struct bt_str pod_uid = bt_json_text_at(call->old, "metadata.uid");
	struct bt_str pod_rv = bt_json_text_at(call->old, "metadata.resourceVersion");
	struct bt_str old_node = bt_json_text_at(call->old, "spec.nodeName");
	if (uid.length != 0 && !bt_str_equal(uid, pod_uid)) {
		(void)bt_call_refuse_precondition(call, "UID", uid, pod_uid);
	} else if (rv.length != 0 && !bt_str_equal(rv, pod_rv)) {
		(void)bt_call_refuse_precondition(call, "ResourceVersion", rv, pod_rv);
	} else if (bt_json_text_at(call->old, "metadata.deletionTimestamp").length != 0) {
		refuse_assignment(call, BT_STR("is being deleted, cannot be assigned to a host"));
	} else if (old_node.length != 0) {
		refuse_assignment(call,
			bt_arena_printf(call->arena, "is already assigned to node \"%.*s\"",
				BT_STR_ARG(old_node)));
	} else if (bt_json_array_at(call->old, "spec.schedulingGates")->count != 0) {
		refuse_assignment(call, BT_STR("has non-empty .spec.schedulingGates"));
	}
	if (call->answer->failure.code != 0) {
		return;
	}
	/* Copy what the binding changes: controllers observe the old tree, too. */
	struct bt_json_value *pod = bt_json_copy(call->arena, call->old);
	struct bt_json_value *metadata =
		bt_json_clone(call->arena, bt_json_object_at(call->old, "metadata"), false);
	struct bt_json_value *spec =
		bt_json_copy(call->arena, bt_json_object_at(call->old, "spec"));
	struct bt_str node = bt_json_text_at(binding, "target.name");
	bt_json_set_str(call->arena, spec, "nodeName", node);
	bt_json_put(call->arena, pod, "{metadata: %v, spec: %v, status: %v}", metadata, spec,
		bt_json_clone(call->arena, bt_json_object_at(call->old, "status"), false));
	merge_map(call, metadata, binding, "annotations");
	merge_map(call, metadata, binding, "labels");
	if (bt_str_equal_c(bt_json_text_at(binding, "target.kind"), "Node")) {
		bt_admit_topology_labels(&call->write, node, pod);
	}
	(void)bt_json_remove_c(bt_json_find(pod, "status"), "nominatedNodeName");
	set_condition(call, pod, "PodScheduled", NULL, NULL);
	bt_call_store(call, stored, pod, 201);
	if (call->answer->failure.code == 0) {
		bt_api_answer_finish(call->answer);
		bt_call_answer_success(call, 201, (struct bt_str){NULL, 0});
	}
}

/** --- resize and ephemeralcontainers --- */

static void take_resources(struct bt_call *call, struct bt_json_value *result,
	const struct bt_json_value *object, const char *list)
{
	static const char *const parts[] = {"resources", "resizePolicy"};
	const struct bt_json_value *containers = bt_json_array_at(result, list);
	const struct bt_json_value *wanted = bt_json_array_at(object, list);
	for (uint32_t i = 0; i < containers->count && i < wanted->count; i++) {
		struct bt_json_value *container = containers->elements[i];
		for (size_t part = 0; part < BT_ARRAY_LENGTH(parts); part++) {
			struct bt_json_value *value =
				bt_json_find(wanted->elements[i], parts[part]);
			if (bt_str_equal(bt_json_text_at(container, "name"),
				    bt_json_text_at(wanted->elements[i], "name")) &&
				value != NULL) {
				bt_json_set_value(call->arena, container, parts[part], value);
			}
		}
	}
}

struct bt_json_value *bt_call_pod_part(
	struct bt_call *call, const struct bt_json_value *old, const struct bt_json_value *object)
{
	struct bt_json_value *result = bt_json_clone(call->arena, old, false);
	if (call->write.subresource == BT_SUBRESOURCE_RESIZE) {
		struct bt_json_value *spec = bt_json_find(result, "spec");
		const struct bt_json_value *wanted = bt_json_find(object, "spec");
		take_resources(call, spec, wanted, "containers");
		take_resources(call, spec, wanted, "initContainers");
		return result;
	}
	bt_kinds_reset_member(call->arena, bt_json_ensure_object(call->arena, result, "spec"),
		bt_json_find(object, "spec"), "ephemeralContainers");
	return result;
}

/** Eviction subject to PodDisruptionBudgets. Spec: 14 section 17. */

/** Largest number of disrupted pods in a budget's status. */
#define DISRUPTED_PODS_MAX 2000

/** Fails with 429 and returns false. retry_after_seconds 0: the answer has no Retry-After. */
static bool refuse_disruption(
	struct bt_call *call, struct bt_str cause_text, int32_t retry_after_seconds)
{
	struct bt_failure_cause *cause = BT_ARENA_NEW(call->arena, struct bt_failure_cause);
	cause->reason = "DisruptionBudget";
	cause->message = cause_text;
	(void)bt_call_refuse(call, 429, "TooManyRequests",
		"Cannot evict pod as it would violate the pod's disruption budget.");
	call->answer->failure.causes = cause;
	call->answer->failure.retry_after_seconds = retry_after_seconds;
	return false;
}

/**
 * Checks the PodDisruptionBudget that selects the pod, and counts the pod as disrupted. false: the
 * call failed, and the pod must not be evicted.
 */
static bool check_budget(struct bt_call *call, const struct bt_json_value *pod)
{
	struct bt_arena *arena = call->arena;
	struct bt_store *store = call->api->options.store;
	uint32_t budgets = call->api->budgets->collection;
	const struct bt_json_value *labels = bt_json_object_at(pod, "metadata.labels");
	struct bt_stored *stored;
	struct bt_stored *found = NULL;
	uint32_t count = 0;
	struct bt_store_walk walk = bt_store_walk_current(
		store, budgets, bt_api_key(arena, call->write.namespace_, BT_STR("")));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL && count < 2) {
		if (bt_kinds_selector_matches(
			    bt_json_find_path(bt_api_parse_stored(stored, arena), "spec.selector"),
			    labels)) {
			count++;
			found = bt_store_find(store, budgets, bt_stored_key(stored));
		}
	}
	bt_store_walk_end(&walk);
	if (count > 1) {
		return bt_call_refuse(call, 500, NULL,
			"This pod has more than one PodDisruptionBudget, which the eviction "
			"subresource does not support.");
	}
	if (found == NULL) {
		return true;
	}
	struct bt_json_value *budget = bt_api_parse_stored(found, arena);
	struct bt_str name = bt_json_text_at(budget, "metadata.name");
	int64_t healthy = bt_json_int64_at(budget, "status.currentHealthy", 0);
	int64_t desired = bt_json_int64_at(budget, "status.desiredHealthy", 0);
	int64_t allowed = bt_json_int64_at(budget, "status.disruptionsAllowed", 0);
	/*
	 * An unhealthy pod does not use up the budget if the budget says AlwaysAllow, or if enough
	 * pods are healthy.
	 */
	if (!bt_condition_is(bt_json_array_at(pod, "status.conditions"), "Ready", "True") &&
		(bt_str_equal_c(bt_json_text_at(budget, "spec.unhealthyPodEvictionPolicy"),
			 "AlwaysAllow") ||
			(healthy >= desired && desired > 0))) {
		return true;
	}
	if (bt_json_int64_at(budget, "status.observedGeneration", 0) <
			bt_json_int64_at(budget, "metadata.generation", 0) ||
		bt_json_object_at(budget, "status.disruptedPods")->count > DISRUPTED_PODS_MAX) {
		return refuse_disruption(call,
			bt_arena_printf(arena,
				"The disruption budget %.*s is still being processed by the "
				"server.",
				BT_STR_ARG(name)),
			10);
	}
	if (allowed <= 0) {
		return refuse_disruption(call,
			bt_arena_printf(arena,
				"The disruption budget %.*s needs %lld healthy pods and has %lld "
				"currently",
				BT_STR_ARG(name), (long long)desired, (long long)healthy),
			0);
	}
	struct bt_json_value *status = bt_json_ensure_object(arena, budget, "status");
	struct bt_api_request request = *call->request;
	struct bt_api_answer answer;
	struct bt_call write;
	bt_json_set_int64(arena, status, "disruptionsAllowed", allowed - 1);
	bt_json_set(arena, bt_json_ensure_object(arena, status, "disruptedPods"), call->write.name,
		bt_json_new_str(arena, bt_time_text(arena, call->write.now_ns)));
	request.verb = BT_VERB_UPDATE;
	request.resource = call->api->budgets;
	request.subresource = BT_SUBRESOURCE_STATUS;
	request.namespace_ = call->write.namespace_;
	request.name = bt_arena_str(arena, name);
	request.dry_run = call->write.dry_run;
	bt_call_init(&write, call->api, &request, arena, &answer);
	write.write.now_ns = call->write.now_ns;
	bt_call_store(&write, found, budget, 200);
	call->answer->failure = answer.failure;
	bt_api_answer_finish(&answer);
	return answer.failure.code == 0;
}

void bt_call_eviction(struct bt_call *call)
{
	struct bt_json_value *body = call->request->body;
	struct bt_api_request request = *call->request;
	if (body == NULL) {
		body = bt_json_new(call->arena, BT_JSON_OBJECT);
	}
	if (bt_str_equal_c(bt_json_find_str(body, "apiVersion"), "policy/v1beta1")) {
		(void)bt_json_remove_c(body, "apiVersion");
	}
	if (!bt_call_decode_as(call, body, BT_STR("policy/v1"), BT_STR("Eviction"))) {
		return;
	}
	struct bt_str name = bt_json_text_at(body, "metadata.name");
	if (name.length != 0 && !bt_str_equal(name, call->write.name)) {
		(void)bt_call_refuse(call, 400, "BadRequest",
			"name in URL does not match name in Eviction object");
		return;
	}
	request.verb = BT_VERB_DELETE;
	request.subresource = BT_SUBRESOURCE_NONE;
	const struct bt_json_value *options = bt_json_object_at(body, "deleteOptions");
	if (options->count != 0 &&
		!bt_delete_options_read(options, call->arena, &request, &call->answer->failure)) {
		return;
	}
	struct bt_str uid = request.precondition_uid;
	struct bt_str rv = request.precondition_rv;
	request.precondition_uid = (struct bt_str){NULL, 0}; /* checked below, on the pod */
	request.precondition_rv = (struct bt_str){NULL, 0};
	call->write.dry_run = request.dry_run;
	struct bt_stored *stored = bt_call_find(call);
	if (stored == NULL) {
		return;
	}
	struct bt_json_value *pod = bt_call_parse(call, stored);
	if ((uid.length != 0 && !bt_str_equal(uid, bt_json_text_at(pod, "metadata.uid"))) ||
		(rv.length != 0 &&
			!bt_str_equal(rv, bt_json_text_at(pod, "metadata.resourceVersion")))) {
		(void)bt_fail_conflict(&call->answer->failure, call->arena, call->write.resource,
			call->write.name, BT_STR("a precondition of the eviction does not hold"));
		return;
	}
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	bool is_deleted = bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0;
	bool is_disrupting = !is_deleted && !bt_str_equal_c(phase, "Pending") &&
		!bt_str_equal_c(phase, "Succeeded") && !bt_str_equal_c(phase, "Failed");
	if (!bt_policies_validate(call, "CREATE", NULL, body) ||
		(is_disrupting && !check_budget(call, pod))) {
		return;
	}
	if (!is_deleted &&
		!bt_condition_is(
			bt_json_array_at(pod, "status.conditions"), "DisruptionTarget", "True")) {
		set_condition(call, pod, "DisruptionTarget", "EvictionByEvictionAPI",
			"Eviction API: evicting");
		bt_call_store(call, stored, pod, 200);
		bt_api_answer_finish(call->answer);
		*call->answer = (struct bt_api_answer){.failure = call->answer->failure};
	}
	if (call->answer->failure.code == 0) {
		struct bt_api_answer answer;
		struct bt_call deletion;
		bt_call_init(&deletion, call->api, &request, call->arena, &answer);
		deletion.write.now_ns = call->write.now_ns;
		bt_call_delete(&deletion);
		call->answer->failure = answer.failure;
		if (answer.failure.code == 0) {
			bt_call_answer_success(call, 201, (struct bt_str){NULL, 0});
		}
		bt_api_answer_finish(&answer);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Binding, resize and ephemeralcontainers of pods. Spec: 14 section 17, 13 section 14.1. */
#include "api/time.h"
#include "server/condition.h"
#include "server/write.h"

/** Largest number of labels, and of annotations, in a binding. */
#define BINDING_ITEMS_MAX 1000

/** --- binding --- */

static void refuse_value(struct bt_call *call, const char *text)
{
	(void)bt_call_refuse(call, 500, NULL, "%s", text);
}

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
		refuse_value(call, "target.name: Required value");
		return false;
	}
	if (bt_json_object_at(binding, "metadata.labels")->count > BINDING_ITEMS_MAX ||
		bt_json_object_at(binding, "metadata.annotations")->count > BINDING_ITEMS_MAX) {
		refuse_value(call, "metadata: Too many: labels and annotations");
		return false;
	}
	if (kind.length != 0 && !bt_str_equal_c(kind, "Node")) {
		refuse_value(call,
			"target.kind: Unsupported value: supported values: \"Node\", \"<empty>\"");
		return false;
	}
	return true;
}

static void refuse_precondition(
	struct bt_call *call, const char *what, struct bt_str wanted, struct bt_str found)
{
	struct bt_str text = bt_arena_printf(call->arena,
		"StorageError: invalid object, Code: 4, Key: /registry/pods/%.*s, "
		"ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: %s in "
		"precondition: %.*s, %s in object meta: %.*s",
		BT_STR_ARG(call->key), what, BT_STR_ARG(wanted), what, BT_STR_ARG(found));
	(void)bt_fail_conflict(
		&call->answer->failure, call->arena, call->write.resource, call->write.name, text);
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

/** Checks in the order of spec 14 section 17. */
static bool check_pod(
	struct bt_call *call, const struct bt_json_value *binding, const struct bt_json_value *pod)
{
	struct bt_str uid = bt_json_text_at(binding, "metadata.uid");
	struct bt_str rv = bt_json_text_at(binding, "metadata.resourceVersion");
	struct bt_str pod_uid = bt_json_text_at(pod, "metadata.uid");
	struct bt_str pod_rv = bt_json_text_at(pod, "metadata.resourceVersion");
	struct bt_str node = bt_json_text_at(pod, "spec.nodeName");
	if (uid.length != 0 && !bt_str_equal(uid, pod_uid)) {
		refuse_precondition(call, "UID", uid, pod_uid);
	} else if (rv.length != 0 && !bt_str_equal(rv, pod_rv)) {
		refuse_precondition(call, "ResourceVersion", rv, pod_rv);
	} else if (bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0) {
		refuse_assignment(call, BT_STR("is being deleted, cannot be assigned to a host"));
	} else if (node.length != 0) {
		refuse_assignment(call,
			bt_arena_printf(call->arena, "is already assigned to node \"%.*s\"",
				BT_STR_ARG(node)));
	} else if (bt_json_array_at(pod, "spec.schedulingGates")->count != 0) {
		refuse_assignment(call, BT_STR("has non-empty .spec.schedulingGates"));
	} else {
		return true;
	}
	return false;
}

static void merge_map(struct bt_call *call, struct bt_json_value *metadata,
	const struct bt_json_value *binding, const char *name)
{
	const struct bt_json_value *given = bt_json_find_path(binding, "metadata");
	given = bt_json_object_at(given, name);
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
	struct bt_json_value *pod = bt_call_parse(call, stored);
	if (!check_pod(call, binding, pod)) {
		return;
	}
	struct bt_json_value *metadata = bt_call_metadata(call, pod);
	struct bt_str node = bt_json_text_at(binding, "target.name");
	bt_json_set_str(
		call->arena, bt_json_ensure_object(call->arena, pod, "spec"), "nodeName", node);
	merge_map(call, metadata, binding, "annotations");
	merge_map(call, metadata, binding, "labels");
	if (bt_str_equal_c(bt_json_text_at(binding, "target.kind"), "Node")) {
		bt_admit_topology_labels(&call->write, node, pod);
	}
	(void)bt_json_remove_c(bt_json_find(pod, "status"), "nominatedNodeName");
	bt_pod_set_condition(call, pod, "PodScheduled", NULL, NULL);
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
	struct bt_json_value *containers = bt_json_find_path(object, "spec.ephemeralContainers");
	if (containers != NULL) {
		bt_json_set_value(call->arena, bt_json_ensure_object(call->arena, result, "spec"),
			"ephemeralContainers", containers);
	}
	return result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Applies the remedies of remedies.def to the JSON of objects. Does not use the code that makes
 * proposals, because an error there would then be repeated here.
 */
#include "conformance/conformance_explain.h"

#include "api/quantity.h"
#include "codec/json_edit.h"

#define REQUIRED "requiredDuringSchedulingIgnoredDuringExecution"

struct edit {
	struct bt_arena *arena;
	struct bt_json_value *object;
	const struct bt_remedy *remedies;
	uint32_t count;
	struct berth_error *err;
};

static int missing(const struct edit *edit, const struct bt_remedy *remedy, const char *what)
{
	return bt_error_set(edit->err, BERTH_ERR_INVALID, "%s: there is no %s",
		bt_remedy_kind_name(remedy->kind), what);
}

/* --- the pod --- */

static void tolerate(const struct edit *edit, const struct bt_remedy *remedy)
{
	struct bt_arena *arena = edit->arena;
	struct bt_json_value *list = bt_json_ensure_array(
		arena, bt_json_ensure_object(arena, edit->object, "spec"), "tolerations");
	struct bt_json_value *toleration = bt_json_new(arena, BT_JSON_OBJECT);

	bt_json_set_str(arena, toleration, "key", remedy->key);
	bt_json_set_c(
		arena, toleration, "operator", remedy->value.length == 0 ? "Exists" : "Equal");
	bt_json_set_str(arena, toleration, "value", remedy->value);
	bt_json_set_str(arena, toleration, "effect", remedy->effect);
	bt_json_append(arena, list, toleration);
}

/**
 * Replaces the element at the remedy's index by null, so that indices stay valid. `sweep` removes
 * the nulls after all remedies.
 */
static int blank(const struct edit *edit, const struct bt_remedy *remedy, const char *path)
{
	struct bt_json_value *list = bt_json_find_path(edit->object, path);

	if (list == NULL || list->type != BT_JSON_ARRAY || remedy->index >= list->count ||
		list->elements[remedy->index]->type == BT_JSON_NULL) {
		return missing(edit, remedy, "such term");
	}
	list->elements[remedy->index] = bt_json_new(edit->arena, BT_JSON_NULL);
	return 0;
}

static void sweep(const struct edit *edit, const char *path)
{
	struct bt_json_value *list = bt_json_find_path(edit->object, path);

	for (uint32_t i = list != NULL && list->type == BT_JSON_ARRAY ? list->count : 0; i-- > 0;) {
		if (list->elements[i]->type == BT_JSON_NULL) {
			bt_json_remove_at(list, i);
		}
	}
}

static int relax_spread(const struct edit *edit, const struct bt_remedy *remedy)
{
	const struct bt_json_value *list =
		bt_json_array_at(edit->object, "spec.topologySpreadConstraints");
	struct bt_json_value *constraint;

	if (remedy->index >= list->count) {
		return missing(edit, remedy, "such constraint");
	}
	constraint = list->elements[remedy->index];
	if (remedy->kind == BT_REMEDY_ALLOW_SKEW) {
		bt_json_set_c(edit->arena, constraint, "whenUnsatisfiable", "ScheduleAnyway");
		return 0;
	}
	if (remedy->amount <= bt_json_int64_at(constraint, "maxSkew", 0)) {
		return missing(edit, remedy, "rise: maxSkew is that large");
	}
	bt_json_set_int64(edit->arena, constraint, "maxSkew", remedy->amount);
	return 0;
}

static bool drop_ports(const struct bt_json_value *containers, const struct bt_remedy *remedy)
{
	bool found = false;

	for (uint32_t i = 0; i < containers->count; i++) {
		struct bt_json_value *ports = bt_json_find(containers->elements[i], "ports");

		for (uint32_t k = ports != NULL && ports->type == BT_JSON_ARRAY ? ports->count : 0;
			k-- > 0;) {
			const struct bt_json_value *port = ports->elements[k];
			struct bt_str protocol = bt_json_text_at(port, "protocol");

			if (protocol.length == 0) {
				protocol = BT_STR("TCP");
			}
			if (bt_json_int64_at(port, "hostPort", 0) == remedy->amount &&
				bt_str_equal(protocol, remedy->value)) {
				bt_json_remove_at(ports, k);
				found = true;
			}
		}
	}
	return found;
}

/** Remove the elements whose name is the remedy's key from the list at `path`. */
static int drop_named(const struct edit *edit, const struct bt_remedy *remedy, const char *path)
{
	struct bt_json_value *list = bt_json_find_path(edit->object, path);
	bool found = false;

	for (uint32_t i = list != NULL && list->type == BT_JSON_ARRAY ? list->count : 0; i-- > 0;) {
		if (bt_str_equal(bt_json_text_at(list->elements[i], "name"), remedy->key)) {
			bt_json_remove_at(list, i);
			found = true;
		}
	}
	return found ? 0 : missing(edit, remedy, "element of this name");
}

static int drop_member(const struct edit *edit, const struct bt_remedy *remedy,
	const char *object_path, struct bt_str name)
{
	struct bt_json_value *object = bt_json_find_path(edit->object, object_path);

	if (object == NULL || object->type != BT_JSON_OBJECT || !bt_json_remove(object, name)) {
		return missing(edit, remedy, "such member");
	}
	return 0;
}

/**
 * Lowers the request of the pod's only container. If the request is missing, starts from the limit,
 * which is the request's default.
 */
static int lower_request(const struct edit *edit, const struct bt_remedy *remedy)
{
	struct bt_arena *arena = edit->arena;
	const struct bt_json_value *containers = bt_json_array_at(edit->object, "spec.containers");
	struct bt_json_value *resources;
	struct bt_json_value *requests;
	const struct bt_json_value *now;
	struct bt_quantity less = bt_quantity_make(remedy->amount,
		bt_str_equal_c(remedy->resource, "cpu") ? -3 : 0, BT_QUANTITY_DECIMAL_SI);
	struct bt_quantity left;
	struct bt_strbuf text = {0};
	int result;

	if (containers->count != 1 ||
		bt_json_array_at(edit->object, "spec.initContainers")->count != 0 ||
		bt_json_find_path(edit->object, "spec.resources") != NULL) {
		return missing(edit, remedy, "single request");
	}
	resources = bt_json_ensure_object(arena, containers->elements[0], "resources");
	requests = bt_json_ensure_object(arena, resources, "requests");
	now = bt_json_get(requests, remedy->resource);
	if (now == NULL) {
		now = bt_json_get(
			bt_json_ensure_object(arena, resources, "limits"), remedy->resource);
	}
	if (now == NULL || remedy->amount <= 0) {
		return missing(edit, remedy, "request to lower");
	}
	result = bt_quantity_parse(now->text, arena, &left, edit->err);
	if (result != 0) {
		return result;
	}
	bt_quantity_sub(&left, &less, arena);
	if (bt_quantity_value(&left) <= 0) {
		return missing(edit, remedy, "request left");
	}
	bt_quantity_format(&left, &text);
	bt_json_set(arena, requests, remedy->resource,
		bt_json_new_str(arena, bt_arena_str(arena, bt_strbuf_str(&text))));
	bt_strbuf_finish(&text);
	return 0;
}

static int edit_pod(const struct edit *edit, const struct bt_remedy *remedy)
{
	bool found;

	switch (remedy->kind) {
	case BT_REMEDY_TOLERATE:
		tolerate(edit, remedy);
		return 0;
	case BT_REMEDY_DROP_NODE_SELECTOR:
		return drop_member(edit, remedy, "spec.nodeSelector", remedy->key);
	case BT_REMEDY_DROP_NODE_AFFINITY:
		return drop_member(edit, remedy, "spec.affinity.nodeAffinity", BT_STR(REQUIRED));
	case BT_REMEDY_DROP_POD_AFFINITY:
		return blank(edit, remedy, "spec.affinity.podAffinity." REQUIRED);
	case BT_REMEDY_DROP_POD_ANTI_AFFINITY:
		return blank(edit, remedy, "spec.affinity.podAntiAffinity." REQUIRED);
	case BT_REMEDY_RAISE_MAX_SKEW:
	case BT_REMEDY_ALLOW_SKEW:
		return relax_spread(edit, remedy);
	case BT_REMEDY_DROP_HOST_PORT:
		found = drop_ports(bt_json_array_at(edit->object, "spec.containers"), remedy);
		found = drop_ports(bt_json_array_at(edit->object, "spec.initContainers"), remedy) ||
			found;
		return found ? 0 : missing(edit, remedy, "such port");
	case BT_REMEDY_DROP_VOLUME:
	case BT_REMEDY_PROVISION_VOLUME:
		return drop_named(edit, remedy, "spec.volumes");
	case BT_REMEDY_LOWER_REQUEST:
		return lower_request(edit, remedy);
	case BT_REMEDY_REMOVE_GATE:
		return drop_named(edit, remedy, "spec.schedulingGates");
	case BT_REMEDY_SET_SCHEDULER_NAME:
		bt_json_set_str(edit->arena,
			bt_json_ensure_object(edit->arena, edit->object, "spec"), "schedulerName",
			remedy->value);
		return 0;
	case BT_REMEDY_FREE_RESOURCE:
	case BT_REMEDY_REMOVE_POD:
	case BT_REMEDY_UNCORDON:
	case BT_REMEDY_SET_LABEL:
	case BT_REMEDY_REMOVE_LABEL:
	case BT_REMEDY__COUNT:
		break;
	}
	return 0;
}

int bt_remedies_edit_pod(struct bt_arena *arena, struct bt_json_value *pod,
	const struct bt_remedy *remedies, uint32_t count, struct berth_error *err)
{
	struct edit edit = {arena, pod, remedies, count, err};

	for (uint32_t i = 0; i < count; i++) {
		int result = edit_pod(&edit, &remedies[i]);

		if (result != 0) {
			return result;
		}
	}
	sweep(&edit, "spec.affinity.podAffinity." REQUIRED);
	sweep(&edit, "spec.affinity.podAntiAffinity." REQUIRED);
	return 0;
}

/* --- a node --- */

static int free_resource(const struct edit *edit, const struct bt_remedy *remedy)
{
	struct bt_arena *arena = edit->arena;
	struct bt_json_value *list = bt_json_ensure_object(
		arena, bt_json_ensure_object(arena, edit->object, "status"), "allocatable");
	const struct bt_json_value *now = bt_json_get(list, remedy->resource);
	struct bt_quantity more = bt_quantity_make(remedy->amount,
		bt_str_equal_c(remedy->resource, "cpu") ? -3 : 0, BT_QUANTITY_DECIMAL_SI);
	struct bt_quantity sum = bt_quantity_make(0, 0, BT_QUANTITY_DECIMAL_SI);
	struct bt_strbuf text = {0};
	int result = 0;

	if (remedy->amount <= 0) {
		return missing(edit, remedy, "amount to free");
	}
	if (now != NULL) {
		result = bt_quantity_parse(now->text, arena, &sum, edit->err);
	}
	if (result == 0) {
		bt_quantity_add(&sum, &more, arena);
		bt_quantity_format(&sum, &text);
		bt_json_set(arena, list, remedy->resource,
			bt_json_new_str(arena, bt_arena_str(arena, bt_strbuf_str(&text))));
	}
	bt_strbuf_finish(&text);
	return result;
}

static void uncordon(const struct edit *edit)
{
	struct bt_json_value *spec = bt_json_ensure_object(edit->arena, edit->object, "spec");
	struct bt_json_value *taints = bt_json_find(spec, "taints");

	(void)bt_json_remove_c(spec, "unschedulable"); /* absent means false */
	for (uint32_t i = taints != NULL && taints->type == BT_JSON_ARRAY ? taints->count : 0;
		i-- > 0;) {
		if (bt_str_equal_c(bt_json_text_at(taints->elements[i], "key"),
			    "node.kubernetes.io/unschedulable")) {
			bt_json_remove_at(taints, i);
		}
	}
}

static int edit_node(const struct edit *edit, const struct bt_remedy *remedy)
{
	struct bt_json_value *metadata =
		bt_json_ensure_object(edit->arena, edit->object, "metadata");

	if (remedy->kind == BT_REMEDY_FREE_RESOURCE) {
		return free_resource(edit, remedy);
	}
	if (remedy->kind == BT_REMEDY_UNCORDON) {
		uncordon(edit);
	} else if (remedy->kind == BT_REMEDY_SET_LABEL) {
		bt_json_set(edit->arena, bt_json_ensure_object(edit->arena, metadata, "labels"),
			remedy->key, bt_json_new_str(edit->arena, remedy->value));
	} else if (remedy->kind == BT_REMEDY_REMOVE_LABEL) {
		return drop_member(edit, remedy, "metadata.labels", remedy->key);
	}
	return 0;
}

int bt_remedies_edit_node(struct bt_arena *arena, struct bt_json_value *node, struct bt_str name,
	const struct bt_remedy *remedies, uint32_t count, struct berth_error *err)
{
	struct edit edit = {arena, node, remedies, count, err};

	for (uint32_t i = 0; i < count; i++) {
		int result = 0;

		if (!bt_remedy_is_of_pod(remedies[i].kind) &&
			bt_str_equal(remedies[i].node, name)) {
			result = edit_node(&edit, &remedies[i]);
		}
		if (result != 0) {
			return result;
		}
	}
	return 0;
}

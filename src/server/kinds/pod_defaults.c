/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"
#include "api/time.h"
#include "server/kinds/common.h"

/* Defaults of pods and pod templates. Spec: 14b section 3.1. */

static void default_container(struct bt_arena *arena, struct bt_json_value *container,
	bool is_template, bool host_network)
{
	struct bt_json_value *resources = bt_json_ensure_object(arena, container, "resources");
	struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	const struct bt_json_value *ports = bt_json_array_at(container, "ports");
	/* If the image has a tag, the tag decides on the policy, even if a digest follows. */
	struct bt_str image = bt_kinds_text(container, "image");
	int64_t at = bt_str_find_char(image, '@');
	struct bt_str name = at >= 0 ? bt_str_sub(image, 0, (uint32_t)at) : image;
	int64_t colon = bt_str_find_last_char(name, ':');
	bool always = at < 0 && image.length != 0;
	if (colon > bt_str_find_last_char(name, '/')) {
		always = bt_str_equal_c(
			bt_str_sub(name, (uint32_t)colon + 1, name.length), "latest");
	}
	bt_kinds_default_c(arena, container, "imagePullPolicy", always ? "Always" : "IfNotPresent");
	bt_kinds_round_quantities(arena, limits);
	bt_kinds_round_quantities(arena, bt_kinds_object(resources, "requests"));
	/* Requests default to limits only in pods: a template stays as written. */
	if (!is_template && limits != NULL && limits->count <= BT_KINDS_RESOURCES_MAX) {
		bt_kinds_default_map(arena, resources, "requests", limits);
	}
	/* With hostNetwork a container port is also the host port. */
	for (uint32_t i = 0; host_network && !is_template && i < ports->count; i++) {
		int64_t number = bt_json_int64_at(ports->elements[i], "containerPort", 0);
		if (number != 0 && bt_json_int64_at(ports->elements[i], "hostPort", 0) == 0) {
			bt_json_set_int64(arena, ports->elements[i], "hostPort", number);
		}
	}
}

/**
 * Sets each quantity of `map` to the sum of both maps' quantities, or with `takes_max` to the
 * larger one. Stops when `map` has BT_KINDS_RESOURCES_MAX entries and lacks one of the other map.
 */
static void merge_quantities(struct bt_arena *arena, struct bt_json_value *map,
	const struct bt_json_value *other, bool takes_max)
{
	for (uint32_t i = 0; other != NULL && i < other->count; i++) {
		const struct bt_json_member *member = &other->members[i];
		struct bt_json_value *value = member->value;
		struct bt_quantity mine;
		struct bt_quantity theirs;
		if (bt_kinds_quantity(bt_json_get(map, member->name), arena, &mine)) {
			if (!bt_kinds_quantity(value, arena, &theirs) ||
				(takes_max && bt_quantity_compare(&theirs, &mine) <= 0)) {
				continue;
			}
			if (!takes_max) {
				bt_quantity_add(&mine, &theirs, arena);
				value = bt_kinds_quantity_value(&mine, arena);
			}
		} else if (map->count == BT_KINDS_RESOURCES_MAX) {
			return;
		}
		bt_json_set(arena, map, member->name, value);
	}
}

struct bt_json_value *bt_kinds_container_sum(
	struct bt_arena *arena, const struct bt_json_value *spec, const char *which)
{
	struct bt_json_value *total = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *sidecars = bt_json_new(arena, BT_JSON_OBJECT);
	const struct bt_json_value *containers = bt_json_array_at(spec, "containers");
	const struct bt_json_value *inits = bt_json_array_at(spec, "initContainers");
	struct bt_json_value *init_max = bt_json_new(arena, BT_JSON_OBJECT);
	for (uint32_t i = 0; i < containers->count; i++) {
		merge_quantities(arena, total,
			bt_kinds_object(
				bt_kinds_object(containers->elements[i], "resources"), which),
			false);
	}
	for (uint32_t i = 0; i < inits->count; i++) {
		const struct bt_json_value *own =
			bt_kinds_object(bt_kinds_object(inits->elements[i], "resources"), which);
		if (bt_str_equal_c(bt_kinds_text(inits->elements[i], "restartPolicy"), "Always")) {
			merge_quantities(arena, total, own, false);
			merge_quantities(arena, sidecars, own, false);
			merge_quantities(arena, init_max, sidecars, true);
		} else {
			struct bt_json_value *step = bt_json_clone(arena, sidecars, false);
			merge_quantities(arena, step, own, false);
			merge_quantities(arena, init_max, step, true);
		}
	}
	merge_quantities(arena, total, init_max, true);
	return total;
}

struct bt_json_value *bt_kinds_pod_sum(
	struct bt_arena *arena, const struct bt_json_value *spec, const char *which)
{
	struct bt_json_value *total = bt_kinds_container_sum(arena, spec, which);
	const struct bt_json_value *own =
		bt_kinds_object(bt_kinds_object(spec, "resources"), which);
	const struct bt_json_value *overhead = bt_json_object_at(spec, "overhead");
	struct bt_json_value *added = bt_json_new(arena, BT_JSON_OBJECT);
	bool adds_all = strcmp(which, "requests") == 0;
	for (uint32_t i = 0; own != NULL && i < own->count && total->count < BT_KINDS_RESOURCES_MAX;
		i++) {
		bt_json_set(arena, total, own->members[i].name, own->members[i].value);
	}
	for (uint32_t i = 0; i < overhead->count && i < BT_KINDS_RESOURCES_MAX; i++) {
		const struct bt_json_member *member = &overhead->members[i];
		struct bt_quantity limit;
		if (adds_all ||
			(bt_kinds_quantity(bt_json_get(total, member->name), arena, &limit) &&
				!bt_quantity_is_zero(&limit))) {
			bt_json_set(arena, added, member->name, member->value);
		}
	}
	merge_quantities(arena, total, added, false);
	return total;
}

static void default_pod_resources(struct bt_arena *arena, const struct bt_json_value *spec)
{
	struct bt_json_value *resources = bt_kinds_object(spec, "resources");
	struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	struct bt_json_value *requests = bt_kinds_object(resources, "requests");
	if (limits == NULL && requests == NULL) {
		return;
	}
	bt_kinds_round_quantities(arena, limits);
	bt_kinds_round_quantities(arena, requests);
	/* Container limits on huge pages become pod-level limits: spec 01b section 12. */
	const struct bt_json_value *sum = bt_kinds_container_sum(arena, spec, "limits");
	for (uint32_t i = 0; i < sum->count; i++) {
		const struct bt_json_member *member = &sum->members[i];
		if (bt_resource_is_hugepage(member->name) &&
			bt_json_get(requests, member->name) == NULL &&
			bt_json_get(limits, member->name) == NULL) {
			limits = bt_json_ensure_object(arena, resources, "limits");
			bt_json_set(arena, limits, member->name, member->value);
		}
	}
	if (limits == NULL || limits->count == 0 || limits->count > BT_KINDS_RESOURCES_MAX) {
		return;
	}
	requests = bt_json_ensure_object(arena, resources, "requests");
	sum = bt_kinds_container_sum(arena, spec, "requests");
	for (uint32_t i = 0; i < sum->count; i++) {
		const struct bt_json_member *member = &sum->members[i];
		if (bt_resource_is_pod_level_supported(member->name) &&
			bt_resource_is_overcommit_allowed(member->name) &&
			bt_json_get(requests, member->name) == NULL) {
			bt_json_set(arena, requests, member->name,
				bt_json_clone(arena, member->value, false));
		}
	}
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct bt_json_member *limit = &limits->members[i];
		if (bt_resource_is_pod_level_supported(limit->name) &&
			bt_json_get(requests, limit->name) == NULL) {
			bt_json_set(arena, requests, limit->name,
				bt_json_clone(arena, limit->value, false));
		}
	}
	if (requests->count == 0) {
		(void)bt_json_remove_c(resources, "requests");
	}
}

void bt_kinds_default_pod_spec(struct bt_arena *arena, struct bt_json_value *spec, bool is_template)
{
	static const char *const lists[] = {"initContainers", "containers", "ephemeralContainers"};
	bool host_network = bt_json_bool_at(spec, "hostNetwork", false);
	const struct bt_json_value *volumes = bt_json_array_at(spec, "volumes");
	struct bt_str account = bt_kinds_text(spec, "serviceAccountName");
	struct bt_str old_account = bt_kinds_text(spec, "serviceAccount");
	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
		const struct bt_json_value *list = bt_json_array_at(spec, lists[n]);
		for (uint32_t i = 0; i < list->count; i++) {
			/* no defaults of resources and ports: ephemeral containers have neither */
			default_container(
				arena, list->elements[i], is_template || n == 2, host_network);
		}
	}
	(void)bt_json_ensure_object(arena, spec, "securityContext");
	if (!is_template) {
		if (bt_json_find(spec, "enableServiceLinks") == NULL) {
			bt_json_set_bool(arena, spec, "enableServiceLinks", true);
		}
		default_pod_resources(arena, spec);
	}
	if (account.length != 0 && !bt_str_equal(account, old_account)) {
		bt_json_set_str(arena, spec, "serviceAccount", account);
	} else if (account.length == 0 && old_account.length != 0) {
		bt_json_set_str(arena, spec, "serviceAccountName", old_account);
	}
	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_json_value *volume = volumes->elements[i];
		if (volume->count <= (bt_json_find(volume, "name") != NULL ? 1U : 0U)) {
			(void)bt_json_ensure_object(arena, volume, "emptyDir");
		}
	}
	bt_kinds_round_quantities(arena, bt_kinds_object(spec, "overhead"));
}

void bt_kinds_default_pod_template(struct bt_arena *arena, struct bt_json_value *holder)
{
	struct bt_json_value *template_ = bt_json_ensure_object(arena, holder, "template");
	(void)bt_json_ensure_object(arena, template_, "metadata");
	bt_kinds_default_pod_spec(arena, bt_json_ensure_object(arena, template_, "spec"), true);
}

/* Fields of a new pod that are set besides its defaults. Spec: 14b sections 2.2 and 3.2. */

/** Sets `*out` to the quantity of `name` in the map. Returns false if it is missing or zero. */
static bool find_positive(struct bt_arena *arena, const struct bt_json_value *map, const char *name,
	struct bt_quantity *out)
{
	return bt_kinds_quantity(bt_json_find(map, name), arena, out) && !bt_quantity_is_zero(out);
}

/**
 * Adds one list of requests and limits to the state of the QoS class. `any`: cpu or memory is given
 * somewhere. `full`: cpu and memory have limits everywhere, and the limits equal the requests.
 */
static void add_to_qos(
	struct bt_arena *arena, const struct bt_json_value *resources, bool *any, bool *full)
{
	static const char *const names[] = {"cpu", "memory"};
	const struct bt_json_value *requests = bt_kinds_object(resources, "requests");
	const struct bt_json_value *limits = bt_kinds_object(resources, "limits");
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		struct bt_quantity request;
		struct bt_quantity limit;
		bool has_request = find_positive(arena, requests, names[i], &request);
		bool has_limit = find_positive(arena, limits, names[i], &limit);
		*any = *any || has_request || has_limit;
		*full = *full && has_request && has_limit &&
			bt_quantity_compare(&request, &limit) == 0;
	}
}

const char *bt_kinds_qos_class(struct bt_arena *arena, const struct bt_json_value *spec)
{
	static const char *const lists[] = {"containers", "initContainers"};
	const struct bt_json_value *pod_level = bt_kinds_object(spec, "resources");
	bool any = false;
	bool full = true;
	if (pod_level != NULL && pod_level->count != 0) {
		add_to_qos(arena, pod_level, &any, &full);
	} else {
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(lists); n++) {
			const struct bt_json_value *list = bt_json_array_at(spec, lists[n]);
			for (uint32_t i = 0; i < list->count; i++) {
				add_to_qos(arena, bt_kinds_object(list->elements[i], "resources"),
					&any, &full);
			}
		}
	}
	if (!any) {
		return "BestEffort";
	}
	return full ? "Guaranteed" : "Burstable";
}

struct pod_labels {
	const struct bt_json_value *object;
	struct bt_text_set keys;
};

/**
 * For each label key in the list `keys_name`, adds the pod's value to the labelSelector of
 * `holder`.
 */
static void merge_keys(const struct bt_write *write, const struct pod_labels *labels,
	struct bt_json_value *holder, const char *keys_name, const char *operator_)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *keys = bt_json_array_at(holder, keys_name);
	struct bt_json_value *selector = bt_kinds_object(holder, "labelSelector");
	for (uint32_t i = 0; selector != NULL && i < keys->count; i++) {
		uint32_t index = bt_text_set_find(&labels->keys, keys->elements[i]->text);
		if (index == BT_MAP_NONE) {
			continue;
		}
		const struct bt_json_value *label = labels->object->members[index].value;
		struct bt_json_value *expression =
			bt_json_put(arena, NULL, "{key: %s, operator: %c, values: [%s]}",
				keys->elements[i]->text, operator_, label->text);
		struct bt_json_value *expressions =
			bt_json_ensure_array(arena, selector, "matchExpressions");
		/* A restored pod may have the expression already. */
		if (!write->restoring || !bt_kinds_contains(expressions, expression)) {
			bt_json_append(arena, expressions, expression);
		}
	}
}

static void merge_affinity_keys(const struct bt_write *write, const struct pod_labels *labels,
	const struct bt_json_value *affinity)
{
	const struct bt_json_value *required =
		bt_json_array_at(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
	const struct bt_json_value *preferred =
		bt_json_array_at(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
	for (uint32_t i = 0; i < required->count + preferred->count; i++) {
		struct bt_json_value *term = i < required->count
			? required->elements[i]
			: bt_kinds_object(
				  preferred->elements[i - required->count], "podAffinityTerm");
		if (term != NULL) {
			merge_keys(write, labels, term, "matchLabelKeys", "In");
			merge_keys(write, labels, term, "mismatchLabelKeys", "NotIn");
		}
	}
}

static void prepare_pod(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *spec = bt_kinds_object(object, "spec");
	const struct bt_json_value *affinity = bt_kinds_object(spec, "affinity");
	const struct bt_json_value *constraints =
		bt_json_array_at(spec, "topologySpreadConstraints");
	struct pod_labels labels = {0};
	struct bt_json_value *status = bt_json_ensure_object(write->arena, object, "status");
	bool is_kept = bt_kinds_keeps_status(write, object);
	bt_kinds_default_c(write->arena, status, "phase", "Pending");
	if (!is_kept && bt_json_array_at(spec, "schedulingGates")->count != 0) {
		bt_json_put(write->arena, status,
			"{conditions: [{type: 'PodScheduled', status: 'False',"
			" lastTransitionTime: %s, reason: 'SchedulingGated', message:"
			" 'Scheduling is blocked due to non-empty scheduling gates'}]}",
			bt_time_text(write->arena, write->now_ns));
	}
	bt_kinds_default_c(
		write->arena, status, "qosClass", bt_kinds_qos_class(write->arena, spec));
	if (affinity == NULL && constraints->count == 0) {
		return;
	}
	labels.object = bt_json_object_at(object, "metadata.labels");
	bt_json_append_names(labels.object, &labels.keys);
	merge_affinity_keys(write, &labels, bt_kinds_object(affinity, "podAffinity"));
	merge_affinity_keys(write, &labels, bt_kinds_object(affinity, "podAntiAffinity"));
	for (uint32_t i = 0; i < constraints->count; i++) {
		merge_keys(write, &labels, constraints->elements[i], "matchLabelKeys", "In");
	}
	bt_text_set_finish(&labels.keys);
}

static void default_pod(const struct bt_write *write, struct bt_json_value *object)
{
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_default_pod_spec(
			write->arena, bt_json_ensure_object(write->arena, object, "spec"), false);
	}
}

const struct bt_strategy bt_strategy_pod = {
	.resets_status = true,
	.set_defaults = default_pod,
	.prepare_create = prepare_pod,
	.validate_update = bt_kinds_validate_pod_update,
};

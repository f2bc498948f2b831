/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/*
 * Validates updates of pods: the new spec, with its mutable fields reset to their old values, must
 * equal the old spec. Spec: 14b section 2.3.
 */

/**
 * Longer lists must keep the order of their elements, because matching in any order takes quadratic
 * time.
 */
#define TOLERATIONS_ANY_ORDER_MAX 500

static const char permitted_text[] =
	"pod updates may not change fields other than "
	"`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
	"`spec.tolerations` (only additions to existing tolerations),"
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously "
	"negative)";

void bt_kinds_reset_member(struct bt_arena *arena, struct bt_json_value *target,
	const struct bt_json_value *old, const char *name)
{
	struct bt_json_value *value = bt_json_find(old, name);
	if (value != NULL) {
		bt_json_set_value(arena, target, name, value);
	} else {
		(void)bt_json_remove_c(target, name);
	}
}

/** Resets one member of each container in a list to its old value. */
static void reset_each(struct bt_arena *arena, const struct bt_json_value *spec,
	const struct bt_json_value *old, const char *list_name, const char *name)
{
	const struct bt_json_value *list = bt_json_array_at(spec, list_name);
	const struct bt_json_value *old_list = bt_json_array_at(old, list_name);
	for (uint32_t i = 0; i < list->count && list->count == old_list->count; i++) {
		bt_kinds_reset_member(arena, list->elements[i], old_list->elements[i], name);
	}
}

bool bt_kinds_contains(const struct bt_json_value *list, const struct bt_json_value *value)
{
	for (uint32_t i = 0; i < list->count; i++) {
		if (bt_json_equal(list->elements[i], value)) {
			return true;
		}
	}
	return false;
}

/** Returns whether `list` contains every element of `old`; in the same order if either is long. */
static bool only_additions(const struct bt_json_value *old, const struct bt_json_value *list)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < list->count && found < old->count; i++) {
		found += bt_json_equal(list->elements[i], old->elements[found]) ? 1U : 0U;
	}
	if (found == old->count) {
		return true;
	}
	if (old->count > TOLERATIONS_ANY_ORDER_MAX || list->count > TOLERATIONS_ANY_ORDER_MAX) {
		return false;
	}
	for (uint32_t i = 0; i < old->count; i++) {
		if (!bt_kinds_contains(list, old->elements[i])) {
			return false;
		}
	}
	return true;
}

/** Terms may only gain expressions, so that the set of matching nodes can only shrink. */
static void check_node_affinity(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *old, const struct bt_json_value *spec)
{
	static const char terms[] =
		"affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
		"nodeSelectorTerms";
	const struct bt_json_value *before = bt_json_array_at(old, terms);
	const struct bt_json_value *after = bt_json_array_at(spec, terms);
	const struct bt_path *at =
		BT_PATH_NAME(BT_PATH_NAME(BT_PATH_NAME(place, "affinity.nodeAffinity"),
				     "requiredDuringSchedulingIgnoredDuring"
				     "Execution"),
			"nodeSelectorTerms");
	if (before->count == 0) {
		return;
	}
	if (before->count != after->count) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at, after,
			"no additions/deletions to non-empty NodeSelectorTerms list are allowed");
		return;
	}
	for (uint32_t i = 0; i < before->count; i++) {
		const struct bt_json_value *was = before->elements[i];
		const struct bt_json_value *is = after->elements[i];
		if (!only_additions(bt_json_array_at(was, "matchExpressions"),
			    bt_json_array_at(is, "matchExpressions")) ||
			!only_additions(bt_json_array_at(was, "matchFields"),
				bt_json_array_at(is, "matchFields"))) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_INDEX(at, i), is,
				"only additions are allowed (no mutations or deletions)");
		}
	}
}

/** Copies the tolerations without tolerationSeconds, because tolerationSeconds may change. */
static struct bt_json_value *lasting_tolerations(
	struct bt_arena *arena, const struct bt_json_value *spec)
{
	struct bt_json_value *list =
		bt_json_clone(arena, bt_json_array_at(spec, "tolerations"), false);
	for (uint32_t i = 0; i < list->count; i++) {
		(void)bt_json_remove_c(list->elements[i], "tolerationSeconds");
	}
	return list;
}

/** Resets to their old values the fields that this kind of update may change. */
static void reset_permitted(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *spec)
{
	struct bt_arena *arena = write->arena;
	if (write->subresource == BT_SUBRESOURCE_EPHEMERAL_CONTAINERS) {
		bt_kinds_reset_member(arena, spec, old, "ephemeralContainers");
		return;
	}
	if (write->subresource == BT_SUBRESOURCE_RESIZE) {
		bt_kinds_reset_member(arena, spec, old, "resources");
		reset_each(arena, spec, old, "containers", "resources");
		reset_each(arena, spec, old, "containers", "resizePolicy");
		reset_each(arena, spec, old, "initContainers", "resources");
		return;
	}
	reset_each(arena, spec, old, "containers", "image");
	reset_each(arena, spec, old, "initContainers", "image");
	bt_kinds_reset_member(arena, spec, old, "activeDeadlineSeconds");
	bt_kinds_reset_member(arena, spec, old, "tolerations");
	bt_kinds_reset_member(arena, spec, old, "schedulingGates");
	if (bt_json_int64_at(old, "terminationGracePeriodSeconds", 0) < 0 &&
		bt_json_int64_at(spec, "terminationGracePeriodSeconds", 0) == 1) {
		bt_kinds_reset_member(arena, spec, old, "terminationGracePeriodSeconds");
	}
	if (bt_json_array_at(old, "schedulingGates")->count != 0) {
		bt_kinds_reset_member(arena, spec, old, "nodeSelector");
		struct bt_json_value *affinity = bt_json_find(spec, "affinity");
		if (affinity != NULL && affinity->type == BT_JSON_OBJECT) {
			bt_kinds_reset_member(
				arena, affinity, bt_json_find(old, "affinity"), "nodeAffinity");
			if (affinity->count == 0) {
				(void)bt_json_remove_c(spec, "affinity");
			}
		}
	}
}

/** Ephemeral containers can only be added. */
static void check_ephemeral_containers(struct bt_field_errors *errors,
	const struct bt_json_value *before, const struct bt_json_value *after)
{
	const struct bt_json_value *old = bt_json_array_at(before, "ephemeralContainers");
	const struct bt_json_value *containers = bt_json_array_at(after, "ephemeralContainers");
	struct bt_text_set names = {0}; /* in the order of the containers */
	for (uint32_t i = 0; i < containers->count; i++) {
		bt_text_set_append(&names, bt_kinds_text(containers->elements[i], "name"));
	}
	for (uint32_t i = 0; i < old->count; i++) {
		struct bt_str name = bt_kinds_text(old->elements[i], "name");
		uint32_t at = bt_text_set_find(&names, name);
		bool is_removed = at == BT_MAP_NONE;
		if (is_removed || !bt_json_equal(containers->elements[at], old->elements[i])) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(NULL, "spec.ephemeralContainers"), NULL,
				"existing ephemeral containers \"%.*s\" may not be %s\n",
				BT_STR_ARG(name), is_removed ? "removed" : "changed");
		}
	}
	bt_text_set_finish(&names);
}

void bt_kinds_validate_pod_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	static const char deadline_name[] = "activeDeadlineSeconds";
	const struct bt_json_value *old_deadline = bt_json_find(before, deadline_name);
	const struct bt_json_value *deadline = bt_json_find(after, deadline_name);
	const struct bt_json_value *selector = bt_json_object_at(before, "nodeSelector");
	const struct bt_json_value *new_selector = bt_json_object_at(after, "nodeSelector");
	const struct bt_json_value *old_gates = bt_json_array_at(before, "schedulingGates");
	const struct bt_json_value *gates = bt_json_array_at(after, "schedulingGates");
	if (bt_kinds_keeps_spec(write) || bt_json_equal(before, after)) {
		return;
	}
	if (bt_json_array_at(before, "containers")->count !=
		bt_json_array_at(after, "containers")->count) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "containers"), NULL,
			"pod updates may not add or remove containers");
		return;
	}
	if (write->subresource == BT_SUBRESOURCE_EPHEMERAL_CONTAINERS) {
		check_ephemeral_containers(errors, before, after);
	}
	if (write->subresource == BT_SUBRESOURCE_RESIZE) {
		const char *class_ = bt_kinds_qos_class(write->arena, after);
		if (strcmp(class_, bt_kinds_qos_class(write->arena, before)) != 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, place,
				bt_json_new_c(write->arena, class_),
				"Pod QOS Class may not change as a result of resizing");
		}
	}
	const struct bt_json_value *containers = bt_json_array_at(after, "containers");
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_path *at = BT_PATH_INDEX(BT_PATH_NAME(place, "containers"), i);
		if (bt_kinds_text(containers->elements[i], "image").length == 0) {
			bt_kinds_error_required(errors, BT_PATH_NAME(at, "image"));
		}
	}
	struct bt_text_set known_gates = {0};
	bt_kinds_collect_names(&known_gates, old_gates, "name");
	for (uint32_t i = 0; i < gates->count; i++) {
		struct bt_str name = bt_kinds_text(gates->elements[i], "name");
		if (!bt_text_set_has(&known_gates, name)) {
			const struct bt_path *at =
				BT_PATH_INDEX(BT_PATH_NAME(place, "schedulingGates"), i);
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(at, "name"), NULL,
				"only deletion is allowed, but found new scheduling gate '%.*s'",
				BT_STR_ARG(name));
		}
	}
	bt_text_set_finish(&known_gates);
	if (old_deadline != NULL && deadline == NULL) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, deadline_name),
			bt_json_new(errors->arena, BT_JSON_NULL),
			"must not update from a positive integer to nil value");
	} else if (old_deadline != NULL &&
		bt_json_int64_at(after, deadline_name, 0) >
			bt_json_int64_at(before, deadline_name, 0)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, deadline_name),
			deadline, "must be less than or equal to previous value");
	}
	struct bt_text_set selector_keys = {0};
	bt_json_append_names(new_selector, &selector_keys);
	for (uint32_t i = 0; old_gates->count != 0 && i < selector->count; i++) {
		const struct bt_json_member *label = &selector->members[i];
		uint32_t index = bt_text_set_find(&selector_keys, label->name);
		if (index == BT_MAP_NONE ||
			!bt_json_equal(new_selector->members[index].value, label->value)) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(place, "nodeSelector"), new_selector,
				"only additions to spec.nodeSelector are allowed (no mutations or "
				"deletions)");
			break;
		}
	}
	bt_text_set_finish(&selector_keys);
	if (old_gates->count != 0) {
		check_node_affinity(errors, place, before, after);
	}
	if (!only_additions(lasting_tolerations(write->arena, before),
		    lasting_tolerations(write->arena, after))) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "tolerations"), NULL,
			"existing toleration can not be modified except its tolerationSeconds");
	}
	struct bt_json_value *munged = bt_json_clone(write->arena, after, false);
	reset_permitted(write, before, munged);
	if (!bt_json_equal(before, munged)) {
		bt_kinds_error_difference(errors, place, bt_kinds_spec_message(write),
			bt_json_find(old, "spec"), munged, permitted_text);
	}
}

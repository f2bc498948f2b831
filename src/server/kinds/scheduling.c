/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* PriorityClass, PodGroup, Workload, PodDisruptionBudget. Spec: 09 section 2, 14b
 * sections 2.3, 3.3, 4.4, 5. */

#define PRIORITY_USER_MAX INT64_C(1000000000)
#define TEMPLATES_MAX 8

void bt_rule_priority_class(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *class_)
{
	struct bt_str name = bt_json_text_at(class_, "metadata.name");
	int64_t value = bt_json_int64_at(class_, "value", 0);
	if ((bt_str_equal_c(name, "system-cluster-critical") && value == 2000000000) ||
		(bt_str_equal_c(name, "system-node-critical") && value == 2000001000)) {
		return;
	}
	if (bt_str_has_prefix(name, BT_STR("system-"))) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(BT_PATH_NAME(place, "metadata"), "name"), NULL,
			"priority class names with 'system-' prefix are reserved for system use "
			"only");
	}
	if (value > PRIORITY_USER_MAX) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "value"),
			NULL, "maximum allowed value of a user defined priority is 1000000000");
	}
}

static void validate_class_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	if (bt_json_int64_at(old, "value", 0) != bt_json_int64_at(object, "value", 0)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "value"), NULL,
			"may not be changed in an update.");
	}
}

const struct bt_strategy bt_strategy_priority_class = {.validate_update = validate_class_update};

void bt_rule_scheduling_policy(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *policy)
{
	bool gang = bt_kinds_object(policy, "gang") != NULL;
	if ((bt_kinds_object(policy, "basic") != NULL) == gang) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place, policy,
			gang ? "must specify exactly one of: `basic`, `gang`"
			     : "must specify one of: `basic`, `gang`");
	}
}

void bt_rule_scheduling_group(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *group)
{
	if (bt_kinds_text(group, "podGroupName").length == 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place, group,
			"must specify one of: `podGroupName`");
	}
}

/** For PodGroupSpec and PodGroupTemplate. */
void bt_rule_pod_group_priority(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *group)
{
	if (bt_json_int64_at(group, "priority", 0) > PRIORITY_USER_MAX &&
		!bt_str_has_prefix(bt_kinds_text(group, "priorityClassName"), BT_STR("system-"))) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "priority"),
			bt_json_find(group, "priority"),
			"must be less than or equal to 1000000000");
	}
}

void bt_rule_workload_templates(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_array_at(spec, "podGroupTemplates")->count > TEMPLATES_MAX) {
		bt_kinds_error(check->errors, BT_FIELD_TOO_MANY,
			BT_PATH_NAME(place, "podGroupTemplates"), NULL,
			"must have at most %d items", TEMPLATES_MAX);
	}
}

void bt_rule_disruption_budget(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_find(spec, "minAvailable") != NULL &&
		bt_json_find(spec, "maxUnavailable") != NULL) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place, spec,
			"minAvailable and maxUnavailable cannot be both set");
	}
}

/** --- fields of disabled features: spec 09 sections 1 and 2 --- */

/** Drops the member, unless the stored object has it, too. */
static void remove_unless_stored(
	struct bt_json_value *target, const struct bt_json_value *old, const char *name)
{
	if (target != NULL && bt_json_find(old, name) == NULL) {
		(void)bt_json_remove_c(target, name);
	}
}

static void remove_disabled_of_group(const struct bt_api_options *options,
	struct bt_json_value *group, const struct bt_json_value *old)
{
	if (!options->topology_aware_workload_scheduling) {
		remove_unless_stored(group, old, "schedulingConstraints");
	}
	if (!options->dra_workload_resource_claims) {
		remove_unless_stored(group, old, "resourceClaims");
	}
	if (!options->workload_aware_preemption) {
		remove_unless_stored(group, old, "disruptionMode");
		remove_unless_stored(group, old, "priorityClassName");
		remove_unless_stored(group, old, "priority");
	}
}

void bt_kinds_remove_disabled(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	/* Paths of pod specs: in pods and in objects with a pod template. */
	static const char *const pod_specs[] = {"spec", "spec.template.spec", "template.spec",
		"spec.jobTemplate.spec.template.spec"};
	const struct bt_api_options *options = bt_api_options(write->api);
	const char *name = write->resource->name;
	if (strcmp(write->resource->group, "scheduling.k8s.io") == 0) {
		const struct bt_json_value *templates =
			bt_json_array_at(object, "spec.podGroupTemplates");
		const struct bt_json_value *old_templates =
			bt_json_array_at(old, "spec.podGroupTemplates");
		if (strcmp(name, "podgroups") == 0) {
			remove_disabled_of_group(options, bt_kinds_object(object, "spec"),
				bt_kinds_object(old, "spec"));
		}
		for (uint32_t i = 0; i < templates->count; i++) {
			remove_disabled_of_group(options, templates->elements[i],
				i < old_templates->count ? old_templates->elements[i] : NULL);
		}
	} else if (!options->generic_workload &&
		(write->resource->flags & BT_RESOURCE_CUSTOM) == 0) {
		for (uint32_t i = strcmp(name, "pods") == 0 ? 0 : 1; i < BT_ARRAY_LENGTH(pod_specs);
			i++) {
			remove_unless_stored(bt_json_find_path(object, pod_specs[i]),
				bt_json_find_path(old, pod_specs[i]), "schedulingGroup");
		}
	}
}

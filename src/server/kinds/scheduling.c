/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* PriorityClass, PodGroup, Workload, PodDisruptionBudget. Spec: 09 section 2, 14b
 * sections 2.3, 3.3, 4.4, 5. */

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

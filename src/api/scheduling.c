/* SPDX-License-Identifier: Apache-2.0 */
#include "api/scheduling.h"

#include "api/field_rows.h"

static const struct bt_field priority_class_rows[] = {
	BT_ROW_MSG(
		bt_priority_class, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_I32_ALWAYS(bt_priority_class, value, "value", 2),
	BT_ROW_BOOL(bt_priority_class, global_default, "globalDefault", 3),
	BT_ROW_STR(bt_priority_class, description, "description", 4),
	BT_ROW_STR_NULLABLE(bt_priority_class, preemption_policy, "preemptionPolicy", 5),
};
const struct bt_message bt_priority_class_message =
	BT_MESSAGE(bt_priority_class, "PriorityClass", priority_class_rows);

static const struct bt_field gang_scheduling_policy_rows[] = {
	BT_ROW_I32_ALWAYS(bt_gang_scheduling_policy, min_count, "minCount", 1),
};
static const struct bt_message gang_scheduling_policy_message =
	BT_MESSAGE(bt_gang_scheduling_policy, "GangSchedulingPolicy", gang_scheduling_policy_rows);

static const struct bt_message basic_scheduling_policy_message = {.name = "BasicSchedulingPolicy",
	.size = (uint32_t)sizeof(struct bt_basic_scheduling_policy)};

static const struct bt_field pod_group_scheduling_policy_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_pod_group_scheduling_policy, basic, "basic", 1,
		bt_basic_scheduling_policy, basic_scheduling_policy_message),
	BT_ROW_MSG_NULLABLE(bt_pod_group_scheduling_policy, gang, "gang", 2,
		bt_gang_scheduling_policy, gang_scheduling_policy_message),
};
static const struct bt_message pod_group_scheduling_policy_message =
	BT_MESSAGE(bt_pod_group_scheduling_policy, "PodGroupSchedulingPolicy",
		pod_group_scheduling_policy_rows);

static const struct bt_field topology_constraint_rows[] = {
	BT_ROW_STR_ALWAYS(bt_topology_constraint, key, "key", 1),
};
static const struct bt_message topology_constraint_message =
	BT_MESSAGE(bt_topology_constraint, "TopologyConstraint", topology_constraint_rows);

static const struct bt_field pod_group_scheduling_constraints_rows[] = {
	BT_ROW_MSG_LIST(bt_pod_group_scheduling_constraints, topology, "topology", 1,
		bt_topology_constraint, topology_constraint_message),
};
static const struct bt_message pod_group_scheduling_constraints_message =
	BT_MESSAGE(bt_pod_group_scheduling_constraints, "PodGroupSchedulingConstraints",
		pod_group_scheduling_constraints_rows);

static const struct bt_field pod_group_resource_claim_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_group_resource_claim, name, "name", 1),
	BT_ROW_STR_NULLABLE(
		bt_pod_group_resource_claim, resource_claim_name, "resourceClaimName", 2),
	BT_ROW_STR_NULLABLE(bt_pod_group_resource_claim, resource_claim_template_name,
		"resourceClaimTemplateName", 3),
};
static const struct bt_message pod_group_resource_claim_message = BT_MESSAGE(
	bt_pod_group_resource_claim, "PodGroupResourceClaim", pod_group_resource_claim_rows);

static const struct bt_field pod_group_spec_rows[] = {
	BT_ROW_MSG(bt_pod_group_spec, scheduling_policy, "schedulingPolicy", 2,
		bt_pod_group_scheduling_policy, pod_group_scheduling_policy_message),
	BT_ROW_MSG_NULLABLE(bt_pod_group_spec, scheduling_constraints, "schedulingConstraints", 3,
		bt_pod_group_scheduling_constraints, pod_group_scheduling_constraints_message),
	BT_ROW_MSG_LIST(bt_pod_group_spec, resource_claims, "resourceClaims", 4,
		bt_pod_group_resource_claim, pod_group_resource_claim_message),
	BT_ROW_STR_NULLABLE(bt_pod_group_spec, disruption_mode, "disruptionMode", 5),
	BT_ROW_STR(bt_pod_group_spec, priority_class_name, "priorityClassName", 6),
	BT_ROW_I32_NULLABLE(bt_pod_group_spec, priority, "priority", 7),
};
static const struct bt_message pod_group_spec_message =
	BT_MESSAGE(bt_pod_group_spec, "PodGroupSpec", pod_group_spec_rows);

static const struct bt_field pod_group_resource_claim_status_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_group_resource_claim_status, name, "name", 1),
	BT_ROW_STR_NULLABLE(
		bt_pod_group_resource_claim_status, resource_claim_name, "resourceClaimName", 2),
};
static const struct bt_message pod_group_resource_claim_status_message =
	BT_MESSAGE(bt_pod_group_resource_claim_status, "PodGroupResourceClaimStatus",
		pod_group_resource_claim_status_rows);

static const struct bt_field pod_group_status_rows[] = {
	BT_ROW_MSG_LIST(bt_pod_group_status, conditions, "conditions", 1, bt_condition,
		bt_condition_message),
	BT_ROW_MSG_LIST(bt_pod_group_status, resource_claim_statuses, "resourceClaimStatuses", 2,
		bt_pod_group_resource_claim_status, pod_group_resource_claim_status_message),
};
static const struct bt_message pod_group_status_message =
	BT_MESSAGE(bt_pod_group_status, "PodGroupStatus", pod_group_status_rows);

static const struct bt_field pod_group_rows[] = {
	BT_ROW_MSG(bt_pod_group, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_pod_group, spec, "spec", 2, bt_pod_group_spec, pod_group_spec_message),
	BT_ROW_MSG(
		bt_pod_group, status, "status", 3, bt_pod_group_status, pod_group_status_message),
};
const struct bt_message bt_pod_group_message = BT_MESSAGE(bt_pod_group, "PodGroup", pod_group_rows);

static const struct bt_field pod_group_template_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_group_template, name, "name", 1),
	BT_ROW_MSG(bt_pod_group_template, scheduling_policy, "schedulingPolicy", 2,
		bt_pod_group_scheduling_policy, pod_group_scheduling_policy_message),
	BT_ROW_MSG_NULLABLE(bt_pod_group_template, scheduling_constraints, "schedulingConstraints",
		3, bt_pod_group_scheduling_constraints, pod_group_scheduling_constraints_message),
	BT_ROW_MSG_LIST(bt_pod_group_template, resource_claims, "resourceClaims", 4,
		bt_pod_group_resource_claim, pod_group_resource_claim_message),
	BT_ROW_STR_NULLABLE(bt_pod_group_template, disruption_mode, "disruptionMode", 5),
	BT_ROW_STR(bt_pod_group_template, priority_class_name, "priorityClassName", 6),
	BT_ROW_I32_NULLABLE(bt_pod_group_template, priority, "priority", 7),
};
static const struct bt_message pod_group_template_message =
	BT_MESSAGE(bt_pod_group_template, "PodGroupTemplate", pod_group_template_rows);

static const struct bt_field workload_controller_ref_rows[] = {
	BT_ROW_STR(bt_workload_controller_ref, api_group, "apiGroup", 1),
	BT_ROW_STR_ALWAYS(bt_workload_controller_ref, kind, "kind", 2),
	BT_ROW_STR_ALWAYS(bt_workload_controller_ref, name, "name", 3),
};
static const struct bt_message workload_controller_ref_message = BT_MESSAGE(
	bt_workload_controller_ref, "TypedLocalObjectReference", workload_controller_ref_rows);

static const struct bt_field workload_spec_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_workload_spec, controller_ref, "controllerRef", 1,
		bt_workload_controller_ref, workload_controller_ref_message),
	BT_ROW_MSG_LIST(bt_workload_spec, pod_group_templates, "podGroupTemplates", 2,
		bt_pod_group_template, pod_group_template_message),
};
static const struct bt_message workload_spec_message =
	BT_MESSAGE(bt_workload_spec, "WorkloadSpec", workload_spec_rows);

static const struct bt_field workload_rows[] = {
	BT_ROW_MSG(bt_workload, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_workload, spec, "spec", 2, bt_workload_spec, workload_spec_message),
};
const struct bt_message bt_workload_message = BT_MESSAGE(bt_workload, "Workload", workload_rows);

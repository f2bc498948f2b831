/* SPDX-License-Identifier: Apache-2.0 */
#include "api/pod.h"

#include "api/field_rows.h"
#include "api/pod_volume.h"

/* Containers. */

static const struct bt_field container_port_rows[] = {
	BT_ROW_I32(bt_container_port, host_port, "hostPort", 2),
	BT_ROW_I32_ALWAYS(bt_container_port, container_port, "containerPort", 3),
	BT_ROW_STR(bt_container_port, protocol, "protocol", 4),
	BT_ROW_STR(bt_container_port, host_ip, "hostIP", 5),
};
static const struct bt_message container_port_message =
	BT_MESSAGE(bt_container_port, "ContainerPort", container_port_rows);

static const struct bt_field container_claim_rows[] = {
	BT_ROW_STR_ALWAYS(bt_container_claim, name, "name", 1),
	BT_ROW_STR(bt_container_claim, request, "request", 2),
};
static const struct bt_message container_claim_message =
	BT_MESSAGE(bt_container_claim, "ResourceClaim", container_claim_rows);

static const struct bt_field resource_requirements_rows[] = {
	BT_ROW_QTY_MAP(bt_resource_requirements, limits, "limits", 1),
	BT_ROW_QTY_MAP(bt_resource_requirements, requests, "requests", 2),
	BT_ROW_MSG_LIST(bt_resource_requirements, claims, "claims", 3, bt_container_claim,
		container_claim_message),
};
const struct bt_message bt_resource_requirements_message =
	BT_MESSAGE(bt_resource_requirements, "ResourceRequirements", resource_requirements_rows);

static const struct bt_field container_restart_rule_rows[] = {
	BT_ROW_STR(bt_container_restart_rule, action, "action", 1),
};
static const struct bt_message container_restart_rule_message =
	BT_MESSAGE(bt_container_restart_rule, "ContainerRestartRule", container_restart_rule_rows);

static const struct bt_field container_rows[] = {
	BT_ROW_STR_ALWAYS(bt_container, name, "name", 1),
	BT_ROW_STR(bt_container, image, "image", 2),
	BT_ROW_MSG_LIST(bt_container, ports, "ports", 6, bt_container_port, container_port_message),
	BT_ROW_MSG(bt_container, resources, "resources", 8, bt_resource_requirements,
		bt_resource_requirements_message),
	BT_ROW_STR_NULLABLE(bt_container, restart_policy, "restartPolicy", 24),
	BT_ROW_MSG_LIST(bt_container, restart_policy_rules, "restartPolicyRules", 25,
		bt_container_restart_rule, container_restart_rule_message),
};
static const struct bt_message container_message =
	BT_MESSAGE(bt_container, "Container", container_rows);

/* Affinity. */

static const struct bt_field preferred_scheduling_term_rows[] = {
	BT_ROW_I32_ALWAYS(bt_preferred_scheduling_term, weight, "weight", 1),
	BT_ROW_MSG(bt_preferred_scheduling_term, preference, "preference", 2, bt_node_selector_term,
		bt_node_selector_term_message),
};
static const struct bt_message preferred_scheduling_term_message = BT_MESSAGE(
	bt_preferred_scheduling_term, "PreferredSchedulingTerm", preferred_scheduling_term_rows);

static const struct bt_field node_affinity_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_node_affinity, required,
		"requiredDuringSchedulingIgnoredDuringExecution", 1, bt_node_selector,
		bt_node_selector_message),
	BT_ROW_MSG_LIST(bt_node_affinity, preferred,
		"preferredDuringSchedulingIgnoredDuringExecution", 2, bt_preferred_scheduling_term,
		preferred_scheduling_term_message),
};
const struct bt_message bt_node_affinity_message =
	BT_MESSAGE(bt_node_affinity, "NodeAffinity", node_affinity_rows);

static const struct bt_field pod_affinity_term_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_pod_affinity_term, label_selector, "labelSelector", 1,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_STR_LIST(bt_pod_affinity_term, namespaces, "namespaces", 2),
	BT_ROW_STR_ALWAYS(bt_pod_affinity_term, topology_key, "topologyKey", 3),
	BT_ROW_MSG_NULLABLE(bt_pod_affinity_term, namespace_selector, "namespaceSelector", 4,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_STR_LIST(bt_pod_affinity_term, match_label_keys, "matchLabelKeys", 5),
	BT_ROW_STR_LIST(bt_pod_affinity_term, mismatch_label_keys, "mismatchLabelKeys", 6),
};
static const struct bt_message pod_affinity_term_message =
	BT_MESSAGE(bt_pod_affinity_term, "PodAffinityTerm", pod_affinity_term_rows);

static const struct bt_field weighted_pod_affinity_term_rows[] = {
	BT_ROW_I32_ALWAYS(bt_weighted_pod_affinity_term, weight, "weight", 1),
	BT_ROW_MSG(bt_weighted_pod_affinity_term, term, "podAffinityTerm", 2, bt_pod_affinity_term,
		pod_affinity_term_message),
};
static const struct bt_message weighted_pod_affinity_term_message = BT_MESSAGE(
	bt_weighted_pod_affinity_term, "WeightedPodAffinityTerm", weighted_pod_affinity_term_rows);

static const struct bt_field pod_affinity_rows[] = {
	BT_ROW_MSG_LIST(bt_pod_affinity, required, "requiredDuringSchedulingIgnoredDuringExecution",
		1, bt_pod_affinity_term, pod_affinity_term_message),
	BT_ROW_MSG_LIST(bt_pod_affinity, preferred,
		"preferredDuringSchedulingIgnoredDuringExecution", 2, bt_weighted_pod_affinity_term,
		weighted_pod_affinity_term_message),
};
static const struct bt_message pod_affinity_message =
	BT_MESSAGE(bt_pod_affinity, "PodAffinity", pod_affinity_rows);

static const struct bt_field affinity_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_affinity, node_affinity, "nodeAffinity", 1, bt_node_affinity,
		bt_node_affinity_message),
	BT_ROW_MSG_NULLABLE(
		bt_affinity, pod_affinity, "podAffinity", 2, bt_pod_affinity, pod_affinity_message),
	BT_ROW_MSG_NULLABLE(bt_affinity, pod_anti_affinity, "podAntiAffinity", 3, bt_pod_affinity,
		pod_affinity_message),
};
const struct bt_message bt_affinity_message = BT_MESSAGE(bt_affinity, "Affinity", affinity_rows);

/* The rest of the spec. */

static const struct bt_field toleration_rows[] = {
	BT_ROW_STR(bt_toleration, key, "key", 1),
	BT_ROW_STR(bt_toleration, operator_, "operator", 2),
	BT_ROW_STR(bt_toleration, value, "value", 3),
	BT_ROW_STR(bt_toleration, effect, "effect", 4),
	BT_ROW_I64_NULLABLE(bt_toleration, toleration_seconds, "tolerationSeconds", 5),
};
const struct bt_message bt_toleration_message =
	BT_MESSAGE(bt_toleration, "Toleration", toleration_rows);

static const struct bt_field topology_spread_constraint_rows[] = {
	BT_ROW_I32_ALWAYS(bt_topology_spread_constraint, max_skew, "maxSkew", 1),
	BT_ROW_STR_ALWAYS(bt_topology_spread_constraint, topology_key, "topologyKey", 2),
	BT_ROW_STR_ALWAYS(
		bt_topology_spread_constraint, when_unsatisfiable, "whenUnsatisfiable", 3),
	BT_ROW_MSG_NULLABLE(bt_topology_spread_constraint, label_selector, "labelSelector", 4,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_I32_NULLABLE(bt_topology_spread_constraint, min_domains, "minDomains", 5),
	BT_ROW_STR_NULLABLE(
		bt_topology_spread_constraint, node_affinity_policy, "nodeAffinityPolicy", 6),
	BT_ROW_STR_NULLABLE(
		bt_topology_spread_constraint, node_taints_policy, "nodeTaintsPolicy", 7),
	BT_ROW_STR_LIST(bt_topology_spread_constraint, match_label_keys, "matchLabelKeys", 8),
};
const struct bt_message bt_topology_spread_constraint_message = BT_MESSAGE(
	bt_topology_spread_constraint, "TopologySpreadConstraint", topology_spread_constraint_rows);

static const struct bt_field pod_scheduling_gate_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_scheduling_gate, name, "name", 1),
};
static const struct bt_message pod_scheduling_gate_message =
	BT_MESSAGE(bt_pod_scheduling_gate, "PodSchedulingGate", pod_scheduling_gate_rows);

static const struct bt_field pod_resource_claim_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_resource_claim, name, "name", 1),
	BT_ROW_STR_NULLABLE(bt_pod_resource_claim, resource_claim_name, "resourceClaimName", 3),
	BT_ROW_STR_NULLABLE(bt_pod_resource_claim, resource_claim_template_name,
		"resourceClaimTemplateName", 4),
};
static const struct bt_message pod_resource_claim_message =
	BT_MESSAGE(bt_pod_resource_claim, "PodResourceClaim", pod_resource_claim_rows);

static const struct bt_field pod_scheduling_group_rows[] = {
	BT_ROW_STR_NULLABLE(bt_pod_scheduling_group, pod_group_name, "podGroupName", 1),
};
static const struct bt_message pod_scheduling_group_message =
	BT_MESSAGE(bt_pod_scheduling_group, "PodSchedulingGroup", pod_scheduling_group_rows);

static const struct bt_field pod_spec_rows[] = {
	BT_ROW_MSG_LIST(bt_pod_spec, volumes, "volumes", 1, bt_volume, bt_volume_message),
	BT_ROW_MSG_LIST(bt_pod_spec, init_containers, "initContainers", 20, bt_container,
		container_message),
	BT_ROW_MSG_LIST(bt_pod_spec, containers, "containers", 2, bt_container, container_message),
	BT_ROW_STR_MAP(bt_pod_spec, node_selector, "nodeSelector", 7),
	BT_ROW_STR(bt_pod_spec, node_name, "nodeName", 10),
	BT_ROW_BOOL(bt_pod_spec, host_network, "hostNetwork", 11),
	BT_ROW_MSG_NULLABLE(
		bt_pod_spec, affinity, "affinity", 18, bt_affinity, bt_affinity_message),
	BT_ROW_STR(bt_pod_spec, scheduler_name, "schedulerName", 19),
	BT_ROW_MSG_LIST(
		bt_pod_spec, tolerations, "tolerations", 22, bt_toleration, bt_toleration_message),
	BT_ROW_STR(bt_pod_spec, priority_class_name, "priorityClassName", 24),
	BT_ROW_I32_NULLABLE(bt_pod_spec, priority, "priority", 25),
	BT_ROW_STR_NULLABLE(bt_pod_spec, preemption_policy, "preemptionPolicy", 31),
	BT_ROW_QTY_MAP(bt_pod_spec, overhead, "overhead", 32),
	BT_ROW_MSG_LIST(bt_pod_spec, topology_spread_constraints, "topologySpreadConstraints", 33,
		bt_topology_spread_constraint, bt_topology_spread_constraint_message),
	BT_ROW_BOOL_NULLABLE(bt_pod_spec, host_users, "hostUsers", 37),
	BT_ROW_MSG_LIST(bt_pod_spec, scheduling_gates, "schedulingGates", 38,
		bt_pod_scheduling_gate, pod_scheduling_gate_message),
	BT_ROW_MSG_LIST(bt_pod_spec, resource_claims, "resourceClaims", 39, bt_pod_resource_claim,
		pod_resource_claim_message),
	BT_ROW_MSG_NULLABLE(bt_pod_spec, resources, "resources", 40, bt_resource_requirements,
		bt_resource_requirements_message),
	BT_ROW_MSG_NULLABLE(bt_pod_spec, scheduling_group, "schedulingGroup", 43,
		bt_pod_scheduling_group, pod_scheduling_group_message),
};
const struct bt_message bt_pod_spec_message = BT_MESSAGE(bt_pod_spec, "PodSpec", pod_spec_rows);

/* Status. */

static const struct bt_field pod_condition_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_condition, type, "type", 1),
	BT_ROW_I64(bt_pod_condition, observed_generation, "observedGeneration", 7),
	BT_ROW_STR_ALWAYS(bt_pod_condition, status, "status", 2),
	BT_ROW_TIME_ALWAYS(bt_pod_condition, last_probe_time, "lastProbeTime", 3),
	BT_ROW_TIME_ALWAYS(bt_pod_condition, last_transition_time, "lastTransitionTime", 4),
	BT_ROW_STR(bt_pod_condition, reason, "reason", 5),
	BT_ROW_STR(bt_pod_condition, message, "message", 6),
};
const struct bt_message bt_pod_condition_message =
	BT_MESSAGE(bt_pod_condition, "PodCondition", pod_condition_rows);

static const struct bt_field container_status_rows[] = {
	BT_ROW_STR_ALWAYS(bt_container_status, name, "name", 1),
	BT_ROW_QTY_MAP(bt_container_status, allocated_resources, "allocatedResources", 10),
	BT_ROW_MSG_NULLABLE(bt_container_status, resources, "resources", 11,
		bt_resource_requirements, bt_resource_requirements_message),
};
static const struct bt_message container_status_message =
	BT_MESSAGE(bt_container_status, "ContainerStatus", container_status_rows);

static const struct bt_field pod_resource_claim_status_rows[] = {
	BT_ROW_STR_ALWAYS(bt_pod_resource_claim_status, name, "name", 1),
	BT_ROW_STR_NULLABLE(
		bt_pod_resource_claim_status, resource_claim_name, "resourceClaimName", 2),
};
static const struct bt_message pod_resource_claim_status_message = BT_MESSAGE(
	bt_pod_resource_claim_status, "PodResourceClaimStatus", pod_resource_claim_status_rows);

static const struct bt_field container_extended_resource_request_rows[] = {
	BT_ROW_STR_ALWAYS(
		bt_container_extended_resource_request, container_name, "containerName", 1),
	BT_ROW_STR_ALWAYS(bt_container_extended_resource_request, resource_name, "resourceName", 2),
	BT_ROW_STR_ALWAYS(bt_container_extended_resource_request, request_name, "requestName", 3),
};
static const struct bt_message container_extended_resource_request_message =
	BT_MESSAGE(bt_container_extended_resource_request, "ContainerExtendedResourceRequest",
		container_extended_resource_request_rows);

static const struct bt_field pod_extended_resource_claim_status_rows[] = {
	BT_ROW_MSG_LIST(bt_pod_extended_resource_claim_status, request_mappings, "requestMappings",
		1, bt_container_extended_resource_request,
		container_extended_resource_request_message),
	BT_ROW_STR_ALWAYS(
		bt_pod_extended_resource_claim_status, resource_claim_name, "resourceClaimName", 2),
};
static const struct bt_message pod_extended_resource_claim_status_message =
	BT_MESSAGE(bt_pod_extended_resource_claim_status, "PodExtendedResourceClaimStatus",
		pod_extended_resource_claim_status_rows);

static const struct bt_field node_allocatable_claim_status_rows[] = {
	BT_ROW_STR_ALWAYS(
		bt_node_allocatable_claim_status, resource_claim_name, "resourceClaimName", 1),
	BT_ROW_STR_LIST(bt_node_allocatable_claim_status, containers, "containers", 2),
	BT_ROW_QTY_MAP(bt_node_allocatable_claim_status, resources, "resources", 3),
};
static const struct bt_message node_allocatable_claim_status_message =
	BT_MESSAGE(bt_node_allocatable_claim_status, "NodeAllocatableResourceClaimStatus",
		node_allocatable_claim_status_rows);

static const struct bt_field pod_status_rows[] = {
	BT_ROW_STR(bt_pod_status, phase, "phase", 1),
	BT_ROW_MSG_LIST(bt_pod_status, conditions, "conditions", 2, bt_pod_condition,
		bt_pod_condition_message),
	BT_ROW_STR(bt_pod_status, nominated_node_name, "nominatedNodeName", 11),
	BT_ROW_STR(bt_pod_status, qos_class, "qosClass", 9),
	BT_ROW_TIME_NULLABLE(bt_pod_status, start_time, "startTime", 7),
	BT_ROW_MSG_LIST(bt_pod_status, init_container_statuses, "initContainerStatuses", 10,
		bt_container_status, container_status_message),
	BT_ROW_MSG_LIST(bt_pod_status, container_statuses, "containerStatuses", 8,
		bt_container_status, container_status_message),
	BT_ROW_MSG_LIST(bt_pod_status, resource_claim_statuses, "resourceClaimStatuses", 15,
		bt_pod_resource_claim_status, pod_resource_claim_status_message),
	BT_ROW_MSG_NULLABLE(bt_pod_status, extended_resource_claim_status,
		"extendedResourceClaimStatus", 18, bt_pod_extended_resource_claim_status,
		pod_extended_resource_claim_status_message),
	BT_ROW_QTY_MAP(bt_pod_status, allocated_resources, "allocatedResources", 19),
	BT_ROW_MSG_NULLABLE(bt_pod_status, resources, "resources", 20, bt_resource_requirements,
		bt_resource_requirements_message),
	BT_ROW_MSG_LIST(bt_pod_status, node_allocatable_resource_claim_statuses,
		"nodeAllocatableResourceClaimStatuses", 21, bt_node_allocatable_claim_status,
		node_allocatable_claim_status_message),
};
const struct bt_message bt_pod_status_message =
	BT_MESSAGE(bt_pod_status, "PodStatus", pod_status_rows);

static const struct bt_field pod_rows[] = {
	BT_ROW_MSG(bt_pod, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_pod, spec, "spec", 2, bt_pod_spec, bt_pod_spec_message),
	BT_ROW_MSG(bt_pod, status, "status", 3, bt_pod_status, bt_pod_status_message),
};
const struct bt_message bt_pod_message = BT_MESSAGE(bt_pod, "Pod", pod_rows);

int32_t bt_pod_priority(const struct bt_pod *pod)
{
	return pod->spec.priority.present ? pod->spec.priority.value : 0;
}

bool bt_pod_is_terminal(const struct bt_pod *pod)
{
	return bt_str_equal(pod->status.phase, BT_STR("Succeeded")) ||
		bt_str_equal(pod->status.phase, BT_STR("Failed"));
}

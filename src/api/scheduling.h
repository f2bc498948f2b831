/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_SCHEDULING_H
#define BT_API_SCHEDULING_H
/** Priority classes, pod groups and workloads. Spec: 01 sections 4.11 and 4.14. */
#include "api/condition.h"
#include "api/meta.h"

struct bt_priority_class {
	struct bt_object_meta metadata;
	int32_t value;
	bool global_default;
	struct bt_str description;
	struct bt_str preemption_policy; /* nullable */
};

/** Only that it is set. */
struct bt_basic_scheduling_policy {
	char unused;
};

struct bt_gang_scheduling_policy {
	int32_t min_count;
};

struct bt_pod_group_scheduling_policy {
	const struct bt_basic_scheduling_policy *basic;
	const struct bt_gang_scheduling_policy *gang;
};

struct bt_topology_constraint {
	struct bt_str key;
};

struct bt_pod_group_scheduling_constraints {
	BT_LIST(struct bt_topology_constraint) topology;
};

struct bt_pod_group_resource_claim {
	struct bt_str name;
	struct bt_str resource_claim_name;          /* nullable */
	struct bt_str resource_claim_template_name; /* nullable */
};

struct bt_pod_group_spec {
	struct bt_pod_group_scheduling_policy scheduling_policy;
	const struct bt_pod_group_scheduling_constraints *scheduling_constraints;
	BT_LIST(struct bt_pod_group_resource_claim) resource_claims;
	struct bt_str disruption_mode; /* nullable: Pod */
	struct bt_str priority_class_name;
	struct bt_opt_i32 priority;
};

struct bt_pod_group_resource_claim_status {
	struct bt_str name;
	struct bt_str resource_claim_name; /* nullable */
};

struct bt_pod_group_status {
	BT_LIST(struct bt_condition) conditions;
	BT_LIST(struct bt_pod_group_resource_claim_status) resource_claim_statuses;
};

struct bt_pod_group {
	struct bt_object_meta metadata;
	struct bt_pod_group_spec spec;
	struct bt_pod_group_status status;
};

struct bt_pod_group_template {
	struct bt_str name;
	struct bt_pod_group_scheduling_policy scheduling_policy;
	const struct bt_pod_group_scheduling_constraints *scheduling_constraints;
	BT_LIST(struct bt_pod_group_resource_claim) resource_claims;
	struct bt_str disruption_mode; /* nullable */
	struct bt_str priority_class_name;
	struct bt_opt_i32 priority;
};

struct bt_workload_controller_ref {
	struct bt_str api_group;
	struct bt_str kind;
	struct bt_str name;
};

struct bt_workload_spec {
	const struct bt_workload_controller_ref *controller_ref;
	BT_LIST(struct bt_pod_group_template) pod_group_templates;
};

struct bt_workload {
	struct bt_object_meta metadata;
	struct bt_workload_spec spec;
};

extern const struct bt_message bt_priority_class_message;
extern const struct bt_message bt_pod_group_message;
extern const struct bt_message bt_workload_message;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_RESOURCE_CLAIM_H
#define BT_API_RESOURCE_CLAIM_H
/** Claims of dynamic resource allocation. Spec: 01 section 4.9. */
#include "api/condition.h"
#include "api/meta.h"
#include "api/quantity.h"

struct bt_cel_device_selector {
	struct bt_str expression;
};

struct bt_device_selector {
	const struct bt_cel_device_selector *cel;
};

struct bt_device_toleration {
	struct bt_str key;
	struct bt_str operator_; /* "" means Equal */
	struct bt_str value;
	struct bt_str effect;
	struct bt_opt_i64 toleration_seconds;
};

struct bt_capacity_requirements {
	struct bt_resource_list requests;
};

struct bt_exact_device_request {
	struct bt_str device_class_name;
	BT_LIST(struct bt_device_selector) selectors;
	struct bt_str allocation_mode;
	int64_t count;
	struct bt_opt_bool admin_access;
	BT_LIST(struct bt_device_toleration) tolerations;
	const struct bt_capacity_requirements *capacity;
};

struct bt_device_sub_request {
	struct bt_str name;
	struct bt_str device_class_name;
	BT_LIST(struct bt_device_selector) selectors;
	struct bt_str allocation_mode;
	int64_t count;
	BT_LIST(struct bt_device_toleration) tolerations;
	const struct bt_capacity_requirements *capacity;
};

struct bt_device_request {
	struct bt_str name;
	const struct bt_exact_device_request *exactly; /* exactly one of this and the next */
	BT_LIST(struct bt_device_sub_request) first_available;
};

struct bt_device_constraint {
	bt_str_list requests;
	struct bt_str match_attribute;    /* nullable */
	struct bt_str distinct_attribute; /* nullable */
};

struct bt_opaque_device_configuration {
	struct bt_str driver;
	struct bt_str parameters; /* JSON text */
};

struct bt_device_configuration {
	const struct bt_opaque_device_configuration *opaque;
};

struct bt_device_claim_configuration {
	bt_str_list requests;
	struct bt_device_configuration configuration;
};

struct bt_device_claim {
	BT_LIST(struct bt_device_request) requests;
	BT_LIST(struct bt_device_constraint) constraints;
	BT_LIST(struct bt_device_claim_configuration) config;
};

struct bt_resource_claim_spec {
	struct bt_device_claim devices;
};

struct bt_device_request_allocation_result {
	struct bt_str request; /* "<request>" or "<request>/<subrequest>" */
	struct bt_str driver;
	struct bt_str pool;
	struct bt_str device;
	struct bt_opt_bool admin_access;
	BT_LIST(struct bt_device_toleration) tolerations;
	bt_str_list binding_conditions;
	bt_str_list binding_failure_conditions;
	struct bt_str share_id; /* nullable */
	struct bt_resource_list consumed_capacity;
};

struct bt_device_allocation_configuration {
	struct bt_str source;
	bt_str_list requests;
	struct bt_device_configuration configuration;
};

struct bt_device_allocation_result {
	BT_LIST(struct bt_device_request_allocation_result) results;
	BT_LIST(struct bt_device_allocation_configuration) config;
};

struct bt_allocation_result {
	struct bt_device_allocation_result devices;
	const struct bt_node_selector *node_selector; /* NULL: every node */
	const struct bt_time *allocation_timestamp;
};

struct bt_resource_claim_consumer_reference {
	struct bt_str api_group;
	struct bt_str resource;
	struct bt_str name;
	struct bt_str uid;
};

struct bt_allocated_device_status {
	struct bt_str driver;
	struct bt_str pool;
	struct bt_str device;
	struct bt_str share_id; /* nullable */
	BT_LIST(struct bt_condition) conditions;
};

struct bt_resource_claim_status {
	const struct bt_allocation_result *allocation; /* NULL: not allocated */
	BT_LIST(struct bt_resource_claim_consumer_reference) reserved_for;
	BT_LIST(struct bt_allocated_device_status) devices;
};

struct bt_resource_claim {
	struct bt_object_meta metadata;
	struct bt_resource_claim_spec spec;
	struct bt_resource_claim_status status;
};

struct bt_resource_claim_template_spec {
	struct bt_object_meta metadata;
	struct bt_resource_claim_spec spec;
};

struct bt_resource_claim_template {
	struct bt_object_meta metadata;
	struct bt_resource_claim_template_spec spec;
};

/** A claim with an allocation has this finalizer. */
#define BT_CLAIM_FINALIZER "resource.kubernetes.io/delete-protection"
/** Annotation of a claim that was made from a template: the entry of the pod that it is for. */
#define BT_POD_CLAIM_NAME_ANNOTATION "resource.kubernetes.io/pod-claim-name"

/** Some entry of status.reservedFor has this uid. */
bool bt_resource_claim_is_reserved_by(const struct bt_resource_claim *claim, struct bt_str uid);
/** Take its entries with this uid away; the new list is in the arena. false: there was none. */
bool bt_resource_claim_drop_user(
	struct bt_resource_claim *claim, struct bt_str uid, struct bt_arena *arena);
/** Take BT_CLAIM_FINALIZER away, others stay; the new list is in the arena. */
void bt_resource_claim_drop_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena);

extern const struct bt_message bt_device_selector_message;
extern const struct bt_message bt_device_configuration_message;
extern const struct bt_message bt_resource_claim_spec_message;
extern const struct bt_message bt_allocation_result_message;
extern const struct bt_message bt_resource_claim_message;
extern const struct bt_message bt_resource_claim_template_message;
#endif

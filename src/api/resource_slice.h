/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_RESOURCE_SLICE_H
#define BT_API_RESOURCE_SLICE_H
/** Devices that nodes offer, their classes and taints. Spec: 01 section 4.10. */
#include "api/meta.h"
#include "api/quantity.h"
#include "api/resource_claim.h"

struct bt_device_attribute {
	struct bt_opt_i64 int_; /* exactly one member is set */
	struct bt_opt_bool bool_;
	struct bt_str string;  /* nullable */
	struct bt_str version; /* nullable; a semantic version */
	BT_LIST(int64_t) ints;
	BT_LIST(bool) bools;
	bt_str_list strings;
	bt_str_list versions;
};

struct bt_device_attribute_entry {
	struct bt_str key;
	struct bt_device_attribute value;
};

struct bt_capacity_request_policy_range {
	const struct bt_quantity *min;
	const struct bt_quantity *max;
	const struct bt_quantity *step;
};

struct bt_capacity_request_policy {
	const struct bt_quantity *default_;
	BT_LIST(struct bt_quantity) valid_values;
	const struct bt_capacity_request_policy_range *valid_range;
};

struct bt_device_capacity {
	struct bt_quantity value;
	const struct bt_capacity_request_policy *request_policy;
};

struct bt_device_capacity_entry {
	struct bt_str key;
	struct bt_device_capacity value;
};

struct bt_device_counter {
	struct bt_quantity value;
};

struct bt_device_counter_entry {
	struct bt_str key;
	struct bt_device_counter value;
};

struct bt_device_counter_consumption {
	struct bt_str counter_set;
	BT_LIST(struct bt_device_counter_entry) counters;
};

struct bt_counter_set {
	struct bt_str name;
	BT_LIST(struct bt_device_counter_entry) counters;
};

struct bt_device_taint {
	struct bt_str key;
	struct bt_str value;
	struct bt_str effect;
	const struct bt_time *time_added;
};

struct bt_node_allocatable_mapping {
	struct bt_str capacity_key; /* nullable */
	const struct bt_quantity *allocation_multiplier;
};

struct bt_node_allocatable_mapping_entry {
	struct bt_str key;
	struct bt_node_allocatable_mapping value;
};

struct bt_device {
	struct bt_str name;
	BT_LIST(struct bt_device_attribute_entry) attributes; /* keys "domain/name" or "name" */
	BT_LIST(struct bt_device_capacity_entry) capacity;
	BT_LIST(struct bt_device_counter_consumption) consumes_counters;
	struct bt_str node_name; /* nullable */
	const struct bt_node_selector *node_selector;
	struct bt_opt_bool all_nodes;
	BT_LIST(struct bt_device_taint) taints;
	struct bt_opt_bool binds_to_node;
	bt_str_list binding_conditions;
	bt_str_list binding_failure_conditions;
	struct bt_opt_bool allow_multiple_allocations;
	BT_LIST(struct bt_node_allocatable_mapping_entry) node_allocatable_resource_mappings;
};

struct bt_resource_pool {
	struct bt_str name;
	int64_t generation;
	int64_t resource_slice_count;
};

struct bt_resource_slice_spec {
	struct bt_str driver;
	struct bt_resource_pool pool;
	struct bt_str node_name; /* nullable; one of four node scopes */
	const struct bt_node_selector *node_selector;
	struct bt_opt_bool all_nodes;
	BT_LIST(struct bt_device) devices;
	struct bt_opt_bool per_device_node_selection;
	BT_LIST(struct bt_counter_set) shared_counters;
};

struct bt_resource_slice {
	struct bt_object_meta metadata;
	struct bt_resource_slice_spec spec;
};

struct bt_device_class_configuration {
	struct bt_device_configuration configuration;
};

struct bt_device_class_spec {
	BT_LIST(struct bt_device_selector) selectors;
	BT_LIST(struct bt_device_class_configuration) config;
	struct bt_str extended_resource_name; /* nullable */
};

struct bt_device_class {
	struct bt_object_meta metadata;
	struct bt_device_class_spec spec;
};

struct bt_device_taint_selector {
	struct bt_str driver; /* nullable */
	struct bt_str pool;   /* nullable */
	struct bt_str device; /* nullable */
};

struct bt_device_taint_rule_spec {
	const struct bt_device_taint_selector *device_selector;
	struct bt_device_taint taint;
};

struct bt_device_taint_rule {
	struct bt_object_meta metadata;
	struct bt_device_taint_rule_spec spec;
};

extern const struct bt_message bt_device_message;
extern const struct bt_message bt_resource_slice_message;
extern const struct bt_message bt_device_class_message;
extern const struct bt_message bt_device_taint_rule_message;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource_slice.h"

#include "api/field_rows.h"

static const struct bt_field device_attribute_rows[] = {
	BT_ROW_I64_NULLABLE(bt_device_attribute, int_, "int", 2),
	BT_ROW_BOOL_NULLABLE(bt_device_attribute, bool_, "bool", 3),
	BT_ROW_STR_NULLABLE(bt_device_attribute, string, "string", 4),
	BT_ROW_STR_NULLABLE(bt_device_attribute, version, "version", 5),
	BT_ROW_I64_LIST(bt_device_attribute, ints, "ints", 6),
	BT_ROW_BOOL_LIST(bt_device_attribute, bools, "bools", 7),
	BT_ROW_STR_LIST(bt_device_attribute, strings, "strings", 8),
	BT_ROW_STR_LIST(bt_device_attribute, versions, "versions", 9),
};
static const struct bt_message device_attribute_message =
	BT_MESSAGE(bt_device_attribute, "DeviceAttribute", device_attribute_rows);

static const struct bt_field capacity_request_policy_range_rows[] = {
	BT_ROW_QTY_NULLABLE(bt_capacity_request_policy_range, min, "min", 1),
	BT_ROW_QTY_NULLABLE(bt_capacity_request_policy_range, max, "max", 2),
	BT_ROW_QTY_NULLABLE(bt_capacity_request_policy_range, step, "step", 3),
};
static const struct bt_message capacity_request_policy_range_message =
	BT_MESSAGE(bt_capacity_request_policy_range, "CapacityRequestPolicyRange",
		capacity_request_policy_range_rows);

static const struct bt_field capacity_request_policy_rows[] = {
	BT_ROW_QTY_NULLABLE(bt_capacity_request_policy, default_, "default", 1),
	BT_ROW_QTY_LIST(bt_capacity_request_policy, valid_values, "validValues", 3),
	BT_ROW_MSG_NULLABLE(bt_capacity_request_policy, valid_range, "validRange", 4,
		bt_capacity_request_policy_range, capacity_request_policy_range_message),
};
static const struct bt_message capacity_request_policy_message = BT_MESSAGE(
	bt_capacity_request_policy, "CapacityRequestPolicy", capacity_request_policy_rows);

static const struct bt_field device_capacity_rows[] = {
	BT_ROW_QTY(bt_device_capacity, value, "value", 1),
	BT_ROW_MSG_NULLABLE(bt_device_capacity, request_policy, "requestPolicy", 2,
		bt_capacity_request_policy, capacity_request_policy_message),
};
static const struct bt_message device_capacity_message =
	BT_MESSAGE(bt_device_capacity, "DeviceCapacity", device_capacity_rows);

static const struct bt_field device_counter_rows[] = {
	BT_ROW_QTY(bt_device_counter, value, "value", 1),
};
static const struct bt_message device_counter_message =
	BT_MESSAGE(bt_device_counter, "Counter", device_counter_rows);

static const struct bt_field device_counter_consumption_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_counter_consumption, counter_set, "counterSet", 1),
	BT_ROW_MSG_MAP(bt_device_counter_consumption, counters, "counters", 2,
		bt_device_counter_entry, device_counter_message),
};
static const struct bt_message device_counter_consumption_message = BT_MESSAGE(
	bt_device_counter_consumption, "DeviceCounterConsumption", device_counter_consumption_rows);

static const struct bt_field counter_set_rows[] = {
	BT_ROW_STR_ALWAYS(bt_counter_set, name, "name", 1),
	BT_ROW_MSG_MAP(bt_counter_set, counters, "counters", 2, bt_device_counter_entry,
		device_counter_message),
};
static const struct bt_message counter_set_message =
	BT_MESSAGE(bt_counter_set, "CounterSet", counter_set_rows);

static const struct bt_field device_taint_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_taint, key, "key", 1),
	BT_ROW_STR(bt_device_taint, value, "value", 2),
	BT_ROW_STR_ALWAYS(bt_device_taint, effect, "effect", 3),
	BT_ROW_TIME_NULLABLE(bt_device_taint, time_added, "timeAdded", 4),
};
static const struct bt_message device_taint_message =
	BT_MESSAGE(bt_device_taint, "DeviceTaint", device_taint_rows);

static const struct bt_field node_allocatable_mapping_rows[] = {
	BT_ROW_STR_NULLABLE(bt_node_allocatable_mapping, capacity_key, "capacityKey", 1),
	BT_ROW_QTY_NULLABLE(
		bt_node_allocatable_mapping, allocation_multiplier, "allocationMultiplier", 2),
};
static const struct bt_message node_allocatable_mapping_message =
	BT_MESSAGE(bt_node_allocatable_mapping, "NodeAllocatableResourceMapping",
		node_allocatable_mapping_rows);

static const struct bt_field device_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device, name, "name", 1),
	BT_ROW_MSG_MAP(bt_device, attributes, "attributes", 2, bt_device_attribute_entry,
		device_attribute_message),
	BT_ROW_MSG_MAP(bt_device, capacity, "capacity", 3, bt_device_capacity_entry,
		device_capacity_message),
	BT_ROW_MSG_LIST(bt_device, consumes_counters, "consumesCounters", 4,
		bt_device_counter_consumption, device_counter_consumption_message),
	BT_ROW_STR_NULLABLE(bt_device, node_name, "nodeName", 5),
	BT_ROW_MSG_NULLABLE(bt_device, node_selector, "nodeSelector", 6, bt_node_selector,
		bt_node_selector_message),
	BT_ROW_BOOL_NULLABLE(bt_device, all_nodes, "allNodes", 7),
	BT_ROW_MSG_LIST(bt_device, taints, "taints", 8, bt_device_taint, device_taint_message),
	BT_ROW_BOOL_NULLABLE(bt_device, binds_to_node, "bindsToNode", 9),
	BT_ROW_STR_LIST(bt_device, binding_conditions, "bindingConditions", 10),
	BT_ROW_STR_LIST(bt_device, binding_failure_conditions, "bindingFailureConditions", 11),
	BT_ROW_BOOL_NULLABLE(bt_device, allow_multiple_allocations, "allowMultipleAllocations", 12),
	BT_ROW_MSG_MAP(bt_device, node_allocatable_resource_mappings,
		"nodeAllocatableResourceMappings", 13, bt_node_allocatable_mapping_entry,
		node_allocatable_mapping_message),
};
const struct bt_message bt_device_message = BT_MESSAGE(bt_device, "Device", device_rows);

static const struct bt_field resource_pool_rows[] = {
	BT_ROW_STR_ALWAYS(bt_resource_pool, name, "name", 1),
	BT_ROW_I64_ALWAYS(bt_resource_pool, generation, "generation", 2),
	BT_ROW_I64_ALWAYS(bt_resource_pool, resource_slice_count, "resourceSliceCount", 3),
};
static const struct bt_message resource_pool_message =
	BT_MESSAGE(bt_resource_pool, "ResourcePool", resource_pool_rows);

static const struct bt_field resource_slice_spec_rows[] = {
	BT_ROW_STR_ALWAYS(bt_resource_slice_spec, driver, "driver", 1),
	BT_ROW_MSG(
		bt_resource_slice_spec, pool, "pool", 2, bt_resource_pool, resource_pool_message),
	BT_ROW_STR_NULLABLE(bt_resource_slice_spec, node_name, "nodeName", 3),
	BT_ROW_MSG_NULLABLE(bt_resource_slice_spec, node_selector, "nodeSelector", 4,
		bt_node_selector, bt_node_selector_message),
	BT_ROW_BOOL_NULLABLE(bt_resource_slice_spec, all_nodes, "allNodes", 5),
	BT_ROW_MSG_LIST(
		bt_resource_slice_spec, devices, "devices", 6, bt_device, bt_device_message),
	BT_ROW_BOOL_NULLABLE(
		bt_resource_slice_spec, per_device_node_selection, "perDeviceNodeSelection", 7),
	BT_ROW_MSG_LIST(bt_resource_slice_spec, shared_counters, "sharedCounters", 8,
		bt_counter_set, counter_set_message),
};
static const struct bt_message resource_slice_spec_message =
	BT_MESSAGE(bt_resource_slice_spec, "ResourceSliceSpec", resource_slice_spec_rows);

static const struct bt_field resource_slice_rows[] = {
	BT_ROW_MSG(
		bt_resource_slice, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_resource_slice, spec, "spec", 2, bt_resource_slice_spec,
		resource_slice_spec_message),
};
const struct bt_message bt_resource_slice_message =
	BT_MESSAGE(bt_resource_slice, "ResourceSlice", resource_slice_rows);

static const struct bt_field device_class_configuration_rows[] = {
	BT_ROW_MSG_INLINE(bt_device_class_configuration, configuration, 1, bt_device_configuration,
		bt_device_configuration_message),
};
static const struct bt_message device_class_configuration_message = BT_MESSAGE(
	bt_device_class_configuration, "DeviceClassConfiguration", device_class_configuration_rows);

static const struct bt_field device_class_spec_rows[] = {
	BT_ROW_MSG_LIST(bt_device_class_spec, selectors, "selectors", 1, bt_device_selector,
		bt_device_selector_message),
	BT_ROW_MSG_LIST(bt_device_class_spec, config, "config", 2, bt_device_class_configuration,
		device_class_configuration_message),
	BT_ROW_STR_NULLABLE(
		bt_device_class_spec, extended_resource_name, "extendedResourceName", 4),
};
static const struct bt_message device_class_spec_message =
	BT_MESSAGE(bt_device_class_spec, "DeviceClassSpec", device_class_spec_rows);

static const struct bt_field device_class_rows[] = {
	BT_ROW_MSG(
		bt_device_class, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(
		bt_device_class, spec, "spec", 2, bt_device_class_spec, device_class_spec_message),
};
const struct bt_message bt_device_class_message =
	BT_MESSAGE(bt_device_class, "DeviceClass", device_class_rows);

static const struct bt_field device_taint_selector_rows[] = {
	BT_ROW_STR_NULLABLE(bt_device_taint_selector, driver, "driver", 2),
	BT_ROW_STR_NULLABLE(bt_device_taint_selector, pool, "pool", 3),
	BT_ROW_STR_NULLABLE(bt_device_taint_selector, device, "device", 4),
};
static const struct bt_message device_taint_selector_message =
	BT_MESSAGE(bt_device_taint_selector, "DeviceTaintSelector", device_taint_selector_rows);

static const struct bt_field device_taint_rule_spec_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_device_taint_rule_spec, device_selector, "deviceSelector", 1,
		bt_device_taint_selector, device_taint_selector_message),
	BT_ROW_MSG(bt_device_taint_rule_spec, taint, "taint", 2, bt_device_taint,
		device_taint_message),
};
static const struct bt_message device_taint_rule_spec_message =
	BT_MESSAGE(bt_device_taint_rule_spec, "DeviceTaintRuleSpec", device_taint_rule_spec_rows);

static const struct bt_field device_taint_rule_rows[] = {
	BT_ROW_MSG(bt_device_taint_rule, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_device_taint_rule, spec, "spec", 2, bt_device_taint_rule_spec,
		device_taint_rule_spec_message),
};
const struct bt_message bt_device_taint_rule_message =
	BT_MESSAGE(bt_device_taint_rule, "DeviceTaintRule", device_taint_rule_rows);

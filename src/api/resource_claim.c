/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resource_claim.h"

#include "api/field_rows.h"

static const struct bt_field cel_device_selector_rows[] = {
	BT_ROW_STR_ALWAYS(bt_cel_device_selector, expression, "expression", 1),
};
static const struct bt_message cel_device_selector_message =
	BT_MESSAGE(bt_cel_device_selector, "CELDeviceSelector", cel_device_selector_rows);

static const struct bt_field device_selector_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_device_selector, cel, "cel", 1, bt_cel_device_selector,
		cel_device_selector_message),
};
const struct bt_message bt_device_selector_message =
	BT_MESSAGE(bt_device_selector, "DeviceSelector", device_selector_rows);

static const struct bt_field device_toleration_rows[] = {
	BT_ROW_STR(bt_device_toleration, key, "key", 1),
	BT_ROW_STR(bt_device_toleration, operator_, "operator", 2),
	BT_ROW_STR(bt_device_toleration, value, "value", 3),
	BT_ROW_STR(bt_device_toleration, effect, "effect", 4),
	BT_ROW_I64_NULLABLE(bt_device_toleration, toleration_seconds, "tolerationSeconds", 5),
};
static const struct bt_message bt_device_toleration_message =
	BT_MESSAGE(bt_device_toleration, "DeviceToleration", device_toleration_rows);

static const struct bt_field capacity_requirements_rows[] = {
	BT_ROW_QTY_MAP(bt_capacity_requirements, requests, "requests", 1),
};
static const struct bt_message capacity_requirements_message =
	BT_MESSAGE(bt_capacity_requirements, "CapacityRequirements", capacity_requirements_rows);

static const struct bt_field exact_device_request_rows[] = {
	BT_ROW_STR_ALWAYS(bt_exact_device_request, device_class_name, "deviceClassName", 1),
	BT_ROW_MSG_LIST(bt_exact_device_request, selectors, "selectors", 2, bt_device_selector,
		bt_device_selector_message),
	BT_ROW_STR(bt_exact_device_request, allocation_mode, "allocationMode", 3),
	BT_ROW_I64(bt_exact_device_request, count, "count", 4),
	BT_ROW_BOOL_NULLABLE(bt_exact_device_request, admin_access, "adminAccess", 5),
	BT_ROW_MSG_LIST(bt_exact_device_request, tolerations, "tolerations", 6,
		bt_device_toleration, bt_device_toleration_message),
	BT_ROW_MSG_NULLABLE(bt_exact_device_request, capacity, "capacity", 7,
		bt_capacity_requirements, capacity_requirements_message),
};
static const struct bt_message exact_device_request_message =
	BT_MESSAGE(bt_exact_device_request, "ExactDeviceRequest", exact_device_request_rows);

static const struct bt_field device_sub_request_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_sub_request, name, "name", 1),
	BT_ROW_STR_ALWAYS(bt_device_sub_request, device_class_name, "deviceClassName", 2),
	BT_ROW_MSG_LIST(bt_device_sub_request, selectors, "selectors", 3, bt_device_selector,
		bt_device_selector_message),
	BT_ROW_STR(bt_device_sub_request, allocation_mode, "allocationMode", 4),
	BT_ROW_I64(bt_device_sub_request, count, "count", 5),
	BT_ROW_MSG_LIST(bt_device_sub_request, tolerations, "tolerations", 6, bt_device_toleration,
		bt_device_toleration_message),
	BT_ROW_MSG_NULLABLE(bt_device_sub_request, capacity, "capacity", 7,
		bt_capacity_requirements, capacity_requirements_message),
};
static const struct bt_message device_sub_request_message =
	BT_MESSAGE(bt_device_sub_request, "DeviceSubRequest", device_sub_request_rows);

static const struct bt_field device_request_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_request, name, "name", 1),
	BT_ROW_MSG_NULLABLE(bt_device_request, exactly, "exactly", 2, bt_exact_device_request,
		exact_device_request_message),
	BT_ROW_MSG_LIST(bt_device_request, first_available, "firstAvailable", 3,
		bt_device_sub_request, device_sub_request_message),
};
static const struct bt_message device_request_message =
	BT_MESSAGE(bt_device_request, "DeviceRequest", device_request_rows);

static const struct bt_field device_constraint_rows[] = {
	BT_ROW_STR_LIST(bt_device_constraint, requests, "requests", 1),
	BT_ROW_STR_NULLABLE(bt_device_constraint, match_attribute, "matchAttribute", 2),
	BT_ROW_STR_NULLABLE(bt_device_constraint, distinct_attribute, "distinctAttribute", 3),
};
static const struct bt_message device_constraint_message =
	BT_MESSAGE(bt_device_constraint, "DeviceConstraint", device_constraint_rows);

static const struct bt_field opaque_device_configuration_rows[] = {
	BT_ROW_STR_ALWAYS(bt_opaque_device_configuration, driver, "driver", 1),
	BT_ROW_RAW_JSON(bt_opaque_device_configuration, parameters, "parameters", 2),
};
static const struct bt_message opaque_device_configuration_message =
	BT_MESSAGE(bt_opaque_device_configuration, "OpaqueDeviceConfiguration",
		opaque_device_configuration_rows);

static const struct bt_field device_configuration_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_device_configuration, opaque, "opaque", 1,
		bt_opaque_device_configuration, opaque_device_configuration_message),
};
const struct bt_message bt_device_configuration_message =
	BT_MESSAGE(bt_device_configuration, "DeviceConfiguration", device_configuration_rows);

static const struct bt_field device_claim_configuration_rows[] = {
	BT_ROW_STR_LIST(bt_device_claim_configuration, requests, "requests", 1),
	BT_ROW_MSG_INLINE(bt_device_claim_configuration, configuration, 2, bt_device_configuration,
		bt_device_configuration_message),
};
static const struct bt_message device_claim_configuration_message = BT_MESSAGE(
	bt_device_claim_configuration, "DeviceClaimConfiguration", device_claim_configuration_rows);

static const struct bt_field device_claim_rows[] = {
	BT_ROW_MSG_LIST(bt_device_claim, requests, "requests", 1, bt_device_request,
		device_request_message),
	BT_ROW_MSG_LIST(bt_device_claim, constraints, "constraints", 2, bt_device_constraint,
		device_constraint_message),
	BT_ROW_MSG_LIST(bt_device_claim, config, "config", 3, bt_device_claim_configuration,
		device_claim_configuration_message),
};
static const struct bt_message device_claim_message =
	BT_MESSAGE(bt_device_claim, "DeviceClaim", device_claim_rows);

static const struct bt_field resource_claim_spec_rows[] = {
	BT_ROW_MSG(bt_resource_claim_spec, devices, "devices", 1, bt_device_claim,
		device_claim_message),
};
const struct bt_message bt_resource_claim_spec_message =
	BT_MESSAGE(bt_resource_claim_spec, "ResourceClaimSpec", resource_claim_spec_rows);

static const struct bt_field device_request_allocation_result_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_request_allocation_result, request, "request", 1),
	BT_ROW_STR_ALWAYS(bt_device_request_allocation_result, driver, "driver", 2),
	BT_ROW_STR_ALWAYS(bt_device_request_allocation_result, pool, "pool", 3),
	BT_ROW_STR_ALWAYS(bt_device_request_allocation_result, device, "device", 4),
	BT_ROW_BOOL_NULLABLE(bt_device_request_allocation_result, admin_access, "adminAccess", 5),
	BT_ROW_MSG_LIST(bt_device_request_allocation_result, tolerations, "tolerations", 6,
		bt_device_toleration, bt_device_toleration_message),
	BT_ROW_STR_LIST(
		bt_device_request_allocation_result, binding_conditions, "bindingConditions", 7),
	BT_ROW_STR_LIST(bt_device_request_allocation_result, binding_failure_conditions,
		"bindingFailureConditions", 8),
	BT_ROW_STR_NULLABLE(bt_device_request_allocation_result, share_id, "shareID", 9),
	BT_ROW_QTY_MAP(
		bt_device_request_allocation_result, consumed_capacity, "consumedCapacity", 10),
};
static const struct bt_message device_request_allocation_result_message =
	BT_MESSAGE(bt_device_request_allocation_result, "DeviceRequestAllocationResult",
		device_request_allocation_result_rows);

static const struct bt_field device_allocation_configuration_rows[] = {
	BT_ROW_STR_ALWAYS(bt_device_allocation_configuration, source, "source", 1),
	BT_ROW_STR_LIST(bt_device_allocation_configuration, requests, "requests", 2),
	BT_ROW_MSG_INLINE(bt_device_allocation_configuration, configuration, 3,
		bt_device_configuration, bt_device_configuration_message),
};
static const struct bt_message device_allocation_configuration_message =
	BT_MESSAGE(bt_device_allocation_configuration, "DeviceAllocationConfiguration",
		device_allocation_configuration_rows);

static const struct bt_field device_allocation_result_rows[] = {
	BT_ROW_MSG_LIST(bt_device_allocation_result, results, "results", 1,
		bt_device_request_allocation_result, device_request_allocation_result_message),
	BT_ROW_MSG_LIST(bt_device_allocation_result, config, "config", 2,
		bt_device_allocation_configuration, device_allocation_configuration_message),
};
static const struct bt_message device_allocation_result_message = BT_MESSAGE(
	bt_device_allocation_result, "DeviceAllocationResult", device_allocation_result_rows);

static const struct bt_field allocation_result_rows[] = {
	BT_ROW_MSG_ALWAYS(bt_allocation_result, devices, "devices", 1, bt_device_allocation_result,
		device_allocation_result_message),
	BT_ROW_MSG_NULLABLE(bt_allocation_result, node_selector, "nodeSelector", 3,
		bt_node_selector, bt_node_selector_message),
	BT_ROW_TIME_NULLABLE(bt_allocation_result, allocation_timestamp, "allocationTimestamp", 5),
};
const struct bt_message bt_allocation_result_message =
	BT_MESSAGE(bt_allocation_result, "AllocationResult", allocation_result_rows);

static const struct bt_field resource_claim_consumer_reference_rows[] = {
	BT_ROW_STR(bt_resource_claim_consumer_reference, api_group, "apiGroup", 1),
	BT_ROW_STR_ALWAYS(bt_resource_claim_consumer_reference, resource, "resource", 3),
	BT_ROW_STR_ALWAYS(bt_resource_claim_consumer_reference, name, "name", 4),
	BT_ROW_STR_ALWAYS(bt_resource_claim_consumer_reference, uid, "uid", 5),
};
static const struct bt_message resource_claim_consumer_reference_message =
	BT_MESSAGE(bt_resource_claim_consumer_reference, "ResourceClaimConsumerReference",
		resource_claim_consumer_reference_rows);

static const struct bt_field allocated_device_status_rows[] = {
	BT_ROW_STR_ALWAYS(bt_allocated_device_status, driver, "driver", 1),
	BT_ROW_STR_ALWAYS(bt_allocated_device_status, pool, "pool", 2),
	BT_ROW_STR_ALWAYS(bt_allocated_device_status, device, "device", 3),
	BT_ROW_STR_NULLABLE(bt_allocated_device_status, share_id, "shareID", 7),
	BT_ROW_MSG_LIST(bt_allocated_device_status, conditions, "conditions", 4, bt_condition,
		bt_condition_message),
};
static const struct bt_message allocated_device_status_message = BT_MESSAGE(
	bt_allocated_device_status, "AllocatedDeviceStatus", allocated_device_status_rows);

static const struct bt_field resource_claim_status_rows[] = {
	BT_ROW_MSG_NULLABLE(bt_resource_claim_status, allocation, "allocation", 1,
		bt_allocation_result, bt_allocation_result_message),
	BT_ROW_MSG_LIST(bt_resource_claim_status, reserved_for, "reservedFor", 2,
		bt_resource_claim_consumer_reference, resource_claim_consumer_reference_message),
	BT_ROW_MSG_LIST(bt_resource_claim_status, devices, "devices", 4, bt_allocated_device_status,
		allocated_device_status_message),
};
static const struct bt_message resource_claim_status_message =
	BT_MESSAGE(bt_resource_claim_status, "ResourceClaimStatus", resource_claim_status_rows);

static const struct bt_field resource_claim_rows[] = {
	BT_ROW_MSG(
		bt_resource_claim, metadata, "metadata", 1, bt_object_meta, bt_object_meta_message),
	BT_ROW_MSG(bt_resource_claim, spec, "spec", 2, bt_resource_claim_spec,
		bt_resource_claim_spec_message),
	BT_ROW_MSG(bt_resource_claim, status, "status", 3, bt_resource_claim_status,
		resource_claim_status_message),
};
const struct bt_message bt_resource_claim_message =
	BT_MESSAGE(bt_resource_claim, "ResourceClaim", resource_claim_rows);

static const struct bt_field resource_claim_template_spec_rows[] = {
	BT_ROW_MSG(bt_resource_claim_template_spec, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_resource_claim_template_spec, spec, "spec", 2, bt_resource_claim_spec,
		bt_resource_claim_spec_message),
};
static const struct bt_message resource_claim_template_spec_message =
	BT_MESSAGE(bt_resource_claim_template_spec, "ResourceClaimTemplateSpec",
		resource_claim_template_spec_rows);

static const struct bt_field resource_claim_template_rows[] = {
	BT_ROW_MSG(bt_resource_claim_template, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_resource_claim_template, spec, "spec", 2, bt_resource_claim_template_spec,
		resource_claim_template_spec_message),
};
const struct bt_message bt_resource_claim_template_message = BT_MESSAGE(
	bt_resource_claim_template, "ResourceClaimTemplate", resource_claim_template_rows);

bool bt_resource_claim_is_reserved_by(const struct bt_resource_claim *claim, struct bt_str uid)
{
	for (uint32_t i = 0; i < claim->status.reserved_for.count; i++) {
		if (bt_str_equal(claim->status.reserved_for.items[i].uid, uid)) {
			return true;
		}
	}
	return false;
}

bool bt_resource_claim_drop_user(
	struct bt_resource_claim *claim, struct bt_str uid, struct bt_arena *arena)
{
	const struct bt_resource_claim_consumer_reference *users = claim->status.reserved_for.items;
	uint32_t count = claim->status.reserved_for.count;
	struct bt_resource_claim_consumer_reference *left =
		BT_ARENA_NEW_ARRAY(arena, struct bt_resource_claim_consumer_reference, count);
	uint32_t left_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!bt_str_equal(users[i].uid, uid)) {
			left[left_count++] = users[i];
		}
	}
	claim->status.reserved_for.items = left;
	claim->status.reserved_for.count = left_count;
	return left_count != count;
}

void bt_resource_claim_drop_finalizer(struct bt_resource_claim *claim, struct bt_arena *arena)
{
	bt_str_list old = claim->metadata.finalizers;
	struct bt_str *kept = BT_ARENA_NEW_ARRAY(arena, struct bt_str, old.count);
	uint32_t count = 0;

	for (uint32_t i = 0; i < old.count; i++) {
		if (!bt_str_equal_c(old.items[i], BT_CLAIM_FINALIZER)) {
			kept[count++] = old.items[i];
		}
	}
	claim->metadata.finalizers = (bt_str_list){kept, count, count != 0};
}

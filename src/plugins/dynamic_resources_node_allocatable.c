/* SPDX-License-Identifier: Apache-2.0 */
/*
 * DynamicResources: devices that also consume cpu, memory or other resources of the node. Only with
 * the alpha gate DRANodeAllocatableResources. Spec: 12 section 15.
 */
#include <stdlib.h>

#include "api/resources.h"
#include "base/log.h"
#include "dra/device_pools.h"
#include "plugins/common_resource_score.h"
#include "plugins/dynamic_resources.h"

/** Claim statuses to write to the pod's status; in the cycle's arena. */
struct bt_node_allocatable {
	struct bt_node_allocatable_claim_status *statuses; /* sorted by claim name */
	uint32_t count;
};

/** State shared by the functions of bt_node_allocatable_check. */
struct demand_check {
	const struct bt_dynamic_resources *instance;
	const struct bt_pod_info *pod;
	const struct bt_node_info *node;
	struct bt_arena *arena;
	struct bt_node_allocatable *demand;
};

struct bt_status bt_node_allocatable_check_sharing(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim,
	const struct bt_node_info *node, struct bt_arena *arena)
{
	const struct bt_state *state = instance->base.handle->state;
	struct bt_str namespace_ = pod->namespace_;
	struct bt_str name = claim->metadata.name;
	uint32_t consumers = bt_state_claim_consumer_count(state, node->slot, namespace_, name);

	if (consumers > 1) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
			"node allocatable resource claim %.*s shared by multiple pods",
			BT_STR_ARG(name));
	}
	uint32_t own = bt_state_find_pod(state, pod->uid);
	if (consumers == 1 &&
		(own == BT_POD_NONE || bt_state_pod_at(state, own)->node != node->slot ||
			!bt_state_is_claim_consumer(state, own, namespace_, name))) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, arena,
			"node allocatable resource claim %.*s is already used by another pod",
			BT_STR_ARG(name));
	}
	return BT_STATUS_OK;
}

static const struct bt_device *device_of(
	const struct demand_check *check, const struct bt_device_request_allocation_result *result)
{
	return bt_device_pools_find_device(
		check->instance->dra->pools, result->driver, result->pool, result->device);
}

BT_PRINTF(4, 5)
static struct bt_status set_failure(const struct demand_check *check,
	const struct bt_resource_claim *claim, struct bt_str device, const char *format, ...)
{
	struct bt_strbuf text = {0};
	va_list arguments;

	bt_strbuf_printf(&text,
		"claim %.*s/%.*s, device %.*s: ", BT_STR_ARG(claim->metadata.namespace_),
		BT_STR_ARG(claim->metadata.name), BT_STR_ARG(device));
	va_start(arguments, format);
	bt_strbuf_vprintf(&text, format, arguments);
	va_end(arguments);
	struct bt_status status = bt_status_error_text(check->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

/**
 * Get the amount that a device consumes by one mapping. *out_amount is NULL if the allocation
 * consumes nothing of the mapped capacity.
 */
static struct bt_status amount_of(const struct demand_check *check,
	const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *result,
	const struct bt_node_allocatable_mapping_entry *mapping,
	const struct bt_quantity **out_amount)
{
	const struct bt_quantity *multiplier = mapping->value.allocation_multiplier;
	struct bt_str key = mapping->value.capacity_key;
	struct bt_quantity *amount = BT_ARENA_NEW(check->arena, struct bt_quantity);

	*out_amount = NULL;
	if (key.length == 0) {
		if (multiplier != NULL) {
			*amount = *multiplier;
		}
		*out_amount = amount;
		return BT_STATUS_OK;
	}
	if (result->consumed_capacity.count == 0) {
		return set_failure(check, claim, result->device,
			"ConsumedCapacity is nil, but Capacity key '%.*s' is set in "
			"NodeAllocatableResourceMappings for resource %.*s",
			BT_STR_ARG(key), BT_STR_ARG(mapping->key));
	}
	const struct bt_quantity *consumed = bt_resource_list_find(&result->consumed_capacity, key);
	if (consumed != NULL) {
		*amount = *consumed;
		if (multiplier != NULL) {
			bt_quantity_multiply(amount, multiplier, check->arena);
		}
		*out_amount = amount;
	}
	return BT_STATUS_OK;
}

/**
 * Whether the container uses the claim named claim_name. Containers refer to the claim by the name
 * of an entry of the pod.
 */
static bool container_uses(
	const struct bt_pod *pod, const struct bt_container *container, struct bt_str claim_name)
{
	for (uint32_t i = 0; i < container->resources.claims.count; i++) {
		struct bt_str name = container->resources.claims.items[i].name;

		for (uint32_t k = 0; k < pod->spec.resource_claims.count; k++) {
			const struct bt_pod_resource_claim *entry =
				&pod->spec.resource_claims.items[k];
			struct bt_str entry_name;
			bool generated;

			if (bt_str_equal(entry->name, name) &&
				bt_dynamic_entry_name(pod, entry, &entry_name, &generated, NULL) ==
					0 &&
				bt_str_equal(entry_name, claim_name)) {
				return true;
			}
		}
	}
	return false;
}

/** Add the status of a claim if its devices consume resources of the node. */
static struct bt_status add_status(
	const struct demand_check *check, const struct bt_new_allocation *allocation)
{
	struct bt_node_allocatable *demand = check->demand;
	struct bt_node_allocatable_claim_status *entry = &demand->statuses[demand->count];
	const struct bt_resource_claim *claim = allocation->claim->claim;
	uint32_t room = 0;

	for (uint32_t i = 0; i < allocation->allocation->devices.results.count; i++) {
		const struct bt_device *mapped =
			device_of(check, &allocation->allocation->devices.results.items[i]);
		room += mapped != NULL ? mapped->node_allocatable_resource_mappings.count : 0;
	}
	if (room == 0) {
		return BT_STATUS_OK;
	}

	entry->resources = (struct bt_resource_list){
		.items = BT_ARENA_NEW_ARRAY(check->arena, struct bt_resource_entry, room)};
	for (uint32_t i = 0; i < allocation->allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->allocation->devices.results.items[i];
		const struct bt_device *device = device_of(check, result);

		if (device == NULL) {
			return set_failure(check, claim, result->device,
				"device %.*s not found in pool %.*s", BT_STR_ARG(result->device),
				BT_STR_ARG(result->pool));
		}
		for (uint32_t k = 0; k < device->node_allocatable_resource_mappings.count; k++) {
			const struct bt_node_allocatable_mapping_entry *mapping =
				&device->node_allocatable_resource_mappings.items[k];
			const struct bt_quantity *amount;
			struct bt_status status = amount_of(check, claim, result, mapping, &amount);

			if (!bt_status_is_success(&status)) {
				return status;
			}
			if (amount != NULL) {
				bt_resource_list_add(&entry->resources, room, mapping->key, amount,
					check->arena);
			}
		}
	}
	entry->resource_claim_name =
		bt_arena_str(check->arena, allocation->claim->claim->metadata.name);
	struct bt_str claim_name = entry->resource_claim_name;
	const struct bt_pod *pod = check->pod->object;
	const bt_container_list *const lists[] = {
		&pod->spec.init_containers, &pod->spec.containers};
	bt_str_list names = {.items = BT_ARENA_NEW_ARRAY(check->arena, struct bt_str,
				     (size_t)lists[0]->count + lists[1]->count)};

	for (size_t list = 0; list < BT_ARRAY_LENGTH(lists); list++) {
		for (uint32_t i = 0; i < lists[list]->count; i++) {
			const struct bt_container *container = &lists[list]->items[i];

			if (container_uses(pod, container, claim_name)) {
				names.items[names.count++] =
					bt_arena_str(check->arena, container->name);
			}
		}
	}
	names.present = names.count != 0;
	entry->containers = names;
	if (entry->containers.count == 0) {
		return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, check->arena,
			"claim %.*s: node-allocatable resource claim not referenced by any "
			"container within the pod",
			BT_STR_ARG(entry->resource_claim_name));
	}
	demand->count++;
	return BT_STATUS_OK;
}

BT_COMPARE(compare_statuses, struct bt_node_allocatable_claim_status,
	bt_str_compare(a->resource_claim_name, b->resource_claim_name))

static void set_statuses(struct bt_pod_status *status, const struct bt_node_allocatable *demand)
{
	status->node_allocatable_resource_claim_statuses.items = demand->statuses;
	status->node_allocatable_resource_claim_statuses.count = demand->count;
	status->node_allocatable_resource_claim_statuses.present = true;
}

struct bt_status bt_node_allocatable_check(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_info *node,
	const struct bt_new_allocation *allocations, uint32_t count, struct bt_arena *arena,
	const struct bt_node_allocatable **out_demand)
{
	struct bt_node_allocatable *demand = BT_ARENA_NEW(arena, struct bt_node_allocatable);
	struct demand_check check = {instance, pod, node, arena, demand};
	struct bt_status status = BT_STATUS_OK;

	*out_demand = NULL;
	demand->statuses =
		BT_ARENA_NEW_ARRAY(arena, struct bt_node_allocatable_claim_status, count);
	for (uint32_t i = 0; i < count && bt_status_is_success(&status); i++) {
		status = add_status(&check, &allocations[i]);
	}
	if (!bt_status_is_success(&status) || demand->count == 0) {
		return status;
	}
	qsort(demand->statuses, demand->count, sizeof(*demand->statuses), compare_statuses);
	struct bt_pod with_statuses = *pod->object;
	struct bt_request_options options = {
		.no_pod_level = !bt_gate_enabled(instance->dra->gates, BT_GATE_POD_LEVEL_RESOURCES),
		.dra_status = true,
	};
	struct bt_resource wanted = {0};

	set_statuses(&with_statuses.status, demand);
	struct bt_resource_list requested = bt_pod_requests(&with_statuses, &options, arena);
	/* Pod-level requests must cover the requests of the containers. */
	if (bt_pod_has_pod_level_requests(&with_statuses)) {
		struct bt_request_options parts_only = {.no_pod_level = true, .dra_status = true};
		struct bt_resource_list parts = bt_pod_requests(&with_statuses, &parts_only, arena);

		for (uint32_t i = 0; i < parts.count; i++) {
			const struct bt_quantity *whole =
				bt_resource_list_find(&requested, parts.items[i].name);

			if (whole != NULL &&
				bt_quantity_compare(&parts.items[i].quantity, whole) > 0) {
				return bt_status_printf(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					arena,
					"pod level request for %.*s is insufficient to cover the "
					"aggregated container and node-allocatable DRA requests",
					BT_STR_ARG(parts.items[i].name));
			}
		}
	}
	bt_resource_add(&wanted, &requested, arena);
	struct bt_lacks lacks = {
		.arena = arena, .capacity = BT_STANDARD__COUNT + wanted.scalar_count};
	int64_t requests[BT_STANDARD__COUNT];

	bt_resource_get_standard(&wanted, requests);
	bt_lacks_check_standard(&lacks, node, requests);
	for (uint32_t i = 0; i < wanted.scalar_count; i++) {
		struct bt_str name = wanted.scalars[i].name;
		uint32_t column =
			bt_node_table_find_scalar(&instance->base.handle->state->nodes, name);

		if (bt_resource_is_hugepage(name)) {
			bt_lacks_check(&lacks,
				bt_arena_printf(arena, "Insufficient %.*s", BT_STR_ARG(name)),
				wanted.scalars[i].value,
				bt_node_info_scalar_allocatable(node, column),
				bt_node_info_scalar_requested(node, column));
		}
	}
	status = bt_lacks_status(&lacks);
	if (bt_status_is_success(&status)) {
		*out_demand = demand;
	}
	return status;
}

void bt_dynamic_assume_status(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	BT_UNUSED const struct bt_pod_info *pod, uint32_t slot, struct bt_pod_status *status)
{
	const struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	const struct bt_dynamic_node *node = data != NULL ? bt_dynamic_node_of(data, slot) : NULL;

	if (node != NULL && node->demand != NULL) {
		set_statuses(status, node->demand);
	}
}

int bt_node_allocatable_patch(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand,
	struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_pod_status status = pod->object->status;

	if (writer == NULL) {
		return 0;
	}
	set_statuses(&status, demand);
	int code = writer->patch_pod_status(
		writer->context, pod, &pod->object->status, &status, false, err);
	return code == 0 || code == BT_WRITE_PENDING
		? code
		: bt_error_wrap(err, BERTH_ERR_STATE,
			  "updating pod %.*s/%.*s NodeAllocatableResourceClaimStatuses",
			  BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
}

void bt_node_allocatable_clear(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_node_allocatable *demand)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	struct bt_pod_status status = pod->object->status;
	struct bt_pod_status cleared = status;
	struct berth_error err = BERTH_ERROR_INIT;

	if (writer == NULL) {
		return;
	}
	set_statuses(&status, demand);
	set_statuses(&cleared, &(struct bt_node_allocatable){NULL, 0});
	if (writer->patch_pod_status(writer->context, pod, &status, &cleared, true, &err) != 0) {
		BT_LOG_ERROR(berth_error_message(&err),
			"Failed to clear the statuses of node-allocatable resources",
			BT_LOG_REF("pod", pod->namespace_, pod->name));
		berth_error_finish(&err);
	}
}

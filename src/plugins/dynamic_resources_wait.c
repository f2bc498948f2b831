/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Binding conditions of devices that must be prepared before a pod is bound. Spec: 12 section 13.
 */
#include "base/error.h"
#include "base/int128.h"
#include "base/log.h"
#include "framework/framework.h"
#include "plugins/dynamic_resources.h"

#define NS_PER_S (INT64_C(1000) * 1000 * 1000)
#define POLL_NS (5 * NS_PER_S)

bool bt_dynamic_binds_conditions(const struct bt_plugin *plugin)
{
	return bt_plugin_gate(plugin, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS) &&
		bt_plugin_gate(plugin, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS);
}

/** Returns the condition of this type if its status is True, otherwise NULL. */
static const struct bt_condition *find_true(
	const struct bt_allocated_device_status *device, struct bt_str type)
{
	for (uint32_t i = 0; i < device->conditions.count; i++) {
		const struct bt_condition *condition = &device->conditions.items[i];

		if (bt_str_equal(condition->type, type)) {
			return bt_str_equal_c(condition->status, "True") ? condition : NULL;
		}
	}
	return NULL;
}

static int check_device(const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *result, bool *out_ready,
	struct berth_error *err)
{
	const struct bt_allocated_device_status *device = NULL;

	for (uint32_t i = 0; device == NULL && i < claim->status.devices.count; i++) {
		const struct bt_allocated_device_status *each = &claim->status.devices.items[i];

		if (bt_str_equal(each->driver, result->driver) &&
			bt_str_equal(each->pool, result->pool) &&
			bt_str_equal(each->device, result->device)) {
			device = each;
		}
	}
	*out_ready = device != NULL;
	if (device == NULL) {
		return 0;
	}
	for (uint32_t i = 0; i < result->binding_failure_conditions.count; i++) {
		const struct bt_condition *failed =
			find_true(device, result->binding_failure_conditions.items[i]);
		struct bt_strbuf message = {0};

		if (failed == NULL) {
			continue;
		}
		bt_strbuf_append_quoted(&message, failed->message);
		int code = bt_error_set(err, BERTH_ERR_STATE,
			"device binding failed: claim=%.*s, reason=%.*s, message=%s",
			BT_STR_ARG(claim->metadata.name), BT_STR_ARG(failed->reason),
			bt_strbuf_c(&message));
		bt_strbuf_finish(&message);
		return code;
	}
	for (uint32_t i = 0; i < result->binding_conditions.count; i++) {
		*out_ready &= find_true(device, result->binding_conditions.items[i]) != NULL;
	}
	return 0;
}

int bt_dynamic_is_ready(
	const struct bt_resource_claim *claim, bool *out_ready, struct berth_error *err)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;

	*out_ready = allocation != NULL;
	for (uint32_t i = 0; *out_ready && i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];
		int code = result->binding_conditions.count != 0
			? check_device(claim, result, out_ready, err)
			: 0;

		if (code != 0) {
			return code;
		}
	}
	return 0;
}

bool bt_dynamic_is_timed_out(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;
	const struct bt_time *start = allocation != NULL ? allocation->allocation_timestamp : NULL;
	const struct bt_handle *handle = instance->base.handle;

	/*
	 * Use 128 bits: another client may have written a year beyond the range of int64
	 * nanoseconds.
	 */
	return start != NULL &&
		(bt_int128)start->seconds * NS_PER_S + start->nanoseconds +
			instance->binding_timeout_ns <
		(bt_int128)handle->now_ns + handle->wall_offset_ns;
}

/** Values of the label "status" of the metrics. */
#define STATUS_SUCCESS "success"
#define STATUS_FAILURE "failure"
#define STATUS_TIMEOUT "timeout"
#define STATUS_ERROR "error"

static void count(const struct bt_dynamic_resources *instance, const struct bt_dynamic_cycle *data,
	const char *status)
{
	int64_t now_ns = bt_metrics_now(bt_handle_metrics(instance->base.handle));

	for (uint32_t i = 0; i < data->count; i++) {
		const struct bt_allocation_result *allocation =
			data->claims[i].claim->status.allocation;

		for (uint32_t k = 0; allocation != NULL && k < allocation->devices.results.count;
			k++) {
			const struct bt_device_request_allocation_result *result =
				&allocation->devices.results.items[k];

			bt_metrics_device_waited(bt_handle_metrics(instance->base.handle),
				instance->base.handle->scheduler_name, result->driver, status,
				now_ns - data->wait_started_ns,
				result->binding_conditions.count != 0);
		}
	}
}

/**
 * Check the current versions of the claims in order, up to the first claim that is not ready.
 * Returns 0, a negative code, or BT_WRITE_PENDING if a claim is not ready. *out_status: label of
 * the metrics; not set if pending.
 */
static int poll_claims(const struct bt_dynamic_resources *instance, struct bt_cycle_state *cycle,
	struct bt_dynamic_cycle *data, const char **out_status, struct berth_error *err)
{
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_dynamic_claim *claim = &data->claims[i];
		const struct bt_object_meta *meta = claim->object->meta;
		bool is_ready = true;

		if (claim->is_special && bt_extended_is_in_memory(claim->claim)) {
			continue;
		}
		struct bt_object *object =
			bt_claim_cache_find(&instance->dra->claims, meta->namespace_, meta->name);
		if (object == NULL) {
			*out_status = STATUS_ERROR;
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"could not find ResourceClaim \"%.*s/%.*s\"",
				BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
		}
		if (object != claim->object) {
			bt_dynamic_claim_set(claim, cycle, bt_object_share(object));
		}
		int code = bt_dynamic_is_ready(claim->claim, &is_ready, err);
		if (code != 0) {
			*out_status = STATUS_FAILURE;
			return code;
		}
		if (!is_ready && bt_dynamic_is_timed_out(instance, claim->claim)) {
			*out_status = STATUS_TIMEOUT;
			return bt_error_set(err, BERTH_ERR_STATE,
				"device binding timeout: claim=%.*s",
				BT_STR_ARG(claim->claim->metadata.name));
		}
		if (!is_ready) {
			data->next_poll_ns = instance->base.handle->now_ns + POLL_NS;
			return BT_WRITE_PENDING;
		}
	}
	*out_status = STATUS_SUCCESS;
	return 0;
}

/** Start the wait. Returns false if no device has binding conditions. */
static bool begin(const struct bt_dynamic_resources *instance, struct bt_dynamic_cycle *data,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_arena *arena)
{
	const struct bt_handle *handle = instance->base.handle;
	const struct bt_handle_services *services = handle->services;

	for (uint32_t i = 0; i < data->count; i++) {
		const struct bt_allocation_result *allocation =
			data->claims[i].claim->status.allocation;

		for (uint32_t k = 0; allocation != NULL && k < allocation->devices.results.count;
			k++) {
			data->waits |=
				allocation->devices.results.items[k].binding_conditions.count != 0;
		}
	}
	if (!data->waits) {
		return false;
	}
	data->next_poll_ns = handle->now_ns;
	data->wait_ends_ns = data->next_poll_ns + instance->binding_timeout_ns;
	data->wait_started_ns = bt_metrics_now(bt_handle_metrics(handle));
	if (services != NULL && services->event != NULL) {
		services->event(services->context, pod, "Normal", "BindingConditionsPending",
			"Scheduling",
			bt_arena_printf(arena,
				"waiting for binding conditions for device on node %.*s",
				BT_STR_ARG(bt_node_table_name(&handle->state->nodes, slot))));
	}
	return true;
}

int bt_dynamic_wait(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, struct berth_error *err)
{
	const struct bt_dynamic_resources *instance = bt_dynamic_resources_of(plugin);
	struct bt_dynamic_cycle *data = bt_dynamic_cycle_of(plugin, cycle);
	int64_t now_ns = instance->base.handle->now_ns;
	const char *status = STATUS_TIMEOUT;
	int code = BT_WRITE_PENDING;

	if (!data->waits && !begin(instance, data, pod, slot, cycle->arena)) {
		return 0;
	}
	if (now_ns >= data->next_poll_ns) {
		code = poll_claims(instance, cycle, data, &status, err);
	}
	if (code == BT_WRITE_PENDING && now_ns >= data->wait_ends_ns) {
		code = bt_error_set(
			err, BERTH_ERR_STATE, "device binding timeout: context deadline exceeded");
	}
	if (code != BT_WRITE_PENDING) {
		count(instance, data, status);
		return code;
	}
	int64_t wake_ns =
		data->next_poll_ns < data->wait_ends_ns ? data->next_poll_ns : data->wait_ends_ns;
	cycle->wake_ns = wake_ns < cycle->wake_ns ? wake_ns : cycle->wake_ns;
	return code;
}

/**
 * Writes of claims through the writer. Without a writer, writes succeed at once. Spec: 12 sections
 * 10, 12 and 13.
 */

/** Without a writer no watch reports the claim, so assume it at once. */
static void assume_written(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim)
{
	struct bt_object *object = bt_object_create(BT_KIND_RESOURCE_CLAIM, claim);
	struct berth_error err = BERTH_ERROR_INIT;

	if (bt_claim_cache_assume(&instance->dra->claims, object, &err) != 0) {
		BT_LOG_ERROR(berth_error_message(&err), "Claim not stored in assume cache",
			BT_LOG_REF("claim", claim->metadata.namespace_, claim->metadata.name));
		berth_error_finish(&err);
	}
	bt_object_release(object);
}

int bt_dynamic_deallocate(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_object *claim, struct berth_error *err)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;
	const struct bt_resource_claim *value = bt_object_value(claim, BT_KIND_RESOURCE_CLAIM);
	struct bt_resource_claim freed = *value;
	struct bt_object *answer = NULL;

	freed.status = (struct bt_resource_claim_status){0};
	if (writer == NULL) {
		assume_written(instance, &freed);
		return 0;
	}
	int code = writer->write(
		writer->context, pod, BT_CLAIM_WRITE_STATUS, claim, &freed, true, &answer, err);
	bt_object_release(answer);
	/* A conflict is an ordinary error here. */
	return code > 0 ? BERTH_ERR_STATE : code;
}

void bt_dynamic_unreserve_claim(const struct bt_dynamic_resources *instance,
	const struct bt_pod_info *pod, const struct bt_resource_claim *claim, struct bt_str uid,
	struct bt_arena *arena)
{
	const struct bt_claim_writer *writer = instance->base.handle->claim_writer;

	if (writer != NULL) {
		writer->unreserve(writer->context, pod, claim, uid);
		return;
	}
	/* The cycle may have waited for a long time, so use the current version of the claim. */
	const struct bt_object *latest = bt_claim_cache_find(
		&instance->dra->claims, claim->metadata.namespace_, claim->metadata.name);
	if (latest == NULL || !bt_str_equal(latest->meta->uid, claim->metadata.uid)) {
		return;
	}
	claim = bt_object_value(latest, BT_KIND_RESOURCE_CLAIM);
	struct bt_resource_claim left = *claim;
	/* Write the claim even if the user is not in reservedFor. */
	(void)bt_resource_claim_remove_user(&left, uid, arena);
	assume_written(instance, &left);
}

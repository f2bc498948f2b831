/* SPDX-License-Identifier: Apache-2.0 */
/** Devices that must be prepared before a pod is bound: their conditions. Spec: 12 section 13. */
#include "base/error.h"
#include "base/int128.h"
#include "framework/framework.h"
#include "plugins/dynamic_resources.h"

#define NS_PER_S (INT64_C(1000) * 1000 * 1000)
#define POLL_NS (5 * NS_PER_S)

bool bt_dynamic_binds_conditions(const struct bt_plugin *plugin)
{
	return bt_plugin_gate(plugin, BT_GATE_DRA_DEVICE_BINDING_CONDITIONS) &&
		bt_plugin_gate(plugin, BT_GATE_DRA_RESOURCE_CLAIM_DEVICE_STATUS);
}

/* --- one claim --- */

static const struct bt_allocated_device_status *find_device(const struct bt_resource_claim *claim,
	const struct bt_device_request_allocation_result *result)
{
	for (uint32_t i = 0; i < claim->status.devices.count; i++) {
		const struct bt_allocated_device_status *device = &claim->status.devices.items[i];

		if (bt_str_equal(device->driver, result->driver) &&
			bt_str_equal(device->pool, result->pool) &&
			bt_str_equal(device->device, result->device)) {
			return device;
		}
	}
	return NULL;
}

/** The condition if it is True. */
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
	const struct bt_allocated_device_status *device = find_device(claim, result);

	*out_ready = device != NULL;
	if (device == NULL) {
		return 0;
	}
	for (uint32_t i = 0; i < result->binding_failure_conditions.count; i++) {
		const struct bt_condition *failed =
			find_true(device, result->binding_failure_conditions.items[i]);
		struct bt_strbuf message = {0};
		int code;

		if (failed == NULL) {
			continue;
		}
		bt_strbuf_append_quoted(&message, failed->message);
		code = bt_error_set(err, BERTH_ERR_STATE,
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

static bool has_conditions(const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;

	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		if (allocation->devices.results.items[i].binding_conditions.count != 0) {
			return true;
		}
	}
	return false;
}

bool bt_dynamic_is_timed_out(
	const struct bt_dynamic_resources *instance, const struct bt_resource_claim *claim)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;
	const struct bt_time *start = allocation != NULL ? allocation->allocation_timestamp : NULL;

	/* A year that somebody else wrote may be beyond what int64 nanoseconds reach. */
	return start != NULL &&
		(bt_int128)start->seconds * NS_PER_S + start->nanoseconds +
			instance->binding_timeout_ns <
		instance->base.handle->now_ns;
}

/* --- all claims of a pod --- */

/** Label values of status. */
#define STATUS_SUCCESS "success"
#define STATUS_FAILURE "failure"
#define STATUS_TIMEOUT "timeout"
#define STATUS_ERROR "error"

/** Looked up in the API or created there: not what only the cycle knows. */
static bool is_waited_for(const struct bt_dynamic_claim *claim)
{
	return !claim->is_special || !bt_extended_is_in_memory(claim->claim);
}

static void count_claim(const struct bt_dynamic_resources *instance,
	const struct bt_resource_claim *claim, const char *status, int64_t waited_ns)
{
	const struct bt_allocation_result *allocation = claim->status.allocation;

	for (uint32_t i = 0; allocation != NULL && i < allocation->devices.results.count; i++) {
		const struct bt_device_request_allocation_result *result =
			&allocation->devices.results.items[i];

		bt_metrics_device_waited(bt_handle_metrics(instance->base.handle),
			instance->base.handle->scheduler_name, result->driver, status, waited_ns,
			result->binding_conditions.count != 0);
	}
}

static void count(const struct bt_dynamic_resources *instance, const struct bt_dynamic_cycle *data,
	const char *status)
{
	int64_t now_ns = bt_metrics_now(bt_handle_metrics(instance->base.handle));

	for (uint32_t i = 0; i < data->count; i++) {
		count_claim(
			instance, data->claims[i].claim, status, now_ns - data->wait_started_ns);
	}
}

/** One claim as it is now. *out_status: how the wait ended, if it did. */
static int poll_claim(const struct bt_dynamic_resources *instance, struct bt_cycle_state *cycle,
	struct bt_dynamic_claim *claim, bool *out_ready, const char **out_status,
	struct berth_error *err)
{
	const struct bt_object_meta *meta = claim->object->meta;
	struct bt_object *object =
		bt_claim_cache_find(&instance->dra->claims, meta->namespace_, meta->name);
	int code;

	if (object == NULL) {
		*out_status = STATUS_ERROR;
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"could not find ResourceClaim \"%.*s/%.*s\"", BT_STR_ARG(meta->namespace_),
			BT_STR_ARG(meta->name));
	}
	if (object != claim->object) {
		bt_dynamic_claim_set(claim, cycle, bt_object_share(object));
	}
	code = bt_dynamic_is_ready(claim->claim, out_ready, err);
	if (code != 0) {
		*out_status = STATUS_FAILURE;
		return code;
	}
	if (!*out_ready && bt_dynamic_is_timed_out(instance, claim->claim)) {
		*out_status = STATUS_TIMEOUT;
		return bt_error_set(err, BERTH_ERR_STATE, "device binding timeout: claim=%.*s",
			BT_STR_ARG(claim->claim->metadata.name));
	}
	return 0;
}

/** In claim order; the first that is not ready ends it. */
static int poll_claims(const struct bt_dynamic_resources *instance, struct bt_cycle_state *cycle,
	struct bt_dynamic_cycle *data, const char **out_status, struct berth_error *err)
{
	int64_t now_ns = instance->base.handle->now_ns;
	bool ready = true;

	for (uint32_t i = 0; ready && i < data->count; i++) {
		int code = is_waited_for(&data->claims[i])
			? poll_claim(instance, cycle, &data->claims[i], &ready, out_status, err)
			: 0;

		if (code != 0) {
			return code;
		}
	}
	if (ready) {
		*out_status = STATUS_SUCCESS;
		return 0;
	}
	data->next_poll_ns = now_ns + POLL_NS;
	return BT_WRITE_PENDING;
}

/** false: there is nothing to wait for. */
static bool begin(const struct bt_dynamic_resources *instance, struct bt_dynamic_cycle *data,
	const struct bt_pod_info *pod, uint32_t slot, struct bt_arena *arena)
{
	for (uint32_t i = 0; !data->waits && i < data->count; i++) {
		data->waits = has_conditions(data->claims[i].claim);
	}
	if (!data->waits) {
		return false;
	}
	data->next_poll_ns = instance->base.handle->now_ns;
	data->wait_ends_ns = data->next_poll_ns + instance->binding_timeout_ns;
	data->wait_started_ns = bt_metrics_now(bt_handle_metrics(instance->base.handle));
	const struct bt_handle *handle = instance->base.handle;
	const struct bt_handle_services *services = handle->services;
	struct bt_str node_name = bt_node_table_name(&handle->state->nodes, slot);

	if (services != NULL && services->event != NULL) {
		services->event(services->context, pod, "Normal", "BindingConditionsPending",
			"Scheduling",
			bt_arena_printf(arena,
				"waiting for binding conditions for device on node %.*s",
				BT_STR_ARG(node_name)));
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
	int64_t wake_ns;
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
	wake_ns = data->next_poll_ns < data->wait_ends_ns ? data->next_poll_ns : data->wait_ends_ns;
	cycle->wake_ns = wake_ns < cycle->wake_ns ? wake_ns : cycle->wake_ns;
	return code;
}

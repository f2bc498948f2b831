/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_fit_hints.h"

#include "dra/dra.h"
#include "plugins/common_plugin.h"

bool bt_fit_is_delegated(const struct bt_handle *handle, struct bt_str name, int64_t allocatable)
{
	return allocatable <= 0 && bt_gate_enabled(handle->gates, BT_GATE_DRA_EXTENDED_RESOURCE) &&
		bt_dra_class_of(handle->state, name) != NULL;
}

static int64_t scalar_of(const struct bt_resource *resource, struct bt_str name)
{
	const int64_t *value = bt_resource_find_scalar(resource, name);

	return value != NULL ? *value : 0;
}

/* Variant H: with status, with pod-level requests whatever their gate says. */
static struct bt_resource request_with_status(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena)
{
	struct bt_request_options options = {
		.use_status = true,
		.use_pod_status = gates->in_place_pod_level_resources,
	};
	struct bt_resource_list list = bt_pod_requests(pod, &options, arena);
	struct bt_resource resource = {0};

	bt_resource_set_max(&resource, &list, arena);
	return resource;
}

/* Some resource that wanted asks for shrank. */
static bool freed_anything(const struct bt_resource *wanted, const struct bt_resource *old_request,
	const struct bt_resource *new_request)
{
	if ((wanted->cpu_milli != 0 && old_request->cpu_milli > new_request->cpu_milli) ||
		(wanted->memory_bytes != 0 &&
			old_request->memory_bytes > new_request->memory_bytes) ||
		(wanted->ephemeral_storage_bytes != 0 &&
			old_request->ephemeral_storage_bytes >
				new_request->ephemeral_storage_bytes)) {
		return true;
	}
	for (uint32_t i = 0; i < wanted->scalar_count; i++) {
		struct bt_str name = wanted->scalars[i].name;

		if (wanted->scalars[i].value != 0 &&
			scalar_of(old_request, name) > scalar_of(new_request, name)) {
			return true;
		}
	}
	return false;
}

enum bt_queueing_hint bt_fit_hint_after_pod_change(const struct bt_resource_gates *gates,
	const struct bt_pod_info *pod, const struct bt_pod *old_pod, const struct bt_pod *new_pod)
{
	struct bt_arena arena = {0};
	struct bt_resource wanted;
	struct bt_resource old_request;
	struct bt_resource new_request;
	bool helps;

	if (new_pod == NULL) {
		return bt_plugin_pod_is_placed(old_pod) ? BT_HINT_QUEUE : BT_HINT_SKIP;
	}
	if (bt_str_equal(new_pod->metadata.uid, pod->uid)) {
		return BT_HINT_QUEUE;
	}
	if (new_pod->spec.node_name.length == 0) {
		return BT_HINT_SKIP;
	}
	wanted = request_with_status(pod->shape->pod, gates, &arena);
	old_request = request_with_status(old_pod, gates, &arena);
	new_request = request_with_status(new_pod, gates, &arena);
	helps = freed_anything(&wanted, &old_request, &new_request);
	bt_arena_finish(&arena);
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

/* Upstream quirk, spec 05 section 11.9: ignored resources are not ignored here. */
static bool fits_empty_node(const struct bt_handle *handle, const struct bt_resource *request,
	const struct bt_resource *allocatable)
{
	if (allocatable->allowed_pod_number < 1 || request->cpu_milli > allocatable->cpu_milli ||
		request->memory_bytes > allocatable->memory_bytes ||
		request->ephemeral_storage_bytes > allocatable->ephemeral_storage_bytes) {
		return false;
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		const struct bt_scalar_resource *scalar = &request->scalars[i];
		int64_t available = scalar_of(allocatable, scalar->name);

		if (scalar->value > available &&
			!bt_fit_is_delegated(handle, scalar->name, available)) {
			return false;
		}
	}
	return true;
}

/* The node has more of something that the pod asks for. */
static bool grew(const struct bt_handle *handle, const struct bt_resource *request,
	const struct bt_resource *old_allocatable, const struct bt_resource *new_allocatable)
{
	if (new_allocatable->allowed_pod_number > old_allocatable->allowed_pod_number ||
		(request->cpu_milli > 0 &&
			new_allocatable->cpu_milli > old_allocatable->cpu_milli) ||
		(request->memory_bytes > 0 &&
			new_allocatable->memory_bytes > old_allocatable->memory_bytes) ||
		(request->ephemeral_storage_bytes > 0 &&
			new_allocatable->ephemeral_storage_bytes >
				old_allocatable->ephemeral_storage_bytes)) {
		return true;
	}
	for (uint32_t i = 0; i < request->scalar_count; i++) {
		struct bt_str name = request->scalars[i].name;
		int64_t available = scalar_of(new_allocatable, name);

		if (request->scalars[i].value != 0 &&
			(available > scalar_of(old_allocatable, name) ||
				bt_fit_is_delegated(handle, name, available))) {
			return true;
		}
	}
	return false;
}

static struct bt_resource allocatable_of(const struct bt_node *node, struct bt_arena *arena)
{
	struct bt_resource resource = {0};

	bt_resource_add(&resource, &node->status.allocatable, arena);
	return resource;
}

enum bt_queueing_hint bt_fit_hint_after_node_change(const struct bt_handle *handle,
	const struct bt_resource_gates *gates, const struct bt_pod_info *pod,
	const struct bt_node *old_node, const struct bt_node *new_node)
{
	struct bt_arena arena = {0};
	struct bt_resource request = bt_pod_fit_request(pod->shape->pod, gates, &arena);
	struct bt_resource allocatable = allocatable_of(new_node, &arena);
	bool helps = fits_empty_node(handle, &request, &allocatable);

	if (helps && old_node != NULL) {
		struct bt_resource old_allocatable = allocatable_of(old_node, &arena);

		helps = grew(handle, &request, &old_allocatable, &allocatable);
	}
	bt_arena_finish(&arena);
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

void bt_fit_hint_needs(const struct bt_resource_gates *gates, const struct bt_shape *shape,
	int64_t out_needs[BT_HINT_NEEDS])
{
	struct bt_arena arena = {0};
	struct bt_resource request = bt_pod_fit_request(shape->pod, gates, &arena);

	out_needs[0] = request.cpu_milli;
	out_needs[1] = request.memory_bytes;
	bt_arena_finish(&arena);
}

void bt_fit_hint_limits(const struct bt_node *node, int64_t out_limits[BT_HINT_NEEDS])
{
	struct bt_arena arena = {0};
	struct bt_resource allocatable = allocatable_of(node, &arena);

	out_limits[0] = allocatable.cpu_milli;
	out_limits[1] = allocatable.memory_bytes;
	bt_arena_finish(&arena);
}

/** The pod names this resource in its requests, be it with 0. Without status resources. */
static bool names_resource(const struct bt_resource_gates *gates, const struct bt_pod_info *pod,
	struct bt_str resource)
{
	struct bt_arena arena = {0};
	struct bt_request_options options = {.no_pod_level = !gates->pod_level_resources};
	struct bt_resource_list list = bt_pod_requests(pod->shape->pod, &options, &arena);
	bool named = bt_resource_list_find(&list, resource) != NULL;

	bt_arena_finish(&arena);
	return named;
}

enum bt_queueing_hint bt_fit_hint_after_class_change(const struct bt_resource_gates *gates,
	const struct bt_pod_info *pod, const struct bt_device_class *old_class,
	const struct bt_device_class *new_class)
{
	struct bt_str resource = new_class->spec.extended_resource_name;
	struct bt_strbuf implicit = {0};
	bool helps = false;

	if (old_class != NULL && bt_str_equal(old_class->spec.extended_resource_name, resource)) {
		return BT_HINT_SKIP;
	}
	if (old_class == NULL) {
		bt_strbuf_append_c(&implicit, BT_DEVICE_CLASS_RESOURCE_PREFIX);
		bt_strbuf_append_str(&implicit, new_class->metadata.name);
		helps = names_resource(gates, pod, bt_strbuf_str(&implicit));
		bt_strbuf_finish(&implicit);
	}
	if (!helps && resource.data != NULL) {
		helps = names_resource(gates, pod, resource);
	}
	return helps ? BT_HINT_QUEUE : BT_HINT_SKIP;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "berth/node_info.h"
#include "berth/pod_info.h"

#include "base/assert.h"
#include "lib/aggregate.h"
#include "lib/convert.h"
#include "state/node_table.h"
#include "state/shape.h"

/*
 * Functions that read a node, which is a view, an aggregate or NULL. aggregate.c has the functions
 * that change a node.
 */

struct berth_str berth_node_info_name(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (node == NULL || (alone != NULL && alone->node == NULL)) {
		return BT_STR("");
	}
	return alone != NULL ? bt_aggregate_node(alone)->metadata.name
			     : bt_node_info_name(bt_const_node_info_of(node));
}

struct berth_str berth_node_info_label(const struct berth_node_info *node, struct berth_str key)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_str_map none = {0};
	const struct bt_str_map *labels = &none;

	if (alone != NULL && alone->node != NULL) {
		labels = &bt_aggregate_node(alone)->metadata.labels;
	} else if (alone == NULL && node != NULL) {
		labels = bt_node_info_labels(bt_const_node_info_of(node));
	}
	return bt_lib_map_value(labels, key);
}

bool berth_node_info_unschedulable(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (alone != NULL) {
		return alone->node != NULL && bt_aggregate_node(alone)->spec.unschedulable;
	}
	return node != NULL && bt_node_info_unschedulable(bt_const_node_info_of(node));
}

const struct berth_node *berth_node_info_node(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	return alone != NULL ? berth_const_node_of(bt_aggregate_node(alone)) : NULL;
}

int berth_node_info_taints(const struct berth_node_info *node, struct berth_arena *arena,
	const struct berth_taint **out_taints, uint32_t *out_count, struct berth_error *err)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const bt_taint_list *taints = NULL;
	struct berth_taint *list = NULL;

	(void)err; /* the public signature has err, but reading this field cannot fail */
	if (alone != NULL) {
		taints = alone->node != NULL ? &bt_aggregate_node(alone)->spec.taints : NULL;
	} else if (node != NULL) {
		taints = bt_node_info_taints(bt_const_node_info_of(node));
	}
	uint32_t count = taints != NULL ? taints->count : 0;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct berth_taint, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		list[i].key = taints->items[i].key;
		list[i].value = taints->items[i].value;
		list[i].effect = taints->items[i].effect;
	}
	*out_taints = list;
	*out_count = count;
	return BERTH_OK;
}

const char *berth_condition_status_string(enum berth_condition_status status)
{
	switch (status) {
	case BERTH_CONDITION_STATUS_NONE:
		break;
	case BERTH_CONDITION_STATUS_TRUE:
		return "True";
	case BERTH_CONDITION_STATUS_FALSE:
		return "False";
	case BERTH_CONDITION_STATUS_UNKNOWN:
		return "Unknown";
	}
	return "";
}

/**
 * Returns the status of a condition of a view; `type` is the letter of the condition, such as
 * BT_CONDITION_READY. If the node lists the condition more than once, the last entry counts. node
 * NULL: returns Unknown.
 */
static enum berth_condition_status digest_status(const struct berth_node_info *node, char type)
{
	enum berth_condition_status status = BERTH_CONDITION_STATUS_NONE;
	struct bt_str digest;

	if (node == NULL) {
		return BERTH_CONDITION_STATUS_UNKNOWN;
	}
	digest = bt_node_info_conditions(bt_const_node_info_of(node));
	for (uint32_t i = 0; i + 1 < digest.length; i += 2) {
		if (digest.data[i] != type) {
			continue;
		}
		if (digest.data[i + 1] == BT_CONDITION_TRUE) {
			status = BERTH_CONDITION_STATUS_TRUE;
		} else if (digest.data[i + 1] == BT_CONDITION_FALSE) {
			status = BERTH_CONDITION_STATUS_FALSE;
		} else {
			status = BERTH_CONDITION_STATUS_UNKNOWN;
		}
	}
	return status;
}

#define NODE_PRESSURE(function, field, type) \
	enum berth_condition_status function(const struct berth_node_info *node) \
	{ \
		const struct bt_aggregate *alone = bt_standalone_of(node); \
		return alone != NULL ? alone->pressures.field : digest_status(node, type); \
	}

NODE_PRESSURE(berth_node_info_memory_pressure_condition, memory, BT_CONDITION_MEMORY_PRESSURE)
NODE_PRESSURE(berth_node_info_disk_pressure_condition, disk, BT_CONDITION_DISK_PRESSURE)
NODE_PRESSURE(berth_node_info_pid_pressure_condition, pid, BT_CONDITION_PID_PRESSURE)

/**
 * Sets *out_resource to the given amounts and to the scalar resources of a view. scalar returns the
 * amount of a scalar resource; resources whose amount is 0 are omitted. If scalar is NULL,
 * *out_resource gets no scalar resources.
 */
static void fill_from_view(const struct bt_node_info *view, int64_t cpu, int64_t memory,
	int64_t ephemeral, int64_t (*scalar)(const struct bt_node_info *info, uint32_t resource),
	struct berth_resource *out_resource)
{
	const struct bt_node_table *nodes = &view->state->nodes;

	*out_resource = (struct berth_resource){
		.cpu_milli = cpu, .memory_bytes = memory, .ephemeral_storage_bytes = ephemeral};
	for (uint32_t i = 0; scalar != NULL && i < nodes->scalars.count; i++) {
		int64_t value = scalar(view, i);
		if (value != 0) {
			berth_resource_set_scalar(out_resource,
				bt_symbol_text(nodes->symbols, nodes->scalars.items[i].name),
				value);
		}
	}
}

void berth_node_info_requested_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->requested, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->requested[BT_CPU_MILLI],
			view->requested[BT_MEMORY_BYTES], view->requested[BT_EPHEMERAL_BYTES],
			bt_node_info_scalar_requested, out_resource);
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

void berth_node_info_non_zero_request(
	const struct berth_node_info *node, struct berth_resource *out_resource)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->non_zero, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->non_zero[BT_CPU_MILLI], view->non_zero[BT_MEMORY_BYTES],
			0, NULL, out_resource);
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

void berth_node_info_allocatable_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->allocatable, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->allocatable[BT_CPU_MILLI],
			view->allocatable[BT_MEMORY_BYTES], view->allocatable[BT_EPHEMERAL_BYTES],
			bt_node_info_scalar_allocatable, out_resource);
		out_resource->allowed_pod_number = view->allocatable_pods;
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

/*
 * Defines a function that returns an amount of a node, which is an aggregate or a view. The
 * function returns 0 if the node is NULL.
 */
#define NODE_AMOUNT(function, alone_field, view_field) \
	int64_t function(const struct berth_node_info *node) \
	{ \
		const struct bt_aggregate *alone = bt_standalone_of(node); \
		if (alone != NULL) { \
			return alone->alone_field; \
		} \
		return node != NULL ? bt_const_node_info_of(node)->view_field : 0; \
	}

NODE_AMOUNT(berth_node_info_allowed_pod_number, allocatable.allowed_pod_number, allocatable_pods)
NODE_AMOUNT(berth_node_info_allocatable_cpu_milli, allocatable.cpu_milli, allocatable[BT_CPU_MILLI])
NODE_AMOUNT(berth_node_info_allocatable_memory_bytes, allocatable.memory_bytes,
	allocatable[BT_MEMORY_BYTES])
NODE_AMOUNT(berth_node_info_requested_cpu_milli, requested.cpu_milli, requested[BT_CPU_MILLI])
NODE_AMOUNT(
	berth_node_info_requested_memory_bytes, requested.memory_bytes, requested[BT_MEMORY_BYTES])

int64_t berth_node_info_generation(const struct berth_node_info *node)
{
	const struct bt_aggregate *aggregate = bt_aggregate_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (aggregate != NULL) {
		return aggregate->generation;
	}
	return node != NULL ? view->state->nodes.rows[view->slot].generation : 0;
}

static void append_resource(struct bt_strbuf *out, const char *name,
	void (*get)(const struct berth_node_info *node, struct berth_resource *out_resource),
	const struct berth_node_info *node)
{
	struct berth_resource resource;

	get(node, &resource);
	bt_strbuf_printf(out,
		"%s{MilliCPU:%" PRId64 " Memory:%" PRId64 " EphemeralStorage:%" PRId64
		" AllowedPodNumber:%" PRId64 " ScalarResources:map[",
		name, resource.cpu_milli, resource.memory_bytes, resource.ephemeral_storage_bytes,
		resource.allowed_pod_number);
	for (uint32_t i = 0; i < resource.scalar_count; i++) {
		bt_strbuf_printf(out, "%s%.*s:%" PRId64, i == 0 ? "" : " ",
			BT_STR_ARG(resource.scalars[i].name), resource.scalars[i].value);
	}
	bt_strbuf_append_c(out, "]}");
	berth_resource_finish(&resource);
}

struct berth_str berth_node_info_string(
	const struct berth_node_info *node, struct berth_arena *arena)
{
	struct bt_strbuf text = {0};
	uint32_t count;
	const struct berth_pod_info *const *pods;
	const struct berth_host_port *ports;

	if (node == NULL) {
		return BT_STR("<nil>");
	}
	bt_strbuf_append_c(&text, "&NodeInfo{Pods:[");
	pods = berth_node_info_pods(node, arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i == 0 ? "" : " ");
		bt_strbuf_append_str(&text, berth_pod_info_name(pods[i]));
	}
	append_resource(&text, "], RequestedResource:", berth_node_info_requested_resource, node);
	append_resource(&text, ", NonZeroRequest: ", berth_node_info_non_zero_request, node);
	bt_strbuf_append_c(&text, ", UsedPort: [");
	ports = berth_node_info_used_ports(node, arena, &count);
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&text, "%s%.*s/%.*s:%ld", i == 0 ? "" : " ",
			BT_STR_ARG(ports[i].protocol), BT_STR_ARG(ports[i].ip),
			(long)ports[i].port);
	}
	append_resource(
		&text, "], AllocatableResource:", berth_node_info_allocatable_resource, node);
	bt_strbuf_append_char(&text, '}');
	return bt_arena_take_strbuf(bt_arena_of(arena), &text);
}

uint32_t berth_node_info_pod_count(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (alone != NULL) {
		return alone->pods.count;
	}
	return node != NULL ? bt_node_info_pod_count(bt_const_node_info_of(node)) : 0;
}

/** Copies the pod info at this index of the node, which must not be NULL. */
static void get_pod(
	const struct berth_node_info *node, uint32_t index, struct bt_pod_info *out_info)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);

	if (alone != NULL) {
		BT_ASSERT(index < alone->pods.count);
		*out_info = alone->pods.items[index]->info;
	} else {
		bt_node_info_pod_at(bt_const_node_info_of(node), index, out_info);
	}
}

const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena)
{
	struct bt_pod_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_pod_info);

	get_pod(node, index, info);
	return berth_const_pod_info_of(info);
}

const struct berth_pod_info *const *berth_node_info_pods(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	uint32_t count = berth_node_info_pod_count(node);
	const struct berth_pod_info **list = NULL;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod_info *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		list[i] = berth_node_info_pod_at(node, i, arena);
	}
	*out_count = count;
	return list;
}

const struct berth_pod_info *const *berth_node_info_pods_with_affinity(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct berth_pod_info **list = NULL;
	uint32_t count =
		alone != NULL ? alone->pods_with_affinity.count : berth_node_info_pod_count(node);
	uint32_t kept = 0;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod_info *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info *info = BT_ARENA_NEW(bt_arena_of(arena), struct bt_pod_info);

		if (alone != NULL) {
			*info = alone->pods_with_affinity.items[i]->info;
		} else {
			bt_node_info_pod_at(bt_const_node_info_of(node), i, info);
		}
		if (info->shape->has_affinity) {
			list[kept++] = berth_const_pod_info_of(info);
		}
	}
	*out_count = kept;
	return kept != 0 ? list : NULL;
}

bool berth_node_info_filter(const void *node_info, const struct berth_pod *pod)
{
	const struct berth_node_info *node = node_info;
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_pod *inside = bt_const_pod_of(pod);

	if (node == NULL || (alone != NULL && alone->node == NULL) ||
		!bt_str_equal(inside->spec.node_name, berth_node_info_name(node))) {
		return true;
	}
	uint32_t count = berth_node_info_pod_count(node);

	for (uint32_t i = 0; i < count; i++) {
		struct bt_pod_info info;

		get_pod(node, i, &info);
		if (bt_str_equal(info.name, inside->metadata.name) &&
			bt_str_equal(info.namespace_, inside->metadata.namespace_)) {
			return true;
		}
	}
	return false;
}

const struct berth_pod *const *berth_node_info_filter_out_pods(const struct berth_node_info *node,
	const struct berth_pod *const *pods, uint32_t count, struct berth_arena *arena,
	uint32_t *out_count)
{
	const struct berth_pod **list = NULL;
	uint32_t kept = 0;

	if (count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), const struct berth_pod *, count);
	}
	for (uint32_t i = 0; i < count; i++) {
		if (berth_node_info_filter(node, pods[i])) {
			list[kept++] = pods[i];
		}
	}
	*out_count = kept;
	return list;
}

uint32_t berth_node_info_pvc_ref_count(
	const struct berth_node_info *node, struct berth_str claim_key)
{
	uint32_t pods = berth_node_info_pod_count(node);
	uint32_t count = 0;

	for (uint32_t i = 0; i < pods; i++) {
		struct bt_pod_info info;
		struct bt_str claim = claim_key;

		get_pod(node, i, &info);
		/* Compare the namespace part of the key "namespace/name", then the name part. */
		if (claim_key.length <= info.namespace_.length ||
			claim_key.data[info.namespace_.length] != '/') {
			continue;
		}
		claim.length = info.namespace_.length;
		if (!bt_str_equal(claim, info.namespace_)) {
			continue;
		}
		claim.data += claim.length + 1;
		claim.length = claim_key.length - claim.length - 1;
		for (uint32_t k = 0; k < info.shape->claim_names.count; k++) {
			count += bt_str_equal(info.shape->claim_names.items[k], claim);
		}
	}
	return count;
}

const struct berth_host_port *berth_node_info_used_ports(
	const struct berth_node_info *node, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	struct berth_host_port_info collected = {0};
	const struct berth_host_port_info *ports = &collected;
	struct berth_host_port *list = NULL;

	if (alone != NULL) {
		ports = &alone->ports;
	} else if (node != NULL) {
		/*
		 * Collect the ports of a view in the form in which aggregates store ports. A
		 * changed view (ports_changed) has the complete list of ports in view->ports.
		 */
		const struct bt_node_info *view = bt_const_node_info_of(node);
		const struct bt_node_row *row = &view->state->nodes.rows[view->slot];
		const struct bt_symbol_table *symbols = &view->state->symbols;

		for (uint32_t i = 0; i < view->ports.count && view->ports_changed; i++) {
			berth_host_port_info_add(&collected, view->ports.items[i].ip,
				view->ports.items[i].protocol, view->ports.items[i].port);
		}
		for (uint32_t i = 0; i < row->ports.count && !view->ports_changed; i++) {
			berth_host_port_info_add(&collected,
				bt_symbol_text(symbols, row->ports.items[i].ip),
				bt_symbol_text(symbols, row->ports.items[i].protocol),
				row->ports.items[i].port);
		}
	}
	if (ports->count != 0) {
		list = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct berth_host_port, ports->count);
	}
	for (uint32_t i = 0; i < ports->count; i++) {
		list[i].ip = berth_arena_str(arena, ports->ports[i].ip);
		list[i].protocol = berth_arena_str(arena, ports->ports[i].protocol);
		list[i].port = ports->ports[i].port;
	}
	*out_count = ports->count;
	berth_host_port_info_finish(&collected);
	return list;
}

bool berth_node_info_is_port_used(const struct berth_node_info *node, int32_t port)
{
	struct bt_arena arena = {0};
	uint32_t count;
	const struct berth_host_port *ports =
		berth_node_info_used_ports(node, berth_arena_of(&arena), &count);
	bool used = false;

	for (uint32_t i = 0; i < count && !used; i++) {
		used = ports[i].port == port;
	}
	bt_arena_finish(&arena);
	return used;
}

bool berth_node_info_image_state(const struct berth_node_info *node, struct berth_str image_name,
	struct berth_image_state *out_state)
{
	const struct bt_aggregate *alone = bt_standalone_of(node);
	const struct bt_aggregate_image *image;

	if (alone == NULL) {
		return node != NULL &&
			bt_node_info_find_image(bt_const_node_info_of(node), image_name,
				&out_state->size_bytes, &out_state->node_count);
	}
	if (alone->images.count == 0) {
		return false;
	}
	image = bsearch(&image_name, alone->images.items, alone->images.count, sizeof(*image),
		bt_str_compare_qsort);
	if (image != NULL) {
		*out_state = image->state;
	}
	return image != NULL;
}

BT_LIB_GETTER(struct berth_str, berth_pod_info_name, pod_info, name)
BT_LIB_GETTER(struct berth_str, berth_pod_info_namespace, pod_info, namespace_)
BT_LIB_GETTER(berth_uid, berth_pod_info_uid, pod_info, uid)

struct berth_str berth_pod_info_label(const struct berth_pod_info *pod, struct berth_str key)
{
	return bt_lib_map_value(bt_const_pod_info_of(pod)->labels, key);
}

BT_LIB_GETTER(uint32_t, berth_pod_info_label_count, pod_info, labels->count)

void berth_pod_info_label_at(const struct berth_pod_info *pod, uint32_t index,
	struct berth_str *out_key, struct berth_str *out_value)
{
	const struct bt_str_map *labels = bt_const_pod_info_of(pod)->labels;

	BT_ASSERT(index < labels->count);
	if (out_key != NULL) {
		*out_key = labels->items[index].key;
	}
	if (out_value != NULL) {
		*out_value = labels->items[index].value;
	}
}

BT_LIB_GETTER(int32_t, berth_pod_info_priority, pod_info, priority)
BT_LIB_GETTER(struct berth_str, berth_pod_info_node_name, pod_info, node_name)
BT_LIB_GETTER(struct berth_str, berth_pod_info_nominated_node_name, pod_info, nominated_node_name)
struct berth_str berth_pod_info_scheduler_name(const struct berth_pod_info *pod)
{
	return bt_shape_pod(bt_const_pod_info_of(pod)->shape)->spec.scheduler_name;
}

BT_LIB_GETTER(int64_t, berth_pod_info_cpu_milli, pod_info, shape->requested[BT_CPU_MILLI])
BT_LIB_GETTER(int64_t, berth_pod_info_memory_bytes, pod_info, shape->requested[BT_MEMORY_BYTES])
BT_LIB_GETTER(int64_t, berth_pod_info_ephemeral_storage_bytes, pod_info,
	shape->requested[BT_EPHEMERAL_BYTES])

const struct berth_pod *berth_pod_info_pod(const struct berth_pod_info *pod)
{
	return berth_const_pod_of(bt_const_pod_info_of(pod)->object);
}

struct berth_queued_pod *berth_queued_pod_deep_copy(
	const struct berth_queued_pod *pod, struct berth_arena *outside)
{
	struct bt_arena *arena = bt_arena_of(outside);
	const struct bt_pod_info *original = bt_const_pod_info_of(pod->pod);
	struct berth_queued_pod *copy = BT_ARENA_NEW(arena, struct berth_queued_pod);

	*copy = *pod;
	if (original != NULL) {
		struct bt_pod_info *info = BT_ARENA_NEW(arena, struct bt_pod_info);
		struct bt_str_map *labels = BT_ARENA_NEW(arena, struct bt_str_map);
		struct bt_str_pair *pairs =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str_pair, original->labels->count);

		*labels = *original->labels;
		labels->items = pairs;
		for (uint32_t i = 0; i < labels->count; i++) {
			pairs[i].key = bt_arena_str(arena, original->labels->items[i].key);
			pairs[i].value = bt_arena_str(arena, original->labels->items[i].value);
		}
		/* Only the fields of the shape that the accessors of berth/pod_info.h read. */
		struct bt_shape *shape = BT_ARENA_NEW(arena, struct bt_shape);
		struct bt_pod *shape_pod = BT_ARENA_NEW(arena, struct bt_pod);

		shape_pod->spec.scheduler_name =
			bt_arena_str(arena, bt_shape_pod(original->shape)->spec.scheduler_name);
		shape->pod = shape_pod;
		memcpy(shape->requested, original->shape->requested, sizeof(shape->requested));
		*info = (struct bt_pod_info){
			.name = bt_arena_str(arena, original->name),
			.namespace_ = bt_arena_str(arena, original->namespace_),
			.uid = bt_arena_str(arena, original->uid),
			.labels = labels,
			.shape = shape,
			.label_set = BT_LABEL_SET_NONE,
			.priority = original->priority,
			.start_seconds = original->start_seconds,
			.node_name = bt_arena_str(arena, original->node_name),
			.nominated_node_name = bt_arena_str(arena, original->nominated_node_name),
			.pod_id = BT_POD_NONE,
		};
		copy->pod = berth_const_pod_info_of(info);
	}
	return copy;
}

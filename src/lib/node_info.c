/* SPDX-License-Identifier: Apache-2.0 */
/* What both kinds of node infos tell about themselves; node_info_pods.c: about their pods, ports
 * and images; aggregate.c has what changes one. */
#include "berth/node_info.h"

#include <stddef.h>

#include "lib/aggregate.h"
#include "lib/convert.h"
#include "lib/resource.h"
#include "state/node_table.h"

/* --- the node object --- */

struct berth_str berth_node_info_name(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (node == NULL || (alone != NULL && alone->node == NULL)) {
		return BT_STR("");
	}
	return alone != NULL ? bt_aggregate_node(alone)->metadata.name
			     : bt_node_info_name(bt_const_node_info_of(node));
}

struct berth_str berth_node_info_label(const struct berth_node_info *node, struct berth_str key)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_str *value = NULL;

	if (alone != NULL) {
		if (alone->node != NULL) {
			value = bt_str_map_find(&bt_aggregate_node(alone)->metadata.labels, key);
		}
	} else if (node != NULL) {
		value = bt_str_map_find(bt_node_info_labels(bt_const_node_info_of(node)), key);
	}
	return value != NULL ? *value : (struct bt_str){NULL, 0};
}

bool berth_node_info_unschedulable(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->node != NULL && bt_aggregate_node(alone)->spec.unschedulable;
	}
	return node != NULL && bt_node_info_unschedulable(bt_const_node_info_of(node));
}

const struct berth_node *berth_node_info_node(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	return alone != NULL ? berth_const_node_of(bt_aggregate_node(alone)) : NULL;
}

static const bt_taint_list *taints_of(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone == NULL) {
		return node != NULL ? bt_node_info_taints(bt_const_node_info_of(node)) : NULL;
	}
	return alone->node != NULL ? &bt_aggregate_node(alone)->spec.taints : NULL;
}

int berth_node_info_taints(const struct berth_node_info *node, struct berth_arena *arena,
	const struct berth_taint **out_taints, uint32_t *out_count, struct berth_error *err)
{
	const bt_taint_list *taints = taints_of(node);
	struct berth_taint *list = NULL;
	uint32_t count = taints != NULL ? taints->count : 0;

	(void)err; /* taints are a field: reading them cannot fail */
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

/* --- conditions --- */

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

/** The last condition of a type in a view's digest. */
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

enum berth_condition_status berth_node_info_memory_pressure_condition(
	const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	return alone != NULL ? alone->pressures.memory
			     : digest_status(node, BT_CONDITION_MEMORY_PRESSURE);
}

enum berth_condition_status berth_node_info_disk_pressure_condition(
	const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	return alone != NULL ? alone->pressures.disk
			     : digest_status(node, BT_CONDITION_DISK_PRESSURE);
}

enum berth_condition_status berth_node_info_pid_pressure_condition(
	const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	return alone != NULL ? alone->pressures.pid
			     : digest_status(node, BT_CONDITION_PID_PRESSURE);
}

/* --- sums --- */

/** The three numbers of a view, then its scalars. */
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
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->requested, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->requested_cpu_milli, view->requested_memory_bytes,
			view->requested_ephemeral_bytes, bt_node_info_scalar_requested,
			out_resource);
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

void berth_node_info_non_zero_request(
	const struct berth_node_info *node, struct berth_resource *out_resource)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->non_zero, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->non_zero_cpu_milli, view->non_zero_memory_bytes, 0, NULL,
			out_resource);
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

void berth_node_info_allocatable_resource(
	const struct berth_node_info *node, struct berth_resource *out_resource)
{
	const struct bt_aggregate *alone = bt_alone_of(node);
	const struct bt_node_info *view = bt_const_node_info_of(node);

	if (alone != NULL) {
		berth_resource_clone(&alone->allocatable, out_resource);
	} else if (node != NULL) {
		fill_from_view(view, view->allocatable_cpu_milli, view->allocatable_memory_bytes,
			view->allocatable_ephemeral_bytes, bt_node_info_scalar_allocatable,
			out_resource);
		out_resource->allowed_pod_number = view->allocatable_pods;
	} else {
		*out_resource = (struct berth_resource){0};
	}
}

int64_t berth_node_info_allowed_pod_number(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->allocatable.allowed_pod_number;
	}
	return node != NULL ? bt_const_node_info_of(node)->allocatable_pods : 0;
}

int64_t berth_node_info_allocatable_cpu_milli(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->allocatable.cpu_milli;
	}
	return node != NULL ? bt_const_node_info_of(node)->allocatable_cpu_milli : 0;
}

int64_t berth_node_info_allocatable_memory_bytes(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->allocatable.memory_bytes;
	}
	return node != NULL ? bt_const_node_info_of(node)->allocatable_memory_bytes : 0;
}

int64_t berth_node_info_requested_cpu_milli(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->requested.cpu_milli;
	}
	return node != NULL ? bt_const_node_info_of(node)->requested_cpu_milli : 0;
}

int64_t berth_node_info_requested_memory_bytes(const struct berth_node_info *node)
{
	const struct bt_aggregate *alone = bt_alone_of(node);

	if (alone != NULL) {
		return alone->requested.memory_bytes;
	}
	return node != NULL ? bt_const_node_info_of(node)->requested_memory_bytes : 0;
}

/* --- the rest --- */

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
	bt_strbuf_append_c(out, name);
	bt_lib_resource_append(&resource, out);
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

	struct berth_str result = berth_arena_str(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return result;
}

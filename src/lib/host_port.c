/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/node_info.h"

#include "api/resources.h"
#include "base/vec.h"

/** By port, protocol, ip: what a wildcard meets lies together. */
static int compare(const struct berth_host_port *a, const struct berth_host_port *b)
{
	int order = (a->port > b->port) - (a->port < b->port);

	if (order == 0) {
		order = bt_str_compare(a->protocol, b->protocol);
	}
	return order != 0 ? order : bt_str_compare(a->ip, b->ip);
}

static struct berth_host_port normalized(
	struct berth_str ip, struct berth_str protocol, int32_t port)
{
	return (struct berth_host_port){
		.ip = ip.length != 0 ? ip : BT_STR("0.0.0.0"),
		.protocol = protocol.length != 0 ? protocol : BT_STR("TCP"),
		.port = port,
	};
}

static uint32_t lower_bound(
	const struct berth_host_port_info *info, const struct berth_host_port *wanted)
{
	uint32_t low = 0;
	uint32_t high = info->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (compare(&info->ports[middle], wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static struct bt_str own_text(struct bt_str text)
{
	return (struct bt_str){bt_strndup(text.data, text.length), text.length};
}

static struct berth_host_port own_port(const struct berth_host_port *port)
{
	return (struct berth_host_port){own_text(port->ip), own_text(port->protocol), port->port};
}

static void free_port(struct berth_host_port *port)
{
	bt_free((void *)(uintptr_t)port->ip.data);
	bt_free((void *)(uintptr_t)port->protocol.data);
}

void berth_host_port_info_add(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	uint32_t at = lower_bound(info, &wanted);

	if (port <= 0 || (at < info->count && compare(&info->ports[at], &wanted) == 0)) {
		return;
	}
	if (info->count == info->capacity) {
		info->capacity = bt_vec_grown_capacity(info->capacity, (uint64_t)info->count + 1);
		info->ports = bt_realloc_array(info->ports, info->capacity, sizeof(*info->ports));
	}
	memmove(&info->ports[at + 1], &info->ports[at], (info->count - at) * sizeof(*info->ports));
	info->ports[at] = own_port(&wanted);
	info->count++;
}

void berth_host_port_info_remove(struct berth_host_port_info *info, struct berth_str ip,
	struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	uint32_t at = lower_bound(info, &wanted);

	if (at == info->count || compare(&info->ports[at], &wanted) != 0) {
		return;
	}
	free_port(&info->ports[at]);
	info->count--;
	memmove(&info->ports[at], &info->ports[at + 1], (info->count - at) * sizeof(*info->ports));
}

bool berth_host_port_info_check_conflict(const struct berth_host_port_info *info,
	struct berth_str ip, struct berth_str protocol, int32_t port)
{
	struct berth_host_port wanted = normalized(ip, protocol, port);
	struct berth_host_port first = {.protocol = wanted.protocol, .port = port};
	struct bt_host_port inside = {wanted.ip, wanted.protocol, port};

	if (port <= 0) {
		return false;
	}
	for (uint32_t i = lower_bound(info, &first); i < info->count; i++) {
		struct bt_host_port used = {
			info->ports[i].ip, info->ports[i].protocol, info->ports[i].port};

		if (used.port != port || !bt_str_equal(used.protocol, wanted.protocol)) {
			break;
		}
		if (bt_host_port_conflicts(&inside, &used)) {
			return true;
		}
	}
	return false;
}

void berth_host_port_info_clone(
	const struct berth_host_port_info *info, struct berth_host_port_info *out_copy)
{
	*out_copy = (struct berth_host_port_info){.count = info->count, .capacity = info->count};
	if (info->count != 0) {
		out_copy->ports = BT_NEW_ARRAY(struct berth_host_port, info->count);
	}
	for (uint32_t i = 0; i < info->count; i++) {
		out_copy->ports[i] = own_port(&info->ports[i]);
	}
}

void berth_host_port_info_finish(struct berth_host_port_info *info)
{
	if (info == NULL) {
		return;
	}
	for (uint32_t i = 0; i < info->count; i++) {
		free_port(&info->ports[i]);
	}
	bt_free(info->ports);
	*info = (struct berth_host_port_info){0};
}

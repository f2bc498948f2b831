/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"

/*
 * Resources that a pod adds to its node, and the request that NodeResourcesFit checks: spec 01b
 * sections 4 and 6, spec 05 section 3.3.
 */

static struct bt_resource_entry default_entries[] = {
	{BT_STR_INIT("cpu"), {.mantissa = BT_DEFAULT_CPU_MILLI, .exponent = -3}},
	{BT_STR_INIT("memory"),
		{.mantissa = BT_DEFAULT_MEMORY_BYTES, .format = BT_QUANTITY_BINARY_SI}},
};

const struct bt_resource_list *bt_default_requests(void)
{
	static const struct bt_resource_list defaults = {default_entries, 2, true};

	return &defaults;
}

static const struct bt_resource_list default_cpu = {&default_entries[0], 1, true};
static const struct bt_resource_list default_memory = {&default_entries[1], 1, true};

static bool has_both(const bt_container_list *containers)
{
	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_resource_list *requests = &containers->items[i].resources.requests;

		if (bt_resource_list_find(requests, BT_STR("cpu")) == NULL ||
			bt_resource_list_find(requests, BT_STR("memory")) == NULL) {
			return false;
		}
	}
	return true;
}

/**
 * Returns the default requests for containers that lack cpu or memory. NULL: no container needs a
 * default. pod_level: the pod has pod-level requests; a default for cpu or memory is then returned
 * only if `requests` lacks that resource. Otherwise there are no defaults if every container
 * requests cpu and memory and no resize is pending. If a pending resize is infeasible, the requests
 * of the spec do not count, so containers may lack requests.
 */
static const struct bt_resource_list *missing_of(
	const struct bt_pod *pod, bool pod_level, const struct bt_resource_list *requests)
{
	if (pod_level) {
		bool cpu = bt_resource_list_find(requests, BT_STR("cpu")) != NULL;
		bool memory = bt_resource_list_find(requests, BT_STR("memory")) != NULL;

		if (cpu) {
			return memory ? NULL : &default_memory;
		}
		return memory ? &default_cpu : bt_default_requests();
	}
	if (has_both(&pod->spec.containers) && has_both(&pod->spec.init_containers) &&
		bt_pod_find_condition(pod, BT_STR("PodResizePending")) == NULL) {
		return NULL;
	}
	return bt_default_requests();
}

struct bt_pod_resources bt_pod_resources_compute(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena)
{
	struct bt_request_options options = {
		.use_status = true,
		.use_pod_status = gates->in_place_pod_level_resources,
		.no_pod_level = !gates->pod_level_resources,
		.dra_status = gates->dra_node_allocatable_resources,
	};
	struct bt_pod_resources result = {.non_zero[BT_CPU_MILLI] = 0};
	struct bt_resource_list requests = bt_pod_requests(pod, &options, arena);
	const struct bt_quantity *cpu;
	const struct bt_quantity *memory;

	bt_resource_add(&result.requested, &requests, arena);
	options.missing = missing_of(
		pod, gates->pod_level_resources && bt_pod_has_pod_level_requests(pod), &requests);
	if (options.missing != NULL) {
		requests = bt_pod_requests(pod, &options, arena);
	}
	cpu = bt_resource_list_find(&requests, BT_STR("cpu"));
	memory = bt_resource_list_find(&requests, BT_STR("memory"));
	result.non_zero[BT_CPU_MILLI] = cpu != NULL ? bt_quantity_milli(cpu) : 0;
	result.non_zero[BT_MEMORY_BYTES] = memory != NULL ? bt_quantity_value(memory) : 0;
	return result;
}

struct bt_resource bt_pod_fit_request(
	const struct bt_pod *pod, const struct bt_resource_gates *gates, struct bt_arena *arena)
{
	struct bt_request_options options = {.no_pod_level = !gates->pod_level_resources};
	struct bt_resource_list requests = bt_pod_requests(pod, &options, arena);
	struct bt_resource result = {.cpu_milli = 0};

	bt_resource_set_max(&result, &requests, arena);
	return result;
}

/* Host ports, spec 01b section 7. */

bool bt_container_is_sidecar(const struct bt_container *init_container)
{
	return bt_str_equal(init_container->restart_policy, BT_STR("Always"));
}

static bool is_wildcard(struct bt_str ip)
{
	return bt_str_equal(ip, BT_STR("0.0.0.0"));
}

/** Returns the number of host ports; also stores them unless out is NULL. */
static uint32_t collect(
	const bt_container_list *containers, bool sidecars_only, struct bt_host_port *out)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < containers->count; i++) {
		const struct bt_container *container = &containers->items[i];

		if (sidecars_only && !bt_container_is_sidecar(container)) {
			continue;
		}
		for (uint32_t j = 0; j < container->ports.count; j++) {
			const struct bt_container_port *port = &container->ports.items[j];

			if (port->host_port <= 0) {
				continue;
			}
			if (out != NULL) {
				out[count].ip = port->host_ip.length != 0 ? port->host_ip
									  : BT_STR("0.0.0.0");
				out[count].protocol = port->protocol.length != 0
					? port->protocol
					: BT_DEFAULT_CONTAINER_PORT_PROTOCOL;
				out[count].port = port->host_port;
			}
			count++;
		}
	}
	return count;
}

bt_host_port_list bt_pod_host_ports(const struct bt_pod_spec *spec, struct bt_arena *arena)
{
	uint32_t sidecar_ports = collect(&spec->init_containers, true, NULL);
	uint32_t count = sidecar_ports + collect(&spec->containers, false, NULL);
	bt_host_port_list list = {NULL, 0, false};

	if (count != 0) {
		list.items = BT_ARENA_NEW_ARRAY(arena, struct bt_host_port, count);
		list.count = count;
		list.present = true;
		(void)collect(&spec->init_containers, true, list.items);
		(void)collect(&spec->containers, false, list.items + sidecar_ports);
	}
	return list;
}

uint32_t bt_host_ports_find(
	const struct bt_host_port *ports, uint32_t count, const struct bt_host_port *port)
{
	uint32_t i = 0;
	while (i < count &&
		(ports[i].port != port->port || !bt_str_equal(ports[i].protocol, port->protocol) ||
			!bt_str_equal(ports[i].ip, port->ip))) {
		i++;
	}
	return i;
}

bool bt_host_port_conflicts(const struct bt_host_port *wanted, const struct bt_host_port *used)
{
	return wanted->port > 0 && wanted->port == used->port &&
		bt_str_equal(wanted->protocol, used->protocol) &&
		(is_wildcard(wanted->ip) || is_wildcard(used->ip) ||
			bt_str_equal(wanted->ip, used->ip));
}

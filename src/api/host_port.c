/* SPDX-License-Identifier: Apache-2.0 */
#include "api/resources.h"

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

bool bt_host_port_conflicts(const struct bt_host_port *wanted, const struct bt_host_port *used)
{
	return wanted->port > 0 && wanted->port == used->port &&
		bt_str_equal(wanted->protocol, used->protocol) &&
		(is_wildcard(wanted->ip) || is_wildcard(used->ip) ||
			bt_str_equal(wanted->ip, used->ip));
}

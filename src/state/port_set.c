/* SPDX-License-Identifier: Apache-2.0 */
/* Host ports in use on a node: a set, not a multiset (spec 01b section 7). */
#include "state/state_private.h"

static int compare_u32(uint32_t a, uint32_t b)
{
	return (a > b) - (a < b);
}

static int compare_ports(const struct bt_used_port *a, const struct bt_used_port *b)
{
	int order = (a->port > b->port) - (a->port < b->port);

	if (order == 0) {
		order = compare_u32(a->protocol.id, b->protocol.id);
	}
	return order != 0 ? order : compare_u32(a->ip.id, b->ip.id);
}

/* First position whose triple is not below wanted. */
static uint32_t lower_bound(const struct bt_node_row *row, const struct bt_used_port *wanted)
{
	uint32_t low = 0;
	uint32_t high = row->ports.count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (compare_ports(&row->ports.items[middle], wanted) < 0) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

static bool is_at(const struct bt_node_row *row, uint32_t at, const struct bt_used_port *wanted)
{
	return at < row->ports.count && compare_ports(&row->ports.items[at], wanted) == 0;
}

void bt_row_port_add(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port)
{
	struct bt_used_port used = {
		.ip = bt_symbol_ref_str(symbols, port->ip),
		.protocol = bt_symbol_ref_str(symbols, port->protocol),
		.port = port->port,
	};
	uint32_t at = lower_bound(row, &used);

	if (is_at(row, at, &used)) {
		bt_symbol_unref(symbols, used.ip);
		bt_symbol_unref(symbols, used.protocol);
		return;
	}
	bt_vec_push(&row->ports, used);
	memmove(&row->ports.items[at + 1], &row->ports.items[at],
		(row->ports.count - 1 - at) * sizeof(used));
	row->ports.items[at] = used;
}

void bt_row_port_remove(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port)
{
	struct bt_used_port used = {
		.ip = bt_symbol_find(symbols, port->ip),
		.protocol = bt_symbol_find(symbols, port->protocol),
		.port = port->port,
	};
	uint32_t at = lower_bound(row, &used);

	/* Another pod with the same triple may have taken it away already. */
	if (!is_at(row, at, &used)) {
		return;
	}
	used = row->ports.items[at];
	bt_vec_remove_ordered(&row->ports, at);
	bt_symbol_unref(symbols, used.ip);
	bt_symbol_unref(symbols, used.protocol);
}

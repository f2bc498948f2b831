/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_ORDER_H
#define BT_STATE_NODE_ORDER_H
/** The zone tree: nodes listed round-robin over zones. Spec: 03b section 6. */
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "base/symbol.h"
#include "base/vec.h"

struct bt_zone {
	bt_sym key;             /* reference held */
	BT_VEC(uint32_t) slots; /* in order of addition */
};

struct bt_node_order {
	BT_VEC(struct bt_zone) zones; /* in order of first appearance */
	uint32_t count;
	struct bt_symbol_table *symbols;
};

void bt_node_order_init(struct bt_node_order *order, struct bt_symbol_table *symbols);
void bt_node_order_finish(struct bt_node_order *order);
/** Append to its zone; nothing when it is there already. */
void bt_node_order_add(struct bt_node_order *order, uint32_t slot, bt_sym zone_key);
/** As add, for a slot that is known to be in no zone: O(zones). */
void bt_node_order_append(struct bt_node_order *order, uint32_t slot, bt_sym zone_key);
/** node_name only for the message `node "<name>" in group "<zone key>" was not found`
 * (BERTH_ERR_NOT_FOUND). */
BT_MUST_USE int bt_node_order_remove(struct bt_node_order *order, uint32_t slot, bt_sym zone_key,
	struct bt_str node_name, struct berth_error *err);
void bt_node_order_update(
	struct bt_node_order *order, uint32_t slot, bt_sym old_zone_key, bt_sym new_zone_key);
/** Write count slots, round-robin over zones. O(count + zones). */
void bt_node_order_list(const struct bt_node_order *order, uint32_t *out_slots);
#endif

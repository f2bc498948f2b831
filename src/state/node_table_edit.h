/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_TABLE_EDIT_H
#define BT_STATE_NODE_TABLE_EDIT_H
/** Functions that change the node table, for src/state only. */
#include "base/arena.h"
#include "base/strbuf.h"
#include "state/node_table.h"

void bt_node_table_init(struct bt_node_table *table, struct bt_symbol_table *symbols);
void bt_node_table_finish(struct bt_node_table *table);
/** The slot of a name; a new name gets a free slot. */
uint32_t bt_node_table_acquire(struct bt_node_table *table, struct bt_str name);
/** Clear and free a slot, which must have no pods, ports, claims or images. */
void bt_node_table_release(struct bt_node_table *table, uint32_t slot);

/** For a scalar column: allocatable[slot] = value; requested[slot] += delta. */
void bt_node_table_set_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t value);
void bt_node_table_add_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t delta);
/**
 * Set has_wide_values if an amount needs more than 44 bits. amounts: all amounts or-ed together.
 */
static inline void bt_node_table_check_amounts(struct bt_node_table *table, uint64_t amounts)
{
	if ((amounts >> 44) != 0) {
		table->has_wide_values = true;
	}
}

/**
 * Set the slot from a node object, without images. Returns the kinds of change (bits of enum
 * bt_change_kind) between the old and the new values. scratch and text are temporary memory.
 */
uint32_t bt_node_table_set_node(struct bt_node_table *table, uint32_t slot,
	const struct bt_node *node, bool with_declared_features, struct bt_arena *scratch,
	struct bt_strbuf *text);

/**
 * In label_keys and label_columns, replace the slot's current labels by `labels`. The current
 * labels are label_symbols of the slot's row; the function does not change the row.
 */
void bt_label_columns_update(struct bt_node_table *table, uint32_t slot,
	const struct bt_label_pair *labels, uint32_t count);
/** Set the value of one label of the slot in the label's column, if there is a column. */
void bt_label_columns_set(struct bt_node_table *table, uint32_t slot, struct bt_label_pair label);

void bt_taint_sets_init(struct bt_node_table *table);
void bt_taint_sets_finish(struct bt_node_table *table);
void bt_taint_set_unref(struct bt_node_table *table, uint32_t id);

static inline uint64_t bt_sym_hash(bt_sym symbol)
{
	return bt_hash_u64(0, symbol.id);
}
#endif

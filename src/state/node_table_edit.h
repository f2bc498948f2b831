/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_NODE_TABLE_EDIT_H
#define BT_STATE_NODE_TABLE_EDIT_H
/** Changing the node table: for src/state only. Everybody else reads. */
#include "base/arena.h"
#include "base/strbuf.h"
#include "state/node_table.h"

void bt_node_table_init(struct bt_node_table *table, struct bt_symbol_table *symbols);
void bt_node_table_finish(struct bt_node_table *table);
/** The slot of a name, taken into use when the name is new. */
uint32_t bt_node_table_acquire(struct bt_node_table *table, struct bt_str name);
/** Zero a slot and free it. Pods, ports, claims and images are gone already. */
void bt_node_table_release(struct bt_node_table *table, uint32_t slot);
/** Slot of a name symbol, or BT_SLOT_NONE. */
uint32_t bt_node_table_find_symbol(const struct bt_node_table *table, bt_sym name);

/** allocatable[slot] = value, and requested[slot] += delta, of a scalar column. */
void bt_node_table_set_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t value);
void bt_node_table_add_scalar(
	struct bt_node_table *table, uint32_t resource, uint32_t slot, int64_t delta);
/** Amounts that no longer fit 44 bits set has_wide_values: pass them all or-ed together. */
static inline void bt_node_table_note_amounts(struct bt_node_table *table, uint64_t amounts)
{
	if ((amounts >> 44) != 0) {
		table->has_wide_values = true;
	}
}

/**
 * Take over everything of a node object but the images. Returns the change kinds that really
 * differ. Memory of the call comes from scratch; text is scratch too.
 */
uint32_t bt_node_table_set_node(struct bt_node_table *table, uint32_t slot,
	const struct bt_node *node, bool with_declared_features, struct bt_arena *scratch,
	struct bt_strbuf *text);

/** Labels of the slot change from its row's label_symbols to these. */
void bt_label_columns_update(struct bt_node_table *table, uint32_t slot,
	const struct bt_label_pair *labels, uint32_t count);
/** One label of the slot has another value. */
void bt_label_columns_set(struct bt_node_table *table, uint32_t slot, struct bt_label_pair label);

void bt_taint_sets_init(struct bt_node_table *table);
void bt_taint_sets_finish(struct bt_node_table *table);
void bt_taint_set_unref(struct bt_node_table *table, uint32_t id);

static inline uint64_t bt_sym_hash(bt_sym symbol)
{
	return bt_hash_u64(0, symbol.id);
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_TOPOLOGY_H
#define BT_PLUGINS_COMMON_TOPOLOGY_H
/**
 * Topology domains as the plugins of spec 06 count in them. A domain is an index into the
 * dictionary of a label column (state/node_table.h); 0 says that the node lacks the label. Counts
 * are arrays over the dictionary. What a what-if run adds or removes on one node is a short list of
 * changes on top, so that a copy of the counts costs only that list.
 */
#include "base/arena.h"
#include "framework/plugin.h"

static inline uint32_t bt_topology_domain(const struct bt_label_column *column, uint32_t slot)
{
	return column != NULL ? column->values[slot] : 0;
}

/**
 * The trait that tells the domains of a key apart; for keys with few domains. Not added again when
 * the list has it.
 */
void bt_topology_add_domain_trait(struct bt_trait_list *list, const struct bt_label_column *column);

/** A change of one domain of one table. */
struct bt_domain_change {
	uint32_t table;
	uint32_t domain;
	int64_t delta;
};

struct bt_domain_changes {
	struct bt_domain_change *items; /* one per table and domain */
	uint32_t count;
	uint32_t capacity;
};

/** Adds delta to the sum of the table's domain; returns the sum before. */
int64_t bt_domain_changes_add(struct bt_domain_changes *changes, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta);
struct bt_domain_changes bt_domain_changes_clone(
	const struct bt_domain_changes *changes, struct bt_arena *arena);
static inline int64_t bt_domain_changes_sum(
	const struct bt_domain_changes *changes, uint32_t table, uint32_t domain)
{
	for (uint32_t i = 0; i < changes->count; i++) {
		if (changes->items[i].table == table && changes->items[i].domain == domain) {
			return changes->items[i].delta;
		}
	}
	return 0;
}

/** No node has the key. */
#define BT_NO_TABLE UINT32_MAX

/** Pods with more terms or constraints than this are counted by walking: counters are for what
 * recurs. */
#define BT_COUNTED_TERMS_MAX 16
#endif

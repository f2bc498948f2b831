/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/common_topology.h"

#include <string.h>

/** First word of the identity of every domain trait. */
#define DOMAIN_TRAIT (UINT64_C(1) << 63)

void bt_topology_add_domain_trait(struct bt_trait_list *list, const struct bt_label_column *column)
{
	struct bt_node_trait trait = {
		.identity = {DOMAIN_TRAIT, column->key.id, column->rebuild_count},
		.reads = BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE,
		.values = column->values,
	};

	for (uint32_t i = 0; i < list->count; i++) {
		if (memcmp(list->items[i].identity, trait.identity, sizeof(trait.identity)) == 0) {
			return;
		}
	}
	bt_arena_push(list->arena, list, trait);
}

int64_t bt_domain_changes_add(struct bt_domain_changes *changes, struct bt_arena *arena,
	uint32_t table, uint32_t domain, int64_t delta)
{
	for (uint32_t i = 0; i < changes->count; i++) {
		struct bt_domain_change *change = &changes->items[i];

		if (change->table == table && change->domain == domain) {
			change->delta += delta;
			return change->delta - delta;
		}
	}
	struct bt_domain_change change = {table, domain, delta};
	bt_arena_push(arena, changes, change);
	return 0;
}

struct bt_domain_changes bt_domain_changes_clone(
	const struct bt_domain_changes *changes, struct bt_arena *arena)
{
	struct bt_domain_changes copy = {.count = changes->count, .capacity = changes->count};

	if (changes->count != 0) {
		copy.items = BT_ARENA_NEW_ARRAY(arena, struct bt_domain_change, changes->count);
		memcpy(copy.items, changes->items, changes->count * sizeof(*copy.items));
	}
	return copy;
}

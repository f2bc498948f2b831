/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/node_statuses.h"

#include "base/bitset.h"

struct bt_status bt_node_statuses_get(const struct bt_node_statuses *statuses, uint32_t slot)
{
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		if (statuses->entries.items[i].slot == slot) {
			return statuses->entries.items[i].status;
		}
	}
	return statuses->absent;
}

/** Every node of the snapshot but those whose own entry says otherwise. */
static uint32_t list_all_but(const struct bt_node_statuses *statuses, enum bt_status_code code,
	const struct bt_state *state, uint32_t *out_slots)
{
	struct bt_bitset excluded = {0};
	uint32_t count = 0;

	bt_bitset_resize(&excluded, state->nodes.slot_count);
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (entry->status.code != code && entry->slot < state->nodes.slot_count) {
			bt_bitset_assign(&excluded, entry->slot, true);
		}
	}
	for (uint32_t i = 0; i < state->snapshot.count; i++) {
		uint32_t slot = state->snapshot.list[i];

		if (!bt_bitset_get(&excluded, slot)) {
			out_slots[count++] = slot;
		}
	}
	bt_bitset_finish(&excluded);
	return count;
}

uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots)
{
	uint32_t count = 0;

	if (statuses->absent.code == code) {
		return list_all_but(statuses, code, state, out_slots);
	}
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (entry->status.code == code && entry->slot < state->nodes.slot_count &&
			state->nodes.rows[entry->slot].in_snapshot) {
			out_slots[count++] = entry->slot;
		}
	}
	return count;
}

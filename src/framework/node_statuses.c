/* SPDX-License-Identifier: Apache-2.0 */
#include "framework/node_statuses.h"

#include "base/alloc.h"
#include "base/bitset.h"

static bool in_snapshot(const struct bt_state *state, uint32_t slot)
{
	return slot < state->nodes.slot_count && state->nodes.rows[slot].in_snapshot;
}

/** --- one node --- */

struct bt_status bt_node_statuses_get(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t slot)
{
	const struct bt_status_groups *groups = statuses->groups;

	if (groups != NULL) {
		return in_snapshot(state, slot)
			? groups->statuses[groups->group_of[state->snapshot.position[slot]]]
			: statuses->absent;
	}
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		if (statuses->entries.items[i].slot == slot) {
			return statuses->entries.items[i].status;
		}
	}
	return statuses->absent;
}

uint32_t bt_node_statuses_count(const struct bt_node_statuses *statuses)
{
	const struct bt_status_groups *groups = statuses->groups;
	uint32_t count = 0;

	if (groups == NULL) {
		return statuses->entries.count;
	}
	for (uint32_t i = 0; i < groups->count; i++) {
		count += groups->sizes[i];
	}
	return count;
}

struct bt_node_status_entry bt_node_statuses_at(
	const struct bt_node_statuses *statuses, const struct bt_state *state, uint32_t index)
{
	const struct bt_status_groups *groups = statuses->groups;

	if (groups == NULL) {
		BT_ASSERT(index < statuses->entries.count);
		return statuses->entries.items[index];
	}
	BT_ASSERT(index < state->snapshot.count);
	uint32_t before_the_end = state->snapshot.count - groups->start;
	uint32_t position = index < before_the_end ? groups->start + index : index - before_the_end;

	return (struct bt_node_status_entry){
		state->snapshot.list[position], groups->statuses[groups->group_of[position]]};
}

/** --- all nodes with a code --- */

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

/** Positions from `from` until `end` whose group has the code. */
static uint32_t list_positions(const struct bt_status_groups *groups, enum bt_status_code code,
	const uint32_t *list, uint32_t from, uint32_t end, uint32_t *out_slots)
{
	uint32_t count = 0;

	for (uint32_t i = from; i < end; i++) {
		/* Written in any case, kept if it counts: no jump that cannot be foretold. */
		out_slots[count] = list[i];
		count += groups->statuses[groups->group_of[i]].code == code;
	}
	return count;
}

uint32_t bt_node_statuses_nodes_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state, uint32_t *out_slots)
{
	uint32_t count = 0;

	if (statuses->groups != NULL) {
		const struct bt_status_groups *groups = statuses->groups;
		const struct bt_snapshot *snapshot = &state->snapshot;
		uint32_t start = statuses->absent.code == code ? 0 : groups->start;

		if (bt_node_statuses_count_for_code(statuses, code, state) == 0) {
			return 0;
		}
		count = list_positions(
			groups, code, snapshot->list, start, snapshot->count, out_slots);
		return count +
			list_positions(groups, code, snapshot->list, 0, start, &out_slots[count]);
	}
	if (statuses->absent.code == code) {
		return list_all_but(statuses, code, state, out_slots);
	}
	for (uint32_t i = 0; i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (entry->status.code == code && in_snapshot(state, entry->slot)) {
			out_slots[count++] = entry->slot;
		}
	}
	return count;
}

uint32_t bt_node_statuses_count_for_code(const struct bt_node_statuses *statuses,
	enum bt_status_code code, const struct bt_state *state)
{
	const struct bt_status_groups *groups = statuses->groups;
	bool is_absent = statuses->absent.code == code;
	uint32_t count = is_absent && groups == NULL ? state->snapshot.count : 0;

	for (uint32_t i = 0; groups != NULL && i < groups->count; i++) {
		count += groups->statuses[i].code == code ? groups->sizes[i] : 0;
	}
	for (uint32_t i = 0; groups == NULL && i < statuses->entries.count; i++) {
		const struct bt_node_status_entry *entry = &statuses->entries.items[i];

		if (!in_snapshot(state, entry->slot)) {
			continue;
		}
		if (is_absent) {
			count -= entry->status.code != code;
		} else {
			count += entry->status.code == code;
		}
	}
	return count;
}

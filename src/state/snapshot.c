/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The per-cycle snapshot: spec 03b section 7.2. Aggregates are the live columns, so a refresh has
 * three things to do: which names the snapshot knows, the order of its list, and what is frozen in
 * a copy (image node counts).
 */
#include "state/state_private.h"

/** More changed nodes than this, and the affinity lists are computed anew instead of edited. */
#define EDITS_MAX 64

static uint32_t *grown(uint32_t *items, uint32_t count)
{
	return bt_realloc_array(items, count, sizeof(*items));
}

static void reserve_list(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	if (snapshot->capacity < state->nodes.slot_capacity) {
		snapshot->capacity = state->nodes.slot_capacity;
		snapshot->list = grown(snapshot->list, snapshot->capacity);
		snapshot->position = grown(snapshot->position, snapshot->capacity);
	}
}

/* --- entering and leaving --- */

static void enter_list(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->in_snapshot = true;
	for (uint32_t i = 0; i < row->claims.count; i++) {
		bt_used_claims_add(state, row->claims.items[i].claim);
	}
	bt_change_log_append(&state->log, slot, BT_CHANGE_EXISTENCE);
}

static void leave_list(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->in_snapshot = false;
	row->in_affinity_list = false;
	row->in_anti_affinity_list = false;
	for (uint32_t i = 0; i < row->claims.count; i++) {
		bt_used_claims_remove(state, row->claims.items[i].claim);
	}
	bt_change_log_append(&state->log, slot, BT_CHANGE_EXISTENCE);
}

/* --- affinity lists --- */

static uint32_t position_of(
	const struct bt_snapshot *snapshot, const uint32_t *items, uint32_t count, uint32_t slot)
{
	uint32_t low = 0;
	uint32_t high = count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (snapshot->position[items[middle]] < snapshot->position[slot]) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	return low;
}

/* Room for one element at index `at` of a vector that has it at its end. */
static void rotate_to(uint32_t *items, uint32_t count, uint32_t at, uint32_t slot)
{
	memmove(&items[at + 1], &items[at], (count - 1 - at) * sizeof(*items));
	items[at] = slot;
}

static void update_affinity_lists(struct bt_state *state, uint32_t slot)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_node_row *row = &state->nodes.rows[slot];
	bool affinity = row->pods_with_affinity.count != 0;
	bool anti_affinity = row->pods_with_required_anti_affinity.count != 0;

	if (!row->in_snapshot ||
		(affinity == row->in_affinity_list &&
			anti_affinity == row->in_anti_affinity_list)) {
		return;
	}
	if (snapshot->changed_slots.count > EDITS_MAX) {
		snapshot->lists_stale = true;
		return;
	}
	if (affinity != row->in_affinity_list) {
		uint32_t at = position_of(snapshot, snapshot->affinity_list.items,
			snapshot->affinity_list.count, slot);
		if (affinity) {
			bt_vec_push(&snapshot->affinity_list, slot);
			rotate_to(snapshot->affinity_list.items, snapshot->affinity_list.count, at,
				slot);
		} else {
			bt_vec_remove_ordered(&snapshot->affinity_list, at);
		}
		row->in_affinity_list = affinity;
	}
	if (anti_affinity != row->in_anti_affinity_list) {
		uint32_t at = position_of(snapshot, snapshot->anti_affinity_list.items,
			snapshot->anti_affinity_list.count, slot);
		if (anti_affinity) {
			bt_vec_push(&snapshot->anti_affinity_list, slot);
			rotate_to(snapshot->anti_affinity_list.items,
				snapshot->anti_affinity_list.count, at, slot);
		} else {
			bt_vec_remove_ordered(&snapshot->anti_affinity_list, at);
		}
		row->in_anti_affinity_list = anti_affinity;
	}
	bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
}

static void rebuild_affinity_lists(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	snapshot->affinity_list.count = 0;
	snapshot->anti_affinity_list.count = 0;
	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t slot = snapshot->list[i];
		struct bt_node_row *row = &state->nodes.rows[slot];
		bool affinity = row->pods_with_affinity.count != 0;
		bool anti_affinity = row->pods_with_required_anti_affinity.count != 0;
		if (affinity != row->in_affinity_list ||
			anti_affinity != row->in_anti_affinity_list) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
		}
		row->in_affinity_list = affinity;
		row->in_anti_affinity_list = anti_affinity;
		if (row->in_affinity_list) {
			bt_vec_push(&snapshot->affinity_list, slot);
		}
		if (row->in_anti_affinity_list) {
			bt_vec_push(&snapshot->anti_affinity_list, slot);
		}
	}
	snapshot->lists_stale = false;
}

/* --- refresh --- */

/* Upstream's copying of newer aggregates; true when a name appears that the snapshot did not have.
 */
static bool copy_changed(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	bool names_added = false;

	for (uint32_t i = 0; i < snapshot->changed_slots.count; i++) {
		uint32_t slot = snapshot->changed_slots.items[i];
		struct bt_node_row *row = &state->nodes.rows[slot];
		row->changed = false;
		if (!row->in_cache || !row->has_node) {
			continue;
		}
		if (bt_state_capture_images(state, slot)) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_IMAGES);
		}
		if (!row->in_snapshot_names) {
			row->in_snapshot_names = true;
			row->instance = ++snapshot->next_instance;
			snapshot->name_count++;
			names_added = true;
		}
		update_affinity_lists(state, slot);
	}
	snapshot->changed_slots.count = 0;
	return names_added;
}

static void drop_removed_names(struct bt_state *state)
{
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		struct bt_node_row *row = &state->nodes.rows[slot];
		if (row->in_snapshot_names && !(row->in_cache && row->has_node)) {
			row->in_snapshot_names = false;
			state->snapshot.name_count--;
		}
	}
}

/* The node list from the tree: names the snapshot does not have are passed over. */
static void rebuild_list(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_bitset listed = {0};
	uint32_t *order;
	uint32_t count = 0;
	bool differs;

	reserve_list(state);
	bt_bitset_resize(&listed, state->nodes.slot_count);
	order = BT_NEW_ARRAY(uint32_t, state->order.count);
	bt_node_order_list(&state->order, order);
	for (uint32_t i = 0; i < state->order.count; i++) {
		if (state->nodes.rows[order[i]].in_snapshot_names) {
			bt_bitset_assign(&listed, order[i], true);
			order[count++] = order[i];
		}
	}
	for (uint32_t i = 0; i < snapshot->count; i++) {
		if (!bt_bitset_get(&listed, snapshot->list[i])) {
			leave_list(state, snapshot->list[i]);
		}
	}
	differs = count != snapshot->count;
	for (uint32_t i = 0; i < count; i++) {
		differs = differs || snapshot->list[i] != order[i];
		snapshot->list[i] = order[i];
		snapshot->position[order[i]] = i;
		if (!state->nodes.rows[order[i]].in_snapshot) {
			enter_list(state, order[i]);
		}
	}
	snapshot->count = count;
	if (differs) {
		snapshot->list_version++;
	}
	rebuild_affinity_lists(state);
	bt_bitset_finish(&listed);
	bt_free(order);
}

static void release_unknown(struct bt_state *state)
{
	for (uint32_t slot = 0; slot < state->nodes.slot_count; slot++) {
		bt_state_release_if_unknown(state, slot);
	}
}

static int fail_inconsistent(
	const struct bt_state *state, uint32_t list_count, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE,
		"snapshot state is not consistent, length of NodeInfoList=%lu not equal to length "
		"of nodes in tree=%lu "
		", length of NodeInfoMap=%lu, length of nodes in cache=%lu, trying to recover",
		(unsigned long)list_count, (unsigned long)state->order.count,
		(unsigned long)state->snapshot.name_count, (unsigned long)state->node_entry_count);
}

int bt_state_refresh_snapshot(struct bt_state *state, struct berth_error *err)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t list_count;
	bool rebuild;
	int result = 0;

	snapshot->refresh_count++;
	bt_snapshot_forget_leftovers(state);
	rebuild = copy_changed(state);
	if (snapshot->name_count > state->order.count) {
		drop_removed_names(state);
		rebuild = true;
	}
	if (rebuild) {
		rebuild_list(state);
	} else if (snapshot->lists_stale) {
		rebuild_affinity_lists(state);
	}
	list_count = snapshot->count;
	if (list_count != state->order.count) {
		rebuild_list(state);
		rebuild = true;
		result = fail_inconsistent(state, list_count, err);
	}
	if (rebuild) {
		release_unknown(state);
	}
	snapshot->log_sequence = state->log.sequence;
	return result;
}

uint32_t bt_state_snapshot_find(const struct bt_state *state, struct bt_str node_name)
{
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);

	return slot != BT_SLOT_NONE && state->nodes.rows[slot].in_snapshot_names ? slot
										 : BT_SLOT_NONE;
}

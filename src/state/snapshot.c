/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pod_groups.h"
#include "base/vec.h"
#include "state/state_private.h"

/*
 * The per-cycle snapshot: spec 03b section 7.2. Aggregates are read from the live columns, so a
 * refresh updates only three things: the known names, the order of the list, and the copied values
 * (image node counts).
 */

/**
 * Places are assigned anew after this many detour steps (bt_places.detours) per node of the list.
 * After a new assignment, plans must make their trees again; for four plans, this costs about as
 * much as these steps.
 */
#define DETOURS_PER_NODE 128

/** Update whether the slot is in the lists of nodes with affinity pods. */
static void update_affinity_lists(struct bt_state *state, uint32_t slot)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_node_row *row = &state->nodes.rows[slot];
	bool affinity = row->in_snapshot && row->pods_with_affinity.count != 0;
	bool anti_affinity = row->in_snapshot && row->pods_with_required_anti_affinity.count != 0;

	if (affinity == row->in_affinity_list && anti_affinity == row->in_anti_affinity_list) {
		return;
	}
	snapshot->affinity_count += affinity;
	snapshot->affinity_count -= row->in_affinity_list;
	row->in_affinity_list = affinity;
	row->in_anti_affinity_list = anti_affinity;
	bt_bitset_assign(&snapshot->affinity_slots, slot, affinity);
	snapshot->lists->affinity_is_written = false;
	bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
}

static void enter_list(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->in_snapshot = true;
	bt_bitset_assign(&state->snapshot.listed, slot, true);
	for (uint32_t i = 0; i < row->claims.count; i++) {
		bt_used_claims_add(state, row->claims.items[i].claim);
	}
	bt_change_log_append(&state->log, slot, BT_CHANGE_EXISTENCE);
	if (row->pods_with_affinity.count != 0) {
		update_affinity_lists(state, slot);
	}
}

static void remove_from_list(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->in_snapshot = false;
	bt_bitset_assign(&state->snapshot.listed, slot, false);
	for (uint32_t i = 0; i < row->claims.count; i++) {
		bt_used_claims_remove(state, row->claims.items[i].claim);
	}
	bt_change_log_append(&state->log, slot, BT_CHANGE_EXISTENCE);
	update_affinity_lists(state, slot);
}

void bt_snapshot_write_list(const struct bt_snapshot *snapshot)
{
	struct bt_snapshot_lists *lists = snapshot->lists;

	if (lists->capacity < snapshot->places.slot_capacity) {
		lists->capacity = snapshot->places.slot_capacity;
		lists->slots = bt_realloc_array(lists->slots, lists->capacity, sizeof(uint32_t));
		lists->positions =
			bt_realloc_array(lists->positions, lists->capacity, sizeof(uint32_t));
	}
	bt_places_list(&snapshot->places, lists->slots);
	for (uint32_t i = 0; i < snapshot->count; i++) {
		lists->positions[lists->slots[i]] = i;
	}
	lists->is_written = true;
}

const struct bt_snapshot_lists *bt_snapshot_affinity_lists(const struct bt_state *state)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_snapshot_lists *lists = snapshot->lists;

	if (lists->affinity_is_written) {
		return lists;
	}
	const uint32_t *list = bt_snapshot_list(snapshot);

	lists->affinity.count = 0;
	lists->anti_affinity.count = 0;
	for (uint32_t i = 0; snapshot->affinity_count != 0 && i < snapshot->count; i++) {
		if (!bt_bitset_get(&snapshot->affinity_slots, list[i])) {
			continue;
		}
		bt_vec_push(&lists->affinity, list[i]);
		/* A node with required anti-affinity is in both lists. */
		if (state->nodes.rows[list[i]].in_anti_affinity_list) {
			bt_vec_push(&lists->anti_affinity, list[i]);
		}
	}
	lists->affinity_is_written = true;
	return lists;
}

/**
 * Apply the changes of the node order to the places one by one. Returns false and changes nothing
 * if places must be assigned anew.
 */
static bool apply_order_changes(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_places *places = &snapshot->places;
	struct bt_node_order *order = &state->order;
	uint32_t joined = 0;

	if (!places->can_follow || order->changes_lost ||
		places->detours > (uint64_t)snapshot->count * DETOURS_PER_NODE) {
		return false;
	}
	for (uint32_t i = 0; i < order->changes.count; i++) {
		const struct bt_order_change *change = &order->changes.items[i];
		joined += change->joined;
		if (change->joined && !bt_snapshot_has_name(snapshot, change->slot)) {
			return false;
		}
	}
	if (joined > places->count - places->used) {
		return false;
	}
	for (uint32_t i = 0; i < order->changes.count; i++) {
		const struct bt_order_change *change = &order->changes.items[i];
		if (change->joined) {
			bt_places_append(places, change->zone, change->slot);
		} else {
			bt_places_remove(places, change->zone, change->row);
		}
	}
	for (uint32_t i = 0; i < order->changes.count; i++) {
		uint32_t slot = order->changes.items[i].slot;
		bool is_listed = places->place_of[slot] != BT_PLACE_NONE;
		if (is_listed != state->nodes.rows[slot].in_snapshot) {
			(is_listed ? enter_list : remove_from_list)(state, slot);
		} else {
			/* The node may have another place now. */
			bt_change_log_append(&state->log, slot, BT_CHANGE_EXISTENCE);
		}
	}
	snapshot->count = order->count;
	return true;
}

/* Update the snapshot's list to the current node order. can_follow false: assign places anew. */
static void update_list(struct bt_state *state, bool can_follow)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	if (!can_follow || !apply_order_changes(state)) {
		/*
		 * Assign places anew to all nodes of the node order whose names are in the
		 * snapshot. Rows are read only where something changes, because few of many rows
		 * are in the processor's cache.
		 */
		struct bt_node_order *order = &state->order;
		struct bt_bitset listed = {0};
		uint32_t *list = bt_realloc_array(NULL, (size_t)order->count + 1, sizeof(uint32_t));
		uint32_t count = 0;

		bt_bitset_resize(&listed, state->nodes.slot_count);
		bt_node_order_list(order, list);
		for (uint32_t i = 0; i < order->count; i++) {
			uint32_t slot = list[i];
			if (bt_snapshot_has_name(snapshot, slot)) {
				bt_bitset_assign(&listed, slot, true);
				list[count++] = slot;
			}
		}
		bt_places_assign(&snapshot->places, list, count);
		bt_free(list);
		snapshot->count = count;
		if (count == order->count && order->zones.count <= BT_PLACE_ZONES_MAX) {
			for (uint32_t i = 0; i < order->zones.count; i++) {
				bt_places_add_zone(
					&snapshot->places, order->zones.items[i].slots.count);
			}
		}
		for (uint32_t i = 0; i < listed.word_count; i++) {
			uint64_t left = listed.words[i] ^ snapshot->listed.words[i];
			for (; left != 0; left &= left - 1) {
				uint32_t slot = i * 64 + BT_CTZ64(left);
				(bt_bitset_get(&listed, slot) ? enter_list : remove_from_list)(
					state, slot);
			}
		}
		bt_bitset_finish(&listed);
	}
	state->order.changes.count = 0;
	state->order.changes_lost = false;
	snapshot->lists->is_written = false;
	snapshot->lists->affinity_is_written = false;
}

/* Changes of the snapshot by a pod group cycle: spec 03b section 7.3. */

/* Index of the pod in assumed_pods, or the number of assumed pods if the pod is not assumed. */
static uint32_t find_assumed(const struct bt_state *state, struct bt_str uid)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t at = snapshot->assumed_pods.count;

	/* Search from the end, because cycles forget the latest pod first. */
	while (at > 0 &&
		!bt_str_equal(bt_pod_record_uid(
				      bt_state_pod_at(state, snapshot->assumed_pods.items[at - 1])),
			uid)) {
		at--;
	}
	return at > 0 ? at - 1 : snapshot->assumed_pods.count;
}

int bt_snapshot_assume_shaped(struct bt_state *state, const struct bt_pod *pod, uint32_t shape,
	uint32_t label_set, uint32_t slot, struct berth_error *err)
{
	struct bt_pod_record record = {
		.shape = shape, .label_set = label_set, .node = slot, .snapshot_only = true};

	if (pod->metadata.uid.length == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
	}
	bt_pod_record_fill(state, &record, pod);
	bt_shape_ref(&state->shapes, shape);
	bt_label_set_ref(&state->label_sets, label_set);
	uint32_t pod_id = bt_pod_table_add(&state->pods, &record);
	bt_state_attach_pod(state, pod_id);
	bt_vec_push(&state->snapshot.assumed_pods, pod_id);
	bt_pod_groups_set_in_snapshot(state, bt_state_pod_at(state, pod_id), true);
	return 0;
}

int bt_snapshot_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	if (pod->metadata.uid.length != 0 &&
		find_assumed(state, pod->metadata.uid) != state->snapshot.assumed_pods.count) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"pod \"%.*s\" is already assumed in the snapshot",
			BT_STR_ARG(pod->metadata.uid));
	}

	uint32_t shape = bt_shape_ref_pod(&state->shapes, pod, false);
	uint32_t label_set = bt_label_set_ref_map(&state->label_sets, &pod->metadata.labels);
	uint32_t slot = bt_node_table_acquire(&state->nodes, pod->spec.node_name);
	int result = bt_snapshot_assume_shaped(state, pod, shape, label_set, slot, err);

	bt_shape_unref(&state->shapes, shape);
	bt_label_set_unref(&state->label_sets, label_set);
	if (result < 0) {
		bt_state_drop_empty_entry(state, slot);
	}
	return result;
}

static void forget_pod_at(struct bt_state *state, uint32_t at)
{
	uint32_t pod_id = state->snapshot.assumed_pods.items[at];
	uint32_t slot = bt_state_pod_at(state, pod_id)->node;

	bt_vec_remove_swap(&state->snapshot.assumed_pods, at);
	bt_pod_groups_set_in_snapshot(state, bt_state_pod_at(state, pod_id), false);
	bt_state_detach_pod(state, pod_id);
	bt_pod_table_remove(&state->pods, pod_id);
	bt_pod_record_drop(state, &state->pods.records.items[pod_id]);
	bt_state_drop_empty_entry(state, slot);
}

int bt_snapshot_forget_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	uint32_t at = find_assumed(state, pod->metadata.uid);

	if (at == state->snapshot.assumed_pods.count) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND,
			"assumed pod \"%.*s\" not found in the snapshot",
			BT_STR_ARG(pod->metadata.uid));
	}
	forget_pod_at(state, at);
	return 0;
}

/** At the start of a refresh: forget the pods and the placement that a pod group cycle left. */
static void revert_leftovers(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	if (snapshot->assumed_pods.count != 0) {
		bt_state_warn(state, "%lu pods were left assumed in the snapshot",
			(unsigned long)snapshot->assumed_pods.count);
	}
	while (snapshot->assumed_pods.count != 0) {
		forget_pod_at(state, snapshot->assumed_pods.count - 1);
	}
	if (snapshot->has_placement) {
		bt_state_warn(state, "a placement was left set in the snapshot");
		bt_snapshot_forget_placement(state);
	}
}

int bt_state_refresh_snapshot(struct bt_state *state, struct berth_error *err)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	bool names_added = false;
	bool can_follow = true;
	int result = 0;

	snapshot->refresh_count++;
	revert_leftovers(state);
	if (snapshot->names.bit_count != state->nodes.slot_count) {
		bt_bitset_resize(&snapshot->names, state->nodes.slot_count);
		bt_bitset_resize(&snapshot->listed, state->nodes.slot_count);
		bt_bitset_resize(&snapshot->affinity_slots, state->nodes.slot_count);
		bt_places_reserve_slots(&snapshot->places, state->nodes.slot_capacity);
	}
	/* Corresponds to upstream's copying of newer aggregates. */
	for (uint32_t i = 0; i < snapshot->changed_slots.count; i++) {
		uint32_t slot = snapshot->changed_slots.items[i];
		struct bt_node_row *row = &state->nodes.rows[slot];
		row->changed = false;
		if (!row->in_cache || !row->has_node) {
			if (!row->nameless && bt_snapshot_has_name(snapshot, slot)) {
				row->nameless = true;
				bt_vec_push(&snapshot->nameless, slot);
			}
			continue;
		}
		if (row->images_version != state->images.version &&
			bt_state_capture_images(state, slot)) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_IMAGES);
		}
		if (!bt_snapshot_has_name(snapshot, slot)) {
			bt_bitset_assign(&snapshot->names, slot, true);
			row->instance = ++snapshot->next_instance;
			snapshot->name_count++;
			names_added = true;
		}
		if (row->pods_with_affinity.count != 0 || row->in_affinity_list) {
			update_affinity_lists(state, slot);
		}
	}
	snapshot->changed_slots.count = 0;
	bool names_dropped = snapshot->name_count > state->order.count;
	for (uint32_t i = 0; names_dropped && i < snapshot->nameless.count; i++) {
		uint32_t slot = snapshot->nameless.items[i];
		const struct bt_node_row *row = &state->nodes.rows[slot];
		/* The node may have been added again. */
		if (!row->in_cache || !row->has_node) {
			bt_bitset_assign(&snapshot->names, slot, false);
			snapshot->name_count--;
			can_follow = can_follow && !row->in_order;
		}
	}
	if (names_added || names_dropped) {
		update_list(state, can_follow);
	}
	uint32_t list_count = snapshot->count;
	if (list_count != state->order.count) {
		update_list(state, false);
		result = bt_error_set(err, BERTH_ERR_STATE,
			"snapshot state is not consistent, length of NodeInfoList=%lu not equal to "
			"length "
			"of nodes in tree=%lu "
			", length of NodeInfoMap=%lu, length of nodes in cache=%lu, trying to "
			"recover",
			(unsigned long)list_count, (unsigned long)state->order.count,
			(unsigned long)state->snapshot.name_count,
			(unsigned long)state->node_entry_count);
	}
	if (names_dropped) {
		/* Release the slots only now: the list had them until update_list. */
		for (uint32_t i = 0; i < snapshot->nameless.count; i++) {
			state->nodes.rows[snapshot->nameless.items[i]].nameless = false;
			bt_state_release_if_unknown(state, snapshot->nameless.items[i]);
		}
		snapshot->nameless.count = 0;
	}
	snapshot->log_sequence = state->log.sequence;
	return result;
}

uint32_t bt_state_snapshot_find(const struct bt_state *state, struct bt_str node_name)
{
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);

	return slot != BT_SLOT_NONE && bt_snapshot_has_name(&state->snapshot, slot) ? slot
										    : BT_SLOT_NONE;
}

struct bt_placement_node bt_snapshot_placement_node(const struct bt_state *state, uint32_t slot)
{
	return (struct bt_placement_node){
		.name = bt_node_table_name(&state->nodes, slot),
		.slot = slot,
		.instance = state->nodes.rows[slot].instance,
	};
}

int bt_snapshot_assume_placement(struct bt_state *state, const struct bt_placement_node *nodes,
	uint32_t count, struct berth_error *err)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	bt_snapshot_forget_placement(state);
	if (count == snapshot->count) {
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t slot = bt_state_snapshot_find(state, nodes[i].name);
		if (slot == BT_SLOT_NONE) {
			return bt_error_set(err, BERTH_ERR_NOT_FOUND,
				"node %.*s in placement is not present in snapshot",
				BT_STR_ARG(nodes[i].name));
		}
		if (slot != nodes[i].slot ||
			state->nodes.rows[slot].instance != nodes[i].instance) {
			return bt_error_set(err, BERTH_ERR_STATE,
				"node %.*s in placement is not the same instance as in the "
				"snapshot",
				BT_STR_ARG(nodes[i].name));
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_vec_push(&snapshot->placement_slots, nodes[i].slot);
	}
	snapshot->has_placement = true;
	return 0;
}

void bt_snapshot_forget_placement(struct bt_state *state)
{
	state->snapshot.placement_slots.count = 0;
	state->snapshot.has_placement = false;
}

uint32_t bt_snapshot_placement_slots(const struct bt_state *state, const uint32_t **out_slots)
{
	const struct bt_snapshot *snapshot = &state->snapshot;

	*out_slots = snapshot->has_placement ? snapshot->placement_slots.items
					     : bt_snapshot_list(snapshot);
	return bt_snapshot_placement_count(state);
}

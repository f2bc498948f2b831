/* SPDX-License-Identifier: Apache-2.0 */
#include "state/pod_groups.h"
#include "base/vec.h"
#include "state/state_private.h"

/*
 * The per-cycle snapshot: spec 03b section 7.2. Aggregates are the live columns, so a refresh has
 * three things to do: which names the snapshot knows, the order of its list, and what is frozen in
 * a copy (image node counts).
 */

/** More changed nodes than this, and the affinity lists are computed anew instead of edited. */
#define EDITS_MAX 64

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

static uint32_t position_of(
	const struct bt_snapshot *snapshot, const uint32_t *items, uint32_t count, uint32_t slot)
{
	uint32_t low;

	BT_LOWER_BOUND(
		low, count, middle, snapshot->position[items[middle]] < snapshot->position[slot]);
	return low;
}

/* Only the rows of slots with such pods are looked at; required anti-affinity is affinity, too. */
static void rebuild_affinity_lists(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	/* Slots of the old list that have no such pods any more. Those that left the snapshot have
	 * no flags.
	 */
	for (uint32_t j = 0; j < snapshot->affinity_list.count; j++) {
		uint32_t slot = snapshot->affinity_list.items[j];
		struct bt_node_row *row = &state->nodes.rows[slot];
		if (row->in_affinity_list && !bt_bitset_get(&state->affinity_slots, slot)) {
			row->in_affinity_list = false;
			row->in_anti_affinity_list = false;
			bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
		}
	}
	snapshot->affinity_list.count = 0;
	snapshot->anti_affinity_list.count = 0;
	snapshot->lists_stale = false;
	for (uint32_t i = 0; state->affinity_pod_count != 0 && i < snapshot->count; i++) {
		uint32_t slot = snapshot->list[i];
		if (!bt_bitset_get(&state->affinity_slots, slot)) {
			continue;
		}
		struct bt_node_row *row = &state->nodes.rows[slot];
		bool anti_affinity = row->pods_with_required_anti_affinity.count != 0;
		if (!row->in_affinity_list || anti_affinity != row->in_anti_affinity_list) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
		}
		row->in_affinity_list = true;
		row->in_anti_affinity_list = anti_affinity;
		bt_vec_push(&snapshot->affinity_list, slot);
		if (anti_affinity) {
			bt_vec_push(&snapshot->anti_affinity_list, slot);
		}
	}
}

/* Slots of one set that the other does not have. */
static void for_each_missing(struct bt_state *state, const struct bt_bitset *slots,
	const struct bt_bitset *others, void (*visit)(struct bt_state *state, uint32_t slot))
{
	for (uint32_t i = 0; i < slots->word_count; i++) {
		uint64_t left = slots->words[i] & ~others->words[i];
		for (; left != 0; left &= left - 1) {
			visit(state, i * 64 + BT_CTZ64(left));
		}
	}
}

/* The nodes of the tree in order, without names that the snapshot does not have. Returns whether
 * the list is another one now. */
static bool write_list(struct bt_state *state, struct bt_bitset *out_listed)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t *list = snapshot->spare;
	uint32_t count = 0;
	bool same = true;

	bt_node_order_list(&state->order, list);
	for (uint32_t i = 0; i < state->order.count; i++) {
		uint32_t slot = list[i];
		if (bt_snapshot_has_name(snapshot, slot)) {
			same = same && count < snapshot->count && snapshot->list[count] == slot;
			bt_bitset_assign(out_listed, slot, true);
			snapshot->position[slot] = count;
			list[count++] = slot;
		}
	}
	same = same && count == snapshot->count;
	snapshot->spare = snapshot->list;
	snapshot->list = list;
	snapshot->count = count;
	return !same;
}

/* Rows are looked at only where something changes: of many nodes, hardly one is in the cache. */
static void rebuild_list(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_bitset listed = {0};

	uint32_t capacity = state->nodes.slot_capacity;

	if (snapshot->capacity < capacity) {
		snapshot->capacity = capacity;
		snapshot->list = bt_realloc_array(snapshot->list, capacity, sizeof(uint32_t));
		snapshot->spare = bt_realloc_array(snapshot->spare, capacity, sizeof(uint32_t));
		snapshot->position =
			bt_realloc_array(snapshot->position, capacity, sizeof(uint32_t));
	}
	bt_bitset_resize(&listed, state->nodes.slot_count);
	bt_bitset_resize(&snapshot->listed, state->nodes.slot_count);
	if (write_list(state, &listed)) {
		snapshot->list_version++;
	}
	for_each_missing(state, &snapshot->listed, &listed, leave_list);
	for_each_missing(state, &listed, &snapshot->listed, enter_list);
	bt_bitset_finish(&snapshot->listed);
	snapshot->listed = listed;
	rebuild_affinity_lists(state);
}

static void snapshot_forget_leftovers(struct bt_state *state);

int bt_state_refresh_snapshot(struct bt_state *state, struct berth_error *err)
{
	struct bt_snapshot *snapshot = &state->snapshot;
	uint32_t list_count;
	bool rebuild;
	bool names_dropped;
	int result = 0;

	snapshot->refresh_count++;
	snapshot_forget_leftovers(state);
	/* Upstream's copying of newer aggregates; true when a name appears that the snapshot did
	 * not have.
	 */
	bool names_added = false;

	bt_bitset_resize(&snapshot->names, state->nodes.slot_count);
	bt_bitset_resize(&snapshot->nameless, state->nodes.slot_count);
	for (uint32_t i = 0; i < snapshot->changed_slots.count; i++) {
		uint32_t slot = snapshot->changed_slots.items[i];
		struct bt_node_row *row = &state->nodes.rows[slot];
		row->changed = false;
		if (!row->in_cache || !row->has_node) {
			bt_bitset_assign(
				&snapshot->nameless, slot, bt_snapshot_has_name(snapshot, slot));
			continue;
		}
		if (bt_state_capture_images(state, slot)) {
			bt_change_log_append(&state->log, slot, BT_CHANGE_IMAGES);
		}
		if (!bt_snapshot_has_name(snapshot, slot)) {
			bt_bitset_assign(&snapshot->names, slot, true);
			row->instance = ++snapshot->next_instance;
			snapshot->name_count++;
			names_added = true;
		}
		bool affinity = row->pods_with_affinity.count != 0;
		bool anti_affinity = row->pods_with_required_anti_affinity.count != 0;

		if (!row->in_snapshot ||
			(affinity == row->in_affinity_list &&
				anti_affinity == row->in_anti_affinity_list)) {
			continue;
		}
		if (snapshot->changed_slots.count > EDITS_MAX) {
			snapshot->lists_stale = true;
			continue;
		}
		if (affinity != row->in_affinity_list) {
			uint32_t at = position_of(snapshot, snapshot->affinity_list.items,
				snapshot->affinity_list.count, slot);
			if (affinity) {
				bt_vec_insert(&snapshot->affinity_list, at, slot);
			} else {
				bt_vec_remove_ordered(&snapshot->affinity_list, at);
			}
			row->in_affinity_list = affinity;
		}
		if (anti_affinity != row->in_anti_affinity_list) {
			uint32_t at = position_of(snapshot, snapshot->anti_affinity_list.items,
				snapshot->anti_affinity_list.count, slot);
			if (anti_affinity) {
				bt_vec_insert(&snapshot->anti_affinity_list, at, slot);
			} else {
				bt_vec_remove_ordered(&snapshot->anti_affinity_list, at);
			}
			row->in_anti_affinity_list = anti_affinity;
		}
		bt_change_log_append(&state->log, slot, BT_CHANGE_AFFINITY_PODS);
	}
	snapshot->changed_slots.count = 0;
	rebuild = names_added;
	names_dropped = snapshot->name_count > state->order.count;
	if (names_dropped) {
		uint32_t slot = bt_bitset_next(&snapshot->nameless, 0);

		for (; slot != UINT32_MAX; slot = bt_bitset_next(&snapshot->nameless, slot + 1)) {
			const struct bt_node_row *row = &state->nodes.rows[slot];
			/* The node may have come back. */
			if (!row->in_cache || !row->has_node) {
				bt_bitset_assign(&snapshot->names, slot, false);
				snapshot->name_count--;
			}
		}
	}
	if (rebuild || names_dropped) {
		rebuild_list(state);
	} else if (snapshot->lists_stale) {
		rebuild_affinity_lists(state);
	}
	list_count = snapshot->count;
	if (list_count != state->order.count) {
		rebuild_list(state);
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
		/* After drop_removed_names and a new list, which does not have the slots any more
		 * either. */
		struct bt_bitset *nameless = &state->snapshot.nameless;
		uint32_t slot = bt_bitset_next(nameless, 0);

		for (; slot != UINT32_MAX; slot = bt_bitset_next(nameless, slot + 1)) {
			bt_state_release_if_unknown(state, slot);
		}
		bt_bitset_clear(nameless);
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

/* What a pod group cycle changes in the snapshot: spec 03b section 7.3. */

/* Index in assumed_pods, or their number. */
static uint32_t find_assumed(const struct bt_state *state, struct bt_str uid)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	bt_sym symbol = bt_symbol_find(&state->symbols, uid);
	uint32_t at = snapshot->assumed_pods.count;

	/* Cycles forget the latest pod first. */
	while (at > 0 &&
		!bt_sym_equal(bt_state_pod_at(state, snapshot->assumed_pods.items[at - 1])->uid,
			symbol)) {
		at--;
	}
	return at > 0 ? at - 1 : snapshot->assumed_pods.count;
}

/** The pod is not assumed there: looking for it costs more than the rest. */
int bt_snapshot_assume_shaped(struct bt_state *state, const struct bt_pod *pod, uint32_t shape,
	uint32_t label_set, uint32_t slot, struct berth_error *err)
{
	struct bt_pod_record record = {
		.shape = shape, .label_set = label_set, .node = slot, .snapshot_only = true};
	uint32_t pod_id;

	if (pod->metadata.uid.length == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
	}
	record.uid = bt_symbol_ref_str(&state->symbols, pod->metadata.uid);
	bt_pod_record_fill(state, &record, pod);
	bt_shape_ref(&state->shapes, shape);
	bt_label_set_ref(&state->label_sets, label_set);
	pod_id = bt_pod_table_add(&state->pods, &record);
	bt_state_attach_pod(state, pod_id);
	bt_vec_push(&state->snapshot.assumed_pods, pod_id);
	if (state->pod_groups != NULL) {
		bt_pod_groups_mark(state, pod);
	}
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

static void forget_at(struct bt_state *state, uint32_t at)
{
	uint32_t pod_id = state->snapshot.assumed_pods.items[at];
	uint32_t slot = bt_state_pod_at(state, pod_id)->node;

	bt_vec_remove_swap(&state->snapshot.assumed_pods, at);
	if (state->pod_groups != NULL) {
		const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
		bt_pod_groups_unmark(state, record->uid, record->namespace_, record->shape);
	}
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
	forget_at(state, at);
	return 0;
}

/** Undo what a pod group cycle left behind (start of a refresh). */
static void snapshot_forget_leftovers(struct bt_state *state)
{
	struct bt_snapshot *snapshot = &state->snapshot;

	if (snapshot->assumed_pods.count != 0) {
		bt_state_warn(state, "%lu pods were left assumed in the snapshot",
			(unsigned long)snapshot->assumed_pods.count);
	}
	while (snapshot->assumed_pods.count != 0) {
		forget_at(state, snapshot->assumed_pods.count - 1);
	}
	if (snapshot->has_placement) {
		bt_state_warn(state, "a placement was left set in the snapshot");
		bt_snapshot_forget_placement(state);
	}
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

	*out_slots = snapshot->has_placement ? snapshot->placement_slots.items : snapshot->list;
	return snapshot->has_placement ? snapshot->placement_slots.count : snapshot->count;
}

int bt_snapshot_find_in_placement(const struct bt_state *state, struct bt_str node_name,
	uint32_t *out_slot, struct berth_error *err)
{
	uint32_t slot = bt_state_snapshot_find(state, node_name);
	const uint32_t *slots;
	uint32_t count = bt_snapshot_placement_slots(state, &slots);

	for (uint32_t i = 0; i < count && slot != BT_SLOT_NONE; i++) {
		if (slots[i] == slot) {
			*out_slot = slot;
			return 0;
		}
	}
	return bt_error_set(err, BERTH_ERR_NOT_FOUND, "node \"%.*s\" not found in placement",
		BT_STR_ARG(node_name));
}

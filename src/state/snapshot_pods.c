/* SPDX-License-Identifier: Apache-2.0 */
/* What a pod group cycle changes in the snapshot: spec 03b section 7.3. */
#include "state/state_private.h"

/* Index in assumed_pods, or their number. */
static uint32_t find_assumed(const struct bt_state *state, struct bt_str uid)
{
	const struct bt_snapshot *snapshot = &state->snapshot;
	bt_sym symbol = bt_symbol_find(&state->symbols, uid);
	uint32_t at = 0;

	while (at < snapshot->assumed_pods.count &&
		!bt_sym_equal(
			bt_state_pod_at(state, snapshot->assumed_pods.items[at])->uid, symbol)) {
		at++;
	}
	return at;
}

int bt_snapshot_assume_pod(
	struct bt_state *state, const struct bt_pod *pod, struct berth_error *err)
{
	struct bt_pod_record record = {.snapshot_only = true};
	uint32_t pod_id;

	if (pod->metadata.uid.length == 0) {
		return bt_error_set(
			err, BERTH_ERR_INVALID, "cannot get cache key for pod with empty UID");
	}
	if (find_assumed(state, pod->metadata.uid) != state->snapshot.assumed_pods.count) {
		return bt_error_set(err, BERTH_ERR_STATE,
			"pod \"%.*s\" is already assumed in the snapshot",
			BT_STR_ARG(pod->metadata.uid));
	}
	record.uid = bt_symbol_ref_str(&state->symbols, pod->metadata.uid);
	bt_pod_record_fill(state, &record, pod);
	record.shape = bt_shape_ref_pod(&state->shapes, pod, false);
	record.label_set = bt_label_set_ref_map(&state->label_sets, &pod->metadata.labels);
	record.node = bt_node_table_acquire(&state->nodes, pod->spec.node_name);
	pod_id = bt_pod_table_add(&state->pods, &record);
	bt_state_attach_pod(state, pod_id);
	bt_vec_push(&state->snapshot.assumed_pods, pod_id);
	return 0;
}

static void forget_at(struct bt_state *state, uint32_t at)
{
	uint32_t pod_id = state->snapshot.assumed_pods.items[at];
	uint32_t slot = bt_state_pod_at(state, pod_id)->node;

	bt_vec_remove_swap(&state->snapshot.assumed_pods, at);
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

void bt_snapshot_forget_leftovers(struct bt_state *state)
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

/* --- placement --- */

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

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_TRIAL_H
#define BT_STATE_TRIAL_H
/**
 * Changes of nodes and pods for a moment, to see what the scheduler would make of them. Ending the
 * trial takes them back so that nothing is left that a decision could depend on: not only what
 * nodes and pods are, but also the order of nodes, zones and pods, and what the snapshot knows of
 * images. While it lasts, nothing else may change the state.
 */
#include "state/state.h"

/** What a node had that adding everything again would not give back. */
struct bt_trial_slot {
	uint32_t slot;
	const struct bt_node *node; /* set at the end; NULL: the node was left alone */
	BT_VEC(uint32_t) pods;
	BT_VEC(uint32_t) pods_with_affinity;
	BT_VEC(uint32_t) pods_with_required_anti_affinity;
	bt_host_port_list ports; /* texts are the symbol table's */
	uint32_t *image_counts;
	uint64_t images_version;
};

struct bt_state_trial {
	struct bt_state *state;
	struct bt_arena arena;
	BT_VEC(struct bt_trial_slot) slots;
	BT_VEC(uint32_t) pods; /* taken away, in this order */
};

/** Refreshes the snapshot. On failure nothing is to be ended. */
BT_MUST_USE int bt_state_trial_begin(
	struct bt_state_trial *trial, struct bt_state *state, struct berth_error *err);
/**
 * The node, which is in the snapshot, becomes another: everything but its name, images and place in
 * the order of nodes. was: the node as it was put into the state, borrowed until the end.
 */
void bt_state_trial_set_node(struct bt_state_trial *trial, uint32_t slot, const struct bt_node *was,
	const struct bt_node *now);
/**
 * The pod, which is on a node of the snapshot, does not count any more: as if it had never been
 * there, so that other pods keep ports they share with it. Each only once.
 */
void bt_state_trial_take_pod(struct bt_state_trial *trial, uint32_t pod_id);
/** What bt_state_trial_set_node and _take_pod did is seen by the next cycle only after this. */
BT_MUST_USE int bt_state_trial_show(struct bt_state_trial *trial, struct berth_error *err);
BT_MUST_USE int bt_state_trial_end(struct bt_state_trial *trial, struct berth_error *err);
#endif

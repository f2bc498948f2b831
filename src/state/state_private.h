/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_STATE_PRIVATE_H
#define BT_STATE_STATE_PRIVATE_H
/** Private to the files of src/state that implement bt_state. */
#include "state/node_table_edit.h"
#include "state/state.h"

/* Functions of state.c. */

/** Report a line to bt_state.warn. */
BT_PRINTF(2, 3)
void bt_state_warn(struct bt_state *state, const char *format, ...);
/**
 * Record a change of the slot's aggregate: set a new generation, and let the next refresh read the
 * slot.
 */
static inline void bt_state_touch(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->generation = ++state->next_generation;
	if (!row->changed) {
		row->changed = true;
		bt_vec_push(&state->snapshot.changed_slots, slot);
	}
}
/** Make a cache entry for the slot if there is none: an imaginary node until has_node is set. */
static inline void bt_state_ensure_entry(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	state->node_entry_count += !row->in_cache;
	row->in_cache = true;
}
/** Free the slot if cache, snapshot, order and pods no longer use it. */
void bt_state_release_if_unknown(struct bt_state *state, uint32_t slot);
/** Remove the cache entry if it has no pods and no node object, and free the slot if possible. */
void bt_state_drop_empty_entry(struct bt_state *state, uint32_t slot);

/* Function of node_cache.c. */

/** Set the slot from a node object and log the changes; images only if with_images. */
void bt_state_set_slot(
	struct bt_state *state, uint32_t slot, const struct bt_node *node, bool with_images);

/* Functions of image_table.c. */

void bt_image_table_finish(struct bt_image_table *table, struct bt_symbol_table *symbols);
/**
 * Replace the slot's images by those of a node (NULL: none). Returns true if names or sizes
 * changed.
 */
bool bt_state_set_images(struct bt_state *state, uint32_t slot, const struct bt_node *node);
/**
 * Copy the current node counts of the slot's images into the row, as upstream's copy of an
 * aggregate does. Returns true if a count changed; none has if the row has the table's version.
 */
bool bt_state_capture_images(struct bt_state *state, uint32_t slot);

/* Functions of pod_account.c. */

/**
 * Set the fields of a record that come from a pod object: all except shape, label set, node,
 * position and the assumed marks. The record owns the identity.
 */
void bt_pod_record_fill(
	struct bt_state *state, struct bt_pod_record *record, const struct bt_pod *pod);
/** Release identity, symbols, shape and label set. */
void bt_pod_record_drop(struct bt_state *state, struct bt_pod_record *record);
uint32_t bt_pod_table_add(struct bt_pod_table *pods, const struct bt_pod_record *record);
void bt_pod_table_remove(struct bt_pod_table *pods, uint32_t pod_id);
/** Count the pod on its record's node, at the end of the node's lists of pods. */
void bt_state_attach_pod(struct bt_state *state, uint32_t pod_id);
/** Undo bt_state_attach_pod; the last pod of each list moves into the gap. */
void bt_state_detach_pod(struct bt_state *state, uint32_t pod_id);
/** Update the lists as if the pod were detached and attached again, without changing sums. */
void bt_state_requeue_pod(struct bt_state *state, uint32_t pod_id);

/* The claims that nodes of the snapshot use. Each node counts once for a claim. */
void bt_used_claims_finish(struct bt_state *state);
void bt_used_claims_add(struct bt_state *state, bt_sym claim);
void bt_used_claims_remove(struct bt_state *state, bt_sym claim);

/* Ports of a row: adding a port twice, or removing a port that the row lacks, does nothing. */
void bt_row_port_add(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port);
void bt_row_port_remove(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_STATE_PRIVATE_H
#define BT_STATE_STATE_PRIVATE_H
/** Between the files of src/state that make up bt_state. */
#include "state/node_table_edit.h"
#include "state/state.h"

/* state.c */

/** One line for whoever listens (bt_state_set_warn). */
BT_PRINTF(2, 3)
void bt_state_warn(struct bt_state *state, const char *format, ...);
/** The aggregate of a slot changed: a fresh generation, and the next refresh looks at it. */
static inline void bt_state_touch(struct bt_state *state, uint32_t slot)
{
	struct bt_node_row *row = &state->nodes.rows[slot];

	row->generation = ++state->next_generation;
	if (!row->changed) {
		row->changed = true;
		bt_vec_push(&state->snapshot.changed_slots, slot);
	}
}
/** Free the slot when neither cache, snapshot, order nor a pod knows it any more. */
void bt_state_release_if_unknown(struct bt_state *state, uint32_t slot);
/** A cache entry without pods and without node object disappears. */
void bt_state_drop_empty_entry(struct bt_state *state, uint32_t slot);

/* image_table.c */

void bt_image_table_finish(struct bt_image_table *table, struct bt_symbol_table *symbols);
/** Record of an image name, or UINT32_MAX. */
uint32_t bt_image_table_find(const struct bt_image_table *table,
	const struct bt_symbol_table *symbols, struct bt_str name);
/**
 * Replace the slot's contribution by the images of a node (NULL: none). true when names or sizes of
 * the node's images differ from before.
 */
bool bt_state_set_images(struct bt_state *state, uint32_t slot, const struct bt_node *node);
/** Take the present node counts into the row: what upstream's copy of an aggregate does. true when
 * one differs. */
bool bt_state_capture_images(struct bt_state *state, uint32_t slot);

/* pod_account.c: a pod record and its node */

/** Fill identity and status of a record from a pod object; takes references to symbols. */
void bt_pod_record_fill(
	struct bt_state *state, struct bt_pod_record *record, const struct bt_pod *pod);
/** Release symbols, shape and label set. */
void bt_pod_record_drop(struct bt_state *state, struct bt_pod_record *record);
/** The pod of a uid symbol, or BT_POD_NONE. */
static inline uint32_t bt_pod_table_find(const struct bt_pod_table *pods, bt_sym uid)
{
	return uid.id < pods->by_uid.count ? pods->by_uid.items[uid.id] : BT_POD_NONE;
}
void bt_pod_table_set_uid(struct bt_pod_table *pods, bt_sym uid, uint32_t pod_id);
uint32_t bt_pod_table_add(struct bt_pod_table *pods, const struct bt_pod_record *record);
void bt_pod_table_remove(struct bt_pod_table *pods, uint32_t pod_id);
/** Count the pod on record->node, at the end of its lists. */
void bt_state_attach_pod(struct bt_state *state, uint32_t pod_id);
/** The reverse; the last pod of each list moves into the gap. */
void bt_state_detach_pod(struct bt_state *state, uint32_t pod_id);
/** Lists after detaching and attaching the pod again, without touching any sum. */
void bt_state_requeue_pod(struct bt_state *state, uint32_t pod_id);

void bt_used_claims_finish(struct bt_state *state);
void bt_used_claims_add(struct bt_state *state, bt_sym claim);
void bt_used_claims_remove(struct bt_state *state, bt_sym claim);

void bt_row_port_add(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port);
void bt_row_port_remove(
	struct bt_symbol_table *symbols, struct bt_node_row *row, const struct bt_host_port *port);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "state/state.h"

#include "state/state_private.h"

int bt_state_trial_begin(
	struct bt_state_trial *trial, struct bt_state *state, struct berth_error *err)
{
	*trial = (struct bt_state_trial){.state = state};
	return bt_state_refresh_snapshot(state, err);
}

#define COPY_LIST(to, from) \
	do { \
		bt_vec_reserve((to), (from)->count); \
		for (uint32_t copied = 0; copied < (from)->count; copied++) { \
			bt_vec_push((to), (from)->items[copied]); \
		} \
	} while (0)

/**
 * Save the slot's data, unless it is saved already. Returns the saved data, valid until the next
 * call.
 */
static struct bt_trial_slot *save_slot(struct bt_state_trial *trial, uint32_t slot)
{
	const struct bt_node_row *row = &trial->state->nodes.rows[slot];
	struct bt_trial_slot saved = {.slot = slot, .images_version = row->images_version};

	bt_vec_pad(&trial->slot_at, slot + 1, 0);
	if (trial->slot_at.items[slot] != 0) {
		return &trial->slots.items[trial->slot_at.items[slot] - 1];
	}
	COPY_LIST(&saved.pods, &row->pods);
	COPY_LIST(&saved.pods_with_affinity, &row->pods_with_affinity);
	COPY_LIST(&saved.pods_with_required_anti_affinity, &row->pods_with_required_anti_affinity);
	const struct bt_symbol_table *symbols = &trial->state->symbols;

	saved.ports.items =
		BT_ARENA_NEW_ARRAY(&trial->arena, struct bt_host_port, row->ports.count);
	for (uint32_t k = 0; k < row->ports.count; k++) {
		const struct bt_used_port *used = &row->ports.items[k];

		/* Copy the texts, because taking a pod may release the symbols. */
		saved.ports.items[saved.ports.count++] = (struct bt_host_port){
			.ip = bt_arena_str(&trial->arena, bt_symbol_text(symbols, used->ip)),
			.protocol = bt_arena_str(
				&trial->arena, bt_symbol_text(symbols, used->protocol)),
			.port = used->port,
		};
	}
	saved.image_counts = BT_ARENA_NEW_ARRAY(&trial->arena, uint32_t, row->images.count);
	for (uint32_t i = 0; i < row->images.count; i++) {
		saved.image_counts[i] = row->images.items[i].node_count;
	}
	bt_vec_push(&trial->slots, saved);
	trial->slot_at.items[slot] = trial->slots.count;
	return &trial->slots.items[trial->slots.count - 1];
}

void bt_state_trial_set_node(struct bt_state_trial *trial, uint32_t slot, const struct bt_node *was,
	const struct bt_node *now)
{
	BT_ASSERT(trial->state->nodes.rows[slot].in_snapshot);
	save_slot(trial, slot)->node = was;
	bt_state_set_slot(trial->state, slot, now, false);
}

void bt_state_trial_take_pod(struct bt_state_trial *trial, uint32_t pod_id)
{
	struct bt_pod_record *record = &trial->state->pods.records.items[pod_id];

	BT_ASSERT(record->in_use && !record->snapshot_only);
	(void)save_slot(trial, record->node);
	if (trial->away.bit_count <= pod_id) {
		bt_bitset_resize(&trial->away, trial->state->pods.records.count);
	}
	BT_ASSERT(!bt_bitset_get(&trial->away, pod_id));
	bt_bitset_assign(&trial->away, pod_id, true);
	bt_vec_push(&trial->pods, pod_id);
	/* A snapshot_only pod changes neither generation nor claims. */
	record->snapshot_only = trial->in_snapshot;
	bt_state_detach_pod(trial->state, pod_id);
	record->snapshot_only = false;
	/* Removing the pod removed its ports: add the ports of the node's other pods again. */
	struct bt_state *state = trial->state;
	struct bt_node_row *row = &state->nodes.rows[record->node];
	for (uint32_t i = 0; i < row->pods.count && !trial->in_snapshot; i++) {
		const struct bt_pod_record *other = bt_state_pod_at(state, row->pods.items[i]);
		const struct bt_shape *shape = bt_shape_at(&state->shapes, other->shape);

		for (uint32_t k = 0; k < shape->host_ports.count; k++) {
			bt_row_port_add(&state->symbols, row, &shape->host_ports.items[k]);
		}
	}
}

void bt_snapshot_trial_begin(struct bt_state_trial *trial, struct bt_state *state)
{
	*trial = (struct bt_state_trial){.state = state, .in_snapshot = true};
}

void bt_snapshot_trial_return_pod(struct bt_state_trial *trial, uint32_t pod_id)
{
	struct bt_pod_record *record = &trial->state->pods.records.items[pod_id];

	BT_ASSERT(bt_bitset_get(&trial->away, pod_id));
	bt_bitset_assign(&trial->away, pod_id, false);
	record->snapshot_only = trial->in_snapshot;
	bt_state_attach_pod(trial->state, pod_id);
	record->snapshot_only = false;
}

/** Restore all pods and nodes, including the order of each node's pods. */
static void restore(struct bt_state_trial *trial)
{
	struct bt_state *state = trial->state;

	for (uint32_t i = trial->pods.count; i-- > 0;) {
		if (bt_bitset_get(&trial->away, trial->pods.items[i])) {
			bt_snapshot_trial_return_pod(trial, trial->pods.items[i]);
		}
	}
	for (uint32_t i = 0; i < trial->slots.count; i++) {
		const struct bt_trial_slot *saved = &trial->slots.items[i];

		if (saved->node != NULL) {
			bt_state_set_slot(state, saved->slot, saved->node, false);
		}
		/* The node has the same pods again; restore their order. */
		struct bt_node_row *row = &state->nodes.rows[saved->slot];

		BT_ASSERT(row->pods.count == saved->pods.count);
		for (uint32_t n = 0; n < saved->pods.count; n++) {
			row->pods.items[n] = saved->pods.items[n];
			state->pods.records.items[saved->pods.items[n]].position = n;
		}
		row->pods_with_affinity.count = 0;
		COPY_LIST(&row->pods_with_affinity, &saved->pods_with_affinity);
		row->pods_with_required_anti_affinity.count = 0;
		COPY_LIST(&row->pods_with_required_anti_affinity,
			&saved->pods_with_required_anti_affinity);
		/*
		 * Restore the set of ports from the saved set. Adding the pods again is not enough:
		 * if pods share a port, the set depends on the order of removals and additions.
		 */
		for (uint32_t k = row->ports.count; k-- > 0;) {
			struct bt_host_port port = {
				.ip = bt_symbol_text(&state->symbols, row->ports.items[k].ip),
				.protocol = bt_symbol_text(
					&state->symbols, row->ports.items[k].protocol),
				.port = row->ports.items[k].port,
			};

			if (bt_host_ports_find(saved->ports.items, saved->ports.count, &port) ==
				saved->ports.count) {
				bt_row_port_remove(&state->symbols, row, &port);
			}
		}
		for (uint32_t k = 0; k < saved->ports.count; k++) {
			bt_row_port_add(&state->symbols, row, &saved->ports.items[k]);
		}
	}
}

static void finish(struct bt_state_trial *trial)
{
	for (uint32_t i = 0; i < trial->slots.count; i++) {
		bt_vec_finish(&trial->slots.items[i].pods);
		bt_vec_finish(&trial->slots.items[i].pods_with_affinity);
		bt_vec_finish(&trial->slots.items[i].pods_with_required_anti_affinity);
	}
	bt_vec_finish(&trial->slots);
	bt_vec_finish(&trial->slot_at);
	bt_vec_finish(&trial->pods);
	bt_bitset_finish(&trial->away);
	bt_arena_finish(&trial->arena);
}

void bt_snapshot_trial_end(struct bt_state_trial *trial)
{
	restore(trial);
	for (uint32_t i = 0; i < trial->slots.count; i++) {
		/* restore() changes the ports but does not log the change, so log it here. */
		bt_change_log_append(&trial->state->log, trial->slots.items[i].slot,
			BT_CHANGE_PODS | BT_CHANGE_PORTS);
	}
	finish(trial);
}

int bt_state_trial_end(struct bt_state_trial *trial, struct berth_error *err)
{
	struct bt_state *state = trial->state;

	restore(trial);
	int result = bt_state_refresh_snapshot(state, err);
	for (uint32_t i = 0; i < trial->slots.count; i++) {
		struct bt_trial_slot *saved = &trial->slots.items[i];

		/*
		 * Restore the image counts: in upstream's snapshot, a node that did not change
		 * keeps its earlier counts.
		 */
		struct bt_node_row *row = &state->nodes.rows[saved->slot];
		bool differs = false;

		for (uint32_t k = 0; k < row->images.count; k++) {
			differs = differs ||
				row->images.items[k].node_count != saved->image_counts[k];
			row->images.items[k].node_count = saved->image_counts[k];
		}
		row->images_version = saved->images_version;
		if (differs) {
			bt_change_log_append(&state->log, saved->slot, BT_CHANGE_IMAGES);
		}
	}
	finish(trial);
	return result;
}

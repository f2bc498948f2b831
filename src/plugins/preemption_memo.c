/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_evaluator.h"

/** Nodes per entry of by_block. */
#define BLOCK 64
/**
 * Maximum number of different statuses in a memo. If there are more, the statuses probably contain
 * node names, so few of them are equal.
 */
#define STATUSES_MAX 64
/** A memo is cleared when it has, on average, more than this number of victims per node. */
#define VICTIMS_PER_SLOT 16

static int32_t lowest_of_node(const struct bt_state *state, uint32_t slot)
{
	const struct bt_node_row *row = &state->nodes.rows[slot];
	int32_t lowest = INT32_MAX;

	for (uint32_t i = 0; i < row->pods.count; i++) {
		int32_t priority = bt_state_pod_at(state, row->pods.items[i])->priority;

		lowest = priority < lowest ? priority : lowest;
	}
	return lowest;
}

static int32_t lowest_of(const int32_t *values, uint32_t count)
{
	int32_t lowest = INT32_MAX;

	for (uint32_t i = 0; i < count; i++) {
		lowest = values[i] < lowest ? values[i] : lowest;
	}
	return lowest;
}

static void update_block(struct bt_lowest_priorities *lowest, uint32_t block)
{
	uint32_t from = block * BLOCK;
	uint32_t rest = lowest->by_slot.count - from;

	lowest->by_block.items[block] =
		lowest_of(&lowest->by_slot.items[from], rest < BLOCK ? rest : BLOCK);
}

void bt_lowest_priorities_refresh(struct bt_lowest_priorities *lowest, const struct bt_state *state)
{
	const struct bt_change_log *log = &state->log;

	if (!lowest->filled || lowest->by_slot.count != state->nodes.slot_count ||
		!bt_change_log_covers(log, lowest->seen)) {
		uint32_t count = state->nodes.slot_count;

		bt_vec_reserve(&lowest->by_slot, count);
		bt_vec_reserve(&lowest->by_block, ((uint64_t)count + BLOCK - 1) / BLOCK);
		lowest->by_slot.count = count;
		lowest->by_block.count = (uint32_t)(((uint64_t)count + BLOCK - 1) / BLOCK);
		for (uint32_t slot = 0; slot < count; slot++) {
			lowest->by_slot.items[slot] = lowest_of_node(state, slot);
		}
		for (uint32_t block = 0; block < lowest->by_block.count; block++) {
			update_block(lowest, block);
		}
		lowest->filled = true;
		lowest->seen = log->sequence;
		return;
	}
	for (; lowest->seen < log->sequence; lowest->seen++) {
		uint32_t slot = bt_change_log_at(log, lowest->seen).slot;

		lowest->by_slot.items[slot] = lowest_of_node(state, slot);
		update_block(lowest, slot / BLOCK);
	}
}

int32_t bt_lowest_priority(const struct bt_lowest_priorities *lowest)
{
	return lowest_of(lowest->by_block.items, lowest->by_block.count);
}

static void reset_memo(struct bt_dry_run_memo *memo)
{
	memo->victims.count = 0;
	memo->statuses.count = 0;
	memo->notes.count = 0;
	bt_arena_reset(&memo->arena);
}

static bool is_for(const struct bt_dry_run_memo *memo, const struct bt_pod_info *pod,
	const struct bt_plugin_set *skip_filter)
{
	return memo->shape_serial == pod->shape->serial && memo->priority == pod->priority &&
		memcmp(&memo->skip_filter, skip_filter, sizeof(*skip_filter)) == 0;
}

struct bt_dry_run_memo *bt_dry_run_memo_for(struct bt_dry_run_memos *memos,
	const struct bt_state *state, const struct bt_pod_info *pod,
	const struct bt_plugin_set *skip_filter)
{
	struct bt_dry_run_memo *found = &memos->items[0];

	for (uint32_t i = 0; i < BT_DRY_RUN_MEMOS; i++) {
		struct bt_dry_run_memo *memo = &memos->items[i];

		if (is_for(memo, pod, skip_filter)) {
			found = memo;
			break;
		}
		found = memo->last_use < found->last_use ? memo : found;
	}
	if (!is_for(found, pod, skip_filter)) {
		reset_memo(found);
		found->shape_serial = pod->shape->serial;
		found->priority = pod->priority;
		found->skip_filter = *skip_filter;
	}
	found->last_use = ++memos->uses;
	const struct bt_change_log *log = &state->log;
	uint32_t slot_count = state->nodes.slot_count;

	if (found->notes.count != slot_count || !bt_change_log_covers(log, found->seen) ||
		found->victims.count / VICTIMS_PER_SLOT > slot_count) {
		reset_memo(found);
		bt_vec_reserve(&found->notes, slot_count);
		found->notes.count = slot_count;
		if (slot_count != 0) {
			memset(found->notes.items, 0, slot_count * sizeof(*found->notes.items));
		}
		found->seen = log->sequence;
	}
	for (; found->seen < log->sequence; found->seen++) {
		found->notes.items[bt_change_log_at(log, found->seen).slot].generation = 0;
	}
	return found;
}

bool bt_dry_run_recall(const struct bt_dry_run_memo *memo, const struct bt_state *state,
	uint32_t slot, struct bt_dry_run_end *out_end)
{
	const struct bt_dry_run_note *note = &memo->notes.items[slot];

	/*
	 * The change log does not have all changes that affect the order of victims, so compare the
	 * generation of the row.
	 */
	if (note->generation != state->nodes.rows[slot].generation + 1) {
		return false;
	}
	*out_end = (struct bt_dry_run_end){.victim_count = note->count};
	if (note->count != 0) {
		out_end->victims = &memo->victims.items[note->at];
	} else {
		out_end->status = memo->statuses.items[note->at];
	}
	return true;
}

void bt_dry_run_memo_add(struct bt_dry_run_memo *memo, const struct bt_state *state, uint32_t slot,
	const struct bt_dry_run_end *end)
{
	uint32_t at = memo->victims.count;

	for (uint32_t i = 0; i < end->victim_count; i++) {
		bt_vec_push(&memo->victims, end->victims[i]);
	}
	if (end->victim_count == 0) {
		at = 0;
		while (at < memo->statuses.count &&
			!bt_status_equal(&memo->statuses.items[at], &end->status)) {
			at++;
		}
		if (at == STATUSES_MAX) {
			return;
		}
		if (at == memo->statuses.count) {
			bt_vec_push(&memo->statuses, bt_status_copy(&end->status, &memo->arena));
		}
	}
	memo->notes.items[slot] = (struct bt_dry_run_note){
		state->nodes.rows[slot].generation + 1, at, end->victim_count};
}

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Nodes that other pods are nominated on. They must fit with those pods and without (spec 02
 * section 5.4), so each is asked by itself; all other nodes are decided as if nobody was nominated.
 * Scores know nothing of nominations: a node that fits stays what it is to the plan, one that does
 * not is taken out of it for the decision.
 */
#include <stdlib.h>

#include "sched/cycle_private.h"

/** With more of them the list is searched: then it is they that cost. */
#define NOMINATED_MAX 512

struct marking {
	struct bt_cycle_run *run;
	uint32_t capacity;
};

static void mark_node(void *context, struct bt_str node_name)
{
	struct marking *marking = context;
	struct bt_cycle_run *run = marking->run;
	const struct bt_state *state = run->engine->state;
	uint32_t slot = bt_state_snapshot_find(state, node_name);
	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_snapshot) {
		return;
	}
	if (run->nominated == NULL) {
		run->nominated = BT_ARENA_NEW_ARRAY(
			run->cycle->arena, struct bt_cycle_nominated, marking->capacity);
	}
	run->nominated[run->nominated_count++].slot = slot;
}

void bt_cycle_mark_nominated(struct bt_cycle_run *run)
{
	const struct bt_nominator *nominator = &run->engine->nominator;
	struct marking marking = {run, nominator->count};
	bt_nominator_for_each_rival_node(nominator, run->pod, mark_node, &marking);
}

void bt_cycle_index_nominated(struct bt_cycle_run *run)
{
	if (run->nominated_count == 0 || run->nominated_at != NULL) {
		return;
	}
	run->nominated_at = BT_ARENA_NEW_ARRAY(
		run->cycle->arena, uint32_t, run->engine->state->nodes.slot_count);
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		run->nominated_at[run->nominated[i].slot] = i + 1;
	}
}

struct bt_cycle_nominated *bt_cycle_nominated_at(const struct bt_cycle_run *run, uint32_t slot)
{
	if (run->nominated_at != NULL) {
		uint32_t at = run->nominated_at[slot];
		return at != 0 ? &run->nominated[at - 1] : NULL;
	}
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		if (run->nominated[i].slot == slot) {
			return &run->nominated[i];
		}
	}
	return NULL;
}

struct bt_status bt_cycle_ask_nominated(
	struct bt_cycle_run *run, struct bt_cycle_nominated *nominated)
{
	if (!nominated->is_known) {
		struct bt_node_info node;
		bt_node_info_init(&node, run->engine->state, nominated->slot);
		nominated->status = bt_run_filter_with_nominated_pods(
			run->framework, run->cycle, run->pod, &node);
		nominated->is_known = true;
	}
	return nominated->status;
}

void bt_cycle_forget_nominated(struct bt_cycle_run *run)
{
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		run->nominated[i].is_known = false;
	}
}

static int by_distance(const void *a, const void *b)
{
	const struct bt_cycle_nominated *left = a;
	const struct bt_cycle_nominated *right = b;
	return left->distance < right->distance ? -1 : left->distance > right->distance;
}

bool bt_cycle_ask_all_nominated(struct bt_cycle_run *run)
{
	const struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	if (run->nominated_count > NOMINATED_MAX) {
		return false;
	}
	uint32_t start = run->start_index % snapshot->count;
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		uint32_t position = snapshot->position[run->nominated[i].slot];
		run->nominated[i].distance =
			position - start + (position < start ? snapshot->count : 0);
	}
	if (run->nominated_count > 1) {
		qsort(run->nominated, run->nominated_count, sizeof(*run->nominated), by_distance);
	}
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		struct bt_status status = bt_cycle_ask_nominated(run, &run->nominated[i]);
		if (!bt_status_is_success(&status) && !bt_status_is_rejected(&status)) {
			return false;
		}
	}
	return true;
}

void bt_cycle_take_out_nominated(struct bt_cycle_run *run)
{
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		struct bt_cycle_nominated *nominated = &run->nominated[i];
		if (!bt_status_is_success(&nominated->status)) {
			nominated->verdict = bt_plan_replace_verdict(
				run->plan, nominated->slot, BT_VERDICT_TAKEN_OUT);
		}
	}
}

void bt_cycle_put_back_nominated(struct bt_cycle_run *run)
{
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		const struct bt_cycle_nominated *nominated = &run->nominated[i];
		if (!bt_status_is_success(&nominated->status)) {
			(void)bt_plan_replace_verdict(
				run->plan, nominated->slot, nominated->verdict);
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_CYCLE_PRIVATE_H
#define BT_SCHED_CYCLE_PRIVATE_H
/** Shared by cycle.c, cycle_search.c and cycle_score.c only. */
#include "sched/cycle.h"

/** What the steps of one cycle share. */
struct bt_cycle_run {
	struct bt_engine *engine;
	struct bt_framework *framework;
	const struct bt_pod_info *pod;
	struct bt_plan *plan; /* NULL: no columns for this profile */
	const uint32_t
		*verdict; /* of this cycle; the plan's own or with per-cycle filters merged in */
	struct bt_cycle_state *cycle;
	/** By slot: pods are nominated on the node. NULL: on no node. */
	const uint8_t *nominated;
	struct bt_schedule_result *result;
	struct bt_pre_filter_outcome pre_filter;
	uint32_t start_index; /* rotation index at the start */
};

/** Fill run->nominated. */
void bt_cycle_mark_nominated(struct bt_cycle_run *run);
/**
 * Search in rotated order up to the limit: the reference outcome. Spec 03 section 3.5. Statuses of
 * rejected nodes go into the diagnosis only where somebody will read them: when nothing fits, or
 * when they had to be made anyway.
 */
struct bt_search_result bt_cycle_search(struct bt_cycle_run *run, struct bt_search search);
/** Totals of the feasible nodes; a status that is not Success ends the cycle. Spec 03 section 5. */
struct bt_status bt_cycle_score(
	struct bt_cycle_run *run, const uint32_t *slots, uint32_t count, int64_t *totals);
#endif

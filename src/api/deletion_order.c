/* SPDX-License-Identifier: Apache-2.0 */
#include "api/deletion_order.h"

#include <stdlib.h>

#include "base/compiler.h"

/** Integer part of the binary logarithm of a duration; -1 if the duration is not positive. */
static int log_rank(int64_t seconds)
{
	return seconds > 0 ? 63 - (int)BT_CLZ64((uint64_t)seconds) : -1;
}

/** Compares two times by logarithmic rank; different times of equal rank by uid. */
static int compare_times(int64_t time_a, int64_t time_b, int rank_a, int rank_b,
	struct bt_str uid_a, struct bt_str uid_b)
{
	if (time_a == time_b) {
		return 0;
	}
	return rank_a != rank_b ? BT_ORDER(rank_a, rank_b) : bt_str_compare(uid_a, uid_b);
}

BT_COMPARE(compare_candidates, struct bt_deletion_candidate,
	BT_ORDER_BY(BT_ORDER(a->node_name.length != 0, b->node_name.length != 0),
		BT_ORDER(a->phase, b->phase), BT_ORDER(a->ready, b->ready),
		BT_ORDER(a->deletion_cost, b->deletion_cost),
		BT_ORDER(b->ready_on_node, a->ready_on_node),
		a->ready ? compare_times(a->ready_since_seconds, b->ready_since_seconds,
				   a->ready_rank, b->ready_rank, a->uid, b->uid)
			 : 0,
		BT_ORDER(b->restart_count, a->restart_count),
		compare_times(a->created_seconds, b->created_seconds, a->age_rank, b->age_rank,
			a->uid, b->uid),
		bt_str_compare(a->uid, b->uid)))

BT_COMPARE(compare_nodes, struct bt_deletion_candidate, bt_str_compare(a->node_name, b->node_name))

void bt_deletion_order_sort(
	struct bt_deletion_candidate *candidates, uint32_t count, int64_t now_seconds)
{
	if (count < 2) {
		return;
	}
	for (uint32_t i = 0; i < count; i++) {
		struct bt_deletion_candidate *candidate = &candidates[i];
		candidate->ready_rank = log_rank(now_seconds - candidate->ready_since_seconds);
		candidate->age_rank = log_rank(now_seconds - candidate->created_seconds);
	}
	/* Count the ready pods on the node of each candidate. */
	qsort(candidates, count, sizeof(*candidates), compare_nodes);
	for (uint32_t first = 0, end; first < count; first = end) {
		int64_t ready = 0;
		for (end = first; end < count &&
			bt_str_equal(candidates[end].node_name, candidates[first].node_name);
			end++) {
			ready += candidates[end].ready;
		}
		if (candidates[first].node_name.length == 0) {
			ready = 0;
		}
		for (uint32_t i = first; i < end; i++) {
			candidates[i].ready_on_node = ready;
		}
	}
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
}

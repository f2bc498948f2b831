/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "base/compiler.h"
#include "controllers/replicas.h"

#include "base/arena.h"

/** A pod with what its place depends on, worked out before sorting. */
struct candidate {
	const struct bt_pod_record *pod;
	int64_t ready_on_node;
	int ready_rank;
	int age_rank;
};

/** Whole part of the logarithm of a number of seconds; -1 for none. */
static int log_rank(int64_t seconds)
{
	return seconds > 0 ? 63 - (int)BT_CLZ64((uint64_t)seconds) : -1;
}

static int phase_rank(enum bt_pod_phase phase)
{
	switch (phase) {
	case BT_POD_PENDING:
		return 0;
	case BT_POD_UNKNOWN:
		return 1;
	case BT_POD_RUNNING:
	case BT_POD_SUCCEEDED:
	case BT_POD_FAILED:
		break;
	}
	return 2;
}

static int compare_int64(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/** On the scale of logarithms; equal ranks of different times: by uid. */
static int compare_times(int64_t time_a, int64_t time_b, int rank_a, int rank_b,
	struct bt_str uid_a, struct bt_str uid_b)
{
	if (time_a == time_b) {
		return 0;
	}
	return rank_a != rank_b ? compare_int64(rank_a, rank_b) : bt_str_compare(uid_a, uid_b);
}

static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *x = left;
	const struct candidate *y = right;
	const struct bt_pod_record *a = x->pod;
	const struct bt_pod_record *b = y->pod;
	int order = (a->node_name.length != 0) - (b->node_name.length != 0);

	if (order == 0) {
		order = compare_int64(phase_rank(a->phase), phase_rank(b->phase));
	}
	if (order == 0) {
		order = (int)a->ready - (int)b->ready;
	}
	if (order == 0) {
		order = compare_int64(a->deletion_cost, b->deletion_cost);
	}
	if (order == 0) {
		order = compare_int64(y->ready_on_node, x->ready_on_node);
	}
	if (order == 0 && a->ready) {
		order = compare_times(a->ready_since_seconds, b->ready_since_seconds, x->ready_rank,
			y->ready_rank, a->uid, b->uid);
	}
	if (order == 0) {
		order = compare_int64(b->restart_count, a->restart_count);
	}
	if (order == 0) {
		order = compare_times(a->created_seconds, b->created_seconds, x->age_rank,
			y->age_rank, a->uid, b->uid);
	}
	return order != 0 ? order : bt_str_compare(a->uid, b->uid);
}

static int compare_nodes(const void *left, const void *right)
{
	const struct candidate *a = left;
	const struct candidate *b = right;
	return bt_str_compare(a->pod->node_name, b->pod->node_name);
}

/** How many ready ones stand on each one's node. */
static void count_on_nodes(struct candidate *candidates, uint32_t count)
{
	qsort(candidates, count, sizeof(*candidates), compare_nodes);
	for (uint32_t first = 0, end; first < count; first = end) {
		int64_t ready = 0;
		for (end = first; end < count &&
			bt_str_equal(
				candidates[end].pod->node_name, candidates[first].pod->node_name);
			end++) {
			ready += candidates[end].pod->ready;
		}
		if (candidates[first].pod->node_name.length == 0) {
			ready = 0;
		}
		for (uint32_t i = first; i < end; i++) {
			candidates[i].ready_on_node = ready;
		}
	}
}

void bt_replicas_sort_for_deletion(const struct bt_pod_record **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds)
{
	struct candidate *candidates = BT_ARENA_NEW_ARRAY(arena, struct candidate, count);

	for (uint32_t i = 0; i < count; i++) {
		candidates[i].pod = pods[i];
		candidates[i].ready_rank = log_rank(now_seconds - pods[i]->ready_since_seconds);
		candidates[i].age_rank = log_rank(now_seconds - pods[i]->created_seconds);
	}
	count_on_nodes(candidates, count);
	qsort(candidates, count, sizeof(*candidates), compare_candidates);
	for (uint32_t i = 0; i < count; i++) {
		pods[i] = candidates[i].pod;
	}
}

bool bt_replicas_is_available(const struct bt_pod_record *pod, int64_t min_ready_seconds,
	int64_t now_seconds, int64_t *out_wait_until)
{
	int64_t available_at = pod->ready_since_seconds + min_ready_seconds;

	if (!pod->ready) {
		return false;
	}
	if (min_ready_seconds == 0 || available_at <= now_seconds) {
		return true;
	}
	if (out_wait_until != NULL && available_at < *out_wait_until) {
		*out_wait_until = available_at;
	}
	return false;
}

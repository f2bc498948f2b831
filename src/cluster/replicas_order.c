/* SPDX-License-Identifier: Apache-2.0 */
#include "api/deletion_order.h"
#include "base/arena.h"
#include "cluster/replicas.h"

static enum bt_deletion_phase phase_of(const struct bt_indexed_pod *pod)
{
	switch (pod->phase) {
	case BT_POD_PENDING:
		return BT_DELETION_PENDING;
	case BT_POD_UNKNOWN:
		return BT_DELETION_UNKNOWN;
	case BT_POD_RUNNING:
	case BT_POD_SUCCEEDED:
	case BT_POD_FAILED:
		break;
	}
	return BT_DELETION_OTHER;
}

void bt_replicas_sort_for_deletion(const struct bt_indexed_pod **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds)
{
	struct bt_deletion_candidate *candidates =
		BT_ARENA_NEW_ARRAY(arena, struct bt_deletion_candidate, count);

	for (uint32_t i = 0; i < count; i++) {
		candidates[i] = (struct bt_deletion_candidate){
			.pod = pods[i],
			.uid = pods[i]->uid,
			.node_name = pods[i]->node_name,
			.phase = phase_of(pods[i]),
			.ready = pods[i]->ready,
			.restart_count = pods[i]->restart_count,
			.deletion_cost = pods[i]->deletion_cost,
			.ready_since_seconds = pods[i]->ready_since_seconds,
			.created_seconds = pods[i]->created_seconds,
		};
	}
	bt_deletion_order_sort(candidates, count, now_seconds);
	for (uint32_t i = 0; i < count; i++) {
		pods[i] = candidates[i].pod;
	}
}

bool bt_replicas_is_available(const struct bt_indexed_pod *pod, int64_t min_ready_seconds,
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

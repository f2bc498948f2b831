/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_REPLICAS_H
#define BT_CLUSTER_REPLICAS_H
/** Keeping a number of equal pods: what ReplicaSets and ReplicationControllers share. Spec: 14b
 * section 6.1. */
#include "cluster/controller.h"

/** Sort active pods of one owner so that those to be deleted first come first. */
void bt_replicas_sort_for_deletion(const struct bt_indexed_pod **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds);
/** Ready, and for as long as it must be. *out_wait_until (seconds; may be NULL) is lowered to when
 * a ready one will be. */
bool bt_replicas_is_available(const struct bt_indexed_pod *pod, int64_t min_ready_seconds,
	int64_t now_seconds, int64_t *out_wait_until);
#endif

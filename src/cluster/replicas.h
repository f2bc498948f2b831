/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_REPLICAS_H
#define BT_CLUSTER_REPLICAS_H
/** Code that ReplicaSets and ReplicationControllers share. Spec: 14b section 6.1. */
#include "cluster/controller.h"

/** Sorts active pods of one owner so that the pods to delete first come first. */
void bt_replicas_sort_for_deletion(const struct bt_indexed_pod **pods, uint32_t count,
	struct bt_arena *arena, int64_t now_seconds);
/**
 * Returns whether the pod has been ready for min_ready_seconds. *out_wait_until (seconds; may be
 * NULL) is lowered to the time when a ready pod will be available.
 */
bool bt_replicas_is_available(const struct bt_indexed_pod *pod, int64_t min_ready_seconds,
	int64_t now_seconds, int64_t *out_wait_until);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_DISRUPTION_TARGET_H
#define BT_CLUSTER_DISRUPTION_TARGET_H
/** Deleting pods that did not ask for it: condition DisruptionTarget first. Spec: 14b section 6.6.
 */
#include "cluster/controller.h"

/** grace_seconds as of bt_hub_delete. false: try again. */
bool bt_disrupt_pod(struct bt_hub *hub, struct bt_str key, const char *reason,
	struct bt_str message, int64_t grace_seconds, struct bt_arena *arena, int64_t now_ns);
#endif

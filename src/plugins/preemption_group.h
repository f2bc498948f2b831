/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_GROUP_H
#define BT_PLUGINS_PREEMPTION_GROUP_H
/** Preemption for a pod group, anywhere in the cluster. Spec: 08 section 14. */
#include "api/types.h"
#include "plugins/preemption_evaluator.h"

/**
 * pods: the group's pods of this cycle, at least one. Success: victims are on their way out. The
 * snapshot is left as the last trial made it.
 */
struct bt_status bt_evaluator_preempt_for_group(struct bt_evaluator *evaluator,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial);
#endif

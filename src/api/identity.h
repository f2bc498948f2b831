/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_IDENTITY_H
#define BT_API_IDENTITY_H
/** States and conditions of pods. Spec: 01 sections 5.13 to 5.18. */
#include <stdbool.h>

#include "api/meta.h"
#include "api/pod.h"
#include "base/error.h"

bool bt_pod_is_assigned(const struct bt_pod *pod);
bool bt_pod_is_terminating(const struct bt_pod *pod);
/** Whether the pod is the API server's copy of a static pod, which its kubelet keeps. */
bool bt_pod_is_mirror(const struct bt_pod *pod);
/**
 * Returns true if the pod is terminating, and its first DisruptionTarget condition is True with the
 * reason PreemptionByScheduler (spec 08 section 6).
 */
bool bt_pod_is_terminating_by_preemption(const struct bt_pod *pod);

/**
 * Copies the conditions of the status to the arena, and in the copy replaces the condition of the
 * same type by `condition`, or adds `condition` if there is none (spec 01 section 5.18).
 * *out_changed: whether `condition` is new, or differs from the replaced condition in a field other
 * than observedGeneration. The function computes last_transition_time itself and ignores the one in
 * `condition`.
 */
bt_pod_condition_list bt_pod_conditions_set(const struct bt_pod_status *status,
	const struct bt_pod_condition *condition, const struct bt_time *now, struct bt_arena *arena,
	bool *out_changed);
#endif

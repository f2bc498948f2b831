/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_IDENTITY_H
#define BT_API_IDENTITY_H
/** Keys, owners, importance and states of pods. Spec: 01 sections 5.13 to 5.18. */
#include <stdbool.h>

#include "api/meta.h"
#include "api/pod.h"
#include "base/error.h"

/**
 * Group and version of "v1", "apps/v1"; both empty for "" and "/". false when there is more than
 * one "/". The results are borrowed from api_version.
 */
bool bt_api_version_split(
	struct bt_str api_version, struct bt_str *out_group, struct bt_str *out_version);

/** status.startTime, or now for a pod that has not started. */
struct bt_time bt_pod_start_time(const struct bt_pod *pod, const struct bt_time *now);
/**
 * Spec 01 section 5.13: a has the higher priority, or the same and started earlier. *clock is what
 * unstarted pods take as their start; it advances by a nanosecond with each question, as the clock
 * that upstream asks.
 */
bool bt_pod_is_more_important(
	const struct bt_pod *a, const struct bt_pod *b, struct bt_time *clock);

bool bt_pod_is_assigned(const struct bt_pod *pod);
bool bt_pod_is_terminating(const struct bt_pod *pod);
/**
 * Terminating, and the first condition DisruptionTarget says that preemption is why (spec 08
 * section 6).
 */
bool bt_pod_is_terminating_by_preemption(const struct bt_pod *pod);
/** preemptionPolicy is present and "Never". */
bool bt_pod_never_preempts(const struct bt_pod *pod);

/**
 * Spec 01 section 5.18: the conditions of status with condition set, in the arena; *out_changed
 * tells whether anything that counts differs. condition->last_transition_time is not read.
 */
bt_pod_condition_list bt_pod_conditions_set(const struct bt_pod_status *status,
	const struct bt_pod_condition *condition, const struct bt_time *now, struct bt_arena *arena,
	bool *out_changed);
#endif

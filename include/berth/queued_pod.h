/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_QUEUED_POD_H
#define BERTH_QUEUED_POD_H
/**
 * @file
 * A queue entry: a pod with its scheduling history (QueuedPodInfo; PodInfo in framework v1alpha1).
 * Spec 04-queue section 3.1, upstream v1.36.
 */
#include <stdint.h>

#include "berth/api.h"
#include "berth/arena.h"
#include "berth/pod_info.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Value of a time that is not set. */
#define BERTH_TIME_UNSET INT64_MIN

/** Times count on the queue owner's clock. */
struct berth_queued_pod {
	const struct berth_pod_info *pod; /**< borrowed */
	int64_t timestamp_ns;             /**< when it last entered the queue */
	uint32_t attempts;                /**< scheduling attempts so far */
	/** First entry into the active queue; BERTH_TIME_UNSET before. Set once. */
	int64_t initial_attempt_timestamp_ns;
};

/**
 * DeepCopy: an independent copy in the arena, which outlives the queue and the cluster. Its pod
 * answers all questions of pod_info.h but for the whole object, and is not for plugins.
 */
BERTH_API struct berth_queued_pod *berth_queued_pod_deep_copy(
	const struct berth_queued_pod *pod, struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

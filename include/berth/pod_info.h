/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_POD_INFO_H
#define BERTH_POD_INFO_H
/**
 * @file
 * A pod as the scheduler sees it, pending or bound: identity, labels, requests. The scheduler keeps
 * no whole object of a bound pod. Spec 03b section 1, upstream v1.36.
 *
 * @code{.c}
 * static bool is_same_application(
 *     const struct berth_pod_info *a, const struct berth_pod_info *b)
 * {
 *     struct berth_str key = BERTH_STR("app.kubernetes.io/name");
 *
 *     return berth_str_equal(berth_pod_info_namespace(a), berth_pod_info_namespace(b)) &&
 *         berth_str_equal(berth_pod_info_label(a, key), berth_pod_info_label(b, key));
 * }
 * @endcode
 */
#include <stdint.h>

#include "berth/api.h"
#include "berth/object.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A pod. Opaque. Valid for the call that receives it, unless a function says otherwise. */
struct berth_pod_info;

/** metadata.name. Texts that these functions return are valid as long as the pod info. */
BERTH_API struct berth_str berth_pod_info_name(const struct berth_pod_info *pod);
/** metadata.namespace. */
BERTH_API struct berth_str berth_pod_info_namespace(const struct berth_pod_info *pod);
/** metadata.uid. */
BERTH_API berth_uid berth_pod_info_uid(const struct berth_pod_info *pod);
/** Value of a label; absent (data NULL) when the pod lacks the label. */
BERTH_API struct berth_str berth_pod_info_label(
	const struct berth_pod_info *pod, struct berth_str key);
/** Number of labels. */
BERTH_API uint32_t berth_pod_info_label_count(const struct berth_pod_info *pod);
/** Key and value of a label, ascending by key; 0 <= index < count. Out pointers may be NULL. */
BERTH_API void berth_pod_info_label_at(const struct berth_pod_info *pod, uint32_t index,
	struct berth_str *out_key, struct berth_str *out_value);
/** spec.priority; 0 if not set. */
BERTH_API int32_t berth_pod_info_priority(const struct berth_pod_info *pod);
/** The node that the pod runs on or is assumed on; "" while the pod is pending. */
BERTH_API struct berth_str berth_pod_info_node_name(const struct berth_pod_info *pod);
/** status.nominatedNodeName; "" if not set. */
BERTH_API struct berth_str berth_pod_info_nominated_node_name(const struct berth_pod_info *pod);
/** spec.schedulerName. */
BERTH_API struct berth_str berth_pod_info_scheduler_name(const struct berth_pod_info *pod);
/** Requested cpu in thousandths, computed as for NodeResourcesFit (spec 01b section 5). */
BERTH_API int64_t berth_pod_info_cpu_milli(const struct berth_pod_info *pod);
/** Requested memory in bytes, computed as for NodeResourcesFit. */
BERTH_API int64_t berth_pod_info_memory_bytes(const struct berth_pod_info *pod);
/** Requested ephemeral storage in bytes, computed as for NodeResourcesFit. */
BERTH_API int64_t berth_pod_info_ephemeral_storage_bytes(const struct berth_pod_info *pod);
/**
 * The whole object, for a pod that is being scheduled and for a pod of an aggregate; NULL for other
 * pods.
 */
BERTH_API const struct berth_pod *berth_pod_info_pod(const struct berth_pod_info *pod);

/* Queue entries. */

/** Value of an unset time. */
#define BERTH_TIME_UNSET INT64_MIN

/** An entry of the queue. Times are on the clock of the queue's owner. */
struct berth_queued_pod {
	const struct berth_pod_info *pod; /**< borrowed */
	int64_t timestamp_ns;             /**< when the pod last entered the queue */
	uint32_t attempts;                /**< scheduling attempts so far */
	/** When the pod first entered the active queue, set once; BERTH_TIME_UNSET before. */
	int64_t initial_attempt_timestamp_ns;
};

/**
 * DeepCopy: an independent copy in the arena, which stays valid even after the queue and the engine
 * are destroyed. All functions of pod_info.h accept the copied pod; berth_pod_info_pod() returns
 * NULL for it. The copied pod must not be passed to plugins.
 */
BERTH_API struct berth_queued_pod *berth_queued_pod_deep_copy(
	const struct berth_queued_pod *pod, struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_NODE_INFO_H
#define BERTH_NODE_INFO_H
/**
 * @file
 * A node as the scheduler sees it: what it offers, what its pods have requested, which pods they
 * are. Spec 01b section 9, upstream v1.36.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/arena.h"
#include "berth/pod_info.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opaque. One that a plugin is handed is valid for the call; it may describe a what-if. */
struct berth_node_info;

/** Name of the node. Texts here are borrowed while the node info is valid. */
BERTH_API struct berth_str berth_node_info_name(const struct berth_node_info *node);
/** Value of a label of the node; absent (data NULL) when it lacks it. */
BERTH_API struct berth_str berth_node_info_label(
	const struct berth_node_info *node, struct berth_str key);
/** spec.unschedulable. */
BERTH_API bool berth_node_info_unschedulable(const struct berth_node_info *node);
/** status.allocatable: cpu in thousandths. */
BERTH_API int64_t berth_node_info_allocatable_cpu_milli(const struct berth_node_info *node);
/** status.allocatable: memory in bytes. */
BERTH_API int64_t berth_node_info_allocatable_memory_bytes(const struct berth_node_info *node);
/** Sum of the cpu requests of its pods, in thousandths. */
BERTH_API int64_t berth_node_info_requested_cpu_milli(const struct berth_node_info *node);
/** Sum of the memory requests of its pods, in bytes. */
BERTH_API int64_t berth_node_info_requested_memory_bytes(const struct berth_node_info *node);

/** Number of pods on the node, assumed ones included. */
BERTH_API uint32_t berth_node_info_pod_count(const struct berth_node_info *node);
/** A pod of the node, 0 <= index < count; the info lives in the arena and is valid in this cycle.
 */
BERTH_API const struct berth_pod_info *berth_node_info_pod_at(
	const struct berth_node_info *node, uint32_t index, struct berth_arena *arena);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_EXTENDER_H
#define BERTH_EXTENDER_H
/**
 * @file
 * Extenders: external programs that filter and score nodes. The engine selects the extenders to
 * call and interprets their answers; the owner supplies one function that transports requests. Spec
 * 11b section 9, 03 section 3.6, upstream v1.36.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/engine.h"
#include "berth/error.h"
#include "berth/pod_info.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** An extender of an engine's configuration. Opaque, belongs to the engine. */
struct berth_extender;

/** Number of extenders; 0 without a transport. */
BERTH_API uint32_t berth_engine_extender_count(const struct berth_engine *engine);
/**
 * An extender, 0 <= index < count, in the order in which extenders are called: ignorable extenders
 * last.
 */
BERTH_API const struct berth_extender *berth_engine_extender_at(
	const struct berth_engine *engine, uint32_t index);

/** Name: the urlPrefix of the extender. */
BERTH_API struct berth_str berth_extender_name(const struct berth_extender *extender);
/**
 * IsInterested: whether the extender is called for the pod: its configuration has no managed
 * resources, or a container of the pod has a request or limit of a managed resource.
 */
BERTH_API bool berth_extender_is_interested(
	const struct berth_extender *extender, const struct berth_pod_info *pod);
/** IsIgnorable: an error of the extender does not fail the pod. */
BERTH_API bool berth_extender_is_ignorable(const struct berth_extender *extender);

/** An entry of failedNodes or failedAndUnresolvableNodes: a node that the extender rejects. */
struct berth_extender_failed_node {
	struct berth_str name;    /**< of the node */
	struct berth_str message; /**< why */
	bool unresolvable;        /**< preemption on the node would not help */
};

/** Result of Filter; the lists are in the arena. */
struct berth_extender_filter_result {
	const struct berth_str *names; /**< remaining nodes, in the order of the answer */
	uint32_t count;                /**< entries */
	const struct berth_extender_failed_node *failed; /**< failedMap, unordered */
	uint32_t failed_count;                           /**< entries */
};

/**
 * Filter: sends the nodes to the extender, which returns the nodes that fit (spec 11b section 9.4).
 * All nodes fit when the extender has no filterVerb or is not interested. BERTH_ERR_NOT_FOUND: a
 * node is not in the snapshot; BERTH_ERR_INTERNAL: the extender failed, ignorable or not.
 */
BERTH_API BERTH_MUST_USE int berth_extender_filter(const struct berth_extender *extender,
	const struct berth_pod_info *pod, const struct berth_str *node_names, uint32_t node_count,
	struct berth_arena *arena, struct berth_extender_filter_result *out_result,
	struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_EXTENDER_H
#define BERTH_EXTENDER_H
/**
 * @file
 * Extenders: outside programs that have a say in a decision. The engine decides who is asked and
 * what answers mean; how a question travels is the owner's business, given as one function. Spec
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
/** An extender, 0 <= index < count, in the order in which they are asked: ignorable ones last. */
BERTH_API const struct berth_extender *berth_engine_extender_at(
	const struct berth_engine *engine, uint32_t index);

/** Name: its urlPrefix. */
BERTH_API struct berth_str berth_extender_name(const struct berth_extender *extender);
/** IsInterested: it manages no resources, or one that a container of the pod names. */
BERTH_API bool berth_extender_is_interested(
	const struct berth_extender *extender, const struct berth_pod_info *pod);
/** IsIgnorable: its errors do not fail the pod. */
BERTH_API bool berth_extender_is_ignorable(const struct berth_extender *extender);

/** failedNodeName and failedMsg: a node that the extender does not want. */
struct berth_extender_failed_node {
	struct berth_str name;    /**< of the node */
	struct berth_str message; /**< why */
	bool unresolvable;        /**< removing pods would not help */
};

/** What Filter leaves; in the arena. */
struct berth_extender_filter_result {
	const struct berth_str *names; /**< nodes that stay, in the order of the answer */
	uint32_t count;                /**< entries */
	const struct berth_extender_failed_node *failed; /**< failedMap, in no order */
	uint32_t failed_count;                           /**< entries */
};

/**
 * Filter: asks the extender which of these nodes it leaves (spec 11b section 9.4). All of them when
 * it has no filterVerb or is not interested. BERTH_ERR_NOT_FOUND: a node is none of the snapshot's;
 * BERTH_ERR_INTERNAL: the extender failed, be it ignorable or not.
 */
BERTH_API BERTH_MUST_USE int berth_extender_filter(const struct berth_extender *extender,
	const struct berth_pod_info *pod, const struct berth_str *node_names, uint32_t node_count,
	struct berth_arena *arena, struct berth_extender_filter_result *out_result,
	struct berth_error *err);

#ifdef __cplusplus
}
#endif
#endif

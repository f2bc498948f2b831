/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_H
#define BT_SCHED_EXTENDER_H
/**
 * What the engine makes of extenders: who is asked, in which order, what the answers do to nodes,
 * scores, bindings and victims. How questions travel: framework/extender.h. Spec: 11b section 9, 03
 * sections 3.6, 5 and 6, 08 section 10.
 */
#include <stdbool.h>
#include <stdint.h>

#include "framework/extender.h"
#include "framework/status.h"

/** A score of an extender counts this much: the highest score of a plugin over its own highest. */
#define BT_EXTENDER_SCORE_FACTOR 10

enum bt_extender_verb {
	BT_EXTENDER_FILTER,
	BT_EXTENDER_PRIORITIZE,
	BT_EXTENDER_PREEMPT,
	BT_EXTENDER_BIND,
};

/** For logs and metrics. All functions may be NULL. */
struct bt_extender_observer {
	/** Around each call: a gauge of calls under way, their durations. error "": it succeeded.
	 */
	void (*asking)(void *context, const struct bt_config_extender *extender,
		enum bt_extender_verb verb);
	void (*answered)(void *context, const struct bt_config_extender *extender,
		enum bt_extender_verb verb, struct bt_str error);
	/**
	 * An error that did not count. message is upstream's, e.g. "Skipping extender as it
	 * returned error and has ignorable flag set"; verbosity its level.
	 */
	void (*ignored)(void *context, const struct bt_config_extender *extender,
		const char *message, int verbosity, struct bt_str error);
	void *context;
};

/** The extenders of a configuration, in the order in which they are asked. */
struct bt_extenders {
	struct bt_extender *items; /* those that are not ignorable first */
	uint32_t count;
	struct bt_preemption_extender *preemption; /* the same, as preemption asks them */
	struct bt_extender_preemption *preemption_contexts;
	const struct bt_state *state;
	struct bt_extender_observer observer;
};

/**
 * One carrier for each extender of the configuration. factory NULL: no extender is ever asked, and
 * decisions are made as if there were none. Borrows config and state.
 */
BT_MUST_USE int bt_extenders_create(const struct bt_config *config,
	const struct bt_extender_factory *factory, const struct bt_state *state,
	struct bt_extenders *out_extenders, struct berth_error *err);
/** Zero memory accepted. */
void bt_extenders_finish(struct bt_extenders *extenders);

/** Some extender is interested in the pod. */
bool bt_extenders_care(const struct bt_extenders *extenders, const struct bt_pod_info *pod);
/** Some extender filters or scores, whatever pods it is interested in: spec 03 section 3.3. */
bool bt_extenders_look_at_nodes(const struct bt_extenders *extenders);

/** Nodes that are still in question. */
struct bt_extender_candidates {
	struct bt_extender_node *nodes;
	uint32_t *slots; /* of the same nodes */
	uint32_t count;
	/** By slot: the node came back as an object, its pods are not counted from here on. NULL:
	 * no node did. */
	uint8_t *without_pods;
};

/** Receives what filter extenders say of nodes; slot BT_SLOT_NONE: no node of the snapshot. */
struct bt_extender_sink {
	void (*reject)(void *context, uint32_t slot, struct bt_str node_name,
		enum bt_status_code code, struct bt_str reason);
	void *context;
};

/**
 * Ask the filter extenders one after another what they leave of the candidates. Success or Error;
 * after an Error the candidates are undefined. All memory: arena. Spec 11b section 9.4.
 */
struct bt_status bt_extenders_filter(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_extender_candidates *candidates, const struct bt_extender_sink *sink);

/**
 * Add the extenders' scores to totals[]; scored[i] tells that candidate i got one, be it 0. Errors
 * do not count. Spec 11b section 9.5.
 */
void bt_extenders_prioritize(const struct bt_extenders *extenders, const struct bt_pod_info *pod,
	struct bt_arena *arena, const struct bt_extender_candidates *candidates, int64_t *totals,
	bool *scored);

/**
 * Let the first extender bind that does so for this pod. *out_taken false: none did, the plugins
 * bind. Spec 11b section 9.7.
 */
struct bt_status bt_extenders_bind(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_arena *arena,
	bool *out_taken);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_EXTENDER_H
#define BT_SCHED_EXTENDER_H
/**
 * How the engine uses extenders: which extenders the engine calls, in which order, and how the
 * answers change nodes, scores, bindings and victims. framework/extender.h has the interface of the
 * calls. Spec: 11b section 9, 03 sections 3.6, 5 and 6, 08 section 10.
 */
#include <stdbool.h>
#include <stdint.h>

#include "framework/extender.h"
#include "framework/status.h"

/** Factor for extenders' scores: the highest plugin score divided by the highest extender score. */
#define BT_EXTENDER_SCORE_FACTOR 10

enum bt_extender_verb {
	BT_EXTENDER_FILTER,
	BT_EXTENDER_PRIORITIZE,
	BT_EXTENDER_PREEMPT,
	BT_EXTENDER_BIND,
};

/** Callbacks for logs and metrics. Each function may be NULL. */
struct bt_extender_observer {
	/**
	 * `called` runs before each call, `answered` after each call. error "": the call succeeded.
	 */
	void (*called)(void *context, const struct bt_config_extender *extender,
		enum bt_extender_verb verb);
	void (*answered)(void *context, const struct bt_config_extender *extender,
		enum bt_extender_verb verb, struct bt_str error);
	/**
	 * Runs if a call failed and the error is ignored. `message` is upstream's log message, e.g.
	 * "Skipping extender as it returned error and has ignorable flag set"; verbosity is the
	 * message's log level.
	 */
	void (*ignored)(void *context, const struct bt_config_extender *extender,
		const char *message, int verbosity, struct bt_str error);
	void *context;
};

/** The extenders of a configuration, in the order of the calls. */
struct bt_extenders {
	struct bt_extender *items; /* extenders that are not ignorable come first */
	uint32_t count;
	struct bt_preemption_extender *preemption; /* the same extenders, for preemption */
	struct bt_extender_preemption *preemption_contexts;
	const struct bt_state *state;
	struct bt_extender_observer observer;
};

/**
 * Create a client for each configured extender. factory NULL: there are no extenders. Borrows
 * config and state. *out_extenders must not move, because it contains pointers to itself.
 */
BT_MUST_USE int bt_extenders_create(const struct bt_config *config,
	const struct bt_extender_factory *factory, const struct bt_state *state,
	struct bt_extenders *out_extenders, struct berth_error *err);
/** `extenders` may be zero memory. */
void bt_extenders_finish(struct bt_extenders *extenders);

/** Whether any extender is interested in the pod. */
bool bt_extenders_match(const struct bt_extenders *extenders, const struct bt_pod_info *pod);
/**
 * Whether any extender has a filter or prioritize verb, regardless of the pods in which the
 * extender is interested. Spec 03 section 3.3.
 */
bool bt_extenders_filter_or_score(const struct bt_extenders *extenders);

/** Nodes that no extender has rejected so far. */
struct bt_extender_candidates {
	struct bt_extender_node *nodes;
	uint32_t *slots; /* slots of these nodes, parallel to `nodes` */
	uint32_t count;
	/**
	 * By slot: 1 if an extender returned the node as an object. Later steps then ignore the
	 * node's pods. NULL: no extender returned an object.
	 */
	uint8_t *without_pods;
};

/**
 * Receives the rejections by filter extenders. slot BT_SLOT_NONE: the node is not in the snapshot.
 */
struct bt_extender_sink {
	void (*reject)(void *context, uint32_t slot, struct bt_str node_name,
		enum bt_status_code code, struct bt_str reason);
	void *context;
};

/**
 * Call the filter extenders one after another, each with the candidates that the previous extender
 * accepted. Errors of ignorable extenders are skipped. Returns Success or Error; after an Error the
 * candidates are undefined. All memory comes from the arena. Spec 11b section 9.4.
 */
struct bt_status bt_extenders_filter(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_extender_candidates *candidates, const struct bt_extender_sink *sink);

/**
 * Add the extenders' scores to totals[]. scored[i] is set if an extender scored candidate i, even
 * with 0. Failed calls are ignored. Spec 11b section 9.5.
 */
void bt_extenders_prioritize(const struct bt_extenders *extenders, const struct bt_pod_info *pod,
	struct bt_arena *arena, const struct bt_extender_candidates *candidates, int64_t *totals,
	bool *scored);

/**
 * Bind by the first extender that has a bind verb and is interested in the pod; if that extender
 * fails and is ignorable, by the next extender. *out_taken is set to true if an extender bound the
 * pod, or if an extender that is not ignorable failed. false: the Bind plugins must bind the pod.
 * Spec 11b section 9.7.
 */
struct bt_status bt_extenders_bind(const struct bt_extenders *extenders,
	const struct bt_pod_info *pod, struct bt_str node_name, struct bt_arena *arena,
	bool *out_taken);
#endif

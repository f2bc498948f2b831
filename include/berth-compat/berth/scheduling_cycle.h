/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SCHEDULING_CYCLE_H
#define BERTH_SCHEDULING_CYCLE_H
/**
 * @file
 * One scheduling decision as a whole and step by step, over an engine's view of the cluster:
 * findNodesThatFit and related functions of v1.12, with the rules of v1.36. Spec 03 sections 3 and
 * 16, 02 section 5.4, upstream v1.36.
 *
 * Nothing here binds or changes the cluster: berth_engine_step() does that. Pods come from
 * berth_framework_pod_create() on the same engine's framework. Each call invalidates the texts
 * of the last struct berth_decision.
 */
#include <stdbool.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cycle_state.h"
#include "berth/engine.h"
#include "berth/error.h"
#include "berth/framework.h"
#include "berth/node_info.h"
#include "berth/pod_info.h"
#include "berth/status.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Smallest number of feasible nodes that ends the search, unless the cluster has fewer nodes. */
#define BERTH_MIN_FEASIBLE_NODES_TO_FIND 100

/**
 * Metric of the durations of extension points (spec 02 section 14). Replaces the two metrics that
 * v1.12 had for the predicates.
 */
#define BERTH_METRIC_FRAMEWORK_EXTENSION_POINT_DURATION \
	"scheduler_framework_extension_point_duration_seconds"

/** SinceInSeconds: time from @p start_ns to @p now_ns on one clock, in seconds. */
BERTH_API double berth_metrics_since_seconds(int64_t start_ns, int64_t now_ns);

/** The framework of a profile; NULL: the engine has no such profile. Borrowed from the engine. */
BERTH_API struct berth_framework *berth_engine_framework(
	struct berth_engine *engine, struct berth_str scheduler_name);
/**
 * Updates the snapshot and returns it; borrowed from the engine. NULL: the cache is inconsistent,
 * and @p err (may be NULL) contains the reason.
 */
BERTH_API const struct berth_shared_lister *berth_engine_snapshot_shared_lister(
	struct berth_engine *engine, struct berth_error *err);

/** FitError: why no node fits the pod. Valid until the next call with the engine. */
struct berth_fit_error {
	const struct berth_pod_info *pod; /**< the pod that fits no node */
	uint32_t num_all_nodes;           /**< N in "0/N nodes are available" */
	/** FailedPredicates, today part of the diagnosis: the failures of each examined node. */
	const struct berth_node_to_status *node_to_status;
	struct berth_str pre_filter_message;  /**< when PreFilter rejected the pod; else "" */
	struct berth_str post_filter_message; /**< always "": PostFilter does not run here */
};

/**
 * "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods." (spec 03 section 8); in the
 * arena.
 */
BERTH_API struct berth_str berth_fit_error_text(
	const struct berth_fit_error *fit_error, struct berth_arena *arena);

/** Result of a scheduling decision. */
struct berth_schedule_result {
	struct berth_str
		suggested_host;   /**< the node; borrowed until the next change of the engine */
	uint32_t evaluated_nodes; /**< number of nodes that were examined */
	uint32_t feasible_nodes;  /**< number of nodes that fit */
};

/**
 * Schedule: one decision for a pod, without PostFilter (spec 03 section 3.2). Returns 0 or
 * BERTH_ERR_NO_NODES_AVAILABLE; BERTH_ERR_FIT: err has the FitError's text, and @p out_fit_error
 * (may be NULL) the FitError; BERTH_ERR_INTERNAL: a plugin or an extender failed.
 */
BERTH_API BERTH_MUST_USE int berth_engine_schedule(struct berth_engine *engine,
	struct berth_framework *framework, const struct berth_pod_info *pod,
	struct berth_schedule_result *out_result, struct berth_fit_error *out_fit_error,
	struct berth_error *err);

/**
 * Feasible nodes in search order, and the failures of the other examined nodes. In the state's
 * arena.
 */
struct berth_feasible_nodes {
	const struct berth_str *names;    /**< filteredNodes */
	uint32_t count;                   /**< filteredLen */
	struct berth_fit_error diagnosis; /**< of the examined nodes that do not fit */
};

/**
 * findNodesThatFit: runs PreFilter, examines nodes in the order of a single worker until enough
 * feasible nodes are found, and applies the filters of the extenders (spec 03 sections 3.4 to 3.6).
 * @p state must be new. Returns 0, also when no node fits; BERTH_ERR_INTERNAL: a plugin or an
 * extender failed.
 */
BERTH_API BERTH_MUST_USE int berth_engine_find_nodes_that_fit(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_feasible_nodes *out_nodes,
	struct berth_error *err);

/**
 * numFeasibleNodesToFind: the search in a list of @p num_all_nodes nodes ends when this number of
 * feasible nodes is found (spec 03 section 3.3). The number follows from percentageOfNodesToScore
 * of the engine's options, the profile or the configuration, in this order; 0 means adaptive, and
 * if none of them sets a percentage, all nodes are searched. The number is 1 if there is neither a
 * Score plugin nor an extender that filters or prioritizes.
 */
BERTH_API uint32_t berth_engine_num_feasible_nodes_to_find(const struct berth_engine *engine,
	const struct berth_framework *framework, uint32_t num_all_nodes);

/**
 * checkNode: runs the filters on the node at position @p index (below the number of nodes) of the
 * next search. PreFilter must have run on @p state. @p out_node_name may be NULL.
 */
BERTH_API struct berth_status berth_engine_check_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, uint32_t index, struct berth_str *out_node_name);

/**
 * podFitsOnNode: runs the filters on one node, twice when pods are nominated on the node: first on
 * copies with the nominated pods (podsAdded, metaToUse, nodeInfoToUse), then without. PreFilter
 * must have run on @p state.
 */
BERTH_API struct berth_status berth_engine_pod_fits_on_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);

/** Copies of a node and a state in which the pods nominated on the node run there. */
struct berth_nominated_view {
	bool added;                         /**< podsAdded; false: the other members are unset */
	const struct berth_node_info *node; /**< nodeInfoToUse: a copy, in the state's arena */
	struct berth_cycle_state *state;    /**< metaToUse: a copy */
	struct berth_status status;         /**< Error: a plugin's AddPod failed */
};

/**
 * addNominatedPods: adds the pods of equal or higher priority that are nominated on the node,
 * except the pod itself, to copies of node and state. @p out_view: release with
 * berth_nominated_view_finish() before the state ends.
 */
BERTH_API void berth_engine_add_nominated_pods(struct berth_engine *engine,
	struct berth_framework *framework, const struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node,
	struct berth_nominated_view *out_view);
/** Releases the copies and zeroes the view. A zeroed view is accepted. */
BERTH_API void berth_nominated_view_finish(struct berth_nominated_view *view);

/** SchedulingQueue: pending pods of an engine. Opaque, belongs to the engine. */
struct berth_queue;

/** The engine's queue. */
BERTH_API const struct berth_queue *berth_engine_queue(const struct berth_engine *engine);
/**
 * NominatedPodsForNode, in the order in which the pods were nominated (spec 04-queue section 10).
 * The list lives in the arena; pods are valid until the next change or step.
 */
BERTH_API const struct berth_pod_info *const *berth_queue_nominated_pods_for_node(
	const struct berth_queue *queue, struct berth_str node_name, struct berth_arena *arena,
	uint32_t *out_count);

/* Helpers of v1.12 for the search: traces, error counts, parallel work. */

/** Receives the steps of a cycle as they begin. */
struct berth_trace {
	/**
	 * Called when a step of a cycle begins. @p text: e.g. "Computing predicates"; a constant.
	 * The function may be NULL.
	 */
	void (*step)(void *context, const char *text);
	void *context; /**< handed to step */
};

/**
 * trace.Step: reports a step to the trace (may be NULL). berth_engine_schedule() and
 * berth_engine_find_nodes_that_fit() report to the engine's trace.
 */
BERTH_API void berth_trace_step(const struct berth_trace *trace, const char *text);
/** Sets the engine's trace, copied; NULL: no trace. */
BERTH_API void berth_engine_set_trace(struct berth_engine *engine, const struct berth_trace *trace);

/**
 * MessageCountMap: counts equal errors. All-zero memory is an empty map. owned:
 * berth_error_counts_finish().
 */
struct berth_error_counts {
	struct berth_error_count *items; /**< in the order in which texts were first seen */
	uint32_t count;                  /**< entries */
	uint32_t capacity;               /**< allocated entries; private */
};

/** A text and its number of occurrences. */
struct berth_error_count {
	char *message;  /**< owned by the map */
	uint32_t times; /**< at least 1 */
};

/** Counts a text (copied). */
BERTH_API void berth_error_counts_add(struct berth_error_counts *counts, const char *message);
/**
 * CreateAggregateFromMessageCountMap: BERTH_OK for an empty map, else BERTH_ERR_INTERNAL with each
 * text once, as "<text> (repeated <n> times)" if it occurred n > 1 times; several texts are in
 * brackets: "[a, b]" (spec 01 section 5.16).
 */
BERTH_API int berth_error_counts_aggregate(
	const struct berth_error_counts *counts, struct berth_error *err);
/** Releases the entries and leaves an empty map. */
BERTH_API void berth_error_counts_finish(struct berth_error_counts *counts);

/** DoWorkPieceFunc: processes piece @p piece, 0 <= piece < pieces. */
typedef void (*berth_parallelize_work_fn)(void *context, uint32_t piece);

/**
 * Runs chunks of pieces in parallel; the program supplies the executor, since the library starts no
 * thread.
 * `run` calls @p run_chunk exactly once for each chunk 0 <= index < chunk_count, on at most @p
 * workers threads, lower chunks first, and returns when all calls have returned.
 */
struct berth_executor {
	/** See the comment on the structure. */
	void (*run)(void *context, uint32_t workers, uint32_t chunk_count,
		berth_parallelize_work_fn run_chunk, void *chunk_context);
	void *context; /**< handed to run */
};

/** Size of a chunk: floor(sqrt(n)), at most n / workers + 1, at least 1. */
BERTH_API uint32_t berth_parallelize_chunk_size(uint32_t pieces, uint32_t workers);
/**
 * ParallelizeUntil (spec 02 section 13): processes the pieces in chunks until all are done or @p
 * cancel (may be NULL; read before each piece) is set. @p executor NULL: on the calling thread, in
 * order. @p workers: at least 1. The work function and the executor must synchronise access to
 * shared data, @p cancel included.
 */
BERTH_API void berth_parallelize_until(const struct berth_cancel *cancel,
	const struct berth_executor *executor, uint32_t workers, uint32_t pieces,
	berth_parallelize_work_fn work, void *context);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_SCHEDULING_CYCLE_H
#define BERTH_SCHEDULING_CYCLE_H
/**
 * @file
 * One scheduling decision as a whole and step by step, over an engine's view of the cluster: what
 * findNodesThatFit and its relatives were in v1.12, by today's rules. Spec 03 sections 3 and 16, 02
 * section 5.4, upstream v1.36.
 *
 * Nothing here binds or changes the cluster: berth_engine_step() does that. Pods come from
 * berth_framework_pod_create() on the same engine's framework. Calls end the life of what
 * berth_engine_step() lent out.
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

/** Fewer feasible nodes than this are never enough, unless there are no more. */
#define BERTH_MIN_FEASIBLE_NODES_TO_FIND 100

/** Metric of the durations of extension points (spec 02 section 14). In v1.12 the time of the
 * predicates had two metrics of its own. */
#define BERTH_METRIC_FRAMEWORK_EXTENSION_POINT_DURATION \
	"scheduler_framework_extension_point_duration_seconds"

/** SinceInSeconds: time from @p start_ns to @p now_ns on one clock, in seconds. */
BERTH_API double berth_metrics_since_seconds(int64_t start_ns, int64_t now_ns);

/** The framework of a profile; NULL: the engine has no such profile. Borrowed from the engine. */
BERTH_API struct berth_framework *berth_engine_framework(
	struct berth_engine *engine, struct berth_str scheduler_name);
/**
 * Brings the snapshot up to date and returns it; borrowed from the engine. NULL: the cache is in
 * disorder, and @p err (may be NULL) says how.
 */
BERTH_API const struct berth_shared_lister *berth_engine_snapshot_shared_lister(
	struct berth_engine *engine, struct berth_error *err);

/** FitError: why no node takes the pod. Valid until the next call with the engine. */
struct berth_fit_error {
	const struct berth_pod_info *pod; /**< whose error it is */
	uint32_t num_all_nodes;           /**< N in "0/N nodes are available" */
	/** FailedPredicates, today part of the diagnosis: what each examined node lacks. */
	const struct berth_node_to_status *node_to_status;
	struct berth_str pre_filter_message;  /**< when PreFilter rejected the pod; else "" */
	struct berth_str post_filter_message; /**< of PostFilter; "" here: it does not run */
};

/** "0/3 nodes are available: 1 Insufficient cpu, 2 Too many pods." (spec 03 section 8); in the
 * arena. */
BERTH_API struct berth_str berth_fit_error_text(
	const struct berth_fit_error *fit_error, struct berth_arena *arena);

/** Where a pod should go. */
struct berth_schedule_result {
	struct berth_str
		suggested_host;   /**< the node; borrowed until the next change of the engine */
	uint32_t evaluated_nodes; /**< how many were looked at */
	uint32_t feasible_nodes;  /**< how many of them fit */
};

/**
 * Schedule: one decision for a pod, PostFilter aside (spec 03 section 3.2). 0, or
 * BERTH_ERR_NO_NODES_AVAILABLE; BERTH_ERR_FIT: err has the FitError's text, and @p out_fit_error
 * (may be NULL) the FitError; BERTH_ERR_INTERNAL: a plugin or an extender failed.
 */
BERTH_API BERTH_MUST_USE int berth_engine_schedule(struct berth_engine *engine,
	struct berth_framework *framework, const struct berth_pod_info *pod,
	struct berth_schedule_result *out_result, struct berth_fit_error *out_fit_error,
	struct berth_error *err);

/** Feasible nodes in search order, and why the others are not among them. In the state's arena. */
struct berth_feasible_nodes {
	const struct berth_str *names;    /**< filteredNodes */
	uint32_t count;                   /**< filteredLen: at most what is enough */
	struct berth_fit_error diagnosis; /**< of the nodes that were examined and do not fit */
};

/**
 * findNodesThatFit: PreFilter, the search up to the number of feasible nodes that is enough, and
 * the extenders' filters (spec 03 sections 3.4 to 3.6), in the order of one worker. @p state is a
 * fresh one. 0, also when no node fits; BERTH_ERR_INTERNAL: a plugin or an extender failed.
 */
BERTH_API BERTH_MUST_USE int berth_engine_find_nodes_that_fit(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, struct berth_feasible_nodes *out_nodes,
	struct berth_error *err);

/**
 * numFeasibleNodesToFind: how many feasible nodes end the search in a list of @p num_all_nodes
 * (spec 03 section 3.3): percentageOfNodesToScore of the profile or the configuration, 0 being
 * adaptive; 1 if no plugin scores.
 */
BERTH_API uint32_t berth_engine_num_feasible_nodes_to_find(const struct berth_engine *engine,
	const struct berth_framework *framework, uint32_t num_all_nodes);

/**
 * checkNode: what the filters say of the node at position @p index (below the number of nodes) of
 * the search that would come next. PreFilter ran on @p state. @p out_node_name may be NULL.
 */
BERTH_API struct berth_status berth_engine_check_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, uint32_t index, struct berth_str *out_node_name);

/**
 * podFitsOnNode: the filters on one node, twice when pods are nominated on it: with them on copies
 * (podsAdded, metaToUse, nodeInfoToUse), then without. PreFilter ran on @p state.
 */
BERTH_API struct berth_status berth_engine_pod_fits_on_node(struct berth_engine *engine,
	struct berth_framework *framework, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node);

/** A node and a state as if the pods nominated on the node ran there. */
struct berth_nominated_view {
	bool added;                         /**< podsAdded; false: nothing below is set */
	const struct berth_node_info *node; /**< nodeInfoToUse: a copy, in the state's arena */
	struct berth_cycle_state *state;    /**< metaToUse: a copy, released by finish */
	struct berth_status status;         /**< Error: a plugin's AddPod failed */
};

/**
 * addNominatedPods: the pods of equal or higher priority that are nominated on the node, without
 * the pod itself, on copies of node and state. @p out_view: berth_nominated_view_finish(), before
 * the state ends.
 */
BERTH_API void berth_engine_add_nominated_pods(struct berth_engine *engine,
	struct berth_framework *framework, const struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node,
	struct berth_nominated_view *out_view);
/** Leaves the zero value; that is accepted, too. */
BERTH_API void berth_nominated_view_finish(struct berth_nominated_view *view);

/** SchedulingQueue: pending pods of an engine. Opaque, belongs to the engine. */
struct berth_queue;

/** The engine's queue. */
BERTH_API const struct berth_queue *berth_engine_queue(const struct berth_engine *engine);
/**
 * NominatedPodsForNode, in the order of their nominations (spec 04-queue section 10). The list
 * lives in the arena; pods are valid until the next change or step.
 */
BERTH_API const struct berth_pod_info *const *berth_queue_nominated_pods_for_node(
	const struct berth_queue *queue, struct berth_str node_name, struct berth_arena *arena,
	uint32_t *out_count);

/* What surrounded the search in v1.12. */

/** Receives the steps of a cycle as they begin. */
struct berth_trace {
	/** @p text: e.g. "Computing predicates"; a constant. step may be NULL. */
	void (*step)(void *context, const char *text);
	void *context; /**< handed to step */
};

/** trace.Step: tells the trace (may be NULL). berth_engine_schedule() and
 * berth_engine_find_nodes_that_fit() do so with the engine's trace. */
BERTH_API void berth_trace_step(const struct berth_trace *trace, const char *text);
/** From now on the engine tells this trace, copied; NULL: none. */
BERTH_API void berth_engine_set_trace(struct berth_engine *engine, const struct berth_trace *trace);

/** MessageCountMap: counts equal errors. All-zero memory is an empty map; owned memory. */
struct berth_error_counts {
	struct berth_error_count *items; /**< in the order in which texts were first seen */
	uint32_t count;                  /**< entries */
	uint32_t capacity;               /**< room, private */
};

/** One text and how often it came. */
struct berth_error_count {
	char *message;  /**< owned by the map */
	uint32_t times; /**< at least 1 */
};

/** Counts a text (copied). */
BERTH_API void berth_error_counts_add(struct berth_error_counts *counts, const char *message);
/**
 * CreateAggregateFromMessageCountMap: BERTH_OK for an empty map, else BERTH_ERR_INTERNAL with each
 * text once, "<text> (repeated <n> times)" where it came more often; several in brackets: "[a, b]"
 * (spec 01 section 5.16).
 */
BERTH_API int berth_error_counts_aggregate(
	const struct berth_error_counts *counts, struct berth_error *err);
/** Leaves an empty map. */
BERTH_API void berth_error_counts_finish(struct berth_error_counts *counts);

/** DoWorkPieceFunc: does piece @p piece, 0 <= piece < pieces. */
typedef void (*berth_parallelize_work_fn)(void *context, uint32_t piece);

/**
 * Who runs chunks of pieces side by side: the library starts no thread. `run` calls @p run_chunk
 * for each chunk 0 <= index < chunk_count exactly once, on at most @p workers threads of its own,
 * beginning with the lower ones, and returns when all have returned.
 */
struct berth_executor {
	/** See above. */
	void (*run)(void *context, uint32_t workers, uint32_t chunk_count,
		berth_parallelize_work_fn run_chunk, void *chunk_context);
	void *context; /**< handed to run */
};

/** Pieces that a worker takes at once: floor(sqrt(n)), at most n / workers + 1, at least 1. */
BERTH_API uint32_t berth_parallelize_chunk_size(uint32_t pieces, uint32_t workers);
/**
 * ParallelizeUntil (spec 02 section 13): does the pieces in chunks until done or canceled (@p
 * cancel may be NULL; it is looked at before each piece). @p executor NULL: on the calling thread,
 * in order. @p workers: at least 1. What the pieces share, a cancellation included, is for the work
 * and the executor to keep safe.
 */
BERTH_API void berth_parallelize_until(const struct berth_cancel *cancel,
	const struct berth_executor *executor, uint32_t workers, uint32_t pieces,
	berth_parallelize_work_fn work, void *context);

#ifdef __cplusplus
}
#endif
#endif

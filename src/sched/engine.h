/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_ENGINE_H
#define BT_SCHED_ENGINE_H
/**
 * The engine: cluster state, profiles and the scheduling cycle. Changes go in, decisions come out;
 * the engine does no I/O, has no clock, and creates no threads. Spec: 03 sections 2 to 8.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/prng.h"
#include "config/config.h"
#include "framework/batch.h"
#include "framework/framework.h"
#include "framework/nominator.h"
#include "sched/extender.h"
#include "state/state.h"

/**
 * How one of several equally good nodes is chosen. Upstream's choice among them depends on a race,
 * so each policy gives a result that upstream can give.
 */
enum bt_tie_policy {
	BT_TIE_HEAP,          /* upstream's node heap over the search order (spec 03 section 7) */
	BT_TIE_FIRST_BY_NAME, /* for tests and conformance */
	BT_TIE_RANDOM,        /* uniform, from the engine's seed */
};

struct bt_engine_options {
	enum bt_tie_policy tie_policy;
	uint64_t seed;
	/**
	 * Recompute every decision with the plain runners and abort on a difference
	 * (BERTH_VERIFY=1).
	 */
	bool verify;
	/** Always search the list of nodes instead of deciding by cells. For tests. */
	bool searches_list;
	/** Maximum memory of cached plans, in bytes; 0: default. */
	size_t plan_bytes_max;
	/** Upstream's KUBE_MAX_PD_VOLS for the legacy volume counts; 0: not set. */
	int64_t max_pd_volumes;
	/** Longest time that a rejected pod waits for an event; 0: five minutes. */
	int64_t max_in_unschedulable_ns;
	/**
	 * true: retry a failed pod group whenever the active queue is empty, as upstream does.
	 * false: retry the group after a change or at the end of the group's backoff.
	 */
	bool repeats_groups;
	/** Overrides the configured percentageOfNodesToScore; negative: no override. */
	int32_t percentage_of_nodes_to_score;
	/** Out-of-tree plugins; NULL: none. Borrowed until bt_engine_create returns. */
	const struct bt_registry *extra_plugins;
	/**
	 * Creates the clients of the configured extenders. NULL: extenders are ignored. Borrowed
	 * until bt_engine_create returns.
	 */
	const struct bt_extender_factory *extenders;
	/** Observes the calls to extenders; NULL: none. Borrowed until bt_engine_create returns. */
	const struct bt_extender_observer *extender_observer;
	/** Borrowed for the life of the engine. NULL: no metrics. */
	struct bt_scheduler_metrics *metrics;
	/**
	 * Worker threads for passes over the columns of large clusters; they do not change results.
	 * Borrowed for the life of the engine. NULL: all work runs on the caller's thread.
	 */
	const struct bt_workers *workers;
	/** Slots in one part of a parallel pass; 0: default. */
	uint32_t part_slots;
};

#define BT_ENGINE_OPTIONS_INIT \
	{ \
		.percentage_of_nodes_to_score = -1 \
	}

struct bt_workers; /* base/workers.h */
struct bt_plan;    /* sched/plan.h */
struct bt_plan_cache;

struct bt_engine {
	struct bt_config *config;
	struct bt_state *state;
	struct bt_registry registry;
	struct bt_nominator nominator;
	struct bt_profiles profiles;
	struct bt_extenders extenders;
	struct bt_engine_options options;
	struct bt_prng prng;
	struct bt_plan_cache *plans;
	struct bt_arena arena;        /* per cycle, reset at the start of the next */
	struct bt_arena verify_arena; /* for recomputation by the plain runners */
	struct bt_cycle_state cycle;  /* of the running or last cycle */
	bool cycle_open;
	struct bt_node_statuses statuses; /* memory of the last diagnosis, reused */
	/**
	 * If this node is among the equally good nodes, this node is chosen and the tie policy does
	 * not apply. "": none. For replays of recorded runs.
	 */
	struct bt_str preferred_node;
	uint32_t next_start_node_index; /* shared by all profiles, never reset */
	uint64_t cycle_count;
	/**
	 * State of opportunistic batching, by profile. NULL: the gate of opportunistic batching is
	 * off.
	 */
	struct bt_batch *batches;
};

/** Returns the options of the state, which depend on the feature gates. */
struct bt_state_options bt_engine_state_options(const struct bt_gates *gates);
/**
 * Takes a reference to config. Fails if plugins, extenders or profiles cannot be created (spec 02
 * section 9).
 */
BT_MUST_USE int bt_engine_create(struct bt_config *config, const struct bt_engine_options *options,
	struct bt_engine **out_engine, struct berth_error *err);
void bt_engine_destroy(struct bt_engine *engine);
/** The profile that handles this pod, or NULL. */
struct bt_framework *bt_engine_profile(
	const struct bt_engine *engine, struct bt_str scheduler_name);

/** The reasons why no node fits (spec 03 section 3.4). Valid until the next cycle. */
struct bt_diagnosis {
	struct bt_node_statuses statuses;
	struct bt_plugin_set unschedulable_plugins;
	struct bt_plugin_set pending_plugins;
	/**
	 * Extenders rejected nodes. The queue then treats the extenders as one more plugin that
	 * rejected the pod.
	 */
	bool rejected_by_extender;
	/**
	 * The pod was rejected by a status that names no plugin. The queue then counts a plugin
	 * without a name as one more plugin that rejected the pod.
	 */
	bool nameless_plugin;
	struct bt_str pre_filter_message;
	struct bt_str post_filter_message;
	uint32_t node_count; /* NumAllNodes of upstream's FitError */
};

enum bt_outcome {
	BT_OUTCOME_SCHEDULED, /* slot is set */
	BT_OUTCOME_FIT_ERROR, /* diagnosis has the reasons */
	BT_OUTCOME_ERROR,     /* status has the error, or the rejection by PreBind or Bind */
	BT_OUTCOME_NO_NODES,  /* `no nodes available to schedule pods` */
};

/**
 * The decision of one scheduling cycle. Memory: the engine's cycle arena, valid until the next
 * cycle.
 */
struct bt_schedule_result {
	enum bt_outcome outcome;
	uint32_t slot; /* chosen node */
	/**
	 * Name of the chosen node, set by Reserve. After a long binding, slot may belong to another
	 * node.
	 */
	struct bt_str node_name;
	int64_t total_score; /* of the chosen node; 0 if only one node was feasible */
	uint32_t feasible_count;
	uint32_t evaluated_count;
	struct bt_status status; /* for the failure handler; the message is the FitError text */
	struct bt_diagnosis diagnosis;
	struct bt_post_filter_result
		nomination;           /* change of status.nominatedNodeName, if present */
	struct bt_cycle_state *cycle; /* for Reserve and the later extension points */
	struct bt_framework *framework;
	bool extended;        /* extenders took part */
	bool hinted;          /* a batch hint was tried first */
	struct bt_plan *plan; /* plan with the data of the cycle; may be NULL */
	/* Permit plugins that returned Wait. */
	struct bt_wait_time *waits;
	uint32_t wait_count;
	/** Start of the attempt, by the metrics' clock. */
	int64_t started_ns;
	/**
	 * Error text if the attempt failed and the cache could not forget the assumed pod, which
	 * then stays in the cache; "": no error.
	 */
	struct bt_str forget_error;
};

/** A cycle that continues while the engine runs other cycles. Must not move. */
struct bt_held_cycle {
	struct bt_arena arena;
	struct bt_cycle_state cycle;
	struct bt_plan *plan; /* pinned */
};

/** Data about an attempt that opportunistic batching needs (spec 09 section 12). */
struct bt_queued_attempt {
	struct bt_str signature; /* data NULL: the pod has no signature */
	uint64_t cycle_count;    /* pods popped so far */
	int64_t now_ns;
	/* Set in a pod group cycle. */
	struct bt_group_state *group; /* NULL: the cycle of a single pod */
	bool skips_post_filter;       /* simulation: PostFilter does not run */
};
/**
 * Choose a node for the pod (spec 03 sections 3.1 to 3.2, PostFilter included). Does not change the
 * state. pod: filled by bt_pod_info_init_pending. attempt: the next best node of the previous
 * attempt may be tried first (opportunistic batching); NULL: no batching.
 */
void bt_engine_schedule(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result);
/**
 * Does the same as bt_engine_schedule, for the attempts of one pod group cycle. Does not refresh
 * the snapshot, so the attempts take into account the pods that are assumed only in the snapshot.
 * While a placement is assumed, only the placement's nodes are searched, in the placement's order;
 * plugins that count over the cluster still count over all nodes. attempt NULL: no batching. Spec:
 * 09 section 8.
 */
void bt_engine_schedule_in_snapshot(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result);

/**
 * Runs PreFilter and searches nodes for the pod as bt_engine_schedule does before it scores them
 * (upstream's findNodesThatFit), but with the plain runners and without PostFilter. Call it after
 * a refresh of the snapshot. cycle: new. *out_slots: the feasible nodes in search order, in the
 * cycle's arena. *out_diagnosis: why the other nodes that were examined do not fit; the caller
 * finishes the list of its statuses. Returns Success, also if no node fits, or the error of a
 * plugin or an extender.
 */
struct bt_status bt_engine_find_nodes(struct bt_engine *engine, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	struct bt_diagnosis *out_diagnosis, const uint32_t **out_slots, uint32_t *out_count);
/**
 * Returns an array by slot: the number of pods like this pod that fit on the node one after the
 * other if nothing else changes. Does not refresh the snapshot and ignores placements. NULL: not
 * known, because whether the pod fits depends on more than the plan's columns. Borrowed until the
 * next decision.
 */
const uint32_t *bt_engine_room(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt);

/**
 * Assume the pod on the chosen node, then run Reserve and Permit (spec 03 section 4). If Permit
 * plugins return Wait, the call succeeds and result->waits lists them. On failure all steps are
 * undone and result has the reason.
 */
bool bt_engine_reserve(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result);
/**
 * Does the same as bt_engine_reserve, for a member in a pod group cycle. The pod is assumed only in
 * the snapshot. slot: the chosen or the nominated node. *out_permit: Success or Wait. On failure
 * all steps are undone and result has the reason. Spec: 09 section 7.5.
 */
bool bt_engine_reserve_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	uint32_t slot, struct bt_schedule_result *result, struct bt_status *out_permit);
/** Undo a successful bt_engine_reserve_in_snapshot. For several pods, call in reverse order. */
void bt_engine_revert_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result);
/**
 * Move the last cycle out of the engine, so that *result stays valid while other cycles run.
 * *out_held must not move. Free *out_held with bt_engine_release_held.
 */
void bt_engine_hold(struct bt_engine *engine, struct bt_schedule_result *result,
	struct bt_held_cycle *out_held);
void bt_engine_release_held(struct bt_engine *engine, struct bt_held_cycle *held);
/** Permit rejected the waiting pod: undo all steps; result gets the reason. */
void bt_engine_reject_waiting(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *status, struct bt_schedule_result *result);
/** Progress of a binding cycle; zero memory: not started. */
struct bt_binding_progress {
	bool started;   /* PreBind has started */
	bool pre_bound; /* PreBind has ended */
	bool extenders_asked;
	struct bt_pre_bind_progress pre_bind;
	uint32_t next_binder;
	int64_t step_started_ns; /* start of PreBind or Bind, by the metrics' clock */
};

enum bt_binding_outcome {
	BT_BINDING_BOUND,
	BT_BINDING_FAILED,  /* all steps are undone and result has the reason */
	BT_BINDING_PENDING, /* call again after an answer, and at cycle->wake_ns at the latest */
};

/**
 * Run PreBind, Bind and PostBind of a reserved pod (spec 03 section 6). pre_flights: result of
 * bt_run_pre_bind_pre_flights.
 */
enum bt_binding_outcome bt_engine_bind(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *pre_flights, struct bt_binding_progress *progress,
	struct bt_schedule_result *result);
/**
 * Assume the pod on the chosen node and run Reserve, Permit, PreBind, Bind and PostBind at once,
 * for simulation and bench. Plugins that wait count as finished. Returns true if the pod is on its
 * node; on failure all steps are undone and result has the reason.
 */
bool bt_engine_place(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result);

/**
 * Append "0/3 nodes are available: ..."; PostFilter's message follows if the diagnosis has one.
 * Spec 03 section 8.
 */
void bt_diagnosis_message(const struct bt_diagnosis *diagnosis, struct bt_strbuf *out);

/**
 * Number of feasible nodes after which a search ends. percentage 0: adaptive. Spec 03 section 3.3.
 */
uint32_t bt_num_feasible_nodes_to_find(uint32_t node_count, int32_t percentage);

/**
 * Evaluation of one pod on every node by the plain runners, for conformance vectors and
 * explanations. Filter runs on every node that PreFilter leaves, without a percentage and without
 * trying the nominated node first; Score runs even for a single feasible node.
 */
struct bt_node_evaluation {
	uint32_t slot;
	struct bt_status filter; /* Success: feasible */
};

struct bt_evaluation {
	struct bt_pre_filter_outcome pre_filter;
	struct bt_node_evaluation *nodes; /* examined nodes, ascending by name */
	uint32_t node_count;
	uint32_t *feasible; /* slots, ascending by name */
	uint32_t feasible_count;
	bool pre_score_ran;
	struct bt_status pre_score;
	struct bt_status score_status;
	struct bt_score_table scores;
	/**
	 * Index into feasible of the node with the best total, the first by name if several have
	 * this total; UINT32_MAX: nodes were not scored.
	 */
	uint32_t best;
	struct bt_status error; /* internal error that ended the evaluation */
	struct bt_diagnosis diagnosis;
	struct bt_cycle_state *cycle;
};

/**
 * Evaluate a pod. Refreshes the snapshot first; does not call extenders. Memory: the engine's cycle
 * arena.
 */
void bt_engine_evaluate(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *out_evaluation);
#endif

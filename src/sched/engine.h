/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_ENGINE_H
#define BT_SCHED_ENGINE_H
/**
 * The engine: cluster state, profiles and the scheduling cycle. No I/O, no clock, no threads of its
 * own; changes go in, decisions come out. Spec: 03 sections 2 to 8.
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

/** Which of several equally good nodes is taken. Upstream's own choice among them is racy; each of
 * these is legal. */
enum bt_tie_policy {
	BT_TIE_HEAP,          /* upstream's node heap over the search order (spec 03 section 7) */
	BT_TIE_FIRST_BY_NAME, /* for tests and conformance */
	BT_TIE_RANDOM,        /* uniform, from the engine's seed */
};

struct bt_engine_options {
	enum bt_tie_policy tie_policy;
	uint64_t seed;
	/** Recompute every decision the plain way and abort on a difference (BERTH_VERIFY=1). */
	bool verify;
	/** Each decision makes the list of the nodes that fit: for tests. */
	bool searches_list;
	/** Memory that cached plans may hold; 0 = default. */
	size_t plan_bytes_max;
	/** What KUBE_MAX_PD_VOLS is to upstream's legacy volume counts; 0 = not given. */
	int64_t max_pd_volumes;
	/** How long a rejected pod waits for an event at most; 0: five minutes. */
	int64_t max_in_unschedulable_ns;
	/**
	 * A pod group that failed is tried again whenever the active queue is empty, as upstream
	 * does; else when something has changed or its backoff is over.
	 */
	bool repeats_groups;
	/** Replaces the configured percentageOfNodesToScore when not negative. */
	int32_t percentage_of_nodes_to_score;
	/** Out-of-tree plugins; NULL: only the in-tree ones. Borrowed for the call to create. */
	const struct bt_registry *extra_plugins;
	/**
	 * How the configuration's extenders are asked. NULL: they are not, and pods are scheduled
	 * as if there were none. Borrowed for the call to create.
	 */
	const struct bt_extender_factory *extenders;
	/** What becomes known of them; NULL: nobody listens. Borrowed for the call to create. */
	const struct bt_extender_observer *extender_observer;
	/** Borrowed for the life of the engine. NULL: nothing is counted. */
	struct bt_scheduler_metrics *metrics;
	/**
	 * Hands for passes over the columns of large clusters; results are the same without.
	 * Borrowed for the life of the engine. NULL: everything on the caller's thread.
	 */
	const struct bt_workers *workers;
	/** Slots that a worker takes at once; 0 = default. */
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
	struct bt_arena verify_arena; /* plain recomputation */
	struct bt_cycle_state cycle;  /* of the running or last cycle */
	bool cycle_open;
	struct bt_node_statuses statuses; /* memory of the last diagnosis, reused */
	/** Taken among equally good nodes before the tie policy decides: for replays of recorded
	 * runs. */
	struct bt_str preferred_node;
	uint32_t next_start_node_index; /* shared by all profiles, never reset */
	uint64_t cycle_count;
	/** Opportunistic batching, by profile; NULL: the gate is off. */
	struct bt_batch *batches;
};

/** What feature gates say of the state. */
struct bt_state_options bt_engine_state_options(const struct bt_gates *gates);
/** config: a reference is taken. Errors of profile building (spec 02 section 9). */
BT_MUST_USE int bt_engine_create(struct bt_config *config, const struct bt_engine_options *options,
	struct bt_engine **out_engine, struct berth_error *err);
void bt_engine_destroy(struct bt_engine *engine);
/** The profile that handles this pod, or NULL. */
struct bt_framework *bt_engine_profile(
	const struct bt_engine *engine, struct bt_str scheduler_name);

/** Why no node fits. Spec 03 section 3.4; valid until the next cycle. */
struct bt_diagnosis {
	struct bt_node_statuses statuses;
	struct bt_plugin_set unschedulable_plugins;
	struct bt_plugin_set pending_plugins;
	/** Extenders took nodes away: counts as a plugin named Extender. */
	bool rejected_by_extender;
	/** The pod was rejected in nobody's name: counts as a plugin without one. */
	bool nameless_plugin;
	struct bt_str pre_filter_message;
	struct bt_str post_filter_message;
	uint32_t node_count; /* numAllNodes */
};

enum bt_outcome {
	BT_OUTCOME_SCHEDULED, /* slot is set */
	BT_OUTCOME_FIT_ERROR, /* diagnosis says why */
	BT_OUTCOME_ERROR, /* status says what failed: an error, or what PreBind or Bind rejects */
	BT_OUTCOME_NO_NODES, /* `no nodes available to schedule pods` */
};

/** What one scheduling cycle decided. Memory: the engine's cycle arena, valid until the next cycle.
 */
struct bt_schedule_result {
	enum bt_outcome outcome;
	uint32_t slot; /* chosen node */
	/** Its name, from Reserve on; the slot may be another node's when a binding took long. */
	struct bt_str node_name;
	int64_t total_score; /* of the chosen node; 0 when it was the only one */
	uint32_t feasible_count;
	uint32_t evaluated_count;
	struct bt_status
		status; /* the status the failure handler gets; its message is the FitError text */
	struct bt_diagnosis diagnosis;
	struct bt_post_filter_result
		nomination;           /* present: what to do with status.nominatedNodeName */
	struct bt_cycle_state *cycle; /* for Reserve and what follows */
	struct bt_framework *framework;
	bool extended;        /* extenders had a say */
	bool hinted;          /* a batch hint was tried first */
	struct bt_plan *plan; /* whose data the cycle uses; may be NULL */
	/* Permit plugins that make the pod wait. */
	struct bt_wait_time *waits;
	uint32_t wait_count;
	/** When the attempt began, by the clock of the metrics. */
	int64_t started_ns;
	/** Undoing the attempt left the pod in the cache: why. "" otherwise. */
	struct bt_str forget_error;
};

/** A cycle that goes on while others run in the engine. Must not move. */
struct bt_held_cycle {
	struct bt_arena arena;
	struct bt_cycle_state cycle;
	struct bt_plan *plan; /* pinned */
};

/**
 * Choose a node for the pod (spec 03 sections 3.1 to 3.2, PostFilter included). Nothing in the
 * state changes. pod: filled by bt_pod_info_init_pending.
 */
void bt_engine_schedule(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_schedule_result *out_result);
/** What the queue knows of an attempt, for opportunistic batching (spec 09 section 12). */
struct bt_queued_attempt {
	struct bt_str signature; /* data NULL: the pod is like no other */
	uint64_t cycle_count;    /* pods popped so far */
	int64_t now_ns;
	/* In a pod group cycle. */
	struct bt_group_state *group; /* NULL: in the cycle of a pod */
	bool skips_post_filter;       /* a simulation: nothing makes room */
};
/** The same; the next best node of the attempt before may be tried first, and only it. */
void bt_engine_schedule_queued(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result);
/**
 * The same with the snapshot as it is, for the attempts of one pod group cycle: pods assumed in the
 * snapshot count, and while a placement is assumed only its nodes are searched, in its order. What
 * plugins count over the cluster they count over all nodes. attempt NULL: no hint is taken and none
 * left. Spec: 09 section 8.
 */
void bt_engine_schedule_in_snapshot(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result);

/**
 * By slot, how many pods like this one fit there one after the other while nothing else changes;
 * the snapshot is taken as it is, without regard to a placement. NULL: other things than the
 * columns have a say in where the pod fits. Borrowed until the next decision.
 */
const uint32_t *bt_engine_room(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt);

/**
 * Assume the pod on the chosen node, Reserve, Permit (spec 03 section 4). A Permit that waits is a
 * success; result->waits tells for whom. On failure everything is undone and result tells why.
 */
bool bt_engine_reserve(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result);
/**
 * The same in a pod group cycle, in the snapshot alone: slot is the chosen or nominated node, and
 * out_permit is Success or Wait. On failure everything is undone and result tells why. Spec: 09
 * section 7.5.
 */
bool bt_engine_reserve_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	uint32_t slot, struct bt_schedule_result *result, struct bt_status *out_permit);
/** Take back what bt_engine_reserve_in_snapshot did; pods in the reverse order. */
void bt_engine_revert_in_snapshot(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result);
/** Take a reserved pod's cycle out of the engine: result stays valid while others are scheduled. */
void bt_engine_hold(struct bt_engine *engine, struct bt_schedule_result *result,
	struct bt_held_cycle *out_held);
void bt_engine_release_held(struct bt_engine *engine, struct bt_held_cycle *held);
/** What the pod waited for did not come: everything is undone and result tells why. */
void bt_engine_reject_waiting(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *status, struct bt_schedule_result *result);
/** How far a binding cycle got; zero memory: at its start. */
struct bt_binding_progress {
	bool started;   /* PreBind */
	bool pre_bound; /* it is over */
	bool extenders_asked;
	struct bt_pre_bind_progress pre_bind;
	uint32_t next_binder;
	int64_t step_started_ns; /* PreBind or Bind, by the clock of the metrics */
};

enum bt_binding_outcome {
	BT_BINDING_BOUND,
	BT_BINDING_FAILED,  /* everything is undone and result tells why */
	BT_BINDING_PENDING, /* repeat the call when an answer came, at cycle->wake_ns at the latest
	                     */
};

/**
 * PreBind, Bind, PostBind of a reserved pod (spec 03 section 6). pre_flights: what
 * bt_run_pre_bind_pre_flights said.
 */
enum bt_binding_outcome bt_engine_bind(struct bt_engine *engine, const struct bt_pod_info *pod,
	const struct bt_status *pre_flights, struct bt_binding_progress *progress,
	struct bt_schedule_result *result);
/**
 * Assume the pod on the chosen node, Reserve, Permit, PreBind, Bind, PostBind, all at once
 * (simulation, bench: what waits counts as done). On failure everything
 * is undone and out_result tells why. Returns true when the pod is on its node.
 */
bool bt_engine_place(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result);
/** The part after bt_engine_reserve. */
bool bt_engine_finish_place(
	struct bt_engine *engine, const struct bt_pod_info *pod, struct bt_schedule_result *result);

/** "0/3 nodes are available: ..." without PostFilter's part unless the diagnosis has one. Spec 03
 * section 8. */
void bt_diagnosis_message(const struct bt_diagnosis *diagnosis, struct bt_strbuf *out);

/** Spec 03 section 3.3. percentage 0 = adaptive. */
uint32_t bt_num_feasible_nodes_to_find(uint32_t node_count, int32_t percentage);

/**
 * Everything about one pod on every node, the plain way: what conformance vectors record and
 * explanations show. Filter runs on every node named by PreFilter, without a percentage and without
 * the nominated-node fast path; Score runs even for one feasible node.
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
	uint32_t best; /* index into feasible of the first by name among the best; UINT32_MAX = none
	                */
	struct bt_status error; /* an internal error ended the evaluation */
	struct bt_diagnosis diagnosis;
	struct bt_cycle_state *cycle;
};

/** Refreshes the snapshot first. Extenders are not asked. Memory: the engine's cycle arena. */
void bt_engine_evaluate(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct bt_evaluation *out_evaluation);
#endif

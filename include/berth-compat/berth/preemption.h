/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PREEMPTION_H
#define BERTH_PREEMPTION_H
/**
 * @file
 * Preemption: the node on which the removal of pods of lower priority lets a pod run, and their
 * removal. The Evaluator with the decisions that a plugin may replace. Spec 08, upstream v1.36.
 *
 * A preemption works on the snapshot of the handle it is made for, which must be up to date; states
 * are those of a cycle in which PreFilter has run. What it finds lives in the state's arena,
 * victims are valid until the snapshot changes.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cycle_state.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/lister.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/plugin.h"
#include "berth/pod_info.h"
#include "berth/status.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** policy/v1 PodDisruptionBudget. Opaque; belongs to a berth_object. Spec 01 section 4.8. */
struct berth_pdb;

/** The object as a budget; NULL when it is of another kind or NULL. Borrowed from the object. */
BERTH_API const struct berth_pdb *berth_object_pdb(const struct berth_object *object);
/** metadata.name. */
BERTH_API struct berth_str berth_pdb_name(const struct berth_pdb *pdb);
/** metadata.namespace. */
BERTH_API struct berth_str berth_pdb_namespace(const struct berth_pdb *pdb);
/** status.disruptionsAllowed. */
BERTH_API int32_t berth_pdb_disruptions_allowed(const struct berth_pdb *pdb);
/** status.disruptedPods names the pod: its eviction is counted already. */
BERTH_API bool berth_pdb_has_disrupted_pod(const struct berth_pdb *pdb, struct berth_str pod_name);
/**
 * Preemption charges the budget for this pod: same namespace, and spec.selector matches its labels.
 * As upstream does it, an absent and an empty selector match nothing here, nor does a broken one
 * (spec 08 section 9.1).
 */
BERTH_API bool berth_pdb_covers(const struct berth_pdb *pdb, const struct berth_pod_info *pod);

/** extenderv1.Victims. */
struct berth_victims {
	const struct berth_pod_info *const *pods; /**< most important first */
	uint32_t pod_count;                       /**< entries of pods */
	int64_t num_pdb_violations;               /**< evictions that no disruption budget allows */
};

/** Candidate: a node, and the pods that have to go. */
struct berth_preemption_candidate {
	struct berth_str name;        /**< of the node; "cluster" for a pod group */
	struct berth_victims victims; /**< who has to go */
};

/** Victims(). */
BERTH_API const struct berth_victims *berth_preemption_candidate_victims(
	const struct berth_preemption_candidate *candidate);
/** Name(). */
BERTH_API struct berth_str berth_preemption_candidate_name(
	const struct berth_preemption_candidate *candidate);

/** An entry of the map from nodes to victims. */
struct berth_node_victims {
	struct berth_str node_name;   /**< the node */
	struct berth_victims victims; /**< who has to go */
};

struct berth_preemption;

/** How good an entry of the map is; larger is better. */
typedef int64_t (*berth_preemption_score_fn)(
	const struct berth_preemption *preemption, const struct berth_node_victims *victims);

/**
 * Removes one victim through the API: condition DisruptionTarget, deletion, event. 0, also when the
 * pod is gone; or a negative code, with which the preemption fails.
 */
typedef int (*berth_preempt_pod_fn)(struct berth_preemption *preemption,
	const struct berth_pod_info *preemptor, const struct berth_pod_info *victim,
	struct berth_str candidate_name, struct berth_error *err);

/**
 * Interface: decisions that a plugin may replace. A slot that is NULL is the default one, which is
 * a function below. All-zero memory: all defaults.
 */
struct berth_preemption_ops {
	/** Where the scan of @p node_count nodes starts, and how many candidates are enough. */
	void (*get_offset_and_num_candidates)(struct berth_preemption *preemption,
		uint32_t node_count, uint32_t *out_offset, uint32_t *out_candidates_num);
	/** Entries by node; the last of several candidates of a node counts. In the arena. */
	struct berth_node_victims *(*candidates_to_victims_map)(struct berth_preemption *preemption,
		const struct berth_preemption_candidate *candidates, uint32_t count,
		struct berth_arena *arena, uint32_t *out_count);
	/**
	 * May the pod preempt at all? @p nominated_status: verdict about the node it was nominated
	 * to. false: *out_reason says why, in the arena.
	 */
	bool (*pod_eligible_to_preempt_others)(struct berth_preemption *preemption,
		const struct berth_pod_info *pod, const struct berth_status *nominated_status,
		struct berth_arena *arena, struct berth_str *out_reason);
	/**
	 * The least set of victims on the node. Success with at least one, or why it cannot be.
	 * State and node are copies of the call's own, which may be changed.
	 */
	struct berth_status (*select_victims_on_node)(struct berth_preemption *preemption,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_info *node, const struct berth_pdb *const *pdbs,
		uint32_t pdb_count, struct berth_victims *out_victims);
	/** Criteria in place of the default ones; a count of 0: those (spec 08 section 10.2). */
	const berth_preemption_score_fn *(*ordered_score_funcs)(struct berth_preemption *preemption,
		const struct berth_node_victims *nodes_to_victims, uint32_t node_count,
		uint32_t *out_count);
};

/** Start from BERTH_PREEMPTION_OPTIONS_INIT. */
struct berth_preemption_options {
	size_t size; /**< sizeof(struct berth_preemption_options) */
	/** Percentage of the nodes that are enough candidates (DefaultPreemptionArgs). */
	int32_t min_candidate_nodes_percentage;
	/** At least so many candidates are looked for (DefaultPreemptionArgs). */
	int32_t min_candidate_nodes_absolute;
};

/** The defaults of DefaultPreemptionArgs. */
#define BERTH_PREEMPTION_OPTIONS_INIT \
	{ \
		sizeof(struct berth_preemption_options), 10, 100 \
	}

/** Evaluator. Members may be changed while nothing of it runs. */
struct berth_preemption {
	struct berth_str plugin_name;      /**< whose verdict it is, for events and texts */
	const struct berth_handle *handle; /**< whose snapshot, requests and clock count */
	/** PodLister: the newest versions; const struct berth_pod *, only get is called. */
	struct berth_lister pod_lister;
	/** PdbLister: disruption budgets, const struct berth_pdb *; only list is called. */
	struct berth_lister pdb_lister;
	/** Removes one victim, at once. NULL: by the engine's requests, in the form that gate
	 * SchedulerAsyncPreemption chooses (spec 08 section 11). */
	berth_preempt_pod_fn preempt_pod;
	const struct berth_preemption_ops *ops; /**< Interface; never NULL */
	void *context;                          /**< for the functions above */
};

/**
 * NewEvaluator. @p plugin_name and @p ops are borrowed; @p ops and @p options NULL: the defaults.
 * owned: berth_preemption_destroy(), when no request of it is open: after the engine, or once every
 * one was answered.
 */
BERTH_API struct berth_preemption *berth_preemption_create(const char *plugin_name,
	const struct berth_handle *handle, const struct berth_preemption_ops *ops,
	const struct berth_preemption_options *options);
/** What is under way is forgotten. NULL is accepted. */
BERTH_API void berth_preemption_destroy(struct berth_preemption *preemption);

/** NodesForStatusCode of the failed attempt: nodes with the code Unschedulable, on which removals
 * may help (spec 08 section 3.4). In the arena. */
BERTH_API const struct berth_node_info *const *berth_preemption_potential_nodes(
	const struct berth_preemption *preemption, const struct berth_node_to_status *statuses,
	struct berth_arena *arena, uint32_t *out_count);
/** The disruption budgets of all namespaces that pdb_lister has. In the arena. */
BERTH_API const struct berth_pdb *const *berth_preemption_pdbs(
	const struct berth_preemption *preemption, struct berth_arena *arena, uint32_t *out_count);

/** What a dry run found. In the state's arena. */
struct berth_preemption_dry_run_result {
	const struct berth_preemption_candidate *candidates; /**< without violations first */
	uint32_t candidate_count;                            /**< entries of candidates */
	/** Statuses of the nodes that are none, in the order in which they were looked at. */
	const struct berth_plugin_status *statuses; /**< plugin: the name of the node */
	uint32_t status_count;                      /**< entries of statuses */
	struct berth_str error_text; /**< of all nodes that failed with Error; absent: none */
};

/**
 * DryRunPreemption (spec 08 section 8): looks at @p potential_nodes in cyclic order from
 * @p offset until @p candidates_num candidates, one of them without violations, are known.
 */
BERTH_API void berth_preemption_dry_run(struct berth_preemption *preemption,
	const struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *potential_nodes, uint32_t node_count,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, uint32_t offset,
	uint32_t candidates_num, struct berth_preemption_dry_run_result *out_result);
/** SelectCandidate (spec 08 section 10.2); NULL without candidates. Among equals the first. */
BERTH_API const struct berth_preemption_candidate *berth_preemption_select_candidate(
	struct berth_preemption *preemption, const struct berth_preemption_candidate *candidates,
	uint32_t count, struct berth_arena *arena);
/**
 * Preempt, the whole of it (spec 08 section 5): eligibility, candidates, extenders, choice, removal
 * of the victims. What comes out:
 * - no result and Error: something failed for now; the nomination stays
 * - no result and Unschedulable: victims are waited for, or the pod may not preempt; it stays
 * - a result and Unschedulable: preemption does not help; the result clears the nomination
 * - a result and Success: the result nominates the node
 */
BERTH_API struct berth_status berth_preemption_preempt(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result);
/** IsPodRunningPreemption: victims of the pod are being removed (spec 08 section 11.3). */
BERTH_API bool berth_preemption_is_pod_running(
	const struct berth_preemption *preemption, berth_uid pod_uid);

/* The default decisions; slots may call them. */

/** A random offset; enough are the percentage of the nodes, or the absolute number if that is more,
 * or all (spec 08 section 7). */
BERTH_API void berth_preemption_get_offset_and_num_candidates(struct berth_preemption *preemption,
	uint32_t node_count, uint32_t *out_offset, uint32_t *out_candidates_num);
/** Entries in the order in which nodes first occur. */
BERTH_API struct berth_node_victims *berth_preemption_candidates_to_victims_map(
	struct berth_preemption *preemption, const struct berth_preemption_candidate *candidates,
	uint32_t count, struct berth_arena *arena, uint32_t *out_count);
/** Not with preemptionPolicy Never, nor while victims on the nominated node are terminating (spec
 * 08 section 6). */
BERTH_API bool berth_preemption_pod_eligible_to_preempt_others(struct berth_preemption *preemption,
	const struct berth_pod_info *pod, const struct berth_status *nominated_status,
	struct berth_arena *arena, struct berth_str *out_reason);
/** Spec 08 section 9. The node must be one of the snapshot, or a what-if of one; neither it nor the
 * state is changed. */
BERTH_API struct berth_status berth_preemption_select_victims_on_node(
	struct berth_preemption *preemption, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, struct berth_victims *out_victims);

/**
 * NodeToStatusReader.NodesForStatusCode: nodes of the snapshot whose verdict has this code, those
 * without an entry included if theirs has. In the arena. Spec 02 section 2.
 */
BERTH_API const struct berth_node_info *const *berth_node_to_status_nodes_for_code(
	const struct berth_node_to_status *statuses, const struct berth_shared_lister *snapshot,
	enum berth_code code, struct berth_arena *arena, uint32_t *out_count);

#ifdef __cplusplus
}
#endif
#endif

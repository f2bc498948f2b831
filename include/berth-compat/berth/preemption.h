/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PREEMPTION_H
#define BERTH_PREEMPTION_H
/**
 * @file
 * Preemption: finds the node on which removing pods of lower priority lets a pod run, and removes
 * these victims. struct berth_preemption is upstream's Evaluator; a plugin may replace the
 * decisions of struct berth_preemption_ops. Spec 08, upstream v1.36.
 *
 * A preemption reads the snapshot of its handle, which must be up to date, and takes the state of a
 * cycle in which PreFilter has run. Results live in the state's arena, victims are valid until the
 * snapshot changes.
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

/** The object as a budget; NULL for NULL and for other kinds. Borrowed from the object. */
BERTH_API const struct berth_pdb *berth_object_pdb(const struct berth_object *object);
/** metadata.name. */
BERTH_API struct berth_str berth_pdb_name(const struct berth_pdb *pdb);
/** metadata.namespace. */
BERTH_API struct berth_str berth_pdb_namespace(const struct berth_pdb *pdb);
/** status.disruptionsAllowed. */
BERTH_API int32_t berth_pdb_disruptions_allowed(const struct berth_pdb *pdb);
/**
 * Whether status.disruptedPods contains the pod, because the eviction of the pod is already
 * counted.
 */
BERTH_API bool berth_pdb_has_disrupted_pod(const struct berth_pdb *pdb, struct berth_str pod_name);
/**
 * Whether preemption charges the budget for this pod: same namespace, and spec.selector matches the
 * pod's labels. As upstream, an absent, empty or invalid selector matches nothing here (spec 08
 * section 9.1).
 */
BERTH_API bool berth_pdb_covers(const struct berth_pdb *pdb, const struct berth_pod_info *pod);

/** extenderv1.Victims. */
struct berth_victims {
	const struct berth_pod_info *const *pods; /**< most important first */
	uint32_t pod_count;                       /**< entries of pods */
	int64_t num_pdb_violations;               /**< evictions that violate a disruption budget */
};

/** Candidate: a node and its victims. */
struct berth_preemption_candidate {
	struct berth_str name;        /**< of the node; "cluster" for a pod group */
	struct berth_victims victims; /**< pods to remove */
};

/** Victims(): the victims of the candidate. */
BERTH_API const struct berth_victims *berth_preemption_candidate_victims(
	const struct berth_preemption_candidate *candidate);
/** Name(): the name of the candidate's node. */
BERTH_API struct berth_str berth_preemption_candidate_name(
	const struct berth_preemption_candidate *candidate);

/** An entry of the map from nodes to victims. */
struct berth_node_victims {
	struct berth_str node_name;   /**< the node */
	struct berth_victims victims; /**< pods to remove from the node */
};

struct berth_preemption;

/** Returns the value of a node and its victims by one criterion; the largest value is preferred. */
typedef int64_t (*berth_preemption_score_fn)(
	const struct berth_preemption *preemption, const struct berth_node_victims *victims);

/**
 * Removes one victim through the API: condition DisruptionTarget, deletion, event. Returns 0, also
 * when the pod no longer exists, or a negative code, which makes the preemption fail.
 */
typedef int (*berth_preempt_pod_fn)(struct berth_preemption *preemption,
	const struct berth_pod_info *preemptor, const struct berth_pod_info *victim,
	struct berth_str candidate_name, struct berth_error *err);

/**
 * Interface: decisions that a plugin may replace. A NULL slot means the default decision: the
 * function below named after the slot, or the default criteria. All-zero memory: all defaults.
 */
struct berth_preemption_ops {
	/**
	 * Chooses where the scan of @p node_count nodes starts and how many candidates are enough.
	 */
	void (*get_offset_and_num_candidates)(struct berth_preemption *preemption,
		uint32_t node_count, uint32_t *out_offset, uint32_t *out_candidates_num);
	/**
	 * Returns one entry for each node, in the arena; if a node has several candidates, the
	 * entry has the victims of the last candidate.
	 */
	struct berth_node_victims *(*candidates_to_victims_map)(struct berth_preemption *preemption,
		const struct berth_preemption_candidate *candidates, uint32_t count,
		struct berth_arena *arena, uint32_t *out_count);
	/**
	 * Whether the pod may preempt at all. @p nominated_status: status of the node that the pod
	 * is nominated to. false: *out_reason, in the arena, contains the reason.
	 */
	bool (*pod_eligible_to_preempt_others)(struct berth_preemption *preemption,
		const struct berth_pod_info *pod, const struct berth_status *nominated_status,
		struct berth_arena *arena, struct berth_str *out_reason);
	/**
	 * Selects the smallest set of victims on the node. Returns Success with at least one
	 * victim, or the reason for failing. State and node are private copies: the function may
	 * change them.
	 */
	struct berth_status (*select_victims_on_node)(struct berth_preemption *preemption,
		struct berth_cycle_state *state, const struct berth_pod_info *pod,
		const struct berth_node_info *node, const struct berth_pdb *const *pdbs,
		uint32_t pdb_count, struct berth_victims *out_victims);
	/**
	 * Criteria that replace the default criteria; a count of 0 keeps the defaults (spec 08
	 * section 10.2).
	 */
	const berth_preemption_score_fn *(*ordered_score_funcs)(struct berth_preemption *preemption,
		const struct berth_node_victims *nodes_to_victims, uint32_t node_count,
		uint32_t *out_count);
};

/** Start from BERTH_PREEMPTION_OPTIONS_INIT. */
struct berth_preemption_options {
	size_t size; /**< sizeof(struct berth_preemption_options) */
	/**
	 * Number of candidates that are enough, as a percentage of the nodes
	 * (DefaultPreemptionArgs).
	 */
	int32_t min_candidate_nodes_percentage;
	/** Smallest number of candidates to look for (DefaultPreemptionArgs). */
	int32_t min_candidate_nodes_absolute;
};

/** The defaults of DefaultPreemptionArgs. */
#define BERTH_PREEMPTION_OPTIONS_INIT \
	{ \
		sizeof(struct berth_preemption_options), 10, 100 \
	}

/** Evaluator. Members may be changed while none of its functions runs. */
struct berth_preemption {
	struct berth_str plugin_name;      /**< plugin that preempts, for events and messages */
	const struct berth_handle *handle; /**< supplies snapshot, requests and clock */
	/** PodLister: the newest versions of pods, const struct berth_pod *; only get is called. */
	struct berth_lister pod_lister;
	/** PdbLister: disruption budgets, const struct berth_pdb *; only list is called. */
	struct berth_lister pdb_lister;
	/**
	 * Removes one victim, synchronously. NULL: the engine's requests remove the victim, in the
	 * form that gate SchedulerAsyncPreemption chooses (spec 08 section 11).
	 */
	berth_preempt_pod_fn preempt_pod;
	const struct berth_preemption_ops *ops; /**< Interface; never NULL */
	void *context;                          /**< for the functions above */
};

/**
 * NewEvaluator. @p plugin_name and @p ops are borrowed; @p ops and @p options NULL: the defaults.
 * owned: berth_preemption_destroy(), while no request of the evaluator is open: after the engine is
 * destroyed or all requests are answered.
 */
BERTH_API struct berth_preemption *berth_preemption_create(const char *plugin_name,
	const struct berth_handle *handle, const struct berth_preemption_ops *ops,
	const struct berth_preemption_options *options);
/** Releases the evaluator and forgets preemptions in progress. NULL is accepted. */
BERTH_API void berth_preemption_destroy(struct berth_preemption *preemption);

/**
 * The nodes that the failed attempt left with the code Unschedulable, where removing pods may help
 * (NodesForStatusCode, spec 08 section 3.4). In the arena.
 */
BERTH_API const struct berth_node_info *const *berth_preemption_potential_nodes(
	const struct berth_preemption *preemption, const struct berth_node_to_status *statuses,
	struct berth_arena *arena, uint32_t *out_count);
/** The disruption budgets of all namespaces, from pdb_lister. In the arena. */
BERTH_API const struct berth_pdb *const *berth_preemption_pdbs(
	const struct berth_preemption *preemption, struct berth_arena *arena, uint32_t *out_count);

/** Result of a dry run, in the state's arena. */
struct berth_preemption_dry_run_result {
	/** Candidates without violations of disruption budgets come first. */
	const struct berth_preemption_candidate *candidates;
	uint32_t candidate_count; /**< entries of candidates */
	/** Statuses of the nodes that are not candidates, in the order of the scan. */
	const struct berth_plugin_status *statuses; /**< `plugin` is the name of the node */
	uint32_t status_count;                      /**< entries of statuses */
	struct berth_str error_text; /**< texts of all nodes with status Error; absent: no error */
};

/**
 * DryRunPreemption (spec 08 section 8): scans @p potential_nodes cyclically from @p offset until it
 * has found @p candidates_num candidates, at least one of them without violations of disruption
 * budgets.
 */
BERTH_API void berth_preemption_dry_run(struct berth_preemption *preemption,
	const struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *potential_nodes, uint32_t node_count,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, uint32_t offset,
	uint32_t candidates_num, struct berth_preemption_dry_run_result *out_result);
/**
 * SelectCandidate (spec 08 section 10.2): the best candidate, the first of several equally good
 * candidates; NULL without candidates.
 */
BERTH_API const struct berth_preemption_candidate *berth_preemption_select_candidate(
	struct berth_preemption *preemption, const struct berth_preemption_candidate *candidates,
	uint32_t count, struct berth_arena *arena);
/**
 * Preempt, the whole preemption (spec 08 section 5): eligibility, candidates, extenders, choice,
 * removal of the victims. Results:
 * - no result and Error: an operation failed; the nomination stays
 * - no result and Unschedulable: the pod waits for its victims or is not allowed to preempt; the
 *   nomination stays
 * - a result and Unschedulable: preemption does not help; the result clears the nomination
 * - a result and Success: the result nominates the node
 */
BERTH_API struct berth_status berth_preemption_preempt(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result);
/** IsPodRunningPreemption: whether victims of the pod are being removed (spec 08 section 11.3). */
BERTH_API bool berth_preemption_is_pod_running(
	const struct berth_preemption *preemption, berth_uid pod_uid);

/* The default decisions; functions in slots may call them. */

/**
 * Chooses a random offset. The number of candidates is the larger of the percentage and the
 * absolute minimum, at most all nodes (spec 08 section 7).
 */
BERTH_API void berth_preemption_get_offset_and_num_candidates(struct berth_preemption *preemption,
	uint32_t node_count, uint32_t *out_offset, uint32_t *out_candidates_num);
/** Returns the entries in the order in which the nodes first occur. */
BERTH_API struct berth_node_victims *berth_preemption_candidates_to_victims_map(
	struct berth_preemption *preemption, const struct berth_preemption_candidate *candidates,
	uint32_t count, struct berth_arena *arena, uint32_t *out_count);
/**
 * Returns false for preemptionPolicy Never, and while victims on the nominated node are terminating
 * (spec 08 section 6).
 */
BERTH_API bool berth_preemption_pod_eligible_to_preempt_others(struct berth_preemption *preemption,
	const struct berth_pod_info *pod, const struct berth_status *nominated_status,
	struct berth_arena *arena, struct berth_str *out_reason);
/**
 * Selects the victims as spec 08 section 9 says. The node must belong to the snapshot or be a clone
 * of such a node; node and state are left unchanged.
 */
BERTH_API struct berth_status berth_preemption_select_victims_on_node(
	struct berth_preemption *preemption, struct berth_cycle_state *state,
	const struct berth_pod_info *pod, const struct berth_node_info *node,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, struct berth_victims *out_victims);

/**
 * NodeToStatusReader.NodesForStatusCode: nodes of the snapshot whose status has this code. Nodes
 * without an entry are included if the status of absent nodes has the code. In the arena. Spec 02
 * section 2.
 */
BERTH_API const struct berth_node_info *const *berth_node_to_status_nodes_for_code(
	const struct berth_node_to_status *statuses, const struct berth_shared_lister *snapshot,
	enum berth_code code, struct berth_arena *arena, uint32_t *out_count);

#ifdef __cplusplus
}
#endif
#endif

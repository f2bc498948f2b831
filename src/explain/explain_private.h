/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_PRIVATE_H
#define BT_EXPLAIN_EXPLAIN_PRIVATE_H
/** Shared by the files that implement bt_explain. */
#include "base/vec.h"
#include "dra/dra.h"
#include "explain/explain.h"
#include "state/state.h"

/** Data of a node for the search of proposals; at the same index as the node in the explanation. */
struct bt_outlook {
	/**
	 * The changes in node->remedies, but with changes of the pod instead of the node wherever
	 * changes of the pod help. Absent if the list would equal node->remedies.
	 */
	bt_remedy_list of_pod;
	double of_pod_distance;
	bool of_pod_is_too_small;
	bt_remedy_list fewest; /* bt_needs.fewest; empty if node->remedies or of_pod is as good */
	bool fewest_is_too_small;
	bool known; /* the filters ran for the node */
};

/** One call of bt_explain. */
struct bt_explain_run {
	struct bt_engine *engine;
	struct bt_framework *framework; /* the profile that decides */
	const struct bt_pod *pod;       /* the caller's pod */
	const struct bt_explain_options *options;
	struct bt_explanation *out;  /* texts are copied into out->arena, because cycles end */
	struct bt_outlook *outlooks; /* by index in out->nodes */
	uint32_t *node_of_slot;      /* by slot: index in out->nodes */
	bool entry_is_final;         /* no known change makes PreEnqueue accept the pod */
};

/* explain_preemption.c */

/**
 * Fills in out->preemption. result: output of the bt_engine_schedule call that just ran for this
 * pod and ended with BT_OUTCOME_FIT_ERROR; its memory is valid until the engine's next cycle.
 */
void bt_explain_preemption(struct bt_explain_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result);

/* explain.c: all rejections of one node */

struct bt_needs {
	struct bt_explain_run *run;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	const struct bt_node_info *node; /* NULL: PreFilter or PreEnqueue rejects the pod */
	BT_VEC(struct bt_obstacle) obstacles;
	bt_remedy_list remedies;
	bt_remedy_list of_pod; /* changes of the pod instead of the node where possible */
	/**
	 * For each obstacle, the changes of the node or the changes of the pod, whichever are
	 * fewer. If the numbers are equal: the changes of the pod if they avoid the need for a
	 * larger node, else the changes of the node.
	 */
	bt_remedy_list fewest;
	double distance;
	double of_pod_distance;
	bool is_final;
	bool is_too_small;
	bool of_pod_is_too_small;
	bool fewest_is_too_small;
};

void bt_needs_finish(struct bt_needs *needs);
void bt_needs_reset(struct bt_needs *needs);
/** Collects all rejections of the node. PreFilter must have succeeded in needs->cycle. */
void bt_needs_of_slot(struct bt_needs *needs, uint32_t slot);
/** Collects the reasons for which PreFilter excluded some or all nodes. */
void bt_needs_of_pre_filter(struct bt_needs *needs, const struct bt_pre_filter_outcome *outcome);
/**
 * Merges remedies into `into`: adds up amounts of one resource, combines tolerations of one key,
 * keeps the largest maxSkew. Returns false if there are too many remedies.
 */
bool bt_remedies_unite(bt_remedy_list *into, const bt_remedy_list *remedies);
/** Like bt_remedies_unite for one remedy. */
bool bt_remedies_add(bt_remedy_list *into, const struct bt_remedy *remedy);

/* explain_nodes.c */

/** Fills in nodes, groups and scores. Fails only if the state contradicts itself. */
BT_MUST_USE int bt_explain_nodes(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err);

/* explain_world.c: the cluster with changes applied */

struct bt_explain_world {
	struct bt_engine *engine;
	struct bt_state_trial trial;
	struct bt_dra_trial claims; /* claims of the pods that the trial removes */
	struct bt_arena arena;
	struct bt_pod pod;
	struct bt_pod_info info;
	struct bt_framework *framework;          /* NULL: no profile has the pod's schedulerName */
	bool admitted;                           /* the pod passes PreEnqueue */
	struct bt_pre_filter_outcome pre_filter; /* outcome of the last cycle */
};

/**
 * Applies changes. Fails if the state contradicts itself. Sets *out_possible to false if a change
 * cannot be made, for example because its object does not exist. The world is open only if the
 * function succeeds and *out_possible is true.
 */
BT_MUST_USE int bt_explain_world_open(struct bt_explain_world *world, struct bt_engine *engine,
	const struct bt_pod *pod, const bt_remedy_list *remedies,
	const struct bt_explain_objects *objects, bool *out_possible, struct berth_error *err);
BT_MUST_USE int bt_explain_world_close(struct bt_explain_world *world, struct berth_error *err);
/**
 * Starts a cycle and runs PreFilter. *out_slots: the slots that PreFilter leaves for Filter, valid
 * until the next cycle.
 */
struct bt_cycle_state *bt_explain_world_begin(
	struct bt_explain_world *world, const uint32_t **out_slots, uint32_t *out_count);
/** Starts a cycle and runs PreFilter; *out_named: whether PreFilter leaves this slot for Filter. */
struct bt_cycle_state *bt_explain_world_begin_on(
	struct bt_explain_world *world, uint32_t slot, bool *out_named);

/** Summary of the verdicts of Filter. */
struct bt_scan {
	uint32_t feasible_count; /* at most 1 if the scan stopped at the first feasible node */
	uint32_t first_slot;     /* slot of the first feasible node by name, or BT_SLOT_NONE */
	bool slot_fits;
	bool error;
	uint32_t evaluated_count;
};

/**
 * Runs PreFilter, then Filter on the nodes that PreFilter leaves. wanted: slot whose result becomes
 * slot_fits, or BT_SLOT_NONE. stop: end at the first feasible node.
 */
struct bt_scan bt_explain_world_scan(struct bt_explain_world *world, uint32_t wanted, bool stop);
/** Runs PreFilter and, for one node, Filter; slot_fits: whether the node accepts the pod. */
struct bt_scan bt_explain_world_filter_node(struct bt_explain_world *world, uint32_t slot);

/* explain_proposals.c */

BT_MUST_USE int bt_explain_propose(struct bt_explain_run *run, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_PRIVATE_H
#define BT_EXPLAIN_EXPLAIN_PRIVATE_H
/** Between the files of src/explain that make up bt_explain. */
#include "base/vec.h"
#include "dra/dra.h"
#include "explain/explain.h"
#include "state/state.h"

typedef BT_LIST(struct bt_remedy) bt_remedy_list;
typedef BT_VEC(struct bt_remedy) bt_remedy_vec;

/** What the search for proposals knows of a node beside the explanation: same index as there. */
struct bt_outlook {
	/** As node->remedies, the pod changed wherever that helps, too; absent: the same. */
	bt_remedy_list of_pod;
	double of_pod_distance;
	bool of_pod_is_too_small;
	bt_remedy_list fewest; /* absent: no better than those */
	bool fewest_is_too_small;
	bool known; /* its filters were asked */
};

/** One call of bt_explain. */
struct bt_explain_run {
	struct bt_engine *engine;
	struct bt_framework *framework; /* the profile that is asked */
	const struct bt_pod *pod;       /* as given */
	const struct bt_explain_options *options;
	struct bt_explanation *out;  /* texts are copied into its arena: cycles come and go */
	struct bt_outlook *outlooks; /* by index in out->nodes */
	uint32_t *node_of_slot;      /* index in out->nodes */
	bool entry_is_final;         /* nothing known opens the way to the nodes */
};

/* explain_preemption.c */

/**
 * Fill out->preemption. result: of bt_engine_schedule for this pod a moment ago, with a diagnosis
 * (BT_OUTCOME_FIT_ERROR); its memory and cycle are good for the whole call as long as no other
 * cycle begins in the engine. Errors: the state contradicts itself.
 */
BT_MUST_USE int bt_explain_preemption(struct bt_explain_run *run, const struct bt_pod_info *pod,
	const struct bt_schedule_result *result, struct berth_error *err);

/* explain.c: what all plugins say of one node */

struct bt_needs {
	struct bt_explain_run *run;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	const struct bt_node_info *node; /* NULL: PreFilter */
	BT_VEC(struct bt_obstacle) obstacles;
	bt_remedy_vec remedies;
	bt_remedy_vec of_pod; /* the pod changed in place of the node where that helps, too */
	/** Of each obstacle, whichever of the two has fewer changes; of as many, what this node can
	 * do. */
	bt_remedy_vec fewest;
	double distance;
	double of_pod_distance;
	bool is_final;
	bool is_too_small;
	bool of_pod_is_too_small;
	bool fewest_is_too_small;
};

void bt_needs_finish(struct bt_needs *needs);
void bt_needs_reset(struct bt_needs *needs);
/** All that keeps the pod from a node that rejects it; PreFilter has succeeded in needs->cycle. */
void bt_needs_of_slot(struct bt_needs *needs, uint32_t slot);
/** What kept PreFilter from naming some or all nodes. */
void bt_needs_of_pre_filter(struct bt_needs *needs, const struct bt_pre_filter_outcome *outcome);
/**
 * into += all of these: amounts of one thing become one amount, tolerations of one key one
 * toleration. false: too many.
 */
bool bt_remedies_unite(bt_remedy_vec *into, const struct bt_remedy *remedies, uint32_t count);

/* explain_nodes.c */

/** Nodes, groups and scores. Errors: the state contradicts itself. */
BT_MUST_USE int bt_explain_nodes(
	struct bt_explain_run *run, const struct bt_pod_info *pod, struct berth_error *err);

/* explain_nodes.c: groups */

struct bt_explain_groups {
	struct bt_explain_run *run;
	struct bt_map map;
	BT_VEC(struct bt_status) statuses; /* copies, by group */
	BT_VEC(struct bt_explained_group) groups;
	BT_VEC(uint64_t) hashes;
};

/* explain_world.c: the cluster with some changes */

struct bt_explain_world {
	struct bt_engine *engine;
	struct bt_state_trial trial;
	struct bt_dra_trial claims; /* of the pods that the trial takes away */
	struct bt_arena arena;
	struct bt_pod pod;
	struct bt_pod_info info;
	struct bt_framework *framework;          /* NULL: no profile has its schedulerName */
	bool admitted;                           /* PreEnqueue lets it pass */
	struct bt_pre_filter_outcome pre_filter; /* of the last cycle */
};

/**
 * Apply changes. *out_possible false: one of them concerns what is not there, and the world is not
 * open. Errors: the state contradicts itself; the world is not open.
 */
BT_MUST_USE int bt_explain_world_open(struct bt_explain_world *world, struct bt_engine *engine,
	const struct bt_pod *pod, const struct bt_remedy *remedies, uint32_t count,
	const struct bt_explain_objects *objects, bool *out_possible, struct berth_error *err);
BT_MUST_USE int bt_explain_world_close(struct bt_explain_world *world, struct berth_error *err);
/** A fresh cycle with PreFilter; its slots are those that Filter would see. */
struct bt_cycle_state *bt_explain_world_begin(
	struct bt_explain_world *world, const uint32_t **out_slots, uint32_t *out_count);
/** The same for one slot; *out_named: Filter would see it. */
struct bt_cycle_state *bt_explain_world_begin_on(
	struct bt_explain_world *world, uint32_t slot, bool *out_named);

/** Answers of Filter. */
struct bt_scan {
	uint32_t feasible_count; /* at most 1 when only asked whether there is any */
	uint32_t first_slot;     /* first by name of those; BT_SLOT_NONE */
	bool slot_fits;
	bool error;
	uint32_t asked_count;
};

/** wanted: the slot slot_fits is about, or BT_SLOT_NONE. stop: the first feasible one is enough. */
struct bt_scan bt_explain_world_scan(struct bt_explain_world *world, uint32_t wanted, bool stop);
/** The same for one node. */
struct bt_scan bt_explain_world_ask(struct bt_explain_world *world, uint32_t slot);

/* explain_proposals.c */

BT_MUST_USE int bt_explain_propose(struct bt_explain_run *run, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_H
#define BT_EXPLAIN_EXPLAIN_H
/**
 * Why a pod is where it is: the rejection or the scores of each node, grouped; the missing amounts,
 * nearest nodes first; the smallest changes that make the pod fit, each of them tried; the outcome
 * of preemption. Spec: 03 sections 3 and 8, 08.
 *
 * No I/O. bt_explain applies changes to the engine's state and reverts them: when it returns, the
 * state is unchanged.
 */
#include "dra/allocator.h"
#include "explain/remedy.h"
#include "sched/scheduler.h"

#define BT_EXPLAIN_GROUP_NONE UINT32_MAX
/** Limit of proposals. */
#define BT_EXPLAIN_PROPOSALS_MAX 100

enum bt_explained_fate {
	BT_EXPLAINED_FITS,          /* at least one node */
	BT_EXPLAINED_UNSCHEDULABLE, /* no node */
	BT_EXPLAINED_NO_NODES,
	BT_EXPLAINED_GATED, /* PreEnqueue rejects the pod; nodes are evaluated all the same */
	BT_EXPLAINED_NOT_HANDLED, /* no profile has its schedulerName; nodes: the first profile's */
	BT_EXPLAINED_ERROR,       /* a plugin failed: message */
};

/** A plugin that rejects a node; the first one is the scheduler's answer. */
struct bt_obstacle {
	struct bt_str plugin;
	struct bt_str reasons; /* joined with ", " */
	struct bt_str hint; /* half-sentence for people: "needs 250m more cpu"; "" when unknown */
	/**
	 * Devices that each request found on the node, long selectors cut; NULL: no request failed.
	 */
	const struct bt_allocation_report *devices;
};

struct bt_explained_score {
	struct bt_str plugin;
	int64_t score; /* weighted */
};

struct bt_explained_node {
	struct bt_str name;
	uint32_t slot;
	uint32_t group; /* BT_EXPLAIN_GROUP_NONE: the node fits */
	/** Nodes that PreFilter excludes or rejects as a whole have PreFilter's status. */
	bool in_pre_filter;
	/**
	 * In the order of the profile's filters. in_pre_filter: PreFilter's rejection, then what
	 * the filters would return without it.
	 */
	BT_LIST(struct bt_obstacle) obstacles;
	/** Changes that together with entry_remedies make the pod fit; absent if is_final. */
	BT_LIST(struct bt_remedy) remedies;
	bool is_final;
	bool is_too_small; /* even the empty node is too small; such nodes come last */
	double distance;
	/* Nodes that fit. */
	int64_t total_score;
	BT_LIST(struct bt_explained_score) scores;
};

/** Nodes with the same status: one count of the message. */
struct bt_explained_group {
	enum bt_status_code code;
	struct bt_str plugin;           /* "" if PreFilter rejected without naming a plugin */
	BT_LIST(struct bt_str) reasons; /* each reason counts once per node in the message */
	BT_LIST(uint32_t) nodes;        /* indices in explanation.nodes, nearest first */
	bool in_pre_filter;             /* PreFilter rejected; Filter did not run */
};

/** Changes that were applied and made the scheduler accept the pod. */
struct bt_proposal {
	BT_LIST(struct bt_remedy) remedies;
	struct bt_str node;    /* nearest node that accepts the pod then */
	uint32_t opened_count; /* nodes that accept the pod then */
	uint32_t alike_count;  /* further nodes with the same remedies */
};

struct bt_explained_victim {
	struct bt_str namespace_;
	struct bt_str name;
	int32_t priority;
};

struct bt_explained_candidate {
	struct bt_str node;
	BT_LIST(struct bt_explained_victim) victims; /* most important first */
	int64_t pdb_violations;
	bool selected;
};

/** "No preemption victims found for incoming pod": 3 nodes. */
struct bt_explained_refusal {
	struct bt_str reason;
	uint32_t node_count;
};

struct bt_explained_preemption {
	bool ran;              /* no node fits, and the profile preempts */
	struct bt_str message; /* PostFilter's part of the message */
	struct bt_str node;    /* nominated node; "": none */
	BT_LIST(struct bt_explained_candidate) candidates;
	BT_LIST(struct bt_explained_refusal) refusals;
};

struct bt_explanation {
	struct bt_arena arena;
	enum bt_explained_fate fate;
	struct bt_str profile;   /* schedulerName of the profile that decides */
	struct bt_str message;   /* as in the pod's condition; "" when it fits */
	struct bt_str best_node; /* first by name among the best; "" when none fits */
	uint32_t node_count;     /* nodes of the cluster */
	uint32_t feasible_count;
	BT_LIST(struct bt_explained_node) nodes;   /* ascending by name */
	BT_LIST(struct bt_explained_group) groups; /* the one with the nearest node first */
	BT_LIST(struct bt_proposal) proposals;     /* smallest first */
	/** Nodes without a proposal because enough nearer nodes were tried. */
	uint32_t untried_count;
	/** Changes that PreEnqueue needs: gates, scheduler name. Part of every proposal. */
	BT_LIST(struct bt_remedy) entry_remedies;
	struct bt_explained_preemption preemption;
};

/** Reads objects that the state does not keep. Called only for objects that are in the state. */
struct bt_explain_objects {
	/** The node as it was added to the state. */
	const struct bt_node *(*node)(void *context, struct bt_str name);
	void *context;
};

struct bt_explain_options {
	uint32_t proposals_max; /* 0: no proposals */
	bool preemption;        /* report preemption */
	struct bt_explain_objects objects;
};

/**
 * Explains a pod that is not in the state (the caller removes a running pod first). The pod is
 * defaulted and borrowed for the call. Returns 0 also if the pod fits nowhere; BERTH_ERR_INTERNAL
 * if the state contradicts itself. out is initialised in any case and must be finished.
 */
BT_MUST_USE int bt_explain(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_explain_options *options, struct bt_explanation *out,
	struct berth_error *err);
void bt_explanation_finish(struct bt_explanation *explanation);

/** --- pod groups: spec 09 --- */

enum bt_explained_group_fate {
	BT_GROUP_FITS, /* the group's cycle accepts it */
	BT_GROUP_UNSCHEDULABLE,
	BT_GROUP_GATED, /* PreEnqueue rejects all members */
	BT_GROUP_ERROR, /* a plugin failed, or members name several schedulers */
};

struct bt_explained_member {
	struct bt_str name;
	struct bt_str node_name; /* node in the closest placement; "": none */
	struct bt_str message;   /* why the member has no node; "" if it has one or was not tried */
	bool is_gated;
};

struct bt_explained_placement {
	struct bt_str name; /* value of the topology key; "": all nodes */
	uint32_t node_count;
	uint32_t placed_count;
	bool is_feasible;
};

enum bt_group_change {
	BT_GROUP_CHANGE_REMEDIES,        /* changes of nodes, and of all members alike */
	BT_GROUP_CHANGE_ADD_NODES,       /* empty nodes like `node` */
	BT_GROUP_CHANGE_LOWER_MIN_COUNT, /* the policy is immutable: create the PodGroup again */
	BT_GROUP_CHANGE_ADD_PODS,        /* more members like the present ones */
};

/** A change with which the group's cycle accepted the group. */
struct bt_group_proposal {
	enum bt_group_change kind;
	BT_LIST(struct bt_remedy) remedies;
	uint32_t count;        /* number of nodes or pods; the new minCount */
	struct bt_str node;    /* ADD_NODES */
	uint32_t placed_count; /* pending members that find a node then */
};

struct bt_group_explanation {
	struct bt_arena arena;
	enum bt_explained_group_fate fate;
	struct bt_str message;
	bool has_object;            /* a PodGroup of the name exists */
	int32_t min_count;          /* minCount of a gang; 0: policy basic */
	struct bt_str topology_key; /* "": no constraint */
	uint32_t scheduled_count;   /* members with a node */
	uint32_t placed_count;      /* pending members that find a node in the closest placement */
	uint32_t gated_count;       /* pending members held by gates */
	uint32_t closest;           /* index in placements */
	BT_LIST(struct bt_explained_placement) placements; /* ascending by name */
	BT_LIST(struct bt_explained_member) members; /* pending ones, in the order of the cycle */
	/**
	 * The first member without a node, explained with the members before it on their nodes and
	 * restricted to the closest placement; NULL: none.
	 */
	const struct bt_pod *stopped;
	struct bt_explanation stop; /* explanation of stopped; zeros if there is none */
	BT_LIST(struct bt_group_proposal) proposals;
};

/**
 * Explains the pending members of one group, at least one. The group knows them
 * (state/pod_groups.h); they are defaulted, and borrowed until finish. Requires gate
 * GenericWorkload. options->preemption is ignored. Otherwise as bt_explain.
 */
BT_MUST_USE int bt_explain_group(struct bt_scheduler *scheduler, const struct bt_pod *const *pods,
	uint32_t count, const struct bt_explain_options *options, struct bt_group_explanation *out,
	struct berth_error *err);
void bt_group_explanation_finish(struct bt_group_explanation *explanation);

/**
 * Trials: changes are applied to the state, the scheduler decides, the state is reverted.
 * bt_explain tries each of its proposals so.
 */

/** Outcome of a trial. */
struct bt_trial {
	uint32_t feasible_count;
	bool node_fits; /* the requested node accepts the pod */
	bool error;     /* a plugin failed */
};

/** node "": any. Errors: the state contradicts itself. */
BT_MUST_USE int bt_explain_try(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str node,
	const struct bt_explain_objects *objects, struct bt_trial *out, struct berth_error *err);
#endif

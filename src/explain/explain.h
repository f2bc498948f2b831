/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_H
#define BT_EXPLAIN_EXPLAIN_H
/**
 * Why a pod is where it is: for each node the rejection or the scores, alike ones together; what is
 * missing on each node and which are nearest; the smallest changes that let the pod in, each of
 * them tried out; what preemption makes of it. Spec: 03 sections 3 and 8, 08.
 *
 * No I/O. While bt_explain runs, changes are applied to the engine's state and taken back; when it
 * returns the state is as it was.
 */
#include "dra/allocator.h"
#include "explain/remedy.h"
#include "sched/scheduler.h"

#define BT_EXPLAIN_GROUP_NONE UINT32_MAX
/** More than this many proposals are not sought. */
#define BT_EXPLAIN_PROPOSALS_MAX 100

enum bt_explained_fate {
	BT_EXPLAINED_FITS,          /* at least one node */
	BT_EXPLAINED_UNSCHEDULABLE, /* no node */
	BT_EXPLAINED_NO_NODES,
	BT_EXPLAINED_GATED, /* a PreEnqueue plugin holds it back; nodes are told all the same */
	BT_EXPLAINED_NOT_HANDLED, /* no profile has its schedulerName; nodes: the first profile's */
	BT_EXPLAINED_ERROR,       /* a plugin failed: message */
};

/** One of the plugins that reject a node: the first is the scheduler's own answer. */
struct bt_obstacle {
	struct bt_str plugin;
	struct bt_str reasons; /* joined with ", " */
	struct bt_str hint; /* half-sentence for people: "needs 250m more cpu"; "" when unknown */
	/**
	 * What each request for devices found on the node, the selectors cut when they are long;
	 * NULL: none were looked for in vain.
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
	uint32_t group; /* BT_EXPLAIN_GROUP_NONE: it fits */
	/** Nodes without PreFilter's consent (narrowed, or rejected as a whole) have their status
	 * from there. */
	bool in_pre_filter;
	/**
	 * In the order of the profile's filters. in_pre_filter: what PreFilter says, then what the
	 * filters would say behind it.
	 */
	BT_LIST(struct bt_obstacle) obstacles;
	/** All of these together, and entry_remedies, should let the pod in; absent when is_final.
	 */
	BT_LIST(struct bt_remedy) remedies;
	bool is_final;
	bool is_too_small; /* even empty; comes behind those that are not */
	double distance;
	/* Of nodes that fit. */
	int64_t total_score;
	BT_LIST(struct bt_explained_score) scores;
};

/** Nodes with the same status: what the message counts. */
struct bt_explained_group {
	enum bt_status_code code;
	struct bt_str plugin;           /* "" when PreFilter rejected in nobody's name */
	BT_LIST(struct bt_str) reasons; /* each counts once a node in the message */
	BT_LIST(uint32_t) nodes;        /* indices in explanation.nodes, nearest first */
	bool in_pre_filter;             /* the plugin was not asked node by node */
};

/** A change that was applied and made the scheduler accept the pod. */
struct bt_proposal {
	BT_LIST(struct bt_remedy) remedies;
	struct bt_str node;    /* the nearest node that it opens */
	uint32_t opened_count; /* nodes on which the pod fits then */
	uint32_t alike_count;  /* more nodes that ask for the same as the remedies' node */
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
	struct bt_str node;    /* nominated; "" none */
	BT_LIST(struct bt_explained_candidate) candidates;
	BT_LIST(struct bt_explained_refusal) refusals;
};

struct bt_explanation {
	struct bt_arena arena;
	enum bt_explained_fate fate;
	struct bt_str profile;   /* schedulerName of the profile that was asked */
	struct bt_str message;   /* as in the pod's condition; "" when it fits */
	struct bt_str best_node; /* first by name among the best; "" when none fits */
	uint32_t node_count;     /* nodes of the cluster */
	uint32_t feasible_count;
	BT_LIST(struct bt_explained_node) nodes;   /* ascending by name */
	BT_LIST(struct bt_explained_group) groups; /* the one with the nearest node first */
	BT_LIST(struct bt_proposal) proposals;     /* smallest first */
	/** Nodes that no proposal was sought for, because that many nearer ones were tried. */
	uint32_t untried_count;
	/** Changes before any node is asked: gates, scheduler name. Part of every proposal too. */
	BT_LIST(struct bt_remedy) entry_remedies;
	struct bt_explained_preemption preemption;
};

/** What the state does not keep. All are asked for objects that are in the state. */
struct bt_explain_objects {
	/** The node as it was put into the state. */
	const struct bt_node *(*node)(void *context, struct bt_str name);
	void *context;
};

struct bt_explain_options {
	uint32_t proposals_max; /* 0: none are sought */
	bool preemption;        /* tell its view */
	struct bt_explain_objects objects;
};

/**
 * Explain a pod that is not in the state (a running one is taken out by the caller). The pod is
 * defaulted and borrowed for the call. Returns 0 also when the pod fits nowhere; BERTH_ERR_INTERNAL
 * when the state contradicts itself. out is initialised; finish it in any case.
 */
BT_MUST_USE int bt_explain(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_explain_options *options, struct bt_explanation *out,
	struct berth_error *err);
void bt_explanation_finish(struct bt_explanation *explanation);

/** --- pod groups: spec 09 --- */

enum bt_explained_group_fate {
	BT_GROUP_FITS, /* its cycle accepts it */
	BT_GROUP_UNSCHEDULABLE,
	BT_GROUP_GATED, /* PreEnqueue holds all members back */
	BT_GROUP_ERROR, /* of a plugin, or members that name several schedulers */
};

struct bt_explained_member {
	struct bt_str name;
	struct bt_str node_name; /* in the closest placement; "": none */
	struct bt_str message;   /* why; "" when it has a node, or was not tried */
	bool is_gated;
};

struct bt_explained_placement {
	struct bt_str name; /* value of the topology key; "": all nodes */
	uint32_t node_count;
	uint32_t placed_count;
	bool is_feasible;
};

enum bt_group_change {
	BT_GROUP_CHANGE_REMEDIES,        /* changes of nodes, and of every member alike */
	BT_GROUP_CHANGE_ADD_NODES,       /* so many empty nodes like this one */
	BT_GROUP_CHANGE_LOWER_MIN_COUNT, /* the policy is immutable: to make the PodGroup anew */
	BT_GROUP_CHANGE_ADD_PODS,        /* so many members more, like those there are */
};

/** A change with which the cycle of the group accepted it. */
struct bt_group_proposal {
	enum bt_group_change kind;
	BT_LIST(struct bt_remedy) remedies;
	uint32_t count;        /* of nodes or pods; the new minCount */
	struct bt_str node;    /* ADD_NODES */
	uint32_t placed_count; /* pending members that find a node then */
};

struct bt_group_explanation {
	struct bt_arena arena;
	enum bt_explained_group_fate fate;
	struct bt_str message;
	bool has_object;            /* there is a PodGroup of the name */
	int32_t min_count;          /* of a gang; 0: policy basic */
	struct bt_str topology_key; /* "": no constraint */
	uint32_t scheduled_count;   /* members that have a node already */
	uint32_t placed_count;      /* of the others, in the closest placement */
	uint32_t gated_count;       /* of the others */
	uint32_t closest;           /* index in placements */
	BT_LIST(struct bt_explained_placement) placements; /* ascending by name */
	BT_LIST(struct bt_explained_member) members; /* pending ones, in the order of the cycle */
	/** The first member without a node, explained with those before it on their nodes and as
	 * if only the nodes of the closest placement were there; NULL: none. */
	const struct bt_pod *stopped;
	struct bt_explanation stop; /* of stopped; zeros otherwise */
	BT_LIST(struct bt_group_proposal) proposals;
};

/**
 * Explain the pending members of one group, at least one, which the group knows
 * (state/pod_groups.h); defaulted and borrowed until finish. The scheduler has gate
 * GenericWorkload. options: preemption is not told. Otherwise as bt_explain.
 */
BT_MUST_USE int bt_explain_group(struct bt_scheduler *scheduler, const struct bt_pod *const *pods,
	uint32_t count, const struct bt_explain_options *options, struct bt_group_explanation *out,
	struct berth_error *err);
void bt_group_explanation_finish(struct bt_group_explanation *explanation);

/**
 * Trying changes out: applied to the state, the scheduler asked again, the state set back. Used by
 * bt_explain for every proposal it makes, and by tests.
 */

/** How the pod fares after some changes. */
struct bt_trial {
	uint32_t feasible_count;
	bool node_fits; /* the node that was asked for */
	bool error;     /* a plugin failed */
};

/** node "": no particular one. Errors: the state contradicts itself. */
BT_MUST_USE int bt_explain_try(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_remedy *remedies, uint32_t count, struct bt_str node,
	const struct bt_explain_objects *objects, struct bt_trial *out, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_EXPLAIN_H
#define BT_EXPLAIN_EXPLAIN_H
/**
 * Explains a pod's scheduling: the rejection or the scores of each node, in groups; the missing
 * amounts, nearest nodes first; the smallest changes that make the pod fit, each verified by a
 * trial; the outcome of preemption. Spec: 03 sections 3 and 8, 08.
 *
 * No I/O. bt_explain applies changes to the engine's state and reverts them: when the function
 * returns, the state is unchanged.
 */
#include "dra/allocator.h"
#include "explain/remedy.h"
#include "sched/scheduler.h"

#define BT_EXPLAIN_GROUP_NONE UINT32_MAX
/** Limit of proposals per explanation. */
#define BT_EXPLAIN_PROPOSALS_MAX 100

enum bt_explained_fate {
	BT_EXPLAINED_FITS,          /* at least one node accepts the pod */
	BT_EXPLAINED_UNSCHEDULABLE, /* no node accepts the pod */
	BT_EXPLAINED_NO_NODES,
	BT_EXPLAINED_GATED, /* PreEnqueue rejects the pod; nodes are evaluated nevertheless */
	/** no profile has the pod's schedulerName; the first profile is used */
	BT_EXPLAINED_NOT_HANDLED,
	BT_EXPLAINED_ERROR, /* a plugin failed; see message */
};

/** A rejection of a node by a plugin. The scheduler reports only the first obstacle of a node. */
struct bt_obstacle {
	struct bt_str plugin;
	struct bt_str reasons; /* joined with ", " */
	struct bt_str hint;    /* phrase for people: "needs 250m more cpu"; "" if unknown */
	/**
	 * Report of the failed search for devices: devices found per request, with long texts cut.
	 * NULL if no such search has failed.
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
	/** PreFilter excluded this node or all nodes; the node's group has PreFilter's status. */
	bool in_pre_filter;
	/**
	 * The rejections in the order of the profile's filters. If in_pre_filter is set: first
	 * PreFilter's rejection, then the rejections of the filters as if PreFilter had passed.
	 */
	BT_VEC(struct bt_obstacle) obstacles;
	/**
	 * Changes that make the pod fit if entry_remedies are applied, too. Empty if is_final is
	 * set, because no known changes help.
	 */
	bt_remedy_list remedies;
	bool is_final;
	bool is_too_small; /* even the node without pods is too small; such nodes come last */
	double distance;
	/* Set only for nodes that fit. */
	int64_t total_score;
	BT_VEC(struct bt_explained_score) scores;
};

/** Nodes with the same status, which the message counts together. */
struct bt_explained_group {
	enum bt_status_code code;
	struct bt_str plugin;          /* "" if PreFilter rejected without naming a plugin */
	BT_VEC(struct bt_str) reasons; /* each reason counts once per node in the message */
	BT_VEC(uint32_t) nodes;        /* indices in explanation.nodes, nearest first */
	bool in_pre_filter;            /* PreFilter rejected; Filter did not run */
};

/** A set of changes with which the scheduler accepted the pod in a trial. */
struct bt_proposal {
	bt_remedy_list remedies;
	struct bt_str node;    /* nearest node that then accepts the pod */
	uint32_t opened_count; /* number of nodes that then accept the pod */
	uint32_t alike_count;  /* number of other nodes that need the same changes on themselves */
};

struct bt_explained_victim {
	struct bt_str namespace_;
	struct bt_str name;
	int32_t priority;
};

struct bt_explained_candidate {
	struct bt_str node;
	BT_VEC(struct bt_explained_victim) victims; /* most important first */
	int64_t pdb_violations;
	bool selected;
};

/** A reason why nodes are no candidates, and the number of these nodes. */
struct bt_explained_refusal {
	struct bt_str reason;
	uint32_t node_count;
};

struct bt_explained_preemption {
	bool ran;              /* no node fits, and the profile runs DefaultPreemption */
	struct bt_str message; /* PostFilter's part of the message */
	struct bt_str node;    /* nominated node; "": none */
	BT_VEC(struct bt_explained_candidate) candidates;
	BT_VEC(struct bt_explained_refusal) refusals;
};

struct bt_explanation {
	struct bt_arena arena;
	enum bt_explained_fate fate;
	struct bt_str profile;   /* schedulerName of the profile that decides */
	struct bt_str message;   /* as in the pod's condition; "" if the pod fits */
	struct bt_str best_node; /* first by name among the best nodes; "" if no node fits */
	uint32_t node_count;     /* number of nodes in the cluster */
	uint32_t feasible_count;
	BT_VEC(struct bt_explained_node) nodes;   /* ascending by name */
	BT_VEC(struct bt_explained_group) groups; /* the group with the nearest node first */
	BT_VEC(struct bt_proposal) proposals;     /* smallest first */
	/**
	 * Number of nodes whose changes were not tried, because enough nearer nodes were tried or
	 * the budget was used up.
	 */
	uint32_t untried_count;
	/**
	 * Changes without which no profile queues the pod: removal of gates, another schedulerName.
	 * These changes are part of every proposal.
	 */
	bt_remedy_list entry_remedies;
	struct bt_explained_preemption preemption;
};

/**
 * Callbacks that return whole objects, because the state keeps only parts of objects. The callbacks
 * are called only for objects that are in the state.
 */
struct bt_explain_objects {
	/**
	 * Returns the node as it was added to the state. NULL: changes of nodes cannot be tried, so
	 * no proposal changes a node.
	 */
	const struct bt_node *(*node)(void *context, struct bt_str name);
	void *context;
};

struct bt_explain_options {
	uint32_t proposals_max; /* 0: no proposals */
	bool preemption;        /* whether to explain preemption */
	struct bt_explain_objects objects;
};

/**
 * Explains a pod that is not in the state (the caller removes a running pod first). The pod must be
 * defaulted and is borrowed for the call. Returns 0 even if no node accepts the pod. Returns
 * BERTH_ERR_INTERNAL if the state contradicts itself. *out is initialised in any case and must be
 * finished.
 */
BT_MUST_USE int bt_explain(struct bt_engine *engine, const struct bt_pod *pod,
	const struct bt_explain_options *options, struct bt_explanation *out,
	struct berth_error *err);
void bt_explanation_finish(struct bt_explanation *explanation);

/** --- pod groups: spec 09 --- */

enum bt_explained_group_fate {
	BT_GROUP_FITS, /* the group's cycle accepts the group */
	BT_GROUP_UNSCHEDULABLE,
	BT_GROUP_GATED, /* PreEnqueue rejects all members */
	BT_GROUP_ERROR, /* a plugin failed, or members name several schedulers */
};

struct bt_explained_member {
	struct bt_str name;
	struct bt_str node_name; /* chosen node in the closest placement; "": none */
	struct bt_str message;   /* why the member found no node or is gated; "" if not tried */
	bool is_gated;
};

struct bt_explained_placement {
	struct bt_str name; /* value of the topology key; "": all nodes */
	uint32_t node_count;
	uint32_t placed_count;
	bool is_feasible;
};

enum bt_group_change {
	BT_GROUP_CHANGE_REMEDIES,        /* apply the remedies to nodes and to every member */
	BT_GROUP_CHANGE_ADD_NODES,       /* add empty nodes like `node` */
	BT_GROUP_CHANGE_LOWER_MIN_COUNT, /* lower minCount, which needs a new PodGroup */
	BT_GROUP_CHANGE_ADD_PODS,        /* add members like the present ones */
};

/** A change with which the group's cycle accepted the group in a trial. */
struct bt_group_proposal {
	enum bt_group_change kind;
	bt_remedy_list remedies;
	uint32_t count;        /* number of added nodes or pods, or the new minCount */
	struct bt_str node;    /* template of the new nodes; only for ADD_NODES */
	uint32_t placed_count; /* number of pending members that then find a node */
};

struct bt_group_explanation {
	struct bt_arena arena;
	enum bt_explained_group_fate fate;
	struct bt_str message;
	bool has_object;            /* the PodGroup object exists */
	int32_t min_count;          /* minCount of a gang; 0: policy basic */
	struct bt_str topology_key; /* "": no constraint */
	uint32_t scheduled_count;   /* members with a node */
	uint32_t placed_count;      /* pending members that find a node in the closest placement */
	uint32_t gated_count;       /* pending members that PreEnqueue rejects */
	/**
	 * Index of the closest placement: the chosen placement or, if none was chosen, the
	 * placement in which most members find a node.
	 */
	uint32_t closest;
	BT_VEC(struct bt_explained_placement) placements; /* ascending by name */
	/** pending members, in the order of the cycle; gated members last */
	BT_VEC(struct bt_explained_member) members;
	/**
	 * The first member without a node; NULL: none. `stop` explains this member, while the
	 * preceding members are on their nodes and only nodes of the closest placement count.
	 */
	const struct bt_pod *stopped;
	struct bt_explanation stop; /* explanation of `stopped`; zeros if there is none */
	BT_VEC(struct bt_group_proposal) proposals;
};

/**
 * Explains the pending members of one group; count must be at least 1. The members must be in the
 * group's entry of the state (state/pod_groups.h) and defaulted; the pods are borrowed until
 * bt_group_explanation_finish. Requires gate GenericWorkload. options->preemption is ignored.
 * The return values are those of bt_explain.
 */
BT_MUST_USE int bt_explain_group(struct bt_scheduler *scheduler, const struct bt_pod *const *pods,
	uint32_t count, const struct bt_explain_options *options, struct bt_group_explanation *out,
	struct berth_error *err);
void bt_group_explanation_finish(struct bt_group_explanation *explanation);
#endif

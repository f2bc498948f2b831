/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_WHATIF_REPORT_H
#define BT_PLANNING_WHATIF_REPORT_H
/** Two simulated sides, and their differences. */
#include "planning/whatif.h"
#include "cluster/simulation.h"

/** A pod's outcome on one side. */
struct bt_whatif_pod {
	struct bt_str namespace_;
	struct bt_str name;
	/**
	 * The node that a DaemonSet of the input made the pod for. "": the input contains the pod,
	 * or no DaemonSet made the pod.
	 */
	struct bt_str place;
	struct bt_pod_owner owner;         /* the PodGroup if the pod belongs to one */
	struct bt_str node_name;           /* "" if pending */
	struct bt_str message;             /* why the pod is pending */
	struct bt_str preemptor_namespace; /* for a preempted pod */
	struct bt_str preemptor_name;
	enum bt_fate fate;
	int32_t priority;
	bool is_grouped; /* pending together with its PodGroup, which `owner` names */
	bool running;    /* already has a node in the input */
	bool preempted;  /* was evicted from node_name */
	uint32_t object; /* index in the side's cluster; BT_MANIFESTS_NONE: made for a workload */
};

/**
 * Returns the name of the node that a DaemonSet made the pod for; "" for other pods. Pods of
 * DaemonSets are compared by this node, because the generated names of the pods depend on the order
 * of nodes.
 */
struct bt_str bt_whatif_daemon_place(struct bt_pod_owner owner, const struct bt_pod *pod);

/**
 * A simulated side. The source cluster must outlive the side. A side must not be moved or copied.
 */
struct bt_whatif_side {
	struct bt_manifests cluster; /* a copy that the simulation modifies */
	struct bt_simulation simulation;
	BT_VEC(struct bt_whatif_pod) pods; /* running pods first, then in the order of decision */
	struct bt_map names;
	struct bt_arena arena;
	uint32_t pending_count;
};

/**
 * Initialises a side; the caller then fills in the cluster and runs the side. create: makes the
 * side's scheduler, with the context as its first argument. After an error there is nothing to
 * finish.
 */
BT_MUST_USE int bt_whatif_side_init(struct bt_whatif_side *side, bt_scheduler_create_fn *create,
	const void *context, struct berth_error *err);
void bt_whatif_side_finish(struct bt_whatif_side *side);
/**
 * Simulates the side. source: the cluster that side->cluster copies. marks: marks[i].is_deleted
 * says to leave out object i of source; marks NULL: leave out no object. Progress is reported to
 * side->simulation.progress.
 */
BT_MUST_USE int bt_whatif_side_run(struct bt_whatif_side *side, const struct bt_manifests *source,
	const struct bt_whatif_mark *marks, bool preempt, struct berth_error *err);

/** Kinds of differences of a pod, worst first. */
enum bt_whatif_effect {
	BT_EFFECT_PENDING,   /* pending; had a node, or did not exist before */
	BT_EFFECT_LOST,      /* evicted, and no controller recreates it */
	BT_EFFECT_PREEMPTED, /* evicted for a pod of higher priority */
	BT_EFFECT_MOVED,     /* bound to another node */
	BT_EFFECT_PLACED,    /* has a node; was pending before */
	BT_EFFECT_REPLANNED, /* pending in the input; the sides place the pod on different nodes */
	BT_EFFECT_GONE,      /* deleted as requested */
	BT_EFFECT__COUNT,
};

/** Returns the name of the effect, such as "pending". */
const char *bt_whatif_effect_name(enum bt_whatif_effect effect);

struct bt_whatif_difference {
	enum bt_whatif_effect effect;
	const struct bt_whatif_pod *before; /* NULL: new on the after side */
	const struct bt_whatif_pod *after;  /* NULL: deleted on the after side */
	const char *reason;                 /* "its node is drained"; "" if there is none */
};

/** Returns the priority of a running pod of the loaded simulation; a manifest may have its class.
 */
int32_t bt_whatif_priority(
	const struct bt_simulation *simulation, const struct bt_manifests_object *object);

/** Indexes in bt_whatif_report.resources. Scalar resources follow, by name. */
enum {
	BT_WHATIF_PODS,
	BT_WHATIF_CPU,
	BT_WHATIF_MEMORY,
	BT_WHATIF_EPHEMERAL,
	BT_WHATIF_SCALARS, /* the first scalar resource */
};

/** A resource, with the sums of its amounts over all nodes of a side. */
struct bt_whatif_resource {
	struct bt_str name;
	struct bt_amount_columns before; /* of the nodes of each side */
	struct bt_amount_columns after;
	struct bt_node_amounts total_before;
	struct bt_node_amounts total_after;
};

struct bt_whatif_node {
	struct bt_str name;
	uint32_t before_slot; /* BT_SLOT_NONE: added */
	uint32_t after_slot;  /* BT_SLOT_NONE: removed */
	bool drained;
	bool cordoned; /* became unschedulable */
	bool uncordoned;
	bool taints;
	bool labels;
	bool other; /* other changes of the object */
};

struct bt_whatif_report {
	const struct bt_whatif *whatif; /* borrowed */
	const struct bt_whatif_side *before;
	const struct bt_whatif_side *after;
	const struct bt_whatif_changes *changes;
	const char *new_config; /* file of the after side; NULL: same configuration on both sides */
	bool from_scratch;
	BT_VEC(struct bt_whatif_difference) pods; /* by effect, namespace, owner, name */
	BT_VEC(struct bt_whatif_node) nodes;      /* nodes that differ, by name */
	BT_VEC(struct bt_whatif_resource) resources;
	uint32_t node_count_before;
	uint32_t node_count_after;
	uint32_t counts[BT_EFFECT__COUNT];
};

/**
 * Compares the sides. The caller has set whatif, before, after, changes, new_config and
 * from_scratch; all other members are zero.
 */
void bt_whatif_compare(struct bt_whatif_report *report);
void bt_whatif_report_finish(struct bt_whatif_report *report);
/** Returns whether some pod is newly pending, lost or preempted. */
bool bt_whatif_is_worse(const struct bt_whatif_report *report);
/**
 * Returns the amounts of a resource on one side: of the node, or of all nodes if node is NULL;
 * zeros if the side lacks the node. resource: index in report->resources.
 */
struct bt_node_amounts bt_whatif_amounts(const struct bt_whatif_report *report,
	const struct bt_whatif_node *node, uint32_t resource, bool is_after);
#endif

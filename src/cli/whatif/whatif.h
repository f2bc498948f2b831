/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WHATIF_H
#define BT_CLI_WHATIF_H
/**
 * "What happens if": one cluster, and the same cluster after some changes. Both are simulated with
 * the same settings (cluster/simulation.h), and what differs is reported.
 *
 * Objects are never changed: the two sides share those of the input, and a change makes another
 * object in the place of one (cluster/manifests.h). A pod that has to leave its node and has a
 * controller comes back under its own name as a pod without a node, as if created just now, so that
 * it can be followed; a bare pod is gone, unless recreate_bare is set.
 *
 * A run: bt_whatif_init on a cluster that was read, bt_whatif_apply for each change, a
 * bt_whatif_side for each side (whatif_report.h), bt_whatif_compare (whatif_report.h).
 */
#include "api/object.h"
#include "base/vec.h"
#include "cluster/manifests.h"

/**
 * What `berth whatif` is asked to change, as the command line writes it. Nothing is looked up here:
 * whether a node exists is found out when the change is made.
 */

enum bt_whatif_kind {
	BT_WHATIF_DRAIN,
	BT_WHATIF_REMOVE,
	BT_WHATIF_ADD,
	BT_WHATIF_CORDON,
	BT_WHATIF_UNCORDON,
	BT_WHATIF_TAINT,
	BT_WHATIF_LABEL,
	BT_WHATIF_SCALE,
	BT_WHATIF_WITH,
	BT_WHATIF__COUNT,
};

/** Nodes of one --add, and pods of one --scale. */
#define BT_WHATIF_ADDED_MAX 100000
#define BT_WHATIF_REPLICAS_MAX 1000000

/** Texts are borrowed from the command line. */
struct bt_whatif_change {
	enum bt_whatif_kind kind;
	const char *text; /* the flag's value */
	/** Node changes: nodes (cli/reference.h). ADD: a name.
	 * SCALE: the workload's. WITH: a file. */
	struct bt_str target;
	struct bt_str namespace_; /* SCALE; "default" when none is given */
	enum bt_kind workload;    /* SCALE */
	int64_t count;            /* ADD, SCALE */
	struct bt_str key;        /* TAINT, LABEL */
	struct bt_str value;
	struct bt_str effect; /* TAINT; "" with removes: whatever the effect is */
	bool removes;         /* TAINT, LABEL: with a "-" at the end */
};

/** In the order of the command line. */
struct bt_whatif_changes {
	BT_VEC(struct bt_whatif_change) list;
};

/** "drain": the flag without its dashes. */
const char *bt_whatif_kind_name(enum bt_whatif_kind kind);
/**
 * Read a flag's value. BERTH_ERR_INVALID: one sentence that says what is wrong and what would be
 * right. text: borrowed.
 */
BT_MUST_USE int bt_whatif_change_parse(enum bt_whatif_kind kind, const char *text,
	struct bt_whatif_change *out_change, struct berth_error *err);

/** Why a pod left its node, or is gone. */
enum bt_departure {
	BT_DEPARTURE_NONE,
	BT_DEPARTURE_DRAINED,
	BT_DEPARTURE_NODE_REMOVED,
	BT_DEPARTURE_TAINTED,
	BT_DEPARTURE_UNSELECTED, /* of a DaemonSet that does not want the node any more */
	BT_DEPARTURE_SCALED_DOWN,
	BT_DEPARTURE_REPLACED,    /* its workload has another template */
	BT_DEPARTURE_TERMINATING, /* it was going anyway */
};

/** What the changes did to an object. */
struct bt_whatif_mark {
	bool gone;      /* not in the cluster any more */
	bool lost;      /* a pod that is gone though nobody wanted that */
	bool drained;   /* a node */
	bool scaled;    /* a workload */
	bool is_shared; /* several budgets cover the evicted pod */
	uint8_t departure;
	/** 1 + index of the first budget that covers the evicted pod, or of the one that this
	 * object is; 0: none. */
	uint32_t budget;
};

/** A PodDisruptionBudget that covers pods which a drain evicts. */
struct bt_whatif_budget {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_object *object;     /* shared */
	struct bt_selector *selector; /* parsed; matches nothing when it cannot be */
	uint32_t next;                /* of the same namespace; UINT32_MAX ends the list */
	uint32_t first_pod;           /* of the namespace, for its first budget only */
	bool is_read;                 /* the next two are known */
	bool is_met;                  /* as many pods are healthy as should be */
	int32_t allowed;              /* disruptions, before the drain */
	uint32_t evictions;
	uint32_t taken;         /* of these: disruptions, since the pod was healthy */
	uint32_t held;          /* of these: beyond what is allowed */
	uint32_t shared;        /* of these: covered by another budget as well, which is refused */
	uint32_t still_pending; /* evicted, and without a node on the after side */
};

struct bt_whatif {
	const struct bt_manifests *base;     /* borrowed: the before side */
	struct bt_manifests work;            /* the after side; no object of it is ever dropped */
	BT_VEC(struct bt_whatif_mark) marks; /* by index in work */
	BT_VEC(struct bt_whatif_budget) budgets;
	struct bt_map budget_map; /* namespace -> its first budget */
	uint32_t *pod_next;       /* by index in work: pods of namespaces that have budgets */
	uint64_t budget_checks;
	bool recreate_bare;
	bool pod_level;        /* gate PodLevelResources */
	bool taint_comparison; /* gate TaintTolerationComparisonOperators */
	struct bt_arena arena;
};

/**
 * base is borrowed, until finish; the objects of its first indexes are those of work, under the
 * same index.
 */
void bt_whatif_init(struct bt_whatif *whatif, const struct bt_manifests *base);
void bt_whatif_finish(struct bt_whatif *whatif);
/** Errors name the flag: "--drain node-a9: ...". A change without effect is a warning. */
BT_MUST_USE int bt_whatif_apply(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
/** The after side's objects, into an empty cluster. */
void bt_whatif_result(const struct bt_whatif *whatif, struct bt_manifests *out_cluster);
/**
 * Running pods that a scheduler had placed lose their node, those of DaemonSets and of nodes
 * themselves aside: cluster is then a plan from scratch.
 */
void bt_whatif_unplace(struct bt_manifests *cluster);
/**
 * DaemonSets of a live cluster follow changes of nodes. Before bt_whatif_init, so that what they
 * lack anyway is no difference.
 */
void bt_whatif_expand_daemon_sets(struct bt_manifests *cluster);
/** A word or two for people: "drained". "" for none. */
const char *bt_departure_name(enum bt_departure departure);
#endif

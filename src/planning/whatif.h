/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_WHATIF_H
#define BT_PLANNING_WHATIF_H
/**
 * "What happens if": a cluster, and the same cluster after some changes. Both sides are simulated
 * with the same settings (cluster/simulation.h), and the differences are reported.
 *
 * Objects are never modified: the two sides share the objects of the input, and a change replaces
 * an object by a new object (cluster/manifests.h). An evicted pod with a controller becomes a newly
 * created pod without a node and with the same name, so that both sides can be compared; a bare pod
 * is deleted, unless recreate_bare is set.
 *
 * A run: bt_whatif_init on a loaded cluster, bt_whatif_apply for each change, a bt_whatif_side for
 * each side (whatif_report.h), bt_whatif_compare (whatif_report.h).
 */
#include "api/object.h"
#include "api/pod.h"
#include "base/vec.h"
#include "cluster/manifests.h"

/**
 * The changes of `berth whatif`, as given on the command line. Parsing looks up no objects: whether
 * a node exists is checked when the change is applied.
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

/** Maximum number of nodes of one --add, and of pods of one --scale. */
#define BT_WHATIF_ADDED_MAX 100000
#define BT_WHATIF_REPLICAS_MAX 1000000

/** Texts are borrowed from the command line. */
struct bt_whatif_change {
	enum bt_whatif_kind kind;
	const char *text; /* the flag's value */
	/**
	 * What to change: a reference to nodes (planning/reference.h). ADD: the name of the node
	 * that the new nodes are copied from. SCALE: the workload's name. WITH: a file.
	 */
	struct bt_str target;
	struct bt_str namespace_; /* SCALE; "default" when none is given */
	enum bt_kind workload;    /* SCALE */
	int64_t count;            /* ADD, SCALE */
	struct bt_str key;        /* TAINT, LABEL */
	struct bt_str value;
	struct bt_str effect; /* TAINT; "" (only with removes): any effect */
	bool removes;         /* TAINT, LABEL: the flag's value ends with "-" */
};

/** In command-line order. */
struct bt_whatif_changes {
	BT_VEC(struct bt_whatif_change) list;
};

/** Returns the flag without its dashes: "drain". */
const char *bt_whatif_kind_name(enum bt_whatif_kind kind);
/**
 * Parses a flag's value. BERTH_ERR_INVALID: one sentence that says what is wrong and what would be
 * valid. text: borrowed.
 */
BT_MUST_USE int bt_whatif_change_parse(enum bt_whatif_kind kind, const char *text,
	struct bt_whatif_change *out_change, struct berth_error *err);

/** Why a pod left its node or was deleted. */
enum bt_departure {
	BT_DEPARTURE_NONE,
	BT_DEPARTURE_DRAINED,
	BT_DEPARTURE_NODE_REMOVED,
	BT_DEPARTURE_TAINTED,
	BT_DEPARTURE_UNSELECTED, /* the pod's DaemonSet no longer selects the node */
	BT_DEPARTURE_SCALED_DOWN,
	BT_DEPARTURE_REPLACED,    /* the pod's workload has another template */
	BT_DEPARTURE_TERMINATING, /* the pod was being deleted already */
};

/** Effects of the changes on one object. */
struct bt_whatif_mark {
	bool is_deleted; /* a change deleted the object */
	bool lost;       /* an evicted pod that no controller recreates */
	bool drained;    /* the object is a node that was drained */
	bool scaled;     /* the object is a workload that was scaled */
	bool is_shared;  /* several budgets cover the evicted pod */
	uint8_t departure;
	/**
	 * 1 + an index in budgets; 0: no budget. For an evicted pod: the first budget that covers
	 * the pod. For a PodDisruptionBudget: the entry of this budget.
	 */
	uint32_t budget;
};

/** A PodDisruptionBudget, and the evictions of its pods that drains cause. */
struct bt_whatif_budget {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_object *object;     /* shared */
	struct bt_selector *selector; /* parsed; matches nothing if the selector is invalid */
	uint32_t next;                /* next budget of the namespace; UINT32_MAX: the last */
	uint32_t first_pod;           /* first pod of the namespace, see pod_next; set only in the
	                                 namespace's first budget */
	bool is_read;                 /* is_met and allowed are set */
	bool is_met;                  /* enough pods are healthy */
	int32_t allowed;              /* disruptions that are allowed before the drain */
	uint32_t evictions;
	/**
	 * Evictions that use up a disruption. The eviction of an unhealthy pod uses up none if
	 * is_met is set or the budget's unhealthyPodEvictionPolicy is AlwaysAllow.
	 */
	uint32_t taken;
	uint32_t held;   /* evictions beyond `allowed` */
	uint32_t shared; /* evictions that are refused because several budgets cover the pod */
	uint32_t still_pending; /* evicted pods that are pending on the after side */
};

struct bt_whatif {
	const struct bt_manifests *base;     /* borrowed: the before side */
	struct bt_manifests work;            /* the after side; indexes of objects stay valid */
	BT_VEC(struct bt_whatif_mark) marks; /* by index in work */
	BT_VEC(struct bt_whatif_budget) budgets;
	struct bt_map budget_map; /* namespace -> first budget */
	uint32_t *pod_next;       /* by index in work: next pod of a namespace that has budgets */
	uint64_t budget_checks;
	bool recreate_bare;
	bool pod_level;        /* gate PodLevelResources */
	bool taint_comparison; /* gate TaintTolerationComparisonOperators */
	struct bt_arena arena;
};

/**
 * Initialises whatif with a copy of base. base: borrowed until finish; its objects have the same
 * indexes in work. On both sides the simulation then creates missing pods of a live cluster's
 * DaemonSets, as the controller does when nodes change, so the report does not list these pods as
 * differences.
 */
void bt_whatif_init(struct bt_whatif *whatif, struct bt_manifests *base);
void bt_whatif_finish(struct bt_whatif *whatif);
/**
 * Applies a change. Errors name the flag: "--drain node-a9: ...". A change without effect is a
 * warning.
 */
BT_MUST_USE int bt_whatif_apply(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
/** Adds the after side's objects to an empty cluster. */
void bt_whatif_result(const struct bt_whatif *whatif, struct bt_manifests *out_cluster);
/**
 * Unbinds the running pods that a scheduler placed, so that a simulation places them again. Pods of
 * DaemonSets and mirror pods keep their nodes.
 */
void bt_whatif_unplace(struct bt_manifests *cluster);

/** Owner kind of a pod: decides whether an evicted pod stays, becomes pending or is deleted. */
enum bt_pod_keeper {
	BT_KEEPER_NONE,
	BT_KEEPER_CONTROLLER,
	BT_KEEPER_DAEMON_SET,
	BT_KEEPER_NODE, /* a mirror pod */
};

enum bt_pod_keeper bt_pod_keeper_of(const struct bt_pod *pod);
/** Returns a copy of the pod without node and status, as if it was created just now. */
struct bt_pod bt_pod_recreated(const struct bt_pod *pod);

/** Returns the reason as users read it: "its node is drained"; "" for BT_DEPARTURE_NONE. */
const char *bt_departure_name(enum bt_departure departure);
#endif

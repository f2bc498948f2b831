/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_CAPACITY_H
#define BT_PLANNING_CAPACITY_H
/**
 * Counts how many copies of pods fit into a cluster. The engine schedules copies one by one until a
 * copy fits on no node. Placed copies stay in the cluster, and no pod is evicted.
 *
 * Several specs in one question are a mix, and each spec is a member of the mix. The members take
 * turns: in each round, a member gets as many copies as its weight. A member whose next copy fits
 * on no node is skipped while the other members continue. The mix ends with a round that places
 * nothing.
 *
 * Copies of other members never make room, but can satisfy affinity or topology spreading. A
 * skipped member is therefore tried again in its next turn if such a plugin, an extender or an
 * out-of-tree plugin rejected its copy, and if anything was placed since.
 */
#include "cluster/manifests.h"
#include "sched/scheduler.h"

/** Maximum number of pod specs in one run, and maximum weight of a spec in a mix. */
#define BT_CAPACITY_SPECS_MAX 1000
#define BT_CAPACITY_WEIGHT_MAX 1000000

/**
 * A spec to copy: a pod of a manifest, the pods of a workload, or an object that the cluster has
 * already.
 */
struct bt_capacity_spec {
	struct bt_str namespace_;
	struct bt_str name;
	enum bt_kind kind; /* kind of the object in the input */
	/**
	 * The object as added to the cluster: a pod without node, status and history, or a workload
	 * whose controller names and owns its pods. Owned.
	 */
	struct bt_object *object;
	struct bt_origin origin;
	/**
	 * The PodGroup of the pods `members`: a copy is a whole group, placed in one scheduling
	 * cycle. NULL: a copy is a single pod. Owned.
	 */
	struct bt_object *group;
	BT_VEC(struct bt_object *) members; /* pods of the group, the first one is object; owned */
	int64_t weight;                     /* copies per round of a mix */
	bool pods_exist;                    /* the object is a workload whose pods exist already */
};

/** All-zero memory is ready for use, once cluster is set. */
struct bt_capacity_specs {
	BT_VEC(struct bt_capacity_spec) list;
	struct bt_arena arena;
	struct bt_manifests *cluster; /* borrowed; receives objects that are no pod specs */
	const char *namespace_;       /* value of --namespace; NULL: not given */
	struct bt_strbuf skipped;     /* describes the first object of an unknown kind */
};

void bt_capacity_specs_finish(struct bt_capacity_specs *specs);
/**
 * Adds the pods and workloads of a file, folder or "-" as specs, in their order. Objects of other
 * kinds (claims, priority classes, services) are added to the cluster like the objects of -f. All
 * objects get the namespace specs->namespace_; another namespace is refused. A file without a pod
 * spec is an error: "FILE: ...".
 */
BT_MUST_USE int bt_capacity_specs_read(
	struct bt_capacity_specs *specs, const char *path, struct berth_error *err);
/**
 * Adds a spec that copies an object of the cluster. text: a reference as in planning/reference.h.
 * If neither text nor specs->namespace_ names a namespace, the object in the default namespace is
 * used, else the only object of this kind and name in the cluster.
 */
BT_MUST_USE int bt_capacity_specs_like(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err);
/**
 * Parses weights as in "web=3,worker=1". A member that text does not name keeps weight 1. Returns
 * BERTH_ERR_INVALID for a malformed weight or a name that no spec has.
 */
BT_MUST_USE int bt_capacity_specs_weigh(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err);
/**
 * Returns whether the controllers create claims for each pod of the spec's workload, so that the
 * pods differ.
 */
bool bt_capacity_spec_creates_claims(const struct bt_capacity_spec *spec);

/** Default and upper limit of --max: copies of all members together. */
#define BT_CAPACITY_COPIES_MAX 1000000
/** Maximum number of resources whose use is summed up. */
#define BT_CAPACITY_TOTALS_MAX 64

struct bt_capacity_question {
	const struct bt_manifests *cluster;
	const bool *left_out; /* by object index: whether to omit the object; NULL: use all */
	bt_scheduler_create_fn *create; /* creates the scheduler of the engine */
	const void *create_context;     /* first argument of create */
	const struct bt_capacity_spec *specs;
	uint32_t spec_count; /* more than one: a mix */
	uint32_t max;        /* limit of the copies of all members together */
	bool after_queue;    /* place the pending pods of the input first */
	bool quiet;          /* print no warnings about the cluster */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

struct bt_capacity_reason {
	struct bt_str text;
	uint64_t node_count;
};

/** Why a member gets no further copy. */
struct bt_capacity_stop {
	/**
	 * "LimitReached" if the limit of copies was reached, else the name of a fate:
	 * "Unschedulable", "SchedulerError", "SchedulingGated" or "NotHandled".
	 */
	const char *type;
	struct bt_str message; /* the scheduler's message */
	struct bt_str hint; /* why most nodes reject the copy, as part of a sentence; "": no hint */
	BT_LIST(struct bt_capacity_reason) reasons;
	/**
	 * Number of copies of all members at this member's first failed attempt since its last
	 * placed copy.
	 */
	uint32_t total;
};

/** A placement (the nodes with one value of a topology key) and the whole groups placed in it. */
struct bt_capacity_placement {
	struct bt_str name; /* value of the topology key */
	uint32_t copies;
};

/** A resource that a copy requests; amount is above 0. */
struct bt_capacity_request {
	struct bt_str resource;
	int64_t amount; /* cpu in millicores */
};

struct bt_capacity_member {
	const struct bt_capacity_spec *spec; /* borrowed */
	uint32_t copies;
	uint32_t *on_nodes; /* number of pods, by index in the answer's nodes */
	BT_VEC(struct bt_capacity_placement) placements; /* of groups with a topology constraint */
	BT_LIST(struct bt_capacity_request) requests;
	struct bt_str_map node_selector;
	struct bt_capacity_stop stop;
	struct bt_arena stop_arena; /* holds the texts of stop */
};

/**
 * Amounts of one resource, on a node or summed over all nodes. before, after: what the pods request
 * before the first copy and after the last copy.
 */
struct bt_capacity_total {
	struct bt_str resource;
	int64_t before;
	int64_t after;
	int64_t allocatable;
};

/** Number of resources whose amounts are kept per node. */
#define BT_CAPACITY_NODE_RESOURCES 3

struct bt_capacity_node {
	struct bt_str name;
	struct bt_capacity_total use[BT_CAPACITY_NODE_RESOURCES]; /* pods, cpu, memory */
};

struct bt_capacity_answer {
	struct bt_arena arena;
	struct bt_capacity_member *members; /* in the order of the question's specs */
	uint32_t member_count;
	struct bt_capacity_node *nodes; /* ascending by name */
	uint32_t node_count;
	/**
	 * pods, cpu, memory, then other resources that a member requests; at most
	 * BT_CAPACITY_TOTALS_MAX entries.
	 */
	struct bt_capacity_total *totals;
	uint32_t total_count;
	uint32_t copies;       /* of all members */
	uint32_t round_count;  /* rounds in which every member placed its weight */
	uint32_t queue_placed; /* pending pods that were placed; 0 without after_queue */
	uint32_t queue_pending;
};

/**
 * Answers the question. Does not change the question's cluster. Returns an error of loading the
 * cluster or creating the scheduler, or BERTH_ERR_NOT_FOUND for a cluster without nodes. After an
 * error, out_answer needs no finish.
 */
BT_MUST_USE int bt_capacity_compute(const struct bt_capacity_question *question,
	struct bt_capacity_answer *out_answer, struct berth_error *err);
void bt_capacity_answer_finish(struct bt_capacity_answer *answer);
#endif

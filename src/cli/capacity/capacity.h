/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_CAPACITY_H
#define BT_CLI_CAPACITY_H
/**
 * How many copies of pods a cluster takes. The copies are scheduled one by one by the engine, each
 * counting for the next, until one finds no node; nobody is evicted. Several specs at once are a
 * mix: they take turns, each with as many copies as it weighs.
 *
 * In a mix a member whose next copy finds no node is passed over while the others go on. Copies of
 * others never make room, but they can bring what affinity or spreading had missed; a member that
 * one of these (or a plugin or extender nobody knows) had rejected is therefore tried again in its
 * next turn, if something was placed since. The mix ends with a round that places nothing.
 */
#include "cli/output.h"
#include "cli/setup.h"
#include "cluster/manifests.h"

/**
 * What a question about capacity makes copies of: pods of manifests, the pods of workloads, more of
 * what the cluster has already.
 */

/** Pod specs of one run, and the largest weight of one in a mix. */
#define BT_CAPACITY_SPECS_MAX 1000
#define BT_CAPACITY_WEIGHT_MAX 1000000

struct bt_capacity_spec {
	struct bt_str namespace_;
	struct bt_str name;
	enum bt_kind kind; /* as it was given */
	/**
	 * As it goes into the cluster: a pod without node, status and history, or a workload whose
	 * controller names and owns its pods. Owned.
	 */
	struct bt_object *object;
	struct bt_origin origin;
	/**
	 * A PodGroup whose pods are members: a copy is the whole group, placed as its cycle places
	 * it. NULL: no group. Owned.
	 */
	struct bt_object *group;
	BT_VEC(struct bt_object *) members; /* pods, the first one is object; owned */
	int64_t weight;                     /* copies a round, in a mix */
	bool pods_exist; /* of a live cluster or its snapshot, see bt_manifests_object */
};

struct bt_capacity_specs {
	BT_VEC(struct bt_capacity_spec) list;
	struct bt_arena arena;
	struct bt_manifests *cluster; /* borrowed: gets what is no pod spec */
	struct bt_strbuf skipped;     /* the first object of a file with an unknown kind */
};

void bt_capacity_specs_init(struct bt_capacity_specs *specs, struct bt_manifests *cluster);
void bt_capacity_specs_finish(struct bt_capacity_specs *specs);
/**
 * Pods and workloads of a file, folder or "-", in their order; objects of other kinds (claims,
 * priority classes, services) join the cluster as those of -f do. "FILE: ..." when there is no pod
 * spec in it.
 */
BT_MUST_USE int bt_capacity_specs_read(
	struct bt_capacity_specs *specs, const char *path, struct berth_error *err);
/**
 * More of what the cluster has, named as for cli/reference.h. namespace_: the flag's, NULL
 * without one; then the default namespace is looked at first, and after it the only one that has
 * the object.
 */
BT_MUST_USE int bt_capacity_specs_like(struct bt_capacity_specs *specs, const char *text,
	const char *namespace_, struct berth_error *err);
/** Weights as in "web=3,worker=1"; members that are not named keep 1. */
BT_MUST_USE int bt_capacity_specs_weigh(
	struct bt_capacity_specs *specs, const char *text, struct berth_error *err);
/** The pods that the controller of a spec's workload makes are each their own (own claims). */
bool bt_capacity_spec_has_own_claims(const struct bt_capacity_spec *spec);

/** Copies of one answer, where --max says nothing. */
#define BT_CAPACITY_COPIES_MAX 1000000
/** Resources whose use is summed up. */
#define BT_CAPACITY_TOTALS_MAX 64

struct bt_capacity_question {
	const struct bt_manifests *cluster;
	const bool *left_out; /* by object index: no part of it; NULL: all are */
	const struct bt_setup *setup;
	const struct bt_capacity_spec *specs;
	uint32_t spec_count; /* more than one: a mix */
	uint32_t max;        /* copies, of all members together */
	bool after_queue;    /* the pending pods of the input are placed first */
	bool quiet;          /* warnings about the cluster were given before */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

struct bt_capacity_reason {
	struct bt_str text;
	uint64_t node_count;
};

/** Why there is no further copy. */
struct bt_capacity_stop {
	/** Unschedulable, SchedulerError, SchedulingGated, NotHandled (as fates are called), or
	 * LimitReached. */
	const char *type;
	struct bt_str message; /* the scheduler's own */
	struct bt_str hint;    /* what stops most nodes, a half-sentence; "": message says it */
	BT_LIST(struct bt_capacity_reason) reasons;
	uint32_t total; /* copies of all members when it was first passed over */
};

/** Whole groups in a placement. */
struct bt_capacity_placement {
	struct bt_str name; /* value of the topology key */
	uint32_t copies;
};

/** What a copy requests; only what is above 0. */
struct bt_capacity_request {
	struct bt_str resource;
	int64_t amount; /* cpu in milli */
};

struct bt_capacity_member {
	const struct bt_capacity_spec *spec; /* borrowed */
	uint32_t copies;
	uint32_t *on_nodes;                              /* pods, by index in the answer's nodes */
	BT_VEC(struct bt_capacity_placement) placements; /* of groups with a topology constraint */
	BT_LIST(struct bt_capacity_request) requests;
	struct bt_str_map node_selector;
	struct bt_capacity_stop stop;
	struct bt_arena stop_arena; /* holds the texts of stop */
};

struct bt_capacity_use {
	int64_t pods;
	int64_t cpu_milli;
	int64_t memory_bytes;
};

struct bt_capacity_node {
	struct bt_str name;
	struct bt_capacity_use before;
	struct bt_capacity_use after;
	struct bt_capacity_use allocatable;
};

/** Of the whole cluster. */
struct bt_capacity_total {
	struct bt_str resource;
	int64_t before;
	int64_t after;
	int64_t allocatable;
};

struct bt_capacity_answer {
	struct bt_arena arena;
	struct bt_capacity_member *members; /* as the question's specs */
	uint32_t member_count;
	struct bt_capacity_node *nodes; /* ascending by name */
	uint32_t node_count;
	/** pods, cpu, memory, then other resources that a member requests, the first
	 * BT_CAPACITY_TOTALS_MAX of them. */
	struct bt_capacity_total *totals;
	uint32_t total_count;
	uint32_t copies;       /* of all members */
	uint32_t round_count;  /* rounds in which every member placed its weight */
	uint32_t queue_placed; /* with after_queue */
	uint32_t queue_pending;
};

/**
 * The cluster of the question is not changed. Errors: of loading the cluster, of the configuration,
 * and BERTH_ERR_NOT_FOUND for a cluster without nodes. out_answer needs no finishing after one.
 */
BT_MUST_USE int bt_capacity_ask(const struct bt_capacity_question *question,
	struct bt_capacity_answer *out_answer, struct berth_error *err);
void bt_capacity_answer_finish(struct bt_capacity_answer *answer);

/** --- answers about capacity, for people and programs --- */

/** Nodes that a table shows one by one; the rest are told by how many copies they take. */
#define BT_CAPACITY_ROWS 10

/**
 * Append one or several answers: table, wide, JSON or YAML. JSON and YAML of a single answer is the
 * review itself, of several an object with the list "items". BERTH_ERR_INVALID: YAML in a program
 * built without it.
 */
BT_MUST_USE int bt_capacity_write(const struct bt_capacity_answer *answers, uint32_t count,
	enum bt_output_format format, struct bt_strbuf *out, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WHATIF_REPORT_H
#define BT_CLI_WHATIF_REPORT_H
/** Two simulated sides, and what differs between them. */
#include "cli/command.h"
#include "cli/whatif/whatif.h"
#include "cluster/simulation.h"

/** What became of a pod on one side. */
struct bt_whatif_pod {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str place; /* pods that a DaemonSet still has to place: the node they are for */
	struct bt_str owner_kind; /* of the controller; a Deployment instead of its ReplicaSet */
	struct bt_str owner_name;
	struct bt_str node_name;           /* "" without one */
	struct bt_str message;             /* of a pod without node */
	struct bt_str preemptor_namespace; /* of a pod that was evicted for another */
	struct bt_str preemptor_name;
	enum bt_fate fate;
	int32_t priority;
	bool is_grouped; /* waits with its PodGroup, which is the owner; all say the same */
	bool running;    /* had its node before anything was simulated */
	bool preempted;  /* node_name is where it was */
	uint32_t object; /* in the cluster that the side was made from; BT_MANIFESTS_NONE: expanded
	                  */
};

/** What people call the owner: the Deployment behind a ReplicaSet. */
void bt_whatif_pod_name_owner(struct bt_whatif_pod *entry, const struct bt_pod *pod);
/**
 * The node that a DaemonSet made the pod for, "" for others: names of such pods are drawn in the
 * order of nodes. The owner is set.
 */
struct bt_str bt_whatif_daemon_place(const struct bt_whatif_pod *entry, const struct bt_pod *pod);

/** A side is made from a cluster that outlives it. Does not move. */
struct bt_whatif_side {
	struct bt_manifests cluster; /* a copy, which the simulation uses up */
	struct bt_engine *engine;    /* of the simulation */
	struct bt_simulation simulation;
	BT_VEC(struct bt_whatif_pod) pods; /* running ones in input order, then by decision */
	struct bt_map names;
	struct bt_arena arena;
	uint32_t pending_count;
};

/** The side's cluster is to be filled before it is run. On an error there is nothing to finish. */
BT_MUST_USE int bt_whatif_side_init(
	struct bt_whatif_side *side, const struct bt_setup *setup, struct berth_error *err);
void bt_whatif_side_finish(struct bt_whatif_side *side);
/**
 * Simulate. source: the cluster that side->cluster is a copy of; marks: what is left out of it
 * (NULL: nothing).
 */
BT_MUST_USE int bt_whatif_side_run(struct bt_whatif_side *side, const struct bt_manifests *source,
	const struct bt_whatif_mark *marks, bool preempt, const char *what,
	struct berth_error *err);

/** How a pod differs, worst first. */
enum bt_whatif_effect {
	BT_EFFECT_PENDING,   /* no node, but had one (or did not exist) before */
	BT_EFFECT_LOST,      /* evicted, and no controller recreates it */
	BT_EFFECT_PREEMPTED, /* evicted for a pod of higher priority */
	BT_EFFECT_MOVED,     /* runs on another node */
	BT_EFFECT_PLACED,    /* has a node, and had none before */
	BT_EFFECT_REPLANNED, /* pending in the input; would get another node */
	BT_EFFECT_GONE,      /* as was asked for */
	BT_EFFECT__COUNT,
};

/** "pending" */
const char *bt_whatif_effect_name(enum bt_whatif_effect effect);

struct bt_whatif_difference {
	enum bt_whatif_effect effect;
	const struct bt_whatif_pod *before; /* NULL: it is new */
	const struct bt_whatif_pod *after;  /* NULL: it is gone */
	const char *reason; /* "its node is drained"; "" when there is none to tell */
};

/** Requested and allocatable amounts of a node, or of all. */
struct bt_whatif_amount {
	int64_t requested;
	int64_t allocatable;
};

struct bt_whatif_usage {
	struct bt_whatif_amount pods;
	struct bt_whatif_amount cpu_milli;
	struct bt_whatif_amount memory_bytes;
	struct bt_whatif_amount ephemeral_bytes;
};

/** An extended or other resource; its columns are NULL where a side does not know it. */
struct bt_whatif_resource {
	struct bt_str name;
	const struct bt_scalar_column *before;
	const struct bt_scalar_column *after;
	struct bt_whatif_amount total_before;
	struct bt_whatif_amount total_after;
};

struct bt_whatif_node {
	struct bt_str name;
	uint32_t before_slot; /* BT_SLOT_NONE: it is added */
	uint32_t after_slot;  /* BT_SLOT_NONE: it is removed */
	bool drained;
	bool cordoned; /* unschedulable now */
	bool uncordoned;
	bool taints;
	bool labels;
	bool other; /* else in its object */
};

struct bt_whatif_report {
	const struct bt_whatif *whatif; /* borrowed */
	const struct bt_whatif_side *before;
	const struct bt_whatif_side *after;
	const struct bt_whatif_changes *changes;
	const char *new_config; /* NULL: none */
	bool from_scratch;
	BT_VEC(struct bt_whatif_difference) pods;    /* by effect, namespace, owner, name */
	BT_VEC(struct bt_whatif_node) nodes;         /* that differ, by name */
	BT_VEC(struct bt_whatif_resource) resources; /* by name */
	struct bt_whatif_usage total_before;
	struct bt_whatif_usage total_after;
	uint32_t node_count_before;
	uint32_t node_count_after;
	uint32_t counts[BT_EFFECT__COUNT];
	struct bt_arena arena;
};

/** whatif, changes and sides are set by the caller, everything else is zero. */
void bt_whatif_compare(struct bt_whatif_report *report);
void bt_whatif_report_finish(struct bt_whatif_report *report);
/** Some pod is newly pending, lost or preempted. */
bool bt_whatif_is_worse(const struct bt_whatif_report *report);
/** Append all of it. format: any but BT_OUTPUT_NAME. */
BT_MUST_USE int bt_whatif_write(const struct bt_whatif_report *report, enum bt_output_format format,
	struct bt_strbuf *out, struct berth_error *err);

/** The member "changes". new_config: NULL: none. */
void bt_whatif_write_changes(struct bt_json_writer *writer,
	const struct bt_whatif_changes *changes, const char *new_config);

struct bt_whatif_usage bt_whatif_usage_of(const struct bt_whatif_side *side, uint32_t slot);
/** column may be NULL, slot BT_SLOT_NONE: then nothing. */
struct bt_whatif_amount bt_whatif_amount_of(const struct bt_scalar_column *column, uint32_t slot);

/**
 * N-1: each node, each zone, or the nodes of each value of a label is lost in turn, and the pods
 * that ran there are scheduled anew. A loss is tried in a copy of the process that has loaded the
 * cluster once (cli/processes.h), and the answer is that of a simulation without these nodes.
 */

struct bt_lose_options {
	const char *what; /* "node", "zone", or the key of a label */
	const struct bt_command *command;
	const struct bt_whatif_changes *changes; /* made before anything is lost */
	bool recreate_bare;
	bool has_plugins; /* of others, which may remember what they saw */
	int64_t jobs;     /* losses tried at the same time; 0: one for each processor */
	enum bt_output_format format;
};

/** options->what is none that can be lost: say so. */
BT_MUST_USE int bt_lose_check(const struct bt_lose_options *options, struct berth_error *err);
/**
 * Load the side, whose cluster is there, try every loss, and append the report. Returns an exit
 * status: BT_EXIT_FINDING if some loss makes something worse; or an error.
 */
BT_MUST_USE int bt_whatif_lose_each(const struct bt_lose_options *options,
	struct bt_whatif_side *side, struct bt_strbuf *out, struct berth_error *err);
#endif

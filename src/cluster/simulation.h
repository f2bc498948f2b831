/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SIMULATION_H
#define BT_CLUSTER_SIMULATION_H
/**
 * Schedules the unassigned pods of a cluster in virtual time, to show where each goes and why some
 * stay pending. Pods enter the queue in the order of creationTimestamp (pods without a timestamp
 * count as created now, so they come last), then input order; the pods of a workload have the
 * workload's place in this order. The queue pops higher priorities first. Spec: 03, 04.
 *
 * A rejected pod is tried again after an event that may help it: another pod was bound or deleted.
 * Time passes, for backoff and Permit, until no pod can be tried any more. Pods whose attempt ends
 * with an error, or that waited on Permit in vain, are not tried again.
 *
 * With preempt, victims are deleted at once and not replaced. A victim that this run had placed
 * ends as BT_FATE_UNSCHEDULABLE. Without preempt, preemption only nominates.
 */
#include "api/pod_common.h"
#include "cluster/pod_claims.h"
#include "cluster/workload.h"
#include "sched/scheduler.h"
#include "state/state.h"

/**
 * Maximum memory of the pods to be placed, without the parts that they share with their templates.
 */
#define BT_SIMULATION_POD_BYTES_MAX ((size_t)4 << 30)
/** Maximum memory of all messages together; beyond this limit, long messages are cut. */
#define BT_SIMULATION_MESSAGE_BYTES_MAX ((size_t)1 << 30)

enum bt_fate {
	BT_FATE_SCHEDULED,
	BT_FATE_UNSCHEDULABLE,    /* no node fits */
	BT_FATE_SCHEDULER_ERROR,  /* a plugin failed */
	BT_FATE_SCHEDULING_GATED, /* rejected by a PreEnqueue plugin */
	BT_FATE_NOT_HANDLED,      /* no profile has the pod's schedulerName */
	BT_FATE_DELETING,         /* not tried, because the pod is terminating */
	BT_FATE__COUNT,
	BT_FATE_UNDECIDED = BT_FATE__COUNT, /* not tried yet */
};

/** "Scheduled", or the reason that the pod's PodScheduled condition would give. */
const char *bt_fate_name(enum bt_fate fate);
/** Returns whether the pod stays without a node. Then the simulation's exit status is 1. */
bool bt_fate_is_pending(enum bt_fate fate);

struct bt_simulated_pod {
	const struct bt_pod *pod;
	struct bt_object *object; /* the pod as the scheduler has it; NULL: the scheduler does not
	                             have the pod */
	uint64_t sequence;        /* input order */
	enum bt_fate fate;
	struct bt_str node_name;           /* the pod's node, for BT_FATE_SCHEDULED */
	struct bt_str message;             /* the reason, for all other fates */
	struct bt_str nominated_node_name; /* of a pod that has no node; may be "" */
	/** PodGroup of the pod; "": the pod has none, or gate GenericWorkload is off. */
	struct bt_str group_name;
	struct bt_str group_message; /* last status message of the PodGroup; "": none */
	int64_t score;               /* of the chosen node; 0 if only that node fits */
	uint32_t feasible_count;
	uint32_t attempts;
	bool waiting;    /* waits on Permit with its node reserved */
	bool is_dropped; /* removed from the scheduler: not tried again */
};

/** A victim of preemption. */
struct bt_simulated_eviction {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	int32_t priority;
	uint32_t preemptor; /* index in bt_simulation.pods */
};

/**
 * A change that the scheduler will observe, with a reference to both objects. new_object NULL: the
 * change deletes old_object.
 */
struct bt_simulated_change {
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** An extra pod: admitted, but not placed by bt_simulation_run. */
struct bt_simulated_extra {
	const struct bt_pod *pod;
	uint32_t owner; /* index of its workload, or of the pod itself, in the cluster */
};

/** The result of one PodGroup of a simulation. */
struct bt_simulated_group {
	struct bt_str namespace_;
	struct bt_str name;
	uint32_t placed_count;
	uint32_t pending_count;
	uint32_t first_pending; /* index of the first pending pod in bt_simulation.pods */
	struct bt_str message;  /* the group's last status message; "": the group was not tried, or
	                           was accepted */
	struct bt_str reason;   /* message of the pod at index `stopped`; "": no such pod */
	uint32_t stopped; /* index of the first pending pod with a message that does not start with
	                     "pod group is unschedulable"; UINT32_MAX: no such pod */
};

struct bt_simulation {
	struct bt_manifests *cluster; /* borrowed */
	struct bt_scheduler *scheduler;
	struct bt_engine *engine;      /* of the scheduler */
	struct bt_expansion expansion; /* set its member extras before loading */
	struct bt_claim_maker *claims; /* for pods to be placed */
	struct bt_arena arena;
	BT_VEC(struct bt_simulated_pod) pods;           /* after loading: in queue order */
	BT_VEC(struct bt_simulated_eviction) evictions; /* in the order they happened */
	BT_VEC(struct bt_simulated_extra) extras;       /* in input order */
	bool preempt;         /* preemption evicts pods; set before loading */
	bool keep_bound;      /* loading does not release bound pods; set before loading */
	bool stays_open;      /* loading ends with bt_simulation_close; set before loading */
	struct bt_map by_uid; /* uid -> index in pods */
	struct bt_pod_commons commons;
	BT_VEC(struct bt_simulated_change) changes; /* not yet observed by the scheduler */
	uint64_t version;                           /* of the last object that changed */
	int64_t now_ns;
	int64_t start_ns; /* when the first pod enters the queue */
	uint32_t waiting_count;
	uint32_t tried_count; /* pods that had an attempt */
	uint32_t try_limit;   /* no pod is popped once tried_count reaches this */
	uint32_t node_count;
	uint32_t running_count; /* pods that have a node in the input */
	uint32_t counts[BT_FATE__COUNT];
	size_t message_bytes;
	size_t claim_bytes;                   /* of claims made from templates */
	struct bt_text_set missing_templates; /* that were warned about; "namespace/name" */
	/** Called when the number of tried pods (done) changes; NULL: not called. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

/**
 * Initialises a simulation. create_scheduler: called once, with context. On an error,
 * bt_simulation_finish must not be called.
 */
BT_MUST_USE int bt_simulation_init(struct bt_simulation *simulation, struct bt_manifests *cluster,
	bt_scheduler_create_fn *create_scheduler, const void *context, struct berth_error *err);
void bt_simulation_finish(struct bt_simulation *simulation);
/**
 * Expands workloads, admits pods and fills the engine's state. Unless keep_bound is set,
 * releases the pods of the input that are bound or have finished (bt_manifests_release), to save
 * memory. Errors name file, document and object.
 */
BT_MUST_USE int bt_simulation_load(struct bt_simulation *simulation, struct berth_error *err);
/**
 * Removes nodes and their devices from the state. Call it between loading and closing a simulation
 * with stays_open. removed[i]: object i of the input is a node to remove. The caller then removes
 * the pods of the nodes with bt_simulation_take_running; afterwards the state is as if the nodes
 * had never been loaded.
 */
BT_MUST_USE int bt_simulation_remove_nodes(
	struct bt_simulation *simulation, const bool *removed, struct berth_error *err);
/**
 * Removes the running pod that is object `index` of the input, and releases the pod's claims. The
 * simulation must be open, and its member preempt must be set. Returns a reference to the pod, or
 * NULL if the pod was not loaded.
 */
struct bt_object *bt_simulation_take_running(struct bt_simulation *simulation, uint32_t index);
/**
 * Adds an unassigned pod to an open simulation, at index in the input order. Texts are borrowed.
 */
BT_MUST_USE int bt_simulation_add_pod(struct bt_simulation *simulation, const struct bt_pod *pod,
	uint32_t index, struct berth_error *err);
/**
 * Opens the simulation again after bt_simulation_run, so that the caller can remove another node.
 * All pods of the run are removed from the simulation; they must have come from
 * bt_simulation_add_pod. The caller then calls bt_simulation_return_node. Afterwards the state
 * equals the state before the removal, provided that the run bound all its pods and that no pod has
 * volumes, claims or a group.
 */
void bt_simulation_reopen(struct bt_simulation *simulation);
/**
 * Adds the removed node at index again, then its pods: results of bt_simulation_take_running in
 * input order; consumed.
 */
void bt_simulation_return_node(struct bt_simulation *simulation, uint32_t index,
	struct bt_object *const *pods, uint32_t count);
/**
 * Returns whether bt_simulation_return_node can be called for the node at index: its zone has other
 * nodes, and the node is not the first one of its zone, unless there is only one zone.
 */
bool bt_simulation_can_return_node(const struct bt_simulation *simulation, uint32_t index);
/** Ends loading: sorts the pods into the order of the queue. */
void bt_simulation_close(struct bt_simulation *simulation);
/**
 * Returns BERTH_ERR_INVALID if the pods of the PodGroup are scheduled one by one, because feature
 * gate GenericWorkload is off; 0 otherwise.
 */
BT_MUST_USE int bt_simulation_check_group(const struct bt_simulation *simulation,
	struct bt_str namespace_, struct bt_str name, struct berth_error *err);
/** Returns how many pods stay pending, after the run. */
uint32_t bt_simulation_pending_count(const struct bt_simulation *simulation);
/**
 * Returns the PodGroups of the pods after the run, in the order of their first pods; owned:
 * bt_free. group_of (may be NULL) has an entry for each pod; the entries of pods in a PodGroup are
 * set to the index of the PodGroup in the result, other entries keep their values.
 */
struct bt_simulated_group *bt_simulation_groups(
	const struct bt_simulation *simulation, uint32_t *group_of, uint32_t *out_count);
/**
 * Schedules the first `count` pods. Afterwards, if pods are left, the scheduler's state is what the
 * attempt of the next pod would start from.
 */
void bt_simulation_run(struct bt_simulation *simulation, uint32_t count);
/**
 * Returns how many pods of the simulation come before this pod in the queue. The pod need not be
 * part of the simulation.
 */
uint32_t bt_simulation_position(const struct bt_simulation *simulation, const struct bt_pod *pod);
/** Returns the slots of the nodes of the input, ascending by name; owned: bt_free. */
uint32_t *bt_simulation_node_slots(const struct bt_simulation *simulation);
#endif

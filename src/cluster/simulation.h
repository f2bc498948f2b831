/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SIMULATION_H
#define BT_CLUSTER_SIMULATION_H
/**
 * The pods of a cluster that have no node yet go through a scheduler in virtual time: where each
 * goes, and why some stay pending. Pods enter the queue in the order of creationTimestamp (pods
 * without one were created just now, so they come last), then input order; the pods of a workload
 * stand where the workload stands. The queue pops higher priorities first. Spec: 03, 04.
 *
 * A rejected pod is tried again when the queue has a reason: another pod was bound or left. Time
 * passes, for backoff and Permit, until no pod can be tried any more. Pods whose attempt ends with
 * an error, or that waited on Permit in vain, are not tried again.
 *
 * With preempt, victims leave at once; they are not replaced. A victim that was placed just before
 * ends as BT_FATE_UNSCHEDULABLE. Without, preemption only nominates.
 */
#include "api/pod_common.h"
#include "cluster/claim_maker.h"
#include "cluster/workload.h"
#include "sched/scheduler.h"
#include "state/state.h"

/** Pods to be placed, as far as defaults made them differ from their templates. */
#define BT_SIMULATION_POD_BYTES_MAX ((size_t)4 << 30)
/** Messages longer than this together are cut. */
#define BT_SIMULATION_MESSAGE_BYTES_MAX ((size_t)1 << 30)

enum bt_fate {
	BT_FATE_SCHEDULED,
	BT_FATE_UNSCHEDULABLE,    /* no node fits */
	BT_FATE_SCHEDULER_ERROR,  /* a plugin failed */
	BT_FATE_SCHEDULING_GATED, /* held back before the queue */
	BT_FATE_NOT_HANDLED,      /* no profile has the pod's schedulerName */
	BT_FATE_DELETING,         /* left alone: it is going away */
	BT_FATE__COUNT,
	BT_FATE_UNDECIDED = BT_FATE__COUNT,
};

/** "Scheduled", or the reason that the pod's PodScheduled condition would give. */
const char *bt_fate_name(enum bt_fate fate);
/** The pod waits for a node: what makes a simulation end with exit status 1. */
bool bt_fate_is_pending(enum bt_fate fate);

struct bt_simulated_pod {
	const struct bt_pod *pod;
	struct bt_object *object; /* as the scheduler knows it; NULL: not told */
	uint64_t sequence;        /* input order */
	enum bt_fate fate;
	struct bt_str node_name;           /* BT_FATE_SCHEDULED */
	struct bt_str message;             /* all others */
	struct bt_str nominated_node_name; /* of a pod that has no node; may be "" */
	struct bt_str group_name;          /* of the PodGroup it is scheduled with; "": by itself */
	struct bt_str group_message;       /* of the group's status in its last cycle */
	int64_t score; /* of the chosen node; 0 when it was the only one that fits */
	uint32_t feasible_count;
	uint32_t attempts;
	bool waiting;  /* on Permit, its node reserved */
	bool given_up; /* taken from the scheduler: not tried again */
};

/** A running pod that had to leave. */
struct bt_simulated_eviction {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	int32_t priority;
	uint32_t preemptor; /* index in bt_simulation.pods */
};

/** What a watch would tell the scheduler. References to both; NULL new_object: deleted. */
struct bt_simulated_change {
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** A pod beyond those of the input: admitted, and not decided by bt_simulation_run. */
struct bt_simulated_extra {
	const struct bt_pod *pod;
	uint32_t owner; /* index of its workload, or its own, in the cluster */
};

/** Pods of one PodGroup among those of a simulation. */
struct bt_simulated_group {
	struct bt_str namespace_;
	struct bt_str name;
	uint32_t placed_count;
	uint32_t pending_count;
	uint32_t first_pending; /* index in bt_simulation.pods; of several the first */
	struct bt_str message;  /* of the group; "": it was never tried, or accepted */
	struct bt_str reason;   /* of the first pending pod that has one of its own */
	uint32_t stopped;       /* index of that pod; UINT32_MAX: none has */
};

struct bt_simulation {
	struct bt_manifests *cluster; /* borrowed */
	struct bt_scheduler *scheduler;
	struct bt_engine *engine; /* the scheduler's */
	struct bt_expansion expansion;
	struct bt_claim_maker *claims; /* of pods to be placed */
	struct bt_arena arena;
	BT_VEC(struct bt_simulated_pod) pods;           /* in the order they are decided */
	BT_VEC(struct bt_simulated_eviction) evictions; /* in the order they happened */
	/**
	 * By object index, set before loading: pods that workloads make beyond their own
	 * (bt_expansion.extras), and 1 for pods of the input without a node that are no part of the
	 * cluster. NULL: none. Borrowed.
	 */
	const uint32_t *extras_wanted;
	BT_VEC(struct bt_simulated_extra) extras; /* in input order */
	bool preempt;                             /* carry preemption out; set before loading */
	bool keep_bound;                          /* bound pods stay in the cluster after loading */
	bool stays_open; /* loading ends with bt_simulation_close; set before loading */
	struct bt_map by_uid;                     /* pods */
	struct bt_pod_commons commons;
	BT_VEC(struct bt_simulated_change) changes; /* not told to the scheduler yet */
	uint64_t version;                           /* of the last object that changed */
	int64_t now_ns;
	int64_t start_ns; /* when the first pod enters the queue */
	uint32_t waiting_count;
	uint32_t tried_count; /* pods that had their first attempt */
	uint32_t try_limit;   /* no pod is popped once so many had it */
	uint32_t node_count;
	uint32_t running_count; /* pods that have their node in the input */
	uint32_t counts[BT_FATE__COUNT];
	size_t message_bytes;
	/** Called before each pod; NULL: nobody listens. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

/** create_scheduler: called once, with context. On an error there is nothing to finish. */
BT_MUST_USE int bt_simulation_init(struct bt_simulation *simulation, struct bt_manifests *cluster,
	bt_scheduler_create_fn *create_scheduler, const void *context, struct berth_error *err);
void bt_simulation_finish(struct bt_simulation *simulation);
/**
 * Expand workloads, admit pods, fill the engine's state; bound pods are released on the way. Errors
 * name file, document and object.
 */
BT_MUST_USE int bt_simulation_load(struct bt_simulation *simulation, struct berth_error *err);
/**
 * Of a simulation that stays open, between loading and closing: take nodes away, with their
 * devices. removed: by object index. Node by node as if they had never been loaded, once
 * bt_simulation_take_running has taken what runs on them.
 */
BT_MUST_USE int bt_simulation_remove_nodes(
	struct bt_simulation *simulation, const bool *removed, struct berth_error *err);
/** The same for the running pod at index, with preempt. Returns the pod, a reference; NULL: it was
 * not loaded. */
struct bt_object *bt_simulation_take_running(struct bt_simulation *simulation, uint32_t index);
/** The same for a new pod, without node, that stands at index in the input. Texts are borrowed. */
BT_MUST_USE int bt_simulation_add_pod(struct bt_simulation *simulation, const struct bt_pod *pod,
	uint32_t index, struct berth_error *err);
/**
 * After bt_simulation_run, to lose something else: the pods that were decided go, so there must be
 * none that bt_simulation_add_pod did not add, and the simulation is open again. What was taken is
 * then returned, the node first, then its pods in the order of the input. Everything that a
 * decision depends on is as before if all pods were bound, and had no volumes, claims or group.
 */
void bt_simulation_reopen(struct bt_simulation *simulation);
/** The node at index, whose removal left other nodes in its zone, and not the first of several
 * zones. */
void bt_simulation_return_node(struct bt_simulation *simulation, uint32_t index);
/** false: bt_simulation_return_node could not return the node at index. */
bool bt_simulation_can_return_node(const struct bt_simulation *simulation, uint32_t index);
/** object: of bt_simulation_take_running; consumed. */
void bt_simulation_return_running(struct bt_simulation *simulation, struct bt_object *object);
/** Pods come into their order. */
void bt_simulation_close(struct bt_simulation *simulation);
/** In simulation_run.c: the pods are there and in order. */
void bt_simulation_loaded(struct bt_simulation *simulation);
/** Pods that stay pending, once all are decided. */
uint32_t bt_simulation_pending_count(const struct bt_simulation *simulation);
/**
 * The groups of pods that were decided, in the order of their first pods; owned: bt_free. group_of:
 * by pod, set to the index of its group for pods that have one; NULL: not asked for.
 */
struct bt_simulated_group *bt_simulation_groups(
	const struct bt_simulation *simulation, uint32_t *group_of, uint32_t *out_count);
/** Decide every pod. */
void bt_simulation_run(struct bt_simulation *simulation);
/** Decide the first count pods only: what an attempt of the next one would find. */
void bt_simulation_run_first(struct bt_simulation *simulation, uint32_t count);
/** How many of the pods come before this one in the queue, which need not be one of them. */
uint32_t bt_simulation_position(const struct bt_simulation *simulation, const struct bt_pod *pod);
/** Slots of the nodes in the input, ascending by name; owned: bt_free. */
uint32_t *bt_simulation_node_slots(const struct bt_simulation *simulation);

/**
 * Everything but pods and nodes that plugins look up: services, volumes, claims, classes, owners of
 * pods. What an API server and its controllers would have added to manifests is added here:
 * namespaces that pods are in, with their name as a label; what the expansion made; the default
 * storage class of claims; immediate binding of storage classes
 * that say nothing; how many devices a ResourceClaim asks for.
 */

/** Workloads are expanded, and no object is released yet. */
void bt_surroundings_load(
	struct bt_manifests *cluster, const struct bt_expansion *expansion, struct bt_state *state);
#endif

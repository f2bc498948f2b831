/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SIMULATION_H
#define BT_CLI_SIMULATION_H
/**
 * One pass over the pods of a cluster that have no node yet: who goes where, and who stays pending
 * for which reason. Pods are decided in the order of the queue: higher priority first, then earlier
 * creationTimestamp (pods without one were created just now, so they come last), then input order;
 * the pods of a workload stand where the workload stands. Each placed pod counts for the next ones.
 * Spec: 03 sections 2 and 3, 05 section 4.
 *
 * With preempt, preemption is carried out: the victims of a pod leave at once and the pod is tried
 * again. The order of the pods has it that only pods of the input can be victims. Pods that had
 * found no node before others left are tried once more at the end. Spec: 08.
 *
 * Pods that a plugin makes wait on Permit hold their nodes until it allows or rejects them. When
 * all pods were tried, time passes until each wait is over.
 */
#include "cli/command.h"
#include "cli/setup.h"
#include "cli/source.h"
#include "cli/workload.h"
#include "framework/waiting_pods.h"
#include "sched/engine.h"
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
};

/** "Scheduled", or the reason that the pod's PodScheduled condition would give. */
const char *bt_fate_name(enum bt_fate fate);
/** The pod waits for a node: what makes a simulation end with exit status 1. */
bool bt_fate_is_pending(enum bt_fate fate);

struct bt_simulated_pod {
	const struct bt_pod *pod;
	struct bt_pod_info info; /* shape NULL: not held at the moment */
	uint32_t sequence;       /* input order */
	enum bt_fate fate;
	struct bt_str node_name;           /* BT_FATE_SCHEDULED */
	struct bt_str message;             /* all others */
	struct bt_str nominated_node_name; /* promised to a pod that has none yet; may be "" */
	uint32_t release_count;            /* bt_simulation's when it was tried last */
	int64_t score; /* of the chosen node; 0 when it was the only one that fits */
	uint32_t feasible_count;
	bool waiting;      /* on Permit, its node reserved */
	int64_t cpu_milli; /* requested */
	int64_t memory_bytes;
};

/** A pod that waits on Permit. Does not move. */
struct bt_simulated_wait {
	uint32_t index; /* in bt_simulation.pods */
	struct bt_schedule_result result;
	struct bt_held_cycle held;
};

/** A running pod that had to leave. */
struct bt_simulated_eviction {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str node_name;
	int32_t priority;
	uint32_t preemptor; /* index in bt_simulation.pods */
};

/** A pod beyond those of the input: admitted, and not decided by bt_simulation_run. */
struct bt_simulated_extra {
	const struct bt_pod *pod;
	uint32_t owner; /* index of its workload, or its own, in the cluster */
};

struct bt_simulation {
	struct bt_manifests *cluster; /* borrowed */
	struct bt_engine *engine;     /* borrowed */
	struct bt_expansion expansion;
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
	bool preempt;                             /* carry preemption out */
	bool keep_bound;                          /* bound pods stay in the cluster after loading */
	struct bt_waiting_pods waiting;           /* on Permit */
	BT_VEC(struct bt_simulated_wait *) waits; /* the same pods, in the order of attempts */
	int64_t now_ns;                           /* moves when nothing is left to do but wait */
	uint32_t release_count;                   /* pods that left a node, evicted or given up */
	uint32_t node_count;
	uint32_t running_count; /* pods that have their node in the input */
	uint32_t counts[BT_FATE__COUNT];
	size_t message_bytes;
	/** Called before each pod; NULL: nobody listens. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

void bt_simulation_init(
	struct bt_simulation *simulation, struct bt_manifests *cluster, struct bt_engine *engine);
void bt_simulation_finish(struct bt_simulation *simulation);
/**
 * Expand workloads, admit pods, fill the engine's state; bound pods are released on the way. Errors
 * name file, document and object.
 */
BT_MUST_USE int bt_simulation_load(struct bt_simulation *simulation, struct berth_error *err);
/** Pods that stay pending, once all are decided. */
uint32_t bt_simulation_pending_count(const struct bt_simulation *simulation);
/** Decide every pod. */
void bt_simulation_run(struct bt_simulation *simulation);
/** Decide the first count pods only: what an attempt of the next one would find. */
void bt_simulation_run_first(struct bt_simulation *simulation, uint32_t count);
/** How many of the pods come before this one in the queue, which need not be one of them. */
uint32_t bt_simulation_position(const struct bt_simulation *simulation, const struct bt_pod *pod);
/** Slots of the nodes in the input, ascending by name; owned: bt_free. */
uint32_t *bt_simulation_node_slots(const struct bt_simulation *simulation);

/**
 * Preemption carried out on a state that nobody else changes: what an API server, kubelets and
 * watches would do over time is done at once. Spec: 08 section 11.
 */

/** Called for each victim before it goes. */
typedef void (*bt_eviction_visit)(void *context, const struct bt_pod_info *victim);

/**
 * A cycle ended without a node for the pod: remove the victims it chose, and those of an earlier
 * attempt that are still on their way out, from the state. Returns how many, 0 when preemption
 * cannot help. result is of the last cycle; the state may change only afterwards. visit may be
 * NULL.
 */
uint32_t bt_eviction_run(struct bt_engine *engine, const struct bt_pod_info *preemptor,
	const struct bt_schedule_result *result, bt_eviction_visit visit, void *context);

/** --- the run of a command that asks one simulation of one cluster --- */

/**
 * Load the simulation, which has its cluster and engine already, and append the answer to out.
 * Returns the exit status, or a negative error: then nothing is printed but that.
 */
typedef int bt_simulation_answer_fn(const void *context, struct bt_simulation *simulation,
	struct bt_strbuf *out, struct berth_error *err);

/**
 * Make the engine, read the cluster, let answer find out, print. Warnings and errors go to standard
 * error. Returns the exit status.
 */
int bt_simulation_ask(const struct bt_command *command, const struct bt_setup *setup,
	const struct bt_source *source, bt_simulation_answer_fn *answer, const void *context);

/**
 * Everything but pods and nodes that plugins look up: services, volumes, claims, classes, owners of
 * pods. What an API server and its controllers would have added to manifests is added here:
 * namespaces that pods are in, with their name as a label; the ReplicaSets of Deployments; the
 * claims of StatefulSets; the default storage class of claims; immediate binding of storage classes
 * that say nothing; how many devices a ResourceClaim asks for.
 */

/**
 * Workloads are expanded, and no object is released yet. BERTH_ERR_TOO_LARGE: the claims of
 * StatefulSets take more than BT_WORKLOAD_BYTES_MAX.
 */
BT_MUST_USE int bt_surroundings_load(struct bt_manifests *cluster,
	const struct bt_expansion *expansion, struct bt_state *state, struct berth_error *err);
#endif

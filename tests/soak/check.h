/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_CHECK_H
#define BT_SOAK_CHECK_H
/**
 * Checkers: they look at a scheduler from outside, compute what must hold from the store by plain
 * loops, and say in words what does not. Each returns true when all is well; else a complaint is
 * appended.
 */
#include "framework/nominator.h"
#include "queue/queue.h"
#include "soak/view.h"

/**
 * The scheduler decided for this node; view: what it can know. The node must be there and take the
 * pod, and the pod must not be on a node already.
 */
bool bt_sim_check_decision(struct bt_sim_view *view, const struct bt_pod *pod,
	struct bt_str node_name, struct bt_strbuf *complaint);

/** No node holds more than it has. is_excused: others than the scheduler are to blame. */
bool bt_sim_check_nodes(struct bt_sim_view *view,
	bool (*is_excused)(void *context, struct bt_str node_name), void *context,
	struct bt_strbuf *complaint);

/** The victim is a pod that somebody who waits is more important than. */
bool bt_sim_check_victim(
	struct bt_object_store *objects, const struct bt_pod *victim, struct bt_strbuf *complaint);

/** What a pending pod waits for, as its scheduler says. */
enum bt_sim_wait {
	BT_SIM_WAIT_NOWHERE, /* nobody knows it */
	BT_SIM_WAIT_TURN,    /* its turn, or the end of its backoff */
	BT_SIM_WAIT_CLOCK,   /* the end of its patience: no event tells what it waits for */
	BT_SIM_WAIT_EVENT,   /* a change of the cluster */
	BT_SIM_WAIT_GATE,    /* its gates, or the end of a preemption */
	BT_SIM_WAIT_CLAIM,   /* claims for devices that are not there yet */
};

/** What the check of pending pods asks. */
struct bt_sim_pending {
	/** Pods nominated to nodes: they take room from those who are not more important. */
	struct bt_sim_placed *nominated;
	uint32_t nominated_count;
	/** Pools of devices that nobody knows enough of: they count as taken. */
	const struct bt_sim_excused_pool *blurred;
	uint32_t blurred_count;
	/** Every timer had its time: nobody who fits may wait, nobody who may preempt either. */
	bool is_final;
	bool (*is_ours)(void *context, const struct bt_pod *pod);
	enum bt_sim_wait (*wait_of)(void *context, const struct bt_pod *pod);
	void *context;
};

/** Things are quiet: no pod waits for an event although it fits, and none is forgotten. */
bool bt_sim_check_pending(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	struct bt_strbuf *complaint);

/** Cache equals store: nodes, pods, sums, and all other objects. Nothing may be on its way. */
bool bt_sim_check_cache(
	const struct bt_state *state, struct bt_object_store *objects, struct bt_strbuf *complaint);
/** Queue and nominations know no pod that does not wait, and all in their newest version. */
bool bt_sim_check_queue(struct bt_queue *queue, const struct bt_nominator *nominator,
	struct bt_object_store *objects, struct bt_strbuf *complaint);

/** Five minutes among the unschedulable pods, 30 seconds until they are flushed, a backoff. */
#define BT_SIM_PATIENCE_NS INT64_C(342000000000)

/** Nobody waits longer than the timers let anybody wait. */
bool bt_sim_check_ages(struct bt_queue *queue, int64_t now_ns, struct bt_strbuf *complaint);

/** How much is kept when every object is gone. */
struct bt_sim_memory {
	size_t state_bytes;   /* without the counters */
	size_t counter_bytes; /* a cache that has a limit of its own */
	uint32_t symbols;
	uint32_t shapes;
	uint32_t label_sets;
};

struct bt_sim_memory bt_sim_memory_of(const struct bt_state *state);
/** Every object is gone: so are pods, nodes, queue entries and nominations. */
bool bt_sim_check_empty(const struct bt_state *state, struct bt_queue *queue,
	const struct bt_nominator *nominator, struct bt_strbuf *complaint);
/** Of the same measurement after each of several rounds: the second half keeps no more than the
 * first one plus half. */
bool bt_sim_check_memory(
	const struct bt_sim_memory *rounds, uint32_t count, struct bt_strbuf *complaint);
#endif

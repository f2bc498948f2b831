/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_CHECK_H
#define BT_SOAK_CHECK_H
/**
 * Checkers compute with plain loops, from the objects in the store, what a scheduler must do, and
 * compare the results with the scheduler. Each checker returns true if the scheduler is right, and
 * otherwise appends a complaint.
 */
#include "framework/nominator.h"
#include "queue/queue.h"
#include "soak/view.h"

/**
 * Check the decision to bind the pod to the node. view: what the scheduler can know. The node must
 * exist, the pod must fit on the node, and the pod must not have a node already.
 */
bool bt_sim_check_decision(struct bt_sim_view *view, const struct bt_pod *pod,
	struct bt_str node_name, struct bt_strbuf *complaint);

/**
 * The pods on each node must not request more than its allocatable. is_excused: whether another
 * scheduler or a user may have over-committed the node; such a node is not checked.
 */
bool bt_sim_check_nodes(struct bt_sim_view *view,
	bool (*is_excused)(void *context, struct bt_str node_name), void *context,
	struct bt_strbuf *complaint);

/** Some pending pod must have a higher priority than the victim. */
bool bt_sim_check_victim(
	struct bt_object_store *objects, const struct bt_pod *victim, struct bt_strbuf *complaint);

/** What a pending pod waits for, according to the scheduler. */
enum bt_sim_wait {
	BT_SIM_WAIT_NOWHERE, /* the pod is in no queue */
	BT_SIM_WAIT_TURN,    /* its turn in the active queue, or the end of the backoff */
	BT_SIM_WAIT_CLOCK,   /* a flush by time, because no event reports the change */
	BT_SIM_WAIT_EVENT,   /* a change in the cluster */
	BT_SIM_WAIT_GATE,    /* removal of scheduling gates, or the end of a preemption */
	BT_SIM_WAIT_CLAIM,   /* missing claims for devices */
};

/** Input of the check of pending pods. */
struct bt_sim_pending {
	/** Nominated pods. Only pods of higher priority may use the room that a nominated pod
	 * needs. */
	struct bt_sim_placed *nominated;
	uint32_t nominated_count;
	/**
	 * Pools whose allocations the scheduler cannot know. All devices of these pools count as
	 * taken.
	 */
	const struct bt_sim_excused_pool *blurred;
	uint32_t blurred_count;
	/** All timers have run: no pod that fits, or that fits after preemption, may wait. */
	bool is_final;
	bool (*is_ours)(void *context, const struct bt_pod *pod);
	enum bt_sim_wait (*wait_of)(void *context, const struct bt_pod *pod);
	void *context;
};

/**
 * Every pending pod must be queued, and no pod that fits may wait for an event. Call only when no
 * event is in flight.
 */
bool bt_sim_check_pending(struct bt_object_store *objects, const struct bt_sim_pending *pending,
	struct bt_strbuf *complaint);

/**
 * The cache must equal the store: nodes, pods, the sums of each node, and all other objects. Call
 * only when no event is in flight.
 */
bool bt_sim_check_cache(
	const struct bt_state *state, struct bt_object_store *objects, struct bt_strbuf *complaint);
/** Queue and nominations must contain only pending pods, each pod in its newest version. */
bool bt_sim_check_queue(struct bt_queue *queue, const struct bt_nominator *nominator,
	struct bt_object_store *objects, struct bt_strbuf *complaint);

/**
 * The longest wait for the next attempt: five minutes as an unschedulable pod, up to 30 seconds
 * until the next flush, and a backoff of up to 12 seconds.
 */
#define BT_SIM_PATIENCE_NS INT64_C(342000000000)

/** No pod without a scheduling gate may wait longer than BT_SIM_PATIENCE_NS. */
bool bt_sim_check_ages(struct bt_queue *queue, int64_t now_ns, struct bt_strbuf *complaint);

/** What the state still holds after every object was deleted. */
struct bt_sim_memory {
	size_t state_bytes; /* memory without the caches */
	size_t cache_bytes; /* domain counters and allocation columns, which have limits */
	uint32_t symbols;
	uint32_t shapes;
	uint32_t label_sets;
};

struct bt_sim_memory bt_sim_memory_of(const struct bt_state *state);
/** After every object was deleted, no pod, node, queue entry or nomination may be left. */
bool bt_sim_check_empty(const struct bt_state *state, struct bt_queue *queue,
	const struct bt_nominator *nominator, struct bt_strbuf *complaint);
/**
 * The memory must not grow from round to round. rounds: one measurement after each round. From four
 * rounds on, the maximum of the later half of the rounds must not be above 1.5 times the maximum of
 * the earlier half plus 256. This limit applies to bytes, symbols, shapes and label sets
 * separately. The cached counters of the last round must be within the limit for cached counters.
 */
bool bt_sim_check_memory(
	const struct bt_sim_memory *rounds, uint32_t count, struct bt_strbuf *complaint);
#endif

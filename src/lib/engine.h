/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_ENGINE_H
#define BT_LIB_ENGINE_H
/**
 * The public engine: a scheduler whose API writes become requests. The owner of the engine takes,
 * performs and answers the requests.
 */
#include "base/fifo.h"
#include "base/hash_table.h"
#include "berth/engine.h"
#include "framework/preemption.h"
#include "sched/engine.h"
#include "sched/extender_wire.h"
#include "sched/scheduler.h"

/*
 * Requests: the API writes that the owner has not taken yet or has not answered yet. The scheduler
 * adds them through struct bt_scheduler_writer (sched/scheduler.h).
 */

/** An API write. */
struct bt_request {
	struct berth_request request; /* the request that the owner receives; texts in the arena */
	struct bt_arena arena;
	uint32_t slot;
	/**
	 * Identifies a write that the scheduler asks for again until the result is there: a
	 * repeated call finds this request by the key. "" for writes that the scheduler asks for
	 * only once.
	 */
	struct bt_str key;
	/** Uid of the pod whose binding needs the write; set only if key is set. */
	struct bt_str owner_uid;
	/**
	 * Ticket of the preemption that waits for the result. executor is NULL if no preemption
	 * waits.
	 */
	struct bt_preemption_ticket ticket;
	bool taken;
	bool answered;
	bool abandoned; /* the result is ignored: see bt_requests_abandon */
	bool awaited;   /* a status patch: the next write for the pod waits for the answer */
	int code;
	struct bt_str message;          /* in the arena */
	struct bt_str resource_version; /* in the arena */
};

struct bt_requests {
	struct bt_scheduler *scheduler;    /* borrowed; set after bt_requests_init */
	BT_VEC(struct bt_request *) items; /* indexed by bt_request.slot; NULL: the slot is free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	struct bt_map by_owner; /* the requests in by_key, by owner_uid */
	BT_FIFO(struct bt_request *)
	untaken;         /* requests that the owner has not taken, in the order of adding */
	uint32_t serial; /* number of requests added so far: the upper half of the last id */
	struct bt_request *event;  /* event taken last; its texts are valid until the next take */
	struct bt_request *result; /* answered request that the scheduler read last */
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	berth_warn_fn warn;
	void *warn_context;
};

/** The structure must not move afterwards, because writer and volumes point to it. */
void bt_requests_init(struct bt_requests *requests, berth_warn_fn warn, void *warn_context);
void bt_requests_finish(struct bt_requests *requests);

/**
 * Forgets the writes of a binding. Call this when the binding of the pod with this uid failed.
 * Answers to these writes are ignored, whether they are already here or still come. A new attempt
 * to bind the pod sends new writes.
 */
void bt_requests_abandon(struct bt_requests *requests, struct bt_str owner_uid);

/** The message of a pod's last attempt, which failed. */
struct bt_failure_note {
	char *key; /* "namespace/name"; NULL: the note is free */
	char *message;
};

/** An extender of an engine's configuration. */
struct berth_extender {
	const struct bt_extenders *all; /* the extenders of the engine */
	uint32_t index;
};

struct berth_engine {
	struct bt_scheduler *scheduler;
	struct bt_requests requests;
	/**
	 * Newest version of each node. On the next update of a node, this version is the old
	 * object.
	 */
	struct bt_object_store nodes;
	BT_HASH_TABLE(struct bt_failure_note) notes; /* by the hash of the key */
	/**
	 * Called when a step of a scheduling cycle begins, with the name of the step; may be NULL.
	 */
	void (*trace_step)(void *context, const char *text);
	void *trace_context;
	berth_log_fn log;
	void *log_context;
	/* How extenders are called. poster and observer have pointers to this structure. */
	struct berth_extender_transport transport;
	struct bt_extender_poster poster;
	struct bt_extender_factory extender_factory;
	struct bt_extender_observer extender_observer;
	BT_VEC(struct berth_extender) extenders;
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_ENGINE_H
#define BT_LIB_ENGINE_H
/** The public engine: the scheduler, and the objects and requests of its owner. */
#include "base/fifo.h"
#include "base/map.h"
#include "berth/engine.h"
#include "framework/preemption.h"
#include "sched/engine.h"
#include "sched/extender_wire.h"
#include "sched/scheduler.h"

/*
 * Requests of an engine: writes that the owner has not taken yet, and writes that have no answer
 * yet. The scheduler's writers (sched/scheduler.h) add requests.
 */

/** A request to the owner. */
struct bt_request {
	struct berth_request request; /* texts in the arena */
	struct bt_arena arena;
	uint32_t slot;
	/**
	 * key: finds the request when the same write is repeated. owner_uid: the pod being bound.
	 * "" if not used.
	 */
	struct bt_str key;
	struct bt_str owner_uid;
	struct bt_preemption_ticket ticket; /* executor NULL: no ticket */
	bool taken;
	bool answered;
	bool abandoned; /* the scheduler no longer needs the result */
	bool awaited;   /* the scheduler holds back the pod's next write until the answer */
	int code;
	struct bt_str message;          /* in the arena */
	struct bt_str resource_version; /* in the arena */
};

struct bt_requests {
	struct bt_scheduler *scheduler;    /* borrowed; set after its creation */
	BT_VEC(struct bt_request *) items; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	BT_FIFO(struct bt_request *) untaken;
	uint32_t serial;           /* serial number of the next id */
	struct bt_request *event;  /* the last event that the owner took */
	struct bt_request *result; /* the last answered request found; holds texts */
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	berth_warn_fn warn;
	void *warn_context;
};

/** requests must not move, because writer and volumes point to it. */
void bt_requests_init(struct bt_requests *requests, berth_warn_fn warn, void *warn_context);
void bt_requests_finish(struct bt_requests *requests);
bool bt_requests_take(struct bt_requests *requests, struct berth_request *out_request);
void bt_requests_answer(
	struct bt_requests *requests, uint64_t id, const struct berth_answer *answer);
/** Call when the pod's binding has ended: results of its writes are dropped. */
void bt_requests_abandon(struct bt_requests *requests, struct bt_str owner_uid);

/* The engine. */

/** Message of a pod's last failed attempt. */
struct bt_failure_note {
	char *key; /* "namespace/name"; NULL: free */
	char *message;
};

/** One extender of an engine. */
struct berth_extender {
	const struct bt_extenders *all; /* all extenders of the engine */
	uint32_t index;
};

struct berth_engine {
	struct bt_scheduler *scheduler;
	struct bt_requests requests;
	struct bt_object_store nodes; /* newest versions, with which updates are compared */
	BT_VEC(struct bt_failure_note) notes;
	BT_VEC(uint32_t) free_notes;
	struct bt_map notes_by_key;
	/** Receives the name of each step of a cycle when the step begins; may be NULL. */
	void (*trace_step)(void *context, const char *text);
	void *trace_context;
	berth_log_fn log;
	void *log_context;
	/* Transport of extenders; poster and observer point into the engine. */
	struct berth_extender_transport transport;
	struct bt_extender_poster poster;
	struct bt_extender_factory extender_factory;
	struct bt_extender_observer extender_observer;
	BT_VEC(struct berth_extender) extenders;
};

#endif

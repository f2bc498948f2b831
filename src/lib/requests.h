/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_REQUESTS_H
#define BT_LIB_REQUESTS_H
/**
 * Writes that an engine wants done: those its owner has not taken yet, and those whose answer is
 * open. The scheduler's writers (sched/scheduler.h) put them here.
 */
#include "base/fifo.h"
#include "base/map.h"
#include "berth/engine.h"
#include "framework/preemption.h"
#include "sched/scheduler.h"

/** One write. */
struct bt_request {
	struct berth_request request; /* texts in the arena */
	struct bt_arena arena;
	uint32_t slot;
	/** The write can be asked for again: its key, and the pod whose binding asks. "" else. */
	struct bt_str key;
	struct bt_str owner_uid;
	struct bt_preemption_ticket ticket; /* executor NULL: none */
	bool taken;
	bool answered;
	bool abandoned; /* nobody will ask how it ended */
	bool awaited;   /* the scheduler holds the pod's next write back until it is answered */
	int code;
	struct bt_str message;          /* in the arena */
	struct bt_str resource_version; /* likewise */
};

struct bt_requests {
	struct bt_scheduler *scheduler;    /* borrowed; set once it exists */
	BT_VEC(struct bt_request *) items; /* by slot; NULL: free */
	BT_VEC(uint32_t) free_slots;
	struct bt_map by_key;
	BT_FIFO(struct bt_request *) untaken;
	uint32_t serial;           /* of the next id */
	struct bt_request *event;  /* the last one taken */
	struct bt_request *result; /* the last one that was over when asked for; holds its texts */
	struct bt_scheduler_writer writer;
	struct bt_volume_writer volumes;
	berth_warn_fn warn;
	void *warn_context;
};

/** requests must not move: writer and volumes point to it. */
void bt_requests_init(struct bt_requests *requests, berth_warn_fn warn, void *warn_context);
void bt_requests_finish(struct bt_requests *requests);
bool bt_requests_take(struct bt_requests *requests, struct berth_request *out_request);
void bt_requests_answer(
	struct bt_requests *requests, uint64_t id, const struct berth_answer *answer);
/** The pod's binding is over: how its writes end does not matter any more. */
void bt_requests_abandon(struct bt_requests *requests, struct bt_str owner_uid);
#endif

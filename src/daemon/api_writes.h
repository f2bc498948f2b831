/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_H
#define BT_DAEMON_API_WRITES_H
/**
 * Sends what the scheduler writes to an API server: bindings, status patches, deletions of victims,
 * volumes. Many writes are in flight, those of one pod one after the other; each has upstream's
 * verb, path, body and retries. Spec: 13 section 14, 11b section 6.
 *
 * Answers are kept until bt_api_writes_deliver, so they may come while the scheduler waits inside a
 * call.
 */
#include "client/rest.h"
#include "daemon/event_recorder.h"
#include "sched/scheduler.h"

struct bt_api_writes;

struct bt_api_writes_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_event_recorder *events; /* NULL: no events are sent */
	/**
	 * True while this process leads. Asked before bindings, deletions and writes of claims: a
	 * process without the lease must not send these. NULL: always true.
	 */
	bool (*may_write)(void *context);
	/**
	 * True once the process stops; a call that waits for an answer (synchronous preemption)
	 * then fails. The wait turns the loop, so the caller of the scheduler must hold changes of
	 * the cluster back until the call returns. NULL: never true.
	 */
	bool (*is_stopping)(void *context);
	int64_t (*now_ns)(void *context); /* wall clock */
	void *context;
	/**
	 * The scheduler tries no pod while this many writes have no answer. Otherwise the queue of
	 * bindings, each with its binding cycle, would grow whenever the API server or the limiter
	 * is slower than the decisions. Asked before each attempt, because the number of
	 * connections changes with the pace of the API server. NULL: unlimited.
	 */
	uint32_t (*in_flight_max)(void *context);
	uint64_t seed; /* jitter of retries */
};

BT_MUST_USE struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options);
/** Writes in flight are abandoned. NULL accepted. */
void bt_api_writes_destroy(struct bt_api_writes *writes);
/** The writer for bt_scheduler_create; borrowed from writes. */
const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes);
/** Set the scheduler that answers are reported to, once it exists. */
void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler);
/** Pass the answers that arrived to the scheduler: before bt_scheduler_step. */
void bt_api_writes_deliver(struct bt_api_writes *writes);
/** The number of writes without an answer, including those that wait for their turn. */
uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes);
#endif

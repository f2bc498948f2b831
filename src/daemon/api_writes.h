/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_H
#define BT_DAEMON_API_WRITES_H
/**
 * Sends the scheduler's writes to the API server (bindings, status patches, deletions of victims,
 * volumes, claims) with upstream's verbs, paths, bodies and retries. Writes of different pods are
 * in flight at the same time; writes of one pod are sent one after the other. Spec: 13 section 14,
 * 11b section 6.
 *
 * Answers are kept until bt_api_writes_deliver, because they may arrive while the scheduler waits
 * inside a call.
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
	 * Returns true while this process leads. Called before each scheduling attempt, and before
	 * each request is sent: a process without the lease must not write. NULL: always true.
	 */
	bool (*may_write)(void *context);
	/**
	 * Returns true once the process stops: a call that waits for an answer (synchronous
	 * preemption, for example) then fails. The loop turns during the wait, so the caller of the
	 * scheduler must hold changes of the cluster back until its call returns. NULL: never true.
	 */
	bool (*is_stopping)(void *context);
	int64_t (*now_ns)(void *context); /* wall clock */
	void *context;
	/**
	 * Returns a limit: the scheduler tries no pod while this many writes have no answer.
	 * Without the limit, the queue of bindings, each with its binding cycle, would grow
	 * whenever the API server or the limiter is slower than the decisions. Called before each
	 * attempt, because the number of connections changes with the pace of the API server. NULL:
	 * no limit.
	 */
	uint32_t (*in_flight_max)(void *context);
	uint64_t seed; /* for the jitter of retries */
};

BT_MUST_USE struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options);
/** Destroy the writer (NULL: none) and cancel the writes in flight: their results stay unknown. */
void bt_api_writes_destroy(struct bt_api_writes *writes);
/** Return the writer for bt_scheduler_create; borrowed from writes. */
const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes);
/**
 * Set the scheduler to which answers are reported. Call it after bt_scheduler_create, which needs
 * the writer, and before the first write.
 */
void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler);
/** Report to the scheduler the answers that have arrived. Call it before bt_scheduler_step. */
void bt_api_writes_deliver(struct bt_api_writes *writes);
/** Return the number of writes without an answer, including writes that were not sent yet. */
uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_H
#define BT_DAEMON_API_WRITES_H
/**
 * What the scheduler wants written, sent to an API server: bindings, status patches, victims'
 * deletions, volumes. Many in flight, for one pod one after the other; each with upstream's verb,
 * path, body and retries. Spec: 13 section 14, 11b section 6.
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
	struct bt_event_recorder *events; /* NULL: none are sent */
	/** May this process still write (it leads)? NULL: always. Bindings and deletions that may
	 * not fail. */
	bool (*may_write)(void *context);
	/**
	 * A wait within the scheduler (preemption without its gate) turns the loop; whoever lets
	 * the scheduler work keeps changes of the cluster from it meanwhile. true: it should end,
	 * the process stops. NULL: never.
	 */
	bool (*is_stopping)(void *context);
	int64_t (*now_ns)(void *context); /* wall clock */
	void *context;
	/**
	 * No pod is tried while so many writes have no answer. Each held binding keeps its cycle,
	 * and a longer queue of them would only grow when the API server or the limiter is slower
	 * than the decisions are. Asked before each attempt, because the number of connections
	 * changes with the pace of the API server. NULL: unlimited.
	 */
	uint32_t (*in_flight_max)(void *context);
	uint64_t seed; /* jitter of retries */
};

BT_MUST_USE struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options);
/** What is under way is abandoned. NULL accepted. */
void bt_api_writes_destroy(struct bt_api_writes *writes);
/** For bt_scheduler_create; borrowed from writes. */
const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes);
/** Once it exists: answers are reported to it. */
void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler);
/** Pass the answers that arrived to the scheduler: before bt_scheduler_step. */
void bt_api_writes_deliver(struct bt_api_writes *writes);
/** Without an answer yet; those that wait for their turn count. */
uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes);
#endif

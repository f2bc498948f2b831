/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_API_WRITES_H
#define BT_DAEMON_API_WRITES_H
/**
 * What the scheduler wants written, sent to an API server: bindings, status patches, victims'
 * deletions, volumes, claims. Many in flight; each with upstream's verb, path, body and retries.
 * Spec: 13 section 14, 11b section 6.
 */
#include "client/rest.h"
#include "daemon/event_recorder.h"
#include "sched/scheduler.h"

struct bt_api_writes;

struct bt_api_writes_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_event_recorder *events;
	/** May this process still write (it leads)? NULL: always. A binding that may not fails. */
	bool (*may_write)(void *context);
	void *context;
	int64_t (*now_ns)(void *context); /* wall clock */
};

BT_MUST_USE struct bt_api_writes *bt_api_writes_create(const struct bt_api_writes_options *options);
/** What is under way is abandoned. */
void bt_api_writes_destroy(struct bt_api_writes *writes);
/** For bt_scheduler_create; borrowed from writes. */
const struct bt_scheduler_writer *bt_api_writes_writer(struct bt_api_writes *writes);
/** Once it exists: answers are reported to it. */
void bt_api_writes_attach(struct bt_api_writes *writes, struct bt_scheduler *scheduler);
/** After each attempt: what it left to be sent in order (preemption after nomination). */
void bt_api_writes_flush(struct bt_api_writes *writes);
uint32_t bt_api_writes_in_flight(const struct bt_api_writes *writes);
#endif

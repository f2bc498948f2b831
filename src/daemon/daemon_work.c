/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduling loops on the event loop. Spec: 11 section 6.1, step 22. */
#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/daemon_private.h"
#include "daemon/memory.h"

/** Attempts of one turn: then answers and changes have theirs. */
#define ATTEMPTS_PER_TURN 32

bool bt_daemon_may_act(void *context)
{
	const struct bt_daemon *daemon = context;
	return daemon->leads && !daemon->stopping &&
		(daemon->election == NULL || bt_leader_election_may_act(daemon->election));
}

/**
 * Each binding keeps its cycle; a queue of them would only grow when the API server or the limiter
 * is slower than decisions are. So no more pods are tried than there are connections to write on.
 */
static bool may_write_more(const struct bt_daemon *daemon)
{
	return bt_api_writes_in_flight(daemon->writes) <
		bt_transport_calls_max(daemon->server.transport);
}

static bool try_one(struct bt_daemon *daemon)
{
	struct bt_attempt attempt;
	if (bt_scheduler_finish_waiting(daemon->scheduler, bt_daemon_steady_ns(daemon), &attempt)) {
		bt_api_writes_flush(daemon->writes);
		return true;
	}
	bt_api_writes_settle(daemon->writes);
	if (!bt_queue_can_pop(bt_scheduler_queue(daemon->scheduler)) || !may_write_more(daemon) ||
		!bt_daemon_may_act(daemon)) {
		return false;
	}
	bt_scheduler_schedule_one(daemon->scheduler, bt_daemon_steady_ns(daemon), &attempt);
	bt_api_writes_flush(daemon->writes);
	return true;
}

static int64_t next_time(const struct bt_daemon *daemon)
{
	int64_t tick_ns = bt_queue_next_tick_ns(bt_scheduler_queue(daemon->scheduler));
	int64_t deadline_ns = bt_scheduler_next_deadline_ns(daemon->scheduler);
	return bt_daemon_loop_time_of(daemon, tick_ns < deadline_ns ? tick_ns : deadline_ns);
}

static int64_t try_some(struct bt_daemon *daemon, int64_t now_ns)
{
	bt_queue_tick(bt_scheduler_queue(daemon->scheduler), bt_daemon_steady_ns(daemon));
	bt_api_writes_deliver(daemon->writes);
	bool has_more = true;
	for (uint32_t i = 0; i < ATTEMPTS_PER_TURN && has_more; i++) {
		has_more = try_one(daemon);
	}
	return has_more ? now_ns : next_time(daemon);
}

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_daemon *daemon = context;
	if (!daemon->leads || daemon->stopping || daemon->failed) {
		return INT64_MAX;
	}
	/* A wait within an attempt turns the loop: what changes meanwhile is told after it. */
	bt_cluster_feed_hold(daemon->feed);
	int64_t due_ns = try_some(daemon, now_ns);
	bt_cluster_feed_release(daemon->feed);
	return due_ns;
}

void bt_daemon_lead(struct bt_daemon *daemon)
{
	daemon->leads = true;
	bt_queue_start(bt_scheduler_queue(daemon->scheduler), bt_daemon_steady_ns(daemon));
	bt_loop_call_at(daemon->loop, bt_loop_now_ns(daemon->loop));
}

void bt_daemon_add_worker(struct bt_daemon *daemon)
{
	bt_loop_add_worker(daemon->loop, work, daemon);
	bt_loop_add_worker(daemon->loop, bt_daemon_drop_idle_code, &daemon->code_dropped_ns);
}

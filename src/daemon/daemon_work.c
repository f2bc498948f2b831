/* SPDX-License-Identifier: Apache-2.0 */
/** The scheduling loops on the event loop. Spec: 11 section 6.1, step 22. */
#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/daemon_private.h"

/** Attempts of one turn: then answers and changes have theirs. */
#define ATTEMPTS_PER_TURN 32

bool bt_daemon_may_act(void *context)
{
	const struct bt_daemon *daemon = context;
	return daemon->leads && !daemon->stopping &&
		(daemon->election == NULL || bt_leader_election_may_act(daemon->election));
}

static int64_t work(void *context, int64_t now_ns)
{
	struct bt_daemon *daemon = context;
	if (!daemon->leads || daemon->stopping || daemon->failed) {
		return INT64_MAX;
	}
	/* A wait within an attempt turns the loop: changes that arrive meanwhile are observed after
	 * it. */
	bt_cluster_feed_hold(daemon->feed);
	bt_api_writes_deliver(daemon->writes);
	int64_t due_ns = now_ns;
	for (uint32_t i = 0; i < ATTEMPTS_PER_TURN; i++) {
		struct bt_attempt attempt;
		int64_t next_ns =
			bt_scheduler_step(daemon->scheduler, bt_daemon_steady_ns(daemon), &attempt);
		if (attempt.outcome == BT_ATTEMPT_IDLE) {
			due_ns = bt_daemon_loop_time_of(daemon, next_ns);
			break;
		}
	}
	bt_cluster_feed_release(daemon->feed);
	return due_ns;
}

void bt_daemon_lead(struct bt_daemon *daemon)
{
	daemon->leads = true;
	bt_loop_call_at(daemon->loop, bt_loop_now_ns(daemon->loop));
}

void bt_daemon_add_worker(struct bt_daemon *daemon)
{
	bt_loop_add_worker(daemon->loop, work, daemon);
	bt_loop_add_worker(daemon->loop, bt_daemon_drop_idle_code, &daemon->idle_code);
}

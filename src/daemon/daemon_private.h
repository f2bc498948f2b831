/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DAEMON_PRIVATE_H
#define BT_DAEMON_DAEMON_PRIVATE_H
/** Shared by the files of the daemon's life only. */
#include <stdint.h>

#include "base/prng.h"
#include "daemon/api_writes.h"
#include "daemon/cluster_feed.h"
#include "daemon/endpoints.h"
#include "daemon/event_sender.h"
#include "daemon/extender_http.h"
#include "daemon/leader_election.h"
#include "daemon/options.h"
#include "daemon/serving_tls.h"

/**
 * At the start, before there are threads. Large arrays grow by moving their pages, not by copies
 * that leave holes; the short-lived threads that look up host names share one heap with the thread
 * that works.
 */
void bt_daemon_tune_memory(void);
/**
 * Pages of code and constants that were only used to start (of the program and of its libraries)
 * are let go; what is used again comes back from the file. Free memory of the heap is let go, too.
 */
void bt_daemon_trim_memory(void);
/**
 * A worker of the loop: code that was used now and then is let go after so much work that this does
 * not count. What opens connections is 2 MB, for example. context: struct bt_daemon_idle_code.
 */
struct bt_daemon_idle_code {
	int64_t look_at_ns; /* of the loop's clock */
	int64_t dropped_ns; /* of processor time */
};
int64_t bt_daemon_drop_idle_code(void *context, int64_t now_ns);

/** A connection to an API server with what it was made from. */
struct bt_daemon_link {
	bool is_open;
	struct bt_client_config config;
	struct bt_transport *transport;
};

struct bt_daemon {
	struct bt_daemon_options options;
	struct bt_config *config;
	struct bt_loop *loop;
	struct bt_metrics *metrics;
	struct bt_scheduler_metrics *scheduler_metrics;
	struct bt_prng prng;
	struct bt_strbuf identity;
	/* Connections, and the clients on them: each with a limiter of its own. */
	struct bt_daemon_link server;
	struct bt_daemon_link authentication;
	struct bt_daemon_link authorization;
	struct bt_rest_client *client;
	struct bt_rest_client *event_client;
	struct bt_rest_client *lease_client;
	struct bt_rest_client *authentication_client;
	struct bt_rest_client *authorization_client;
	struct bt_event_sender *events;
	struct bt_extender_http *extenders;
	struct bt_api_writes *writes;
	struct bt_scheduler *scheduler;
	struct bt_cluster_feed *feed;
	struct bt_leader_election *election;
	struct bt_serving_tls *serving; /* until the endpoints have it */
	struct bt_endpoints *endpoints;
	/** Wall time when the process began, minus monotonic time then. */
	int64_t steady_offset_ns;
	int64_t started_ns; /* wall clock */
	struct bt_daemon_idle_code idle_code;
	bool leads; /* the scheduling loops run */
	bool election_started;
	bool stopping;       /* a signal came */
	bool lost;           /* the lease */
	bool failed;
	struct berth_error err; /* of failed: logged as "command failed" */
};

/** What the machine says: for what others read. */
int64_t bt_daemon_wall_ns(void *context);
/** Wall time as it was at the start, carried on steadily: jumps of the clock do not show. */
int64_t bt_daemon_steady_ns(void *context);

/** Spec 11 section 6.1, steps 8 to 15. */
BT_MUST_USE int bt_daemon_build(struct bt_daemon *daemon, struct berth_error *err);
/** Log a line for each default plugin that a profile lists again: spec 10 section 6.3. */
void bt_daemon_log_overrides(const struct bt_config *config);
/** Steps 17 to 22; the loop does the rest. */
void bt_daemon_begin(struct bt_daemon *daemon);
void bt_daemon_finish(struct bt_daemon *daemon);

/** This process begins to lead: pods are tried from now on. */
void bt_daemon_lead(struct bt_daemon *daemon);
void bt_daemon_add_worker(struct bt_daemon *daemon);
bool bt_daemon_may_act(void *context);

/** The process ends with "command failed"; err is emptied. */
void bt_daemon_fail(struct bt_daemon *daemon, struct berth_error *err);

#endif

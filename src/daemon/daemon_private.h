/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_DAEMON_PRIVATE_H
#define BT_DAEMON_DAEMON_PRIVATE_H
/** Shared by the files that start, run and end the daemon. */
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
 * Release the resident pages of code and constants of the program and its libraries: most of them
 * are used at the start only, and the kernel reads a page from its file when the page is used
 * again. Also releases free memory of the heap.
 */
void bt_daemon_trim_memory(void);
/** State of the worker that releases code pages. */
struct bt_daemon_idle_code {
	int64_t next_check_ns; /* when to read the processor time again, on the loop's clock */
	int64_t dropped_ns;    /* processor time of the process at the last release */
};
/** A connection to an API server, and the configuration of the connection. */
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
	/* Connections and their clients; each client has a limiter of its own. */
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
	struct bt_serving_tls *serving; /* NULL once the endpoints own the certificates */
	struct bt_endpoints *endpoints;
	/** Wall time minus monotonic time, both at the start of the process. */
	int64_t steady_offset_ns;
	int64_t started_ns; /* wall clock */
	struct bt_daemon_idle_code idle_code;
	bool leads; /* this process leads: pods are scheduled */
	bool election_started;
	bool stopping; /* SIGINT or SIGTERM was received */
	bool lost;     /* the lease was lost */
	bool failed;
	struct berth_error err; /* the failure, which is logged as "command failed" */
};

/**
 * Return the wall time at the start plus the monotonic time since then: steps of the wall clock
 * have no effect.
 */
int64_t bt_daemon_steady_ns(void *context);

/** Create the parts of the daemon: spec 11 section 6.1, steps 8 to 15. */
BT_MUST_USE int bt_daemon_build(struct bt_daemon *daemon, struct berth_error *err);
/**
 * Start serving, and the watches or the leader election: spec 11 section 6.1, steps 17 to 22.
 * Workers of the loop do everything else.
 */
void bt_daemon_begin(struct bt_daemon *daemon);
void bt_daemon_finish(struct bt_daemon *daemon);

/** Add two workers to the loop: one schedules pods, the other releases code pages. */
void bt_daemon_add_worker(struct bt_daemon *daemon);

/**
 * Log the differences between the scheduler's cache and the objects of the API. A reflector that is
 * NULL counts as empty. Spec: 11 section 6.4.
 */
void bt_daemon_compare_cache(struct bt_scheduler *scheduler, const struct bt_reflector *nodes,
	const struct bt_reflector *pods);
/** Log all cached nodes with their pods, and the queued pods. */
void bt_daemon_dump_cache(struct bt_scheduler *scheduler);
#endif

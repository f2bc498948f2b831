/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ENDPOINTS_H
#define BT_DAEMON_ENDPOINTS_H
/**
 * The HTTPS endpoints of the daemon. Callers are authenticated and authorized with the help of the
 * API server, then answered. Spec: 11 section 9.
 */
#include "client/rest.h"
#include "daemon/options.h"
#include "metrics/metrics.h"

struct bt_endpoints;
struct bt_serving_tls;

/** A condition that healthz, livez or readyz reports. */
struct bt_health_check {
	const char *name; /* "ping", "leaderElection", ... */
	/**
	 * Returns false if the check fails, and appends the reason to out_error. NULL: the check
	 * always succeeds.
	 */
	bool (*check)(void *context, struct bt_strbuf *out_error);
	void *context;
};

struct bt_endpoints_options {
	struct bt_loop *loop;
	const struct bt_daemon_options *options; /* borrowed while the endpoints live */
	bool enable_profiling;
	/**
	 * Clients for TokenReviews and SubjectAccessReviews, each with its own limits (200 requests
	 * per second, burst 400). NULL: the API server is not asked.
	 */
	struct bt_rest_client *authentication_client;
	struct bt_rest_client *authorization_client;
	/** The arrays of checks are copied. */
	const struct bt_health_check *healthz;
	uint32_t healthz_count;
	const struct bt_health_check *livez;
	uint32_t livez_count;
	const struct bt_health_check *readyz;
	uint32_t readyz_count;
	struct bt_metrics *metrics;
	/** Appends the JSON of /configz's componentconfig. */
	void (*write_config)(void *context, struct bt_strbuf *out);
	/**
	 * Appends /metrics/resources; nothing if this process does not lead. NULL: always nothing.
	 */
	void (*write_pod_resources)(void *context, struct bt_strbuf *out);
	void *context;
	int64_t started_ns; /* wall clock, for statusz */
	/** Owned by the endpoints, also on failure. NULL: bt_endpoints_create creates the pairs. */
	struct bt_serving_tls *serving;
};

/**
 * Bind the listener, and read the request-header configuration (spec 11 section 6.1, step 9). May
 * turn the loop to wait for the API server's answer. No request is answered before
 * bt_endpoints_serve. Must not be called with port 0. Errors have the texts of spec 11 section 4.3,
 * with the flag and the file that are wrong.
 */
BT_MUST_USE int bt_endpoints_create(const struct bt_endpoints_options *options,
	struct bt_endpoints **out_endpoints, struct berth_error *err);
void bt_endpoints_serve(struct bt_endpoints *endpoints);
/**
 * Stop listening, and turn the loop until open requests end, at most 5 s. Writes the log lines of
 * spec 11 section 6.3.
 */
void bt_endpoints_shut_down(struct bt_endpoints *endpoints);
void bt_endpoints_destroy(struct bt_endpoints *endpoints);
#endif

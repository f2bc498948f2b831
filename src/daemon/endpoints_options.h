/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ENDPOINTS_OPTIONS_H
#define BT_DAEMON_ENDPOINTS_OPTIONS_H
/** What the HTTPS endpoints and their parts need to know of the daemon. */
#include "client/rest.h"
#include "daemon/options.h"
#include "metrics/metrics.h"

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
#endif

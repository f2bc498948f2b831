/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_TRANSPORT_H
#define BT_CLIENT_TRANSPORT_H
/**
 * Connections to one API server with changing credentials, shared by all REST clients of a process.
 * Calls share a few connections and may be queued; streams and requests with a timeout have their
 * own connections and are never queued. Tokens, certificates and CA bundles are read again as in
 * spec 13 section 6; exec plugins run when a request needs credentials.
 */
#include "client/config.h"
#include "metrics/metrics.h"
#include "net/http_client.h"

struct bt_transport;

struct bt_transport_options {
	struct bt_loop *loop;
	const struct bt_client_config *config; /* borrowed for the transport's life */
	struct bt_metrics *metrics;            /* rest_client_exec_plugin_*, ...; NULL: none */
	int64_t connect_timeout_ns;            /* 0: 30 s, as spec 13 section 7.1 */
};

/**
 * Creates a transport. Fails only if the credentials have an error that is fatal at start (spec 13
 * sections 6.2, 6.4).
 */
BT_MUST_USE int bt_transport_create(const struct bt_transport_options *options,
	struct bt_transport **out_transport, struct berth_error *err);
/** All calls must have ended. NULL accepted. */
void bt_transport_destroy(struct bt_transport *transport);
const struct bt_client_config *bt_transport_config(const struct bt_transport *transport);

/**
 * Returns the number of calls that can run at once; further calls are queued. The number grows with
 * the latency of answers, so that the call rate stays the same (client/pace.h).
 */
uint32_t bt_transport_calls_max(struct bt_transport *transport);

struct bt_transport_request {
	const char *method;
	struct bt_str path;                   /* "/api/v1/pods", percent-encoded where needed */
	struct bt_str query;                  /* without '?'; "" */
	const struct bt_http_header *headers; /* Authorization and impersonation are added */
	uint32_t header_count;
	struct bt_str body;
	int64_t timeout_ns; /* <= 0: no timeout */
	bool is_endless;    /* a watch: silence is not an error */
	uint64_t body_bytes_max;
	/**
	 * If there are no credentials, `done` gets transfer NULL, failure OTHER and the message
	 * "getting credentials: ...".
	 */
	struct bt_http_client_handler handler;
};

/**
 * One request, from bt_transport_start to `done` of its handler or bt_transport_cancel. The owner
 * sets `request`, whose texts and headers stay valid meanwhile; all other members are zero before
 * the start, and private.
 */
struct bt_transport_call {
	struct bt_transport_request request;
	struct bt_transport *transport;
	struct bt_http_transfer *transfer; /* NULL: waits for credentials */
	uint32_t generation; /* generation of the plugin's credentials in use; 0: none */
	bool is_paced;       /* uses bt_transport.calls */
	uint64_t ticket;     /* while the call waits; increases from call to call */
	struct bt_transport_call *previous; /* in the list of waiting calls */
	struct bt_transport_call *next;
};

/** Starts the call. Callbacks never run within this function. */
void bt_transport_start(struct bt_transport *transport, struct bt_transport_call *call);
/** Must be called first in `done` of the handler. */
void bt_transport_ended(struct bt_transport_call *call, const struct bt_http_outcome *outcome);
/** Cancels a call that has not ended; no callback follows. */
void bt_transport_cancel(struct bt_transport_call *call);
#endif

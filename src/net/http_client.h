/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_CLIENT_H
#define BT_NET_HTTP_CLIENT_H
/**
 * An HTTP/1.1 client on an event loop: a pool of kept-alive connections, concurrent transfers, TLS,
 * proxies, bodies collected or streamed. Independent of Kubernetes. Uses GnuTLS.
 *
 * A transfer is retried, on another connection, only if it used a kept-alive connection that has
 * ended, and either no byte of the request was written or, for GET, HEAD, OPTIONS and TRACE, no
 * byte of the answer was received (spec 13 section 7.2).
 *
 * Callbacks run in the loop's turns, never within bt_http_client_start. They may start and cancel
 * transfers, including the current one, but not destroy the client; only `done` may run the loop
 * (nested turns).
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "net/loop.h"

struct bt_http_client;
struct bt_http_transfer;

/** PEM texts, not necessarily zero-terminated; borrowed for the call. */
struct bt_http_client_tls {
	bool insecure;             /* do not verify the server */
	struct bt_str ca;          /* the only trusted roots; data NULL: the system's roots */
	struct bt_str certificate; /* may contain intermediates; data NULL: no client certificate */
	struct bt_str key;
	struct bt_str server_name; /* for SNI and verification; data NULL: host of the URL */
};

struct bt_http_client_options {
	struct bt_http_client_tls tls;
	/**
	 * NULL: taken from the environment's HTTPS_PROXY, HTTP_PROXY and NO_PROXY (spec 13 section
	 * 4.6).
	 */
	const char *proxy_url;
	uint32_t connections_max; /* further transfers are queued; 0: no limit */
	uint32_t idle_connections_max;
	int64_t connect_timeout_ns; /* for TCP and TLS handshake together */
	bool follow_redirects;      /* as browsers do: a POST becomes GET after 301, 302, 303 */
};

/** Defaults of spec 13 section 7.1: 30 s to connect, 25 idle connections. */
#define BT_HTTP_CLIENT_OPTIONS_INIT \
	{ \
		.idle_connections_max = 25, .connect_timeout_ns = INT64_C(30000000000) \
	}

/** Why a transfer ended without a complete response. */
enum bt_http_failure {
	BT_HTTP_FAILURE_NONE,
	BT_HTTP_FAILURE_REFUSED, /* connection refused */
	BT_HTTP_FAILURE_RESOLVE,
	BT_HTTP_FAILURE_TLS,
	BT_HTTP_FAILURE_TIMEOUT,
	BT_HTTP_FAILURE_RESET, /* reset, end of file or close, before or within the answer */
	BT_HTTP_FAILURE_OTHER,
};

struct bt_http_outcome {
	enum bt_http_failure failure;
	bool answered; /* status line and headers were received */
	bool sent;     /* part of the request may have reached the server */
	uint16_t code; /* valid if answered */
	/** Valid if answered: from the first byte of the request to that of the answer. */
	int64_t latency_ns;
	struct bt_str body; /* collected, borrowed for the call; empty if the handler has `data` */
	/**
	 * Error text, worded as upstream's HTTP library does where possible: "dial tcp 127.0.0.1:1:
	 * connect: connection refused", "EOF", "x509: certificate signed by unknown authority",
	 * "context deadline exceeded ...". The caller adds upstream's prefix (`Get "https://...":
	 * `). "" without failure.
	 */
	const char *message;
};

struct bt_http_header {
	const char *name;
	struct bt_str value;
};

struct bt_http_client_handler {
	void *context;
	/**
	 * Called before each write of the request's bytes, which may be long after
	 * bt_http_client_start: transfers are queued and wait for connections. false: nothing more
	 * is written, and the transfer fails with BT_HTTP_FAILURE_OTHER and "context canceled".
	 * NULL: always send. Must not start or cancel transfers.
	 */
	bool (*may_send)(void *context);
	/** Called when status and headers were received (bt_http_transfer_header). May be NULL. */
	void (*head)(void *context, struct bt_http_transfer *transfer, uint16_t code);
	/**
	 * Called with body bytes as they arrive, after chunk decoding. NULL: the body is collected
	 * for the outcome.
	 */
	void (*data)(void *context, struct bt_http_transfer *transfer, struct bt_str bytes);
	/**
	 * Called at the end, exactly once, unless the transfer is cancelled. The transfer is freed
	 * afterwards.
	 */
	void (*done)(void *context, struct bt_http_transfer *transfer,
		const struct bt_http_outcome *outcome);
};

/** A request; bt_http_client_start copies all fields. */
struct bt_http_client_request {
	const char *method; /* "GET" */
	const char *url;
	const struct bt_http_header *headers;
	uint32_t header_count;
	struct bt_str body; /* data NULL: no body */
	int64_t timeout_ns; /* for the whole exchange; 0: unlimited */
	/**
	 * Maximum time without a byte from the server: head_silence_ns until the headers are
	 * complete, then body_silence_ns. Time in the queue does not count. 0: unlimited.
	 */
	int64_t head_silence_ns;
	int64_t body_silence_ns;
	/**
	 * A collected body larger than this fails the transfer with BT_HTTP_FAILURE_OTHER; 0: no
	 * limit.
	 */
	uint64_t body_bytes_max;
	struct bt_http_client_handler handler;
};

/**
 * Creates a client. BERTH_ERR_INVALID: a certificate, key or proxy URL is unusable, or a CA is
 * given together with insecure.
 */
BT_MUST_USE int bt_http_client_create(struct bt_loop *loop,
	const struct bt_http_client_options *options, struct bt_http_client **out_client,
	struct berth_error *err);
/** Cancels all transfers; `done` is not called for them. NULL accepted. */
void bt_http_client_destroy(struct bt_http_client *client);
/**
 * Replaces the TLS settings for new connections, and closes idle connections. cut: running
 * transfers fail with BT_HTTP_FAILURE_RESET. On failure the old settings stay.
 */
BT_MUST_USE int bt_http_client_set_tls(struct bt_http_client *client,
	const struct bt_http_client_tls *tls, bool cut, struct berth_error *err);

/**
 * Sets the maximum number of connections; 0: no limit. Running transfers are not cut. A limit above
 * 0 also replaces the limit of idle connections.
 */
void bt_http_client_set_connections_max(struct bt_http_client *client, uint32_t connections_max);

/** Starts a transfer. Errors, including a bad URL, are reported only through `done`. */
BT_MUST_USE struct bt_http_transfer *bt_http_client_start(
	struct bt_http_client *client, const struct bt_http_client_request *request);
/** Cancels the transfer; none of its callbacks is called afterwards. */
void bt_http_transfer_cancel(struct bt_http_transfer *transfer);
/**
 * Returns the first value of a response header. Names compare case-insensitively. data NULL: the
 * response has no such header. The value is valid until `done` returns.
 */
struct bt_str bt_http_transfer_header(const struct bt_http_transfer *transfer, const char *name);
void bt_http_transfer_each_header(const struct bt_http_transfer *transfer, const char *name,
	void (*take)(void *context, struct bt_str value), void *context);
#endif

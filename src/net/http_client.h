/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_CLIENT_H
#define BT_NET_HTTP_CLIENT_H
/**
 * An HTTP/1.1 client on an event loop: a pool of kept-alive connections, many transfers at a time,
 * TLS, proxies, bodies whole or as they come. Knows nothing of Kubernetes. Stands on GnuTLS.
 *
 * Nothing is retried but what a kept connection that has ended asks for (spec 13 section 7.2): a
 * request goes to another connection when nothing of it was written, and a GET, HEAD, OPTIONS or
 * TRACE also when no byte of an answer has come.
 *
 * Callbacks run in the loop's turns, never within bt_http_client_start. They may start and cancel
 * transfers, also their own, but not destroy the client; only `done` may turn the loop.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "net/loop.h"

struct bt_http_client;
struct bt_http_transfer;

/** PEM texts, zero-terminated where they are; borrowed for the call. */
struct bt_http_client_tls {
	bool insecure;             /* the server is not verified at all */
	struct bt_str ca;          /* the only roots; data NULL: those of the system */
	struct bt_str certificate; /* data NULL: none. May carry intermediates. */
	struct bt_str key;
	struct bt_str
		server_name; /* SNI and name to verify instead of the URL's; data NULL: that */
};

struct bt_http_client_options {
	struct bt_http_client_tls tls;
	/** NULL: HTTPS_PROXY, HTTP_PROXY, NO_PROXY of the environment (spec 13 section 4.6). */
	const char *proxy_url;
	uint32_t connections_max; /* 0: no limit. Further transfers wait. */
	uint32_t idle_connections_max;
	int64_t connect_timeout_ns; /* TCP, and TLS handshake */
	bool follow_redirects;      /* as a browser would: 301, 302, 303 of a POST become GET */
};

/** Spec 13 section 7.1: 30 s to connect, 25 idle connections. */
#define BT_HTTP_CLIENT_OPTIONS_INIT \
	{ \
		.idle_connections_max = 25, .connect_timeout_ns = INT64_C(30000000000) \
	}

/** How a transfer ended when there is no complete response. */
enum bt_http_failure {
	BT_HTTP_FAILURE_NONE,
	BT_HTTP_FAILURE_REFUSED, /* connection refused */
	BT_HTTP_FAILURE_RESOLVE,
	BT_HTTP_FAILURE_TLS,
	BT_HTTP_FAILURE_TIMEOUT,
	BT_HTTP_FAILURE_RESET, /* connection reset, end of file, closed: before or within the answer
	                        */
	BT_HTTP_FAILURE_OTHER,
};

struct bt_http_outcome {
	enum bt_http_failure failure;
	bool answered;      /* the status line and headers had come */
	bool sent;          /* something of the request may have reached the server */
	uint16_t code;      /* with answered */
	int64_t latency_ns; /* with answered: from the request's first byte to the answer's */
	struct bt_str body; /* what was not given to `data`; empty with it */
	/** For people, as upstream's HTTP library words it where it can: "dial tcp 127.0.0.1:1:
	 * connect: connection refused", "EOF", "x509: certificate signed by unknown authority",
	 * "context deadline exceeded ...". What upstream puts before it (`Get "https://...": `) is
	 * the caller's. "" without failure. */
	const char *message;
};

struct bt_http_header {
	const char *name;
	struct bt_str value;
};

struct bt_http_client_handler {
	void *context;
	/** Status and headers have come (bt_http_transfer_header). May be NULL. */
	void (*head)(void *context, struct bt_http_transfer *transfer, uint16_t code);
	/** Bytes of the body as they come, decoded of chunks. NULL: collected for the outcome. */
	void (*data)(void *context, struct bt_http_transfer *transfer, struct bt_str bytes);
	/** The end; exactly once, unless cancelled. The transfer is freed after it. */
	void (*done)(void *context, struct bt_http_transfer *transfer,
		const struct bt_http_outcome *outcome);
};

/** Everything is copied. */
struct bt_http_client_request {
	const char *method; /* "GET" */
	const char *url;
	const struct bt_http_header *headers;
	uint32_t header_count;
	struct bt_str body; /* data NULL: none */
	int64_t timeout_ns; /* for the whole exchange; 0: none */
	/**
	 * A server that says nothing for this long is given up: before its headers have come, and
	 * within its body. Counted from when the transfer has its turn. 0: for ever.
	 */
	int64_t head_silence_ns;
	int64_t body_silence_ns;
	/** Collected bodies larger than this end the transfer as BT_HTTP_FAILURE_OTHER; 0: none. */
	uint64_t body_bytes_max;
	struct bt_http_client_handler handler;
};

/** BERTH_ERR_INVALID: a certificate or key is unusable, CA together with insecure, a bad proxy. */
BT_MUST_USE int bt_http_client_create(struct bt_loop *loop,
	const struct bt_http_client_options *options, struct bt_http_client **out_client,
	struct berth_error *err);
/** Transfers under way are cancelled. NULL accepted. */
void bt_http_client_destroy(struct bt_http_client *client);
/**
 * New connections use this from now on, idle ones are closed. cut: running transfers fail with
 * BT_HTTP_FAILURE_RESET as well.
 */
BT_MUST_USE int bt_http_client_set_tls(struct bt_http_client *client,
	const struct bt_http_client_tls *tls, bool cut, struct berth_error *err);

/** From now on; 0: no limit. What is under way goes on. As many idle ones may stay open. */
void bt_http_client_set_connections_max(struct bt_http_client *client, uint32_t connections_max);

/** Never fails at once: a bad URL is an outcome too. */
BT_MUST_USE struct bt_http_transfer *bt_http_client_start(
	struct bt_http_client *client, const struct bt_http_client_request *request);
/** No callback comes any more. */
void bt_http_transfer_cancel(struct bt_http_transfer *transfer);
/** First value of a response header, names without case; data NULL: none. Borrowed until done. */
struct bt_str bt_http_transfer_header(const struct bt_http_transfer *transfer, const char *name);
void bt_http_transfer_each_header(const struct bt_http_transfer *transfer, const char *name,
	void (*take)(void *context, struct bt_str value), void *context);
#endif

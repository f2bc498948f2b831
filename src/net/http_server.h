/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_SERVER_H
#define BT_NET_HTTP_SERVER_H
/**
 * An HTTP/1.1 server on an event loop, with TLS or without. Requests come complete, body included;
 * answers may be given at once or later, as a whole or as a stream that is read when the client
 * takes more. Nothing is buffered without bound: a body has a limit, a stream is asked only for
 * what fits. Knows nothing of Kubernetes. Stands on libmicrohttpd and GnuTLS.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "net/loop.h"

struct bt_http_server;
/** One request and its answer. Lives until `closed` was called. */
struct bt_http_exchange;

struct bt_http_limits {
	uint32_t body_bytes_max;          /* larger: 413 through the handler's too_large */
	uint32_t header_bytes_max;        /* of one request; larger: 431 */
	uint32_t connections_max;         /* further ones wait, or are closed */
	uint32_t connections_per_ip_max;  /* 0: no limit of its own */
	uint32_t idle_timeout_seconds;    /* between requests, and while one arrives */
	uint32_t stalled_timeout_seconds; /* a client that takes nothing of its answer */
};

/** Sensible values for a server of one machine. */
extern const struct bt_http_limits bt_http_default_limits;

struct bt_http_handler {
	void *context;
	/** A request is complete. Answer now or later, with exactly one bt_http_answer*. */
	void (*request)(void *context, struct bt_http_exchange *exchange);
	/** The body is larger than the limit: answer at once (the connection is then closed). */
	void (*too_large)(void *context, struct bt_http_exchange *exchange);
	/** The exchange ends, answered or not (the client may have left). */
	void (*closed)(void *context, struct bt_http_exchange *exchange);
};

struct bt_http_server_options {
	const char *address;         /* "127.0.0.1", "::1", "0.0.0.0" */
	uint16_t port;               /* 0: any free one */
	const char *certificate_pem; /* NULL: plain HTTP. With the chain. */
	const char *key_pem;
	struct bt_http_limits limits;
	struct bt_http_handler handler;
};

BT_MUST_USE int bt_http_server_create(struct bt_loop *loop,
	const struct bt_http_server_options *options, struct bt_http_server **out_server,
	struct berth_error *err);
/** Ends all exchanges. */
void bt_http_server_destroy(struct bt_http_server *server);
uint16_t bt_http_server_port(const struct bt_http_server *server);

/** --- the request; texts are borrowed while the exchange lives --- */

struct bt_str bt_http_method(const struct bt_http_exchange *exchange);
/** As sent, percent-encoded, without the query. */
struct bt_str bt_http_path(const struct bt_http_exchange *exchange);
/** Behind '?', as sent; "" without. */
struct bt_str bt_http_query(const struct bt_http_exchange *exchange);
/** First value; names compare without case. Absent (data NULL) when there is none. */
struct bt_str bt_http_header(const struct bt_http_exchange *exchange, const char *name);
void bt_http_each_header(const struct bt_http_exchange *exchange, const char *name,
	void (*take)(void *context, struct bt_str value), void *context);
struct bt_str bt_http_body(const struct bt_http_exchange *exchange);
/** The handler's own pointer. */
void bt_http_set_data(struct bt_http_exchange *exchange, void *data);
void *bt_http_data(const struct bt_http_exchange *exchange);

/** --- the answer --- */

/** Headers are added before the answer; values are copied. Date and lengths come by themselves. */
void bt_http_add_header(struct bt_http_exchange *exchange, const char *name, struct bt_str value);
/** The buffer's memory is consumed (left empty). */
void bt_http_answer(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body);

enum {
	BT_HTTP_STREAM_WAIT = 0, /* nothing now: bt_http_stream_wake will tell */
	BT_HTTP_STREAM_END = -1,
	BT_HTTP_STREAM_ABORT = -2, /* cut the connection, so that the client notices */
};

struct bt_http_stream {
	void *context;
	/** Fill up to capacity bytes (at least 4096): their number, or a BT_HTTP_STREAM_*. */
	int64_t (*read)(void *context, char *buffer, size_t capacity);
	/** The stream is over, read to its end or not. */
	void (*finish)(void *context);
};

/** Chunked; headers leave at once. */
void bt_http_answer_stream(
	struct bt_http_exchange *exchange, uint16_t code, const struct bt_http_stream *stream);
/** A stream that waits may have more. Harmless when it does not wait. */
void bt_http_stream_wake(struct bt_http_exchange *exchange);

/** --- helpers --- */

/**
 * Percent-decode into out; false: a broken escape, or a zero byte. plus_is_blank for queries.
 */
BT_MUST_USE bool bt_http_percent_decode(
	struct bt_str text, bool plus_is_blank, struct bt_strbuf *out);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_SERVER_PRIVATE_H
#define BT_NET_HTTP_SERVER_PRIVATE_H
/**
 * Shared by the files of the HTTP server: http_server.c (the daemon of libmicrohttpd),
 * http_exchange.c (requests, answers and streams), http_websocket.c, http_tls.c (certificates),
 * http_listen.c.
 */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <sys/types.h>

#include "net/http_server.h"

/**
 * A client's connection. The connection is in the list `arriving` while the server waits for a
 * complete request, or for the client's close frame of a WebSocket.
 */
struct bt_http_connection {
	struct MHD_Connection *handle;
	struct bt_http_tls_set *tls_set;   /* certificates of the connection; NULL: no TLS */
	struct bt_http_exchange *exchange; /* the current request; NULL between requests */
	int64_t since_ns;                  /* start of waiting for a complete request */
	bool arriving;
	bool has_request;                    /* a request was received */
	bool long_timeout;                   /* the timeout is stalled_timeout_seconds now */
	struct bt_http_connection *previous; /* in the list `arriving`, oldest first */
	struct bt_http_connection *next;
};

struct bt_http_exchange {
	struct bt_http_server *server;
	struct bt_http_connection *connection;
	struct MHD_Connection *handle;
	struct bt_strbuf target; /* as sent; path and query point into it */
	struct bt_str path;
	struct bt_str query;
	struct bt_str method;
	struct bt_strbuf body;
	uint64_t body_bytes; /* received, including dropped bytes */
	void *data;

	bool begun;           /* headers are complete */
	bool handed;          /* the handler has the request and needs `closed` */
	bool answered;        /* a response is set or queued */
	bool suspended;       /* suspended in libmicrohttpd until resumed */
	bool refused;         /* answered before the body was read */
	bool is_disconnected; /* the client disconnected while a stream waited */
	bool streaming;
	bool may_cork; /* TLS, and the connection stays open after the answer */
	bool is_short; /* the answer's body is at most SHORT_ANSWER_BYTES */
	bool corked;   /* GnuTLS collects head and body in one record */

	struct bt_strbuf headers; /* name, zero, value, zero, ... */
	uint16_t code;
	struct MHD_Response *response; /* not queued yet; owned */
	struct bt_http_stream stream;
	struct bt_loop_source *hangup;
	struct bt_http_websocket *websocket; /* set while the WebSocket is open */
	bool ends_websocket;                 /* bt_http_websocket_end was called */

	struct bt_http_exchange *previous; /* in bt_http_server.live */
	struct bt_http_exchange *next;
};

/** A certificate with its key and SNI names. */
struct bt_http_tls_pair {
	gnutls_certificate_credentials_t credentials;
	gnutls_x509_crt_t leaf;
	struct bt_strbuf names; /* zero-terminated patterns; empty: the leaf's names */
};

/**
 * Certificates of connections; the first pair is the default for names that match no other pair.
 */
struct bt_http_tls_set {
	struct bt_http_tls_pair *pairs;
	uint32_t pair_count;
	uint32_t connection_count;    /* open connections that use this set */
	struct bt_http_tls_set *next; /* the next older set */
};

struct bt_http_server {
	struct bt_loop *loop;
	struct bt_loop_source *source;
	struct MHD_Daemon *daemon;
	struct bt_http_limits limits;
	struct bt_http_handler handler;
	uint16_t port;
	uint32_t connection_count;
	bool ready;                /* libmicrohttpd's descriptor is readable */
	bool progress;             /* libmicrohttpd's last run called one of our callbacks */
	uint32_t idle_runs;        /* consecutive runs without events and without progress */
	int64_t run_at_ns;         /* latest time of the next run */
	uint32_t active_count;     /* exchanges that are not suspended */
	bool resumed;              /* run libmicrohttpd even if its descriptor is not ready */
	bool makes_room;           /* an idle connection was cut for another client */
	gnutls_datum_t ticket_key; /* owned; empty without TLS */
	struct bt_http_tls_set *tls_sets; /* the current set first; NULL without TLS */
	bool requests_certificate;
	bool is_serving;
	bool is_stopping;     /* does not accept connections any more */
	struct bt_strbuf log; /* libmicrohttpd's error message during start */
	struct bt_http_connection *arriving_first;
	struct bt_http_connection *arriving_last;
	uint32_t ending_count; /* exchanges with ends_websocket */
	uint64_t large_bytes;  /* what counts towards limits.large_bodies_bytes_max */
	struct bt_http_exchange *live;
};

/** Creates an exchange for the request with this target. */
struct bt_http_exchange *bt_http_exchange_begin(
	struct bt_http_server *server, struct MHD_Connection *handle, const char *target);
/** Calls `finish` of the stream and `closed` of the handler, and frees the exchange. */
void bt_http_exchange_end(struct bt_http_exchange *exchange);
/** Adds received body bytes. false: the connection must be cut. */
bool bt_http_exchange_take(struct bt_http_exchange *exchange, const char *data, size_t length);
/** Queues exchange->response in libmicrohttpd; call it within a callback of libmicrohttpd. */
enum MHD_Result bt_http_answer_queue(struct bt_http_exchange *exchange);
struct MHD_Response *bt_http_empty_response(void);
/**
 * Answers with a response, which is consumed, and the headers added so far. is_long: the timeout
 * while the client reads nothing is stalled_timeout_seconds, not idle_timeout_seconds.
 */
void bt_http_answer_response(struct bt_http_exchange *exchange, uint16_t code,
	struct MHD_Response *response, bool is_long);
/** Sends more of the stream over the WebSocket. */
void bt_http_websocket_resume(struct bt_http_websocket *websocket);
/** Closes the connection; the exchange ends in libmicrohttpd's next run. */
void bt_http_websocket_end(struct bt_http_websocket *websocket);
/**
 * Starts the deadline for a complete request (or for the client's close frame of a WebSocket): the
 * connection is cut after ARRIVAL_TIMEOUTS idle timeouts.
 */
void bt_http_server_await(struct bt_http_server *server, struct bt_http_connection *connection);
/** Suspends the exchange in libmicrohttpd; call it within a callback of libmicrohttpd. */
void bt_http_exchange_suspend(struct bt_http_exchange *exchange);
/** Resumes a suspended exchange in libmicrohttpd. */
void bt_http_exchange_resume(struct bt_http_exchange *exchange);

/** Socket of the connection; -1: unknown. */
int bt_http_socket_of(struct MHD_Connection *handle);

BT_MUST_USE int bt_http_tls_set_create(const struct bt_http_certificates *certificates,
	const char *client_ca_pem, struct bt_http_tls_set **out_set, struct berth_error *err);
/** Frees the set, which no session may use any more. NULL accepted. */
void bt_http_tls_set_free(struct bt_http_tls_set *set);
/** Prepares the TLS session of a new connection, before its handshake. */
void bt_http_tls_begin(struct bt_http_server *server, struct bt_http_connection *connection);

/**
 * libmicrohttpd sends head and body separately, which with TLS takes two records, system calls and
 * packets. Between cork and uncork GnuTLS collects head and body in one record.
 */
void bt_http_tls_cork(struct bt_http_exchange *exchange);
void bt_http_tls_uncork(struct bt_http_exchange *exchange);

/** Creates a listening socket for the options. *out_port: its port; 0 if the port is unknown. */
BT_MUST_USE int bt_http_listen(const struct bt_http_server_options *options, int *out_fd,
	uint16_t *out_port, struct berth_error *err);
#endif

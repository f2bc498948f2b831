/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_SERVER_PRIVATE_H
#define BT_NET_HTTP_SERVER_PRIVATE_H
/**
 * Parts of the HTTP server shared by its files: http_server.c (the daemon), http_exchange.c
 * (requests, answers and streams), http_websocket.c, http_tls.c (certificates), http_listen.c.
 */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <microhttpd.h>
#include <sys/types.h>

#include "net/http_server.h"

/** A client's connection; in the list `arriving` while no request of it is with the handler. */
struct bt_http_connection {
	struct MHD_Connection *handle;
	struct bt_http_tls_set *tls_set;   /* what it was shown; NULL: no TLS */
	struct bt_http_exchange *exchange; /* its request's, until that is completed */
	int64_t since_ns;                  /* waits for a complete request since then */
	bool arriving;
	bool asked;                          /* it had a request */
	bool long_timeout;                   /* stalled_timeout_seconds is set for it */
	struct bt_http_connection *previous; /* oldest first */
	struct bt_http_connection *next;
};

struct bt_http_exchange {
	struct bt_http_server *server;
	struct bt_http_connection *connection;
	struct MHD_Connection *handle;
	struct bt_strbuf target; /* as sent; path and query lie in it */
	struct bt_str path;
	struct bt_str query;
	struct bt_str method;
	struct bt_strbuf body;
	uint64_t body_bytes; /* received, dropped ones included */
	void *data;

	bool begun;     /* headers are complete */
	bool handed;    /* the handler has it, and will be told of the end */
	bool answered;  /* response is set, or was */
	bool suspended; /* taken out of libmicrohttpd's turns until resumed */
	bool refused;   /* answered before the body was read */
	bool gone;      /* the client hung up while a stream waited */
	bool streaming;
	bool may_cork; /* TLS, and the connection stays open behind the answer */
	bool is_short; /* the answer's body is at most SHORT_ANSWER_BYTES */
	bool corked;   /* GnuTLS collects head and body of the answer */

	struct bt_strbuf headers; /* name, zero, value, zero, ... */
	uint16_t code;
	struct MHD_Response *response; /* not queued yet; owned */
	struct bt_http_stream stream;
	struct bt_loop_source *hangup;
	struct bt_http_websocket *websocket; /* while it is open */
	bool ends_websocket;                 /* closed, but not by libmicrohttpd yet */

	struct bt_http_exchange *previous; /* bt_http_server.live */
	struct bt_http_exchange *next;     /* the same, or .spare */
};

/** A certificate, its key, and who is to see it. */
struct bt_http_tls_pair {
	gnutls_certificate_credentials_t credentials;
	gnutls_x509_crt_t leaf;
	struct bt_strbuf names; /* patterns, each with a zero behind it; empty: those of the leaf */
};

/** What connections are shown; the first pair is for all that no other one is for. */
struct bt_http_tls_set {
	struct bt_http_tls_pair *pairs;
	uint32_t pair_count;
	uint32_t connection_count;    /* that began with it and are not over */
	struct bt_http_tls_set *next; /* older */
};

struct bt_http_server {
	struct bt_loop *loop;
	struct bt_loop_source *source;
	struct MHD_Daemon *daemon;
	struct bt_http_limits limits;
	struct bt_http_handler handler;
	uint16_t port;
	uint32_t connection_count;
	bool ready;                /* libmicrohttpd's descriptor has something */
	bool progress;             /* its last run called something of ours */
	uint32_t idle_runs;        /* in a row, without an event and without progress */
	int64_t run_at_ns;         /* at the latest */
	uint32_t active_count;     /* exchanges that are not suspended */
	bool resumed;              /* it must run again, though its descriptor does not say so */
	gnutls_datum_t ticket_key; /* owned; empty without TLS */
	struct bt_http_tls_set *tls_sets; /* the current one first; NULL without TLS */
	bool asks_certificate;
	bool is_serving;
	bool is_stopping;     /* it listens no more */
	struct bt_strbuf log; /* what libmicrohttpd complains about while it starts */
	struct bt_http_connection *arriving_first;
	struct bt_http_connection *arriving_last;
	uint32_t ending_count; /* exchanges with ends_websocket */
	struct bt_http_exchange *live;
	struct bt_http_exchange *spare;
	uint32_t spare_count;
};

/** An exchange for the request whose target was just read. */
struct bt_http_exchange *bt_http_exchange_begin(
	struct bt_http_server *server, struct MHD_Connection *handle, const char *target);
/** Tells stream and handler, and keeps the memory for the next one. */
void bt_http_exchange_end(struct bt_http_exchange *exchange);
void bt_http_exchange_free(struct bt_http_exchange *exchange);
/** Body bytes that came. false: the connection must be cut. */
bool bt_http_exchange_take(struct bt_http_exchange *exchange, const char *data, size_t length);
/** Hand a response that is ready to libmicrohttpd, from within its callback. */
enum MHD_Result bt_http_answer_queue(struct bt_http_exchange *exchange);
struct MHD_Response *bt_http_empty_response(void);
/** Answer with a response, which is consumed, and the headers added so far. is_long: the client may
 * stall for stalled_timeout_seconds. */
void bt_http_answer_response(struct bt_http_exchange *exchange, uint16_t code,
	struct MHD_Response *response, bool is_long);
/** The stream has more. */
void bt_http_websocket_wake(struct bt_http_websocket *websocket);
/** Closes the connection; the exchange ends in libmicrohttpd's next run. */
void bt_http_websocket_end(struct bt_http_websocket *websocket);
/** The connection is cut unless it ends within the time that a request may take to arrive. */
void bt_http_server_await(struct bt_http_server *server, struct bt_http_connection *connection);
/** Take an exchange out of libmicrohttpd's turns, from within its callback. */
void bt_http_exchange_suspend(struct bt_http_exchange *exchange);
/** Let libmicrohttpd go on with a suspended exchange. */
void bt_http_exchange_resume(struct bt_http_exchange *exchange);

/** -1: it has none. */
int bt_http_socket_of(struct MHD_Connection *handle);

BT_MUST_USE int bt_http_tls_set_create(const struct bt_http_certificates *certificates,
	const char *client_ca_pem, struct bt_http_tls_set **out_set, struct berth_error *err);
/** NULL accepted. No session uses it any more. */
void bt_http_tls_set_free(struct bt_http_tls_set *set);
/** Before the handshake of a new connection. */
void bt_http_tls_begin(struct bt_http_server *server, struct bt_http_connection *connection);

/**
 * libmicrohttpd sends head and body of an answer apart: under TLS each is a record, a system call
 * and a packet of its own. Between these two calls GnuTLS makes one of them.
 */
void bt_http_tls_cork(struct bt_http_exchange *exchange);
void bt_http_tls_uncork(struct bt_http_exchange *exchange);

/** A socket that listens as the options say. */
BT_MUST_USE int bt_http_listen(
	const struct bt_http_server_options *options, int *out_fd, struct berth_error *err);
/** 0 when it has none. */
uint16_t bt_http_port_of(int fd);
/** The address of the other end; nothing when it is gone. */
void bt_http_append_peer(int fd, struct bt_strbuf *out);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_CLIENT_PRIVATE_H
#define BT_NET_HTTP_CLIENT_PRIVATE_H
/**
 * Shared by the files of the HTTP client: http_client.c (life cycle of transfers),
 * http_connection.c (sockets, requests and answers), http_tunnel.c (CONNECT and SOCKS handshakes
 * with proxies), http_trust.c (TLS credentials, sessions and their errors).
 */
#include <gnutls/gnutls.h>
#include <sys/types.h>

#include "net/http_answer.h"
#include "net/http_client.h"
#include "net/http_lookup.h"
#include "net/http_proxy.h"

/** TLS credentials, shared by the connections that were created with them. */
struct bt_http_trust {
	uint32_t holders; /* references: each connection, and bt_http_client.trust */
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	bool is_insecure;
	bool needs_system_roots; /* the system's roots are loaded before the first handshake */
	char *server_name;       /* NULL: the host */
	BT_VEC(struct bt_http_ticket) tickets;
};

/** Session data that shortens the next handshake with the same host. */
struct bt_http_ticket {
	char *host; /* "host:port" */
	gnutls_datum_t session;
	int64_t kept_ns; /* when the server's certificate was verified */
};

enum bt_http_phase {
	BT_HTTP_RESOLVING,
	BT_HTTP_DIALING,
	BT_HTTP_PROXY_HANDSHAKE,
	BT_HTTP_TUNNEL,
	BT_HTTP_HANDSHAKE,
	BT_HTTP_OPEN,
	BT_HTTP_CLOSED, /* freed after the event that is being processed */
};

/** Bytes of one socket read, from which TLS takes its records. */
struct bt_http_intake {
	const char *data;
	size_t length;
	bool is_end;
	int error; /* errno; 0: no error */
};

/** State while a proxy tunnel is set up. */
struct bt_http_tunnel {
	uint32_t step;        /* step of the SOCKS handshake */
	struct bt_strbuf out; /* not written yet */
	struct bt_strbuf in;  /* not parsed yet */
	struct bt_http_answer answer;
};

struct bt_http_client_connection {
	struct bt_http_client *client;
	struct bt_http_trust *trust;
	struct bt_http_transfer *transfer;          /* NULL: idle */
	struct bt_http_client_connection *previous; /* in the list bt_http_client.idle */
	struct bt_http_client_connection *next;
	enum bt_http_phase phase;
	int fd; /* -1: not open */
	struct bt_loop_source *source;
	uint32_t directions; /* watched BT_LOOP_* directions */

	bool is_https;
	uint16_t port;
	struct bt_strbuf host;
	const struct bt_http_proxy
		*proxy;               /* borrowed from bt_http_client.proxies; NULL: no proxy */
	gnutls_session_t sessions[2]; /* 0: with an https proxy; 1: with the server; NULL: no TLS */
	struct bt_http_intake *intake; /* set while received bytes are processed */
	struct bt_http_addresses addresses;
	uint32_t address_at;
	struct bt_http_tunnel *tunnel; /* set while the tunnel is set up */

	int64_t due_ns;         /* when the connect timeout ends; INT64_MAX once connected */
	int64_t attempt_due_ns; /* timeout of the attempt with the current address */
	int64_t idle_since_ns;
	int64_t verified_ns;    /* when the server's certificate was verified */
	bool was_without_body;  /* the last answer had no body, so no bytes may follow */
	bool is_event;          /* an event is being processed: do not free */
	bool is_kept;           /* the connection has carried an answer before this transfer */
	int dial_error;         /* errno of the first failed attempt to connect; 0: no failure */
	uint32_t dial_error_at; /* index of that attempt's address */
	int write_error;   /* errno; reported late, because the server may have answered already */
	int tls_error;     /* the last fatal code of GnuTLS */
	bool is_truncated; /* end of file without TLS close_notify */
	bool speaks_http;  /* the server answered in plain HTTP instead of TLS */
};

struct bt_http_list {
	struct bt_http_transfer *first;
	struct bt_http_transfer *last;
};

struct bt_http_transfer {
	struct bt_http_client *client;
	struct bt_http_client_connection *connection; /* while running */
	struct bt_http_list *list; /* queue, running or ended; NULL: `done` is being called */
	struct bt_http_transfer *previous;
	struct bt_http_transfer *next;

	struct bt_http_client_handler handler;
	struct bt_strbuf url_text;
	struct bt_http_url url;            /* parts of url_text */
	const struct bt_http_proxy *proxy; /* NULL: no proxy */
	struct bt_strbuf out;              /* the request, head and body */
	uint32_t method_bytes;
	uint32_t headers_at; /* start of the caller's headers in out */
	uint32_t body_at;
	size_t out_at;           /* bytes written on this connection */
	int64_t deadline_ns;     /* INT64_MAX: no deadline */
	int64_t head_silence_ns; /* 0: unlimited */
	int64_t body_silence_ns;
	int64_t last_data_ns; /* time of the last byte from the server; before the first byte, the
	                         time when the transfer left the queue */
	int64_t sent_ns;
	int64_t answered_ns;
	uint64_t body_bytes_max;

	bool has_body;
	bool is_repeatable; /* idempotent method: safe to send twice */
	bool is_sent;
	bool is_answered;
	bool is_redirect; /* the answer being received is a redirect to follow */
	uint32_t redirects;
	struct bt_http_answer answer;
	struct bt_strbuf body; /* of the answer */
	enum bt_http_failure failure;
	struct bt_strbuf message;
};

struct bt_http_client {
	struct bt_loop *loop;
	struct bt_http_trust *trust; /* for new connections */
	struct bt_http_proxies proxies;
	uint32_t connections_max;
	uint32_t idle_connections_max;
	int64_t connect_timeout_ns;
	bool follow_redirects;
	struct bt_http_list queue;
	struct bt_http_list running;
	struct bt_http_list ended; /* `done` is not called yet */
	uint32_t running_count;
	int64_t due_ns;                         /* when to check timeouts next */
	struct bt_http_client_connection *idle; /* most recently used first */
	uint32_t idle_count;
	BT_VEC(struct bt_http_lookup *) lookups;
};

/** Ends a transfer: moves it to `ended`. Does not touch its connection. */
BT_PRINTF(3, 4)
void bt_http_transfer_fail(
	struct bt_http_transfer *transfer, enum bt_http_failure failure, const char *format, ...);
/** Ends the transfer with its complete answer. */
void bt_http_transfer_complete(struct bt_http_transfer *transfer);
/** Puts the transfer at the front of the queue, to be sent on another connection. */
void bt_http_transfer_requeue(struct bt_http_transfer *transfer);
/** Calls `done` of all ended transfers. */
void bt_http_client_deliver(struct bt_http_client *client);
/** Makes the loop check timeouts at this time. */
void bt_http_client_schedule_check(struct bt_http_client *client, int64_t due_ns);

/** Gives the transfer an idle or a new connection. The transfer may fail at once. */
void bt_http_connection_run(struct bt_http_transfer *transfer);
/** Closes the connection; its transfer, if any, must have ended. */
void bt_http_connection_close(struct bt_http_client_connection *connection);
/** Closes idle connections, the longest idle first, until `keep` are left. */
void bt_http_connection_close_idle(struct bt_http_client *client, uint32_t keep);
/** Closes connections that were idle too long, and schedules the next check. */
void bt_http_connection_expire_idle(struct bt_http_client *client, int64_t now_ns);
/**
 * Fails the connection's transfer if the connect timeout has passed; tries the next address if the
 * current attempt takes too long; otherwise schedules the next check.
 */
void bt_http_connection_check_due(struct bt_http_client_connection *connection, int64_t now_ns);
/**
 * Returns the number of bytes sent, or -1 with errno. Any errno except EAGAIN: the connection is
 * broken.
 */
ssize_t bt_http_connection_send(
	struct bt_http_client_connection *connection, const void *data, size_t length);
/** Receives bytes. Returns their number, 0 at the end of the data, or -1 with errno. */
ssize_t bt_http_connection_receive(
	struct bt_http_client_connection *connection, void *data, size_t capacity);
/**
 * Handles the end of a connection: closes it, and retries its transfer or fails the transfer with a
 * text for the cause. Call it right after the send or receive that failed: errno is read.
 */
void bt_http_connection_handle_loss(struct bt_http_client_connection *connection);

/** Prepares the first message of the CONNECT or SOCKS handshake. */
void bt_http_tunnel_start(struct bt_http_client_connection *connection);
/**
 * Writes and reads as much as possible. true: the tunnel is established; false: more bytes are
 * needed, or the connection is closed.
 */
bool bt_http_tunnel_advance(struct bt_http_client_connection *connection);
void bt_http_tunnel_free(struct bt_http_client_connection *connection);

BT_MUST_USE int bt_http_trust_create(const struct bt_http_client_tls *tls,
	struct bt_http_trust **out_trust, struct berth_error *err);
void bt_http_trust_release(struct bt_http_trust *trust);
/** Starts a TLS session on the connection; level: index in `sessions`. false: out of memory. */
BT_MUST_USE bool bt_http_trust_begin(struct bt_http_client_connection *connection, uint32_t level);
/**
 * Continues the handshake. Returns 1 if the handshake is complete and the server's certificate is
 * verified, 0 if more bytes are needed, -1 if the handshake failed; the connection is then closed.
 */
int bt_http_trust_handshake(struct bt_http_client_connection *connection, uint32_t level);
/** Saves session data for a resumption, before the connection is closed. */
void bt_http_trust_keep_ticket(struct bt_http_client_connection *connection);
#endif

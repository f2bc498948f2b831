/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_HTTP_CLIENT_PRIVATE_H
#define BT_NET_HTTP_CLIENT_PRIVATE_H
/**
 * Parts of the HTTP client shared by its files: http_client.c (transfers from start to end),
 * http_connection.c (sockets, TLS, requests and answers on them), http_tunnel.c (what is said to a
 * proxy before the request), http_trust.c (TLS material, sessions and their failures).
 */
#include <gnutls/gnutls.h>
#include <sys/types.h>

#include "net/http_answer.h"
#include "net/http_client.h"
#include "net/http_lookup.h"
#include "net/http_proxy.h"

/** TLS material, shared by the connections that were made with it. */
struct bt_http_trust {
	uint32_t holders; /* connections, and the client whose current one it is */
	gnutls_certificate_credentials_t credentials;
	gnutls_priority_t priorities;
	bool is_insecure;
	bool needs_system_roots; /* not loaded yet: read before the first handshake */
	char *server_name;       /* NULL: the host */
	BT_VEC(struct bt_http_ticket) tickets;
};

/** For the next handshake with the same host. */
struct bt_http_ticket {
	char *host; /* "host:port" */
	gnutls_datum_t session;
	int64_t kept_ns;
};

enum bt_http_phase {
	BT_HTTP_RESOLVING,
	BT_HTTP_DIALING,
	BT_HTTP_PROXY_HANDSHAKE,
	BT_HTTP_TUNNEL,
	BT_HTTP_HANDSHAKE,
	BT_HTTP_OPEN,
	BT_HTTP_CLOSED, /* freed at the end of its event */
};

/** One read of a socket: TLS takes its records from here. */
struct bt_http_intake {
	const char *data;
	size_t length;
	bool is_end;
	int error; /* errno; 0: none */
};

/** A tunnel that is being made. */
struct bt_http_tunnel {
	uint32_t step;        /* of SOCKS */
	struct bt_strbuf out; /* not written yet */
	struct bt_strbuf in;  /* not understood yet */
	struct bt_http_answer answer;
};

struct bt_http_client_connection {
	struct bt_http_client *client;
	struct bt_http_trust *trust;
	struct bt_http_transfer *transfer;          /* NULL: idle */
	struct bt_http_client_connection *previous; /* bt_http_client.idle */
	struct bt_http_client_connection *next;
	enum bt_http_phase phase;
	int fd; /* -1: none */
	struct bt_loop_source *source;
	uint32_t directions; /* watched */

	bool is_https;
	uint16_t port;
	struct bt_strbuf host;
	const char *proxy;             /* of bt_http_client.proxies; NULL: none */
	struct bt_http_url proxy_url;  /* parts of proxy */
	gnutls_session_t sessions[2];  /* with an https proxy; with the server. NULL: none */
	struct bt_http_intake *intake; /* while readable bytes are processed */
	struct bt_http_addresses addresses;
	uint32_t address_at;
	struct bt_http_tunnel *tunnel; /* NULL: none is being made */

	int64_t due_ns;         /* while it is made: a connect timeout */
	int64_t attempt_due_ns; /* while one of several addresses is dialed */
	int64_t idle_since_ns;
	int64_t verified_ns;   /* when the server's certificate was verified */
	bool was_without_body; /* the last answer: bytes that follow it would be the next one's */
	bool is_event;  /* an event of it is processed: it is not freed */
	bool is_kept;   /* it carried an answer before this transfer */
	int dial_error; /* errno of the first address */
	uint32_t dial_error_at;
	int write_error;   /* errno; the answer may have come nevertheless */
	int tls_error;     /* the last fatal code of GnuTLS */
	bool is_truncated; /* it ended without TLS's end */
	bool speaks_http;  /* instead of TLS */
};

struct bt_http_list {
	struct bt_http_transfer *first;
	struct bt_http_transfer *last;
};

struct bt_http_transfer {
	struct bt_http_client *client;
	struct bt_http_client_connection *connection; /* while running */
	struct bt_http_list *list; /* queue, running or ended; NULL: within done */
	struct bt_http_transfer *previous;
	struct bt_http_transfer *next; /* also of bt_http_client.spare */

	struct bt_http_client_handler handler;
	struct bt_strbuf url_text;
	struct bt_http_url url; /* parts of url_text */
	const char *proxy;
	struct bt_strbuf out; /* the request, head and body */
	uint32_t method_bytes;
	uint32_t headers_at; /* of the caller, within out */
	uint32_t body_at;
	size_t out_at;           /* written on this connection */
	int64_t deadline_ns;     /* INT64_MAX: none */
	int64_t head_silence_ns; /* 0: none */
	int64_t body_silence_ns;
	int64_t heard_ns; /* from the server; at first: when it left the queue */
	int64_t sent_ns;
	int64_t answered_ns;
	uint64_t body_bytes_max;

	bool has_body;
	bool is_repeatable; /* has the same result when it is made twice */
	bool is_sent;
	bool is_answered;
	bool is_redirect; /* the answer that is coming will be followed */
	uint32_t redirects;
	struct bt_http_answer answer;
	struct bt_strbuf body; /* of the answer */
	enum bt_http_failure failure;
	struct bt_strbuf message;
};

struct bt_http_client {
	struct bt_loop *loop;
	struct bt_http_trust *trust; /* of new connections */
	struct bt_http_proxies proxies;
	uint32_t connections_max;
	uint32_t idle_connections_max;
	int64_t connect_timeout_ns;
	bool follow_redirects;
	struct bt_http_list queue;
	struct bt_http_list running;
	struct bt_http_list ended; /* done is still to be called */
	uint32_t running_count;
	int64_t due_ns;                         /* no timeout ends before */
	struct bt_http_client_connection *idle; /* the last used one first */
	uint32_t idle_count;
	BT_VEC(struct bt_http_lookup *) lookups;
	struct bt_http_transfer *spare;
	uint32_t spare_count;
};

/** Its end: moves it to `ended`. Its connection is not touched. */
BT_PRINTF(3, 4)
void bt_http_transfer_fail(
	struct bt_http_transfer *transfer, enum bt_http_failure failure, const char *format, ...);
/** The answer is complete. */
void bt_http_transfer_complete(struct bt_http_transfer *transfer);
/** Back to the front of the queue, for another connection. */
void bt_http_transfer_requeue(struct bt_http_transfer *transfer);
/** Calls the handlers' done. */
void bt_http_client_deliver(struct bt_http_client *client);
/** Look at the timeouts at this time. */
void bt_http_client_note_due(struct bt_http_client *client, int64_t due_ns);

/** Give the transfer an idle connection or a new one. It may fail at once. */
void bt_http_connection_run(struct bt_http_transfer *transfer);
/** Its transfer, if it has one, must have ended. */
void bt_http_connection_close(struct bt_http_client_connection *connection);
void bt_http_connection_close_idle(struct bt_http_client *client, uint32_t keep);
/** Closes what was idle for too long, and notes when to look again. */
void bt_http_connection_expire_idle(struct bt_http_client *client, int64_t now_ns);
/** Ends the connection's transfer as the connection's own timeout, if it is over. */
void bt_http_connection_check_due(struct bt_http_client_connection *connection, int64_t now_ns);
/** -1 with errno: EAGAIN, or it is broken. */
ssize_t bt_http_connection_send(
	struct bt_http_client_connection *connection, const void *data, size_t length);
/** As recv. */
ssize_t bt_http_connection_receive(
	struct bt_http_client_connection *connection, void *data, size_t capacity);
/** The connection is of no use: ends its transfer with a text for that. */
void bt_http_connection_lose(struct bt_http_client_connection *connection);

void bt_http_tunnel_start(struct bt_http_client_connection *connection);
/** Write and read what can be; true: the tunnel is there. It may close the connection. */
bool bt_http_tunnel_advance(struct bt_http_client_connection *connection);
void bt_http_tunnel_free(struct bt_http_client_connection *connection);

BT_MUST_USE int bt_http_trust_create(const struct bt_http_client_tls *tls,
	struct bt_http_trust **out_trust, struct berth_error *err);
void bt_http_trust_release(struct bt_http_trust *trust);
/** A session with the host that lies on the connection; level as in sessions. */
BT_MUST_USE bool bt_http_trust_begin(struct bt_http_client_connection *connection, uint32_t level);
/**
 * Go on with the handshake: 1 when it is complete and the server's certificate is good, 0 when
 * more bytes are needed; -1: it failed, and the connection is closed.
 */
int bt_http_trust_handshake(struct bt_http_client_connection *connection, uint32_t level);
/** Before a connection is closed: keep what makes the next handshake short. */
void bt_http_trust_keep_ticket(struct bt_http_client_connection *connection);
#endif

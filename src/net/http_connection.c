/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "net/http_client_private.h"

/* Bytes per socket read: two TLS records of maximum size. */
#define RAW_BYTES 32768
#define RECORD_BYTES 16384
/* A dead peer is detected after 45 s, as with upstream's HTTP/2 pings. */
#define KEEPALIVE_SECONDS 30
#define KEEPALIVE_AGAIN_SECONDS 15
#define UNACKNOWLEDGED_MS_MAX 45000
/*
 * Servers close idle connections after 90 s; close earlier, so that no request is written to a
 * connection that is being closed.
 */
#define IDLE_NS_MAX (80 * BT_NS_PER_SECOND)
/*
 * A connection that was idle for less time is used without a probe, because the event loop reports
 * when the server closes the connection.
 */
#define TRUSTED_IDLE_NS (BT_NS_PER_SECOND / 2)
/* Minimum time per address, when the connect timeout is divided among several addresses. */
#define ATTEMPT_NS_MIN (2 * BT_NS_PER_SECOND)

static void on_event(void *context, uint32_t directions);

static void watch(struct bt_http_client_connection *connection, uint32_t directions)
{
	if (connection->source == NULL) {
		/* if the watch fails (out of descriptors), the transfer ends by its timeout */
		(void)(bt_loop_watch_fd(connection->client->loop, connection->fd, directions,
			       on_event, connection, &connection->source, NULL) == 0);
	} else if (connection->directions != directions) {
		bt_loop_set_directions(connection->source, directions);
	}
	connection->directions = directions;
}

static void close_socket(struct bt_http_client_connection *connection)
{
	bt_loop_remove_fd(connection->client->loop, connection->source);
	connection->source = NULL;
	if (connection->fd >= 0) {
		(void)close(
			connection
				->fd); /* errors tell nothing: only an answer confirms a request */
		connection->fd = -1;
	}
}

static void unlink_idle(struct bt_http_client_connection *connection)
{
	struct bt_http_client *client = connection->client;
	BT_CHAIN_REMOVE(client->idle, connection, previous, next);
	client->idle_count--;
}

static void free_connection(struct bt_http_client_connection *connection)
{
	bt_http_tunnel_free(connection);
	bt_http_trust_release(connection->trust);
	bt_strbuf_finish(&connection->host);
	bt_vec_finish(&connection->addresses.list);
	bt_free(connection);
}

void bt_http_connection_close(struct bt_http_client_connection *connection)
{
	if (connection->phase == BT_HTTP_CLOSED) {
		return;
	}
	if (connection->transfer != NULL) {
		connection->transfer->connection = NULL;
		connection->transfer = NULL;
	} else {
		unlink_idle(connection);
	}
	if (connection->phase == BT_HTTP_OPEN) {
		bt_http_trust_keep_ticket(connection);
	}
	for (int level = 1; level >= 0; level--) {
		if (connection->sessions[level] == NULL) {
			continue;
		}
		if (connection->phase == BT_HTTP_OPEN && connection->tls_error == 0) {
			/* best effort: the connection is closed in any case */
			(void)gnutls_bye(connection->sessions[level], GNUTLS_SHUT_WR);
		}
		gnutls_deinit(connection->sessions[level]);
		connection->sessions[level] = NULL;
	}
	close_socket(connection);
	connection->phase = BT_HTTP_CLOSED;
	if (!connection->is_event) {
		free_connection(connection);
	}
}

void bt_http_connection_close_idle(struct bt_http_client *client, uint32_t keep)
{
	while (client->idle_count > keep) {
		struct bt_http_client_connection *oldest = client->idle;
		while (oldest->next != NULL) {
			oldest = oldest->next;
		}
		bt_http_connection_close(oldest);
	}
}

void bt_http_connection_expire_idle(struct bt_http_client *client, int64_t now_ns)
{
	struct bt_http_client_connection *next = NULL;
	for (struct bt_http_client_connection *connection = client->idle; connection != NULL;
		connection = next) {
		next = connection->next;
		if (connection->idle_since_ns + IDLE_NS_MAX <= now_ns) {
			bt_http_connection_close(connection);
		} else {
			bt_http_client_schedule_check(
				client, connection->idle_since_ns + IDLE_NS_MAX);
		}
	}
}

static struct bt_str peer_host(const struct bt_http_client_connection *connection)
{
	return connection->proxy != NULL ? connection->proxy->url.host
					 : bt_strbuf_str(&connection->host);
}

/*
 * Fails the transfer with "dial tcp ADDRESS: REASON", or with the host name if there is no address.
 */
static void fail_dial(struct bt_http_client_connection *connection, enum bt_http_failure failure,
	uint32_t address_at, const char *reason)
{
	struct bt_strbuf peer = {0};
	if (address_at < connection->addresses.list.count) {
		bt_http_address_append(&connection->addresses.list.items[address_at], &peer);
	} else {
		bt_strbuf_append_c(&peer, "lookup ");
		bt_strbuf_append_str(&peer, peer_host(connection));
	}
	bt_http_transfer_fail(connection->transfer, failure, "%sdial tcp%s %s: %s",
		connection->proxy != NULL ? "proxyconnect tcp: " : "",
		address_at < connection->addresses.list.count ? "" : ":", bt_strbuf_c(&peer),
		reason);
	bt_strbuf_finish(&peer);
	bt_http_connection_close(connection);
}

/*
 * Fails the transfer with "read tcp 10.0.0.1:40000->10.0.0.2:443: read: connection reset by peer";
 * what: "read" or "write".
 */
static void fail_broken(struct bt_http_client_connection *connection, const char *what, int code)
{
	struct bt_strbuf ends = {0};
	union bt_http_address local = {0};
	union bt_http_address remote = {0};
	socklen_t local_bytes = sizeof(local);
	socklen_t remote_bytes = sizeof(remote);
	if (getsockname(connection->fd, &local.any, &local_bytes) == 0 &&
		getpeername(connection->fd, &remote.any, &remote_bytes) == 0) {
		bt_http_address_append(&local, &ends);
		bt_strbuf_append_c(&ends, "->");
		bt_http_address_append(&remote, &ends);
	}
	bt_strbuf_printf(&ends, ": %s: ", what);
	bt_strbuf_append_errno(&ends, code);
	bt_http_transfer_fail(
		connection->transfer, BT_HTTP_FAILURE_RESET, "%s tcp %s", what, bt_strbuf_c(&ends));
	bt_strbuf_finish(&ends);
	bt_http_connection_close(connection);
}

void bt_http_connection_handle_loss(struct bt_http_client_connection *connection)
{
	struct bt_http_transfer *transfer = connection->transfer;
	int code = errno;
	bool is_read = connection->intake != NULL && connection->intake->error != 0;
	if (transfer == NULL) {
		bt_http_connection_close(connection);
		return;
	}
	/* retry conditions: spec 13 section 7.2 */
	if (connection->is_kept && !transfer->answer.is_started &&
		(!transfer->is_sent || transfer->is_repeatable)) {
		bt_http_connection_close(connection);
		bt_http_transfer_requeue(transfer);
		return;
	}
	if (connection->write_error != 0) {
		fail_broken(connection, is_read ? "read" : "write", connection->write_error);
	} else if (is_read) {
		fail_broken(connection, "read", connection->intake->error);
	} else if (connection->tls_error != 0 && code == EPROTO) {
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_TLS, "tls: %s",
			gnutls_strerror(connection->tls_error));
		bt_http_connection_close(connection);
	} else {
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_RESET, "%s",
			transfer->is_answered ? "unexpected EOF" : "EOF");
		bt_http_connection_close(connection);
	}
}

/* Processes the head of the final answer; false: the connection is closed. */
static bool take_head(struct bt_http_client_connection *connection)
{
	struct bt_http_transfer *transfer = connection->transfer;
	struct bt_str location = {NULL, 0};
	size_t at = 0;
	uint16_t code = transfer->answer.code;
	bool is_redirect = (code >= 301 && code <= 303) || code == 307 || code == 308;
	if (transfer->client->follow_redirects && is_redirect &&
		bt_http_answer_next_header(&transfer->answer, BT_STR("Location"), &at, &location)) {
		transfer->is_redirect = location.length != 0;
	}
	if (transfer->is_redirect) {
		return true;
	}
	transfer->is_answered = true;
	bt_http_client_schedule_check(transfer->client,
		transfer->body_silence_ns != 0 ? transfer->last_data_ns + transfer->body_silence_ns
					       : INT64_MAX);
	if (transfer->handler.head != NULL) {
		transfer->handler.head(transfer->handler.context, transfer, transfer->answer.code);
	}
	return connection->transfer != NULL; /* the callback may have cancelled the transfer */
}

static bool take_data(struct bt_http_client_connection *connection, struct bt_str data)
{
	struct bt_http_transfer *transfer = connection->transfer;
	if (transfer->is_redirect) {
		return true;
	}
	if (transfer->handler.data != NULL) {
		transfer->handler.data(transfer->handler.context, transfer, data);
		return connection->transfer != NULL;
	}
	if (transfer->body_bytes_max != 0 &&
		transfer->body.length + data.length > transfer->body_bytes_max) {
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_OTHER,
			"the response is larger than %llu bytes",
			(unsigned long long)transfer->body_bytes_max);
		bt_http_connection_close(connection);
		return false;
	}
	bt_strbuf_append_str(&transfer->body, data);
	return true;
}

/*
 * Ends the transfer with its complete answer. Keeps the connection for reuse if possible; is_exact:
 * no bytes follow the answer.
 */
static void take_end(struct bt_http_client_connection *connection, bool is_exact)
{
	struct bt_http_transfer *transfer = connection->transfer;
	struct bt_http_client *client = connection->client;
	bool is_reusable = is_exact && transfer->answer.keeps &&
		transfer->out_at == transfer->out.length && connection->trust == client->trust;
	bt_http_transfer_complete(transfer);
	if (!is_reusable) {
		bt_http_connection_close(connection);
		return;
	}
	if (!connection->is_kept && connection->trust->tickets.count == 0) {
		bt_http_trust_keep_ticket(connection);
	}
	transfer->connection = NULL;
	connection->transfer = NULL;
	connection->is_kept = true;
	connection->idle_since_ns = transfer->last_data_ns;
	connection->was_without_body = transfer->answer.is_bodiless ||
		transfer->answer.code == 204 || transfer->answer.code == 304;
	if (client->idle == NULL) {
		bt_http_client_schedule_check(client, connection->idle_since_ns + IDLE_NS_MAX);
	}
	BT_CHAIN_ADD(client->idle, connection, previous, next);
	client->idle_count++;
	bt_http_connection_close_idle(client,
		client->connections_max != 0 ? client->connections_max
					     : client->idle_connections_max);
}

/* Parses received bytes; false: the connection is closed. */
static bool take_bytes(struct bt_http_client_connection *connection, struct bt_str input)
{
	struct bt_http_transfer *transfer = connection->transfer;
	if (transfer == NULL) {
		bt_http_connection_close(connection); /* bytes without a request */
		return false;
	}
	if (!transfer->answer.is_started) {
		transfer->answered_ns = transfer->last_data_ns;
	}
	for (;;) {
		struct bt_str data;
		switch (bt_http_answer_step(&transfer->answer, &input, &data)) {
		case BT_HTTP_STEP_MORE:
			return true;
		case BT_HTTP_STEP_HEAD:
			if (!take_head(connection)) {
				return false;
			}
			break;
		case BT_HTTP_STEP_DATA:
			if (!take_data(connection, data)) {
				return false;
			}
			break;
		case BT_HTTP_STEP_END:
			take_end(connection, input.length == 0);
			return connection->phase == BT_HTTP_OPEN;
		case BT_HTTP_STEP_FAILED:
			bt_http_transfer_fail(
				transfer, BT_HTTP_FAILURE_OTHER, "%s", transfer->answer.failure);
			bt_http_connection_close(connection);
			return false;
		}
	}
}

static void read_answer(struct bt_http_client_connection *connection)
{
	char data[RECORD_BYTES];
	/* read on until EAGAIN: a close_notify or session ticket may follow the answer */
	for (;;) {
		ssize_t length = bt_http_connection_receive(connection, data, sizeof(data));
		if (length > 0) {
			struct bt_str input = {data, (uint32_t)length};
			if (!take_bytes(connection, input)) {
				return;
			}
			continue;
		}
		if (length < 0 && errno == EAGAIN) {
			return;
		}
		struct bt_http_transfer *transfer = connection->transfer;
		if (length == 0 && transfer != NULL && !connection->is_truncated &&
			transfer->answer.state == BT_HTTP_ANSWER_UNTIL_CLOSE) {
			take_end(connection, false);
			return;
		}
		bt_http_connection_handle_loss(connection);
		return;
	}
}

static void write_request(struct bt_http_client_connection *connection)
{
	struct bt_http_transfer *transfer = connection->transfer;
	if (transfer->handler.may_send != NULL &&
		!transfer->handler.may_send(transfer->handler.context)) {
		bt_http_transfer_fail(transfer, BT_HTTP_FAILURE_OTHER, "context canceled");
		bt_http_connection_close(connection);
		return;
	}
	if (transfer->out_at == 0) {
		transfer->sent_ns = bt_loop_now_ns(transfer->client->loop);
	}
	while (transfer->out_at < transfer->out.length && connection->write_error == 0) {
		size_t left = transfer->out.length - transfer->out_at;
		ssize_t sent = bt_http_connection_send(
			connection, transfer->out.data + transfer->out_at, left);
		if (sent >= 0) {
			transfer->is_sent = true;
			transfer->out_at += (size_t)sent;
			continue;
		}
		if (errno == EAGAIN) {
			/* GnuTLS may have written a part of the record */
			transfer->is_sent = true;
			watch(connection, BT_LOOP_READABLE | BT_LOOP_WRITABLE);
			return;
		}
		/*
		 * If a part of the request was written, do not fail yet: the server may have
		 * answered before it closed the connection.
		 */
		connection->write_error = errno == EPROTO ? EPIPE : errno;
		if (transfer->out_at == 0) {
			bt_http_connection_handle_loss(connection);
			return;
		}
	}
	watch(connection, BT_LOOP_READABLE);
}

static bool needs_tunnel(const struct bt_http_client_connection *connection)
{
	return connection->proxy != NULL && (connection->is_https || connection->proxy->is_socks);
}

/* Enters the first phase after `done` that this connection needs. */
static void enter_next(struct bt_http_client_connection *connection, enum bt_http_phase done)
{
	if (done < BT_HTTP_PROXY_HANDSHAKE && connection->proxy != NULL &&
		bt_str_equal(connection->proxy->url.scheme, BT_STR("https"))) {
		connection->phase = BT_HTTP_PROXY_HANDSHAKE;
	} else if (done < BT_HTTP_TUNNEL && needs_tunnel(connection)) {
		connection->phase = BT_HTTP_TUNNEL;
		bt_http_tunnel_start(connection);
	} else if (done < BT_HTTP_HANDSHAKE && connection->is_https) {
		connection->phase = BT_HTTP_HANDSHAKE;
	} else {
		connection->phase = BT_HTTP_OPEN;
		connection->due_ns = INT64_MAX;
	}
	if (connection->phase == BT_HTTP_PROXY_HANDSHAKE ||
		connection->phase == BT_HTTP_HANDSHAKE) {
		uint32_t level = connection->phase == BT_HTTP_HANDSHAKE ? 1 : 0;
		if (!bt_http_trust_begin(connection, level)) {
			bt_http_transfer_fail(connection->transfer, BT_HTTP_FAILURE_TLS,
				"tls: cannot create a session");
			bt_http_connection_close(connection);
		}
	}
}

/* Continues the current phase as far as the received bytes allow. */
static void advance(struct bt_http_client_connection *connection)
{
	while (connection->phase > BT_HTTP_DIALING && connection->phase < BT_HTTP_OPEN) {
		enum bt_http_phase phase = connection->phase;
		bool is_done = phase == BT_HTTP_TUNNEL
			? bt_http_tunnel_advance(connection)
			: bt_http_trust_handshake(connection, phase == BT_HTTP_HANDSHAKE ? 1 : 0) >
				0;
		if (!is_done) {
			return;
		}
		enter_next(connection, phase);
	}
	if (connection->phase == BT_HTTP_OPEN && connection->transfer != NULL &&
		connection->transfer->out_at < connection->transfer->out.length &&
		connection->write_error == 0) {
		write_request(connection);
	}
	if (connection->phase == BT_HTTP_OPEN && connection->intake != NULL) {
		read_answer(connection);
	}
}

/* Tries the addresses from address_at on, until a connection is made or in progress. */
static void dial(struct bt_http_client_connection *connection)
{
	uint32_t count = connection->addresses.list.count;
	connection->phase = BT_HTTP_DIALING;
	for (; connection->address_at < count; connection->address_at++) {
		union bt_http_address *address =
			&connection->addresses.list.items[connection->address_at];
		address->v6.sin6_port = htons(connection->proxy != NULL
				? connection->proxy->url.port
				: connection->port); /* sin_port has the same offset */
		int code = 0;
		connection->fd = socket(
			address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (connection->fd >= 0) {
			static const struct {
				int level;
				int name;
				int value;
			} options[] = {
				{IPPROTO_TCP, TCP_NODELAY, 1},
				{SOL_SOCKET, SO_KEEPALIVE, 1},
				{IPPROTO_TCP, TCP_KEEPIDLE, KEEPALIVE_SECONDS},
				{IPPROTO_TCP, TCP_KEEPINTVL, KEEPALIVE_AGAIN_SECONDS},
				{IPPROTO_TCP, TCP_USER_TIMEOUT, UNACKNOWLEDGED_MS_MAX},
			};
			for (size_t i = 0; i < BT_ARRAY_LENGTH(options); i++) {
				/* best effort: without an option the kernel's default timeout
				 * applies */
				(void)setsockopt(connection->fd, options[i].level, options[i].name,
					&options[i].value, sizeof(options[i].value));
			}
			code = connect(connection->fd, &address->any,
				address->any.sa_family == AF_INET ? sizeof(address->v4)
								  : sizeof(address->v6));
		}
		if (connection->fd >= 0 && (code == 0 || errno == EINPROGRESS)) {
			int64_t now_ns = bt_loop_now_ns(connection->client->loop);
			int64_t share_ns =
				(connection->due_ns - now_ns) / (count - connection->address_at);
			share_ns = BT_MAX(share_ns, ATTEMPT_NS_MIN);
			connection->attempt_due_ns = connection->address_at + 1 < count
				? now_ns + share_ns
				: connection->due_ns;
			bt_http_client_schedule_check(connection->client,
				BT_MIN(connection->attempt_due_ns, connection->due_ns));
			watch(connection, BT_LOOP_WRITABLE);
			return;
		}
		if (connection->dial_error == 0) {
			connection->dial_error = errno;
			connection->dial_error_at = connection->address_at;
		}
		close_socket(connection);
	}
	if (count == 0) {
		fail_dial(connection, BT_HTTP_FAILURE_RESOLVE, 0, "no such host");
		return;
	}
	struct bt_strbuf reason = {0};
	bt_strbuf_append_c(&reason, "connect: ");
	bt_strbuf_append_errno(&reason, connection->dial_error);
	fail_dial(connection,
		connection->dial_error == ECONNREFUSED ? BT_HTTP_FAILURE_REFUSED
						       : BT_HTTP_FAILURE_OTHER,
		connection->dial_error_at, bt_strbuf_c(&reason));
	bt_strbuf_finish(&reason);
}

/* Notes that the current address failed with this errno, and tries the next address. */
static void dial_next(struct bt_http_client_connection *connection, int code)
{
	if (connection->dial_error == 0) {
		connection->dial_error = code;
		connection->dial_error_at = connection->address_at;
	}
	close_socket(connection);
	connection->address_at++;
	dial(connection);
}

/* Processes received bytes; reads once only, so that a busy server does not block the loop. */
static void read_socket(struct bt_http_client_connection *connection)
{
	char raw[RAW_BYTES];
	ssize_t length = recv(connection->fd, raw, sizeof(raw), 0);
	if (length < 0 && (errno == EAGAIN || errno == EINTR)) {
		return;
	}
	struct bt_http_intake intake = {
		.data = raw,
		.length = length > 0 ? (size_t)length : 0,
		.is_end = length == 0,
		.error = length < 0 ? errno : 0,
	};
	if (connection->transfer != NULL) {
		connection->transfer->last_data_ns = bt_loop_now_ns(connection->client->loop);
	}
	connection->intake = &intake;
	advance(connection);
	connection->intake = NULL;
}

static void on_event(void *context, uint32_t directions)
{
	struct bt_http_client_connection *connection = context;
	struct bt_http_client *client = connection->client;
	connection->is_event = true;
	if (connection->phase == BT_HTTP_DIALING) {
		int code = 0;
		socklen_t length = sizeof(code);
		if (getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &code, &length) != 0) {
			code = errno;
		}
		if (code != 0) {
			dial_next(connection, code);
		} else {
			enter_next(connection, BT_HTTP_DIALING);
			if (connection->phase != BT_HTTP_CLOSED) {
				watch(connection, BT_LOOP_READABLE);
				advance(connection);
			}
		}
	} else if ((directions & ~(uint32_t)BT_LOOP_WRITABLE) != 0) {
		read_socket(connection);
	} else {
		advance(connection);
	}
	connection->is_event = false;
	if (connection->phase == BT_HTTP_CLOSED) {
		free_connection(connection);
	}
	bt_http_client_deliver(client);
}

static void on_lookup(
	void *context, struct bt_http_lookup *lookup, const struct bt_http_addresses *addresses)
{
	struct bt_http_client *client = context;
	for (uint32_t i = 0; i < client->lookups.count; i++) {
		if (client->lookups.items[i] == lookup) {
			bt_vec_remove_swap(&client->lookups, i);
			break;
		}
	}
	struct bt_http_transfer *next = NULL;
	for (struct bt_http_transfer *transfer = client->running.first; transfer != NULL;
		transfer = next) {
		struct bt_http_client_connection *connection = transfer->connection;
		next = transfer->next;
		if (connection->phase != BT_HTTP_RESOLVING ||
			!bt_str_equal(peer_host(connection), bt_http_lookup_host(lookup))) {
			continue;
		}
		for (uint32_t i = 0; i < addresses->list.count; i++) {
			bt_vec_push(&connection->addresses.list, addresses->list.items[i]);
		}
		dial(connection);
	}
	bt_http_client_deliver(client);
}

static struct bt_http_client_connection *find_idle(const struct bt_http_transfer *transfer)
{
	struct bt_http_client *client = transfer->client;
	bool is_https = transfer->url.scheme.length == 5;
	int64_t now_ns = bt_loop_now_ns(client->loop);
	struct bt_http_client_connection *next = NULL;
	for (struct bt_http_client_connection *connection = client->idle; connection != NULL;
		connection = next) {
		next = connection->next;
		if (connection->proxy != transfer->proxy || connection->is_https != is_https ||
			/* a connection to an HTTP proxy without a tunnel serves any host */
			((connection->proxy == NULL || needs_tunnel(connection)) &&
				(connection->port != transfer->url.port ||
					!bt_str_equal_without_case(bt_strbuf_str(&connection->host),
						transfer->url.host)))) {
			continue;
		}
		int64_t idle_ns = now_ns - connection->idle_since_ns;
		bool is_usable = idle_ns < TRUSTED_IDLE_NS && !connection->was_without_body;
		if (!is_usable && idle_ns < IDLE_NS_MAX) {
			/*
			 * Any readable byte or end of file means that the server has closed the
			 * idle connection.
			 */
			char byte;
			is_usable = recv(connection->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
				errno == EAGAIN;
		}
		if (is_usable) {
			return connection;
		}
		bt_http_connection_close(connection);
	}
	return NULL;
}

void bt_http_connection_run(struct bt_http_transfer *transfer)
{
	struct bt_http_client *client = transfer->client;
	struct bt_http_client_connection *connection = find_idle(transfer);
	transfer->out_at = 0;
	if (connection != NULL) {
		unlink_idle(connection);
		transfer->connection = connection;
		connection->transfer = transfer;
		write_request(connection);
		return;
	}
	connection = BT_NEW(struct bt_http_client_connection);
	connection->client = client;
	connection->trust = client->trust;
	connection->trust->holders++;
	connection->transfer = transfer;
	connection->fd = -1;
	connection->is_https = transfer->url.scheme.length == 5;
	connection->port = transfer->url.port;
	bt_strbuf_append_str(&connection->host, transfer->url.host);
	connection->proxy = transfer->proxy;
	connection->due_ns = bt_loop_now_ns(client->loop) + client->connect_timeout_ns;
	bt_http_client_schedule_check(client, connection->due_ns);
	transfer->connection = connection;
	struct bt_str host = peer_host(connection);
	if (bt_http_lookup_literal(host, &connection->addresses)) {
		dial(connection);
		return;
	}
	for (uint32_t i = 0; i < client->lookups.count; i++) {
		if (bt_str_equal(bt_http_lookup_host(client->lookups.items[i]), host)) {
			return; /* a running lookup will serve this connection too */
		}
	}
	struct bt_http_lookup *lookup = bt_http_lookup_start(client->loop, host, on_lookup, client);
	if (lookup == NULL) {
		dial(connection); /* "no such host" */
		return;
	}
	bt_vec_push(&client->lookups, lookup);
}

void bt_http_connection_check_due(struct bt_http_client_connection *connection, int64_t now_ns)
{
	bool is_over = connection->due_ns <= now_ns;
	if (connection->phase == BT_HTTP_DIALING && !is_over &&
		connection->attempt_due_ns <= now_ns) {
		dial_next(connection, ETIMEDOUT);
		return;
	}
	if (!is_over) {
		bool is_attempt = connection->phase == BT_HTTP_DIALING &&
			connection->attempt_due_ns < connection->due_ns;
		bt_http_client_schedule_check(connection->client,
			is_attempt ? connection->attempt_due_ns : connection->due_ns);
		return;
	}
	if (connection->phase == BT_HTTP_PROXY_HANDSHAKE ||
		connection->phase == BT_HTTP_HANDSHAKE) {
		bt_http_transfer_fail(connection->transfer, BT_HTTP_FAILURE_TIMEOUT,
			"net/http: TLS handshake timeout");
		bt_http_connection_close(connection);
		return;
	}
	fail_dial(connection, BT_HTTP_FAILURE_TIMEOUT, connection->address_at, "i/o timeout");
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_server.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "net/http_server_private.h"

/*
 * A request must be complete within this many idle timeouts, even if its bytes trickle in steadily.
 */
#define ARRIVAL_TIMEOUTS 4
#define KEEPALIVE_IDLE_SECONDS 30
/*
 * After this many consecutive runs of libmicrohttpd without progress the next run is delayed by
 * REST_NS. The _ACTIVE_ values apply while requests are active.
 */
#define IDLE_RUNS_MAX 4
#define IDLE_RUNS_ACTIVE_MAX 256
#define REST_NS (20 * BT_NS_PER_MS)
#define REST_ACTIVE_NS BT_NS_PER_MS
/* At most this many of the newest connections get TCP_QUICKACK in a turn. */
#define HANDSHAKES_SEEN_MAX 16

const struct bt_http_limits bt_http_default_limits = {
	.body_bytes_max = 3145728,
	.large_bodies_bytes_max = UINT32_C(256) << 20,
	.header_bytes_max = 32768,
	.connections_max = 4096,
	.connections_per_ip_max = 0,
	.idle_timeout_seconds = 120,
	.stalled_timeout_seconds = 30,
};

static void arriving_remove(struct bt_http_server *server, struct bt_http_connection *connection)
{
	if (!connection->arriving) {
		return;
	}
	connection->arriving = false;
	BT_LIST_REMOVE(server->arriving_first, server->arriving_last, connection, previous, next);
}

void bt_http_server_await(struct bt_http_server *server, struct bt_http_connection *connection)
{
	BT_ASSERT(!connection->arriving);
	connection->arriving = true;
	connection->since_ns = bt_loop_now_ns(server->loop);
	BT_LIST_APPEND(server->arriving_first, server->arriving_last, connection, previous, next);
}

int bt_http_socket_of(struct MHD_Connection *handle)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handle, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info != NULL ? info->connect_fd : -1;
}

/*
 * libmicrohttpd does not report completion of requests that it dropped before their headers were
 * complete, so end their exchange here.
 */
static void end_forgotten_exchange(struct bt_http_connection *connection)
{
	if (connection->exchange != NULL) {
		bt_http_exchange_end(connection->exchange);
		connection->exchange = NULL;
	}
}

static void on_connection(void *context, struct MHD_Connection *handle, void **socket_context,
	enum MHD_ConnectionNotificationCode code)
{
	struct bt_http_server *server = context;
	server->progress = true;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		struct bt_http_connection *connection = BT_NEW(struct bt_http_connection);
		connection->handle = handle;
		server->connection_count++;
		bt_http_server_await(server, connection);
		/* Keepalives let the kernel detect dead peers, also while a stream is idle. */
		int fd = bt_http_socket_of(handle);
		int on = 1;
		int idle = KEEPALIVE_IDLE_SECONDS;
		unsigned int silent_ms = 2 * server->limits.stalled_timeout_seconds * 1000;
		/* best effort; without TCP_NODELAY, handshakes wait for delayed acknowledgements */
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		(void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
		(void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silent_ms, sizeof(silent_ms));
		bt_http_tls_begin(server, connection);
		*socket_context = connection;
		return;
	}
	if (*socket_context != NULL) {
		const struct bt_http_connection *connection = *socket_context;
		end_forgotten_exchange(*socket_context);
		if (connection->tls_set != NULL) {
			connection->tls_set->connection_count--;
		}
		/*
		 * libmicrohttpd removes the listening socket from its epoll set at the connection
		 * limit, or when descriptors run out; only another run adds the socket again.
		 */
		server->resumed = true;
		server->makes_room = false;
		server->connection_count--;
		arriving_remove(server, *socket_context);
		bt_free(*socket_context);
		*socket_context = NULL;
	}
}

static void *on_target(void *context, const char *target, struct MHD_Connection *handle)
{
	struct bt_http_server *server = context;
	target = target != NULL ? target : "";
	struct bt_http_exchange *exchange = bt_http_exchange_begin(server, handle, target);
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(handle, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	BT_ASSERT(info != NULL && info->socket_context != NULL);
	exchange->connection = info->socket_context;
	end_forgotten_exchange(exchange->connection);
	exchange->connection->exchange = exchange;
	/*
	 * libmicrohttpd stores parameters in the connection's memory. When the memory is full,
	 * libmicrohttpd neither answers the request nor closes the connection. So hide the
	 * parameters: they are read from exchange->target. The target is in the connection's
	 * memory, in which libmicrohttpd itself ends the path with a zero after this call.
	 */
	char *query = (char *)(uintptr_t)strchr(target, '?');
	if (query != NULL) {
		query[1] = '\0';
	}
	exchange->connection->has_request = true;
	return exchange;
}

static void on_completed(void *context, struct MHD_Connection *handle, void **request_context,
	enum MHD_RequestTerminationCode code)
{
	struct bt_http_server *server = context;
	struct bt_http_exchange *exchange = *request_context;
	(void)code; /* the handler knows whether it has answered */
	if (exchange == NULL) {
		return;
	}
	*request_context = NULL;
	bt_http_tls_uncork(exchange);
	struct bt_http_connection *connection = exchange->connection;
	connection->exchange = NULL;
	server->ending_count -= exchange->ends_websocket ? 1 : 0;
	if (connection->long_timeout) {
		connection->long_timeout = false;
		(void)MHD_set_connection_option(handle, MHD_CONNECTION_OPTION_TIMEOUT,
			(unsigned int)server->limits.idle_timeout_seconds); /* cannot fail */
	}
	bt_http_exchange_end(exchange);
	arriving_remove(server, connection);
	bt_http_server_await(server, connection);
	if (server->is_stopping) {
		/* data already sent still reaches the client */
		(void)shutdown(bt_http_socket_of(handle), SHUT_RDWR);
	}
}

/* Disables unescaping: the handler unescapes after splitting the path into segments. */
static size_t keep_escapes(void *context, struct MHD_Connection *handle, char *text)
{
	(void)context;
	(void)handle;
	return strlen(text);
}

static enum MHD_Result answer_refusal(struct bt_http_exchange *exchange, uint16_t code)
{
	exchange->answered = true;
	exchange->refused = true;
	exchange->code = code;
	exchange->response = bt_http_empty_response();
	BT_ASSERT(exchange->response != NULL);
	(void)MHD_add_response_header(/* cannot fail: valid header */
		exchange->response, MHD_HTTP_HEADER_CONNECTION, "close");
	return bt_http_answer_queue(exchange);
}

struct framing {
	uint32_t length_count;
	uint32_t coding_count;
	bool is_chunked;
	bool has_blank; /* a header's name ends with a blank */
};

static void take_framing(void *context, struct bt_str name, struct bt_str value)
{
	struct framing *framing = context;
	framing->has_blank =
		framing->has_blank || bt_str_trim(name, BT_STR_SPACE).length != name.length;
	if (bt_str_equal_without_case(name, BT_STR(MHD_HTTP_HEADER_CONTENT_LENGTH))) {
		framing->length_count++; /* libmicrohttpd has parsed the value */
	} else if (bt_str_equal_without_case(name, BT_STR(MHD_HTTP_HEADER_TRANSFER_ENCODING))) {
		framing->coding_count++;
		framing->is_chunked = bt_str_equal_without_case(value, BT_STR("chunked"));
	}
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *handle, const char *url,
	const char *method, const char *version, const char *data, size_t *length,
	void **request_context)
{
	struct bt_http_server *server = context;
	struct bt_http_exchange *exchange = *request_context;
	(void)handle; /* the exchange has these values */
	(void)url;
	server->progress = true;
	if (exchange == NULL) {
		return MHD_NO;
	}
	if (!exchange->begun) {
		/* Headers are complete: refuse now if the body need not be read. */
		server = exchange->server;
		exchange->begun = true;
		exchange->method = bt_str_from(method);
		exchange->may_cork = exchange->connection->tls_set != NULL &&
			strcmp(version, MHD_HTTP_VERSION_1_1) == 0 &&
			bt_http_header(exchange, MHD_HTTP_HEADER_CONNECTION).length == 0;
		const union MHD_ConnectionInfo *info = MHD_get_connection_info(
			exchange->handle, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
		if (info != NULL && info->header_size > server->limits.header_bytes_max) {
			return answer_refusal(exchange, MHD_HTTP_REQUEST_HEADER_FIELDS_TOO_LARGE);
		}
		/*
		 * The body's length must be unambiguous. If server and proxy disagreed on the end
		 * of the body, bytes of the body could be taken for another client's request
		 * (request smuggling). libmicrohttpd ignores "Content-Length : 5", a proxy may not.
		 */
		struct framing framing = {0};
		bt_http_each_header_prefixed(exchange, BT_STR(""), take_framing, &framing);
		bool is_clear = framing.coding_count == 0 ? framing.length_count <= 1
							  : framing.coding_count == 1 &&
				framing.is_chunked && framing.length_count == 0;
		if (framing.has_blank || !is_clear) {
			return answer_refusal(exchange, MHD_HTTP_BAD_REQUEST);
		}
		int64_t announced = 0;
		int64_t max = server->limits.body_bytes_max;
		struct bt_str text = bt_http_header(exchange, MHD_HTTP_HEADER_CONTENT_LENGTH);
		if (!bt_str_parse_int64(text, &announced) || announced <= max) {
			return MHD_YES;
		}
		if (announced > 4 * max ||
			bt_http_header(exchange, MHD_HTTP_HEADER_EXPECT).length != 0) {
			arriving_remove(server, exchange->connection);
			exchange->refused = true;
			exchange->handed = true;
			server->handler.too_large(server->handler.context, exchange);
			BT_ASSERT(exchange->answered);
			return bt_http_answer_queue(exchange);
		}
		return MHD_YES;
	}
	if (*length != 0) {
		bool wanted = bt_http_exchange_take(exchange, data, *length);
		*length = 0;
		return wanted ? MHD_YES : MHD_NO;
	}
	if (!exchange->handed) {
		exchange->handed = true;
		arriving_remove(server, exchange->connection);
		if (exchange->body_bytes > server->limits.body_bytes_max) {
			server->handler.too_large(server->handler.context, exchange);
		} else {
			server->handler.request(server->handler.context, exchange);
		}
		if (!exchange->answered) {
			bt_http_exchange_suspend(exchange);
			return MHD_YES;
		}
	}
	/* resumed without an answer: the server is shutting down */
	return exchange->answered ? bt_http_answer_queue(exchange) : MHD_NO;
}

BT_PRINTF(2, 0)
static void on_log(void *context, const char *format, va_list arguments)
{
	struct bt_http_server *server = context;
	/* keep only the first message of a failed start; later messages report clients' errors */
	if (server->daemon == NULL && server->log.length == 0) {
		bt_strbuf_vprintf(&server->log, format, arguments);
	}
}

static void on_ready(void *context)
{
	struct bt_http_server *server = context;
	server->ready = true;
}

/*
 * At the limit of connections, closes the connection that has waited longest for its next request
 * if another client waits to be accepted. Returns when to look again.
 */
static int64_t make_room(struct bt_http_server *server, int64_t now_ns)
{
	if (server->connection_count < server->limits.connections_max || server->is_stopping) {
		return INT64_MAX;
	}
	struct pollfd listening = {.events = POLLIN};
	listening.fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_LISTEN_FD)->listen_fd;
	if (!server->makes_room && poll(&listening, 1, 0) > 0) {
		struct bt_http_connection *idle = server->arriving_first;
		while (idle != NULL && (idle->exchange != NULL || !idle->has_request)) {
			idle = idle->next;
		}
		if (idle != NULL) {
			(void)shutdown(bt_http_socket_of(idle->handle), SHUT_RDWR);
			arriving_remove(server, idle);
			server->makes_room = true;
			server->resumed = true;
		}
	}
	return now_ns + REST_NS; /* libmicrohttpd does not watch the listening socket now */
}

static int64_t run_daemon(void *context, int64_t now_ns)
{
	struct bt_http_server *server = context;
	if (!server->is_serving) {
		return INT64_MAX;
	}
	int64_t allowed_ns =
		ARRIVAL_TIMEOUTS * BT_NS_PER_SECOND * (int64_t)server->limits.idle_timeout_seconds;
	struct bt_http_connection *late = server->arriving_first;
	while (late != NULL && late->since_ns + allowed_ns <= now_ns) {
		struct bt_http_connection *next = late->next;
		/* libmicrohttpd then ends the connection as after a client's hangup */
		(void)shutdown(bt_http_socket_of(late->handle), SHUT_RDWR);
		arriving_remove(server, late);
		late = next;
	}
	int64_t cut_ns = late != NULL ? late->since_ns + allowed_ns : INT64_MAX;
	cut_ns = BT_MIN(cut_ns, make_room(server, now_ns));
	if (server->ready || server->resumed || server->run_at_ns <= now_ns) {
		bool is_idle = !server->ready && !server->resumed;
		server->ready = false;
		server->resumed = false;
		server->progress = false;
		(void)MHD_run(server->daemon); /* fails only after shutdown */
		server->idle_runs = is_idle && !server->progress ? server->idle_runs + 1 : 0;
		if (server->ticket_key.data != NULL) {
			/*
			 * The client sends the last message of a TLS handshake, and its first
			 * request may wait until the kernel acknowledges that message: 40 ms with
			 * delayed acknowledgements. Request quick acknowledgements, because clients
			 * with one request per connection would be slow.
			 */
			struct bt_http_connection *connection = server->arriving_last;
			int on = 1;
			for (int i = 0; i < HANDSHAKES_SEEN_MAX && connection != NULL; i++) {
				if (connection->since_ns + BT_NS_PER_SECOND < now_ns) {
					break;
				}
				if (!connection->has_request) {
					/* best effort */
					(void)setsockopt(bt_http_socket_of(connection->handle),
						IPPROTO_TCP, TCP_QUICKACK, &on, sizeof(on));
				}
				connection = connection->previous;
			}
		}
	}
	if (server->resumed) {
		return now_ns;
	}
	MHD_UNSIGNED_LONG_LONG ms = 0;
	int64_t due_ns = INT64_MAX;
	if (MHD_get_timeout(server->daemon, &ms) == MHD_YES && ms < UINT32_MAX) {
		due_ns = now_ns + (int64_t)ms * BT_NS_PER_MS;
	}
	if (due_ns > now_ns) {
		server->idle_runs = 0;
		server->run_at_ns = due_ns;
	} else if (server->run_at_ns <= now_ns || server->run_at_ns > now_ns + REST_NS) {
		/*
		 * During a TLS handshake libmicrohttpd reports a timeout of 0 even if there is
		 * nothing to read. Its descriptor reports events in any case, so after several runs
		 * without progress the next run can wait a little.
		 */
		bool is_active = server->active_count != 0;
		int64_t rest_ns = is_active ? REST_ACTIVE_NS : REST_NS;
		uint32_t allowed = is_active ? IDLE_RUNS_ACTIVE_MAX : IDLE_RUNS_MAX;
		server->run_at_ns = now_ns + (server->idle_runs > allowed ? rest_ns : 0);
	}
	if (server->ending_count != 0 && server->run_at_ns > now_ns + REST_NS) {
		/*
		 * Poll: libmicrohttpd reports no event when it has sent the last data of a closed
		 * WebSocket.
		 */
		server->run_at_ns = now_ns + REST_NS;
	}
	return BT_MIN(server->run_at_ns, cut_ns);
}

static int start_daemon(struct bt_http_server *server, const struct bt_http_server_options *options,
	int fd, struct berth_error *err)
{
	const struct bt_http_limits *limits = &server->limits;
	/* Not MHD_USE_TURBO, which polls in a busy loop while a client's handshake is slow. */
	unsigned int flags =
		MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_ALLOW_UPGRADE | MHD_USE_ERROR_LOG;
	/*
	 * libmicrohttpd parses headers in one half of a connection's memory, and clears all memory
	 * for each request: more memory would only cost time
	 */
	size_t memory = 2 * (size_t)limits->header_bytes_max;
	struct MHD_OptionItem items[] = {
		{MHD_OPTION_LISTEN_SOCKET, fd, NULL},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)memory, NULL},
		{MHD_OPTION_CONNECTION_LIMIT, (intptr_t)limits->connections_max, NULL},
		{MHD_OPTION_PER_IP_CONNECTION_LIMIT, (intptr_t)limits->connections_per_ip_max,
			NULL},
		{MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)limits->idle_timeout_seconds, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
		{MHD_OPTION_END, 0, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	struct MHD_OptionItem tls[] = {
		{MHD_OPTION_HTTPS_MEM_CERT, 0, NULL},
		{MHD_OPTION_HTTPS_MEM_KEY, 0, NULL},
		{MHD_OPTION_HTTPS_PRIORITIES, 0, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	struct bt_strbuf priorities = {0};
	if (options->certificates.certificate_pem != NULL) {
		int result = bt_tls_priorities(&options->tls, &priorities, err);
		if (result != 0) {
			bt_strbuf_finish(&priorities);
			(void)close(fd); /* no data to lose */
			return result;
		}
		flags |= MHD_USE_TLS;
		/* libmicrohttpd only reads the texts, during the start */
		tls[0].ptr_value = (void *)(uintptr_t)options->certificates.certificate_pem;
		tls[1].ptr_value = (void *)(uintptr_t)options->certificates.key_pem;
		tls[2].ptr_value = priorities.data;
		items[BT_ARRAY_LENGTH(items) - 2].option = MHD_OPTION_ARRAY;
		items[BT_ARRAY_LENGTH(items) - 2].ptr_value = tls;
	}
	server->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_access, server,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, server, MHD_OPTION_URI_LOG_CALLBACK, on_target,
		server, MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server, MHD_OPTION_UNESCAPE_CALLBACK,
		keep_escapes, server, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
	bt_strbuf_finish(&priorities);
	if (server->daemon == NULL) {
		/*
		 * do not close fd: libmicrohttpd may have closed it, and another file may have its
		 * number now
		 */
		struct bt_str text = bt_strbuf_str(&server->log);
		while (text.length != 0 && text.data[text.length - 1] == '\n') {
			text.length--;
		}
		return bt_error_set(
			err, BERTH_ERR_IO, "starting the HTTP server: %.*s", BT_STR_ARG(text));
	}
	return 0;
}

int bt_http_server_create(struct bt_loop *loop, const struct bt_http_server_options *options,
	struct bt_http_server **out_server, struct berth_error *err)
{
	int fd = -1;
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	(void)sigaction(SIGPIPE, &ignore, NULL); /* cannot fail: valid arguments */
	struct bt_http_server *server = BT_NEW(struct bt_http_server);
	server->loop = loop;
	server->limits = options->limits;
	server->handler = options->handler;
	int result = 0;
	if (options->certificates.certificate_pem != NULL) {
		server->requests_certificate = options->ask_client_certificate;
		/* if the call fails, there are no session tickets */
		(void)gnutls_session_ticket_key_generate(&server->ticket_key);
		result = bt_http_tls_set_create(
			&options->certificates, options->client_ca_pem, &server->tls_sets, err);
	}
	if (result == 0) {
		result = bt_http_listen(options, &fd, &server->port, err);
	}
	if (result == 0) {
		result = start_daemon(server, options, fd, err);
	}
	if (result == 0) {
		const union MHD_DaemonInfo *info =
			MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
		BT_ASSERT(info != NULL && server->source == NULL);
		result = bt_loop_add_fd(
			loop, info->epoll_fd, on_ready, server, &server->source, err);
	}
	if (result != 0) {
		bt_http_server_destroy(server);
		return result;
	}
	bt_loop_add_worker(loop, run_daemon, server);
	if (!options->serve_later) {
		bt_http_server_serve(server);
	}
	*out_server = server;
	return 0;
}

void bt_http_server_serve(struct bt_http_server *server)
{
	server->is_serving = true;
	server->ready = true; /* the first run adds the listening socket to the epoll set */
	bt_loop_call_at(server->loop, 0);
}

void bt_http_server_stop_listening(struct bt_http_server *server)
{
	if (server->is_stopping) {
		return;
	}
	server->is_stopping = true;
	int fd = MHD_quiesce_daemon(server->daemon);
	if (fd >= 0) {
		(void)close(fd); /* no data to lose */
	}
	for (struct bt_http_connection *connection = server->arriving_first; connection != NULL;
		connection = connection->next) {
		if (connection->exchange == NULL) {
			(void)shutdown(bt_http_socket_of(connection->handle),
				SHUT_RDWR); /* the socket may be closed */
		}
	}
}

uint32_t bt_http_server_open_count(const struct bt_http_server *server)
{
	uint32_t count = 0;
	for (const struct bt_http_exchange *exchange = server->live; exchange != NULL;
		exchange = exchange->next) {
		count++;
	}
	return count;
}

void bt_http_server_destroy(struct bt_http_server *server)
{
	if (server == NULL) {
		return;
	}
	if (server->source != NULL) {
		bt_loop_remove_fd(server->loop, server->source);
		bt_loop_remove_worker(server->loop, server);
	}
	if (server->daemon != NULL) {
		/* resume suspended connections first: libmicrohttpd cannot stop with them */
		for (struct bt_http_exchange *exchange = server->live; exchange != NULL;
			exchange = exchange->next) {
			if (exchange->websocket != NULL) {
				bt_http_websocket_end(exchange->websocket);
			} else {
				bt_http_exchange_resume(exchange);
			}
		}
		MHD_stop_daemon(server->daemon);
	}
	BT_ASSERT(server->live == NULL);
	bt_strbuf_finish(&server->log);
	if (server->ticket_key.data != NULL) {
		gnutls_memset(server->ticket_key.data, 0, server->ticket_key.size);
		gnutls_free(server->ticket_key.data);
	}
	while (server->tls_sets != NULL) {
		struct bt_http_tls_set *set = server->tls_sets;
		server->tls_sets = set->next;
		bt_http_tls_set_free(set);
	}
	bt_free(server);
}

uint16_t bt_http_server_port(const struct bt_http_server *server)
{
	return server->port;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "net/http_server_private.h"

/* For larger answers the client's timeout is stalled_timeout_seconds, not idle_timeout_seconds. */
#define LONG_ANSWER_BYTES 65536
/* An answer up to this size fits with its head into an empty socket send buffer. */
#define SHORT_ANSWER_BYTES 8192

struct MHD_Response *bt_http_empty_response(void)
{
	static char empty[1];
	return MHD_create_response_from_buffer(0, empty, MHD_RESPMEM_PERSISTENT);
}

void bt_http_add_header(struct bt_http_exchange *exchange, const char *name, struct bt_str value)
{
	BT_ASSERT(!exchange->answered);
	bt_strbuf_append(&exchange->headers, name, strlen(name) + 1);
	for (uint32_t i = 0; i < value.length; i++) {
		unsigned char byte = (unsigned char)value.data[i];
		/* replace control characters: a line break would start another header */
		bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
		bt_strbuf_append_char(&exchange->headers, control ? ' ' : value.data[i]);
	}
	bt_strbuf_append_char(&exchange->headers, '\0');
}

enum MHD_Result bt_http_answer_queue(struct bt_http_exchange *exchange)
{
	struct MHD_Response *response = exchange->response;
	exchange->response = NULL;
	if (exchange->may_cork && exchange->is_short && !exchange->refused) {
		bt_http_tls_cork(exchange);
	}
	enum MHD_Result result = MHD_queue_response(exchange->handle, exchange->code, response);
	MHD_destroy_response(response);
	return result;
}

void bt_http_exchange_resume(struct bt_http_exchange *exchange)
{
	if (exchange->suspended && exchange->websocket == NULL) {
		exchange->suspended = false;
		exchange->server->active_count++;
		exchange->server->resumed = true;
		/* resuming does not make libmicrohttpd's descriptor readable */
		bt_loop_call_at(exchange->server->loop, 0);
		MHD_resume_connection(exchange->handle);
	}
}

void bt_http_answer_response(struct bt_http_exchange *exchange, uint16_t code,
	struct MHD_Response *response, bool is_long)
{
	const struct bt_http_limits *limits = &exchange->server->limits;
	BT_ASSERT(exchange->handed && !exchange->answered);
	BT_ASSERT(response != NULL);
	exchange->response = response;
	exchange->code = code;
	if (exchange->body_bytes > limits->body_bytes_max) {
		exchange->refused = true;
	}
	if (exchange->refused) {
		bt_http_add_header(exchange, MHD_HTTP_HEADER_CONNECTION, BT_STR("close"));
	}
	size_t next = 0;
	while (next != exchange->headers.length) {
		const char *name = exchange->headers.data + next;
		const char *value = name + strlen(name) + 1;
		next += strlen(name) + strlen(value) + 2;
		/* fails only for length headers, which libmicrohttpd sets, and for empty values */
		(void)MHD_add_response_header(exchange->response, name, value);
	}
	exchange->answered = true;
	if (is_long && limits->stalled_timeout_seconds != limits->idle_timeout_seconds) {
		exchange->connection->long_timeout = true;
		(void)MHD_set_connection_option(exchange->handle, MHD_CONNECTION_OPTION_TIMEOUT,
			(unsigned int)limits->stalled_timeout_seconds); /* cannot fail */
	}
	bt_http_exchange_resume(exchange);
}

static void free_body(void *body)
{
	bt_free(body);
}

void bt_http_answer(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body)
{
	size_t length = body->length;
	struct MHD_Response *response;
	exchange->is_short = length <= SHORT_ANSWER_BYTES;
	if (length == 0) {
		bt_strbuf_finish(body);
		response = bt_http_empty_response();
	} else {
		char *data = bt_strbuf_steal(body);
		response =
			MHD_create_response_from_buffer_with_free_callback(length, data, free_body);
	}
	bt_http_answer_response(exchange, code, response, length > LONG_ANSWER_BYTES);
}

static void handle_disconnect(void *context, uint32_t directions)
{
	struct bt_http_exchange *exchange = context;
	(void)directions; /* only the hangup is watched */
	bt_loop_set_directions(exchange->hangup, 0);
	exchange->is_disconnected = true;
	bt_http_exchange_resume(exchange);
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t capacity)
{
	struct bt_http_exchange *exchange = context;
	int fd;
	(void)position; /* streams track their position */
	exchange->server->progress = true;
	if (exchange->is_disconnected) {
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	int64_t count = exchange->stream.read(exchange->stream.context, buffer, capacity);
	switch (count) {
	case BT_HTTP_STREAM_WAIT:
		/* libmicrohttpd does not poll suspended connections: the loop watches them. */
		fd = bt_http_socket_of(exchange->handle);
		if (exchange->hangup == NULL && fd >= 0) {
			/* if the watch fails, the next write detects the hangup */
			(void)(bt_loop_watch_fd(exchange->server->loop, fd, BT_LOOP_HANGUP,
				       handle_disconnect, exchange, &exchange->hangup, NULL) == 0);
		}
		bt_http_exchange_suspend(exchange);
		return 0;
	case BT_HTTP_STREAM_END:
		return MHD_CONTENT_READER_END_OF_STREAM;
	case BT_HTTP_STREAM_ABORT:
		return MHD_CONTENT_READER_END_WITH_ERROR;
	default:
		BT_ASSERT(count > 0 && (uint64_t)count <= capacity);
		return (ssize_t)count;
	}
}

void bt_http_answer_stream(
	struct bt_http_exchange *exchange, uint16_t code, const struct bt_http_stream *stream)
{
	exchange->stream = *stream;
	exchange->streaming = true;
	bt_http_answer_response(exchange, code,
		MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, 4096, read_stream, exchange, NULL),
		true);
}

void bt_http_stream_resume(struct bt_http_exchange *exchange)
{
	if (exchange->websocket != NULL) {
		bt_http_websocket_resume(exchange->websocket);
	} else if (exchange->streaming) {
		bt_http_exchange_resume(exchange);
	}
}

/* Maximum memory reserved for an announced Content-Length before the body arrives. */
#define BODY_RESERVE_BYTES_MAX 65536
/* Bytes of a body that do not count towards large_bodies_bytes_max. */
#define SMALL_BODY_BYTES 65536

struct bt_http_exchange *bt_http_exchange_begin(
	struct bt_http_server *server, struct MHD_Connection *handle, const char *target)
{
	struct bt_http_exchange *exchange = BT_NEW(struct bt_http_exchange);
	exchange->server = server;
	exchange->handle = handle;
	bt_strbuf_append_c(&exchange->target, target);
	struct bt_str text = bt_strbuf_str(&exchange->target);
	int64_t scheme = bt_str_find(text, BT_STR("://"));
	if (scheme >= 0 && text.data[0] != '/') {
		/* Clients of proxies send "http://host/path?query": take the path and query. */
		uint32_t start = (uint32_t)scheme + 3;
		while (start < text.length && text.data[start] != '/' && text.data[start] != '?') {
			start++;
		}
		text = start < text.length ? bt_str_sub(text, start, BT_STR_MAX) : BT_STR("/");
	}
	int64_t mark = bt_str_find_char(text, '?');
	exchange->path = mark < 0 ? text : bt_str_sub(text, 0, (uint32_t)mark);
	exchange->query = mark < 0 ? BT_STR("") : bt_str_sub(text, (uint32_t)mark + 1, BT_STR_MAX);
	server->active_count++;
	BT_CHAIN_ADD(server->live, exchange, previous, next);
	return exchange;
}

void bt_http_exchange_suspend(struct bt_http_exchange *exchange)
{
	exchange->suspended = true;
	exchange->server->active_count--;
	MHD_suspend_connection(exchange->handle);
}

static uint64_t large_bytes_of(const struct bt_http_exchange *exchange)
{
	size_t length = exchange->body.length;
	return length > SMALL_BODY_BYTES ? length - SMALL_BODY_BYTES : 0;
}

void bt_http_exchange_end(struct bt_http_exchange *exchange)
{
	struct bt_http_server *server = exchange->server;
	if (exchange->hangup != NULL) {
		bt_loop_remove_fd(server->loop, exchange->hangup);
	}
	if (exchange->streaming) {
		exchange->streaming = false;
		exchange->stream.finish(exchange->stream.context);
	}
	if (exchange->handed) {
		server->handler.closed(server->handler.context, exchange);
	}
	server->active_count -= exchange->suspended ? 0 : 1;
	if (exchange->response != NULL) {
		MHD_destroy_response(exchange->response);
	}
	BT_CHAIN_REMOVE(server->live, exchange, previous, next);
	server->large_bytes -= large_bytes_of(exchange);
	bt_strbuf_finish(&exchange->target);
	bt_strbuf_finish(&exchange->body);
	bt_strbuf_finish(&exchange->headers);
	bt_free(exchange);
}

bool bt_http_exchange_take(struct bt_http_exchange *exchange, const char *data, size_t length)
{
	struct bt_http_server *server = exchange->server;
	uint64_t max = server->limits.body_bytes_max;
	uint64_t large_max = server->limits.large_bodies_bytes_max;
	uint64_t large_bytes = large_bytes_of(exchange);
	exchange->body_bytes += length;
	if (exchange->refused) {
		return true;
	}
	if (exchange->body_bytes <= max) {
		if (exchange->body.capacity == 0 && length < BODY_RESERVE_BYTES_MAX) {
			int64_t announced = 0;
			struct bt_str text = bt_http_header(exchange, "Content-Length");
			if (bt_str_parse_int64(text, &announced) && announced > 0) {
				bt_strbuf_reserve(&exchange->body,
					(size_t)BT_MIN(announced, BODY_RESERVE_BYTES_MAX));
			}
		}
		bt_strbuf_append(&exchange->body, data, length);
		server->large_bytes += large_bytes_of(exchange) - large_bytes;
		return large_max == 0 || large_bytes_of(exchange) == 0 ||
			server->large_bytes <= large_max;
	}
	/*
	 * Read and drop a limited amount of further data: closing with unread data resets the
	 * connection, and the reset can overtake the answer while the client still writes.
	 */
	server->large_bytes -= large_bytes;
	bt_strbuf_finish(&exchange->body);
	return exchange->body_bytes <= 4 * max;
}

struct bt_str bt_http_method(const struct bt_http_exchange *exchange)
{
	return exchange->method;
}

struct bt_str bt_http_path(const struct bt_http_exchange *exchange)
{
	return exchange->path;
}

struct bt_str bt_http_query(const struct bt_http_exchange *exchange)
{
	return exchange->query;
}

struct bt_str bt_http_header(const struct bt_http_exchange *exchange, const char *name)
{
	return bt_str_from(MHD_lookup_connection_value(exchange->handle, MHD_HEADER_KIND, name));
}

/**
 * Context of take_header. If `take` is set, it is called for each header with this name; otherwise
 * take_prefixed is called for each header whose name has the prefix `name`.
 */
struct header_walk {
	struct bt_str name;
	void (*take)(void *context, struct bt_str value);
	void (*take_prefixed)(void *context, struct bt_str name, struct bt_str value);
	void *context;
};

static enum MHD_Result take_header(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	const struct header_walk *walk = context;
	struct bt_str text = bt_str_from(name);
	struct bt_str start = bt_str_sub(text, 0, walk->name.length);
	(void)kind; /* always a header */
	if (walk->take != NULL && bt_str_equal_without_case(text, walk->name)) {
		walk->take(walk->context, bt_str_from(value != NULL ? value : ""));
	} else if (walk->take == NULL && bt_str_equal_without_case(start, walk->name)) {
		walk->take_prefixed(walk->context, text, bt_str_from(value != NULL ? value : ""));
	}
	return MHD_YES;
}

void bt_http_each_header(const struct bt_http_exchange *exchange, const char *name,
	void (*take)(void *context, struct bt_str value), void *context)
{
	struct header_walk walk = {.name = bt_str_from(name), .take = take, .context = context};
	(void)MHD_get_connection_values(
		exchange->handle, MHD_HEADER_KIND, take_header, &walk); /* count unused */
}

void bt_http_each_header_prefixed(const struct bt_http_exchange *exchange, struct bt_str prefix,
	void (*take)(void *context, struct bt_str name, struct bt_str value), void *context)
{
	struct header_walk walk = {.name = prefix, .take_prefixed = take, .context = context};
	(void)MHD_get_connection_values(
		exchange->handle, MHD_HEADER_KIND, take_header, &walk); /* count unused */
}

struct bt_str bt_http_body(const struct bt_http_exchange *exchange)
{
	return bt_strbuf_str(&exchange->body);
}

void bt_http_set_data(struct bt_http_exchange *exchange, void *data)
{
	exchange->data = data;
}

void *bt_http_data(const struct bt_http_exchange *exchange)
{
	return exchange->data;
}

bool bt_http_percent_decode(struct bt_str text, bool plus_is_blank, struct bt_strbuf *out)
{
	bt_strbuf_reserve(out, text.length);
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (byte == '+' && plus_is_blank) {
			byte = ' ';
		} else if (byte == '%') {
			if (text.length - i < 3) {
				return false;
			}
			int high = bt_hex_value(text.data[i + 1]);
			int low = bt_hex_value(text.data[i + 2]);
			if (high < 0 || low < 0) {
				return false;
			}
			byte = (char)(unsigned char)(high * 16 + low);
			i += 2;
		}
		if (byte == 0) {
			return false;
		}
		bt_strbuf_append_char(out, byte);
	}
	return true;
}

static bool decode(struct bt_str text, struct bt_arena *arena, struct bt_str *out)
{
	if (bt_str_find_char(text, '%') < 0 && bt_str_find_char(text, '+') < 0) {
		*out = bt_arena_str(arena, text.data != NULL ? text : BT_STR(""));
		return true;
	}
	struct bt_strbuf buffer = {0};
	bool is_valid = bt_http_percent_decode(text, true, &buffer);
	*out = bt_arena_take_strbuf(arena, &buffer);
	return is_valid;
}

bool bt_http_query_next(struct bt_str *query, struct bt_arena *arena, struct bt_str *out_name,
	struct bt_str *out_value)
{
	while (query->length != 0) {
		struct bt_str value = bt_str_cut(query, '&');
		bool is_plain = bt_str_find_char(value, ';') < 0;
		struct bt_str name = bt_str_cut(&value, '=');
		if (is_plain && decode(name, arena, out_name) && decode(value, arena, out_value)) {
			return true;
		}
	}
	return false;
}

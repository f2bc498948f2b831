/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/assert.h"
#include "net/http_server_private.h"

/* Answers above this size can stall for long, and get the timeout that is meant for them. */
#define LONG_ANSWER_BYTES 65536

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
		/* texts of clients must not end the line, or make another header */
		bool control = (byte < 0x20 && byte != '\t') || byte == 0x7f;
		bt_strbuf_append_char(&exchange->headers, control ? ' ' : value.data[i]);
	}
	bt_strbuf_append_char(&exchange->headers, '\0');
}

enum MHD_Result bt_http_answer_queue(struct bt_http_exchange *exchange)
{
	struct MHD_Response *response = exchange->response;
	exchange->response = NULL;
	enum MHD_Result result = MHD_queue_response(exchange->handle, exchange->code, response);
	MHD_destroy_response(response);
	return result;
}

void bt_http_exchange_resume(struct bt_http_exchange *exchange)
{
	if (exchange->suspended) {
		exchange->suspended = false;
		exchange->server->active_count++;
		exchange->server->resumed = true;
		/* libmicrohttpd's descriptor does not tell of it */
		bt_loop_call_at(exchange->server->loop, 0);
		MHD_resume_connection(exchange->handle);
	}
}

static void answer(struct bt_http_exchange *exchange, uint16_t code, struct MHD_Response *response,
	bool is_long)
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
		/* refused only for lengths that we set, or an empty value: nothing to say then */
		(void)MHD_add_response_header(exchange->response, name, value);
	}
	exchange->answered = true;
	if (is_long && limits->stalled_timeout_seconds != limits->idle_timeout_seconds) {
		exchange->connection->long_timeout = true;
		(void)MHD_set_connection_option(exchange->handle, MHD_CONNECTION_OPTION_TIMEOUT,
			(unsigned int)limits->stalled_timeout_seconds); /* known option */
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
	if (length == 0) {
		bt_strbuf_finish(body);
		response = bt_http_empty_response();
	} else {
		char *data = bt_strbuf_steal(body);
		response =
			MHD_create_response_from_buffer_with_free_callback(length, data, free_body);
	}
	answer(exchange, code, response, length > LONG_ANSWER_BYTES);
}

static void client_left(void *context)
{
	struct bt_http_exchange *exchange = context;
	exchange->gone = true;
	bt_http_exchange_resume(exchange);
}

/* libmicrohttpd does not look at suspended connections, so somebody else must. */
static void watch_hangup(struct bt_http_exchange *exchange)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(exchange->handle, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (exchange->hangup != NULL || info == NULL) {
		return;
	}
	int result = bt_loop_add_hangup(exchange->server->loop, info->connect_fd, client_left,
		exchange, &exchange->hangup, NULL);
	(void)result; /* without it the client's leaving shows at the next write */
}

static ssize_t read_stream(void *context, uint64_t position, char *buffer, size_t capacity)
{
	struct bt_http_exchange *exchange = context;
	(void)position; /* streams know it */
	exchange->server->progress = true;
	if (exchange->gone) {
		return MHD_CONTENT_READER_END_WITH_ERROR;
	}
	int64_t count = exchange->stream.read(exchange->stream.context, buffer, capacity);
	switch (count) {
	case BT_HTTP_STREAM_WAIT:
		watch_hangup(exchange);
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
	answer(exchange, code,
		MHD_create_response_from_callback(
			MHD_SIZE_UNKNOWN, 4096, read_stream, exchange, NULL),
		true);
}

void bt_http_stream_wake(struct bt_http_exchange *exchange)
{
	if (exchange->streaming) {
		bt_http_exchange_resume(exchange);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "front_fixture.h"

#include <stdio.h>

#include "base/assert.h"

#define STREAM_BYTES_MAX (4u << 20)

static int64_t clock_of(void *context)
{
	return ((const struct front_fixture *)context)->now_ns;
}

static struct bt_str next_line(struct bt_str *rest)
{
	int64_t end = bt_str_find_char(*rest, '\n');
	struct bt_str line = end < 0 ? *rest : bt_str_sub(*rest, 0, (uint32_t)end);
	*rest = end < 0 ? BT_STR("") : bt_str_sub(*rest, (uint32_t)end + 1, BT_STR_MAX);
	return line;
}

static void wire_each_header(const struct bt_http_exchange *exchange, const char *name,
	void (*take)(void *context, struct bt_str value), void *context)
{
	const struct front_fixture *fixture = (const void *)exchange;
	struct bt_str rest = bt_str_from(fixture->headers != NULL ? fixture->headers : "");
	while (rest.length != 0) {
		struct bt_str line = next_line(&rest);
		int64_t colon = bt_str_find(line, BT_STR(": "));
		if (colon >= 0 && bt_str_equal_c(bt_str_sub(line, 0, (uint32_t)colon), name)) {
			take(context, bt_str_sub(line, (uint32_t)colon + 2, BT_STR_MAX));
		}
	}
}

static void take_first(void *context, struct bt_str value)
{
	struct bt_str *out = context;
	if (out->data == NULL) {
		*out = value;
	}
}

static struct bt_str wire_header(const struct bt_http_exchange *exchange, const char *name)
{
	struct bt_str value = {NULL, 0};
	wire_each_header(exchange, name, take_first, &value);
	return value;
}

static void wire_add_header(
	struct bt_http_exchange *exchange, const char *name, struct bt_str value)
{
	struct front_fixture *fixture = (void *)exchange;
	BT_ASSERT(!fixture->answered);
	bt_strbuf_printf(&fixture->answer_headers, "%s: %.*s\n", name, BT_STR_ARG(value));
}

static uint32_t wire_peer_certificates(
	const struct bt_http_exchange *exchange, struct bt_str *out_chain, uint32_t capacity)
{
	(void)exchange; /* clients of these tests have tokens */
	(void)out_chain;
	(void)capacity;
	return 0;
}

static void wire_answer(struct bt_http_exchange *exchange, uint16_t code, struct bt_strbuf *body)
{
	struct front_fixture *fixture = (void *)exchange;
	BT_ASSERT(!fixture->answered);
	fixture->answered = true;
	fixture->code = code;
	bt_strbuf_append_str(&fixture->body, bt_strbuf_str(body));
	bt_strbuf_finish(body);
}

static void wire_answer_stream(
	struct bt_http_exchange *exchange, uint16_t code, const struct bt_http_stream *stream)
{
	struct front_fixture *fixture = (void *)exchange;
	BT_ASSERT(!fixture->answered);
	fixture->answered = true;
	fixture->code = code;
	fixture->stream = *stream;
}

static void wire_answer_websocket(struct bt_http_exchange *exchange, const char *protocol,
	const struct bt_http_stream *stream)
{
	wire_add_header(exchange, "Sec-WebSocket-Protocol", bt_str_from(protocol));
	wire_answer_stream(exchange, 101, stream);
}

static void wire_wake(struct bt_http_exchange *exchange)
{
	(void)exchange; /* the caller reads the body again anyway */
}

static const struct bt_wire wire = {
	wire_header,
	wire_each_header,
	wire_add_header,
	wire_peer_certificates,
	wire_answer,
	wire_answer_stream,
	wire_answer_websocket,
	wire_wake,
};

static void init(
	struct front_fixture *fixture, const struct bt_front_options *options, const char *path)
{
	*fixture = (struct front_fixture){.now_ns = INT64_C(1795262400000000000)};
	fixture->store = bt_store_create(&bt_store_default_options);
	if (path != NULL && bt_store_open(fixture->store, path, NULL) != 0) {
		BT_ASSERT(false);
	}
	struct bt_api_options api = {.store = fixture->store,
		.now_ns = clock_of,
		.clock_context = fixture,
		.seed = 1,
		.admit_token_volumes = options != NULL && options->certificate_pem != NULL,
		.has_rbac = options != NULL && options->certificate_pem != NULL};
	struct bt_front_options front = {0};
	fixture->api = bt_api_create(&api);
	if (options != NULL) {
		front = *options;
	}
	front.api = fixture->api;
	front.watches_max = front.watches_max != 0 ? front.watches_max : 10;
	fixture->front = bt_front_create_bare(NULL, &front, &wire);
	bt_front_set_ready(fixture->front);
}

void front_fixture_init(struct front_fixture *fixture, const struct bt_front_options *options)
{
	init(fixture, options, NULL);
}

void front_fixture_init_file(struct front_fixture *fixture, const char *path)
{
	init(fixture, NULL, path);
}

void front_fixture_finish(struct front_fixture *fixture)
{
	bt_front_destroy(fixture->front);
	bt_api_destroy(fixture->api);
	bt_store_destroy(fixture->store);
	bt_strbuf_finish(&fixture->answer_headers);
	bt_strbuf_finish(&fixture->body);
}

static void read_stream(struct front_fixture *fixture)
{
	char buffer[8192];
	while (fixture->body.length < STREAM_BYTES_MAX) {
		int64_t count =
			fixture->stream.read(fixture->stream.context, buffer, sizeof(buffer));
		fixture->streamed = count == BT_HTTP_STREAM_WAIT;
		if (count <= 0) {
			break;
		}
		bt_strbuf_append(&fixture->body, buffer, (size_t)count);
	}
	fixture->stream.finish(fixture->stream.context);
}

struct bt_front_call *front_start(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body)
{
	struct bt_str text = bt_str_from(target);
	int64_t mark = bt_str_find_char(text, '?');
	struct bt_front_request request = {
		.method = bt_str_from(method),
		.path = mark < 0 ? text : bt_str_sub(text, 0, (uint32_t)mark),
		.query = mark < 0 ? BT_STR("") : bt_str_sub(text, (uint32_t)mark + 1, BT_STR_MAX),
		.body = body,
	};
	fixture->answered = false;
	fixture->streamed = false;
	fixture->code = 0;
	fixture->stream = (struct bt_http_stream){0};
	bt_strbuf_reset(&fixture->answer_headers);
	bt_strbuf_reset(&fixture->body);
	return bt_front_begin(fixture->front, (void *)fixture, &request);
}

uint16_t front_ask(
	struct front_fixture *fixture, const char *method, const char *target, struct bt_str body)
{
	struct bt_front_call *call = front_start(fixture, method, target, body);
	if (bt_front_flush(fixture->front, NULL) != 0) {
		BT_ASSERT(false);
	}
	if (fixture->stream.read != NULL) {
		read_stream(fixture);
	}
	bt_front_end(call);
	return fixture->code;
}

uint16_t front_ask_as(struct front_fixture *fixture, const char *bearer, const char *method,
	const char *target, const char *body)
{
	char headers[4300] = "";
	char text[8192] = "";
	(void)snprintf(headers, sizeof(headers), "%s%s\n%s",
		bearer != NULL ? "Authorization: Bearer " : "", bearer != NULL ? bearer : "",
		strcmp(method, "PATCH") == 0 ? "Content-Type: application/merge-patch+json\n" : "");
	for (size_t i = 0; body != NULL && body[i] != '\0' && i + 1 < sizeof(text); i++) {
		text[i] = body[i] == '\'' ? '"' : body[i];
	}
	fixture->headers = headers;
	uint16_t code = front_ask(fixture, method, target, bt_str_from(text));
	fixture->headers = NULL;
	return code;
}

const char *front_body(const struct front_fixture *fixture)
{
	return bt_strbuf_c(&fixture->body);
}

bool front_has_header(const struct front_fixture *fixture, const char *line)
{
	struct bt_str rest = bt_strbuf_str(&fixture->answer_headers);
	while (rest.length != 0) {
		if (bt_str_equal_c(next_line(&rest), line)) {
			return true;
		}
	}
	return false;
}

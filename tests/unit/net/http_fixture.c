/* SPDX-License-Identifier: Apache-2.0 */
#include "http_fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

#define TURN_NS INT64_C(5000000)
#define WAIT_NS INT64_C(10000000000)
#define BIG_BYTES (8U << 20)

static char big[BIG_BYTES];

static int64_t read_feed(void *context, char *buffer, size_t capacity)
{
	struct fixture *fixture = context;
	if (fixture->feed.length != 0) {
		size_t count = fixture->feed.length < capacity ? fixture->feed.length : capacity;
		memcpy(buffer, fixture->feed.data, count);
		fixture->feed.length -= count;
		memmove(fixture->feed.data, fixture->feed.data + count, fixture->feed.length);
		return (int64_t)count;
	}
	if (fixture->feed_aborts) {
		return BT_HTTP_STREAM_ABORT;
	}
	return fixture->feed_ends ? BT_HTTP_STREAM_END : BT_HTTP_STREAM_WAIT;
}

static int64_t read_endless(void *context, char *buffer, size_t capacity)
{
	struct fixture *fixture = context;
	memset(buffer, 'e', capacity);
	fixture->endless_bytes += capacity;
	return (int64_t)capacity;
}

static void count_finish(void *context)
{
	struct fixture *fixture = context;
	fixture->finish_count++;
}

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	struct fixture *fixture = context;
	struct bt_str path = bt_http_path(exchange);
	struct bt_http_stream stream = {fixture, read_feed, count_finish};
	fixture->request_count++;
	bt_http_set_data(exchange, fixture);
	if (bt_str_equal(path, BT_STR("/later"))) {
		fixture->kept = exchange;
		return;
	}
	if (bt_str_equal(path, BT_STR("/stream"))) {
		fixture->kept = exchange;
		bt_http_add_header(exchange, "Content-Type", BT_STR("application/json"));
		bt_http_answer_stream(exchange, 200, &stream);
		return;
	}
	if (bt_str_equal(path, BT_STR("/websocket"))) {
		fixture->kept = exchange;
		bt_http_answer_websocket(exchange, "test", &stream);
		return;
	}
	if (bt_str_equal(path, BT_STR("/endless"))) {
		stream.read = read_endless;
		bt_http_answer_stream(exchange, 200, &stream);
		return;
	}
	if (bt_str_equal(path, BT_STR("/big"))) {
		struct bt_strbuf body = {0};
		memset(big, 'b', sizeof(big));
		bt_strbuf_append(&body, big, sizeof(big));
		bt_http_answer(exchange, 200, &body);
		return;
	}
	struct bt_strbuf body = {0};
	bt_strbuf_printf(&body, "%.*s %.*s?%.*s ", BT_STR_ARG(bt_http_method(exchange)),
		BT_STR_ARG(path), BT_STR_ARG(bt_http_query(exchange)));
	bt_strbuf_append_str(&body, bt_http_body(exchange));
	bt_strbuf_append_char(&body, '\n');
	bt_http_add_header(exchange, "X-Test", BT_STR("a\r\nb"));
	bt_http_answer(exchange, 200, &body);
}

static void on_too_large(void *context, struct bt_http_exchange *exchange)
{
	struct fixture *fixture = context;
	struct bt_strbuf body = {0};
	fixture->too_large_count++;
	bt_http_set_data(exchange, fixture);
	bt_strbuf_append_c(&body, "too large\n");
	bt_http_answer(exchange, 413, &body);
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	struct fixture *fixture = context;
	ck_assert_ptr_eq(bt_http_data(exchange), fixture);
	fixture->closed_count++;
	if (fixture->kept == exchange) {
		fixture->kept = NULL;
	}
}

void fixture_start(struct fixture *fixture)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (fixture->limits.body_bytes_max == 0) {
		fixture->limits = bt_http_default_limits;
	}
	struct bt_http_server_options options = {
		.address = fixture->address != NULL ? fixture->address : "127.0.0.1",
		.certificates = {.certificate_pem = fixture->certificate_pem,
			.key_pem = fixture->key_pem},
		.limits = fixture->limits,
		.handler = {fixture, on_request, on_too_large, on_closed},
	};
	ck_assert_int_eq(bt_loop_create(&fixture->loop, &err), 0);
	ck_assert_msg(bt_http_server_create(fixture->loop, &options, &fixture->server, &err) == 0,
		"%s", berth_error_message(&err));
	ck_assert_uint_ne(bt_http_server_port(fixture->server), 0);
}

void fixture_finish(struct fixture *fixture)
{
	bt_http_server_destroy(fixture->server);
	bt_loop_destroy(fixture->loop);
	bt_strbuf_finish(&fixture->feed);
}

void fixture_turns(struct fixture *fixture, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		if (bt_loop_turn(fixture->loop, 0, NULL) != 0) {
			ck_abort_msg("the loop failed");
		}
	}
}

static void turn(struct fixture *fixture, int64_t start_ns, const char *what)
{
	if (bt_loop_turn(fixture->loop, TURN_NS, NULL) != 0) {
		ck_abort_msg("the loop failed");
	}
	if (bt_loop_now_ns(fixture->loop) - start_ns > WAIT_NS) {
		ck_abort_msg("waited in vain for %s", what);
	}
}

void fixture_wait_count(struct fixture *fixture, const uint32_t *counter, uint32_t value)
{
	int64_t start_ns = bt_loop_now_ns(fixture->loop);
	while (*counter < value) {
		turn(fixture, start_ns, "a counter");
	}
	ck_assert_uint_eq(*counter, value);
}

void client_connect(struct client *client, struct fixture *fixture)
{
	bool is_v6 = fixture->address != NULL && strchr(fixture->address, ':') != NULL;
	uint16_t port = bt_http_server_port(fixture->server);
	struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
	struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
		.sin6_port = htons(port),
		.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	struct client fresh = {.fixture = fixture, .fd = -1};
	v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fresh.fd = socket(is_v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(fresh.fd, 0);
	/* the kernel completes the connection before the server accepts it */
	int result = is_v6 ? connect(fresh.fd, (const void *)&v6, sizeof(v6))
			   : connect(fresh.fd, (const void *)&v4, sizeof(v4));
	ck_assert_int_eq(result, 0);
	*client = fresh;
}

void client_close(struct client *client)
{
	if (client->fd >= 0) {
		ck_assert_int_eq(close(client->fd), 0);
	}
	client->fd = -1;
	bt_strbuf_finish(&client->in);
}

void client_receive(struct client *client)
{
	char buffer[65536];
	ssize_t count;
	while (!client->ended &&
		(count = recv(client->fd, buffer, sizeof(buffer), MSG_DONTWAIT)) >= 0) {
		bt_strbuf_append(&client->in, buffer, (size_t)count);
		client->ended = count == 0;
	}
	if (!client->ended && errno != EAGAIN && errno != EINTR) {
		client->ended = true;
	}
}

void client_send(struct client *client, const char *data, size_t length)
{
	int64_t start_ns = bt_loop_now_ns(client->fixture->loop);
	while (length != 0) {
		ssize_t count = send(client->fd, data, length, MSG_DONTWAIT | MSG_NOSIGNAL);
		if (count < 0 && errno != EAGAIN) {
			return; /* the server closed the connection; its answer is still unread */
		}
		if (count > 0) {
			data += count;
			length -= (size_t)count;
		}
		turn(client->fixture, start_ns, "room to send");
		client_receive(client);
	}
}

void client_send_text(struct client *client, const char *text)
{
	client_send(client, text, strlen(text));
}

uint32_t client_count(const struct client *client, const char *text)
{
	uint32_t count = 0;
	const char *next = bt_strbuf_c(&client->in);
	while ((next = strstr(next, text)) != NULL) {
		count++;
		next += strlen(text);
	}
	return count;
}

void client_expect(struct client *client, const char *text, uint32_t count)
{
	int64_t start_ns = bt_loop_now_ns(client->fixture->loop);
	client_receive(client);
	while (client_count(client, text) < count) {
		if (client->ended) {
			ck_abort_msg("the connection ended without \"%s\": %s", text,
				bt_strbuf_c(&client->in));
		}
		turn(client->fixture, start_ns, text);
		client_receive(client);
	}
	ck_assert_uint_eq(client_count(client, text), count);
}

void client_expect_end(struct client *client)
{
	int64_t start_ns = bt_loop_now_ns(client->fixture->loop);
	client_receive(client);
	while (!client->ended) {
		turn(client->fixture, start_ns, "the end of a connection");
		client_receive(client);
	}
}

void client_forget(struct client *client)
{
	bt_strbuf_reset(&client->in);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_client.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/nanoseconds.h"
#include "client_fixture.h"
#include "http_fixture.h"
#include "test_main.h"

/** A plain HTTP server and a client of that server. */
struct pair {
	struct fixture server;
	struct bt_http_client *client;
	char url[64];
};

static struct bt_http_client *make_client(
	struct bt_loop *loop, const struct bt_http_client_options *options)
{
	struct bt_http_client *client = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_msg(bt_http_client_create(loop, options, &client, &err) == 0, "%s",
		berth_error_message(&err));
	return client;
}

static void pair_start_with(struct pair *pair, const struct bt_http_client_options *options)
{
	fixture_start(&pair->server);
	pair->client = make_client(pair->server.loop, options);
	ck_assert_int_gt(snprintf(pair->url, sizeof(pair->url), "http://127.0.0.1:%u",
				 (unsigned int)bt_http_server_port(pair->server.server)),
		0);
}

static void pair_start(struct pair *pair)
{
	static const struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	pair_start_with(pair, &options);
}

static void pair_finish(struct pair *pair)
{
	bt_http_client_destroy(pair->client);
	fixture_finish(&pair->server);
}

static const char *url_of(const struct pair *pair, const char *path)
{
	static char url[128];
	ck_assert_int_gt(snprintf(url, sizeof(url), "%s%s", pair->url, path), 0);
	return url;
}

START_TEST(test_http_client__methods)
{
	static const struct {
		const char *method;
		const char *body; /* NULL: none */
		const char *answer;
	} rows[] = {
		{"GET", NULL, "GET /a/../b?x=%20 \n"},
		{"POST", "{}", "POST /a/../b?x=%20 {}\n"},
		{"PATCH", "[1]", "PATCH /a/../b?x=%20 [1]\n"},
		{"PUT", "p", "PUT /a/../b?x=%20 p\n"},
		{"DELETE", NULL, "DELETE /a/../b?x=%20 \n"},
		{"DELETE", "d", "DELETE /a/../b?x=%20 d\n"},
		{"POST", NULL, "POST /a/../b?x=%20 \n"},
		{"HEAD", NULL, ""},
		{"GET", NULL, "GET /a/../b?x=%20 \n"},
		{"HEAD", NULL, ""},
		{"POST", "q", "POST /a/../b?x=%20 q\n"},
		{"OPTIONS", NULL, "OPTIONS /a/../b?x=%20 \n"},
	};
	struct pair pair = {0};
	pair_start(&pair);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct result result = {0};
		struct bt_http_client_request request = {
			.method = rows[i].method,
			.url = url_of(&pair, "/a/../b?x=%20"),
			.body = bt_str_from(rows[i].body),
		};
		result_start(&result, pair.client, pair.server.loop, &request);
		result_wait(&result);
		ck_assert_msg(result.outcome.failure == BT_HTTP_FAILURE_NONE, "%s: %s",
			rows[i].method, bt_strbuf_c(&result.message));
		ck_assert_uint_eq(result.outcome.code, 200);
		ck_assert(result.outcome.sent && result.outcome.answered);
		ck_assert_uint_eq(result.head_code, 200);
		ck_assert_str_eq(bt_strbuf_c(&result.body), rows[i].answer);
		ck_assert_str_eq(bt_strbuf_c(&result.header), "a  b");
		ck_assert_str_eq(bt_strbuf_c(&result.message), "");
		result_finish(&result);
	}
	pair_finish(&pair);
}
END_TEST

/*
 * Expects this failure. Another failure is reported with the message, which has the name of the
 * row.
 */
static void expect_failure(struct result *result, enum bt_http_failure failure, const char *message)
{
	result_wait(result);
	ck_assert_msg(result->outcome.failure == failure, "failure %d: %s",
		(int)result->outcome.failure, bt_strbuf_c(&result->message));
	ck_assert_str_eq(bt_strbuf_c(&result->message), message);
}

/* Transfers are reused: state left from one request would show in the next request. */
START_TEST(test_http_client__paths_one_after_the_other)
{
	static const struct {
		const char *path;
		const char *answer; /* NULL: refused */
	} rows[] = {
		{"/a?b=c", "GET /a?b=c \n"},
		{"/a#part", "GET /a? \n"},
		{"/longer/than/before", "GET /longer/than/before? \n"},
		{"", "GET /? \n"},
		{"?x=1", "GET /?x=1 \n"},
		{"/a b", NULL},
		{"/a\r\nX: y", NULL},
		{"/\x7f", NULL},
		{"/~a!$&'()*+,;=:@%7F", "GET /~a!$&'()*+,;=:@%7F? \n"},
	};
	struct pair pair = {0};
	pair_start(&pair);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct result result = {0};
		result_get(&result, pair.client, pair.server.loop, url_of(&pair, rows[i].path));
		result_wait(&result);
		ck_assert_msg((result.outcome.failure == BT_HTTP_FAILURE_NONE) ==
				(rows[i].answer != NULL),
			"row %zu: %s", i, bt_strbuf_c(&result.message));
		ck_assert_msg(rows[i].answer == NULL ||
				strcmp(bt_strbuf_c(&result.body), rows[i].answer) == 0,
			"row %zu: %s", i, bt_strbuf_c(&result.body));
		ck_assert_msg(rows[i].answer != NULL || !result.outcome.sent, "row %zu", i);
		result_finish(&result);
	}
	pair_finish(&pair);
}
END_TEST

START_TEST(test_http_client__no_listener)
{
	struct pair pair = {0};
	struct result refused = {0};
	struct result unknown = {0};
	struct result odd = {0};
	struct result header = {0};
	struct peer peer;
	char text[128];
	struct bt_http_header bad = {"X-Bad", BT_STR("a\nb")};
	struct bt_http_client_request request = {
		.method = "GET", .url = "http://127.0.0.1:1/", .headers = &bad, .header_count = 1};
	pair_start(&pair);
	peer_listen(&peer, pair.server.loop);
	peer_finish(&peer);
	result_get(&refused, pair.client, pair.server.loop, peer.url);
	(void)snprintf(text, sizeof(text), "dial tcp 127.0.0.1:%u: connect: connection refused",
		(unsigned int)peer.port);
	expect_failure(&refused, BT_HTTP_FAILURE_REFUSED, text);
	ck_assert(!refused.outcome.sent && !refused.outcome.answered);
	ck_assert_uint_eq(refused.outcome.code, 0);
	ck_assert_uint_eq(refused.head_count, 0);
	result_get(&unknown, pair.client, pair.server.loop, "https://no-such.invalid/x");
	expect_failure(&unknown, BT_HTTP_FAILURE_RESOLVE,
		"dial tcp: lookup no-such.invalid: no such host");
	ck_assert(!unknown.outcome.sent);
	result_get(&odd, pair.client, pair.server.loop, "ftp://127.0.0.1/");
	expect_failure(&odd, BT_HTTP_FAILURE_OTHER,
		"unsupported protocol scheme, or invalid URL \"ftp://127.0.0.1/\"");
	result_start(&header, pair.client, pair.server.loop, &request);
	expect_failure(&header, BT_HTTP_FAILURE_OTHER,
		"net/http: invalid header field value for \"X-Bad\"");
	result_finish(&refused);
	result_finish(&unknown);
	result_finish(&odd);
	result_finish(&header);
	pair_finish(&pair);
}
END_TEST

/** The answer of a peer, and the result that the client reports. */
struct script {
	const char *name;
	const char *answer; /* the peer closes the connection afterwards */
	bool reset;
	enum bt_http_failure failure;
	const char *message; /* NULL: not compared */
	bool answered;
	uint16_t code;
	const char *body;
};

static const struct script scripts[] = {
	{"nothing", "", false, BT_HTTP_FAILURE_RESET, "EOF", false, 0, ""},
	{"reset", "", true, BT_HTTP_FAILURE_RESET, NULL, false, 0, ""},
	{"half a head", "HTTP/1.1 200 OK\r\nX-Te", false, BT_HTTP_FAILURE_RESET, NULL, false, 0,
		""},
	{"short body", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab", false,
		BT_HTTP_FAILURE_RESET, "unexpected EOF", true, 200, "ab"},
	{"short chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", false,
		BT_HTTP_FAILURE_RESET, "unexpected EOF", true, 200, "ab"},
	{"no last chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", false,
		BT_HTTP_FAILURE_RESET, "unexpected EOF", true, 200, "ab"},
	{"bad chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab\r\n", false,
		BT_HTTP_FAILURE_OTHER, "malformed chunked encoding", true, 200, ""},
	{"no HTTP", "hello there, this is no HTTP\r\n\r\n", false, BT_HTTP_FAILURE_OTHER,
		"net/http: HTTP/1.x transport connection broken: malformed HTTP response", false, 0,
		""},
	{"until the end", "HTTP/1.1 200 OK\r\n\r\nabc", false, BT_HTTP_FAILURE_NONE, "", true, 200,
		"abc"},
	{"chunks",
		"HTTP/1.1 404 Not Found\r\nTransfer-Encoding: chunked\r\nX-Test:  t \r\n\r\n"
		"2\r\nab\r\n1;x=y\r\nc\r\n0\r\nX-Trailer: z\r\n\r\n",
		false, BT_HTTP_FAILURE_NONE, "", true, 404, "abc"},
	{"informational",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 1\r\n\r\nx",
		false, BT_HTTP_FAILURE_NONE, "", true, 201, "x"},
	{"redirect not followed",
		"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
		false, BT_HTTP_FAILURE_NONE, "", true, 302, ""},
};

START_TEST(test_http_client__odd_answers)
{
	struct pair pair = {0};
	pair_start(&pair);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(scripts); i++) {
		const struct script *script = &scripts[i];
		struct peer peer;
		struct result result = {0};
		struct bt_http_client_request request = {
			.method = "POST", .url = peer.url, .body = BT_STR("0123456789")};
		peer_listen(&peer, pair.server.loop);
		result_start(&result, pair.client, pair.server.loop, &request);
		peer_accept(&peer);
		peer_expect(&peer, "0123456789");
		/* headers that many clients add */
		ck_assert_ptr_null(strstr(bt_strbuf_c(&peer.in), "Expect"));
		ck_assert_ptr_null(strstr(bt_strbuf_c(&peer.in), "User-Agent"));
		ck_assert_ptr_null(strstr(bt_strbuf_c(&peer.in), "Accept"));
		ck_assert_ptr_null(strstr(bt_strbuf_c(&peer.in), "Content-Type"));
		peer_send(&peer, script->answer);
		peer_hang_up(&peer, script->reset);
		result_wait(&result);
		ck_assert_msg(result.outcome.failure == script->failure, "%s: %d %s", script->name,
			(int)result.outcome.failure, bt_strbuf_c(&result.message));
		if (script->message != NULL) {
			ck_assert_msg(strcmp(bt_strbuf_c(&result.message), script->message) == 0,
				"%s: %s", script->name, bt_strbuf_c(&result.message));
		} else {
			ck_assert_str_ne(bt_strbuf_c(&result.message), "");
		}
		ck_assert_msg(result.outcome.answered == script->answered, "%s", script->name);
		ck_assert_msg(result.outcome.sent, "%s", script->name);
		ck_assert_uint_eq(result.outcome.code, script->code);
		ck_assert_msg(strcmp(bt_strbuf_c(&result.body), script->body) == 0, "%s: %s",
			script->name, bt_strbuf_c(&result.body));
		result_finish(&result);
		peer_finish(&peer);
	}
	pair_finish(&pair);
}
END_TEST

#define OK_ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

/*
 * The client notices that the server closed a kept connection before it writes a request to that
 * connection.
 */
START_TEST(test_http_client__closed_between_requests)
{
	struct pair pair = {0};
	struct peer peer;
	struct bt_http_client_request request = {
		.method = "POST", .url = peer.url, .body = BT_STR("body")};
	pair_start(&pair);
	peer_listen(&peer, pair.server.loop);
	for (int i = 0; i < 4; i++) {
		struct result result = {0};
		result_start(&result, pair.client, pair.server.loop, &request);
		peer_accept(&peer);
		peer_expect(&peer, "body");
		peer_send(&peer, OK_ANSWER);
		result_wait(&result);
		ck_assert_int_eq(result.outcome.failure, BT_HTTP_FAILURE_NONE);
		peer_hang_up(&peer, false);
		fixture_turns(&pair.server, 3);
		result_finish(&result);
	}
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

/*
 * The server closes a kept connection after the request was sent: only GET, which changes nothing,
 * is repeated.
 */
START_TEST(test_http_client__edge_13_34_closed_behind_the_request)
{
	static const struct {
		const char *method;
		bool repeated;
	} rows[] = {{"POST", false}, {"PATCH", false}, {"DELETE", false}, {"GET", true}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct pair pair = {0};
		struct peer peer;
		struct result first = {0};
		struct result second = {0};
		struct bt_http_client_request request = {.url = peer.url};
		request.method = rows[i].method;
		pair_start(&pair);
		peer_listen(&peer, pair.server.loop);
		result_start(&first, pair.client, pair.server.loop, &request);
		peer_accept(&peer);
		peer_expect(&peer, "\r\n\r\n");
		peer_send(&peer, OK_ANSWER);
		result_wait(&first);
		bt_strbuf_reset(&peer.in);
		result_start(&second, pair.client, pair.server.loop, &request);
		peer_expect(&peer, "\r\n\r\n");
		peer_hang_up(&peer, false);
		if (rows[i].repeated) {
			peer_accept(&peer);
			peer_expect(&peer, "\r\n\r\n");
			peer_send(&peer, OK_ANSWER);
			result_wait(&second);
			ck_assert_int_eq(second.outcome.failure, BT_HTTP_FAILURE_NONE);
		} else {
			expect_failure(&second, BT_HTTP_FAILURE_RESET, "EOF");
			ck_assert(second.outcome.sent);
		}
		result_finish(&first);
		result_finish(&second);
		peer_finish(&peer);
		pair_finish(&pair);
	}
}
END_TEST

START_TEST(test_http_client__timeouts)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	struct peer peer;
	struct result awaiting = {0};
	struct result reading = {0};
	struct result handshake = {0};
	struct result queued = {0};
	struct result hog = {0};
	struct bt_http_client_request request = {
		.method = "GET", .url = peer.url, .timeout_ns = 30000000};
	char url[64];
	options.connect_timeout_ns = 50000000;
	options.connections_max = 1;
	pair_start_with(&pair, &options);
	peer_listen(&peer, pair.server.loop);
	result_start(&awaiting, pair.client, pair.server.loop, &request);
	expect_failure(&awaiting, BT_HTTP_FAILURE_TIMEOUT,
		"context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
	ck_assert(awaiting.outcome.sent);
	peer_accept(&peer);
	peer_hang_up(&peer, false);
	result_start(&reading, pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_send(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
	expect_failure(&reading, BT_HTTP_FAILURE_TIMEOUT,
		"context deadline exceeded (Client.Timeout or context cancellation while reading "
		"body)");
	ck_assert(reading.outcome.answered);
	peer_hang_up(&peer, false);
	/* the peer accepts the connection, but does not speak TLS */
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%u", (unsigned int)peer.port);
	result_get(&handshake, pair.client, pair.server.loop, url);
	expect_failure(&handshake, BT_HTTP_FAILURE_TIMEOUT, "net/http: TLS handshake timeout");
	ck_assert(!handshake.outcome.sent);
	peer_accept(&peer);
	peer_hang_up(&peer, false);
	/* no connection is free for the second request */
	result_get(&hog, pair.client, pair.server.loop, peer.url);
	result_start(&queued, pair.client, pair.server.loop, &request);
	expect_failure(&queued, BT_HTTP_FAILURE_TIMEOUT,
		"context deadline exceeded (Client.Timeout exceeded while awaiting headers)");
	ck_assert(!queued.outcome.sent);
	ck_assert_uint_eq(hog.done_count, 0);
	bt_http_transfer_cancel(hog.transfer);
	result_finish(&awaiting);
	result_finish(&reading);
	result_finish(&handshake);
	result_finish(&queued);
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

static void turn_for(struct pair *pair, int64_t ms)
{
	struct bt_loop *loop = pair->server.loop;
	int64_t end_ns = bt_loop_now_ns(loop) + ms * BT_NS_PER_MS;
	while (bt_loop_now_ns(loop) < end_ns) {
		struct berth_error err = BERTH_ERROR_INIT;
		ck_assert_int_eq(bt_loop_turn(loop, end_ns - bt_loop_now_ns(loop), &err), 0);
	}
}

/* The context of result_start is the struct result. */
static bool may_send_once(void *context)
{
	struct result *result = context;
	return result->may_send_count-- != 0;
}

/* Conditions can change while a transfer waits for a connection or for room in the socket. */
START_TEST(test_http_client__transfers_that_may_not_be_sent_fail)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	struct peer peer;
	struct result first = {0};
	struct result queued = {0};
	struct result dialed = {0};
	struct result half = {.may_send_count = 1};
	enum { BODY_BYTES = 32 << 20 };
	struct bt_http_client_request request = {
		.method = "POST", .url = peer.url, .handler = {.may_send = may_send_once}};
	options.connections_max = 1;
	pair_start_with(&pair, &options);
	peer_listen(&peer, pair.server.loop);
	result_get(&first, pair.client, pair.server.loop, peer.url);
	result_start(&queued, pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_expect(&peer, "\r\n\r\n");
	peer_send(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
	expect_failure(&queued, BT_HTTP_FAILURE_OTHER, "context canceled");
	ck_assert(!queued.outcome.sent);
	ck_assert_uint_eq(first.outcome.code, 200);
	peer_expect_end(&peer);
	peer_hang_up(&peer, false);
	result_start(&dialed, pair.client, pair.server.loop, &request);
	expect_failure(&dialed, BT_HTTP_FAILURE_OTHER, "context canceled");
	ck_assert(!dialed.outcome.sent);
	peer_accept(&peer);
	peer_expect_end(&peer);
	ck_assert_uint_eq(peer.in.length, 0);
	peer_hang_up(&peer, false);
	/* larger than the buffers of both sockets */
	char *body = bt_calloc(1, BODY_BYTES);
	request.body = (struct bt_str){body, BODY_BYTES};
	result_start(&half, pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_expect(&peer, "\r\n\r\n");
	expect_failure(&half, BT_HTTP_FAILURE_OTHER, "context canceled");
	ck_assert(half.outcome.sent);
	bt_free(body);
	result_finish(&first);
	result_finish(&queued);
	result_finish(&dialed);
	result_finish(&half);
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

/* Only the silence limits notice a server that hangs. */
START_TEST(test_http_client__silence)
{
	struct pair pair = {0};
	struct peer peer;
	struct result results[4] = {{0}};
	struct bt_http_client_request request = {
		.method = "POST", .url = peer.url, .head_silence_ns = 50 * BT_NS_PER_MS};
	pair_start(&pair);
	peer_listen(&peer, pair.server.loop);
	result_start(&results[0], pair.client, pair.server.loop, &request);
	expect_failure(&results[0], BT_HTTP_FAILURE_TIMEOUT, "the server has fallen silent");
	ck_assert(results[0].outcome.sent && !results[0].outcome.answered);
	peer_accept(&peer);
	peer_hang_up(&peer, false);
	/* silence within the body has a separate limit */
	request.head_silence_ns = 0;
	request.body_silence_ns = 50 * BT_NS_PER_MS;
	result_start(&results[1], pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_expect(&peer, "POST");
	turn_for(&pair, 60);
	peer_send(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab");
	expect_failure(&results[1], BT_HTTP_FAILURE_TIMEOUT, "the server has fallen silent");
	ck_assert(results[1].outcome.answered);
	ck_assert_str_eq(bt_strbuf_c(&results[1].body), "ab");
	peer_hang_up(&peer, false);
	/* a slow body may take longer in total than the silence limit */
	request.head_silence_ns = 200 * BT_NS_PER_MS;
	request.body_silence_ns = 200 * BT_NS_PER_MS;
	result_start(&results[2], pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_send(&peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
	for (int i = 0; i < 5; i++) {
		turn_for(&pair, 60);
		peer_send(&peer, "x");
	}
	result_wait(&results[2]);
	ck_assert_str_eq(bt_strbuf_c(&results[2].message), "");
	ck_assert_str_eq(bt_strbuf_c(&results[2].body), "xxxxx");
	/* without a limit the transfer waits forever */
	request.head_silence_ns = 0;
	request.body_silence_ns = 0;
	result_start(&results[3], pair.client, pair.server.loop, &request);
	turn_for(&pair, 100);
	ck_assert_uint_eq(results[3].done_count, 0);
	bt_http_transfer_cancel(results[3].transfer);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(results); i++) {
		result_finish(&results[i]);
	}
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

/** Returns the client's end of the connection to that port. */
static int find_connection(uint16_t port)
{
	for (int fd = 0; fd < 1024; fd++) {
		struct sockaddr_in address = {0};
		socklen_t length = sizeof(address);
		if (getpeername(fd, (void *)&address, &length) == 0 &&
			address.sin_family == AF_INET && ntohs(address.sin_port) == port) {
			return fd;
		}
	}
	return -1;
}

static int option_of(int fd, int level, int name)
{
	int value = -1;
	socklen_t length = sizeof(value);
	ck_assert_int_eq(getsockopt(fd, level, name, &value, &length), 0);
	return value;
}

/*
 * A dead machine closes no connection: the kernel's keepalive probes fail, and the connection ends.
 */
START_TEST(test_http_client__edge_13_44_closed_peer)
{
	struct pair pair = {0};
	struct peer peer;
	struct result result = {0};
	int fd;
	pair_start(&pair);
	peer_listen(&peer, pair.server.loop);
	result_get(&result, pair.client, pair.server.loop, peer.url);
	peer_accept(&peer);
	peer_expect(&peer, "GET");
	fd = find_connection(peer.port);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(option_of(fd, SOL_SOCKET, SO_KEEPALIVE), 1);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPIDLE), 30);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_KEEPINTVL), 15);
	ck_assert_int_eq(option_of(fd, IPPROTO_TCP, TCP_USER_TIMEOUT), 45000);
	bt_http_transfer_cancel(result.transfer);
	result_finish(&result);
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

/* The listener accepts no connections, and the backlog of the kernel is full. */
START_TEST(test_http_client__connect_timeout)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	struct peer peer;
	struct peer fillers[4];
	struct sockaddr_in address = {.sin_family = AF_INET};
	struct result result = {0};
	char text[96];
	options.connect_timeout_ns = 60000000;
	pair_start_with(&pair, &options);
	peer_listen(&peer, pair.server.loop);
	ck_assert_int_eq(listen(peer.listen_fd, 0), 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = htons(peer.port);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fillers); i++) {
		fillers[i].fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
		ck_assert_int_ge(fillers[i].fd, 0);
		/* connect may stay pending: the test needs a full backlog */
		(void)connect(fillers[i].fd, (const void *)&address, sizeof(address));
	}
	result_get(&result, pair.client, pair.server.loop, peer.url);
	(void)snprintf(
		text, sizeof(text), "dial tcp 127.0.0.1:%u: i/o timeout", (unsigned int)peer.port);
	expect_failure(&result, BT_HTTP_FAILURE_TIMEOUT, text);
	ck_assert(!result.outcome.sent);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(fillers); i++) {
		ck_assert_int_eq(close(fillers[i].fd), 0);
	}
	result_finish(&result);
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

START_TEST(test_http_client__streams)
{
	struct pair pair = {0};
	struct result result = {.streams = true};
	pair_start(&pair);
	result_get(&result, pair.client, pair.server.loop, url_of(&pair, "/stream"));
	fixture_wait_count(&pair.server, &result.head_count, 1);
	ck_assert_uint_eq(result.data_count, 0);
	for (uint32_t i = 1; i <= 3; i++) {
		bt_strbuf_append_c(&pair.server.feed, "event\n");
		bt_http_stream_resume(pair.server.kept);
		fixture_wait_count(&pair.server, &result.data_count, i);
	}
	ck_assert_str_eq(bt_strbuf_c(&result.body), "event\nevent\nevent\n");
	ck_assert_uint_eq(result.done_count, 0);
	pair.server.feed_ends = true;
	bt_http_stream_resume(pair.server.kept);
	result_wait(&result);
	ck_assert_int_eq(result.outcome.failure, BT_HTTP_FAILURE_NONE);
	ck_assert_uint_eq(result.outcome.body.length, 0);
	result_finish(&result);
	pair_finish(&pair);
}
END_TEST

START_TEST(test_http_client__cancelled)
{
	struct pair pair = {0};
	struct result at_head = {.cancels_at_head = true};
	struct result at_data = {.streams = true, .cancels_at_data = true};
	struct result waiting = {0};
	struct result queued = {0};
	struct result after = {0};
	pair_start(&pair);
	result_get(&at_head, pair.client, pair.server.loop, url_of(&pair, "/endless"));
	fixture_wait_count(&pair.server, &pair.server.closed_count, 1);
	ck_assert_uint_eq(at_head.head_count, 1);
	result_get(&at_data, pair.client, pair.server.loop, url_of(&pair, "/endless"));
	fixture_wait_count(&pair.server, &pair.server.closed_count, 2);
	ck_assert_uint_eq(at_data.data_count, 1);
	result_get(&waiting, pair.client, pair.server.loop, url_of(&pair, "/later"));
	fixture_wait_count(&pair.server, &pair.server.request_count, 3);
	bt_http_transfer_cancel(waiting.transfer);
	result_get(&queued, pair.client, pair.server.loop, url_of(&pair, "/never"));
	bt_http_transfer_cancel(queued.transfer);
	result_get(&after, pair.client, pair.server.loop, url_of(&pair, "/after"));
	result_wait(&after);
	ck_assert_uint_eq(pair.server.request_count, 4);
	ck_assert_uint_eq(
		at_head.done_count + at_data.done_count + waiting.done_count + queued.done_count,
		0);
	result_finish(&at_head);
	result_finish(&at_data);
	result_finish(&after);
	pair_finish(&pair);
}
END_TEST

START_TEST(test_http_client__bounded_body)
{
	struct pair pair = {0};
	struct result result = {0};
	struct result big = {0};
	struct bt_http_client_request request = {.method = "GET", .body_bytes_max = 100000};
	pair_start(&pair);
	request.url = url_of(&pair, "/endless");
	result_start(&result, pair.client, pair.server.loop, &request);
	expect_failure(&result, BT_HTTP_FAILURE_OTHER, "the response is larger than 100000 bytes");
	ck_assert_uint_le(result.body.length, 100000);
	result_get(&big, pair.client, pair.server.loop, url_of(&pair, "/big"));
	result_wait(&big);
	ck_assert_uint_eq(big.body.length, 8U << 20);
	result_finish(&result);
	result_finish(&big);
	pair_finish(&pair);
}
END_TEST

#define MANY 1000

/* The transfers queue for a few connections; the end of each transfer starts another one. */
START_TEST(test_http_client__many)
{
	static struct result results[MANY];
	static struct result follow_ups[MANY];
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	options.connections_max = 8;
	pair_start_with(&pair, &options);
	for (uint32_t i = 0; i < MANY; i++) {
		struct result fresh = {
			.follow_up = &follow_ups[i], .follow_up_url = url_of(&pair, "/next")};
		struct result empty = {0};
		follow_ups[i] = empty;
		results[i] = fresh;
		result_get(&results[i], pair.client, pair.server.loop, url_of(&pair, "/next"));
	}
	fixture_wait_count(&pair.server, &pair.server.request_count, 8);
	for (uint32_t i = 0; i < MANY; i++) {
		result_wait(&results[i]);
	}
	for (uint32_t i = 0; i < MANY; i++) {
		result_wait(&follow_ups[i]);
		ck_assert_int_eq(results[i].outcome.failure, BT_HTTP_FAILURE_NONE);
		ck_assert_int_eq(follow_ups[i].outcome.failure, BT_HTTP_FAILURE_NONE);
		result_finish(&results[i]);
		result_finish(&follow_ups[i]);
	}
	ck_assert_uint_eq(pair.server.request_count, 2 * MANY);
	pair_finish(&pair);
}
END_TEST

START_TEST(test_http_client__destroyed_with_transfers)
{
	static struct result results[20];
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	options.connections_max = 10;
	pair_start_with(&pair, &options);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(results); i++) {
		struct result fresh = {.streams = true};
		results[i] = fresh;
		result_get(&results[i], pair.client, pair.server.loop, url_of(&pair, "/stream"));
	}
	fixture_wait_count(&pair.server, &pair.server.request_count, 10);
	bt_http_client_destroy(pair.client);
	fixture_wait_count(&pair.server, &pair.server.closed_count, 10);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(results); i++) {
		ck_assert_uint_eq(results[i].done_count, 0);
		result_finish(&results[i]);
	}
	fixture_finish(&pair.server);
}
END_TEST

START_TEST(test_http_client__redirects)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct pair pair = {0};
	struct peer peer;
	struct result result = {0};
	struct bt_http_client_request request = {
		.method = "POST", .url = peer.url, .body = BT_STR("once")};
	char answer[256];
	options.follow_redirects = true;
	pair_start_with(&pair, &options);
	peer_listen(&peer, pair.server.loop);
	result_start(&result, pair.client, pair.server.loop, &request);
	peer_accept(&peer);
	peer_expect(&peer, "once");
	(void)snprintf(answer, sizeof(answer),
		"HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n",
		url_of(&pair, "/there"));
	peer_send(&peer, answer);
	result_wait(&result);
	ck_assert_str_eq(bt_strbuf_c(&result.message), "");
	ck_assert_str_eq(bt_strbuf_c(&result.body), "GET /there? \n");
	ck_assert_uint_eq(result.head_count, 1);
	ck_assert_uint_eq(result.head_code, 200);
	result_finish(&result);
	peer_finish(&peer);
	pair_finish(&pair);
}
END_TEST

BT_TEST_MAIN("http_client", test_http_client__methods, test_http_client__paths_one_after_the_other,
	test_http_client__no_listener, test_http_client__odd_answers,
	test_http_client__closed_between_requests,
	test_http_client__edge_13_34_closed_behind_the_request, test_http_client__timeouts,
	test_http_client__transfers_that_may_not_be_sent_fail, test_http_client__silence,
	test_http_client__edge_13_44_closed_peer, test_http_client__connect_timeout,
	test_http_client__streams, test_http_client__cancelled, test_http_client__bounded_body,
	test_http_client__many, test_http_client__destroyed_with_transfers,
	test_http_client__redirects)

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "http_fixture.h"
#include "test_main.h"

START_TEST(test_http_server__methods)
{
	static const char *const methods[] = {
		"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "FOO"};
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(methods); i++) {
		char text[128];
		(void)snprintf(text, sizeof(text),
			"%s /a%%2Fb/?x=%%41&y HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi",
			methods[i]);
		client_send_text(&client, text);
		(void)snprintf(text, sizeof(text), "%s /a%%2Fb/?x=%%41&y hi\n", methods[i]);
		client_expect(&client, text, 1);
	}
	client_forget(&client);
	client_send_text(&client, "HEAD /x HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	client_expect(&client, "Content-Length: 10\r\n", 1);
	ck_assert_uint_eq(client_count(&client, "HEAD"), 0);
	ck_assert_uint_eq(client_count(&client, "X-Test: a  b\r\n"), 1);
	ck_assert_uint_eq(client_count(&client, "Date: "), 1);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 8);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_http_server__pipelined_and_closing)
{
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client,
		"GET /1 HTTP/1.1\r\nHost: h\r\n\r\n"
		"POST /2 HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		"3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n"
		"GET http://h:80/3?q HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "GET /1? \n"), 1);
	ck_assert_uint_eq(client_count(&client, "POST /2? abcdefg\n"), 1);
	ck_assert_uint_eq(client_count(&client, "GET /3?q \n"), 1);
	client_close(&client);
	/* sent byte by byte */
	client_connect(&client, &fixture);
	const char *text = "POST /4 HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\nabc";
	for (const char *next = text; *next != '\0'; next++) {
		client_send(&client, next, 1);
	}
	client_expect(&client, "POST /4? abc\n", 1);
	client_close(&client);
	/* HTTP/1.0 has no chunks: a stream ends when the connection closes */
	client_connect(&client, &fixture);
	bt_strbuf_append_c(&fixture.feed, "all");
	fixture.feed_ends = true;
	client_send_text(&client, "GET /stream HTTP/1.0\r\n\r\n");
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "\r\n\r\nall"), 1);
	client_close(&client);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, fixture.request_count);
}
END_TEST

START_TEST(test_http_server__large_bodies)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client client;
	char *body = bt_calloc(1, 500000);
	memset(body, 'x', 499999);
	fixture.limits.body_bytes_max = 100000;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100000\r\n\r\n");
	client_send(&client, body, 100000);
	client_expect(&client, "xxx\n", 1);
	ck_assert_uint_eq(fixture.too_large_count, 0);
	ck_assert_uint_gt(client.in.length, 100000);
	/* one byte more: the server reads and drops the body, and refuses the request */
	client_forget(&client);
	client_send_text(&client, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 100001\r\n\r\n");
	client_send(&client, body, 100001);
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "HTTP/1.1 413 "), 1);
	ck_assert_uint_eq(client_count(&client, "too large\n"), 1);
	ck_assert_uint_eq(fixture.too_large_count, 1);
	client_close(&client);
	/* a body far too long, or announced by Expect: the server does not read it */
	client_connect(&client, &fixture);
	client_send_text(
		&client, "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 900000000\r\n\r\n");
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "HTTP/1.1 413 "), 1);
	client_close(&client);
	client_connect(&client, &fixture);
	client_send_text(&client,
		"POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\n"
		"Content-Length: 100001\r\n\r\n");
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "HTTP/1.1 413 "), 1);
	ck_assert_uint_eq(client_count(&client, "100 Continue"), 0);
	client_close(&client);
	/* chunks without end */
	client_connect(&client, &fixture);
	client_send_text(
		&client, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
	client_send_text(&client, "7a11f\r\n");
	client_send(&client, body, 499999);
	client_expect_end(&client);
	client_close(&client);
	client_connect(&client, &fixture);
	client_send_text(
		&client, "POST /a HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n");
	client_send_text(&client, "30d40\r\n");
	client_send(&client, body, 200000);
	client_send_text(&client, "\r\n0\r\n\r\n");
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "HTTP/1.1 413 "), 1);
	client_close(&client);
	ck_assert_uint_eq(fixture.request_count, 1);
	ck_assert_uint_eq(fixture.too_large_count, 4);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, 5);
	bt_free(body);
}
END_TEST

START_TEST(test_http_server__header_limit)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client client;
	struct bt_strbuf text = {0};
	fixture.limits.header_bytes_max = 8192;
	fixture_start(&fixture);
	for (uint32_t size = 4000; size < 40000; size += 4000) {
		client_connect(&client, &fixture);
		bt_strbuf_reset(&text);
		bt_strbuf_append_c(&text, "GET /a HTTP/1.1\r\nHost: h\r\nX: ");
		for (uint32_t i = 0; i < size; i++) {
			bt_strbuf_append_char(&text, 'h');
		}
		bt_strbuf_append_c(&text, "\r\n\r\n");
		client_send(&client, text.data, text.length);
		client_expect(&client, size <= 8000 ? "HTTP/1.1 200 " : "HTTP/1.1 431 ", 1);
		if (size > 8000) {
			client_expect_end(&client);
		}
		client_close(&client);
	}
	bt_strbuf_finish(&text);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.request_count, 2);
	ck_assert_uint_eq(fixture.closed_count, 2);
}
END_TEST

START_TEST(test_http_server__malformed_requests)
{
	static const char *const rows[] = {
		"\r\n\r\n\r\n\r\n",
		"GET\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n",
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost h\r\n\r\n",
		"GET /a b HTTP/1.1\r\nHost: h\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 99999999999999999999\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
		("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
		 "fffffffffffffffff\r\n"),
		"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip\r\n\r\n",
		"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"GET /%zz%00?%%% HTTP/1.1\r\nHost: h\r\n\r\n",
		": \r\n: \r\n\r\n",
	};
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		client_connect(&client, &fixture);
		client_send_text(&client, rows[i]);
		fixture_turns(&fixture, 10);
		client_receive(&client);
		ck_assert_int_eq(shutdown(client.fd, SHUT_WR), 0);
		client_expect_end(&client);
		client_close(&client);
	}
	/* the server still serves */
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /alive HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "GET /alive? \n", 1);
	client_close(&client);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, fixture.request_count + fixture.too_large_count);
}
END_TEST

START_TEST(test_http_server__later_answers)
{
	struct fixture fixture = {0};
	struct client client;
	struct client other;
	struct bt_strbuf body = {0};
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_connect(&other, &fixture);
	for (uint32_t round = 1; round <= 3; round++) {
		client_send_text(&client, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
		while (fixture.kept == NULL) {
			fixture_turns(&fixture, 1);
		}
		/* the server meanwhile serves other clients */
		client_send_text(&other, "GET /now HTTP/1.1\r\nHost: h\r\n\r\n");
		client_expect(&other, "GET /now? \n", round);
		bt_strbuf_append_c(&body, "at last");
		bt_http_answer(fixture.kept, 201, &body);
		client_expect(&client, "at last", round);
		fixture.kept = NULL;
	}
	ck_assert_uint_eq(client_count(&client, "HTTP/1.1 201 "), 3);
	/* the client closes the connection before the answer */
	client_send_text(&client, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
	while (fixture.kept == NULL) {
		fixture_turns(&fixture, 1);
	}
	client_close(&client);
	fixture_turns(&fixture, 10);
	bt_strbuf_append_c(&body, "too late");
	bt_http_answer(fixture.kept, 200, &body);
	fixture_wait_count(&fixture, &fixture.closed_count, 7);
	/* an unanswered request ends with the server */
	client_send_text(&other, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
	while (fixture.kept == NULL) {
		fixture_turns(&fixture, 1);
	}
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, 8);
	client_close(&other);
}
END_TEST

START_TEST(test_http_server__streams)
{
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	/* headers are sent at once */
	client_expect(&client, "\r\n\r\n", 1);
	client_expect(&client, "Transfer-Encoding: chunked\r\n", 1);
	for (uint32_t i = 1; i <= 100; i++) {
		bt_strbuf_append_c(&fixture.feed, "event\n");
		bt_http_stream_resume(fixture.kept);
		bt_http_stream_resume(fixture.kept);
		client_expect(&client, "6\r\nevent\n\r\n", i);
	}
	fixture.feed_ends = true;
	bt_http_stream_resume(fixture.kept);
	client_expect(&client, "0\r\n\r\n", 1);
	ck_assert_uint_eq(fixture.finish_count, 1);
	/* the connection stays open */
	fixture_wait_count(&fixture, &fixture.closed_count, 1);
	client_forget(&client);
	client_send_text(&client, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "GET /x? \n", 1);
	/* an aborted stream closes the connection without the last chunk */
	client_forget(&client);
	fixture.feed_ends = false;
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	fixture.feed_aborts = true;
	bt_http_stream_resume(fixture.kept);
	client_expect_end(&client);
	ck_assert_uint_eq(client_count(&client, "0\r\n\r\n"), 0);
	ck_assert_uint_eq(fixture.finish_count, 2);
	client_close(&client);
	/* the server notices a client that closes while the stream waits */
	fixture.feed_aborts = false;
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.finish_count, 3);
	fixture_wait_count(&fixture, &fixture.closed_count, 4);
	/* a HEAD request gets no body */
	client_connect(&client, &fixture);
	client_send_text(&client, "HEAD /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	fixture_wait_count(&fixture, &fixture.finish_count, 4);
	client_close(&client);
	/* a stream ends with the server */
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.finish_count, 5);
	ck_assert_uint_eq(fixture.closed_count, fixture.request_count);
	client_close(&client);
}
END_TEST

/* The loop has no other event: resuming an answer or a stream must end the loop's wait. */
START_TEST(test_http_server__resuming_ends_the_wait)
{
	struct fixture fixture = {0};
	struct client client;
	struct bt_strbuf body = {0};
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	client_send_text(&client, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
	fixture_wait_count(&fixture, &fixture.request_count, 1);
	bt_strbuf_append_c(&body, "at last");
	bt_http_answer(fixture.kept, 200, &body);
	ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(20000000000), NULL), 0);
	client_expect(&client, "at last", 1);
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	fixture_wait_count(&fixture, &fixture.request_count, 2);
	client_expect(&client, "Transfer-Encoding: chunked\r\n", 1);
	fixture_turns(&fixture, 3);
	bt_strbuf_append_c(&fixture.feed, "event\n");
	bt_http_stream_resume(fixture.kept);
	ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(20000000000), NULL), 0);
	client_expect(&client, "event\n", 1);
	ck_assert_int_lt(bt_loop_now_ns(fixture.loop) - start_ns, INT64_C(10000000000));
	client_close(&client);
	fixture_finish(&fixture);
}
END_TEST

static int64_t wake_kept(void *context, int64_t now_ns)
{
	struct fixture *fixture = context;
	(void)now_ns;
	if (fixture->kept != NULL && fixture->feed.length != 0) {
		bt_http_stream_resume(fixture->kept);
	}
	return INT64_MAX;
}

/* A worker that resumes a stream after the server's worker ran need not request another turn. */
START_TEST(test_http_server__resumed_by_a_later_worker)
{
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	bt_loop_add_worker(fixture.loop, wake_kept, &fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "\r\n\r\n", 1);
	fixture_turns(&fixture, 3);
	bt_strbuf_append_c(&fixture.feed, "news");
	fixture_turns(&fixture, 1);
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(20000000000), NULL), 0);
	ck_assert_int_lt(bt_loop_now_ns(fixture.loop) - start_ns, INT64_C(10000000000));
	client_receive(&client);
	ck_assert_uint_eq(client_count(&client, "news"), 1);
	/* a waiting stream notices that its client closed the connection */
	client_close(&client);
	ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(20000000000), NULL), 0);
	ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(1000000), NULL), 0);
	ck_assert_uint_eq(fixture.finish_count, 1);
	ck_assert_int_lt(bt_loop_now_ns(fixture.loop) - start_ns, INT64_C(10000000000));
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_http_server__large_answers)
{
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	fixture_wait_count(&fixture, &fixture.request_count, 1);
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	while (client.in.length < 8U << 20) {
		fixture_turns(&fixture, 1);
		client_receive(&client);
		if (bt_loop_now_ns(fixture.loop) - start_ns > INT64_C(10000000000)) {
			ck_abort_msg("only %zu bytes", client.in.length);
		}
	}
	fixture_wait_count(&fixture, &fixture.closed_count, 1);
	/* the client closes the connection in the middle of the answer */
	client_send_text(&client, "GET /big HTTP/1.1\r\nHost: h\r\n\r\n");
	fixture_wait_count(&fixture, &fixture.request_count, 2);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 2);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, 2);
}
END_TEST

START_TEST(test_http_server__stalled_client_is_cut)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client stalled;
	struct client client;
	fixture.limits.stalled_timeout_seconds = 1;
	fixture_start(&fixture);
	client_connect(&stalled, &fixture);
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	ck_assert_int_ge(send(stalled.fd, "GET /endless HTTP/1.1\r\nHost: h\r\n\r\n", 35, 0), 0);
	client_connect(&client, &fixture);
	uint32_t served = 0;
	while (fixture.finish_count == 0) {
		client_forget(&client);
		client_send_text(&client, "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
		client_expect(&client, "GET /x? \n", 1);
		served++;
		if (bt_loop_now_ns(fixture.loop) - start_ns > INT64_C(10000000000)) {
			ck_abort_msg("a client that takes nothing is kept");
		}
	}
	ck_assert_int_ge(bt_loop_now_ns(fixture.loop) - start_ns, INT64_C(900000000));
	ck_assert_uint_gt(served, 100);
	/* the server makes no more data for a stalled client than the kernel's buffers take */
	ck_assert_uint_lt(fixture.endless_bytes, 64U << 20);
	client_close(&stalled);
	client_close(&client);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, fixture.request_count);
}
END_TEST

START_TEST(test_http_server__idle_and_dripping_clients_are_cut)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client idle;
	struct client dripping;
	fixture.limits.idle_timeout_seconds = 1;
	fixture_start(&fixture);
	client_connect(&idle, &fixture);
	client_connect(&dripping, &fixture);
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	int64_t drip_ns = start_ns;
	client_send_text(&idle, "GET /x HTTP/1.1\r\n");
	client_send_text(&dripping, "GET /x HTTP/1.1\r\nX: ");
	while (!idle.ended || !dripping.ended) {
		int64_t now_ns = bt_loop_now_ns(fixture.loop);
		if (now_ns - start_ns > INT64_C(9000000000)) {
			ck_abort_msg("a slow client is kept");
		}
		if (idle.ended && now_ns - start_ns > INT64_C(3000000000)) {
			ck_assert_int_gt(now_ns - start_ns, INT64_C(900000000));
		}
		/*
		 * Sends a byte every 20 ms only: one byte per turn would soon exceed the header
		 * limit. The server may have cut the connection, so send may fail.
		 */
		if (now_ns >= drip_ns) {
			drip_ns = now_ns + INT64_C(20000000);
			(void)send(dripping.fd, "x", 1, MSG_DONTWAIT | MSG_NOSIGNAL);
		}
		ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(50000000), NULL), 0);
		client_receive(&idle);
		client_receive(&dripping);
	}
	ck_assert_int_ge(bt_loop_now_ns(fixture.loop) - start_ns, INT64_C(3900000000));
	ck_assert_uint_eq(fixture.request_count, 0);
	client_close(&idle);
	client_close(&dripping);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.closed_count, 0);
}
END_TEST

START_TEST(test_http_server__thousand_streams)
{
	enum { COUNT = 1000 };
	struct fixture fixture = {0};
	struct client *clients = bt_calloc(COUNT, sizeof(*clients));
	struct bt_http_exchange **exchanges = bt_calloc(COUNT, sizeof(*exchanges));
	struct rlimit files = {0, 0};
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max < 4096 ? files.rlim_max : 4096;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	fixture_start(&fixture);
	for (uint32_t i = 0; i < COUNT; i++) {
		client_connect(&clients[i], &fixture);
		client_send_text(&clients[i], "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
		fixture_wait_count(&fixture, &fixture.request_count, i + 1);
		exchanges[i] = fixture.kept;
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		client_expect(&clients[i], "\r\n\r\n", 1);
	}
	for (uint32_t i = 0; i < COUNT; i += 3) {
		bt_strbuf_append_c(&fixture.feed, "event\n");
		bt_http_stream_resume(exchanges[i]);
		client_expect(&clients[i], "event\n", 1);
	}
	for (uint32_t i = 0; i < COUNT; i++) {
		client_receive(&clients[i]);
		ck_assert_uint_eq(client_count(&clients[i], "event\n"), i % 3 == 0 ? 1 : 0);
		if (i % 2 == 0) {
			client_close(&clients[i]);
		}
	}
	fixture_wait_count(&fixture, &fixture.finish_count, COUNT / 2);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.finish_count, COUNT);
	ck_assert_uint_eq(fixture.closed_count, COUNT);
	for (uint32_t i = 1; i < COUNT; i += 2) {
		client_close(&clients[i]);
	}
	bt_free(clients);
	bt_free(exchanges);
}
END_TEST

START_TEST(test_http_server__connection_limits)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client clients[4];
	fixture.limits.connections_max = 3;
	fixture_start(&fixture);
	for (uint32_t i = 0; i < 4; i++) {
		client_connect(&clients[i], &fixture);
		client_send_text(&clients[i], "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n");
	}
	fixture_wait_count(&fixture, &fixture.request_count, 3);
	fixture_turns(&fixture, 20);
	/* the fourth client waits for a connection that is not busy */
	ck_assert_uint_eq(fixture.request_count, 3);
	client_close(&clients[0]);
	fixture_wait_count(&fixture, &fixture.request_count, 4);
	for (uint32_t i = 1; i < 4; i++) {
		client_close(&clients[i]);
	}
	fixture_finish(&fixture);

	struct fixture other = {.limits = bt_http_default_limits};
	other.limits.connections_per_ip_max = 2;
	fixture_start(&other);
	for (uint32_t i = 0; i < 3; i++) {
		client_connect(&clients[i], &other);
		client_send_text(&clients[i], "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
		if (i < 2) {
			client_expect(&clients[i], "GET /x? \n", 1);
		}
	}
	client_expect_end(&clients[2]);
	ck_assert_uint_eq(clients[2].in.length, 0);
	for (uint32_t i = 0; i < 3; i++) {
		client_close(&clients[i]);
	}
	fixture_finish(&other);
}
END_TEST

/* At the limit of connections, a further client replaces the one that has been idle longest. */
START_TEST(test_http_server__idle_connections_make_room)
{
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client clients[4];
	fixture.limits.connections_max = 3;
	fixture_start(&fixture);
	for (uint32_t i = 0; i < 3; i++) {
		client_connect(&clients[i], &fixture);
		client_send_text(&clients[i],
			i == 0 ? "GET /later HTTP/1.1\r\nHost: h\r\n\r\n"
			       : "GET /x HTTP/1.1\r\nHost: h\r\n\r\n");
		fixture_wait_count(&fixture, &fixture.request_count, i + 1);
	}
	client_expect(&clients[1], "GET /x? \n", 1);
	client_expect(&clients[2], "GET /x? \n", 1);
	fixture_turns(&fixture, 20);
	client_send_text(&clients[1], "GET /y HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&clients[1], "GET /y? \n", 1);
	client_connect(&clients[3], &fixture);
	client_send_text(&clients[3], "GET /z HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&clients[3], "GET /z? \n", 1);
	client_expect_end(&clients[2]);
	client_send_text(&clients[1], "GET /w HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&clients[1], "GET /w? \n", 1);
	for (uint32_t i = 0; i < 4; i++) {
		client_close(&clients[i]);
	}
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_http_server__addresses)
{
	struct fixture fixture = {.address = "::1"};
	struct client client;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_http_server *server = NULL;
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /later HTTP/1.1\r\nHost: h\r\n\r\n");
	fixture_wait_count(&fixture, &fixture.request_count, 1);
	client_close(&client);
	/* a port in use, and a text that is not an address */
	struct bt_http_server_options options = {
		.address = "::1", .port = bt_http_server_port(fixture.server)};
	ck_assert_int_eq(
		bt_http_server_create(fixture.loop, &options, &server, &err), BERTH_ERR_IO);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&err), "bind: address already in use"));
	berth_error_finish(&err);
	options = (struct bt_http_server_options){.address = "::ffff:127.0.0.1"};
	ck_assert_int_eq(bt_http_server_create(fixture.loop, &options, &server, &err), 0);
	bt_http_server_destroy(server);
	options.address = "localhost";
	ck_assert_int_eq(
		bt_http_server_create(fixture.loop, &options, &server, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "\"localhost\" is not an IP address");
	berth_error_finish(&err);
	fixture_finish(&fixture);
}
END_TEST

START_TEST(test_http_server__query)
{
	struct bt_arena arena = {0};
	struct bt_str query = BT_STR("a=1%2B+&&%zz=2&b=3;c=4&d&e%3D=%C3%A4");
	static const char *const expected[][2] = {
		{"a", "1+ "}, {"", ""}, {"d", ""}, {"e=", "\xc3\xa4"}};
	struct bt_str name;
	struct bt_str value;
	uint32_t count = 0;
	while (bt_http_query_next(&query, &arena, &name, &value)) {
		ck_assert_uint_lt(count, BT_ARRAY_LENGTH(expected));
		ck_assert(bt_str_equal_c(name, expected[count][0]));
		ck_assert(bt_str_equal_c(value, expected[count][1]));
		ck_assert_ptr_nonnull(value.data);
		count++;
	}
	ck_assert_uint_eq(count, BT_ARRAY_LENGTH(expected));
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_http_server__percent_decode)
{
	static const struct {
		const char *text;
		bool plus_is_blank;
		const char *expected; /* NULL: refused */
	} rows[] = {
		{"", false, ""},
		{"a+b%20c%2F", false, "a+b c/"},
		{"a+b%20c%2f", true, "a b c/"},
		{"%", false, NULL},
		{"%4", false, NULL},
		{"%zz", false, NULL},
		{"%4g", false, NULL},
		{"%00", false, NULL},
		{"%c3%a4", false, "\xc3\xa4"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf out = {0};
		bool done = bt_http_percent_decode(
			bt_str_from(rows[i].text), rows[i].plus_is_blank, &out);
		ck_assert_msg(done == (rows[i].expected != NULL), "%s", rows[i].text);
		if (done) {
			ck_assert_msg(strcmp(bt_strbuf_c(&out), rows[i].expected) == 0, "%s",
				rows[i].text);
		}
		bt_strbuf_finish(&out);
	}
}
END_TEST

static void open_websocket(struct client *client, struct fixture *fixture)
{
	client_connect(client, fixture);
	client_send_text(client,
		"GET /websocket HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\n"
		"Connection: keep-alive, Upgrade\r\nSec-WebSocket-Version: 13\r\n"
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n");
	client_expect(client, "HTTP/1.1 101 ", 1);
	/* the example of RFC 6455, section 1.3 */
	client_expect(client, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", 1);
	client_expect(client, "Sec-WebSocket-Protocol: test\r\n", 1);
	client_expect(client, "\r\n\r\n", 1);
	client_forget(client);
}

START_TEST(test_http_server__websockets)
{
	static const char ping[] = "\x89\x83\1\2\3\4\x60\x60\x60"; /* "abc" */
	static const char data[] = "\x82\xfe\x01\x00\1\2\3\4";
	static const char close_frame[] = "\x88\x80\1\2\3\4";
	char payload[256] = {0};
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	open_websocket(&client, &fixture);
	bt_strbuf_append_c(&fixture.feed, "hello");
	bt_http_stream_resume(fixture.kept);
	client_expect(&client, "\x82\x05hello", 1);
	/* the server drops 256 bytes of data, also when they arrive in parts, and answers a ping */
	client_send(&client, data, sizeof(data) - 1);
	client_send(&client, payload, 100);
	fixture_turns(&fixture, 3);
	client_send(&client, payload, 156);
	client_send(&client, ping, sizeof(ping) - 1);
	client_expect(&client,
		"\x8a\x03"
		"abc",
		1);
	fixture.feed_ends = true;
	bt_http_stream_resume(fixture.kept);
	client_expect(&client, "\x88\x02\x03\xe8", 1);
	ck_assert_uint_eq(fixture.closed_count, 0);
	client_send(&client, close_frame, sizeof(close_frame) - 1);
	client_expect_end(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 1);
	client_close(&client);
	fixture.feed_ends = false;

	/* the client closes first, drops the connection, or breaks the protocol */
	open_websocket(&client, &fixture);
	client_send(&client, close_frame, sizeof(close_frame) - 1);
	client_expect(&client, "\x88\x02\x03\xe8", 1);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 2);
	open_websocket(&client, &fixture);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 3);
	open_websocket(&client, &fixture);
	client_send(&client, "\x82\x01x", 3); /* not masked */
	client_expect(&client, "\x88\x02\x03\xea", 1);
	client_send(&client, payload, sizeof(payload));
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 4);
	open_websocket(&client, &fixture);
	/* a ping with a length over the limit of the protocol */
	client_send(&client, "\x89\xff\xff\xff\xff\xff\xff\xff\xff\xff\1\2\3\4", 14);
	client_expect(&client, "\x88\x02\x03\xea", 1);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 5);
	ck_assert_uint_eq(fixture.finish_count, 5);

	/* data beyond the socket's buffer is sent as the client reads */
	open_websocket(&client, &fixture);
	memset(payload, 'x', sizeof(payload));
	for (uint32_t i = 0; i < 4096; i++) {
		bt_strbuf_append(&fixture.feed, payload, sizeof(payload));
	}
	fixture.feed_ends = true;
	bt_http_stream_resume(fixture.kept);
	for (uint32_t i = 0; i < 1000 && client.in.length < 4096 * sizeof(payload) + 260; i++) {
		fixture_turns(&fixture, 1);
		client_receive(&client);
	}
	/* the server sends 64 messages with headers of four bytes, and the close frame */
	ck_assert_uint_eq(client.in.length, 4096 * sizeof(payload) + 64 * 4 + 4);
	ck_assert_int_eq(memcmp(client.in.data + client.in.length - 4, "\x88\x02\x03\xe8", 4), 0);
	client_close(&client);
	fixture_wait_count(&fixture, &fixture.closed_count, 6);
	fixture.feed_ends = false;

	/* one connection is open when the server ends */
	open_websocket(&client, &fixture);
	fixture_finish(&fixture);
	client_close(&client);
	ck_assert_uint_eq(fixture.closed_count, 7);
}
END_TEST

BT_TEST_MAIN("http_server", test_http_server__methods, test_http_server__pipelined_and_closing,
	test_http_server__large_bodies, test_http_server__header_limit,
	test_http_server__malformed_requests, test_http_server__later_answers,
	test_http_server__streams, test_http_server__websockets,
	test_http_server__resuming_ends_the_wait, test_http_server__resumed_by_a_later_worker,
	test_http_server__large_answers, test_http_server__stalled_client_is_cut,
	test_http_server__idle_and_dripping_clients_are_cut, test_http_server__thousand_streams,
	test_http_server__connection_limits, test_http_server__idle_connections_make_room,
	test_http_server__addresses, test_http_server__query, test_http_server__percent_decode)

/* SPDX-License-Identifier: Apache-2.0 */
/* Requests made to confuse or to exhaust the server. */
#include <stdio.h>
#include <string.h>

#include "base/compiler.h"
#include "http_fixture.h"
#include "test_main.h"

/* The number of parameters has no limit of its own; too long targets are refused. */
START_TEST(test_http_hostile__many_parameters)
{
	static const int counts[] = {500, 600, 12000};
	struct fixture fixture = {0};
	struct client client;
	struct bt_strbuf text = {0};
	fixture_start(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(counts); i++) {
		bt_strbuf_reset(&text);
		bt_strbuf_append_c(&text, "GET /a?x");
		for (int j = 0; j < counts[i]; j++) {
			bt_strbuf_append_c(&text, "&x");
		}
		bt_strbuf_append_c(&text, " HTTP/1.1\r\nHost: h\r\n\r\n");
		client_connect(&client, &fixture);
		client_send(&client, text.data, text.length);
		client_expect(&client, "&x&x \n", 1);
		client_close(&client);
	}
	bt_strbuf_reset(&text);
	bt_strbuf_append_c(&text, "GET /a?");
	for (int j = 0; j < 40000; j++) {
		bt_strbuf_append_c(&text, "&");
	}
	bt_strbuf_append_c(&text, " HTTP/1.1\r\nHost: h\r\n\r\n");
	client_connect(&client, &fixture);
	client_send(&client, text.data, text.length);
	client_expect_end(&client);
	client_close(&client);
	client_connect(&client, &fixture);
	client_send_text(&client, "GET /b HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect(&client, "GET /b? \n", 1);
	client_close(&client);
	fixture_finish(&fixture);
	bt_strbuf_finish(&text);
	ck_assert_uint_eq(fixture.closed_count, fixture.request_count);
}
END_TEST

/*
 * A proxy before the server must find the same end of the body, so ambiguous lengths are refused.
 */
START_TEST(test_http_hostile__two_ends_of_a_body)
{
	static const char *const headers[] = {
		"Content-Length: 2\r\nContent-Length: 5\r\n",
		"Content-Length: 2\r\nContent-Length: 2\r\n",
		"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
		"Transfer-Encoding: gzip, chunked\r\n",
		"Transfer-Encoding: chunked, identity\r\n",
		"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n",
		"Transfer-Encoding: \013chunked\r\n",
		"Content-Length : 2\r\n",
		"Content-Length: 2\r\nTransfer-Encoding\t: chunked\r\n",
	};
	struct fixture fixture = {0};
	struct client client;
	fixture_start(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(headers); i++) {
		char text[256];
		(void)snprintf(text, sizeof(text),
			"POST /a HTTP/1.1\r\nHost: h\r\n%s\r\n2\r\n{}\r\n0\r\n\r\n", headers[i]);
		client_connect(&client, &fixture);
		client_send_text(&client, text);
		client_expect_end(&client);
		ck_assert_msg(client_count(&client, "HTTP/1.1 400 ") == 1, "row %zu: %.*s", i,
			(int)client.in.length, client.in.data);
		client_close(&client);
	}
	ck_assert_uint_eq(fixture.request_count, 0);
	client_connect(&client, &fixture);
	client_send_text(&client,
		"POST /b HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: Chunked\r\n\r\n"
		"2\r\n{}\r\n0\r\n\r\n");
	client_expect(&client, "POST /b? {}\n", 1);
	client_close(&client);
	fixture_finish(&fixture);
}
END_TEST

/* Clients that send large bodies slowly cannot fill the memory; small bodies are still accepted. */
START_TEST(test_http_hostile__large_bodies_share_a_limit)
{
	static char body[100000];
	static const char head[] = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 110000\r\n\r\n";
	struct fixture fixture = {.limits = bt_http_default_limits};
	struct client clients[4];
	memset(body, 'x', sizeof(body));
	fixture.limits.large_bodies_bytes_max = 110000; /* three times 100000 - 65536 */
	fixture_start(&fixture);
	for (int round = 0; round < 2; round++) { /* what a round held is free in the next */
		for (int i = 0; i < 4; i++) {
			client_connect(&clients[i], &fixture);
			client_send_text(&clients[i], head);
			client_send(&clients[i], body, sizeof(body));
			fixture_turns(&fixture, 20);
		}
		client_expect_end(&clients[3]);
		client_close(&clients[3]);
		client_connect(&clients[3], &fixture);
		client_send_text(
			&clients[3], "POST /b HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n{}");
		client_expect(&clients[3], "POST /b? {}\n", 1);
		client_close(&clients[2]);
		fixture_turns(&fixture, 20);
		client_send(&clients[1], body, 10000);
		client_expect(&clients[1], "POST /a? x", 1);
		for (int i = 0; i < 4; i++) {
			if (i != 2) {
				client_close(&clients[i]);
			}
		}
		fixture_turns(&fixture, 20);
	}
	fixture_finish(&fixture);
}
END_TEST

BT_TEST_MAIN("http_hostile", test_http_hostile__many_parameters,
	test_http_hostile__two_ends_of_a_body, test_http_hostile__large_bodies_share_a_limit)

/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_client.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "client_fixture.h"
#include "http_fixture.h"
#include "test_main.h"

/** A plain server of our own and a client of it. */
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

BT_TEST_MAIN("http_client", test_http_client__methods)

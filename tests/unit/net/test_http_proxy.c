/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http_proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/compiler.h"
#include "client_fixture.h"
#include "test_main.h"

static const char *find(const struct bt_http_proxies *proxies, const char *text)
{
	struct bt_http_url url;
	ck_assert_msg(bt_http_url_split(bt_str_from(text), false, &url), "%s", text);
	const struct bt_http_proxy *proxy = bt_http_proxies_find(proxies, &url);
	return proxy != NULL ? proxy->text : NULL;
}

START_TEST(test_http_proxy__urls)
{
	static const char *const bad[] = {"", "x", "http:/x", "http://", "ftp://x", "http://x:y",
		"http://x:65536", "http://[::1", "http://[::1]x", "://x", "http://:80"};
	struct bt_http_url url;
	ck_assert(bt_http_url_split(BT_STR("https://u:p@[fd00::1]:8443/a?b#c"), false, &url));
	ck_assert(bt_str_equal_c(url.host, "fd00::1") && url.is_v6 && url.port == 8443);
	ck_assert(bt_str_equal_c(url.rest, "/a?b#c"));
	ck_assert(bt_http_url_split(BT_STR("HTTP://host?x"), false, &url));
	ck_assert(bt_str_equal_c(url.host, "host") && !url.is_v6 && url.port == 80);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(bad); i++) {
		ck_assert_msg(!bt_http_url_split(bt_str_from(bad[i]), false, &url), "%s", bad[i]);
	}
}
END_TEST

START_TEST(test_http_proxy__completed)
{
	static const struct {
		const char *url;
		const char *completed;
	} rows[] = {
		{"http://proxy", "http://proxy:80"},
		{"https://u:p%40@proxy/", "https://u:p%40@proxy:443"},
		{"socks5://10.0.0.1", "socks5h://10.0.0.1:1080"},
		{"http://[fd00::1]:3128", "http://[fd00::1]:3128"},
	};
	struct bt_http_proxies proxies = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		ck_assert_int_eq(bt_http_proxies_fix(&proxies, rows[i].url, NULL), 0);
		ck_assert_str_eq(find(&proxies, "https://127.0.0.1/"), rows[i].completed);
		ck_assert_str_eq(find(&proxies, "http://host/"), rows[i].completed);
		bt_http_proxies_finish(&proxies);
	}
	ck_assert_int_eq(bt_http_proxies_fix(&proxies, "ftp://x", &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"unsupported scheme \"ftp\", must be http, https, or socks5");
	berth_error_finish(&err);
	ck_assert_int_eq(bt_http_proxies_fix(&proxies, "x", NULL), BERTH_ERR_INVALID);
	ck_assert_int_eq(
		bt_http_proxies_read(&proxies, "p", "ftp://x", NULL, NULL), BERTH_ERR_INVALID);
	ck_assert_ptr_null(proxies.http.text);
	ck_assert_int_eq(bt_http_proxies_read(&proxies, "p:1/x://y", NULL, NULL, NULL), 0);
	ck_assert_str_eq(proxies.http.text, "http://p:1");
	bt_http_proxies_finish(&proxies);
}
END_TEST

START_TEST(test_http_proxy__environment)
{
	static const struct {
		const char *no_proxy;
		const char *url;
		bool proxied;
	} rows[] = {
		{"", "https://host/", true},
		{"", "https://localhost/", false},
		{"", "https://127.0.0.2:6443/", false},
		{"", "https://[::1]/", false},
		{"*", "https://host/", false},
		{"host", "https://HOST/", false},
		{"host", "https://sub.host/", false},
		{"host", "https://otherhost/", true},
		{".host", "https://sub.host/", false},
		{".host", "https://host/", true},
		{"*.host", "https://sub.host/", false},
		{"*.host", "https://host/", true},
		{"x, host ,y", "https://host/", false},
		{"host:6443", "https://host:6443/", false},
		{"host:6443", "https://host/", true},
		{"10.0.0.0/8", "https://10.200.3.4/", false},
		{"10.0.0.0/8", "https://11.0.0.1/", true},
		{"10.0.0.0/8", "https://ten.example/", true},
		{"10.96.0.0/12", "https://10.111.0.1/", false},
		{"10.96.0.0/12", "https://10.112.0.1/", true},
		{"10.0.0.1", "https://10.0.0.1/", false},
		{"10.0.0.1:443", "https://10.0.0.1/", false},
		{"10.0.0.1:80", "https://10.0.0.1/", true},
		{"fd00::/8", "https://[fd12::1]/", false},
		{"fd00::/8", "https://[fe80::1]/", true},
		{"::ffff:10.0.0.1", "https://10.0.0.1/", false},
		{"10.0.0.0/33,/,:,,10.0.0.0/x", "https://10.0.0.1/", true},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_http_proxies proxies = {0};
		ck_assert_int_eq(
			bt_http_proxies_read(&proxies, "", "proxy:3128", rows[i].no_proxy, NULL),
			0);
		const char *found = find(&proxies, rows[i].url);
		ck_assert_msg(
			(found != NULL) == rows[i].proxied, "%s %s", rows[i].no_proxy, rows[i].url);
		if (found != NULL) {
			ck_assert_str_eq(found, "http://proxy:3128");
		}
		ck_assert_ptr_null(find(&proxies, "http://host/"));
		bt_http_proxies_finish(&proxies);
	}
}
END_TEST

static struct bt_http_client *make_client(struct bt_loop *loop, const char *proxy)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client = NULL;
	options.proxy_url = proxy;
	ck_assert_int_eq(bt_http_client_create(loop, &options, &client, NULL), 0);
	return client;
}

#define ANSWER "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

START_TEST(test_http_proxy__plain_and_tunnel)
{
	struct bt_loop *loop = NULL;
	struct peer proxy;
	struct result plain = {0};
	struct result tunnel = {0};
	struct result refused = {0};
	char url[96];
	char text[128];
	ck_assert_int_eq(bt_loop_create(&loop, NULL), 0);
	peer_listen(&proxy, loop);
	(void)snprintf(url, sizeof(url), "http://user:pass@127.0.0.1:%u", (unsigned int)proxy.port);
	struct bt_http_client *client = make_client(loop, url);
	result_get(&plain, client, loop, "http://host.invalid:81/path");
	peer_accept(&proxy);
	peer_expect(&proxy, "\r\n\r\n");
	ck_assert_ptr_nonnull(
		strstr(proxy.in.data, "GET http://host.invalid:81/path HTTP/1.1\r\n"));
	ck_assert_ptr_nonnull(strstr(proxy.in.data, "Proxy-Authorization: Basic dXNlcjpwYXNz\r\n"));
	peer_send(&proxy, ANSWER);
	result_wait(&plain);
	ck_assert_str_eq(bt_strbuf_c(&plain.body), "ok");
	peer_hang_up(&proxy, false);
	/* an https request needs a tunnel, and is not sent when the proxy refuses the tunnel */
	result_get(&tunnel, client, loop, "https://host.invalid/path");
	peer_accept(&proxy);
	peer_expect(&proxy, "\r\n\r\n");
	ck_assert_ptr_nonnull(strstr(proxy.in.data, "CONNECT host.invalid:443 HTTP/1.1\r\n"));
	peer_send(&proxy, "HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
	result_wait(&tunnel);
	ck_assert_int_eq(tunnel.outcome.failure, BT_HTTP_FAILURE_OTHER);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&tunnel.message), "403"));
	ck_assert(!tunnel.outcome.sent && !tunnel.outcome.answered);
	peer_finish(&proxy);
	result_get(&refused, client, loop, "https://host.invalid/path");
	result_wait(&refused);
	ck_assert_int_eq(refused.outcome.failure, BT_HTTP_FAILURE_REFUSED);
	(void)snprintf(text, sizeof(text),
		"proxyconnect tcp: dial tcp 127.0.0.1:%u: connect: connection refused",
		(unsigned int)proxy.port);
	ck_assert_str_eq(bt_strbuf_c(&refused.message), text);
	bt_http_client_destroy(client);
	result_finish(&plain);
	result_finish(&tunnel);
	result_finish(&refused);
	bt_loop_destroy(loop);
}
END_TEST

/* The proxy resolves names. */
START_TEST(test_http_proxy__socks)
{
	static const char asked[] = "\x05\x01\x00\x03\x0chost.invalid";
	struct bt_loop *loop = NULL;
	struct peer proxy;
	struct result result = {0};
	char url[64];
	ck_assert_int_eq(bt_loop_create(&loop, NULL), 0);
	peer_listen(&proxy, loop);
	(void)snprintf(url, sizeof(url), "socks5://127.0.0.1:%u", (unsigned int)proxy.port);
	struct bt_http_client *client = make_client(loop, url);
	result_get(&result, client, loop, "http://host.invalid/path");
	peer_accept(&proxy);
	peer_expect(&proxy, "\x05");
	ck_assert_int_eq(send(proxy.fd, "\x05\x00", 2, MSG_NOSIGNAL), 2);
	while (proxy.in.length < 10) {
		bt_strbuf_reset(&proxy.in);
		peer_expect(&proxy, "\x05\x01");
	}
	ck_assert_int_eq(memcmp(proxy.in.data, asked, sizeof(asked) - 1), 0);
	ck_assert_int_eq(
		send(proxy.fd, "\x05\x00\x00\x01\x00\x00\x00\x00\x00\x50", 10, MSG_NOSIGNAL), 10);
	bt_strbuf_reset(&proxy.in);
	peer_expect(&proxy, "GET /path HTTP/1.1\r\n");
	peer_send(&proxy, ANSWER);
	result_wait(&result);
	ck_assert_str_eq(bt_strbuf_c(&result.body), "ok");
	bt_http_client_destroy(client);
	result_finish(&result);
	peer_finish(&proxy);
	bt_loop_destroy(loop);
}
END_TEST

/* The environment's proxy does not apply to local addresses. */
START_TEST(test_http_proxy__from_the_environment)
{
	struct bt_loop *loop = NULL;
	struct peer proxy;
	struct peer server;
	struct result near = {0};
	struct result far = {0};
	ck_assert_int_eq(bt_loop_create(&loop, NULL), 0);
	peer_listen(&proxy, loop);
	peer_listen(&server, loop);
	ck_assert_int_eq(setenv("http_proxy", proxy.url, 1), 0);
	struct bt_http_client *client = make_client(loop, NULL);
	ck_assert_int_eq(unsetenv("http_proxy"), 0);
	result_get(&near, client, loop, server.url);
	peer_accept(&server);
	peer_expect(&server, "GET / HTTP/1.1\r\n");
	peer_send(&server, ANSWER);
	result_wait(&near);
	result_get(&far, client, loop, "http://192.0.2.1/");
	peer_accept(&proxy);
	peer_expect(&proxy, "GET http://192.0.2.1/ HTTP/1.1\r\n");
	peer_send(&proxy, ANSWER);
	result_wait(&far);
	ck_assert_int_eq(far.outcome.failure, BT_HTTP_FAILURE_NONE);
	bt_http_client_destroy(client);
	result_finish(&near);
	result_finish(&far);
	peer_finish(&proxy);
	peer_finish(&server);
	bt_loop_destroy(loop);
}
END_TEST

START_TEST(test_http_proxy__passwords_are_not_shown)
{
	static const char *const rows[][2] = {
		{"http://u:p@h:1/x?a=b:c@d", "http://u:xxxxx@h:1/x?a=b:c@d"},
		{"http://u:p:q@r@h", "http://u:xxxxx@h"},
		{"http://u@h:1", "http://u@h:1"},
		{"http://h:1/a:b@c", "http://h:1/a:b@c"},
		{"u:p@h", "u:xxxxx@h"},
		{"http://:p@", "http://:xxxxx@"},
		{"u:p@h/a://b", "u:xxxxx@h/a://b"},
		{"1http://u:p@h", "1http:xxxxx@h"},
		{"", ""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf shown = {0};
		bt_http_url_append_redacted(&shown, bt_str_from(rows[i][0]));
		ck_assert_str_eq(bt_strbuf_c(&shown), rows[i][1]);
		bt_strbuf_finish(&shown);
	}
}
END_TEST

BT_TEST_MAIN("http_proxy", test_http_proxy__urls, test_http_proxy__completed,
	test_http_proxy__environment, test_http_proxy__plain_and_tunnel, test_http_proxy__socks,
	test_http_proxy__from_the_environment, test_http_proxy__passwords_are_not_shown)

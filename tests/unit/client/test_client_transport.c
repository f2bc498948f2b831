/* SPDX-License-Identifier: Apache-2.0 */
#include "client_fixture.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "codec/base64.h"
#include "test_main.h"

static struct fixture fixture;
static struct fixture_result result;

static void start(const char *user)
{
	fixture_start(&fixture, true);
	fixture_connect(&fixture, "", user);
}

static void finish(void)
{
	fixture_result_finish(&result);
	fixture_finish(&fixture);
}

static void get(uint32_t count)
{
	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &result.done_count, count);
}

static void remove_file(char *path)
{
	(void)unlink(path);
	bt_free(path);
}

static void expect_authorization(uint32_t index, const char *value)
{
	ck_assert_uint_lt(index, fixture.request_count);
	fixture_expect(&fixture.requests[index].authorization, value);
}

/* --- requests without the rest client, which would retry them --- */

struct plain {
	struct bt_transport_call call;
	struct bt_http_header header;
	uint32_t done_count;
	enum bt_http_failure failure;
	struct bt_strbuf message;
};

static void plain_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	struct plain *plain = context;

	(void)transfer;
	bt_transport_ended(&plain->call, outcome);
	plain->done_count++;
	plain->failure = outcome->failure;
	bt_strbuf_reset(&plain->message);
	bt_strbuf_append_c(&plain->message, outcome->message);
}

static void plain_get(const char *path, struct plain *plain)
{
	plain->header = (struct bt_http_header){"X-Own", BT_STR("1")};
	plain->call.request = (struct bt_transport_request){.method = "GET",
		.path = bt_str_from(path),
		.query = BT_STR("a=b"),
		.headers = &plain->header,
		.header_count = 1,
		.handler = {.context = plain, .done = plain_done}};
	bt_transport_start(fixture.transport, &plain->call);
}

/* --- errors that are fatal at start --- */

START_TEST(test_client_transport__edge_13_04_a_ca_with_insecure)
{
	fixture_start(&fixture, true);
	fixture_expect_refused(&fixture, ", insecure-skip-tls-verify: true", "",
		"specifying a root certificates file with the insecure flag is not allowed");
	finish();
}
END_TEST

START_TEST(test_client_transport__edge_13_05_a_ca_that_is_none)
{
	fixture_start(&fixture, true);
	fixture_expect_refused(&fixture, ", certificate-authority-data: aGVsbG8=", "",
		"unable to load root certificates: unable to parse bytes as PEM block");
	/* The data decodes to "-----BEGIN X-----". */
	fixture_expect_refused(&fixture,
		", certificate-authority-data: LS0tLS1CRUdJTiBYLS0tLS0=", "",
		"unable to load root certificates: no valid certificate authority data seen");
	finish();
}
END_TEST

START_TEST(test_client_transport__credentials_that_are_refused)
{
	char *token = fixture_write((fixture_start(&fixture, true), &fixture), "token", "t");
	struct bt_strbuf user = {0};

	fixture_expect_refused(&fixture, "", ", tokenFile: /nowhere/token",
		"open /nowhere/token: no such file or directory");
	fixture_expect_refused(&fixture, "", ", token: \"a\\nb\"",
		"net/http: invalid header field value for \"Authorization\"");
	fixture_expect_refused(&fixture, "", ", as: \"a\\nb\"",
		"net/http: invalid header field value for \"Impersonate-User\"");
	bt_strbuf_printf(&user, ", tokenFile: %s, username: u", token);
	fixture_expect_refused(&fixture, "", bt_strbuf_c(&user),
		"username/password or bearer token may be set, but not both");
	fixture_expect_refused(&fixture, "",
		", exec: {command: p, apiVersion: client.authentication.k8s.io/v2, "
		"interactiveMode: Never}",
		"exec plugin: invalid apiVersion \"client.authentication.k8s.io/v2\"");
	fixture_expect_refused(&fixture, "",
		", client-certificate-data: aGVsbG8=, client-key-data: aGVsbG8=",
		"tls: failed to find any PEM data in certificate input");
	bt_strbuf_finish(&user);
	remove_file(token);
	finish();
}
END_TEST

/* --- headers --- */

START_TEST(test_client_transport__edge_13_06_token_and_certificate)
{
	struct bt_strbuf certificate = {0};
	struct bt_strbuf key = {0};
	struct bt_strbuf user = {0};

	fixture_start(&fixture, true);
	bt_base64_encode(bt_strbuf_str(&fixture.certificate.certificate), &certificate);
	bt_base64_encode(bt_strbuf_str(&fixture.certificate.key), &key);
	bt_strbuf_printf(&user,
		", token: t, client-certificate-data: %s, client-key-data: %s, exec: {command: "
		"missing, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}",
		bt_strbuf_c(&certificate), bt_strbuf_c(&key));
	fixture_connect(&fixture, "", bt_strbuf_c(&user));
	get(1);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	expect_authorization(0, "Bearer t");
	ck_assert(fixture.transport->tls.has_pair);
	ck_assert(!fixture.transport->exec.active);
	bt_strbuf_finish(&certificate);
	bt_strbuf_finish(&key);
	bt_strbuf_finish(&user);
	finish();
}
END_TEST

static char *connect_with_token_file(const char *content)
{
	struct bt_strbuf user = {0};
	char *path;

	fixture_start(&fixture, true);
	path = fixture_write(&fixture, "token", content);
	bt_strbuf_printf(&user, ", token: a, tokenFile: %s", path);
	fixture_connect(&fixture, "", bt_strbuf_c(&user));
	bt_strbuf_finish(&user);
	return path;
}

START_TEST(test_client_transport__edge_13_07_the_token_file_wins)
{
	char *path = connect_with_token_file(" b\n");

	get(1);
	expect_authorization(0, "Bearer b");
	remove_file(path);
	finish();
}
END_TEST

START_TEST(test_client_transport__edge_13_08_the_last_token_stays)
{
	char *path = connect_with_token_file("b");
	int64_t now_ns = bt_loop_now_ns(fixture.loop);

	bt_free(fixture_write(&fixture, "token", "c\n"));
	bt_transport_refresh(fixture.transport, now_ns + 49 * BT_NS_PER_SECOND);
	get(1);
	expect_authorization(0, "Bearer b");
	bt_transport_refresh(fixture.transport, now_ns + 52 * BT_NS_PER_SECOND);
	get(2);
	expect_authorization(1, "Bearer c");
	remove_file(path);
	bt_transport_refresh(fixture.transport, now_ns + 110 * BT_NS_PER_SECOND);
	get(3);
	expect_authorization(2, "Bearer c");
	ck_assert_uint_eq(
		fixture_log_count("Unable to rotate token err=failed to read token file "), 1);
	path = fixture_write(&fixture, "token", " \n");
	bt_transport_refresh(fixture.transport, now_ns + 110 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(
		fixture_log_count("Unable to rotate token err=read empty token from file \""), 1);
	remove_file(path);
	finish();
}
END_TEST

START_TEST(test_client_transport__edge_13_09_nothing_secret_in_clear_text)
{
	fixture_start(&fixture, false);
	fixture_connect(&fixture, "", ", token: t, as: jane");
	get(1);
	expect_authorization(0, "");
	fixture_expect(&fixture.requests[0].impersonate, "jane;");
	finish();
}
END_TEST

START_TEST(test_client_transport__basic)
{
	start(", username: u, password: 'p:w'");
	get(1);
	expect_authorization(0, "Basic dTpwOnc=");
	finish();
}
END_TEST

START_TEST(test_client_transport__impersonation)
{
	start(", as: jane, as-uid: u1, as-groups: [g1, g2], as-user-extra: {a/b: [x, z]}");
	get(1);
	fixture_expect(&fixture.requests[0].impersonate, "jane;u1;g1;g2;x;z;");
	finish();
}
END_TEST

START_TEST(test_client_transport__edge_13_12_the_name_that_is_verified)
{
	fixture_start(&fixture, true);
	fixture_connect(&fixture, ", tls-server-name: server.test", "");
	get(1);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	bt_rest_client_destroy(fixture.client);
	fixture.client = NULL;
	bt_transport_destroy(fixture.transport);
	bt_client_config_finish(&fixture.config);
	fixture_connect(&fixture, ", tls-server-name: other.test", "");
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_TRANSPORT);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_TLS);
	ck_assert(!result.answer.sent);
	finish();
}
END_TEST

/* --- certificates --- */

START_TEST(test_client_transport__certificates_are_read_again)
{
	struct bt_certificate_pair other = {0};
	const struct fixture_answer later = {.later = true};
	const char *names[] = {"x"};
	struct bt_strbuf user = {0};
	struct plain plain = {0};
	char *certificate;
	char *key;
	int64_t now_ns;

	fixture_start(&fixture, true);
	certificate = fixture_write(&fixture, "crt", bt_strbuf_c(&fixture.certificate.certificate));
	key = fixture_write(&fixture, "key", bt_strbuf_c(&fixture.certificate.key));
	bt_strbuf_printf(&user, ", client-certificate: %s, client-key: %s", certificate, key);
	fixture_connect(&fixture, "", bt_strbuf_c(&user));
	fixture.answers = &later;
	fixture.answer_count = 1;
	now_ns = bt_loop_now_ns(fixture.loop);
	plain_get("/watch", &plain);
	fixture_wait(&fixture, &fixture.request_count, 1);
	(void)bt_transport_check(fixture.transport, now_ns + 301 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture_log_count("Certificate rotation detected"), 0);
	/* A certificate that does not match the key is not loaded. */
	ck_assert_int_eq(bt_certificate_make_server(
				 &fixture.ca, names, 1, INT64_C(1700000000), &other, NULL),
		0);
	bt_free(fixture_write(&fixture, "crt", bt_strbuf_c(&other.certificate)));
	(void)bt_transport_check(fixture.transport, now_ns + 602 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture_log_count("Loading client cert failed err=tls: "), 1);
	fixture_turns(&fixture, 5);
	ck_assert_uint_eq(plain.done_count, 0);
	bt_free(fixture_write(&fixture, "key", bt_strbuf_c(&other.key)));
	(void)bt_transport_check(fixture.transport, now_ns + 604 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture_log_count("Certificate rotation detected, shutting down client "
					    "connections to start using new credentials\n"),
		1);
	fixture_wait(&fixture, &plain.done_count, 1);
	ck_assert_int_eq(plain.failure, BT_HTTP_FAILURE_RESET);
	bt_strbuf_finish(&plain.message);
	bt_strbuf_finish(&user);
	bt_certificate_pair_finish(&other);
	remove_file(certificate);
	remove_file(key);
	finish();
}
END_TEST

START_TEST(test_client_transport__a_pair_of_files_that_never_fitted)
{
	struct bt_strbuf user = {0};
	char *certificate;
	char *key;

	fixture_start(&fixture, true);
	certificate = fixture_write(&fixture, "crt", bt_strbuf_c(&fixture.certificate.certificate));
	key = fixture_write(&fixture, "key", bt_strbuf_c(&fixture.ca.key));
	bt_strbuf_printf(&user, ", client-certificate: %s, client-key: %s", certificate, key);
	fixture_connect(&fixture, "", bt_strbuf_c(&user));
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	ck_assert_uint_eq(result.done_count, 0);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_uint_eq(fixture.request_count, 0);
	ck_assert_ptr_nonnull(strstr(
		bt_strbuf_c(&result.message), "/p\": tls: private key does not match public key"));
	bt_free(fixture_write(&fixture, "key", bt_strbuf_c(&fixture.certificate.key)));
	bt_transport_refresh(
		fixture.transport, bt_loop_now_ns(fixture.loop) + 2 * BT_NS_PER_SECOND);
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	bt_strbuf_finish(&user);
	remove_file(certificate);
	remove_file(key);
	finish();
}
END_TEST

START_TEST(test_client_transport__the_ca_is_read_again)
{
	struct bt_strbuf cluster = {0};
	struct bt_certificate_pair other = {0};
	int64_t now_ns;
	char *ca;

	fixture_start(&fixture, true);
	ck_assert_int_eq(bt_certificate_make_ca("other", INT64_C(1700000000), &other, NULL), 0);
	ca = fixture_write(&fixture, "ca", bt_strbuf_c(&other.certificate));
	bt_strbuf_printf(&cluster, ", certificate-authority: %s", ca);
	fixture_connect(&fixture, bt_strbuf_c(&cluster), "");
	now_ns = bt_loop_now_ns(fixture.loop);
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_TLS);
	bt_free(fixture_write(&fixture, "ca", ""));
	bt_transport_refresh(fixture.transport, now_ns + 301 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture_log_count("CA file empty, skipping transport rotation"), 1);
	bt_free(fixture_write(&fixture, "ca", bt_strbuf_c(&fixture.ca.certificate)));
	bt_transport_refresh(fixture.transport, now_ns + 302 * BT_NS_PER_SECOND);
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 2);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_TLS);
	bt_transport_refresh(fixture.transport, now_ns + 602 * BT_NS_PER_SECOND);
	get(3);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	bt_strbuf_finish(&cluster);
	bt_certificate_pair_finish(&other);
	remove_file(ca);
	finish();
}
END_TEST

START_TEST(test_client_transport__an_empty_ca_trusts_nothing)
{
	struct bt_strbuf cluster = {0};
	char *ca;

	fixture_start(&fixture, true);
	ca = fixture_write(&fixture, "ca", "");
	bt_strbuf_printf(&cluster, ", certificate-authority: %s", ca);
	fixture_connect(&fixture, bt_strbuf_c(&cluster), "");
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_TLS);
	bt_free(fixture_write(&fixture, "ca", bt_strbuf_c(&fixture.ca.certificate)));
	bt_transport_refresh(
		fixture.transport, bt_loop_now_ns(fixture.loop) + 301 * BT_NS_PER_SECOND);
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	bt_strbuf_finish(&cluster);
	remove_file(ca);
	finish();
}
END_TEST

/* --- connections --- */

static void get_slowly(uint32_t count)
{
	const struct timespec pause = {.tv_nsec = 20 * BT_NS_PER_MS};
	struct bt_strbuf body = {0};

	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &fixture.request_count, count);
	(void)nanosleep(&pause, NULL); /* makes the answer slow; a shorter pause would also do */
	bt_http_answer(fixture.kept, 200, &body);
	fixture_wait(&fixture, &result.done_count, count);
}

START_TEST(test_client_transport__a_slow_server_gets_more_calls_at_a_time)
{
	const struct fixture_answer later = {.later = true};
	const struct fixture_answer at_once = {.code = 200, .body = "{}"};
	int64_t now_ns;
	uint32_t count = 0;

	start("");
	fixture.answers = &later;
	fixture.answer_count = 1;
	ck_assert_uint_eq(bt_transport_calls_max(fixture.transport), BT_PACE_CALLS_MIN);
	/* Two answers add a call. On a busy machine an answer may take too long to count. */
	while (bt_transport_calls_max(fixture.transport) < BT_PACE_CALLS_MIN + 4 && count < 100) {
		get_slowly(++count);
	}
	ck_assert_uint_ge(count, 8);
	ck_assert_uint_eq(bt_transport_calls_max(fixture.transport), BT_PACE_CALLS_MIN + 4);
	ck_assert_uint_eq(fixture.transport->calls_max, BT_PACE_CALLS_MIN + 4);
	/*
	 * The additional connections are closed when no call uses them; the next call opens a
	 * connection.
	 */
	now_ns = bt_loop_now_ns(fixture.loop);
	ck_assert_int_lt(
		bt_transport_check(fixture.transport, now_ns), now_ns + 11 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture.transport->calls_max, BT_PACE_CALLS_MIN + 4);
	(void)bt_transport_check(fixture.transport, now_ns + 11 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(fixture.transport->calls_max, BT_PACE_CALLS_MIN);
	fixture.answers = &at_once;
	get(count + 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	finish();
}
END_TEST

BT_TEST_MAIN("client_transport", test_client_transport__edge_13_04_a_ca_with_insecure,
	test_client_transport__edge_13_05_a_ca_that_is_none,
	test_client_transport__credentials_that_are_refused,
	test_client_transport__edge_13_06_token_and_certificate,
	test_client_transport__edge_13_07_the_token_file_wins,
	test_client_transport__edge_13_08_the_last_token_stays,
	test_client_transport__edge_13_09_nothing_secret_in_clear_text,
	test_client_transport__basic, test_client_transport__impersonation,
	test_client_transport__edge_13_12_the_name_that_is_verified,
	test_client_transport__certificates_are_read_again,
	test_client_transport__a_pair_of_files_that_never_fitted,
	test_client_transport__the_ca_is_read_again,
	test_client_transport__an_empty_ca_trusts_nothing,
	test_client_transport__a_slow_server_gets_more_calls_at_a_time)

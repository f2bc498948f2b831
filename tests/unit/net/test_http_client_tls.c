/* SPDX-License-Identifier: Apache-2.0 */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/compiler.h"
#include "client_fixture.h"
#include "http_fixture.h"
#include "net/certificate.h"
#include "test_main.h"

static const char *const names[] = {"localhost", "127.0.0.1", "berth.example"};

static int64_t real_now(void)
{
	struct timespec now = {0, 0};
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	return now.tv_sec;
}

/** A TLS server; each test makes its clients. */
struct tls {
	struct fixture server;
	struct bt_certificate_pair ca;
	struct bt_certificate_pair pair;
	char url[64];
};

/** Starts a server with tls->pair. */
static void tls_serve(struct tls *tls)
{
	tls->server.certificate_pem = bt_strbuf_c(&tls->pair.certificate);
	tls->server.key_pem = bt_strbuf_c(&tls->pair.key);
	fixture_start(&tls->server);
	(void)snprintf(tls->url, sizeof(tls->url), "https://127.0.0.1:%u/x",
		(unsigned int)bt_http_server_port(tls->server.server));
}

static void tls_start_at(struct tls *tls, int64_t now)
{
	ck_assert_int_eq(bt_certificate_make_ca("ca", now, &tls->ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(
				 &tls->ca, names, BT_ARRAY_LENGTH(names), now, &tls->pair, NULL),
		0);
	tls_serve(tls);
}

static void tls_finish(struct tls *tls)
{
	fixture_finish(&tls->server);
	bt_certificate_pair_finish(&tls->ca);
	bt_certificate_pair_finish(&tls->pair);
}

static struct bt_http_client *make_client(
	struct tls *tls, const struct bt_http_client_options *options)
{
	struct bt_http_client *client = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_msg(bt_http_client_create(tls->server.loop, options, &client, &err) == 0, "%s",
		berth_error_message(&err));
	return client;
}

static void expect(struct tls *tls, struct bt_http_client *client, enum bt_http_failure failure,
	const char *message)
{
	struct result result = {0};
	struct bt_http_client_request request = {
		.method = "POST", .url = tls->url, .body = BT_STR("hello")};
	result_start(&result, client, tls->server.loop, &request);
	result_wait(&result);
	ck_assert_msg(result.outcome.failure == failure, "%d: %s", (int)result.outcome.failure,
		bt_strbuf_c(&result.message));
	ck_assert_str_eq(bt_strbuf_c(&result.message), message);
	if (failure == BT_HTTP_FAILURE_NONE) {
		ck_assert_str_eq(bt_strbuf_c(&result.body), "POST /x? hello\n");
	} else {
		ck_assert(!result.outcome.sent);
	}
	result_finish(&result);
}

#define UNKNOWN_AUTHORITY \
	"tls: failed to verify certificate: x509: certificate signed by unknown authority"

START_TEST(test_http_client_tls__roots)
{
	struct tls tls = {.url = ""};
	struct bt_certificate_pair other = {0};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	tls_start_at(&tls, real_now());
	ck_assert_int_eq(bt_certificate_make_ca("other", real_now(), &other, NULL), 0);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	client = make_client(&tls, &options);
	for (int i = 0; i < 3; i++) {
		expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	}
	bt_http_client_destroy(client);
	options.tls.ca = bt_strbuf_str(&other.certificate);
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS, UNKNOWN_AUTHORITY);
	bt_http_client_destroy(client);
	/* no CA is trusted */
	options.tls.ca = BT_STR("");
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS, UNKNOWN_AUTHORITY);
	bt_http_client_destroy(client);
	/* the system's CAs are trusted */
	options.tls.ca.data = NULL;
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS, UNKNOWN_AUTHORITY);
	bt_http_client_destroy(client);
	options.tls.insecure = true;
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	bt_http_client_destroy(client);
	bt_certificate_pair_finish(&other);
	tls_finish(&tls);
}
END_TEST

START_TEST(test_http_client_tls__unusable_material)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	tls_start_at(&tls, real_now());
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	options.tls.insecure = true;
	ck_assert_int_eq(
		bt_http_client_create(tls.server.loop, &options, &client, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"specifying a root certificates file with the insecure flag is not allowed");
	berth_error_finish(&err);
	options.tls.insecure = false;
	options.tls.ca = BT_STR("rubbish");
	ck_assert_int_eq(
		bt_http_client_create(tls.server.loop, &options, &client, &err), BERTH_ERR_INVALID);
	berth_error_finish(&err);
	options.tls.ca.data = NULL;
	options.tls.certificate = bt_strbuf_str(&tls.pair.certificate);
	options.tls.key = bt_strbuf_str(&tls.ca.key);
	ck_assert_int_eq(
		bt_http_client_create(tls.server.loop, &options, &client, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "tls: private key does not match public key");
	berth_error_finish(&err);
	options.tls.key.data = NULL;
	ck_assert_int_eq(
		bt_http_client_create(tls.server.loop, &options, &client, &err), BERTH_ERR_INVALID);
	berth_error_finish(&err);
	tls_finish(&tls);
}
END_TEST

START_TEST(test_http_client_tls__server_name)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	tls_start_at(&tls, real_now());
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	options.tls.server_name = BT_STR("berth.example");
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	bt_http_client_destroy(client);
	options.tls.server_name = BT_STR("other.example");
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS,
		"tls: failed to verify certificate: x509: certificate is not valid for "
		"other.example");
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

/* The certificate's common name is "berth", but it is valid for an address only. */
START_TEST(test_http_client_tls__common_name)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	ck_assert_int_eq(bt_certificate_make_ca("ca", real_now(), &tls.ca, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_server(&tls.ca, &names[1], 1, real_now(), &tls.pair, NULL), 0);
	tls_serve(&tls);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	bt_http_client_destroy(client);
	options.tls.server_name = BT_STR("berth");
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS,
		"tls: failed to verify certificate: x509: certificate is not valid for berth");
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

/* A name that is longer than any host does not hide the names after it. */
START_TEST(test_http_client_tls__alternative_names)
{
	static const struct {
		const char *name;
		bool is_valid;
	} rows[] = {
		{"berth.example", true},
		{"BERTH.example.", true},
		{"a.pods.example", true},
		{"A.Pods.Example", true},
		{"127.0.0.1", true},
		{"::ffff:127.0.0.1", true},
		{"2001:db8::1", true},
		{"127.0.0.5", true},
		{"::ffff:127.0.0.5", true},
		{"127.0.0.2", false},
		{"pods.example", false},
		{".pods.example", false},
		{"a.b.pods.example", false},
		{"berth.exampl", false},
	};
	char long_name[301];
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	memset(long_name, 'a', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	const char *const all[] = {long_name, "berth.example", "*.pods.example", "127.0.0.1",
		"2001:db8::1", "::ffff:127.0.0.5"};
	ck_assert_int_eq(bt_certificate_make_ca("ca", real_now(), &tls.ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(
				 &tls.ca, all, BT_ARRAY_LENGTH(all), real_now(), &tls.pair, NULL),
		0);
	tls_serve(&tls);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_strbuf message = {0};
		options.tls.server_name = bt_str_from(rows[i].name);
		struct bt_http_client *client = make_client(&tls, &options);
		if (!rows[i].is_valid) {
			bt_strbuf_printf(&message,
				"tls: failed to verify certificate: x509: certificate is not valid "
				"for %s",
				rows[i].name);
		}
		expect(&tls, client, rows[i].is_valid ? BT_HTTP_FAILURE_NONE : BT_HTTP_FAILURE_TLS,
			bt_strbuf_c(&message));
		bt_http_client_destroy(client);
		bt_strbuf_finish(&message);
	}
	tls_finish(&tls);
}
END_TEST

/** Makes a pair for "localhost" that is for clients only. */
static void make_client_pair(const struct bt_certificate_pair *ca, struct bt_certificate_pair *out)
{
	const struct bt_certificate_terms terms = {
		.from_seconds = real_now() - 60,
		.until_seconds = real_now() + 600,
		.for_clients = true,
	};
	gnutls_x509_crq_t request;
	gnutls_x509_privkey_t key;
	gnutls_datum_t pem = {NULL, 0};
	ck_assert_int_eq(gnutls_x509_crq_init(&request), 0);
	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	ck_assert_int_eq(gnutls_x509_crq_set_version(request, 1), 0);
	ck_assert_int_eq(gnutls_x509_crq_set_key(request, key), 0);
	ck_assert_int_eq(gnutls_x509_crq_set_subject_alt_name(request, GNUTLS_SAN_DNSNAME, names[0],
				 (unsigned int)strlen(names[0]), GNUTLS_FSAN_SET),
		0);
	ck_assert_int_eq(gnutls_x509_crq_sign2(request, key, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
	bt_strbuf_append(&out->key, pem.data, pem.size);
	gnutls_free(pem.data);
	ck_assert_int_eq(gnutls_x509_crq_export2(request, GNUTLS_X509_FMT_PEM, &pem), 0);
	struct bt_str text = {(const char *)pem.data, pem.size};
	ck_assert_int_eq(bt_certificate_sign_request(ca, text, &terms, &out->certificate, NULL), 0);
	gnutls_free(pem.data);
	gnutls_x509_crq_deinit(request);
	gnutls_x509_privkey_deinit(key);
}

START_TEST(test_http_client_tls__purpose)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	ck_assert_int_eq(bt_certificate_make_ca("ca", real_now(), &tls.ca, NULL), 0);
	make_client_pair(&tls.ca, &tls.pair);
	tls_serve(&tls);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	options.tls.server_name = BT_STR("localhost");
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS,
		"tls: failed to verify certificate: x509: certificate specifies an incompatible "
		"key usage");
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

START_TEST(test_http_client_tls__expired)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	tls_start_at(&tls, real_now() - INT64_C(86400) * 400);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_TLS,
		"tls: failed to verify certificate: x509: certificate has expired or is not yet "
		"valid");
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

START_TEST(test_http_client_tls__plain_server)
{
	struct tls tls = {.url = ""};
	struct peer peer;
	struct result result = {0};
	struct result ended = {0};
	char url[64];
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	tls_start_at(&tls, real_now());
	client = make_client(&tls, &options);
	peer_listen(&peer, tls.server.loop);
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/", (unsigned int)peer.port);
	result_get(&result, client, tls.server.loop, url);
	peer_accept(&peer);
	peer_send(&peer, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
	result_wait(&result);
	ck_assert_int_eq(result.outcome.failure, BT_HTTP_FAILURE_TLS);
	ck_assert_str_eq(
		bt_strbuf_c(&result.message), "http: server gave HTTP response to HTTPS client");
	peer_hang_up(&peer, false);
	result_get(&ended, client, tls.server.loop, url);
	peer_accept(&peer);
	fixture_turns(&tls.server, 5);
	peer_hang_up(&peer, false);
	result_wait(&ended);
	ck_assert_msg(
		ended.outcome.failure == BT_HTTP_FAILURE_RESET, "%s", bt_strbuf_c(&ended.message));
	result_finish(&result);
	result_finish(&ended);
	peer_finish(&peer);
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

START_TEST(test_http_client_tls__changed)
{
	struct tls tls = {.url = ""};
	struct bt_certificate_pair other = {0};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	struct result stream = {.streams = true};
	struct result kept = {.streams = true};
	char url[80];
	tls_start_at(&tls, real_now());
	(void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/stream",
		(unsigned int)bt_http_server_port(tls.server.server));
	ck_assert_int_eq(bt_certificate_make_ca("other", real_now(), &other, NULL), 0);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	result_get(&kept, client, tls.server.loop, url);
	fixture_wait_count(&tls.server, &kept.head_count, 1);
	/* no kept connection is used again under the new roots */
	options.tls.ca = bt_strbuf_str(&other.certificate);
	ck_assert_int_eq(bt_http_client_set_tls(client, &options.tls, false, NULL), 0);
	expect(&tls, client, BT_HTTP_FAILURE_TLS, UNKNOWN_AUTHORITY);
	options.tls.ca = BT_STR("rubbish");
	ck_assert_int_eq(
		bt_http_client_set_tls(client, &options.tls, false, NULL), BERTH_ERR_INVALID);
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	ck_assert_int_eq(bt_http_client_set_tls(client, &options.tls, false, NULL), 0);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	/* running transfers continue until the caller cuts them */
	ck_assert_uint_eq(kept.done_count, 0);
	result_get(&stream, client, tls.server.loop, url);
	fixture_wait_count(&tls.server, &stream.head_count, 1);
	ck_assert_int_eq(bt_http_client_set_tls(client, &options.tls, true, NULL), 0);
	ck_assert_uint_eq(stream.done_count, 0);
	result_wait(&stream);
	result_wait(&kept);
	ck_assert_int_eq(stream.outcome.failure, BT_HTTP_FAILURE_RESET);
	ck_assert_str_eq(bt_strbuf_c(&stream.message), "use of closed network connection");
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	result_finish(&stream);
	result_finish(&kept);
	bt_http_client_destroy(client);
	bt_certificate_pair_finish(&other);
	tls_finish(&tls);
}
END_TEST

/* The server sends a TLS close_notify before it closes an idle connection. */
START_TEST(test_http_client_tls__closed_between_requests)
{
	struct tls tls = {.url = ""};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client;
	tls.server.limits = bt_http_default_limits;
	tls.server.limits.idle_timeout_seconds = 1;
	tls_start_at(&tls, real_now());
	options.tls.ca = bt_strbuf_str(&tls.ca.certificate);
	client = make_client(&tls, &options);
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	int64_t start_ns = bt_loop_now_ns(tls.server.loop);
	while (bt_loop_now_ns(tls.server.loop) - start_ns < INT64_C(2500000000)) {
		ck_assert_int_eq(bt_loop_turn(tls.server.loop, 50000000, NULL), 0);
	}
	expect(&tls, client, BT_HTTP_FAILURE_NONE, "");
	bt_http_client_destroy(client);
	tls_finish(&tls);
}
END_TEST

BT_TEST_MAIN("http_client_tls", test_http_client_tls__roots,
	test_http_client_tls__unusable_material, test_http_client_tls__server_name,
	test_http_client_tls__common_name, test_http_client_tls__alternative_names,
	test_http_client_tls__purpose, test_http_client_tls__expired,
	test_http_client_tls__plain_server, test_http_client_tls__changed,
	test_http_client_tls__closed_between_requests)

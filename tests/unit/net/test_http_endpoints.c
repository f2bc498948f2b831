/* SPDX-License-Identifier: Apache-2.0 */
/* The HTTP server's features for the daemon's endpoints, tested with the HTTP client. */
#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <stdio.h>
#include <time.h>

#include "base/compiler.h"
#include "client_fixture.h"
#include "net/certificate.h"
#include "net/http_server.h"
#include "test_main.h"

#define HOUR INT64_C(3600)
#define DAY INT64_C(86400)

static int64_t real_now(void)
{
	struct timespec now = {0, 0};
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	return now.tv_sec;
}

/** The contents of a client certificate to make. */
struct identity {
	const char *common_name;
	const char *organizations[3];
	const char *uid;
	const char *purpose; /* NULL: any */
	int64_t from;
	int64_t until;
};

static void set_name(gnutls_x509_crt_t certificate, const char *oid, const char *value)
{
	if (value != NULL) {
		ck_assert_int_eq(gnutls_x509_crt_set_dn_by_oid(
					 certificate, oid, 0, value, (unsigned int)strlen(value)),
			0);
	}
}

static void fill_identity(
	gnutls_x509_crt_t certificate, gnutls_x509_privkey_t key, const struct identity *identity)
{
	unsigned char serial[] = {5};
	ck_assert_int_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	ck_assert_int_eq(gnutls_x509_crt_set_version(certificate, 3), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_key(certificate, key), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_serial(certificate, serial, sizeof(serial)), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_activation_time(certificate, identity->from), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_expiration_time(certificate, identity->until), 0);
	set_name(certificate, GNUTLS_OID_X520_COMMON_NAME, identity->common_name);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(identity->organizations); i++) {
		set_name(
			certificate, GNUTLS_OID_X520_ORGANIZATION_NAME, identity->organizations[i]);
	}
	if (identity->uid != NULL) {
		struct bt_strbuf der = {0};
		/* the attribute is a UTF8String; GnuTLS does not know its type */
		bt_strbuf_printf(&der, "\f%c%s", (int)strlen(identity->uid), identity->uid);
		ck_assert_int_eq(gnutls_x509_crt_set_dn_by_oid(certificate, "1.3.6.1.4.1.57683.2",
					 1, der.data, (unsigned int)der.length),
			0);
		bt_strbuf_finish(&der);
	}
	if (identity->purpose != NULL) {
		ck_assert_int_eq(
			gnutls_x509_crt_set_key_purpose_oid(certificate, identity->purpose, 0), 0);
	}
}

static void append_pem(struct bt_strbuf *out, gnutls_datum_t *pem)
{
	bt_strbuf_append(out, pem->data, pem->size);
	gnutls_free(pem->data);
}

static void make_identity(const struct bt_certificate_pair *ca, const struct identity *identity,
	struct bt_certificate_pair *out)
{
	gnutls_x509_crt_t issuer;
	gnutls_x509_privkey_t issuer_key;
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
	gnutls_datum_t ca_pem = {
		(unsigned char *)ca->certificate.data, (unsigned int)ca->certificate.length};
	gnutls_datum_t key_pem = {(unsigned char *)ca->key.data, (unsigned int)ca->key.length};
	gnutls_datum_t pem = {NULL, 0};
	ck_assert_int_eq(gnutls_x509_crt_init(&issuer), 0);
	ck_assert_int_eq(gnutls_x509_privkey_init(&issuer_key), 0);
	ck_assert_int_eq(gnutls_x509_crt_init(&certificate), 0);
	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_crt_import(issuer, &ca_pem, GNUTLS_X509_FMT_PEM), 0);
	ck_assert_int_eq(
		gnutls_x509_privkey_import2(issuer_key, &key_pem, GNUTLS_X509_FMT_PEM, NULL, 0), 0);
	fill_identity(certificate, key, identity);
	ck_assert_int_eq(
		gnutls_x509_crt_sign2(certificate, issuer, issuer_key, GNUTLS_DIG_SHA256, 0), 0);
	ck_assert_int_eq(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &pem), 0);
	append_pem(&out->certificate, &pem);
	ck_assert_int_eq(gnutls_x509_privkey_export2(key, GNUTLS_X509_FMT_PEM, &pem), 0);
	append_pem(&out->key, &pem);
	gnutls_x509_crt_deinit(issuer);
	gnutls_x509_privkey_deinit(issuer_key);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
}

/** A server that answers with the identity of the client, and its certificates. */
struct site {
	struct bt_loop *loop;
	struct bt_http_server *server;
	struct bt_certificate_pair pair;
	struct bt_certificate_pair client_ca;
	struct bt_certificate_authorities *authorities;
	struct bt_http_server_options options;
	struct bt_http_exchange *kept; /* exchange of "/later" */
	int64_t verify_at;
	uint32_t request_count;
	char url[64];
};

static void append_identity(
	struct site *site, struct bt_http_exchange *exchange, struct bt_strbuf *body)
{
	struct bt_str chain[4];
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_certificate_subject subject;
	struct bt_arena arena;
	uint32_t count = bt_http_peer_certificates(exchange, chain, BT_ARRAY_LENGTH(chain));
	bt_strbuf_printf(body, "%u", (unsigned int)count);
	if (count == 0) {
		return;
	}
	bt_arena_init(&arena, 1024);
	if (bt_certificate_verify_client(site->authorities, chain, count, site->verify_at, &arena,
		    &subject, &err) != 0) {
		bt_strbuf_printf(body, " %s", berth_error_message(&err));
		berth_error_finish(&err);
	} else {
		bt_strbuf_printf(body, " [%.*s] [%.*s]", BT_STR_ARG(subject.common_name),
			BT_STR_ARG(subject.uid));
		for (uint32_t i = 0; i < subject.organizations.count; i++) {
			bt_strbuf_printf(body, " %.*s", BT_STR_ARG(subject.organizations.items[i]));
		}
	}
	bt_arena_finish(&arena);
}

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	struct site *site = context;
	struct bt_strbuf body = {0};
	site->request_count++;
	if (bt_str_equal(bt_http_path(exchange), BT_STR("/later"))) {
		site->kept = exchange;
		return;
	}
	if (bt_str_equal(bt_http_path(exchange), BT_STR("/address"))) {
		bt_http_peer_address(exchange, &body);
	} else {
		append_identity(site, exchange, &body);
	}
	bt_http_answer(exchange, 200, &body);
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	(void)context;
	(void)exchange;
}

static void site_start(struct site *site)
{
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_certificate_make_serving(NULL, real_now(), &site->pair, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_ca("clients", real_now(), &site->client_ca, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_authorities_create(
			bt_strbuf_str(&site->client_ca.certificate), &site->authorities, NULL),
		0);
	site->verify_at = real_now();
	site->options.address = "127.0.0.1";
	site->options.certificates.certificate_pem = bt_strbuf_c(&site->pair.certificate);
	site->options.certificates.key_pem = bt_strbuf_c(&site->pair.key);
	site->options.limits = bt_http_default_limits;
	site->options.handler.context = site;
	site->options.handler.request = on_request;
	site->options.handler.too_large = on_request;
	site->options.handler.closed = on_closed;
	ck_assert_int_eq(bt_loop_create(&site->loop, NULL), 0);
	ck_assert_msg(bt_http_server_create(site->loop, &site->options, &site->server, &err) == 0,
		"%s", berth_error_message(&err));
	(void)snprintf(site->url, sizeof(site->url), "https://127.0.0.1:%u/",
		(unsigned int)bt_http_server_port(site->server));
}

static void site_finish(struct site *site)
{
	bt_http_server_destroy(site->server);
	bt_loop_destroy(site->loop);
	bt_certificate_authorities_destroy(site->authorities);
	bt_certificate_pair_finish(&site->pair);
	bt_certificate_pair_finish(&site->client_ca);
}

static struct bt_http_client *make_client(
	struct site *site, const struct bt_certificate_pair *identity, const char *server_name)
{
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client = NULL;
	options.tls.ca = bt_strbuf_str(&site->pair.certificate);
	if (identity != NULL) {
		options.tls.certificate = bt_strbuf_str(&identity->certificate);
		options.tls.key = bt_strbuf_str(&identity->key);
	}
	options.tls.server_name = bt_str_from(server_name);
	ck_assert_int_eq(bt_http_client_create(site->loop, &options, &client, NULL), 0);
	return client;
}

/* Sends one request with a new client. */
static void expect_with(struct site *site, const struct bt_certificate_pair *identity,
	const char *server_name, const char *answer)
{
	struct result result = {0};
	struct bt_http_client *client = make_client(site, identity, server_name);
	result_get(&result, client, site->loop, site->url);
	result_wait(&result);
	ck_assert_str_eq(answer != NULL ? bt_strbuf_c(&result.message) : "", "");
	ck_assert_str_eq(bt_strbuf_c(&result.body), answer != NULL ? answer : "");
	ck_assert(answer != NULL || result.outcome.failure != BT_HTTP_FAILURE_NONE);
	bt_http_client_destroy(client);
	result_finish(&result);
}

START_TEST(test_http_endpoints__client_certificates)
{
	int64_t now = real_now();
	struct identity rows[] = {
		{"admin", {"system:masters", "a,b=c\\"}, "u-1", GNUTLS_KP_TLS_WWW_CLIENT,
			now - HOUR, now + HOUR},
		{NULL, {"only"}, NULL, NULL, now - HOUR, now + HOUR},
		{"server", {NULL}, NULL, GNUTLS_KP_TLS_WWW_SERVER, now - HOUR, now + HOUR},
		{"old", {NULL}, NULL, NULL, now - DAY, now - HOUR},
		{"new", {NULL}, NULL, NULL, now + HOUR, now + DAY},
	};
	static const char *const answers[] = {
		"1 [admin] [u-1] system:masters a,b=c\\",
		"1 [] [] only",
		"1 x509: certificate specifies an incompatible key usage",
		"1 x509: certificate has expired or is not yet valid",
		"1 x509: certificate has expired or is not yet valid",
	};
	struct site site = {.options = {.ask_client_certificate = true}};
	struct bt_certificate_pair other = {0};
	struct bt_certificate_pair stranger = {0};
	site_start(&site);
	expect_with(&site, NULL, NULL, "0");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_certificate_pair pair = {0};
		make_identity(&site.client_ca, &rows[i], &pair);
		expect_with(&site, &pair, NULL, answers[i]);
		bt_certificate_pair_finish(&pair);
	}
	/* the handshake accepts every certificate; verification rejects unknown authorities */
	ck_assert_int_eq(bt_certificate_make_ca("clients", now, &other, NULL), 0);
	make_identity(&other, &rows[0], &stranger);
	expect_with(&site, &stranger, NULL, "1 x509: certificate signed by unknown authority");
	bt_certificate_pair_finish(&other);
	bt_certificate_pair_finish(&stranger);
	site_finish(&site);
}
END_TEST

START_TEST(test_http_endpoints__without_client_certificates)
{
	int64_t now = real_now();
	struct identity identity = {"admin", {NULL}, NULL, NULL, now - HOUR, now + HOUR};
	struct bt_certificate_pair pair = {0};
	struct site site = {.url = ""};
	site_start(&site);
	make_identity(&site.client_ca, &identity, &pair);
	expect_with(&site, &pair, NULL, "0");
	bt_certificate_pair_finish(&pair);
	site_finish(&site);
}
END_TEST

START_TEST(test_http_endpoints__authorities)
{
	struct bt_certificate_authorities *authorities = NULL;
	struct bt_certificate_subject subject;
	struct bt_str rubbish = BT_STR("rubbish");
	struct site site = {.url = ""};
	struct bt_arena arena;
	site_start(&site);
	ck_assert_int_eq(bt_certificate_authorities_create(BT_STR(""), &authorities, NULL),
		BERTH_ERR_INVALID);
	ck_assert_int_eq(
		bt_certificate_authorities_create(rubbish, &authorities, NULL), BERTH_ERR_INVALID);
	bt_arena_init(&arena, 1024);
	ck_assert_int_eq(bt_certificate_verify_client(
				 site.authorities, &rubbish, 1, 0, &arena, &subject, NULL),
		BERTH_ERR_INVALID);
	ck_assert_int_eq(
		bt_certificate_verify_client(site.authorities, NULL, 0, 0, &arena, &subject, NULL),
		BERTH_ERR_INVALID);
	bt_certificate_authorities_destroy(NULL);
	bt_arena_finish(&arena);
	site_finish(&site);
}
END_TEST

START_TEST(test_http_endpoints__names_and_new_certificates)
{
	static const char *const own_names[] = {"own.example"};
	static const struct bt_str patterns[] = {
		BT_STR_INIT("*.wild.example"), BT_STR_INIT("plain.example")};
	struct site site = {.url = ""};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair own = {0};
	struct bt_certificate_pair wild = {0};
	struct bt_certificate_pair fresh = {0};
	static const char *const wild_names[] = {"a.wild.example", "plain.example"};
	int64_t now = real_now();
	ck_assert_int_eq(bt_certificate_make_ca("sni", now, &ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(&ca, own_names, 1, now, &own, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(&ca, wild_names, 2, now, &wild, NULL), 0);
	struct bt_http_sni_pair sni[] = {
		{bt_strbuf_c(&own.certificate), bt_strbuf_c(&own.key), NULL, 0},
		{bt_strbuf_c(&wild.certificate), bt_strbuf_c(&wild.key), patterns, 2},
	};
	site.options.certificates.sni = sni;
	site.options.certificates.sni_count = 2;
	site_start(&site);
	bt_strbuf_append_str(&site.pair.certificate, bt_strbuf_str(&ca.certificate));
	expect_with(&site, NULL, NULL, "0");
	expect_with(&site, NULL, "own.example", "0");
	expect_with(&site, NULL, "a.wild.example", "0");
	expect_with(&site, NULL, "plain.example", "0");
	expect_with(&site, NULL, "b.a.wild.example", NULL);
	expect_with(&site, NULL, "other.example", NULL);
	/* new connections get the new certificate; open connections stay */
	struct result result = {0};
	struct bt_http_client *client = make_client(&site, NULL, NULL);
	result_get(&result, client, site.loop, site.url);
	result_wait(&result);
	result_finish(&result);
	ck_assert_int_eq(bt_certificate_make_serving("10.1.2.3", now, &fresh, NULL), 0);
	struct bt_http_certificates certificates = {
		bt_strbuf_c(&fresh.certificate), bt_strbuf_c(&site.pair.key), NULL, 0};
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_int_eq(bt_http_server_set_certificates(site.server, &certificates, NULL, &err),
		BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "tls: private key does not match public key");
	berth_error_finish(&err);
	certificates.key_pem = bt_strbuf_c(&fresh.key);
	ck_assert_int_eq(
		bt_http_server_set_certificates(site.server, &certificates, NULL, NULL), 0);
	expect_with(&site, NULL, NULL, NULL);
	bt_strbuf_append_str(&site.pair.certificate, bt_strbuf_str(&fresh.certificate));
	expect_with(&site, NULL, NULL, "0");
	expect_with(&site, NULL, "10.1.2.3", "0");
	struct result again = {0};
	result_get(&again, client, site.loop, site.url);
	result_wait(&again);
	ck_assert_str_eq(bt_strbuf_c(&again.message), "");
	result_finish(&again);
	bt_http_client_destroy(client);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&own);
	bt_certificate_pair_finish(&wild);
	bt_certificate_pair_finish(&fresh);
	site_finish(&site);
}
END_TEST

START_TEST(test_http_endpoints__serving_pair)
{
	struct bt_certificate_pair pair = {0};
	gnutls_x509_crt_t *chain = NULL;
	unsigned int count = 0;
	int64_t now = real_now();
	ck_assert_int_eq(bt_certificate_make_serving("fd00::1", now, &pair, NULL), 0);
	gnutls_datum_t pem = {
		(unsigned char *)pair.certificate.data, (unsigned int)pair.certificate.length};
	ck_assert_int_eq(
		gnutls_x509_crt_list_import2(&chain, &count, &pem, GNUTLS_X509_FMT_PEM, 0), 0);
	ck_assert_uint_eq(count, 2);
	ck_assert_int_eq(gnutls_x509_crt_get_activation_time(chain[0]), now - HOUR);
	ck_assert_int_eq(gnutls_x509_crt_get_expiration_time(chain[0]), now - HOUR + 365 * DAY);
	ck_assert_uint_ne(gnutls_x509_crt_check_hostname(chain[0], "localhost"), 0);
	ck_assert_uint_ne(gnutls_x509_crt_check_hostname(chain[0], "127.0.0.1"), 0);
	ck_assert_uint_ne(gnutls_x509_crt_check_hostname(chain[0], "fd00::1"), 0);
	ck_assert_uint_ne(gnutls_x509_crt_check_issuer(chain[0], chain[1]), 0);
	ck_assert_uint_ne(gnutls_x509_crt_check_issuer(chain[1], chain[1]), 0);
	for (unsigned int i = 0; i < count; i++) {
		gnutls_x509_crt_deinit(chain[i]);
	}
	gnutls_free(chain);
	bt_certificate_pair_finish(&pair);
}
END_TEST

START_TEST(test_http_endpoints__graceful_end)
{
	struct site site = {.options = {.serve_later = true}};
	struct result waiting = {0};
	struct result idle = {0};
	struct result late = {0};
	struct bt_strbuf body = {0};
	char url[80];
	site_start(&site);
	(void)snprintf(url, sizeof(url), "%slater", site.url);
	struct bt_http_client *client = make_client(&site, NULL, NULL);
	struct bt_http_client *other = make_client(&site, NULL, NULL);
	result_get(&waiting, client, site.loop, url);
	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(bt_loop_turn(site.loop, 1000000, NULL), 0);
	}
	ck_assert_uint_eq(site.request_count, 0);
	ck_assert_uint_eq(bt_http_server_open_count(site.server), 0);
	bt_http_server_serve(site.server);
	result_get(&idle, other, site.loop, site.url);
	result_wait(&idle);
	while (site.request_count < 2) {
		ck_assert_int_eq(bt_loop_turn(site.loop, 1000000, NULL), 0);
	}
	ck_assert_uint_eq(bt_http_server_open_count(site.server), 1);
	bt_http_server_stop_listening(site.server);
	bt_http_server_stop_listening(site.server);
	result_get(&late, other, site.loop, site.url);
	result_wait(&late);
	ck_assert_int_eq(late.outcome.failure, BT_HTTP_FAILURE_REFUSED);
	ck_assert_uint_eq(waiting.done_count, 0);
	bt_strbuf_append_c(&body, "at last");
	bt_http_answer(site.kept, 200, &body);
	result_wait(&waiting);
	ck_assert_str_eq(bt_strbuf_c(&waiting.body), "at last");
	ck_assert_uint_eq(bt_http_server_open_count(site.server), 0);
	bt_http_client_destroy(client);
	bt_http_client_destroy(other);
	result_finish(&waiting);
	result_finish(&idle);
	result_finish(&late);
	site_finish(&site);
}
END_TEST

static void expect_address(struct site *site, const char *host)
{
	struct result result = {0};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	struct bt_http_client *client = NULL;
	char url[80];
	options.tls.insecure = true;
	ck_assert_int_eq(bt_http_client_create(site->loop, &options, &client, NULL), 0);
	(void)snprintf(url, sizeof(url),
		strchr(host, ':') != NULL ? "https://[%s]:%u/address" : "https://%s:%u/address",
		host, (unsigned int)bt_http_server_port(site->server));
	result_get(&result, client, site->loop, url);
	result_wait(&result);
	ck_assert_str_eq(bt_strbuf_c(&result.body), host);
	bt_http_client_destroy(client);
	result_finish(&result);
}

START_TEST(test_http_endpoints__listening)
{
	static const char *const any[] = {"0.0.0.0", "::"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(any); i++) {
		struct site site = {.options = {.both_families = true, .share_port = true}};
		struct bt_http_server *second = NULL;
		struct berth_error err = BERTH_ERROR_INIT;
		char text[128];
		site_start(&site);
		site.options.address = any[i];
		bt_http_server_destroy(site.server);
		ck_assert_int_eq(
			bt_http_server_create(site.loop, &site.options, &site.server, NULL), 0);
		expect_address(&site, "127.0.0.1");
		expect_address(&site, "::1");
		site.options.port = bt_http_server_port(site.server);
		ck_assert_int_eq(bt_http_server_create(site.loop, &site.options, &second, NULL), 0);
		bt_http_server_destroy(second);
		site.options.share_port = false;
		ck_assert_int_eq(bt_http_server_create(site.loop, &site.options, &second, &err),
			BERTH_ERR_IO);
		(void)snprintf(text, sizeof(text),
			i == 0 ? "listen tcp %s:%u: bind: address already in use"
			       : "listen tcp [%s]:%u: bind: address already in use",
			any[i], (unsigned int)site.options.port);
		ck_assert_str_eq(berth_error_message(&err), text);
		berth_error_finish(&err);
		site_finish(&site);
	}
}
END_TEST

BT_TEST_MAIN("http_endpoints", test_http_endpoints__client_certificates,
	test_http_endpoints__without_client_certificates, test_http_endpoints__authorities,
	test_http_endpoints__names_and_new_certificates, test_http_endpoints__serving_pair,
	test_http_endpoints__graceful_end, test_http_endpoints__listening)

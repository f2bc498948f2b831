/* SPDX-License-Identifier: Apache-2.0 */
#include "net/certificate.h"

#include <fcntl.h>
#include <gnutls/gnutls.h>
#include <time.h>

#include "base/compiler.h"
#include "http_fixture.h"
#include "test_main.h"

#define NOW INT64_C(1800000000)
#define DAY INT64_C(86400)

static const char *const names[] = {"localhost", "kubernetes.default.svc", "127.0.0.1", "::1"};

/* Returns the time of the real clock, which GnuTLS uses. */
static int64_t real_now(void)
{
	struct timespec now = {0, 0};
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	return now.tv_sec;
}

static void make(struct bt_certificate_pair *ca, struct bt_certificate_pair *pair, int64_t now)
{
	struct berth_error err = BERTH_ERROR_INIT;
	ck_assert_msg(bt_certificate_make_ca("berth-ca", now, ca, &err) == 0, "%s",
		berth_error_message(&err));
	ck_assert_msg(
		bt_certificate_make_server(ca, names, BT_ARRAY_LENGTH(names), now, pair, &err) == 0,
		"%s", berth_error_message(&err));
}

START_TEST(test_certificate__pairs)
{
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct bt_certificate_pair mixed = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	make(&ca, &pair, NOW);
	ck_assert_int_eq(bt_certificate_check(&ca, NULL, NOW, NOW, NULL), 0);
	ck_assert_int_eq(bt_certificate_check(&pair, NULL, NOW, NOW + DAY, NULL), 0);
	ck_assert_int_eq(bt_certificate_check(&pair, NULL, NOW, NOW + 364 * DAY, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_check(&pair, NULL, NOW, NOW + 366 * DAY, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "the certificate has expired");
	berth_error_finish(&err);
	ck_assert_int_eq(
		bt_certificate_check(&pair, NULL, NOW - 2 * DAY, NOW, NULL), BERTH_ERR_INVALID);
	ck_assert_int_eq(
		bt_certificate_check(&ca, NULL, NOW + 3000 * DAY, NOW + 3001 * DAY, NULL), 0);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		ck_assert_int_eq(bt_certificate_check(&pair, names[i], NOW, NOW, NULL), 0);
	}
	ck_assert_int_eq(
		bt_certificate_check(&pair, "10.9.8.7", NOW, NOW, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "the certificate does not name 10.9.8.7");
	berth_error_finish(&err);
	/* the key of another certificate; texts that are not PEM; empty texts */
	bt_strbuf_append_str(&mixed.certificate, bt_strbuf_str(&pair.certificate));
	ck_assert_int_eq(bt_certificate_check(&mixed, NULL, NOW, NOW, NULL), BERTH_ERR_INVALID);
	bt_strbuf_append_str(&mixed.key, bt_strbuf_str(&ca.key));
	ck_assert_int_eq(bt_certificate_check(&mixed, NULL, NOW, NOW, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err), "the key does not belong to the certificate");
	berth_error_finish(&err);
	bt_strbuf_reset(&mixed.key);
	bt_strbuf_append_c(&mixed.key, "-----BEGIN PRIVATE KEY-----\nxx\n");
	ck_assert_int_eq(bt_certificate_check(&mixed, NULL, NOW, NOW, NULL), BERTH_ERR_INVALID);
	bt_certificate_pair_finish(&mixed);
	ck_assert_int_eq(
		bt_certificate_make_server(&mixed, names, 1, NOW, &pair, NULL), BERTH_ERR_INVALID);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
	bt_certificate_pair_finish(&pair);
}
END_TEST

START_TEST(test_certificate__random)
{
	struct bt_strbuf a = {0};
	struct bt_strbuf b = {0};
	ck_assert_int_eq(bt_random_hex(16, &a, NULL), 0);
	ck_assert_int_eq(bt_random_hex(16, &b, NULL), 0);
	ck_assert_uint_eq(a.length, 32);
	ck_assert_uint_eq(strspn(bt_strbuf_c(&a), "0123456789abcdef"), 32);
	ck_assert_str_ne(bt_strbuf_c(&a), bt_strbuf_c(&b));
	bt_strbuf_finish(&a);
	bt_strbuf_finish(&b);
}
END_TEST

struct tls_client {
	struct client tcp;
	gnutls_session_t session;
	gnutls_certificate_credentials_t credentials;
};

/* Does the handshake; the client trusts the CA and expects the name. Returns GnuTLS's code. */
static int tls_connect(struct tls_client *tls, struct fixture *fixture,
	const struct bt_certificate_pair *ca, const char *name, const char *priorities)
{
	gnutls_datum_t trusted = {
		(unsigned char *)ca->certificate.data, (unsigned int)ca->certificate.length};
	gnutls_datum_t protocol = {(unsigned char *)"http/1.1", 8};
	int code;
	client_connect(&tls->tcp, fixture);
	ck_assert_int_eq(fcntl(tls->tcp.fd, F_SETFL, O_NONBLOCK), 0);
	ck_assert_int_eq(gnutls_certificate_allocate_credentials(&tls->credentials), 0);
	ck_assert_int_eq(gnutls_certificate_set_x509_trust_mem(
				 tls->credentials, &trusted, GNUTLS_X509_FMT_PEM),
		1);
	ck_assert_int_eq(gnutls_init(&tls->session, GNUTLS_CLIENT | GNUTLS_NONBLOCK), 0);
	ck_assert_int_eq(gnutls_priority_set_direct(tls->session, priorities, NULL), 0);
	ck_assert_int_eq(
		gnutls_credentials_set(tls->session, GNUTLS_CRD_CERTIFICATE, tls->credentials), 0);
	ck_assert_int_eq(gnutls_alpn_set_protocols(tls->session, &protocol, 1, 0), 0);
	gnutls_session_set_verify_cert(tls->session, name, 0);
	gnutls_transport_set_int(tls->session, tls->tcp.fd);
	int64_t start_ns = bt_loop_now_ns(fixture->loop);
	while ((code = gnutls_handshake(tls->session)) == GNUTLS_E_AGAIN) {
		ck_assert_int_eq(bt_loop_turn(fixture->loop, 1000000, NULL), 0);
		ck_assert_int_lt(bt_loop_now_ns(fixture->loop) - start_ns, INT64_C(10000000000));
	}
	return code;
}

static void tls_close(struct tls_client *tls)
{
	gnutls_deinit(tls->session);
	gnutls_certificate_free_credentials(tls->credentials);
	client_close(&tls->tcp);
}

START_TEST(test_certificate__handshake)
{
	static const char *const good[] = {
		"NORMAL", "NORMAL:-VERS-ALL:+VERS-TLS1.3", "NORMAL:-VERS-ALL:+VERS-TLS1.2"};
	struct fixture fixture = {0};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct bt_certificate_pair other = {0};
	struct tls_client tls;
	make(&ca, &pair, real_now());
	ck_assert_int_eq(bt_certificate_make_ca("other", real_now(), &other, NULL), 0);
	fixture.certificate_pem = bt_strbuf_c(&pair.certificate);
	fixture.key_pem = bt_strbuf_c(&pair.key);
	fixture_start(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(good); i++) {
		char buffer[1024];
		gnutls_datum_t protocol = {NULL, 0};
		int code = tls_connect(&tls, &fixture, &ca, names[i], good[i]);
		ck_assert_msg(code == 0, "%s: %s", good[i], gnutls_strerror(code));
		ck_assert_int_eq(gnutls_alpn_get_selected_protocol(tls.session, &protocol), 0);
		ck_assert_uint_eq(protocol.size, 8);
		const char *text = "GET /tls HTTP/1.1\r\nHost: h\r\n\r\n";
		ck_assert_int_eq(
			gnutls_record_send(tls.session, text, strlen(text)), (ssize_t)strlen(text));
		size_t received = 0;
		buffer[0] = '\0';
		while (strstr(buffer, "GET /tls? \n") == NULL) {
			ck_assert_int_eq(bt_loop_turn(fixture.loop, 1000000, NULL), 0);
			ssize_t count = gnutls_record_recv(
				tls.session, buffer + received, sizeof(buffer) - 1 - received);
			ck_assert(count > 0 || count == GNUTLS_E_AGAIN);
			received += count > 0 ? (size_t)count : 0;
			buffer[received] = '\0';
		}
		tls_close(&tls);
	}
	/* a client that trusts another CA, expects another name, or speaks an old version */
	ck_assert_int_eq(tls_connect(&tls, &fixture, &other, "localhost", "NORMAL"),
		GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR);
	tls_close(&tls);
	ck_assert_int_eq(tls_connect(&tls, &fixture, &ca, "example.org", "NORMAL"),
		GNUTLS_E_CERTIFICATE_VERIFICATION_ERROR);
	tls_close(&tls);
	ck_assert_int_lt(tls_connect(&tls, &fixture, &ca, "localhost",
				 "NORMAL:-VERS-ALL:+VERS-TLS1.1:%UNSAFE_RENEGOTIATION"),
		0);
	tls_close(&tls);
	/* a client that speaks plain HTTP */
	struct client plain;
	client_connect(&plain, &fixture);
	client_send_text(&plain, "GET /plain HTTP/1.1\r\nHost: h\r\n\r\n");
	client_expect_end(&plain);
	client_close(&plain);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.request_count, BT_ARRAY_LENGTH(good));
	ck_assert_uint_eq(fixture.closed_count, BT_ARRAY_LENGTH(good));
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
	bt_certificate_pair_finish(&other);
}
END_TEST

START_TEST(test_certificate__tls_stream)
{
	struct fixture fixture = {0};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct tls_client tls;
	char buffer[4096];
	make(&ca, &pair, real_now());
	fixture.certificate_pem = bt_strbuf_c(&pair.certificate);
	fixture.key_pem = bt_strbuf_c(&pair.key);
	fixture_start(&fixture);
	ck_assert_int_eq(tls_connect(&tls, &fixture, &ca, "127.0.0.1", "NORMAL"), 0);
	const char *text = "GET /stream HTTP/1.1\r\nHost: h\r\n\r\n";
	ck_assert_int_eq(
		gnutls_record_send(tls.session, text, strlen(text)), (ssize_t)strlen(text));
	fixture_wait_count(&fixture, &fixture.request_count, 1);
	size_t received = 0;
	for (int i = 0; i < 20; i++) {
		bt_strbuf_append_c(&fixture.feed, "event\n");
		bt_http_stream_resume(fixture.kept);
		ck_assert_int_eq(bt_loop_turn(fixture.loop, 1000000, NULL), 0);
	}
	while (received < 20 * 11) {
		ck_assert_int_eq(bt_loop_turn(fixture.loop, 1000000, NULL), 0);
		ssize_t count = gnutls_record_recv(tls.session, buffer, sizeof(buffer));
		ck_assert(count > 0 || count == GNUTLS_E_AGAIN);
		received += count > 0 ? (size_t)count : 0;
	}
	tls_close(&tls);
	fixture_wait_count(&fixture, &fixture.finish_count, 1);
	fixture_finish(&fixture);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
}
END_TEST

/** Turns the loop once and receives. Returns the number of bytes, 0 if none came, -1 at the end. */
static ssize_t tls_receive(
	struct fixture *fixture, struct tls_client *tls, char *buffer, size_t capacity)
{
	ck_assert_int_eq(bt_loop_turn(fixture->loop, 1000000, NULL), 0);
	ssize_t count = gnutls_record_recv(tls->session, buffer, capacity);
	return count == GNUTLS_E_AGAIN ? 0 : count > 0 ? count : -1;
}

START_TEST(test_certificate__short_answers_are_one_record)
{
	static const char last[] = "GET /tls? \n";
	static const char *const closing[] = {
		"GET /tls HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
		"GET /tls HTTP/1.0\r\nHost: h\r\n\r\n"};
	const char *text = "GET /tls HTTP/1.1\r\nHost: h\r\n\r\n";
	struct fixture fixture = {0};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct tls_client tls;
	char buffer[4096];
	ssize_t count;
	int64_t fastest_ns = INT64_MAX;
	make(&ca, &pair, real_now());
	fixture.certificate_pem = bt_strbuf_c(&pair.certificate);
	fixture.key_pem = bt_strbuf_c(&pair.key);
	fixture_start(&fixture);
	ck_assert_int_eq(tls_connect(&tls, &fixture, &ca, "localhost", "NORMAL"), 0);
	for (int i = 0; i < 5; i++) {
		int64_t start_ns = bt_loop_now_ns(fixture.loop);
		ck_assert_int_eq(
			gnutls_record_send(tls.session, text, strlen(text)), (ssize_t)strlen(text));
		while ((count = tls_receive(&fixture, &tls, buffer, 1)) == 0) {
		}
		ck_assert_int_eq(count, 1);
		int64_t took_ns = bt_loop_now_ns(fixture.loop) - start_ns;
		fastest_ns = took_ns < fastest_ns ? took_ns : fastest_ns;
		size_t rest = gnutls_record_check_pending(tls.session);
		ck_assert_uint_lt(rest, sizeof(buffer) - 1);
		ck_assert_int_eq(gnutls_record_recv(tls.session, buffer + 1, rest), (ssize_t)rest);
		buffer[rest + 1] = '\0';
		ck_assert_int_eq(strncmp(buffer, "HTTP/1.1 200 OK\r\n", 17), 0);
		ck_assert_ptr_nonnull(strstr(buffer, last));
	}
	ck_assert_int_lt(fastest_ns, 100000000); /* the kernel delays no answer */
	tls_close(&tls);
	/* requests after which the server closes the connection */
	for (size_t i = 0; i < BT_ARRAY_LENGTH(closing); i++) {
		size_t received = 0;
		ck_assert_int_eq(tls_connect(&tls, &fixture, &ca, "localhost", "NORMAL"), 0);
		ck_assert_int_eq(gnutls_record_send(tls.session, closing[i], strlen(closing[i])),
			(ssize_t)strlen(closing[i]));
		while ((count = tls_receive(&fixture, &tls, buffer + received,
				sizeof(buffer) - 1 - received)) >= 0) {
			received += (size_t)count;
		}
		buffer[received] = '\0';
		ck_assert_ptr_nonnull(strstr(buffer, last));
		tls_close(&tls);
	}
	fixture_finish(&fixture);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
}
END_TEST

/** A client sends requests as long as the server reads them, and reads answers only afterwards. */
START_TEST(test_certificate__answers_wait_for_a_slow_client)
{
	enum { REQUESTS = 20000, PATH_BYTES = 4000 };
	static const char first[] = "HTTP/1.1 200 OK\r\n";
	struct fixture fixture = {0};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct tls_client tls;
	struct bt_strbuf request = {0};
	struct bt_strbuf answers = {0};
	char buffer[16384];
	uint32_t sent = 0;
	uint32_t answered = 0;
	ssize_t count = 1;
	make(&ca, &pair, real_now());
	fixture.certificate_pem = bt_strbuf_c(&pair.certificate);
	fixture.key_pem = bt_strbuf_c(&pair.key);
	fixture_start(&fixture);
	/* the answer contains the path */
	bt_strbuf_printf(&request, "GET /%0*d HTTP/1.1\r\nHost: h\r\n\r\n", PATH_BYTES, 0);
	ck_assert_int_eq(tls_connect(&tls, &fixture, &ca, "localhost", "NORMAL"), 0);
	for (int idle = 0; idle < 50 && sent < REQUESTS;) {
		count = gnutls_record_send(tls.session, request.data, request.length);
		ck_assert(count > 0 || count == GNUTLS_E_AGAIN);
		sent += count > 0 ? 1 : 0;
		idle = count > 0 ? 0 : idle + 1;
		ck_assert_int_eq(bt_loop_turn(fixture.loop, count > 0 ? 0 : 1000000, NULL), 0);
	}
	ck_assert_uint_lt(sent, REQUESTS);
	sent++; /* one request is still unsent */
	while (answered < sent) {
		if (count == GNUTLS_E_AGAIN) {
			count = gnutls_record_send(tls.session, NULL, 0);
		}
		ssize_t length = tls_receive(&fixture, &tls, buffer, sizeof(buffer));
		while (length > 0) {
			bt_strbuf_append(&answers, buffer, (size_t)length);
			length = gnutls_record_recv(tls.session, buffer, sizeof(buffer));
		}
		ck_assert(length == 0 || length == GNUTLS_E_AGAIN);
		struct bt_str rest = bt_strbuf_str(&answers);
		for (int64_t at; (at = bt_str_find(rest, bt_str_from(first))) >= 0; answered++) {
			rest = bt_str_sub(rest, (uint32_t)at + sizeof(first) - 1, BT_STR_MAX);
		}
		size_t taken = answers.length - rest.length;
		if (taken != 0) {
			memmove(answers.data, answers.data + taken, rest.length);
		}
		answers.length = rest.length;
	}
	tls_close(&tls);
	fixture_finish(&fixture);
	ck_assert_uint_eq(fixture.request_count, sent);
	bt_strbuf_finish(&request);
	bt_strbuf_finish(&answers);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
}
END_TEST

START_TEST(test_certificate__slow_handshake_rests)
{
	struct fixture fixture = {0};
	struct bt_certificate_pair ca = {0};
	struct bt_certificate_pair pair = {0};
	struct client client;
	uint32_t turns = 0;
	make(&ca, &pair, real_now());
	fixture.certificate_pem = bt_strbuf_c(&pair.certificate);
	fixture.key_pem = bt_strbuf_c(&pair.key);
	fixture_start(&fixture);
	client_connect(&client, &fixture);
	client_send_text(&client, "\x16\x03\x01");
	int64_t start_ns = bt_loop_now_ns(fixture.loop);
	while (bt_loop_now_ns(fixture.loop) - start_ns < INT64_C(200000000)) {
		ck_assert_int_eq(bt_loop_turn(fixture.loop, INT64_C(50000000), NULL), 0);
		turns++;
	}
	ck_assert_uint_lt(turns, 50);
	client_close(&client);
	fixture_finish(&fixture);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
}
END_TEST

BT_TEST_MAIN("certificate", test_certificate__slow_handshake_rests, test_certificate__pairs,
	test_certificate__random, test_certificate__handshake, test_certificate__tls_stream,
	test_certificate__short_answers_are_one_record,
	test_certificate__answers_wait_for_a_slow_client)

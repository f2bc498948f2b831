/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/nanoseconds.h"
#include "codec/json.h"
#include "daemon/serving_tls.h"
#include "endpoints_world.h"
#include "test_main.h"

#define NOW_SECONDS INT64_C(1767366245)

static char folder[64];

static void make_folder(void)
{
	(void)snprintf(folder, sizeof(folder), "/tmp/berth-endpoints-%s",
		"XX"
		"XXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
}

/** Returns a path in the folder; the last 64 returned paths stay valid. */
static const char *in_folder(const char *name)
{
	static char paths[64][128];
	static uint32_t next;
	char *path = paths[next++ % 64];
	(void)snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

static void remove_folder(void)
{
	static const char *const names[] = {"kube-scheduler.crt", "kube-scheduler.key", "tls.crt",
		"tls.key", "ca.crt", "deep/kube-scheduler.crt", "deep/kube-scheduler.key"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		(void)unlink(in_folder(names[i])); /* some tests do not create all files */
	}
	(void)rmdir(in_folder("deep"));
	ck_assert_int_eq(rmdir(folder), 0);
}

static void write_file(const char *name, struct bt_str text)
{
	FILE *file = fopen(in_folder(name), "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fwrite(text.data, 1, text.length, file), text.length);
	ck_assert_int_eq(fclose(file), 0);
}

static void start(struct endpoints_world *world)
{
	ck_assert_msg(endpoints_world_start(world), "%s", berth_error_message(&world->err));
}

static void expect(
	struct endpoints_world *world, struct caller *caller, const char *target, uint16_t code)
{
	const char *answer = caller_get(caller, world, target);
	ck_assert_msg(caller->code == code, "%s: %u %s %d", target, caller->code, answer,
		(int)caller->failure);
}

/** Appends a member of the ConfigMap's data. */
static void add_data(struct endpoints_world *world, const char *name, struct bt_str text)
{
	struct bt_json_writer writer;
	bt_strbuf_printf(&world->config_map_data,
		"%s\"%s\":", world->config_map_data.length != 0 ? "," : "", name);
	bt_json_writer_init(&writer, &world->config_map_data, 0);
	bt_json_write_str(&writer, text);
}

/** --- client certificates --- */

struct authorities {
	struct bt_certificate_pair client;
	struct bt_certificate_pair front;
	struct bt_certificate_pair other;
};

static void authorities_init(struct authorities *authorities)
{
	*authorities = (struct authorities){.client = {.key = {0}}};
	ck_assert_int_eq(
		bt_certificate_make_ca("client", NOW_SECONDS, &authorities->client, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_ca("front", NOW_SECONDS, &authorities->front, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_ca("other", NOW_SECONDS, &authorities->other, NULL), 0);
}

static void authorities_finish(struct authorities *authorities)
{
	bt_certificate_pair_finish(&authorities->client);
	bt_certificate_pair_finish(&authorities->front);
	bt_certificate_pair_finish(&authorities->other);
}

START_TEST(test_endpoint_certificates__client_certificates)
{
	struct authorities authorities;
	struct endpoints_world world;
	struct bt_certificate_pair root = {.key = {0}};
	struct bt_certificate_pair alice = {.key = {0}};
	struct bt_certificate_pair stranger = {.key = {0}};
	authorities_init(&authorities);
	make_client_pair(&authorities.client, "root", "system:masters", &root);
	make_client_pair(&authorities.client, "alice", NULL, &alice);
	make_client_pair(&authorities.other, "root", "system:masters", &stranger);
	struct caller as_root = {.pair = &root};
	struct caller as_alice = {.pair = &alice};
	struct caller as_stranger = {.pair = &stranger};
	make_folder();
	write_file("ca.crt", bt_strbuf_str(&authorities.client.certificate));
	endpoints_world_init(&world);
	world.options.authentication.client_ca_file = bt_str_from(in_folder("ca.crt"));
	start(&world);
	expect(&world, &as_root, "/metrics", 200);
	/* no review is sent for system:masters */
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.server.log), "subjectaccessreviews"));
	expect(&world, &as_alice, "/metrics", 200);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.server.log),
		"\"user\":\"alice\",\"groups\":[\"system:authenticated\"]}"));
	expect(&world, &as_stranger, "/healthz", 401);
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&world.log), "[x509: certificate signed by unknown authority]"));
	/* a token still authenticates */
	caller_set_header(&as_stranger, "Authorization", "Bearer good");
	expect(&world, &as_stranger, "/metrics", 200);
	caller_finish(&as_root);
	caller_finish(&as_alice);
	caller_finish(&as_stranger);
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&root);
	bt_certificate_pair_finish(&alice);
	bt_certificate_pair_finish(&stranger);
	authorities_finish(&authorities);
	remove_folder();
}
END_TEST

START_TEST(test_endpoint_certificates__front_proxy_of_the_config_map)
{
	struct authorities authorities;
	struct endpoints_world world;
	struct bt_certificate_pair proxy = {.key = {0}};
	struct bt_certificate_pair impostor = {.key = {0}};
	authorities_init(&authorities);
	make_client_pair(&authorities.front, "front-proxy-client", NULL, &proxy);
	make_client_pair(&authorities.front, "somebody", NULL, &impostor);
	struct caller as_proxy = {.pair = &proxy};
	struct caller as_impostor = {.pair = &impostor};
	struct caller bare = {.pair = NULL};
	endpoints_world_init(&world);
	world.config_map_code = 200;
	add_data(&world, "client-ca-file", bt_strbuf_str(&authorities.client.certificate));
	add_data(&world, "requestheader-client-ca-file",
		bt_strbuf_str(&authorities.front.certificate));
	add_data(&world, "requestheader-username-headers", BT_STR("[\"X-Remote-User\"]"));
	add_data(&world, "requestheader-group-headers", BT_STR("[\"X-Remote-Group\"]"));
	add_data(&world, "requestheader-extra-headers-prefix", BT_STR("[\"X-Remote-Extra-\"]"));
	add_data(&world, "requestheader-allowed-names", BT_STR("[\"front-proxy-client\"]"));
	start(&world);
	caller_set_header(&as_proxy, "x-remote-user", "mallory");
	caller_set_header(&as_proxy, "X-Remote-Group", "g1");
	caller_set_header(&as_proxy, "X-Remote-Group", "g2");
	caller_set_header(&as_proxy, "X-Remote-Extra-Acme.com%2FScope", "s");
	expect(&world, &as_proxy, "/metrics", 403);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&as_proxy.answer),
		"\"forbidden: User \\\"mallory\\\" cannot get path \\\"/metrics\\\": not you\""));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.server.log),
		"\"user\":\"mallory\",\"groups\":[\"g1\",\"g2\",\"system:authenticated\"],"
		"\"extra\":{\"acme.com/scope\":[\"s\"]}}"));
	/* a certificate of the proxy CA with a name that is not allowed; no certificate */
	caller_set_header(&as_impostor, "X-Remote-User", "alice");
	expect(&world, &as_impostor, "/healthz", 401);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log),
		"x509: subject with cn=somebody is not in the allowed list"));
	caller_set_header(&bare, "X-Remote-User", "alice");
	expect(&world, &bare, "/metrics", 403);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&bare.answer), "system:anonymous"));
	caller_finish(&as_proxy);
	caller_finish(&as_impostor);
	caller_finish(&bare);
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&proxy);
	bt_certificate_pair_finish(&impostor);
	authorities_finish(&authorities);
}
END_TEST

START_TEST(test_endpoint_certificates__config_map_changes)
{
	struct authorities authorities;
	struct endpoints_world world;
	struct bt_certificate_pair root = {.key = {0}};
	struct bt_strbuf event = {0};
	authorities_init(&authorities);
	make_client_pair(&authorities.client, "root", "system:masters", &root);
	struct caller caller = {.pair = &root};
	endpoints_world_init(&world);
	world.config_map_code = 200;
	add_data(&world, "client-ca-file", bt_strbuf_str(&authorities.other.certificate));
	start(&world);
	expect(&world, &caller, "/metrics", 401);
	endpoints_world_await_request(&world, "watch=");
	bt_strbuf_append_c(&event,
		"{\"type\":\"MODIFIED\",\"object\":{\"kind\":\"ConfigMap\","
		"\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
		"\"extension-apiserver-authentication\",\"namespace\":"
		"\"kube-system\",\"resourceVersion\":\"8\",\"uid\":\"u\"},"
		"\"data\":{");
	bt_strbuf_reset(&world.config_map_data);
	add_data(&world, "client-ca-file", bt_strbuf_str(&authorities.client.certificate));
	bt_strbuf_append_str(&event, bt_strbuf_str(&world.config_map_data));
	bt_strbuf_append_c(&event, "}}}\n");
	struct scripted_answer answer = {.code = 200, .body = bt_strbuf_str(&event)};
	scripted_server_answer_hanging(&world.server, &answer);
	for (int i = 0; i < 400 && caller.code != 200; i++) {
		(void)caller_get(&caller, &world, "/metrics");
	}
	ck_assert_uint_eq(caller.code, 200);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&root);
	bt_strbuf_finish(&event);
	authorities_finish(&authorities);
}
END_TEST

START_TEST(test_endpoint_certificates__config_map_that_makes_no_sense)
{
	static const char *const allowed_names[] = {"front-proxy-client", "[5]", "[null]", "{}"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(allowed_names); i++) {
		struct authorities authorities;
		struct endpoints_world world;
		struct bt_certificate_pair proxy = {.key = {0}};
		authorities_init(&authorities);
		make_client_pair(&authorities.front, "front-proxy-client", NULL, &proxy);
		struct caller caller = {.pair = &proxy};
		endpoints_world_init(&world);
		world.config_map_code = 200;
		add_data(&world, "requestheader-client-ca-file",
			bt_strbuf_str(&authorities.front.certificate));
		add_data(&world, "requestheader-username-headers", BT_STR("[\"X-Remote-User\"]"));
		add_data(&world, "requestheader-allowed-names", bt_str_from(allowed_names[i]));
		start(&world);
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log),
			"configmap/extension-apiserver-authentication: "
			"requestheader-allowed-names: "));
		/* without valid allowed names no certificate identifies a proxy */
		caller_set_header(&caller, "X-Remote-User", "alice");
		expect(&world, &caller, "/metrics", 403);
		ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&caller.answer), "system:anonymous"));
		caller_finish(&caller);
		endpoints_world_finish(&world);
		bt_certificate_pair_finish(&proxy);
		authorities_finish(&authorities);
	}
}
END_TEST

START_TEST(test_endpoint_certificates__lookup_fails)
{
	struct endpoints_world world;
	endpoints_world_init(&world);
	world.config_map_code = 403;
	start(&world);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log),
		"Error looking up in-cluster authentication configuration: no map for you \n"
		"Continuing without authentication configuration. This may treat all requests as "
		"anonymous. \nTo require authentication configuration lookup to succeed, set "
		"--authentication-tolerate-lookup-failure=false \n"));
	endpoints_world_finish(&world);
	endpoints_world_init(&world);
	world.config_map_code = 403;
	world.options.authentication.tolerate_lookup_failure = false;
	ck_assert(!endpoints_world_start(&world));
	ck_assert_str_eq(berth_error_message(&world.err),
		"unable to load configmap based request-header-client-ca-file: no map for you");
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoint_certificates__client_ca_file_changes)
{
	struct authorities authorities;
	struct endpoints_world world;
	struct bt_certificate_pair root = {.key = {0}};
	authorities_init(&authorities);
	make_client_pair(&authorities.client, "root", "system:masters", &root);
	struct caller caller = {.pair = &root};
	make_folder();
	write_file("ca.crt", bt_strbuf_str(&authorities.other.certificate));
	endpoints_world_init(&world);
	world.options.authentication.client_ca_file = bt_str_from(in_folder("ca.crt"));
	start(&world);
	expect(&world, &caller, "/metrics", 401);
	/* an invalid file does not change the CAs */
	write_file("ca.crt", BT_STR("rubbish"));
	for (int i = 0; i < 600 && strstr(bt_strbuf_c(&world.log), "ca.crt") == NULL; i++) {
		endpoints_world_turn(&world);
	}
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log), "--client-ca-file: \""));
	expect(&world, &caller, "/metrics", 401);
	write_file("ca.crt", bt_strbuf_str(&authorities.client.certificate));
	int64_t end_ns = bt_loop_now_ns(world.loop) + 10 * BT_NS_PER_SECOND;
	while (caller.code != 200 && bt_loop_now_ns(world.loop) < end_ns) {
		(void)caller_get(&caller, &world, "/metrics");
	}
	ck_assert_uint_eq(caller.code, 200);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&root);
	authorities_finish(&authorities);
	remove_folder();
}
END_TEST

/** --- serving certificates --- */

START_TEST(test_endpoint_certificates__own_pair)
{
	struct endpoints_world world;
	struct stat status;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&world.log), "Generated self-signed cert in-memory"));
	endpoints_world_finish(&world);
	make_folder();
	endpoints_world_init(&world);
	world.options.serving.cert_dir = bt_str_from(in_folder("deep"));
	start(&world);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log), "Generated self-signed cert ("));
	ck_assert_int_eq(stat(in_folder("deep/kube-scheduler.key"), &status), 0);
	ck_assert_uint_eq(status.st_mode & 0777, 0600);
	(void)caller_get(&caller, &world, "/healthz");
	ck_assert_uint_eq(caller.code, 200);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	/* the second start uses the files of the first */
	endpoints_world_init(&world);
	world.options.serving.cert_dir = bt_str_from(in_folder("deep"));
	start(&world);
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.log), "Generated"));
	endpoints_world_finish(&world);
	/* only the certificate is left */
	ck_assert_int_eq(unlink(in_folder("deep/kube-scheduler.key")), 0);
	endpoints_world_init(&world);
	world.options.serving.cert_dir = bt_str_from(in_folder("deep"));
	ck_assert(!endpoints_world_start(&world));
	ck_assert_ptr_nonnull(strstr(
		berth_error_message(&world.err), "error creating self-signed certificates: "));
	ck_assert_ptr_nonnull(strstr(berth_error_message(&world.err),
		"kube-scheduler.key, certificate and key must be supplied as a pair"));
	endpoints_world_finish(&world);
	remove_folder();
}
END_TEST

static void expect_failure(const char *certificate, const char *key, const char *text)
{
	struct endpoints_world world;
	endpoints_world_init(&world);
	world.options.serving.cert_file = bt_str_from(certificate);
	world.options.serving.key_file = bt_str_from(key);
	ck_assert(!endpoints_world_start(&world));
	const char *message = berth_error_message(&world.err);
	ck_assert_msg(strstr(message, text) != NULL, "%s", message);
	ck_assert_msg(strstr(message, "--tls-cert-file \"") == message, "%s", message);
	endpoints_world_finish(&world);
}

/** Asserts that the start fails with exactly this message. */
static void expect_message(struct endpoints_world *world, const char *message)
{
	ck_assert(!endpoints_world_start(world));
	ck_assert_str_eq(berth_error_message(&world->err), message);
	endpoints_world_finish(world);
}

START_TEST(test_endpoint_certificates__missing_files)
{
	struct endpoints_world world;
	make_folder();
	write_file("ca.crt", BT_STR("rubbish"));
	endpoints_world_init(&world);
	world.options.serving.cert_file = BT_STR("tls.crt");
	expect_message(&world, "missing filename for serving cert");
	endpoints_world_init(&world);
	world.options.serving.key_file = BT_STR("tls.key");
	expect_message(&world, "missing filename for serving cert");
	endpoints_world_init(&world);
	world.options.authentication.client_ca_file = BT_STR("/nonexistent/ca.crt");
	expect_message(&world,
		"unable to load client CA provider: open /nonexistent/ca.crt: no such file or "
		"directory");
	endpoints_world_init(&world);
	world.options.authentication.client_ca_file = bt_str_from(in_folder("ca.crt"));
	ck_assert(!endpoints_world_start(&world));
	ck_assert_ptr_nonnull(
		strstr(berth_error_message(&world.err), "unable to load client CA provider: \""));
	endpoints_world_finish(&world);
	remove_folder();
}
END_TEST

START_TEST(test_endpoint_certificates__bad_files)
{
	struct bt_certificate_pair a = {.key = {0}};
	struct bt_certificate_pair b = {.key = {0}};
	ck_assert_int_eq(bt_certificate_make_ca("a", NOW_SECONDS, &a, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_ca("b", NOW_SECONDS, &b, NULL), 0);
	make_folder();
	write_file("tls.crt", bt_strbuf_str(&a.certificate));
	write_file("tls.key", bt_strbuf_str(&b.key));
	write_file("ca.crt", BT_STR("rubbish"));
	expect_failure(in_folder("tls.crt"), in_folder("tls.key"),
		"tls: private key does not match public key");
	expect_failure(in_folder("ca.crt"), in_folder("tls.key"),
		"tls: failed to find any PEM data in certificate input");
	expect_failure(in_folder("tls.crt"), in_folder("ca.crt"),
		"tls: failed to find any PEM data in key input");
	expect_failure(in_folder("none"), in_folder("tls.key"), "none: no such file or directory");
	expect_failure(in_folder("tls.crt"), folder, "is a directory");
	bt_certificate_pair_finish(&a);
	bt_certificate_pair_finish(&b);
	remove_folder();
}
END_TEST

START_TEST(test_endpoint_certificates__port_is_taken)
{
	struct endpoints_world world;
	struct endpoints_world second;
	char expected[256];
	endpoints_world_init(&world);
	start(&world);
	int port = (int)world.options.serving.secure_port;
	endpoints_world_init(&second);
	second.options.serving.secure_port = port;
	ck_assert(!endpoints_world_start(&second));
	(void)snprintf(expected, sizeof(expected),
		"failed to create listener: failed to listen on 127.0.0.1:%d: listen tcp "
		"127.0.0.1:%d: bind: address already in use",
		port, port);
	ck_assert_str_eq(berth_error_message(&second.err), expected);
	endpoints_world_finish(&second);
	endpoints_world_finish(&world);
}
END_TEST

/**
 * Returns whether the server shows a pair signed by ca to a client that sends name (NULL: no name).
 */
static bool shows(
	struct endpoints_world *world, const struct bt_certificate_pair *ca, const char *name)
{
	struct caller caller = {.pair = NULL};
	struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
	options.tls.ca = bt_strbuf_str(&ca->certificate);
	options.tls.server_name = bt_str_from(name);
	ck_assert_int_eq(bt_http_client_create(world->loop, &options, &caller.client, NULL), 0);
	(void)caller_get(&caller, world, "/healthz");
	bool is_shown = caller.failure == BT_HTTP_FAILURE_NONE && caller.code == 200;
	caller_finish(&caller);
	return is_shown;
}

START_TEST(test_endpoint_certificates__files_are_replaced)
{
	static const char *const names[] = {"127.0.0.1"};
	struct bt_certificate_pair old_ca = {.key = {0}};
	struct bt_certificate_pair new_ca = {.key = {0}};
	struct bt_certificate_pair old_pair = {.key = {0}};
	struct bt_certificate_pair new_pair = {.key = {0}};
	struct timespec now;
	struct endpoints_world world;
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	ck_assert_int_eq(bt_certificate_make_ca("old", now.tv_sec, &old_ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_ca("new", now.tv_sec, &new_ca, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_server(&old_ca, names, 1, now.tv_sec, &old_pair, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_server(&new_ca, names, 1, now.tv_sec, &new_pair, NULL), 0);
	make_folder();
	write_file("tls.crt", bt_strbuf_str(&old_pair.certificate));
	write_file("tls.key", bt_strbuf_str(&old_pair.key));
	endpoints_world_init(&world);
	world.options.serving.cert_file = bt_str_from(in_folder("tls.crt"));
	world.options.serving.key_file = bt_str_from(in_folder("tls.key"));
	start(&world);
	ck_assert(shows(&world, &old_ca, NULL));
	ck_assert(!shows(&world, &new_ca, NULL));
	write_file("tls.crt", bt_strbuf_str(&new_pair.certificate));
	for (int i = 0; i < 600 && strstr(bt_strbuf_c(&world.log), "does not match") == NULL; i++) {
		endpoints_world_turn(&world);
	}
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log), "does not match")); /* old key */
	ck_assert(shows(&world, &old_ca, NULL));
	write_file("tls.key", bt_strbuf_str(&new_pair.key));
	int64_t end_ns = bt_loop_now_ns(world.loop) + 10 * BT_NS_PER_SECOND;
	while (!shows(&world, &new_ca, NULL)) {
		ck_assert_int_lt(bt_loop_now_ns(world.loop), end_ns);
	}
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&old_ca);
	bt_certificate_pair_finish(&new_ca);
	bt_certificate_pair_finish(&old_pair);
	bt_certificate_pair_finish(&new_pair);
	remove_folder();
}
END_TEST

/** A bad file that looks unchanged: its error is logged once, not at every full read. */
START_TEST(test_endpoint_certificates__complaints_are_not_repeated)
{
	struct bt_certificate_pair pair = {.key = {0}};
	struct bt_strbuf bad = {0};
	struct endpoints_world world;
	struct bt_serving_tls *serving;
	struct stat status;
	ck_assert_int_eq(bt_certificate_make_ca("a", NOW_SECONDS, &pair, NULL), 0);
	make_folder();
	write_file("tls.crt", bt_strbuf_str(&pair.certificate));
	write_file("tls.key", bt_strbuf_str(&pair.key));
	endpoints_world_init(&world);
	world.options.serving.cert_file = bt_str_from(in_folder("tls.crt"));
	world.options.serving.key_file = bt_str_from(in_folder("tls.key"));
	ck_assert_int_eq(
		bt_serving_tls_create(&world.options.serving, NOW_SECONDS, &serving, NULL), 0);
	/* same file, length and time of change */
	ck_assert_int_eq(stat(in_folder("tls.crt"), &status), 0);
	while (bad.length < pair.certificate.length) {
		bt_strbuf_append_char(&bad, 'x');
	}
	write_file("tls.crt", bt_strbuf_str(&bad));
	const struct timespec times[] = {status.st_atim, status.st_mtim};
	ck_assert_int_eq(utimensat(AT_FDCWD, in_folder("tls.crt"), times, 0), 0);
	ck_assert(!bt_serving_tls_refresh(serving, false));
	ck_assert_uint_eq(world.log.length, 0);
	ck_assert(!bt_serving_tls_refresh(serving, true));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log), "failed to find any PEM data"));
	bt_strbuf_reset(&world.log);
	ck_assert(!bt_serving_tls_refresh(serving, false));
	ck_assert(!bt_serving_tls_refresh(serving, true));
	ck_assert_str_eq(bt_strbuf_c(&world.log), "");
	bt_serving_tls_destroy(serving);
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&pair);
	bt_strbuf_finish(&bad);
	remove_folder();
}
END_TEST

START_TEST(test_endpoint_certificates__names_of_clients_choose)
{
	static const char *const plain_names[] = {"127.0.0.1"};
	static const char *const other_names[] = {"a.example.org", "other.example.org"};
	struct bt_certificate_pair plain_ca = {.key = {0}};
	struct bt_certificate_pair other_ca = {.key = {0}};
	struct bt_certificate_pair plain = {.key = {0}};
	struct bt_certificate_pair other = {.key = {0}};
	struct bt_str names[] = {BT_STR_INIT("*.example.org")};
	struct bt_sni_certificate sni = {.names = {.items = names, .count = 1}};
	struct timespec now;
	struct endpoints_world world;
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	ck_assert_int_eq(bt_certificate_make_ca("plain", now.tv_sec, &plain_ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_ca("other", now.tv_sec, &other_ca, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_server(&plain_ca, plain_names, 1, now.tv_sec, &plain, NULL), 0);
	ck_assert_int_eq(
		bt_certificate_make_server(&other_ca, other_names, 2, now.tv_sec, &other, NULL), 0);
	make_folder();
	write_file("tls.crt", bt_strbuf_str(&plain.certificate));
	write_file("tls.key", bt_strbuf_str(&plain.key));
	write_file("kube-scheduler.crt", bt_strbuf_str(&other.certificate));
	write_file("kube-scheduler.key", bt_strbuf_str(&other.key));
	endpoints_world_init(&world);
	world.options.serving.cert_file = bt_str_from(in_folder("tls.crt"));
	world.options.serving.key_file = bt_str_from(in_folder("tls.key"));
	sni.certificate_file = bt_str_from(in_folder("kube-scheduler.crt"));
	sni.key_file = bt_str_from(in_folder("kube-scheduler.key"));
	world.options.serving.sni.items = &sni;
	world.options.serving.sni.count = 1;
	start(&world);
	ck_assert(shows(&world, &plain_ca, NULL));
	ck_assert(shows(&world, &other_ca, "a.example.org"));
	ck_assert(!shows(&world, &plain_ca, "a.example.org"));
	endpoints_world_finish(&world);
	/* the error names the flag */
	endpoints_world_init(&world);
	sni.key_file = bt_str_from(in_folder("none"));
	world.options.serving.sni.items = &sni;
	world.options.serving.sni.count = 1;
	ck_assert(!endpoints_world_start(&world));
	ck_assert_ptr_eq(berth_error_message(&world.err),
		strstr(berth_error_message(&world.err), "--tls-sni-cert-key \""));
	endpoints_world_finish(&world);
	bt_certificate_pair_finish(&plain_ca);
	bt_certificate_pair_finish(&other_ca);
	bt_certificate_pair_finish(&plain);
	bt_certificate_pair_finish(&other);
	remove_folder();
}
END_TEST

START_TEST(test_endpoint_certificates__tls_options)
{
	struct bt_str suites[] = {BT_STR_INIT("TLS_RSA_WITH_AES_128_CBC_SHA"),
		BT_STR_INIT("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256")};
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	world.options.serving.min_tls_version = BT_STR("VersionTLS14");
	ck_assert(!endpoints_world_start(&world));
	ck_assert_str_eq(berth_error_message(&world.err), "unknown tls version \"VersionTLS14\"");
	endpoints_world_finish(&world);
	endpoints_world_init(&world);
	world.options.serving.cipher_suites.items = suites;
	world.options.serving.cipher_suites.count = 2;
	start(&world);
	/* bt_serving_check has warned already. */
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.log), "insecure"));
	expect(&world, &caller, "/healthz", 200);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	endpoints_world_init(&world);
	suites[0] = BT_STR("TLS_NONE");
	world.options.serving.cipher_suites.items = suites;
	world.options.serving.cipher_suites.count = 1;
	ck_assert(!endpoints_world_start(&world));
	ck_assert_ptr_nonnull(strstr(berth_error_message(&world.err),
		"Cipher suite TLS_NONE not supported or doesn't exist"));
	endpoints_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("endpoint_certificates", test_endpoint_certificates__client_certificates,
	test_endpoint_certificates__front_proxy_of_the_config_map,
	test_endpoint_certificates__config_map_changes,
	test_endpoint_certificates__config_map_that_makes_no_sense,
	test_endpoint_certificates__lookup_fails,
	test_endpoint_certificates__client_ca_file_changes, test_endpoint_certificates__own_pair,
	test_endpoint_certificates__bad_files, test_endpoint_certificates__missing_files,
	test_endpoint_certificates__port_is_taken, test_endpoint_certificates__files_are_replaced,
	test_endpoint_certificates__complaints_are_not_repeated,
	test_endpoint_certificates__names_of_clients_choose,
	test_endpoint_certificates__tls_options)

/* SPDX-License-Identifier: Apache-2.0 */
#include "endpoints_world.h"

#include <arpa/inet.h>
#include <gnutls/x509.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "base/nanoseconds.h"

#define WAIT_NS (10 * BT_NS_PER_SECOND)
#define CONFIG_MAP_PATH \
	"/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"

static struct endpoints_world *logging;

static void take_line(void *context, const struct bt_log_record *record)
{
	(void)context;
	bt_strbuf_append_str(&logging->log, record->message);
	bt_strbuf_append_char(&logging->log, ' ');
	bt_strbuf_append_str(&logging->log, record->error);
	bt_strbuf_append_char(&logging->log, '\n');
}

/** --- the API server --- */

static bool has(struct bt_str text, const char *part)
{
	return bt_str_find(text, bt_str_from(part)) >= 0;
}

static void append_config_map(struct endpoints_world *world)
{
	bt_strbuf_printf(&world->answers,
		"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":"
		"\"extension-apiserver-authentication\",\"namespace\":\"kube-system\","
		"\"resourceVersion\":\"7\",\"uid\":\"u\"},\"data\":{%s}}",
		bt_strbuf_c(&world->config_map_data));
}

static void answer_config_map(
	struct endpoints_world *world, const char *path, struct scripted_answer *answer)
{
	if (world->config_map_code != 200) {
		answer->code = world->config_map_code;
		answer->body = BT_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
				      "\"status\":\"Failure\",\"message\":\"no map for you\","
				      "\"reason\":\"Forbidden\",\"code\":403}");
		return;
	}
	if (strstr(path, "watch=") != NULL) {
		answer->hangs = true;
		return;
	}
	if (strncmp(path, CONFIG_MAP_PATH, strlen(CONFIG_MAP_PATH)) == 0) {
		append_config_map(world);
	} else {
		bt_strbuf_append_c(&world->answers,
			"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":"
			"{\"resourceVersion\":\"7\"},\"items\":[");
		append_config_map(world);
		bt_strbuf_append_c(&world->answers, "]}");
	}
	answer->body = bt_strbuf_str(&world->answers);
}

static void answer_token_review(
	const struct scripted_request *request, struct scripted_answer *answer)
{
	answer->code = 201;
	answer->body = has(request->body, "\"token\":\"good\"")
		? BT_STR("{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
			 "\"metadata\":{},\"spec\":{},\"status\":{\"authenticated\":true,\"user\":"
			 "{\"username\":\"alice\",\"uid\":\"42\",\"groups\":[\"readers\"],"
			 "\"extra\":{\"k\":[\"v\",\"w\"]}}}}")
		: BT_STR("{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
			 "\"metadata\":{},\"spec\":{},\"status\":{\"user\":{}}}");
}

static void answer_access_review(
	const struct scripted_request *request, struct scripted_answer *answer)
{
	answer->code = 201;
	answer->body = has(request->body, "\"user\":\"alice\"")
		? BT_STR("{\"kind\":\"SubjectAccessReview\",\"apiVersion\":"
			 "\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":{},"
			 "\"status\":{\"allowed\":true,\"reason\":\"RBAC\"}}")
		: has(request->body, "\"user\":\"mallory\"")
		? BT_STR("{\"kind\":\"SubjectAccessReview\",\"apiVersion\":"
			 "\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":{},"
			 "\"status\":{\"allowed\":false,\"reason\":\"not you\"}}")
		: BT_STR("{\"kind\":\"SubjectAccessReview\",\"apiVersion\":"
			 "\"authorization.k8s.io/v1\",\"metadata\":{},\"spec\":{},"
			 "\"status\":{\"allowed\":false}}");
}

static void answer_request(
	void *context, const struct scripted_request *request, struct scripted_answer *answer)
{
	struct endpoints_world *world = context;
	bt_strbuf_reset(&world->answers);
	if (strstr(request->path, "configmaps") != NULL) {
		answer_config_map(world, request->path, answer);
		return;
	}
	if (world->review_failures != 0) {
		world->review_failures--;
		answer->code = world->review_code;
		answer->body = world->review_code == 500
			? BT_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
				 "\"status\":\"Failure\",\"message\":\"a bad day\","
				 "\"reason\":\"InternalError\",\"code\":500}")
			: BT_STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},"
				 "\"status\":\"Failure\",\"message\":\"a <bad> day\","
				 "\"reason\":\"Forbidden\",\"code\":403}");
		return;
	}
	if (strstr(request->path, "tokenreviews") != NULL) {
		answer_token_review(request, answer);
	} else {
		answer_access_review(request, answer);
	}
	answer->hangs = world->reviews_hang;
}

/** --- the world --- */

static bool check_sync(void *context, struct bt_strbuf *out_error)
{
	struct endpoints_world *world = context;
	if (!world->is_synced) {
		bt_strbuf_append_c(out_error, "handlers are not fully synchronized");
	}
	return world->is_synced;
}

static bool check_shutdown(void *context, struct bt_strbuf *out_error)
{
	struct endpoints_world *world = context;
	if (world->is_stopping) {
		bt_strbuf_append_c(out_error, "process is shutting down");
	}
	return !world->is_stopping;
}

static void write_config(void *context, struct bt_strbuf *out)
{
	(void)context;
	bt_strbuf_append_c(out, "{}");
}

static void connect_client(struct endpoints_world *world)
{
	struct bt_strbuf url = {0};
	bt_strbuf_printf(&url, "http://127.0.0.1:%u", world->server.port);
	struct bt_client_config_input input = {.master = bt_strbuf_c(&url)};
	ck_assert_int_eq(bt_client_config_load(&input, &world->client_config, NULL), 0);
	struct bt_transport_options transport = {
		.loop = world->loop, .config = &world->client_config};
	ck_assert_int_eq(bt_transport_create(&transport, &world->transport, NULL), 0);
	struct bt_rest_options rest = {
		.transport = world->transport,
		.loop = world->loop,
		.user_agent = "test",
		.content_type = BT_STR("application/json"),
		.qps = -1,
	};
	ck_assert_int_eq(bt_rest_client_create(&rest, &world->client, NULL), 0);
	bt_strbuf_finish(&url);
}

/** Returns a port that is free now. */
static int64_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const void *)&address, length), 0);
	ck_assert_int_eq(getsockname(fd, (void *)&address, &length), 0);
	ck_assert_int_eq(close(fd), 0);
	return ntohs(address.sin_port);
}

void endpoints_world_init(struct endpoints_world *world)
{
	struct bt_log_sink sink = {.write = take_line};
	ck_assert_int_eq(setenv("NO_PROXY", "127.0.0.1", 1), 0);
	*world = (struct endpoints_world){.config_map_code = 404, .review_code = 500};
	logging = world;
	bt_log_set_sink(&sink);
	world->options.gates = bt_gates_default();
	world->options.gates.enabled[BT_GATE_WATCH_LIST_CLIENT] = false;
	world->options.versions = bt_versions_default();
	world->options.serving.bind_address = BT_STR("127.0.0.1");
	world->options.serving.secure_port = free_port();
	world->options.authentication.token_cache_ttl_ns = 10 * BT_NS_PER_SECOND;
	world->options.authentication.tolerate_lookup_failure = true;
	world->options.authorization.allow_cache_ttl_ns = 10 * BT_NS_PER_SECOND;
	world->options.authorization.deny_cache_ttl_ns = 10 * BT_NS_PER_SECOND;
	world->paths[0] = BT_STR("/healthz");
	world->paths[1] = BT_STR("/readyz");
	world->options.authorization.always_allow_paths.items = world->paths;
	world->options.authorization.always_allow_paths.count = 2;
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.context = world;
	world->server.answer = answer_request;
	connect_client(world);
	world->metrics = bt_metrics_create();
}

bool endpoints_world_start(struct endpoints_world *world)
{
	const struct bt_health_check ping = {.name = "ping"};
	const struct bt_health_check ready[] = {
		{"shutdown", check_shutdown, world},
		{"sched-handler-sync", check_sync, world},
	};
	struct bt_endpoints_options options = {
		.loop = world->loop,
		.options = &world->options,
		.authentication_client = world->no_delegation ? NULL : world->client,
		.authorization_client = world->no_delegation ? NULL : world->client,
		.healthz = &ping,
		.healthz_count = 1,
		.livez = &ping,
		.livez_count = 1,
		.readyz = ready,
		.readyz_count = 2,
		.metrics = world->metrics,
		.write_config = write_config,
		.context = world,
	};
	if (bt_endpoints_create(&options, &world->endpoints, &world->err) != 0) {
		return false;
	}
	bt_endpoints_serve(world->endpoints);
	return true;
}

void endpoints_world_finish(struct endpoints_world *world)
{
	bt_endpoints_destroy(world->endpoints);
	bt_rest_client_destroy(world->client);
	bt_transport_destroy(world->transport);
	bt_client_config_finish(&world->client_config);
	bt_metrics_destroy(world->metrics);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	berth_error_finish(&world->err);
	bt_strbuf_finish(&world->config_map_data);
	bt_strbuf_finish(&world->answers);
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&world->log);
}

void endpoints_world_turn(struct endpoints_world *world)
{
	if (bt_loop_turn(world->loop, 5 * BT_NS_PER_MS, NULL) != 0) {
		ck_abort_msg("the loop failed");
	}
}

void endpoints_world_await_request(struct endpoints_world *world, const char *text)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + WAIT_NS;
	while (strstr(bt_strbuf_c(&world->server.log), text) == NULL) {
		endpoints_world_turn(world);
		if (bt_loop_now_ns(world->loop) > end_ns) {
			ck_abort_msg("waited in vain for %s in %s", text,
				bt_strbuf_c(&world->server.log));
		}
	}
}

/** --- certificates --- */

static gnutls_datum_t datum_of(const struct bt_strbuf *text)
{
	return (gnutls_datum_t){(unsigned char *)text->data, (unsigned int)text->length};
}

static void sign(gnutls_x509_crt_t certificate, const struct bt_certificate_pair *ca)
{
	gnutls_x509_crt_t issuer;
	gnutls_x509_privkey_t key;
	gnutls_datum_t certificate_text = datum_of(&ca->certificate);
	gnutls_datum_t key_text = datum_of(&ca->key);
	ck_assert_int_eq(gnutls_x509_crt_init(&issuer), 0);
	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_crt_import(issuer, &certificate_text, GNUTLS_X509_FMT_PEM), 0);
	ck_assert_int_eq(gnutls_x509_privkey_import2(
				 key, &key_text, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN),
		0);
	ck_assert_int_eq(gnutls_x509_crt_sign2(certificate, issuer, key, GNUTLS_DIG_SHA256, 0), 0);
	gnutls_x509_crt_deinit(issuer);
	gnutls_x509_privkey_deinit(key);
}

static void set_name(gnutls_x509_crt_t certificate, const char *oid, const char *name)
{
	if (name != NULL) {
		ck_assert_int_eq(gnutls_x509_crt_set_dn_by_oid(
					 certificate, oid, 0, name, (unsigned int)strlen(name)),
			0);
	}
}

void make_client_pair(const struct bt_certificate_pair *ca, const char *common_name,
	const char *organization, struct bt_certificate_pair *out_pair)
{
	gnutls_x509_crt_t certificate;
	gnutls_x509_privkey_t key;
	gnutls_datum_t text = {NULL, 0};
	struct timespec now;
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	ck_assert_int_eq(gnutls_x509_crt_init(&certificate), 0);
	ck_assert_int_eq(gnutls_x509_privkey_init(&key), 0);
	ck_assert_int_eq(gnutls_x509_privkey_generate(key, GNUTLS_PK_ECDSA,
				 GNUTLS_CURVE_TO_BITS(GNUTLS_ECC_CURVE_SECP256R1), 0),
		0);
	ck_assert_int_eq(gnutls_x509_crt_set_version(certificate, 3), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_key(certificate, key), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_serial(certificate, "\1", 1), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_activation_time(certificate, now.tv_sec - 3600), 0);
	ck_assert_int_eq(gnutls_x509_crt_set_expiration_time(certificate, now.tv_sec + 3600), 0);
	set_name(certificate, GNUTLS_OID_X520_COMMON_NAME, common_name);
	set_name(certificate, GNUTLS_OID_X520_ORGANIZATION_NAME, organization);
	ck_assert_int_eq(
		gnutls_x509_crt_set_key_purpose_oid(certificate, GNUTLS_KP_TLS_WWW_CLIENT, 0), 0);
	sign(certificate, ca);
	*out_pair = (struct bt_certificate_pair){.key = {0}};
	ck_assert_int_eq(gnutls_x509_crt_export2(certificate, GNUTLS_X509_FMT_PEM, &text), 0);
	bt_strbuf_append(&out_pair->certificate, text.data, text.size);
	gnutls_free(text.data);
	text.data = NULL;
	ck_assert_int_eq(gnutls_x509_privkey_export2_pkcs8(
				 key, GNUTLS_X509_FMT_PEM, NULL, GNUTLS_PKCS_PLAIN, &text),
		0);
	bt_strbuf_append(&out_pair->key, text.data, text.size);
	gnutls_free(text.data);
	gnutls_x509_crt_deinit(certificate);
	gnutls_x509_privkey_deinit(key);
}

/** --- callers --- */

static void copy_header(
	const struct bt_http_transfer *transfer, const char *name, struct bt_strbuf *out)
{
	bt_strbuf_reset(out);
	bt_strbuf_append_str(out, bt_http_transfer_header(transfer, name));
}

static void on_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	struct caller *caller = context;
	caller->transfer = NULL;
	caller->is_done = true;
	caller->failure = outcome->failure;
	caller->code = outcome->code;
	bt_strbuf_append_str(&caller->answer, outcome->body);
	copy_header(transfer, "Content-Type", &caller->content_type);
	copy_header(transfer, "Cache-Control", &caller->cache_control);
	copy_header(transfer, "X-Content-Type-Options", &caller->no_sniff);
}

void caller_start(struct caller *caller, struct endpoints_world *world, const char *target)
{
	struct bt_strbuf url = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	if (caller->client == NULL) {
		struct bt_http_client_options options = BT_HTTP_CLIENT_OPTIONS_INIT;
		options.tls.insecure = true;
		if (caller->pair != NULL) {
			options.tls.certificate = bt_strbuf_str(&caller->pair->certificate);
			options.tls.key = bt_strbuf_str(&caller->pair->key);
		}
		ck_assert_msg(
			bt_http_client_create(world->loop, &options, &caller->client, &err) == 0,
			"%s", berth_error_message(&err));
	}
	bt_strbuf_printf(
		&url, "https://127.0.0.1:%d%s", (int)world->options.serving.secure_port, target);
	struct bt_http_client_request request = {
		.method = caller->method != NULL ? caller->method : "GET",
		.url = bt_strbuf_c(&url),
		.headers = caller->headers,
		.header_count = caller->header_count,
		.body = bt_str_from(caller->body),
		.handler = {.context = caller, .done = on_done},
	};
	bt_strbuf_reset(&caller->answer);
	caller->is_done = false;
	caller->transfer = bt_http_client_start(caller->client, &request);
	bt_strbuf_finish(&url);
}

void caller_wait(struct caller *caller, struct endpoints_world *world)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + WAIT_NS;
	while (!caller->is_done) {
		endpoints_world_turn(world);
		if (bt_loop_now_ns(world->loop) > end_ns) {
			ck_abort_msg("waited in vain for an answer");
		}
	}
}

const char *caller_get(struct caller *caller, struct endpoints_world *world, const char *target)
{
	caller_start(caller, world, target);
	caller_wait(caller, world);
	return bt_strbuf_c(&caller->answer);
}

void caller_set_header(struct caller *caller, const char *name, const char *value)
{
	ck_assert_uint_lt(caller->header_count, 4);
	caller->headers[caller->header_count++] = (struct bt_http_header){name, bt_str_from(value)};
}

void caller_finish(struct caller *caller)
{
	bt_http_client_destroy(caller->client);
	bt_strbuf_finish(&caller->answer);
	bt_strbuf_finish(&caller->content_type);
	bt_strbuf_finish(&caller->cache_control);
	bt_strbuf_finish(&caller->no_sniff);
	*caller = (struct caller){.pair = NULL};
}

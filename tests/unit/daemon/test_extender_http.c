/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders over real sockets, in turns of the test's loop. Spec: 11b section 9.1. */
#include "daemon/extender_http.h"

#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "daemon/complete_object.h"
#include "net/certificate.h"
#include "net/http_server.h"
#include "scripted_server.h"
#include "test_main.h"

struct world {
	struct bt_loop *loop;
	struct scripted_server server;
	struct scripted_answer answer; /* answer to every request that is not redirected */
	struct bt_extender_http *extenders;
	struct bt_config_extender config;
	struct bt_strbuf url_prefix;
	const struct bt_extender_ops *ops;
	void *context;
	struct bt_arena arena;
	struct berth_error err;
	bool is_stopping;
};

static void answer(
	void *context, const struct scripted_request *request, struct scripted_answer *out_answer)
{
	const struct world *world = context;
	*out_answer = world->answer;
	if (strcmp(request->path, "/elsewhere") == 0) {
		*out_answer = (struct scripted_answer){
			.code = 200, .headers = "", .body = BT_STR("{\"Error\":\"moved\"}")};
	}
}

static bool may_act(void *context)
{
	const struct world *world = context;
	return !world->is_stopping;
}

static bool append_pod(void *context BT_UNUSED, struct bt_str namespace_ BT_UNUSED,
	struct bt_str name BT_UNUSED, struct bt_str uid BT_UNUSED, struct bt_strbuf *out)
{
	bt_strbuf_append_c(out, "{\"whole\":1}");
	return true;
}

static void world_init(struct world *world)
{
	*world = (struct world){.err = BERTH_ERROR_INIT};
	world->answer = (struct scripted_answer){
		.code = 200, .headers = "", .body = BT_STR("{\"Error\":\"\"}")};
	ck_assert_int_eq(bt_loop_create(&world->loop, NULL), 0);
	scripted_server_init(&world->server, world->loop);
	world->server.answer = answer;
	world->server.context = world;
	struct bt_extender_http_options options = {
		.loop = world->loop,
		.may_act = may_act,
		.context = world,
		.objects = {.append_pod = append_pod},
	};
	world->extenders = bt_extender_http_create(&options);
	bt_strbuf_printf(&world->url_prefix, "http://127.0.0.1:%u/a//", world->server.port);
	world->config = (struct bt_config_extender){
		.url_prefix = bt_strbuf_str(&world->url_prefix), .bind_verb = BT_STR("f")};
}

static int create(struct world *world)
{
	const struct bt_extender_factory *factory = bt_extender_http_factory(world->extenders);
	return factory->create(
		factory->context, &world->config, &world->ops, &world->context, &world->err);
}

static int ask_to_bind(struct world *world, struct bt_extender_binding_result *out_result)
{
	struct bt_extender_binding_args args = {
		BT_STR("p"), BT_STR("default"), BT_STR("u"), BT_STR("n1")};
	if (world->ops == NULL) {
		ck_assert_int_eq(create(world), 0);
	}
	berth_error_finish(&world->err);
	world->err = (struct berth_error)BERTH_ERROR_INIT;
	int result =
		world->ops->bind(world->context, &args, &world->arena, out_result, &world->err);
	return result;
}

static void world_finish(struct world *world)
{
	if (world->ops != NULL) {
		world->ops->destroy(world->context);
	}
	bt_extender_http_destroy(world->extenders);
	scripted_server_finish(&world->server);
	bt_loop_destroy(world->loop);
	bt_strbuf_finish(&world->url_prefix);
	bt_arena_finish(&world->arena);
	berth_error_finish(&world->err);
}

START_TEST(test_extender_http__edge_11b_01_urls)
{
	static const struct {
		const char *verb;
		const char *log;
	} rows[] = {{"f", "POST /a/f\n"}, {"/f", "POST /a//f\n"}};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;
		struct bt_extender_binding_result result = {.error = BT_STR("none")};
		world_init(&world);
		world.config.bind_verb = bt_str_from(rows[i].verb);
		ck_assert_int_eq(ask_to_bind(&world, &result), 0);
		ck_assert_uint_eq(result.error.length, 0);
		const char *log = scripted_server_log(&world.server);
		ck_assert_msg(strncmp(log, rows[i].log, strlen(rows[i].log)) == 0, "%s", log);
		ck_assert_ptr_nonnull(strstr(log,
			"{\"PodName\":\"p\",\"PodNamespace\":\"default\",\"PodUID\":\"u\","
			"\"Node\":\"n1\"}"));
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_extender_http__edge_11b_08_status)
{
	struct world world;
	struct bt_extender_binding_result result;
	struct bt_strbuf expected = {0};
	world_init(&world);
	world.answer.code = 201;
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	bt_strbuf_printf(&expected,
		"failed f with extender at URL http://127.0.0.1:%u/a/f, code 201",
		world.server.port);
	ck_assert_str_eq(berth_error_message(&world.err), bt_strbuf_c(&expected));
	bt_strbuf_finish(&expected);
	world_finish(&world);
}
END_TEST

/** Only the error is tested here; the engine's tests cover ignorable and other extenders. */
START_TEST(test_extender_http__edge_11b_10_and_11_time_out)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.answer.hangs = true;
	world.config.http_timeout_ns = 50 * BT_NS_PER_MS;
	int64_t start_ns = bt_loop_now_ns(world.loop);
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	ck_assert_int_lt(bt_loop_now_ns(world.loop) - start_ns, 3 * BT_NS_PER_SECOND);
	const char *message = berth_error_message(&world.err);
	ck_assert_msg(strncmp(message, "Post \"http://127.0.0.1:", 23) == 0, "%s", message);
	ck_assert_msg(strstr(message, "deadline exceeded") != NULL, "%s", message);
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__no_response)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.answer.closes = true;
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	ck_assert_msg(strstr(berth_error_message(&world.err), "/a/f\": ") != NULL, "%s",
		berth_error_message(&world.err));
	world.answer.closes = false;
	ck_assert_int_eq(ask_to_bind(&world, &result), 0);
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__stop_ends_the_wait)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.is_stopping = true;
	world.answer.hangs = true;
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	ck_assert_ptr_nonnull(strstr(berth_error_message(&world.err), "context canceled"));
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__redirect_becomes_get)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.answer = (struct scripted_answer){
		.code = 302, .headers = "Location: /elsewhere\r\n", .body = BT_STR("")};
	ck_assert_int_eq(ask_to_bind(&world, &result), 0);
	ck_assert(bt_str_equal_c(result.error, "moved"));
	ck_assert_ptr_nonnull(strstr(scripted_server_log(&world.server), "GET /elsewhere\n"));
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__edge_10_53_no_prefix)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.config.url_prefix = BT_STR("");
	world.config.bind_verb = BT_STR("filter");
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	ck_assert_msg(strstr(berth_error_message(&world.err), "Post \"/filter\": ") != NULL, "%s",
		berth_error_message(&world.err));
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__scores_are_requested_at_once)
{
	struct world world;
	struct bt_config_extender configs[2];
	const struct bt_extender_ops *ops[2];
	void *contexts[2];
	void *questions[2];
	struct bt_pod_info pod = {.name = BT_STR("p"), .namespace_ = BT_STR("d")};
	struct bt_extender_node node = {.name = BT_STR("n1")};
	struct bt_extender_args args = {.pod = &pod, .nodes = &node, .node_count = 1};
	world_init(&world);
	const struct bt_extender_factory *factory = bt_extender_http_factory(world.extenders);
	world.answer.hangs = true;
	for (uint32_t i = 0; i < 2; i++) {
		configs[i] = world.config;
		configs[i].node_cache_capable = true;
		configs[i].prioritize_verb = i == 0 ? BT_STR("x") : BT_STR("y");
		ck_assert_int_eq(
			factory->create(factory->context, &configs[i], &ops[i], &contexts[i], NULL),
			0);
		questions[i] = ops[i]->begin_prioritize(contexts[i], &args, &world.arena);
	}
	while (world.server.request_count < 2) {
		ck_assert_int_eq(bt_loop_turn(world.loop, BT_NS_PER_SECOND, NULL), 0);
	}
	const char *log = scripted_server_log(&world.server);
	const char *body = "{\"Pod\":{\"whole\":1},\"Nodes\":null,\"NodeNames\":[\"n1\"]}\n";
	ck_assert_ptr_nonnull(strstr(log, "POST /a/x\n"));
	ck_assert_ptr_nonnull(strstr(log, "POST /a/y\n"));
	ck_assert_ptr_nonnull(strstr(log, body));
	struct scripted_answer scores = {
		.code = 200, .headers = "", .body = BT_STR("[{\"Host\":\"n1\",\"Score\":7}]")};
	scripted_server_answer_hanging(&world.server, &scores);
	scripted_server_answer_hanging(&world.server, &scores);
	for (uint32_t i = 0; i < 2; i++) {
		bt_host_priority_list priorities = {0};
		ck_assert_int_eq(ops[i]->end_prioritize(contexts[i], questions[i], &world.arena,
					 &priorities, NULL),
			0);
		ck_assert_uint_eq(priorities.count, 1);
		ck_assert_int_eq(priorities.items[0].score, 7);
		ops[i]->destroy(contexts[i]);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_extender_http__passwords_are_not_logged)
{
	struct world world;
	struct bt_extender_binding_result result;
	world_init(&world);
	world.config.url_prefix = BT_STR("http://me:geheim@127.0.0.1:1/x");
	ck_assert_int_lt(ask_to_bind(&world, &result), 0);
	const char *message = berth_error_message(&world.err);
	ck_assert_msg(strncmp(message, "Post \"http://me:xxxxx@127.0.0.1:1/x/f\": ", 40) == 0, "%s",
		message);
	ck_assert_ptr_null(strstr(message, "geheim"));
	world_finish(&world);
}
END_TEST

/** --- TLS --- */

static void tls_request(void *context BT_UNUSED, struct bt_http_exchange *exchange)
{
	struct bt_strbuf body = {0};
	bt_strbuf_append_c(&body, "{\"Error\":\"tls\"}");
	bt_http_answer(exchange, 200, &body);
}

static void tls_closed(void *context BT_UNUSED, struct bt_http_exchange *exchange BT_UNUSED)
{
}

static struct bt_http_server *start_tls(struct world *world, struct bt_strbuf *out_certificate)
{
	static const char *const names[] = {"127.0.0.1"};
	struct bt_certificate_pair ca = {.key = {.length = 0}};
	struct bt_certificate_pair pair = {.key = {.length = 0}};
	struct bt_http_server *server;
	struct timespec now;
	struct bt_http_server_options options = {
		.address = "127.0.0.1",
		.limits = bt_http_default_limits,
		.handler = {world, tls_request, tls_request, tls_closed},
	};
	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	ck_assert_int_eq(bt_certificate_make_ca("ca", now.tv_sec, &ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(&ca, names, 1, now.tv_sec, &pair, NULL), 0);
	options.certificates.certificate_pem = bt_strbuf_c(&pair.certificate);
	options.certificates.key_pem = bt_strbuf_c(&pair.key);
	ck_assert_int_eq(bt_http_server_create(world->loop, &options, &server, NULL), 0);
	bt_strbuf_append_str(out_certificate, bt_strbuf_str(&ca.certificate));
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
	bt_strbuf_reset(&world->url_prefix);
	bt_strbuf_printf(&world->url_prefix, "https://127.0.0.1:%u", bt_http_server_port(server));
	world->config.url_prefix = bt_strbuf_str(&world->url_prefix);
	return server;
}

START_TEST(test_extender_http__edge_11b_24_verified_certificates)
{
	static const struct {
		const char *name;
		bool enable_https;
		bool has_tls_config;
		bool insecure;
		bool has_ca;
		bool works;
	} rows[] = {
		{"HTTPS without a CA verifies nobody", true, false, false, false, true},
		{"nor with an empty tlsConfig", true, true, false, false, true},
		{"the scheme alone verifies", false, false, false, false, false},
		{"insecure", false, true, true, false, true},
		{"its CA", true, true, false, true, true},
	};
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct world world;
		struct bt_extender_binding_result result = {.error = BT_STR("")};
		struct bt_strbuf certificate = {0};
		world_init(&world);
		struct bt_http_server *server = start_tls(&world, &certificate);
		struct bt_config_extender_tls tls = {.insecure = rows[i].insecure};
		if (rows[i].has_ca) {
			tls.ca_data = bt_strbuf_str(&certificate);
		}
		world.config.enable_https = rows[i].enable_https;
		world.config.tls_config = rows[i].has_tls_config ? &tls : NULL;
		int code = ask_to_bind(&world, &result);
		ck_assert_msg((code == 0) == rows[i].works, "%s: %s", rows[i].name,
			berth_error_message(&world.err));
		ck_assert_msg(bt_str_equal_c(result.error, rows[i].works ? "tls" : ""), "%s",
			rows[i].name);
		world.ops->destroy(world.context);
		world.ops = NULL;
		bt_extender_http_destroy(world.extenders);
		world.extenders = NULL;
		bt_http_server_destroy(server);
		bt_strbuf_finish(&certificate);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_extender_http__bad_tls_config)
{
	struct world world;
	struct bt_config_extender_tls both = {.insecure = true, .ca_data = BT_STR("x")};
	struct bt_config_extender_tls file = {.ca_file = BT_STR("/nowhere/ca.pem")};
	struct bt_config_extender_tls junk = {.ca_data = BT_STR("no certificate")};
	world_init(&world);
	world.config.tls_config = &both;
	ck_assert_int_eq(create(&world), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&world.err),
		"specifying a root certificates file with the insecure flag is not allowed");
	berth_error_finish(&world.err);
	world.err = (struct berth_error)BERTH_ERROR_INIT;
	world.config.tls_config = &file;
	ck_assert_int_lt(create(&world), 0);
	ck_assert_str_eq(
		berth_error_message(&world.err), "open /nowhere/ca.pem: no such file or directory");
	berth_error_finish(&world.err);
	world.err = (struct berth_error)BERTH_ERROR_INIT;
	world.config.tls_config = &junk;
	ck_assert_int_lt(create(&world), 0);
	world.ops = NULL; /* create freed all extenders */
	world_finish(&world);
}
END_TEST

/** --- whole objects --- */

START_TEST(test_extender_http__whole_objects)
{
	static const char json[] =
		"{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\","
		"\"namespace\":\"d\",\"uid\":\"u\",\"managedFields\":[{\"manager\":\"m\"}],"
		"\"annotations\":{\"a\":\"<b>\"}},\"spec\":{\"unknown\":[1,2.50],\"containers\":[]}"
		","
		"\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.1\"}]}}";
	struct bt_object *pod;
	ck_assert_int_eq(bt_complete_object_decode(BT_KIND_POD, bt_str_from(json), &pod, NULL), 0);
	ck_assert(bt_str_equal_c(pod->meta->uid, "u"));
	ck_assert(bt_str_equal_c(pod->json,
		"{\"metadata\":{\"name\":\"p\",\"namespace\":\"d\",\"uid\":\"u\",\"annotations\":{"
		"\"a\":\"\\u003cb\\u003e\"}},\"spec\":{\"unknown\":[1,2.50],\"containers\":[]},"
		"\"status\":{\"podIPs\":[{\"ip\":\"10.0.0.1\"}]}}"));
	bt_object_release(pod);
	ck_assert_int_lt(
		bt_complete_object_decode(BT_KIND_POD, BT_STR("{\"metadata\""), &pod, NULL), 0);
}
END_TEST

BT_TEST_MAIN("extender_http", test_extender_http__edge_11b_01_urls,
	test_extender_http__edge_11b_08_status, test_extender_http__edge_11b_10_and_11_time_out,
	test_extender_http__no_response, test_extender_http__stop_ends_the_wait,
	test_extender_http__redirect_becomes_get, test_extender_http__edge_10_53_no_prefix,
	test_extender_http__scores_are_requested_at_once,
	test_extender_http__passwords_are_not_logged,
	test_extender_http__edge_11b_24_verified_certificates, test_extender_http__bad_tls_config,
	test_extender_http__whole_objects)

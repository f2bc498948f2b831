/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <zlib.h>

#include "base/compiler.h"
#include "daemon/klog.h"
#include "daemon/pages.h"
#include "test_main.h"

#define NOW_NS INT64_C(1767366245000000000) /* 2026-01-02T15:04:05Z, a Friday */

static bool is_synced;

static bool check_sync(void *context, struct bt_strbuf *out_error)
{
	(void)context;
	if (!is_synced) {
		bt_strbuf_append_c(out_error, "handlers are not fully synchronized");
	}
	return is_synced;
}

static const struct bt_health_check healthz[] = {{.name = "leaderElection"}};
static const struct bt_health_check livez[] = {{.name = "ping"}};
static const struct bt_health_check readyz[] = {
	{.name = "leaderElection"},
	{.name = "shutdown"},
	{.name = "sched-handler-sync", .check = check_sync},
};

static bool is_leading;

static void write_config(void *context, struct bt_strbuf *out)
{
	(void)context;
	bt_strbuf_append_c(out, "{\"parallelism\":16}");
}

static void write_pod_resources(void *context, struct bt_strbuf *out)
{
	(void)context;
	if (is_leading) {
		bt_strbuf_append_c(out, "kube_pod_resource_request 1\n");
	}
}

struct world {
	struct bt_daemon_options daemon_options;
	struct bt_flag_value flags[2];
	struct bt_endpoints_options options;
	struct bt_metrics *metrics;
	struct bt_metric_cell *gauge;
	struct bt_pages *pages;
	struct bt_arena arena;
	struct bt_page_request request;
	struct bt_reply reply;
};

static const struct bt_metric_description gauge = {
	.name = "scheduler_test",
	.help = "A number.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_STABLE,
};

static void setup(struct world *world)
{
	*world = (struct world){.request = {.method = BT_STR_INIT("GET")}};
	is_synced = false;
	is_leading = true;
	world->flags[0] = (struct bt_flag_value){"bind-address", BT_STR("0.0.0.0")};
	world->flags[1] = (struct bt_flag_value){"v", BT_STR("<2>")};
	world->daemon_options.flags.items = world->flags;
	world->daemon_options.flags.count = 2;
	world->daemon_options.gates = bt_gates_default();
	world->daemon_options.versions = bt_versions_default();
	world->metrics = bt_metrics_create();
	world->gauge = bt_metric_only(bt_metrics_register(world->metrics, &gauge));
	bt_metric_set(world->gauge, 7);
	world->options = (struct bt_endpoints_options){
		.options = &world->daemon_options,
		.enable_profiling = true,
		.healthz = healthz,
		.healthz_count = BT_ARRAY_LENGTH(healthz),
		.livez = livez,
		.livez_count = BT_ARRAY_LENGTH(livez),
		.readyz = readyz,
		.readyz_count = BT_ARRAY_LENGTH(readyz),
		.metrics = world->metrics,
		.write_config = write_config,
		.write_pod_resources = write_pod_resources,
		.started_ns = NOW_NS - INT64_C(90061) * 1000000000,
	};
	world->pages = bt_pages_create(&world->options, 1);
	bt_arena_init(&world->arena, 0);
	world->request.arena = &world->arena;
}

static void teardown(struct world *world)
{
	bt_pages_destroy(world->pages);
	bt_metrics_destroy(world->metrics);
	bt_strbuf_finish(&world->reply.body);
	bt_arena_finish(&world->arena);
}

/** Requests target, a path with an optional query. Returns the body. */
static const char *get(struct world *world, const char *target)
{
	struct bt_str text = bt_str_from(target);
	int64_t mark = bt_str_find_char(text, '?');
	uint32_t end = mark < 0 ? text.length : (uint32_t)mark;
	world->request.path = bt_str_sub(text, 0, end);
	world->request.query = bt_str_sub(text, end + 1, text.length);
	bt_strbuf_finish(&world->reply.body);
	world->reply = (struct bt_reply){.code = 0};
	bt_pages_answer(world->pages, &world->request, NOW_NS, &world->reply);
	return bt_strbuf_c(&world->reply.body);
}

static const char *header(const struct world *world, const char *name)
{
	for (uint32_t i = 0; i < world->reply.header_count; i++) {
		if (strcmp(world->reply.headers[i].name, name) == 0) {
			return world->reply.headers[i].value.data;
		}
	}
	return "";
}

static void expect(struct world *world, const char *target, uint16_t code, const char *body)
{
	ck_assert_str_eq(get(world, target), body);
	ck_assert_msg(world->reply.code == code, "%s: %u", target, world->reply.code);
	ck_assert_str_eq(header(world, "Content-Type"), "text/plain; charset=utf-8");
	ck_assert_str_eq(header(world, "X-Content-Type-Options"), "nosniff");
}

START_TEST(test_endpoint_pages__edge_11_26_readyz_before_sync)
{
	struct world world;
	setup(&world);
	expect(&world, "/readyz?verbose", 500,
		"[+]leaderElection ok\n[+]shutdown ok\n"
		"[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n");
	expect(&world, "/readyz", 500,
		"[+]leaderElection ok\n[+]shutdown ok\n"
		"[-]sched-handler-sync failed: reason withheld\nreadyz check failed\n");
	is_synced = true;
	expect(&world, "/readyz", 200, "ok");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_27_livez_verbose)
{
	struct world world;
	setup(&world);
	expect(&world, "/livez?verbose", 200, "[+]ping ok\nlivez check passed\n");
	expect(&world, "/livez?verbose=0&x=%zz", 200, "[+]ping ok\nlivez check passed\n");
	expect(&world, "/livez/ping", 200, "ok");
	expect(&world, "/healthz/leaderElection", 200, "ok");
	expect(&world, "/healthz/ping", 404, "404 page not found\n");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_28_excluded_check)
{
	struct world world;
	setup(&world);
	expect(&world, "/readyz?exclude=sched-handler-sync&verbose", 200,
		"[+]leaderElection ok\n[+]shutdown ok\n[+]sched-handler-sync excluded: ok\n"
		"readyz check passed\n");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_29_unknown_exclusion)
{
	struct world world;
	setup(&world);
	expect(&world, "/healthz?exclude=zzz", 200, "ok");
	expect(&world, "/healthz?exclude=zzz&verbose&exclude=a%22b&exclude=zzz", 200,
		"[+]leaderElection ok\n"
		"warn: some health checks cannot be excluded: no matches for \"a\\\"b\", \"zzz\"\n"
		"healthz check passed\n");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_30_single_check_fails)
{
	struct world world;
	setup(&world);
	expect(&world, "/readyz/sched-handler-sync", 500,
		"internal server error: handlers are not fully synchronized\n");
	is_synced = true;
	expect(&world, "/readyz/sched-handler-sync", 200, "ok");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_32_standby_without_resources)
{
	struct world world;
	setup(&world);
	ck_assert_str_eq(get(&world, "/metrics/resources"), "kube_pod_resource_request 1\n");
	is_leading = false;
	ck_assert_str_eq(get(&world, "/metrics/resources"), "");
	ck_assert_uint_eq(world.reply.code, 200);
	world.options.write_pod_resources = NULL;
	ck_assert_str_eq(get(&world, "/metrics/resources"), "");
	teardown(&world);
}
END_TEST

static void ignore_line(void *context, const struct bt_log_record *record)
{
	(void)context;
	(void)record;
}

START_TEST(test_endpoint_pages__edge_11_33_verbosity)
{
	struct world world;
	struct bt_log_sink sink = {.write = ignore_line};
	setup(&world);
	bt_log_set_sink(&sink);
	expect(&world, "/debug/flags/v", 406, "unsupported http method");
	world.request.method = BT_STR("PUT");
	world.request.body = BT_STR("4");
	expect(&world, "/debug/flags/v", 200, "successfully set klog.logging.verbosity to 4");
	ck_assert_int_eq(bt_log_verbosity_max, 4);
	world.request.body = BT_STR("x");
	(void)get(&world, "/debug/flags/v");
	ck_assert_uint_eq(world.reply.code, 400);
	world.request.body = BT_STR("99999999999999999999");
	(void)get(&world, "/debug/flags/v");
	ck_assert_uint_eq(world.reply.code, 400);
	ck_assert_int_eq(bt_log_verbosity_max, 4);
	world.request.body = BT_STR("0\n");
	expect(&world, "/debug/flags/v", 200, "successfully set klog.logging.verbosity to 0");
	bt_log_set_sink(NULL);
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_34_reset)
{
	struct world world;
	setup(&world);
	ck_assert_ptr_nonnull(strstr(get(&world, "/metrics"),
		"# HELP scheduler_test [STABLE] A number.\n# TYPE scheduler_test gauge\n"
		"scheduler_test 7\n"));
	world.request.method = BT_STR("DELETE");
	expect(&world, "/metrics", 200, "metrics reset\n");
	world.request.method = BT_STR("GET");
	ck_assert_ptr_nonnull(strstr(get(&world, "/metrics"), "scheduler_test 0\n"));
	bt_metric_set(world.gauge, 3);
	ck_assert_ptr_nonnull(strstr(get(&world, "/metrics"), "scheduler_test 3\n"));
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__edge_11_35_no_profiling)
{
	struct world world;
	setup(&world);
	(void)get(&world, "/debug/pprof");
	ck_assert_uint_eq(world.reply.code, 302);
	ck_assert_str_eq(header(&world, "Location"), "/debug/pprof/");
	(void)get(&world, "/debug/pprof/");
	ck_assert_uint_eq(world.reply.code, 200);
	(void)get(&world, "/debug/pprof/profile");
	ck_assert_uint_eq(world.reply.code, 404);
	(void)get(&world, "/debug/flags");
	ck_assert_uint_eq(world.reply.code, 200);
	expect(&world, "/debug/flags/w", 404, "404 page not found\n");
	world.options.enable_profiling = false;
	expect(&world, "/debug/pprof/", 404, "404 page not found\n");
	expect(&world, "/debug/flags/v", 404, "404 page not found\n");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__metric_forms)
{
	struct world world;
	setup(&world);
	world.request.accept = BT_STR("application/openmetrics-text;version=1.0.0;q=0.6,"
				      "application/openmetrics-text;version=0.0.1;q=0.5,"
				      "text/plain;version=0.0.4;q=0.4,*/*;q=0.2");
	ck_assert_ptr_nonnull(strstr(get(&world, "/metrics"), "# EOF\n"));
	ck_assert_str_eq(header(&world, "Content-Type"),
		"application/openmetrics-text; version=1.0.0; charset=utf-8");
	world.request.accept =
		BT_STR("application/openmetrics-text;version=1.0.0;q=0.3,text/plain;q=0.4");
	ck_assert_ptr_null(strstr(get(&world, "/metrics"), "# EOF\n"));
	ck_assert_str_eq(
		header(&world, "Content-Type"), "text/plain; version=0.0.4; charset=utf-8");
	ck_assert_str_eq(header(&world, "Content-Encoding"), "");
	world.request.accept_encoding = BT_STR("deflate, gzip;q=0");
	(void)get(&world, "/metrics");
	ck_assert_str_eq(header(&world, "Content-Encoding"), "");
	world.request.accept_encoding = BT_STR("deflate, gzip;q=1.0");
	(void)get(&world, "/metrics");
	ck_assert_str_eq(header(&world, "Content-Encoding"), "gzip");
	char plain[4096] = "";
	z_stream stream = {.next_in = (Bytef *)world.reply.body.data,
		.avail_in = (uInt)world.reply.body.length,
		.next_out = (Bytef *)plain,
		.avail_out = sizeof(plain) - 1};
	ck_assert_int_eq(inflateInit2(&stream, 15 + 16), Z_OK);
	ck_assert_int_eq(inflate(&stream, Z_FINISH), Z_STREAM_END);
	(void)inflateEnd(&stream);
	ck_assert_ptr_nonnull(strstr(plain, "scheduler_test 7\n"));
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__health_metrics)
{
	struct world world;
	setup(&world);
	ck_assert_str_eq(get(&world, "/metrics/slis"), "");
	(void)get(&world, "/readyz");
	(void)get(&world, "/readyz?exclude=shutdown");
	(void)get(&world, "/readyz/shutdown");
	const char *text = get(&world, "/metrics/slis");
	ck_assert_ptr_nonnull(strstr(
		text, "kubernetes_healthcheck{name=\"sched-handler-sync\",type=\"readyz\"} 0\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "kubernetes_healthcheck{name=\"shutdown\",type=\"readyz\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text,
		"kubernetes_healthchecks_total{name=\"shutdown\",status=\"success\","
		"type=\"readyz\"} 1\n"));
	ck_assert_ptr_nonnull(strstr(text,
		"kubernetes_healthchecks_total{name=\"sched-handler-sync\",status=\"error\","
		"type=\"readyz\"} 2\n"));
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__configz_and_unknown_paths)
{
	static const char *const unknown[] = {"/", "/metrics/", "/metricsx", "/healthzz",
		"/healthz/", "//healthz", "/configz/x", "/debug", "/debug/flags/v/", "", "x"};
	struct world world;
	setup(&world);
	ck_assert_str_eq(get(&world, "/configz?x"), "{\"componentconfig\":{\"parallelism\":16}}");
	ck_assert_str_eq(header(&world, "Content-Type"), "application/json");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(unknown); i++) {
		expect(&world, unknown[i], 404, "404 page not found\n");
	}
	teardown(&world);
}
END_TEST

static const char flagz_json[] =
	"{\"kind\":\"Flagz\",\"apiVersion\":\"config.k8s.io/v1beta1\",\"metadata\":{\"name\":"
	"\"kube-scheduler\"},\"flags\":{\"bind-address\":\"0.0.0.0\",\"v\":\"\\u003c2\\u003e\"}}\n";

START_TEST(test_endpoint_pages__flagz)
{
	static const char *const refused[] = {"application/json", "text/html",
		"application/json;v=v1beta1;g=config.k8s.io;as=Statusz",
		"application/json;v=v2;g=config.k8s.io;as=Flagz", "text/plain;q=0", ";;,,"};
	static const char heading[] =
		"\nkube-scheduler flagz\nWarning: This endpoint is not meant to be machine "
		"parseable, has no formatting compatibility guarantees and is for debugging "
		"purposes only.\nbind-address";
	struct world world;
	char first[1024];
	setup(&world);
	(void)snprintf(first, sizeof(first), "%s", get(&world, "/flagz"));
	ck_assert_int_eq(strncmp(first, heading, strlen(heading)), 0);
	world.request.accept = BT_STR("text/html, */*;q=0.1");
	expect(&world, "/flagz", 200, first);
	world.request.accept =
		BT_STR("application/json;v=v1beta1;g=config.k8s.io;as=Flagz,text/plain;q=0.5");
	ck_assert_str_eq(get(&world, "/flagz"), flagz_json);
	ck_assert_str_eq(header(&world, "Content-Type"), "application/json");
	ck_assert_str_eq(header(&world, "Warning"), "");
	world.request.accept = BT_STR("application/yaml; as=Flagz; v=v1alpha1; g=config.k8s.io");
	ck_assert_str_eq(get(&world, "/flagz"),
		"kind: Flagz\napiVersion: config.k8s.io/v1alpha1\nmetadata:\n"
		"  name: kube-scheduler\nflags:\n  bind-address: 0.0.0.0\n  v: <2>\n");
	ck_assert_str_eq(header(&world, "Warning"),
		"299 - \"This version of the flagz endpoint is deprecated. Please use a newer "
		"version.\"");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(refused); i++) {
		world.request.accept = bt_str_from(refused[i]);
		(void)get(&world, "/flagz");
		ck_assert_msg(world.reply.code == 406, "%s: %u", refused[i], world.reply.code);
	}
	world.daemon_options.gates.enabled[BT_GATE_COMPONENT_FLAGZ] = false;
	expect(&world, "/flagz", 404, "404 page not found\n");
	teardown(&world);
}
END_TEST

#define FLAGZ_CBOR \
	"\xd9\xd9\xf7\xa4" \
	"\x44kind\x45" \
	"Flagz" \
	"\x45" \
	"flags\xa2" \
	"\x41v\x43<2>" \
	"\x4c" \
	"bind-address\x47" \
	"0.0.0.0" \
	"\x48metadata\xa1\x44name\x4ekube-scheduler" \
	"\x4a" \
	"apiVersion\x55" \
	"config.k8s.io/v1beta1"

/** Self-described CBOR, keys in byte order, strings as byte strings; only with the feature gate. */
START_TEST(test_endpoint_pages__cbor)
{
	struct world world;
	setup(&world);
	world.request.accept = BT_STR("application/cbor;v=v1beta1;g=config.k8s.io;as=Flagz");
	(void)get(&world, "/flagz");
	ck_assert_uint_eq(world.reply.code, 406);
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.reply.body), "cbor"));
	world.daemon_options.gates.enabled[BT_GATE_CBOR_SERVING_AND_STORAGE] = true;
	(void)get(&world, "/flagz");
	ck_assert_uint_eq(world.reply.code, 200);
	ck_assert_str_eq(header(&world, "Content-Type"), "application/cbor");
	ck_assert_uint_eq(world.reply.body.length, sizeof(FLAGZ_CBOR) - 1);
	ck_assert_mem_eq(world.reply.body.data, FLAGZ_CBOR, sizeof(FLAGZ_CBOR) - 1);
	world.request.accept = BT_STR("application/cbor");
	(void)get(&world, "/flagz");
	ck_assert_uint_eq(world.reply.code, 406);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.reply.body),
		"application/cbor;as=Flagz;g=config.k8s.io;v=v1beta1"));
	world.request.accept = BT_STR("application/cbor;v=v1alpha1;g=config.k8s.io;as=Statusz");
	(void)get(&world, "/statusz");
	ck_assert_str_ne(header(&world, "Warning"), "");
	static const struct bt_str up = BT_STR_INIT("\x4duptimeSeconds\x1a\x00\x01\x5f\xcd");
	static const struct bt_str paths = BT_STR_INIT("\x45paths\x86\x48/configz\x46/flagz");
	ck_assert_int_ge(bt_str_find(bt_strbuf_str(&world.reply.body), up), 0);
	ck_assert_int_ge(bt_str_find(bt_strbuf_str(&world.reply.body), paths), 0);
	teardown(&world);
}
END_TEST

static void expect_line(const char *text, const char *name, const char *value)
{
	char line[256];
	(void)snprintf(line, sizeof(line), "\n%s:  %s\n", name, value);
	ck_assert_msg(strstr(text, line) != NULL, "no%s in %s", line, text);
}

START_TEST(test_endpoint_pages__statusz)
{
	struct world world;
	setup(&world);
	const char *text = NULL;
	for (int i = 0; i < 8; i++) {
		text = get(&world, "/statusz");
		expect_line(text, "Started", "Thu Jan  1 14:03:04 UTC 2026");
	}
	ck_assert_ptr_nonnull(strstr(text, "debugging purposes only.\n\nStarted"));
	expect_line(text, "Up", "25 hr 01 min 01 sec");
	expect_line(text, "Binary version", "1.36.2");
	expect_line(text, "Emulation version", "1.36");
	expect_line(text, "Paths", "/configz /flagz /healthz /livez /metrics /readyz");
	world.request.accept = BT_STR("application/json;v=v1beta1;g=config.k8s.io;as=Statusz");
	text = get(&world, "/statusz");
	static const char begin[] =
		"{\"kind\":\"Statusz\",\"apiVersion\":\"config.k8s.io/v1beta1\",\"metadata\":{"
		"\"name\":\"kube-scheduler\"},\"startTime\":\"2026-01-01T14:03:04Z\","
		"\"uptimeSeconds\":90061,\"goVersion\":\"";
	ck_assert_int_eq(strncmp(text, begin, strlen(begin)), 0);
	ck_assert_ptr_nonnull(strstr(text,
		"\"binaryVersion\":\"1.36.2\",\"emulationVersion\":\"1.36\",\"paths\":[\"/"
		"configz\","
		"\"/flagz\",\"/healthz\",\"/livez\",\"/metrics\",\"/readyz\"]}\n"));
	world.daemon_options.gates.enabled[BT_GATE_COMPONENT_STATUSZ] = false;
	expect(&world, "/statusz", 404, "404 page not found\n");
	teardown(&world);
}
END_TEST

START_TEST(test_endpoint_pages__status_for_people_and_programs)
{
	struct world world;
	struct bt_reply reply = {.code = 0};
	setup(&world);
	bt_reply_status(&reply, &world.request, 401, "Unauthorized", BT_STR("Unauthorized"), false);
	ck_assert_str_eq(bt_strbuf_c(&reply.body),
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
		"\"Failure\",\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\","
		"\"code\":401}\n");
	bt_strbuf_finish(&reply.body);
	reply = (struct bt_reply){.code = 0};
	world.request.user_agent = BT_STR("curl/8");
	bt_reply_status(&reply, &world.request, 403, "Forbidden", BT_STR("a <b>"), true);
	ck_assert_str_eq(bt_strbuf_c(&reply.body),
		"{\n  \"kind\": \"Status\",\n  \"apiVersion\": \"v1\",\n  \"metadata\": {},\n"
		"  \"status\": \"Failure\",\n  \"message\": \"a \\u003cb\\u003e\",\n"
		"  \"reason\": \"Forbidden\",\n  \"details\": {},\n  \"code\": 403\n}\n");
	bt_strbuf_finish(&reply.body);
	teardown(&world);
}
END_TEST

BT_TEST_MAIN("endpoint_pages", test_endpoint_pages__edge_11_26_readyz_before_sync,
	test_endpoint_pages__edge_11_27_livez_verbose,
	test_endpoint_pages__edge_11_28_excluded_check,
	test_endpoint_pages__edge_11_29_unknown_exclusion,
	test_endpoint_pages__edge_11_30_single_check_fails,
	test_endpoint_pages__edge_11_32_standby_without_resources,
	test_endpoint_pages__edge_11_33_verbosity, test_endpoint_pages__edge_11_34_reset,
	test_endpoint_pages__edge_11_35_no_profiling, test_endpoint_pages__metric_forms,
	test_endpoint_pages__health_metrics, test_endpoint_pages__configz_and_unknown_paths,
	test_endpoint_pages__flagz, test_endpoint_pages__cbor, test_endpoint_pages__statusz,
	test_endpoint_pages__status_for_people_and_programs)

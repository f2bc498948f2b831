/* SPDX-License-Identifier: Apache-2.0 */
#include <sys/resource.h>

#include "base/nanoseconds.h"
#include "endpoints_world.h"
#include "test_main.h"

/* The number of requests that may wait at a time, as in endpoints.c. */
#define WAITING_MAX 512

static const char forbidden_metrics[] =
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
	"\"message\":\"forbidden: User \\\"system:anonymous\\\" cannot get path "
	"\\\"/metrics\\\"\",\"reason\":\"Forbidden\",\"details\":{},\"code\":403}\n";
static const char unauthorized[] =
	"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
	"\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\",\"code\":401}\n";

static void start(struct endpoints_world *world)
{
	ck_assert_msg(endpoints_world_start(world), "%s", berth_error_message(&world->err));
}

static void expect(struct endpoints_world *world, struct caller *caller, const char *target,
	uint16_t code, const char *body)
{
	const char *answer = caller_get(caller, world, target);
	ck_assert_msg(caller->code == code, "%s: %u %s", target, caller->code, answer);
	if (body != NULL) {
		ck_assert_str_eq(answer, body);
	}
	ck_assert_str_eq(bt_strbuf_c(&caller->cache_control), "no-cache, private");
}

/** Counts lines of the API server's log that begin with this text. */
static uint32_t count_asked(struct endpoints_world *world, const char *text)
{
	uint32_t count = 0;
	const char *at = bt_strbuf_c(&world->server.log);
	while ((at = strstr(at, text)) != NULL) {
		count++;
		at += strlen(text);
	}
	return count;
}

START_TEST(test_endpoints__edge_11_22_anonymous_health)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	expect(&world, &caller, "/healthz", 200, "ok");
	ck_assert_str_eq(bt_strbuf_c(&caller.content_type), "text/plain; charset=utf-8");
	ck_assert_str_eq(bt_strbuf_c(&caller.no_sniff), "nosniff");
	expect(&world, &caller, "/healthz/ping", 403, NULL);
	ck_assert_str_eq(bt_strbuf_c(&caller.content_type), "application/json");
	ck_assert_str_eq(bt_strbuf_c(&caller.no_sniff), "nosniff");
	caller_set_header(&caller, "Authorization", "Bearer good");
	expect(&world, &caller, "/healthz/ping", 200, "ok");
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_23_slash_behind)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	expect(&world, &caller, "/healthz/", 403, NULL);
	caller_set_header(&caller, "Authorization", "Bearer good");
	expect(&world, &caller, "/healthz/", 404, "404 page not found\n");
	ck_assert_str_eq(bt_strbuf_c(&caller.no_sniff), "nosniff");
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_24_metrics_without_credentials)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	expect(&world, &caller, "/metrics", 403, forbidden_metrics);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.server.log),
		"\"spec\":{\"nonResourceAttributes\":{\"path\":\"/metrics\",\"verb\":\"get\"},"
		"\"user\":\"system:anonymous\",\"groups\":[\"system:unauthenticated\"]}"));
	/* the review is cached, separately for each verb */
	expect(&world, &caller, "/metrics?x=1", 403, forbidden_metrics);
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authorization"), 1);
	caller.method = "DELETE";
	expect(&world, &caller, "/metrics", 403, NULL);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&caller.answer), "cannot delete path"));
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authorization"), 2);
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_25_invalid_token)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	caller_set_header(&caller, "Authorization", "Bearer wrong-token");
	expect(&world, &caller, "/healthz", 401, unauthorized);
	expect(&world, &caller, "/healthz", 401, unauthorized);
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authentication"), 1);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log),
		"Unable to authenticate the request [invalid bearer token]"));
	ck_assert_ptr_null(strstr(bt_strbuf_c(&world.log), "wrong-token"));
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_31_during_shutdown)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	world.is_synced = true;
	start(&world);
	expect(&world, &caller, "/readyz", 200, "ok");
	world.is_stopping = true;
	expect(&world, &caller, "/readyz", 500,
		"[-]shutdown failed: reason withheld\n[+]sched-handler-sync ok\n"
		"readyz check failed\n");
	expect(&world, &caller, "/healthz", 200, "ok");
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_50_other_allowed_paths)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	world.paths[0] = BT_STR("healthz"); /* a missing first slash does not matter */
	world.paths[1] = BT_STR("/metrics*");
	start(&world);
	expect(&world, &caller, "/healthz", 200, "ok");
	expect(&world, &caller, "/metrics", 200, NULL);
	expect(&world, &caller, "/metrics/slis", 200, NULL);
	expect(&world, &caller, "/readyz", 403, NULL);
	expect(&world, &caller, "/livez", 403, NULL);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	endpoints_world_init(&world);
	world.paths[1] = BT_STR("/a*b");
	ck_assert(!endpoints_world_start(&world));
	ck_assert_str_eq(berth_error_message(&world.err), "only trailing * allowed in \"/a*b\"");
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__edge_11_51_skipped_lookup)
{
	struct bt_certificate_pair ca = {.key = {0}};
	struct bt_certificate_pair pair = {.key = {0}};
	struct endpoints_world world;
	struct caller caller = {.pair = &pair};
	endpoints_world_init(&world);
	ck_assert_int_eq(bt_certificate_make_ca("ca", 1767366245, &ca, NULL), 0);
	make_client_pair(&ca, "root", "system:masters", &pair);
	world.config_map_code = 403;
	world.options.authentication.skip_lookup = true;
	start(&world);
	ck_assert_uint_eq(world.server.request_count, 0);
	expect(&world, &caller, "/metrics", 403, forbidden_metrics);
	caller_set_header(&caller, "Authorization", "bearer good");
	expect(&world, &caller, "/metrics", 200, NULL);
	caller_finish(&caller);
	bt_certificate_pair_finish(&ca);
	bt_certificate_pair_finish(&pair);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__known_token)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	caller_set_header(&caller, "Authorization", "Bearer good");
	expect(&world, &caller, "/metrics", 200, NULL);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.server.log),
		"{\"kind\":\"TokenReview\",\"apiVersion\":\"authentication.k8s.io/v1\","
		"\"metadata\":{},\"spec\":{\"token\":\"good\"}}"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.server.log),
		"\"user\":\"alice\",\"groups\":[\"readers\",\"system:authenticated\"],"
		"\"extra\":{\"k\":[\"v\",\"w\"]},\"uid\":\"42\"}"));
	const char *text = caller_get(&caller, &world, "/metrics");
	ck_assert_ptr_nonnull(strstr(text, "authentication_attempts{result=\"success\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "authenticated_user_requests{username=\"other\"} 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "authorization_attempts_total{result=\"allowed\"} 2\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "apiserver_delegated_authn_request_total{code=\"201\"} 1\n"));
	ck_assert_ptr_nonnull(
		strstr(text, "apiserver_delegated_authz_request_total{code=\"201\"} 1\n"));
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__websocket_token)
{
	static const struct {
		const char *protocols;
		uint16_t code;
	} rows[] = {
		{"base64url.bearer.authorization.k8s.io.Z29vZA, v4.channel.k8s.io", 200},
		{"base64url.bearer.authorization.k8s.io.Z29vZA", 401}, /* token alone */
		{"a, base64url.bearer.authorization.k8s.io.Z29vZA==", 401},
		{"a, base64url.bearer.authorization.k8s.io.", 401},
		{"a, base64url.bearer.authorization.k8s.io.YmFk", 401},
		{"a, b", 403},
	};
	struct endpoints_world world;
	endpoints_world_init(&world);
	start(&world);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct caller caller = {.pair = NULL};
		caller_set_header(&caller, "Connection", "keep-alive, Upgrade");
		caller_set_header(&caller, "Upgrade", i % 2 == 0 ? "websocket" : "h2c, WebSocket");
		caller_set_header(&caller, "Sec-WebSocket-Protocol", rows[i].protocols);
		(void)caller_get(&caller, &world, "/configz");
		ck_assert_msg(
			caller.code == rows[i].code, "%s: %u", rows[i].protocols, caller.code);
		caller_finish(&caller);
	}
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__equal_reviews_are_requested_once)
{
	struct endpoints_world world;
	struct caller callers[5] = {{.pair = NULL}};
	endpoints_world_init(&world);
	start(&world);
	world.reviews_hang = true;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(callers); i++) {
		caller_set_header(&callers[i], "Authorization", "Bearer good");
		caller_start(&callers[i], &world, "/configz");
	}
	endpoints_world_await_request(&world, "tokenreviews");
	/* one caller closes its connection before the review ends */
	for (int i = 0; i < 100; i++) {
		endpoints_world_turn(&world);
	}
	caller_finish(&callers[0]);
	for (int i = 0; i < 100; i++) {
		endpoints_world_turn(&world);
	}
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authentication"), 1);
	world.reviews_hang = false;
	struct scripted_answer answer = {.code = 201,
		.body = BT_STR("{\"kind\":\"TokenReview\",\"apiVersion\":"
			       "\"authentication.k8s.io/v1\",\"status\":{\"authenticated\":true,"
			       "\"user\":{\"username\":\"alice\"}}}")};
	scripted_server_answer_hanging(&world.server, &answer);
	for (size_t i = 1; i < BT_ARRAY_LENGTH(callers); i++) {
		caller_wait(&callers[i], &world);
		ck_assert_uint_eq(callers[i].code, 200);
		caller_finish(&callers[i]);
	}
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authentication"), 1);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__reviews_that_fail)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	/* the failed review is repeated */
	world.review_failures = 1;
	expect(&world, &caller, "/metrics", 403, forbidden_metrics);
	ck_assert_uint_eq(count_asked(&world, "POST /apis/authorization"), 2);
	/* an error that is not retried fails the request at once */
	world.review_failures = 1;
	world.review_code = 403;
	expect(&world, &caller, "/configz?a=<b>", 500,
		"Internal Server Error: \"/configz?a=&lt;b&gt;\": a &lt;bad&gt; day\n");
	ck_assert_str_eq(bt_strbuf_c(&caller.content_type), "text/plain; charset=utf-8");
	/* a failure is not cached */
	expect(&world, &caller, "/configz", 403, NULL);
	world.review_failures = 1;
	caller_set_header(&caller, "Authorization", "Bearer good");
	expect(&world, &caller, "/configz", 401, unauthorized);
	expect(&world, &caller, "/configz", 200, NULL);
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__without_a_reviewer)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	world.no_delegation = true;
	start(&world);
	caller_set_header(&caller, "Authorization", "Bearer good"); /* the token is not reviewed */
	expect(&world, &caller, "/metrics", 403, forbidden_metrics);
	expect(&world, &caller, "/healthz", 200, "ok");
	ck_assert_uint_eq(world.server.request_count, 0);
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__hostile_requests)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	char *body = bt_malloc(70000);
	memset(body, 'x', 69999);
	body[69999] = '\0';
	endpoints_world_init(&world);
	start(&world);
	expect(&world, &caller, "/%zz", 400, NULL);
	expect(&world, &caller, "/%00", 400, NULL);
	expect(&world, &caller, "/%6detrics", 403, forbidden_metrics);
	expect(&world, &caller, "/%22%0a%ff", 403, NULL);
	ck_assert_ptr_nonnull(strstr(
		bt_strbuf_c(&caller.answer), "cannot get path \\\"/\\\\\\\"\\\\n\\\\xff\\\"\""));
	caller.method = "PUT";
	caller.body = body;
	expect(&world, &caller, "/debug/flags/v", 413, NULL);
	caller_finish(&caller);
	endpoints_world_finish(&world);
	bt_free(body);
}
END_TEST

START_TEST(test_endpoints__shutdown)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	struct caller late = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&world.log), "Serving securely on 127.0.0.1:"));
	expect(&world, &caller, "/healthz", 200, "ok");
	bt_strbuf_reset(&world.log);
	int64_t begun_ns = bt_loop_now_ns(world.loop);
	bt_endpoints_shut_down(world.endpoints);
	ck_assert_int_lt(bt_loop_now_ns(world.loop) - begun_ns, 4 * BT_NS_PER_SECOND);
	const char *log = bt_strbuf_c(&world.log);
	ck_assert_ptr_eq(
		log, strstr(log, "[graceful-termination] secure server has stopped listening"));
	ck_assert_ptr_nonnull(strstr(log, "Stopped listening on 127.0.0.1:"));
	ck_assert_ptr_nonnull(strstr(log, "[graceful-termination] secure server is exiting"));
	(void)caller_get(&late, &world, "/healthz");
	ck_assert_int_eq(late.failure, BT_HTTP_FAILURE_REFUSED);
	caller_finish(&late);
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__shutdown_with_a_request_that_waits)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	endpoints_world_init(&world);
	start(&world);
	world.reviews_hang = true;
	caller_start(&caller, &world, "/configz");
	endpoints_world_await_request(&world, "subjectaccessreviews");
	int64_t begun_ns = bt_loop_now_ns(world.loop);
	bt_endpoints_shut_down(world.endpoints);
	int64_t took_ns = bt_loop_now_ns(world.loop) - begun_ns;
	ck_assert_int_ge(took_ns, 5 * BT_NS_PER_SECOND - BT_NS_PER_MS);
	ck_assert_int_lt(took_ns, 8 * BT_NS_PER_SECOND);
	ck_assert(!caller.is_done);
	/* a review is aborted after ten seconds */
	caller_wait(&caller, &world);
	took_ns = bt_loop_now_ns(world.loop) - begun_ns;
	ck_assert_int_ge(took_ns, 9 * BT_NS_PER_SECOND);
	ck_assert_uint_eq(caller.code, 500);
	ck_assert_str_eq(bt_strbuf_c(&caller.answer),
		"Internal Server Error: \"/configz\": context deadline exceeded\n");
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_endpoints__too_many_wait)
{
	struct endpoints_world world;
	struct caller caller = {.pair = NULL};
	struct rlimit files;
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &files), 0);
	files.rlim_cur = files.rlim_max;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &files), 0);
	if (files.rlim_max < 2 * WAITING_MAX + 100) {
		return; /* this process holds both ends of each connection */
	}
	struct caller *waiting = bt_calloc(WAITING_MAX, sizeof(*waiting));
	endpoints_world_init(&world);
	start(&world);
	world.reviews_hang = true;
	/* one client makes all requests: the test needs many connections, but no more clients */
	caller_start(&waiting[0], &world, "/configz");
	for (uint32_t i = 1; i < WAITING_MAX; i++) {
		waiting[i].client = waiting[0].client;
		caller_start(&waiting[i], &world, "/configz");
	}
	int64_t end_ns = bt_loop_now_ns(world.loop) + 30 * BT_NS_PER_SECOND;
	while (caller.code != 429 && bt_loop_now_ns(world.loop) < end_ns) {
		(void)caller_get(&caller, &world, "/healthz");
	}
	ck_assert_uint_eq(caller.code, 429);
	ck_assert_str_eq(
		bt_strbuf_c(&caller.answer), "Too many requests, please try again later.\n");
	for (uint32_t i = 1; i < WAITING_MAX; i++) {
		bt_http_transfer_cancel(waiting[i].transfer);
		waiting[i].client = NULL;
		caller_finish(&waiting[i]);
	}
	caller_finish(&waiting[0]);
	bt_free(waiting);
	caller_finish(&caller);
	endpoints_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("endpoints", test_endpoints__edge_11_22_anonymous_health,
	test_endpoints__edge_11_23_slash_behind,
	test_endpoints__edge_11_24_metrics_without_credentials,
	test_endpoints__edge_11_25_invalid_token, test_endpoints__edge_11_31_during_shutdown,
	test_endpoints__edge_11_50_other_allowed_paths, test_endpoints__edge_11_51_skipped_lookup,
	test_endpoints__known_token, test_endpoints__websocket_token,
	test_endpoints__equal_reviews_are_requested_once, test_endpoints__reviews_that_fail,
	test_endpoints__without_a_reviewer, test_endpoints__hostile_requests,
	test_endpoints__shutdown, test_endpoints__shutdown_with_a_request_that_waits,
	test_endpoints__too_many_wait)

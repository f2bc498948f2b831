/* SPDX-License-Identifier: Apache-2.0 */
#include "client_fixture.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/nanoseconds.h"
#include "client/pace.h"
#include "test_main.h"

#define CONFLICT_TEXT \
	"Operation cannot be fulfilled on pods/binding \"s1\": pod s1 is already assigned to " \
	"node \"wn1\""

static struct fixture fixture;
static struct fixture_result result;

static void start(const struct fixture_answer *answers, uint32_t count)
{
	fixture_start(&fixture, true);
	fixture_connect(&fixture, "", ", token: t");
	fixture.answers = answers;
	fixture.answer_count = count;
}

static void finish(void)
{
	fixture_result_finish(&result);
	fixture_finish(&fixture);
}

static void post_binding(void)
{
	(void)fixture_call(
		&fixture, "POST", "/api/v1/namespaces/wire/pods/s1/binding", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 1);
}

START_TEST(test_client_rest__headers_and_body)
{
	const struct fixture_answer answer = {.code = 201, .body = "{\"kind\":\"Binding\"}"};

	start(&answer, 1);
	post_binding();
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	ck_assert_int_eq(result.answer.code, 201);
	fixture_expect(&result.body, "{\"kind\":\"Binding\"}");
	fixture_expect(&fixture.requests[0].line, "POST /api/v1/namespaces/wire/pods/s1/binding");
	fixture_expect(&fixture.requests[0].authorization, "Bearer t");
	fixture_expect(&fixture.requests[0].accept, "application/json, */*");
	fixture_expect(&fixture.requests[0].content_type, "application/json");
	fixture_expect(&fixture.requests[0].user_agent, "test");
	fixture_expect(&fixture.requests[0].body, "{}");
	finish();
}
END_TEST

static bool may_not_send(void *context)
{
	(void)context;
	return false;
}

static void expect_unsent(
	void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	uint32_t *done_count = context;

	(void)call;
	ck_assert_int_eq(answer->class_, BT_REST_TRANSPORT);
	ck_assert(!answer->sent);
	(*done_count)++;
}

START_TEST(test_client_rest__requests_that_may_not_be_sent_end)
{
	uint32_t done_count = 0;
	const struct bt_rest_request request = {.method = "POST",
		.path = BT_STR("/p"),
		.query = BT_STR(""),
		.handler = {.context = &done_count, .done = expect_unsent},
		.may_send = may_not_send};

	start(NULL, 0);
	ck_assert_ptr_nonnull(bt_rest_start(fixture.client, &request));
	ck_assert_uint_eq(done_count, 0); /* no callback before bt_rest_start returns */
	fixture_wait(&fixture, &done_count, 1);
	ck_assert_uint_eq(fixture.request_count, 0);
	finish();
}
END_TEST

START_TEST(test_client_rest__timeouts_are_sent_and_kept)
{
	const struct fixture_answer answers[] = {{.later = true}};
	const struct bt_rest_options options = {.qps = -1, .timeout_ns = BT_NS_PER_SECOND};

	start(answers, 1);
	fixture_make_client(&fixture, &options);
	(void)fixture_call(&fixture, "PUT", "/l", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_TRANSPORT);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_TIMEOUT);
	fixture_expect(&fixture.requests[0].line, "PUT /l?timeout=1s");
	ck_assert_msg(strncmp(bt_strbuf_c(&result.message), "Put \"https://127.0.0.1:", 22) == 0,
		"%s", bt_strbuf_c(&result.message));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&result.message),
		"/l?timeout=1s\": context "
		"deadline exceeded"));
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_34_a_binding_that_was_cut_is_not_sent_again)
{
	const struct fixture_answer answer = {.later = true};

	start(&answer, 1);
	(void)fixture_call(&fixture, "POST", "/b", "{}", &result);
	fixture_wait(&fixture, &fixture.request_count, 1);
	bt_http_server_destroy(fixture.server);
	fixture.server = NULL;
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_TRANSPORT);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_RESET);
	ck_assert(result.answer.sent);
	ck_assert_uint_eq(fixture.request_count, 1);
	ck_assert_msg(strncmp(bt_strbuf_c(&result.message), "Post \"https://127.0.0.1:", 23) == 0,
		"%s", bt_strbuf_c(&result.message));
	ck_assert_int_eq(bt_rest_answer_error(&result.answer, NULL), BERTH_ERR_IO);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_35_retry_after_is_waited_for)
{
	const struct fixture_answer answers[] = {{.code = 429,
							 .retry_after = "1",
							 .body = "slow down",
							 .content_type = "text/plain"},
		{.code = 201, .body = "{}"}};

	start(answers, 2);
	post_binding();
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	ck_assert_uint_eq(fixture.request_count, 2);
	ck_assert_int_ge(fixture.requests[1].at_ns - fixture.requests[0].at_ns, 990 * BT_NS_PER_MS);
	ck_assert_int_lt(
		fixture.requests[1].at_ns - fixture.requests[0].at_ns, 3 * BT_NS_PER_SECOND);
	fixture_expect(&fixture.requests[1].body, "{}");
	ck_assert_uint_eq(fixture_log_count("Got a Retry-After 1 response for attempt 1 to "
					    "https://127.0.0.1:"),
		1);
	finish();
}
END_TEST

/** Spec 13 section 7.4: the timeout of a request covers the waits before it is sent again. */
START_TEST(test_client_rest__no_wait_beyond_the_timeout)
{
	const struct fixture_answer answers[] = {
		{.code = 429, .retry_after = "1", .body = "slow down"},
		{.code = 429, .retry_after = "1", .body = "slow down"},
		{.code = 200, .body = "{}"}};
	const struct bt_rest_options options = {
		.qps = -1, .timeout_ns = BT_NS_PER_SECOND + BT_NS_PER_SECOND / 2};

	start(answers, 3);
	fixture_make_client(&fixture, &options);
	(void)fixture_call(&fixture, "GET", "/lease", "", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_uint_eq(fixture.request_count, 2);
	ck_assert_int_eq(result.answer.class_, BT_REST_TOO_MANY_REQUESTS);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_11b_46_up_to_ten_times)
{
	const struct fixture_answer answer = {
		.code = 429, .retry_after = "0", .body = "busy", .content_type = "text/plain"};

	start(&answer, 1);
	post_binding();
	ck_assert_uint_eq(fixture.request_count, 11);
	ck_assert_int_eq(result.answer.class_, BT_REST_TOO_MANY_REQUESTS);
	fixture_expect(&result.message,
		"the server has received too many requests and has asked us to try again later "
		"(post pods web)");
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_36_a_conflict_is_an_error_whatever_it_says)
{
	static const char body[] =
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"Operation cannot be fulfilled on pods/binding \\\"s1\\\": pod s1 is "
		"already assigned to node \\\"wn1\\\"\",\"reason\":\"Conflict\",\"code\":409}";
	const struct fixture_answer answer = {.code = 409, .body = body};

	start(&answer, 1);
	post_binding();
	ck_assert_int_eq(result.answer.class_, BT_REST_CONFLICT);
	fixture_expect(&result.message, CONFLICT_TEXT);
	fixture_expect(&result.reason, "Conflict");
	ck_assert_int_eq(bt_rest_answer_error(&result.answer, NULL), BERTH_ERR_STATE);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_38_the_answers_type_counts)
{
	const struct fixture_answer answer = {.code = 409,
		.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
			"\"message\":\"m\",\"reason\":\"AlreadyExists\",\"code\":409}",
		.content_type = "application/json; charset=utf-8"};
	const struct bt_rest_options options = {
		.qps = -1, .content_type = BT_STR("application/vnd.kubernetes.protobuf")};

	start(&answer, 1);
	fixture_make_client(&fixture, &options);
	post_binding();
	ck_assert_int_eq(result.answer.class_, BT_REST_ALREADY_EXISTS);
	fixture_expect(&result.message, "m");
	fixture_expect(&fixture.requests[0].accept, "application/vnd.kubernetes.protobuf, */*");
	fixture_expect(&fixture.requests[0].content_type, "application/vnd.kubernetes.protobuf");
	finish();
}
END_TEST

START_TEST(test_client_rest__a_status_in_protobuf)
{
	static const char text[] =
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":"
		"\"Timeout: Too large resource version: 9, current: 2\",\"reason\":\"Timeout\","
		"\"metadata\":{\"continue\":\"token\"},\"details\":{\"causes\":[{\"reason\":"
		"\"ResourceVersionTooLarge\",\"message\":\"m\"}]},\"code\":504}";
	struct fixture_answer answer = {
		.code = 504, .content_type = "application/vnd.kubernetes.protobuf"};
	const struct bt_rest_options options = {
		.qps = -1, .content_type = BT_STR("application/vnd.kubernetes.protobuf")};
	struct bt_strbuf body = {0};
	struct bt_arena arena = {0};
	struct bt_json_value *value;

	start(&answer, 1);
	fixture_make_client(&fixture, &options);
	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(text), true, &value, NULL), 0);
	ck_assert(bt_str_equal_c(bt_rest_encode_body(fixture.client, value, &body),
		"application/vnd.kubernetes.protobuf"));
	answer.body = bt_strbuf_c(&body);
	answer.body_length = body.length;
	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_TIMEOUT);
	ck_assert(result.answer.too_large_resource_version);
	fixture_expect(&result.message, "Timeout: Too large resource version: 9, current: 2");
	bt_strbuf_finish(&body);
	bt_arena_finish(&arena);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_39_a_load_balancers_page)
{
	const struct fixture_answer answer = {
		.code = 502, .content_type = "text/html", .body = "<h1>\"no\"</h1>\n"};

	start(&answer, 1);
	post_binding();
	ck_assert_uint_eq(fixture.request_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_INTERNAL_ERROR);
	fixture_expect(&result.message,
		"an error on the server (\"<h1>\\\"no\\\"</h1>\") has prevented the request from "
		"succeeding (post pods web)");
	finish();
}
END_TEST

START_TEST(test_client_rest__generic_texts_name_the_group)
{
	const struct fixture_answer answer = {
		.code = 404, .content_type = "text/plain", .body = "404 page not found\n"};

	start(&answer, 1);
	(void)fixture_call(&fixture, "GET", "/apis/storage.k8s.io/v1/pods/web", "", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	fixture_expect(&result.message,
		"the server could not find the requested resource (get pods.storage.k8s.io web)");
	finish();
}
END_TEST

START_TEST(test_client_rest__generic_texts)
{
	static const struct {
		uint16_t code;
		enum bt_rest_class class_;
		const char *text;
	} rows[] = {
		{400, BT_REST_BAD_REQUEST,
			"the server rejected our request for an unknown reason (put pods web)"},
		{401, BT_REST_UNAUTHORIZED,
			"the server has asked for the client to provide credentials (put pods "
			"web)"},
		{403, BT_REST_FORBIDDEN, "body text (put pods web)"},
		{404, BT_REST_NOT_FOUND,
			"the server could not find the requested resource (put pods web)"},
		{405, BT_REST_METHOD_NOT_ALLOWED,
			"the server does not allow this method on the requested resource (put "
			"pods web)"},
		{409, BT_REST_CONFLICT, "the server reported a conflict (put pods web)"},
		{410, BT_REST_GONE,
			"the server responded with the status code 410 but did not return more "
			"information (put pods web)"},
		{422, BT_REST_INVALID,
			"the server rejected our request due to an error in our request (put pods "
			"web)"},
		{503, BT_REST_SERVICE_UNAVAILABLE,
			"the server is currently unable to handle the request (put pods web)"},
		{504, BT_REST_TIMEOUT,
			"the server was unable to return a response in the time allotted, but may "
			"still be processing the request (put pods web)"},
		{500, BT_REST_INTERNAL_ERROR,
			"an error on the server (\"body text\") has prevented the request from "
			"succeeding (put pods web)"},
	};
	struct fixture_answer answers[BT_ARRAY_LENGTH(rows)];

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		answers[i] = (struct fixture_answer){.code = rows[i].code,
			.body = "body text\n",
			.content_type = "text/plain; charset=utf-8"};
	}
	start(answers, BT_ARRAY_LENGTH(rows));
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		(void)fixture_call(&fixture, "PUT", "/p", "{}", &result);
		fixture_wait(&fixture, &result.done_count, (uint32_t)i + 1);
		fixture_expect(&result.message, rows[i].text);
		ck_assert_int_eq(result.answer.class_, rows[i].class_);
	}
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_46_dates_are_not_waited_for)
{
	const struct fixture_answer answer = {.code = 503,
		.retry_after = "Wed, 21 Oct 2026 07:28:00 GMT",
		.body = "x",
		.content_type = "text/plain"};

	start(&answer, 1);
	post_binding();
	ck_assert_uint_eq(fixture.request_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_SERVICE_UNAVAILABLE);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_13_47_warnings_are_logged)
{
	const struct fixture_answer answers[] = {
		{.code = 200, .body = "{}", .warning = "299 - \"unknown field \\\"spec.x\\\"\""},
		{.code = 200, .body = "{}", .warning = "199 - \"other\""},
		/* proxies merge headers */
		{.code = 200,
			.body = "{}",
			.warning = "299 - \"a, b\", 199 - \"other\",299 host \"c\" \"Wed, 21 Oct "
				   "2026 07:28:00 GMT\", 299 - \"d\\\"\", 299 - \"open"}};

	start(answers, 3);
	post_binding();
	(void)fixture_call(&fixture, "POST", "/b", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 2);
	ck_assert_uint_eq(fixture_log_count("Warning: unknown field \"spec.x\"\n"), 1);
	ck_assert_uint_eq(fixture_log_count("Warning:"), 1);
	(void)fixture_call(&fixture, "POST", "/c", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 3);
	ck_assert_uint_eq(fixture_log_count("Warning: a, b\n"), 1);
	ck_assert_uint_eq(fixture_log_count("Warning: c\n"), 1);
	ck_assert_uint_eq(fixture_log_count("Warning: d\"\n"), 1);
	ck_assert_uint_eq(fixture_log_count("Warning:"), 4);
	finish();
}
END_TEST

START_TEST(test_client_rest__refusals_name_their_audit_id)
{
	const struct fixture_answer answers[] = {
		{.code = 201, .body = "{}"},
		{.code = 409,
			.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
				"\"Failure\",\"message\":\"no\",\"reason\":\"Conflict\","
				"\"code\":409}"},
	};

	start(answers, 2);
	post_binding();
	ck_assert_uint_eq(fixture_log_count("audit"), 0);
	(void)fixture_call(&fixture, "POST", "/b", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 2);
	ck_assert_uint_eq(fixture_log_count("Request failed"), 1);
	ck_assert_uint_eq(fixture_log_count("auditID=7c1e-audit"), 1);
	finish();
}
END_TEST

START_TEST(test_client_rest__edge_11b_44_a_hundred_at_once_then_fifty_a_second)
{
	enum { COUNT = 150 };
	const struct bt_rest_options options = {.qps = 50, .burst = 100};
	struct bt_rest_client *events = NULL;
	struct bt_rest_client *bindings;
	struct fixture_result event = {0};
	int64_t started_ns;

	start(NULL, 0);
	fixture_make_client(&fixture, &options);
	events = fixture.client;
	fixture.client = NULL;
	fixture_make_client(&fixture, &options);
	bindings = fixture.client;
	started_ns = bt_loop_now_ns(fixture.loop);
	for (int i = 0; i < COUNT; i++) {
		(void)fixture_call(&fixture, "POST", "/b", "{}", &result);
	}
	fixture.client = events;
	(void)fixture_call(&fixture, "POST", "/event", "{}", &event);
	fixture.client = bindings;
	fixture_wait(&fixture, &event.done_count, 1);
	/*
	 * The client of events has a separate rate limiter, so the event overtakes waiting
	 * bindings.
	 */
	ck_assert_uint_lt(fixture.request_count, COUNT);
	fixture_wait(&fixture, &result.done_count, COUNT);
	for (uint32_t i = 102; i < fixture.request_count; i++) {
		ck_assert_int_ge(
			fixture.requests[i].at_ns - started_ns, (i - 102) * 20 * BT_NS_PER_MS);
	}
	ck_assert_uint_ge(fixture_log_count("reason=client-side throttling, not priority and "
					    "fairness verb=POST URL=https://127.0.0.1:"),
		10);
	fixture_result_finish(&event);
	bt_rest_client_destroy(events);
	finish();
}
END_TEST

START_TEST(test_client_rest__limiter_numbers)
{
	struct bt_limiter limiter;
	int64_t at_ns = 0;
	uint32_t taken = 0;

	bt_limiter_init(&limiter, 50, 100, 1000);
	while (bt_limiter_take(&limiter, 1000, &at_ns)) {
		taken++;
	}
	ck_assert_uint_eq(taken, 100);
	ck_assert_int_ge(at_ns, 1000 + 20 * BT_NS_PER_MS);
	ck_assert_int_le(at_ns, 1000 + 20 * BT_NS_PER_MS + 10);
	ck_assert(!bt_limiter_take(&limiter, at_ns - 100, &at_ns));
	ck_assert(bt_limiter_take(&limiter, at_ns, &at_ns));
	ck_assert(!bt_limiter_take(&limiter, at_ns, &at_ns));
	/* The limiter never gives more than burst tokens at once, even after a long idle time. */
	for (taken = 0; bt_limiter_take(&limiter, 3600 * BT_NS_PER_SECOND, &at_ns); taken++) {
	}
	ck_assert_uint_eq(taken, 100);
	bt_limiter_init(&limiter, -1, 0, 0);
	for (taken = 0; taken < 1000; taken++) {
		ck_assert(bt_limiter_take(&limiter, 0, &at_ns));
	}
}
END_TEST

START_TEST(test_client_rest__edge_11b_45_everything_in_json)
{
	static const char text[] = "{\"kind\":\"Binding\",\"apiVersion\":\"v1\",\"metadata\":"
				   "{\"name\":\"s1\"},\"target\":{\"kind\":\"Node\"}}";
	struct bt_strbuf body = {0};
	struct bt_arena arena = {0};
	struct bt_json_value *value;
	struct bt_rest_options options = {.qps = -1};
	struct bt_rest_answer answer = {.content_type = BT_STR("application/json")};

	start(NULL, 0);
	ck_assert_int_eq(bt_json_parse(&arena, bt_str_from(text), true, &value, NULL), 0);
	ck_assert(bt_str_equal_c(
		bt_rest_encode_body(fixture.client, value, &body), "application/json"));
	fixture_expect(&body, text);
	bt_strbuf_reset(&body);
	/* The same object, encoded in protobuf, decodes to an equal object. */
	options.content_type = BT_STR("application/vnd.kubernetes.protobuf");
	fixture_make_client(&fixture, &options);
	answer.content_type = bt_rest_encode_body(fixture.client, value, &body);
	answer.body = bt_strbuf_str(&body);
	ck_assert_int_eq(memcmp(body.data, "k8s", 4), 0);
	ck_assert_int_eq(bt_rest_decode_body(&answer, &arena, &value, NULL), 0);
	ck_assert(bt_str_equal_c(bt_json_find_str(value, "kind"), "Binding"));
	ck_assert(bt_str_equal_c(bt_json_find_path(value, "metadata.name")->text, "s1"));
	bt_strbuf_finish(&body);
	bt_arena_finish(&arena);
	finish();
}
END_TEST

START_TEST(test_client_rest__streams)
{
	const struct fixture_answer answers[] = {{.code = 200, .body = "{\"type\":\"ADDED\"}\n"},
		{.code = 410,
			.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":"
				"\"Failure\",\"message\":\"old\",\"reason\":\"Expired\","
				"\"code\":410}"}};

	start(answers, 2);
	(void)fixture_watch(&fixture, "/api/v1/pods", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert(result.opened);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	fixture_expect(&result.data, "{\"type\":\"ADDED\"}\n");
	fixture_expect(&fixture.requests[0].line, "GET /api/v1/pods?watch=true");
	fixture_result_finish(&result);
	(void)fixture_watch(&fixture, "/api/v1/pods", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert(!result.opened);
	ck_assert_int_eq(result.answer.class_, BT_REST_EXPIRED);
	fixture_expect(&result.message, "old");
	finish();
}
END_TEST

/* --- a server that cuts connections --- */

/*
 * Answers by a script of one letter for each request: 'a' answers, 'c' closes the connection
 * without an answer.
 */
struct raw {
	int listener;
	int fd; /* the connection; -1: none */
	struct bt_loop_source *listener_source;
	struct bt_loop_source *source;
	const char *script;
	uint32_t request_count;
	int64_t at_ns[8];
};

static struct raw raw;

static void raw_close(void)
{
	if (raw.fd >= 0) {
		bt_loop_remove_fd(fixture.loop, raw.source);
		(void)close(raw.fd);
		raw.fd = -1;
	}
}

static void raw_readable(void *context)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
				     "Content-Length: 2\r\n\r\n{}";
	char buffer[8192];
	ssize_t count = read(raw.fd, buffer, sizeof(buffer) - 1);

	(void)context;
	if (count <= 0) {
		raw_close();
		return;
	}
	ck_assert_uint_lt(raw.request_count, 8);
	raw.at_ns[raw.request_count] = bt_loop_now_ns(fixture.loop);
	if (raw.script[raw.request_count++] == 'a') {
		ck_assert_int_eq(write(raw.fd, answer, sizeof(answer) - 1), sizeof(answer) - 1);
	} else {
		raw_close();
	}
}

static void raw_accept(void *context)
{
	(void)context;
	raw_close();
	raw.fd = accept(raw.listener, NULL, NULL);
	ck_assert_int_ge(raw.fd, 0);
	ck_assert_int_eq(
		bt_loop_add_fd(fixture.loop, raw.fd, raw_readable, NULL, &raw.source, NULL), 0);
}

static void start_raw(const char *script)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	char master[64];
	struct bt_transport_options options = {.config = &fixture.config};

	fixture_start(&fixture, false);
	raw = (struct raw){.fd = -1, .script = script};
	raw.listener = socket(AF_INET, SOCK_STREAM, 0);
	ck_assert_int_ge(raw.listener, 0);
	ck_assert_int_eq(bind(raw.listener, (struct sockaddr *)&address, length), 0);
	ck_assert_int_eq(listen(raw.listener, 8), 0);
	ck_assert_int_eq(getsockname(raw.listener, (struct sockaddr *)&address, &length), 0);
	ck_assert_int_eq(bt_loop_add_fd(fixture.loop, raw.listener, raw_accept, NULL,
				 &raw.listener_source, NULL),
		0);
	(void)snprintf(master, sizeof(master), "http://127.0.0.1:%d", ntohs(address.sin_port));
	ck_assert_int_eq(
		bt_client_config_parse(BT_STR(""), "", master, &fixture.config, NULL, NULL), 0);
	options.loop = fixture.loop;
	ck_assert_int_eq(bt_transport_create(&options, &fixture.transport, NULL), 0);
	fixture_make_client(&fixture, NULL);
}

static void finish_raw(void)
{
	raw_close();
	bt_loop_remove_fd(fixture.loop, raw.listener_source);
	(void)close(raw.listener);
	finish();
}

START_TEST(test_client_rest__a_get_that_was_cut_is_sent_again_after_a_second)
{
	start_raw("ca");
	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	ck_assert_uint_eq(raw.request_count, 2);
	ck_assert_int_ge(raw.at_ns[1] - raw.at_ns[0], 990 * BT_NS_PER_MS);
	finish_raw();
}
END_TEST

START_TEST(test_client_rest__a_post_on_a_used_connection_is_never_sent_twice)
{
	start_raw("aca");
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	(void)fixture_call(&fixture, "POST", "/p", "{}", &result);
	fixture_wait(&fixture, &result.done_count, 2);
	fixture_turns(&fixture, 5);
	ck_assert_uint_eq(raw.request_count, 2);
	ck_assert_int_eq(result.answer.class_, BT_REST_TRANSPORT);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_RESET);
	ck_assert(result.answer.sent);
	finish_raw();
}
END_TEST

START_TEST(test_client_rest__gets_are_sent_again_after_a_cut)
{
	const struct fixture_answer answers[] = {{.later = true}, {.code = 200, .body = "{}"}};

	start(answers, 2);
	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &fixture.request_count, 1);
	bt_http_server_destroy(fixture.server);
	fixture.server = NULL;
	/* The server is gone: the second attempt is refused, and there is no third attempt. */
	fixture_wait(&fixture, &result.done_count, 1);
	ck_assert_int_eq(result.answer.failure, BT_HTTP_FAILURE_REFUSED);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&result.message),
		"connect: connection refused - error from a "
		"previous attempt: Get \"https://127.0.0.1:"));
	finish();
}
END_TEST

START_TEST(test_client_rest__cancelled_in_every_state)
{
	const struct fixture_answer answers[] = {{.later = true},
		{.code = 429, .retry_after = "100", .body = "x"}, {.code = 200, .body = "{}"}};
	const struct bt_rest_options options = {.qps = 1, .burst = 2};
	struct bt_rest_call *calls[3];

	start(answers, 3);
	fixture_make_client(&fixture, &options);
	calls[0] = fixture_call(&fixture, "GET", "/a", "", &result);
	fixture_wait(&fixture, &fixture.request_count, 1);
	calls[1] = fixture_call(&fixture, "GET", "/b", "", &result);
	calls[2] = fixture_call(&fixture, "GET", "/c", "", &result);
	fixture_wait(&fixture, &fixture.request_count, 2);
	while (fixture_log_count("Got a Retry-After 100") == 0) {
		fixture_turns(&fixture, 1);
	}
	for (int i = 0; i < 3; i++) {
		bt_rest_cancel(calls[i]);
	}
	fixture_turns(&fixture, 20);
	ck_assert_uint_eq(result.done_count, 0);
	/* Destroying the client cancels the call that is still in flight. */
	(void)fixture_call(&fixture, "GET", "/d", "", &result);
	finish();
}
END_TEST

START_TEST(test_client_rest__metrics)
{
	struct bt_strbuf text = {0};
	const struct fixture_answer answers[] = {
		{.code = 429, .retry_after = "0", .body = "x"}, {.code = 201, .body = "{}"}};

	start(answers, 2);
	post_binding();
	bt_metrics_write(fixture.metrics, BT_METRICS_TEXT, &text);
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "rest_client_requests_total{code=\"201\","));
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "rest_client_request_retries_total{code=\"429\","));
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "rest_client_request_duration_seconds_bucket{"));
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "rest_client_rate_limiter_duration_seconds_count{"));
	ck_assert_ptr_null(strstr(bt_strbuf_c(&text), "verb=\"GET\""));
	bt_strbuf_finish(&text);
	finish();
}
END_TEST

/** A request without a body has the size 0. */
START_TEST(test_client_rest__size_of_a_get)
{
	struct bt_strbuf text = {0};
	const struct fixture_answer answers[] = {{.code = 200, .body = "{}"}};

	start(answers, 1);
	(void)fixture_call(&fixture, "GET", "/a", "", &result);
	fixture_wait(&fixture, &result.done_count, 1);
	bt_metrics_write(fixture.metrics, BT_METRICS_TEXT, &text);
	ck_assert_ptr_nonnull(
		strstr(bt_strbuf_c(&text), "\nrest_client_request_size_bytes_bucket{"));
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text), "verb=\"GET\",le=\"64\"} 1\n"));
	bt_strbuf_finish(&text);
	finish();
}
END_TEST

START_TEST(test_client_rest__parts_of_urls)
{
	struct bt_strbuf text = {0};

	bt_rest_append_segment(&text, BT_STR("a b/c%\xc3\xa9:d"));
	fixture_expect(&text, "a%20b%2Fc%25%C3%A9:d");
	bt_strbuf_reset(&text);
	bt_rest_append_query(&text, "fieldSelector", BT_STR("status.phase!=Succeeded,a=b c/d"));
	bt_rest_append_query(&text, "limit", BT_STR("500"));
	fixture_expect(&text, "fieldSelector=status.phase%21%3DSucceeded%2Ca%3Db+c%2Fd&limit=500");
	bt_strbuf_finish(&text);
}
END_TEST

START_TEST(test_client_rest__burst_without_room)
{
	struct bt_rest_options options = {.user_agent = "test", .qps = 5};
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_rest_client *client;

	ck_assert_int_eq(bt_rest_client_create(&options, &client, &err), BERTH_ERR_INVALID);
	ck_assert_str_eq(berth_error_message(&err),
		"burst is required to be greater than 0 when RateLimiter is not set and QPS is "
		"set to greater than 0");
	berth_error_finish(&err);
}
END_TEST

BT_TEST_MAIN("client_rest", test_client_rest__headers_and_body,
	test_client_rest__requests_that_may_not_be_sent_end,
	test_client_rest__timeouts_are_sent_and_kept,
	test_client_rest__edge_13_34_a_binding_that_was_cut_is_not_sent_again,
	test_client_rest__edge_13_35_retry_after_is_waited_for,
	test_client_rest__no_wait_beyond_the_timeout, test_client_rest__edge_11b_46_up_to_ten_times,
	test_client_rest__edge_13_36_a_conflict_is_an_error_whatever_it_says,
	test_client_rest__edge_13_38_the_answers_type_counts,
	test_client_rest__a_status_in_protobuf, test_client_rest__edge_13_39_a_load_balancers_page,
	test_client_rest__generic_texts_name_the_group, test_client_rest__generic_texts,
	test_client_rest__edge_13_46_dates_are_not_waited_for,
	test_client_rest__edge_13_47_warnings_are_logged,
	test_client_rest__refusals_name_their_audit_id,
	test_client_rest__edge_11b_44_a_hundred_at_once_then_fifty_a_second,
	test_client_rest__limiter_numbers, test_client_rest__edge_11b_45_everything_in_json,
	test_client_rest__streams,
	test_client_rest__a_get_that_was_cut_is_sent_again_after_a_second,
	test_client_rest__a_post_on_a_used_connection_is_never_sent_twice,
	test_client_rest__gets_are_sent_again_after_a_cut,
	test_client_rest__cancelled_in_every_state, test_client_rest__metrics,
	test_client_rest__size_of_a_get, test_client_rest__parts_of_urls,
	test_client_rest__burst_without_room)

/* SPDX-License-Identifier: Apache-2.0 */
#include "client_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "codec/base64.h"

#define TURN_NS INT64_C(5000000)
#define WAIT_NS INT64_C(20000000000)

/* --- log --- */

static struct bt_strbuf log_text;

static bool all_enabled(void *context, const char *file, int verbosity)
{
	(void)context;
	(void)file;
	return verbosity <= 5;
}

static void keep_line(void *context, const struct bt_log_record *record)
{
	(void)context;
	bt_strbuf_append_str(&log_text, record->message);
	if (record->error.data != NULL) {
		bt_strbuf_printf(&log_text, " err=%.*s", BT_STR_ARG(record->error));
	}
	for (uint32_t i = 0; i < record->pair_count; i++) {
		bt_strbuf_printf(&log_text, " %s=%.*s", record->pairs[i].key,
			BT_STR_ARG(record->pairs[i].text));
	}
	bt_strbuf_append_char(&log_text, '\n');
}

uint32_t fixture_log_count(const char *text)
{
	uint32_t count = 0;

	for (const char *at = bt_strbuf_c(&log_text); (at = strstr(at, text)) != NULL; at++) {
		count++;
	}
	return count;
}

/* --- server --- */

static void keep_header(
	const struct bt_http_exchange *exchange, const char *name, struct bt_strbuf *out)
{
	bt_strbuf_append_str(out, bt_http_header(exchange, name));
}

static void keep_value(void *context, struct bt_str value)
{
	struct bt_strbuf *out = context;

	bt_strbuf_append_str(out, value);
	bt_strbuf_append_char(out, ';');
}

static void record(struct fixture *fixture, struct bt_http_exchange *exchange)
{
	struct fixture_request *request;

	ck_assert_uint_lt(fixture->request_count, FIXTURE_REQUESTS_MAX);
	request = &fixture->requests[fixture->request_count++];
	bt_strbuf_printf(&request->line, "%.*s %.*s", BT_STR_ARG(bt_http_method(exchange)),
		BT_STR_ARG(bt_http_path(exchange)));
	if (bt_http_query(exchange).length != 0) {
		bt_strbuf_printf(&request->line, "?%.*s", BT_STR_ARG(bt_http_query(exchange)));
	}
	keep_header(exchange, "Authorization", &request->authorization);
	keep_header(exchange, "Accept", &request->accept);
	keep_header(exchange, "Content-Type", &request->content_type);
	keep_header(exchange, "User-Agent", &request->user_agent);
	bt_http_each_header(exchange, "Impersonate-User", keep_value, &request->impersonate);
	bt_http_each_header(exchange, "Impersonate-Uid", keep_value, &request->impersonate);
	bt_http_each_header(exchange, "Impersonate-Group", keep_value, &request->impersonate);
	bt_http_each_header(exchange, "Impersonate-Extra-a%2Fb", keep_value, &request->impersonate);
	bt_strbuf_append_str(&request->body, bt_http_body(exchange));
	request->at_ns = bt_loop_now_ns(fixture->loop);
}

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	static const struct fixture_answer plain = {.code = 200, .body = "{}"};
	struct fixture *fixture = context;
	const struct fixture_answer *answer = &plain;
	struct bt_strbuf body = {0};

	if (fixture->answer_count != 0) {
		uint32_t last = fixture->answer_count - 1;
		answer = &fixture->answers[fixture->request_count < last ? fixture->request_count
									 : last];
	}
	record(fixture, exchange);
	if (answer->later) {
		fixture->kept = exchange;
		return;
	}
	bt_http_add_header(exchange, "Content-Type",
		bt_str_from(
			answer->content_type != NULL ? answer->content_type : "application/json"));
	bt_http_add_header(exchange, "Audit-Id", BT_STR("7c1e-audit"));
	if (answer->retry_after != NULL) {
		bt_http_add_header(exchange, "Retry-After", bt_str_from(answer->retry_after));
	}
	if (answer->warning != NULL) {
		bt_http_add_header(exchange, "Warning", bt_str_from(answer->warning));
	}
	bt_strbuf_append(&body, answer->body,
		answer->body_length != 0 ? answer->body_length : strlen(answer->body));
	bt_http_answer(exchange, answer->code, &body);
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	struct fixture *fixture = context;

	if (fixture->kept == exchange) {
		fixture->kept = NULL;
	}
}

static void make_certificates(struct fixture *fixture)
{
	const char *names[] = {"127.0.0.1", "server.test"};
	struct timespec now;

	ck_assert_int_eq(clock_gettime(CLOCK_REALTIME, &now), 0);
	ck_assert_int_eq(
		bt_certificate_make_ca("test", (int64_t)now.tv_sec, &fixture->ca, NULL), 0);
	ck_assert_int_eq(bt_certificate_make_server(&fixture->ca, names, 2, (int64_t)now.tv_sec,
				 &fixture->certificate, NULL),
		0);
}

void fixture_start(struct fixture *fixture, bool is_tls)
{
	const struct bt_log_sink sink = {NULL, all_enabled, keep_line};
	struct bt_http_server_options options = {.address = "127.0.0.1",
		.limits = bt_http_default_limits,
		.handler = {fixture, on_request, on_request, on_closed}};

	bt_strbuf_finish(&log_text);
	bt_log_set_sink(&sink);
	bt_log_set_verbosity_max(5);
	(void)snprintf(fixture->folder, sizeof(fixture->folder), "/tmp/bt-client-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(fixture->folder));
	ck_assert_int_eq(bt_loop_create(&fixture->loop, NULL), 0);
	if (is_tls) {
		make_certificates(fixture);
		options.certificates.certificate_pem =
			bt_strbuf_c(&fixture->certificate.certificate);
		options.certificates.key_pem = bt_strbuf_c(&fixture->certificate.key);
	}
	ck_assert_int_eq(bt_http_server_create(fixture->loop, &options, &fixture->server, NULL), 0);
	fixture->metrics = bt_metrics_create();
}

static int connect(
	struct fixture *fixture, const char *cluster, const char *user, struct berth_error *err)
{
	bool is_tls = fixture->ca.certificate.length != 0;
	struct bt_transport_options options = {
		.loop = fixture->loop, .config = &fixture->config, .metrics = fixture->metrics};
	struct bt_strbuf ca = {0};
	struct bt_strbuf text = {0};
	int code;

	bt_base64_encode(bt_strbuf_str(&fixture->ca.certificate), &ca);
	bt_strbuf_printf(&text,
		"current-context: x\ncontexts: [{name: x, context: {cluster: c, user: 'n'}}]\n"
		"clusters: [{name: c, cluster: {server: '%s://127.0.0.1:%d'%s%s%s}}]\n"
		"users: [{name: 'n', user: {a: b%s}}]\n",
		is_tls ? "https" : "http", bt_http_server_port(fixture->server),
		is_tls && strstr(cluster, "certificate-authority") == NULL
			? ", certificate-authority-data: "
			: "",
		is_tls && strstr(cluster, "certificate-authority") == NULL ? bt_strbuf_c(&ca) : "",
		cluster, user);
	code = bt_client_config_parse(bt_strbuf_str(&text), "", "", &fixture->config, NULL, err);
	if (code == 0) {
		code = bt_transport_create(&options, &fixture->transport, err);
	}
	bt_strbuf_finish(&ca);
	bt_strbuf_finish(&text);
	return code;
}

void fixture_connect(struct fixture *fixture, const char *cluster, const char *user)
{
	struct berth_error err = BERTH_ERROR_INIT;

	if (connect(fixture, cluster, user, &err) != 0) {
		ck_abort_msg("%s", berth_error_message(&err));
	}
	fixture_make_client(fixture, NULL);
}

void fixture_expect_refused(
	struct fixture *fixture, const char *cluster, const char *user, const char *message)
{
	struct berth_error err = BERTH_ERROR_INIT;

	ck_assert_int_ne(connect(fixture, cluster, user, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), message);
	berth_error_finish(&err);
	bt_client_config_finish(&fixture->config);
}

void fixture_make_client(struct fixture *fixture, const struct bt_rest_options *options)
{
	struct bt_rest_options own = {.user_agent = "test", .qps = -1};

	bt_rest_client_destroy(fixture->client);
	if (options != NULL) {
		own = *options;
	}
	own.transport = fixture->transport;
	own.loop = fixture->loop;
	own.metrics = fixture->metrics;
	own.user_agent = "test";
	ck_assert_int_eq(bt_rest_client_create(&own, &fixture->client, NULL), 0);
}

void fixture_finish(struct fixture *fixture)
{
	bt_rest_client_destroy(fixture->client);
	bt_transport_destroy(fixture->transport);
	bt_client_config_finish(&fixture->config);
	bt_http_server_destroy(fixture->server);
	bt_metrics_destroy(fixture->metrics);
	bt_loop_destroy(fixture->loop);
	bt_certificate_pair_finish(&fixture->ca);
	bt_certificate_pair_finish(&fixture->certificate);
	for (uint32_t i = 0; i < fixture->request_count; i++) {
		struct fixture_request *request = &fixture->requests[i];
		bt_strbuf_finish(&request->line);
		bt_strbuf_finish(&request->authorization);
		bt_strbuf_finish(&request->accept);
		bt_strbuf_finish(&request->content_type);
		bt_strbuf_finish(&request->user_agent);
		bt_strbuf_finish(&request->impersonate);
		bt_strbuf_finish(&request->body);
	}
	(void)rmdir(fixture->folder);
	memset(fixture, 0, sizeof(*fixture));
	bt_log_set_sink(NULL);
	bt_strbuf_finish(&log_text);
}

/* --- calls --- */

static void call_done(void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct fixture_result *result = context;

	(void)call;
	result->done_count++;
	result->answer = *answer;
	bt_strbuf_reset(&result->message);
	bt_strbuf_append_str(&result->message, answer->message);
	bt_strbuf_append_str(&result->body, answer->body);
	bt_strbuf_append_str(&result->reason, answer->reason);
}

static void call_opened(void *context, struct bt_rest_call *call, struct bt_str content_type)
{
	struct fixture_result *result = context;

	(void)call;
	(void)content_type;
	result->opened = true;
}

static void call_data(void *context, struct bt_rest_call *call, struct bt_str bytes)
{
	struct fixture_result *result = context;

	(void)call;
	bt_strbuf_append_str(&result->data, bytes);
}

struct bt_rest_call *fixture_call(struct fixture *fixture, const char *method, const char *path,
	const char *body, struct fixture_result *result)
{
	struct bt_rest_request request = {.method = method,
		.path = bt_str_from(path),
		.query = BT_STR(""),
		.resource = BT_STR("pods"),
		.name = BT_STR("web"),
		.body = bt_str_from(body),
		.handler = {.context = result, .done = call_done}};

	return bt_rest_start(fixture->client, &request);
}

struct bt_rest_call *fixture_watch(
	struct fixture *fixture, const char *path, struct fixture_result *result)
{
	struct bt_rest_request request = {.method = "GET",
		.path = bt_str_from(path),
		.query = BT_STR("watch=true"),
		.resource = BT_STR("pods"),
		.is_watch = true,
		.handler = {result, call_opened, call_data, call_done}};

	return bt_rest_start(fixture->client, &request);
}

void fixture_result_finish(struct fixture_result *result)
{
	bt_strbuf_finish(&result->message);
	bt_strbuf_finish(&result->body);
	bt_strbuf_finish(&result->reason);
	bt_strbuf_finish(&result->data);
	*result = (struct fixture_result){0};
}

void fixture_wait(struct fixture *fixture, const uint32_t *counter, uint32_t value)
{
	int64_t end_ns = bt_loop_now_ns(fixture->loop) + WAIT_NS;

	while (*counter < value) {
		ck_assert_msg(bt_loop_now_ns(fixture->loop) < end_ns, "%lu of %lu",
			(unsigned long)*counter, (unsigned long)value);
		ck_assert_int_eq(bt_loop_turn(fixture->loop, TURN_NS, NULL), 0);
	}
	ck_assert_uint_eq(*counter, value);
}

void fixture_turns(struct fixture *fixture, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		ck_assert_int_eq(bt_loop_turn(fixture->loop, TURN_NS, NULL), 0);
	}
}

char *fixture_write(struct fixture *fixture, const char *name, const char *content)
{
	struct bt_strbuf path = {0};
	FILE *file;

	bt_strbuf_printf(&path, "%s/%s", fixture->folder, name);
	file = fopen(bt_strbuf_c(&path), "w");
	ck_assert_ptr_nonnull(file);
	ck_assert_int_ge(fputs(content, file), 0);
	ck_assert_int_eq(fclose(file), 0);
	ck_assert_int_eq(chmod(bt_strbuf_c(&path), 0700), 0);
	return bt_strbuf_steal(&path);
}

void fixture_expect(const struct bt_strbuf *text, const char *expected)
{
	ck_assert_str_eq(bt_strbuf_c(text), expected);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "client_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/alloc.h"
#include "test_main.h"

#define VERSION "client.authentication.k8s.io/v1"
#define ANSWER(status) \
	"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" VERSION "\",\"status\":" status "}"
#define TOKEN_FOR_EVER ANSWER("{\"token\":\"t1\"}")
#define TOKEN_EXPIRED ANSWER("{\"token\":\"t1\",\"expirationTimestamp\":\"2001-01-01T00:00:00Z\"}")

static struct fixture fixture;
static struct fixture_result result;

static char *path_of(const char *name)
{
	struct bt_strbuf path = {0};

	bt_strbuf_printf(&path, "%s/%s", fixture.folder, name);
	return bt_strbuf_steal(&path);
}

static void remove_name(const char *name)
{
	char *path = path_of(name);

	(void)unlink(path);
	bt_free(path);
}

/* Returns the size of the file in bytes, or 0 if it does not exist. */
static uint32_t size_of(const char *name)
{
	char *path = path_of(name);
	struct bt_strbuf text = {0};
	uint32_t length;

	length = bt_client_file_read(path, 1U << 20, &text, NULL) == 0 ? (uint32_t)text.length : 0;
	bt_strbuf_finish(&text);
	bt_free(path);
	return length;
}

/*
 * Starts the fixture with an exec plugin that logs each run with its exec info and environment,
 * then runs `extra` and prints the text `out`. more: further members of the kubeconfig's exec.
 */
static void start_with(const char *extra, const char *out, const char *more)
{
	struct bt_strbuf script = {0};
	struct bt_strbuf user = {0};
	char *command;

	fixture_start(&fixture, true);
	bt_strbuf_printf(&script,
		"#!/bin/sh\nprintf x >>%s/runs\nprintf '%%s' \"$KUBERNETES_EXEC_INFO\" >%s/info\n"
		"printf '%%s' \"$E\" >%s/env\nsleep 0.1\n%s\ncat %s/out\n",
		fixture.folder, fixture.folder, fixture.folder, extra, fixture.folder);
	command = fixture_write(&fixture, "plugin", bt_strbuf_c(&script));
	bt_free(fixture_write(&fixture, "out", out));
	bt_strbuf_printf(&user,
		", exec: {command: %s, apiVersion: " VERSION
		", interactiveMode: Never, env: [{name: E, value: one}, {name: E, value: two}]%s}",
		command, more);
	fixture_connect(&fixture, "", bt_strbuf_c(&user));
	bt_free(command);
	bt_strbuf_finish(&script);
	bt_strbuf_finish(&user);
}

static void finish(void)
{
	static const char *const names[] = {"plugin", "out", "runs", "info", "env"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		remove_name(names[i]);
	}
	fixture_result_finish(&result);
	fixture_finish(&fixture);
}

static void get(uint32_t count)
{
	(void)fixture_call(&fixture, "GET", "/p", "", &result);
	fixture_wait(&fixture, &result.done_count, count);
}

static void expect_file(const char *name, const char *content)
{
	char *path = path_of(name);
	struct bt_strbuf text = {0};

	ck_assert_int_eq(bt_client_file_read(path, 1U << 20, &text, NULL), 0);
	fixture_expect(&text, content);
	bt_strbuf_finish(&text);
	bt_free(path);
}

static void expect_failure(const char *message)
{
	struct bt_strbuf tail = {0};

	ck_assert_int_eq(result.answer.class_, BT_REST_TRANSPORT);
	bt_strbuf_printf(&tail, "/p\": getting credentials: %s", message);
	ck_assert_msg(bt_str_has_suffix(bt_strbuf_str(&result.message), bt_strbuf_str(&tail)), "%s",
		bt_strbuf_c(&result.message));
	bt_strbuf_finish(&tail);
	ck_assert_uint_eq(fixture.request_count, 0);
}

START_TEST(test_client_exec__several_requests_share_a_run)
{
	start_with("", TOKEN_FOR_EVER, "");
	for (int i = 0; i < 3; i++) {
		(void)fixture_call(&fixture, "POST", "/p", "{\"a\":1}", &result);
	}
	/* The loop keeps running while the plugin runs. */
	fixture_turns(&fixture, 2);
	ck_assert_uint_eq(fixture.request_count, 0);
	fixture_wait(&fixture, &result.done_count, 3);
	get(4);
	ck_assert_uint_eq(size_of("runs"), 1);
	for (uint32_t i = 0; i < 4; i++) {
		fixture_expect(&fixture.requests[i].authorization, "Bearer t1");
	}
	fixture_expect(&fixture.requests[0].body, "{\"a\":1}");
	fixture_expect(&fixture.requests[0].user_agent, "test");
	expect_file("env", "two");
	expect_file("info",
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" VERSION
		"\",\"spec\":{\"interactive\":false}}\n");
	finish();
}
END_TEST

START_TEST(test_client_exec__cluster_info)
{
	struct bt_strbuf head = {0};
	struct bt_strbuf info = {0};
	char *path;

	start_with("", TOKEN_FOR_EVER, ", provideClusterInfo: true");
	get(1);
	path = path_of("info");
	ck_assert_int_eq(bt_client_file_read(path, 1U << 20, &info, NULL), 0);
	bt_strbuf_printf(&head,
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" VERSION
		"\",\"spec\":{\"cluster\":{\"server\":\"https://127.0.0.1:%d\","
		"\"certificate-authority-data\":\"",
		bt_http_server_port(fixture.server));
	ck_assert(bt_str_has_prefix(bt_strbuf_str(&info), bt_strbuf_str(&head)));
	ck_assert(bt_str_has_suffix(bt_strbuf_str(&info),
		BT_STR("\",\"disable-compression\":true},\"interactive\":false}}\n")));
	bt_strbuf_finish(&head);
	bt_strbuf_finish(&info);
	bt_free(path);
	finish();
}
END_TEST

START_TEST(test_client_exec__edge_13_15_a_run_for_every_request)
{
	start_with("", TOKEN_EXPIRED, "");
	for (uint32_t i = 1; i <= 3; i++) {
		get(i);
		ck_assert_int_eq(result.answer.class_, BT_REST_OK);
		ck_assert_uint_eq(size_of("runs"), i);
	}
	finish();
}
END_TEST

START_TEST(test_client_exec__edge_13_16_nothing_happens_until_the_next_request)
{
	const struct fixture_answer answers[] = {{.later = true}, {.code = 200, .body = "{}"}};

	start_with("", TOKEN_EXPIRED, "");
	fixture.answers = answers;
	fixture.answer_count = 2;
	(void)fixture_watch(&fixture, "/w", &result);
	fixture_wait(&fixture, &fixture.request_count, 1);
	fixture_turns(&fixture, 40);
	ck_assert_uint_eq(size_of("runs"), 1);
	get(1);
	ck_assert_uint_eq(size_of("runs"), 2);
	finish();
}
END_TEST

static void write_pair(const struct bt_certificate_pair *pair)
{
	struct bt_strbuf out = {0};
	struct bt_json_writer writer;

	bt_json_writer_init(&writer, &out, 0);
	bt_strbuf_append_c(&out,
		"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" VERSION
		"\",\"status\":{\"expirationTimestamp\":\"2001-01-01T00:00:00Z\","
		"\"clientCertificateData\":");
	bt_json_write_str(&writer, bt_strbuf_str(&pair->certificate));
	bt_strbuf_append_c(&out, ",\"clientKeyData\":");
	writer.need_comma = false;
	bt_json_write_str(&writer, bt_strbuf_str(&pair->key));
	bt_strbuf_append_c(&out, "}}");
	bt_free(fixture_write(&fixture, "out", bt_strbuf_c(&out)));
	bt_strbuf_finish(&out);
}

static void count_done(
	void *context, struct bt_http_transfer *transfer, const struct bt_http_outcome *outcome)
{
	(void)transfer;
	ck_assert_int_eq(outcome->failure, BT_HTTP_FAILURE_RESET);
	(*(uint32_t *)context)++;
}

START_TEST(test_client_exec__edge_13_17_a_new_certificate_cuts_connections)
{
	const struct fixture_answer answers[] = {{.later = true}, {.code = 200, .body = "{}"}};
	uint32_t cut = 0;
	struct bt_transport_call call = {.request = {.method = "GET",
						 .path = BT_STR("/watch"),
						 .query = BT_STR(""),
						 .handler = {.context = &cut, .done = count_done}}};

	start_with("", TOKEN_EXPIRED, "");
	fixture.answers = answers;
	fixture.answer_count = 2;
	write_pair(&fixture.certificate);
	bt_transport_start(fixture.transport, &call);
	fixture_wait(&fixture, &fixture.request_count, 1);
	get(1);
	ck_assert_uint_eq(size_of("runs"), 2);
	ck_assert_uint_eq(cut, 0);
	write_pair(&fixture.ca);
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	fixture_wait(&fixture, &cut, 1);
	finish();
}
END_TEST

START_TEST(test_client_exec__edge_13_18_refused_credentials_are_requested_again)
{
	const struct fixture_answer answers[] = {
		{.code = 401,
			.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\","
				"\"message\":\"Unauthorized\",\"reason\":\"Unauthorized\","
				"\"code\":401}"},
		{.code = 200, .body = "{}"}};

	start_with("", TOKEN_FOR_EVER, "");
	fixture.answers = answers;
	fixture.answer_count = 2;
	get(1);
	ck_assert_int_eq(result.answer.class_, BT_REST_UNAUTHORIZED);
	bt_free(fixture_write(&fixture, "out", ANSWER("{\"token\":\"t2\"}")));
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	ck_assert_uint_eq(size_of("runs"), 2);
	fixture_expect(&fixture.requests[1].authorization, "Bearer t2");
	finish();
}
END_TEST

START_TEST(test_client_exec__a_refresh_that_fails_keeps_what_there_is)
{
	const struct fixture_answer answers[] = {
		{.code = 401, .body = "no", .content_type = "text/plain"},
		{.code = 200, .body = "{}"}};

	start_with("", TOKEN_FOR_EVER, "");
	fixture.answers = answers;
	fixture.answer_count = 2;
	get(1);
	bt_free(fixture_write(&fixture, "out", "secret"));
	get(2);
	ck_assert_int_eq(result.answer.class_, BT_REST_OK);
	fixture_expect(&fixture.requests[1].authorization, "Bearer t1");
	ck_assert_uint_eq(fixture_log_count("refreshing credentials: decoding stdout: "), 1);
	ck_assert_uint_eq(fixture_log_count("secret"), 0);
	finish();
}
END_TEST

START_TEST(test_client_exec__answers_that_are_refused)
{
	static const struct {
		const char *out;
		const char *message;
	} rows[] = {
		{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/"
		 "v1beta1\"}",
			"exec plugin is configured to use API version " VERSION
			", plugin returned version client.authentication.k8s.io/v1beta1"},
		{"{\"kind\":\"ExecCredential\",\"apiVersion\":\"" VERSION "\"}",
			"exec plugin didn't return a status field"},
		{ANSWER("{}"), "exec plugin didn't return a token or cert/key pair"},
		{ANSWER("{\"clientKeyData\":\"k\"}"),
			"exec plugin returned only certificate or key, not both"},
		{ANSWER("{\"clientKeyData\":\"k\",\"clientCertificateData\":\"c\"}"),
			"failed parsing client key/certificate: tls: failed to find any PEM data "
			"in certificate input"},
		{ANSWER("{\"token\":1}"),
			"decoding stdout: status.token: expected string, got number"},
		{"", "decoding stdout: unexpected end of JSON input"},
		{"{\"status\":{\"token\":\"secret\"}}",
			"decoding stdout: Object 'Kind' is missing"},
		{ANSWER("{\"token\":\"a\\nb\"}"),
			"net/http: invalid header field value for \"Authorization\""},
	};

	start_with("", "", "");
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		bt_free(fixture_write(&fixture, "out", rows[i].out));
		get((uint32_t)i + 1);
		expect_failure(rows[i].message);
	}
	ck_assert_uint_eq(size_of("runs"), BT_ARRAY_LENGTH(rows));
	finish();
}
END_TEST

START_TEST(test_client_exec__runs_that_fail)
{
	struct bt_strbuf message = {0};
	struct bt_strbuf metrics = {0};
	char *command;

	start_with("exit 3", "", "");
	get(1);
	command = path_of("plugin");
	bt_strbuf_printf(&message, "exec: executable %s failed with exit code 3", command);
	expect_failure(bt_strbuf_c(&message));
	bt_metrics_write(fixture.metrics, BT_METRICS_TEXT, &metrics);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&metrics),
		"rest_client_exec_plugin_call_total{call_status=\"plugin_execution_error\",code="
		"\"3\"} 1\n"));
	remove_name("plugin");
	get(2);
	bt_strbuf_reset(&message);
	bt_strbuf_printf(&message, "exec: fork/exec %s: no such file or directory", command);
	expect_failure(bt_strbuf_c(&message));
	bt_strbuf_finish(&message);
	bt_strbuf_finish(&metrics);
	bt_free(command);
	finish();
}
END_TEST

START_TEST(test_client_exec__hints_are_limited)
{
	static const char hint[] =
		"exec: executable no-such-plugin not found\n\nIt looks like you are trying to use "
		"a client-go credential plugin that is not installed.\n\ninstall it";

	fixture_start(&fixture, true);
	fixture_connect(&fixture, "",
		", exec: {command: no-such-plugin, apiVersion: " VERSION
		", interactiveMode: Never, installHint: install it}");
	for (uint32_t i = 1; i <= 11; i++) {
		get(i);
		expect_failure(i <= 10 ? hint : "exec: executable no-such-plugin not found");
	}
	finish();
}
END_TEST

START_TEST(test_client_exec__output_without_end)
{
	start_with("cat /dev/zero", "", "");
	get(1);
	expect_failure("decoding stdout: more than 1048576 bytes");
	finish();
}
END_TEST

START_TEST(test_client_exec__cancelled_and_destroyed_while_it_runs)
{
	struct bt_rest_call *call;

	start_with("sleep 100", "", "");
	call = fixture_call(&fixture, "GET", "/p", "", &result);
	(void)fixture_call(&fixture, "GET", "/q", "", &result);
	fixture_turns(&fixture, 3);
	bt_rest_cancel(call);
	fixture_turns(&fixture, 3);
	ck_assert_uint_eq(result.done_count, 0);
	finish();
}
END_TEST

BT_TEST_MAIN("client_exec", test_client_exec__several_requests_share_a_run,
	test_client_exec__cluster_info, test_client_exec__edge_13_15_a_run_for_every_request,
	test_client_exec__edge_13_16_nothing_happens_until_the_next_request,
	test_client_exec__edge_13_17_a_new_certificate_cuts_connections,
	test_client_exec__edge_13_18_refused_credentials_are_requested_again,
	test_client_exec__a_refresh_that_fails_keeps_what_there_is,
	test_client_exec__answers_that_are_refused, test_client_exec__runs_that_fail,
	test_client_exec__hints_are_limited, test_client_exec__output_without_end,
	test_client_exec__cancelled_and_destroyed_while_it_runs)

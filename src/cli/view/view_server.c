/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include <gnutls/gnutls.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "cli/view/view.h"
#include "client/live.h"
#include "net/clock.h"
#include "net/loop.h"

/**
 * Serves the page and its requests. The page itself is public; everything about the cluster
 * requires the token, which the printed link has in its fragment, so that no request line, log or
 * Referer contains it. The page exchanges the token for a cookie that scripts cannot read
 * (/session).
 */

#define CHANGES_INTERVAL_NS (500 * BT_NS_PER_MS)
#define HEARTBEAT_NS (15 * BT_NS_PER_SECOND)
#define STREAMS_MAX 64
#define SEARCH_MAX 20
#define STEPS_MAX 2000
#define STEPS_DEFAULT 240
#define HTTP_PORT 80

static const char page_html[] = {
#include "cli/view/view_html.inc"
};
static const char page_css[] = {
#include "cli/view/view_css.inc"
};
static const char page_js[] = {
#include "cli/view/view_js.inc"
};

static const struct page_file {
	const char *path;
	const char *type;
	const char *data;
	uint32_t length;
} page_files[] = {
	{"/", "text/html; charset=utf-8", page_html, sizeof(page_html)},
	{"/view.css", "text/css; charset=utf-8", page_css, sizeof(page_css)},
	{"/view.js", "text/javascript; charset=utf-8", page_js, sizeof(page_js)},
};

/** A request, from its arrival to its end. */
struct bt_view_call {
	struct bt_view_page *view;
	struct bt_http_exchange *exchange;
	struct bt_arena arena;
	uint32_t question; /* 0: none */
	struct bt_view_change *change;
	/* for a stream of changes */
	uint64_t sent_revision;
	int64_t sent_ns;
	bool sent_lost;
};

/** --- authentication --- */

/** Compares in constant time. */
static bool is_token(const struct bt_view_page *view, struct bt_str text)
{
	struct bt_str token = bt_str_from(view->token);
	return text.length == token.length &&
		gnutls_memcmp(text.data, token.data, token.length) == 0;
}

static bool has_bearer_token(const struct bt_view_call *call)
{
	struct bt_str header = bt_http_header(call->exchange, "Authorization");
	return bt_str_has_prefix(header, BT_STR("Bearer ")) &&
		is_token(call->view, bt_str_sub(header, 7, UINT32_MAX));
}

static bool has_cookie(const struct bt_view_call *call)
{
	struct bt_str rest = bt_http_header(call->exchange, "Cookie");
	struct bt_str wanted = bt_strbuf_str(&call->view->cookie);
	while (rest.length != 0) {
		struct bt_str pair = bt_str_trim(bt_str_cut(&rest, ';'), " ");
		struct bt_str name = bt_str_cut(&pair, '=');
		if (bt_str_equal(name, wanted) && is_token(call->view, pair)) {
			return true;
		}
	}
	return false;
}

/**
 * Whether the Host header names this server. A page of another site may resolve its own name to
 * this address (DNS rebinding); its requests then have that name as Host.
 */
static bool is_own_host(const struct bt_view_call *call)
{
	const struct bt_view_page *view = call->view;
	const char *const hosts[] = {"localhost", "127.0.0.1", "[::1]", view->address};
	struct bt_str host = bt_http_header(call->exchange, "Host");
	struct bt_strbuf text = {0};
	bool is_ours = false;
	uint16_t port = bt_http_server_port(view->http);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(hosts) && !is_ours; i++) {
		bool is_bare_v6 = strchr(hosts[i], ':') != NULL && hosts[i][0] != '[';
		bt_strbuf_reset(&text);
		bt_strbuf_printf(
			&text, "%s%s%s", is_bare_v6 ? "[" : "", hosts[i], is_bare_v6 ? "]" : "");
		/* Clients leave out the port of the scheme. */
		is_ours =
			port == HTTP_PORT && bt_str_equal_without_case(host, bt_strbuf_str(&text));
		bt_strbuf_printf(&text, ":%u", port);
		is_ours = is_ours || bt_str_equal_without_case(host, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&text);
	return is_ours || (view->certificate_pem != NULL && host.length != 0);
}

/** --- answers --- */

static void add_header(struct bt_view_call *call, const char *name, const char *value)
{
	bt_http_add_header(call->exchange, name, bt_str_from(value));
}

static void add_headers(struct bt_view_call *call, const char *type)
{
	add_header(call, "Content-Type", type);
	add_header(call, "Content-Security-Policy",
		"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
		"img-src 'self' data:; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'");
	add_header(call, "X-Content-Type-Options", "nosniff");
	add_header(call, "Referrer-Policy", "no-referrer");
	add_header(call, "Cross-Origin-Opener-Policy", "same-origin");
	add_header(call, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(call, "Cache-Control", "no-store");
}

static void answer_json(struct bt_view_call *call, uint16_t code, struct bt_strbuf *body)
{
	add_headers(call, "application/json");
	bt_http_answer(call->exchange, code, body);
}

static void answer_error(struct bt_view_call *call, uint16_t code, const char *message)
{
	struct bt_strbuf body = {0};
	struct bt_json_writer json;
	bt_json_writer_init(&json, &body, 0);
	bt_json_write(&json, "{error: %c}", message);
	answer_json(call, code, &body);
}

/** --- query parameters --- */

/** Returns the decoded value, in the arena; absent if the query has none. */
static struct bt_str find_parameter(struct bt_view_call *call, const char *name)
{
	struct bt_str query = bt_http_query(call->exchange);
	struct bt_str key;
	struct bt_str value;
	while (bt_http_query_next(&query, &call->arena, &key, &value)) {
		if (bt_str_equal_c(key, name)) {
			return value;
		}
	}
	return (struct bt_str){NULL, 0};
}

static int64_t find_number(struct bt_view_call *call, const char *name, int64_t otherwise)
{
	int64_t number;
	struct bt_str text = find_parameter(call, name);
	return bt_str_parse_int64(text, &number) ? number : otherwise;
}

/**
 * The end of the history; if the history is live: now, or the last change if the clock was set back
 * since.
 */
static int64_t end_ns(const struct bt_history *history)
{
	int64_t now_ns = bt_clock_wall_ns();
	return history->to_ns != INT64_MAX    ? history->to_ns
		: now_ns > history->latest_ns ? now_ns
					      : history->latest_ns;
}

/** Returns the time of the parameter "at". */
static int64_t find_time(struct bt_view_call *call, int64_t otherwise_ns)
{
	int64_t ms = find_number(call, "at", -1);
	return ms >= 0 && ms <= INT64_MAX / BT_NS_PER_MS ? ms * BT_NS_PER_MS : otherwise_ns;
}

static void get_cluster(struct bt_view_call *call)
{
	const struct bt_history *history = &call->view->history;
	struct bt_strbuf body = {0};
	int64_t at_ns = find_time(call, -1);
	uint64_t known = at_ns < 0 ? (uint64_t)find_number(call, "known", 0) : 0;
	bt_overview_write(history, at_ns < 0 ? end_ns(history) : at_ns, known, &body);
	answer_json(call, 200, &body);
}

static void get_node(struct bt_view_call *call)
{
	const struct bt_history *history = &call->view->history;
	struct bt_strbuf body = {0};
	if (bt_overview_write_node(history, find_parameter(call, "name"),
		    find_time(call, end_ns(history)), &body)) {
		answer_json(call, 200, &body);
	} else {
		answer_error(call, 404, "there is no such node at that time");
	}
}

static void get_search(struct bt_view_call *call)
{
	const struct bt_history *history = &call->view->history;
	struct bt_strbuf body = {0};
	bt_overview_write_search(history, find_parameter(call, "text"),
		find_parameter(call, "workloads").length != 0, find_time(call, end_ns(history)),
		SEARCH_MAX, &body);
	answer_json(call, 200, &body);
}

static void get_samples(struct bt_view_call *call)
{
	const struct bt_history *history = &call->view->history;
	int64_t steps = find_number(call, "steps", STEPS_DEFAULT);
	struct bt_strbuf body = {0};
	if (steps < 2 || steps > STEPS_MAX) {
		answer_error(call, 400, "steps: 2 to 2000");
		return;
	}
	bt_overview_write_samples(
		history, history->from_ns, end_ns(history), (uint32_t)steps, &body);
	answer_json(call, 200, &body);
}

static void get_source(struct bt_view_call *call)
{
	struct bt_strbuf body = {0};
	struct bt_json_writer json;
	bt_json_writer_init(&json, &body, 0);
	bt_json_write(&json, "{source: %c, state: %c, mayChange: %b, version: %c}",
		bt_strbuf_c(&call->view->source), call->view->state, call->view->client != NULL,
		BT_VERSION);
	answer_json(call, 200, &body);
}

static void take_answer(void *context, struct bt_strbuf *answer, const char *problem)
{
	struct bt_view_call *call = context;
	call->question = 0;
	call->change = NULL;
	if (problem != NULL) {
		answer_error(call, 500, problem);
	} else {
		answer_json(call, 200, answer);
	}
}

static void start_question(struct bt_view_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	int result = bt_question_start(
		call->view, bt_http_body(call->exchange), take_answer, call, &call->question, &err);
	if (result < 0) {
		answer_error(
			call, result == BERTH_ERR_TOO_LARGE ? 503 : 400, berth_error_message(&err));
		berth_error_finish(&err);
	}
}

static void change_cluster(struct bt_view_call *call)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (call->view->client == NULL) {
		answer_error(
			call, 403, "this page is read-only: start berth view with --allow-changes");
		return;
	}
	call->change = bt_view_change_start(
		call->view, bt_http_body(call->exchange), take_answer, call, &err);
	if (call->change == NULL) {
		answer_error(call, 400, berth_error_message(&err));
		berth_error_finish(&err);
	}
}

/** --- stream of changes --- */

static int64_t read_change(void *context, char *buffer, size_t capacity)
{
	struct bt_view_call *call = context;
	const struct bt_history *history = &call->view->history;
	int64_t now_ns = bt_loop_now_ns(call->view->loop);
	struct bt_strbuf text = {0};
	bool is_lost = call->view->watch != NULL && bt_live_watch_is_lost(call->view->watch);
	if (is_lost != call->sent_lost) {
		bt_strbuf_printf(&text, "event: server\ndata: %s\n\n", is_lost ? "lost" : "there");
		call->sent_lost = is_lost;
	}
	if (history->revision != call->sent_revision &&
		now_ns - call->sent_ns >= CHANGES_INTERVAL_NS) {
		bt_strbuf_printf(&text, "data: %llu\n\n", (unsigned long long)history->revision);
		call->sent_revision = history->revision;
	} else if (now_ns - call->sent_ns >= HEARTBEAT_NS) {
		bt_strbuf_append_c(&text, ":\n\n"); /* reveals a lost client */
	} else if (text.length == 0) {
		return BT_HTTP_STREAM_WAIT;
	}
	call->sent_ns = now_ns;
	size_t length = text.length < capacity ? text.length : capacity;
	memcpy(buffer, bt_strbuf_c(&text), length);
	bt_strbuf_finish(&text);
	return (int64_t)length;
}

static void finish_changes(void *context)
{
	struct bt_view_call *call = context;
	struct bt_view_page *view = call->view;
	for (uint32_t i = 0; i < view->streams.count; i++) {
		if (view->streams.items[i] == call) {
			bt_vec_remove_swap(&view->streams, i);
			return;
		}
	}
}

static void get_changes(struct bt_view_call *call)
{
	const struct bt_http_stream stream = {call, read_change, finish_changes};
	if (call->view->streams.count >= STREAMS_MAX) {
		answer_error(call, 503, "too many pages are open");
		return;
	}
	add_headers(call, "text/event-stream");

	bt_vec_push(&call->view->streams, call);
	bt_http_answer_stream(call->exchange, 200, &stream);
}

static int64_t wake_streams(void *context, int64_t now_ns)
{
	const struct bt_view_page *view = context;
	for (uint32_t i = 0; i < view->streams.count; i++) {
		bt_http_stream_resume(view->streams.items[i]->exchange);
	}
	return view->streams.count != 0 ? now_ns + CHANGES_INTERVAL_NS : INT64_MAX;
}

/** --- requests --- */

static const struct route {
	const char *method;
	const char *path;
	void (*serve)(struct bt_view_call *call);
} routes[] = {
	{"GET", "/api/source", get_source},
	{"GET", "/api/cluster", get_cluster},
	{"GET", "/api/node", get_node},
	{"GET", "/api/search", get_search},
	{"GET", "/api/samples", get_samples},
	{"GET", "/api/changes", get_changes},
	{"POST", "/api/question", start_question},
	{"POST", "/api/change", change_cluster},
};

static void serve_request(void *context, struct bt_http_exchange *exchange)
{
	struct bt_view_call *call = BT_NEW(struct bt_view_call);
	struct bt_str method = bt_http_method(exchange);
	struct bt_str path = bt_http_path(exchange);
	call->view = context;
	call->exchange = exchange;
	bt_http_set_data(exchange, call);
	if (!is_own_host(call)) {
		answer_error(call, 421, "this server does not have the name that was asked for");
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(page_files); i++) {
		if (bt_str_equal_c(method, "GET") && bt_str_equal_c(path, page_files[i].path)) {
			struct bt_strbuf body = {0};
			bt_strbuf_append(&body, page_files[i].data, page_files[i].length);
			add_headers(call, page_files[i].type);
			bt_http_answer(call->exchange, 200, &body);
			return;
		}
	}
	/* Browsers mark requests that another site's page sends. */
	struct bt_str site = bt_http_header(call->exchange, "Sec-Fetch-Site");
	if (site.length != 0 && !bt_str_equal_c(site, "same-origin") &&
		!bt_str_equal_c(site, "none")) {
		answer_error(call, 403, "requests of other sites are not answered");
		return;
	}
	if (bt_str_equal_c(method, "POST") && bt_str_equal_c(path, "/session")) {
		if (has_bearer_token(call)) {
			const struct bt_view_page *view = call->view;
			struct bt_strbuf cookie = {0};
			struct bt_strbuf body = {0};
			bt_strbuf_printf(&cookie, "%s=%s; Path=/; HttpOnly; SameSite=Strict%s",
				bt_strbuf_c(&view->cookie), view->token,
				view->certificate_pem != NULL ? "; Secure" : "");
			bt_http_add_header(call->exchange, "Set-Cookie", bt_strbuf_str(&cookie));
			bt_strbuf_finish(&cookie);
			bt_strbuf_append_c(&body, "{}");
			answer_json(call, 200, &body);
		} else {
			answer_error(call, 401, "the token of the link is not this server's");
		}
		return;
	}
	if (!has_bearer_token(call) && !has_cookie(call)) {
		answer_error(call, 401, "open the link that \"berth view\" printed");
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(routes); i++) {
		if (bt_str_equal_c(path, routes[i].path)) {
			if (bt_str_equal_c(method, routes[i].method)) {
				routes[i].serve(call);
			} else {
				add_header(call, "Allow", routes[i].method);
				answer_error(call, 405, "the method is not allowed");
			}
			return;
		}
	}
	answer_error(call, 404, "there is no such path");
}

static void refuse_body(void *context, struct bt_http_exchange *exchange)
{
	struct bt_view_call call = {.view = context, .exchange = exchange};
	answer_error(&call, 413, "the request is too large");
}

static void end_call(void *context BT_UNUSED, struct bt_http_exchange *exchange)
{
	struct bt_view_call *call = bt_http_data(exchange);
	if (call == NULL) {
		return;
	}
	if (call->question != 0) {
		bt_question_cancel(call->view, call->question);
	}
	if (call->change != NULL) {
		bt_view_change_cancel(call->change);
	}
	finish_changes(call);
	bt_arena_finish(&call->arena);
	bt_free(call);
}

int bt_view_server_start(struct bt_view_page *view, struct berth_error *err)
{
	const struct bt_http_server_options http = {
		.address = view->address,
		.port = view->port,
		.both_families = true,
		.certificates = {.certificate_pem = view->certificate_pem,
			.key_pem = view->key_pem},
		.limits = bt_http_default_limits,
		.handler = {view, serve_request, refuse_body, end_call},
	};
	int result = bt_http_server_create(view->loop, &http, &view->http, err);
	if (result == 0) {
		/* The name has the port, because browsers send cookies to all ports of a host. */
		bt_strbuf_printf(&view->cookie, "berth-view-%u", bt_http_server_port(view->http));
		bt_loop_add_worker(view->loop, wake_streams, view);
	}
	return result;
}

void bt_view_server_finish(struct bt_view_page *view)
{
	if (view->http == NULL) {
		return;
	}
	bt_loop_remove_worker(view->loop, view);
	bt_http_server_destroy(view->http);
	bt_vec_finish(&view->streams);
	bt_strbuf_finish(&view->cookie);
}

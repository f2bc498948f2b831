/* SPDX-License-Identifier: Apache-2.0 */
/** One request: who sends it, may they, and the answer. Spec: 11 section 9.1. */
#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/endpoints_private.h"

/** A request from its arrival to its end. */
struct call {
	struct bt_endpoints *endpoints;
	struct bt_http_exchange *exchange;
	struct bt_arena arena;
	struct bt_strbuf path; /* decoded */
	struct bt_strbuf verb; /* the method in lower case */
	struct bt_caller caller;
	struct bt_authentication authentication;
	struct bt_authorization authorization;
	int64_t begun_ns;
	bool is_waiting; /* counted in bt_endpoints.waiting */
};

static void stop_waiting(struct call *call)
{
	if (call->is_waiting) {
		call->is_waiting = false;
		call->endpoints->waiting--;
	}
}

static struct bt_page_request request_of(struct call *call)
{
	return (struct bt_page_request){
		.method = bt_http_method(call->exchange),
		.path = bt_strbuf_str(&call->path),
		.query = bt_http_query(call->exchange),
		.accept = bt_http_header(call->exchange, "Accept"),
		.accept_encoding = bt_http_header(call->exchange, "Accept-Encoding"),
		.user_agent = bt_http_header(call->exchange, "User-Agent"),
		.body = bt_http_body(call->exchange),
		.arena = &call->arena,
	};
}

/** "/path?query" as it was asked for. */
static struct bt_str target_of(struct call *call)
{
	struct bt_str query = bt_http_query(call->exchange);
	return bt_arena_printf(&call->arena, "%.*s%s%.*s", BT_STR_ARG(bt_http_path(call->exchange)),
		query.length != 0 ? "?" : "", BT_STR_ARG(query));
}

static void log_request(struct call *call, uint16_t code)
{
	struct bt_strbuf address = {0};
	if (!BT_LOG_ENABLED(3)) {
		return;
	}
	bt_http_peer_address(call->exchange, &address);
	BT_LOG_INFO(3, "HTTP", BT_LOG_STR("verb", bt_http_method(call->exchange)),
		BT_LOG_STR("URI", target_of(call)),
		BT_LOG_DURATION(
			"latency", bt_loop_now_ns(call->endpoints->options.loop) - call->begun_ns),
		BT_LOG_STR("userAgent", bt_http_header(call->exchange, "User-Agent")),
		BT_LOG_CSTR("audit-ID", ""), BT_LOG_STR("srcIP", bt_strbuf_str(&address)),
		BT_LOG_INT("resp", code));
	bt_strbuf_finish(&address);
}

/** reply: consumed. */
static void answer(struct call *call, struct bt_reply *reply)
{
	stop_waiting(call);
	log_request(call, reply->code);
	bt_http_add_header(call->exchange, "Cache-Control", BT_STR("no-cache, private"));
	for (uint32_t i = 0; i < reply->header_count; i++) {
		bt_http_add_header(call->exchange, reply->headers[i].name, reply->headers[i].value);
	}
	bt_http_answer(call->exchange, reply->code, &reply->body);
}

/** --- verdicts --- */

static void answer_forbidden(struct call *call, struct bt_str reason)
{
	struct bt_page_request request = request_of(call);
	struct bt_reply reply = {.code = 0};
	struct bt_strbuf message = {0};
	bt_strbuf_append_c(&message, "forbidden: User ");
	bt_strbuf_append_quoted(&message, call->caller.name);
	bt_strbuf_printf(&message, " cannot %s path ", bt_strbuf_c(&call->verb));
	bt_strbuf_append_quoted(&message, bt_strbuf_str(&call->path));
	if (reason.length != 0) {
		bt_strbuf_append_c(&message, ": ");
		bt_strbuf_append_str(&message, reason);
	}
	bt_reply_status(&reply, &request, 403, "Forbidden", bt_strbuf_str(&message), true);
	bt_strbuf_finish(&message);
	answer(call, &reply);
}

static void answer_failure(struct call *call, struct bt_str error)
{
	struct bt_reply reply = {.code = 0};
	struct bt_strbuf text = {0};
	bt_strbuf_append_quoted(&text, target_of(call));
	bt_strbuf_append_c(&text, ": ");
	bt_strbuf_append_str(&text, error);
	bt_reply_plain(&reply, 500);
	bt_strbuf_append_c(&reply.body, "Internal Server Error: ");
	bt_html_escape(bt_strbuf_str(&text), false, &reply.body);
	bt_strbuf_append_char(&reply.body, '\n');
	bt_strbuf_finish(&text);
	answer(call, &reply);
}

static void answer_page(struct call *call)
{
	struct bt_page_request request = request_of(call);
	struct bt_reply reply = {.code = 0};
	bt_pages_answer(call->endpoints->pages, &request, bt_clock_wall_ns(), &reply);
	answer(call, &reply);
}

static void on_authorized(void *context, enum bt_verdict verdict, struct bt_str text)
{
	struct call *call = context;
	switch (verdict) {
	case BT_VERDICT_ALLOWED:
		answer_page(call);
		break;
	case BT_VERDICT_DENIED:
		answer_forbidden(call, text);
		break;
	case BT_VERDICT_FAILED:
		answer_failure(call, text);
		break;
	}
}

static void on_authenticated(void *context, bool is_known)
{
	struct call *call = context;
	if (!is_known) {
		struct bt_page_request request = request_of(call);
		struct bt_reply reply = {.code = 0};
		bt_reply_status(
			&reply, &request, 401, "Unauthorized", BT_STR("Unauthorized"), false);
		answer(call, &reply);
		return;
	}
	bt_authorize(call->endpoints->authorizer, &call->caller, bt_strbuf_str(&call->verb),
		bt_strbuf_str(&call->path), &call->arena, &call->authorization);
}

/** --- requests --- */

static struct call *begin(struct bt_endpoints *endpoints, struct bt_http_exchange *exchange)
{
	struct call *call = BT_NEW(struct call);
	call->endpoints = endpoints;
	call->exchange = exchange;
	call->begun_ns = bt_loop_now_ns(endpoints->options.loop);
	bt_arena_init(&call->arena, 512);
	bt_strbuf_append_lower(&call->verb, bt_http_method(exchange));
	call->authentication.context = call;
	call->authentication.done = on_authenticated;
	call->authentication.caller = &call->caller;
	call->authentication.arena = &call->arena;
	call->authorization.context = call;
	call->authorization.done = on_authorized;
	bt_http_set_data(exchange, call);
	return call;
}

static void refuse(struct call *call, uint16_t code, const char *text)
{
	struct bt_reply reply = {.code = 0};
	bt_reply_error(&reply, code, "%s", text);
	answer(call, &reply);
}

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	struct bt_endpoints *endpoints = context;
	struct call *call = begin(endpoints, exchange);
	if (!bt_http_percent_decode(bt_http_path(exchange), false, &call->path)) {
		refuse(call, 400, "400 Bad Request");
		return;
	}
	if (endpoints->waiting >= BT_ENDPOINTS_WAITING_MAX) {
		bt_http_add_header(exchange, "Retry-After", BT_STR("1"));
		refuse(call, 429, "Too many requests, please try again later.");
		return;
	}
	call->is_waiting = true;
	endpoints->waiting++;
	bt_authenticate(endpoints->authenticator, exchange, bt_clock_wall_ns() / BT_NS_PER_SECOND,
		&call->authentication);
}

static void on_too_large(void *context, struct bt_http_exchange *exchange)
{
	refuse(begin(context, exchange), 413, "http: request body too large");
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	struct call *call = bt_http_data(exchange);
	(void)context; /* the call knows */
	stop_waiting(call);
	bt_authentication_finish(&call->authentication);
	bt_authorization_cancel(&call->authorization);
	bt_caller_finish(&call->caller);
	bt_strbuf_finish(&call->path);
	bt_strbuf_finish(&call->verb);
	bt_arena_finish(&call->arena);
	bt_free(call);
}

struct bt_http_handler bt_endpoints_handler(struct bt_endpoints *endpoints)
{
	return (struct bt_http_handler){
		.context = endpoints,
		.request = on_request,
		.too_large = on_too_large,
		.closed = on_closed,
	};
}

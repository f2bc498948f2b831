/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/endpoints.h"

#include <gnutls/crypto.h>

#include "base/log.h"
#include "base/nanoseconds.h"
#include "daemon/access.h"
#include "daemon/pages.h"
#include "daemon/serving_tls.h"
#include "net/clock.h"
#include "net/http_proxy.h"

/** At most this many requests wait for reviews by the API server. */
#define BT_ENDPOINTS_WAITING_MAX 512

struct bt_endpoints {
	struct bt_endpoints_options options;
	struct bt_serving_tls *serving;
	struct bt_trust *trust;
	struct bt_access_rules *access;
	struct bt_pages *pages;
	struct bt_http_server *server;
	const char *host; /* the address to bind to */
	char *listening;  /* owned: "[::]:10259", in log lines */
	uint32_t waiting; /* calls with is_waiting */
	int64_t check_ns; /* when to check the certificate files again, loop time */
	int64_t read_ns;  /* when to read the files even if they look unchanged */
};

/** One request: authentication, authorization, answer. Spec: 11 section 9.1. */

/** A request, from its arrival until the server calls on_closed. */
struct call {
	struct bt_endpoints *endpoints;
	struct bt_http_exchange *exchange;
	struct bt_arena arena;
	struct bt_strbuf path; /* decoded */
	struct bt_strbuf verb; /* the method in lower case */
	struct bt_access_check check;
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

/** Return "/path?query" as the client sent it. */
static struct bt_str target_of(struct call *call)
{
	struct bt_str query = bt_http_query(call->exchange);
	return bt_arena_printf(&call->arena, "%.*s%s%.*s", BT_STR_ARG(bt_http_path(call->exchange)),
		query.length != 0 ? "?" : "", BT_STR_ARG(query));
}

/** Log and answer the request. reply->body is consumed. */
static void answer(struct call *call, struct bt_reply *reply)
{
	stop_waiting(call);
	if (BT_LOG_ENABLED(3)) {
		struct bt_strbuf address = {0};
		int64_t now_ns = bt_loop_now_ns(call->endpoints->options.loop);
		bt_http_peer_address(call->exchange, &address);
		BT_LOG_INFO(3, "HTTP", BT_LOG_STR("verb", bt_http_method(call->exchange)),
			BT_LOG_STR("URI", target_of(call)),
			BT_LOG_DURATION("latency", now_ns - call->begun_ns),
			BT_LOG_STR("userAgent", bt_http_header(call->exchange, "User-Agent")),
			BT_LOG_CSTR("audit-ID", ""), BT_LOG_STR("srcIP", bt_strbuf_str(&address)),
			BT_LOG_INT("resp", reply->code));
		bt_strbuf_finish(&address);
	}
	bt_http_add_header(call->exchange, "Cache-Control", BT_STR("no-cache, private"));
	for (uint32_t i = 0; i < reply->header_count; i++) {
		bt_http_add_header(call->exchange, reply->headers[i].name, reply->headers[i].value);
	}
	bt_http_answer(call->exchange, reply->code, &reply->body);
}

static void on_checked(void *context, enum bt_verdict verdict, struct bt_str text)
{
	struct call *call = context;
	struct bt_page_request request = {
		.method = bt_http_method(call->exchange),
		.path = bt_strbuf_str(&call->path),
		.query = bt_http_query(call->exchange),
		.accept = bt_http_header(call->exchange, "Accept"),
		.accept_encoding = bt_http_header(call->exchange, "Accept-Encoding"),
		.user_agent = bt_http_header(call->exchange, "User-Agent"),
		.body = bt_http_body(call->exchange),
		.arena = &call->arena,
	};
	struct bt_reply reply = {.code = 0};
	struct bt_strbuf message = {0};
	switch (verdict) {
	case BT_VERDICT_UNKNOWN:
		bt_reply_status(
			&reply, &request, 401, "Unauthorized", BT_STR("Unauthorized"), false);
		break;
	case BT_VERDICT_ALLOWED:
		bt_pages_answer(call->endpoints->pages, &request, bt_clock_wall_ns(), &reply);
		break;
	case BT_VERDICT_DENIED:
		bt_strbuf_append_c(&message, "forbidden: User ");
		bt_strbuf_append_quoted(&message, call->check.caller.name);
		bt_strbuf_printf(&message, " cannot %s path ", bt_strbuf_c(&call->verb));
		bt_strbuf_append_quoted(&message, bt_strbuf_str(&call->path));
		if (text.length != 0) {
			bt_strbuf_append_c(&message, ": ");
			bt_strbuf_append_str(&message, text);
		}
		bt_reply_status(&reply, &request, 403, "Forbidden", bt_strbuf_str(&message), true);
		break;
	case BT_VERDICT_FAILED:
		bt_strbuf_append_quoted(&message, target_of(call));
		bt_strbuf_append_c(&message, ": ");
		bt_strbuf_append_str(&message, text);
		bt_reply_plain(&reply, 500);
		bt_strbuf_append_c(&reply.body, "Internal Server Error: ");
		bt_html_escape(bt_strbuf_str(&message), false, &reply.body);
		bt_strbuf_append_char(&reply.body, '\n');
		break;
	}
	bt_strbuf_finish(&message);
	answer(call, &reply);
}

static struct call *begin(struct bt_endpoints *endpoints, struct bt_http_exchange *exchange)
{
	struct call *call = BT_NEW(struct call);
	call->endpoints = endpoints;
	call->exchange = exchange;
	call->begun_ns = bt_loop_now_ns(endpoints->options.loop);
	bt_arena_init(&call->arena, 512);
	bt_strbuf_append_lower(&call->verb, bt_http_method(exchange));
	call->check.context = call;
	call->check.done = on_checked;
	call->check.verb = bt_strbuf_str(&call->verb);
	call->check.arena = &call->arena;
	bt_http_set_data(exchange, call);
	return call;
}

static void reply_error(struct call *call, uint16_t code, const char *text)
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
		reply_error(call, 400, "400 Bad Request");
		return;
	}
	if (endpoints->waiting >= BT_ENDPOINTS_WAITING_MAX) {
		bt_http_add_header(exchange, "Retry-After", BT_STR("1"));
		reply_error(call, 429, "Too many requests, please try again later.");
		return;
	}
	call->is_waiting = true;
	endpoints->waiting++;
	call->check.path = bt_strbuf_str(&call->path);
	bt_access_check(
		endpoints->access, exchange, bt_clock_wall_ns() / BT_NS_PER_SECOND, &call->check);
}

static void on_too_large(void *context, struct bt_http_exchange *exchange)
{
	reply_error(begin(context, exchange), 413, "http: request body too large");
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	struct call *call = bt_http_data(exchange);
	(void)context; /* the call has the endpoints */
	stop_waiting(call);
	bt_access_check_finish(&call->check);
	bt_strbuf_finish(&call->path);
	bt_strbuf_finish(&call->verb);
	bt_arena_finish(&call->arena);
	bt_free(call);
}

#define CHECK_EVERY_NS BT_NS_PER_SECOND
#define READ_EVERY_NS (60 * BT_NS_PER_SECOND)
#define SHUTDOWN_NS (5 * BT_NS_PER_SECOND)

/* Requests are small, and every host can connect before authentication: memory limits are tight. */
static const struct bt_http_limits limits = {
	.body_bytes_max = 65536,
	.header_bytes_max = 65536,
	.connections_max = 1024,
	.idle_timeout_seconds = 90,
	.stalled_timeout_seconds = 30,
};

static int64_t reload_certificates(void *context, int64_t now_ns)
{
	struct bt_endpoints *endpoints = context;
	bool has_files = bt_serving_tls_has_files(endpoints->serving) ||
		endpoints->trust->client.path.length != 0 ||
		endpoints->trust->front.path.length != 0;
	bool has_changed = false; /* the server does not have the current certificates yet */
	if (has_files && now_ns >= endpoints->check_ns) {
		bool is_due = now_ns >= endpoints->read_ns;
		endpoints->check_ns = now_ns + CHECK_EVERY_NS;
		endpoints->read_ns = is_due ? now_ns + READ_EVERY_NS : endpoints->read_ns;
		bt_trust_refresh(endpoints->trust, is_due);
		if (bt_serving_tls_refresh(endpoints->serving, is_due)) {
			BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Reloaded serving certificates");
			has_changed = true;
		}
	}
	if (has_changed || endpoints->trust->has_changed) {
		endpoints->trust->has_changed = false;
		struct bt_http_certificates certificates;
		struct bt_strbuf authorities = {0};
		struct berth_error err = BERTH_ERROR_INIT;
		bt_serving_tls_certificates(endpoints->serving, &certificates);
		/* clients choose a certificate by the names of these authorities */
		bt_trust_write_pem(endpoints->trust, &authorities);
		if (bt_http_server_set_certificates(endpoints->server, &certificates,
			    authorities.length != 0 ? bt_strbuf_c(&authorities) : NULL,
			    &err) != 0) {
			BT_LOG_ERROR_PLAIN(berth_error_message(&err),
				"Failed to replace serving certificates");
			berth_error_finish(&err);
		}
		bt_strbuf_finish(&authorities);
	}
	return has_files ? endpoints->check_ns : INT64_MAX;
}

static int listen_on(struct bt_endpoints *endpoints, struct berth_error *err)
{
	const struct bt_serving_options *serving = &endpoints->options.options->serving;
	struct bt_http_server_options options = {
		.address = endpoints->host,
		.port = (uint16_t)serving->secure_port,
		.limits = limits,
		.handler = {.context = endpoints,
			.request = on_request,
			.too_large = on_too_large,
			.closed = on_closed},
		.both_families = true,
		.share_port = serving->permit_port_sharing,
		.serve_later = true,
		.tls = {.cipher_suites = serving->cipher_suites.items,
			.cipher_suite_count = serving->cipher_suites.count,
			.curves = serving->curve_preferences.items,
			.curve_count = serving->curve_preferences.count},
		.ask_client_certificate = true,
	};
	int result = bt_tls_version_parse(serving->min_tls_version, &options.tls.min_version, err);
	if (result != 0) {
		return result;
	}
	bt_serving_tls_certificates(endpoints->serving, &options.certificates);
	result = bt_http_server_create(endpoints->options.loop, &options, &endpoints->server, err);
	if (result != BERTH_ERR_IO) {
		return result;
	}
	struct bt_strbuf address = {0};
	bt_http_url_append_address(&address, bt_str_from(endpoints->host), options.port);
	(void)bt_error_wrap(err, result, "failed to create listener: failed to listen on %s",
		bt_strbuf_c(&address));
	bt_strbuf_finish(&address);
	return result;
}

int bt_endpoints_create(const struct bt_endpoints_options *options,
	struct bt_endpoints **out_endpoints, struct berth_error *err)
{
	struct bt_endpoints *endpoints = BT_NEW(struct bt_endpoints);
	struct bt_str host = options->options->serving.bind_address;
	int64_t now_ns = bt_loop_now_ns(options->loop);
	uint64_t seed = 0;
	BT_ASSERT(options->options->serving.secure_port > 0);
	(void)gnutls_rnd(GNUTLS_RND_NONCE, &seed, sizeof(seed)); /* no secret depends on the seed */
	endpoints->options = *options;
	endpoints->serving = options->serving;
	endpoints->host = host.length != 0 ? host.data : "0.0.0.0";
	endpoints->check_ns = now_ns + CHECK_EVERY_NS;
	endpoints->read_ns = now_ns + READ_EVERY_NS;
	int result = 0;
	if (endpoints->serving == NULL) {
		result = bt_serving_tls_create(&options->options->serving,
			bt_clock_wall_ns() / BT_NS_PER_SECOND, &endpoints->serving, err);
	}
	result = result != 0 ? result : listen_on(endpoints, err);
	result = result != 0 ? result
			     : bt_trust_create(&endpoints->options, seed, &endpoints->trust, err);
	result = result != 0 ? result
			     : bt_access_rules_create(&endpoints->options, endpoints->trust,
				       &endpoints->access, err);
	if (result == 0) {
		struct bt_strbuf text = {0};
		bool is_any = strcmp(endpoints->host, "0.0.0.0") == 0;
		bt_http_url_append_address(&text, bt_str_from(is_any ? "::" : endpoints->host),
			bt_http_server_port(endpoints->server));
		endpoints->listening = bt_strbuf_steal(&text);
		endpoints->pages = bt_pages_create(&endpoints->options, seed);
		result = bt_trust_read_config_map(endpoints->trust, err);
	}
	if (result != 0) {
		bt_endpoints_destroy(endpoints);
		return result;
	}
	*out_endpoints = endpoints;
	return 0;
}

void bt_endpoints_serve(struct bt_endpoints *endpoints)
{
	bt_loop_add_worker(endpoints->options.loop, reload_certificates, endpoints);
	bt_http_server_serve(endpoints->server);
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Serving securely on %s", endpoints->listening);
}

void bt_endpoints_shut_down(struct bt_endpoints *endpoints)
{
	struct bt_loop *loop = endpoints->options.loop;
	struct berth_error err = BERTH_ERROR_INIT;
	int64_t end_ns = bt_loop_now_ns(loop) + SHUTDOWN_NS;
	bt_http_server_stop_listening(endpoints->server);
	BT_LOG_TEXT(
		BT_LOG_SEVERITY_INFO, "[graceful-termination] secure server has stopped listening");
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "Stopped listening on %s", endpoints->listening);
	while (bt_http_server_open_count(endpoints->server) != 0) {
		int64_t left_ns = end_ns - bt_loop_now_ns(loop);
		if (left_ns <= 0 || bt_loop_turn(loop, left_ns, &err) != 0) {
			break;
		}
	}
	berth_error_finish(&err);
	BT_LOG_TEXT(BT_LOG_SEVERITY_INFO, "[graceful-termination] secure server is exiting");
}

void bt_endpoints_destroy(struct bt_endpoints *endpoints)
{
	if (endpoints == NULL) {
		return;
	}
	bt_loop_remove_worker(endpoints->options.loop, endpoints);
	bt_http_server_destroy(endpoints->server);
	bt_access_rules_destroy(endpoints->access);
	bt_trust_destroy(endpoints->trust);
	bt_pages_destroy(endpoints->pages);
	bt_serving_tls_destroy(endpoints->serving);
	bt_free(endpoints->listening);
	bt_free(endpoints);
}

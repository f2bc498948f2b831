/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pages.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/log.h"
#include "codec/json.h"
#include "daemon/klog.h"
#include "net/http_server.h"

void bt_reply_add_header(struct bt_reply *reply, const char *name, struct bt_str value)
{
	BT_ASSERT(reply->header_count < BT_REPLY_HEADERS_MAX);
	reply->headers[reply->header_count++] = (struct bt_reply_header){name, value};
}

static void set_type(struct bt_reply *reply, uint16_t code, struct bt_str content_type)
{
	reply->code = code;
	bt_reply_add_header(reply, "Content-Type", content_type);
	bt_reply_add_header(reply, "X-Content-Type-Options", BT_STR("nosniff"));
}

void bt_reply_plain(struct bt_reply *reply, uint16_t code)
{
	set_type(reply, code, BT_STR("text/plain; charset=utf-8"));
}

void bt_reply_error(struct bt_reply *reply, uint16_t code, const char *format, ...)
{
	va_list arguments;
	bt_reply_plain(reply, code);
	va_start(arguments, format);
	bt_strbuf_vprintf(&reply->body, format, arguments);
	va_end(arguments);
	bt_strbuf_append_char(&reply->body, '\n');
}

void bt_reply_status(struct bt_reply *reply, const struct bt_page_request *request, uint16_t code,
	const char *reason, struct bt_str message, bool with_details)
{
	struct bt_json_writer writer;
	/* Indent the JSON for interactive clients. */
	static const char *const agents[] = {"curl", "Wget", "Mozilla/5.0"};
	bool is_pretty = false;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(agents); i++) {
		is_pretty =
			is_pretty || bt_str_has_prefix(request->user_agent, bt_str_from(agents[i]));
	}
	struct bt_str query = request->query;
	struct bt_str name;
	struct bt_str value;
	while (bt_http_query_next(&query, request->arena, &name, &value)) {
		if (bt_str_equal(name, BT_STR("pretty"))) {
			is_pretty = bt_str_equal(value, BT_STR("true")) ||
				bt_str_equal(value, BT_STR("1"));
		}
	}
	set_type(reply, code, BT_STR("application/json"));
	bt_json_writer_init(&writer, &reply->body, is_pretty ? 2 : 0);
	bt_json_write(&writer,
		"{kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message: %s, "
		"reason: %c",
		message, reason);
	bt_json_write(
		&writer, with_details ? "details: {}, code: %d}" : "code: %d}", (int64_t)code);
	bt_strbuf_append_char(&reply->body, '\n');
}

void bt_html_escape(struct bt_str text, bool with_quotes, struct bt_strbuf *out)
{
	static const struct {
		char byte;
		const char *entity;
	} entities[] = {
		{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&#34;"}, {'\'', "&#39;"}};
	size_t count = with_quotes ? BT_ARRAY_LENGTH(entities) : 3;
	for (uint32_t i = 0; i < text.length; i++) {
		size_t at = 0;
		while (at < count && entities[at].byte != text.data[i]) {
			at++;
		}
		if (at < count) {
			bt_strbuf_append_c(out, entities[at].entity);
		} else {
			bt_strbuf_append_char(out, text.data[i]);
		}
	}
}

/* Health checks. Spec: 11 section 9.5. */
struct bt_health {
	const char *name;               /* "healthz" */
	struct bt_health_check *checks; /* owned */
	uint32_t check_count;
	struct bt_metric *gauge;   /* labels name and type */
	struct bt_metric *counter; /* labels name, type and status */
};

/** At most this many names of ?exclude= are used; further names are ignored. */
#define EXCLUDED_MAX 64

static const struct bt_metric_description health_gauge = {
	.name = "kubernetes_healthcheck",
	.help = "This metric records the result of a single healthcheck.",
	.type = BT_METRIC_GAUGE,
	.stability = BT_METRIC_STABLE,
	.labels = {"name", "type"},
};

static const struct bt_metric_description health_counter = {
	.name = "kubernetes_healthchecks_total",
	.help = "This metric records the results of all healthcheck.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_STABLE,
	.labels = {"name", "type", "status"},
};

/** Checks are copied. slis: the registry for the results (/metrics/slis). */
static void health_init(struct bt_health *health, const char *name,
	const struct bt_health_check *checks, uint32_t count, struct bt_metrics *slis)
{
	*health = (struct bt_health){.name = name, .check_count = count};
	health->checks = BT_NEW_ARRAY(struct bt_health_check, count);
	if (count != 0) {
		memcpy(health->checks, checks, count * sizeof(*checks));
	}
	health->gauge = bt_metrics_register(slis, &health_gauge);
	health->counter = bt_metrics_register(slis, &health_counter);
}

struct parameters {
	bool is_verbose;
	struct bt_str excluded[EXCLUDED_MAX]; /* sorted, each once */
	uint32_t excluded_count;
};

static void take_parameter(struct parameters *parameters, struct bt_str name, struct bt_str value)
{
	if (bt_str_equal(name, BT_STR("verbose"))) {
		parameters->is_verbose = true;
	}
	if (!bt_str_equal(name, BT_STR("exclude")) || parameters->excluded_count == EXCLUDED_MAX) {
		return;
	}
	uint32_t at = parameters->excluded_count;
	if (bt_str_is_among(value, parameters->excluded, at)) {
		return;
	}
	for (; at > 0 && bt_str_compare(parameters->excluded[at - 1], value) > 0; at--) {
		parameters->excluded[at] = parameters->excluded[at - 1];
	}
	parameters->excluded[at] = value;
	parameters->excluded_count++;
}

static void count(const struct bt_health *health, const struct bt_health_check *check, bool is_good)
{
	struct bt_str labels[] = {
		bt_str_from(check->name),
		bt_str_from(health->name),
		is_good ? BT_STR("success") : BT_STR("error"),
	};
	bt_metric_set(bt_metric_cell(health->gauge, labels), is_good ? 1 : 0);
	bt_metric_add(bt_metric_cell(health->counter, labels), 1);
}

/** Run all checks except those that ?exclude= names. With ?verbose the reply shows each result. */
static void health_answer(const struct bt_health *health, const struct bt_page_request *request,
	struct bt_reply *reply)
{
	struct parameters parameters = {.is_verbose = false};
	struct bt_strbuf lines = {0};
	struct bt_strbuf failed_names = {0};
	struct bt_strbuf failed_lines = {0};
	struct bt_strbuf error = {0};
	struct bt_str query = request->query;
	struct bt_str name;
	struct bt_str value;
	while (bt_http_query_next(&query, request->arena, &name, &value)) {
		take_parameter(&parameters, name, value);
	}
	/*
	 * Each check adds a line to `lines`, for the reply. A failed check also adds its name to
	 * `failed_names` and a line with the reason to `failed_lines`; both are for the log.
	 */
	for (uint32_t i = 0; i < health->check_count; i++) {
		const struct bt_health_check *check = &health->checks[i];
		/* What is left of the excluded names after all checks names no check. */
		uint32_t at = 0;
		while (at < parameters.excluded_count &&
			!bt_str_equal_c(parameters.excluded[at], check->name)) {
			at++;
		}
		if (at < parameters.excluded_count) {
			parameters.excluded_count--;
			memmove(&parameters.excluded[at], &parameters.excluded[at + 1],
				(parameters.excluded_count - at) * sizeof(parameters.excluded[0]));
			bt_strbuf_printf(&lines, "[+]%s excluded: ok\n", check->name);
			continue;
		}
		bt_strbuf_reset(&error);
		bool is_good = check->check == NULL || check->check(check->context, &error);
		count(health, check, is_good);
		if (is_good) {
			bt_strbuf_printf(&lines, "[+]%s ok\n", check->name);
			continue;
		}
		bt_strbuf_printf(&lines, "[-]%s failed: reason withheld\n", check->name);
		bt_strbuf_printf(
			&failed_names, "%s%s", failed_names.length != 0 ? "," : "", check->name);
		bt_strbuf_printf(
			&failed_lines, "[-]%s failed: %s\n", check->name, bt_strbuf_c(&error));
	}
	bt_strbuf_finish(&error);
	for (uint32_t i = 0; i < parameters.excluded_count; i++) {
		bt_strbuf_append_c(&lines,
			i != 0 ? ", "
			       : "warn: some health checks cannot be excluded: no matches for ");
		bt_strbuf_append_quoted(&lines, parameters.excluded[i]);
	}
	bt_strbuf_append_c(&lines, parameters.excluded_count != 0 ? "\n" : "");
	if (failed_names.length != 0) {
		if (BT_LOG_ENABLED(2)) {
			bt_log_text(BT_LOG_SEVERITY_INFO, 2, __FILE__, __LINE__,
				"%s check failed: %s\n%s", bt_strbuf_c(&failed_names), health->name,
				bt_strbuf_c(&failed_lines));
		}
		bt_reply_error(reply, 500, "%s%s check failed", bt_strbuf_c(&lines), health->name);
	} else {
		bt_reply_plain(reply, 200);
		if (parameters.is_verbose) {
			bt_strbuf_printf(&reply->body, "%s%s check passed\n", bt_strbuf_c(&lines),
				health->name);
		} else {
			bt_strbuf_append_c(&reply->body, "ok");
		}
	}
	bt_strbuf_finish(&lines);
	bt_strbuf_finish(&failed_names);
	bt_strbuf_finish(&failed_lines);
}

/** /debug/flags and /debug/pprof. Spec: 11 section 9.4. */

static const struct bt_str pprof_index = BT_STR_INIT("/debug/pprof/");

#define VERBOSITY_MAX 1000

/** Answer /debug/...; false: there is no such page. */
static bool debug_answer(const struct bt_page_request *request, struct bt_reply *reply)
{
	struct bt_str path = request->path;
	if (bt_str_equal(path, BT_STR("/debug/flags/v"))) {
		int64_t value = 0;
		struct bt_str text = bt_str_trim(request->body, " \t\r\n");
		if (!bt_str_equal(request->method, BT_STR("PUT"))) {
			bt_reply_plain(reply, 406);
			bt_strbuf_append_c(&reply->body, "unsupported http method");
		} else if (!bt_str_parse_int64(text, &value) || value < -VERBOSITY_MAX ||
			value > VERBOSITY_MAX) {
			bt_reply_plain(reply, 400);
			bt_strbuf_append_c(&reply->body,
				"error setting klog.logging.verbosity: not a number: ");
			bt_strbuf_append_quoted(&reply->body, bt_str_sub(text, 0, 64));
		} else {
			bt_klog_set_verbosity((int)value);
			bt_reply_plain(reply, 200);
			bt_strbuf_printf(&reply->body,
				"successfully set klog.logging.verbosity to %d", (int)value);
		}
		return true;
	}
	if (bt_str_equal(path, BT_STR("/debug/flags")) ||
		bt_str_equal(path, BT_STR("/debug/flags/"))) {
		set_type(reply, 200, BT_STR("text/html; charset=utf-8"));
		bt_strbuf_append_c(&reply->body,
			"<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n"
			"/debug/flags/<br>\n<br>\nflags:<br>\n<table>\n"
			"<tr>\n<td align=right></td>\n<td><a "
			"href=\"/debug/flags/v\">v</a></td>\n</tr>\n"
			"</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n");
		return true;
	}
	if (bt_str_equal(path, BT_STR("/debug/pprof"))) {
		reply->code = 302;
		bt_reply_add_header(reply, "Location", pprof_index);
		if (bt_str_equal(request->method, BT_STR("GET")) ||
			bt_str_equal(request->method, BT_STR("HEAD"))) {
			bt_reply_add_header(
				reply, "Content-Type", BT_STR("text/html; charset=utf-8"));
			bt_strbuf_append_c(
				&reply->body, "<a href=\"/debug/pprof/\">Found</a>.\n\n");
		}
		return true;
	}
	if (bt_str_equal(path, pprof_index)) {
		/*
		 * There is no Go runtime to profile: the tools of the system can profile this
		 * process.
		 */
		bt_reply_plain(reply, 200);
		bt_strbuf_append_c(&reply->body,
			"/debug/pprof/\n\n"
			"berth has no Go runtime, hence no profiles in pprof's format. Instead:\n"
			"  CPU      perf record -g -p <pid>\n"
			"  memory   /metrics: process_resident_memory_bytes, "
			"process_virtual_memory_bytes\n"
			"  time     /metrics: scheduler_scheduling_algorithm_duration_seconds, "
			"scheduler_plugin_execution_duration_seconds\n"
			"  state    SIGUSR2 writes cache and queue to the log\n"
			"  log      PUT /debug/flags/v\n");
		return true;
	}
	if (bt_str_has_prefix(path, pprof_index)) {
		bt_reply_error(reply, 404, "Unknown profile: berth has no Go runtime; see %s",
			pprof_index.data);
		return true;
	}
	return false;
}

struct bt_pages {
	const struct bt_endpoints_options *options;
	struct bt_metrics *slis;
	struct bt_health healthz;
	struct bt_health livez;
	struct bt_health readyz;
	struct bt_zpage_facts facts;
};

static bool accepts_openmetrics(struct bt_str header)
{
	struct bt_accept accept;
	bool wanted = false;
	bt_accept_parse(&accept, header, true);
	for (uint32_t i = 0; i < accept.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		struct bt_str version = bt_accept_parameter(clause, "version");
		if (clause->quality == 0) {
			break;
		}
		if (bt_str_equal(clause->type, BT_STR("application/openmetrics-text")) &&
			(version.length == 0 || bt_str_equal(version, BT_STR("1.0.0")) ||
				bt_str_equal(version, BT_STR("0.0.1")))) {
			wanted = true;
			break;
		}
		if (bt_str_equal(clause->type, BT_STR("text/plain")) &&
			(version.length == 0 || bt_str_equal(version, BT_STR("0.0.4")))) {
			break;
		}
	}
	return wanted;
}

/** Compress with gzip; false: the body is unchanged. */
static bool compress_body(struct bt_strbuf *body)
{
	struct bt_strbuf out = {0};
	z_stream stream = {.next_in = (Bytef *)body->data, .avail_in = (uInt)body->length};
	/* 15 + 16: maximum window, gzip header. Level 3: fast, because each body is sent once. */
	if (body->length > UINT32_MAX / 2 ||
		deflateInit2(&stream, 3, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		return false;
	}
	uLong bound = deflateBound(&stream, (uLong)body->length);
	bt_strbuf_reserve(&out, bound);
	stream.next_out = (Bytef *)out.data;
	stream.avail_out = (uInt)bound;
	bool is_complete = deflate(&stream, Z_FINISH) == Z_STREAM_END;
	out.length = stream.total_out;
	(void)deflateEnd(&stream); /* fails only if the output is incomplete */
	if (!is_complete) {
		bt_strbuf_finish(&out);
		return false;
	}
	bt_strbuf_finish(body);
	*body = out;
	return true;
}

/**
 * Set code and Content-Type of a metrics reply; compress the body if the client accepts gzip.
 * is_open: the body is OpenMetrics.
 */
static void finish_metrics(
	const struct bt_page_request *request, bool is_open, struct bt_reply *reply)
{
	reply->code = 200;
	bt_reply_add_header(reply, "Content-Type",
		is_open ? BT_STR("application/openmetrics-text; version=1.0.0; charset=utf-8")
			: BT_STR("text/plain; version=0.0.4; charset=utf-8"));
	struct bt_accept accept;
	bool is_gzip = false;
	bt_accept_parse(&accept, request->accept_encoding, true);
	for (uint32_t i = 0; i < accept.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses[i];
		if (bt_str_equal_without_case(clause->type, BT_STR("gzip"))) {
			is_gzip = clause->quality != 0;
		}
	}
	if (reply->body.length != 0 && is_gzip && compress_body(&reply->body)) {
		bt_reply_add_header(reply, "Content-Encoding", BT_STR("gzip"));
	}
}

static void answer_registry(
	const struct bt_page_request *request, struct bt_metrics *metrics, struct bt_reply *reply)
{
	bool is_open = accepts_openmetrics(request->accept);
	bt_metrics_write(metrics, is_open ? BT_METRICS_OPENMETRICS : BT_METRICS_TEXT, &reply->body);
	finish_metrics(request, is_open, reply);
}

/** Answer "/healthz" or "/healthz/<check>"; false for other paths and unknown checks. */
static bool answer_health(const struct bt_health *health, const struct bt_page_request *request,
	struct bt_reply *reply)
{
	struct bt_str path = request->path;
	struct bt_str name = bt_str_from(health->name);
	if (!bt_str_has_prefix(path, BT_STR("/"))) {
		return false;
	}
	path = bt_str_sub(path, 1, path.length);
	if (!bt_str_has_prefix(path, name)) {
		return false;
	}
	if (path.length == name.length) {
		health_answer(health, request, reply);
		return true;
	}
	if (path.data[name.length] != '/') {
		return false;
	}
	struct bt_str wanted = bt_str_sub(path, name.length + 1, path.length);
	uint32_t i = 0;
	while (i < health->check_count && !bt_str_equal_c(wanted, health->checks[i].name)) {
		i++;
	}
	if (i == health->check_count) {
		return false;
	}
	const struct bt_health_check *check = &health->checks[i];
	struct bt_strbuf error = {0};
	if (check->check == NULL || check->check(check->context, &error)) {
		bt_reply_plain(reply, 200);
		bt_strbuf_append_c(&reply->body, "ok");
	} else {
		bt_reply_error(reply, 500, "internal server error: %s", bt_strbuf_c(&error));
	}
	bt_strbuf_finish(&error);
	return true;
}

void bt_pages_answer(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply)
{
	const struct bt_endpoints_options *options = pages->options;
	const struct bt_gates *gates = &options->options->gates;
	if (bt_str_equal(request->path, BT_STR("/configz"))) {
		set_type(reply, 200, BT_STR("application/json"));
		bt_strbuf_append_c(&reply->body, "{\"componentconfig\":");
		options->write_config(options->context, &reply->body);
		bt_strbuf_append_char(&reply->body, '}');
		return;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics"))) {
		if (bt_str_equal(request->method, BT_STR("DELETE"))) {
			bt_metrics_reset(options->metrics);
			bt_reply_plain(reply, 200);
			bt_strbuf_append_c(&reply->body, "metrics reset\n");
		} else {
			answer_registry(request, options->metrics, reply);
		}
		return;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics/resources"))) {
		if (options->write_pod_resources != NULL) {
			options->write_pod_resources(options->context, &reply->body);
		}
		finish_metrics(request, false, reply);
		return;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics/slis"))) {
		answer_registry(request, pages->slis, reply);
		return;
	}
	if (bt_str_equal(request->path, BT_STR("/flagz")) &&
		bt_gate_enabled(gates, BT_GATE_COMPONENT_FLAGZ)) {
		bt_flagz_answer(&pages->facts, request, reply);
		return;
	}
	if (bt_str_equal(request->path, BT_STR("/statusz")) &&
		bt_gate_enabled(gates, BT_GATE_COMPONENT_STATUSZ)) {
		bt_statusz_answer(&pages->facts, request, wall_now_ns, reply);
		return;
	}
	if (!answer_health(&pages->healthz, request, reply) &&
		!answer_health(&pages->livez, request, reply) &&
		!answer_health(&pages->readyz, request, reply) &&
		!(options->enable_profiling && debug_answer(request, reply))) {
		bt_reply_error(reply, 404, "404 page not found");
	}
}

struct bt_pages *bt_pages_create(const struct bt_endpoints_options *options, uint64_t seed)
{
	struct bt_pages *pages = BT_NEW(struct bt_pages);
	pages->options = options;
	pages->slis = bt_metrics_create_bare();
	health_init(
		&pages->healthz, "healthz", options->healthz, options->healthz_count, pages->slis);
	health_init(&pages->livez, "livez", options->livez, options->livez_count, pages->slis);
	health_init(&pages->readyz, "readyz", options->readyz, options->readyz_count, pages->slis);
	pages->facts.options = options->options;
	pages->facts.started_ns = options->started_ns;
	bt_prng_init(&pages->facts.prng, seed);
	return pages;
}

void bt_pages_destroy(struct bt_pages *pages)
{
	if (pages == NULL) {
		return;
	}
	bt_free(pages->healthz.checks);
	bt_free(pages->livez.checks);
	bt_free(pages->readyz.checks);
	bt_strbuf_finish(&pages->facts.flagz);
	bt_metrics_destroy(pages->slis);
	bt_free(pages);
}

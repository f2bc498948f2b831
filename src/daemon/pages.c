/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/pages.h"

#include <stdlib.h>
#include <zlib.h>

struct bt_pages {
	const struct bt_endpoints_options *options;
	struct bt_metrics *slis;
	struct bt_health healthz;
	struct bt_health livez;
	struct bt_health readyz;
	struct bt_zpage_facts facts;
};

/** --- metrics --- */

static bool wants_openmetrics(struct bt_str header)
{
	struct bt_accept accept = {0};
	bool wanted = false;
	bt_accept_parse(&accept, header);
	for (uint32_t i = 0; i < accept.clauses.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses.items[i];
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
	bt_accept_finish(&accept);
	return wanted;
}

static bool wants_gzip(struct bt_str header)
{
	struct bt_accept accept = {0};
	bool wanted = false;
	bt_accept_parse(&accept, header);
	for (uint32_t i = 0; i < accept.clauses.count; i++) {
		const struct bt_accept_clause *clause = &accept.clauses.items[i];
		if (bt_str_equal_without_case(clause->type, BT_STR("gzip"))) {
			wanted = clause->quality != 0;
		}
	}
	bt_accept_finish(&accept);
	return wanted;
}

/** false: it stays as it is. */
static bool compress_body(struct bt_strbuf *body)
{
	struct bt_strbuf out = {0};
	z_stream stream = {.next_in = (Bytef *)body->data, .avail_in = (uInt)body->length};
	/* 16: a gzip header; a low level, for the text is made often and thrown away */
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
	(void)deflateEnd(&stream); /* nothing is left in it */
	if (!is_complete) {
		bt_strbuf_finish(&out);
		return false;
	}
	bt_strbuf_finish(body);
	*body = out;
	return true;
}

/** The end of all of them: compressed for who likes that. */
static void finish_metrics(
	const struct bt_page_request *request, bool is_open, struct bt_reply *reply)
{
	reply->code = 200;
	bt_reply_add_header(reply, "Content-Type",
		is_open ? BT_STR("application/openmetrics-text; version=1.0.0; charset=utf-8")
			: BT_STR("text/plain; version=0.0.4; charset=utf-8"));
	if (reply->body.length != 0 && wants_gzip(request->accept_encoding) &&
		compress_body(&reply->body)) {
		bt_reply_add_header(reply, "Content-Encoding", BT_STR("gzip"));
	}
}

static void answer_registry(
	const struct bt_page_request *request, struct bt_metrics *metrics, struct bt_reply *reply)
{
	bool is_open = wants_openmetrics(request->accept);
	bt_metrics_write(metrics, is_open ? BT_METRICS_OPENMETRICS : BT_METRICS_TEXT, &reply->body);
	finish_metrics(request, is_open, reply);
}

static void answer_metrics(
	struct bt_pages *pages, const struct bt_page_request *request, struct bt_reply *reply)
{
	if (bt_str_equal(request->method, BT_STR("DELETE"))) {
		bt_metrics_reset(pages->options->metrics);
		bt_reply_plain(reply, 200);
		bt_strbuf_append_c(&reply->body, "metrics reset\n");
		return;
	}
	answer_registry(request, pages->options->metrics, reply);
}

/** --- the rest --- */

/** "/healthz" or "/healthz/<check>"; false: neither. */
static bool answer_health(const struct bt_health *health, const struct bt_page_request *request,
	struct bt_reply *reply)
{
	struct bt_str path = bt_str_sub(request->path, 1, request->path.length);
	struct bt_str name = bt_str_from(health->name);
	if (!bt_str_has_prefix(path, name)) {
		return false;
	}
	if (path.length == name.length) {
		bt_health_answer(health, request, reply);
		return true;
	}
	return path.data[name.length] == '/' &&
		bt_health_answer_one(health, bt_str_sub(path, name.length + 1, path.length), reply);
}

static bool answer_z_page(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply)
{
	const struct bt_gates *gates = &pages->options->options->gates;
	if (bt_str_equal(request->path, BT_STR("/flagz")) &&
		bt_gate_enabled(gates, BT_GATE_COMPONENT_FLAGZ)) {
		bt_flagz_answer(&pages->facts, request, reply);
		return true;
	}
	if (bt_str_equal(request->path, BT_STR("/statusz")) &&
		bt_gate_enabled(gates, BT_GATE_COMPONENT_STATUSZ)) {
		bt_statusz_answer(&pages->facts, request, wall_now_ns, reply);
		return true;
	}
	return false;
}

static bool answer_known(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply)
{
	const struct bt_endpoints_options *options = pages->options;
	if (bt_str_equal(request->path, BT_STR("/configz"))) {
		reply->code = 200;
		bt_reply_add_header(reply, "Content-Type", BT_STR("application/json"));
		bt_reply_add_header(reply, "X-Content-Type-Options", BT_STR("nosniff"));
		bt_strbuf_append_c(&reply->body, "{\"componentconfig\":");
		pages->options->write_config(pages->options->context, &reply->body);
		bt_strbuf_append_char(&reply->body, '}');
		return true;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics"))) {
		answer_metrics(pages, request, reply);
		return true;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics/resources"))) {
		if (options->write_pod_resources != NULL) {
			options->write_pod_resources(options->context, &reply->body);
		}
		finish_metrics(request, false, reply);
		return true;
	}
	if (bt_str_equal(request->path, BT_STR("/metrics/slis"))) {
		answer_registry(request, pages->slis, reply);
		return true;
	}
	return answer_health(&pages->healthz, request, reply) ||
		answer_health(&pages->livez, request, reply) ||
		answer_health(&pages->readyz, request, reply) ||
		answer_z_page(pages, request, wall_now_ns, reply) ||
		(options->enable_profiling && bt_debug_answer(request, reply));
}

void bt_pages_answer(struct bt_pages *pages, const struct bt_page_request *request,
	int64_t wall_now_ns, struct bt_reply *reply)
{
	if (!bt_str_has_prefix(request->path, BT_STR("/")) ||
		!answer_known(pages, request, wall_now_ns, reply)) {
		bt_reply_not_found(reply);
	}
}

struct bt_pages *bt_pages_create(const struct bt_endpoints_options *options, uint64_t seed)
{
	struct bt_pages *pages = BT_NEW(struct bt_pages);
	pages->options = options;
	pages->slis = bt_metrics_create_bare();
	bt_health_init(
		&pages->healthz, "healthz", options->healthz, options->healthz_count, pages->slis);
	bt_health_init(&pages->livez, "livez", options->livez, options->livez_count, pages->slis);
	bt_health_init(
		&pages->readyz, "readyz", options->readyz, options->readyz_count, pages->slis);
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
	bt_health_finish(&pages->healthz);
	bt_health_finish(&pages->livez);
	bt_health_finish(&pages->readyz);
	bt_strbuf_finish(&pages->facts.flagz);
	bt_metrics_destroy(pages->slis);
	bt_free(pages);
}

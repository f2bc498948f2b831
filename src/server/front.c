/* SPDX-License-Identifier: Apache-2.0 */
#include "server/front.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/assert.h"
#include "base/links.h"
#include "server/front_private.h"
/** --- answers; they are held while the store has changes that are not durable --- */

#define PLAIN_TEXT "text/plain; charset=utf-8"

struct bt_str bt_front_find_header(const struct bt_front_call *call, const char *name)
{
	return call->front->wire->header(call->exchange, name);
}

void bt_front_header(struct bt_front_call *call, const char *name, struct bt_str value)
{
	call->front->wire->add_header(call->exchange, name, value);
}

/** Adds the headers that most answers have. content_type NULL: there is no body. */
static void add_headers(struct bt_front_call *call, const char *content_type)
{
	struct bt_strbuf text = {0};
	uint64_t high = bt_prng_next(&call->front->prng);
	bt_strbuf_append_uuid(&text, high, bt_prng_next(&call->front->prng));
	bt_front_header(call, "Audit-Id", bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	if (content_type != NULL) {
		bt_front_header(call, "Content-Type", bt_str_from(content_type));
	}
}

static void add_cache_control(struct bt_front_call *call)
{
	const char *value = call->cache_control;
	bt_front_header(call, "Cache-Control",
		value != NULL ? bt_str_from(value) : BT_STR("no-cache, private"));
}

static void send_answer(struct bt_front_call *call)
{
	call->answered = true;
	call->answered_ns = bt_loop_now_ns(call->front->loop);
	call->front->wire->answer(call->exchange, call->code, &call->body);
}

void bt_front_send(struct bt_front_call *call, uint16_t code, const char *content_type)
{
	struct bt_front *front = call->front;
	BT_ASSERT(!call->answered && !call->is_held);
	add_headers(call, content_type);
	add_cache_control(call);
	call->code = code;
	if (front->failed || !bt_store_needs_sync(bt_api_store(front->api))) {
		send_answer(call);
		return;
	}
	call->is_held = true;
	BT_LIST_APPEND(front->held, front->held_last, call, previous, next);
}

static void discard_held(struct bt_front_call *call)
{
	struct bt_front *front = call->front;
	if (!call->is_held) {
		return;
	}
	call->is_held = false;
	BT_LIST_REMOVE(front->held, front->held_last, call, previous, next);
}

/** Sends the held answers; `failure` not NULL: sends the failure in place of each answer. */
static void release_held(struct bt_front *front, const struct bt_failure *failure)
{
	while (front->held != NULL) {
		struct bt_front_call *call = front->held;
		discard_held(call);
		if (failure != NULL) {
			/* The headers, such as Content-Type, stay those of the replaced answer. */
			bt_strbuf_reset(&call->body);
			call->code = failure->code;
			(void)bt_encode_document(&call->encoding,
				bt_failure_document(failure, &call->arena), &call->body);
		}
		send_answer(call);
	}
}

void bt_front_send_text(struct bt_front_call *call, uint16_t code, const char *text)
{
	bt_strbuf_append_c(&call->body, text);
	bt_front_header(call, "X-Content-Type-Options", BT_STR("nosniff"));
	bt_front_send(call, code, PLAIN_TEXT);
}

void bt_front_send_document(
	struct bt_front_call *call, uint16_t code, const struct bt_json_value *document)
{
	enum bt_media media = bt_encode_document(&call->encoding, document, &call->body);
	bt_front_send(call, code, bt_media_content_type(media, false));
}

void bt_front_send_failure(struct bt_front_call *call)
{
	const struct bt_failure *failure = &call->failure;
	BT_ASSERT(failure->code != 0);
	if (failure->retry_after_seconds != 0 && !failure->retry_only_in_details) {
		bt_front_header(call, "Retry-After",
			bt_arena_printf(&call->arena, "%d", (int)failure->retry_after_seconds));
	}
	bt_front_send_document(call, failure->code, bt_failure_document(failure, &call->arena));
}

bool bt_front_fail(
	struct bt_front_call *call, uint16_t code, const char *reason, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	call->failure = (struct bt_failure){.code = code,
		.reason = reason,
		.message = bt_failure_vprintf(&call->arena, format, arguments)};
	va_end(arguments);
	return false;
}

void bt_front_send_stream(
	struct bt_front_call *call, const char *content_type, const struct bt_http_stream *stream)
{
	BT_ASSERT(!call->answered && !call->is_held);
	add_headers(call, content_type);
	add_cache_control(call);
	call->answered = true;
	call->front->wire->answer_stream(call->exchange, 200, stream);
}

void bt_front_send_websocket(
	struct bt_front_call *call, const char *protocol, const struct bt_http_stream *stream)
{
	BT_ASSERT(!call->answered && !call->is_held);
	add_headers(call, NULL);
	call->answered = true;
	call->front->wire->answer_websocket(call->exchange, protocol, stream);
}

bool bt_front_refuse_further(struct bt_front_call *call)
{
	if (bt_watchers_count(call->front->watchers) < call->front->watches_max) {
		return false;
	}
	(void)bt_front_fail(
		call, 429, "TooManyRequests", "Too many requests, please try again later.");
	call->failure.retry_after_seconds = 1;
	return true;
}

/** /metrics: requests, their durations, and numbers of stored objects. Spec: 14 section 5. */

static void collect_objects(void *context)
{
	struct bt_front *front = context;
	const struct bt_resources *resources = bt_api_resources(front->api);
	struct bt_arena arena = {0};

	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		struct bt_str name = bt_resource_qualified(resource, &arena);

		if (bt_resources_of_collection(resources, resource->collection) == resource &&
			(resource->flags & BT_RESOURCE_REVIEW) == 0) {
			bt_metric_set(bt_metric_cell(front->stored_objects, &name),
				(double)bt_store_count(
					bt_api_store(front->api), resource->collection));
		}
	}
	bt_arena_finish(&arena);
}

/** Counts a finished request for a resource in the metrics. */
static void count(struct bt_front_call *call)
{
	static const char *const verbs[] = {
		[BT_VERB_GET] = "GET",
		[BT_VERB_LIST] = "LIST",
		[BT_VERB_WATCH] = "WATCH",
		[BT_VERB_CREATE] = "POST",
		[BT_VERB_UPDATE] = "PUT",
		[BT_VERB_PATCH] = "PATCH",
		[BT_VERB_DELETE] = "DELETE",
		[BT_VERB_DELETE_COLLECTION] = "DELETECOLLECTION",
	};
	const struct bt_api_resource *resource = call->route.resource;
	char code[8];

	if (call->route.kind != BT_ROUTE_RESOURCE || resource == NULL ||
		call->verb >= BT_VERB__COUNT) {
		return;
	}
	/* a started stream was answered with 200 */
	(void)snprintf(code, sizeof(code), "%u", call->code != 0 ? call->code : 200u);
	const struct bt_str values[] = {
		bt_str_from(code),
		bt_str_from(resource->group),
		bt_str_from(resource->name),
		call->route.name.length != 0                 ? BT_STR("resource")
			: call->route.namespace_.length != 0 ? BT_STR("namespace")
							     : BT_STR("cluster"),
		bt_str_from(bt_subresource_name(call->route.subresource)),
		bt_str_from(verbs[call->verb]),
		bt_str_from(resource->version),
	};
	bt_metric_add(bt_metric_cell(call->front->requests, values), 1);
	/* Durations of streams depend on the client, so they are not recorded. */
	if (call->answered_ns != 0) {
		const struct bt_str of_durations[] = {BT_STR("apiserver"),
			call->api.dry_run ? BT_STR("All") : BT_STR(""), values[1], values[2],
			values[3], values[4], values[5], values[6]};

		bt_metric_observe(bt_metric_cell(call->front->durations, of_durations),
			(double)(call->answered_ns - call->began_ns) / 1e9);
	}
}

#define STORE_FAILED "Internal error occurred: the store cannot be written"
#define SPARE_CALLS_MAX 64
/* Finished calls are kept for reuse, but not if one of their buffers is larger than this. */
#define SPARE_BYTES_MAX 65536

/** --- calls --- */

static void free_call(struct bt_front_call *call)
{
	bt_arena_finish(&call->arena);
	bt_strbuf_finish(&call->yaml);
	bt_strbuf_finish(&call->body);
	bt_free(call);
}

struct bt_front_call *bt_front_begin(struct bt_front *front, struct bt_http_exchange *exchange,
	const struct bt_front_request *request)
{
	static const char *const agents[] = {"curl", "Wget", "Mozilla/5.0"};
	struct bt_front_call *call = front->spare;
	if (call != NULL) {
		front->spare = call->next;
		front->spare_count--;
		call->next = NULL;
	} else {
		call = BT_NEW(struct bt_front_call);
		call->front = front;
	}
	call->exchange = exchange;
	call->request = *request;
	call->began_ns = bt_loop_now_ns(front->loop);
	bt_query_parse(request->query, &call->arena, &call->query);
	/*
	 * Without the parameter pretty, JSON is indented for browsers, curl and Wget, because their
	 * users read the answer.
	 */
	struct bt_str agent = bt_front_find_header(call, "User-Agent");
	call->encoding.pretty = call->query.pretty;
	for (size_t i = 0; !call->query.pretty_given && i < BT_ARRAY_LENGTH(agents); i++) {
		call->encoding.pretty |= bt_str_has_prefix(agent, bt_str_from(agents[i]));
	}
	bt_route_parse(bt_api_resources(front->api), request->path, &call->arena, &call->route);
	bool is_served;
	if (front->failed) {
		is_served = bt_front_fail(call, 500, "InternalError", STORE_FAILED);
	} else {
		is_served = bt_front_identify(call) &&
			(call->route.kind == BT_ROUTE_RESOURCE ? bt_front_call_resource(call)
							       : bt_front_page(call));
	}
	if (!is_served) {
		bt_front_send_failure(call);
	}
	return call;
}

void bt_front_end(struct bt_front_call *call)
{
	struct bt_front *front = call->front;
	if (call->wait != NULL) {
		bt_watchers_cancel(call->wait);
	}
	bt_list_finish(call->list);
	discard_held(call);
	count(call);
	bool is_large = call->arena.total_bytes > SPARE_BYTES_MAX ||
		call->body.capacity > SPARE_BYTES_MAX || call->yaml.capacity > SPARE_BYTES_MAX;
	if (is_large || front->spare_count >= SPARE_CALLS_MAX) {
		free_call(call);
		return;
	}
	bt_arena_reset(&call->arena);
	bt_strbuf_reset(&call->body);
	bt_strbuf_reset(&call->yaml);
	struct bt_front_call clean = {
		.front = front,
		.arena = call->arena,
		.body = call->body,
		.yaml = call->yaml,
		.next = front->spare,
	};
	*call = clean;
	front->spare = call;
	front->spare_count++;
}

/** --- HTTP --- */

static const struct bt_wire http_wire = {
	bt_http_header,
	bt_http_each_header,
	bt_http_add_header,
	bt_http_peer_certificates,
	bt_http_answer,
	bt_http_answer_stream,
	bt_http_answer_websocket,
	bt_http_stream_resume,
};

static void on_request(void *context, struct bt_http_exchange *exchange)
{
	struct bt_front_request request = {
		.method = bt_http_method(exchange),
		.path = bt_http_path(exchange),
		.query = bt_http_query(exchange),
		.body = bt_http_body(exchange),
	};
	bt_http_set_data(exchange, bt_front_begin(context, exchange, &request));
}

/* Answers 413. There is no call, because the body was discarded, so the answer is sent directly. */
static void on_too_large(void *context, struct bt_http_exchange *exchange)
{
	static const char text[] =
		"{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\","
		"\"message\":\"Request entity too large: limit is %u\","
		"\"reason\":\"RequestEntityTooLarge\",\"code\":413}\n";
	struct bt_strbuf body = {0};
	(void)context; /* not needed */
	bt_strbuf_printf(&body, text, (unsigned int)BT_API_BODY_BYTES_MAX);
	bt_http_add_header(exchange, "Content-Type", BT_STR("application/json"));
	bt_http_add_header(exchange, "Cache-Control", BT_STR("no-cache, private"));
	bt_http_answer(exchange, 413, &body);
}

static void on_closed(void *context, struct bt_http_exchange *exchange)
{
	struct bt_front_call *call = bt_http_data(exchange);
	(void)context; /* not needed, because the call points to the front */
	if (call != NULL) {
		bt_front_end(call);
	}
}

/** --- the front --- */

struct bt_front *bt_front_create_bare(
	struct bt_loop *loop, const struct bt_front_options *options, const struct bt_wire *wire)
{
	struct bt_front *front = BT_NEW(struct bt_front);
	struct bt_prng *prng = bt_api_prng(options->api);
	front->loop = loop;
	front->api = options->api;
	front->wire = wire;
	front->is_plain = options->certificate_pem == NULL;
	front->watches_max = options->watches_max;
	front->watchers = bt_watchers_create(options->api, bt_prng_next(prng));
	bt_prng_init(&front->prng, bt_prng_next(prng));
	static const struct bt_metric_description requests = {
		.name = "apiserver_request_total",
		.help = "Counter of apiserver requests broken out for each verb, group, version, "
			"resource, scope and HTTP response code.",
		.type = BT_METRIC_COUNTER,
		.stability = BT_METRIC_STABLE,
		.labels = {"code", "group", "resource", "scope", "subresource", "verb", "version"},
	};
	static const double seconds[] = {0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5,
		2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60};
	static const struct bt_metric_description durations = {
		.name = "apiserver_request_duration_seconds",
		.help = "Response latency distribution in seconds for each verb, dry run value, "
			"group, version, resource, subresource, scope and component.",
		.type = BT_METRIC_HISTOGRAM,
		.stability = BT_METRIC_STABLE,
		.labels = {"component", "dry_run", "group", "resource", "scope", "subresource",
			"verb", "version"},
		.buckets = {.count = (uint32_t)BT_ARRAY_LENGTH(seconds), .bounds = seconds},
	};
	static const struct bt_metric_description objects = {
		.name = "apiserver_storage_objects",
		.help = "Number of stored objects split by kind.",
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_STABLE,
		.labels = {"resource"},
	};

	front->metrics = bt_metrics_create();
	front->requests = bt_metrics_register(front->metrics, &requests);
	front->durations = bt_metrics_register(front->metrics, &durations);
	front->stored_objects = bt_metrics_register(front->metrics, &objects);
	bt_metrics_add_collector(front->metrics, collect_objects, front);
	front->token_count = options->token_count;
	front->tokens = options->tokens;
	return front;
}

int bt_front_create(struct bt_loop *loop, const struct bt_front_options *options,
	struct bt_front **out_front, struct berth_error *err)
{
	struct bt_front *front = bt_front_create_bare(loop, options, &http_wire);
	struct bt_http_server_options http = {
		.address = options->address,
		.port = options->port,
		.both_families = true,
		.certificates = {.certificate_pem = options->certificate_pem,
			.key_pem = options->key_pem},
		.ask_client_certificate = options->client_ca_pem != NULL,
		.client_ca_pem = options->client_ca_pem,
		.limits = options->limits,
		.handler = {front, on_request, on_too_large, on_closed},
	};
	int result = options->client_ca_pem == NULL
		? 0
		: bt_certificate_authorities_create(
			  bt_str_from(options->client_ca_pem), &front->client_authorities, err);
	if (result == 0) {
		result = bt_http_server_create(loop, &http, &front->server, err);
	}
	if (result != 0) {
		bt_front_destroy(front);
		return result;
	}
	*out_front = front;
	return 0;
}

void bt_front_destroy(struct bt_front *front)
{
	if (front == NULL) {
		return;
	}
	bt_http_server_destroy(front->server);
	bt_watchers_destroy(front->watchers);
	bt_metrics_destroy(front->metrics);
	bt_certificate_authorities_destroy(front->client_authorities);
	while (front->spare != NULL) {
		struct bt_front_call *call = front->spare;
		front->spare = call->next;
		free_call(call);
	}
	for (int i = 0; i < BT_OPENAPI__COUNT; i++) {
		bt_strbuf_finish(&front->openapi[i].body);
	}
	bt_free(front);
}

uint16_t bt_front_port(const struct bt_front *front)
{
	return bt_http_server_port(front->server);
}

void bt_front_set_ready(struct bt_front *front)
{
	front->is_ready = true;
}

int bt_front_flush(struct bt_front *front, struct berth_error *err)
{
	struct bt_store *store = bt_api_store(front->api);
	if (front->failed) {
		return bt_error_set(err, BERTH_ERR_STATE, "the store cannot be written");
	}
	if (bt_store_needs_sync(store)) {
		int result = bt_store_sync(store, err);
		if (result != 0) {
			struct bt_failure failure = {
				.code = 500,
				.reason = "InternalError",
				.message = BT_STR(STORE_FAILED),
			};
			front->failed = true;
			release_held(front, &failure);
			return result;
		}
	}
	release_held(front, NULL);
	int64_t next_ns = bt_watchers_run(front->watchers, bt_loop_now_ns(front->loop));
	if (front->loop != NULL) {
		bt_loop_call_at(front->loop, next_ns);
	}
	return 0;
}

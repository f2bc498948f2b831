/* SPDX-License-Identifier: Apache-2.0 */
#include "client/rest.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/duration.h"
#include "base/links.h"
#include "base/log.h"
#include "base/nanoseconds.h"
#include "client/rest_private.h"

/* "OTHER" stands for all other methods. */
static const char *const verbs[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OTHER"};
enum { VERB_COUNT = BT_ARRAY_LENGTH(verbs) };

static const double second_bounds[] = {
	0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0};
static const double byte_bounds[] = {
	64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

static const struct bt_metric_buckets second_buckets = {
	.bounds = second_bounds, .count = BT_ARRAY_LENGTH(second_bounds)};
static const struct bt_metric_buckets byte_buckets = {
	.bounds = byte_bounds, .count = BT_ARRAY_LENGTH(byte_bounds)};

static struct bt_metric *register_histogram(struct bt_metrics *metrics, const char *name,
	const char *help, const struct bt_metric_buckets *buckets)
{
	const struct bt_metric_description description = {
		.name = name,
		.help = help,
		.type = BT_METRIC_HISTOGRAM,
		.stability = BT_METRIC_ALPHA,
		.labels = {"verb", "host"},
		.buckets = *buckets,
	};
	return bt_metrics_register(metrics, &description);
}

static struct bt_metric *register_counter(
	struct bt_metrics *metrics, const char *name, const char *help, const char *verb_label)
{
	const struct bt_metric_description description = {
		.name = name,
		.help = help,
		.type = BT_METRIC_COUNTER,
		.stability = BT_METRIC_ALPHA,
		.labels = {"code", verb_label, "host"},
	};
	return bt_metrics_register(metrics, &description);
}

static void count(
	const struct bt_rest_metrics *rest, struct bt_metric *family, uint8_t verb, uint16_t code)
{
	char text[8];
	struct bt_str labels[3];

	(void)snprintf(text, sizeof(text), "%u", (unsigned int)code);
	labels[0] = code != 0 ? bt_str_from(text) : BT_STR("<error>");
	labels[1] = bt_str_from(verbs[verb]);
	labels[2] = bt_str_from(rest->host);
	bt_metric_add(bt_metric_cell(family, labels), 1);
}

void bt_rest_metrics_ended(const struct bt_rest_metrics *rest, uint8_t verb, uint16_t code,
	int64_t duration_ns, uint64_t request_bytes, uint64_t response_bytes)
{
	if (rest->duration == NULL) {
		return;
	}
	struct bt_rest_verb_cells *cells = &rest->verbs[verb];
	count(rest, rest->requests, verb, code);
	if (duration_ns < 0) {
		return;
	}
	bt_metric_observe(cells->duration, (double)duration_ns / (double)BT_NS_PER_SECOND);
	bt_metric_observe(cells->request_size, (double)request_bytes);
	if (code != 0) {
		bt_metric_observe(cells->response_size, (double)response_bytes);
	}
}

void bt_rest_metrics_resent(const struct bt_rest_metrics *rest, uint8_t verb, uint16_t code)
{
	if (rest->duration != NULL) {
		count(rest, rest->retries, verb, code);
	}
}

/*
 * Longer waits for a token are logged at verbosity 3. Very long waits are also logged at verbosity
 * 2, or at 0 if 2 is off.
 */
#define LONG_WAIT_NS (50 * BT_NS_PER_MS)
#define VERY_LONG_WAIT_NS BT_NS_PER_SECOND

static void free_call(struct bt_rest_call *call)
{
	struct bt_rest_client *client = call->client;

	client->slots.items[call->slot] = NULL;
	bt_vec_push(&client->free_slots, call->slot);
	bt_strbuf_finish(&call->error_body);
	bt_free(call->previous);
	bt_arena_finish(&call->arena);
	bt_free(call);
}

static void enqueue(struct bt_rest_call *call)
{
	struct bt_rest_client *client = call->client;

	call->state = BT_REST_QUEUED;
	BT_LIST_APPEND(client->first, client->last, call, prior, next);
	bt_loop_call_at(client->loop, 0);
}

static void log_wait_at(const struct bt_rest_call *call, int verbosity, int64_t waited_ns)
{
	struct bt_strbuf url = {0};

	bt_rest_append_url(call, &url);
	BT_LOG_INFO(verbosity, "Waited before sending request", BT_LOG_DURATION("delay", waited_ns),
		BT_LOG_CSTR("reason", "client-side throttling, not priority and fairness"),
		BT_LOG_CSTR("verb", call->method), BT_LOG_STR("URL", bt_strbuf_str(&url)));
	bt_strbuf_finish(&url);
}

static void send_with_token(struct bt_rest_call *call, int64_t now_ns)
{
	int64_t waited_ns = now_ns - call->queued_at_ns;

	/* record the time spent waiting for the token */
	uint8_t verb = call->verb;
	if (call->client->metrics.duration != NULL) {
		bt_metric_observe(call->client->metrics.verbs[verb].limiter,
			(double)waited_ns / (double)BT_NS_PER_SECOND);
	}
	/* Log a long wait; lines at verbosity 2 and 0 are rate limited. Spec 11b section 4.2. */
	static const struct {
		int verbosity;
		int64_t period_ns;
	} loud[] = {{2, BT_NS_PER_SECOND}, {0, 10 * BT_NS_PER_SECOND}};
	if (waited_ns > LONG_WAIT_NS && BT_LOG_ENABLED(3)) {
		log_wait_at(call, 3, waited_ns);
	}
	if (waited_ns > VERY_LONG_WAIT_NS) {
		uint32_t i = BT_LOG_ENABLED(loud[0].verbosity) ? 0 : 1;
		int64_t *warned_ns = &call->client->warned_ns[i];
		if (*warned_ns == 0 || now_ns - *warned_ns >= loud[i].period_ns) {
			*warned_ns = now_ns;
			log_wait_at(call, loud[i].verbosity, waited_ns);
		}
	}
	bt_rest_send(call);
}

static int64_t send_due_calls(void *context, int64_t now_ns)
{
	struct bt_rest_client *client = context;
	struct bt_heap *delayed = &client->delayed;
	int64_t next_ns = INT64_MAX;

	while (delayed->slots.count != 0 && delayed->slots.items[0].major <= now_ns) {
		struct bt_rest_call *call = client->slots.items[bt_heap_pop(delayed)];
		call->queued_at_ns = now_ns;
		enqueue(call);
	}
	/* send as many calls as there are tokens; next_ns is the time of the next token */
	while (client->first != NULL && bt_limiter_take(&client->limiter, now_ns, &next_ns)) {
		struct bt_rest_call *call = client->first;
		BT_LIST_REMOVE(client->first, client->last, call, prior, next);
		send_with_token(call, now_ns);
	}
	if (delayed->slots.count != 0 && delayed->slots.items[0].major < next_ns) {
		next_ns = delayed->slots.items[0].major;
	}
	return next_ns;
}

/* Bytes for the texts of a usual request, without its body. */
#define TEXT_BYTES 256

struct bt_rest_call *bt_rest_start(
	struct bt_rest_client *client, const struct bt_rest_request *request)
{
	struct bt_rest_call *call = BT_NEW(struct bt_rest_call);
	struct bt_arena *arena = &call->arena;
	bool has_timeout = !request->is_watch && client->timeout_query.length != 0;

	bt_arena_init(arena, (size_t)request->body.length + TEXT_BYTES);
	call->client = client;
	call->handler = request->handler;
	call->may_send = request->may_send;
	call->is_watch = request->is_watch;
	call->method = bt_arena_str(arena, bt_str_from(request->method)).data;
	while (call->verb < VERB_COUNT - 1 && strcmp(call->method, verbs[call->verb]) != 0) {
		call->verb++;
	}
	call->path = bt_arena_str(arena, request->path);
	call->query = has_timeout
		? bt_arena_printf(arena, "%.*s%s%.*s", BT_STR_ARG(request->query),
			  request->query.length != 0 ? "&" : "", BT_STR_ARG(client->timeout_query))
		: bt_arena_str(arena, request->query);
	call->resource = bt_arena_str(arena, request->resource);
	call->name = bt_arena_str(arena, request->name);
	call->content_type = bt_arena_str(arena, request->content_type);
	call->accept = bt_arena_str(arena, request->accept);
	call->body = bt_arena_str(arena, request->body);
	int64_t at_ns;

	bt_vec_store(&client->slots, &client->free_slots, call, call->slot);
	call->queued_at_ns = bt_loop_now_ns(client->loop);
	if (call->is_watch) {
		bt_rest_send(call);
	} else if (client->first == NULL &&
		bt_limiter_take(&client->limiter, call->queued_at_ns, &at_ns)) {
		send_with_token(call, call->queued_at_ns);
	} else {
		enqueue(call);
	}
	return call;
}

void bt_rest_cancel(struct bt_rest_call *call)
{
	struct bt_rest_client *client = call->client;

	switch (call->state) {
	case BT_REST_QUEUED:
		BT_LIST_REMOVE(client->first, client->last, call, prior, next);
		break;
	case BT_REST_DELAYED:
		bt_heap_remove(&client->delayed, call->slot);
		break;
	case BT_REST_RUNNING:
		bt_transport_cancel(&call->transport);
		break;
	case BT_REST_ENDING:
		return;
	}
	free_call(call);
}

void bt_rest_finish_call(struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	call->state = BT_REST_ENDING;
	call->handler.done(call->handler.context, call, answer);
	free_call(call);
}

int bt_rest_client_create(const struct bt_rest_options *options, struct bt_rest_client **out_client,
	struct berth_error *err)
{
	if (options->qps > 0 && options->burst <= 0) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"burst is required to be greater than 0 when RateLimiter is not set and "
			"QPS is set to greater than 0");
	}
	struct bt_rest_client *client = BT_NEW(struct bt_rest_client);
	client->transport = options->transport;
	client->loop = options->loop;
	client->timeout_ns = options->timeout_ns;
	client->may_wait = options->may_wait;
	client->may_wait_context = options->may_wait_context;
	struct bt_arena *arena = &client->arena;
	struct bt_str type =
		options->content_type.length != 0 ? options->content_type : BT_STR(BT_MEDIA_JSON);
	struct bt_str accept = options->accept_content_types.length != 0
		? bt_arena_str(arena, options->accept_content_types)
		: bt_arena_printf(arena, "%.*s, */*", BT_STR_ARG(type));

	client->headers[0] = (struct bt_http_header){
		"User-Agent", bt_arena_str(arena, bt_str_from(options->user_agent))};
	client->headers[1] = (struct bt_http_header){"Accept", accept};
	client->headers[2] = (struct bt_http_header){"Content-Type", bt_arena_str(arena, type)};
	client->writes_protobuf = bt_media_type_is(type, BT_MEDIA_PROTOBUF);
	struct bt_strbuf text = {0};

	client->timeout_query = BT_STR("");
	if (client->timeout_ns > 0) {
		bt_strbuf_append_c(&text, "timeout=");
		bt_duration_format(client->timeout_ns, &text);
		client->timeout_query = bt_arena_str(&client->arena, bt_strbuf_str(&text));
	}
	bt_strbuf_finish(&text);
	bt_limiter_init(&client->limiter, (double)options->qps, options->burst,
		bt_loop_now_ns(options->loop));
	bt_heap_init(&client->delayed, NULL, NULL);
	struct bt_str base_url = bt_transport_config(options->transport)->base_url;
	int64_t mark = bt_str_find(base_url, BT_STR("://"));
	struct bt_str host = bt_str_sub(base_url, mark >= 0 ? (uint32_t)mark + 3 : 0, UINT32_MAX);

	host = bt_str_cut(&host, '/');
	struct bt_metrics *metrics = options->metrics;
	struct bt_rest_metrics *rest = &client->metrics;
	if (metrics != NULL) {
		rest->duration = register_histogram(metrics, "rest_client_request_duration_seconds",
			"Request latency in seconds. Broken down by verb, and host.",
			&second_buckets);
		rest->limiter =
			register_histogram(metrics, "rest_client_rate_limiter_duration_seconds",
				"Client side rate limiter latency in seconds. Broken down by verb, "
				"and host.",
				&second_buckets);
		rest->request_size = register_histogram(metrics, "rest_client_request_size_bytes",
			"Request size in bytes. Broken down by verb and host.", &byte_buckets);
		rest->response_size = register_histogram(metrics, "rest_client_response_size_bytes",
			"Response size in bytes. Broken down by verb and host.", &byte_buckets);
		rest->requests = register_counter(metrics, "rest_client_requests_total",
			"Number of HTTP requests, partitioned by status code, method, and host.",
			"method");
		rest->retries = register_counter(metrics, "rest_client_request_retries_total",
			"Number of request retries, partitioned by status code, verb, and host.",
			"verb");
		rest->host = bt_strndup(host.data, host.length);
		rest->verbs = BT_NEW_ARRAY(struct bt_rest_verb_cells, VERB_COUNT);
		for (uint32_t i = 0; i < VERB_COUNT; i++) {
			const struct bt_str labels[] = {bt_str_from(verbs[i]), host};
			rest->verbs[i] = (struct bt_rest_verb_cells){
				.duration = bt_metric_cell(rest->duration, labels),
				.limiter = bt_metric_cell(rest->limiter, labels),
				.request_size = bt_metric_cell(rest->request_size, labels),
				.response_size = bt_metric_cell(rest->response_size, labels),
			};
		}
	}
	bt_loop_add_worker(client->loop, send_due_calls, client);
	*out_client = client;
	return 0;
}

void bt_rest_client_destroy(struct bt_rest_client *client)
{
	if (client == NULL) {
		return;
	}
	for (uint32_t i = 0; i < client->slots.count; i++) {
		if (client->slots.items[i] != NULL) {
			bt_rest_cancel(client->slots.items[i]);
		}
	}
	bt_loop_remove_worker(client->loop, client);
	bt_vec_finish(&client->slots);
	bt_vec_finish(&client->free_slots);
	bt_heap_finish(&client->delayed);
	struct bt_rest_metrics *rest = &client->metrics;
	bt_free(rest->host);
	bt_free(rest->verbs);
	bt_arena_finish(&client->arena);
	bt_free(client);
}

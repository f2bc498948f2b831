/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "client/rest_private.h"

/* The last one stands for every other method. */
static const char *const verbs[] = {"GET", "POST", "PUT", "PATCH", "DELETE", "OTHER"};
enum { VERB_COUNT = BT_ARRAY_LENGTH(verbs) };

static const double second_bounds[] = {
	0.005, 0.025, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 15.0, 30.0, 60.0};
static const double byte_bounds[] = {
	64, 256, 512, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216};

#define SECOND_BUCKETS \
	{ \
		.bounds = second_bounds, .count = BT_ARRAY_LENGTH(second_bounds) \
	}
#define BYTE_BUCKETS \
	{ \
		.bounds = byte_bounds, .count = BT_ARRAY_LENGTH(byte_bounds) \
	}

static const struct bt_metric_description duration = {
	.name = "rest_client_request_duration_seconds",
	.help = "Request latency in seconds. Broken down by verb, and host.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"verb", "host"},
	.buckets = SECOND_BUCKETS,
};
static const struct bt_metric_description limiter = {
	.name = "rest_client_rate_limiter_duration_seconds",
	.help = "Client side rate limiter latency in seconds. Broken down by verb, and host.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"verb", "host"},
	.buckets = SECOND_BUCKETS,
};
static const struct bt_metric_description request_size = {
	.name = "rest_client_request_size_bytes",
	.help = "Request size in bytes. Broken down by verb and host.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"verb", "host"},
	.buckets = BYTE_BUCKETS,
};
static const struct bt_metric_description response_size = {
	.name = "rest_client_response_size_bytes",
	.help = "Response size in bytes. Broken down by verb and host.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"verb", "host"},
	.buckets = BYTE_BUCKETS,
};
static const struct bt_metric_description requests = {
	.name = "rest_client_requests_total",
	.help = "Number of HTTP requests, partitioned by status code, method, and host.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code", "method", "host"},
};
static const struct bt_metric_description retries = {
	.name = "rest_client_request_retries_total",
	.help = "Number of request retries, partitioned by status code, verb, and host.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code", "verb", "host"},
};

static struct bt_str host_of(struct bt_str base_url)
{
	int64_t mark = bt_str_find(base_url, BT_STR("://"));
	struct bt_str host = bt_str_sub(base_url, mark >= 0 ? (uint32_t)mark + 3 : 0, UINT32_MAX);
	int64_t end = bt_str_find_char(host, '/');

	return bt_str_sub(host, 0, end >= 0 ? (uint32_t)end : host.length);
}

void bt_rest_metrics_init(
	struct bt_rest_metrics *rest, struct bt_metrics *metrics, struct bt_str base_url)
{
	struct bt_str host = host_of(base_url);

	*rest = (struct bt_rest_metrics){0};
	if (metrics == NULL) {
		return;
	}
	rest->duration = bt_metrics_register(metrics, &duration);
	rest->limiter = bt_metrics_register(metrics, &limiter);
	rest->request_size = bt_metrics_register(metrics, &request_size);
	rest->response_size = bt_metrics_register(metrics, &response_size);
	rest->requests = bt_metrics_register(metrics, &requests);
	rest->retries = bt_metrics_register(metrics, &retries);
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

void bt_rest_metrics_finish(struct bt_rest_metrics *rest)
{
	bt_free(rest->host);
	bt_free(rest->verbs);
	bt_vec_finish(&rest->counts);
	*rest = (struct bt_rest_metrics){0};
}

uint8_t bt_rest_metrics_verb(const char *method)
{
	uint8_t verb = 0;

	while (verb < VERB_COUNT - 1 && !bt_str_equal_c(bt_str_from(method), verbs[verb])) {
		verb++;
	}
	return verb;
}

void bt_rest_metrics_waited(struct bt_rest_metrics *rest, uint8_t verb, int64_t waited_ns)
{
	if (rest->duration != NULL) {
		bt_metric_observe(
			rest->verbs[verb].limiter, (double)waited_ns / (double)BT_NS_PER_SECOND);
	}
}

static struct bt_metric_cell *counter(
	const struct bt_rest_metrics *rest, struct bt_metric *family, uint8_t verb, uint16_t code)
{
	char text[8];
	struct bt_str labels[3];

	(void)snprintf(text, sizeof(text), "%u", (unsigned int)code);
	labels[0] = code != 0 ? bt_str_from(text) : BT_STR("<error>");
	labels[1] = bt_str_from(verbs[verb]);
	labels[2] = bt_str_from(rest->host);
	return bt_metric_cell(family, labels);
}

static struct bt_metric_cell *count_cell(struct bt_rest_metrics *rest, uint8_t verb, uint16_t code)
{
	struct bt_rest_count_cell found = {verb, code, NULL};

	for (uint32_t i = 0; i < rest->counts.count; i++) {
		const struct bt_rest_count_cell *at = &rest->counts.items[i];
		if (at->verb == verb && at->code == code) {
			return at->cell;
		}
	}
	found.cell = counter(rest, rest->requests, verb, code);
	bt_vec_push(&rest->counts, found);
	return found.cell;
}

void bt_rest_metrics_ended(struct bt_rest_metrics *rest, uint8_t verb, uint16_t code,
	int64_t duration_ns, uint64_t request_bytes, uint64_t response_bytes)
{
	struct bt_rest_verb_cells *cells;

	if (rest->duration == NULL) {
		return;
	}
	cells = &rest->verbs[verb];
	bt_metric_add(count_cell(rest, verb, code), 1);
	if (duration_ns < 0) {
		return;
	}
	bt_metric_observe(cells->duration, (double)duration_ns / (double)BT_NS_PER_SECOND);
	bt_metric_observe(cells->request_size, (double)request_bytes);
	if (code != 0) {
		bt_metric_observe(cells->response_size, (double)response_bytes);
	}
}

void bt_rest_metrics_resent(struct bt_rest_metrics *rest, uint8_t verb, uint16_t code)
{
	if (rest->duration != NULL) {
		bt_metric_add(counter(rest, rest->retries, verb, code), 1);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/delegation_metrics.h"

#include "base/compiler.h"

static const double request_bounds[] = {0.25, 0.5, 0.7, 1, 1.5, 3, 5, 10};

#define DURATION_BUCKETS \
	{ \
		.start = 0.001, .factor = 2, .count = 15 \
	}
#define REQUEST_BUCKETS \
	{ \
		.bounds = request_bounds, .count = BT_ARRAY_LENGTH(request_bounds) \
	}

const struct bt_metric_description bt_authentication_attempts = {
	.name = "authentication_attempts",
	.help = "Counter of authenticated attempts.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"result"},
};

const struct bt_metric_description bt_authentication_duration = {
	.name = "authentication_duration_seconds",
	.help = "Authentication duration in seconds broken out by result.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"result"},
	.buckets = DURATION_BUCKETS,
};

const struct bt_metric_description bt_authenticated_requests = {
	.name = "authenticated_user_requests",
	.help = "Counter of authenticated requests broken out by username.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"username"},
};

const struct bt_metric_description bt_authorization_attempts = {
	.name = "authorization_attempts_total",
	.help = "Counter of authorization attempts broken down by result. It can be either "
		"'allowed', 'denied', 'no-opinion' or 'error'.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"result"},
};

const struct bt_metric_description bt_authorization_duration = {
	.name = "authorization_duration_seconds",
	.help = "Authorization duration in seconds broken out by result.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"result"},
	.buckets = DURATION_BUCKETS,
};

const struct bt_metric_description bt_delegated_authn_total = {
	.name = "apiserver_delegated_authn_request_total",
	.help = "Number of HTTP requests partitioned by status code.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code"},
};

const struct bt_metric_description bt_delegated_authn_duration = {
	.name = "apiserver_delegated_authn_request_duration_seconds",
	.help = "Request latency in seconds. Broken down by status code.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code"},
	.buckets = REQUEST_BUCKETS,
};

const struct bt_metric_description bt_delegated_authz_total = {
	.name = "apiserver_delegated_authz_request_total",
	.help = "Number of HTTP requests partitioned by status code.",
	.type = BT_METRIC_COUNTER,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code"},
};

const struct bt_metric_description bt_delegated_authz_duration = {
	.name = "apiserver_delegated_authz_request_duration_seconds",
	.help = "Request latency in seconds. Broken down by status code.",
	.type = BT_METRIC_HISTOGRAM,
	.stability = BT_METRIC_ALPHA,
	.labels = {"code"},
	.buckets = REQUEST_BUCKETS,
};

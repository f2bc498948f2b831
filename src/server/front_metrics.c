/* SPDX-License-Identifier: Apache-2.0 */
/** /metrics: requests, their durations, and numbers of stored objects. Spec: 14 section 5. */
#include <stdio.h>

#include "server/front_private.h"

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

void bt_front_metrics_init(struct bt_front *front)
{
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
}

void bt_front_count(struct bt_front_call *call)
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

void bt_front_send_metrics(struct bt_front_call *call)
{
	bt_metrics_write(call->front->metrics, BT_METRICS_TEXT, &call->body);
	bt_front_no_cache(call);
	bt_front_send(call, 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
}

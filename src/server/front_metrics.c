/* SPDX-License-Identifier: Apache-2.0 */
/** /metrics: what was asked for and how much is stored. Spec: 14 section 5. */
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
	static const struct bt_metric_description objects = {
		.name = "apiserver_storage_objects",
		.help = "Number of stored objects split by kind.",
		.type = BT_METRIC_GAUGE,
		.stability = BT_METRIC_STABLE,
		.labels = {"resource"},
	};

	front->metrics = bt_metrics_create();
	front->requests = bt_metrics_register(front->metrics, &requests);
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
	/* Streams that began were answered with 200. */
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
}

void bt_front_send_metrics(struct bt_front_call *call)
{
	bt_metrics_write(call->front->metrics, BT_METRICS_TEXT, &call->body);
	bt_front_no_cache(call);
	bt_front_send(call, 200, "text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
}

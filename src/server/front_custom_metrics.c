/* SPDX-License-Identifier: Apache-2.0 */
/** custom.metrics.k8s.io and external.metrics.k8s.io. Spec: 14b section 6.9. */
#include "api/time.h"
#include "codec/json_edit.h"
#include "server/custom_metrics.h"
#include "server/front_private.h"

struct values {
	struct bt_front_call *call;
	struct bt_selector metric_selector;
	struct bt_str api_version;
	struct bt_json_value *items;
};

static bool is_external(const struct bt_route *route)
{
	return bt_str_equal_c(route->group, bt_custom_metrics_groups[1]);
}

static bool parse_selector(struct bt_front_call *call, struct bt_str text, struct bt_selector *out)
{
	struct berth_error err = BERTH_ERROR_INIT;

	*out = (struct bt_selector){.nothing = false};
	if (text.data == NULL || bt_selector_parse(text, &call->arena, out, &err) == 0) {
		return true;
	}
	(void)bt_fail(&call->failure, &call->arena, 400, "BadRequest",
		"unable to parse requirement: %s", berth_error_message(&err));
	berth_error_finish(&err);
	return false;
}

static void add_external(struct values *values, const struct bt_custom_metric *metric)
{
	struct bt_arena *arena = &values->call->arena;
	struct bt_json_value *item = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *labels = bt_json_new(arena, BT_JSON_OBJECT);

	for (uint32_t i = 0; i < metric->labels.count; i++) {
		bt_json_set(arena, labels, metric->labels.items[i].key,
			bt_json_new_str(arena, metric->labels.items[i].value));
	}
	bt_json_set_str(arena, item, "metricName", metric->name);
	bt_json_set_value(arena, item, "metricLabels", labels);
	bt_json_set_str(arena, item, "timestamp",
		bt_time_text(arena, bt_api_now_ns(values->call->front->api)));
	bt_json_set_str(arena, item, "value", bt_custom_metric_quantity(arena, metric->value));
	bt_json_append(arena, values->items, item);
}

/** Adds the metric of one object, if the object has it. */
static void add_object(struct values *values, const struct bt_api_resource *resource,
	const struct bt_json_value *object)
{
	const struct bt_route *route = &values->call->route;
	struct bt_arena *arena = &values->call->arena;
	struct bt_api *api = values->call->front->api;
	struct bt_str namespace_ = bt_json_text_at(object, "metadata.namespace");
	struct bt_json_value *item = bt_json_new(arena, BT_JSON_OBJECT);
	struct bt_json_value *described = bt_json_ensure_object(arena, item, "describedObject");
	double value;

	if (!bt_custom_metric_sum(api, object, BT_ANNOTATION_METRICS, route->text,
		    &values->metric_selector, arena, &value)) {
		return;
	}
	bt_json_set_c(arena, described, "kind", resource->kind);
	if (namespace_.length != 0) {
		bt_json_set_str(arena, described, "namespace", bt_arena_str(arena, namespace_));
	}
	bt_json_set_str(arena, described, "name",
		bt_arena_str(arena, bt_json_text_at(object, "metadata.name")));
	bt_json_set_str(arena, described, "apiVersion",
		bt_arena_printf(arena, "%s/%s", resource->group, resource->version));
	if (bt_str_equal_c(route->version, "v1beta1")) {
		bt_json_set_str(arena, item, "metricName", route->text);
	} else {
		bt_json_set_str(
			arena, bt_json_ensure_object(arena, item, "metric"), "name", route->text);
	}
	bt_json_set_str(arena, item, "timestamp", bt_time_text(arena, bt_api_now_ns(api)));
	bt_json_set_str(arena, item, "value", bt_custom_metric_quantity(arena, value));
	bt_json_append(arena, values->items, item);
}

/** Adds the metric of all objects that the label selector matches. */
static bool add_selected(struct values *values)
{
	struct bt_front_call *call = values->call;
	const struct bt_route *route = &call->route;
	struct bt_str prefix = route->namespace_.length != 0
		? bt_arena_printf(&call->arena, "%.*s/", BT_STR_ARG(route->namespace_))
		: BT_STR("");
	struct bt_selector selector;
	struct bt_store_walk walk;
	const struct bt_stored *stored;
	struct bt_arena scratch = {0};

	if (!parse_selector(call, call->query.list.label_selector, &selector)) {
		return false;
	}
	if (bt_store_walk_begin(bt_api_store(call->front->api), route->resource->collection, 0,
		    prefix, BT_STR(""), &walk, NULL) == 0) {
		while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
			const struct bt_json_value *object = bt_api_parse_stored(stored, &scratch);
			struct bt_str_map labels = bt_str_map_from_json(
				&scratch, bt_json_object_at(object, "metadata.labels"));
			if (bt_selector_matches(&selector, &labels)) {
				add_object(values, route->resource, object);
			}
			bt_arena_reset(&scratch);
		}
		bt_store_walk_end(&walk);
	}
	bt_arena_finish(&scratch);
	return true;
}

static bool add_named(struct values *values)
{
	struct bt_front_call *call = values->call;
	const struct bt_route *route = &call->route;
	struct bt_json_value *object = bt_api_read(call->front->api, route->resource,
		bt_api_key(&call->arena, route->namespace_, route->name), &call->arena);

	if (object != NULL) {
		add_object(values, route->resource, object);
	}
	if (values->items->count != 0) {
		return true;
	}
	(void)bt_fail(&call->failure, &call->arena, 404, "NotFound",
		"the server could not find the metric %.*s for %.*s %.*s", BT_STR_ARG(route->text),
		BT_STR_ARG(route->described), BT_STR_ARG(route->name));
	return false;
}

static bool add_externals(struct values *values)
{
	struct bt_front_call *call = values->call;
	const struct bt_route *route = &call->route;
	struct bt_api *api = call->front->api;
	struct bt_json_value *namespace_ =
		bt_api_read(api, bt_resources_builtin(bt_api_resources(api), "", "namespaces"),
			route->namespace_, &call->arena);
	struct bt_custom_metric_walk walk =
		bt_custom_metrics_of(namespace_, BT_ANNOTATION_EXTERNAL_METRICS);
	struct bt_custom_metric metric;
	struct bt_selector selector;

	if (!parse_selector(call, call->query.list.label_selector, &selector)) {
		return false;
	}
	while (bt_custom_metric_next(api, &walk, route->text, &selector, &call->arena, &metric)) {
		add_external(values, &metric);
	}
	return true;
}

void bt_front_custom_metrics(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	struct bt_arena *arena = &call->arena;
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_OBJECT);
	struct values values = {.call = call, .items = bt_json_new(arena, BT_JSON_ARRAY)};
	bool is_done = false;

	if (!bt_accept_document(
		    call->front->wire->header(call->exchange, "Accept"), &call->encoding)) {
		(void)bt_fail(&call->failure, arena, 406, "NotAcceptable",
			"only the following media types are accepted: application/json, "
			"application/yaml");
	} else if (is_external(route)) {
		is_done = add_externals(&values);
	} else if (parse_selector(
			   call, call->query.metric_label_selector, &values.metric_selector)) {
		is_done = bt_str_equal_c(route->name, "*") ? add_selected(&values)
							   : add_named(&values);
	}
	if (!is_done) {
		bt_front_send_failure(call);
		return;
	}
	bt_json_set_c(arena, list, "kind",
		is_external(route) ? "ExternalMetricValueList" : "MetricValueList");
	bt_json_set_str(arena, list, "apiVersion",
		bt_arena_printf(
			arena, "%.*s/%.*s", BT_STR_ARG(route->group), BT_STR_ARG(route->version)));
	(void)bt_json_ensure_object(arena, list, "metadata"); /* stays empty */
	bt_json_set_value(arena, list, "items", values.items);
	bt_front_no_cache(call);
	bt_front_send_document(call, 200, list);
}

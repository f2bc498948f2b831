/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Serves paths that are not resources: discovery, OpenAPI, custom metrics, OpenID, version, health.
 * Spec: 14 sections 5 and 6.
 */
#include "api/time.h"
#include "base/assert.h"
#include "codec/json_edit.h"
#include "server/custom_metrics.h"
#include "server/front_private.h"
#include "server/openapi.h"
#include "server/service_account_token.h"
/** Adds the ETag. If the client has this version already, sends 304 and returns false. */
static bool send_if_changed(struct bt_front_call *call, const char *hash)
{
	struct bt_str etag = bt_arena_printf(&call->arena, "\"%s\"", hash);
	bt_front_header(call, "ETag", etag);
	struct bt_str given = bt_front_find_header(call, "If-None-Match");
	if (!(given.length != 0 && bt_str_find(given, etag) >= 0)) {
		return true;
	}
	bt_strbuf_reset(&call->body);
	/* No Content-Type: a client overwrites its cached headers with those of a 304. */
	bt_front_send(call, 304, NULL);
	return false;
}

/** /openapi/v2 and /openapi/v3. Spec: 14 section 7. */

#define YEAR_CACHE "public, immutable, max-age=31536000"

/*
 * Sends a document of all resources from the cache. The document is made again only after a
 * resource was added or removed.
 */
static void send_cached(struct bt_front_call *call, enum bt_openapi_document document)
{
	static const struct {
		void (*make)(const struct bt_resources *resources, struct bt_strbuf *out);
		const char *content_type;
	} documents[BT_OPENAPI__COUNT] = {
		[BT_OPENAPI_V2] = {bt_openapi_v2_document, "application/json"},
		[BT_OPENAPI_V2_PROTOBUF] = {bt_openapi_v2_protobuf,
			"application/com.github.proto-openapi.spec.v2.v1.0+protobuf"},
		[BT_OPENAPI_V3_INDEX] = {bt_openapi_v3_index, "application/json"},
	};
	const struct bt_resources *resources = bt_api_resources(call->front->api);
	uint64_t generation = bt_resources_generation(resources);
	struct bt_front_cached *cached = &call->front->openapi[document];
	if (cached->body.length == 0 || cached->generation != generation) {
		bt_strbuf_reset(&cached->body);
		documents[document].make(resources, &cached->body);
		cached->generation = generation;
		bt_openapi_hash(bt_strbuf_str(&cached->body), cached->hash);
	}
	bt_front_header(call, "Vary", BT_STR("Accept"));
	if (send_if_changed(call, cached->hash)) {
		bt_strbuf_append_str(&call->body, bt_strbuf_str(&cached->body));
		bt_front_send(call, 200, documents[document].content_type);
	}
}

static void send_v3_group(struct bt_front_call *call)
{
	struct bt_str text = call->route.text;
	char hash[BT_OPENAPI_HASH_BYTES];
	if (!bt_openapi_v3_document(bt_api_resources(call->front->api), text, &call->body)) {
		bt_front_send_text(call, 404, "404 page not found\n");
		return;
	}
	bt_openapi_hash(bt_strbuf_str(&call->body), hash);
	struct bt_str given = call->query.hash;
	if (given.length != 0 && !bt_str_equal_c(given, hash)) {
		bt_strbuf_reset(&call->body);
		bt_front_header(call, "Location",
			bt_arena_printf(
				&call->arena, "/openapi/v3/%.*s?hash=%s", BT_STR_ARG(text), hash));
		bt_front_send_text(call, 301, "");
		return;
	}
	call->cache_control = given.length != 0 ? YEAR_CACHE : NULL;
	bt_front_header(call, "Vary", BT_STR("Accept"));
	if (send_if_changed(call, hash)) {
		bt_front_send(call, 200, "application/json");
	}
}

/** custom.metrics.k8s.io and external.metrics.k8s.io. Spec: 14b section 6.9. */

struct values {
	struct bt_front_call *call;
	struct bt_selector metric_selector;
	struct bt_json_value *items;
};

static bool parse_selector(struct bt_front_call *call, struct bt_str text, struct bt_selector *out)
{
	struct berth_error err = BERTH_ERROR_INIT;

	*out = (struct bt_selector){.nothing = false};
	if (text.data == NULL || bt_selector_parse(text, &call->arena, out, &err) == 0) {
		return true;
	}
	(void)bt_front_fail(call, 400, "BadRequest", "unable to parse requirement: %s",
		berth_error_message(&err));
	berth_error_finish(&err);
	return false;
}

/** Adds the metric of one object, if the object has it. */
static void add_object(struct values *values, const struct bt_api_resource *resource,
	const struct bt_json_value *object)
{
	const struct bt_route *route = &values->call->route;
	struct bt_arena *arena = &values->call->arena;
	struct bt_api *api = values->call->front->api;
	struct bt_str namespace_ = bt_json_text_at(object, "metadata.namespace");
	double value;

	if (!bt_custom_metric_sum(api, object, BT_ANNOTATION_METRICS, route->text,
		    &values->metric_selector, arena, &value)) {
		return;
	}
	struct bt_json_value *item = bt_json_put(arena, NULL,
		"{describedObject: {kind: %c, namespace?: %s, name: %s, apiVersion: %s}}",
		resource->kind, bt_arena_str(arena, namespace_),
		bt_arena_str(arena, bt_json_text_at(object, "metadata.name")),
		bt_arena_printf(arena, "%s/%s", resource->group, resource->version));
	bt_json_put(arena, item,
		bt_str_equal_c(route->version, "v1beta1") ? "{metricName: %s}"
							  : "{metric: {name: %s}}",
		route->text);
	bt_json_put(arena, values->items, "[%v]",
		bt_json_put(arena, item, "{timestamp: %s, value: %s}",
			bt_time_text(arena, bt_api_now_ns(api)),
			bt_custom_metric_quantity(arena, value)));
}

/** Adds the metric of all objects that the label selector matches; false: sets call->failure. */
static bool add_selected(struct values *values)
{
	struct bt_front_call *call = values->call;
	const struct bt_route *route = &call->route;
	struct bt_str prefix = bt_api_key(&call->arena, route->namespace_, BT_STR(""));
	struct bt_selector selector;
	const struct bt_stored *stored;
	struct bt_arena scratch = {0};

	if (!parse_selector(call, call->query.list.label_selector, &selector)) {
		return false;
	}
	struct bt_store_walk walk = bt_store_walk_current(
		bt_api_store(call->front->api), route->resource->collection, prefix);
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
	bt_arena_finish(&scratch);
	return true;
}

static bool add_externals(struct values *values)
{
	struct bt_front_call *call = values->call;
	const struct bt_route *route = &call->route;
	struct bt_api *api = call->front->api;
	struct bt_json_value *namespace_ =
		bt_api_read(api, bt_resources_builtin(bt_api_resources(api), "", "namespaces"),
			route->namespace_, &call->arena);
	struct bt_str rest = bt_custom_metrics_of(namespace_, BT_ANNOTATION_EXTERNAL_METRICS);
	struct bt_custom_metric metric;
	struct bt_selector selector;

	if (!parse_selector(call, call->query.list.label_selector, &selector)) {
		return false;
	}
	while (bt_custom_metric_next(api, &rest, route->text, &selector, &call->arena, &metric)) {
		struct bt_arena *arena = &call->arena;
		struct bt_json_value *labels = bt_json_new(arena, BT_JSON_OBJECT);

		for (uint32_t i = 0; i < metric.labels.count; i++) {
			bt_json_set(arena, labels, metric.labels.items[i].key,
				bt_json_new_str(arena, metric.labels.items[i].value));
		}
		bt_json_put(arena, values->items,
			"[{metricName: %s, metricLabels: %v, timestamp: %s, value: %s}]",
			metric.name, labels, bt_time_text(arena, bt_api_now_ns(api)),
			bt_custom_metric_quantity(arena, metric.value));
	}
	return true;
}

/** Serves a metric; false: sets call->failure. */
static bool send_custom_metrics(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	struct bt_arena *arena = &call->arena;
	struct values values = {.call = call, .items = bt_json_new(arena, BT_JSON_ARRAY)};
	bool is_external = bt_str_equal_c(route->group, BT_EXTERNAL_METRICS_GROUP);

	if (!bt_accept_document(bt_front_find_header(call, "Accept"), &call->encoding, NULL)) {
		return bt_front_fail(call, 406, "NotAcceptable",
			"only the following media types are accepted: application/json, "
			"application/yaml");
	}
	if (is_external) {
		if (!add_externals(&values)) {
			return false;
		}
	} else if (!parse_selector(
			   call, call->query.metric_label_selector, &values.metric_selector)) {
		return false;
	} else if (bt_str_equal_c(route->name, "*")) {
		if (!add_selected(&values)) {
			return false;
		}
	} else {
		const struct bt_json_value *object = bt_api_read(call->front->api, route->resource,
			bt_api_key(arena, route->namespace_, route->name), arena);
		if (object != NULL) {
			add_object(&values, route->resource, object);
		}
		if (values.items->count == 0) {
			return bt_front_fail(call, 404, "NotFound",
				"the server could not find the metric %.*s for %.*s %.*s",
				BT_STR_ARG(route->text), BT_STR_ARG(route->described),
				BT_STR_ARG(route->name));
		}
	}
	bt_front_send_document(call, 200,
		bt_json_put(arena, NULL, "{kind: %c, apiVersion: %s, metadata: {}, items: %v}",
			is_external ? "ExternalMetricValueList" : "MetricValueList",
			bt_arena_printf(arena, "%.*s/%.*s", BT_STR_ARG(route->group),
				BT_STR_ARG(route->version)),
			values.items));
	return true;
}

static bool send_discovery(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	const struct bt_resources *resources = bt_api_resources(call->front->api);
	struct bt_arena *arena = &call->arena;
	bool has_forms = route->kind == BT_ROUTE_CORE || route->kind == BT_ROUTE_GROUPS;
	enum bt_discovery_form form = BT_DISCOVERY_LEGACY;
	const struct bt_json_value *document;
	if (!bt_accept_document(bt_front_find_header(call, "Accept"), &call->encoding,
		    has_forms ? &form : NULL)) {
		return bt_front_fail(call, 406, "NotAcceptable",
			"only the following media types are accepted: application/json, "
			"application/yaml, application/vnd.kubernetes.protobuf");
	}
	if (has_forms) {
		bt_front_header(call, "Vary", BT_STR("Accept"));
	}
	if (form != BT_DISCOVERY_LEGACY) {
		char hash[BT_OPENAPI_HASH_BYTES];
		(void)bt_encode_document(&call->encoding,
			bt_discovery_aggregated(
				resources, route->kind == BT_ROUTE_CORE, form, arena),
			&call->body); /* the encoding is always JSON here */
		bt_openapi_hash(bt_strbuf_str(&call->body), hash);
		call->cache_control = "public";
		if (send_if_changed(call, hash)) {
			bt_front_send(call, 200,
				form == BT_DISCOVERY_V2
					? "application/json;g=apidiscovery.k8s.io;v=v2;"
					  "as=APIGroupDiscoveryList"
					: "application/json;g=apidiscovery.k8s.io;"
					  "v=v2beta1;as=APIGroupDiscoveryList");
		}
		return true;
	}
	if (route->kind == BT_ROUTE_ROOT) {
		document = bt_discovery_paths(resources, arena);
	} else if (route->kind == BT_ROUTE_VERSION) {
		document = bt_json_put(arena, NULL,
			"{major: '1', minor: '36', gitVersion: 'v1.36.2', gitCommit: 'berth',"
			" gitTreeState: 'clean', buildDate: '2026-01-01T00:00:00Z',"
			" goVersion: 'none', compiler: 'none', platform: 'linux/amd64'}");
	} else if (route->kind == BT_ROUTE_CORE) {
		document = bt_json_put(arena, NULL,
			"{kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs:"
			" [{clientCIDR: '0.0.0.0/0', serverAddress: %s}]}",
			bt_arena_str(arena, bt_front_find_header(call, "Host")));
	} else if (route->kind == BT_ROUTE_GROUPS || route->kind == BT_ROUTE_GROUP) {
		document = bt_discovery_groups(resources, route->group, arena);
	} else {
		document = bt_discovery_resources(resources, route->group, route->version, arena);
	}
	bt_front_send_document(call, 200, document);
	return true;
}

/* Serves the documents with which other programs verify tokens of ServiceAccounts. */
static bool send_openid(struct bt_front_call *call)
{
	bool is_keys = call->route.kind == BT_ROUTE_OPENID_KEYS;
	struct bt_str host = bt_front_find_header(call, "Host");
	const struct bt_json_value *document = is_keys
		? bt_openid_keys(call->front->api, &call->arena)
		: bt_json_put(&call->arena, NULL,
			  "{issuer: %c, jwks_uri: %s, response_types_supported: ['id_token'], "
			  "subject_types_supported: ['public'], "
			  "id_token_signing_alg_values_supported: ['ES256']}",
			  BT_TOKEN_ISSUER,
			  bt_arena_printf(
				  &call->arena, "https://%.*s/openid/v1/jwks", BT_STR_ARG(host)));
	if (document == NULL) {
		return bt_front_fail(call, 500, "InternalError",
			"Internal error occurred: there is no key to sign tokens with");
	}
	bt_json_format(document, &call->body);
	call->cache_control = "public, max-age=3600";
	bt_front_send(call, 200, is_keys ? "application/jwk-set+json" : "application/json");
	return true;
}

bool bt_front_page(struct bt_front_call *call)
{
	enum bt_route_kind kind = call->route.kind;
	struct bt_str name;
	bool is_ok;
	bool is_protobuf;
	if (!bt_front_authorize(call)) {
		return false;
	}
	if (kind == BT_ROUTE_UNKNOWN || kind == BT_ROUTE_BROKEN) {
		bool is_broken = kind == BT_ROUTE_BROKEN;
		bt_front_send_text(call, is_broken ? 400 : 404,
			is_broken ? "400 Bad Request\n" : "404 page not found\n");
		return true;
	}
	if (kind == BT_ROUTE_MISSING) {
		return bt_front_fail(
			call, 404, "NotFound", "the server could not find the requested resource");
	}
	if (!bt_str_has_word(BT_STR("GET HEAD"), call->request.method)) {
		return bt_front_fail(call, 405, "MethodNotAllowed",
			"the server does not allow this method on the requested resource");
	}
	switch (kind) {
	case BT_ROUTE_HEALTH:
		name = call->route.text;
		is_ok = !bt_str_equal_c(name, "readyz") || call->front->is_ready;
		if (is_ok && call->query.verbose.data == NULL) {
			bt_front_send_text(call, 200, "ok");
			return true;
		}
		bt_front_send_text(call, is_ok ? 200 : 500,
			bt_arena_printf(&call->arena, "[+]ping ok\n[%s]startup %s\n%.*s check %s\n",
				is_ok ? "+" : "-", is_ok ? "ok" : "failed: objects are being read",
				BT_STR_ARG(name), is_ok ? "passed" : "failed")
				.data);
		return true;
	case BT_ROUTE_METRICS:
		bt_metrics_write(call->front->metrics, BT_METRICS_TEXT, &call->body);
		bt_front_send(call, 200,
			"text/plain; version=0.0.4; charset=utf-8; escaping=underscores");
		return true;
	case BT_ROUTE_CUSTOM_METRICS:
		return send_custom_metrics(call);
	case BT_ROUTE_OPENID_CONFIGURATION:
	case BT_ROUTE_OPENID_KEYS:
		return send_openid(call);
	case BT_ROUTE_OPENAPI_V2:
		if (bt_accept_openapi(bt_front_find_header(call, "Accept"), &is_protobuf)) {
			send_cached(call, is_protobuf ? BT_OPENAPI_V2_PROTOBUF : BT_OPENAPI_V2);
		} else {
			bt_front_send_text(call, 406, "");
		}
		return true;
	case BT_ROUTE_OPENAPI_V3:
		if (call->route.text.length != 0) {
			send_v3_group(call);
		} else {
			send_cached(call, BT_OPENAPI_V3_INDEX);
		}
		return true;
	case BT_ROUTE_ROOT:
	case BT_ROUTE_VERSION:
	case BT_ROUTE_CORE:
	case BT_ROUTE_GROUPS:
	case BT_ROUTE_GROUP:
	case BT_ROUTE_RESOURCES:
		return send_discovery(call);
	case BT_ROUTE_UNKNOWN:
	case BT_ROUTE_BROKEN:
	case BT_ROUTE_MISSING:
	case BT_ROUTE_RESOURCE:
		break;
	}
	BT_ASSERT(false);
	return false;
}

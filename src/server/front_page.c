/* SPDX-License-Identifier: Apache-2.0 */
/** Paths that are no resources: discovery, version, health. Spec: 14 sections 5 and 6. */
#include "codec/json_edit.h"
#include "schema/openapi.h"
#include "server/front_private.h"
#include "server/service_account_token.h"

static struct bt_json_value *version_document(struct bt_arena *arena)
{
	static const char *const pairs[][2] = {
		{"major", "1"},
		{"minor", "36"},
		{"gitVersion", "v1.36.2"},
		{"gitCommit", "berth"},
		{"gitTreeState", "clean"},
		{"buildDate", "2026-01-01T00:00:00Z"},
		{"goVersion", "none"},
		{"compiler", "none"},
		{"platform", "linux/amd64"},
	};
	struct bt_json_value *object = bt_json_new(arena, BT_JSON_OBJECT);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(pairs); i++) {
		bt_json_set_c(arena, object, pairs[i][0], pairs[i][1]);
	}
	return object;
}

static void send_health(struct bt_front_call *call)
{
	struct bt_str name = call->route.text;
	bool is_ok = !bt_str_equal_c(name, "readyz") || call->front->is_ready;
	if (is_ok && call->query.verbose.data == NULL) {
		bt_front_send_text(call, 200, "ok");
		return;
	}
	struct bt_str text =
		bt_arena_printf(&call->arena, "[+]ping ok\n[%s]startup %s\n%.*s check %s\n",
			is_ok ? "+" : "-", is_ok ? "ok" : "failed: objects are being read",
			BT_STR_ARG(name), is_ok ? "passed" : "failed");
	bt_front_send_text(call, is_ok ? 200 : 500, text.data);
}

static void refuse_accept(struct bt_front_call *call)
{
	(void)bt_fail(&call->failure, &call->arena, 406, "NotAcceptable",
		"only the following media types are accepted: application/json, application/yaml, "
		"application/vnd.kubernetes.protobuf");
	bt_front_send_failure(call);
}

bool bt_front_send_if_changed(struct bt_front_call *call, const char *hash)
{
	struct bt_str etag = bt_arena_printf(&call->arena, "\"%s\"", hash);
	bt_front_header(call, "ETag", etag);
	struct bt_str given = call->front->wire->header(call->exchange, "If-None-Match");
	if (!(given.length != 0 && bt_str_find(given, etag) >= 0)) {
		return true;
	}
	bt_strbuf_reset(&call->body);
	/* No Content-Type: a client overwrites its cached headers with those of a 304. */
	bt_front_send(call, 304, NULL);
	return false;
}

static void send_groups(struct bt_front_call *call, bool is_core)
{
	const struct bt_resources *resources = bt_api_resources(call->front->api);
	enum bt_discovery_form form;
	if (!bt_accept_discovery(
		    call->front->wire->header(call->exchange, "Accept"), &call->encoding, &form)) {
		refuse_accept(call);
		return;
	}
	if (form != BT_DISCOVERY_LEGACY) {
		char hash[BT_OPENAPI_HASH_BYTES];
		(void)bt_encode_document(&call->encoding,
			bt_discovery_aggregated(resources, is_core, form, &call->arena),
			&call->body); /* the encoding is always JSON here */
		bt_openapi_hash(bt_strbuf_str(&call->body), hash);
		bt_front_header(call, "Cache-Control", BT_STR("public"));
		bt_front_header(call, "Vary", BT_STR("Accept"));
		if (bt_front_send_if_changed(call, hash)) {
			bt_front_send(call, 200,
				form == BT_DISCOVERY_V2
					? "application/json;g=apidiscovery.k8s.io;v=v2;"
					  "as=APIGroupDiscoveryList"
					: "application/json;g=apidiscovery.k8s.io;v=v2beta1;"
					  "as=APIGroupDiscoveryList");
		}
		return;
	}
	struct bt_str host = call->front->wire->header(call->exchange, "Host");
	bt_front_header(call, "Vary", BT_STR("Accept"));
	bt_front_send_document(call, 200,
		is_core ? bt_discovery_core(host, &call->arena)
			: bt_discovery_groups(resources, &call->arena));
}

static void send_discovery(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	const struct bt_resources *resources = bt_api_resources(call->front->api);
	struct bt_arena *arena = &call->arena;
	if (!bt_accept_document(
		    call->front->wire->header(call->exchange, "Accept"), &call->encoding)) {
		refuse_accept(call);
		return;
	}
	switch (route->kind) {
	case BT_ROUTE_ROOT:
		bt_front_send_document(call, 200, bt_discovery_paths(resources, arena));
		return;
	case BT_ROUTE_VERSION:
		bt_front_send_document(call, 200, version_document(arena));
		return;
	case BT_ROUTE_GROUP:
		bt_front_send_document(
			call, 200, bt_discovery_group(resources, route->group, arena));
		return;
	case BT_ROUTE_RESOURCES:
		bt_front_send_document(call, 200,
			bt_discovery_resources(resources, route->group, route->version, arena));
		return;
	case BT_ROUTE_UNKNOWN:
	case BT_ROUTE_BROKEN:
	case BT_ROUTE_MISSING:
	case BT_ROUTE_HEALTH:
	case BT_ROUTE_METRICS:
	case BT_ROUTE_CORE:
	case BT_ROUTE_GROUPS:
	case BT_ROUTE_OPENID_CONFIGURATION:
	case BT_ROUTE_OPENID_KEYS:
	case BT_ROUTE_OPENAPI_V2:
	case BT_ROUTE_OPENAPI_V3:
	case BT_ROUTE_RESOURCE:
	case BT_ROUTE_CUSTOM_METRICS:
		break;
	}
	bt_front_send_text(call, 404, "404 page not found\n");
}

/* Serves the documents with which other programs verify tokens of ServiceAccounts. */
static void send_openid(struct bt_front_call *call)
{
	bool is_keys = call->route.kind == BT_ROUTE_OPENID_KEYS;
	struct bt_json_writer writer;
	const struct bt_json_value *document = is_keys
		? bt_openid_keys(call->front->api, &call->arena)
		: bt_openid_configuration(
			  call->front->wire->header(call->exchange, "Host"), &call->arena);
	if (document == NULL) {
		(void)bt_fail(&call->failure, &call->arena, 500, "InternalError",
			"Internal error occurred: there is no key to sign tokens with");
		bt_front_send_failure(call);
		return;
	}
	bt_json_writer_init(&writer, &call->body, 0);
	bt_json_write_value(&writer, document);
	bt_front_header(call, "Cache-Control", BT_STR("public, max-age=3600"));
	bt_front_send(call, 200, is_keys ? "application/jwk-set+json" : "application/json");
}

void bt_front_page(struct bt_front_call *call)
{
	struct bt_str method = call->request.method;
	if (!bt_front_authorize(call)) {
		bt_front_send_failure(call);
		return;
	}
	switch (call->route.kind) {
	case BT_ROUTE_UNKNOWN:
		bt_front_send_text(call, 404, "404 page not found\n");
		return;
	case BT_ROUTE_BROKEN:
		bt_front_send_text(call, 400, "400 Bad Request\n");
		return;
	case BT_ROUTE_MISSING:
		(void)bt_fail(&call->failure, &call->arena, 404, "NotFound",
			"the server could not find the requested resource");
		bt_front_send_failure(call);
		return;
	case BT_ROUTE_ROOT:
	case BT_ROUTE_VERSION:
	case BT_ROUTE_HEALTH:
	case BT_ROUTE_METRICS:
	case BT_ROUTE_CORE:
	case BT_ROUTE_GROUPS:
	case BT_ROUTE_GROUP:
	case BT_ROUTE_RESOURCES:
	case BT_ROUTE_OPENID_CONFIGURATION:
	case BT_ROUTE_OPENID_KEYS:
	case BT_ROUTE_OPENAPI_V2:
	case BT_ROUTE_OPENAPI_V3:
	case BT_ROUTE_RESOURCE:
	case BT_ROUTE_CUSTOM_METRICS:
		break;
	}
	if (!bt_str_equal_c(method, "GET") && !bt_str_equal_c(method, "HEAD")) {
		(void)bt_fail(&call->failure, &call->arena, 405, "MethodNotAllowed",
			"the server does not allow this method on the requested resource");
		bt_front_send_failure(call);
	} else if (call->route.kind == BT_ROUTE_HEALTH) {
		send_health(call);
	} else if (call->route.kind == BT_ROUTE_METRICS) {
		bt_front_send_metrics(call);
	} else if (call->route.kind == BT_ROUTE_CUSTOM_METRICS) {
		bt_front_custom_metrics(call);
	} else if (call->route.kind == BT_ROUTE_CORE || call->route.kind == BT_ROUTE_GROUPS) {
		send_groups(call, call->route.kind == BT_ROUTE_CORE);
	} else if (call->route.kind == BT_ROUTE_OPENID_CONFIGURATION ||
		call->route.kind == BT_ROUTE_OPENID_KEYS) {
		send_openid(call);
	} else if (call->route.kind == BT_ROUTE_OPENAPI_V2 ||
		call->route.kind == BT_ROUTE_OPENAPI_V3) {
		bt_front_openapi(call);
	} else {
		send_discovery(call);
	}
}

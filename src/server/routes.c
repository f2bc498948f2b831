/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes.h"

#include "net/http_server.h"
#include "server/custom_metrics.h"

/* Paths with more segments are unknown. */
#define SEGMENTS_MAX 16

struct segments {
	struct bt_str items[SEGMENTS_MAX];
	uint32_t count;
};

/*
 * Splits a path at its slashes. Empty segments are skipped, except an empty namespace, which means
 * all namespaces. Spec: 14 section 5.
 */
static bool split(struct bt_str path, struct segments *out)
{
	uint32_t start = 0;
	out->count = 0;
	for (uint32_t i = 0; i <= path.length; i++) {
		if (i < path.length && path.data[i] != '/') {
			continue;
		}
		struct bt_str segment = bt_str_sub(path, start, i - start);
		start = i + 1;
		bool is_namespace =
			out->count != 0 && bt_str_equal_c(out->items[out->count - 1], "namespaces");
		if (segment.length == 0 && (!is_namespace || i == path.length)) {
			continue;
		}
		if (out->count == SEGMENTS_MAX) {
			return false;
		}
		out->items[out->count++] = segment;
	}
	return true;
}

static bool segment_is(const struct segments *segments, uint32_t index, const char *text)
{
	return index < segments->count && bt_str_equal_c(segments->items[index], text);
}

/* Returns whether the group serves custom or external metrics. version absent: in any version. */
static bool has_metrics(struct bt_str group, struct bt_str version)
{
	for (uint32_t i = 0; i < BT_CUSTOM_METRICS_VERSIONS; i++) {
		if (bt_str_equal_c(group, bt_custom_metrics_versions[i].group) &&
			(version.data == NULL ||
				bt_str_equal_c(version, bt_custom_metrics_versions[i].version))) {
			return true;
		}
	}
	return false;
}

/* version absent: in any version. */
static bool version_is_served(
	const struct bt_resources *resources, struct bt_str group, struct bt_str version)
{
	for (uint32_t i = 0; i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (bt_str_equal_c(group, resource->group) &&
			(version.data == NULL || bt_str_equal_c(version, resource->version))) {
			return true;
		}
	}
	return has_metrics(group, version);
}

/*
 * Parses "watch/", "namespaces/<ns>/", resource, name and subresource, beginning at segment `at`.
 */
static enum bt_route_kind parse_resource(const struct bt_resources *resources,
	const struct segments *segments, uint32_t at, struct bt_route *out)
{
	if (segment_is(segments, at, "watch") && at + 1 < segments->count) {
		out->is_watch = true;
		at++;
	}
	bool is_subresource_of_namespace = out->group.length == 0 &&
		segment_is(segments, at, "namespaces") &&
		(segment_is(segments, at + 2, "status") ||
			segment_is(segments, at + 2, "finalize")) &&
		segments->items[at + 1].length != 0;
	bool is_scoped = segment_is(segments, at, "namespaces") && segments->count - at >= 3 &&
		!is_subresource_of_namespace;
	if (is_scoped) {
		out->namespace_ = segments->items[at + 1];
		at += 2;
	}
	out->resource = bt_resources_find(resources, out->group, out->version, segments->items[at]);
	out->text = segments->items[at];
	if (out->resource == NULL || (is_scoped && !out->resource->namespaced)) {
		return BT_ROUTE_MISSING;
	}
	uint32_t left = segments->count - at - 1;
	if (left >= 1) {
		out->name = segments->items[at + 1];
		if (out->resource->namespaced && out->namespace_.length == 0) {
			return BT_ROUTE_MISSING;
		}
	}
	if (left < 2) {
		return BT_ROUTE_RESOURCE;
	}
	/* Set the subresource even if the route is missing, because authorization needs it. */
	for (int i = BT_SUBRESOURCE_NONE + 1; i < BT_SUBRESOURCE__COUNT; i++) {
		if (bt_str_equal_c(
			    segments->items[at + 2], bt_subresource_name((enum bt_subresource)i))) {
			out->subresource = (enum bt_subresource)i;
		}
	}
	if (out->subresource == BT_SUBRESOURCE_NONE ||
		bt_api_verbs(out->resource, out->subresource) == 0 || out->is_watch) {
		return BT_ROUTE_MISSING;
	}
	/* a proxied path may have more segments */
	return left == 2 || out->subresource == BT_SUBRESOURCE_PROXY ? BT_ROUTE_RESOURCE
								     : BT_ROUTE_MISSING;
}

/*
 * Parses the segments after the version: for external metrics "namespaces/<ns>/<metric>", else
 * "[namespaces/<ns>/]<resource>/<name>/<metric>" or "namespaces/<ns>/metrics/<metric>".
 */
static enum bt_route_kind parse_custom_metrics(
	const struct bt_resources *resources, const struct segments *segments, struct bt_route *out)
{
	bool is_external = bt_str_equal_c(out->group, BT_EXTERNAL_METRICS_GROUP);
	uint32_t count = segments->count - 3;
	const struct bt_str *items = segments->items + 3;
	bool is_scoped = segment_is(segments, 3, "namespaces");
	out->text = items[count - 1];
	if (is_external) {
		out->described = out->text;
		out->namespace_ = count == 3 && is_scoped ? items[1] : BT_STR("");
		return out->namespace_.length != 0 ? BT_ROUTE_CUSTOM_METRICS : BT_ROUTE_UNKNOWN;
	}
	if (count == 4 && is_scoped && bt_str_equal_c(items[2], "metrics")) {
		out->described = BT_STR("namespaces");
		out->name = items[1];
	} else if (count == 3 || (count == 5 && is_scoped)) {
		out->described = items[count - 3];
		out->name = items[count - 2];
		out->namespace_ = count == 5 ? items[1] : BT_STR("");
	} else {
		return BT_ROUTE_UNKNOWN;
	}
	/* "pods" or "ingresses.networking.k8s.io" */
	struct bt_str group = out->described;
	struct bt_str plural = bt_str_cut(&group, '.');
	for (uint32_t i = 0; out->resource == NULL && i < bt_resources_count(resources); i++) {
		const struct bt_api_resource *resource = bt_resources_at(resources, i);
		if (bt_str_equal_c(plural, resource->name) &&
			(group.data == NULL || bt_str_equal_c(group, resource->group))) {
			out->resource = resource;
		}
	}
	if (out->resource == NULL || out->resource->namespaced != (out->namespace_.length != 0)) {
		out->text = out->described;
		return BT_ROUTE_MISSING;
	}
	return BT_ROUTE_CUSTOM_METRICS;
}

/* Parses the version at segment `at`, and the segments after it. */
static enum bt_route_kind parse_version(const struct bt_resources *resources,
	const struct segments *segments, uint32_t at, struct bt_route *out)
{
	out->version = segments->items[at];
	if (!version_is_served(resources, out->group, out->version)) {
		return BT_ROUTE_UNKNOWN;
	}
	if (segments->count == at + 1) {
		return BT_ROUTE_RESOURCES;
	}
	return has_metrics(out->group, out->version)
		? parse_custom_metrics(resources, segments, out)
		: parse_resource(resources, segments, at + 1, out);
}

static enum bt_route_kind parse_other(
	const struct segments *segments, struct bt_str path, struct bt_route *out)
{
	static const struct {
		const char *path;
		enum bt_route_kind kind;
	} pages[] = {
		{"version", BT_ROUTE_VERSION},
		{"metrics", BT_ROUTE_METRICS},
		{".well-known/openid-configuration", BT_ROUTE_OPENID_CONFIGURATION},
		{"openid/v1/jwks", BT_ROUTE_OPENID_KEYS},
		{"swagger-2.0.0.pb-v1", BT_ROUTE_OPENAPI_V2},
		{"openapi/v2", BT_ROUTE_OPENAPI_V2},
	};
	uint32_t count = segments->count;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(pages); i++) {
		struct bt_str rest = bt_str_from(pages[i].path);
		uint32_t same = 0;
		while (same < count &&
			bt_str_equal(segments->items[same], bt_str_cut(&rest, '/'))) {
			same++;
		}
		if (same == count && rest.data == NULL) {
			return pages[i].kind;
		}
	}
	if (segment_is(segments, 0, "healthz") || segment_is(segments, 0, "livez") ||
		segment_is(segments, 0, "readyz")) {
		out->text = segments->items[0];
		return count == 1 || (count == 2 && segment_is(segments, 1, "ping"))
			? BT_ROUTE_HEALTH
			: BT_ROUTE_UNKNOWN;
	}
	if (segment_is(segments, 0, "openapi") && segment_is(segments, 1, "v3")) {
		const char *end = path.data + path.length;
		out->text = BT_STR("");
		if (count > 2) {
			out->text = segments->items[2];
			out->text.length = (uint32_t)(end - out->text.data);
		}
		return BT_ROUTE_OPENAPI_V3;
	}
	return BT_ROUTE_UNKNOWN;
}

void bt_route_parse(const struct bt_resources *resources, struct bt_str path,
	struct bt_arena *arena, struct bt_route *out_route)
{
	struct bt_strbuf decoded = {0};
	struct segments segments;
	*out_route = (struct bt_route){.path = path,
		.text = BT_STR(""),
		.namespace_ = BT_STR(""),
		.name = BT_STR(""),
		.described = BT_STR("")};
	if (bt_str_find_char(path, '%') >= 0) {
		if (!bt_http_percent_decode(path, false, &decoded)) {
			bt_strbuf_finish(&decoded);
			out_route->kind = BT_ROUTE_BROKEN;
			return;
		}
		path = bt_strbuf_str(&decoded);
	}
	path = bt_arena_str(arena, path);
	out_route->path = path;
	bt_strbuf_finish(&decoded);
	if (path.length == 0 || path.data[0] != '/' || !split(path, &segments)) {
		out_route->kind = BT_ROUTE_UNKNOWN;
	} else if (segments.count == 0) {
		out_route->kind = BT_ROUTE_ROOT;
	} else if (segment_is(&segments, 0, "api")) {
		out_route->group = BT_STR("");
		out_route->kind = segments.count == 1
			? BT_ROUTE_CORE
			: parse_version(resources, &segments, 1, out_route);
	} else if (segment_is(&segments, 0, "apis") && segments.count == 1) {
		out_route->kind = BT_ROUTE_GROUPS;
	} else if (segment_is(&segments, 0, "apis")) {
		struct bt_str any = {NULL, 0};
		struct bt_str group = segments.items[1];
		out_route->group = group;
		out_route->kind = group.length == 0 || !version_is_served(resources, group, any)
			? BT_ROUTE_UNKNOWN
			: segments.count == 2 ? BT_ROUTE_GROUP
					      : parse_version(resources, &segments, 2, out_route);
	} else {
		out_route->kind = parse_other(&segments, path, out_route);
	}
}

enum bt_verb bt_route_method_verb(
	const struct bt_route *route, struct bt_str method, bool wants_watch)
{
	bool is_collection = route->name.length == 0;
	if (bt_str_has_word(BT_STR("GET HEAD"), method)) {
		return route->is_watch || (is_collection && wants_watch) ? BT_VERB_WATCH
			: is_collection                                  ? BT_VERB_LIST
									 : BT_VERB_GET;
	}
	if (bt_str_equal_c(method, "DELETE")) {
		return is_collection ? BT_VERB_DELETE_COLLECTION : BT_VERB_DELETE;
	}
	return bt_str_equal_c(method, "POST")     ? BT_VERB_CREATE
		: bt_str_equal_c(method, "PUT")   ? BT_VERB_UPDATE
		: bt_str_equal_c(method, "PATCH") ? BT_VERB_PATCH
						  : BT_VERB__COUNT;
}

bool bt_route_verb(const struct bt_route *route, struct bt_str method, bool wants_watch,
	enum bt_verb *out_verb)
{
	bool is_collection = route->name.length == 0;
	if (route->subresource == BT_SUBRESOURCE_PROXY) {
		*out_verb = BT_VERB_GET;
		return true;
	}
	enum bt_verb verb = bt_route_method_verb(route, method, wants_watch);
	bool is_in_all_namespaces = route->resource->namespaced && route->namespace_.length == 0;
	bool is_at_object = verb == BT_VERB_UPDATE || verb == BT_VERB_PATCH;
	bool is_at_collection = verb == BT_VERB_CREATE && route->subresource == BT_SUBRESOURCE_NONE;
	if (verb == BT_VERB__COUNT || bt_str_equal_c(method, "HEAD") ||
		(route->is_watch && verb != BT_VERB_WATCH) ||
		(is_collection ? is_at_object : is_at_collection) ||
		(bt_api_verbs(route->resource, route->subresource) & 1u << verb) == 0 ||
		(is_in_all_namespaces && verb != BT_VERB_LIST && verb != BT_VERB_WATCH)) {
		return false;
	}
	*out_verb = verb;
	return true;
}

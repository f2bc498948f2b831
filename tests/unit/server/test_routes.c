/* SPDX-License-Identifier: Apache-2.0 */
#include "server/routes.h"

#include "test_main.h"

struct fixture {
	struct bt_store *store;
	struct bt_resources *resources;
	struct bt_arena arena;
};

static void init(struct fixture *fixture)
{
	*fixture = (struct fixture){0};
	fixture->store = bt_store_create(&bt_store_default_options);
	fixture->resources = bt_resources_create(fixture->store, 0);
}

static void finish(struct fixture *fixture)
{
	bt_resources_destroy(fixture->resources);
	bt_store_destroy(fixture->store);
	bt_arena_finish(&fixture->arena);
}

START_TEST(test_routes__kinds)
{
	static const struct {
		const char *path;
		enum bt_route_kind kind;
		const char *text;
	} rows[] = {
		{"/", BT_ROUTE_ROOT, ""},
		{"//", BT_ROUTE_ROOT, ""},
		{"", BT_ROUTE_UNKNOWN, ""},
		{"api", BT_ROUTE_UNKNOWN, ""},
		{"*", BT_ROUTE_UNKNOWN, ""},
		{"/version", BT_ROUTE_VERSION, ""},
		{"/version/", BT_ROUTE_VERSION, ""},
		{"/version/x", BT_ROUTE_UNKNOWN, ""},
		{"/healthz", BT_ROUTE_HEALTH, "healthz"},
		{"/readyz/ping", BT_ROUTE_HEALTH, "readyz"},
		{"/livez/nope", BT_ROUTE_UNKNOWN, ""},
		{"/api", BT_ROUTE_CORE, ""},
		{"/api/", BT_ROUTE_CORE, ""},
		{"/apis", BT_ROUTE_GROUPS, ""},
		{"/apis/apps", BT_ROUTE_GROUP, ""},
		{"/apis/nope", BT_ROUTE_UNKNOWN, ""},
		{"/api/v1", BT_ROUTE_RESOURCES, ""},
		{"/api/v2", BT_ROUTE_UNKNOWN, ""},
		{"/apis/apps/v1", BT_ROUTE_RESOURCES, ""},
		{"/apis/apps/v1/", BT_ROUTE_RESOURCES, ""},
		{"/apis/apps/v9", BT_ROUTE_UNKNOWN, ""},
		{"/openapi/v2", BT_ROUTE_OPENAPI_V2, ""},
		{"/swagger-2.0.0.pb-v1", BT_ROUTE_OPENAPI_V2, ""},
		{"/openapi/v3", BT_ROUTE_OPENAPI_V3, ""},
		{"/openapi/v3/", BT_ROUTE_OPENAPI_V3, ""},
		{"/openapi/v3/apis/apps/v1", BT_ROUTE_OPENAPI_V3, "apis/apps/v1"},
		{"/openapi", BT_ROUTE_UNKNOWN, ""},
		{"/metrics", BT_ROUTE_METRICS, ""},
		{"/openid/v1/jwks", BT_ROUTE_OPENID_KEYS, ""},
		{"/openid/v1", BT_ROUTE_UNKNOWN, ""},
		{"/openid/v1/jwks/x", BT_ROUTE_UNKNOWN, ""},
		{"/.well-known/openid-configuration", BT_ROUTE_OPENID_CONFIGURATION, ""},
		{"/api/v1/%zz", BT_ROUTE_BROKEN, ""},
		{"/api/v1/pods%00", BT_ROUTE_BROKEN, ""},
		{"/%61pi/v1", BT_ROUTE_RESOURCES, ""},
		{"/api/v1/foos", BT_ROUTE_MISSING, "foos"},
		{"/api/v1/watch", BT_ROUTE_MISSING, "watch"},
		{"/api/v1/namespaces/a/nodes", BT_ROUTE_MISSING, "nodes"},
		{"/api/v1/namespaces//nodes", BT_ROUTE_MISSING, "nodes"},
		{"/api/v1/pods/x", BT_ROUTE_MISSING, "pods"},
		{"/api/v1/namespaces/a/pods/x/nope", BT_ROUTE_MISSING, "pods"},
		{"/api/v1/namespaces/a/pods/x/status/y", BT_ROUTE_MISSING, "pods"},
		{"/api/v1/namespaces/a/configmaps/x/status", BT_ROUTE_MISSING, "configmaps"},
		{"/apis/apps/v1/namespaces/a", BT_ROUTE_MISSING, "namespaces"},
		{"/a/b/c/d/e/f/g/h/i/j/k/l/m/n/o/p/q/r/s", BT_ROUTE_UNKNOWN, ""},
	};
	struct fixture fixture;
	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_route route;
		bt_route_parse(
			fixture.resources, bt_str_from(rows[i].path), &fixture.arena, &route);
		ck_assert_msg(
			route.kind == rows[i].kind, "%s: kind %d", rows[i].path, (int)route.kind);
		if (route.kind != BT_ROUTE_UNKNOWN) {
			ck_assert_msg(
				bt_str_equal_c(route.text, rows[i].text), "%s: text", rows[i].path);
		}
	}
	finish(&fixture);
}
END_TEST

START_TEST(test_routes__resources)
{
	static const struct {
		const char *path;
		const char *resource;
		const char *namespace_;
		const char *name;
		enum bt_subresource subresource;
		bool is_watch;
	} rows[] = {
		{"/api/v1/nodes", "nodes", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/nodes/", "nodes", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/nodes/n", "nodes", "", "n", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/nodes/n/status", "nodes", "", "n", BT_SUBRESOURCE_STATUS, false},
		{"/api/v1/namespaces", "namespaces", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces/", "namespaces", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces/a", "namespaces", "", "a", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces/a/", "namespaces", "", "a", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces/a/status", "namespaces", "", "a", BT_SUBRESOURCE_STATUS,
			false},
		{"/api/v1/namespaces/a/finalize", "namespaces", "", "a", BT_SUBRESOURCE_FINALIZE,
			false},
		{"/api/v1/pods", "pods", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces//pods", "pods", "", "", BT_SUBRESOURCE_NONE, false},
		{"/api//v1/namespaces/a//pods//p/", "pods", "a", "p", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/namespaces/a/pods/p/binding", "pods", "a", "p", BT_SUBRESOURCE_BINDING,
			false},
		{"/api/v1/namespaces/a/pods/p/proxy/x/y", "pods", "a", "p", BT_SUBRESOURCE_PROXY,
			false},
		{"/api/v1/namespaces/a/bindings", "bindings", "a", "", BT_SUBRESOURCE_NONE, false},
		{"/api/v1/watch/pods", "pods", "", "", BT_SUBRESOURCE_NONE, true},
		{"/api/v1/watch/namespaces/a/pods/p", "pods", "a", "p", BT_SUBRESOURCE_NONE, true},
		{"/apis/apps/v1/namespaces/a/deployments/d/scale", "deployments", "a", "d",
			BT_SUBRESOURCE_SCALE, false},
		{"/api/v1/namespaces/a/configmaps/x%2ey", "configmaps", "a", "x.y",
			BT_SUBRESOURCE_NONE, false},
	};
	struct fixture fixture;
	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_route route;
		bt_route_parse(
			fixture.resources, bt_str_from(rows[i].path), &fixture.arena, &route);
		ck_assert_msg(route.kind == BT_ROUTE_RESOURCE, "%s", rows[i].path);
		ck_assert_msg(strcmp(route.resource->name, rows[i].resource) == 0, "%s: resource",
			rows[i].path);
		ck_assert_msg(bt_str_equal_c(route.namespace_, rows[i].namespace_), "%s: namespace",
			rows[i].path);
		ck_assert_msg(bt_str_equal_c(route.name, rows[i].name), "%s: name", rows[i].path);
		ck_assert_msg(
			route.subresource == rows[i].subresource, "%s: subresource", rows[i].path);
		ck_assert_msg(route.is_watch == rows[i].is_watch, "%s: watch", rows[i].path);
	}
	finish(&fixture);
}
END_TEST

/* A user who may watch pods, but not read their logs, must get 403 here, not 404. */
START_TEST(test_routes__missing_route_keeps_its_subresource)
{
	struct fixture fixture;
	struct bt_route route;
	init(&fixture);
	bt_route_parse(fixture.resources, BT_STR("/api/v1/watch/namespaces/a/pods/p/log"),
		&fixture.arena, &route);
	ck_assert_int_eq(route.kind, BT_ROUTE_MISSING);
	ck_assert_int_eq(route.subresource, BT_SUBRESOURCE_LOG);
	finish(&fixture);
}
END_TEST

START_TEST(test_routes__verbs)
{
	static const struct {
		const char *method;
		const char *path;
		bool wants_watch;
		int verb; /* -1: 405 */
	} rows[] = {
		{"GET", "/api/v1/pods", false, BT_VERB_LIST},
		{"GET", "/api/v1/pods", true, BT_VERB_WATCH},
		{"GET", "/api/v1/watch/pods", false, BT_VERB_WATCH},
		{"GET", "/api/v1/watch/namespaces/a/pods/p", false, BT_VERB_WATCH},
		{"POST", "/api/v1/watch/pods", false, -1},
		{"GET", "/api/v1/namespaces/a/pods/p", true, BT_VERB_GET},
		{"HEAD", "/api/v1/pods", false, -1},
		{"OPTIONS", "/api/v1/pods", false, -1},
		{"POST", "/api/v1/pods", false, -1},
		{"DELETE", "/api/v1/pods", false, -1},
		{"POST", "/api/v1/namespaces/a/pods", false, BT_VERB_CREATE},
		{"POST", "/api/v1/namespaces/a/pods/p", false, -1},
		{"PUT", "/api/v1/namespaces/a/pods", false, -1},
		{"PATCH", "/api/v1/namespaces/a/pods", false, -1},
		{"PUT", "/api/v1/namespaces/a/pods/p", false, BT_VERB_UPDATE},
		{"PATCH", "/api/v1/namespaces/a/pods/p", false, BT_VERB_PATCH},
		{"DELETE", "/api/v1/namespaces/a/pods/p", false, BT_VERB_DELETE},
		{"DELETE", "/api/v1/namespaces/a/pods", false, BT_VERB_DELETE_COLLECTION},
		{"DELETE", "/api/v1/namespaces", false, -1},
		{"DELETE", "/api/v1/nodes", false, BT_VERB_DELETE_COLLECTION},
		{"POST", "/api/v1/namespaces/a/pods/p/binding", false, BT_VERB_CREATE},
		{"GET", "/api/v1/namespaces/a/pods/p/binding", false, -1},
		{"DELETE", "/api/v1/nodes/n/status", false, -1},
		{"PATCH", "/api/v1/nodes/n/status", false, BT_VERB_PATCH},
		{"GET", "/api/v1/namespaces/a/finalize", false, -1},
		{"PUT", "/api/v1/namespaces/a/finalize", false, BT_VERB_UPDATE},
		{"GET", "/api/v1/namespaces/a/bindings", false, -1},
		{"FOO", "/api/v1/nodes", false, -1},
	};
	struct fixture fixture;
	init(&fixture);
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct bt_route route;
		enum bt_verb verb = BT_VERB__COUNT;
		bt_route_parse(
			fixture.resources, bt_str_from(rows[i].path), &fixture.arena, &route);
		bool known = bt_route_verb(
			&route, bt_str_from(rows[i].method), rows[i].wants_watch, &verb);
		ck_assert_msg((known ? (int)verb : -1) == rows[i].verb, "%s %s: %d", rows[i].method,
			rows[i].path, known ? (int)verb : -1);
	}
	finish(&fixture);
}
END_TEST

BT_TEST_MAIN("routes", test_routes__kinds, test_routes__resources,
	test_routes__missing_route_keeps_its_subresource, test_routes__verbs)

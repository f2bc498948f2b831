/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_ROUTES_H
#define BT_SERVER_ROUTES_H
/** The resource or page that a path of the API names. Spec: 14 sections 5, 6 and 9. */
#include <stdbool.h>

#include "base/arena.h"
#include "server/api.h"

enum bt_route_kind {
	BT_ROUTE_UNKNOWN,              /* 404 `404 page not found` */
	BT_ROUTE_BROKEN,               /* 400: invalid percent-encoding */
	BT_ROUTE_MISSING,              /* 404 Status: a served version has no such resource */
	BT_ROUTE_ROOT,                 /* / */
	BT_ROUTE_VERSION,              /* /version */
	BT_ROUTE_HEALTH,               /* /healthz, /livez, /readyz; text: which of them */
	BT_ROUTE_METRICS,              /* /metrics */
	BT_ROUTE_CORE,                 /* /api */
	BT_ROUTE_GROUPS,               /* /apis */
	BT_ROUTE_GROUP,                /* /apis/<group> */
	BT_ROUTE_RESOURCES,            /* /api/v1, /apis/<group>/<version> */
	BT_ROUTE_OPENID_CONFIGURATION, /* /.well-known/openid-configuration */
	BT_ROUTE_OPENID_KEYS,          /* /openid/v1/jwks */
	BT_ROUTE_OPENAPI_V2,
	BT_ROUTE_OPENAPI_V3, /* text: the rest of the path, "" for the index */
	BT_ROUTE_RESOURCE,
	BT_ROUTE_CUSTOM_METRICS, /* a metric of custom.metrics or external.metrics; text: its name
	                          */
};

struct bt_route {
	enum bt_route_kind kind;
	struct bt_str path; /* decoded; as sent if the kind is BT_ROUTE_BROKEN */
	/** See enum bt_route_kind; for BT_ROUTE_MISSING, the resource's name in the path. */
	struct bt_str text;
	struct bt_str group;
	struct bt_str version;
	const struct bt_api_resource *resource;
	enum bt_subresource subresource;
	struct bt_str namespace_; /* "": cluster scope, or all namespaces */
	struct bt_str name;       /* "": a collection */
	bool is_watch;            /* /api/v1/watch/... */
	/** For BT_ROUTE_CUSTOM_METRICS, the object's resource as in the path. */
	struct bt_str described;
};

/** Finds the route of a path. path: as sent, percent-encoded. Texts live in the arena. */
void bt_route_parse(const struct bt_resources *resources, struct bt_str path,
	struct bt_arena *arena, struct bt_route *out_route);
/**
 * Returns the verb of an HTTP method, even if the resource does not have that verb. `wants_watch`:
 * the query has watch=true. BT_VERB__COUNT: the method has no verb.
 */
enum bt_verb bt_route_method_verb(
	const struct bt_route *route, struct bt_str method, bool wants_watch);
/**
 * Like bt_route_method_verb, for a request for a resource. Returns false if the resource does not
 * allow the method (405).
 */
BT_MUST_USE bool bt_route_verb(const struct bt_route *route, struct bt_str method, bool wants_watch,
	enum bt_verb *out_verb);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** Who asks, and what they may do. Spec: 14 section 4. */
#include <string.h>

#include "server/front_private.h"

#define IMPERSONATED_GROUPS_MAX 64

static bool has_group(const struct bt_user *user, const char *group)
{
	for (uint32_t i = 0; i < user->group_count; i++) {
		if (bt_str_equal_c(user->groups[i], group)) {
			return true;
		}
	}
	return false;
}

bool bt_front_is_master(const struct bt_front_call *call)
{
	return has_group(&call->user, "system:masters");
}

static struct bt_str header(const struct bt_front_call *call, const char *name)
{
	return call->front->wire->header(call->exchange, name);
}

/* The host of "host:port", "[address]:port" or "host". */
static struct bt_str host_of(struct bt_str text)
{
	if (text.length != 0 && text.data[0] == '[') {
		int64_t end = bt_str_find_char(text, ']');
		return end < 0 ? text : bt_str_sub(text, 1, (uint32_t)end - 1);
	}
	int64_t colon = bt_str_find_char(text, ':');
	return colon < 0 ? text : bt_str_sub(text, 0, (uint32_t)colon);
}

/* Addresses cannot be bound anew by a name server, and this name never is. */
static bool host_is_safe(struct bt_str host)
{
	bool has_colon = bt_str_find_char(host, ':') >= 0;
	bool is_number = host.length != 0;
	if (bt_str_equal_c(host, "localhost") || has_colon) {
		return true;
	}
	for (uint32_t i = 0; i < host.length; i++) {
		is_number = is_number &&
			((host.data[i] >= '0' && host.data[i] <= '9') || host.data[i] == '.');
	}
	return is_number;
}

/*
 * Without TLS there are no credentials: a web page must not make a browser act as admin, be it by
 * a name that was bound to this address (Host), or by a form or a script (Origin).
 */
static bool refuse_browsers(struct bt_front_call *call)
{
	struct bt_str host = header(call, "Host");
	struct bt_str origin = header(call, "Origin");
	struct bt_str site = header(call, "Sec-Fetch-Site");
	if (host.length != 0 && !host_is_safe(host_of(host))) {
		struct bt_str shown = bt_str_sub(host, 0, 256);
		(void)bt_fail(&call->failure, &call->arena, 403, "Forbidden",
			"forbidden: the host \"%.*s\" is not this server; use its address",
			BT_STR_ARG(shown));
		return false;
	}
	if (origin.data != NULL) {
		struct bt_str own = bt_arena_printf(&call->arena, "http://%.*s", BT_STR_ARG(host));
		if (!bt_str_equal(origin, own)) {
			(void)bt_fail(&call->failure, &call->arena, 403, "Forbidden",
				"forbidden: requests of other web sites are refused");
			return false;
		}
	}
	if (bt_str_equal_c(site, "cross-site") || bt_str_equal_c(site, "same-site")) {
		(void)bt_fail(&call->failure, &call->arena, 403, "Forbidden",
			"forbidden: requests of other web sites are refused");
		return false;
	}
	return true;
}

/* In a time that does not tell how much of it is right. */
static bool same_secret(struct bt_str given, const char *secret)
{
	size_t length = strlen(secret);
	unsigned char difference = given.length != length;
	for (uint32_t i = 0; i < given.length; i++) {
		unsigned char byte = (unsigned char)(length != 0 ? secret[i % length] : 0);
		difference |= (unsigned char)(byte ^ (unsigned char)given.data[i]);
	}
	return difference == 0;
}

static bool refuse_credential(struct bt_front_call *call)
{
	(void)bt_fail(&call->failure, &call->arena, 401, "Unauthorized", "Unauthorized");
	return false;
}

const struct bt_user *bt_front_user_of_token(const struct bt_front *front, struct bt_str token)
{
	const struct bt_user *user = NULL;
	for (uint32_t i = 0; i < front->token_count; i++) {
		if (same_secret(token, front->tokens[i].token) && user == NULL) {
			user = &front->tokens[i].user;
		}
	}
	return user;
}

static bool identify_by_token(struct bt_front_call *call)
{
	static const struct bt_str nobody[] = {BT_STR_INIT("system:unauthenticated")};
	struct bt_str text = header(call, "Authorization");
	if (text.length == 0) {
		call->user = (struct bt_user){
			.name = BT_STR("system:anonymous"), .group_count = 1, .groups = nobody};
		return true;
	}
	struct bt_str scheme = bt_str_sub(text, 0, 6);
	if ((!bt_str_equal_c(scheme, "Bearer") && !bt_str_equal_c(scheme, "bearer")) ||
		!(6 >= text.length || text.data[6] == ' ')) {
		return refuse_credential(call);
	}
	const struct bt_user *user =
		bt_front_user_of_token(call->front, bt_str_sub(text, 7, BT_STR_MAX));
	if (user == NULL) {
		return refuse_credential(call);
	}
	call->user = *user;
	return true;
}

struct group_list {
	struct bt_front_call *call;
	struct bt_str *groups;
	uint32_t count;
};

static void take_group(void *context, struct bt_str value)
{
	struct group_list *list = context;
	if (list->count < IMPERSONATED_GROUPS_MAX) {
		list->groups[list->count++] = bt_arena_str(&list->call->arena, value);
	}
}

static bool impersonate(struct bt_front_call *call)
{
	struct bt_str name = header(call, "Impersonate-User");
	struct group_list list = {.call = call};
	if (name.length == 0) {
		if (header(call, "Impersonate-Group").length == 0 &&
			header(call, "Impersonate-Uid").length == 0) {
			return true;
		}
		(void)bt_fail(&call->failure, &call->arena, 500, "InternalError",
			"Internal Server Error: impersonation of groups without a user");
		return false;
	}
	if (!bt_front_is_master(call)) {
		struct bt_str shown = bt_str_sub(name, 0, 256);
		(void)bt_fail(&call->failure, &call->arena, 403, "Forbidden",
			"users \"%.*s\" is forbidden: User \"%.*s\" cannot impersonate resource "
			"\"users\" in API group \"\" at the cluster scope",
			BT_STR_ARG(shown), BT_STR_ARG(call->user.name));
		call->failure.name = bt_arena_str(&call->arena, shown);
		call->failure.kind = BT_STR("users");
		return false;
	}
	list.groups = BT_ARENA_NEW_ARRAY(&call->arena, struct bt_str, IMPERSONATED_GROUPS_MAX + 1);
	call->front->wire->each_header(call->exchange, "Impersonate-Group", take_group, &list);
	call->user = (struct bt_user){
		.name = bt_arena_str(&call->arena, name),
		.uid = bt_arena_str(&call->arena, header(call, "Impersonate-Uid")),
		.group_count = list.count,
		.groups = list.groups,
	};
	if (!bt_str_equal_c(name, "system:anonymous") &&
		!has_group(&call->user, "system:authenticated")) {
		list.groups[list.count] = BT_STR("system:authenticated");
		call->user.group_count++;
	}
	return true;
}

bool bt_front_identify(struct bt_front_call *call)
{
	if (call->front->is_plain) {
		if (!refuse_browsers(call)) {
			return false;
		}
		call->user = bt_user_admin;
	} else if (!identify_by_token(call)) {
		return false;
	}
	return impersonate(call);
}

/** --- authorization: masters may do everything, others may look around --- */

static void forbid_path(struct bt_front_call *call)
{
	struct bt_str path = bt_str_sub(call->request.path, 0, 1024);
	(void)bt_fail(&call->failure, &call->arena, 403, "Forbidden",
		"forbidden: User \"%.*s\" cannot get path \"%.*s\"", BT_STR_ARG(call->user.name),
		BT_STR_ARG(path));
}

static void forbid_resource(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	const struct bt_api_resource *resource = route->resource;
	const char *subresource = bt_subresource_name(route->subresource);
	struct bt_arena *arena = &call->arena;
	struct bt_str scope = BT_STR("at the cluster scope");
	if (route->namespace_.length != 0) {
		scope = bt_arena_printf(
			arena, "in the namespace \"%.*s\"", BT_STR_ARG(route->namespace_));
	}
	struct bt_str text = bt_arena_printf(arena,
		"User \"%.*s\" cannot %s resource \"%s%s%s\" in API group \"%s\" %.*s",
		BT_STR_ARG(call->user.name), bt_verb_name(call->verb), resource->name,
		subresource[0] != '\0' ? "/" : "", subresource, resource->group, BT_STR_ARG(scope));
	(void)bt_fail_forbidden(&call->failure, arena, resource, route->name, text);
}

/* Everybody may ask about themselves. */
static bool is_self_review(const struct bt_api_resource *resource)
{
	static const char *const kinds[] = {
		"SelfSubjectAccessReview", "SelfSubjectRulesReview", "SelfSubjectReview"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(kinds); i++) {
		if (bt_str_equal_c(bt_str_from(kinds[i]), resource->kind)) {
			return true;
		}
	}
	return false;
}

bool bt_front_authorize(struct bt_front_call *call)
{
	if (bt_front_is_master(call)) {
		return true;
	}
	switch (call->route.kind) {
	case BT_ROUTE_VERSION:
	case BT_ROUTE_HEALTH:
	case BT_ROUTE_CORE:
	case BT_ROUTE_GROUPS:
	case BT_ROUTE_GROUP:
	case BT_ROUTE_RESOURCES:
	case BT_ROUTE_OPENAPI_V2:
	case BT_ROUTE_OPENAPI_V3:
		return true;
	case BT_ROUTE_UNKNOWN:
	case BT_ROUTE_BROKEN:
	case BT_ROUTE_MISSING:
	case BT_ROUTE_ROOT:
		forbid_path(call);
		return false;
	case BT_ROUTE_RESOURCE:
		break;
	}
	if (call->verb == BT_VERB_CREATE && is_self_review(call->route.resource)) {
		return true;
	}
	forbid_resource(call);
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Authentication and authorization of requests. Spec: 14 section 4. */
#include <string.h>

#include "base/nanoseconds.h"
#include "server/front_private.h"
#include "server/service_account_token.h"

#define CERTIFICATES_MAX 8

/*
 * Returns whether the host in "host:port", "[address]:port" or "host" is safe from DNS rebinding.
 * Addresses and localhost are safe, because no foreign DNS server resolves them.
 */
static bool host_is_safe(struct bt_str text)
{
	bool has_bracket = text.length != 0 && text.data[0] == '[';
	int64_t end = has_bracket ? bt_str_find_char(text, ']') : -1;
	struct bt_str host = !has_bracket ? bt_str_cut(&text, ':')
		: end < 0                 ? text
					  : bt_str_sub(text, 1, (uint32_t)end - 1);
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
 * Refuses requests that a web page makes a browser send, because without TLS every client is admin.
 * Host reveals DNS rebinding; Origin and Sec-Fetch-Site reveal forms and scripts of other sites.
 */
static bool refuse_browsers(struct bt_front_call *call)
{
	struct bt_str host = bt_front_find_header(call, "Host");
	struct bt_str origin = bt_front_find_header(call, "Origin");
	struct bt_str site = bt_front_find_header(call, "Sec-Fetch-Site");
	if (host.length != 0 && !host_is_safe(host)) {
		struct bt_str shown = bt_str_sub(host, 0, 256);
		return bt_front_fail(call, 403, "Forbidden",
			"forbidden: the host \"%.*s\" is not this server; use its address",
			BT_STR_ARG(shown));
	}
	bool is_foreign = origin.data != NULL &&
		!bt_str_equal(
			origin, bt_arena_printf(&call->arena, "http://%.*s", BT_STR_ARG(host)));
	if (is_foreign || bt_str_equal_c(site, "cross-site") || bt_str_equal_c(site, "same-site")) {
		return bt_front_fail(call, 403, "Forbidden",
			"forbidden: requests of other web sites are refused");
	}
	return true;
}

/** Compares in a time that does not depend on how many bytes match. */
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
	return bt_front_fail(call, 401, "Unauthorized", "Unauthorized");
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

/**
 * Identifies the user by the client certificate; false: there is no certificate, or the certificate
 * is not valid.
 */
static bool identify_by_certificate(struct bt_front_call *call)
{
	const struct bt_front *front = call->front;
	struct bt_str chain[CERTIFICATES_MAX];
	struct bt_certificate_subject subject;
	if (front->client_authorities == NULL) {
		return false;
	}
	uint32_t count = front->wire->peer_certificates(call->exchange, chain, CERTIFICATES_MAX);
	if (count == 0 ||
		bt_certificate_verify_client(front->client_authorities, chain, count,
			bt_api_now_ns(front->api) / BT_NS_PER_SECOND, &call->arena, &subject,
			NULL) != 0 ||
		subject.common_name.length == 0) {
		return false;
	}
	const bt_str_list *organizations = &subject.organizations;
	struct bt_str *groups = bt_arena_copy_array(
		&call->arena, organizations->items, organizations->count, 1, sizeof(*groups));
	groups[organizations->count] = BT_STR("system:authenticated");
	call->user = (struct bt_user){
		.name = subject.common_name,
		.uid = subject.uid,
		.group_count = organizations->count + 1,
		.groups = groups,
	};
	return true;
}

static bool identify_by_token(struct bt_front_call *call)
{
	static const struct bt_str anonymous[] = {BT_STR_INIT("system:unauthenticated")};
	struct bt_str text = bt_front_find_header(call, "Authorization");
	if (text.length == 0 && !bt_api_options(call->front->api)->has_rbac) {
		/* without RBAC an anonymous user would have all rights */
		return refuse_credential(call);
	}
	if (text.length == 0) {
		call->user = (struct bt_user){
			.name = BT_STR("system:anonymous"), .group_count = 1, .groups = anonymous};
		return true;
	}
	struct bt_str scheme = bt_str_sub(text, 0, 6);
	if (!bt_str_equal_without_case(scheme, BT_STR("Bearer")) ||
		!(6 >= text.length || text.data[6] == ' ')) {
		return refuse_credential(call);
	}
	struct bt_str token = bt_str_sub(text, 7, BT_STR_MAX);
	const struct bt_user *user = bt_front_user_of_token(call->front, token);
	struct bt_json_value *audiences;
	if (user != NULL) {
		call->user = *user;
		return true;
	}
	return bt_api_authenticate_token(call->front->api, token, NULL, &call->arena, &call->user,
		       &audiences, NULL) ||
		refuse_credential(call);
}

struct group_list {
	struct bt_arena *arena;
	struct bt_str *items;
	uint32_t count;
	uint32_t capacity;
};

static void take_group(void *context, struct bt_str value)
{
	struct group_list *list = context;
	bt_arena_push(list->arena, list, bt_arena_str(list->arena, value));
}

/**
 * Returns whether the user of the request may impersonate this user, group or uid; false: sets
 * call->failure.
 */
static bool may_impersonate(struct bt_front_call *call, const char *group, const char *resource,
	struct bt_str namespace_, struct bt_str name)
{
	struct bt_str reason;
	struct bt_access access = {.user = &call->user,
		.verb = BT_STR("impersonate"),
		.namespace_ = namespace_,
		.group = bt_str_from(group),
		.resource = bt_str_from(resource),
		.subresource = BT_STR(""),
		.name = bt_arena_str(&call->arena, name)};
	if (bt_api_authorize(call->front->api, &access, &call->arena, &reason)) {
		return true;
	}
	bt_rbac_forbid(&access, reason, &call->arena, &call->failure);
	return false;
}

static bool impersonate(struct bt_front_call *call)
{
	struct bt_str prefix = BT_STR("system:serviceaccount:");
	struct bt_str name = bt_front_find_header(call, "Impersonate-User");
	struct bt_str uid = bt_front_find_header(call, "Impersonate-Uid");
	struct group_list list = {.arena = &call->arena};
	if (name.length == 0) {
		if (bt_front_find_header(call, "Impersonate-Group").length == 0 &&
			uid.length == 0) {
			return true;
		}
		return bt_front_fail(call, 500, "InternalError",
			"Internal Server Error: impersonation of groups without a user");
	}
	struct bt_str account_name = bt_str_sub(name, prefix.length, BT_STR_MAX);
	struct bt_str namespace_ = bt_str_cut(&account_name, ':');
	bool is_account = bt_str_has_prefix(name, prefix) && namespace_.length != 0 &&
		account_name.length != 0;
	if (is_account ? !may_impersonate(call, "", "serviceaccounts", namespace_, account_name)
		       : !may_impersonate(call, "", "users", BT_STR(""), name)) {
		return false;
	}
	call->front->wire->each_header(call->exchange, "Impersonate-Group", take_group, &list);
	for (uint32_t i = 0; i < list.count; i++) {
		if (!may_impersonate(call, "", "groups", BT_STR(""), list.items[i])) {
			return false;
		}
	}
	if (uid.length != 0 &&
		!may_impersonate(call, "authentication.k8s.io", "uids", BT_STR(""), uid)) {
		return false;
	}
	if (is_account && list.count == 0) {
		take_group(&list, BT_STR("system:serviceaccounts"));
		take_group(&list,
			bt_arena_printf(&call->arena, "system:serviceaccounts:%.*s",
				BT_STR_ARG(namespace_)));
	}
	call->user = (struct bt_user){
		.name = bt_arena_str(&call->arena, name),
		.uid = bt_arena_str(&call->arena, uid),
		.group_count = list.count,
		.groups = list.items,
	};
	const char *last = bt_str_equal_c(name, "system:anonymous") ? "system:unauthenticated"
								    : "system:authenticated";
	if (!bt_user_has_group(&call->user, last)) {
		take_group(&list, bt_str_from(last));
		call->user.groups = list.items;
		call->user.group_count = list.count;
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
	} else if (!identify_by_certificate(call) && !identify_by_token(call)) {
		return false;
	}
	return impersonate(call);
}

/** --- authorization --- */

/** Returns the value of `name=value` in a field selector; "": no such term. */
static struct bt_str selected_value(struct bt_str selector, const char *name)
{
	if (bt_str_find_char(selector, '\\') >= 0) {
		return BT_STR(""); /* escaped values are never names */
	}
	while (selector.length != 0) {
		struct bt_str term = bt_str_cut(&selector, ',');
		struct bt_str key = bt_str_cut(&term, '=');
		if (bt_str_equal_c(key, name)) {
			return bt_str_has_prefix(term, BT_STR("="))
				? bt_str_sub(term, 1, BT_STR_MAX)
				: term;
		}
	}
	return BT_STR("");
}

/** Returns the verb by the HTTP method: a 403 must come before the 405 of a missing verb. */
static struct bt_str verb_of(const struct bt_front_call *call)
{
	enum bt_verb verb =
		bt_route_method_verb(&call->route, call->request.method, call->query.watch);
	return bt_str_from(verb != BT_VERB__COUNT ? bt_verb_name(verb) : "");
}

bool bt_front_authorize(struct bt_front_call *call)
{
	const struct bt_route *route = &call->route;
	struct bt_access access = {.user = &call->user};
	struct bt_str reason;
	if (bt_user_has_group(&call->user, "system:masters")) {
		return true;
	}
	if (route->kind == BT_ROUTE_RESOURCE || route->kind == BT_ROUTE_MISSING) {
		bool is_known = route->kind == BT_ROUTE_RESOURCE;
		access.verb = verb_of(call);
		access.group = route->group;
		access.resource = is_known ? bt_str_from(route->resource->name) : route->text;
		access.subresource = bt_str_from(bt_subresource_name(route->subresource));
		access.namespace_ = route->namespace_;
		access.name = route->name;
		if (route->name.length == 0) {
			/*
			 * RBAC rules with resourceNames also apply to a list of the one object with
			 * this name
			 */
			access.name =
				selected_value(call->query.list.field_selector, "metadata.name");
			access.selected_node =
				selected_value(call->query.list.field_selector, "spec.nodeName");
		} else if (access.group.length == 0 &&
			bt_str_equal_c(access.resource, "namespaces")) {
			access.namespace_ = route->name; /* a Namespace counts as inside itself */
		}
	} else if (route->kind == BT_ROUTE_CUSTOM_METRICS) {
		bool is_external = route->name.length == 0;
		access.verb = verb_of(call);
		access.group = route->group;
		access.resource = route->described;
		access.subresource = is_external ? BT_STR("") : route->text;
		access.namespace_ = route->namespace_;
		access.name = route->name;
	} else {
		struct bt_strbuf verb = {0};
		bt_strbuf_append_lower(&verb, bt_str_sub(call->request.method, 0, 16));
		access.is_path = true;
		access.verb = bt_arena_str(&call->arena, bt_strbuf_str(&verb));
		access.path = route->path;
		bt_strbuf_finish(&verb);
	}
	if (bt_api_authorize(call->front->api, &access, &call->arena, NULL)) {
		return true;
	}
	/* Authorizes again to get the reason, which is rarely needed. */
	if (!bt_api_authorize(call->front->api, &access, &call->arena, &reason)) {
		bt_rbac_forbid(&access, reason, &call->arena, &call->failure);
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Ingress, NetworkPolicy, EndpointSlice. Spec: 14b sections 3.3 and 5. */

/** --- Ingress --- */

void bt_rule_ingress(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_json_value *rules = bt_json_find(spec, "rules");
	if (bt_json_find(spec, "defaultBackend") == NULL && (rules == NULL || rules->count == 0)) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place,
			rules != NULL ? rules : bt_json_new(check->errors->arena, BT_JSON_NULL),
			"either `defaultBackend` or `rules` must be specified");
	}
}

void bt_rule_ingress_rule(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *rule)
{
	struct bt_str host = bt_kinds_text(rule, "host");
	if (host.length != 0) {
		struct bt_str name = bt_str_has_prefix(host, BT_STR("*."))
			? bt_str_sub(host, 2, host.length)
			: host;
		bt_kinds_check_name(check->errors, BT_PATH_NAME(place, "host"),
			bt_kinds_text_value(check->errors, name), BT_NAME_SUBDOMAIN);
	}
}

void bt_rule_ingress_path(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *path)
{
	static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
	struct bt_field_errors *errors = check->errors;
	struct bt_str type = bt_kinds_text(path, "pathType");
	const struct bt_json_value *backend = bt_json_object_at(path, "backend");
	const struct bt_json_value *value = bt_json_find(path, "path");
	if (type.length == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "pathType"), NULL,
			"pathType must be specified");
		return;
	}
	if (!bt_str_equal_c(type, "Exact") && !bt_str_equal_c(type, "Prefix")) {
		bt_kinds_check_allowed(errors, BT_PATH_NAME(place, "pathType"),
			bt_json_find(path, "pathType"), types);
	} else if (!bt_str_has_prefix(bt_kinds_text(path, "path"), BT_STR("/"))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "path"),
			value != NULL ? value : bt_kinds_text_value(errors, BT_STR("")),
			"must be an absolute path");
	}
	if (bt_json_find(backend, "service") == NULL && bt_json_find(backend, "resource") == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "backend"), NULL,
			"must specify a service or resource backend");
	}
}

/** --- NetworkPolicy --- */

static void default_network_policy(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	if (bt_json_array_at(spec, "policyTypes")->count == 0) {
		struct bt_json_value *types = bt_json_ensure_array(arena, spec, "policyTypes");
		bt_json_append(arena, types, bt_json_new_c(arena, "Ingress"));
		if (bt_json_array_at(spec, "egress")->count != 0) {
			bt_json_append(arena, types, bt_json_new_c(arena, "Egress"));
		}
	}
}

const struct bt_strategy bt_strategy_network_policy = {.set_defaults = default_network_policy};

/** --- EndpointSlice --- */

static void default_endpoint_slice(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *ports = bt_json_array_at(object, "ports");
	for (uint32_t i = 0; i < ports->count; i++) {
		if (bt_json_find(ports->elements[i], "name") == NULL) {
			bt_json_set_c(write->arena, ports->elements[i], "name", "");
		}
	}
}

const struct bt_strategy bt_strategy_endpoint_slice = {.set_defaults = default_endpoint_slice};

void bt_rule_endpoint(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *endpoint)
{
	if (bt_json_array_at(endpoint, "addresses")->count == 0) {
		bt_kinds_error(check->errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "addresses"),
			NULL, "must contain at least 1 address");
	}
}

/** --- RuntimeClass --- */

void bt_rule_runtime_class(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *class_)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *handler = bt_json_find(class_, "handler");
	if (!bt_kinds_check_given(errors, place, class_, "handler")) {
		return;
	}
	if (bt_kinds_is_subdomain(handler->text) && bt_str_find_char(handler->text, '.') >= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "handler"), handler,
			"must not contain dots");
	} else {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "handler"), handler, BT_NAME_LABEL);
	}
}

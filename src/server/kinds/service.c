/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Services: addresses are numbers that nothing else has; nothing listens. Spec: 14b section 3.3. */

#define CLUSTER_NETWORK 0x0a600000u /* 10.96.0.0/12 */
#define CLUSTER_HOSTS 0x00100000u
#define ADDRESS_TRIES 16
/** Beyond so many services the chance of a collision is taken. */
#define CHECKED_SERVICES_MAX 20000
#define NODE_PORT_FIRST 30000
#define NODE_PORT_COUNT 2768

static bool has_type(const struct bt_json_value *spec, const char *type)
{
	return bt_str_equal_c(bt_kinds_text(spec, "type"), type);
}

static void set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	for (uint32_t i = 0; i < ports->count; i++) {
		struct bt_json_value *port = ports->elements[i];
		const struct bt_json_value *target = bt_json_find(port, "targetPort");
		if (target == NULL || bt_str_equal_c(target->text, "0") ||
			target->text.length == 0) {
			bt_json_set_int64(
				arena, port, "targetPort", bt_json_int64_at(port, "port", 0));
		}
	}
	if (has_type(spec, "ExternalName")) {
		return;
	}
	bt_kinds_default_c(arena, spec, "internalTrafficPolicy", "Cluster");
	if (has_type(spec, "NodePort") || has_type(spec, "LoadBalancer")) {
		bt_kinds_default_c(arena, spec, "externalTrafficPolicy", "Cluster");
	}
	if (has_type(spec, "LoadBalancer")) {
		bt_kinds_default_bool(arena, spec, "allocateLoadBalancerNodePorts", true);
	}
}

/** An address that no service names in its text. */
static struct bt_str new_address(const struct bt_write *write)
{
	struct bt_store *store = bt_api_store(write->api);
	uint32_t collection = write->resource->collection;
	struct bt_str address = BT_STR("");
	bool is_used = true;
	for (uint32_t i = 0; is_used && i < ADDRESS_TRIES; i++) {
		/* The first few addresses are left to senders that choose one. */
		uint32_t host =
			16 + (uint32_t)bt_prng_below(bt_api_prng(write->api), CLUSTER_HOSTS - 32);
		uint32_t ip = CLUSTER_NETWORK + host;
		struct bt_str needle =
			bt_arena_printf(write->arena, "\"clusterIP\":\"%u.%u.%u.%u\"", ip >> 24,
				ip >> 16 & 255, ip >> 8 & 255, ip & 255);
		struct bt_store_walk walk;
		const struct bt_stored *stored;
		address = bt_str_sub(needle, 13, needle.length - 14);
		if (bt_store_count(store, collection) > CHECKED_SERVICES_MAX ||
			bt_store_walk_begin(
				store, collection, 0, BT_STR(""), BT_STR(""), &walk, NULL) != 0) {
			break;
		}
		is_used = false;
		while (!is_used && (stored = bt_store_walk_next(&walk, NULL)) != NULL) {
			is_used = bt_str_find(bt_stored_text(stored), needle) >= 0;
		}
		bt_store_walk_end(&walk);
	}
	return address;
}

static struct bt_json_value *list_of(struct bt_arena *arena, struct bt_str text)
{
	struct bt_json_value *list = bt_json_new(arena, BT_JSON_ARRAY);
	bt_json_append(arena, list, bt_json_new_str(arena, text));
	return list;
}

static void set_addresses(const struct bt_write *write, struct bt_json_value *spec)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	bool on_nodes = has_type(spec, "NodePort") ||
		(has_type(spec, "LoadBalancer") &&
			bt_json_bool_at(spec, "allocateLoadBalancerNodePorts", true));
	if (has_type(spec, "ExternalName")) {
		return;
	}
	if (bt_kinds_text(spec, "clusterIP").length == 0) {
		const struct bt_json_value *given = bt_json_array_at(spec, "clusterIPs");
		bt_json_set_str(arena, spec, "clusterIP",
			given->count != 0 ? given->elements[0]->text : new_address(write));
	}
	if (bt_json_array_at(spec, "clusterIPs")->count == 0) {
		bt_json_set_value(arena, spec, "clusterIPs",
			list_of(arena, bt_kinds_text(spec, "clusterIP")));
	}
	/* A headless service without selector may get addresses of both families. */
	bool is_dual = bt_str_equal_c(bt_kinds_text(spec, "clusterIP"), "None") &&
		bt_json_object_at(spec, "selector")->count == 0 &&
		bt_kinds_text(spec, "ipFamilyPolicy").length == 0;
	if (bt_json_array_at(spec, "ipFamilies")->count == 0) {
		bool is_v6 = bt_str_find_char(bt_kinds_text(spec, "clusterIP"), ':') >= 0;
		bt_json_set_value(arena, spec, "ipFamilies",
			list_of(arena, is_v6 ? BT_STR("IPv6") : BT_STR("IPv4")));
	}
	if (is_dual) {
		struct bt_json_value *families = bt_json_ensure_array(arena, spec, "ipFamilies");
		if (families->count == 1) {
			bool is_v6 = bt_str_equal_c(families->elements[0]->text, "IPv6");
			bt_json_append(
				arena, families, bt_json_new_c(arena, is_v6 ? "IPv4" : "IPv6"));
		}
		bt_json_set_c(arena, spec, "ipFamilyPolicy", "RequireDualStack");
	}
	bt_kinds_default_c(arena, spec, "ipFamilyPolicy", "SingleStack");
	for (uint32_t i = 0; on_nodes && i < ports->count; i++) {
		struct bt_json_value *port = ports->elements[i];
		if (bt_json_int64_at(port, "nodePort", 0) == 0) {
			bt_json_set_int64(arena, port, "nodePort",
				NODE_PORT_FIRST +
					(int64_t)bt_prng_below(
						bt_api_prng(write->api), NODE_PORT_COUNT));
		}
	}
}

static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	set_addresses(write, bt_json_ensure_object(write->arena, object, "spec"));
}

/** Keep the addresses that a client leaves out. */
static void prepare_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	static const char *const kept[] = {
		"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "healthCheckNodePort"};
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	if (bt_kinds_keeps_spec(write) || has_type(spec, "ExternalName")) {
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(kept); i++) {
		struct bt_json_value *value = bt_json_find(before, kept[i]);
		if (value != NULL && bt_json_find(spec, kept[i]) == NULL) {
			bt_json_set_value(write->arena, spec, kept[i], value);
		}
	}
	set_addresses(write, spec);
}

void bt_rule_service_port(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *port)
{
	bt_kinds_check_port(
		check->errors, BT_PATH_NAME(place, "targetPort"), bt_json_find(port, "targetPort"));
}

void bt_rule_service(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	const struct bt_path *list = BT_PATH_NAME(place, "ports");
	if (ports->count == 0 && !has_type(spec, "ExternalName") &&
		!bt_str_equal_c(bt_kinds_text(spec, "clusterIP"), "None")) {
		bt_kinds_error_required(errors, list);
	}
	for (uint32_t i = 0; ports->count > 1 && i < ports->count; i++) {
		(void)bt_kinds_check_given(
			errors, BT_PATH_INDEX(list, i), ports->elements[i], "name");
	}
	if (has_type(spec, "ExternalName")) {
		(void)bt_kinds_check_given(errors, place, spec, "externalName");
	}
	/* There is one family; only what has no addresses of its own may ask for two. */
	bool is_selectorless_headless = bt_json_object_at(spec, "selector")->count == 0 &&
		bt_str_equal_c(bt_kinds_text(spec, "clusterIP"), "None");
	if (bt_str_equal_c(bt_kinds_text(spec, "ipFamilyPolicy"), "RequireDualStack") &&
		!is_selectorless_headless && !check->write->restoring) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "ipFamilyPolicy"),
			bt_json_find(spec, "ipFamilyPolicy"),
			"this cluster is not configured for dual-stack services");
	}
}

static void validate_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	struct bt_str before = bt_json_text_at(old, "spec.clusterIP");
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	if (!bt_kinds_keeps_spec(write) && before.length != 0 && !has_type(spec, "ExternalName") &&
		!bt_str_equal(before, bt_kinds_text(spec, "clusterIP"))) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_INDEX(BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "clusterIPs"), 0),
			bt_json_array_at(spec, "clusterIPs"), "may not change once set");
	}
}

const struct bt_strategy bt_strategy_service = {
	.name_rule = BT_NAME_SERVICE,
	.resets_status = true,
	.set_defaults = set_defaults,
	.prepare_create = prepare_create,
	.prepare_update = prepare_update,
	.validate_update = validate_update,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>

#include "cel/function.h"
#include "server/kinds/common.h"
#include "server/write.h"

/* Ingress and Service. Spec: 14b sections 3.3 and 5. */

bool bt_kinds_is_ip(struct bt_str text)
{
	struct bt_cel_ip parsed;
	bool has_zone;
	return bt_cel_ip_parse(text, &parsed, &has_zone, NULL) == 0 && !has_zone;
}

bool bt_kinds_is_cidr(struct bt_str text)
{
	struct bt_cel_cidr network;
	return bt_cel_cidr_parse(bt_str_trim(text, BT_STR_SPACE), &network, NULL) == 0;
}

/*
 * Services. Cluster IPs and node ports are only chosen and stored: no proxy serves them. Spec: 14b
 * section 3.3.
 */

#define CLUSTER_NETWORK 0x0a600000u /* 10.96.0.0/12 */
#define CLUSTER_HOSTS 0x00100000u
/** Attempts to choose a free address at random. */
#define CHOICES_MAX 16
#define NODE_PORT_FIRST 30000
#define NODE_PORT_COUNT 2768

#define IP_RULE "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"

static bool has_type(const struct bt_json_value *spec, const char *type)
{
	return bt_str_equal_c(bt_kinds_text(spec, "type"), type);
}

static void set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	if (bt_str_equal_c(bt_kinds_text(spec, "sessionAffinity"), "None")) {
		(void)bt_json_remove_c(spec, "sessionAffinityConfig");
	}
	for (uint32_t i = 0; i < ports->count; i++) {
		struct bt_json_value *port = ports->elements[i];
		const struct bt_json_value *target = bt_json_find(port, "targetPort");
		if (target == NULL || bt_str_equal_c(target->text, "0") ||
			target->text.length == 0) {
			bt_json_set_int64(
				arena, port, "targetPort", bt_json_int64_at(port, "port", 0));
		}
	}
}

static bool needs_node_ports(const struct bt_json_value *spec)
{
	return has_type(spec, "NodePort") ||
		(has_type(spec, "LoadBalancer") &&
			bt_json_bool_at(spec, "allocateLoadBalancerNodePorts", true));
}

static bool needs_health_check_port(const struct bt_json_value *spec)
{
	return has_type(spec, "LoadBalancer") &&
		bt_str_equal_c(bt_kinds_text(spec, "externalTrafficPolicy"), "Local");
}

static bool is_node_port(int64_t number)
{
	return number >= NODE_PORT_FIRST && number < NODE_PORT_FIRST + NODE_PORT_COUNT;
}

/** The cluster IPs and node ports of the stored services. */
struct bt_service_addresses {
	struct bt_store *store; /* borrowed */
	uint32_t collection;    /* services */
	struct bt_map ips;      /* by hash of the address; value: low_bits of the hash */
	uint32_t node_ports[NODE_PORT_COUNT]; /* ports with number NODE_PORT_FIRST + index */
};

/** Returns the bits of the hash that the map does not compare itself, as a valid value. */
static uint32_t low_bits(uint64_t hash)
{
	return (uint32_t)hash >> 1;
}

/** Adds a service's node ports to the counts by number - NODE_PORT_FIRST; sign -1 removes them. */
static void count_node_ports(const struct bt_json_value *spec, int sign, uint32_t *counts)
{
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	for (uint32_t i = 0; i <= ports->count; i++) {
		int64_t number = i < ports->count
			? bt_json_int64_at(ports->elements[i], "nodePort", 0)
			: bt_json_int64_at(spec, "healthCheckNodePort", 0);
		if (is_node_port(number)) {
			counts[number - NODE_PORT_FIRST] += (uint32_t)sign;
		}
	}
}

/** sign: 1 adds the service, -1 removes it. */
static void count_service(
	struct bt_service_addresses *addresses, const struct bt_stored *service, int sign)
{
	struct bt_arena arena = {0};
	const struct bt_json_value *spec =
		bt_json_object_at(bt_api_parse_stored(service, &arena), "spec");
	struct bt_str address = bt_kinds_text(spec, "clusterIP");
	uint64_t hash = bt_str_hash(address);
	if (address.length == 0 || bt_str_equal_c(address, "None")) {
		/* The service has no address. */
	} else if (sign < 0) {
		(void)bt_map_remove(&addresses->ips, hash, low_bits(hash));
	} else {
		bt_map_insert(&addresses->ips, hash, low_bits(hash));
	}
	count_node_ports(spec, sign, addresses->node_ports);
	bt_arena_finish(&arena);
}

static void record_change(void *context, const struct bt_store_change *change)
{
	struct bt_service_addresses *addresses = context;
	if (change->collection != addresses->collection) {
		return;
	}
	if (change->before != NULL) {
		count_service(addresses, change->before, -1);
	}
	if (change->type != BT_CHANGE_DELETED) {
		count_service(addresses, change->after, 1);
	}
}

static const struct bt_service_addresses *addresses_of(const struct bt_write *write)
{
	struct bt_service_addresses *addresses = write->api->service_addresses;
	if (addresses == NULL) {
		addresses = write->api->service_addresses = BT_NEW(struct bt_service_addresses);
		addresses->store = bt_api_store(write->api);
		addresses->collection = write->resource->collection;
		BT_STORE_EACH (stored, addresses->store, addresses->collection, BT_STR("")) {
			count_service(addresses, stored, 1);
		}
		bt_store_on_change(addresses->store, record_change, addresses);
	}
	return addresses;
}

void bt_service_addresses_destroy(struct bt_service_addresses *addresses)
{
	if (addresses != NULL) {
		bt_store_off_change(addresses->store, addresses);
		bt_map_finish(&addresses->ips);
		bt_free(addresses);
	}
}

/** Returns whether a stored service has this cluster IP. */
static bool is_used(const struct bt_write *write, struct bt_str address)
{
	uint64_t hash = bt_str_hash(address);
	BT_MAP_EACH (&addresses_of(write)->ips, hash, bits) {
		if (bits == low_bits(hash)) {
			return true;
		}
	}
	return false;
}

/**
 * Chooses a random cluster IP, if possible one that no other service has. is_v6: only for restored
 * services, because the cluster has no IPv6 network.
 */
static struct bt_str new_address(const struct bt_write *write, bool is_v6)
{
	struct bt_str address;
	int tries = CHOICES_MAX;
	do {
		/* The first 16 addresses are left to clients that choose an address themselves. */
		uint32_t host =
			16 + (uint32_t)bt_prng_below(bt_api_prng(write->api), CLUSTER_HOSTS - 32);
		uint32_t ip = CLUSTER_NETWORK + host;
		address = is_v6
			? bt_arena_printf(write->arena, "fd00:10:96::%x:%x", ip >> 16, ip & 0xffff)
			: bt_arena_printf(write->arena, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255,
				  ip >> 8 & 255, ip & 255);
	} while (is_used(write, address) && --tries != 0);
	return address;
}

/** Returns the spec of the stored version of the service; empty if there is none. */
static const struct bt_json_value *stored_spec(const struct bt_write *write)
{
	struct bt_str key = bt_api_key(write->arena, write->namespace_, write->name);
	return bt_json_object_at(
		bt_api_read(write->api, write->resource, key, write->arena), "spec");
}

/** Counts the node ports of the other services. used: NODE_PORT_COUNT entries. */
static void count_other_node_ports(const struct bt_write *write, uint32_t *used)
{
	memcpy(used, addresses_of(write)->node_ports, NODE_PORT_COUNT * sizeof(*used));
	count_node_ports(stored_spec(write), -1, used);
}

/** Returns a free node port (any, if none is free), and marks it as used. */
static int64_t take_node_port(const struct bt_write *write, uint32_t *used)
{
	uint32_t first = (uint32_t)bt_prng_below(bt_api_prng(write->api), NODE_PORT_COUNT);
	uint32_t chosen = first;
	for (uint32_t i = 1; used[chosen] != 0 && i < NODE_PORT_COUNT; i++) {
		chosen = (first + i) % NODE_PORT_COUNT;
	}
	used[chosen]++;
	return NODE_PORT_FIRST + chosen;
}

static void set_addresses(const struct bt_write *write, struct bt_json_value *spec)
{
	struct bt_arena *arena = write->arena;
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	bool on_nodes = needs_node_ports(spec);
	bool needs_health_check = needs_health_check_port(spec) &&
		bt_json_int64_at(spec, "healthCheckNodePort", 0) == 0;
	if (has_type(spec, "ExternalName")) {
		return;
	}
	if (bt_kinds_text(spec, "clusterIP").length == 0) {
		const struct bt_json_value *given = bt_json_array_at(spec, "clusterIPs");
		const struct bt_json_value *families = bt_json_array_at(spec, "ipFamilies");
		bool is_v6 =
			families->count != 0 && bt_str_equal_c(families->elements[0]->text, "IPv6");
		bt_json_set_str(arena, spec, "clusterIP",
			given->count != 0 ? given->elements[0]->text : new_address(write, is_v6));
	}
	if (bt_json_array_at(spec, "clusterIPs")->count == 0) {
		bt_json_put(arena, spec, "{clusterIPs: [%s]}", bt_kinds_text(spec, "clusterIP"));
	}
	/* A headless service without selector gets both address families. */
	bool is_dual = bt_str_equal_c(bt_kinds_text(spec, "clusterIP"), "None") &&
		bt_json_object_at(spec, "selector")->count == 0 &&
		bt_kinds_text(spec, "ipFamilyPolicy").length == 0;
	if (bt_json_array_at(spec, "ipFamilies")->count == 0) {
		bool is_v6 = bt_str_find_char(bt_kinds_text(spec, "clusterIP"), ':') >= 0;
		bt_json_put(arena, spec, "{ipFamilies: [%c]}", is_v6 ? "IPv6" : "IPv4");
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
	uint32_t used[NODE_PORT_COUNT];
	if (on_nodes || needs_health_check) {
		count_other_node_ports(write, used);
		count_node_ports(spec, 1, used);
	}
	for (uint32_t i = 0; on_nodes && i < ports->count; i++) {
		struct bt_json_value *port = ports->elements[i];
		if (bt_json_int64_at(port, "nodePort", 0) == 0) {
			bt_json_set_int64(arena, port, "nodePort", take_node_port(write, used));
		}
	}
	if (needs_health_check) {
		bt_json_set_int64(arena, spec, "healthCheckNodePort", take_node_port(write, used));
	}
}

static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	set_addresses(write, bt_json_ensure_object(write->arena, object, "spec"));
}

static void remove_unchanged(
	const struct bt_json_value *before, struct bt_json_value *spec, const char *name)
{
	const struct bt_json_value *old = bt_json_find(before, name);
	const struct bt_json_value *value = bt_json_find(spec, name);
	if (old != NULL && value != NULL && bt_json_equal(old, value)) {
		(void)bt_json_remove_c(spec, name);
	}
}

static void keep_field(const struct bt_write *write, const struct bt_json_value *before,
	struct bt_json_value *spec, const char *name)
{
	struct bt_json_value *value = bt_json_find(before, name);
	if (value != NULL && bt_json_find(spec, name) == NULL) {
		bt_json_set_value(write->arena, spec, name, value);
	}
}

/** Returns the old port with the same number and protocol, or NULL. */
static const struct bt_json_value *find_port(
	const struct bt_json_value *before, const struct bt_json_value *port)
{
	const struct bt_json_value *ports = bt_json_array_at(before, "ports");
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *old = ports->elements[i];
		if (bt_json_int64_at(old, "port", 0) == bt_json_int64_at(port, "port", 0) &&
			bt_str_equal(
				bt_kinds_text(old, "protocol"), bt_kinds_text(port, "protocol"))) {
			return old;
		}
	}
	return NULL;
}

/**
 * Drops fields that the new type cannot have, unless the client changed their values. Keeps old
 * addresses and node ports that the client leaves out.
 */
static void prepare_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	static const char *const addresses[] = {
		"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"};
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	struct bt_json_value *spec = bt_json_ensure_object(write->arena, object, "spec");
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	bool was_external = has_type(before, "NodePort") || has_type(before, "LoadBalancer");
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	for (uint32_t i = 0;
		needs_node_ports(before) && !needs_node_ports(spec) && i < ports->count; i++) {
		const struct bt_json_value *old_port = find_port(before, ports->elements[i]);
		if (old_port != NULL) {
			remove_unchanged(old_port, ports->elements[i], "nodePort");
		}
	}
	if (was_external && !has_type(spec, "NodePort") && !has_type(spec, "LoadBalancer")) {
		remove_unchanged(before, spec, "externalTrafficPolicy");
	}
	if (has_type(before, "LoadBalancer") && !has_type(spec, "LoadBalancer")) {
		remove_unchanged(before, spec, "allocateLoadBalancerNodePorts");
		remove_unchanged(before, spec, "loadBalancerClass");
	}
	if (!needs_health_check_port(spec)) {
		remove_unchanged(before, spec, "healthCheckNodePort");
	}
	if (has_type(spec, "ExternalName")) {
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(addresses); i++) {
			remove_unchanged(before, spec, addresses[i]);
		}
		return;
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(addresses); i++) {
		keep_field(write, before, spec, addresses[i]);
	}
	if (needs_health_check_port(spec)) {
		keep_field(write, before, spec, "healthCheckNodePort");
	}
	for (uint32_t i = 0; needs_node_ports(spec) && i < ports->count; i++) {
		int64_t number =
			bt_json_int64_at(find_port(before, ports->elements[i]), "nodePort", 0);
		if (number != 0 && bt_json_int64_at(ports->elements[i], "nodePort", 0) == 0) {
			bt_json_set_int64(write->arena, ports->elements[i], "nodePort", number);
		}
	}
	set_addresses(write, spec);
}

void bt_rule_service_ports(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *ports = bt_json_array_at(spec, "ports");
	const struct bt_path *list = BT_PATH_NAME(place, "ports");
	uint32_t used[NODE_PORT_COUNT]; /* not read if the type is ClusterIP */
	if (!has_type(spec, "ClusterIP")) {
		count_other_node_ports(check->write, used);
	}
	struct bt_text_set numbers = {0};
	for (uint32_t i = 0; i < ports->count; i++) {
		const struct bt_json_value *port = ports->elements[i];
		const struct bt_json_value *node_port = bt_json_find(port, "nodePort");
		struct bt_str protocol = bt_kinds_text(port, "protocol");
		const struct bt_path at = *BT_PATH_INDEX(list, i);
		const struct bt_path node_at = *BT_PATH_NAME(&at, "nodePort");
		int64_t number = bt_json_int64_at(port, "nodePort", 0);
		/* A restored port was chosen in another cluster. */
		bool is_chosen = number != 0 && !check->write->restoring;
		if (is_chosen && has_type(spec, "ClusterIP")) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, &node_at, NULL,
				"may not be used when `type` is 'ClusterIP'");
		} else if (is_chosen && !is_node_port(number)) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &node_at, node_port,
				"provided port is not in the valid range. The range of valid ports "
				"is %d-%d",
				NODE_PORT_FIRST, NODE_PORT_FIRST + NODE_PORT_COUNT - 1);
		} else if (is_chosen && used[number - NODE_PORT_FIRST] != 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, &node_at, node_port,
				"provided port is already allocated");
		}
		if (!bt_text_set_add(&numbers,
			    bt_arena_printf(errors->arena, "%.*s %lld", BT_STR_ARG(protocol),
				    (long long)bt_json_int64_at(port, "port", 0)))) {
			const struct bt_schema_field *field = bt_schema_field_find(
				bt_kinds_spec_message(check->write), BT_STR("ports"), NULL);
			struct bt_json_value *key =
				bt_json_put(errors->arena, NULL, "{protocol: %s, port: %d}",
					protocol, bt_json_int64_at(port, "port", 0));
			bt_kinds_error(errors, BT_FIELD_DUPLICATE, &at,
				bt_kinds_internal_form(errors->arena, field->message, key), "%s",
				"");
		}
		if (node_port != NULL && !bt_str_equal_c(node_port->text, "0") &&
			!bt_text_set_add(&numbers,
				bt_arena_printf(errors->arena, "node %.*s %.*s",
					BT_STR_ARG(protocol), BT_STR_ARG(node_port->text)))) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE, &node_at, node_port, "%s", "");
		}
	}
	bt_text_set_finish(&numbers);
}

/**
 * Checks the address family, and a cluster IP that the client chose: it is in the cluster's network
 * and not the cluster IP of another service. Stored values are not checked again.
 */
void bt_rule_service_address(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_write *write = check->write;
	const struct bt_json_value *before = stored_spec(write);
	const struct bt_json_value *families = bt_json_array_at(spec, "ipFamilies");
	const struct bt_path *addresses = BT_PATH_NAME(place, "clusterIPs");
	struct bt_str address = bt_kinds_text(spec, "clusterIP");
	const struct bt_json_value *given = bt_json_array_at(spec, "clusterIPs");
	bool is_headless = bt_str_equal_c(address, "None");
	uint8_t ip[4];
	if (write->restoring) {
		return;
	}
	if (given->count != 0 && !bt_str_equal(given->elements[0]->text, address)) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, addresses, given,
			"first value must match `clusterIP`");
	}
	if (given->count > 1 && !bt_json_equal(given, bt_json_array_at(before, "clusterIPs"))) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, addresses, given,
			"this cluster is not configured for dual-stack services");
	}
	/* A headless service without selector may have any family. */
	bool may_have_any = is_headless && bt_json_object_at(spec, "selector")->count == 0;
	may_have_any |= bt_json_equal(families, bt_json_array_at(before, "ipFamilies"));
	for (uint32_t i = 0; !may_have_any && i < families->count; i++) {
		if (bt_str_equal_c(families->elements[i]->text, "IPv6")) {
			bt_kinds_error(check->errors, BT_FIELD_INVALID,
				BT_PATH_INDEX(BT_PATH_NAME(place, "ipFamilies"), i),
				families->elements[i], "not configured on this cluster");
		}
	}
	const struct bt_json_value *family = families->count != 0 ? families->elements[0] : NULL;
	if (address.length == 0 || is_headless ||
		(family != NULL && bt_str_equal_c(family->text, "IPv6")) ||
		bt_str_equal(address, bt_kinds_text(before, "clusterIP"))) {
		return;
	}
	const char *text = bt_arena_str(write->arena, address).data;
	if (inet_pton(AF_INET, text, ip) != 1) {
		bool is_v6 = inet_pton(AF_INET6, text, &(struct in6_addr){0}) == 1;
		bt_kinds_error(check->errors, BT_FIELD_INVALID, BT_PATH_INDEX(addresses, 0),
			bt_json_find(spec, "clusterIP"), "%s",
			is_v6 ? "expected an IPv4 value as indicated by `ipFamilies[0]`" : IP_RULE);
	} else if (((uint32_t)ip[0] << 24 | (uint32_t)ip[1] << 16) / CLUSTER_HOSTS !=
		CLUSTER_NETWORK / CLUSTER_HOSTS) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, addresses,
			bt_json_array_at(spec, "clusterIPs"),
			"failed to allocate IP %.*s: the provided IP (%.*s) is not in the valid "
			"range. The range of valid IPs is 10.96.0.0/12",
			BT_STR_ARG(address), BT_STR_ARG(address));
	} else if (is_used(write, address)) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, addresses,
			bt_json_array_at(spec, "clusterIPs"),
			"failed to allocate IP %.*s: provided IP is already allocated",
			BT_STR_ARG(address));
	}
}

const struct bt_strategy bt_strategy_service = {
	.name_rule = BT_NAME_SERVICE,
	.resets_status = true,
	.set_defaults = set_defaults,
	.prepare_create = prepare_create,
	.prepare_update = prepare_update,
};

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Publishes the address and the CA of the API server: the Service `kubernetes` with its endpoints,
 * and the ConfigMap kube-root-ca.crt of every namespace. Spec: 14b section 6.9.
 */
#include "cluster/tree.h"

#define NAME "kubernetes"
#define KEY "default/" NAME
/** The first address of the service network, which is reserved for this Service. */
#define CLUSTER_IP "10.96.0.1"

static void observe_service(
	BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (bt_str_equal_c(observed->key, KEY) && hub->options.api_address != NULL) {
		bt_hub_enqueue(hub, BT_STR(KEY));
	}
}

/**
 * Creates the object default/kubernetes, or replaces the object if its array `member` differs from
 * the array of the stored object. member NULL: an existing object stays unchanged.
 */
static bool create_or_replace(struct bt_sync *sync, enum bt_hub_kind kind, const char *member,
	struct bt_json_value *wanted)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *old = bt_hub_read(sync->hub, kind, BT_STR(KEY), arena);
	uint16_t code;

	bt_json_set_c(arena, bt_json_find(wanted, "metadata"), "name", NAME);
	if (old == NULL) {
		code = bt_hub_create(sync->hub, kind, BT_STR("default"), wanted, arena, NULL);
		return code == 201 || code == 409;
	}
	if (member == NULL ||
		bt_json_equal(bt_json_array_at(old, member), bt_json_find(wanted, member))) {
		return true;
	}
	code = bt_hub_update(
		sync->hub, sync->hub->kinds[kind], BT_SUBRESOURCE_NONE, BT_STR(KEY), wanted, arena);
	return bt_hub_is_done(code) || code == 409;
}

static bool sync_service(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str address = bt_str_from(sync->hub->options.api_address);
	int64_t number = sync->hub->options.api_port;
	struct bt_json_value *service = bt_json_put(arena, NULL,
		"{spec: {type: 'ClusterIP', clusterIP: '" CLUSTER_IP "', sessionAffinity: 'None', "
		"ports: [{name: 'https', protocol: 'TCP', port: %d, targetPort: %d}]}, "
		"metadata: {labels: {component: 'apiserver', provider: '" NAME "'}}}",
		(int64_t)443, number);
	struct bt_json_value *endpoints = bt_json_put(arena, NULL,
		"{metadata: {labels: {endpointslice.kubernetes.io/skip-mirror: 'true'}}, "
		"subsets: [{addresses: [{ip: %s}], "
		"ports: [{name: 'https', protocol: 'TCP', port: %d}]}]}",
		address, number);
	struct bt_json_value *slice = bt_json_put(arena, NULL,
		"{metadata: {labels: {kubernetes.io/service-name: '" NAME "'}}, addressType: %c, "
		"endpoints: [{addresses: [%s], conditions: {ready: true}}], "
		"ports: [{name: 'https', protocol: 'TCP', port: %d}]}",
		bt_str_find_char(address, ':') >= 0 ? "IPv6" : "IPv4", address, number);

	return create_or_replace(sync, BT_HUB_SERVICES, NULL, service) &&
		create_or_replace(sync, BT_HUB_ENDPOINTS, "subsets", endpoints) &&
		create_or_replace(sync, BT_HUB_SLICES, "endpoints", slice);
}

static void init_service(BT_UNUSED void *data, struct bt_hub *hub)
{
	if (hub->options.api_address != NULL) {
		bt_hub_enqueue(hub, BT_STR(KEY));
	}
}

const struct bt_controller_ops bt_kubernetes_service_ops = {
	.watches = BT_WATCH(BT_HUB_SERVICES) | BT_WATCH(BT_HUB_ENDPOINTS) | BT_WATCH(BT_HUB_SLICES),
	.init = init_service,
	.observe = observe_service,
	.sync = sync_service,
};

/* --- kube-root-ca.crt --- */

#define ROOT_CA "kube-root-ca.crt"

static void observe_root_ca(
	BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (hub->options.root_ca == NULL) {
		return;
	}
	if (observed->kind == BT_HUB_NAMESPACES) {
		if (observed->type == BT_CHANGE_ADDED) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (bt_str_equal_c(bt_key_name(observed->key), ROOT_CA)) {
		bt_hub_enqueue(hub, bt_key_namespace(observed->key));
	}
}

static bool sync_root_ca(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str key = bt_api_key(arena, sync->key, BT_STR(ROOT_CA));
	const struct bt_json_value *old = bt_hub_read(sync->hub, BT_HUB_CONFIG_MAPS, key, arena);
	struct bt_json_value *wanted = bt_json_put(arena, NULL,
		"{metadata: {name: '" ROOT_CA "', annotations: {kubernetes.io/description: "
		"'Contains a CA bundle that can be used to verify the API server of this "
		"cluster.'}}, data: {ca.crt: %c}}",
		sync->hub->options.root_ca);

	if (bt_tree_is_deleting(sync->object) ||
		bt_json_equal(bt_json_object_at(old, "data"), bt_json_find(wanted, "data"))) {
		return true;
	}
	uint16_t code = old == NULL
		? bt_hub_create(sync->hub, BT_HUB_CONFIG_MAPS, sync->key, wanted, arena, NULL)
		: bt_hub_update(sync->hub, sync->hub->kinds[BT_HUB_CONFIG_MAPS],
			  BT_SUBRESOURCE_NONE, key, wanted, arena);
	return code == 201 || bt_hub_is_done(code) || code == 409;
}

const struct bt_controller_ops bt_root_ca_ops = {
	.component = "root-ca-cert-publisher",
	.watches = BT_WATCH(BT_HUB_NAMESPACES) | BT_WATCH(BT_HUB_CONFIG_MAPS),
	.object = BT_HUB_NAMESPACES,
	.observe = observe_root_ca,
	.sync = sync_root_ca,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/node_agent.h"

#include <stdio.h>

#include "api/time.h"
#include "cel/function.h"
#include "server/condition.h"

/*
 * --- pod addresses: each node without a spec.podCIDR gets a /24 of 10.0.0.0/8, which is written to
 * its spec.podCIDR ---
 */

#define BLOCK_COUNT 65536u /* blocks of 256 addresses in 10.0.0.0/8 */

static void count_uses(struct bt_node_agent *agent, const struct bt_agent_node *node, bool uses)
{
	for (uint32_t i = 0; i < node->block_count; i++) {
		uint32_t *count = &agent->block_uses[node->first_block + i];
		if (uses) {
			agent->free_blocks -= *count == 0 ? 1 : 0;
			*count += 1;
		} else {
			*count -= 1;
			agent->free_blocks += *count == 0 ? 1 : 0;
		}
	}
}

static void set_subnet(struct bt_agent_node *node, uint32_t address)
{
	node->subnet[0] = (uint8_t)(address >> 24);
	node->subnet[1] = (uint8_t)(address >> 16 & 255);
	node->subnet[2] = (uint8_t)(address >> 8 & 255);
	node->has_subnet = true;
}

static void release_subnet(struct bt_node_agent *agent, struct bt_agent_node *node)
{
	count_uses(agent, node, false);
	node->block_count = 0;
	node->has_subnet = false;
}

/** Records the node's spec.podCIDR. An empty or invalid podCIDR changes nothing. */
static void record_subnet(
	struct bt_node_agent *agent, struct bt_agent_node *node, struct bt_str pod_cidr)
{
	struct bt_cel_cidr cidr;

	if (pod_cidr.length == 0 || bt_cel_cidr_parse(pod_cidr, &cidr, NULL) != 0 ||
		cidr.ip.is_v6) {
		return;
	}
	const uint8_t *bytes = cidr.ip.bytes;
	uint32_t length = cidr.prefix_length;
	uint32_t address = (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 |
		(uint32_t)bytes[2] << 8 | bytes[3];
	release_subnet(agent, node);
	uint32_t mask = length == 0 ? 0 : UINT32_MAX << (32 - length);
	address &= mask;
	set_subnet(node, address);
	if (length <= 8 && (UINT32_C(10) << 24 & mask) == address) {
		node->first_block = 0;
		node->block_count = BLOCK_COUNT;
	} else if (address >> 24 == 10) {
		node->first_block = address >> 8 & 0xffff;
		node->block_count = length >= 24 ? 1 : UINT32_C(1) << (24 - length);
	}
	count_uses(agent, node, true);
}

void bt_agent_ensure_subnet(struct bt_node_agent *agent, struct bt_agent_node *node)
{
	if (node->has_subnet) {
		return;
	}
	for (uint32_t i = 0; i < BLOCK_COUNT && agent->free_blocks != 0; i++) {
		uint32_t block = (agent->next_block + i) % BLOCK_COUNT;

		if (agent->block_uses[block] == 0) {
			node->first_block = block;
			node->block_count = 1;
			count_uses(agent, node, true);
			set_subnet(node, UINT32_C(10) << 24 | block << 8);
			/* Continue behind this block, so that a freed block is not reused at once.
			 */
			agent->next_block = block + 1;
			return;
		}
	}
	/*
	 * There are more nodes than blocks: the remaining nodes share the last block, which is not
	 * written to their podCIDR.
	 */
	set_subnet(node, UINT32_C(10) << 24 | (BLOCK_COUNT - 1) << 8);
}

/* --- heartbeats: leases in kube-node-lease (spec 14b section 9, 1) --- */

#define LEASE_NAMESPACE "kube-node-lease"
#define RENEW_EVERY_NS (10 * BT_NS_PER_SECOND)
/**
 * All nodes together renew at most ten leases per second. With many nodes each lease is renewed
 * less often; the node life cycle controller allows for that.
 */
#define WRITE_EVERY_NS (BT_NS_PER_SECOND / 10)

/** Creates the node's lease if missing. Returns false if the write must be tried again. */
static bool ensure_lease(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_str key = bt_api_key(arena, BT_STR(LEASE_NAMESPACE), sync->key);
	struct bt_json_value *owner = bt_sync_owner_reference(sync, arena);

	if (bt_hub_exists(sync->hub, BT_HUB_LEASES, key)) {
		return true;
	}
	(void)bt_json_remove_c(owner, "controller");
	(void)bt_json_remove_c(owner, "blockOwnerDeletion");
	/* A 4xx answer is not retried: without the namespace there can be no lease. */
	return bt_hub_create(sync->hub, BT_HUB_LEASES, BT_STR(LEASE_NAMESPACE),
		       bt_json_put(arena, NULL,
			       "{metadata: {name: %s, ownerReferences: [%v]}, "
			       "spec: {holderIdentity: %s, leaseDurationSeconds: %d, "
			       "renewTime: %s}}",
			       sync->key, owner, sync->key, INT64_C(40),
			       bt_micro_time_text(arena, sync->now_ns)),
		       arena, NULL) < 500;
}

/** Renews the lease of the next simulated node. */
static void renew_lease(struct bt_sync *sync)
{
	struct bt_node_agent *agent = sync->data;
	struct bt_arena *arena = sync->arena;
	int64_t interval = RENEW_EVERY_NS / (agent->nodes.count != 0 ? agent->nodes.count : 1);
	const struct bt_agent_node *node = NULL;

	if (sync->now_ns < agent->lease_due_ns) {
		return;
	}
	interval = BT_MAX(interval, WRITE_EVERY_NS);
	/*
	 * Count from now, not from the due time: otherwise many writes would follow a long pause.
	 */
	agent->lease_due_ns = sync->now_ns + interval;
	bt_hub_enqueue_periodic(sync->hub, BT_STR(BT_AGENT_LEASES_KEY), agent->lease_due_ns);
	/* Skip nodes without an agent, but not too many in one sync. */
	for (uint32_t i = 0; i < 1000 && i < agent->nodes.count; i++) {
		node = &agent->nodes.items[agent->next_lease++ % agent->nodes.count];
		if (node->exists && node->simulated) {
			agent->next_lease %= agent->nodes.count;
			break;
		}
		node = NULL;
	}
	if (node == NULL) {
		return;
	}
	if (bt_sync_patch(sync, BT_HUB_LEASES,
		    bt_api_key(arena, BT_STR(LEASE_NAMESPACE), node->name),
		    bt_json_put(arena, NULL, "{spec: {renewTime: %s}}",
			    bt_micro_time_text(arena, sync->now_ns))) == 404) {
		bt_hub_enqueue(sync->hub, node->name);
	}
}

bool bt_node_is_simulated(const struct bt_json_value *node)
{
	return !bt_str_equal_c(bt_tree_annotation(node, BT_ANNOTATION_SIMULATED), "false");
}

bool bt_node_has_no_execute(const struct bt_json_value *node)
{
	const struct bt_json_value *taints = bt_json_array_at(node, "spec.taints");

	for (uint32_t i = 0; i < taints->count; i++) {
		if (bt_str_equal_c(bt_json_text_at(taints->elements[i], "effect"), "NoExecute")) {
			return true;
		}
	}
	return false;
}

/* --- nodes --- */

static uint32_t find_or_add_node(struct bt_node_agent *agent, struct bt_str name)
{
	uint32_t index = bt_groups_find(&agent->node_names, name);
	struct bt_agent_node node = {.exists = false};
	uint32_t address;

	if (index != BT_GROUPS_NONE) {
		return index;
	}
	index = bt_groups_set(&agent->node_names, name, BT_STR(""));
	node.name = bt_groups_key(&agent->node_names, index);
	/* Count down from the highest address, because bt_controllers_add_nodes counts up. */
	address = UINT32_C(0xffffe) - (index & 0xfffff);
	(void)snprintf(node.address, sizeof(node.address), "172.%u.%u.%u",
		16 + (address >> 16 & 15), address >> 8 & 255, address & 255);
	bt_agent_init_resources(&node);
	bt_vec_put(&agent->nodes, index, node);
	return index;
}

static void free_resources(struct bt_agent_node *node)
{
	for (uint32_t i = 0; i < node->resources.count; i++) {
		bt_free(node->resources.items[i].name);
	}
	bt_vec_finish(&node->resources);
}

/**
 * Frees the record of a node that does not exist and has no pods. Otherwise records of deleted
 * nodes would accumulate.
 */
static void remove_node_if_unused(struct bt_node_agent *agent, uint32_t index)
{
	struct bt_agent_node *node = &agent->nodes.items[index];

	if (node->exists || node->pod_count != 0) {
		return;
	}
	free_resources(node);
	bt_groups_remove(&agent->node_names, node->name);
	*node = (struct bt_agent_node){.exists = false};
}

static void observe_node(struct bt_node_agent *agent, const struct bt_observed *observed)
{
	uint32_t index = find_or_add_node(agent, observed->key);
	struct bt_agent_node *record = &agent->nodes.items[index];
	bool was_served = record->exists && record->simulated;
	const struct bt_json_value *allocatable =
		bt_json_object_at(observed->after, "status.allocatable");
	const struct bt_json_value *addresses =
		bt_json_array_at(observed->after, "status.addresses");

	record->exists = observed->type != BT_CHANGE_DELETED;
	if (!record->exists) {
		release_subnet(agent, record);
		remove_node_if_unused(agent, index);
		return;
	}
	record->simulated = bt_node_is_simulated(observed->after);
	record->has_no_execute = bt_node_has_no_execute(observed->after);
	for (uint32_t i = 0; i < addresses->count; i++) {
		struct bt_str type = bt_json_text_at(addresses->elements[i], "type");
		struct bt_str address = bt_json_text_at(addresses->elements[i], "address");
		if (bt_str_equal_c(type, "InternalIP") && address.length != 0 &&
			address.length < sizeof(record->address)) {
			memcpy(record->address, address.data, address.length);
			record->address[address.length] = '\0';
			break;
		}
	}
	record_subnet(agent, record, bt_json_text_at(observed->after, "spec.podCIDR"));
	if (observed->before == NULL ||
		!bt_json_equal(
			bt_json_object_at(observed->before, "status.allocatable"), allocatable)) {
		bt_agent_set_capacity(record, allocatable);
	}
	if (!record->has_subnet) {
		bt_hub_enqueue(agent->hub, observed->key);
	}
	if (record->simulated && !was_served) {
		const struct bt_indexed_pod *pod = bt_pod_index_on_node(agent->hub, observed->key);

		for (; pod != NULL; pod = pod->next[BT_PODS_ON_NODE]) {
			bt_hub_enqueue(agent->hub, pod->key);
		}
		bt_hub_enqueue(agent->hub, observed->key);
	} else if (record->simulated &&
		bt_condition_find(
			bt_json_array_at(observed->after, "status.conditions"), "Ready") == NULL) {
		bt_hub_enqueue(agent->hub, observed->key);
	}
}

/* --- pods --- */

static void add_pod(struct bt_node_agent *agent, struct bt_str key, struct bt_str node_name,
	const struct bt_json_value *tree)
{
	uint32_t slot = bt_groups_set(&agent->pod_keys, key, bt_json_text_at(tree, "metadata.uid"));
	struct bt_agent_pod pod = {
		.key = bt_groups_key(&agent->pod_keys, slot),
		.uid = bt_groups_of(&agent->pod_keys, key),
		.node = find_or_add_node(agent, node_name),
		.due_ns = INT64_MAX,
		.deleting = bt_tree_is_deleting(tree),
		.has_gates = bt_json_array_at(tree, "spec.readinessGates")->count != 0,
		.grace_seconds = bt_json_int64_at(tree, "metadata.deletionGracePeriodSeconds", 0),
	};

	/* Reserve the address that the pod's status has. */
	struct bt_agent_node *node = &agent->nodes.items[pod.node];
	struct bt_str ip = bt_json_text_at(tree, "status.podIP");
	int64_t dot = bt_str_find_last_char(ip, '.');
	int64_t host = 0;

	if (dot > 0 && bt_str_parse_int64(bt_str_sub(ip, (uint32_t)dot + 1, ip.length), &host) &&
		host > 0 && host <= BT_AGENT_HOSTS_MAX &&
		(node->hosts[host >> 6] >> (host & 63) & 1) == 0 &&
		!bt_json_bool_at(tree, "spec.hostNetwork", false)) {
		node->hosts[host >> 6] |= UINT64_C(1) << (host & 63);
		pod.host = (uint8_t)host;
	}
	bt_vec_put(&agent->pods, slot, pod);
	node->pod_count++;
}

static bool is_finished(const struct bt_json_value *pod)
{
	return bt_tree_is_over(pod) &&
		bt_json_int64_at(pod, "metadata.deletionGracePeriodSeconds", 0) == 0;
}

static void observe_pod(struct bt_node_agent *agent, const struct bt_observed *observed)
{
	const struct bt_json_value *tree = observed->after;
	struct bt_str node_name = bt_json_text_at(tree, "spec.nodeName");

	if (node_name.length == 0) {
		return;
	}
	uint32_t slot = bt_groups_find(&agent->pod_keys, observed->key);
	if (slot != BT_GROUPS_NONE &&
		(observed->type == BT_CHANGE_DELETED || is_finished(tree) ||
			!bt_str_equal(bt_json_text_at(tree, "metadata.uid"),
				agent->pods.items[slot].uid))) {
		struct bt_agent_pod *pod = &agent->pods.items[slot];
		uint32_t node = pod->node;

		bt_agent_release(&agent->nodes.items[pod->node], pod);
		bt_groups_remove(&agent->waiting, pod->key);
		bt_groups_remove(&agent->pod_keys, pod->key);
		*pod = (struct bt_agent_pod){.deleting = false};
		agent->nodes.items[node].pod_count--;
		remove_node_if_unused(agent, node);
		slot = BT_GROUPS_NONE;
	}
	if (observed->type == BT_CHANGE_DELETED || is_finished(tree)) {
		return;
	}
	if (slot == BT_GROUPS_NONE) {
		add_pod(agent, observed->key, node_name, tree);
		bt_hub_enqueue(agent->hub, observed->key);
		return;
	}
	struct bt_agent_pod *pod = &agent->pods.items[slot];
	int64_t grace = bt_json_int64_at(tree, "metadata.deletionGracePeriodSeconds", 0);
	if (bt_tree_is_deleting(tree) && (!pod->deleting || grace != pod->grace_seconds)) {
		pod->deleting = true;
		pod->grace_seconds = grace;
		bt_hub_enqueue(agent->hub, observed->key);
	} else if (pod->stage == BT_AGENT_RUNNING &&
		!bt_str_equal(bt_tree_annotation(observed->before, BT_ANNOTATION_READY),
			bt_tree_annotation(tree, BT_ANNOTATION_READY))) {
		pod->changes_readiness = true;
		bt_hub_enqueue(agent->hub, observed->key);
	} else if (bt_json_int64_at(observed->before, "metadata.generation", 0) !=
		bt_json_int64_at(tree, "metadata.generation", 0)) {
		bt_hub_enqueue(agent->hub, observed->key);
	} else if ((pod->has_gates && pod->stage == BT_AGENT_RUNNING) ||
		(pod->stage == BT_AGENT_STARTING &&
			bt_str_has_prefix(
				bt_groups_of(&agent->waiting, observed->key), BT_STR("#")))) {
		bt_hub_enqueue(agent->hub, observed->key);
	}
}

/* --- the controller --- */

static void init(void *data, struct bt_hub *hub)
{
	struct bt_node_agent *agent = data;

	agent->hub = hub;
	agent->block_uses = BT_NEW_ARRAY(uint32_t, BLOCK_COUNT);
	agent->free_blocks = BLOCK_COUNT;
	agent->lease_due_ns = INT64_MAX;
}

static void finish(void *data)
{
	struct bt_node_agent *agent = data;

	for (uint32_t i = 0; i < agent->pods.count; i++) {
		bt_free(agent->pods.items[i].amounts);
	}
	for (uint32_t i = 0; i < agent->nodes.count; i++) {
		free_resources(&agent->nodes.items[i]);
	}
	bt_vec_finish(&agent->pods);
	bt_vec_finish(&agent->nodes);
	bt_free(agent->block_uses);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_node_agent *agent = data;
	struct bt_arena arena = {0};

	if (observed->kind == BT_HUB_PODS) {
		observe_pod(agent, observed);
	} else if (observed->kind == BT_HUB_NODES) {
		observe_node(agent, observed);
	} else if (observed->kind == BT_HUB_VOLUME_CLAIMS) {
		/* Enqueue the pods that wait for this claim, once the claim is bound. */
		if (bt_str_equal_c(bt_json_text_at(observed->after, "status.phase"), "Bound")) {
			bt_hub_enqueue_group(hub, &agent->waiting, observed->key);
		}
	} else if (bt_claim_is_allocated(observed->after)) {
		/* Keys of ResourceClaims begin with #. */
		bt_hub_enqueue_group(hub, &agent->waiting,
			bt_arena_printf(&arena, "#%.*s", BT_STR_ARG(observed->key)));
	}
	bt_arena_finish(&arena);
}

static bool sync(struct bt_sync *sync)
{
	struct bt_node_agent *agent = sync->data;
	bool is_node = bt_str_find_char(sync->key, '/') < 0;

	if (bt_str_equal_c(sync->key, BT_AGENT_LEASES_KEY)) {
		renew_lease(sync);
		return true;
	}
	uint32_t slot = bt_groups_find(is_node ? &agent->node_names : &agent->pod_keys, sync->key);
	if (slot == BT_GROUPS_NONE) {
		return true;
	}
	sync->resource = sync->hub->kinds[is_node ? BT_HUB_NODES : BT_HUB_PODS];
	sync->object = bt_api_read(sync->hub->api, sync->resource, sync->key, sync->arena);
	if (sync->object == NULL) {
		return true;
	}
	if (!is_node) {
		return bt_agent_sync_pod(sync, &agent->pods.items[slot]);
	}
	/* Every node needs its subnet, because real agents wait for the podCIDR, too. */
	struct bt_agent_node *node = &agent->nodes.items[slot];
	bool has_cidr = bt_json_text_at(sync->object, "spec.podCIDR").length != 0;
	if (!has_cidr) {
		bt_agent_ensure_subnet(agent, node);
	}
	if (!has_cidr && node->block_count != 0) {
		struct bt_str cidr = bt_arena_printf(sync->arena, "%u.%u.%u.0/24", node->subnet[0],
			node->subnet[1], node->subnet[2]);
		sync->failed = !bt_hub_is_done(bt_sync_patch(sync, BT_HUB_NODES, sync->key,
			bt_json_put(sync->arena, NULL, "{spec: {podCIDR: %s, podCIDRs: [%s]}}",
				cidr, cidr)));
	}
	if (!bt_node_is_simulated(sync->object)) {
		return true;
	}
	if (agent->lease_due_ns == INT64_MAX) {
		agent->lease_due_ns = sync->now_ns;
		bt_hub_enqueue(sync->hub, BT_STR(BT_AGENT_LEASES_KEY));
	}
	bt_agent_complete_node(sync, node);
	return ensure_lease(sync);
}

const struct bt_controller_ops bt_node_agent_ops = {
	.component = "kubelet",
	.watches = BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_NODES) | BT_WATCH(BT_HUB_VOLUME_CLAIMS) |
		BT_WATCH(BT_HUB_CLAIMS),
	.group_count = 3,
	.data_bytes = sizeof(struct bt_node_agent),
	.init = init,
	.finish = finish,
	.observe = observe,
	.sync = sync,
};

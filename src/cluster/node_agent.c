/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/node_agent.h"

#include <stdio.h>

#include "cluster/pod_index.h"
#include "cluster/resource_claim.h"
#include "server/condition.h"

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

static uint64_t node_hash(const void *owner, uint32_t value)
{
	const struct bt_node_agent *agent = owner;
	return bt_str_hash(bt_str_from(agent->nodes.items[value].name));
}

static uint32_t find_node(const struct bt_node_agent *agent, struct bt_str name)
{
	uint64_t hash = bt_str_hash(name);

	for (uint32_t at = bt_map_first(&agent->nodes_by_name, hash); at != BT_MAP_NONE;
		at = bt_map_next(&agent->nodes_by_name, hash, at)) {
		uint32_t node = bt_map_value(&agent->nodes_by_name, at);
		if (bt_str_equal_c(name, agent->nodes.items[node].name)) {
			return node;
		}
	}
	return BT_AGENT_NONE;
}

static uint32_t find_or_add_node(struct bt_node_agent *agent, struct bt_str name)
{
	uint32_t index = find_node(agent, name);
	struct bt_agent_node node = {.exists = false};
	uint32_t address;

	if (index != BT_AGENT_NONE) {
		return index;
	}
	index = agent->first_free_node;
	if (index != BT_AGENT_NONE) {
		agent->first_free_node = agent->nodes.items[index].next_free;
	} else {
		index = agent->nodes.count;
		bt_vec_push(&agent->nodes, node);
	}
	node.name = bt_strndup(name.data, name.length);
	/* From the top: what add_nodes gives to its nodes counts up. */
	address = UINT32_C(0xffffe) - (index & 0xfffff);
	(void)snprintf(node.address, sizeof(node.address), "172.%u.%u.%u",
		16 + (address >> 16 & 15), address >> 8 & 255, address & 255);
	bt_agent_init_resources(&node);
	agent->nodes.items[index] = node;
	bt_map_insert(&agent->nodes_by_name, bt_str_hash(name), index);
	return index;
}

static void free_node(struct bt_agent_node *node)
{
	for (uint32_t i = 0; i < node->resources.count; i++) {
		bt_free(node->resources.items[i].name);
	}
	bt_vec_finish(&node->resources);
	bt_free(node->name);
}

/** Names that only pods know, or knew, must not pile up. */
static void forget_node_if_unused(struct bt_node_agent *agent, uint32_t index)
{
	struct bt_agent_node *node = &agent->nodes.items[index];

	if (node->exists || node->pod_count != 0) {
		return;
	}
	(void)bt_map_remove(&agent->nodes_by_name, bt_str_hash(bt_str_from(node->name)), index);
	free_node(node);
	*node = (struct bt_agent_node){.next_free = agent->first_free_node};
	agent->first_free_node = index;
}

static void take_address(struct bt_agent_node *record, const struct bt_json_value *node)
{
	const struct bt_json_value *addresses = bt_json_array_at(node, "status.addresses");

	for (uint32_t i = 0; i < addresses->count; i++) {
		struct bt_str type = bt_json_text_at(addresses->elements[i], "type");
		struct bt_str address = bt_json_text_at(addresses->elements[i], "address");
		if (bt_str_equal_c(type, "InternalIP") && address.length != 0 &&
			address.length < sizeof(record->address)) {
			memcpy(record->address, address.data, address.length);
			record->address[address.length] = '\0';
			return;
		}
	}
}

static void observe_node(struct bt_node_agent *agent, const struct bt_observed *observed)
{
	uint32_t index = find_or_add_node(agent, observed->key);
	struct bt_agent_node *record = &agent->nodes.items[index];
	bool was_served = record->exists && record->simulated;
	const struct bt_json_value *allocatable =
		bt_json_object_at(observed->after, "status.allocatable");

	record->exists = observed->type != BT_CHANGE_DELETED;
	if (!record->exists) {
		bt_agent_release_subnet(agent, record);
		forget_node_if_unused(agent, index);
		return;
	}
	record->simulated = bt_node_is_simulated(observed->after);
	record->has_no_execute = bt_node_has_no_execute(observed->after);
	take_address(record, observed->after);
	bt_agent_note_subnet(agent, record, bt_json_text_at(observed->after, "spec.podCIDR"));
	if (observed->before == NULL ||
		!bt_json_equal(
			bt_json_object_at(observed->before, "status.allocatable"), allocatable)) {
		bt_agent_set_capacity(record, allocatable);
	}
	if (!record->has_subnet) {
		bt_hub_enqueue(agent->hub, observed->key);
	}
	if (record->simulated && !was_served) {
		struct bt_str node = observed->key;
		const struct bt_indexed_pod *pod = bt_pod_index_on_node(agent->hub, node);

		for (; pod != NULL; pod = pod->next_on_node) {
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

static uint64_t pod_hash(const void *owner, uint32_t value)
{
	const struct bt_node_agent *agent = owner;
	return bt_str_hash(bt_str_from(agent->pods.items[value].key));
}

static uint32_t find_pod(const struct bt_node_agent *agent, struct bt_str key)
{
	uint64_t hash = bt_str_hash(key);

	for (uint32_t at = bt_map_first(&agent->pods_by_key, hash); at != BT_MAP_NONE;
		at = bt_map_next(&agent->pods_by_key, hash, at)) {
		uint32_t slot = bt_map_value(&agent->pods_by_key, at);
		if (bt_str_equal_c(key, agent->pods.items[slot].key)) {
			return slot;
		}
	}
	return BT_AGENT_NONE;
}

static void add_pod(struct bt_node_agent *agent, struct bt_str key, struct bt_str node_name,
	const struct bt_json_value *tree)
{
	struct bt_str uid = bt_json_text_at(tree, "metadata.uid");
	uint32_t slot = agent->first_free;
	struct bt_agent_pod pod = {
		.key = bt_strndup(key.data, key.length),
		.uid = bt_strndup(uid.data, uid.length),
		.node = find_or_add_node(agent, node_name),
		.due_ns = INT64_MAX,
		.deleting = bt_tree_is_deleting(tree),
		.has_gates = bt_json_array_at(tree, "spec.readinessGates")->count != 0,
		.grace_seconds = bt_json_int64_at(tree, "metadata.deletionGracePeriodSeconds", 0),
	};

	/* The address that it has already: nobody else on the node gets it. */
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
	if (slot != BT_AGENT_NONE) {
		agent->first_free = agent->pods.items[slot].next_free;
		agent->pods.items[slot] = pod;
	} else {
		slot = agent->pods.count;
		bt_vec_push(&agent->pods, pod);
	}
	agent->nodes.items[pod.node].pod_count++;
	bt_map_insert(&agent->pods_by_key, bt_str_hash(key), slot);
}

void bt_agent_forget_pod(struct bt_node_agent *agent, uint32_t slot)
{
	struct bt_agent_pod *pod = &agent->pods.items[slot];
	struct bt_str key = bt_str_from(pod->key);
	uint32_t node = pod->node;

	bt_agent_release(&agent->nodes.items[pod->node], pod);
	bt_groups_remove(&agent->waiting, key);
	(void)bt_map_remove(&agent->pods_by_key, bt_str_hash(key), slot);
	bt_free(pod->key);
	bt_free(pod->uid);
	*pod = (struct bt_agent_pod){.next_free = agent->first_free};
	agent->first_free = slot;
	agent->nodes.items[node].pod_count--;
	forget_node_if_unused(agent, node);
}

static bool is_finished(const struct bt_json_value *pod)
{
	struct bt_str phase = bt_json_text_at(pod, "status.phase");

	return (bt_str_equal_c(phase, "Succeeded") || bt_str_equal_c(phase, "Failed")) &&
		bt_json_int64_at(pod, "metadata.deletionGracePeriodSeconds", 0) == 0;
}

static void observe_pod(struct bt_node_agent *agent, const struct bt_observed *observed)
{
	const struct bt_json_value *tree = observed->after;
	struct bt_str node_name = bt_json_text_at(tree, "spec.nodeName");
	uint32_t slot;
	struct bt_agent_pod *pod;
	int64_t grace;

	if (node_name.length == 0) {
		return;
	}
	slot = find_pod(agent, observed->key);
	if (slot != BT_AGENT_NONE &&
		(observed->type == BT_CHANGE_DELETED || is_finished(tree) ||
			!bt_str_equal_c(bt_json_text_at(tree, "metadata.uid"),
				agent->pods.items[slot].uid))) {
		bt_agent_forget_pod(agent, slot);
		slot = BT_AGENT_NONE;
	}
	if (observed->type == BT_CHANGE_DELETED || is_finished(tree)) {
		return;
	}
	if (slot == BT_AGENT_NONE) {
		add_pod(agent, observed->key, node_name, tree);
		bt_hub_enqueue(agent->hub, observed->key);
		return;
	}
	pod = &agent->pods.items[slot];
	grace = bt_json_int64_at(tree, "metadata.deletionGracePeriodSeconds", 0);
	if (bt_tree_is_deleting(tree) && (!pod->deleting || grace != pod->grace_seconds)) {
		pod->deleting = true;
		pod->grace_seconds = grace;
		bt_hub_enqueue(agent->hub, observed->key);
	} else if ((pod->has_gates && pod->stage == BT_AGENT_RUNNING) ||
		(pod->stage == BT_AGENT_STARTING &&
			bt_str_has_prefix(
				bt_groups_of(&agent->waiting, observed->key), BT_STR("#")))) {
		bt_hub_enqueue(agent->hub, observed->key);
	}
}

static void enqueue_waiting(struct bt_node_agent *agent, struct bt_str group)
{
	uint32_t entry;

	for (entry = bt_groups_first(&agent->waiting, group); entry != BT_GROUPS_NONE;
		entry = bt_groups_next(&agent->waiting, entry)) {
		bt_hub_enqueue(agent->hub, bt_groups_key(&agent->waiting, entry));
	}
}

/* --- the controller --- */

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct bt_node_agent *agent = BT_NEW(struct bt_node_agent);

	agent->hub = hub;
	agent->pods_resource = bt_resources_builtin(resources, "", "pods");
	agent->nodes_resource = bt_resources_builtin(resources, "", "nodes");
	agent->claims_resource = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	agent->devices_resource =
		bt_resources_builtin(resources, "resource.k8s.io", "resourceclaims");
	agent->leases_resource = bt_resources_builtin(resources, "coordination.k8s.io", "leases");
	bt_map_init(&agent->nodes_by_name, node_hash, agent);
	bt_map_init(&agent->pods_by_key, pod_hash, agent);
	bt_groups_init(&agent->waiting);
	bt_agent_init_subnets(agent);
	agent->first_free = BT_AGENT_NONE;
	agent->first_free_node = BT_AGENT_NONE;
	agent->lease_due_ns = INT64_MAX;
	return agent;
}

static void destroy(void *self)
{
	struct bt_node_agent *agent = self;

	for (uint32_t i = 0; i < agent->pods.count; i++) {
		bt_free(agent->pods.items[i].key);
		bt_free(agent->pods.items[i].uid);
		bt_free(agent->pods.items[i].amounts);
	}
	for (uint32_t i = 0; i < agent->nodes.count; i++) {
		free_node(&agent->nodes.items[i]);
	}
	bt_vec_finish(&agent->pods);
	bt_vec_finish(&agent->nodes);
	bt_map_finish(&agent->nodes_by_name);
	bt_map_finish(&agent->pods_by_key);
	bt_groups_finish(&agent->waiting);
	bt_free(agent->block_uses);
	bt_free(agent);
}

static void observe(void *self, BT_UNUSED struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_node_agent *agent = self;

	if (observed->resource == agent->pods_resource) {
		observe_pod(agent, observed);
	} else if (observed->resource == agent->nodes_resource) {
		observe_node(agent, observed);
	} else if (observed->resource == agent->claims_resource) {
		/* A claim is bound: those who wait for it look again. */
		if (bt_str_equal_c(bt_json_text_at(observed->after, "status.phase"), "Bound")) {
			enqueue_waiting(agent, observed->key);
		}
	} else {
		/* The same of a claim that has devices. */
		struct bt_arena arena = {0};

		if (bt_claim_is_allocated(observed->after)) {
			enqueue_waiting(
				agent, bt_arena_printf(&arena, "#%.*s", BT_STR_ARG(observed->key)));
		}
		bt_arena_finish(&arena);
	}
}

static bool sync(void *self, BT_UNUSED struct bt_hub *hub, struct bt_str key,
	struct bt_arena *arena, int64_t now_ns)
{
	struct bt_node_agent *agent = self;
	uint32_t slot;

	if (bt_str_equal_c(key, BT_AGENT_LEASES_KEY)) {
		return bt_agent_renew_lease(agent, arena, now_ns);
	}
	if (bt_str_find_char(key, '/') < 0) {
		const struct bt_json_value *node =
			bt_api_read(bt_hub_api(agent->hub), agent->nodes_resource, key, arena);
		uint32_t index = find_node(agent, key);

		if (node == NULL || index == BT_AGENT_NONE) {
			return true;
		}
		/* Of all nodes: agents of others wait for it. */
		if (!bt_agent_write_subnet(agent, &agent->nodes.items[index], node, arena)) {
			return false;
		}
		if (!bt_node_is_simulated(node)) {
			return true;
		}
		if (agent->lease_due_ns == INT64_MAX) {
			agent->lease_due_ns = now_ns;
			bt_hub_enqueue(agent->hub, BT_STR(BT_AGENT_LEASES_KEY));
		}
		return bt_agent_complete_node(
			       agent, &agent->nodes.items[index], node, arena, now_ns) &&
			bt_agent_ensure_lease(agent, node, arena, now_ns);
	}
	slot = find_pod(agent, key);
	return slot == BT_AGENT_NONE || bt_agent_sync_pod(agent, slot, arena, now_ns);
}

static const char *const watched[] = {
	"pods", "nodes", "persistentvolumeclaims", "resource.k8s.io/resourceclaims", NULL};

const struct bt_controller_ops bt_node_agent_ops = {
	.name = "node-agent",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

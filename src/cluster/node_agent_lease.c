/* SPDX-License-Identifier: Apache-2.0 */
/** Heartbeats: leases in kube-node-lease. Spec: 14b section 9, 1. */
#include "api/time.h"
#include "cluster/node_agent.h"

#define LEASE_NAMESPACE "kube-node-lease"
#define RENEW_EVERY_NS (10 * BT_NS_PER_SECOND)
/** All nodes together: ten writes in a second. With many nodes each one's turn comes late, which
 * the life cycle controller knows. */
#define WRITE_EVERY_NS (BT_NS_PER_SECOND / 10)

bool bt_agent_ensure_lease(struct bt_node_agent *agent, const struct bt_json_value *node,
	struct bt_arena *arena, int64_t now_ns)
{
	struct bt_str name = bt_json_text_at(node, "metadata.name");
	struct bt_str key = bt_api_key(arena, BT_STR(LEASE_NAMESPACE), name);
	struct bt_json_value *lease;
	struct bt_json_value *metadata;
	struct bt_json_value *owner;
	struct bt_json_value *spec;
	uint16_t code;

	if (bt_store_find(bt_api_store(bt_hub_api(agent->hub)), agent->leases_resource->collection,
		    key) != NULL) {
		return true;
	}
	lease = bt_json_new(arena, BT_JSON_OBJECT);
	metadata = bt_json_ensure_object(arena, lease, "metadata");
	bt_json_set_str(arena, metadata, "name", name);
	owner = bt_controller_owner_reference(arena, agent->nodes_resource, node);
	(void)bt_json_remove_c(owner, "controller");
	(void)bt_json_remove_c(owner, "blockOwnerDeletion");
	bt_json_append(arena, bt_json_ensure_array(arena, metadata, "ownerReferences"), owner);
	spec = bt_json_ensure_object(arena, lease, "spec");
	bt_json_set_str(arena, spec, "holderIdentity", name);
	bt_json_set_int64(arena, spec, "leaseDurationSeconds", 40);
	bt_json_set_str(arena, spec, "renewTime", bt_micro_time_text(arena, now_ns));
	code = bt_hub_create(
		agent->hub, agent->leases_resource, BT_STR(LEASE_NAMESPACE), lease, arena, NULL);
	/* A lease is no reason to try for ever: without the namespace there is none. */
	return code < 500;
}

/** The next node that is served, from next_lease on; NONE: there is none. */
static uint32_t next_node(struct bt_node_agent *agent)
{
	/* A few that are gone are passed by; more wait for the next turn. */
	for (uint32_t i = 0; i < 1000 && i < agent->nodes.count; i++) {
		uint32_t node = agent->next_lease++ % agent->nodes.count;
		if (agent->nodes.items[node].exists && agent->nodes.items[node].simulated) {
			agent->next_lease %= agent->nodes.count;
			return node;
		}
	}
	return BT_AGENT_NONE;
}

bool bt_agent_renew_lease(struct bt_node_agent *agent, struct bt_arena *arena, int64_t now_ns)
{
	int64_t interval = RENEW_EVERY_NS / (agent->nodes.count != 0 ? agent->nodes.count : 1);
	struct bt_json_value *patch;
	uint32_t node;

	if (now_ns < agent->lease_due_ns) {
		return true;
	}
	interval = interval < WRITE_EVERY_NS ? WRITE_EVERY_NS : interval;
	/* From now on, not from what was due: a long pause must not be made up for. */
	agent->lease_due_ns = now_ns + interval;
	bt_hub_enqueue_periodic(agent->hub, BT_STR(BT_AGENT_LEASES_KEY), agent->lease_due_ns);
	node = next_node(agent);
	if (node == BT_AGENT_NONE) {
		return true;
	}
	patch = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_str(arena, bt_json_ensure_object(arena, patch, "spec"), "renewTime",
		bt_micro_time_text(arena, now_ns));
	if (bt_hub_patch(agent->hub, agent->leases_resource, BT_SUBRESOURCE_NONE,
		    bt_api_key(arena, BT_STR(LEASE_NAMESPACE),
			    bt_str_from(agent->nodes.items[node].name)),
		    patch, arena, NULL) == 404) {
		bt_hub_enqueue(agent->hub, bt_str_from(agent->nodes.items[node].name));
	}
	return true;
}

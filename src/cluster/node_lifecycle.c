/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Taints nodes by their conditions, and detects nodes whose heartbeats stopped. Spec: 14b section
 * 6.6.
 */
#include "api/time.h"
#include "cluster/node_agent.h"
#include "cluster/tree.h"
#include "server/condition.h"

#define TAINT_PREFIX "node.kubernetes.io/"
/**
 * A heartbeat is late GRACE_NS after the last heartbeat, or STARTUP_GRACE_NS while the node has no
 * condition Ready.
 */
#define GRACE_NS (50 * BT_NS_PER_SECOND)
#define STARTUP_GRACE_NS (60 * BT_NS_PER_SECOND)

struct lifecycle {
	/** Nodes without an agent in this process, by the time of the last heartbeat. */
	struct bt_groups seen;
	/** Nodes for which mark_unknown could not write all pods; all are in one group. */
	struct bt_groups failed;
	bool agents_are_alive; /* this process runs node agents */
};

static void init(void *data, struct bt_hub *hub)
{
	struct lifecycle *self = data;

	self->agents_are_alive = bt_controllers_has(&hub->options, "node-agent");
}

/* --- heartbeats --- */

static bool is_watched(const struct lifecycle *self, const struct bt_json_value *node)
{
	return !self->agents_are_alive || !bt_node_is_simulated(node);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct lifecycle *self = data;
	struct bt_str node = bt_key_name(observed->key);
	int64_t seen_ns = 0;
	bool is_known = bt_groups_number(&self->seen, node, &seen_ns);

	if (observed->kind == BT_HUB_LEASES) {
		if (is_known && observed->type != BT_CHANGE_DELETED &&
			bt_str_equal_c(bt_key_namespace(observed->key), "kube-node-lease")) {
			bt_groups_set_number(&self->seen, node, hub->now_ns);
			if (hub->now_ns - seen_ns >= GRACE_NS) {
				bt_hub_enqueue(hub, node);
			}
		}
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->seen, node);
		bt_groups_remove(&self->failed, node);
		return;
	}
	if (is_watched(self, observed->after) &&
		(observed->before == NULL || !is_known ||
			!bt_json_equal(bt_json_array_at(observed->before, "status.conditions"),
				bt_json_array_at(observed->after, "status.conditions")))) {
		bt_groups_set_number(&self->seen, node, hub->now_ns);
	}
	bt_hub_enqueue(hub, observed->key);
}

/* --- nodes without heartbeat --- */

/**
 * Sets the node's conditions to Unknown, and condition Ready of its pods to False. Returns false if
 * a write failed.
 */
static bool mark_unknown(struct bt_sync *sync)
{
	struct lifecycle *self = sync->data;
	static const char *const types[] = {
		"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
	static const struct bt_tree_condition not_ready = {
		"Ready", "False", "NodeNotReady", BT_STR_INIT("")};
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *conditions =
		bt_tree_copy_array(arena, sync->object, "status.conditions");
	const struct bt_indexed_pod *record = bt_pod_index_on_node(sync->hub, sync->key);

	for (size_t i = 0; i < BT_ARRAY_LENGTH(types); i++) {
		bool known = bt_condition_find(conditions, types[i]) != NULL;
		struct bt_tree_condition unknown = {
			.type = types[i],
			.status = "Unknown",
			.reason = known ? "NodeStatusUnknown" : "NodeStatusNeverUpdated",
			.message = known ? BT_STR("Kubelet stopped posting node status.")
					 : BT_STR("Kubelet never posted node status."),
		};
		if (!bt_condition_is(conditions, types[i], "Unknown")) {
			(void)bt_tree_set_condition(
				arena, conditions, &unknown, false, sync->now_ns);
		}
	}
	bt_sync_write_status(sync, bt_json_put(arena, NULL, "{conditions: %v}", conditions));
	if (sync->failed) {
		return false;
	}
	bool succeeded = true;
	for (; record != NULL; record = record->next[BT_PODS_ON_NODE]) {
		const struct bt_json_value *pod = record->ready
			? bt_hub_read(sync->hub, BT_HUB_PODS, record->key, arena)
			: NULL;

		if (pod == NULL) {
			continue;
		}
		conditions = bt_tree_copy_array(arena, pod, "status.conditions");
		(void)bt_tree_set_condition(arena, conditions, &not_ready, false, sync->now_ns);
		if (!bt_tree_write_status(sync->hub, sync->hub->kinds[BT_HUB_PODS], pod,
			    bt_json_put(arena, NULL, "{conditions: %v}", conditions), arena)) {
			succeeded = false;
		}
	}
	if (succeeded) {
		bt_groups_remove(&self->failed, sync->key);
	} else {
		bt_groups_set(&self->failed, sync->key, BT_STR("."));
	}
	return succeeded;
}

/**
 * Calls mark_unknown if the heartbeat of the node is late, or if a write to its pods failed before.
 * Otherwise enqueues the node for the time when the heartbeat will be late. Returns false if a
 * write failed.
 */
static bool check_heartbeat(struct bt_sync *sync)
{
	const struct lifecycle *self = sync->data;
	const struct bt_json_value *conditions =
		bt_json_array_at(sync->object, "status.conditions");
	int64_t seen_ns;
	bool has_ready = bt_condition_find(conditions, "Ready") != NULL;
	bool is_unknown = bt_condition_is(conditions, "Ready", "Unknown");

	if (!is_watched(self, sync->object) ||
		!bt_groups_number(&self->seen, sync->key, &seen_ns) ||
		(is_unknown && bt_groups_of(&self->failed, sync->key).length == 0)) {
		return true;
	}
	int64_t due = seen_ns + (has_ready ? GRACE_NS : STARTUP_GRACE_NS);
	if (!is_unknown && sync->now_ns < due) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	return mark_unknown(sync);
}

/* --- taints --- */

struct wanted {
	const char *key;
	const char *condition; /* NULL: spec.unschedulable */
	const char *status;
	bool no_execute; /* the taint is also set with effect NoExecute; false: only with NoSchedule
	                  */
};

static const struct wanted wanted_taints[] = {
	{TAINT_PREFIX "not-ready", "Ready", "False", true},
	{TAINT_PREFIX "unreachable", "Ready", "Unknown", true},
	{TAINT_PREFIX "memory-pressure", "MemoryPressure", "True", false},
	{TAINT_PREFIX "disk-pressure", "DiskPressure", "True", false},
	{TAINT_PREFIX "pid-pressure", "PIDPressure", "True", false},
	{TAINT_PREFIX "network-unavailable", "NetworkUnavailable", "True", false},
	{TAINT_PREFIX "unschedulable", NULL, NULL, false},
};

/** Adds or removes the taint. Returns whether the list changed. */
static bool set_taint(struct bt_sync *sync, struct bt_json_value *taints, const char *key,
	const char *effect, bool wanted)
{
	for (uint32_t i = 0; i < taints->count; i++) {
		if (bt_str_equal_c(bt_json_text_at(taints->elements[i], "key"), key) &&
			bt_str_equal_c(bt_json_text_at(taints->elements[i], "effect"), effect)) {
			if (!wanted) {
				bt_json_remove_at(taints, i);
			}
			return !wanted;
		}
	}
	if (wanted) {
		bt_json_put(sync->arena, taints, "[{key: %c, effect: %c, timeAdded: %s}]", key,
			effect, bt_time_text(sync->arena, sync->now_ns));
	}
	return wanted;
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *conditions =
		bt_json_array_at(sync->object, "status.conditions");
	struct bt_json_value *taints = bt_tree_copy_array(arena, sync->object, "spec.taints");
	bool changed = false;

	if (!check_heartbeat(sync)) {
		return false;
	}
	for (size_t i = 0; i < BT_ARRAY_LENGTH(wanted_taints); i++) {
		const struct wanted *wanted = &wanted_taints[i];
		bool is_wanted = wanted->condition == NULL
			? bt_json_bool_at(sync->object, "spec.unschedulable", false)
			: bt_condition_is(conditions, wanted->condition, wanted->status);

		bool is_set = set_taint(sync, taints, wanted->key, "NoSchedule", is_wanted);
		if (is_set && wanted->condition == NULL && bt_node_is_simulated(sync->object)) {
			const char *reason = is_wanted ? "NodeNotSchedulable" : "NodeSchedulable";
			bt_hub_event(sync->hub, "kubelet", sync->resource, sync->object, "Normal",
				reason,
				bt_arena_printf(arena, "Node %.*s status is now: %s",
					BT_STR_ARG(sync->key), reason));
		}
		changed |= is_set;
		if (wanted->no_execute) {
			changed |= set_taint(sync, taints, wanted->key, "NoExecute", is_wanted);
		}
	}
	return !changed ||
		bt_hub_is_done(bt_sync_patch(sync, BT_HUB_NODES, sync->key,
			bt_json_put(arena, NULL, "{spec: {taints: %v}}",
				taints->count != 0 ? taints : bt_json_new(arena, BT_JSON_NULL))));
}

const struct bt_controller_ops bt_node_lifecycle_ops = {
	.watches = BT_WATCH(BT_HUB_NODES) | BT_WATCH(BT_HUB_LEASES),
	.object = BT_HUB_NODES,
	.group_count = 2,
	.data_bytes = sizeof(struct lifecycle),
	.init = init,
	.observe = observe,
	.sync = sync,
};

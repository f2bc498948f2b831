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

struct heartbeat {
	char *node; /* owned */
	int64_t seen_ns;
	bool pods_failed; /* mark_unknown could not write all pods */
};

struct lifecycle {
	bool agents_are_alive; /* this process runs node agents */
	BT_VEC(struct heartbeat) heartbeats;
	struct bt_map by_node;
};

static void init(void *data, struct bt_hub *hub)
{
	struct lifecycle *self = data;

	self->agents_are_alive = bt_controllers_has(&hub->options, "node-agent");
}

static void finish(void *data)
{
	struct lifecycle *self = data;

	for (uint32_t i = 0; i < self->heartbeats.count; i++) {
		bt_free(self->heartbeats.items[i].node);
	}
	bt_vec_finish(&self->heartbeats);
	bt_map_finish(&self->by_node);
}

/* --- heartbeats --- */

static struct heartbeat *find_heartbeat(struct lifecycle *self, struct bt_str node)
{
	uint64_t hash = bt_str_hash(node);

	BT_MAP_EACH (&self->by_node, hash, slot) {
		struct heartbeat *found = &self->heartbeats.items[slot];
		if (bt_str_equal_c(node, found->node)) {
			return found;
		}
	}
	return NULL;
}

static void remove_heartbeat(struct lifecycle *self, struct bt_str node)
{
	struct heartbeat *found = find_heartbeat(self, node);
	uint32_t last = self->heartbeats.count - 1;

	if (found == NULL) {
		return;
	}
	uint32_t index = (uint32_t)(found - self->heartbeats.items);
	(void)bt_map_remove(&self->by_node, bt_str_hash(node), index);
	bt_free(found->node);
	if (index != last) {
		uint64_t hash = bt_str_hash(bt_str_from(self->heartbeats.items[last].node));
		(void)bt_map_remove(&self->by_node, hash, last);
		*found = self->heartbeats.items[last];
		bt_map_insert(&self->by_node, hash, index);
	}
	self->heartbeats.count--;
}

static bool is_watched(const struct lifecycle *self, const struct bt_json_value *node)
{
	return !self->agents_are_alive || !bt_node_is_simulated(node);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct lifecycle *self = data;

	struct bt_str node = bt_key_name(observed->key);
	struct heartbeat *known = find_heartbeat(self, node);

	if (observed->kind == BT_HUB_LEASES) {
		/* Only nodes without an agent in this process have an entry in heartbeats. */
		if (known != NULL && observed->type != BT_CHANGE_DELETED &&
			bt_str_equal_c(bt_key_namespace(observed->key), "kube-node-lease")) {
			bool was_missing = hub->now_ns - known->seen_ns >= GRACE_NS;
			known->seen_ns = hub->now_ns;
			if (was_missing) {
				bt_hub_enqueue(hub, node);
			}
		}
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		remove_heartbeat(self, observed->key);
		return;
	}
	if (is_watched(self, observed->after) &&
		(observed->before == NULL || known == NULL ||
			!bt_json_equal(bt_json_array_at(observed->before, "status.conditions"),
				bt_json_array_at(observed->after, "status.conditions")))) {
		if (known != NULL) {
			known->seen_ns = hub->now_ns;
		} else {
			struct heartbeat added = {
				.node = bt_strndup(node.data, node.length), .seen_ns = hub->now_ns};
			bt_vec_push(&self->heartbeats, added);
			bt_map_insert(
				&self->by_node, bt_str_hash(node), self->heartbeats.count - 1);
		}
	}
	bt_hub_enqueue(hub, observed->key);
}

/* --- nodes without heartbeat --- */

/**
 * Sets the node's conditions to Unknown, and condition Ready of its pods to False. Returns false if
 * a write failed.
 */
static bool mark_unknown(struct bt_sync *sync, struct heartbeat *heartbeat)
{
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
	heartbeat->pods_failed = false;
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
			heartbeat->pods_failed = true;
		}
	}
	return !heartbeat->pods_failed;
}

/**
 * Calls mark_unknown if the heartbeat of the node is late, or if a write to its pods failed before.
 * Otherwise enqueues the node for the time when the heartbeat will be late. Returns false if a
 * write failed.
 */
static bool check_heartbeat(struct bt_sync *sync)
{
	struct lifecycle *self = sync->data;
	const struct bt_json_value *conditions =
		bt_json_array_at(sync->object, "status.conditions");
	struct heartbeat *heartbeat = find_heartbeat(self, sync->key);
	bool has_ready = bt_condition_find(conditions, "Ready") != NULL;
	bool is_unknown = bt_condition_is(conditions, "Ready", "Unknown");

	if (!is_watched(self, sync->object) || heartbeat == NULL ||
		(is_unknown && !heartbeat->pods_failed)) {
		return true;
	}
	int64_t due = heartbeat->seen_ns + (has_ready ? GRACE_NS : STARTUP_GRACE_NS);
	if (!is_unknown && sync->now_ns < due) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	return mark_unknown(sync, heartbeat);
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

		changed |= set_taint(sync, taints, wanted->key, "NoSchedule", is_wanted);
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
	.data_bytes = sizeof(struct lifecycle),
	.init = init,
	.finish = finish,
	.observe = observe,
	.sync = sync,
};

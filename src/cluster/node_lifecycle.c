/* SPDX-License-Identifier: Apache-2.0 */
/** Taints that follow from a node's state, and nodes whose heartbeats stopped. Spec: 14b section
 * 6.6. */
#include "api/time.h"
#include "cluster/groups.h"
#include "cluster/node_agent.h"
#include "cluster/pod_index.h"
#include "cluster/tree.h"
#include "server/condition.h"

#define TAINT_PREFIX "node.kubernetes.io/"
/** A heartbeat is missing after this; of a node that never said anything, later. */
#define GRACE_NS (50 * BT_NS_PER_SECOND)
#define STARTUP_GRACE_NS (60 * BT_NS_PER_SECOND)

struct heartbeat {
	char *node; /* owned */
	int64_t seen_ns;
};

struct lifecycle {
	const struct bt_api_resource *nodes;
	const struct bt_api_resource *pods;
	const struct bt_api_resource *leases;
	bool agents_are_alive; /* those of this process */
	BT_VEC(struct heartbeat) heartbeats;
	struct bt_map by_node;
};

/** One look at one node. */
struct pass {
	struct lifecycle *self;
	struct bt_hub *hub;
	struct bt_str key;
	const struct bt_json_value *node;
	struct bt_arena *arena;
	int64_t now_ns;
};

static uint64_t heartbeat_hash(const void *owner, uint32_t value)
{
	const struct lifecycle *self = owner;
	return bt_str_hash(bt_str_from(self->heartbeats.items[value].node));
}

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct lifecycle *self = BT_NEW(struct lifecycle);

	self->nodes = bt_resources_builtin(resources, "", "nodes");
	self->pods = bt_resources_builtin(resources, "", "pods");
	self->leases = bt_resources_builtin(resources, "coordination.k8s.io", "leases");
	self->agents_are_alive = bt_controllers_has(bt_hub_options(hub), "node-agent");
	bt_map_init(&self->by_node, heartbeat_hash, self);
	return self;
}

static void destroy(void *data)
{
	struct lifecycle *self = data;

	for (uint32_t i = 0; i < self->heartbeats.count; i++) {
		bt_free(self->heartbeats.items[i].node);
	}
	bt_vec_finish(&self->heartbeats);
	bt_map_finish(&self->by_node);
	bt_free(self);
}

/* --- heartbeats --- */

static struct heartbeat *find_heartbeat(struct lifecycle *self, struct bt_str node)
{
	uint64_t hash = bt_str_hash(node);

	for (uint32_t at = bt_map_first(&self->by_node, hash); at != BT_MAP_NONE;
		at = bt_map_next(&self->by_node, hash, at)) {
		struct heartbeat *found = &self->heartbeats.items[bt_map_value(&self->by_node, at)];
		if (bt_str_equal_c(node, found->node)) {
			return found;
		}
	}
	return NULL;
}

static void note_heartbeat(struct lifecycle *self, struct bt_str node, int64_t now_ns)
{
	struct heartbeat *found = find_heartbeat(self, node);
	struct heartbeat added;

	if (found != NULL) {
		found->seen_ns = now_ns;
		return;
	}
	added = (struct heartbeat){bt_strndup(node.data, node.length), now_ns};
	bt_vec_push(&self->heartbeats, added);
	bt_map_insert(&self->by_node, bt_str_hash(node), self->heartbeats.count - 1);
}

static void forget_heartbeat(struct lifecycle *self, struct bt_str node)
{
	struct heartbeat *found = find_heartbeat(self, node);
	uint32_t last = self->heartbeats.count - 1;
	uint32_t index;

	if (found == NULL) {
		return;
	}
	index = (uint32_t)(found - self->heartbeats.items);
	(void)bt_map_remove(&self->by_node, heartbeat_hash(self, index), index);
	bt_free(found->node);
	if (index != last) {
		uint64_t hash = heartbeat_hash(self, last);
		(void)bt_map_remove(&self->by_node, hash, last);
		*found = self->heartbeats.items[last];
		bt_map_insert(&self->by_node, hash, index);
	}
	self->heartbeats.count--;
}

static void observe_lease(
	struct lifecycle *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_str node = bt_key_name(observed->key);
	const struct heartbeat *known;

	if (observed->type == BT_CHANGE_DELETED ||
		!bt_str_equal_c(bt_key_namespace(observed->key), "kube-node-lease")) {
		return;
	}
	known = find_heartbeat(self, node);
	/* Only those are watched whose agents are others'. */
	if (known != NULL) {
		bool was_missing = bt_hub_now_ns(hub) - known->seen_ns >= GRACE_NS;
		note_heartbeat(self, node, bt_hub_now_ns(hub));
		if (was_missing) {
			bt_hub_enqueue(hub, node);
		}
	}
}

static bool is_watched(const struct lifecycle *self, const struct bt_json_value *node)
{
	return !self->agents_are_alive || !bt_node_is_simulated(node);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct lifecycle *self = data;

	if (observed->resource == self->leases) {
		observe_lease(self, hub, observed);
		return;
	}
	if (observed->type == BT_CHANGE_DELETED) {
		forget_heartbeat(self, observed->key);
		return;
	}
	if (is_watched(self, observed->after) &&
		(observed->before == NULL || find_heartbeat(self, observed->key) == NULL ||
			!bt_json_equal(bt_json_array_at(observed->before, "status.conditions"),
				bt_json_array_at(observed->after, "status.conditions")))) {
		note_heartbeat(self, observed->key, bt_hub_now_ns(hub));
	}
	bt_hub_enqueue(hub, observed->key);
}

/* --- nodes that are silent --- */

static bool mark_pods(struct pass *pass)
{
	const struct bt_indexed_pod *record = bt_pod_index_on_node(pass->hub, pass->key);
	bool succeeded = true;

	for (; record != NULL; record = record->next_on_node) {
		static const struct bt_tree_condition not_ready = {
			"Ready", "False", "NodeNotReady", BT_STR_INIT("")};
		const struct bt_json_value *pod;
		struct bt_json_value *conditions;
		struct bt_json_value *status;

		if (!record->ready) {
			continue;
		}
		pod = bt_api_read(
			bt_hub_api(pass->hub), pass->self->pods, record->key, pass->arena);
		conditions = bt_json_clone(
			pass->arena, bt_json_array_at(pod, "status.conditions"), false);
		(void)bt_tree_set_condition(
			pass->arena, conditions, &not_ready, false, pass->now_ns);
		status = bt_json_new(pass->arena, BT_JSON_OBJECT);
		bt_json_set_value(pass->arena, status, "conditions", conditions);
		succeeded = (pod == NULL ||
				    bt_tree_write_status(pass->hub, pass->self->pods, pod, status,
					    pass->arena)) &&
			succeeded;
	}
	return succeeded;
}

static bool mark_unknown(struct pass *pass)
{
	static const char *const types[] = {
		"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"};
	struct bt_json_value *conditions = bt_json_clone(
		pass->arena, bt_json_array_at(pass->node, "status.conditions"), false);
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

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
				pass->arena, conditions, &unknown, false, pass->now_ns);
		}
	}
	bt_json_set_value(pass->arena, status, "conditions", conditions);
	return bt_tree_write_status(
		       pass->hub, pass->self->nodes, pass->node, status, pass->arena) &&
		mark_pods(pass);
}

/** Ready or not, the node must be heard of. */
static bool check_heartbeat(struct pass *pass)
{
	const struct bt_json_value *conditions = bt_json_array_at(pass->node, "status.conditions");
	const struct heartbeat *heartbeat;
	bool has_ready = bt_condition_find(conditions, "Ready") != NULL;
	int64_t due;

	if (!is_watched(pass->self, pass->node)) {
		return true;
	}
	heartbeat = find_heartbeat(pass->self, pass->key);
	if (heartbeat == NULL || bt_condition_is(conditions, "Ready", "Unknown")) {
		return true;
	}
	due = heartbeat->seen_ns + (has_ready ? GRACE_NS : STARTUP_GRACE_NS);
	if (pass->now_ns < due) {
		bt_hub_enqueue_at(pass->hub, pass->key, due);
		return true;
	}
	return mark_unknown(pass);
}

/* --- taints --- */

struct wanted {
	const char *key;
	const char *condition; /* NULL: spec.unschedulable */
	const char *status;
	bool no_execute; /* as well */
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

static bool is_wanted(const struct bt_json_value *node, const struct wanted *wanted)
{
	if (wanted->condition == NULL) {
		return bt_json_bool_at(node, "spec.unschedulable", false);
	}
	return bt_condition_is(
		bt_json_array_at(node, "status.conditions"), wanted->condition, wanted->status);
}

/** Index of a taint, or -1. */
static int64_t find_taint(const struct bt_json_value *taints, const char *key, const char *effect)
{
	for (uint32_t i = 0; i < taints->count; i++) {
		if (bt_str_equal_c(bt_json_text_at(taints->elements[i], "key"), key) &&
			bt_str_equal_c(bt_json_text_at(taints->elements[i], "effect"), effect)) {
			return i;
		}
	}
	return -1;
}

/** Put the taint in or take it out. Returns whether the list changed. */
static bool set_taint(struct pass *pass, struct bt_json_value *taints, const char *key,
	const char *effect, bool wanted)
{
	int64_t index = find_taint(taints, key, effect);
	struct bt_json_value *taint;

	if ((index >= 0) == wanted) {
		return false;
	}
	if (!wanted) {
		bt_json_remove_at(taints, (uint32_t)index);
		return true;
	}
	taint = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_c(pass->arena, taint, "key", key);
	bt_json_set_c(pass->arena, taint, "effect", effect);
	bt_json_set_str(pass->arena, taint, "timeAdded", bt_time_text(pass->arena, pass->now_ns));
	bt_json_append(pass->arena, taints, taint);
	return true;
}

static bool write_taints(struct pass *pass)
{
	struct bt_json_value *taints =
		bt_json_clone(pass->arena, bt_json_array_at(pass->node, "spec.taints"), false);
	struct bt_json_value *patch;
	bool changed = false;
	uint16_t code;

	for (size_t i = 0; i < BT_ARRAY_LENGTH(wanted_taints); i++) {
		const struct wanted *wanted = &wanted_taints[i];
		bool is = is_wanted(pass->node, wanted);
		changed |= set_taint(pass, taints, wanted->key, "NoSchedule", is);
		if (wanted->no_execute) {
			changed |= set_taint(pass, taints, wanted->key, "NoExecute", is);
		}
	}
	if (!changed) {
		return true;
	}
	patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_value(pass->arena, bt_json_ensure_object(pass->arena, patch, "spec"), "taints",
		taints->count != 0 ? taints : bt_json_new(pass->arena, BT_JSON_NULL));
	code = bt_hub_patch(pass->hub, pass->self->nodes, BT_SUBRESOURCE_NONE, pass->key, patch,
		pass->arena, NULL);
	return code == 200 || code == 404;
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct pass pass = {.self = data, .hub = hub, .key = key, .arena = arena, .now_ns = now_ns};

	pass.node = bt_api_read(bt_hub_api(hub), pass.self->nodes, key, arena);
	if (pass.node == NULL) {
		return true;
	}
	return check_heartbeat(&pass) && write_taints(&pass);
}

static const char *const watched[] = {"nodes", "coordination.k8s.io/leases", NULL};

const struct bt_controller_ops bt_node_lifecycle_ops = {
	.name = "node-lifecycle-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

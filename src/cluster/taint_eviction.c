/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Deletes pods that do not tolerate a NoExecute taint of their node, or whose tolerationSeconds are
 * over. Spec: 14b section 6.6.
 */
#include "api/toleration.h"
#include "cluster/tree.h"
#include "cluster/node_agent.h"
#include "server/condition.h"

/** Returns the node's taints with effect NoExecute, in the arena. */
static struct bt_json_value *no_execute_taints(
	struct bt_arena *arena, const struct bt_json_value *node)
{
	struct bt_json_value *taints = bt_tree_copy_array(arena, node, "spec.taints");

	for (uint32_t i = taints->count; i > 0; i--) {
		if (!bt_str_equal_c(
			    bt_json_text_at(taints->elements[i - 1], "effect"), "NoExecute")) {
			bt_json_remove_at(taints, i - 1);
		}
	}
	return taints;
}

/**
 * data: a struct bt_groups of the nodes with NoExecute taints, by the time in nanoseconds at which
 * their current NoExecute taints were observed.
 */
static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_indexed_pod *pod;
	struct bt_arena arena = {0};

	if (observed->kind == BT_HUB_PODS) {
		struct bt_str node = bt_json_text_at(observed->after, "spec.nodeName");

		if (observed->type != BT_CHANGE_DELETED && node.length != 0 &&
			bt_groups_of(data, node).length != 0) {
			bt_hub_enqueue(hub, observed->key);
		}
		return;
	}
	if (observed->type == BT_CHANGE_DELETED || !bt_node_has_no_execute(observed->after)) {
		bt_groups_remove(data, observed->key);
		return;
	}
	/* Other changes, such as a cordon, do not restart the tolerated seconds. */
	if (observed->before == NULL ||
		!bt_json_equal(no_execute_taints(&arena, observed->before),
			no_execute_taints(&arena, observed->after))) {
		bt_groups_set_number(data, observed->key, hub->now_ns);
		for (pod = bt_pod_index_on_node(hub, observed->key); pod != NULL;
			pod = pod->next[BT_PODS_ON_NODE]) {
			bt_hub_enqueue(hub, pod->key);
		}
	}
	bt_arena_finish(&arena);
}

static bool sync(struct bt_sync *sync)
{
	struct bt_str node_name = bt_json_text_at(sync->object, "spec.nodeName");
	struct bt_node node = {.spec = {.unschedulable = false}};
	struct bt_pod pod = {.spec = {.host_network = false}};
	int64_t created_ns =
		bt_tree_seconds(sync->object, "metadata.creationTimestamp") * BT_NS_PER_SECOND;
	int64_t began_ns = 0;

	if (node_name.length == 0 || bt_tree_is_deleting(sync->object)) {
		return true;
	}
	const struct bt_json_value *node_tree =
		bt_hub_read(sync->hub, BT_HUB_NODES, node_name, sync->arena);
	if (node_tree == NULL || !bt_node_has_no_execute(node_tree) ||
		!bt_tree_decode(sync->arena, node_tree, &bt_node_message, &node) ||
		!bt_tree_decode(sync->arena, sync->object, &bt_pod_message, &pod)) {
		return true;
	}
	int64_t seconds = bt_tolerated_seconds(&node.spec.taints, &pod.spec.tolerations);
	if (seconds > INT64_MAX / BT_NS_PER_SECOND / 4) {
		return true;
	}
	/*
	 * tolerationSeconds count from the latest of three times: the pod was created, the pod was
	 * assigned, the NoExecute taints of the node were observed.
	 */
	const struct bt_json_value *scheduled = bt_condition_find(
		bt_json_array_at(sync->object, "status.conditions"), "PodScheduled");
	int64_t began_seconds = bt_tree_seconds(scheduled, "lastTransitionTime");
	int64_t due = BT_MAX(began_seconds * BT_NS_PER_SECOND, created_ns);
	(void)bt_groups_number(sync->data, node_name, &began_ns);
	due = BT_MAX(due, began_ns) + seconds * BT_NS_PER_SECOND;
	if (seconds == 0) {
		/* A controller replaces the pod at once, maybe with nodeName on the same node. */
		due = created_ns + BT_NS_PER_SECOND;
	}
	if (due > sync->now_ns) {
		bt_hub_enqueue_at(sync->hub, sync->key, due);
		return true;
	}
	bt_sync_event(sync, "Normal", "TaintManagerEviction", "Marking for deletion Pod %.*s",
		BT_STR_ARG(sync->key));
	return bt_disrupt_pod(sync, sync->key, "DeletionByTaintManager",
		BT_STR("Taint manager: deleting due to NoExecute taint"), -1);
}

const struct bt_controller_ops bt_taint_eviction_ops = {
	.watches = BT_WATCH(BT_HUB_NODES) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_PODS,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

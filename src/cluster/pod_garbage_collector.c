/* SPDX-License-Identifier: Apache-2.0 */
/** Deletes pods whose node was deleted. Keys are names of nodes. Spec: 14b section 6.6. */
#include "cluster/tree.h"

/** Wait before deleting pods: the node may be created again meanwhile. */
#define QUARANTINE_NS (20 * BT_NS_PER_SECOND)

static void observe(BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_str node = observed->key;

	if (observed->kind == BT_HUB_PODS) {
		node = bt_json_text_at(observed->after, "spec.nodeName");
		if (observed->type == BT_CHANGE_DELETED || node.length == 0 ||
			bt_str_equal(bt_json_text_at(observed->before, "spec.nodeName"), node)) {
			return;
		}
	} else if (observed->type != BT_CHANGE_DELETED) {
		return;
	}
	if (!bt_hub_exists(hub, BT_HUB_NODES, node)) {
		bt_hub_enqueue_at(hub, node, hub->now_ns + QUARANTINE_NS);
	}
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_indexed_pod *pod = bt_pod_index_on_node(sync->hub, sync->key);

	if (bt_hub_exists(sync->hub, BT_HUB_NODES, sync->key)) {
		return true;
	}
	for (; pod != NULL; pod = pod->next[BT_PODS_ON_NODE]) {
		if (!bt_disrupt_pod(sync, pod->key, "DeletionByPodGC",
			    BT_STR("PodGC: node no longer exists"), 0)) {
			sync->failed = true;
		}
	}
	return true;
}

const struct bt_controller_ops bt_pod_garbage_collector_ops = {
	.watches = BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_NODES),
	.observe = observe,
	.sync = sync,
};

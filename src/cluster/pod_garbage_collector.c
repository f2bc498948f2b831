/* SPDX-License-Identifier: Apache-2.0 */
/** Pods whose node is gone are deleted. Spec: 14b section 6.6. */
#include "base/alloc.h"
#include "cluster/tree.h"
#include "cluster/pod_index.h"

/** A node may come back meanwhile. */
#define QUARANTINE_NS (20 * BT_NS_PER_SECOND)

struct collector {
	const struct bt_api_resource *nodes;
	const struct bt_api_resource *pods;
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct collector *self = BT_NEW(struct collector);

	self->nodes = bt_resources_builtin(resources, "", "nodes");
	self->pods = bt_resources_builtin(resources, "", "pods");
	return self;
}

static bool node_exists(struct bt_hub *hub, const struct collector *self, struct bt_str node)
{
	return bt_store_find(bt_api_store(bt_hub_api(hub)), self->nodes->collection, node) != NULL;
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct collector *self = data;
	struct bt_str node = observed->key;

	if (observed->resource == self->pods) {
		node = bt_json_text_at(observed->after, "spec.nodeName");
		if (observed->type == BT_CHANGE_DELETED || node.length == 0 ||
			bt_str_equal(bt_json_text_at(observed->before, "spec.nodeName"), node)) {
			return;
		}
	} else if (observed->type != BT_CHANGE_DELETED) {
		return;
	}
	if (!node_exists(hub, self, node)) {
		bt_hub_enqueue_at(hub, node, bt_hub_now_ns(hub) + QUARANTINE_NS);
	}
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct collector *self = data;
	const struct bt_indexed_pod *pod;
	bool succeeded = true;

	if (node_exists(hub, self, key)) {
		return true;
	}
	for (pod = bt_pod_index_on_node(hub, key); pod != NULL; pod = pod->next_on_node) {
		succeeded = bt_disrupt_pod(hub, pod->key, "DeletionByPodGC",
				    BT_STR("PodGC: node no longer exists"), 0, arena, now_ns) &&
			succeeded;
	}
	return succeeded;
}

static const char *const watched[] = {"pods", "nodes", NULL};

const struct bt_controller_ops bt_pod_garbage_collector_ops = {
	.name = "pod-garbage-collector-controller",
	.resources = watched,
	.create = create,
	.destroy = bt_free,
	.observe = observe,
	.sync = sync,
};

/* SPDX-License-Identifier: Apache-2.0 */
/** Pods leave nodes with NoExecute taints that they do not tolerate, or not for long. Spec: 14b
 * section 6.6. */
#include "api/toleration.h"
#include "cluster/tree.h"
#include "cluster/groups.h"
#include "cluster/node_agent.h"
#include "cluster/pod_index.h"
#include "server/condition.h"

struct eviction {
	const struct bt_api_resource *nodes;
	const struct bt_api_resource *pods;
	/** Nodes with NoExecute taints; the group is when that began, as text. */
	struct bt_groups tainted;
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct eviction *self = BT_NEW(struct eviction);

	self->nodes = bt_resources_builtin(resources, "", "nodes");
	self->pods = bt_resources_builtin(resources, "", "pods");
	bt_groups_init(&self->tainted);
	return self;
}

static void destroy(void *data)
{
	struct eviction *self = data;
	bt_groups_finish(&self->tainted);
	bt_free(self);
}

static void observe_node(
	struct eviction *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_indexed_pod *pod;
	struct bt_arena arena = {0};

	if (observed->type == BT_CHANGE_DELETED || !bt_node_has_no_execute(observed->after)) {
		bt_groups_remove(&self->tainted, observed->key);
		return;
	}
	if (observed->before != NULL &&
		bt_json_equal(bt_json_array_at(observed->before, "spec.taints"),
			bt_json_array_at(observed->after, "spec.taints"))) {
		return;
	}
	bt_groups_put(&self->tainted, observed->key,
		bt_arena_printf(&arena, "%lld", (long long)bt_hub_now_ns(hub)));
	bt_arena_finish(&arena);
	for (pod = bt_pod_index_on_node(hub, observed->key); pod != NULL; pod = pod->next_on_node) {
		bt_hub_enqueue(hub, pod->key);
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct eviction *self = data;
	struct bt_str node;

	if (observed->resource == self->nodes) {
		observe_node(self, hub, observed);
		return;
	}
	node = bt_json_text_at(observed->after, "spec.nodeName");
	if (observed->type != BT_CHANGE_DELETED && node.length != 0 &&
		bt_groups_of(&self->tainted, node).length != 0) {
		bt_hub_enqueue(hub, observed->key);
	}
}

/** How long the pod tolerates what is wrong with its node: 0 not at all, INT64_MAX for ever. */
static int64_t tolerated_seconds(const struct bt_node *node, const struct bt_pod *pod)
{
	int64_t least = INT64_MAX;

	for (uint32_t i = 0; i < node->spec.taints.count; i++) {
		const struct bt_taint *taint = &node->spec.taints.items[i];
		bool tolerated = false;

		if (!bt_str_equal_c(taint->effect, "NoExecute")) {
			continue;
		}
		/* All tolerations that fit count, as upstream counts them: the shortest wins. */
		for (uint32_t j = 0; j < pod->spec.tolerations.count; j++) {
			const struct bt_toleration *toleration = &pod->spec.tolerations.items[j];
			if (!bt_toleration_tolerates(toleration, taint, true)) {
				continue;
			}
			tolerated = true;
			if (toleration->toleration_seconds.present &&
				toleration->toleration_seconds.value < least) {
				least = toleration->toleration_seconds.value;
			}
		}
		if (!tolerated) {
			return 0;
		}
	}
	return least < 0 ? 0 : least;
}

/** When the pod began to be where it does not belong. */
static int64_t began_ns(struct eviction *self, struct bt_str node, const struct bt_json_value *pod)
{
	int64_t since = 0;
	int64_t scheduled = bt_tree_seconds(
		bt_condition_find(bt_json_array_at(pod, "status.conditions"), "PodScheduled"),
		"lastTransitionTime");
	int64_t created = bt_tree_seconds(pod, "metadata.creationTimestamp");

	(void)bt_str_parse_int64(bt_groups_of(&self->tainted, node), &since);
	scheduled = (scheduled > created ? scheduled : created) * BT_NS_PER_SECOND;
	return scheduled > since ? scheduled : since;
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct eviction *self = data;
	const struct bt_json_value *tree = bt_api_read(bt_hub_api(hub), self->pods, key, arena);
	struct bt_str node_name = bt_json_text_at(tree, "spec.nodeName");
	const struct bt_json_value *node_tree;
	struct bt_node node = {.spec = {.unschedulable = false}};
	struct bt_pod pod = {.spec = {.host_network = false}};
	int64_t seconds;
	int64_t due;

	if (tree == NULL || node_name.length == 0 || bt_tree_is_deleting(tree)) {
		return true;
	}
	node_tree = bt_api_read(bt_hub_api(hub), self->nodes, node_name, arena);
	if (node_tree == NULL || !bt_node_has_no_execute(node_tree) ||
		!bt_tree_decode(arena, node_tree, &bt_node_message, &node) ||
		!bt_tree_decode(arena, tree, &bt_pod_message, &pod)) {
		return true;
	}
	seconds = tolerated_seconds(&node, &pod);
	if (seconds > INT64_MAX / BT_NS_PER_SECOND / 4) {
		return true;
	}
	due = began_ns(self, node_name, tree) + seconds * BT_NS_PER_SECOND;
	if (seconds != 0 && due > now_ns) {
		bt_hub_enqueue_at(hub, key, due);
		return true;
	}
	bt_hub_event(hub, "taint-eviction-controller", self->pods, tree, "Normal",
		"TaintManagerEviction",
		bt_arena_printf(arena, "Marking for deletion Pod %.*s", BT_STR_ARG(key)));
	return bt_disrupt_pod(hub, key, "DeletionByTaintManager",
		BT_STR("Taint manager: deleting due to NoExecute taint"), -1, arena, now_ns);
}

static const char *const watched[] = {"nodes", "pods", NULL};

const struct bt_controller_ops bt_taint_eviction_ops = {
	.name = "taint-eviction-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

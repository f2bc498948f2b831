/* SPDX-License-Identifier: Apache-2.0 */
/**
 * NodePreferAvoidPods (Score): a node's annotation names controllers whose pods it would rather not
 * get. Meant for a weight that dominates every other score (10000). Spec: 05b B8.
 */
#include "plugins/common_legacy.h"
#include "plugins/legacy.h"

static bool parse(struct bt_str annotation, struct bt_arena *arena, struct bt_avoid_pods *out_avoid)
{
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, annotation);
	return bt_message_decode_json(&bt_avoid_pods_message, &reader, arena, out_avoid, NULL) ==
		0 &&
		bt_json_expect_end(&reader, NULL) == 0;
}

static bool is_avoided(struct bt_str annotation, const struct bt_owner_reference *controller)
{
	struct bt_arena arena = {0};
	struct bt_avoid_pods avoid = {0};
	bool found = false;

	/* A broken annotation never fails the cycle. */
	if (parse(annotation, &arena, &avoid)) {
		for (uint32_t i = 0; i < avoid.prefer_avoid_pods.count && !found; i++) {
			const struct bt_owner_reference *entry =
				avoid.prefer_avoid_pods.items[i].pod_signature.pod_controller;

			found = entry != NULL && bt_str_equal(entry->kind, controller->kind) &&
				bt_str_equal(entry->uid, controller->uid);
		}
	}
	bt_arena_finish(&arena);
	return found;
}

/** The pod's controller if its kind takes part, or NULL. */
static const struct bt_owner_reference *replicating_controller(const struct bt_pod_info *pod)
{
	const struct bt_owner_reference *controller;

	if (pod->object == NULL) {
		return NULL;
	}
	controller = bt_object_controller(&pod->object->metadata);
	if (controller == NULL ||
		!(bt_str_equal_c(controller->kind, "ReplicationController") ||
			bt_str_equal_c(controller->kind, "ReplicaSet"))) {
		return NULL;
	}
	return controller;
}

static struct bt_status score(BT_UNUSED struct bt_plugin *plugin,
	BT_UNUSED struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node, int64_t *out_score)
{
	const struct bt_owner_reference *controller = replicating_controller(pod);
	struct bt_str annotation = bt_node_info_prefer_avoid_pods(node);

	*out_score = BT_SCORE_MAX;
	if (controller != NULL && annotation.length != 0 && is_avoided(annotation, controller)) {
		*out_score = 0;
	}
	return BT_STATUS_OK;
}

const struct bt_plugin_ops bt_legacy_node_prefer_avoid_pods_plugin = {
	.name = "NodePreferAvoidPods",
	.create = bt_legacy_create_plain,
	.destroy = bt_plain_plugin_destroy,
	.score = score,
};

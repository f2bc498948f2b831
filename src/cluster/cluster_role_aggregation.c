/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Gives a ClusterRole with an aggregationRule the rules of the ClusterRoles whose labels match a
 * selector of the aggregationRule. Spec: 14b section 6.9.
 */
#include "cluster/tree.h"

/** The group of all roles with an aggregationRule. */
#define ALL BT_STR("all")

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_groups *roles = data;
	if (observed->type == BT_CHANGE_DELETED ||
		bt_json_find(observed->after, "aggregationRule") == NULL) {
		bt_groups_remove(roles, observed->key);
	} else {
		bt_groups_set(roles, observed->key, ALL);
	}
	bt_hub_enqueue_group(hub, roles, ALL);
}

static bool is_selected(struct bt_arena *arena, const struct bt_json_value *selectors,
	const struct bt_json_value *role)
{
	for (uint32_t i = 0; i < selectors->count; i++) {
		struct bt_selector selector;
		if (bt_json_is_zero(selectors->elements[i]) ||
			(bt_tree_selector(arena, selectors->elements[i], false, &selector) &&
				bt_tree_matches(arena, &selector,
					bt_json_object_at(role, "metadata.labels")))) {
			return true;
		}
	}
	return false;
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	const struct bt_json_value *selectors =
		bt_json_array_at(sync->object, "aggregationRule.clusterRoleSelectors");
	const struct bt_stored *stored;
	if (bt_json_find(sync->object, "aggregationRule") == NULL) {
		return true;
	}
	struct bt_json_value *rules = bt_json_new(arena, BT_JSON_ARRAY);
	struct bt_store_walk walk =
		bt_store_walk_current(sync->hub->store, sync->resource->collection, BT_STR(""));
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		struct bt_json_value *role;
		if (!bt_str_equal(bt_stored_key(stored), sync->key) &&
			bt_json_parse(arena, bt_stored_text(stored), true, &role, NULL) == 0 &&
			is_selected(arena, selectors, role)) {
			const struct bt_json_value *own = bt_json_array_at(role, "rules");
			for (uint32_t i = 0; i < own->count; i++) {
				bool is_there = false;
				for (uint32_t j = 0; j < rules->count && !is_there; j++) {
					is_there =
						bt_json_same(rules->elements[j], own->elements[i]);
				}
				if (!is_there) {
					bt_json_append(arena, rules, own->elements[i]);
				}
			}
		}
	}
	bt_store_walk_end(&walk);
	if (bt_json_same(bt_json_array_at(sync->object, "rules"), rules)) {
		return true;
	}
	return bt_hub_is_done(bt_sync_patch(sync, BT_HUB_CLUSTER_ROLES, sync->key,
		bt_json_put(arena, NULL, "{rules: %v}", rules)));
}

const struct bt_controller_ops bt_cluster_role_aggregation_ops = {
	.watches = BT_WATCH(BT_HUB_CLUSTER_ROLES),
	.object = BT_HUB_CLUSTER_ROLES,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

/* SPDX-License-Identifier: Apache-2.0 */
/** Updates the usage in the status of ResourceQuotas. Spec: 14b section 4.11. */
#include "server/quota.h"
#include "cluster/tree.h"

/** A quota is synced this long after a change, so that one sync covers many changes. */
#define GATHER_NS (BT_NS_PER_SECOND / 2)

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_groups *by_namespace = data; /* keys of quotas */
	struct bt_str namespace_ = bt_key_namespace(observed->key);

	if (observed->kind == BT_HUB_QUOTAS) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_groups_remove(by_namespace, observed->key);
		} else {
			bt_groups_set(by_namespace, observed->key, namespace_);
			bt_hub_enqueue(hub, observed->key);
		}
	}
	/* Usage changes if an object is added, deleted or finished, or if its spec changes. */
	if (by_namespace->by_key.count == 0 ||
		(observed->type == BT_CHANGE_MODIFIED &&
			bt_str_equal(bt_json_text_at(observed->before, "status.phase"),
				bt_json_text_at(observed->after, "status.phase")) &&
			bt_json_equal(bt_json_object_at(observed->before, "spec"),
				bt_json_object_at(observed->after, "spec")))) {
		return;
	}
	BT_GROUPS_EACH (by_namespace, namespace_, entry) {
		bt_hub_enqueue_at(hub, bt_groups_key(by_namespace, entry), hub->now_ns + GATHER_NS);
	}
}

/**
 * Sets each amount that is stored but no longer wanted to null, so that the merge patch of the
 * status removes the amount.
 */
static void remove_others(
	struct bt_arena *arena, const struct bt_json_value *stored, struct bt_json_value *amounts)
{
	for (uint32_t i = 0; i < stored->count; i++) {
		if (bt_json_get(amounts, stored->members[i].name) == NULL) {
			bt_json_set(arena, amounts, stored->members[i].name,
				bt_json_new(arena, BT_JSON_NULL));
		}
	}
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_json_value *hard = bt_json_object_at(sync->object, "spec.hard");
	struct bt_json_value *used = bt_quota_used(
		sync->hub->api, bt_key_namespace(sync->key), sync->object, sync->arena);
	struct bt_json_value *status =
		bt_json_put(sync->arena, NULL, "{hard: %t, used: %v}", hard, used);

	remove_others(sync->arena, bt_json_object_at(sync->object, "status.hard"),
		bt_json_find(status, "hard"));
	remove_others(sync->arena, bt_json_object_at(sync->object, "status.used"), used);
	bt_sync_write_status(sync, status);
	return true;
}

const struct bt_controller_ops bt_resource_quota_ops = {
	.watches = BT_WATCH_ALL,
	.object = BT_HUB_QUOTAS,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

/* SPDX-License-Identifier: Apache-2.0 */
/** The service account "default" of every namespace. Spec: 14b section 6.9. */
#include "cluster/tree.h"

static void observe(BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->kind == BT_HUB_NAMESPACES) {
		if (observed->type == BT_CHANGE_ADDED) {
			bt_hub_enqueue(hub, observed->key);
		}
	} else if (observed->type == BT_CHANGE_DELETED &&
		bt_str_equal_c(bt_key_name(observed->key), "default")) {
		bt_hub_enqueue(hub, bt_key_namespace(observed->key));
	}
}

static bool sync(struct bt_sync *sync)
{
	struct bt_arena *arena = sync->arena;
	struct bt_json_value *account;
	uint16_t code;

	if (bt_tree_is_deleting(sync->object) ||
		bt_hub_exists(sync->hub, BT_HUB_SERVICE_ACCOUNTS,
			bt_api_key(arena, sync->key, BT_STR("default")))) {
		return true;
	}
	account = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_c(arena, bt_tree_ensure(arena, account, "metadata"), "name", "default");
	code = bt_hub_create(sync->hub, BT_HUB_SERVICE_ACCOUNTS, sync->key, account, arena, NULL);
	return code == 201 || code == 409 || code == 403 || code == 404;
}

const struct bt_controller_ops bt_service_account_ops = {
	.name = "serviceaccount-controller",
	.watches = BT_WATCH(BT_HUB_NAMESPACES) | BT_WATCH(BT_HUB_SERVICE_ACCOUNTS),
	.object = BT_HUB_NAMESPACES,
	.observe = observe,
	.sync = sync,
};

/* SPDX-License-Identifier: Apache-2.0 */
/** Creates a PersistentVolumeClaim for every ephemeral volume of a pod. Spec: 14b section 6.4. */
#include "cluster/tree.h"

static void observe(BT_UNUSED void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *volumes = bt_json_array_at(observed->after, "spec.volumes");

	if (observed->kind == BT_HUB_VOLUME_CLAIMS) {
		if (observed->type == BT_CHANGE_DELETED) {
			bt_hub_enqueue_owner(hub, observed->key, observed->owner, "Pod");
		}
		return;
	}
	for (uint32_t i = 0; observed->type == BT_CHANGE_ADDED && i < volumes->count; i++) {
		if (bt_json_find(volumes->elements[i], "ephemeral") != NULL) {
			bt_hub_enqueue(hub, observed->key);
			return;
		}
	}
}

static bool sync(struct bt_sync *sync)
{
	const struct bt_json_value *volumes = bt_json_array_at(sync->object, "spec.volumes");
	struct bt_str namespace_ = bt_key_namespace(sync->key);
	struct bt_arena *arena = sync->arena;

	if (bt_tree_is_deleting(sync->object)) {
		return true;
	}
	for (uint32_t i = 0; i < volumes->count; i++) {
		const struct bt_json_value *volume = volumes->elements[i];
		struct bt_str name =
			bt_arena_printf(arena, "%.*s-%.*s", BT_STR_ARG(bt_key_name(sync->key)),
				BT_STR_ARG(bt_json_text_at(volume, "name")));

		if (bt_json_find(volume, "ephemeral") == NULL ||
			bt_hub_exists(sync->hub, BT_HUB_VOLUME_CLAIMS,
				bt_api_key(arena, namespace_, name))) {
			continue;
		}
		uint16_t code = bt_hub_create(sync->hub, BT_HUB_VOLUME_CLAIMS, namespace_,
			bt_tree_from_template(arena,
				bt_json_object_at(volume, "ephemeral.volumeClaimTemplate"),
				bt_sync_owner_reference(sync, arena), name, false),
			arena, NULL);
		sync->failed = sync->failed || (code != 201 && code != 409);
	}
	return true;
}

const struct bt_controller_ops bt_ephemeral_volume_ops = {
	.watches = BT_WATCH(BT_HUB_PODS) | BT_WATCH(BT_HUB_VOLUME_CLAIMS),
	.object = BT_HUB_PODS,
	.observe = observe,
	.sync = sync,
};

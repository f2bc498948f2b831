/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Removes the protection finalizers, which admission adds, from claims, volumes and PodGroups that
 * are being deleted and are no longer in use. Spec: 14b sections 6.4 and 6.9.
 */
#include "cluster/persistent_volume.h"

static const char *finalizer_of(enum bt_hub_kind kind)
{
	return kind == BT_HUB_VOLUME_CLAIMS ? "kubernetes.io/pvc-protection"
		: kind == BT_HUB_VOLUMES    ? "kubernetes.io/pv-protection"
					    : "scheduling.k8s.io/podgroup-protection";
}

static bool is_protected(enum bt_hub_kind kind, const struct bt_json_value *object)
{
	return bt_tree_is_deleting(object) &&
		bt_json_has_text(bt_json_array_at(object, "metadata.finalizers"),
			bt_str_from(finalizer_of(kind)));
}

/**
 * `users`: uses of objects by pods. The keys "<pod key>#<index in spec.volumes>", or "<pod key>#0"
 * for the use of a PodGroup, are grouped by the key of the object that the pod uses.
 */
static void record_use(struct bt_groups *users, struct bt_hub *hub, struct bt_str pod,
	uint32_t number, struct bt_str name, bool uses)
{
	struct bt_arena arena = {0};
	struct bt_str key = bt_arena_printf(&arena, "%.*s#%u", BT_STR_ARG(pod), number);
	struct bt_str used = bt_api_key(&arena, bt_key_namespace(pod), name);

	if (uses) {
		bt_groups_set(users, key, used);
	} else if (bt_groups_of(users, key).length != 0) {
		bt_groups_remove(users, key);
		bt_hub_enqueue(hub, used);
	}
	bt_arena_finish(&arena);
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->kind != BT_HUB_PODS) {
		if (observed->type != BT_CHANGE_DELETED &&
			is_protected(observed->kind, observed->after)) {
			bt_hub_enqueue(hub, observed->key);
		}
		return;
	}
	bool uses = observed->type != BT_CHANGE_DELETED && !bt_tree_is_over(observed->after);
	if (hub->members[hub->current].ops->object == BT_HUB_POD_GROUPS) {
		struct bt_str group =
			bt_json_text_at(observed->after, "spec.schedulingGroup.podGroupName");

		if (group.length != 0) {
			record_use(data, hub, observed->key, 0, group, uses);
		}
		return;
	}
	/*
	 * A pod without node does not protect a claim that is being deleted; the pod waits instead.
	 */
	uses = uses && bt_json_text_at(observed->after, "spec.nodeName").length != 0;
	const struct bt_json_value *volumes = bt_json_array_at(observed->after, "spec.volumes");
	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_arena arena = {0};
		struct bt_str name = bt_pv_claim_of_volume(
			&arena, bt_key_name(observed->key), volumes->elements[i]);

		if (name.length != 0) {
			record_use(data, hub, observed->key, i, name, uses);
		}
		bt_arena_finish(&arena);
	}
}

static bool sync(struct bt_sync *sync)
{
	enum bt_hub_kind kind = sync->hub->members[sync->hub->current].ops->object;
	struct bt_str phase = bt_json_text_at(sync->object, "status.phase");

	return !is_protected(kind, sync->object) ||
		bt_groups_first(sync->data, sync->key) != BT_GROUPS_NONE ||
		(kind == BT_HUB_VOLUMES && bt_str_equal_c(phase, "Bound")) ||
		bt_sync_remove_finalizer(sync, sync->resource, sync->object, finalizer_of(kind));
}

const struct bt_controller_ops bt_claim_protection_ops = {
	.watches = BT_WATCH(BT_HUB_VOLUME_CLAIMS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_VOLUME_CLAIMS,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

const struct bt_controller_ops bt_volume_protection_ops = {
	.watches = BT_WATCH(BT_HUB_VOLUMES),
	.object = BT_HUB_VOLUMES,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

const struct bt_controller_ops bt_pod_group_protection_ops = {
	.watches = BT_WATCH(BT_HUB_POD_GROUPS) | BT_WATCH(BT_HUB_PODS),
	.object = BT_HUB_POD_GROUPS,
	.group_count = 1,
	.observe = observe,
	.sync = sync,
};

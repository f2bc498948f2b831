/* SPDX-License-Identifier: Apache-2.0 */
/** A claim for every ephemeral volume of a pod. Spec: 14b section 6.4. */
#include "base/alloc.h"
#include "cluster/tree.h"

struct ephemeral {
	const struct bt_api_resource *pods;
	const struct bt_api_resource *claims;
};

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct ephemeral *self = BT_NEW(struct ephemeral);

	self->pods = bt_resources_builtin(resources, "", "pods");
	self->claims = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	return self;
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct ephemeral *self = data;
	const struct bt_json_value *volumes;

	if (observed->resource == self->claims) {
		const struct bt_json_value *owner = bt_controller_owner_of(observed->after);
		if (observed->type == BT_CHANGE_DELETED &&
			bt_str_equal_c(bt_json_text_at(owner, "kind"), "Pod")) {
			struct bt_arena arena = {0};
			bt_hub_enqueue(hub,
				bt_api_key(&arena, bt_key_namespace(observed->key),
					bt_json_text_at(owner, "name")));
			bt_arena_finish(&arena);
		}
		return;
	}
	if (observed->type != BT_CHANGE_ADDED) {
		return;
	}
	volumes = bt_json_array_at(observed->after, "spec.volumes");
	for (uint32_t i = 0; i < volumes->count; i++) {
		if (bt_json_find(volumes->elements[i], "ephemeral") != NULL) {
			bt_hub_enqueue(hub, observed->key);
			return;
		}
	}
}

static bool make_claim(struct bt_hub *hub, const struct ephemeral *self, struct bt_str namespace_,
	const struct bt_json_value *pod, const struct bt_json_value *volume, struct bt_arena *arena)
{
	struct bt_str name = bt_arena_printf(arena, "%.*s-%.*s",
		BT_STR_ARG(bt_json_text_at(pod, "metadata.name")),
		BT_STR_ARG(bt_json_text_at(volume, "name")));
	const struct bt_json_value *template_ =
		bt_json_object_at(volume, "ephemeral.volumeClaimTemplate");
	uint16_t code;

	if (bt_store_find(bt_api_store(bt_hub_api(hub)), self->claims->collection,
		    bt_api_key(arena, namespace_, name)) != NULL) {
		return true;
	}
	code = bt_hub_create(hub, self->claims, namespace_,
		bt_tree_from_template(arena, template_,
			bt_controller_owner_reference(arena, self->pods, pod), name, false),
		arena, NULL);
	return code == 201 || code == 409;
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct ephemeral *self = data;
	const struct bt_json_value *pod = bt_api_read(bt_hub_api(hub), self->pods, key, arena);
	const struct bt_json_value *volumes = bt_json_array_at(pod, "spec.volumes");
	bool succeeded = true;

	(void)now_ns;
	if (pod == NULL || bt_tree_is_deleting(pod)) {
		return true;
	}
	for (uint32_t i = 0; i < volumes->count; i++) {
		if (bt_json_find(volumes->elements[i], "ephemeral") != NULL) {
			succeeded = make_claim(hub, self, bt_key_namespace(key), pod,
					    volumes->elements[i], arena) &&
				succeeded;
		}
	}
	return succeeded;
}

static const char *const watched[] = {"pods", "persistentvolumeclaims", NULL};

const struct bt_controller_ops bt_ephemeral_volume_ops = {
	.name = "ephemeral-volume-controller",
	.resources = watched,
	.create = create,
	.destroy = bt_free,
	.observe = observe,
	.sync = sync,
};

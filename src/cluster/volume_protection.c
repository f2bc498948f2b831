/* SPDX-License-Identifier: Apache-2.0 */
/** Claims in use, bound volumes and pod groups with pods stay until they are not. Spec: 14b
 * sections 6.4 and 6.9. */
#include "cluster/groups.h"
#include "cluster/persistent_volume.h"

struct protection {
	const struct bt_api_resource *pods;
	const struct bt_api_resource *resource; /* what is protected */
	const char *finalizer;
	/** Uses: "pod key#number" by the key of what is used. */
	struct bt_groups uses;
};

static struct protection *make(
	struct bt_hub *hub, const char *group, const char *name, const char *finalizer)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct protection *self = BT_NEW(struct protection);

	self->pods = bt_resources_builtin(resources, "", "pods");
	self->resource = bt_resources_builtin(resources, group, name);
	self->finalizer = finalizer;
	bt_groups_init(&self->uses);
	return self;
}

static void *create_for_claims(struct bt_hub *hub)
{
	return make(hub, "", "persistentvolumeclaims", "kubernetes.io/pvc-protection");
}

static void *create_for_volumes(struct bt_hub *hub)
{
	return make(hub, "", "persistentvolumes", "kubernetes.io/pv-protection");
}

static void *create_for_groups(struct bt_hub *hub)
{
	return make(hub, "scheduling.k8s.io", "podgroups", "scheduling.k8s.io/podgroup-protection");
}

static void destroy(void *data)
{
	struct protection *self = data;

	bt_groups_finish(&self->uses);
	bt_free(self);
}

static bool has_finalizer(const struct protection *self, const struct bt_json_value *object)
{
	return bt_json_has_text(
		bt_json_array_at(object, "metadata.finalizers"), bt_str_from(self->finalizer));
}

/* --- changes --- */

static void note_use(struct protection *self, struct bt_hub *hub, struct bt_str pod,
	uint32_t number, struct bt_str name, bool uses)
{
	struct bt_arena arena = {0};
	struct bt_str key = bt_arena_printf(&arena, "%.*s#%u", BT_STR_ARG(pod), number);
	struct bt_str used = bt_api_key(&arena, bt_key_namespace(pod), name);

	if (uses) {
		bt_groups_put(&self->uses, key, used);
	} else if (bt_groups_of(&self->uses, key).length != 0) {
		bt_groups_remove(&self->uses, key);
		bt_hub_enqueue(hub, used);
	}
	bt_arena_finish(&arena);
}

static bool is_over(const struct bt_observed *observed)
{
	struct bt_str phase = bt_json_text_at(observed->after, "status.phase");

	return observed->type == BT_CHANGE_DELETED || bt_str_equal_c(phase, "Succeeded") ||
		bt_str_equal_c(phase, "Failed");
}

static void observe_object(
	struct protection *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	if (observed->type != BT_CHANGE_DELETED && bt_tree_is_deleting(observed->after) &&
		has_finalizer(self, observed->after)) {
		bt_hub_enqueue(hub, observed->key);
	}
}

static void observe_for_claims(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct protection *self = data;
	const struct bt_json_value *volumes;

	if (observed->resource == self->resource) {
		observe_object(self, hub, observed);
		return;
	}
	volumes = bt_json_array_at(observed->after, "spec.volumes");
	for (uint32_t i = 0; i < volumes->count; i++) {
		struct bt_arena arena = {0};
		struct bt_str name = bt_pv_claim_of_volume(
			&arena, bt_key_name(observed->key), volumes->elements[i]);

		if (name.length != 0) {
			/* What no node has got yet waits for the end of a claim that goes, it does
			 * not put it off. */
			note_use(self, hub, observed->key, i, name,
				!is_over(observed) &&
					bt_json_text_at(observed->after, "spec.nodeName").length !=
						0);
		}
		bt_arena_finish(&arena);
	}
}

static void observe_for_groups(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct protection *self = data;
	struct bt_str name;

	if (observed->resource == self->resource) {
		observe_object(self, hub, observed);
		return;
	}
	name = bt_json_text_at(observed->after, "spec.schedulingGroup.podGroupName");
	if (name.length != 0) {
		note_use(self, hub, observed->key, 0, name, !is_over(observed));
	}
}

static void observe_volumes(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	observe_object(data, hub, observed);
}

/* --- ends --- */

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct protection *self = data;
	const struct bt_json_value *object =
		bt_api_read(bt_hub_api(hub), self->resource, key, arena);
	struct bt_json_value *patch;
	struct bt_json_value *left;
	uint16_t code;

	(void)now_ns;
	if (object == NULL || !bt_tree_is_deleting(object) || !has_finalizer(self, object) ||
		bt_groups_first(&self->uses, key) != BT_GROUPS_NONE ||
		(!self->resource->namespaced &&
			bt_str_equal_c(bt_json_text_at(object, "status.phase"), "Bound"))) {
		return true;
	}
	left = bt_json_clone(arena, bt_json_array_at(object, "metadata.finalizers"), false);
	bt_json_remove_text(left, bt_str_from(self->finalizer));
	patch = bt_json_new(arena, BT_JSON_OBJECT);
	bt_json_set_value(arena, bt_json_ensure_object(arena, patch, "metadata"), "finalizers",
		left->count != 0 ? left : bt_json_new(arena, BT_JSON_NULL));
	code = bt_hub_patch(hub, self->resource, BT_SUBRESOURCE_NONE, key, patch, arena, NULL);
	return code == 200 || code == 404;
}

static const char *const claims_watched[] = {"persistentvolumeclaims", "pods", NULL};
static const char *const volumes_watched[] = {"persistentvolumes", NULL};
static const char *const groups_watched[] = {"scheduling.k8s.io/podgroups", "pods", NULL};

const struct bt_controller_ops bt_claim_protection_ops = {
	.name = "persistentvolumeclaim-protection-controller",
	.resources = claims_watched,
	.create = create_for_claims,
	.destroy = destroy,
	.observe = observe_for_claims,
	.sync = sync,
};

const struct bt_controller_ops bt_volume_protection_ops = {
	.name = "persistentvolume-protection-controller",
	.resources = volumes_watched,
	.create = create_for_volumes,
	.destroy = destroy,
	.observe = observe_volumes,
	.sync = sync,
};

const struct bt_controller_ops bt_pod_group_protection_ops = {
	.name = "podgroup-protection-controller",
	.resources = groups_watched,
	.create = create_for_groups,
	.destroy = destroy,
	.observe = observe_for_groups,
	.sync = sync,
};

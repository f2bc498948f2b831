/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/persistent_volume.h"

#include "api/time.h"

/** Claims that wait are looked at again so long after a pod that names them came. */
#define TELL_AFTER_NS (15 * BT_NS_PER_SECOND)

struct bt_str bt_pv_class_of(const struct bt_json_value *object)
{
	struct bt_str beta = bt_tree_annotation(object, BT_PV_CLASS_BETA);
	const struct bt_json_value *class_ = bt_json_find_path(object, "spec.storageClassName");

	if (beta.length != 0) {
		return beta;
	}
	return class_ != NULL && class_->type == BT_JSON_STRING ? class_->text : (struct bt_str){0};
}

const struct bt_json_value *bt_pv_read_class(struct bt_hub *hub,
	const struct bt_api_resource *classes, struct bt_str name, struct bt_arena *arena)
{
	return name.length != 0 ? bt_api_read(bt_hub_api(hub), classes, name, arena) : NULL;
}

bool bt_pv_waits_for_consumer(const struct bt_json_value *class_)
{
	return bt_str_equal_c(bt_json_text_at(class_, "volumeBindingMode"), "WaitForFirstConsumer");
}

struct bt_str bt_pv_claim_of_volume(
	struct bt_arena *arena, struct bt_str pod_name, const struct bt_json_value *volume)
{
	struct bt_str name = bt_json_text_at(volume, "persistentVolumeClaim.claimName");

	if (name.length == 0 && bt_json_find(volume, "ephemeral") != NULL) {
		name = bt_arena_printf(arena, "%.*s-%.*s", BT_STR_ARG(pod_name),
			BT_STR_ARG(bt_json_text_at(volume, "name")));
	}
	return name;
}

/* --- changes --- */

static struct bt_str claim_key(struct bt_arena *arena, const struct bt_json_value *volume)
{
	struct bt_str name = bt_json_text_at(volume, "spec.claimRef.name");

	return name.length != 0
		? bt_api_key(arena, bt_json_text_at(volume, "spec.claimRef.namespace"), name)
		: BT_STR("");
}

static void enqueue_pending(struct bt_binder *self, struct bt_hub *hub, struct bt_str class_)
{
	uint32_t entry = bt_groups_first(&self->pending, class_);

	for (; entry != BT_GROUPS_NONE; entry = bt_groups_next(&self->pending, entry)) {
		bt_hub_enqueue(hub, bt_groups_key(&self->pending, entry));
	}
}

static void observe_volume(
	struct bt_binder *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	const struct bt_json_value *volume = observed->after;
	struct bt_arena arena = {0};
	struct bt_str claim = claim_key(&arena, volume);
	bool available = bt_str_equal_c(bt_json_text_at(volume, "status.phase"), "Available");

	if (claim.length != 0) {
		bt_hub_enqueue(hub, claim);
	}
	if (observed->type == BT_CHANGE_DELETED) {
		bt_groups_remove(&self->available, observed->key);
		bt_groups_remove(&self->claimed, observed->key);
		bt_arena_finish(&arena);
		return;
	}
	if (claim.length != 0) {
		bt_groups_put(&self->claimed, observed->key, claim);
	} else {
		bt_groups_remove(&self->claimed, observed->key);
	}
	if (claim.length == 0 && available && !bt_tree_is_deleting(volume)) {
		bt_groups_put(&self->available, observed->key, bt_pv_class_of(volume));
		enqueue_pending(self, hub, bt_pv_class_of(volume));
	} else {
		bt_groups_remove(&self->available, observed->key);
	}
	bt_hub_enqueue(hub, observed->key);
	bt_arena_finish(&arena);
}

static void observe_claim(
	struct bt_binder *self, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_str volume = bt_json_text_at(observed->after, "spec.volumeName");
	struct bt_str phase = bt_json_text_at(observed->after, "status.phase");
	uint32_t entry;

	if (observed->type != BT_CHANGE_DELETED) {
		if (bt_str_equal_c(phase, "Bound") || bt_str_equal_c(phase, "Lost")) {
			bt_groups_remove(&self->pending, observed->key);
		} else {
			bt_groups_put(
				&self->pending, observed->key, bt_pv_class_of(observed->after));
		}
		bt_hub_enqueue(hub, observed->key);
		return;
	}
	bt_groups_remove(&self->pending, observed->key);
	if (volume.length != 0) {
		bt_hub_enqueue(hub, volume);
	}
	for (entry = bt_groups_first(&self->claimed, observed->key); entry != BT_GROUPS_NONE;
		entry = bt_groups_next(&self->claimed, entry)) {
		bt_hub_enqueue(hub, bt_groups_key(&self->claimed, entry));
	}
}

static void observe(void *data, struct bt_hub *hub, const struct bt_observed *observed)
{
	struct bt_binder *self = data;

	if (observed->resource == self->pods) {
		/* Who waits for a consumer is told who that is to be. Not at once: most pods find
		 * their node before that. */
		const struct bt_json_value *volumes =
			bt_json_array_at(observed->after, "spec.volumes");
		bool waits = observed->type != BT_CHANGE_DELETED &&
			bt_json_text_at(observed->after, "spec.nodeName").length == 0;

		for (uint32_t i = 0; i < volumes->count; i++) {
			struct bt_arena arena = {0};
			struct bt_str name = bt_pv_claim_of_volume(
				&arena, bt_key_name(observed->key), volumes->elements[i]);
			struct bt_str use =
				bt_arena_printf(&arena, "%.*s#%u", BT_STR_ARG(observed->key), i);
			struct bt_str claim =
				bt_api_key(&arena, bt_key_namespace(observed->key), name);

			if (name.length != 0 && !waits) {
				bt_groups_remove(&self->waiting, use);
			} else if (name.length != 0 &&
				bt_groups_of(&self->waiting, use).length == 0) {
				bt_groups_put(&self->waiting, use, claim);
				bt_hub_enqueue_at(hub, claim, bt_hub_now_ns(hub) + TELL_AFTER_NS);
			}
			bt_arena_finish(&arena);
		}
		return;
	}
	if (observed->resource == self->volumes) {
		observe_volume(self, hub, observed);
	} else if (observed->resource == self->claims) {
		observe_claim(self, hub, observed);
	} else if (observed->type != BT_CHANGE_DELETED) {
		enqueue_pending(self, hub, observed->key);
		/* It may have become the default of those without a class. */
		enqueue_pending(self, hub, BT_STR(""));
	}
}

/* --- volumes --- */

static bool write_phase(
	struct bt_binder_pass *pass, const struct bt_json_value *volume, const char *phase)
{
	struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);

	if (bt_str_equal_c(bt_json_text_at(volume, "status.phase"), phase)) {
		return true;
	}
	bt_json_set_c(pass->arena, status, "phase", phase);
	bt_json_set_str(pass->arena, status, "lastPhaseTransitionTime",
		bt_time_text(pass->arena, pass->now_ns));
	return bt_tree_write_status(pass->hub, pass->self->volumes, volume, status, pass->arena);
}

static bool sync_volume(struct bt_binder_pass *pass)
{
	struct bt_api *api = bt_hub_api(pass->hub);
	const struct bt_json_value *volume =
		bt_api_read(api, pass->self->volumes, pass->key, pass->arena);
	struct bt_str claim = claim_key(pass->arena, volume);
	struct bt_str uid = bt_json_text_at(volume, "spec.claimRef.uid");
	const struct bt_json_value *owner;

	if (volume == NULL) {
		return true;
	}
	if (claim.length == 0 || uid.length == 0) {
		return bt_tree_is_deleting(volume) || write_phase(pass, volume, "Available");
	}
	owner = bt_api_read(api, pass->self->claims, claim, pass->arena);
	if (owner == NULL || !bt_str_equal(bt_json_text_at(owner, "metadata.uid"), uid)) {
		/* Its claim is gone. */
		uint16_t code;

		if (!write_phase(pass, volume, "Released")) {
			return false;
		}
		if (!bt_str_equal_c(bt_json_text_at(volume, "spec.persistentVolumeReclaimPolicy"),
			    "Delete") ||
			bt_tree_is_deleting(volume)) {
			return true;
		}
		code = bt_hub_delete(pass->hub, pass->self->volumes, pass->key, -1,
			bt_json_text_at(volume, "metadata.uid"), pass->arena);
		return code == 200 || code == 404 || code == 409;
	}
	if (bt_str_equal(bt_json_text_at(owner, "spec.volumeName"), pass->key)) {
		return write_phase(pass, volume, "Bound");
	}
	/* The claim's turn binds them. */
	bt_hub_enqueue(pass->hub, claim);
	return true;
}

/* --- the controller --- */

static void *create(struct bt_hub *hub)
{
	const struct bt_resources *resources = bt_api_resources(bt_hub_api(hub));
	struct bt_binder *self = BT_NEW(struct bt_binder);

	self->volumes = bt_resources_builtin(resources, "", "persistentvolumes");
	self->claims = bt_resources_builtin(resources, "", "persistentvolumeclaims");
	self->classes = bt_resources_builtin(resources, "storage.k8s.io", "storageclasses");
	self->pods = bt_resources_builtin(resources, "", "pods");
	bt_groups_init(&self->waiting);
	bt_groups_init(&self->available);
	bt_groups_init(&self->claimed);
	bt_groups_init(&self->pending);
	return self;
}

static void destroy(void *data)
{
	struct bt_binder *self = data;

	bt_groups_finish(&self->available);
	bt_groups_finish(&self->claimed);
	bt_groups_finish(&self->pending);
	bt_groups_finish(&self->waiting);
	bt_free(self);
}

static bool sync(
	void *data, struct bt_hub *hub, struct bt_str key, struct bt_arena *arena, int64_t now_ns)
{
	struct bt_binder_pass pass = {data, hub, key, arena, now_ns};

	return bt_str_find_char(key, '/') < 0 ? sync_volume(&pass) : bt_binder_sync_claim(&pass);
}

static const char *const watched[] = {"persistentvolumes", "persistentvolumeclaims",
	"storage.k8s.io/storageclasses", "pods", NULL};

const struct bt_controller_ops bt_persistent_volume_ops = {
	.name = "persistentvolume-binder-controller",
	.resources = watched,
	.create = create,
	.destroy = destroy,
	.observe = observe,
	.sync = sync,
};

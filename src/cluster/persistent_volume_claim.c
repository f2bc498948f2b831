/* SPDX-License-Identifier: Apache-2.0 */
/** A claim on its way to a volume. Spec: 14b section 6.4. */
#include "cluster/persistent_volume.h"

#define COMPONENT "persistentvolume-controller"

static void tell(struct bt_binder_pass *pass, const struct bt_json_value *claim, const char *type,
	const char *reason, struct bt_str message)
{
	bt_hub_event(pass->hub, COMPONENT, pass->self->claims, claim, type, reason, message);
}

/* --- the default class --- */

/** Of the classes marked as default the newest, then the first by name; "". */
static struct bt_str default_class(struct bt_binder_pass *pass)
{
	struct bt_store *store = bt_api_store(bt_hub_api(pass->hub));
	struct bt_store_walk walk;
	const struct bt_stored *stored;
	struct bt_str best = BT_STR("");
	int64_t newest = INT64_MIN;

	if (bt_store_walk_begin(store, pass->self->classes->collection, 0, BT_STR(""), BT_STR(""),
		    &walk, NULL) != 0) {
		return best;
	}
	while ((stored = bt_store_walk_next(&walk, NULL)) != NULL) {
		const struct bt_json_value *class_ = bt_api_parse_stored(stored, pass->arena);
		int64_t created = bt_tree_seconds(class_, "metadata.creationTimestamp");

		if (bt_str_equal_c(bt_tree_annotation(
					   class_, "storageclass.kubernetes.io/is-default-class"),
			    "true") &&
			created > newest) {
			newest = created;
			best = bt_arena_str(pass->arena, bt_stored_key(stored));
		}
	}
	bt_store_walk_end(&walk);
	return best;
}

/** Returns whether the claim was changed: it comes back then. */
static bool assign_default_class(struct bt_binder_pass *pass)
{
	struct bt_str name = default_class(pass);
	struct bt_json_value *patch;

	if (name.length == 0) {
		return false;
	}
	patch = bt_json_new(pass->arena, BT_JSON_OBJECT);
	bt_json_set_str(pass->arena, bt_json_ensure_object(pass->arena, patch, "spec"),
		"storageClassName", name);
	return bt_hub_patch(pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE, pass->key, patch,
		       pass->arena, NULL) == 200;
}

/* --- provisioning --- */

static bool provision(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str provisioner)
{
	struct bt_arena *arena = pass->arena;
	struct bt_json_value *patch;
	struct bt_json_value *annotations;

	if (!bt_str_equal(bt_tree_annotation(claim, BT_PV_PROVISIONER), provisioner)) {
		patch = bt_json_new(arena, BT_JSON_OBJECT);
		annotations = bt_json_ensure_object(
			arena, bt_json_ensure_object(arena, patch, "metadata"), "annotations");
		bt_json_set_str(arena, annotations, BT_PV_PROVISIONER_BETA, provisioner);
		bt_json_set_str(arena, annotations, BT_PV_PROVISIONER, provisioner);
		if (bt_hub_patch(pass->hub, pass->self->claims, BT_SUBRESOURCE_NONE, pass->key,
			    patch, arena, NULL) != 200) {
			return false;
		}
		tell(pass, claim, "Normal", "ExternalProvisioning",
			bt_arena_printf(arena,
				"Waiting for a volume to be created either by the external "
				"provisioner '%.*s' or manually by the system administrator. If "
				"volume creation is delayed, please verify that the provisioner "
				"is running and correctly registered.",
				BT_STR_ARG(provisioner)));
	}
	return true;
}

/* --- waiting for a consumer --- */

/** Pods that a message names; one for each claim is what is usual. */
#define NAMED_PODS_MAX 20

/* --- claims --- */

static bool bind_to(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str name)
{
	const struct bt_json_value *volume =
		bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, name, pass->arena);

	return volume == NULL || bt_binder_bind(pass, claim, volume);
}

static bool sync_unbound(struct bt_binder_pass *pass, const struct bt_json_value *claim)
{
	struct bt_str class_name = bt_pv_class_of(claim);
	const struct bt_json_value *class_;
	struct bt_str provisioner;
	struct bt_str volume;
	bool delayed;

	if (class_name.data == NULL && assign_default_class(pass)) {
		return true;
	}
	class_ = bt_pv_read_class(pass->hub, pass->self->classes, class_name, pass->arena);
	delayed = bt_pv_waits_for_consumer(class_);
	volume = bt_binder_choose(pass, claim, !delayed);
	if (volume.length != 0) {
		return bind_to(pass, claim, volume);
	}
	if (delayed && bt_tree_annotation(claim, BT_PV_SELECTED_NODE).length == 0) {
		const struct bt_groups *waiting = &pass->self->waiting;
		uint32_t entry = bt_groups_first(waiting, pass->key);
		struct bt_strbuf names = {0};
		uint32_t count = 0;

		for (; entry != BT_GROUPS_NONE && count < NAMED_PODS_MAX;
			entry = bt_groups_next(waiting, entry), count++) {
			struct bt_str use = bt_key_name(bt_groups_key(waiting, entry));
			struct bt_str pod =
				bt_str_sub(use, 0, (uint32_t)bt_str_find_last_char(use, '#'));
			bt_strbuf_printf(&names, "%s%.*s", count != 0 ? "," : "", BT_STR_ARG(pod));
		}
		if (count == 0) {
			tell(pass, claim, "Normal", "WaitForFirstConsumer",
				BT_STR("waiting for first consumer to be created before binding"));
		} else {
			tell(pass, claim, "Normal", "WaitForPodScheduled",
				bt_arena_printf(pass->arena, "waiting for pod%s %s to be scheduled",
					count != 1 ? "s" : "", bt_strbuf_c(&names)));
		}
		bt_strbuf_finish(&names);
		return true;
	}
	provisioner = bt_json_text_at(class_, "provisioner");
	if (provisioner.length != 0 && !bt_str_equal_c(provisioner, BT_PV_NO_PROVISIONER)) {
		return provision(pass, claim, provisioner);
	}
	if (class_name.length != 0 && class_ == NULL) {
		tell(pass, claim, "Warning", "ProvisioningFailed",
			bt_arena_printf(pass->arena,
				"storageclass.storage.k8s.io \"%.*s\" not found",
				BT_STR_ARG(class_name)));
	} else {
		tell(pass, claim, "Normal", "FailedBinding",
			BT_STR("no persistent volumes available for this claim and no storage "
			       "class is set"));
	}
	return true;
}

/** spec.volumeName is given: by a user, or since it was bound. */
static bool sync_named(
	struct bt_binder_pass *pass, const struct bt_json_value *claim, struct bt_str name)
{
	const struct bt_json_value *volume =
		bt_api_read(bt_hub_api(pass->hub), pass->self->volumes, name, pass->arena);
	bool completed = bt_tree_annotation(claim, BT_PV_BIND_COMPLETED).length != 0;
	const struct bt_json_value *reference = bt_json_find_path(volume, "spec.claimRef");
	struct bt_str uid = bt_json_text_at(reference, "uid");
	struct bt_str key;

	if (volume == NULL && completed) {
		struct bt_json_value *status = bt_json_new(pass->arena, BT_JSON_OBJECT);
		tell(pass, claim, "Warning", "ClaimLost",
			BT_STR("Bound claim has lost its PersistentVolume. Data on the volume is "
			       "lost!"));
		bt_json_set_c(pass->arena, status, "phase", "Lost");
		return bt_tree_write_status(
			pass->hub, pass->self->claims, claim, status, pass->arena);
	}
	if (volume == NULL || bt_tree_is_deleting(volume)) {
		return true;
	}
	key = bt_api_key(pass->arena, bt_json_text_at(reference, "namespace"),
		bt_json_text_at(reference, "name"));
	if (reference != NULL &&
		(!bt_str_equal(key, pass->key) ||
			(uid.length != 0 &&
				!bt_str_equal(uid, bt_json_text_at(claim, "metadata.uid"))))) {
		return true;
	}
	if (completed && bt_str_equal_c(bt_json_text_at(claim, "status.phase"), "Bound")) {
		return true;
	}
	return bt_binder_bind(pass, claim, volume);
}

bool bt_binder_sync_claim(struct bt_binder_pass *pass)
{
	const struct bt_json_value *claim =
		bt_api_read(bt_hub_api(pass->hub), pass->self->claims, pass->key, pass->arena);
	struct bt_str volume = bt_json_text_at(claim, "spec.volumeName");

	if (claim == NULL || (bt_tree_is_deleting(claim) && volume.length == 0)) {
		return true;
	}
	return volume.length == 0 ? sync_unbound(pass, claim) : sync_named(pass, claim, volume);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/admission_private.h"

/* DefaultStorageClass, PersistentVolumeClaimResize. Spec: 14b sections 2.3 and 4.7. */

#define DEFAULT_CLASS_KEY "storageclass.kubernetes.io/is-default-class"
#define OLD_CLASS_KEY "volume.beta.kubernetes.io/storage-class"

/** Takes the newest default class; the walk's order breaks ties by name. */
static bool take_newest(void *context, const struct bt_json_value *class_)
{
	const struct bt_json_value **newest = context;
	const struct bt_json_value *annotations = bt_json_object_at(class_, "metadata.annotations");
	if (!bt_str_equal_c(bt_kinds_text(annotations, DEFAULT_CLASS_KEY), "true")) {
		return true;
	}
	if (*newest == NULL ||
		bt_str_compare(bt_json_text_at(class_, "metadata.creationTimestamp"),
			bt_json_text_at(*newest, "metadata.creationTimestamp")) > 0) {
		*newest = class_;
	}
	return true;
}

void bt_admission_set_storage_class(struct bt_admission *admission, struct bt_json_value *claim)
{
	struct bt_arena *arena = admission->write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, claim, "spec");
	const struct bt_json_value *annotations = bt_json_object_at(claim, "metadata.annotations");
	const struct bt_json_value *found = NULL;
	if (bt_json_find(spec, "storageClassName") != NULL ||
		bt_json_find(annotations, OLD_CLASS_KEY) != NULL) {
		return;
	}
	/* A restored claim that is bound has its final class already, or deliberately none. */
	if (admission->write->restoring && bt_kinds_text(spec, "volumeName").length != 0) {
		return;
	}
	bt_admission_visit(admission, "storage.k8s.io", "storageclasses", BT_STR(""),
		BT_STR("\"" DEFAULT_CLASS_KEY "\":\"true\""), take_newest, &found);
	if (found != NULL) {
		bt_json_set_str(
			arena, spec, "storageClassName", bt_json_text_at(found, "metadata.name"));
	}
}

void bt_admission_check_resize(struct bt_admission *admission, const struct bt_json_value *claim)
{
	static const char path[] = "spec.resources.requests.storage";
	struct bt_arena *arena = admission->write->arena;
	struct bt_str name = bt_json_text_at(claim, "spec.storageClassName");
	const struct bt_json_value *class_ = NULL;
	struct bt_quantity before;
	struct bt_quantity after;
	if (admission->old == NULL ||
		!bt_kinds_quantity(bt_json_find_path(admission->old, path), arena, &before) ||
		!bt_kinds_quantity(bt_json_find_path(claim, path), arena, &after) ||
		bt_quantity_compare(&after, &before) <= 0) {
		return;
	}
	if (name.length != 0) {
		class_ = bt_admission_read(admission, "storage.k8s.io", "storageclasses", name);
	}
	if (!bt_json_bool_at(class_, "allowVolumeExpansion", false)) {
		bt_admission_refuse(admission,
			"only dynamically provisioned pvc can be resized and the storageclass "
			"that provisions the pvc must support resize");
	}
}

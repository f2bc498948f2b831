/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/kinds/common.h"

/* Persistent volumes, claims and storage objects. Spec: 14b sections 2.2, 2.3, 3.3 and 5. */

static const char *const reclaim_policies[] = {"Delete", "Recycle", "Retain", NULL};
static const char *const class_policies[] = {"Delete", "Retain", NULL};
static const char *const binding_modes[] = {"Immediate", "WaitForFirstConsumer", NULL};

/** Members of a volume's spec that say where the data is. */
static const char *const volume_sources[] = {"awsElasticBlockStore", "azureDisk", "azureFile",
	"cephfs", "cinder", "csi", "fc", "flexVolume", "flocker", "gcePersistentDisk", "glusterfs",
	"hostPath", "iscsi", "local", "nfs", "photonPersistentDisk", "portworxVolume", "quobyte",
	"rbd", "scaleIO", "storageos", "vsphereVolume"};

#define SOURCE_COUNT (sizeof(volume_sources) / sizeof(volume_sources[0]))

/** --- PersistentVolume --- */

static void default_volume(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	bt_kinds_round_quantities(arena, bt_kinds_object(spec, "capacity"));
}

static void prepare_volume(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	bt_json_set_c(write->arena, status, "phase", "Pending");
	bt_json_set_str(write->arena, status, "lastPhaseTransitionTime",
		bt_time_text(write->arena, write->now_ns));
	(void)bt_kinds_reset_status(write, object, status);
}

static void prepare_volume_update(
	const struct bt_write *write, const struct bt_json_value *old, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_kinds_object(object, "status");
	if (write->subresource == BT_SUBRESOURCE_STATUS && status != NULL &&
		!bt_str_equal(
			bt_kinds_text(status, "phase"), bt_json_text_at(old, "status.phase"))) {
		bt_json_set_str(write->arena, status, "lastPhaseTransitionTime",
			bt_time_text(write->arena, write->now_ns));
	}
}

static void check_source(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < SOURCE_COUNT; i++) {
		if (bt_json_find(spec, volume_sources[i]) == NULL) {
			continue;
		}
		if (count++ != 0) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, volume_sources[i]), NULL,
				"may not specify more than 1 volume type");
		}
	}
	if (count == 0) {
		bt_kinds_error(
			errors, BT_FIELD_REQUIRED, place, NULL, "must specify a volume type");
	}
}

static void validate_volume(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	const struct bt_json_value *affinity = bt_kinds_object(spec, "nodeAffinity");
	const struct bt_json_value *required = bt_kinds_object(affinity, "required");
	const struct bt_path *affinity_place = BT_PATH_NAME(place, "nodeAffinity");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	bt_kinds_check_access_modes(
		errors, BT_PATH_NAME(place, "accessModes"), bt_json_array_at(spec, "accessModes"));
	bt_kinds_check_storage_amount(
		errors, BT_PATH_NAME(place, "capacity"), bt_json_object_at(spec, "capacity"));
	bt_kinds_check_text_in(
		errors, place, spec, "persistentVolumeReclaimPolicy", reclaim_policies, false);
	if (affinity != NULL && required == NULL) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(affinity_place, "required"),
			NULL, "must specify required node constraints");
	} else if (affinity != NULL) {
		bt_kinds_validate_node_selector(
			errors, BT_PATH_NAME(affinity_place, "required"), required);
	}
	check_source(errors, place, spec);
	if (bt_json_find(spec, "local") != NULL) {
		(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "local"),
			bt_kinds_object(spec, "local"), "path");
		if (affinity == NULL) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, affinity_place, NULL,
				"Local volume requires node affinity");
		}
	}
	if (bt_json_find(spec, "csi") != NULL) {
		const struct bt_json_value *csi = bt_kinds_object(spec, "csi");
		(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "csi"), csi, "driver");
		(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "csi"), csi, "volumeHandle");
	}
	bt_kinds_check_volume_mode(errors, place, spec);
	if (bt_kinds_text(spec, "storageClassName").length != 0) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "storageClassName"),
			bt_json_find(spec, "storageClassName"), BT_NAME_SUBDOMAIN);
	}
}

static void validate_volume_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	for (uint32_t i = 0; i < SOURCE_COUNT; i++) {
		if (!bt_kinds_same(bt_json_find(before, volume_sources[i]),
			    bt_json_find(after, volume_sources[i]))) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
				BT_PATH_NAME(place, "persistentvolumesource"), NULL,
				"spec.persistentvolumesource is immutable after creation");
			break;
		}
	}
	bt_kinds_check_immutable(errors, place, before, after, "volumeMode");
	if (bt_json_find(before, "nodeAffinity") != NULL) {
		bt_kinds_check_immutable(errors, place, before, after, "nodeAffinity");
	}
}

const struct bt_strategy bt_strategy_persistent_volume = {
	.set_defaults = default_volume,
	.prepare_create = prepare_volume,
	.prepare_update = prepare_volume_update,
	.validate = validate_volume,
	.validate_update = validate_volume_update,
};

/** --- PersistentVolumeClaim --- */

static void default_claim(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *resources = bt_json_ensure_object(arena, spec, "resources");
	bt_kinds_round_quantities(arena, bt_kinds_object(resources, "requests"));
}

static void prepare_claim(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	bt_json_set_c(write->arena, status, "phase", "Pending");
	(void)bt_kinds_reset_status(write, object, status);
}

static void validate_claim(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		bt_kinds_validate_claim_spec(
			errors, BT_PATH_NAME(NULL, "spec"), bt_json_object_at(object, "spec"));
	}
}

static void check_claim_growth(struct bt_field_errors *errors, const struct bt_json_value *old,
	const struct bt_json_value *object)
{
	static const char path[] = "spec.resources.requests.storage";
	const struct bt_path *place = BT_PATH_NAME(
		BT_PATH_NAME(BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "resources"), "requests"),
		"storage");
	struct bt_quantity before;
	struct bt_quantity after;
	int order;
	if (!bt_kinds_quantity(bt_json_find_path(old, path), errors->arena, &before) ||
		!bt_kinds_quantity(bt_json_find_path(object, path), errors->arena, &after)) {
		return;
	}
	order = bt_quantity_compare(&after, &before);
	if (order < 0) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, place, NULL,
			"field can not be less than status.capacity");
	} else if (order > 0 && !bt_str_equal_c(bt_json_text_at(old, "status.phase"), "Bound")) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "spec"), NULL,
			"spec is immutable after creation except resources.requests and "
			"volumeAttributesClassName for bound claims");
	}
}

/** Set once: a claim gets its volume from a controller, and a class when a default appears. */
static void drop_if_filled(
	struct bt_json_value *before, struct bt_json_value *after, const char *name)
{
	if (bt_kinds_text(before, name).length == 0) {
		(void)bt_json_remove_c(after, name);
		(void)bt_json_remove_c(before, name);
	}
}

static void validate_claim_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	struct bt_json_value *before;
	struct bt_json_value *after;
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	before = bt_json_clone(write->arena, bt_json_object_at(old, "spec"), false);
	after = bt_json_clone(write->arena, bt_json_object_at(object, "spec"), false);
	drop_if_filled(before, after, "volumeName");
	if (bt_json_find(before, "storageClassName") == NULL) {
		(void)bt_json_remove_c(after, "storageClassName");
	}
	(void)bt_json_remove_c(before, "volumeAttributesClassName");
	(void)bt_json_remove_c(after, "volumeAttributesClassName");
	(void)bt_json_remove_c(before, "resources");
	(void)bt_json_remove_c(after, "resources");
	if (!bt_json_equal(before, after)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "spec"), NULL,
			"spec is immutable after creation except resources.requests and "
			"volumeAttributesClassName for bound claims");
	} else {
		check_claim_growth(errors, old, object);
	}
}

const struct bt_strategy bt_strategy_persistent_volume_claim = {
	.set_defaults = default_claim,
	.prepare_create = prepare_claim,
	.validate = validate_claim,
	.validate_update = validate_claim_update,
};

/** --- StorageClass, CSIDriver, VolumeAttachment --- */

static void validate_class(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	(void)bt_kinds_check_given(errors, NULL, object, "provisioner");
	bt_kinds_check_text_in(errors, NULL, object, "reclaimPolicy", class_policies, false);
	bt_kinds_check_text_in(errors, NULL, object, "volumeBindingMode", binding_modes, true);
}

static void validate_class_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	static const char *const names[] = {"parameters", "provisioner", "reclaimPolicy",
		"volumeBindingMode", "mountOptions", "allowedTopologies"};
	(void)write;
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!bt_kinds_same(bt_json_find(old, names[i]), bt_json_find(object, names[i]))) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, names[i]),
				NULL, "updates to %s are forbidden.", names[i]);
		}
	}
}

const struct bt_strategy bt_strategy_storage_class = {
	.validate = validate_class,
	.validate_update = validate_class_update,
};

static void default_driver(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_arena *arena = write->arena;
	struct bt_json_value *spec = bt_json_ensure_object(arena, object, "spec");
	struct bt_json_value *modes = bt_json_ensure_array(arena, spec, "volumeLifecycleModes");
	if (modes->count == 0) {
		bt_json_append(arena, modes, bt_json_new_c(arena, "Persistent"));
	}
}

static void validate_driver(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
}

const struct bt_strategy bt_strategy_csi_driver = {
	.set_defaults = default_driver,
	.validate = validate_driver,
};

static void default_attachment(const struct bt_write *write, struct bt_json_value *object)
{
	bt_kinds_default_bool(write->arena, bt_json_ensure_object(write->arena, object, "status"),
		"attached", false);
}

static void prepare_attachment(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	bt_json_set_bool(write->arena, status, "attached", false);
	(void)bt_kinds_reset_status(write, object, status);
}

static void validate_attachment(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (!bt_kinds_keeps_spec(write)) {
		(void)bt_kinds_check_given(errors, place, spec, "attacher");
		(void)bt_kinds_check_given(errors, place, spec, "nodeName");
	}
}

const struct bt_strategy bt_strategy_volume_attachment = {
	.set_defaults = default_attachment,
	.prepare_create = prepare_attachment,
	.validate = validate_attachment,
};

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/kinds/common.h"

/* Persistent volumes and claims. Spec: 14b sections 2.2, 2.3, 3.3 and 5. */

/** --- PersistentVolume --- */

/** Returns the schema message of the volume sources, such as hostPath and nfs. */
static const struct bt_schema_message *volume_sources(void)
{
	const struct bt_schema_field *source = NULL;
	const struct bt_schema_message *spec = bt_schema_field_find(
		bt_schema_find(BT_STR("v1"), BT_STR("PersistentVolume")), BT_STR("spec"), NULL)
						       ->message;
	(void)bt_schema_field_find(spec, BT_STR("local"), &source);
	return source->message;
}

/** Rounds the capacity of a volume, or the requests of a claim. */
static void round_amounts(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *spec = bt_kinds_object(object, "spec");
	bt_kinds_round_quantities(write->arena, bt_kinds_object(spec, "capacity"));
	bt_kinds_round_quantities(
		write->arena, bt_kinds_object(bt_kinds_object(spec, "resources"), "requests"));
}

/** Sets the phase of a new volume or claim to Pending. */
static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_ensure_object(write->arena, object, "status");
	if (bt_kinds_keeps_status(write, object)) {
		return;
	}
	bt_json_set_c(write->arena, status, "phase", "Pending");
	if (!write->resource->namespaced) {
		bt_json_set_str(write->arena, status, "lastPhaseTransitionTime",
			bt_time_text(write->arena, write->now_ns));
	}
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

/** amounts.storage must be given and above zero. */
static void check_storage_amount(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *amounts)
{
	const struct bt_json_value *amount = bt_json_find(amounts, "storage");
	const struct bt_path *at = BT_PATH_KEY(place, BT_STR("storage"));
	const struct bt_quantity zero = {0};
	struct bt_quantity quantity;
	if (amount == NULL) {
		bt_kinds_error_required(errors, at);
	} else if (bt_kinds_quantity(amount, errors->arena, &quantity) &&
		bt_quantity_compare(&quantity, &zero) <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, at, amount, "must be greater than zero");
	}
}

void bt_kinds_enter_volume(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	static const struct bt_json_value none = {.type = BT_JSON_NULL};
	const struct bt_json_value *capacity = bt_json_find(spec, "capacity");
	const struct bt_path *at = BT_PATH_NAME(place, "capacity");
	if (bt_json_array_at(spec, "accessModes")->count == 0) {
		bt_kinds_error_required(errors, BT_PATH_NAME(place, "accessModes"));
	}
	if (capacity == NULL || capacity->count == 0) {
		bt_kinds_error_required(errors, at);
	}
	if (bt_json_find(capacity, "storage") == NULL || capacity->count != 1) {
		bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED, at,
			capacity != NULL ? capacity : &none, "\"storage\"");
	} else {
		check_storage_amount(errors, at, capacity);
	}
}

void bt_rule_claim(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_array_at(spec, "accessModes")->count == 0) {
		bt_kinds_error(check->errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "accessModes"),
			NULL, "at least 1 access mode is required");
	}
	check_storage_amount(check->errors, BT_PATH_NAME(place, "resources"),
		bt_json_object_at(spec, "resources.requests"));
}

void bt_rule_volume(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_schema_message *sources = volume_sources();
	uint32_t count = 0;
	for (uint32_t i = 0; i < sources->field_count; i++) {
		const char *name = sources->fields[i].name;
		if (bt_json_find(spec, name) != NULL && count++ != 0) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, name), NULL,
				"may not specify more than 1 volume type");
		}
	}
	if (count == 0) {
		bt_kinds_error(
			errors, BT_FIELD_REQUIRED, place, NULL, "must specify a volume type");
	}
}

static void validate_volume_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	const struct bt_schema_message *sources = volume_sources();
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	for (uint32_t i = 0; i < sources->field_count; i++) {
		const char *name = sources->fields[i].name;
		if (!bt_kinds_same(bt_json_find(before, name), bt_json_find(after, name))) {
			bt_kinds_error_difference(errors,
				BT_PATH_NAME(place, "persistentvolumesource"), sources,
				bt_json_find(old, "spec"), bt_json_find(object, "spec"),
				"spec.persistentvolumesource is immutable after creation");
			break;
		}
	}
	if (bt_json_find(before, "nodeAffinity") != NULL) {
		bt_kinds_check_immutable(errors, place, before, after, "nodeAffinity", NULL);
	}
}

const struct bt_strategy bt_strategy_persistent_volume = {
	.resets_status = true,
	.validates_twice = true,
	.set_defaults = round_amounts,
	.prepare_create = prepare_create,
	.prepare_update = prepare_volume_update,
	.validate_update = validate_volume_update,
};

/** --- PersistentVolumeClaim --- */

static void validate_claim_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	static const char path[] = "spec.resources.requests.storage";
	struct bt_arena *arena = write->arena;
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	struct bt_quantity old_amount;
	struct bt_quantity amount;
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	struct bt_json_value *before = bt_json_clone(arena, bt_json_object_at(old, "spec"), false);
	struct bt_json_value *after =
		bt_json_clone(arena, bt_json_object_at(object, "spec"), false);
	/*
	 * A controller may set volumeName and, if there is a default class, storageClassName in a
	 * claim that lacks them.
	 */
	if (bt_kinds_text(before, "volumeName").length == 0) {
		bt_kinds_reset_member(arena, after, before, "volumeName");
	}
	if (bt_json_find(before, "storageClassName") == NULL) {
		(void)bt_json_remove_c(after, "storageClassName");
	}
	bt_kinds_reset_member(arena, after, before, "volumeAttributesClassName");
	const struct bt_json_value *requests = bt_json_object_at(before, "resources.requests");
	if (bt_str_equal_c(bt_json_text_at(old, "status.phase"), "Bound") &&
		bt_json_find(requests, "storage") != NULL) {
		bt_kinds_reset_member(arena,
			bt_json_ensure_object(arena,
				bt_json_ensure_object(arena, after, "resources"), "requests"),
			requests, "storage");
	}
	if (!bt_json_equal(before, after)) {
		bt_kinds_error_difference(errors, place, bt_kinds_spec_message(write), before,
			after,
			"spec is immutable after creation except resources.requests and "
			"volumeAttributesClassName for bound claims");
	}
	if (!bt_kinds_quantity(bt_json_find_path(old, path), arena, &old_amount)) {
		return;
	}
	if (!bt_kinds_quantity(bt_json_find_path(object, path), arena, &amount) ||
		bt_quantity_compare(&amount, &old_amount) < 0) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(place, "resources.requests.storage"), NULL,
			"field can not be less than status.capacity");
	}
}

const struct bt_strategy bt_strategy_persistent_volume_claim = {
	.resets_status = true,
	.set_defaults = round_amounts,
	.prepare_create = prepare_create,
	.validate_update = validate_claim_update,
};

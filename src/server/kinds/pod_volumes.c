/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Volumes of pods, and what claims ask for. Spec: 14b section 5. */

static const char *const access_modes[] = {
	"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod", NULL};
static const char *const volume_modes[] = {"Block", "Filesystem", NULL};

void bt_kinds_check_access_modes(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *modes)
{
	if (modes->count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, place, NULL,
			"at least 1 access mode is required");
	}
	for (uint32_t i = 0; i < modes->count; i++) {
		bool known = false;
		for (uint32_t n = 0; access_modes[n] != NULL; n++) {
			known = known || bt_str_equal_c(modes->elements[i]->text, access_modes[n]);
		}
		if (!known) {
			bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED, place, modes->elements[i],
				"\"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", "
				"\"ReadWriteOncePod\"");
		}
	}
}

void bt_kinds_check_storage_amount(struct bt_field_errors *errors, const struct bt_path *place,
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

void bt_kinds_check_volume_mode(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	bt_kinds_check_text_in(errors, place, spec, "volumeMode", volume_modes, false);
}

void bt_kinds_validate_claim_spec(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	bt_kinds_check_label_selector(
		errors, BT_PATH_NAME(place, "selector"), bt_kinds_object(spec, "selector"));
	bt_kinds_check_access_modes(
		errors, BT_PATH_NAME(place, "accessModes"), bt_json_array_at(spec, "accessModes"));
	bt_kinds_check_storage_amount(errors, BT_PATH_NAME(place, "resources"),
		bt_json_object_at(spec, "resources.requests"));
	bt_kinds_check_volume_mode(errors, place, spec);
	if (bt_kinds_text(spec, "storageClassName").length != 0) {
		bt_kinds_check_name(errors, BT_PATH_NAME(place, "storageClassName"),
			bt_json_find(spec, "storageClassName"), BT_NAME_SUBDOMAIN);
	}
}

/** Only a few kinds of volume have contents that anything here depends on. */
static void check_source(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *volume)
{
	const struct bt_json_value *source = bt_kinds_object(volume, "persistentVolumeClaim");
	if (source != NULL) {
		(void)bt_kinds_check_given(
			errors, BT_PATH_NAME(place, "persistentVolumeClaim"), source, "claimName");
	}
	source = bt_kinds_object(volume, "ephemeral");
	if (source != NULL) {
		const struct bt_json_value *template_ =
			bt_kinds_object(source, "volumeClaimTemplate");
		const struct bt_path *at =
			BT_PATH_NAME(BT_PATH_NAME(place, "ephemeral"), "volumeClaimTemplate");
		if (template_ == NULL) {
			bt_kinds_error_required(errors, at);
		} else {
			bt_kinds_validate_claim_spec(errors, BT_PATH_NAME(at, "spec"),
				bt_json_object_at(template_, "spec"));
		}
	}
	source = bt_kinds_object(volume, "hostPath");
	if (source != NULL) {
		(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "hostPath"), source, "path");
	}
	source = bt_kinds_object(volume, "secret");
	if (source != NULL) {
		(void)bt_kinds_check_given(
			errors, BT_PATH_NAME(place, "secret"), source, "secretName");
	}
	source = bt_kinds_object(volume, "configMap");
	if (source != NULL) {
		(void)bt_kinds_check_given(
			errors, BT_PATH_NAME(place, "configMap"), source, "name");
	}
	source = bt_kinds_object(volume, "csi");
	if (source != NULL) {
		(void)bt_kinds_check_given(errors, BT_PATH_NAME(place, "csi"), source, "driver");
	}
}

void bt_kinds_validate_volumes(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *volumes)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < volumes->count; i++) {
		const struct bt_json_value *volume = volumes->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		uint32_t source_count = 0;
		for (uint32_t n = 0; n < volume->count; n++) {
			source_count += bt_str_equal_c(volume->members[n].name, "name") ? 0U : 1U;
		}
		if (bt_kinds_check_given(errors, &at, volume, "name")) {
			bt_kinds_check_name(errors, BT_PATH_NAME(&at, "name"),
				bt_json_find(volume, "name"), BT_NAME_LABEL);
			if (!bt_names_add(&seen, bt_kinds_text(volume, "name"))) {
				bt_kinds_error_duplicate(errors, BT_PATH_NAME(&at, "name"),
					bt_json_find(volume, "name"));
			}
		}
		if (source_count == 0) {
			bt_kinds_error(
				errors, BT_FIELD_REQUIRED, &at, NULL, "must specify a volume type");
		} else if (source_count > 1) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, &at, NULL,
				"may not specify more than 1 volume type");
		}
		check_source(errors, &at, volume);
	}
}

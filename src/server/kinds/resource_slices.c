/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/kinds/common.h"

/* ResourceSlice. Spec: 12 section 3.2, 14b sections 2.2, 2.3 and 5. */

#define DEVICES_MAX 128
#define DEVICES_WITH_EXTRAS_MAX 64 /* if any device has taints or counters */
#define PROPERTIES_MAX 32          /* attributes and capacities together */
#define ATTRIBUTE_BYTES_MAX 64
#define POOL_NAME_BYTES_MAX 253

static void default_slice(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *devices = bt_json_array_at(object, "spec.devices");
	for (uint32_t i = 0; i < devices->count; i++) {
		const struct bt_json_value *taints =
			bt_json_array_at(devices->elements[i], "taints");
		for (uint32_t n = 0; n < taints->count; n++) {
			bt_kinds_default_str(write->arena, taints->elements[n], "timeAdded",
				bt_time_text(write->arena, write->now_ns));
		}
	}
}

/**
 * The number of ways to choose nodes that are set; exactly one must be. A node selector must have
 * one term.
 */
static uint32_t check_node_choice(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *holder)
{
	const struct bt_json_value *terms =
		bt_json_array_at(holder, "nodeSelector.nodeSelectorTerms");
	if (terms->count > 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(BT_PATH_NAME(parent, "nodeSelector"), "nodeSelectorTerms"),
			terms, "must have exactly one node selector term");
	}
	return (bt_kinds_text(holder, "nodeName").length != 0 ? 1U : 0U) +
		(bt_kinds_object(holder, "nodeSelector") != NULL ? 1U : 0U) +
		(bt_json_bool_at(holder, "allNodes", false) ? 1U : 0U);
}

void bt_rule_device_attribute(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *attribute)
{
	static const char *const names[] = {
		"string", "version", "int", "bool", "ints", "bools", "strings", "versions"};
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(names); i++) {
		count += bt_json_find(attribute, names[i]) != NULL;
		if (i < 2 && bt_kinds_text(attribute, names[i]).length > ATTRIBUTE_BYTES_MAX) {
			bt_kinds_error(check->errors, BT_FIELD_TOO_LONG,
				BT_PATH_NAME(place, names[i]), NULL,
				"may not be more than %d bytes", ATTRIBUTE_BYTES_MAX);
		}
	}
	if (count != 1) {
		bt_kinds_error(check->errors, count == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID,
			place, count == 0 ? NULL : attribute,
			"exactly one value must be specified");
	}
}

void bt_rule_device(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *device)
{
	static const char *const maps[] = {"attributes", "capacity"};
	struct bt_field_errors *errors = check->errors;
	uint32_t count = bt_json_object_at(device, "attributes")->count +
		bt_json_object_at(device, "capacity")->count;
	uint32_t choices = check_node_choice(errors, place, device);
	if (count > PROPERTIES_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, bt_kinds_int_value(errors, count),
			"the total number of attributes and capacities must not exceed %d",
			PROPERTIES_MAX);
	}
	for (uint32_t n = 0; n < BT_ARRAY_LENGTH(maps) && count <= PROPERTIES_MAX; n++) {
		const struct bt_json_value *map = bt_json_object_at(device, maps[n]);
		for (uint32_t i = 0; i < map->count; i++) {
			bt_kinds_check_device_name(errors,
				BT_PATH_KEY(BT_PATH_NAME(place, maps[n]), map->members[i].name),
				map->members[i].name, false);
		}
	}
	if (check->per_device_nodes && choices != 1) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, place, NULL,
			"exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
			"`perDeviceNodeSelection` is set to true in the ResourceSlice");
	} else if (!check->per_device_nodes && choices != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, NULL,
			"`nodeName`, `nodeSelector` and `allNodes` can only be set if "
			"`perDeviceNodeSelection` is set to true in the ResourceSlice");
	}
}

/** Whether the name is made of DNS subdomains with slashes between. */
static bool is_pool_name(struct bt_str name)
{
	for (int64_t slash = 0; slash >= 0;) {
		slash = bt_str_find_char(name, '/');
		if (!bt_kinds_is_subdomain(
			    bt_str_sub(name, 0, slash < 0 ? BT_STR_MAX : (uint32_t)slash))) {
			return false;
		}
		name = bt_str_sub(name, slash < 0 ? name.length : (uint32_t)slash + 1, BT_STR_MAX);
	}
	return true;
}

void bt_rule_resource_pool(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *pool)
{
	struct bt_str name = bt_kinds_text(pool, "name");
	int64_t slices = bt_json_int64_at(pool, "resourceSliceCount", 0);
	if (name.length != 0 && (name.length > POOL_NAME_BYTES_MAX || !is_pool_name(name))) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "name"),
			bt_json_find(pool, "name"),
			"must be one or more DNS subdomains separated by '/', of at most %d bytes",
			POOL_NAME_BYTES_MAX);
	}
	if (slices <= 0) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "resourceSliceCount"),
			bt_kinds_int_value(check->errors, slices), "must be greater than zero");
	}
}

void bt_rule_resource_slice(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *devices = bt_json_array_at(spec, "devices");
	uint32_t choices = check_node_choice(errors, place, spec) +
		(bt_json_bool_at(spec, "perDeviceNodeSelection", false) ? 1U : 0U);
	uint32_t max = DEVICES_MAX;
	if (choices != 1) {
		bt_kinds_error(errors, choices == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, place,
			choices == 0 ? NULL : bt_kinds_int_value(errors, choices),
			"exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
			"`perDeviceNodeSelection` is required");
	}
	for (uint32_t i = 0; i < devices->count; i++) {
		if (bt_json_array_at(devices->elements[i], "taints")->count != 0 ||
			bt_json_array_at(devices->elements[i], "consumesCounters")->count != 0) {
			max = DEVICES_WITH_EXTRAS_MAX;
		}
	}
	bt_kinds_check_count(errors, BT_PATH_NAME(place, "devices"), devices, max);
	if (bt_json_array_at(spec, "sharedCounters")->count != 0 && devices->count != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, NULL,
			"only one of `sharedCounters` or `devices` is allowed");
	}
}

static void validate_slice_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_immutable(errors, BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "pool"),
		bt_json_object_at(old, "spec.pool"), bt_json_object_at(object, "spec.pool"), "name",
		NULL);
}

const struct bt_strategy bt_strategy_resource_slice = {
	.set_defaults = default_slice,
	.validate_update = validate_slice_update,
};

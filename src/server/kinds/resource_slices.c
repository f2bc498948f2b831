/* SPDX-License-Identifier: Apache-2.0 */
#include "api/time.h"
#include "server/kinds/devices.h"

/* ResourceSlice. Spec: 12 section 3.2, 14b sections 2.2, 2.3 and 5. */

#define DEVICES_MAX 128
#define DEVICES_WITH_EXTRAS_MAX 64 /* taints or counters on any of them */
#define COUNTER_SETS_MAX 8
#define COUNTERS_MAX 32
#define CONSUMPTIONS_MAX 2
#define PROPERTIES_MAX 32 /* attributes and capacities together */
#define TAINTS_MAX 16
#define BINDING_CONDITIONS_MAX 4
#define ATTRIBUTE_BYTES_MAX 64
#define POOL_NAME_BYTES_MAX 253

/** --- defaults --- */

static void default_slice(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *devices = bt_json_array_at(object, "spec.devices");
	for (uint32_t i = 0; i < devices->count; i++) {
		const struct bt_json_value *taints =
			bt_json_array_at(devices->elements[i], "taints");
		for (uint32_t n = 0; n < taints->count; n++) {
			struct bt_json_value *taint = taints->elements[n];
			if (taint->type == BT_JSON_OBJECT &&
				bt_json_find(taint, "timeAdded") == NULL) {
				bt_json_set_str(write->arena, taint, "timeAdded",
					bt_time_text(write->arena, write->now_ns));
			}
		}
	}
}

/** --- which nodes --- */

/** How many of the ways to say it are used. */
static uint32_t count_node_choices(const struct bt_json_value *holder)
{
	return (bt_kinds_text(holder, "nodeName").length != 0 ? 1U : 0U) +
		(bt_kinds_object(holder, "nodeSelector") != NULL ? 1U : 0U) +
		(bt_json_bool_at(holder, "allNodes", false) ? 1U : 0U);
}

static void check_node_selector(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *holder)
{
	const struct bt_json_value *selector = bt_kinds_object(holder, "nodeSelector");
	const struct bt_path *place = BT_PATH_NAME(parent, "nodeSelector");
	if (selector == NULL) {
		return;
	}
	bt_kinds_validate_node_selector(errors, place, selector);
	if (bt_json_array_at(selector, "nodeSelectorTerms")->count > 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "nodeSelectorTerms"),
			bt_json_find(selector, "nodeSelectorTerms"),
			"must have exactly one node selector term");
	}
}

static void check_node_choice(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *holder, bool per_device)
{
	uint32_t count = count_node_choices(holder) + (per_device ? 1U : 0U);
	if (count != 1) {
		bt_kinds_error(errors, count == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, place,
			count == 0 ? NULL : bt_kinds_int_value(errors, count),
			"exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
			"`perDeviceNodeSelection` is required");
	}
	check_node_selector(errors, place, holder);
}

/** --- devices --- */

static void check_attribute(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *attribute)
{
	static const char *const texts[] = {"string", "version"};
	static const char *const others[] = {"int", "bool", "ints", "bools", "strings", "versions"};
	uint32_t count = 0;
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(texts); i++) {
		if (bt_json_find(attribute, texts[i]) == NULL) {
			continue;
		}
		count++;
		if (bt_kinds_text(attribute, texts[i]).length > ATTRIBUTE_BYTES_MAX) {
			bt_kinds_error(errors, BT_FIELD_TOO_LONG, BT_PATH_NAME(place, texts[i]),
				NULL, "may not be more than %d bytes", ATTRIBUTE_BYTES_MAX);
		}
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(others); i++) {
		count += bt_json_find(attribute, others[i]) != NULL;
	}
	if (count != 1) {
		bt_kinds_error(errors, count == 0 ? BT_FIELD_REQUIRED : BT_FIELD_INVALID, place,
			count == 0 ? NULL : attribute, "exactly one value must be specified");
	}
}

static void check_properties(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *device)
{
	const struct bt_json_value *attributes = bt_json_object_at(device, "attributes");
	const struct bt_json_value *capacity = bt_json_object_at(device, "capacity");
	if (attributes->count + capacity->count > PROPERTIES_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_kinds_int_value(errors, attributes->count + capacity->count),
			"the total number of attributes and capacities must not exceed %d",
			PROPERTIES_MAX);
		return;
	}
	for (uint32_t i = 0; i < attributes->count; i++) {
		const struct bt_json_member *member = &attributes->members[i];
		const struct bt_path at =
			*BT_PATH_KEY(BT_PATH_NAME(place, "attributes"), member->name);
		bt_kinds_check_device_name(errors, &at, member->name, false);
		check_attribute(errors, &at, member->value);
	}
	for (uint32_t i = 0; i < capacity->count; i++) {
		const struct bt_json_member *member = &capacity->members[i];
		const struct bt_path at =
			*BT_PATH_KEY(BT_PATH_NAME(place, "capacity"), member->name);
		bt_kinds_check_device_name(errors, &at, member->name, false);
		bt_kinds_check_amount(
			errors, BT_PATH_NAME(&at, "value"), bt_json_find(member->value, "value"));
	}
}

static void check_counters(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *holder)
{
	const struct bt_json_value *counters = bt_json_object_at(holder, "counters");
	const struct bt_path *place = BT_PATH_NAME(parent, "counters");
	if (counters->count == 0) {
		bt_kinds_error_required(errors, place);
	} else if (counters->count > COUNTERS_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_MANY, place,
			bt_kinds_int_value(errors, counters->count), "must have at most %d items",
			COUNTERS_MAX);
	}
	for (uint32_t i = 0; i < counters->count && i < COUNTERS_MAX; i++) {
		const struct bt_json_member *member = &counters->members[i];
		const struct bt_path at = *BT_PATH_KEY(place, member->name);
		bt_kinds_check_amount(
			errors, BT_PATH_NAME(&at, "value"), bt_json_find(member->value, "value"));
	}
}

static void check_consumptions(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *device)
{
	const struct bt_json_value *list = bt_json_array_at(device, "consumesCounters");
	const struct bt_path *place = BT_PATH_NAME(parent, "consumesCounters");
	struct bt_names seen = {.arena = errors->arena};
	bt_kinds_check_count(errors, place, list, CONSUMPTIONS_MAX);
	for (uint32_t i = 0; i < list->count && i < CONSUMPTIONS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		if (bt_kinds_check_given(errors, &at, list->elements[i], "counterSet") &&
			!bt_names_add(&seen, bt_kinds_text(list->elements[i], "counterSet"))) {
			bt_kinds_error_duplicate(errors, BT_PATH_NAME(&at, "counterSet"),
				bt_json_find(list->elements[i], "counterSet"));
		}
		check_counters(errors, &at, list->elements[i]);
	}
}

static void check_device(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *device, bool per_device)
{
	static const char *const conditions[] = {"bindingConditions", "bindingFailureConditions"};
	const struct bt_json_value *taints = bt_json_array_at(device, "taints");
	check_properties(errors, place, device);
	check_consumptions(errors, place, device);
	bt_kinds_check_count(errors, BT_PATH_NAME(place, "taints"), taints, TAINTS_MAX);
	for (uint32_t i = 0; i < taints->count && i < TAINTS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(BT_PATH_NAME(place, "taints"), i);
		bt_kinds_check_device_taint(errors, &at, taints->elements[i]);
	}
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(conditions); i++) {
		bt_kinds_check_count(errors, BT_PATH_NAME(place, conditions[i]),
			bt_json_array_at(device, conditions[i]), BINDING_CONDITIONS_MAX);
	}
	if (per_device && count_node_choices(device) != 1) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, place, NULL,
			"exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when "
			"`perDeviceNodeSelection` is set to true in the ResourceSlice");
	} else if (!per_device && count_node_choices(device) != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, NULL,
			"`nodeName`, `nodeSelector` and `allNodes` can only be set if "
			"`perDeviceNodeSelection` is set to true in the ResourceSlice");
	}
	check_node_selector(errors, place, device);
}

static bool has_extras(const struct bt_json_value *devices)
{
	for (uint32_t i = 0; i < devices->count; i++) {
		if (bt_json_array_at(devices->elements[i], "taints")->count != 0 ||
			bt_json_array_at(devices->elements[i], "consumesCounters")->count != 0) {
			return true;
		}
	}
	return false;
}

static void check_devices(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *spec, bool per_device)
{
	const struct bt_json_value *devices = bt_json_array_at(spec, "devices");
	const struct bt_path *place = BT_PATH_NAME(parent, "devices");
	uint32_t max = has_extras(devices) ? DEVICES_WITH_EXTRAS_MAX : DEVICES_MAX;
	struct bt_names seen = {.arena = errors->arena};
	bt_kinds_check_count(errors, place, devices, max);
	for (uint32_t i = 0; i < devices->count && i < max; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		bt_kinds_check_unique_label(errors, &at, devices->elements[i], &seen);
		check_device(errors, &at, devices->elements[i], per_device);
	}
}

static void check_counter_sets(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *spec)
{
	const struct bt_json_value *sets = bt_json_array_at(spec, "sharedCounters");
	const struct bt_path *place = BT_PATH_NAME(parent, "sharedCounters");
	struct bt_names seen = {.arena = errors->arena};
	bt_kinds_check_count(errors, place, sets, COUNTER_SETS_MAX);
	for (uint32_t i = 0; i < sets->count && i < COUNTER_SETS_MAX; i++) {
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		bt_kinds_check_unique_label(errors, &at, sets->elements[i], &seen);
		check_counters(errors, &at, sets->elements[i]);
	}
	if (sets->count != 0 && bt_json_array_at(spec, "devices")->count != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, parent, NULL,
			"only one of `sharedCounters` or `devices` is allowed");
	}
}

/** --- pool --- */

/** DNS subdomains with slashes between. */
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

static void check_pool(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *pool)
{
	struct bt_str name = bt_kinds_text(pool, "name");
	if (bt_kinds_check_given(errors, place, pool, "name") &&
		(name.length > POOL_NAME_BYTES_MAX || !is_pool_name(name))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "name"),
			bt_json_find(pool, "name"),
			"must be one or more DNS subdomains separated by '/', of at most %d bytes",
			POOL_NAME_BYTES_MAX);
	}
	bt_kinds_check_not_negative(errors, place, pool, "generation");
	if (bt_json_int64_at(pool, "resourceSliceCount", 0) <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "resourceSliceCount"),
			bt_kinds_int_value(errors, bt_json_int64_at(pool, "resourceSliceCount", 0)),
			"must be greater than zero");
	}
}

/** --- strategy --- */

static void validate_slice(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bool per_device = bt_json_bool_at(spec, "perDeviceNodeSelection", false);
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	bt_kinds_check_driver(errors, place, spec);
	check_pool(errors, BT_PATH_NAME(place, "pool"), bt_json_object_at(spec, "pool"));
	check_node_choice(errors, place, spec, per_device);
	check_devices(errors, place, spec, per_device);
	check_counter_sets(errors, place, spec);
}

static void validate_slice_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_json_value *before = bt_json_object_at(old, "spec");
	const struct bt_json_value *after = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	(void)write;
	bt_kinds_check_immutable(errors, place, before, after, "driver");
	bt_kinds_check_immutable(errors, BT_PATH_NAME(place, "pool"),
		bt_json_object_at(before, "pool"), bt_json_object_at(after, "pool"), "name");
	bt_kinds_check_immutable(errors, place, before, after, "nodeName");
}

const struct bt_strategy bt_strategy_resource_slice = {
	.set_defaults = default_slice,
	.validate = validate_slice,
	.validate_update = validate_slice_update,
};

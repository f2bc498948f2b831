/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include "codec/base64.h"

/* Secret, ConfigMap, LimitRange, Lease. Spec: 14b section 3.3. */

/** Of the values, as bytes, of a ConfigMap or Secret. */
#define DATA_BYTES_MAX 1048576

static struct bt_json_value *encoded(struct bt_arena *arena, struct bt_str text)
{
	struct bt_strbuf out = {0};
	bt_base64_encode(text, &out);
	struct bt_str copy = bt_arena_str(arena, bt_strbuf_str(&out));
	bt_strbuf_finish(&out);
	return bt_json_new_str(arena, copy);
}

/** stringData is for writing only: it is merged into data. */
static void merge_string_data(struct bt_arena *arena, struct bt_json_value *object)
{
	const struct bt_json_value *texts = bt_kinds_object(object, "stringData");
	struct bt_json_value *merged;
	struct bt_names keys;
	const struct bt_json_value *data;
	if (texts == NULL || texts->count == 0) {
		return;
	}
	data = bt_json_object_at(object, "data");
	keys = bt_names_of_members(arena, texts);
	merged = bt_json_new(arena, BT_JSON_OBJECT);
	merged->capacity = data->count + texts->count;
	merged->members = BT_ARENA_NEW_ARRAY(arena, struct bt_json_member, merged->capacity);
	for (uint32_t i = 0; i < data->count; i++) {
		if (bt_names_find(&keys, data->members[i].name) == BT_NAMES_NONE) {
			merged->members[merged->count++] = data->members[i];
		}
	}
	for (uint32_t i = 0; i < texts->count; i++) {
		merged->members[merged->count++] = (struct bt_json_member){
			texts->members[i].name, encoded(arena, texts->members[i].value->text)};
	}
	bt_json_set_value(arena, object, "data", merged);
	(void)bt_json_remove_c(object, "stringData");
}

static void default_secret(const struct bt_write *write, struct bt_json_value *object)
{
	merge_string_data(write->arena, object);
}

static void check_frozen(struct bt_field_errors *errors, const struct bt_json_value *old,
	const struct bt_json_value *object)
{
	static const char *const names[] = {"data", "binaryData"};
	if (!bt_json_bool_at(old, "immutable", false)) {
		return;
	}
	if (!bt_json_bool_at(object, "immutable", false)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "immutable"), NULL,
			"field is immutable when `immutable` is set");
	}
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!bt_kinds_same(bt_json_find(old, names[i]), bt_json_find(object, names[i]))) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, names[i]),
				NULL, "field is immutable when `immutable` is set");
		}
	}
}

/** As bytes; base64 that was checked holds three in four characters, and breaks of lines. */
static uint64_t data_bytes(const struct bt_json_value *data, bool is_base64)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < data->count; i++) {
		struct bt_str text = data->members[i].value->text;
		uint32_t digits = 0;
		for (uint32_t j = 0; is_base64 && j < text.length; j++) {
			char c = text.data[j];
			digits += c != '=' && c != '\n' && c != '\r';
		}
		bytes += is_base64 ? (uint64_t)digits * 3 / 4 : text.length;
	}
	return bytes;
}

static void check_data_bytes(
	struct bt_field_errors *errors, const struct bt_path *place, uint64_t bytes)
{
	if (bytes > DATA_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, place, NULL,
			"may not be more than %d bytes", DATA_BYTES_MAX);
	}
}

static void validate_secret(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	check_data_bytes(errors, BT_PATH_NAME(NULL, "data"),
		data_bytes(bt_json_object_at(object, "data"), true));
}

static void validate_config_map(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	/* the two maps together: the error's field is no name, "[]" */
	check_data_bytes(errors, BT_PATH_KEY(NULL, BT_STR("")),
		data_bytes(bt_json_object_at(object, "data"), false) +
			data_bytes(bt_json_object_at(object, "binaryData"), true));
}

static void validate_secret_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	check_frozen(errors, old, object);
	bt_kinds_check_immutable(errors, NULL, old, object, "type");
}

const struct bt_strategy bt_strategy_secret = {
	.set_defaults = default_secret,
	.validate = validate_secret,
	.validate_update = validate_secret_update,
};

static void validate_config_map_update(const struct bt_write *write,
	const struct bt_json_value *old, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	(void)write;
	check_frozen(errors, old, object);
}

const struct bt_strategy bt_strategy_config_map = {
	.validate = validate_config_map,
	.validate_update = validate_config_map_update,
};

/** --- LimitRange --- */

/** What is in from but not in the member of item. */
static void fill_from(
	struct bt_arena *arena, struct bt_json_value *item, const char *name, const char *from)
{
	const struct bt_json_value *source = bt_kinds_object(item, from);
	for (uint32_t i = 0; source != NULL && i < source->count; i++) {
		struct bt_json_value *target = bt_json_ensure_object(arena, item, name);
		if (target->count == BT_KINDS_RESOURCES_MAX) {
			return;
		}
		if (bt_json_get(target, source->members[i].name) == NULL) {
			bt_json_set(arena, target, source->members[i].name,
				bt_json_clone(arena, source->members[i].value, false));
		}
	}
}

static void default_limit_range(const struct bt_write *write, struct bt_json_value *object)
{
	const struct bt_json_value *limits = bt_json_array_at(object, "spec.limits");
	for (uint32_t i = 0; i < limits->count; i++) {
		struct bt_json_value *item = limits->elements[i];
		if (bt_str_equal_c(bt_kinds_text(item, "type"), "Container")) {
			fill_from(write->arena, item, "default", "max");
			fill_from(write->arena, item, "defaultRequest", "default");
			fill_from(write->arena, item, "defaultRequest", "min");
		}
	}
}

static void check_order(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *item, const char *small, const char *large)
{
	const struct bt_json_value *lower = bt_json_object_at(item, small);
	for (uint32_t i = 0; i < lower->count && i < BT_KINDS_RESOURCES_MAX; i++) {
		const struct bt_json_member *member = &lower->members[i];
		const struct bt_json_value *bound =
			bt_json_get(bt_kinds_object(item, large), member->name);
		struct bt_quantity a;
		struct bt_quantity b;
		if (bt_kinds_quantity(member->value, errors->arena, &a) &&
			bt_kinds_quantity(bound, errors->arena, &b) &&
			bt_quantity_compare(&a, &b) > 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_KEY(BT_PATH_NAME(place, small), member->name),
				member->value, "%s value %.*s is greater than %s value %.*s", small,
				BT_STR_ARG(member->value->text), large, BT_STR_ARG(bound->text));
		}
	}
}

static void validate_limit_range(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *limits = bt_json_array_at(object, "spec.limits");
	const struct bt_path *place = BT_PATH_NAME(BT_PATH_NAME(NULL, "spec"), "limits");
	struct bt_names seen = {.arena = errors->arena};
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	for (uint32_t i = 0; i < limits->count; i++) {
		const struct bt_json_value *item = limits->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		if (bt_kinds_check_given(errors, &at, item, "type") &&
			!bt_names_add(&seen, bt_kinds_text(item, "type"))) {
			bt_kinds_error_duplicate(
				errors, BT_PATH_NAME(&at, "type"), bt_json_find(item, "type"));
		}
		check_order(errors, &at, item, "min", "max");
		check_order(errors, &at, item, "defaultRequest", "default");
		check_order(errors, &at, item, "default", "max");
		check_order(errors, &at, item, "defaultRequest", "max");
	}
}

const struct bt_strategy bt_strategy_limit_range = {
	.set_defaults = default_limit_range,
	.validate = validate_limit_range,
};

/** --- Lease --- */

static void validate_lease(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	(void)write;
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_json_int64_at(spec, "leaseDurationSeconds", 1) <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID,
			BT_PATH_NAME(place, "leaseDurationSeconds"),
			bt_json_find(spec, "leaseDurationSeconds"), "must be greater than 0");
	}
	bt_kinds_check_not_negative(errors, place, spec, "leaseTransitions");
}

const struct bt_strategy bt_strategy_lease = {.validate = validate_lease};

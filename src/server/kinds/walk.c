/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Validates an object by its schema and by rules, in one walk. Spec: 14b section 5. */

#define DRIVER_BYTES_MAX 63

/**
 * Returns whether the value is missing, empty or 0, so that a required field counts as not given.
 */
static bool is_empty(const struct bt_schema_field *field, const struct bt_json_value *value)
{
	if (value == NULL || value->type == BT_JSON_NULL) {
		return true;
	}
	if (field->shape != BT_SCHEMA_SINGLE) {
		return value->count == 0;
	}
	if (field->type == BT_SCHEMA_STRING) {
		return value->text.length == 0;
	}
	return (field->type == BT_SCHEMA_INT32 || field->type == BT_SCHEMA_INT64) &&
		bt_str_equal_c(value->text, "0");
}

/** The value must be a number of at least 0 or a percentage of at most 100. */
static void check_int_or_percent(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value)
{
	struct bt_str digits =
		bt_str_sub(value->text, 0, value->text.length > 0 ? value->text.length - 1 : 0);
	int64_t number = 0;
	if (value->type == BT_JSON_NUMBER) {
		if (bt_str_parse_int64(value->text, &number) && number < 0) {
			bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
				"must be greater than or equal to 0");
		}
	} else if (!bt_str_has_suffix(value->text, BT_STR("%")) || digits.length == 0 ||
		digits.data[0] < '0' || digits.data[0] > '9' ||
		!bt_str_parse_int64(digits, &number)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"a valid percent string must be a numeric string followed by an ending "
			"'%%' (e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
	} else if (number > 100) {
		bt_kinds_error(
			errors, BT_FIELD_INVALID, place, value, "must not be greater than 100%%");
	}
}

static void check_format(struct bt_field_errors *errors, enum bt_schema_format format,
	const struct bt_path *place, const struct bt_json_value *value)
{
	switch (format) {
	case BT_SCHEMA_FORMAT_ANY:
		break;
	case BT_SCHEMA_FORMAT_LABEL:
		bt_kinds_check_name(errors, place, value, BT_NAME_LABEL);
		break;
	case BT_SCHEMA_FORMAT_SUBDOMAIN:
		bt_kinds_check_name(errors, place, value, BT_NAME_SUBDOMAIN);
		break;
	case BT_SCHEMA_FORMAT_LABEL_KEY:
		bt_kinds_check_label_key(errors, place, value->text);
		break;
	case BT_SCHEMA_FORMAT_LABELS:
		bt_kinds_check_labels(errors, place, value);
		break;
	case BT_SCHEMA_FORMAT_INT_OR_PERCENT:
		check_int_or_percent(errors, place, value);
		break;
	case BT_SCHEMA_FORMAT_DRIVER:
		if (value->text.length > DRIVER_BYTES_MAX) {
			bt_kinds_error(errors, BT_FIELD_TOO_LONG, place, NULL,
				"may not be more than %d bytes", DRIVER_BYTES_MAX);
		} else {
			bt_kinds_check_name(errors, place, value, BT_NAME_SUBDOMAIN);
		}
		break;
	}
}

/** Checks the range of one number or quantity. */
static void check_bounds(struct bt_field_errors *errors, const struct bt_schema_field *field,
	const struct bt_path *place, const struct bt_json_value *value)
{
	const struct bt_schema_checks *checks = field->checks;
	struct bt_quantity quantity;
	int64_t number = 0;
	bool is_below;
	if (!checks->has_min && !checks->has_range) {
		return;
	}
	if (field->type == BT_SCHEMA_QUANTITY) {
		struct bt_quantity min = bt_quantity_make(checks->min, 0, BT_QUANTITY_DECIMAL_SI);
		is_below = bt_kinds_quantity(value, errors->arena, &quantity) &&
			bt_quantity_compare(&quantity, &min) < 0;
	} else {
		is_below = bt_str_parse_int64(value->text, &number) && number < checks->min;
	}
	if (checks->has_range && (is_below || number > checks->max)) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"must be between %lld and %lld, inclusive", (long long)checks->min,
			(long long)checks->max);
	} else if (checks->has_min && is_below) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"must be greater than or equal to %lld", (long long)checks->min);
	}
}

/**
 * Checks the value of a field, but not its parts. false: the value is missing or an empty text, so
 * it has no parts to check.
 */
static bool check_field(struct bt_field_errors *errors, const struct bt_schema_field *field,
	const struct bt_path *place, const struct bt_json_value *value)
{
	const struct bt_schema_checks *checks = field->checks;
	bool empty = is_empty(field, value);
	if (checks->given && empty) {
		bt_kinds_error_required(errors, place);
		return false;
	}
	if (value == NULL ||
		(field->type == BT_SCHEMA_STRING && empty && field->shape == BT_SCHEMA_SINGLE &&
			(field->flags & BT_SCHEMA_ALWAYS) == 0)) {
		return false;
	}
	if (checks->items_max != 0) {
		bt_kinds_check_count(errors, place, value, checks->items_max);
	}
	if (checks->allowed != NULL && field->shape == BT_SCHEMA_SINGLE) {
		bt_kinds_check_allowed(errors, place, value, checks->allowed);
	}
	if (field->shape == BT_SCHEMA_SINGLE || checks->format == BT_SCHEMA_FORMAT_LABELS) {
		check_format(errors, (enum bt_schema_format)checks->format, place, value);
		check_bounds(errors, field, place, value);
		return true;
	}
	for (uint32_t i = 0; field->shape == BT_SCHEMA_LIST && i < value->count; i++) {
		if (checks->allowed != NULL) {
			bt_kinds_check_allowed(errors, place, value->elements[i], checks->allowed);
		}
		check_format(errors, (enum bt_schema_format)checks->format, BT_PATH_INDEX(place, i),
			value->elements[i]);
	}
	for (uint32_t i = 0; field->shape == BT_SCHEMA_MAP && i < value->count; i++) {
		check_bounds(errors, field, BT_PATH_KEY(place, value->members[i].name),
			value->members[i].value);
	}
	return true;
}

static void walk(struct bt_check *check, const struct bt_path *place,
	const struct bt_schema_message *message, const struct bt_json_value *object);

/* Validates the parts of a value. Recursion is bounded by the nesting of messages. */
static void walk_parts(struct bt_check *check, const struct bt_path *place,
	const struct bt_schema_field *field, const struct bt_json_value *value)
{
	const struct bt_schema_checks *checks = field->checks;
	uint32_t count = value->count;
	struct bt_text_set seen = {0};
	if (checks != NULL && checks->items_max != 0 && count > checks->items_max) {
		count = checks->items_max;
	}
	if (field->shape == BT_SCHEMA_SINGLE) {
		walk(check, place, field->message, value);
	}
	for (uint32_t i = 0; field->shape == BT_SCHEMA_MAP && i < count; i++) {
		walk(check, BT_PATH_KEY(place, value->members[i].name), field->message,
			value->members[i].value);
	}
	for (uint32_t i = 0; field->shape == BT_SCHEMA_LIST && i < count; i++) {
		const struct bt_json_value *element = value->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		walk(check, &at, field->message, element);
		if (checks != NULL && checks->unique != NULL &&
			bt_kinds_text(element, checks->unique).length != 0 &&
			!bt_text_set_add(&seen, bt_kinds_text(element, checks->unique))) {
			bt_kinds_error(check->errors, BT_FIELD_DUPLICATE,
				BT_PATH_NAME(&at, checks->unique),
				bt_json_find(element, checks->unique), "%s", "");
		}
	}
	bt_text_set_finish(&seen);
}

/* On a create, upstream checks only the specs of claim templates, before it checks the selector. */
static void check_claim_templates(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	const struct bt_json_value *templates = bt_json_array_at(spec, "volumeClaimTemplates");
	for (uint32_t i = 0; i < templates->count; i++) {
		const struct bt_path *at =
			BT_PATH_INDEX(BT_PATH_NAME(place, "volumeClaimTemplates"), i);
		bt_rule_claim(check, BT_PATH_NAME(at, "spec"),
			bt_json_object_at(templates->elements[i], "spec"));
	}
}

/**
 * Returns the bit of a name in a set of names. If the set of an object's names lacks the bit of a
 * name, the object has no member with that name.
 */
static uint64_t name_bit(const char *name, uint32_t length)
{
	return length == 0 ? 1 : UINT64_C(1) << ((length * 7 + (unsigned char)name[0]) & 63);
}

static bool is_named(const char *name, const char *other)
{
	return name[0] == other[0] && strcmp(name, other) == 0;
}

static void walk(struct bt_check *check, const struct bt_path *place,
	const struct bt_schema_message *message, const struct bt_json_value *object)
{
	bool is_node = is_named(message->name, "NodeSpec"); /* upstream prints wrong taint paths */
	bool is_volume = is_named(message->name, "Volume");
	if (is_named(message->name, "PodSpec")) {
		bt_kinds_collect_names(
			&check->volumes, bt_json_array_at(object, "volumes"), "name");
		bt_kinds_collect_names(
			&check->claims, bt_json_array_at(object, "resourceClaims"), "name");
		check->host_network = bt_json_bool_at(object, "hostNetwork", false);
	} else if (is_named(message->name, "PersistentVolumeSpec")) {
		bt_kinds_enter_volume(check, place, object);
	} else if (is_named(message->name, "DeviceClaim")) {
		bt_kinds_enter_device_claim(check, object);
	} else if (is_named(message->name, "ResourceSliceSpec")) {
		check->per_device_nodes = bt_json_bool_at(object, "perDeviceNodeSelection", false);
	}
	uint64_t names = 0;
	for (uint32_t i = 0; object->type == BT_JSON_OBJECT && i < object->count; i++) {
		struct bt_str name = object->members[i].name;
		names |= name_bit(name.data, name.length);
	}
	for (uint32_t i = 0; message->has_checks && i < message->field_count; i++) {
		/* upstream checks a volume's source before its name */
		const struct bt_schema_field *field =
			&message->fields[is_volume ? message->field_count - 1 - i : i];
		bool has_parts = field->message != NULL &&
			(field->message->has_checks ||
				(field->checks != NULL && field->checks->unique != NULL)) &&
			(field->flags & BT_SCHEMA_UNCHECKED) == 0;
		if (field->checks == NULL && !has_parts) {
			continue;
		}
		if ((field->flags & BT_SCHEMA_INLINE) != 0) {
			walk(check, place, field->message, object);
			continue;
		}
		/*
		 * metadata is checked in bt_kinds_validate; status only in writes of the status,
		 * because other writes keep the stored one
		 */
		if (place == NULL &&
			(is_named(field->name, "metadata") ||
				(is_named(field->name, "status") &&
					check->write->subresource != BT_SUBRESOURCE_STATUS) ||
				(is_named(field->name, "spec") &&
					(bt_kinds_keeps_spec(check->write) ||
						/* updates only compare the immutable spec */
						(check->old != NULL && field->checks != NULL &&
							field->checks->immutable))))) {
			continue;
		}
		struct bt_str name = {field->name, field->name_length};
		const struct bt_json_value *value = (names & name_bit(name.data, name.length)) != 0
			? bt_json_get(object, name)
			: NULL;
		if (is_named(field->name, "selector") &&
			is_named(message->name, "StatefulSetSpec") && check->old == NULL) {
			check_claim_templates(check, place, object);
		} else if (is_named(field->name, "template")) {
			value = bt_kinds_enter_template(check, place, message, object);
		}
		if (value == NULL && (field->checks == NULL || !field->checks->given)) {
			continue;
		}
		const struct bt_path at = *BT_PATH_STR(is_node && is_named(field->name, "taints")
				? BT_PATH_NAME(NULL, "metadata")
				: place,
			name);
		if ((field->checks == NULL || check_field(check->errors, field, &at, value)) &&
			has_parts && value != NULL) {
			walk_parts(check, &at, field, value);
		}
	}
	bt_rule_fn *rule = bt_kinds_rules[message - bt_schema_messages];
	if (rule != NULL) {
		rule(check, place, object);
	}
}

static void check_immutable(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_schema_message *message, const struct bt_json_value *old,
	const struct bt_json_value *object)
{
	for (uint32_t i = 0; i < message->field_count; i++) {
		const struct bt_schema_field *field = &message->fields[i];
		if (field->checks != NULL && field->checks->immutable) {
			bt_kinds_check_immutable(errors, place, old, object, field->name,
				field->shape == BT_SCHEMA_SINGLE ? field->message : NULL);
		}
	}
}

void bt_kinds_check_driver(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value)
{
	check_format(errors, BT_SCHEMA_FORMAT_DRIVER, place, value);
}

void bt_kinds_validate(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	const struct bt_schema_message *message = write->resource->message;
	const struct bt_strategy *strategy = write->resource->strategy;
	struct bt_check check = {.write = write, .errors = errors, .old = old};
	bool is_checked_update = message != NULL && old != NULL && !bt_kinds_keeps_spec(write);
	ptrdiff_t index = message != NULL ? message - bt_schema_messages : 0;
	/*
	 * Upstream validates metadata four times in an update (three times for some kinds) and
	 * repeats its errors, so the errors are added as often here.
	 */
	uint32_t metadata_count = 1;
	if (old != NULL && message != NULL) {
		metadata_count = strategy->validates_spec_alone ? 3 : 4;
	}
	uint32_t errors_before = errors->count;
	for (uint32_t i = 0; i < metadata_count && (i == 0 || errors->count != errors_before);
		i++) {
		bt_kinds_check_metadata(errors, NULL, object, strategy->name_rule);
	}
	if (is_checked_update && bt_kinds_firsts[index] != NULL) {
		bt_kinds_firsts[index](&check, NULL, object);
	}
	if (message != NULL) {
		walk(&check, NULL, message, object);
	}
	if (message != NULL && old != NULL && strategy->validates_twice) {
		walk(&check, NULL, message, object);
	}
	if (is_checked_update) {
		const struct bt_schema_field *spec =
			bt_schema_field_find(message, BT_STR("spec"), NULL);
		check_immutable(errors, NULL, message, old, object);
		if (spec != NULL) {
			check_immutable(errors, BT_PATH_NAME(NULL, "spec"), spec->message,
				bt_json_object_at(old, "spec"), bt_json_object_at(object, "spec"));
		}
	}
	if (old != NULL && strategy->validate_update != NULL) {
		strategy->validate_update(write, old, object, errors);
	}
	if (is_checked_update && bt_kinds_updates[index] != NULL) {
		bt_kinds_updates[index](&check, NULL, object);
	}
	bt_text_set_finish(&check.volumes);
	bt_text_set_finish(&check.claims);
	bt_text_set_finish(&check.requests);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "server/kinds/common.h"

#include "api/label.h"
#include "api/selector.h"

/* Names, labels and selectors. Spec: 14b section 5, 01 sections 5.4 and 5.6. */

#define SUBDOMAIN_BYTES_MAX 253
#define ANNOTATION_BYTES_MAX 262144

static bool looks_like_label(struct bt_str name)
{
	return bt_label_prefix_matches(name) && bt_str_find_char(name, '.') < 0;
}

bool bt_kinds_is_subdomain(struct bt_str name)
{
	return name.length <= SUBDOMAIN_BYTES_MAX && bt_label_prefix_matches(name);
}

bool bt_kinds_is_kubernetes_domain(struct bt_str domain)
{
	return bt_str_equal_c(domain, "kubernetes.io") || bt_str_equal_c(domain, "k8s.io") ||
		bt_str_has_suffix(domain, BT_STR(".kubernetes.io")) ||
		bt_str_has_suffix(domain, BT_STR(".k8s.io"));
}

bool bt_kinds_is_identifier(struct bt_str text, char separator)
{
	for (uint32_t i = 0; i < text.length; i++) {
		char byte = text.data[i];
		if (!bt_is_letter(byte) && byte != separator && (i == 0 || !bt_is_digit(byte))) {
			return false;
		}
	}
	return true;
}

void bt_kinds_check_name(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_name_rule rule)
{
	if (value == NULL || value->type != BT_JSON_STRING) {
		return;
	}
	bool is_short = rule == BT_NAME_LABEL || rule == BT_NAME_SERVICE;
	uint32_t bytes_max = is_short ? BT_LABEL_NAME_MAX : SUBDOMAIN_BYTES_MAX;
	struct bt_str name = value->text;
	/* A path could be longer upstream; the limit keeps the keys of the store short. */
	if (name.length > bytes_max) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"must be no more than %u characters", bytes_max);
	}
	bool is_path = rule == BT_NAME_PATH;
	const struct bt_kinds_problem problems[] = {
		{rule == BT_NAME_SUBDOMAIN && !bt_label_prefix_matches(name), BT_FIELD_INVALID,
			NULL, bt_dns1123_subdomain_rule},
		{rule == BT_NAME_LABEL && !looks_like_label(name), BT_FIELD_INVALID, NULL,
			bt_dns1123_label_rule},
		{rule == BT_NAME_SERVICE && (!looks_like_label(name) || bt_is_digit(name.data[0])),
			BT_FIELD_INVALID, NULL, bt_dns1035_label_rule},
		{is_path && bt_str_equal_c(name, "."), BT_FIELD_INVALID, NULL, "may not be '.'"},
		{is_path && bt_str_equal_c(name, ".."), BT_FIELD_INVALID, NULL, "may not be '..'"},
		{is_path && bt_str_find_char(name, '/') >= 0, BT_FIELD_INVALID, NULL,
			"may not contain '/'"},
		{is_path && bt_str_find_char(name, '%') >= 0, BT_FIELD_INVALID, NULL,
			"may not contain '%'"},
	};
	bt_kinds_add_problems(errors, place, value, problems, BT_ARRAY_LENGTH(problems));
}

void bt_kinds_check_domain(struct bt_field_errors *errors, const struct bt_path *place,
	struct bt_str text, const char *prefix, const char *suffix)
{
	if (bt_str_has_prefix(text, bt_str_from(prefix))) {
		text = bt_str_sub(text, (uint32_t)strlen(prefix), BT_STR_MAX);
	}
	if (bt_str_has_suffix(text, bt_str_from(suffix))) {
		text = bt_str_sub(text, 0, text.length - (uint32_t)strlen(suffix));
	}
	bt_kinds_check_name(errors, place, bt_json_new_str(errors->arena, text), BT_NAME_SUBDOMAIN);
}

/** Checks a generateName: it may end with a dash, because characters are appended to it. */
static void check_name_prefix(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *value, enum bt_name_rule rule)
{
	struct bt_field_errors found = {.arena = errors->arena};
	uint32_t length = value->text.length;
	char name[SUBDOMAIN_BYTES_MAX];
	if (length > 1 && length <= sizeof(name) && value->text.data[length - 1] == '-') {
		memcpy(name, value->text.data, length);
		name[length - 1] = 'a';
		const struct bt_json_value completed = {
			.type = BT_JSON_STRING, .text = {name, length}};
		bt_kinds_check_name(&found, place, &completed, rule);
		if (found.count == 0) {
			return;
		}
	}
	bt_kinds_check_name(errors, place, value, rule);
}

/** Adds each error in `list`. `text`: the invalid text. */
static void add_all(struct bt_field_errors *errors, const struct bt_path *place, struct bt_str text,
	const struct bt_error_list *list)
{
	for (uint32_t i = 0; i < list->count; i++) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place,
			bt_json_new_str(errors->arena, text), "%.*s", BT_STR_ARG(list->items[i]));
	}
}

void bt_kinds_check_label_key(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str key)
{
	struct bt_error_list list = {0};
	if (!bt_label_key_is_valid(key)) {
		bt_label_key_errors(key, errors->arena, &list);
		add_all(errors, place, key, &list);
	}
}

bool bt_kinds_has_backstep(struct bt_str path)
{
	while (path.length != 0) {
		if (bt_str_equal_c(bt_str_cut(&path, '/'), "..")) {
			return true;
		}
	}
	return false;
}

void bt_kinds_check_config_key(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str key)
{
	const struct bt_json_value *value = bt_json_new_str(errors->arena, key);
	uint32_t i = 0;
	while (i < key.length &&
		(bt_is_letter(key.data[i]) || bt_is_digit(key.data[i]) ||
			bt_str_find_char(BT_STR("-._"), key.data[i]) >= 0)) {
		i++;
	}
	if (key.length > SUBDOMAIN_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"must be no more than %d characters", SUBDOMAIN_BYTES_MAX);
	}
	if (key.length == 0 || i != key.length) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value,
			"a valid config key must consist of alphanumeric characters, '-', '_' or "
			"'.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for "
			"validation is '[-._a-zA-Z0-9]+')");
	}
	if (bt_str_equal_c(key, ".") || bt_str_equal_c(key, "..")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value, "must not be '%.*s'",
			BT_STR_ARG(key));
	} else if (bt_str_has_prefix(key, BT_STR(".."))) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, value, "must not start with '..'");
	}
}

void bt_kinds_check_label_value(
	struct bt_field_errors *errors, const struct bt_path *place, struct bt_str value)
{
	struct bt_error_list list = {0};
	if (!bt_label_value_is_valid(value)) {
		bt_label_value_errors(value, errors->arena, &list);
		add_all(errors, place, value, &list);
	}
}

void bt_kinds_check_labels(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *labels)
{
	bool valid = true;
	for (uint32_t i = 0; labels != NULL && i < labels->count && valid; i++) {
		const struct bt_json_member *label = &labels->members[i];
		valid = bt_label_key_is_valid(label->name) &&
			(label->value->type != BT_JSON_STRING ||
				bt_label_value_is_valid(label->value->text));
	}
	if (valid) {
		return;
	}
	/* upstream reports errors of maps in the order of their keys */
	struct bt_json_member *sorted =
		BT_ARENA_NEW_ARRAY(errors->arena, struct bt_json_member, labels->count);
	memcpy(sorted, labels->members, labels->count * sizeof(*sorted));
	qsort(sorted, labels->count, sizeof(*sorted), bt_str_compare_qsort);
	for (uint32_t i = 0; i < labels->count; i++) {
		bt_kinds_check_label_key(errors, place, sorted[i].name);
		if (sorted[i].value->type == BT_JSON_STRING) {
			bt_kinds_check_label_value(errors, place, sorted[i].value->text);
		}
	}
}

void bt_kinds_check_metadata(struct bt_field_errors *errors, const struct bt_path *parent,
	const struct bt_json_value *object, enum bt_name_rule rule)
{
	static const char *const needed[] = {"apiVersion", "kind", "name", "uid"};
	const struct bt_json_value *metadata = bt_kinds_object(object, "metadata");
	const struct bt_json_value *owners = bt_json_array_at(metadata, "ownerReferences");
	const struct bt_json_value *finalizers = bt_json_array_at(metadata, "finalizers");
	const struct bt_json_value *managers = bt_json_array_at(metadata, "managedFields");
	const struct bt_path place = *BT_PATH_NAME(parent, "metadata");
	uint32_t controllers = 0;
	if (bt_kinds_text(metadata, "generateName").length != 0) {
		check_name_prefix(errors, BT_PATH_NAME(&place, "generateName"),
			bt_json_find(metadata, "generateName"), rule);
	}
	if (bt_kinds_text(metadata, "name").length != 0) {
		bt_kinds_check_name(
			errors, BT_PATH_NAME(&place, "name"), bt_json_find(metadata, "name"), rule);
	}
	bt_kinds_check_labels(
		errors, BT_PATH_NAME(&place, "labels"), bt_kinds_object(metadata, "labels"));
	const struct bt_json_value *annotations = bt_json_object_at(metadata, "annotations");
	const struct bt_path annotations_at = *BT_PATH_NAME(&place, "annotations");
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < annotations->count; i++) {
		struct bt_str key = annotations->members[i].name;
		bytes += (uint64_t)key.length + annotations->members[i].value->text.length;
		if (!bt_label_key_is_valid(key)) {
			/* the prefix of an annotation key may have capital letters */
			struct bt_strbuf lowered = {0};
			bt_strbuf_append_lower(&lowered, key);
			bt_kinds_check_label_key(errors, &annotations_at,
				bt_arena_take_strbuf(errors->arena, &lowered));
		}
	}
	if (bytes > ANNOTATION_BYTES_MAX) {
		bt_kinds_error(errors, BT_FIELD_TOO_LONG, &annotations_at, NULL,
			"may not be more than %d bytes", ANNOTATION_BYTES_MAX);
	}
	for (uint32_t i = 0; i < owners->count; i++) {
		const struct bt_path at =
			*BT_PATH_INDEX(BT_PATH_NAME(&place, "ownerReferences"), i);
		for (uint32_t n = 0; n < BT_ARRAY_LENGTH(needed); n++) {
			if (bt_kinds_text(owners->elements[i], needed[n]).length == 0) {
				bt_kinds_error(errors, BT_FIELD_INVALID,
					BT_PATH_NAME(&at, needed[n]),
					bt_json_new_str(errors->arena, BT_STR("")),
					"must not be empty");
			}
		}
		controllers += bt_json_bool_at(owners->elements[i], "controller", false) ? 1U : 0U;
	}
	if (controllers > 1) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(&place, "ownerReferences"),
			owners,
			"Only one reference can have Controller set to true. Found \"true\" in "
			"more than one reference");
	}
	for (uint32_t i = 0; i < finalizers->count; i++) {
		bt_kinds_check_label_key(errors,
			BT_PATH_INDEX(BT_PATH_NAME(&place, "finalizers"), i),
			finalizers->elements[i]->text);
	}
	for (uint32_t i = 0; i < managers->count; i++) {
		struct bt_str operation = bt_kinds_text(managers->elements[i], "operation");
		if (!bt_str_equal_c(operation, "Apply") && !bt_str_equal_c(operation, "Update")) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_NAME(
					BT_PATH_INDEX(BT_PATH_NAME(&place, "managedFields"), i),
					"operation"),
				bt_json_new_str(errors->arena, operation),
				"must be `Apply` or `Update`");
		}
	}
}

bool bt_kinds_selector_matches(
	const struct bt_json_value *selector, const struct bt_json_value *labels)
{
	const struct bt_json_value *pairs = bt_json_object_at(selector, "matchLabels");
	const struct bt_json_value *expressions = bt_json_array_at(selector, "matchExpressions");
	struct bt_text_set keys = {0};
	bool matches = selector != NULL;
	bt_json_append_names(labels, &keys);
	for (uint32_t i = 0; i < pairs->count && matches; i++) {
		uint32_t index = bt_text_set_find(&keys, pairs->members[i].name);
		matches = index != BT_MAP_NONE &&
			bt_str_equal(
				labels->members[index].value->text, pairs->members[i].value->text);
	}
	for (uint32_t i = 0; i < expressions->count && matches; i++) {
		const struct bt_json_value *expression = expressions->elements[i];
		uint32_t index = bt_text_set_find(&keys, bt_kinds_text(expression, "key"));
		struct bt_str operator_ = bt_kinds_text(expression, "operator");
		bool exists = index != BT_MAP_NONE;
		bool among = exists &&
			bt_json_has_text(bt_json_array_at(expression, "values"),
				labels->members[index].value->text);
		matches = bt_str_equal_c(operator_, "In") ? among
			: bt_str_equal_c(operator_, "NotIn")
			? !among
			: exists == bt_str_equal_c(operator_, "Exists");
	}
	bt_text_set_finish(&keys);
	return matches;
}

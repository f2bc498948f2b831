/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* Validation of the fields that the scheduler reads. Spec: 14b section 5. */

static void check_node_field(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *field)
{
	struct bt_str operator_ = bt_kinds_text(field, "operator");
	const struct bt_json_value *values = bt_json_array_at(field, "values");
	if (!bt_str_equal_c(operator_, "In") && !bt_str_equal_c(operator_, "NotIn")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "operator"),
			bt_kinds_text_value(errors, operator_), "not a valid selector operator");
	} else if (values->count != 1) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "values"), NULL,
			"must be only one value when `operator` is 'In' or 'NotIn' for node field "
			"selector");
	}
	if (!bt_str_equal_c(bt_kinds_text(field, "key"), "metadata.name")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "key"),
			bt_kinds_text_value(errors, bt_kinds_text(field, "key")),
			"not a valid field selector key");
		return;
	}
	for (uint32_t i = 0; i < values->count; i++) {
		bt_kinds_check_name(errors, BT_PATH_INDEX(BT_PATH_NAME(place, "values"), i),
			values->elements[i], BT_NAME_SUBDOMAIN);
	}
}

void bt_rule_node_selector_term(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *term)
{
	const struct bt_json_value *expressions = bt_json_array_at(term, "matchExpressions");
	const struct bt_json_value *fields = bt_json_array_at(term, "matchFields");
	for (uint32_t i = 0; i < expressions->count; i++) {
		bt_kinds_check_requirement(check->errors,
			BT_PATH_INDEX(BT_PATH_NAME(place, "matchExpressions"), i),
			expressions->elements[i], true);
	}
	for (uint32_t i = 0; i < fields->count; i++) {
		check_node_field(check->errors,
			BT_PATH_INDEX(BT_PATH_NAME(place, "matchFields"), i), fields->elements[i]);
	}
}

static void check_label_keys(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *holder, const char *name)
{
	const struct bt_json_value *keys = bt_json_array_at(holder, name);
	const struct bt_path *keys_place = BT_PATH_NAME(place, name);
	if (keys->count != 0 && bt_kinds_object(holder, "labelSelector") == NULL) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, keys_place, NULL,
			"must not be specified when labelSelector is not set");
	}
	for (uint32_t i = 0; i < keys->count; i++) {
		bt_kinds_check_label_key(
			errors, BT_PATH_INDEX(keys_place, i), keys->elements[i]->text);
	}
}

void bt_rule_match_label_keys(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *holder)
{
	check_label_keys(check->errors, place, holder, "matchLabelKeys");
}

void bt_rule_pod_affinity_keys(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *term)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *matched = bt_json_array_at(term, "matchLabelKeys");
	const struct bt_json_value *mismatched = bt_json_array_at(term, "mismatchLabelKeys");
	struct bt_names others = {.arena = errors->arena};
	check_label_keys(errors, place, term, "matchLabelKeys");
	check_label_keys(errors, place, term, "mismatchLabelKeys");
	for (uint32_t i = 0; i < mismatched->count; i++) {
		(void)bt_names_add(&others, mismatched->elements[i]->text);
	}
	for (uint32_t i = 0; i < matched->count; i++) {
		if (bt_names_find(&others, matched->elements[i]->text) != BT_NAMES_NONE) {
			bt_kinds_error(errors, BT_FIELD_INVALID,
				BT_PATH_INDEX(BT_PATH_NAME(place, "matchLabelKeys"), i),
				matched->elements[i],
				"exists in both matchLabelKeys and mismatchLabelKeys");
		}
	}
}

void bt_kinds_check_spread_pairs(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *constraints)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < constraints->count; i++) {
		struct bt_str pair = bt_arena_printf(errors->arena, "{%.*s, %.*s}",
			BT_STR_ARG(bt_kinds_text(constraints->elements[i], "topologyKey")),
			BT_STR_ARG(bt_kinds_text(constraints->elements[i], "whenUnsatisfiable")));
		if (!bt_names_add(&seen, pair)) {
			bt_kinds_error(errors, BT_FIELD_DUPLICATE,
				BT_PATH_NAME(BT_PATH_INDEX(place, i),
					"{topologyKey, whenUnsatisfiable}"),
				bt_kinds_text_value(errors, pair), "%s", "");
		}
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/label.h"
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

void bt_rule_node_selector(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *selector)
{
	if (bt_json_array_at(selector, "nodeSelectorTerms")->count == 0) {
		bt_kinds_error(check->errors, BT_FIELD_REQUIRED,
			BT_PATH_NAME(place, "nodeSelectorTerms"), NULL,
			"must have at least one node selector term");
	}
}

/** A weighted term of node or pod affinity. */
void bt_rule_weight(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *term)
{
	int64_t weight = bt_json_int64_at(term, "weight", 0);
	if (weight < 1 || weight > 100) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "weight"),
			bt_kinds_int_value(check->errors, weight), "must be in the range 1-100");
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

void bt_rule_pod_affinity_term(
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
	if (bt_kinds_text(term, "topologyKey").length == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "topologyKey"), NULL,
			"can not be empty");
	}
	bt_kinds_check_label_key(
		errors, BT_PATH_NAME(place, "topologyKey"), bt_kinds_text(term, "topologyKey"));
}

void bt_rule_spread_constraint(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *constraint)
{
	struct bt_field_errors *errors = check->errors;
	const struct bt_json_value *domains = bt_json_find(constraint, "minDomains");
	struct bt_str action = bt_kinds_text(constraint, "whenUnsatisfiable");
	int64_t skew = bt_json_int64_at(constraint, "maxSkew", 0);
	if (skew <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "maxSkew"),
			bt_kinds_int_value(errors, skew), "must be greater than zero");
	}
	if (bt_kinds_text(constraint, "topologyKey").length == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, BT_PATH_NAME(place, "topologyKey"), NULL,
			"can not be empty");
	} else {
		bt_kinds_check_label_key(errors, BT_PATH_NAME(place, "topologyKey"),
			bt_kinds_text(constraint, "topologyKey"));
	}
	if (domains != NULL && bt_json_int64_at(constraint, "minDomains", 1) <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "minDomains"), domains,
			"must be greater than zero");
	}
	if (domains != NULL && !bt_str_equal_c(action, "DoNotSchedule")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "minDomains"), domains,
			"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %.*s",
			BT_STR_ARG(action));
	}
	check_label_keys(errors, place, constraint, "matchLabelKeys");
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

void bt_rule_toleration(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *toleration)
{
	struct bt_field_errors *errors = check->errors;
	struct bt_str key = bt_kinds_text(toleration, "key");
	struct bt_str operator_ = bt_kinds_text(toleration, "operator");
	struct bt_str effect = bt_kinds_text(toleration, "effect");
	const struct bt_json_value *operator_value = bt_kinds_text_value(errors, operator_);
	const struct bt_path *operator_place = BT_PATH_NAME(place, "operator");
	bool exists = bt_str_equal_c(operator_, "Exists");
	if (key.length == 0 && !exists) {
		bt_kinds_error(errors, BT_FIELD_INVALID, operator_place, operator_value,
			"operator must be Exists when `key` is empty, which means \"match all "
			"values and all keys\"");
	}
	if (bt_json_find(toleration, "tolerationSeconds") != NULL &&
		!bt_str_equal_c(effect, "NoExecute")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "effect"),
			bt_kinds_text_value(errors, effect),
			"effect must be 'NoExecute' when `tolerationSeconds` is set");
	}
	if (exists && bt_kinds_text(toleration, "value").length != 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, operator_place, toleration,
			"value must be empty when `operator` is 'Exists'");
	} else if (operator_.length == 0 || bt_str_equal_c(operator_, "Equal")) {
		const struct bt_json_value *value =
			bt_kinds_text_value(errors, bt_kinds_text(toleration, "value"));
		if (value->text.length > BT_LABEL_NAME_MAX ||
			(value->text.length != 0 && !bt_label_name_matches(value->text))) {
			bt_kinds_error(errors, BT_FIELD_INVALID, operator_place, value,
				"a valid label must be an empty string or consist of alphanumeric "
				"characters, '-', '_' or '.', and must start and end with an "
				"alphanumeric character (e.g. 'MyValue',  or 'my_value',  or "
				"'12345', regex used for validation is "
				"'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')");
		}
	} else if (!exists) {
		bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED, operator_place, operator_value,
			"\"Equal\", \"Exists\"");
	}
}

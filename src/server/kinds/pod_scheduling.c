/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

#include "api/label.h"

/* Fields that the scheduler reads. Spec: 14b section 5. */

static const char *const unsatisfiable_actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
static const char *const node_policies[] = {"Honor", "Ignore", NULL};

static bool is_number(struct bt_str text)
{
	int64_t number;
	return bt_str_parse_int64(text, &number);
}

static void check_node_expression(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *expression)
{
	struct bt_str operator_ = bt_kinds_text(expression, "operator");
	const struct bt_json_value *values = bt_json_array_at(expression, "values");
	const struct bt_path *values_place = BT_PATH_NAME(place, "values");
	if (bt_str_equal_c(operator_, "In") || bt_str_equal_c(operator_, "NotIn")) {
		if (values->count == 0) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, values_place, NULL,
				"must be specified when `operator` is 'In' or 'NotIn'");
		}
	} else if (bt_str_equal_c(operator_, "Exists") ||
		bt_str_equal_c(operator_, "DoesNotExist")) {
		if (values->count != 0) {
			bt_kinds_error(errors, BT_FIELD_FORBIDDEN, values_place, NULL,
				"may not be specified when `operator` is 'Exists' or "
				"'DoesNotExist'");
		}
	} else if (bt_str_equal_c(operator_, "Gt") || bt_str_equal_c(operator_, "Lt")) {
		if (values->count != 1) {
			bt_kinds_error(errors, BT_FIELD_REQUIRED, values_place, NULL,
				"must be specified single value when `operator` is 'Lt' or 'Gt'");
		} else if (!is_number(values->elements[0]->text)) {
			bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_INDEX(values_place, 0),
				values->elements[0], "must be an integer");
		}
	} else {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "operator"),
			bt_kinds_text_value(errors, operator_), "not a valid selector operator");
	}
	bt_kinds_check_label_key(
		errors, BT_PATH_NAME(place, "key"), bt_kinds_text(expression, "key"));
}

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

static void check_node_term(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *term)
{
	const struct bt_json_value *expressions = bt_json_array_at(term, "matchExpressions");
	const struct bt_json_value *fields = bt_json_array_at(term, "matchFields");
	for (uint32_t i = 0; i < expressions->count; i++) {
		check_node_expression(errors,
			BT_PATH_INDEX(BT_PATH_NAME(place, "matchExpressions"), i),
			expressions->elements[i]);
	}
	for (uint32_t i = 0; i < fields->count; i++) {
		check_node_field(errors, BT_PATH_INDEX(BT_PATH_NAME(place, "matchFields"), i),
			fields->elements[i]);
	}
}

void bt_kinds_validate_node_selector(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *selector)
{
	const struct bt_json_value *terms = bt_json_array_at(selector, "nodeSelectorTerms");
	const struct bt_path *terms_place = BT_PATH_NAME(place, "nodeSelectorTerms");
	if (terms->count == 0) {
		bt_kinds_error(errors, BT_FIELD_REQUIRED, terms_place, NULL,
			"must have at least one node selector term");
	}
	for (uint32_t i = 0; i < terms->count; i++) {
		check_node_term(errors, BT_PATH_INDEX(terms_place, i), terms->elements[i]);
	}
}

static void check_weight(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *term)
{
	int64_t weight = bt_json_int64_at(term, "weight", 0);
	if (weight < 1 || weight > 100) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "weight"),
			bt_kinds_int_value(errors, weight), "must be in the range 1-100");
	}
}

static void check_node_affinity(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *affinity)
{
	static const char required_name[] = "requiredDuringSchedulingIgnoredDuringExecution";
	static const char preferred_name[] = "preferredDuringSchedulingIgnoredDuringExecution";
	const struct bt_json_value *required = bt_kinds_object(affinity, required_name);
	const struct bt_json_value *preferred = bt_json_array_at(affinity, preferred_name);
	if (required != NULL) {
		bt_kinds_validate_node_selector(
			errors, BT_PATH_NAME(place, required_name), required);
	}
	for (uint32_t i = 0; i < preferred->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(BT_PATH_NAME(place, preferred_name), i);
		check_weight(errors, &at, preferred->elements[i]);
		check_node_term(errors, BT_PATH_NAME(&at, "preference"),
			bt_json_object_at(preferred->elements[i], "preference"));
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

static void check_pod_term(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *term)
{
	const struct bt_json_value *namespaces = bt_json_array_at(term, "namespaces");
	const struct bt_json_value *matched = bt_json_array_at(term, "matchLabelKeys");
	const struct bt_json_value *mismatched = bt_json_array_at(term, "mismatchLabelKeys");
	struct bt_names others = {.arena = errors->arena};
	bt_kinds_check_label_selector(errors, BT_PATH_NAME(place, "labelSelector"),
		bt_kinds_object(term, "labelSelector"));
	bt_kinds_check_label_selector(errors, BT_PATH_NAME(place, "namespaceSelector"),
		bt_kinds_object(term, "namespaceSelector"));
	for (uint32_t i = 0; i < namespaces->count; i++) {
		bt_kinds_check_name(errors, BT_PATH_INDEX(BT_PATH_NAME(place, "namespaces"), i),
			namespaces->elements[i], BT_NAME_LABEL);
	}
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

static void check_pod_affinity(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *affinity)
{
	static const char required_name[] = "requiredDuringSchedulingIgnoredDuringExecution";
	static const char preferred_name[] = "preferredDuringSchedulingIgnoredDuringExecution";
	const struct bt_json_value *required = bt_json_array_at(affinity, required_name);
	const struct bt_json_value *preferred = bt_json_array_at(affinity, preferred_name);
	for (uint32_t i = 0; i < required->count; i++) {
		check_pod_term(errors, BT_PATH_INDEX(BT_PATH_NAME(place, required_name), i),
			required->elements[i]);
	}
	for (uint32_t i = 0; i < preferred->count; i++) {
		const struct bt_path at = *BT_PATH_INDEX(BT_PATH_NAME(place, preferred_name), i);
		check_weight(errors, &at, preferred->elements[i]);
		check_pod_term(errors, BT_PATH_NAME(&at, "podAffinityTerm"),
			bt_json_object_at(preferred->elements[i], "podAffinityTerm"));
	}
}

static void check_affinity(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *affinity)
{
	if (affinity == NULL) {
		return;
	}
	check_node_affinity(errors, BT_PATH_NAME(place, "nodeAffinity"),
		bt_kinds_object(affinity, "nodeAffinity"));
	check_pod_affinity(errors, BT_PATH_NAME(place, "podAffinity"),
		bt_kinds_object(affinity, "podAffinity"));
	check_pod_affinity(errors, BT_PATH_NAME(place, "podAntiAffinity"),
		bt_kinds_object(affinity, "podAntiAffinity"));
}

static void check_min_domains(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *constraint)
{
	const struct bt_json_value *domains = bt_json_find(constraint, "minDomains");
	if (domains == NULL) {
		return;
	}
	if (bt_json_int64_at(constraint, "minDomains", 1) <= 0) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "minDomains"), domains,
			"must be greater than zero");
	}
	if (!bt_str_equal_c(bt_kinds_text(constraint, "whenUnsatisfiable"), "DoNotSchedule")) {
		bt_kinds_error(errors, BT_FIELD_INVALID, BT_PATH_NAME(place, "minDomains"), domains,
			"can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
			"%.*s",
			BT_STR_ARG(bt_kinds_text(constraint, "whenUnsatisfiable")));
	}
}

static void check_constraint(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *constraint)
{
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
	if (bt_kinds_text(constraint, "whenUnsatisfiable").length == 0) {
		bt_kinds_error(errors, BT_FIELD_NOT_SUPPORTED,
			BT_PATH_NAME(place, "whenUnsatisfiable"),
			bt_kinds_text_value(errors, BT_STR("")),
			"\"DoNotSchedule\", \"ScheduleAnyway\"");
	} else {
		bt_kinds_check_text_in(errors, place, constraint, "whenUnsatisfiable",
			unsatisfiable_actions, true);
	}
	check_min_domains(errors, place, constraint);
	bt_kinds_check_text_in(
		errors, place, constraint, "nodeAffinityPolicy", node_policies, false);
	bt_kinds_check_text_in(errors, place, constraint, "nodeTaintsPolicy", node_policies, false);
	check_label_keys(errors, place, constraint, "matchLabelKeys");
	bt_kinds_check_label_selector(errors, BT_PATH_NAME(place, "labelSelector"),
		bt_kinds_object(constraint, "labelSelector"));
}

static void check_spread(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *constraints)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < constraints->count; i++) {
		const struct bt_json_value *constraint = constraints->elements[i];
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		struct bt_str pair;
		check_constraint(errors, &at, constraint);
		pair = bt_arena_printf(errors->arena, "{%.*s, %.*s}",
			BT_STR_ARG(bt_kinds_text(constraint, "topologyKey")),
			BT_STR_ARG(bt_kinds_text(constraint, "whenUnsatisfiable")));
		if (!bt_names_add(&seen, pair)) {
			bt_kinds_error_duplicate(errors,
				BT_PATH_NAME(&at, "{topologyKey, whenUnsatisfiable}"),
				bt_kinds_text_value(errors, pair));
		}
	}
}

static void check_toleration(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *toleration)
{
	struct bt_str key = bt_kinds_text(toleration, "key");
	struct bt_str operator_ = bt_kinds_text(toleration, "operator");
	struct bt_str effect = bt_kinds_text(toleration, "effect");
	const struct bt_json_value *operator_value = bt_kinds_text_value(errors, operator_);
	const struct bt_path *operator_place = BT_PATH_NAME(place, "operator");
	bool exists = bt_str_equal_c(operator_, "Exists");
	if (key.length != 0) {
		bt_kinds_check_label_key(errors, BT_PATH_NAME(place, "key"), key);
	} else if (!exists) {
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
	bt_kinds_check_text_in(errors, place, toleration, "effect", bt_kinds_taint_effects, false);
}

void bt_kinds_validate_tolerations(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *tolerations)
{
	for (uint32_t i = 0; i < tolerations->count; i++) {
		check_toleration(errors, BT_PATH_INDEX(place, i), tolerations->elements[i]);
	}
}

static void check_gates(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *gates)
{
	struct bt_names seen = {.arena = errors->arena};
	for (uint32_t i = 0; i < gates->count; i++) {
		struct bt_str name = bt_kinds_text(gates->elements[i], "name");
		const struct bt_path at = *BT_PATH_INDEX(place, i);
		bt_kinds_check_label_key(errors, BT_PATH_NAME(&at, "name"), name);
		if (!bt_names_add(&seen, name)) {
			bt_kinds_error_duplicate(errors, BT_PATH_NAME(&at, "name"),
				bt_kinds_text_value(errors, name));
		}
	}
}

void bt_kinds_validate_scheduling(struct bt_field_errors *errors, const struct bt_path *place,
	const struct bt_json_value *spec)
{
	bt_kinds_check_labels(
		errors, BT_PATH_NAME(place, "nodeSelector"), bt_kinds_object(spec, "nodeSelector"));
	check_affinity(errors, BT_PATH_NAME(place, "affinity"), bt_kinds_object(spec, "affinity"));
	bt_kinds_validate_tolerations(
		errors, BT_PATH_NAME(place, "tolerations"), bt_json_array_at(spec, "tolerations"));
	check_spread(errors, BT_PATH_NAME(place, "topologySpreadConstraints"),
		bt_json_array_at(spec, "topologySpreadConstraints"));
	check_gates(errors, BT_PATH_NAME(place, "schedulingGates"),
		bt_json_array_at(spec, "schedulingGates"));
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* PriorityClass, PodGroup, Workload, PodDisruptionBudget. Spec: 14b sections 2.3, 3.3, 4.4, 5. */

#define PRIORITY_USER_MAX INT64_C(1000000000)
#define TEMPLATES_MAX 8

void bt_rule_priority_class(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *class_)
{
	struct bt_str name = bt_json_text_at(class_, "metadata.name");
	int64_t value = bt_json_int64_at(class_, "value", 0);
	if ((bt_str_equal_c(name, "system-cluster-critical") && value == 2000000000) ||
		(bt_str_equal_c(name, "system-node-critical") && value == 2000001000)) {
		return;
	}
	if (bt_str_has_prefix(name, BT_STR("system-"))) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN,
			BT_PATH_NAME(BT_PATH_NAME(place, "metadata"), "name"), NULL,
			"priority class names with 'system-' prefix are reserved for system use "
			"only");
	}
	if (value > PRIORITY_USER_MAX) {
		bt_kinds_error(check->errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(place, "value"),
			NULL, "maximum allowed value of a user defined priority is 1000000000");
	}
}

static void validate_class_update(const struct bt_write *write, const struct bt_json_value *old,
	const struct bt_json_value *object, struct bt_field_errors *errors)
{
	(void)write;
	if (bt_json_int64_at(old, "value", 0) != bt_json_int64_at(object, "value", 0)) {
		bt_kinds_error(errors, BT_FIELD_FORBIDDEN, BT_PATH_NAME(NULL, "value"), NULL,
			"may not be changed in an update.");
	}
}

const struct bt_strategy bt_strategy_priority_class = {.validate_update = validate_class_update};

void bt_rule_scheduling_policy(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *policy)
{
	bool gang = bt_kinds_object(policy, "gang") != NULL;
	if ((bt_kinds_object(policy, "basic") != NULL) == gang) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place, policy,
			gang ? "must specify exactly one of: `basic`, `gang`"
			     : "must specify one of: `basic`, `gang`");
	}
}

void bt_rule_workload_templates(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_array_at(spec, "podGroupTemplates")->count > TEMPLATES_MAX) {
		bt_kinds_error(check->errors, BT_FIELD_TOO_MANY,
			BT_PATH_NAME(place, "podGroupTemplates"), NULL,
			"must have at most %d items", TEMPLATES_MAX);
	}
}

void bt_rule_disruption_budget(
	struct bt_check *check, const struct bt_path *place, const struct bt_json_value *spec)
{
	if (bt_json_find(spec, "minAvailable") != NULL &&
		bt_json_find(spec, "maxUnavailable") != NULL) {
		bt_kinds_error(check->errors, BT_FIELD_INVALID, place, spec,
			"minAvailable and maxUnavailable cannot be both set");
	}
}

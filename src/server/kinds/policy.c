/* SPDX-License-Identifier: Apache-2.0 */
#include "server/kinds/common.h"

/* PodDisruptionBudgets. Spec: 14b sections 2.2 and 5. */

static void set_zeros(struct bt_arena *arena, struct bt_json_value *status)
{
	static const char *const names[] = {
		"disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods"};
	for (uint32_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bt_kinds_default_int(arena, status, names[i], 0);
	}
}

static void set_defaults(const struct bt_write *write, struct bt_json_value *object)
{
	(void)bt_json_ensure_object(write->arena, object, "spec");
	set_zeros(write->arena, bt_json_ensure_object(write->arena, object, "status"));
}

static void prepare_create(const struct bt_write *write, struct bt_json_value *object)
{
	struct bt_json_value *status = bt_json_new(write->arena, BT_JSON_OBJECT);
	set_zeros(write->arena, status);
	(void)bt_kinds_reset_status(write, object, status);
}

static void validate(const struct bt_write *write, const struct bt_json_value *object,
	struct bt_field_errors *errors)
{
	static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
	const struct bt_json_value *spec = bt_json_object_at(object, "spec");
	const struct bt_path *place = BT_PATH_NAME(NULL, "spec");
	bt_kinds_check_metadata(object, BT_NAME_SUBDOMAIN, errors);
	if (bt_kinds_keeps_spec(write)) {
		return;
	}
	if (bt_json_find(spec, "minAvailable") != NULL &&
		bt_json_find(spec, "maxUnavailable") != NULL) {
		bt_kinds_error(errors, BT_FIELD_INVALID, place, spec,
			"minAvailable and maxUnavailable cannot be both set");
	}
	bt_kinds_check_int_or_percent(errors, place, spec, "minAvailable");
	bt_kinds_check_int_or_percent(errors, place, spec, "maxUnavailable");
	bt_kinds_check_label_selector(
		errors, BT_PATH_NAME(place, "selector"), bt_kinds_object(spec, "selector"));
	bt_kinds_check_text_in(errors, place, spec, "unhealthyPodEvictionPolicy", policies, false);
}

const struct bt_strategy bt_strategy_pod_disruption_budget = {
	.set_defaults = set_defaults,
	.prepare_create = prepare_create,
	.validate = validate,
};

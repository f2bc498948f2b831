/* SPDX-License-Identifier: Apache-2.0 */
#include "api/policy.h"

#include "api/field_rows.h"

static const struct bt_field spec_rows[] = {
	BT_ROW_SCALAR_NULLABLE(bt_pod_disruption_budget_spec, min_available, "minAvailable", 1,
		struct bt_int_or_string, bt_int_or_string_scalar),
	BT_ROW_MSG_NULLABLE(bt_pod_disruption_budget_spec, selector, "selector", 2,
		bt_label_selector, bt_label_selector_message),
	BT_ROW_SCALAR_NULLABLE(bt_pod_disruption_budget_spec, max_unavailable, "maxUnavailable", 3,
		struct bt_int_or_string, bt_int_or_string_scalar),
	BT_ROW_STR_NULLABLE(bt_pod_disruption_budget_spec, unhealthy_pod_eviction_policy,
		"unhealthyPodEvictionPolicy", 4),
};
static const struct bt_message spec_message =
	BT_MESSAGE(bt_pod_disruption_budget_spec, "PodDisruptionBudgetSpec", spec_rows);

static const struct bt_field status_rows[] = {
	BT_ROW_TIME_MAP(bt_pod_disruption_budget_status, disrupted_pods, "disruptedPods", 2,
		bt_disrupted_pod),
	BT_ROW_I32_ALWAYS(
		bt_pod_disruption_budget_status, disruptions_allowed, "disruptionsAllowed", 3),
	BT_ROW_I32_ALWAYS(bt_pod_disruption_budget_status, current_healthy, "currentHealthy", 4),
	BT_ROW_I32_ALWAYS(bt_pod_disruption_budget_status, desired_healthy, "desiredHealthy", 5),
	BT_ROW_I32_ALWAYS(bt_pod_disruption_budget_status, expected_pods, "expectedPods", 6),
};
static const struct bt_message status_message =
	BT_MESSAGE(bt_pod_disruption_budget_status, "PodDisruptionBudgetStatus", status_rows);

static const struct bt_field rows[] = {
	BT_ROW_MSG(bt_pod_disruption_budget, metadata, "metadata", 1, bt_object_meta,
		bt_object_meta_message),
	BT_ROW_MSG(bt_pod_disruption_budget, spec, "spec", 2, bt_pod_disruption_budget_spec,
		spec_message),
	BT_ROW_MSG(bt_pod_disruption_budget, status, "status", 3, bt_pod_disruption_budget_status,
		status_message),
};
const struct bt_message bt_pod_disruption_budget_message =
	BT_MESSAGE(bt_pod_disruption_budget, "PodDisruptionBudget", rows);

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_POLICY_H
#define BT_API_POLICY_H
/** PodDisruptionBudget. Spec: 01 section 4.8. */
#include "api/int_or_string.h"
#include "api/meta.h"

struct bt_disrupted_pod {
	struct bt_str key; /* pod name */
	struct bt_time value;
};

struct bt_pod_disruption_budget_spec {
	const struct bt_int_or_string *min_available;
	const struct bt_label_selector *selector; /* NULL or empty: matches no pod */
	const struct bt_int_or_string *max_unavailable;
	struct bt_str unhealthy_pod_eviction_policy; /* nullable: IfHealthyBudget */
};

struct bt_pod_disruption_budget_status {
	BT_LIST(struct bt_disrupted_pod) disrupted_pods;
	int32_t disruptions_allowed;
	int32_t current_healthy;
	int32_t desired_healthy;
	int32_t expected_pods;
};

struct bt_pod_disruption_budget {
	struct bt_object_meta metadata;
	struct bt_pod_disruption_budget_spec spec;
	struct bt_pod_disruption_budget_status status;
};

extern const struct bt_message bt_pod_disruption_budget_message;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_QUOTA_H
#define BT_SERVER_QUOTA_H
/** Usage of a namespace's ResourceQuotas, as admission counts it. Spec: 14b section 4.11. */
#include "server/api.h"

/**
 * Used amounts by the names in the quota's spec.hard; "0" if no object in its scopes uses that
 * resource.
 */
BT_MUST_USE struct bt_json_value *bt_quota_used(struct bt_api *api, struct bt_str namespace_,
	const struct bt_json_value *quota, struct bt_arena *arena);
/**
 * Counts a pod that is not stored, in its form after admission, in the namespace's quotas, which
 * must not change any more. checks: returns false, with out_failure, if the pod exceeds a quota.
 */
BT_MUST_USE bool bt_quota_take(struct bt_api *api, const struct bt_json_value *pod, bool checks,
	struct bt_arena *arena, struct bt_failure *out_failure);
#endif

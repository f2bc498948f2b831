/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_QUOTA_H
#define BT_SERVER_QUOTA_H
/** Usage of a namespace's ResourceQuotas, as admission counts it. Spec: 14b section 4.11. */
#include "server/api.h"

/**
 * Returns the used amount of each resource in the quota's spec.hard. The amount is "0" if no object
 * in the quota's scopes uses the resource.
 */
BT_MUST_USE struct bt_json_value *bt_quota_used(struct bt_api *api, struct bt_str namespace_,
	const struct bt_json_value *quota, struct bt_arena *arena);
/**
 * Counts a pod that is not in the store: adds its requests to the used amounts of its namespace's
 * ResourceQuotas. `pod` is the pod as admission leaves it. After the first call no quota may
 * change, because a changed quota would count only stored pods. `checks` true: if the pod exceeds a
 * quota, adds nothing, sets *out_failure (texts in the arena) and returns false.
 */
BT_MUST_USE bool bt_quota_take(struct bt_api *api, const struct bt_json_value *pod, bool checks,
	struct bt_arena *arena, struct bt_failure *out_failure);
#endif

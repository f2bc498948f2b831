/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_QUOTA_H
#define BT_SERVER_QUOTA_H
/** What a namespace takes of its quotas, as admission counts it. Spec: 14b section 4.11. */
#include "server/api.h"

/** Whether objects of this resource can count against any of the amounts in spec.hard. */
bool bt_quota_concerns(const struct bt_api_resource *resource, const struct bt_json_value *hard);
/** Amounts by the names in the quota's spec.hard, "0" for what nothing in its scopes takes. */
BT_MUST_USE struct bt_json_value *bt_quota_used(struct bt_api *api, struct bt_str namespace_,
	const struct bt_json_value *quota, struct bt_arena *arena);
/**
 * Count a pod that is not stored, as it is after admission, in quotas that do not change any more.
 * checks: returns false, with out_failure, if it exceeds one.
 */
BT_MUST_USE bool bt_quota_take(struct bt_api *api, const struct bt_json_value *pod, bool checks,
	struct bt_arena *arena, struct bt_failure *out_failure);
#endif

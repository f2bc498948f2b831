/* SPDX-License-Identifier: Apache-2.0 */
#include "cluster/disruption_target.h"

#include "cluster/tree.h"

bool bt_disrupt_pod(struct bt_hub *hub, struct bt_str key, const char *reason,
	struct bt_str message, int64_t grace_seconds, struct bt_arena *arena, int64_t now_ns)
{
	const struct bt_api_resource *pods =
		bt_resources_builtin(bt_api_resources(bt_hub_api(hub)), "", "pods");
	const struct bt_json_value *pod = bt_api_read(bt_hub_api(hub), pods, key, arena);
	struct bt_tree_condition condition = {"DisruptionTarget", "True", reason, message};
	struct bt_json_value *conditions;
	struct bt_json_value *status;
	struct bt_str phase = bt_json_text_at(pod, "status.phase");
	uint16_t code;

	if (pod == NULL || (bt_tree_is_deleting(pod) && grace_seconds != 0)) {
		return true;
	}
	conditions = bt_json_clone(arena, bt_json_array_at(pod, "status.conditions"), false);
	if (!bt_str_equal_c(phase, "Succeeded") && !bt_str_equal_c(phase, "Failed") &&
		bt_tree_set_condition(arena, conditions, &condition, false, now_ns)) {
		status = bt_json_new(arena, BT_JSON_OBJECT);
		bt_json_set_value(arena, status, "conditions", conditions);
		if (grace_seconds == 0) {
			/* Nobody else will say so, and who keeps it by a finalizer waits for it. */
			bt_json_set_c(arena, status, "phase", "Failed");
		}
		if (!bt_tree_write_status(hub, pods, pod, status, arena)) {
			return false;
		}
	}
	code = bt_hub_delete(
		hub, pods, key, grace_seconds, bt_json_text_at(pod, "metadata.uid"), arena);
	return code == 200 || code == 404 || code == 409;
}

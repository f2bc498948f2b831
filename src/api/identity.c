/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"

#include <string.h>

#include "base/assert.h"

bool bt_pod_is_assigned(const struct bt_pod *pod)
{
	return pod->spec.node_name.length != 0;
}

bool bt_pod_is_terminating(const struct bt_pod *pod)
{
	return pod->metadata.deletion_timestamp != NULL;
}

bool bt_pod_is_mirror(const struct bt_pod *pod)
{
	return bt_str_map_find(&pod->metadata.annotations, BT_STR("kubernetes.io/config.mirror")) !=
		NULL;
}

bool bt_pod_is_terminating_by_preemption(const struct bt_pod *pod)
{
	const struct bt_pod_condition *condition = bt_pod_is_terminating(pod)
		? bt_pod_find_condition(pod, BT_STR("DisruptionTarget"))
		: NULL;

	return condition != NULL && bt_str_equal_c(condition->status, "True") &&
		bt_str_equal_c(condition->reason, "PreemptionByScheduler");
}

bt_pod_condition_list bt_pod_conditions_set(const struct bt_pod_status *status,
	const struct bt_pod_condition *condition, const struct bt_time *now, struct bt_arena *arena,
	bool *out_changed)
{
	bt_pod_condition_list result = {NULL, status->conditions.count, true};

	BT_ASSERT(status->conditions.count < UINT32_MAX);
	result.items = bt_arena_copy_array(arena, status->conditions.items,
		status->conditions.count, 1, sizeof(result.items[0]));
	uint32_t at = BT_STR_INDEX(result.items, status->conditions.count, type, condition->type);

	if (at == status->conditions.count) {
		result.count++;
		result.items[at] = *condition;
		result.items[at].last_transition_time = *now;
		*out_changed = true;
		return result;
	}
	result.items[at] = *condition;
	result.items[at].last_transition_time =
		bt_str_equal(status->conditions.items[at].status, condition->status)
		? status->conditions.items[at].last_transition_time
		: *now;
	const struct bt_pod_condition *a = &status->conditions.items[at];
	const struct bt_pod_condition *b = &result.items[at];
	/* do not compare observedGeneration: upstream does not treat its change as a change */
	*out_changed = !bt_str_equal(a->status, b->status) || !bt_str_equal(a->reason, b->reason) ||
		!bt_str_equal(a->message, b->message) ||
		bt_time_compare(&a->last_probe_time, &b->last_probe_time) != 0 ||
		bt_time_compare(&a->last_transition_time, &b->last_transition_time) != 0;
	return result;
}

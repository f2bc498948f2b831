/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups that an event sends to the active queue as a whole. Thousands of pods of one shape may
 * wake up at once, and all but a few are popped much later, so the event moves their group and
 * touches none of them. The group's oldest pod stands for it in a heap of its own; a pod becomes
 * one of the active heap when its turn comes or when somebody asks for it by name. Outside the
 * queue all of them are active pods from the event on. Spec: 04 sections 4, 7 and 8.7.
 */
#include "queue/backoff.h"
#include "queue/queue_private.h"

static const struct bt_shape *shape_of(
	const struct bt_queue *queue, const struct bt_queue_group *group)
{
	return bt_shape_at(&queue->state->shapes, group->shape_id);
}

bool bt_queue_may_go_whole(const struct bt_queue *queue, const struct bt_queue_group *group,
	enum bt_queue_strategy strategy, int64_t now_ns)
{
	const struct bt_queue_class *class = &queue->classes.items[group->class_id];

	if (group->count < queue->options.whole_group_min || !group->is_ordered ||
		!bt_shortcuts(queue->sort)->less_is_priority_then_time ||
		class->profile == BT_QUEUE_NONE || class->gating_plugin != BT_QUEUE_NONE) {
		return false;
	}
	if (strategy == BT_STRATEGY_AFTER_BACKOFF &&
		bt_is_backing_off(group->latest_expiration_ns, now_ns, queue->pops_backoff)) {
		return false;
	}
	/* PreEnqueue would let every one of them pass. */
	uint32_t profile = class->profile;
	const struct bt_shape *shape = shape_of(queue, group);
	const struct bt_framework *framework = queue->profiles->frameworks.items[profile];
	const struct bt_framework_point *point = &framework->points[BT_POINT_PRE_ENQUEUE];

	for (uint32_t i = 0; i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;

		if (bt_shortcuts(plugin)->pre_enqueue_passes == NULL ||
			!bt_shortcuts(plugin)->pre_enqueue_passes(plugin, shape)) {
			return false;
		}
	}
	return true;
}

void bt_queue_go_whole(struct bt_queue *queue, uint32_t group_id, uint32_t event, int64_t now_ns)
{
	struct bt_queue_group *group = &queue->groups.items[group_id];

	bt_queue_detach_group(queue, group_id);
	group->is_ready = true;
	group->ready_since_ns = now_ns;
	queue->unschedulable_count -= group->count;
	queue->ready_count += group->count;
	queue->events.items[event].incoming[BT_QUEUE_ACTIVE] += group->count;
	bt_heap_push(&queue->ready, group_id,
		-(int64_t)bt_pod_priority(shape_of(queue, group)->pod),
		bt_queue_entry_at(queue, group->last)->timestamp_ns);
}

void bt_queue_ready_lost(struct bt_queue *queue, uint32_t group_id)
{
	const struct bt_queue_group *group = &queue->groups.items[group_id];

	queue->ready_count--;
	if (group->count == 0) {
		bt_heap_remove(&queue->ready, group_id);
		return;
	}
	bt_heap_update(&queue->ready, group_id,
		-(int64_t)bt_pod_priority(shape_of(queue, group)->pod),
		bt_queue_entry_at(queue, group->last)->timestamp_ns);
}

void bt_queue_enter_ready(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	int64_t since_ns = queue->groups.items[entry->group].ready_since_ns;

	bt_queue_unlink(queue, entry);
	if (entry->initial_attempt_ns == BT_QUEUE_TIME_UNSET) {
		entry->initial_attempt_ns = since_ns;
	}
	entry->place = BT_QUEUE_ACTIVE;
	bt_heap_push(&queue->active_queue, entry->id, -(int64_t)entry->pod.priority,
		entry->timestamp_ns);
	bt_run_pre_enqueue_known(queue->profiles->frameworks.items[entry->profile]);
}

void bt_queue_call_ready(struct bt_queue *queue)
{
	const struct bt_heap_slot *ready = queue->ready.slots.items;
	const struct bt_heap_slot *active = queue->active_queue.slots.items;

	if (queue->ready.slots.count == 0) {
		return;
	}
	if (queue->active_queue.slots.count == 0 || ready->major < active->major ||
		(ready->major == active->major && ready->minor < active->minor)) {
		(void)bt_queue_wake(queue, queue->groups.items[ready->item].last);
	}
}

void bt_queue_call_all_ready(struct bt_queue *queue)
{
	while (queue->ready.slots.count > 0) {
		(void)bt_queue_wake(queue, queue->groups.items[bt_heap_top(&queue->ready)].last);
	}
}

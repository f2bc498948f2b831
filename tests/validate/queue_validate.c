/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/queue_private.h"
#include "validate/validate.h"

static const char *check_entry(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	const struct bt_heap *const heaps[BT_QUEUE__PLACES] = {
		[BT_QUEUE_ACTIVE] = &queue->active_queue,
		[BT_QUEUE_BACKOFF] = &queue->backoff_queue,
		[BT_QUEUE_ERROR_BACKOFF] = &queue->error_backoff_queue,
	};
	const struct bt_heap *heap;

	if (entry->place == BT_QUEUE_OUT) {
		return NULL;
	}
	heap = heaps[entry->place];
	if (bt_queue_lookup(queue, entry->pod.namespace_, entry->pod.name) != entry) {
		return "a queued pod is not found by its name";
	}
	for (int place = 0; place < BT_QUEUE__PLACES; place++) {
		if (heaps[place] != NULL &&
			bt_heap_has(heaps[place], entry->id) != (heaps[place] == heap)) {
			return "a pod is in the wrong heap";
		}
	}
	if (heap == NULL) {
		const struct bt_queue_group *group = &queue->groups.items[entry->group];
		const struct bt_queue_class *class = &queue->classes.items[group->class_id];

		if (group->shape_id != entry->pod.shape->id ||
			!bt_str_equal(bt_symbol_text(&queue->state->symbols, group->namespace_),
				entry->pod.namespace_) ||
			class->profile != entry->profile ||
			class->gating_plugin != entry->gating_plugin ||
			!bt_rejectors_equal(
				&class->unschedulable_plugins, &entry->unschedulable_plugins) ||
			!bt_rejectors_equal(&class->pending_plugins, &entry->pending_plugins)) {
			return "an unschedulable pod is in a group that does not fit it";
		}
		if (entry->sequence + group->shift < group->least_sequence ||
			entry->sequence + group->shift >= queue->next_sequence) {
			return "the order of arrival of an unschedulable pod is out of range";
		}
	} else if (bt_queue_entry_is_gated(entry) &&
		(queue->pops_backoff || entry->place == BT_QUEUE_ACTIVE)) {
		/* With pops_backoff off, a pod goes to a backoff queue without PreEnqueue. */
		return "a gated pod is not among the unschedulable";
	}
	return NULL;
}

/**
 * Check the groups whose members are all active: their number, their heap, and the order of their
 * pods.
 */
static const char *check_ready(const struct bt_queue *queue)
{
	uint32_t pods = 0;
	uint32_t groups = 0;

	for (uint32_t g = 0; g < queue->groups.count; g++) {
		const struct bt_queue_group *group = &queue->groups.items[g];
		uint32_t members = 0;
		int64_t newer_ns = INT64_MAX;

		if (group->count == 0 || !group->is_ready) {
			continue;
		}
		for (uint32_t id = group->first; id != BT_QUEUE_NONE;
			id = bt_queue_entry_at(queue, id)->next_in_group) {
			if (bt_queue_entry_at(queue, id)->timestamp_ns > newer_ns) {
				return "pods that are active as a whole are not in order";
			}
			newer_ns = bt_queue_entry_at(queue, id)->timestamp_ns;
			members++;
		}
		if (members != group->count || !bt_heap_has(&queue->ready, g) ||
			queue->ready.slots.items[queue->ready.positions.items[g]].minor !=
				newer_ns) {
			return "a group that is active as a whole is in the wrong place";
		}
		pods += members;
		groups++;
	}
	return pods != queue->ready_count || groups != queue->ready.slots.count
		? "pods that are active as a whole are counted wrong"
		: NULL;
}

bool bt_queue_validate(struct bt_queue *queue, const char **out_reason)
{
	uint32_t queued = 0;
	uint32_t unschedulable = 0;
	uint32_t gated = 0;

	*out_reason = check_ready(queue);
	if (*out_reason != NULL) {
		return false;
	}
	for (uint32_t id = 0; id < queue->entries.count; id++) {
		const struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);

		if (entry == NULL) {
			continue;
		}
		if (entry->group != BT_QUEUE_NONE && queue->groups.items[entry->group].is_ready) {
			queued++; /* unparking the pod would split the group of parked pods */
			continue;
		}
		bt_queue_park_all(queue, NULL);
		entry = bt_queue_unpark(queue, id);
		*out_reason = check_entry(queue, entry);
		if (*out_reason != NULL) {
			return false;
		}
		queued += entry->place != BT_QUEUE_OUT;
		unschedulable += entry->place == BT_QUEUE_UNSCHEDULABLE;
		gated += entry->place == BT_QUEUE_UNSCHEDULABLE && bt_queue_entry_is_gated(entry);
	}
	if (queued != queue->by_name.count ||
		queued !=
			unschedulable + queue->active_queue.slots.count + queue->ready_count +
				queue->backoff_queue.slots.count +
				queue->error_backoff_queue.slots.count) {
		*out_reason = "pods and places do not add up";
		return false;
	}
	if (unschedulable != queue->unschedulable_count || gated != queue->gated_count) {
		*out_reason = "unschedulable pods are counted wrong";
		return false;
	}
	if (queue->in_flight.map.count == 0 && bt_fifo_count(&queue->log) != 0) {
		*out_reason = "events are kept for nobody";
		return false;
	}
	return true;
}

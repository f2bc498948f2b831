/* SPDX-License-Identifier: Apache-2.0 */
/* Looking at the queue from outside. Spec: 04 sections 8.15 and 14. */
#include "queue/backoff.h"
#include "queue/queue_private.h"

static const struct bt_heap *heap_of(const struct bt_queue *queue, enum bt_queue_place place)
{
	switch (place) {
	case BT_QUEUE_ACTIVE:
		return &queue->active_queue;
	case BT_QUEUE_BACKOFF:
		return &queue->backoff_queue;
	case BT_QUEUE_ERROR_BACKOFF:
		return &queue->error_backoff_queue;
	case BT_QUEUE_UNSCHEDULABLE:
	case BT_QUEUE_OUT:
		break;
	}
	return NULL;
}

uint64_t bt_queue_scheduling_cycle(const struct bt_queue *queue)
{
	return queue->scheduling_cycle;
}

uint32_t bt_queue_count(const struct bt_queue *queue, enum bt_queue_place place)
{
	const struct bt_heap *heap = heap_of(queue, place);

	BT_ASSERT(place < BT_QUEUE__PLACES);
	if (heap == NULL) {
		return queue->unschedulable_count;
	}
	return heap->slots.count + (place == BT_QUEUE_ACTIVE ? queue->ready_count : 0);
}

const struct bt_queue_entry *bt_queue_find(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name)
{
	return bt_queue_lookup(queue, namespace_, name);
}

void bt_queue_for_each(struct bt_queue *queue, enum bt_queue_place place,
	bool (*visit)(void *context, const struct bt_queue_entry *entry), void *context)
{
	const struct bt_heap *heap = heap_of(queue, place);

	BT_ASSERT(place < BT_QUEUE__PLACES);
	if (place == BT_QUEUE_ACTIVE) {
		bt_queue_call_all_ready(queue);
	}
	if (heap != NULL) {
		for (uint32_t i = 0; i < heap->slots.count; i++) {
			if (!visit(context, bt_queue_entry_at(queue, heap->slots.items[i].item))) {
				return;
			}
		}
		return;
	}
	for (uint32_t g = 0; g < queue->groups.count; g++) {
		if (queue->groups.items[g].count == 0 || queue->groups.items[g].is_ready) {
			continue;
		}
		for (uint32_t id = queue->groups.items[g].first; id != BT_QUEUE_NONE;
			id = bt_queue_entry_at(queue, id)->next_in_group) {
			struct bt_queue_departure found = {bt_queue_entry_at(queue, id)->sequence,
				id, BT_STRATEGY_SKIP, false};

			bt_vec_push(&queue->departures, found);
		}
	}
	bt_queue_sort_departures(queue);
	for (uint32_t i = 0; i < queue->departures.count; i++) {
		if (!visit(context, bt_queue_wake(queue, queue->departures.items[i].entry))) {
			break;
		}
	}
	queue->departures.count = 0;
}

bool bt_queue_backoff_until(
	const struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t *out_ns)
{
	/* The cached value lies in the entry, which is the queue's to write. */
	int64_t until = bt_queue_expiration_ns(queue, bt_queue_entry_at(queue, entry->id));

	if (until == BT_BACKOFF_NEVER) {
		return false;
	}
	*out_ns = until;
	return true;
}

void bt_queue_summary(const struct bt_queue *queue, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "activeQ:%u; backoffQ:%u; unschedulablePods:%u",
		bt_queue_pending(queue, BT_QUEUE_GAUGE_ACTIVE),
		bt_queue_pending(queue, BT_QUEUE_GAUGE_BACKOFF), queue->unschedulable_count);
}

uint32_t bt_queue_pending(const struct bt_queue *queue, enum bt_queue_gauge gauge)
{
	switch (gauge) {
	case BT_QUEUE_GAUGE_ACTIVE:
		return queue->active_queue.slots.count + queue->ready_count;
	case BT_QUEUE_GAUGE_BACKOFF:
		return queue->backoff_queue.slots.count + queue->error_backoff_queue.slots.count;
	case BT_QUEUE_GAUGE_UNSCHEDULABLE:
		return queue->unschedulable_count - queue->gated_count;
	case BT_QUEUE_GAUGE_GATED:
		return queue->gated_count;
	case BT_QUEUE_GAUGE__COUNT:
		break;
	}
	BT_ASSERT(false);
	return 0;
}

int64_t bt_queue_unschedulable_pods(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector)
{
	BT_ASSERT(profile < queue->profiles->frameworks.count && rejector < BT_REJECTOR__COUNT);
	return queue->unschedulable_gauge[profile * BT_REJECTOR__COUNT + rejector];
}

static const char *check_entry(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	const struct bt_heap *heap;

	if (entry->place == BT_QUEUE_OUT) {
		return NULL;
	}
	heap = heap_of(queue, entry->place);
	if (bt_queue_lookup(queue, entry->pod.namespace_, entry->pod.name) != entry) {
		return "a queued pod is not found by its name";
	}
	for (int place = 0; place < BT_QUEUE__PLACES; place++) {
		const struct bt_heap *other = heap_of(queue, (enum bt_queue_place)place);

		if (other != NULL && bt_heap_has(other, entry->id) != (other == heap)) {
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
	} else if (bt_queue_entry_is_gated(entry) &&
		(queue->pops_backoff || entry->place == BT_QUEUE_ACTIVE)) {
		/* Without the gate nobody is asked in front of the backoff queues. */
		return "a gated pod is not among the unschedulable";
	}
	return NULL;
}

/** Groups that are active as a whole: counted, in their heap and in the order of their pods. */
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
			queued++; /* waking it would break up its group */
			continue;
		}
		bt_queue_settle(queue);
		entry = bt_queue_wake(queue, id);
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
	if (queue->in_flight_count == 0 && queue->log.count != 0) {
		*out_reason = "events are kept for nobody";
		return false;
	}
	return true;
}

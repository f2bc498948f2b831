/* SPDX-License-Identifier: Apache-2.0 */
/* Queries on the queue. Spec: 04 sections 8.15 and 14. */
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
	while (place == BT_QUEUE_ACTIVE && queue->ready.slots.count > 0) {
		(void)bt_queue_unpark(queue, queue->groups.items[bt_heap_top(&queue->ready)].last);
	}
	if (heap != NULL) {
		for (uint32_t i = 0; i < heap->slots.count; i++) {
			if (!visit(context, bt_queue_unpark(queue, heap->slots.items[i].item))) {
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
			bt_queue_add_departure(
				queue, bt_queue_entry_at(queue, id), BT_STRATEGY_SKIP, false);
		}
	}
	bt_queue_sort_departures(queue);
	for (uint32_t i = 0; i < queue->departures.count; i++) {
		if (!visit(context, bt_queue_unpark(queue, queue->departures.items[i].entry))) {
			break;
		}
	}
	queue->departures.count = 0;
}

bool bt_queue_backoff_until(
	const struct bt_queue *queue, const struct bt_queue_entry *entry, int64_t *out_ns)
{
	/*
	 * bt_queue_expiration_ns caches the result in the entry, so pass the queue's writable
	 * pointer.
	 */
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

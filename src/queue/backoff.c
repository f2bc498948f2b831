/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/backoff.h"

#include "base/compiler.h"
#include "base/nanoseconds.h"
#include "queue/queue_private.h"

int64_t bt_backoff_duration_ns(int64_t initial_ns, int64_t max_ns, int64_t count)
{
	int64_t shift = count - 1;

	if (count <= 0 || initial_ns <= 0) {
		return 0;
	}
	/*
	 * C does not define a shift by the type's width or more: handle it as if max_ns >> shift
	 * were 0.
	 */
	if (shift >= 63 || initial_ns > max_ns >> shift) {
		return max_ns;
	}
	return initial_ns << shift;
}

int64_t bt_floor_to_second_ns(int64_t time_ns)
{
	int64_t rest = time_ns % BT_NS_PER_SECOND;
	int64_t floor;

	if (rest < 0) {
		rest += BT_NS_PER_SECOND;
	}
	return BT_SUB_OVERFLOW(time_ns, rest, &floor) ? INT64_MIN : floor;
}

int64_t bt_backoff_expiration_ns(
	int64_t timestamp_ns, int64_t initial_ns, int64_t max_ns, int64_t count, bool windows)
{
	int64_t end;

	if (max_ns == 0 || count == 0) {
		return BT_BACKOFF_NEVER;
	}
	if (BT_ADD_OVERFLOW(
		    timestamp_ns, bt_backoff_duration_ns(initial_ns, max_ns, count), &end)) {
		end = INT64_MAX;
	}
	return windows ? bt_floor_to_second_ns(end) : end;
}

bool bt_is_backing_off(int64_t expiration_ns, int64_t now_ns, bool windows)
{
	return expiration_ns >= (windows ? bt_floor_to_second_ns(now_ns) : now_ns) &&
		expiration_ns != BT_BACKOFF_NEVER;
}

/** --- flushes: spec 04 sections 5.5 and 8.9 --- */

#define BACKOFF_INTERVAL_NS BT_NS_PER_SECOND
#define LEFTOVER_INTERVAL_NS (30 * BT_NS_PER_SECOND)

static int64_t add_time(int64_t time_ns, int64_t by_ns)
{
	int64_t sum;

	return BT_ADD_OVERFLOW(time_ns, by_ns, &sum) ? INT64_MAX : sum;
}

void bt_queue_start(struct bt_queue *queue, int64_t now_ns)
{
	int64_t first = add_time(now_ns, BACKOFF_INTERVAL_NS);

	queue->next_backoff_flush_ns = queue->pops_backoff ? bt_floor_to_second_ns(first) : first;
	queue->next_leftover_flush_ns = now_ns;
}

static void collect_complete(struct bt_queue *queue, struct bt_heap *heap, int64_t now_ns)
{
	while (heap->slots.count > 0) {
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, bt_heap_top(heap));

		if (bt_is_backing_off(
			    bt_queue_expiration_ns(queue, entry), now_ns, queue->pops_backoff)) {
			return;
		}
		bt_queue_take_out(queue, entry);
		bt_vec_push(&queue->flushed, entry->id);
	}
}

void bt_queue_flush_backoff_completed(struct bt_queue *queue, int64_t now_ns)
{
	collect_complete(queue, &queue->backoff_queue, now_ns);
	collect_complete(queue, &queue->error_backoff_queue, now_ns);
	for (uint32_t i = 0; i < queue->flushed.count; i++) {
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, queue->flushed.items[i]);

		(void)bt_queue_move_to_active_queue(
			queue, entry, BT_EVENT_BACKOFF_COMPLETE, true, now_ns);
	}
	queue->flushed.count = 0;
}

void bt_queue_flush_unschedulable_leftover(struct bt_queue *queue, int64_t now_ns)
{
	bool any = false;

	for (uint32_t g = 0; g < queue->groups.count; g++) {
		if (queue->groups.items[g].count == 0 || queue->groups.items[g].is_ready) {
			continue;
		}
		for (uint32_t id = queue->groups.items[g].first; id != BT_QUEUE_NONE;
			id = bt_queue_entry_at(queue, id)->next_in_group) {
			struct bt_queue_entry *entry = bt_queue_entry_at(queue, id);
			int64_t waited_ns;

			if (!BT_SUB_OVERFLOW(now_ns, entry->timestamp_ns, &waited_ns) &&
				waited_ns <= queue->options.max_in_unschedulable_ns) {
				continue;
			}
			any = true;
			entry->flushed = true;
			/*
			 * Gated pods stay, because no gating plugin registers for the wildcard
			 * event (spec 04 section 8.7). Exception: a gate that may open without an
			 * event. For example, if the attempt of a pod fails with an error while its
			 * preemption runs, the pod's only rejector is the gating plugin, so no
			 * event would ever requeue the pod.
			 */
			if (!bt_queue_entry_is_gated(entry) ||
				bt_shortcuts(queue->profiles->frameworks.items[entry->profile]
						     ->instances.items[entry->gating_plugin])
					->gate_opens_silently) {
				bt_queue_add_departure(
					queue, entry, BT_STRATEGY_AFTER_BACKOFF, false);
			}
		}
	}
	if (!any) {
		return;
	}
	bt_queue_requeue_departures(queue, BT_EVENT_UNSCHEDULABLE_TIMEOUT, now_ns);
	if (queue->in_flight.map.count > 0) {
		bt_queue_log_event(queue, BT_EVENT_UNSCHEDULABLE_TIMEOUT, NULL, NULL);
	}
}

void bt_queue_tick(struct bt_queue *queue, int64_t now_ns)
{
	bt_queue_park_all(queue, NULL);
	if (now_ns >= queue->next_backoff_flush_ns) {
		/*
		 * One flush replaces all flushes that were missed, as a Go ticker drops missed
		 * ticks.
		 */
		int64_t missed =
			(int64_t)(((uint64_t)now_ns - (uint64_t)queue->next_backoff_flush_ns) /
				(uint64_t)BACKOFF_INTERVAL_NS);

		bt_queue_flush_backoff_completed(queue, now_ns);
		queue->next_backoff_flush_ns =
			add_time(queue->next_backoff_flush_ns, (missed + 1) * BACKOFF_INTERVAL_NS);
	}
	if (now_ns >= queue->next_leftover_flush_ns) {
		bt_queue_flush_unschedulable_leftover(queue, now_ns);
		queue->next_leftover_flush_ns = add_time(now_ns, LEFTOVER_INTERVAL_NS);
	}
}

/** Time of the first flush that can release the top of the heap; INT64_MAX if the heap is empty. */
static int64_t release_ns(const struct bt_queue *queue, const struct bt_heap *heap)
{
	if (heap->slots.count == 0) {
		return INT64_MAX;
	}
	int64_t expiration_ns = heap->slots.items[0].major;
	int64_t from_ns = add_time(expiration_ns, queue->pops_backoff ? BT_NS_PER_SECOND : 1);
	int64_t next_ns = queue->next_backoff_flush_ns;

	if (from_ns <= next_ns) {
		return next_ns;
	}
	from_ns = add_time(from_ns, BACKOFF_INTERVAL_NS - 1);
	return add_time(next_ns, (from_ns - next_ns) / BACKOFF_INTERVAL_NS * BACKOFF_INTERVAL_NS);
}

int64_t bt_queue_next_tick_ns(const struct bt_queue *queue)
{
	int64_t backoff_ns = release_ns(queue, &queue->backoff_queue);
	int64_t error_backoff_ns = release_ns(queue, &queue->error_backoff_queue);
	int64_t next_ns = queue->next_leftover_flush_ns;

	next_ns = backoff_ns < next_ns ? backoff_ns : next_ns;
	return error_backoff_ns < next_ns ? error_backoff_ns : next_ns;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pods in flight and the events that happened meanwhile. Upstream's one list of markers and events
 * is here a log of events, of which each pod remembers its beginning. Spec: 04 section 9.
 */
#include "queue/queue_private.h"

#define LOG_COMPACT_MIN 64

static uint64_t hash_of_in_flight(const void *owner, uint32_t id)
{
	const struct bt_queue *queue = owner;

	return bt_str_hash(queue->in_flight.items[id].pod->meta->uid);
}

void bt_queue_in_flight_init(struct bt_queue *queue)
{
	bt_map_init(&queue->in_flight_map, hash_of_in_flight, queue);
	queue->first_in_flight = BT_QUEUE_NONE;
	queue->last_in_flight = BT_QUEUE_NONE;
}

static uint32_t find(const struct bt_queue *queue, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	for (uint32_t it = bt_map_first(&queue->in_flight_map, hash); it != BT_MAP_NONE;
		it = bt_map_next(&queue->in_flight_map, hash, it)) {
		uint32_t id = bt_map_value(&queue->in_flight_map, it);

		if (bt_str_equal(queue->in_flight.items[id].pod->meta->uid, uid)) {
			return id;
		}
	}
	return BT_QUEUE_NONE;
}

bool bt_queue_is_in_flight(const struct bt_queue *queue, struct bt_str uid)
{
	return queue->in_flight_count > 0 && find(queue, uid) != BT_QUEUE_NONE;
}

static uint64_t log_end(const struct bt_queue *queue)
{
	return queue->log_head_position + (queue->log.count - queue->log_head);
}

bool bt_queue_take_off(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct bt_queue_in_flight marker = {
		.pod = entry->object,
		.log_position = log_end(queue),
		.previous = queue->last_in_flight,
		.next = BT_QUEUE_NONE,
	};
	uint32_t id;

	entry->attempts++;
	if (bt_queue_is_in_flight(queue, entry->pod.uid)) {
		return false;
	}
	marker.pod = bt_object_share(marker.pod);
	if (queue->free_in_flight.count > 0) {
		id = queue->free_in_flight.items[--queue->free_in_flight.count];
		queue->in_flight.items[id] = marker;
	} else {
		id = queue->in_flight.count;
		bt_vec_push(&queue->in_flight, marker);
	}
	if (queue->last_in_flight != BT_QUEUE_NONE) {
		queue->in_flight.items[queue->last_in_flight].next = id;
	} else {
		queue->first_in_flight = id;
	}
	queue->last_in_flight = id;
	bt_map_insert(&queue->in_flight_map, hash_of_in_flight(queue, id), id);
	queue->in_flight_count++;
	queue->scheduling_cycle++;
	bt_queue_count_rejectors(queue, entry, -1);
	return true;
}

/** Entries that everybody in flight has behind them. */
static void trim_log(struct bt_queue *queue)
{
	uint64_t needed = queue->first_in_flight == BT_QUEUE_NONE
		? log_end(queue)
		: queue->in_flight.items[queue->first_in_flight].log_position;

	while (queue->log_head_position < needed) {
		struct bt_queue_log_entry *head = &queue->log.items[queue->log_head];

		queue->events.items[head->event].in_flight--;
		bt_object_release(head->old_object);
		bt_object_release(head->new_object);
		queue->log_head++;
		queue->log_head_position++;
	}
	if (queue->log_head == queue->log.count) {
		queue->log_head = 0;
		queue->log.count = 0;
	} else if (queue->log_head >= LOG_COMPACT_MIN && queue->log_head > queue->log.count / 2) {
		/* At most as much is moved as was dropped since the last time. */
		queue->log.count -= queue->log_head;
		memmove(queue->log.items, &queue->log.items[queue->log_head],
			queue->log.count * sizeof(*queue->log.items));
		queue->log_head = 0;
	}
}

void bt_queue_done(struct bt_queue *queue, struct bt_str uid)
{
	uint32_t id = find(queue, uid);
	struct bt_queue_in_flight *marker;
	bool found;

	if (id == BT_QUEUE_NONE) {
		return;
	}
	found = bt_map_remove(&queue->in_flight_map, hash_of_in_flight(queue, id), id);
	BT_ASSERT(found);
	marker = &queue->in_flight.items[id];
	if (marker->previous != BT_QUEUE_NONE) {
		queue->in_flight.items[marker->previous].next = marker->next;
	} else {
		queue->first_in_flight = marker->next;
	}
	if (marker->next != BT_QUEUE_NONE) {
		queue->in_flight.items[marker->next].previous = marker->previous;
	} else {
		queue->last_in_flight = marker->previous;
	}
	bt_object_release(marker->pod);
	marker->pod = NULL;
	bt_vec_push(&queue->free_in_flight, id);
	queue->in_flight_count--;
	trim_log(queue);
}

void bt_queue_close(struct bt_queue *queue)
{
	while (queue->first_in_flight != BT_QUEUE_NONE) {
		bt_queue_done(queue, queue->in_flight.items[queue->first_in_flight].pod->meta->uid);
	}
}

void bt_queue_in_flight_finish(struct bt_queue *queue)
{
	bt_queue_close(queue);
	bt_map_finish(&queue->in_flight_map);
	bt_vec_finish(&queue->in_flight);
	bt_vec_finish(&queue->free_in_flight);
	bt_vec_finish(&queue->log);
}

void bt_queue_log(struct bt_queue *queue, uint32_t event, struct bt_object *old_object,
	struct bt_object *new_object)
{
	struct bt_queue_log_entry logged = {
		.event = event,
		.old_object = old_object != NULL ? bt_object_share(old_object) : NULL,
		.new_object = new_object != NULL ? bt_object_share(new_object) : NULL,
	};

	bt_vec_push(&queue->log, logged);
	queue->events.items[event].in_flight++;
}

enum bt_queue_strategy bt_queue_hint_for_in_flight_pod(
	struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	enum bt_queue_strategy best = BT_STRATEGY_SKIP;
	uint32_t id;

	if (bt_rejectors_is_empty(&rejectors) ||
		(queue->has_groups && entry->pod.shape->pod->spec.scheduling_group != NULL)) {
		return BT_STRATEGY_AFTER_BACKOFF;
	}
	id = find(queue, entry->pod.uid);
	if (id == BT_QUEUE_NONE) {
		bt_queue_warn(queue,
			"Error getting cluster events for pod %s: in flight Pod isn't found in the "
			"scheduling queue. If you see this error log, it's likely a bug in the "
			"scheduler",
			bt_queue_pod_text(queue, &entry->pod));
		return BT_STRATEGY_AFTER_BACKOFF;
	}
	for (uint64_t position = queue->in_flight.items[id].log_position; position < log_end(queue);
		position++) {
		const struct bt_queue_log_entry *logged = &queue->log.items[queue->log_head +
			(uint32_t)(position - queue->log_head_position)];
		enum bt_queue_strategy strategy = bt_queue_is_pod_worth_requeuing(
			queue, entry, logged->event, logged->old_object, logged->new_object);

		if (strategy > best) {
			best = strategy;
		}
		if (best == BT_STRATEGY_IMMEDIATELY ||
			(best == BT_STRATEGY_AFTER_BACKOFF &&
				bt_rejectors_is_empty(&entry->pending_plugins))) {
			break;
		}
	}
	return best;
}

void bt_queue_for_each_in_flight(const struct bt_queue *queue,
	bool (*visit)(void *context, const struct bt_object *pod), void *context)
{
	for (uint32_t id = queue->first_in_flight; id != BT_QUEUE_NONE;
		id = queue->in_flight.items[id].next) {
		if (!visit(context, queue->in_flight.items[id].pod)) {
			return;
		}
	}
}

uint32_t bt_queue_in_flight_count(const struct bt_queue *queue)
{
	return queue->in_flight_count;
}

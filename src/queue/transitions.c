/* SPDX-License-Identifier: Apache-2.0 */
/* From place to place, and PreEnqueue in front of two of them. Spec: 04 sections 4 to 7. */
#include "queue/backoff.h"
#include "queue/queue_private.h"

int64_t bt_queue_expiration_ns(const struct bt_queue *queue, struct bt_queue_entry *entry)
{
	int64_t count = bt_backoff_count(entry->unschedulable_count, entry->consecutive_errors);

	if (queue->options.max_backoff_ns == 0 || count == 0) {
		return BT_BACKOFF_NEVER;
	}
	if (entry->backoff_expiration_ns == BT_QUEUE_TIME_UNSET) {
		entry->backoff_expiration_ns = bt_backoff_expiration_ns(entry->timestamp_ns,
			queue->options.initial_backoff_ns, queue->options.max_backoff_ns, count,
			queue->pops_backoff);
	}
	return entry->backoff_expiration_ns;
}

/* --- order --- */

bool bt_queue_sorts_before(const void *owner, uint32_t a, uint32_t b)
{
	const struct bt_queue *queue = owner;
	const struct bt_queue_entry *left = bt_queue_entry_at(queue, a);
	const struct bt_queue_entry *right = bt_queue_entry_at(queue, b);
	const struct bt_queued_pod left_pod = {
		&left->pod, left->timestamp_ns, left->initial_attempt_ns, left->attempts};
	const struct bt_queued_pod right_pod = {
		&right->pod, right->timestamp_ns, right->initial_attempt_ns, right->attempts};

	return queue->sort->ops->less(queue->sort, &left_pod, &right_pod);
}

struct heap_key {
	int64_t major;
	int64_t minor;
};

static struct heap_key active_key(const struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	if (!bt_shortcuts(queue->sort)->less_is_priority_then_time) {
		return (struct heap_key){0, 0};
	}
	return (struct heap_key){-(int64_t)entry->pod.priority, entry->timestamp_ns};
}

void bt_queue_resift(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct heap_key key;

	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
		key = active_key(queue, entry);
		bt_heap_update(&queue->active_queue, entry->id, key.major, key.minor);
		break;
	case BT_QUEUE_BACKOFF:
		bt_heap_update(&queue->backoff_queue, entry->id, entry->backoff_expiration_ns, 0);
		break;
	case BT_QUEUE_ERROR_BACKOFF:
		bt_heap_update(
			&queue->error_backoff_queue, entry->id, entry->backoff_expiration_ns, 0);
		break;
	case BT_QUEUE_UNSCHEDULABLE:
	case BT_QUEUE_OUT:
		break;
	}
}

/* --- in and out --- */

static void came_in(struct bt_queue *queue, struct bt_queue_entry *entry, enum bt_queue_place place)
{
	entry->place = place;
	bt_queue_index(queue, entry);
	bt_nominator_set_queued(queue->nominator, entry->pod.uid, &entry->pod);
}

void bt_queue_take_out(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
		bt_heap_remove(&queue->active_queue, entry->id);
		break;
	case BT_QUEUE_BACKOFF:
		bt_heap_remove(&queue->backoff_queue, entry->id);
		break;
	case BT_QUEUE_ERROR_BACKOFF:
		bt_heap_remove(&queue->error_backoff_queue, entry->id);
		break;
	case BT_QUEUE_UNSCHEDULABLE:
		bt_queue_unlink(queue, entry);
		break;
	case BT_QUEUE_OUT:
		return;
	}
	entry->place = BT_QUEUE_OUT;
	bt_queue_unindex(queue, entry);
	bt_nominator_set_queued(queue->nominator, entry->pod.uid, NULL);
}

/** Another record of that name, if there is one. */
static struct bt_queue_entry *find_other(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	if (entry->place != BT_QUEUE_OUT) {
		return NULL; /* at most one record of a name is queued */
	}
	return bt_queue_lookup_namesake(queue, entry);
}

static void put_unschedulable(struct bt_queue *queue, struct bt_queue_entry *entry, uint32_t event)
{
	struct bt_queue_entry *other = find_other(queue, entry);

	if (entry->place == BT_QUEUE_UNSCHEDULABLE) {
		/* What rejects or gates it may be new; its turn is not. */
		bt_queue_unlink(queue, entry);
		bt_queue_link(queue, entry);
		return;
	}
	if (other != NULL) {
		entry->sequence = other->sequence;
		bt_queue_take_out(queue, other);
		bt_queue_entry_destroy(queue, other);
	} else {
		entry->sequence = queue->next_sequence++;
		queue->events.items[event].incoming[BT_QUEUE_UNSCHEDULABLE]++;
	}
	bt_queue_link(queue, entry);
	came_in(queue, entry, BT_QUEUE_UNSCHEDULABLE);
}

static void run_pre_enqueue(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct bt_framework *framework;
	struct bt_plugin *first = NULL;
	struct bt_plugin *gating = NULL;
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	struct bt_status status;

	if (entry->profile == BT_QUEUE_NONE) {
		entry->gating_plugin = BT_QUEUE_NONE;
		return;
	}
	framework = queue->profiles->frameworks.items[entry->profile];
	if (bt_queue_entry_is_gated(entry)) {
		first = framework->instances.items[entry->gating_plugin];
	}
	status = bt_run_pre_enqueue_from(framework, &entry->pod, &queue->arena, first, &gating);
	if (gating == NULL) {
		entry->gating_plugin = BT_QUEUE_NONE;
		bt_arena_reset(&queue->arena);
		return;
	}
	if (!bt_rejectors_has(&rejectors, gating->index)) {
		queue->unschedulable_gauge[entry->profile * BT_REJECTOR__COUNT + gating->index]++;
		bt_rejectors_add(&entry->unschedulable_plugins, gating->index);
	}
	entry->gating_plugin = gating->index;
	if (status.code == BT_STATUS_ERROR) {
		struct bt_str text = bt_status_message_str(&status, &queue->arena);

		bt_queue_warn(queue,
			"Unexpected error running PreEnqueue plugin: pod %s, plugin %s: %.*s",
			bt_queue_pod_text(queue, &entry->pod), gating->ops->name, BT_STR_ARG(text));
	}
	bt_arena_reset(&queue->arena);
}

bool bt_queue_move_to_active_queue(struct bt_queue *queue, struct bt_queue_entry *entry,
	uint32_t event, bool from_backoff, int64_t now_ns)
{
	struct bt_queue_entry *other = find_other(queue, entry);
	struct heap_key key = active_key(queue, entry);

	if (!queue->pops_backoff || !from_backoff) {
		run_pre_enqueue(queue, entry);
	}
	if (bt_queue_entry_is_gated(entry)) {
		if (other == NULL || other->place == BT_QUEUE_UNSCHEDULABLE) {
			put_unschedulable(queue, entry, event);
		}
		return false;
	}
	if (entry->initial_attempt_ns == BT_QUEUE_TIME_UNSET) {
		entry->initial_attempt_ns = now_ns;
	}
	bt_queue_take_out(queue, entry);
	if (other != NULL && other->place == BT_QUEUE_ACTIVE) {
		/* The newer record takes the older one's position in the heap. */
		bt_heap_replace(&queue->active_queue, other->id, entry->id, key.major, key.minor);
		bt_queue_unindex(queue, other);
		other->place = BT_QUEUE_OUT;
		bt_nominator_set_queued(queue->nominator, other->pod.uid, NULL);
		bt_queue_entry_destroy(queue, other);
	} else {
		if (other != NULL) {
			bt_queue_take_out(queue, other);
			bt_queue_entry_destroy(queue, other);
		}
		bt_heap_push(&queue->active_queue, entry->id, key.major, key.minor);
	}
	came_in(queue, entry, BT_QUEUE_ACTIVE);
	queue->events.items[event].incoming[BT_QUEUE_ACTIVE]++;
	if (event == BT_EVENT_POD_ADD || event == BT_EVENT_POD_UPDATE) {
		bt_nominator_nominate(queue->nominator, &entry->pod, NULL, true,
			entry->pod.node_name.length == 0);
	}
	return true;
}

static void move_to_backoff_queue(
	struct bt_queue *queue, struct bt_queue_entry *entry, uint32_t event)
{
	struct bt_rejectors rejectors;
	int64_t expiration_ns;

	if (queue->pops_backoff) {
		run_pre_enqueue(queue, entry);
		if (bt_queue_entry_is_gated(entry)) {
			put_unschedulable(queue, entry, event);
			return;
		}
	}
	expiration_ns = bt_queue_expiration_ns(queue, entry);
	rejectors = bt_queue_entry_rejectors(entry);
	bt_queue_take_out(queue, entry);
	if (bt_rejectors_is_empty(&rejectors)) {
		bt_heap_push(&queue->error_backoff_queue, entry->id, expiration_ns, 0);
		came_in(queue, entry, BT_QUEUE_ERROR_BACKOFF);
	} else {
		bt_heap_push(&queue->backoff_queue, entry->id, expiration_ns, 0);
		came_in(queue, entry, BT_QUEUE_BACKOFF);
	}
	queue->events.items[event].incoming[BT_QUEUE_BACKOFF]++;
}

enum bt_queue_place bt_queue_requeue_with_strategy(struct bt_queue *queue,
	struct bt_queue_entry *entry, enum bt_queue_strategy strategy, uint32_t event,
	int64_t now_ns)
{
	switch (strategy) {
	case BT_STRATEGY_SKIP:
		put_unschedulable(queue, entry, event);
		break;
	case BT_STRATEGY_AFTER_BACKOFF:
		if (bt_is_backing_off(
			    bt_queue_expiration_ns(queue, entry), now_ns, queue->pops_backoff)) {
			move_to_backoff_queue(queue, entry, event);
			break;
		}
		(void)bt_queue_move_to_active_queue(queue, entry, event, false, now_ns);
		break;
	case BT_STRATEGY_IMMEDIATELY:
		(void)bt_queue_move_to_active_queue(queue, entry, event, false, now_ns);
		break;
	}
	return entry->place;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/queue.h"

#include "base/nanoseconds.h"
#include "queue/backoff.h"
#include "queue/queue_private.h"

/* Moves pods between the queues and runs PreEnqueue. Spec: 04 sections 4 to 7. */

int64_t bt_queue_expiration_ns(const struct bt_queue *queue, struct bt_queue_entry *entry)
{
	if (entry->backoff_expiration_ns == BT_QUEUE_TIME_UNSET) {
		/*
		 * If the last attempt ended with an error, the number of consecutive errors
		 * decides. Spec 04 section 5.1.
		 */
		int64_t count = entry->consecutive_errors > 0 ? entry->consecutive_errors
							      : entry->unschedulable_count;

		entry->backoff_expiration_ns = bt_backoff_expiration_ns(entry->timestamp_ns,
			queue->options.initial_backoff_ns, queue->options.max_backoff_ns, count,
			queue->pops_backoff);
	}
	return entry->backoff_expiration_ns;
}

static bool queue_sorts_before(const void *owner, uint32_t a, uint32_t b)
{
	const struct bt_queue *queue = owner;
	const struct bt_queue_entry *left = bt_queue_entry_at(queue, a);
	const struct bt_queue_entry *right = bt_queue_entry_at(queue, b);

	BT_ASSERT(!left->parked && !right->parked);
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

static void add_to_place(
	struct bt_queue *queue, struct bt_queue_entry *entry, enum bt_queue_place place)
{
	entry->place = place;
	bt_map_insert(&queue->by_name, entry->name_hash, entry->id);
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
	bt_queue_remove_from_index(queue, entry);
	bt_nominator_set_queued(queue->nominator, entry->pod.uid, NULL);
}

/** Returns another queued record with the same pod name, or NULL. */
static struct bt_queue_entry *find_other(struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	if (entry->place != BT_QUEUE_OUT) {
		return NULL; /* at most one record of a name is queued */
	}
	return bt_queue_lookup(queue, entry->pod.namespace_, entry->pod.name);
}

static void add_unschedulable(struct bt_queue *queue, struct bt_queue_entry *entry, uint32_t event)
{
	struct bt_queue_entry *other = find_other(queue, entry);

	if (entry->place == BT_QUEUE_UNSCHEDULABLE) {
		/*
		 * The rejectors or the gate of the entry may have changed; its order of arrival
		 * stays.
		 */
		bt_queue_unlink(queue, entry);
		bt_queue_link(queue, entry);
		return;
	}
	if (other != NULL) {
		bt_queue_take_out(queue, other);
		entry->sequence = other->sequence;
		bt_queue_entry_destroy(queue, other);
	} else {
		entry->sequence = queue->next_sequence++;
		queue->events.items[event].incoming[BT_QUEUE_UNSCHEDULABLE]++;
	}
	bt_queue_link(queue, entry);
	add_to_place(queue, entry, BT_QUEUE_UNSCHEDULABLE);
}

static void run_pre_enqueue(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct bt_plugin *first = NULL;
	struct bt_plugin *gating = NULL;
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);

	if (entry->profile == BT_QUEUE_NONE) {
		entry->gating_plugin = BT_QUEUE_NONE;
		return;
	}
	struct bt_framework *framework = queue->profiles->frameworks.items[entry->profile];
	if (bt_queue_entry_is_gated(entry)) {
		first = framework->instances.items[entry->gating_plugin];
	}
	struct bt_status status =
		bt_run_pre_enqueue(framework, &entry->pod, &queue->arena, first, &gating);
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
			add_unschedulable(queue, entry, event);
		}
		return false;
	}
	if (entry->initial_attempt_ns == BT_QUEUE_TIME_UNSET) {
		entry->initial_attempt_ns = now_ns;
	}
	bt_queue_take_out(queue, entry);
	if (other != NULL && other->place == BT_QUEUE_ACTIVE) {
		/* The newer record takes the position of the older record in the heap. */
		bt_heap_replace(&queue->active_queue, other->id, entry->id, key.major, key.minor);
		bt_queue_remove_from_index(queue, other);
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
	add_to_place(queue, entry, BT_QUEUE_ACTIVE);
	if (queue->active_queue.slots.count > BT_QUEUE_UNPARKED_MAX) {
		bt_vec_push(&queue->unparked, entry->id); /* it will wait for long */
	}
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
	if (queue->pops_backoff) {
		run_pre_enqueue(queue, entry);
		if (bt_queue_entry_is_gated(entry)) {
			add_unschedulable(queue, entry, event);
			return;
		}
	}
	int64_t expiration_ns = bt_queue_expiration_ns(queue, entry);
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	bt_queue_take_out(queue, entry);
	if (bt_rejectors_is_empty(&rejectors)) {
		bt_heap_push(&queue->error_backoff_queue, entry->id, expiration_ns, 0);
		add_to_place(queue, entry, BT_QUEUE_ERROR_BACKOFF);
	} else {
		bt_heap_push(&queue->backoff_queue, entry->id, expiration_ns, 0);
		add_to_place(queue, entry, BT_QUEUE_BACKOFF);
	}
	queue->events.items[event].incoming[BT_QUEUE_BACKOFF]++;
}

enum bt_queue_place bt_queue_requeue_with_strategy(struct bt_queue *queue,
	struct bt_queue_entry *entry, enum bt_queue_strategy strategy, uint32_t event,
	int64_t now_ns)
{
	switch (strategy) {
	case BT_STRATEGY_SKIP:
		add_unschedulable(queue, entry, event);
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

#define DEFAULT_MAX_IN_UNSCHEDULABLE_NS (300 * BT_NS_PER_SECOND)
/** Pods of smaller groups move one by one, which takes about 3 ms for 100 such groups. */
#define WHOLE_GROUP_MIN 32

static const struct bt_str assigned_pod = BT_RESOURCE_ASSIGNED_POD;
static const struct bt_str unschedulable_pod = BT_RESOURCE_UNSCHEDULABLE_POD;

struct bt_queue_options bt_queue_options_from_config(const struct bt_config *config)
{
	/* Values that overflow wrap around, as in upstream's multiplication. */
	uint64_t initial = (uint64_t)config->document.pod_initial_backoff_seconds;
	uint64_t max = (uint64_t)config->document.pod_max_backoff_seconds;

	return (struct bt_queue_options){
		.initial_backoff_ns = (int64_t)(initial * (uint64_t)BT_NS_PER_SECOND),
		.max_backoff_ns = (int64_t)(max * (uint64_t)BT_NS_PER_SECOND),
		.max_in_unschedulable_ns = DEFAULT_MAX_IN_UNSCHEDULABLE_NS,
		.gates = &config->gates,
		.whole_group_min = WHOLE_GROUP_MIN,
	};
}

int bt_queue_create(const struct bt_queue_options *options, struct bt_state *state,
	const struct bt_profiles *profiles, struct bt_nominator *nominator,
	struct bt_queue **out_queue, struct berth_error *err)
{
	struct bt_queue *queue = BT_NEW(struct bt_queue);

	BT_ASSERT(profiles->frameworks.count > 0);
	const struct bt_framework *first = profiles->frameworks.items[0];
	BT_ASSERT(first->points[BT_POINT_QUEUE_SORT].entries.count > 0);
	queue->options = *options;
	queue->state = state;
	queue->profiles = profiles;
	queue->nominator = nominator;
	queue->sort = first->points[BT_POINT_QUEUE_SORT].entries.items[0].plugin;
	queue->unschedulable_gauge =
		BT_NEW_ARRAY(int64_t, (size_t)profiles->frameworks.count * BT_REJECTOR__COUNT);
	const struct bt_gates *gates = queue->options.gates;

	queue->pops_backoff = bt_gate_enabled(gates, BT_GATE_SCHEDULER_POP_FROM_BACKOFF_Q);
	queue->runs_hints = bt_gate_enabled(gates, BT_GATE_SCHEDULER_QUEUEING_HINTS);
	queue->has_groups = bt_gate_enabled(gates, BT_GATE_GENERIC_WORKLOAD);
	queue->has_signatures = bt_gate_enabled(gates, BT_GATE_OPPORTUNISTIC_BATCHING);
	queue->change_gates = (struct bt_change_gates){
		.dynamic_resource_allocation =
			bt_gate_enabled(gates, BT_GATE_DYNAMIC_RESOURCE_ALLOCATION),
		.in_place_pod_level_resources = bt_gate_enabled(
			gates, BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING),
		.node_declared_features = bt_gate_enabled(gates, BT_GATE_NODE_DECLARED_FEATURES),
	};
	uint32_t count = queue->profiles->frameworks.count;

	queue->measuring = bt_calloc(count, sizeof(*queue->measuring));
	for (uint32_t p = 0; p < count; p++) {
		const struct bt_framework *framework = queue->profiles->frameworks.items[p];

		for (uint32_t i = 0; i < framework->instances.count; i++) {
			struct bt_plugin *plugin = framework->instances.items[i];

			if (bt_shortcuts(plugin)->hint_needs != NULL &&
				queue->measuring[p] == NULL) {
				queue->measuring[p] = plugin;
			}
		}
	}
	bt_heap_init(&queue->active_queue,
		bt_shortcuts(queue->sort)->less_is_priority_then_time ? NULL : queue_sorts_before,
		queue);
	bt_heap_init(&queue->backoff_queue, queue->pops_backoff ? queue_sorts_before : NULL, queue);
	queue->first_in_flight = BT_QUEUE_NONE;
	queue->last_in_flight = BT_QUEUE_NONE;
	/* Create the hints of all profiles. The error joins the profiles' errors by newlines. */
	struct bt_strbuf problems = {0};
	int code = BERTH_OK;
	queue->hints = BT_NEW_ARRAY(struct bt_event_hints, count);
	for (uint32_t i = 0; i < count; i++) {
		struct berth_error cause = BERTH_ERROR_INIT;
		int failure = bt_event_hints_create(
			queue->profiles->frameworks.items[i], &queue->hints[i], &cause);
		if (failure != BERTH_OK) {
			bt_strbuf_append_c(&problems, code != BERTH_OK ? "\n" : "");
			bt_strbuf_append_c(&problems, berth_error_message(&cause));
			berth_error_finish(&cause);
			code = failure;
		}
		/*
		 * If the gate SchedulerQueueingHints is off, every event for which a rejector of a
		 * pod is registered queues the pod. Spec 04 section 16.
		 */
		for (uint32_t h = 0; !queue->runs_hints && h < queue->hints[i].items.count; h++) {
			queue->hints[i].items.items[h].hint = NULL;
		}
	}
	if (code != BERTH_OK) {
		bt_queue_destroy(queue);
		return bt_error_take(err, code, &problems);
	}
	bt_queue_events_init(queue);
	*out_queue = queue;
	return BERTH_OK;
}

void bt_queue_destroy(struct bt_queue *queue)
{
	if (queue == NULL) {
		return;
	}
	for (uint32_t id = 0; id < queue->entries.count; id++) {
		if (bt_queue_entry_at(queue, id) != NULL) {
			struct bt_queue_entry *entry = bt_queue_unpark(queue, id);

			/* The nominator outlives the queue and must not point to entries. */
			bt_queue_take_out(queue, entry);
			bt_queue_entry_destroy(queue, entry);
		}
	}
	bt_vec_finish(&queue->entries);
	bt_vec_finish(&queue->free_entries);
	bt_vec_finish(&queue->unparked);
	bt_map_finish(&queue->by_name);
	bt_queue_close(queue);
	bt_hash_table_finish(&queue->in_flight);
	bt_fifo_finish(&queue->log);
	bt_hash_table_finish(&queue->classes);
	bt_hash_table_finish(&queue->groups);
	bt_heap_finish(&queue->active_queue);
	bt_heap_finish(&queue->ready);
	bt_heap_finish(&queue->backoff_queue);
	bt_heap_finish(&queue->error_backoff_queue);
	bt_queue_events_finish(queue);
	bt_free(queue->unschedulable_gauge);
	bt_free(queue->measuring);
	bt_arena_finish(&queue->arena);
	bt_strbuf_finish(&queue->text);
	bt_vec_finish(&queue->departures);
	bt_vec_finish(&queue->flushed);
	bt_vec_finish(&queue->whole_groups);
	bt_vec_finish(&queue->held_groups);
	bt_free(queue);
}

/**
 * Adds a new record to the active queue, or to unschedulable pods if PreEnqueue rejects the pod.
 */
static void add_record(
	struct bt_queue *queue, struct bt_object *pod, uint32_t event, int64_t now_ns)
{
	struct bt_queue_entry *entry = bt_queue_entry_create(queue, pod, now_ns);

	(void)bt_queue_move_to_active_queue(queue, entry, event, false, now_ns);
	if (entry->place == BT_QUEUE_OUT) {
		bt_queue_entry_destroy(queue, entry);
	}
}

void bt_queue_add(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns)
{
	bt_queue_park_all(queue, NULL);
	queue->holds_back = false;
	add_record(queue, pod, BT_EVENT_POD_ADD, now_ns);
}

static void swap_pod(struct bt_queue *queue, struct bt_queue_entry *entry,
	const struct bt_pod *old_pod, struct bt_object *new_pod)
{
	const struct bt_pod_info old_info = {
		.name = old_pod->metadata.name,
		.namespace_ = old_pod->metadata.namespace_,
		.uid = old_pod->metadata.uid,
		.nominated_node_name = old_pod->status.nominated_node_name,
	};

	if (!bt_str_equal(entry->pod.uid, new_pod->meta->uid)) {
		bt_nominator_set_queued(queue->nominator, entry->pod.uid, NULL);
	}
	bt_queue_entry_set_pod(queue, entry, new_pod);
	bt_nominator_update(
		queue->nominator, &old_info, &entry->pod, true, entry->pod.node_name.length == 0);
	bt_queue_entry_sign(queue, entry);
}

void bt_queue_update(struct bt_queue *queue, struct bt_object *old_pod, struct bt_object *new_pod,
	int64_t now_ns)
{
	const struct bt_pod *old_value = bt_object_value(old_pod, BT_KIND_POD);
	const struct bt_pod *new_value = bt_object_value(new_pod, BT_KIND_POD);
	struct bt_change_events changes =
		bt_pod_change_events(old_value, new_value, &queue->change_gates, &queue->arena);
	struct bt_cluster_event event = {
		.resource = new_value->spec.node_name.length > 0 ? assigned_pod : unschedulable_pod,
	};
	uint32_t events[BT_CHANGE_EVENTS_MAX];

	bt_arena_reset(&queue->arena);
	bt_queue_park_all(queue, NULL);
	for (uint32_t i = 0; i < changes.count; i++) {
		event.action = changes.actions[i];
		events[i] = bt_queue_event_index(queue, &event);
	}
	/*
	 * A plain Update, e.g. a status patch by the scheduler, does not make any pod schedulable,
	 * so holds_back stays set.
	 */
	queue->holds_back = queue->holds_back && changes.actions[0] == BT_ACTION_UPDATE;
	if (bt_queue_is_in_flight(queue, new_value->metadata.uid)) {
		for (uint32_t i = 0; i < changes.count; i++) {
			bt_queue_log_event(queue, events[i], old_pod, new_pod);
		}
		return;
	}
	struct bt_queue_entry *entry =
		bt_queue_lookup(queue, new_value->metadata.namespace_, new_value->metadata.name);
	if (entry == NULL) {
		add_record(queue, new_pod, BT_EVENT_POD_UPDATE, now_ns);
		return;
	}
	/* Keep the old pod alive: the record may hold the only reference to it. */
	old_pod = bt_object_share(old_pod);
	if (entry->place == BT_QUEUE_UNSCHEDULABLE) {
		/* Link the entry again, because its group depends on the shape of the pod. */
		bt_queue_unlink(queue, entry);
		swap_pod(queue, entry, old_value, new_pod);
		bt_queue_link(queue, entry);
		/* The update of an unschedulable pod is an event for that pod alone. */
		for (uint32_t i = 0; i < changes.count; i++) {
			enum bt_queue_strategy strategy = bt_queue_is_pod_worth_requeuing(
				queue, entry, events[i], old_pod, new_pod);

			if (bt_queue_requeue_with_strategy(queue, entry, strategy, events[i],
				    now_ns) != BT_QUEUE_UNSCHEDULABLE) {
				break;
			}
		}
	} else {
		swap_pod(queue, entry, old_value, new_pod);
		/* The pod's key in the heap may have changed. */
		struct heap_key key;

		switch (entry->place) {
		case BT_QUEUE_ACTIVE:
			key = active_key(queue, entry);
			bt_heap_update(&queue->active_queue, entry->id, key.major, key.minor);
			break;
		case BT_QUEUE_BACKOFF:
			bt_heap_update(
				&queue->backoff_queue, entry->id, entry->backoff_expiration_ns, 0);
			break;
		case BT_QUEUE_ERROR_BACKOFF:
			bt_heap_update(&queue->error_backoff_queue, entry->id,
				entry->backoff_expiration_ns, 0);
			break;
		case BT_QUEUE_UNSCHEDULABLE:
		case BT_QUEUE_OUT:
			break;
		}
	}
	bt_object_release(old_pod);
}

void bt_queue_delete(struct bt_queue *queue, const struct bt_object *pod)
{
	struct bt_queue_entry *entry =
		bt_queue_lookup(queue, pod->meta->namespace_, pod->meta->name);

	bt_nominator_delete(queue->nominator, pod->meta->uid);
	queue->holds_back = false;
	if (entry == NULL) {
		return;
	}
	/*
	 * Upstream quirk, spec 04 section 8.12: a deletion lowers the gauge only for pods in
	 * unschedulablePods.
	 */
	if (entry->place == BT_QUEUE_UNSCHEDULABLE) {
		bt_queue_count_rejectors(queue, entry, -1);
	}
	bt_queue_take_out(queue, entry);
	bt_queue_entry_destroy(queue, entry);
}

bool bt_queue_can_pop(const struct bt_queue *queue)
{
	return queue->active_queue.slots.count > 0 || queue->ready_count > 0 ||
		(queue->pops_backoff && !queue->holds_back && queue->backoff_queue.slots.count > 0);
}

void bt_queue_hold_back(struct bt_queue *queue)
{
	queue->holds_back = true;
}

bool bt_queue_only_repeats_groups(struct bt_queue *queue)
{
	const struct bt_heap *const heaps[] = {&queue->backoff_queue, &queue->error_backoff_queue};
	bool all = queue->holds_back;

	for (uint32_t h = 0; h < BT_ARRAY_LENGTH(heaps); h++) {
		for (uint32_t i = 0; all && i < heaps[h]->slots.count; i++) {
			uint32_t id = heaps[h]->slots.items[i].item;

			all = bt_queue_entry_at(queue, id)->pod.object->spec.scheduling_group !=
				NULL;
		}
	}
	return all;
}

const struct bt_queue_entry *bt_queue_peek(struct bt_queue *queue)
{
	bt_queue_park_all(queue, NULL);
	if (!bt_queue_can_pop(queue)) {
		return NULL;
	}
	bt_queue_unpark_next_ready(queue);
	/* If the active queue is empty, pop from backoffQ early (gate SchedulerPopFromBackoffQ). */
	return bt_queue_unpark(queue,
		bt_heap_top(queue->active_queue.slots.count > 0 ? &queue->active_queue
								: &queue->backoff_queue));
}

struct bt_queue_entry *bt_queue_pop(struct bt_queue *queue)
{
	const struct bt_queue_entry *next;
	while ((next = bt_queue_peek(queue)) != NULL) {
		struct bt_queue_entry *entry = bt_queue_entry_at(queue, next->id);
		if (entry->place == BT_QUEUE_BACKOFF) {
			queue->events.items[BT_EVENT_POP_FROM_BACKOFF].incoming[BT_QUEUE_ACTIVE]++;
		}
		bt_queue_take_out(queue, entry);
		if (bt_queue_add_in_flight(queue, entry)) {
			return entry;
		}
	}
	return NULL;
}

/**
 * Moves the entry to the active queue. false: the entry is there already, was popped, or is gated.
 * Spec 04 section 8.10.
 */
static bool activate(struct bt_queue *queue, struct bt_queue_entry *entry, int64_t now_ns)
{
	bool from_backoff = false;

	switch (entry->place) {
	case BT_QUEUE_ACTIVE:
	case BT_QUEUE_OUT:
		return false;
	case BT_QUEUE_BACKOFF:
	case BT_QUEUE_ERROR_BACKOFF:
		bt_queue_take_out(queue, entry);
		from_backoff = true;
		break;
	case BT_QUEUE_UNSCHEDULABLE:
		break;
	}
	return bt_queue_move_to_active_queue(
		queue, entry, BT_EVENT_FORCE_ACTIVATE, from_backoff, now_ns);
}

bool bt_queue_activate(struct bt_queue *queue, struct bt_object *pod, int64_t now_ns)
{
	struct bt_queue_entry *entry =
		bt_queue_lookup(queue, pod->meta->namespace_, pod->meta->name);

	if (entry != NULL && activate(queue, entry, now_ns)) {
		return true;
	}
	if (bt_queue_is_in_flight(queue, pod->meta->uid)) {
		bt_queue_log_event(queue, BT_EVENT_FORCE_ACTIVATE, NULL, pod);
	}
	return false;
}

struct bt_queue_entry *bt_queue_pop_pod(
	struct bt_queue *queue, struct bt_str namespace_, struct bt_str name, int64_t now_ns)
{
	struct bt_queue_entry *entry = bt_queue_lookup(queue, namespace_, name);

	if (entry == NULL) {
		return NULL;
	}
	(void)activate(queue, entry, now_ns);
	if (entry->place != BT_QUEUE_ACTIVE) {
		return NULL;
	}
	bt_queue_take_out(queue, entry);
	return bt_queue_add_in_flight(queue, entry) ? entry : NULL;
}

void bt_queue_release(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	BT_ASSERT(entry->place == BT_QUEUE_OUT && entry->object != NULL);
	bt_queue_done(queue, entry->pod.uid);
	bt_queue_entry_destroy(queue, entry);
}

void bt_queue_refresh(struct bt_queue *queue, struct bt_queue_entry *entry, struct bt_object *pod)
{
	BT_ASSERT(entry->place == BT_QUEUE_OUT && entry->object != NULL);
	if (entry->object != pod) {
		bt_queue_entry_set_pod(queue, entry, pod);
	}
}

int bt_queue_add_unschedulable_if_not_present(struct bt_queue *queue, struct bt_queue_entry *entry,
	const struct bt_queue_rejection *rejection, int64_t now_ns, struct berth_error *err)
{
	static const struct bt_queue_rejection none;
	const struct bt_queue_entry *present =
		bt_queue_lookup(queue, entry->pod.namespace_, entry->pod.name);

	BT_ASSERT(entry->place == BT_QUEUE_OUT && entry->object != NULL);
	if (present != NULL) {
		bt_queue_done(queue, entry->pod.uid);
		static const char *const names[BT_QUEUE__PLACES] = {
			[BT_QUEUE_ACTIVE] = "the active queue",
			[BT_QUEUE_BACKOFF] = "the backoff queue",
			[BT_QUEUE_ERROR_BACKOFF] = "the backoff queue",
			[BT_QUEUE_UNSCHEDULABLE] = "unschedulable queue",
		};

		return bt_error_set(err, BERTH_ERR_EXISTS, "Pod %s is already present in %s",
			bt_queue_pod_text(queue, &present->pod), names[present->place]);
	}
	entry->unschedulable_plugins =
		(rejection != NULL ? rejection : &none)->unschedulable_plugins;
	entry->pending_plugins = (rejection != NULL ? rejection : &none)->pending_plugins;
	entry->gating_plugin = BT_QUEUE_NONE;
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	if (bt_rejectors_is_empty(&rejectors)) {
		entry->consecutive_errors++;
	} else {
		entry->unschedulable_count++;
		entry->consecutive_errors = 0;
	}
	entry->timestamp_ns = now_ns;
	entry->backoff_expiration_ns = BT_QUEUE_TIME_UNSET;
	entry->flushed = false;
	bt_queue_count_rejectors(queue, entry, 1);
	enum bt_queue_strategy strategy = bt_queue_hint_for_in_flight_pod(queue, entry);
	bt_queue_done(queue, entry->pod.uid);
	(void)bt_queue_requeue_with_strategy(
		queue, entry, strategy, BT_EVENT_ATTEMPT_FAILURE, now_ns);
	return BERTH_OK;
}

void bt_queue_nominate(struct bt_queue *queue, const struct bt_queue_entry *entry,
	const struct bt_post_filter_result *info, bool can_nominate)
{
	bt_nominator_nominate(
		queue->nominator, &entry->pod, info, entry->place != BT_QUEUE_OUT, can_nominate);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/queue_private.h"

#include "base/links.h"

/*
 * Kinds of events, the plugins registered for each, and the counters per event label. Spec: 04
 * (hints) sections 2 and 3.
 */

static const struct bt_str any_resource = BT_RESOURCE_ANY;
static const struct bt_str unschedulable_pod = BT_RESOURCE_UNSCHEDULABLE_POD;

static uint32_t add_event(
	struct bt_queue *queue, struct bt_str resource, uint32_t action, const char *label)
{
	const struct bt_cluster_event event = {resource, action};
	uint32_t profile_count = queue->profiles->frameworks.count;
	struct bt_queue_event added = {
		.resource_text = bt_strndup(resource.data, resource.length),
		.action = action,
		.label = bt_strndup(label, strlen(label)),
	};

	added.resource = (struct bt_str){added.resource_text, resource.length};
	if (action != 0) {
		added.is_wildcard = bt_cluster_event_is_wildcard(&event);
		added.is_of_interest = added.is_wildcard;
		added.listeners = BT_NEW_ARRAY(struct bt_queue_listeners, profile_count);
		for (uint32_t i = 0; i < profile_count; i++) {
			for (uint32_t k = 0; k < queue->hints[i].items.count; k++) {
				struct bt_queue_listener listener = {
					.hint = &queue->hints[i].items.items[k]};

				if (!bt_cluster_event_match(&listener.hint->event, &event)) {
					continue;
				}
				listener.rejector = listener.hint->plugin != NULL
					? listener.hint->plugin->index
					: BT_REJECTOR_EXTENDER;
				bt_vec_push(&added.listeners[i].items, listener);
				bt_rejectors_add(&added.listeners[i].rejectors, listener.rejector);
			}
			added.is_of_interest |= added.listeners[i].items.count > 0;
		}
	}
	bt_vec_push(&queue->events, added);
	return queue->events.count - 1;
}

void bt_queue_events_init(struct bt_queue *queue)
{
	/* Add the events in the order of enum bt_queue_known_event. */
	(void)add_event(queue, unschedulable_pod, BT_ACTION_ADD, "UnschedulablePodAdd");
	(void)add_event(queue, unschedulable_pod, BT_ACTION_UPDATE, "UnschedulablePodUpdate");
	(void)add_event(queue, BT_STR(""), 0, "ScheduleAttemptFailure");
	(void)add_event(queue, BT_STR(""), 0, "BackoffComplete");
	(void)add_event(queue, BT_STR(""), 0, "PopFromBackoffQ");
	(void)add_event(queue, any_resource, BT_ACTION_ALL, "ForceActivate");
	(void)add_event(queue, any_resource, BT_ACTION_ALL, "UnschedulableTimeout");
	BT_ASSERT(queue->events.count == BT_EVENT__KNOWN);
}

void bt_queue_events_finish(struct bt_queue *queue)
{
	uint32_t profile_count = queue->profiles->frameworks.count;

	for (uint32_t i = 0; i < queue->events.count; i++) {
		struct bt_queue_event *event = &queue->events.items[i];

		bt_free(event->resource_text);
		bt_free(event->label);
		for (uint32_t p = 0; event->listeners != NULL && p < profile_count; p++) {
			bt_vec_finish(&event->listeners[p].items);
		}
		bt_free(event->listeners);
	}
	bt_vec_finish(&queue->events);
	for (uint32_t i = 0; queue->hints != NULL && i < profile_count; i++) {
		bt_vec_finish(&queue->hints[i].items);
	}
	bt_free(queue->hints);
}

uint32_t bt_queue_event_index(struct bt_queue *queue, const struct bt_cluster_event *event)
{
	struct bt_strbuf label = {0};
	uint32_t index;

	BT_ASSERT(event->action != 0);
	/*
	 * A linear search is enough for the few dozen kinds: users of the cluster cannot add
	 * resources or actions.
	 */
	for (uint32_t i = 0; i < queue->events.count; i++) {
		if (queue->events.items[i].action == event->action &&
			bt_str_equal(queue->events.items[i].resource, event->resource)) {
			return i;
		}
	}
	bt_cluster_event_label(event, &label);
	index = add_event(queue, event->resource, event->action, bt_strbuf_c(&label));
	bt_strbuf_finish(&label);
	return index;
}

struct bt_str bt_queue_rejector_name(
	const struct bt_queue *queue, uint32_t profile, uint32_t rejector)
{
	const struct bt_framework *framework;

	BT_ASSERT(rejector < BT_REJECTOR__COUNT);
	if (rejector == BT_REJECTOR_EXTENDER) {
		return BT_STR(BT_EXTENDER_PLUGIN_NAME);
	}
	if (rejector == BT_REJECTOR_NAMELESS || profile == BT_QUEUE_NONE) {
		return BT_STR("");
	}
	framework = queue->profiles->frameworks.items[profile];
	return rejector < framework->instances.count ? bt_framework_plugin_name(framework, rejector)
						     : BT_STR("");
}

uint32_t bt_queue_find_rejector(const struct bt_queue *queue, uint32_t profile, struct bt_str name)
{
	const struct bt_plugin *plugin;

	if (name.length == 0) {
		return BT_REJECTOR_NAMELESS;
	}
	if (bt_str_equal(name, BT_STR(BT_EXTENDER_PLUGIN_NAME))) {
		return BT_REJECTOR_EXTENDER;
	}
	plugin = bt_framework_find_plugin(queue->profiles->frameworks.items[profile], name);
	return plugin != NULL ? plugin->index : BT_REJECTOR__COUNT;
}

void bt_queue_for_each_label(const struct bt_queue *queue,
	void (*visit)(void *context, const struct bt_queue_event_counters *counters), void *context)
{
	for (uint32_t i = 0; i < queue->events.count; i++) {
		const struct bt_queue_event *event = &queue->events.items[i];
		const struct bt_queue_event_counters counters = {
			.label = bt_str_from(event->label),
			.incoming_active = event->incoming[BT_QUEUE_ACTIVE],
			.incoming_backoff = event->incoming[BT_QUEUE_BACKOFF],
			.incoming_unschedulable = event->incoming[BT_QUEUE_UNSCHEDULABLE],
			.in_flight = event->in_flight,
		};

		visit(context, &counters);
	}
}

/*
 * Pods in flight and the events that happened since their pop. Upstream keeps markers and events in
 * one list; here the events form a log, and each pod in flight records its start position in the
 * log. Spec: 04 section 9.
 */

static uint32_t find(const struct bt_queue *queue, struct bt_str uid)
{
	uint64_t hash = bt_str_hash(uid);

	BT_MAP_EACH (&queue->in_flight.map, hash, id) {
		if (bt_str_equal(queue->in_flight.items[id].pod->meta->uid, uid)) {
			return id;
		}
	}
	return BT_QUEUE_NONE;
}

bool bt_queue_is_in_flight(const struct bt_queue *queue, struct bt_str uid)
{
	return queue->in_flight.map.count > 0 && find(queue, uid) != BT_QUEUE_NONE;
}

static uint64_t log_end(const struct bt_queue *queue)
{
	return queue->log_head_position + bt_fifo_count(&queue->log);
}

bool bt_queue_add_in_flight(struct bt_queue *queue, struct bt_queue_entry *entry)
{
	struct bt_queue_in_flight marker = {
		.pod = entry->object,
		.log_position = log_end(queue),
	};
	uint32_t id;

	entry->attempts++;
	if (bt_queue_is_in_flight(queue, entry->pod.uid)) {
		bt_queue_warn(queue,
			"the same pod is tracked in multiple places in the scheduler: %s: "
			"Discarding the popped pod",
			bt_queue_pod_text(queue, &entry->pod));
		bt_queue_entry_destroy(queue, entry);
		return false;
	}
	marker.pod = bt_object_share(marker.pod);
	bt_hash_table_add(&queue->in_flight, bt_str_hash(entry->pod.uid), marker, id);
	BT_INDEX_LIST_APPEND(queue->first_in_flight, queue->last_in_flight, queue->in_flight.items,
		id, previous, next);
	queue->scheduling_cycle++;
	bt_queue_count_rejectors(queue, entry, -1);
	return true;
}

void bt_queue_done(struct bt_queue *queue, struct bt_str uid)
{
	uint32_t id = find(queue, uid);
	struct bt_queue_in_flight *marker;

	if (id == BT_QUEUE_NONE) {
		return;
	}
	bt_hash_table_remove(&queue->in_flight, bt_str_hash(uid), id);
	marker = &queue->in_flight.items[id];
	BT_INDEX_LIST_REMOVE(queue->first_in_flight, queue->last_in_flight, queue->in_flight.items,
		id, previous, next);
	bt_object_release(marker->pod);
	marker->pod = NULL;
	/* Drop the log entries that are older than the pop of every pod in flight. */
	uint64_t needed = queue->first_in_flight == BT_QUEUE_NONE
		? log_end(queue)
		: queue->in_flight.items[queue->first_in_flight].log_position;

	while (queue->log_head_position < needed) {
		struct bt_queue_log_entry *head = &bt_fifo_at(&queue->log, 0);

		queue->events.items[head->event].in_flight--;
		bt_object_release(head->old_object);
		bt_object_release(head->new_object);
		bt_fifo_drop_first(&queue->log);
		queue->log_head_position++;
	}
}

void bt_queue_close(struct bt_queue *queue)
{
	while (queue->first_in_flight != BT_QUEUE_NONE) {
		bt_queue_done(queue, queue->in_flight.items[queue->first_in_flight].pod->meta->uid);
	}
}

void bt_queue_log_event(struct bt_queue *queue, uint32_t event, struct bt_object *old_object,
	struct bt_object *new_object)
{
	struct bt_queue_log_entry logged = {
		.event = event,
		.old_object = old_object != NULL ? bt_object_share(old_object) : NULL,
		.new_object = new_object != NULL ? bt_object_share(new_object) : NULL,
	};

	bt_fifo_push(&queue->log, logged);
	queue->events.items[event].in_flight++;
}

enum bt_queue_strategy bt_queue_hint_for_in_flight_pod(
	struct bt_queue *queue, const struct bt_queue_entry *entry)
{
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	enum bt_queue_strategy best = BT_STRATEGY_SKIP;
	uint32_t id;

	if (bt_rejectors_is_empty(&rejectors) ||
		(queue->has_groups &&
			bt_shape_pod(entry->pod.shape)->spec.scheduling_group != NULL)) {
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
		const struct bt_queue_log_entry *logged =
			&bt_fifo_at(&queue->log, (uint32_t)(position - queue->log_head_position));
		enum bt_queue_strategy strategy = bt_queue_is_pod_worth_requeuing(
			queue, entry, logged->event, logged->old_object, logged->new_object);

		if (strategy > best) {
			best = strategy;
		}
		if (bt_queue_is_final(&entry->pending_plugins, best)) {
			break;
		}
	}
	return best;
}

uint32_t bt_queue_in_flight_count(const struct bt_queue *queue)
{
	return queue->in_flight.map.count;
}

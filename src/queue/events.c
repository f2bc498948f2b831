/* SPDX-License-Identifier: Apache-2.0 */
/* Kinds of events, who listens to them, and what is counted by their labels. Spec: 04 (hints)
 * sections 2 and 3. */
#include "queue/queue_private.h"

static const struct bt_str any_resource = BT_RESOURCE_ANY;
static const struct bt_str unschedulable_pod = BT_RESOURCE_UNSCHEDULABLE_POD;

static void find_listeners(const struct bt_event_hints *hints, const struct bt_cluster_event *event,
	struct bt_queue_listeners *out)
{
	for (uint32_t i = 0; i < hints->items.count; i++) {
		struct bt_queue_listener listener = {.hint = &hints->items.items[i]};

		if (!bt_cluster_event_match(&listener.hint->event, event)) {
			continue;
		}
		listener.rejector = listener.hint->plugin != NULL ? listener.hint->plugin->index
								  : BT_REJECTOR_EXTENDER;
		bt_vec_push(&out->items, listener);
		bt_rejectors_add(&out->rejectors, listener.rejector);
	}
}

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
			find_listeners(&queue->hints[i], &event, &added.listeners[i]);
			added.is_of_interest |= added.listeners[i].items.count > 0;
		}
	}
	bt_vec_push(&queue->events, added);
	return queue->events.count - 1;
}

void bt_queue_events_init(struct bt_queue *queue)
{
	/* In the order of enum bt_queue_known_event. */
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
		bt_event_hints_finish(&queue->hints[i]);
	}
	bt_free(queue->hints);
}

uint32_t bt_queue_event_index(struct bt_queue *queue, const struct bt_cluster_event *event)
{
	struct bt_strbuf label = {0};
	uint32_t index;

	BT_ASSERT(event->action != 0);
	/* A few dozen at most: resources and actions are not chosen by users of the cluster. */
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

bool bt_queue_is_of_interest(struct bt_queue *queue, const struct bt_cluster_event *event)
{
	return queue->events.items[bt_queue_event_index(queue, event)].is_of_interest;
}

uint32_t bt_queue_registered_actions(const struct bt_queue *queue, struct bt_str resource)
{
	uint32_t actions = 0;

	for (uint32_t p = 0; p < queue->profiles->frameworks.count; p++) {
		const struct bt_event_hints *hints = &queue->hints[p];

		for (uint32_t i = 0; i < hints->items.count; i++) {
			const struct bt_cluster_event *event = &hints->items.items[i].event;

			if (bt_str_equal(event->resource, resource) ||
				bt_str_equal(event->resource, any_resource)) {
				actions |= event->action;
			}
		}
	}
	return actions;
}

/* --- names --- */

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

/* --- counters --- */

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

void bt_queue_for_each_hint(const struct bt_queue *queue,
	void (*visit)(void *context, const struct bt_queue_hint_counters *counters), void *context)
{
	for (uint32_t i = 0; i < queue->events.count; i++) {
		const struct bt_queue_event *event = &queue->events.items[i];

		for (uint32_t p = 0;
			event->listeners != NULL && p < queue->profiles->frameworks.count; p++) {
			const struct bt_queue_listeners *listeners = &event->listeners[p];

			for (uint32_t l = 0; l < listeners->items.count; l++) {
				const struct bt_queue_listener *listener =
					&listeners->items.items[l];
				const struct bt_queue_hint_counters counters = {
					.plugin = bt_queue_rejector_name(
						queue, p, listener->rejector),
					.event_label = bt_str_from(event->label),
					.queue = listener->queue_count,
					.skip = listener->skip_count,
					.error = listener->error_count,
				};

				visit(context, &counters);
			}
		}
	}
}

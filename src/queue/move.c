/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the rejected pods that a cluster event moves, and their target queue. Spec: 04 sections
 * 8.7 to 8.9. All hints are evaluated before the first pod moves, which is safe because hints do
 * not read the queue.
 */
#include <stdlib.h>

#include "queue/backoff.h"
#include "queue/queue_private.h"

/** One pass of an event over the unschedulable pods. */
struct move_pass {
	struct bt_queue *queue;
	uint32_t event;
	struct bt_cluster_event kind; /* copy of the event; texts borrowed from the caller */
	const void *old_value;
	const void *new_value;
	/* The unschedulable pod that the event is about, or NULL. */
	const struct bt_queue_entry *self;
	const struct bt_queue_check *check;
	int64_t now_ns;
};

/** Selects the hints to call. */
enum selection {
	HINTS_ALL,
	HINTS_SHARED, /* hints with one answer for all pods of a group */
	HINTS_OF_POD, /* hints that depend on the single pod */
};

/**
 * Last result of the HINTS_OF_POD hints in a group. The result is reusable only if these hints
 * read nothing that differs between the pods of a group, except labels.
 */
struct label_memo {
	bool usable;
	bool filled;
	uint32_t label_set;
	enum bt_queue_strategy strategy;
};

static const void *value_of(const struct bt_object *object)
{
	return object != NULL ? object->value : NULL;
}

enum hint_outcome {
	HINT_QUEUE,
	HINT_SKIP,
	HINT_ERROR,
};

/** Counts `count` calls of a hint that had the same outcome. Each call took duration_ns. */
static void count_hints(const struct move_pass *pass, struct bt_queue_listener *listener,
	enum hint_outcome outcome, uint32_t count, int64_t duration_ns)
{
	static const struct bt_str names[] = {
		[HINT_QUEUE] = BT_STR_INIT("Queue"),
		[HINT_SKIP] = BT_STR_INIT("QueueSkip"),
		[HINT_ERROR] = BT_STR_INIT("Error"),
	};
	struct bt_scheduler_metrics *metrics = pass->queue->options.metrics;
	struct bt_metric_cell **cell = &listener->durations[outcome];

	listener->queue_count += outcome == HINT_QUEUE ? count : 0;
	listener->skip_count += outcome == HINT_SKIP ? count : 0;
	listener->error_count += outcome == HINT_ERROR ? count : 0;
	if (metrics == NULL) {
		return;
	}
	if (*cell == NULL) {
		const struct bt_plugin *plugin = listener->hint->plugin;
		const struct bt_str values[] = {
			bt_str_from(plugin != NULL ? plugin->ops->name : BT_EXTENDER_PLUGIN_NAME),
			bt_str_from(pass->queue->events.items[pass->event].label), names[outcome]};

		*cell = bt_scheduler_cell(metrics, BT_FAMILY_HINT_DURATION, values);
	}
	bt_metric_observe_times(*cell, bt_metrics_seconds(duration_ns), count);
}

/** Calls one hint and returns whether the result is Queue; an error counts as Queue. */
static bool is_queued_by(const struct move_pass *pass, struct bt_queue_listener *listener,
	const struct bt_queue_entry *entry)
{
	int64_t started_ns = bt_metrics_now(pass->queue->options.metrics);
	struct berth_error err = BERTH_ERROR_INIT;
	enum hint_outcome outcome = HINT_QUEUE;

	const struct bt_hint_call call = {
		.plugin = listener->hint->plugin,
		.pod = &entry->pod,
		.old_object = pass->old_value,
		.new_object = pass->new_value,
		.registration = listener->hint->registration,
		.err = &err,
	};

	if (listener->hint->hint != NULL && !listener->hint->hint(&call)) {
		outcome = HINT_SKIP;
	}
	if (err.code != BERTH_OK) {
		bt_queue_warn(pass->queue,
			"QueueingHintFn returns error: plugin %s, event %s, pod %s: %s",
			listener->hint->plugin->ops->name,
			pass->queue->events.items[pass->event].label,
			bt_queue_pod_text(pass->queue, &entry->pod), berth_error_message(&err));
		berth_error_finish(&err);
		outcome = HINT_ERROR;
	}
	count_hints(pass, listener, outcome, 1,
		bt_metrics_now(pass->queue->options.metrics) - started_ns);
	return outcome != HINT_SKIP;
}

bool bt_queue_is_final(const struct bt_rejectors *pending, enum bt_queue_strategy strategy)
{
	return strategy == BT_STRATEGY_IMMEDIATELY ||
		(strategy == BT_STRATEGY_AFTER_BACKOFF && bt_rejectors_is_empty(pending));
}

static enum bt_hint_scope scope_of(const struct move_pass *pass,
	const struct bt_queue_listener *listener, const struct bt_queue_entry *entry)
{
	const struct bt_plugin_shortcuts *shortcuts;

	if (listener->hint->hint == NULL) {
		return BT_HINT_SCOPE_SHAPE;
	}
	shortcuts = bt_shortcuts(listener->hint->plugin);
	return shortcuts->hint_scope_of == NULL
		? shortcuts->hint_scope
		: shortcuts->hint_scope_of(listener->hint->plugin, entry->pod.shape, &pass->kind,
			  pass->old_value, pass->new_value);
}

/** Calls the hints of the entry's rejectors until no hint can make `best` more eager. */
static enum bt_queue_strategy run_hints(const struct move_pass *pass,
	const struct bt_queue_entry *entry, enum selection selection, enum bt_queue_strategy best)
{
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	struct bt_queue_listeners *listeners =
		&pass->queue->events.items[pass->event].listeners[entry->profile];

	for (uint32_t i = 0;
		i < listeners->items.count && !bt_queue_is_final(&entry->pending_plugins, best);
		i++) {
		struct bt_queue_listener *listener = &listeners->items.items[i];

		if (!bt_rejectors_has(&rejectors, listener->rejector) ||
			(selection != HINTS_ALL &&
				(scope_of(pass, listener, entry) >= BT_HINT_SCOPE_NAMESPACE) !=
					(selection == HINTS_SHARED)) ||
			!is_queued_by(pass, listener, entry)) {
			continue;
		}
		best = bt_rejectors_has(&entry->pending_plugins, listener->rejector)
			? BT_STRATEGY_IMMEDIATELY
			: BT_STRATEGY_AFTER_BACKOFF;
	}
	return best;
}

enum bt_queue_strategy bt_queue_is_pod_worth_requeuing(struct bt_queue *queue,
	const struct bt_queue_entry *entry, uint32_t event, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	const struct move_pass pass = {
		.queue = queue,
		.event = event,
		.old_value = value_of(old_object),
		.new_value = value_of(new_object),
	};
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);

	if (bt_rejectors_is_empty(&rejectors)) {
		return BT_STRATEGY_AFTER_BACKOFF;
	}
	if (queue->events.items[event].is_wildcard) {
		/* A wildcard event with an object concerns the pod of the same UID only. */
		return new_object != NULL &&
				(new_object->kind != BT_KIND_POD ||
					!bt_str_equal(new_object->meta->uid, entry->pod.uid))
			? BT_STRATEGY_SKIP
			: BT_STRATEGY_AFTER_BACKOFF;
	}
	if (entry->profile == BT_QUEUE_NONE) {
		bt_queue_warn(queue, "No QueueingHintMap is registered for this profile: pod %s",
			bt_queue_pod_text(queue, &entry->pod));
		return BT_STRATEGY_AFTER_BACKOFF;
	}
	return run_hints(&pass, entry, HINTS_ALL, BT_STRATEGY_SKIP);
}

/**
 * Whether the pod passes the check. The record is unparked only if the pod's UID and the excluded
 * UID have the same hash.
 */
static bool is_checked(
	const struct move_pass *pass, const struct bt_queue_group *group, uint32_t entry_id)
{
	const struct bt_queue_check *check = pass->check;
	struct bt_queue *queue = pass->queue;

	if (check == NULL) {
		return true;
	}
	if (check->has_priority_max &&
		bt_pod_priority(bt_shape_pod(bt_shape_at(&queue->state->shapes, group->shape_id))) >
			check->priority_max) {
		return false;
	}
	return check->excluded_uid.length == 0 ||
		(uint32_t)bt_str_hash(check->excluded_uid) !=
		bt_queue_entry_at(queue, entry_id)->uid_hash ||
		!bt_str_equal(check->excluded_uid, bt_queue_unpark(queue, entry_id)->pod.uid);
}

void bt_queue_add_departure(struct bt_queue *queue, const struct bt_queue_entry *entry,
	enum bt_queue_strategy strategy, bool stays_gated)
{
	struct bt_queue_departure departure = {
		entry->sequence + queue->groups.items[entry->group].shift, entry->id, strategy,
		stays_gated};

	bt_vec_push(&queue->departures, departure);
}

/** The narrowest hint scope among the rejectors of an entry's group. */
static enum bt_hint_scope least_scope(
	const struct move_pass *pass, const struct bt_queue_entry *entry)
{
	struct bt_rejectors rejectors = bt_queue_entry_rejectors(entry);
	const struct bt_queue_listeners *listeners =
		&pass->queue->events.items[pass->event].listeners[entry->profile];
	enum bt_hint_scope least = BT_HINT_SCOPE_SHAPE;

	for (uint32_t i = 0; i < listeners->items.count; i++) {
		const struct bt_queue_listener *listener = &listeners->items.items[i];
		enum bt_hint_scope scope;

		if (bt_rejectors_has(&rejectors, listener->rejector)) {
			scope = scope_of(pass, listener, entry);
			least = scope < least ? scope : least;
		}
	}
	return least;
}

/** Whether all members pass the check. */
static bool are_all_checked(const struct move_pass *pass, const struct bt_queue_group *group)
{
	for (uint32_t id = group->first; pass->check != NULL && id != BT_QUEUE_NONE;
		id = bt_queue_entry_at(pass->queue, id)->next_in_group) {
		if (!is_checked(pass, group, id)) {
			return false;
		}
	}
	return true;
}

/** Whether the gating plugin would reject each member again, whatever the strategy. */
static bool stays_gated(const struct move_pass *pass, const struct bt_queue_group *group,
	const struct bt_queue_entry *member)
{
	const struct bt_queue *queue = pass->queue;
	struct bt_plugin *plugin;

	if (!bt_queue_entry_is_gated(member) || member->profile == BT_QUEUE_NONE ||
		(!queue->pops_backoff &&
			bt_is_backing_off(
				group->latest_expiration_ns, pass->now_ns, queue->pops_backoff))) {
		return false;
	}
	plugin = queue->profiles->frameworks.items[member->profile]
			 ->instances.items[member->gating_plugin];
	return bt_shortcuts(plugin)->pre_enqueue_rejects != NULL &&
		bt_shortcuts(plugin)->pre_enqueue_rejects(plugin, &member->pod);
}

static void evaluate_group(const struct move_pass *pass, const struct bt_queue_group *group)
{
	struct bt_queue *queue = pass->queue;
	const struct bt_queue_entry *first = bt_queue_unpark(queue, group->first);
	struct bt_rejectors pending = first->pending_plugins;
	enum bt_hint_scope scope = least_scope(pass, first);
	enum bt_queue_strategy shared = BT_STRATEGY_SKIP;
	struct label_memo memo = {.usable = scope == BT_HINT_SCOPE_LABELS};
	bool has_self = pass->self != NULL && pass->self->group == first->group;
	bool has_own = scope < BT_HINT_SCOPE_NAMESPACE;
	bool is_held = stays_gated(pass, group, first);

	if (first == pass->self && first->next_in_group != BT_QUEUE_NONE) {
		first = bt_queue_unpark(queue, first->next_in_group);
	}
	if (first != pass->self) {
		shared = run_hints(pass, first, HINTS_SHARED, BT_STRATEGY_SKIP);
	}
	if (shared == BT_STRATEGY_SKIP && !has_own && !has_self) {
		return;
	}
	bool is_shared = !has_own || bt_queue_is_final(&pending, shared);
	enum bt_queue_strategy of_self = BT_STRATEGY_SKIP;

	/* All members get the same result: move the whole group. */
	if (!has_self && is_shared &&
		bt_queue_can_activate_group(queue, group, shared, pass->now_ns) &&
		are_all_checked(pass, group)) {
		bt_vec_push(&queue->whole_groups, (uint32_t)(group - queue->groups.items));
		return;
	}
	if (has_self && is_checked(pass, group, pass->self->id)) {
		of_self = run_hints(pass, pass->self, HINTS_ALL, BT_STRATEGY_SKIP);
	}
	if (is_held && is_shared && shared != BT_STRATEGY_SKIP &&
		(!has_self || of_self != BT_STRATEGY_SKIP) && are_all_checked(pass, group)) {
		bt_vec_push(&queue->held_groups, (uint32_t)(group - queue->groups.items));
		return;
	}
	/*
	 * Start with the oldest pod, because most groups are in the order of arrival. The
	 * departures are then in this order too, and bt_queue_sort_departures has little to do.
	 */
	for (uint32_t id = group->last; id != BT_QUEUE_NONE;) {
		uint32_t next = bt_queue_entry_at(queue, id)->previous_in_group;
		enum bt_queue_strategy strategy = shared;

		if (!is_checked(pass, group, id)) {
			id = next;
			continue;
		}
		if (bt_queue_entry_at(queue, id) == pass->self) {
			strategy = of_self;
		} else if (has_own && !bt_queue_is_final(&pending, strategy)) {
			/* Hints that depend on the single pod may improve the pod's strategy. */
			uint32_t label_set = bt_queue_entry_at(pass->queue, id)->label_set;

			if (!memo.usable || !memo.filled || label_set != memo.label_set) {
				memo.strategy = run_hints(pass, bt_queue_unpark(pass->queue, id),
					HINTS_OF_POD, strategy);
				memo.filled = true;
				memo.label_set = label_set;
			}
			strategy = memo.strategy;
			if (queue->unparked.count > BT_QUEUE_UNPARKED_MAX) {
				bt_queue_park_all(queue, pass->self);
			}
		}
		if (strategy != BT_STRATEGY_SKIP) {
			bt_queue_add_departure(
				queue, bt_queue_entry_at(queue, id), strategy, is_held);
		}
		id = next;
	}
}

/**
 * Upper limits of what an event offers to pods. A group that needs more is skipped, without a call
 * of a hint.
 */
struct screen {
	bool is_usable;
	bool has_limits;
	bool has_offers;
	uint32_t skip_count; /* number of groups that were skipped */
	int64_t most[BT_HINT_NEEDS];
	struct bt_hint_offers offers;
};

/**
 * Prepares the screen for a class. The screen is usable if the event is not about an unschedulable
 * pod, and if each rejector that listens to the event sets `most` (hint_limits) or `offers`
 * (hint_offers).
 */
static void init_screen(const struct move_pass *pass, uint32_t profile,
	const struct bt_rejectors *rejectors, struct screen *screen)
{
	const struct bt_queue_listeners *listeners =
		&pass->queue->events.items[pass->event].listeners[profile];

	screen->is_usable = pass->self == NULL;
	screen->has_limits = false;
	screen->has_offers = false;
	screen->skip_count = 0;
	for (uint32_t i = 0; i < listeners->items.count && screen->is_usable; i++) {
		const struct bt_queue_listener *listener = &listeners->items.items[i];
		struct bt_plugin *plugin = listener->hint->plugin;

		if (!bt_rejectors_has(rejectors, listener->rejector)) {
			continue;
		}
		if (listener->hint->hint == NULL) {
			screen->is_usable = false;
		} else if (plugin == pass->queue->measuring[profile]) {
			screen->has_limits = bt_shortcuts(plugin)->hint_limits(plugin, &pass->kind,
				pass->old_value, pass->new_value, screen->most);
			screen->is_usable = screen->has_limits;
		} else if (bt_shortcuts(plugin)->hint_offers != NULL) {
			if (!screen->has_offers) {
				screen->offers = (struct bt_hint_offers){0};
				bt_hint_offer(&screen->offers, BT_HINT_MARK_ALWAYS);
			}
			screen->has_offers = true;
			screen->is_usable = bt_shortcuts(plugin)->hint_offers(plugin, &pass->kind,
				pass->old_value, pass->new_value, &screen->offers);
		} else {
			screen->is_usable = false;
		}
	}
}

static void evaluate_class(const struct move_pass *pass, const struct bt_queue_class *class)
{
	struct bt_queue *queue = pass->queue;
	const struct bt_queue_event *event = &queue->events.items[pass->event];
	struct bt_rejectors rejectors =
		bt_rejectors_union(&class->unschedulable_plugins, &class->pending_plugins);
	bool asks = class->profile != BT_QUEUE_NONE && !bt_rejectors_is_empty(&rejectors);
	struct screen screen;

	if (asks &&
		!bt_rejectors_intersect(&event->listeners[class->profile].rejectors, &rejectors)) {
		return;
	}
	if (asks) {
		init_screen(pass, class->profile, &rejectors, &screen);
	}
	for (uint32_t id = class->first_group; id != BT_QUEUE_NONE;
		id = queue->groups.items[id].next_in_class) {
		const struct bt_queue_group *group = &queue->groups.items[id];

		if (asks) {
			/* Skip the group if all of its hints would return Skip. */
			bool above = !screen.has_limits;

			for (uint32_t i = 0;
				screen.is_usable && screen.has_limits && i < BT_HINT_NEEDS; i++) {
				above |= group->needs[i] > screen.most[i];
			}
			if (screen.is_usable && above &&
				!(screen.has_offers &&
					bt_hint_is_offered(&screen.offers, &group->wants))) {
				screen.skip_count++;
			} else {
				evaluate_group(pass, group);
			}
			continue;
		}
		/*
		 * The pods have no rejector or no profile, so the event moves them without hints.
		 * Spec 04 section 8.8.
		 */
		for (uint32_t e = group->first; e != BT_QUEUE_NONE;
			e = bt_queue_entry_at(queue, e)->next_in_group) {
			if (is_checked(pass, group, e)) {
				bt_queue_add_departure(queue, bt_queue_entry_at(queue, e),
					BT_STRATEGY_AFTER_BACKOFF, false);
			}
		}
	}
	if (!asks || screen.skip_count == 0) {
		return;
	}
	/* For each skipped group, count a Skip by each rejector that listens to the event. */
	struct bt_queue_listeners *listeners = &event->listeners[class->profile];
	for (uint32_t i = 0; i < listeners->items.count; i++) {
		struct bt_queue_listener *listener = &listeners->items.items[i];

		if (bt_rejectors_has(&rejectors, listener->rejector)) {
			count_hints(pass, listener, HINT_SKIP, screen.skip_count, 0);
		}
	}
}

/** Whether any profile's registration of the gating plugin matches the event. */
static bool gate_listens(const struct move_pass *pass, const struct bt_queue_class *class)
{
	const struct bt_queue *queue = pass->queue;
	const struct bt_queue_event *event = &queue->events.items[pass->event];
	struct bt_str name = bt_queue_rejector_name(queue, class->profile, class->gating_plugin);

	for (uint32_t p = 0; p < queue->profiles->frameworks.count; p++) {
		const struct bt_queue_listeners *listeners = &event->listeners[p];

		for (uint32_t i = 0; i < listeners->items.count; i++) {
			const struct bt_plugin *plugin = listeners->items.items[i].hint->plugin;

			if (plugin != NULL && bt_str_equal_c(name, plugin->ops->name)) {
				return true;
			}
		}
	}
	return false;
}

BT_COMPARE(compare_arrivals, struct bt_queue_departure, BT_ORDER(a->sequence, b->sequence))

void bt_queue_sort_departures(struct bt_queue *queue)
{
	const struct bt_queue_departure *items = queue->departures.items;
	uint32_t count = queue->departures.count;
	uint32_t sorted = 1;

	while (sorted < count && items[sorted - 1].sequence < items[sorted].sequence) {
		sorted++;
	}
	if (sorted < count) {
		qsort(queue->departures.items, count, sizeof(*items), compare_arrivals);
	}
}

void bt_queue_requeue_departures(struct bt_queue *queue, uint32_t event, int64_t now_ns)
{
	bt_queue_sort_departures(queue);
	for (uint32_t i = 0; i < queue->departures.count; i++) {
		struct bt_queue_departure departure = queue->departures.items[i];
		struct bt_queue_entry *entry;

		if (departure.stays_gated) {
			/* The entry stays in unschedulablePods, but counts as newly arrived. */
			entry = bt_queue_entry_at(queue, departure.entry);
			entry->sequence =
				queue->next_sequence++ - queue->groups.items[entry->group].shift;
			queue->events.items[event].incoming[BT_QUEUE_UNSCHEDULABLE]++;
			bt_run_pre_enqueue_known(
				queue->profiles->frameworks.items[entry->profile], 1);
			continue;
		}
		entry = bt_queue_unpark(queue, departure.entry);
		/*
		 * Take the entry out first: a pod that is still gated then counts as newly arrived.
		 */
		bt_queue_take_out(queue, entry);
		(void)bt_queue_requeue_with_strategy(
			queue, entry, departure.strategy, event, now_ns);
	}
	queue->departures.count = 0;
}

void bt_queue_move_all_to_active_or_backoff_queue(struct bt_queue *queue,
	const struct bt_cluster_event *event, struct bt_object *old_object,
	struct bt_object *new_object, const struct bt_queue_check *check, int64_t now_ns)
{
	struct move_pass pass = {
		.queue = queue,
		.event = bt_queue_event_index(queue, event),
		.kind = *event,
		.old_value = value_of(old_object),
		.new_value = value_of(new_object),
		.check = check,
		.now_ns = now_ns,
	};

	/* Only the leftover flush and Activate use the wildcard event. */
	BT_ASSERT(!bt_cluster_event_is_wildcard(event));
	if (!queue->events.items[pass.event].is_of_interest) {
		return;
	}
	queue->holds_back = false;
	bt_queue_park_all(queue, NULL);
	/* Set pass.self to the unschedulable pod that the event is about, or to NULL. */
	const struct bt_object *object = new_object != NULL ? new_object : old_object;
	const struct bt_queue_entry *entry;

	if (object == NULL || object->kind != BT_KIND_POD) {
		pass.self = NULL;
	} else {
		entry = bt_queue_lookup(queue, object->meta->namespace_, object->meta->name);
		pass.self = entry != NULL && entry->place == BT_QUEUE_UNSCHEDULABLE ? entry : NULL;
	}
	for (uint32_t i = 0; i < queue->classes.count; i++) {
		const struct bt_queue_class *class = &queue->classes.items[i];

		if (class->group_count > 0 &&
			(class->gating_plugin == BT_QUEUE_NONE || gate_listens(&pass, class))) {
			evaluate_class(&pass, class);
		}
	}
	for (uint32_t i = 0; i < queue->whole_groups.count; i++) {
		bt_queue_activate_group(queue, queue->whole_groups.items[i], pass.event, now_ns);
	}
	queue->whole_groups.count = 0;
	/*
	 * Let all members of the groups in held_groups arrive anew, because they stay gated. A gang
	 * that waits for members is such a group each time that a member arrives. If only one group
	 * arrives anew, the order of its members stays, so no member is visited.
	 */
	if (queue->held_groups.count == 1 && queue->departures.count == 0) {
		struct bt_queue_group *group = &queue->groups.items[queue->held_groups.items[0]];
		uint64_t delta = queue->next_sequence - group->least_sequence;

		group->shift += delta;
		group->least_sequence += delta;
		queue->next_sequence += delta;
		queue->events.items[pass.event].incoming[BT_QUEUE_UNSCHEDULABLE] += group->count;
		bt_run_pre_enqueue_known(
			queue->profiles->frameworks
				.items[queue->classes.items[group->class_id].profile],
			group->count);
		queue->held_groups.count = 0;
	}
	for (uint32_t i = 0; i < queue->held_groups.count; i++) {
		uint32_t id = queue->groups.items[queue->held_groups.items[i]].last;

		for (; id != BT_QUEUE_NONE; id = bt_queue_entry_at(queue, id)->previous_in_group) {
			bt_queue_add_departure(queue, bt_queue_entry_at(queue, id),
				BT_STRATEGY_AFTER_BACKOFF, true);
		}
	}
	queue->held_groups.count = 0;
	bt_queue_requeue_departures(queue, pass.event, now_ns);
	if (queue->in_flight.map.count > 0) {
		bt_queue_log_event(queue, pass.event, old_object, new_object);
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/** What is read off queue and cache when metrics are written. Spec 11 section 10.2. */
#include "sched/scheduler_private.h"

#define REJECTORS_OF_PROFILE BT_REJECTOR__COUNT

/** A gauge that was reset stays at 0 until what it shows changes. */
static void show(struct bt_collected_value *value, double now)
{
	if (now > value->last || now < value->last) {
		bt_metric_set(value->cell, now);
		value->last = now;
	} else if (!value->cell->is_recorded) {
		bt_metric_set(value->cell, 0);
	}
}

static void count_up(struct bt_collected_value *value, double now)
{
	if (now > value->last) {
		bt_metric_add(value->cell, now - value->last);
		value->last = now;
	}
}

static void collect_pending(struct bt_scheduler *scheduler)
{
	static const char *const names[] = {
		[BT_QUEUE_GAUGE_ACTIVE] = "active",
		[BT_QUEUE_GAUGE_BACKOFF] = "backoff",
		[BT_QUEUE_GAUGE_UNSCHEDULABLE] = "unschedulable",
		[BT_QUEUE_GAUGE_GATED] = "gated",
	};
	for (uint32_t i = 0; i < BT_QUEUE_GAUGE__COUNT; i++) {
		struct bt_collected_value *value = &scheduler->collected.pending[i];
		if (value->cell == NULL) {
			value->cell = bt_scheduler_cell_of(
				scheduler->metrics, BT_FAMILY_PENDING_PODS, names[i]);
		}
		show(value, bt_queue_pending(scheduler->queue, (enum bt_queue_gauge)i));
	}
}

/** --- by event --- */

static void collect_label(void *context, const struct bt_queue_event_counters *counters)
{
	struct bt_scheduler *scheduler = context;
	struct bt_collected *collected = &scheduler->collected;
	if (collected->visited == collected->labels.count) {
		struct bt_collected_label label = {0};
		struct bt_scheduler_metrics *metrics = scheduler->metrics;
		struct bt_str event = counters->label;
		static const struct bt_str queues[] = {BT_STR_INIT("active"),
			BT_STR_INIT("backoff"), BT_STR_INIT("unschedulable")};
		for (uint32_t i = 0; i < BT_ARRAY_LENGTH(queues); i++) {
			const struct bt_str values[] = {queues[i], event};
			label.incoming[i].cell =
				bt_scheduler_cell(metrics, BT_FAMILY_QUEUE_INCOMING, values);
		}
		label.in_flight.cell =
			bt_scheduler_cell(metrics, BT_FAMILY_INFLIGHT_EVENTS, &event);
		bt_vec_push(&collected->labels, label);
	}
	struct bt_collected_label *label = &collected->labels.items[collected->visited++];
	count_up(&label->incoming[0], (double)counters->incoming_active);
	count_up(&label->incoming[1], (double)counters->incoming_backoff);
	count_up(&label->incoming[2], (double)counters->incoming_unschedulable);
	if (counters->in_flight != 0 || label->in_flight.cell->is_recorded) {
		show(&label->in_flight, counters->in_flight);
	}
}

/** --- by plugin --- */

static void collect_rejector(struct bt_scheduler *scheduler, uint32_t profile, uint32_t rejector)
{
	struct bt_collected *collected = &scheduler->collected;
	struct bt_collected_value *value =
		&collected->unschedulable.items[profile * REJECTORS_OF_PROFILE + rejector];
	int64_t pods = bt_queue_unschedulable_pods(scheduler->queue, profile, rejector);
	if (value->cell == NULL) {
		if (pods == 0) {
			return;
		}
		const struct bt_framework *framework =
			scheduler->engine->profiles.frameworks.items[profile];
		const struct bt_str values[] = {
			bt_queue_rejector_name(scheduler->queue, profile, rejector),
			framework->scheduler_name};
		value->cell =
			bt_scheduler_cell(scheduler->metrics, BT_FAMILY_UNSCHEDULABLE_PODS, values);
	}
	show(value, (double)pods);
}

static void collect_unschedulable(struct bt_scheduler *scheduler)
{
	struct bt_collected *collected = &scheduler->collected;
	uint32_t profiles = scheduler->engine->profiles.frameworks.count;
	while (collected->unschedulable.count < profiles * REJECTORS_OF_PROFILE) {
		struct bt_collected_value unknown = {0};
		bt_vec_push(&collected->unschedulable, unknown);
	}
	for (uint32_t p = 0; p < profiles; p++) {
		for (uint32_t r = 0; r < REJECTORS_OF_PROFILE; r++) {
			collect_rejector(scheduler, p, r);
		}
	}
}

/** --- the rest --- */

static void set(struct bt_scheduler *scheduler, enum bt_scheduler_family family, const char *label,
	double to)
{
	bt_metric_set(bt_scheduler_cell_of(scheduler->metrics, family, label), to);
}

static void collect(void *source)
{
	struct bt_scheduler *scheduler = source;
	collect_pending(scheduler);
	struct bt_collected *collected = &scheduler->collected;
	collected->visited = 0;
	bt_queue_for_each_label(scheduler->queue, collect_label, scheduler);
	if (collected->pods_popped.cell == NULL) {
		collected->pods_popped.cell = bt_scheduler_cell_of(
			scheduler->metrics, BT_FAMILY_INFLIGHT_EVENTS, "PodPopped");
	}
	show(&collected->pods_popped, bt_queue_in_flight_count(scheduler->queue));
	collect_unschedulable(scheduler);
	uint32_t bindings = scheduler->permitted.count + scheduler->bindings.count -
		scheduler->free_bindings.count;
	set(scheduler, BT_FAMILY_GOROUTINES, "binding", bindings);
	/* Nodes are filtered and scored in line: nothing of that is under way while metrics are
	 * written. */
	set(scheduler, BT_FAMILY_GOROUTINES, "Filter", 0);
	set(scheduler, BT_FAMILY_GOROUTINES, "Score", 0);
	const struct bt_state *state = scheduler->engine->state;
	set(scheduler, BT_FAMILY_CACHE_SIZE, "nodes", state->node_entry_count);
	set(scheduler, BT_FAMILY_CACHE_SIZE, "pods", bt_state_pod_count(state));
	set(scheduler, BT_FAMILY_CACHE_SIZE, "assumed_pods", state->pods.assumed_count);
	for (uint32_t i = 0; scheduler->queues_calls && i < BT_API_CALL__COUNT; i++) {
		struct bt_collected_value *value = &scheduler->collected.pending_calls[i];
		if (value->cell == NULL) {
			value->cell = bt_scheduler_cell_of(scheduler->metrics,
				BT_FAMILY_PENDING_API_CALLS,
				bt_api_call_type_name((enum bt_api_call_type)i));
		}
		show(value, scheduler->calls.counters[i].pending);
	}
}

void bt_scheduler_start_collecting(struct bt_scheduler *scheduler)
{
	if (scheduler->metrics != NULL) {
		bt_scheduler_metrics_set_source(scheduler->metrics, collect, scheduler);
	}
}

void bt_scheduler_stop_collecting(struct bt_scheduler *scheduler)
{
	if (scheduler->metrics != NULL && scheduler->metrics->source == scheduler) {
		bt_scheduler_metrics_set_source(scheduler->metrics, NULL, NULL);
	}
	bt_vec_finish(&scheduler->collected.labels);
	bt_vec_finish(&scheduler->collected.unschedulable);
}

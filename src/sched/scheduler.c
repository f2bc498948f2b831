/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/scheduler.h"

#include "api/event.h"
#include "api/identity.h"
#include "base/alloc.h"
#include "base/log.h"
#include "sched/scheduler_private.h"

/** Metrics that are read from queue and cache when metrics are written. Spec 11 section 10.2. */

/**
 * Set a gauge if its value changed. After a reset of the metrics, a gauge shows 0 until its value
 * changes.
 */
static void update_gauge(struct bt_collected_value *value, double now)
{
	if (now > value->last || now < value->last) {
		bt_metric_set(value->cell, now);
		value->last = now;
	} else if (!value->cell->is_recorded) {
		bt_metric_set(value->cell, 0);
	}
}

/**
 * Does the same as update_gauge, for a family with one label. Looks up the metric cell at the first
 * call.
 */
static void update_labelled(struct bt_scheduler *scheduler, struct bt_collected_value *value,
	enum bt_scheduler_family family, const char *label, double now)
{
	if (value->cell == NULL) {
		value->cell = bt_scheduler_cell_of(scheduler->metrics, family, label);
	}
	update_gauge(value, now);
}

static void increase_counter(struct bt_collected_value *value, double now)
{
	if (now > value->last) {
		bt_metric_add(value->cell, now - value->last);
		value->last = now;
	}
}

/** --- metrics by event --- */

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
	increase_counter(&label->incoming[0], (double)counters->incoming_active);
	increase_counter(&label->incoming[1], (double)counters->incoming_backoff);
	increase_counter(&label->incoming[2], (double)counters->incoming_unschedulable);
	if (counters->in_flight != 0 || label->in_flight.cell->is_recorded) {
		update_gauge(&label->in_flight, counters->in_flight);
	}
}

/** --- other metrics --- */

static void set_metric(struct bt_scheduler *scheduler, enum bt_scheduler_family family,
	const char *label, double to)
{
	bt_metric_set(bt_scheduler_cell_of(scheduler->metrics, family, label), to);
}

static void collect(void *source)
{
	struct bt_scheduler *scheduler = source;
	static const char *const names[] = {
		[BT_QUEUE_GAUGE_ACTIVE] = "active",
		[BT_QUEUE_GAUGE_BACKOFF] = "backoff",
		[BT_QUEUE_GAUGE_UNSCHEDULABLE] = "unschedulable",
		[BT_QUEUE_GAUGE_GATED] = "gated",
	};
	for (uint32_t j = 0; j < BT_QUEUE_GAUGE__COUNT; j++) {
		update_labelled(scheduler, &scheduler->collected.pending[j], BT_FAMILY_PENDING_PODS,
			names[j], bt_queue_pending(scheduler->queue, (enum bt_queue_gauge)j));
	}
	struct bt_collected *collected = &scheduler->collected;
	collected->visited = 0;
	bt_queue_for_each_label(scheduler->queue, collect_label, scheduler);
	update_labelled(scheduler, &collected->pods_popped, BT_FAMILY_INFLIGHT_EVENTS, "PodPopped",
		bt_queue_in_flight_count(scheduler->queue));
	uint32_t profiles = scheduler->engine->profiles.frameworks.count;
	while (collected->unschedulable.count < profiles * BT_REJECTOR__COUNT) {
		struct bt_collected_value unknown = {0};
		bt_vec_push(&collected->unschedulable, unknown);
	}
	for (uint32_t p = 0; p < profiles; p++) {
		for (uint32_t r = 0; r < BT_REJECTOR__COUNT; r++) {
			struct bt_collected_value *value =
				&collected->unschedulable.items[p * BT_REJECTOR__COUNT + r];
			int64_t pods = bt_queue_unschedulable_pods(scheduler->queue, p, r);
			if (value->cell == NULL && pods == 0) {
				continue;
			}
			if (value->cell == NULL) {
				const struct bt_str values[] = {
					bt_queue_rejector_name(scheduler->queue, p, r),
					scheduler->engine->profiles.frameworks.items[p]
						->scheduler_name};
				value->cell = bt_scheduler_cell(
					scheduler->metrics, BT_FAMILY_UNSCHEDULABLE_PODS, values);
			}
			update_gauge(value, (double)pods);
		}
	}
	uint32_t bindings = scheduler->permitted.count + scheduler->bindings.map.count;
	set_metric(scheduler, BT_FAMILY_GOROUTINES, "binding", bindings);
	/*
	 * Filter and Score run on this thread, so no Filter or Score plugin is running while
	 * metrics are written.
	 */
	set_metric(scheduler, BT_FAMILY_GOROUTINES, "Filter", 0);
	set_metric(scheduler, BT_FAMILY_GOROUTINES, "Score", 0);
	const struct bt_state *state = scheduler->engine->state;
	set_metric(scheduler, BT_FAMILY_CACHE_SIZE, "nodes", state->node_entry_count);
	set_metric(scheduler, BT_FAMILY_CACHE_SIZE, "pods", state->pods.count);
	set_metric(scheduler, BT_FAMILY_CACHE_SIZE, "assumed_pods", state->pods.assumed_count);
	for (uint32_t i = 0; scheduler->queues_calls && i < BT_API_CALL__COUNT; i++) {
		update_labelled(scheduler, &scheduler->collected.pending_calls[i],
			BT_FAMILY_PENDING_API_CALLS,
			bt_api_call_type_name((enum bt_api_call_type)i),
			scheduler->calls.pending_counts[i]);
	}
}

/** --- create and destroy --- */

static int bind_through_writer(void *context, const struct bt_pod_info *pod,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_scheduler *scheduler = context;
	if (scheduler->writer.bind == NULL) {
		return 0;
	}
	if (scheduler->queues_calls) {
		return bt_scheduler_queue_binding(scheduler, pod, node_name, err);
	}
	return scheduler->writer.bind(scheduler->writer.context, pod, node_name, err);
}

static const struct bt_pod *find_pod(void *context, struct bt_str namespace_, struct bt_str name)
{
	struct bt_scheduler *scheduler = context;
	const struct bt_object *pod = bt_object_store_unpack(&scheduler->pods, namespace_, name);
	return pod != NULL ? pod->value : NULL;
}

/**
 * Plugins may call this function at any time. The next step activates the pod, when no plugin runs.
 */
static void activate_later(void *context, struct bt_str namespace_, struct bt_str name)
{
	struct bt_scheduler *scheduler = context;
	struct bt_strbuf key = {0};
	bt_strbuf_printf(&key, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
	bt_vec_push(
		&scheduler->to_activate, bt_strndup(bt_strbuf_c(&key), bt_strbuf_str(&key).length));
	bt_strbuf_finish(&key);
}

void bt_scheduler_send_event(const struct bt_scheduler *scheduler, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, struct bt_str note)
{
	if (scheduler->writer.event != NULL) {
		scheduler->writer.event(scheduler->writer.context, pod, type, reason, action, note);
	}
}

static void record_event(void *context, const struct bt_pod_info *pod, const char *type,
	const char *reason, const char *action, struct bt_str note)
{
	if (pod->object != NULL) {
		bt_scheduler_send_event(context, pod->object, type, reason, action, note);
	}
}

int bt_scheduler_create(struct bt_config *config, const struct bt_engine_options *options,
	const struct bt_scheduler_writer *writer, struct bt_scheduler **out_scheduler,
	struct berth_error *err)
{
	const struct bt_gates *gates = &config->gates;
	struct bt_scheduler *scheduler = BT_NEW(struct bt_scheduler);
	BT_ASSERT(writer->delete_pod == NULL || writer->patch_other != NULL ||
		writer->patch_status != NULL);
	scheduler->writer = *writer;
	scheduler->binder = (struct bt_binder){.bind = bind_through_writer, .context = scheduler};
	scheduler->lister = (struct bt_pod_lister){.find = find_pod, .context = scheduler};
	scheduler->services = (struct bt_handle_services){
		.context = scheduler, .activate = activate_later, .event = record_event};
	scheduler->change_gates = (struct bt_change_gates){
		.dynamic_resource_allocation = true,
		.in_place_pod_level_resources = bt_gate_enabled(
			gates, BT_GATE_IN_PLACE_POD_LEVEL_RESOURCES_VERTICAL_SCALING),
		.node_declared_features = bt_gate_enabled(gates, BT_GATE_NODE_DECLARED_FEATURES),
	};
	bt_waiting_pods_init(&scheduler->waiting);
	scheduler->next_wake_ns = INT64_MAX;
	scheduler->announces_pending = bt_gate_enabled(gates, BT_GATE_GANG_SCHEDULING);
	scheduler->queues_calls = bt_gate_enabled(gates, BT_GATE_SCHEDULER_ASYNC_API_CALLS);
	bt_scheduler_init_calls(scheduler);
	bt_object_store_init(&scheduler->pods);
	scheduler->pods.packs = true;
	bt_arena_init(&scheduler->scratch, 0);
	if (bt_gate_enabled(gates, BT_GATE_GENERIC_WORKLOAD)) {
		scheduler->group_cycle = bt_group_cycle_create(gates);
	}
	scheduler->metrics = options->metrics;
	int result = bt_engine_create(config, options, &scheduler->engine, err);
	if (result < 0) {
		bt_scheduler_destroy(scheduler);
		return result;
	}
	struct bt_engine *engine = scheduler->engine;
	for (uint32_t i = 0; i < engine->profiles.frameworks.count; i++) {
		struct bt_handle *handle = &engine->profiles.frameworks.items[i]->handle;
		handle->binder = &scheduler->binder;
		handle->pods = &scheduler->lister;
		handle->waiting_pods = &scheduler->waiting;
		handle->preemption_writer =
			writer->delete_pod != NULL ? &scheduler->preemption : NULL;
		handle->services = &scheduler->services;
		handle->volume_writer = writer->volumes;
		handle->claim_writer = writer->claims;
	}
	struct bt_queue_options queue_options = bt_queue_options_from_config(config);
	queue_options.metrics = options->metrics;
	if (options->max_in_unschedulable_ns != 0) {
		queue_options.max_in_unschedulable_ns = options->max_in_unschedulable_ns;
	}
	result = bt_queue_create(&queue_options, engine->state, &engine->profiles,
		&engine->nominator, &scheduler->queue, err);
	if (result < 0) {
		bt_scheduler_destroy(scheduler);
		return result;
	}
	bt_scheduler_listen_to_devices(scheduler);
	/* Read queue and cache whenever metrics are written. */
	if (scheduler->metrics != NULL) {
		bt_scheduler_metrics_set_source(scheduler->metrics, collect, scheduler);
	}
	*out_scheduler = scheduler;
	return 0;
}

void bt_scheduler_destroy(struct bt_scheduler *scheduler)
{
	if (scheduler == NULL) {
		return;
	}
	if (scheduler->metrics != NULL && scheduler->metrics->source == scheduler) {
		bt_scheduler_metrics_set_source(scheduler->metrics, NULL, NULL);
	}
	bt_vec_finish(&scheduler->collected.labels);
	bt_vec_finish(&scheduler->collected.unschedulable);
	bt_api_calls_finish(&scheduler->calls);
	bt_fifo_finish(&scheduler->answered);
	bt_scheduler_drop_bindings(scheduler);
	bt_scheduler_drop_device_changes(scheduler);
	bt_vec_finish(&scheduler->device_changes);
	bt_group_cycle_destroy(scheduler->group_cycle);
	bt_queue_destroy(scheduler->queue);
	bt_engine_destroy(scheduler->engine);
	bt_waiting_pods_finish(&scheduler->waiting);
	bt_object_store_finish(&scheduler->pods);
	bt_arena_finish(&scheduler->scratch);
	bt_vec_finish_each(&scheduler->to_activate, bt_free(*each));
	bt_strbuf_finish(&scheduler->name);
	bt_strbuf_finish(&scheduler->node_name);
	bt_strbuf_finish(&scheduler->text);
	bt_free(scheduler);
}

struct bt_engine *bt_scheduler_engine(const struct bt_scheduler *scheduler)
{
	return scheduler->engine;
}

struct bt_queue *bt_scheduler_queue(const struct bt_scheduler *scheduler)
{
	return scheduler->queue;
}

struct bt_object *bt_scheduler_find_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name)
{
	return bt_object_store_unpack(&scheduler->pods, namespace_, name);
}

const struct bt_pod *bt_scheduler_find_same_pod(struct bt_scheduler *scheduler,
	struct bt_str namespace_, struct bt_str name, struct bt_str uid)
{
	struct bt_object *known = bt_scheduler_find_pod(scheduler, namespace_, name);
	return known != NULL && bt_str_equal(known->meta->uid, uid)
		? bt_object_value(known, BT_KIND_POD)
		: NULL;
}

void bt_scheduler_set_now(const struct bt_scheduler *scheduler, int64_t now_ns)
{
	const struct bt_profiles *profiles = &scheduler->engine->profiles;
	for (uint32_t i = 0; i < profiles->frameworks.count; i++) {
		profiles->frameworks.items[i]->handle.now_ns = now_ns;
	}
}

void bt_scheduler_set_wall_offset(const struct bt_scheduler *scheduler, int64_t offset_ns)
{
	const struct bt_profiles *profiles = &scheduler->engine->profiles;
	for (uint32_t i = 0; i < profiles->frameworks.count; i++) {
		profiles->frameworks.items[i]->handle.wall_offset_ns = offset_ns;
	}
}

void bt_scheduler_warn(const struct bt_scheduler *scheduler, struct berth_error *err)
{
	if (scheduler->writer.warn != NULL) {
		scheduler->writer.warn(
			scheduler->writer.context, bt_str_from(berth_error_message(err)));
	}
	berth_error_finish(err);
}

/** --- failed attempts: spec 03 section 9 --- */

/**
 * Put the pod back into the queue with the plugins that rejected it. false: the entry is not queued
 * and not consumed.
 */
static bool requeue_pod(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_queue_rejection rejection = {
		bt_rejectors_of_plugins(&result->diagnosis.unschedulable_plugins),
		bt_rejectors_of_plugins(&result->diagnosis.pending_plugins),
	};
	bool by_plugins = result->outcome == BT_OUTCOME_FIT_ERROR;
	if (result->diagnosis.rejected_by_extender) {
		bt_rejectors_add(&rejection.unschedulable_plugins, BT_REJECTOR_EXTENDER);
	}
	if (result->diagnosis.nameless_plugin) {
		bt_rejectors_add(&rejection.unschedulable_plugins, BT_REJECTOR_NAMELESS);
	}
	if (bt_queue_add_unschedulable_if_not_present(
		    scheduler->queue, entry, by_plugins ? &rejection : NULL, now_ns, &err) < 0) {
		bt_scheduler_warn(scheduler, &err);
		return false;
	}
	return true;
}

static void log_failure(const struct bt_queue_entry *entry, const struct bt_schedule_result *result,
	const struct bt_strbuf *message)
{
	const struct bt_pod_info *pod = &entry->pod;
	switch (result->outcome) {
	case BT_OUTCOME_NO_NODES:
		BT_LOG_INFO(2,
			"Unable to schedule pod; no nodes are registered to the cluster; waiting",
			BT_LOG_REF("pod", pod->namespace_, pod->name));
		break;
	case BT_OUTCOME_FIT_ERROR:
		BT_LOG_INFO(2, "Unable to schedule pod; no fit; waiting",
			BT_LOG_REF("pod", pod->namespace_, pod->name),
			BT_LOG_STR("err", bt_strbuf_str(message)));
		break;
	case BT_OUTCOME_SCHEDULED:
	case BT_OUTCOME_ERROR:
		BT_LOG_ERROR(bt_strbuf_c(message), "Error scheduling pod; retrying",
			BT_LOG_REF("pod", pod->namespace_, pod->name));
		break;
	}
}

void bt_handle_scheduling_failure(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt)
{
	bool rejected = bt_status_is_rejected(&result->status);
	struct bt_str reason = rejected ? BT_STR("Unschedulable") : BT_STR("SchedulerError");
	bt_profile_attempted(result->framework->metrics,
		rejected ? BT_RESULT_UNSCHEDULABLE : BT_RESULT_ERROR, result->started_ns);
	bt_strbuf_reset(&scheduler->text);
	bt_status_message(&result->status, &scheduler->text);
	out_attempt->outcome = BT_ATTEMPT_FAILED;
	out_attempt->reason = reason;
	out_attempt->message = bt_strbuf_str(&scheduler->text);

	const struct bt_object_meta *meta = entry->object->meta;
	struct bt_object *known =
		bt_object_store_unpack(&scheduler->pods, meta->namespace_, meta->name);
	log_failure(entry, result, &scheduler->text);
	/* If the pod will not be requeued, log why. */
	const struct bt_pod_info *info = &entry->pod;
	if (known == NULL) {
		BT_LOG_INFO(0, "Pod doesn't exist in informer cache",
			BT_LOG_REF("pod", info->namespace_, info->name),
			BT_LOG_STR("err", bt_str_from("pod not found")));
	} else if (!bt_str_equal(known->meta->uid, info->uid)) {
		BT_LOG_INFO(2,
			"Pod was recreated while handling scheduling failure. Skip requeueing and "
			"status updates.",
			BT_LOG_REF("pod", info->namespace_, info->name));
	} else if (bt_pod_is_assigned(known->value)) {
		const struct bt_pod *assigned = known->value;
		BT_LOG_INFO(0, "Pod has been assigned to node. Abort adding it back to queue.",
			BT_LOG_REF("pod", info->namespace_, info->name),
			BT_LOG_STR("node", assigned->spec.node_name));
	}
	if (known != NULL && !bt_str_equal(known->meta->uid, meta->uid)) {
		/* The pod was deleted and recreated: the failure of the old pod is not reported. */
		bt_queue_release(scheduler->queue, entry);
		return;
	}
	bool pending = known != NULL && !bt_pod_is_assigned(known->value);
	struct bt_object *pod = bt_object_share(pending ? known : entry->object);
	bool queued = false;
	if (pending) {
		bt_queue_refresh(scheduler->queue, entry, known);
		queued = requeue_pod(scheduler, entry, result, now_ns);
	}
	bt_queue_nominate(scheduler->queue, entry,
		result->nomination.present ? &result->nomination : NULL, pending);
	if (!queued) {
		bt_queue_release(scheduler->queue, entry);
	}
	/* If every Bind plugin returns Skip, there is no error to report. */
	if (result->status.code != BT_STATUS_SKIP) {
		struct bt_strbuf note = {0};
		if (scheduler->writer.event != NULL) {
			bt_event_note(out_attempt->message, &note);
			bt_scheduler_send_event(scheduler, pod->value, "Warning",
				"FailedScheduling", "Scheduling", bt_strbuf_str(&note));
			bt_strbuf_finish(&note);
		}
		struct bt_pod_condition condition = {
			.type = BT_STR("PodScheduled"),
			.status = BT_STR("False"),
			.reason = reason,
			.message = out_attempt->message,
			.observed_generation = pod->meta->generation,
		};
		bt_scheduler_patch(scheduler, pod, &condition, &result->nomination);
	}
	bt_object_release(pod);
}

/** --- an attempt: spec 03 section 2 --- */

bool bt_scheduler_has_assumed(const struct bt_scheduler *scheduler, const struct bt_pod *pod)
{
	struct berth_error err = BERTH_ERROR_INIT;
	bool assumed = false;
	if (bt_state_is_assumed_pod(scheduler->engine->state, pod, &assumed, &err) < 0) {
		bt_scheduler_warn(scheduler, &err);
	}
	return assumed;
}

bool bt_scheduler_skips_pod(
	const struct bt_scheduler *scheduler, const struct bt_queue_entry *entry)
{
	const struct bt_pod *pod = entry->pod.object;
	if (pod->metadata.deletion_timestamp != NULL) {
		BT_LOG_INFO(3, "Skip schedule deleting pod",
			BT_LOG_REF("pod", pod->metadata.namespace_, pod->metadata.name));
		struct bt_strbuf note = {0};
		bt_strbuf_append_c(&note, "skip schedule deleting pod: ");
		bt_object_ref(&pod->metadata, &note);
		bt_scheduler_send_event(scheduler, pod, "Warning", "FailedScheduling", "Scheduling",
			bt_strbuf_str(&note));
		bt_strbuf_finish(&note);
		return true;
	}
	return bt_scheduler_has_assumed(scheduler, pod);
}

void bt_scheduler_prefer_node(struct bt_scheduler *scheduler, struct bt_str node_name)
{
	struct bt_engine *engine = scheduler->engine;
	engine->preferred_node = node_name;
	for (uint32_t i = 0; i < engine->profiles.frameworks.count; i++) {
		engine->profiles.frameworks.items[i]->handle.preferred_node = node_name;
	}
}

void bt_scheduler_prefer_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name)
{
	scheduler->preferred_namespace = namespace_;
	scheduler->preferred_name = name;
}

void bt_scheduler_name_attempt(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_attempt *out_attempt)
{
	bt_strbuf_set(&scheduler->name, pod->namespace_);
	bt_strbuf_append_str(&scheduler->name, pod->name);
	bt_strbuf_append_str(&scheduler->name, pod->uid);
	struct bt_str all = bt_strbuf_str(&scheduler->name);
	uint32_t name_at = pod->namespace_.length;
	uint32_t uid_at = name_at + pod->name.length;
	out_attempt->namespace_ = bt_str_sub(all, 0, name_at);
	out_attempt->name = bt_str_sub(all, name_at, pod->name.length);
	out_attempt->uid = bt_str_sub(all, uid_at, BT_STR_MAX);
}

/** Pop a pod and run its scheduling and binding cycles. */
static void schedule_one(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_queue_entry *entry = NULL;
	if (scheduler->preferred_name.length != 0) {
		entry = bt_queue_pop_pod(scheduler->queue, scheduler->preferred_namespace,
			scheduler->preferred_name, now_ns);
		scheduler->preferred_name = BT_STR("");
	}
	if (entry == NULL) {
		entry = bt_queue_pop(scheduler->queue);
	}
	if (entry == NULL) {
		return;
	}
	if (scheduler->group_cycle != NULL && entry->pod.object->spec.scheduling_group != NULL) {
		bt_scheduler_run_group_cycle(scheduler, entry, now_ns, out_attempt);
		return;
	}
	struct bt_framework *framework =
		bt_engine_profile(scheduler->engine, entry->pod.object->spec.scheduler_name);
	bt_scheduler_name_attempt(scheduler, &entry->pod, out_attempt);
	if (framework == NULL || bt_scheduler_skips_pod(scheduler, entry)) {
		out_attempt->outcome = BT_ATTEMPT_SKIPPED;
		bt_queue_release(scheduler->queue, entry);
		return;
	}
	BT_LOG_INFO(3, "Attempting to schedule pod",
		BT_LOG_REF("pod", entry->pod.namespace_, entry->pod.name));
	struct bt_schedule_result result;
	struct bt_queued_attempt attempt = {
		.cycle_count = bt_queue_scheduling_cycle(scheduler->queue), .now_ns = now_ns};
	if (!bt_sym_equal(entry->signature, BT_SYM_NONE)) {
		attempt.signature =
			bt_symbol_text(&scheduler->engine->state->symbols, entry->signature);
	}
	int64_t started_ns = bt_metrics_now(scheduler->metrics);
	bt_engine_schedule(scheduler->engine, framework, &entry->pod, &attempt, &result);
	result.started_ns = started_ns;
	out_attempt->score = result.total_score;
	out_attempt->feasible_count = result.feasible_count;
	bt_metrics_observe_since(
		scheduler->metrics, BT_FAMILY_ALGORITHM_DURATION, NULL, started_ns);
	if (result.outcome == BT_OUTCOME_SCHEDULED &&
		bt_engine_reserve(scheduler->engine, &entry->pod, &result)) {
		bt_scheduler_activate(scheduler, result.cycle, now_ns);
		bt_scheduler_run_binding_cycle(scheduler, entry, &result, now_ns, out_attempt);
		return;
	}
	/*
	 * Announce changes of devices while the pod is in flight, so that the queue keeps these
	 * events for the pod.
	 */
	bt_scheduler_announce_devices(scheduler, now_ns);
	bt_scheduler_warn_if_forget_failed(scheduler, &result);
	bt_handle_scheduling_failure(scheduler, entry, &result, now_ns, out_attempt);
}

int64_t bt_scheduler_step(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt)
{
	const struct bt_scheduler_writer *writer = &scheduler->writer;
	*out_attempt = (struct bt_attempt){.outcome = BT_ATTEMPT_IDLE};
	if (scheduler->group_cycle != NULL &&
		bt_group_cycle_next_member(scheduler->group_cycle, out_attempt)) {
		return now_ns;
	}
	if (!scheduler->has_started) {
		scheduler->has_started = true;
		bt_queue_start(scheduler->queue, now_ns);
	}
	bt_object_store_pack_all(&scheduler->pods);
	bt_queue_tick(scheduler->queue, now_ns);
	bt_scheduler_set_now(scheduler, now_ns);
	bt_scheduler_activate_requested(scheduler, now_ns);
	if (!bt_scheduler_continue_binding_cycles(scheduler, now_ns, out_attempt) &&
		(writer->may_schedule == NULL || writer->may_schedule(writer->context))) {
		schedule_one(scheduler, now_ns, out_attempt);
		bt_scheduler_run_calls(scheduler);
	}
	if (out_attempt->outcome == BT_ATTEMPT_IDLE) {
		return bt_scheduler_next_step_ns(scheduler);
	}
	if (writer->attempt_ended != NULL) {
		writer->attempt_ended(writer->context);
	}
	return now_ns;
}

int64_t bt_scheduler_next_step_ns(const struct bt_scheduler *scheduler)
{
	int64_t flush_ns = bt_queue_next_tick_ns(scheduler->queue);
	int64_t permit_ns = scheduler->waiting.next_deadline_ns;
	int64_t next_ns = flush_ns < permit_ns ? flush_ns : permit_ns;
	return next_ns < scheduler->next_wake_ns ? next_ns : scheduler->next_wake_ns;
}

bool bt_scheduler_has_work(const struct bt_scheduler *scheduler)
{
	return bt_queue_can_pop(scheduler->queue) ||
		((bt_queue_count(scheduler->queue, BT_QUEUE_BACKOFF) != 0 ||
			 bt_queue_count(scheduler->queue, BT_QUEUE_ERROR_BACKOFF) != 0) &&
			!bt_queue_only_repeats_groups(scheduler->queue)) ||
		scheduler->waiting.next_deadline_ns != INT64_MAX ||
		scheduler->next_wake_ns != INT64_MAX;
}

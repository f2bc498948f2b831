/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The binding cycle (spec 03 section 6), and writes about pods: directly to the writer, or through
 * the queue of API calls (gate SchedulerAsyncAPICalls, spec 03 sections 9.3 and 11.4).
 */
#include "base/alloc.h"
#include "base/assert.h"
#include "base/log.h"
#include "sched/scheduler_private.h"

static int64_t now_of(const struct bt_scheduler *scheduler)
{
	return scheduler->engine->profiles.frameworks.items[0]->handle.now_ns;
}

/** --- ends of queued calls --- */

/** The pod's binding in PreBind or Bind, or NULL. */
static struct bt_held_pod *find_binding(const struct bt_scheduler *scheduler, struct bt_str uid)
{
	BT_MAP_EACH (&scheduler->bindings.map, bt_str_hash(uid), id) {
		if (bt_str_equal(scheduler->bindings.items[id]->entry->pod.uid, uid)) {
			return scheduler->bindings.items[id];
		}
	}
	return NULL;
}

static void make_ready(struct bt_held_pod *held)
{
	if (!held->ready) {
		held->ready = true;
		bt_fifo_push(&held->scheduler->ready, held);
	}
}

static void call_finished(
	void *context, const struct bt_api_call *call, int result, struct bt_str message)
{
	struct bt_scheduler *scheduler = context;
	if (result <= 0) {
		bt_metrics_api_call_ended(scheduler->metrics, bt_api_call_type_name(call->type),
			result == 0, now_of(scheduler) - call->started_ns);
	}
	if (call->type == BT_API_CALL_POD_BINDING) {
		struct bt_held_pod *held = find_binding(scheduler, call->pod->meta->uid);
		if (held != NULL) {
			held->call_ended = true;
			held->call_result = result < 0 ? result : 0;
			held->call_message = bt_arena_str(&held->cycle.arena, message);
			make_ready(held);
		}
	} else if (result < 0) {
		struct berth_error err = BERTH_ERROR_INIT;
		(void)bt_error_set(&err, result, "%.*s", BT_STR_ARG(message));
		bt_scheduler_warn(scheduler, &err);
	}
}

/** --- running queued calls --- */

void bt_scheduler_run_calls(struct bt_scheduler *scheduler)
{
	if (!scheduler->queues_calls || scheduler->runs_calls) {
		return;
	}
	scheduler->runs_calls = true;
	for (;;) {
		struct bt_api_call *call = NULL;
		while (call == NULL && bt_fifo_count(&scheduler->answered) != 0) {
			call = bt_fifo_at(&scheduler->answered, 0);
			bt_fifo_drop_first(&scheduler->answered);
		}
		if (call != NULL) {
			call->is_listed = false;
		}
		if (call == NULL) {
			call = bt_api_calls_pop(&scheduler->calls, now_of(scheduler));
		}
		if (call == NULL) {
			break;
		}
		/* Call the writer, which may have no answer yet. */
		const struct bt_scheduler_writer *writer = &scheduler->writer;
		struct berth_error err = BERTH_ERROR_INIT;
		const struct bt_held_pod *held;
		int result = 0;
		switch (call->type) {
		case BT_API_CALL_POD_BINDING:
			held = find_binding(scheduler, call->pod->meta->uid);
			BT_ASSERT(held != NULL); /* a pod is held while its binding is queued */
			scheduler->binding_entry = held->entry;
			result = writer->bind(
				writer->context, call->pod_info, call->node_name, &err);
			scheduler->binding_entry = NULL;
			break;
		case BT_API_CALL_POD_STATUS_PATCH:
		case BT_API_CALL__COUNT:
			if (!bt_api_call_is_no_op(call)) {
				result = writer->patch_status(writer->context, call->pod->value,
					call->has_condition ? &call->condition : NULL,
					&call->nomination, &err);
			}
			break;
		}
		if (result != BT_WRITE_PENDING) {
			/* The writer may have added the call to `answered` before it returned. */
			uint32_t i = call->is_listed ? bt_fifo_count(&scheduler->answered) : 0;
			/* Search from the end, because the writer added the call last. */
			while (i > 0) {
				if (bt_fifo_at(&scheduler->answered, --i) == call) {
					bt_fifo_at(&scheduler->answered, i) = NULL;
					break;
				}
			}
			bt_api_calls_done(&scheduler->calls, call->pod->meta->uid, result,
				bt_str_from(result < 0 ? berth_error_message(&err) : ""));
		}
		berth_error_finish(&err);
	}
	scheduler->runs_calls = false;
}

bool bt_scheduler_patch_answered(
	struct bt_scheduler *scheduler, struct bt_str uid, int result, struct bt_str message)
{
	const struct bt_api_call *call = bt_api_calls_in_flight(&scheduler->calls, uid);
	if (call == NULL || call->type != BT_API_CALL_POD_STATUS_PATCH) {
		return false;
	}
	bt_api_calls_done(&scheduler->calls, uid, result, message);
	return true;
}

/** --- adding calls --- */

int bt_scheduler_queue_binding(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_held_pod *held = find_binding(scheduler, pod->uid);
	const struct bt_api_call *known = bt_api_calls_find(&scheduler->calls, pod->uid);
	if (held != NULL && held->call_ended) {
		held->call_ended = false;
		return held->call_result < 0 ? bt_error_set(err, held->call_result, "%.*s",
						       BT_STR_ARG(held->call_message))
					     : 0;
	}
	if (known == NULL || known->type != BT_API_CALL_POD_BINDING) {
		/*
		 * A binding is the most relevant call and always has an effect, so the call is
		 * never skipped.
		 */
		(void)bt_api_calls_add(&scheduler->calls,
			bt_api_call_create_binding(
				scheduler->binding_entry->object, pod, node_name));
	}
	return BT_WRITE_PENDING;
}

void bt_scheduler_patch(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination)
{
	if (scheduler->writer.patch_status == NULL) {
		return;
	}
	if (scheduler->queues_calls) {
		/* A skipped patch counts as success. */
		(void)bt_api_calls_add(
			&scheduler->calls, bt_api_call_create_patch(pod, condition, nomination));
	} else {
		/* Write only a patch that changes something. */
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_api_call call = {.type = BT_API_CALL_POD_STATUS_PATCH, .pod = pod};
		call.nomination = *nomination;
		if (condition != NULL) {
			call.has_condition = true;
			call.condition = *condition;
		}
		if (!bt_api_call_is_no_op(&call) &&
			scheduler->writer.patch_status(scheduler->writer.context, pod->value,
				condition, nomination, &err) < 0) {
			bt_scheduler_warn(scheduler, &err);
		}
	}
}

/**
 * --- preemption: spec 08 section 11; with the gate SchedulerAsyncAPICalls, patches that clear
 * nominations are queued (11.4) ---
 */

static int patch_other(struct bt_scheduler *scheduler, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, const struct bt_pod_condition *condition,
	const struct bt_post_filter_result *nomination, struct berth_error *err)
{
	const struct bt_scheduler_writer *writer = &scheduler->writer;
	struct bt_object *known = bt_scheduler_find_pod(scheduler, pod->namespace_, pod->name);
	if (known == NULL || !bt_str_equal(known->meta->uid, pod->uid)) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "pod \"%.*s\" not found", BT_STR_ARG(pod->name));
	}
	if (condition == NULL && scheduler->queues_calls) {
		bt_scheduler_patch(scheduler, known, NULL, nomination);
		return 0;
	}
	if (writer->patch_other != NULL) {
		return writer->patch_other(
			writer->context, ticket, known->value, condition, nomination, err);
	}
	return writer->patch_status(writer->context, known->value, condition, nomination, err);
}

static int patch_condition(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, const struct bt_pod_condition *condition,
	struct berth_error *err)
{
	static const struct bt_post_filter_result as_it_is = {0};
	return patch_other(context, ticket, victim, condition, &as_it_is, err);
}

static int clear_nomination(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *pod, struct berth_error *err)
{
	struct bt_post_filter_result none = {true, BT_NOMINATING_OVERRIDE, BT_STR("")};
	return patch_other(context, ticket, pod, NULL, &none, err);
}

static int delete_pod(void *context, struct bt_preemption_ticket ticket,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	const struct bt_scheduler *scheduler = context;
	return scheduler->writer.delete_pod(scheduler->writer.context, ticket, victim, err);
}

static bool cancel_pre_bind(void *context, struct bt_str uid, struct bt_str cause)
{
	struct bt_held_pod *held = find_binding(context, uid);
	/* A binding whose plugin runs now cannot be stopped any more. */
	if (held == NULL || held->progress.pre_bound ||
		held->entry == held->scheduler->binding_entry) {
		return false;
	}
	if (held->cycle.cycle.cancel_cause.length == 0) {
		held->cycle.cycle.cancel_cause = bt_arena_str(&held->cycle.arena, cause);
		make_ready(held);
	}
	return true;
}

/**
 * Record the event of a preempted victim. The watch may have reported the victim's deletion before
 * the API answered.
 */
static void send_preempted(void *context, const struct bt_preemption_event *event)
{
	struct bt_scheduler *scheduler = context;
	const struct bt_preemption_pod *victim = &event->victim;
	struct bt_pod gone = {.metadata = {.namespace_ = victim->namespace_,
				      .name = victim->name,
				      .uid = victim->uid}};
	const struct bt_pod *pod = bt_scheduler_find_same_pod(
		scheduler, victim->namespace_, victim->name, victim->uid);
	bt_scheduler_send_event(scheduler, pod != NULL ? pod : &gone, "Normal", "Preempted",
		"Preempting", event->note);
}

/** --- init --- */

void bt_scheduler_init_calls(struct bt_scheduler *scheduler)
{
	struct bt_api_calls_observer observer = {scheduler, call_finished};
	bt_api_calls_init(&scheduler->calls, &observer);
	scheduler->preemption = (struct bt_preemption_writer){
		.patch_condition = patch_condition,
		.delete_pod = delete_pod,
		.clear_nomination = clear_nomination,
		.cancel_pre_bind = cancel_pre_bind,
		.event = send_preempted,
		.context = scheduler,
	};
}

bool bt_scheduler_queues_calls(const struct bt_scheduler *scheduler)
{
	return scheduler->queues_calls;
}

static void activate(struct bt_scheduler *scheduler, struct bt_str key, int64_t now_ns)
{
	int64_t slash = bt_str_find_char(key, '/');
	if (slash < 0) {
		return;
	}
	struct bt_object *pod =
		bt_object_store_unpack(&scheduler->pods, bt_str_sub(key, 0, (uint32_t)slash),
			bt_str_sub(key, (uint32_t)slash + 1, BT_STR_MAX));
	if (pod != NULL) {
		(void)bt_queue_activate(scheduler->queue, pod, now_ns);
	}
}

void bt_scheduler_activate(
	struct bt_scheduler *scheduler, struct bt_cycle_state *cycle, int64_t now_ns)
{
	for (uint32_t i = 0; i < cycle->pods_to_activate.count; i++) {
		activate(scheduler, cycle->pods_to_activate.items[i], now_ns);
	}
	cycle->pods_to_activate.count = 0;
}

void bt_scheduler_activate_requested(struct bt_scheduler *scheduler, int64_t now_ns)
{
	for (uint32_t i = 0; i < scheduler->to_activate.count; i++) {
		activate(scheduler, bt_str_from(scheduler->to_activate.items[i]), now_ns);
		bt_free(scheduler->to_activate.items[i]);
	}
	scheduler->to_activate.count = 0;
}

void bt_scheduler_warn_if_forget_failed(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result)
{
	if (result->forget_error.length != 0) {
		struct berth_error err = BERTH_ERROR_INIT;
		(void)bt_error_set(&err, BERTH_ERR_INVALID, "ForgetPod failed: %.*s",
			BT_STR_ARG(result->forget_error));
		bt_scheduler_warn(scheduler, &err);
	}
}

static void set_node_name(struct bt_scheduler *scheduler, const struct bt_schedule_result *result,
	struct bt_attempt *out_attempt)
{
	bt_strbuf_set(&scheduler->node_name, result->node_name);
	out_attempt->node_name = bt_strbuf_str(&scheduler->node_name);
}

/** End a binding cycle, bound or failed. Consumes entry. */
static void finish(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	enum bt_binding_outcome outcome, const struct bt_schedule_result *result, int64_t now_ns,
	struct bt_attempt *out_attempt)
{
	if (outcome == BT_BINDING_FAILED) {
		/*
		 * Spec 03 section 6.1: the assumed pod's resources are free again. Requeue other
		 * pods before this pod, or after this pod if it was rejected.
		 */
		struct bt_object *pod = bt_object_share(entry->object);
		bool rejected = bt_status_is_rejected(&result->status);
		bool freed = result->forget_error.length == 0;
		struct bt_queue_check others = {.excluded_uid = pod->meta->uid};
		bt_scheduler_warn_if_forget_failed(scheduler, result);
		if (freed && !rejected) {
			bt_scheduler_announce_freed(
				scheduler, pod, result->node_name, NULL, now_ns);
		}
		bt_handle_scheduling_failure(scheduler, entry, result, now_ns, out_attempt);
		if (freed && rejected) {
			bt_scheduler_announce_freed(
				scheduler, pod, result->node_name, &others, now_ns);
		}
		bt_object_release(pod);
		return;
	}
	const struct bt_pod *pod = entry->pod.object;
	struct bt_strbuf note = {0};
	set_node_name(scheduler, result, out_attempt);
	out_attempt->outcome = BT_ATTEMPT_BOUND;
	BT_LOG_INFO(2, "Successfully bound pod to node",
		BT_LOG_REF("pod", pod->metadata.namespace_, pod->metadata.name),
		BT_LOG_STR("node", out_attempt->node_name),
		BT_LOG_INT("evaluatedNodes", result->evaluated_count),
		BT_LOG_INT("feasibleNodes", result->feasible_count));
	bt_strbuf_append_c(&note, "Successfully assigned ");
	bt_object_ref(&pod->metadata, &note);
	bt_strbuf_append_c(&note, " to ");
	bt_strbuf_append_str(&note, out_attempt->node_name);
	bt_scheduler_send_event(
		scheduler, pod, "Normal", "Scheduled", "Binding", bt_strbuf_str(&note));
	bt_strbuf_finish(&note);
	bt_profile_attempted(result->framework->metrics, BT_RESULT_SCHEDULED, result->started_ns);
	bt_metrics_pod_bound(scheduler->metrics, entry->attempts,
		entry->initial_attempt_ns != BT_QUEUE_TIME_UNSET
			? now_ns - entry->initial_attempt_ns
			: -1,
		entry->flushed);
	bt_scheduler_activate(scheduler, result->cycle, now_ns);
	bt_queue_release(scheduler->queue, entry);
}

/** --- waiting bindings --- */

/** Hold the binding until an answer arrives, its wake-up time comes, or preemption cancels it. */
static void set_wake_time(struct bt_scheduler *scheduler, struct bt_held_pod *held)
{
	held->wake_ns = held->cycle.cycle.wake_ns;
	if (held->wake_ns < scheduler->next_wake_ns) {
		scheduler->next_wake_ns = held->wake_ns;
	}
}

static void add_binding(struct bt_scheduler *scheduler, struct bt_held_pod *held)
{
	bt_hash_table_add(
		&scheduler->bindings, bt_str_hash(held->entry->pod.uid), held, held->binding_id);
	set_wake_time(scheduler, held);
}

static struct bt_held_pod *hold_binding(struct bt_scheduler *scheduler,
	struct bt_queue_entry *entry, const struct bt_status *pre_flights,
	const struct bt_binding_progress *progress, const struct bt_schedule_result *result)
{
	struct bt_held_pod *held = BT_NEW(struct bt_held_pod);
	held->result = *result;
	held->pre_flights = *pre_flights;
	held->progress = *progress;
	held->entry = entry;
	held->scheduler = scheduler;
	bt_engine_hold(scheduler->engine, &held->result, &held->cycle);
	return held;
}

void bt_scheduler_release_held(struct bt_scheduler *scheduler, struct bt_held_pod *held)
{
	bt_engine_release_held(scheduler->engine, &held->cycle);
	bt_free(held);
}

/** --- the binding cycle --- */

static enum bt_binding_outcome run_bind(struct bt_scheduler *scheduler,
	const struct bt_queue_entry *entry, const struct bt_status *pre_flights,
	struct bt_binding_progress *progress, struct bt_schedule_result *result, int64_t now_ns)
{
	scheduler->binding_entry = entry;
	enum bt_binding_outcome outcome =
		bt_engine_bind(scheduler->engine, &entry->pod, pre_flights, progress, result);
	scheduler->binding_entry = NULL;
	bt_scheduler_announce_devices(scheduler, now_ns);
	return outcome;
}

struct bt_str bt_scheduler_binding_uid(const struct bt_scheduler *scheduler)
{
	return scheduler->binding_entry != NULL ? scheduler->binding_entry->pod.uid : BT_STR("");
}

/**
 * Run the PreBind pre-flights and write the expected node to the API, before the pod waits or
 * PreBind runs. Returns the status of the pre-flights; Success without the gate
 * NominatedNodeNameForExpectation.
 */
static struct bt_status announce_node(struct bt_scheduler *scheduler,
	const struct bt_queue_entry *entry, const struct bt_schedule_result *result)
{
	const struct bt_gates *gates = &scheduler->engine->config->gates;
	struct bt_status pre_flights = BT_STATUS_OK;
	if (!bt_gate_enabled(gates, BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION)) {
		return pre_flights;
	}
	pre_flights = bt_run_pre_bind_pre_flights(
		result->framework, result->cycle, &entry->pod, result->slot);
	if (pre_flights.code == BT_STATUS_SUCCESS ||
		(pre_flights.code == BT_STATUS_SKIP && result->wait_count != 0)) {
		struct bt_post_filter_result nomination = {
			true, BT_NOMINATING_OVERRIDE, result->node_name};
		bt_scheduler_patch(scheduler, entry->object, NULL, &nomination);
	}
	return pre_flights;
}

void bt_scheduler_wait_on_permit(
	struct bt_scheduler *scheduler, struct bt_held_pod *held, int64_t now_ns)
{
	const struct bt_schedule_result *result = &held->result;
	held->is_decided = true;
	if (result->wait_count != 0) {
		struct bt_waiting_pod *waiting =
			bt_waiting_pods_add(&scheduler->waiting, result->framework,
				&held->entry->pod, result->waits, result->wait_count, now_ns);
		held->is_decided = waiting->has_result; /* a timeout of 0 rejects at once */
		waiting->is_decided = &held->is_decided;
	}
}

void bt_scheduler_start_held_binding(struct bt_scheduler *scheduler, struct bt_held_pod *held)
{
	held->pre_flights = announce_node(scheduler, held->entry, &held->result);
	held->permit_started_ns = bt_metrics_now(scheduler->metrics);
	bt_vec_push(&scheduler->permitted, held);
}

void bt_scheduler_run_binding_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_status pre_flights = announce_node(scheduler, entry, result);
	bool failed = pre_flights.code != BT_STATUS_SUCCESS && pre_flights.code != BT_STATUS_SKIP;
	if (result->wait_count != 0 && !failed) {
		static const struct bt_binding_progress nothing_yet = {0};
		struct bt_held_pod *held =
			hold_binding(scheduler, entry, &pre_flights, &nothing_yet, result);
		held->permit_started_ns = bt_metrics_now(scheduler->metrics);
		bt_scheduler_wait_on_permit(scheduler, held, now_ns);
		bt_vec_push(&scheduler->permitted, held);
		set_node_name(scheduler, result, out_attempt);
		out_attempt->outcome = BT_ATTEMPT_WAITING;
	} else {
		struct bt_binding_progress progress = {0};
		bt_queue_done(scheduler->queue, entry->pod.uid);
		enum bt_binding_outcome outcome =
			run_bind(scheduler, entry, &pre_flights, &progress, result, now_ns);
		if (outcome != BT_BINDING_PENDING) {
			finish(scheduler, entry, outcome, result, now_ns, out_attempt);
		} else {
			set_node_name(scheduler, result, out_attempt);
			out_attempt->outcome = BT_ATTEMPT_WAITING;
			add_binding(scheduler,
				hold_binding(scheduler, entry, &pre_flights, &progress, result));
		}
	}
}

void bt_scheduler_resume(struct bt_scheduler *scheduler, struct bt_str uid)
{
	struct bt_api_call *call = bt_api_calls_in_flight(&scheduler->calls, uid);
	struct bt_held_pod *held = find_binding(scheduler, uid);
	if (call != NULL && call->type == BT_API_CALL_POD_BINDING) {
		/* A pod has at most one call in flight, so the answer belongs to this call. */
		if (!call->is_listed) {
			call->is_listed = true;
			bt_fifo_push(&scheduler->answered, call);
		}
	} else if (held != NULL) {
		make_ready(held);
	}
}

/** Finish one waiting binding. false: all bindings must wait longer. */
static bool finish_one(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_status decision;
	struct bt_waiting_pods *permits = &scheduler->waiting;
	/*
	 * A pod of `permitted` may go on if a waiting pod is decided, or if a pod has no entry in
	 * the waiting pods, because it need not wait.
	 */
	for (uint32_t i = 0; (permits->decided_count != 0 ||
				     permits->pods.count != scheduler->permitted.count) &&
		i < scheduler->permitted.count;) {
		struct bt_held_pod *held = scheduler->permitted.items[i];
		const struct bt_pod_info *pod = &held->entry->pod;
		if (!held->is_decided ||
			bt_waiting_pods_poll(permits, pod->uid, &held->cycle.arena, &decision) ==
				BT_WAIT_PENDING) {
			i++;
			continue;
		}
		bt_vec_remove_ordered(&scheduler->permitted, i);
		enum bt_binding_outcome outcome = BT_BINDING_FAILED;
		bt_scheduler_name_attempt(scheduler, pod, out_attempt);
		if (held->result.wait_count != 0) {
			bt_metrics_observe_since(scheduler->metrics, BT_FAMILY_PERMIT_WAIT,
				bt_status_code_name((enum bt_status_code)decision.code),
				held->permit_started_ns);
		}
		if (bt_status_is_success(&decision)) {
			bt_queue_done(scheduler->queue, pod->uid);
			outcome = run_bind(scheduler, held->entry, &held->pre_flights,
				&held->progress, &held->result, now_ns);
		} else {
			bt_engine_reject_waiting(scheduler->engine, pod, &decision, &held->result);
			bt_scheduler_announce_devices(scheduler, now_ns);
		}
		if (outcome != BT_BINDING_PENDING) {
			finish(scheduler, held->entry, outcome, &held->result, now_ns, out_attempt);
			bt_scheduler_release_held(scheduler, held);
			return true;
		}
		add_binding(scheduler, held);
		i = 0; /* plugins may have decided about earlier pods in the list */
	}
	if (now_ns >= scheduler->next_wake_ns) {
		scheduler->next_wake_ns = INT64_MAX;
		for (uint32_t i = 0; i < scheduler->bindings.count; i++) {
			struct bt_held_pod *waiting = scheduler->bindings.items[i];
			if (waiting == NULL) {
				continue;
			}
			if (waiting->wake_ns <= now_ns) {
				make_ready(waiting);
			} else if (waiting->wake_ns < scheduler->next_wake_ns) {
				scheduler->next_wake_ns = waiting->wake_ns;
			}
		}
	}
	while (bt_fifo_count(&scheduler->ready) != 0) {
		struct bt_held_pod *held = bt_fifo_at(&scheduler->ready, 0);
		bt_fifo_drop_first(&scheduler->ready);
		const struct bt_pod_info *pod = &held->entry->pod;
		held->ready = false;
		bt_scheduler_name_attempt(scheduler, pod, out_attempt);
		enum bt_binding_outcome outcome = run_bind(scheduler, held->entry,
			&held->pre_flights, &held->progress, &held->result, now_ns);
		if (outcome != BT_BINDING_PENDING) {
			uint32_t id = held->binding_id;
			bt_hash_table_remove(&scheduler->bindings, bt_str_hash(pod->uid), id);
			scheduler->bindings.items[id] = NULL;
			finish(scheduler, held->entry, outcome, &held->result, now_ns, out_attempt);
			bt_scheduler_release_held(scheduler, held);
			return true;
		}
		set_wake_time(scheduler, held);
	}
	return false;
}

bool bt_scheduler_continue_binding_cycles(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_waiting_pods *waiting = &scheduler->waiting;
	bool finished;
	bool goes_on;
	do {
		bt_scheduler_run_calls(scheduler);
		finished = finish_one(scheduler, now_ns, out_attempt);
		/* Queued calls may have ended another binding. */
		goes_on = !scheduler->runs_calls && bt_api_calls_can_pop(&scheduler->calls);
		if (!finished && waiting->next_deadline_ns <= now_ns) {
			/* One deadline at a time, so that pods end in the order of their timers. */
			bt_waiting_pods_expire(waiting, waiting->next_deadline_ns);
			goes_on = true;
		}
	} while (!finished && goes_on);
	bt_scheduler_run_calls(scheduler);
	/* A binding that continues to wait has filled in the attempt: reset it. */
	if (!finished) {
		*out_attempt = (struct bt_attempt){.outcome = BT_ATTEMPT_IDLE};
	}
	out_attempt->has_waited = finished;
	return finished;
}

void bt_scheduler_drop_bindings(struct bt_scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->permitted.count; i++) {
		bt_scheduler_release_held(scheduler, scheduler->permitted.items[i]);
	}
	for (uint32_t i = 0; i < scheduler->bindings.count; i++) {
		if (scheduler->bindings.items[i] != NULL) {
			bt_scheduler_release_held(scheduler, scheduler->bindings.items[i]);
		}
	}
	bt_vec_finish(&scheduler->permitted);
	bt_hash_table_finish(&scheduler->bindings);
	bt_fifo_finish(&scheduler->ready);
}

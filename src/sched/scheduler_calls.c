/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Writes about pods: straight to the writer, or through the queue of calls (gate
 * SchedulerAsyncAPICalls). Spec: 03 sections 9.3 and 11.4.
 */
#include "base/assert.h"
#include "sched/scheduler_private.h"

static int64_t now_of(const struct bt_scheduler *scheduler)
{
	return scheduler->engine->profiles.frameworks.items[0]->handle.now_ns;
}

/** --- how calls end --- */

static void finish_binding(
	struct bt_scheduler *scheduler, struct bt_str uid, int result, struct bt_str message)
{
	struct bt_held_pod *held = bt_scheduler_find_binding(scheduler, uid);
	if (held == NULL) {
		return;
	}
	held->call_ended = true;
	held->call_result = result < 0 ? result : 0;
	held->call_message = bt_arena_str(&held->cycle.arena, message);
	bt_scheduler_make_ready(held);
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
		finish_binding(scheduler, call->pod->meta->uid, result, message);
	} else if (result < 0) {
		struct berth_error err = BERTH_ERROR_INIT;
		(void)bt_error_set(&err, result, "%.*s", BT_STR_ARG(message));
		bt_scheduler_warn(scheduler, &err);
	}
}

/** --- how they are carried out --- */

/** The writer may have said in the middle of the question that it has an answer. */
static void unlist(const struct bt_scheduler *scheduler, const struct bt_api_call *call)
{
	uint32_t i = call->is_listed ? bt_fifo_count(&scheduler->answered) : 0;
	/* It came last. */
	while (i > 0) {
		if (bt_fifo_at(&scheduler->answered, --i) == call) {
			bt_fifo_at(&scheduler->answered, i) = NULL;
			return;
		}
	}
}

/** Ask the writer; it may have no answer yet. */
static void carry_out(struct bt_scheduler *scheduler, const struct bt_api_call *call)
{
	const struct bt_scheduler_writer *writer = &scheduler->writer;
	struct berth_error err = BERTH_ERROR_INIT;
	const struct bt_held_pod *held;
	int result = 0;
	switch (call->type) {
	case BT_API_CALL_POD_BINDING:
		held = bt_scheduler_find_binding(scheduler, call->pod->meta->uid);
		BT_ASSERT(held != NULL); /* it waits for this */
		scheduler->binding_entry = held->entry;
		result = writer->bind(writer->context, call->pod_info, call->node_name, &err);
		scheduler->binding_entry = NULL;
		break;
	case BT_API_CALL_POD_STATUS_PATCH:
	case BT_API_CALL__COUNT:
		if (!bt_api_call_is_no_op(call)) {
			result = writer->patch_status(writer->context, call->pod->value,
				call->has_condition ? &call->condition : NULL, &call->nomination,
				&err);
		}
		break;
	}
	if (result != BT_WRITE_PENDING) {
		unlist(scheduler, call);
		bt_api_calls_done(&scheduler->calls, call->pod->meta->uid, result,
			bt_str_from(result < 0 ? berth_error_message(&err) : ""),
			now_of(scheduler));
	}
	berth_error_finish(&err);
}

static struct bt_api_call *take_answered(struct bt_scheduler *scheduler)
{
	struct bt_api_call *call = NULL;
	while (call == NULL && bt_fifo_count(&scheduler->answered) != 0) {
		call = bt_fifo_at(&scheduler->answered, 0);
		bt_fifo_drop_first(&scheduler->answered);
	}
	if (call != NULL) {
		call->is_listed = false;
	}
	return call;
}

void bt_scheduler_run_calls(struct bt_scheduler *scheduler)
{
	if (!scheduler->queues_calls || scheduler->runs_calls) {
		return;
	}
	scheduler->runs_calls = true;
	for (;;) {
		struct bt_api_call *call = take_answered(scheduler);
		if (call == NULL) {
			call = bt_api_calls_pop(&scheduler->calls, now_of(scheduler));
		}
		if (call == NULL) {
			break;
		}
		carry_out(scheduler, call);
	}
	scheduler->runs_calls = false;
}

bool bt_scheduler_can_run_calls(const struct bt_scheduler *scheduler)
{
	return !scheduler->runs_calls && bt_api_calls_can_pop(&scheduler->calls);
}

bool bt_scheduler_resume_call(struct bt_scheduler *scheduler, struct bt_str uid)
{
	struct bt_api_call *call = bt_api_calls_in_flight(&scheduler->calls, uid);
	if (call == NULL || call->type != BT_API_CALL_POD_BINDING) {
		return false;
	}
	if (!call->is_listed) {
		call->is_listed = true;
		bt_fifo_push(&scheduler->answered, call);
	}
	return true;
}

bool bt_scheduler_patch_answered(
	struct bt_scheduler *scheduler, struct bt_str uid, int result, struct bt_str message)
{
	const struct bt_api_call *call = bt_api_calls_in_flight(&scheduler->calls, uid);
	if (call == NULL || call->type != BT_API_CALL_POD_STATUS_PATCH) {
		return false;
	}
	bt_api_calls_done(&scheduler->calls, uid, result, message, now_of(scheduler));
	return true;
}

/** --- where they come from --- */

int bt_scheduler_queue_binding(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_str node_name, struct berth_error *err)
{
	struct bt_held_pod *held = bt_scheduler_find_binding(scheduler, pod->uid);
	const struct bt_api_call *known = bt_api_calls_find(&scheduler->calls, pod->uid);
	if (held != NULL && held->call_ended) {
		held->call_ended = false;
		return held->call_result < 0 ? bt_error_set(err, held->call_result, "%.*s",
						       BT_STR_ARG(held->call_message))
					     : 0;
	}
	if (known == NULL || known->type != BT_API_CALL_POD_BINDING) {
		/* Nothing is more relevant, and a binding always has an effect. */
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
		/* One that is skipped is as good. */
		(void)bt_api_calls_add(
			&scheduler->calls, bt_api_call_create_patch(pod, condition, nomination));
	} else {
		/* What is so already is not asked for. */
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
 * --- preemption: spec 08 section 11; nominations that it clears wait for their turn, too (11.4)
 * ---
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

/** The watch may have reported the victim's deletion before its answer arrived. */
static void send_preempted(void *context, const struct bt_preemption_event *event)
{
	struct bt_scheduler *scheduler = context;
	const struct bt_preemption_pod *victim = &event->victim;
	struct bt_pod gone = {.metadata = {.namespace_ = victim->namespace_,
				      .name = victim->name,
				      .uid = victim->uid}};
	const struct bt_pod *pod = bt_scheduler_find_same_pod(
		scheduler, victim->namespace_, victim->name, victim->uid);
	if (scheduler->writer.event != NULL) {
		scheduler->writer.event(scheduler->writer.context, pod != NULL ? pod : &gone,
			"Normal", "Preempted", "Preempting", event->note);
	}
}

/** --- life --- */

void bt_scheduler_init_calls(struct bt_scheduler *scheduler)
{
	struct bt_api_calls_observer observer = {scheduler, call_finished};
	bt_api_calls_init(&scheduler->calls, &observer);
	scheduler->preemption = (struct bt_preemption_writer){
		.patch_condition = patch_condition,
		.delete_pod = delete_pod,
		.clear_nomination = clear_nomination,
		.event = send_preempted,
		.context = scheduler,
	};
}

bool bt_scheduler_queues_calls(const struct bt_scheduler *scheduler)
{
	return scheduler->queues_calls;
}

const struct bt_api_calls *bt_scheduler_calls(const struct bt_scheduler *scheduler)
{
	return &scheduler->calls;
}

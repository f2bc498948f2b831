/* SPDX-License-Identifier: Apache-2.0 */
/** The binding cycle: spec 03 section 6. */
#include "base/alloc.h"
#include "sched/scheduler_private.h"

void bt_scheduler_activate(
	struct bt_scheduler *scheduler, struct bt_cycle_state *cycle, int64_t now_ns)
{
	for (uint32_t i = 0; i < cycle->pods_to_activate.count; i++) {
		struct bt_str key = cycle->pods_to_activate.items[i];
		int64_t slash = bt_str_find_char(key, '/');
		if (slash < 0) {
			continue;
		}
		struct bt_object *pod = bt_object_store_find_object(&scheduler->pods, BT_KIND_POD,
			bt_str_sub(key, 0, (uint32_t)slash),
			bt_str_sub(key, (uint32_t)slash + 1, BT_STR_MAX));
		if (pod != NULL) {
			(void)bt_queue_activate(scheduler->queue, pod, now_ns);
		}
	}
	cycle->pods_to_activate.count = 0;
}

void bt_scheduler_warn_of_forget(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result)
{
	if (result->forget_error.length != 0) {
		struct berth_error err = BERTH_ERROR_INIT;
		(void)bt_error_set(&err, BERTH_ERR_INVALID, "ForgetPod failed: %.*s",
			BT_STR_ARG(result->forget_error));
		bt_scheduler_warn(scheduler, &err);
	}
}

static struct bt_str node_name_of(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result)
{
	return bt_node_table_name(&scheduler->engine->state->nodes, result->slot);
}

/** Before it waits or works, the pod's expected node is made known. */
static void expect_node(struct bt_scheduler *scheduler, const struct bt_pod *pod,
	const struct bt_schedule_result *result)
{
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_post_filter_result nomination = {
		true, BT_NOMINATING_OVERRIDE, node_name_of(scheduler, result)};
	if (scheduler->writer.patch_status == NULL ||
		bt_str_equal(pod->status.nominated_node_name, nomination.nominated_node_name)) {
		return;
	}
	if (scheduler->writer.patch_status(
		    scheduler->writer.context, pod, NULL, &nomination, &err) < 0) {
		bt_scheduler_warn(scheduler, &err);
	}
}

static void set_node_name(struct bt_scheduler *scheduler, const struct bt_schedule_result *result,
	struct bt_attempt *out_attempt)
{
	bt_strbuf_reset(&scheduler->node_name);
	bt_strbuf_append_str(&scheduler->node_name, node_name_of(scheduler, result));
	out_attempt->node_name = bt_strbuf_str(&scheduler->node_name);
}

static void report_bound(struct bt_scheduler *scheduler, const struct bt_pod *pod,
	const struct bt_schedule_result *result, struct bt_attempt *out_attempt)
{
	struct bt_strbuf note = {0};
	set_node_name(scheduler, result, out_attempt);
	out_attempt->outcome = BT_ATTEMPT_BOUND;
	bt_strbuf_append_c(&note, "Successfully assigned ");
	bt_object_ref(&pod->metadata, &note);
	bt_strbuf_append_c(&note, " to ");
	bt_strbuf_append_str(&note, out_attempt->node_name);
	bt_scheduler_send_event(scheduler, pod, "Normal", "Scheduled", "Binding", &note);
	bt_strbuf_finish(&note);
}

/**
 * Spec 03 section 6.1: the assumed pod's resources are free again. Others hear of it before the pod
 * is queued again, or after it when the pod was rejected.
 */
static void fail_binding(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_object *pod = bt_object_share(entry->object);
	bool rejected = bt_status_is_rejected(&result->status);
	bool freed = result->forget_error.length == 0;
	struct bt_queue_check others = {.excluded_uid = pod->meta->uid};
	bt_scheduler_warn_of_forget(scheduler, result);
	if (freed && !rejected) {
		bt_scheduler_announce_freed(scheduler, pod, NULL, now_ns);
	}
	bt_scheduler_fail(scheduler, entry, result, now_ns, out_attempt);
	if (freed && rejected) {
		bt_scheduler_announce_freed(scheduler, pod, &others, now_ns);
	}
	bt_object_release(pod);
}

/** From PreBind on: nothing makes the pod wait any more. */
static void bind(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_status *pre_flights, struct bt_schedule_result *result, int64_t now_ns,
	struct bt_attempt *out_attempt)
{
	bt_queue_done(scheduler->queue, entry->pod.uid);
	if (!bt_engine_bind(scheduler->engine, &entry->pod, pre_flights, result)) {
		fail_binding(scheduler, entry, result, now_ns, out_attempt);
		return;
	}
	report_bound(scheduler, entry->pod.object, result, out_attempt);
	bt_scheduler_activate(scheduler, result->cycle, now_ns);
	bt_queue_release(scheduler->queue, entry);
}

static void hold(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_status *pre_flights, const struct bt_schedule_result *result,
	int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_held_pod *held = BT_NEW(struct bt_held_pod);
	held->result = *result;
	held->pre_flights = *pre_flights;
	held->entry = entry;
	bt_engine_hold(scheduler->engine, &held->result, &held->cycle);
	(void)bt_waiting_pods_add(&scheduler->waiting, result->framework, &entry->pod,
		result->waits, result->wait_count, now_ns);
	bt_vec_push(&scheduler->held, held);
	set_node_name(scheduler, result, out_attempt);
	out_attempt->outcome = BT_ATTEMPT_WAITING;
}

void bt_scheduler_start_binding(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt)
{
	const struct bt_gates *gates = bt_config_gates(scheduler->engine->config);
	struct bt_status pre_flights = BT_STATUS_OK;
	if (bt_gate_enabled(gates, BT_GATE_NOMINATED_NODE_NAME_FOR_EXPECTATION)) {
		pre_flights = bt_run_pre_bind_pre_flights(
			result->framework, result->cycle, &entry->pod, result->slot);
		if (pre_flights.code == BT_STATUS_SUCCESS ||
			(pre_flights.code == BT_STATUS_SKIP && result->wait_count != 0)) {
			expect_node(scheduler, entry->pod.object, result);
		}
	}
	bool failed = pre_flights.code != BT_STATUS_SUCCESS && pre_flights.code != BT_STATUS_SKIP;
	if (result->wait_count != 0 && !failed) {
		hold(scheduler, entry, &pre_flights, result, now_ns, out_attempt);
	} else {
		bind(scheduler, entry, &pre_flights, result, now_ns, out_attempt);
	}
}

static void finish_held(struct bt_scheduler *scheduler, struct bt_held_pod *held,
	const struct bt_status *decision, int64_t now_ns, struct bt_attempt *out_attempt)
{
	bt_scheduler_name_attempt(scheduler, &held->entry->pod, out_attempt);
	if (bt_status_is_success(decision)) {
		bind(scheduler, held->entry, &held->pre_flights, &held->result, now_ns,
			out_attempt);
	} else {
		bt_engine_reject_waiting(
			scheduler->engine, &held->entry->pod, decision, &held->result);
		fail_binding(scheduler, held->entry, &held->result, now_ns, out_attempt);
	}
	bt_engine_release_held(scheduler->engine, &held->cycle);
	bt_free(held);
}

bool bt_scheduler_finish_waiting(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt)
{
	*out_attempt = (struct bt_attempt){.outcome = BT_ATTEMPT_IDLE};
	bt_waiting_pods_expire(&scheduler->waiting, now_ns);
	for (uint32_t i = 0; i < scheduler->held.count; i++) {
		struct bt_held_pod *held = scheduler->held.items[i];
		struct bt_status decision;
		if (bt_waiting_pods_poll(&scheduler->waiting, held->entry->pod.uid,
			    &held->cycle.arena, &decision) == BT_WAIT_PENDING) {
			continue;
		}
		bt_vec_remove_ordered(&scheduler->held, i);
		finish_held(scheduler, held, &decision, now_ns, out_attempt);
		return true;
	}
	return false;
}

int64_t bt_scheduler_next_deadline_ns(const struct bt_scheduler *scheduler)
{
	return bt_waiting_pods_next_deadline_ns(&scheduler->waiting);
}

void bt_scheduler_drop_waiting(struct bt_scheduler *scheduler)
{
	for (uint32_t i = 0; i < scheduler->held.count; i++) {
		bt_engine_release_held(scheduler->engine, &scheduler->held.items[i]->cycle);
		bt_free(scheduler->held.items[i]);
	}
	bt_vec_finish(&scheduler->held);
}

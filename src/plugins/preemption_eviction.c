/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_eviction.h"

#include "api/identity.h"
#include "base/log.h"
#include "framework/binding_pods.h"
#include "framework/framework.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "plugins/common_plugin.h"

/** --- one victim --- */

static const struct bt_pod *find_object(
	const struct bt_handle *handle, const struct bt_preemption_pod *pod)
{
	const struct bt_pod_lister *pods = handle->pods;
	const struct bt_pod *object = NULL;

	if (pods != NULL) {
		object = pods->find(pods->context, pod->namespace_, pod->name);
	}
	return object != NULL && bt_str_equal(object->metadata.uid, pod->uid) ? object : NULL;
}

void bt_eviction_init_victim(
	const struct bt_eviction *eviction, uint32_t pod_id, struct bt_victim *out)
{
	const struct bt_state *state = eviction->executor->handle->state;
	const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);

	out->pod = (struct bt_preemption_pod){
		.namespace_ = bt_arena_str(
			eviction->arena, bt_symbol_text(&state->symbols, record->namespace_)),
		.name = bt_arena_str(
			eviction->arena, bt_symbol_text(&state->symbols, record->name)),
		.uid = bt_arena_str(eviction->arena, bt_symbol_text(&state->symbols, record->uid)),
	};
	/* The condition that says why the victim goes, and whether its status lacks it. */
	const struct bt_pod *object = find_object(eviction->executor->handle, &out->pod);
	static const struct bt_time unknown_time = {0};

	out->condition = (struct bt_pod_condition){
		.type = BT_STR("DisruptionTarget"),
		.status = BT_STR("True"),
		.reason = BT_STR("PreemptionByScheduler"),
		.message = bt_arena_printf(eviction->arena,
			"%.*s: preempting to accommodate a higher priority %s",
			BT_STR_ARG(eviction->preemptor.scheduler_name),
			eviction->preemptor.is_group ? "podgroup" : "pod"),
	};
	out->patch = true;
	if (object != NULL) {
		out->condition.observed_generation = object->metadata.generation;
		(void)bt_pod_conditions_set(&object->status, &out->condition, &unknown_time,
			eviction->arena, &out->patch);
	}
}

void bt_eviction_send_event(
	const struct bt_eviction *eviction, const struct bt_victim *victim, bool in_memory)
{
	const struct bt_preemption_writer *writer = eviction->executor->handle->preemption_writer;
	struct bt_strbuf note = {0};
	struct bt_preemption_event event = {
		.victim = victim->pod,
		.related_group =
			eviction->preemptor.is_group ? &eviction->preemptor.identity : NULL,
	};

	BT_LOG_INFO(2, "Preemptor Pod preempted victim Pod",
		BT_LOG_REF("preemptor", eviction->preemptor.identity.namespace_,
			eviction->preemptor.identity.name),
		BT_LOG_REF("victim", victim->pod.namespace_, victim->pod.name),
		BT_LOG_STR("node", eviction->candidate_name));
	if (writer->event == NULL) {
		return;
	}
	bt_strbuf_printf(&note, "Preempted by %s %.*s on node %.*s%s",
		eviction->preemptor.is_group ? "podgroup" : "pod",
		BT_STR_ARG(eviction->preemptor.uid), BT_STR_ARG(eviction->candidate_name),
		in_memory ? " (in kube-scheduler memory)." : "");
	event.note = bt_strbuf_str(&note);
	writer->event(writer->context, &event);
	bt_strbuf_finish(&note);
}

bool bt_eviction_stop_in_memory(const struct bt_eviction *eviction, const struct bt_victim *victim)
{
	const struct bt_handle *handle = eviction->executor->handle;
	struct bt_waiting_pod *waiting = handle->waiting_pods != NULL
		? bt_waiting_pods_find(handle->waiting_pods, victim->pod.uid)
		: NULL;
	struct bt_strbuf cause = {0};
	bool stopped;

	if (waiting != NULL) {
		return bt_waiting_pod_preempt(
			waiting, eviction->executor->plugin_name, BT_STR("preempted"));
	}
	if (handle->binding_pods == NULL) {
		return false;
	}
	bt_strbuf_append_c(&cause, "preempted by ");
	bt_strbuf_append_str(&cause, eviction->executor->plugin_name);
	stopped = bt_binding_pods_cancel(
		handle->binding_pods, victim->pod.uid, bt_strbuf_str(&cause));
	bt_strbuf_finish(&cause);
	return stopped;
}

/** --- synchronous form --- */

/** 0, or the first error. A victim that is gone is no error, and no event is sent about it. */
static int evict_now(
	const struct bt_eviction *eviction, const struct bt_victim *victim, struct berth_error *err)
{
	const struct bt_preemption_writer *writer = eviction->executor->handle->preemption_writer;
	struct bt_preemption_ticket none = {NULL, 0};
	struct berth_error cause = BERTH_ERROR_INIT;
	int result = 0;

	if (bt_eviction_stop_in_memory(eviction, victim)) {
		bt_eviction_send_event(eviction, victim, true);
		return 0;
	}
	if (victim->patch) {
		result = writer->patch_condition(
			writer->context, none, &victim->pod, &victim->condition, &cause);
	}
	if (result == 0) {
		result = writer->delete_pod(writer->context, none, &victim->pod, &cause);
	}
	BT_ASSERT(result <= 0);
	if (result == 0) {
		bt_eviction_send_event(eviction, victim, false);
	} else if (result == BERTH_ERR_NOT_FOUND) {
		berth_error_finish(&cause);
		result = 0;
	} else {
		result = bt_error_move(err, &cause);
	}
	return result;
}

static bool note_lower_nomination(void *context, const struct bt_pod_info *pod)
{
	struct bt_lower_nominations *lower = context;

	/* Without a name in its status there is nothing to clear; a stub has none. */
	if (pod->priority < lower->priority &&
		(pod->nominated_node_name.length != 0 || lower->may_be_pending)) {
		struct bt_preemption_pod copy = {
			.namespace_ = bt_arena_str(lower->arena, pod->namespace_),
			.name = bt_arena_str(lower->arena, pod->name),
			.uid = bt_arena_str(lower->arena, pod->uid),
		};

		bt_vec_push(&lower->pods, copy);
	}
	return true;
}

struct bt_lower_nominations bt_eviction_lower_nominations(const struct bt_eviction *eviction)
{
	const struct bt_framework *framework = eviction->executor->handle->framework;
	struct bt_lower_nominations lower = {
		.arena = eviction->arena, .priority = eviction->preemptor.priority};
	const struct bt_gates *gates = eviction->executor->handle->gates;

	lower.may_be_pending =
		gates != NULL && bt_gate_enabled(gates, BT_GATE_SCHEDULER_ASYNC_API_CALLS);
	if (framework != NULL && framework->nominator != NULL) {
		bt_nominator_for_node(framework->nominator, eviction->candidate_name,
			note_lower_nomination, &lower);
	}
	return lower;
}

static void clear_nominations_now(const struct bt_eviction *eviction)
{
	const struct bt_preemption_writer *writer = eviction->executor->handle->preemption_writer;
	struct bt_preemption_ticket none = {NULL, 0};
	struct bt_lower_nominations lower = bt_eviction_lower_nominations(eviction);

	for (uint32_t i = 0; i < lower.pods.count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		/* The pod learns of it later or not at all; the preemption goes on. */
		(void)writer->clear_nomination(writer->context, none, &lower.pods.items[i], &err);
		berth_error_finish(&err);
	}
	bt_vec_finish(&lower.pods);
}

void bt_eviction_observe(struct bt_preemption_metrics *metrics, uint32_t victim_count)
{
	uint32_t bucket = 0;

	while (bucket + 1 < BT_PREEMPTION_VICTIM_BUCKETS && victim_count > (1U << bucket)) {
		bucket++;
	}
	metrics->victims_buckets[bucket]++;
	metrics->victims_sum += victim_count;
	metrics->victims_count++;
}

bool bt_eviction_is_terminating(const struct bt_preemption_executor *executor, uint32_t pod_id)
{
	return bt_state_pod_at(executor->handle->state, pod_id)->terminating;
}

struct bt_status bt_eviction_run_now(
	struct bt_eviction *eviction, const uint32_t *victims, uint32_t victim_count)
{
	struct bt_preemption_executor *executor = eviction->executor;

	bt_eviction_observe(&executor->metrics, victim_count);
	bt_metrics_preempted(bt_handle_metrics(executor->handle), victim_count, false);
	for (uint32_t i = 0; i < victim_count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;
		struct bt_victim victim;

		if (bt_eviction_is_terminating(executor, victims[i])) {
			continue;
		}
		bt_eviction_init_victim(eviction, victims[i], &victim);
		if (evict_now(eviction, &victim, &err) < 0) {
			return bt_status_from_error(eviction->arena, &err);
		}
	}
	clear_nominations_now(eviction);
	return BT_STATUS_OK;
}

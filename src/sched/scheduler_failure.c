/* SPDX-License-Identifier: Apache-2.0 */
/** What happens to a pod whose attempt failed. Spec 03 section 9. */
#include "api/event.h"
#include "api/identity.h"
#include "base/log.h"
#include "sched/scheduler_private.h"

static void send_failed_scheduling(
	const struct bt_scheduler *scheduler, const struct bt_pod *pod, struct bt_str message)
{
	struct bt_strbuf note = {0};
	if (scheduler->writer.event == NULL) {
		return;
	}
	bt_event_note(message, &note);
	scheduler->writer.event(scheduler->writer.context, pod, "Warning", "FailedScheduling",
		"Scheduling", bt_strbuf_str(&note));
	bt_strbuf_finish(&note);
}

static void patch_condition(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_schedule_result *result, struct bt_str reason, struct bt_str message)
{
	struct bt_pod_condition condition = {
		.type = BT_STR("PodScheduled"),
		.status = BT_STR("False"),
		.reason = reason,
		.message = message,
		.observed_generation = pod->meta->generation,
	};
	bt_scheduler_patch(scheduler, pod, &condition, &result->nomination);
}

/** Back into the queue with what rejected it; false when the entry is no longer needed. */
static bool requeue(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
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
	if (bt_queue_add_unschedulable(
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

/** Why the pod is not queued again, if it is not. */
static void log_informer(const struct bt_queue_entry *entry, const struct bt_object *known)
{
	const struct bt_pod_info *pod = &entry->pod;
	if (known == NULL) {
		BT_LOG_INFO(0, "Pod doesn't exist in informer cache",
			BT_LOG_REF("pod", pod->namespace_, pod->name),
			BT_LOG_STR("err", bt_str_from("pod not found")));
	} else if (!bt_str_equal(known->meta->uid, pod->uid)) {
		BT_LOG_INFO(2,
			"Pod was recreated while handling scheduling failure. Skip requeueing and "
			"status updates.",
			BT_LOG_REF("pod", pod->namespace_, pod->name));
	} else if (bt_pod_is_assigned(known->value)) {
		const struct bt_pod *assigned = known->value;
		BT_LOG_INFO(0, "Pod has been assigned to node. Abort adding it back to queue.",
			BT_LOG_REF("pod", pod->namespace_, pod->name),
			BT_LOG_STR("node", assigned->spec.node_name));
	}
}

void bt_scheduler_fail(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
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
		bt_object_store_wake(&scheduler->pods, meta->namespace_, meta->name);
	log_failure(entry, result, &scheduler->text);
	log_informer(entry, known);
	if (known != NULL && !bt_str_equal(known->meta->uid, meta->uid)) {
		/* Deleted and created anew: this attempt concerns nobody any more. */
		bt_queue_release(scheduler->queue, entry);
		return;
	}
	bool pending = known != NULL && !bt_pod_is_assigned(known->value);
	struct bt_object *pod = bt_object_share(pending ? known : entry->object);
	bool queued = false;
	if (pending) {
		bt_queue_refresh(scheduler->queue, entry, known);
		queued = requeue(scheduler, entry, result, now_ns);
	}
	bt_queue_nominate(scheduler->queue, entry,
		result->nomination.present ? &result->nomination : NULL, pending);
	if (!queued) {
		bt_queue_release(scheduler->queue, entry);
	}
	/* Bind plugins that all skip give no error to tell of. */
	if (result->status.code != BT_STATUS_SKIP) {
		send_failed_scheduling(scheduler, pod->value, out_attempt->message);
		patch_condition(scheduler, pod, result, reason, out_attempt->message);
	}
	bt_object_release(pod);
}

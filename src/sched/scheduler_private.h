/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_PRIVATE_H
#define BT_SCHED_SCHEDULER_PRIVATE_H
/** Shared by the files of the living scheduler only. */
#include "api/change.h"
#include "framework/binding_pods.h"
#include "framework/plugin.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "sched/scheduler.h"

/** A pod between Permit and what it waits for. */
struct bt_held_pod {
	struct bt_held_cycle cycle;
	struct bt_schedule_result result;
	struct bt_status pre_flights;
	struct bt_queue_entry *entry;
};

struct bt_scheduler {
	struct bt_engine *engine;
	struct bt_queue *queue;
	struct bt_scheduler_writer writer;
	struct bt_binder binder;
	struct bt_pod_lister lister;
	struct bt_object_store pods; /* the pod informer: every pod that is not terminal */
	struct bt_arena scratch;     /* of one event */
	struct bt_change_gates change_gates;
	struct bt_waiting_pods waiting;
	struct bt_binding_pods binding;
	BT_VEC(struct bt_held_pod *) held; /* in the order of their attempts */
	struct bt_strbuf name;             /* namespace and name of the last attempt's pod */
	struct bt_strbuf node_name;        /* of the last attempt */
	struct bt_strbuf text;             /* message of the last attempt */
};

void bt_scheduler_warn(const struct bt_scheduler *scheduler, struct berth_error *err);
void bt_scheduler_send_event(const struct bt_scheduler *scheduler, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, const struct bt_strbuf *note);
/** Whose attempt it is, in memory of the scheduler. */
void bt_scheduler_name_attempt(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_attempt *out_attempt);
/** Pods that plugins want to see tried at once. Empties the list. */
void bt_scheduler_activate(
	struct bt_scheduler *scheduler, struct bt_cycle_state *cycle, int64_t now_ns);
/** Bind a reserved pod, or hold it while it waits on Permit. entry is consumed. */
void bt_scheduler_start_binding(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
void bt_scheduler_warn_of_forget(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result);
/** Whoever still waits at the end is not told. */
void bt_scheduler_drop_waiting(struct bt_scheduler *scheduler);
/** The failure handler, spec 03 section 9. entry is consumed. */
void bt_scheduler_fail(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** An assumed pod's resources are free again: AssignedPod/Delete for the others. */
void bt_scheduler_announce_freed(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_queue_check *check, int64_t now_ns);
#endif

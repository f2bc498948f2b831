/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_PRIVATE_H
#define BT_SCHED_SCHEDULER_PRIVATE_H
/** Shared by scheduler.c, scheduler_events.c and scheduler_failure.c only. */
#include "api/change.h"
#include "framework/plugin.h"
#include "framework/pod_lister.h"
#include "sched/scheduler.h"

struct bt_scheduler {
	struct bt_engine *engine;
	struct bt_queue *queue;
	struct bt_scheduler_writer writer;
	struct bt_binder binder;
	struct bt_pod_lister lister;
	struct bt_object_store pods; /* the pod informer: every pod that is not terminal */
	struct bt_arena scratch;     /* of one event */
	struct bt_change_gates change_gates;
	struct bt_strbuf text; /* message of the last attempt */
};

void bt_scheduler_warn(const struct bt_scheduler *scheduler, struct berth_error *err);
/** The failure handler, spec 03 section 9. entry is consumed. */
void bt_scheduler_fail(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** An assumed pod's resources are free again: AssignedPod/Delete for the others. */
void bt_scheduler_announce_freed(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_queue_check *check, int64_t now_ns);
#endif

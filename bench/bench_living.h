/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_LIVING_H
#define BT_BENCH_LIVING_H
/**
 * The complete scheduler with its queue, and a simulated API server. The server carries out the
 * scheduler's bindings, nominations and deletions of victims, and returns them as events of a
 * watch. The caller advances the virtual clock.
 */
#include "api/pod_common.h"
#include "cli/setup.h"
#include "sched/scheduler.h"

/** A write that the scheduler did not observe yet. */
struct bt_living_write {
	struct bt_object *pod;    /* the version at the time of the write; a reference is held */
	struct bt_str node_name;  /* in texts of bt_living; data NULL: no binding */
	struct bt_str nomination; /* in texts of bt_living; data NULL: nomination unchanged */
	bool deleted;             /* the pod is deleted, as a victim */
};

/** A change that the scheduler observes. */
struct bt_living_change {
	int64_t now_ns;
	const struct bt_object *old_object; /* NULL: added */
	const struct bt_object *new_object; /* NULL: deleted */
	bool is_preempted;                  /* the pod is a victim of preemption */
};

/** Receives all changes. */
struct bt_living_observer {
	int (*observe)(
		void *context, const struct bt_living_change *change, struct berth_error *err);
	void *context;
};

struct bt_living {
	struct bt_scheduler *scheduler;
	int64_t now_ns;
	struct bt_pod_commons commons;
	BT_VEC(struct bt_living_write) writes;
	struct bt_arena texts; /* texts of the writes and of the last attempt */
	uint64_t resource_version;
	uint32_t bound_count;  /* pods that got a node */
	uint32_t failed_count; /* failed attempts */
	uint32_t victim_count;
	const struct bt_living_observer *observer; /* borrowed; NULL: none */
	bool is_preempting;
};

/** Create a scheduler. living must not move afterwards. */
BT_MUST_USE int bt_living_init(
	struct bt_living *living, const struct bt_setup *setup, struct berth_error *err);
void bt_living_finish(struct bt_living *living);
/** Adds a new object, which is consumed. A pod is stored so that equal pods share memory. */
BT_MUST_USE int bt_living_add(
	struct bt_living *living, struct bt_object *object, struct berth_error *err);
/** Change an object, or delete it if new_object is NULL. Both objects are consumed. */
BT_MUST_USE int bt_living_change(struct bt_living *living, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err);
/** Reports the claims made for the pod to the observer. The scheduler already has these claims. */
BT_MUST_USE int bt_living_note_claims(
	struct bt_living *living, const struct bt_pod *pod, struct berth_error *err);
/**
 * Delete a pod, which is consumed. Claims made for the pod are deleted; other claims lose their
 * reservation for the pod.
 */
BT_MUST_USE int bt_living_delete_pod(
	struct bt_living *living, struct bt_object *object, struct berth_error *err);
/** Changes a pod to a copy of `value` with a new resource version. */
BT_MUST_USE int bt_living_change_pod(struct bt_living *living, struct bt_object *old_object,
	const struct bt_pod *value, struct berth_error *err);
/**
 * Try one pod, then apply the scheduler's writes. out_attempt's texts are borrowed until the next
 * call. BT_ATTEMPT_IDLE: there is no pod to try.
 */
BT_MUST_USE int bt_living_step(
	struct bt_living *living, struct bt_attempt *out_attempt, struct berth_error *err);
/** Advances the clock. Pods whose backoff ends in this time can be tried afterwards. */
void bt_living_pass(struct bt_living *living, int64_t duration_ns);
#endif

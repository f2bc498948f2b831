/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_LIVING_H
#define BT_BENCH_LIVING_H
/**
 * The living scheduler with its queue, and in place of an API server somebody who carries out what
 * it writes: bindings, nominations and deletions of victims are told back to it as a watch would.
 * The clock is a number that only its owner moves.
 */
#include "api/pod_common.h"
#include "cli/setup.h"
#include "sched/scheduler.h"

/** Something that was written and not told back yet. */
struct bt_living_write {
	struct bt_object *pod;    /* as the scheduler knew it; a reference is held */
	struct bt_str node_name;  /* in the arena of writes; data NULL: not bound */
	struct bt_str nomination; /* likewise; data NULL: as it is */
	bool deleted;
};

/** A change that the scheduler observes. */
struct bt_living_change {
	int64_t now_ns;
	const struct bt_object *old_object; /* NULL: added */
	const struct bt_object *new_object; /* NULL: deleted */
	bool is_preempted;                  /* the pod is the scheduler's victim */
};

/** Who follows the changes. */
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
	struct bt_arena texts; /* of the writes and of the last attempt */
	uint64_t resource_version;
	uint32_t bound_count;  /* pods that got a node */
	uint32_t failed_count; /* attempts that did not */
	uint32_t victim_count;
	const struct bt_living_observer *observer; /* borrowed; NULL: none */
	bool is_preempting;
};

/** living must not move afterwards. */
BT_MUST_USE int bt_living_init(
	struct bt_living *living, const struct bt_setup *setup, struct berth_error *err);
void bt_living_finish(struct bt_living *living);
/** A new object; consumed. Pods that look alike share memory from here on. */
BT_MUST_USE int bt_living_add(
	struct bt_living *living, struct bt_object *object, struct berth_error *err);
/** Both are consumed; new_object NULL: deleted. */
BT_MUST_USE int bt_living_change(struct bt_living *living, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err);
/** The scheduler knows the claims that were made for the pod; the observer does not. */
BT_MUST_USE int bt_living_note_claims(
	struct bt_living *living, const struct bt_pod *pod, struct berth_error *err);
/** object, consumed, is gone: its claims are deleted, or have one user less. */
BT_MUST_USE int bt_living_delete_pod(
	struct bt_living *living, struct bt_object *object, struct berth_error *err);
/** A changed pod, its resource version apart; value is copied. */
BT_MUST_USE int bt_living_change_pod(struct bt_living *living, struct bt_object *old_object,
	const struct bt_pod *value, struct berth_error *err);
/**
 * Try one pod to the end and tell back what was written. out_attempt's texts are borrowed until the
 * next call. BT_ATTEMPT_IDLE: there is none to try.
 */
BT_MUST_USE int bt_living_step(
	struct bt_living *living, struct bt_attempt *out_attempt, struct berth_error *err);
/** Let so much time pass: pods whose backoff ends meanwhile are tried next. */
void bt_living_pass(struct bt_living *living, int64_t duration_ns);
#endif

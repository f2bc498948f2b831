/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_H
#define BT_SCHED_SCHEDULER_H
/**
 * The complete scheduler. Object changes come in, pods are scheduled one at a time, and API writes
 * go out through struct bt_scheduler_writer. The scheduler owns the queue and the engine, turns
 * changes into cluster events, and handles failed attempts. Spec: 03 sections 2, 6, 9 and 10.
 *
 * There is one thread, time is a parameter, and all work is done by bt_scheduler_step. No call
 * blocks: a write whose answer is pending returns BT_WRITE_PENDING, and a binding cycle that waits
 * for Permit, volumes or an answer is held while other pods are scheduled. The effects of writes
 * come back through bt_scheduler_observe, as a watch reports them.
 *
 * With the gate SchedulerAsyncAPICalls, bindings and status patches are queued. Each step writes
 * queued calls, one at a time per pod. A binding cycle then always ends in a later step than the
 * step that started it.
 */
#include "framework/preemption.h"
#include "queue/queue.h"
#include "sched/engine.h"

/**
 * The API writes of the scheduler. If bind, patch_status or patch_pod_group is NULL, the write
 * counts as succeeded. event, warn and attempt_ended may be NULL.
 */
struct bt_scheduler_writer {
	void *context;
	/** POST the binding. May return BT_WRITE_PENDING. An error fails the attempt. */
	int (*bind)(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
		struct berth_error *err);
	/**
	 * PATCH the pod's status. The condition may be NULL. A nomination with mode override sets
	 * status.nominatedNodeName ("" clears it). Errors are only passed to warn. If
	 * bt_scheduler_queues_calls returns true, the function may return BT_WRITE_PENDING; the
	 * next write for the pod then waits for bt_scheduler_patch_answered.
	 */
	int (*patch_status)(void *context, const struct bt_pod *pod,
		const struct bt_pod_condition *condition,
		const struct bt_post_filter_result *nomination, struct berth_error *err);
	/**
	 * PATCH the PodGroup's status with a condition that differs from the stored condition of
	 * the same type; last_transition_time is not used. Errors are only passed to warn.
	 */
	int (*patch_pod_group)(void *context, const struct bt_pod_group *group,
		const struct bt_condition *condition, struct berth_error *err);
	/**
	 * Record an event on a pod, e.g. with type Warning, reason FailedScheduling and action
	 * Scheduling. The note has at most 1024 bytes.
	 */
	void (*event)(void *context, const struct bt_pod *pod, const char *type, const char *reason,
		const char *action, struct bt_str note);
	/**
	 * PATCH a pod's status for preemption: set a victim's condition, or clear the nomination of
	 * a lower-priority pod. For the results and the ticket, see struct bt_preemption_writer.
	 * NULL: patch_status is called.
	 */
	int (*patch_other)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_pod *pod, const struct bt_pod_condition *condition,
		const struct bt_post_filter_result *nomination, struct berth_error *err);
	/**
	 * DELETE a victim, as struct bt_preemption_writer describes. NULL: victims are not deleted.
	 * If delete_pod is set, patch_status or patch_other must be set too.
	 */
	int (*delete_pod)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_preemption_pod *victim, struct berth_error *err);
	/**
	 * Writes of volume binding and DynamicResources. Borrowed. NULL: these plugins write
	 * nothing.
	 */
	const struct bt_volume_writer *volumes;
	const struct bt_claim_writer *claims;
	/** Report a line that upstream logs as an error. */
	void (*warn)(void *context, struct bt_str line);
	/**
	 * Called when a step is about to pop a pod. A step that finishes a binding cycle pops no
	 * pod and does not call this function. false: do not pop a pod, because the writer is full
	 * or may not write. NULL: always true.
	 */
	bool (*may_schedule)(void *context);
	/**
	 * Called at the end of each step that did something, to send what must follow the step's
	 * writes, e.g. deletions of victims.
	 */
	void (*attempt_ended)(void *context);
};

struct bt_scheduler;

/** Takes a reference to config. Copies *writer; writer->context must outlive the scheduler. */
BT_MUST_USE int bt_scheduler_create(struct bt_config *config,
	const struct bt_engine_options *options, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
/** Creates a scheduler with the context's configuration and options and the caller's writer. */
typedef int bt_scheduler_create_fn(const void *context, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
void bt_scheduler_destroy(struct bt_scheduler *scheduler);
struct bt_engine *bt_scheduler_engine(const struct bt_scheduler *scheduler);
struct bt_queue *bt_scheduler_queue(const struct bt_scheduler *scheduler);
/**
 * The pod in the informer's store, borrowed until the next change or attempt. NULL: unknown or
 * terminal.
 */
struct bt_object *bt_scheduler_find_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name);

/** Does the same as bt_scheduler_find_pod, but also returns NULL if the pod has another uid. */
const struct bt_pod *bt_scheduler_find_same_pod(struct bt_scheduler *scheduler,
	struct bt_str namespace_, struct bt_str name, struct bt_str uid);

/**
 * An object was added (old_object NULL), updated, or deleted (new_object NULL), as a watch reports
 * it. Both objects have the same kind; the scheduler takes references. Terminal pods count as
 * deleted. BERTH_ERR_INTERNAL: the cache is corrupted ("Scheduler cache is corrupted ...");
 * upstream exits in this case.
 */
BT_MUST_USE int bt_scheduler_observe(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t now_ns, struct berth_error *err);

/**
 * An object was deleted while the watch was interrupted, so last_known may be out of date. Apart
 * from this, does the same as bt_scheduler_observe with new_object NULL.
 */
BT_MUST_USE int bt_scheduler_observe_lost(struct bt_scheduler *scheduler,
	struct bt_object *last_known, int64_t now_ns, struct berth_error *err);

enum bt_attempt_outcome {
	BT_ATTEMPT_IDLE,    /* nothing to do */
	BT_ATTEMPT_BOUND,   /* the pod is bound to node_name */
	BT_ATTEMPT_WAITING, /* node_name is set; a later step ends the binding cycle */
	BT_ATTEMPT_FAILED,  /* reason and message as in the PodScheduled condition */
	BT_ATTEMPT_SKIPPED, /* the popped pod is being deleted, is assumed, or has no profile */
};

/** Result of one step. Texts are borrowed until the next step. */
struct bt_attempt {
	enum bt_attempt_outcome outcome;
	bool has_waited; /* an earlier step returned this attempt as BT_ATTEMPT_WAITING */
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str uid;
	struct bt_str node_name;
	int64_t score; /* total of the node; 0 if no other node was feasible, or if has_waited */
	uint32_t feasible_count; /* number of feasible nodes found; 0 if has_waited */
	struct bt_str reason;
	struct bt_str message;
	/**
	 * Name of the PodGroup in whose cycle the pod was scheduled; "": none. The steps after a
	 * group's cycle return its members one by one, in the order of the cycle.
	 */
	struct bt_str group_name;
};

/** A feasible placement with its scores. */
struct bt_scored_placement {
	struct bt_str name;
	int64_t total;
	const int64_t *scores; /* by plugin: weighted score */
};

/** The last pod group cycle; borrowed until the next cycle of a group. Spec: 09 section 7. */
struct bt_group_attempt {
	struct bt_str namespace_;
	struct bt_str name;     /* of the PodGroup, which may not exist */
	struct bt_str pod_name; /* of the member that was popped */
	struct bt_str message;  /* of the group's status; "": Success */
	uint32_t member_count;  /* members tried */
	/* Set only if several placements were feasible. */
	uint32_t placement_count;
	const struct bt_scored_placement *placements; /* ascending by name */
	uint32_t plugin_count;
	const struct bt_str *plugin_names;
};

/**
 * Returns the result of the last pod group cycle. NULL: there was no cycle, or the gate
 * GenericWorkload is off.
 */
const struct bt_group_attempt *bt_scheduler_group_attempt(const struct bt_scheduler *scheduler);

struct bt_tried_placement {
	struct bt_str name; /* "": all nodes, no constraint */
	uint32_t node_count;
	uint32_t placed_count; /* members that found a node */
	bool is_feasible;
	bool is_chosen;
};

struct bt_tried_member {
	const struct bt_pod *pod; /* the caller's pod */
	bool was_tried;           /* false: an error ended the cycle before this member */
	bool is_reserved;         /* on node_name (if is_kept: placed); set before `visit` */
	struct bt_str node_name;  /* "": no node fits */
	struct bt_str message;    /* why no node fits; "" if a node fits */
};

/** Result of bt_scheduler_try_group. Lists and texts are borrowed until the next cycle. */
struct bt_tried_group {
	enum bt_status_code code; /* Success: the group is accepted */
	struct bt_str message;    /* of the group's status */
	uint32_t placement_count; /* 0: no placement was generated, e.g. due to an error */
	const struct bt_tried_placement *placements;
	/**
	 * Index of the chosen placement. If no placement was chosen, this is the index of the
	 * placement with the most placed members.
	 */
	uint32_t closest;
	uint32_t member_count;
	/* The members in the order of the cycle, with their results in the placement `closest`. */
	struct bt_tried_member *members;
	/* The members were kept as if bound (bt_try_group_options.keeps). */
	bool is_kept;
};

struct bt_try_group_options {
	/**
	 * Defaulted pods, at least one, all of one existing group (state/pod_groups.h). The pods
	 * need not be in the queue, and PreEnqueue does not run for them.
	 */
	const struct bt_pod *const *pods;
	uint32_t count;
	/* If the group is accepted and each member finds a node, keep the members as if bound. */
	bool keeps;
	/**
	 * Called while the members that found a node are reserved, even if the group is rejected.
	 * The function may use the engine for other pods. May be NULL.
	 */
	void (*visit)(void *context, const struct bt_tried_group *tried);
	void *context;
};

/**
 * Find out what the cycle of a group would decide now, without preemption. Call between steps, with
 * the gate GenericWorkload on. Writes nothing to the API.
 */
void bt_scheduler_try_group(struct bt_scheduler *scheduler,
	const struct bt_try_group_options *options, struct bt_tried_group *out);

/**
 * For replays: choose this node if it is among the equally good nodes. The name is borrowed until
 * the next call; "" ends the preference.
 */
void bt_scheduler_prefer_node(struct bt_scheduler *scheduler, struct bt_str node_name);
/**
 * For replays: pop this pod next, wherever it is in the queue. Both texts are borrowed until the
 * next pop or call; name "" ends the preference.
 */
void bt_scheduler_prefer_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name);

/**
 * Set what the caller's clock, whose times the functions of this file take, lacks to the time of
 * day, which is written into objects. Initially 0.
 */
void bt_scheduler_set_wall_offset(const struct bt_scheduler *scheduler, int64_t offset_ns);
/**
 * Do one piece of work: flush the queue, then finish one binding cycle that need not wait any
 * longer (Permit has decided, an answer has arrived, a timeout has expired, or preemption cancels
 * the cycle); if all binding cycles must wait, pop one pod and run its scheduling and binding
 * cycles. Returns the time of the next call: now_ns if work was done, otherwise the next flush or
 * timeout. Call also after a change, after an answer, and when may_schedule becomes true. The first
 * call starts the queue's clock.
 */
int64_t bt_scheduler_step(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt);
/**
 * Time of the next flush of the queue or of the next timeout of a waiting binding cycle; may be too
 * early.
 */
int64_t bt_scheduler_next_step_ns(const struct bt_scheduler *scheduler);
/**
 * After an idle step: whether a later step schedules pods without any further change, because a pod
 * is in backoff or a binding cycle waits. The flush of pods that were unschedulable for minutes
 * does not count.
 */
bool bt_scheduler_has_work(const struct bt_scheduler *scheduler);
/**
 * An answer has arrived for this pod's bind, or for a write of the pod's volumes or claims during
 * the binding. The next step calls the writer again.
 */
void bt_scheduler_resume(struct bt_scheduler *scheduler, struct bt_str uid);
/** Whether the gate SchedulerAsyncAPICalls is on. */
bool bt_scheduler_queues_calls(const struct bt_scheduler *scheduler);
/**
 * End the pending patch of this pod with 0, or with BERTH_ERR_* and the API's text, which is passed
 * to warn. false: the pod has no pending patch.
 */
bool bt_scheduler_patch_answered(
	struct bt_scheduler *scheduler, struct bt_str uid, int result, struct bt_str message);
/**
 * The uid of the pod whose binding calls the writer, for bt_scheduler_resume; "" outside such
 * calls.
 */
struct bt_str bt_scheduler_binding_uid(const struct bt_scheduler *scheduler);
#endif

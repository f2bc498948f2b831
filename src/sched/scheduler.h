/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_H
#define BT_SCHED_SCHEDULER_H
/**
 * The living scheduler: object changes come in, pods are tried one at a time, and what must be
 * written goes out through an interface. It holds the queue beside the engine, classifies changes
 * into events, and handles failed attempts. Spec: 03 sections 2, 6, 9 and 10.
 *
 * One thread; time is a parameter; bt_scheduler_step is the only driver. Nothing blocks: a writer
 * that has no answer yet returns BT_WRITE_PENDING, and a binding cycle that waits for Permit,
 * volumes or an answer is held while other pods are tried. The effects of writes come back through
 * observe, as a watch reports them.
 *
 * With the gate SchedulerAsyncAPICalls bindings and status patches are queued: each step writes
 * them, one at a time per pod, and a binding cycle always ends in a later step.
 */
#include "framework/preemption.h"
#include "queue/queue.h"
#include "sched/engine.h"

/** What the scheduler wants done. A NULL function: nothing is done, and that counts as success. */
struct bt_scheduler_writer {
	void *context;
	/** POST the binding; BT_WRITE_PENDING is allowed. An error fails the attempt. */
	int (*bind)(void *context, const struct bt_pod_info *pod, struct bt_str node_name,
		struct berth_error *err);
	/**
	 * PATCH the pod's status: condition NULL: none; nomination->mode override: set
	 * status.nominatedNodeName ("" clears it). Errors are only reported to warn.
	 * BT_WRITE_PENDING is allowed while bt_scheduler_queues_calls: the next write for the pod
	 * waits for bt_scheduler_patch_answered.
	 */
	int (*patch_status)(void *context, const struct bt_pod *pod,
		const struct bt_pod_condition *condition,
		const struct bt_post_filter_result *nomination, struct berth_error *err);
	/**
	 * PATCH the PodGroup's status: a condition that differs from the stored one of its type;
	 * last_transition_time is not read. Errors are only reported to warn.
	 */
	int (*patch_pod_group)(void *context, const struct bt_pod_group *group,
		const struct bt_condition *condition, struct berth_error *err);
	/** An event on a pod, e.g. Warning, FailedScheduling, Scheduling, note (at most 1024
	 * bytes). */
	void (*event)(void *context, const struct bt_pod *pod, const char *type, const char *reason,
		const char *action, struct bt_str note);
	/**
	 * The same PATCH for preemption: a victim's condition, or a lower nomination that ends.
	 * Results and ticket as in struct bt_preemption_writer. NULL: patch_status.
	 */
	int (*patch_other)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_pod *pod, const struct bt_pod_condition *condition,
		const struct bt_post_filter_result *nomination, struct berth_error *err);
	/** DELETE a victim, as struct bt_preemption_writer says. NULL: preemption only decides. */
	int (*delete_pod)(void *context, struct bt_preemption_ticket ticket,
		const struct bt_preemption_pod *victim, struct berth_error *err);
	/** Writes of volume binding and DynamicResources; NULL: they only decide. Borrowed. */
	const struct bt_volume_writer *volumes;
	const struct bt_claim_writer *claims;
	/** A line that upstream logs as an error. */
	void (*warn)(void *context, struct bt_str line);
	/**
	 * Called by each step after the bindings that can go on, before a pod is popped. false: pop
	 * none now, the writer is full or may not write. NULL: always true.
	 */
	bool (*may_schedule)(void *context);
	/** Called at the end of each step that did something: send what must follow its writes,
	 * e.g. the deletion of victims. */
	void (*attempt_ended)(void *context);
};

struct bt_api_calls; /* sched/api_calls.h */
struct bt_scheduler;

/** config: a reference is taken. writer is copied; its context must outlive the scheduler. */
BT_MUST_USE int bt_scheduler_create(struct bt_config *config,
	const struct bt_engine_options *options, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
/** Creates the scheduler of somebody who has the writer, but not the configuration and options. */
typedef int bt_scheduler_create_fn(const void *context, const struct bt_scheduler_writer *writer,
	struct bt_scheduler **out_scheduler, struct berth_error *err);
void bt_scheduler_destroy(struct bt_scheduler *scheduler);
struct bt_engine *bt_scheduler_engine(const struct bt_scheduler *scheduler);
struct bt_queue *bt_scheduler_queue(const struct bt_scheduler *scheduler);
/** The pod informer's copy, borrowed until the next change or attempt; NULL: unknown, or terminal.
 */
struct bt_object *bt_scheduler_find_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name);

/** The same, if it is still the pod of this uid. */
const struct bt_pod *bt_scheduler_find_same_pod(struct bt_scheduler *scheduler,
	struct bt_str namespace_, struct bt_str name, struct bt_str uid);

/**
 * An object was added (old NULL), updated, or deleted (new NULL), as a watch tells it; both are of
 * one kind and shared. Terminal pods count as deleted. BERTH_ERR_INTERNAL: the cache is corrupted
 * ("Scheduler cache is corrupted ..."), upstream would end the process.
 */
BT_MUST_USE int bt_scheduler_observe(struct bt_scheduler *scheduler, struct bt_object *old_object,
	struct bt_object *new_object, int64_t now_ns, struct berth_error *err);

/**
 * The watch missed how this object went: last_known may be out of date. As observe with no new
 * object otherwise.
 */
BT_MUST_USE int bt_scheduler_observe_lost(struct bt_scheduler *scheduler,
	struct bt_object *last_known, int64_t now_ns, struct berth_error *err);

enum bt_attempt_outcome {
	BT_ATTEMPT_IDLE,    /* nothing to do */
	BT_ATTEMPT_BOUND,   /* node_name is set */
	BT_ATTEMPT_WAITING, /* node_name is set; a later step ends the binding cycle */
	BT_ATTEMPT_FAILED,  /* reason and message as in the PodScheduled condition */
	BT_ATTEMPT_SKIPPED, /* the popped pod is being deleted, assumed, or of no profile */
};

/** What one step did. Texts are borrowed until the next step. */
struct bt_attempt {
	enum bt_attempt_outcome outcome;
	bool has_waited; /* the end of an attempt that was BT_ATTEMPT_WAITING in an earlier step */
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_str uid;
	struct bt_str node_name;
	int64_t score;           /* of the node; 0 when it was the only one, or has_waited */
	uint32_t feasible_count; /* nodes found; 0 when has_waited */
	struct bt_str reason;
	struct bt_str message;
	/** The pod was tried in the cycle of this PodGroup of its namespace; "": by itself. The
	 * steps after the cycle tell of its members one by one, in the order of the cycle. */
	struct bt_str group_name;
};

/** A feasible placement that was compared with others. */
struct bt_scored_placement {
	struct bt_str name;
	int64_t total;
	const int64_t *scores; /* by plugin: weight times score */
};

/** The last pod group cycle; borrowed until the next. Spec: 09 section 7. */
struct bt_group_attempt {
	struct bt_str namespace_;
	struct bt_str name;     /* of the PodGroup, whether there is one or not */
	struct bt_str pod_name; /* of the member that was popped */
	struct bt_str message;  /* of the group's status; "": Success */
	uint32_t member_count;  /* members tried */
	/* Only when several placements were feasible. */
	uint32_t placement_count;
	const struct bt_scored_placement *placements; /* ascending by name */
	uint32_t plugin_count;
	const struct bt_str *plugin_names;
};

/** NULL: there was none, or gate GenericWorkload is off. */
const struct bt_group_attempt *bt_scheduler_group_attempt(const struct bt_scheduler *scheduler);

struct bt_tried_placement {
	struct bt_str name; /* "": all nodes, without constraint */
	uint32_t node_count;
	uint32_t placed_count; /* members that find a node */
	bool is_feasible;
	bool is_chosen; /* among the feasible ones */
};

struct bt_tried_member {
	const struct bt_pod *pod; /* as it was given */
	bool was_tried;           /* false: an error ended the cycle before */
	bool is_reserved;         /* during look */
	struct bt_str node_name;  /* "": none fits */
	struct bt_str message;    /* why */
};

/** Lists and texts are borrowed until the next cycle. */
struct bt_tried_group {
	enum bt_status_code code; /* Success: the group is accepted */
	struct bt_str message;    /* of the group's status */
	uint32_t placement_count; /* 0: none was generated, or an error came before */
	const struct bt_tried_placement *placements;
	uint32_t closest; /* chosen, or the first of those where most members find a node */
	uint32_t member_count;
	struct bt_tried_member *members; /* in the order of the cycle; there */
	bool is_kept;
};

struct bt_group_question {
	/** Defaulted, at least one, all of one group that knows them (state/pod_groups.h). They
	 * need not be in the queue, and PreEnqueue is not asked. */
	const struct bt_pod *const *pods;
	uint32_t count;
	bool keeps; /* if each member of an accepted group finds a node, all stay, as if bound */
	/**
	 * Called while the members that found a node are reserved there, also if the group is not
	 * accepted; the engine may be asked about other pods meanwhile. NULL: not called.
	 */
	void (*look)(void *context, const struct bt_tried_group *tried);
	void *context;
};

/**
 * What the cycle of a group would decide now, without preemption: for questions, between steps.
 * Nothing is written. Gate GenericWorkload is on.
 */
void bt_scheduler_try_group(struct bt_scheduler *scheduler,
	const struct bt_group_question *question, struct bt_tried_group *out);

/** Replays: this node is taken where several are equally good; "" ends it. Borrowed until then. */
void bt_scheduler_prefer_node(struct bt_scheduler *scheduler, struct bt_str node_name);
/** Replays: this pod is popped next, wherever the queue has it; name "" ends it. Borrowed until
 * then, or until the pod was popped. */
void bt_scheduler_prefer_pod(
	struct bt_scheduler *scheduler, struct bt_str namespace_, struct bt_str name);

/**
 * Do the next thing there is to do: flush what is due in the queue, then finish one binding cycle
 * that need not wait any longer (Permit decided, answer received, timeout, preempted), else pop one
 * pod and run its scheduling and binding cycle. Returns when to call again: now_ns if something was
 * done, else the next flush or timeout. Call also after a change, after an answer, and when
 * may_schedule turns true. The first call starts the clock of the queue.
 */
int64_t bt_scheduler_step(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt);
/** The next flush of the queue or timeout of a waiting binding cycle, or earlier. */
int64_t bt_scheduler_next_step_ns(const struct bt_scheduler *scheduler);
/** After an idle step: a pod backs off or a binding cycle waits, so that a later step tries pods
 * again without any change. The flush of unschedulable pods after minutes does not count. */
bool bt_scheduler_has_work(const struct bt_scheduler *scheduler);
/**
 * An answer is there for the binding of this pod: of its bind, or of one of the writes for its
 * volumes and claims. The next step repeats the call.
 */
void bt_scheduler_resume(struct bt_scheduler *scheduler, struct bt_str uid);
/** Gate SchedulerAsyncAPICalls. */
bool bt_scheduler_queues_calls(const struct bt_scheduler *scheduler);
/**
 * How the pending patch of this pod ended: 0, or BERTH_ERR_* with the API's text, which is reported
 * to warn. false: no patch of this pod is pending.
 */
bool bt_scheduler_patch_answered(
	struct bt_scheduler *scheduler, struct bt_str uid, int result, struct bt_str message);
/** The calls that wait, to count them; empty without the gate. */
const struct bt_api_calls *bt_scheduler_calls(const struct bt_scheduler *scheduler);
/** While the writer is called for a binding: the uid of its pod, to resume later. "" otherwise. */
struct bt_str bt_scheduler_binding_uid(const struct bt_scheduler *scheduler);
#endif

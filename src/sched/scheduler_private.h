/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_PRIVATE_H
#define BT_SCHED_SCHEDULER_PRIVATE_H
/**
 * The structure of a scheduler and its functions, for the files in this folder that implement
 * struct bt_scheduler.
 */
#include "api/change.h"
#include "base/fifo.h"
#include "base/hash_table.h"
#include "framework/plugin.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "sched/api_calls.h"
#include "sched/scheduler.h"

/** A pod whose binding cycle waits: on Permit, in PreBind, or for the answer to the binding. */
struct bt_held_pod {
	struct bt_held_cycle cycle;
	struct bt_schedule_result result;
	struct bt_status pre_flights;
	struct bt_binding_progress progress;
	struct bt_queue_entry *entry;
	struct bt_scheduler *scheduler;
	uint32_t binding_id;       /* index in `bindings`; set in PreBind and Bind */
	bool ready;                /* the pod is in the list `ready` */
	int64_t wake_ns;           /* latest time for the next call of bt_engine_bind */
	int64_t permit_started_ns; /* start of the wait on Permit, by the metrics' clock */
	bool is_decided;           /* the pod waits no longer on Permit */
	/*
	 * Result of the queued binding call; bt_scheduler_queue_binding returns the result and
	 * resets call_ended.
	 */
	bool call_ended;
	int call_result;
	struct bt_str call_message; /* in the cycle's arena */
};

/** A metric and the value that was written last. */
struct bt_collected_value {
	struct bt_metric_cell *cell;
	double last;
};

/** A change of a claim or slice. old_object NULL: added; new_object NULL: deleted. */
struct bt_device_change {
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** Last values of the metrics whose label is one cluster event. */
struct bt_collected_label {
	struct bt_collected_value incoming[3]; /* active, backoff, unschedulable */
	struct bt_collected_value in_flight;
};

/** Last values of the metrics that are read from queue and cache. */
struct bt_collected {
	struct bt_collected_value pending[BT_QUEUE_GAUGE__COUNT];
	struct bt_collected_value pods_popped;
	struct bt_collected_value pending_calls[BT_API_CALL__COUNT];
	BT_VEC(struct bt_collected_label) labels;
	BT_VEC(struct bt_collected_value) unschedulable; /* by profile and rejector */
	uint32_t visited; /* number of labels visited by an iteration */
};

struct bt_scheduler {
	bool has_started;                  /* the queue's clock has started */
	struct bt_str preferred_namespace; /* set by bt_scheduler_prefer_pod */
	struct bt_str preferred_name;
	struct bt_scheduler_metrics *metrics; /* NULL: no metrics */
	struct bt_collected collected;
	struct bt_engine *engine;
	struct bt_queue *queue;
	struct bt_scheduler_writer writer;
	struct bt_binder binder;
	struct bt_pod_lister lister;
	struct bt_object_store pods; /* the pod informer's store: every pod that is not terminal */
	struct bt_arena scratch;     /* memory of one event */
	struct bt_change_gates change_gates;
	struct bt_waiting_pods waiting;
	BT_VEC(struct bt_held_pod *)
	permitted; /* pods that wait on Permit, in the order of their attempts */
	BT_HASH_TABLE(struct bt_held_pod *)
	bindings;                            /* pods in PreBind or Bind, by uid; NULL: free */
	BT_FIFO(struct bt_held_pod *) ready; /* bindings to continue, in this order */
	int64_t next_wake_ns;                /* earliest wake_ns of all bindings */
	/** The entry whose binding runs; NULL: none. */
	const struct bt_queue_entry *binding_entry;
	bool announces_pending; /* gate GangScheduling: a new pod is an event for other pods */
	/* Gate SchedulerAsyncAPICalls. */
	bool queues_calls;
	bool runs_calls; /* bt_scheduler_run_calls is running */
	struct bt_api_calls calls;
	/**
	 * Queued calls whose answer has arrived. The writer is called again for each of these
	 * calls. An entry is NULL if its call has ended meanwhile.
	 */
	BT_FIFO(struct bt_api_call *) answered;
	struct bt_preemption_writer preemption;
	/**
	 * Changes of claims and slices by plugins (dra/dra.h) that the queue does not have yet,
	 * because no event may be handled while a plugin runs. Each entry holds references to both
	 * objects.
	 */
	BT_VEC(struct bt_device_change) device_changes;
	/* Pods to activate when no plugin is running. */
	BT_VEC(char *) to_activate; /* "namespace/name", owned */
	struct bt_handle_services services;
	struct bt_strbuf name;              /* namespace, name and uid of the last attempt's pod */
	struct bt_strbuf node_name;         /* of the last attempt */
	struct bt_strbuf text;              /* message of the last attempt */
	struct bt_group_cycle *group_cycle; /* NULL: gate GenericWorkload is off */
};

void bt_scheduler_warn(const struct bt_scheduler *scheduler, struct berth_error *err);
void bt_scheduler_send_event(const struct bt_scheduler *scheduler, const struct bt_pod *pod,
	const char *type, const char *reason, const char *action, struct bt_str note);
/** Set namespace, name and uid of the attempt, in memory of the scheduler. */
void bt_scheduler_name_attempt(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_attempt *out_attempt);
/** Activate the pods that plugins of this cycle requested, and empty cycle->pods_to_activate. */
void bt_scheduler_activate(
	struct bt_scheduler *scheduler, struct bt_cycle_state *cycle, int64_t now_ns);
/** Activate the pods that plugins requested outside of a cycle. */
void bt_scheduler_activate_requested(struct bt_scheduler *scheduler, int64_t now_ns);
/** Set the clock of the plugins. */
void bt_scheduler_set_now(const struct bt_scheduler *scheduler, int64_t now_ns);
/** Bind a reserved pod, or hold the pod if its binding must wait. Consumes entry. */
void bt_scheduler_run_binding_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** Finish one binding that need not wait any longer. false: there is no such binding. */
bool bt_scheduler_continue_binding_cycles(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt);
void bt_scheduler_warn_if_forget_failed(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result);
/**
 * Free all pods that wait on Permit, in PreBind or in Bind, without running their remaining steps.
 */
void bt_scheduler_drop_bindings(struct bt_scheduler *scheduler);
/** The failure handler, spec 03 section 9. Consumes entry. */
void bt_handle_scheduling_failure(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** Register for changes of the claim cache and of slices patched by taint rules. */
void bt_scheduler_listen_to_devices(struct bt_scheduler *scheduler);
/** Pass the changed claims and slices to the queue. Must not be called while a plugin runs. */
void bt_scheduler_announce_devices(struct bt_scheduler *scheduler, int64_t now_ns);
void bt_scheduler_drop_device_changes(struct bt_scheduler *scheduler);
/** --- queued calls: spec 03 section 11.4 --- */

void bt_scheduler_init_calls(struct bt_scheduler *scheduler);
/** Run the queued calls. No effect while the function is already running. */
void bt_scheduler_run_calls(struct bt_scheduler *scheduler);
/**
 * Queue the binding of the pod whose binding cycle runs, or return the result of the queued call.
 * The return values are those of bt_binder.bind.
 */
int bt_scheduler_queue_binding(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_str node_name, struct berth_error *err);
/**
 * Write or queue a patch of the pod's status if the patch changes something. The condition may be
 * NULL. Errors are passed to warn.
 */
void bt_scheduler_patch(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination);
/** --- pod_group_cycle.c: spec 09 section 7 --- */

struct bt_group_cycle *bt_group_cycle_create(const struct bt_gates *gates);
void bt_group_cycle_destroy(struct bt_group_cycle *cycle);
/** Schedule the whole group of a popped pod. Consumes entry. */
void bt_scheduler_run_group_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	int64_t now_ns, struct bt_attempt *out_attempt);
/**
 * Sets *out_attempt to the first attempt of the last group cycle that bt_scheduler_step has not
 * returned yet. false: all attempts of the cycle were returned.
 */
bool bt_group_cycle_next_member(struct bt_group_cycle *cycle, struct bt_attempt *out_attempt);

/** --- scheduler.c --- */

/** Whether the pod is assumed. An error is passed to warn. */
bool bt_scheduler_has_assumed(const struct bt_scheduler *scheduler, const struct bt_pod *pod);
/** Whether the pod is being deleted or is assumed already: spec 03 section 2.1. */
bool bt_scheduler_skips_pod(
	const struct bt_scheduler *scheduler, const struct bt_queue_entry *entry);
/** --- scheduler_binding.c --- */

/** Let the pod wait for the Permit plugins of its result, if there are any. */
void bt_scheduler_wait_on_permit(
	struct bt_scheduler *scheduler, struct bt_held_pod *held, int64_t now_ns);
/**
 * Start the binding cycle of a reserved member. Later steps continue the started cycles in the
 * order in which they were started. Consumes `held`.
 */
void bt_scheduler_start_held_binding(struct bt_scheduler *scheduler, struct bt_held_pod *held);
/** Frees `held` and its cycle. */
void bt_scheduler_release_held(struct bt_scheduler *scheduler, struct bt_held_pod *held);
/**
 * Resources on a node are free again: requeue rejected pods by an AssignedPod/Delete event of
 * `pod`. node_name: the node on which `pod` was assumed; "": leave spec.nodeName of `pod` as it is.
 * `check` limits which pods are requeued (queue/queue.h); NULL: no limit.
 */
void bt_scheduler_announce_freed(struct bt_scheduler *scheduler, struct bt_object *pod,
	struct bt_str node_name, const struct bt_queue_check *check, int64_t now_ns);
#endif

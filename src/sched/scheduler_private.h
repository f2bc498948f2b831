/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SCHEDULER_PRIVATE_H
#define BT_SCHED_SCHEDULER_PRIVATE_H
/** Shared by the files of the living scheduler only. */
#include "api/change.h"
#include "base/fifo.h"
#include "base/map.h"
#include "framework/plugin.h"
#include "framework/pod_lister.h"
#include "framework/waiting_pods.h"
#include "sched/api_calls.h"
#include "sched/scheduler.h"

/** A binding cycle that waits: on Permit, in PreBind, or for the answer to the binding. */
struct bt_held_pod {
	struct bt_held_cycle cycle;
	struct bt_schedule_result result;
	struct bt_status pre_flights;
	struct bt_binding_progress progress;
	struct bt_queue_entry *entry;
	struct bt_scheduler *scheduler;
	bool ready;                /* listed there */
	int64_t wake_ns;           /* to be asked again then at the latest */
	int64_t permit_started_ns; /* it began to wait, by the clock of the metrics */
	/* How the binding's call ended, until it is asked for. */
	bool call_ended;
	int call_result;
	struct bt_str call_message; /* in the cycle's arena */
};

/** A value that is read when metrics are written, as it was the last time. */
struct bt_collected_value {
	struct bt_metric_cell *cell;
	double last;
};

/** Of a claim, or of a slice. NULL old_object: it is new; NULL new_object: it is gone. */
struct bt_device_change {
	struct bt_object *old_object;
	struct bt_object *new_object;
};

/** Counters of one event label, in the order of bt_queue_for_each_label. */
struct bt_collected_label {
	struct bt_collected_value incoming[3]; /* active, backoff, unschedulable */
	struct bt_collected_value in_flight;
};

/** What was last read off queue and cache. */
struct bt_collected {
	struct bt_collected_value pending[BT_QUEUE_GAUGE__COUNT];
	struct bt_collected_value pods_popped;
	struct bt_collected_value pending_calls[BT_API_CALL__COUNT];
	BT_VEC(struct bt_collected_label) labels;
	BT_VEC(struct bt_collected_value) unschedulable; /* by profile and rejector */
	uint32_t visited;                                /* labels, while they are walked over */
};

struct bt_scheduler {
	bool has_started;                     /* the queue's clock */
	struct bt_str preferred_namespace;    /* bt_scheduler_prefer_pod */
	struct bt_str preferred_name;
	struct bt_scheduler_metrics *metrics; /* NULL: nothing is counted */
	struct bt_collected collected;
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
	BT_VEC(struct bt_held_pod *)
	permitted; /* waiting on Permit, in the order of their attempts */
	/* In PreBind or Bind; a free place is NULL. */
	BT_VEC(struct bt_held_pod *) bindings;
	BT_VEC(uint32_t) free_bindings;
	struct bt_map bindings_by_uid;
	BT_FIFO(struct bt_held_pod *) ready; /* of the bindings: to be asked again, in this order */
	int64_t next_wake_ns;                /* no binding is to be woken before */
	/** Whose binding is being worked at; NULL in between. */
	const struct bt_queue_entry *binding_entry;
	bool announces_pending; /* gate GangScheduling: new pending pods are an event for others */
	/* Gate SchedulerAsyncAPICalls. */
	bool queues_calls;
	bool runs_calls; /* they are being carried out */
	struct bt_api_calls calls;
	/** Bindings under way: the writer has an answer; NULL: one that is over already. */
	BT_FIFO(struct bt_api_call *) answered;
	struct bt_preemption_writer preemption;
	/**
	 * What dra/dra.h tells of claims and slices, and the queue has not heard of: a plugin may
	 * change them in the middle of anything. References to both objects.
	 */
	BT_VEC(struct bt_device_change) device_changes;
	/* Pods to activate when no plugin is running. */
	BT_VEC(char *) to_activate; /* "namespace/name", owned */
	struct bt_handle_services services;
	struct bt_strbuf name;              /* namespace and name of the last attempt's pod */
	struct bt_strbuf node_name;         /* of the last attempt */
	struct bt_strbuf text;              /* message of the last attempt */
	struct bt_group_cycle *group_cycle; /* NULL: gate GenericWorkload is off */
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
/** Those that were asked for outside of a cycle, too. */
void bt_scheduler_activate_asked(struct bt_scheduler *scheduler, int64_t now_ns);
/** The clock of the plugins. */
void bt_scheduler_set_now(const struct bt_scheduler *scheduler, int64_t now_ns);
/** Bind a reserved pod, or hold it while something makes it wait. entry is consumed. */
void bt_scheduler_run_binding_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** Finish the binding of one pod that need not wait any longer. false: there is none. */
bool bt_scheduler_continue_binding_cycles(
	struct bt_scheduler *scheduler, int64_t now_ns, struct bt_attempt *out_attempt);
void bt_scheduler_warn_of_forget(
	const struct bt_scheduler *scheduler, const struct bt_schedule_result *result);
/** Whoever still waits at the end is not told. */
void bt_scheduler_drop_bindings(struct bt_scheduler *scheduler);
/** The failure handler, spec 03 section 9. entry is consumed. */
void bt_handle_scheduling_failure(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result, int64_t now_ns, struct bt_attempt *out_attempt);
/** The claim cache, and slices that rules of taints change, tell the scheduler from now on. */
void bt_scheduler_listen_to_devices(struct bt_scheduler *scheduler);
/** Tell the queue of the claims and slices that have changed; not while a plugin runs. */
void bt_scheduler_announce_devices(struct bt_scheduler *scheduler, int64_t now_ns);
void bt_scheduler_drop_device_changes(struct bt_scheduler *scheduler);
/** What came of a change was done; started_ns: by the clock of the metrics. Spec 04 (hints)
 * section 4.6. */
void bt_scheduler_event_handled(const struct bt_scheduler *scheduler, struct bt_str resource,
	uint32_t action, int64_t started_ns);
/** --- calls that wait for their turn: spec 03 section 11.4 --- */

void bt_scheduler_init_calls(struct bt_scheduler *scheduler);
/** Carry out what waits, unless that is being done. */
void bt_scheduler_run_calls(struct bt_scheduler *scheduler);
/** As the binder's bind, for the pod that is being bound. */
int bt_scheduler_queue_binding(struct bt_scheduler *scheduler, const struct bt_pod_info *pod,
	struct bt_str node_name, struct berth_error *err);
/** Patch the status where it differs; condition may be NULL. Errors are reported to warn. */
void bt_scheduler_patch(struct bt_scheduler *scheduler, struct bt_object *pod,
	const struct bt_pod_condition *condition, const struct bt_post_filter_result *nomination);
/** --- pod_group_cycle.c: spec 09 section 7 --- */

struct bt_group_cycle *bt_group_cycle_create(const struct bt_gates *gates);
void bt_group_cycle_destroy(struct bt_group_cycle *cycle);
/** Schedule the whole group of a popped pod. entry is consumed. */
void bt_scheduler_run_group_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	int64_t now_ns, struct bt_attempt *out_attempt);
/** The next attempt of a member that the last cycle has not reported. false: none is left. */
bool bt_group_cycle_next_member(struct bt_group_cycle *cycle, struct bt_attempt *out_attempt);

/** --- scheduler.c --- */

/** Spec 03 section 2.1: the pod is being deleted, or assumed already. */
bool bt_scheduler_skips_pod(
	const struct bt_scheduler *scheduler, const struct bt_queue_entry *entry);
/** --- scheduler_binding.c --- */

/** The binding cycle of a reserved member up to Permit: later steps go on with it, in the order of
 * these calls. held is consumed. */
void bt_scheduler_start_held_binding(struct bt_scheduler *scheduler, struct bt_held_pod *held);
/** An assumed pod's resources are free again: AssignedPod/Delete for the others. */
void bt_scheduler_announce_freed(struct bt_scheduler *scheduler, struct bt_object *pod,
	struct bt_str node_name, const struct bt_queue_check *check, int64_t now_ns);
#endif

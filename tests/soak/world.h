/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_WORLD_H
#define BT_SOAK_WORLD_H
/** The internals of the simulated cluster, shared by the files of this folder only. */
#include "api/pod_common.h"
#include "api/resource_claim.h"
#include "cluster/writes.h"
#include "sched/scheduler.h"
#include "soak/check.h"
#include "soak/sim.h"
#include "soak/store.h"
#include "soak/watch.h"
#include "soak/workload.h"

#define BT_SIM_RECENT_LINES 40

/** A pod that the scheduler counts on a node, although the watch shows the pod without a node. */
struct bt_sim_binding {
	struct bt_object *pod; /* as the scheduler saw it; reference held */
	struct bt_str node_name;
	bool is_waiting; /* the API has not confirmed the binding */
};

/** A write of the binding cycle. */
struct bt_sim_write {
	enum {
		BT_SIM_WRITE_BINDING,
		BT_SIM_WRITE_VOLUME,
		BT_SIM_WRITE_SELECTED_NODE,
		BT_SIM_WRITE_CLAIM, /* from here on: requests about ResourceClaims */
		BT_SIM_WRITE_CLAIM_STATUS,
		BT_SIM_READ_CLAIM,
		BT_SIM_WRITE_UNRESERVE,
	} what;
	struct bt_object *object; /* the pod, volume or claim */
	struct bt_object *base; /* a ResourceClaim as the scheduler knows it; NULL: other writes */
	struct bt_str node_name;
	struct bt_str pod_uid; /* the pod that needs the claim; "" for other writes */
	bool must_end;         /* the caller needs the answer now */
};

/** A write in flight, or an answered write whose answer the scheduler has not read. */
struct bt_sim_answer {
	struct bt_str key;
	uint64_t serial;
	struct bt_sim_write write; /* references held */
	bool answered;
	int result;
	struct berth_error err;
	struct bt_object *object;       /* the ResourceClaim in the API; reference held; or NULL */
	struct bt_str resource_version; /* of the volume or claim that was written */
};

/** A write about a pod that takes effect later. */
struct bt_sim_late_write {
	enum {
		BT_SIM_LATE_BIND,
		BT_SIM_LATE_PATCH,
		BT_SIM_LATE_DELETE,
	} what;
	struct bt_preemption_ticket ticket;
	struct bt_object *pod; /* reference held until the write takes effect */
	struct bt_str node_name;
	bool has_condition;
	struct bt_pod_condition condition;
	struct bt_post_filter_result nomination;
};

struct bt_sim_group_key {
	struct bt_str namespace_;
	struct bt_str name;
};

struct bt_sim {
	struct bt_sim_options options;
	struct bt_sim_report *report;
	struct bt_sim_clock clock;
	struct bt_sim_store store;
	struct bt_sim_watch watch;
	struct bt_prng faults;  /* of writes */
	struct bt_prng times;   /* delays of controllers and drivers */
	struct bt_prng changes; /* random changes by users */
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_pod_commons commons;   /* of the pods that the scheduler observes */
	struct bt_cluster_writes writes; /* carries out the scheduler's writes */
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_sim_workload workload;
	BT_VEC(struct bt_sim_binding) bindings;
	BT_VEC(struct bt_sim_answer *) answers; /* in the order of the writes */
	uint64_t next_answer;
	BT_VEC(struct bt_sim_late_write) late_writes;
	BT_VEC(struct bt_str) excused;      /* nodes that may be over-committed */
	BT_VEC(struct bt_str) excused_pods; /* uids of pods with a failed write */
	BT_VEC(struct bt_sim_excused_pool) excused_pools;
	BT_VEC(struct bt_sim_group_key) torn_groups; /* pod groups that lost a member */
	struct bt_arena texts;                       /* for the whole run */
	struct bt_arena scratch; /* for one write or one action of a controller */
	struct bt_strbuf recent[BT_SIM_RECENT_LINES];
	/**
	 * When the scheduler last observed a node that was added, deleted or relabelled, and a pod
	 * that was deleted or relabelled.
	 */
	int64_t node_change_ns;
	int64_t pod_change_ns;
	/**
	 * Uids of nominated pods, and the time when a nomination last ended without a watch event.
	 */
	BT_VEC(struct bt_str) nominated;
	int64_t unseen_end_ns;
	/** When a binding last failed: other pods can use its volumes and devices. */
	int64_t freed_ns;
	/** When the scheduler last observed the deletion of a claim with devices. */
	int64_t claim_lost_ns;
	uint32_t write_fault_one_in; /* 0: none */
	uint32_t busy;               /* pending actions of drivers and late writes */
	int64_t cluster_due_ns;      /* when controllers and node agents run next */
	bool cluster_is_due;         /* controllers must handle a change */
	bool has_groups;             /* the gates of pod groups are on: every second seed */
	bool is_changing;            /* users make changes */
	bool has_faults;             /* writes fail */
	struct bt_str named_uid;     /* of the pod that the scheduler wrote about last */
	uint32_t waiting;            /* binding cycles that wait for later steps */
	bool is_asynchronous;        /* writes of the binding cycle are answered later */
	int64_t due_ns;              /* when the timer steps the scheduler; INT64_MAX: no timer */
	bool attempt_is_due;
	bool may_attempt; /* the delay before the attempt is over */
	bool in_attempt;
	bool is_decided; /* the decision was checked, or must not be checked any more */
	bool failed;
};

/** --- world.c --- */

int bt_sim_init(struct bt_sim *sim, const struct bt_sim_options *options,
	struct bt_sim_report *report, struct berth_error *err);
/** Must be called after a failed init, too. */
void bt_sim_finish(struct bt_sim *sim);

/** Write a line of the log: "<seconds>.<millis> <text>". */
BT_PRINTF(2, 3)
void bt_sim_log(struct bt_sim *sim, const char *format, ...);
/** Ends the run with a complaint; complaints after the first complaint are ignored. */
void bt_sim_complain(struct bt_sim *sim, struct bt_str complaint);
/** Run until this time, or until the first complaint. */
void bt_sim_run_until(struct bt_sim *sim, int64_t until_ns);
/**
 * Steps the scheduler after an event or an answer: bindings that need not wait end now, and an
 * attempt follows soon if a pod can be tried.
 */
void bt_sim_step(struct bt_sim *sim);
/** Runs an action later. The action counts as pending until it calls bt_sim_action_done. */
void bt_sim_after(struct bt_sim *sim, int64_t delay_ns, bt_sim_action action, uint64_t argument);
static inline void bt_sim_action_done(struct bt_sim *sim)
{
	sim->busy--;
}
/** A random number of milliseconds from least_ms to most_ms. */
int64_t bt_sim_between_ms(struct bt_prng *prng, int64_t least_ms, int64_t most_ms);
bool bt_sim_chance(struct bt_prng *prng, uint32_t percent);
void bt_sim_excuse(struct bt_sim *sim, struct bt_str node_name);
void bt_sim_excuse_pod(struct bt_sim *sim, struct bt_str uid);
bool bt_sim_pod_is_excused(const struct bt_sim *sim, struct bt_str uid);
/** Makes a view of the objects that the scheduler has observed, with the pods that it is binding.
 */
void bt_sim_view_of_scheduler(struct bt_sim *sim, struct bt_sim_view *out_view);

/** --- answers.c --- */

/**
 * Makes a write. Returns BT_WRITE_PENDING, or the answer: 0 or an error. *out_object: the claim in
 * the API, owned; *out_resource_version: the version of the written object. out_object and
 * out_resource_version may be NULL.
 */
int bt_sim_write(struct bt_sim *sim, const struct bt_sim_write *write,
	struct bt_object **out_object, struct bt_str *out_resource_version,
	struct berth_error *err);
/** Make a write whose answer is not needed. */
void bt_sim_write_blindly(struct bt_sim *sim, const struct bt_sim_write *write);
/** Drop all answers. */
void bt_sim_forget_answers(struct bt_sim *sim);

/** --- writes.c, write_pods.c, write_volumes.c, write_claims.c --- */

struct bt_scheduler_writer bt_sim_writer(struct bt_sim *sim);
void bt_sim_connect_volumes(struct bt_sim *sim);
void bt_sim_connect_claims(struct bt_sim *sim);

enum bt_sim_fault {
	BT_SIM_WRITE_GOOD,
	BT_SIM_WRITE_LOST,    /* fails without an effect */
	BT_SIM_WRITE_UNHEARD, /* takes effect, but returns an error */
	BT_SIM_WRITE_LATE,    /* returns an error, and takes effect later */
};

enum bt_sim_fault bt_sim_draw_fault(struct bt_sim *sim);
/** Set err to one of the API's errors. */
int bt_sim_fail_write(struct bt_sim *sim, const char *what, struct berth_error *err);
/** Carries out a copy of the write after a random delay. */
void bt_sim_add_late_write(struct bt_sim *sim, const struct bt_sim_late_write *write);
/** Carry out a late write now. */
int bt_sim_perform_late_write(
	struct bt_sim *sim, const struct bt_sim_late_write *write, struct berth_error *err);
/** POST a binding. */
int bt_sim_bind(struct bt_sim *sim, const struct bt_object_meta *pod, struct bt_str node_name,
	struct berth_error *err);

/** --- check_devices.c: checks of devices --- */

/** Excuse the pools of the claim's devices. */
void bt_sim_excuse_devices(struct bt_sim *sim, const struct bt_resource_claim *claim);
/**
 * Excuse the pools for the rest of the round if a failed write of the claim takes effect now and
 * the scheduler has given a device of the claim to another claim.
 */
void bt_sim_spoil_devices(struct bt_sim *sim, const struct bt_resource_claim *claim);
/** If a change of the store allocates a claim, checks the claim's devices. */
void bt_sim_devices_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object);
/** Checks the claims of a pod whose binding succeeded. */
void bt_sim_devices_bound(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str node_name);
/** Check an allocation that the scheduler writes. */
void bt_sim_devices_decided(struct bt_sim *sim, const struct bt_resource_claim *claim);
/**
 * Whether the claim has devices in the scheduler's cache, which includes writes that no watch event
 * has confirmed yet.
 */
bool bt_sim_claim_has_devices(const struct bt_sim *sim, const struct bt_object_meta *claim);
/** Check all devices when no event is in flight. Returns false after appending a complaint. */
bool bt_sim_check_devices(struct bt_sim *sim, struct bt_strbuf *complaint);

/** --- workload_groups.c: pod groups --- */

/** The feature gates of the seed, as --feature-gates takes them; "": the seed has no groups. */
const char *bt_sim_group_gates(uint64_t seed);
/** Put the app's pods into a group, with some probability. */
void bt_sim_design_group(struct bt_sim *sim, struct bt_sim_app *app);
/** Create the app's group, unless it exists. */
void bt_sim_create_group(struct bt_sim *sim, const struct bt_sim_app *app);
/** Records that the pod's group lost a member, so it may have fewer bound pods than minCount. */
void bt_sim_group_lost_member(struct bt_sim *sim, const struct bt_pod *pod);
/** Handles a change of the store: if a pod is deleted or terminal, records that its group lost a
 * member. */
void bt_sim_group_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object);
/** Check that no gang is bound in part. Returns false after appending a complaint. */
bool bt_sim_check_groups(struct bt_sim *sim, struct bt_strbuf *complaint);

/** --- device_driver.c --- */

void bt_sim_device_driver_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object);
#endif

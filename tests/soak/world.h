/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_WORLD_H
#define BT_SOAK_WORLD_H
/** The simulated cluster's insides: shared by the files of this folder only. */
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

/** A pod that the scheduler counts on a node while the watch does not show it there. */
struct bt_sim_binding {
	struct bt_object *pod; /* as the scheduler saw it; reference held */
	struct bt_str node_name;
	bool is_waiting; /* the API has not said yet that it is bound */
};

/** A write of the binding cycle. */
struct bt_sim_write {
	enum {
		BT_SIM_WRITE_BINDING,
		BT_SIM_WRITE_VOLUME,
		BT_SIM_WRITE_SELECTED_NODE,
		BT_SIM_WRITE_CLAIM, /* of devices, as the next three */
		BT_SIM_WRITE_CLAIM_STATUS,
		BT_SIM_READ_CLAIM,
		BT_SIM_WRITE_UNRESERVE,
	} what;
	struct bt_object *object; /* the pod, volume or claim */
	struct bt_object *base; /* of a claim with devices: as the scheduler knows it; else NULL */
	struct bt_str node_name;
	struct bt_str pod_uid; /* the pod that needs the claim; "" for other writes */
	bool must_end;         /* the answer is needed now */
};

/** A write in flight, or one whose answer the scheduler has not asked for. */
struct bt_sim_answer {
	struct bt_str key;
	uint64_t serial;
	struct bt_sim_write write; /* references held */
	bool answered;
	int result;
	struct berth_error err;
	struct bt_object *object;       /* the claim in the API; reference held; may be NULL */
	struct bt_str resource_version; /* of the volume or claim that was written */
};

/** A write about a pod that takes effect, or is answered, later. */
struct bt_sim_late_write {
	enum {
		BT_SIM_LATE_BIND,
		BT_SIM_LATE_PATCH,
		BT_SIM_LATE_DELETE,
	} what;
	struct bt_preemption_ticket ticket;
	struct bt_object *pod; /* reference held until it took effect */
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
	struct bt_prng times;   /* how long controllers and drivers take */
	struct bt_prng changes; /* what users do */
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_pod_commons commons;   /* of the pods that it observes */
	struct bt_cluster_writes writes; /* what carries out its writes */
	struct bt_volume_writer volumes;
	struct bt_claim_writer claims;
	struct bt_sim_workload workload;
	BT_VEC(struct bt_sim_binding) bindings;
	BT_VEC(struct bt_sim_answer *) answers; /* in the order of the writes */
	uint64_t next_answer;
	BT_VEC(struct bt_sim_late_write) late_writes;
	BT_VEC(struct bt_str) excused;      /* nodes that others may have over-committed */
	BT_VEC(struct bt_str) excused_pods; /* uids: some write about them went wrong */
	BT_VEC(struct bt_sim_excused_pool) excused_pools;
	BT_VEC(struct bt_sim_group_key) torn_groups; /* pod groups that lost a member */
	struct bt_arena texts;                       /* for the whole run */
	struct bt_arena scratch; /* of one write or one action of a controller */
	struct bt_strbuf recent[BT_SIM_RECENT_LINES];
	/** When the scheduler last heard of a node that came, went or has other labels, and of a
	 * pod that went or has other labels. */
	int64_t node_change_ns;
	int64_t pod_change_ns;
	/** Uids of pods that the scheduler nominated, and when a nomination last ended that no
	 * watch has shown. */
	BT_VEC(struct bt_str) nominated;
	int64_t unseen_end_ns;
	/** When a binding last failed, so that its volumes and devices may be had by others. */
	int64_t freed_ns;
	/** When the scheduler last heard that a claim with devices is gone. */
	int64_t claim_lost_ns;
	uint32_t write_fault_one_in; /* 0: none */
	uint32_t busy;               /* actions of drivers and late writes that are to come */
	int64_t cluster_wake_ns;     /* when controllers and node agents run next */
	bool cluster_is_due;         /* a change waits for them */
	bool has_groups;             /* gates of pod groups are on: every second seed */
	bool is_changing;            /* users are at work */
	bool has_faults;             /* writes fail */
	struct bt_str named_uid;     /* of the pod that the scheduler wrote about last */
	uint32_t waiting;            /* binding cycles that later steps end */
	bool is_asynchronous;        /* writes of the binding cycle are answered later */
	int64_t wake_ns;             /* of the scheduler, for which a timer is set */
	bool attempt_is_due;
	bool may_attempt; /* its time has come */
	bool in_attempt;
	bool is_decided; /* its decision was checked, or what happened since has nothing to do
	                    with it */
	bool failed;
};

/** --- world.c --- */

int bt_sim_init(struct bt_sim *sim, const struct bt_sim_options *options,
	struct bt_sim_report *report, struct berth_error *err);
/** Also after a failed init. */
void bt_sim_finish(struct bt_sim *sim);

/** A line of the log: "<seconds>.<millis> <text>". */
BT_PRINTF(2, 3)
void bt_sim_log(struct bt_sim *sim, const char *format, ...);
/** The run ends with this; only the first one counts. */
void bt_sim_complain(struct bt_sim *sim, struct bt_str complaint);
/** Let the world go on until then; ends early once there is a complaint. */
void bt_sim_run_until(struct bt_sim *sim, int64_t until_ns);
/** The scheduler has heard of something: bindings that need not wait any longer end, and soon there
 * is an attempt, if there is somebody to try. */
void bt_sim_poke(struct bt_sim *sim);
/** An action that keeps things from being quiet until it has happened; it calls
 * bt_sim_action_done. */
void bt_sim_after(struct bt_sim *sim, int64_t delay_ns, bt_sim_action action, uint64_t argument);
static inline void bt_sim_action_done(struct bt_sim *sim)
{
	sim->busy--;
}
/** A time between the two. */
int64_t bt_sim_between_ms(struct bt_prng *prng, int64_t least_ms, int64_t most_ms);
bool bt_sim_chance(struct bt_prng *prng, uint32_t percent);
void bt_sim_excuse(struct bt_sim *sim, struct bt_str node_name);
void bt_sim_excuse_pod(struct bt_sim *sim, struct bt_str uid);
bool bt_sim_pod_is_excused(const struct bt_sim *sim, struct bt_str uid);
/** What the scheduler can know: what the watch showed, and its own bindings. */
void bt_sim_view_of_scheduler(struct bt_sim *sim, struct bt_sim_view *out_view);

/** --- answers.c --- */

/** BT_WRITE_PENDING, or the answer. *out_object: the claim in the API, owned. Both outputs may be
 * NULL. */
int bt_sim_write(struct bt_sim *sim, const struct bt_sim_write *write,
	struct bt_object **out_object, struct bt_str *out_resource_version,
	struct berth_error *err);
/** A write whose answer nobody wants. */
void bt_sim_write_blindly(struct bt_sim *sim, const struct bt_sim_write *write);
/** Nobody will ask for them any more. */
void bt_sim_forget_answers(struct bt_sim *sim);

/** --- writes.c, write_pods.c, write_volumes.c, write_claims.c --- */

struct bt_scheduler_writer bt_sim_writer(struct bt_sim *sim);
void bt_sim_connect_volumes(struct bt_sim *sim);
void bt_sim_connect_claims(struct bt_sim *sim);

enum bt_sim_fault {
	BT_SIM_WRITE_GOOD,
	BT_SIM_WRITE_LOST,    /* no effect, and an error */
	BT_SIM_WRITE_UNHEARD, /* it takes effect, but the answer is an error */
	BT_SIM_WRITE_LATE,    /* an error, and the effect comes later */
};

enum bt_sim_fault bt_sim_draw_fault(struct bt_sim *sim);
/** Sets err to one of the API's texts. */
int bt_sim_fail_write(struct bt_sim *sim, const char *what, struct berth_error *err);
/** write: a copy is kept. */
void bt_sim_add_late_write(struct bt_sim *sim, const struct bt_sim_late_write *write);
/** Carry out a write about a pod, now. */
int bt_sim_perform_late_write(
	struct bt_sim *sim, const struct bt_sim_late_write *write, struct berth_error *err);
/** POST of a binding. */
int bt_sim_bind(struct bt_sim *sim, const struct bt_object_meta *pod, struct bt_str node_name,
	struct berth_error *err);

/** --- check_devices.c: what must hold of devices --- */

/** The pools of its devices. */
void bt_sim_excuse_devices(struct bt_sim *sim, const struct bt_resource_claim *claim);
/** A claim has changed in the store. */
void bt_sim_devices_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object);
/** The scheduler bound it, and nothing went wrong. */
void bt_sim_devices_bound(struct bt_sim *sim, const struct bt_pod *pod, struct bt_str node_name);
/** What the scheduler writes into a claim. */
void bt_sim_devices_decided(struct bt_sim *sim, const struct bt_resource_claim *claim);
/** As the scheduler takes it, which may count on a write that no watch has shown yet. */
bool bt_sim_claim_has_devices(const struct bt_sim *sim, const struct bt_object_meta *claim);
/** Everything is known to everybody: false with a complaint. */
bool bt_sim_check_devices(struct bt_sim *sim, struct bt_strbuf *complaint);

/** --- workload_groups.c: pod groups --- */

/** Gates of the seed, as --feature-gates takes them; "": it has no groups. */
const char *bt_sim_group_gates(uint64_t seed);
/** Put the app's pods into a group, or not. */
void bt_sim_design_group(struct bt_sim *sim, struct bt_sim_app *app);
/** Create the app's group, unless it is there. */
void bt_sim_create_group(struct bt_sim *sim, const struct bt_sim_app *app);
/** A group that lost a member may keep fewer than it needed. */
void bt_sim_group_lost_member(struct bt_sim *sim, const struct bt_pod *pod);
/** A pod has changed in the store: it may be gone, or end. */
void bt_sim_group_changed(
	struct bt_sim *sim, const struct bt_object *old_object, const struct bt_object *new_object);
/** No gang is bound in part: false with a complaint. */
bool bt_sim_check_groups(struct bt_sim *sim, struct bt_strbuf *complaint);

/** --- device_driver.c --- */

void bt_sim_device_driver_changed(
	struct bt_sim *sim, struct bt_object *old_object, struct bt_object *new_object);
#endif

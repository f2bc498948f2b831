/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_LIFE_WORLD_H
#define BT_TESTS_UNIT_LIFE_WORLD_H
/**
 * A living scheduler with scripted plugins. Changes are delivered as by a watch; writes are logged,
 * not carried out. JSON has the form described in sched_world.h.
 */
#include "sched/scheduler.h"
#include "sched_world.h"

#define LIFE_SECOND INT64_C(1000000000)

struct life {
	struct bt_arena arena;
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_object_store objects; /* the newest version of each object */
	int64_t now_ns;
	uint32_t version;
	/* Lines: "bind <pod> <node>", "patch <pod> <reason>: <message> nominated=<node>",
	 * "event <pod> <type> <reason> <action> <note>",
	 * "group <name> <status> <reason>: <message>", "warn <text>". */
	struct bt_strbuf log;
	int64_t observed_generation; /* observedGeneration of a group's last condition */
	/* The result of a binding: an error's text, or NULL. */
	const char *bind_error;
	bool bind_is_pending; /* the binding is not answered yet */
	bool patch_is_pending;
	bool pops_nothing;                 /* steps only end waiting binding cycles */
	struct bt_scheduler_writer writes; /* the writer given to life_init_writing */
	/* Called during a binding, to change objects meanwhile; NULL: none. */
	void (*during_bind)(struct life *life);
};

void life_init(struct life *life, const char *config, struct script *const *scripts,
	uint32_t script_count);
/** Like life_init, with the configuration's extenders; NULL: no extender is called. */
void life_init_extended(struct life *life, const char *config, struct script *const *scripts,
	uint32_t script_count, const struct bt_extender_factory *extenders);
/** Like life_init, with feature gates as in world_load_config_gated. */
void life_init_gated(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count);
/** Like life_init_gated, with metrics. */
void life_init_counted(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count, struct bt_scheduler_metrics *metrics);
/**
 * Like life_init_gated. The scheduler uses claims and delete_pod of this writer; patches that set
 * conditions of victims are dropped.
 */
void life_init_writing(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count,
	const struct bt_scheduler_writer *writer);
/** A writer for life_cancel, with which no pod may be deleted. */
extern const struct bt_scheduler_writer life_no_victims;
/**
 * Cancels the binding of a pod in PreBind, as preemption does. Needs a writer with delete_pod.
 * Returns false if the pod is not in PreBind.
 */
bool life_cancel(struct life *life, const char *uid);
void life_finish(struct life *life);
/** Returns the log since the last call. */
const char *life_log(struct life *life);

/** Adds the node, or updates it to the next version. */
void life_node(struct life *life, const char *name, const char *more);
/**
 * Adds the pod default/<name> with uid "uid-<name>", or updates it to the next version. metadata:
 * further members of metadata, "" or "'labels':{...}"; more: members after metadata.
 */
void life_pod(struct life *life, const char *name, const char *metadata, const char *more);
/**
 * Observes an object whose JSON has all metadata, as an update of old (NULL: as an addition);
 * returns the object, which the life owns.
 */
struct bt_object *life_object(
	struct life *life, enum bt_kind kind, const char *json, struct bt_object *old);
/** Adds an object, or updates it to the next version; consumes and returns the object. */
struct bt_object *life_observe(struct life *life, struct bt_object *object);
void life_delete(struct life *life, enum bt_kind kind, const char *namespace_, const char *name);
/** Runs one attempt; its texts are in the arena. */
struct bt_attempt life_schedule(struct life *life);
/** Ends the binding cycle of one waiting pod; the outcome is idle if none can end. */
struct bt_attempt life_finish_waiting(struct life *life);
/** Moves the clock; flushes due backoffs and leftovers. */
void life_advance(struct life *life, int64_t seconds);

/**
 * Returns the pod's place: "active", "backoff", "error", "unschedulable", or "-" if it is not
 * queued.
 */
const char *life_place(struct life *life, const char *pod);
/**
 * Returns the unschedulable plugins of a queued pod; if pending is set, the pending plugins of the
 * pod. "<>" is the empty name.
 */
const char *life_rejectors(struct life *life, const char *pod, bool pending);
uint32_t life_pod_count(const struct life *life); /* number of pods in the cache */
bool life_is_assumed(struct life *life, const char *pod);
/** Returns the pod's node in the cache; "" if the cache does not have the pod. */
const char *life_node_of(struct life *life, const char *uid);
/** Returns how many incoming pods were counted under this event label, over all queues. */
uint64_t life_moved_by(struct life *life, const char *label);
#endif

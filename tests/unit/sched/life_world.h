/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_LIFE_WORLD_H
#define BT_TESTS_UNIT_LIFE_WORLD_H
/**
 * A living scheduler with scripted plugins. Changes are told to it as a watch would; what it wants
 * written is noted, not carried out. JSON as in sched_world.h.
 */
#include "sched/scheduler.h"
#include "sched_world.h"

#define LIFE_SECOND INT64_C(1000000000)

struct life {
	struct bt_arena arena;
	struct bt_config *config;
	struct bt_scheduler *scheduler;
	struct bt_object_store objects; /* the newest version of each */
	int64_t now_ns;
	uint32_t version;
	/* Lines: "bind <pod> <node>", "patch <pod> <reason>: <message> nominated=<node>",
	 * "event <pod> <type> <reason> <action> <note>",
	 * "group <name> <status> <reason>: <message>", "warn <text>". */
	struct bt_strbuf log;
	int64_t observed_generation; /* of the last condition of a group */
	/* What the binding is answered with: an error's text, or NULL. */
	const char *bind_error;
	bool bind_is_pending; /* there is no answer yet */
	bool patch_is_pending;
	bool pops_nothing;                 /* steps only end binding cycles that wait */
	struct bt_scheduler_writer writes; /* of life_init_writing */
	/* Happens while the binding is under way. */
	void (*during_bind)(struct life *life);
};

void life_init(struct life *life, const char *config, struct script *const *scripts,
	uint32_t script_count);
/** With the configuration's extenders asked; NULL: they are not. */
void life_init_extended(struct life *life, const char *config, struct script *const *scripts,
	uint32_t script_count, const struct bt_extender_factory *extenders);
/** With gates as world_load_config_gated takes them. */
void life_init_gated(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count);
/** The same, counted. */
void life_init_counted(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count, struct bt_scheduler_metrics *metrics);
/** The same, with claims and delete_pod of writer; conditions of victims go nowhere. */
void life_init_writing(struct life *life, const char *gates, const char *config,
	struct script *const *scripts, uint32_t script_count,
	const struct bt_scheduler_writer *writer);
void life_finish(struct life *life);
/** The log since the last call. */
const char *life_log(struct life *life);

/** One more version of a Node, or the first one. */
void life_node(struct life *life, const char *name, const char *more);
/**
 * One more version of a pod in namespace "default", or the first one, uid "uid-<name>". metadata:
 * members of metadata after the usual ones, "" or "'labels':{...}"; more: members after metadata.
 */
void life_pod(struct life *life, const char *name, const char *metadata, const char *more);
/** The same with all members of metadata given here. Without old: told as an addition. */
struct bt_object *life_object(
	struct life *life, enum bt_kind kind, const char *json, struct bt_object *old);
/** The next version of an object, or the first one; consumed. */
struct bt_object *life_observe(struct life *life, struct bt_object *object);
void life_delete(struct life *life, enum bt_kind kind, const char *namespace_, const char *name);
/** One attempt; its texts are of the arena. */
struct bt_attempt life_schedule(struct life *life);
/** One pod that waited; outcome idle when none is decided. */
struct bt_attempt life_finish_waiting(struct life *life);
/** Backoffs and leftovers that are due after this much time. */
void life_advance(struct life *life, int64_t seconds);

/** "active", "backoff", "error", "unschedulable", or "-" when the pod is not queued. */
const char *life_place(struct life *life, const char *pod);
/** Unschedulable plugins of a queued pod, or pending ones; "<>" is the nameless one. */
const char *life_rejectors(struct life *life, const char *pod, bool pending);
uint32_t life_pod_count(const struct life *life); /* in the cache */
bool life_is_assumed(struct life *life, const char *pod);
/** Where the cache has the pod; "" when it has not. */
const char *life_node_of(struct life *life, const char *uid);
/** Members incoming pods were counted under this event label, over all queues. */
uint64_t life_moved_by(struct life *life, const char *label);
#endif

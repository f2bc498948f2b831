/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_WORLD_H
#define BT_REPLAY_WORLD_H
/**
 * The state of a replay: the pods and nodes that exist, and what the recording says about them.
 * world_time.c has the clock, world_decisions.c the scheduler's decisions, world_lines.c applies
 * the lines of the recording, world_pods.c changes pods, world_claims.c their claims and groups.
 */
#include "api/pod_common.h"
#include "base/heap.h"
#include "base/nanoseconds.h"
#include "replay/replay.h"

/** Calls a function of every sink that has this function. */
#define BT_REPLAY_NOTIFY(options, function, ...) \
	for (uint32_t sink_ = 0; sink_ < (options)->sink_count; sink_++) { \
		const struct bt_replay_sink *notified_ = &(options)->sinks[sink_]; \
		if (notified_->function != NULL) { \
			notified_->function(notified_->context, __VA_ARGS__); \
		} \
	}

/**
 * Events at most this far apart count as simultaneous in recording and replay, because a scheduler
 * in virtual time takes no time for its work.
 */
#define BT_REPLAY_SAME_NS BT_NS_PER_SECOND

/**
 * Lines at most this far apart are one burst: the recording's scheduler may have seen all of them
 * before it decided.
 */
#define BT_REPLAY_BURST_NS BT_NS_PER_MS
/** After this time without lines, the recording's scheduler has tried all pods that it could. */
#define BT_REPLAY_BUSY_NS (20 * BT_NS_PER_MS)

/** A pod of the recording, and its state in the replay. */
struct bt_replay_pod {
	struct bt_object *object; /* the scheduler's version; NULL: a free record */
	char *key;                /* "namespace/name" in the recording; NULL: deleted there */
	struct bt_pod_life life;
	int64_t created_ns; /* when it was created, or created again */
	int64_t bound_ns;   /* -1: not bound */
	int64_t evicted_ns; /* when a taint evicts it; INT64_MAX: never */
	uint32_t returns;   /* how many times a controller created it again */
	/**
	 * The recording has preempted, evicted or deleted the pod, but the replay keeps it. The
	 * next pod that the recording creates for the same owner stands for this pod.
	 */
	bool is_orphan;
	/**
	 * Both the replay and the recording preempt or evict the pod: the pod is deleted at the
	 * recorded time, and the replacement in the recording replaces it.
	 */
	bool is_leaving;
	enum bt_replay_end leaves_as;
	/**
	 * The orphans of one owner form a ring; these are its links. replay->orphans has the first
	 * orphan of the ring. BT_MAP_NONE: not an orphan.
	 */
	uint32_t next_orphan;
	uint32_t last_orphan;
};

struct bt_replay_nomination {
	uint32_t pod;
	struct bt_str node_name; /* in the step's arena */
};

/** A condition of a PodGroup; texts are in the step's arena. */
struct bt_replay_group_write {
	struct bt_str namespace_;
	struct bt_str name;
	struct bt_condition condition;
};

struct bt_replay {
	const struct bt_replay_options *options;
	struct bt_lives *lives;
	struct bt_recording_parts parts;
	struct bt_scheduler *scheduler;
	struct bt_engine *engine;
	struct bt_replay_counts *counts;
	int64_t now_ns;
	int64_t from_ns;
	int64_t to_ns;
	int64_t next_sample_ns;
	bool may_be_busy; /* the recording's scheduler may still be trying pods */
	int64_t gap_ns;   /* end of the last gap in the watch of pods; INT64_MIN / 2: no gap */
	BT_VEC(struct bt_replay_pod) pods;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_key;
	struct bt_map by_uid;
	struct bt_map orphans; /* first orphan of each owner, by the owner's uid */
	struct bt_heap ends;   /* pods by the time of their end or eviction */
	struct bt_object_store nodes;
	uint32_t evicting_nodes; /* number of nodes with NoExecute taints */
	struct bt_pod_commons commons;
	uint64_t version;
	uint32_t pending_count;
	uint32_t reason_count;
	struct bt_arena arena; /* reset for each line */
	/* The scheduler's writes of the current step. */
	BT_VEC(struct bt_replay_nomination) nominations;
	BT_VEC(struct bt_replay_group_write) group_writes;
	BT_VEC(uint32_t) preempted;
	struct bt_arena step_arena;
};

/** Returns whether the scheduler decides; before from_ns, pods are bound as recorded. */
static inline bool bt_replay_is_decided(const struct bt_replay *replay)
{
	return replay->now_ns >= replay->from_ns;
}

/** Returns whether decisions follow the recording in time and order. */
static inline bool bt_replay_follows(const struct bt_replay *replay)
{
	return replay->options->prefers_recorded && bt_replay_is_decided(replay);
}

static inline struct bt_time bt_replay_time(const struct bt_replay *replay)
{
	return (struct bt_time){.seconds = replay->now_ns / BT_NS_PER_SECOND, .set = true};
}

static inline const struct bt_pod *bt_replay_pod_value(const struct bt_replay_pod *pod)
{
	return bt_object_value(pod->object, BT_KIND_POD);
}

/** --- world_pods.c; id: index of a pod's record --- */

/** Passes a change to the scheduler and the sinks. old_object or new_object may be NULL. */
BT_MUST_USE int bt_replay_observe(struct bt_replay *replay, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err);

/**
 * Find a pod by "namespace/name" in the recording, or by uid. Return BT_MAP_NONE if there is none.
 */
uint32_t bt_replay_find_by_key(const struct bt_replay *replay, struct bt_str key);
uint32_t bt_replay_find_by_uid(const struct bt_replay *replay, struct bt_str uid);
/** Sets "namespace/name" in the recording; "": the recording no longer has the pod. */
void bt_replay_set_key(struct bt_replay *replay, uint32_t id, struct bt_str key);
/** Changes the pod and passes the change to the scheduler. value NULL: deletes it. */
BT_MUST_USE int bt_replay_set_pod(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err);
/** Adds a pod without a node: a new one, or one that a controller created again. */
BT_MUST_USE int bt_replay_wait_for_node(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err);
/** Deletes the pod. If a controller replaces it, the replacement is added without a node. */
BT_MUST_USE int bt_replay_remove_pod(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err);
/**
 * Deletes a pod that the scheduler preempts or a taint evicts; `end` tells which. If the replay
 * follows the recording, and the recording disrupts the pod within BT_REPLAY_SAME_NS of now, the
 * pod only becomes terminating; it is deleted at the recorded time (bt_replay_pod.is_leaving).
 */
BT_MUST_USE int bt_replay_disrupt_pod(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err);
/** Returns whether the pod's end is due. */
bool bt_replay_is_due(const struct bt_replay *replay, uint32_t id);
/**
 * Updates the time at which the pod ends or is evicted. A pod that is not bound or is already
 * leaving has no such time.
 */
void bt_replay_set_end(struct bt_replay *replay, uint32_t id);
/** Binds the pod to the node. */
void bt_replay_start_pod(struct bt_replay *replay, uint32_t id, struct bt_str node_name);
/** Ends a pod whose end is due. */
BT_MUST_USE int bt_replay_end_pod(struct bt_replay *replay, uint32_t id, struct berth_error *err);
/** Handles a change of a node's taints, which may evict its pods. */
void bt_replay_observe_taints(
	struct bt_replay *replay, const struct bt_node *old_node, const struct bt_node *new_node);
/**
 * Makes the pod an orphan: the recording replaces it, but the replay keeps it. The next pod that
 * the recording creates for the same controller stands for this pod.
 */
void bt_replay_add_orphan(struct bt_replay *replay, uint32_t id);
/**
 * Returns the orphan that a new recorded pod stands for, and removes it from the orphans;
 * BT_MAP_NONE: none.
 */
uint32_t bt_replay_take_orphan(struct bt_replay *replay, const struct bt_pod *pod);

/** --- world_decisions.c --- */

/** Returns a writer that executes the scheduler's writes in the replay. */
struct bt_scheduler_writer bt_replay_writer(struct bt_replay *replay);
/**
 * Runs the scheduler until it has nothing to do now. *out_next_ns: when it next has something to
 * do. If the replay follows the recording, a pod whose recorded attempt comes within
 * BT_REPLAY_SAME_NS waits for the time of that attempt.
 */
BT_MUST_USE int bt_replay_schedule(
	struct bt_replay *replay, int64_t *out_next_ns, struct berth_error *err);
/**
 * Tries the pod, and all pods before it in the queue. If the replay follows the recording, call
 * this when the recorded scheduler has just tried the pod.
 */
BT_MUST_USE int bt_replay_schedule_pod(
	struct bt_replay *replay, uint32_t id, struct berth_error *err);

/** --- world_lines.c --- */

/** Applies a line of the recording. */
BT_MUST_USE int bt_replay_apply_line(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);

/** --- world_claims.c --- */

/**
 * Apply lines of the recording about claims. is_start: the claim is part of the cluster at the
 * start.
 */
BT_MUST_USE int bt_replay_add_claim(struct bt_replay *replay, const struct bt_object *object,
	bool is_start, struct berth_error *err);
BT_MUST_USE int bt_replay_change_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
BT_MUST_USE int bt_replay_remove_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
/**
 * Handles a deleted pod: deletes the claims that were made for the pod, and removes the pod from
 * the reservations of its other claims. next: the replacement of the pod, or NULL. Copies of the
 * deleted claims are made for `next`, and the status of `next` gets the names of the copies, in the
 * arena of the line. The names contain `returns`, which counts how often the pod was created again.
 */
BT_MUST_USE int bt_replay_release_claims(struct bt_replay *replay, const struct bt_pod *gone,
	struct bt_pod *next, uint32_t returns, struct berth_error *err);

/**
 * Replaces the scheduler's condition in `group`, which is from the recording, by the condition in
 * `known`, the same group in the replay. known NULL: removes the condition.
 */
void bt_replay_keep_group_condition(
	struct bt_replay *replay, const struct bt_object *known, struct bt_pod_group *group);
/** Executes the scheduler's write of the group's condition. */
BT_MUST_USE int bt_replay_set_group_condition(struct bt_replay *replay, struct bt_str namespace_,
	struct bt_str name, const struct bt_condition *condition, struct berth_error *err);
/**
 * Handles a deletion of a group by the recording: the replay deletes the group once the group has
 * no pods.
 */
BT_MUST_USE int bt_replay_remove_group(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
BT_MUST_USE int bt_replay_remove_from_group(
	struct bt_replay *replay, const struct bt_pod *gone, struct berth_error *err);
#endif

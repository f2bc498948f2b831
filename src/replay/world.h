/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_WORLD_H
#define BT_REPLAY_WORLD_H
/**
 * The world of a replay: the pods and nodes that are there, and what the recording says of them.
 * world_time.c has the clock, world_decisions.c the scheduler's work, world_lines.c the lines of
 * the recording, world_pods.c what happens to pods, world_claims.c to their claims and groups.
 */
#include "api/pod_common.h"
#include "base/heap.h"
#include "base/nanoseconds.h"
#include "replay/replay.h"

/** Calls a function of every sink that has it. */
#define BT_REPLAY_TELL(options, function, ...) \
	for (uint32_t sink_ = 0; sink_ < (options)->sink_count; sink_++) { \
		const struct bt_replay_sink *told_ = &(options)->sinks[sink_]; \
		if (told_->function != NULL) { \
			told_->function(told_->context, __VA_ARGS__); \
		} \
	}

/** What happens so much earlier or later than in the recording is the same there: a scheduler in
 * virtual time takes no time for its work. */
#define BT_REPLAY_SAME_NS BT_NS_PER_SECOND

/** Lines so close to each other are one burst: the recording's scheduler may have seen all of them
 * before it decided. */
#define BT_REPLAY_BURST_NS BT_NS_PER_MS
/** Without lines for so long, the recording's scheduler has tried all that it could. */
#define BT_REPLAY_BUSY_NS (20 * BT_NS_PER_MS)

/** A pod of the recording, and what became of it here. */
struct bt_replay_pod {
	struct bt_object *object; /* as the scheduler knows it; NULL: the record is free */
	char *key;                /* "namespace/name" in the recording; NULL: it is gone there */
	struct bt_pod_life life;
	int64_t created_ns; /* when it came, or came back */
	int64_t bound_ns;   /* -1: it waits */
	int64_t evicted_ns; /* its node's taints are tolerated until then; INT64_MAX: for ever */
	uint32_t returns;   /* how often it came back */
	/** The recording took its pod away: the next pod that it creates for the same owner is this
	 * one. */
	bool is_orphan;
	/** It is deleted here and in the recording, which says when it goes and what comes in its
	 * place. */
	bool is_leaving;
	enum bt_replay_end leaves_as;
	/** Orphans of one owner: a ring, the first in replay->orphans; BT_MAP_NONE: in none. */
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
	bool may_be_busy; /* the recording's scheduler: the next line follows soon */
	int64_t gap_ns; /* when the last gap in the watch of pods ended; INT64_MIN / 2: never */
	BT_VEC(struct bt_replay_pod) pods;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_key;
	struct bt_map by_uid;
	struct bt_map orphans; /* by the owner's uid: the one that became so first */
	struct bt_heap ends;   /* pods by the time at which they end or are evicted */
	struct bt_object_store nodes;
	uint32_t evicting_nodes; /* so many have taints with effect NoExecute */
	struct bt_pod_commons commons;
	uint64_t version;
	uint32_t pending_count;
	uint32_t reason_count;
	struct bt_arena arena; /* of one line */
	/* What the scheduler wrote in the running step. */
	BT_VEC(struct bt_replay_nomination) nominations;
	BT_VEC(struct bt_replay_group_write) group_writes;
	BT_VEC(uint32_t) preempted;
	struct bt_arena step_arena;
};

/** From here on the scheduler decides; before, the recording does. */
static inline bool bt_replay_is_decided(const struct bt_replay *replay)
{
	return replay->now_ns >= replay->from_ns;
}

/** What is decided follows the recording in time and order. */
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

/** --- world_pods.c; pods are named by their index --- */

/** The scheduler and the sinks observe a change. old_object or new_object may be NULL. */
BT_MUST_USE int bt_replay_observe(struct bt_replay *replay, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err);

/** By "namespace/name" in the recording, or by uid; BT_MAP_NONE: it is not there. */
uint32_t bt_replay_find_by_key(const struct bt_replay *replay, struct bt_str key);
uint32_t bt_replay_find_by_uid(const struct bt_replay *replay, struct bt_str uid);
/** "": the recording has it no longer. */
void bt_replay_set_key(struct bt_replay *replay, uint32_t id, struct bt_str key);
/** The scheduler observes a change of the pod. value NULL: it is deleted. */
BT_MUST_USE int bt_replay_set_pod(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err);
/** The pod is new, or came back, and waits for a node. */
BT_MUST_USE int bt_replay_wait_for_node(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err);
/** The pod goes; if a controller makes another one in its place, that one waits for a node. */
BT_MUST_USE int bt_replay_depart(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err);
/**
 * The scheduler preempts the pod, or a taint evicts it: it departs, or if the replay follows the
 * recording, which does the same to the pod at this time, its deletion begins.
 */
BT_MUST_USE int bt_replay_take_away(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err);
/** The pod ends by itself now. */
bool bt_replay_is_due(const struct bt_replay *replay, uint32_t id);
/** The time of its end, once the pod runs and that is known. */
void bt_replay_set_end(struct bt_replay *replay, uint32_t id);
/** The pod is on this node now. */
void bt_replay_start_pod(struct bt_replay *replay, uint32_t id, struct bt_str node_name);
/** That time has come. */
BT_MUST_USE int bt_replay_end_pod(struct bt_replay *replay, uint32_t id, struct berth_error *err);
/** The taints of a node are these now: its pods may have to leave. */
void bt_replay_follow_taints(
	struct bt_replay *replay, const struct bt_node *old_node, const struct bt_node *new_node);
/** The recording replaces the pod, which stays here: the next pod that it has for the same
 * controller is this one. */
void bt_replay_add_orphan(struct bt_replay *replay, uint32_t id);
/** The orphan that this pod is; BT_MAP_NONE: there is none. */
uint32_t bt_replay_take_orphan(struct bt_replay *replay, const struct bt_pod *pod);

/** --- world_decisions.c --- */

/** What the scheduler writes comes to the replay. */
struct bt_scheduler_writer bt_replay_writer(struct bt_replay *replay);
/**
 * Everything the scheduler can do now. *out_next_ns: when it can do more. If the replay follows the
 * recording, pods that are tried there within BT_REPLAY_SAME_NS wait until then.
 */
BT_MUST_USE int bt_replay_decide(
	struct bt_replay *replay, int64_t *out_next_ns, struct berth_error *err);
/** If the replay follows the recording: the scheduler there has just tried this pod. Tries it here,
 * and all that the queue has before it. */
BT_MUST_USE int bt_replay_decide_pod(
	struct bt_replay *replay, uint32_t id, struct berth_error *err);

/** --- world_lines.c --- */

/** What happens in a line of the recording happens here. */
BT_MUST_USE int bt_replay_apply_line(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);

/** --- world_claims.c --- */

/** Lines of the recording about claims. is_start: the claim is part of the cluster at the start. */
BT_MUST_USE int bt_replay_add_claim(struct bt_replay *replay, const struct bt_object *object,
	bool is_start, struct berth_error *err);
BT_MUST_USE int bt_replay_change_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
BT_MUST_USE int bt_replay_remove_claim(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
/**
 * A pod has gone: claims that were made for it go, others are not reserved for it any more. next:
 * the pod that comes in its place gets such claims and names them in its status, in the arena of
 * the line; NULL: none comes.
 */
BT_MUST_USE int bt_replay_release_claims(struct bt_replay *replay, const struct bt_pod *gone,
	struct bt_pod *next, uint32_t returns, struct berth_error *err);

/** The recorded group with the scheduler's condition as it is here. known NULL: with none. */
void bt_replay_keep_group_condition(
	struct bt_replay *replay, const struct bt_object *known, struct bt_pod_group *group);
/** The scheduler has written the group's condition. */
BT_MUST_USE int bt_replay_set_group_condition(struct bt_replay *replay, struct bt_str namespace_,
	struct bt_str name, const struct bt_condition *condition, struct berth_error *err);
/** The recording deletes the group: it goes with its last pod here. */
BT_MUST_USE int bt_replay_remove_group(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
BT_MUST_USE int bt_replay_leave_group(
	struct bt_replay *replay, const struct bt_pod *gone, struct berth_error *err);
#endif

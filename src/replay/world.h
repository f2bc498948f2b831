/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_WORLD_H
#define BT_REPLAY_WORLD_H
/**
 * The world of a replay: the pods and nodes that are there, and what the recording says of them.
 * world_time.c has the clock, world_decisions.c the scheduler's work, world_lines.c the lines of
 * the recording, world_pods.c what happens to pods.
 */
#include "api/pod_common.h"
#include "base/heap.h"
#include "replay/replay.h"

/** Calls a function of every sink that has it. */
#define BT_REPLAY_TELL(options, function, ...) \
	for (uint32_t sink_ = 0; sink_ < (options)->sink_count; sink_++) { \
		const struct bt_replay_sink *told_ = &(options)->sinks[sink_]; \
		if (told_->function != NULL) { \
			told_->function(told_->context, __VA_ARGS__); \
		} \
	}

/** A pod of the recording, and what became of it here. */
struct bt_replay_pod {
	struct bt_object *object; /* as the scheduler knows it; NULL: the record is free */
	char *key;                /* "namespace/name" in the recording; NULL: it is gone there */
	struct bt_pod_life life;
	int64_t created_ns; /* when it came, or came back */
	int64_t bound_ns;   /* -1: it waits */
	uint32_t returns;   /* how often it came back */
	/** The recording took its pod away: the next pod that it creates for the same owner is this
	 * one. */
	bool is_orphan;
};

struct bt_replay_nomination {
	uint32_t pod;
	struct bt_str node_name; /* in the step's arena */
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
	int64_t gap_ns; /* when the last gap in the watch of pods ended; -1: there was none */
	BT_VEC(struct bt_replay_pod) pods;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_key;
	struct bt_map by_uid;
	BT_VEC(uint32_t) orphans; /* in the order in which they became so */
	struct bt_heap ends;      /* pods by the time at which they end */
	struct bt_object_store nodes;
	struct bt_pod_commons commons;
	uint64_t version;
	uint32_t pending_count;
	uint32_t reason_count;
	struct bt_arena arena; /* of one line */
	/* What the scheduler wrote in the running step. */
	BT_VEC(struct bt_replay_nomination) nominations;
	BT_VEC(uint32_t) preempted;
	struct bt_arena step_arena;
};

/** From here on the scheduler decides; before, the recording does. */
static inline bool bt_replay_is_decided(const struct bt_replay *replay)
{
	return replay->now_ns >= replay->from_ns;
}

static inline const struct bt_pod *bt_replay_pod_value(const struct bt_replay_pod *pod)
{
	return bt_object_value(pod->object, BT_KIND_POD);
}

/** --- world_pods.c; pods are named by their index --- */

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
/** The time of its end, once the pod runs and that is known. */
void bt_replay_set_end(struct bt_replay *replay, uint32_t id);

/** --- world_decisions.c --- */

/** What the scheduler writes comes to the replay. */
struct bt_scheduler_writer bt_replay_writer(struct bt_replay *replay);
/** Everything the scheduler can do now. *out_next_ns: when it can do more. */
BT_MUST_USE int bt_replay_decide(
	struct bt_replay *replay, int64_t *out_next_ns, struct berth_error *err);

/** --- world_lines.c --- */

/** What happens in a line of the recording happens here. */
BT_MUST_USE int bt_replay_apply_line(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err);
#endif

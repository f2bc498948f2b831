/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_REPLAY_H
#define BT_REPLAY_REPLAY_H
/**
 * Replays a recording with a scheduler in virtual time. What users and machines did is replayed as
 * recorded: pods are created, nodes are added, change and are removed, pods are deleted when the
 * recording deletes them. What the scheduler did is decided again: where and when pods are bound,
 * and which pods are preempted. The consequences are:
 *
 * - A pod that ran to its end runs as long as in the recording, from its new binding on.
 * - A pod that is preempted or evicted, or whose node is deleted, is created again under a new name
 *   if a controller owns it. The recorded deletion of the old pod then deletes the new one.
 * - If the recording preempts or evicts a pod, or deletes it with its node, but the replay keeps
 *   the pod, then the replacement that the recording creates stands for that pod.
 * - Claims are allocated, reserved and deallocated as pods are bound and end in the replay.
 *
 * The guide (docs/guide/recording-and-replaying.md) has this as a table. A replay uses one thread,
 * and its clock has the times of the recording.
 */
#include "api/pod.h"
#include "replay/lives.h"
#include "sched/scheduler.h"

/** Why a pod is on another node than in the recording. */
enum bt_difference {
	BT_DIFFERENCE_NO_NODE,   /* the recorded node does not exist at this time */
	BT_DIFFERENCE_NO_ROOM,   /* the recorded node rejects the pod */
	BT_DIFFERENCE_SCORE,     /* the recorded node fits, but has a lower score */
	BT_DIFFERENCE_NOMINATED, /* pods on the chosen node were preempted for this pod */
	BT_DIFFERENCE_TIE,       /* equal scores: the choice between the nodes is free */
	BT_DIFFERENCE__COUNT,
};

/** The binding of a pod. Texts are borrowed for the call. */
struct bt_replay_binding {
	int64_t time_ns;    /* since 1970 */
	int64_t created_ns; /* when the pod was created, or created again */
	const struct bt_pod *pod;
	struct bt_str node_name;
	int64_t score;
	/** The recorded node. "": none, or this replay created the pod again. */
	struct bt_str recorded_node;
	int64_t recorded_ns; /* -1: never */
	/** Why the chosen node is not the recorded node, if the replay looked for the reason. */
	enum bt_difference difference; /* BT_DIFFERENCE__COUNT: not looked for */
	struct bt_str reason;
};

enum bt_replay_end {
	BT_REPLAY_SUCCEEDED, /* ran as long as in the recording */
	BT_REPLAY_DELETED,   /* deleted by the recording */
	BT_REPLAY_PREEMPTED, /* preempted by the scheduler */
	BT_REPLAY_LOST,      /* its node was deleted */
	BT_REPLAY_EVICTED,   /* evicted by a taint: its toleration was missing or has expired */
};

/** The end of a pod. */
struct bt_replay_departure {
	int64_t time_ns;
	int64_t created_ns;
	int64_t bound_ns; /* -1: never */
	const struct bt_pod *pod;
	enum bt_replay_end end;
	bool is_replaced;
};

/** Functions that a replay calls; each may be NULL. */
struct bt_replay_sink {
	void *context;
	/** A pod without a node was added: a new pod, or one that a controller created again. */
	void (*created)(void *context, const struct bt_state *state, const struct bt_pod *pod,
		int64_t time_ns);
	void (*bound)(void *context, const struct bt_replay_binding *binding);
	void (*departed)(void *context, const struct bt_replay_departure *departure);
	/** Called at the end for each pod that is still pending. */
	void (*waiting)(
		void *context, const struct bt_pod *pod, int64_t created_ns, int64_t time_ns);
	/**
	 * Called for every change of an object. old_object NULL: added; new_object NULL: deleted. A
	 * sink may keep references to the objects (bt_object_share).
	 */
	void (*changed)(void *context, const struct bt_object *old_object,
		struct bt_object *new_object, int64_t time_ns);
	/** Called at intervals of interval_ns, and at the end. time_ns: time of the sample. */
	void (*sampled)(void *context, const struct bt_state *state, uint32_t pending_count,
		int64_t time_ns);
};

struct bt_replay_options {
	const char *const *paths; /* parts of one recording, in order */
	uint32_t path_count;
	/**
	 * The scheduler decides from from_ns to to_ns; these times are since the start of the
	 * recording. Before from_ns, pods are bound to their recorded nodes.
	 */
	int64_t from_ns;
	int64_t to_ns;       /* INT64_MAX: the end of the recording */
	int64_t interval_ns; /* between samples */
	/**
	 * Follow the recording: among nodes of equal score the recorded node is chosen; pods are
	 * tried at their recorded times, as far as the queue's order allows; a pod that the replay
	 * and the recording both preempt or evict is deleted at its recorded time.
	 */
	bool prefers_recorded;
	/** The replay looks for the reasons of at most this many differences from the recording. */
	uint32_t reasons_max;
	const struct bt_replay_sink *sinks;
	uint32_t sink_count;
	/** Called with the progress, in seconds of the recording; may be NULL. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

struct bt_replay_counts {
	/* From from_ns on. */
	uint64_t created; /* pods without a node, including those created again */
	uint64_t bound;
	uint64_t attempts;
	uint64_t succeeded;
	uint64_t deleted;
	uint64_t preempted;
	uint64_t lost;
	uint64_t evicted;
	uint32_t most_pending; /* most pods that waited at one time */
	uint64_t pending;      /* at the end */
	uint64_t running;      /* at the end */
	uint64_t same;         /* bindings to the same node as in the recording */
	uint64_t recorded;     /* bindings of pods that the recording binds, too */
	int64_t start_ns;      /* when the scheduler began to decide, since 1970 */
	int64_t end_ns;
};

/**
 * Replays with a scheduler that make_scheduler creates from `context` and the replay's writer. The
 * replay destroys the scheduler. lives: made from the same files, before any call of bt_lives_next.
 * Errors name file and line.
 */
BT_MUST_USE int bt_replay_run(const struct bt_replay_options *options, struct bt_lives *lives,
	bt_scheduler_create_fn *make_scheduler, const void *context,
	struct bt_replay_counts *out_counts, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_REPLAY_H
#define BT_REPLAY_REPLAY_H
/**
 * A recording, lived through again by a scheduler in virtual time. The world keeps what users and
 * machines did: pods are created, nodes come, change and go, pods are deleted when the recording
 * deletes them. What the scheduler did is decided anew: where pods are bound and when, and who is
 * preempted. What follows from it, follows:
 *
 * - a pod that ran to its end runs as long as it did, from its new binding on
 * - a pod that is preempted or evicted, or whose node goes, comes back under a new name if a
 *   controller owns it; the deletion that the recording has for the old pod then ends the new one
 * - if the recording preempts or evicts a pod, or deletes it because its node goes, and here it
 *   stays where it is, then the pod that the recording creates in its place is that pod
 * - claims are allocated, reserved and given back as pods are bound and end here
 *
 * The guide (docs/guide/recording-and-replaying.md) has this as a table. One thread; no clock but
 * the recording's.
 */
#include "api/pod.h"
#include "replay/lives.h"
#include "sched/scheduler.h"

/** Why a pod is on another node than in the recording. */
enum bt_difference {
	BT_DIFFERENCE_NO_NODE, /* the recorded node is not there at this time */
	BT_DIFFERENCE_NO_ROOM, /* the recorded node rejects the pod: others took its place */
	BT_DIFFERENCE_SCORE,   /* the recorded node fits, and its score is lower */
	BT_DIFFERENCE_TIE,     /* equal scores: the choice among them is free */
	BT_DIFFERENCE__COUNT,
};

/** A pod was bound. Texts are borrowed for the call. */
struct bt_replay_binding {
	int64_t time_ns;    /* since 1970 */
	int64_t created_ns; /* when the pod came, or came back */
	const struct bt_pod *pod;
	struct bt_str node_name;
	int64_t score;
	/** Where the recording binds it; "": nowhere, or it is a pod that came back. */
	struct bt_str recorded_node;
	int64_t recorded_ns; /* -1: never */
	/** Of another node than the recorded one: why, as far as it was asked for. */
	enum bt_difference difference; /* BT_DIFFERENCE__COUNT: it was not */
	struct bt_str reason;
};

enum bt_replay_end {
	BT_REPLAY_SUCCEEDED, /* it ran as long as it had to */
	BT_REPLAY_DELETED,   /* the recording deletes it */
	BT_REPLAY_PREEMPTED, /* the scheduler took it away */
	BT_REPLAY_LOST,      /* its node went */
	BT_REPLAY_EVICTED,   /* it did not tolerate a taint of its node, or not for so long */
};

/** A pod went. */
struct bt_replay_departure {
	int64_t time_ns;
	int64_t created_ns;
	int64_t bound_ns; /* -1: it was pending */
	const struct bt_pod *pod;
	enum bt_replay_end end;
	bool comes_back;
};

/** Who follows a replay; every function may be NULL. */
struct bt_replay_sink {
	void *context;
	/** A pod waits for a node: it is new, or came back. */
	void (*created)(void *context, const struct bt_state *state, const struct bt_pod *pod,
		int64_t time_ns);
	void (*bound)(void *context, const struct bt_replay_binding *binding);
	void (*departed)(void *context, const struct bt_replay_departure *departure);
	/** At the end: a pod that still waits. */
	void (*waiting)(
		void *context, const struct bt_pod *pod, int64_t created_ns, int64_t time_ns);
	/** Any object changes. old_object NULL: it is new; new_object NULL: it is gone. May be
	 * shared, not consumed. */
	void (*changed)(void *context, const struct bt_object *old_object,
		struct bt_object *new_object, int64_t time_ns);
	/** The world as it is at time_ns, each interval_ns, and at the end. */
	void (*sampled)(void *context, const struct bt_state *state, uint32_t pending_count,
		int64_t time_ns);
};

struct bt_replay_options {
	const char *const *paths; /* parts of one recording, in order */
	uint32_t path_count;
	/** The scheduler decides from here on, and ends there; since the start of the recording.
	 * Before from_ns pods are where the recording has them. */
	int64_t from_ns;
	int64_t to_ns;       /* INT64_MAX: the end of the recording */
	int64_t interval_ns; /* between samples */
	/**
	 * Follow the recording: among nodes of equal score the recorded one is taken; pods are
	 * tried when they are tried there, as far as the queue's order allows; pods that are
	 * preempted or evicted there, too, go when they go there.
	 */
	bool prefers_recorded;
	/** The reasons of so many differences from the recording are looked for. */
	uint32_t reasons_max;
	const struct bt_replay_sink *sinks;
	uint32_t sink_count;
	/** How far it has come, in seconds of the recording; may be NULL. */
	void (*progress)(void *context, uint32_t done, uint32_t total);
	void *progress_context;
};

struct bt_replay_counts {
	uint64_t created; /* pods that waited for a node, those that came back included */
	uint64_t bound;
	uint64_t attempts;
	uint64_t succeeded;
	uint64_t deleted;
	uint64_t preempted;
	uint64_t lost;
	uint64_t evicted;
	uint64_t pending;  /* at the end */
	uint64_t running;  /* at the end */
	uint64_t same;     /* bindings to the recorded node */
	uint64_t recorded; /* bindings that the recording has, too */
	int64_t start_ns;  /* since 1970: of the time that was decided */
	int64_t end_ns;
};

/**
 * Replay with a scheduler that make_scheduler creates for a writer; the replay destroys it. lives:
 * of the same files, read from its start. Errors name file and line.
 */
BT_MUST_USE int bt_replay_run(const struct bt_replay_options *options, struct bt_lives *lives,
	bt_scheduler_create_fn *make_scheduler, const void *context,
	struct bt_replay_counts *out_counts, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_LIVES_H
#define BT_REPLAY_LIVES_H
/**
 * A first pass over a recording finds when each pod is bound and how long it runs. A replay that
 * binds a pod earlier than the recording must know the pod's run time in advance. The records are
 * in a temporary file in the order in which the pods are created, so that memory depends on the
 * cluster, not on the length of the recording.
 */
#include "base/map.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/vec.h"
#include "replay/recording.h"

struct bt_pod_life {
	int64_t tried_ns; /* when the recording's scheduler first tried the pod; -1: never */
	int64_t bound_ns; /* when the recording binds the pod, since 1970; -1: never */
	int64_t runs_ns;  /* from binding to end; -1: deleted, or runs until the recording ends */
	/** When the scheduler preempts the pod or a taint evicts it, since 1970; -1: never. */
	int64_t disrupted_ns;
	bt_sym node;   /* recorded node, for bt_lives_node; BT_SYM_EMPTY: none */
	uint32_t zero; /* in place of padding, whose bytes in the file would be undefined */
};

struct bt_lives;

/** A function that receives warnings. */
typedef void bt_replay_warn_fn(void *context, const char *line);

/**
 * Reads the files, which are the parts of one recording, in order. warn: called if the recording
 * was cut off or has gaps. *out_lives is owned.
 */
BT_MUST_USE int bt_lives_read(const char *const *paths, uint32_t path_count,
	bt_replay_warn_fn *warn, void *context, struct bt_lives **out_lives,
	struct berth_error *err);
/** NULL accepted. */
void bt_lives_destroy(struct bt_lives *lives);
/** These functions return the first and the last time of the recording, since 1970. */
int64_t bt_lives_start_ns(const struct bt_lives *lives);
int64_t bt_lives_end_ns(const struct bt_lives *lives);
/**
 * Reads the life of the next pod in the order in which the recording adds pods, beginning with the
 * pods of the cluster at the start.
 */
BT_MUST_USE int bt_lives_next(
	struct bt_lives *lives, struct bt_pod_life *out_life, struct berth_error *err);
/** Returns the name of a node; "" for BT_SYM_EMPTY. */
struct bt_str bt_lives_node(const struct bt_lives *lives, bt_sym node);

/** --- lines of all parts, one after another --- */

struct bt_recording_parts {
	const char *const *paths;
	uint32_t path_count;
	uint32_t next_path;
	struct bt_recording_reader *reader;
	struct bt_strbuf recording; /* id of the previous part's recording */
	uint32_t part;
	int64_t start_ns; /* of this part, since 1970 */
	int64_t time_ns;  /* of the previous line, since 1970 */
	bool is_followed; /* not the first part: its cluster at the start is skipped */
	bool has_cut;     /* some part was cut off */
};

/**
 * Reads the next line. Returns 1 and sets *out_line, whose time_ns is since 1970; returns 0 at the
 * end. To start, zero the structure and set paths and path_count.
 */
BT_MUST_USE int bt_recording_parts_next(struct bt_recording_parts *parts,
	struct bt_recording_line *out_line, struct berth_error *err);
void bt_recording_parts_finish(struct bt_recording_parts *parts);
#endif

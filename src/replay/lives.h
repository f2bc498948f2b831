/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_LIVES_H
#define BT_REPLAY_LIVES_H
/**
 * The lives of a recording's pods, found by a first pass over it: a replay that binds a pod earlier
 * than the recording did has to know how long it will run. What is found goes into a temporary file
 * in the order in which the pods were created, so that memory depends on the cluster, not on the
 * length of the recording.
 */
#include "base/map.h"
#include "base/strbuf.h"
#include "base/symbol.h"
#include "base/vec.h"
#include "replay/recording.h"

struct bt_pod_life {
	int64_t tried_ns; /* when the recording's scheduler first tries it; -1: never */
	int64_t bound_ns; /* when the recording binds it, since 1970; -1: never */
	int64_t runs_ns;  /* from its binding to its end; -1: it is deleted or outlives it */
	/** When the scheduler preempts it or a taint evicts it, since 1970; -1: never. */
	int64_t disrupted_ns;
	bt_sym node; /* where the recording binds it: bt_lives_node; BT_SYM_EMPTY: nowhere */
};

struct bt_lives;

/** A function that receives warnings. */
typedef void bt_replay_warn_fn(void *context, const char *line);

/**
 * Read the files, parts of one recording in order. warn: of a recording that was cut off, of gaps.
 * *out_lives is owned.
 */
BT_MUST_USE int bt_lives_read(const char *const *paths, uint32_t path_count,
	bt_replay_warn_fn *warn, void *context, struct bt_lives **out_lives,
	struct berth_error *err);
/** NULL accepted. */
void bt_lives_destroy(struct bt_lives *lives);
/** First and last instant of the recording, since 1970. */
int64_t bt_lives_start_ns(const struct bt_lives *lives);
int64_t bt_lives_end_ns(const struct bt_lives *lives);
/** The life of the next pod that the recording creates; those of the start count. */
BT_MUST_USE int bt_lives_next(
	struct bt_lives *lives, struct bt_pod_life *out_life, struct berth_error *err);
/** The name of a node; "" for BT_SYM_EMPTY. */
struct bt_str bt_lives_node(const struct bt_lives *lives, bt_sym node);

/** --- lines of all parts, one after another --- */

struct bt_recording_parts {
	const char *const *paths;
	uint32_t path_count;
	uint32_t next_path;
	struct bt_recording_reader *reader;
	struct bt_strbuf recording; /* of the part before */
	uint32_t part;
	int64_t start_ns; /* of this part, since 1970 */
	int64_t time_ns;  /* of the line before, since 1970 */
	bool is_followed; /* the start of this part is known from the one before */
	bool has_cut;     /* some part was cut off */
};

/** 1: *out_line is set, its time since 1970; 0: the end. Zero memory with paths set is a start. */
BT_MUST_USE int bt_recording_parts_next(struct bt_recording_parts *parts,
	struct bt_recording_line *out_line, struct berth_error *err);
void bt_recording_parts_finish(struct bt_recording_parts *parts);
#endif

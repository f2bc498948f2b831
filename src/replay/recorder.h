/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_RECORDER_H
#define BT_REPLAY_RECORDER_H
/**
 * Writes a recording (docs/recordings.md) of changes as they arrive. A line has an added object in
 * the form that snapshots use, or a change as the merge patch between the old and the new form.
 *
 * Each kind has its own watch, so changes of different kinds may arrive in another order than they
 * happened. Therefore changes wait for BT_RECORDER_WINDOW_NS and are then written in the order of
 * their resource versions. Changes of one kind always keep the order in which they arrived.
 *
 * Times are of a steady clock, and never decrease.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/error.h"

#define BT_RECORDER_WINDOW_NS INT64_C(500000000)

struct bt_recorder_options {
	const char *path; /* path of the first part; "-": standard output; borrowed */
	bool is_gzipped;
	bool strip_names;
	/**
	 * Limits of a part in bytes and time: the next part begins when one of them is reached; 0:
	 * no limit. A part ends because of its size only if it is at least twice as large as
	 * the cluster at its start.
	 */
	uint64_t rotate_bytes;
	int64_t rotate_ns;
	const char *recording; /* id that all parts have in common; borrowed */
	int64_t (*wall_ns)(void);
	/** Calls `visit` for every object, in the state after all changes added so far. */
	void (*for_each_object)(void *cluster,
		void (*visit)(void *context, const struct bt_object *object), void *context);
	void *cluster;
};

struct bt_recorder_counts {
	uint32_t parts;
	uint32_t objects; /* at the start of the first part */
	uint64_t changes; /* additions, changes and deletions after the start */
	uint32_t gaps;
	uint64_t start_bytes; /* compressed bytes of the clusters at the start of parts */
	uint64_t bytes;       /* compressed bytes of all parts */
	/**
	 * Number of CEL expressions that read parts of texts: with neutral names such an expression
	 * may give another result.
	 */
	uint32_t by_parts;
};

struct bt_recorder;

/** Begins the first part. *out_recorder is owned. */
BT_MUST_USE int bt_recorder_create(const struct bt_recorder_options *options, int64_t now_ns,
	struct bt_recorder **out_recorder, struct berth_error *err);
/**
 * Adds a change of an object. old_object NULL: the object was added; new_object NULL: the object
 * was deleted. Nothing is written if all members that recordings contain are equal in both objects.
 */
void bt_recorder_take(struct bt_recorder *recorder, int64_t now_ns,
	const struct bt_object *old_object, const struct bt_object *new_object);
/** Records that the watch of this kind was interrupted for this long. */
void bt_recorder_take_gap(
	struct bt_recorder *recorder, int64_t now_ns, enum bt_kind kind, int64_t length_ns);
/**
 * Writes and flushes the lines that have waited long enough, and begins the next part if it is due.
 * Call it twice a second. After an error, only bt_recorder_destroy may be called.
 */
BT_MUST_USE int bt_recorder_flush(
	struct bt_recorder *recorder, int64_t now_ns, struct berth_error *err);
struct bt_recorder_counts bt_recorder_count(const struct bt_recorder *recorder);
/** Writes all waiting lines, and the last line, which marks the recording as complete. */
BT_MUST_USE int bt_recorder_end(struct bt_recorder *recorder, struct berth_error *err);
/**
 * Frees the recorder. If bt_recorder_end was not called before, the recording counts as cut off.
 * NULL accepted.
 */
void bt_recorder_destroy(struct bt_recorder *recorder);
#endif

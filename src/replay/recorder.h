/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_RECORDER_H
#define BT_REPLAY_RECORDER_H
/**
 * Writes a recording (docs/recordings.md) of changes as they come: objects in the form that
 * snapshots keep, changes as merge patches between two such forms.
 *
 * Kinds come over different watches. So changes wait for BT_RECORDER_WINDOW_NS and are then written
 * in the order of their resource versions; the order within a kind is kept in any case.
 *
 * Times are of a steady clock, and never decrease.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/object.h"
#include "base/error.h"

#define BT_RECORDER_WINDOW_NS INT64_C(500000000)

struct bt_recorder_options {
	const char *path; /* of the first part, "-" for standard output; borrowed */
	bool is_gzipped;
	bool strip_names;
	/** A part that has reached this ends, and the next one begins; 0: never. By size only once
	 * the part is twice as large as the cluster it starts with. */
	uint64_t rotate_bytes;
	int64_t rotate_ns;
	const char *recording; /* what the parts have in common; borrowed */
	int64_t (*wall_ns)(void);
	/** Visit every object as of the changes taken so far. */
	void (*for_each_object)(void *cluster,
		void (*visit)(void *context, const struct bt_object *object), void *context);
	void *cluster;
};

struct bt_recorder_counts {
	uint32_t parts;
	uint32_t objects; /* at the start of the first part */
	uint64_t changes; /* lines since: additions, changes, deletions */
	uint32_t gaps;
	uint64_t start_bytes; /* of the clusters that parts start with, compressed */
	uint64_t bytes;       /* of all parts, compressed */
};

struct bt_recorder;

/** Begins the first part. *out_recorder is owned. */
BT_MUST_USE int bt_recorder_create(const struct bt_recorder_options *options, int64_t now_ns,
	struct bt_recorder **out_recorder, struct berth_error *err);
/** old NULL: added; new NULL: deleted. Nothing is written if they differ in nothing that is kept.
 */
void bt_recorder_take(struct bt_recorder *recorder, int64_t now_ns,
	const struct bt_object *old_object, const struct bt_object *new_object);
/** The watch of this kind was broken for so long. */
void bt_recorder_take_gap(
	struct bt_recorder *recorder, int64_t now_ns, enum bt_kind kind, int64_t length_ns);
/** Write and flush what has waited long enough, begin the next part if it is time. Wants to be
 * called twice a second. After an error only bt_recorder_finish may follow. */
BT_MUST_USE int bt_recorder_work(
	struct bt_recorder *recorder, int64_t now_ns, struct berth_error *err);
struct bt_recorder_counts bt_recorder_count(const struct bt_recorder *recorder);
/** Expressions of devices that neutral names may change the answer of. */
uint32_t bt_recorder_by_parts(const struct bt_recorder *recorder);
/** Write all that waits, and the line that says that the recording is complete. */
BT_MUST_USE int bt_recorder_end(struct bt_recorder *recorder, struct berth_error *err);
/** Without bt_recorder_end: the recording is cut off. NULL accepted. */
void bt_recorder_destroy(struct bt_recorder *recorder);
#endif

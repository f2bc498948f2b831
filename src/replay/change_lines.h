/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CHANGE_LINES_H
#define BT_REPLAY_CHANGE_LINES_H
/**
 * Makes the lines of a recording from changes of objects. A line has an added object in the form
 * that snapshots use, or a change as the merge patch between the old and the new form.
 */
#include "cluster/snapshot.h"
#include "replay/recording.h"

/** All-zero memory is ready for use, once forms is set. */
struct bt_change_lines {
	struct bt_snapshot_stream *forms; /* destroyed by the owner of the lines */
	struct bt_strbuf old_json;
	struct bt_strbuf new_json;
	struct bt_arena arena; /* reset for each change */
};

/**
 * Called for each line. line: without its time; borrowed for the call. version: resource version of
 * the change.
 */
typedef void bt_change_line_fn(
	void *context, const struct bt_recording_line *line, struct bt_str version);

/**
 * Makes the lines of one change of an object. old_object NULL: the object was added; new_object
 * NULL: the object was deleted. Makes no line if all members that recordings contain are equal in
 * old_object and new_object.
 */
void bt_change_lines_make(struct bt_change_lines *lines, const struct bt_object *old_object,
	const struct bt_object *new_object, bt_change_line_fn *take, void *context);
void bt_change_lines_finish(struct bt_change_lines *lines);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_REPLAY_CHANGE_LINES_H
#define BT_REPLAY_CHANGE_LINES_H
/**
 * The lines of a recording that a change of an object makes: objects in the form that snapshots
 * keep, changes as merge patches between two such forms.
 */
#include "cluster/snapshot.h"
#include "replay/recording.h"

/** All-zero memory with forms is ready. */
struct bt_change_lines {
	struct bt_snapshot_stream *forms; /* borrowed */
	struct bt_strbuf old_json;
	struct bt_strbuf new_json;
	struct bt_arena arena; /* of one change */
};

/** line: without its time; borrowed for the call. version: resource version of the change. */
typedef void bt_change_line_fn(
	void *context, const struct bt_recording_line *line, struct bt_str version);

/** old NULL: added; new NULL: deleted. No line if they differ in nothing that is kept. */
void bt_change_lines_make(struct bt_change_lines *lines, const struct bt_object *old_object,
	const struct bt_object *new_object, bt_change_line_fn *take, void *context);
void bt_change_lines_finish(struct bt_change_lines *lines);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/change_import.h"

#include "api/identity.h"

/** --- beginning and end --- */

void bt_change_import_init(struct bt_change_import *changes, struct bt_import *import)
{
	*changes = (struct bt_change_import){.import = import, .err = BERTH_ERROR_INIT};
	changes->lines.forms = bt_snapshot_stream_create(false);
	bt_snapshot_stream_sort_names(changes->lines.forms);
}

void bt_change_import_finish(struct bt_change_import *changes)
{
	bt_snapshot_stream_destroy(changes->lines.forms);
	bt_change_lines_finish(&changes->lines);
	bt_vec_finish_each(&changes->start, bt_object_release(*each));
	bt_map_finish(&changes->start_by_name);
	berth_error_finish(&changes->err);
}

/** --- the cluster at the start --- */

static void take_start(struct bt_change_import *changes, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	const struct bt_object *named = old_object != NULL ? old_object : new_object;
	struct bt_object *copy =
		new_object != NULL ? bt_object_create(new_object->kind, new_object->value) : NULL;
	uint64_t hash = bt_object_hash(named->kind, named->meta->namespace_, named->meta->name);
	BT_MAP_EACH (&changes->start_by_name, hash, index) {
		struct bt_object **known = &changes->start.items[index];
		if (bt_object_is(*known, named->kind, named->meta->namespace_, named->meta->name)) {
			bt_object_release(*known);
			*known = copy;
			if (copy == NULL) {
				(void)bt_map_remove(&changes->start_by_name, hash, index);
			}
			return;
		}
	}
	bt_map_insert(&changes->start_by_name, hash, changes->start.count);
	bt_vec_push(&changes->start, copy);
}

static void add_object(
	void *context, const struct bt_recording_line *line, struct bt_str version BT_UNUSED)
{
	bt_import_add_object(context, line->json);
}

int bt_change_import_begin(struct bt_change_import *changes, struct berth_error *err)
{
	if (changes->has_begun) {
		return 0;
	}
	changes->has_begun = true;
	for (uint32_t i = 0; i < changes->start.count; i++) {
		if (changes->start.items[i] != NULL) {
			bt_change_lines_make(&changes->lines, NULL, changes->start.items[i],
				add_object, changes->import);
		}
	}
	return bt_import_begin(changes->import, err);
}

/** --- changes --- */

static void append_line(
	void *context, const struct bt_recording_line *line, struct bt_str version BT_UNUSED)
{
	struct bt_change_import *changes = context;
	struct bt_recording_line timed = *line;
	timed.time_ns = changes->time_ns;
	if (changes->result == 0) {
		changes->result = bt_import_append(changes->import, &timed, &changes->err);
	}
}

int bt_change_import_take(struct bt_change_import *changes, int64_t time_ns,
	const struct bt_object *old_object, const struct bt_object *new_object,
	struct berth_error *err)
{
	bool waits = new_object != NULL && new_object->kind == BT_KIND_POD &&
		!bt_pod_is_assigned(bt_object_value(new_object, BT_KIND_POD));
	changes->time_ns = time_ns;
	if (!changes->has_begun && time_ns == 0 && !waits) {
		take_start(changes, old_object, new_object);
		return 0;
	}
	int result = bt_change_import_begin(changes, err);
	if (result == 0) {
		bt_change_lines_make(&changes->lines, old_object, new_object, append_line, changes);
		result = changes->result;
	}
	return changes->result == 0 ? result : bt_error_move(err, &changes->err);
}

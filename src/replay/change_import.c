/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/change_import.h"

#include "api/identity.h"

/** --- objects by name --- */

static uint64_t hash_object(const struct bt_object *object)
{
	return bt_object_hash(object->kind, object->meta->namespace_, object->meta->name);
}

void bt_object_set_finish(struct bt_object_set *set)
{
	for (uint32_t i = 0; i < set->items.count; i++) {
		bt_object_release(set->items.items[i]);
	}
	bt_vec_finish(&set->items);
	bt_map_finish(&set->by_name);
}

uint32_t bt_object_set_find(const struct bt_object_set *set, const struct bt_object *object)
{
	BT_MAP_EACH (&set->by_name, hash_object(object), index) {
		if (bt_object_is(set->items.items[index], object->kind, object->meta->namespace_,
			    object->meta->name)) {
			return index;
		}
	}
	return BT_MAP_NONE;
}

void bt_object_set_put(struct bt_object_set *set, uint32_t index, struct bt_object *object)
{
	if (index == BT_MAP_NONE) {
		bt_map_insert(&set->by_name, hash_object(object), set->items.count);
		bt_vec_push(&set->items, object);
		return;
	}
	struct bt_object *old = set->items.items[index];
	if (object == NULL) {
		(void)bt_map_remove(&set->by_name, hash_object(old), index); /* it has an entry */
	}
	set->items.items[index] = object;
	bt_object_release(old);
}

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
	bt_object_set_finish(&changes->start);
	berth_error_finish(&changes->err);
}

/** --- the cluster at the start --- */

static void take_start(struct bt_change_import *changes, const struct bt_object *old_object,
	const struct bt_object *new_object)
{
	uint32_t index =
		old_object != NULL ? bt_object_set_find(&changes->start, old_object) : BT_MAP_NONE;
	bt_object_set_put(&changes->start, index,
		new_object != NULL ? bt_object_create(new_object->kind, new_object->value) : NULL);
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
	for (uint32_t i = 0; i < changes->start.items.count; i++) {
		if (changes->start.items.items[i] != NULL) {
			bt_change_lines_make(&changes->lines, NULL, changes->start.items.items[i],
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

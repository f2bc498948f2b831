/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/change_lines.h"

#include "codec/json_patch.h"

/** meta: gives the namespace and name of the line; NULL for additions, whose JSON contains them. */
static void write_change(const struct bt_object *object, enum bt_recording_event event,
	const struct bt_object_meta *meta, struct bt_str json, bt_change_line_fn *take,
	void *context)
{
	const struct bt_recording_line line = {
		.event = event,
		.kind = object->kind,
		.namespace_ = meta != NULL ? meta->namespace_ : BT_STR(""),
		.name = meta != NULL ? meta->name : BT_STR(""),
		.json = json,
		.duration_ns = -1,
	};
	take(context, &line, object->meta->resource_version);
}

static void make_deletion(struct bt_change_lines *lines, const struct bt_object *object,
	bt_change_line_fn *take, void *context)
{
	bt_strbuf_reset(&lines->old_json);
	const struct bt_object_meta *meta =
		bt_snapshot_stream_append(lines->forms, object, &lines->old_json);
	write_change(object, BT_RECORDING_DELETE, meta, BT_STR(""), take, context);
}

static void make_addition(struct bt_change_lines *lines, const struct bt_object *object,
	bt_change_line_fn *take, void *context)
{
	bt_strbuf_reset(&lines->new_json);
	(void)bt_snapshot_stream_append(
		lines->forms, object, &lines->new_json); /* the JSON contains the metadata */
	write_change(
		object, BT_RECORDING_ADD, NULL, bt_strbuf_str(&lines->new_json), take, context);
}

static void make_change(struct bt_change_lines *lines, const struct bt_object *old_object,
	const struct bt_object *new_object, bt_change_line_fn *take, void *context)
{
	struct bt_json_value *from = NULL;
	struct bt_json_value *to = NULL;
	bt_strbuf_reset(&lines->old_json);
	bt_strbuf_reset(&lines->new_json);
	/* The metadata of old_object is not used. */
	(void)bt_snapshot_stream_append(lines->forms, old_object, &lines->old_json);
	const struct bt_object_meta *meta =
		bt_snapshot_stream_append(lines->forms, new_object, &lines->new_json);
	struct bt_str old_text = bt_strbuf_str(&lines->old_json);
	struct bt_str new_text = bt_strbuf_str(&lines->new_json);
	if (bt_str_equal(old_text, new_text)) {
		return; /* mostly heartbeats */
	}
	bt_arena_reset(&lines->arena);
	if (bt_json_parse(&lines->arena, old_text, false, &from, NULL) < 0 ||
		bt_json_parse(&lines->arena, new_text, false, &to, NULL) < 0) {
		/*
		 * The JSON nests too deeply or is too large for a tree: record a deletion and an
		 * addition.
		 */
		make_deletion(lines, old_object, take, context);
		make_addition(lines, new_object, take, context);
		return;
	}
	const struct bt_json_value *patch = bt_json_merge_diff(&lines->arena, from, to);
	if (patch->count != 0) {
		bt_strbuf_reset(&lines->old_json);
		bt_json_format(patch, &lines->old_json);
		write_change(new_object, BT_RECORDING_CHANGE, meta, bt_strbuf_str(&lines->old_json),
			take, context);
	}
}

void bt_change_lines_make(struct bt_change_lines *lines, const struct bt_object *old_object,
	const struct bt_object *new_object, bt_change_line_fn *take, void *context)
{
	if (old_object != NULL && new_object != NULL &&
		bt_str_equal(old_object->meta->uid, new_object->meta->uid)) {
		make_change(lines, old_object, new_object, take, context);
		return;
	}
	/*
	 * Otherwise record a deletion, an addition or both. Both: the uids differ, so the watch
	 * missed the deletion of the old object.
	 */
	if (old_object != NULL) {
		make_deletion(lines, old_object, take, context);
	}
	if (new_object != NULL) {
		make_addition(lines, new_object, take, context);
	}
}

void bt_change_lines_finish(struct bt_change_lines *lines)
{
	bt_strbuf_finish(&lines->old_json);
	bt_strbuf_finish(&lines->new_json);
	bt_arena_finish(&lines->arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bodies of watches and lists. The first byte chooses the form. Pieces of any size must give the
 * same parts and the same end.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "client/watch_event.h"
#include "client/watch_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct parts {
	uint64_t hash;
	uint32_t count;
	bool is_protobuf;
};

/** Decode a part. Errors are allowed, because an input may end anywhere. */
static int read_part(const struct parts *parts, enum bt_frame_part part, struct bt_str bytes,
	struct bt_arena *arena)
{
	struct bt_watch_event event;
	struct bt_partial_object_metadata bookmark = {0};
	struct bt_api_status status = {.code = 0};
	struct bt_strbuf version = {0};
	struct bt_strbuf token = {0};
	struct bt_str kind;
	int code = 0;

	switch (part) {
	case BT_FRAME_EVENT:
		code = bt_watch_event_read(bytes, parts->is_protobuf, arena, &event, NULL);
		if (code == 0) {
			code = bt_watch_object_read(&bt_partial_object_metadata_message,
				event.object, parts->is_protobuf, arena, &bookmark, NULL);
		}
		return code != 0 ? code
				 : bt_watch_object_read(&bt_api_status_message, event.object,
					   parts->is_protobuf, arena, &status, NULL);
	case BT_FRAME_METADATA:
		code = bt_list_meta_read(bytes, parts->is_protobuf, arena, &version, &token, NULL);
		bt_strbuf_finish(&version);
		bt_strbuf_finish(&token);
		return code;
	case BT_FRAME_KIND:
		return bt_list_kind_read(bytes, parts->is_protobuf, arena, &kind, NULL);
	case BT_FRAME_ITEM:
		break;
	}
	return code;
}

static int take(
	void *context, enum bt_frame_part part, struct bt_str bytes, struct berth_error *err)
{
	struct parts *parts = context;
	struct bt_arena arena = {0};
	int code = read_part(parts, part, bytes, &arena);

	(void)err;
	parts->hash = bt_hash_bytes(bytes.data, bytes.length, parts->hash + (uint64_t)part);
	parts->hash = bt_hash_u64(parts->hash, code == 0);
	parts->count++;
	bt_arena_finish(&arena);
	return 0;
}

/** Feeds the body in pieces of `step` bytes, or as a whole if `step` is 0. */
static int feed(enum bt_frames_form form, struct bt_str bytes, uint32_t step, struct parts *out,
	bool *out_complete)
{
	struct bt_frames_sink sink = {out, take};
	struct bt_frames frames;
	int code = 0;

	*out = (struct parts){
		.is_protobuf = form == BT_FRAMES_WATCH_PROTOBUF || form == BT_FRAMES_LIST_PROTOBUF};
	bt_frames_init(&frames, form, &sink);
	for (uint32_t at = 0; code == 0 && at < bytes.length;) {
		struct bt_str piece = bt_str_sub(bytes, at, step != 0 ? step : bytes.length);

		code = bt_frames_feed(&frames, piece, NULL);
		at += piece.length;
	}
	*out_complete = bt_frames_is_complete(&frames);
	bt_frames_finish(&frames);
	return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct parts whole;
	bool whole_complete;
	enum bt_frames_form form;
	struct bt_str bytes;
	int code;

	if (size == 0) {
		return 0;
	}
	form = (enum bt_frames_form)(data[0] % 4);
	bytes = (struct bt_str){(const char *)data + 1, (uint32_t)(size - 1)};
	code = feed(form, bytes, 0, &whole, &whole_complete);
	for (uint32_t step = 1; step < 10; step += 3) {
		struct parts cut;
		bool cut_complete;

		BT_ASSERT(feed(form, bytes, step, &cut, &cut_complete) == code);
		BT_ASSERT(cut.hash == whole.hash && cut.count == whole.count);
		BT_ASSERT(code != 0 || cut_complete == whole_complete);
	}
	return 0;
}

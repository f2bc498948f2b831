/* SPDX-License-Identifier: Apache-2.0 */
#include "client/watch_frames.h"

#include <string.h>

#include "base/assert.h"
#include "client/watch_frames_private.h"

/** Memory for held parts that is kept for the next one. */
#define KEPT_BYTES_MAX 4096

void bt_frames_init(
	struct bt_frames *frames, enum bt_frames_form form, const struct bt_frames_sink *sink)
{
	*frames = (struct bt_frames){.form = form, .sink = *sink};
}

void bt_frames_finish(struct bt_frames *frames)
{
	bt_strbuf_finish(&frames->held);
}

int bt_frames_hold(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	if (frames->held.length + length > BT_FRAME_BYTES_MAX) {
		return bt_frames_too_large(err);
	}
	bt_strbuf_append(&frames->held, bytes, length);
	return 0;
}

int bt_frames_too_large(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_TOO_LARGE, "object to decode was longer than %u bytes",
		BT_FRAME_BYTES_MAX);
}

int bt_frames_give(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	struct bt_str text = {bytes, (uint32_t)length};
	int code = 0;

	if (frames->held.length != 0) {
		code = bt_frames_hold(frames, bytes, length, err);
		text = bt_strbuf_str(&frames->held);
	} else if (length > BT_FRAME_BYTES_MAX) {
		code = bt_frames_too_large(err);
	}
	if (code == 0 && frames->is_wanted) {
		code = frames->sink.take(
			frames->sink.context, (enum bt_frame_part)frames->part, text, err);
	}
	if (frames->held.capacity > KEPT_BYTES_MAX) {
		bt_strbuf_finish(&frames->held);
	} else {
		bt_strbuf_reset(&frames->held);
	}
	return code;
}

int bt_frames_feed(struct bt_frames *frames, struct bt_str bytes, struct berth_error *err)
{
	const char *at = bytes.data;
	const char *end = bytes.length != 0 ? at + bytes.length : at;
	bool is_json = frames->form == BT_FRAMES_WATCH_JSON || frames->form == BT_FRAMES_LIST_JSON;
	int code = 0;

	while (code == 0 && at != end) {
		code = is_json ? bt_frames_feed_json(frames, &at, end, err)
			       : bt_frames_feed_protobuf(frames, &at, end, err);
	}
	return code;
}

bool bt_frames_is_complete(const struct bt_frames *frames)
{
	switch (frames->form) {
	case BT_FRAMES_WATCH_JSON:
	case BT_FRAMES_LIST_JSON:
		return bt_frames_json_is_complete(frames);
	case BT_FRAMES_WATCH_PROTOBUF:
	case BT_FRAMES_LIST_PROTOBUF:
		return bt_frames_protobuf_is_complete(frames);
	}
	return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/watch_frames_private.h"
#include "codec/wire.h"

/*
 * Protobuf bodies. A watch is a sequence of lengths and frames. A list is one envelope (spec 13
 * section 8.3) whose raw bytes are a message {metadata 1, items 2}.
 */

enum {
	HEADER, /* a frame's length; a list's magic */
	TAG,    /* of a list: tag, and length or number */
	VALUE,
	SKIPPED_VALUE,
};

#define LENGTH_BYTES 4
/* A tag and a varint. */
#define TAG_BYTES_MAX 20

enum {
	UNKNOWN_TYPE_META = 1,
	UNKNOWN_RAW = 2,
	LIST_METADATA = 1,
	LIST_ITEMS = 2,
};

static int begin_frame(struct bt_frames *frames, struct berth_error *err)
{
	const char *bytes = frames->held.data;
	const unsigned char *b = (const unsigned char *)bytes;
	frames->left = (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
	frames->part = BT_FRAME_EVENT;
	frames->is_wanted = true;
	bt_strbuf_reset(&frames->held);
	if (frames->left > BT_FRAME_BYTES_MAX) {
		return bt_frames_too_large(err);
	}
	if (frames->left == 0) {
		return bt_frames_give(frames, "", 0, err);
	}
	frames->state = VALUE;
	return 0;
}

static int check_magic(struct bt_frames *frames, struct berth_error *err)
{
	bool is_magic = memcmp(frames->held.data, "k8s", LENGTH_BYTES) == 0;

	bt_strbuf_reset(&frames->held);
	frames->state = TAG;
	return is_magic ? 0
			: bt_error_set(err, BERTH_ERR_SYNTAX,
				  "provided data does not appear to be a protobuf message, "
				  "expected prefix [107 56 115 0]");
}

static int feed_header(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	int code = 0;

	while (code == 0 && *at != end && frames->held.length < LENGTH_BYTES) {
		code = bt_frames_hold(frames, (*at)++, 1, err);
	}
	if (code != 0 || frames->held.length < LENGTH_BYTES) {
		return code;
	}
	return frames->form == BT_FRAMES_WATCH_PROTOBUF ? begin_frame(frames, err)
							: check_magic(frames, err);
}

/** What the tag in `held` announces; its value's bytes are `left`. */
static int begin_value(
	struct bt_frames *frames, uint32_t number, uint64_t length, struct berth_error *err)
{
	frames->left = length;
	if (frames->in_list && length > frames->list_left) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
	}
	if (!frames->in_list && number == UNKNOWN_RAW) {
		frames->in_list = true;
		frames->list_left = length;
		frames->in_list = length != 0;
		frames->state = TAG;
		return 0;
	}
	frames->is_wanted = true;
	if (frames->in_list && number == LIST_ITEMS) {
		frames->part = BT_FRAME_ITEM;
	} else if (frames->in_list && number == LIST_METADATA) {
		frames->part = BT_FRAME_METADATA;
	} else if (!frames->in_list && number == UNKNOWN_TYPE_META) {
		frames->part = BT_FRAME_KIND;
	} else {
		frames->is_wanted = false;
	}
	frames->state = frames->is_wanted ? VALUE : SKIPPED_VALUE;
	if (frames->is_wanted && length > BT_FRAME_BYTES_MAX) {
		return bt_frames_too_large(err);
	}
	return 0;
}

static bool is_whole_varint(const char *bytes, size_t length)
{
	return length != 0 && (unsigned char)bytes[length - 1] < 0x80;
}

/** Bytes of the tag's own varint in `held`; 0: not whole. */
static size_t tag_bytes(const struct bt_strbuf *held)
{
	for (size_t i = 0; i < held->length; i++) {
		if ((unsigned char)held->data[i] < 0x80) {
			return i + 1;
		}
	}
	return 0;
}

/** A value is over: so may be the list. */
static void end_value(struct bt_frames *frames)
{
	frames->state = TAG;
	if (frames->in_list && frames->list_left == 0) {
		frames->in_list = false;
	}
}

static int read_header(struct bt_frames *frames, struct berth_error *err)
{
	struct bt_wire wire = bt_wire_from(bt_strbuf_str(&frames->held));
	size_t tag_length = tag_bytes(&frames->held);
	uint32_t number;
	uint32_t type;
	uint64_t value;
	int code;

	if (tag_length == 0) {
		return 0;
	}
	code = bt_wire_read_tag(&wire, &number, &type, err);
	if (code == 0 && (type == BT_WIRE_FIXED32 || type == BT_WIRE_FIXED64)) {
		bt_strbuf_reset(&frames->held);
		frames->left = type == BT_WIRE_FIXED32 ? 4 : 8;
		frames->is_wanted = false;
		frames->state = SKIPPED_VALUE;
		return frames->in_list && frames->left > frames->list_left
			? bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF")
			: 0;
	}
	if (code == 0 && type != BT_WIRE_BYTES && type != BT_WIRE_VARINT) {
		code = bt_error_set(
			err, BERTH_ERR_SYNTAX, "proto: illegal wireType %u", (unsigned)type);
	}
	if (code != 0 ||
		!is_whole_varint(
			frames->held.data + tag_length, frames->held.length - tag_length)) {
		return code;
	}
	code = bt_wire_read_varint(&wire, &value, err);
	bt_strbuf_reset(&frames->held);
	if (code == 0 && type == BT_WIRE_BYTES) {
		code = begin_value(frames, number, value, err);
		if (code == 0 && frames->left == 0 && frames->state == VALUE) {
			code = bt_frames_give(frames, "", 0, err);
		}
		if (code != 0 || frames->left != 0 || frames->state == TAG) {
			return code;
		}
	}
	end_value(frames);
	return code;
}

static int feed_tag(struct bt_frames *frames, const char **at, struct berth_error *err)
{
	int code;

	if (frames->held.length == TAG_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "proto: integer overflow");
	}
	if (frames->in_list && frames->list_left == 0) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
	}
	frames->list_left -= frames->in_list ? 1 : 0;
	code = bt_frames_hold(frames, (*at)++, 1, err);
	return code != 0 ? code : read_header(frames, err);
}

static int feed_value(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	const char *from = *at;
	uint64_t here = (uint64_t)(end - from);
	bool done = here >= frames->left;
	size_t length = (size_t)(done ? frames->left : here);

	*at = from + length;
	frames->left -= length;
	frames->list_left -= frames->in_list ? length : 0;
	if (!done) {
		return frames->state == VALUE ? bt_frames_hold(frames, from, length, err) : 0;
	}
	if (frames->form == BT_FRAMES_WATCH_PROTOBUF) {
		frames->state = HEADER;
		return bt_frames_give(frames, from, length, err);
	}
	if (frames->state == SKIPPED_VALUE) {
		end_value(frames);
		return 0;
	}
	end_value(frames);
	return bt_frames_give(frames, from, length, err);
}

int bt_frames_feed_protobuf(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	switch (frames->state) {
	case HEADER:
		return feed_header(frames, at, end, err);
	case TAG:
		return feed_tag(frames, at, err);
	default:
		return feed_value(frames, at, end, err);
	}
}

bool bt_frames_protobuf_is_complete(const struct bt_frames *frames)
{
	if (frames->held.length != 0 || frames->in_list) {
		return false;
	}
	return frames->state ==
		(frames->form == BT_FRAMES_WATCH_PROTOBUF ? (uint8_t)HEADER : (uint8_t)TAG);
}

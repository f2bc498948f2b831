/* SPDX-License-Identifier: Apache-2.0 */
#include "client/watch_frames.h"

#include <string.h>

#include "base/assert.h"
#include "codec/wire.h"

/** A larger buffer is freed after the part. */
#define KEPT_BYTES_MAX 4096

static int fail_too_large(struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_TOO_LARGE, "object to decode was longer than %u bytes",
		BT_FRAME_BYTES_MAX);
}

/** Buffers bytes of an incomplete value or header. */
static int buffer_bytes(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	if (frames->held.length + length > BT_FRAME_BYTES_MAX) {
		return fail_too_large(err);
	}
	bt_strbuf_append(&frames->held, bytes, length);
	return 0;
}

/** Completes a value: passes it to the sink if it is wanted, and clears the buffer. */
static int pass_value(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	struct bt_str text = {bytes, (uint32_t)length};
	int code = 0;

	if (frames->held.length != 0) {
		code = buffer_bytes(frames, bytes, length, err);
		text = bt_strbuf_str(&frames->held);
	} else if (length > BT_FRAME_BYTES_MAX) {
		code = fail_too_large(err);
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

/* JSON form: a watch is a sequence of values; a list is an object with the values in "items". */

enum {
	WATCH_GAP,   /* expecting a value or the end */
	LIST_START,  /* expecting the list's brace */
	LIST_NAME,   /* expecting a member, or the closing brace */
	LIST_COLON,  /* expecting the colon after a member's name */
	LIST_ITEMS,  /* expecting the array of items */
	LIST_ITEM,   /* expecting an item, or the closing bracket */
	LIST_MEMBER, /* expecting the value of another member */
	LIST_END,    /* expecting the end */
	VALUE,       /* within a value, whose role decides the next state */
};

/* Values of value_kind. */
enum {
	VALUE_NESTED, /* object or array: ends at depth 0 */
	VALUE_STRING,
	VALUE_PLAIN, /* number, true, false, null: ends before a delimiter */
};

/* Role of the value that is being read. */
enum role {
	ROLE_EVENT,
	ROLE_NAME,
	ROLE_MEMBER,
	ROLE_ITEM,
};

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\n' || byte == '\t' || byte == '\r';
}

static bool starts_value(char byte)
{
	return byte != '\0' && strchr("{[\"-0123456789tfn", byte) != NULL;
}

static int unexpected(char byte, const char *where, struct berth_error *err)
{
	unsigned char shown = (unsigned char)byte;

	return bt_error_set(err, BERTH_ERR_SYNTAX, "invalid character 0x%02x %s", shown, where);
}

static void begin_value(struct bt_frames *frames, char first, enum role role)
{
	frames->state = VALUE;
	frames->depth = 0;
	frames->in_string = false;
	frames->escaped = false;
	frames->value_kind = VALUE_PLAIN;
	if (first == '{' || first == '[') {
		frames->value_kind = VALUE_NESTED;
	} else if (first == '"') {
		frames->value_kind = VALUE_STRING;
	}
	frames->role = (uint8_t)role;
	frames->is_wanted = role == ROLE_EVENT || role == ROLE_ITEM ||
		(role == ROLE_MEMBER && frames->part != BT_FRAME_ITEM);
	if (role == ROLE_EVENT) {
		frames->part = BT_FRAME_EVENT;
	} else if (role == ROLE_ITEM) {
		frames->part = BT_FRAME_ITEM;
	}
}

/**
 * Returns the number of bytes from `at` on that belong to a nested value or a string; *out_done:
 * the value ends after them.
 */
static size_t scan_delimited(
	struct bt_frames *frames, const char *at, const char *end, bool *out_done)
{
	const char *from = at;

	for (; at != end; at++) {
		char byte = *at;

		if (frames->in_string) {
			if (frames->escaped) {
				frames->escaped = false;
			} else if (byte == '\\') {
				frames->escaped = true;
			} else if (byte == '"') {
				frames->in_string = false;
			}
		} else if (byte == '"') {
			frames->in_string = true;
		} else if (byte == '{' || byte == '[') {
			frames->depth++;
		} else if (byte == '}' || byte == ']') {
			frames->depth--;
		}
		if (!frames->in_string && frames->depth == 0) {
			*out_done = true;
			return (size_t)(at + 1 - from);
		}
	}
	return (size_t)(at - from);
}

static int end_value(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	int code;

	switch ((enum role)frames->role) {
	case ROLE_EVENT:
		frames->state = WATCH_GAP;
		break;
	case ROLE_NAME:
		code = buffer_bytes(frames, bytes, length, err);
		if (code == 0) {
			/* the member's name, with its quotes, selects the part */
			struct bt_str quoted = bt_strbuf_str(&frames->held);
			frames->state = LIST_COLON;
			frames->part = BT_FRAME_ITEM; /* placeholder, not passed to the sink */
			frames->is_items = bt_str_equal(quoted, BT_STR("\"items\""));
			if (bt_str_equal(quoted, BT_STR("\"metadata\""))) {
				frames->part = BT_FRAME_METADATA;
			} else if (bt_str_equal(quoted, BT_STR("\"kind\""))) {
				frames->part = BT_FRAME_KIND;
			}
			bt_strbuf_reset(&frames->held);
		}
		return code;
	case ROLE_MEMBER:
		frames->state = LIST_NAME;
		break;
	case ROLE_ITEM:
		frames->state = LIST_ITEM;
		break;
	}
	return pass_value(frames, bytes, length, err);
}

/** Starts a value, or ends the object or array at `close`; skips commas. */
static int feed_sequence(struct bt_frames *frames, const char **at, char close, uint8_t after,
	enum role role, struct berth_error *err)
{
	char byte = **at;

	if (byte == ',') {
		(*at)++;
	} else if (byte == close) {
		(*at)++;
		frames->state = after;
	} else if (role == ROLE_NAME && byte != '"') {
		return unexpected(byte, "looking for beginning of object key string", err);
	} else if (!starts_value(byte)) {
		return unexpected(byte, "looking for beginning of value", err);
	} else {
		begin_value(frames, byte, role);
	}
	return 0;
}

static int expect(struct bt_frames *frames, const char **at, char byte, uint8_t after,
	const char *where, struct berth_error *err)
{
	if (**at != byte) {
		return unexpected(**at, where, err);
	}
	(*at)++;
	frames->state = after;
	return 0;
}

/** Consumes a part of the input, which is not empty. */
static int feed_json(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	if (frames->state == VALUE) {
		const char *from = *at;
		bool done = false;
		size_t length = 0;

		if (frames->value_kind == VALUE_PLAIN) {
			const char *to = from;
			/* strchr also finds a zero byte: it ends the value, and begins none */
			while (to != end && !is_space(*to) && strchr(",:{}[]\"", *to) == NULL) {
				to++;
			}
			done = to != end;
			length = (size_t)(to - from);
		} else {
			length = scan_delimited(frames, from, end, &done);
		}
		*at = from + length;
		return done ? end_value(frames, from, length, err)
			    : buffer_bytes(frames, from, length, err);
	}
	if (is_space(**at)) {
		(*at)++;
		return 0;
	}
	if (frames->form == BT_FRAMES_LIST_JSON && frames->state == WATCH_GAP) {
		frames->state = LIST_START;
	}
	switch (frames->state) {
	case WATCH_GAP:
		if (**at != '{') {
			return unexpected(**at, "looking for beginning of value", err);
		}
		begin_value(frames, **at, ROLE_EVENT);
		return 0;
	case LIST_START:
		return expect(frames, at, '{', LIST_NAME, "looking for beginning of a list", err);
	case LIST_NAME:
		return feed_sequence(frames, at, '}', LIST_END, ROLE_NAME, err);
	case LIST_COLON:
		return expect(frames, at, ':', frames->is_items ? LIST_ITEMS : LIST_MEMBER,
			"after object key", err);
	case LIST_ITEMS:
		if (**at == 'n') {
			begin_value(frames, **at, ROLE_MEMBER); /* null: no items */
			return 0;
		}
		return expect(frames, at, '[', LIST_ITEM, "looking for the items", err);
	case LIST_ITEM:
		return feed_sequence(frames, at, ']', LIST_NAME, ROLE_ITEM, err);
	case LIST_MEMBER:
		if (!starts_value(**at)) {
			return unexpected(**at, "looking for beginning of value", err);
		}
		begin_value(frames, **at, ROLE_MEMBER);
		return 0;
	default:
		return unexpected(**at, "after top-level value", err);
	}
}

/*
 * Protobuf form: a watch is a sequence of length-prefixed frames. A list is one envelope (spec 13
 * section 8.3) whose raw bytes are a message with the fields metadata (number 1) and items (number
 * 2).
 */

enum {
	HEADER, /* length of a frame, or magic of a list */
	TAG,    /* list: a field's tag, and the varint after it: length or value */
	RECORD,
	SKIPPED_RECORD,
};

#define LENGTH_BYTES 4
/* Limit of the header of a record: a tag and a varint of 10 bytes each. */
#define TAG_BYTES_MAX 20

enum {
	UNKNOWN_TYPE_META = 1,
	UNKNOWN_RAW = 2,
	LIST_FIELD_METADATA = 1,
	LIST_FIELD_ITEMS = 2,
};

static int feed_header(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	int code = 0;

	while (code == 0 && *at != end && frames->held.length < LENGTH_BYTES) {
		code = buffer_bytes(frames, (*at)++, 1, err);
	}
	if (code != 0 || frames->held.length < LENGTH_BYTES) {
		return code;
	}
	if (frames->form == BT_FRAMES_WATCH_PROTOBUF) {
		const unsigned char *b = (const unsigned char *)frames->held.data;
		frames->left =
			(uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
		frames->part = BT_FRAME_EVENT;
		frames->is_wanted = true;
		bt_strbuf_reset(&frames->held);
		if (frames->left > BT_FRAME_BYTES_MAX) {
			return fail_too_large(err);
		}
		if (frames->left == 0) {
			return pass_value(frames, "", 0, err);
		}
		frames->state = RECORD;
		return 0;
	}
	bool is_magic = memcmp(frames->held.data, "k8s", LENGTH_BYTES) == 0;
	bt_strbuf_reset(&frames->held);
	frames->state = TAG;
	return is_magic ? 0
			: bt_error_set(err, BERTH_ERR_SYNTAX,
				  "provided data does not appear to be a protobuf message, "
				  "expected prefix [107 56 115 0]");
}

/** Starts the value that the tag in `held` announces. length: bytes of the value. */
static int begin_record(
	struct bt_frames *frames, uint32_t number, uint64_t length, struct berth_error *err)
{
	frames->left = length;
	if (frames->in_list && length > frames->list_left) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
	}
	if (!frames->in_list && number == UNKNOWN_RAW) {
		frames->list_left = length;
		frames->in_list = length != 0;
		frames->state = TAG;
		return 0;
	}
	frames->is_wanted = true;
	if (frames->in_list && number == LIST_FIELD_ITEMS) {
		frames->part = BT_FRAME_ITEM;
	} else if (frames->in_list && number == LIST_FIELD_METADATA) {
		frames->part = BT_FRAME_METADATA;
	} else if (!frames->in_list && number == UNKNOWN_TYPE_META) {
		frames->part = BT_FRAME_KIND;
	} else {
		frames->is_wanted = false;
	}
	frames->state = frames->is_wanted ? RECORD : SKIPPED_RECORD;
	if (frames->is_wanted && length > BT_FRAME_BYTES_MAX) {
		return fail_too_large(err);
	}
	return 0;
}

/** Ends a value. Ends also the list if the value was its last. */
static void end_record(struct bt_frames *frames)
{
	frames->state = TAG;
	if (frames->in_list && frames->list_left == 0) {
		frames->in_list = false;
	}
}

static int feed_tag(struct bt_frames *frames, const char **at, struct berth_error *err)
{
	if (frames->held.length == TAG_BYTES_MAX) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "proto: integer overflow");
	}
	if (frames->in_list && frames->list_left == 0) {
		return bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF");
	}
	frames->list_left -= frames->in_list ? 1 : 0;
	int code = buffer_bytes(frames, (*at)++, 1, err);
	size_t tag_length = 0; /* of the tag's varint in `held`; 0: incomplete */
	for (size_t i = 0; i < frames->held.length && tag_length == 0; i++) {
		tag_length = (unsigned char)frames->held.data[i] < 0x80 ? i + 1 : 0;
	}
	if (code != 0 || tag_length == 0) {
		return code;
	}
	struct bt_wire wire = bt_wire_from(bt_strbuf_str(&frames->held));
	uint32_t number;
	uint32_t type;
	uint64_t value;
	code = bt_wire_read_tag(&wire, &number, &type, err);
	if (code == 0 && (type == BT_WIRE_FIXED32 || type == BT_WIRE_FIXED64)) {
		bt_strbuf_reset(&frames->held);
		frames->left = type == BT_WIRE_FIXED32 ? 4 : 8;
		frames->is_wanted = false;
		frames->state = SKIPPED_RECORD;
		return frames->in_list && frames->left > frames->list_left
			? bt_error_set(err, BERTH_ERR_SYNTAX, "unexpected EOF")
			: 0;
	}
	if (code == 0 && type != BT_WIRE_BYTES && type != BT_WIRE_VARINT) {
		code = bt_error_set(
			err, BERTH_ERR_SYNTAX, "proto: illegal wireType %u", (unsigned)type);
	}
	bool is_whole = frames->held.length > tag_length &&
		(unsigned char)frames->held.data[frames->held.length - 1] < 0x80;
	if (code != 0 || !is_whole) {
		return code;
	}
	code = bt_wire_read_varint(&wire, &value, err);
	bt_strbuf_reset(&frames->held);
	if (code == 0 && type == BT_WIRE_BYTES) {
		code = begin_record(frames, number, value, err);
		if (code == 0 && frames->left == 0 && frames->state == RECORD) {
			code = pass_value(frames, "", 0, err);
		}
		if (code != 0 || frames->left != 0 || frames->state == TAG) {
			return code;
		}
	}
	end_record(frames);
	return code;
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
		return frames->state == RECORD ? buffer_bytes(frames, from, length, err) : 0;
	}
	if (frames->form == BT_FRAMES_WATCH_PROTOBUF) {
		frames->state = HEADER;
		return pass_value(frames, from, length, err);
	}
	bool is_skipped = frames->state == SKIPPED_RECORD;
	end_record(frames);
	return is_skipped ? 0 : pass_value(frames, from, length, err);
}

void bt_frames_init(
	struct bt_frames *frames, enum bt_frames_form form, const struct bt_frames_sink *sink)
{
	*frames = (struct bt_frames){.form = form, .sink = *sink};
}

void bt_frames_finish(struct bt_frames *frames)
{
	bt_strbuf_finish(&frames->held);
}

int bt_frames_feed(struct bt_frames *frames, struct bt_str bytes, struct berth_error *err)
{
	const char *at = bytes.data;
	const char *end = bytes.length != 0 ? at + bytes.length : at;
	bool is_json = frames->form == BT_FRAMES_WATCH_JSON || frames->form == BT_FRAMES_LIST_JSON;
	int code = 0;

	while (code == 0 && at != end) {
		if (is_json) {
			code = feed_json(frames, &at, end, err);
		} else if (frames->state == HEADER) {
			code = feed_header(frames, &at, end, err);
		} else if (frames->state == TAG) {
			code = feed_tag(frames, &at, err);
		} else {
			code = feed_value(frames, &at, end, err);
		}
	}
	return code;
}

bool bt_frames_is_complete(const struct bt_frames *frames)
{
	switch (frames->form) {
	case BT_FRAMES_WATCH_JSON:
		return frames->state == WATCH_GAP;
	case BT_FRAMES_LIST_JSON:
		return frames->state == LIST_END;
	case BT_FRAMES_WATCH_PROTOBUF:
		return frames->state == HEADER && frames->held.length == 0;
	case BT_FRAMES_LIST_PROTOBUF:
		return frames->state == TAG && frames->held.length == 0 && !frames->in_list;
	}
	return false;
}

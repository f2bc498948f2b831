/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "client/watch_frames_private.h"

/* JSON bodies. A watch is a sequence of values; a list is an object whose "items" are values. */

enum {
	WATCH_GAP,   /* before a value, or the end */
	LIST_START,  /* before the list's brace */
	LIST_NAME,   /* before a member, or the closing brace */
	LIST_COLON,  /* behind a member's name */
	LIST_ITEMS,  /* before the array of items */
	LIST_ITEM,   /* before an item, or the closing bracket */
	LIST_MEMBER, /* before another member's value */
	LIST_END,    /* behind the list */
	VALUE,       /* within a value; what follows it: see after_value */
};

/* What a value is: private to the field value_kind. */
enum {
	VALUE_NESTED, /* object or array: ends at depth 0 */
	VALUE_STRING,
	VALUE_PLAIN, /* number, true, false, null: ends before anything else */
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

/** Bytes of a nested value or a string from at on; *out_done: the last one is among them. */
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

static size_t scan_plain(const char *at, const char *end, bool *out_done)
{
	const char *from = at;

	/* a zero byte is found as well: it ends the value, and nothing begins with it */
	while (at != end && !is_space(*at) && strchr(",:{}[]\"", *at) == NULL) {
		at++;
	}
	*out_done = at != end;
	return (size_t)(at - from);
}

static int end_name(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	int code = bt_frames_hold(frames, bytes, length, err);

	if (code == 0) {
		/* A member's name, with its quotes, decides what its value is for. */
		struct bt_str quoted = bt_strbuf_str(&frames->held);
		frames->state = LIST_COLON;
		frames->part = BT_FRAME_ITEM; /* nothing that is handed out */
		frames->is_items = bt_str_equal(quoted, BT_STR("\"items\""));
		if (bt_str_equal(quoted, BT_STR("\"metadata\""))) {
			frames->part = BT_FRAME_METADATA;
		} else if (bt_str_equal(quoted, BT_STR("\"kind\""))) {
			frames->part = BT_FRAME_KIND;
		}
		bt_strbuf_reset(&frames->held);
	}
	return code;
}

static int end_value(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err)
{
	switch ((enum role)frames->role) {
	case ROLE_EVENT:
		frames->state = WATCH_GAP;
		break;
	case ROLE_NAME:
		return end_name(frames, bytes, length, err);
	case ROLE_MEMBER:
		frames->state = LIST_NAME;
		break;
	case ROLE_ITEM:
		frames->state = LIST_ITEM;
		break;
	}
	return bt_frames_give(frames, bytes, length, err);
}

/** A value begins, or the member or element list ends with `close`; commas are passed over. */
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

int bt_frames_feed_json(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err)
{
	if (frames->state == VALUE) {
		const char *from = *at;
		bool done = false;
		size_t length = frames->value_kind == VALUE_PLAIN
			? scan_plain(from, end, &done)
			: scan_delimited(frames, from, end, &done);

		*at = from + length;
		return done ? end_value(frames, from, length, err)
			    : bt_frames_hold(frames, from, length, err);
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

bool bt_frames_json_is_complete(const struct bt_frames *frames)
{
	return frames->state ==
		(frames->form == BT_FRAMES_WATCH_JSON ? (uint8_t)WATCH_GAP : (uint8_t)LIST_END);
}

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_WATCH_FRAMES_H
#define BT_CLIENT_WATCH_FRAMES_H
/**
 * Splits bodies of watches and lists into parts, from input in pieces of any size. A part within
 * one piece of input is not copied, and a list's body is never held as a whole. Spec: 13 sections
 * 8.3 to 8.5.
 *
 * The content of parts is not validated here. The outer structure is validated only as far as
 * needed to find the parts.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/strbuf.h"

/** Spec 13 section 8.4. */
#define BT_FRAME_BYTES_MAX (UINT32_C(16) << 20)

enum bt_frames_form {
	BT_FRAMES_WATCH_JSON,
	BT_FRAMES_WATCH_PROTOBUF,
	BT_FRAMES_LIST_JSON,
	BT_FRAMES_LIST_PROTOBUF,
};

enum bt_frame_part {
	BT_FRAME_EVENT,    /* one event of a watch: a JSON object, or a protobuf WatchEvent */
	BT_FRAME_KIND,     /* of a list: a JSON value, or a TypeMeta */
	BT_FRAME_METADATA, /* of a list: a JSON value, or a ListMeta */
	BT_FRAME_ITEM,     /* of a list: a JSON value, or an object's bytes */
};

struct bt_frames_sink {
	void *context;
	/**
	 * bytes: borrowed for the call. A result other than 0 ends bt_frames_feed, which returns
	 * it.
	 */
	int (*take)(void *context, enum bt_frame_part part, struct bt_str bytes,
		struct berth_error *err);
};

/**
 * State of a parser. A structure that is zero except for form and sink is the state before the
 * first byte.
 */
struct bt_frames {
	enum bt_frames_form form;
	struct bt_frames_sink sink;

	/* private */
	uint8_t state;
	uint8_t part;          /* enum bt_frame_part of the current value */
	uint8_t value_kind;    /* JSON: how the current value ends */
	uint8_t role;          /* JSON: role of the current value */
	bool is_items;         /* JSON: the current member is "items" */
	bool in_string;        /* JSON */
	bool escaped;          /* JSON */
	bool is_wanted;        /* the value is passed to the sink */
	bool in_list;          /* protobuf: within the raw bytes of the envelope */
	uint32_t depth;        /* JSON: nesting of the value */
	uint64_t left;         /* protobuf: remaining bytes of the value */
	uint64_t list_left;    /* protobuf: remaining bytes of the list */
	struct bt_strbuf held; /* received bytes of the value or header */
};

void bt_frames_init(
	struct bt_frames *frames, enum bt_frames_form form, const struct bt_frames_sink *sink);
void bt_frames_finish(struct bt_frames *frames);
/**
 * Parses the next bytes of the body. BERTH_ERR_TOO_LARGE: a part exceeds BT_FRAME_BYTES_MAX;
 * BERTH_ERR_SYNTAX: the outer structure is malformed. Must not be called again after an error.
 */
BT_MUST_USE int bt_frames_feed(
	struct bt_frames *frames, struct bt_str bytes, struct berth_error *err);
/** Returns true if the body may end here, and false if the body was truncated. */
bool bt_frames_is_complete(const struct bt_frames *frames);
#endif

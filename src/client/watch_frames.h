/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_WATCH_FRAMES_H
#define BT_CLIENT_WATCH_FRAMES_H
/**
 * Bodies of watches and lists, cut into their parts as the bytes come, however they are cut: a part
 * that lies within one piece of input is not copied, and a list's body is never held as a whole.
 * Spec: 13 sections 8.3 to 8.5.
 *
 * What is in a part is not checked here; only as much of the outer form is as is needed to find it.
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
	BT_FRAME_EVENT,    /* of a watch: a JSON value, or a WatchEvent */
	BT_FRAME_KIND,     /* of a list: a JSON value, or a TypeMeta */
	BT_FRAME_METADATA, /* of a list: a JSON value, or a ListMeta */
	BT_FRAME_ITEM,     /* of a list: a JSON value, or an object's bytes */
};

struct bt_frames_sink {
	void *context;
	/** bytes: borrowed for the call. A result other than 0 ends the reading with it. */
	int (*take)(void *context, enum bt_frame_part part, struct bt_str bytes,
		struct berth_error *err);
};

/** Zeroed memory with form and sink set is one at its start. */
struct bt_frames {
	enum bt_frames_form form;
	struct bt_frames_sink sink;

	/* private */
	uint8_t state;
	uint8_t part;          /* enum bt_frame_part, of the value that is being read */
	uint8_t value_kind;    /* JSON: the first byte tells how the value ends */
	uint8_t role;          /* JSON: what the value is */
	bool is_items;         /* JSON: the member's name was that of the items */
	bool in_string;        /* JSON */
	bool escaped;          /* JSON */
	bool is_wanted;        /* the value is handed out */
	bool in_list;          /* protobuf: within the raw bytes of the envelope */
	uint32_t depth;        /* JSON: of the value */
	uint64_t left;         /* protobuf: bytes of the value that are missing */
	uint64_t list_left;    /* protobuf: bytes of the raw list that are missing */
	struct bt_strbuf held; /* what has come of the value, or of a header */
};

void bt_frames_init(
	struct bt_frames *frames, enum bt_frames_form form, const struct bt_frames_sink *sink);
void bt_frames_finish(struct bt_frames *frames);
/**
 * BERTH_ERR_TOO_LARGE: a part beyond BT_FRAME_BYTES_MAX. BERTH_ERR_SYNTAX. After a result other
 * than 0 nothing more may be fed.
 */
BT_MUST_USE int bt_frames_feed(
	struct bt_frames *frames, struct bt_str bytes, struct berth_error *err);
/** May the body end here? false: it was cut off. */
bool bt_frames_is_complete(const struct bt_frames *frames);
#endif

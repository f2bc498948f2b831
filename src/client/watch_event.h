/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_WATCH_EVENT_H
#define BT_CLIENT_WATCH_EVENT_H
/** Parses the parts of watches and lists (client/watch_frames.h). Spec: 13 sections 8.4, 9, 12. */
#include <stdbool.h>
#include <stdint.h>

#include "api/types.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/strbuf.h"

enum bt_watch_event_type {
	BT_WATCH_ADDED,
	BT_WATCH_MODIFIED,
	BT_WATCH_DELETED,
	BT_WATCH_BOOKMARK,
	BT_WATCH_ERROR,
};

/** Texts borrow the event's bytes, or are allocated in the arena. */
struct bt_watch_event {
	enum bt_watch_event_type type;
	/** JSON text, or protobuf bytes without the envelope. */
	struct bt_str object;
	struct bt_str kind; /* kind of the object, "" if not found */
};

/**
 * Parses an event of a watch. BERTH_ERR_SYNTAX, BERTH_ERR_INVALID: the event is malformed, or has
 * an unknown type.
 */
BT_MUST_USE int bt_watch_event_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_watch_event *out_event, struct berth_error *err);

/**
 * Decodes the object of an event, or another part, into out, which must be zeroed: the metadata of
 * a bookmark, the Status of an ERROR event.
 */
BT_MUST_USE int bt_watch_object_read(const struct bt_message *message, struct bt_str bytes,
	bool is_protobuf, struct bt_arena *arena, void *out, struct berth_error *err);

/** Reads resourceVersion and continue of a list's metadata. */
BT_MUST_USE int bt_list_meta_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_strbuf *out_version, struct bt_strbuf *out_continue, struct berth_error *err);
/** Reads a BT_FRAME_KIND: "PodList". */
BT_MUST_USE int bt_list_kind_read(struct bt_str bytes, bool is_protobuf, struct bt_arena *arena,
	struct bt_str *out_kind, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLIENT_WATCH_FRAMES_PRIVATE_H
#define BT_CLIENT_WATCH_FRAMES_PRIVATE_H
/** Shared by watch_frames*.c: the two syntaxes, and what they do with the bytes of a value. */
#include "client/watch_frames.h"

/** Take something off the front of the input, which is not empty. */
BT_MUST_USE int bt_frames_feed_json(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err);
BT_MUST_USE int bt_frames_feed_protobuf(
	struct bt_frames *frames, const char **at, const char *end, struct berth_error *err);
bool bt_frames_json_is_complete(const struct bt_frames *frames);
bool bt_frames_protobuf_is_complete(const struct bt_frames *frames);

/** Bytes of a value or header whose end has not come. */
BT_MUST_USE int bt_frames_hold(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err);
/** The last bytes of a value: it is handed out if it is wanted, and forgotten. */
BT_MUST_USE int bt_frames_give(
	struct bt_frames *frames, const char *bytes, size_t length, struct berth_error *err);
int bt_frames_too_large(struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WATCHERS_H
#define BT_SERVER_WATCHERS_H
/** Shared by the watches (watch.c) and their registry (watchers.c). */
#include "server/watch.h"

/** A watch in the registry. All-zero: not registered. */
struct bt_watch_link {
	struct bt_watch_link *next; /* in the list of the same collection */
	struct bt_watch_link **place;
	void (*wake)(void *context);
	void *wake_context;
	bool is_waiting; /* has read all visible changes */
	bool has_bookmarks;
	bool bookmark_is_due;
	bool end_is_due;
	int64_t next_bookmark_ns; /* of the loop's clock */
	int64_t end_ns;
};

/** timeout_seconds 0: a random time of half an hour to an hour. */
void bt_watchers_add(struct bt_watchers *watchers, struct bt_watch_link *link, uint32_t collection,
	int64_t now_ns, int64_t timeout_seconds, bool has_bookmarks);
/** Does nothing if the watch is not registered. */
void bt_watchers_remove(struct bt_watchers *watchers, struct bt_watch_link *link);
/** The last RV that watches may show. */
uint64_t bt_watchers_visible_rv(const struct bt_watchers *watchers);
/**
 * Keeps the protobuf envelope with which a create was answered, to reuse it for the ADDED event.
 */
void bt_watchers_keep_added(struct bt_watchers *watchers, const struct bt_encoder *encoder,
	const struct bt_stored *stored, struct bt_str envelope);
/** Like bt_encode_event, but caches costly encodings for other watches with the same encoding. */
void bt_watchers_encode(struct bt_watchers *watchers, struct bt_encoder *encoder,
	enum bt_event_type type, const struct bt_stored *stored, uint64_t rv,
	struct bt_strbuf *out);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WATCHERS_H
#define BT_SERVER_WATCHERS_H
/** What watches and their registry know of each other. */
#include "server/watch.h"

/** A watch as the registry sees it. All-zero: not registered. */
struct bt_watch_link {
	struct bt_watch_link *next; /* of the same collection */
	struct bt_watch_link **place;
	void (*wake)(void *context);
	void *wake_context;
	bool is_waiting; /* read everything there was */
	bool has_bookmarks;
	bool bookmark_is_due;
	bool end_is_due;
	int64_t next_bookmark_ns; /* of the loop's clock */
	int64_t end_ns;
};

/** timeout_seconds 0: half an hour to an hour. */
void bt_watchers_add(struct bt_watchers *watchers, struct bt_watch_link *link, uint32_t collection,
	int64_t now_ns, int64_t timeout_seconds, bool has_bookmarks);
/** Harmless when it is not registered. */
void bt_watchers_remove(struct bt_watchers *watchers, struct bt_watch_link *link);
/** Changes up to here may be seen. */
uint64_t bt_watchers_visible_rv(const struct bt_watchers *watchers);
/** The object was created and answered with this protobuf envelope: it is the event's as well. */
void bt_watchers_keep_added(struct bt_watchers *watchers, const struct bt_encoder *encoder,
	const struct bt_stored *stored, struct bt_str envelope);
/** bt_encode_event, remembering what is costly for other watches of the same encoding. */
void bt_watchers_encode(struct bt_watchers *watchers, struct bt_encoder *encoder,
	enum bt_event_type type, const struct bt_stored *stored, uint64_t rv,
	struct bt_strbuf *out);
#endif

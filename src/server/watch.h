/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WATCH_H
#define BT_SERVER_WATCH_H
/**
 * A watch is a cursor into the window of changes of its collection. Nothing is buffered, so a slow
 * client costs no memory; the client gets 410 when the window no longer has the changes that the
 * watch needs. Spec: 14 section 15, 13 sections 11 and 12.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nanoseconds.h"
#include "server/list.h"

/** The registry of all watches, and of waits for an RV. */
struct bt_watchers;

/** Creates a registry. api is borrowed. seed: for the random timeouts of watches. */
BT_MUST_USE struct bt_watchers *bt_watchers_create(struct bt_api *api, uint64_t seed);
/** All watches and waits must have ended. NULL accepted. */
void bt_watchers_destroy(struct bt_watchers *watchers);
uint32_t bt_watchers_count(const struct bt_watchers *watchers);
/**
 * Call once per turn of the loop, after bt_store_sync. Makes all commits until now visible to
 * watches, wakes the watches that have events to read, and ends the waits that are over. `now_ns`:
 * time of the loop's clock. Returns the latest time for the next call, which is `now_ns` if there
 * is more to do.
 */
int64_t bt_watchers_run(struct bt_watchers *watchers, int64_t now_ns);

/** A watch in the registry. All-zero: not registered. */
struct bt_watch_link {
	struct bt_watch_link *previous; /* in the list of the collection's watches */
	struct bt_watch_link *next;
	uint32_t collection;
	bool is_registered;
	void (*wake)(void *context);
	void *wake_context;
	bool is_waiting; /* has read all visible changes */
	bool has_bookmarks;
	bool bookmark_is_due;
	bool end_is_due;
	bool is_unserved; /* ends after the visible changes, because `resource` is gone */
	const struct bt_api_resource *resource; /* NULL: one that is always served */
	struct bt_encoder *encoder; /* for events that are encoded at the write; NULL: none */
	int64_t next_bookmark_ns;   /* by the loop's clock */
	int64_t end_ns;
};

/**
 * Registers a watch of the collection. `timeout_seconds`: lifetime of the watch; 0: a random time
 * between half an hour and an hour.
 */
void bt_watchers_add(struct bt_watchers *watchers, struct bt_watch_link *link, uint32_t collection,
	int64_t now_ns, int64_t timeout_seconds, bool has_bookmarks);
/** Does nothing if the watch is not registered. */
void bt_watchers_remove(struct bt_watchers *watchers, struct bt_watch_link *link);
/**
 * Returns the object in the encoder's encoding, borrowed until the next change, if its last write
 * has encoded it for watches; absent: encode it.
 */
BT_MUST_USE struct bt_str bt_watchers_find_envelope(struct bt_watchers *watchers,
	const struct bt_encoder *encoder, const struct bt_stored *stored);

struct bt_watch;

/**
 * Opens a watch. false: sets *out_failure. On success the caller must answer with 200 and the
 * stream {watch, bt_watch_read, bt_watch_finish}. After a read returned
 * BT_HTTP_STREAM_WAIT, the watch calls request->wake when reading can continue. request->deletion
 * is ignored. `now_ns`: time of the loop's clock.
 */
bool bt_watch_open(const struct bt_list_request *request, int64_t now_ns, struct bt_arena *arena,
	struct bt_watch **out_watch, struct bt_failure *out_failure);
/** --- struct bt_http_stream --- */
int64_t bt_watch_read(void *watch, char *buffer, size_t capacity);
void bt_watch_finish(void *watch);

/** --- waits --- */

struct bt_wait;

/**
 * Starts a wait: bt_watchers_run calls the callback `reached` once, when the store has this RV or
 * after timeout_ns. The wait is freed before that call.
 */
struct bt_wait *bt_watchers_await(struct bt_watchers *watchers, uint64_t rv, int64_t now_ns,
	int64_t timeout_ns, void (*reached)(void *context), void *context);
/** Frees a wait whose callback was not called. */
void bt_watchers_cancel(struct bt_wait *wait);
/** How long a list waits for an RV that the store has not reached. */
#define BT_FUTURE_RV_WAIT_NS (3 * BT_NS_PER_SECOND)
#endif

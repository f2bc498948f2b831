/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_WATCH_H
#define BT_SERVER_WATCH_H
/**
 * Watches. Each is a cursor into its collection's window of changes: nothing is buffered for it, so
 * a client that reads slowly costs nothing, and is told 410 when the window has moved on without
 * it. Spec: 14 section 15, 13 sections 11 and 12.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/nanoseconds.h"
#include "server/list.h"

/** All watches, and others who wait for something of the store. */
struct bt_watchers;

BT_MUST_USE struct bt_watchers *bt_watchers_create(struct bt_api *api, uint64_t seed);
/** All watches must have ended, and all waits. */
void bt_watchers_destroy(struct bt_watchers *watchers);
uint32_t bt_watchers_count(const struct bt_watchers *watchers);
/**
 * Once in each turn, after bt_store_sync: what was committed until now may be seen by watches from
 * here on. Wakes those who have something to read, and calls the waits that are over. now_ns: of
 * the loop's clock. Returns when to be called again at the latest (now: there is more to do).
 */
int64_t bt_watchers_run(struct bt_watchers *watchers, int64_t now_ns);

struct bt_watch;

/**
 * 0, or the code of *out_failure. request->deletion is not looked at. The answer is 200 and the
 * stream {watch, bt_watch_read, bt_watch_finish}; request->wake is called when a read that answered
 * BT_HTTP_STREAM_WAIT can go on. now_ns: of the loop's clock.
 */
uint16_t bt_watch_open(const struct bt_list_request *request, int64_t now_ns,
	struct bt_arena *arena, struct bt_watch **out_watch, struct bt_failure *out_failure);
/** --- struct bt_http_stream --- */
int64_t bt_watch_read(void *watch, char *buffer, size_t capacity);
void bt_watch_finish(void *watch);

/** --- waits --- */

struct bt_wait;

/** Call reached once, from bt_watchers_run: the store has this RV, or timeout_ns passed. The wait
 * is over then. */
struct bt_wait *bt_watchers_await(struct bt_watchers *watchers, uint64_t rv, int64_t now_ns,
	int64_t timeout_ns, void (*reached)(void *context), void *context);
void bt_watchers_cancel(struct bt_watchers *watchers, struct bt_wait *wait);
/** How long a list waits for an RV that did not come yet. */
#define BT_FUTURE_RV_WAIT_NS (3 * BT_NS_PER_SECOND)
#endif

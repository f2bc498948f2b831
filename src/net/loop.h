/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_LOOP_H
#define BT_NET_LOOP_H
/**
 * An event loop of one thread: descriptors, timers, signals, and workers at the end of each turn.
 * Times are of the monotonic clock, in nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct bt_loop;
struct bt_loop_source;

BT_MUST_USE int bt_loop_create(struct bt_loop **out_loop, struct berth_error *err);
/** Removes remaining sources. NULL accepted. */
void bt_loop_destroy(struct bt_loop *loop);
int64_t bt_loop_now_ns(const struct bt_loop *loop);

/** Calls `ready` when fd is readable (level triggered). The caller keeps ownership of fd. */
BT_MUST_USE int bt_loop_add_fd(struct bt_loop *loop, int fd, void (*ready)(void *context),
	void *context, struct bt_loop_source **out_source, struct berth_error *err);
enum {
	BT_LOOP_READABLE = 1,
	BT_LOOP_WRITABLE = 2,
	BT_LOOP_HANGUP = 4, /* the other end sends no more; reported together with READABLE */
};
/**
 * Like bt_loop_add_fd, but for any of the BT_LOOP_* directions (not 0): `ready` gets the requested
 * directions that fd is ready for. An error or a hangup in both directions is reported as all
 * requested directions.
 */
BT_MUST_USE int bt_loop_watch_fd(struct bt_loop *loop, int fd, uint32_t directions,
	void (*ready)(void *context, uint32_t directions), void *context,
	struct bt_loop_source **out_source, struct berth_error *err);
/** Changes the directions of a bt_loop_watch_fd source; 0: `ready` is not called for now. */
void bt_loop_set_directions(struct bt_loop_source *source, uint32_t directions);
/** Stops watching. Call it before the fd is closed; allowed within a callback. NULL accepted. */
void bt_loop_remove_fd(struct bt_loop *loop, struct bt_loop_source *source);
/**
 * Blocks the signals in the calling thread, and in threads that it creates later, and reports them
 * to `received`. The list `signals` ends with 0. Call it once per loop; bt_loop_destroy restores
 * the mask.
 */
BT_MUST_USE int bt_loop_on_signals(struct bt_loop *loop, const int *signals,
	void (*received)(void *context, int signal), void *context, struct berth_error *err);

/**
 * Adds a worker, which is called after the descriptors of each turn. The worker does what is due,
 * and returns the latest time of its next call (INT64_MAX: never; a past time: at once). Workers
 * are called in the order of addition.
 */
void bt_loop_add_worker(
	struct bt_loop *loop, int64_t (*work)(void *context, int64_t now_ns), void *context);
/** Makes the loop call the workers at when_ns or earlier, in the current or a later turn. */
void bt_loop_call_at(struct bt_loop *loop, int64_t when_ns);
/** Removes the first worker with this context. */
void bt_loop_remove_worker(struct bt_loop *loop, const void *context);

/** Runs until bt_loop_stop. */
BT_MUST_USE int bt_loop_run(struct bt_loop *loop, struct berth_error *err);
/**
 * Makes one turn that waits no longer than wait_ns. A worker may wait with nested turns; a nested
 * turn skips the workers that outer turns are calling.
 */
BT_MUST_USE int bt_loop_turn(struct bt_loop *loop, int64_t wait_ns, struct berth_error *err);
/** Makes bt_loop_run return at the end of this turn. */
void bt_loop_stop(struct bt_loop *loop);
/** Returns whether bt_loop_stop was called; a wait with bt_loop_turn must end then. */
bool bt_loop_is_stopping(const struct bt_loop *loop);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_NET_LOOP_H
#define BT_NET_LOOP_H
/**
 * One thread's event loop: descriptors, timers, signals, and work at the end of each turn. Times
 * are of the monotonic clock, in nanoseconds.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct bt_loop;
struct bt_loop_source;

BT_MUST_USE int bt_loop_create(struct bt_loop **out_loop, struct berth_error *err);
/** Sources that are left are removed. NULL accepted. */
void bt_loop_destroy(struct bt_loop *loop);
int64_t bt_loop_now_ns(const struct bt_loop *loop);

/** Call ready when fd is readable (level triggered). The fd stays the caller's. */
BT_MUST_USE int bt_loop_add_fd(struct bt_loop *loop, int fd, void (*ready)(void *context),
	void *context, struct bt_loop_source **out_source, struct berth_error *err);
enum {
	BT_LOOP_READABLE = 1,
	BT_LOOP_WRITABLE = 2,
	BT_LOOP_HANGUP = 4, /* the other end sends nothing more; told with READABLE as well */
};
/**
 * As add_fd for either direction: ready gets which of BT_LOOP_* hold; errors count as all that
 * was asked for.
 */
BT_MUST_USE int bt_loop_watch_fd(struct bt_loop *loop, int fd, uint32_t directions,
	void (*ready)(void *context, uint32_t directions), void *context,
	struct bt_loop_source **out_source, struct berth_error *err);
/** Other directions for a source of bt_loop_watch_fd; 0: none for now. */
void bt_loop_set_directions(struct bt_loop_source *source, uint32_t directions);
/** Call gone once, when the other end of the socket hangs up; data to read does not matter. */
BT_MUST_USE int bt_loop_add_hangup(struct bt_loop *loop, int fd, void (*gone)(void *context),
	void *context, struct bt_loop_source **out_source, struct berth_error *err);
/** Before the fd is closed; also from within a callback. NULL accepted. */
void bt_loop_remove_fd(struct bt_loop *loop, struct bt_loop_source *source);
/**
 * The signals are blocked for the process and reported here instead; 0 ends the list. Once per
 * loop.
 */
BT_MUST_USE int bt_loop_on_signals(struct bt_loop *loop, const int *signals,
	void (*received)(void *context, int signal), void *context, struct berth_error *err);

/**
 * After the descriptors of each turn: do what is due and say when to be called again at the latest
 * (INT64_MAX: never; a time that is past: at once). Called in the order of addition.
 */
void bt_loop_add_worker(
	struct bt_loop *loop, int64_t (*work)(void *context, int64_t now_ns), void *context);
/** This turn, or one to come: workers are called again at this time at the latest. */
void bt_loop_call_at(struct bt_loop *loop, int64_t when_ns);
/** The first worker with this context. */
void bt_loop_remove_worker(struct bt_loop *loop, const void *context);

/** Until bt_loop_stop. */
BT_MUST_USE int bt_loop_run(struct bt_loop *loop, struct berth_error *err);
/**
 * One turn that waits no longer than wait_ns. A worker may make turns itself, to wait for something
 * while everything else goes on: workers that are already at work are left out of them.
 */
BT_MUST_USE int bt_loop_turn(struct bt_loop *loop, int64_t wait_ns, struct berth_error *err);
/** bt_loop_run returns at the end of this turn. */
void bt_loop_stop(struct bt_loop *loop);
#endif

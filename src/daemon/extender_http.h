/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EXTENDER_HTTP_H
#define BT_DAEMON_EXTENDER_HTTP_H
/**
 * Sends the engine's requests to HTTP extenders. The engine waits for the answer; meanwhile the
 * loop turns, so that leases are renewed and endpoints answer. The caller of the engine must hold
 * changes of the cluster back until the call returns: they arrive in these turns. Spec: 11b section
 * 9.1.
 */
#include "net/loop.h"
#include "sched/extender.h"
#include "sched/extender_wire.h"

struct bt_extender_http;

struct bt_extender_http_options {
	struct bt_loop *loop;
	/** true: the wait ends, because the process stops. May be NULL. */
	bool (*is_stopping)(void *context);
	void *context;
	/**
	 * Access to the complete objects; functions NULL: extenders get the fields that the engine
	 * has.
	 */
	struct bt_extender_objects objects;
};

BT_MUST_USE struct bt_extender_http *bt_extender_http_create(
	const struct bt_extender_http_options *options);
/** Call it after the engines made with its factory are destroyed. NULL accepted. */
void bt_extender_http_destroy(struct bt_extender_http *extenders);
/**
 * The factory for bt_engine_options.extenders; borrowed. Creating an extender reads the files of
 * its tlsConfig and fails if they cannot be used.
 */
const struct bt_extender_factory *bt_extender_http_factory(struct bt_extender_http *extenders);
/** Write the log lines of spec 11b section 9; for bt_engine_options.extender_observer. */
extern const struct bt_extender_observer *const bt_extender_http_log_observer;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EXTENDER_HTTP_H
#define BT_DAEMON_EXTENDER_HTTP_H
/**
 * Carries the engine's questions to HTTP extenders. The engine waits for the answer; meanwhile the
 * loop turns, so that leases are renewed and endpoints answer. Whoever lets the engine work keeps
 * changes of the cluster from it until it is done: they arrive in these turns. Spec: 11b section
 * 9.1.
 */
#include "net/loop.h"
#include "sched/extender.h"
#include "sched/extender_wire.h"

struct bt_extender_http;

struct bt_extender_http_options {
	struct bt_loop *loop;
	/** The wait should end: the process stops. May be NULL. */
	bool (*is_stopping)(void *context);
	void *context;
	/** The complete objects; NULL functions: what the engine knows of them. */
	struct bt_extender_objects objects;
};

BT_MUST_USE struct bt_extender_http *bt_extender_http_create(
	const struct bt_extender_http_options *options);
/** Not before the engines made with its factory are gone. NULL accepted. */
void bt_extender_http_destroy(struct bt_extender_http *extenders);
/**
 * For bt_engine_options.extenders; borrowed. Creating an extender reads the files of its tlsConfig
 * and fails when they are unusable.
 */
const struct bt_extender_factory *bt_extender_http_factory(struct bt_extender_http *extenders);
/** Logs of spec 11b section 9; for bt_engine_options.extender_observer. */
extern const struct bt_extender_observer *const bt_extender_http_log_observer;
#endif

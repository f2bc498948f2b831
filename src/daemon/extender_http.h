/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EXTENDER_HTTP_H
#define BT_DAEMON_EXTENDER_HTTP_H
/**
 * Sends the engine's requests to HTTP extenders. While the engine waits for an answer, the loop
 * turns, so that leases are renewed and endpoints answer. Changes of the cluster arrive in these
 * turns, too; the caller of the engine must hold them back until its call returns. Spec: 11b
 * section 9.1.
 */
#include "net/loop.h"
#include "sched/extender.h"
#include "sched/extender_wire.h"

struct bt_extender_http;

struct bt_extender_http_options {
	struct bt_loop *loop;
	/**
	 * Returns false once the process stops or may have lost its lease: requests are then not
	 * sent, and waits for answers fail. NULL: always true.
	 */
	bool (*may_act)(void *context);
	void *context;
	/**
	 * Access to the complete objects. If its functions are NULL, extenders get the fields that
	 * the engine has.
	 */
	struct bt_extender_objects objects;
};

BT_MUST_USE struct bt_extender_http *bt_extender_http_create(
	const struct bt_extender_http_options *options);
/** Destroy `extenders` after all engines that use the factory are destroyed. NULL accepted. */
void bt_extender_http_destroy(struct bt_extender_http *extenders);
/**
 * Return the factory for bt_engine_options.extenders; borrowed. Creating an extender reads the
 * files of its tlsConfig and fails if they cannot be used.
 */
const struct bt_extender_factory *bt_extender_http_factory(struct bt_extender_http *extenders);
/** Writes the log lines of spec 11b section 9; for bt_engine_options.extender_observer. */
extern const struct bt_extender_observer *const bt_extender_http_log_observer;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EXTENDER_HTTP_H
#define BT_DAEMON_EXTENDER_HTTP_H
/**
 * Carries the engine's questions to HTTP extenders. The engine waits for the answer; meanwhile the
 * loop turns, so that leases are renewed and endpoints answer. Spec: 11b section 9.1.
 */
#include "framework/extender.h"
#include "net/http_client.h"

struct bt_extender_http;

struct bt_extender_http_options {
	struct bt_loop *loop;
	/** Around each wait: changes of the cluster must not reach the scheduler. May be NULL. */
	void (*hold)(void *context);
	void (*release)(void *context);
	/** The wait should end: the process stops. May be NULL. */
	bool (*is_stopping)(void *context);
	void *context;
	/** The complete objects of nodes and pods; NULL: what the engine knows of them. */
	struct bt_str (*find_node)(void *context, struct bt_str name, struct bt_arena *arena);
	struct bt_str (*find_pod)(void *context, struct bt_str namespace_, struct bt_str name,
		struct bt_arena *arena);
};

BT_MUST_USE struct bt_extender_http *bt_extender_http_create(
	const struct bt_extender_http_options *options);
void bt_extender_http_destroy(struct bt_extender_http *extenders);
/** For bt_engine_options.extenders; borrowed. */
const struct bt_extender_factory *bt_extender_http_factory(struct bt_extender_http *extenders);
/** Logs of spec 11b section 9; for bt_engine_options.extender_observer. */
extern const struct bt_extender_observer *const bt_extender_http_log_observer;
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ENDPOINTS_H
#define BT_DAEMON_ENDPOINTS_H
/**
 * The HTTPS endpoints of the daemon. Callers are authenticated and authorized with the help of the
 * API server, then answered. Spec: 11 section 9.
 */
#include "daemon/endpoints_options.h"

struct bt_endpoints;

/**
 * Bind the listener, and read the request-header configuration (spec 11 section 6.1, step 9). May
 * turn the loop to wait for the API server's answer. No request is answered before
 * bt_endpoints_serve. Must not be called with port 0. Errors have the texts of spec 11 section 4.3,
 * with the flag and the file that are wrong.
 */
BT_MUST_USE int bt_endpoints_create(const struct bt_endpoints_options *options,
	struct bt_endpoints **out_endpoints, struct berth_error *err);
void bt_endpoints_serve(struct bt_endpoints *endpoints);
/**
 * Stop listening, and turn the loop until open requests end, at most 5 s. Writes the log lines of
 * spec 11 section 6.3.
 */
void bt_endpoints_shut_down(struct bt_endpoints *endpoints);
void bt_endpoints_destroy(struct bt_endpoints *endpoints);
#endif

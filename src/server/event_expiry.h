/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_EVENT_EXPIRY_H
#define BT_SERVER_EVENT_EXPIRY_H
/** Events are deleted an hour after their last write. Spec: 14 section 10.8. */
#include <stdint.h>

#include "base/nanoseconds.h"
#include "server/api.h"

#define BT_EVENT_LIFETIME_NS (3600 * BT_NS_PER_SECOND)

struct bt_event_expiry;

/** Listens to the store from now on; events that exist already get a whole lifetime. */
BT_MUST_USE struct bt_event_expiry *bt_event_expiry_create(struct bt_api *api);
/** Before the API and its store. */
void bt_event_expiry_destroy(struct bt_event_expiry *expiry);
/** Delete what is due, a bounded amount of it. Returns when to be called again, in the cluster's
 * time; INT64_MAX: there are no events. */
int64_t bt_event_expiry_run(struct bt_event_expiry *expiry);
#endif

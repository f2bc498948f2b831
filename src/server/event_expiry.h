/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SERVER_EVENT_EXPIRY_H
#define BT_SERVER_EVENT_EXPIRY_H
/** Events are deleted some time after their last write. Spec: 14 section 10.8. */
#include <stdint.h>

#include "base/nanoseconds.h"
#include "server/api.h"

/** Default of kube-apiserver's --event-ttl. */
#define BT_EVENT_TTL_NS (3600 * BT_NS_PER_SECOND)

struct bt_event_expiry;

/**
 * Listens to the store from now on. ttl_ns: time from the last write of an Event to its deletion.
 * Events that already exist count as written now.
 */
BT_MUST_USE struct bt_event_expiry *bt_event_expiry_create(struct bt_api *api, int64_t ttl_ns);
/** Call this before the API and its store are destroyed. */
void bt_event_expiry_destroy(struct bt_event_expiry *expiry);
/**
 * Deletes a bounded number of expired Events. Returns the cluster time at which to call again;
 * INT64_MAX: there are no Events.
 */
int64_t bt_event_expiry_run(struct bt_event_expiry *expiry);
#endif

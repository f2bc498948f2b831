/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_SENDER_H
#define BT_DAEMON_EVENT_SENDER_H
/**
 * Carries events to the API server: one at a time in their order, at most 1000 waiting, retried
 * when no answer comes; core/v1 events where events.k8s.io/v1 is not served, and for leases. Spec:
 * 11b sections 8.2, 8.4, 8.5.
 */
#include "client/rest.h"
#include "daemon/event_recorder.h"

struct bt_event_sender;

struct bt_event_sender_options {
	struct bt_rest_client *client; /* with a limiter of its own */
	struct bt_loop *loop;
	struct bt_prng *prng;
	const char *host;      /* of reportingInstance */
	const char *component; /* schedulerName of the first profile */
};

BT_MUST_USE struct bt_event_sender *bt_event_sender_create(
	const struct bt_event_sender_options *options);
/** What waits is dropped. */
void bt_event_sender_destroy(struct bt_event_sender *sender);
/** Asks the server which events it serves; what is recorded meanwhile waits. */
void bt_event_sender_start(struct bt_event_sender *sender);
/** The recorder whose documents it carries; borrowed. It ticks by itself. */
struct bt_event_recorder *bt_event_sender_recorder(struct bt_event_sender *sender);
/** A core/v1 event on a Lease: Normal, LeaderElection. */
void bt_event_sender_lease_event(
	struct bt_event_sender *sender, const struct bt_object_meta *lease, struct bt_str message);
uint32_t bt_event_sender_waiting(const struct bt_event_sender *sender);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_EVENT_SENDER_H
#define BT_DAEMON_EVENT_SENDER_H
/**
 * Sends events to the API server, in order, one request at a time. At most 1000 events wait;
 * further events are dropped. An event without an answer is sent again. Events on leases
 * are core/v1 events; other events are core/v1 events if the server does not serve
 * events.k8s.io/v1. Spec: 11b sections 8.2, 8.4, 8.5.
 */
#include "client/rest.h"
#include "daemon/event_recorder.h"

struct bt_event_sender;

struct bt_event_sender_options {
	struct bt_rest_client *client; /* with its own limiter */
	struct bt_loop *loop;
	struct bt_prng *prng;
	const char *host;      /* copied; last part of reportingInstance */
	const char *component; /* copied; schedulerName of the first profile, for lease events */
};

BT_MUST_USE struct bt_event_sender *bt_event_sender_create(
	const struct bt_event_sender_options *options);
/** Destroy the sender and drop the waiting events. */
void bt_event_sender_destroy(struct bt_event_sender *sender);
/** Ask the server whether it serves events.k8s.io/v1. Events wait until the answer arrives. */
void bt_event_sender_start(struct bt_event_sender *sender);
/**
 * Return the recorder whose events this sender sends; borrowed. The sender calls
 * bt_event_recorder_tick.
 */
struct bt_event_recorder *bt_event_sender_recorder(struct bt_event_sender *sender);
/** Send a core/v1 event on a Lease: type Normal, reason LeaderElection. */
void bt_event_sender_lease_event(
	struct bt_event_sender *sender, const struct bt_object_meta *lease, struct bt_str message);
/** Return the number of events that were not sent successfully yet. */
uint32_t bt_event_sender_waiting(const struct bt_event_sender *sender);
#endif

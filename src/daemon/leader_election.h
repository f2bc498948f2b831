/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_LEADER_ELECTION_H
#define BT_DAEMON_LEADER_ELECTION_H
/**
 * Leader election on a Lease, coordinated or not: the requests, timers, metrics and events around
 * daemon/elector.h. Spec: 11 section 8, 13 section 14.5.
 *
 * An update of the Lease changes only its spec; the other members are sent as in the last answer.
 * Time is CLOCK_BOOTTIME, which continues while the machine is suspended.
 */
#include "base/prng.h"
#include "client/rest.h"
#include "config/config.h"
#include "config/versions.h"
#include "metrics/metrics.h"

struct bt_leader_election;

struct bt_leader_election_handler {
	void *context;
	void (*started)(void *context); /* this process leads */
	/**
	 * The election has ended: this process no longer leads, or bt_leader_election_stop ended
	 * the wait for the lease. The lease is released if that was possible. lost: the lease was
	 * not renewed in time.
	 */
	void (*stopped)(void *context, bool was_leading, bool lost);
	/** Report a core/v1 event on the Lease: "<identity> became leader". */
	void (*event)(void *context, const struct bt_object_meta *lease, struct bt_str message);
};

struct bt_leader_election_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_prng *prng;
	const struct bt_config_leader_election *config; /* borrowed */
	const char *identity;                           /* copied */
	bool coordinated;                               /* gate CoordinatedLeaderElection */
	bool streaming;                                 /* result of bt_daemon_streams_lists */
	const struct bt_versions *versions;             /* read if coordinated; borrowed */
	struct bt_metrics *metrics;
	struct bt_leader_election_handler handler;
	int64_t (*wall_now_ns)(void *context); /* for records; NULL: wall clock */
	void *wall_context;
};

/**
 * Create an election, which sends no request before bt_leader_election_start. Fails with
 * BERTH_ERR_INVALID and upstream's texts if a check of spec 11 sections 8.1, 8.2 fails.
 */
BT_MUST_USE int bt_leader_election_create(const struct bt_leader_election_options *options,
	struct bt_leader_election **out_election, struct berth_error *err);
/** Destroy the election. Must not be called within a function of the handler. */
void bt_leader_election_destroy(struct bt_leader_election *election);
void bt_leader_election_start(struct bt_leader_election *election);
/** Release the lease if this process holds it; then handler.stopped is called. */
void bt_leader_election_stop(struct bt_leader_election *election);
/**
 * Return whether this process may act as the leader now: it has the lease, and sent its last
 * successful renewal less than the renew deadline ago. Call it before each attempt and each
 * binding, so that a process that was suspended for long writes nothing. Upstream continues until
 * its next renewal fails.
 */
bool bt_leader_election_may_act(const struct bt_leader_election *election);
/** Append host name, "_" and a random UUID. */
BT_MUST_USE int bt_leader_election_make_identity(struct bt_strbuf *out, struct berth_error *err);

/**
 * Keeps this process's LeaseCandidate: created at the start, renewed every five minutes and when
 * the control plane requests it. Spec: 11 section 8.6.
 */
struct bt_lease_candidate;

/**
 * Create the candidate and start its requests. Uses the members client, loop, prng, identity
 * (borrowed: the name of the LeaseCandidate), streaming, versions and wall_now_ns.
 */
BT_MUST_USE struct bt_lease_candidate *bt_lease_candidate_create(
	const struct bt_leader_election_options *options);
/** Stop the renewals; the LeaseCandidate object stays in the API. NULL accepted. */
void bt_lease_candidate_destroy(struct bt_lease_candidate *candidate);
#endif

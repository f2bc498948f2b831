/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_LEASE_CANDIDATE_H
#define BT_DAEMON_LEASE_CANDIDATE_H
/**
 * Keeps this process's LeaseCandidate: created at the start, renewed every five minutes and when
 * the control plane requests it. Spec: 11 section 8.6.
 */
#include "base/prng.h"
#include "client/reflector.h"
#include "client/rest.h"

struct bt_lease_candidate;

struct bt_lease_candidate_options {
	struct bt_rest_client *client;
	struct bt_loop *loop;
	struct bt_prng *prng;
	/* All options are copied. */
	struct bt_str identity; /* name of the LeaseCandidate */
	struct bt_str binary_version;
	struct bt_str emulation_version;
	int64_t (*wall_now_ns)(void *context);
	void *wall_context;
};

/** Starts at once. */
BT_MUST_USE struct bt_lease_candidate *bt_lease_candidate_create(
	const struct bt_lease_candidate_options *options);
/** The candidate stays in the API. NULL accepted. */
void bt_lease_candidate_destroy(struct bt_lease_candidate *candidate);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ELECTOR_H
#define BT_DAEMON_ELECTOR_H
/**
 * Leader election as a state machine: times and answers go in, requests come out. Does no I/O and
 * reads no clock (daemon/leader_election.c does). Spec: 11 sections 8.3, 8.4 and 8.6.
 *
 * Three rules are stricter than upstream's. bt_elector_may_act counts from the moment when the last
 * successful renewal was sent, and turns false before any other candidate may take the lease.
 * Records are compared with all digits of their times, not in whole seconds. The lease is not
 * released if another candidate holds it.
 *
 * bt_elector_next -> perform the order -> bt_elector_answer -> bt_elector_next ...
 */
#include "base/prng.h"
#include "codec/json.h"

/**
 * The spec of a Lease: spec 11 section 8.1. Texts are borrowed. Times are microseconds since 1970;
 * 0: not set.
 */
struct bt_lease_record {
	struct bt_str holder; /* "": no holder */
	int64_t duration_seconds;
	int64_t acquire_us;
	int64_t renew_us;
	int64_t transitions;
	struct bt_str preferred_holder;
	struct bt_str strategy;
};

/**
 * Read the record of a Lease. A member that is missing or has the wrong type counts as zero. Texts
 * are borrowed from the tree.
 */
void bt_lease_record_read(const struct bt_json_value *lease, struct bt_lease_record *out_record);
/**
 * Write the spec of a Lease: strategy and preferredHolder unless empty, the other members always.
 * Texts are borrowed.
 */
BT_MUST_USE struct bt_json_value *bt_lease_record_write(
	const struct bt_lease_record *record, struct bt_arena *arena);

struct bt_elector_options {
	struct bt_str identity; /* borrowed for the elector's life, like all texts here */
	struct bt_str lock;     /* "namespace/name", for log lines */
	int64_t lease_duration_ns;
	int64_t renew_deadline_ns;
	int64_t retry_period_ns;
	bool coordinated; /* the control plane assigns the lease */
	struct bt_prng *prng;
};

/** steady_ns never jumps, and continues while the machine is suspended (CLOCK_BOOTTIME). */
struct bt_elector_time {
	int64_t steady_ns;
	int64_t wall_us;
};

enum bt_elector_action {
	BT_ELECTOR_WAIT,   /* wait until until_ns, or for an answer */
	BT_ELECTOR_GET,    /* GET the lease */
	BT_ELECTOR_CREATE, /* POST a lease with the order's record */
	BT_ELECTOR_UPDATE, /* PUT the lease of the last answer with the order's record */
	BT_ELECTOR_OVER,   /* no more requests */
};

enum bt_elector_transition {
	BT_ELECTOR_NO_TRANSITION,
	BT_ELECTOR_LEADS,
	BT_ELECTOR_LEFT, /* no longer leads; the lease is released next */
};

struct bt_elector_order {
	enum bt_elector_action action;
	bool abandon; /* before anything else, abandon the request in flight */
	enum bt_elector_transition transition;
	bool slow_path;                /* add 1 to leader_election_slowpath_total */
	struct bt_lease_record record; /* borrowed until the next call */
	int64_t until_ns;              /* steady time; INT64_MAX: wait for the answer only */
};

enum bt_elector_result {
	BT_ELECTOR_OK,
	BT_ELECTOR_NOT_FOUND,
	BT_ELECTOR_FAILED, /* also if the outcome is unknown */
};

enum bt_elector_phase {
	BT_ELECTOR_PHASE_IDLE,
	BT_ELECTOR_PHASE_ACQUIRE,
	BT_ELECTOR_PHASE_RENEW,
	BT_ELECTOR_PHASE_RELEASE,
	BT_ELECTOR_PHASE_OVER,
};

/** All fields are private except was_leading, lost and proposal. */
struct bt_elector {
	struct bt_elector_options options;
	enum bt_elector_phase phase;
	enum bt_elector_request {
		BT_ELECTOR_REQUEST_NONE,
		BT_ELECTOR_REQUEST_OPTIMISTIC,
		BT_ELECTOR_REQUEST_GET,
		BT_ELECTOR_REQUEST_CREATE,
		BT_ELECTOR_REQUEST_UPDATE,
		BT_ELECTOR_REQUEST_RELEASE_GET,
		BT_ELECTOR_REQUEST_RELEASE_UPDATE,
	} wanted,
		under_way;
	enum bt_elector_transition transition;
	bool slow_path;
	bool stopping;
	bool polling;        /* RENEW: trying until deadline_ns */
	bool was_leading;    /* this process led when the election ended */
	bool lost;           /* the lease was not renewed in time */
	int64_t try_ns;      /* when the next try starts */
	int64_t started_ns;  /* when the current try started */
	int64_t deadline_ns; /* when RENEW (while polling) or RELEASE ends */
	int64_t sent_ns;     /* when the request in flight was sent */
	int64_t renewed_ns;  /* when the last PUT or POST that succeeded was sent */
	int64_t observed_ns; /* when `observed` was set; T in the spec */
	bool has_fetched;    /* `fetched` is set */
	struct bt_arena observed_arena;
	struct bt_arena fetched_arena;
	/**
	 * The newer of two records: the last one that this process wrote, and the last one read
	 * that differed from the record read before it; O in the spec.
	 */
	struct bt_lease_record observed;
	struct bt_lease_record fetched;  /* the last record read; J in the spec */
	struct bt_lease_record proposal; /* the record to write; R in the spec */
};

void bt_elector_init(struct bt_elector *elector, const struct bt_elector_options *options);
void bt_elector_finish(struct bt_elector *elector);
/** Start to acquire the lease. Call it once. */
void bt_elector_start(struct bt_elector *elector);
/**
 * Stop the election. If this process holds the lease, bt_elector_next then returns the requests
 * that release the lease.
 */
void bt_elector_stop(struct bt_elector *elector);
/**
 * Return the next order. A request in the order counts as in flight until it is answered or
 * abandoned.
 */
void bt_elector_next(struct bt_elector *elector, const struct bt_elector_time *now,
	struct bt_elector_order *out_order);
/**
 * Report how the request in flight ended. record: with BT_ELECTOR_OK, the record in the answer to a
 * GET; otherwise not read. error: text of the failure, unless BT_ELECTOR_OK.
 */
void bt_elector_answer(struct bt_elector *elector, enum bt_elector_result result,
	const struct bt_lease_record *record, const char *error, const struct bt_elector_time *now);
/**
 * Return whether this process leads and no other candidate may take the lease yet: see the comment
 * at the top of this file.
 */
bool bt_elector_may_act(const struct bt_elector *elector, int64_t steady_ns);

#endif

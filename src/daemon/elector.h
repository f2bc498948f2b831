/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_ELECTOR_H
#define BT_DAEMON_ELECTOR_H
/**
 * Leader election as a state machine: times and answers go in, requests come out. Does no I/O and
 * reads no clock (daemon/leader_election.c does). Spec: 11 sections 8.3, 8.4 and 8.6.
 *
 * Stricter than upstream, never laxer:
 * - bt_elector_may_act counts from the moment the last successful renewal was sent, and ends before
 *   any other candidate may take the lease;
 * - records are compared with all digits of their times, not whole seconds;
 * - a lease that somebody else holds by now is not released.
 *
 *     bt_elector_next -> perform the order -> bt_elector_answer -> bt_elector_next ...
 */
#include "base/prng.h"
#include "codec/json.h"

/**
 * The holder in the spec of a Lease: spec 11 section 8.1. Texts are borrowed. Times: microseconds
 * since 1970, 0: none.
 */
struct bt_lease_record {
	struct bt_str holder; /* "": none */
	int64_t duration_seconds;
	int64_t acquire_us;
	int64_t renew_us;
	int64_t transitions;
	struct bt_str preferred_holder;
	struct bt_str strategy;
};

/** Of a Lease as a tree. What is missing or of another type counts as zero. Texts borrow it. */
void bt_lease_record_read(const struct bt_json_value *lease, struct bt_lease_record *out_record);
/** The spec as it is written: five members always, the others unless empty. Texts are borrowed. */
BT_MUST_USE struct bt_json_value *bt_lease_record_write(
	const struct bt_lease_record *record, struct bt_arena *arena);

struct bt_elector_options {
	struct bt_str identity; /* borrowed for the elector's life, as is all else */
	struct bt_str lock;     /* "namespace/name": in log lines */
	int64_t lease_duration_ns;
	int64_t renew_deadline_ns;
	int64_t retry_period_ns;
	bool coordinated; /* the control plane assigns the lease */
	struct bt_prng *prng;
};

/** steady_ns never jumps and goes on while the machine sleeps (CLOCK_BOOTTIME). */
struct bt_elector_time {
	int64_t steady_ns;
	int64_t wall_us;
};

enum bt_elector_want {
	BT_ELECTOR_WAIT,   /* until_ns, or an answer */
	BT_ELECTOR_GET,    /* the lease */
	BT_ELECTOR_CREATE, /* POST a lease with this record */
	BT_ELECTOR_UPDATE, /* PUT the lease of the last answer with this record */
	BT_ELECTOR_OVER,   /* nothing more is to be done */
};

enum bt_elector_news {
	BT_ELECTOR_NO_NEWS,
	BT_ELECTOR_LEADS,
	BT_ELECTOR_LEFT, /* leads no more; the lease is released next */
};

struct bt_elector_order {
	enum bt_elector_want want;
	bool abandon; /* first: the request under way is not waited for any more */
	enum bt_elector_news news;
	bool slow_path;                /* count it */
	struct bt_lease_record record; /* borrowed until the next call */
	int64_t until_ns;              /* steady; INT64_MAX: only an answer */
};

enum bt_elector_result {
	BT_ELECTOR_OK,
	BT_ELECTOR_NOT_FOUND,
	BT_ELECTOR_FAILED, /* also when it is not known what happened */
};

enum bt_elector_phase {
	BT_ELECTOR_PHASE_IDLE,
	BT_ELECTOR_PHASE_ACQUIRE,
	BT_ELECTOR_PHASE_RENEW,
	BT_ELECTOR_PHASE_RELEASE,
	BT_ELECTOR_PHASE_OVER,
};

/** Private but for is_leading, was_leading and lost. */
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
	enum bt_elector_news news;
	bool slow_path;
	bool stopping;
	bool polling;        /* RENEW: trying until deadline_ns */
	bool was_leading;    /* in the end */
	bool lost;           /* not renewed in time */
	int64_t try_ns;      /* the next try */
	int64_t started_ns;  /* of this try */
	int64_t deadline_ns; /* RENEW, RELEASE */
	int64_t sent_ns;     /* the request under way */
	int64_t renewed_ns;  /* sending of the last PUT or POST that succeeded */
	int64_t observed_ns; /* T */
	bool has_fetched;    /* fetched is set */
	struct bt_arena observed_arena;
	struct bt_arena fetched_arena;
	struct bt_lease_record observed; /* O */
	struct bt_lease_record fetched;  /* J: what was read last */
	struct bt_lease_record proposal; /* R */
};

void bt_elector_init(struct bt_elector *elector, const struct bt_elector_options *options);
void bt_elector_finish(struct bt_elector *elector);
/** Begin to acquire. Once. */
void bt_elector_start(struct bt_elector *elector);
/** Give up, or release the lease: bt_elector_next tells how. */
void bt_elector_stop(struct bt_elector *elector);
/** What is to be done now. A request that it returns is under way until answered or abandoned. */
void bt_elector_next(struct bt_elector *elector, const struct bt_elector_time *now,
	struct bt_elector_order *out_order);
/**
 * How the request ended. record: of the lease in the answer, with BT_ELECTOR_OK; of a PUT or POST
 * the one that was asked for. error: text, unless OK.
 */
void bt_elector_answer(struct bt_elector *elector, enum bt_elector_result result,
	const struct bt_lease_record *record, const char *error, const struct bt_elector_time *now);
bool bt_elector_may_act(const struct bt_elector *elector, int64_t steady_ns);
bool bt_elector_is_leading(const struct bt_elector *elector);

#endif

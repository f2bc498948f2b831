/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_REVIEW_H
#define BT_DAEMON_REVIEW_H
/**
 * Questions to the API server about callers (TokenReview, SubjectAccessReview): asked again when
 * that makes sense, given up after ten seconds, and their answers remembered. Equal questions that
 * come while one is under way wait for its answer. Spec: 11 sections 9.2, 9.3.
 *
 * Questions are remembered by a keyed hash only, so that no token stays in memory.
 */
#include "client/rest.h"
#include "metrics/metrics.h"

/* Spec: 11 section 10.6. */
extern const struct bt_metric_description bt_authentication_attempts;  /* {result} */
extern const struct bt_metric_description bt_authentication_duration;  /* {result} */
extern const struct bt_metric_description bt_authenticated_requests;   /* {username} */
extern const struct bt_metric_description bt_authorization_attempts;   /* {result} */
extern const struct bt_metric_description bt_authorization_duration;   /* {result} */
extern const struct bt_metric_description bt_delegated_authn_total;    /* {code} */
extern const struct bt_metric_description bt_delegated_authn_duration; /* {code} */
extern const struct bt_metric_description bt_delegated_authz_total;    /* {code} */
extern const struct bt_metric_description bt_delegated_authz_duration; /* {code} */

/** Remembered answers at most, and questions under way. */
#define BT_REVIEW_ANSWERS_MAX 1024
#define BT_REVIEWS_UNDER_WAY_MAX 256

struct bt_reviewer;
struct bt_review;

struct bt_reviewer_options {
	struct bt_loop *loop;
	struct bt_rest_client *client;
	const char *api_version; /* "authentication.k8s.io/v1" */
	const char *kind;        /* "TokenReview" */
	const char *resource;    /* "tokenreviews" */
	/** How long an answer is remembered; 0: not at all. */
	int64_t (*ttl_ns)(void *context, const struct bt_json_value *status);
	void *context;
	/** Of requests, by {code}; NULL: none. */
	struct bt_metric *request_count;
	struct bt_metric *request_seconds;
};

/** Fails when there are no random numbers. */
BT_MUST_USE int bt_reviewer_create(const struct bt_reviewer_options *options,
	struct bt_reviewer **out_reviewer, struct berth_error *err);
/** Waiters hear nothing any more. NULL accepted. */
void bt_reviewer_destroy(struct bt_reviewer *reviewer);

/** Who waits for an answer; the caller's memory, until done or bt_review_leave. */
struct bt_review_waiter {
	void *context;
	/** status: borrowed for the call; NULL when there is none, then error says why. */
	void (*done)(void *context, const struct bt_json_value *status, const char *error);
	struct bt_review *review; /* NULL: does not wait */
	struct bt_review_waiter *previous;
	struct bt_review_waiter *next; /* bt_review.waiters */
};

/**
 * spec: borrowed for the call, and what makes questions equal. done may be called at once: a
 * remembered answer, or too many questions.
 */
void bt_review_ask(struct bt_reviewer *reviewer, const struct bt_json_value *spec,
	struct bt_arena *arena, struct bt_review_waiter *waiter);
/** No callback comes any more. Harmless when it does not wait. */
void bt_review_leave(struct bt_review_waiter *waiter);
/** Answers that are remembered, and questions under way. */
uint32_t bt_reviewer_count(const struct bt_reviewer *reviewer);

#endif

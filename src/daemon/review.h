/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_DAEMON_REVIEW_H
#define BT_DAEMON_REVIEW_H
/**
 * Reviews of callers by the API server (TokenReview, SubjectAccessReview). A request is retried
 * after temporary errors and abandoned after ten seconds. Answers are cached; equal reviews share
 * one request while it is in flight. Spec: 11 sections 9.2, 9.3.
 *
 * The key of a cached answer is a keyed hash of the review's spec, so that no token stays in
 * memory.
 */
#include "client/rest.h"
#include "metrics/metrics.h"

/** Maximum number of reviews (cached or in flight), and maximum number of reviews in flight. */
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
	/** Returns how long an answer with this status is cached, in ns; 0: not at all. */
	int64_t (*ttl_ns)(void *context, const struct bt_json_value *status);
	void *context;
	/** Metrics of requests, with label code; NULL: no metrics. */
	struct bt_metric *request_count;
	struct bt_metric *request_seconds;
};

/** Create a reviewer. Fails if the system has no random numbers. */
BT_MUST_USE int bt_reviewer_create(const struct bt_reviewer_options *options,
	struct bt_reviewer **out_reviewer, struct berth_error *err);
/** Destroy the reviewer, without calling its waiters' `done`. NULL accepted. */
void bt_reviewer_destroy(struct bt_reviewer *reviewer);

/** Waits for the answer to a review. Must live until `done` or bt_review_cancel is called. */
struct bt_review_waiter {
	void *context;
	/** status: borrowed for the call; NULL: the review failed, and error has the reason. */
	void (*done)(void *context, const struct bt_json_value *status, const char *error);
	struct bt_review *review; /* NULL: the waiter does not wait */
	struct bt_review_waiter *previous;
	struct bt_review_waiter *next; /* in bt_review.waiters */
};

/**
 * Request a review. spec: borrowed for the call; reviews with equal specs share an answer. arena:
 * for the request's document. If the answer is cached or too many reviews are in flight, `done` is
 * called before this function returns.
 */
void bt_review_request(struct bt_reviewer *reviewer, const struct bt_json_value *spec,
	struct bt_arena *arena, struct bt_review_waiter *waiter);
/** Cancel: `done` is not called any more. No effect if the waiter does not wait. */
void bt_review_cancel(struct bt_review_waiter *waiter);
/** Return the number of cached answers and reviews in flight. */
uint32_t bt_reviewer_count(const struct bt_reviewer *reviewer);

#endif

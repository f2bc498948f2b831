/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/review.h"

#include <gnutls/crypto.h>
#include <gnutls/gnutls.h>

#include "base/alloc.h"
#include "base/compiler.h"
#include "base/links.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "base/vec.h"
#include "codec/json_edit.h"

#define TIMEOUT_NS (10 * BT_NS_PER_SECOND)
#define ATTEMPTS_MAX 5
#define FIRST_DELAY_NS (500 * BT_NS_PER_MS)
#define DIGEST_BYTES 32
/* A larger status is passed to the waiters, but not cached. */
#define KEPT_BYTES_MAX 16384

/** A review: in flight (answered is false) or cached. */
struct bt_review {
	struct bt_reviewer *reviewer;
	uint32_t index; /* in bt_reviewer.reviews */
	unsigned char digest[DIGEST_BYTES];
	struct bt_review_waiter *waiters;

	bool answered;
	int64_t expires_ns;
	struct bt_arena arena; /* of status */
	struct bt_json_value *status;

	struct bt_rest_call *call; /* NULL: no attempt is in flight */
	struct bt_strbuf body;     /* wiped when the review ends */
	struct bt_str content_type;
	uint32_t attempts;
	int64_t delay_ns;    /* pause before the next attempt, without jitter */
	int64_t retry_ns;    /* when the next attempt starts, loop time */
	int64_t deadline_ns; /* when the review is abandoned */
	int64_t attempt_ns;  /* when the last attempt started */
};

struct bt_reviewer {
	struct bt_reviewer_options options;
	struct bt_strbuf path;
	unsigned char secret[DIGEST_BYTES];
	struct bt_prng prng;
	BT_VEC(struct bt_review *) reviews;
	uint32_t under_way;
};

static void free_review(struct bt_review *review)
{
	if (review->call != NULL) {
		bt_rest_cancel(review->call);
	}
	bt_strbuf_finish_wiped(&review->body);
	bt_arena_finish(&review->arena);
	bt_free(review);
}

static void remove_review(struct bt_review *review)
{
	struct bt_reviewer *reviewer = review->reviewer;
	uint32_t index = review->index;
	bt_vec_remove_swap(&reviewer->reviews, index);
	if (index < reviewer->reviews.count) {
		reviewer->reviews.items[index]->index = index;
	}
	free_review(review);
}

static void wait_for(struct bt_review *review, struct bt_review_waiter *waiter)
{
	waiter->review = review;
	BT_CHAIN_ADD(review->waiters, waiter, previous, next);
}

void bt_review_cancel(struct bt_review_waiter *waiter)
{
	if (waiter->review == NULL) {
		return;
	}
	BT_CHAIN_REMOVE(waiter->review->waiters, waiter, previous, next);
	waiter->review = NULL;
}

/** End the review: call its waiters, and cache the status (NULL: no answer) for its TTL. */
static void finish(struct bt_review *review, struct bt_json_value *status, const char *error)
{
	struct bt_reviewer *reviewer = review->reviewer;
	int64_t now_ns = bt_loop_now_ns(reviewer->options.loop);
	int64_t ttl_ns = 0;
	if (status != NULL) {
		ttl_ns = reviewer->options.ttl_ns(reviewer->options.context, status);
	}
	review->answered = true;
	review->status = status;
	review->expires_ns = INT64_MAX; /* must not expire while the waiters are called */
	reviewer->under_way--;
	bt_strbuf_finish_wiped(&review->body);
	while (review->waiters != NULL) {
		struct bt_review_waiter *waiter = review->waiters;
		bt_review_cancel(waiter);
		waiter->done(waiter->context, status, error);
	}
	if (ttl_ns <= 0 || review->arena.total_bytes > KEPT_BYTES_MAX) {
		remove_review(review);
	} else if (BT_ADD_OVERFLOW(now_ns, ttl_ns, &review->expires_ns)) {
		review->expires_ns = INT64_MAX;
	}
}

static void on_answer(void *context, struct bt_rest_call *call, const struct bt_rest_answer *answer)
{
	struct bt_review *review = context;
	struct bt_json_value *document = NULL;
	struct berth_error err = BERTH_ERROR_INIT;
	(void)call; /* the call ends when this handler returns */
	review->call = NULL;
	const struct bt_reviewer_options *options = &review->reviewer->options;
	struct bt_strbuf code = {0};
	int64_t took_ns = bt_loop_now_ns(options->loop) - review->attempt_ns;
	if (answer->code != 0) {
		bt_strbuf_printf(&code, "%u", (unsigned int)answer->code);
	} else {
		bt_strbuf_append_c(&code, "<error>");
	}
	struct bt_str label = bt_strbuf_str(&code);
	if (options->request_count != NULL) {
		bt_metric_add(bt_metric_cell(options->request_count, &label), 1);
	}
	if (options->request_seconds != NULL) {
		bt_metric_observe(bt_metric_cell(options->request_seconds, &label),
			(double)took_ns / (double)BT_NS_PER_SECOND);
	}
	bt_strbuf_finish(&code);
	bool is_retryable = answer->class_ == BT_REST_TRANSPORT
		? answer->failure == BT_HTTP_FAILURE_RESET ||
			answer->failure == BT_HTTP_FAILURE_TIMEOUT
		: answer->class_ == BT_REST_TOO_MANY_REQUESTS ||
			answer->class_ == BT_REST_INTERNAL_ERROR ||
			answer->class_ == BT_REST_SERVER_TIMEOUT ||
			answer->class_ == BT_REST_TIMEOUT;
	if (is_retryable && review->attempts < ATTEMPTS_MAX) {
		struct bt_reviewer *reviewer = review->reviewer;
		/* Make the pause up to 20 percent longer, at random. */
		int64_t jitter_ns =
			(int64_t)bt_prng_below(&reviewer->prng, (uint64_t)review->delay_ns / 5 + 1);
		review->retry_ns =
			bt_loop_now_ns(reviewer->options.loop) + review->delay_ns + jitter_ns;
		review->delay_ns += review->delay_ns / 2;
		bt_loop_call_at(reviewer->options.loop, review->retry_ns);
		return;
	}
	int result = bt_rest_answer_error(answer, &err);
	if (result == 0) {
		result = bt_rest_decode_body(answer, &review->arena, &document, &err);
	}
	if (result != 0) {
		finish(review, NULL, berth_error_message(&err));
		berth_error_finish(&err);
		return;
	}
	/* Copy the status, because its texts borrow from the answer. */
	const struct bt_json_value *status = bt_json_object_at(document, "status");
	finish(review, bt_json_clone(&review->arena, status, true), NULL);
}

static void start(struct bt_review *review)
{
	const struct bt_reviewer_options *options = &review->reviewer->options;
	struct bt_rest_request request = {
		.method = "POST",
		.path = bt_strbuf_str(&review->reviewer->path),
		.resource = bt_str_from(options->resource),
		.content_type = review->content_type,
		.body = bt_strbuf_str(&review->body),
		.handler = {.context = review, .done = on_answer},
	};
	review->attempts++;
	review->retry_ns = INT64_MAX;
	review->attempt_ns = bt_loop_now_ns(options->loop);
	review->call = bt_rest_start(options->client, &request);
}

static int64_t run_due_reviews(void *context, int64_t now_ns)
{
	struct bt_reviewer *reviewer = context;
	int64_t due_ns = INT64_MAX;
	if (reviewer->under_way == 0) {
		return due_ns;
	}
	for (uint32_t i = reviewer->reviews.count; i > 0; i--) {
		struct bt_review *review = reviewer->reviews.items[i - 1];
		if (review->answered) {
			continue;
		}
		if (review->deadline_ns <= now_ns) {
			if (review->call != NULL) {
				bt_rest_cancel(review->call);
				review->call = NULL;
			}
			finish(review, NULL, "context deadline exceeded");
			return now_ns; /* the waiters may have changed `reviews`: start again */
		}
		if (review->call == NULL && review->retry_ns <= now_ns) {
			start(review);
		}
		due_ns = BT_MIN(review->deadline_ns, due_ns);
		due_ns = BT_MIN(review->retry_ns, due_ns);
	}
	return due_ns;
}

void bt_review_request(struct bt_reviewer *reviewer, const struct bt_json_value *spec,
	struct bt_arena *arena, struct bt_review_waiter *waiter)
{
	struct bt_strbuf text = {0};
	unsigned char digest[DIGEST_BYTES];
	int64_t now_ns = bt_loop_now_ns(reviewer->options.loop);
	bt_json_format(spec, &text);
	int code = gnutls_hmac_fast(GNUTLS_MAC_SHA256, reviewer->secret, sizeof(reviewer->secret),
		text.data, text.length, digest);
	bt_strbuf_finish_wiped(&text);
	BT_ASSERT(code == 0); /* a known algorithm */
	struct bt_review *review = NULL;
	for (uint32_t i = 0; i < reviewer->reviews.count && review == NULL; i++) {
		struct bt_review *known = reviewer->reviews.items[i];
		review = gnutls_memcmp(known->digest, digest, DIGEST_BYTES) == 0 ? known : NULL;
	}
	if (review != NULL && review->answered && review->expires_ns <= now_ns) {
		remove_review(review);
		review = NULL;
	}
	if (review != NULL && review->answered) {
		waiter->done(waiter->context, review->status, NULL);
		return;
	}
	if (review != NULL) {
		wait_for(review, waiter);
		return;
	}
	if (reviewer->under_way >= BT_REVIEWS_UNDER_WAY_MAX) {
		waiter->done(waiter->context, NULL, "too many reviews are under way");
		return;
	}
	if (reviewer->reviews.count >= BT_REVIEW_ANSWERS_MAX) {
		/*
		 * Forget expired answers; if `reviews` is still full, also the answer that expires
		 * first.
		 */
		struct bt_review *oldest = NULL;
		for (uint32_t i = reviewer->reviews.count; i > 0; i--) {
			struct bt_review *known = reviewer->reviews.items[i - 1];
			if (known->answered && known->expires_ns <= now_ns) {
				remove_review(known);
			} else if (known->answered &&
				(oldest == NULL || known->expires_ns <= oldest->expires_ns)) {
				oldest = known;
			}
		}
		if (reviewer->reviews.count >= BT_REVIEW_ANSWERS_MAX && oldest != NULL) {
			remove_review(oldest);
		}
	}
	review = BT_NEW(struct bt_review);
	review->reviewer = reviewer;
	review->index = reviewer->reviews.count;
	memcpy(review->digest, digest, DIGEST_BYTES);
	bt_arena_init(&review->arena, 512);
	bt_vec_push(&reviewer->reviews, review);
	const struct bt_json_value *document =
		bt_json_put(arena, NULL, "{kind: %c, apiVersion: %c, metadata: {}, spec: %t}",
			reviewer->options.kind, reviewer->options.api_version, spec);
	review->content_type =
		bt_rest_encode_body(reviewer->options.client, document, &review->body);
	review->delay_ns = FIRST_DELAY_NS;
	review->deadline_ns = bt_loop_now_ns(reviewer->options.loop) + TIMEOUT_NS;
	reviewer->under_way++;
	wait_for(review, waiter);
	bt_loop_call_at(reviewer->options.loop, review->deadline_ns);
	start(review);
}

uint32_t bt_reviewer_count(const struct bt_reviewer *reviewer)
{
	return reviewer->reviews.count;
}

int bt_reviewer_create(const struct bt_reviewer_options *options, struct bt_reviewer **out_reviewer,
	struct berth_error *err)
{
	struct bt_reviewer *reviewer = BT_NEW(struct bt_reviewer);
	uint64_t seed = 0;
	int code = gnutls_rnd(GNUTLS_RND_KEY, reviewer->secret, sizeof(reviewer->secret));
	code = code != 0 ? code : gnutls_rnd(GNUTLS_RND_NONCE, &seed, sizeof(seed));
	if (code != 0) {
		bt_free(reviewer);
		return bt_error_set(
			err, BERTH_ERR_INTERNAL, "getting random bytes: %s", gnutls_strerror(code));
	}
	reviewer->options = *options;
	bt_prng_init(&reviewer->prng, seed);
	bt_strbuf_printf(&reviewer->path, "/apis/%s/%s", options->api_version, options->resource);
	bt_loop_add_worker(options->loop, run_due_reviews, reviewer);
	*out_reviewer = reviewer;
	return 0;
}

void bt_reviewer_destroy(struct bt_reviewer *reviewer)
{
	if (reviewer == NULL) {
		return;
	}
	bt_loop_remove_worker(reviewer->options.loop, reviewer);
	for (uint32_t i = 0; i < reviewer->reviews.count; i++) {
		while (reviewer->reviews.items[i]->waiters != NULL) {
			bt_review_cancel(reviewer->reviews.items[i]->waiters);
		}
		free_review(reviewer->reviews.items[i]);
	}
	bt_vec_finish(&reviewer->reviews);
	bt_strbuf_finish(&reviewer->path);
	gnutls_memset(reviewer->secret, 0, sizeof(reviewer->secret));
	bt_free(reviewer);
}

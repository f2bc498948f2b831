/* SPDX-License-Identifier: Apache-2.0 */
#include "daemon/review.h"

#include "base/nanoseconds.h"
#include "codec/json_edit.h"
#include "endpoints_world.h"
#include "test_main.h"

struct question {
	struct bt_review_waiter waiter;
	bool is_done;
	bool is_known;
	char error[128];
};

static void on_done(void *context, const struct bt_json_value *status, const char *error)
{
	struct question *question = context;
	question->is_done = true;
	question->is_known = status != NULL && bt_json_bool_at(status, "authenticated", false);
	(void)snprintf(question->error, sizeof(question->error), "%s", error != NULL ? error : "");
}

static int64_t remembered_ns;

static int64_t ttl_ns(void *context, const struct bt_json_value *status)
{
	(void)context;
	(void)status;
	return remembered_ns;
}

static struct bt_reviewer *make_reviewer(struct endpoints_world *world)
{
	struct bt_reviewer *reviewer = NULL;
	struct bt_reviewer_options options = {
		.loop = world->loop,
		.client = world->client,
		.api_version = "authentication.k8s.io/v1",
		.kind = "TokenReview",
		.resource = "tokenreviews",
		.ttl_ns = ttl_ns,
	};
	ck_assert_int_eq(bt_reviewer_create(&options, &reviewer, NULL), 0);
	return reviewer;
}

static void ask(struct bt_reviewer *reviewer, const char *token, struct question *question)
{
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	*question = (struct question){.waiter = {.context = question, .done = on_done}};
	struct bt_json_value *spec = bt_json_new(&arena, BT_JSON_OBJECT);
	bt_json_set_c(&arena, spec, "token", token);
	bt_review_request(reviewer, spec, &arena, &question->waiter);
	bt_arena_finish(&arena);
}

static void ask_and_wait(struct endpoints_world *world, struct bt_reviewer *reviewer,
	const char *token, struct question *question)
{
	int64_t end_ns = bt_loop_now_ns(world->loop) + 10 * BT_NS_PER_SECOND;
	ask(reviewer, token, question);
	while (!question->is_done) {
		endpoints_world_turn(world);
		ck_assert_int_lt(bt_loop_now_ns(world->loop), end_ns);
	}
}

START_TEST(test_review__answers_are_remembered_for_their_time)
{
	struct endpoints_world world;
	struct question question;
	endpoints_world_init(&world);
	struct bt_reviewer *reviewer = make_reviewer(&world);
	remembered_ns = 0;
	ask_and_wait(&world, reviewer, "good", &question);
	ck_assert(question.is_known);
	ck_assert_uint_eq(bt_reviewer_count(reviewer), 0);
	remembered_ns = 200 * BT_NS_PER_MS;
	ask_and_wait(&world, reviewer, "good", &question);
	ask(reviewer, "good", &question);
	ck_assert(question.is_done && question.is_known);
	ck_assert_uint_eq(world.server.request_count, 2);
	int64_t end_ns = bt_loop_now_ns(world.loop) + remembered_ns;
	while (bt_loop_now_ns(world.loop) <= end_ns) {
		endpoints_world_turn(&world);
	}
	ask_and_wait(&world, reviewer, "good", &question);
	ck_assert_uint_eq(world.server.request_count, 3);
	/* a negative answer is cached, too */
	ask_and_wait(&world, reviewer, "bad", &question);
	ask(reviewer, "bad", &question);
	ck_assert(question.is_done && !question.is_known);
	ck_assert_str_eq(question.error, "");
	ck_assert_uint_eq(world.server.request_count, 4);
	bt_reviewer_destroy(reviewer);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_review__memory_is_bounded)
{
	struct endpoints_world world;
	struct question question;
	char token[32];
	endpoints_world_init(&world);
	struct bt_reviewer *reviewer = make_reviewer(&world);
	remembered_ns = 3600 * BT_NS_PER_SECOND;
	for (int i = 0; i < BT_REVIEW_ANSWERS_MAX + 40; i++) {
		(void)snprintf(token, sizeof(token), "token-%d", i);
		ask_and_wait(&world, reviewer, token, &question);
		if (bt_reviewer_count(reviewer) > BT_REVIEW_ANSWERS_MAX) {
			ck_abort_msg("%u answers", bt_reviewer_count(reviewer));
		}
	}
	ck_assert_uint_eq(bt_reviewer_count(reviewer), BT_REVIEW_ANSWERS_MAX);
	/* the newest answer is still cached, the oldest was evicted */
	uint32_t before = world.server.request_count;
	ask(reviewer, token, &question);
	ck_assert(question.is_done);
	ask_and_wait(&world, reviewer, "token-0", &question);
	ck_assert_uint_eq(world.server.request_count, before + 1);
	bt_reviewer_destroy(reviewer);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_review__too_many_at_a_time)
{
	static struct question questions[BT_REVIEWS_UNDER_WAY_MAX];
	struct endpoints_world world;
	struct question question;
	char token[32];
	endpoints_world_init(&world);
	struct bt_reviewer *reviewer = make_reviewer(&world);
	for (int i = 0; i < BT_REVIEWS_UNDER_WAY_MAX; i++) {
		(void)snprintf(token, sizeof(token), "token-%d", i);
		ask(reviewer, token, &questions[i]);
		ck_assert(!questions[i].is_done);
	}
	ask(reviewer, "one more", &question);
	ck_assert(question.is_done);
	ck_assert_str_eq(question.error, "too many reviews are under way");
	ask(reviewer, "token-7", &question); /* this token is already under review */
	ck_assert(!question.is_done);
	bt_review_cancel(&question.waiter);
	bt_review_cancel(&question.waiter);
	/* destroying the reviewer drops the waiters without a callback */
	bt_reviewer_destroy(reviewer);
	ck_assert(!question.is_done && !questions[7].is_done);
	ck_assert_ptr_null(questions[7].waiter.review);
	endpoints_world_finish(&world);
}
END_TEST

START_TEST(test_review__gives_up_after_five_attempts)
{
	struct endpoints_world world;
	struct question question;
	endpoints_world_init(&world);
	struct bt_reviewer *reviewer = make_reviewer(&world);
	remembered_ns = BT_NS_PER_SECOND;
	world.review_failures = 100;
	int64_t begun_ns = bt_loop_now_ns(world.loop);
	ask_and_wait(&world, reviewer, "good", &question);
	int64_t took_ns = bt_loop_now_ns(world.loop) - begun_ns;
	ck_assert_str_eq(question.error, "a bad day");
	ck_assert_uint_eq(world.server.request_count, 5);
	/* 0.5 + 0.75 + 1.125 + 1.6875 s, each plus up to a fifth */
	ck_assert_int_ge(took_ns, 4062 * BT_NS_PER_MS);
	ck_assert_int_lt(took_ns, 7000 * BT_NS_PER_MS);
	ck_assert_uint_eq(bt_reviewer_count(reviewer), 0);
	bt_reviewer_destroy(reviewer);
	endpoints_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("review", test_review__answers_are_remembered_for_their_time,
	test_review__memory_is_bounded, test_review__too_many_at_a_time,
	test_review__gives_up_after_five_attempts)

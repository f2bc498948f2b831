/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "test_main.h"

#define PRE_SCORE FAKE_ROLE(FAKE_PRE_SCORE)
#define SCORE FAKE_ROLE(FAKE_SCORE)
#define NORMALIZE FAKE_ROLE(FAKE_NORMALIZE)

static struct bt_status run_score(struct fake_world *world, struct bt_score_table *out_table)
{
	struct bt_status status = bt_run_pre_score(
		world->framework, &world->cycle, &world->pod, world->slots, NULL, 3);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	return bt_run_score(
		world->framework, &world->cycle, &world->pod, world->slots, 3, out_table);
}

START_TEST(test_score__edge_02_13_unknown_name_in_skip_set)
{
	struct fake fakes[] = {fake_plugin("S", SCORE)};
	struct fake_world world;
	struct bt_score_table table;

	fakes[0].score = 7;
	fake_world_init(&world, fakes, 1, "score=S");
	bt_plugin_set_add(&world.cycle.skip_score, BT_PLUGINS_MAX - 1);
	FAKE_EXPECT(&world,
		bt_run_score(world.framework, &world.cycle, &world.pod, world.slots, 3, &table),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_int_eq(table.totals[2], 7);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_score__edge_02_20_all_skipped)
{
	struct fake fakes[] = {
		fake_plugin("S", PRE_SCORE | SCORE), fake_plugin("T", PRE_SCORE | SCORE)};
	struct fake_world world;
	struct bt_score_table table;

	for (int i = 0; i < 2; i++) {
		fake_answer(&fakes[i], FAKE_PRE_SCORE, BT_STATUS_SKIP, NULL);
		fakes[i].score = 50;
	}
	fake_world_init(&world, fakes, 2, "multiPoint=S,T");
	FAKE_EXPECT(&world, run_score(&world, &table), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(table.plugin_count, 0);
	ck_assert_uint_eq(table.count, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(table.totals[i], 0);
	}
	ck_assert_uint_eq(fakes[0].calls[FAKE_SCORE] + fakes[1].calls[FAKE_SCORE], 0);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_score__edge_02_21_invalid_score)
{
	static const struct {
		const char *row;
		uint32_t roles;
		int64_t raw;
		int64_t normalized;
		const char *text;
	} rows[] = {
		{"101 raw", SCORE, 101, 0,
			"applying score defaultWeights on Score plugins: plugin \"S\" returns an "
			"invalid score 101, it should in the range of [0, 100] after normalizing"},
		{"-1 raw", SCORE, -1, 0,
			"applying score defaultWeights on Score plugins: plugin \"S\" returns an "
			"invalid score -1, it should in the range of [0, 100] after normalizing"},
		{"101 normalised", SCORE | NORMALIZE, 5, 101,
			"applying score defaultWeights on Score plugins: plugin \"S\" returns an "
			"invalid score 101, it should in the range of [0, 100] after normalizing"},
		{"1000 raw, 100 normalised", SCORE | NORMALIZE, 1000, 100, ""},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct fake fakes[] = {fake_plugin("S", rows[i].roles)};
		struct fake_world world;
		struct bt_score_table table;
		struct bt_status status;

		fakes[0].score = rows[i].raw;
		fakes[0].normalized_score = rows[i].normalized;
		fake_world_init(&world, fakes, 1, "score=S");
		status = run_score(&world, &table);
		ck_assert_msg(
			status.code == (rows[i].text[0] != 0 ? BT_STATUS_ERROR : BT_STATUS_SUCCESS),
			"%s", rows[i].row);
		ck_assert_str_eq(fake_status_text(&world, &status), rows[i].text);
		ck_assert_uint_eq(status.plugin, 0);
		fake_world_finish(&world);
	}
}
END_TEST

START_TEST(test_score__edge_02_22_weight)
{
	struct fake fakes[] = {fake_plugin("S", SCORE | NORMALIZE), fake_plugin("T", SCORE)};
	struct fake_world world;
	struct bt_score_table table;

	fakes[0].score = 10;
	fakes[0].normalized_score = 5;
	fakes[1].score = 100;
	fake_world_init(&world, fakes, 2, "score=S:2,T");
	FAKE_EXPECT(&world, run_score(&world, &table), BT_STATUS_SUCCESS, "", "");
	ck_assert_int_eq(table.plugins[0].scores[0], 10);
	ck_assert_int_eq(table.plugins[0].weight, 2);
	ck_assert_int_eq(table.plugins[1].scores[0], 100);
	ck_assert_int_eq(table.totals[1], 110);
	ck_assert_uint_eq(fakes[0].calls[FAKE_NORMALIZE], 1);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_score__failures)
{
	struct fake fakes[] = {fake_plugin("S", PRE_SCORE | SCORE | NORMALIZE)};
	struct fake_world world;
	struct bt_score_table table;

	fake_answer(&fakes[0], FAKE_PRE_SCORE, BT_STATUS_UNSCHEDULABLE, "u");
	fake_world_init(&world, fakes, 1, "multiPoint=S");
	FAKE_EXPECT(&world, run_score(&world, &table), BT_STATUS_ERROR,
		"running PreScore plugin \"S\": u", "");
	fake_answer(&fakes[0], FAKE_PRE_SCORE, BT_STATUS_SUCCESS, NULL);
	fake_fail(&fakes[0], FAKE_SCORE, "x");
	FAKE_EXPECT(&world, run_score(&world, &table), BT_STATUS_ERROR,
		"running Score plugins: plugin \"S\" failed with: x", "");
	fake_answer(&fakes[0], FAKE_SCORE, BT_STATUS_SUCCESS, NULL);
	fake_fail(&fakes[0], FAKE_NORMALIZE, "y");
	FAKE_EXPECT(&world, run_score(&world, &table), BT_STATUS_ERROR,
		"running Normalize on Score plugins: plugin \"S\" failed with: y", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_score__default_normalize)
{
	static const struct {
		const char *row;
		int64_t in[3];
		bool reverse;
		int64_t out[3];
	} rows[] = {
		{"scaled", {0, 1, 3}, false, {0, 33, 100}},
		{"scaled, reversed", {0, 1, 3}, true, {100, 67, 0}},
		{"all zero", {0, 0, 0}, false, {0, 0, 0}},
		{"all zero, reversed", {0, 0, 0}, true, {100, 100, 100}},
		{"negative only", {-5, -1, 0}, false, {-5, -1, 0}},
		{"negative with positive", {-5, 10, 0}, false, {-50, 100, 0}},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		int64_t scores[3];

		memcpy(scores, rows[i].in, sizeof(scores));
		bt_default_normalize(scores, 3, rows[i].reverse);
		for (uint32_t n = 0; n < 3; n++) {
			ck_assert_msg(scores[n] == rows[i].out[n], "%s, node %u: %lld", rows[i].row,
				n, (long long)scores[n]);
		}
	}
}
END_TEST

BT_TEST_MAIN("score", test_score__edge_02_13_unknown_name_in_skip_set,
	test_score__edge_02_20_all_skipped, test_score__edge_02_21_invalid_score,
	test_score__edge_02_22_weight, test_score__failures, test_score__default_normalize)

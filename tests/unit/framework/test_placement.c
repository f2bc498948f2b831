/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "framework/node_statuses.h"
#include "test_main.h"

#define GENERATE FAKE_ROLE(FAKE_PLACEMENTS)
#define SCORE FAKE_ROLE(FAKE_SCORE_PLACEMENT)
#define NORMALIZE FAKE_ROLE(FAKE_NORMALIZE_PLACEMENTS)

static struct bt_placement_outcome generate(struct fake_world *world)
{
	return bt_run_placement_generate(
		world->framework, &world->arena, BT_STR("ns"), BT_STR("group"), world->slots, 3);
}

START_TEST(test_placement__generate)
{
	const struct bt_placement placements[2] = {{.name = BT_STR("p")}, {.name = BT_STR("q")}};
	struct fake fakes[] = {fake_plugin("G", GENERATE)};
	struct fake_world world;
	struct bt_placement_outcome outcome;

	/* Without a plugin there is one unnamed placement of all nodes. */
	fake_world_init(&world, NULL, 0, "");
	outcome = generate(&world);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(outcome.count, 1);
	ck_assert_uint_eq(outcome.placements[0].name.length, 0);
	ck_assert_uint_eq(outcome.placements[0].count, 3);
	ck_assert_uint_eq(outcome.placements[0].slots[1], world.slots[1]);
	fake_world_finish(&world);

	fake_world_init(&world, fakes, 1, "placementGenerate=G");
	outcome = generate(&world);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_UNSCHEDULABLE, "no feasible placements found",
		"G");
	ck_assert_uint_eq(outcome.count, 0);
	fakes[0].placements = placements;
	fakes[0].placement_count = 2;
	outcome = generate(&world);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(outcome.count, 2);
	ck_assert(bt_str_equal_c(outcome.placements[1].name, "q"));
	fake_fail(&fakes[0], FAKE_PLACEMENTS, "x");
	outcome = generate(&world);
	FAKE_EXPECT(&world, outcome.status, BT_STATUS_ERROR, "x", "G");
	ck_assert_uint_eq(outcome.count, 0);
	fake_world_finish(&world);
}
END_TEST

static struct bt_status score(struct fake_world *world, struct bt_score_table *out_table)
{
	static const struct bt_placement placements[2];
	const struct bt_pod_info *pods[] = {&world->pod, &world->pod};
	const struct bt_placement_assignments assignments[2] = {
		{&placements[0], pods, 2}, {&placements[1], pods, 1}};

	return bt_run_placement_score(world->framework, &world->arena, assignments, 2, out_table);
}

START_TEST(test_placement__score)
{
	struct fake fakes[] = {fake_plugin("A", SCORE), fake_plugin("B", SCORE | NORMALIZE)};
	struct fake_world world;
	struct bt_score_table table;

	fakes[0].score = 10; /* plus one per pod */
	fakes[1].score = 1000;
	fakes[1].normalized_score = 7;
	fake_world_init(&world, fakes, 2, "placementScore=A:3,B");
	FAKE_EXPECT(&world, score(&world, &table), BT_STATUS_SUCCESS, "", "");
	ck_assert_int_eq(table.plugins[0].scores[0], 36);
	ck_assert_int_eq(table.totals[0], 43);
	ck_assert_int_eq(table.totals[1], 40);
	fakes[0].score = 99;
	FAKE_EXPECT(&world, score(&world, &table), BT_STATUS_ERROR,
		"applying score defaultWeights on PlacementScore plugins: plugin \"A\" returns an "
		"invalid score 101, it should in the range of [0, 100] after normalizing",
		"");
	fake_fail(&fakes[1], FAKE_NORMALIZE_PLACEMENTS, "n");
	FAKE_EXPECT(&world, score(&world, &table), BT_STATUS_ERROR,
		"running NormalizePlacementScore on PlacementScore plugins: plugin \"B\" failed "
		"with: n",
		"");
	fake_fail(&fakes[0], FAKE_SCORE_PLACEMENT, "s");
	FAKE_EXPECT(&world, score(&world, &table), BT_STATUS_ERROR,
		"running PlacementScore plugins: plugin \"A\" failed with: s", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_node_statuses__queries)
{
	struct fake_world world;
	struct bt_node_statuses statuses = {0};
	struct bt_node_status_entry entry;
	uint32_t slots[3];

	fake_world_init(&world, NULL, 0, "");
	statuses.absent = bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	entry = (struct bt_node_status_entry){
		world.slots[2], bt_status_code_only(BT_STATUS_UNSCHEDULABLE)};
	bt_vec_push(&statuses.entries, entry);
	entry = (struct bt_node_status_entry){
		world.slots[0], bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE)};
	bt_vec_push(&statuses.entries, entry);
	/* The node of this entry no longer exists. */
	entry = (struct bt_node_status_entry){999, bt_status_code_only(BT_STATUS_UNSCHEDULABLE)};
	bt_vec_push(&statuses.entries, entry);
	ck_assert_int_eq(bt_node_statuses_get(&statuses, world.state, world.slots[2]).code,
		BT_STATUS_UNSCHEDULABLE);
	ck_assert_int_eq(bt_node_statuses_get(&statuses, world.state, world.slots[1]).code,
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	ck_assert_uint_eq(bt_node_statuses_nodes_for_code(
				  &statuses, BT_STATUS_UNSCHEDULABLE, world.state, slots),
		1);
	ck_assert_uint_eq(slots[0], world.slots[2]);
	ck_assert_uint_eq(bt_node_statuses_nodes_for_code(&statuses,
				  BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, world.state, slots),
		2);
	ck_assert_uint_eq(slots[0], world.slots[0]);
	ck_assert_uint_eq(slots[1], world.slots[1]);
	bt_vec_finish(&statuses.entries);
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN(
	"placement", test_placement__generate, test_placement__score, test_node_statuses__queries)

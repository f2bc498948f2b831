/* SPDX-License-Identifier: Apache-2.0 */
/** One scheduling cycle: spec 03 section 3, with the numbered cases of section 15. */
#include "sched_world.h"
#include "test_main.h"

#define FILTER FAKE_ROLE(FAKE_FILTER)
#define SCORE FAKE_ROLE(FAKE_SCORE)
#define PRE_FILTER FAKE_ROLE(FAKE_PRE_FILTER)
#define PRE_SCORE FAKE_ROLE(FAKE_PRE_SCORE)
#define POST_FILTER FAKE_ROLE(FAKE_POST_FILTER)

static const struct bt_engine_options verifying = {
	.verify = true, .percentage_of_nodes_to_score = -1};

static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

#define SCRIPTS(...) ((struct script *[]){__VA_ARGS__})

static void expect_nomination_cleared(const struct bt_schedule_result *result)
{
	ck_assert(result->nomination.present);
	ck_assert_int_eq(result->nomination.mode, BT_NOMINATING_OVERRIDE);
	ck_assert_uint_eq(result->nomination.nominated_node_name.length, 0);
}

START_TEST(test_cycle__edge_03_01_empty_cluster)
{
	struct script filter = script_make("F", FILTER | POST_FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	world_init(&world, "F", &verifying, SCRIPTS(&filter), 1);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_NO_NODES);
	ck_assert_int_eq(result.status.code, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	ck_assert_str_eq(world_message(&world, &result), "no nodes available to schedule pods");
	ck_assert_uint_eq(filter.fake.calls[FAKE_POST_FILTER], 0);
	expect_nomination_cleared(&result);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_02_all_nodes_reject)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct script_row rows[] = {{.node = "n1", .filter = {2, "r", NULL}},
			{.node = "n2", .filter = {2, "r", NULL}},
			{.node = "n3", .filter = {3, "r", NULL}}};
		struct world world;
		struct bt_schedule_result result;

		script_set_rows(&filter, rows, 3);
		world_init(&world, "F", &verifying, SCRIPTS(&filter), 1);
		world_add_nodes(&world, 1, 3);
		result = world_schedule(&world, "{}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		ck_assert_int_eq(result.status.code, BT_STATUS_UNSCHEDULABLE);
		ck_assert_str_eq(world_message(&world, &result), "0/3 nodes are available: 3 r.");
		ck_assert_str_eq(
			world_plugins(&world, &result.diagnosis.unschedulable_plugins), "F");
		/* No PostFilter plugin: the nomination is cleared. */
		expect_nomination_cleared(&result);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__edge_03_03_other_reason_on_one_node)
{
	struct script first = script_make("F", FILTER, SCRIPT_COLUMN);
	struct script second = script_make("G", FILTER, SCRIPT_PLAIN);
	struct script_row rows_f[] = {{.node = "n1", .filter = {2, "a", NULL}}};
	struct script_row rows_g[] = {{.node = "n1", .filter = {2, "never", NULL}},
		{.node = "n2", .filter = {2, "b", "a"}}};
	struct world world;
	struct bt_schedule_result result;

	script_set_rows(&first, rows_f, 1);
	script_set_rows(&second, rows_g, 2);
	world_init(&world, "F,G", &verifying, SCRIPTS(&first, &second), 2);
	world_add_nodes(&world, 1, 2);
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_message(&world, &result), "0/2 nodes are available: 1 b, 2 a.");
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins), "F G");
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_04_ten_before_two)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct script_row rows[12];
		static const char *const names[] = {
			"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "n10", "n11", "n12"};
		struct world world;
		struct bt_schedule_result result;

		for (uint32_t n = 0; n < 12; n++) {
			rows[n] = (struct script_row){.node = names[n],
				.filter = {BT_STATUS_UNSCHEDULABLE, n < 10 ? "x" : "y", NULL}};
		}
		script_set_rows(&filter, rows, 12);
		world_init(&world, "F", &verifying, SCRIPTS(&filter), 1);
		world_add_nodes(&world, 1, 12);
		result = world_schedule(&world, "{}");
		ck_assert_str_eq(
			world_message(&world, &result), "0/12 nodes are available: 10 x, 2 y.");
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__edge_03_05_pre_filter_rejects)
{
	struct script plugin = script_make("P", PRE_FILTER | FILTER | POST_FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	fake_answer(&plugin.fake, FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "m");
	fake_answer(&plugin.fake, FAKE_POST_FILTER, BT_STATUS_UNSCHEDULABLE, "p");
	world_init(&world, "P", &verifying, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_message(&world, &result), "0/3 nodes are available: m. p");
	ck_assert_uint_eq(plugin.fake.calls[FAKE_FILTER], 0);
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins), "P");
	ck_assert(!result.nomination.present);
	world_finish(&world);
}
END_TEST

/* Cases 6 and 7: PreFilter narrows the nodes, then Filter runs. */
static void check_narrowing(
	enum script_form form, const char *node, const char *message, const char *plugins)
{
	struct script narrow = script_make("P", PRE_FILTER, SCRIPT_PLAIN);
	struct script filter = script_make("F", FILTER, form);
	struct script_row rows[] = {{.node = "n2", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}}};
	struct world world;
	struct bt_schedule_result result;

	narrow.fake.node_names = &node;
	narrow.fake.node_name_count = 1;
	script_set_rows(&filter, rows, 1);
	world_init(&world, "P,F", &verifying, SCRIPTS(&narrow, &filter), 2);
	world_add_nodes(&world, 1, 2);
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_message(&world, &result), message);
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins), plugins);
	world_finish(&world);
}

START_TEST(test_cycle__edge_03_06_narrowed_to_a_rejecting_node)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		check_narrowing(forms[i], "n2",
			"0/2 nodes are available: 1 f, 1 node(s) didn't satisfy plugin(s) [P].",
			"F P");
	}
}
END_TEST

START_TEST(test_cycle__edge_03_07_narrowed_to_an_unknown_node)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		check_narrowing(forms[i], "n9",
			"0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [P].", "P");
	}
}
END_TEST

START_TEST(test_cycle__edge_03_08_no_node_in_both_sets)
{
	static const char *const first[] = {"n1", "n2"};
	static const char *const second[] = {"n3"};
	struct script a = script_make("B", PRE_FILTER, SCRIPT_PLAIN);
	struct script b = script_make("A", PRE_FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	a.fake.node_names = first;
	a.fake.node_name_count = 2;
	b.fake.node_names = second;
	b.fake.node_name_count = 1;
	world_init(&world, "B,A", &verifying, SCRIPTS(&a, &b), 2);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_message(&world, &result),
		"0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously.");
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins), "A B");
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_09_pre_filter_error)
{
	struct script plugin = script_make("P", PRE_FILTER | POST_FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	fake_fail(&plugin.fake, FAKE_PRE_FILTER, "e");
	world_init(&world, "P", &verifying, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 1);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_int_eq(result.status.code, BT_STATUS_ERROR);
	ck_assert_str_eq(world_message(&world, &result), "running PreFilter plugin \"P\": e");
	ck_assert_uint_eq(plugin.fake.calls[FAKE_POST_FILTER], 0);
	expect_nomination_cleared(&result);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_10_filter_error)
{
	struct script filter = script_make("F", FILTER | POST_FILTER, SCRIPT_PLAIN);
	struct script score = script_make("S", SCORE, SCRIPT_PLAIN);
	struct script_row rows[] = {{.node = "n3", .filter = {BT_STATUS_ERROR, NULL, "e"}}};
	struct world world;
	struct bt_schedule_result result;

	script_set_rows(&filter, rows, 1);
	world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 1, 4);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&world, &result), "running \"F\" filter plugin: e");
	ck_assert_uint_eq(filter.fake.calls[FAKE_POST_FILTER], 0);
	ck_assert_uint_eq(world.engine->next_start_node_index, 2);
	expect_nomination_cleared(&result);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_15_no_score_plugin)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct world world;

		world_init(&world, "F", &verifying, SCRIPTS(&filter), 1);
		world_add_nodes(&world, 1, 3);
		for (uint32_t cycle = 0; cycle < 4; cycle++) {
			static const char *const expected[] = {"n1", "n2", "n3", "n1"};
			struct bt_schedule_result result = world_schedule(&world, "{}");

			ck_assert_str_eq(world_chosen(&world, &result), expected[cycle]);
			ck_assert_uint_eq(result.evaluated_count, 1);
			ck_assert_uint_eq(result.feasible_count, 1);
			ck_assert_uint_eq(world.engine->next_start_node_index, (cycle + 1) % 3);
		}
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__edge_03_16_rotation_at_thirty_percent)
{
	static const uint32_t starts[] = {150, 300, 450, 100, 250, 400, 50};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
		struct bt_arena arena = {0};
		struct world world;

		world_init(&world,
			bt_arena_printf(&arena, "{'percentageOfNodesToScore':30,'profiles':[%s]}",
				world_profile(&arena, "s", "F,S", ""))
				.data,
			&verifying, SCRIPTS(&filter, &score), 2);
		world_add_nodes(&world, 0, 500);
		for (size_t cycle = 0; cycle < BT_ARRAY_LENGTH(starts); cycle++) {
			struct bt_schedule_result result = world_schedule(&world, "{}");

			ck_assert_uint_eq(result.feasible_count, 150);
			ck_assert_uint_eq(result.evaluated_count, 150);
			ck_assert_uint_eq(world.engine->next_start_node_index, starts[cycle]);
		}
		world_finish(&world);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_cycle__edge_03_17_nominated_node)
{
	struct script filter = script_make("F", FILTER, SCRIPT_PLAIN);
	struct script score = script_make("S", SCORE, SCRIPT_PLAIN);
	struct script_row rows[] = {{.node = "n1", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}}};
	struct world world;
	struct bt_schedule_result result;

	world_init(&world, "F,S", NULL, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 1, 3);
	world.engine->next_start_node_index = 2;
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_str_eq(world_chosen(&world, &result), "n1");
	ck_assert_uint_eq(filter.fake.calls[FAKE_FILTER], 1);
	ck_assert_uint_eq(score.fake.calls[FAKE_SCORE], 0);
	ck_assert_uint_eq(world.engine->next_start_node_index, 2);
	ck_assert_uint_eq(result.evaluated_count, 1);

	script_set_rows(&filter, rows, 1);
	filter.fake.calls[FAKE_FILTER] = 0;
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_uint_eq(filter.fake.calls[FAKE_FILTER], 4);
	ck_assert_uint_eq(result.feasible_count, 2);
	ck_assert_uint_eq(result.evaluated_count, 3);
	ck_assert_uint_eq(world.engine->next_start_node_index, 2);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_18_nominated_node_deleted)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct script score = script_make("S", SCORE, SCRIPT_PLAIN);
		struct world world;
		struct bt_schedule_result result;

		world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
		world_add_nodes(&world, 1, 3);
		result = world_schedule(&world, "{'status':{'nominatedNodeName':'n2'}}");
		ck_assert_str_eq(world_chosen(&world, &result), "n2");
		world_remove_node(&world, "n2");
		result = world_schedule(&world, "{'status':{'nominatedNodeName':'n2'}}");
		ck_assert_str_eq(world_chosen(&world, &result), "n1");
		ck_assert_uint_eq(result.feasible_count, 2);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__nominated_node_error_is_left_to_the_search)
{
	struct script filter = script_make("F", FILTER, SCRIPT_PLAIN);
	struct script_row rows[] = {{.node = "n3", .filter = {BT_STATUS_ERROR, NULL, "e"}}};
	struct world world;
	struct bt_schedule_result result;

	script_set_rows(&filter, rows, 1);
	world_init(&world, "F", NULL, SCRIPTS(&filter), 1);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n3'}}");
	ck_assert_str_eq(world_chosen(&world, &result), "n1");
	world_finish(&world);
}
END_TEST

/* The nominated node is tried even if PreFilter's node set does not contain it. */
START_TEST(test_cycle__nominated_node_outside_the_narrowing)
{
	static const char *const names[] = {"n2"};
	struct script narrow = script_make("P", PRE_FILTER, SCRIPT_PLAIN);
	struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
	struct script_row rows[] = {{.node = "n1", .filter = {BT_STATUS_PENDING, "f", NULL}},
		{.node = "n2", .filter = {BT_STATUS_UNSCHEDULABLE, "g", NULL}}};
	struct world world;
	struct bt_schedule_result result;

	narrow.fake.node_names = names;
	narrow.fake.node_name_count = 1;
	world_init(&world, "P,F", NULL, SCRIPTS(&narrow, &filter), 2);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_str_eq(world_chosen(&world, &result), "n1");
	world_finish(&world);

	/*
	 * The status of the nominated node and its plugin stay in the message, but the pending
	 * plugins are dropped: spec 03 section 3.7.
	 */
	script_set_rows(&filter, rows, 2);
	world_init(&world, "P,F", NULL, SCRIPTS(&narrow, &filter), 2);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_str_eq(world_message(&world, &result),
		"0/3 nodes are available: 1 f, 1 g, 1 node(s) didn't satisfy plugin(s) [F P].");
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins), "F P");
	ck_assert_str_eq(world_plugins(&world, &result.diagnosis.pending_plugins), "");
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_20_all_pre_score_skip)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
		struct script score = script_make("S", PRE_SCORE | SCORE, forms[i]);
		struct script_row rows[] = {{.node = "n2", .score = 100}};
		struct world world;
		struct bt_schedule_result result;

		script_set_rows(&score, rows, 1);
		fake_answer(&score.fake, FAKE_PRE_SCORE, BT_STATUS_SKIP, NULL);
		world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
		world_add_nodes(&world, 1, 3);
		result = world_schedule(&world, "{}");
		ck_assert_str_eq(world_chosen(&world, &result), "n1");
		ck_assert_int_eq(result.total_score, 0);
		ck_assert_uint_eq(score.fake.calls[FAKE_SCORE], 0);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__edge_03_51_filter_returns_skip)
{
	struct script filter = script_make("P", FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	fake_answer(&filter.fake, FAKE_FILTER, BT_STATUS_SKIP, NULL);
	world_init(&world, "P", &verifying, SCRIPTS(&filter), 1);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&world, &result), "running \"P\" filter plugin: %!w(<nil>)");
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_53_profiles_share_the_rotation)
{
	struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
	struct bt_arena arena = {0};
	struct world world;

	world_init(&world,
		bt_arena_printf(&arena, "{'profiles':[%s,%s]}", world_profile(&arena, "a", "F", ""),
			world_profile(&arena, "b", "F", ""))
			.data,
		&verifying, SCRIPTS(&filter), 1);
	world_add_nodes(&world, 1, 3);
	for (uint32_t cycle = 0; cycle < 6; cycle++) {
		static const char *const expected[] = {"n1", "n2", "n3"};
		struct bt_schedule_result result = world_schedule(&world,
			cycle % 2 == 0 ? "{'spec':{'schedulerName':'a'}}"
				       : "{'spec':{'schedulerName':'b'}}");

		ck_assert_str_eq(world_chosen(&world, &result), expected[cycle % 3]);
	}
	world_finish(&world);
	bt_arena_finish(&arena);
}
END_TEST

/* Returns how many feasible nodes the search finds among node_count nodes that all fit. */
static uint32_t feasible_among(
	uint32_t node_count, const char *global, const char *of_profile, int32_t option)
{
	struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
	struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
	struct bt_engine_options options = verifying;
	struct bt_arena arena = {0};
	struct world world;
	struct bt_schedule_result result;

	options.percentage_of_nodes_to_score = option;
	world_init(&world,
		bt_arena_printf(&arena, "{%s'profiles':[%s]}", global,
			world_profile(&arena, "s", "F,S", of_profile))
			.data,
		&options, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 0, node_count);
	result = world_schedule(&world, "{}");
	ck_assert_uint_eq(result.evaluated_count, result.feasible_count);
	ck_assert_uint_eq(world.engine->next_start_node_index, result.feasible_count % node_count);
	world_finish(&world);
	bt_arena_finish(&arena);
	return result.feasible_count;
}

START_TEST(test_cycle__edge_03_54_profile_zero_is_adaptive)
{
	ck_assert_uint_eq(feasible_among(1000, "'percentageOfNodesToScore':100,",
				  "'percentageOfNodesToScore':0,", -1),
		420);
}
END_TEST

START_TEST(test_cycle__percentage_global_profile_and_option)
{
	static const char global40[] = "'percentageOfNodesToScore':40,";
	static const char profile30[] = "'percentageOfNodesToScore':30,";

	ck_assert_uint_eq(feasible_among(1000, global40, "", -1), 400);
	ck_assert_uint_eq(feasible_among(1000, global40, profile30, -1), 300);
	ck_assert_uint_eq(feasible_among(1000, "", profile30, -1), 300);
	ck_assert_uint_eq(feasible_among(1000, "", "", -1), 1000);
	ck_assert_uint_eq(feasible_among(1000, global40, profile30, 20), 200);
	ck_assert_uint_eq(feasible_among(1000, global40, profile30, 0), 420);
	ck_assert_uint_eq(feasible_among(1000, global40, profile30, 100), 1000);
	ck_assert_uint_eq(feasible_among(150, global40, "", -1), 100);
	ck_assert_uint_eq(feasible_among(99, profile30, "", -1), 99);
}
END_TEST

/* The percentage applies to the length of the narrowed list: spec 03 section 3.3. */
START_TEST(test_cycle__percentage_of_the_narrowed_list)
{
	static const char *names[150];
	static char texts[150][8];
	struct script narrow = script_make("P", PRE_FILTER, SCRIPT_PLAIN);
	struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
	struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
	struct bt_engine_options options = verifying;
	struct world world;
	struct bt_schedule_result result;

	for (uint32_t i = 0; i < 150; i++) {
		(void)snprintf(texts[i], sizeof(texts[i]), "n%u", 299 - 2 * (i % 149));
		names[i] = texts[i];
	}
	narrow.fake.node_names = names;
	narrow.fake.node_name_count = 149;
	options.percentage_of_nodes_to_score = 80;
	world_init(&world, "P,F,S", &options, SCRIPTS(&narrow, &filter, &score), 3);
	world_add_nodes(&world, 0, 300);
	world.engine->next_start_node_index = 280;
	result = world_schedule(&world, "{}");
	ck_assert_uint_eq(result.feasible_count, 119);
	/* The start index advances on the whole list. */
	ck_assert_uint_eq(world.engine->next_start_node_index, (280 + 119) % 300);
	/* Members in snapshot order are n3, n5, ...: position 280 mod 149 = 131. */
	ck_assert_str_eq(world_chosen(&world, &result), "n265");
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__edge_03_55_nominated_node_counts_beyond_the_search)
{
	struct script filter = script_make("F", FILTER, SCRIPT_PLAIN);
	struct script score = script_make("S", SCORE, SCRIPT_PLAIN);
	struct script_row rows[] = {
		{.node = "n190", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}},
		{.node = "n5", .filter = {BT_STATUS_UNSCHEDULABLE, "f", NULL}}};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct world world;
	struct bt_schedule_result result;

	options.percentage_of_nodes_to_score = 50;
	script_set_rows(&filter, rows, 2);
	world_init(&world, "F,S", &options, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 0, 200);
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n190'}}");
	ck_assert_uint_eq(result.feasible_count, 100);
	/* 100 nodes are feasible, n5 and n190 are rejected. */
	ck_assert_uint_eq(result.evaluated_count, 102);
	ck_assert_uint_eq(world.engine->next_start_node_index, 102);
	/* If the search meets the nominated node again, the node is counted once. */
	result = world_schedule(&world, "{'status':{'nominatedNodeName':'n190'}}");
	ck_assert_uint_eq(result.evaluated_count, 101);
	ck_assert_uint_eq(world.engine->next_start_node_index, 203 % 200);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__no_filter_plugin_takes_the_rotated_start)
{
	struct script score = script_make("S", PRE_SCORE | SCORE, SCRIPT_PLAIN);
	struct bt_engine_options options = verifying;
	struct world world;
	struct bt_schedule_result result;

	options.percentage_of_nodes_to_score = 60;
	world_init(&world, "S", &options, SCRIPTS(&score), 1);
	world_add_nodes(&world, 0, 200);
	world.engine->next_start_node_index = 150;
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_chosen(&world, &result), "n150");
	ck_assert_uint_eq(score.feasible_count, 120);
	ck_assert_uint_eq(world.engine->next_start_node_index, 70);
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__rotation_survives_a_shrinking_cluster)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script filter = script_make("F", FILTER, forms[i]);
		struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
		struct world world;
		struct bt_schedule_result result;

		world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
		world_add_nodes(&world, 0, 5);
		world.engine->next_start_node_index = 4;
		world_remove_node(&world, "n4");
		world_remove_node(&world, "n1");
		/* The start index is 4 mod 3 = 1; the remaining nodes are n0 n2 n3. */
		result = world_schedule(&world, "{}");
		ck_assert_str_eq(world_chosen(&world, &result), "n2");
		ck_assert_uint_eq(world.engine->next_start_node_index, 1);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_cycle__post_filter_success_is_still_a_failure)
{
	struct script filter = script_make("F", FILTER | POST_FILTER, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	fake_answer(&filter.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	filter.fake.nominated = "n2";
	filter.fake.nominating_mode = BT_NOMINATING_OVERRIDE;
	world_init(&world, "F", &verifying, SCRIPTS(&filter), 1);
	world_add_nodes(&world, 1, 2);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
	ck_assert_int_eq(result.status.code, BT_STATUS_UNSCHEDULABLE);
	ck_assert_str_eq(world_message(&world, &result), "0/2 nodes are available: 2 r.");
	ck_assert(bt_str_equal_c(result.nomination.nominated_node_name, "n2"));
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle__score_and_pre_score_errors_end_the_cycle)
{
	struct script filter = script_make("F", FILTER | POST_FILTER, SCRIPT_COLUMN);
	struct script score = script_make("S", PRE_SCORE | SCORE, SCRIPT_PLAIN);
	struct world world;
	struct bt_schedule_result result;

	world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 1, 2);
	fake_fail(&score.fake, FAKE_SCORE, "e");
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&world, &result),
		"running Score plugins: plugin \"S\" failed with: e");
	fake_fail(&score.fake, FAKE_PRE_SCORE, "e");
	result = world_schedule(&world, "{}");
	ck_assert_str_eq(world_message(&world, &result), "running PreScore plugin \"S\": e");
	ck_assert_uint_eq(filter.fake.calls[FAKE_POST_FILTER], 0);
	expect_nomination_cleared(&result);
	world_finish(&world);
}
END_TEST

BT_TEST_MAIN("cycle", test_cycle__edge_03_01_empty_cluster, test_cycle__edge_03_02_all_nodes_reject,
	test_cycle__edge_03_03_other_reason_on_one_node, test_cycle__edge_03_04_ten_before_two,
	test_cycle__edge_03_05_pre_filter_rejects,
	test_cycle__edge_03_06_narrowed_to_a_rejecting_node,
	test_cycle__edge_03_07_narrowed_to_an_unknown_node,
	test_cycle__edge_03_08_no_node_in_both_sets, test_cycle__edge_03_09_pre_filter_error,
	test_cycle__edge_03_10_filter_error, test_cycle__edge_03_15_no_score_plugin,
	test_cycle__edge_03_16_rotation_at_thirty_percent, test_cycle__edge_03_17_nominated_node,
	test_cycle__edge_03_18_nominated_node_deleted,
	test_cycle__nominated_node_error_is_left_to_the_search,
	test_cycle__nominated_node_outside_the_narrowing, test_cycle__edge_03_20_all_pre_score_skip,
	test_cycle__edge_03_51_filter_returns_skip,
	test_cycle__edge_03_53_profiles_share_the_rotation,
	test_cycle__edge_03_54_profile_zero_is_adaptive,
	test_cycle__percentage_global_profile_and_option,
	test_cycle__percentage_of_the_narrowed_list,
	test_cycle__edge_03_55_nominated_node_counts_beyond_the_search,
	test_cycle__no_filter_plugin_takes_the_rotated_start,
	test_cycle__rotation_survives_a_shrinking_cluster,
	test_cycle__post_filter_success_is_still_a_failure,
	test_cycle__score_and_pre_score_errors_end_the_cycle)

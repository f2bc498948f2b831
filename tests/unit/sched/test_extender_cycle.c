/* SPDX-License-Identifier: Apache-2.0 */
/** Extenders in the scheduling cycle: spec 11b sections 9.3 to 9.5, 03 sections 3.6 and 5. */
#include "fake_poster.h"
#include "sched_world.h"
#include "test_main.h"

#define FILTER FAKE_ROLE(FAKE_FILTER)
#define SCORE FAKE_ROLE(FAKE_SCORE)
#define POST_FILTER FAKE_ROLE(FAKE_POST_FILTER)
#define SCRIPTS(...) ((struct script *[]){__VA_ARGS__})

#define A "'urlPrefix':'http://h:1/a'"
#define FILTERS A ",'filterVerb':'f'"
#define NAMES FILTERS ",'nodeCacheCapable':true"
#define SCORES A ",'prioritizeVerb':'p','weight':1"

/** An engine with scripted plugins and extenders. */
struct extended {
	struct fake_poster fake;
	struct world world;
};

/**
 * Makes an engine with these plugins and extenders. extenders: JSON objects without the outer
 * braces, separated by "},{".
 */
static void init(struct extended *extended, const char *plugins, const char *extenders,
	struct script *const *scripts, uint32_t script_count)
{
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct bt_arena arena = {0};
	const char *config;

	fake_poster_init(&extended->fake);
	options.verify = true;
	options.extenders = &extended->fake.factory;
	options.extender_observer = &extended->fake.observer;
	config = bt_arena_printf(&arena, "{'profiles':[%s],'extenders':[{%s}]}",
		world_profile(&arena, "default-scheduler", plugins, ""), extenders)
			 .data;
	world_init(&extended->world, config, &options, scripts, script_count);
	bt_arena_finish(&arena);
}

static void finish(struct extended *extended)
{
	world_finish(&extended->world);
	fake_poster_finish(&extended->fake);
}

static void reply(struct extended *extended, const char *verb, const char *body)
{
	fake_poster_reply(&extended->fake,
		bt_arena_printf(&extended->world.arena, "http://h:1/a/%s", verb).data, body);
}

static void break_off(struct extended *extended, const char *verb, int status, const char *error)
{
	fake_poster_fail(&extended->fake,
		bt_arena_printf(&extended->world.arena, "http://h:1/a/%s", verb).data, status,
		error);
}

/** A cycle with one extender and three nodes, and its result. Only the extender filters. */
struct filter_row {
	const char *name;
	const char *extender;
	const char *answer;
	const char *chosen;  /* "": no node */
	const char *message; /* expected message if no node is chosen */
	bool is_error;
};

static void check_filter_rows(const struct filter_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
		struct extended extended;
		struct bt_schedule_result result;

		init(&extended, "F", rows[i].extender, SCRIPTS(&filter), 1);
		world_add_nodes(&extended.world, 1, 3);
		reply(&extended, "f", rows[i].answer);
		result = world_schedule(&extended.world, "{}");
		ck_assert_msg(strcmp(world_chosen(&extended.world, &result), rows[i].chosen) == 0,
			"%s: chosen %s: %s", rows[i].name, world_chosen(&extended.world, &result),
			world_message(&extended.world, &result));
		if (rows[i].chosen[0] == '\0') {
			ck_assert_msg(strcmp(world_message(&extended.world, &result),
					      rows[i].message) == 0,
				"%s: %s", rows[i].name, world_message(&extended.world, &result));
			ck_assert_int_eq(result.outcome,
				rows[i].is_error ? BT_OUTCOME_ERROR : BT_OUTCOME_FIT_ERROR);
			ck_assert_int_eq(result.diagnosis.rejected_by_extender, !rows[i].is_error);
		}
		finish(&extended);
	}
}

START_TEST(test_extender__edge_11b_02_empty_answer)
{
	static const struct filter_row rows[] = {
		{"{}", FILTERS, "{}", "", "0/3 nodes are available:", false},
		{"null", FILTERS, "null", "", "0/3 nodes are available:", false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_03_cache_capable_answers_objects)
{
	static const struct filter_row rows[] = {
		{"objects", NAMES, "{'Nodes':{'items':[{'metadata':{'name':'n2'}}]}}", "n2", "",
			false},
		{"null names", NAMES,
			"{'NodeNames':null,'Nodes':{'items':[{'metadata':{'name':'n3'}}]}}", "n3",
			"", false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_04_no_names)
{
	static const struct filter_row rows[] = {
		{"empty", NAMES, "{'NodeNames':[]}", "", "0/3 nodes are available:", false},
		{"empty beats objects", NAMES,
			"{'NodeNames':[],'Nodes':{'items':[{'metadata':{'name':'n2'}}]}}", "",
			"0/3 nodes are available:", false},
		{"null", NAMES, "{'NodeNames':null,'Nodes':null}", "",
			"0/3 nodes are available:", false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_05_names_without_node_cache)
{
	static const struct filter_row rows[] = {
		{"names", FILTERS, "{'NodeNames':['n1','n2']}", "",
			"0/3 nodes are available:", false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

#define UNKNOWN(name) \
	"extender \"http://h:1/a\" claims a filtered node \"" name \
	"\" which is not found in the input node list"

START_TEST(test_extender__edge_11b_06_name_that_was_not_sent)
{
	static const struct filter_row rows[] = {
		{"unknown", NAMES, "{'NodeNames':['n1','x']}", "", UNKNOWN("x"), true},
		{"null is the empty name", NAMES, "{'NodeNames':[null]}", "", UNKNOWN(""), true},
		{"an object of that name", FILTERS,
			"{'Nodes':{'items':[{'metadata':{'name':'x'}}]}}", "",
			"0/3 nodes are available:", false},
		{"an object of that name beside others", FILTERS,
			"{'Nodes':{'items':[{'metadata':{'name':'x'}},{'metadata':{'name':'n2'}},"
			"{'metadata':{'name':'n2'}}]}}",
			"n2", "", false},
		{"a name again and again", NAMES, "{'NodeNames':['n1','n1','n1','n1']}", "n1", "",
			false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_07_both_failure_maps)
{
	struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "F", NAMES, SCRIPTS(&filter), 1);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f",
		"{'NodeNames':[],'FailedNodes':{'n1':'a','n2':'b'},"
		"'FailedAndUnresolvableNodes':{'n1':'c'}}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(
		world_message(&extended.world, &result), "0/2 nodes are available: 1 b, 1 c.");
	for (uint32_t i = 0; i < 2; i++) {
		const struct bt_node_status_entry *entry =
			&result.diagnosis.statuses.entries.items[i];
		ck_assert_int_eq(entry->status.code,
			entry->slot == world_slot(&extended.world, "n1")
				? BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE
				: BT_STATUS_UNSCHEDULABLE);
	}
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_11b_08_status_other_than_200)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", FILTERS, NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'NodeNames':['n1']}");
	break_off(&extended, "f", 201, NULL);
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&extended.world, &result),
		"failed f with extender at URL http://h:1/a/f, code 201");
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_11b_09_error_in_lower_case)
{
	static const struct filter_row rows[] = {
		{"lower case", NAMES, "{'error':'no','nodenames':['n1']}", "", "no", true},
		{"long s and kelvin sign", NAMES,
			"{'nodename\xc5\xbf':['n2'],'FAILEDNODE\xc5\xbf':{}}", "n2", "", false},
	};
	check_filter_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_10_ignorable_times_out)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", NAMES ",'ignorable':true", NULL, 0);
	world_add_nodes(&extended.world, 1, 1);
	break_off(&extended, "f", 0, "context deadline exceeded");
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(world_chosen(&extended.world, &result), "n1");
	ck_assert_str_eq(bt_strbuf_c(&extended.fake.ignored),
		"V(0) Skipping extender as it returned error and has ignorable flag set "
		"http://h:1/a context deadline exceeded\n");
	ck_assert(!result.diagnosis.rejected_by_extender);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_11b_11_times_out)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", NAMES, NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	break_off(&extended, "f", 0, "context deadline exceeded");
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_int_eq(result.status.code, BT_STATUS_ERROR);
	ck_assert_str_eq(world_message(&extended.world, &result), "context deadline exceeded");
	ck_assert_int_eq(extended.fake.timeout_ns, INT64_C(5000000000));
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_11b_12_ignorable_comes_last)
{
	struct extended extended;

	init(&extended, "",
		NAMES ",'ignorable':true},"
		      "{'urlPrefix':'http://h:2/','filterVerb':'g','nodeCacheCapable':true,"
		      "'httpTimeout':'7s'",
		NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'NodeNames':['n1']}");
	fake_poster_reply(&extended.fake, "http://h:2/g", "{'NodeNames':['n2','n1']}");
	(void)world_schedule(&extended.world, "{}");
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "http://h:2/g http://h:1/a/f");
	/*
	 * The second extender gets the nodes that the first extender left, in the first answer's
	 * order.
	 */
	ck_assert_ptr_ne(strstr(fake_poster_log(&extended.fake),
				 "http://h:1/a/f {'Pod':{'metadata':{'name':'pod-0',"),
		NULL);
	ck_assert_ptr_ne(strstr(bt_strbuf_c(&extended.fake.log), "'NodeNames':['n2','n1']}"), NULL);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__stops_when_no_node_is_left)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", NAMES "},{'urlPrefix':'http://h:2','filterVerb':'g'", NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'NodeNames':[]}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "http://h:1/a/f");
	finish(&extended);
}
END_TEST

#define MANAGES NAMES ",'managedResources':[{'name':'example.com/x'}]"

START_TEST(test_extender__edge_11b_13_managed_resources)
{
	static const struct {
		const char *pod;
		bool interested;
	} rows[] = {
		{"{'spec':{'containers':[{'name':'c'}]}}", false},
		{"{'spec':{'containers':[{'resources':{'requests':{'example.com/x':'0'}}}]}}",
			true},
		{"{'spec':{'containers':[{'resources':{'limits':{'example.com/x':'0'}}}]}}", true},
		{"{'spec':{'initContainers':[{'resources':{'limits':{'example.com/x':'1'}}}]}}",
			true},
		{"{'spec':{'containers':[{'resources':{'limits':{'example.com/y':'1'}}}]}}", false},
		{"{'spec':{'overhead':{'example.com/x':'1'},'containers':[{'name':'c'}]}}", false},
		{"{'spec':{'resources':{'requests':{'example.com/x':'1'}}}}", false},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct extended extended;

		init(&extended, "", MANAGES, NULL, 0);
		world_add_nodes(&extended.world, 1, 2);
		reply(&extended, "f", "{'NodeNames':['n1']}");
		(void)world_schedule(&extended.world, rows[i].pod);
		ck_assert_msg(
			(extended.fake.urls.length != 0) == rows[i].interested, "%s", rows[i].pod);
		finish(&extended);
	}
}
END_TEST

START_TEST(test_extender__edge_11b_14_manages_nothing)
{
	struct extended extended;

	init(&extended, "", NAMES ",'managedResources':[]", NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'NodeNames':['n2']}");
	(void)world_schedule(&extended.world, "{'spec':{'containers':[]}}");
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "http://h:1/a/f");
	finish(&extended);
}
END_TEST

/** --- scores --- */

/** A plugin scores two nodes 7 and 5; total is the expected score of the chosen node. */
struct score_row {
	const char *name;
	const char *extender;
	const char *answer;
	const char *chosen;
	int64_t total;
};

static void check_score_rows(const struct score_row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		for (int form = SCRIPT_PLAIN; form <= SCRIPT_CYCLE_COLUMN; form++) {
			struct script score = script_make("S", SCORE, (enum script_form)form);
			/*
			 * Normalization of this form reverses scores, so the scores are reversed
			 * here.
			 */
			int64_t turn = form == SCRIPT_CYCLE_COLUMN ? -1 : 1;
			int64_t base = form == SCRIPT_CYCLE_COLUMN ? 100 : 0;
			struct script_row nodes[] = {{.node = "n1", .score = base + turn * 7},
				{.node = "n2", .score = base + turn * 5}};
			struct extended extended;
			struct bt_schedule_result result;

			script_set_rows(&score, nodes, 2);
			init(&extended, "S", rows[i].extender, SCRIPTS(&score), 1);
			world_add_nodes(&extended.world, 1, 2);
			reply(&extended, "p", rows[i].answer);
			result = world_schedule(&extended.world, "{}");
			ck_assert_msg(strcmp(world_chosen(&extended.world, &result),
					      rows[i].chosen) == 0 &&
					result.total_score == rows[i].total,
				"%s: %s %lld", rows[i].name, world_chosen(&extended.world, &result),
				(long long)result.total_score);
			finish(&extended);
		}
	}
}

START_TEST(test_extender__edge_11b_15_scores_are_not_clamped)
{
	static const struct score_row rows[] = {
		{"1000", SCORES, "[{'Host':'n2','Score':1000}]", "n2", 10005},
		{"twice", SCORES, "[{'Host':'n2','Score':1},{'host':'n2','score':2}]", "n2", 35},
		{"unknown host", SCORES, "[{'Host':'x','Score':9}]", "n1", 7},
		{"none", SCORES, "[]", "n1", 7},
		{"null", SCORES, "null", "n1", 7},
		{"wraps", SCORES, "[{'Host':'n1','Score':9223372036854775807}]", "n1", -3},
	};
	static const struct score_row wrapping = {"wraps below", SCORES,
		"[{'Host':'n1','Score':9223372036854775807},{'Host':'n2','Score':-10}]", "n1", -3};
	check_score_rows(rows, BT_ARRAY_LENGTH(rows) - 1);
	check_score_rows(&wrapping, 1);
}
END_TEST

START_TEST(test_extender__edge_11b_16_negative_score)
{
	static const struct score_row rows[] = {
		{"-5", SCORES, "[{'Host':'n1','Score':-5}]", "n2", 5},
		{"-5 on both", SCORES, "[{'Host':'n1','Score':-5},{'Host':'n2','Score':-5}]", "n1",
			7 - 50},
		{"weight 3", A ",'prioritizeVerb':'p','weight':3",
			"[{'Host':'n1','Score':-5},{'Host':'n2','Score':-5}]", "n1", 7 - 150},
	};
	check_score_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__edge_11b_17_one_feasible_node)
{
	struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
	struct script_row nodes[] = {{.node = "n1", .filter = {2, "r", NULL}}};
	struct extended extended;
	struct bt_schedule_result result;

	script_set_rows(&filter, nodes, 1);
	init(&extended, "F", SCORES, SCRIPTS(&filter), 1);
	world_add_nodes(&extended.world, 1, 2);
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(world_chosen(&extended.world, &result), "n2");
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "");
	ck_assert_uint_eq(result.evaluated_count, 2);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_11b_18_prioritize_fails)
{
	static const char *const ignorable[] = {"", ",'ignorable':true"};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(ignorable); i++) {
		struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
		struct script_row nodes[] = {{.node = "n2", .score = 5}};
		struct bt_arena arena = {0};
		struct extended extended;
		struct bt_schedule_result result;

		script_set_rows(&score, nodes, 1);
		init(&extended, "S", bt_arena_printf(&arena, SCORES "%s", ignorable[i]).data,
			SCRIPTS(&score), 1);
		world_add_nodes(&extended.world, 1, 2);
		break_off(&extended, "p", 500, NULL);
		result = world_schedule(&extended.world, "{}");
		ck_assert_str_eq(world_chosen(&extended.world, &result), "n2");
		ck_assert_int_eq(result.total_score, 5);
		ck_assert_str_eq(bt_strbuf_c(&extended.fake.ignored),
			"V(5) Failed to run extender's priority function. No score given by this "
			"extender. http://h:1/a failed p with extender at URL http://h:1/a/p, "
			"code 500\n");
		finish(&extended);
		bt_arena_finish(&arena);
	}
}
END_TEST

START_TEST(test_extender__equal_scores_are_drawn)
{
	struct extended extended;
	uint32_t chosen[3] = {0};

	/*
	 * An extender without verbs gives every node the score 0. So every node has a score from an
	 * extender, and one of the nodes with equal scores is drawn at random.
	 */
	init(&extended, "", SCORES "},{'urlPrefix':'http://h:2'", NULL, 0);
	world_add_nodes(&extended.world, 0, 3);
	reply(&extended, "p", "[]");
	for (uint32_t i = 0; i < 60; i++) {
		struct bt_schedule_result result = world_schedule(&extended.world, "{}");
		chosen[world_chosen(&extended.world, &result)[1] - '0']++;
	}
	ck_assert_uint_gt(chosen[0], 5);
	ck_assert_uint_gt(chosen[1], 5);
	ck_assert_uint_gt(chosen[2], 5);
	/* If the extender does not answer, the heap decides, as without extenders. */
	finish(&extended);
	init(&extended, "", SCORES, NULL, 0);
	world_add_nodes(&extended.world, 0, 3);
	break_off(&extended, "p", 0, "refused");
	for (uint32_t i = 0; i < 6; i++) {
		struct bt_schedule_result result = world_schedule(&extended.world, "{}");
		ck_assert_str_eq(world_chosen(&extended.world, &result), "n0");
	}
	finish(&extended);
}
END_TEST

/** --- spec 03 section 15 --- */

START_TEST(test_extender__edge_03_11_filter_and_extender)
{
	for (int form = SCRIPT_PLAIN; form <= SCRIPT_CYCLE_COLUMN; form++) {
		struct script filter = script_make("F", FILTER | SCORE, (enum script_form)form);
		struct script_row nodes[] = {{.node = "n3", .filter = {2, "r", NULL}}};
		struct extended extended;
		struct bt_schedule_result result;

		script_set_rows(&filter, nodes, 1);
		init(&extended, "F", NAMES, SCRIPTS(&filter), 1);
		world_add_nodes(&extended.world, 1, 3);
		reply(&extended, "f", "{'NodeNames':[],'FailedNodes':{'n1':'x','n2':'y'}}");
		result = world_schedule(&extended.world, "{}");
		ck_assert_str_eq(world_message(&extended.world, &result),
			"0/3 nodes are available: 1 r, 1 x, 1 y.");
		ck_assert_uint_eq(result.diagnosis.statuses.entries.count, 3);
		ck_assert_str_eq(
			world_plugins(&extended.world, &result.diagnosis.unschedulable_plugins),
			"F");
		ck_assert(result.diagnosis.rejected_by_extender);
		ck_assert_uint_eq(result.evaluated_count, 3);
		finish(&extended);
	}
}
END_TEST

START_TEST(test_extender__edge_03_12_one_node_dropped_silently)
{
	struct script score = script_make("S", SCORE, SCRIPT_COLUMN);
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "S", NAMES, SCRIPTS(&score), 1);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'NodeNames':['n2']}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(world_chosen(&extended.world, &result), "n2");
	ck_assert_uint_eq(result.feasible_count, 1);
	ck_assert_uint_eq(result.diagnosis.statuses.entries.count, 0);
	ck_assert_uint_eq(score.fake.calls[FAKE_SCORE], 0);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_03_13_both_failed_maps)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", NAMES, NULL, 0);
	world_add_nodes(&extended.world, 1, 1);
	reply(&extended, "f",
		"{'NodeNames':[],'FailedNodes':{'n1':'a'},"
		"'FailedAndUnresolvableNodes':{'n1':'b'}}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.diagnosis.statuses.entries.items[0].status.code,
		BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	ck_assert_str_eq(world_message(&extended.world, &result), "0/1 nodes are available: 1 b.");
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_03_14_errors)
{
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "", NAMES ",'ignorable':true", NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'Error':'broken'}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	finish(&extended);
	init(&extended, "", NAMES, NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f", "{'Error':'broken'}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&extended.world, &result), "broken");
	finish(&extended);
}
END_TEST

START_TEST(test_extender__edge_03_22_weight)
{
	static const struct score_row rows[] = {
		{"8 times 5", A ",'prioritizeVerb':'p','weight':5", "[{'Host':'n2','Score':8}]",
			"n2", 405},
	};
	check_score_rows(rows, BT_ARRAY_LENGTH(rows));
}
END_TEST

START_TEST(test_extender__statuses_are_a_map)
{
	struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
	struct script_row nodes[] = {{.node = "n3", .filter = {2, "r", NULL}}};
	struct extended extended;
	struct bt_schedule_result result;

	/*
	 * A later reason for a node replaces the earlier reason; unknown node names count once
	 * each.
	 */
	script_set_rows(&filter, nodes, 1);
	init(&extended, "F",
		NAMES "},{'urlPrefix':'http://h:2','filterVerb':'g','nodeCacheCapable':true",
		SCRIPTS(&filter), 1);
	world_add_nodes(&extended.world, 1, 4);
	reply(&extended, "f",
		"{'NodeNames':['n1','n2'],'FailedNodes':{'n3':'x','n4':'x','ghost':'boo'}}");
	fake_poster_reply(&extended.fake, "http://h:2/g",
		"{'NodeNames':[],'FailedNodes':{'n4':'z','ghost':'hu'}}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(world_message(&extended.world, &result),
		"0/4 nodes are available: 1 hu, 1 x, 1 z.");
	ck_assert_uint_eq(result.evaluated_count, 3);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__nominated_node_is_sent_alone)
{
	struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
	struct extended extended;
	struct bt_schedule_result result;

	init(&extended, "F", NAMES, SCRIPTS(&filter), 1);
	world_add_nodes(&extended.world, 1, 3);
	reply(&extended, "f", "{'NodeNames':['n2']}");
	result = world_schedule(&extended.world, "{'status':{'nominatedNodeName':'n2'}}");
	ck_assert_str_eq(world_chosen(&extended.world, &result), "n2");
	ck_assert_ptr_ne(strstr(fake_poster_log(&extended.fake), "'NodeNames':['n2']}"), NULL);
	ck_assert_uint_eq(extended.world.engine->next_start_node_index, 0);
	/*
	 * The extender rejects the nominated node: the full search follows and sends all nodes to
	 * the extender.
	 */
	(void)fake_poster_urls(&extended.fake);
	reply(&extended, "f", "{'NodeNames':[],'FailedNodes':{'n2':'x'}}");
	result = world_schedule(&extended.world, "{'status':{'nominatedNodeName':'n2'}}");
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "http://h:1/a/f http://h:1/a/f");
	ck_assert_str_eq(world_message(&extended.world, &result), "0/3 nodes are available: 1 x.");
	/*
	 * An error for the nominated node does not end the cycle. Here the full search gets the
	 * same error and ends the cycle.
	 */
	break_off(&extended, "f", 0, "refused");
	result = world_schedule(&extended.world, "{'status':{'nominatedNodeName':'n2'}}");
	ck_assert_str_eq(fake_poster_urls(&extended.fake), "http://h:1/a/f http://h:1/a/f");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	finish(&extended);
}
END_TEST

START_TEST(test_extender__search_goes_on_without_score_plugins)
{
	static const struct {
		const char *extender;
		uint32_t feasible;
	} rows[] = {
		{A ",'bindVerb':'b'", 1},
		{SCORES, 3},
		/* managedResources are not considered here. */
		{SCORES ",'managedResources':[{'name':'example.com/x'}]", 3},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
		struct extended extended;
		struct bt_schedule_result result;

		init(&extended, "F", rows[i].extender, SCRIPTS(&filter), 1);
		world_add_nodes(&extended.world, 1, 3);
		reply(&extended, "p", "[]");
		result = world_schedule(&extended.world, "{}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert_uint_eq(result.feasible_count, rows[i].feasible);
		/* the total score starts at 0, and nothing scored the node */
		ck_assert_int_eq(result.total_score, 0);
		finish(&extended);
	}
}
END_TEST

START_TEST(test_extender__silence_counts_as_narrowing)
{
	static const char *const names[] = {"n1", "n2"};
	struct script filter =
		script_make("F", FILTER | SCORE | FAKE_ROLE(FAKE_PRE_FILTER), SCRIPT_PLAIN);
	struct extended extended;
	struct bt_schedule_result result;

	filter.fake.node_names = names;
	filter.fake.node_name_count = 2;
	init(&extended, "F", NAMES, SCRIPTS(&filter), 1);
	world_add_nodes(&extended.world, 1, 3);
	reply(&extended, "f", "{'NodeNames':[],'FailedNodes':{'n1':'x'}}");
	result = world_schedule(&extended.world, "{}");
	ck_assert_str_eq(world_message(&extended.world, &result),
		"0/3 nodes are available: 1 x, 2 node(s) didn't satisfy plugin(s) [F].");
	finish(&extended);
}
END_TEST

#define FIT "NodeResourcesFit"

START_TEST(test_extender__returned_objects_have_no_pods)
{
	static const struct {
		const char *extender;
		const char *answer;
		const char *chosen;
	} rows[] = {
		/* Least allocated: n2 is empty. */
		{NAMES, "{'NodeNames':['n1','n2']}", "n2"},
		/* Without pods n1 has more room. */
		{FILTERS,
			"{'Nodes':{'items':[{'metadata':{'name':'n1'}},{'metadata':{'name':'n2'}}]"
			"}}",
			"n1"},
	};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct extended extended;
		struct bt_schedule_result result;

		init(&extended, FIT, rows[i].extender, NULL, 0);
		world_add_node(&extended.world,
			"{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'8','memory':"
			"'8Gi','pods':'9'}}}");
		world_add_node(&extended.world,
			"{'metadata':{'name':'n2'},'status':{'allocatable':{'cpu':'4','memory':"
			"'4Gi','pods':'9'}}}");
		world_add_pod(&extended.world,
			"{'spec':{'nodeName':'n1','containers':[{'resources':{'requests':{'cpu':"
			"'6','memory':'6Gi'}}}]}}");
		reply(&extended, "f", rows[i].answer);
		result = world_schedule(&extended.world,
			"{'spec':{'containers':[{'resources':{'requests':{'cpu':'1','memory':"
			"'1Gi'}}}]}}");
		ck_assert_str_eq(world_chosen(&extended.world, &result), rows[i].chosen);
		finish(&extended);
	}
}
END_TEST

START_TEST(test_extender__objects_go_on_as_they_came)
{
	struct extended extended;

	init(&extended, "", FILTERS "},{'urlPrefix':'http://h:2','filterVerb':'g'", NULL, 0);
	world_add_nodes(&extended.world, 1, 2);
	reply(&extended, "f",
		"{'Nodes':{'items':[{'metadata':{'name':'n2','annotations':{'seen':'yes'}}}]}}");
	fake_poster_reply(&extended.fake, "http://h:2/g", "{}");
	(void)world_schedule(&extended.world, "{}");
	ck_assert_ptr_ne(strstr(fake_poster_log(&extended.fake),
				 "'Nodes':{'metadata':{},'items':[{'metadata':{'name':'n2',"
				 "'annotations':{'seen':'yes'}}}]},'NodeNames':null}"),
		NULL);
	finish(&extended);
}
END_TEST

static int refuse(void *context BT_UNUSED, const struct bt_config_extender *config BT_UNUSED,
	const struct bt_extender_ops **out_ops BT_UNUSED, void **out_context BT_UNUSED,
	struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_IO, "no such file");
}

START_TEST(test_extender__carriers_are_made_at_the_start)
{
	static const struct bt_extender_factory refusing = {refuse, NULL};
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_engine *engine = NULL;
	struct extended extended;

	init(&extended, "", NAMES, NULL, 0);
	options.extenders = &refusing;
	ck_assert_int_lt(bt_engine_create(extended.world.config, &options, &engine, &err), 0);
	ck_assert_str_eq(berth_error_message(&err), "couldn't build extenders: no such file");
	berth_error_finish(&err);
	finish(&extended);
}
END_TEST

BT_TEST_MAIN("extender_cycle", test_extender__edge_11b_02_empty_answer,
	test_extender__edge_11b_03_cache_capable_answers_objects,
	test_extender__edge_11b_04_no_names, test_extender__edge_11b_05_names_without_node_cache,
	test_extender__edge_11b_06_name_that_was_not_sent,
	test_extender__edge_11b_07_both_failure_maps,
	test_extender__edge_11b_08_status_other_than_200,
	test_extender__edge_11b_09_error_in_lower_case,
	test_extender__edge_11b_10_ignorable_times_out, test_extender__edge_11b_11_times_out,
	test_extender__edge_11b_12_ignorable_comes_last, test_extender__stops_when_no_node_is_left,
	test_extender__edge_11b_13_managed_resources, test_extender__edge_11b_14_manages_nothing,
	test_extender__edge_11b_15_scores_are_not_clamped,
	test_extender__edge_11b_16_negative_score, test_extender__edge_11b_17_one_feasible_node,
	test_extender__edge_11b_18_prioritize_fails, test_extender__equal_scores_are_drawn,
	test_extender__edge_03_11_filter_and_extender,
	test_extender__edge_03_12_one_node_dropped_silently,
	test_extender__edge_03_13_both_failed_maps, test_extender__edge_03_14_errors,
	test_extender__edge_03_22_weight, test_extender__statuses_are_a_map,
	test_extender__nominated_node_is_sent_alone,
	test_extender__search_goes_on_without_score_plugins,
	test_extender__silence_counts_as_narrowing, test_extender__returned_objects_have_no_pods,
	test_extender__objects_go_on_as_they_came, test_extender__carriers_are_made_at_the_start)

/* SPDX-License-Identifier: Apache-2.0 */
/** Plans: when they are made, kept, repaired and not used at all (sched/plan.h). */
#include <string.h>

#include "base/cpu.h"
#include "base/prng.h"
#include "framework/node_statuses.h"
#include "sched/plan.h"
#include "sched/plan_kernels.h"
#include "sched_world.h"
#include "test_main.h"

#define SCRIPTS(...) ((struct script *[]){__VA_ARGS__})
#define FILTER FAKE_ROLE(FAKE_FILTER)
#define SCORE FAKE_ROLE(FAKE_SCORE)
#define PRE_FILTER FAKE_ROLE(FAKE_PRE_FILTER)

static const struct bt_engine_options verifying = {
	.verify = true, .percentage_of_nodes_to_score = -1};

static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

/* --- cache --- */

static void schedule_priorities(struct world *world, uint32_t first, uint32_t count)
{
	for (uint32_t i = first; i < first + count; i++) {
		struct bt_schedule_result result = world_schedule(
			world, bt_arena_printf(&world->arena, "{'spec':{'priority':%u}}", i).data);

		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	}
}

/* Returns the number of plans made: PreFilter of a pure plugin runs once for each plan. */
static uint32_t plans_made(size_t bytes_max, uint32_t shapes, uint32_t passes)
{
	struct script plugin = script_make("F", PRE_FILTER | FILTER | SCORE, SCRIPT_COLUMN);
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct world world;

	options.plan_bytes_max = bytes_max;
	world_init(&world, "F", &options, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 5);
	for (uint32_t pass = 0; pass < passes; pass++) {
		schedule_priorities(&world, 0, shapes);
	}
	world_finish(&world);
	return plugin.fake.calls[FAKE_PRE_FILTER];
}

START_TEST(test_plan__kept_for_recurring_shapes)
{
	ck_assert_uint_eq(plans_made(0, 5, 10), 5);
	/*
	 * Twelve plans are kept after their first use; for the other shapes a new plan is made at
	 * the second use.
	 */
	ck_assert_uint_eq(plans_made(0, 40, 1), 40);
	ck_assert_uint_eq(plans_made(0, 40, 10), 40 + 28);
}
END_TEST

START_TEST(test_plan__evicted_and_made_again)
{
	/* A limit of one byte: of the plans used twice only the newest is kept. */
	ck_assert_uint_eq(plans_made(1, 40, 4), 40 + 28 + 40 + 40);
	ck_assert_uint_eq(plans_made(1, 1, 10), 1);
}
END_TEST

/*
 * 40 plans need more than a sixteenth of a MiB: a plan that would have to compute its columns anew
 * is dropped.
 */
START_TEST(test_plan__let_go_when_far_behind)
{
	struct script plugin = script_make("F", PRE_FILTER | FILTER | SCORE, SCRIPT_COLUMN);
	struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
	struct world world;
	uint32_t made;

	ck_assert_uint_eq(plans_made(1 << 20, 40, 10), 40 + 28);
	options.plan_bytes_max = 1 << 20;
	world_init(&world, "F", &options, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 5);
	for (uint32_t pass = 0; pass < 2; pass++) {
		schedule_priorities(&world, 0, 40);
	}
	world_add_nodes(&world, 10, 70);
	schedule_priorities(&world, 100, 1);
	schedule_priorities(&world, 100, 1);
	made = plugin.fake.calls[FAKE_PRE_FILTER];
	schedule_priorities(&world, 100, 1);
	ck_assert_uint_eq(plugin.fake.calls[FAKE_PRE_FILTER], made); /* plan kept */
	schedule_priorities(&world, 0, 1);
	ck_assert_uint_eq(plugin.fake.calls[FAKE_PRE_FILTER], made + 1); /* oldest plan dropped */
	world_finish(&world);
}
END_TEST

START_TEST(test_plan__decisions_survive_eviction)
{
	struct script plugin = script_make("F", PRE_FILTER | FILTER | SCORE, SCRIPT_COLUMN);
	struct script_row rows[] = {
		{"n1", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 0}, {"n3", {0}, 9}};
	struct bt_engine_options options = verifying;
	struct world world;

	options.plan_bytes_max = 1;
	script_set_rows(&plugin, rows, 2);
	world_init(&world, "F", &options, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 5);
	for (uint32_t pass = 0; pass < 3; pass++) {
		schedule_priorities(&world, 0, 30);
		world_add_nodes(&world, 10 + pass * 100, 70); /* columns grow beyond their blocks */
	}
	world_finish(&world);
}
END_TEST

/* When the last pod of a shape is gone, another shape gets its id. */
START_TEST(test_plan__id_of_a_dead_shape)
{
	static const char *const pods[] = {"{'spec':{'containers':[{'name':'c','resources':"
					   "{'requests':{'cpu':'500m'}}}]}}",
		"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'2'}}}]}}"};
	uint32_t ids[2];
	struct world world;

	world_init(&world, "{}", &verifying, NULL, 0);
	world_add_node(&world,
		"{'metadata':{'name':'n1'},'status':{'allocatable':{'cpu':'1','pods':'9'}}}");
	for (int i = 0; i < 6; i++) {
		const struct bt_pod *object = world_pod(&world, pods[i % 2]);
		struct bt_pod_info pod;
		struct bt_schedule_result result;

		bt_pod_info_init_pending(world.engine->state, object, &pod);
		ids[i % 2] = pod.shape->id;
		result = world_schedule_pod(&world, &pod);
		ck_assert_int_eq(
			result.outcome, i % 2 == 0 ? BT_OUTCOME_SCHEDULED : BT_OUTCOME_FIT_ERROR);
		bt_pod_info_finish_pending(world.engine->state, &pod);
	}
	ck_assert_uint_eq(ids[0], ids[1]);
	world_finish(&world);
}
END_TEST

START_TEST(test_plan__profiles_have_their_own)
{
	struct script plugin = script_make("F", PRE_FILTER | FILTER | SCORE, SCRIPT_COLUMN);
	struct bt_arena arena = {0};
	struct world world;

	world_init(&world,
		bt_arena_printf(&arena, "{'profiles':[%s,%s]}", world_profile(&arena, "a", "F", ""),
			world_profile(&arena, "b", "F,NodeUnschedulable", ""))
			.data,
		NULL, SCRIPTS(&plugin), 1);
	world_add_node(&world, "{'metadata':{'name':'n1'},'spec':{'unschedulable':true}}");
	world_add_node(&world, "{'metadata':{'name':'n2'}}");
	for (int i = 0; i < 6; i++) {
		/* A shape has one schedulerName, so schedule the same pod with both profiles. */
		const struct bt_pod_info *pod = world_pending(&world, "{}");
		struct bt_schedule_result result;

		bt_engine_schedule(world.engine, world.engine->profiles.frameworks.items[i % 2],
			pod, NULL, &result);
		ck_assert_uint_eq(result.feasible_count, i % 2 == 0 ? 2 : 1);
	}
	ck_assert_uint_eq(plugin.fake.calls[FAKE_PRE_FILTER], 2);
	world_finish(&world);
	bt_arena_finish(&arena);
}
END_TEST

/* --- changes between cycles, with the default profile --- */

static void expect_choice(struct world *world, const char *pod, const char *node)
{
	struct bt_schedule_result result = world_schedule(world, pod);

	ck_assert_msg(strcmp(world_chosen(world, &result), node) == 0, "%s: %s instead of %s", pod,
		world_chosen(world, &result), node);
}

#define NODE(name, labels, spec, more) \
	"{'metadata':{'name':'" name "','labels':{" labels "}},'spec':{" spec \
	"},'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'9'}" more "}}"

static void update(struct world *world, const char *old_json, const char *new_json)
{
	bt_state_update_node(
		world->engine->state, world_node(world, old_json), world_node(world, new_json));
}

START_TEST(test_plan__node_changes_between_cycles)
{
	static const char a[] = NODE("a", "'x':'1'", "", "");
	static const char a_cordoned[] = NODE("a", "'x':'1'", "'unschedulable':true", "");
	static const char a_plain[] = NODE("a", "", "", "");
	static const char b[] = NODE("b", "", "", "");
	static const char b_image[] =
		NODE("b", "", "", ",'images':[{'names':['i:latest'],'sizeBytes':990000000}]");
	static const char b_tainted[] =
		NODE("b", "", "'taints':[{'key':'k','effect':'NoSchedule'}]", "");
	static const char pod[] = "{'spec':{'containers':[{'name':'c','image':'i','resources':"
				  "{'requests':{'cpu':'1','memory':'1Gi'}}}]}}";
	static const char selecting[] = "{'spec':{'nodeSelector':{'x':'1'},'containers':[{"
					"'name':'c','image':'i'}]}}";
	struct bt_engine_options options = verifying;
	struct world world;

	options.tie_policy = BT_TIE_FIRST_BY_NAME;
	world_init(&world, "{}", &options, NULL, 0);
	world_add_node(&world, a);
	expect_choice(&world, pod, "a");
	expect_choice(&world, selecting, "a");
	world_add_node(&world, b);
	expect_choice(&world, pod, "a");
	expect_choice(&world, selecting, "a");
	update(&world, b, b_image);
	expect_choice(&world, pod, "b");
	update(&world, b_image, b_tainted);
	expect_choice(&world, pod, "a");
	update(&world, a, a_cordoned);
	expect_choice(&world, pod, "");
	expect_choice(&world, selecting, "");
	update(&world, b_tainted, b);
	expect_choice(&world, pod, "b");
	update(&world, a_cordoned, a_plain);
	expect_choice(&world, pod, "a");
	expect_choice(&world, selecting, "");
	world_add_pod(&world,
		"{'spec':{'nodeName':'a','containers':[{'name':'c','resources':"
		"{'requests':{'cpu':'1','memory':'1Gi'}}}]}}");
	expect_choice(&world, pod, "b");
	world_remove_node(&world, "b");
	expect_choice(&world, pod, "a");
	world_finish(&world);
}
END_TEST

/*
 * The first node with a soft taint: until then TaintToleration had equal scores for all nodes and
 * no column.
 */
START_TEST(test_plan__first_soft_taint)
{
	static const char a[] = NODE("a", "", "", "");
	static const char a_tainted[] =
		NODE("a", "", "'taints':[{'key':'k','effect':'PreferNoSchedule'}]", "");
	struct bt_engine_options options = verifying;
	struct world world;

	options.tie_policy = BT_TIE_FIRST_BY_NAME;
	world_init(&world, "{}", &options, NULL, 0);
	world_add_node(&world, a);
	world_add_node(&world, NODE("b", "", "", ""));
	world_add_node(&world, NODE("c", "", "", ""));
	for (uint32_t i = 0; i < 3; i++) {
		expect_choice(&world, "{}", "a");
		update(&world, a, a_tainted);
		expect_choice(&world, "{}", "b");
		expect_choice(&world, "{}", "b");
		update(&world, a_tainted, a);
	}
	expect_choice(&world, "{}", "a");
	world_finish(&world);
}
END_TEST

START_TEST(test_plan__wide_amounts_switch_the_form)
{
	static const char pod[] = "{'spec':{'containers':[{'name':'c','resources':{'requests':"
				  "{'cpu':'1','memory':'1Gi'}}}]}}";
	struct bt_engine_options options = verifying;
	struct world world;

	options.tie_policy = BT_TIE_FIRST_BY_NAME;
	world_init(&world, "{}", &options, NULL, 0);
	world_add_node(&world, NODE("a", "", "", ""));
	world_add_node(&world, NODE("b", "", "", ""));
	expect_choice(&world, pod, "a");
	ck_assert(!world.engine->state->nodes.has_wide_values);
	world_add_node(&world,
		"{'metadata':{'name':'c'},'spec':{'unschedulable':true},'status':{'allocatable':{"
		"'cpu':'4','memory':'64Ti',"
		"'pods':'9'}}}");
	expect_choice(&world, pod, "a");
	ck_assert(world.engine->state->nodes.has_wide_values);
	expect_choice(&world, pod, "a");
	world_remove_node(&world, "c");
	expect_choice(&world, pod, "a");
	world_finish(&world);
}
END_TEST

START_TEST(test_plan__more_resources_than_a_verdict_holds)
{
	struct bt_strbuf json = {0};
	struct world world;

	world_init(&world, "{}", &verifying, NULL, 0);
	for (uint32_t n = 0; n < 40; n++) {
		world_add_node(&world,
			bt_arena_printf(&world.arena,
				"{'metadata':{'name':'n%u'},'status':{'allocatable':{'pods':'9',"
				"'e.com/r%u':'1','e.com/r%u':'1'}}}",
				n, n % 25, n / 2)
				.data);
	}
	for (uint32_t resources = 17; resources <= 25; resources++) {
		struct bt_schedule_result result;

		bt_strbuf_reset(&json);
		bt_strbuf_append_c(&json,
			"{'spec':{'containers':[{'name':'c','resources':{"
			"'requests':{");
		for (uint32_t r = 0; r < resources; r++) {
			bt_strbuf_printf(&json, "%s'e.com/r%u':'1'", r == 0 ? "" : ",", r);
		}
		bt_strbuf_append_c(&json, "}}}]}}");
		result = world_schedule(&world, bt_strbuf_c(&json));
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		ck_assert_uint_eq(bt_node_statuses_count(&result.diagnosis.statuses), 40);
	}
	bt_strbuf_finish(&json);
	world_finish(&world);
}
END_TEST

/* --- mixed forms --- */

/*
 * Filters P (plain), C (column) and Y (column made in every cycle) in all orders: the status names
 * the first filter that rejects.
 */
START_TEST(test_plan__first_filter_in_list_order_is_named)
{
	static const char *const orders[] = {"P,C,Y", "P,Y,C", "C,P,Y", "C,Y,P", "Y,P,C", "Y,C,P"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(orders); i++) {
		struct script plain = script_make("P", FILTER, SCRIPT_PLAIN);
		struct script column = script_make("C", FILTER, SCRIPT_COLUMN);
		struct script cycle = script_make("Y", FILTER, SCRIPT_CYCLE_COLUMN);
		struct script_row rows_p[] = {{"n1", {2, "P", NULL}, 0}, {"n2", {2, "P", NULL}, 0},
			{"n4", {2, "P", NULL}, 0}};
		struct script_row rows_c[] = {{"n1", {2, "C", NULL}, 0}, {"n2", {2, "C", NULL}, 0},
			{"n3", {2, "C", NULL}, 0}, {"n5", {2, "C", NULL}, 0}};
		struct script_row rows_y[] = {{"n1", {2, "Y", NULL}, 0}, {"n3", {2, "Y", NULL}, 0},
			{"n4", {2, "Y", NULL}, 0}, {"n6", {2, "Y", NULL}, 0}};
		const char *order = orders[i];
		uint32_t counts[3] = {0}; /* C, P, Y */
		struct world world;
		struct bt_schedule_result result;

		script_set_rows(&plain, rows_p, 3);
		script_set_rows(&column, rows_c, 4);
		script_set_rows(&cycle, rows_y, 4);
		world_init(&world, order, &verifying, SCRIPTS(&plain, &column, &cycle), 3);
		world_add_nodes(&world, 1, 6);
		result = world_schedule(&world, "{}");
		for (int node = 1; node <= 6; node++) {
			static const char *const rejecting[] = {
				"", "PCY", "PC", "CY", "PY", "C", "Y"};

			for (const char *at = order; *at != '\0'; at++) {
				if (*at != ',' && strchr(rejecting[node], *at) != NULL) {
					counts[*at == 'C' ? 0 : *at == 'P' ? 1 : 2]++;
					break;
				}
			}
		}
		ck_assert_uint_eq(result.diagnosis.statuses.entries.count, 6);
		for (uint32_t n = 0; n < result.diagnosis.statuses.entries.count; n++) {
			const struct bt_status *status =
				&result.diagnosis.statuses.entries.items[n].status;
			struct bt_str reason = bt_status_all_reason_at(status, 0);
			struct bt_str name =
				bt_framework_status_plugin_name(world.framework, status);

			ck_assert(bt_str_equal(reason, name));
			counts[reason.data[0] == 'C' ? 0 : reason.data[0] == 'P' ? 1 : 2]--;
		}
		ck_assert_msg(counts[0] == 0 && counts[1] == 0 && counts[2] == 0, "%s: %s", order,
			world_message(&world, &result));
		world_finish(&world);
	}
}
END_TEST

/* An error of a plain filter counts only if no earlier filter rejects the node. */
START_TEST(test_plan__error_of_a_plain_filter_between_columns)
{
	static const struct {
		const char *order;
		bool fails;
	} rows[] = {{"P,C", true}, {"C,P", false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		for (size_t f = 1; f < BT_ARRAY_LENGTH(forms); f++) {
			struct script plain = script_make("P", FILTER, SCRIPT_PLAIN);
			struct script column = script_make("C", FILTER, forms[f]);
			struct script_row rows_p[] = {{"n2", {BT_STATUS_ERROR, NULL, "e"}, 0}};
			struct script_row rows_c[] = {{"n2", {2, "C", NULL}, 0}};
			struct world world;
			struct bt_schedule_result result;

			script_set_rows(&plain, rows_p, 1);
			script_set_rows(&column, rows_c, 1);
			world_init(&world, rows[i].order, NULL, SCRIPTS(&plain, &column), 2);
			world_add_nodes(&world, 1, 3);
			world.engine->next_start_node_index = 1;
			result = world_schedule(&world, "{}");
			ck_assert_int_eq(result.outcome,
				rows[i].fails ? BT_OUTCOME_ERROR : BT_OUTCOME_SCHEDULED);
			world_finish(&world);
		}
	}
}
END_TEST

START_TEST(test_plan__custom_normalization_takes_the_plain_form)
{
	struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
	struct script score = script_make("S", SCORE | FAKE_ROLE(FAKE_NORMALIZE), SCRIPT_COLUMN);
	struct world world;
	struct bt_schedule_result result;

	score.fake.normalized_score = 70;
	world_init(&world, "F,S:2", &verifying, SCRIPTS(&filter, &score), 2);
	world_add_nodes(&world, 1, 3);
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.total_score, 140);
	fake_fail(&score.fake, FAKE_NORMALIZE, "e");
	result = world_schedule(&world, "{}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
	ck_assert_str_eq(world_message(&world, &result),
		"running Normalize on Score plugins: plugin \"S\" failed with: e");
	world_finish(&world);
}
END_TEST

START_TEST(test_plan__weights_beyond_the_columns)
{
	static const struct {
		const char *plugins;
		int64_t expected;
	} rows[] = {{"F,S:10737418,T:1", INT64_C(10737418) * 50 + 100},
		{"F,S:10737419,T:1", INT64_C(10737419) * 50 + 100},
		{"F,S:2147483647,T:2147483647", INT64_C(2147483647) * 150}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
		struct script first = script_make("S", SCORE, SCRIPT_COLUMN);
		struct script second = script_make("T", SCORE, SCRIPT_COLUMN);
		struct script_row rows_s[] = {{"n2", {0}, 50}};
		struct script_row rows_t[] = {{"n2", {0}, 100}};
		struct world world;
		struct bt_schedule_result result;

		script_set_rows(&first, rows_s, 1);
		script_set_rows(&second, rows_t, 1);
		world_init(
			&world, rows[i].plugins, &verifying, SCRIPTS(&filter, &first, &second), 3);
		world_add_nodes(&world, 1, 3);
		result = world_schedule(&world, "{}");
		ck_assert_str_eq(world_chosen(&world, &result), "n2");
		ck_assert_int_eq(result.total_score, rows[i].expected);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_plan__invalid_scores)
{
	static const int64_t scores[] = {101, -1, INT64_MAX, INT64_MIN};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(scores); i++) {
		struct script filter = script_make("F", FILTER, SCRIPT_COLUMN);
		struct script score = script_make("S", SCORE, SCRIPT_PLAIN);
		struct world world;
		struct bt_schedule_result result;

		score.fake.score = scores[i];
		world_init(&world, "F,S", &verifying, SCRIPTS(&filter, &score), 2);
		world_add_nodes(&world, 1, 2);
		result = world_schedule(&world, "{}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_ERROR);
		ck_assert_str_eq(world_message(&world, &result),
			bt_arena_printf(&world.arena,
				"applying score defaultWeights on Score plugins: plugin \"S\" "
				"returns an invalid score %lld, it should in the range of [0, 100] "
				"after normalizing",
				(long long)scores[i])
				.data);
		world_finish(&world);
	}
}
END_TEST

/* PreScore of a plugin without Score gets the feasible nodes, too. */
START_TEST(test_plan__pre_score_alone_sees_the_feasible_nodes)
{
	struct script filter = script_make("F", FILTER | SCORE, SCRIPT_COLUMN);
	struct script listener = script_make("L", FAKE_ROLE(FAKE_PRE_SCORE), SCRIPT_PLAIN);
	struct script_row rows[] = {{"n2", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 0}};
	struct world world;

	script_set_rows(&filter, rows, 1);
	world_init(&world, "F,L", &verifying, SCRIPTS(&filter, &listener), 2);
	world_add_nodes(&world, 1, 4);
	for (int i = 0; i < 2; i++) {
		listener.feasible_least = UINT32_MAX;
		expect_choice(&world, "{}", "n1");
		ck_assert_uint_eq(listener.feasible_least, 3);
	}
	world_finish(&world);
}
END_TEST

/* --- data of PreFilter --- */

static const void *data_seen;

static struct bt_status note_data(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result)
{
	(void)pod;
	(void)statuses;
	(void)out_result;
	data_seen = cycle->pre_filter_data[plugin->index];
	return bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
}

START_TEST(test_plan__data_only_of_pre_filters_that_ran)
{
	static const struct {
		enum bt_status_code code;
		bool seen;
	} rows[] = {
		{BT_STATUS_UNSCHEDULABLE, true}, {BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, false}};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct script first = script_make("P", PRE_FILTER, SCRIPT_PLAIN);
		struct script second = script_make(
			"Q", PRE_FILTER | FILTER | FAKE_ROLE(FAKE_POST_FILTER), SCRIPT_COLUMN);
		struct world world;

		second.fake.ops.post_filter = note_data;
		fake_answer(&first.fake, FAKE_PRE_FILTER, rows[i].code, "r");
		world_init(&world, "P,Q", &verifying, SCRIPTS(&first, &second), 2);
		world_add_nodes(&world, 1, 2);
		(void)world_schedule(&world, "{}");
		ck_assert_msg((data_seen != NULL) == rows[i].seen, "row %zu", i);
		(void)world_schedule(&world, "{}");
		ck_assert_msg((data_seen != NULL) == rows[i].seen, "row %zu, again", i);
		world_finish(&world);
	}
}
END_TEST

static struct bt_status write_by_key(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_pre_filter_result *out_result)
{
	(void)plugin;
	(void)pod;
	(void)out_result;
	bt_cycle_state_write(cycle, BT_STR("key"), BT_ARENA_NEW(cycle->arena, int), NULL);
	return BT_STATUS_OK;
}

static struct bt_status read_by_key(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node)
{
	void *data = NULL;

	(void)plugin;
	(void)pod;
	(void)node;
	return bt_cycle_state_read(cycle, BT_STR("key"), &data, NULL) == 0
		? BT_STATUS_OK
		: bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
}

START_TEST(test_plan__data_by_key_of_a_pure_plugin)
{
	struct script plugin = script_make("P", PRE_FILTER | FILTER, SCRIPT_PLAIN);
	struct world world;

	plugin.fake.shortcuts.pure = true;
	plugin.fake.ops.pre_filter = write_by_key;
	plugin.fake.ops.filter = read_by_key;
	world_init(&world, "P", &verifying, SCRIPTS(&plugin), 1);
	world_add_nodes(&world, 1, 2);
	expect_choice(&world, "{}", "n1");
	expect_choice(&world, "{}", "n2");
	world_finish(&world);
}
END_TEST

/* The profile disables the extension point that prepares the columns. */
START_TEST(test_plan__columns_without_the_earlier_point)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct script plugin = script_make(
			"F", PRE_FILTER | FILTER | FAKE_ROLE(FAKE_PRE_SCORE) | SCORE, forms[i]);
		struct world world;

		world_init(&world,
			"{'profiles':[{'plugins':{'multiPoint':{'disabled':[{'name':'*'}],"
			"'enabled':[{'name':'PrioritySort'},{'name':'DefaultBinder'},{'name':'F'}]}"
			",'preFilter':{'disabled':[{'name':'F'}]},'preScore':{'disabled':[{'name':"
			"'F'}]}}}]}",
			NULL, SCRIPTS(&plugin), 1);
		world_add_nodes(&world, 1, 3);
		expect_choice(&world, "{}", "n1");
		ck_assert_uint_eq(plugin.fake.calls[FAKE_FILTER], 3);
		ck_assert_uint_eq(plugin.fake.calls[FAKE_SCORE], 3);
		world_finish(&world);
	}
}
END_TEST

START_TEST(test_plan__evaluation_of_an_empty_cluster)
{
	struct world world;
	struct bt_evaluation evaluation;

	world_init(&world, "{}", &verifying, NULL, 0);
	bt_engine_evaluate(world.engine, world.framework, world_pending(&world, "{}"), &evaluation);
	ck_assert_uint_eq(evaluation.node_count, 0);
	ck_assert_uint_eq(evaluation.best, UINT32_MAX);
	world_finish(&world);
}
END_TEST

/* --- the loops for each instruction set of this machine --- */

#define KERNEL_SLOTS 301

static void check_kernels(const struct bt_plan_kernels *kernels, struct bt_prng *prng)
{
	static int32_t values[KERNEL_SLOTS];
	static int32_t totals[KERNEL_SLOTS];
	static int32_t before[KERNEL_SLOTS];
	static uint32_t cells[KERNEL_SLOTS];
	static uint32_t verdict[KERNEL_SLOTS];
	static uint32_t found[KERNEL_SLOTS];
	int32_t max = 1 + (int32_t)bt_prng_below(prng, INT32_MAX - 1);
	uint32_t members = 0;
	uint32_t equal = 0;
	uint32_t slot;

	for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
		uint64_t draw = bt_prng_below(prng, 4);
		/* Random numbers, multiples of max / 100, and multiples minus 1. */
		values[i] = draw < 2 ? (int32_t)bt_prng_below(prng, (uint64_t)max + 1)
				     : max / 100 * (int32_t)bt_prng_below(prng, 100);
		values[i] -= draw == 3 && values[i] > 0;
		before[i] = draw == 0 ? BT_TOTAL_INFEASIBLE : (int32_t)bt_prng_below(prng, 50);
		totals[i] = before[i];
		cells[i] = (uint32_t)bt_prng_below(prng, 5);
		verdict[i] = bt_prng_below(prng, 3) == 0 ? BT_VERDICT_OUTSIDE : 0;
		members += cells[i] == 2 && verdict[i] == 0;
	}
	for (int reverse = 0; reverse < 2; reverse++) {
		memcpy(totals, before, sizeof(totals));
		kernels->add_normalized(totals, values, 3, max, reverse != 0, KERNEL_SLOTS);
		for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
			int32_t score = 3 * bt_plan_normalized(values[i], max, reverse != 0);
			ck_assert_int_eq(totals[i],
				before[i] == BT_TOTAL_INFEASIBLE ? before[i] : before[i] + score);
		}
	}
	uint32_t count = kernels->find_equal(before, 7, KERNEL_SLOTS, found);
	for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
		ck_assert(before[i] != 7 || (equal < count && found[equal] == i));
		equal += before[i] == 7;
	}
	ck_assert_uint_eq(count, equal);
	ck_assert_uint_eq(kernels->count_members(cells, verdict, 2, KERNEL_SLOTS, &slot), members);
	ck_assert(slot < KERNEL_SLOTS && cells[slot] == 2 && verdict[slot] == 0);
	ck_assert_uint_eq(kernels->count_members(cells, verdict, 9, KERNEL_SLOTS, &slot), 0);
	ck_assert_uint_eq(slot, BT_SLOT_NONE);
	kernels->start_weighted(totals, 5, (const int32_t *)cells, 11, KERNEL_SLOTS);
	for (uint32_t i = 0; i < KERNEL_SLOTS; i++) {
		ck_assert_int_eq(totals[i], 5 + 11 * (int32_t)cells[i]);
	}
}

START_TEST(test_plan__kernels)
{
	struct bt_prng prng;

	bt_prng_init(&prng, 11);
	for (uint32_t round = 0; round < 200; round++) {
		check_kernels(&bt_plan_kernels_plain, &prng);
#ifdef BT_HAVE_AVX2_KERNELS
		if (bt_cpu_has_avx2()) {
			check_kernels(&bt_plan_kernels_avx2, &prng);
		}
		if (bt_cpu_has_avx512()) {
			check_kernels(&bt_plan_kernels_avx512, &prng);
		}
#endif
	}
}
END_TEST

BT_TEST_MAIN("plan", test_plan__kept_for_recurring_shapes, test_plan__evicted_and_made_again,
	test_plan__let_go_when_far_behind, test_plan__decisions_survive_eviction,
	test_plan__id_of_a_dead_shape, test_plan__profiles_have_their_own,
	test_plan__node_changes_between_cycles, test_plan__first_soft_taint,
	test_plan__wide_amounts_switch_the_form, test_plan__more_resources_than_a_verdict_holds,
	test_plan__first_filter_in_list_order_is_named,
	test_plan__error_of_a_plain_filter_between_columns,
	test_plan__custom_normalization_takes_the_plain_form, test_plan__weights_beyond_the_columns,
	test_plan__invalid_scores, test_plan__pre_score_alone_sees_the_feasible_nodes,
	test_plan__data_only_of_pre_filters_that_ran, test_plan__data_by_key_of_a_pure_plugin,
	test_plan__columns_without_the_earlier_point, test_plan__evaluation_of_an_empty_cluster,
	test_plan__kernels)

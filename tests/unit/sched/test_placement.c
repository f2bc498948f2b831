/* SPDX-License-Identifier: Apache-2.0 */
/** Cycles within a placement: spec 03 sections 3.2 to 3.7, spec 09 section 8. */
#include "base/prng.h"
#include "sched_world.h"
#include "test_main.h"

static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

/** Nodes n1 to n5 and plugin F, whose roles the test chooses. F scores all nodes equally. */
struct placement_case {
	struct script script;
	struct world world;
};

static void init(struct placement_case *test, enum script_form form, uint32_t roles)
{
	static const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};

	test->script = script_make("F", roles, form);
	world_init(&test->world, "F", &options, (struct script *[]){&test->script}, 1);
	world_add_nodes(&test->world, 1, 5);
	ck_assert_int_eq(bt_state_refresh_snapshot(test->world.engine->state, NULL), 0);
}

/** Assumes a placement. names: "n1 n3", in the placement's order. */
static void assume(struct world *world, const char *names)
{
	struct bt_state *state = world->engine->state;
	struct bt_placement_node nodes[16];
	struct bt_str rest = bt_str_from(names);
	uint32_t count = 0;

	while (rest.length != 0) {
		int64_t space = bt_str_find_char(rest, ' ');
		struct bt_str name = space < 0 ? rest : bt_str_sub(rest, 0, (uint32_t)space);

		rest = space < 0 ? BT_STR("") : bt_str_sub(rest, (uint32_t)space + 1, BT_STR_MAX);
		nodes[count++] =
			bt_snapshot_placement_node(state, bt_state_snapshot_find(state, name));
	}
	ck_assert_int_eq(bt_snapshot_assume_placement(state, nodes, count, NULL), 0);
}

static struct bt_schedule_result schedule(struct world *world, const char *pod_json)
{
	struct bt_schedule_result result;

	bt_engine_schedule_in_snapshot(
		world->engine, world->framework, world_pending(world, pod_json), NULL, &result);
	return result;
}

static void end(struct placement_case *test)
{
	bt_snapshot_forget_placement(test->world.engine->state);
	world_finish(&test->world);
}

/** Returns the nodes that Filter ran on, as "n1 n2". */
static const char *filtered(struct placement_case *test)
{
	const struct bt_state *state = test->world.engine->state;
	struct bt_strbuf text = {0};
	struct bt_str copy;

	for (uint32_t i = 0; i < test->script.filtered_count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? " " : "");
		bt_strbuf_append_str(
			&text, bt_node_table_name(&state->nodes, test->script.filtered[i]));
	}
	copy = bt_arena_str(&test->world.arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

START_TEST(test_placement__edge_03_19_a_nominated_node_outside)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct placement_case test;
		struct bt_schedule_result result;

		init(&test, forms[i], FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SCORE));
		assume(&test.world, "n2 n4");
		result = schedule(&test.world, "{'status':{'nominatedNodeName':'n1'}}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert_uint_eq(result.feasible_count, 2);
		ck_assert_str_eq(world_chosen(&test.world, &result), "n2");
		/* A nominated node inside the placement is tried alone. */
		result = schedule(&test.world, "{'status':{'nominatedNodeName':'n4'}}");
		ck_assert_uint_eq(result.feasible_count, 1);
		ck_assert_str_eq(world_chosen(&test.world, &result), "n4");
		/* The nominated node does not exist. */
		result = schedule(&test.world, "{'status':{'nominatedNodeName':'n9'}}");
		ck_assert_uint_eq(result.feasible_count, 2);
		/* After the placement is forgotten, n1 is tried again. */
		bt_snapshot_forget_placement(test.world.engine->state);
		result = schedule(&test.world, "{'status':{'nominatedNodeName':'n1'}}");
		ck_assert_str_eq(world_chosen(&test.world, &result), "n1");
		ck_assert_uint_eq(result.feasible_count, 1);
		end(&test);
	}
}
END_TEST

START_TEST(test_placement__edge_03_19_only_its_nodes_are_searched)
{
	struct placement_case test;
	struct bt_schedule_result result;

	init(&test, SCRIPT_PLAIN, FAKE_ROLE(FAKE_FILTER));
	test.world.engine->options.verify = false; /* verification would call Filter, too */
	fake_answer(&test.script.fake, FAKE_FILTER, BT_STATUS_UNSCHEDULABLE, "r");
	test.script.rows = (struct script_row[]){
		{"n1", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 0},
		{"n2", {BT_STATUS_UNSCHEDULABLE, "r", NULL}, 0},
		{"n4", {BT_STATUS_UNSCHEDULABLE, "s", NULL}, 0},
	};
	test.script.row_count = 3;
	assume(&test.world, "n4 n2");
	test.script.filtered_count = 0;
	result = schedule(&test.world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_str_eq(filtered(&test), "n4 n2");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
	ck_assert_str_eq(world_message(&test.world, &result), "0/2 nodes are available: 1 r, 1 s.");
	ck_assert_uint_eq(result.diagnosis.node_count, 2);
	end(&test);
}
END_TEST

START_TEST(test_placement__messages_count_its_nodes)
{
	static const char *const names[] = {"n1", "n2"};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		struct placement_case test;
		struct bt_schedule_result result;
		struct script_row row = {"n2", {BT_STATUS_UNSCHEDULABLE, "f", NULL}, 0};

		init(&test, forms[i], FAKE_ROLE(FAKE_PRE_FILTER) | FAKE_ROLE(FAKE_FILTER));
		script_set_rows(&test.script, &row, 1);
		test.script.fake.node_names = names;
		test.script.fake.node_name_count = 2;
		assume(&test.world, "n2 n3 n4");
		result = schedule(&test.world, "{}");
		ck_assert_str_eq(world_message(&test.world, &result),
			"0/3 nodes are available: 1 f, 2 node(s) didn't satisfy plugin(s) [F].");
		/* Every node that PreFilter allows is outside of the placement. */
		assume(&test.world, "n3 n4");
		result = schedule(&test.world, "{}");
		ck_assert_str_eq(world_message(&test.world, &result),
			"0/2 nodes are available: 2 node(s) didn't satisfy plugin(s) [F].");
		assume(&test.world, "n3 n1 n4");
		result = schedule(&test.world, "{}");
		ck_assert_str_eq(world_chosen(&test.world, &result), "n1");
		end(&test);
	}
}
END_TEST

START_TEST(test_placement__without_nodes_it_is_an_empty_cluster)
{
	struct placement_case test;
	struct bt_schedule_result result;

	init(&test, SCRIPT_COLUMN, FAKE_ROLE(FAKE_FILTER));
	assume(&test.world, "");
	result = schedule(&test.world, "{'status':{'nominatedNodeName':'n1'}}");
	ck_assert_int_eq(result.outcome, BT_OUTCOME_NO_NODES);
	ck_assert_str_eq(
		world_message(&test.world, &result), "no nodes available to schedule pods");
	ck_assert_int_eq(result.status.code, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	end(&test);
}
END_TEST

START_TEST(test_placement__the_start_index_goes_round_in_it)
{
	/* Without Score plugins the search stops at the first feasible node. */
	static const char *const expected[] = {"n2", "n5", "n3", "n2"};
	struct placement_case test;

	init(&test, SCRIPT_PLAIN, FAKE_ROLE(FAKE_FILTER));
	assume(&test.world, "n5 n3 n2");
	test.world.engine->next_start_node_index = 2;
	for (size_t i = 0; i < BT_ARRAY_LENGTH(expected); i++) {
		struct bt_schedule_result result = schedule(&test.world, "{}");
		ck_assert_str_eq(world_chosen(&test.world, &result), expected[i]);
	}
	ck_assert_uint_eq(test.world.engine->next_start_node_index, 0);
	/* A start index beyond the placement is accepted. */
	test.world.engine->next_start_node_index = 4;
	struct bt_schedule_result result = schedule(&test.world, "{}");
	ck_assert_str_eq(world_chosen(&test.world, &result), "n3");
	ck_assert_uint_eq(test.world.engine->next_start_node_index, 2);
	end(&test);
}
END_TEST

/* --- a placement against a cluster of its nodes alone --- */

#define NODES_MAX 220
#define PODS 12

struct pair {
	struct bt_prng prng;
	struct world whole;
	struct world part;
	struct script scripts[2][2];
	bool chosen[NODES_MAX]; /* by number */
	uint32_t node_count;
	struct bt_pod assumed[PODS];
	uint32_t assumed_count;
};

static uint32_t below(struct pair *pair, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&pair->prng, bound);
}

static const char *pick(struct pair *pair, const char *const *choices, uint32_t count)
{
	return choices[below(pair, count)];
}

#define PICK(pair, choices) pick((pair), (choices), (uint32_t)BT_ARRAY_LENGTH(choices))

static uint32_t number_of(const struct bt_state *state, uint32_t slot)
{
	struct bt_str name = bt_node_table_name(&state->nodes, slot);
	uint32_t number = 0;

	for (uint32_t i = 1; i < name.length; i++) {
		number = number * 10 + (uint32_t)(name.data[i] - '0');
	}
	return number;
}

/* Draws the verdict from the node's name, because slots differ between the clusters. */
static uint32_t verdict_by_name(
	const struct script *script, const struct bt_state *state, uint32_t slot)
{
	return bt_hash_u64(script->seed, number_of(state, slot)) % 4 == 0;
}

static int64_t score_by_name(
	const struct script *script, const struct bt_state *state, uint32_t slot)
{
	return (int64_t)(bt_hash_u64(script->seed + 1, number_of(state, slot)) % 5);
}

static void init_world(
	struct pair *pair, uint32_t which, enum script_form form, uint64_t seed, int32_t percentage)
{
	struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = percentage};
	struct script *filter = &pair->scripts[which][0];
	struct script *score = &pair->scripts[which][1];

	*filter = script_make("F", FAKE_ROLE(FAKE_FILTER), form);
	*score = script_make("S", FAKE_ROLE(FAKE_SCORE), form);
	filter->verdict_of = verdict_by_name;
	score->score_of = score_by_name;
	filter->seed = score->seed = seed;
	world_init(which == 0 ? &pair->whole : &pair->part,
		"NodeUnschedulable,NodeName,TaintToleration:3,NodeAffinity:2,NodeResourcesFit:1,"
		"NodeResourcesBalancedAllocation:1,F,S:2",
		&options, (struct script *[]){filter, score}, 2);
}

static void add_nodes(struct pair *pair)
{
	static const char *const taints[] = {"", "", "{'key':'a','effect':'NoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'}"};
	static const char *const amounts[] = {"1", "2", "3500m", "8"};
	static const char *const disks[] = {"ssd", "hdd"};

	for (uint32_t i = 0; i < pair->node_count; i++) {
		const char *json = bt_arena_printf(&pair->whole.arena,
			"{'metadata':{'name':'n%u','labels':{'disk':'%s'}},'spec':{'taints':[%s],"
			"'unschedulable':%s},'status':{'allocatable':{'pods':'%u','cpu':'%s',"
			"'memory':'%sGi'}}}",
			i, PICK(pair, disks), PICK(pair, taints),
			below(pair, 12) == 0 ? "true" : "false", 1 + below(pair, 4),
			PICK(pair, amounts), PICK(pair, disks)[0] == 's' ? "4" : "2")
					   .data;
		world_add_node(&pair->whole, json);
		if (pair->chosen[i]) {
			world_add_node(&pair->part, json);
		}
	}
}

static const char *random_pod(struct pair *pair)
{
	static const char *const requests[] = {"100m", "500m", "1", "2"};
	static const char *const tolerations[] = {"", "{'key':'a','operator':'Exists'}"};
	uint32_t named = below(pair, pair->node_count);
	const char *affinity = "";
	const char *status = "";

	if (below(pair, 4) == 0) {
		affinity = "'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuring"
			   "Execution':[{'weight':7,'preference':{'matchExpressions':[{'key':"
			   "'disk','operator':'In','values':['ssd']}]}}]}},";
	} else if (below(pair, 6) == 0) {
		affinity = bt_arena_printf(&pair->whole.arena,
			"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuring"
			"Execution':{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name',"
			"'operator':'In','values':['n%u']}]}]}}},",
			named)
				   .data;
	}
	if (below(pair, 3) == 0) {
		status = bt_arena_printf(&pair->whole.arena,
			",'status':{'nominatedNodeName':'n%u'}", below(pair, pair->node_count))
				 .data;
	}
	return bt_arena_printf(&pair->whole.arena,
		"{'spec':{%s'tolerations':[%s],'containers':[{'name':'c','resources':{'requests':"
		"{'cpu':'%s','memory':'256Mi'}}}]}%s}",
		affinity, PICK(pair, tolerations), PICK(pair, requests), status)
		.data;
}

static void assume_part(struct pair *pair)
{
	struct bt_state *state = pair->whole.engine->state;
	struct bt_placement_node nodes[NODES_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < state->snapshot.count; i++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[i];
		if (pair->chosen[number_of(state, slot)]) {
			nodes[count++] = bt_snapshot_placement_node(state, slot);
		}
	}
	ck_assert_int_eq(bt_snapshot_assume_placement(state, nodes, count, NULL), 0);
}

static void expect_equal(struct pair *pair, const char *json)
{
	struct bt_schedule_result whole = schedule(&pair->whole, json);
	struct bt_schedule_result part = schedule(&pair->part, json);

	ck_assert_int_eq(whole.outcome, part.outcome);
	ck_assert_str_eq(world_chosen(&pair->whole, &whole), world_chosen(&pair->part, &part));
	ck_assert_int_eq(whole.total_score, part.total_score);
	ck_assert_uint_eq(whole.feasible_count, part.feasible_count);
	ck_assert_uint_eq(whole.evaluated_count, part.evaluated_count);
	ck_assert_str_eq(world_message(&pair->whole, &whole), world_message(&pair->part, &part));
	ck_assert_str_eq(world_plugins(&pair->whole, &whole.diagnosis.unschedulable_plugins),
		world_plugins(&pair->part, &part.diagnosis.unschedulable_plugins));
	ck_assert_uint_eq(pair->whole.engine->next_start_node_index,
		pair->part.engine->next_start_node_index);
	if (whole.outcome != BT_OUTCOME_SCHEDULED) {
		return;
	}
	struct bt_pod pod = *pair->whole.pods.items[pair->whole.pods.count - 1]->object;
	pod.spec.node_name = bt_str_from(world_chosen(&pair->whole, &whole));
	ck_assert_int_eq(bt_snapshot_assume_pod(pair->whole.engine->state, &pod, NULL), 0);
	ck_assert_int_eq(bt_snapshot_assume_pod(pair->part.engine->state, &pod, NULL), 0);
	pair->assumed[pair->assumed_count++] = pod;
}

static void compare_one(uint64_t seed, uint32_t *scheduled)
{
	struct pair pair = {0};
	struct berth_error err = BERTH_ERROR_INIT;

	bt_prng_init(&pair.prng, seed);
	enum script_form form = forms[below(&pair, 3)];
	int32_t percentage = below(&pair, 2) == 0 ? 10 : 100;
	pair.node_count = below(&pair, 3) == 0 ? NODES_MAX : 2 + below(&pair, 30);
	for (uint32_t i = 0; i < pair.node_count; i++) {
		pair.chosen[i] = below(&pair, 4) != 0;
	}
	pair.chosen[0] = true;
	init_world(&pair, 0, form, seed, percentage);
	init_world(&pair, 1, form, seed, percentage);
	add_nodes(&pair);
	ck_assert_int_eq(bt_state_refresh_snapshot(pair.whole.engine->state, &err), 0);
	ck_assert_int_eq(bt_state_refresh_snapshot(pair.part.engine->state, &err), 0);
	assume_part(&pair);
	pair.whole.engine->next_start_node_index = below(&pair, pair.node_count);
	pair.part.engine->next_start_node_index = pair.whole.engine->next_start_node_index;
	const char *again = random_pod(&pair);
	for (uint32_t i = 0; i < PODS; i++) {
		expect_equal(&pair, below(&pair, 2) == 0 ? again : random_pod(&pair));
	}
	*scheduled += pair.assumed_count;
	for (uint32_t i = pair.assumed_count; i-- > 0;) {
		ck_assert_int_eq(
			bt_snapshot_forget_pod(pair.whole.engine->state, &pair.assumed[i], NULL),
			0);
		ck_assert_int_eq(
			bt_snapshot_forget_pod(pair.part.engine->state, &pair.assumed[i], NULL), 0);
	}
	bt_snapshot_forget_placement(pair.whole.engine->state);
	world_finish(&pair.whole);
	world_finish(&pair.part);
}

START_TEST(test_placement__as_a_cluster_of_its_nodes_alone)
{
	uint32_t scheduled = 0;

	for (uint64_t seed = 1; seed <= 120; seed++) {
		compare_one(seed, &scheduled);
	}
	ck_assert_uint_gt(scheduled, 400);
	ck_assert_uint_lt(scheduled, 120 * PODS);
}
END_TEST

BT_TEST_MAIN("placement", test_placement__edge_03_19_a_nominated_node_outside,
	test_placement__edge_03_19_only_its_nodes_are_searched,
	test_placement__messages_count_its_nodes,
	test_placement__without_nodes_it_is_an_empty_cluster,
	test_placement__the_start_index_goes_round_in_it,
	test_placement__as_a_cluster_of_its_nodes_alone)

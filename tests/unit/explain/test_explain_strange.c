/* SPDX-License-Identifier: Apache-2.0 */
/** Unknown plugins, nominations of other pods, and hostile input. */
#include "test_main.h"
#include "town.h"

#define ROOM(cpu) "'status':{'allocatable':{'cpu':'" cpu "','memory':'8Gi','pods':'10'}}"
#define ASK_CPU(cpu) "'containers':[{'resources':{'requests':{'cpu':'" cpu "'}}}]"
#define SCRIPTS(...) ((struct script *[]){__VA_ARGS__})

static void add_two_nodes(struct town *town)
{
	town_add_node(town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_add_node(town, "{'metadata':{'name':'b'}," ROOM("1") "}");
}

START_TEST(test_explain_strange__foreign_filter)
{
	struct script foreign = script_make("Foreign", FAKE_ROLE(FAKE_FILTER), SCRIPT_PLAIN);
	struct script_row rows[] = {{.node = "a", .filter = {2, "not on a Tuesday", NULL}}};
	struct town town;
	struct bt_explanation explanation;

	script_set_rows(&foreign, rows, 1);
	town_init_scripted(&town, "NodeResourcesFit, Foreign", SCRIPTS(&foreign), 1);
	add_two_nodes(&town);
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("2") "}}"), 5, &explanation);
	ck_assert_str_eq(explanation.message.data,
		"0/2 nodes are available: 1 Insufficient cpu, 1 not on a Tuesday.");
	ck_assert(town_node(&explanation, "a")->is_final);
	ck_assert_uint_eq(town_node(&explanation, "a")->remedies.count, 0);
	ck_assert(bt_str_equal_c(
		town_node(&explanation, "a")->obstacles.items[0].reasons, "not on a Tuesday"));
	ck_assert(!explanation.preemption.ran);
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"LowerRequest cpu 1000 -> b (1)\nFreeResource b cpu 1000 -> b (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain_strange__plugin_error)
{
	struct script foreign = script_make("Foreign", FAKE_ROLE(FAKE_FILTER), SCRIPT_PLAIN);
	struct town town;
	struct bt_explanation explanation;

	fake_fail(&foreign.fake, FAKE_FILTER, "out of order");
	town_init_scripted(&town, "Foreign", SCRIPTS(&foreign), 1);
	add_two_nodes(&town);
	town_explain(&town, town_pod(&town, "{}"), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_ERROR);
	ck_assert_str_eq(
		explanation.message.data, "running \"Foreign\" filter plugin: out of order");
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain_strange__pre_filter_rejects_all)
{
	struct script foreign = script_make("Foreign", FAKE_ROLE(FAKE_PRE_FILTER), SCRIPT_PLAIN);
	struct town town;
	struct bt_explanation explanation;

	fake_answer(&foreign.fake, FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE, "no way");
	town_init_scripted(&town, "Foreign", SCRIPTS(&foreign), 1);
	add_two_nodes(&town);
	town_explain(&town, town_pod(&town, "{}"), 5, &explanation);
	ck_assert_str_eq(explanation.message.data, "0/2 nodes are available: no way.");
	ck_assert_str_eq(town_groups(&town, &explanation), "Foreign*: no way: a b\n");
	ck_assert_str_eq(town_obstacles(&town, &explanation, "a"), "Foreign: \n");
	ck_assert(town_node(&explanation, "a")->is_final);
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/**
 * No node has both names, so PreFilter rejects the pod. Without this rejection, only one of the
 * nodes would be too small.
 */
START_TEST(test_explain_strange__behind_a_rejection_of_all)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	add_two_nodes(&town);
	town_explain(&town,
		town_pod(&town,
			"{'spec':{" ASK_CPU("2") ",'affinity':{'nodeAffinity':{"
						 "'requiredDuringSchedulingIgnoredDuringExecution':"
						 "{'nodeSelectorTerms':["
						 "{'matchFields':[{'key':'metadata.name','operator'"
						 ":'In','values':['a']},"
						 "{'key':'metadata.name','operator':'In','values':["
						 "'b']}]}]}}}}}"),
		5, &explanation);
	ck_assert_uint_eq(explanation.groups.count, 1);
	ck_assert(explanation.groups.items[0].in_pre_filter);
	ck_assert_str_eq(town_obstacles(&town, &explanation, "b"),
		"NodeAffinity: the pod's node affinity names other nodes\n"
		"NodeResourcesFit: has only 1 of 2 cpu in all\n");
	ck_assert_str_eq(town_proposals(&town, &explanation), "DropNodeAffinity -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain_strange__foreign_gate)
{
	struct script foreign = script_make("Foreign", FAKE_ROLE(FAKE_PRE_ENQUEUE), SCRIPT_PLAIN);
	struct town town;
	struct bt_explanation explanation;

	fake_answer(&foreign.fake, FAKE_PRE_ENQUEUE, BT_STATUS_UNSCHEDULABLE, "not yet");
	town_init_scripted(&town, "Foreign", SCRIPTS(&foreign), 1);
	add_two_nodes(&town);
	town_explain(&town, town_pod(&town, "{}"), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_GATED);
	ck_assert_str_eq(explanation.message.data, "not yet");
	ck_assert_uint_eq(explanation.entry_remedies.count, 0);
	ck_assert_uint_eq(explanation.feasible_count, 2);
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** Room that is reserved for a nominated pod of higher priority is not free. */
START_TEST(test_explain_strange__nominated_pods_count)
{
	struct town town;
	struct bt_explanation explanation;
	const struct bt_pod_info *promised;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	promised = world_pending(&town.world, "{'spec':{'priority':100," ASK_CPU("3") "}}");
	bt_nominator_add(&town.world.engine->nominator, promised, BT_STR("a"), true);
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("2") "}}"), 5, &explanation);
	ck_assert_str_eq(
		town_obstacles(&town, &explanation, "a"), "NodeResourcesFit: needs 1 more cpu\n");
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"FreeResource a cpu 1000 -> a (1)\nLowerRequest cpu 1000 -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** Returns `count` numbered copies of the part, separated by commas. */
static const char *repeat(struct town *town, const char *before, const char *after, uint32_t count)
{
	struct bt_strbuf text = {0};
	const char *kept;

	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&text, "%s%s%u%s", i == 0 ? "" : ",", before, i, after);
	}
	kept = bt_arena_str(&town->world.arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return kept;
}

START_TEST(test_explain_strange__too_much_of_everything)
{
	struct town town;
	struct bt_explanation explanation;
	struct bt_str json;

	town_init(&town, "{}");
	json = bt_arena_printf(&town.world.arena,
		"{'metadata':{'name':'a'},'spec':{'taints':[%s]},'status':{'allocatable':{'cpu':"
		"'9223372036854775807','memory':'1','pods':'9223372036854775807'}}}",
		repeat(&town, "{'key':'k", "','effect':'NoSchedule'}", 5000));
	town_add_node(&town, json.data);
	json = bt_arena_printf(&town.world.arena,
		"{'spec':{'nodeSelector':{%s},'affinity':{'nodeAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[%s]}}},"
		"'containers':[{'ports':[%s],'resources':{'requests':{'cpu':"
		"'9223372036854775807','memory':'9223372036854775807',%s}}}]}}",
		repeat(&town, "'s", "':'v'", 2000),
		repeat(&town, "{'matchExpressions':[{'operator':'Exists','key':'e", "'}]}", 2000),
		repeat(&town, "{'hostPort':", "}", 2000),
		repeat(&town, "'example.com/r", "':'9223372036854775807'", 2000));
	town_explain(&town, town_pod(&town, json.data), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_UNSCHEDULABLE);
	ck_assert(town_node(&explanation, "a")->is_final);
	for (uint32_t i = 0; i < explanation.nodes.items[0].obstacles.count; i++) {
		ck_assert_uint_le(explanation.nodes.items[0].obstacles.items[i].hint.length, 300);
	}
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("explain_strange", test_explain_strange__foreign_filter,
	test_explain_strange__plugin_error, test_explain_strange__pre_filter_rejects_all,
	test_explain_strange__behind_a_rejection_of_all, test_explain_strange__foreign_gate,
	test_explain_strange__nominated_pods_count, test_explain_strange__too_much_of_everything)

/* SPDX-License-Identifier: Apache-2.0 */
/** Outcomes, groups and proposals of small clusters made by hand. */
#include "test_main.h"
#include "town.h"

#define ROOM(cpu) "'status':{'allocatable':{'cpu':'" cpu "','memory':'8Gi','pods':'10'}}"
#define ASKING(what) "{'resources':{'requests':{" what "}}}"
#define ASK_CPU(cpu) "'containers':[{'resources':{'requests':{'cpu':'" cpu "'}}}]"

START_TEST(test_explain__fits)
{
	struct town town;
	struct bt_explanation explanation;
	const struct bt_explained_node *node;
	int64_t sum = 0;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'b'}," ROOM("4") "}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_add_node(&town, "{'metadata':{'name':'c'}," ROOM("1") "}");
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("2") "}}"), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_FITS);
	ck_assert_uint_eq(explanation.message.length, 0);
	ck_assert(bt_str_equal_c(explanation.best_node, "a"));
	ck_assert(bt_str_equal_c(explanation.profile, "default-scheduler"));
	ck_assert_uint_eq(explanation.node_count, 3);
	ck_assert_uint_eq(explanation.feasible_count, 2);
	ck_assert_uint_eq(explanation.proposals.count, 0);
	ck_assert_str_eq(
		town_groups(&town, &explanation), "NodeResourcesFit: Insufficient cpu: c\n");
	node = town_node(&explanation, "a");
	ck_assert_uint_eq(node->group, BT_EXPLAIN_GROUP_NONE);
	ck_assert_uint_gt(node->scores.count, 0);
	for (uint32_t i = 0; i < node->scores.count; i++) {
		sum += node->scores.items[i].score;
	}
	ck_assert_int_eq(sum, node->total_score);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__no_nodes)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_explain(&town, town_pod(&town, "{}"), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_NO_NODES);
	ck_assert(bt_str_equal_c(explanation.message, "no nodes available to schedule pods"));
	ck_assert_uint_eq(explanation.nodes.count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__gates_are_part_of_every_proposal)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_explain(&town,
		town_pod(&town,
			"{'spec':{'schedulingGates':[{'name':'g1'},{'name':'g2'}]," ASK_CPU(
				"2") "}}"),
		5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_GATED);
	ck_assert(bt_str_equal_c(explanation.message, "waiting for scheduling gates: [g1 g2]"));
	ck_assert_uint_eq(explanation.feasible_count, 1);
	ck_assert_str_eq(
		town_proposals(&town, &explanation), "RemoveGate g1; RemoveGate g2 -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_explain(&town,
		town_pod(&town, "{'spec':{'schedulingGates':[{'name':'g'}]," ASK_CPU("5") "}}"), 5,
		&explanation);
	ck_assert_str_eq(town_remedies(&town, explanation.entry_remedies.items,
				 explanation.entry_remedies.count),
		"RemoveGate g");
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"LowerRequest cpu 1000; RemoveGate g -> a (1)\n"
		"FreeResource a cpu 1000; RemoveGate g -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__profile_not_found)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_explain(&town, town_pod(&town, "{'spec':{'schedulerName':'other'}}"), 5, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_NOT_HANDLED);
	ck_assert(bt_str_equal_c(
		explanation.message, "profile not found for scheduler name \"other\""));
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"SetSchedulerName default-scheduler -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__nearest_first)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'small'}," ROOM("1") "}");
	town_add_node(&town, "{'metadata':{'name':'near'}," ROOM("3800m") "}");
	town_add_node(&town, "{'metadata':{'name':'far'}," ROOM("2") "}");
	town_add_node(&town,
		"{'metadata':{'name':'tainted'},'spec':{'taints':[{'key':'k','effect':"
		"'NoSchedule'}]}," ROOM("2") "}");
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("4") "}}"), 2, &explanation);
	ck_assert_int_eq(explanation.fate, BT_EXPLAINED_UNSCHEDULABLE);
	ck_assert_str_eq(town_groups(&town, &explanation),
		"NodeResourcesFit: Insufficient cpu: near far small\n"
		"TaintToleration: node(s) had untolerated taint(s): tainted\n");
	ck_assert_str_eq(town_obstacles(&town, &explanation, "tainted"),
		"TaintToleration: has taint k:NoSchedule\n"
		"NodeResourcesFit: has only 2 of 4 cpu in all\n");
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"LowerRequest cpu 200 -> near (1)\nFreeResource near cpu 200 -> near (1)\n");
	ck_assert_uint_eq(explanation.untried_count, 3);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** Both nodes lack more labels than a proposal may change; the one that lacks fewer comes first. */
START_TEST(test_explain__nearest_first_beyond_the_limit)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'far'}," ROOM("4") "}");
	town_add_node(&town,
		"{'metadata':{'name':'near','labels':{'a':'1','b':'1','c':'1'}}," ROOM("4") "}");
	town_explain(&town,
		town_pod(&town,
			"{'spec':{'nodeSelector':{'a':'1','b':'1','c':'1','d':'1','e':'1','f':'1',"
			"'g':'1','h':'1','i':'1','j':'1','k':'1','l':'1','m':'1','n':'1','o':'1',"
			"'p':'1'}}}"),
		2, &explanation);
	ck_assert(town_node(&explanation, "far")->is_final);
	ck_assert(town_node(&explanation, "near")->is_final);
	ck_assert_str_eq(town_groups(&town, &explanation),
		"NodeAffinity: node(s) didn't match Pod's node affinity/selector: near far\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__one_toleration_opens_many)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	for (uint32_t i = 0; i < 20; i++) {
		town_add_node(&town,
			bt_arena_printf(&town.world.arena,
				"{'metadata':{'name':'t%02u'},'spec':{'taints':[{'key':'k',"
				"'value':'v','effect':'NoSchedule'}]}," ROOM("4") "}",
				i)
				.data);
	}
	town_add_node(&town, "{'metadata':{'name':'near'}," ROOM("2") "}");
	world_add_pod(&town.world, "{'spec':{'nodeName':'near'," ASK_CPU("100m") "}}");
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("2") "}}"), 5, &explanation);
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"Tolerate k v NoSchedule -> t00 (20)\nFreeResource near cpu 100 -> near (1)\n"
		"LowerRequest cpu 100 -> near (1)\n");
	ck_assert_uint_eq(explanation.untried_count, 0);
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__label_or_selector)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_add_node(&town, "{'metadata':{'name':'b'}," ROOM("4") "}");
	town_explain(&town, town_pod(&town, "{'spec':{'nodeSelector':{'disk':'ssd'}}}"), 5,
		&explanation);
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"DropNodeSelector disk -> a (2)\nSetLabel a disk ssd -> a (1)\n"
		"SetLabel b disk ssd -> b (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__nodes_that_are_too_small_come_last)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("2") "}");
	town_add_node(&town, "{'metadata':{'name':'b'}," ROOM("2") "}");
	town_add_node(&town,
		"{'metadata':{'name':'c'},'spec':{'taints':[{'key':'k','effect':'NoSchedule'},"
		"{'key':'l','effect':'NoSchedule'}]}," ROOM("4") "}");
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("3") "}}"), 5, &explanation);
	/*
	 * Node c needs two changes. Nodes a and b need one change, but are too small for the pod,
	 * so their group is last.
	 */
	ck_assert_str_eq(town_groups(&town, &explanation),
		"TaintToleration: node(s) had untolerated taint(s): c\n"
		"NodeResourcesFit: Insufficient cpu: a b\n");
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"LowerRequest cpu 1000 -> a (2)\n"
		"Tolerate k  NoSchedule; Tolerate l  NoSchedule -> c (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__behind_pre_filter)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("4") "}");
	town_add_node(&town, "{'metadata':{'name':'b'}," ROOM("1") "}");
	town_explain(&town,
		town_pod(&town,
			"{'spec':{" ASK_CPU("2") ",'affinity':{'nodeAffinity':{"
						 "'requiredDuringSchedulingIgnoredDuringExecution':"
						 "{'nodeSelectorTerms':["
						 "{'matchFields':[{'key':'metadata.name','operator'"
						 ":'In','values':['b']}]}"
						 "]}}}}}"),
		5, &explanation);
	ck_assert_str_eq(town_groups(&town, &explanation),
		"*: node(s) didn't satisfy plugin(s) [NodeAffinity]: a\n"
		"NodeResourcesFit: Insufficient cpu: b\n");
	ck_assert_str_eq(explanation.message.data,
		"0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) "
		"[NodeAffinity]. no new claims to deallocate, preemption: 0/2 nodes are available: "
		"2 Preemption is not helpful "
		"for scheduling.");
	ck_assert_str_eq(town_obstacles(&town, &explanation, "a"),
		"NodeAffinity: the pod's node affinity names other nodes\n");
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"DropNodeAffinity -> a (1)\nLowerRequest cpu 1000 -> b (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

/** Proposals to lower the request of a pod that is too large for its cluster. */
START_TEST(test_explain__asking_for_less)
{
	static const struct {
		const char *name;
		const char *spec;
		const char *proposals;
	} rows[] = {
		{"as much as the largest node has", "'containers':[" ASKING("'cpu':'64'") "]",
			"LowerRequest cpu 56100 -> a (2)\nFreeResource a cpu 56100 -> a (1)\n"
			"FreeResource b cpu 56100 -> b (1)\n"},
		{"two at once", "'containers':[" ASKING("'cpu':'8','memory':'9Gi'") "]",
			"LowerRequest cpu 100; LowerRequest memory 1073741824 -> a (2)\n"
			"FreeResource a cpu 100; FreeResource a memory 1073741824 -> a (1)\n"
			"FreeResource b cpu 100; FreeResource b memory 1073741824 -> b (1)\n"},
		{"nothing would be left", "'containers':[" ASKING("'ephemeral-storage':'1'") "]",
			"FreeResource a ephemeral-storage 1 -> a (1)\n"
			"FreeResource b ephemeral-storage 1 -> b (1)\n"
			"FreeResource c ephemeral-storage 1 -> c (1)\n"},
		{"overhead is not the container's",
			"'overhead':{'cpu':'9'},'containers':[" ASKING("'cpu':'1'") "]",
			"FreeResource a cpu 2100 -> a (1)\nFreeResource b cpu 2100 -> b (1)\n"
			"FreeResource c cpu 6000 -> c (1)\n"},
		{"a request that has to equal its limit",
			"'containers':[" ASKING("'example.com/gpu':'2'") "]",
			"FreeResource a example.com/gpu 1 -> a (1)\n"
			"FreeResource b example.com/gpu 2 -> b (1)\n"
			"FreeResource c example.com/gpu 2 -> c (1)\n"},
		{"two containers",
			"'containers':[" ASKING("'cpu':'8'") "," ASKING("'cpu':'1m'") "]",
			"FreeResource a cpu 101 -> a (1)\nFreeResource b cpu 101 -> b (1)\n"
			"FreeResource c cpu 4001 -> c (1)\n"},
		{"an init container",
			"'initContainers':[{}],'containers':[" ASKING("'cpu':'8'") "]",
			"FreeResource a cpu 100 -> a (1)\nFreeResource b cpu 100 -> b (1)\n"
			"FreeResource c cpu 4000 -> c (1)\n"},
		{"the pod as a whole",
			"'resources':{'requests':{'cpu':'8'}},"
			"'containers':[" ASKING("'cpu':'8'") "]",
			"FreeResource a cpu 100 -> a (1)\nFreeResource b cpu 100 -> b (1)\n"
			"FreeResource c cpu 4000 -> c (1)\n"},
	};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(rows); i++) {
		struct town town;
		struct bt_explanation explanation;
		const char *said;

		town_init(&town, "{}");
		town_add_node(&town,
			"{'metadata':{'name':'a'},'status':{'allocatable':{'cpu':'7900m','memory':"
			"'8Gi','pods':'10','example.com/gpu':'1'}}}");
		town_add_node(&town, "{'metadata':{'name':'b'}," ROOM("7900m") "}");
		town_add_node(&town, "{'metadata':{'name':'c'}," ROOM("4") "}");
		town_explain(&town,
			town_pod(&town,
				bt_arena_printf(&town.world.arena, "{'spec':{%s}}", rows[i].spec)
					.data),
			3, &explanation);
		said = town_proposals(&town, &explanation);
		ck_assert_msg(strcmp(said, rows[i].proposals) == 0, "%s:\n%s", rows[i].name, said);
		bt_explanation_finish(&explanation);
		town_finish(&town);
	}
}
END_TEST

/**
 * A lower request is possible, but the pod also needs a free pod slot, which no change of the pod
 * provides.
 */
START_TEST(test_explain__asking_for_less_where_pods_are_many)
{
	struct town town;
	struct bt_explanation explanation;

	town_init(&town, "{}");
	town_add_node(
		&town, "{'metadata':{'name':'a'},'status':{'allocatable':{'cpu':'4','pods':'1'}}}");
	world_add_pod(&town.world, "{'spec':{'nodeName':'a'}}");
	town_explain(&town, town_pod(&town, "{'spec':{" ASK_CPU("5") "}}"), 1, &explanation);
	ck_assert_str_eq(town_proposals(&town, &explanation),
		"FreeResource a pods 1; LowerRequest cpu 1000 -> a (1)\n");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain__what_cannot_be_tried_is_no_proposal)
{
	struct town town;
	struct bt_explanation explanation;
	struct bt_explain_options options = {.proposals_max = 5};
	struct berth_error err = BERTH_ERROR_INIT;
	int result;

	town_init(&town, "{}");
	town_add_node(&town, "{'metadata':{'name':'a'}," ROOM("1") "}");
	result = bt_explain(town.world.engine,
		town_pod(&town,
			"{'spec':{'containers':[" ASKING("'cpu':'1'") "," ASKING(
				"'cpu':'1'") "]}}"),
		&options, &explanation, &err);
	ck_assert_int_eq(result, 0);
	ck_assert_uint_eq(explanation.proposals.count, 0);
	bt_explanation_finish(&explanation);
	bt_explanation_finish(&explanation);
	bt_explanation_finish(NULL);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("explain", test_explain__fits, test_explain__no_nodes,
	test_explain__gates_are_part_of_every_proposal, test_explain__profile_not_found,
	test_explain__nearest_first, test_explain__nearest_first_beyond_the_limit,
	test_explain__one_toleration_opens_many, test_explain__label_or_selector,
	test_explain__nodes_that_are_too_small_come_last, test_explain__behind_pre_filter,
	test_explain__asking_for_less, test_explain__asking_for_less_where_pods_are_many,
	test_explain__what_cannot_be_tried_is_no_proposal)

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Explanations of preemption: candidates, victims, and the reasons why other nodes are no
 * candidates.
 */
#include "explain/explain.h"
#include "test_main.h"
#include "town.h"

#define ASK "'containers':[{'resources':{'requests':{'cpu':'2'}}}]"
#define HIGH "{'spec':{'priority':10," ASK "}}"

static void add_node(struct town *town, const char *name, const char *spec)
{
	town_add_node(town,
		bt_arena_printf(&town->world.arena,
			"{'metadata':{'name':'%s'},'spec':{%s},'status':{'allocatable':{'cpu':'2',"
			"'pods':'9'}}}",
			name, spec)
			.data);
}

static void add_pod(struct town *town, const char *name, const char *node, int priority)
{
	world_add_pod(&town->world,
		bt_arena_printf(&town->world.arena,
			"{'metadata':{'name':'%s','labels':{'app':'%s'}},'spec':{'nodeName':'%s',"
			"'priority':%d,'containers':[{'resources':{'requests':{'cpu':'1'}}}]}}",
			name, name, node, priority)
			.data);
}

/**
 * Returns "n1* b(2) a(1) !0; ... | 2 reason; 1 reason | node": candidates (* selected; victims with
 * priority, violations), counts of reasons, other nodes.
 */
static const char *summary(struct town *town, const struct bt_explanation *explanation)
{
	const struct bt_explained_preemption *preemption = &explanation->preemption;
	struct bt_strbuf text = {0};
	const char *kept;

	for (uint32_t i = 0; i < preemption->candidates.count; i++) {
		const struct bt_explained_candidate *candidate = &preemption->candidates.items[i];

		bt_strbuf_printf(&text, "%.*s%s", BT_STR_ARG(candidate->node),
			candidate->selected ? "*" : "");
		for (uint32_t k = 0; k < candidate->victims.count; k++) {
			bt_strbuf_printf(&text, " %.*s(%d)",
				BT_STR_ARG(candidate->victims.items[k].name),
				candidate->victims.items[k].priority);
		}
		bt_strbuf_printf(&text, " !%lld; ", (long long)candidate->pdb_violations);
	}
	bt_strbuf_append_c(&text, "| ");
	for (uint32_t i = 0; i < preemption->refusals.count; i++) {
		bt_strbuf_printf(&text, "%u %.*s; ", preemption->refusals.items[i].node_count,
			BT_STR_ARG(preemption->refusals.items[i].reason));
	}
	bt_strbuf_printf(&text, "| %.*s", BT_STR_ARG(preemption->node));
	kept = bt_arena_str(&town->world.arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return kept;
}

/** Explains with preemption, which town_explain leaves out. */
static void explain(struct town *town, const struct bt_pod *pod, struct bt_explanation *out)
{
	const struct bt_explain_options options = {
		.preemption = true, .objects = town_objects(town)};

	ck_assert_int_eq(bt_explain(town->world.engine, pod, &options, out, NULL), 0);
}

static void expect(struct town *town, const char *pod, const char *wanted)
{
	struct bt_explanation explanation;

	explain(town, town_pod(town, pod), &explanation);
	ck_assert_str_eq(summary(town, &explanation), wanted);
	bt_explanation_finish(&explanation);
}

START_TEST(test_explain_preemption__candidates_and_refusals)
{
	struct town town;

	town_init(&town, "{}");
	add_node(&town, "n1", "");
	add_node(&town, "n2", "");
	add_node(&town, "n3", "");
	add_node(&town, "n4", "'unschedulable':true");
	add_pod(&town, "a", "n1", 1);
	add_pod(&town, "b", "n1", 2);
	add_pod(&town, "c", "n2", 3);
	add_pod(&town, "d", "n3", 10);
	expect(&town, HIGH,
		"n1* b(2) a(1) !0; n2 c(3) !0; | 1 No preemption victims found for incoming pod; 1 "
		"Preemption is not helpful for scheduling; | n1");
	/* All pods have the same priority. */
	expect(&town, "{'spec':{" ASK "}}",
		"| 3 No preemption victims found for incoming pod; 1 Preemption is not helpful for "
		"scheduling; | ");
	/* preemptionPolicy forbids preemption. */
	expect(&town, "{'spec':{'priority':10,'preemptionPolicy':'Never'," ASK "}}",
		"| 4 not eligible due to preemptionPolicy=Never.; | ");
	/* The explanation keeps no state of the attempts before. */
	expect(&town, "{'spec':{'priority':10,'nodeSelector':{'no':'where'}," ASK "}}",
		"| 4 Preemption is not helpful for scheduling; | ");
	/* A pod that fits has no victims. */
	expect(&town, "{'spec':{'priority':10}}", "| | ");
	town_finish(&town);
}
END_TEST

START_TEST(test_explain_preemption__budgets)
{
	struct bt_object *budget;
	struct town town;

	town_init(&town, "{}");
	add_node(&town, "n1", "");
	add_node(&town, "n2", "");
	add_pod(&town, "a", "n1", 1);
	add_pod(&town, "b", "n2", 5);
	ck_assert_int_eq(
		bt_object_decode(world_json(&town.world.arena,
					 "{'apiVersion':'policy/v1','kind':'PodDisruptionBudget',"
					 "'metadata':{'name':'x','namespace':'default'},'spec':{"
					 "'selector':{'matchLabels':{'app':'a'}}},'status':{"
					 "'disruptionsAllowed':0}}"),
			&budget, NULL),
		0);
	bt_object_store_put(&town.world.engine->state->objects, budget);
	expect(&town, HIGH, "n2* b(5) !0; n1 a(1) !1; | | n2");
	town_finish(&town);
}
END_TEST

/** Which node is tried first is random, so the test does not check the candidate's name. */
START_TEST(test_explain_preemption__not_all_nodes_are_tried)
{
	struct bt_explanation explanation;
	struct town town;

	town_init(&town,
		"{'profiles':[{'pluginConfig':[{'name':'DefaultPreemption','args':{"
		"'minCandidateNodesPercentage':0,'minCandidateNodesAbsolute':1}}]}]}");
	add_node(&town, "n1", "");
	add_node(&town, "n2", "");
	add_node(&town, "n3", "");
	add_node(&town, "n4", "'unschedulable':true");
	add_pod(&town, "a", "n1", 1);
	add_pod(&town, "b", "n2", 1);
	add_pod(&town, "c", "n3", 1);
	explain(&town, town_pod(&town, HIGH), &explanation);
	ck_assert_uint_eq(explanation.preemption.candidates.count, 1);
	ck_assert_ptr_nonnull(strstr(summary(&town, &explanation),
		" | 2 not tried: enough candidates were found; 1 Preemption is not helpful for "
		"scheduling; | n"));
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

START_TEST(test_explain_preemption__no_pod_preempts)
{
	struct bt_explanation explanation;
	struct town town;

	town_init(&town, "{'profiles':[{'plugins':{'postFilter':{'disabled':[{'name':'*'}]}}}]}");
	add_node(&town, "n1", "");
	add_pod(&town, "a", "n1", 1);
	explain(&town, town_pod(&town, HIGH), &explanation);
	ck_assert(!explanation.preemption.ran);
	ck_assert_str_eq(summary(&town, &explanation), "| | ");
	bt_explanation_finish(&explanation);
	town_finish(&town);
}
END_TEST

BT_TEST_MAIN("explain_preemption", test_explain_preemption__candidates_and_refusals,
	test_explain_preemption__budgets, test_explain_preemption__not_all_nodes_are_tried,
	test_explain_preemption__no_pod_preempts)

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decisions by cells (sched/cycle_cells.c), with verification. A decision uses the tree if the
 * shape came before, the columns if the shape is new, and no cells if there would be too many
 * cells.
 */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/prng.h"
#include "framework/node_statuses.h"
#include "sched/cells.h"
#include "sched/plan.h"
#include "sched_world.h"
#include "test_main.h"

#define SEEDS 24
#define STEPS 160
#define PODS_MAX 120
#define NODES 40
#define NOMINATED_MAX 12

/**
 * A plugin that computes its columns in every cycle. Verdict and score depend on the zone and on
 * the node's number of pods; scores also depend on how many nodes are feasible.
 */
struct kinds {
	struct script script; /* must be the first member */
	struct world *world;
	uint32_t pods_per_level;
	bool dense;     /* the traits also have a column form */
	uint32_t asked; /* number of slots in calls of Filter's column form */
	uint32_t trait_calls;
	uint32_t extra_traits; /* further traits that never differ */
	bool forgets_level;    /* fault: the level trait is always 0 */
};

static struct kinds *kinds_of(const void *ops)
{
	return (struct kinds *)(uintptr_t)ops;
}

static const struct bt_label_column *zone_column(const struct kinds *kinds)
{
	return bt_node_table_label_column(
		&kinds->world->engine->state->nodes, BT_STR("topology.kubernetes.io/zone"));
}

static uint32_t level_of(const struct kinds *kinds, const struct bt_state *state, uint32_t slot)
{
	return (uint32_t)state->nodes.pod_count[slot] / kinds->pods_per_level;
}

static uint32_t verdict_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	const struct kinds *kinds = kinds_of(script);
	uint64_t zone = zone_column(kinds)->values[slot];
	uint64_t mixed = bt_hash_u64(script->seed, zone * 64 + level_of(kinds, state, slot));

	return mixed % 4 == 0 ? 1 + (uint32_t)zone : 0;
}

static int64_t score_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	const struct kinds *kinds = kinds_of(script);
	uint64_t zone = zone_column(kinds)->values[slot];

	return (int64_t)((zone * 13 + level_of(kinds, state, slot) * 5 + script->seed) % 50);
}

static uint64_t zone_value(const void *context, uint32_t slot)
{
	return (uint64_t)zone_column(context)->values[slot] << 33;
}

static uint64_t level_value(const void *context, uint32_t slot)
{
	const struct kinds *kinds = context;

	return kinds->forgets_level ? 0 : level_of(kinds, kinds->world->engine->state, slot);
}

static void level_column(const void *context, uint32_t slot_count, uint32_t *values)
{
	for (uint32_t slot = 0; slot < slot_count; slot++) {
		values[slot] = (uint32_t)level_value(context, slot);
	}
}

static uint64_t nothing(const void *context, uint32_t slot)
{
	(void)context;
	return slot & 0;
}

static bool cell_traits(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, struct bt_trait_list *out)
{
	struct kinds *kinds = kinds_of(plugin->ops);
	const struct bt_label_column *zones = zone_column(kinds);
	struct bt_node_trait zone = {.identity = {1, zones->rebuild_count},
		.reads = BT_CHANGE_LABELS | BT_CHANGE_EXISTENCE,
		.values = kinds->dense ? zones->values : NULL,
		.value = zone_value,
		.context = kinds};
	struct bt_node_trait level = {.identity = {2, kinds->pods_per_level},
		.reads = BT_CHANGE_PODS | BT_CHANGE_EXISTENCE,
		.value = level_value,
		.column = kinds->dense ? level_column : NULL,
		.context = kinds};
	struct bt_node_trait extra = {.identity = {3}, .value = nothing};

	(void)cycle;
	(void)pod;
	kinds->trait_calls++;
	bt_arena_push(out->arena, out, zone);
	bt_arena_push(out->arena, out, level);
	for (uint32_t i = 0; i < kinds->extra_traits; i++) {
		bt_arena_push(out->arena, out, extra);
	}
	return true;
}

static struct bt_status count_feasible(
	struct bt_plugin *plugin, struct bt_cycle_state *cycle, uint64_t count)
{
	int64_t *shift = BT_ARENA_NEW(cycle->arena, int64_t);

	*shift = (int64_t)(count % 7);
	cycle->pre_score_data[plugin->index] = shift;
	return BT_STATUS_OK;
}

static struct bt_status pre_score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, uint32_t slot_count)
{
	(void)pod;
	(void)slots;
	return count_feasible(plugin, cycle, slot_count);
}

static struct bt_status pre_score_cells(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const uint32_t *slots, const uint32_t *counts,
	uint32_t cell_count)
{
	uint64_t count = 0;

	(void)pod;
	(void)slots;
	for (uint32_t i = 0; i < cell_count; i++) {
		ck_assert_uint_ne(counts[i], 0);
		count += counts[i];
	}
	return count_feasible(plugin, cycle, count);
}

static struct bt_status score(struct bt_plugin *plugin, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_info *node, int64_t *out_score)
{
	const struct kinds *kinds = kinds_of(plugin->ops);
	const int64_t *shift = cycle->pre_score_data[plugin->index];

	(void)pod;
	*out_score = *shift + score_of(&kinds->script, node->state, node->slot);
	return BT_STATUS_OK;
}

static void score_slots(struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod,
	const struct bt_state *state, const uint32_t *slots, uint32_t count, int64_t *scores)
{
	const struct kinds *kinds = kinds_of(plugin->ops);
	const int64_t *shift = data;

	(void)pod;
	for (uint32_t i = 0; i < count; i++) {
		scores[i] = *shift + score_of(&kinds->script, state, slots[i]);
	}
}

static bool (*script_filter_column)(struct bt_plugin *plugin, const void *data,
	const struct bt_pod_info *pod, const struct bt_state *state, struct bt_slot_range range,
	uint32_t *detail);

static bool filter_column(struct bt_plugin *plugin, const void *data, const struct bt_pod_info *pod,
	const struct bt_state *state, struct bt_slot_range range, uint32_t *detail)
{
	kinds_of(plugin->ops)->asked += range.count;
	return script_filter_column(plugin, data, pod, state, range, detail);
}

static void kinds_init(struct kinds *kinds, struct world *world, uint64_t seed)
{
	struct bt_plugin_ops *ops;
	struct bt_plugin_shortcuts *shortcuts;

	*kinds = (struct kinds){.world = world, .pods_per_level = 2, .dense = true};
	kinds->script = script_make("K",
		FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SCORE) | FAKE_ROLE(FAKE_PRE_SCORE),
		SCRIPT_CYCLE_COLUMN);
	kinds->script.seed = seed;
	kinds->script.verdict_of = verdict_of;
	kinds->script.score_of = score_of;
	ops = &kinds->script.fake.ops;
	shortcuts = &kinds->script.fake.shortcuts;
	script_filter_column = shortcuts->filter_column;
	shortcuts->filter_column = filter_column;
	shortcuts->cell_traits = cell_traits;
	ops->pre_score = pre_score;
	shortcuts->pre_score_cells = pre_score_cells;
	ops->score = score;
	shortcuts->score_slots = score_slots;
	ops->normalize = BT_NORMALIZE_DEFAULT;
	ops->normalize_score = NULL;
}

/* --- random clusters --- */

struct random_run {
	struct bt_prng prng;
	struct world world;
	struct kinds kinds;
	const char *nodes[NODES];
	struct bt_pod pods[PODS_MAX];
	uint32_t pod_count;
	bool with_nominations;
	bool spreads;         /* pods of one shape whose constraints select by their labels */
	uint32_t served_most; /* the most cycles that one tree served */
	struct bt_str nominated[NOMINATED_MAX]; /* uids; some are nominated no longer */
	uint32_t nominated_count;
	uint32_t scheduled;
	uint32_t rejected;
};

static uint32_t below(struct random_run *run, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&run->prng, bound);
}

static const char *random_node(struct random_run *run, uint32_t number)
{
	static const char *const taints[] = {"", "", "{'key':'a','effect':'NoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'}"};

	return bt_arena_printf(&run->world.arena,
		"{'metadata':{'name':'n%u','labels':{'kubernetes.io/hostname':'n%u',"
		"'topology.kubernetes.io/zone':'z%u','disk':'d%u'}},'spec':{'unschedulable':%s,"
		"'taints':[%s]},'status':{'allocatable':{'cpu':'%u','memory':'8Gi','pods':'20'}}}",
		number, number, below(run, 4), below(run, 3), below(run, 9) == 0 ? "true" : "false",
		taints[below(run, 4)], 1 + below(run, 4))
		.data;
}

static void change_node(struct random_run *run)
{
	uint32_t number = below(run, NODES);
	const char *before = run->nodes[number];

	run->nodes[number] = before != NULL && below(run, 4) == 0 ? NULL : random_node(run, number);
	if (before == NULL) {
		world_add_node(&run->world, run->nodes[number]);
	} else if (run->nodes[number] == NULL) {
		struct berth_error err = BERTH_ERROR_INIT;

		ck_assert_int_eq(bt_state_remove_node(run->world.engine->state,
					 world_node(&run->world, before), &err),
			0);
	} else {
		bt_state_update_node(run->world.engine->state, world_node(&run->world, before),
			world_node(&run->world, run->nodes[number]));
	}
}

static void remove_pod(struct random_run *run)
{
	struct berth_error err = BERTH_ERROR_INIT;
	uint32_t index;

	if (run->pod_count == 0) {
		return;
	}
	index = below(run, run->pod_count);
	ck_assert_int_eq(bt_state_forget_pod(run->world.engine->state, &run->pods[index], &err), 0);
	run->pods[index] = run->pods[--run->pod_count];
}

static const char *random_pod(struct random_run *run)
{
	static const char *const kinds[] = {
		"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'100m'}}}]}}",
		"{'spec':{'tolerations':[{'key':'a','operator':'Exists'}],'containers':[{'name':"
		"'c','resources':{'requests':{'cpu':'300m'}}}]}}",
		"{'spec':{'affinity':{'nodeAffinity':{"
		"'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':3,'preference':{"
		"'matchExpressions':[{'key':'disk','operator':'In','values':['d1']}]}},{'weight':"
		"9,'preference':{'matchExpressions':[{'key':'disk','operator':'In','values':["
		"'d2']}]}}]}},'containers':[{'name':'c'}]}}",
		"{'spec':{'nodeSelector':{'disk':'d0'},'containers':[{'name':'c'}]}}",
		"{'spec':{'nodeSelector':{'disk':'none'},'containers':[{'name':'c'}]}}",
	};

	if (run->spreads) {
		static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway"};
		return bt_arena_printf(&run->world.arena,
			"{'metadata':{'labels':{'all':'','app':'a%u'}},'spec':{"
			"'topologySpreadConstraints':[{'maxSkew':2,'topologyKey':"
			"'kubernetes.io/hostname','whenUnsatisfiable':'%s','labelSelector':{"
			"'matchLabels':{'all':''}},'matchLabelKeys':['app']},{'maxSkew':1,"
			"'topologyKey':'topology.kubernetes.io/zone','whenUnsatisfiable':"
			"'ScheduleAnyway','labelSelector':{'matchLabels':{'all':''}},"
			"'matchLabelKeys':['app']}],'containers':[{'name':'c','resources':{"
			"'requests':{'cpu':'100m'}}}]}}",
			below(run, 2) * below(run, 6), actions[run->kinds.script.seed % 2])
			.data;
	}
	if (below(run, 5) == 0) { /* the pod has a new shape */
		return bt_arena_printf(&run->world.arena,
			"{'spec':{'priority':%u,'containers':[{'name':'c','resources':{'requests':"
			"{'cpu':'%um'}}}]}}",
			below(run, 1000000), 50 + below(run, 400))
			.data;
	}
	if (below(run, 6) == 0) { /* PreFilter narrows the pod to few nodes */
		return bt_arena_printf(&run->world.arena,
			"{'spec':{'affinity':{'nodeAffinity':{"
			"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"
			"'matchFields':[{'key':'metadata.name','operator':'In','values':['n%u']}]},"
			"{'matchFields':[{'key':'metadata.name','operator':'In','values':['n%u']}]}"
			",{'matchFields':[{'key':'metadata.name','operator':'In','values':['n%u']}]"
			"}]}}},'containers':[{'name':'c'}]}}",
			below(run, NODES + 3), below(run, NODES + 3), below(run, NODES + 3))
			.data;
	}
	return kinds[below(run, BT_ARRAY_LENGTH(kinds))];
}

/** Nominates a pod to a node, which may not exist, or ends a nomination. */
static void nominate(struct random_run *run)
{
	struct bt_nominator *nominator = &run->world.engine->nominator;
	const struct bt_pod_info *pod;

	if (run->nominated_count == NOMINATED_MAX || below(run, 3) == 0) {
		if (run->nominated_count != 0) {
			bt_nominator_delete(nominator, run->nominated[--run->nominated_count]);
		}
		return;
	}
	pod = world_pending(&run->world,
		bt_arena_printf(&run->world.arena,
			"{'spec':{'priority':%u,'containers':[{'name':'c','resources':{'requests':"
			"{'cpu':'%um'}}}]}}",
			below(run, 3) * 500000, 300 + below(run, 3000))
			.data);
	bt_nominator_add(nominator, pod,
		bt_arena_printf(&run->world.arena, "n%u", below(run, NODES + 2)), true);
	run->nominated[run->nominated_count++] = pod->uid;
}

static void schedule(struct random_run *run)
{
	struct bt_engine *engine = run->world.engine;
	const struct bt_pod_info *pod = world_pending(&run->world, random_pod(run));
	struct bt_schedule_result result;

	bt_engine_schedule(engine, run->world.framework, pod, NULL, &result);
	if (result.plan->cells->served > run->served_most) {
		run->served_most = result.plan->cells->served;
	}
	if (result.outcome != BT_OUTCOME_SCHEDULED) {
		run->rejected++;
		return;
	}
	run->scheduled++;
	if (run->pod_count < PODS_MAX) {
		ck_assert(bt_engine_place(engine, pod, &result));
		run->pods[run->pod_count] = *pod->object;
		run->pods[run->pod_count++].spec.node_name =
			bt_node_table_name(&engine->state->nodes, result.slot);
	}
}

static void take_step(struct random_run *run)
{
	switch (below(run, 12)) {
	case 0:
		change_node(run);
		break;
	case 1:
	case 2:
		remove_pod(run);
		break;
	case 3:
	case 5:
		run->kinds.script.seed += below(run, 16) == 0;
		run->kinds.pods_per_level = 1 + below(run, BT_PLAN_TREES + 1);
		break;
	case 4:
		if (run->with_nominations) {
			nominate(run);
		}
		break;
	default:
		schedule(run);
	}
}

static void run_seed(uint64_t seed, bool with_nominations, bool spreads)
{
	static const char *const profiles[] = {
		"NodeUnschedulable, TaintToleration:3, NodeAffinity:2, NodeResourcesFit, K:2",
		"K:5, TaintToleration:3, NodeAffinity:2, NodeResourcesFit",
		"NodeResourcesFit, K, NodeAffinity:2, TaintToleration:2, NodeUnschedulable"};
	static struct random_run run;
	struct bt_engine_options options = {.verify = true,
		.seed = seed,
		.tie_policy = (enum bt_tie_policy)(seed % 3),
		.percentage_of_nodes_to_score = -1};

	run = (struct random_run){.with_nominations = with_nominations, .spreads = spreads};
	bt_prng_init(&run.prng, seed);
	kinds_init(&run.kinds, &run.world, seed);
	run.kinds.dense = seed % 2 == 0;
	world_init(&run.world,
		spreads ? "TaintToleration:3, NodeResourcesFit, PodTopologySpread:2"
			: profiles[seed / 3 % 3],
		&options, (struct script *[]){&run.kinds.script}, 1);
	for (uint32_t i = 0; i < NODES; i++) {
		run.nodes[i] = random_node(&run, i);
		world_add_node(&run.world, run.nodes[i]);
	}
	for (uint32_t i = 0; i < STEPS; i++) {
		take_step(&run);
	}
	ck_assert_uint_gt(run.scheduled, STEPS / 8);
	ck_assert(spreads || run.rejected > 0);
	/* One tree serves many cycles, although pods with different counted labels take turns. */
	ck_assert(!spreads || run.served_most >= 20);
	world_finish(&run.world);
}

START_TEST(test_cycle_cells__random_decisions_are_those_of_the_plain_forms)
{
	const char *one = getenv("BERTH_TEST_SEED");

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		run_seed(one != NULL ? strtoull(one, NULL, 10) : seed, false, false);
	}
}
END_TEST

/* Pods of one shape with different labels take turns; all decisions and trees are verified. */
START_TEST(test_cycle_cells__random_decisions_with_own_counts)
{
	const char *one = getenv("BERTH_TEST_SEED");

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		run_seed(one != NULL ? strtoull(one, NULL, 10) : seed, seed % 2 == 0, true);
	}
}
END_TEST

START_TEST(test_cycle_cells__random_decisions_with_nominated_pods)
{
	const char *one = getenv("BERTH_TEST_SEED");

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		run_seed(one != NULL ? strtoull(one, NULL, 10) : seed, true, false);
	}
}
END_TEST

/* --- how a decision is made --- */

#define POD "{'spec':{'containers':[{'name':'c'}]}}"
#define WITH_CPU "{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':'1m'}}}]}}"
#define IMPORTANT \
	"{'spec':{'priority':9,'containers':[{'name':'c','resources':{'requests':{'cpu':'1m'}}}]}" \
	"}"

/** Makes a world of nodes n0, n1, .. in a number of zones; no node is rejected. */
static void same_init(
	struct kinds *kinds, struct world *world, uint32_t nodes, uint32_t zones, bool verify)
{
	struct bt_engine_options options = {.verify = verify, .percentage_of_nodes_to_score = -1};

	kinds_init(kinds, world, 1);
	kinds->script.verdict_of = NULL;
	kinds->pods_per_level = 1;
	world_init(world, "NodeAffinity, NodeResourcesFit, K", &options,
		(struct script *[]){&kinds->script}, 1);
	for (uint32_t i = 0; i < nodes; i++) {
		world_add_node(world,
			bt_arena_printf(&world->arena,
				"{'metadata':{'name':'n%u','labels':{'topology.kubernetes.io/zone'"
				":'z%u'}},'status':{'allocatable':{'cpu':'64','memory':'64Gi',"
				"'pods':'900'}}}",
				i, i % zones)
				.data);
	}
}

static void place_one(struct kinds *kinds, const char *json)
{
	struct world *world = kinds->world;
	struct bt_schedule_result result;
	const struct bt_pod_info *pod = world_pending(world, json);

	bt_engine_schedule(world->engine, world->framework, pod, NULL, &result);
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert(bt_engine_place(world->engine, pod, &result));
}

static const char *pod_for(struct world *world, uint32_t from, uint32_t count)
{
	struct bt_strbuf text = {0};
	const char *json;

	bt_strbuf_append_c(&text,
		"{'spec':{'affinity':{'nodeAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[");
	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_printf(&text,
			"%s{'matchFields':[{'key':'metadata.name','operator':'In','values':['n%u']}"
			"]}",
			i == 0 ? "" : ",", from + 3 * i);
	}
	bt_strbuf_append_c(&text, "]}}},'containers':[{'name':'c'}]}}");
	json = bt_arena_str(&world->arena, bt_strbuf_str(&text)).data;
	bt_strbuf_finish(&text);
	return json;
}

/*
 * PreFilter narrows the pod to few nodes: no column is made, and Filter runs on these nodes only.
 */
START_TEST(test_cycle_cells__few_nodes_are_evaluated_alone)
{
	static struct world world;
	static const uint32_t counts[] = {1, 2, 37, 38, 60};
	struct kinds kinds;

	same_init(&kinds, &world, 300, 3, false);
	for (uint32_t i = 0; i < BT_ARRAY_LENGTH(counts); i++) {
		uint32_t before = kinds.asked;
		struct bt_schedule_result result =
			world_schedule(&world, pod_for(&world, i, counts[i]));

		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert_uint_eq(result.feasible_count, counts[i]);
		ck_assert_uint_eq(kinds.asked - before, counts[i] < 300 / 8 ? counts[i] : 300);
		ck_assert(counts[i] >= 300 / 8 || result.plan->verdict == NULL);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle_cells__one_node_of_each_kind_is_evaluated)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 300, 3, false);
	for (uint32_t i = 0; i < 20; i++) {
		place_one(&kinds, POD);
	}
	ck_assert_uint_eq(kinds.trait_calls, 20);
	/*
	 * Each of three zones has nodes with and without pods, because the score puts many pods on
	 * one node.
	 */
	ck_assert_uint_le(kinds.asked, 20 * 8);
	world_finish(&world);
}
END_TEST

/*
 * Each set of traits has a separate tree. Pods with different claims, for example, have different
 * sets, which take turns.
 */
START_TEST(test_cycle_cells__a_tree_for_each_set_of_traits)
{
	static struct world world;
	struct kinds kinds;
	struct bt_plan *plan = NULL;

	same_init(&kinds, &world, 300, 3, true);
	for (uint32_t i = 0; i < 40; i++) {
		const struct bt_pod_info *pod = world_pending(&world, POD);
		struct bt_schedule_result result;

		kinds.pods_per_level = 2 + i % BT_PLAN_TREES;
		bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert(bt_engine_place(world.engine, pod, &result));
		plan = result.plan;
	}
	for (uint32_t i = 0; i < BT_PLAN_TREES; i++) {
		ck_assert(plan->trees[i].filled);
		ck_assert_uint_ge(plan->trees[i].served, 8);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle_cells__more_kinds_than_cells)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, BT_CELLS_MAX + 90, BT_CELLS_MAX + 5, true);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t before = kinds.asked;

		place_one(&kinds, POD);
		ck_assert_uint_ge(kinds.asked - before, BT_CELLS_MAX);
	}
	world_finish(&world);
}
END_TEST

START_TEST(test_cycle_cells__more_traits_than_a_key)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 40, 3, true);
	kinds.extra_traits = BT_CELL_TRAITS_MAX;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t before = kinds.asked;

		place_one(&kinds, POD);
		ck_assert_uint_ge(kinds.asked - before, 40);
	}
	kinds.extra_traits = BT_CELL_TRAITS_MAX - 2;
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t before = kinds.asked;

		place_one(&kinds, POD);
		ck_assert_uint_le(kinds.asked - before, 2 * 8);
	}
	world_finish(&world);
}
END_TEST

/* Filter runs separately on nodes with nominated pods; they do not cause a walk over all nodes. */
START_TEST(test_cycle_cells__nominated_nodes_are_exceptions)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 300, 3, true);
	for (uint32_t i = 0; i < 9; i++) {
		const struct bt_pod_info *pod = world_pending(&world,
			"{'spec':{'priority':5,'containers':[{'name':'c','resources':{'requests':{"
			"'cpu':'64'}}}]}}");
		struct bt_str node = bt_arena_printf(&world.arena, "n%u", 7 * i);

		bt_nominator_add(&world.engine->nominator, pod, node, true);
	}
	for (uint32_t i = 0; i < 20; i++) {
		struct bt_schedule_result result;
		uint32_t before = kinds.asked;
		const struct bt_pod_info *pod =
			world_pending(&world, i < 15 ? WITH_CPU : IMPORTANT);

		bt_engine_schedule(world.engine, world.framework, pod, NULL, &result);
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		ck_assert_uint_eq(result.feasible_count, i < 15 ? 291 : 300);
		ck_assert_uint_eq(result.evaluated_count, 300);
		ck_assert(bt_engine_place(world.engine, pod, &result));
		ck_assert_uint_le(kinds.asked - before, 8);
	}
	world_finish(&world);
}
END_TEST

/* More nominated nodes than the bound: the list is searched, with the same decisions. */
START_TEST(test_cycle_cells__more_nominated_nodes_than_exceptions)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 600, 3, true);
	for (uint32_t i = 0; i < 513; i++) {
		struct bt_schedule_result result;
		uint32_t before = kinds.asked;
		struct bt_str node = bt_arena_printf(&world.arena, "n%u", i);

		bt_nominator_add(&world.engine->nominator,
			world_pending(&world,
				"{'spec':{'priority':5,'containers':[{'name':'c','resources':{"
				"'requests':{'cpu':'64'}}}]}}"),
			node, true);
		if (i < 511) {
			continue;
		}
		result = world_schedule(&world, WITH_CPU);
		ck_assert_uint_eq(result.feasible_count, 600 - i - 1);
		if (i == 511) {
			ck_assert_uint_le(kinds.asked - before, 8);
		} else {
			ck_assert_uint_ge(kinds.asked - before, 600);
		}
	}
	world_finish(&world);
}
END_TEST

/* No node is feasible: each node with a nominated pod is a group with a separate status. */
START_TEST(test_cycle_cells__rejections_with_nominated_pods)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 60, 3, true);
	for (uint32_t i = 0; i < 2; i++) {
		bt_nominator_add(&world.engine->nominator,
			world_pending(&world,
				"{'spec':{'priority':5,'containers':[{'name':'c','ports':[{"
				"'containerPort':80,'hostPort':80}]}]}}"),
			bt_arena_printf(&world.arena, "n%u", 3 + i), true);
	}
	for (uint32_t i = 0; i < 4; i++) {
		struct bt_schedule_result result = world_schedule(&world,
			i % 2 == 0 ? "{'spec':{'containers':[{'name':'c','resources':{'requests':{"
				     "'cpu':'65'}}}]}}"
				   : "{'spec':{'priority':1,'containers':[{'name':'c','resources':{"
				     "'requests':{'cpu':'66'}}}]}}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		ck_assert_ptr_nonnull(result.diagnosis.statuses.groups);
		ck_assert_uint_eq(bt_node_statuses_count(&result.diagnosis.statuses), 60);
		ck_assert_str_eq(world_message(&world, &result),
			"0/60 nodes are available: 60 Insufficient cpu.");
	}
	world_finish(&world);
}
END_TEST

/* No node is feasible: each kind of node gets one status group, by tree and in columns. */
START_TEST(test_cycle_cells__rejections_stay_in_groups)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 60, 3, true);
	for (uint32_t i = 0; i < 3; i++) {
		struct bt_schedule_result result = world_schedule(&world,
			"{'spec':{'containers':[{'name':'c','resources':{'requests':{'cpu':"
			"'65'}}}]}}");
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		ck_assert_ptr_nonnull(result.diagnosis.statuses.groups);
		const struct bt_status_groups *groups = result.diagnosis.statuses.groups;
		uint32_t group_count = 0;
		for (uint32_t k = 0; k < groups->count; k++) {
			group_count += groups->sizes[k] != 0;
		}
		ck_assert_uint_eq(group_count, 1);
		ck_assert_uint_eq(bt_node_statuses_count(&result.diagnosis.statuses), 60);
		ck_assert_uint_eq(result.evaluated_count, 60);
		ck_assert_str_eq(world_plugins(&world, &result.diagnosis.unschedulable_plugins),
			"NodeResourcesFit");
	}
	world_finish(&world);
}
END_TEST

/*
 * Scores are computed only when a second node fits; until then the scores in the cells are stale.
 */
START_TEST(test_cycle_cells__scores_come_late)
{
	static struct world world;
	const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};

	world_init(&world, "NodeUnschedulable, NodeResourcesFit", &options, NULL, 0);
	for (uint32_t round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 4; i++) {
			struct bt_node *nodes[2];

			for (uint32_t after = 0; after < 2; after++) {
				nodes[after] = world_node(&world,
					bt_arena_printf(&world.arena,
						"{'metadata':{'name':'n%u'},'spec':{'unschedulable'"
						":%s},"
						"'status':{'allocatable':{'cpu':'%u','pods':'9'}}}",
						i, i != 0 && after == 0 ? "true" : "false", i + 1)
						.data);
			}
			if (round == 0) {
				bt_state_add_node(world.engine->state, nodes[0]);
			} else {
				bt_state_update_node(world.engine->state, nodes[0], nodes[1]);
			}
		}
		for (uint32_t i = 0; i < 4; i++) {
			struct bt_schedule_result result = world_schedule(&world,
				"{'spec':{'containers':[{'name':'c','resources':{'requests':{"
				"'cpu':'500m'}}}]}}");
			ck_assert_uint_eq(result.feasible_count, round == 0 ? 1 : 4);
			ck_assert_str_eq(world_chosen(&world, &result), round == 0 ? "n0" : "n3");
		}
	}
	world_finish(&world);
}
END_TEST

/* Equally good nodes are chosen with equal probability, by tree and in columns. */
START_TEST(test_cycle_cells__random_ties_are_uniform)
{
	static struct world world;
	struct bt_engine_options options = {
		.tie_policy = BT_TIE_RANDOM, .seed = 5, .percentage_of_nodes_to_score = -1};
	uint32_t chosen[2][8] = {{0}};

	world_init(&world, "NodeResourcesFit", &options, NULL, 0);
	world_add_nodes(&world, 0, 8);
	for (uint32_t i = 0; i < 4000; i++) {
		bool fresh = i % 2 == 0;
		struct bt_schedule_result result = world_schedule(&world,
			fresh ? bt_arena_printf(&world.arena, "{'spec':{'priority':%u}}", i).data
			      : POD);
		ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
		chosen[fresh][result.slot]++;
	}
	for (uint32_t i = 0; i < 16; i++) {
		ck_assert_uint_gt(chosen[i / 8][i % 8], 180);
		ck_assert_uint_lt(chosen[i / 8][i % 8], 320);
	}
	world_finish(&world);
}
END_TEST

/* A single best node draws no random number, by tree and in columns: both draw alike. */
START_TEST(test_cycle_cells__single_best_draws_nothing)
{
	static struct world world;
	struct bt_engine_options options = {
		.tie_policy = BT_TIE_RANDOM, .seed = 5, .percentage_of_nodes_to_score = -1};

	world_init(&world, "NodeResourcesFit", &options, NULL, 0);
	world_add_nodes(&world, 0, 8);
	world_add_node(&world,
		"{'metadata':{'name':'best'},'status':{'allocatable':{'cpu':'8','memory':'8Gi',"
		"'pods':'9'}}}");
	struct bt_prng before = world.engine->prng;
	for (uint32_t i = 0; i < 8; i++) {
		struct bt_schedule_result result = world_schedule(&world, POD);
		ck_assert_uint_eq(result.feasible_count, 9);
		ck_assert_str_eq(world_chosen(&world, &result), "best");
		ck_assert_mem_eq(&world.engine->prng, &before, sizeof(before));
	}
	world_finish(&world);
}
END_TEST

/*
 * After its decision a cycle no longer refers to domain counters, because later changes update the
 * counters or drop them. So Filter fails.
 */
START_TEST(test_cycle_cells__counters_are_not_kept)
{
	static const char *const pod =
		"{'metadata':{'labels':{'app':'a'}},'spec':{'affinity':{'podAntiAffinity':{"
		"'requiredDuringSchedulingIgnoredDuringExecution':[{'labelSelector':{'matchLabels':"
		"{'app':'a'}},'topologyKey':'kubernetes.io/hostname'}]}},"
		"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'kubernetes.io/hostname',"
		"'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'a'}}}],"
		"'containers':[{'name':'c'}]}}";
	static struct world world;
	const struct bt_engine_options options = {
		.verify = true, .percentage_of_nodes_to_score = -1};
	struct bt_schedule_result result;
	const struct bt_pod_info *pending;
	struct bt_node_info node;

	world_init(&world, "PodTopologySpread:2, InterPodAffinity:2, NodeResourcesFit", &options,
		NULL, 0);
	for (uint32_t i = 0; i < 3; i++) {
		world_add_node(&world,
			bt_arena_printf(&world.arena,
				"{'metadata':{'name':'n%u','labels':{'kubernetes.io/hostname':"
				"'n%u'}},'status':{'allocatable':{'pods':'9'}}}",
				i, i)
				.data);
	}
	pending = world_pending(&world, pod);
	bt_engine_schedule(world.engine, world.framework, pending, NULL, &result);
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	bt_node_info_init(&node, world.engine->state, result.slot);
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_plugin *plugin =
			world.framework->points[BT_POINT_FILTER].entries.items[i].plugin;
		struct bt_status status = plugin->ops->filter(plugin, result.cycle, pending, &node);

		ck_assert_int_eq(status.code, BT_STATUS_ERROR);
		ck_assert(bt_str_has_suffix(
			bt_status_message_str(&status, &world.arena), BT_STR("not found")));
	}
	/*
	 * A new run of PreFilter makes counts for this cycle only: the pod added afterwards does
	 * not change them.
	 */
	(void)bt_run_pre_filter(world.framework, result.cycle, pending);
	world_add_pod(&world,
		"{'metadata':{'labels':{'app':'a'}},'spec':{'nodeName':'n0','containers':[]}}");
	ck_assert_int_eq(bt_state_refresh_snapshot(world.engine->state, NULL), 0);
	for (uint32_t i = 0; i < 2; i++) {
		struct bt_plugin *plugin =
			world.framework->points[BT_POINT_FILTER].entries.items[i].plugin;
		struct bt_status status;

		bt_node_info_init(&node, world.engine->state, world_slot(&world, "n0"));
		status = plugin->ops->filter(plugin, result.cycle, pending, &node);
		ck_assert_int_eq(status.code, BT_STATUS_SUCCESS);
	}
	world_finish(&world);
}
END_TEST

static void lie(void)
{
	static struct world world;
	struct kinds kinds;

	same_init(&kinds, &world, 9, 3, true);
	kinds.forgets_level = true;
	world_add_pod(&world, "{'spec':{'nodeName':'n0'}}");
	world_add_pod(&world, "{'spec':{'nodeName':'n1'}}");
	world_add_pod(&world, "{'spec':{'nodeName':'n2'}}");
	(void)world_schedule(&world, POD);
}

/* If a plugin does not report a trait that it reads, verification ends the process. */
START_TEST(test_cycle_cells__traits_that_lie_are_found)
{
	int status = 0;
	pid_t child;

	(void)fflush(NULL);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (child == 0) {
		(void)close(STDERR_FILENO);
		lie();
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}
END_TEST

BT_TEST_MAIN("cycle_cells", test_cycle_cells__counters_are_not_kept,
	test_cycle_cells__random_decisions_are_those_of_the_plain_forms,
	test_cycle_cells__random_decisions_with_nominated_pods,
	test_cycle_cells__random_decisions_with_own_counts,
	test_cycle_cells__nominated_nodes_are_exceptions,
	test_cycle_cells__few_nodes_are_evaluated_alone,
	test_cycle_cells__more_nominated_nodes_than_exceptions,
	test_cycle_cells__rejections_with_nominated_pods,
	test_cycle_cells__one_node_of_each_kind_is_evaluated,
	test_cycle_cells__a_tree_for_each_set_of_traits, test_cycle_cells__more_kinds_than_cells,
	test_cycle_cells__more_traits_than_a_key, test_cycle_cells__rejections_stay_in_groups,
	test_cycle_cells__scores_come_late, test_cycle_cells__random_ties_are_uniform,
	test_cycle_cells__single_best_draws_nothing, test_cycle_cells__traits_that_lie_are_found)

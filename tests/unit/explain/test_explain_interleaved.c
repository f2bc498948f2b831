/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Two clusters get the same events: pods arrive, are placed and leave, nodes change. One cluster
 * also computes explanations all the time. Every decision must be the same in both.
 */
#include "base/error.h"
#include "random_plan.h"
#include "test_main.h"

#define SEED_COUNT BT_TEST_SEEDS(150)
#define STEPS 25

struct twins {
	struct random_plan plan;
	struct town asked;
	struct town left_alone;
	uint64_t seed;
	BT_VEC(const char *) placed; /* JSON with the node's name */
};

static void expect_same(const struct twins *twins, const char *what, const char *a, const char *b)
{
	ck_assert_msg(strcmp(a, b) == 0, "seed %llu, %s:\n%s\n%s", (unsigned long long)twins->seed,
		what, a, b);
}

static const char *decide(struct town *town, const char *json, struct bt_str *out_node)
{
	struct bt_pod *pod = town_pod(town, json);
	struct bt_framework *framework =
		bt_engine_profile(town->world.engine, pod->spec.scheduler_name);
	struct bt_arena *arena = &town->world.arena;
	struct bt_schedule_result result;
	struct bt_pod_info info;
	const char *chosen;

	*out_node = BT_STR("");
	if (framework == NULL) {
		return "no profile";
	}
	bt_pod_info_init_pending(town->world.engine->state, pod, &info);
	bt_engine_schedule(town->world.engine, framework, &info, NULL, &result);
	chosen = world_chosen(&town->world, &result);
	if (result.outcome == BT_OUTCOME_SCHEDULED) {
		*out_node = bt_str_from(bt_arena_str(arena, bt_str_from(chosen)).data);
	}
	chosen = bt_arena_printf(arena, "%d %s %lld %u %u %s", (int)result.outcome, chosen,
		(long long)result.total_score, result.feasible_count, result.evaluated_count,
		world_message(&town->world, &result))
			 .data;
	bt_pod_info_finish_pending(town->world.engine->state, &info);
	return chosen;
}

/** Adds the pod to the node, or removes it if leave is set. */
static void place(struct town *town, const char *json, struct bt_str node, bool leave)
{
	struct bt_pod *pod = town_pod(town, json);
	struct bt_state *state = town->world.engine->state;

	pod->spec.node_name = node;
	ck_assert_int_eq(
		leave ? bt_state_remove_pod(state, pod, NULL) : bt_state_add_pod(state, pod, NULL),
		0);
}

/** Returns the JSON of a pod that usually fits on some node. */
static const char *make_pod(struct twins *twins, uint32_t step)
{
	static const char *const parts[] = {"", "'containers':[{'ports':[{'hostPort':81}]}]",
		"'affinity':{'podAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[{"
		"'weight':5,'podAffinityTerm':{'topologyKey':'topology.kubernetes.io/zone',"
		"'labelSelector':{'matchLabels':{'app':'db'}}}}]}}",
		"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[{"
		"'topologyKey':'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':'db'"
		"}}}]}}",
		"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':"
		"'topology.kubernetes.io/zone','whenUnsatisfiable':'ScheduleAnyway',"
		"'labelSelector':{'matchLabels':{'app':'web'}}}]"};
	struct bt_arena *arena = &twins->plan.arena;
	uint64_t kind = bt_prng_below(&twins->plan.prng, BT_ARRAY_LENGTH(parts) + 2);

	if (kind >= BT_ARRAY_LENGTH(parts)) {
		return random_plan_pending(&twins->plan, bt_arena_printf(arena, "s%u", step).data);
	}
	return bt_arena_printf(arena,
		"{'metadata':{'name':'s%u','uid':'s%u','namespace':'default','labels':{'app':'%s'"
		"}},'spec':{%s}}",
		step, step, step % 3 == 0 ? "db" : "web", parts[kind])
		.data;
}

static void schedule_one(struct twins *twins, uint32_t step)
{
	struct bt_arena *arena = &twins->plan.arena;
	struct bt_str node;
	struct bt_str other;
	const char *json = make_pod(twins, step);
	const char *a = decide(&twins->asked, json, &node);
	const char *b = decide(&twins->left_alone, json, &other);

	expect_same(twins, json, a, b);
	if (node.length != 0) {
		place(&twins->asked, json, node, false);
		place(&twins->left_alone, json, other, false);
		bt_vec_push(&twins->placed, json);
		bt_vec_push(&twins->placed, bt_arena_str(arena, node).data);
	}
}

static void remove_one(struct twins *twins)
{
	uint32_t at;
	uint32_t count = twins->placed.count / 2;

	if (count == 0) {
		return;
	}
	at = (uint32_t)bt_prng_below(&twins->plan.prng, count) * 2;
	place(&twins->asked, twins->placed.items[at], bt_str_from(twins->placed.items[at + 1]),
		true);
	place(&twins->left_alone, twins->placed.items[at], bt_str_from(twins->placed.items[at + 1]),
		true);
	for (uint32_t i = 0; i < 2; i++) {
		twins->placed.items[at + i] = twins->placed.items[twins->placed.count - 2 + i];
	}
	twins->placed.count -= 2;
}

static void change_node(struct town *town, uint32_t index, const char *json)
{
	const struct bt_node *now = world_node(&town->world, json);

	bt_state_update_node(town->world.engine->state, town->nodes.items[index], now);
	town->nodes.items[index] = now;
}

static void change_one(struct twins *twins)
{
	uint32_t index = (uint32_t)bt_prng_below(&twins->plan.prng, twins->plan.node_count);
	const char *json = random_plan_node(&twins->plan, index);

	change_node(&twins->asked, index, json);
	change_node(&twins->left_alone, index, json);
}

static void explain_one(struct twins *twins)
{
	struct bt_explanation explanation;
	const struct bt_pod *pod =
		town_pod(&twins->asked, random_plan_pending(&twins->plan, "why"));

	/* Refresh both snapshots: image states depend on when the snapshot is refreshed. */
	ck_assert_int_eq(bt_state_refresh_snapshot(twins->left_alone.world.engine->state, NULL), 0);
	town_explain(
		&twins->asked, pod, (uint32_t)bt_prng_below(&twins->plan.prng, 5), &explanation);
	bt_explanation_finish(&explanation);
}

static void step_once(struct twins *twins, uint32_t step)
{
	switch (bt_prng_below(&twins->plan.prng, 6)) {
	case 0:
		remove_one(twins);
		break;
	case 1:
		change_one(twins);
		break;
	case 2:
	case 3:
		explain_one(twins);
		break;
	default:
		schedule_one(twins, step);
		break;
	}
}

START_TEST(test_explain_interleaved__decisions_are_those_without_explain)
{
	uint32_t placed_count = 0;

	for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
		struct twins twins = {.seed = seed};

		random_plan_init(&twins.plan, seed, RANDOM_PLAN_NODES_MAX, RANDOM_PLAN_PODS_MAX);
		random_plan_build(&twins.plan, &twins.asked);
		random_plan_build(&twins.plan, &twins.left_alone);
		for (uint32_t step = 0; step < STEPS; step++) {
			step_once(&twins, step);
		}
		ck_assert_int_eq(
			bt_state_refresh_snapshot(twins.asked.world.engine->state, NULL), 0);
		ck_assert_int_eq(
			bt_state_refresh_snapshot(twins.left_alone.world.engine->state, NULL), 0);
		expect_same(&twins, "at the end", town_fingerprint(&twins.asked),
			town_fingerprint(&twins.left_alone));
		placed_count += twins.placed.count / 2;
		bt_vec_finish(&twins.placed);
		town_finish(&twins.asked);
		town_finish(&twins.left_alone);
		random_plan_finish(&twins.plan);
	}
	ck_assert_uint_gt(placed_count, SEED_COUNT);
}
END_TEST

BT_TEST_MAIN("explain_interleaved", test_explain_interleaved__decisions_are_those_without_explain)

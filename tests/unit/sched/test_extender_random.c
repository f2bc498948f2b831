/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An extender that accepts everything changes no decision: random clusters with and without such an
 * extender.
 */
#include "base/prng.h"
#include "sched_world.h"
#include "test_main.h"

#define SEEDS 60
#define PODS 60

static int agree(void *context BT_UNUSED, const struct bt_extender_args *args,
	struct bt_arena *arena, struct bt_extender_filter_result *out_result,
	struct berth_error *err BT_UNUSED)
{
	out_result->node_names.items = BT_ARENA_NEW_ARRAY(arena, struct bt_str, args->node_count);
	out_result->node_names.count = args->node_count;
	out_result->node_names.present = true;
	for (uint32_t i = 0; i < args->node_count; i++) {
		out_result->node_names.items[i] = args->nodes[i].name;
	}
	/* Return node objects, for extenders that are not nodeCacheCapable. */
	out_result->nodes.items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_extender_node, args->node_count);
	memcpy(out_result->nodes.items, args->nodes, args->node_count * sizeof(*args->nodes));
	out_result->nodes.count = args->node_count;
	out_result->nodes.present = true;
	return 0;
}

static int say_nothing(void *context BT_UNUSED, const struct bt_extender_args *args BT_UNUSED,
	struct bt_arena *arena BT_UNUSED, bt_host_priority_list *out_priorities BT_UNUSED,
	struct berth_error *err BT_UNUSED)
{
	return 0;
}

static int create(void *context BT_UNUSED, const struct bt_config_extender *config BT_UNUSED,
	const struct bt_extender_ops **out_ops, void **out_context BT_UNUSED,
	struct berth_error *err BT_UNUSED)
{
	static const struct bt_extender_ops ops = {.filter = agree, .prioritize = say_nothing};
	*out_ops = &ops;
	return 0;
}

static const struct bt_extender_factory agreeable = {create, NULL};

/** Two equal clusters: [0] has no extender, [1] has one. */
static struct world worlds[2];
static struct bt_prng prng;

static uint32_t below(uint32_t bound)
{
	return (uint32_t)bt_prng_below(&prng, bound);
}

static void add_nodes(uint32_t count)
{
	static const char *const taints[] = {"", "", "{'key':'a','effect':'NoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'}"};

	for (uint32_t i = 0; i < count; i++) {
		const char *json = bt_arena_printf(&worlds[0].arena,
			"{'metadata':{'name':'n%u','labels':{'zone':'%u','kubernetes.io/hostname':"
			"'n%u'}},'spec':{'taints':[%s]},'status':{'allocatable':{'pods':'%u',"
			"'cpu':'%u','memory':'%uGi'}}}",
			i, below(3), i, taints[below(4)], 1 + below(4), 1 + below(8), 1 + below(8))
					   .data;
		world_add_node(&worlds[0], json);
		world_add_node(&worlds[1], json);
	}
}

static const char *random_pod(uint32_t number, uint32_t node_count)
{
	static const char *const extras[] = {"", "",
		"'tolerations':[{'key':'a','operator':"
		"'Exists'}],",
		"'nodeSelector':{'zone':'1'},",
		"'topologySpreadConstraints':[{'maxSkew':1,'topologyKey':'zone',"
		"'whenUnsatisfiable':'DoNotSchedule','labelSelector':{'matchLabels':{'app':'x'}}}"
		"],",
		"'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':["
		"{'topologyKey':'kubernetes.io/hostname','labelSelector':{'matchLabels':{'app':"
		"'x'}}}]}},"};
	const char *nominated = "";

	if (below(6) == 0) {
		nominated = bt_arena_printf(&worlds[0].arena, "n%u", below(node_count)).data;
	}
	return bt_arena_printf(&worlds[0].arena,
		"{'metadata':{'name':'p%u','uid':'u%u','labels':{'app':'%s'}},'spec':{'priority':"
		"%u,%s'containers':[{'name':'c','resources':{'requests':{'cpu':'%u',"
		"'memory':'%uGi'}}}]},'status':{'nominatedNodeName':'%s'}}",
		number, number, below(2) == 0 ? "x" : "y", below(3), extras[below(6)], 1 + below(3),
		1 + below(3), nominated)
		.data;
}

static void check_pod(const char *json, uint64_t seed)
{
	struct bt_schedule_result results[2];
	bool placed[2];

	for (int i = 0; i < 2; i++) {
		results[i] = world_schedule_pod(&worlds[i], world_pending(&worlds[i], json));
	}
	ck_assert_int_eq(results[1].extended, true);
	if (results[0].outcome != results[1].outcome ||
		strcmp(world_chosen(&worlds[0], &results[0]),
			world_chosen(&worlds[1], &results[1])) != 0 ||
		results[0].total_score != results[1].total_score ||
		results[0].feasible_count != results[1].feasible_count ||
		results[0].evaluated_count != results[1].evaluated_count ||
		worlds[0].engine->next_start_node_index !=
			worlds[1].engine->next_start_node_index ||
		strcmp(world_message(&worlds[0], &results[0]),
			world_message(&worlds[1], &results[1])) != 0 ||
		/*
		 * The trial of a nominated node puts the node's status at another place of the
		 * list, and the order of the list decides which of several equal nodes preemption
		 * selects.
		 */
		(strstr(json, "'nominatedNodeName':''") != NULL &&
			!bt_str_equal(results[0].nomination.nominated_node_name,
				results[1].nomination.nominated_node_name))) {
		ck_abort_msg("seed %u: %s: %s %s (%u of %u), %s %s (%u of %u)", (uint32_t)seed,
			json, world_chosen(&worlds[0], &results[0]),
			world_message(&worlds[0], &results[0]), results[0].feasible_count,
			results[0].evaluated_count, world_chosen(&worlds[1], &results[1]),
			world_message(&worlds[1], &results[1]), results[1].feasible_count,
			results[1].evaluated_count);
	}
	if (results[0].outcome != BT_OUTCOME_SCHEDULED) {
		return;
	}
	for (int i = 0; i < 2; i++) {
		placed[i] = bt_engine_place(worlds[i].engine,
			worlds[i].pods.items[worlds[i].pods.count - 1], &results[i]);
	}
	ck_assert_int_eq(placed[0], placed[1]);
}

START_TEST(test_extender__agreement_changes_nothing)
{
	static const char *const options[] = {"", "'percentageOfNodesToScore':10,"};

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bt_engine_options extended = BT_ENGINE_OPTIONS_INIT;
		struct bt_arena arena = {0};
		const char *more = options[seed % 2];
		uint32_t node_count;

		bt_prng_init(&prng, seed);
		node_count = seed % 5 == 0 ? 130 : 2 + below(12);
		extended.verify = true;
		world_init(&worlds[0], bt_arena_printf(&arena, "{%s'parallelism':1}", more).data,
			&extended, NULL, 0);
		extended.extenders = &agreeable;
		world_init(&worlds[1],
			bt_arena_printf(&arena,
				"{%s'extenders':[{'urlPrefix':'u','filterVerb':'f',"
				"'prioritizeVerb':'p','weight':3,'nodeCacheCapable':true}]}",
				more)
				.data,
			&extended, NULL, 0);
		add_nodes(node_count);
		for (uint32_t i = 0; i < PODS; i++) {
			check_pod(random_pod(i, node_count), seed);
		}
		world_finish(&worlds[0]);
		world_finish(&worlds[1]);
		bt_arena_finish(&arena);
	}
}
END_TEST

/** If extenders return nodes as objects, every plugin scores the nodes without their pods. */
START_TEST(test_extender__objects_are_empty_nodes)
{
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct bt_engine_options extended = BT_ENGINE_OPTIONS_INIT;
		uint32_t node_count;

		bt_prng_init(&prng, seed);
		node_count = 2 + below(12);
		extended.verify = true;
		extended.extenders = &agreeable;
		for (int i = 0; i < 2; i++) {
			world_init(&worlds[i],
				"{'extenders':[{'urlPrefix':'u','filterVerb':'f',"
				"'prioritizeVerb':'p','weight':3}]}",
				&extended, NULL, 0);
		}
		add_nodes(node_count);
		for (uint32_t i = 0; i < PODS; i++) {
			const char *json = random_pod(i, node_count);
			struct bt_schedule_result full = world_schedule(&worlds[0], json);
			/* The second cluster has no pods and shows the scores of empty nodes. */
			struct bt_schedule_result empty = world_schedule(&worlds[1], json);

			if (full.outcome != BT_OUTCOME_SCHEDULED) {
				continue;
			}
			if (full.feasible_count == empty.feasible_count &&
				strstr(json, "'podAntiAffinity'") == NULL &&
				strstr(json, "'topologySpread") == NULL) {
				ck_assert_int_eq(full.total_score, empty.total_score);
			}
			(void)bt_engine_place(worlds[0].engine,
				worlds[0].pods.items[worlds[0].pods.count - 1], &full);
		}
		world_finish(&worlds[0]);
		world_finish(&worlds[1]);
	}
}
END_TEST

BT_TEST_MAIN("extender_random", test_extender__agreement_changes_nothing,
	test_extender__objects_are_empty_nodes)

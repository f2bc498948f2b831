/* SPDX-License-Identifier: Apache-2.0 */
/** Columns and decisions are the same for any number of threads. */
#include <string.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "base/thread_pool.h"
#include "sched/plan.h"
#include "sched/plan_private.h"
#include "sched_world.h"
#include "test_main.h"

enum { NODES = 700, PODS = 120, PART_SLOTS = 64, ENGINES = 4 };

/* One cluster in several engines with these numbers of threads. */
static const uint32_t thread_counts[ENGINES] = {0, 2, 3, 8};

struct engines {
	struct world worlds[ENGINES];
	struct bt_thread_pool *pools[ENGINES];
	struct bt_prng prng;
	uint32_t scheduled;
	uint32_t rejected;
};

static uint32_t below(struct engines *engines, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&engines->prng, bound);
}

static void init(struct engines *engines, uint64_t seed)
{
	bt_prng_init(&engines->prng, seed);
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		options.percentage_of_nodes_to_score = 100;
		if (thread_counts[i] != 0) {
			ck_assert_int_eq(
				bt_thread_pool_create(thread_counts[i], &engines->pools[i], NULL),
				0);
			options.workers = bt_thread_pool_workers(engines->pools[i]);
			options.part_slots = PART_SLOTS;
		}
		world_init(&engines->worlds[i], "{}", &options, NULL, 0);
	}
}

static void finish(struct engines *engines)
{
	for (uint32_t i = 0; i < ENGINES; i++) {
		world_finish(&engines->worlds[i]);
		bt_thread_pool_destroy(engines->pools[i]);
	}
}

static const char *draw_node(struct engines *engines, uint32_t number)
{
	static const char *const taints[] = {"", "", "{'key':'a','effect':'NoSchedule'}",
		"{'key':'b','effect':'PreferNoSchedule'}"};
	static const char *const images[] = {"", "{'names':['x:latest'],'sizeBytes':900000000}",
		"{'names':['y:1'],'sizeBytes':90000000}"};
	return bt_arena_printf(&engines->worlds[0].arena,
		"{'metadata':{'name':'n%u','labels':{'disk':'d%u','topology.kubernetes.io/"
		"zone':'z%u'}},'spec':{'unschedulable':%s,'taints':[%s]},'status':{'images':[%s],"
		"'allocatable':{'pods':'9','cpu':'%u','memory':'%uGi','example.com/a':'%u'}}}",
		number, below(engines, 3), below(engines, 4),
		below(engines, 30) == 0 ? "true" : "false", taints[below(engines, 4)],
		images[below(engines, 3)], 1 + below(engines, 16), 1 + below(engines, 64),
		below(engines, 3))
		.data;
}

/* Returns a random pod. Each pod has a different shape, so that each needs new columns. */
static const char *draw_pod(struct engines *engines, uint32_t number)
{
	static const char *const names[12] = {
		"'nodeName':'n150',", "", "", "", "", "", "", "", "", "", "", ""};
	static const char *const tolerations[] = {"", "{'key':'a','operator':'Exists'}"};
	static const char *const ports[] = {"", "", "{'hostPort':80}"};
	static const char *const disks[] = {"", "", "'disk':'d1'"};
	static const char *const devices[] = {"", "", ",'example.com/a':'1'"};
	return bt_arena_printf(&engines->worlds[0].arena,
		"{'metadata':{'labels':{'app':'a%u'}},'spec':{'priority':%u,%s'nodeSelector':{%s},"
		"'tolerations':[%s],'containers':[{'name':'c','image':'x','ports':[%s],"
		"'resources':{'requests':{'cpu':'%um','memory':'%uMi'%s}}}]}}",
		below(engines, 3), number, names[below(engines, 12)], disks[below(engines, 3)],
		tolerations[below(engines, 2)], ports[below(engines, 3)], 100 * below(engines, 170),
		100 * below(engines, 600), devices[below(engines, 3)])
		.data;
}

/* Compares the columns of the plans that decided. */
static void check_columns(const struct bt_plan *plan, const struct bt_plan *expected)
{
	size_t bytes = expected->slot_count * sizeof(*expected->verdict);
	ck_assert_uint_eq(plan->slot_count, expected->slot_count);
	ck_assert_uint_eq(plan->feasible_count, expected->feasible_count);
	ck_assert(memcmp(plan->verdict, expected->verdict, bytes) == 0);
	ck_assert_int_eq(plan->scored, expected->scored);
	if (!expected->scored) {
		return;
	}
	ck_assert(memcmp(plan->local, expected->local, bytes) == 0);
	ck_assert_uint_eq(plan->raw_count, expected->raw_count);
	for (uint32_t i = 0; i < expected->raw_count; i++) {
		for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
			ck_assert_int_eq(bt_plan_raw_at(&plan->raws[i], slot),
				bt_plan_raw_at(&expected->raws[i], slot));
		}
	}
}

static void place(struct engines *engines, uint32_t number)
{
	const char *json = draw_pod(engines, number);
	struct bt_schedule_result results[ENGINES];
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &engines->worlds[i];
		const struct bt_pod_info *pod = world_pending(world, json);
		bt_engine_schedule(world->engine, world->framework, pod, NULL, &results[i]);
		ck_assert_int_eq(results[i].outcome, results[0].outcome);
		ck_assert_uint_eq(results[i].feasible_count, results[0].feasible_count);
		ck_assert_ptr_nonnull(results[i].plan);
		check_columns(results[i].plan, results[0].plan);
		if (results[i].outcome != BT_OUTCOME_SCHEDULED) {
			continue;
		}
		ck_assert_uint_eq(results[i].slot, results[0].slot);
		ck_assert_int_eq(results[i].total_score, results[0].total_score);
	}
	for (uint32_t i = 0; i < ENGINES; i++) {
		if (results[i].outcome == BT_OUTCOME_SCHEDULED) {
			struct world *world = &engines->worlds[i];
			ck_assert(bt_engine_place(world->engine,
				world->pods.items[world->pods.count - 1], &results[i]));
		}
	}
	engines->scheduled += results[0].outcome == BT_OUTCOME_SCHEDULED;
	engines->rejected += results[0].outcome != BT_OUTCOME_SCHEDULED;
}

static void remove_node(struct engines *engines, const char *json)
{
	for (uint32_t i = 0; i < ENGINES; i++) {
		struct world *world = &engines->worlds[i];
		ck_assert_int_eq(
			bt_state_remove_node(world->engine->state, world_node(world, json), NULL),
			0);
	}
}

START_TEST(test_workers__same_columns_and_decisions)
{
	struct engines *engines = BT_NEW(struct engines);
	init(engines, 1);
	const char *nodes[NODES];
	for (uint32_t number = 0; number < NODES; number++) {
		nodes[number] = draw_node(engines, number);
		for (uint32_t i = 0; i < ENGINES; i++) {
			world_add_node(&engines->worlds[i], nodes[number]);
		}
	}
	for (uint32_t number = 0; number < PODS; number++) {
		place(engines, number);
		if (number % 40 == 39) {
			/* Leaves holes in the list of slots. */
			remove_node(engines, nodes[number]);
		}
	}
	ck_assert_uint_gt(engines->scheduled, PODS / 2);
	ck_assert_uint_gt(engines->rejected, 0);
	finish(engines);
	bt_free(engines);
}
END_TEST

static void note_part(void *argument, uint32_t part)
{
	uint32_t *parts = argument;
	parts[part]++;
}

START_TEST(test_workers__parts_cover_all_slots)
{
	static const uint32_t counts[] = {0, 1, 383, 384, 385, 1000, 4096, 4097};
	struct bt_thread_pool *pool;
	ck_assert_int_eq(bt_thread_pool_create(2, &pool, NULL), 0);
	struct bt_engine engine = {
		.options = {.workers = bt_thread_pool_workers(pool), .part_slots = PART_SLOTS}};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(counts); i++) {
		struct bt_parts parts = bt_parts_of(&engine, counts[i]);
		uint32_t times[4097 / PART_SLOTS + 1] = {0};
		uint32_t next = 0;
		bt_parts_run(&parts, note_part, times);
		for (uint32_t part = 0; part < parts.count; part++) {
			struct bt_slot_range range = bt_parts_range(&parts, part);
			ck_assert_uint_eq(times[part], 1);
			ck_assert_ptr_null(range.slots);
			ck_assert_uint_eq(range.first, next);
			next += range.count;
		}
		ck_assert_uint_eq(next, counts[i]);
		/* No worker thread is woken for few slots. */
		ck_assert_int_eq(parts.workers != NULL, counts[i] >= 6 * PART_SLOTS);
	}
	bt_thread_pool_destroy(pool);
}
END_TEST

BT_TEST_MAIN(
	"workers", test_workers__same_columns_and_decisions, test_workers__parts_cover_all_slots)

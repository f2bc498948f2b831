/* SPDX-License-Identifier: Apache-2.0 */
#include "fake_plugin.h"
#include "test_main.h"

#define PRE_BIND (FAKE_ROLE(FAKE_PRE_FLIGHT) | FAKE_ROLE(FAKE_PRE_BIND))
#define BIND FAKE_ROLE(FAKE_BIND)

/** Returns the groups as "{p1},{p2},{p4,p6}". */
static const char *groups_text(struct fake_world *world)
{
	struct bt_pre_bind_group *groups;
	uint32_t count = bt_pre_bind_groups(world->framework, &world->cycle, &groups);
	struct bt_strbuf text = {0};
	struct bt_str copy;

	for (uint32_t g = 0; g < count; g++) {
		bt_strbuf_append_c(&text, g > 0 ? ",{" : "{");
		for (uint32_t i = 0; i < groups[g].count; i++) {
			bt_strbuf_append_c(&text, i > 0 ? "," : "");
			bt_strbuf_append_c(&text, groups[g].plugins[i]->ops->name);
		}
		bt_strbuf_append_c(&text, "}");
	}
	copy = bt_arena_str(&world->arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return copy.data;
}

/**
 * Compares the groups of some plugins. kinds has one letter per plugin: s serial, p parallel; upper
 * case: the pre-flight returned Skip.
 */
static void expect_groups(const char *kinds, const char *expected)
{
	struct fake fakes[8];
	char names[8][4];
	struct fake_world world;
	struct bt_strbuf list = {0};
	uint32_t count = 0;

	bt_strbuf_append_c(&list, "preBind=");
	for (; kinds[count] != 0; count++) {
		char kind = kinds[count];

		(void)snprintf(names[count], sizeof(names[count]), "p%u", count + 1);
		fakes[count] = fake_plugin(names[count], PRE_BIND);
		fakes[count].allow_parallel = kind == 'p' || kind == 'P';
		if (kind == 'S' || kind == 'P') {
			fake_answer(&fakes[count], FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
		}
		bt_strbuf_printf(&list, "%s%s", count > 0 ? "," : "", names[count]);
	}
	fake_world_init(&world, fakes, count, bt_strbuf_c(&list));
	(void)bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0);
	ck_assert_msg(strcmp(groups_text(&world), expected) == 0, "%s gives %s", kinds,
		groups_text(&world));
	bt_strbuf_finish(&list);
	fake_world_finish(&world);
}

/** Runs PreBind from its start. */
static struct bt_status run_pre_bind(struct fake_world *world)
{
	struct bt_pre_bind_progress progress = {0};

	return bt_run_pre_bind_from(world->framework, &world->cycle, &world->pod, 0, &progress);
}

/** Runs Bind from its first plugin. */
static struct bt_status run_bind(struct fake_world *world)
{
	uint32_t next = 0;

	return bt_run_bind_from(world->framework, &world->cycle, &world->pod, 0, &next);
}

START_TEST(test_pre_bind__edge_02_28_groups)
{
	expect_groups("spSpPpss", "{p1},{p2},{p4,p6},{p7},{p8}");
	expect_groups("pPp", "{p1,p3}");
	expect_groups("pSp", "{p1},{p3}");
	expect_groups("ppp", "{p1,p2,p3}");
	expect_groups("S", "");
}
END_TEST

START_TEST(test_pre_bind__without_pre_flights)
{
	struct fake fakes[] = {fake_plugin("A", PRE_BIND), fake_plugin("B", PRE_BIND)};
	struct fake_world world;

	fakes[0].allow_parallel = true;
	fakes[1].allow_parallel = true;
	fake_answer(&fakes[1], FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	fake_world_init(&world, fakes, 2, "preBind=A,B");
	ck_assert_str_eq(groups_text(&world), "{A},{B}");
	FAKE_EXPECT(&world, run_pre_bind(&world), BT_STATUS_SUCCESS, "", "");
	ck_assert_str_eq(fake_log(), "A.PreBind B.PreBind");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_bind__edge_02_29_pre_flight_codes)
{
	struct fake fakes[] = {fake_plugin("P", PRE_BIND), fake_plugin("Q", PRE_BIND)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_PRE_FLIGHT, BT_STATUS_UNSCHEDULABLE, "u");
	fake_world_init(&world, fakes, 2, "preBind=P,Q");
	FAKE_EXPECT(&world,
		bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_ERROR,
		"PreBindPreFlight P returned \"Unschedulable\", which is unsupported. It is "
		"supposed to return Success, Skip, or Error status",
		"");
	ck_assert(!world.cycle.pre_bind_flights_done);
	fake_fail(&fakes[0], FAKE_PRE_FLIGHT, "x");
	FAKE_EXPECT(&world,
		bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_ERROR, "running PreBindPreFlight \"P\": x", "");
	/* One Success is enough; if all return Skip, the result is Skip. */
	fake_answer(&fakes[0], FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	FAKE_EXPECT(&world,
		bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_SUCCESS, "", "");
	fake_answer(&fakes[1], FAKE_PRE_FLIGHT, BT_STATUS_SKIP, NULL);
	FAKE_EXPECT(&world,
		bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0),
		BT_STATUS_SKIP, "", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_bind__failures)
{
	struct fake fakes[] = {fake_plugin("A", PRE_BIND), fake_plugin("B", PRE_BIND)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_PRE_BIND, BT_STATUS_UNSCHEDULABLE, "u");
	fake_world_init(&world, fakes, 2, "preBind=A,B");
	FAKE_EXPECT(&world, run_pre_bind(&world), BT_STATUS_UNSCHEDULABLE, "u", "A");
	ck_assert_uint_eq(fakes[1].calls[FAKE_PRE_BIND], 0);
	fake_fail(&fakes[0], FAKE_PRE_BIND, "x");
	FAKE_EXPECT(&world, run_pre_bind(&world), BT_STATUS_ERROR,
		"running PreBind plugin \"A\": x", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_pre_bind__waits)
{
	struct fake fakes[] = {
		fake_plugin("A", PRE_BIND), fake_plugin("B", PRE_BIND), fake_plugin("C", PRE_BIND)};
	struct bt_pre_bind_progress progress = {0};
	struct fake_world world;

	fakes[0].allow_parallel = true;
	fakes[1].allow_parallel = true;
	fake_answer(&fakes[0], FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	fake_world_init(&world, fakes, 3, "preBind=A,B,C");
	(void)bt_run_pre_bind_pre_flights(world.framework, &world.cycle, &world.pod, 0);
	/* Both plugins of the first group are called; a finished plugin is not called again. */
	FAKE_EXPECT(&world,
		bt_run_pre_bind_from(world.framework, &world.cycle, &world.pod, 0, &progress),
		BT_STATUS_WAIT, "", "");
	FAKE_EXPECT(&world,
		bt_run_pre_bind_from(world.framework, &world.cycle, &world.pod, 0, &progress),
		BT_STATUS_WAIT, "", "");
	ck_assert_str_eq(fake_log(), "A.PreBind B.PreBind A.PreBind");
	world.cycle.cancel_cause = BT_STR("preempted by DefaultPreemption");
	FAKE_EXPECT(&world,
		bt_run_pre_bind_from(world.framework, &world.cycle, &world.pod, 0, &progress),
		BT_STATUS_ERROR, "running PreBind plugin \"A\": preempted by DefaultPreemption",
		"");
	world.cycle.cancel_cause = BT_STR("");
	fake_answer(&fakes[0], FAKE_PRE_BIND, BT_STATUS_SUCCESS, NULL);
	FAKE_EXPECT(&world,
		bt_run_pre_bind_from(world.framework, &world.cycle, &world.pod, 0, &progress),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_str_eq(fake_log(), "A.PreBind B.PreBind A.PreBind A.PreBind C.PreBind");
	/* A failure ends the run even if another member of the group is unfinished. */
	progress = (struct bt_pre_bind_progress){0};
	fake_answer(&fakes[0], FAKE_PRE_BIND, BT_STATUS_WAIT, NULL);
	fake_fail(&fakes[1], FAKE_PRE_BIND, "x");
	FAKE_EXPECT(&world,
		bt_run_pre_bind_from(world.framework, &world.cycle, &world.pod, 0, &progress),
		BT_STATUS_ERROR, "running PreBind plugin \"B\": x", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_bind__waits)
{
	struct fake fakes[] = {fake_plugin("A", BIND), fake_plugin("B", BIND)};
	struct fake_world world;
	uint32_t next = 0;

	fake_answer(&fakes[0], FAKE_BIND, BT_STATUS_SKIP, NULL);
	fake_answer(&fakes[1], FAKE_BIND, BT_STATUS_WAIT, NULL);
	fake_world_init(&world, fakes, 2, "bind=A,B");
	FAKE_EXPECT(&world, bt_run_bind_from(world.framework, &world.cycle, &world.pod, 0, &next),
		BT_STATUS_WAIT, "", "");
	fake_answer(&fakes[1], FAKE_BIND, BT_STATUS_SUCCESS, NULL);
	FAKE_EXPECT(&world, bt_run_bind_from(world.framework, &world.cycle, &world.pod, 0, &next),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[0].calls[FAKE_BIND], 1);
	ck_assert_uint_eq(fakes[1].calls[FAKE_BIND], 2);
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_bind__edge_02_30_first_that_binds)
{
	struct fake fakes[] = {
		fake_plugin("A", BIND), fake_plugin("B", BIND), fake_plugin("C", BIND)};
	struct fake_world world;

	fake_answer(&fakes[0], FAKE_BIND, BT_STATUS_SKIP, NULL);
	fake_fail(&fakes[2], FAKE_BIND, "never");
	fake_world_init(&world, fakes, 3, "bind=A,B,C");
	FAKE_EXPECT(&world, run_bind(&world), BT_STATUS_SUCCESS, "", "");
	ck_assert_uint_eq(fakes[2].calls[FAKE_BIND], 0);
	fake_answer(&fakes[1], FAKE_BIND, BT_STATUS_SKIP, "b");
	fake_answer(&fakes[2], FAKE_BIND, BT_STATUS_SKIP, "c");
	FAKE_EXPECT(&world, run_bind(&world), BT_STATUS_SKIP, "c", "");
	fake_answer(&fakes[0], FAKE_BIND, BT_STATUS_UNSCHEDULABLE, "u");
	FAKE_EXPECT(&world, run_bind(&world), BT_STATUS_UNSCHEDULABLE, "u", "A");
	fake_fail(&fakes[0], FAKE_BIND, "x");
	FAKE_EXPECT(&world, run_bind(&world), BT_STATUS_ERROR, "running Bind plugin \"A\": x", "");
	fake_world_finish(&world);
}
END_TEST

START_TEST(test_bind__post_bind_and_pre_enqueue)
{
	struct fake fakes[] = {
		fake_plugin("A", FAKE_ROLE(FAKE_POST_BIND) | FAKE_ROLE(FAKE_PRE_ENQUEUE)),
		fake_plugin("B", FAKE_ROLE(FAKE_POST_BIND) | FAKE_ROLE(FAKE_PRE_ENQUEUE))};
	struct fake_world world;
	struct bt_plugin *gating = NULL;
	struct bt_plugin *first;

	fake_world_init(&world, fakes, 2, "multiPoint=A,B");
	bt_run_post_bind(world.framework, &world.cycle, &world.pod, 0);
	FAKE_EXPECT(&world,
		bt_run_pre_enqueue(world.framework, &world.pod, &world.arena, NULL, &gating),
		BT_STATUS_SUCCESS, "", "");
	ck_assert_ptr_null(gating);
	ck_assert_str_eq(fake_log(), "A.PostBind B.PostBind A.PreEnqueue B.PreEnqueue");
	/* The plugin that gated the pod before runs first, and only once. */
	fake_log_reset();
	first = bt_framework_find_plugin(world.framework, BT_STR("B"));
	fake_fail(&fakes[0], FAKE_PRE_ENQUEUE, "gate");
	FAKE_EXPECT(&world,
		bt_run_pre_enqueue(world.framework, &world.pod, &world.arena, first, &gating),
		BT_STATUS_ERROR, "gate", "A");
	ck_assert_str_eq(gating->ops->name, "A");
	ck_assert_str_eq(fake_log(), "B.PreEnqueue A.PreEnqueue");
	fake_world_finish(&world);
}
END_TEST

BT_TEST_MAIN("bind", test_pre_bind__edge_02_28_groups, test_pre_bind__without_pre_flights,
	test_pre_bind__edge_02_29_pre_flight_codes, test_pre_bind__failures, test_pre_bind__waits,
	test_bind__waits, test_bind__edge_02_30_first_that_binds,
	test_bind__post_bind_and_pre_enqueue)

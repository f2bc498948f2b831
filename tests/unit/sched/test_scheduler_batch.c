/* SPDX-License-Identifier: Apache-2.0 */
/** Opportunistic batching in the living scheduler: spec 09 section 12, spec 03 section 3.4. */
#include "framework/scheduler_metrics.h"
#include "life_world.h"
#include "state/change_log.h"
#include "test_main.h"

#define ROLES (FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_SCORE) | FAKE_ROLE(FAKE_SIGN))

static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN};

/* Scores of n1 to n5: first n1 is best, then n2; later n5 is best, then n4. */
static struct script_row first_scores[] = {
	{"n1", {0}, 50}, {"n2", {0}, 40}, {"n3", {0}, 30}, {"n4", {0}, 20}, {"n5", {0}, 10}};
static struct script_row later_scores[] = {
	{"n1", {0}, 10}, {"n2", {0}, 20}, {"n3", {0}, 30}, {"n4", {0}, 40}, {"n5", {0}, 50}};

static struct script plugin_s;
static struct bt_scheduler_metrics *counts; /* NULL: no metrics */
static struct life life;

/** Makes two profiles, a and b; one pod fills a node. */
static void init(const char *gates, enum script_form form)
{
	struct bt_arena arena = {0};

	plugin_s = script_make("S", ROLES, form);
	plugin_s.fake.filter_full_at = 1;
	if (form == SCRIPT_COLUMN) {
		plugin_s.fake.shortcuts.score_reads |= BT_CHANGE_ALLOCATABLE; /* change_scores */
	}
	script_set_rows(&plugin_s, first_scores, 5);
	life_init_counted(&life, gates,
		bt_arena_printf(&arena, "{'profiles':[%s,%s]}", world_profile(&arena, "a", "S", ""),
			world_profile(&arena, "b", "S", ""))
			.data,
		(struct script *[]){&plugin_s}, 1, counts);
	bt_arena_finish(&arena);
	for (uint32_t i = 1; i <= 5; i++) {
		life_node(&life, bt_arena_printf(&life.arena, "n%u", i).data, "");
	}
}

/** Schedules a new pod with this profile and returns its node. */
static const char *place(const char *pod, const char *profile)
{
	life_pod(&life, pod, "",
		bt_arena_printf(&life.arena, "'spec':{'schedulerName':'%s'}", profile).data);
	return life_schedule(&life).node_name.data;
}

/**
 * Changes the scores, and allocatable of every node: plugins with columns compute the scores of
 * changed nodes only.
 */
static void change_scores(void)
{
	script_set_rows(&plugin_s, later_scores, 5);
	for (uint32_t i = 1; i <= 5; i++) {
		life_node(&life, bt_arena_printf(&life.arena, "n%u", i).data,
			bt_arena_printf(
				&life.arena, "'status':{'allocatable':{'cpu':'%u'}}", life.version)
				.data);
	}
}

START_TEST(test_scheduler__the_next_best_node_is_tried_first)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		init("", forms[i]);
		ck_assert_str_eq(place("p", "a"), "n1");
		change_scores();
		plugin_s.filtered_count = 0;
		ck_assert_str_eq(place("q", "a"), "n2");
		ck_assert_str_eq(place("r", "a"), "n3");
		/* The ranking is too old: a new ranking is computed. */
		life.now_ns += LIFE_SECOND;
		ck_assert_str_eq(place("s", "a"), "n5");
		ck_assert_str_eq(place("t", "a"), "n4");
		life_finish(&life);
		/* Without the gate no ranking is kept. */
		init("OpportunisticBatching=false", forms[i]);
		ck_assert_str_eq(place("p", "a"), "n1");
		change_scores();
		ck_assert_str_eq(place("q", "a"), "n5");
		life_finish(&life);
	}
}
END_TEST

START_TEST(test_scheduler__edge_03_53_no_hint_for_profiles_that_alternate)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		init("", forms[i]);
		ck_assert_str_eq(place("p", "a"), "n1");
		change_scores();
		/* The ranking of profile a hints at n2, but profile b does not use this ranking. */
		ck_assert_str_eq(place("q", "b"), "n5");
		ck_assert_str_eq(place("r", "a"), "n4");
		ck_assert_str_eq(place("s", "b"), "n3");
		life_finish(&life);
	}
}
END_TEST

START_TEST(test_scheduler__what_ends_a_batch)
{
	/* The node of the last pod still has room: there is no hint. */
	init("", SCRIPT_COLUMN);
	plugin_s.fake.filter_full_at = 2;
	ck_assert_str_eq(place("p", "a"), "n1");
	change_scores();
	ck_assert_str_eq(place("q", "a"), "n5");
	life_finish(&life);
	/* The node of the last pod is deleted: there is no hint. */
	init("", SCRIPT_COLUMN);
	ck_assert_str_eq(place("p", "a"), "n1");
	change_scores();
	life_delete(&life, BT_KIND_NODE, "", "n1");
	ck_assert_str_eq(place("q", "a"), "n5");
	life_finish(&life);
	/* The hinted node is deleted: all nodes are searched. */
	init("", SCRIPT_COLUMN);
	ck_assert_str_eq(place("p", "a"), "n1");
	change_scores();
	life_delete(&life, BT_KIND_NODE, "", "n2");
	ck_assert_str_eq(place("q", "a"), "n5");
	life_finish(&life);
	/* If a plugin does not sign pods, no two pods count as equal. */
	init("", SCRIPT_COLUMN);
	fake_answer(&plugin_s.fake, FAKE_SIGN, BT_STATUS_UNSCHEDULABLE, "no");
	ck_assert_str_eq(place("p", "a"), "n1");
	change_scores();
	ck_assert_str_eq(place("q", "a"), "n5");
	life_finish(&life);
}
END_TEST

static int64_t stopped_clock(BT_UNUSED void *context)
{
	return 0;
}

START_TEST(test_scheduler__edge_09_47_a_nomination_comes_first)
{
	struct bt_metrics *metrics = bt_metrics_create();
	struct bt_gates gates = bt_gates_default();
	struct bt_strbuf text = {0};

	counts = bt_scheduler_metrics_create(metrics, &gates, stopped_clock, NULL);
	init("", SCRIPT_COLUMN);
	ck_assert_str_eq(place("p", "a"), "n1");
	change_scores();
	/* The nominated node is used; the hint n2 leaves the ranking without being used. */
	life_pod(
		&life, "q", "", "'spec':{'schedulerName':'a'},'status':{'nominatedNodeName':'n4'}");
	ck_assert_str_eq(life_schedule(&life).node_name.data, "n4");
	ck_assert_str_eq(place("r", "a"), "n5");
	bt_metrics_write(metrics, BT_METRICS_TEXT, &text);
	ck_assert_ptr_nonnull(strstr(bt_strbuf_c(&text),
		"scheduler_batch_attempts_total{profile=\"a\",result=\"hint_not_used\"} 1\n"));
	bt_strbuf_finish(&text);
	life_finish(&life);
	bt_scheduler_metrics_destroy(counts);
	counts = NULL;
	bt_metrics_destroy(metrics);
}
END_TEST

BT_TEST_MAIN("scheduler_batch", test_scheduler__the_next_best_node_is_tried_first,
	test_scheduler__edge_03_53_no_hint_for_profiles_that_alternate,
	test_scheduler__what_ends_a_batch, test_scheduler__edge_09_47_a_nomination_comes_first)

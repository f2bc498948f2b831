/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts of the living scheduler: spec 11 sections 10.2 to 10.4, 02 section 14. Verification is on
 * in all tests: calls that verification repeats must not be counted.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "framework/cluster_event.h"
#include "framework/scheduler_metrics.h"
#include "life_world.h"
#include "metrics/promtool.h"
#include "test_main.h"

#define FILTERS (FAKE_ROLE(FAKE_FILTER))
#define ALL_ROLES \
	(FAKE_ROLE(FAKE_PRE_FILTER) | FAKE_ROLE(FAKE_FILTER) | FAKE_ROLE(FAKE_PRE_SCORE) | \
		FAKE_ROLE(FAKE_SCORE))

static struct bt_metrics *metrics;
static struct bt_scheduler_metrics *counts;
static struct life life;
static int64_t clock_ns;

/** Returns the clock's time; each call advances the clock by a millisecond. */
static int64_t ticking(void *context)
{
	(void)context;
	clock_ns += 1000 * 1000;
	return clock_ns;
}

static void init(const char *gate_text, const char *config, struct script *const *scripts,
	uint32_t script_count)
{
	struct bt_gates gates = bt_gates_default();
	struct berth_error err = BERTH_ERROR_INIT;

	clock_ns = 0;
	ck_assert_int_eq(bt_gates_set(&gates, bt_str_from(gate_text), &err), 0);
	metrics = bt_metrics_create();
	counts = bt_scheduler_metrics_create(metrics, &gates, ticking, NULL);
	life_init_counted(&life, gate_text, config, scripts, script_count, counts);
}

static void finish(void)
{
	life_finish(&life);
	bt_scheduler_metrics_destroy(counts);
	bt_metrics_destroy(metrics);
}

/** Returns the lines that begin with start, in memory of the life. */
static const char *lines(const char *start)
{
	struct bt_strbuf all = {0};
	struct bt_strbuf out = {0};
	const char *text;

	bt_metrics_write(metrics, BT_METRICS_TEXT, &all);
	for (const char *line = bt_strbuf_c(&all); *line != '\0'; line = strchr(line, '\n') + 1) {
		if (strncmp(line, start, strlen(start)) == 0) {
			bt_strbuf_append(&out, line, (size_t)(strchr(line, '\n') - line) + 1);
		}
	}
	text = bt_arena_str(&life.arena, bt_strbuf_str(&out)).data;
	bt_strbuf_finish(&all);
	bt_strbuf_finish(&out);
	return text;
}

/** Returns the evaluation counts that are not 0. */
static const char *evaluations(void)
{
	struct bt_strbuf out = {0};
	const char *text;

	for (const char *line = lines("scheduler_plugin_evaluation_total{"); *line != '\0';
		line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');
		if (end[-1] != '0' || end[-2] != ' ') {
			bt_strbuf_append(&out, line, (size_t)(end - line) + 1);
		}
	}
	text = bt_arena_str(&life.arena, bt_strbuf_str(&out)).data;
	bt_strbuf_finish(&out);
	return text;
}

static void add_nodes(uint32_t count)
{
	for (uint32_t i = 1; i <= count; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "n%u", i);
		life_node(&life, name, "");
	}
}

static struct bt_attempt schedule(const char *pod)
{
	life_pod(&life, pod, "", "");
	return life_schedule(&life);
}

/* --- attempts --- */

START_TEST(test_metrics_counts__attempts)
{
	struct script_row rows[] = {{"n1", {BT_STATUS_UNSCHEDULABLE, "no", NULL}, 0}};
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);

	script_set_rows(&plugin, rows, 1);
	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	ck_assert_int_eq(schedule("a").outcome, BT_ATTEMPT_FAILED);
	life_node(&life, "n2", "");
	ck_assert_int_eq(schedule("b").outcome, BT_ATTEMPT_BOUND);
	life.bind_error = "no";
	ck_assert_int_eq(schedule("c").outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(lines("scheduler_schedule_attempts_total"),
		"scheduler_schedule_attempts_total{profile=\"default-scheduler\",result=\"error\"} "
		"1\n"
		"scheduler_schedule_attempts_total{profile=\"default-scheduler\",result="
		"\"scheduled\"} 1\n"
		"scheduler_schedule_attempts_total{profile=\"default-scheduler\",result="
		"\"unschedulable\"} 1\n");
	ck_assert_str_eq(lines("scheduler_scheduling_attempt_duration_seconds_count"),
		"scheduler_scheduling_attempt_duration_seconds_count{profile=\"default-scheduler\","
		"result=\"error\"} 1\n"
		"scheduler_scheduling_attempt_duration_seconds_count{profile=\"default-scheduler\","
		"result=\"scheduled\"} 1\n"
		"scheduler_scheduling_attempt_duration_seconds_count{profile=\"default-scheduler\","
		"result=\"unschedulable\"} 1\n");
	ck_assert_str_eq(lines("scheduler_scheduling_algorithm_duration_seconds_count"),
		"scheduler_scheduling_algorithm_duration_seconds_count 3\n");
	ck_assert_str_eq(lines("scheduler_unschedulable_pods"),
		"scheduler_unschedulable_pods{plugin=\"P\",profile=\"default-scheduler\"} 1\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__time_and_attempts_until_bound)
{
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);

	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	life.bind_error = "not yet";
	(void)schedule("p");
	life.bind_error = NULL;
	life_advance(&life, 7);
	ck_assert_int_eq(life_schedule(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(lines("scheduler_pod_scheduling_attempts_sum"),
		"scheduler_pod_scheduling_attempts_sum 2\n");
	ck_assert_str_eq(lines("scheduler_pod_scheduling_sli_duration_seconds_sum"),
		"scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"2\"} 7\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__many_attempts_share_a_label)
{
	init("", "", NULL, 0);
	bt_metrics_pod_bound(counts, 14, 1000, false);
	bt_metrics_pod_bound(counts, 15, 1000, false);
	bt_metrics_pod_bound(counts, 1000, -1, true);
	ck_assert_str_eq(lines("scheduler_pod_scheduling_sli_duration_seconds_count"),
		"scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"14\"} 1\n"
		"scheduler_pod_scheduling_sli_duration_seconds_count{attempts=\"15+\"} 1\n");
	ck_assert_str_eq(lines("scheduler_pod_scheduled_after_flush_total"),
		"scheduler_pod_scheduled_after_flush_total 1\n");
	finish();
}
END_TEST

/* --- plugins --- */

/**
 * Schedules three pods on six nodes and returns the counts of evaluations. A rejects n1 and n4; B
 * rejects n1, n2 and n5, or every node that A accepts (all_rejected).
 */
static const char *evaluate(enum script_form form, bool all_rejected)
{
	static struct script_row a_rows[] = {
		{"n1", {BT_STATUS_UNSCHEDULABLE, "a", NULL}, 0},
		{"n4", {BT_STATUS_UNSCHEDULABLE, "a", NULL}, 0},
		{"n3", {BT_STATUS_SUCCESS, NULL, NULL}, 9},
	};
	static struct script_row b_rows[] = {
		{"n1", {BT_STATUS_UNSCHEDULABLE, "b", NULL}, 0},
		{"n2", {BT_STATUS_UNSCHEDULABLE, "b", NULL}, 0},
		{"n5", {BT_STATUS_UNSCHEDULABLE, "b", NULL}, 0},
		{"n3", {BT_STATUS_UNSCHEDULABLE, "b", NULL}, 0},
		{"n6", {BT_STATUS_UNSCHEDULABLE, "b", NULL}, 0},
	};
	static struct script a;
	static struct script b;

	a = script_make("A", ALL_ROLES, form);
	b = script_make("B", ALL_ROLES, form);
	script_set_rows(&a, a_rows, 3);
	script_set_rows(&b, b_rows, all_rejected ? 5 : 3);
	init("", "A, B", (struct script *[]){&a, &b}, 2);
	add_nodes(6);
	(void)schedule("p");
	(void)schedule("q");
	(void)schedule("r");
	return evaluations();
}

/** Three attempts: each runs A on six nodes and B on the four nodes that pass A. */
START_TEST(test_metrics_counts__evaluations_are_those_of_asking_node_by_node)
{
	static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		ck_assert_str_eq(evaluate(forms[i], false),
			"scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"A\","
			"profile=\"default-scheduler\"} 18\n"
			"scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"B\","
			"profile=\"default-scheduler\"} 12\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin="
			"\"A\",profile=\"default-scheduler\"} 3\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin="
			"\"B\",profile=\"default-scheduler\"} 3\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreScore\",plugin="
			"\"A\",profile=\"default-scheduler\"} 3\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreScore\",plugin="
			"\"B\",profile=\"default-scheduler\"} 3\n"
			"scheduler_plugin_evaluation_total{extension_point=\"Score\",plugin=\"A\","
			"profile=\"default-scheduler\"} 6\n"
			"scheduler_plugin_evaluation_total{extension_point=\"Score\",plugin=\"B\","
			"profile=\"default-scheduler\"} 6\n");
		finish();
	}
}
END_TEST

START_TEST(test_metrics_counts__evaluations_when_nothing_fits)
{
	static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};

	for (size_t i = 0; i < BT_ARRAY_LENGTH(forms); i++) {
		ck_assert_str_eq(evaluate(forms[i], true),
			"scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"A\","
			"profile=\"default-scheduler\"} 18\n"
			"scheduler_plugin_evaluation_total{extension_point=\"Filter\",plugin=\"B\","
			"profile=\"default-scheduler\"} 12\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin="
			"\"A\",profile=\"default-scheduler\"} 3\n"
			"scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin="
			"\"B\",profile=\"default-scheduler\"} 3\n");
		finish();
	}
}
END_TEST

#define EVALUATED(point, plugin, count) \
	"scheduler_plugin_evaluation_total{extension_point=\"" point "\",plugin=\"" plugin \
	"\",profile=\"default-scheduler\"} " count "\n"

/** Sign runs once for each queue entry, and only if every plugin implements it. */
START_TEST(test_metrics_counts__evaluations_begin_at_zero)
{
	struct script a = script_make("A", FILTERS | FAKE_ROLE(FAKE_SIGN), SCRIPT_PLAIN);
	struct script b = script_make("B",
		FAKE_ROLE(FAKE_PRE_FILTER) | FAKE_ROLE(FAKE_PRE_SCORE) | FAKE_ROLE(FAKE_SCORE) |
			FAKE_ROLE(FAKE_SIGN),
		SCRIPT_PLAIN);
	struct script c = script_make("C", FILTERS, SCRIPT_PLAIN);

	init("", "A, B", (struct script *[]){&a, &b}, 2);
	ck_assert_str_eq(lines("scheduler_plugin_evaluation_total{"),
		EVALUATED("Filter", "A", "0") EVALUATED("PreFilter", "B", "0")
			EVALUATED("PreScore", "B", "0") EVALUATED("Score", "B", "0")
				EVALUATED("Sign", "A", "0") EVALUATED("Sign", "B", "0"));
	add_nodes(2);
	(void)schedule("p");
	ck_assert_str_eq(lines("scheduler_plugin_evaluation_total{extension_point=\"Sign\""),
		EVALUATED("Sign", "A", "1") EVALUATED("Sign", "B", "1"));
	finish();
	init("", "A, C", (struct script *[]){&a, &c}, 2);
	ck_assert_str_eq(lines("scheduler_plugin_evaluation_total{"),
		EVALUATED("Filter", "A", "0") EVALUATED("Filter", "C", "0"));
	finish();
}
END_TEST

static bool always(const struct bt_plugin *plugin)
{
	(void)plugin;
	return true;
}

/** If a plugin never signs, berth does not run Sign, but counts the calls as if it did. */
START_TEST(test_metrics_counts__signing_that_is_always_refused)
{
	struct script a = script_make("A", FILTERS | FAKE_ROLE(FAKE_SIGN), SCRIPT_PLAIN);
	struct script b = script_make("B", FILTERS | FAKE_ROLE(FAKE_SIGN), SCRIPT_PLAIN);
	struct script c = script_make("C", FILTERS | FAKE_ROLE(FAKE_SIGN), SCRIPT_PLAIN);

	b.fake.shortcuts.never_signs = always;
	init("", "A, B, C", (struct script *[]){&a, &b, &c}, 3);
	ck_assert_str_eq(lines("scheduler_plugin_evaluation_total{extension_point=\"Sign\""),
		EVALUATED("Sign", "A", "0") EVALUATED("Sign", "B", "0")
			EVALUATED("Sign", "C", "0"));
	add_nodes(2);
	(void)schedule("p");
	ck_assert_str_eq(lines("scheduler_plugin_evaluation_total{extension_point=\"Sign\""),
		EVALUATED("Sign", "A", "1") EVALUATED("Sign", "B", "1")
			EVALUATED("Sign", "C", "0"));
	ck_assert_str_eq(lines("scheduler_framework_extension_point_duration_seconds_count{"
			       "extension_point=\"Sign\""),
		"scheduler_framework_extension_point_duration_seconds_count{extension_point="
		"\"Sign\",profile=\"default-scheduler\",status=\"Success\"} 1\n");
	finish();
}
END_TEST

#define MIXED_PLUGINS 3
#define MIXED_NODES 12

/**
 * Schedules twelve pods; each plugin accepts most nodes. forms: the form of each plugin;
 * rival_count: number of nodes that have another nominated pod.
 */
static const char *evaluate_mixed(const enum script_form *forms, uint32_t rival_count)
{
	static const char *const names[MIXED_PLUGINS] = {"A", "B", "C"};
	static char node_names[MIXED_NODES][8];
	static struct script_row rows[MIXED_PLUGINS][MIXED_NODES];
	static struct script plugins[MIXED_PLUGINS];
	struct script *scripts[MIXED_PLUGINS];
	struct bt_prng prng;

	bt_prng_init(&prng, 7);
	for (uint32_t p = 0; p < MIXED_PLUGINS; p++) {
		for (uint32_t n = 0; n < MIXED_NODES; n++) {
			bool rejects = bt_prng_below(&prng, 4) == 0;

			(void)snprintf(node_names[n], sizeof(node_names[n]), "n%u", n + 1);
			rows[p][n] = (struct script_row){node_names[n],
				{rejects ? BT_STATUS_UNSCHEDULABLE : BT_STATUS_SUCCESS,
					rejects ? "no" : NULL, NULL},
				(int64_t)bt_prng_below(&prng, 100)};
		}
		plugins[p] = script_make(names[p], ALL_ROLES, forms[p]);
		script_set_rows(&plugins[p], rows[p], MIXED_NODES);
		scripts[p] = &plugins[p];
	}
	init("", "A, B, C", scripts, MIXED_PLUGINS);
	add_nodes(MIXED_NODES);
	/* Each rival pod is nominated to a node, so Filter runs twice on that node. */
	for (uint32_t i = 0; i < rival_count; i++) {
		struct bt_str uid = bt_arena_printf(&life.arena, "rival-%u", i);
		struct bt_str node = bt_arena_printf(&life.arena, "n%u", 3 + 2 * i);

		bt_nominator_add(&bt_scheduler_engine(life.scheduler)->nominator,
			&(struct bt_pod_info){.uid = uid, .name = uid, .namespace_ = uid}, node,
			false);
	}
	for (uint32_t i = 0; i < 12; i++) {
		char name[16];

		/* The third pod has a nominated node: Filter runs on that node alone first. */
		(void)snprintf(name, sizeof(name), "p%u", i);
		life_pod(&life, name, "", i == 2 ? "'status':{'nominatedNodeName':'n5'}" : "");
		(void)life_schedule(&life);
	}
	return evaluations();
}

START_TEST(test_metrics_counts__evaluations_do_not_depend_on_the_forms)
{
	static const enum script_form forms[] = {SCRIPT_PLAIN, SCRIPT_COLUMN, SCRIPT_CYCLE_COLUMN};
	struct bt_strbuf expected = {0};

	for (uint32_t i = 0; i < 27 * 2; i++) {
		const enum script_form mixed[MIXED_PLUGINS] = {
			forms[i % 3], forms[i / 3 % 3], forms[i / 9 % 3]};
		const char *text = evaluate_mixed(mixed, i / 27 * 4);

		if (i % 27 == 0) {
			bt_strbuf_reset(&expected);
			bt_strbuf_append_c(&expected, text);
		}
		ck_assert_str_eq(text, bt_strbuf_c(&expected));
		finish();
	}
	bt_strbuf_finish(&expected);
}
END_TEST

START_TEST(test_metrics_counts__skipping_is_no_evaluation)
{
	struct script a = script_make("A", ALL_ROLES, SCRIPT_PLAIN);
	struct script b = script_make("B", ALL_ROLES, SCRIPT_PLAIN);

	fake_answer(&a.fake, FAKE_PRE_FILTER, BT_STATUS_SKIP, NULL);
	fake_answer(&b.fake, FAKE_PRE_FILTER, BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, "never");
	init("", "A, B", (struct script *[]){&a, &b}, 2);
	add_nodes(2);
	(void)schedule("p");
	ck_assert_str_eq(evaluations(),
		"scheduler_plugin_evaluation_total{extension_point=\"PreFilter\",plugin=\"B\","
		"profile=\"default-scheduler\"} 1\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__a_plugin_that_ends_pre_filter_is_the_last)
{
	static const char *const nowhere[] = {"none"};
	struct script a = script_make("A", ALL_ROLES, SCRIPT_PLAIN);
	struct script b = script_make("B", ALL_ROLES, SCRIPT_PLAIN);
	struct script c = script_make("C", ALL_ROLES, SCRIPT_PLAIN);

	a.fake.node_names = nowhere;
	a.fake.node_name_count = 1;
	b.fake.node_names = nowhere;
	b.fake.node_name_count = 0;
	init("", "A, B, C", (struct script *[]){&a, &b, &c}, 3);
	add_nodes(2);
	(void)schedule("p");
	ck_assert_uint_eq(
		c.fake.calls[FAKE_PRE_FILTER] == 0, strstr(evaluations(), "plugin=\"C\"") == NULL);
	ck_assert_ptr_nonnull(strstr(evaluations(), "plugin=\"A\""));
	ck_assert_ptr_nonnull(strstr(evaluations(), "plugin=\"B\""));
	finish();
}
END_TEST

#define POINT(point, status) \
	"scheduler_framework_extension_point_duration_seconds_count{extension_point=\"" point \
	"\",profile=\"default-scheduler\",status=\"" status "\"} 1\n"

START_TEST(test_metrics_counts__extension_points)
{
	struct script plugin = script_make("P", ALL_ROLES, SCRIPT_COLUMN);

	init("", "P", (struct script *[]){&plugin}, 1);
	struct bt_strbuf all = {0};

	add_nodes(2);
	(void)schedule("p");
	bt_metrics_write(metrics, BT_METRICS_TEXT, &all);
	bt_check_with_promtool(bt_strbuf_str(&all));
	bt_strbuf_finish(&all);
	ck_assert_str_eq(lines("scheduler_framework_extension_point_duration_seconds_count"),
		POINT("Bind", "Success") POINT("Filter", "Success") POINT("Permit", "Success")
			POINT("PostBind", "Success") POINT("PreBind", "Success") POINT(
				"PreBindPreFlight", "Skip") POINT("PreEnqueue", "Success")
				POINT("PreFilter", "Success") POINT("PreScore", "Success")
					POINT("Reserve", "Success") POINT("Score", "Success"));
	finish();
}
END_TEST

START_TEST(test_metrics_counts__one_cycle_in_ten_has_its_plugins_timed)
{
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);
	const char *found;
	long timed;

	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	for (uint32_t i = 0; i < 400; i++) {
		char name[16];

		(void)snprintf(name, sizeof(name), "p%u", i);
		(void)schedule(name);
	}
	found = lines(
		"scheduler_plugin_execution_duration_seconds_count{extension_point=\"Filter\","
		"plugin=\"P\",status=\"Success\"} ");
	ck_assert_ptr_nonnull(strchr(found, ' '));
	timed = strtol(strchr(found, ' '), NULL, 10);
	ck_assert_int_gt(timed, 10);
	ck_assert_int_lt(timed, 100);
	finish();
}
END_TEST

/* --- queue and cache --- */

START_TEST(test_metrics_counts__pods_that_wait)
{
	struct script_row rows[] = {{"n1", {BT_STATUS_UNSCHEDULABLE, "no", NULL}, 0}};
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);

	script_set_rows(&plugin, rows, 1);
	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	(void)schedule("a");
	life_pod(&life, "b", "", "");
	ck_assert_str_eq(lines("scheduler_pending_pods"),
		"scheduler_pending_pods{queue=\"active\"} 1\n"
		"scheduler_pending_pods{queue=\"backoff\"} 0\n"
		"scheduler_pending_pods{queue=\"gated\"} 0\n"
		"scheduler_pending_pods{queue=\"unschedulable\"} 1\n");
	ck_assert_str_eq(lines("scheduler_queue_incoming_pods_total{"),
		"scheduler_queue_incoming_pods_total{event=\"ScheduleAttemptFailure\",queue="
		"\"unschedulable\"} 1\n"
		"scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\""
		"} 2\n");
	ck_assert_str_eq(lines("scheduler_cache_size"),
		"scheduler_cache_size{type=\"assumed_pods\"} 0\n"
		"scheduler_cache_size{type=\"nodes\"} 1\n"
		"scheduler_cache_size{type=\"pods\"} 0\n");
	ck_assert_str_eq(lines("scheduler_inflight_events"),
		"scheduler_inflight_events{event=\"PodPopped\"} 0\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__edge_11_34_reset)
{
	init("", "", NULL, 0);
	life_pod(&life, "a", "", "");
	life_pod(&life, "b", "", "");
	ck_assert_str_eq(lines("scheduler_pending_pods{queue=\"active\"}"),
		"scheduler_pending_pods{queue=\"active\"} 2\n");
	bt_metrics_reset(metrics);
	ck_assert_str_eq(lines("scheduler_pending_pods{queue=\"active\"}"),
		"scheduler_pending_pods{queue=\"active\"} 0\n");
	ck_assert_str_eq(lines("scheduler_queue_incoming_pods_total{"), "");
	life_pod(&life, "c", "", "");
	ck_assert_str_eq(lines("scheduler_pending_pods{queue=\"active\"}"),
		"scheduler_pending_pods{queue=\"active\"} 3\n");
	ck_assert_str_eq(lines("scheduler_queue_incoming_pods_total{"),
		"scheduler_queue_incoming_pods_total{event=\"UnschedulablePodAdd\",queue=\"active\""
		"} 1\n");
	finish();
}
END_TEST

/* --- events and hints --- */

START_TEST(test_metrics_counts__edge_11_52_labels_with_slashes)
{
	struct bt_object *node;

	init("", "", NULL, 0);
	node = life_object(&life, BT_KIND_CSI_NODE, "{'metadata':{'name':'n1'}}", NULL);
	(void)life_object(
		&life, BT_KIND_CSI_NODE, "{'metadata':{'name':'n1','labels':{'a':'b'}}}", node);
	ck_assert_str_eq(lines("scheduler_event_handling_duration_seconds_count"),
		"scheduler_event_handling_duration_seconds_count{event=\"storage.k8s.io/CSINodeAdd"
		"\"} 1\n"
		"scheduler_event_handling_duration_seconds_count{event=\"storage.k8s.io/"
		"CSINodeUpdate\"} 1\n");
	finish();
}
END_TEST

#define EVENT(label, count) \
	"scheduler_event_handling_duration_seconds_count{event=\"" label "\"} " count "\n"

START_TEST(test_metrics_counts__events_of_pods_and_nodes)
{
	init("", "", NULL, 0);
	life_node(&life, "n1", "");
	/* Cordoning is no event; the end of the cordon is an event. */
	life_node(&life, "n1", "'spec':{'unschedulable':true}");
	life_node(&life, "n1", "");
	life_pod(&life, "p", "", "");
	life_pod(&life, "p", "'labels':{'a':'b'}", "");
	life_delete(&life, BT_KIND_POD, "default", "p");
	life_delete(&life, BT_KIND_NODE, "", "n1");
	ck_assert_str_eq(lines("scheduler_event_handling_duration_seconds_count"),
		EVENT("NodeAdd", "1") EVENT("NodeDelete", "1") EVENT("NodeUpdateNodeTaint", "1")
			EVENT("UnschedulablePodAdd", "1") EVENT("UnschedulablePodDelete", "1")
				EVENT("UnschedulablePodUpdate", "1")
					EVENT("UnschedulablePodUpdatePodLabel", "1"));
	finish();
}
END_TEST

static bool queue_it(BT_UNUSED const struct bt_hint_call *call)
{
	return false;
}

START_TEST(test_metrics_counts__hints)
{
	static const struct bt_event_registration events[] = {
		{{BT_STR_INIT("Node"), BT_ACTION_ADD}, queue_it}};
	struct script_row rows[] = {{"n1", {BT_STATUS_UNSCHEDULABLE, "no", NULL}, 0}};
	struct script plugin = script_make("P", FILTERS | FAKE_ROLE(FAKE_EVENTS), SCRIPT_PLAIN);

	plugin.fake.events = events;
	plugin.fake.event_count = 1;
	script_set_rows(&plugin, rows, 1);
	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	(void)schedule("a");
	life_node(&life, "n2", "");
	ck_assert_str_eq(lines("scheduler_queueing_hint_execution_duration_seconds_count"),
		"scheduler_queueing_hint_execution_duration_seconds_count{event=\"NodeAdd\",hint="
		"\"QueueSkip\",plugin=\"P\"} 1\n");
	finish();
}
END_TEST

/* --- bindings --- */

START_TEST(test_metrics_counts__waiting_on_permit_and_binding)
{
	struct script plugin = script_make("P", FILTERS | FAKE_ROLE(FAKE_PERMIT), SCRIPT_PLAIN);

	fake_answer(&plugin.fake, FAKE_PERMIT, BT_STATUS_WAIT, NULL);
	plugin.fake.timeout_ns = 5 * LIFE_SECOND;
	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	ck_assert_int_eq(schedule("p").outcome, BT_ATTEMPT_WAITING);
	ck_assert_str_eq(lines("scheduler_goroutines{operation=\"binding\"}"),
		"scheduler_goroutines{operation=\"binding\"} 1\n");
	life_advance(&life, 6);
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_FAILED);
	ck_assert_str_eq(lines("scheduler_permit_wait_duration_seconds_count"),
		"scheduler_permit_wait_duration_seconds_count{result=\"Unschedulable\"} 1\n");
	ck_assert_str_eq(lines("scheduler_goroutines{operation=\"binding\"}"),
		"scheduler_goroutines{operation=\"binding\"} 0\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__an_answer_that_comes_late)
{
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);

	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	life.bind_is_pending = true;
	(void)schedule("p");
	ck_assert_str_eq(lines("scheduler_schedule_attempts_total"), "");
	life.bind_is_pending = false;
	bt_scheduler_resume(life.scheduler, BT_STR("uid-p"));
	ck_assert_int_eq(life_finish_waiting(&life).outcome, BT_ATTEMPT_BOUND);
	ck_assert_str_eq(lines("scheduler_framework_extension_point_duration_seconds_count{"
			       "extension_point=\"Bind\""),
		"scheduler_framework_extension_point_duration_seconds_count{extension_point=\"Bind"
		"\",profile=\"default-scheduler\",status=\"Success\"} 1\n");
	ck_assert_str_eq(lines("scheduler_schedule_attempts_total"),
		"scheduler_schedule_attempts_total{profile=\"default-scheduler\",result="
		"\"scheduled\"} 1\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__queued_calls)
{
	struct script plugin = script_make("P", FILTERS, SCRIPT_PLAIN);

	init("SchedulerAsyncAPICalls=true", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	(void)schedule("p");
	(void)life_finish_waiting(&life);
	ck_assert_str_eq(lines("scheduler_async_api_call_execution_total"),
		"scheduler_async_api_call_execution_total{call_type=\"pod_binding\",result="
		"\"success\"} 1\n");
	ck_assert_str_eq(lines("scheduler_pending_async_api_calls"),
		"scheduler_pending_async_api_calls{call_type=\"pod_binding\"} 0\n"
		"scheduler_pending_async_api_calls{call_type=\"pod_status_patch\"} 0\n");
	finish();
}
END_TEST

START_TEST(test_metrics_counts__batches)
{
	struct script plugin = script_make("P", ALL_ROLES, SCRIPT_PLAIN);

	init("", "P", (struct script *[]){&plugin}, 1);
	life_node(&life, "n1", "");
	(void)schedule("p");
	life_node(&life, "n2", "");
	(void)schedule("q");
	ck_assert_str_eq(lines("scheduler_batch_attempts_total"),
		"scheduler_batch_attempts_total{profile=\"default-scheduler\",result=\"no_hint\"} "
		"2\n");
	ck_assert_str_eq(lines("scheduler_batch_cache_flushed_total"),
		"scheduler_batch_cache_flushed_total{profile=\"default-scheduler\",reason="
		"\"empty_list\"} 1\n"
		"scheduler_batch_cache_flushed_total{profile=\"default-scheduler\",reason="
		"\"pod_not_batchable\"} 1\n");
	finish();
}
END_TEST

BT_TEST_MAIN("metrics_counts", test_metrics_counts__attempts,
	test_metrics_counts__time_and_attempts_until_bound,
	test_metrics_counts__many_attempts_share_a_label,
	test_metrics_counts__evaluations_are_those_of_asking_node_by_node,
	test_metrics_counts__evaluations_when_nothing_fits,
	test_metrics_counts__evaluations_begin_at_zero,
	test_metrics_counts__signing_that_is_always_refused,
	test_metrics_counts__evaluations_do_not_depend_on_the_forms,
	test_metrics_counts__skipping_is_no_evaluation,
	test_metrics_counts__a_plugin_that_ends_pre_filter_is_the_last,
	test_metrics_counts__extension_points,
	test_metrics_counts__one_cycle_in_ten_has_its_plugins_timed,
	test_metrics_counts__pods_that_wait, test_metrics_counts__edge_11_34_reset,
	test_metrics_counts__edge_11_52_labels_with_slashes,
	test_metrics_counts__events_of_pods_and_nodes, test_metrics_counts__hints,
	test_metrics_counts__waiting_on_permit_and_binding,
	test_metrics_counts__an_answer_that_comes_late, test_metrics_counts__queued_calls,
	test_metrics_counts__batches)

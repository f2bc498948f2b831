/* SPDX-License-Identifier: Apache-2.0 */
#include "topology_fixture.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"

#define NODES_MAX 16
#define TEXT_MAX 1024

static struct bt_str unquoted(struct fixture *fixture, const char *json)
{
	struct bt_str text = bt_arena_str(&fixture->arena, bt_str_from(json));
	char *bytes = bt_arena_alloc_bytes(&fixture->arena, text.length + 1);

	for (uint32_t i = 0; i <= text.length; i++) {
		bytes[i] = text.data[i] == '\'' ? '"' : text.data[i];
	}
	return (struct bt_str){bytes, text.length};
}

void topology_add_object(struct fixture *fixture, enum bt_kind kind, const char *json)
{
	const struct bt_kind_info *info = bt_kind_info(kind);
	void *value = bt_arena_calloc(&fixture->arena, 1, info->size);
	struct berth_error err = BERTH_ERROR_INIT;
	struct bt_json_reader reader;

	bt_json_reader_init(&reader, unquoted(fixture, json));
	ck_assert_msg(
		bt_message_decode_json(info->message, &reader, &fixture->arena, value, &err) == 0,
		"%s", berth_error_message(&err));
	bt_object_store_put(&fixture->state->objects, bt_object_create(kind, value));
}

void topology_add_pods(
	struct fixture *fixture, const char *node, const char *labels, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		fixture_add_pod(fixture,
			bt_arena_printf(&fixture->arena,
				"{'metadata':{'labels':{%s}},'spec':{'nodeName':'%s'}}", labels,
				node)
				.data);
	}
}

/** The node names and slots of an expectation "a:x b:y". */
struct names {
	const char *items[NODES_MAX];
	uint32_t slots[NODES_MAX];
	uint32_t count;
};

static struct names names_of(struct fixture *fixture, const char *expected)
{
	struct names names = {.count = 0};
	const char *at = expected;

	while (*at != '\0') {
		const char *colon = strchr(at, ':');
		const char *end = strchr(at, ' ');

		ck_assert(colon != NULL && names.count < NODES_MAX);
		names.items[names.count] =
			bt_arena_printf(&fixture->arena, "%.*s", (int)(colon - at), at).data;
		names.slots[names.count] = fixture_slot(fixture, names.items[names.count]);
		names.count++;
		at = end != NULL ? end + 1 : at + strlen(at);
	}
	return names;
}

static bool is_node_list(const char *expected)
{
	const char *colon = strchr(expected, ':');

	return colon != NULL && colon[1] != ' ';
}

/** Returns the letter for a message of the two plugins. */
static char letter_of(struct fixture *fixture, struct bt_status status)
{
	static const struct {
		char letter;
		const char *text;
	} known[] = {
		{'P', "Success"},
		{'L',
			"UnschedulableAndUnresolvable: node(s) didn't match pod topology spread "
			"constraints (missing required label)"},
		{'S', "Unschedulable: node(s) didn't match pod topology spread constraints"},
		{'A', "UnschedulableAndUnresolvable: node(s) didn't match pod affinity rules"},
		{'B', "Unschedulable: node(s) didn't match pod anti-affinity rules"},
		{'X', "Unschedulable: node(s) didn't satisfy existing pods anti-affinity rules"},
	};
	const char *text = fixture_status_text(fixture, status);

	for (size_t i = 0; i < BT_ARRAY_LENGTH(known); i++) {
		if (strcmp(known[i].text, text) == 0) {
			return known[i].letter;
		}
	}
	ck_abort_msg("unknown status: %s", text);
	return '?';
}

static struct bt_status begin(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, bool plain)
{
	struct bt_pre_filter_result result = {0};

	bt_cycle_state_init(cycle, &fixture->arena, 1);
	cycle->plain = plain;
	return fixture->plugin->ops->pre_filter(fixture->plugin, cycle, pod, &result);
}

static void step(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct topology_step *what)
{
	const struct bt_plugin_ops *ops = fixture->plugin->ops;
	struct bt_node_info node;
	struct bt_status status;

	bt_node_info_init(&node, fixture->state, fixture_slot(fixture, what->node));
	status = ops->pre_filter_change_pod(fixture->plugin, cycle, pod,
		fixture_pending(fixture, what->pod), &node, what->delta);
	ck_assert(bt_status_is_success(&status));
}

static char verdict_plainly(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_node_info node;

	bt_node_info_init(&node, fixture->state, slot);
	return letter_of(fixture, fixture->plugin->ops->filter(fixture->plugin, cycle, pod, &node));
}

static char verdict_in_column(struct fixture *fixture, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot, bool all)
{
	const void *data = cycle->pre_filter_data[0];
	uint32_t count = fixture->state->nodes.slot_count;
	uint32_t *detail = BT_ARENA_NEW_ARRAY(&fixture->arena, uint32_t, count);
	struct bt_slot_range range = {.slots = all ? NULL : &slot, .count = all ? count : 1};
	struct bt_status status = BT_STATUS_OK;

	detail[slot] = 77;
	if (bt_shortcuts(fixture->plugin)
			->filter_column(
				fixture->plugin, data, pod, fixture->state, range, detail) &&
		detail[slot] != 0) {
		status = bt_plugin_detail_status(
			fixture->plugin, data, pod, detail[slot], &fixture->arena);
	}
	return letter_of(fixture, status);
}

static char verdict(struct fixture *fixture, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, uint32_t slot)
{
	char letter = verdict_plainly(fixture, cycle, pod, slot);

	ck_assert_int_eq(verdict_in_column(fixture, cycle, pod, slot, true), letter);
	ck_assert_int_eq(verdict_in_column(fixture, cycle, pod, slot, false), letter);
	return letter;
}

static void expect_verdicts(
	struct fixture *fixture, const char *pod, const char *expected, bool plain)
{
	const struct bt_pod_info *info = fixture_pending(fixture, pod);
	struct bt_cycle_state cycle;
	struct bt_status status = begin(fixture, &cycle, info, plain);
	char text[TEXT_MAX] = "";
	size_t length = 0;

	if (!is_node_list(expected) || !bt_status_is_success(&status)) {
		fixture_expect(pod, fixture_status_text(fixture, status), expected);
		bt_cycle_state_finish(&cycle);
		return;
	}
	struct names names = names_of(fixture, expected);
	for (uint32_t i = 0; i < names.count; i++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s:%c",
			i != 0 ? " " : "", names.items[i],
			verdict(fixture, &cycle, info, names.slots[i]));
	}
	fixture_expect(plain ? "walking" : "counters", text, expected);
	bt_cycle_state_finish(&cycle);
}

void topology_expect_verdicts(struct fixture *fixture, const char *pod, const char *expected)
{
	expect_verdicts(fixture, pod, expected, true);
	expect_verdicts(fixture, pod, expected, false);
	expect_verdicts(fixture, pod, expected, false);
}

static void expect_after(struct fixture *fixture, const char *pod, const char *node,
	const struct topology_step *steps, uint32_t step_count, const char *expected, bool plain)
{
	const struct bt_pod_info *info = fixture_pending(fixture, pod);
	struct bt_cycle_state cycle;
	struct bt_status status = begin(fixture, &cycle, info, plain);
	uint32_t slot = fixture_slot(fixture, node);
	char before;
	char text[2] = "";

	fixture_expect("PreFilter", fixture_status_text(fixture, status), "Success");
	before = verdict(fixture, &cycle, info, slot);
	/* The steps change a copy; the original must stay unchanged. */
	void *original = cycle.pre_filter_data[0];
	cycle.pre_filter_data[0] =
		fixture->plugin->ops->clone_pre_filter_data(original, &fixture->arena);
	for (uint32_t i = 0; i < step_count; i++) {
		step(fixture, &cycle, info, &steps[i]);
	}
	text[0] = verdict(fixture, &cycle, info, slot);
	fixture_expect(plain ? "walking" : "counters", text, expected);
	/* Undoing the steps restores the verdict. */
	for (uint32_t i = 0; i < step_count; i++) {
		struct topology_step back = steps[i];
		back.delta = -back.delta;
		step(fixture, &cycle, info, &back);
	}
	ck_assert_int_eq(verdict(fixture, &cycle, info, slot), before);
	cycle.pre_filter_data[0] = original;
	ck_assert_int_eq(verdict(fixture, &cycle, info, slot), before);
	bt_cycle_state_finish(&cycle);
}

void topology_expect_after(struct fixture *fixture, const char *pod, const char *node,
	const struct topology_step *steps, uint32_t step_count, const char *expected)
{
	expect_after(fixture, pod, node, steps, step_count, expected, true);
	expect_after(fixture, pod, node, steps, step_count, expected, false);
}

static void check_score_slots(struct fixture *fixture, const struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct names *names, const int64_t *raw)
{
	int64_t scores[NODES_MAX];

	bt_shortcuts(fixture->plugin)
		->score_slots(fixture->plugin, cycle->pre_score_data[0], pod, fixture->state,
			names->slots, names->count, scores);
	for (uint32_t i = 0; i < names->count; i++) {
		ck_assert_int_eq(scores[i], raw[i]);
	}
}

static void expect_scores(
	struct fixture *fixture, const char *pod, const char *expected, bool plain)
{
	const struct bt_plugin_ops *ops = fixture->plugin->ops;
	const struct bt_pod_info *info = fixture_pending(fixture, pod);
	struct names names = {.count = 0};
	int64_t scores[NODES_MAX];
	int64_t raw[NODES_MAX];
	char text[TEXT_MAX] = "";
	size_t length = 0;
	struct bt_cycle_state cycle;
	struct bt_status status;

	if (is_node_list(expected)) {
		names = names_of(fixture, expected);
	} else {
		for (uint32_t i = 0; i < fixture->state->snapshot.count; i++) {
			names.slots[names.count++] = bt_snapshot_list(&fixture->state->snapshot)[i];
		}
	}
	bt_cycle_state_init(&cycle, &fixture->arena, 1);
	cycle.plain = plain;
	status = ops->pre_score(fixture->plugin, &cycle, info, names.slots, names.count);
	if (!is_node_list(expected) || !bt_status_is_success(&status)) {
		fixture_expect(pod, fixture_status_text(fixture, status), expected);
		bt_cycle_state_finish(&cycle);
		return;
	}
	for (uint32_t i = 0; i < names.count; i++) {
		struct bt_node_info node;
		bt_node_info_init(&node, fixture->state, names.slots[i]);
		status = ops->score(fixture->plugin, &cycle, info, &node, &scores[i]);
		ck_assert(bt_status_is_success(&status));
		raw[i] = scores[i];
	}
	check_score_slots(fixture, &cycle, info, &names, raw);
	status = ops->normalize_score(
		fixture->plugin, &cycle, info, names.slots, scores, names.count);
	ck_assert(bt_status_is_success(&status));
	for (uint32_t i = 0; i < names.count; i++) {
		length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s:%lld/%lld",
			i != 0 ? " " : "", names.items[i], (long long)raw[i], (long long)scores[i]);
	}
	fixture_expect(plain ? "walking" : "counters", text, expected);
	bt_cycle_state_finish(&cycle);
}

void topology_expect_scores(struct fixture *fixture, const char *pod, const char *expected)
{
	expect_scores(fixture, pod, expected, true);
	expect_scores(fixture, pod, expected, false);
	expect_scores(fixture, pod, expected, false);
}

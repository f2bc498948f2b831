/* SPDX-License-Identifier: Apache-2.0 */
/** Results of runs of preemption_fixture.h as text. */
#include <check.h>

#include "preemption_fixture.h"
#include "preemption_pods.h"

static void append_candidate(struct preemption_fixture *fixture, struct bt_strbuf *out,
	const struct bt_preemption_candidate *candidate)
{
	bt_strbuf_append_char(out, '[');
	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		struct bt_pod_info pod;

		bt_pod_info_from_record(fixture->state, candidate->victims[i], &pod);
		bt_strbuf_append_c(out, i != 0 ? " " : "");
		bt_strbuf_append_str(out, pod.name);
	}
	bt_strbuf_append_char(out, ']');
	if (candidate->pdb_violations != 0) {
		bt_strbuf_printf(out, "!%lld", (long long)candidate->pdb_violations);
	}
}

static const char *keep(struct preemption_fixture *fixture, struct bt_strbuf *text)
{
	struct bt_str copy = bt_arena_str(&fixture->arena, bt_strbuf_str(text));

	bt_strbuf_finish(text);
	return copy.length != 0 ? copy.data : "none";
}

static const char *candidates_text(struct preemption_fixture *fixture,
	const struct bt_preemption_candidate *candidates, uint32_t count)
{
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? " " : "");
		bt_strbuf_append_str(
			&text, bt_node_table_name(&fixture->state->nodes, candidates[i].slot));
		append_candidate(fixture, &text, &candidates[i]);
	}
	return keep(fixture, &text);
}

const char *preemption_dry_run(struct preemption_fixture *fixture, const struct bt_pod_info *pod,
	const char *nodes, uint32_t offset, uint32_t limit)
{
	struct bt_str rest = bt_str_from(nodes);
	struct bt_dry_run_result found;
	uint32_t slots[16];
	uint32_t count = 0;

	while (rest.length != 0) {
		slots[count++] =
			bt_state_snapshot_find(fixture->state, preemption_next_word(&rest, ' '));
	}
	ck_assert_str_eq(preemption_begin_cycle(fixture, pod), "Success");
	found = bt_dry_run_preemption(
		fixture->evaluator, &fixture->cycle, pod, slots, count, offset, limit);
	return candidates_text(fixture, found.candidates, found.count);
}

/**
 * SelectVictimsOnNode with a given node info must give the same result. Uses the dry run's cycle.
 */
static void check_handed_in(struct preemption_fixture *fixture, const struct bt_pod_info *pod,
	const char *node, const char *expected)
{
	struct bt_preemption_candidate found = {0};
	struct bt_strbuf text = {0};
	struct bt_node_info info;

	bt_node_info_init(&info, fixture->state, preemption_slot(fixture, node));

	struct bt_status status = bt_select_victims_on_node(
		fixture->evaluator, &fixture->cycle, pod, &info, &found);
	if (bt_status_is_success(&status) && found.victim_count != 0) {
		append_candidate(fixture, &text, &found);
		ck_assert_str_eq(bt_strbuf_c(&text), expected);
	} else {
		ck_assert_str_eq(expected, "none");
	}
	bt_strbuf_finish(&text);
}

const char *preemption_select_victims(
	struct preemption_fixture *fixture, const char *pod, const char *node)
{
	const struct bt_pod_info *pending = preemption_pending(fixture, pod);
	const char *text = preemption_dry_run(fixture, pending, node, 0, 1);

	if (strcmp(text, "none") != 0) {
		check_handed_in(fixture, pending, node, text + strlen(node));
		return text + strlen(node);
	}
	check_handed_in(fixture, pending, node, text);
	ck_assert_uint_eq(fixture->evaluator->statuses.entries.count, 1);
	return preemption_status_text(
		fixture, fixture->evaluator->statuses.entries.items[0].status);
}

const char *preemption_nominated(struct preemption_fixture *fixture)
{
	if (!fixture->result.present || fixture->result.mode == BT_NOMINATING_NOOP) {
		return "none";
	}
	return fixture->result.nominated_node_name.length == 0
		? "(cleared)"
		: bt_arena_str(&fixture->arena, fixture->result.nominated_node_name).data;
}

const char *preemption_candidates(struct preemption_fixture *fixture)
{
	return fixture->decision == NULL ? "none"
					 : candidates_text(fixture, fixture->decision->candidates,
						   fixture->decision->candidate_count);
}

const char *preemption_choices(struct preemption_fixture *fixture)
{
	const struct bt_preemption_decision *decision = fixture->decision;
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; decision != NULL && i < decision->choice_count; i++) {
		bt_strbuf_append_c(&text, i != 0 ? " " : "");
		bt_strbuf_append_str(&text,
			bt_node_table_name(&fixture->state->nodes,
				decision->candidates[decision->choices[i]].slot));
	}
	return keep(fixture, &text);
}

void preemption_expect(struct preemption_fixture *fixture, const char *pod, const char *statuses,
	const char *text, const char *nominated, const char *candidates)
{
	ck_assert_str_eq(preemption_run(fixture, preemption_pending(fixture, pod), statuses), text);
	ck_assert_str_eq(preemption_nominated(fixture), nominated);
	if (candidates != NULL) {
		ck_assert_str_eq(preemption_candidates(fixture), candidates);
	}
}

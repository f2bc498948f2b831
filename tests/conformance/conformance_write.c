/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "conformance/conformance_private.h"
#include "plugins/default_preemption.h"

void bt_case_write_status(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_status *status)
{
	struct bt_json_writer *writer = &run->writer;
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "code");
	bt_json_write_c(writer, bt_status_code_name((enum bt_status_code)status->code));
	if (status->plugin != 0) {
		bt_json_write_name_c(writer, "plugin");
		bt_json_write_str(writer, bt_framework_plugin_name(framework, status->plugin - 1U));
	}
	uint32_t reasons = bt_status_all_reason_count(status);
	if (reasons != 0) {
		bt_json_write_name_c(writer, "reasons");
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < reasons; i++) {
			bt_json_write_str(writer, bt_status_all_reason_at(status, i));
		}
		bt_json_end_array(writer);
	}
	bt_json_end_object(writer);
}

struct bt_str bt_case_slot_name(const struct bt_case_run *run, uint32_t slot)
{
	return bt_node_table_name(&run->engine->state->nodes, slot);
}

void bt_case_write_pre_filter(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	bt_json_write_name_c(writer, "preFilter");
	bt_case_write_status(run, framework, &evaluation->pre_filter.status);
	const struct bt_pre_filter_result *result = &evaluation->pre_filter.result;
	if (!result->restricted || !bt_status_is_success(&evaluation->pre_filter.status)) {
		return;
	}
	struct bt_str *names = BT_ARENA_NEW_ARRAY(&run->arena, struct bt_str, result->count);
	for (uint32_t i = 0; i < result->count; i++) {
		names[i] = result->names[i];
	}
	qsort(names, result->count, sizeof(names[0]), bt_str_compare_qsort);
	bt_json_write_name_c(writer, "preFilterNodes");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < result->count; i++) {
		bt_json_write_str(writer, names[i]);
	}
	bt_json_end_array(writer);
}

void bt_case_write_filter(struct bt_case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	if (evaluation->node_count != evaluation->feasible_count) {
		bt_json_write_name_c(writer, "filter");
		bt_json_begin_object(writer);
		for (uint32_t i = 0; i < evaluation->node_count; i++) {
			const struct bt_node_evaluation *node = &evaluation->nodes[i];
			if (!bt_status_is_success(&node->filter)) {
				bt_json_write_name(writer, bt_case_slot_name(run, node->slot));
				bt_case_write_status(run, framework, &node->filter);
			}
		}
		bt_json_end_object(writer);
	}
	if (evaluation->feasible_count != 0) {
		bt_json_write_name_c(writer, "feasible");
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
			bt_json_write_str(writer, bt_case_slot_name(run, evaluation->feasible[i]));
		}
		bt_json_end_array(writer);
	}
}

static void write_scores(struct bt_case_run *run, const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	const struct bt_score_table *table = &evaluation->scores;
	bt_json_write_name_c(writer, "scores");
	bt_json_begin_object(writer);
	for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
		bt_json_write_name(writer, bt_case_slot_name(run, evaluation->feasible[i]));
		bt_json_begin_object(writer);
		bt_json_write_name_c(writer, "total");
		bt_json_write_int64(writer, table->totals[i]);
		bt_json_write_name_c(writer, "plugins");
		bt_json_begin_object(writer);
		for (uint32_t p = 0; p < table->plugin_count; p++) {
			bt_json_write_name_c(writer, table->plugins[p].plugin->ops->name);
			bt_json_write_int64(writer, table->plugins[p].scores[i]);
		}
		bt_json_end_object(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
}

void bt_case_write_best(struct bt_case_run *run, const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	int64_t highest = evaluation->scores.totals[evaluation->best];
	if (run->text.brief) {
		bt_json_write_name_c(writer, "bestTotal");
		bt_json_write_int64(writer, highest);
	} else {
		write_scores(run, evaluation);
	}
	bt_json_write_name_c(writer, "best");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
		if (evaluation->scores.totals[i] == highest) {
			bt_json_write_str(writer, bt_case_slot_name(run, evaluation->feasible[i]));
		}
	}
	bt_json_end_array(writer);
	bt_json_write_name_c(writer, "selected");
	bt_json_write_str(writer, bt_case_slot_name(run, evaluation->feasible[evaluation->best]));
}

void bt_case_write_error(struct bt_case_run *run, const struct bt_status *status)
{
	bt_json_write_name_c(&run->writer, "error");
	bt_json_write_str(&run->writer, bt_status_message_str(status, &run->arena));
}

static struct bt_str pod_key(const struct bt_case_run *run, uint32_t pod_id, struct bt_arena *arena)
{
	struct bt_pod_info pod;
	bt_pod_info_from_record(run->engine->state, pod_id, &pod);
	return bt_arena_printf(
		arena, "%.*s/%.*s", BT_STR_ARG(pod.namespace_), BT_STR_ARG(pod.name));
}

static void write_candidate(
	struct bt_case_run *run, const struct bt_preemption_candidate *candidate)
{
	struct bt_json_writer *writer = &run->writer;
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "node");
	bt_json_write_str(writer, bt_case_slot_name(run, candidate->slot));
	bt_json_write_name_c(writer, "victims");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		bt_json_write_str(writer, pod_key(run, candidate->victims[i], &run->arena));
	}
	bt_json_end_array(writer);
	bt_json_write_name_c(writer, "pdbViolations");
	bt_json_write_int64(writer, candidate->pdb_violations);
	bt_json_end_object(writer);
}

struct named_candidate {
	struct bt_str node_name;
	const struct bt_preemption_candidate *candidate;
	bool is_choice;
};

static int compare_candidates(const void *a, const void *b)
{
	return bt_str_compare(((const struct named_candidate *)a)->node_name,
		((const struct named_candidate *)b)->node_name);
}

/** Writes the candidates and the choices of a preemption, both sorted by node name. */
static void write_decision(struct bt_case_run *run, const struct bt_preemption_decision *decision)
{
	struct bt_json_writer *writer = &run->writer;
	uint32_t count = decision->candidate_count;
	struct named_candidate *named =
		BT_ARENA_NEW_ARRAY(&run->arena, struct named_candidate, count);
	for (uint32_t i = 0; i < count; i++) {
		named[i].candidate = &decision->candidates[i];
		named[i].node_name = bt_case_slot_name(run, decision->candidates[i].slot);
	}
	for (uint32_t i = 0; i < decision->choice_count; i++) {
		named[decision->choices[i]].is_choice = true;
	}
	qsort(named, count, sizeof(named[0]), compare_candidates);
	if (!run->text.brief) {
		bt_json_write_name_c(writer, "candidates");
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < count; i++) {
			write_candidate(run, named[i].candidate);
		}
		bt_json_end_array(writer);
	}
	bt_json_write_name_c(writer, "choices");
	bt_json_begin_array(writer);
	for (uint32_t i = 0; i < count; i++) {
		if (named[i].is_choice) {
			bt_json_write_str(writer, named[i].node_name);
		}
	}
	bt_json_end_array(writer);
}

void bt_case_write_post_filter(struct bt_case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	struct bt_strbuf message = {0};
	bt_diagnosis_message(&evaluation->diagnosis, &message);
	bt_json_write_name_c(writer, "message");
	bt_json_write_str(writer, bt_strbuf_str(&message));
	bt_strbuf_finish(&message);
	struct bt_post_filter_result nomination = {0};
	struct bt_status status = bt_run_post_filter(
		framework, evaluation->cycle, pod, &evaluation->diagnosis.statuses, &nomination);
	bt_json_write_name_c(writer, "postFilter");
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "code");
	bt_json_write_c(writer, bt_status_code_name((enum bt_status_code)status.code));
	struct bt_str text = bt_status_message_str(&status, &run->arena);
	if (text.length != 0) {
		bt_json_write_name_c(writer, "message");
		bt_json_write_str(writer, text);
	}
	if (nomination.present && nomination.mode == BT_NOMINATING_OVERRIDE) {
		bt_json_write_name_c(writer, "nominated");
		bt_json_write_str(writer, nomination.nominated_node_name);
	}
	const struct bt_preemption_decision *decision =
		bt_default_preemption_decision(framework, evaluation->cycle);
	if (bt_status_is_success(&status) && decision != NULL) {
		write_decision(run, decision);
	}
	bt_json_end_object(writer);
}

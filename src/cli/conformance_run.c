/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/storage.h"
#include "base/alloc.h"
#include "base/error.h"
#include "cli/conformance.h"
#include "config/config.h"
#include "plugins/default_preemption.h"
#include "sched/engine.h"

/** --- a case, taken apart --- */

struct raw_list {
	BT_VEC(struct bt_str) items; /* JSON texts, borrowed from the line */
};

struct case_text {
	struct bt_str name;
	struct bt_str config;
	struct raw_list objects;
	struct raw_list pending;
	bool brief;
};

/** A pod of the case, wherever it is. */
struct case_pod {
	struct bt_str key; /* "namespace/name" */
	const struct bt_pod *pod;
	bool placed;
};

struct case_node {
	struct bt_str name;
	const struct bt_node *node;
};

struct case_run {
	struct bt_arena arena;
	struct case_text text;
	struct bt_engine *engine;
	BT_VEC(struct case_pod) pods;
	BT_VEC(struct case_node) nodes;
	BT_VEC(struct bt_pod_info *) queued; /* nominated pods that wait */
	struct bt_json_writer writer;
	bool writes_open; /* `writes` of the current result has been begun */
};

static int read_raw_list(
	struct bt_json_reader *reader, struct raw_list *list, struct berth_error *err)
{
	int result = bt_json_enter_array(reader, err);
	bool first = true;
	bool more = true;
	while (result == 0) {
		result = bt_json_next_element(reader, &first, &more, err);
		if (result < 0 || !more) {
			break;
		}
		struct bt_str raw;
		result = bt_json_skip(reader, &raw, err);
		if (result == 0) {
			bt_vec_push(&list->items, raw);
		}
	}
	return result;
}

static int read_member(struct bt_json_reader *reader, struct bt_arena *arena, struct bt_str name,
	struct case_text *text, struct berth_error *err)
{
	if (bt_str_equal_c(name, "name")) {
		return bt_json_read_string(reader, arena, &text->name, NULL, err);
	}
	if (bt_str_equal_c(name, "config")) {
		return bt_json_skip(reader, &text->config, err);
	}
	if (bt_str_equal_c(name, "objects")) {
		return read_raw_list(reader, &text->objects, err);
	}
	if (bt_str_equal_c(name, "pending")) {
		return read_raw_list(reader, &text->pending, err);
	}
	if (bt_str_equal_c(name, "brief")) {
		return bt_json_read_bool(reader, &text->brief, err);
	}
	return bt_json_skip(reader, NULL, err);
}

static int read_case(
	struct bt_str json, struct bt_arena *arena, struct case_text *text, struct berth_error *err)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, json);
	int result = bt_json_enter_object(&reader, err);
	bool first = true;
	bool more = true;
	while (result == 0) {
		struct bt_str name;
		result = bt_json_next_member(&reader, &first, arena, &more, &name, err);
		if (result < 0 || !more) {
			break;
		}
		result = read_member(&reader, arena, name, text, err);
	}
	return result;
}

/** --- objects --- */

static int decode(const struct bt_message *message, struct bt_str json, struct bt_arena *arena,
	void **out, struct berth_error *err)
{
	struct bt_json_reader reader;
	bt_json_reader_init(&reader, json);
	void *object = bt_arena_calloc(arena, 1, message->size);
	int result = bt_message_decode_json(message, &reader, arena, object, err);
	if (result == 0) {
		*out = object;
	}
	return result;
}

static struct bt_str object_key(struct case_run *run, const struct bt_object_meta *meta)
{
	return bt_arena_printf(
		&run->arena, "%.*s/%.*s", BT_STR_ARG(meta->namespace_), BT_STR_ARG(meta->name));
}

static void note_pod(struct case_run *run, const struct bt_pod *pod, bool placed)
{
	struct case_pod entry = {object_key(run, &pod->metadata), pod, placed};
	bt_vec_push(&run->pods, entry);
}

static void note_node(struct case_run *run, const struct bt_node *node)
{
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (bt_str_equal(run->nodes.items[i].name, node->metadata.name)) {
			run->nodes.items[i].node = node;
			return;
		}
	}
	struct case_node entry = {node->metadata.name, node};
	bt_vec_push(&run->nodes, entry);
}

static const struct bt_node *known_node(const struct case_run *run, struct bt_str name)
{
	for (uint32_t i = 0; i < run->nodes.count; i++) {
		if (bt_str_equal(run->nodes.items[i].name, name)) {
			return run->nodes.items[i].node;
		}
	}
	return NULL;
}

/** An unassigned pod that is nominated waits in the queue; any other unassigned one plays no part.
 */
static void queue_nominated(struct case_run *run, const struct bt_pod *pod)
{
	if (pod->status.nominated_node_name.length == 0) {
		return;
	}
	struct bt_pod_info *info = BT_ARENA_NEW(&run->arena, struct bt_pod_info);
	bt_pod_info_init_pending(run->engine->state, pod, info);
	bt_vec_push(&run->queued, info);
	bt_nominator_add(&run->engine->nominator, info, pod->status.nominated_node_name, true);
}

static int add_pod_object(struct case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = decode(&bt_pod_message, json, &run->arena, &object, err);
	if (result < 0) {
		return result;
	}
	const struct bt_pod *pod = object;
	if (bt_pod_is_terminal(pod)) {
		return 0;
	}
	if (pod->spec.node_name.length == 0) {
		queue_nominated(run, pod);
		return 0;
	}
	note_pod(run, pod, true);
	return bt_state_add_pod(run->engine->state, pod, err);
}

static int add_node_object(struct case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = decode(&bt_node_message, json, &run->arena, &object, err);
	if (result == 0) {
		note_node(run, object);
		bt_state_add_node(run->engine->state, object);
	}
	return result;
}

/** Everything that is neither pod nor node: what plugins look up by name. */
static int add_stored_object(struct case_run *run, struct bt_str json, struct berth_error *err)
{
	struct bt_object *object;
	struct berth_error unknown = BERTH_ERROR_INIT;
	int result = bt_object_decode(json, &object, &unknown);
	if (result == BERTH_ERR_NOT_FOUND) {
		/* A kind that no plugin reads. */
		berth_error_finish(&unknown);
		return 0;
	}
	if (result < 0) {
		return bt_error_move(err, &unknown);
	}
	bt_object_store_put(&run->engine->state->objects, object);
	return 0;
}

static int load_objects(struct case_run *run, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->text.objects.items.count; i++) {
		struct bt_str json = run->text.objects.items.items[i];
		struct bt_json_value *value;
		int result = bt_json_parse(&run->arena, json, false, &value, err);
		struct bt_str kind =
			result == 0 ? bt_json_find_str(value, "kind") : (struct bt_str){NULL, 0};
		if (result == 0 && bt_str_equal_c(kind, "Pod")) {
			result = add_pod_object(run, json, err);
		} else if (result == 0 && bt_str_equal_c(kind, "Node")) {
			result = add_node_object(run, json, err);
		} else if (result == 0) {
			result = add_stored_object(run, json, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "objects[%u]", i);
		}
	}
	return 0;
}

/** --- steps that change the cluster --- */

static int delete_pod(struct case_run *run, struct bt_str key, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->pods.count; i++) {
		struct case_pod *entry = &run->pods.items[i];
		if (!bt_str_equal(entry->key, key) || !entry->placed) {
			continue;
		}
		entry->placed = false;
		/* Without a node name the cache removes the pod from wherever it is. */
		struct bt_pod *pod = BT_ARENA_NEW(&run->arena, struct bt_pod);
		*pod = *entry->pod;
		pod->spec.node_name = BT_STR("");
		return bt_state_remove_pod(run->engine->state, pod, err);
	}
	return 0;
}

static int update_node(struct case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = decode(&bt_node_message, json, &run->arena, &object, err);
	if (result == 0) {
		const struct bt_node *node = object;
		bt_state_update_node(
			run->engine->state, known_node(run, node->metadata.name), node);
		note_node(run, node);
	}
	return result;
}

static int delete_node(struct case_run *run, struct bt_str name, struct berth_error *err)
{
	const struct bt_node *node = known_node(run, name);
	if (node == NULL) {
		return bt_error_set(
			err, BERTH_ERR_NOT_FOUND, "deleteNode: no node %.*s", BT_STR_ARG(name));
	}
	return bt_state_remove_node(run->engine->state, node, err);
}

static int apply_operation(struct case_run *run, const struct bt_json_value *step,
	struct bt_str json, struct berth_error *err)
{
	struct bt_str op = bt_json_find_str(step, "op");
	struct bt_strbuf node = {0};
	struct bt_json_writer writer;
	bt_json_writer_init(&writer, &node, 0);
	if (bt_json_find(step, "node") != NULL) {
		bt_json_write_value(&writer, bt_json_find(step, "node"));
	}
	struct bt_str node_json = bt_arena_str(&run->arena, bt_strbuf_str(&node));
	bt_strbuf_finish(&node);
	if (bt_str_equal_c(op, "deletePod")) {
		return delete_pod(run, bt_json_find_str(step, "pod"), err);
	}
	if (bt_str_equal_c(op, "addNode")) {
		return add_node_object(run, node_json, err);
	}
	if (bt_str_equal_c(op, "updateNode")) {
		return update_node(run, node_json, err);
	}
	if (bt_str_equal_c(op, "deleteNode")) {
		return delete_node(run, bt_json_find_str(step, "name"), err);
	}
	return bt_error_set(err, BERTH_ERR_INVALID, "unknown step %.*s", BT_STR_ARG(json));
}

/** --- writing a result --- */

static void write_status(
	struct case_run *run, const struct bt_framework *framework, const struct bt_status *status)
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

static struct bt_str slot_name(const struct case_run *run, uint32_t slot)
{
	return bt_node_table_name(&run->engine->state->nodes, slot);
}

static void write_pre_filter(struct case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	bt_json_write_name_c(writer, "preFilter");
	write_status(run, framework, &evaluation->pre_filter.status);
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

static void write_filter(struct case_run *run, const struct bt_framework *framework,
	const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	if (evaluation->node_count != evaluation->feasible_count) {
		bt_json_write_name_c(writer, "filter");
		bt_json_begin_object(writer);
		for (uint32_t i = 0; i < evaluation->node_count; i++) {
			const struct bt_node_evaluation *node = &evaluation->nodes[i];
			if (!bt_status_is_success(&node->filter)) {
				bt_json_write_name(writer, slot_name(run, node->slot));
				write_status(run, framework, &node->filter);
			}
		}
		bt_json_end_object(writer);
	}
	if (evaluation->feasible_count != 0) {
		bt_json_write_name_c(writer, "feasible");
		bt_json_begin_array(writer);
		for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
			bt_json_write_str(writer, slot_name(run, evaluation->feasible[i]));
		}
		bt_json_end_array(writer);
	}
}

static void write_scores(struct case_run *run, const struct bt_evaluation *evaluation)
{
	struct bt_json_writer *writer = &run->writer;
	const struct bt_score_table *table = &evaluation->scores;
	bt_json_write_name_c(writer, "scores");
	bt_json_begin_object(writer);
	for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
		bt_json_write_name(writer, slot_name(run, evaluation->feasible[i]));
		bt_json_begin_object(writer);
		bt_json_write_name_c(writer, "total");
		bt_json_write_int64(writer, table->totals[i]);
		bt_json_write_name_c(writer, "plugins");
		bt_json_begin_object(writer);
		for (uint32_t p = 0; p < table->plugin_count; p++) {
			bt_json_write_name_c(writer, table->plugins[p].plugin->ops->name);
			bt_json_write_int64(writer, table->plugins[p].scores[i].score);
		}
		bt_json_end_object(writer);
		bt_json_end_object(writer);
	}
	bt_json_end_object(writer);
}

static void write_best(struct case_run *run, const struct bt_evaluation *evaluation)
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
			bt_json_write_str(writer, slot_name(run, evaluation->feasible[i]));
		}
	}
	bt_json_end_array(writer);
	bt_json_write_name_c(writer, "selected");
	bt_json_write_str(writer, slot_name(run, evaluation->feasible[evaluation->best]));
}

static void write_error(struct case_run *run, const struct bt_status *status)
{
	bt_json_write_name_c(&run->writer, "error");
	bt_json_write_str(&run->writer, bt_status_message_str(status, &run->arena));
}

static struct bt_str pod_key(const struct case_run *run, uint32_t pod_id, struct bt_arena *arena)
{
	struct bt_pod_info pod;
	bt_pod_info_from_record(run->engine->state, pod_id, &pod);
	return bt_arena_printf(
		arena, "%.*s/%.*s", BT_STR_ARG(pod.namespace_), BT_STR_ARG(pod.name));
}

static void write_candidate(struct case_run *run, const struct bt_preemption_candidate *candidate)
{
	struct bt_json_writer *writer = &run->writer;
	bt_json_begin_object(writer);
	bt_json_write_name_c(writer, "node");
	bt_json_write_str(writer, slot_name(run, candidate->slot));
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

/** What a preemption chose from; both lists are sorted by node name. */
static void write_decision(struct case_run *run, const struct bt_preemption_decision *decision)
{
	struct bt_json_writer *writer = &run->writer;
	uint32_t count = decision->candidate_count;
	struct named_candidate *named =
		BT_ARENA_NEW_ARRAY(&run->arena, struct named_candidate, count);
	for (uint32_t i = 0; i < count; i++) {
		named[i].candidate = &decision->candidates[i];
		named[i].node_name = slot_name(run, decision->candidates[i].slot);
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

static void write_post_filter(struct case_run *run, struct bt_framework *framework,
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

/** --- one pending pod --- */

/** A member of `writes`, which is opened for the first one. */
static void begin_write(struct case_run *run, const char *op)
{
	if (!run->writes_open) {
		bt_json_write_name_c(&run->writer, "writes");
		bt_json_begin_array(&run->writer);
		run->writes_open = true;
	}
	bt_json_begin_object(&run->writer);
	bt_json_write_name_c(&run->writer, "op");
	bt_json_write_c(&run->writer, op);
}

/** What VolumeBinding writes in PreBind; then it is told not to wait for the effect. */
static int record_bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim,
	BT_UNUSED struct bt_str *out_resource_version, BT_UNUSED struct berth_error *err)
{
	struct case_run *run = context;
	begin_write(run, "bindPV");
	bt_json_write_name_c(&run->writer, "pv");
	bt_json_write_str(&run->writer, volume->metadata.name);
	bt_json_write_name_c(&run->writer, "pvc");
	bt_json_write_str(&run->writer, object_key(run, &claim->metadata));
	bt_json_end_object(&run->writer);
	return 0;
}

static int record_select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, BT_UNUSED struct bt_str *out_resource_version,
	BT_UNUSED struct berth_error *err)
{
	struct case_run *run = context;
	begin_write(run, "provision");
	bt_json_write_name_c(&run->writer, "pvc");
	bt_json_write_str(&run->writer, object_key(run, &claim->metadata));
	bt_json_write_name_c(&run->writer, "selectedNode");
	bt_json_write_str(&run->writer, node_name);
	bt_json_end_object(&run->writer);
	return 0;
}

static int refuse_to_wait(
	BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE, "binding volumes: context canceled");
}

/** PreBind as far as its writes; what Reserve assumed stays for the steps that follow. */
static void write_writes(struct case_run *run, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_volume_writer writer = {.bind_volume = record_bind_volume,
		.select_node = record_select_node,
		.wait = refuse_to_wait,
		.context = run};
	framework->handle.volume_writer = &writer;
	run->writes_open = false;
	/* It fails where it would wait. */
	(void)bt_run_pre_bind(framework, cycle, pod, slot);
	framework->handle.volume_writer = NULL;
	if (run->writes_open) {
		bt_json_end_array(&run->writer);
	}
}

static int place(struct case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation,
	struct berth_error *err)
{
	struct bt_state *state = run->engine->state;
	uint32_t slot = evaluation->feasible[evaluation->best];
	struct bt_pod *bound = BT_ARENA_NEW(&run->arena, struct bt_pod);
	*bound = *pod->object;
	bound->spec.node_name = bt_arena_str(&run->arena, slot_name(run, slot));
	int result = bt_state_assume_pod(state, bound, err);
	if (result == 0) {
		result = bt_state_add_pod(state, bound, err);
	}
	if (result < 0) {
		return result;
	}
	struct bt_status status = bt_run_reserve(framework, evaluation->cycle, pod, slot);
	if (bt_status_is_success(&status)) {
		note_pod(run, bound, true);
		write_writes(run, framework, evaluation->cycle, pod, slot);
		return 0;
	}
	bt_json_write_name_c(&run->writer, "reserve");
	status.plugin = 0;
	write_status(run, framework, &status);
	return bt_state_remove_pod(state, bound, err);
}

static int write_verdict(struct case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation,
	struct berth_error *err)
{
	struct bt_json_writer *writer = &run->writer;
	if (!run->text.brief) {
		write_filter(run, framework, evaluation);
	} else if (bt_status_is_success(&evaluation->pre_filter.status)) {
		bt_json_write_name_c(writer, "feasibleCount");
		bt_json_write_int64(writer, evaluation->feasible_count);
	}
	if (!bt_status_is_success(&evaluation->error)) {
		write_error(run, &evaluation->error);
		return 0;
	}
	if (evaluation->feasible_count == 0) {
		write_post_filter(run, framework, pod, evaluation);
		return 0;
	}
	bt_json_write_name_c(writer, "preScore");
	write_status(run, framework, &evaluation->pre_score);
	if (!bt_status_is_success(&evaluation->pre_score)) {
		write_error(run, &evaluation->pre_score);
		return 0;
	}
	if (!bt_status_is_success(&evaluation->score_status)) {
		write_error(run, &evaluation->score_status);
		return 0;
	}
	write_best(run, evaluation);
	return place(run, framework, pod, evaluation, err);
}

/**
 * The scheduling cycle itself on the same pod: verify mode compares it with the plain plugins, and
 * its choice must be the evaluation's. A pod's own nomination makes the cycle try that node alone,
 * which the vectors do not do.
 */
static int check_cycle(struct case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, struct berth_error *err)
{
	struct bt_schedule_result decision;
	struct bt_evaluation evaluation;
	bt_engine_schedule(run->engine, framework, pod, &decision);
	uint32_t chosen = decision.outcome == BT_OUTCOME_SCHEDULED ? decision.slot : BT_SLOT_NONE;
	bt_engine_evaluate(run->engine, framework, pod, &evaluation);
	uint32_t best =
		evaluation.best != UINT32_MAX ? evaluation.feasible[evaluation.best] : BT_SLOT_NONE;
	/* The cycle takes an only node without scoring; the evaluation scores it, which may fail.
	 */
	if (chosen != best && evaluation.feasible_count != 1 &&
		pod->nominated_node_name.length == 0) {
		return bt_error_set(err, BERTH_ERR_INTERNAL,
			"the cycle and the evaluation of pod %.*s/%.*s disagree",
			BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
	}
	return 0;
}

static int schedule_pod(struct case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = decode(&bt_pod_message, json, &run->arena, &object, err);
	if (result < 0) {
		return result;
	}
	const struct bt_pod *pod = object;
	struct bt_framework *framework = bt_engine_profile(run->engine, pod->spec.scheduler_name);
	if (framework == NULL) {
		framework = run->engine->profiles.frameworks.items[0];
	}
	struct bt_pod_info info;
	bt_pod_info_init_pending(run->engine->state, pod, &info);
	struct bt_evaluation evaluation;
	if (run->engine->options.verify) {
		result = check_cycle(run, framework, &info, err);
	}
	bt_engine_evaluate(run->engine, framework, &info, &evaluation);
	bt_json_begin_object(&run->writer);
	bt_json_write_name_c(&run->writer, "pod");
	bt_json_write_str(&run->writer, object_key(run, &pod->metadata));
	write_pre_filter(run, framework, &evaluation);
	if (result == 0) {
		result = write_verdict(run, framework, &info, &evaluation, err);
	}
	bt_json_end_object(&run->writer);
	bt_pod_info_finish_pending(run->engine->state, &info);
	return result;
}

/** --- a whole case --- */

static int run_steps(struct case_run *run, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->text.pending.items.count; i++) {
		struct bt_str json = run->text.pending.items.items[i];
		struct bt_json_value *step;
		int result = bt_json_parse(&run->arena, json, false, &step, err);
		if (result == 0) {
			result = bt_json_find(step, "op") != NULL
				? apply_operation(run, step, json, err)
				: schedule_pod(run, json, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "pending[%u]", i);
		}
	}
	return 0;
}

/** A configuration that upstream refuses makes `error` the whole answer. */
static int create_engine(struct case_run *run, bool verify, struct berth_error *refused)
{
	struct bt_config *config = NULL;
	int result = 0;
	if (run->text.config.length != 0 && !bt_str_equal_c(run->text.config, "null")) {
		result = bt_config_load(run->text.config, NULL, &config, refused);
	} else {
		config = bt_config_create_default(NULL);
	}
	if (result == 0) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		options.tie_policy = BT_TIE_FIRST_BY_NAME;
		options.verify = verify;
		result = bt_engine_create(config, &options, &run->engine, refused);
	}
	bt_config_unref(config);
	return result;
}

static void finish_case(struct case_run *run)
{
	if (run->engine != NULL) {
		for (uint32_t i = 0; i < run->queued.count; i++) {
			bt_nominator_delete(&run->engine->nominator, run->queued.items[i]->uid);
			bt_pod_info_finish_pending(run->engine->state, run->queued.items[i]);
		}
	}
	bt_engine_destroy(run->engine);
	bt_vec_finish(&run->queued);
	bt_vec_finish(&run->pods);
	bt_vec_finish(&run->nodes);
	bt_vec_finish(&run->text.objects.items);
	bt_vec_finish(&run->text.pending.items);
	bt_arena_finish(&run->arena);
}

static int answer_case(struct case_run *run, bool verify, struct berth_error *err)
{
	bt_json_begin_object(&run->writer);
	bt_json_write_name_c(&run->writer, "name");
	bt_json_write_str(&run->writer, run->text.name);
	struct berth_error refused = BERTH_ERROR_INIT;
	int result = 0;
	if (create_engine(run, verify, &refused) < 0) {
		bt_json_write_name_c(&run->writer, "error");
		bt_json_write_c(&run->writer, berth_error_message(&refused));
	} else {
		result = load_objects(run, err);
		bt_json_write_name_c(&run->writer, "results");
		bt_json_begin_array(&run->writer);
		if (result == 0) {
			result = run_steps(run, err);
		}
		bt_json_end_array(&run->writer);
	}
	berth_error_finish(&refused);
	bt_json_end_object(&run->writer);
	return result;
}

/** A case of the category life has steps in place of objects and pods. */
static bool is_life_case(struct bt_arena *arena, struct bt_str case_json,
	struct bt_json_value **out_value, struct berth_error *err)
{
	static const struct bt_str steps = BT_STR_INIT("\"steps\"");
	return bt_str_find(case_json, steps) >= 0 &&
		bt_json_parse(arena, case_json, false, out_value, err) == 0 &&
		bt_json_find(*out_value, "steps") != NULL;
}

int bt_conformance_answer(struct bt_str case_json, const struct bt_json_value *expected,
	bool verify, struct bt_strbuf *out, struct berth_error *err)
{
	struct case_run run = {0};
	bt_arena_init(&run.arena, 64 * 1024);
	bt_json_writer_init(&run.writer, out, 0);
	struct bt_json_value *life;
	if (is_life_case(&run.arena, case_json, &life, NULL)) {
		int answered = bt_life_answer(life, expected, verify, out, err);
		finish_case(&run);
		return answered;
	}
	int result = read_case(case_json, &run.arena, &run.text, err);
	if (result == 0) {
		result = answer_case(&run, verify, err);
		if (result < 0) {
			result = bt_error_wrap(err, result, "case %.*s", BT_STR_ARG(run.text.name));
		}
	}
	finish_case(&run);
	return result;
}

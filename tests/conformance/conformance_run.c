/* SPDX-License-Identifier: Apache-2.0 */
#include "conformance/conformance.h"

#include "api/storage.h"
#include "base/alloc.h"
#include "base/error.h"
#include "conformance/conformance_private.h"
#include "config/config.h"

/** --- one pending pod --- */

void bt_case_begin_write(struct bt_case_run *run, const char *op)
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

static void note_write(struct bt_case_run *run, struct bt_str volume,
	const struct bt_persistent_volume_claim *claim, struct bt_str selected_node)
{
	struct bt_case_write write = {
		.volume = bt_arena_str(&run->arena, volume),
		.claim_namespace = bt_arena_str(&run->arena, claim->metadata.namespace_),
		.claim = bt_arena_str(&run->arena, claim->metadata.name),
		.claim_uid = bt_arena_str(&run->arena, claim->metadata.uid),
		.selected_node = bt_arena_str(&run->arena, selected_node),
	};
	bt_vec_push(&run->writes, write);
}

/**
 * Records in the answer that VolumeBinding binds a volume. No controller completes the binding, so
 * refuse_to_wait makes PreBind fail instead of waiting.
 */
static int record_bind_volume(void *context, const struct bt_persistent_volume *volume,
	const struct bt_persistent_volume_claim *claim,
	BT_UNUSED struct bt_str *out_resource_version, BT_UNUSED struct berth_error *err)
{
	struct bt_case_run *run = context;
	/* Without Reserve the volume has no claimRef. */
	bool is_bound = volume->spec.claim_ref != NULL;
	bt_case_begin_write(run, "bindPV");
	bt_json_write_name_c(&run->writer, "pv");
	bt_json_write_str(&run->writer, volume->metadata.name);
	bt_json_write_name_c(&run->writer, "pvc");
	bt_json_write_str(
		&run->writer, is_bound ? bt_case_object_key(run, &claim->metadata) : BT_STR(""));
	bt_json_end_object(&run->writer);
	if (is_bound) {
		note_write(run, volume->metadata.name, claim, BT_STR(""));
	}
	return 0;
}

static int record_select_node(void *context, const struct bt_persistent_volume_claim *claim,
	struct bt_str node_name, BT_UNUSED struct bt_str *out_resource_version,
	BT_UNUSED struct berth_error *err)
{
	struct bt_case_run *run = context;
	bt_case_begin_write(run, "provision");
	bt_json_write_name_c(&run->writer, "pvc");
	bt_json_write_str(&run->writer, bt_case_object_key(run, &claim->metadata));
	bt_json_write_name_c(&run->writer, "selectedNode");
	bt_json_write_str(&run->writer, node_name);
	bt_json_end_object(&run->writer);
	if (node_name.length != 0) {
		note_write(run, BT_STR(""), claim, node_name);
	}
	return 0;
}

static int refuse_to_wait(
	BT_UNUSED void *context, BT_UNUSED const struct bt_pod_info *pod, struct berth_error *err)
{
	return bt_error_set(err, BERTH_ERR_STATE, "binding volumes: context canceled");
}

/**
 * Runs PreBind and records its writes. The objects that Reserve assumed stay in the caches, for
 * later steps of the case.
 */
static void write_writes(struct bt_case_run *run, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, uint32_t slot)
{
	struct bt_volume_writer writer = {.bind_volume = record_bind_volume,
		.select_node = record_select_node,
		.wait = refuse_to_wait,
		.context = run};
	framework->handle.volume_writer = &writer;
	run->writes_open = false;
	run->records_writes = true;
	/* Not resumed: PreBind fails instead of waiting, see refuse_to_wait. */
	struct bt_pre_bind_progress progress = {0};
	(void)bt_run_pre_bind_from(framework, cycle, pod, slot, &progress);
	framework->handle.volume_writer = NULL;
	run->records_writes = false;
	if (run->writes_open) {
		bt_json_end_array(&run->writer);
	}
}

static int place(struct bt_case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation,
	struct berth_error *err)
{
	struct bt_state *state = run->engine->state;
	uint32_t slot = evaluation->feasible[evaluation->best];
	struct bt_pod *bound = BT_ARENA_NEW(&run->arena, struct bt_pod);
	*bound = *pod->object;
	bound->spec.node_name = bt_arena_str(&run->arena, bt_case_slot_name(run, slot));
	int result = bt_state_assume_pod(state, bound, err);
	if (result == 0) {
		result = bt_state_add_pod(state, bound, err);
	}
	if (result < 0) {
		return result;
	}
	struct bt_status status = bt_run_reserve(framework, evaluation->cycle, pod, slot);
	if (bt_status_is_success(&status)) {
		bt_case_note_pod(run, bound, true);
		write_writes(run, framework, evaluation->cycle, pod, slot);
		return 0;
	}
	bt_json_write_name_c(&run->writer, "reserve");
	status.plugin = 0;
	bt_case_write_status(run, framework, &status);
	return bt_state_remove_pod(state, bound, err);
}

static int write_verdict(struct bt_case_run *run, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_evaluation *evaluation,
	struct berth_error *err)
{
	struct bt_json_writer *writer = &run->writer;
	if (!run->text.brief) {
		bt_case_write_filter(run, framework, evaluation);
	} else if (bt_status_is_success(&evaluation->pre_filter.status)) {
		bt_json_write_name_c(writer, "feasibleCount");
		bt_json_write_int64(writer, evaluation->feasible_count);
	}
	if (!bt_status_is_success(&evaluation->error)) {
		bt_case_write_error(run, &evaluation->error);
		return 0;
	}
	if (evaluation->feasible_count == 0) {
		bt_case_write_post_filter(run, framework, pod, evaluation);
		return 0;
	}
	bt_json_write_name_c(writer, "preScore");
	bt_case_write_status(run, framework, &evaluation->pre_score);
	if (!bt_status_is_success(&evaluation->pre_score)) {
		bt_case_write_error(run, &evaluation->pre_score);
		return 0;
	}
	if (!bt_status_is_success(&evaluation->score_status)) {
		bt_case_write_error(run, &evaluation->score_status);
		return 0;
	}
	bt_case_write_best(run, evaluation);
	return place(run, framework, pod, evaluation, err);
}

static bool is_feasible(const struct bt_evaluation *evaluation, uint32_t slot)
{
	for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
		if (evaluation->feasible[i] == slot) {
			return true;
		}
	}
	return false;
}

/**
 * Runs the scheduling cycle on the same pod. In verify mode the engine compares the cycle with the
 * plain plugins. The cycle must choose the same node as the evaluation. A nominated pod is an
 * exception, because only the cycle tries the nominated node first.
 */
static void check_cycle(
	struct bt_case_run *run, struct bt_framework *framework, const struct bt_pod_info *pod)
{
	struct bt_schedule_result decision;
	struct bt_evaluation evaluation;
	bt_engine_schedule(run->engine, framework, pod, NULL, &decision);
	uint32_t chosen = decision.outcome == BT_OUTCOME_SCHEDULED ? decision.slot : BT_SLOT_NONE;
	bt_engine_evaluate(run->engine, framework, pod, &evaluation);
	uint32_t best =
		evaluation.best != UINT32_MAX ? evaluation.feasible[evaluation.best] : BT_SLOT_NONE;
	bool agree = chosen == best || pod->nominated_node_name.length != 0;
	if (!agree && chosen != BT_SLOT_NONE && is_feasible(&evaluation, chosen)) {
		/*
		 * The nodes may differ for two reasons. Scoring a single feasible node may fail in
		 * the evaluation, but the cycle takes that node without scoring. A cycle that stops
		 * its search early chooses among the nodes found so far.
		 */
		agree = evaluation.feasible_count == 1 ||
			decision.feasible_count < evaluation.feasible_count;
	} else if (!agree && chosen != BT_SLOT_NONE) {
		/*
		 * The evaluation tries nodes in the order of names and stops at the first error.
		 * The cycle may succeed, because its search may end before that node.
		 */
		agree = !bt_status_is_success(&evaluation.error);
	}
	if (!agree) {
		bt_strbuf_printf(run->complaints,
			"  pod %.*s/%.*s: the cycle and the evaluation disagree\n",
			BT_STR_ARG(pod->namespace_), BT_STR_ARG(pod->name));
	}
}

static int schedule_pod(struct bt_case_run *run, struct bt_str json, struct berth_error *err)
{
	void *object = NULL;
	int result = bt_case_decode(&bt_pod_message, json, &run->arena, &object, err);
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
		check_cycle(run, framework, &info);
	}
	if (run->tally != NULL) {
		result = bt_case_explain(run, pod, json, err);
	}
	run->result_count++;
	bt_engine_evaluate(run->engine, framework, &info, &evaluation);
	bt_json_begin_object(&run->writer);
	bt_json_write_name_c(&run->writer, "pod");
	bt_json_write_str(&run->writer, bt_case_object_key(run, &pod->metadata));
	bt_case_write_pre_filter(run, framework, &evaluation);
	if (result == 0) {
		result = write_verdict(run, framework, &info, &evaluation, err);
	}
	bt_json_end_object(&run->writer);
	bt_pod_info_finish_pending(run->engine->state, &info);
	return result;
}

/** --- a whole case --- */

static int run_steps(struct bt_case_run *run, struct berth_error *err)
{
	for (uint32_t i = 0; i < run->text.pending.items.count; i++) {
		struct bt_str json = run->text.pending.items.items[i];
		struct bt_json_value *step;
		int result = bt_json_parse(&run->arena, json, false, &step, err);
		if (result == 0) {
			result = bt_json_find(step, "op") != NULL
				? bt_case_apply_operation(run, step, json, err)
				: schedule_pod(run, json, err);
		}
		if (result < 0) {
			return bt_error_wrap(err, result, "pending[%u]", i);
		}
	}
	return 0;
}

int bt_case_gates(struct bt_str feature_gates, struct bt_gates *out_gates, struct berth_error *err)
{
	struct bt_arena arena = {0};
	struct bt_strbuf text = {0};
	struct bt_json_value *value = NULL;
	int result = 0;
	bt_strbuf_append_c(&text, "SchedulerAsyncPreemption=false,SchedulerAsyncAPICalls=false");
	if (feature_gates.length != 0) {
		result = bt_json_parse(&arena, feature_gates, false, &value, err);
	}
	for (uint32_t i = 0; result == 0 && value != NULL && i < value->count; i++) {
		bt_strbuf_printf(&text, ",%.*s=%s", BT_STR_ARG(value->members[i].name),
			value->members[i].value->boolean ? "true" : "false");
	}
	*out_gates = bt_gates_default();
	if (result == 0) {
		result = bt_gates_set(out_gates, bt_strbuf_str(&text), err);
	}
	bt_strbuf_finish(&text);
	bt_arena_finish(&arena);
	return result;
}

int bt_case_create_engine(struct bt_case_run *run, bool verify, struct bt_engine **out_engine,
	struct berth_error *refused)
{
	struct bt_config *config = NULL;
	struct bt_gates gates;
	int result = bt_case_gates(run->text.feature_gates, &gates, refused);
	if (result == 0 && run->text.config.length != 0 &&
		!bt_str_equal_c(run->text.config, "null")) {
		result = bt_config_load(run->text.config, &gates, &config, refused);
	} else if (result == 0) {
		config = bt_config_create_default(&gates);
	}
	if (result == 0) {
		struct bt_engine_options options = BT_ENGINE_OPTIONS_INIT;
		options.tie_policy = BT_TIE_FIRST_BY_NAME;
		options.verify = verify;
		result = bt_engine_create(config, &options, out_engine, refused);
	}
	bt_config_unref(config);
	return result;
}

static void finish_case(struct bt_case_run *run)
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
	bt_vec_finish(&run->writes);
	bt_vec_finish(&run->text.objects.items);
	bt_vec_finish(&run->text.pending.items);
	bt_arena_finish(&run->arena);
}

static int answer_case(struct bt_case_run *run, bool verify, struct berth_error *err)
{
	bt_json_begin_object(&run->writer);
	bt_json_write_name_c(&run->writer, "name");
	bt_json_write_str(&run->writer, run->text.name);
	struct berth_error refused = BERTH_ERROR_INIT;
	int result = 0;
	/* If the configuration is refused, the answer has only `error`. */
	if (bt_case_create_engine(run, verify, &run->engine, &refused) < 0) {
		bt_json_write_name_c(&run->writer, "error");
		bt_json_write_c(&run->writer, berth_error_message(&refused));
	} else {
		bt_case_connect_claims(run);
		result = bt_case_load_objects(run, err);
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

/** Whether the case has steps instead of objects and pods (category life). */
static bool is_life_case(struct bt_arena *arena, struct bt_str case_json,
	struct bt_json_value **out_value, struct berth_error *err)
{
	static const struct bt_str steps = BT_STR_INIT("\"steps\"");
	return bt_str_find(case_json, steps) >= 0 &&
		bt_json_parse(arena, case_json, false, out_value, err) == 0 &&
		bt_json_find(*out_value, "steps") != NULL;
}

/** Write the answer of a case that cannot be run: only an error. */
static void answer_error(
	struct bt_str name, size_t start, struct bt_strbuf *out, struct berth_error *err)
{
	struct bt_json_writer writer;
	out->length = start;
	bt_json_writer_init(&writer, out, 0);
	bt_json_begin_object(&writer);
	bt_json_write_member(&writer, "name", name);
	bt_json_write_member(&writer, "error", bt_str_from(berth_error_message(err)));
	bt_json_end_object(&writer);
	berth_error_finish(err);
}

static int answer(struct bt_str case_json, const struct bt_json_value *expected, bool verify,
	struct bt_explain_tally *tally, struct bt_strbuf *complaints, struct bt_strbuf *out,
	struct berth_error *err)
{
	struct bt_case_run run = {.tally = tally, .expected = expected, .complaints = complaints};
	bt_arena_init(&run.arena, (size_t)64 * 1024);
	bt_json_writer_init(&run.writer, out, 0);
	struct bt_json_value *life;
	struct berth_error failure = BERTH_ERROR_INIT;
	size_t start = out->length;
	int result = 0;
	if (is_life_case(&run.arena, case_json, &life, NULL)) {
		if (bt_life_answer(life, expected, verify, out, &failure) < 0) {
			answer_error(bt_json_find_str(life, "name"), start, out, &failure);
		}
	} else {
		result = bt_case_read(case_json, &run.arena, &run.text, err);
		if (result == 0 && answer_case(&run, verify, &failure) < 0) {
			answer_error(run.text.name, start, out, &failure);
		}
	}
	finish_case(&run);
	return result;
}

int bt_conformance_answer(struct bt_str case_json, const struct bt_json_value *expected,
	bool verify, struct bt_strbuf *complaints, struct bt_strbuf *out, struct berth_error *err)
{
	return answer(case_json, expected, verify, NULL, complaints, out, err);
}

int bt_conformance_explain(struct bt_str case_json, const struct bt_json_value *expected,
	bool verify, struct bt_explain_tally *tally, struct bt_strbuf *complaints,
	struct bt_strbuf *out, struct berth_error *err)
{
	return answer(case_json, expected, verify, tally, complaints, out, err);
}

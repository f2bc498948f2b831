/* SPDX-License-Identifier: Apache-2.0 */
#include "dra/dra.h"
#include "framework/node_statuses.h"
#include "sched/cycle.h"

/**
 * Metrics of a cycle. A plan gives results for many nodes at once or from its cache; the metrics
 * count as if every plugin ran on every node in turn (spec 02 section 14).
 */

void bt_cycle_point_ran(
	struct bt_cycle_run *run, enum bt_timed_point point, const struct bt_status *status)
{
	run->step_started_ns = bt_profile_point_ran(
		run->framework->metrics, point, status->code, run->step_started_ns);
}

void bt_cycle_filters_ran(struct bt_cycle_run *run, const struct bt_status *status)
{
	if (run->framework->points[BT_POINT_FILTER].entries.count != 0) {
		bt_cycle_point_ran(run, BT_TIMED_FILTER,
			bt_status_is_success(status)
				? status
				: &(struct bt_status){.code = BT_STATUS_ERROR});
	}
}

/**
 * Whether PreFilter ended with this plugin. If the status names no plugin, PreFilter ended after
 * the last plugin that restricted the nodes. narrowed_after: the plugins after `plugin` that
 * restricted the nodes.
 */
static bool ends_pre_filter(const struct bt_cycle_run *run, const struct bt_plugin *plugin,
	const struct bt_plugin_set *narrowed_after)
{
	const struct bt_status *status = &run->pre_filter.status;
	static const struct bt_plugin_set none = {0};
	/* After Unschedulable the later plugins still run. */
	if (bt_status_is_success(status) || status->code == BT_STATUS_UNSCHEDULABLE) {
		return false;
	}
	if (status->plugin != 0) {
		return status->plugin == plugin->index + 1U;
	}
	return memcmp(narrowed_after, &none, sizeof(none)) == 0;
}

void bt_cycle_count_filters(
	const struct bt_cycle_run *run, uint32_t examined, const uint32_t *rejected)
{
	const struct bt_plan *plan = run->plan;
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < plan->filter_count; i++) {
		const struct bt_plugin *plugin = plan->filters[i].plugin;
		if (!bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			bt_profile_evaluated(
				run->framework->metrics, plugin, BT_TIMED_FILTER, examined);
		}
		examined -= rejected != NULL ? rejected[i] : 0;
	}
}

void bt_cycle_count_node(const struct bt_cycle_run *run, uint32_t failing)
{
	const struct bt_plan *plan = run->plan;
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < plan->filter_count && i <= failing; i++) {
		const struct bt_plugin *plugin = plan->filters[i].plugin;
		if (plan->filters[i].form != BT_FILTER_PLAIN &&
			plan->filters[i].form != BT_FILTER_CELLS &&
			!bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			bt_profile_evaluated(run->framework->metrics, plugin, BT_TIMED_FILTER, 1);
		}
	}
}

void bt_cycle_count_unskipped(const struct bt_cycle_run *run, enum bt_extension_point list,
	enum bt_timed_point point, uint32_t calls)
{
	const struct bt_framework_point *entries = &run->framework->points[list];
	if (run->framework->metrics == NULL) {
		return;
	}
	for (uint32_t i = 0; i < entries->entries.count; i++) {
		const struct bt_plugin *plugin = entries->entries.items[i].plugin;
		if (!bt_plugin_set_has(&run->cycle->skip_score, plugin->index)) {
			bt_profile_evaluated(run->framework->metrics, plugin, point, calls);
		}
	}
}

struct bt_cycle_state *bt_engine_begin_cycle(
	struct bt_engine *engine, const struct bt_framework *framework)
{
	if (engine->cycle_open) {
		bt_cycle_state_finish(&engine->cycle);
	}
	bt_arena_reset(&engine->arena);
	engine->cycle_count++;
	bt_cycle_state_init(&engine->cycle, &engine->arena, framework->instances.count);
	engine->cycle_open = true;
	return &engine->cycle;
}

/** --- diagnosis --- */

void bt_diagnosis_add_plugin(struct bt_diagnosis *diagnosis, const struct bt_status *status)
{
	if (status->plugin == 0) {
		return;
	}
	if (bt_status_is_rejected(status)) {
		bt_plugin_set_add(&diagnosis->unschedulable_plugins, status->plugin - 1U);
	}
	if (status->code == BT_STATUS_PENDING) {
		bt_plugin_set_add(&diagnosis->pending_plugins, status->plugin - 1U);
	}
}

void bt_cycle_set_scheduled(struct bt_schedule_result *result, uint32_t slot, int64_t total,
	uint32_t feasible_count, uint32_t explicit_count)
{
	result->outcome = BT_OUTCOME_SCHEDULED;
	result->slot = slot;
	result->total_score = total;
	result->feasible_count = feasible_count;
	result->evaluated_count = feasible_count + explicit_count;
}

void bt_cycle_set_error(struct bt_schedule_result *result, const struct bt_status *status)
{
	result->outcome = BT_OUTCOME_ERROR;
	result->status = *status;
	result->nomination =
		(struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, {NULL, 0}};
}

/** --- no node fits: spec 03 section 8 --- */

void bt_diagnosis_message(const struct bt_diagnosis *diagnosis, struct bt_strbuf *out)
{
	bt_strbuf_printf(out, "0/%u nodes are available:", diagnosis->node_count);
	if (diagnosis->pre_filter_message.length != 0) {
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, diagnosis->pre_filter_message);
		bt_strbuf_append_char(out, '.');
	} else {
		bt_fit_error_append_reasons(&diagnosis->statuses, diagnosis->node_count, out);
	}
	if (diagnosis->post_filter_message.length != 0) {
		bt_strbuf_append_char(out, ' ');
		bt_strbuf_append_str(out, diagnosis->post_filter_message);
	}
}

void bt_cycle_fail(struct bt_cycle_run *run)
{
	struct bt_schedule_result *result = run->result;
	result->outcome = BT_OUTCOME_FIT_ERROR;
	result->diagnosis.node_count = bt_snapshot_placement_count(run->engine->state);
	result->evaluated_count = bt_node_statuses_count(&result->diagnosis.statuses);
	if (run->framework->points[BT_POINT_POST_FILTER].entries.count == 0) {
		result->nomination =
			(struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, {NULL, 0}};
	} else {
		struct bt_status status = bt_run_post_filter(run->framework, run->cycle, run->pod,
			&result->diagnosis.statuses, &result->nomination);
		result->diagnosis.post_filter_message =
			bt_status_message_str(&status, run->cycle->arena);
	}
	struct bt_strbuf text = {0};
	bt_diagnosis_message(&result->diagnosis, &text);
	result->status = bt_status_error_text(run->cycle->arena, bt_strbuf_str(&text));
	result->status.code = BT_STATUS_UNSCHEDULABLE;
	bt_strbuf_finish(&text);
}

/** --- opportunistic batching: spec 03 sections 3.2 and 3.4, spec 09 section 12 --- */

/**
 * The profile's batch state; NULL: no batching. Batching is off if a node is preferred, because a
 * hint would decide between equal nodes.
 */
static struct bt_batch *batch_of(const struct bt_cycle_run *run)
{
	const struct bt_engine *engine = run->engine;
	if (run->attempt == NULL || engine->batches == NULL || engine->preferred_node.length != 0) {
		return NULL;
	}
	uint32_t profile = 0;
	while (engine->profiles.frameworks.items[profile] != run->framework) {
		profile++;
	}
	return &engine->batches[profile];
}

bool bt_cycle_needs_ranking(const struct bt_cycle_run *run)
{
	return run->attempt != NULL && run->engine->batches != NULL &&
		run->attempt->signature.data != NULL;
}

/**
 * Store the ranking for the next attempt. Returns, for the metrics, why the next attempt has no
 * ranking; BT_BATCH_FLUSH_NONE: the next attempt has a ranking.
 */
static enum bt_batch_flush store(struct bt_cycle_run *run, struct bt_batch *batch)
{
	const struct bt_node_table *nodes = &run->engine->state->nodes;
	const struct bt_queued_attempt *attempt = run->attempt;
	enum bt_batch_flush flush;
	if (attempt->signature.data == NULL && !batch->has_list) {
		/* There is nothing to discard and nothing to store. */
		return run->result->feasible_count > 1 ? BT_BATCH_FLUSH_POD_NOT_BATCHABLE
						       : BT_BATCH_FLUSH_EMPTY_LIST;
	}
	struct bt_batch_result result = {
		.signature = attempt->signature,
		.hint = run->hint,
		.chosen = bt_node_table_name(nodes, run->result->slot),
		.cycle_count = attempt->cycle_count,
	};
	if (attempt->signature.data != NULL && run->ranked_count != 0) {
		bt_sym *names = BT_ARENA_NEW_ARRAY(run->cycle->arena, bt_sym, run->ranked_count);
		for (uint32_t i = 0; i < run->ranked_count; i++) {
			names[i] = nodes->rows[run->ranked[i]].name;
		}
		result.others = names;
		result.totals = run->totals;
		result.other_count = run->ranked_count;
	}
	enum bt_batch_attempt end = bt_batch_store(batch, &result, attempt->now_ns, &flush);
	if (end != BT_BATCH_NO_HINT) {
		bt_profile_batch_attempted(run->framework->metrics, end);
	}
	return flush;
}

/** --- the search of spec 03 section 3.4 --- */

/**
 * If the pod has a nominated or hinted node, try this node alone first. true: the node fits and the
 * cycle is decided.
 */
static bool evaluate_nominated_node(struct bt_cycle_run *run)
{
	const struct bt_state *state = run->engine->state;
	const struct bt_snapshot *snapshot = &state->snapshot;
	struct bt_str nominated = run->pod->nominated_node_name;
	struct bt_str name = nominated.length != 0 ? nominated : run->hint;
	uint32_t slot = name.length != 0 ? bt_state_snapshot_find(state, name) : BT_SLOT_NONE;
	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_snapshot) {
		return false;
	}
	/* A nomination outside of the placement is ignored: spec 03 section 3.7. */
	bool is_in = !snapshot->has_placement;
	for (uint32_t i = 0; !is_in && i < snapshot->placement_slots.count; i++) {
		is_in = snapshot->placement_slots.items[i] == slot;
	}
	if (!is_in) {
		return false;
	}
	struct bt_node_search_result found =
		bt_find_nodes_that_pass_filters(run, (struct bt_node_search){&slot, 1, 0, 1});
	/*
	 * If a Filter plugin or an extender fails here, upstream only logs the error. Then the full
	 * search decides.
	 */
	if (found.feasible_count != 0 && run->extension.active) {
		struct bt_status status = bt_find_nodes_that_pass_extenders(run, &found);
		found.feasible_count = bt_status_is_success(&status) ? found.feasible_count : 0;
	}
	if (found.feasible_count == 0) {
		/*
		 * Upstream quirk, spec 03 section 3.7: the pending plugins of this trial are lost.
		 */
		run->result->diagnosis.pending_plugins = (struct bt_plugin_set){0};
		for (uint32_t i = 0; i < run->nominated_count; i++) {
			run->nominated[i].is_known = false;
		}
		return false;
	}
	bt_cycle_set_scheduled(run->result, found.feasible[0], 0, 1,
		run->result->diagnosis.statuses.entries.count);
	return true;
}

/**
 * Search the list in rotated order, then call the extenders. *out_explicit_count: number of nodes
 * with an entry in the statuses.
 */
static struct bt_node_search_result find_nodes_that_fit(
	struct bt_cycle_run *run, uint32_t *out_explicit_count)
{
	struct bt_engine *engine = run->engine;
	struct bt_diagnosis *diagnosis = &run->result->diagnosis;
	struct bt_node_search search = {.start = run->start_index};
	bt_search_candidates(
		engine, &run->pre_filter.result, run->cycle->arena, &search.slots, &search.count);
	if (run->pre_filter.result.restricted) {
		/*
		 * Upstream quirk, spec 03 section 3.4: the plugins that rejected the nominated node
		 * in its trial are included.
		 */
		diagnosis->statuses.absent = bt_narrowed_status(
			run->framework, &diagnosis->unschedulable_plugins, run->cycle->arena);
	}
	search.limit = bt_search_limit(engine, run->framework, search.count);
	uint32_t trial_slot = diagnosis->statuses.entries.count != 0
		? diagnosis->statuses.entries.items[0].slot
		: BT_SLOT_NONE;
	struct bt_node_search_result found = {0};
	if (search.count != 0) {
		search.start %= search.count;
		found = bt_find_nodes_that_pass_filters(run, search);
	}
	/* All entries count for the rotation, including the entry of the nominated node's trial. */
	uint32_t explicit_count = found.rejected_count;
	if (run->extension.active) {
		explicit_count = diagnosis->statuses.entries.count;
	} else {
		/*
		 * Remove the entry of the nominated node's trial if the full search examined that
		 * node too.
		 */
		uint32_t examined = found.feasible_count + found.rejected_count;
		bool stands_alone = trial_slot != BT_SLOT_NONE;
		for (uint32_t i = 0; i < examined && stands_alone; i++) {
			stands_alone =
				search.slots[(search.start + i) % search.count] != trial_slot;
		}
		if (trial_slot != BT_SLOT_NONE && !stands_alone) {
			bt_vec_remove_ordered(&diagnosis->statuses.entries, 0);
		}
		explicit_count += stands_alone;
	}
	uint64_t advanced = (uint64_t)run->start_index + found.feasible_count + explicit_count;
	engine->next_start_node_index =
		(uint32_t)(advanced % bt_snapshot_placement_count(engine->state));
	if (bt_status_is_success(&found.error) && run->extension.active) {
		uint32_t before = found.feasible_count;
		found.error = bt_find_nodes_that_pass_extenders(run, &found);
		diagnosis->rejected_by_extender = found.feasible_count != before;
		explicit_count = diagnosis->statuses.entries.count;
	}
	*out_explicit_count = explicit_count;
	return found;
}

/** Run PreFilter. false: its status decides the cycle. An error is put into the result. */
static bool run_pre_filter(struct bt_cycle_run *run)
{
	struct bt_diagnosis *diagnosis = &run->result->diagnosis;
	bool cached = run->plan != NULL && run->plan->pre_filter_cached;
	run->pre_filter = cached ? run->plan->pre_filter
				 : bt_run_pre_filter(run->framework, run->cycle, run->pod);
	bt_cycle_point_ran(run, BT_TIMED_PRE_FILTER, &run->pre_filter.status);
	/*
	 * Count the evaluations for the metrics, even if the plan already had PreFilter's result.
	 */
	const struct bt_framework_point *point = &run->framework->points[BT_POINT_PRE_FILTER];
	struct bt_plugin_set narrowed = run->pre_filter.plugins_with_nodes;
	if (run->framework->metrics != NULL) {
		for (uint32_t i = 0; i < point->entries.count; i++) {
			const struct bt_plugin *plugin = point->entries.items[i].plugin;
			if (bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
				continue;
			}
			bt_profile_evaluated(
				run->framework->metrics, plugin, BT_TIMED_PRE_FILTER, 1);
			narrowed.words[plugin->index >> 6] &=
				~(UINT64_C(1) << (plugin->index & 63));
			if (ends_pre_filter(run, plugin, &narrowed)) {
				break;
			}
		}
	}
	diagnosis->unschedulable_plugins = run->pre_filter.plugins_with_nodes;
	const struct bt_status *status = &run->pre_filter.status;
	if (bt_status_is_success(status)) {
		return true;
	}
	if (!bt_status_is_rejected(status)) {
		bt_cycle_set_error(run->result, status);
		return false;
	}
	diagnosis->statuses.absent = *status;
	diagnosis->pre_filter_message = bt_status_message_str(status, run->cycle->arena);
	bt_diagnosis_add_plugin(diagnosis, status);
	return false;
}

static void schedule_pod(struct bt_cycle_run *run)
{
	struct bt_arena *arena = run->cycle->arena;
	if (!run_pre_filter(run)) {
		if (bt_status_is_rejected(&run->pre_filter.status)) {
			bt_cycle_fail(run);
		}
		return;
	}
	bt_cycle_mark_nominated(run);
	/* Get the hint that the previous attempt stored. */
	const struct bt_queued_attempt *attempt = run->attempt;
	struct bt_profile_metrics *metrics = run->framework->metrics;
	struct bt_batch *batch = batch_of(run);
	enum bt_batch_flush flush = BT_BATCH_FLUSH_NONE;
	if (batch != NULL) {
		int64_t started_ns = bt_profile_now(metrics);
		if (batch->has_list) {
			run->hint = bt_batch_get_hint(batch, run->framework, run->cycle, run->pod,
				attempt->signature, attempt->cycle_count, attempt->now_ns, &flush);
			run->hint = bt_arena_str(run->cycle->arena, run->hint);
			run->result->hinted = run->hint.length != 0;
		}
		bt_profile_batch_flushed(metrics, flush);
		bt_profile_hint_taken(metrics, run->result->hinted, started_ns);
		if (!run->result->hinted) {
			bt_profile_batch_attempted(metrics, BT_BATCH_NO_HINT);
		}
	}
	if (evaluate_nominated_node(run) || bt_cycle_decide_by_cells(run)) {
		return;
	}
	uint32_t explicit_count;
	struct bt_node_search_result found = find_nodes_that_fit(run, &explicit_count);
	uint32_t count = found.feasible_count;
	if (!bt_status_is_success(&found.error)) {
		struct bt_status error =
			bt_status_error_text(arena, bt_status_message_str(&found.error, arena));
		bt_cycle_set_error(run->result, &error);
		return;
	}
	if (count == 0) {
		bt_cycle_fail(run);
		return;
	}
	if (count == 1) {
		bt_cycle_set_scheduled(run->result, found.feasible[0], 0, 1, explicit_count);
		return;
	}
	const uint64_t *numbers;
	int64_t *totals = BT_ARENA_NEW_ARRAY(arena, int64_t, count);
	struct bt_status status = bt_prioritize_nodes(run, found.feasible, count, totals, &numbers);
	if (!bt_status_is_success(&status)) {
		bt_cycle_set_error(run->result, &status);
		return;
	}
	uint32_t best = bt_select_host(run->engine, found.feasible, totals, numbers, count);
	run->ranked = found.feasible;
	run->totals = totals;
	run->ranked_count = count;
	bt_cycle_set_scheduled(
		run->result, found.feasible[best], totals[best], count, explicit_count);
}

/** If an extender is interested in the pod, statuses of nodes are found by slot and by name. */
static void begin_extension(struct bt_cycle_run *run)
{
	if (bt_extenders_match(&run->engine->extenders, run->pod)) {
		run->extension.active = true;
		run->extension.entry_by_slot = BT_ARENA_NEW_ARRAY(
			run->cycle->arena, uint32_t, run->engine->state->nodes.slot_count);
	}
}

static void end_extension(struct bt_cycle_run *run)
{
	bt_map_finish(&run->extension.unknown_node_index);
	bt_vec_finish(&run->extension.unknown_nodes);
}

struct bt_status bt_engine_find_nodes(struct bt_engine *engine, struct bt_framework *framework,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	struct bt_diagnosis *out_diagnosis, const uint32_t **out_slots, uint32_t *out_count)
{
	struct bt_schedule_result result = {.slot = BT_SLOT_NONE};
	struct bt_cycle_run run = {
		.engine = engine,
		.framework = framework,
		.pod = pod,
		.cycle = cycle,
		.result = &result,
		.start_index = engine->next_start_node_index,
	};
	struct bt_profile_metrics *metrics = framework->metrics;
	struct bt_node_search_result found = {0};
	framework->metrics = NULL; /* the search is not an attempt */
	result.diagnosis.node_count = engine->state->snapshot.count;
	result.diagnosis.statuses.absent =
		bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
	begin_extension(&run);
	if (!run_pre_filter(&run)) {
		if (!bt_status_is_rejected(&run.pre_filter.status)) {
			found.error = run.pre_filter.status;
		}
	} else if (engine->state->snapshot.count != 0) {
		bt_cycle_mark_nominated(&run);
		if (evaluate_nominated_node(&run)) {
			found.feasible = BT_ARENA_NEW(cycle->arena, uint32_t);
			found.feasible[0] = result.slot;
			found.feasible_count = 1;
		} else {
			uint32_t explicit_count;
			found = find_nodes_that_fit(&run, &explicit_count);
		}
	}
	end_extension(&run);
	framework->metrics = metrics;
	*out_diagnosis = result.diagnosis;
	*out_slots = found.feasible;
	*out_count = found.feasible_count;
	return found.error;
}

static void begin_result(struct bt_engine *engine, struct bt_framework *framework,
	struct bt_schedule_result *out_result)
{
	*out_result = (struct bt_schedule_result){
		.slot = BT_SLOT_NONE,
		.cycle = bt_engine_begin_cycle(engine, framework),
		.framework = framework,
	};
	out_result->diagnosis.statuses = engine->statuses;
	out_result->diagnosis.statuses.entries.count = 0;
	out_result->diagnosis.statuses.absent =
		bt_status_code_only(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE);
}

void bt_engine_schedule(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result)
{
	struct berth_error err = BERTH_ERROR_INIT;
	if (bt_state_refresh_snapshot(engine->state, &err) < 0) {
		begin_result(engine, framework, out_result);
		struct bt_status status = bt_status_from_error(out_result->cycle->arena, &err);
		bt_cycle_set_error(out_result, &status);
		return;
	}
	bt_engine_schedule_in_snapshot(engine, framework, pod, attempt, out_result);
}

static uint64_t claim_version_of(const struct bt_state *state)
{
	return state->dra != NULL ? state->dra->claims.version : 0;
}

static void begin_run(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *result, struct bt_cycle_run *out_run)
{
	*out_run = (struct bt_cycle_run){
		.engine = engine,
		.framework = framework,
		.pod = pod,
		.cycle = result->cycle,
		.result = result,
		.start_index = engine->next_start_node_index,
		.attempt = attempt,
	};
	out_run->step_started_ns = bt_profile_now(framework->metrics);
	out_run->plan = bt_plan_get(engine, framework, pod);
	out_run->cycle->record_plugin_metrics = bt_profile_samples(framework->metrics);
	if (attempt != NULL) {
		out_run->cycle->group = attempt->group;
		out_run->cycle->skip_all_post_filter = attempt->skips_post_filter;
	}
	result->plan = out_run->plan;
	struct bt_cycle_state *cycle = out_run->cycle;
	if (out_run->plan != NULL) {
		/* Start the cycle with the plan's data about the shape. */
		const struct bt_plan *plan = out_run->plan;
		for (uint32_t i = 0; i < cycle->plugin_count; i++) {
			/*
			 * If only some PreFilter plugins are cached, the runner copies a plugin's
			 * data when the runner reaches the plugin. So plugins that do not run leave
			 * no data.
			 */
			if (plan->pre_filter_cached) {
				cycle->pre_filter_data[i] = plan->template.pre_filter_data[i];
			}
			cycle->pre_score_data[i] = plan->template.pre_score_data[i];
		}
		for (uint32_t i = 0; i < plan->template.data.count; i++) {
			bt_vec_push(&cycle->data, plan->template.data.items[i]);
		}
		cycle->skip_filter = plan->template.skip_filter;
		cycle->skip_score = plan->template.skip_score;
		cycle->memo = plan->memo;
	}
}

/** Whether Reserve has no effect and the columns are enough to decide if the pod fits. */
static bool columns_decide(const struct bt_cycle_run *run)
{
	const struct bt_framework *framework = run->framework;
	const struct bt_framework_point *reserve = &framework->points[BT_POINT_RESERVE];
	const struct bt_plan *plan = run->plan;
	if (plan == NULL || plan->has_plain_filters || plan->has_plain_scores ||
		framework->points[BT_POINT_FILTER].entries.count == 0 ||
		bt_extenders_match(&run->engine->extenders, run->pod) ||
		run->engine->nominator.nominations.map.count != 0 ||
		run->engine->state->gates.dra_node_allocatable_resources) {
		return false;
	}
	for (uint32_t i = 0; i < reserve->entries.count; i++) {
		struct bt_plugin *plugin = reserve->entries.items[i].plugin;
		/* An in-tree plugin that skips Filter has no volumes or claims to reserve. */
		if (plugin->ops->shortcuts == NULL ||
			!bt_plugin_set_has(&run->cycle->skip_filter, plugin->index)) {
			return false;
		}
	}
	return true;
}

const uint32_t *bt_engine_room(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt)
{
	struct bt_schedule_result result;
	/* Switch the metrics off, because the decision that follows counts the same evaluations. */
	struct bt_profile_metrics *metrics = framework->metrics;
	const uint32_t *room = NULL;
	begin_result(engine, framework, &result);
	struct bt_cycle_run run;
	begin_run(engine, framework, pod, attempt, &result, &run);
	framework->metrics = NULL;
	if (run.plan != NULL) {
		run.cycle->borrows_counters = true;
		run.pre_filter = run.plan->pre_filter_cached
			? run.plan->pre_filter
			: bt_run_pre_filter(framework, run.cycle, pod);
		if (bt_status_is_success(&run.pre_filter.status) &&
			!run.pre_filter.result.restricted && columns_decide(&run)) {
			bt_plan_refresh(run.plan, engine, pod);
			room = bt_plan_room(run.plan, engine, run.cycle, pod);
		}
	}
	framework->metrics = metrics;
	return room;
}

void bt_engine_schedule_in_snapshot(struct bt_engine *engine, struct bt_framework *framework,
	const struct bt_pod_info *pod, const struct bt_queued_attempt *attempt,
	struct bt_schedule_result *out_result)
{
	begin_result(engine, framework, out_result);
	if (bt_snapshot_placement_count(engine->state) == 0) {
		struct bt_status status = bt_status_error_text(
			out_result->cycle->arena, BT_STR("no nodes available to schedule pods"));
		status.code = BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE;
		bt_cycle_set_error(out_result, &status);
		out_result->outcome = BT_OUTCOME_NO_NODES;
		return;
	}
	struct bt_cycle_run run;
	begin_run(engine, framework, pod, attempt, out_result, &run);
	struct bt_cycle_state *cycle = run.cycle;
	uint64_t claim_version = claim_version_of(engine->state);
	struct bt_prng prng = engine->prng;
	/*
	 * Plugins may use the state's counters without a copy, because the state does not change
	 * before the end of this function.
	 */
	run.cycle->borrows_counters = true;
	begin_extension(&run);
	out_result->extended = run.extension.active;
	schedule_pod(&run);
	if (out_result->outcome == BT_OUTCOME_SCHEDULED) {
		/* Store the ranking for the next attempt. */
		struct bt_profile_metrics *metrics = run.framework->metrics;
		struct bt_batch *batch = batch_of(&run);
		if (batch != NULL) {
			int64_t started_ns = bt_profile_now(metrics);
			bt_profile_batch_flushed(metrics, store(&run, batch));
			if (metrics != NULL) {
				bt_metrics_observe_since(metrics->all, BT_FAMILY_STORE_DURATION,
					metrics->name, started_ns);
			}
		}
	}
	/*
	 * Reset the data of those plugins whose data may point to the state's counters. After this
	 * function the counters may change or be freed, so no later step of the cycle may read
	 * them.
	 */
	cycle->borrows_counters = false;
	for (uint32_t i = 0; i < framework->instances.count; i++) {
		const struct bt_plugin_shortcuts *shortcuts =
			bt_shortcuts(framework->instances.items[i]);
		if (shortcuts->columns_per_cycle && !shortcuts->keeps_cycle_data) {
			cycle->pre_filter_data[i] = NULL;
			cycle->pre_score_data[i] = NULL;
		}
	}
	end_extension(&run);
	/* Store the list back, because it may have been reallocated. */
	engine->statuses = out_result->diagnosis.statuses;
	engine->statuses.groups = NULL;
	/*
	 * Skip verification if a simulated PostFilter released claims: the decision cannot be
	 * repeated.
	 */
	if (engine->options.verify && claim_version_of(engine->state) == claim_version) {
		bt_verify_decision(
			engine, framework, pod, run.plan, out_result, run.start_index, &prng);
	}
}

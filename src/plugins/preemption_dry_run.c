/* SPDX-License-Identifier: Apache-2.0 */
/** Selects the victims on a node: spec 08 sections 8 and 9. */
#include "plugins/common_plugin.h"
#include "plugins/preemption_evaluator.h"

/** Kinds of changes of a node that removing a pod can cause. */
#define REMOVAL_KINDS \
	(BT_CHANGE_PODS | BT_CHANGE_PORTS | BT_CHANGE_AFFINITY_PODS | BT_CHANGE_CLAIMS)

/** Data of one attempt, the same for all nodes. */
struct dry_run {
	struct bt_evaluator *evaluator;
	struct bt_framework *framework;
	struct bt_cycle_state *cycle;
	const struct bt_pod_info *pod;
	/** Some plugin has AddPod or RemovePod, so each node needs a clone of the cycle. */
	bool has_extensions;
	/** Filters whose result depends on the node's pods. */
	struct bt_plugin **pod_filters;
	uint32_t pod_filter_count;
	bool has_nominations; /* some pod is nominated on some node */
	/**
	 * The pod filters depend only on sums of requests, so lists of pods and ports need not be
	 * updated.
	 */
	bool sums_only;
	bool of_shape; /* filters read only the shape of the pod and the row of the node */
	/** victims are selected by more than requests, priority and start time */
	bool needs_identity;
	struct bt_dry_run_memo *memo;     /* NULL: results are not cached */
	const struct bt_node_info *given; /* the caller's node; NULL: nodes of the snapshot */
};

/** The dry run on one node. */
struct trial {
	struct dry_run *run;
	struct bt_node_info node;
	struct bt_cycle_state own_cycle;
	struct bt_cycle_state *cycle;
	bool has_nominations; /* pods are nominated on this node */
	bool sums_only;
	/* Pods that may be evicted, in the order of the node's list. */
	const struct bt_pod_info *pods;
	uint32_t pod_count;
	uint32_t *order; /* indices of pods by importance; pods that violate a budget come first */
	uint32_t *scratch; /* scratch memory of the same length */
	uint32_t violating_count;
};

static void dry_run_init(struct dry_run *run, struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod)
{
	struct bt_framework *framework = evaluator->handle->framework;
	const struct bt_framework_point *pre_filters = &framework->points[BT_POINT_PRE_FILTER];
	const struct bt_framework_point *filters = &framework->points[BT_POINT_FILTER];

	*run = (struct dry_run){
		.evaluator = evaluator, .framework = framework, .cycle = cycle, .pod = pod};
	for (uint32_t i = 0; i < pre_filters->entries.count; i++) {
		const struct bt_plugin *plugin = pre_filters->entries.items[i].plugin;

		run->has_extensions |= plugin->ops->pre_filter_change_pod != NULL &&
			!bt_plugin_set_has(&cycle->skip_filter, plugin->index);
	}
	run->sums_only = !run->has_extensions;
	run->of_shape = true;
	run->needs_identity = evaluator->hooks.more_important_pod != NULL ||
		evaluator->hooks.is_eligible_pod != NULL || evaluator->budgets.budgets.count != 0;
	run->pod_filters =
		BT_ARENA_NEW_ARRAY(cycle->arena, struct bt_plugin *, filters->entries.count);
	for (uint32_t i = 0; i < filters->entries.count; i++) {
		struct bt_plugin *plugin = filters->entries.items[i].plugin;
		const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
		/* A filter with a column form declares which parts of the node's row it reads. */
		bool has_column = shortcuts->pure && !shortcuts->columns_per_cycle &&
			shortcuts->filter_column != NULL;

		if (bt_plugin_set_has(&cycle->skip_filter, plugin->index)) {
			continue;
		}
		run->of_shape &= has_column &&
			(shortcuts->filter_fits_column == NULL ||
				shortcuts->filter_fits_column(
					plugin, cycle->pre_filter_data[plugin->index], pod));
		/*
		 * If removing pods does not change what the filter reads, the result of the filter
		 * on the emptied node stays valid while pods are added back.
		 */
		if (!has_column || (shortcuts->filter_reads & REMOVAL_KINDS) != 0) {
			run->pod_filters[run->pod_filter_count++] = plugin;
			/*
			 * Removing a pod changes several kinds of data of the node. sums_only stays
			 * true only if the sums of requests are the only such data that the filter
			 * reads.
			 */
			run->sums_only &= has_column &&
				(shortcuts->filter_reads & REMOVAL_KINDS) == BT_CHANGE_PODS;
		}
	}
	run->has_nominations =
		framework->nominator != NULL && framework->nominator->nominations.map.count != 0;
}

/** Remove the pod from the trial's node (step -1), or add the pod again (step 1). */
static struct bt_status change_pod(struct trial *trial, const struct bt_pod_info *pod, int64_t step)
{
	struct dry_run *run = trial->run;
	struct berth_error err = BERTH_ERROR_INIT;

	if (trial->sums_only) {
		bt_node_info_change_sums(&trial->node, run->cycle->arena, pod->shape, step);
		return BT_STATUS_OK;
	}
	if (step > 0) {
		bt_node_info_add_pod(&trial->node, run->cycle->arena, pod);
	} else if (bt_node_info_remove_pod(&trial->node, run->cycle->arena, pod, &err) < 0) {
		return bt_status_from_error(run->cycle->arena, &err);
	}
	return run->has_extensions ? bt_run_pre_filter_change_pod(run->framework, trial->cycle,
					     run->pod, pod, &trial->node, step)
				   : BT_STATUS_OK;
}

static struct bt_status fits(struct trial *trial)
{
	return bt_run_filter_with_nominated_pods(
		trial->run->framework, trial->cycle, trial->run->pod, &trial->node);
}

/**
 * Whether the preemptor fits on the node, which has passed all filters with fewer pods. If no pod
 * is nominated, this runs only the filters that depend on pods.
 */
static bool still_fits(struct trial *trial)
{
	const struct dry_run *run = trial->run;
	struct bt_status status = BT_STATUS_OK;

	if (trial->has_nominations) {
		status = fits(trial);
		return bt_status_is_success(&status);
	}
	for (uint32_t i = 0; i < run->pod_filter_count && bt_status_is_success(&status); i++) {
		struct bt_plugin *plugin = run->pod_filters[i];

		status = plugin->ops->filter(plugin, trial->cycle, run->pod, &trial->node);
	}
	bool passes = bt_status_is_success(&status);
	if (run->evaluator->handle->verify) {
		struct bt_profile_metrics *metrics = run->framework->metrics;

		run->framework->metrics = NULL;
		status = fits(trial);
		run->framework->metrics = metrics;
		BT_ASSERT(bt_status_is_success(&status) == passes);
	}
	return passes;
}

static bool more_important(const void *context, uint32_t a, uint32_t b)
{
	const struct trial *trial = context;
	const struct bt_preemption_hooks *hooks = &trial->run->evaluator->hooks;
	const struct bt_pod_info *left = &trial->pods[a];
	const struct bt_pod_info *right = &trial->pods[b];

	if (hooks->more_important_pod != NULL) {
		return hooks->more_important_pod(hooks->context, left, right);
	}
	return bt_is_more_important(
		left->priority, left->start_seconds, right->priority, right->start_seconds);
}

static bool violates_budget(void *context, uint32_t index)
{
	const struct trial *trial = context;

	return bt_budgets_charge(&trial->run->evaluator->budgets, &trial->pods[index]);
}

static struct bt_status try_node(struct trial *trial, struct bt_preemption_candidate *out)
{
	struct bt_status status;

	for (uint32_t i = 0; i < trial->pod_count; i++) {
		status = change_pod(trial, &trial->pods[i], -1);
		if (!bt_status_is_success(&status)) {
			return status;
		}
	}
	status = fits(trial);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	/* Sort the pods by importance; pods whose eviction violates a budget come first. */
	struct bt_budgets *budgets = &trial->run->evaluator->budgets;

	for (uint32_t i = 0; i < trial->pod_count; i++) {
		trial->order[i] = i;
	}
	bt_sort_by_importance(
		trial->order, trial->pod_count, trial->scratch, more_important, trial);
	trial->violating_count = 0;
	if (budgets->budgets.count != 0) {
		budgets->round++;
		trial->violating_count = bt_move_violating_first(
			trial->order, trial->pod_count, trial->scratch, violates_budget, trial);
	}
	/*
	 * Add the pods back one by one. A pod is a victim if the preemptor no longer fits when the
	 * pod is back.
	 */
	uint32_t *chosen = trial->scratch;
	uint32_t count = 0;

	for (uint32_t i = 0; i < trial->pod_count; i++) {
		const struct bt_pod_info *pod = &trial->pods[trial->order[i]];

		status = change_pod(trial, pod, 1);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		if (still_fits(trial)) {
			continue;
		}
		status = change_pod(trial, pod, -1);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		chosen[count++] = trial->order[i];
		out->pdb_violations += i < trial->violating_count;
	}
	if (trial->violating_count != 0 && trial->violating_count != trial->pod_count) {
		bt_sort_by_importance(chosen, count, trial->order, more_important, trial);
	}
	uint32_t *victims = BT_ARENA_NEW_ARRAY(trial->run->cycle->arena, uint32_t, count);
	for (uint32_t i = 0; i < count; i++) {
		victims[i] = trial->pods[chosen[i]].pod_id;
	}
	out->victims = victims;
	out->victim_count = count;
	return BT_STATUS_OK;
}

static bool is_nominated(const struct dry_run *run, uint32_t slot)
{
	uint32_t cursor = BT_NOMINATION_FIRST;

	return run->has_nominations &&
		bt_nominator_next(run->framework->nominator,
			bt_node_table_name(&run->evaluator->handle->state->nodes, slot),
			&cursor) != NULL;
}

/**
 * SelectVictimsOnNode on a copy of the node and, if plugins have AddPod or RemovePod, a clone of
 * the cycle.
 */
static struct bt_status select_victims(
	struct dry_run *run, uint32_t slot, bool sums_only, struct bt_preemption_candidate *out)
{
	struct bt_evaluator *evaluator = run->evaluator;
	/* Collect the pods that the preemptor may evict, in memory of the evaluator. */
	const struct bt_state *state = evaluator->handle->state;
	const struct bt_node_row *row = &state->nodes.rows[slot];

	evaluator->removable.count = 0;
	if (run->given != NULL) {
		/* The caller gave a node: collect the pods of that node. */
		uint32_t count = bt_node_info_pod_count(run->given);

		for (uint32_t i = 0; i < count; i++) {
			struct bt_pod_info pod;

			bt_node_info_pod_at(run->given, i, &pod);
			if (pod.pod_id != BT_POD_NONE &&
				bt_evaluator_may_preempt(
					evaluator, run->given->slot, &pod, run->pod)) {
				bt_vec_push(&evaluator->removable, pod);
			}
		}
	}
	for (uint32_t i = 0; run->given == NULL && i < row->pods.count; i++) {
		uint32_t pod_id = row->pods.items[i];
		struct bt_pod_info pod;

		if (bt_state_pod_at(state, pod_id)->priority >= run->pod->priority) {
			continue;
		}
		if (sums_only && !run->needs_identity) {
			/*
			 * Without needs_identity, the selection of victims needs only these fields.
			 */
			const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
			pod = (struct bt_pod_info){
				.shape = bt_shape_at(&state->shapes, record->shape),
				.priority = record->priority,
				.start_seconds = record->start_seconds,
				.pod_id = pod_id,
			};
		} else {
			bt_pod_info_from_record(state, pod_id, &pod);
		}
		if (bt_evaluator_may_preempt(evaluator, slot, &pod, run->pod)) {
			bt_vec_push(&evaluator->removable, pod);
		}
	}
	bt_vec_reserve(&evaluator->order, (uint64_t)evaluator->removable.count * 2);
	uint32_t count = evaluator->removable.count;
	struct trial trial = {
		.run = run,
		.cycle = run->cycle,
		.sums_only = sums_only,
		.pods = evaluator->removable.items,
		.pod_count = count,
		.order = evaluator->order.items,
	};

	*out = (struct bt_preemption_candidate){.slot = slot};
	if (count == 0) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_NO_PREEMPTION_VICTIMS);
	}
	trial.scratch = evaluator->order.items + count;
	if (run->given != NULL) {
		bt_node_info_copy(&trial.node, run->given, run->cycle->arena);
	} else {
		bt_node_info_init(&trial.node, evaluator->handle->state, slot);
	}
	trial.has_nominations = !sums_only && is_nominated(run, slot);
	if (run->has_extensions) {
		bt_framework_clone_cycle(run->framework, run->cycle, &trial.own_cycle);
		trial.cycle = &trial.own_cycle;
	}
	struct bt_status status = try_node(&trial, out);
	if (run->has_extensions) {
		bt_cycle_state_finish(&trial.own_cycle);
	}
	return status;
}

/** Verify mode: select victims without shortcuts, and compare the results. */
static void verify_victims(struct dry_run *run, const struct bt_status *status,
	const struct bt_preemption_candidate *candidate)
{
	/* Metrics are off during the second selection. */
	struct bt_profile_metrics *metrics = run->framework->metrics;
	struct bt_preemption_candidate plain;

	run->framework->metrics = NULL;
	struct bt_status plain_status = select_victims(run, candidate->slot, false, &plain);
	run->framework->metrics = metrics;
	BT_ASSERT(plain_status.code == status->code);
	BT_ASSERT(bt_str_equal(bt_status_message_str(&plain_status, run->cycle->arena),
		bt_status_message_str(status, run->cycle->arena)));
	BT_ASSERT(plain.victim_count == candidate->victim_count);
	BT_ASSERT(plain.pdb_violations == candidate->pdb_violations);
	for (uint32_t i = 0; i < plain.victim_count; i++) {
		BT_ASSERT(plain.victims[i] == candidate->victims[i]);
	}
}

static struct bt_status find_victims(
	struct dry_run *run, uint32_t slot, struct bt_preemption_candidate *out)
{
	bool sums_only = run->sums_only && !is_nominated(run, slot);
	struct bt_status status = select_victims(run, slot, sums_only, out);

	if (sums_only && run->evaluator->handle->verify) {
		verify_victims(run, &status, out);
	}
	return status;
}

struct bt_status bt_select_victims_on_node(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_info *node, struct bt_preemption_candidate *out)
{
	struct dry_run run;

	dry_run_init(&run, evaluator, cycle, pod);
	run.given = node;
	return find_victims(&run, node->slot, out);
}

/**
 * Dry run on one node. Skips the run if its result is cached or if the node has no pod of lower
 * priority. out->victims is in the cycle's arena.
 */
static struct bt_status recall_or_find(
	struct dry_run *run, uint32_t slot, struct bt_preemption_candidate *out)
{
	const struct bt_evaluator *evaluator = run->evaluator;
	const struct bt_state *state = evaluator->handle->state;
	struct bt_dry_run_end end = {0};
	struct bt_status status;

	*out = (struct bt_preemption_candidate){.slot = slot};
	bool has_lower = evaluator->lowest.by_slot.items[slot] < run->pod->priority;
	bool is_kept = run->memo != NULL && !(has_lower && is_nominated(run, slot));
	if (!has_lower || (is_kept && bt_dry_run_recall(run->memo, state, slot, &end))) {
		status = has_lower ? end.status
				   : bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					     BT_REASON_NO_PREEMPTION_VICTIMS);
		if (end.victim_count != 0) {
			uint32_t *victims =
				BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, end.victim_count);
			memcpy(victims, end.victims, end.victim_count * sizeof(*victims));
			out->victims = victims;
			out->victim_count = end.victim_count;
		}
		if (evaluator->handle->verify) {
			verify_victims(run, &status, out);
		}
		return status;
	}
	status = find_victims(run, slot, out);
	/* Cache the result for the next pod of this shape. */
	bool is_rejected = bt_status_is_rejected(&status);
	if (is_kept && (is_rejected || (bt_status_is_success(&status) && out->victim_count != 0))) {
		end = (struct bt_dry_run_end){
			status, out->victims, is_rejected ? 0 : out->victim_count};
		bt_dry_run_memo_add(run->memo, state, slot, &end);
	}
	return status;
}

struct bt_dry_run_result bt_dry_run_preemption(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod, const uint32_t *nodes,
	uint32_t node_count, uint32_t offset, uint32_t limit)
{
	struct bt_arena *arena = cycle->arena;
	struct bt_dry_run_result result = {0};
	struct bt_error_list errors = {0};
	struct dry_run run;

	bt_budgets_refresh(&evaluator->budgets, evaluator->handle->state);
	dry_run_init(&run, evaluator, cycle, pod);
	bt_lowest_priorities_refresh(&evaluator->lowest, evaluator->handle->state);
	if (evaluator->may_recall && run.sums_only && run.of_shape && !run.needs_identity) {
		run.memo = bt_dry_run_memo_for(
			&evaluator->memos, evaluator->handle->state, pod, &cycle->skip_filter);
	}
	evaluator->statuses.entries.count = 0;
	evaluator->statuses.groups = NULL;
	/*
	 * Two lists in one array: candidates without violations and, from index `limit` on,
	 * candidates with violations.
	 */
	struct bt_preemption_candidate *clean =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_candidate, (size_t)limit * 2);
	struct bt_preemption_candidate *violating = clean + limit;
	uint32_t clean_count = 0;
	uint32_t violating_count = 0;
	/* With limit 0 no clean candidate is kept, so the scan visits all nodes. */
	for (uint32_t i = 0;
		i < node_count && (clean_count == 0 || clean_count + violating_count < limit);
		i++) {
		uint32_t slot = nodes[(offset + i) % node_count];
		struct bt_preemption_candidate candidate;
		struct bt_status status = recall_or_find(&run, slot, &candidate);

		if (bt_status_is_success(&status) && candidate.victim_count != 0) {
			if (candidate.pdb_violations == 0 && clean_count < limit) {
				clean[clean_count++] = candidate;
			} else if (candidate.pdb_violations != 0 && violating_count < limit) {
				violating[violating_count++] = candidate;
			}
			continue;
		}
		if (bt_status_is_success(&status)) {
			status = bt_no_victim_status(
				bt_node_table_name(&evaluator->handle->state->nodes, slot), arena);
		}
		struct bt_node_status_entry entry = {slot, status};

		bt_vec_push(&evaluator->statuses.entries, entry);
		if (status.code == BT_STATUS_ERROR) {
			bt_error_list_add(&errors, arena, bt_status_message_str(&status, arena));
		}
	}
	if (violating_count != 0) {
		memmove(&clean[clean_count], violating, violating_count * sizeof(clean[0]));
	}
	result.candidates = clean;
	result.count = clean_count + violating_count;
	if (errors.count != 0) {
		result.error_text = bt_error_list_text(&errors, arena);
	}
	return result;
}

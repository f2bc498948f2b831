/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_evaluator.h"

#include <string.h>

#include "api/identity.h"
#include "base/prng.h"
#include "base/wrap.h"
#include "framework/extender.h"
#include "framework/node_statuses.h"
#include "framework/pod_lister.h"
#include "plugins/common_plugin.h"

/** Up to this many entries, insertion sort is faster. */
#define INSERTION_MAX 12

void bt_sort_by_importance(uint32_t *indices, uint32_t count, uint32_t *scratch,
	bt_more_important more_important, const void *context)
{
	uint32_t middle = count / 2;

	if (count <= INSERTION_MAX) {
		for (uint32_t i = 1; i < count; i++) {
			uint32_t moving = indices[i];
			uint32_t at = i;

			while (at > 0 && more_important(context, moving, indices[at - 1])) {
				indices[at] = indices[at - 1];
				at--;
			}
			indices[at] = moving;
		}
		return;
	}
	bt_sort_by_importance(indices, middle, scratch, more_important, context);
	bt_sort_by_importance(indices + middle, count - middle, scratch, more_important, context);
	/*
	 * Merge the two sorted halves. Take the right entry only if it is more important than the
	 * left entry, so that equal entries stay in order. Two unstarted pods of equal priority are
	 * not equal entries: each counts as more important than the other. So the merge reverses a
	 * run of such pods, as an insertion sort does.
	 */
	uint32_t left = 0;
	uint32_t right = middle;

	memcpy(scratch, indices, count * sizeof(indices[0]));
	for (uint32_t i = 0; i < count; i++) {
		bool take_right = left == middle ||
			(right < count && more_important(context, scratch[right], scratch[left]));

		indices[i] = take_right ? scratch[right++] : scratch[left++];
	}
}

uint32_t bt_move_violating_first(uint32_t *order, uint32_t count, uint32_t *scratch,
	bool (*violates)(void *context, uint32_t index), void *context)
{
	uint32_t violating = 0;
	uint32_t others = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t index = order[i];

		if (violates(context, index)) {
			order[violating++] = index;
		} else {
			scratch[others++] = index;
		}
	}
	memcpy(&order[violating], scratch, others * sizeof(order[0]));
	return violating;
}

struct bt_status bt_no_victim_status(struct bt_str node_name, struct bt_arena *arena)
{
	struct bt_strbuf text = {0};

	bt_strbuf_append_c(&text, "expected at least one victim pod on node ");
	bt_strbuf_append_quoted(&text, node_name);
	struct bt_status status = bt_status_error_text(arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	return status;
}

/** Criteria for the best candidate: spec 08 section 10.2. */

static const struct bt_pod_record *victim_at(const struct bt_evaluator *evaluator,
	const struct bt_preemption_candidate *candidate, uint32_t index)
{
	return bt_state_pod_at(evaluator->handle->state, candidate->victims[index]);
}

static int64_t fewest_violations(BT_UNUSED const struct bt_evaluator *evaluator,
	const struct bt_preemption_candidate *candidate)
{
	return bt_wrap_sub(0, candidate->pdb_violations);
}

static int64_t lowest_first_victim(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate)
{
	return candidate->victim_count == 0
		? INT64_MAX
		: -(int64_t)victim_at(evaluator, candidate, 0)->priority;
}

/** 2^31 is added to each priority so that a longer list of victims always has a larger sum. */
static int64_t lowest_priority_sum(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate)
{
	int64_t sum = 0;

	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		sum += (int64_t)victim_at(evaluator, candidate, i)->priority + INT64_C(2147483648);
	}
	return -sum;
}

static int64_t fewest_victims(BT_UNUSED const struct bt_evaluator *evaluator,
	const struct bt_preemption_candidate *candidate)
{
	return -(int64_t)candidate->victim_count;
}

/**
 * Returns the earliest start among the victims of the highest priority. INT64_MAX: none of these
 * victims has started; INT64_MIN: there are no victims.
 */
static int64_t latest_start(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate)
{
	int64_t highest = INT64_MIN;
	int64_t earliest = INT64_MIN;

	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		const struct bt_pod_record *victim = victim_at(evaluator, candidate, i);
		int64_t start =
			victim->start_seconds == INT64_MIN ? INT64_MAX : victim->start_seconds;

		if (victim->priority > highest) {
			highest = victim->priority;
			earliest = start;
		} else if (victim->priority == highest && start < earliest) {
			earliest = start;
		}
	}
	return earliest;
}

static int64_t (*const default_scores[])(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate) = {
	fewest_violations,
	lowest_first_victim,
	lowest_priority_sum,
	fewest_victims,
	latest_start,
};

static struct bt_str node_name(
	const struct bt_evaluator *evaluator, const struct bt_preemption_candidate *candidate)
{
	/* libberth-compat passes on candidates of its caller, whose nodes may be unknown. */
	return candidate->slot != BT_SLOT_NONE
		? bt_node_table_name(&evaluator->handle->state->nodes, candidate->slot)
		: BT_STR("");
}

/**
 * Select one of the equally good candidates and move this candidate to the front of choices. If the
 * preferred node is a candidate, select the preferred node. Otherwise, if the handle takes the
 * first node by name (in replays), select the first candidate by name, or the last candidate by
 * name if the victims have not started: upstream then uses the current time as their start, and
 * reads a later time for a later node. Otherwise keep the order.
 */
static void keep_preferred(const struct bt_evaluator *evaluator,
	const struct bt_preemption_decision *decision, uint32_t *choices, uint32_t count)
{
	const struct bt_handle *handle = evaluator->handle;
	uint32_t first = 0;

	for (uint32_t i = 0; i < count; i++) {
		struct bt_str name = node_name(evaluator, &decision->candidates[choices[i]]);
		int order = bt_str_compare(
			name, node_name(evaluator, &decision->candidates[choices[first]]));

		if (handle->preferred_node.length != 0 &&
			bt_str_equal(name, handle->preferred_node)) {
			first = i;
			break;
		}
		if (handle->takes_first_by_name) {
			bool unstarted = latest_start(evaluator,
						 &decision->candidates[choices[i]]) == INT64_MAX;
			first = (unstarted ? order > 0 : order < 0) ? i : first;
		}
	}
	if (count != 0) {
		uint32_t choice = choices[first];
		choices[first] = choices[0];
		choices[0] = choice;
	}
}

void bt_pick_one_node_for_preemption(const struct bt_evaluator *evaluator, struct bt_arena *arena,
	struct bt_preemption_decision *decision)
{
	const struct bt_preemption_hooks *hooks = &evaluator->hooks;
	bool is_default = hooks->ordered_score_count == 0;
	uint32_t score_count =
		is_default ? BT_ARRAY_LENGTH(default_scores) : hooks->ordered_score_count;
	uint32_t count = decision->candidate_count;
	uint32_t *choices = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);

	for (uint32_t i = 0; i < count; i++) {
		choices[i] = i;
	}
	for (uint32_t i = 0; i < score_count && count > 1; i++) {
		/* Keep the candidates with the highest score. */
		int64_t best = INT64_MIN;
		uint32_t kept = 0;

		for (uint32_t k = 0; k < count; k++) {
			const struct bt_preemption_candidate *candidate =
				&decision->candidates[choices[k]];
			int64_t value = is_default
				? default_scores[i](evaluator, candidate)
				: hooks->ordered_score(hooks->context, i, candidate);

			if (value > best) {
				best = value;
				kept = 0;
			}
			if (value == best) {
				choices[kept++] = choices[k];
			}
		}
		count = kept;
	}
	if (is_default) {
		keep_preferred(evaluator, decision, choices, count);
	}
	decision->choices = choices;
	decision->choice_count = count;
	decision->selected = count != 0 ? choices[0] : UINT32_MAX;
}

/** --- extenders in preemption: spec 08 section 10 --- */

struct candidates {
	struct bt_preemption_candidate *items;
	uint32_t count;
};

static void report_ignored(
	const struct bt_preemption_extender *extender, const char *line, struct bt_str text)
{
	if (extender->ignored != NULL) {
		extender->ignored(extender->context, line, 2, text);
	}
}

static int call_extender(const struct bt_state *state,
	const struct bt_preemption_extender *extender, const struct bt_pod_info *pod,
	const struct candidates *candidates, struct bt_arena *arena, struct candidates *out_answer,
	struct berth_error *err)
{
	struct bt_node_victims *items =
		BT_ARENA_NEW_ARRAY(arena, struct bt_node_victims, candidates->count);

	for (uint32_t i = 0; i < candidates->count; i++) {
		const struct bt_preemption_candidate *candidate = &candidates->items[i];
		struct bt_str *uids =
			BT_ARENA_NEW_ARRAY(arena, struct bt_str, candidate->victim_count);

		for (uint32_t v = 0; v < candidate->victim_count; v++) {
			uids[v] = bt_pod_record_uid(bt_state_pod_at(state, candidate->victims[v]));
		}
		items[i] = (struct bt_node_victims){
			.node_name = bt_node_table_name(&state->nodes, candidate->slot),
			.victim_uids = uids,
			.victim_count = candidate->victim_count,
			.pdb_violations = candidate->pdb_violations,
		};
	}
	struct bt_node_victims_list asked = (struct bt_node_victims_list){items, candidates->count};
	struct bt_node_victims_list answer = {0};
	int result = extender->process(extender->context, pod, &asked, arena, &answer, err);

	if (result < 0) {
		return result;
	}
	out_answer->count = 0;
	out_answer->items = BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_candidate, answer.count);
	for (uint32_t i = 0; i < answer.count; i++) {
		const struct bt_node_victims *of_node = &answer.items[i];
		uint32_t slot = bt_state_snapshot_find(state, of_node->node_name);
		uint32_t *victims = BT_ARENA_NEW_ARRAY(arena, uint32_t, of_node->victim_count);

		if (slot == BT_SLOT_NONE) {
			return bt_error_set_quoted(err, BERTH_ERR_NOT_FOUND,
				"nodeinfo not found for node name ", of_node->node_name, "");
		}
		for (uint32_t v = 0; v < of_node->victim_count; v++) {
			struct bt_str uid = of_node->victim_uids[v];

			victims[v] = bt_state_find_pod(state, uid);
			if (victims[v] == BT_POD_NONE ||
				bt_state_pod_at(state, victims[v])->node != slot) {
				return bt_error_set(err, BERTH_ERR_NOT_FOUND,
					"extender: %.*s claims to preempt pod (UID: &{%.*s}) on "
					"node: "
					"%.*s, but the pod is not found on that node",
					BT_STR_ARG(extender->config->url_prefix), BT_STR_ARG(uid),
					BT_STR_ARG(of_node->node_name));
			}
		}
		out_answer->items[out_answer->count++] = (struct bt_preemption_candidate){
			slot, of_node->victim_count, victims, of_node->pdb_violations};
	}
	return 0;
}

struct bt_status bt_call_extenders(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, struct bt_arena *arena,
	struct bt_preemption_candidate **candidates, uint32_t *count)
{
	const struct bt_handle *handle = evaluator->handle;
	struct candidates current = {*candidates, *count};

	for (uint32_t i = 0; i < handle->preemption_extender_count && current.count != 0; i++) {
		const struct bt_preemption_extender *extender = &handle->preemption_extenders[i];
		struct berth_error err = BERTH_ERROR_INIT;
		struct candidates answer = {0};

		if (!(extender->config->preempt_verb.length != 0 &&
			    bt_extender_is_interested(extender->config, pod))) {
			continue;
		}
		if (call_extender(handle->state, extender, pod, &current, arena, &answer, &err) <
			0) {
			if (!extender->config->ignorable) {
				return bt_status_from_error(arena, &err);
			}
			report_ignored(extender,
				"Skipped extender as it returned error and has ignorable flag set",
				bt_str_from(berth_error_message(&err)));
			berth_error_finish(&err);
			continue;
		}
		/*
		 * A node without victims is dropped if the extender is ignorable, and is an error
		 * otherwise.
		 */
		uint32_t kept = 0;
		for (uint32_t k = 0; k < answer.count; k++) {
			uint32_t slot = answer.items[k].slot;

			if (answer.items[k].victim_count != 0) {
				answer.items[kept++] = answer.items[k];
			} else if (extender->config->ignorable) {
				report_ignored(extender,
					"Ignored node for which the extender didn't report victims",
					bt_node_table_name(&handle->state->nodes, slot));
			} else {
				return bt_no_victim_status(
					bt_node_table_name(&handle->state->nodes, slot), arena);
			}
		}
		current = (struct candidates){answer.items, kept};
	}
	*candidates = current.items;
	*count = current.count;
	return BT_STATUS_OK;
}

void bt_evaluator_init(struct bt_evaluator *evaluator, const struct bt_handle *handle,
	const struct bt_default_preemption_args *args, const char *plugin_name)
{
	*evaluator = (struct bt_evaluator){
		.handle = handle,
		.min_candidates_percentage = args->min_candidate_nodes_percentage.value,
		.min_candidates_absolute = args->min_candidate_nodes_absolute.value,
		.executor = {.handle = handle, .plugin_name = bt_str_from(plugin_name)},
	};
}

void bt_evaluator_finish(struct bt_evaluator *evaluator)
{
	bt_preemption_executor_finish(&evaluator->executor);
	bt_budgets_finish(&evaluator->budgets);
	bt_vec_finish(&evaluator->statuses.entries);
	bt_vec_finish(&evaluator->potential);
	bt_vec_finish(&evaluator->removable);
	bt_vec_finish(&evaluator->order);
	bt_vec_finish(&evaluator->lowest.by_slot);
	bt_vec_finish(&evaluator->lowest.by_block);
	for (uint32_t i = 0; i < BT_DRY_RUN_MEMOS; i++) {
		struct bt_dry_run_memo *memo = &evaluator->memos.items[i];

		bt_vec_finish(&memo->notes);
		bt_vec_finish(&memo->victims);
		bt_vec_finish(&memo->statuses);
		bt_arena_finish(&memo->arena);
	}
}

struct bt_status bt_pod_eligible_to_preempt_others(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses)
{
	const struct bt_state *state = evaluator->handle->state;

	if (bt_str_equal_c(bt_plugin_pod_spec(pod)->preemption_policy, "Never")) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NEVER);
	}
	if (pod->nominated_node_name.length == 0) {
		return BT_STATUS_OK;
	}
	uint32_t slot = bt_state_snapshot_find(state, pod->nominated_node_name);
	if (slot == BT_SLOT_NONE) {
		return BT_STATUS_OK;
	}
	struct bt_status nominated = bt_node_statuses_get(statuses, state, slot);
	if (nominated.code == BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE) {
		/*
		 * The pod cannot run on the nominated node even after evictions, so it may try
		 * another node now.
		 */
		return BT_STATUS_OK;
	}
	const struct bt_node_row *row = &state->nodes.rows[slot];
	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);
		struct bt_pod_info victim;

		if (!record->preempted || record->priority >= pod->priority) {
			continue;
		}
		bt_pod_info_from_record(state, row->pods.items[i], &victim);
		if (bt_evaluator_may_preempt(evaluator, slot, &victim, pod)) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_TERMINATING_VICTIM);
		}
	}
	return BT_STATUS_OK;
}

uint32_t bt_calculate_num_candidates(const struct bt_evaluator *evaluator, uint32_t node_count)
{
	int64_t enough = (int64_t)node_count * evaluator->min_candidates_percentage / 100;

	if (enough < evaluator->min_candidates_absolute) {
		enough = evaluator->min_candidates_absolute;
	}
	return enough < node_count ? (uint32_t)enough : node_count;
}

static struct bt_post_filter_result nominate(struct bt_str node_name)
{
	return (struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, node_name};
}

static struct bt_status preempt(struct bt_evaluator *evaluator, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *decision)
{
	struct bt_status status = bt_pod_eligible_to_preempt_others(evaluator, pod, statuses);
	const struct bt_state *state = evaluator->handle->state;
	struct bt_dry_run_result found = {0};
	uint64_t offset = 0;

	if (!bt_status_is_success(&status)) {
		return status;
	}
	if (state->snapshot.count == 0) {
		return bt_status_error_text(cycle->arena, BT_STR("no nodes available"));
	}
	uint32_t count = bt_node_statuses_count_for_code(statuses, BT_STATUS_UNSCHEDULABLE, state);
	evaluator->statuses.entries.count = 0;
	evaluator->statuses.groups = NULL;
	if (count != 0) {
		if (evaluator->handle->prng != NULL) {
			offset = bt_prng_below(evaluator->handle->prng, count);
		}
		bt_lowest_priorities_refresh(&evaluator->lowest, state);
		bool in_vain = bt_lowest_priority(&evaluator->lowest) >= pod->priority;
		if (!in_vain || evaluator->handle->verify) {
			bt_vec_reserve(&evaluator->potential,
				(uint64_t)state->snapshot.count + statuses->entries.count);
			(void)bt_node_statuses_nodes_for_code(statuses, BT_STATUS_UNSCHEDULABLE,
				state, evaluator->potential.items);
			found = bt_dry_run_preemption(evaluator, cycle, pod,
				evaluator->potential.items, count, (uint32_t)offset,
				bt_calculate_num_candidates(evaluator, count));
		}
		if (in_vain) {
			BT_ASSERT(found.count == 0 && found.error_text.data == NULL);
			BT_ASSERT(!evaluator->handle->verify ||
				evaluator->statuses.entries.count == count);
			/*
			 * No pod in the cluster has a lower priority, so all nodes get this status
			 * without a dry run.
			 */
			evaluator->no_victims =
				bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
					BT_REASON_NO_PREEMPTION_VICTIMS);
			evaluator->no_victims_count = count;
			evaluator->no_victims_group = (struct bt_status_groups){
				.count = 1,
				.statuses = &evaluator->no_victims,
				.sizes = &evaluator->no_victims_count,
			};
			evaluator->statuses.entries.count = 0;
			evaluator->statuses.groups = &evaluator->no_victims_group;
		}
	}
	if (found.count == 0 && found.error_text.data != NULL) {
		return bt_status_error_text(cycle->arena, found.error_text);
	}
	if (found.count == 0) {
		*out_result = nominate(BT_STR(""));
		/* Build "0/5 nodes are available: ..." from the statuses of the dry run. */
		uint32_t node_count = state->snapshot.count;
		struct bt_strbuf text = {0};

		evaluator->statuses.absent = bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_PREEMPTION_NOT_HELPFUL);
		bt_strbuf_printf(&text, "0/%u nodes are available:", node_count);
		bt_fit_error_append_reasons(&evaluator->statuses, node_count, &text);
		status =
			bt_status_text(BT_STATUS_UNSCHEDULABLE, cycle->arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		return status;
	}
	/* Continue with the candidates: extenders, selection, eviction. */
	status = bt_call_extenders(evaluator, pod, cycle->arena, &found.candidates, &found.count);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	decision->candidates = found.candidates;
	decision->candidate_count = found.count;
	bt_pick_one_node_for_preemption(evaluator, cycle->arena, decision);
	if (decision->selected == UINT32_MAX) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NO_CANDIDATE);
	}
	const struct bt_preemption_candidate *chosen = &decision->candidates[decision->selected];
	struct bt_str node_name = bt_node_table_name(&state->nodes, chosen->slot);
	status = bt_prepare_candidate_for_pod(&evaluator->executor, pod, node_name, chosen->victims,
		chosen->victim_count, cycle->arena);
	if (bt_status_is_success(&status)) {
		*out_result = nominate(bt_arena_str(cycle->arena, node_name));
	}
	return status;
}

struct bt_status bt_evaluator_preempt(struct bt_evaluator *evaluator, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *out_decision)
{
	const struct bt_pod_lister *pods = evaluator->handle->pods;
	struct bt_preemption_decision decision = {.selected = UINT32_MAX};
	const struct bt_pod *newest = pod->object;
	struct bt_status status;

	*out_result = (struct bt_post_filter_result){0};
	if (pods != NULL) {
		newest = pods->find(pods->context, pod->namespace_, pod->name);
		if (newest == NULL) {
			return bt_status_error_text(
				cycle->arena, bt_not_found_text(cycle->arena, "pod", pod->name));
		}
	}
	evaluator->may_recall = newest == pod->object;
	if (evaluator->may_recall) {
		status = preempt(evaluator, cycle, pod, statuses, out_result, &decision);
	} else {
		/*
		 * Use the newest version of the pod. The cycle was run for the queued version, so
		 * memos cannot be used.
		 */
		struct bt_pod_info info;

		bt_pod_info_init_pending(evaluator->handle->state, newest, &info);
		status = preempt(evaluator, cycle, &info, statuses, out_result, &decision);
		bt_pod_info_finish_pending(evaluator->handle->state, &info);
	}
	if (out_decision != NULL) {
		*out_decision = decision;
	}
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_evaluator.h"

#include "api/identity.h"
#include "base/prng.h"
#include "framework/fit_error.h"
#include "framework/node_statuses.h"
#include "framework/pod_lister.h"
#include "plugins/common_plugin.h"

void bt_evaluator_init(struct bt_evaluator *evaluator, const struct bt_handle *handle,
	const struct bt_default_preemption_args *args, const char *plugin_name)
{
	*evaluator = (struct bt_evaluator){
		.handle = handle,
		.min_candidates_percentage = args->min_candidate_nodes_percentage.value,
		.min_candidates_absolute = args->min_candidate_nodes_absolute.value,
	};
	bt_preemption_executor_init(&evaluator->executor, handle, plugin_name);
}

void bt_evaluator_finish(struct bt_evaluator *evaluator)
{
	bt_preemption_executor_finish(&evaluator->executor);
	bt_budgets_finish(&evaluator->budgets);
	bt_vec_finish(&evaluator->statuses.entries);
	bt_vec_finish(&evaluator->potential);
	bt_vec_finish(&evaluator->removable);
	bt_vec_finish(&evaluator->order);
	bt_lowest_priorities_finish(&evaluator->lowest);
	bt_dry_run_memos_finish(&evaluator->memos);
}

/** --- eligibility --- */

static bool has_terminating_victim(
	const struct bt_evaluator *evaluator, const struct bt_pod_info *pod, uint32_t slot)
{
	const struct bt_state *state = evaluator->handle->state;
	const struct bt_node_row *row = &state->nodes.rows[slot];

	for (uint32_t i = 0; i < row->pods.count; i++) {
		const struct bt_pod_record *record = bt_state_pod_at(state, row->pods.items[i]);
		struct bt_pod_info victim;

		if (!record->preempted || record->priority >= pod->priority) {
			continue;
		}
		bt_pod_info_from_record(state, row->pods.items[i], &victim);
		if (bt_evaluator_may_preempt(evaluator, slot, &victim, pod)) {
			return true;
		}
	}
	return false;
}

struct bt_status bt_evaluator_check_eligible(const struct bt_evaluator *evaluator,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses)
{
	struct bt_status nominated = statuses->absent;
	uint32_t slot;

	if (bt_str_equal_c(bt_plugin_pod_spec(pod)->preemption_policy, "Never")) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NEVER);
	}
	if (pod->nominated_node_name.length == 0) {
		return BT_STATUS_OK;
	}
	slot = bt_state_snapshot_find(evaluator->handle->state, pod->nominated_node_name);
	if (slot != BT_SLOT_NONE) {
		nominated = bt_node_statuses_get(statuses, evaluator->handle->state, slot);
	}
	/* The nominated node turned hopeless: another one may be emptied at once. */
	if (nominated.code != BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE && slot != BT_SLOT_NONE &&
		has_terminating_victim(evaluator, pod, slot)) {
		return bt_status_reason(
			BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_TERMINATING_VICTIM);
	}
	return BT_STATUS_OK;
}

/** --- candidates --- */

uint32_t bt_evaluator_candidate_limit(const struct bt_evaluator *evaluator, uint32_t node_count)
{
	int64_t enough = (int64_t)node_count * evaluator->min_candidates_percentage / 100;

	if (enough < evaluator->min_candidates_absolute) {
		enough = evaluator->min_candidates_absolute;
	}
	return enough < node_count ? (uint32_t)enough : node_count;
}

static struct bt_dry_run_result find_candidates(struct bt_evaluator *evaluator,
	struct bt_cycle_state *cycle, const struct bt_pod_info *pod,
	const struct bt_node_statuses *statuses)
{
	const struct bt_state *state = evaluator->handle->state;
	struct bt_dry_run_result found = {0};
	uint64_t offset = 0;
	uint32_t count = bt_node_statuses_count_for_code(statuses, BT_STATUS_UNSCHEDULABLE, state);
	bool in_vain;

	evaluator->statuses.entries.count = 0;
	evaluator->statuses.groups = NULL;
	if (count == 0) {
		return found;
	}
	if (evaluator->handle->prng != NULL) {
		offset = bt_prng_below(evaluator->handle->prng, count);
	}
	bt_lowest_priorities_refresh(&evaluator->lowest, state);
	in_vain = bt_lowest_priority(&evaluator->lowest) >= pod->priority;
	if (!in_vain || evaluator->handle->verify) {
		bt_vec_reserve(&evaluator->potential,
			(uint64_t)state->snapshot.count + statuses->entries.count);
		(void)bt_node_statuses_nodes_for_code(
			statuses, BT_STATUS_UNSCHEDULABLE, state, evaluator->potential.items);
		found = bt_evaluator_dry_run(evaluator, cycle, pod, evaluator->potential.items,
			count, (uint32_t)offset, bt_evaluator_candidate_limit(evaluator, count));
	}
	if (in_vain) {
		BT_ASSERT(found.count == 0 && found.error_text.data == NULL);
		BT_ASSERT(!evaluator->handle->verify || evaluator->statuses.entries.count == count);
		/* No pod anywhere is less important: each node says that it has no victims, without
		 * being asked.
		 */
		evaluator->no_victims = bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_NO_PREEMPTION_VICTIMS);
		evaluator->no_victims_count = count;
		evaluator->no_victims_group = (struct bt_status_groups){
			.count = 1,
			.statuses = &evaluator->no_victims,
			.sizes = &evaluator->no_victims_count,
		};
		evaluator->statuses.entries.count = 0;
		evaluator->statuses.groups = &evaluator->no_victims_group;
	}
	return found;
}

/** --- the attempt --- */

static struct bt_post_filter_result nominate(struct bt_str node_name)
{
	return (struct bt_post_filter_result){true, BT_NOMINATING_OVERRIDE, node_name};
}

/** From the candidates on: extenders, selection, removal of the victims. */
static struct bt_status choose_and_evict(struct bt_evaluator *evaluator, struct bt_arena *arena,
	const struct bt_pod_info *pod, struct bt_dry_run_result *found,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *decision)
{
	const struct bt_preemption_candidate *chosen;
	struct bt_status status = bt_evaluator_ask_extenders(
		evaluator, pod, arena, &found->candidates, &found->count);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	decision->candidates = found->candidates;
	decision->candidate_count = found->count;
	bt_evaluator_select(evaluator, arena, decision);
	if (decision->selected == UINT32_MAX) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NO_CANDIDATE);
	}
	chosen = &decision->candidates[decision->selected];
	status = bt_preemption_evict_for_pod(&evaluator->executor, pod,
		bt_node_table_name(&evaluator->handle->state->nodes, chosen->slot), chosen->victims,
		chosen->victim_count, arena);
	if (bt_status_is_success(&status)) {
		*out_result = nominate(bt_arena_str(
			arena, bt_node_table_name(&evaluator->handle->state->nodes, chosen->slot)));
	}
	return status;
}

static struct bt_status preempt(struct bt_evaluator *evaluator, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct bt_node_statuses *statuses,
	struct bt_post_filter_result *out_result, struct bt_preemption_decision *decision)
{
	struct bt_status status = bt_evaluator_check_eligible(evaluator, pod, statuses);
	struct bt_dry_run_result found;

	if (!bt_status_is_success(&status)) {
		return status;
	}
	if (evaluator->handle->state->snapshot.count == 0) {
		return bt_status_error_text(cycle->arena, BT_STR("no nodes available"));
	}
	found = find_candidates(evaluator, cycle, pod, statuses);
	if (found.count == 0 && found.error_text.data != NULL) {
		return bt_status_error_text(cycle->arena, found.error_text);
	}
	if (found.count == 0) {
		*out_result = nominate(BT_STR(""));
		/* "0/5 nodes are available: ..." about the dry run. */
		struct bt_arena *arena = cycle->arena;
		uint32_t node_count = evaluator->handle->state->snapshot.count;
		struct bt_strbuf text = {0};

		evaluator->statuses.absent = bt_status_reason(
			BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE, BT_REASON_PREEMPTION_NOT_HELPFUL);
		bt_strbuf_printf(&text, "0/%u nodes are available:", node_count);
		bt_fit_error_append_reasons(&evaluator->statuses, node_count, &text);
		status = bt_status_text(BT_STATUS_UNSCHEDULABLE, arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
		return status;
	}
	return choose_and_evict(evaluator, cycle->arena, pod, &found, out_result, decision);
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
			struct bt_strbuf text = {0};

			bt_strbuf_append_c(&text, "pod ");
			bt_strbuf_append_quoted(&text, pod->name);
			bt_strbuf_append_c(&text, " not found");
			status = bt_status_error_text(cycle->arena, bt_strbuf_str(&text));
			bt_strbuf_finish(&text);
			return status;
		}
	}
	evaluator->may_recall = newest == pod->object;
	if (evaluator->may_recall) {
		status = preempt(evaluator, cycle, pod, statuses, out_result, &decision);
	} else {
		/* From here on the newest version counts; the cycle still belongs to the queued
		 * one. */
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

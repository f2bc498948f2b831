/* SPDX-License-Identifier: Apache-2.0 */
/** The best candidate: spec 08 section 10.2. */
#include "plugins/common_plugin.h"
#include "plugins/preemption_evaluator.h"

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

/** 2^31 is added to each so that more victims always weigh more. */
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

/** Start of the earliest among the victims of highest priority; not started counts as now. */
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

static const bt_candidate_score default_scores[] = {
	fewest_violations,
	lowest_first_victim,
	lowest_priority_sum,
	fewest_victims,
	latest_start,
};

/** Keep the choices with the highest score. */
static void narrow(const struct bt_evaluator *evaluator, bt_candidate_score score,
	const struct bt_preemption_decision *decision, uint32_t *choices, uint32_t *count)
{
	int64_t best = INT64_MIN;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < *count; i++) {
		int64_t value = score(evaluator, &decision->candidates[choices[i]]);

		if (value > best) {
			best = value;
			kept = 0;
		}
		if (value == best) {
			choices[kept++] = choices[i];
		}
	}
	*count = kept;
}

/** The preferred node, if it is one of the choices, comes first. */
static void prefer(const struct bt_evaluator *evaluator,
	const struct bt_preemption_decision *decision, uint32_t *choices, uint32_t count)
{
	struct bt_str preferred = evaluator->handle->preferred_node;
	const struct bt_node_table *nodes = &evaluator->handle->state->nodes;

	for (uint32_t i = 1; preferred.length != 0 && i < count; i++) {
		uint32_t choice = choices[i];

		if (bt_str_equal(bt_node_table_name(nodes, decision->candidates[choice].slot),
			    preferred)) {
			choices[i] = choices[0];
			choices[0] = choice;
			return;
		}
	}
}

void bt_evaluator_select(const struct bt_evaluator *evaluator, struct bt_arena *arena,
	struct bt_preemption_decision *decision)
{
	const bt_candidate_score *scores = default_scores;
	uint32_t score_count = BT_ARRAY_LENGTH(default_scores);
	uint32_t count = decision->candidate_count;
	uint32_t *choices = BT_ARENA_NEW_ARRAY(arena, uint32_t, count);

	if (evaluator->hooks.ordered_score_count != 0) {
		scores = evaluator->hooks.ordered_scores;
		score_count = evaluator->hooks.ordered_score_count;
	}
	for (uint32_t i = 0; i < count; i++) {
		choices[i] = i;
	}
	for (uint32_t i = 0; i < score_count && count > 1; i++) {
		narrow(evaluator, scores[i], decision, choices, &count);
	}
	prefer(evaluator, decision, choices, count);
	decision->choices = choices;
	decision->choice_count = count;
	decision->selected = count != 0 ? choices[0] : UINT32_MAX;
}

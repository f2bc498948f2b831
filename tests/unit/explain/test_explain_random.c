/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Random clusters: groups add up to the message; each proposal, applied to a fresh cluster, makes
 * the pod schedulable, and no proper subset of the proposal's remedies does; an explanation does
 * not change later decisions.
 */
#include "base/error.h"
#include "random_plan.h"
#include "test_main.h"

#define SEED_COUNT BT_TEST_SEEDS(250)

/** --- groups --- */

static uint32_t count_in_message(struct bt_str message, struct bt_str reason, uint32_t count)
{
	struct bt_strbuf text = {0};
	bool found;

	bt_strbuf_printf(&text, " %u %.*s", count, BT_STR_ARG(reason));
	found = bt_str_find(message, bt_strbuf_str(&text)) >= 0;
	bt_strbuf_finish(&text);
	return found;
}

/** Counts the nodes with this reason over all groups. */
static uint32_t count_reason(const struct bt_explanation *explanation, struct bt_str reason)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];

		for (uint32_t k = 0; k < group->reasons.count; k++) {
			count += bt_str_equal(group->reasons.items[k], reason) ? group->nodes.count
									       : 0;
		}
	}
	return count;
}

static void expect_groups(const struct bt_explanation *explanation, uint64_t seed)
{
	uint32_t members = 0;

	for (uint32_t i = 0; i < explanation->groups.count; i++) {
		const struct bt_explained_group *group = &explanation->groups.items[i];

		members += group->nodes.count;
		for (uint32_t k = 0; k < group->reasons.count; k++) {
			struct bt_str reason = group->reasons.items[k];

			if (explanation->fate == BT_EXPLAINED_UNSCHEDULABLE &&
				!(group->in_pre_filter &&
					group->nodes.count == explanation->node_count) &&
				!count_in_message(explanation->message, reason,
					count_reason(explanation, reason))) {
				ck_abort_msg("seed %llu: %.*s: %.*s", (unsigned long long)seed,
					BT_STR_ARG(reason), BT_STR_ARG(explanation->message));
			}
		}
		for (uint32_t k = 0; k < group->nodes.count; k++) {
			const struct bt_explained_node *node =
				&explanation->nodes.items[group->nodes.items[k]];
			struct bt_strbuf reasons = {0};

			for (uint32_t r = 0; r < group->reasons.count; r++) {
				bt_strbuf_append_c(&reasons, r == 0 ? "" : ", ");
				bt_strbuf_append_str(&reasons, group->reasons.items[r]);
			}
			if (!group->in_pre_filter &&
				(!bt_str_equal(node->obstacles.items[0].plugin, group->plugin) ||
					!bt_str_equal(node->obstacles.items[0].reasons,
						bt_strbuf_str(&reasons)))) {
				ck_abort_msg("seed %llu: %.*s is in a wrong group",
					(unsigned long long)seed, BT_STR_ARG(node->name));
			}
			bt_strbuf_finish(&reasons);
		}
	}
	ck_assert_uint_eq(members + explanation->feasible_count, explanation->node_count);
}

/** --- proposals --- */

static void expect_minimal(struct town *town, const struct random_plan *plan,
	const struct bt_proposal *proposal, uint64_t seed)
{
	struct bt_remedy part[32];
	uint32_t count = proposal->remedies.count;

	for (uint32_t bits = 0; bits + 1 < 1U << count; bits++) {
		uint32_t part_count = 0;

		for (uint32_t i = 0; i < count; i++) {
			if ((bits >> i & 1) != 0) {
				part[part_count++] = proposal->remedies.items[i];
			}
		}
		if (random_plan_fits_after(plan, part, part_count)) {
			ck_abort_msg("seed %llu: %s: enough is %s", (unsigned long long)seed,
				town_remedies(town, proposal->remedies.items, count),
				town_remedies(town, part, part_count));
		}
	}
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t k = 0; k < count; k++) {
			part[k] = proposal->remedies.items[k];
		}
		if (!bt_remedy_has_least_amount(part[i].kind)) {
			continue;
		}
		part[i].amount--;
		if (random_plan_fits_after(plan, part, count)) {
			ck_abort_msg("seed %llu: less is enough: %s", (unsigned long long)seed,
				town_remedies(town, part, count));
		}
	}
}

static void expect_proposals(struct town *town, const struct random_plan *plan,
	const struct bt_pod *pod, const struct bt_explanation *explanation, uint64_t seed)
{
	for (uint32_t i = 0; i < explanation->proposals.count; i++) {
		const struct bt_proposal *proposal = &explanation->proposals.items[i];
		const char *words =
			town_remedies(town, proposal->remedies.items, proposal->remedies.count);
		struct bt_scan scan = town_try(town, pod, proposal->remedies.items,
			proposal->remedies.count, proposal->node);

		ck_assert_msg(scan.slot_fits && scan.feasible_count == proposal->opened_count,
			"seed %llu: %s", (unsigned long long)seed, words);
		ck_assert_msg(random_plan_fits_after(
				      plan, proposal->remedies.items, proposal->remedies.count),
			"seed %llu: %s", (unsigned long long)seed, words);
		if (proposal->remedies.count <= 5) {
			expect_minimal(town, plan, proposal, seed);
		}
	}
}

/** --- before and after --- */

/** Returns the scheduler's decision about the other pod and restores the engine's random state. */
static const char *decide(struct town *town, const struct random_plan *plan)
{
	struct bt_engine *engine = town->world.engine;
	struct bt_schedule_result result;
	uint32_t start = engine->next_start_node_index;
	struct bt_prng prng = engine->prng;
	const struct bt_pod_info *pod = world_pending(&town->world, plan->next);
	const char *said;

	bt_engine_schedule(engine, town->world.framework, pod, NULL, &result);
	engine->next_start_node_index = start;
	engine->prng = prng;
	said = bt_arena_printf(&town->world.arena, "%d %s %lld %u %u %s", (int)result.outcome,
		world_chosen(&town->world, &result), (long long)result.total_score,
		result.feasible_count, result.evaluated_count, world_message(&town->world, &result))
		       .data;
	return said;
}

START_TEST(test_explain_random__tried_minimal_and_without_a_trace)
{
	uint32_t proposal_count = 0;
	uint32_t fates[BT_EXPLAINED_ERROR + 1] = {0};

	for (uint64_t seed = 1; seed <= SEED_COUNT; seed++) {
		struct bt_explanation explanation;
		struct random_plan plan;
		struct town town;
		struct bt_pod *pod;
		const char *before;

		random_plan_init(&plan, seed, RANDOM_PLAN_NODES_MAX, RANDOM_PLAN_PODS_MAX);
		random_plan_build(&plan, &town);
		pod = town_pod(&town, plan.pending);
		before = decide(&town, &plan);
		town_explain(&town, pod, 4, &explanation);
		ck_assert_str_eq(decide(&town, &plan), before);
		expect_groups(&explanation, seed);
		expect_proposals(&town, &plan, pod, &explanation, seed);
		ck_assert_str_eq(decide(&town, &plan), before);
		proposal_count += explanation.proposals.count;
		fates[explanation.fate]++;
		bt_explanation_finish(&explanation);
		town_finish(&town);
		random_plan_finish(&plan);
	}
	(void)printf("%d clusters: %u proposals, %u fit, %u unschedulable, %u gated, %u not "
		     "handled\n",
		SEED_COUNT, proposal_count, fates[BT_EXPLAINED_FITS],
		fates[BT_EXPLAINED_UNSCHEDULABLE], fates[BT_EXPLAINED_GATED],
		fates[BT_EXPLAINED_NOT_HANDLED]);
	ck_assert_uint_gt(proposal_count, SEED_COUNT / 2);
}
END_TEST

BT_TEST_MAIN("explain_random", test_explain_random__tried_minimal_and_without_a_trace)

/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Compares whole cycles with a naive model written from spec 03 sections 3.3 to 3.5, 5 and 7:
 * scripted filters and scores in every form, rotation, percentage, ties, nodes added and removed.
 */
#include <inttypes.h>

#include "base/alloc.h"
#include "base/prng.h"
#include "sched_world.h"
#include "test_main.h"

#define NODES_MAX 260
#define ROUND_COUNT 150
#define CYCLES_PER_ROUND 25

enum { PLUGIN_COUNT = 5, FILTER_COUNT = 3 };

struct model_round {
	struct bt_prng prng;
	struct script scripts[PLUGIN_COUNT]; /* three filters, two scores */
	uint64_t weights[PLUGIN_COUNT];
	struct world world;
	int32_t percentage;
	uint32_t start_index;
	uint32_t next_node;
	const char *what; /* for messages */
};

static uint64_t mix(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	uint64_t hash = bt_str_hash(bt_node_table_name(&state->nodes, slot));

	hash = bt_hash_u64(hash, (uint64_t)state->nodes.pod_count[slot]);
	return bt_hash_u64(hash, script->seed);
}

/* Rejects nodes at random; the seed's low bits set the share of rejected nodes. */
static uint32_t verdict_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	uint64_t hash = mix(script, state, slot);

	return (hash & 15) < (script->seed & 15) ? 1 + (uint32_t)(hash >> 32 & 3) : 0;
}

static int64_t score_of(const struct script *script, const struct bt_state *state, uint32_t slot)
{
	return (int64_t)(mix(script, state, slot) % (1 + (script->seed & 7)));
}

/* --- the model --- */

struct model_answer {
	uint32_t feasible[NODES_MAX];
	uint32_t feasible_count;
	uint32_t rejected_count;
	int64_t totals[NODES_MAX];
	uint32_t slot;
};

static uint32_t enough(const struct model_round *round, uint32_t count)
{
	int32_t percent = round->percentage;
	int32_t wanted;

	if (percent < 0 || count < 100) {
		return count;
	}
	if (percent == 0) {
		percent = 50 - (int32_t)count / 125 > 5 ? 50 - (int32_t)count / 125 : 5;
	}
	wanted = (int32_t)count * percent / 100;
	return wanted < 100 ? 100 : (uint32_t)wanted;
}

static bool fits(struct model_round *round, uint32_t slot)
{
	for (uint32_t i = 0; i < FILTER_COUNT; i++) {
		if (verdict_of(&round->scripts[i], round->world.engine->state, slot) != 0) {
			return false;
		}
	}
	return true;
}

static void search(struct model_round *round, struct model_answer *answer)
{
	const struct bt_snapshot *snapshot = &round->world.engine->state->snapshot;
	uint32_t limit = enough(round, snapshot->count);

	for (uint32_t i = 0; i < snapshot->count; i++) {
		uint32_t slot =
			bt_snapshot_list(snapshot)[(round->start_index + i) % snapshot->count];

		if (!fits(round, slot)) {
			answer->rejected_count++;
		} else if (answer->feasible_count == limit) {
			break;
		} else {
			answer->feasible[answer->feasible_count++] = slot;
		}
	}
	round->start_index =
		(round->start_index + answer->feasible_count + answer->rejected_count) %
		snapshot->count;
}

static int64_t normalized(const struct script *script, int64_t score, int64_t max)
{
	switch (script->fake.ops.normalize) {
	case BT_NORMALIZE_NONE:
		return score;
	case BT_NORMALIZE_DEFAULT:
		return max == 0 ? score : 100 * score / max;
	case BT_NORMALIZE_DEFAULT_REVERSE:
		return max == 0 ? 100 : 100 - 100 * score / max;
	case BT_NORMALIZE_CUSTOM:
		return 100 - score;
	}
	return 0;
}

static void score(struct model_round *round, struct model_answer *answer)
{
	const struct bt_state *state = round->world.engine->state;

	for (uint32_t p = FILTER_COUNT; p < PLUGIN_COUNT; p++) {
		const struct script *script = &round->scripts[p];
		int64_t max = 0;

		for (uint32_t i = 0; i < answer->feasible_count; i++) {
			int64_t value = score_of(script, state, answer->feasible[i]);

			max = value > max ? value : max;
		}
		for (uint32_t i = 0; i < answer->feasible_count; i++) {
			int64_t value = score_of(script, state, answer->feasible[i]);

			answer->totals[i] +=
				(int64_t)round->weights[p] * normalized(script, value, max);
		}
	}
}

/* Sifts down in the heap of spec 03 section 7; items are positions in the feasible list. */
static void sift(const int64_t *totals, uint32_t *heap, uint32_t i, uint32_t n)
{
	for (uint32_t j = 2 * i + 1; j < n; j = 2 * i + 1) {
		uint32_t item = heap[i];

		if (j + 1 < n && totals[heap[j + 1]] > totals[heap[j]]) {
			j++;
		}
		if (totals[heap[j]] <= totals[heap[i]]) {
			return;
		}
		heap[i] = heap[j];
		heap[j] = item;
		i = j;
	}
}

static uint32_t top(const int64_t *totals, uint32_t count)
{
	uint32_t heap[NODES_MAX];

	for (uint32_t i = 0; i < count; i++) {
		heap[i] = i;
	}
	for (uint32_t i = count / 2; i > 0; i--) {
		sift(totals, heap, i - 1, count);
	}
	return heap[0];
}

/* --- rounds --- */

static void check_choice(struct model_round *round, const struct model_answer *answer,
	const struct bt_schedule_result *result)
{
	uint32_t best = top(answer->totals, answer->feasible_count);
	const struct bt_node_table *nodes = &round->world.engine->state->nodes;
	int64_t total = 0;
	bool found = false;

	for (uint32_t i = 0; i < answer->feasible_count; i++) {
		if (answer->feasible[i] == result->slot) {
			found = true;
			total = answer->totals[i];
		}
	}
	if (!found || total != answer->totals[best] ||
		(answer->feasible_count > 1 && total != result->total_score)) {
		ck_abort_msg("%s: not the best node", round->what);
	}
	switch (round->world.engine->options.tie_policy) {
	case BT_TIE_HEAP:
		if (result->slot != answer->feasible[best]) {
			ck_abort_msg("%s: not the top of the heap", round->what);
		}
		break;
	case BT_TIE_FIRST_BY_NAME:
		for (uint32_t i = 0; i < answer->feasible_count; i++) {
			if (answer->totals[i] == total &&
				bt_str_compare(bt_node_table_name(nodes, answer->feasible[i]),
					bt_node_table_name(nodes, result->slot)) < 0) {
				ck_abort_msg("%s: not the first by name", round->what);
			}
		}
		break;
	case BT_TIE_RANDOM:
		break;
	}
}

static void run_cycle(struct model_round *round)
{
	static const char *const shapes[] = {"{}", "{'spec':{'priority':1}}",
		"{'spec':{'priority':2}}", "{'spec':{'priority':3}}"};
	struct model_answer answer = {0};
	const struct bt_pod_info *pod =
		world_pending(&round->world, shapes[bt_prng_below(&round->prng, 4)]);
	struct bt_schedule_result result = world_schedule_pod(&round->world, pod);

	search(round, &answer);
	if (round->world.engine->next_start_node_index != round->start_index) {
		ck_abort_msg("%s: start index %u instead of %u", round->what,
			round->world.engine->next_start_node_index, round->start_index);
	}
	if (result.evaluated_count != answer.feasible_count + answer.rejected_count) {
		ck_abort_msg("%s: %u evaluated instead of %u", round->what, result.evaluated_count,
			answer.feasible_count + answer.rejected_count);
	}
	if (answer.feasible_count == 0) {
		ck_assert_int_eq(result.outcome, BT_OUTCOME_FIT_ERROR);
		return;
	}
	ck_assert_int_eq(result.outcome, BT_OUTCOME_SCHEDULED);
	ck_assert_uint_eq(result.feasible_count, answer.feasible_count);
	if (answer.feasible_count > 1) {
		score(round, &answer);
	}
	check_choice(round, &answer, &result);
	if (bt_prng_below(&round->prng, 2) == 0) {
		ck_assert(bt_engine_place(round->world.engine, pod, &result));
	}
}

static void change_nodes(struct model_round *round)
{
	const struct bt_snapshot *snapshot = &round->world.engine->state->snapshot;
	uint64_t what = bt_prng_below(&round->prng, 8);

	if (what == 0 && snapshot->count < NODES_MAX) {
		world_add_nodes(&round->world, round->next_node++, 1);
	} else if (what == 1 && snapshot->count > 1) {
		uint32_t slot =
			bt_snapshot_list(snapshot)[bt_prng_below(&round->prng, snapshot->count)];
		struct bt_str name = bt_node_table_name(&round->world.engine->state->nodes, slot);

		world_remove_node(&round->world, bt_arena_str(&round->world.arena, name).data);
	}
	ck_assert_int_eq(bt_state_refresh_snapshot(round->world.engine->state, NULL), 0);
}

static void make_scripts(struct model_round *round)
{
	static const char *const names[PLUGIN_COUNT] = {"F", "G", "H", "S", "T"};
	static const enum bt_normalize_kind kinds[] = {
		BT_NORMALIZE_NONE, BT_NORMALIZE_DEFAULT, BT_NORMALIZE_DEFAULT_REVERSE};

	for (uint32_t i = 0; i < PLUGIN_COUNT; i++) {
		enum script_form form = (enum script_form)bt_prng_below(&round->prng, 3);
		struct script *script = &round->scripts[i];

		*script = script_make(names[i],
			i < FILTER_COUNT ? FAKE_ROLE(FAKE_FILTER) : FAKE_ROLE(FAKE_SCORE), form);
		script->seed = bt_prng_next(&round->prng);
		script->verdict_of = verdict_of;
		script->score_of = score_of;
		round->weights[i] = 1 + bt_prng_below(&round->prng, 3);
		if (form != SCRIPT_CYCLE_COLUMN) {
			script->fake.ops.normalize = kinds[bt_prng_below(&round->prng, 3)];
		} else if (bt_prng_below(&round->prng, 2) == 0) {
			script->fake.ops.normalize = kinds[bt_prng_below(&round->prng, 3)];
		}
		/*
		 * With probability 3/4 a filter rejects at most 3 of 16 nodes, so that some nodes
		 * are left.
		 */
		if (i < FILTER_COUNT && bt_prng_below(&round->prng, 4) != 0) {
			script->seed &= ~UINT64_C(12);
		}
	}
}

static void run_round(struct model_round *round, uint64_t seed, bool verify)
{
	static const int32_t percentages[] = {-1, -1, 0, 10, 50, 70, 100};
	struct bt_engine_options options = {.verify = verify, .seed = seed};
	char config[64];
	char what[160];

	*round = (struct model_round){.what = what};
	bt_prng_init(&round->prng, seed);
	make_scripts(round);
	options.tie_policy = (enum bt_tie_policy)bt_prng_below(&round->prng, 3);
	round->percentage = percentages[bt_prng_below(&round->prng, 7)];
	options.percentage_of_nodes_to_score = round->percentage;
	(void)snprintf(what, sizeof(what), "seed %" PRIu64 ", %d %%, policy %d", seed,
		(int)round->percentage, (int)options.tie_policy);
	(void)snprintf(config, sizeof(config), "F,G,H,S:%u,T:%u", (unsigned int)round->weights[3],
		(unsigned int)round->weights[4]);
	world_init(&round->world, config, &options,
		(struct script *[]){&round->scripts[0], &round->scripts[1], &round->scripts[2],
			&round->scripts[3], &round->scripts[4]},
		PLUGIN_COUNT);
	round->next_node = 1 + (uint32_t)bt_prng_below(&round->prng, 240);
	world_add_nodes(&round->world, 0, round->next_node);
	for (int cycle = 0; cycle < CYCLES_PER_ROUND; cycle++) {
		run_cycle(round);
		change_nodes(round);
	}
	world_finish(&round->world);
}

START_TEST(test_search_model__cycles)
{
	struct model_round *round = BT_NEW(struct model_round);

	for (uint64_t seed = 1; seed <= ROUND_COUNT; seed++) {
		run_round(round, seed, false);
	}
	bt_free(round);
}
END_TEST

START_TEST(test_search_model__cycles_verified)
{
	struct model_round *round = BT_NEW(struct model_round);

	for (uint64_t seed = 1001; seed <= 1000 + ROUND_COUNT / 2; seed++) {
		run_round(round, seed, true);
	}
	bt_free(round);
}
END_TEST

BT_TEST_MAIN("search_model", test_search_model__cycles, test_search_model__cycles_verified)

/* SPDX-License-Identifier: Apache-2.0 */
/** Decisions by the tree of a plan's cells: no node is visited. */
#include "sched/cycle_cells.h"

/** The cells that have nodes of the plan, with its verdicts. */
static struct bt_asked_cells list_cells(const struct bt_cycle_run *run, struct bt_cells *tree)
{
	const uint32_t *list = run->engine->state->snapshot.list;
	uint32_t count = bt_cells_count(tree);
	struct bt_asked_cells asked = bt_asked_cells_make(run->cycle->arena, count);
	for (uint32_t cell = 0; cell < count; cell++) {
		uint32_t size = bt_cells_size(tree, cell);
		uint32_t verdict = bt_plan_cells_verdict(tree, cell);
		if (size != 0 && verdict != BT_VERDICT_TAKEN_OUT) {
			bt_asked_cells_add(
				&asked, cell, list[bt_cells_member(tree, cell)], size, verdict);
		}
	}
	return asked;
}

static uint32_t choose_by_name(
	const struct bt_engine *engine, struct bt_cells *tree, const struct bt_cells_choice *choice)
{
	const struct bt_node_table *nodes = &engine->state->nodes;
	const uint32_t *list = engine->state->snapshot.list;
	uint32_t first = bt_cells_next_tie(tree, choice, 0);
	uint32_t next = bt_cells_next_tie(tree, choice, first + 1);
	while (next != BT_POSITION_NONE) {
		if (bt_str_compare(bt_node_table_name(nodes, list[next]),
			    bt_node_table_name(nodes, list[first])) < 0) {
			first = next;
		}
		next = bt_cells_next_tie(tree, choice, next + 1);
	}
	return first;
}

static uint32_t choose(
	struct bt_engine *engine, struct bt_cells *tree, const struct bt_cells_choice *choice)
{
	switch (engine->options.tie_policy) {
	case BT_TIE_HEAP:
		break;
	case BT_TIE_FIRST_BY_NAME:
		return choose_by_name(engine, tree, choice);
	case BT_TIE_RANDOM:
		return bt_cells_nth_tie(tree, choice,
			bt_prng_below(&engine->prng, bt_cells_tie_count(tree, choice)));
	}
	return bt_cells_choose_by_heap(tree, choice);
}

/** What a list would have shown: the feasible nodes in search order. */
static void rank(struct bt_cycle_run *run, const struct bt_cells *tree,
	const struct bt_asked_cells *asked, const int64_t *scores, uint32_t node_count)
{
	struct bt_arena *arena = run->cycle->arena;
	const struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	const uint16_t *cell_of = bt_cells_by_position(tree);
	uint32_t *ranked = BT_ARENA_NEW_ARRAY(arena, uint32_t, node_count);
	int64_t *totals = BT_ARENA_NEW_ARRAY(arena, int64_t, node_count);
	const int64_t **score_of = BT_ARENA_NEW_ARRAY(arena, const int64_t *, bt_cells_count(tree));
	for (uint32_t i = 0; i < asked->count; i++) {
		score_of[asked->cells[i]] = &scores[i];
	}
	uint32_t position = run->start_index;
	uint32_t count = 0;
	for (uint32_t i = 0; i < snapshot->count; i++) {
		if (score_of[cell_of[position]] != NULL) {
			ranked[count] = snapshot->list[position];
			totals[count++] =
				*score_of[cell_of[position]] + bt_cells_local_of(tree, position);
		}
		position = position + 1 == snapshot->count ? 0 : position + 1;
	}
	run->ranked = ranked;
	run->totals = totals;
	run->ranked_count = count;
}

static void take_best(struct bt_cycle_run *run, struct bt_cells *tree,
	const struct bt_asked_cells *asked, uint32_t node_count)
{
	const struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	int64_t *scores = bt_score_cells(run, asked, node_count);
	if (scores == NULL) {
		return;
	}
	bt_cycle_add_normalized(run->plan, asked->slots, asked->count, scores);
	int64_t best_total = INT64_MIN;
	uint32_t *best = bt_arena_alloc(run->cycle->arena, asked->count * sizeof(*best));
	uint32_t best_count = 0;
	for (uint32_t i = 0; i < asked->count; i++) {
		int64_t total = scores[i] + bt_cells_best(tree, asked->cells[i]);
		if (total > best_total) {
			best_total = total;
			best_count = 0;
		}
		if (total == best_total) {
			best[best_count++] = asked->cells[i];
		}
	}
	struct bt_cells_choice choice = {
		.feasible = asked->cells,
		.feasible_count = asked->count,
		.best = best,
		.best_count = best_count,
		.start = run->start_index,
	};
	uint32_t position = choose(run->engine, tree, &choice);
	bt_cycle_point_ran(run, BT_TIMED_SCORE, &BT_STATUS_OK);
	bt_cycle_set_scheduled(run->result, snapshot->list[position], best_total, node_count,
		snapshot->count - node_count);
	if (bt_cycle_wants_ranking(run)) {
		rank(run, tree, asked, scores, node_count);
	}
}

void bt_decide_by_tree(struct bt_cycle_run *run, struct bt_cells *tree)
{
	const struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	struct bt_asked_cells asked = list_cells(run, tree);
	bt_judge_cells(run, &asked);
	bt_cycle_filters_ran(run, &BT_STATUS_OK);
	bt_count_verdicts(run, asked.verdicts, asked.sizes, asked.count);
	uint32_t node_count = bt_feasible_nodes(&asked);
	if (node_count == 0) {
		/* A cell is a group; without cells all nodes were taken out. */
		uint32_t count = asked.count != 0 ? bt_cells_count(tree) : 0;
		uint32_t *sizes = BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, count);
		uint32_t *verdicts = bt_arena_alloc(run->cycle->arena, count * sizeof(*verdicts));
		for (uint32_t cell = 0; cell < count; cell++) {
			verdicts[cell] = asked.verdicts[0]; /* of those without nodes: any */
		}
		for (uint32_t i = 0; i < asked.count; i++) {
			sizes[asked.cells[i]] = asked.sizes[i];
			verdicts[asked.cells[i]] = asked.verdicts[i];
		}
		bt_fail_in_groups(run, verdicts, sizes, count, bt_cells_by_position(tree));
		return;
	}
	bt_keep_feasible_cells(&asked);
	if (node_count == 1) {
		bt_cycle_set_scheduled(run->result, asked.slots[0], 0, 1, snapshot->count - 1);
		return;
	}
	take_best(run, tree, &asked, node_count);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/assert.h"
#include "sched/cells.h"
#include "sched/cells_private.h"
#include "sched/node_choice.h"

enum { IS_BEST = 1, IS_COUNTED = 2 };

/* A choice in a form that positions and nodes can be asked by. */
struct search {
	const struct bt_cells *cells;
	const uint32_t *best;
	uint32_t best_count;
	/* Feasible nodes are those of the counted cells, or of all others when `others`. */
	const uint32_t *counted;
	uint32_t counted_count;
	bool others;
	uint32_t start;
	uint32_t before_start; /* feasible positions before start */
	uint32_t feasible_total;
	uint8_t marks[BT_CELLS_MAX];           /* by cell: IS_BEST, IS_COUNTED */
	uint32_t counted_others[BT_CELLS_MAX]; /* memory of `counted` when `others` */
};

static void begin_search(
	struct search *search, const struct bt_cells *cells, const struct bt_cells_choice *choice)
{
	BT_ASSERT(cells->is_filled && choice->best_count > 0);
	search->cells = cells;
	search->best = choice->best;
	search->best_count = choice->best_count;
	memset(search->marks, 0, cells->cell_count);
	for (uint32_t i = 0; i < choice->best_count; i++) {
		search->marks[choice->best[i]] = IS_BEST;
	}
}

/* Ties. */

static bool is_tie(const struct search *search, uint32_t position)
{
	uint32_t cell = search->cells->cell_of[position];
	return (search->marks[cell] & IS_BEST) != 0 &&
		search->cells->local_of[position] == bt_cells_best(search->cells, cell);
}

/* First of [index, end) on this level that holds a tie; all within a block. `end`: none. */
static uint32_t first_with_tie(
	const struct search *search, uint32_t level, uint32_t index, uint32_t end)
{
	if (level == 0) {
		while (index < end && !is_tie(search, index)) {
			index++;
		}
		return index;
	}
	const struct bt_cells *cells = search->cells;
	for (uint32_t i = 0; i < search->best_count && index < end; i++) {
		const struct bt_cell *cell = &cells->cells[search->best[i]];
		const int32_t *best = cell->best + cells->first_node[level];
		int32_t wanted = cell->best[bt_cells_root(cells)];
		for (uint32_t at = index; at < end; at++) {
			if (best[at] == wanted) {
				end = at;
			}
		}
	}
	return end;
}

static uint32_t end_of_block(const struct bt_cells *cells, uint32_t level, uint32_t index)
{
	uint32_t end = (index / BT_CELLS_BLOCK + 1) * BT_CELLS_BLOCK;
	return end < cells->level_size[level] ? end : cells->level_size[level];
}

/* First tie at `from` or later; BT_POSITION_NONE: none. */
static uint32_t next_tie(const struct search *search, uint32_t from)
{
	const struct bt_cells *cells = search->cells;
	uint32_t index = from;
	for (uint32_t level = 0; index < cells->level_size[level]; level++) {
		uint32_t end = end_of_block(cells, level, index);
		uint32_t hit = first_with_tie(search, level, index, end);
		if (hit < end) {
			while (level > 0) {
				level--;
				index = hit * BT_CELLS_BLOCK;
				hit = first_with_tie(
					search, level, index, end_of_block(cells, level, index));
			}
			return hit;
		}
		if (end % BT_CELLS_BLOCK != 0 || level == cells->level_count) {
			return BT_POSITION_NONE;
		}
		index = end / BT_CELLS_BLOCK;
	}
	return BT_POSITION_NONE;
}

uint64_t bt_cells_tie_count(const struct bt_cells *cells, const struct bt_cells_choice *choice)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < choice->best_count; i++) {
		count += cells->cells[choice->best[i]].ties[bt_cells_root(cells)];
	}
	return count;
}

uint32_t bt_cells_next_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint32_t from)
{
	struct search search;
	begin_search(&search, cells, choice);
	return next_tie(&search, from);
}

/* Ties below a node of level 1 or higher. */
static uint32_t ties_at(const struct search *search, uint32_t level, uint32_t index)
{
	const struct bt_cells *cells = search->cells;
	uint32_t node = cells->first_node[level] + index;
	uint32_t ties = 0;
	for (uint32_t i = 0; i < search->best_count; i++) {
		const struct bt_cell *cell = &cells->cells[search->best[i]];
		ties += cell->best[node] == cell->best[bt_cells_root(cells)] ? cell->ties[node] : 0;
	}
	return ties;
}

uint32_t bt_cells_nth_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint64_t index)
{
	struct search search;
	begin_search(&search, cells, choice);
	BT_ASSERT(index < bt_cells_tie_count(cells, choice));
	uint32_t before = (uint32_t)index;
	uint32_t at = 0;
	for (uint32_t level = cells->level_count - 1; level > 0; level--) {
		at *= BT_CELLS_BLOCK;
		for (uint32_t ties; (ties = ties_at(&search, level, at)) <= before; at++) {
			before -= ties;
		}
	}
	at *= BT_CELLS_BLOCK;
	while (!is_tie(&search, at) || before-- > 0) {
		at++;
	}
	return at;
}

/* Ranks among the feasible. */

static void begin_ranks(struct search *search, const struct bt_cells_choice *choice)
{
	const struct bt_cells *cells = search->cells;
	search->feasible_total = 0;
	for (uint32_t i = 0; i < choice->feasible_count; i++) {
		search->feasible_total += bt_cells_size(cells, choice->feasible[i]);
		search->marks[choice->feasible[i]] |= IS_COUNTED;
	}
	search->counted = choice->feasible;
	search->counted_count = choice->feasible_count;
	search->others = search->feasible_total == cells->position_count ||
		choice->feasible_count > cells->cell_count / 2;
	if (search->others) {
		search->counted = search->counted_others;
		search->counted_count = 0;
		if (search->feasible_total < cells->position_count) {
			for (uint32_t i = 0; i < cells->cell_count; i++) {
				search->marks[i] ^= IS_COUNTED;
				if ((search->marks[i] & IS_COUNTED) != 0 &&
					bt_cells_size(cells, i) > 0) {
					search->counted_others[search->counted_count++] = i;
				}
			}
		}
	}
	search->start = choice->start;
}

/* Counted positions below [from, to) of a level, none of them far apart. */
static uint32_t sum_counted(const struct search *search, uint32_t level, uint32_t from, uint32_t to)
{
	const struct bt_cells *cells = search->cells;
	uint32_t sum = 0;
	if (level == 0) {
		for (uint32_t i = from; i < to; i++) {
			sum += (search->marks[cells->cell_of[i]] & IS_COUNTED) != 0;
		}
		return sum;
	}
	for (uint32_t i = 0; i < search->counted_count; i++) {
		const uint32_t *members =
			cells->cells[search->counted[i]].members + cells->first_node[level];
		for (uint32_t at = from; at < to; at++) {
			sum += members[at];
		}
	}
	return sum;
}

/* Feasible positions in [from, to): the ends of the interval from low levels, its middle from high
 * ones. */
static uint32_t count_feasible(const struct search *search, uint32_t from, uint32_t to)
{
	uint32_t width = to - from;
	if (search->counted_count == 0) {
		return search->others ? width : 0;
	}
	uint32_t counted = 0;
	for (uint32_t level = 0; from < to; level++) {
		uint32_t first_block = (from + BT_CELLS_BLOCK - 1) / BT_CELLS_BLOCK;
		uint32_t last_block = to / BT_CELLS_BLOCK;
		if (first_block >= last_block) {
			counted += sum_counted(search, level, from, to);
			break;
		}
		counted += sum_counted(search, level, from, first_block * BT_CELLS_BLOCK);
		counted += sum_counted(search, level, last_block * BT_CELLS_BLOCK, to);
		from = first_block;
		to = last_block;
	}
	return search->others ? width - counted : counted;
}

/* The feasible position with `before` feasible ones before it in list order. */
static uint32_t select_feasible(const struct search *search, uint32_t before)
{
	if (search->counted_count == 0) {
		return before;
	}
	const struct bt_cells *cells = search->cells;
	uint32_t width = 1; /* positions below a node of the level */
	for (uint32_t level = 1; level < cells->level_count; level++) {
		width *= BT_CELLS_BLOCK;
	}
	uint32_t at = 0;
	for (uint32_t level = cells->level_count - 1; level > 0; level--) {
		at *= BT_CELLS_BLOCK;
		for (;;) {
			uint32_t count = sum_counted(search, level, at, at + 1);
			count = search->others ? width - count : count;
			if (before < count || at + 1 == cells->level_size[level]) {
				break;
			}
			before -= count;
			at++;
		}
		width /= BT_CELLS_BLOCK;
	}
	uint32_t wanted = search->others ? 0 : IS_COUNTED;
	at *= BT_CELLS_BLOCK;
	while ((search->marks[cells->cell_of[at]] & IS_COUNTED) != wanted || before-- > 0) {
		at++;
	}
	return at;
}

static uint32_t rank_of(const struct search *search, uint32_t position)
{
	if (position >= search->start) {
		return count_feasible(search, search->start, position);
	}
	return search->feasible_total - search->before_start + count_feasible(search, 0, position);
}

static uint32_t position_of_rank(const struct search *search, uint32_t rank)
{
	uint32_t after_start = search->feasible_total - search->before_start;
	return select_feasible(
		search, rank < after_start ? rank + search->before_start : rank - after_start);
}

/* First tie at `from` or later in search order, which ends before start. */
static uint32_t next_tie_around(const struct search *search, uint32_t from)
{
	uint32_t tie = next_tie(search, from);
	if (from < search->start) {
		return tie < search->start ? tie : BT_POSITION_NONE;
	}
	if (tie == BT_POSITION_NONE) {
		tie = next_tie(search, 0);
		return tie < search->start ? tie : BT_POSITION_NONE;
	}
	return tie;
}

/*
 * Among heap positions of one depth, pre-order is the order of ranks: of each depth only the first
 * tie can win. So there are never more candidates than the heap has levels.
 */
uint32_t bt_cells_choose_by_heap(const struct bt_cells *cells, const struct bt_cells_choice *choice)
{
	struct search search;
	begin_search(&search, cells, choice);
	begin_ranks(&search, choice);
	BT_ASSERT(choice->start < cells->position_count);
	search.before_start = count_feasible(&search, 0, choice->start);
	uint32_t chosen = next_tie_around(&search, choice->start);
	BT_ASSERT(chosen != BT_POSITION_NONE);
	uint32_t chosen_rank = rank_of(&search, chosen);
	uint32_t rank = chosen_rank;
	/* Nothing below or right of the leftmost position of a depth comes before it. */
	while ((chosen_rank & (chosen_rank + 1)) != 0) {
		uint64_t next_depth = UINT64_C(2) << (63 - BT_CLZ64((uint64_t)rank + 1));
		if (next_depth > search.feasible_total) {
			break;
		}
		uint32_t from = position_of_rank(&search, (uint32_t)(next_depth - 1));
		uint32_t tie = next_tie_around(&search, from);
		if (tie == BT_POSITION_NONE) {
			break;
		}
		rank = rank_of(&search, tie);
		if (bt_heap_precedes(rank, chosen_rank)) {
			chosen = tie;
			chosen_rank = rank;
		}
	}
	return chosen;
}

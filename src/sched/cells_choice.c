/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <string.h>

#include "base/assert.h"
#include "base/compiler.h"
#include "sched/cells.h"
#include "sched/select_host.h"
#include "state/places.h"

enum {
	IS_BEST = 1,
	IS_COUNTED = 2,
	/*
	 * Number of nodes of the list that are checked one by one for a tie before the tree is
	 * searched.
	 */
	NEAR = 8,
	/*
	 * A block of positions is scanned once for each of at most this many cells; with more
	 * cells, each position is checked against the marks.
	 */
	SCANS_MAX = 8,
	SUMS_KEPT = 16,
	/* At most this many ties are ranked one by one. */
	TIES_RANKED = 12
};

/*
 * Numbers of feasible positions in one block of tree nodes: before[i] is the number of feasible
 * positions below the block's first i tree nodes.
 */
struct rank_sums {
	uint32_t level; /* 0: the entry is unused */
	uint32_t block;
	uint32_t before[BT_CELLS_BLOCK];
};

/*
 * The state of one choice. The list of nodes is in the order of points (state/places.h). If
 * positions are in list order, the row of a point is the position and the zone of a point is 0.
 */
struct cell_search {
	const struct bt_cells *cells;
	struct bt_places *places; /* NULL: positions are in list order */
	const uint32_t *best;
	uint32_t best_count;
	uint64_t start; /* the point of choice->start */
	/*
	 * The cells whose members are counted: the feasible cells or, if `others` is set, the
	 * infeasible cells.
	 */
	bool others;
	const uint32_t *counted;
	uint32_t counted_count;
	uint32_t feasible_count; /* feasible positions */
	uint32_t before_start;   /* feasible nodes before `start` in the list */
	uint8_t marks[BT_CELLS_MAX];
	uint32_t infeasible[BT_CELLS_MAX]; /* memory of `counted` when `others` is true */
	struct rank_sums sums[SUMS_KEPT];  /* a cache by level and block */
};

static void begin_search(struct cell_search *search, const struct bt_cells *cells,
	const struct bt_cells_choice *choice)
{
	BT_ASSERT(cells->is_filled && choice->best_count > 0);
	search->cells = cells;
	search->places = choice->places;
	search->best = choice->best;
	search->best_count = choice->best_count;
	memset(search->marks, 0, cells->cell_count);
	for (uint32_t i = 0; i < choice->best_count; i++) {
		search->marks[choice->best[i]] = IS_BEST;
	}
}

static bool is_tie(const struct cell_search *search, uint32_t position)
{
	uint32_t cell = search->cells->cell_of[position];
	return (search->marks[cell] & IS_BEST) != 0 &&
		search->cells->local_of[position] == search->cells->cells[cell].top_best;
}

static bool is_feasible(const struct cell_search *search, uint32_t position)
{
	uint32_t cell = search->cells->cell_of[position];
	return ((search->marks[cell] & IS_COUNTED) != 0) != search->others;
}

/* The ties in a block of positions, as bits. */
static uint64_t ties_in_block(const struct cell_search *search, uint32_t block)
{
	const struct bt_cells *cells = search->cells;
	uint32_t first = block * BT_CELLS_BLOCK;
	uint32_t end = cells->position_count - first;
	uint64_t ties = 0;
	for (uint32_t i = 0; search->best_count > SCANS_MAX && i < BT_CELLS_BLOCK && i < end; i++) {
		ties |= (uint64_t)is_tie(search, first + i) << i;
	}
	for (uint32_t i = 0; search->best_count <= SCANS_MAX && i < search->best_count; i++) {
		uint32_t cell = search->best[i];
		ties |= cells->kernels->ties_of(cells->cell_of + first, cells->local_of + first,
			(uint16_t)cell, cells->cells[cell].top_best);
	}
	return ties;
}

/*
 * The first index in [index, end) of this level with a tie below it; `end` if there is none. The
 * range lies within one block.
 */
static uint32_t first_with_tie(
	const struct cell_search *search, uint32_t level, uint32_t index, uint32_t end)
{
	const struct bt_cells *cells = search->cells;
	if (level == 0) {
		uint64_t ties =
			ties_in_block(search, index / BT_CELLS_BLOCK) >> index % BT_CELLS_BLOCK;
		return ties == 0 ? end : index + BT_CTZ64(ties);
	}
	for (uint32_t i = 0; i < search->best_count && index < end; i++) {
		const struct bt_cell *cell = &cells->cells[search->best[i]];
		const int32_t *best = cell->best + cells->first_node[level];
		uint32_t at = index;
		while (at < end && best[at] != cell->top_best) {
			at++;
		}
		end = at;
	}
	return end;
}

static uint32_t end_of_block(const struct bt_cells *cells, uint32_t level, uint32_t index)
{
	uint32_t end = (index / BT_CELLS_BLOCK + 1) * BT_CELLS_BLOCK;
	return end < cells->level_size[level] ? end : cells->level_size[level];
}

/* First tie at position `from` or later; BT_POSITION_NONE: none. */
static uint32_t next_tie(const struct cell_search *search, uint32_t from)
{
	const struct bt_cells *cells = search->cells;
	uint32_t index = from;
	for (uint32_t level = 0; index < cells->level_size[level]; level++) {
		uint32_t end = end_of_block(cells, level, index);
		uint32_t hit = first_with_tie(search, level, index, end);
		if (hit < end) {
			/* Descend to the first tie below this node. */
			while (level-- > 0) {
				hit *= BT_CELLS_BLOCK;
				hit = first_with_tie(
					search, level, hit, end_of_block(cells, level, hit));
			}
			return hit;
		}
		if (end == cells->level_size[level]) {
			break;
		}
		index = end / BT_CELLS_BLOCK;
	}
	return BT_POSITION_NONE;
}

uint64_t bt_cells_tie_count(const struct bt_cells *cells, const struct bt_cells_choice *choice)
{
	uint64_t count = 0;
	for (uint32_t i = 0; i < choice->best_count; i++) {
		count += cells->cells[choice->best[i]].top_ties;
	}
	return count;
}

uint32_t bt_cells_next_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint32_t from)
{
	struct cell_search search;
	begin_search(&search, cells, choice);
	return next_tie(&search, from);
}

/* Index of the set bit that has `before` set bits below it. */
static uint32_t nth_bit(uint64_t bits, uint32_t before)
{
	uint32_t at = 0;
	for (uint32_t width = BT_CELLS_BLOCK / 2; width > 0; width /= 2) {
		uint64_t low = bits >> at & ((UINT64_C(1) << width) - 1);
		uint32_t count = BT_POPCOUNT64(low);
		bool is_above = count <= before;
		before -= is_above ? count : 0;
		at += is_above ? width : 0;
	}
	return at;
}

uint32_t bt_cells_nth_tie(
	const struct bt_cells *cells, const struct bt_cells_choice *choice, uint64_t index)
{
	struct cell_search search;
	begin_search(&search, cells, choice);
	BT_ASSERT(index < bt_cells_tie_count(cells, choice));
	if (search.places != NULL) {
		/* A linear walk is acceptable: only the random tie policy gets here. */
		for (uint64_t point = bt_point(0, 0);;
			point = bt_places_next(search.places, point)) {
			uint32_t position = bt_places_at(search.places, point);
			if (is_tie(&search, position) && index-- == 0) {
				return position;
			}
		}
	}
	uint32_t before = (uint32_t)index;
	uint32_t node = 0;
	for (uint32_t level = cells->level_count; level > 0; level--) {
		uint32_t child = node * BT_CELLS_BLOCK;
		if (level == 1) {
			return child + nth_bit(ties_in_block(&search, node), before);
		}
		/* Go to the child that holds the tie; `before` counts the ties below this child. */
		uint32_t ties[BT_CELLS_BLOCK] = {0};
		size_t first = (size_t)cells->first_node[level - 1] + child;
		for (uint32_t i = 0; i < search.best_count; i++) {
			const struct bt_cell *cell = &cells->cells[search.best[i]];
			cells->kernels->add_ties(
				ties, cell->best + first, cell->ties + first, cell->top_best);
		}
		for (uint32_t i = 0; ties[i] <= before; i++) {
			before -= ties[i];
			child++;
		}
		node = child;
	}
	return node;
}

/*
 * Prepare the computation of ranks: choose the cells to count, the feasible or the infeasible
 * cells, whichever are fewer.
 */
static void begin_ranks(struct cell_search *search, const struct bt_cells_choice *choice)
{
	const struct bt_cells *cells = search->cells;
	search->feasible_count = 0;
	for (uint32_t i = 0; i < choice->feasible_count; i++) {
		search->feasible_count += cells->cells[choice->feasible[i]].size;
		search->marks[choice->feasible[i]] |= IS_COUNTED;
	}
	for (uint32_t i = 0; i < SUMS_KEPT; i++) {
		search->sums[i].level = 0;
	}
	search->counted = choice->feasible;
	search->counted_count = choice->feasible_count;
	search->others = search->feasible_count == choice->node_count ||
		choice->feasible_count > cells->cell_count / 2;
	if (!search->others) {
		return;
	}
	search->counted = search->infeasible;
	search->counted_count = 0;
	if (search->feasible_count == choice->node_count && search->places == NULL) {
		return;
	}
	for (uint32_t i = 0; i < cells->cell_count; i++) {
		search->marks[i] ^= IS_COUNTED;
		/*
		 * In list order, places without a node come after all nodes and need not be
		 * counted.
		 */
		bool counts = i != choice->empty || search->places != NULL;
		if ((search->marks[i] & IS_COUNTED) != 0 && counts && cells->cells[i].size > 0) {
			search->infeasible[search->counted_count++] = i;
		}
	}
}

/* Feasible positions of a block, as bits. Bits beyond the last position are undefined. */
static uint64_t feasible_in_block(const struct cell_search *search, uint32_t block)
{
	const struct bt_cells *cells = search->cells;
	uint32_t first = block * BT_CELLS_BLOCK;
	uint32_t end = cells->position_count - first;
	uint64_t found = 0;
	if (search->counted_count <= SCANS_MAX) {
		for (uint32_t i = 0; i < search->counted_count; i++) {
			found |= cells->kernels->members_of(
				cells->cell_of + first, (uint16_t)search->counted[i]);
		}
		return search->others ? ~found : found;
	}
	for (uint32_t i = 0; i < BT_CELLS_BLOCK && i < end; i++) {
		found |= (uint64_t)is_feasible(search, first + i) << i;
	}
	return found;
}

/*
 * The array `before` of struct rank_sums for this block of tree nodes. width: number of positions
 * below one tree node of the level.
 */
static const uint32_t *sums_of(
	struct cell_search *search, uint32_t level, uint32_t block, uint32_t width)
{
	struct rank_sums *sums = &search->sums[(block + 5 * level) % SUMS_KEPT];
	if (sums->level == level && sums->block == block) {
		return sums->before;
	}
	const struct bt_cells *cells = search->cells;
	uint32_t members[BT_CELLS_BLOCK] = {0};
	size_t first = (size_t)cells->first_node[level] + (size_t)block * BT_CELLS_BLOCK;
	for (uint32_t i = 0; i < search->counted_count; i++) {
		cells->kernels->add(members, cells->cells[search->counted[i]].members + first);
	}
	uint32_t counted = 0;
	for (uint32_t i = 0; i < BT_CELLS_BLOCK; i++) {
		sums->before[i] = search->others ? i * width - counted : counted;
		counted += members[i];
	}
	sums->level = level;
	sums->block = block;
	return sums->before;
}

/* Number of feasible positions before this position. */
static uint32_t count_below(struct cell_search *search, uint32_t position)
{
	if (search->counted_count == 0) {
		return position;
	}
	uint32_t node = position / BT_CELLS_BLOCK;
	uint64_t below = (UINT64_C(1) << position % BT_CELLS_BLOCK) - 1;
	uint32_t before = BT_POPCOUNT64(feasible_in_block(search, node) & below);
	uint32_t width = BT_CELLS_BLOCK;
	for (uint32_t level = 1; level < search->cells->level_count; level++) {
		uint32_t block = node / BT_CELLS_BLOCK;
		before += sums_of(search, level, block, width)[node % BT_CELLS_BLOCK];
		node = block;
		width *= BT_CELLS_BLOCK;
	}
	return before;
}

/* The feasible position that has this many feasible positions before it. */
static uint32_t find_below(struct cell_search *search, uint32_t before)
{
	if (search->counted_count == 0) {
		return before;
	}
	const struct bt_cells *cells = search->cells;
	uint32_t node = 0;
	for (uint32_t level = cells->level_count; level-- > 1;) {
		uint32_t width = UINT32_C(1) << level * BT_CELLS_BLOCK_BITS;
		const uint32_t *sums = sums_of(search, level, node, width);
		/* The first sum is 0, and all sums of padding nodes are larger than `before`. */
		uint32_t child = cells->kernels->count_up_to(sums, before) - 1;
		before -= sums[child];
		node = node * BT_CELLS_BLOCK + child;
	}
	return node * BT_CELLS_BLOCK + nth_bit(feasible_in_block(search, node), before);
}

/*
 * Functions for positions that are not in list order. The positions of one zone are in list order.
 * For a point of the list, each zone has a cut: the first position of the zone that is at the point
 * or after the point. The cuts of all zones are close together. So the tree counts up to a position
 * in the middle of the cuts; then the nodes between the middle and each zone's cut are checked one
 * by one.
 */

static uint32_t count_before_apart(struct cell_search *search, uint64_t point)
{
	struct bt_places *places = search->places;
	uint32_t cuts[BT_PLACE_ZONES_MAX];
	uint64_t sum = 0;
	uint32_t zones = 0;
	for (uint32_t i = 0; i < places->zone_count; i++) {
		cuts[i] = bt_places_cut(places, point, i);
		if (cuts[i] < places->zones[i].nodes.count) {
			sum += places->zones[i].nodes.items[cuts[i]];
			zones++;
		}
	}
	if (zones == 0) {
		return search->feasible_count;
	}
	uint32_t middle = (uint32_t)(sum / zones);
	uint32_t before = count_below(search, middle);
	uint32_t steps = 0;
	for (uint32_t i = 0; i < places->zone_count; i++) {
		const uint32_t *nodes = places->zones[i].nodes.items;
		for (uint32_t k = cuts[i]; k > 0 && nodes[k - 1] >= middle; k--, steps++) {
			before += is_feasible(search, nodes[k - 1]);
		}
		for (uint32_t k = cuts[i]; k < places->zones[i].nodes.count && nodes[k] < middle;
			k++, steps++) {
			before -= is_feasible(search, nodes[k]);
		}
	}
	places->detours += steps;
	return before;
}

static uint64_t find_before_apart(struct cell_search *search, uint32_t before)
{
	struct bt_places *places = search->places;
	uint64_t point = bt_places_point_of(places, find_below(search, before));
	uint32_t found = count_before_apart(search, point);
	for (; found > before; places->detours++) {
		point = bt_places_previous(places, point);
		found -= is_feasible(search, bt_places_at(places, point));
	}
	while (found < before || !is_feasible(search, bt_places_at(places, point))) {
		found += is_feasible(search, bt_places_at(places, point));
		point = bt_places_next(places, point);
		places->detours++;
	}
	return point;
}

/*
 * The point of the first tie in the list at point `from` or later; BT_POINT_NONE: there is none.
 * *out_skipped: number of feasible nodes from `from` on that come before the tie, or UINT32_MAX if
 * these nodes were not counted. If more than `limit` feasible nodes come before the tie, the search
 * may stop. The function then returns BT_POINT_NONE and sets *out_skipped to a number above
 * `limit`.
 */
static uint64_t next_tie_apart(
	const struct cell_search *search, uint64_t from, uint64_t limit, uint32_t *out_skipped)
{
	struct bt_places *places = search->places;
	uint64_t point = from;
	uint32_t skipped = 0;
	*out_skipped = UINT32_MAX;
	for (uint32_t i = 0; i < NEAR; i++) {
		uint32_t position = bt_places_at(places, point);
		if (is_tie(search, position)) {
			*out_skipped = skipped;
			return point;
		}
		skipped += is_feasible(search, position);
		if (skipped > limit) {
			*out_skipped = skipped;
			return BT_POINT_NONE;
		}
		point = bt_places_next(places, point);
		if (point == BT_POINT_NONE) {
			return BT_POINT_NONE;
		}
	}
	/*
	 * Find the tie that is earliest in the list. Visit ties in order of position, and stop when
	 * all later positions are later in the list than the earliest tie so far.
	 */
	uint32_t first_of[BT_PLACE_ZONES_MAX];
	uint32_t end_of[BT_PLACE_ZONES_MAX]; /* by zone: only lower positions can come earlier */
	uint32_t first = UINT32_MAX;
	for (uint32_t i = 0; i < places->zone_count; i++) {
		uint32_t cut = bt_places_cut(places, point, i);
		first_of[i] = cut < places->zones[i].nodes.count ? places->zones[i].nodes.items[cut]
								 : UINT32_MAX;
		end_of[i] = UINT32_MAX;
		first = first_of[i] < first ? first_of[i] : first;
	}
	uint64_t earliest = BT_POINT_NONE;
	uint32_t end = UINT32_MAX;
	for (uint32_t tie = next_tie(search, first); tie < end;) {
		uint32_t block = tie / BT_CELLS_BLOCK;
		uint64_t ties = ties_in_block(search, block) >> tie % BT_CELLS_BLOCK;
		for (; ties != 0 && tie < end; ties >>= 1, tie++) {
			uint32_t to_next = BT_CTZ64(ties);
			ties >>= to_next;
			tie += to_next;
			places->detours++;
			uint32_t zone = places->zone_of[tie];
			if (tie < first_of[zone] || tie >= end_of[zone]) {
				continue;
			}
			earliest = bt_places_point_of(places, tie);
			end = 0;
			for (uint32_t i = 0; i < places->zone_count; i++) {
				uint32_t cut = bt_places_cut(places, earliest, i);
				end_of[i] = cut > 0 ? places->zones[i].nodes.items[cut - 1] + 1 : 0;
				end = end_of[i] > end ? end_of[i] : end;
			}
		}
		tie = next_tie(search, (block + 1) * BT_CELLS_BLOCK);
	}
	return earliest;
}

/* Number of feasible nodes before this point in the list. */
BT_ALWAYS_INLINE uint32_t count_before(struct cell_search *search, uint64_t point)
{
	return search->places == NULL ? count_below(search, bt_point_row(point))
				      : count_before_apart(search, point);
}

BT_ALWAYS_INLINE uint32_t rank_of(struct cell_search *search, uint64_t point)
{
	uint32_t before = count_before(search, point);
	return point >= search->start ? before - search->before_start
				      : search->feasible_count - search->before_start + before;
}

static uint32_t position_of(const struct cell_search *search, uint64_t point)
{
	return search->places == NULL ? bt_point_row(point) : bt_places_at(search->places, point);
}

static uint64_t point_of(const struct cell_search *search, uint32_t position)
{
	return search->places == NULL ? bt_point(position, 0)
				      : bt_places_point_of(search->places, position);
}

/** Returns the point of the feasible node with this rank in search order. */
BT_ALWAYS_INLINE uint64_t point_of_rank(struct cell_search *search, uint32_t rank)
{
	uint32_t from_start = search->feasible_count - search->before_start;
	uint32_t before = rank < from_start ? rank + search->before_start : rank - from_start;
	return search->places == NULL ? bt_point(find_below(search, before), 0)
				      : find_before_apart(search, before);
}

BT_ALWAYS_INLINE uint64_t next_tie_in_list(
	const struct cell_search *search, uint64_t from, uint64_t limit, uint32_t *out_skipped)
{
	if (search->places != NULL) {
		return next_tie_apart(search, from, limit, out_skipped);
	}
	*out_skipped = UINT32_MAX;
	uint32_t tie = next_tie(search, bt_point_row(from));
	return tie != BT_POSITION_NONE ? bt_point(tie, 0) : BT_POINT_NONE;
}

/*
 * The first tie at `from` or later in search order, which wraps around and ends before `start`.
 * limit, *out_skipped: as in next_tie_apart.
 */
BT_ALWAYS_INLINE uint64_t next_tie_around(
	const struct cell_search *search, uint64_t from, uint64_t limit, uint32_t *out_skipped)
{
	uint64_t tie = next_tie_in_list(search, from, limit, out_skipped);
	if (from >= search->start) {
		if (tie != BT_POINT_NONE || *out_skipped != UINT32_MAX) {
			return tie;
		}
		tie = next_tie_in_list(search, bt_point(0, 0), limit, out_skipped);
		*out_skipped = UINT32_MAX;
	}
	return tie < search->start ? tie : BT_POINT_NONE;
}

/* The first rank of a depth of the heap. */
static uint32_t leftmost_of(uint32_t depth)
{
	return (UINT32_C(1) << depth) - 1;
}

static uint32_t depth_of(uint32_t rank)
{
	return 63 - BT_CLZ64((uint64_t)rank + 1);
}

/*
 * Heap positions of the same depth are in pre-order if their ranks ascend, so only the first tie of
 * each depth can win. The leftmost position of a depth precedes all positions except the leftmost
 * positions above, which are its ancestors. If no leftmost position is a tie, the first tie of the
 * deepest level is most likely to win, and this tie limits the search in the levels above.
 */
uint32_t bt_cells_choose_by_heap(const struct bt_cells *cells, const struct bt_cells_choice *choice)
{
	struct cell_search search;
	begin_search(&search, cells, choice);
	uint64_t tie_count = bt_cells_tie_count(cells, choice);
	if (tie_count == 1) {
		return next_tie(&search, 0);
	}
	begin_ranks(&search, choice);
	BT_ASSERT(choice->start < choice->node_count);
	search.start = search.places == NULL ? bt_point(choice->start, 0)
					     : bt_places_point_at(search.places, choice->start);
	search.before_start = choice->start != 0 ? count_before(&search, search.start) : 0;
	if (tie_count <= TIES_RANKED) {
		uint32_t first = next_tie(&search, 0);
		uint32_t first_rank = rank_of(&search, point_of(&search, first));
		for (uint32_t tie = next_tie(&search, first + 1); tie != BT_POSITION_NONE;
			tie = next_tie(&search, tie + 1)) {
			uint32_t rank = rank_of(&search, point_of(&search, tie));
			if (bt_heap_order(rank) < bt_heap_order(first_rank)) {
				first = tie;
				first_rank = rank;
			}
		}
		return first;
	}
	uint32_t skipped;
	uint64_t chosen = next_tie_around(&search, search.start, UINT64_MAX, &skipped);
	BT_ASSERT(chosen != BT_POINT_NONE);
	uint32_t chosen_rank = skipped != UINT32_MAX ? skipped : rank_of(&search, chosen);
	uint32_t first_depth = depth_of(chosen_rank);
	if (chosen_rank == leftmost_of(first_depth)) {
		return position_of(&search, chosen);
	}
	uint64_t leftmost[32]; /* points by depth */
	uint32_t depth = first_depth + 1;
	for (; leftmost_of(depth) < search.feasible_count; depth++) {
		leftmost[depth] = point_of_rank(&search, leftmost_of(depth));
		if (is_tie(&search, position_of(&search, leftmost[depth]))) {
			return position_of(&search, leftmost[depth]);
		}
	}
	while (--depth > first_depth) {
		/*
		 * The rightmost heap position of this depth that precedes chosen_rank in pre-order
		 * or equals it, as an offset from the left end of the depth. chosen_rank is not
		 * leftmost in its depth.
		 */
		uint32_t own_depth = depth_of(chosen_rank);
		uint64_t offset = chosen_rank - leftmost_of(own_depth);
		uint64_t limit = own_depth >= depth ? offset >> (own_depth - depth)
						    : (offset << (depth - own_depth)) - 1;
		if (limit == 0) {
			break;
		}
		uint64_t tie = next_tie_around(&search, leftmost[depth], limit, &skipped);
		if (tie == BT_POINT_NONE) {
			continue;
		}
		uint32_t rank = skipped != UINT32_MAX ? leftmost_of(depth) + skipped
						      : rank_of(&search, tie);
		if (bt_heap_order(rank) < bt_heap_order(chosen_rank)) {
			chosen = tie;
			chosen_rank = rank;
		}
	}
	return position_of(&search, chosen);
}

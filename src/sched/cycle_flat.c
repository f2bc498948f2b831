/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Decisions by passes over a plan's columns, for shapes that are new or too rare to keep their
 * nodes in cells between cycles. Plugins that run in every cycle still use cells, but these cells
 * are made for one cycle and differ only in the plugins' traits. The results of these plugins are
 * stored by cell, and a slot finds the results by its cell.
 */
#include <string.h>

#include "base/assert.h"
#include "sched/cycle.h"
#include "sched/plan_kernels.h"
#include "sched/plan_private.h"
#include "sched/select_host.h"

/** Neighbouring slots use different counters, so that increments do not wait for each other. */
#define LANES 4
enum {
	/** Entries of the hash table of cells; a power of two above BT_CELLS_MAX. */
	TABLE_SIZE = 4 * BT_CELLS_MAX,
	/**
	 * Up to this many cells, members are counted by comparing all slots with each cell's
	 * number.
	 */
	COMPARED_MAX = 16,
};

struct flat {
	struct bt_cycle_run *run;
	const struct bt_plan *plan;
	const struct bt_snapshot *snapshot;
	struct bt_plan_cache *cache;
	struct bt_parts parts;
	const uint32_t *cell_of; /* cell by slot; NULL: there is one cell */
	uint32_t cell_count;     /* upper bound of cell numbers; some cells may have no node */
	/* Arrays by cell. */
	uint32_t *slots;    /* a node of the cell, if possible with the plan's verdict 0 */
	uint32_t *sizes;    /* number of nodes with the plan's verdict 0 */
	uint32_t *verdicts; /* of the per-cycle filters; 0 for cells not evaluated */
};

/** --- cells by traits --- */

struct table_entry {
	uint64_t value;
	uint32_t before;
	uint32_t cell; /* cell number + 1; 0: the entry is free */
};

/** The entry for this value within the cell `before`; may be free. */
static struct table_entry *entry_of(struct table_entry *table, uint64_t value, uint32_t before)
{
	uint64_t mixed = (value ^ (uint64_t)before << 40) * UINT64_C(0x9e3779b97f4a7c15);
	uint32_t i = (uint32_t)(mixed >> 40) & (TABLE_SIZE - 1);
	while (table[i].cell != 0 && (table[i].value != value || table[i].before != before)) {
		i = (i + 1) & (TABLE_SIZE - 1);
	}
	return &table[i];
}

/**
 * The trait's values by slot, in the trait's memory or in `values`. NULL: some value exceeds 32
 * bits.
 */
static const uint32_t *values_of(
	const struct flat *flat, const struct bt_node_trait *trait, uint32_t *values)
{
	const struct bt_plan *plan = flat->plan;
	if (trait->values != NULL) {
		return trait->values;
	}
	if (trait->column != NULL) {
		trait->column(trait->context, plan->slot_count, values);
		return values;
	}
	for (uint32_t slot = 0; slot < plan->slot_count; slot++) {
		uint64_t value = plan->verdict[slot] == BT_VERDICT_OUTSIDE
			? 0
			: trait->value(trait->context, slot);
		if (value > UINT32_MAX) {
			return NULL;
		}
		values[slot] = (uint32_t)value;
	}
	return values;
}

/** Split the cells by one more trait. false: there are too many cells. */
static bool split_cells(struct flat *flat, const struct bt_node_trait *trait)
{
	const struct bt_plan_kernels *kernels = bt_plan_kernels_for_cpu();
	uint32_t slot_count = flat->plan->slot_count;
	uint32_t *cells = flat->cache->cells;
	bool is_first = flat->cell_of == NULL;
	const uint32_t *values = values_of(flat, trait, is_first ? cells : flat->cache->detail);
	uint64_t kinds = values != NULL ? (uint64_t)kernels->max_value(values, slot_count) + 1 : 0;
	if (values == NULL || kinds > BT_CELLS_MAX / flat->cell_count) {
		/*
		 * Number each pair of an existing cell and a value. If `values` is NULL, call
		 * trait->value.
		 */
		struct table_entry *table =
			BT_ARENA_NEW_ARRAY(flat->run->cycle->arena, struct table_entry, TABLE_SIZE);
		const uint32_t *verdict = flat->plan->verdict;
		uint32_t count = 0;
		for (uint32_t slot = 0; slot < flat->plan->slot_count; slot++) {
			uint32_t before = is_first ? 0 : flat->cell_of[slot];
			if (verdict[slot] == BT_VERDICT_OUTSIDE) {
				cells[slot] = 0;
				continue;
			}
			uint64_t value =
				values != NULL ? values[slot] : trait->value(trait->context, slot);
			struct table_entry *entry = entry_of(table, value, before);
			if (entry->cell == 0) {
				if (count == BT_CELLS_MAX) {
					return false;
				}
				*entry = (struct table_entry){value, before, ++count};
			}
			cells[slot] = entry->cell - 1;
		}
		BT_ASSERT(count != 0); /* the snapshot has nodes */
		flat->cell_of = cells;
		flat->cell_count = count;
		return true;
	}
	if (is_first) {
		flat->cell_of = values;
	} else {
		if (flat->cell_of != cells) {
			memcpy(cells, flat->cell_of, slot_count * sizeof(*cells));
			flat->cell_of = cells;
		}
		kernels->combine_cells(cells, values, (uint32_t)kinds, slot_count);
	}
	flat->cell_count *= (uint32_t)kinds;
	return true;
}

/**
 * Evaluate the per-cycle filters for the cells whose nodes the plan rejects: a per-cycle filter may
 * come earlier in the list than the filter in the plan's verdict.
 */
static void filter_other_cells(struct flat *flat)
{
	const uint32_t *verdict = flat->plan->verdict;
	struct bt_cell_list list = bt_cell_list_make(flat->run->cycle->arena, flat->cell_count);
	uint32_t left = 0; /* number of cells for which no node was found yet */
	for (uint32_t cell = 0; cell < flat->cell_count; cell++) {
		left += flat->slots[cell] == BT_SLOT_NONE;
	}
	for (uint32_t slot = 0; slot < flat->plan->slot_count && left != 0; slot++) {
		uint32_t cell = flat->cell_of != NULL ? flat->cell_of[slot] : 0;
		if (verdict[slot] != BT_VERDICT_OUTSIDE && flat->slots[cell] == BT_SLOT_NONE) {
			flat->slots[cell] = slot;
			bt_cell_list_add(&list, cell, slot, 0, 0);
			left--;
		}
	}
	bt_filter_cells(flat->run, &list);
	for (uint32_t i = 0; i < list.count; i++) {
		flat->verdicts[list.cells[i]] = list.verdicts[i];
	}
}

/** Verdict of all filters for a node of the snapshot. */
static inline uint32_t merged_verdict(const struct flat *flat, uint32_t slot)
{
	uint32_t own = flat->plan->verdict[slot];
	if (own == BT_VERDICT_TAKEN_OUT) {
		return own;
	}
	uint32_t cell = flat->verdicts[flat->cell_of != NULL ? flat->cell_of[slot] : 0];
	/* The smaller nonzero verdict wins: 0 - 1 wraps to the largest value. */
	return own - 1 < cell - 1 ? own : cell;
}

/** --- no node fits --- */

/** End the cycle without a node, with a group for each verdict. false: too many groups. */
static bool end_without_node(struct flat *flat)
{
	struct bt_cycle_run *run = flat->run;
	struct bt_arena *arena = run->cycle->arena;
	struct table_entry *table = BT_ARENA_NEW_ARRAY(arena, struct table_entry, TABLE_SIZE);
	uint32_t *verdicts = bt_arena_alloc(arena, BT_CELLS_MAX * sizeof(*verdicts));
	uint32_t *sizes = BT_ARENA_NEW_ARRAY(arena, uint32_t, BT_CELLS_MAX);
	const struct bt_places *places = &flat->snapshot->places;
	uint16_t *group_of = bt_arena_alloc(arena, places->used * sizeof(*group_of));
	uint32_t count = 0;
	uint32_t last = 0;
	filter_other_cells(flat);
	for (uint32_t i = 0; i < places->used; i++) {
		uint32_t slot = places->slot_at[i];
		group_of[i] = 0;
		if (slot == BT_SLOT_NONE) {
			continue;
		}
		uint32_t verdict = merged_verdict(flat, slot);
		if (verdict == BT_VERDICT_TAKEN_OUT) {
			continue;
		}
		if (count == 0 || verdicts[last] != verdict) {
			struct table_entry *entry = entry_of(table, verdict, 0);
			if (entry->cell == 0 && count == BT_CELLS_MAX) {
				return false;
			}
			if (entry->cell == 0) {
				verdicts[count] = verdict;
				*entry = (struct table_entry){verdict, 0, ++count};
			}
			last = entry->cell - 1;
		}
		sizes[last]++;
		group_of[i] = (uint16_t)last;
	}
	bt_cycle_filters_ran(run, &BT_STATUS_OK);
	bt_count_verdicts(run, verdicts, sizes, count);
	bt_fail_in_groups(run, verdicts, sizes, count, group_of);
	return true;
}

/** --- members of cells --- */

/**
 * A pass that counts, for each cell, the nodes whose verdict in the plan is 0. The arrays are
 * [part][cell].
 */
struct members_pass {
	const struct flat *flat;
	uint32_t *sizes;
	uint32_t *slots; /* the last node that was counted; BT_SLOT_NONE: no node */
};

static void count_part(void *argument, uint32_t part)
{
	const struct members_pass *pass = argument;
	const struct flat *flat = pass->flat;
	struct bt_slot_range range = bt_parts_range(&flat->parts, part);
	const uint32_t *cell_of = flat->cell_of + range.first;
	const uint32_t *verdict = flat->plan->verdict + range.first;
	uint32_t count = flat->cell_count;
	uint32_t *sizes = &pass->sizes[(size_t)part * count];
	uint32_t *slots = &pass->slots[(size_t)part * count];
	if (count <= COMPARED_MAX) {
		for (uint32_t cell = 0; cell < count; cell++) {
			sizes[cell] = bt_plan_kernels_for_cpu()->count_members(
				cell_of, verdict, cell, range.count, &slots[cell]);
			slots[cell] += slots[cell] != BT_SLOT_NONE ? range.first : 0;
		}
		return;
	}
	uint32_t lanes[LANES][BT_CELLS_MAX];
	for (uint32_t lane = 0; lane < LANES; lane++) {
		memset(lanes[lane], 0, count * sizeof(lanes[lane][0]));
	}
	memset(slots, 0xff, count * sizeof(*slots)); /* BT_SLOT_NONE */
	for (uint32_t i = 0; i < range.count; i++) {
		if (verdict[i] == 0) {
			lanes[i % LANES][cell_of[i]]++;
			slots[cell_of[i]] = range.first + i;
		}
	}
	for (uint32_t cell = 0; cell < count; cell++) {
		sizes[cell] = lanes[0][cell] + lanes[1][cell] + lanes[2][cell] + lanes[3][cell];
	}
}

static void count_members(struct flat *flat)
{
	struct bt_arena *arena = flat->run->cycle->arena;
	uint32_t count = flat->cell_count;
	size_t room = (size_t)flat->parts.count * count;
	struct members_pass pass = {
		flat,
		.sizes = bt_arena_alloc(arena, room * sizeof(*pass.sizes)),
		.slots = bt_arena_alloc(arena, room * sizeof(*pass.slots)),
	};
	flat->sizes = pass.sizes;
	flat->slots = pass.slots;
	if (flat->cell_of == NULL) {
		const uint32_t *verdict = flat->plan->verdict;
		uint32_t slot = 0;
		while (slot < flat->plan->slot_count && verdict[slot] != 0) {
			slot++;
		}
		flat->sizes[0] = flat->plan->feasible_count;
		flat->slots[0] = flat->sizes[0] != 0 ? slot : BT_SLOT_NONE;
		return;
	}
	bt_parts_run(&flat->parts, count_part, &pass);
	for (uint32_t part = 1; part < flat->parts.count; part++) {
		for (uint32_t cell = 0; cell < count; cell++) {
			uint32_t slot = pass.slots[(size_t)part * count + cell];
			flat->sizes[cell] += pass.sizes[(size_t)part * count + cell];
			flat->slots[cell] = slot != BT_SLOT_NONE ? slot : flat->slots[cell];
		}
	}
}

/** --- totals and choice --- */

/** Bit set of infeasible nodes by distance from the start of the search. */
struct gaps {
	uint64_t *words;
	uint32_t *before; /* by word: bits set in all earlier words */
};

static uint32_t distance_from_start(const struct flat *flat, uint32_t slot)
{
	uint32_t position = bt_snapshot_positions(flat->snapshot)[slot];
	uint32_t start = flat->run->start_index;
	return position - start + (position < start ? flat->snapshot->count : 0);
}

/**
 * The choice among the ties, which are the slots with the best total. A part writes its ties into
 * its range of cache->changed, and its infeasible slots into its range of cache->detail.
 */
struct choice_pass {
	const struct flat *flat;
	const int32_t *best; /* by part: largest total of the part */
	int32_t best_total;
	uint32_t *tie_counts; /* by part */
	uint32_t *gap_counts; /* by part; NULL: all nodes are feasible */
	struct gaps gaps;
	/* By part: the part's first tie in heap pre-order, and bt_heap_order of the tie's rank. */
	uint32_t *chosen;
	uint64_t *orders;
};

/**
 * Finds the part's slots with this total. Writes them to slots[], beginning at the index that
 * equals the part's first slot. Returns the number of slots written.
 */
static uint32_t find_slots(const struct flat *flat, uint32_t part, int32_t total, uint32_t *slots)
{
	struct bt_slot_range range = bt_parts_range(&flat->parts, part);
	uint32_t count = bt_plan_kernels_for_cpu()->find_equal(
		flat->cache->totals + range.first, total, range.count, slots + range.first);
	for (uint32_t i = 0; i < count; i++) {
		slots[range.first + i] += range.first;
	}
	return count;
}

static const uint32_t *ties_of_part(const struct choice_pass *pass, uint32_t part)
{
	return pass->flat->cache->changed + bt_parts_range(&pass->flat->parts, part).first;
}

static void find_ties(void *argument, uint32_t part)
{
	const struct choice_pass *pass = argument;
	if (pass->best[part] == pass->best_total) {
		pass->tie_counts[part] =
			find_slots(pass->flat, part, pass->best_total, pass->flat->cache->changed);
	}
}

static void find_gaps(void *argument, uint32_t part)
{
	const struct choice_pass *pass = argument;
	pass->gap_counts[part] =
		find_slots(pass->flat, part, BT_TOTAL_INFEASIBLE, pass->flat->cache->detail);
}

static void fill_gaps(struct choice_pass *pass)
{
	const struct flat *flat = pass->flat;
	struct bt_arena *arena = flat->run->cycle->arena;
	uint32_t word_count = flat->snapshot->count / 64 + 1;
	struct gaps *gaps = &pass->gaps;
	gaps->words = BT_ARENA_NEW_ARRAY(arena, uint64_t, word_count);
	gaps->before = BT_ARENA_NEW_ARRAY(arena, uint32_t, word_count);
	pass->gap_counts = BT_ARENA_NEW_ARRAY(arena, uint32_t, flat->parts.count);
	bt_parts_run(&flat->parts, find_gaps, pass);
	for (uint32_t part = 0; part < flat->parts.count; part++) {
		const uint32_t *slots =
			flat->cache->detail + bt_parts_range(&flat->parts, part).first;
		for (uint32_t i = 0; i < pass->gap_counts[part]; i++) {
			if (flat->plan->verdict[slots[i]] != BT_VERDICT_OUTSIDE) {
				uint32_t at = distance_from_start(flat, slots[i]);
				gaps->words[at / 64] |= UINT64_C(1) << (at % 64);
			}
		}
	}
	for (uint32_t i = 1; i < word_count; i++) {
		gaps->before[i] = gaps->before[i - 1] + BT_POPCOUNT64(gaps->words[i - 1]);
	}
}

static void choose_by_heap(void *argument, uint32_t part)
{
	const struct choice_pass *pass = argument;
	const uint32_t *ties = ties_of_part(pass, part);
	uint64_t best_order = UINT64_MAX;
	uint32_t chosen = BT_SLOT_NONE;
	for (uint32_t i = 0; i < pass->tie_counts[part]; i++) {
		uint32_t rank = distance_from_start(pass->flat, ties[i]);
		if (pass->gap_counts != NULL) {
			uint64_t below = (UINT64_C(1) << (rank % 64)) - 1;
			rank -= pass->gaps.before[rank / 64] +
				BT_POPCOUNT64(pass->gaps.words[rank / 64] & below);
		}
		uint64_t order = bt_heap_order(rank);
		chosen = order < best_order ? ties[i] : chosen;
		best_order = order < best_order ? order : best_order;
	}
	pass->chosen[part] = chosen;
	pass->orders[part] = best_order;
}

/**
 * The slot that the tie policy chooses. best: the largest total of each part; best_total: the
 * largest total of all parts; node_count: number of feasible nodes.
 */
static uint32_t choose(
	const struct flat *flat, const int32_t *best, int32_t best_total, uint32_t node_count)
{
	struct bt_arena *arena = flat->run->cycle->arena;
	uint32_t part_count = flat->parts.count;
	struct choice_pass pass = {
		.flat = flat,
		.best = best,
		.best_total = best_total,
		.tie_counts = BT_ARENA_NEW_ARRAY(arena, uint32_t, part_count),
		.chosen = BT_ARENA_NEW_ARRAY(arena, uint32_t, part_count),
		.orders = BT_ARENA_NEW_ARRAY(arena, uint64_t, part_count),
	};
	bt_parts_run(&flat->parts, find_ties, &pass);
	const struct bt_node_table *nodes = &flat->run->engine->state->nodes;
	uint32_t tie_count = 0;
	uint32_t tie = BT_SLOT_NONE;
	uint64_t left;
	for (uint32_t part = 0; part < part_count; part++) {
		tie_count += pass.tie_counts[part];
		tie = pass.tie_counts[part] != 0 ? ties_of_part(&pass, part)[0] : tie;
	}
	if (tie_count == 1) {
		return tie;
	}
	uint32_t preferred = bt_find_preferred_slot(flat->run->engine);
	if (preferred != BT_SLOT_NONE && flat->cache->totals[preferred] == best_total) {
		return preferred;
	}
	switch (flat->run->engine->options.tie_policy) {
	case BT_TIE_HEAP:
		break;
	case BT_TIE_FIRST_BY_NAME:
		for (uint32_t part = 0; part < part_count; part++) {
			const uint32_t *ties = ties_of_part(&pass, part);
			for (uint32_t i = 0; i < pass.tie_counts[part]; i++) {
				tie = bt_str_compare(bt_node_table_name(nodes, ties[i]),
					      bt_node_table_name(nodes, tie)) < 0
					? ties[i]
					: tie;
			}
		}
		return tie;
	case BT_TIE_RANDOM:
		/* Uniform choice, counted in list order as bt_cells_nth_tie does. */
		left = bt_prng_below(&flat->run->engine->prng, tie_count);
		for (const uint32_t *slot = bt_snapshot_list(flat->snapshot);; slot++) {
			if (flat->cache->totals[*slot] == best_total && left-- == 0) {
				return *slot;
			}
		}
	}
	/*
	 * Upstream's heap choice: the tie whose rank among the feasible nodes comes first in heap
	 * pre-order.
	 */
	if (node_count != flat->snapshot->count) {
		fill_gaps(&pass);
	}
	bt_parts_run(&flat->parts, choose_by_heap, &pass);
	uint32_t first = 0;
	for (uint32_t part = 1; part < part_count; part++) {
		first = pass.orders[part] < pass.orders[first] ? part : first;
	}
	return pass.chosen[first];
}

/** Set run->ranked to the feasible nodes in search order, and run->totals to their totals. */
static void rank(const struct flat *flat, uint32_t node_count)
{
	struct bt_cycle_run *run = flat->run;
	uint32_t *ranked = BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, node_count);
	int64_t *totals = BT_ARENA_NEW_ARRAY(run->cycle->arena, int64_t, node_count);
	uint32_t position = run->start_index;
	uint32_t count = 0;
	for (uint32_t i = 0; i < flat->snapshot->count; i++) {
		uint32_t slot = bt_snapshot_list(flat->snapshot)[position];
		position = position + 1 == flat->snapshot->count ? 0 : position + 1;
		if (flat->cache->totals[slot] != BT_TOTAL_INFEASIBLE) {
			ranked[count] = slot;
			totals[count++] = flat->cache->totals[slot];
		}
	}
	run->ranked = ranked;
	run->totals = totals;
	run->ranked_count = count;
}

/**
 * A pass that computes the total of each slot and, for each part, the largest total and the largest
 * value of each raw score.
 */
struct totals_pass {
	const struct flat *flat;
	int32_t score;              /* score of all nodes, if cell_scores is NULL */
	const int32_t *cell_scores; /* by cell */
	/* [part][raw score]: largest value of the feasible slots, at least 0. */
	int32_t *maxima;
	const int32_t *divisors; /* by raw score */
	int32_t *best;           /* [part]: largest total */
};

static void start_part(void *argument, uint32_t part)
{
	const struct totals_pass *pass = argument;
	const struct flat *flat = pass->flat;
	const struct bt_plan_kernels *kernels = bt_plan_kernels_for_cpu();
	const struct bt_plan *plan = flat->plan;
	struct bt_slot_range range = bt_parts_range(&flat->parts, part);
	uint32_t first = range.first;
	int32_t *totals = flat->cache->totals + first;
	if (flat->cell_of == NULL) {
		kernels->start_totals(totals, plan->local + first, plan->verdict + first,
			pass->score, range.count);
	} else {
		kernels->start_cell_totals(totals, plan->local + first, plan->verdict + first,
			flat->cell_of + first, pass->cell_scores, range.count);
	}
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		if (plan->raws[i].has_values) {
			pass->maxima[part * plan->raw_count + i] = kernels->max_feasible(
				plan->raws[i].values + first, totals, range.count);
		}
	}
}

static void finish_part(void *argument, uint32_t part)
{
	const struct totals_pass *pass = argument;
	const struct bt_plan_kernels *kernels = bt_plan_kernels_for_cpu();
	const struct bt_plan *plan = pass->flat->plan;
	struct bt_slot_range range = bt_parts_range(&pass->flat->parts, part);
	int32_t *totals = pass->flat->cache->totals + range.first;
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		const struct bt_plan_raw *raw = &plan->raws[i];
		if (raw->has_values) {
			kernels->add_normalized(totals, raw->values + range.first, raw->weight,
				pass->divisors[i], raw->reverse, range.count);
		}
	}
	pass->best[part] = kernels->max_total(totals, range.count);
}

static void take_best(struct flat *flat, const struct bt_cell_list *list, uint32_t node_count)
{
	struct bt_cycle_run *run = flat->run;
	int64_t *scores = bt_score_cells(run, list, node_count);
	if (scores == NULL) {
		return;
	}
	const struct bt_plan *plan = flat->plan;
	struct bt_arena *arena = run->cycle->arena;
	uint32_t part_count = flat->parts.count;
	int32_t alike = 0; /* sum of the normalised scores whose raw scores are 0 on every node */
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		const struct bt_plan_raw *raw = &plan->raws[i];
		alike += raw->has_values ? 0 : raw->weight * bt_plan_normalized(0, 0, raw->reverse);
	}
	int32_t *divisors = BT_ARENA_NEW_ARRAY(arena, int32_t, plan->raw_count);
	struct totals_pass pass = {
		.flat = flat,
		.score = (int32_t)scores[0] + alike,
		.maxima = BT_ARENA_NEW_ARRAY(arena, int32_t, (size_t)part_count * plan->raw_count),
		.divisors = divisors,
		.best = bt_arena_alloc(arena, part_count * sizeof(int32_t)),
	};
	if (flat->cell_of != NULL) {
		int32_t *cell_scores =
			bt_arena_alloc(arena, flat->cell_count * sizeof(*cell_scores));
		for (uint32_t cell = 0; cell < flat->cell_count; cell++) {
			cell_scores[cell] = BT_TOTAL_INFEASIBLE;
		}
		for (uint32_t i = 0; i < list->count; i++) {
			cell_scores[list->cells[i]] = (int32_t)scores[i] + alike;
		}
		pass.cell_scores = cell_scores;
	}
	bt_parts_run(&flat->parts, start_part, &pass);
	for (uint32_t i = 0; i < plan->raw_count; i++) {
		/* If all raw scores are 0, any divisor gives the same result. */
		int32_t max = 1;
		for (uint32_t part = 0; part < part_count; part++) {
			int32_t value = pass.maxima[part * plan->raw_count + i];
			max = value > max ? value : max;
		}
		divisors[i] = max;
	}
	bt_parts_run(&flat->parts, finish_part, &pass);
	int32_t best_total = bt_plan_kernels_for_cpu()->max_total(pass.best, part_count);
	uint32_t slot = choose(flat, pass.best, best_total, node_count);
	bt_cycle_point_ran(run, BT_TIMED_SCORE, &BT_STATUS_OK);
	bt_cycle_set_scheduled(
		run->result, slot, best_total, node_count, flat->snapshot->count - node_count);
	if (bt_cycle_needs_ranking(run)) {
		rank(flat, node_count);
	}
}

bool bt_decide_in_columns(struct bt_cycle_run *run, const struct bt_trait_list *traits)
{
	struct flat flat = {
		.run = run,
		.plan = run->plan,
		.snapshot = &run->engine->state->snapshot,
		.cache = run->engine->plans,
		.parts = bt_parts_of(run->engine, run->plan->slot_count),
		.cell_count = 1,
	};
	for (uint32_t i = 0; i < traits->count; i++) {
		if (traits->count > BT_CELL_TRAITS_MAX || !split_cells(&flat, &traits->items[i])) {
			return false;
		}
	}
	count_members(&flat);
	flat.verdicts = BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, flat.cell_count);
	/* Run the per-cycle filters for the cells that have members. */
	struct bt_cell_list list = bt_cell_list_make(run->cycle->arena, flat.cell_count);
	for (uint32_t cell = 0; cell < flat.cell_count; cell++) {
		if (flat.sizes[cell] != 0) {
			bt_cell_list_add(&list, cell, flat.slots[cell], flat.sizes[cell], 0);
		}
	}
	bt_filter_cells(run, &list);
	for (uint32_t i = 0; i < list.count; i++) {
		flat.verdicts[list.cells[i]] = list.verdicts[i];
	}
	uint32_t node_count = bt_cell_list_keep_feasible(&list);
	if (node_count == 0) {
		return end_without_node(&flat);
	}
	bt_cycle_filters_ran(run, &BT_STATUS_OK);
	const uint32_t *rejected = flat.plan->rejected;
	bool by_plan_alone = true;
	if (run->framework->metrics != NULL) {
		filter_other_cells(&flat);
		for (uint32_t cell = 0; cell < flat.cell_count; cell++) {
			by_plan_alone = by_plan_alone && flat.verdicts[cell] == 0;
		}
		if (!by_plan_alone) {
			uint32_t *counts = BT_ARENA_NEW_ARRAY(
				run->cycle->arena, uint32_t, flat.plan->filter_count);
			const struct bt_places *places = &flat.snapshot->places;
			for (uint32_t i = 0; i < places->used; i++) {
				uint32_t slot = places->slot_at[i];
				uint32_t merged =
					slot != BT_SLOT_NONE ? merged_verdict(&flat, slot) : 0;
				if (merged != 0 && merged != BT_VERDICT_TAKEN_OUT) {
					counts[(merged >> BT_VERDICT_DETAIL_BITS) - 1]++;
				}
			}
			rejected = counts;
		}
		/* Nominated nodes were counted when they were evaluated. */
		bt_cycle_count_filters(run, flat.snapshot->count - run->nominated_count, rejected);
	}
	if (node_count == 1) {
		bt_cycle_set_scheduled(
			run->result, flat.slots[list.cells[0]], 0, 1, flat.snapshot->count - 1);
	} else {
		take_best(&flat, &list, node_count);
	}
	return true;
}

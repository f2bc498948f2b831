/* SPDX-License-Identifier: Apache-2.0 */
/** Decisions by the tree of a plan's cells, without visiting nodes. */
#include <string.h>

#include "sched/cycle.h"
#include "sched/plan_private.h"

/**
 * List the cells that have nodes, each with its verdict in the plan. Cells of nodes that were taken
 * out are not listed. *out_empty: the cell of places without a node, or BT_CELL_NONE.
 */
static struct bt_cell_list list_cells(
	const struct bt_cycle_run *run, struct bt_cells *tree, uint32_t *out_empty)
{
	const uint32_t *slot_at = run->engine->state->snapshot.places.slot_at;
	uint32_t count = tree->cell_count;
	struct bt_cell_list list = bt_cell_list_make(run->cycle->arena, count);
	*out_empty = BT_CELL_NONE;
	for (uint32_t cell = 0; cell < count; cell++) {
		uint32_t size = tree->cells[cell].size;
		uint32_t verdict = bt_plan_cells_verdict(tree, cell);
		if (verdict == BT_VERDICT_OUTSIDE) {
			*out_empty = cell;
		} else if (size != 0 && verdict != BT_VERDICT_TAKEN_OUT) {
			bt_cell_list_add(
				&list, cell, slot_at[bt_cells_member(tree, cell)], size, verdict);
		}
	}
	return list;
}

static uint32_t choose(
	struct bt_engine *engine, struct bt_cells *tree, const struct bt_cells_choice *choice)
{
	const struct bt_node_table *nodes = &engine->state->nodes;
	const struct bt_places *places = &engine->state->snapshot.places;
	uint32_t preferred = bt_find_preferred_slot(engine);
	if (preferred != BT_SLOT_NONE && nodes->rows[preferred].in_snapshot) {
		/* Choose the preferred node if it is one of the ties. */
		uint32_t position = places->place_of[preferred];
		uint32_t cell = tree->cell_of[position];
		for (uint32_t i = 0; i < choice->best_count; i++) {
			if (choice->best[i] == cell &&
				tree->local_of[position] == tree->cells[cell].top_best) {
				return position;
			}
		}
	}
	uint64_t ties;
	uint32_t first;
	switch (engine->options.tie_policy) {
	case BT_TIE_HEAP:
		break;
	case BT_TIE_FIRST_BY_NAME:
		first = bt_cells_next_tie(tree, choice, 0);
		for (uint32_t next = first; next != BT_POSITION_NONE;
			next = bt_cells_next_tie(tree, choice, next + 1)) {
			if (bt_str_compare(bt_node_table_name(nodes, places->slot_at[next]),
				    bt_node_table_name(nodes, places->slot_at[first])) < 0) {
				first = next;
			}
		}
		return first;
	case BT_TIE_RANDOM:
		/* As in decisions by columns, one tie draws no number. */
		ties = bt_cells_tie_count(tree, choice);
		return bt_cells_nth_tie(
			tree, choice, ties > 1 ? bt_prng_below(&engine->prng, ties) : 0);
	}
	return bt_cells_choose_by_heap(tree, choice);
}

static void decide_by_tree(struct bt_cycle_run *run, struct bt_cells *tree)
{
	struct bt_snapshot *snapshot = &run->engine->state->snapshot;
	uint32_t empty;
	struct bt_cell_list list = list_cells(run, tree, &empty);
	bt_filter_cells(run, &list);
	bt_cycle_filters_ran(run, &BT_STATUS_OK);
	bt_count_verdicts(run, list.verdicts, list.sizes, list.count);
	uint32_t cell_count = list.count; /* 0: all nodes were taken out */
	uint32_t node_count = bt_cell_list_keep_feasible(&list);
	if (node_count == 0) {
		/* Each cell is a group of nodes with the same status. */
		uint32_t count = cell_count != 0 ? tree->cell_count : 0;
		uint32_t *sizes = BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, count);
		uint32_t *verdicts = bt_arena_alloc(run->cycle->arena, count * sizeof(*verdicts));
		for (uint32_t cell = 0; cell < count; cell++) {
			verdicts[cell] = list.verdicts[0]; /* any verdict will do for empty cells */
		}
		for (uint32_t i = 0; i < cell_count; i++) {
			sizes[list.cells[i]] = list.sizes[i];
			verdicts[list.cells[i]] = list.verdicts[i];
		}
		bt_fail_in_groups(run, verdicts, sizes, count, tree->cell_of);
		return;
	}
	if (node_count == 1) {
		bt_cycle_set_scheduled(run->result, list.slots[0], 0, 1, snapshot->count - 1);
		return;
	}
	int64_t *scores = bt_score_cells(run, &list, node_count);
	if (scores == NULL) {
		return;
	}
	bt_cycle_add_columns(run->plan, list.slots, list.count, false, scores);
	int64_t best_total = INT64_MIN;
	uint32_t *best = bt_arena_alloc(run->cycle->arena, list.count * sizeof(*best));
	uint32_t best_count = 0;
	for (uint32_t i = 0; i < list.count; i++) {
		int64_t total = scores[i] + tree->cells[list.cells[i]].top_best;
		if (total > best_total) {
			best_total = total;
			best_count = 0;
		}
		if (total == best_total) {
			best[best_count++] = list.cells[i];
		}
	}
	struct bt_cells_choice choice = {
		.feasible = list.cells,
		.feasible_count = list.count,
		.best = best,
		.best_count = best_count,
		.start = run->start_index,
		.node_count = snapshot->count,
		.empty = empty,
		.places = snapshot->places.in_list_order ? NULL : &snapshot->places,
	};
	uint32_t position = choose(run->engine, tree, &choice);
	bt_cycle_point_ran(run, BT_TIMED_SCORE, &BT_STATUS_OK);
	bt_cycle_set_scheduled(run->result, snapshot->places.slot_at[position], best_total,
		node_count, snapshot->count - node_count);
	if (bt_cycle_needs_ranking(run)) {
		/*
		 * Set run->ranked to the feasible nodes in search order, and run->totals to their
		 * totals.
		 */
		struct bt_arena *arena = run->cycle->arena;
		const uint32_t *slots = bt_snapshot_list(snapshot);
		uint32_t *ranked = BT_ARENA_NEW_ARRAY(arena, uint32_t, node_count);
		int64_t *totals = BT_ARENA_NEW_ARRAY(arena, int64_t, node_count);
		const int64_t **score_of =
			BT_ARENA_NEW_ARRAY(arena, const int64_t *, tree->cell_count);
		for (uint32_t i = 0; i < list.count; i++) {
			score_of[list.cells[i]] = &scores[i];
		}
		uint32_t at = run->start_index;
		uint32_t count = 0;
		for (uint32_t i = 0; i < snapshot->count; i++) {
			uint32_t place = snapshot->places.place_of[slots[at]];
			const int64_t *score = score_of[tree->cell_of[place]];
			if (score != NULL) {
				ranked[count] = slots[at];
				totals[count++] = *score + tree->local_of[place];
			}
			at = at + 1 == snapshot->count ? 0 : at + 1;
		}
		run->ranked = ranked;
		run->totals = totals;
		run->ranked_count = count;
	}
}

/** --- whether cells can decide --- */

/**
 * Collects the traits for a cycle. A plugin that is a filter and a score is asked for its traits
 * once.
 */
struct trait_collector {
	const struct bt_cycle_run *run;
	struct bt_trait_list *traits;
	struct bt_plugin_set collected;
};

/**
 * Adds the traits of a plugin that runs in every cycle. scores: the plugin only scores, so it has
 * no traits if it skips PreScore. Returns false if the plugin cannot use cells.
 */
static bool collect_traits(struct trait_collector *collector, struct bt_plugin *plugin, bool scores)
{
	const struct bt_cycle_run *run = collector->run;
	const struct bt_plugin_shortcuts *shortcuts = bt_shortcuts(plugin);
	if (bt_plugin_set_has(&collector->collected, plugin->index) ||
		(scores && shortcuts->pre_score_skips != NULL &&
			shortcuts->pre_score_skips(plugin, run->cycle, run->pod))) {
		return true;
	}
	bt_plugin_set_add(&collector->collected, plugin->index);
	return shortcuts->cell_traits != NULL &&
		shortcuts->cell_traits(plugin, run->cycle, run->pod, collector->traits);
}

static bool is_cycle_filter(const struct bt_cycle_run *run, const struct bt_plan_filter *filter)
{
	return (filter->form == BT_FILTER_CYCLE_COLUMN || filter->form == BT_FILTER_CELLS) &&
		!bt_plugin_set_has(&run->cycle->skip_filter, filter->plugin->index);
}

/**
 * Whether the cycle examines every node of the snapshot by columns, without an extender or a plugin
 * that runs node by node.
 */
static bool examines_all_nodes(const struct bt_cycle_run *run)
{
	const struct bt_engine *engine = run->engine;
	const struct bt_snapshot *snapshot = &engine->state->snapshot;
	return run->plan != NULL && !run->extension.active && !run->plan->has_plain_filters &&
		!run->plan->has_plain_scores && !snapshot->has_placement &&
		!run->pre_filter.result.restricted &&
		bt_search_limit(engine, run->framework, snapshot->count) >= snapshot->count &&
		!engine->options.searches_list &&
		run->framework->points[BT_POINT_FILTER].entries.count != 0;
}

/**
 * For each nominated node that does not fit, move the node to the cell of its current verdict in
 * the plan. false: the plan no longer has cells.
 */
static bool move_nominated(const struct bt_cycle_run *run, const struct bt_trait_list *traits)
{
	for (uint32_t i = 0; i < run->nominated_count; i++) {
		if (!bt_status_is_success(&run->nominated[i].status) &&
			!bt_plan_cells_update(
				run->plan, run->engine, traits->items, run->nominated[i].slot)) {
			return false;
		}
	}
	return true;
}

bool bt_cycle_decide_by_cells(struct bt_cycle_run *run)
{
	struct bt_engine *engine = run->engine;
	struct bt_plan *plan = run->plan;
	if (!examines_all_nodes(run) || !bt_cycle_evaluate_all_nominated(run)) {
		return false;
	}
	/* Add the traits of all plugins that run in every cycle. */
	struct bt_trait_list traits = {.arena = run->cycle->arena};
	struct trait_collector collector = {.run = run, .traits = &traits};
	const struct bt_framework_point *point = &run->framework->points[BT_POINT_PRE_SCORE];
	for (uint32_t i = 0; plan->has_cycle_filters && i < plan->filter_count; i++) {
		if (is_cycle_filter(run, &plan->filters[i]) &&
			!collect_traits(&collector, plan->filters[i].plugin, false)) {
			return false;
		}
	}
	for (uint32_t i = 0; !plan->pre_score_cached && i < point->entries.count; i++) {
		struct bt_plugin *plugin = point->entries.items[i].plugin;
		if (!plan->memo[plugin->index].pre_score_known &&
			!collect_traits(&collector, plugin, true)) {
			return false;
		}
	}
	for (uint32_t i = 0; i < plan->cycle_score_count; i++) {
		if (!collect_traits(&collector, plan->cycle_scores[i].plugin, true)) {
			return false;
		}
	}
	bt_plan_refresh(plan, engine, run->pod);
	bt_cycle_exchange_nominated(run);
	if (plan->feasible_count > 1) {
		bt_plan_score_columns(plan, engine, run->pod);
	}
	uint32_t start_before = run->start_index;
	/* All nodes are examined, one full turn, so the next cycle starts at the same index. */
	run->start_index %= engine->state->snapshot.count;
	bool decided = true;
	struct bt_cells *tree = bt_plan_cells_get(plan, engine, traits.items, traits.count);
	if (tree != NULL && !move_nominated(run, &traits)) {
		tree = NULL;
	}
	if (tree != NULL) {
		if (engine->options.verify) {
			bt_plan_cells_check(plan, engine, traits.items);
		}
		decide_by_tree(run, tree);
	} else {
		decided = bt_decide_in_columns(run, &traits);
	}
	bt_cycle_exchange_nominated(run);
	if (tree != NULL) {
		(void)move_nominated(run, &traits);
	}
	if (!decided) {
		run->start_index = start_before;
		return false;
	}
	/*
	 * Remove the entry that the trial of the nominated node left: this decision covers that
	 * node too.
	 */
	run->result->diagnosis.statuses.entries.count = 0;
	engine->next_start_node_index = run->start_index;
	return true;
}

/** --- running plugins for one node of each cell --- */

struct bt_cell_list bt_cell_list_make(struct bt_arena *arena, uint32_t capacity)
{
	uint32_t *memory = bt_arena_alloc(arena, 4 * (size_t)capacity * sizeof(*memory));
	return (struct bt_cell_list){
		.cells = memory,
		.slots = memory + capacity,
		.sizes = memory + 2 * (size_t)capacity,
		.verdicts = memory + 3 * (size_t)capacity,
	};
}

void bt_filter_cells(struct bt_cycle_run *run, struct bt_cell_list *list)
{
	const struct bt_plan *plan = run->plan;
	uint32_t *detail = run->engine->plans->detail;
	uint32_t *slots = NULL;
	for (uint32_t i = 0; plan->has_cycle_filters && i < plan->filter_count; i++) {
		if (!is_cycle_filter(run, &plan->filters[i])) {
			continue;
		}
		if (slots == NULL) {
			slots = bt_arena_alloc(run->cycle->arena, list->count * sizeof(*slots));
		}
		/* Run the filter for the cells that no earlier filter rejects. */
		struct bt_plugin *plugin = plan->filters[i].plugin;
		uint32_t tag = (i + 1) << BT_VERDICT_DETAIL_BITS;
		uint32_t count = 0;
		for (uint32_t k = 0; k < list->count; k++) {
			slots[count] = list->slots[k];
			count += list->verdicts[k] == 0 || list->verdicts[k] > tag;
		}
		struct bt_slot_range range = {.slots = slots, .count = count};
		if (count == 0 ||
			!bt_shortcuts(plugin)->filter_column(plugin,
				run->cycle->pre_filter_data[plugin->index], run->pod,
				run->engine->state, range, detail)) {
			continue;
		}
		for (uint32_t k = 0; k < list->count; k++) {
			if ((list->verdicts[k] == 0 || list->verdicts[k] > tag) &&
				detail[list->slots[k]] != 0) {
				list->verdicts[k] = tag | detail[list->slots[k]];
			}
		}
	}
}

void bt_count_verdicts(const struct bt_cycle_run *run, const uint32_t *verdicts,
	const uint32_t *sizes, uint32_t count)
{
	if (run->framework->metrics == NULL) {
		return;
	}
	uint32_t *rejected =
		BT_ARENA_NEW_ARRAY(run->cycle->arena, uint32_t, run->plan->filter_count);
	for (uint32_t i = 0; i < count; i++) {
		if (verdicts[i] != 0) {
			rejected[(verdicts[i] >> BT_VERDICT_DETAIL_BITS) - 1] += sizes[i];
		}
	}
	/* Nominated nodes were counted when they were evaluated. */
	bt_cycle_count_filters(
		run, run->engine->state->snapshot.count - run->nominated_count, rejected);
}

uint32_t bt_cell_list_keep_feasible(struct bt_cell_list *list)
{
	uint32_t count = list->count;
	uint32_t nodes = 0;
	list->count = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (list->verdicts[i] == 0) {
			nodes += list->sizes[i];
			bt_cell_list_add(list, list->cells[i], list->slots[i], list->sizes[i], 0);
		}
	}
	return nodes;
}

int64_t *bt_score_cells(
	struct bt_cycle_run *run, const struct bt_cell_list *list, uint32_t node_count)
{
	struct bt_status status = run->plan->pre_score_cached
		? run->plan->pre_score
		: bt_run_pre_score(run->framework, run->cycle, run->pod, list->slots, list->sizes,
			  list->count);
	bt_cycle_point_ran(run, BT_TIMED_PRE_SCORE, &status);
	bt_cycle_count_unskipped(run, BT_POINT_PRE_SCORE, BT_TIMED_PRE_SCORE, 1);
	if (!bt_status_is_success(&status)) {
		bt_cycle_set_error(run->result, &status);
		return NULL;
	}
	bt_cycle_count_unskipped(run, BT_POINT_SCORE, BT_TIMED_SCORE, node_count);
	int64_t *scores = BT_ARENA_NEW_ARRAY(run->cycle->arena, int64_t, list->count);
	if (run->plan->cycle_score_count != 0) {
		bt_cycle_add_cycle_scores(run, list->slots, list->count, scores);
	}
	return scores;
}

/** --- no node fits --- */

void bt_fail_in_groups(struct bt_cycle_run *run, const uint32_t *verdicts, const uint32_t *sizes,
	uint32_t count, const uint16_t *group_of)
{
	struct bt_arena *arena = run->cycle->arena;
	struct bt_diagnosis *diagnosis = &run->result->diagnosis;
	struct bt_status_groups *groups = BT_ARENA_NEW(arena, struct bt_status_groups);
	struct bt_status *statuses =
		BT_ARENA_NEW_ARRAY(arena, struct bt_status, count + run->nominated_count);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t same = 0; /* equal verdicts share one status */
		while (verdicts[same] != verdicts[i]) {
			same++;
		}
		statuses[i] = same < i ? statuses[same]
				       : bt_plan_verdict_status(run->plan, run->cycle, run->pod,
						 verdicts[i], arena);
	}
	if (run->nominated_count != 0) {
		/* Append a group for each nominated node. */
		const struct bt_places *places = &run->engine->state->snapshot.places;
		uint32_t *all_sizes =
			BT_ARENA_NEW_ARRAY(arena, uint32_t, (size_t)count + run->nominated_count);
		uint16_t *all_groups = bt_arena_alloc(arena, places->used * sizeof(*all_groups));
		memcpy(all_groups, group_of, places->used * sizeof(*all_groups));
		if (count != 0) {
			memcpy(all_sizes, sizes, count * sizeof(*all_sizes));
		}
		for (uint32_t i = 0; i < run->nominated_count; i++) {
			uint32_t place = places->place_of[run->nominated[i].slot];
			statuses[count] = run->nominated[i].status;
			all_sizes[count] = 1;
			all_groups[place] = (uint16_t)count++;
		}
		sizes = all_sizes;
		group_of = all_groups;
	}
	*groups = (struct bt_status_groups){
		.count = count,
		.statuses = statuses,
		.sizes = sizes,
		.group_of = group_of,
		.start = run->start_index,
	};
	for (uint32_t i = 0; i < groups->count; i++) {
		if (groups->sizes[i] != 0) {
			bt_diagnosis_add_plugin(diagnosis, &statuses[i]);
		}
	}
	/*
	 * Remove the entry of the nominated node's trial: the node's group has the node's status.
	 */
	diagnosis->statuses.entries.count = 0;
	diagnosis->statuses.groups = groups;
	run->engine->next_start_node_index = run->start_index;
	bt_cycle_fail(run);
}

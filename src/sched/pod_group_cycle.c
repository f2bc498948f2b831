/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cycle of a pod group. The members are scheduled one after the other in the snapshot, while
 * the earlier members stay assumed. Then all members are reverted, and the group as a whole is
 * bound or rejected. Spec: 09 sections 7 and 8.
 *
 * The snapshot is not a copy: assuming or reverting a member changes one slot of the columns, and
 * the change log has the change for plans and counters.
 */
#include <stdlib.h>

#include "api/types.h"
#include "base/alloc.h"
#include "base/log.h"
#include "sched/cycle.h"
#include "sched/scheduler_private.h"
#include "state/pod_groups.h"

/** The attempt for one member within one run of the algorithm. */
struct member_try {
	struct bt_held_pod *held; /* the member's cycle and result; NULL: not tried */
	struct bt_status permit;
	bool requires_preemption; /* no node fits, but PostFilter nominated a node */
	bool is_placed;           /* the member has a node, at once or after preemption */
};

/** One run of the algorithm over all members. */
struct group_run {
	struct bt_status status;
	bool waits_for_preemption;
	struct member_try *tries; /* by member, owned; NULL: no member was tried */
};

/** A nomination of this name clears status.nominatedNodeName. */
static const struct bt_str no_node = {NULL, 0};

struct bt_group_cycle {
	bool has_placements; /* gate TopologyAwareWorkloadScheduling */
	bool preempts;       /* gate WorkloadAwarePreemption */
	bool is_bound;       /* the group of the last cycle was accepted */
	struct bt_arena arena;
	struct bt_scheduler *scheduler;
	struct bt_framework *framework;
	struct bt_group_state shared; /* data shared by the members' cycles */
	BT_VEC(struct bt_queue_entry *) members;
	uint32_t waiting_count; /* members not yet passed to submit_member */
	uint64_t cycle_count;
	int64_t now_ns;
	int64_t started_ns;
	struct bt_group_attempt attempt;
	/*
	 * Placements of the last run of the algorithm. Without the gate
	 * TopologyAwareWorkloadScheduling, `tried` has one placement with all nodes and
	 * `placements` is not used.
	 */
	const struct bt_placement *placements;
	struct bt_tried_placement *tried;
	uint32_t tried_count;
	bool is_dry_run; /* the run is for bt_scheduler_try_group */
	bool has_run;
	BT_VEC(struct bt_attempt) ended; /* ended attempts of members, which later steps report */
	uint32_t reported;
	BT_VEC(struct bt_held_pod *) starting; /* reserved members to bind */
};

/** --- create and destroy --- */

struct bt_group_cycle *bt_group_cycle_create(const struct bt_gates *gates)
{
	struct bt_group_cycle *cycle = BT_NEW(struct bt_group_cycle);
	bt_arena_init(&cycle->arena, 0);
	cycle->has_placements = bt_gate_enabled(gates, BT_GATE_TOPOLOGY_AWARE_WORKLOAD_SCHEDULING);
	cycle->preempts = bt_gate_enabled(gates, BT_GATE_WORKLOAD_AWARE_PREEMPTION);
	return cycle;
}

void bt_group_cycle_destroy(struct bt_group_cycle *cycle)
{
	if (cycle == NULL) {
		return;
	}
	bt_arena_finish(&cycle->arena);
	bt_vec_finish(&cycle->members);
	bt_vec_finish(&cycle->ended);
	bt_vec_finish(&cycle->starting);
	bt_free(cycle);
}

const struct bt_group_attempt *bt_scheduler_group_attempt(const struct bt_scheduler *scheduler)
{
	const struct bt_group_cycle *cycle = scheduler->group_cycle;
	return cycle != NULL && cycle->has_run ? &cycle->attempt : NULL;
}

bool bt_group_cycle_next_member(struct bt_group_cycle *cycle, struct bt_attempt *out_attempt)
{
	if (cycle->reported == cycle->ended.count) {
		return false;
	}
	*out_attempt = cycle->ended.items[cycle->reported++];
	return true;
}

/**
 * Activate the unscheduled members of groups for which GangScheduling requested activation (spec 09
 * section 6.3). The unscheduled members include members of this cycle that were not passed to
 * submit_member yet. Activation has no effect on such members: an in-flight pod is requeued after
 * its attempt in any case.
 */
static void activate_wanted(struct bt_group_cycle *cycle)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	struct bt_arena *arena = &cycle->arena;
	struct bt_state *state = scheduler->engine->state;
	const struct bt_group_members *members;
	while ((members = bt_pod_groups_take_activations(state)) != NULL) {
		if (members->unscheduled_count == cycle->waiting_count) {
			continue;
		}
		struct bt_str namespace_ = bt_symbol_text(&state->symbols, members->namespace_);
		struct bt_str *names;
		uint32_t count = bt_group_unscheduled_names(state, members, arena, &names);
		for (uint32_t i = 0; i < count; i++) {
			struct bt_object *pod =
				bt_object_store_unpack(&scheduler->pods, namespace_, names[i]);
			if (pod != NULL) {
				(void)bt_queue_activate(scheduler->queue, pod, cycle->now_ns);
			}
		}
	}
}

/** --- one member: spec 09 section 7.5 --- */

static struct bt_status unschedulable(struct bt_arena *arena, struct bt_str text)
{
	struct bt_status status = bt_status_error_text(arena, text);
	status.code = BT_STATUS_UNSCHEDULABLE;
	return status;
}

/** --- all members: spec 09 section 7.4 --- */

static void release_run(struct bt_group_cycle *cycle, struct group_run *run)
{
	for (uint32_t i = 0; run->tries != NULL && i < cycle->members.count; i++) {
		struct bt_held_pod *held = run->tries[i].held;
		if (held != NULL) {
			bt_scheduler_release_held(cycle->scheduler, held);
		}
	}
	bt_free(run->tries);
	run->tries = NULL;
}

/** Try the members one after the other, then revert those that were placed. Spec 09 section 7.5. */
static struct group_run run_members(struct bt_group_cycle *cycle, bool skips_post_filter)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	struct bt_engine *engine = scheduler->engine;
	struct bt_arena *arena = &cycle->arena;
	struct group_run run = {
		.status = unschedulable(arena, BT_STR("pod group is unschedulable")),
		.tries = BT_NEW_ARRAY(struct member_try, cycle->members.count),
	};
	bool needs_preemption = false;
	uint32_t count = 0;
	while (count < cycle->members.count) {
		struct member_try *try = &run.tries[count];
		struct bt_queue_entry *entry = cycle->members.items[count++];
		struct bt_queued_attempt attempt = {
			.cycle_count = cycle->cycle_count,
			.now_ns = cycle->now_ns,
			.group = &cycle->shared,
			.skips_post_filter = skips_post_filter,
		};
		struct bt_held_pod *held = BT_NEW(struct bt_held_pod);
		struct bt_schedule_result *result = &held->result;
		held->entry = entry;
		held->scheduler = scheduler;
		if (!bt_sym_equal(entry->signature, BT_SYM_NONE)) {
			attempt.signature =
				bt_symbol_text(&engine->state->symbols, entry->signature);
		}
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		bt_engine_schedule_in_snapshot(
			engine, cycle->framework, &entry->pod, &attempt, result);
		result->started_ns = cycle->started_ns;
		bt_metrics_observe_since(
			scheduler->metrics, BT_FAMILY_ALGORITHM_DURATION, NULL, started_ns);
		uint32_t slot = result->slot;
		if (result->outcome == BT_OUTCOME_FIT_ERROR && result->nomination.present &&
			result->nomination.nominated_node_name.length != 0) {
			slot = bt_state_snapshot_find(
				engine->state, result->nomination.nominated_node_name);
			try->requires_preemption = slot != BT_SLOT_NONE;
		}
		if (result->outcome == BT_OUTCOME_SCHEDULED || try->requires_preemption) {
			try->is_placed = bt_engine_reserve_in_snapshot(
				engine, &entry->pod, slot, result, &try->permit);
			try->requires_preemption &= try->is_placed;
		}
		bt_engine_hold(engine, result, &held->cycle);
		try->held = held;
		const struct bt_status *status = &result->status;
		if (!try->is_placed && !bt_status_is_rejected(status)) {
			struct bt_str text = bt_arena_printf(arena,
				"failed to schedule other pod from a pod group: %.*s",
				BT_STR_ARG(bt_status_message_str(status, arena)));
			run.status = bt_status_error_text(arena, text);
			run.waits_for_preemption = false;
			break;
		}
		needs_preemption |= try->requires_preemption;
		if (!try->is_placed || !bt_status_is_success(&try->permit)) {
			continue;
		}
		run.waits_for_preemption = needs_preemption;
		run.status = needs_preemption
			? unschedulable(arena,
				  BT_STR("pod group is unschedulable, pod group is waiting for "
					 "preemption to complete"))
			: BT_STATUS_OK;
	}
	while (count-- > 0) {
		if (run.tries[count].is_placed) {
			bt_engine_revert_in_snapshot(engine, &cycle->members.items[count]->pod,
				&run.tries[count].held->result);
		}
	}
	return run;
}

/** --- placements: spec 09 section 8 --- */

struct candidate {
	uint32_t placement;
	uint32_t placed;      /* number of members with a node */
	struct group_run run; /* tries NULL: the placement was forecast, not run */
};

/**
 * Prediction of how many members fit in each placement, made without scheduling them. If no filter
 * depends on other nodes, the columns give the number of pods of a shape that fit on each node one
 * after the other.
 */
struct forecast {
	/* By placement: upper bound of the members that fit; NULL: not predicted. */
	uint32_t *placed;
	/**
	 * All members are of one kind and PlacementScore does not depend on the members' nodes:
	 * `placed` is the exact number of members that fit, and is sufficient to score a placement.
	 */
	bool is_exact;
	bool rejects_silently; /* rejecting a member has no side effects */
	uint32_t needed;       /* members that must be placed for a feasible placement */
};

/**
 * A group with more kinds of members is not predicted. Members of a kind have the same shape, and
 * the same labels if labels matter.
 */
#define FORECAST_KINDS_MAX 8

static struct forecast forecast_members(struct bt_group_cycle *cycle,
	const struct bt_placement *placements, uint32_t count, bool skips_post_filter)
{
	static const struct forecast unknown = {0};
	struct bt_engine *engine = cycle->scheduler->engine;
	const struct bt_framework *framework = cycle->framework;
	const struct bt_framework_point *permit = &framework->points[BT_POINT_PERMIT];
	const struct bt_framework_point *post_filter = &framework->points[BT_POINT_POST_FILTER];
	const struct bt_framework_point *score = &framework->points[BT_POINT_PLACEMENT_SCORE];
	struct bt_queued_attempt attempt = {.group = &cycle->shared, .skips_post_filter = true};
	struct forecast forecast = {.rejects_silently = true, .needed = 1};
	const struct bt_pod_info *kinds[FORECAST_KINDS_MAX];
	uint32_t sizes[FORECAST_KINDS_MAX] = {0};
	uint32_t kind_count = 0;
	/* Anti-affinity of existing pods may reject members with some labels but not others. */
	bool labels_matter = bt_snapshot_affinity_lists(engine->state)->anti_affinity.count != 0;
	for (uint32_t i = 0; i < cycle->members.count; i++) {
		const struct bt_pod_info *pod = &cycle->members.items[i]->pod;
		uint32_t kind = 0;
		while (kind < kind_count &&
			(kinds[kind]->shape != pod->shape ||
				(labels_matter &&
					!bt_str_map_equal(kinds[kind]->labels, pod->labels)))) {
			kind++;
		}
		if (kind == FORECAST_KINDS_MAX) {
			return unknown;
		}
		if (kind == kind_count) {
			kinds[kind_count++] = pod;
		}
		sizes[kind]++;
	}
	for (uint32_t i = 0; i < permit->entries.count; i++) {
		struct bt_plugin *plugin = permit->entries.items[i].plugin;
		uint32_t quorum;
		if (bt_shortcuts(plugin)->permit_quorum == NULL ||
			!bt_shortcuts(plugin)->permit_quorum(plugin, kinds[0], &quorum)) {
			return unknown;
		}
		forecast.needed = quorum > forecast.needed ? quorum : forecast.needed;
	}
	for (uint32_t i = 0; i < count; i++) {
		/*
		 * A search that stops at its limit does not visit all nodes of the placement, so
		 * the columns do not tell which members find a node.
		 */
		if (placements[i].count == 0 ||
			bt_search_limit(engine, framework, placements[i].count) <
				placements[i].count) {
			return unknown;
		}
	}
	uint32_t *placed = BT_ARENA_NEW_ARRAY(&cycle->arena, uint32_t, count);
	for (uint32_t kind = 0; kind < kind_count; kind++) {
		const uint32_t *room =
			bt_engine_room(engine, cycle->framework, kinds[kind], &attempt);
		if (room == NULL) {
			return unknown;
		}
		for (uint32_t i = 0; i < count; i++) {
			uint64_t sum = 0;
			for (uint32_t n = 0; n < placements[i].count && sum < sizes[kind]; n++) {
				sum += room[placements[i].slots[n]];
			}
			placed[i] += sum < sizes[kind] ? (uint32_t)sum : sizes[kind];
		}
		for (uint32_t i = 0; !skips_post_filter && i < post_filter->entries.count; i++) {
			struct bt_plugin *plugin = post_filter->entries.items[i].plugin;
			forecast.rejects_silently &=
				bt_shortcuts(plugin)->post_filter_changes_nothing != NULL &&
				bt_shortcuts(plugin)->post_filter_changes_nothing(
					plugin, kinds[kind]);
		}
	}
	forecast.placed = placed;
	forecast.is_exact = kind_count == 1;
	for (uint32_t i = 0; i < score->entries.count; i++) {
		forecast.is_exact &=
			bt_shortcuts(score->entries.items[i].plugin)->placement_score_ignores_nodes;
	}
	return forecast;
}

static bool is_feasible(const struct group_run *run)
{
	return bt_status_is_success(&run->status) || run->waits_for_preemption;
}

/**
 * Try all members on the nodes of one placement. The run ends with Error if the placement cannot be
 * assumed.
 */
static struct group_run run_in_placement(
	struct bt_group_cycle *cycle, const struct bt_placement *placement, bool skips_post_filter)
{
	struct bt_state *state = cycle->scheduler->engine->state;
	if (placement->count == state->snapshot.count) {
		return run_members(cycle, skips_post_filter); /* the placement has all nodes */
	}
	struct bt_placement_node *nodes =
		BT_ARENA_NEW_ARRAY(&cycle->arena, struct bt_placement_node, placement->count);
	struct berth_error err = BERTH_ERROR_INIT;
	for (uint32_t i = 0; i < placement->count; i++) {
		nodes[i] = bt_snapshot_placement_node(state, placement->slots[i]);
	}
	if (bt_snapshot_assume_placement(state, nodes, placement->count, &err) < 0) {
		struct bt_str text = bt_arena_printf(&cycle->arena,
			"failed to assume pod group placement: %s", berth_error_message(&err));
		berth_error_finish(&err);
		return (struct group_run){.status = bt_status_error_text(&cycle->arena, text)};
	}
	struct group_run run = run_members(cycle, skips_post_filter);
	bt_snapshot_forget_placement(state);
	return run;
}

/**
 * Index of the best candidate. Among equal candidates, BT_TIE_FIRST_BY_NAME takes the first, and
 * the other policies take a random candidate. UINT32_MAX: scoring failed with *out_status.
 */
static uint32_t score_candidates(struct bt_group_cycle *cycle,
	const struct bt_placement *placements, const struct candidate *candidates, uint32_t count,
	struct bt_status *out_status)
{
	struct bt_arena *arena = &cycle->arena;
	struct bt_engine *engine = cycle->scheduler->engine;
	struct bt_placement_assignments *assignments =
		BT_ARENA_NEW_ARRAY(arena, struct bt_placement_assignments, count);
	struct bt_score_table table;
	const struct bt_pod_info **all =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_pod_info *, cycle->members.count);
	for (uint32_t m = 0; m < cycle->members.count; m++) {
		all[m] = &cycle->members.items[m]->pod;
	}
	for (uint32_t i = 0; i < count; i++) {
		assignments[i].placement = &placements[candidates[i].placement];
		if (candidates[i].run.tries == NULL) {
			/* All members have the same shape, so take the first members. */
			assignments[i].pods = all;
			assignments[i].pod_count = candidates[i].placed;
			continue;
		}
		const struct bt_pod_info **pods =
			BT_ARENA_NEW_ARRAY(arena, const struct bt_pod_info *, cycle->members.count);
		assignments[i].pods = pods;
		for (uint32_t m = 0; m < cycle->members.count; m++) {
			const struct member_try *try = &candidates[i].run.tries[m];
			if (try->is_placed) {
				struct bt_pod_info *placed =
					BT_ARENA_NEW(arena, struct bt_pod_info);
				*placed = cycle->members.items[m]->pod;
				placed->node_name = try->held->result.node_name;
				pods[assignments[i].pod_count++] = placed;
			}
		}
	}
	*out_status = bt_run_placement_score(cycle->framework, arena, assignments, count, &table);
	if (!bt_status_is_success(out_status)) {
		return UINT32_MAX;
	}
	struct bt_group_attempt *attempt = &cycle->attempt;
	struct bt_scored_placement *scored =
		BT_ARENA_NEW_ARRAY(arena, struct bt_scored_placement, count);
	struct bt_str *names = BT_ARENA_NEW_ARRAY(arena, struct bt_str, table.plugin_count);
	uint32_t best = 0;
	uint32_t ties = 1;
	for (uint32_t p = 0; p < table.plugin_count; p++) {
		names[p] = bt_str_from(table.plugins[p].plugin->ops->name);
	}
	for (uint32_t i = 0; i < count; i++) {
		int64_t *scores = BT_ARENA_NEW_ARRAY(arena, int64_t, table.plugin_count);
		for (uint32_t p = 0; p < table.plugin_count; p++) {
			scores[p] = table.plugins[p].scores[i];
		}
		scored[i] = (struct bt_scored_placement){
			bt_arena_str(arena, assignments[i].placement->name), table.totals[i],
			scores};
		if (i != 0 && table.totals[i] > table.totals[best]) {
			best = i;
			ties = 1;
		} else if (i != 0 && table.totals[i] == table.totals[best]) {
			ties++;
			if (engine->options.tie_policy != BT_TIE_FIRST_BY_NAME &&
				bt_prng_below(&engine->prng, ties) == 0) {
				best = i;
			}
		}
	}
	attempt->placements = scored;
	attempt->placement_count = count;
	attempt->plugin_names = names;
	attempt->plugin_count = table.plugin_count;
	return best;
}

static uint32_t count_placed(const struct bt_group_cycle *cycle, const struct group_run *run)
{
	uint32_t count = 0;
	for (uint32_t i = 0; run->tries != NULL && i < cycle->members.count; i++) {
		count += run->tries[i].is_placed;
	}
	return count;
}

/**
 * Verify mode: run the members in the placement and abort if the result differs from the
 * prediction.
 */
static void check_forecast(struct bt_group_cycle *cycle, const struct bt_placement *placement,
	const struct forecast *forecast, uint32_t placed, bool skips_post_filter)
{
	struct bt_engine *engine = cycle->scheduler->engine;
	/* Save all state that the run changes, to restore it below. */
	struct bt_scheduler_metrics *metrics = cycle->scheduler->metrics;
	struct bt_profile_metrics *profile_metrics = cycle->framework->metrics;
	struct bt_batch *batches = engine->batches;
	struct bt_prng prng = engine->prng;
	uint32_t start = engine->next_start_node_index;
	cycle->scheduler->metrics = NULL;
	cycle->framework->metrics = NULL;
	engine->batches = NULL;
	struct group_run run = run_in_placement(cycle, placement, skips_post_filter);
	uint32_t found = count_placed(cycle, &run);
	if (found > placed || (forecast->is_exact && found != placed) ||
		is_feasible(&run) != (placed >= forecast->needed) ||
		engine->next_start_node_index != start % placement->count) {
		bt_panic("verify: pod group %.*s/%.*s, placement \"%.*s\": the columns place %u of "
			 "%u members, %u when they are tried",
			BT_STR_ARG(cycle->attempt.namespace_), BT_STR_ARG(cycle->attempt.name),
			BT_STR_ARG(placement->name), placed, cycle->members.count, found);
	}
	release_run(cycle, &run);
	engine->next_start_node_index = start;
	engine->prng = prng;
	engine->batches = batches;
	cycle->framework->metrics = profile_metrics;
	cycle->scheduler->metrics = metrics;
}

/**
 * Decide over all placements. Placements with a sufficient prediction are not run, with three
 * exceptions: the chosen placement; the first placement if no placement is feasible, because the
 * reasons of its members are reported; and the last placement in which a member fits, because
 * batching remembers the nodes of that run (spec 09 section 12.6). false: a run ended differently
 * from its prediction because a plugin failed, so the caller must run all placements.
 */
static bool run_each_placement(struct bt_group_cycle *cycle,
	const struct bt_placement_outcome *outcome, const struct forecast *forecast,
	bool skips_post_filter, struct group_run *out_run)
{
	struct bt_arena *arena = &cycle->arena;
	struct bt_engine *engine = cycle->scheduler->engine;
	const struct bt_placement *placements = outcome->placements;
	struct candidate *candidates = BT_ARENA_NEW_ARRAY(arena, struct candidate, outcome->count);
	uint32_t *starts = BT_ARENA_NEW_ARRAY(arena, uint32_t, outcome->count);
	struct bt_tried_placement *tried =
		BT_ARENA_NEW_ARRAY(arena, struct bt_tried_placement, outcome->count);
	struct group_run first = {0};
	uint32_t count = 0;
	uint32_t best = UINT32_MAX;
	uint32_t last_untried = UINT32_MAX;
	struct bt_status status = BT_STATUS_OK;
	for (uint32_t i = 0; i < outcome->count; i++) {
		starts[i] = engine->next_start_node_index;
		uint32_t placed = forecast->placed != NULL ? forecast->placed[i] : 0;
		bool fits = placed >= forecast->needed;
		tried[i] = (struct bt_tried_placement){
			.name = bt_arena_str(arena, placements[i].name),
			.node_count = placements[i].count,
			.placed_count = placed,
			.is_feasible = fits,
		};
		if (forecast->placed != NULL &&
			(forecast->rejects_silently || placed == cycle->members.count) &&
			(forecast->is_exact || !fits)) {
			if (engine->options.verify) {
				check_forecast(
					cycle, &placements[i], forecast, placed, skips_post_filter);
			}
			engine->next_start_node_index %= placements[i].count;
			last_untried = placed != 0 ? i : last_untried;
			if (fits) {
				candidates[count++] =
					(struct candidate){.placement = i, .placed = placed};
			}
			continue;
		}
		struct group_run run = run_in_placement(cycle, &placements[i], skips_post_filter);
		tried[i].placed_count = count_placed(cycle, &run);
		tried[i].is_feasible = is_feasible(&run);
		last_untried = tried[i].placed_count != 0 ? UINT32_MAX : last_untried;
		if (is_feasible(&run)) {
			candidates[count++] = (struct candidate){.placement = i, .run = run};
		} else if (run.status.code == BT_STATUS_ERROR) {
			for (uint32_t k = 0; k < count; k++) {
				release_run(cycle, &candidates[k].run);
			}
			release_run(cycle, &first);
			*out_run = run;
			return true;
		} else if (i == 0) {
			first = run;
		} else {
			release_run(cycle, &run);
		}
	}
	uint32_t next_start = engine->next_start_node_index;
	if (count > 1) {
		best = score_candidates(cycle, placements, candidates, count, &status);
	} else if (count == 1) {
		best = 0;
	}
	bool is_kept = true;
	uint32_t chosen = best != UINT32_MAX ? candidates[best].placement : 0;
	struct group_run *run = best != UINT32_MAX ? &candidates[best].run : &first;
	if ((best != UINT32_MAX || count == 0) && run->tries == NULL) {
		engine->next_start_node_index = starts[chosen];
		*run = run_in_placement(cycle, &placements[chosen], skips_post_filter);
		is_kept = run->status.code != BT_STATUS_ERROR && is_feasible(run) == (count != 0) &&
			(!forecast->is_exact ||
				count_placed(cycle, run) == forecast->placed[chosen]);
	}
	if (is_kept && last_untried != UINT32_MAX && last_untried != chosen) {
		engine->next_start_node_index = starts[last_untried];
		struct group_run last =
			run_in_placement(cycle, &placements[last_untried], skips_post_filter);
		release_run(cycle, &last);
	}
	engine->next_start_node_index = next_start;
	cycle->placements = placements;
	cycle->tried = tried;
	cycle->tried_count = outcome->count;
	if (best != UINT32_MAX) {
		tried[chosen].is_chosen = true;
	}
	for (uint32_t k = 0; k < count; k++) {
		if (k != best || !is_kept) {
			release_run(cycle, &candidates[k].run);
		}
	}
	if (count == 0 && is_kept) {
		struct bt_str text = bt_arena_printf(arena,
			"0/%u placements are available, first placement status: %.*s",
			outcome->count, BT_STR_ARG(bt_status_message_str(&first.status, arena)));
		first.status = unschedulable(arena, text);
		*out_run = first;
		return true;
	}
	release_run(cycle, &first);
	*out_run = best != UINT32_MAX ? candidates[best].run : (struct group_run){.status = status};
	return is_kept;
}

static struct bt_placement_outcome generate_placements(struct bt_group_cycle *cycle)
{
	const struct bt_snapshot *snapshot = &cycle->scheduler->engine->state->snapshot;
	return bt_run_placement_generate(cycle->framework, &cycle->arena, cycle->attempt.namespace_,
		cycle->attempt.name, bt_snapshot_list(snapshot), snapshot->count);
}

static struct group_run run_algorithm(struct bt_group_cycle *cycle, bool skips_post_filter)
{
	struct bt_engine *engine = cycle->scheduler->engine;
	struct group_run run;
	cycle->tried_count = 0;
	if (!cycle->has_placements) {
		run = run_members(cycle, skips_post_filter);
		cycle->tried = BT_ARENA_NEW(&cycle->arena, struct bt_tried_placement);
		*cycle->tried = (struct bt_tried_placement){
			.name = BT_STR(""),
			.node_count = engine->state->snapshot.count,
			.placed_count = count_placed(cycle, &run),
			.is_feasible = is_feasible(&run),
			.is_chosen = is_feasible(&run),
		};
		cycle->tried_count = 1;
		return run;
	}
	struct bt_placement_outcome outcome = generate_placements(cycle);
	struct forecast forecast = {0};
	if (!bt_status_is_success(&outcome.status)) {
		return (struct group_run){.status = outcome.status};
	}
	if (outcome.count > 1 && cycle->members.count > 1) {
		forecast = forecast_members(
			cycle, outcome.placements, outcome.count, skips_post_filter);
	}
	if (cycle->is_dry_run && !forecast.is_exact) {
		forecast.placed = NULL; /* the caller needs the exact number of placed members */
	}
	uint32_t start = engine->next_start_node_index;
	if (!run_each_placement(cycle, &outcome, &forecast, skips_post_filter, &run)) {
		engine->next_start_node_index = start;
		forecast.placed = NULL;
		(void)run_each_placement(cycle, &outcome, &forecast, skips_post_filter, &run);
	}
	return run;
}

/** --- preemption for the whole group: spec 09 section 9, 08 section 14 --- */

struct group_trial {
	struct bt_group_cycle *cycle;
	struct bt_state_trial snapshot;
	bool is_whole; /* the members may use all nodes */
	bool has_run;  /* the algorithm has run since the trial began */
};

static int take_victim(void *context, uint32_t pod_id, BT_UNUSED struct berth_error *err)
{
	struct group_trial *trial = context;
	bt_state_trial_take_pod(&trial->snapshot, pod_id);
	return 0;
}

static int return_victim(void *context, uint32_t pod_id, BT_UNUSED struct berth_error *err)
{
	struct group_trial *trial = context;
	bt_snapshot_trial_return_pod(&trial->snapshot, pod_id);
	return 0;
}

static struct bt_status find_feasible(void *context)
{
	struct group_trial *trial = context;
	struct bt_group_cycle *cycle = trial->cycle;
	struct bt_engine *engine = cycle->scheduler->engine;
	const struct bt_snapshot *snapshot = &engine->state->snapshot;
	struct bt_placement all = {.slots = bt_snapshot_list(snapshot), .count = snapshot->count};
	if (trial->has_run && trial->is_whole) {
		/*
		 * Preemption calls this function once without all possible victims, and then each
		 * time that it has added a unit of victims back. Preemption reads only the code of
		 * the later statuses, so a prediction is enough for the later calls.
		 */
		struct forecast forecast = forecast_members(cycle, &all, 1, true);
		bool fits = forecast.placed != NULL && forecast.placed[0] >= forecast.needed;
		if (forecast.placed != NULL && (forecast.is_exact || !fits)) {
			if (engine->options.verify) {
				check_forecast(cycle, &all, &forecast, forecast.placed[0], true);
			}
			engine->next_start_node_index %= snapshot->count;
			return bt_status_code_only(
				fits ? BT_STATUS_SUCCESS : BT_STATUS_UNSCHEDULABLE);
		}
	}
	struct group_run run = run_algorithm(cycle, true);
	release_run(cycle, &run);
	trial->has_run = true;
	return run.status;
}

/** The group was rejected: select victims and evict them. */
static void preempt(struct bt_group_cycle *cycle, struct group_run *run)
{
	struct bt_arena *arena = &cycle->arena;
	struct bt_state *state = cycle->scheduler->engine->state;
	const struct bt_pod_group *group = bt_object_store_find(
		&state->objects, BT_KIND_POD_GROUP, cycle->attempt.namespace_, cycle->attempt.name);
	struct bt_status status;
	if (cycle->framework->pod_group_post_filter != NULL && group == NULL) {
		struct bt_str text = bt_arena_printf(arena,
			"failed to get pod group object: podgroup.scheduling.k8s.io \"%.*s\" not "
			"found",
			BT_STR_ARG(cycle->attempt.name));
		run->status = bt_status_error_text(arena, text);
		return;
	}
	if (cycle->framework->pod_group_post_filter != NULL &&
		group->spec.scheduling_constraints != NULL &&
		group->spec.scheduling_constraints->topology.count != 0) {
		status = unschedulable(arena,
			BT_STR("workload aware preemption is not supported for pod groups with "
			       "scheduling constraints"));
	} else {
		struct group_trial trial = {.cycle = cycle};
		struct bt_pod_group_trial ops = {take_victim, return_victim, find_feasible, &trial};
		const struct bt_pod_info **pods =
			BT_ARENA_NEW_ARRAY(arena, const struct bt_pod_info *, cycle->members.count);
		for (uint32_t i = 0; i < cycle->members.count; i++) {
			pods[i] = &cycle->members.items[i]->pod;
		}
		struct bt_placement_outcome placements = {0};
		if (cycle->has_placements) {
			placements = generate_placements(cycle);
		}
		trial.is_whole = !cycle->has_placements ||
			(placements.count == 1 &&
				placements.placements[0].count == state->snapshot.count);
		bt_snapshot_trial_begin(&trial.snapshot, state);
		status = bt_run_pod_group_post_filter(
			cycle->framework, arena, group, pods, cycle->members.count, &ops);
		bt_snapshot_trial_end(&trial.snapshot);
	}
	if (bt_status_is_success(&status)) {
		run->waits_for_preemption = true;
	} else if (status.code == BT_STATUS_ERROR) {
		run->status = status;
	} else {
		struct bt_str first = bt_status_message_str(&run->status, arena);
		struct bt_str reason = bt_status_message_str(&status, arena);
		run->status = unschedulable(arena,
			bt_arena_printf(
				arena, "%.*s, %.*s", BT_STR_ARG(first), BT_STR_ARG(reason)));
	}
}

/** --- results of the members: spec 09 section 7.6 --- */

/** Record a member's attempt; its texts are copied. */
static void add_ended(struct bt_group_cycle *cycle, const struct bt_attempt *attempt)
{
	struct bt_attempt copy = *attempt;
	copy.namespace_ = bt_arena_str(&cycle->arena, attempt->namespace_);
	copy.name = bt_arena_str(&cycle->arena, attempt->name);
	copy.uid = bt_arena_str(&cycle->arena, attempt->uid);
	copy.node_name = bt_arena_str(&cycle->arena, attempt->node_name);
	copy.message = bt_arena_str(&cycle->arena, attempt->message);
	copy.group_name = cycle->attempt.name;
	bt_vec_push(&cycle->ended, copy);
}

/** Run the failure handler for one member. */
static void fail_member(struct bt_group_cycle *cycle, struct bt_queue_entry *entry,
	const struct bt_schedule_result *result)
{
	struct bt_attempt attempt = {0};
	bt_scheduler_name_attempt(cycle->scheduler, &entry->pod, &attempt);
	bt_handle_scheduling_failure(cycle->scheduler, entry, result, cycle->now_ns, &attempt);
	add_ended(cycle, &attempt);
}

/**
 * Fail a member without naming a plugin. override_node: new nomination; NULL: leave the nomination
 * unchanged.
 */
static void fail_with_group(struct bt_group_cycle *cycle, struct bt_queue_entry *entry,
	const struct bt_status *status, const struct bt_str *override_node)
{
	struct bt_schedule_result result = {
		.outcome = BT_OUTCOME_ERROR,
		.status = *status,
		.framework = cycle->framework,
		.started_ns = cycle->started_ns,
	};
	if (override_node != NULL) {
		result.nomination = (struct bt_post_filter_result){
			true, BT_NOMINATING_OVERRIDE, *override_node};
	}
	fail_member(cycle, entry, &result);
}

static void submit_member(struct bt_group_cycle *cycle, const struct group_run *run,
	struct bt_queue_entry *entry, struct member_try *try)
{
	bool is_error = run->status.code == BT_STATUS_ERROR;
	struct bt_status status = run->status;
	const struct bt_str *node = &no_node;
	if (try == NULL || try->held == NULL) {
		fail_with_group(cycle, entry, &status, is_error ? node : NULL);
		return;
	}
	struct bt_schedule_result *result = &try->held->result;
	bool fits = try->is_placed && !try->requires_preemption;
	if (is_error) {
		status = !fits && result->status.code == BT_STATUS_ERROR ? result->status : status;
	} else if (!fits && (!try->requires_preemption || run->waits_for_preemption)) {
		fail_member(cycle, entry, result);
		return;
	} else if (fits && bt_status_is_success(&status)) {
		/*
		 * Assume the member on its node in the cache, then run Reserve and Permit. From
		 * here on the cycle is the cycle of a single pod.
		 */
		struct bt_scheduler *scheduler = cycle->scheduler;
		struct bt_held_pod *held = try->held;
		try->held = NULL;
		result->cycle->group = NULL;
		result->diagnosis.statuses = scheduler->engine->statuses;
		bool is_reserved = bt_engine_reserve(scheduler->engine, &entry->pod, result);
		activate_wanted(cycle);
		if (!is_reserved) {
			bt_scheduler_announce_devices(scheduler, cycle->now_ns);
			bt_scheduler_warn_if_forget_failed(scheduler, result);
			fail_member(cycle, entry, result);
			bt_scheduler_release_held(scheduler, held);
			return;
		}
		bt_scheduler_activate(scheduler, result->cycle, cycle->now_ns);
		bt_scheduler_wait_on_permit(scheduler, held, cycle->now_ns);
		struct bt_attempt attempt = {
			.outcome = BT_ATTEMPT_WAITING,
			.node_name = result->node_name,
			.score = result->total_score,
			.feasible_count = result->feasible_count,
		};
		bt_scheduler_name_attempt(scheduler, &entry->pod, &attempt);
		add_ended(cycle, &attempt);
		bt_vec_push(&cycle->starting, held); /* for the binding cycle */
		return;
	} else if (fits && bt_status_is_rejected(&status) && run->waits_for_preemption) {
		node = &result->node_name;
	} else if (!fits || bt_status_is_rejected(&status)) {
		struct bt_str message = bt_status_message_str(&try->permit, &cycle->arena);
		status = unschedulable(&cycle->arena,
			message.length != 0
				? bt_arena_printf(&cycle->arena, "pod group is unschedulable, %.*s",
					  BT_STR_ARG(message))
				: BT_STR("pod group is unschedulable"));
	} else {
		status = bt_status_error_text(&cycle->arena,
			bt_arena_printf(&cycle->arena,
				"received unexpected pod group scheduling algorithm status code: "
				"%s",
				bt_status_code_name((enum bt_status_code)status.code)));
	}
	fail_with_group(cycle, entry, &status, node);
}

/** --- the group's condition --- */

static void write_condition(struct bt_group_cycle *cycle, const struct group_run *run)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	const struct bt_pod_group *group = bt_object_store_find(&scheduler->engine->state->objects,
		BT_KIND_POD_GROUP, cycle->attempt.namespace_, cycle->attempt.name);
	if (group == NULL || scheduler->writer.patch_pod_group == NULL) {
		return;
	}
	bool is_scheduled = bt_status_is_success(&run->status);
	bool is_rejected = bt_status_is_rejected(&run->status);
	struct bt_condition condition = {
		.type = BT_STR("PodGroupScheduled"),
		.status = is_scheduled ? BT_STR("True") : BT_STR("False"),
		.reason = is_scheduled ? BT_STR("Scheduled")
			: is_rejected  ? BT_STR("Unschedulable")
				       : BT_STR("SchedulerError"),
		.message = cycle->attempt.message,
		.observed_generation = group->metadata.generation,
	};
	for (uint32_t i = 0; i < group->status.conditions.count; i++) {
		const struct bt_condition *stored = &group->status.conditions.items[i];
		if (!bt_str_equal(stored->type, condition.type)) {
			continue;
		}
		if (bt_str_equal_c(stored->status, "True") && !is_scheduled) {
			return; /* a condition that is True stays True */
		}
		if (bt_str_equal(stored->status, condition.status) &&
			bt_str_equal(stored->reason, condition.reason) &&
			bt_str_equal(stored->message, condition.message) &&
			stored->observed_generation == condition.observed_generation) {
			return;
		}
	}
	struct berth_error err = BERTH_ERROR_INIT;
	if (scheduler->writer.patch_pod_group(scheduler->writer.context, group, &condition, &err) <
		0) {
		bt_scheduler_warn(scheduler, &err);
	}
}

/** --- the cycle --- */

struct member_order {
	struct bt_queue_entry *entry;
	uint32_t index; /* keeps equal members in order */
};

BT_COMPARE(compare_members, struct member_order,
	BT_ORDER_BY(BT_ORDER(b->entry->pod.priority, a->entry->pod.priority),
		BT_ORDER(a->entry->initial_attempt_ns, b->entry->initial_attempt_ns),
		BT_ORDER(a->index, b->index)))

/** Sort by priority, then by time of the first entry into the active queue. */
static void sort_members(struct bt_group_cycle *cycle)
{
	uint32_t total = cycle->members.count;
	struct member_order *order = BT_ARENA_NEW_ARRAY(&cycle->arena, struct member_order, total);
	for (uint32_t i = 0; i < total; i++) {
		order[i] = (struct member_order){cycle->members.items[i], i};
	}
	qsort(order, total, sizeof(*order), compare_members);
	for (uint32_t i = 0; i < total; i++) {
		cycle->members.items[i] = order[i].entry;
	}
}

/** Set cycle->framework to the profile of all members. Returns the error, or "" on success. */
static struct bt_str find_profile(struct bt_group_cycle *cycle)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	struct bt_str first = cycle->members.items[0]->pod.object->spec.scheduler_name;
	struct bt_str text = BT_STR("");
	cycle->framework = bt_engine_profile(scheduler->engine, first);
	for (uint32_t i = 1; i < cycle->members.count && text.length == 0; i++) {
		struct bt_str other = cycle->members.items[i]->pod.object->spec.scheduler_name;
		if (!bt_str_equal(first, other)) {
			/* Upstream prints the first member's scheduler name last. */
			text = bt_arena_printf(&cycle->arena,
				"all pods in a single pod group should have the same "
				".spec.schedulerName set, got: \"%.*s\" and \"%.*s\"",
				BT_STR_ARG(other), BT_STR_ARG(first));
		}
	}
	if (text.length == 0 && cycle->framework == NULL) {
		text = bt_arena_printf(&cycle->arena,
			"profile not found for scheduler name \"%.*s\"", BT_STR_ARG(first));
	}
	return text;
}

/** Fail a pod of a group without a common profile. A pod without a profile is only released. */
static void fail_without_run(struct bt_group_cycle *cycle, struct bt_queue_entry *entry,
	const struct bt_status *status, const struct bt_str *override_node)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	cycle->framework =
		bt_engine_profile(scheduler->engine, entry->pod.object->spec.scheduler_name);
	if (cycle->framework == NULL) {
		bt_queue_release(scheduler->queue, entry);
	} else {
		fail_with_group(cycle, entry, status, override_node);
	}
}

/** Start the run, after members and profile are set. */
static void begin_run(struct bt_group_cycle *cycle)
{
	cycle->cycle_count = bt_queue_scheduling_cycle(cycle->scheduler->queue);
	cycle->waiting_count = cycle->members.count;
	cycle->shared = (struct bt_group_state){
		.arena = &cycle->arena,
		.data = BT_ARENA_NEW_ARRAY(
			&cycle->arena, void *, cycle->framework->instances.count),
	};
}

static void run_cycle(struct bt_group_cycle *cycle)
{
	struct bt_scheduler *scheduler = cycle->scheduler;
	struct berth_error err = BERTH_ERROR_INIT;
	struct group_run run = {0};
	begin_run(cycle);
	if (bt_state_refresh_snapshot(scheduler->engine->state, &err) < 0) {
		run.status = bt_status_from_error(&cycle->arena, &err);
	} else {
		int64_t started_ns = bt_metrics_now(scheduler->metrics);
		run = run_algorithm(cycle, false);
		if (scheduler->metrics != NULL) {
			bt_metric_observe(bt_scheduler_cell(scheduler->metrics,
						  BT_FAMILY_GROUP_ALGORITHM_DURATION, NULL),
				bt_metrics_seconds(
					bt_metrics_now(scheduler->metrics) - started_ns));
		}
		if (cycle->preempts && run.status.code == BT_STATUS_UNSCHEDULABLE) {
			preempt(cycle, &run);
		}
		activate_wanted(cycle);
		bt_scheduler_announce_devices(scheduler, cycle->now_ns);
	}
	cycle->attempt.message = bt_status_message_str(&run.status, &cycle->arena);
	cycle->attempt.member_count = cycle->members.count;
	for (uint32_t i = 0; i < cycle->members.count; i++) {
		cycle->waiting_count = cycle->members.count - i - 1;
		submit_member(cycle, &run, cycle->members.items[i],
			run.tries != NULL ? &run.tries[i] : NULL);
	}
	cycle->is_bound = bt_status_is_success(&run.status);
	write_condition(cycle, &run);
	if (scheduler->metrics != NULL) {
		const char *result = "error";
		if (cycle->is_bound) {
			result = "scheduled";
		} else if (bt_status_is_rejected(&run.status)) {
			result = run.waits_for_preemption ? "waiting_on_preemption"
							  : "unschedulable";
		}
		const struct bt_str labels[] = {
			bt_str_from(result), cycle->framework->scheduler_name};
		bt_metric_add(
			bt_scheduler_cell(scheduler->metrics, BT_FAMILY_GROUP_ATTEMPTS, labels), 1);
		bt_metric_observe(bt_scheduler_cell(scheduler->metrics,
					  BT_FAMILY_GROUP_ATTEMPT_DURATION, labels),
			bt_metrics_seconds(bt_metrics_now(scheduler->metrics) - cycle->started_ns));
	}
	/* Binding cycles begin after the group's cycle. */
	for (uint32_t i = 0; i < cycle->starting.count; i++) {
		bt_scheduler_start_held_binding(scheduler, cycle->starting.items[i]);
	}
	cycle->starting.count = 0;
	release_run(cycle, &run);
}

/** Start a cycle for the pod's group. The cycle has no members yet. */
static void begin_cycle(struct bt_group_cycle *cycle, struct bt_scheduler *scheduler,
	const struct bt_pod *pod, int64_t now_ns)
{
	bt_arena_reset(&cycle->arena);
	cycle->scheduler = scheduler;
	cycle->now_ns = now_ns;
	cycle->started_ns = bt_metrics_now(scheduler->metrics);
	cycle->members.count = 0;
	cycle->ended.count = 0;
	cycle->reported = 0;
	cycle->is_bound = false;
	cycle->attempt = (struct bt_group_attempt){
		.namespace_ = bt_arena_str(&cycle->arena, pod->metadata.namespace_),
		.name = bt_arena_str(&cycle->arena, pod->spec.scheduling_group->pod_group_name),
		.pod_name = bt_arena_str(&cycle->arena, pod->metadata.name),
	};
}

void bt_scheduler_run_group_cycle(struct bt_scheduler *scheduler, struct bt_queue_entry *entry,
	int64_t now_ns, struct bt_attempt *out_attempt)
{
	struct bt_group_cycle *cycle = scheduler->group_cycle;
	begin_cycle(cycle, scheduler, entry->pod.object, now_ns);
	cycle->has_run = true;
	bt_scheduler_name_attempt(scheduler, &entry->pod, out_attempt);
	out_attempt->outcome = BT_ATTEMPT_SKIPPED;
	out_attempt->group_name = cycle->attempt.name;
	const struct bt_group_members *members = bt_pod_groups_find(
		scheduler->engine->state, cycle->attempt.namespace_, cycle->attempt.name);
	BT_LOG_INFO(3, "Attempting to schedule pod group",
		BT_LOG_REF("podGroup", cycle->attempt.namespace_, cycle->attempt.name));
	if (members == NULL) {
		/* Upstream drops the error here, so nothing is reported. */
		struct bt_status nothing = bt_status_code_only(BT_STATUS_SKIP);
		fail_without_run(cycle, entry, &nothing, NULL);
	} else {
		/*
		 * Collect the popped pod and the other unscheduled members that are in the queue,
		 * in order of name; then sort all members.
		 */
		struct bt_str *names;
		uint32_t count = bt_group_unscheduled_names(
			scheduler->engine->state, members, &cycle->arena, &names);
		bt_vec_push(&cycle->members, entry);
		for (uint32_t i = 0; i < count; i++) {
			names[i] = bt_arena_str(&cycle->arena, names[i]);
		}
		for (uint32_t i = 0; i < count; i++) {
			struct bt_queue_entry *other = bt_str_equal(names[i], entry->pod.name)
				? NULL
				: bt_queue_pop_pod(scheduler->queue, cycle->attempt.namespace_,
					  names[i], now_ns);
			if (other != NULL) {
				bt_vec_push(&cycle->members, other);
			}
		}
		sort_members(cycle);
		struct bt_str problem = find_profile(cycle);
		if (problem.length != 0) {
			struct bt_status status = bt_status_error_text(&cycle->arena, problem);
			for (uint32_t i = 0; i < cycle->members.count; i++) {
				fail_without_run(cycle, cycle->members.items[i], &status, &no_node);
			}
			cycle->members.count = 0;
		}
		/* Drop the members that are being deleted or are assumed already. */
		uint32_t kept = 0;
		for (uint32_t i = 0; i < cycle->members.count; i++) {
			struct bt_queue_entry *member = cycle->members.items[i];
			if (bt_scheduler_skips_pod(scheduler, member)) {
				bt_queue_release(scheduler->queue, member);
			} else {
				cycle->members.items[kept++] = member;
			}
		}
		cycle->members.count = kept;
		if (kept != 0) {
			run_cycle(cycle);
		}
	}
	if (!cycle->is_bound && !scheduler->engine->options.repeats_groups) {
		bt_queue_hold_back(scheduler->queue);
	}
	(void)bt_group_cycle_next_member(cycle, out_attempt);
}

static void describe_run(
	struct bt_group_cycle *cycle, const struct group_run *run, struct bt_tried_group *out)
{
	struct bt_arena *arena = &cycle->arena;
	out->members = BT_ARENA_NEW_ARRAY(arena, struct bt_tried_member, out->member_count);
	for (uint32_t i = 0; i < out->member_count; i++) {
		struct bt_tried_member *member = &out->members[i];
		const struct member_try *try = run->tries != NULL ? &run->tries[i] : NULL;
		member->pod = cycle->members.items[i]->pod.object;
		if (try == NULL || try->held == NULL) {
			continue;
		}
		member->was_tried = true;
		if (try->is_placed) {
			member->node_name = bt_arena_str(arena, try->held->result.node_name);
			continue;
		}
		struct bt_str skipped = bt_reason_texts[BT_REASON_POST_FILTER_SKIPPED];
		struct bt_str message = bt_status_message_str(&try->held->result.status, arena);
		if (message.length > skipped.length && bt_str_has_suffix(message, skipped)) {
			message.length -= skipped.length + 1;
		}
		member->message = bt_arena_str(arena, message);
	}
}

/**
 * Reserve the members that found a node, call the caller's function, then keep or undo all
 * reservations.
 */
static void place_run(struct bt_group_cycle *cycle, const struct group_run *run,
	const struct bt_try_group_options *options, struct bt_tried_group *tried)
{
	struct bt_engine *engine = cycle->scheduler->engine;
	bool is_kept = options->keeps && is_feasible(run) &&
		count_placed(cycle, run) == cycle->members.count;
	tried->is_kept = is_kept;
	for (uint32_t i = 0; run->tries != NULL && i < cycle->members.count; i++) {
		if (run->tries[i].is_placed) {
			struct bt_schedule_result *result = &run->tries[i].held->result;
			const struct bt_pod_info *pod = &cycle->members.items[i]->pod;
			result->cycle->group = NULL;
			result->diagnosis.statuses = engine->statuses;
			tried->members[i].is_reserved = is_kept
				? bt_engine_place(engine, pod, result)
				: bt_engine_reserve(engine, pod, result);
		}
	}
	if (options->visit != NULL) {
		options->visit(options->context, tried);
	}
	const struct bt_status undone = bt_status_code_only(BT_STATUS_UNSCHEDULABLE);
	for (uint32_t i = cycle->members.count; !is_kept && i-- > 0;) {
		if (tried->members[i].is_reserved) {
			bt_engine_reject_waiting(engine, &cycle->members.items[i]->pod, &undone,
				&run->tries[i].held->result);
		}
	}
}

void bt_scheduler_try_group(struct bt_scheduler *scheduler,
	const struct bt_try_group_options *options, struct bt_tried_group *out)
{
	struct bt_group_cycle *cycle = scheduler->group_cycle;
	struct bt_engine *engine = scheduler->engine;
	struct bt_prng prng = engine->prng;
	uint32_t next_start = engine->next_start_node_index;
	uint32_t count = options->count;
	struct group_run run = {0};
	struct berth_error err = BERTH_ERROR_INIT;
	BT_ASSERT(cycle != NULL && count != 0 && cycle->reported == cycle->ended.count);
	begin_cycle(cycle, scheduler, options->pods[0], cycle->now_ns);
	struct bt_queue_entry *entries =
		BT_ARENA_NEW_ARRAY(&cycle->arena, struct bt_queue_entry, count);
	for (uint32_t i = 0; i < count; i++) {
		bt_pod_info_init_pending(engine->state, options->pods[i], &entries[i].pod);
		entries[i].signature = BT_SYM_NONE;
		bt_vec_push(&cycle->members, &entries[i]);
	}
	sort_members(cycle);
	*out = (struct bt_tried_group){.member_count = count};
	struct bt_str problem = find_profile(cycle);
	cycle->tried_count = 0;
	cycle->is_dry_run = true;
	if (problem.length != 0) {
		run.status = bt_status_error_text(&cycle->arena, problem);
	} else if (bt_state_refresh_snapshot(engine->state, &err) < 0) {
		run.status = bt_status_from_error(&cycle->arena, &err);
	} else {
		begin_run(cycle);
		run = run_algorithm(cycle, true);
		/* The chosen placement, or else that in which most members found a node. */
		for (uint32_t i = 0; i < cycle->tried_count; i++) {
			if (cycle->tried[i].is_chosen) {
				out->closest = i;
				break;
			}
			if (cycle->tried[i].placed_count >
				cycle->tried[out->closest].placed_count) {
				out->closest = i;
			}
		}
		if (!is_feasible(&run) && out->closest != 0) {
			struct bt_status status = run.status;
			release_run(cycle, &run); /* the run in the first placement */
			run = run_in_placement(cycle, &cycle->placements[out->closest], true);
			run.status = status;
		}
	}
	out->code = (enum bt_status_code)run.status.code;
	out->message = bt_status_message_str(&run.status, &cycle->arena);
	out->placements = cycle->tried;
	out->placement_count = cycle->tried_count;
	describe_run(cycle, &run, out);
	if (options->keeps || options->visit != NULL) {
		place_run(cycle, &run, options, out);
	}
	cycle->is_dry_run = false;
	release_run(cycle, &run);
	while (bt_pod_groups_take_activations(engine->state) != NULL) {
		/* Discard the requests: a dry run activates no pods. */
	}
	for (uint32_t i = 0; i < count; i++) {
		bt_pod_info_finish_pending(engine->state, &entries[i].pod);
	}
	cycle->members.count = 0;
	if (!options->keeps) {
		engine->prng = prng;
		engine->next_start_node_index = next_start;
	}
}

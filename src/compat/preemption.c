/* SPDX-License-Identifier: Apache-2.0 */
#include "berth/preemption.h"

#include <string.h>

#include "api/selector.h"
#include "base/alloc.h"
#include "base/prng.h"
#include "compat/convert_storage.h"
#include "compat/framework.h"
#include "compat/volume_binder.h"
#include "framework/node_statuses.h"
#include "lib/node_to_status.h"
#include "lib/plugin_adapter.h"
#include "plugins/common_plugin.h"
#include "plugins/preemption_evaluator.h"

struct own_preemption {
	struct berth_preemption outside; /* first: public pointers point here */
	struct bt_evaluator evaluator;
	/* The budgets that a dry run has loaded into the evaluator; NULL outside of dry runs. */
	const struct berth_pdb *const *loaded;
	uint32_t loaded_count;
};

static struct own_preemption *own_of(const struct berth_preemption *preemption)
{
	return (struct own_preemption *)(uintptr_t)preemption;
}

/**
 * Returns the evaluator. Updates its handle and plugin name from the public structure first,
 * because the caller may have changed them there.
 */
static struct bt_evaluator *evaluator_of(const struct berth_preemption *preemption)
{
	struct bt_evaluator *evaluator = &own_of(preemption)->evaluator;

	evaluator->handle = bt_const_handle_of(preemption->handle);
	evaluator->executor.handle = evaluator->handle;
	evaluator->executor.plugin_name = preemption->plugin_name;
	return evaluator;
}

const struct berth_pdb *berth_object_pdb(const struct berth_object *object)
{
	const struct bt_object *inside = bt_const_object_of(object);

	return inside != NULL && inside->kind == BT_KIND_POD_DISRUPTION_BUDGET
		? berth_const_pdb_of(inside->value)
		: NULL;
}

BT_LIB_GETTER(struct berth_str, berth_pdb_name, pdb, metadata.name)
BT_LIB_GETTER(struct berth_str, berth_pdb_namespace, pdb, metadata.namespace_)
BT_LIB_GETTER(int32_t, berth_pdb_disruptions_allowed, pdb, status.disruptions_allowed)

bool berth_pdb_has_disrupted_pod(const struct berth_pdb *pdb, struct berth_str pod_name)
{
	return BT_STR_FIND(&bt_const_pdb_of(pdb)->status.disrupted_pods, key, pod_name) != NULL;
}

bool berth_pdb_covers(const struct berth_pdb *pdb, const struct berth_pod_info *pod)
{
	const struct bt_pod_disruption_budget *budget = bt_const_pdb_of(pdb);
	const struct bt_pod_info *inside = bt_const_pod_info_of(pod);
	struct bt_selector selector = {0};
	struct bt_arena arena = {0};
	bool covers = inside->labels->count != 0 &&
		bt_str_equal(budget->metadata.namespace_, inside->namespace_) &&
		budget->spec.selector != NULL &&
		bt_selector_from_label_selector(budget->spec.selector, &arena, &selector, NULL) ==
			0 &&
		!selector.nothing && !bt_selector_is_empty(&selector) &&
		bt_selector_matches(&selector, inside->labels);

	bt_arena_finish(&arena);
	return covers;
}

/** Loads these budgets into the evaluator. */
static void load_budgets(
	struct berth_preemption *preemption, const struct berth_pdb *const *pdbs, uint32_t count)
{
	struct bt_arena scratch = {0};
	const struct bt_pod_disruption_budget **objects =
		BT_ARENA_NEW_ARRAY(&scratch, const struct bt_pod_disruption_budget *, count);

	for (uint32_t i = 0; i < count; i++) {
		objects[i] = bt_const_pdb_of(pdbs[i]);
	}
	bt_budgets_load(&evaluator_of(preemption)->budgets, objects, count);
	bt_arena_finish(&scratch);
}

const struct berth_victims *berth_preemption_candidate_victims(
	const struct berth_preemption_candidate *candidate)
{
	return &candidate->victims;
}

struct berth_str berth_preemption_candidate_name(const struct berth_preemption_candidate *candidate)
{
	return candidate->name;
}

/** Returns the victims of an internal candidate in the public form, in the arena. */
static struct berth_victims victims_of(const struct bt_state *state,
	const struct bt_preemption_candidate *candidate, struct bt_arena *arena)
{
	struct bt_pod_info *infos =
		BT_ARENA_NEW_ARRAY(arena, struct bt_pod_info, candidate->victim_count);
	const struct berth_pod_info **pods =
		BT_ARENA_NEW_ARRAY(arena, const struct berth_pod_info *, candidate->victim_count);

	for (uint32_t i = 0; i < candidate->victim_count; i++) {
		bt_pod_info_from_record(state, candidate->victims[i], &infos[i]);
		pods[i] = berth_const_pod_info_of(&infos[i]);
	}
	return (struct berth_victims){
		.pods = pods,
		.pod_count = candidate->victim_count,
		.num_pdb_violations = candidate->pdb_violations,
	};
}

/** Returns the internal form, in the arena, without the victims that are not in the state. */
static struct bt_preemption_candidate candidate_of(const struct bt_state *state,
	struct bt_str node_name, const struct berth_victims *victims, struct bt_arena *arena)
{
	struct bt_preemption_candidate candidate = {
		.slot = bt_state_snapshot_find(state, node_name),
		.pdb_violations = victims->num_pdb_violations,
	};
	uint32_t *ids = BT_ARENA_NEW_ARRAY(arena, uint32_t, victims->pod_count);

	for (uint32_t i = 0; i < victims->pod_count; i++) {
		uint32_t pod_id =
			bt_state_find_pod(state, bt_const_pod_info_of(victims->pods[i])->uid);

		if (pod_id != BT_POD_NONE) {
			ids[candidate.victim_count++] = pod_id;
		}
	}
	candidate.victims = ids;
	return candidate;
}

const struct berth_node_info *const *berth_node_to_status_nodes_for_code(
	const struct berth_node_to_status *statuses, const struct berth_shared_lister *snapshot,
	enum berth_code code, struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_snapshot_view *view = bt_const_shared_lister_of(snapshot);
	struct bt_node_statuses memory = {0};
	const struct bt_node_statuses *inside =
		bt_lib_node_statuses(statuses, view->state, &memory);
	uint32_t *slots = BT_ARENA_NEW_ARRAY(bt_arena_of(arena), uint32_t,
		(size_t)view->state->snapshot.count + inside->entries.count);

	*out_count = bt_node_statuses_nodes_for_code(
		inside, (enum bt_status_code)code, view->state, slots);
	bt_vec_finish(&memory.entries);
	return bt_lib_node_infos(view, slots, *out_count, bt_arena_of(arena));
}

void berth_preemption_get_offset_and_num_candidates(struct berth_preemption *preemption,
	uint32_t node_count, uint32_t *out_offset, uint32_t *out_candidates_num)
{
	const struct bt_evaluator *evaluator = evaluator_of(preemption);
	struct bt_prng *prng = evaluator->handle->prng;

	*out_offset =
		prng != NULL && node_count != 0 ? (uint32_t)bt_prng_below(prng, node_count) : 0;
	*out_candidates_num = bt_calculate_num_candidates(evaluator, node_count);
}

struct berth_node_victims *berth_preemption_candidates_to_victims_map(
	BT_UNUSED struct berth_preemption *preemption,
	const struct berth_preemption_candidate *candidates, uint32_t count,
	struct berth_arena *arena, uint32_t *out_count)
{
	struct berth_node_victims *entries =
		BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct berth_node_victims, count);
	uint32_t entry_count = 0;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = BT_STR_INDEX(entries, entry_count, node_name, candidates[i].name);

		entry_count += at == entry_count;
		entries[at].node_name = candidates[i].name;
		entries[at].victims = candidates[i].victims;
	}
	*out_count = entry_count;
	return entries;
}

bool berth_preemption_pod_eligible_to_preempt_others(struct berth_preemption *preemption,
	const struct berth_pod_info *pod, const struct berth_status *nominated_status,
	struct berth_arena *arena, struct berth_str *out_reason)
{
	struct bt_node_statuses statuses = {.absent = *nominated_status};
	struct bt_status status = bt_pod_eligible_to_preempt_others(
		evaluator_of(preemption), bt_const_pod_info_of(pod), &statuses);

	*out_reason = bt_status_message_str(&status, bt_arena_of(arena));
	return bt_status_is_success(&status);
}

struct berth_status berth_preemption_select_victims_on_node(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, const struct berth_pdb *const *pdbs, uint32_t pdb_count,
	struct berth_victims *out_victims)
{
	struct own_preemption *own = own_of(preemption);
	struct bt_evaluator *evaluator = evaluator_of(preemption);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(evaluator->handle->framework, state);
	struct bt_preemption_candidate found = {0};
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(evaluator->handle, node, &buffer);

	*out_victims = (struct berth_victims){0};
	if (view == NULL) {
		return bt_lib_unknown_node(cycle->arena, berth_node_info_name(node));
	}
	if (own->loaded == NULL || own->loaded != pdbs || own->loaded_count != pdb_count) {
		load_budgets(preemption, pdbs, pdb_count);
	}
	struct bt_status status = bt_select_victims_on_node(
		evaluator, cycle, bt_const_pod_info_of(pod), view, &found);
	if (bt_status_is_success(&status)) {
		*out_victims = victims_of(evaluator->handle->state, &found, cycle->arena);
	}
	return status;
}

/**
 * Returns the caller's functions, with the default functions in place of those that the caller did
 * not set. In the result, only ordered_score_funcs may be NULL.
 */
static struct berth_preemption_ops ops_of(const struct berth_preemption *preemption)
{
	struct berth_preemption_ops ops = *preemption->ops;

	if (ops.get_offset_and_num_candidates == NULL) {
		ops.get_offset_and_num_candidates = berth_preemption_get_offset_and_num_candidates;
	}
	if (ops.candidates_to_victims_map == NULL) {
		ops.candidates_to_victims_map = berth_preemption_candidates_to_victims_map;
	}
	if (ops.pod_eligible_to_preempt_others == NULL) {
		ops.pod_eligible_to_preempt_others =
			berth_preemption_pod_eligible_to_preempt_others;
	}
	if (ops.select_victims_on_node == NULL) {
		ops.select_victims_on_node = berth_preemption_select_victims_on_node;
	}
	return ops;
}

const struct berth_node_info *const *berth_preemption_potential_nodes(
	const struct berth_preemption *preemption, const struct berth_node_to_status *statuses,
	struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_handle *handle = evaluator_of(preemption)->handle;

	return berth_node_to_status_nodes_for_code(statuses,
		berth_const_shared_lister_of(&handle->snapshot), BERTH_CODE_UNSCHEDULABLE, arena,
		out_count);
}

/** Context of collect: the PodDisruptionBudgets that the lister has, in the arena. */
struct collecting {
	BT_VEC(const struct berth_pdb *) pdbs;
	struct bt_arena *arena;
};

static bool collect(void *context, const void *object)
{
	struct collecting *collecting = context;

	bt_arena_push(collecting->arena, &collecting->pdbs, (const struct berth_pdb *)object);
	return true;
}

const struct berth_pdb *const *berth_preemption_pdbs(
	const struct berth_preemption *preemption, struct berth_arena *arena, uint32_t *out_count)
{
	struct collecting collecting = {.arena = bt_arena_of(arena)};

	berth_lister_list(&preemption->pdb_lister, (struct bt_str){NULL, 0}, collect, &collecting);
	*out_count = collecting.pdbs.count;
	return collecting.pdbs.items;
}

/** A dry run: selects victims on one node after the other. */
struct dry_run {
	struct berth_preemption *preemption;
	struct bt_cycle_state *cycle;
	const struct berth_pod_info *pod;
	const struct berth_pdb *const *pdbs;
	uint32_t pdb_count;
	uint32_t limit;
	struct berth_preemption_candidate *clean;
	uint32_t clean_count;
	struct berth_preemption_candidate *violating;
	uint32_t violating_count;
	struct berth_plugin_status *statuses;
	uint32_t status_count;
	struct bt_error_list errors;
};

/**
 * Selects the victims on one node. The caller's select_victims_on_node, if it is set, may change
 * the node and the cycle state, so it is given copies.
 */
static struct bt_status select_victims(
	struct dry_run *run, const struct bt_node_info *node, struct berth_victims *out_victims)
{
	const struct bt_handle *handle = evaluator_of(run->preemption)->handle;
	struct bt_node_info copy;
	struct bt_cycle_state clone;

	if (run->preemption->ops->select_victims_on_node == NULL) {
		return berth_preemption_select_victims_on_node(run->preemption,
			berth_cycle_state_of(run->cycle), run->pod, berth_const_node_info_of(node),
			run->pdbs, run->pdb_count, out_victims);
	}
	bt_node_info_copy(&copy, node, run->cycle->arena);
	bt_framework_clone_cycle(handle->framework, run->cycle, &clone);
	struct bt_status status = run->preemption->ops->select_victims_on_node(run->preemption,
		berth_cycle_state_of(&clone), run->pod, berth_const_node_info_of(&copy), run->pdbs,
		run->pdb_count, out_victims);
	bt_cycle_state_finish(&clone);
	return status;
}

static void evaluate_node(struct dry_run *run, const struct berth_node_info *node)
{
	const struct bt_evaluator *evaluator = evaluator_of(run->preemption);
	struct bt_arena *arena = run->cycle->arena;
	struct bt_str name = berth_node_info_name(node);
	struct berth_victims victims = {0};
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(evaluator->handle, node, &buffer);
	struct bt_status status = view != NULL ? select_victims(run, view, &victims)
					       : bt_lib_unknown_node(arena, name);

	if (bt_status_is_success(&status) && victims.pod_count != 0) {
		/* Keep the candidate in `clean` or `violating`, unless that list is full. */
		struct berth_preemption_candidate candidate = {.name = name, .victims = victims};

		if (victims.num_pdb_violations == 0) {
			if (run->clean_count < run->limit) {
				run->clean[run->clean_count++] = candidate;
			}
		} else if (run->violating_count < run->limit) {
			run->violating[run->violating_count++] = candidate;
		}
		return;
	}
	if (bt_status_is_success(&status)) {
		status = bt_no_victim_status(name, arena);
	}
	run->statuses[run->status_count++] = (struct berth_plugin_status){name, status};
	if (status.code == BT_STATUS_ERROR) {
		bt_error_list_add(&run->errors, arena, bt_status_message_str(&status, arena));
	}
}

void berth_preemption_dry_run(struct berth_preemption *preemption,
	const struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *potential_nodes, uint32_t node_count,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, uint32_t offset,
	uint32_t candidates_num, struct berth_preemption_dry_run_result *out_result)
{
	struct own_preemption *own = own_of(preemption);
	struct bt_cycle_state *cycle =
		bt_lib_adopt_cycle(evaluator_of(preemption)->handle->framework,
			(struct berth_cycle_state *)(uintptr_t)state);
	struct bt_arena *arena = cycle->arena;
	/* Each node gives at most one candidate. */
	uint32_t room = candidates_num < node_count ? candidates_num : node_count;
	struct dry_run run = {
		.preemption = preemption,
		.cycle = cycle,
		.pod = pod,
		.pdbs = pdbs,
		.pdb_count = pdb_count,
		.limit = candidates_num,
		.statuses = BT_ARENA_NEW_ARRAY(arena, struct berth_plugin_status, node_count),
	};

	/*
	 * One array holds both lists. The first half is for candidates that violate no budget, the
	 * second half for candidates that violate budgets.
	 */
	run.clean = BT_ARENA_NEW_ARRAY(arena, struct berth_preemption_candidate, (size_t)room * 2);
	run.violating = run.clean + room;
	load_budgets(preemption, pdbs, pdb_count);
	own->loaded = pdbs;
	own->loaded_count = pdb_count;
	/*
	 * End early if there are enough candidates and at least one of them violates no budget.
	 * With limit 0 no candidate is kept, so all nodes are evaluated.
	 */
	for (uint32_t i = 0; i < node_count &&
		!(run.clean_count != 0 && run.clean_count + run.violating_count >= run.limit);
		i++) {
		evaluate_node(&run, potential_nodes[((uint64_t)offset + i) % node_count]);
	}
	own->loaded = NULL;
	if (run.violating_count != 0) {
		memmove(&run.clean[run.clean_count], run.violating,
			run.violating_count * sizeof(run.clean[0]));
	}
	*out_result = (struct berth_preemption_dry_run_result){
		.candidates = run.clean,
		.candidate_count = run.clean_count + run.violating_count,
		.statuses = run.statuses,
		.status_count = run.status_count,
	};
	if (run.errors.count != 0) {
		out_result->error_text = bt_error_list_text(&run.errors, arena);
	}
}

static const struct berth_preemption_ops default_ops;

struct berth_preemption *berth_preemption_create(const char *plugin_name,
	const struct berth_handle *handle, const struct berth_preemption_ops *ops,
	const struct berth_preemption_options *given)
{
	struct berth_preemption_options options = BERTH_PREEMPTION_OPTIONS_INIT;
	struct bt_default_preemption_args args = {0};
	struct own_preemption *own = BT_NEW(struct own_preemption);

	bt_lib_read_options(&options, sizeof(options), given);
	args.min_candidate_nodes_percentage.value = options.min_candidate_nodes_percentage;
	args.min_candidate_nodes_absolute.value = options.min_candidate_nodes_absolute;
	bt_evaluator_init(&own->evaluator, bt_const_handle_of(handle), &args, plugin_name);
	own->outside = (struct berth_preemption){
		.plugin_name = bt_str_from(plugin_name),
		.handle = handle,
		.pod_lister = berth_handle_lister(handle, "Pod"),
		.pdb_lister = berth_handle_lister(handle, "PodDisruptionBudget"),
		.ops = ops != NULL ? ops : &default_ops,
	};
	return &own->outside;
}

void berth_preemption_destroy(struct berth_preemption *preemption)
{
	if (preemption != NULL) {
		bt_evaluator_finish(&own_of(preemption)->evaluator);
		bt_free(preemption);
	}
}

bool berth_preemption_is_pod_running(const struct berth_preemption *preemption, berth_uid pod_uid)
{
	return bt_preemption_is_running(&evaluator_of(preemption)->executor, pod_uid);
}

/** Context of score_candidate: the candidates that the caller's functions compare. */
struct comparison {
	struct berth_preemption *preemption;
	const berth_preemption_score_fn *scores;
	const struct berth_node_victims *entries;
	const struct bt_preemption_candidate *candidates; /* the same as entries */
};

static int64_t score_candidate(
	void *context, uint32_t which, const struct bt_preemption_candidate *candidate)
{
	const struct comparison *comparison = context;

	return comparison->scores[which](
		comparison->preemption, &comparison->entries[candidate - comparison->candidates]);
}

const struct berth_preemption_candidate *berth_preemption_select_candidate(
	struct berth_preemption *preemption, const struct berth_preemption_candidate *candidates,
	uint32_t count, struct berth_arena *arena)
{
	struct bt_evaluator *evaluator = evaluator_of(preemption);
	uint32_t entry_count = 0;
	uint32_t score_count = 0;

	if (count < 2) {
		return count != 0 ? candidates : NULL;
	}
	struct berth_preemption_ops ops = ops_of(preemption);
	struct berth_node_victims *entries =
		ops.candidates_to_victims_map(preemption, candidates, count, arena, &entry_count);
	if (entry_count == 0) {
		return candidates;
	}
	struct bt_preemption_candidate *inside =
		BT_ARENA_NEW_ARRAY(bt_arena_of(arena), struct bt_preemption_candidate, entry_count);
	struct comparison comparison = {preemption, NULL, entries, inside};
	struct bt_preemption_decision decision = {
		.candidates = inside, .candidate_count = entry_count};

	if (ops.ordered_score_funcs != NULL) {
		comparison.scores =
			ops.ordered_score_funcs(preemption, entries, entry_count, &score_count);
	}
	for (uint32_t i = 0; i < entry_count; i++) {
		inside[i] = candidate_of(evaluator->handle->state, entries[i].node_name,
			&entries[i].victims, bt_arena_of(arena));
	}
	/* A function of the caller may select among other candidates meanwhile. */
	struct bt_preemption_hooks kept = evaluator->hooks;
	evaluator->hooks = (struct bt_preemption_hooks){.ordered_score = score_candidate,
		.ordered_score_count = score_count,
		.context = &comparison};
	bt_pick_one_node_for_preemption(evaluator, bt_arena_of(arena), &decision);
	evaluator->hooks = kept;
	struct berth_preemption_candidate *winner =
		BT_ARENA_NEW(bt_arena_of(arena), struct berth_preemption_candidate);
	winner->name = entries[decision.selected].node_name;
	winner->victims = entries[decision.selected].victims;
	return winner;
}

/**
 * Evicts the victims with preempt_pod of the caller, or with the executor if preempt_pod is NULL.
 * Returns Success or Error.
 */
static struct bt_status evict(struct berth_preemption *preemption, const struct bt_pod_info *pod,
	const struct berth_preemption_candidate *candidate, struct bt_arena *arena)
{
	struct bt_evaluator *evaluator = evaluator_of(preemption);

	if (preemption->preempt_pod != NULL) {
		const struct bt_state *state = evaluator->handle->state;

		for (uint32_t i = 0; i < candidate->victims.pod_count; i++) {
			const struct bt_pod_info *victim =
				bt_const_pod_info_of(candidate->victims.pods[i]);
			uint32_t pod_id = bt_state_find_pod(state, victim->uid);
			struct berth_error err = BERTH_ERROR_INIT;

			if (pod_id != BT_POD_NONE && bt_state_pod_at(state, pod_id)->terminating) {
				continue;
			}
			if (preemption->preempt_pod(preemption, berth_const_pod_info_of(pod),
				    candidate->victims.pods[i], candidate->name, &err) < 0) {
				return bt_status_from_error(arena, &err);
			}
		}
		struct bt_eviction eviction = {
			.executor = &evaluator->executor,
			.arena = arena,
			.preemptor = {.uid = pod->uid, .priority = pod->priority},
			.candidate_name = candidate->name,
		};

		bt_eviction_clear_nominations(&eviction); /* as the executor does */
		return BT_STATUS_OK;
	}
	struct bt_preemption_candidate inside =
		candidate_of(evaluator->handle->state, candidate->name, &candidate->victims, arena);
	return bt_prepare_candidate_for_pod(&evaluator->executor, pod, candidate->name,
		inside.victims, inside.victim_count, arena);
}

/** Returns the status "0/5 nodes are available: ...", which counts the reasons of the dry run. */
static struct bt_status no_candidates(const struct bt_state *state,
	const struct berth_preemption_dry_run_result *found, struct bt_arena *arena)
{
	struct bt_node_statuses statuses = {
		.absent = bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			BT_REASON_PREEMPTION_NOT_HELPFUL)};
	struct bt_strbuf text = {0};

	for (uint32_t i = 0; i < found->status_count; i++) {
		struct bt_node_status_entry entry = {
			bt_state_snapshot_find(state, found->statuses[i].plugin),
			found->statuses[i].status};

		bt_vec_push(&statuses.entries, entry);
	}
	bt_strbuf_printf(&text, "0/%u nodes are available:", state->snapshot.count);
	bt_fit_error_append_reasons(&statuses, state->snapshot.count, &text);
	struct bt_status status =
		bt_status_text(BT_STATUS_UNSCHEDULABLE, arena, bt_strbuf_str(&text));
	bt_strbuf_finish(&text);
	bt_vec_finish(&statuses.entries);
	return status;
}

/**
 * Calls the extenders, which may remove candidates and victims; the lists are in the arena. Spec 08
 * section 10.
 */
static struct bt_status run_extenders(struct berth_preemption *preemption,
	const struct bt_pod_info *pod, const struct berth_preemption_candidate **candidates,
	uint32_t *count, struct bt_arena *arena)
{
	struct bt_evaluator *evaluator = evaluator_of(preemption);
	const struct bt_state *state = evaluator->handle->state;

	if (evaluator->handle->preemption_extender_count == 0) {
		return BT_STATUS_OK;
	}
	struct berth_preemption_ops ops = ops_of(preemption);
	uint32_t left_count = 0;
	struct berth_node_victims *entries = ops.candidates_to_victims_map(
		preemption, *candidates, *count, berth_arena_of(arena), &left_count);
	struct bt_preemption_candidate *inside =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_candidate, left_count);
	for (uint32_t i = 0; i < left_count; i++) {
		inside[i] = candidate_of(state, entries[i].node_name, &entries[i].victims, arena);
		if (inside[i].slot == BT_SLOT_NONE) {
			return bt_lib_unknown_node(arena, entries[i].node_name);
		}
	}
	struct bt_status status = bt_call_extenders(evaluator, pod, arena, &inside, &left_count);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	struct berth_preemption_candidate *left =
		BT_ARENA_NEW_ARRAY(arena, struct berth_preemption_candidate, left_count);
	for (uint32_t i = 0; i < left_count; i++) {
		left[i].name =
			bt_arena_str(arena, bt_node_table_name(&state->nodes, inside[i].slot));
		left[i].victims = victims_of(state, &inside[i], arena);
	}
	*candidates = left;
	*count = left_count;
	return BT_STATUS_OK;
}

static struct bt_status preempt(struct berth_preemption *preemption, struct bt_cycle_state *cycle,
	const struct bt_pod_info *pod, const struct berth_node_to_status *statuses,
	struct berth_post_filter_result *out_result)
{
	const struct bt_state *state = evaluator_of(preemption)->handle->state;
	const struct berth_pod_info *outside = berth_const_pod_info_of(pod);
	struct berth_preemption_ops ops = ops_of(preemption);
	struct bt_arena *memory = cycle->arena;
	struct berth_arena *arena = berth_arena_of(memory);
	struct berth_preemption_dry_run_result found = {0};
	struct bt_str reason = BT_STR("");
	struct bt_status nominated = berth_node_to_status_get(statuses, pod->nominated_node_name);
	uint32_t node_count = 0;

	if (!ops.pod_eligible_to_preempt_others(preemption, outside, &nominated, arena, &reason)) {
		return bt_status_text(BT_STATUS_UNSCHEDULABLE, memory, reason);
	}
	if (state->snapshot.count == 0) {
		return bt_status_error_text(memory, BT_STR("no nodes available"));
	}
	/* Run the dry run on the nodes where removing pods may help. Spec 08 section 7. */
	const struct berth_node_info *const *nodes =
		berth_preemption_potential_nodes(preemption, statuses, arena, &node_count);
	if (node_count != 0) {
		uint32_t pdb_count = 0;
		uint32_t offset = 0;
		uint32_t candidates_num = 0;
		const struct berth_pdb *const *pdbs =
			berth_preemption_pdbs(preemption, arena, &pdb_count);

		ops.get_offset_and_num_candidates(preemption, node_count, &offset, &candidates_num);
		berth_preemption_dry_run(preemption, berth_cycle_state_of(cycle), outside, nodes,
			node_count, pdbs, pdb_count, offset, candidates_num, &found);
	}
	if (found.candidate_count == 0 && found.error_text.data != NULL) {
		return bt_status_error_text(memory, found.error_text);
	}
	if (found.candidate_count == 0) {
		/* An empty nomination removes an earlier one. */
		*out_result = (struct berth_post_filter_result){.present = true,
			.mode = BERTH_NOMINATING_OVERRIDE,
			.nominated_node_name = BT_STR("")};
		return no_candidates(state, &found, memory);
	}
	const struct berth_preemption_candidate *candidates = found.candidates;
	uint32_t count = found.candidate_count;
	struct bt_status status = run_extenders(preemption, pod, &candidates, &count, memory);

	if (!bt_status_is_success(&status)) {
		return status;
	}
	const struct berth_preemption_candidate *chosen =
		berth_preemption_select_candidate(preemption, candidates, count, arena);
	if (chosen == NULL || chosen->name.length == 0) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NO_CANDIDATE);
	}
	status = evict(preemption, pod, chosen, memory);
	if (bt_status_is_success(&status)) {
		*out_result = (struct berth_post_filter_result){.present = true,
			.mode = BERTH_NOMINATING_OVERRIDE,
			.nominated_node_name = bt_arena_str(memory, chosen->name)};
	}
	return status;
}

struct berth_status berth_preemption_preempt(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *outside,
	const struct berth_node_to_status *statuses, struct berth_post_filter_result *out_result)
{
	const struct bt_handle *handle = evaluator_of(preemption)->handle;
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(handle->framework, state);
	const struct bt_pod_info *pod = bt_const_pod_info_of(outside);
	const struct bt_pod *newest = pod->object;
	struct bt_pod_info info;

	*out_result = (struct berth_post_filter_result){0};
	evaluator_of(preemption)->attempt_count++;
	/* The pod lister of a handle without a scheduler does not know newer versions of pods. */
	struct berth_lister handles = berth_handle_lister(preemption->handle, "Pod");
	if (preemption->pod_lister.get != NULL &&
		(preemption->pod_lister.get != handles.get || handle->pods != NULL)) {
		newest = berth_lister_get(&preemption->pod_lister, pod->namespace_, pod->name);
		if (newest == NULL) {
			return bt_status_error_text(
				cycle->arena, bt_not_found_text(cycle->arena, "pod", pod->name));
		}
	}
	if (newest == NULL || newest == pod->object) {
		return preempt(preemption, cycle, pod, statuses, out_result);
	}
	/* The cycle started with the version in the queue; preempt for the newest version. */
	bt_pod_info_init_pending(handle->state, newest, &info);
	struct bt_status status = preempt(preemption, cycle, &info, statuses, out_result);
	bt_pod_info_finish_pending(handle->state, &info);
	return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/** Budgets, candidates, and the default decisions of preemption. */
#include <string.h>

#include "api/selector.h"
#include "base/prng.h"
#include "framework/node_statuses.h"
#include "compat/framework.h"
#include "lib/node_to_status.h"
#include "lib/plugin_adapter.h"
#include "compat/preemption.h"
#include "compat/volume_binder.h"

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
	const struct bt_pod_disruption_budget_status *status = &bt_const_pdb_of(pdb)->status;

	for (uint32_t i = 0; i < status->disrupted_pods.count; i++) {
		if (bt_str_equal(status->disrupted_pods.items[i].key, pod_name)) {
			return true;
		}
	}
	return false;
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

void bt_lib_load_budgets(
	struct berth_preemption *preemption, const struct berth_pdb *const *pdbs, uint32_t count)
{
	struct bt_arena scratch = {0};
	const struct bt_pod_disruption_budget **objects =
		BT_ARENA_NEW_ARRAY(&scratch, const struct bt_pod_disruption_budget *, count);

	for (uint32_t i = 0; i < count; i++) {
		objects[i] = bt_const_pdb_of(pdbs[i]);
	}
	bt_budgets_load(&bt_lib_evaluator(preemption)->budgets, objects, count);
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

struct berth_victims bt_lib_victims_of(const struct bt_state *state,
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

struct bt_preemption_candidate bt_lib_candidate_of(const struct bt_state *state,
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
	const struct bt_evaluator *evaluator = bt_lib_evaluator(preemption);
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
		uint32_t at = 0;

		while (at < entry_count &&
			!bt_str_equal(entries[at].node_name, candidates[i].name)) {
			at++;
		}
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
		bt_lib_evaluator(preemption), bt_const_pod_info_of(pod), &statuses);

	*out_reason = bt_status_message_str(&status, bt_arena_of(arena));
	return bt_status_is_success(&status);
}

struct berth_status berth_preemption_select_victims_on_node(struct berth_preemption *preemption,
	struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *node, const struct berth_pdb *const *pdbs, uint32_t pdb_count,
	struct berth_victims *out_victims)
{
	struct bt_own_preemption *own = bt_own_preemption_of(preemption);
	struct bt_evaluator *evaluator = bt_lib_evaluator(preemption);
	struct bt_cycle_state *cycle = bt_lib_adopt_cycle(evaluator->handle->framework, state);
	struct bt_preemption_candidate found = {0};
	struct bt_node_info buffer;
	const struct bt_node_info *view = bt_lib_node_view(evaluator->handle, node, &buffer);

	*out_victims = (struct berth_victims){0};
	if (view == NULL) {
		return bt_lib_unknown_node(cycle->arena, berth_node_info_name(node));
	}
	if (own->loaded == NULL || own->loaded != pdbs || own->loaded_count != pdb_count) {
		bt_lib_load_budgets(preemption, pdbs, pdb_count);
	}
	struct bt_status status = bt_select_victims_on_node(
		evaluator, cycle, bt_const_pod_info_of(pod), view, &found);
	if (bt_status_is_success(&status)) {
		*out_victims = bt_lib_victims_of(evaluator->handle->state, &found, cycle->arena);
	}
	return status;
}

struct berth_preemption_ops bt_lib_preemption_ops(const struct berth_preemption *preemption)
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

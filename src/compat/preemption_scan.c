/* SPDX-License-Identifier: Apache-2.0 */
/** The scan for candidates: spec 08 section 8. */
#include <string.h>

#include "base/alloc.h"
#include "compat/framework.h"
#include "compat/preemption.h"
#include "compat/volume_binder.h"

/* --- candidates --- */

const struct berth_node_info *const *berth_preemption_potential_nodes(
	const struct berth_preemption *preemption, const struct berth_node_to_status *statuses,
	struct berth_arena *arena, uint32_t *out_count)
{
	const struct bt_handle *handle = bt_lib_evaluator(preemption)->handle;

	return berth_node_to_status_nodes_for_code(statuses,
		berth_const_shared_lister_of(&handle->snapshot), BERTH_CODE_UNSCHEDULABLE, arena,
		out_count);
}

/** A walk over a lister of budgets. */
struct collecting {
	BT_VEC(const struct berth_pdb *) pdbs;
};

static bool collect(void *context, const void *object)
{
	struct collecting *collecting = context;

	bt_vec_push(&collecting->pdbs, (const struct berth_pdb *)object);
	return true;
}

const struct berth_pdb *const *berth_preemption_pdbs(
	const struct berth_preemption *preemption, struct berth_arena *arena, uint32_t *out_count)
{
	struct collecting collecting = {0};
	const struct berth_pdb **list;

	berth_lister_list(&preemption->pdb_lister, (struct bt_str){NULL, 0}, collect, &collecting);
	list = BT_ARENA_NEW_ARRAY(
		bt_arena_of(arena), const struct berth_pdb *, collecting.pdbs.count);
	for (uint32_t i = 0; i < collecting.pdbs.count; i++) {
		list[i] = collecting.pdbs.items[i];
	}
	*out_count = collecting.pdbs.count;
	bt_vec_finish(&collecting.pdbs);
	return list;
}

/** A dry run under way. */
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

/** The decision for one node, on copies of node and state. */
static struct bt_status select_victims(
	struct dry_run *run, const struct berth_node_info *node, struct berth_victims *out_victims)
{
	const struct bt_handle *handle = bt_lib_evaluator(run->preemption)->handle;
	struct bt_node_info buffer;
	struct bt_node_info copy;
	struct bt_cycle_state clone;
	const struct bt_node_info *view = bt_lib_node_view(handle, node, &buffer);

	if (view == NULL) {
		struct bt_str name = berth_node_info_name(node);

		return bt_status_printf(BT_STATUS_ERROR, run->cycle->arena,
			"nodeinfo not found for node name \"%.*s\"", BT_STR_ARG(name));
	}
	if (run->preemption->ops->select_victims_on_node == NULL) {
		return berth_preemption_select_victims_on_node(run->preemption,
			berth_cycle_state_of(run->cycle), run->pod, berth_const_node_info_of(view),
			run->pdbs, run->pdb_count, out_victims);
	}
	bt_node_info_copy(&copy, view, run->cycle->arena);
	bt_framework_clone_cycle(handle->framework, run->cycle, &clone);
	struct bt_status status =
		bt_lib_select_victims(run->preemption, berth_cycle_state_of(&clone), run->pod,
			berth_const_node_info_of(&copy), run->pdbs, run->pdb_count, out_victims);
	bt_cycle_state_finish(&clone);
	return status;
}

static void keep_status(
	struct dry_run *run, const struct berth_node_info *node, struct bt_status status)
{
	struct berth_plugin_status *entry = &run->statuses[run->status_count++];

	entry->plugin = berth_node_info_name(node);
	entry->status = status;
	if (status.code == BT_STATUS_ERROR) {
		bt_error_list_add(&run->errors, run->cycle->arena,
			bt_status_message_str(&status, run->cycle->arena));
	}
}

static void look_at_node(struct dry_run *run, const struct berth_node_info *node)
{
	struct berth_victims victims = {0};
	struct bt_status status = select_victims(run, node, &victims);

	if (bt_status_is_success(&status) && victims.pod_count != 0) {
		/* The list of its kind may be full: then it is nothing at all. */
		struct berth_preemption_candidate candidate = {
			.name = berth_node_info_name(node), .victims = victims};

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
		struct bt_strbuf text = {0};

		bt_strbuf_append_c(&text, "expected at least one victim pod on node ");
		bt_strbuf_append_quoted(&text, berth_node_info_name(node));
		status = bt_status_error_text(run->cycle->arena, bt_strbuf_str(&text));
		bt_strbuf_finish(&text);
	}
	keep_status(run, node, status);
}

void berth_preemption_dry_run(struct berth_preemption *preemption,
	const struct berth_cycle_state *state, const struct berth_pod_info *pod,
	const struct berth_node_info *const *potential_nodes, uint32_t node_count,
	const struct berth_pdb *const *pdbs, uint32_t pdb_count, uint32_t offset,
	uint32_t candidates_num, struct berth_preemption_dry_run_result *out_result)
{
	struct bt_own_preemption *own = bt_own_preemption_of(preemption);
	struct bt_cycle_state *cycle =
		bt_lib_adopt_cycle(bt_lib_evaluator(preemption)->handle->framework,
			(struct berth_cycle_state *)(uintptr_t)state);
	struct bt_arena *arena = cycle->arena;
	/* More candidates than nodes there cannot be. */
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

	/* One array: the clean ones grow from its start, the others wait behind. */
	run.clean = BT_ARENA_NEW_ARRAY(arena, struct berth_preemption_candidate, (size_t)room * 2);
	run.violating = run.clean + room;
	bt_lib_load_budgets(preemption, pdbs, pdb_count);
	own->loaded = pdbs;
	own->loaded_count = pdb_count;
	for (uint32_t i = 0; /* Also with a limit of 0 the scan ends only when a clean candidate was
	                        kept: never. */
		i < node_count &&
		!(run.clean_count != 0 && run.clean_count + run.violating_count >= run.limit);
		i++) {
		look_at_node(&run, potential_nodes[((uint64_t)offset + i) % node_count]);
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

/* SPDX-License-Identifier: Apache-2.0 */
/** A world is the cluster with remedies applied; closing the world reverts the remedies. */
#include "explain/explain_private.h"
#include "sched/cycle.h"

/**
 * Changes the node that remedies[first] changes: applies all remedies of the list that change this
 * node. Does nothing if an earlier remedy changes the same node, because then all remedies of that
 * node are applied already. Returns false if the node does not exist or nodes cannot be changed.
 */
static bool change_node(struct bt_explain_world *world, const bt_remedy_list *remedies,
	uint32_t first, const struct bt_explain_objects *objects)
{
	struct bt_str name = remedies->items[first].node;
	uint32_t slot = bt_state_snapshot_find(world->engine->state, name);
	const struct bt_node *was =
		objects->node != NULL ? objects->node(objects->context, name) : NULL;
	struct bt_node *now;

	if (was == NULL || slot == BT_SLOT_NONE ||
		!world->engine->state->nodes.rows[slot].in_snapshot) {
		return false;
	}
	for (uint32_t i = 0; i < first; i++) {
		const struct bt_remedy *earlier = &remedies->items[i];

		if (!bt_remedy_is_of_pod(earlier->kind) && earlier->kind != BT_REMEDY_REMOVE_POD &&
			bt_str_equal(earlier->node, name)) {
			return true;
		}
	}
	now = BT_ARENA_NEW(&world->arena, struct bt_node);
	*now = *was;
	bt_remedies_apply_to_node(remedies, now, &world->arena);
	bt_state_trial_set_node(&world->trial, slot, was, now);
	return true;
}

/**
 * Removes the pod that the remedy names, and deallocates the claims that are reserved only for this
 * pod. Returns false if there is no such pod or the claims cannot be deallocated.
 */
static bool take_pod(struct bt_explain_world *world, const struct bt_remedy *remedy)
{
	const struct bt_state *state = world->engine->state;
	uint32_t slot = bt_state_snapshot_find(state, remedy->node);

	if (slot == BT_SLOT_NONE || !state->nodes.rows[slot].in_snapshot) {
		return false;
	}
	const struct bt_node_row *row = &state->nodes.rows[slot];

	for (uint32_t i = 0; i < row->pods.count; i++) {
		uint32_t pod_id = row->pods.items[i];
		struct bt_pod_info pod;

		bt_pod_info_from_record(state, pod_id, &pod);
		if (bt_str_equal(pod.name, remedy->pod_name) &&
			bt_str_equal(pod.namespace_, remedy->pod_namespace)) {
			if (!bt_dra_trial_take_pod(&world->claims, pod.uid)) {
				return false;
			}
			bt_state_trial_take_pod(&world->trial, pod_id);
			return true;
		}
	}
	return false;
}

int bt_explain_world_open(struct bt_explain_world *world, struct bt_engine *engine,
	const struct bt_pod *pod, const bt_remedy_list *remedies,
	const struct bt_explain_objects *objects, bool *out_possible, struct berth_error *err)
{
	int result;

	*world = (struct bt_explain_world){.engine = engine, .pod = *pod};
	result = bt_state_trial_begin(&world->trial, engine->state, err);
	if (result < 0) {
		return result;
	}
	bt_dra_trial_begin(&world->claims, engine->state->dra);
	bool possible = true;

	for (uint32_t i = 0; i < remedies->count && possible; i++) {
		const struct bt_remedy *remedy = &remedies->items[i];
		const bt_remedy_list earlier = {.items = remedies->items, .count = i};

		if (remedy->kind == BT_REMEDY_REMOVE_POD) {
			possible = bt_remedies_contain(&earlier, remedy) || take_pod(world, remedy);
		} else if (!bt_remedy_is_of_pod(remedy->kind)) {
			possible = change_node(world, remedies, i, objects);
		}
	}
	*out_possible = possible;
	result = bt_state_refresh_snapshot(engine->state, err);
	if (result < 0 || !*out_possible) {
		/* Report only the first error. */
		int ended = bt_state_trial_end(&world->trial, result < 0 ? NULL : err);

		bt_dra_trial_end(&world->claims);
		bt_arena_finish(&world->arena);
		return result < 0 ? result : ended;
	}
	bt_remedies_apply_to_pod(remedies, &world->pod, &world->arena);
	bt_pod_info_init_pending(engine->state, &world->pod, &world->info);
	world->framework = bt_engine_profile(engine, world->pod.spec.scheduler_name);
	if (world->framework != NULL) {
		struct bt_plugin *gate;
		struct bt_status status = bt_run_pre_enqueue(
			world->framework, &world->info, &world->arena, NULL, &gate);

		world->admitted = bt_status_is_success(&status);
	}
	return 0;
}

int bt_explain_world_close(struct bt_explain_world *world, struct berth_error *err)
{
	int result;

	bt_pod_info_finish_pending(world->engine->state, &world->info);
	result = bt_state_trial_end(&world->trial, err);
	bt_dra_trial_end(&world->claims);
	bt_arena_finish(&world->arena);
	return result;
}

struct bt_cycle_state *bt_explain_world_begin(
	struct bt_explain_world *world, const uint32_t **out_slots, uint32_t *out_count)
{
	struct bt_cycle_state *cycle = bt_engine_begin_cycle(world->engine, world->framework);

	*out_slots = NULL;
	*out_count = 0;
	world->pre_filter = bt_run_pre_filter(world->framework, cycle, &world->info);
	if (bt_status_is_success(&world->pre_filter.status)) {
		bt_search_candidates(world->engine, &world->pre_filter.result, cycle->arena,
			out_slots, out_count);
	}
	return cycle;
}

struct bt_cycle_state *bt_explain_world_begin_on(
	struct bt_explain_world *world, uint32_t slot, bool *out_named)
{
	const uint32_t *slots;
	uint32_t count;
	struct bt_cycle_state *cycle = bt_explain_world_begin(world, &slots, &count);

	*out_named = false;
	for (uint32_t i = 0; i < count && !*out_named; i++) {
		*out_named = slots[i] == slot;
	}
	return cycle;
}

static bool is_error(const struct bt_status *status)
{
	return !bt_status_is_success(status) && !bt_status_is_rejected(status);
}

static void filter_node(struct bt_explain_world *world, struct bt_cycle_state *cycle, uint32_t slot,
	struct bt_scan *scan)
{
	const struct bt_node_table *nodes = &world->engine->state->nodes;
	struct bt_node_info node;
	struct bt_status status;

	bt_node_info_init(&node, world->engine->state, slot);
	status = bt_run_filter_with_nominated_pods(world->framework, cycle, &world->info, &node);
	scan->evaluated_count++;
	scan->error = scan->error || is_error(&status);
	if (!bt_status_is_success(&status)) {
		return;
	}
	scan->feasible_count++;
	if (scan->first_slot == BT_SLOT_NONE ||
		bt_str_compare(bt_node_table_name(nodes, slot),
			bt_node_table_name(nodes, scan->first_slot)) < 0) {
		scan->first_slot = slot;
	}
}

struct bt_scan bt_explain_world_scan(struct bt_explain_world *world, uint32_t wanted, bool stop)
{
	struct bt_scan scan = {.first_slot = BT_SLOT_NONE};
	struct bt_cycle_state *cycle;
	const uint32_t *slots;
	uint32_t count;

	if (!world->admitted) {
		return scan;
	}
	cycle = bt_explain_world_begin(world, &slots, &count);
	scan.error = is_error(&world->pre_filter.status);
	for (uint32_t i = 0; i < count && !scan.error; i++) {
		uint32_t before = scan.feasible_count;

		filter_node(world, cycle, slots[i], &scan);
		scan.slot_fits =
			scan.slot_fits || (slots[i] == wanted && scan.feasible_count != before);
		if (stop && scan.feasible_count != 0) {
			break;
		}
	}
	/* An error on one node ends the pod's cycle, whatever other nodes return. */
	if (scan.error) {
		scan = (struct bt_scan){.first_slot = BT_SLOT_NONE,
			.error = true,
			.evaluated_count = scan.evaluated_count};
	}
	return scan;
}

struct bt_scan bt_explain_world_filter_node(struct bt_explain_world *world, uint32_t slot)
{
	struct bt_scan scan = {.first_slot = BT_SLOT_NONE};
	struct bt_cycle_state *cycle;
	bool named;

	if (!world->admitted) {
		return scan;
	}
	cycle = bt_explain_world_begin_on(world, slot, &named);
	scan.error = is_error(&world->pre_filter.status);
	if (named) {
		filter_node(world, cycle, slot, &scan);
	}
	scan.slot_fits = scan.feasible_count != 0;
	return scan;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/preemption_evaluator.h"

#include "plugins/common_plugin.h"

/** Pods that are evicted together: a single pod, or the pods of a group that must not be split. */
struct unit {
	const struct bt_pod_group *group; /* NULL: a single pod */
	int32_t priority;
	/**
	 * Start of the member that was visited first. A pod that has not started (INT64_MAX) counts
	 * as started when it is visited: later than all started pods, and later than unstarted pods
	 * that were visited before.
	 */
	int64_t start_seconds;
	/** The first pod has a scheduling group, whatever the group's disruption mode. */
	bool is_grouped;
	BT_VEC(uint32_t) pods;
};

/** Data of one attempt. */
struct attempt {
	struct bt_evaluator *evaluator;
	const struct bt_pod_group_trial *trial;
	struct bt_arena *arena;
	BT_VEC(struct unit) units;
	struct bt_map by_group; /* hash of namespace and name of a group -> index in units */
	uint32_t *order;        /* units of lower priority, by importance */
	uint32_t *scratch;
	uint32_t count;
	uint32_t violating_count;
};

static struct unit *unit_of_group(struct attempt *attempt, const struct bt_pod_group *group)
{
	uint64_t hash = bt_hash_name(group->metadata.namespace_, group->metadata.name);
	struct unit fresh = {.group = group,
		.priority = group->spec.priority.present ? group->spec.priority.value : 0};

	BT_MAP_EACH (&attempt->by_group, hash, index) {
		struct unit *unit = &attempt->units.items[index];

		if (unit->group == group) {
			return unit;
		}
	}
	bt_vec_push(&attempt->units, fresh);
	bt_map_insert(&attempt->by_group, hash, attempt->units.count - 1);
	return &attempt->units.items[attempt->units.count - 1];
}

/**
 * Whether unit a is more important than unit b (upstream's moreImportantUnit, spec 08 section 14).
 */
static bool more_important(const void *context, uint32_t a, uint32_t b)
{
	const struct attempt *attempt = context;
	const struct unit *left = &attempt->units.items[a];
	const struct unit *right = &attempt->units.items[b];

	if (left->priority != right->priority) {
		return left->priority > right->priority;
	}
	if (left->is_grouped != right->is_grouped) {
		return left->is_grouped;
	}
	if (left->is_grouped && left->pods.count != right->pods.count) {
		return left->pods.count > right->pods.count;
	}
	if (left->start_seconds != right->start_seconds) {
		return left->start_seconds < right->start_seconds;
	}
	return left->start_seconds == INT64_MAX && a < b;
}

static bool breaks_budget(void *context, uint32_t index)
{
	struct attempt *attempt = context;
	const struct unit *unit = &attempt->units.items[index];

	for (uint32_t i = 0; i < unit->pods.count; i++) {
		struct bt_pod_info pod;

		bt_pod_info_from_record(
			attempt->evaluator->handle->state, unit->pods.items[i], &pod);
		if (bt_budgets_charge_until_violated(&attempt->evaluator->budgets, &pod)) {
			return true;
		}
	}
	return false;
}

static struct bt_status move_unit(struct attempt *attempt, const struct unit *unit,
	int (*move)(void *context, uint32_t pod_id, struct berth_error *err))
{
	for (uint32_t i = 0; i < unit->pods.count; i++) {
		struct berth_error err = BERTH_ERROR_INIT;

		if (move(attempt->trial->context, unit->pods.items[i], &err) < 0) {
			return bt_status_from_error(attempt->arena, &err);
		}
	}
	return BT_STATUS_OK;
}

static struct bt_status run(struct attempt *attempt, const struct bt_preemptor *preemptor)
{
	struct bt_status status;

	/*
	 * Group the pods of all nodes of the snapshot into units, then select the units that the
	 * preemptor may evict.
	 */
	const struct bt_state *state = attempt->evaluator->handle->state;

	for (uint32_t n = 0; n < state->snapshot.count; n++) {
		uint32_t slot = bt_snapshot_list(&state->snapshot)[n];
		const struct bt_node_row *row = &state->nodes.rows[slot];

		for (uint32_t i = 0; i < row->pods.count; i++) {
			const struct bt_pod_group *group = NULL;
			struct unit *unit;
			struct bt_pod_info pod;

			bt_pod_info_from_record(state, row->pods.items[i], &pod);
			struct bt_str group_name =
				bt_plugin_pod_group_name(bt_plugin_pod_spec(&pod));
			if (bt_plugin_pod_spec(&pod)->scheduling_group != NULL) {
				group = bt_object_store_find(&state->objects, BT_KIND_POD_GROUP,
					pod.namespace_, group_name);
			}
			if (group != NULL &&
				bt_str_equal_c(group->spec.disruption_mode, "PodGroup")) {
				unit = unit_of_group(attempt, group);
			} else {
				struct unit fresh = {.priority = pod.priority};

				bt_vec_push(&attempt->units, fresh);
				unit = &attempt->units.items[attempt->units.count - 1];
			}
			if (unit->pods.count == 0) {
				unit->start_seconds = pod.start_seconds != INT64_MIN
					? pod.start_seconds
					: INT64_MAX;
				unit->is_grouped =
					bt_plugin_pod_spec(&pod)->scheduling_group != NULL;
			}
			bt_vec_push(&unit->pods, row->pods.items[i]);
		}
	}
	attempt->order = BT_ARENA_NEW_ARRAY(attempt->arena, uint32_t, attempt->units.count);
	attempt->scratch = BT_ARENA_NEW_ARRAY(attempt->arena, uint32_t, attempt->units.count);
	for (uint32_t i = 0; i < attempt->units.count; i++) {
		if (attempt->units.items[i].priority < preemptor->priority) {
			attempt->order[attempt->count++] = i;
		}
	}
	if (attempt->count == 0) {
		return bt_status_reason(BT_STATUS_UNSCHEDULABLE_AND_UNRESOLVABLE,
			BT_REASON_NO_PREEMPTION_VICTIMS_GROUP);
	}
	for (uint32_t i = 0; i < attempt->count; i++) {
		status = move_unit(attempt, &attempt->units.items[attempt->order[i]],
			attempt->trial->remove_pod);
		if (!bt_status_is_success(&status)) {
			return status;
		}
	}
	status = attempt->trial->feasible(attempt->trial->context);
	if (!bt_status_is_success(&status)) {
		return status;
	}
	/* Sort by importance; units that violate a budget come first. */
	bt_sort_by_importance(
		attempt->order, attempt->count, attempt->scratch, more_important, attempt);
	bt_budgets_refresh(&attempt->evaluator->budgets, attempt->evaluator->handle->state);
	attempt->evaluator->budgets.round++;
	attempt->violating_count = bt_move_violating_first(
		attempt->order, attempt->count, attempt->scratch, breaks_budget, attempt);
	/*
	 * Add the units back one by one. Units that must be evicted are collected at the start of
	 * attempt->scratch.
	 */
	uint32_t count = 0;

	for (uint32_t i = 0; i < attempt->count; i++) {
		const struct unit *unit = &attempt->units.items[attempt->order[i]];

		status = move_unit(attempt, unit, attempt->trial->add_pod);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		struct bt_status verdict = attempt->trial->feasible(attempt->trial->context);
		if (bt_status_is_success(&verdict)) {
			continue;
		}
		status = move_unit(attempt, unit, attempt->trial->remove_pod);
		if (!bt_status_is_success(&status)) {
			return status;
		}
		attempt->scratch[count++] = attempt->order[i];
	}
	bt_sort_by_importance(attempt->scratch, count, attempt->order, more_important, attempt);
	uint32_t victim_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		victim_count += attempt->units.items[attempt->scratch[i]].pods.count;
	}
	uint32_t *victims = BT_ARENA_NEW_ARRAY(attempt->arena, uint32_t, victim_count);
	victim_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct unit *unit = &attempt->units.items[attempt->scratch[i]];

		for (uint32_t p = 0; p < unit->pods.count; p++) {
			victims[victim_count++] = unit->pods.items[p];
		}
	}
	return bt_prepare_candidate(&attempt->evaluator->executor, preemptor, BT_STR("cluster"),
		victims, victim_count, attempt->arena);
}

struct bt_status bt_evaluator_preempt_for_group(struct bt_evaluator *evaluator,
	struct bt_arena *arena, const struct bt_pod_group *group,
	const struct bt_pod_info *const *pods, uint32_t pod_count,
	const struct bt_pod_group_trial *trial)
{
	struct attempt attempt = {.evaluator = evaluator, .trial = trial, .arena = arena};
	struct bt_preemption_pod *identities =
		BT_ARENA_NEW_ARRAY(arena, struct bt_preemption_pod, pod_count);
	struct bt_preemptor preemptor = {
		.uid = group->metadata.uid,
		.is_group = true,
		.identity = {group->metadata.namespace_, group->metadata.name, group->metadata.uid},
		.priority = group->spec.priority.present ? group->spec.priority.value : 0,
		.pods = identities,
		.pod_count = pod_count,
	};

	BT_ASSERT(pod_count != 0);
	preemptor.scheduler_name = bt_plugin_pod_spec(pods[0])->scheduler_name;
	for (uint32_t i = 0; i < pod_count; i++) {
		if (bt_str_equal_c(bt_plugin_pod_spec(pods[i])->preemption_policy, "Never")) {
			return bt_status_reason(
				BT_STATUS_UNSCHEDULABLE, BT_REASON_PREEMPTION_NEVER);
		}
		identities[i] = (struct bt_preemption_pod){
			pods[i]->namespace_, pods[i]->name, pods[i]->uid};
	}
	struct bt_status status = run(&attempt, &preemptor);
	bt_vec_finish_each(&attempt.units, bt_vec_finish(&each->pods));
	bt_map_finish(&attempt.by_group);
	return status;
}

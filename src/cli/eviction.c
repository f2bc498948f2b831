/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/eviction.h"

#include "api/selector.h"
#include "api/types.h"
#include "cli/pod_claims.h"
#include "plugins/default_preemption.h"

static void evict(struct bt_engine *engine, uint32_t pod_id, bt_eviction_visit visit, void *context)
{
	struct bt_pod_info victim;
	bt_pod_info_from_record(engine->state, pod_id, &victim);
	if (visit != NULL) {
		visit(context, &victim);
	}
	struct bt_strbuf uid = {0};
	bt_strbuf_append_str(&uid, victim.uid); /* the state's own goes with the pod */
	struct bt_pod pod = {
		.metadata = {.name = victim.name,
			.namespace_ = victim.namespace_,
			.uid = victim.uid},
		.spec.node_name = victim.node_name,
	};
	int result = bt_state_remove_pod(engine->state, &pod, NULL);
	BT_ASSERT(result == 0); /* it was found on this node a moment ago */
	bt_pod_claims_release(engine->state, bt_strbuf_str(&uid));
	bt_strbuf_finish(&uid);
}

/** The candidate that the last cycle nominated, or NULL. */
static const struct bt_preemption_candidate *chosen_candidate(
	const struct bt_schedule_result *result)
{
	const struct bt_post_filter_result *nomination = &result->nomination;
	if (result->outcome != BT_OUTCOME_FIT_ERROR || !nomination->present ||
		nomination->mode != BT_NOMINATING_OVERRIDE ||
		nomination->nominated_node_name.length == 0) {
		return NULL;
	}
	const struct bt_preemption_decision *decision =
		bt_default_preemption_decision(result->framework, result->cycle);
	return decision != NULL && decision->selected < decision->candidate_count
		? &decision->candidates[decision->selected]
		: NULL;
}

/** Victims of an earlier attempt of the same pod: it does not preempt again while they are there.
 */
static uint32_t evict_terminating(struct bt_engine *engine, const struct bt_pod_info *preemptor,
	bt_eviction_visit visit, void *context)
{
	const struct bt_state *state = engine->state;
	uint32_t slot = preemptor->nominated_node_name.length != 0
		? bt_state_snapshot_find(state, preemptor->nominated_node_name)
		: BT_SLOT_NONE;
	uint32_t count = 0;
	uint32_t i = 0;
	while (slot != BT_SLOT_NONE && i < state->nodes.rows[slot].pods.count) {
		uint32_t pod_id = state->nodes.rows[slot].pods.items[i];
		const struct bt_pod_record *record = bt_state_pod_at(state, pod_id);
		if (record->preempted && record->priority < preemptor->priority) {
			evict(engine, pod_id, visit, context);
			count++; /* the last of the list has come to its place */
		} else {
			i++;
		}
	}
	return count;
}

uint32_t bt_eviction_run(struct bt_engine *engine, const struct bt_pod_info *preemptor,
	const struct bt_schedule_result *result, bt_eviction_visit visit, void *context)
{
	const struct bt_preemption_candidate *chosen = chosen_candidate(result);
	if (chosen == NULL) {
		return result->outcome == BT_OUTCOME_FIT_ERROR
			? evict_terminating(engine, preemptor, visit, context)
			: 0;
	}
	for (uint32_t i = 0; i < chosen->victim_count; i++) {
		evict(engine, chosen->victims[i], visit, context);
	}
	return chosen->victim_count;
}

static bool allows_less_without(const struct bt_pod_disruption_budget *budget,
	const struct bt_pod_info *victim, struct bt_arena *arena)
{
	struct bt_selector selector;
	return budget->status.disruptions_allowed > 0 &&
		bt_selector_from_label_selector(budget->spec.selector, arena, &selector, NULL) ==
		0 &&
		bt_selector_matches(&selector, victim->labels);
}

void bt_eviction_charge_budgets(struct bt_state *state, const struct bt_pod_info *victim)
{
	struct bt_arena arena;
	BT_VEC(struct bt_object *) changed = {0};
	const struct bt_pod_disruption_budget *budget;
	uint32_t cursor = 0;
	bt_arena_init(&arena, 0);
	while ((budget = bt_object_store_next(&state->objects, BT_KIND_POD_DISRUPTION_BUDGET,
			victim->namespace_, &cursor)) != NULL) {
		if (allows_less_without(budget, victim, &arena)) {
			struct bt_pod_disruption_budget copy = *budget;
			copy.status.disruptions_allowed--;
			bt_vec_push(
				&changed, bt_object_create(BT_KIND_POD_DISRUPTION_BUDGET, &copy));
		}
	}
	for (uint32_t i = 0; i < changed.count; i++) {
		bt_object_store_put(&state->objects, changed.items[i]);
	}
	bt_vec_finish(&changed);
	bt_arena_finish(&arena);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "api/types.h"
#include "api/selector.h"
#include "base/alloc.h"
#include "cli/pod_claims.h"
#include "cli/simulation.h"
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

/** --- pods that a plugin makes wait on Permit: spec 02 sections 5.9 and 5.14 --- */

static void simulation_wait(
	struct bt_simulation *simulation, uint32_t index, const struct bt_schedule_result *result)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	struct bt_simulated_wait *wait = BT_NEW(struct bt_simulated_wait);
	wait->index = index;
	wait->result = *result;
	bt_engine_hold(simulation->engine, &wait->result, &wait->held);
	(void)bt_waiting_pods_add(&simulation->waiting, result->framework, &entry->info,
		wait->result.waits, wait->result.wait_count, simulation->now_ns);
	bt_vec_push(&simulation->waits, wait);
	entry->waiting = true;
}

/** The first one that is decided leaves the list; NULL: there is none. */
static struct bt_simulated_wait *take_decided(
	struct bt_simulation *simulation, struct bt_status *out_decision)
{
	for (uint32_t i = 0; i < simulation->waits.count; i++) {
		struct bt_simulated_wait *wait = simulation->waits.items[i];
		if (bt_waiting_pods_poll(&simulation->waiting,
			    simulation->pods.items[wait->index].info.uid, &wait->held.arena,
			    out_decision) != BT_WAIT_PENDING) {
			bt_vec_remove_ordered(&simulation->waits, i);
			return wait;
		}
	}
	return NULL;
}

static void simulation_set_placed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result);

static void simulation_set_failed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result, struct bt_arena *arena);

static void simulation_record(
	struct bt_simulation *simulation, struct bt_simulated_pod *entry, struct bt_str *last);

/** Place or give up the pods about which a plugin has decided. */
static void simulation_settle_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last)
{
	struct bt_simulated_wait *wait;
	struct bt_status decision;
	while ((wait = take_decided(simulation, &decision)) != NULL) {
		struct bt_engine *engine = simulation->engine;
		struct bt_simulated_pod *entry = &simulation->pods.items[wait->index];
		bool placed = false;
		entry->waiting = false;
		if (bt_status_is_success(&decision)) {
			placed = bt_engine_finish_place(engine, &entry->info, &wait->result);
		} else {
			bt_engine_reject_waiting(engine, &entry->info, &decision, &wait->result);
		}
		if (placed) {
			simulation_set_placed(simulation, entry, &wait->result);
		} else {
			simulation->release_count++;
			simulation_set_failed(simulation, entry, &wait->result, arena);
		}
		simulation_record(simulation, entry, last);
		/* A gang that was given up would only take the room again that it left to others.
		 */
		entry->release_count = UINT32_MAX;
		bt_engine_release_held(engine, &wait->held);
		bt_free(wait);
		bt_arena_reset(arena);
	}
}

/** Let the time pass until nobody waits any longer. */
static void simulation_end_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last)
{
	while (simulation->waits.count != 0) {
		int64_t now_ns = bt_waiting_pods_next_deadline_ns(&simulation->waiting);
		simulation->now_ns = now_ns;
		for (uint32_t i = 0; i < simulation->engine->profiles.frameworks.count; i++) {
			simulation->engine->profiles.frameworks.items[i]->handle.now_ns = now_ns;
		}
		bt_waiting_pods_expire(&simulation->waiting, simulation->now_ns);
		simulation_settle_waits(simulation, arena, last);
	}
}

/** A message beyond the budget of all messages. */
#define CUT_MESSAGE_BYTES 256
/**
 * Attempts of one pod. The second one nearly always finds the node that the first one had emptied;
 * more are needed when something else than the victims was in the way, and when claims are given
 * back on the way.
 */
#define ROUNDS_MAX 16

/** Pods of one template fail with the same words: those are kept once. */
static struct bt_str keep_message(
	struct bt_simulation *simulation, struct bt_str message, const struct bt_str *last)
{
	if (bt_str_equal(message, *last)) {
		return *last;
	}
	if (simulation->message_bytes + message.length > BT_SIMULATION_MESSAGE_BYTES_MAX &&
		message.length > CUT_MESSAGE_BYTES) {
		message = bt_str_sub(message, 0, CUT_MESSAGE_BYTES);
		return bt_arena_printf(&simulation->arena, "%.*s ...", BT_STR_ARG(message));
	}
	simulation->message_bytes += message.length;
	return bt_arena_str(&simulation->arena, message);
}

static void reject(struct bt_simulated_pod *entry, enum bt_fate fate, struct bt_str message)
{
	entry->fate = fate;
	entry->message = message;
}

static void let_go(struct bt_simulation *simulation, struct bt_simulated_pod *entry)
{
	if (entry->info.shape != NULL) {
		bt_pod_info_finish_pending(simulation->engine->state, &entry->info);
	}
}

/** --- preemption --- */

struct eviction_round {
	struct bt_simulation *simulation;
	uint32_t preemptor;
};

static void record_eviction(void *context, const struct bt_pod_info *victim)
{
	const struct eviction_round *round = context;
	struct bt_simulation *simulation = round->simulation;
	struct bt_simulated_eviction eviction = {
		.namespace_ = bt_arena_str(&simulation->arena, victim->namespace_),
		.name = bt_arena_str(&simulation->arena, victim->name),
		.node_name = bt_arena_str(&simulation->arena, victim->node_name),
		.priority = victim->priority,
		.preemptor = round->preemptor,
	};
	bt_vec_push(&simulation->evictions, eviction);
	simulation->release_count++;
	/*
	 * What the controller of disruption budgets would do when the pod has gone: each budget
	 * that covers it allows one disruption less, down to none.
	 */
	struct bt_state *state = simulation->engine->state;
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

struct lower_nominations {
	int32_t priority;
	bool found;
};

static bool find_lower(void *context, const struct bt_pod_info *pod)
{
	struct lower_nominations *lower = context;
	lower->found = pod->priority < lower->priority;
	return !lower->found;
}

/** Pods of lower priority lose their claim to the node: spec 08 section 11.4. */
static void clear_lower_nominations(
	struct bt_simulation *simulation, uint32_t preemptor, struct bt_str node_name)
{
	struct bt_nominator *nominator = &simulation->engine->nominator;
	struct lower_nominations lower = {
		.priority = simulation->pods.items[preemptor].info.priority};
	bt_nominator_for_node(nominator, node_name, find_lower, &lower);
	/* Behind it in the order of the queue, where all of lower priority are. */
	for (uint32_t i = preemptor + 1; lower.found && i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		struct bt_str nominated;
		if (entry->info.shape != NULL && entry->info.priority < lower.priority &&
			bt_nominator_find(nominator, entry->info.uid, &nominated) &&
			bt_str_equal(nominated, node_name)) {
			bt_nominator_delete(nominator, entry->info.uid);
			entry->info.nominated_node_name = BT_STR("");
		}
	}
}

/** The victims of the failed attempt leave; false: there are none. */
static bool preempt(
	struct bt_simulation *simulation, uint32_t index, const struct bt_schedule_result *result)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	struct eviction_round round = {simulation, index};
	if (bt_eviction_run(simulation->engine, &entry->info, result, record_eviction, &round) ==
		0) {
		return false;
	}
	if (result->nomination.present) {
		entry->info.nominated_node_name =
			bt_arena_str(&simulation->arena, result->nomination.nominated_node_name);
		clear_lower_nominations(simulation, index, entry->info.nominated_node_name);
	}
	return true;
}

/** --- one pod --- */

static void simulation_set_placed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result)
{
	entry->fate = BT_FATE_SCHEDULED;
	entry->node_name = bt_arena_str(&simulation->arena,
		bt_node_table_name(&simulation->engine->state->nodes, result->slot));
	entry->nominated_node_name = BT_STR("");
	let_go(simulation, entry);
}

/** The attempt failed; the message lives in arena until it is recorded. */
static void simulation_set_failed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result, struct bt_arena *arena)
{
	enum bt_fate fate = bt_status_is_rejected(&result->status) ? BT_FATE_UNSCHEDULABLE
								   : BT_FATE_SCHEDULER_ERROR;
	reject(entry, fate, bt_status_message_str(&result->status, arena));
	/* Spec 03 section 9: what a failed cycle does to the pod's nomination. */
	struct bt_engine *engine = simulation->engine;
	struct bt_str node_name = BT_STR("");
	bt_nominator_nominate(&engine->nominator, &entry->info,
		result->nomination.present ? &result->nomination : NULL, true, true);
	if (bt_nominator_find(&engine->nominator, entry->info.uid, &node_name)) {
		/* The nominator's copy would go with the nomination. */
		node_name = bt_arena_str(&simulation->arena, node_name);
		entry->info.nominated_node_name = node_name;
	} else {
		bt_pod_info_finish_pending(engine->state, &entry->info);
	}
	entry->nominated_node_name = node_name;
}

/** One attempt; true: the pod is on its node, or waits for it. */
static bool try_to_place(
	struct bt_simulation *simulation, uint32_t index, struct bt_schedule_result *result)
{
	struct bt_engine *engine = simulation->engine;
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	bt_engine_schedule(engine, result->framework, &entry->info, result);
	entry->feasible_count = result->feasible_count;
	if (result->outcome != BT_OUTCOME_SCHEDULED) {
		return false;
	}
	entry->score = result->total_score;
	if (!bt_engine_reserve(engine, &entry->info, result)) {
		return false;
	}
	if (result->wait_count != 0) {
		simulation_wait(simulation, index, result);
		return true;
	}
	if (!bt_engine_finish_place(engine, &entry->info, result)) {
		return false;
	}
	simulation_set_placed(simulation, entry, result);
	return true;
}

static void schedule(struct bt_simulation *simulation, struct bt_framework *framework,
	uint32_t index, bool may_preempt, struct bt_arena *arena)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	struct bt_schedule_result result = {.framework = framework};
	entry->cpu_milli = entry->info.shape->requested_cpu_milli;
	entry->memory_bytes = entry->info.shape->requested_memory_bytes;
	for (int round = 0; round < ROUNDS_MAX; round++) {
		uint64_t version = bt_pod_claims_version(simulation->engine->state);
		if (try_to_place(simulation, index, &result)) {
			return;
		}
		if (result.outcome == BT_OUTCOME_FIT_ERROR &&
			bt_pod_claims_version(simulation->engine->state) != version) {
			simulation->release_count++;
		} else if (!may_preempt || !preempt(simulation, index, &result)) {
			break;
		}
	}
	simulation_set_failed(simulation, entry, &result, arena);
}

static void decide(
	struct bt_simulation *simulation, uint32_t index, bool may_preempt, struct bt_arena *arena)
{
	struct bt_engine *engine = simulation->engine;
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	const struct bt_pod *pod = entry->pod;
	struct bt_framework *framework = bt_engine_profile(engine, pod->spec.scheduler_name);
	if (framework == NULL) {
		struct bt_strbuf text = {0};
		bt_strbuf_append_c(&text, "profile not found for scheduler name ");
		bt_strbuf_append_quoted(&text, pod->spec.scheduler_name);
		reject(entry, BT_FATE_NOT_HANDLED, bt_arena_str(arena, bt_strbuf_str(&text)));
		bt_strbuf_finish(&text);
		return;
	}
	if (entry->info.shape == NULL) {
		bt_pod_info_init_pending(engine->state, pod, &entry->info);
	}
	struct bt_plugin *gate;
	struct bt_status status = bt_run_pre_enqueue(framework, &entry->info, arena, &gate);
	if (!bt_status_is_success(&status)) {
		reject(entry, BT_FATE_SCHEDULING_GATED, bt_status_message_str(&status, arena));
	} else if (bt_pod_is_terminating(pod)) {
		reject(entry, BT_FATE_DELETING,
			bt_arena_printf(arena, "skip schedule deleting pod: %.*s/%.*s",
				BT_STR_ARG(pod->metadata.namespace_),
				BT_STR_ARG(pod->metadata.name)));
	} else {
		schedule(simulation, framework, index, may_preempt, arena);
		return;
	}
	struct bt_str node_name;
	if (bt_nominator_find(&engine->nominator, entry->info.uid, &node_name)) {
		entry->nominated_node_name = entry->info.nominated_node_name;
	} else {
		let_go(simulation, entry);
	}
}

/** --- all pods --- */

static void simulation_record(
	struct bt_simulation *simulation, struct bt_simulated_pod *entry, struct bt_str *last)
{
	entry->release_count = simulation->release_count;
	if (entry->fate != BT_FATE_SCHEDULED) {
		entry->message = keep_message(simulation, entry->message, last);
		*last = entry->message;
	} else {
		entry->message = BT_STR("");
	}
	simulation->counts[entry->fate]++;
}

static void decide_and_keep(struct bt_simulation *simulation, uint32_t index, bool may_preempt,
	struct bt_arena *arena, struct bt_str *last)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	decide(simulation, index, may_preempt, arena);
	if (!entry->waiting) {
		simulation_record(simulation, entry, last);
	}
	bt_arena_reset(arena);
	simulation_settle_waits(simulation, arena, last);
}

static void decide_first(struct bt_simulation *simulation, uint32_t count, struct bt_arena *arena,
	struct bt_str *last)
{
	BT_ASSERT(count <= simulation->pods.count);
	for (uint32_t i = 0; i < count; i++) {
		if (simulation->progress != NULL) {
			simulation->progress(simulation->progress_context, i, count);
		}
		decide_and_keep(simulation, i, simulation->preempt, arena, last);
	}
	simulation_end_waits(simulation, arena, last);
}

void bt_simulation_run(struct bt_simulation *simulation)
{
	struct bt_str last = BT_STR("");
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	decide_first(simulation, simulation->pods.count, &arena, &last);
	/* What the last ones to leave left behind may be enough for a pod that found nothing
	 * before. */
	for (uint32_t i = 0; i < simulation->pods.count; i++) {
		struct bt_simulated_pod *entry = &simulation->pods.items[i];
		if (entry->fate == BT_FATE_UNSCHEDULABLE &&
			entry->release_count < simulation->release_count) {
			simulation->counts[entry->fate]--;
			decide_and_keep(simulation, i, false, &arena, &last);
		}
	}
	simulation_end_waits(simulation, &arena, &last);
	bt_arena_finish(&arena);
}

void bt_simulation_run_first(struct bt_simulation *simulation, uint32_t count)
{
	struct bt_str last = BT_STR("");
	struct bt_arena arena;
	bt_arena_init(&arena, 0);
	decide_first(simulation, count, &arena, &last);
	bt_arena_finish(&arena);
}

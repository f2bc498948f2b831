/* SPDX-License-Identifier: Apache-2.0 */
#include "api/identity.h"
#include "cli/eviction.h"
#include "cli/pod_claims.h"
#include "cli/simulation_private.h"

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
	bt_eviction_charge_budgets(simulation->engine->state, victim);
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

void bt_simulation_set_placed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result)
{
	entry->fate = BT_FATE_SCHEDULED;
	entry->node_name = bt_arena_str(&simulation->arena,
		bt_node_table_name(&simulation->engine->state->nodes, result->slot));
	entry->nominated_node_name = BT_STR("");
	let_go(simulation, entry);
}

void bt_simulation_set_failed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
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
		bt_simulation_wait(simulation, index, result);
		return true;
	}
	if (!bt_engine_finish_place(engine, &entry->info, result)) {
		return false;
	}
	bt_simulation_set_placed(simulation, entry, result);
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
	bt_simulation_set_failed(simulation, entry, &result, arena);
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

void bt_simulation_record(
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
		bt_simulation_record(simulation, entry, last);
	}
	bt_arena_reset(arena);
	bt_simulation_settle_waits(simulation, arena, last);
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
	bt_simulation_end_waits(simulation, arena, last);
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
	bt_simulation_end_waits(simulation, &arena, &last);
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

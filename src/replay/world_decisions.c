/* SPDX-License-Identifier: Apache-2.0 */
/** The decisions and writes of a replay's scheduler, and their differences from the recording. */
#include <inttypes.h>

#include "base/assert.h"
#include "replay/world.h"

/** Limit of steps at one time: pods that requeue each other would be tried for ever. */
#define STEPS_AT_ONE_INSTANT_MAX 100000000
/** --- differences from the recording --- */

static uint32_t feasible_index(const struct bt_evaluation *evaluation, uint32_t slot)
{
	for (uint32_t i = 0; i < evaluation->feasible_count; i++) {
		if (evaluation->feasible[i] == slot) {
			return i;
		}
	}
	return UINT32_MAX;
}

/**
 * Finds why the pod is not on its recorded node: evaluates the pod again on all nodes. For the
 * evaluation, the assumed pod is removed from the cache; it is added again afterwards.
 */
static void find_reason(
	struct bt_replay *replay, const struct bt_pod *pending, struct bt_replay_binding *binding)
{
	struct bt_state *state = replay->engine->state;
	struct bt_framework *framework =
		bt_engine_profile(replay->engine, pending->spec.scheduler_name);
	uint32_t recorded = bt_node_table_find(&state->nodes, binding->recorded_node);
	uint32_t chosen = bt_node_table_find(&state->nodes, binding->node_name);
	struct bt_pod bound = *pending;
	struct bt_evaluation evaluation;
	struct bt_pod_info info;
	bound.spec.node_name = binding->node_name;
	if (recorded == BT_SLOT_NONE || !state->nodes.rows[recorded].has_node) {
		binding->difference = BT_DIFFERENCE_NO_NODE;
		binding->reason = bt_arena_printf(&replay->step_arena,
			"%.*s: is not there at this time", BT_STR_ARG(binding->recorded_node));
		return;
	}
	if (bt_state_forget_pod(state, &bound, NULL) < 0) {
		return; /* the cache has no such assumed pod: no comparison */
	}
	bt_pod_info_init_pending(state, pending, &info);
	bt_engine_evaluate(replay->engine, framework, &info, &evaluation);
	uint32_t recorded_index = feasible_index(&evaluation, recorded);
	uint32_t chosen_index = feasible_index(&evaluation, chosen);
	if (recorded_index == UINT32_MAX) {
		binding->difference = BT_DIFFERENCE_NO_ROOM;
		struct bt_str message = BT_STR("PreFilter leaves it out");
		for (uint32_t i = 0; i < evaluation.node_count; i++) {
			if (evaluation.nodes[i].slot == recorded) {
				message = bt_status_message_str(
					&evaluation.nodes[i].filter, evaluation.cycle->arena);
				break;
			}
		}
		binding->reason = bt_arena_printf(&replay->step_arena, "%.*s: %.*s",
			BT_STR_ARG(binding->recorded_node), BT_STR_ARG(message));
	} else if (bt_str_equal(pending->status.nominated_node_name, binding->node_name)) {
		binding->difference = BT_DIFFERENCE_NOMINATED;
		binding->reason = bt_arena_printf(&replay->step_arena,
			"%.*s: has room since pods were preempted there",
			BT_STR_ARG(binding->node_name));
	} else if (chosen_index != UINT32_MAX) {
		int64_t recorded_score = evaluation.scores.totals[recorded_index];
		int64_t chosen_score = evaluation.scores.totals[chosen_index];
		binding->difference =
			recorded_score == chosen_score ? BT_DIFFERENCE_TIE : BT_DIFFERENCE_SCORE;
		binding->reason = bt_arena_printf(&replay->step_arena,
			"%.*s: scores %" PRId64 ", %.*s %" PRId64, BT_STR_ARG(binding->node_name),
			chosen_score, BT_STR_ARG(binding->recorded_node), recorded_score);
	}
	bt_pod_info_finish_pending(state, &info);
	int result = bt_state_assume_pod(state, &bound, NULL);
	BT_ASSERT(result == 0); /* it was assumed before */
}

/** --- what the scheduler writes --- */

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition BT_UNUSED,
	const struct bt_post_filter_result *nomination, struct berth_error *err BT_UNUSED)
{
	struct bt_replay *replay = context;
	uint32_t id = bt_replay_find_by_uid(replay, pod->metadata.uid);
	if (id != BT_MAP_NONE && nomination->present &&
		nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(
			bt_replay_pod_value(&replay->pods.items[id])->status.nominated_node_name,
			nomination->nominated_node_name)) {
		struct bt_replay_nomination entry = {
			id, bt_arena_str(&replay->step_arena, nomination->nominated_node_name)};
		bt_vec_push(&replay->nominations, entry);
	}
	return 0;
}

static int patch_pod_group(void *context, const struct bt_pod_group *group,
	const struct bt_condition *condition, struct berth_error *err BT_UNUSED)
{
	struct bt_replay *replay = context;
	struct bt_arena *arena = &replay->step_arena;
	struct bt_replay_group_write write = {bt_arena_str(arena, group->metadata.namespace_),
		bt_arena_str(arena, group->metadata.name),
		{.type = bt_arena_str(arena, condition->type),
			.status = bt_arena_str(arena, condition->status),
			.observed_generation = condition->observed_generation,
			.reason = bt_arena_str(arena, condition->reason),
			.message = bt_arena_str(arena, condition->message)}};
	bt_vec_push(&replay->group_writes, write);
	return 0;
}

/**
 * Queues a victim. `step` then passes the victim to bt_replay_disrupt_pod,
 * because a replay has no kubelet that ends the victim.
 */
static int delete_pod(void *context, struct bt_preemption_ticket ticket BT_UNUSED,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct bt_replay *replay = context;
	uint32_t id = bt_replay_find_by_uid(replay, victim->uid);
	if (id == BT_MAP_NONE) {
		return bt_error_set(err, BERTH_ERR_NOT_FOUND, "pod not found");
	}
	for (uint32_t i = 0; i < replay->preempted.count; i++) {
		if (replay->preempted.items[i] == id) {
			return 0;
		}
	}
	bt_vec_push(&replay->preempted, id);
	return 0;
}

/** --- decisions --- */

static int take_binding(
	struct bt_replay *replay, const struct bt_attempt *attempt, struct berth_error *err)
{
	uint32_t id = bt_replay_find_by_uid(replay, attempt->uid);
	BT_ASSERT(id != BT_MAP_NONE); /* the queue has only pods of the replay */
	struct bt_replay_pod *pod = &replay->pods.items[id];
	struct bt_pod value = *bt_replay_pod_value(pod);
	bool has_recorded = pod->returns == 0 && !bt_sym_equal(pod->life.node, BT_SYM_EMPTY);
	struct bt_replay_binding binding = {
		.time_ns = replay->now_ns,
		.created_ns = pod->created_ns,
		.pod = &value,
		.node_name = bt_arena_str(&replay->step_arena, attempt->node_name),
		.score = attempt->score,
		.recorded_node =
			has_recorded ? bt_lives_node(replay->lives, pod->life.node) : BT_STR(""),
		.recorded_ns = has_recorded ? pod->life.bound_ns : -1,
		.difference = BT_DIFFERENCE__COUNT,
		.reason = BT_STR(""),
	};
	bool is_same = bt_str_equal(binding.recorded_node, binding.node_name);
	replay->counts->bound++;
	replay->counts->recorded += has_recorded;
	replay->counts->same += has_recorded && is_same;
	if (has_recorded && !is_same && replay->reason_count < replay->options->reasons_max) {
		replay->reason_count++;
		find_reason(replay, &value, &binding);
	}
	replay->pending_count--;
	value.spec.node_name = binding.node_name;
	value.status.nominated_node_name = BT_STR("");
	BT_REPLAY_NOTIFY(replay->options, bound, &binding)
	bt_replay_start_pod(replay, id, binding.node_name);
	return bt_replay_set_pod(replay, id, &value, err);
}

/** Returns the next pod of the queue, or NULL. */
static const struct bt_queue_entry *find_next(struct bt_replay *replay)
{
	struct bt_queue *queue = bt_scheduler_queue(replay->scheduler);
	bt_queue_tick(queue, replay->now_ns);
	return bt_queue_peek(queue);
}

/** Returns whether the queued pod would find a node now. */
static bool has_feasible_node(struct bt_replay *replay, const struct bt_queue_entry *entry)
{
	struct bt_framework *framework =
		bt_engine_profile(replay->engine, entry->pod.object->spec.scheduler_name);
	struct bt_evaluation evaluation;
	if (framework == NULL) {
		return false;
	}
	bt_engine_evaluate(replay->engine, framework, &entry->pod, &evaluation);
	return evaluation.feasible_count != 0;
}

/**
 * Returns the recorded life of the queued pod. NULL: the replay created this pod again, and such a
 * pod is not in the recording.
 */
static const struct bt_pod_life *recorded_life(
	struct bt_replay *replay, const struct bt_queue_entry *entry)
{
	uint32_t id = bt_replay_find_by_uid(replay, entry->pod.uid);
	return id != BT_MAP_NONE && replay->pods.items[id].returns == 0
		? &replay->pods.items[id].life
		: NULL;
}

/**
 * Returns the time until which the queued pod waits, because the recorded scheduler tried it later.
 * -1: the pod does not wait. INT64_MAX: the recorded scheduler may still try the pod, at an unknown
 * time. The recording does not show attempts that fail like the previous one, because they write
 * nothing; pods do not wait for such attempts.
 */
static int64_t find_wait_ns(struct bt_replay *replay, const struct bt_queue_entry *entry,
	const struct bt_pod_life *life)
{
	int64_t soon_ns = replay->now_ns + BT_REPLAY_SAME_NS;
	if (life == NULL) {
		return -1;
	}
	if (life->tried_ns > replay->now_ns && life->tried_ns <= soon_ns) {
		return life->tried_ns;
	}
	bool is_bound_soon = life->bound_ns > replay->now_ns && life->bound_ns <= soon_ns;
	/* Pods that the recording never tries, as in imported traces, do not wait. */
	bool may_wait = replay->may_be_busy && life->tried_ns >= 0;
	if ((is_bound_soon || may_wait) && has_feasible_node(replay, entry)) {
		return is_bound_soon ? life->bound_ns : INT64_MAX;
	}
	return -1;
}

/**
 * Makes the scheduler choose the recorded node among nodes of equal score. life NULL: no
 * preference.
 */
static void prefer_recorded(struct bt_replay *replay, const struct bt_pod_life *life)
{
	bt_scheduler_prefer_node(replay->scheduler,
		life != NULL ? bt_lives_node(replay->lives, life->node) : BT_STR(""));
}

/**
 * Does one step of the scheduler and executes its writes. *out_is_idle: there was nothing to do.
 */
static int step(struct bt_replay *replay, struct bt_attempt *out_attempt, int64_t *out_next_ns,
	bool *out_is_idle, struct berth_error *err)
{
	int result = 0;
	*out_next_ns = bt_scheduler_step(replay->scheduler, replay->now_ns, out_attempt);
	replay->counts->attempts +=
		out_attempt->outcome != BT_ATTEMPT_IDLE && !out_attempt->has_waited;
	if (out_attempt->outcome == BT_ATTEMPT_BOUND) {
		result = take_binding(replay, out_attempt, err);
	}
	*out_is_idle = out_attempt->outcome == BT_ATTEMPT_IDLE && replay->nominations.count == 0 &&
		replay->group_writes.count == 0 && replay->preempted.count == 0;
	/* Pass the writes back to the scheduler, as a watch would. */
	for (uint32_t i = 0; i < replay->nominations.count && result == 0; i++) {
		const struct bt_replay_nomination *nomination = &replay->nominations.items[i];
		const struct bt_replay_pod *pod = &replay->pods.items[nomination->pod];
		if (pod->object != NULL && pod->bound_ns < 0) {
			struct bt_pod value = *bt_replay_pod_value(pod);
			value.status.nominated_node_name = nomination->node_name;
			result = bt_replay_set_pod(replay, nomination->pod, &value, err);
		}
	}
	for (uint32_t i = 0; i < replay->group_writes.count && result == 0; i++) {
		const struct bt_replay_group_write *write = &replay->group_writes.items[i];
		result = bt_replay_set_group_condition(
			replay, write->namespace_, write->name, &write->condition, err);
	}
	for (uint32_t i = 0; i < replay->preempted.count && result == 0; i++) {
		result = bt_replay_disrupt_pod(
			replay, replay->preempted.items[i], BT_REPLAY_PREEMPTED, err);
		bt_arena_reset(&replay->arena);
	}
	replay->nominations.count = 0;
	replay->group_writes.count = 0;
	replay->preempted.count = 0;
	bt_arena_reset(&replay->step_arena);
	return result;
}

int bt_replay_schedule(struct bt_replay *replay, int64_t *out_next_ns, struct berth_error *err)
{
	struct bt_attempt attempt;
	bool is_idle = false;
	for (uint32_t i = 0; i < STEPS_AT_ONE_INSTANT_MAX; i++) {
		const struct bt_queue_entry *next =
			bt_replay_follows(replay) ? find_next(replay) : NULL;
		if (next != NULL) {
			const struct bt_pod_life *life = recorded_life(replay, next);
			*out_next_ns = find_wait_ns(replay, next, life);
			if (*out_next_ns >= 0) {
				return 0;
			}
			prefer_recorded(replay, life);
		}
		int result = step(replay, &attempt, out_next_ns, &is_idle, err);
		if (result < 0 || is_idle) {
			return result;
		}
	}
	return bt_error_set(err, BERTH_ERR_INTERNAL,
		"the scheduler does not become idle: pods requeue each other");
}

/**
 * Returns whether the order of two entries is arbitrary: they have the same priority and were
 * queued at about the same time.
 */
static bool is_tie(const struct bt_queue_entry *a, const struct bt_queue_entry *b)
{
	int64_t apart_ns = a->timestamp_ns - b->timestamp_ns;
	return a->place == b->place &&
		bt_pod_priority(a->pod.object) == bt_pod_priority(b->pod.object) &&
		apart_ns <= BT_REPLAY_BURST_NS && apart_ns >= -BT_REPLAY_BURST_NS;
}

int bt_replay_schedule_pod(struct bt_replay *replay, uint32_t id, struct berth_error *err)
{
	struct bt_queue *queue = bt_scheduler_queue(replay->scheduler);
	struct bt_object *object = bt_object_share(replay->pods.items[id].object);
	struct bt_attempt attempt;
	int64_t next_ns;
	bool is_idle = false;
	bool is_done = !bt_replay_follows(replay) || replay->pods.items[id].bound_ns >= 0;
	int result = 0;
	for (uint32_t i = 0; i < STEPS_AT_ONE_INSTANT_MAX && result == 0 && !is_done; i++) {
		const struct bt_queue_entry *next = find_next(replay);
		const struct bt_queue_entry *wanted =
			bt_queue_find(queue, object->meta->namespace_, object->meta->name);
		if (next == NULL || wanted == NULL || wanted->place == BT_QUEUE_UNSCHEDULABLE) {
			break;
		}
		if (is_tie(next, wanted)) {
			next = wanted;
			bt_scheduler_prefer_pod(
				replay->scheduler, object->meta->namespace_, object->meta->name);
		}
		is_done = next == wanted;
		prefer_recorded(replay, recorded_life(replay, next));
		result = step(replay, &attempt, &next_ns, &is_idle, err);
	}
	bt_scheduler_prefer_pod(replay->scheduler, BT_STR(""), BT_STR(""));
	bt_object_release(object);
	return result;
}

struct bt_scheduler_writer bt_replay_writer(struct bt_replay *replay)
{
	return (struct bt_scheduler_writer){.context = replay,
		.patch_status = patch_status,
		.patch_pod_group = patch_pod_group,
		.delete_pod = delete_pod};
}

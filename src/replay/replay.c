/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include <inttypes.h>
#include <stdio.h>

#include "api/defaulting.h"
#include "api/identity.h"
#include "api/node.h"
#include "api/pod_common.h"
#include "base/alloc.h"
#include "base/assert.h"
#include "base/heap.h"
#include "base/nanoseconds.h"
#include "codec/json_patch.h"
#include "replay/pod_facts.h"

/** Pods that wake each other at one instant would never come to rest. */
#define STEPS_AT_ONE_INSTANT_MAX 100000000
/** A binding that comes so much earlier or later than the recorded one is the same one: a scheduler
 * in virtual time takes no time for its work. */
#define SAME_BINDING_NS BT_NS_PER_SECOND

/** Calls a function of every sink that has it. */
#define TELL_SINKS(options, function, ...) \
	for (uint32_t sink_ = 0; sink_ < (options)->sink_count; sink_++) { \
		const struct bt_replay_sink *told_ = &(options)->sinks[sink_]; \
		if (told_->function != NULL) { \
			told_->function(told_->context, __VA_ARGS__); \
		} \
	}

/** A pod of the recording, and what became of it here. */
struct pod {
	struct bt_object *object; /* as the scheduler knows it; NULL: the record is free */
	char *key;                /* "namespace/name" in the recording; NULL: it is gone there */
	struct bt_pod_life life;
	int64_t created_ns; /* when it came, or came back */
	int64_t bound_ns;   /* -1: it waits */
	uint32_t returns;   /* how often it came back */
	/** The recording took its pod away: the next pod that it creates for the same owner is this
	 * one. */
	bool is_orphan;
};

struct nomination {
	uint32_t pod;
	struct bt_str node_name; /* in the step's arena */
};

struct replay {
	const struct bt_replay_options *options;
	struct bt_lives *lives;
	struct bt_recording_parts parts;
	struct bt_scheduler *scheduler;
	struct bt_engine *engine;
	struct bt_replay_counts *counts;
	int64_t now_ns;
	int64_t from_ns;
	int64_t to_ns;
	int64_t next_sample_ns;
	int64_t gap_ns; /* when the last gap in the watch of pods ended; -1: there was none */
	BT_VEC(struct pod) pods;
	BT_VEC(uint32_t) free_ids;
	struct bt_map by_key;
	struct bt_map by_uid;
	BT_VEC(uint32_t) orphans; /* in the order in which they became so */
	struct bt_heap ends;      /* pods by the time at which they end */
	struct bt_object_store nodes;
	struct bt_pod_commons commons;
	uint64_t version;
	uint32_t pending_count;
	uint32_t reason_count;
	struct bt_arena arena; /* of one line */
	/* What the scheduler wrote in the running step. */
	BT_VEC(struct nomination) nominations;
	BT_VEC(uint32_t) preempted;
	struct bt_arena step_arena;
};

/** From here on the scheduler decides; before, the recording does. */
static bool is_decided(const struct replay *replay)
{
	return replay->now_ns >= replay->from_ns;
}

/** --- pods --- */

static const struct bt_pod *pod_value(const struct pod *pod)
{
	return bt_object_value(pod->object, BT_KIND_POD);
}

static uint32_t find_by_key(const struct replay *replay, struct bt_str key)
{
	BT_MAP_EACH (&replay->by_key, bt_str_hash(key), id) {
		if (bt_str_equal_c(key, replay->pods.items[id].key)) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

static uint32_t find_by_uid(const struct replay *replay, struct bt_str uid)
{
	BT_MAP_EACH (&replay->by_uid, bt_str_hash(uid), id) {
		if (bt_str_equal(uid, replay->pods.items[id].object->meta->uid)) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

static void set_key(struct replay *replay, uint32_t id, struct bt_str key)
{
	struct pod *pod = &replay->pods.items[id];
	if (pod->key != NULL) {
		(void)bt_map_remove(
			&replay->by_key, bt_str_hash(bt_str_from(pod->key)), id); /* it is there */
		bt_free(pod->key);
		pod->key = NULL;
	}
	if (key.length != 0) {
		pod->key = bt_strndup(key.data, key.length);
		bt_map_insert(&replay->by_key, bt_str_hash(key), id);
	}
}

/** The scheduler observes a change of the pod. value NULL: it is deleted. */
static int set_pod(
	struct replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err)
{
	struct pod *pod = &replay->pods.items[id];
	struct bt_object *old_object = pod->object;
	struct bt_object *new_object = NULL;
	if (value != NULL) {
		struct bt_pod copy = *value;
		char version[24];
		(void)snprintf(version, sizeof(version), "r%" PRIu64, ++replay->version);
		copy.metadata.resource_version = bt_str_from(version);
		new_object = bt_object_create_pod(&copy, &replay->commons);
	}
	if (old_object != NULL) {
		(void)bt_map_remove(&replay->by_uid, bt_str_hash(old_object->meta->uid), id);
	}
	if (new_object != NULL) {
		bt_map_insert(&replay->by_uid, bt_str_hash(new_object->meta->uid), id);
	}
	pod->object = new_object;
	int result = bt_scheduler_observe(
		replay->scheduler, old_object, new_object, replay->now_ns, err);
	bt_object_release(old_object);
	return result;
}

static void free_pod(struct replay *replay, uint32_t id)
{
	set_key(replay, id, BT_STR(""));
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	bt_vec_push(&replay->free_ids, id);
}

/** A controller makes another pod in its place; a DaemonSet does not where the node has gone. */
static bool comes_back(const struct bt_pod *pod, enum bt_replay_end end)
{
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	if (owner == NULL || bt_str_equal_c(owner->kind, "Node")) {
		return false;
	}
	return end == BT_REPLAY_PREEMPTED ||
		(end == BT_REPLAY_LOST && !bt_str_equal_c(owner->kind, "DaemonSet"));
}

static int wait_for_node(
	struct replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err)
{
	struct pod *pod = &replay->pods.items[id];
	pod->created_ns = replay->now_ns;
	pod->bound_ns = -1;
	replay->pending_count++;
	replay->counts->created++;
	TELL_SINKS(replay->options, created, value, replay->now_ns)
	return set_pod(replay, id, value, err);
}

/** The controller makes another pod in its place. gone: the one before. */
static int bring_back(
	struct replay *replay, uint32_t id, const struct bt_pod *gone, struct berth_error *err)
{
	struct pod *pod = &replay->pods.items[id];
	const struct bt_owner_reference *owner = bt_object_controller(&gone->metadata);
	struct bt_pod value = *gone;
	pod->returns++;
	value.spec.node_name = BT_STR("");
	value.status = (struct bt_pod_status){0};
	value.metadata.deletion_timestamp = NULL;
	value.metadata.uid = bt_arena_printf(
		&replay->arena, "%.*s.%u", BT_STR_ARG(gone->metadata.uid), pod->returns);
	if (!bt_str_equal_c(owner->kind, "StatefulSet")) {
		value.metadata.name = bt_arena_printf(
			&replay->arena, "%.*s.%u", BT_STR_ARG(gone->metadata.name), pod->returns);
	}
	return wait_for_node(replay, id, &value, err);
}

static int depart(
	struct replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err)
{
	struct pod *pod = &replay->pods.items[id];
	struct bt_object *object = bt_object_share(pod->object);
	const struct bt_pod *value = bt_object_value(object, BT_KIND_POD);
	struct bt_replay_departure departure = {.time_ns = replay->now_ns,
		.created_ns = pod->created_ns,
		.bound_ns = pod->bound_ns,
		.pod = value,
		.end = end,
		.comes_back = comes_back(value, end)};
	uint64_t *const counters[] = {[BT_REPLAY_SUCCEEDED] = &replay->counts->succeeded,
		[BT_REPLAY_DELETED] = &replay->counts->deleted,
		[BT_REPLAY_PREEMPTED] = &replay->counts->preempted,
		[BT_REPLAY_LOST] = &replay->counts->lost};
	(*counters[end])++;
	replay->pending_count -= pod->bound_ns < 0;
	TELL_SINKS(replay->options, departed, &departure)
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	int result = set_pod(replay, id, NULL, err);
	if (result == 0 && departure.comes_back) {
		result = bring_back(replay, id, value, err);
	} else if (result == 0) {
		free_pod(replay, id);
	}
	bt_object_release(object);
	return result;
}

/** The time of its end, once it runs and that is known. */
static void set_end(struct replay *replay, uint32_t id)
{
	struct pod *pod = &replay->pods.items[id];
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	if (pod->bound_ns < 0 || pod->life.runs_ns < 0) {
		return;
	}
	int64_t late_ns = pod->bound_ns - pod->life.bound_ns;
	bool is_same = pod->returns == 0 && pod->life.bound_ns >= 0 &&
		late_ns >= -SAME_BINDING_NS && late_ns <= SAME_BINDING_NS;
	bt_heap_push(&replay->ends, id,
		(is_same ? pod->life.bound_ns : pod->bound_ns) + pod->life.runs_ns, 0);
}

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

static struct bt_str rejection(struct replay *replay, const struct bt_evaluation *evaluation,
	struct bt_str node_name, uint32_t slot)
{
	for (uint32_t i = 0; i < evaluation->node_count; i++) {
		if (evaluation->nodes[i].slot == slot) {
			return bt_arena_printf(&replay->step_arena, "%.*s: %.*s",
				BT_STR_ARG(node_name),
				BT_STR_ARG(bt_status_message_str(
					&evaluation->nodes[i].filter, evaluation->cycle->arena)));
		}
	}
	return bt_arena_printf(
		&replay->step_arena, "%.*s: PreFilter leaves it out", BT_STR_ARG(node_name));
}

/**
 * The pod as if it were still to be bound, on all nodes. The scheduler has assumed it, which is
 * taken back for that long.
 */
static void find_reason(
	struct replay *replay, const struct bt_pod *pending, struct bt_replay_binding *binding)
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
		return; /* it is not assumed: nothing to compare with */
	}
	bt_pod_info_init_pending(state, pending, &info);
	bt_engine_evaluate(replay->engine, framework, &info, &evaluation);
	uint32_t recorded_index = feasible_index(&evaluation, recorded);
	uint32_t chosen_index = feasible_index(&evaluation, chosen);
	if (recorded_index == UINT32_MAX) {
		binding->difference = BT_DIFFERENCE_NO_ROOM;
		binding->reason = rejection(replay, &evaluation, binding->recorded_node, recorded);
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
	BT_ASSERT(result == 0); /* it was assumed a moment ago */
}

/** --- what the scheduler writes --- */

static int patch_status(void *context, const struct bt_pod *pod,
	const struct bt_pod_condition *condition BT_UNUSED,
	const struct bt_post_filter_result *nomination, struct berth_error *err BT_UNUSED)
{
	struct replay *replay = context;
	uint32_t id = find_by_uid(replay, pod->metadata.uid);
	if (id != BT_MAP_NONE && nomination->present &&
		nomination->mode == BT_NOMINATING_OVERRIDE &&
		!bt_str_equal(pod_value(&replay->pods.items[id])->status.nominated_node_name,
			nomination->nominated_node_name)) {
		struct nomination entry = {
			id, bt_arena_str(&replay->step_arena, nomination->nominated_node_name)};
		bt_vec_push(&replay->nominations, entry);
	}
	return 0;
}

/** The pod leaves its node at once: kubelets take no time here. */
static int delete_pod(void *context, struct bt_preemption_ticket ticket BT_UNUSED,
	const struct bt_preemption_pod *victim, struct berth_error *err)
{
	struct replay *replay = context;
	uint32_t id = find_by_uid(replay, victim->uid);
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

/** The scheduler observes what it wrote. */
static int apply_writes(struct replay *replay, struct berth_error *err)
{
	int result = 0;
	for (uint32_t i = 0; i < replay->nominations.count && result == 0; i++) {
		const struct nomination *nomination = &replay->nominations.items[i];
		const struct pod *pod = &replay->pods.items[nomination->pod];
		if (pod->object != NULL && pod->bound_ns < 0) {
			struct bt_pod value = *pod_value(pod);
			value.status.nominated_node_name = nomination->node_name;
			result = set_pod(replay, nomination->pod, &value, err);
		}
	}
	for (uint32_t i = 0; i < replay->preempted.count && result == 0; i++) {
		result = depart(replay, replay->preempted.items[i], BT_REPLAY_PREEMPTED, err);
		bt_arena_reset(&replay->arena);
	}
	replay->nominations.count = 0;
	replay->preempted.count = 0;
	return result;
}

/** --- decisions --- */

static int take_binding(
	struct replay *replay, const struct bt_attempt *attempt, struct berth_error *err)
{
	uint32_t id = find_by_uid(replay, attempt->uid);
	BT_ASSERT(id != BT_MAP_NONE); /* the queue has no other pods */
	struct pod *pod = &replay->pods.items[id];
	struct bt_pod value = *pod_value(pod);
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
	pod->bound_ns = replay->now_ns;
	replay->pending_count--;
	value.spec.node_name = binding.node_name;
	value.status.nominated_node_name = BT_STR("");
	TELL_SINKS(replay->options, bound, &binding)
	set_end(replay, id);
	return set_pod(replay, id, &value, err);
}

static bool take_first(void *context, const struct bt_queue_entry *entry)
{
	*(const struct bt_queue_entry **)context = entry;
	return false;
}

/** The node that the recording has for the pod that comes next. */
static void prefer_recorded(struct replay *replay)
{
	struct bt_queue *queue = bt_scheduler_queue(replay->scheduler);
	const struct bt_queue_entry *next = NULL;
	struct bt_str node_name = BT_STR("");
	bt_queue_tick(queue, replay->now_ns);
	bt_queue_for_each(queue, BT_QUEUE_ACTIVE, take_first, &next);
	if (next == NULL) {
		bt_queue_for_each(queue, BT_QUEUE_BACKOFF, take_first, &next);
	}
	if (next != NULL) {
		uint32_t id = find_by_uid(replay, next->pod.uid);
		if (id != BT_MAP_NONE && replay->pods.items[id].returns == 0) {
			node_name = bt_lives_node(replay->lives, replay->pods.items[id].life.node);
		}
	}
	bt_scheduler_prefer_node(replay->scheduler, node_name);
}

/** Everything the scheduler can do now. *out_next_ns: when it can do more. */
static int decide(struct replay *replay, int64_t *out_next_ns, struct berth_error *err)
{
	struct bt_attempt attempt;
	int result = 0;
	for (uint32_t i = 0; i < STEPS_AT_ONE_INSTANT_MAX && result == 0; i++) {
		if (replay->options->prefers_recorded) {
			prefer_recorded(replay);
		}
		*out_next_ns = bt_scheduler_step(replay->scheduler, replay->now_ns, &attempt);
		replay->counts->attempts +=
			attempt.outcome != BT_ATTEMPT_IDLE && !attempt.has_waited;
		if (attempt.outcome == BT_ATTEMPT_BOUND) {
			result = take_binding(replay, &attempt, err);
		}
		bool has_written = replay->nominations.count != 0 || replay->preempted.count != 0;
		if (result == 0) {
			result = apply_writes(replay, err);
		}
		bt_arena_reset(&replay->step_arena);
		if (attempt.outcome == BT_ATTEMPT_IDLE && !has_written) {
			return result;
		}
	}
	return result < 0 ? result
			  : bt_error_set(err, BERTH_ERR_INTERNAL,
				    "the scheduler does not come to rest: pods wake each other");
}

/** --- lines of the recording: pods --- */

static struct bt_str make_key(struct replay *replay, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(
		&replay->arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

static uint32_t new_pod(struct replay *replay, struct bt_str key, const struct bt_pod_life *life)
{
	struct pod pod = {.life = *life, .created_ns = replay->now_ns, .bound_ns = -1};
	uint32_t id;
	bt_vec_store(&replay->pods, &replay->free_ids, pod, id);
	set_key(replay, id, key);
	return id;
}

/** The pod that stays here while the recording replaces it by one of the same owner. */
static uint32_t take_orphan(struct replay *replay, const struct bt_pod *pod)
{
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	for (uint32_t i = 0; i < replay->orphans.count && owner != NULL; i++) {
		uint32_t id = replay->orphans.items[i];
		const struct pod *orphan = &replay->pods.items[id];
		const struct bt_owner_reference *other = orphan->object != NULL && orphan->is_orphan
			? bt_object_controller(orphan->object->meta)
			: NULL;
		if (other == NULL || bt_str_equal(other->uid, owner->uid)) {
			memmove(&replay->orphans.items[i], &replay->orphans.items[i + 1],
				(replay->orphans.count - i - 1) * sizeof(id));
			replay->orphans.count--;
			if (other != NULL) {
				return id;
			}
			i--; /* it has gone since: the next one moved here */
		}
	}
	return BT_MAP_NONE;
}

/** What an API server and admission would have given the pod, if the recording is not of one. */
static void complete_pod(struct replay *replay, struct bt_pod *pod)
{
	struct bt_object_meta *meta = &pod->metadata;
	bt_pod_spec_default(&pod->spec, replay->options->pod_level_resources, &replay->arena);
	bt_pod_default_affinity(pod, &replay->arena);
	if (meta->uid.length == 0) {
		meta->uid = bt_arena_printf(
			&replay->arena, "pod-%" PRIu64, replay->counts->created + replay->version);
	}
	while (find_by_uid(replay, meta->uid) != BT_MAP_NONE) {
		meta->uid = bt_arena_printf(&replay->arena, "%.*s.0", BT_STR_ARG(meta->uid));
	}
	if (bt_scheduler_find_pod(replay->scheduler, meta->namespace_, meta->name) != NULL) {
		/* The pod before it of this name runs longer here than in the recording. */
		meta->name = bt_arena_printf(&replay->arena, "%.*s.%" PRIu64,
			BT_STR_ARG(meta->name), replay->version + 1);
	}
}

static int add_pod(struct replay *replay, struct bt_object *object, struct berth_error *err)
{
	struct bt_pod value = *(const struct bt_pod *)bt_object_value(object, BT_KIND_POD);
	struct bt_str key = make_key(replay, value.metadata.namespace_, value.metadata.name);
	struct bt_pod_life life;
	int result = bt_lives_next(replay->lives, &life, err);
	if (result < 0 || bt_pod_is_terminal(&value)) {
		return result;
	}
	uint32_t old = find_by_key(replay, key);
	if (old != BT_MAP_NONE && replay->pods.items[old].life.runs_ns < 0) {
		result = depart(replay, old, BT_REPLAY_DELETED, err); /* that was missed */
	} else if (old != BT_MAP_NONE) {
		set_key(replay, old, BT_STR(""));
	}
	if (result < 0) {
		return result;
	}
	bool decided = is_decided(replay);
	if (bt_pod_is_assigned(&value) && (!decided || replay->gap_ns != replay->now_ns)) {
		complete_pod(replay, &value);
		uint32_t id = new_pod(replay, key, &life);
		replay->pods.items[id].bound_ns = replay->now_ns;
		set_end(replay, id);
		return set_pod(replay, id, &value, err);
	}
	value.spec.node_name = BT_STR("");
	value.status.nominated_node_name = BT_STR("");
	uint32_t orphan = take_orphan(replay, &value);
	if (orphan != BT_MAP_NONE) {
		struct pod *pod = &replay->pods.items[orphan];
		pod->is_orphan = false;
		pod->life = life;
		set_key(replay, orphan, key);
		set_end(replay, orphan);
		return 0;
	}
	complete_pod(replay, &value);
	return wait_for_node(replay, new_pod(replay, key, &life), &value, err);
}

/** Decode what a merge patch makes of an object. *out_object is owned. */
static int patch_object(struct replay *replay, enum bt_kind kind, const void *value,
	struct bt_str patch, struct bt_object **out_object, struct berth_error *err)
{
	struct bt_strbuf text = {0};
	struct bt_json_writer writer;
	struct bt_json_reader reader;
	struct bt_json_value *document;
	struct bt_json_value *changes;
	bt_json_writer_init(&writer, &text, 0);
	bt_object_encode_json(kind, value, &writer);
	int result = bt_json_parse(&replay->arena, bt_strbuf_str(&text), true, &document, err);
	if (result == 0) {
		result = bt_json_parse(&replay->arena, patch, true, &changes, err);
	}
	if (result == 0) {
		document = bt_json_merge_patch(&replay->arena, document, changes);
		bt_strbuf_reset(&text);
		bt_json_writer_init(&writer, &text, 0);
		bt_json_write_value(&writer, document);
		bt_json_reader_init(&reader, bt_strbuf_str(&text));
		result = bt_object_decode_as(kind, &reader, out_object, err);
	}
	bt_strbuf_finish(&text);
	return result;
}

/** The recording's scheduler took the pod away, or it had to leave a node that this one is not on:
 * that is decided anew here. */
static bool is_taken_back(
	const struct replay *replay, const struct pod *pod, struct bt_str disruption)
{
	if (bt_str_equal_c(disruption, "PreemptionByScheduler")) {
		return true;
	}
	return disruption.length != 0 && pod->bound_ns >= 0 &&
		!bt_str_equal(pod_value(pod)->spec.node_name,
			bt_lives_node(replay->lives, pod->life.node));
}

static int change_pod(
	struct replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	uint32_t id = find_by_key(replay, make_key(replay, line->namespace_, line->name));
	struct bt_pod_facts facts;
	int result = bt_pod_facts_read(line->json, &replay->arena, &facts, err);
	if (result < 0 || id == BT_MAP_NONE) {
		return result; /* it has ended here */
	}
	struct pod *pod = &replay->pods.items[id];
	bool decided = is_decided(replay);
	if (decided && facts.disruption.length != 0) {
		pod->is_orphan = is_taken_back(replay, pod, facts.disruption);
	}
	if (!decided && facts.is_terminal) {
		return depart(replay, id, BT_REPLAY_SUCCEEDED, err);
	}
	if (decided && facts.is_terminal && pod->life.runs_ns < 0 && !pod->is_orphan) {
		return depart(replay, id, BT_REPLAY_SUCCEEDED, err); /* it never had a node there */
	}
	bool is_deleted = facts.is_deleting && !pod->is_orphan && pod->life.runs_ns < 0;
	bool is_bound = !decided && facts.node_name.length != 0 && pod->bound_ns < 0;
	if (!facts.has_more && !is_deleted && !is_bound) {
		return 0;
	}
	struct bt_object *patched;
	result = patch_object(replay, BT_KIND_POD, pod_value(pod), line->json, &patched, err);
	if (result < 0) {
		return result;
	}
	struct bt_pod value = *(const struct bt_pod *)bt_object_value(patched, BT_KIND_POD);
	const struct bt_pod *known = pod_value(pod);
	if (is_bound) {
		pod->bound_ns = replay->now_ns;
		replay->pending_count--;
		set_end(replay, id);
	} else {
		value.spec.node_name = known->spec.node_name;
	}
	value.metadata.uid = known->metadata.uid;
	value.metadata.name = known->metadata.name;
	value.status.phase = known->status.phase;
	value.status.nominated_node_name = known->status.nominated_node_name;
	if (!is_deleted) {
		value.metadata.deletion_timestamp = known->metadata.deletion_timestamp;
	}
	result = set_pod(replay, id, &value, err);
	bt_object_release(patched);
	return result;
}

static int remove_pod(
	struct replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	uint32_t id = find_by_key(replay, make_key(replay, line->namespace_, line->name));
	if (id == BT_MAP_NONE) {
		return 0; /* it has ended here */
	}
	struct pod *pod = &replay->pods.items[id];
	bool decided = is_decided(replay);
	if (decided && pod->is_orphan) {
		/* Without a controller nothing takes its place, and nothing ends it. */
		set_key(replay, id, BT_STR(""));
		bt_vec_push(&replay->orphans, id);
		return 0;
	}
	if (decided && pod->life.runs_ns >= 0) {
		set_key(replay, id, BT_STR("")); /* it was tidied up; here it runs on */
		return 0;
	}
	return depart(replay, id, BT_REPLAY_DELETED, err);
}

/** --- lines of the recording: nodes and other objects --- */

/** Pods on a node that goes. Those of DaemonSets and the node's own go with it. */
static int lose_pods(struct replay *replay, struct bt_str node_name, struct berth_error *err)
{
	const struct bt_state *state = replay->engine->state;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);
	BT_VEC(uint32_t) ids = {0};
	int result = 0;
	for (uint32_t i = 0; slot != BT_SLOT_NONE && i < state->nodes.rows[slot].pods.count; i++) {
		struct bt_pod_info info;
		bt_pod_info_from_record(state, state->nodes.rows[slot].pods.items[i], &info);
		uint32_t id = find_by_uid(replay, info.uid);
		/* A pod that the recording has on this node goes there when it goes here. */
		if (id != BT_MAP_NONE &&
			!(replay->pods.items[id].key != NULL &&
				bt_str_equal(node_name,
					bt_lives_node(replay->lives,
						replay->pods.items[id].life.node)))) {
			bt_vec_push(&ids, id);
		}
	}
	for (uint32_t i = 0; i < ids.count && result == 0; i++) {
		result = depart(replay, ids.items[i], BT_REPLAY_LOST, err);
	}
	bt_vec_finish(&ids);
	return result;
}

static struct bt_object_store *store_of(struct replay *replay, enum bt_kind kind)
{
	return kind == BT_KIND_NODE ? &replay->nodes : &replay->engine->state->objects;
}

/** A node, or an object that the scheduler keeps whole: new, or another version. */
static int set_object(struct replay *replay, struct bt_object *object, struct berth_error *err)
{
	struct bt_object *old = bt_object_store_find_object(store_of(replay, object->kind),
		object->kind, object->meta->namespace_, object->meta->name);
	old = old != NULL ? bt_object_share(old) : NULL;
	struct bt_object *new_object = bt_object_share(object);
	if (object->kind == BT_KIND_NODE) {
		struct bt_node value =
			*(const struct bt_node *)bt_object_value(object, BT_KIND_NODE);
		bt_node_default(&value, &replay->arena);
		bt_object_release(new_object);
		new_object = bt_object_create(BT_KIND_NODE, &value);
		bt_object_store_put(&replay->nodes, bt_object_share(new_object));
	}
	int result = bt_scheduler_observe(replay->scheduler, old, new_object, replay->now_ns, err);
	bt_object_release(new_object);
	bt_object_release(old);
	return result;
}

static int remove_object(
	struct replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *old = bt_object_store_find_object(
		store_of(replay, line->kind), line->kind, line->namespace_, line->name);
	if (old == NULL) {
		return 0;
	}
	old = bt_object_share(old);
	int result = 0;
	if (line->kind == BT_KIND_NODE && is_decided(replay)) {
		result = lose_pods(replay, line->name, err);
	}
	if (result == 0) {
		result = bt_scheduler_observe(replay->scheduler, old, NULL, replay->now_ns, err);
	}
	if (line->kind == BT_KIND_NODE) {
		(void)bt_object_store_delete(
			&replay->nodes, BT_KIND_NODE, BT_STR(""), line->name); /* it is there */
	}
	bt_object_release(old);
	return result;
}

static int change_object(
	struct replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *patched;
	const struct bt_object *old = bt_object_store_find_object(
		store_of(replay, line->kind), line->kind, line->namespace_, line->name);
	if (old == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s %.*s: changes, but is not there",
			bt_kind_info(line->kind)->name, BT_STR_ARG(line->name));
	}
	int result = patch_object(replay, line->kind, old->value, line->json, &patched, err);
	if (result == 0) {
		result = set_object(replay, patched, err);
		bt_object_release(patched);
	}
	return result;
}

static int apply_line(
	struct replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	bool is_pod = line->kind == BT_KIND_POD;
	struct bt_json_reader reader;
	struct bt_object *object;
	int result = 0;
	switch (line->event) {
	case BT_RECORDING_ADD:
		bt_json_reader_init(&reader, line->json);
		result = bt_object_decode_as(line->kind, &reader, &object, err);
		if (result == 0) {
			result = is_pod ? add_pod(replay, object, err)
					: set_object(replay, object, err);
			bt_object_release(object);
		}
		break;
	case BT_RECORDING_CHANGE:
		result = is_pod ? change_pod(replay, line, err) : change_object(replay, line, err);
		break;
	case BT_RECORDING_DELETE:
		result = is_pod ? remove_pod(replay, line, err) : remove_object(replay, line, err);
		break;
	case BT_RECORDING_GAP:
		replay->gap_ns = is_pod ? replay->now_ns : replay->gap_ns;
		break;
	case BT_RECORDING_END:
		break;
	}
	bt_arena_reset(&replay->arena);
	return result;
}

/** --- time --- */

static void take_samples(struct replay *replay, int64_t until_ns)
{
	while (replay->next_sample_ns <= until_ns) {
		TELL_SINKS(replay->options, sampled, replay->engine->state, replay->pending_count,
			replay->next_sample_ns)
		replay->next_sample_ns += replay->options->interval_ns;
	}
}

static int end_pods(struct replay *replay, struct berth_error *err)
{
	int result = 0;
	while (result == 0 && replay->ends.slots.count != 0 &&
		replay->ends.slots.items[0].major <= replay->now_ns) {
		result = depart(replay, bt_heap_top(&replay->ends), BT_REPLAY_SUCCEEDED, err);
	}
	return result;
}

/** Everything that happens by itself before until_ns, where the clock stands afterwards. */
static int run_until(struct replay *replay, int64_t until_ns, struct berth_error *err)
{
	int result = 0;
	bool decided = is_decided(replay);
	while (result == 0) {
		int64_t next_ns = INT64_MAX;
		if (decided) {
			result = decide(replay, &next_ns, err);
		}
		if (replay->pending_count == 0) {
			next_ns = INT64_MAX; /* the queue's flushes have nothing to do */
		}
		if (replay->ends.slots.count != 0 && replay->ends.slots.items[0].major < next_ns) {
			next_ns = replay->ends.slots.items[0].major;
		}
		if (!decided && next_ns < until_ns && until_ns <= replay->from_ns) {
			next_ns = until_ns; /* pods end when the recording says so */
		}
		if (result < 0 || next_ns >= until_ns) {
			break;
		}
		replay->now_ns = next_ns > replay->now_ns ? next_ns : replay->now_ns;
		take_samples(replay, replay->now_ns);
		result = end_pods(replay, err);
	}
	if (result == 0 && until_ns > replay->now_ns) {
		replay->now_ns = until_ns;
		take_samples(replay, until_ns);
	}
	return result;
}

static int run(struct replay *replay, struct berth_error *err)
{
	const struct bt_replay_options *options = replay->options;
	struct bt_recording_line line;
	int64_t first_ns = bt_lives_start_ns(replay->lives);
	uint32_t total = (uint32_t)((replay->to_ns - first_ns) / BT_NS_PER_SECOND);
	int result;
	while ((result = bt_recording_parts_next(&replay->parts, &line, err)) == 1 &&
		line.time_ns <= replay->to_ns) {
		if (line.time_ns > replay->now_ns) {
			if (replay->now_ns < replay->from_ns && line.time_ns > replay->from_ns) {
				replay->now_ns = replay->from_ns;
			}
			result = run_until(replay, line.time_ns, err);
			if (options->progress != NULL) {
				options->progress(options->progress_context,
					(uint32_t)((replay->now_ns - first_ns) / BT_NS_PER_SECOND),
					total);
			}
		}
		if (result >= 0) {
			result = apply_line(replay, &line, err);
		}
		if (result < 0) {
			struct bt_strbuf place = {0};
			if (replay->parts.reader != NULL) {
				bt_recording_describe(replay->parts.reader, &place);
			}
			result = bt_error_wrap(err, result, "%s", bt_strbuf_c(&place));
			bt_strbuf_finish(&place);
			return result;
		}
	}
	if (result >= 0) {
		result = run_until(replay, replay->to_ns, err);
	}
	int64_t next_ns;
	if (result >= 0) {
		result = end_pods(replay, err);
	}
	if (result >= 0) {
		result = decide(replay, &next_ns, err);
	}
	TELL_SINKS(options, sampled, replay->engine->state, replay->pending_count, replay->now_ns)
	return result;
}

int bt_replay_run(const struct bt_replay_options *options, struct bt_lives *lives,
	int (*make_scheduler)(void *context, const struct bt_scheduler_writer *writer,
		struct bt_scheduler **out_scheduler, struct berth_error *err),
	void *context, struct bt_replay_counts *out_counts, struct berth_error *err)
{
	int64_t start_ns = bt_lives_start_ns(lives);
	int64_t end_ns = bt_lives_end_ns(lives);
	bool has_end = options->to_ns < end_ns - start_ns;
	struct replay replay = {
		.options = options,
		.lives = lives,
		.parts = {.paths = options->paths, .path_count = options->path_count},
		.counts = out_counts,
		.now_ns = start_ns,
		.from_ns = start_ns + options->from_ns,
		.to_ns = has_end ? start_ns + options->to_ns : end_ns,
		.gap_ns = -1,
	};
	const struct bt_scheduler_writer writer = {
		.context = &replay, .patch_status = patch_status, .delete_pod = delete_pod};
	*out_counts = (struct bt_replay_counts){.start_ns = replay.from_ns, .end_ns = replay.to_ns};
	replay.next_sample_ns = replay.from_ns;
	if (replay.from_ns > replay.to_ns) {
		return bt_error_set(err, BERTH_ERR_INVALID,
			"nothing to replay: the recording is %" PRId64 " s long",
			(end_ns - start_ns) / BT_NS_PER_SECOND);
	}
	int result = make_scheduler(context, &writer, &replay.scheduler, err);
	if (result < 0) {
		return result;
	}
	replay.engine = bt_scheduler_engine(replay.scheduler);
	bt_arena_init(&replay.arena, 0);
	bt_arena_init(&replay.step_arena, 0);
	bt_heap_init(&replay.ends, NULL, NULL);
	bt_object_store_init(&replay.nodes);
	result = run(&replay, err);
	out_counts->pending = replay.pending_count;
	for (uint32_t i = 0; i < replay.pods.count; i++) {
		struct pod *pod = &replay.pods.items[i];
		bool is_pending = pod->object != NULL && pod->bound_ns < 0;
		out_counts->running += pod->object != NULL && !is_pending;
		if (is_pending) {
			TELL_SINKS(options, waiting, pod_value(pod), pod->created_ns, replay.now_ns)
		}
		bt_object_release(pod->object);
		bt_free(pod->key);
	}
	bt_scheduler_destroy(replay.scheduler);
	bt_recording_parts_finish(&replay.parts);
	bt_object_store_finish(&replay.nodes);
	bt_vec_finish(&replay.pods);
	bt_vec_finish(&replay.free_ids);
	bt_map_finish(&replay.by_key);
	bt_map_finish(&replay.by_uid);
	bt_vec_finish(&replay.orphans);
	bt_heap_finish(&replay.ends);
	bt_vec_finish(&replay.nominations);
	bt_vec_finish(&replay.preempted);
	bt_pod_commons_finish(&replay.commons);
	bt_arena_finish(&replay.arena);
	bt_arena_finish(&replay.step_arena);
	return result < 0 ? result : 0;
}

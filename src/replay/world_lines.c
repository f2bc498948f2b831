/* SPDX-License-Identifier: Apache-2.0 */
/** Applies the lines of a recording to its replay. */
#include <inttypes.h>

#include "api/defaulting.h"
#include "api/identity.h"
#include "api/node.h"
#include "codec/json_patch.h"
#include "replay/pod_facts.h"
#include "replay/world.h"

/** --- pods --- */

/**
 * If a pod's first line comes within this time after a gap and has a node, the pod was created and
 * bound during the gap. After the gap, listing the pods may take this long.
 */
#define AFTER_GAP_NS (10 * BT_NS_PER_SECOND)

static struct bt_str make_key(
	struct bt_replay *replay, struct bt_str namespace_, struct bt_str name)
{
	return bt_arena_printf(
		&replay->arena, "%.*s/%.*s", BT_STR_ARG(namespace_), BT_STR_ARG(name));
}

/** Returns whether the pod is bound as recorded: for now, or because no profile is for it. */
static bool is_bound_as_recorded(const struct bt_replay *replay, const struct bt_pod *pod)
{
	return !bt_replay_is_decided(replay) ||
		(pod->spec.scheduler_name.length != 0 &&
			bt_engine_profile(replay->engine, pod->spec.scheduler_name) == NULL);
}

static uint32_t new_pod(struct bt_replay *replay, struct bt_str key, const struct bt_pod_life *life)
{
	struct bt_replay_pod pod = {.life = *life,
		.created_ns = replay->now_ns,
		.bound_ns = -1,
		.evicted_ns = INT64_MAX,
		.next_orphan = BT_MAP_NONE};
	uint32_t id;
	bt_vec_store(&replay->pods, &replay->free_ids, pod, id);
	bt_replay_set_key(replay, id, key);
	return id;
}

/** Adds the values that the API server would set, unless the recording has them. */
static void complete_pod(struct bt_replay *replay, struct bt_pod *pod)
{
	struct bt_object_meta *meta = &pod->metadata;
	bt_pod_spec_default(
		&pod->spec, replay->engine->state->gates.pod_level_resources, &replay->arena);
	bt_pod_default_affinity(pod, &replay->arena);
	if (meta->uid.length == 0) {
		meta->uid = bt_arena_printf(
			&replay->arena, "pod-%" PRIu64, replay->counts->created + replay->version);
	}
	while (bt_replay_find_by_uid(replay, meta->uid) != BT_MAP_NONE) {
		meta->uid = bt_arena_printf(&replay->arena, "%.*s.0", BT_STR_ARG(meta->uid));
	}
	if (bt_scheduler_find_pod(replay->scheduler, meta->namespace_, meta->name) != NULL) {
		/* An earlier pod of this name runs longer here than in the recording. */
		meta->name = bt_arena_printf(&replay->arena, "%.*s.%" PRIu64,
			BT_STR_ARG(meta->name), replay->version + 1);
	}
}

static int add_pod(struct bt_replay *replay, struct bt_object *object, struct berth_error *err)
{
	struct bt_pod value = *(const struct bt_pod *)bt_object_value(object, BT_KIND_POD);
	struct bt_str key = make_key(replay, value.metadata.namespace_, value.metadata.name);
	struct bt_pod_life life;
	int result = bt_lives_next(replay->lives, &life, err);
	if (result < 0 || bt_pod_is_terminal(&value)) {
		return result;
	}
	uint32_t old = bt_replay_find_by_key(replay, key);
	if (old != BT_MAP_NONE && replay->pods.items[old].life.runs_ns < 0) {
		/* The recording missed the deletion of the old pod. */
		result = bt_replay_remove_pod(replay, old, BT_REPLAY_DELETED, err);
	} else if (old != BT_MAP_NONE) {
		bt_replay_set_key(replay, old, BT_STR(""));
	}
	if (result < 0) {
		return result;
	}
	if (bt_pod_is_assigned(&value) &&
		(is_bound_as_recorded(replay, &value) ||
			replay->now_ns - replay->gap_ns > AFTER_GAP_NS)) {
		complete_pod(replay, &value);
		uint32_t id = new_pod(replay, key, &life);
		result = bt_replay_set_pod(replay, id, &value, err);
		bt_replay_start_pod(replay, id, value.spec.node_name);
		return result;
	}
	value.spec.node_name = BT_STR("");
	value.status.nominated_node_name = BT_STR("");
	uint32_t orphan = bt_replay_take_orphan(replay, &value);
	if (orphan != BT_MAP_NONE) {
		struct bt_replay_pod *pod = &replay->pods.items[orphan];
		pod->is_orphan = false;
		pod->life = life;
		bt_replay_set_key(replay, orphan, key);
		bt_replay_set_end(replay, orphan);
		return 0;
	}
	complete_pod(replay, &value);
	return bt_replay_wait_for_node(replay, new_pod(replay, key, &life), &value, err);
}

static int change_pod(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	uint32_t id = bt_replay_find_by_key(replay, make_key(replay, line->namespace_, line->name));
	struct bt_pod_facts facts;
	int result = bt_pod_facts_read(line->json, &replay->arena, &facts, err);
	if (result < 0 || id == BT_MAP_NONE) {
		return result; /* the pod has ended in the replay already */
	}
	if (facts.is_tried) {
		result = bt_replay_schedule_pod(replay, id, err);
		if (result < 0) {
			return result;
		}
	}
	struct bt_replay_pod *pod = &replay->pods.items[id];
	bool decided = bt_replay_is_decided(replay);
	if (decided && facts.disruption.length != 0 && !pod->is_leaving) {
		/*
		 * The replay must decide the end itself if the scheduler or a taint ended the pod,
		 * or if the pod is on another node than in the recording.
		 */
		pod->is_orphan = bt_pod_facts_is_decided_anew(&facts) ||
			(pod->bound_ns >= 0 &&
				!bt_str_equal(bt_replay_pod_value(pod)->spec.node_name,
					bt_lives_node(replay->lives, pod->life.node)));
	}
	if (facts.is_terminal && (!decided || pod->is_leaving || bt_replay_is_due(replay, id))) {
		return bt_replay_remove_pod(
			replay, id, pod->is_leaving ? pod->leaves_as : BT_REPLAY_SUCCEEDED, err);
	}
	if (decided && facts.is_terminal && pod->life.runs_ns < 0 && !pod->is_orphan) {
		/* The pod never had a node in the recording, or ended because it was deleted. */
		bool is_deleting = bt_replay_pod_value(pod)->metadata.deletion_timestamp != NULL;
		return bt_replay_remove_pod(
			replay, id, is_deleting ? BT_REPLAY_DELETED : BT_REPLAY_SUCCEEDED, err);
	}
	bool is_deleted = facts.is_deleting && !pod->is_orphan && pod->life.runs_ns < 0;
	bool is_bound = facts.node_name.length != 0 && pod->bound_ns < 0 &&
		is_bound_as_recorded(replay, bt_replay_pod_value(pod));
	if (!facts.has_more && !is_deleted && !is_bound) {
		return 0;
	}
	struct bt_object *patched;
	result = bt_object_merge_patch(
		BT_KIND_POD, bt_replay_pod_value(pod), line->json, &patched, err);
	if (result < 0) {
		return result;
	}
	struct bt_pod value = *(const struct bt_pod *)bt_object_value(patched, BT_KIND_POD);
	const struct bt_pod *known = bt_replay_pod_value(pod);
	if (is_bound) {
		replay->pending_count--;
		replay->counts->created--; /* it asked the recording's scheduler */
		bt_replay_start_pod(replay, id, value.spec.node_name);
	} else {
		value.spec.node_name = known->spec.node_name;
	}
	value.metadata.uid = known->metadata.uid;
	value.metadata.name = known->metadata.name;
	value.status.phase = known->status.phase;
	value.status.nominated_node_name = known->status.nominated_node_name;
	if (decided) {
		/*
		 * Keeps the names of claims that the replay made for the pod: if the pod was
		 * created again, the recorded names are of another pod's claims. The name of a
		 * claim that the scheduler makes is always kept.
		 */
		if (known->status.resource_claim_statuses.count != 0) {
			value.status.resource_claim_statuses =
				known->status.resource_claim_statuses;
		}
		value.status.extended_resource_claim_status =
			known->status.extended_resource_claim_status;
		value.status.node_allocatable_resource_claim_statuses =
			known->status.node_allocatable_resource_claim_statuses;
	}
	if (!is_deleted) {
		value.metadata.deletion_timestamp = known->metadata.deletion_timestamp;
	}
	result = bt_replay_set_pod(replay, id, &value, err);
	bt_object_release(patched);
	return result;
}

static int remove_pod(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	uint32_t id = bt_replay_find_by_key(replay, make_key(replay, line->namespace_, line->name));
	if (id == BT_MAP_NONE) {
		return 0; /* the pod has ended in the replay already */
	}
	struct bt_replay_pod *pod = &replay->pods.items[id];
	bool decided = bt_replay_is_decided(replay);
	if (pod->is_leaving) {
		return bt_replay_remove_pod(replay, id, pod->leaves_as, err);
	}
	if (decided && pod->is_orphan) {
		/* An orphan without a controller has no replacement, and never ends. */
		bt_replay_set_key(replay, id, BT_STR(""));
		bt_replay_add_orphan(replay, id);
		return 0;
	}
	if (decided && pod->life.runs_ns >= 0) {
		bt_replay_set_key(replay, id, BT_STR("")); /* still runs in the replay */
		return 0;
	}
	return bt_replay_remove_pod(replay, id, BT_REPLAY_DELETED, err);
}

/** --- nodes and other objects --- */

/**
 * Removes the pods of a deleted node. Their controllers replace them, except DaemonSets and the
 * node itself, which owns static pods.
 */
static int remove_pods_of_node(
	struct bt_replay *replay, struct bt_str node_name, struct berth_error *err)
{
	const struct bt_state *state = replay->engine->state;
	uint32_t slot = bt_node_table_find(&state->nodes, node_name);
	BT_VEC(uint32_t) ids = {0};
	int result = 0;
	for (uint32_t i = 0; slot != BT_SLOT_NONE && i < state->nodes.rows[slot].pods.count; i++) {
		struct bt_pod_info info;
		bt_pod_info_from_record(state, state->nodes.rows[slot].pods.items[i], &info);
		uint32_t id = bt_replay_find_by_uid(replay, info.uid);
		/*
		 * If the pod is on this node in the recording, too, the recording has a line that
		 * deletes it.
		 */
		if (id != BT_MAP_NONE &&
			!(replay->pods.items[id].key != NULL &&
				bt_str_equal(node_name,
					bt_lives_node(replay->lives,
						replay->pods.items[id].life.node)))) {
			bt_vec_push(&ids, id);
		}
	}
	for (uint32_t i = 0; i < ids.count && result == 0; i++) {
		result = bt_replay_remove_pod(replay, ids.items[i], BT_REPLAY_LOST, err);
	}
	bt_vec_finish(&ids);
	return result;
}

static struct bt_object_store *store_of(struct bt_replay *replay, enum bt_kind kind)
{
	return kind == BT_KIND_NODE ? &replay->nodes : &replay->engine->state->objects;
}

/** Adds or replaces a node, or another object that the scheduler keeps whole. */
static int set_object(
	struct bt_replay *replay, struct bt_object *object, bool is_start, struct berth_error *err)
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
	} else if (object->kind == BT_KIND_POD_GROUP && !is_start && bt_replay_is_decided(replay)) {
		struct bt_pod_group value =
			*(const struct bt_pod_group *)bt_object_value(object, BT_KIND_POD_GROUP);
		bt_replay_keep_group_condition(replay, old, &value);
		bt_object_release(new_object);
		new_object = bt_object_create(BT_KIND_POD_GROUP, &value);
	}
	int result = bt_replay_observe(replay, old, new_object, err);
	if (result == 0 && object->kind == BT_KIND_NODE) {
		bt_replay_observe_taints(
			replay, old != NULL ? old->value : NULL, new_object->value);
	}
	bt_object_release(new_object);
	bt_object_release(old);
	return result;
}

static int remove_object(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *old = bt_object_store_find_object(
		store_of(replay, line->kind), line->kind, line->namespace_, line->name);
	if (old == NULL) {
		return 0;
	}
	old = bt_object_share(old);
	int result = 0;
	if (line->kind == BT_KIND_NODE && bt_replay_is_decided(replay)) {
		result = remove_pods_of_node(replay, line->name, err);
	}
	if (result == 0) {
		result = bt_replay_observe(replay, old, NULL, err);
	}
	if (line->kind == BT_KIND_NODE) {
		bt_replay_observe_taints(replay, old->value, NULL);
		(void)bt_object_store_delete(
			&replay->nodes, BT_KIND_NODE, BT_STR(""), line->name); /* exists */
	}
	bt_object_release(old);
	return result;
}

static int change_object(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	struct bt_object *patched;
	const struct bt_object *old = bt_object_store_find_object(
		store_of(replay, line->kind), line->kind, line->namespace_, line->name);
	if (old == NULL) {
		return bt_error_set(err, BERTH_ERR_INVALID, "%s %.*s: changes, but is not there",
			bt_kind_info(line->kind)->name, BT_STR_ARG(line->name));
	}
	int result = bt_object_merge_patch(line->kind, old->value, line->json, &patched, err);
	if (result == 0) {
		result = set_object(replay, patched, false, err);
		bt_object_release(patched);
	}
	return result;
}

int bt_replay_apply_line(
	struct bt_replay *replay, const struct bt_recording_line *line, struct berth_error *err)
{
	bool is_pod = line->kind == BT_KIND_POD;
	bool is_claim = line->kind == BT_KIND_RESOURCE_CLAIM;
	struct bt_json_reader reader;
	struct bt_object *object;
	int result = 0;
	switch (line->event) {
	case BT_RECORDING_ADD:
		bt_json_reader_init(&reader, line->json);
		result = bt_object_decode_as(line->kind, &reader, &object, err);
		if (result == 0) {
			result = is_pod ? add_pod(replay, object, err)
				: is_claim
				? bt_replay_add_claim(replay, object, line->is_start, err)
				: set_object(replay, object, line->is_start, err);
			bt_object_release(object);
		}
		break;
	case BT_RECORDING_CHANGE:
		result = is_pod    ? change_pod(replay, line, err)
			: is_claim ? bt_replay_change_claim(replay, line, err)
				   : change_object(replay, line, err);
		break;
	case BT_RECORDING_DELETE:
		result = is_pod    ? remove_pod(replay, line, err)
			: is_claim ? bt_replay_remove_claim(replay, line, err)
			: line->kind == BT_KIND_POD_GROUP
			? bt_replay_remove_group(replay, line, err)
			: remove_object(replay, line, err);
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

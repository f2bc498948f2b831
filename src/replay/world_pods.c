/* SPDX-License-Identifier: Apache-2.0 */
/** Changes of pods in a replay: they are added, wait for a node, end, and are created again. */
#include <inttypes.h>
#include <stdio.h>

#include "api/change.h"
#include "api/identity.h"
#include "api/toleration.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "replay/world.h"

uint32_t bt_replay_find_by_key(const struct bt_replay *replay, struct bt_str key)
{
	BT_MAP_EACH (&replay->by_key, bt_str_hash(key), id) {
		if (bt_str_equal_c(key, replay->pods.items[id].key)) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

uint32_t bt_replay_find_by_uid(const struct bt_replay *replay, struct bt_str uid)
{
	BT_MAP_EACH (&replay->by_uid, bt_str_hash(uid), id) {
		if (bt_str_equal(uid, replay->pods.items[id].object->meta->uid)) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

void bt_replay_set_key(struct bt_replay *replay, uint32_t id, struct bt_str key)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	if (pod->key != NULL) {
		(void)bt_map_remove(
			&replay->by_key, bt_str_hash(bt_str_from(pod->key)), id); /* exists */
		bt_free(pod->key);
		pod->key = NULL;
	}
	if (key.length != 0) {
		pod->key = bt_strndup(key.data, key.length);
		bt_map_insert(&replay->by_key, bt_str_hash(key), id);
	}
}

int bt_replay_observe(struct bt_replay *replay, struct bt_object *old_object,
	struct bt_object *new_object, struct berth_error *err)
{
	int result = bt_scheduler_observe(
		replay->scheduler, old_object, new_object, replay->now_ns, err);
	if (result == 0 && (old_object != NULL || new_object != NULL)) {
		BT_REPLAY_NOTIFY(replay->options, changed, old_object, new_object, replay->now_ns)
	}
	return result;
}

int bt_replay_set_pod(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	struct bt_object *old_object = pod->object;
	struct bt_object *new_object = NULL;
	if (value != NULL) {
		struct bt_pod copy = *value;
		char version[24];
		(void)snprintf(version, sizeof(version), "r%" PRIu64, ++replay->version);
		copy.metadata.resource_version = bt_str_from(version);
		new_object = bt_object_create_pod(&copy, old_object, &replay->commons);
	}
	if (old_object != NULL) {
		(void)bt_map_remove(&replay->by_uid, bt_str_hash(old_object->meta->uid), id);
	}
	if (new_object != NULL) {
		bt_map_insert(&replay->by_uid, bt_str_hash(new_object->meta->uid), id);
	}
	pod->object = new_object;
	int result = bt_replay_observe(replay, old_object, new_object, err);
	bt_object_release(old_object);
	return result;
}

/** --- orphans --- */

/** Returns the first orphan of this owner, or BT_MAP_NONE. */
static uint32_t find_orphan(const struct bt_replay *replay, const struct bt_owner_reference *owner)
{
	BT_MAP_EACH (&replay->orphans, bt_str_hash(owner->uid), id) {
		/* Every orphan in the map has an owner. */
		if (bt_str_equal(bt_object_controller(replay->pods.items[id].object->meta)->uid,
			    owner->uid)) {
			return id;
		}
	}
	return BT_MAP_NONE;
}

void bt_replay_add_orphan(struct bt_replay *replay, uint32_t id)
{
	struct bt_replay_pod *pods = replay->pods.items;
	const struct bt_owner_reference *owner = bt_object_controller(pods[id].object->meta);
	if (owner == NULL) {
		return; /* without a controller there is no replacement */
	}
	uint32_t first = find_orphan(replay, owner);
	pods[id].next_orphan = id;
	pods[id].last_orphan = id;
	if (first == BT_MAP_NONE) {
		bt_map_insert(&replay->orphans, bt_str_hash(owner->uid), id);
		return;
	}
	pods[id].next_orphan = first;
	pods[id].last_orphan = pods[first].last_orphan;
	pods[pods[first].last_orphan].next_orphan = id;
	pods[first].last_orphan = id;
}

/**
 * Removes the pod from the orphans; does nothing if it is no orphan. object: the object of the pod,
 * which the pod's record may no longer have.
 */
static void remove_orphan(struct bt_replay *replay, uint32_t id, const struct bt_object *object)
{
	struct bt_replay_pod *pods = replay->pods.items;
	uint32_t next = pods[id].next_orphan;
	if (next == BT_MAP_NONE) {
		return;
	}
	uint64_t hash = bt_str_hash(bt_object_controller(object->meta)->uid);
	/* The map has only the first orphan of the ring. */
	if (bt_map_remove(&replay->orphans, hash, id) && next != id) {
		bt_map_insert(&replay->orphans, hash, next);
	}
	pods[pods[id].last_orphan].next_orphan = next;
	pods[next].last_orphan = pods[id].last_orphan;
	pods[id].next_orphan = BT_MAP_NONE;
}

uint32_t bt_replay_take_orphan(struct bt_replay *replay, const struct bt_pod *pod)
{
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	uint32_t id = owner != NULL ? find_orphan(replay, owner) : BT_MAP_NONE;
	if (id != BT_MAP_NONE) {
		remove_orphan(replay, id, replay->pods.items[id].object);
	}
	return id;
}

/** --- pods --- */

/**
 * Returns whether a controller replaces the pod. A DaemonSet does not replace a pod whose node
 * was deleted or tainted.
 */
static bool is_replaced(const struct bt_pod *pod, enum bt_replay_end end)
{
	const struct bt_owner_reference *owner = bt_object_controller(&pod->metadata);
	if (owner == NULL || bt_str_equal_c(owner->kind, "Node")) {
		return false;
	}
	return end == BT_REPLAY_PREEMPTED ||
		((end == BT_REPLAY_LOST || end == BT_REPLAY_EVICTED) &&
			!bt_str_equal_c(owner->kind, "DaemonSet"));
}

int bt_replay_wait_for_node(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	pod->created_ns = replay->now_ns;
	pod->bound_ns = -1;
	pod->evicted_ns = INT64_MAX;
	replay->pending_count++;
	replay->counts->created++;
	BT_REPLAY_NOTIFY(replay->options, created, replay->engine->state, value, replay->now_ns)
	return bt_replay_set_pod(replay, id, value, err);
}

/** Returns the text with the number of the replacement at its end: "web-1", "web-1.1", "web-1.2".
 */
static struct bt_str number(struct bt_arena *arena, struct bt_str text, uint32_t returns)
{
	struct bt_str before = bt_arena_printf(arena, ".%u", returns - 1);
	if (returns > 1 && bt_str_has_suffix(text, before)) {
		text.length -= before.length;
	}
	return bt_arena_printf(arena, "%.*s.%u", BT_STR_ARG(text), returns);
}

/** Creates the replacement of a pod, as its controller would. gone: the deleted pod. */
static int create_replacement(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *gone, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	const struct bt_owner_reference *owner = bt_object_controller(&gone->metadata);
	struct bt_pod value = *gone;
	pod->returns++;
	value.spec.node_name = BT_STR("");
	value.status = (struct bt_pod_status){0};
	value.metadata.deletion_timestamp = NULL;
	value.metadata.creation_timestamp = bt_replay_time(replay);
	value.metadata.uid = number(&replay->arena, gone->metadata.uid, pod->returns);
	if (!bt_str_equal_c(owner->kind, "StatefulSet")) {
		value.metadata.name = number(&replay->arena, gone->metadata.name, pod->returns);
	}
	int result = bt_replay_release_claims(replay, gone, &value, pod->returns, err);
	return result == 0 ? bt_replay_wait_for_node(replay, id, &value, err) : result;
}

int bt_replay_remove_pod(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	struct bt_object *object = bt_object_share(pod->object);
	const struct bt_pod *value = bt_object_value(object, BT_KIND_POD);
	struct bt_replay_departure departure = {.time_ns = replay->now_ns,
		.created_ns = pod->created_ns,
		.bound_ns = pod->bound_ns,
		.pod = value,
		.end = end,
		.is_replaced = !pod->is_leaving && is_replaced(value, end)};
	uint64_t *const counters[] = {[BT_REPLAY_SUCCEEDED] = &replay->counts->succeeded,
		[BT_REPLAY_DELETED] = &replay->counts->deleted,
		[BT_REPLAY_PREEMPTED] = &replay->counts->preempted,
		[BT_REPLAY_LOST] = &replay->counts->lost,
		[BT_REPLAY_EVICTED] = &replay->counts->evicted};
	if (bt_replay_is_decided(replay)) {
		(*counters[end])++;
	} else {
		replay->counts->created -= pod->bound_ns < 0;
	}
	replay->pending_count -= pod->bound_ns < 0;
	BT_REPLAY_NOTIFY(replay->options, departed, &departure)
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	int result = bt_replay_set_pod(replay, id, NULL, err);
	if (result == 0 && departure.is_replaced) {
		result = create_replacement(replay, id, value, err);
	} else if (result == 0) {
		result = bt_replay_release_claims(replay, value, NULL, 0, err);
		bt_replay_set_key(replay, id, BT_STR(""));
		remove_orphan(replay, id, object);
		bt_vec_push(&replay->free_ids, id);
	}
	if (result == 0) {
		result = bt_replay_remove_from_group(replay, value, err);
	}
	bt_object_release(object);
	return result;
}

/** --- ends --- */

/** Returns when the pod completes its work; INT64_MAX: not known. */
static int64_t natural_end_ns(const struct bt_replay_pod *pod)
{
	if (pod->life.runs_ns < 0) {
		return INT64_MAX;
	}
	int64_t late_ns = pod->bound_ns - pod->life.bound_ns;
	bool is_same = pod->returns == 0 && pod->life.bound_ns >= 0 &&
		late_ns >= -BT_REPLAY_SAME_NS && late_ns <= BT_REPLAY_SAME_NS;
	return (is_same ? pod->life.bound_ns : pod->bound_ns) + pod->life.runs_ns;
}

void bt_replay_set_end(struct bt_replay *replay, uint32_t id)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	if (pod->bound_ns < 0 || pod->is_leaving) {
		return;
	}
	int64_t end_ns = natural_end_ns(pod);
	end_ns = pod->evicted_ns < end_ns ? pod->evicted_ns : end_ns;
	if (end_ns != INT64_MAX) {
		bt_heap_push(&replay->ends, id, end_ns, 0);
	}
}

int bt_replay_end_pod(struct bt_replay *replay, uint32_t id, struct berth_error *err)
{
	const struct bt_replay_pod *pod = &replay->pods.items[id];
	return pod->evicted_ns < natural_end_ns(pod)
		? bt_replay_disrupt_pod(replay, id, BT_REPLAY_EVICTED, err)
		: bt_replay_remove_pod(replay, id, BT_REPLAY_SUCCEEDED, err);
}

bool bt_replay_is_due(const struct bt_replay *replay, uint32_t id)
{
	const struct bt_replay_pod *pod = &replay->pods.items[id];
	return pod->bound_ns >= 0 && natural_end_ns(pod) <= replay->now_ns;
}

int bt_replay_disrupt_pod(
	struct bt_replay *replay, uint32_t id, enum bt_replay_end end, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	int64_t late_ns = replay->now_ns - pod->life.disrupted_ns;
	if (pod->is_leaving) {
		return 0;
	}
	if (!bt_replay_follows(replay) || pod->key == NULL || pod->life.disrupted_ns < 0 ||
		late_ns < -BT_REPLAY_SAME_NS || late_ns > BT_REPLAY_SAME_NS) {
		return bt_replay_remove_pod(replay, id, end, err);
	}
	const struct bt_time now = bt_replay_time(replay);
	struct bt_pod value = *bt_replay_pod_value(pod);
	pod->is_leaving = true;
	pod->leaves_as = end;
	pod->is_orphan = false;
	bt_replay_set_end(replay, id);
	value.metadata.deletion_timestamp = &now;
	/*
	 * Mark the pod as a victim: its preemptor then waits for the deletion before it preempts
	 * again.
	 */
	const struct bt_pod_condition condition = {.type = BT_STR("DisruptionTarget"),
		.status = BT_STR("True"),
		.reason = end == BT_REPLAY_PREEMPTED ? BT_STR("PreemptionByScheduler")
						     : BT_STR("DeletionByTaintManager")};
	bool ignored;
	value.status.conditions =
		bt_pod_conditions_set(&value.status, &condition, &now, &replay->arena, &ignored);
	return bt_replay_set_pod(replay, id, &value, err);
}

/** --- taints --- */

static bool is_evicting(const struct bt_node *node)
{
	for (uint32_t i = 0; node != NULL && i < node->spec.taints.count; i++) {
		if (bt_str_equal_c(node->spec.taints.items[i].effect, "NoExecute")) {
			return true;
		}
	}
	return false;
}

/**
 * Sets when the pod is evicted from a node with these taints: not at the time of its binding, since
 * a pod that tolerates the taints for no time would be bound and evicted there without end.
 */
static void set_eviction(struct bt_replay *replay, uint32_t id, const bt_taint_list *taints)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	int64_t seconds = bt_tolerated_seconds(taints, &bt_replay_pod_value(pod)->spec.tolerations);
	pod->evicted_ns = seconds < (INT64_MAX - replay->now_ns) / BT_NS_PER_SECOND
		? replay->now_ns + seconds * BT_NS_PER_SECOND
		: INT64_MAX;
	int64_t earliest_ns = pod->bound_ns + BT_REPLAY_SAME_NS;
	pod->evicted_ns = pod->evicted_ns > earliest_ns ? pod->evicted_ns : earliest_ns;
	bt_replay_set_end(replay, id);
}

void bt_replay_observe_taints(
	struct bt_replay *replay, const struct bt_node *old_node, const struct bt_node *new_node)
{
	const struct bt_state *state = replay->engine->state;
	bool was_evicting = is_evicting(old_node);
	bool is_evicting_now = is_evicting(new_node);
	replay->evicting_nodes += (uint32_t)is_evicting_now - (uint32_t)was_evicting;
	if (new_node == NULL || !(was_evicting || is_evicting_now) ||
		(old_node != NULL &&
			bt_taint_list_equal(&old_node->spec.taints, &new_node->spec.taints))) {
		return;
	}
	uint32_t slot = bt_node_table_find(&state->nodes, new_node->metadata.name);
	for (uint32_t i = 0; slot != BT_SLOT_NONE && i < state->nodes.rows[slot].pods.count; i++) {
		struct bt_pod_info info;
		bt_pod_info_from_record(state, state->nodes.rows[slot].pods.items[i], &info);
		uint32_t id = bt_replay_find_by_uid(replay, info.uid);
		if (id != BT_MAP_NONE) {
			set_eviction(replay, id, &new_node->spec.taints);
		}
	}
}

void bt_replay_start_pod(struct bt_replay *replay, uint32_t id, struct bt_str node_name)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	pod->bound_ns = replay->now_ns;
	const struct bt_node *node = replay->evicting_nodes != 0
		? bt_object_store_find(&replay->nodes, BT_KIND_NODE, BT_STR(""), node_name)
		: NULL;
	if (node != NULL && is_evicting(node)) {
		set_eviction(replay, id, &node->spec.taints);
	} else {
		bt_replay_set_end(replay, id);
	}
}

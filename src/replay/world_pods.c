/* SPDX-License-Identifier: Apache-2.0 */
/** What happens to pods: they come, wait for a node, end, and come back. */
#include <inttypes.h>
#include <stdio.h>

#include "api/identity.h"
#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "replay/world.h"

/** A binding that comes so much earlier or later than the recorded one is the same one: a scheduler
 * in virtual time takes no time for its work. */
#define SAME_BINDING_NS BT_NS_PER_SECOND

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
			&replay->by_key, bt_str_hash(bt_str_from(pod->key)), id); /* it is there */
		bt_free(pod->key);
		pod->key = NULL;
	}
	if (key.length != 0) {
		pod->key = bt_strndup(key.data, key.length);
		bt_map_insert(&replay->by_key, bt_str_hash(key), id);
	}
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

static void free_pod(struct bt_replay *replay, uint32_t id)
{
	bt_replay_set_key(replay, id, BT_STR(""));
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

int bt_replay_wait_for_node(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *value, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
	pod->created_ns = replay->now_ns;
	pod->bound_ns = -1;
	replay->pending_count++;
	replay->counts->created++;
	BT_REPLAY_TELL(replay->options, created, value, replay->now_ns)
	return bt_replay_set_pod(replay, id, value, err);
}

/** The controller makes another pod in its place. gone: the one before. */
static int bring_back(
	struct bt_replay *replay, uint32_t id, const struct bt_pod *gone, struct berth_error *err)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
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
	return bt_replay_wait_for_node(replay, id, &value, err);
}

int bt_replay_depart(
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
		.comes_back = comes_back(value, end)};
	uint64_t *const counters[] = {[BT_REPLAY_SUCCEEDED] = &replay->counts->succeeded,
		[BT_REPLAY_DELETED] = &replay->counts->deleted,
		[BT_REPLAY_PREEMPTED] = &replay->counts->preempted,
		[BT_REPLAY_LOST] = &replay->counts->lost};
	(*counters[end])++;
	replay->pending_count -= pod->bound_ns < 0;
	BT_REPLAY_TELL(replay->options, departed, &departure)
	if (bt_heap_has(&replay->ends, id)) {
		bt_heap_remove(&replay->ends, id);
	}
	int result = bt_replay_set_pod(replay, id, NULL, err);
	if (result == 0 && departure.comes_back) {
		result = bring_back(replay, id, value, err);
	} else if (result == 0) {
		free_pod(replay, id);
	}
	bt_object_release(object);
	return result;
}

void bt_replay_set_end(struct bt_replay *replay, uint32_t id)
{
	struct bt_replay_pod *pod = &replay->pods.items[id];
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

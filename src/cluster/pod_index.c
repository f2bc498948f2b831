/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cluster/tree.h"
#include "server/condition.h"

/*
 * The list of an owner's pods is found by the hash of the owner's uid. The list of a namespace's
 * pods without owner is found by the hash of the namespace with ORPHANS_SEED, so that a uid and a
 * namespace with the same text have different hashes.
 */
#define ORPHANS_SEED UINT64_C(1)

/** Returns whether the pod is in a list of this kind. *out_hash: the hash of that list. */
static bool list_hash(
	const struct bt_indexed_pod *record, enum bt_pod_list kind, uint64_t *out_hash)
{
	if (kind == BT_PODS_ON_NODE) {
		*out_hash = bt_str_hash(record->node_name);
		return record->node_name.length != 0;
	}
	struct bt_str namespace_ = bt_key_namespace(record->key);
	*out_hash = record->owner_uid.length != 0
		? bt_str_hash(record->owner_uid)
		: bt_hash_bytes(namespace_.data, namespace_.length, ORPHANS_SEED);
	return true;
}

void bt_pod_index_finish(struct bt_pod_index *index)
{
	bt_vec_finish_each(&index->records, bt_free(*each));
	bt_vec_finish(&index->free_slots);
	bt_map_finish(&index->by_key);
	for (int kind = 0; kind < BT_POD_LIST_COUNT; kind++) {
		bt_map_finish(&index->lists[kind]);
	}
}

/* --- parsing a pod --- */

uint64_t bt_label_bits(const struct bt_json_value *labels)
{
	uint64_t bits = 0;

	for (uint32_t i = 0; labels != NULL && i < labels->count; i++) {
		const struct bt_json_member *member = &labels->members[i];
		uint64_t hash = bt_str_hash(member->name);

		hash = bt_hash_bytes(member->value->text.data, member->value->text.length, hash);
		bits |= UINT64_C(1) << (hash & 63);
		bits |= UINT64_C(1) << ((hash >> 6) & 63);
	}
	return bits;
}

static enum bt_pod_phase phase_of(const struct bt_json_value *pod)
{
	static const char *const names[] = {
		[BT_POD_PENDING] = "Pending",
		[BT_POD_RUNNING] = "Running",
		[BT_POD_SUCCEEDED] = "Succeeded",
		[BT_POD_FAILED] = "Failed",
		[BT_POD_UNKNOWN] = "Unknown",
	};
	struct bt_str phase = bt_json_text_at(pod, "status.phase");

	for (int i = 0; i <= BT_POD_UNKNOWN; i++) {
		if (bt_str_equal_c(phase, names[i])) {
			return (enum bt_pod_phase)i;
		}
	}
	return BT_POD_PENDING;
}

static struct bt_str copy_text(char **position, struct bt_str text)
{
	struct bt_str copy = {*position, text.length};

	if (text.length != 0) {
		memcpy(*position, text.data, text.length);
		*position += text.length;
	}
	return copy;
}

/** Allocates one block: the record, then its texts. */
static struct bt_indexed_pod *new_record(const struct bt_observed *observed)
{
	const struct bt_json_value *pod = observed->after;
	const struct bt_json_value *labels = bt_json_object_at(pod, "metadata.labels");
	struct bt_str uid = bt_json_text_at(pod, "metadata.uid");
	struct bt_str owner_uid = bt_json_text_at(observed->owner, "uid");
	struct bt_str node_name = bt_json_text_at(pod, "spec.nodeName");
	struct bt_str hash = bt_tree_text(labels, "controller-revision-hash");
	int64_t cost = 0;
	size_t text_bytes = (size_t)observed->key.length + uid.length + owner_uid.length +
		node_name.length + hash.length;
	struct bt_indexed_pod *record = bt_calloc(1, sizeof(*record) + text_bytes);
	char *position = (char *)(record + 1);

	record->key = copy_text(&position, observed->key);
	record->uid = copy_text(&position, uid);
	record->owner_uid = copy_text(&position, owner_uid);
	record->node_name = copy_text(&position, node_name);
	record->hash = copy_text(&position, hash);
	record->deleting = bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0;
	record->created_seconds = bt_tree_seconds(pod, "metadata.creationTimestamp");
	if (bt_str_parse_int64(
		    bt_tree_annotation(pod, "controller.kubernetes.io/pod-deletion-cost"), &cost) &&
		cost >= INT32_MIN && cost <= INT32_MAX) {
		record->deletion_cost = (int32_t)cost;
	}
	record->label_bits = bt_label_bits(labels);
	record->job_tracking = bt_json_has_text(bt_json_array_at(pod, "metadata.finalizers"),
		BT_STR("batch.kubernetes.io/job-tracking"));
	const struct bt_json_value *ready =
		bt_condition_find(bt_json_array_at(pod, "status.conditions"), "Ready");
	const struct bt_json_value *containers = bt_json_array_at(pod, "status.containerStatuses");
	int64_t restarts = 0;

	record->ready = bt_str_equal_c(bt_json_text_at(ready, "status"), "True");
	record->ready_since_seconds = bt_tree_seconds(ready, "lastTransitionTime");
	for (uint32_t i = 0; i < containers->count; i++) {
		int64_t count = bt_json_int64_at(containers->elements[i], "restartCount", 0);
		restarts += count > 0 && count < INT32_MAX ? count : 0;
	}
	record->phase = phase_of(pod);
	record->restart_count = (int32_t)BT_MIN(restarts, INT32_MAX);
	return record;
}

/* --- lists --- */

static struct bt_indexed_pod *find_key(const struct bt_pod_index *index, struct bt_str key)
{
	uint64_t hash = bt_str_hash(key);

	BT_MAP_EACH (&index->by_key, hash, slot) {
		struct bt_indexed_pod *record = index->records.items[slot];
		if (bt_str_equal(record->key, key)) {
			return record;
		}
	}
	return NULL;
}

/** Returns the first pod of the list of this kind that `like` is in or would be in, or NULL. */
static struct bt_indexed_pod *find_first(
	const struct bt_pod_index *index, enum bt_pod_list kind, const struct bt_indexed_pod *like)
{
	uint64_t hash;

	if (!list_hash(like, kind, &hash)) {
		return NULL;
	}
	BT_MAP_EACH (&index->lists[kind], hash, slot) {
		struct bt_indexed_pod *record = index->records.items[slot];
		if (kind == BT_PODS_ON_NODE ? bt_str_equal(record->node_name, like->node_name)
					    : bt_str_equal(record->owner_uid, like->owner_uid) &&
					(like->owner_uid.length != 0 ||
						bt_str_equal(bt_key_namespace(record->key),
							bt_key_namespace(like->key)))) {
			return record;
		}
	}
	return NULL;
}

static void remove_record(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	for (int kind = 0; kind < BT_POD_LIST_COUNT; kind++) {
		struct bt_indexed_pod *next = record->next[kind];
		struct bt_indexed_pod *previous = record->previous[kind];
		uint64_t hash;

		if (!list_hash(record, (enum bt_pod_list)kind, &hash)) {
			continue;
		}
		if (next != NULL) {
			next->previous[kind] = previous;
		}
		if (previous != NULL) {
			previous->next[kind] = next;
			continue;
		}
		(void)bt_map_remove(&index->lists[kind], hash, record->slot);
		if (next != NULL) {
			bt_map_insert(&index->lists[kind], hash, next->slot);
		}
	}
	(void)bt_map_remove(&index->by_key, bt_str_hash(record->key), record->slot);
	index->records.items[record->slot] = NULL;
	bt_vec_push(&index->free_slots, record->slot);
	bt_free(record);
}

void bt_pod_index_observe(struct bt_pod_index *index, const struct bt_observed *observed)
{
	struct bt_indexed_pod *old = find_key(index, observed->key);

	if (observed->type == BT_CHANGE_DELETED) {
		if (old != NULL) {
			remove_record(index, old);
		}
		return;
	}
	struct bt_indexed_pod *record = new_record(observed);
	if (old != NULL &&
		(bt_str_equal(old->uid, record->uid) &&
			bt_str_equal(old->owner_uid, record->owner_uid) &&
			bt_str_equal(old->node_name, record->node_name) &&
			bt_str_equal(old->hash, record->hash))) {
		/*
		 * The texts are equal: update the other fields of the old record in place, so that
		 * the lists keep their order.
		 */
		old->phase = record->phase;
		old->ready = record->ready;
		old->deleting = record->deleting;
		old->restart_count = record->restart_count;
		old->deletion_cost = record->deletion_cost;
		old->created_seconds = record->created_seconds;
		old->ready_since_seconds = record->ready_since_seconds;
		old->label_bits = record->label_bits;
		old->job_tracking = record->job_tracking;
		bt_free(record);
		return;
	}
	if (old != NULL) {
		remove_record(index, old);
	}
	bt_vec_store(&index->records, &index->free_slots, record, record->slot);
	bt_map_insert(&index->by_key, bt_str_hash(record->key), record->slot);
	for (int i = 0; i < BT_POD_LIST_COUNT; i++) {
		enum bt_pod_list kind = (enum bt_pod_list)i;
		struct bt_indexed_pod *first = find_first(index, kind, record);
		uint64_t hash;

		if (first == NULL && list_hash(record, kind, &hash)) {
			bt_map_insert(&index->lists[kind], hash, record->slot);
		} else if (first != NULL) {
			/* Insert after the first record, so that the map's value stays valid. */
			record->previous[kind] = first;
			record->next[kind] = first->next[kind];
			if (first->next[kind] != NULL) {
				first->next[kind]->previous[kind] = record;
			}
			first->next[kind] = record;
		}
	}
}

const struct bt_indexed_pod *bt_pod_index_find(const struct bt_hub *hub, struct bt_str key)
{
	return find_key(&hub->pods, key);
}

const struct bt_indexed_pod *bt_pod_index_of_owner(const struct bt_hub *hub, struct bt_str uid)
{
	const struct bt_indexed_pod like = {.owner_uid = uid};

	return uid.length != 0 ? find_first(&hub->pods, BT_PODS_OF_OWNER, &like) : NULL;
}

const struct bt_indexed_pod **bt_pod_index_active(
	const struct bt_hub *hub, struct bt_str uid, struct bt_arena *arena, uint32_t *out_count)
{
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(hub, uid);
	uint32_t count = 0;

	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		count += bt_indexed_pod_is_active(pod);
	}
	const struct bt_indexed_pod **pods =
		BT_ARENA_NEW_ARRAY(arena, const struct bt_indexed_pod *, count);
	count = 0;
	for (const struct bt_indexed_pod *pod = first; pod != NULL;
		pod = pod->next[BT_PODS_OF_OWNER]) {
		if (bt_indexed_pod_is_active(pod)) {
			pods[count++] = pod;
		}
	}
	*out_count = count;
	return pods;
}

const struct bt_indexed_pod *bt_pod_index_orphans(const struct bt_hub *hub, struct bt_str key)
{
	const struct bt_indexed_pod like = {.key = key};

	return find_first(&hub->pods, BT_PODS_OF_OWNER, &like);
}

const struct bt_indexed_pod *bt_pod_index_on_node(const struct bt_hub *hub, struct bt_str node)
{
	const struct bt_indexed_pod like = {.node_name = node};

	return find_first(&hub->pods, BT_PODS_ON_NODE, &like);
}

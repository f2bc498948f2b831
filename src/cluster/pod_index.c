/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "api/time.h"
#include "codec/json_edit.h"
#include "cluster/controller.h"

/*
 * Lists of owners are found by the hash of the owner's uid. Pods without owner are in one list per
 * namespace, whose hash has another seed.
 */
#define ORPHANS_SEED UINT64_C(1)

static uint64_t orphans_hash(struct bt_str namespace_)
{
	return bt_hash_bytes(namespace_.data, namespace_.length, ORPHANS_SEED);
}

static uint64_t owner_hash_of(const struct bt_indexed_pod *record)
{
	return record->owner_uid.length != 0 ? bt_str_hash(record->owner_uid)
					     : orphans_hash(bt_key_namespace(record->key));
}

void bt_pod_index_finish(struct bt_pod_index *index)
{
	for (uint32_t i = 0; i < index->records.count; i++) {
		bt_free(index->records.items[i]);
	}
	bt_vec_finish(&index->records);
	bt_vec_finish(&index->free_slots);
	bt_map_finish(&index->by_key);
	bt_map_finish(&index->by_owner);
	bt_map_finish(&index->by_node);
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

static int64_t seconds_of(struct bt_str text)
{
	struct bt_time time;
	return text.length != 0 && bt_time_parse(text, &time, NULL) == 0 ? time.seconds : 0;
}

static int32_t deletion_cost_of(const struct bt_json_value *pod)
{
	/* The annotation's name contains dots, so bt_json_find_path cannot be used. */
	const struct bt_json_value *cost =
		bt_json_get(bt_json_object_at(pod, "metadata.annotations"),
			BT_STR("controller.kubernetes.io/pod-deletion-cost"));
	int64_t value;

	if (cost == NULL || !bt_str_parse_int64(cost->text, &value) || value < INT32_MIN ||
		value > INT32_MAX) {
		return 0;
	}
	return (int32_t)value;
}

static struct bt_str hash_label_of(const struct bt_json_value *labels)
{
	const struct bt_json_value *hash = bt_json_get(labels, BT_STR("pod-template-hash"));

	if (hash == NULL) {
		hash = bt_json_get(labels, BT_STR("controller-revision-hash"));
	}
	return hash != NULL ? hash->text : BT_STR("");
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
static struct bt_indexed_pod *new_record(struct bt_str key, const struct bt_json_value *pod)
{
	const struct bt_json_value *owner = bt_controller_owner_of(pod);
	const struct bt_json_value *labels = bt_json_object_at(pod, "metadata.labels");
	struct bt_str uid = bt_json_text_at(pod, "metadata.uid");
	struct bt_str owner_uid = bt_json_text_at(owner, "uid");
	struct bt_str node_name = bt_json_text_at(pod, "spec.nodeName");
	struct bt_str hash = hash_label_of(labels);
	size_t text_bytes =
		(size_t)key.length + uid.length + owner_uid.length + node_name.length + hash.length;
	struct bt_indexed_pod *record = bt_calloc(1, sizeof(*record) + text_bytes);
	char *position = (char *)(record + 1);

	record->key = copy_text(&position, key);
	record->uid = copy_text(&position, uid);
	record->owner_uid = copy_text(&position, owner_uid);
	record->node_name = copy_text(&position, node_name);
	record->hash = copy_text(&position, hash);
	record->deleting = bt_json_text_at(pod, "metadata.deletionTimestamp").length != 0;
	record->created_seconds = seconds_of(bt_json_text_at(pod, "metadata.creationTimestamp"));
	record->deletion_cost = deletion_cost_of(pod);
	record->label_bits = bt_label_bits(labels);
	record->job_tracking = bt_json_has_text(bt_json_array_at(pod, "metadata.finalizers"),
		BT_STR("batch.kubernetes.io/job-tracking"));
	const struct bt_json_value *conditions = bt_json_array_at(pod, "status.conditions");
	const struct bt_json_value *containers = bt_json_array_at(pod, "status.containerStatuses");
	int64_t restarts = 0;

	for (uint32_t i = 0; i < conditions->count; i++) {
		const struct bt_json_value *condition = conditions->elements[i];
		if (bt_str_equal_c(bt_json_text_at(condition, "type"), "Ready")) {
			record->ready =
				bt_str_equal_c(bt_json_text_at(condition, "status"), "True");
			record->ready_since_seconds =
				seconds_of(bt_json_text_at(condition, "lastTransitionTime"));
		}
	}
	for (uint32_t i = 0; i < containers->count; i++) {
		int64_t count = bt_json_int64_at(containers->elements[i], "restartCount", 0);
		restarts += count > 0 && count < INT32_MAX ? count : 0;
	}
	record->phase = phase_of(pod);
	record->restart_count = restarts < INT32_MAX ? (int32_t)restarts : INT32_MAX;
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

/** Returns the first record in the list of an owner, or (uid "") of the namespace's orphans. */
static struct bt_indexed_pod *find_owner(
	const struct bt_pod_index *index, struct bt_str uid, struct bt_str namespace_)
{
	uint64_t hash = uid.length != 0 ? bt_str_hash(uid) : orphans_hash(namespace_);

	BT_MAP_EACH (&index->by_owner, hash, slot) {
		struct bt_indexed_pod *record = index->records.items[slot];
		if (bt_str_equal(record->owner_uid, uid) &&
			(uid.length != 0 ||
				bt_str_equal(bt_key_namespace(record->key), namespace_))) {
			return record;
		}
	}
	return NULL;
}

static struct bt_indexed_pod *find_node(const struct bt_pod_index *index, struct bt_str node)
{
	uint64_t hash = bt_str_hash(node);

	BT_MAP_EACH (&index->by_node, hash, slot) {
		struct bt_indexed_pod *record = index->records.items[slot];
		if (bt_str_equal(record->node_name, node)) {
			return record;
		}
	}
	return NULL;
}

/* Insert after the first record, so that the map's value stays valid. */

static void link_owner(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	struct bt_indexed_pod *first =
		find_owner(index, record->owner_uid, bt_key_namespace(record->key));

	if (first == NULL) {
		bt_map_insert(&index->by_owner, owner_hash_of(record), record->slot);
		return;
	}
	record->previous_of_owner = first;
	record->next_of_owner = first->next_of_owner;
	if (first->next_of_owner != NULL) {
		first->next_of_owner->previous_of_owner = record;
	}
	first->next_of_owner = record;
}

static void unlink_owner(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	if (record->next_of_owner != NULL) {
		record->next_of_owner->previous_of_owner = record->previous_of_owner;
	}
	if (record->previous_of_owner != NULL) {
		record->previous_of_owner->next_of_owner = record->next_of_owner;
		return;
	}
	(void)bt_map_remove(&index->by_owner, owner_hash_of(record), record->slot);
	if (record->next_of_owner != NULL) {
		bt_map_insert(&index->by_owner, owner_hash_of(record), record->next_of_owner->slot);
	}
}

static void unlink_node(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	if (record->node_name.length == 0) {
		return;
	}
	if (record->next_on_node != NULL) {
		record->next_on_node->previous_on_node = record->previous_on_node;
	}
	if (record->previous_on_node != NULL) {
		record->previous_on_node->next_on_node = record->next_on_node;
		return;
	}
	(void)bt_map_remove(&index->by_node, bt_str_hash(record->node_name), record->slot);
	if (record->next_on_node != NULL) {
		bt_map_insert(&index->by_node, bt_str_hash(record->node_name),
			record->next_on_node->slot);
	}
}

static void remove_record(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	unlink_owner(index, record);
	unlink_node(index, record);
	(void)bt_map_remove(&index->by_key, bt_str_hash(record->key), record->slot);
	index->records.items[record->slot] = NULL;
	bt_vec_push(&index->free_slots, record->slot);
	bt_free(record);
}

static void add_record(struct bt_pod_index *index, struct bt_indexed_pod *record)
{
	bt_vec_store(&index->records, &index->free_slots, record, record->slot);
	bt_map_insert(&index->by_key, bt_str_hash(record->key), record->slot);
	link_owner(index, record);
	struct bt_indexed_pod *first;

	if (record->node_name.length == 0) {
		return;
	}
	first = find_node(index, record->node_name);
	if (first == NULL) {
		bt_map_insert(&index->by_node, bt_str_hash(record->node_name), record->slot);
		return;
	}
	record->previous_on_node = first;
	record->next_on_node = first->next_on_node;
	if (first->next_on_node != NULL) {
		first->next_on_node->previous_on_node = record;
	}
	first->next_on_node = record;
}

void bt_pod_index_observe(struct bt_pod_index *index, enum bt_change_type type, struct bt_str key,
	const struct bt_json_value *pod)
{
	struct bt_indexed_pod *old = find_key(index, key);
	struct bt_indexed_pod *record;

	if (type == BT_CHANGE_DELETED) {
		if (old != NULL) {
			remove_record(index, old);
		}
		return;
	}
	record = new_record(key, pod);
	/* The texts are equal, so only the record's other fields changed. */
	if (old != NULL &&
		(bt_str_equal(old->uid, record->uid) &&
			bt_str_equal(old->owner_uid, record->owner_uid) &&
			bt_str_equal(old->node_name, record->node_name) &&
			bt_str_equal(old->hash, record->hash))) {
		/* Update the old record in place, so that the lists keep their order. */
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
	add_record(index, record);
}

const struct bt_indexed_pod *bt_pod_index_find(const struct bt_hub *hub, struct bt_str key)
{
	return find_key(&hub->pods, key);
}

const struct bt_indexed_pod *bt_pod_index_of_owner(const struct bt_hub *hub, struct bt_str uid)
{
	return uid.length != 0 ? find_owner(&hub->pods, uid, BT_STR("")) : NULL;
}

const struct bt_indexed_pod **bt_pod_index_active(
	const struct bt_hub *hub, struct bt_str uid, struct bt_arena *arena, uint32_t *out_count)
{
	const struct bt_indexed_pod *first = bt_pod_index_of_owner(hub, uid);
	const struct bt_indexed_pod **pods;
	uint32_t count = 0;

	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		count += bt_pod_is_active(pod);
	}
	pods = BT_ARENA_NEW_ARRAY(arena, const struct bt_indexed_pod *, count);
	count = 0;
	for (const struct bt_indexed_pod *pod = first; pod != NULL; pod = pod->next_of_owner) {
		if (bt_pod_is_active(pod)) {
			pods[count++] = pod;
		}
	}
	*out_count = count;
	return pods;
}

const struct bt_indexed_pod *bt_pod_index_orphans(
	const struct bt_hub *hub, struct bt_str namespace_)
{
	return find_owner(&hub->pods, BT_STR(""), namespace_);
}

const struct bt_indexed_pod *bt_pod_index_on_node(const struct bt_hub *hub, struct bt_str node)
{
	return node.length != 0 ? find_node(&hub->pods, node) : NULL;
}

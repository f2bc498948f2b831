/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_POD_INDEX_H
#define BT_CLUSTER_POD_INDEX_H
/**
 * What controllers ask about pods again and again, kept for every pod in a small record, found by
 * key, controller, node and namespace, so that no object is parsed to count replicas. The hub
 * keeps it current before it calls controllers.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum bt_pod_phase {
	BT_POD_PENDING,
	BT_POD_RUNNING,
	BT_POD_SUCCEEDED,
	BT_POD_FAILED,
	BT_POD_UNKNOWN,
};

struct bt_indexed_pod {
	struct bt_str key; /* "ns/name" */
	struct bt_str uid;
	struct bt_str owner_uid; /* of the controller; "" without */
	struct bt_str node_name; /* "" while unassigned */
	struct bt_str hash;      /* label pod-template-hash or controller-revision-hash */
	enum bt_pod_phase phase;
	bool ready;
	bool deleting;
	int32_t restart_count;
	int32_t deletion_cost;
	int64_t created_seconds;
	int64_t ready_since_seconds;
	uint64_t label_bits; /* bt_label_bits of the labels */
	bool job_tracking;   /* has the finalizer batch.kubernetes.io/job-tracking */

	struct bt_indexed_pod *next_of_owner; /* lists of the index */
	struct bt_indexed_pod *previous_of_owner;
	struct bt_indexed_pod *next_on_node;
	struct bt_indexed_pod *previous_on_node;
	uint32_t slot;
};

struct bt_hub;
struct bt_json_value;

/** Succeeded or failed. */
static inline bool bt_pod_is_over(const struct bt_indexed_pod *record)
{
	return record->phase == BT_POD_SUCCEEDED || record->phase == BT_POD_FAILED;
}

/** Not deleting, neither succeeded nor failed. */
static inline bool bt_pod_is_active(const struct bt_indexed_pod *record)
{
	return !record->deleting && !bt_pod_is_over(record);
}

/**
 * A few bits for each label (an object of texts): when an object has all labels of a selector, it
 * has all of the selector's bits. So most objects are told apart without parsing them.
 */
uint64_t bt_label_bits(const struct bt_json_value *labels);

/** NULL: no such pod. Borrowed until the hub observes the next change. */
const struct bt_indexed_pod *bt_pod_index_find(const struct bt_hub *hub, struct bt_str key);
/** First of the pods whose controller has this uid; go on with next_of_owner. */
const struct bt_indexed_pod *bt_pod_index_of_owner(const struct bt_hub *hub, struct bt_str uid);
/** The active pods whose controller has this uid. */
const struct bt_indexed_pod **bt_pod_index_active(
	const struct bt_hub *hub, struct bt_str uid, struct bt_arena *arena, uint32_t *out_count);
/** First of the namespace's pods that no controller owns; go on with next_of_owner. */
const struct bt_indexed_pod *bt_pod_index_orphans(
	const struct bt_hub *hub, struct bt_str namespace_);
/** First of the pods assigned to the node; go on with next_on_node. */
const struct bt_indexed_pod *bt_pod_index_on_node(const struct bt_hub *hub, struct bt_str node);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLANNING_WHATIF_PRIVATE_H
#define BT_PLANNING_WHATIF_PRIVATE_H
/** Declarations shared by the files whatif*.c. */
#include "api/node.h"
#include "api/pod.h"
#include "planning/whatif.h"

/** Adds marks for new objects of work. */
void bt_whatif_sync_marks(struct bt_whatif *whatif);
/** Returns the pod at index if it was not removed, has a node and has not finished; else NULL. */
const struct bt_pod *bt_whatif_running_pod(const struct bt_whatif *whatif, uint32_t index);
/** Returns whether no change deleted the object at index. context: the struct bt_whatif. */
bool bt_whatif_is_there(const void *context, uint32_t index);
/** Returns the index of the object, or BT_MANIFESTS_NONE if the object is missing or deleted. */
uint32_t bt_whatif_find(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);
/**
 * Sets an error that says that no object has this kind, namespace and name, and suggests a similar
 * name. Returns BERTH_ERR_INVALID.
 */
int bt_whatif_unknown(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err);
/**
 * Adds an object to the after side. value: the struct of the kind, copied. Errors name the change.
 */
BT_MUST_USE int bt_whatif_put(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	enum bt_kind kind, const void *value, struct berth_error *err);

/**
 * whatif_evict.c: evict the pods of drained or removed nodes. selected: by index in work.
 * bt_whatif_drain_pods fails if it would have to check too many pairs of pod and budget.
 */
BT_MUST_USE int bt_whatif_drain_pods(
	struct bt_whatif *whatif, const bool *selected, struct berth_error *err);
void bt_whatif_remove_pods(struct bt_whatif *whatif, const bool *selected);
/**
 * Evicts the pods that do not tolerate a NoExecute taint which their node did not have before.
 * old_nodes[i]: the node at index i in work before the change; NULL: that object is no node or got
 * no new taints.
 */
void bt_whatif_evict_intolerant(struct bt_whatif *whatif, const struct bt_object *const *old_nodes);
/** Evicts pods from the selected nodes if their DaemonSet no longer selects the node. */
void bt_whatif_evict_unselected(struct bt_whatif *whatif, const bool *selected);

/** Marks the pod at index as deleted, with the reason. */
void bt_whatif_mark_departed(struct bt_whatif *whatif, uint32_t index, enum bt_departure departure);

/** whatif_node.c */
BT_MUST_USE int bt_whatif_change_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
BT_MUST_USE int bt_whatif_add_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);

/** whatif_workload.c */
/** Returns the index of the controller if its kind has replicas, else BT_MANIFESTS_NONE. */
uint32_t bt_whatif_find_workload(const struct bt_whatif *whatif,
	const struct bt_owner_reference *controller, struct bt_str namespace_);
BT_MUST_USE int bt_whatif_scale(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
BT_MUST_USE int bt_whatif_with(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
#endif

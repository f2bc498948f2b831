/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_WHATIF_PRIVATE_H
#define BT_CLI_WHATIF_PRIVATE_H
/** What the files of the changes share. */
#include "api/node.h"
#include "api/pod.h"
#include "cli/whatif/whatif.h"

/** Whose pod it is: what decides whether it stays, comes back or is gone. */
enum bt_pod_keeper {
	BT_KEEPER_NOBODY,
	BT_KEEPER_CONTROLLER,
	BT_KEEPER_DAEMON_SET,
	BT_KEEPER_NODE, /* a mirror pod */
};

enum bt_pod_keeper bt_pod_keeper_of(const struct bt_pod *pod);
/** Without a node and a status, as created just now. */
struct bt_pod bt_pod_recreated(const struct bt_pod *pod);
/** The marks grow with work. */
void bt_whatif_sync_marks(struct bt_whatif *whatif);
/** The pod at index, which is there, has a node and has not finished; NULL otherwise. */
const struct bt_pod *bt_whatif_running_pod(const struct bt_whatif *whatif, uint32_t index);
/** No change took the object at index away. context: the struct bt_whatif. */
bool bt_whatif_is_there(const void *context, uint32_t index);
/** The object of an index that is there, or BT_MANIFESTS_NONE. */
uint32_t bt_whatif_find(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name);
/** "VERB: unknown; did you mean ...?", of the names of that kind (and namespace). */
int bt_whatif_unknown(const struct bt_whatif *whatif, enum bt_kind kind, struct bt_str namespace_,
	struct bt_str name, struct berth_error *err);
/** One more object. */
BT_MUST_USE int bt_whatif_put(struct bt_whatif *whatif, const struct bt_whatif_change *change,
	enum bt_kind kind, const void *value, struct berth_error *err);

/** whatif_evict.c: pods leave the selected nodes (by index in work). */
BT_MUST_USE int bt_whatif_drain_pods(
	struct bt_whatif *whatif, const bool *selected, struct berth_error *err);
void bt_whatif_remove_pods(struct bt_whatif *whatif, const bool *selected);
/**
 * Those that do not tolerate a NoExecute taint that their node did not have before. old_nodes: by
 * index in work what a node was; NULL: it has no new taints.
 */
void bt_whatif_evict_intolerant(struct bt_whatif *whatif, const struct bt_object *const *old_nodes);
/** Those of DaemonSets that do not select their node any more. */
void bt_whatif_evict_unselected(struct bt_whatif *whatif, const bool *selected);

void bt_whatif_budgets_finish(struct bt_whatif *whatif);

/** whatif_node.c */
BT_MUST_USE int bt_whatif_change_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
BT_MUST_USE int bt_whatif_add_nodes(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);

/** ResourceSlices of one node. All-zero memory has none. */
struct bt_whatif_slices {
	BT_VEC(struct bt_object *) list; /* references held */
};
/** Devices go with their nodes. gone: by index in work, is added to. */
void bt_whatif_drop_slices(const struct bt_whatif *whatif, bool *gone);
/** cluster: the after side's. Pods that left their node have given their devices back; one that
 * comes back gets claims anew. */
void bt_whatif_release_claims(const struct bt_whatif *whatif, struct bt_manifests *cluster);

/** whatif_workload.c */
/** spec.replicas; NULL for kinds that have none. */
const struct bt_opt_i32 *bt_whatif_replicas_of(const struct bt_object *object);
/** A controller that has replicas, or BT_MANIFESTS_NONE. */
uint32_t bt_whatif_find_workload(const struct bt_whatif *whatif,
	const struct bt_owner_reference *controller, struct bt_str namespace_);
BT_MUST_USE int bt_whatif_scale(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
BT_MUST_USE int bt_whatif_with(
	struct bt_whatif *whatif, const struct bt_whatif_change *change, struct berth_error *err);
#endif

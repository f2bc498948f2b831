/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NOMINATOR_H
#define BT_FRAMEWORK_NOMINATOR_H
/**
 * Nominated pods: pending pods for which preemption or the pod's status reserves a node. Spec: 02
 * section 12.3. The nominator keeps the nominations of each node in the order in which they were
 * made, and refers to pods that the queue owns.
 */
#include "base/hash_table.h"
#include "framework/plugin.h"
#include "state/pod_info.h"

#define BT_NOMINATION_NONE UINT32_MAX
/** Cursor of bt_nominator_next before the first call. */
#define BT_NOMINATION_FIRST (UINT32_MAX - 1)

struct bt_nomination {
	bt_sym uid;       /* BT_SYM_NONE: the entry is free */
	bt_sym node_name; /* never the empty name */
	bt_sym name;
	bt_sym namespace_;
	const struct bt_pod_info *pod; /* the queued pod; NULL: the bare pod is used */
	struct bt_pod_info bare_pod;   /* only the pod's identity; priority 0, no requests */
	uint64_t sequence;             /* nomination order */
	uint32_t previous_on_node;     /* links of the node's list, in ascending sequence */
	uint32_t next_on_node;
};

/** First and last entry in the list of one node's nominations. */
struct bt_nominated_node {
	bt_sym node_name; /* borrowed from the nominations; BT_SYM_NONE: free */
	uint32_t first;
	uint32_t last;
	uint64_t version; /* changes with the node's nominations; never 0; values do not repeat */
};

struct bt_nominator {
	struct bt_state *state;
	BT_HASH_TABLE(struct bt_nomination) nominations; /* by uid symbol */
	BT_HASH_TABLE(struct bt_nominated_node) nodes;   /* by node name symbol */
	uint64_t next_sequence;
	uint64_t version;     /* the newest version given to a node */
	uint32_t empty_shape; /* shape of all bare pods; reference held */
};

void bt_nominator_init(struct bt_nominator *nominator, struct bt_state *state);
void bt_nominator_finish(struct bt_nominator *nominator);
/**
 * Nominates pod on node_name (not ""); replaces an earlier nomination of the same uid. queued true:
 * pod is borrowed until the nomination ends or bt_nominator_set_queued(..., NULL) is called. queued
 * false: the nomination uses a bare pod from the start.
 */
void bt_nominator_add(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	struct bt_str node_name, bool queued);
/**
 * Ends the pod's earlier nomination and nominates the pod again (spec 02 section 12.3, Add). The
 * node is info's node if info's mode is override, else the node in the pod's status; if the node is
 * "", the pod is not nominated. info may be NULL. can_nominate: whether the pod informer has the
 * pod and spec.nodeName is empty; if false, the pod is not nominated. queued: as for
 * bt_nominator_add.
 */
void bt_nominator_nominate(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	const struct bt_post_filter_result *info, bool queued, bool can_nominate);
/**
 * Updates the nomination after the pod's object changed. If neither object has
 * status.nominatedNodeName, the pod stays nominated on its node; else the new object's status
 * decides. queued, can_nominate: as for bt_nominator_nominate.
 */
void bt_nominator_update(struct bt_nominator *nominator, const struct bt_pod_info *old_pod,
	const struct bt_pod_info *new_pod, bool queued, bool can_nominate);
void bt_nominator_delete(struct bt_nominator *nominator, struct bt_str uid);
/**
 * Call this when the pod with this uid enters or leaves the queue. pod: the queued pod, borrowed;
 * NULL if the pod left the queue: the nomination then uses bt_nomination.bare_pod. Does nothing if
 * the uid has no nomination.
 */
void bt_nominator_set_queued(
	struct bt_nominator *nominator, struct bt_str uid, const struct bt_pod_info *pod);
/**
 * Whether another pod of equal or higher priority is nominated on the node, so that the filters
 * for `pod` must count that nominated pod. node: an index in nominator->nodes.
 */
bool bt_nominator_has_rival(
	const struct bt_nominator *nominator, uint32_t node, const struct bt_pod_info *pod);
/**
 * Whether the filters for `pod` must count `nominated`: `nominated` is another pod, and its
 * priority is equal or higher. Spec 02 section 5.4.
 */
bool bt_nominated_pod_counts(const struct bt_pod_info *nominated, const struct bt_pod_info *pod);
/**
 * Finds the name of the node on which a pod is nominated. Returns false if the pod has no
 * nomination. The name is borrowed until the nomination ends.
 */
bool bt_nominator_find(
	const struct bt_nominator *nominator, struct bt_str uid, struct bt_str *out_node_name);
/**
 * Returns the pods nominated on the node one after the other, in the order of nominations; NULL
 * after the last pod. *cursor is BT_NOMINATION_FIRST before the first call. The nominator must not
 * change between the calls.
 */
const struct bt_pod_info *bt_nominator_next(
	const struct bt_nominator *nominator, struct bt_str node_name, uint32_t *cursor);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NOMINATOR_H
#define BT_FRAMEWORK_NOMINATOR_H
/**
 * Nominated pods: pending pods for which preemption (or their status) reserves a node. Spec: 02
 * section 12.3. The nominator keeps references in nomination order; the queue supplies the pod of a
 * nomination.
 */
#include "base/map.h"
#include "base/vec.h"
#include "framework/plugin.h"
#include "state/pod_info.h"

#define BT_NOMINATION_NONE UINT32_MAX

struct bt_nomination {
	bt_sym uid;       /* BT_SYM_NONE: this entry is free */
	bt_sym node_name; /* never the empty name */
	bt_sym name;
	bt_sym namespace_;
	const struct bt_pod_info *pod; /* the queued pod; NULL: a stub with identity only */
	struct bt_pod_info stub;       /* what counts when pod is NULL: priority 0, no requests */
	uint64_t sequence;             /* nomination order */
	uint32_t previous_on_node;     /* nominations of the same node, ascending sequence */
	uint32_t next_on_node;
};

/** Ends of the list of one node's nominations. */
struct bt_nominated_node {
	bt_sym node_name; /* borrowed from the nominations; BT_SYM_NONE: free */
	uint32_t first;
	uint32_t last;
};

struct bt_nominator {
	struct bt_state *state;
	BT_VEC(struct bt_nomination) nominations; /* in no order; free entries are reused */
	BT_VEC(uint32_t) free_nominations;
	BT_VEC(struct bt_nominated_node) nodes;
	BT_VEC(uint32_t) free_nodes;
	struct bt_map by_uid;  /* uid symbol -> nomination */
	struct bt_map by_node; /* node name symbol -> nodes */
	uint32_t count;
	uint64_t next_sequence;
	uint32_t empty_shape; /* shape of a stub */
};

void bt_nominator_init(struct bt_nominator *nominator, struct bt_state *state);
void bt_nominator_finish(struct bt_nominator *nominator);
/**
 * Nominate pod on node_name; replaces an earlier nomination of the same uid. pod is borrowed until
 * the nomination ends or bt_nominator_set_queued(..., NULL) is called; `queued` false makes it a
 * stub from the start.
 */
void bt_nominator_add(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	struct bt_str node_name, bool queued);
/**
 * The whole rule of spec 02 section 12.3, Add: the earlier nomination ends; the node is info's when
 * its mode is override ("": none), else the one in the pod's status. info may be NULL.
 * can_nominate: the pod informer has the pod, without spec.nodeName; false only ends the earlier
 * nomination.
 */
void bt_nominator_nominate(struct bt_nominator *nominator, const struct bt_pod_info *pod,
	const struct bt_post_filter_result *info, bool queued, bool can_nominate);
/**
 * The pod's object changed. An in-memory nomination survives while neither object has
 * status.nominatedNodeName; else the new object's status decides.
 */
void bt_nominator_update(struct bt_nominator *nominator, const struct bt_pod_info *old_pod,
	const struct bt_pod_info *new_pod, bool queued, bool can_nominate);
void bt_nominator_delete(struct bt_nominator *nominator, struct bt_str uid);
/** The pod entered (pod) or left (NULL) the queue. */
void bt_nominator_set_queued(
	struct bt_nominator *nominator, struct bt_str uid, const struct bt_pod_info *pod);
/**
 * Calls visit once for each node, in no order, on which other pods of this pod's priority or a
 * higher one are nominated: their room is not available to this pod.
 */
void bt_nominator_for_each_rival_node(const struct bt_nominator *nominator,
	const struct bt_pod_info *pod, void (*visit)(void *context, struct bt_str node_name),
	void *context);
/** Whether a nominated pod takes room from this one. Spec 02 section 5.4. */
bool bt_nominated_pod_counts(const struct bt_pod_info *nominated, const struct bt_pod_info *pod);
bool bt_nominator_is_empty(const struct bt_nominator *nominator);
/** The node a pod is nominated on ("" when cleared by override); false when it has no nomination.
 * Borrowed until it ends. */
bool bt_nominator_find(
	const struct bt_nominator *nominator, struct bt_str uid, struct bt_str *out_node_name);
/**
 * Pods nominated on a node in nomination order: calls visit for each until it returns false. visit
 * must not change the nominator.
 */
void bt_nominator_for_node(const struct bt_nominator *nominator, struct bt_str node_name,
	bool (*visit)(void *context, const struct bt_pod_info *pod), void *context);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_NOMINATOR_H
#define BT_FRAMEWORK_NOMINATOR_H
/**
 * Nominated pods: pending pods that preemption (or their status) promises a node. Spec: 02 section 12.3. The nominator
 * keeps references in nomination order; the pod behind one is given by whoever queues it.
 */
#include "base/map.h"
#include "base/vec.h"
#include "state/pod_info.h"

struct bt_nomination {
	bt_sym uid;
	bt_sym node_name;              /* may be the empty name: no node sees it */
	const struct bt_pod_info *pod; /* the queued pod; NULL: a stub with identity only */
	struct bt_pod_info stub;       /* what counts when pod is NULL: priority 0, no requests */
	uint64_t sequence;             /* nomination order */
};

struct bt_nominator {
	struct bt_state *state;
	BT_VEC(struct bt_nomination) nominations; /* ascending sequence */
	uint64_t next_sequence;
	uint32_t empty_shape; /* shape of a stub */
};

void bt_nominator_init(struct bt_nominator *nominator, struct bt_state *state);
void bt_nominator_finish(struct bt_nominator *nominator);
/**
 * Nominate pod on node_name; replaces an earlier nomination of the same uid. pod is borrowed until the nomination ends
 * or bt_nominator_set_queued(…, NULL) is called; `queued` false makes it a stub from the start.
 */
void bt_nominator_add(struct bt_nominator *nominator, const struct bt_pod_info *pod, struct bt_str node_name, bool queued);
void bt_nominator_delete(struct bt_nominator *nominator, struct bt_str uid);
/** The pod entered (pod) or left (NULL) the queue. */
void bt_nominator_set_queued(struct bt_nominator *nominator, struct bt_str uid, const struct bt_pod_info *pod);
bool bt_nominator_is_empty(const struct bt_nominator *nominator);
/** Pods nominated on a node in nomination order: calls visit for each until it returns false. */
void bt_nominator_for_node(const struct bt_nominator *nominator, struct bt_str node_name,
	bool (*visit)(void *context, const struct bt_pod_info *pod), void *context);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_STATE_POD_INFO_H
#define BT_STATE_POD_INFO_H
/**
 * A pending or bound pod as plugins see it. All members are borrowed, so filling in this structure
 * is cheap.
 */
#include "state/state.h"

struct bt_pod_info {
	struct bt_str name;
	struct bt_str namespace_;
	struct bt_str uid;
	const struct bt_str_map *labels;
	/** bt_shape_pod returns the pod's spec. The spec of an assigned pod has no nodeName. */
	const struct bt_shape *shape;
	uint32_t label_set; /* BT_LABEL_SET_NONE: not interned */
	int32_t priority;
	int64_t start_seconds;             /* INT64_MIN: not set */
	struct bt_str node_name;           /* spec.nodeName; normally "" while pending */
	struct bt_str nominated_node_name; /* status.nominatedNodeName */
	const struct bt_pod *object;       /* the whole pending pod; NULL for cached pods */
	uint32_t pod_id;                   /* BT_POD_NONE: not in the cache */
};

#define BT_LABEL_SET_NONE UINT32_MAX

/** Fill from a cached pod; labels are borrowed until the state changes. */
void bt_pod_info_from_record(
	const struct bt_state *state, uint32_t pod_id, struct bt_pod_info *out_info);
/**
 * Fill for a pod to be scheduled. Takes references to the pod's shape and label set; release them
 * with bt_pod_info_finish_pending. object is borrowed until then.
 */
void bt_pod_info_init_pending(
	struct bt_state *state, const struct bt_pod *object, struct bt_pod_info *out_info);
/**
 * Fill again for a pod whose references from bt_pod_info_init_pending are still held. `shape` and
 * `label_set`: the ids to which the references are held.
 */
void bt_pod_info_restore_pending(const struct bt_state *state, const struct bt_pod *object,
	uint32_t shape, uint32_t label_set, struct bt_pod_info *out_info);
void bt_pod_info_finish_pending(struct bt_state *state, struct bt_pod_info *info);
#endif

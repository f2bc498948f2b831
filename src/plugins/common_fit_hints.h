/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_COMMON_FIT_HINTS_H
#define BT_PLUGINS_COMMON_FIT_HINTS_H
/** Queueing hints of NodeResourcesFit. Spec: 05 section 11.9. */
#include "api/resources.h"
#include "api/types.h"
#include "framework/plugin.h"

/**
 * A device class backs the name and the node has none of its own: the DynamicResources plugin
 * decides, not the fit of numbers. Spec 05 section 3.10.
 */
bool bt_fit_is_delegated(const struct bt_handle *handle, struct bt_str name, int64_t allocatable);

/** Pod/Delete (new_pod NULL) and Pod/UpdatePodScaleDown. */
enum bt_queueing_hint bt_fit_hint_after_pod_change(const struct bt_resource_gates *gates,
	const struct bt_pod_info *pod, const struct bt_pod *old_pod, const struct bt_pod *new_pod);
/** Node/Add (old_node NULL) and Node/UpdateNodeAllocatable. */
enum bt_queueing_hint bt_fit_hint_after_node_change(const struct bt_handle *handle,
	const struct bt_resource_gates *gates, const struct bt_pod_info *pod,
	const struct bt_node *old_node, const struct bt_node *new_node);
/** Spec 04 (hints) section 6.7: old_class is NULL for an added one. */
enum bt_queueing_hint bt_fit_hint_after_class_change(const struct bt_resource_gates *gates,
	const struct bt_pod_info *pod, const struct bt_device_class *old_class,
	const struct bt_device_class *new_class);
/** Requests of cpu and memory: on a node with less of either no such pod fits, be it empty. */
void bt_fit_hint_needs(const struct bt_resource_gates *gates, const struct bt_shape *shape,
	int64_t out_needs[BT_HINT_NEEDS]);
void bt_fit_hint_limits(const struct bt_node *node, int64_t out_limits[BT_HINT_NEEDS]);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_CSI_TRANSLATION_H
#define BT_PLUGINS_CSI_TRANSLATION_H
/**
 * Translates in-tree volume sources to CSI: driver, volume handle and node affinity. Spec: 07
 * section 4. There is a function for each of these parts, because no caller needs a whole
 * translated volume.
 */
#include "api/storage.h"
#include "base/error.h"

enum bt_in_tree_driver {
	BT_IN_TREE_GCE_PD,
	BT_IN_TREE_AWS_EBS,
	BT_IN_TREE_CINDER,
	BT_IN_TREE_AZURE_DISK,
	BT_IN_TREE_PORTWORX,
	BT_IN_TREE_AZURE_FILE,
	BT_IN_TREE_VSPHERE,
	BT_IN_TREE__COUNT,
};

/**
 * Returns the driver of the in-tree source of a volume; BT_IN_TREE__COUNT if the volume has no such
 * source. If several sources are set, the first source in the order of the enum counts.
 */
enum bt_in_tree_driver bt_in_tree_of_volume(const struct bt_persistent_volume *volume);
enum bt_in_tree_driver bt_in_tree_of_inline(const struct bt_volume *volume);
/**
 * Find a driver by its in-tree plugin name ("kubernetes.io/gce-pd"); BT_IN_TREE__COUNT if there is
 * none.
 */
enum bt_in_tree_driver bt_in_tree_find(struct bt_str plugin_name);
struct bt_str bt_in_tree_plugin_name(enum bt_in_tree_driver driver);
struct bt_str bt_in_tree_csi_name(enum bt_in_tree_driver driver);
/**
 * Whether CSI migration of the driver is on in the scheduler. A volume is treated as migrated only
 * on nodes whose CSINode lists the plugin as migrated.
 */
bool bt_in_tree_is_migrated(enum bt_in_tree_driver driver);
/** Whether the node's CSINode lists the plugin as migrated. csi_node may be NULL. */
bool bt_csi_node_lists_migrated(const struct bt_csi_node *csi_node, enum bt_in_tree_driver driver);

/**
 * Get the CSI volume handle of a persistent volume. The text is in the arena or borrowed from the
 * volume. Fails with BERTH_ERR_NOT_FOUND if the volume has no in-tree source, and with
 * BERTH_ERR_INVALID if the source cannot be translated.
 */
BT_MUST_USE int bt_in_tree_volume_handle(const struct bt_persistent_volume *volume,
	struct bt_arena *arena, struct bt_str *out_handle, struct berth_error *err);
/** Does the same as bt_in_tree_volume_handle, for an inline volume of a pod in pod_namespace. */
BT_MUST_USE int bt_in_tree_inline_handle(const struct bt_volume *volume,
	struct bt_str pod_namespace, struct bt_arena *arena, struct bt_str *out_handle,
	struct berth_error *err);
/**
 * Returns the node affinity of the translated volume, or NULL. Does not check whether the volume
 * can be translated; bt_in_tree_volume_handle does.
 */
const struct bt_node_selector *bt_in_tree_node_affinity(
	const struct bt_persistent_volume *volume, struct bt_arena *arena);
#endif

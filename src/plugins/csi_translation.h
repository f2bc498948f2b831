/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_CSI_TRANSLATION_H
#define BT_PLUGINS_CSI_TRANSLATION_H
/**
 * In-tree volume sources as their CSI drivers see them: driver, volume handle, node affinity. Spec:
 * 07 section 4. A whole translated volume is never needed: each caller asks for the part it reads.
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

/** BT_IN_TREE__COUNT: not migratable. With several sources set, the first in the order above. */
enum bt_in_tree_driver bt_in_tree_of_volume(const struct bt_persistent_volume *volume);
enum bt_in_tree_driver bt_in_tree_of_inline(const struct bt_volume *volume);
/** By in-tree plugin name ("kubernetes.io/gce-pd"). */
enum bt_in_tree_driver bt_in_tree_find(struct bt_str plugin_name);
struct bt_str bt_in_tree_plugin_name(enum bt_in_tree_driver driver);
struct bt_str bt_in_tree_csi_name(enum bt_in_tree_driver driver);
/** The scheduler treats the driver's volumes as migrated (where the node does). */
bool bt_in_tree_is_migrated(enum bt_in_tree_driver driver);
/** The node's CSINode lists the plugin as migrated. csi_node may be NULL. */
bool bt_csi_node_lists_migrated(const struct bt_csi_node *csi_node, enum bt_in_tree_driver driver);

/** Handle of a volume that is migratable; text in the arena or the volume's. */
BT_MUST_USE int bt_in_tree_volume_handle(const struct bt_persistent_volume *volume,
	struct bt_arena *arena, struct bt_str *out_handle, struct berth_error *err);
/** Handle of an inline volume that is migratable. */
BT_MUST_USE int bt_in_tree_inline_handle(const struct bt_volume *volume,
	struct bt_str pod_namespace, struct bt_arena *arena, struct bt_str *out_handle,
	struct berth_error *err);
/**
 * The node affinity of the translated volume, NULL when it has none. Nothing but the affinity's own
 * rewrite: whether the volume translates at all is bt_in_tree_volume_handle's answer.
 */
const struct bt_node_selector *bt_in_tree_node_affinity(
	const struct bt_persistent_volume *volume, struct bt_arena *arena);
#endif

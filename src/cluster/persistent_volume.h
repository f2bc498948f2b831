/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_PERSISTENT_VOLUME_H
#define BT_CLUSTER_PERSISTENT_VOLUME_H
/** Binds PersistentVolumeClaims to PersistentVolumes. Spec: 14b section 6.4. */
#include "cluster/tree.h"

#define BT_PV_BOUND_BY_CONTROLLER "pv.kubernetes.io/bound-by-controller"
#define BT_PV_BIND_COMPLETED "pv.kubernetes.io/bind-completed"
#define BT_PV_PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define BT_PV_PROVISIONER "volume.kubernetes.io/storage-provisioner"
#define BT_PV_PROVISIONER_BETA "volume.beta.kubernetes.io/storage-provisioner"
#define BT_PV_SELECTED_NODE "volume.kubernetes.io/selected-node"
#define BT_PV_CLASS_BETA "volume.beta.kubernetes.io/storage-class"
#define BT_PV_NO_PROVISIONER "kubernetes.io/no-provisioner"

/**
 * Returns the class of a volume or claim: the value of the old annotation, else
 * spec.storageClassName. Absent if the object has neither.
 */
struct bt_str bt_pv_class_of(const struct bt_json_value *object);
/** Returns NULL if there is no class of this name or the name is "". */
const struct bt_json_value *bt_pv_read_class(
	struct bt_hub *hub, struct bt_str name, struct bt_arena *arena);
bool bt_pv_waits_for_consumer(const struct bt_json_value *class_);
/** Sets claimRef in the spec of a volume to the claim. */
void bt_pv_set_claim_reference(
	struct bt_arena *arena, struct bt_json_value *spec, const struct bt_json_value *claim);

/**
 * Returns the name of the claim that a pod's volume (an entry of spec.volumes) uses; "" if none.
 */
struct bt_str bt_pv_claim_of_volume(
	struct bt_arena *arena, struct bt_str pod_name, const struct bt_json_value *volume);
#endif

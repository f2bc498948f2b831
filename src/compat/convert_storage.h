/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_CONVERT_STORAGE_H
#define BT_COMPAT_CONVERT_STORAGE_H
/**
 * Conversions like those of lib/convert.h, for volumes, claims, CSI objects and
 * PodDisruptionBudgets.
 */
#include "api/storage.h"
#include "api/types.h"
#include "berth/csi_translator.h"
#include "berth/lister.h"
#include "berth/storage.h"
#include "lib/convert.h"

struct berth_pdb; /* berth/preemption.h */

BT_LIB_CONVERT(pv, bt_persistent_volume, berth_pv)
BT_LIB_CONVERT(pvc, bt_persistent_volume_claim, berth_pvc)
BT_LIB_CONVERT(storage_class, bt_storage_class, berth_storage_class)
BT_LIB_CONVERT(csi_node, bt_csi_node, berth_csi_node)
BT_LIB_CONVERT(csi_driver, bt_csi_driver, berth_csi_driver)
BT_LIB_CONVERT(csi_storage_capacity, bt_csi_storage_capacity, berth_csi_storage_capacity)
BT_LIB_CONVERT(pdb, bt_pod_disruption_budget, berth_pdb)
BT_LIB_CONVERT(volume, bt_volume, berth_volume)

/**
 * Whether the lister is the result of berth_handle_lister for this handle and kind. Also true for a
 * lister without functions, which stands for the handle's lister.
 */
bool bt_lister_is_of_handle(
	const struct berth_lister *lister, const struct berth_handle *handle, const char *kind);
#endif

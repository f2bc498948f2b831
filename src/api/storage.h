/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_STORAGE_H
#define BT_API_STORAGE_H
/** Volumes and claims. Spec: 01 sections 4.4 and 4.7. */
#include "api/types.h"

/**
 * Returns the class of a claim or volume: the beta annotation if it exists, else the field. Spec 01
 * section 5.17.
 */
struct bt_str bt_persistent_volume_claim_class(const struct bt_persistent_volume_claim *claim);
struct bt_str bt_persistent_volume_class(const struct bt_persistent_volume *volume);
#endif

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

/** This annotation with value "true" makes a StorageClass a default class. */
#define BT_DEFAULT_CLASS "storageclass.kubernetes.io/is-default-class"

/** The default class among the classes offered so far. Zeroed: none. Spec 14b section 2.3. */
struct bt_default_class {
	struct bt_str name; /* borrowed */
	struct bt_time created;
};

/**
 * Takes the class if it is a default class and better than *best: newer, or equally new and first
 * by name. mark: the value of annotation BT_DEFAULT_CLASS.
 */
void bt_default_class_offer(struct bt_default_class *best, struct bt_str name, struct bt_str mark,
	const struct bt_time *created);
#endif

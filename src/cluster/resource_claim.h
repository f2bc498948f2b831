/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_RESOURCE_CLAIM_H
#define BT_CLUSTER_RESOURCE_CLAIM_H
/**
 * Reads claims of dynamic resource allocation, for controllers and node agents. Spec: 14b section
 * 6.8, 12 section 3.3.
 */
#include <stdbool.h>

#include "codec/json.h"

/**
 * Finds the name of the claim that an entry of the pod's spec.resourceClaims uses. *out_name "":
 * the entry needs no claim. Returns false if the claim is not created yet.
 */
bool bt_claim_of_entry(const struct bt_json_value *pod, const struct bt_json_value *entry,
	struct bt_str *out_name);
/** Returns whether the claim has an allocation. claim: may be NULL. */
bool bt_claim_is_allocated(const struct bt_json_value *claim);
/** Returns whether status.reservedFor has this uid. */
bool bt_claim_is_reserved(const struct bt_json_value *claim, struct bt_str uid);
#endif

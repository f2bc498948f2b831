/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_RESOURCE_CLAIM_H
#define BT_CLUSTER_RESOURCE_CLAIM_H
/** Claims of dynamic resource allocation, as controllers and node agents see them. Spec: 14b
 * section 6.8, 12 section 3.3. */
#include <stdbool.h>

#include "codec/json.h"

/** The claim of an entry of a pod's spec.resourceClaims; "": it needs none. false: its claim is not
 * made yet. */
bool bt_claim_of_entry(const struct bt_json_value *pod, const struct bt_json_value *entry,
	struct bt_str *out_name);
/** It has devices. NULL: no claim. */
bool bt_claim_is_allocated(const struct bt_json_value *claim);
/** status.reservedFor has this uid. */
bool bt_claim_is_reserved(const struct bt_json_value *claim, struct bt_str uid);
#endif

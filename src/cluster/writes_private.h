/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_WRITES_PRIVATE_H
#define BT_CLUSTER_WRITES_PRIVATE_H
/** Shared by writes.c and writes_claim.c. */
#include "cluster/writes.h"

const struct bt_api_resource *bt_cluster_writes_builtin(
	const struct bt_cluster_writes *writes, const char *group, const char *name);
/** By the scheduler's user. */
struct bt_api_request bt_cluster_writes_request(
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name);
/** 0, or BERTH_ERR_* with the API's text. out_object (may be NULL): as it is now, a reference, or
 * untouched. */
int bt_cluster_writes_perform(struct bt_cluster_writes *writes,
	const struct bt_api_request *request, struct bt_stored **out_object,
	struct berth_error *err);
/** text: of the strategic patch. */
int bt_cluster_writes_patch_pod_status(struct bt_cluster_writes *writes, struct bt_str namespace_,
	struct bt_str name, struct bt_str text, struct berth_error *err);

/** --- writes_claim.c --- */
void bt_cluster_writes_init_claims(struct bt_cluster_writes *writes);
#endif

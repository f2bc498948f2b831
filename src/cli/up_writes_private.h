/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_UP_WRITES_PRIVATE_H
#define BT_CLI_UP_WRITES_PRIVATE_H
/** Shared by the files of up_writes only. */
#include "cli/up_writes.h"

const struct bt_api_resource *bt_up_builtin(
	const struct bt_up_writes *writes, const char *group, const char *name);
/** By the scheduler's user. */
struct bt_api_request bt_up_request(
	const struct bt_api_resource *resource, struct bt_str namespace_, struct bt_str name);
/** 0, or BERTH_ERR_* with the API's text. out_object (may be NULL): as it is now, a reference, or
 * untouched. */
int bt_up_perform(struct bt_up_writes *writes, const struct bt_api_request *request,
	struct bt_stored **out_object, struct berth_error *err);
/** text: of the strategic patch. */
int bt_up_patch_pod_status(struct bt_up_writes *writes, struct bt_str namespace_,
	struct bt_str name, struct bt_str text, struct berth_error *err);

/** up_writes_claim.c */
void bt_up_writes_init_claims(struct bt_up_writes *writes);
#endif

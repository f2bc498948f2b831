/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_EXPLAIN_ADVICE_DEVICES_H
#define BT_EXPLAIN_ADVICE_DEVICES_H
/** Between the files of the advice about DynamicResources. */
#include "api/resource_claim.h"
#include "explain/advice.h"

/* advice_device_claims.c */

/** What PreEnqueue or PreFilter has against a claim of the pod; nothing known lifts it. */
void bt_advise_claims(struct bt_advice *advice);

/* advice_device_leavers.c */

/** One pod of the node whose leaving is enough, if there is one: it lifts the rejection. */
void bt_advise_leaver(struct bt_advice *advice);
/** The same for the one pod that keeps an allocated claim where it is. */
void bt_advise_holder(struct bt_advice *advice, const struct bt_resource_claim *claim);
#endif

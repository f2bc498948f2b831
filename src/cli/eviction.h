/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_EVICTION_H
#define BT_CLI_EVICTION_H
/**
 * Preemption carried out on a state that nobody else changes: what an API server, kubelets and
 * watches would do over time is done at once. Spec: 08 section 11.
 */
#include "sched/engine.h"

/** Called for each victim before it goes. */
typedef void (*bt_eviction_visit)(void *context, const struct bt_pod_info *victim);

/**
 * A cycle ended without a node for the pod: remove the victims it chose, and those of an earlier
 * attempt that are still on their way out, from the state. Returns how many, 0 when preemption
 * cannot help. result is of the last cycle; the state may change only afterwards. visit may be
 * NULL.
 */
uint32_t bt_eviction_run(struct bt_engine *engine, const struct bt_pod_info *preemptor,
	const struct bt_schedule_result *result, bt_eviction_visit visit, void *context);
/**
 * What the controller of disruption budgets would do when the pod has gone: each budget that covers
 * it allows one disruption less, down to none.
 */
void bt_eviction_charge_budgets(struct bt_state *state, const struct bt_pod_info *victim);
#endif

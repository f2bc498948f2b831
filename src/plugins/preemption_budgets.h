/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_BUDGETS_H
#define BT_PLUGINS_PREEMPTION_BUDGETS_H
/**
 * PodDisruptionBudgets for preemption. Selectors are parsed once; the number of disruptions left
 * starts anew for each node. Spec: 08 section 9.1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/arena.h"
#include "base/vec.h"
#include "state/pod_info.h"

struct bt_pod_disruption_budget; /* api/types.h */

/** A budget with a valid selector that is not empty. */
struct bt_budget {
	struct bt_str namespace_;
	struct bt_selector selector;
	const struct bt_str *disrupted_pods; /* names, ascending */
	uint32_t disrupted_pod_count;
	int32_t allowed; /* status.disruptionsAllowed */
	int32_t left;    /* disruptions left in `round` */
	uint64_t round;
};

/**
 * Index entry of a budget that only covers pods with a certain label value: hash of namespace, key
 * and value.
 */
struct bt_budget_key {
	uint64_t hash;
	uint32_t budget;
};

/** Each budget has either an entry in `keys` or its index in `others`. */
struct bt_budgets {
	struct bt_arena arena;             /* memory that the budgets point to */
	BT_VEC(struct bt_budget) budgets;  /* ascending by namespace */
	BT_VEC(struct bt_budget_key) keys; /* ascending by hash, then budget */
	BT_VEC(uint32_t) others; /* budgets without an entry in keys: indices, ascending */
	uint64_t version;        /* version of the stored objects */
	bool loaded;
	/** Current round. round++ resets all charges, because nodes are independent. */
	uint64_t round;
};

void bt_budgets_finish(struct bt_budgets *budgets);
/**
 * Update from the budgets in the object store. Does nothing if the stored budgets have not changed.
 */
void bt_budgets_refresh(struct bt_budgets *budgets, struct bt_state *state);
/**
 * Use these budgets instead of the stored budgets until the next refresh or load. Texts are
 * borrowed for this time.
 */
void bt_budgets_load(struct bt_budgets *budgets,
	const struct bt_pod_disruption_budget *const *objects, uint32_t count);
/**
 * Charge every budget that covers the pod. Returns true if at least one of these budgets had no
 * disruption left in this round.
 */
bool bt_budgets_charge(struct bt_budgets *budgets, const struct bt_pod_info *pod);
/**
 * Does the same as bt_budgets_charge, but stops at the first budget without a disruption left. Used
 * for pods that are evicted together (spec 08 section 14 step 5).
 */
bool bt_budgets_charge_until_violated(struct bt_budgets *budgets, const struct bt_pod_info *pod);
#endif

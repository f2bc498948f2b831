/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_PREEMPTION_BUDGETS_H
#define BT_PLUGINS_PREEMPTION_BUDGETS_H
/**
 * PodDisruptionBudgets as preemption reads them: selectors parsed once, budgets charged per node.
 * Spec: 08 section 9.1.
 */
#include <stdbool.h>
#include <stdint.h>

#include "api/selector.h"
#include "base/arena.h"
#include "base/vec.h"
#include "state/pod_info.h"

struct bt_pod_disruption_budget; /* api/types.h */

/** A budget whose selector can match something. */
struct bt_budget {
	struct bt_str namespace_;
	struct bt_selector selector;
	const struct bt_str *disrupted_pods; /* names, ascending */
	uint32_t disrupted_pod_count;
	int32_t allowed; /* status.disruptionsAllowed */
	int32_t left;    /* of the round it was last charged in */
	uint64_t round;
};

/** A budget that only covers pods with one certain label: hash of namespace, key and value. */
struct bt_budget_key {
	uint64_t hash;
	uint32_t budget;
};

/** Each budget is found by a key or listed among the others. */
struct bt_budgets {
	struct bt_arena arena;             /* what the budgets point to */
	BT_VEC(struct bt_budget) budgets;  /* ascending by namespace */
	BT_VEC(struct bt_budget_key) keys; /* ascending by hash, then budget */
	BT_VEC(uint32_t) others;           /* ascending */
	uint64_t version;                  /* of the stored objects */
	bool loaded;
	uint64_t round;
};

void bt_budgets_finish(struct bt_budgets *budgets);
/** Follow the stored objects. No cost while they stay the same. */
void bt_budgets_refresh(struct bt_budgets *budgets, struct bt_state *state);
/** These budgets in place of the stored ones, until the next refresh or load; texts are borrowed
 * until then. */
void bt_budgets_load(struct bt_budgets *budgets,
	const struct bt_pod_disruption_budget *const *objects, uint32_t count);
/** All budgets are whole again: nodes are looked at independently of each other. */
void bt_budgets_begin_round(struct bt_budgets *budgets);
/** Charge every budget that covers the pod; true when one of them has nothing left for it. */
bool bt_budgets_charge(struct bt_budgets *budgets, const struct bt_pod_info *pod);
/**
 * The same for one pod of a unit that goes as a whole: stops at the first budget that has nothing
 * left (spec 08 section 14 step 5).
 */
bool bt_budgets_charge_until_violated(struct bt_budgets *budgets, const struct bt_pod_info *pod);
#endif

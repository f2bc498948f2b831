/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_COMPAT_PREEMPTION_H
#define BT_COMPAT_PREEMPTION_H
/** What preemption.c and preemption_parts.c share. */
#include "berth/preemption.h"
#include "framework/framework.h"
#include "compat/convert_storage.h"
#include "plugins/preemption_evaluator.h"

struct bt_own_preemption {
	struct berth_preemption outside; /* first: public pointers point here */
	struct bt_evaluator evaluator;
	/* The budgets that a dry run has loaded into the evaluator; NULL outside of dry runs. */
	const struct berth_pdb *const *loaded;
	uint32_t loaded_count;
};

static inline struct bt_own_preemption *bt_own_preemption_of(
	const struct berth_preemption *preemption)
{
	return (struct bt_own_preemption *)(uintptr_t)preemption;
}

/**
 * Returns the evaluator. Updates its handle and plugin name from the public structure first,
 * because the caller may have changed them there.
 */
struct bt_evaluator *bt_lib_evaluator(const struct berth_preemption *preemption);
/** Loads these budgets into the evaluator. */
void bt_lib_load_budgets(
	struct berth_preemption *preemption, const struct berth_pdb *const *pdbs, uint32_t count);
/** Returns the victims of an internal candidate in the public form, in the arena. */
struct berth_victims bt_lib_victims_of(const struct bt_state *state,
	const struct bt_preemption_candidate *candidate, struct bt_arena *arena);
/**
 * Returns a candidate in the internal form, in the arena. Victims that are not in the state are
 * left out.
 */
struct bt_preemption_candidate bt_lib_candidate_of(const struct bt_state *state,
	struct bt_str node_name, const struct berth_victims *victims, struct bt_arena *arena);

/**
 * Returns the caller's functions, with the default functions in place of those that the caller did
 * not set. In the result, only ordered_score_funcs may be NULL.
 */
struct berth_preemption_ops bt_lib_preemption_ops(const struct berth_preemption *preemption);
#endif

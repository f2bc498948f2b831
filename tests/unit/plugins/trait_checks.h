/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_TRAIT_CHECKS_H
#define BT_TESTS_UNIT_PLUGINS_TRAIT_CHECKS_H
/** Checks of the rules for node traits in framework/plugin.h. */
#include "framework/plugin.h"

#define KEPT_TRAITS 16
#define KEPT_SLOTS 64

/** Trait values at the last check. */
struct kept_traits {
	struct {
		uint64_t identity[3];
		uint64_t values[KEPT_SLOTS];
	} items[KEPT_TRAITS];
	uint32_t count;
	uint64_t log_sequence;
	uint32_t kept; /* unchanged slots over all calls: tests assert that some were checked */
};

/** Returns whether all traits of the two slots agree. */
bool traits_agree(const struct bt_trait_list *traits, uint32_t a, uint32_t b);
/**
 * The value of a trait for a slot must stay unchanged as long as the trait has the same identity
 * and the slot has no change that the trait reads. Returns a slot that violates this rule, or
 * BT_SLOT_NONE. Stores the present values in kept for the next call.
 */
uint32_t traits_check_kept(
	struct kept_traits *kept, const struct bt_trait_list *traits, const struct bt_state *state);
#endif

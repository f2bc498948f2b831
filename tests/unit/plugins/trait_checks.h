/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_PLUGINS_TRAIT_CHECKS_H
#define BT_TESTS_UNIT_PLUGINS_TRAIT_CHECKS_H
/** What framework/plugin.h promises of the traits of nodes. */
#include "framework/plugin.h"

#define KEPT_TRAITS 16
#define KEPT_SLOTS 64

/** Traits of one question as they were when it was asked last. */
struct kept_traits {
	struct {
		uint64_t identity[3];
		uint64_t values[KEPT_SLOTS];
	} items[KEPT_TRAITS];
	uint32_t count;
	uint64_t log_sequence;
	uint32_t kept; /* slots that kept their value since, over all calls: the check can fail */
};

/** All traits of the two slots agree. */
bool traits_agree(const struct bt_trait_list *traits, uint32_t a, uint32_t b);
/**
 * A slot without a change that the trait reads has the value that it had under the same identity.
 * Returns the slot that has not, or BT_SLOT_NONE; kept then holds the traits of now.
 */
uint32_t traits_check_kept(
	struct kept_traits *kept, const struct bt_trait_list *traits, const struct bt_state *state);
#endif

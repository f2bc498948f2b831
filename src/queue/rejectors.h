/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_QUEUE_REJECTORS_H
#define BT_QUEUE_REJECTORS_H
/**
 * Sets of what can reject a pod of one profile: its plugins by index, and two that have no
 * instance. Spec: 04 sections 3.1 and 11.
 */
#include <stdbool.h>
#include <stdint.h>

#include "framework/cycle_state.h"

/** All extenders together (spec 04 section 11). */
#define BT_REJECTOR_EXTENDER BT_PLUGINS_MAX
/** The empty plugin name: a waiting pod whose deletion began (spec 04 section 11). */
#define BT_REJECTOR_NAMELESS (BT_PLUGINS_MAX + 1)
#define BT_REJECTOR__COUNT (BT_PLUGINS_MAX + 2)

#define BT_REJECTOR_WORDS ((BT_REJECTOR__COUNT + 63) / 64)

struct bt_rejectors {
	uint64_t words[BT_REJECTOR_WORDS];
};

/** The same plugins. */
static inline struct bt_rejectors bt_rejectors_of_plugins(const struct bt_plugin_set *plugins)
{
	struct bt_rejectors set = {{0}};

	for (uint32_t i = 0; i < BT_PLUGINS_MAX / 64; i++) {
		set.words[i] = plugins->words[i];
	}
	return set;
}

/** rejector: below BT_REJECTOR__COUNT. */
static inline bool bt_rejectors_has(const struct bt_rejectors *set, uint32_t rejector)
{
	return (set->words[rejector >> 6] >> (rejector & 63) & 1) != 0;
}

/** Also when it is a member already. */
static inline void bt_rejectors_add(struct bt_rejectors *set, uint32_t rejector)
{
	set->words[rejector >> 6] |= UINT64_C(1) << (rejector & 63);
}

/** An empty set of rejectors: the attempt failed by an error (spec 04 section 11). */
static inline bool bt_rejectors_is_empty(const struct bt_rejectors *set)
{
	uint64_t any = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		any |= set->words[i];
	}
	return any == 0;
}

/** The same members. */
static inline bool bt_rejectors_equal(const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t difference = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		difference |= a->words[i] ^ b->words[i];
	}
	return difference == 0;
}

/** They have a member in common. */
static inline bool bt_rejectors_meet(const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	uint64_t common = 0;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		common |= a->words[i] & b->words[i];
	}
	return common != 0;
}

/** Members of either. */
static inline struct bt_rejectors bt_rejectors_union(
	const struct bt_rejectors *a, const struct bt_rejectors *b)
{
	struct bt_rejectors set;

	for (uint32_t i = 0; i < BT_REJECTOR_WORDS; i++) {
		set.words[i] = a->words[i] | b->words[i];
	}
	return set;
}

/** The first member at or after `from`, or BT_REJECTOR__COUNT. */
static inline uint32_t bt_rejectors_next(const struct bt_rejectors *set, uint32_t from)
{
	for (uint32_t word = from >> 6; word < BT_REJECTOR_WORDS; word++) {
		uint64_t rest = set->words[word];

		if (word == from >> 6) {
			rest &= ~UINT64_C(0) << (from & 63);
		}
		if (rest != 0) {
			return word * 64 + BT_CTZ64(rest);
		}
	}
	return BT_REJECTOR__COUNT;
}
#endif

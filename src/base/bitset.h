/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_BITSET_H
#define BT_BASE_BITSET_H
/**
 * Dense sets of small integers (node slots): 64-bit words, bits beyond the size always 0. All-zero
 * memory is an empty set.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"

struct bt_bitset {
	uint64_t *words;
	uint32_t word_count;
	uint32_t bit_count;
};

/** Grows or shrinks the set to bit_count bits; new bits are 0. */
void bt_bitset_resize(struct bt_bitset *set, uint32_t bit_count);
void bt_bitset_finish(struct bt_bitset *set);
void bt_bitset_clear(struct bt_bitset *set);
/** Returns the index of the first set bit that is not below `from`; UINT32_MAX: there is none. */
uint32_t bt_bitset_next(const struct bt_bitset *set, uint32_t from);

static inline bool bt_bitset_get(const struct bt_bitset *set, uint32_t bit)
{
	return bit < set->bit_count && (set->words[bit >> 6] >> (bit & 63) & 1) != 0;
}

static inline void bt_bitset_assign(struct bt_bitset *set, uint32_t bit, bool value)
{
	uint64_t mask = UINT64_C(1) << (bit & 63);
	set->words[bit >> 6] = value ? set->words[bit >> 6] | mask : set->words[bit >> 6] & ~mask;
}
#endif

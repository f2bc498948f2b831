/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_SELECT_HOST_H
#define BT_SCHED_SELECT_HOST_H
/**
 * The choice among equally good nodes. Upstream builds a binary heap over the feasible nodes in
 * search order and pops the heap (spec 03 section 7). Without extenders the popped node is the
 * first of the best nodes in pre-order of the implicit tree: a parent comes before its children,
 * and a left subtree before the right subtree. So only the ranks of the best nodes matter. With
 * extenders, each node that an extender scored has a random number that is compared before the
 * rank.
 */
#include <stdint.h>

#include "base/compiler.h"

/**
 * A number whose order is the pre-order of heap positions: the path from the root, then the length
 * of the path.
 */
static inline uint64_t bt_heap_order(uint32_t position)
{
	uint64_t path = (uint64_t)position + 1;
	uint32_t unused_bits = BT_CLZ64(path);
	return path << unused_bits | (63 - unused_bits);
}
/**
 * The index that upstream's heap pops first among totals[0..count); count > 0. Among equal totals
 * the largest number comes first. numbers NULL: all numbers are equal. O(count).
 */
uint32_t bt_heap_choose(const int64_t *totals, const uint64_t *numbers, uint32_t count);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/vec.h"

#define CAPACITY_MIN UINT32_C(8)

uint32_t bt_vec_grown_capacity(uint32_t capacity, uint64_t needed)
{
	uint64_t grown = capacity < CAPACITY_MIN ? CAPACITY_MIN : (uint64_t)capacity * 2;

	if (needed > UINT32_MAX) {
		bt_panic("a vector cannot hold %llu elements", (unsigned long long)needed);
	}
	if (grown < needed) {
		grown = needed;
	}
	return grown > UINT32_MAX ? UINT32_MAX : (uint32_t)grown;
}

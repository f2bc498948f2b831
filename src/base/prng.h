/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_PRNG_H
#define BT_BASE_PRNG_H
/** Seeded pseudo-random numbers (xoshiro256**). A seed gives the same sequence on every machine. */
#include <stdint.h>

struct bt_prng {
	uint64_t state[4];
};

void bt_prng_init(struct bt_prng *prng, uint64_t seed);
uint64_t bt_prng_next(struct bt_prng *prng);
/** Returns a uniform number in [0, bound); bound > 0. */
uint64_t bt_prng_below(struct bt_prng *prng, uint64_t bound);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/prng.h"

#include "base/assert.h"

static uint64_t rotate_left(uint64_t word, unsigned int bits)
{
	return word << bits | word >> (64 - bits);
}

void bt_prng_init(struct bt_prng *prng, uint64_t seed)
{
	for (unsigned int i = 0; i < 4; i++) {
		/* splitmix64: spreads any seed, also 0, over the whole state. */
		uint64_t word = seed += UINT64_C(0x9e3779b97f4a7c15);

		word = (word ^ word >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
		word = (word ^ word >> 27) * UINT64_C(0x94d049bb133111eb);
		prng->state[i] = word ^ word >> 31;
	}
}

uint64_t bt_prng_next(struct bt_prng *prng)
{
	uint64_t *state = prng->state;
	uint64_t result = rotate_left(state[1] * 5, 7) * 9;
	uint64_t shifted = state[1] << 17;

	state[2] ^= state[0];
	state[3] ^= state[1];
	state[1] ^= state[2];
	state[0] ^= state[3];
	state[2] ^= shifted;
	state[3] = rotate_left(state[3], 45);
	return result;
}

uint64_t bt_prng_below(struct bt_prng *prng, uint64_t bound)
{
	uint64_t word;

	BT_ASSERT(bound > 0);
	/*
	 * `rejected` is 2^64 modulo bound. Words below `rejected` are drawn again, because they
	 * would make some results more likely than others.
	 */
	uint64_t rejected = (UINT64_MAX - bound + 1) % bound;
	do {
		word = bt_prng_next(prng);
	} while (word < rejected);
	return word % bound;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/fifo.h"

#include "base/prng.h"
#include "test_main.h"

struct numbers {
	BT_FIFO(uint32_t) queue;
};

/** Pushes and removes numbers at random; they must come out in the order they went in. */
static void run(struct numbers *numbers, uint64_t seed, uint32_t steps)
{
	struct bt_prng prng;
	uint32_t next_in = 0;
	uint32_t next_out = 0;

	bt_prng_init(&prng, seed);
	for (uint32_t i = 0; i < steps; i++) {
		/* Phases of 1000 steps: the queue grows, then shrinks. */
		if (bt_prng_below(&prng, 8) < ((i / 1000) % 2 == 0 ? 6 : 2)) {
			bt_fifo_push(&numbers->queue, next_in++);
		} else if (bt_fifo_count(&numbers->queue) != 0) {
			if (bt_fifo_at(&numbers->queue, 0) != next_out) {
				ck_abort_msg("seed %u, step %u", (unsigned)seed, i);
			}
			next_out++;
			bt_fifo_drop_first(&numbers->queue);
		}
		uint32_t count = bt_fifo_count(&numbers->queue);
		if (count != next_in - next_out ||
			(count != 0 && bt_fifo_at(&numbers->queue, count - 1) != next_in - 1)) {
			ck_abort_msg("seed %u, step %u", (unsigned)seed, i);
		}
	}
}

START_TEST(test_fifo__keeps_the_order)
{
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct numbers numbers = {0};

		run(&numbers, seed, 10000);
		bt_fifo_finish(&numbers.queue);
		ck_assert_uint_eq(bt_fifo_count(&numbers.queue), 0);
	}
}
END_TEST

START_TEST(test_fifo__memory_stays_when_it_never_empties)
{
	struct numbers numbers = {0};

	for (uint32_t i = 0; i < 10; i++) {
		bt_fifo_push(&numbers.queue, i);
	}
	for (uint32_t i = 10; i < 100000; i++) {
		bt_fifo_push(&numbers.queue, i);
		bt_fifo_drop_first(&numbers.queue);
	}
	ck_assert_uint_eq(bt_fifo_count(&numbers.queue), 10);
	ck_assert_uint_le(numbers.queue.list.capacity, 4 * BT_FIFO_COMPACT_MIN);
	bt_fifo_finish(&numbers.queue);
}
END_TEST

BT_TEST_MAIN("fifo", test_fifo__keeps_the_order, test_fifo__memory_stays_when_it_never_empties)

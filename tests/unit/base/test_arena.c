/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <stdalign.h>

#include "base/prng.h"
#include "test_main.h"

START_TEST(test_arena__zero_memory_is_usable)
{
	struct bt_arena arena = {0};
	int *number = BT_ARENA_NEW(&arena, int);

	ck_assert_int_eq(*number, 0);
	ck_assert_uint_gt(arena.total_bytes, 0);
	bt_arena_reset(&arena);
	bt_arena_finish(&arena);
	ck_assert_uint_eq(arena.total_bytes, 0);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_arena__reset_of_an_unused_arena)
{
	struct bt_arena arena;

	bt_arena_init(&arena, 100);
	bt_arena_reset(&arena);
	bt_arena_finish(&arena);
}
END_TEST

/* Many allocations of random sizes, each filled with its own byte: none may overlap another. */
START_TEST(test_arena__random_allocations_do_not_overlap)
{
	enum { COUNT = 600 };
	static unsigned char *blocks[COUNT];
	static size_t sizes[COUNT];
	const uint64_t seed = 4711;
	struct bt_prng prng;
	struct bt_arena arena;

	bt_prng_init(&prng, seed);
	bt_arena_init(&arena, 128);
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < COUNT; i++) {
			bool text = bt_prng_below(&prng, 2) != 0;
			uint64_t bound = bt_prng_below(&prng, 20) == 0 ? 9000 : 90;
			sizes[i] = (size_t)bt_prng_below(&prng, bound);
			blocks[i] = text ? (unsigned char *)bt_arena_alloc_bytes(&arena, sizes[i])
					 : bt_arena_alloc(&arena, sizes[i]);
			ck_assert_msg(text || (uintptr_t)blocks[i] % alignof(max_align_t) == 0,
				"seed %llu round %d block %d is not aligned",
				(unsigned long long)seed, round, i);
			memset(blocks[i], i & 0xff, sizes[i]);
		}
		for (int i = 0; i < COUNT; i++) {
			for (size_t at = 0; at < sizes[i]; at++) {
				if (blocks[i][at] != (i & 0xff)) {
					ck_abort_msg("seed %llu round %d block %d byte %zu",
						(unsigned long long)seed, round, i, at);
				}
			}
		}
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_arena__equal_cycles_stop_asking_for_memory)
{
	struct bt_arena arena = {0};
	size_t settled = 0;

	for (int cycle = 0; cycle < 100; cycle++) {
		for (int i = 0; i < 1000; i++) {
			ck_assert_ptr_nonnull(bt_arena_alloc(&arena, 40));
		}
		if (cycle == 20) {
			settled = arena.total_bytes;
		}
		ck_assert(cycle <= 20 || arena.total_bytes == settled);
		bt_arena_reset(&arena);
	}
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_arena__large_allocation_keeps_the_open_chunk)
{
	struct bt_arena arena;
	char *before;
	char *after;

	bt_arena_init(&arena, 1024);
	before = bt_arena_alloc_bytes(&arena, 8);
	memset(bt_arena_alloc_bytes(&arena, 100000), 1, 100000);
	after = bt_arena_alloc_bytes(&arena, 8);
	ck_assert(after > before && after < before + 1024);
	bt_arena_finish(&arena);
}
END_TEST

START_TEST(test_arena__text_is_terminated)
{
	struct bt_arena arena = {0};
	struct bt_str copy = bt_arena_str(&arena, (struct bt_str){"a\0b---", 3});
	struct bt_str empty = bt_arena_str(&arena, BT_STR(""));
	struct bt_str absent = bt_arena_str(&arena, (struct bt_str){NULL, 0});
	struct bt_str printed = bt_arena_printf(&arena, "%d/%s", 12, "nodes");

	ck_assert_int_eq(memcmp(copy.data, "a\0b", 4), 0);
	ck_assert_uint_eq(copy.length, 3);
	ck_assert_ptr_nonnull(empty.data);
	ck_assert_int_eq(empty.data[0], 0);
	ck_assert_ptr_null(absent.data);
	ck_assert_str_eq(printed.data, "12/nodes");
	ck_assert_uint_eq(printed.length, 8);
	bt_arena_finish(&arena);
}
END_TEST

#if BT_HAVE_ASAN
START_TEST(test_arena__memory_is_poisoned_outside_allocations)
{
	struct bt_arena arena = {0};
	char *text = bt_arena_alloc_bytes(&arena, 5);

	ck_assert(!__asan_address_is_poisoned(text + 4));
	ck_assert(__asan_address_is_poisoned(text + 5));
	bt_arena_reset(&arena);
	ck_assert(__asan_address_is_poisoned(text));
	bt_arena_finish(&arena);
}
END_TEST
#define POISON_TEST , test_arena__memory_is_poisoned_outside_allocations
#else
#define POISON_TEST
#endif

START_TEST(test_arena__begins_in_memory_of_the_caller)
{
	_Alignas(max_align_t) char memory[256];
	struct bt_arena arena;
	char *inside;
	char *beyond;

	bt_arena_init_with(&arena, memory, sizeof(memory));
	inside = bt_arena_alloc(&arena, 100);
	ck_assert(inside >= memory && inside + 100 <= memory + sizeof(memory));
	ck_assert_ptr_null(arena.chunks);
	beyond = bt_arena_alloc(&arena, 300);
	memset(inside, 1, 100);
	memset(beyond, 2, 300);
	ck_assert_ptr_nonnull(arena.chunks);
	bt_arena_finish(&arena);
	ck_assert_uint_eq(arena.total_bytes, 0);
}
END_TEST

BT_TEST_MAIN("arena", test_arena__zero_memory_is_usable, test_arena__reset_of_an_unused_arena,
	test_arena__random_allocations_do_not_overlap,
	test_arena__equal_cycles_stop_asking_for_memory,
	test_arena__large_allocation_keeps_the_open_chunk,
	test_arena__text_is_terminated POISON_TEST, test_arena__begins_in_memory_of_the_caller)

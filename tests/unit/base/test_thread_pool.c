/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/thread_pool.h"
#include "test_main.h"

enum { PARTS_MAX = 300 };

struct task {
	uint32_t times[PARTS_MAX]; /* part i writes entry i only */
	uint64_t sums[PARTS_MAX];
};

static void do_part(void *argument, uint32_t part)
{
	struct task *task = argument;
	task->times[part]++;
	for (uint64_t i = 0; i < 2000; i++) {
		task->sums[part] += i * part;
	}
}

static void run_parts(const struct bt_workers *workers, uint32_t part_count)
{
	struct task *task = BT_NEW(struct task);
	workers->run(workers->context, do_part, task, part_count);
	for (uint32_t part = 0; part < PARTS_MAX; part++) {
		uint64_t sum = part < part_count ? UINT64_C(1999000) * part : 0;
		if (task->times[part] != (part < part_count) || task->sums[part] != sum) {
			ck_abort_msg("part %u of %u", part, part_count);
		}
	}
	bt_free(task);
}

START_TEST(test_thread_pool__each_part_once)
{
	static const uint32_t threads[] = {1, 2, 3, 8, 40};
	for (size_t i = 0; i < BT_ARRAY_LENGTH(threads); i++) {
		struct bt_thread_pool *pool;
		ck_assert_int_eq(bt_thread_pool_create(threads[i], &pool, NULL), 0);
		for (uint32_t round = 0; round < 200; round++) {
			run_parts(bt_thread_pool_workers(pool), round * 7 % PARTS_MAX);
		}
		run_parts(bt_thread_pool_workers(pool), 0);
		run_parts(bt_thread_pool_workers(pool), PARTS_MAX);
		bt_thread_pool_destroy(pool);
	}
}
END_TEST

START_TEST(test_thread_pool__without_work)
{
	struct bt_thread_pool *pool;
	for (uint32_t round = 0; round < 50; round++) {
		ck_assert_int_eq(bt_thread_pool_create(1 + round % 4, &pool, NULL), 0);
		bt_thread_pool_destroy(pool);
	}
	bt_thread_pool_destroy(NULL);
}
END_TEST

BT_TEST_MAIN("thread_pool", test_thread_pool__each_part_once, test_thread_pool__without_work)

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/thread_pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

struct bt_thread_pool {
	struct bt_workers workers;
	uint32_t thread_count; /* number of elements of threads */
	pthread_mutex_t lock;
	pthread_cond_t has_work; /* signals that parts remain or the pool ends */
	pthread_cond_t is_done;  /* signals that unfinished is 0 */
	/* The following members are protected by lock. */
	void (*job)(void *argument, uint32_t part);
	void *argument;
	uint32_t part_count;
	uint32_t next_part;
	uint32_t unfinished; /* parts not started or in progress */
	bool ends;
	pthread_t threads[BT_THREADS_MAX];
};

static void check(int result)
{
	BT_ASSERT(result == 0);
}

/** Runs the remaining parts. Call with the lock held; the lock is released while a part runs. */
static void work_locked(struct bt_thread_pool *pool)
{
	while (pool->next_part < pool->part_count) {
		uint32_t part = pool->next_part++;
		void (*job)(void *argument, uint32_t part) = pool->job;
		void *argument = pool->argument;
		check(pthread_mutex_unlock(&pool->lock));
		job(argument, part);
		check(pthread_mutex_lock(&pool->lock));
		if (--pool->unfinished == 0) {
			check(pthread_cond_signal(&pool->is_done));
		}
	}
}

static void *run_thread(void *argument)
{
	struct bt_thread_pool *pool = (struct bt_thread_pool *)argument;
	check(pthread_mutex_lock(&pool->lock));
	while (!pool->ends) {
		work_locked(pool);
		if (!pool->ends) {
			check(pthread_cond_wait(&pool->has_work, &pool->lock));
		}
	}
	check(pthread_mutex_unlock(&pool->lock));
	return NULL;
}

static void run(void *context, void (*job)(void *argument, uint32_t part), void *argument,
	uint32_t part_count)
{
	struct bt_thread_pool *pool = (struct bt_thread_pool *)context;
	check(pthread_mutex_lock(&pool->lock));
	BT_ASSERT(pool->unfinished == 0);
	pool->job = job;
	pool->argument = argument;
	pool->part_count = part_count;
	pool->next_part = 0;
	pool->unfinished = part_count;
	if (part_count > 1) {
		check(pthread_cond_broadcast(&pool->has_work));
	}
	work_locked(pool);
	while (pool->unfinished != 0) {
		check(pthread_cond_wait(&pool->is_done, &pool->lock));
	}
	check(pthread_mutex_unlock(&pool->lock));
}

int bt_thread_pool_create(
	uint32_t thread_count, struct bt_thread_pool **out_pool, struct berth_error *err)
{
	BT_ASSERT(thread_count > 0 && thread_count <= BT_THREADS_MAX);
	struct bt_thread_pool *pool = BT_NEW(struct bt_thread_pool);
	pool->workers = (struct bt_workers){run, pool};
	check(pthread_mutex_init(&pool->lock, NULL));
	check(pthread_cond_init(&pool->has_work, NULL));
	check(pthread_cond_init(&pool->is_done, NULL));
	/* The threads block all signals. */
	sigset_t all;
	sigset_t before;
	int result = 0;
	(void)sigfillset(&all); /* cannot fail */
	check(pthread_sigmask(SIG_SETMASK, &all, &before));
	while (pool->thread_count < thread_count - 1 && result == 0) {
		result = pthread_create(&pool->threads[pool->thread_count], NULL, run_thread, pool);
		pool->thread_count += result == 0;
	}
	check(pthread_sigmask(SIG_SETMASK, &before, NULL));
	if (result != 0) {
		bt_thread_pool_destroy(pool);
		return bt_error_set(
			err, BERTH_ERR_IO, "cannot start a thread: %s", strerror(result));
	}
	*out_pool = pool;
	return 0;
}

void bt_thread_pool_destroy(struct bt_thread_pool *pool)
{
	if (pool == NULL) {
		return;
	}
	check(pthread_mutex_lock(&pool->lock));
	BT_ASSERT(pool->unfinished == 0);
	pool->ends = true;
	check(pthread_cond_broadcast(&pool->has_work));
	check(pthread_mutex_unlock(&pool->lock));
	for (uint32_t i = 0; i < pool->thread_count; i++) {
		check(pthread_join(pool->threads[i], NULL));
	}
	check(pthread_cond_destroy(&pool->is_done));
	check(pthread_cond_destroy(&pool->has_work));
	check(pthread_mutex_destroy(&pool->lock));
	bt_free(pool);
}

const struct bt_workers *bt_thread_pool_workers(const struct bt_thread_pool *pool)
{
	return &pool->workers;
}

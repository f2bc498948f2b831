/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_THREAD_POOL_H
#define BT_BASE_THREAD_POOL_H
/**
 * A pool of worker threads. Idle workers sleep. Only one thread at a time may submit a job, and the
 * submitting thread also runs parts of the job. Submitting and waiting costs about ten
 * microseconds.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "base/workers.h"

#define BT_THREADS_MAX 256

struct bt_thread_pool;

/**
 * thread_count: 1 to BT_THREADS_MAX, including the caller's thread. Workers block all signals.
 * BERTH_ERR_IO: the system cannot create a thread.
 */
BT_MUST_USE int bt_thread_pool_create(
	uint32_t thread_count, struct bt_thread_pool **out_pool, struct berth_error *err);
/** Stops and joins the workers; no job may be running. NULL is accepted. */
void bt_thread_pool_destroy(struct bt_thread_pool *pool);
/** Returns the interface for submitting jobs; borrowed, valid as long as the pool. */
const struct bt_workers *bt_thread_pool_workers(const struct bt_thread_pool *pool);
#endif

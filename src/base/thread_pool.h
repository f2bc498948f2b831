/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_THREAD_POOL_H
#define BT_BASE_THREAD_POOL_H
/**
 * Workers that are threads. Idle ones sleep; one thread at a time may give work, and takes part in
 * it. Handing out and waiting costs some ten microseconds.
 */
#include "base/compiler.h"
#include "base/error.h"
#include "base/workers.h"

#define BT_THREADS_MAX 256

struct bt_thread_pool;

/**
 * thread_count: 1 to BT_THREADS_MAX, the caller's thread counted. They take no signals.
 * BERTH_ERR_IO: the system gives no thread.
 */
BT_MUST_USE int bt_thread_pool_create(
	uint32_t thread_count, struct bt_thread_pool **out_pool, struct berth_error *err);
/** No work is under way. NULL is accepted. */
void bt_thread_pool_destroy(struct bt_thread_pool *pool);
/** Borrowed; lives as long as the pool. */
const struct bt_workers *bt_thread_pool_workers(const struct bt_thread_pool *pool);
#endif

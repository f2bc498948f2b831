/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_WORKERS_H
#define BT_BASE_WORKERS_H
/**
 * Worker threads that the engine's owner provides: the engine itself creates no threads. The number
 * of parts of a job depends on the size of the job only, and each part writes to separate memory,
 * so results do not depend on the number of workers or the order of parts.
 */
#include <stdint.h>

struct bt_workers {
	/**
	 * Calls job(argument, part) once for each part below part_count, in any order and on any
	 * threads, possibly concurrently. Returns when all parts are done. A job must not call run.
	 */
	void (*run)(void *context, void (*job)(void *argument, uint32_t part), void *argument,
		uint32_t part_count);
	void *context;
};
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_WORKERS_H
#define BT_BASE_WORKERS_H
/**
 * Worker threads that an engine's owner provides: the engine itself creates no threads. A job is
 * divided into parts by size alone, and each part writes to its own memory, so results do not
 * depend on the number of workers or on the order of parts.
 */
#include <stdint.h>

struct bt_workers {
	/**
	 * Calls job(argument, part) once for each part below part_count, in any order and on any
	 * threads, several at once; returns when all are done. Jobs must not call run.
	 */
	void (*run)(void *context, void (*job)(void *argument, uint32_t part), void *argument,
		uint32_t part_count);
	void *context;
};
#endif

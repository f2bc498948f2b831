/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_WORKERS_H
#define BT_BASE_WORKERS_H
/**
 * Hands that the owner of an engine lends it: the engine has no threads of its own. What is given
 * to them is cut into parts by size alone, and parts write to places of their own, so results do
 * not depend on how many hands there are or who takes what.
 */
#include <stdint.h>

struct bt_workers {
	/**
	 * Call job(argument, part) once for each part below part_count, in any order, several at
	 * once, on any threads; return when all are done. Jobs do not call run.
	 */
	void (*run)(void *context, void (*job)(void *argument, uint32_t part), void *argument,
		uint32_t part_count);
	void *context;
};
#endif

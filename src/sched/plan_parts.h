/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHED_PLAN_PARTS_H
#define BT_SCHED_PLAN_PARTS_H
/**
 * A pass over all slots in parts, for workers that the engine's owner lends. The parts depend on
 * the number of slots alone and each writes its own slots, so the columns are the same without
 * workers and with any number of them.
 */
#include "sched/engine.h"

struct bt_parts {
	const struct bt_workers *workers; /* NULL: one part, on the caller's thread */
	uint32_t count;
	uint32_t slots_each; /* the last part may have fewer */
	uint32_t slot_count;
};

struct bt_parts bt_parts_of(const struct bt_engine *engine, uint32_t slot_count);
struct bt_slot_range bt_parts_range(const struct bt_parts *parts, uint32_t part);
/** job(argument, part) for each part; returns when all are done. */
void bt_parts_run(
	const struct bt_parts *parts, void (*job)(void *argument, uint32_t part), void *argument);
#endif

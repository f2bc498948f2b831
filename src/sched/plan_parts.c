/* SPDX-License-Identifier: Apache-2.0 */
#include "sched/plan_parts.h"

#include "base/workers.h"

/** A part's columns stay in the second-level cache, and working at it takes longer than handing it
 * out. */
#define PART_SLOTS_DEFAULT 16384
/**
 * A pass over fewer parts is over before the workers are awake: with a second thread the first one
 * spends 0.52 instead of 0.48 ms on a pod of its own shape among 66,000 nodes, 0.60 instead of 0.84
 * among 100,000, and 3.3 instead of 5.3 among 400,000.
 */
#define PARTS_MIN 6

struct bt_parts bt_parts_of(const struct bt_engine *engine, uint32_t slot_count)
{
	uint32_t slots_each = engine->options.part_slots;
	slots_each = slots_each != 0 ? slots_each : PART_SLOTS_DEFAULT;
	if (engine->options.workers == NULL || slot_count / slots_each < PARTS_MIN) {
		return (struct bt_parts){
			.count = 1, .slots_each = slot_count, .slot_count = slot_count};
	}
	return (struct bt_parts){
		.workers = engine->options.workers,
		.count = slot_count / slots_each + (slot_count % slots_each != 0),
		.slots_each = slots_each,
		.slot_count = slot_count,
	};
}

struct bt_slot_range bt_parts_range(const struct bt_parts *parts, uint32_t part)
{
	uint32_t first = part * parts->slots_each;
	uint32_t left = parts->slot_count - first;
	return (struct bt_slot_range){
		.first = first,
		.count = left < parts->slots_each ? left : parts->slots_each,
	};
}

void bt_parts_run(
	const struct bt_parts *parts, void (*job)(void *argument, uint32_t part), void *argument)
{
	if (parts->workers == NULL) {
		job(argument, 0);
		return;
	}
	parts->workers->run(parts->workers->context, job, argument, parts->count);
}

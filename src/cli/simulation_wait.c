/* SPDX-License-Identifier: Apache-2.0 */
/** Pods that a plugin makes wait on Permit: spec 02 sections 5.9 and 5.14. */
#include "base/alloc.h"
#include "cli/simulation_private.h"

void bt_simulation_wait(
	struct bt_simulation *simulation, uint32_t index, const struct bt_schedule_result *result)
{
	struct bt_simulated_pod *entry = &simulation->pods.items[index];
	struct bt_simulated_wait *wait = BT_NEW(struct bt_simulated_wait);
	wait->index = index;
	wait->result = *result;
	bt_engine_hold(simulation->engine, &wait->result, &wait->held);
	(void)bt_waiting_pods_add(&simulation->waiting, result->framework, &entry->info,
		wait->result.waits, wait->result.wait_count, simulation->now_ns);
	bt_vec_push(&simulation->waits, wait);
	entry->waiting = true;
}

/** The first one that is decided leaves the list; NULL: there is none. */
static struct bt_simulated_wait *take_decided(
	struct bt_simulation *simulation, struct bt_status *out_decision)
{
	for (uint32_t i = 0; i < simulation->waits.count; i++) {
		struct bt_simulated_wait *wait = simulation->waits.items[i];
		if (bt_waiting_pods_poll(&simulation->waiting,
			    simulation->pods.items[wait->index].info.uid, &wait->held.arena,
			    out_decision) != BT_WAIT_PENDING) {
			bt_vec_remove_ordered(&simulation->waits, i);
			return wait;
		}
	}
	return NULL;
}

static void settle(struct bt_simulation *simulation, struct bt_simulated_wait *wait,
	const struct bt_status *decision, struct bt_arena *arena, struct bt_str *last)
{
	struct bt_engine *engine = simulation->engine;
	struct bt_simulated_pod *entry = &simulation->pods.items[wait->index];
	bool placed = false;
	entry->waiting = false;
	if (bt_status_is_success(decision)) {
		placed = bt_engine_finish_place(engine, &entry->info, &wait->result);
	} else {
		bt_engine_reject_waiting(engine, &entry->info, decision, &wait->result);
	}
	if (placed) {
		bt_simulation_set_placed(simulation, entry, &wait->result);
	} else {
		simulation->release_count++;
		bt_simulation_set_failed(simulation, entry, &wait->result, arena);
	}
	bt_simulation_record(simulation, entry, last);
	/* A gang that was given up would only take the room again that it left to others. */
	entry->release_count = UINT32_MAX;
	bt_engine_release_held(engine, &wait->held);
	bt_free(wait);
	bt_arena_reset(arena);
}

void bt_simulation_settle_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last)
{
	struct bt_simulated_wait *wait;
	struct bt_status decision;
	while ((wait = take_decided(simulation, &decision)) != NULL) {
		settle(simulation, wait, &decision, arena, last);
	}
}

void bt_simulation_end_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last)
{
	while (simulation->waits.count != 0) {
		int64_t now_ns = bt_waiting_pods_next_deadline_ns(&simulation->waiting);
		simulation->now_ns = now_ns;
		for (uint32_t i = 0; i < simulation->engine->profiles.frameworks.count; i++) {
			simulation->engine->profiles.frameworks.items[i]->handle.now_ns = now_ns;
		}
		bt_waiting_pods_expire(&simulation->waiting, simulation->now_ns);
		bt_simulation_settle_waits(simulation, arena, last);
	}
}

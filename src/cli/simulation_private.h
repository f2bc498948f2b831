/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_SIMULATION_PRIVATE_H
#define BT_CLI_SIMULATION_PRIVATE_H
/** What the files of the simulation share. */
#include "cli/simulation.h"

/** The pod is on its node. */
void bt_simulation_set_placed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result);
/** The attempt failed; the message lives in arena until it is recorded. */
void bt_simulation_set_failed(struct bt_simulation *simulation, struct bt_simulated_pod *entry,
	const struct bt_schedule_result *result, struct bt_arena *arena);
/** Count the entry's fate and keep its message. last: the message kept before. */
void bt_simulation_record(
	struct bt_simulation *simulation, struct bt_simulated_pod *entry, struct bt_str *last);

/** The pod is reserved and waits on Permit: its cycle is held. */
void bt_simulation_wait(
	struct bt_simulation *simulation, uint32_t index, const struct bt_schedule_result *result);
/** Place or give up the pods about which a plugin has decided. */
void bt_simulation_settle_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last);
/** Let the time pass until nobody waits any longer. */
void bt_simulation_end_waits(
	struct bt_simulation *simulation, struct bt_arena *arena, struct bt_str *last);
#endif

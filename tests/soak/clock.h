/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_CLOCK_H
#define BT_SOAK_CLOCK_H
/**
 * Virtual time. Actions wait in a heap, and the clock jumps from one action to the next. Actions
 * that are due at the same instant run in the order in which they were added.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/heap.h"
#include "base/vec.h"
#include "cluster/clock.h"

#define BT_SIM_MILLISECOND INT64_C(1000000)
#define BT_SIM_SECOND INT64_C(1000000000)

typedef void (*bt_sim_action)(void *context, uint64_t argument);

struct bt_sim_timer {
	bt_sim_action action;
	void *context;
	uint64_t argument;
};

struct bt_sim_clock {
	int64_t now_ns;
	int64_t sequence;
	struct bt_heap heap; /* of indices in timers: by time, then by sequence */
	BT_VEC(struct bt_sim_timer) timers;
	BT_VEC(uint32_t) free_ids;
	struct bt_cluster_clock *cluster_clock; /* moves with this clock; NULL: none */
};

void bt_sim_clock_init(struct bt_sim_clock *clock, int64_t now_ns);
/** Frees the clock. Actions that still wait are not run. */
void bt_sim_clock_finish(struct bt_sim_clock *clock);
void bt_sim_clock_after(struct bt_sim_clock *clock, int64_t delay_ns, bt_sim_action action,
	void *context, uint64_t argument);
/**
 * Advances the clock to the next action that is due by until_ns, and runs this action. Returns
 * false if there is no such action; then the clock is at until_ns.
 */
bool bt_sim_clock_step(struct bt_sim_clock *clock, int64_t until_ns);
#endif

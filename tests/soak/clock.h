/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SOAK_CLOCK_H
#define BT_SOAK_CLOCK_H
/**
 * Virtual time: actions wait in a heap; the clock jumps from one to the next. Actions due at the
 * same instant run in the order in which they were added.
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
/** Actions that still wait are dropped. */
void bt_sim_clock_finish(struct bt_sim_clock *clock);
void bt_sim_clock_after(struct bt_sim_clock *clock, int64_t delay_ns, bt_sim_action action,
	void *context, uint64_t argument);
/**
 * Run the next action that is due by until_ns. false: there is none, and the clock is at until_ns.
 */
bool bt_sim_clock_step(struct bt_sim_clock *clock, int64_t until_ns);
#endif

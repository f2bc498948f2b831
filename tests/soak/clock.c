/* SPDX-License-Identifier: Apache-2.0 */
#include "soak/clock.h"

void bt_sim_clock_init(struct bt_sim_clock *clock, int64_t now_ns)
{
	*clock = (struct bt_sim_clock){.now_ns = now_ns};
	bt_heap_init(&clock->heap, NULL, NULL);
}

void bt_sim_clock_finish(struct bt_sim_clock *clock)
{
	bt_heap_finish(&clock->heap);
	bt_vec_finish(&clock->timers);
	bt_vec_finish(&clock->free_ids);
}

void bt_sim_clock_after(struct bt_sim_clock *clock, int64_t delay_ns, bt_sim_action action,
	void *context, uint64_t argument)
{
	struct bt_sim_timer timer = {action, context, argument};
	uint32_t id;
	bt_vec_store(&clock->timers, &clock->free_ids, timer, id);
	bt_heap_push(&clock->heap, id, clock->now_ns + delay_ns, clock->sequence++);
}

static void advance(struct bt_sim_clock *clock, int64_t now_ns)
{
	clock->now_ns = now_ns > clock->now_ns ? now_ns : clock->now_ns;
	if (clock->cluster_clock != NULL) {
		bt_cluster_clock_advance(clock->cluster_clock, clock->now_ns);
	}
}

bool bt_sim_clock_step(struct bt_sim_clock *clock, int64_t until_ns)
{
	if (clock->heap.slots.count == 0 || clock->heap.slots.items[0].major > until_ns) {
		advance(clock, until_ns);
		return false;
	}
	int64_t due_ns = clock->heap.slots.items[0].major;
	uint32_t id = bt_heap_pop(&clock->heap);
	struct bt_sim_timer timer = clock->timers.items[id];
	bt_vec_push(&clock->free_ids, id);
	advance(clock, due_ns);
	timer.action(timer.context, timer.argument);
	return true;
}

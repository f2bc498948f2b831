/* SPDX-License-Identifier: Apache-2.0 */
/** Time of each operation on cells, by the number of nodes and of cells. Usage: cells_bench */
#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/nanoseconds.h"
#include "base/prng.h"
#include "sched/cells.h"

enum { OPERATIONS = 200000, LOCALS = 100 };

static double now_ns(void)
{
	struct timespec now;
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

struct world {
	struct bt_prng prng;
	struct bt_cells *cells;
	uint32_t nodes;
	uint32_t kinds;
	uint32_t feasible[BT_CELLS_MAX];
	double sum; /* sum of all results, so that the compiler does not remove the operations */
};

static uint32_t below(struct world *world, uint32_t bound)
{
	return (uint32_t)bt_prng_below(&world->prng, bound);
}

static double fill(struct world *world, int32_t locals)
{
	double begin = now_ns();
	bt_cells_reset(world->cells, world->nodes, 1);
	for (uint32_t i = 0; i < world->kinds; i++) {
		world->feasible[i] = bt_cells_of_key(world->cells, (const uint64_t[]){i});
	}
	for (uint32_t i = 0; i < world->nodes; i++) {
		bt_cells_put(
			world->cells, i, i % world->kinds, (int32_t)(i * 7919 % (uint32_t)locals));
	}
	bt_cells_filled(world->cells);
	return (now_ns() - begin) / world->nodes;
}

static double move_within(struct world *world)
{
	double begin = now_ns();
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t position = below(world, world->nodes);
		bt_cells_move(world->cells, position, world->cells->cell_of[position],
			(int32_t)(i % LOCALS));
	}
	return (now_ns() - begin) / OPERATIONS;
}

static double move_across(struct world *world)
{
	double begin = now_ns();
	for (uint32_t i = 0; i < OPERATIONS; i++) {
		uint32_t position = below(world, world->nodes);
		bt_cells_move(world->cells, position, i % world->kinds, (int32_t)(i % LOCALS));
	}
	return (now_ns() - begin) / OPERATIONS;
}

static uint32_t best_of(const struct world *world, uint32_t feasible, uint32_t *best)
{
	int32_t most = INT32_MIN;
	uint32_t count = 0;
	for (uint32_t i = 0; i < feasible; i++) {
		int32_t own = world->cells->cells[world->feasible[i]].top_best;
		count = own > most ? 0 : count;
		if (own >= most) {
			most = own;
			best[count++] = world->feasible[i];
		}
	}
	return count;
}

/* Returns the nanoseconds of one placement: a choice, after which the chosen node's score falls. */
static double place(struct world *world, uint32_t feasible, uint32_t operations)
{
	uint32_t best[BT_CELLS_MAX];
	struct bt_cells_choice choice = {.feasible = world->feasible,
		.feasible_count = feasible,
		.best = best,
		.node_count = world->nodes,
		.empty = BT_CELL_NONE};
	double begin = now_ns();
	for (uint32_t i = 0; i < operations; i++) {
		choice.best_count = best_of(world, feasible, best);
		uint32_t position = bt_cells_choose_by_heap(world->cells, &choice);
		bt_cells_move(world->cells, position, world->cells->cell_of[position],
			world->cells->local_of[position] - 1);
	}
	return (now_ns() - begin) / operations;
}

static double choose(struct world *world, uint32_t feasible)
{
	enum { CHOICES = 5000 };
	uint32_t best[BT_CELLS_MAX];
	struct bt_cells_choice choice = {.feasible = world->feasible,
		.feasible_count = feasible,
		.best = best,
		.node_count = world->nodes,
		.empty = BT_CELL_NONE};
	choice.best_count = best_of(world, feasible, best);
	double begin = now_ns();
	for (uint32_t i = 0; i < CHOICES; i++) {
		choice.start = below(world, world->nodes);
		world->sum += bt_cells_choose_by_heap(world->cells, &choice);
	}
	return (now_ns() - begin) / CHOICES;
}

static void run(struct world *world, uint32_t nodes, uint32_t kinds)
{
	world->nodes = nodes;
	world->kinds = kinds;
	double filled = fill(world, LOCALS);
	double within = move_within(world);
	double across = move_across(world);
	uint32_t half = (kinds + 1) / 2;
	double many = choose(world, half);
	(void)fill(world, 1);
	double equal = place(world, half, 20000);
	double equal_all = place(world, kinds, 20000);
	(void)fill(world, INT32_MAX);
	double single = choose(world, half);
	printf("%8u %5u %8.1f %8.1f %8.1f %9.1f %9.1f %9.1f %9.1f\n", nodes, kinds, filled, within,
		across, equal, equal_all, many, single);
}

int main(void)
{
	static const uint32_t nodes[] = {5000, 50000, 500000, 1000000};
	static const uint32_t kinds[] = {1, 3, 30, 400};
	struct world world = {.cells = bt_cells_create(0, 1)};
	bt_prng_init(&world.prng, 1);
	printf("nanoseconds: filling a node, a move within a cell, to another cell; choice and\n"
	       "move with half of the cells feasible and with all; choice by random start among\n"
	       "many ties, and of one\n");
	printf("%8s %5s %8s %8s %8s %9s %9s %9s %9s\n", "nodes", "cells", "fill", "within",
		"across", "place", "place all", "many", "one");
	for (uint32_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		for (uint32_t j = 0; j < sizeof(kinds) / sizeof(kinds[0]); j++) {
			run(&world, nodes[i], kinds[j]);
		}
	}
	bt_cells_destroy(world.cells);
	return world.sum < 0;
}

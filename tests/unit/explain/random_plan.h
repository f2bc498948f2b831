/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_EXPLAIN_RANDOM_PLAN_H
#define BT_TESTS_UNIT_EXPLAIN_RANDOM_PLAN_H
/**
 * Small random clusters with a pending pod, kept as texts, so that a cluster can be rebuilt with
 * changes.
 */
#include "base/prng.h"
#include "town.h"

#define RANDOM_PLAN_NODES_MAX 12
#define RANDOM_PLAN_PODS_MAX 24

struct random_plan {
	struct bt_arena arena;
	struct bt_prng prng;
	const char *nodes[RANDOM_PLAN_NODES_MAX];
	uint32_t node_count;
	const char *pods[RANDOM_PLAN_PODS_MAX];
	uint32_t pod_count;
	const char *pending;
	const char *next; /* a second pod, decided before and after the explanation */
};

/**
 * Makes a random cluster. nodes_max: 2 to RANDOM_PLAN_NODES_MAX; pods_max: up to
 * RANDOM_PLAN_PODS_MAX.
 */
void random_plan_init(
	struct random_plan *plan, uint64_t seed, uint32_t nodes_max, uint32_t pods_max);
void random_plan_finish(struct random_plan *plan);
/**
 * random_plan_node returns the JSON of one more node, random_plan_pending that of another pending
 * pod.
 */
const char *random_plan_node(struct random_plan *plan, uint32_t number);
const char *random_plan_pending(struct random_plan *plan, const char *name);
void random_plan_build(const struct random_plan *plan, struct town *town);
/** Applies the remedies to a fresh cluster; returns whether the pod then schedules. */
bool random_plan_fits_after(
	const struct random_plan *plan, const struct bt_remedy *remedies, uint32_t count);
#endif

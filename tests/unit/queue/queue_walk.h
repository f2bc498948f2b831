/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_TESTS_UNIT_QUEUE_WALK_H
#define BT_TESTS_UNIT_QUEUE_WALK_H
/** The random walk over queue and model: its plugins, its objects, and the comparison. */
#include <stdio.h>

#include "base/prng.h"
#include "queue_fixture.h"
#include "queue_model.h"

enum {
	KEYS = 24, /* number of pod names; half of the pods are in a second namespace */
	OUT_MAX = 8,
	OTHERS = 5,
};

/* queue_walk_plugins.c: hints and gates that queue and model both call */

extern const struct model_plugin walk_plugins[MODEL_PLUGINS];
/** A closed gate makes PreEnqueue reject some pods. */
extern bool walk_gate_open[2];
void walk_make_fakes(struct fake fakes[MODEL_PLUGINS]);

struct flight {
	struct bt_queue_entry *entry;
	uint32_t record;
};

struct world {
	struct queue_fixture queue;
	struct model model;
	struct bt_prng prng;
	struct bt_object *informer[KEYS]; /* the API's pods; NULL: none */
	struct flight out[OUT_MAX + 1];
	uint32_t out_count;
	struct bt_object *nodes[OTHERS];
	struct bt_object *volumes[OTHERS];
	struct bt_object *strangers[OTHERS]; /* placed pods */
	uint64_t seed;
	uint64_t step;
	uint64_t uid_number;
};

#define MUST(world, condition, ...) \
	do { \
		if (!(condition)) { \
			(void)fprintf(stderr, \
				"seed %llu, step %llu: ", (unsigned long long)(world)->seed, \
				(unsigned long long)(world)->step); \
			(void)fprintf(stderr, __VA_ARGS__); \
			(void)fprintf(stderr, "\n"); \
			ck_abort_msg("%s", #condition); \
		} \
	} while (0)

/* queue_walk_compare.c */

/** Aborts the test if queue and model differ in anything. */
void walk_compare(struct world *world);
/** Compares numbers only, because looking at single pods takes them out of their groups. */
void walk_compare_numbers(struct world *world);
#endif

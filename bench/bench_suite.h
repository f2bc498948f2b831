/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_SUITE_H
#define BT_BENCH_SUITE_H
/** `berth bench --suite`: a fixed list of measurements, reported with machine and commit. */
#include "cli/setup.h"

struct bt_bench_suite_options {
	const struct bt_setup *setup;
	const struct bt_arguments *only; /* names of measurements or workloads, commas allowed */
	int64_t repeat;                  /* runs of each measurement; 0: five, fewer if large */
	int64_t seed;
	int64_t changes;
	int64_t check_pods; /* pods to compare; 0: the number of each measurement */
	bool check;
	bool quick; /* run once, with a tenth of the objects or less */
	bool json;  /* print JSON instead of a table */
};

/**
 * Prints progress on standard error, and the report on standard output when all measurements are
 * done.
 */
BT_MUST_USE int bt_bench_suite(
	const struct bt_bench_suite_options *options, struct berth_error *err);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_SUITE_H
#define BT_BENCH_SUITE_H
/** `berth bench --suite`: a fixed list of measurements, with the machine and the commit. */
#include "cli/setup.h"

struct bt_bench_suite_options {
	const struct bt_setup *setup;
	const struct bt_arguments *only; /* names of measurements or workloads, commas allowed */
	int64_t repeat;                  /* runs of each; 0: five, fewer of the largest */
	int64_t seed;
	int64_t changes;
	int64_t check_pods; /* 0: as many as each measurement says */
	bool check;
	bool quick; /* a tenth of everything, or less, once */
	bool json;  /* instead of a table */
};

/** Progress on standard error, the report on standard output when all is measured. */
BT_MUST_USE int bt_bench_suite(
	const struct bt_bench_suite_options *options, struct berth_error *err);
#endif

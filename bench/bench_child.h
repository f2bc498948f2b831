/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_CHILD_H
#define BT_BENCH_CHILD_H
/** Runs a measurement in a child process, so that no other measurement affects its peak memory. */
#include "bench/bench_run.h"

/**
 * Like bt_bench_run. Also returns BERTH_ERR_STATE if the child process died: either memory ran out,
 * or verification found a difference and printed it on standard error.
 */
BT_MUST_USE int bt_bench_run_in_child(const struct bt_bench_run *run,
	struct bt_bench_result *out_result, struct berth_error *err);
#endif

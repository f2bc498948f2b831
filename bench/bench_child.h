/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_CHILD_H
#define BT_BENCH_CHILD_H
/** Runs a measurement in a child process, so that its peak of memory is measured alone. */
#include "bench/bench_run.h"

/**
 * Like bt_bench_run. Also returns BERTH_ERR_STATE if the child process died, because verification
 * found a difference and printed it on standard error, or because memory ran out.
 */
BT_MUST_USE int bt_bench_run_in_child(const struct bt_bench_run *run,
	struct bt_bench_result *out_result, struct berth_error *err);
#endif

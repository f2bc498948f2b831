/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_CHILD_H
#define BT_BENCH_CHILD_H
/** A measurement in a process of its own, so that its peak of memory is its own, too. */
#include "bench/bench_run.h"

/**
 * As bt_bench_run. BERTH_ERR_STATE, too, when the process died: verification found a difference and
 * said so on standard error, or memory ran out.
 */
BT_MUST_USE int bt_bench_run_in_child(const struct bt_bench_run *run,
	struct bt_bench_result *out_result, struct berth_error *err);
#endif

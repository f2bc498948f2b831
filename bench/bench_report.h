/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_REPORT_H
#define BT_BENCH_REPORT_H
/** Measurements as JSON, one object per line. */
#include "bench/bench_run.h"
#include "codec/json.h"

/** Append the line of one run, without a newline. */
void bt_bench_write_line(const struct bt_bench_run *run, const struct bt_bench_result *result,
	struct bt_strbuf *out);
/** Write the members of the line: parameters and figures. */
void bt_bench_write_members(struct bt_json_writer *writer, const struct bt_bench_run *run,
	const struct bt_bench_result *result);
/** Write the members "threads", "commit", "compiler" and "machine". */
void bt_bench_write_origin(struct bt_json_writer *writer, int64_t threads);
/** Write a number with this many digits after the point. */
void bt_bench_write_number(
	struct bt_json_writer *writer, const char *name, double value, int digits);
#endif

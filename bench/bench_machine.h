/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_MACHINE_H
#define BT_BENCH_MACHINE_H
/** What belongs to every figure that is quoted: the machine, the commit, the compiler. */
#include <stdint.h>

#include "base/strbuf.h"

struct bt_bench_machine {
	struct bt_strbuf cpu; /* model; "unknown" where the system does not say */
	uint32_t cores;
	uint64_t memory_bytes;
	char system[160]; /* "Linux x86_64" */
};

/** Reads /proc/cpuinfo. */
void bt_bench_machine_init(struct bt_bench_machine *machine);
void bt_bench_machine_finish(struct bt_bench_machine *machine);
/** Of the sources; ends with "-dirty" where they had been changed. The version without git. */
const char *bt_bench_commit(void);
/** "gcc 12.2.0" */
const char *bt_bench_compiler(void);
#endif

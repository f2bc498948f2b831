/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BENCH_MACHINE_H
#define BT_BENCH_MACHINE_H
/** The machine, commit and compiler, which every report of figures includes. */
#include <stdint.h>

#include "base/strbuf.h"

struct bt_bench_machine {
	struct bt_strbuf cpu; /* model; "unknown" if the system does not report it */
	uint32_t cores;
	uint64_t memory_bytes;
	char system[160]; /* "Linux x86_64" */
};

/** Read /proc/cpuinfo and uname. */
void bt_bench_machine_init(struct bt_bench_machine *machine);
void bt_bench_machine_finish(struct bt_bench_machine *machine);
/**
 * The commit of the sources, with "-dirty" after local changes, or the version if there is no git.
 */
const char *bt_bench_commit(void);
/** Returns the compiler and its version, such as "gcc 12.2.0". */
const char *bt_bench_compiler(void);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_machine.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bench/bench_commit.h"

/** Find the text after the first "model name" (x86) or "Model" (some others). */
static void read_cpu_model(struct bt_strbuf *out)
{
	char line[512];
	FILE *file = fopen("/proc/cpuinfo", "r");
	while (file != NULL && out->length == 0 && fgets(line, sizeof(line), file) != NULL) {
		struct bt_str value = bt_str_from(line);
		struct bt_str name = bt_str_trim(bt_str_cut(&value, ':'), BT_STR_SPACE);
		if (bt_str_equal_c(name, "model name") || bt_str_equal_c(name, "Model")) {
			bt_strbuf_append_str(out, bt_str_trim(value, BT_STR_SPACE));
		}
	}
	if (file != NULL) {
		(void)fclose(file); /* open for reading only */
	}
	if (out->length == 0) {
		bt_strbuf_append_c(out, "unknown");
	}
}

void bt_bench_machine_init(struct bt_bench_machine *machine)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);
	long pages = sysconf(_SC_PHYS_PAGES);
	long page_bytes = sysconf(_SC_PAGESIZE);
	struct utsname names;
	*machine = (struct bt_bench_machine){.cores = cores > 0 ? (uint32_t)cores : 0};
	if (pages > 0 && page_bytes > 0) {
		machine->memory_bytes = (uint64_t)pages * (uint64_t)page_bytes;
	}
	if (uname(&names) == 0) {
		(void)snprintf(machine->system, sizeof(machine->system), "%.64s %.64s",
			names.sysname, names.machine);
	}
	read_cpu_model(&machine->cpu);
}

void bt_bench_machine_finish(struct bt_bench_machine *machine)
{
	bt_strbuf_finish(&machine->cpu);
}

const char *bt_bench_commit(void)
{
	return BT_BENCH_COMMIT;
}

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown compiler"
#endif

#if defined(__SANITIZE_ADDRESS__)
#define KIND ", address sanitizer"
#elif defined(__OPTIMIZE__)
#define KIND ""
#else
#define KIND ", not optimised"
#endif

const char *bt_bench_compiler(void)
{
	return COMPILER KIND;
}

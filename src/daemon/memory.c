/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "daemon/daemon_private.h"

#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/nanoseconds.h"

/**
 * Allocations of this size and more get their own mapping. A fixed threshold stays: glibc would
 * raise its own when such an allocation is freed.
 */
#define LARGE_BYTES (128 * 1024)
/** Pages that are still needed are back within some 0.3 ms: 80 faults of 64 KiB. */
#define CPU_NS_PER_DROP (20 * BT_NS_PER_MS)

static void drop_range(uintptr_t start, uintptr_t end, uintptr_t page)
{
	start = (start + page - 1) & ~(page - 1);
	end &= ~(page - 1);
	if (start < end) {
		/* only advice: a failure has no effect */
		(void)madvise((void *)start, end - start, MADV_DONTNEED);
	}
}

/**
 * Release the read-only segments of a program or library: the kernel can read them again from the
 * file. Adjacent segments take one call.
 */
static int drop_object(struct dl_phdr_info *info, size_t size BT_UNUSED, void *context)
{
	const uintptr_t *page = context;
	uintptr_t start = 0;
	uintptr_t end = 0;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) {
			continue;
		}
		uintptr_t from = (uintptr_t)info->dlpi_addr + segment->p_vaddr;
		if (from < end || from > ((end + *page - 1) & ~(*page - 1))) {
			drop_range(start, end, *page);
			start = from;
		}
		end = from + segment->p_filesz;
	}
	drop_range(start, end, *page);
	return 0;
}

void bt_daemon_tune_memory(void)
{
	/* only tuning: a failure has no effect */
	(void)mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
	(void)mallopt(M_ARENA_MAX, 1);
}

static void drop_code(void)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	if (page_bytes > 0) {
		uintptr_t page = (uintptr_t)page_bytes;
		(void)dl_iterate_phdr(drop_object, &page);
	}
}

int64_t bt_daemon_drop_idle_code(void *context, int64_t now_ns)
{
	struct bt_daemon_idle_code *idle = context;
	struct timespec time = {0};
	if (now_ns < idle->look_at_ns) {
		return INT64_MAX;
	}
	/* cannot fail for this clock; a system call, so it is not made in every turn */
	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	int64_t used_ns = (int64_t)time.tv_sec * BT_NS_PER_SECOND + time.tv_nsec;
	if (used_ns - idle->dropped_ns >= CPU_NS_PER_DROP) {
		idle->dropped_ns = used_ns;
		drop_code();
	}
	/* a single thread uses at most as much processor time as passes */
	idle->look_at_ns = now_ns + CPU_NS_PER_DROP - (used_ns - idle->dropped_ns);
	return INT64_MAX;
}

void bt_daemon_trim_memory(void)
{
	drop_code();
	(void)malloc_trim(0);
}

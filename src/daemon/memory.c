/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "daemon/memory.h"

#include <link.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/compiler.h"

/** Segments that nobody can write are as they are in their files. */
static int drop_object(struct dl_phdr_info *info, size_t size BT_UNUSED, void *context)
{
	const uintptr_t *page = context;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		if (segment->p_type != PT_LOAD || (segment->p_flags & PF_W) != 0) {
			continue;
		}
		uintptr_t start = (uintptr_t)info->dlpi_addr + segment->p_vaddr;
		uintptr_t end = start + segment->p_filesz;
		start = (start + *page - 1) & ~(*page - 1);
		end &= ~(*page - 1);
		if (start < end) {
			/* advice: nothing is lost when it is not taken */
			(void)madvise((void *)start, end - start, MADV_DONTNEED);
		}
	}
	return 0;
}

void bt_daemon_trim_memory(void)
{
	long page_bytes = sysconf(_SC_PAGESIZE);
	if (page_bytes > 0) {
		uintptr_t page = (uintptr_t)page_bytes;
		(void)dl_iterate_phdr(drop_object, &page);
	}
	(void)malloc_trim(0);
}

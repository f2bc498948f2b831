/* SPDX-License-Identifier: Apache-2.0 */
/* For sbrk and madvise. */
#define _DEFAULT_SOURCE
#include "base/alloc.h"

#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"

#define HUGE_PAGE_BYTES (2 << 20)
#define HUGE_HEAP_BYTES (32 << 20)
#define HEAP_STEP_BYTES (8 * HUGE_PAGE_BYTES)

/*
 * The result of malloc(0) depends on the platform; a size of at least 1 gives the same result
 * everywhere.
 */
static size_t at_least_one(size_t size)
{
	return size != 0 ? size : 1;
}

static size_t checked_product(size_t count, size_t size)
{
	size_t bytes;

	if (BT_MUL_OVERFLOW(count, size, &bytes)) {
		bt_panic("allocation of %zu elements of %zu bytes overflows", count, size);
	}
	return bytes;
}

void *bt_malloc(size_t size)
{
	void *memory = malloc(at_least_one(size));

	if (BT_UNLIKELY(memory == NULL)) {
		bt_panic("out of memory: %zu bytes", size);
	}
	return memory;
}

void *bt_calloc(size_t count, size_t size)
{
	size_t bytes = checked_product(count, size);
	void *memory = calloc(1, at_least_one(bytes));

	if (BT_UNLIKELY(memory == NULL)) {
		bt_panic("out of memory: %zu bytes", bytes);
	}
	return memory;
}

void *bt_realloc_array(void *memory, size_t count, size_t size)
{
	size_t bytes = checked_product(count, size);
	void *moved = realloc(memory, at_least_one(bytes));

	if (BT_UNLIKELY(moved == NULL)) {
		bt_panic("out of memory: %zu bytes", bytes);
	}
	return moved;
}

void bt_free(void *memory)
{
	free(memory);
}

char *bt_strndup(const char *text, size_t length)
{
	BT_ASSERT(length < SIZE_MAX);
	char *copy = bt_malloc(length + 1);
	if (length != 0) {
		memcpy(copy, text, length);
	}
	copy[length] = '\0';
	return copy;
}

void bt_heap_use_huge_pages(void)
{
	static char *start;
	static char *advised; /* up to here the kernel has the advice */
	char *end = sbrk(0);  /* glibc knows the end: no system call */
	if (start == NULL) {
		start = end;
		advised = end;
	}
	/* The heap can have become smaller. */
	advised = end < advised ? end : advised;
	if (end - start < HUGE_HEAP_BYTES || end - advised < HUGE_PAGE_BYTES) {
		return;
	}
	/* A huge page must be part of the heap before its first use, so let the heap grow ahead. */
	(void)mallopt(M_TOP_PAD, HEAP_STEP_BYTES);
	char *first = advised + (-(uintptr_t)advised) % HUGE_PAGE_BYTES;
	char *last = end - (uintptr_t)end % HUGE_PAGE_BYTES;
	(void)madvise(first, (size_t)(last - first), MADV_HUGEPAGE);
	advised = last;
}

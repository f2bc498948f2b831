/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ALLOC_H
#define BT_BASE_ALLOC_H
/**
 * Only these functions call malloc and free. Running out of memory aborts with a message (see
 * berth.h), so no caller checks for NULL. Every size that comes from input must therefore be
 * limited before it is allocated.
 */
#include <stddef.h>

#include "base/compiler.h"

/** The memory is not initialised. size 0: returns a unique pointer that bt_free accepts. */
BT_MUST_USE void *bt_malloc(size_t size);
/** Memory is zeroed. Aborts when count * size overflows. */
BT_MUST_USE void *bt_calloc(size_t count, size_t size);
/** Aborts when count * size overflows. */
BT_MUST_USE void *bt_realloc_array(void *memory, size_t count, size_t size);
void bt_free(void *memory);
/**
 * Returns an owned, zero-terminated copy of the first `length` bytes of text. text may be NULL if
 * length is 0.
 */
BT_MUST_USE char *bt_strndup(const char *text, size_t length);

/**
 * Lets the kernel back a heap of at least 32 MB with huge pages: a page fault then fills 2 MB
 * instead of 4 KB. The rest of the heap follows as it grows, so call this function often; a call
 * without growth makes no system call. For one thread, and for programs with their own process: it
 * changes malloc's settings. Has no effect where the kernel has no huge pages or where malloc does
 * not use sbrk.
 */
void bt_heap_use_huge_pages(void);

#define BT_NEW(type) ((type *)bt_calloc(1, sizeof(type)))
#define BT_NEW_ARRAY(type, count) ((type *)bt_calloc((count), sizeof(type)))
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"

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

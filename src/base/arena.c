/* SPDX-License-Identifier: Apache-2.0 */
/* explicit_bzero */
#define _DEFAULT_SOURCE
#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/assert.h"

#define CHUNK_BYTES_DEFAULT ((size_t)4096)
#define CHUNK_BYTES_MAX ((size_t)1 << 20)
#define ALIGNMENT _Alignof(max_align_t)
/* Poisoned space after each allocation, so that AddressSanitizer reports a read past its end. */
#define RED_ZONE_BYTES (BT_HAVE_ASAN ? (size_t)16 : (size_t)0)

struct bt_arena_chunk {
	struct bt_arena_chunk *next;
	size_t bytes; /* size of data */
	_Alignas(max_align_t) char data[];
};

void bt_arena_init(struct bt_arena *arena, size_t first_chunk_bytes)
{
	*arena = (struct bt_arena){.chunk_bytes = first_chunk_bytes};
}

void bt_arena_init_with(struct bt_arena *arena, void *memory, size_t size)
{
	*arena = (struct bt_arena){.next = memory, .end = (char *)memory + size};
}

static void free_chunk(struct bt_arena *arena, struct bt_arena_chunk *chunk)
{
	arena->total_bytes -= sizeof(*chunk) + chunk->bytes;
	BT_ASAN_UNPOISON(chunk->data, chunk->bytes);
	bt_free(chunk);
}

static struct bt_arena_chunk *new_chunk(struct bt_arena *arena, size_t bytes)
{
	struct bt_arena_chunk *chunk = bt_malloc(sizeof(*chunk) + bytes);

	chunk->bytes = bytes;
	BT_ASAN_POISON(chunk->data, bytes);
	arena->total_bytes += sizeof(*chunk) + bytes;
	return chunk;
}

static void use_chunk(struct bt_arena *arena, struct bt_arena_chunk *chunk)
{
	arena->next = chunk->data;
	arena->end = chunk->data + chunk->bytes;
}

void bt_arena_finish(struct bt_arena *arena)
{
	struct bt_arena_chunk *chunk = arena->chunks;

	while (chunk != NULL) {
		struct bt_arena_chunk *next = chunk->next;
		free_chunk(arena, chunk);
		chunk = next;
	}
	*arena = (struct bt_arena){0};
}

size_t bt_arena_chunk_bytes(const struct bt_arena_chunk *chunks)
{
	size_t bytes = 0;

	for (; chunks != NULL; chunks = chunks->next) {
		bytes += sizeof(*chunks) + chunks->bytes;
	}
	return bytes;
}

void bt_arena_free_chunks(struct bt_arena_chunk *chunks)
{
	struct bt_arena arena = {.chunks = chunks, .total_bytes = bt_arena_chunk_bytes(chunks)};

	bt_arena_finish(&arena);
}

void bt_arena_finish_wiped(struct bt_arena *arena)
{
	for (struct bt_arena_chunk *chunk = arena->chunks; chunk != NULL; chunk = chunk->next) {
		BT_ASAN_UNPOISON(chunk->data, chunk->bytes);
		explicit_bzero(chunk->data, chunk->bytes);
	}
	bt_arena_finish(arena);
}

void bt_arena_reset(struct bt_arena *arena)
{
	struct bt_arena_chunk *chunk = arena->chunks;
	struct bt_arena_chunk *largest = chunk;

	if (chunk == NULL) {
		return;
	}
	for (; chunk != NULL; chunk = chunk->next) {
		if (chunk->bytes > largest->bytes) {
			largest = chunk;
		}
	}
	chunk = arena->chunks;
	while (chunk != NULL) {
		struct bt_arena_chunk *next = chunk->next;
		if (chunk != largest) {
			free_chunk(arena, chunk);
		}
		chunk = next;
	}
	largest->next = NULL;
	arena->chunks = largest;
	BT_ASAN_POISON(largest->data, largest->bytes);
	use_chunk(arena, largest);
}

/* Allocates from a new chunk when the newest chunk has too little space. */
static BT_COLD char *alloc_from_new_chunk(struct bt_arena *arena, size_t size)
{
	size_t needed = size + RED_ZONE_BYTES;
	struct bt_arena_chunk *chunk;

	if (arena->chunk_bytes == 0) {
		arena->chunk_bytes = CHUNK_BYTES_DEFAULT;
	}
	if (needed > arena->chunk_bytes / 2 && arena->chunks != NULL) {
		/*
		 * A large allocation gets a separate chunk behind the newest one, so the newest
		 * chunk's free space stays usable.
		 */
		chunk = new_chunk(arena, needed);
		chunk->next = arena->chunks->next;
		arena->chunks->next = chunk;
		return chunk->data;
	}
	chunk = new_chunk(arena, needed > arena->chunk_bytes ? needed : arena->chunk_bytes);
	chunk->next = arena->chunks;
	arena->chunks = chunk;
	use_chunk(arena, chunk);
	if (arena->chunk_bytes < CHUNK_BYTES_MAX) {
		arena->chunk_bytes *= 2;
	}
	arena->next = chunk->data + needed;
	return chunk->data;
}

static char *alloc_aligned(struct bt_arena *arena, size_t size, size_t alignment)
{
	size_t free_bytes = arena->next != NULL ? (size_t)(arena->end - arena->next) : 0;
	size_t padding = (size_t)(-(uintptr_t)arena->next & (alignment - 1));
	char *memory;

	if (BT_UNLIKELY(size > BT_ARENA_ALLOCATION_MAX)) {
		bt_panic("arena allocation of %zu bytes is over the limit", size);
	}
	if (BT_LIKELY(arena->next != NULL && padding + size + RED_ZONE_BYTES <= free_bytes)) {
		memory = arena->next + padding;
		arena->next = memory + size + RED_ZONE_BYTES;
	} else {
		memory = alloc_from_new_chunk(arena, size);
	}
	BT_ASAN_UNPOISON(memory, size);
	return memory;
}

void *bt_arena_alloc(struct bt_arena *arena, size_t size)
{
	return alloc_aligned(arena, size, ALIGNMENT);
}

void *bt_arena_calloc(struct bt_arena *arena, size_t count, size_t size)
{
	size_t bytes;

	if (BT_MUL_OVERFLOW(count, size, &bytes)) {
		bt_panic("arena allocation of %zu elements of %zu bytes overflows", count, size);
	}
	void *memory = bt_arena_alloc(arena, bytes);
	memset(memory, 0, bytes);
	return memory;
}

char *bt_arena_alloc_bytes(struct bt_arena *arena, size_t size)
{
	/* AddressSanitizer poisons in units of 8 bytes. */
	return alloc_aligned(arena, size, BT_HAVE_ASAN ? 8 : 1);
}

struct bt_str bt_arena_str(struct bt_arena *arena, struct bt_str text)
{
	if (text.data == NULL) {
		return text;
	}
	char *copy = bt_arena_alloc_bytes(arena, (size_t)text.length + 1);
	memcpy(copy, text.data, text.length);
	copy[text.length] = '\0';
	return (struct bt_str){copy, text.length};
}

struct bt_str bt_arena_take_strbuf(struct bt_arena *arena, struct bt_strbuf *text)
{
	struct bt_str copy = bt_arena_str(arena, bt_strbuf_str(text));
	bt_strbuf_finish(text);
	return copy;
}

struct bt_str bt_arena_printf(struct bt_arena *arena, const char *format, ...)
{
	va_list arguments;
	char first[256]; /* room for most texts, so that they are formatted once */

	va_start(arguments, format);
	int length = vsnprintf(first, sizeof(first), format, arguments);
	va_end(arguments);
	if (length < 0) {
		bt_panic("text cannot be formatted: %s", format);
	}
	if ((size_t)length < sizeof(first)) {
		return bt_arena_str(arena, (struct bt_str){first, (uint32_t)length});
	}
	char *text = bt_arena_alloc_bytes(arena, (size_t)length + 1);
	va_start(arguments, format);
	(void)vsnprintf(text, (size_t)length + 1, format, arguments);
	va_end(arguments);
	return (struct bt_str){text, (uint32_t)length};
}

void *bt_arena_copy_array(
	struct bt_arena *arena, const void *items, uint32_t count, uint32_t more, size_t item_bytes)
{
	void *copy = bt_arena_calloc(arena, (size_t)count + more, item_bytes);
	if (count != 0) {
		memcpy(copy, items, count * item_bytes);
	}
	return copy;
}

void *bt_arena_grow_array(struct bt_arena *arena, const void *items, uint32_t count,
	size_t item_bytes, uint32_t *capacity)
{
	BT_ASSERT(count < UINT32_MAX / 2 - 4);
	*capacity = count * 2 + 4;
	return bt_arena_copy_array(arena, items, count, count + 4, item_bytes);
}

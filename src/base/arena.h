/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ARENA_H
#define BT_BASE_ARENA_H
/**
 * Bump allocator for many small allocations that are released together. Not thread safe. Memory
 * from a reset or finished arena is poisoned under AddressSanitizer, so the use of a stale pointer
 * is reported.
 */
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "base/strbuf.h"

struct bt_arena_chunk;

struct bt_arena {
	struct bt_arena_chunk *chunks; /* newest first */
	char *next;                    /* free space of the newest chunk */
	char *end;
	size_t chunk_bytes; /* size of the next chunk; grows up to a limit */
	size_t total_bytes; /* obtained from malloc */
};

/** All-zero memory is an initialised arena with the default chunk size. */
void bt_arena_init(struct bt_arena *arena, size_t first_chunk_bytes);
/**
 * Like bt_arena_init, but the first allocations use the caller's memory, which must outlive the
 * arena.
 */
void bt_arena_init_with(struct bt_arena *arena, void *memory, size_t size);
void bt_arena_finish(struct bt_arena *arena);
/** Like bt_arena_finish, for memory that held secrets: overwrites the memory before freeing it. */
void bt_arena_finish_wiped(struct bt_arena *arena);
/**
 * Forgets all allocations and keeps the largest chunk for reuse. No effect on an arena that has no
 * chunks yet, such as an arena that still uses the memory of bt_arena_init_with.
 */
void bt_arena_reset(struct bt_arena *arena);

/** Maximum size of one allocation; callers must check sizes from input before they allocate. */
#define BT_ARENA_ALLOCATION_MAX ((size_t)1 << 30)

/**
 * Returns the total memory of the chunks of an arena. The parameter is the list of chunks, because
 * an owner whose arena makes no more allocations may keep only that list.
 */
size_t bt_arena_chunk_bytes(const struct bt_arena_chunk *chunks);
/** NULL accepted. */
void bt_arena_free_chunks(struct bt_arena_chunk *chunks);

/** The memory is aligned for any type and not zeroed. Aborts beyond BT_ARENA_ALLOCATION_MAX. */
BT_MUST_USE void *bt_arena_alloc(struct bt_arena *arena, size_t size);
BT_MUST_USE void *bt_arena_calloc(struct bt_arena *arena, size_t count, size_t size);
/** Allocates without alignment, for text. */
BT_MUST_USE char *bt_arena_alloc_bytes(struct bt_arena *arena, size_t size);
/** Copies text and adds a terminating zero byte; an absent text stays absent. */
BT_MUST_USE struct bt_str bt_arena_str(struct bt_arena *arena, struct bt_str text);
/** Copies the buffer's text like bt_arena_str and frees the buffer. */
BT_MUST_USE struct bt_str bt_arena_take_strbuf(struct bt_arena *arena, struct bt_strbuf *text);
BT_MUST_USE BT_PRINTF(2, 3) struct bt_str
	bt_arena_printf(struct bt_arena *arena, const char *format, ...);

#define BT_ARENA_NEW(arena, type) ((type *)bt_arena_calloc((arena), 1, sizeof(type)))
#define BT_ARENA_NEW_ARRAY(arena, type, count) \
	((type *)bt_arena_calloc((arena), (count), sizeof(type)))

/** Returns a copy of `count` items, followed by zeroed room for `more` items. */
BT_MUST_USE void *bt_arena_copy_array(struct bt_arena *arena, const void *items, uint32_t count,
	uint32_t more, size_t item_bytes);
/**
 * Returns a copy of count items with room for at least one more, and sets *capacity. The old items
 * stay in the arena.
 */
BT_MUST_USE void *bt_arena_grow_array(struct bt_arena *arena, const void *items, uint32_t count,
	size_t item_bytes, uint32_t *capacity);

/** As bt_vec_push, for a list whose items lie in the arena. */
#define bt_arena_push(arena, list, value) \
	do { \
		if ((list)->count >= (list)->capacity) { \
			(list)->items = bt_arena_grow_array((arena), (list)->items, (list)->count, \
				sizeof(*(list)->items), &(list)->capacity); \
		} \
		(list)->items[(list)->count++] = (value); \
	} while (0)
#endif

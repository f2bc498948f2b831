/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_ARENA_H
#define BERTH_ARENA_H
/**
 * @file
 * Memory that is released together: texts of statuses, results, a plugin's data of one cycle. The
 * arena of a scheduling cycle is berth_cycle_state_arena(); it is reset when the cycle ends.
 */
#include <stddef.h>

#include "berth/api.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Opaque. Not thread safe. */
struct berth_arena;

/** An empty arena, owned: berth_arena_destroy(). */
BERTH_API struct berth_arena *berth_arena_create(void);
/** Releases the arena and everything in it. NULL is accepted. */
BERTH_API void berth_arena_destroy(struct berth_arena *arena);
/** Releases everything in it; the arena may be used again. */
BERTH_API void berth_arena_reset(struct berth_arena *arena);

/**
 * @p size bytes, zeroed, aligned for any type; at most 1 GiB (more ends the process: check sizes
 * that come from input). Never NULL.
 */
BERTH_API BERTH_MUST_USE void *berth_arena_alloc(struct berth_arena *arena, size_t size);
/** A copy with a zero byte behind it; an absent text stays absent. */
BERTH_API struct berth_str berth_arena_str(struct berth_arena *arena, struct berth_str text);
/** Text made as printf would make it, with a zero byte behind it. */
BERTH_API BERTH_PRINTF(2, 3) struct berth_str
	berth_arena_printf(struct berth_arena *arena, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_STR_H
#define BERTH_STR_H
/**
 * @file
 * Text by pointer and length, the type of names, labels and messages. Functions with the suffix
 * `_c` and parameters of type `const char *` take zero-terminated text.
 *
 * @code{.c}
 * static struct berth_str key_of(struct berth_arena *arena, const struct berth_pod *pod)
 * {
 *     return berth_arena_printf(arena, "%.*s/%.*s", BERTH_STR_ARG(berth_pod_namespace(pod)),
 *         BERTH_STR_ARG(berth_pod_name(pod)));
 * }
 * @endcode
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A text: any bytes, zero bytes included; not necessarily zero-terminated. No data (NULL) means
 * "absent" where a value may be absent, and equals "" everywhere else. Borrowed unless a function
 * says otherwise.
 */
struct berth_str {
	const char *data; /**< the first byte; NULL: absent */
	uint32_t length;  /**< bytes */
};

/** A pod's identity: metadata.uid (spec 01 section 5.15). */
typedef struct berth_str berth_uid;

#ifdef __cplusplus
/** From a string literal. */
#define BERTH_STR(literal) (berth_str{"" literal, (uint32_t)(sizeof(literal) - 1)})
#else
/** From a string literal. */
#define BERTH_STR(literal) ((struct berth_str){"" literal, (uint32_t)(sizeof(literal) - 1)})
#endif

/** The arguments of the printf conversion "%.*s". */
#define BERTH_STR_ARG(text) (int)(text).length, ((text).data ? (text).data : "")

/** Borrows zero-terminated text; NULL gives an absent text. */
BERTH_API struct berth_str berth_str_from(const char *zero_terminated);
/** Whether the bytes are equal; absent and "" are equal. */
BERTH_API bool berth_str_equal(struct berth_str a, struct berth_str b);
/** berth_str_equal() for zero-terminated text. */
BERTH_API bool berth_str_equal_c(struct berth_str a, const char *b);
/** Compares in byte order: negative, 0 or positive; a prefix comes first. */
BERTH_API int berth_str_compare(struct berth_str a, struct berth_str b);

/* Arenas. */

/**
 * Memory that is released together: texts of statuses, results, a plugin's data of one cycle. The
 * arena of a scheduling cycle is berth_cycle_state_arena(); it is reset when the cycle ends.
 * Opaque. Not thread safe.
 */
struct berth_arena;

/** Creates an empty arena. owned: berth_arena_destroy(). */
BERTH_API struct berth_arena *berth_arena_create(void);
/** Releases the arena and everything in it. NULL is accepted. */
BERTH_API void berth_arena_destroy(struct berth_arena *arena);
/** Releases everything in the arena. The arena may be used again. */
BERTH_API void berth_arena_reset(struct berth_arena *arena);

/**
 * Allocates @p size bytes, zeroed, aligned for any type; at most 1 GiB (more ends the process:
 * check sizes that come from input). Never NULL.
 */
BERTH_API BERTH_MUST_USE void *berth_arena_alloc(struct berth_arena *arena, size_t size);
/** Copies a text and adds a zero byte behind it; an absent text stays absent. */
BERTH_API struct berth_str berth_arena_str(struct berth_arena *arena, struct berth_str text);
/** Formats a text as printf does, and adds a zero byte behind the text. */
BERTH_API BERTH_PRINTF(2, 3) struct berth_str
	berth_arena_printf(struct berth_arena *arena, const char *format, ...);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ASSERT_H
#define BT_BASE_ASSERT_H
/**
 * Checks for programming errors. BT_ASSERT is on in every build, BT_ASSERT_SLOW only with BT_DEBUG.
 * Input must never be checked with these macros.
 */
#include "base/compiler.h"

BT_NORETURN BT_COLD void bt_assert_failed(const char *condition, const char *file, int line);

/** Aborts with a printf-like message when memory or program state is corrupt. */
BT_NORETURN BT_COLD BT_PRINTF(1, 2) void bt_panic(const char *format, ...);

#define BT_ASSERT(condition) \
	(BT_LIKELY(condition) ? (void)0 : bt_assert_failed(#condition, __FILE__, __LINE__))
#ifdef BT_DEBUG
#define BT_ASSERT_SLOW(condition) BT_ASSERT(condition)
#else
#define BT_ASSERT_SLOW(condition) ((void)0)
#endif
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_CPU_H
#define BT_BASE_CPU_H
/** What the processor can do, for choosing among compilations of the same loop. */
#include <stdbool.h>

static inline bool bt_cpu_has_avx2(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2") != 0;
#else
	return false;
#endif
}
#endif

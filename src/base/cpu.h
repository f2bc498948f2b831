/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_CPU_H
#define BT_BASE_CPU_H
/**
 * Features of the processor, to choose among versions of a loop compiled for different instruction
 * sets.
 */
#include <stdbool.h>

/** Whether the processor has AVX2 and fused multiply-add (FMA). */
static inline bool bt_cpu_has_avx2(void)
{
#if defined(__x86_64__)
	return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
#else
	return false;
#endif
}

/** Whether the processor has the AVX-512 subsets F, BW, DQ and VL. */
static inline bool bt_cpu_has_avx512(void)
{
#if defined(__x86_64__)
	return bt_cpu_has_avx2() && __builtin_cpu_supports("avx512f") != 0 &&
		__builtin_cpu_supports("avx512bw") != 0 &&
		__builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
#else
	return false;
#endif
}
#endif

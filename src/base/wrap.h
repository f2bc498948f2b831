/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_WRAP_H
#define BT_BASE_WRAP_H
/** Integer arithmetic that wraps on overflow, as in Go. */
#include <stdint.h>

static inline int64_t bt_wrap_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t bt_wrap_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

static inline int64_t bt_wrap_mul(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a * (uint64_t)b);
}

/** divisor is not 0. INT64_MIN / -1, the only quotient that does not fit, wraps to INT64_MIN. */
static inline int64_t bt_wrap_div(int64_t dividend, int64_t divisor)
{
	return divisor == -1 ? bt_wrap_sub(0, dividend) : dividend / divisor;
}
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_BASE_ORDER_H
#define BT_BASE_ORDER_H
/** Comparison functions by several keys, as for qsort. */
#include <stddef.h>

/** -1, 0 or 1: the order of two numbers, the smaller one first. */
#define BT_ORDER(a, b) (((a) > (b)) - ((a) < (b)))
/** The order by several keys, given by their orders, the most important one first. */
#define BT_ORDER_BY(...) \
	bt_order_by((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

/** Returns the first order that is not 0, or 0. */
static inline int bt_order_by(const int *orders, size_t count)
{
	size_t i = 0;
	while (i + 1 < count && orders[i] == 0) {
		i++;
	}
	return orders[i];
}
#endif

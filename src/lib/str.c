/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

struct berth_str berth_str_from(const char *zero_terminated)
{
	return bt_str_from(zero_terminated);
}

bool berth_str_equal(struct berth_str a, struct berth_str b)
{
	return bt_str_equal(a, b);
}

bool berth_str_equal_c(struct berth_str a, const char *b)
{
	return bt_str_equal_c(a, b);
}

int berth_str_compare(struct berth_str a, struct berth_str b)
{
	return bt_str_compare(a, b);
}

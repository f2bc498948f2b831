/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/amount.h"

#define KIB INT64_C(1024)

void bt_amount_append_cpu(struct bt_strbuf *out, int64_t milli)
{
	if (milli % 1000 == 0) {
		bt_strbuf_printf(out, "%lld", (long long)(milli / 1000));
	} else {
		bt_strbuf_printf(out, "%lldm", (long long)milli);
	}
}

void bt_amount_append_bytes(struct bt_strbuf *out, int64_t bytes)
{
	static const char *const units[] = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"};
	size_t unit = 0;
	int64_t factor = 1;
	while (unit + 1 < BT_ARRAY_LENGTH(units) && bytes / factor >= KIB) {
		factor *= KIB;
		unit++;
	}
	if (bytes % factor == 0) {
		bt_strbuf_printf(out, "%lld%s", (long long)(bytes / factor), units[unit]);
	} else {
		bt_strbuf_printf(out, "%.1f%s", (double)bytes / (double)factor, units[unit]);
	}
}

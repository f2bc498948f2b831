/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLI_AMOUNT_H
#define BT_CLI_AMOUNT_H
/** Amounts of resources as people read them. For computing on, use the numbers themselves. */
#include "base/strbuf.h"

/** "4", "1500m" */
void bt_amount_append_cpu(struct bt_strbuf *out, int64_t milli);
/** The largest binary unit that leaves at least 1, with one decimal where it is not whole: "1.5Gi"
 */
void bt_amount_append_bytes(struct bt_strbuf *out, int64_t bytes);
#endif

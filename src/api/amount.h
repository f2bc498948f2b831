/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_AMOUNT_H
#define BT_API_AMOUNT_H
/** Amounts of resources as people read them. For computing on, use the numbers themselves. */
#include "base/strbuf.h"

/** "4,812" */
void bt_amount_append_count(struct bt_strbuf *out, int64_t count);
/** "250m" below one; "4", "1.5", "38,563.5": exact to the millicore */
void bt_amount_append_cpu(struct bt_strbuf *out, int64_t milli);
/** The largest binary unit that leaves at least 1, with one decimal where it is not whole: "1.5Gi"
 */
void bt_amount_append_bytes(struct bt_strbuf *out, int64_t bytes);
/** The same, rounded up or down: what is missing must not look smaller, nor what there is larger.
 */
void bt_amount_append_bytes_up(struct bt_strbuf *out, int64_t bytes);
void bt_amount_append_bytes_down(struct bt_strbuf *out, int64_t bytes);

enum bt_amount_rounding {
	BT_AMOUNT_NEAREST,
	BT_AMOUNT_UP,   /* what is asked for or missing */
	BT_AMOUNT_DOWN, /* what there is */
};

/** In the unit of this resource: cpu (milli), memory and the like (bytes), or a count. */
void bt_amount_append_of(struct bt_strbuf *out, struct bt_str resource, int64_t amount,
	enum bt_amount_rounding rounding);
/** " (12%)": what amount is of whole; nothing if there is no whole. */
void bt_amount_append_share(struct bt_strbuf *out, int64_t amount, int64_t whole);
#endif

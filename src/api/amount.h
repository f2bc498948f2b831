/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_API_AMOUNT_H
#define BT_API_AMOUNT_H
/** Resource amounts formatted for people. For computations use the numbers. */
#include "base/strbuf.h"

/** Appends a number with separators: "4,812". */
void bt_amount_append_count(struct bt_strbuf *out, int64_t count);
/** Rounding of bytes. */
enum bt_amount_rounding {
	BT_AMOUNT_NEAREST,
	BT_AMOUNT_UP,   /* requested or missing amounts, which must not appear smaller */
	BT_AMOUNT_DOWN, /* available amounts, which must not appear larger */
};

/**
 * Appends an amount as people write it for this resource. amount is in millicores for cpu ("250m",
 * "1.5"), in bytes for memory and similar resources ("1.5Gi"), and a count for other resources
 * ("4,812").
 */
void bt_amount_append_of(struct bt_strbuf *out, struct bt_str resource, int64_t amount,
	enum bt_amount_rounding rounding);
/** Appends amount as a share of whole: " (12%)"; nothing if whole is 0. */
void bt_amount_append_share(struct bt_strbuf *out, int64_t amount, int64_t whole);
#endif

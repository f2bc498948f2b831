/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_LIST_ORDER_H
#define BT_SCHEMA_LIST_ORDER_H
/** The order of a merged list. Spec: 14 section 12.3, order(). */
#include "codec/json_edit.h"

/** A list whose elements have keys. */
struct bt_keyed_list {
	uint32_t count;
	const struct bt_str *keys; /* absent: an element without a key */
	struct bt_json_value *const *elements;
};

/**
 * Sorts the merged elements. Elements whose key is in names follow the order of names; the other
 * elements keep the order that they have in merged. The two sequences are merged: if the next
 * element of each sequence is in the server's list, the order of the server's list decides;
 * otherwise the element whose key is in names comes first. out_elements has room for merged->count.
 */
void bt_list_order(const struct bt_keyed_list *merged, const struct bt_str *names,
	uint32_t name_count, const struct bt_str *server_keys, uint32_t server_count,
	struct bt_json_value **out_elements);
#endif

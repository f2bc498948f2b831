/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_LIST_ORDER_H
#define BT_SCHEMA_LIST_ORDER_H
/** The order of a merged list. Spec: 14 section 12.3, order(). */
#include "codec/json_edit.h"

/** A list whose elements have keys. */
struct bt_keyed_list {
	uint32_t count;
	const struct bt_str *keys; /* absent: no key, not equal to any other */
	struct bt_json_value *const *elements;
};

/**
 * Sorts the merged elements: elements in names follow the order of names, other elements keep the
 * order of the server's list, and between the two groups the order of the server's list decides
 * where it has both elements. out_elements has room for merged->count.
 */
void bt_list_order(const struct bt_keyed_list *merged, const struct bt_str *names,
	uint32_t name_count, const struct bt_str *server_keys, uint32_t server_count,
	struct bt_json_value **out_elements);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_SCHEMA_LIST_ORDER_H
#define BT_SCHEMA_LIST_ORDER_H
/** The order of a merged list. Spec: 14 section 12.3, order(). */
#include "codec/json_edit.h"

/** A list whose elements are told apart by texts. */
struct bt_keyed_list {
	uint32_t count;
	const struct bt_str *keys; /* absent: has none, equals no other */
	struct bt_json_value *const *elements;
};

/**
 * Bring the merged elements in order: those that are named follow the order of the names, the
 * others keep the order they have in the server's list, and where both are in the server's list
 * the one that stands first there comes first. out_elements has room for merged->count.
 */
void bt_list_order(const struct bt_keyed_list *merged, const struct bt_str *names,
	uint32_t name_count, const struct bt_str *server_keys, uint32_t server_count,
	struct bt_json_value **out_elements);
#endif

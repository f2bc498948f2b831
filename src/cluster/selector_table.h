/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_SELECTOR_TABLE_H
#define BT_CLUSTER_SELECTOR_TABLE_H
/**
 * The selectors of a controller's objects, parsed once, so that a pod without owner finds those
 * that would adopt it.
 */
#include "api/selector.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/json.h"
#include "cluster/groups.h"

struct bt_selector_entry {
	struct bt_arena arena; /* of key and selector */
	struct bt_str key;
	struct bt_selector selector;
	uint64_t bits; /* what every match has: bt_label_bits */
};

struct bt_selector_table {
	struct bt_groups namespaces; /* keys by namespace */
	struct bt_map by_key;
	BT_VEC(struct bt_selector_entry *) entries; /* NULL: free */
	BT_VEC(uint32_t) free_slots;
};

void bt_selector_table_init(struct bt_selector_table *table);
void bt_selector_table_finish(struct bt_selector_table *table);
/** selector: a LabelSelector, or (is_map) labels. One that is invalid or selects everything is not
 * kept. */
void bt_selector_table_put(struct bt_selector_table *table, struct bt_str key,
	const struct bt_json_value *selector, bool is_map);
void bt_selector_table_remove(struct bt_selector_table *table, struct bt_str key);
/** NULL: there is no usable one. */
const struct bt_selector_entry *bt_selector_table_find(
	const struct bt_selector_table *table, struct bt_str key);
/** Call found for each object of the namespace that selects these labels. */
void bt_selector_table_match(const struct bt_selector_table *table, struct bt_str namespace_,
	const struct bt_json_value *labels, void (*found)(void *context, struct bt_str key),
	void *context);
#endif

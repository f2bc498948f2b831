/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_OWNERS_H
#define BT_CLUSTER_OWNERS_H
/** From an object to the controller's object that owns it, or that would adopt it. */
#include "api/selector.h"
#include "base/map.h"
#include "base/vec.h"
#include "cluster/controller.h"
#include "cluster/groups.h"

/** The selectors of a controller's objects, parsed once, so that a pod without owner finds those
 * that would adopt it. */
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

/** Look at the owner, now and before the change, if it is of this kind. Nothing else when it has
 * one; an object without owner is shown to those that select it (selectors may be NULL). */
void bt_owners_enqueue(struct bt_hub *hub, const struct bt_observed *observed, const char *kind,
	const struct bt_selector_table *selectors);
/** Keep the table current and look at a changed object of the controller itself. */
void bt_owners_observe(struct bt_hub *hub, const struct bt_observed *observed,
	struct bt_selector_table *selectors, bool selector_is_map);
/**
 * Active pods without owner that the object of the key selects become its own; each shows as a
 * change, so the key comes back. accepts (may be NULL) looks at the pod's name. Returns whether
 * there were any.
 */
bool bt_owners_adopt_pods(struct bt_hub *hub, const struct bt_selector_table *selectors,
	struct bt_str key, struct bt_json_value *owner_reference,
	bool (*accepts)(struct bt_str set_name, struct bt_str pod_name), struct bt_arena *arena);
#endif

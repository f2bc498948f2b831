/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_CLUSTER_OWNERS_H
#define BT_CLUSTER_OWNERS_H
/** From an object to the controller's object that owns it, or that would adopt it. */
#include "cluster/controller.h"
#include "cluster/selector_table.h"

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

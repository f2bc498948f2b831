/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_REGISTRY_H
#define BT_PLUGINS_REGISTRY_H
/**
 * The in-tree plugins. Spec: 02 section 7. Legacy predicates and priorities (spec 05b) are
 * registered, but not enabled by default.
 */
#include "framework/registry.h"

/** Register every in-tree plugin. */
BT_MUST_USE int bt_register_in_tree_plugins(struct bt_registry *registry, struct berth_error *err);
#endif

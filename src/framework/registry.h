/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_FRAMEWORK_REGISTRY_H
#define BT_FRAMEWORK_REGISTRY_H
/** Registry of plugins by name. Spec: 02 section 7. */
#include "base/vec.h"
#include "framework/plugin.h"

struct bt_registry {
	/** In order of registration. Free with bt_vec_finish; zero memory is an empty registry. */
	BT_VEC(const struct bt_plugin_ops *) entries;
};

/** Fails with `a plugin named <name> already exists`. */
BT_MUST_USE int bt_registry_register(
	struct bt_registry *registry, const struct bt_plugin_ops *ops, struct berth_error *err);
/** Fails with `no plugin named <name> exists`. */
BT_MUST_USE int bt_registry_unregister(
	struct bt_registry *registry, struct bt_str name, struct berth_error *err);
/**
 * Registers each entry of `other` in registry. Stops at the first error and returns this error; the
 * entries registered before the error stay registered.
 */
BT_MUST_USE int bt_registry_merge(
	struct bt_registry *registry, const struct bt_registry *other, struct berth_error *err);
/** Returns NULL if no plugin has this name. */
const struct bt_plugin_ops *bt_registry_find(
	const struct bt_registry *registry, struct bt_str name);
#endif

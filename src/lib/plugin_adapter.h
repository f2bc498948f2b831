/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_PLUGIN_ADAPTER_H
#define BT_LIB_PLUGIN_ADAPTER_H
/** Adapts plugins outside of the tree to the framework's tables. */
#include "berth/plugin.h"
#include "framework/plugin.h"

/** A factory in the registry. First member is the table that the framework uses. */
struct bt_plugin_registration {
	struct bt_plugin_ops ops;
	char *name; /* owned */
	berth_plugin_factory_fn create;
	void *context;
};

/** Fills ops; name, create and context must be set. The registration must not move afterwards. */
void bt_plugin_registration_init(struct bt_plugin_registration *registration);

/** Returns node infos of the slots, in the arena. */
const struct berth_node_info *const *bt_lib_node_infos(const struct bt_snapshot_view *view,
	const uint32_t *slots, uint32_t count, struct bt_arena *arena);
#endif

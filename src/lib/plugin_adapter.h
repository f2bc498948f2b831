/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_LIB_PLUGIN_ADAPTER_H
#define BT_LIB_PLUGIN_ADAPTER_H
/**
 * Lets the framework call out-of-tree plugins, which have tables of type struct berth_plugin_ops.
 */
#include "berth/plugin.h"
#include "framework/plugin.h"

/** The factory of an out-of-tree plugin. */
struct bt_plugin_registration {
	/** Entry in the framework's registry. Of ops, only name, create and context are set. */
	struct bt_plugin_ops ops;
	char *name; /* owned */
	berth_plugin_factory_fn create;
	void *context;
};

/**
 * Sets ops; the caller must have set the other members. The registration must not move afterwards,
 * because ops points to it.
 */
void bt_plugin_registration_init(struct bt_plugin_registration *registration);

/**
 * Returns views of the nodes in these slots; the views are in the arena. If the snapshot view has
 * an assumed pod (view->assumed), the returned views omit this pod.
 */
const struct berth_node_info *const *bt_lib_node_infos(const struct bt_snapshot_view *view,
	const uint32_t *slots, uint32_t count, struct bt_arena *arena);
#endif

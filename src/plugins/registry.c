/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/registry.h"

#include "plugins/in_tree.h"

static const struct bt_plugin_ops *const in_tree_plugins[] = {
#define BT_PLUGIN(name) &bt_##name##_plugin,
#include "plugins/in_tree.def"
#undef BT_PLUGIN
};

int bt_register_in_tree_plugins(struct bt_registry *registry, struct berth_error *err)
{
	for (size_t i = 0; i < BT_ARRAY_LENGTH(in_tree_plugins); i++) {
		int code = bt_registry_register(registry, in_tree_plugins[i], err);
		if (code != 0) {
			return code;
		}
	}
	return 0;
}

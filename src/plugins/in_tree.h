/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_IN_TREE_H
#define BT_PLUGINS_IN_TREE_H
/** The operations of the in-tree plugins: bt_<name>_plugin for each row of in_tree.def. */
#include "framework/plugin.h"

#define BT_PLUGIN(name) extern const struct bt_plugin_ops bt_##name##_plugin;
#include "plugins/in_tree.def"
#undef BT_PLUGIN
#endif

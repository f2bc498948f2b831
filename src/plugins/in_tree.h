/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_IN_TREE_H
#define BT_PLUGINS_IN_TREE_H
/** The operations of the in-tree plugins. registry.c lists them. */
#include "framework/plugin.h"

extern const struct bt_plugin_ops bt_default_binder_plugin;
extern const struct bt_plugin_ops bt_default_preemption_plugin;
extern const struct bt_plugin_ops bt_dynamic_resources_plugin;
extern const struct bt_plugin_ops bt_gang_scheduling_plugin;
extern const struct bt_plugin_ops bt_image_locality_plugin;
extern const struct bt_plugin_ops bt_inter_pod_affinity_plugin;
extern const struct bt_plugin_ops bt_node_affinity_plugin;
extern const struct bt_plugin_ops bt_node_declared_features_plugin;
extern const struct bt_plugin_ops bt_node_name_plugin;
extern const struct bt_plugin_ops bt_node_ports_plugin;
extern const struct bt_plugin_ops bt_node_resources_balanced_allocation_plugin;
extern const struct bt_plugin_ops bt_node_resources_fit_plugin;
extern const struct bt_plugin_ops bt_node_unschedulable_plugin;
extern const struct bt_plugin_ops bt_node_volume_limits_plugin;
extern const struct bt_plugin_ops bt_pod_group_pods_count_plugin;
extern const struct bt_plugin_ops bt_pod_topology_spread_plugin;
extern const struct bt_plugin_ops bt_priority_sort_plugin;
extern const struct bt_plugin_ops bt_scheduling_gates_plugin;
extern const struct bt_plugin_ops bt_taint_toleration_plugin;
extern const struct bt_plugin_ops bt_topology_placement_generator_plugin;
extern const struct bt_plugin_ops bt_volume_binding_plugin;
extern const struct bt_plugin_ops bt_volume_restrictions_plugin;
extern const struct bt_plugin_ops bt_volume_zone_plugin;
#endif

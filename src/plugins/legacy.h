/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_LEGACY_H
#define BT_PLUGINS_LEGACY_H
/**
 * Predicates and priorities that upstream has removed, as plugins. All these plugins are
 * registered, but a plugin runs only in profiles that name the plugin. Spec: 05b part B.
 */
#include "framework/plugin.h"

/* Filters. */
extern const struct bt_plugin_ops bt_legacy_check_node_condition_plugin;
extern const struct bt_plugin_ops bt_legacy_check_node_memory_pressure_plugin;
extern const struct bt_plugin_ops bt_legacy_check_node_disk_pressure_plugin;
extern const struct bt_plugin_ops bt_legacy_check_node_pid_pressure_plugin;
extern const struct bt_plugin_ops bt_legacy_general_predicates_plugin;
extern const struct bt_plugin_ops bt_legacy_host_name_plugin;
extern const struct bt_plugin_ops bt_legacy_match_node_selector_plugin;
extern const struct bt_plugin_ops bt_legacy_max_azure_disk_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_max_cinder_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_max_ebs_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_max_gce_pd_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_pod_fits_host_ports_plugin;
extern const struct bt_plugin_ops bt_legacy_pod_fits_ports_plugin;
extern const struct bt_plugin_ops bt_legacy_pod_fits_resources_plugin;
extern const struct bt_plugin_ops bt_legacy_pod_tolerates_node_taints_plugin;
extern const struct bt_plugin_ops bt_legacy_pod_tolerates_node_no_execute_taints_plugin;

/* Filter and score. */
extern const struct bt_plugin_ops bt_legacy_node_label_plugin;
extern const struct bt_plugin_ops bt_legacy_service_affinity_plugin;

/* Scores. */
extern const struct bt_plugin_ops bt_legacy_balanced_resource_allocation_plugin;
extern const struct bt_plugin_ops bt_legacy_equal_priority_plugin;
extern const struct bt_plugin_ops bt_legacy_image_locality_priority_plugin;
extern const struct bt_plugin_ops bt_legacy_least_requested_priority_plugin;
extern const struct bt_plugin_ops bt_legacy_most_requested_priority_plugin;
extern const struct bt_plugin_ops bt_legacy_node_prefer_avoid_pods_plugin;
extern const struct bt_plugin_ops bt_legacy_requested_to_capacity_ratio_priority_plugin;
extern const struct bt_plugin_ops bt_legacy_resource_limits_priority_plugin;

/* Filters under old predicate names, implemented by the current plugins. Spec: 05b A1, C2. */
extern const struct bt_plugin_ops bt_legacy_check_node_unschedulable_plugin;
extern const struct bt_plugin_ops bt_legacy_check_volume_binding_plugin;
extern const struct bt_plugin_ops bt_legacy_match_inter_pod_affinity_plugin;
extern const struct bt_plugin_ops bt_legacy_max_csi_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_no_disk_conflict_plugin;
extern const struct bt_plugin_ops bt_legacy_no_volume_zone_conflict_plugin;
#endif

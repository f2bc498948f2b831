/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BT_PLUGINS_LEGACY_NAMES_H
#define BT_PLUGINS_LEGACY_NAMES_H
/**
 * Old predicate names of what today's plugins check: filters under those names, for profiles and
 * policies that use them. Spec: 05b A1, C2.
 */
#include "framework/plugin.h"

extern const struct bt_plugin_ops bt_legacy_check_node_unschedulable_plugin;
extern const struct bt_plugin_ops bt_legacy_check_volume_binding_plugin;
extern const struct bt_plugin_ops bt_legacy_match_inter_pod_affinity_plugin;
extern const struct bt_plugin_ops bt_legacy_max_csi_volume_count_plugin;
extern const struct bt_plugin_ops bt_legacy_no_disk_conflict_plugin;
extern const struct bt_plugin_ops bt_legacy_no_volume_zone_conflict_plugin;
#endif

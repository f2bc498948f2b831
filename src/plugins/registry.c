/* SPDX-License-Identifier: Apache-2.0 */
#include "plugins/registry.h"

#include "plugins/in_tree.h"
#include "plugins/legacy.h"

/* The plugins in byte order of their names. Legacy plugins come last. */
static const struct bt_plugin_ops *const in_tree_plugins[] = {
	&bt_default_binder_plugin,
	&bt_default_preemption_plugin,
	&bt_dynamic_resources_plugin,
	&bt_gang_scheduling_plugin,
	&bt_image_locality_plugin,
	&bt_inter_pod_affinity_plugin,
	&bt_node_affinity_plugin,
	&bt_node_declared_features_plugin,
	&bt_node_name_plugin,
	&bt_node_ports_plugin,
	&bt_node_resources_balanced_allocation_plugin,
	&bt_node_resources_fit_plugin,
	&bt_node_unschedulable_plugin,
	&bt_node_volume_limits_plugin,
	&bt_pod_group_pods_count_plugin,
	&bt_pod_topology_spread_plugin,
	&bt_priority_sort_plugin,
	&bt_scheduling_gates_plugin,
	&bt_taint_toleration_plugin,
	&bt_topology_placement_generator_plugin,
	&bt_volume_binding_plugin,
	&bt_volume_restrictions_plugin,
	&bt_volume_zone_plugin,
	/* Legacy predicates and priorities, spec 05b. */
	&bt_legacy_balanced_resource_allocation_plugin,
	&bt_legacy_check_node_condition_plugin,
	&bt_legacy_check_node_disk_pressure_plugin,
	&bt_legacy_check_node_memory_pressure_plugin,
	&bt_legacy_check_node_pid_pressure_plugin,
	&bt_legacy_check_node_unschedulable_plugin,
	&bt_legacy_check_volume_binding_plugin,
	&bt_legacy_equal_priority_plugin,
	&bt_legacy_general_predicates_plugin,
	&bt_legacy_host_name_plugin,
	&bt_legacy_image_locality_priority_plugin,
	&bt_legacy_least_requested_priority_plugin,
	&bt_legacy_match_inter_pod_affinity_plugin,
	&bt_legacy_match_node_selector_plugin,
	&bt_legacy_max_azure_disk_volume_count_plugin,
	&bt_legacy_max_cinder_volume_count_plugin,
	&bt_legacy_max_csi_volume_count_plugin,
	&bt_legacy_max_ebs_volume_count_plugin,
	&bt_legacy_max_gce_pd_volume_count_plugin,
	&bt_legacy_most_requested_priority_plugin,
	&bt_legacy_no_disk_conflict_plugin,
	&bt_legacy_no_volume_zone_conflict_plugin,
	&bt_legacy_node_label_plugin,
	&bt_legacy_node_prefer_avoid_pods_plugin,
	&bt_legacy_pod_fits_host_ports_plugin,
	&bt_legacy_pod_fits_ports_plugin,
	&bt_legacy_pod_fits_resources_plugin,
	&bt_legacy_pod_tolerates_node_no_execute_taints_plugin,
	&bt_legacy_pod_tolerates_node_taints_plugin,
	&bt_legacy_requested_to_capacity_ratio_priority_plugin,
	&bt_legacy_resource_limits_priority_plugin,
	&bt_legacy_service_affinity_plugin,
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

/* SPDX-License-Identifier: Apache-2.0 */
/** The predicates by name, and reasons. */
#include <stddef.h>

#include "compat/predicate.h"
#include "plugins/in_tree.h"
#include "plugins/legacy.h"

static const char *const ordering[BERTH_PREDICATE__COUNT] = {
	"CheckNodeCondition",
	"CheckNodeUnschedulable",
	"GeneralPredicates",
	"HostName",
	"PodFitsHostPorts",
	"MatchNodeSelector",
	"PodFitsResources",
	"NoDiskConflict",
	"PodToleratesNodeTaints",
	"PodToleratesNodeNoExecuteTaints",
	"CheckNodeLabelPresence",
	"CheckServiceAffinity",
	"MaxEBSVolumeCount",
	"MaxGCEPDVolumeCount",
	"MaxCSIVolumeCountPred",
	"MaxAzureDiskVolumeCount",
	"CheckVolumeBinding",
	"NoVolumeZoneConflict",
	"CheckNodeMemoryPressure",
	"CheckNodePIDPressure",
	"CheckNodeDiskPressure",
	"MatchInterPodAffinity",
};

const struct bt_plugin_ops *const bt_predicate_plugins[BERTH_PREDICATE__COUNT] = {
	&bt_legacy_check_node_condition_plugin,
	&bt_node_unschedulable_plugin,
	&bt_legacy_general_predicates_plugin,
	&bt_legacy_host_name_plugin,
	&bt_legacy_pod_fits_host_ports_plugin,
	&bt_legacy_match_node_selector_plugin,
	&bt_legacy_pod_fits_resources_plugin,
	&bt_volume_restrictions_plugin,
	&bt_legacy_pod_tolerates_node_taints_plugin,
	&bt_legacy_pod_tolerates_node_no_execute_taints_plugin,
	&bt_legacy_node_label_plugin,
	&bt_legacy_service_affinity_plugin,
	&bt_legacy_max_ebs_volume_count_plugin,
	&bt_legacy_max_gce_pd_volume_count_plugin,
	&bt_node_volume_limits_plugin,
	&bt_legacy_max_azure_disk_volume_count_plugin,
	&bt_volume_binding_plugin,
	&bt_volume_zone_plugin,
	&bt_legacy_check_node_memory_pressure_plugin,
	&bt_legacy_check_node_pid_pressure_plugin,
	&bt_legacy_check_node_disk_pressure_plugin,
	&bt_inter_pod_affinity_plugin,
};

#define PREDICATE(function, constant) \
	int berth_predicate_##function(BERTH_PREDICATE_PARAMETERS) \
	{ \
		return bt_predicate_run( \
			BERTH_PREDICATE_##constant, pod, metadata, node, arena, out_result, err); \
	}

PREDICATE(check_node_condition, CHECK_NODE_CONDITION)
PREDICATE(check_node_unschedulable, CHECK_NODE_UNSCHEDULABLE)
PREDICATE(general, GENERAL)
PREDICATE(host_name, HOST_NAME)
PREDICATE(pod_fits_host_ports, POD_FITS_HOST_PORTS)
PREDICATE(match_node_selector, MATCH_NODE_SELECTOR)
PREDICATE(pod_fits_resources, POD_FITS_RESOURCES)
PREDICATE(no_disk_conflict, NO_DISK_CONFLICT)
PREDICATE(pod_tolerates_node_taints, POD_TOLERATES_NODE_TAINTS)
PREDICATE(pod_tolerates_node_no_execute_taints, POD_TOLERATES_NODE_NO_EXECUTE_TAINTS)
PREDICATE(check_node_label_presence, CHECK_NODE_LABEL_PRESENCE)
PREDICATE(check_service_affinity, CHECK_SERVICE_AFFINITY)
PREDICATE(max_ebs_volume_count, MAX_EBS_VOLUME_COUNT)
PREDICATE(max_gce_pd_volume_count, MAX_GCE_PD_VOLUME_COUNT)
PREDICATE(max_csi_volume_count, MAX_CSI_VOLUME_COUNT)
PREDICATE(max_azure_disk_volume_count, MAX_AZURE_DISK_VOLUME_COUNT)
PREDICATE(check_volume_binding, CHECK_VOLUME_BINDING)
PREDICATE(no_volume_zone_conflict, NO_VOLUME_ZONE_CONFLICT)
PREDICATE(check_node_memory_pressure, CHECK_NODE_MEMORY_PRESSURE)
PREDICATE(check_node_pid_pressure, CHECK_NODE_PID_PRESSURE)
PREDICATE(check_node_disk_pressure, CHECK_NODE_DISK_PRESSURE)
PREDICATE(match_inter_pod_affinity, MATCH_INTER_POD_AFFINITY)

static const berth_predicate_fn functions[BERTH_PREDICATE__COUNT] = {
	berth_predicate_check_node_condition,
	berth_predicate_check_node_unschedulable,
	berth_predicate_general,
	berth_predicate_host_name,
	berth_predicate_pod_fits_host_ports,
	berth_predicate_match_node_selector,
	berth_predicate_pod_fits_resources,
	berth_predicate_no_disk_conflict,
	berth_predicate_pod_tolerates_node_taints,
	berth_predicate_pod_tolerates_node_no_execute_taints,
	berth_predicate_check_node_label_presence,
	berth_predicate_check_service_affinity,
	berth_predicate_max_ebs_volume_count,
	berth_predicate_max_gce_pd_volume_count,
	berth_predicate_max_csi_volume_count,
	berth_predicate_max_azure_disk_volume_count,
	berth_predicate_check_volume_binding,
	berth_predicate_no_volume_zone_conflict,
	berth_predicate_check_node_memory_pressure,
	berth_predicate_check_node_pid_pressure,
	berth_predicate_check_node_disk_pressure,
	berth_predicate_match_inter_pod_affinity,
};

const char *berth_predicate_name(enum berth_predicate predicate)
{
	return (int)predicate >= 0 && predicate < BERTH_PREDICATE__COUNT ? ordering[predicate]
									 : NULL;
}

const char *const *berth_predicate_ordering(void)
{
	return ordering;
}

uint32_t bt_predicate_index(const char *name)
{
	struct bt_str wanted = bt_str_from(name);
	uint32_t i = 0;

	if (bt_str_equal_c(wanted, "PodFitsPorts")) {
		return BERTH_PREDICATE_POD_FITS_HOST_PORTS; /* policies of 1.0, spec 05b A1 */
	}
	while (i < BERTH_PREDICATE__COUNT && !bt_str_equal_c(wanted, ordering[i])) {
		i++;
	}
	return i;
}

berth_predicate_fn berth_predicate_find(const struct berth_predicates *predicates, const char *name)
{
	uint32_t index = bt_predicate_index(name);
	berth_predicate_fn registered =
		predicates != NULL ? bt_predicate_find_registered(predicates, name) : NULL;

	if (registered != NULL) {
		return registered;
	}
	return index < BERTH_PREDICATE__COUNT ? functions[index] : NULL;
}

struct berth_insufficient_resource berth_insufficient_resource_make(
	struct berth_str resource_name, int64_t requested, int64_t used, int64_t capacity)
{
	return (struct berth_insufficient_resource){resource_name, requested, used, capacity};
}

struct berth_str berth_insufficient_resource_reason(
	const struct berth_insufficient_resource *insufficient, struct berth_arena *arena)
{
	return bt_arena_printf(
		bt_arena_of(arena), "Insufficient %.*s", BT_STR_ARG(insufficient->resource_name));
}

struct berth_str berth_insufficient_resource_error(
	const struct berth_insufficient_resource *insufficient, struct berth_arena *arena)
{
	return bt_arena_printf(bt_arena_of(arena),
		"Node didn't have enough resource: %.*s, requested: %lld, used: %lld, capacity: "
		"%lld",
		BT_STR_ARG(insufficient->resource_name), (long long)insufficient->requested,
		(long long)insufficient->used, (long long)insufficient->capacity);
}

struct berth_predicate_failure_reason berth_predicate_failure_reason_make(
	struct berth_str text, struct berth_arena *arena)
{
	return (struct berth_predicate_failure_reason){
		.text = bt_arena_str(bt_arena_of(arena), text)};
}

/* SPDX-License-Identifier: Apache-2.0 */
/** The table of predicates, and reasons of predicates. */
#include <stddef.h>

#include "compat/predicate.h"
#include "plugins/in_tree.h"

#define DEFAULT BT_PREDICATE_DEFAULT
#define LOCAL BT_PREDICATE_LOCAL

/* One row for each predicate: constant, function, name, plugin, traits. */
/* clang-format off */
#define PREDICATES(X) \
	X(CHECK_NODE_CONDITION, check_node_condition, \
		"CheckNodeCondition", bt_legacy_check_node_condition_plugin, DEFAULT | LOCAL) \
	X(CHECK_NODE_UNSCHEDULABLE, check_node_unschedulable, \
		"CheckNodeUnschedulable", bt_node_unschedulable_plugin, LOCAL) \
	X(GENERAL, general, \
		"GeneralPredicates", bt_legacy_general_predicates_plugin, DEFAULT | LOCAL) \
	X(HOST_NAME, host_name, \
		"HostName", bt_legacy_host_name_plugin, LOCAL) \
	X(POD_FITS_HOST_PORTS, pod_fits_host_ports, \
		"PodFitsHostPorts", bt_legacy_pod_fits_host_ports_plugin, LOCAL) \
	X(MATCH_NODE_SELECTOR, match_node_selector, \
		"MatchNodeSelector", bt_legacy_match_node_selector_plugin, LOCAL) \
	X(POD_FITS_RESOURCES, pod_fits_resources, \
		"PodFitsResources", bt_legacy_pod_fits_resources_plugin, LOCAL) \
	X(NO_DISK_CONFLICT, no_disk_conflict, \
		"NoDiskConflict", bt_volume_restrictions_plugin, DEFAULT) \
	X(POD_TOLERATES_NODE_TAINTS, pod_tolerates_node_taints, \
		"PodToleratesNodeTaints", \
		bt_legacy_pod_tolerates_node_taints_plugin, DEFAULT | LOCAL) \
	X(POD_TOLERATES_NODE_NO_EXECUTE_TAINTS, pod_tolerates_node_no_execute_taints, \
		"PodToleratesNodeNoExecuteTaints", \
		bt_legacy_pod_tolerates_node_no_execute_taints_plugin, LOCAL) \
	X(CHECK_NODE_LABEL_PRESENCE, check_node_label_presence, \
		"CheckNodeLabelPresence", bt_legacy_node_label_plugin, LOCAL) \
	X(CHECK_SERVICE_AFFINITY, check_service_affinity, \
		"CheckServiceAffinity", bt_legacy_service_affinity_plugin, 0) \
	X(MAX_EBS_VOLUME_COUNT, max_ebs_volume_count, \
		"MaxEBSVolumeCount", bt_legacy_max_ebs_volume_count_plugin, DEFAULT) \
	X(MAX_GCE_PD_VOLUME_COUNT, max_gce_pd_volume_count, \
		"MaxGCEPDVolumeCount", bt_legacy_max_gce_pd_volume_count_plugin, DEFAULT) \
	X(MAX_CSI_VOLUME_COUNT, max_csi_volume_count, \
		"MaxCSIVolumeCountPred", bt_node_volume_limits_plugin, DEFAULT) \
	X(MAX_AZURE_DISK_VOLUME_COUNT, max_azure_disk_volume_count, \
		"MaxAzureDiskVolumeCount", bt_legacy_max_azure_disk_volume_count_plugin, DEFAULT) \
	X(CHECK_VOLUME_BINDING, check_volume_binding, \
		"CheckVolumeBinding", bt_volume_binding_plugin, DEFAULT) \
	X(NO_VOLUME_ZONE_CONFLICT, no_volume_zone_conflict, \
		"NoVolumeZoneConflict", bt_volume_zone_plugin, DEFAULT) \
	X(CHECK_NODE_MEMORY_PRESSURE, check_node_memory_pressure, \
		"CheckNodeMemoryPressure", \
		bt_legacy_check_node_memory_pressure_plugin, DEFAULT | LOCAL) \
	X(CHECK_NODE_PID_PRESSURE, check_node_pid_pressure, \
		"CheckNodePIDPressure", bt_legacy_check_node_pid_pressure_plugin, DEFAULT | LOCAL) \
	X(CHECK_NODE_DISK_PRESSURE, check_node_disk_pressure, \
		"CheckNodeDiskPressure", \
		bt_legacy_check_node_disk_pressure_plugin, DEFAULT | LOCAL) \
	X(MATCH_INTER_POD_AFFINITY, match_inter_pod_affinity, \
		"MatchInterPodAffinity", bt_inter_pod_affinity_plugin, DEFAULT)
/* clang-format on */

#define FUNCTION(constant, function, name, plugin, traits) \
	int berth_predicate_##function(BERTH_PREDICATE_PARAMETERS) \
	{ \
		return bt_predicate_run( \
			BERTH_PREDICATE_##constant, pod, metadata, node, arena, out_result, err); \
	}
PREDICATES(FUNCTION)

#define NAME(constant, function, name, plugin, traits) [BERTH_PREDICATE_##constant] = name,
static const char *const ordering[BERTH_PREDICATE__COUNT] = {PREDICATES(NAME)};

#define INFO(constant, function, name, plugin, traits) \
	[BERTH_PREDICATE_##constant] = {&(plugin), berth_predicate_##function, traits},
const struct bt_predicate_info bt_predicate_infos[BERTH_PREDICATE__COUNT] = {PREDICATES(INFO)};

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
		return BERTH_PREDICATE_POD_FITS_HOST_PORTS; /* the name in policies of v1.0: spec
		                                               05b A1 */
	}
	while (i < BERTH_PREDICATE__COUNT && !bt_str_equal_c(wanted, ordering[i])) {
		i++;
	}
	return i;
}

berth_predicate_fn berth_predicate_find(const struct berth_predicates *predicates, const char *name)
{
	uint32_t index = bt_predicate_index(name);
	const struct bt_registered_predicate *registered =
		predicates != NULL ? bt_predicate_find_registered(predicates, name) : NULL;

	if (registered != NULL) {
		return registered->predicate;
	}
	return index < BERTH_PREDICATE__COUNT ? bt_predicate_infos[index].function : NULL;
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

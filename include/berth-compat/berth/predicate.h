/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BERTH_PREDICATE_H
#define BERTH_PREDICATE_H
/**
 * @file
 * The fit predicates of v1.12 as functions of a pod, metadata and a node aggregate, implemented by
 * the plugins that replaced them or that keep their rules. Spec 05b, 03 section 16.
 *
 * The same predicates are filter plugins for profiles. A predicate that a current plugin replaced
 * has the current rules and texts; the other predicates have the rules and texts of v1.12.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "berth/api.h"
#include "berth/cache.h"
#include "berth/config.h"
#include "berth/error.h"
#include "berth/handle.h"
#include "berth/node_info.h"
#include "berth/object.h"
#include "berth/resource.h"
#include "berth/str.h"

#ifdef __cplusplus
extern "C" {
#endif

/** predicatesOrdering: the predicates in the order in which they are evaluated (spec 05b A1). */
enum berth_predicate {
	BERTH_PREDICATE_CHECK_NODE_CONDITION, /**< CheckNodeConditionPred ("CheckNodeCondition") */
	BERTH_PREDICATE_CHECK_NODE_UNSCHEDULABLE, /**< CheckNodeUnschedulablePred
	                                             ("CheckNodeUnschedulable") */
	BERTH_PREDICATE_GENERAL,                  /**< GeneralPred ("GeneralPredicates") */
	BERTH_PREDICATE_HOST_NAME,                /**< HostNamePred ("HostName") */
	BERTH_PREDICATE_POD_FITS_HOST_PORTS,      /**< PodFitsHostPortsPred ("PodFitsHostPorts") */
	BERTH_PREDICATE_MATCH_NODE_SELECTOR, /**< MatchNodeSelectorPred ("MatchNodeSelector") */
	BERTH_PREDICATE_POD_FITS_RESOURCES,  /**< PodFitsResourcesPred ("PodFitsResources") */
	BERTH_PREDICATE_NO_DISK_CONFLICT,    /**< NoDiskConflictPred ("NoDiskConflict") */
	BERTH_PREDICATE_POD_TOLERATES_NODE_TAINTS,            /**< PodToleratesNodeTaintsPred
	                                                         ("PodToleratesNodeTaints") */
	BERTH_PREDICATE_POD_TOLERATES_NODE_NO_EXECUTE_TAINTS, /**<
	                                                         PodToleratesNodeNoExecuteTaintsPred
	                                                         ("PodToleratesNodeNoExecuteTaints")
	                                                       */
	BERTH_PREDICATE_CHECK_NODE_LABEL_PRESENCE,            /**< CheckNodeLabelPresencePred
	                                                         ("CheckNodeLabelPresence") */
	BERTH_PREDICATE_CHECK_SERVICE_AFFINITY,               /**< CheckServiceAffinityPred
	                                                         ("CheckServiceAffinity") */
	BERTH_PREDICATE_MAX_EBS_VOLUME_COUNT,    /**< MaxEBSVolumeCountPred ("MaxEBSVolumeCount") */
	BERTH_PREDICATE_MAX_GCE_PD_VOLUME_COUNT, /**< MaxGCEPDVolumeCountPred
	                                            ("MaxGCEPDVolumeCount") */
	BERTH_PREDICATE_MAX_CSI_VOLUME_COUNT, /**< MaxCSIVolumeCountPred ("MaxCSIVolumeCountPred")
	                                       */
	BERTH_PREDICATE_MAX_AZURE_DISK_VOLUME_COUNT, /**< MaxAzureDiskVolumeCountPred
	                                                ("MaxAzureDiskVolumeCount") */
	BERTH_PREDICATE_CHECK_VOLUME_BINDING, /**< CheckVolumeBindingPred ("CheckVolumeBinding") */
	BERTH_PREDICATE_NO_VOLUME_ZONE_CONFLICT,    /**< NoVolumeZoneConflictPred
	                                               ("NoVolumeZoneConflict") */
	BERTH_PREDICATE_CHECK_NODE_MEMORY_PRESSURE, /**< CheckNodeMemoryPressurePred
	                                               ("CheckNodeMemoryPressure") */
	BERTH_PREDICATE_CHECK_NODE_PID_PRESSURE,    /**< CheckNodePIDPressurePred
	                                               ("CheckNodePIDPressure") */
	BERTH_PREDICATE_CHECK_NODE_DISK_PRESSURE,   /**< CheckNodeDiskPressurePred
	                                               ("CheckNodeDiskPressure") */
	BERTH_PREDICATE_MATCH_INTER_POD_AFFINITY,   /**< MatchInterPodAffinityPred
	                                               ("MatchInterPodAffinity") */
	BERTH_PREDICATE__COUNT,                     /**< number of predicates */
};

/** The name of a predicate; NULL for any other number. */
BERTH_API const char *berth_predicate_name(enum berth_predicate predicate);
/** Ordering: all names in the order of evaluation, BERTH_PREDICATE__COUNT entries; constant. */
BERTH_API const char *const *berth_predicate_ordering(void);

/* Reasons. */

/** InsufficientResourceError: the resource and the numbers behind e.g. "Insufficient cpu". */
struct berth_insufficient_resource {
	struct berth_str resource_name; /**< "pods", "cpu", "example.com/gpu" */
	int64_t requested;              /**< by the pod; for "cpu" in thousandths, for "pods" 1 */
	int64_t used;                   /**< by the pods on the node */
	int64_t capacity;               /**< allocatable of the node */
};

/** NewInsufficientResourceError. The name is borrowed. */
BERTH_API struct berth_insufficient_resource berth_insufficient_resource_make(
	struct berth_str resource_name, int64_t requested, int64_t used, int64_t capacity);
/** GetReason: "Insufficient cpu", in the arena. */
BERTH_API struct berth_str berth_insufficient_resource_reason(
	const struct berth_insufficient_resource *insufficient, struct berth_arena *arena);
/**
 * Error: "Node didn't have enough resource: cpu, requested: 2, used: 1, capacity: 2", in the arena.
 */
BERTH_API struct berth_str berth_insufficient_resource_error(
	const struct berth_insufficient_resource *insufficient, struct berth_arena *arena);

/** PredicateFailureReason: why a pod does not fit. */
struct berth_predicate_failure_reason {
	struct berth_str text; /**< GetReason, for people */
	bool unresolvable;     /**< removing pods from the node would not help (spec 05b A2) */
	/** The next member is set; only for reasons of PodFitsResources and GeneralPredicates. */
	bool is_insufficient_resource;
	struct berth_insufficient_resource insufficient; /**< the resource that is short */
};

/** NewFailureReason: a reason with this text (copied), as extenders give. */
BERTH_API struct berth_predicate_failure_reason berth_predicate_failure_reason_make(
	struct berth_str text, struct berth_arena *arena);

/** Result of a predicate. Lists and texts are in the arena that the caller passed. */
struct berth_predicate_result {
	bool fits;                                            /**< no reason against the pod */
	const struct berth_predicate_failure_reason *reasons; /**< in the order of the checks */
	uint32_t reason_count;                                /**< 0 when the pod fits */
};

/* The cluster. */

/** Predicates by name, and the cluster that they are evaluated on. Opaque. */
struct berth_predicates;

/** Start from BERTH_PREDICATE_OPTIONS_INIT. */
struct berth_predicate_options {
	size_t size; /**< sizeof(struct berth_predicate_options) */
	/** The cluster as a snapshot; must outlive the predicates. */
	const struct berth_shared_lister *snapshot;
	/**
	 * The cluster as a map of aggregates, read once; used only when snapshot is NULL. Both
	 * NULL: an empty cluster.
	 */
	const struct berth_node_name_to_info_map *node_infos;
	/**
	 * Configuration that supplies the plugin arguments of its first profile (NodeLabel,
	 * ServiceAffinity, ...), the extender resources that the scheduler ignores, and the feature
	 * gates. Shared. NULL: the default configuration.
	 */
	struct berth_config *config;
	int64_t max_pd_volumes; /**< value of KUBE_MAX_PD_VOLS; 0: unset */
};

/** The defaults: an empty cluster. */
#define BERTH_PREDICATE_OPTIONS_INIT \
	{ \
		sizeof(struct berth_predicate_options), 0, 0, 0, 0 \
	}

/** Creates the predicates. @p options NULL: the defaults. owned: berth_predicates_destroy(). */
BERTH_API struct berth_predicates *berth_predicates_create(
	const struct berth_predicate_options *options);
/** Releases the predicates; all metadata must be destroyed before. NULL is accepted. */
BERTH_API void berth_predicates_destroy(struct berth_predicates *predicates);

/** Metadata of a pod, computed once for all nodes; plugins compute it in PreFilter. */
struct berth_predicate_metadata {
	const struct berth_pod *pod; /**< borrowed from the pod object */
	/**
	 * podRequest: for each resource, the maximum of the containers' sum and of every init
	 * container (spec 05b B4). Read only.
	 */
	struct berth_resource pod_request;
	/** ignoredExtendedResources: names of resources that only extenders check. */
	const struct berth_str *ignored_extended_resources;
	uint32_t ignored_extended_resource_count; /**< entries */
	struct berth_predicates *predicates;      /**< source of the metadata */
	struct berth_predicate_data *data;        /**< private */
};

/**
 * predicateMetaProducer: metadata of a pod (an object of kind Pod, shared). owned:
 * berth_predicate_metadata_destroy().
 */
BERTH_API struct berth_predicate_metadata *berth_predicate_metadata_produce(
	struct berth_predicates *predicates, struct berth_object *pod);
/** Releases the metadata. NULL is accepted. */
BERTH_API void berth_predicate_metadata_destroy(struct berth_predicate_metadata *metadata);

/* Predicates. */

/**
 * Evaluates a predicate. @p metadata belongs to @p pod; NULL: computed for this call. @p node is a
 * node of the cluster, a clone of such a node, or an aggregate that belongs to no cluster; without
 * metadata, such an aggregate is the whole cluster. The result lives in @p arena.
 */
#define BERTH_PREDICATE_PARAMETERS \
	const struct berth_pod *pod, const struct berth_predicate_metadata *metadata, \
		const struct berth_node_info *node, struct berth_arena *arena, \
		struct berth_predicate_result *out_result, struct berth_error *err

/**
 * FitPredicate. Returns 0 with a result. BERTH_ERR_NODE_NOT_FOUND: `node not found`, the aggregate
 * has no node object; BERTH_ERR_INVALID: the metadata belongs to another pod or another cluster;
 * BERTH_ERR_INTERNAL: the check failed.
 */
typedef int (*berth_predicate_fn)(BERTH_PREDICATE_PARAMETERS);

/**
 * CheckNodeCondition: the node is Ready, schedulable and not OutOfDisk, and its network is
 * available (spec 05b B1).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_condition(BERTH_PREDICATE_PARAMETERS);
/**
 * CheckNodeUnschedulable: spec.unschedulable is false or tolerated; today NodeUnschedulable (spec
 * 05 section 7).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_unschedulable(BERTH_PREDICATE_PARAMETERS);
/**
 * GeneralPredicates: resources, host name, host ports and node selector; returns the reasons of all
 * four (spec 05b B5).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_general(BERTH_PREDICATE_PARAMETERS);
/** HostName: spec.nodeName names the node (spec 05 section 6). */
BERTH_API BERTH_MUST_USE int berth_predicate_host_name(BERTH_PREDICATE_PARAMETERS);
/** PodFitsHostPorts: the pod's host ports are free (spec 05 section 10). */
BERTH_API BERTH_MUST_USE int berth_predicate_pod_fits_host_ports(BERTH_PREDICATE_PARAMETERS);
/**
 * MatchNodeSelector: nodeSelector and required node affinity match the node (spec 05 section 9).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_match_node_selector(BERTH_PREDICATE_PARAMETERS);
/** PodFitsResources: the node has room for one more pod and for its requests (spec 05b B4). */
BERTH_API BERTH_MUST_USE int berth_predicate_pod_fits_resources(BERTH_PREDICATE_PARAMETERS);
/**
 * NoDiskConflict: inline disks are not shared with pods of the node; today VolumeRestrictions (spec
 * 07b section 2.2).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_no_disk_conflict(BERTH_PREDICATE_PARAMETERS);
/** PodToleratesNodeTaints: NoSchedule and NoExecute taints are tolerated (spec 05 section 8.1). */
BERTH_API BERTH_MUST_USE int berth_predicate_pod_tolerates_node_taints(BERTH_PREDICATE_PARAMETERS);
/** PodToleratesNodeNoExecuteTaints: NoExecute taints are tolerated (spec 05b B3). */
BERTH_API BERTH_MUST_USE int berth_predicate_pod_tolerates_node_no_execute_taints(
	BERTH_PREDICATE_PARAMETERS);
/**
 * CheckNodeLabelPresence: the node has the required label keys and lacks the forbidden label keys,
 * as the arguments of plugin NodeLabel list them (spec 05b B6).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_label_presence(BERTH_PREDICATE_PARAMETERS);
/**
 * CheckServiceAffinity: pods of a service run on nodes that agree in the labels that the arguments
 * of plugin ServiceAffinity list (spec 05b B7).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_check_service_affinity(BERTH_PREDICATE_PARAMETERS);
/** MaxEBSVolumeCount: limits EBS volumes per node (spec 05b B9). */
BERTH_API BERTH_MUST_USE int berth_predicate_max_ebs_volume_count(BERTH_PREDICATE_PARAMETERS);
/** MaxGCEPDVolumeCount: limits GCE disks per node (spec 05b B9). */
BERTH_API BERTH_MUST_USE int berth_predicate_max_gce_pd_volume_count(BERTH_PREDICATE_PARAMETERS);
/**
 * MaxCSIVolumeCountPred: limits CSI volumes per driver and node; today NodeVolumeLimits (spec 07b
 * section 1).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_max_csi_volume_count(BERTH_PREDICATE_PARAMETERS);
/** MaxAzureDiskVolumeCount: limits Azure disks per node (spec 05b B9). */
BERTH_API BERTH_MUST_USE int berth_predicate_max_azure_disk_volume_count(
	BERTH_PREDICATE_PARAMETERS);
/**
 * CheckVolumeBinding: each claim of the pod is bound to a volume that the node can use, or can be;
 * today VolumeBinding (spec 07 section 5.2).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_check_volume_binding(BERTH_PREDICATE_PARAMETERS);
/**
 * NoVolumeZoneConflict: the zone labels of the volumes match the node; today VolumeZone (spec 07b
 * section 3).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_no_volume_zone_conflict(BERTH_PREDICATE_PARAMETERS);
/** CheckNodeMemoryPressure: rejects BestEffort pods under MemoryPressure (spec 05b B2). */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_memory_pressure(BERTH_PREDICATE_PARAMETERS);
/** CheckNodePIDPressure: rejects pods under PIDPressure (spec 05b B2). */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_pid_pressure(BERTH_PREDICATE_PARAMETERS);
/** CheckNodeDiskPressure: rejects pods under DiskPressure (spec 05b B2). */
BERTH_API BERTH_MUST_USE int berth_predicate_check_node_disk_pressure(BERTH_PREDICATE_PARAMETERS);
/**
 * MatchInterPodAffinity: required pod affinity and anti-affinity, both directions; today
 * InterPodAffinity (spec 06 section 3.7).
 */
BERTH_API BERTH_MUST_USE int berth_predicate_match_inter_pod_affinity(BERTH_PREDICATE_PARAMETERS);

/**
 * RegisterFitPredicate: adds a predicate, or replaces the predicate of this name.
 * BERTH_ERR_INVALID: no name or no function.
 */
BERTH_API int berth_predicate_register(struct berth_predicates *predicates, const char *name,
	berth_predicate_fn predicate, struct berth_error *err);
/**
 * Finds a predicate by name: a registered predicate or one of the 22; PodFitsPorts is the old name
 * of PodFitsHostPorts. NULL: there is no such predicate. @p predicates may be NULL.
 */
BERTH_API berth_predicate_fn berth_predicate_find(
	const struct berth_predicates *predicates, const char *name);
/**
 * Evaluates the predicates of @p names on one node, in the order of berth_predicate_ordering();
 * other names follow in the order of @p names. @p names NULL: the default set of v1.12 (spec 05b
 * A1) and the predicates that were registered under new names. Stops at the first failure, or with
 * @p always_check_all evaluates all predicates and collects the reasons. BERTH_ERR_NOT_FOUND: no
 * such predicate; other errors as in berth_predicate_fn.
 */
BERTH_API BERTH_MUST_USE int berth_predicate_run_all(struct berth_predicates *predicates,
	const char *const *names, uint32_t name_count, bool always_check_all,
	BERTH_PREDICATE_PARAMETERS);

#ifdef __cplusplus
}
#endif
#endif
